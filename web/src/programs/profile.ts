/* How often each line ran since the beginning: the machine makes its steps again and counts. */

import { button, el, put } from "../shell/dom.ts";
import { hasOption } from "./options.ts";
import { NOTHING, type Desk, type Look, type Panel } from "./panel.ts";

/** What the instructions of every line come to, all cores together. */
function perLine<Row extends { pc: string }>(look: Look, rows: readonly Row[], value: (row: Row) => number): Map<number, number> {
  const lines = new Map<number, number>();
  for (const row of rows) {
    const line = look.lineAt(row.pc);
    if (line > 0) {
      lines.set(line, (lines.get(line) ?? 0) + value(row));
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
    private readonly ask: (option: string) => void,
  ) {}

  async show(look: Look | undefined): Promise<void> {
    if (look === undefined || look.state.steps === look.state.first) {
      this.heat(new Map());
      put(this.element, el("p", { class: "quiet" }, NOTHING));
      return;
    }
    const profile = await look.session.profile();
    const lines = perLine(look, profile.rows, (row) => row.retired);
    const total = profile.rows.reduce((sum, row) => sum + row.retired, 0);
    const cores = new Map<number, number>();
    for (const row of profile.rows) {
      cores.set(row.core, (cores.get(row.core) ?? 0) + row.retired);
    }
    const asked = hasOption(look.options, "timing");
    const timing = asked ? await this.desk.long("Estimating cycles", (options) => look.session.timing(options)) : undefined;
    const cycles = timing === undefined ? undefined : perLine(look, timing.rows, (row) => row.cycles);
    this.heat(lines);
    put(
      this.element,
      asked && timing === undefined && el("div", { class: "panel-tools" }, el("span", { class: "quiet" }, "The estimate was cancelled."), button("Estimate again", () => this.desk.refresh())),
      !asked && el("div", { class: "panel-tools" }, button("Add --timing default", () => this.ask("--timing default"), { title: "Estimate cycles by a model of the hardware" })),
      el("p", {}, el("strong", {}, total.toLocaleString("en")), " instructions; counts stand beside the lines of the program."),
      el(
        "table",
        { class: "profile" },
        el("thead", {}, el("tr", {}, ...["line", "instructions", "share", "", ...(cycles === undefined ? [] : ["cycles"])].map((name) => el("th", { scope: "col" }, name)))),
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
                cycles !== undefined && el("td", { class: "mono number" }, (cycles.get(line) ?? 0).toLocaleString("en")),
              ),
            ),
        ),
      ),
      timing !== undefined && el("h3", {}, "Cycles, an estimate"),
      timing !== undefined && el("p", { class: "quiet" }, "Those of a line include what its instructions waited for before they could begin. They are the cores' together."),
      timing !== undefined && el("pre", { class: "timing mono", tabindex: 0, "aria-label": "Estimate of the cycles" }, timing.text),
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
