/* Numbers of the contract: type one, see its bits in a format, what every rounding mode makes of it, what lies beside it, what operations
 * and conversions give. */

import { button, el, put, svg } from "../shell/dom.ts";
import type { Mounted, Page } from "../shell/view.ts";
import { MODES, Numbers, type Element, type Format, type Numeral, type Policy, type Rounded } from "./core.ts";
import { Form, Latest, type Choices } from "./form.ts";

const START = {
  format: "0",
  text: "0.1",
  operation: "add",
  a: "0.1",
  b: "0.2",
  c: "1",
  rm: "0",
  flush: "0",
  saturate: "0",
  nan: "0",
  flushOperand: false,
  elem: "10",
  acc: "1",
  accValue: "200",
  elemRm: "0",
  nanPol: "0",
  ftz: false,
  sat: false,
  satMode: false,
  uns: false,
  scale: "0",
  zp: "0",
};

const MODE_TEXTS: Choices = [
  ["0", "RNE: nearest, ties to even"],
  ["1", "RTZ: toward zero"],
  ["2", "RDN: toward −infinity"],
  ["3", "RUP: toward +infinity"],
  ["4", "RMM: nearest, ties away from zero"],
];
const OPERATIONS: Choices = [
  ["add", "a + b"], ["sub", "a − b"], ["mul", "a × b"], ["div", "a ÷ b"], ["fma", "a × b + c"], ["min", "min(a, b)"], ["max", "max(a, b)"],
  ["sqrt", "√a"], ["rcp", "1 ÷ a"], ["rsqrt", "1 ÷ √a"],
];
const OPERANDS: Record<string, number> = { sqrt: 1, rcp: 1, rsqrt: 1, fma: 3 };
/** Accumulators: numbers of enum facet_format. */
const ACCUMULATORS: Choices = [["1", "FP32"], ["0", "FP16"], ["7", "INT32"], ["8", "INT16"]];

/** A decimal text that is short enough to be read; all of it is in the title. */
function decimal(n: Numeral): HTMLElement {
  const long = n.exact.length > 26;
  return el("span", { class: "mono", title: `${n.exact}  ${n.hex}  ${n.class}` }, long ? `${Number(n.value).toPrecision(17)}…` : n.exact);
}

function flags(n: Numeral): HTMLElement {
  return el("span", { class: "flags" }, ...n.flags.flatMap((flag) => [el("span", { class: "flag" }, flag), " "]));
}

export class NumbersView implements Mounted {
  private readonly numbers: Numbers;
  private readonly form = new Form({ ...START }, (key) => void this.update(key));
  private formats: Format[] = [];
  private current: Rounded | undefined;
  private readonly turns = { number: new Latest(), every: new Latest(), operation: new Latest(), element: new Latest() };
  private readonly bits = el("input", { id: "play-bits", type: "text", class: "mono", autocomplete: "off", spellcheck: "false", onchange: () => void this.takeBits(this.bits.value) });
  private readonly strip = el("div", { class: "bit-strip", role: "group", "aria-label": "Bits, the highest first" });
  private readonly about = el("div", { class: "about-number" });
  private readonly line = el("div", { class: "number-line" });
  private readonly modes = el("div", { class: "scroll" });
  private readonly every = el("div", { class: "scroll" });
  private readonly result = el("div", { class: "play-result", role: "status" });
  private readonly converted = el("div", { class: "play-result", role: "status" });
  private readonly operands = el("div", { class: "controls" });
  readonly keys = [
    { key: "ArrowUp", text: "the next number above", run: () => void this.step(true) },
    { key: "ArrowDown", text: "the next number below", run: () => void this.step(false) },
  ];

  constructor(host: HTMLElement, private readonly page: Page) {
    this.numbers = new Numbers(page.engine.link);
    this.mounted = this.mount(host);
  }

  readonly mounted: Promise<void>;

  private async mount(host: HTMLElement): Promise<void> {
    this.formats = await this.numbers.formats();
    const names: Choices = this.formats.map((format, i) => [String(i), format.name]);
    const floats = names.filter((_, i) => this.formats[i]?.floating);
    const { form } = this;
    put(
      host,
      el(
        "div",
        { class: "play" },
        el("h1", {}, "Numbers"),
        el("p", { class: "lead" }, "Every format of the contract, to the bit. Type a number or click its bits; ", el("kbd", {}, "↑"), " and ", el("kbd", {}, "↓"), " go to the next one."),
        el(
          "section",
          { class: "panel", "aria-labelledby": "play-head-one" },
          el("h2", { id: "play-head-one" }, "One number"),
          el(
            "div",
            { class: "controls" },
            form.select("format", "Format", floats),
            form.text("text", "Number", { class: "mono wide" }),
            el("div", { class: "control" }, el("label", { for: "play-bits" }, "Bits"), this.bits),
            button("◂ below", () => void this.step(false)),
            button("above ▸", () => void this.step(true)),
          ),
          this.strip,
          this.about,
          this.line,
        ),
        el(
          "div",
          { class: "beside" },
          el("section", { class: "panel", "aria-labelledby": "play-head-modes" }, el("h2", { id: "play-head-modes" }, "In every rounding mode"), this.modes, this.rule("numeric.md 9", "How it is rounded")),
          el("section", { class: "panel", "aria-labelledby": "play-head-every" }, el("h2", { id: "play-head-every" }, "In every format, to nearest"), this.every),
        ),
        el(
          "section",
          { class: "panel", "aria-labelledby": "play-head-operation" },
          el("h2", { id: "play-head-operation" }, "An operation, rounded once"),
          el("div", { class: "controls" }, form.select("operation", "Operation", OPERATIONS), this.operands),
          el(
            "div",
            { class: "controls" },
            form.select("rm", "Rounding", MODE_TEXTS),
            form.select("flush", "Small results", [["0", "stay"], ["1", "tiny ones become zero (CAP)"], ["2", "subnormal ones become zero (tile)"]]),
            form.select("saturate", "Large results", [["0", "overflow"], ["1", "the largest, SAT_HIT (CAP)"], ["2", "the largest, OF and NX (tile)"]]),
            form.select("nan", "NaN", [["0", "canonical (CAP, RISC-V)"], ["1", "the first operand's (tile)"]]),
            form.check("flushOperand", "subnormal operands read as zero"),
          ),
          this.result,
        ),
        el(
          "section",
          { class: "panel", "aria-labelledby": "play-head-element" },
          el("h2", { id: "play-head-element" }, "An element of CAP.PREC, and back"),
          el(
            "div",
            { class: "controls" },
            form.select("acc", "Accumulator", ACCUMULATORS),
            form.text("accValue", "Value", { class: "mono" }),
            form.select("elem", "Element", names.filter((_, i) => this.formats[i]?.name !== "FP64")),
            form.select("elemRm", "Rounding", MODE_TEXTS),
            form.select("nanPol", "NaN", [["0", "propagates"], ["1", "becomes zero"], ["2", "becomes infinity"]]),
            form.text("scale", "Scale", { class: "mono short" }),
            form.text("zp", "Zero point", { class: "mono short" }),
          ),
          el("div", { class: "controls" }, form.check("sat", "SAT"), form.check("satMode", "SAT_MODE"), form.check("ftz", "DENORM_FTZ"), form.check("uns", "UNS")),
          this.converted,
          this.rule("numeric.md 8", "What quantization does"),
        ),
      ),
    );
    this.showOperands();
    await this.all();
  }

  private rule(id: string, text: string): HTMLElement | null {
    const address = this.page.contract(id);
    return address === undefined ? null : el("p", { class: "rule" }, el("a", { href: address }, `${text}: ${id.replace(".md", "")}`));
  }

  state(): unknown {
    return Object.fromEntries(Object.entries(this.form.values).filter(([key, value]) => value !== START[key as keyof typeof START]));
  }

  async restore(state: unknown): Promise<void> {
    await this.mounted;
    this.form.restore({ ...START, ...(state as object) });
    this.showOperands();
    await this.all();
  }

  private get format(): number {
    return Number(this.form.values.format);
  }

  private async all(): Promise<void> {
    await Promise.all([this.number(), this.operation(), this.element()]);
  }

  private async update(key: string): Promise<void> {
    this.page.changed();
    if (key === "text") {
      await this.number();
    } else if (key === "format") {
      await this.all();
    } else if (["acc", "accValue", "elem", "elemRm", "nanPol", "scale", "zp", "sat", "satMode", "ftz", "uns"].includes(key)) {
      await this.element();
    } else {
      this.showOperands();
      await this.operation();
    }
  }

  /* ---- one number ---- */

  private async number(): Promise<void> {
    const text = this.form.values.text.trim().replace("−", "-").replace("∞", "inf");
    await this.turns.number.ask(
      () => this.numbers.round(this.format, text),
      (rounded) => {
        this.current = rounded;
        this.form.problem("text", "");
        this.showNumber(rounded);
      },
      (error) => this.form.problem("text", error.message),
    );
    const floats = this.formats.flatMap((format, i) => (format.floating ? [i] : []));
    await this.turns.every.ask(
      () => Promise.all(floats.map((i) => this.numbers.round(i, text))),
      (all) => this.showEvery(floats, all),
      () => undefined,
    );
  }

  private showNumber(rounded: Rounded): void {
    const { RNE } = rounded.modes;
    const format = this.formats[this.format];
    this.bits.value = RNE.bits;
    this.showStrip(RNE, format);
    put(
      this.about,
      el("span", { class: "big mono" }, RNE.exact),
      el("span", {}, RNE.class),
      el("span", { class: "mono quiet" }, RNE.hex),
      rounded.modes.RNE.flags.length > 0 ? flags(RNE) : el("span", { class: "quiet" }, "exactly"),
    );
    put(this.line, this.drawLine(rounded));
    this.modes.dataset["of"] = `${rounded.text} ${format?.name ?? ""}`;
    put(
      this.modes,
      table(
        ["mode", "bits", "value", "flags", "with SAT: bits", "value", "flags"],
        MODES.map((mode) => {
          const [plain, saturated] = [rounded.modes[mode], rounded.saturated[mode]];
          const same = plain.bits === saturated.bits && plain.flags.join() === saturated.flags.join();
          return [
            el("abbr", { title: MODE_TEXTS[MODES.indexOf(mode)]?.[1] }, mode),
            mono(plain.bits, plain.bits !== RNE.bits),
            decimal(plain),
            flags(plain),
            ...(same ? [el("span", { class: "quiet" }, "the same"), "", ""] : [mono(saturated.bits, saturated.bits !== plain.bits), decimal(saturated), flags(saturated)]),
          ];
        }),
      ),
    );
  }

  /** Sign, exponent, fraction: buttons that flip their bit. */
  private showStrip(n: Numeral, format: Format | undefined): void {
    if (format === undefined) {
      return;
    }
    const value = BigInt(n.bits);
    const { exponent = 0, fraction = 0 } = format;
    const kind = (at: number): string => {
      const down = format.bits - 1 - at;
      return down === 0 ? "sign" : down <= exponent ? "exponent" : down <= exponent + fraction ? "fraction" : "unused";
    };
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["bit"] : undefined;
    const buttons: HTMLElement[] = [];
    for (let at = format.bits - 1; at >= 0; at--) {
      const one = ((value >> BigInt(at)) & 1n) === 1n;
      buttons.push(
        el(
          "button",
          {
            type: "button",
            class: `bit ${kind(at)}`,
            "data-bit": at,
            "aria-pressed": String(one),
            "aria-label": `bit ${at}, ${kind(at)}: ${one ? 1 : 0}`,
            title: `bit ${at}, ${kind(at)}`,
            onclick: () => void this.takeBits(`0x${(value ^ (1n << BigInt(at))).toString(16)}`),
          },
          one ? "1" : "0",
        ),
      );
    }
    put(this.strip, ...buttons);
    buttons.find((one) => one.dataset["bit"] === focused)?.focus();
  }

  /** What was written between the numbers on both sides. */
  private drawLine({ text, below, above, modes }: Rounded): SVGElement | HTMLElement {
    if (below.bits === above.bits) {
      return el("p", { class: "quiet" }, `${text} is a number of the format.`);
    }
    const [low, high, written] = [Number(below.value), Number(above.value), Number(text)];
    const part = Number.isFinite(low) && Number.isFinite(high) && Number.isFinite(written) ? Math.min(1, Math.max(0, (written - low) / (high - low))) : undefined;
    const [left, right] = [90, 710];
    const end = (x: number, n: Numeral): SVGElement =>
      svg(
        "g",
        { class: n.bits === modes.RNE.bits ? "end chosen" : "end" },
        svg("line", { x1: x, x2: x, y1: 26, y2: 46 }),
        svg("text", { x, y: 18, "text-anchor": "middle" }, n.bits),
        svg("text", { x, y: 64, "text-anchor": "middle" }, n.exact.length > 24 ? Number(n.value).toPrecision(12) : n.exact),
      );
    const marks: SVGElement[] = [svg("line", { class: "axis", x1: left, x2: right, y1: 36, y2: 36 }), end(left, below), end(right, above)];
    if (part !== undefined) {
      const x = left + part * (right - left);
      marks.push(svg("line", { class: "half", x1: (left + right) / 2, x2: (left + right) / 2, y1: 31, y2: 41 }), svg("circle", { class: "written", cx: x, cy: 36, r: 5 }));
    }
    return svg("svg", { viewBox: "0 0 800 72", role: "img", "aria-label": `${text} lies between ${below.exact} and ${above.exact}; to nearest it becomes ${modes.RNE.exact}` }, ...marks);
  }

  private async takeBits(text: string): Promise<void> {
    const format = this.formats[this.format];
    let bits: bigint;
    try {
      bits = BigInt(/^0[xb]/i.test(text.trim()) ? text.trim() : `0x${text.trim()}`);
    } catch {
      this.page.say("error", `"${text}": expected bits as 0x and hexadecimal digits`);
      return;
    }
    if (format === undefined || bits < 0n || bits >> BigInt(format.bits) !== 0n) {
      this.page.say("error", `${text}: expected at most ${format?.bits ?? 0} bits`);
      return;
    }
    await this.show(bits);
  }

  /** Bits become the number that they stand for; of a NaN, the text has no payload, but the bits are shown. */
  private async show(bits: bigint): Promise<void> {
    const { value } = await this.numbers.bits(this.format, bits);
    this.form.set("text", value.exact === "0" && value.class === "-0" ? "-0" : value.exact);
    this.page.changed();
    await this.number();
    if (this.current !== undefined && BigInt(this.current.modes.RNE.bits) !== bits) {
      this.bits.value = value.bits;
      this.showStrip(value, this.formats[this.format]);
      put(this.about, el("span", { class: "big mono" }, value.exact), el("span", {}, value.class), el("span", { class: "quiet" }, "other bits than the number has when it is written"));
    }
  }

  private async step(up: boolean): Promise<void> {
    try {
      const { below, above } = await this.numbers.bits(this.format, BigInt(this.bits.value));
      const next = up ? above : below;
      if (next === null) {
        this.page.say("news", `nothing lies ${up ? "above" : "below"}`);
      } else {
        await this.show(BigInt(next.bits));
      }
    } catch (error) {
      this.page.say("error", error instanceof Error ? error.message : String(error));
    }
  }

  private showEvery(formats: readonly number[], all: readonly Rounded[]): void {
    put(
      this.every,
      table(
        ["format", "bits", "value", "class", "flags"],
        all.map(({ modes: { RNE } }, k) => {
          const i = formats[k] ?? 0;
          return [
            button(this.formats[i]?.name ?? "", () => {
              this.form.set("format", String(i));
              void this.update("format");
            }, { class: "plain" }),
            mono(RNE.bits, false),
            decimal(RNE),
            RNE.class,
            flags(RNE),
          ];
        }),
      ),
    );
  }

  /* ---- operations and elements ---- */

  private showOperands(): void {
    const count = OPERANDS[this.form.values.operation] ?? 2;
    put(this.operands, ...(["a", "b", "c"] as const).slice(0, count).map((name) => this.form.text(name, name, { class: "mono" })));
  }

  private policy(): Policy {
    const { rm, flush, saturate, nan, flushOperand } = this.form.values;
    return { rm: Number(rm), flush: Number(flush), saturate: Number(saturate), nan: Number(nan), flushOperand };
  }

  /** Operands are numbers of the format, to nearest; 0x and digits without a point are bits. */
  private async operand(key: "a" | "b" | "c"): Promise<bigint> {
    const text = this.form.values[key].trim();
    try {
      if (/^0x[0-9a-f]+$/i.test(text)) {
        return BigInt(text);
      }
      const { modes } = await this.numbers.round(this.format, text);
      this.form.problem(key, "");
      return BigInt(modes.RNE.bits);
    } catch (error) {
      this.form.problem(key, error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  private async operation(): Promise<void> {
    const { operation } = this.form.values;
    const names = (["a", "b", "c"] as const).slice(0, OPERANDS[operation] ?? 2);
    await this.turns.operation.ask(
      async () => {
        const operands = await Promise.all(names.map((name) => this.operand(name)));
        const shown = await Promise.all(operands.map((bits) => this.numbers.bits(this.format, bits)));
        return { shown, result: await this.numbers.calculate(operation, this.format, operands, this.policy()) };
      },
      ({ shown, result }) =>
        put(
          this.result,
          table(
            ["", "bits", "value", "class", "flags"],
            [
              ...shown.map(({ value }, i) => [names[i] ?? "", mono(value.bits, false), decimal(value), value.class, ""]),
              [el("strong", {}, OPERATIONS.find(([name]) => name === operation)?.[1]), mono(result.bits, true), decimal(result), result.class, flags(result)],
            ],
          ),
        ),
      (error) => put(this.result, el("p", { class: "problem" }, error.message)),
    );
  }

  private elementOptions(): Element {
    const v = this.form.values;
    const whole = (key: "scale" | "zp"): number => {
      if (!/^[+-]?\d+$/.test(v[key].trim())) {
        this.form.problem(key, "expected a whole number");
        throw new Error(`${v[key]}: expected a whole number`);
      }
      this.form.problem(key, "");
      return Number(v[key]);
    };
    return {
      elem: Number(v.elem), acc: Number(v.acc), rm: Number(v.elemRm), nanPol: Number(v.nanPol), ftz: v.ftz, sat: v.sat, satMode: v.satMode, uns: v.uns,
      scale: whole("scale"), zp: whole("zp"),
    };
  }

  private async accumulator(acc: number): Promise<number> {
    const text = this.form.values.accValue.trim();
    if (this.formats[acc]?.floating === true) {
      return Number((await this.numbers.round(acc, text)).modes.RNE.bits);
    }
    if (!/^[+-]?(\d{1,10}|0x[0-9a-f]{1,8})$/i.test(text)) {
      throw new Error(`${text}: expected a whole number for ${this.formats[acc]?.name ?? "the accumulator"}`);
    }
    return Number(BigInt.asUintN(this.formats[acc]?.bits ?? 32, BigInt(text)));
  }

  private async element(): Promise<void> {
    await this.turns.element.ask(
      async () => {
        const options = this.elementOptions();
        const bits = await this.accumulator(options.acc);
        const before = (await this.numbers.bits(options.acc, BigInt(bits))).value;
        const narrow = await this.numbers.element(options, true, bits);
        const widen = await this.numbers.element(options, false, Number(narrow.bits));
        return { before, narrow, widen };
      },
      ({ before, narrow, widen }) => {
        this.form.problem("accValue", "");
        const [acc, elem] = [this.formats[Number(this.form.values.acc)]?.name, this.formats[Number(this.form.values.elem)]?.name];
        put(
          this.converted,
          table(
            ["", "bits", "code or value", "flags"],
            [
              [`accumulator, ${acc}`, mono(before.bits, false), decimal(before), ""],
              [`narrow: element, ${elem}`, mono(narrow.bits, true), decimal(narrow), flags(narrow)],
              [`widen: accumulator, ${acc}`, mono(widen.bits, widen.bits !== before.bits), decimal(widen), flags(widen)],
            ],
          ),
        );
      },
      (error) => {
        this.form.problem("accValue", error.message);
        put(this.converted);
      },
    );
  }
}

type Cell = Node | string | null | undefined;

export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): HTMLTableElement {
  return el(
    "table",
    { class: "values" },
    el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", {}, cell))))),
  );
}

export function mono(text: string, marked: boolean): HTMLElement {
  return el("span", { class: marked ? "mono marked" : "mono" }, text);
}
