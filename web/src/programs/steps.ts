/* All steps that were made, as a list of any length: only the rows in sight are asked for, and the machine makes those steps again to
 * tell what each changed. A click travels there. */

import type { StepLine } from "../engine/machines.ts";
import { el, put } from "../shell/dom.ts";
import { NOTHING, type Desk, type Look, type Panel } from "./panel.ts";

const ROW = 22; /* pixels, as in programs.css */
const MARGIN = 10;
/** Browsers know no taller elements; beyond, a row stands for several places of the scroll bar. */
const TALLEST = 8_000_000;

export class Steps implements Panel {
  readonly id = "steps";
  readonly title = "Steps";
  readonly element = el("div", { class: "panel-body trace" });
  private readonly scroll = el("div", { class: "trace-scroll", tabindex: 0, role: "region", "aria-label": "Steps" });
  private readonly spacer = el("div", { class: "trace-spacer" });
  private readonly rows = el("div", { class: "trace-rows mono" });
  private readonly empty = el("p", { class: "quiet" }, NOTHING);
  private look: Look | undefined;
  private busy = false;
  private again = false;
  private cache: { from: number; lines: StepLine[]; session: unknown; until: number } | undefined;
  private seen = -1;

  constructor(private readonly desk: Desk) {
    this.scroll.append(this.spacer, this.rows);
    this.element.append(this.empty, this.scroll);
    this.scroll.addEventListener("scroll", () => this.fill());
    new ResizeObserver(() => this.fill()).observe(this.scroll);
  }

  private get total(): number {
    return this.look === undefined ? 0 : this.look.state.steps - this.look.state.first;
  }

  private get height(): number {
    return Math.min(TALLEST, this.total * ROW);
  }

  show(look: Look | undefined): void {
    this.look = look;
    const none = look === undefined || this.total === 0;
    this.empty.hidden = !none;
    this.scroll.hidden = none;
    if (none) {
      return;
    }
    this.spacer.style.setProperty("height", `${this.height}px`);
    if (this.seen !== look.state.steps) {
      this.seen = look.state.steps;
      this.scroll.scrollTop = this.height; /* the newest */
    }
    this.fill();
  }

  /** Rows [from, from + count) in sight. */
  private window(): { from: number; count: number } {
    const count = Math.ceil(this.scroll.clientHeight / ROW) + 2 * MARGIN;
    const room = Math.max(1, this.height - this.scroll.clientHeight);
    const last = Math.max(0, this.total - Math.floor(this.scroll.clientHeight / ROW));
    const first = this.height < TALLEST ? this.scroll.scrollTop / ROW : (this.scroll.scrollTop / room) * last;
    return { from: Math.max(0, Math.min(this.total - 1, Math.floor(first)) - MARGIN), count };
  }

  private fill(): void {
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    this.draw()
      .catch((error: unknown) => this.desk.fail(error))
      .finally(() => {
        this.busy = false;
        if (this.again) {
          this.again = false;
          this.fill();
        }
      });
  }

  private async draw(): Promise<void> {
    const look = this.look;
    if (look === undefined || this.scroll.clientHeight === 0) {
      return;
    }
    const { from, count } = this.window();
    const held = this.cache;
    const until = Math.min(this.total, from + count);
    if (held === undefined || held.session !== look.session || held.until !== look.state.steps || held.from > from || held.from + held.lines.length < until) {
      const begin = Math.max(0, from - count);
      const lines = await look.session.steps(look.state.first + begin, 3 * count);
      this.cache = { from: begin, lines, session: look.session, until: look.state.steps };
    }
    const now = this.cache;
    if (now === undefined) {
      return;
    }
    const commands = new Map<number, string>();
    if (look.session.isList) {
      for (const command of (await look.session.listState()).commands) {
        commands.set(command.after, `commands[${command.index}] ${command.name}`);
      }
    }
    const shown = now.lines.slice(from - now.from, from - now.from + count);
    const top = this.height < TALLEST ? from * ROW : Math.max(0, this.scroll.scrollTop - MARGIN * ROW);
    this.rows.style.setProperty("transform", `translateY(${top}px)`);
    put(this.rows, ...shown.map((line) => this.row(look, line, commands.get(line.step))));
  }

  private row(look: Look, line: StepLine, command: string | undefined): HTMLElement {
    /* "hart0: retired 0x8000000c: 0x00000097  auipc x1, 0x0" */
    const [first = "", ...others] = line.changes.map((change) => change.replace(/^\w+: /, ""));
    const instruction = first.replace(/^retired 0x[0-9a-f]+: 0x[0-9a-f]+\s+/, "");
    const from = line.pc === undefined ? 0 : look.lineAt(line.pc);
    return el(
      "button",
      {
        type: "button",
        class: "trace-row",
        title: `${line.changes.join("\n")}\nClick: back to after this step`,
        onclick: () => {
          this.desk.travel(line.step);
          this.desk.goTo(from);
        },
      },
      el("span", { class: "quiet trace-number" }, line.step),
      look.session.desc.cores.length > 1 && el("span", { class: "trace-core" }, look.session.desc.cores[line.core] ?? "queue"),
      el("span", { class: "trace-line quiet" }, from > 0 ? `:${from}` : ""),
      el("span", { class: "trace-text" }, instruction !== "" ? instruction : (command ?? "")),
      el("span", { class: "trace-changes" }, others.join("   ")),
    );
  }
}
