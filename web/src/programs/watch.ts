/* Watchpoints: a run stops behind the step that reads or writes a piece of memory, or that changes a register or a CSR. */

import type { MachineDesc, Watch } from "../engine/machines.ts";
import { button, el, put } from "../shell/dom.ts";
import { findAddress } from "./memory.ts";
import { hex, type Desk, type Look, type Panel } from "./panel.ts";
import { MOST_WATCHPOINTS, type Watchpoint } from "./project.ts";

const KINDS: readonly (readonly [Watchpoint["on"], string])[] = [
  ["write", "memory written"],
  ["read", "memory read"],
  ["access", "memory read or written"],
  ["change", "register or CSR changed"],
];

/** What a watchpoint means on this machine; an Error when it has nothing of that name. */
export function resolve(desc: MachineDesc, one: Watchpoint): Watch {
  if (one.on === "change") {
    return { core: one.core, name: one.what.trim() };
  }
  const address = findAddress({ ...desc, regs: [] }, [], one.what);
  if (address === undefined) {
    throw new Error(`"${one.what}": expected an address, a symbol or an argument of the program`);
  }
  return { space: one.space, address, size: one.size, read: one.on !== "write", write: one.on !== "read" };
}

export class Watches implements Panel {
  readonly id = "watch";
  readonly title = "Watch";
  readonly element = el("div", { class: "panel-body" });
  private readonly what = el("input", { class: "mono address", "aria-label": "What is watched", placeholder: "symbol, address, a0, CSR.FIELD" });
  private readonly kind = el("select", { "aria-label": "When it stops" }, ...KINDS.map(([id, title]) => el("option", { value: id }, title)));
  private readonly size = el("input", { class: "watch-size mono", type: "number", min: 1, value: 4, "aria-label": "Bytes" });
  private readonly space = el("select", { "aria-label": "Address space of the watchpoint" });
  private readonly bytes = el("label", {}, this.size, " bytes");
  private readonly body = el("ul", { class: "watches" });
  private look: Look | undefined;
  private list: readonly Watchpoint[] = [];

  constructor(
    private readonly desk: Desk,
    private readonly changed: () => Promise<void>,
  ) {
    this.kind.addEventListener("change", () => this.dressed());
    this.what.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        this.add();
      }
    });
    this.element.append(
      el("div", { class: "panel-tools" }, this.what, this.kind, this.bytes, this.space, button("Watch", () => this.add())),
      el("p", { class: "quiet" }, "Run, and Reverse, stop behind the step that does it; Step and Back do not look."),
      this.body,
    );
    this.dressed();
  }

  get watchpoints(): Watchpoint[] {
    return [...this.list];
  }

  set watchpoints(list: readonly Watchpoint[]) {
    this.list = list;
    this.draw();
  }

  private dressed(): void {
    const memory = this.kind.value !== "change";
    this.bytes.hidden = !memory;
    this.space.hidden = !memory || this.space.options.length < 2;
  }

  private add(): void {
    const what = this.what.value.trim();
    const size = Number(this.size.value);
    const on = this.kind.value as Watchpoint["on"];
    const one: Watchpoint = { on, what, size: on === "change" ? 4 : size, space: on === "change" ? 0 : Number(this.space.value), core: this.look?.core ?? 0 };
    try {
      if (what === "") {
        throw new Error("expected what to watch: a symbol, an address, a register or a CSR");
      }
      if (!Number.isSafeInteger(size) || size < 1) {
        throw new Error(`"${this.size.value}": expected a number of bytes`);
      }
      if (this.list.length >= MOST_WATCHPOINTS) {
        throw new Error(`expected at most ${MOST_WATCHPOINTS} watchpoints`);
      }
      if (this.look !== undefined) {
        resolve(this.look.session.desc, one);
      }
    } catch (error) {
      this.desk.fail(error);
      return;
    }
    this.become([...this.list, one], () => (this.what.value = ""));
  }

  /** A list that the machine refuses is not kept. */
  private become(list: readonly Watchpoint[], done?: () => void): void {
    const old = this.list;
    this.watchpoints = list;
    this.changed().then(done, (error: unknown) => {
      this.watchpoints = old;
      this.desk.fail(error);
    });
  }

  show(look: Look | undefined): void {
    if (look !== undefined && look.session !== this.look?.session) {
      put(this.space, ...look.session.desc.spaces.map((space, i) => el("option", { value: i }, space.name)));
    }
    this.look = look;
    this.dressed();
    this.draw();
  }

  private draw(): void {
    const seen = this.look?.state.stop.watch;
    put(
      this.body,
      ...this.list.map((one, i) => {
        const here = seen?.index === i;
        return el(
          "li",
          { class: here ? "current" : "", ...(here ? { "aria-current": "true" } : {}) },
          button("×", () => this.become(this.list.filter((other) => other !== one)), { "aria-label": `Remove the watchpoint ${describe(one, this.look?.session.desc)}`, class: "plain" }),
          el("span", { class: "mono" }, describe(one, this.look?.session.desc)),
          here && el("span", { class: "mono watch-seen" }, `${shown(seen.before)} → ${shown(seen.after)}`),
        );
      }),
      this.list.length === 0 && el("li", { class: "quiet" }, "Nothing is watched."),
    );
  }
}

const shown = (value: string): string => hex(BigInt(value));

/** "word, 4 bytes written". */
export function describe(one: Watchpoint, desc: MachineDesc | undefined): string {
  const core = desc === undefined || desc.cores.length < 2 ? "" : ` of ${desc.cores[one.core] ?? one.core}`;
  const space = one.space === 0 ? "" : ` in ${desc?.spaces[one.space]?.name ?? one.space}`;
  return one.on === "change" ? `${one.what}${core} changed` : `${one.what}${space}, ${one.size} byte${one.size === 1 ? "" : "s"} ${one.on === "access" ? "read or written" : one.on === "read" ? "read" : "written"}`;
}
