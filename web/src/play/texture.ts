/* One sample of a texture as a picture: the texels around it, those that are taken with their weights, and every value to the element that
 * the instruction writes. */

import { el, put, svg } from "../shell/dom.ts";
import type { InputFile, Mounted, Page } from "../shell/view.ts";
import { Numbers, Samples, type Question, type SampleRecord, type Tap, type Value } from "./core.ts";
import { Form, Latest, type Choices } from "./form.ts";
import { mono, table } from "./numbers.ts";
import { PAINTED, RGBA8, decoded, painted, type Texture } from "./texels.ts";

const START = {
  source: "tiles",
  format: "48",
  u: "0.4",
  v: "0.55",
  space: "normalized",
  wrap: "0",
  filter: "bilinear",
  srgb: false,
  raw: false,
  elem: "1",
  acc: "1",
  rm: "0",
  border: "1 0 1 1",
};

const WRAPS: Choices = [["0", "clamp"], ["1", "repeat"], ["2", "mirror"], ["3", "border"]];
const MODES: Choices = [["0", "RNE"], ["1", "RTZ"], ["2", "RDN"], ["3", "RUP"], ["4", "RMM"]];
const FP32 = 1;
/** Texels of the window, each way; a texel on the page. */
const WINDOW = 14;
const CELL = 32;
const NAMES = ["t00", "t01", "t10", "t11"] as const;
const CHANNELS = ["R", "G", "B", "A"] as const;

interface Shown {
  record: SampleRecord;
  window: Float32Array;
  x0: number;
  y0: number;
}

const number = (value: Value): number => (typeof value.value === "number" ? value.value : value.value === "inf" ? Infinity : value.value === "-inf" ? -Infinity : NaN);

/** A returned number from 0 to 1 as a colour of the page. */
function colour(rgba: ArrayLike<number>): string {
  const part = (i: number): number => Math.round(255 * Math.min(1, Math.max(0, Number.isFinite(rgba[i]) ? (rgba[i] ?? 0) : 0)));
  return `rgb(${part(0)},${part(1)},${part(2)})`;
}

export class TextureView implements Mounted {
  private readonly numbers: Numbers;
  private readonly samples: Samples;
  private readonly form = new Form({ ...START }, (key) => this.update(key));
  private readonly latest = new Latest();
  private formats: { code: number; name: string; bytes: number }[] = [];
  private texture: Texture = painted("tiles", 4);
  private last: Shown | undefined;
  private readonly picture = el("div", {
    class: "texture-picture",
    tabindex: 0,
    role: "application",
    "aria-label": "Texels around the sample; a click or the arrow keys move it",
    onkeydown: (event) => this.key(event as KeyboardEvent),
    onclick: (event) => this.click(event as MouseEvent),
  });
  private readonly about = el("p", { class: "quiet", role: "status" });
  private readonly taps = el("div", { class: "scroll" });
  private readonly channels = el("div", { class: "scroll" });
  private readonly result = el("div", { class: "sample-result" });
  readonly mounted: Promise<void>;

  constructor(host: HTMLElement, private readonly page: Page) {
    this.numbers = new Numbers(page.engine.link);
    this.samples = new Samples(page.engine.link);
    this.mounted = this.mount(host);
  }

  private async mount(host: HTMLElement): Promise<void> {
    const [formats, numerals] = await Promise.all([this.samples.formats(), this.numbers.formats()]);
    this.formats = formats;
    const { form } = this;
    const elements: Choices = numerals.flatMap((format, i) => (format.floating && format.name !== "FP64" ? [[String(i), format.name] as const] : []));
    const rule = this.page.contract("gfx-semantics.md 6");
    put(
      host,
      el(
        "div",
        { class: "play texture" },
        el("h1", {}, "Texture sample"),
        el("p", { class: "lead" }, "What GFX.SAMPLE reads and computes for one place: click a place, or move it by the arrow keys. A picture can be dropped anywhere on the page."),
        el(
          "div",
          { class: "texture-columns" },
          el(
            "div",
            {},
            el(
              "div",
              { class: "controls" },
              form.select("source", "Texture", PAINTED),
              form.select("format", "Format", formats.map(({ code, name }) => [String(code), name])),
              form.select("filter", "Filter", [["bilinear", "bilinear"], ["nearest", "nearest"]]),
              form.select("wrap", "Wrap", WRAPS),
            ),
            el(
              "div",
              { class: "controls" },
              form.text("u", "u", { class: "mono short" }),
              form.text("v", "v", { class: "mono short" }),
              form.select("space", "Coordinates", [["normalized", "0 to 1"], ["texel", "texels"]]),
              form.check("srgb", "sRGB"),
              form.check("raw", "raw codes"),
            ),
            el(
              "div",
              { class: "controls" },
              form.select("elem", "Elements", elements),
              form.select("acc", "Accumulator", [["1", "FP32"], ["0", "FP16"]]),
              form.select("rm", "Rounding", MODES),
              form.text("border", "Border R G B A", { class: "mono" }),
            ),
            this.picture,
            this.about,
          ),
          el(
            "div",
            {},
            this.result,
            el("h2", {}, "Taps"),
            this.taps,
            el("h2", {}, "Channels"),
            this.channels,
            rule === undefined ? null : el("p", { class: "rule" }, el("a", { href: rule }, "The rules: gfx-semantics 6")),
          ),
        ),
      ),
    );
    await this.sample();
  }

  async open(file: InputFile): Promise<void> {
    await this.mounted;
    this.texture = await decoded(file);
    this.form.set("source", "file");
    this.form.set("format", this.code(RGBA8));
    this.page.changed();
    await this.sample();
  }

  /** A file's texels are not part of a link. */
  state(): unknown {
    const values = { ...this.form.values };
    if (values.source === "file") {
      values.source = START.source;
    }
    return Object.fromEntries(Object.entries(values).filter(([key, value]) => value !== START[key as keyof typeof START]));
  }

  async restore(state: unknown): Promise<void> {
    await this.mounted;
    this.form.restore({ ...START, ...(state as object) });
    this.paint();
    await this.sample();
  }

  private code(name: string): string {
    return String(this.formats.find((format) => format.name === name)?.code ?? START.format);
  }

  private update(key: string): void {
    if (key === "source" && this.form.values.source === "file") {
      this.form.set("source", this.texture.name in { tiles: 0, ramp: 0, letter: 0, bytes: 0 } ? this.texture.name : "file");
      this.page.choose();
      return;
    }
    if (key === "source" || key === "format") {
      /* A painted texture is RGBA; another format shows how it reads the same bytes, or plain ones. */
      if (key === "source" && painted(this.form.values.source, 4).picture) {
        this.form.set("format", this.code(RGBA8));
      }
      this.paint();
    }
    this.page.changed();
    void this.sample();
  }

  private paint(): void {
    const { source } = this.form.values;
    if (source !== "file") {
      this.texture = painted(source, this.bytesPerTexel());
    }
  }

  private bytesPerTexel(): number {
    return this.formats.find(({ code }) => code === Number(this.form.values.format))?.bytes ?? 4;
  }

  /* ---- the sample ---- */

  private async element(key: "u" | "v", format: number): Promise<number> {
    try {
      const { modes } = await this.numbers.round(format, this.form.values[key].trim());
      this.form.problem(key, "");
      return Number(modes.RNE.bits);
    } catch (error) {
      this.form.problem(key, error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  private async borderIn(format: number): Promise<[number, number, number, number]> {
    const words = this.form.values.border.trim().split(/[\s,;]+/);
    try {
      if (words.length !== 4) {
        throw new Error("expected four numbers");
      }
      const all = await Promise.all(words.map((word) => this.numbers.round(format, word)));
      this.form.problem("border", "");
      const [r = 0, g = 0, b = 0, a = 0] = all.map(({ modes }) => Number(modes.RNE.bits));
      return [r, g, b, a];
    } catch (error) {
      this.form.problem("border", error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  private async question(elem: number): Promise<Question> {
    const v = this.form.values;
    const { width, height, bytes } = this.texture;
    const size = this.bytesPerTexel();
    /* Bytes of another format than they were made for: as many whole rows as there are. */
    const columns = this.texture.picture ? Math.max(1, Math.floor((width * 4) / size)) : width;
    return {
      width: columns,
      height: Math.min(height, Math.floor(bytes.length / (columns * size))),
      pitch: columns * size,
      format: Number(v.format),
      wrap: Number(v.wrap),
      normalized: v.space === "normalized",
      bilinear: v.filter === "bilinear",
      srgb: v.srgb,
      raw: v.raw,
      elem,
      acc: Number(v.acc),
      rm: Number(v.rm),
      u: await this.element("u", elem),
      v: await this.element("v", elem),
      border: await this.borderIn(elem),
    };
  }

  private async sample(): Promise<void> {
    await this.latest.ask(
      async () => {
        const { bytes } = this.texture;
        const question = await this.question(Number(this.form.values.elem));
        const record = await this.samples.why(bytes, question);
        const [i, j] = record.footprint.texel ?? [0, 0];
        const [x0, y0] = [i - WINDOW / 2 + 1, j - WINDOW / 2 + 1];
        const window = await this.samples.window(bytes, { ...question, border: await this.borderIn(FP32), elem: FP32 }, x0, y0, WINDOW, WINDOW);
        return { question, shown: { record, window, x0, y0 } };
      },
      ({ question, shown }) => {
        this.last = shown;
        this.draw(question, shown);
        this.showTaps(shown.record);
        this.showChannels(shown.record);
        this.result.dataset["of"] = JSON.stringify(this.form.values);
      },
      (error) => {
        put(this.about, error.message);
      },
    );
  }

  /** Weights of the four taps, from the two of the footprint. */
  private weights(record: SampleRecord): Record<string, number> {
    const [fu = 0, fv = 0] = (record.footprint.weight ?? [0, 0]).map((w) => w / 65536);
    return this.form.values.filter === "nearest" ? { t00: 1 } : { t00: (1 - fu) * (1 - fv), t01: fu * (1 - fv), t10: (1 - fu) * fv, t11: fu * fv };
  }

  private draw(question: Question, { record, window, x0, y0 }: Shown): void {
    const size = WINDOW * CELL;
    const cells: SVGElement[] = [];
    for (let k = 0; k < WINDOW * WINDOW; k++) {
      const [x, y] = [x0 + (k % WINDOW), y0 + Math.floor(k / WINDOW)];
      const inside = x >= 0 && y >= 0 && x < question.width && y < question.height;
      cells.push(
        svg("rect", { class: inside ? "texel" : "texel outside", x: (x - x0) * CELL, y: (y - y0) * CELL, width: CELL, height: CELL, fill: colour(window.subarray(4 * k, 4 * k + 4)) }, svg("title", {}, `texel ${x}, ${y}`)),
      );
    }
    const edge = svg("rect", { class: "edge", x: -x0 * CELL, y: -y0 * CELL, width: question.width * CELL, height: question.height * CELL });
    const marks: SVGElement[] = [];
    const weights = this.weights(record);
    const [i = 0, j = 0] = record.footprint.texel ?? [];
    NAMES.forEach((name, n) => {
      const tap = record.footprint.taps?.[name];
      if (tap !== undefined && tap !== null) {
        const [x, y] = [(i - x0 + (n & 1)) * CELL, (j - y0 + (n >> 1)) * CELL];
        marks.push(
          svg("rect", { class: "tap", x: x + 1, y: y + 1, width: CELL - 2, height: CELL - 2 }),
          svg("text", { class: "weight", x: x + CELL / 2, y: y + CELL / 2 + 3, "text-anchor": "middle" }, `${Math.round(100 * (weights[name] ?? 0))}%`),
        );
      }
    });
    const at = this.place();
    if (at !== undefined) {
      const [x, y] = [(at.x - x0) * CELL, (at.y - y0) * CELL];
      marks.push(svg("path", { class: "cross", d: `M${x - 7} ${y}H${x + 7}M${x} ${y - 7}V${y + 7}` }));
    }
    put(this.picture, svg("svg", { viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true" }, ...cells, edge, ...marks));
    const outside = { 0: "the edge goes on", 1: "the texture begins again", 2: "mirrored", 3: "the border colour" }[question.wrap];
    this.about.textContent =
      record.footprint.kind === "taps"
        ? `${this.texture.name}, ${question.width} × ${question.height} texels. Outside of the frame: ${outside}. Colours are returned numbers from 0 to 1.`
        : `No texel is fetched: ${record.footprint.kind}.`;
  }

  /** The sample's place in texels. */
  private place(): { x: number; y: number } | undefined {
    const position = this.last?.record.footprint.position;
    return position === undefined ? undefined : { x: position[0] / 65536, y: position[1] / 65536 };
  }

  /** To a place in texels. */
  private async go(x: number, y: number): Promise<void> {
    const { width, height } = await this.question(FP32);
    const normalized = this.form.values.space === "normalized";
    const short = (value: number): string => String(Number(value.toFixed(6)));
    this.form.set("u", short(normalized ? x / width : x));
    this.form.set("v", short(normalized ? y / height : y));
    this.page.changed();
    await this.sample();
  }

  private click(event: MouseEvent): void {
    const box = this.picture.querySelector("svg")?.getBoundingClientRect();
    if (box !== undefined && this.last !== undefined && box.width > 0) {
      void this.go(this.last.x0 + ((event.clientX - box.left) / box.width) * WINDOW, this.last.y0 + ((event.clientY - box.top) / box.height) * WINDOW);
    }
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const at = this.place();
    if (step !== undefined && at !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      const length = event.shiftKey ? 1 : 0.125;
      void this.go(at.x + length * (step[0] ?? 0), at.y + length * (step[1] ?? 0));
    }
  }

  /* ---- the values ---- */

  private showTaps(record: SampleRecord): void {
    const { position, texel, weight, taps } = record.footprint;
    const weights = this.weights(record);
    const codes = (tap: Tap): string => Object.entries(tap.channels ?? {}).map(([name, code]) => `${name} ${code.bits}`).join("  ");
    put(
      this.taps,
      position === undefined || texel === undefined || weight === undefined
        ? null
        : el("p", { class: "mono small" }, `position ${position[0] / 65536}, ${position[1] / 65536}   texel ${texel.join(", ")}   weights ${weight.map((w) => `${w}/65536`).join(", ")}`),
      table(
        ["tap", "weight", "texel", "codes"],
        NAMES.flatMap((name) => {
          const tap = taps?.[name];
          return tap === undefined ? [] : [[name, tap === null ? "0" : (weights[name] ?? 0).toFixed(6), tap === null ? "not fetched" : tap.border ? "border colour" : `${tap.x}, ${tap.y}  at ${tap.address}`, tap === null ? "" : mono(codes(tap), false)]];
        }),
      ),
    );
  }

  private showChannels(record: SampleRecord): void {
    const value = (v: Value | null | undefined): HTMLElement | string => (v === undefined || v === null ? "–" : el("span", { class: "mono", title: v.bits }, short(v)));
    const { result, flags } = record;
    put(
      this.result,
      el("div", { class: "swatch-line" }, svgSwatch(colour(result.map(number))), el("span", { class: "big mono" }, result.map(short).join("  ")), ...flags.flatMap((flag) => [el("span", { class: "flag" }, flag), " "])),
      table(["", ...CHANNELS], [["element", ...CHANNELS.map((_, c) => mono(result[c]?.bits ?? "", true))]]),
    );
    const all = record.channels;
    if (all === undefined) {
      put(this.channels);
      return;
    }
    const row = (title: string, pick: (name: (typeof CHANNELS)[number]) => Value | null | undefined): (HTMLElement | string)[] => [title, ...CHANNELS.map((name) => value(pick(name)))];
    put(
      this.channels,
      table(
        ["", ...CHANNELS],
        [
          ...NAMES.map((tap) => row(tap, (c) => all[c]?.taps[tap])),
          row("upper row", (c) => all[c]?.row0?.result),
          row("lower row", (c) => all[c]?.row1?.result),
          row("both rows", (c) => all[c]?.rows?.result),
          row("filtered", (c) => all[c]?.filtered),
          ["sRGB step", ...CHANNELS.map((c) => all[c]?.srgb ?? "–")],
          row("accumulator", (c) => all[c]?.accumulator),
          row("element", (c) => all[c]?.element),
          ["flags", ...CHANNELS.map((c) => all[c]?.flags.join(" ") ?? "")],
        ],
      ),
    );
  }
}

function short(v: Value): string {
  return typeof v.value === "number" ? String(Number(v.value.toPrecision(7))) : v.value;
}

function svgSwatch(fill: string): SVGElement {
  return svg("svg", { class: "swatch", viewBox: "0 0 10 10", role: "img", "aria-label": `the returned colour, ${fill}` }, svg("rect", { width: 10, height: 10, fill }));
}
