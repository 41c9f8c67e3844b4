/* One ray, step by step: what the node is, its children as bars along the ray, what is missed and by how much, the stack, the
 * registers, and every value of the record with its bits and the rule behind it. */

import { button, el, put, svg } from "../shell/dom.ts";
import type { RayRecord, RayStep, Value } from "../engine/types.ts";
import { children, exact, headline, number, outcome, reason, short, stacks, triangles } from "./record.ts";
import type { ChildTest, TriangleTest } from "./record.ts";

/** Steps of a list; more are counted. */
const MOST_STEPS = 2000;
const PLAY_MILLISECONDS = 700;

export interface RayEvents {
  step(index: number): void;
  node(step: RayStep): void;
}

type Item = Value | Value[] | string | number | boolean | null | Item[] | { [name: string]: Item };

function isValue(item: unknown): item is Value {
  return typeof item === "object" && item !== null && "bits" in item && "value" in item;
}

export class RayPane {
  readonly element = el("section", { class: "ray", "aria-label": "Ray" });
  private readonly title = el("h2", {}, "Ray");
  private readonly result = el("div", { class: "ray-result" });
  private readonly place = el("span", { class: "mono step-place", "aria-live": "polite" });
  private readonly list = el("ol", { class: "steps", "aria-label": "Steps" });
  private readonly detail = el("div", { class: "step-detail" });
  private readonly bits = button("Bits", () => this.toggleBits(), { "aria-pressed": "false", title: "Bits or decimal numbers (b)" });
  private readonly play = button("Play", () => this.togglePlay(), { title: "Go through the steps (Space)" });
  private readonly head: HTMLElement;
  private record: RayRecord | undefined;
  private stacks: string[][] = [];
  private index = 0;
  private showBits = false;
  private timer: number | undefined;
  private open = new Set<string>();

  constructor(private readonly events: RayEvents) {
    this.head = el(
      "div",
      { class: "ray-head" },
      this.title,
      el(
        "div",
        { class: "row" },
        button("◀", () => this.go(this.index - 1), { title: "Step back (←)", "aria-label": "Step back" }),
        this.place,
        button("▶", () => this.go(this.index + 1), { title: "Step (→)", "aria-label": "Step" }),
        this.play,
        this.bits,
      ),
      this.result,
    );
    this.clear("Click a pixel of the picture: its ray is followed node by node.");
  }

  get step(): number {
    return this.index;
  }

  get shown(): RayRecord | undefined {
    return this.record;
  }

  clear(text: string): void {
    this.stopPlay();
    this.record = undefined;
    put(this.element, el("p", { class: "empty" }, text));
  }

  /** `command`: what asks the program for the same. */
  show(title: string, record: RayRecord, step: number, command: string): void {
    this.stopPlay();
    this.record = record;
    this.stacks = stacks(record);
    this.open.clear();
    this.title.textContent = title;
    put(this.result, ...resultLine(record), el("details", { class: "all" }, el("summary", {}, "The same in a terminal"), el("code", { class: "command" }, command)));
    this.list.replaceChildren(
      ...record.steps.slice(0, MOST_STEPS).map((one, i) => {
        const level = (this.stacks[i] ?? []).filter((name) => name === "RETURN").length;
        return el(
          "li",
          { class: `level-${Math.min(level, 3)}` },
          button("", () => this.go(i), { class: "step-line" }),
        );
      }),
    );
    record.steps.slice(0, MOST_STEPS).forEach((one, i) => {
      const line = this.list.children[i]?.firstElementChild;
      const hit = one["t_before"] !== undefined && number(one["t_before"] as Value) !== number(one["t_after"] as Value);
      line?.append(
        el("span", { class: `mark ${one.kind}`, "aria-hidden": "true" }, one.kind.charAt(0).toUpperCase()),
        el("span", { class: "mono" }, `${i} `),
        el("span", {}, `${one.kind} `),
        el("span", { class: "mono" }, one.node),
        el("span", { class: hit ? "note hit" : "note" }, hit ? `hit at ${short(one["t_after"] as Value)}` : headline(one)),
      );
    });
    const more = record.steps.length - MOST_STEPS;
    this.element.scrollTop = 0;
    put(this.element, this.head, this.list, more > 0 ? el("p", { class: "empty" }, `${more} more steps`) : null, this.detail);
    this.go(step);
  }

  go(to: number): void {
    const steps = this.record?.steps ?? [];
    if (steps.length === 0) {
      put(this.detail, el("p", { class: "empty" }, "The ray visits no node."));
      return;
    }
    this.index = Math.min(Math.max(to, 0), steps.length - 1);
    this.place.textContent = `step ${this.index + 1} of ${steps.length}`;
    [...this.list.children].forEach((line, i) => {
      line.firstElementChild?.setAttribute("aria-current", i === this.index ? "step" : "false");
      line.classList.toggle("current", i === this.index);
    });
    const line = this.list.children[this.index];
    if (line instanceof HTMLElement) {
      const top = line.offsetTop - this.list.offsetTop;
      if (top < this.list.scrollTop || top + line.offsetHeight > this.list.scrollTop + this.list.clientHeight) {
        this.list.scrollTop = top - this.list.clientHeight / 2;
      }
    }
    this.explain();
    this.events.step(this.index);
  }

  toggleBits(): void {
    this.showBits = !this.showBits;
    this.bits.setAttribute("aria-pressed", String(this.showBits));
    this.explain();
  }

  togglePlay(): void {
    if (this.timer !== undefined) {
      this.stopPlay();
    } else if (this.record !== undefined) {
      if (this.index + 1 >= this.record.steps.length) {
        this.go(0);
      }
      this.play.textContent = "Pause";
      this.timer = window.setInterval(() => {
        this.go(this.index + 1);
        if (this.index + 1 >= (this.record?.steps.length ?? 0)) {
          this.stopPlay();
        }
      }, PLAY_MILLISECONDS);
    }
  }

  stopPlay(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.play.textContent = "Play";
  }

  /* ---- one step ---- */

  private explain(): void {
    const step = this.record?.steps[this.index];
    if (step === undefined) {
      return;
    }
    const tests = children(step);
    const scale = new Scale(step, tests);
    put(
      this.detail,
      el(
        "h3",
        {},
        `${step.kind} node `,
        button(step.node, () => this.events.node(step), { class: "plain mono", title: "Show it in the tree" }),
        el("span", { class: "note" }, ` ${headline(step)}; offset ${step.image_offset || "outside of the image"}`),
      ),
      tests.length > 0 && this.bars(tests, scale),
      ...triangles(step).map((one, i) => this.triangle(one, i)),
      this.stackRow(step),
      step.v.length > 0 && this.registers(step),
      this.values("All values of this step", "step", omit(step, ["children", "triangles", "v"])),
    );
  }

  private bars(tests: readonly ChildTest[], scale: Scale): HTMLElement {
    const rows = tests.map((child, i) => {
      const kind = outcome(child);
      const name = `slot ${i}`;
      return el(
        "details",
        { class: `slot ${kind}`, open: this.open.has(name), ontoggle: (event) => this.remember(name, event) },
        el(
          "summary",
          {},
          el("span", { class: "mono slot-id" }, child.id),
          scale.bar(child, kind),
          el("span", { class: `verdict ${kind}` }, kind === "hit" ? `hit${child.place === undefined ? "" : `, ${ordinal(child.place)}`}` : kind),
          el("span", { class: "why" }, reason(child)),
        ),
        this.table(child as unknown as Record<string, Item>, "children"),
      );
    });
    return el("div", { class: "slots" }, el("p", { class: "axis mono" }, el("span", {}, `t ${scale.first}`), el("span", {}, scale.last)), ...rows);
  }

  private triangle(one: TriangleTest, i: number): HTMLElement {
    const kind = one.hit === true ? "hit" : one.cull !== undefined && one.cull !== "visible" && one.miss === null ? "culled" : "missed";
    const name = `triangle ${i}`;
    const why = one.absent
      ? "the pair has no second triangle"
      : one.procedural
        ? "procedural: a box whose shape the node does not know"
        : one.hit === true
          ? `t ${short(one.t)}, u ${short(one.u)}, v ${short(one.v)}, ${one.front === true ? "front" : "back"} face`
          : `t ${short(one.t)}, u ${short(one.u)}, v ${short(one.v)}: ${one.miss ?? one.cull ?? ""}`;
    return el(
      "details",
      { class: `slot ${one.absent ? "empty" : kind}`, open: this.open.has(name), ontoggle: (event) => this.remember(name, event) },
      el(
        "summary",
        {},
        el("span", { class: "mono slot-id" }, `triangle ${one.primitive}`),
        barycentric(one),
        el("span", { class: `verdict ${one.absent ? "empty" : kind}` }, one.absent ? "absent" : kind),
        el("span", { class: "why" }, why),
      ),
      this.table(one as unknown as Record<string, Item>, "triangles"),
    );
  }

  private stackRow(step: RayStep): HTMLElement {
    const before = this.stacks[this.index] ?? [];
    const pushes = (step["pushes"] ?? []) as string[];
    return el(
      "div",
      { class: "stack" },
      el("h4", {}, "Stack"),
      el(
        "p",
        { class: "chips mono" },
        ...before.map((name) => el("span", { class: "chip" }, name)),
        ...pushes.map((name) => el("span", { class: "chip hit", title: "pushed by this step" }, `+${name}`)),
        before.length + pushes.length === 0 && el("span", { class: "note" }, "empty"),
      ),
      el(
        "p",
        { class: "note" },
        step["next"] !== null && step["next"] !== undefined ? `next: ${String(step["next"])}` : this.index + 1 < (this.record?.steps.length ?? 0) ? "next: from the stack" : "the ray ends",
      ),
    );
  }

  private registers(step: RayStep): HTMLElement {
    const view = new DataView(new ArrayBuffer(4));
    return el(
      "div",
      { class: "registers" },
      el("h4", {}, "Result registers"),
      el(
        "table",
        { class: "values" },
        el(
          "tbody",
          {},
          ...step.v.map((bits, i) => {
            view.setUint32(0, Number(bits));
            return el(
              "tr",
              {},
              el("th", { scope: "row" }, `v${i}`),
              el("td", { class: "mono" }, `0x${Number(bits).toString(16).padStart(8, "0")}`),
              el("td", { class: "mono" }, step.kind !== "primitive" || Number.isNaN(view.getFloat32(0)) || Math.abs(view.getFloat32(0)) < 1e-30 ? "" : String(Number(view.getFloat32(0).toPrecision(9)))),
            );
          }),
        ),
      ),
    );
  }

  private values(title: string, name: string, record: Record<string, Item>): HTMLElement {
    return el("details", { class: "all", open: this.open.has(name), ontoggle: (event) => this.remember(name, event) }, el("summary", {}, title), this.table(record, "steps"));
  }

  private remember(name: string, event: Event): void {
    if (event.target instanceof HTMLDetailsElement && event.target === event.currentTarget) {
      if (event.target.open) {
        this.open.add(name);
      } else {
        this.open.delete(name);
      }
    }
  }

  /** A record of XPHMG_RT names its rules itself. */
  private table(record: Record<string, Item>, list: string): HTMLElement {
    const rules = this.record?.rules?.[list] ?? {};
    return el("table", { class: "values" }, el("tbody", {}, ...Object.entries(record).flatMap(([name, item]) => this.row(name, item, rules))));
  }

  private row(name: string, item: Item, rules: Readonly<Record<string, string>>): HTMLElement[] {
    if (Array.isArray(item) && item.some((one) => Array.isArray(one) || (typeof one === "object" && one !== null && !isValue(one)))) {
      return item.flatMap((one, i) => this.row(`${name} ${i}`, one as Item, rules));
    }
    if (typeof item === "object" && item !== null && !isValue(item) && !Array.isArray(item)) {
      return Object.entries(item).flatMap(([key, one]) => this.row(`${name}.${key}`, one, rules));
    }
    const items = Array.isArray(item) ? item : [item];
    const rule = rules[name];
    return [
      el(
        "tr",
        {},
        el("th", { scope: "row" }, name),
        ...items.map((one) => el("td", { class: "mono", colspan: items.length === 1 ? 3 : 1, title: isValue(one) ? (this.showBits ? exact(one) : one.bits) : undefined }, this.text(one as Item))),
        rule === undefined ? null : el("td", { class: "rule", title: `gfx12-semantics.md ${rule}` }, rule.replace(/:.*/, "")),
      ),
    ];
  }

  private text(item: Item): string {
    return isValue(item) ? (this.showBits ? item.bits : exact(item)) : item === null ? "–" : String(item);
  }
}

function resultLine(record: RayRecord): Node[] {
  const r = record.result;
  const value = (name: string) => r[name] as Value | undefined;
  const plain = (name: string) => (r[name] === undefined || r[name] === null ? "–" : String(r[name]));
  const counts = typeof r["counts"] === "string" ? r["counts"] : `${plain("nodes")} nodes: ${plain("boxes")} box, ${plain("instances")} instance, ${plain("primitives")} primitive`;
  if (r["found"] !== true) {
    return [el("p", { class: "verdict missed" }, "hits nothing"), el("p", { class: "note" }, counts)];
  }
  return [
    el(
      "p",
      {},
      el("span", { class: "verdict hit" }, "hit"),
      ` triangle ${plain("primitive")} of geometry ${plain("geometry")}, instance ${r["user_data"] === undefined ? plain("instance") : plain("user_data")}${r["backface"] === true ? ", from behind" : ""}`,
    ),
    el("p", { class: "mono" }, ...["t", "u", "v"].map((name) => el("span", { class: "tuv", title: value(name)?.bits }, `${name} ${exact(value(name))} `))),
    el("p", { class: "note" }, counts),
  ];
}

function omit(step: RayStep, names: readonly string[]): Record<string, Item> {
  return Object.fromEntries(Object.entries(step).filter(([name]) => !names.includes(name))) as Record<string, Item>;
}

function ordinal(place: number): string {
  return ["1st", "2nd", "3rd"][place] ?? `${place + 1}th`;
}

/** The part of the ray that the bars show: from where the first box begins to where the last ends, inside the ray's extent
 * where that is finite. */
class Scale {
  private readonly from: number;
  private readonly to: number;
  private readonly end: number;

  constructor(step: RayStep, tests: readonly ChildTest[]) {
    const finite = tests.flatMap((one) => [number(one.A), number(one.B), number(one.min_t), number(one.max_t_grown)]).filter(Number.isFinite);
    this.end = number((step["t_before"] ?? step.ray.extent) as Value);
    this.from = Math.min(...finite, Infinity);
    this.to = Math.max(...finite, -Infinity);
    if (!(this.from < this.to)) {
      this.from = Number.isFinite(this.from) ? this.from - 1 : 0;
      this.to = this.from + 2;
    }
  }

  get first(): string {
    return String(Number(this.from.toPrecision(5)));
  }

  get last(): string {
    return String(Number(this.to.toPrecision(5)));
  }

  private place(t: number): number {
    return Math.min(Math.max(((t - this.from) / (this.to - this.from)) * 100, 0), 100);
  }

  bar(child: ChildTest, kind: string): SVGElement {
    const a = number(child.A);
    const b = number(child.B);
    const bar = svg("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": `${child.id}: ${reason(child)}` });
    bar.append(svg("rect", { class: "track", x: 0, y: 4, width: 100, height: 2 }));
    if (a <= b) {
      bar.append(svg("rect", { class: kind, x: Math.min(this.place(a), 99.2), y: 1, width: Math.max(this.place(b) - this.place(a), 0.8), height: 8 }));
    } else if (a > b) {
      /* Left before it was entered: the two planes, and nothing between them. */
      bar.append(svg("rect", { class: `${kind} gap`, x: this.place(b), y: 3, width: Math.max(this.place(a) - this.place(b), 0.8), height: 4 }));
      for (const t of [a, b]) {
        bar.append(svg("rect", { class: kind, x: Math.min(this.place(t), 99.2), y: 0, width: 0.8, height: 10 }));
      }
    }
    if (this.end >= this.from && this.end <= this.to) {
      bar.append(svg("rect", { class: "current", x: Math.min(this.place(this.end), 99), y: 0, width: 1, height: 10 }));
    }
    return bar;
  }
}

/** Where the ray meets the plane of a triangle, in its barycentric coordinates. */
function barycentric(one: TriangleTest): SVGElement {
  const u = number(one.u);
  const v = number(one.v);
  const drawing = svg("svg", { class: "bary", viewBox: "-0.6 -0.6 2.2 2.2", role: "img", "aria-label": `u ${short(one.u)}, v ${short(one.v)}` });
  drawing.append(svg("path", { class: "shape", d: "M0 1L1 1L0 0Z" }));
  if (Number.isFinite(u) && Number.isFinite(v)) {
    const clamp = (x: number) => Math.min(Math.max(x, -0.5), 1.5);
    drawing.append(svg("circle", { class: one.hit === true ? "hit" : "missed", cx: clamp(u), cy: clamp(1 - v), r: 0.13 }));
  }
  return drawing;
}
