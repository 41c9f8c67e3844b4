/* A command list: every command with its status, and the picture after any of them by a click or by the slider. */

import type { ListState } from "../engine/machines.ts";
import { button, el, put } from "../shell/dom.ts";

/** The lines of a list's text on which the strings of a kernel's "code" stand. */
export function codeLines(text: string, buffer: string): number[] {
  const name = buffer.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const begin = new RegExp(`"${name}"\\s*:\\s*\\{[^{}\\]]*?"code"\\s*:\\s*\\[`).exec(text);
  if (begin === null) {
    return [];
  }
  const lines: number[] = [];
  const at = begin.index + begin[0].length;
  let line = text.slice(0, at).split("\n").length;
  const token = /\n|\]|"(?:[^"\\]|\\.)*"/g;
  token.lastIndex = at;
  for (let found = token.exec(text); found !== null && found[0] !== "]"; found = token.exec(text)) {
    if (found[0] === "\n") {
      line++;
    } else {
      lines.push(line);
    }
  }
  return lines;
}

export class Commands {
  readonly element = el("div", { class: "commands", hidden: true });
  private readonly slider = el("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "Commands that are done", oninput: () => this.go(Number(this.slider.value)) });
  private readonly rows = el("ol", { class: "command-list" });
  private readonly head = el("span", { class: "mono" });

  constructor(private readonly go: (count: number) => void) {
    this.element.append(el("div", { class: "panel-tools" }, el("label", { class: "slider" }, "after command ", this.slider), this.head), this.rows);
  }

  show(state: ListState | undefined): void {
    this.element.hidden = state === undefined;
    if (state === undefined) {
      return;
    }
    this.slider.max = String(state.commands.length);
    this.slider.value = String(state.done);
    put(this.head, `${state.done} of ${state.commands.length}`);
    put(
      this.rows,
      ...state.commands.map((command, i) => {
        const failed = command.status !== undefined && command.status !== 0;
        return el(
          "li",
          { class: i + 1 === state.done ? "now" : i < state.done ? "done" : "" },
          button("", () => this.go(i + 1), { class: "list-command", "aria-label": `after commands[${command.index}] ${command.name}`, ...(i + 1 === state.done ? { "aria-current": "step" } : {}) }),
          el("span", { class: `command-status${failed ? " failed" : ""}` }, command.after < 0 ? "" : (command.statusName ?? "done")),
        );
      }),
    );
    for (const [i, item] of [...this.rows.children].entries()) {
      const command = state.commands[i];
      item.querySelector("button")?.append(el("span", { class: "quiet mono" }, `[${command?.index ?? i}] `), command?.name ?? "");
    }
  }
}
