/* Vector lanes as a grid: a row for each register, a column for each lane. On the hart a vector lies in consecutive registers, so
 * there the lanes of one format are those of each register, one below the other. */

import { el, put } from "../shell/dom.ts";
import { NOTHING, type Desk, type Look, type Panel } from "./panel.ts";

const FORMATS = ["INT32", "FP32", "INT16", "FP16", "BF16", "INT8", "FP8_E4M3", "FP8_E5M2", "FP64"] as const;

export class Lanes implements Panel {
  readonly id = "lanes";
  readonly title = "Lanes";
  readonly element = el("div", { class: "panel-body" });
  private readonly format = el("select", { "aria-label": "Format of the lanes", onchange: () => this.again() });
  private readonly group = el("select", { "aria-label": "Registers", onchange: () => this.again() });
  private readonly body = el("div", { class: "lanes", tabindex: 0, role: "region", "aria-label": "Lanes" });
  private look: Look | undefined;
  /** Lanes of the last state and the one before, by what was asked. */
  private last: { steps: number; key: string; lanes: Map<string, string[]> } | undefined;
  private older: Map<string, string[]> | undefined;

  constructor(private readonly desk: Desk) {
    this.format.append(...FORMATS.map((name) => el("option", { value: name }, name)));
    this.element.append(el("div", { class: "panel-tools" }, el("label", {}, "Registers ", this.group), el("label", {}, "as ", this.format)), this.body);
  }

  private again(): void {
    this.show(this.look).catch((error: unknown) => this.desk.fail(error));
  }

  async show(look: Look | undefined): Promise<void> {
    this.look = look;
    if (look === undefined) {
      put(this.body, el("p", { class: "quiet" }, NOTHING));
      return;
    }
    const groups = [...new Set(look.session.desc.regs.map((reg) => reg.group))].filter((name) => ["v", "f", "x", "s"].includes(name));
    if ([...this.group.options].map((option) => option.value).join() !== groups.join()) {
      put(this.group, ...groups.map((name) => el("option", { value: name, selected: name === (groups.includes("v") ? "v" : "x") }, name)));
    }
    const key = `${look.session.desc.kind} ${look.core} ${this.group.value} ${this.format.value}`;
    const rows = await look.session.lanes(look.core, this.group.value, this.format.value);
    const lanes = new Map(rows.map((row) => [row.name, row.lanes]));
    if (this.last?.key !== key) {
      this.older = undefined;
    } else if (this.last.steps !== look.state.steps) {
      this.older = this.last.lanes;
    }
    this.last = { key, steps: look.state.steps, lanes };
    const width = Math.max(0, ...rows.map((row) => row.lanes.length));
    if (width === 0) {
      put(this.body, el("p", { class: "quiet" }, `A register ${this.group.value} is narrower than ${this.format.value}.`));
      return;
    }
    put(
      this.body,
      el(
        "table",
        { class: "lane-grid mono" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "lane"), ...Array.from({ length: width }, (_, i) => el("th", { scope: "col" }, i)))),
        el(
          "tbody",
          {},
          ...rows.map((row) =>
            el(
              "tr",
              {},
              el("th", { scope: "row" }, row.name),
              ...row.lanes.map((lane, i) => {
                const was = this.older?.get(row.name)?.[i];
                return el("td", { class: `${was !== undefined && was !== lane ? "changed" : ""}${lane === "0" ? " zero" : ""}` }, lane);
              }),
            ),
          ),
        ),
      ),
    );
  }
}
