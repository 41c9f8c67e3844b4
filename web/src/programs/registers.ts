/* Registers of a core: what changed since the last stop is marked; a value can be written. */

import { el, put } from "../shell/dom.ts";
import { hex, NOTHING, type Desk, type Look, type Panel } from "./panel.ts";
import { readBig } from "../exercise/format.ts";

/** How values are written; the last ones are formats of the library. */
const FORMATS = ["hex", "signed", "unsigned", "FP64", "FP32", "FP16"] as const;

export class Registers implements Panel {
  readonly id = "registers";
  readonly title = "Registers";
  readonly element = el("div", { class: "panel-body" });
  private readonly format = el("select", { "aria-label": "Format of the values", onchange: () => this.again() });
  private readonly body = el("div", { class: "reg-groups" });
  private look: Look | undefined;

  constructor(private readonly desk: Desk) {
    this.format.append(...FORMATS.map((name) => el("option", { value: name }, name)));
    this.element.append(
      el("div", { class: "panel-tools" }, el("label", {}, "Values ", this.format), el("span", { class: "quiet" }, "amber: changed · click a value to write it")),
      this.body,
    );
  }

  private again(): void {
    this.show(this.look).catch((error: unknown) => this.desk.fail(error));
  }

  async show(look: Look | undefined): Promise<void> {
    this.look = look;
    const now = look?.state.cores[look.core];
    if (look === undefined || now === undefined) {
      put(this.body, el("p", { class: "quiet" }, NOTHING));
      return;
    }
    const before = look.before?.cores[look.core];
    const groups = new Map<string, HTMLElement>();
    const texts = new Map<string, string>();
    const format = this.format.value;
    const asNumbers = format === "hex" || format === "signed" || format === "unsigned";
    const names = [...new Set(look.session.desc.regs.map((reg) => reg.group))];
    if (!asNumbers) {
      for (const group of names) {
        for (const reg of await look.session.lanes(look.core, group, format)) {
          texts.set(reg.name, reg.lanes.join("  "));
        }
      }
    }
    for (const [i, reg] of look.session.desc.regs.entries()) {
      const value = BigInt(now.regs[i] ?? "0");
      const changed = before !== undefined && before.regs[i] !== now.regs[i];
      const text =
        format === "signed"
          ? String(BigInt.asIntN(reg.width, value))
          : format === "unsigned"
            ? String(value)
            : asNumbers || (texts.get(reg.name) ?? "") === ""
              ? hex(value, Math.ceil(reg.width / 4))
              : (texts.get(reg.name) ?? "");
      let list = groups.get(reg.group);
      if (list === undefined) {
        list = el("div", { class: `regs regs-${asNumbers && reg.width <= 32 ? "narrow" : reg.width > 64 || !asNumbers ? "wide" : "middle"}` });
        groups.set(reg.group, list);
      }
      list.append(
        el(
          "div",
          { class: `reg${changed ? " changed" : ""}${value === 0n ? " zero" : ""}` },
          el("span", { class: "reg-name" }, reg.name, reg.alias === null ? "" : el("small", {}, ` ${reg.alias}`)),
          el(
            "button",
            {
              type: "button",
              class: "reg-value mono",
              "aria-label": `${reg.name} ${text}${changed ? ", changed" : ""}`,
              title: changed ? `was ${before?.regs[i] ?? ""}` : `${hex(value)} = ${BigInt.asIntN(reg.width, value)}`,
              disabled: reg.readOnly,
              onclick: (event) => this.edit(event.currentTarget as HTMLElement, look, reg.name, reg.width),
            },
            text,
          ),
        ),
      );
    }
    put(
      this.body,
      ...[...groups].map(([group, list], i) =>
        el("details", { open: i < 2 || group === "control" || group === "v" }, el("summary", {}, `${group}  (${list.childElementCount})`), list),
      ),
    );
  }

  private edit(cell: HTMLElement, look: Look, name: string, width: number): void {
    const input = el("input", { class: "reg-input mono", value: cell.textContent ?? "", "aria-label": `New value of ${name}` });
    const done = (): void => input.replaceWith(cell);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        done();
        cell.focus();
      } else if (event.key === "Enter") {
        event.preventDefault();
        this.write(look, name, width, input.value).catch((error: unknown) => this.desk.fail(error));
      }
      event.stopPropagation();
    });
    input.addEventListener("blur", done);
    cell.replaceWith(input);
    input.focus();
    input.select();
  }

  private async write(look: Look, name: string, width: number, text: string): Promise<void> {
    const value = readBig(text, name);
    if (value !== BigInt.asUintN(width, value) && value !== BigInt.asIntN(width, value)) {
      throw new Error(`${name}: ${text} does not fit ${width} bits`);
    }
    await look.session.set(look.core, name, BigInt.asUintN(width, value));
    this.desk.refresh();
  }
}
