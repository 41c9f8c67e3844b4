/* The program as it lies in memory: instructions, data and labels, with the place of each core. */

import type { ListingLine, Session } from "../engine/machines.ts";
import { el, put } from "../shell/dom.ts";
import { hex, NOTHING, type Desk, type Look, type Panel } from "./panel.ts";

const AROUND = 400; /* rows before and after the place */

export class Listing implements Panel {
  readonly id = "listing";
  readonly title = "Listing";
  readonly element = el("div", { class: "panel-body listing" });
  private session: Session | undefined;
  private lines: ListingLine[] = [];

  constructor(private readonly desk: Desk) {}

  async show(look: Look | undefined): Promise<void> {
    if (look === undefined) {
      put(this.element, el("p", { class: "quiet" }, NOTHING));
      return;
    }
    if (this.session !== look.session) {
      this.session = look.session;
      this.lines = (await look.session.listing()).lines;
    }
    const pcs = new Map<string, number[]>();
    for (const [core, one] of look.state.cores.entries()) {
      pcs.set(one.pc, [...(pcs.get(one.pc) ?? []), core]);
    }
    const here = Math.max(0, this.lines.findIndex((line) => line.address === look.state.cores[look.core]?.pc));
    const from = Math.max(0, here - AROUND);
    const rows: HTMLElement[] = [];
    for (const line of this.lines.slice(from, here + AROUND)) {
      const cores = pcs.get(line.address) ?? [];
      if (line.label !== null) {
        rows.push(el("tr", { class: "listing-label" }, el("td", { colspan: 4 }, `${line.label}:`)));
      }
      rows.push(
        el(
          "tr",
          { class: cores.includes(look.core) ? "line-current" : cores.length > 0 ? "line-other" : "" },
          el("td", { class: "quiet" }, line.address),
          el("td", { class: "quiet" }, `${hex(BigInt(line.word), 2 * Math.min(line.size, 4))}${line.size > 4 ? " …" : ""}`),
          el("td", {}, line.text),
          el("td", {}, line.line > 0 && el("button", { type: "button", class: "plain", onclick: () => this.desk.goTo(line.line) }, `line ${line.line}`)),
        ),
      );
    }
    put(this.element, el("table", { class: "mono" }, el("tbody", {}, ...rows)));
    this.element.querySelector(".line-current")?.scrollIntoView({ block: "nearest" });
  }
}
