/* Memory as bytes: 16 in a row, what changed since the last stop is marked. The tile machine's VRAM can be seen as the host has it or
 * through the cache of a core. */

import type { MachineDesc } from "../engine/machines.ts";
import { button, el, put } from "../shell/dom.ts";
import { hex, NOTHING, type Desk, type Look, type Panel } from "./panel.ts";
import { readBig } from "../exercise/format.ts";

const ROWS = 32;
const PAGE = BigInt(16 * ROWS);

/** A number, a symbol, an argument of the kernel or a register; with +N or -N behind it. Undefined: none of them. */
export function findAddress(desc: MachineDesc, regs: readonly string[], text: string): bigint | undefined {
  const match = /^\s*([\w.$]+)\s*(?:([+-])\s*(\w+))?\s*$/.exec(text);
  if (match?.[1] === undefined) {
    return undefined;
  }
  const name = match[1];
  const reg = desc.regs.findIndex((one) => one.name === name || one.alias === name);
  const there = desc.symbols.find((one) => one.name === name)?.address ?? desc.args.find((one) => one.name === name)?.value ?? regs[reg];
  try {
    const base = there !== undefined ? BigInt(there) : readBig(name, text);
    const offset = match[3] === undefined ? 0n : readBig(match[3], text);
    return BigInt.asUintN(64, match[2] === "-" ? base - offset : base + offset);
  } catch {
    return undefined;
  }
}

export class Memory implements Panel {
  readonly id = "memory";
  readonly title = "Memory";
  readonly element = el("div", { class: "panel-body" });
  private readonly address = el("input", { class: "mono address", "aria-label": "Address", list: "memory-names", placeholder: "address, symbol, register" });
  private readonly names = el("datalist", { id: "memory-names" });
  private readonly space = el("select", { "aria-label": "Address space", onchange: () => this.moved(0n, true) });
  private readonly unit = el("select", { "aria-label": "Bytes in a group", onchange: () => this.again() });
  private readonly eyes = el("select", { "aria-label": "As seen by", onchange: () => this.again() });
  private readonly body = el("div", { class: "memory" });
  private look: Look | undefined;
  private at: bigint | undefined;
  private session: unknown;
  private last: { key: string; steps: number; bytes: Uint8Array } | undefined;
  private older: Uint8Array | undefined;

  constructor(private readonly desk: Desk) {
    this.unit.append(...["1", "2", "4", "8"].map((size) => el("option", { value: size, selected: size === "4" }, size)));
    this.address.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        this.find();
      }
    });
    this.address.addEventListener("change", () => this.find());
    this.element.append(
      el(
        "div",
        { class: "panel-tools" },
        this.address,
        this.names,
        this.space,
        el("label", {}, "bytes ", this.unit),
        this.eyes,
        button("▲", () => this.moved(-PAGE), { "aria-label": "Page up", title: "Earlier" }),
        button("▼", () => this.moved(PAGE), { "aria-label": "Page down", title: "Later" }),
      ),
      this.body,
    );
  }

  private again(): void {
    this.show(this.look).catch((error: unknown) => this.desk.fail(error));
  }

  private find(): void {
    const look = this.look;
    if (look === undefined || this.address.value.trim() === "") {
      return;
    }
    const at = findAddress(look.session.desc, look.state.cores[look.core]?.regs ?? [], this.address.value);
    if (at === undefined) {
      this.desk.fail(new Error(`"${this.address.value}": expected an address, a symbol or a register`));
      return;
    }
    this.at = at & ~15n;
    this.again();
  }

  private moved(by: bigint, reset = false): void {
    this.at = reset ? undefined : BigInt.asUintN(64, (this.at ?? 0n) + by);
    this.again();
  }

  async show(look: Look | undefined): Promise<void> {
    this.look = look;
    if (look === undefined) {
      put(this.body, el("p", { class: "quiet" }, NOTHING));
      return;
    }
    const { desc } = look.session;
    if (this.session !== look.session) {
      this.session = look.session;
      this.at = undefined;
      const old = this.space.value;
      put(this.space, ...desc.spaces.map((space, i) => el("option", { value: i, selected: String(i) === old }, space.name)));
      put(this.names, ...[...desc.args, ...desc.symbols].slice(0, 500).map((one) => el("option", { value: one.name })));
      put(this.eyes, el("option", { value: -1 }, "host"), ...desc.cores.map((name, i) => el("option", { value: i }, `as ${name}`)));
      this.eyes.hidden = desc.kind !== "tile";
    }
    const space = Number(this.space.value);
    if (this.at === undefined) {
      const named = space === 0 ? (desc.args[0]?.value ?? desc.symbols.find((one) => one.address !== desc.lines[0]?.address)?.address) : undefined;
      const region = desc.spaces[space]?.regions.find((one) => !one.device && one.name !== "lds") ?? desc.spaces[space]?.regions[0];
      this.at = BigInt(named ?? region?.base ?? "0") & ~15n;
    }
    const core = Number(this.eyes.value);
    const bytes = await look.session.read(space, this.at, Number(PAGE), core < 0 ? undefined : core);
    const key = `${space} ${this.at} ${core}`;
    if (this.last?.key !== key) {
      this.older = undefined;
    } else if (this.last.steps !== look.state.steps) {
      this.older = this.last.bytes;
    }
    this.last = { key, steps: look.state.steps, bytes };
    put(this.body, bytes.length === 0 ? el("p", { class: "quiet" }, `There is no memory at ${hex(this.at)}. Devices are not read here.`) : this.table(desc, bytes));
  }

  private table(desc: MachineDesc, bytes: Uint8Array): HTMLElement {
    const at = this.at ?? 0n;
    const unit = Number(this.unit.value);
    const symbols = new Map(desc.symbols.map((one) => [BigInt(one.address), one.name]));
    const rows: HTMLElement[] = [];
    for (let row = 0; row < bytes.length; row += 16) {
      const cells: HTMLElement[] = [];
      let text = "";
      let names = "";
      for (let i = row; i < Math.min(row + 16, bytes.length); i += unit) {
        let digits = "";
        let changed = false;
        for (let b = Math.min(unit, bytes.length - i) - 1; b >= 0; b--) {
          digits += (bytes[i + b] ?? 0).toString(16).padStart(2, "0");
          changed ||= this.older !== undefined && this.older[i + b] !== bytes[i + b];
        }
        cells.push(el("td", { class: `${changed ? "changed" : ""}${/^0+$/.test(digits) ? " zero" : ""}` }, digits));
      }
      for (let i = row; i < Math.min(row + 16, bytes.length); i++) {
        const c = bytes[i] ?? 0;
        text += c >= 32 && c < 127 ? String.fromCharCode(c) : "·";
        const name = symbols.get(at + BigInt(i));
        names += name === undefined ? "" : ` ${name}`;
      }
      rows.push(el("tr", {}, el("th", { scope: "row" }, hex(at + BigInt(row), 8)), ...cells, el("td", { class: "ascii" }, text), el("td", { class: "names" }, names)));
    }
    return el("table", { class: "memory-grid mono", "aria-label": "Memory" }, el("tbody", {}, ...rows));
  }
}
