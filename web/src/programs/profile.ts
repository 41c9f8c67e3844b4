/* How often each line ran since the beginning: the machine makes its steps again and counts. */

import type { Profile } from "../engine/machines.ts";
import { button, el, put } from "../shell/dom.ts";
import { NOTHING, type Desk, type Look, type Panel } from "./panel.ts";

/** Instructions of every line, all cores together. */
export function perLine(profile: Profile): Map<number, number> {
  const lines = new Map<number, number>();
  for (const row of profile.rows) {
    if (row.line > 0) {
      lines.set(row.line, (lines.get(row.line) ?? 0) + row.retired);
    }
  }
  return lines;
}

export class Profiles implements Panel {
  readonly id = "profile";
  readonly title = "Profile";
  readonly element = el("div", { class: "panel-body" });

  constructor(
    private readonly desk: Desk,
    /** Shows the counts beside the lines. */
    private readonly heat: (lines: ReadonlyMap<number, number>) => void,
  ) {}

  async show(look: Look | undefined): Promise<void> {
    if (look === undefined || look.state.steps === look.state.first) {
      this.heat(new Map());
      put(this.element, el("p", { class: "quiet" }, NOTHING));
      return;
    }
    const profile = await look.session.profile();
    const lines = perLine(profile);
    const total = profile.rows.reduce((sum, row) => sum + row.retired, 0);
    const cores = new Map<number, number>();
    for (const row of profile.rows) {
      cores.set(row.core, (cores.get(row.core) ?? 0) + row.retired);
    }
    this.heat(lines);
    put(
      this.element,
      el("p", {}, el("strong", {}, total.toLocaleString("en")), " instructions; counts stand beside the lines of the program."),
      el(
        "table",
        { class: "profile" },
        el("thead", {}, el("tr", {}, ...["line", "instructions", "share", ""].map((name) => el("th", { scope: "col" }, name)))),
        el(
          "tbody",
          {},
          ...[...lines]
            .sort((a, b) => b[1] - a[1] || a[0] - b[0])
            .slice(0, 40)
            .map(([line, count]) =>
              el(
                "tr",
                {},
                el("td", {}, button(`line ${line}`, () => this.desk.goTo(line), { class: "plain" })),
                el("td", { class: "mono number" }, count.toLocaleString("en")),
                el("td", { class: "mono number" }, `${((100 * count) / total).toFixed(1)} %`),
                el("td", { class: "bar-cell" }, el("meter", { min: 0, max: total, value: count, "aria-label": `line ${line}` })),
              ),
            ),
        ),
      ),
      cores.size > 1 && el("h3", {}, "Cores"),
      cores.size > 1 && el("p", { class: "mono" }, [...cores].sort((a, b) => a[0] - b[0]).map(([core, count]) => `${look.session.desc.cores[core] ?? core} ${count.toLocaleString("en")}`).join("   ")),
      profile.memory.length > 0 && el("h3", {}, "Accesses to memory"),
      profile.memory.length > 0 &&
        el(
          "table",
          { class: "profile" },
          el("thead", {}, el("tr", {}, ...["memory", "bytes", "accesses"].map((name) => el("th", { scope: "col" }, name)))),
          el("tbody", {}, ...profile.memory.map((row) => el("tr", {}, el("td", {}, row.class), el("td", { class: "mono number" }, row.bytes), el("td", { class: "mono number" }, row.accesses.toLocaleString("en"))))),
        ),
    );
  }
}
