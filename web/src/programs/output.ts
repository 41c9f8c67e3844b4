/* What the guest prints, and what it can read. */

import { button, el, put } from "../shell/dom.ts";
import type { Desk, Look, Panel } from "./panel.ts";

export class Output implements Panel {
  readonly id = "console";
  readonly title = "Console";
  readonly element = el("div", { class: "panel-body" });
  private readonly text = el("pre", { class: "console mono", tabindex: 0, "aria-label": "Console" });
  private readonly line = el("input", { class: "mono", "aria-label": "Input for the program", placeholder: "input for the program" });
  private readonly form = el("div", { class: "panel-tools" });
  private look: Look | undefined;

  constructor(
    private readonly desk: Desk,
    private readonly goOn: () => void,
  ) {
    this.form.append(
      this.line,
      button("Send line", () => this.send(`${this.line.value}\n`, false)),
      button("End of input", () => this.send("", true)),
    );
    this.line.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        this.send(`${this.line.value}\n`, false);
      }
    });
    this.element.append(this.form, this.text);
  }

  private send(text: string, end: boolean): void {
    const look = this.look;
    if (look === undefined) {
      this.desk.fail(new Error("there is no program that could read it: press Step or Run first"));
      return;
    }
    this.line.value = "";
    look.session.input(text, end).then(
      () => this.goOn(),
      (error: unknown) => this.desk.fail(error),
    );
  }

  async show(look: Look | undefined): Promise<void> {
    this.look = look;
    this.form.hidden = look === undefined || look.session.desc.kind !== "xphmg";
    const text = look === undefined ? "" : await look.session.console();
    put(this.text, text === "" ? el("span", { class: "quiet" }, "Nothing printed yet.") : text);
    this.text.scrollTop = this.text.scrollHeight;
  }
}
