/* What `--check-order` and `--lint` find in the steps that were made: each place of the program with the rule that it breaks. */

import type { Mistake, MistakePlace } from "../engine/machines.ts";
import { button, el, put } from "../shell/dom.ts";
import { hasOption } from "./options.ts";
import { NOTHING, type Desk, type Look, type Panel } from "./panel.ts";

export class Findings implements Panel {
  readonly id = "findings";
  readonly title = "Findings";
  readonly element = el("div", { class: "panel-body" });

  constructor(
    private readonly desk: Desk,
    /** The address of a row of the contract, where there is one. */
    private readonly contract: (id: string) => string | undefined,
    private readonly ask: (option: string) => void,
  ) {}

  async show(look: Look | undefined): Promise<void> {
    const options = look?.options ?? [];
    if (look === undefined) {
      put(this.element, el("p", { class: "quiet" }, NOTHING));
      return;
    }
    const missing = ["check-order", "lint"].filter((name) => !hasOption(options, name));
    const offers = el("div", { class: "panel-tools" }, ...missing.map((name) => button(`Add --${name}`, () => this.ask(`--${name}`))));
    if (missing.length === 2) {
      put(this.element, el("p", {}, "Mistakes that do not trap: races and unpublished stores by --check-order, operations without effect by --lint."), offers);
      return;
    }
    const found = await this.desk.long("Looking for mistakes", (options) => look.session.findings(options));
    if (found === undefined) {
      put(this.element, offers, el("p", { class: "quiet" }, "Cancelled."), button("Look again", () => this.desk.refresh()));
      return;
    }
    put(
      this.element,
      offers,
      el("p", {}, found.length === 0 ? "Nothing was found in the steps so far." : el("strong", {}, `${found.length} finding${found.length === 1 ? "" : "s"}`)),
      el("ol", { class: "findings" }, ...found.map((one) => this.finding(look, one))),
    );
  }

  private finding(look: Look, one: Mistake): HTMLElement {
    return el(
      "li",
      {},
      el("div", {}, this.place(look, one)),
      el("div", {}, one.text, one.detail !== "" && `; ${one.detail}`, one.other !== undefined && " ", one.other !== undefined && this.place(look, one.other)),
      el("div", { class: "quiet" }, `${one.count.toLocaleString("en")} time${one.count === 1 ? "" : "s"} · ${one.rule} · `, ...one.requirement.split(" ").flatMap((row) => [this.row(row), " "])),
    );
  }

  private place(look: Look, place: MistakePlace): HTMLElement {
    const core = look.session.desc.cores.length > 1 ? `${look.session.desc.cores[place.core] ?? place.core} ` : "";
    const line = look.lineAt(place.pc);
    const where = line > 0 ? button(`line ${line}`, () => this.desk.goTo(line), { class: "plain" }) : el("span", {}, `${place.pc} <${place.symbol}>`);
    return el("span", { class: "mono" }, core, where, ` ${place.instruction}`);
  }

  private row(id: string): Node | string {
    const address = this.contract(id);
    return address === undefined ? id : el("a", { href: address }, id);
  }
}
