/* Why a core stands where it stands: what the instruction there reads, and which instruction wrote that. */

import { button, el, put } from "../shell/dom.ts";
import { NOTHING, type Desk, type Look, type Panel } from "./panel.ts";

interface Written {
  steps_ago?: number;
  symbol?: string;
  offset?: number;
  line?: number;
  instruction?: string;
}

interface Read {
  name: string;
  what?: string;
  value: string;
  written?: Written | string | null;
}

export class Reasons implements Panel {
  readonly id = "why";
  readonly title = "Why";
  readonly element = el("div", { class: "panel-body why" });

  constructor(private readonly desk: Desk) {}

  async show(look: Look | undefined): Promise<void> {
    if (look === undefined) {
      put(this.element, el("p", { class: "quiet" }, NOTHING));
      return;
    }
    const why = await look.session.why(look.core);
    const reads = (why.registers ?? []) as unknown as Read[];
    const words = (why.status_words ?? []) as { name: string; value: string; fields?: Record<string, number> }[];
    const others = Object.entries(why).filter(
      ([name, value]) => !["pc", "symbol", "offset", "file", "line", "instruction", "registers", "status_words"].includes(name) && !(Array.isArray(value) && value.length === 0),
    );
    put(
      this.element,
      el("p", { class: "mono why-head" }, `${look.session.desc.cores[look.core] ?? ""}  ${why.pc}  ${place(why)}`),
      el("p", { class: "mono why-insn" }, why.instruction ?? "no instruction here"),
      el("h3", {}, "It reads"),
      reads.length === 0
        ? el("p", { class: "quiet" }, "No register.")
        : el(
            "table",
            { class: "why-reads" },
            el("tbody", {}, ...reads.map((read) => this.read(look, read))),
          ),
      words.length > 0 && el("h3", {}, "Words of status that are not zero"),
      ...words.map((word) =>
        el(
          "p",
          { class: "mono" },
          `${word.name} = ${word.value}  ${Object.entries(word.fields ?? {})
            .map(([name, value]) => (value === 1 ? name : `${name}=${value}`))
            .join(" ")}`,
        ),
      ),
      ...others.map(([name, value]) => el("details", { open: true }, el("summary", {}, name), el("pre", { class: "mono" }, JSON.stringify(value, null, 2)))),
    );
  }

  private read(look: Look, read: Read): HTMLElement {
    const written = typeof read.written === "object" && read.written !== null ? read.written : undefined;
    return el(
      "tr",
      {},
      el("th", { scope: "row", class: "mono" }, read.name),
      el("td", { class: "mono" }, read.value),
      el("td", {}, read.what ?? ""),
      el(
        "td",
        {},
        written === undefined
          ? el("span", { class: "quiet" }, typeof read.written === "string" ? read.written : "not written since the beginning")
          : el(
              "span",
              {},
              "written ",
              written.steps_ago !== undefined &&
                button(ago(written.steps_ago), () => this.desk.travel(look.state.steps - 1 - (written.steps_ago ?? 0)), {
                  class: "plain",
                  title: "Back to before that instruction",
                }),
              " at ",
              button(place(written) || "there", () => this.desk.goTo(written.line ?? 0), { class: "plain" }),
              el("code", {}, `  ${written.instruction ?? ""}`),
            ),
      ),
    );
  }
}

function place(at: { symbol?: string; offset?: number; line?: number }): string {
  const symbol = at.symbol === undefined ? "" : (at.offset ?? 0) > 0 ? `${at.symbol}+${at.offset}` : at.symbol;
  return `${symbol}${at.line === undefined ? "" : ` line ${at.line}`}`.trim();
}

/** 0: by the step that was made last. */
function ago(steps: number): string {
  return steps === 0 ? "by the last step" : steps === 1 ? "1 step before that" : `${steps} steps before that`;
}
