/* The nodes of an image as a tree or, filtered or ordered by a figure, as a list. Only the rows that are seen exist: an image of a
 * million triangles has hundreds of thousands of nodes. */

import { el, put } from "../shell/dom.ts";
import { NodeKind } from "../engine/types.ts";
import type { Tree } from "../engine/types.ts";

const ROW = 22;
const KIND = { [NodeKind.None]: "?", [NodeKind.Box]: "box", [NodeKind.Primitive]: "primitive", [NodeKind.Instance]: "instance" } as const;
/** Open at first: the nodes down to this depth. */
const OPEN_DEPTH = 1;

/** What a node is measured by: columns, orders, and words of the filter such as `overlap>0.5`. */
const FIGURES = ["depth", "level", "empty", "triangles", "area", "overlap", "sah"] as const;
type Figure = (typeof FIGURES)[number];
type Order = "tree" | Figure;
type Test = (node: number) => boolean;
const COMPARE: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "=": (a, b) => a === b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
};

const FILTER_HELP = `Kinds (box, primitive, instance), IDs and offsets (0x85), or ${FIGURES.join(", ")} with <, >, = and a number; all words must fit`;
const COLUMNS: readonly (readonly [string, string])[] = [
  ["node", "Kind, ID, and what the ray does with it"],
  ["depth", "Distance from the root"],
  ["slots", "Children of a box node, of the slots that it has"],
  ["triangles", "In or below the node; an instance counts its bottom level"],
  ["area", "Surface of the box, relative to the root of its level"],
  ["overlap", "Surface that two children share, summed over all pairs, relative to its own"],
  ["SAH", "Its part, with all below it, of the SAH cost of its level: tests that a random line through the level's root takes"],
];

export interface TreeEvents {
  chosen(node: number): void;
}

export class TreePane {
  private readonly order = el(
    "select",
    { "aria-label": "Order", onchange: () => this.arrange() },
    ...(
      [
        ["tree", "as a tree"],
        ["sah", "most SAH cost first"],
        ["area", "largest boxes first"],
        ["overlap", "most overlap first"],
        ["empty", "most empty slots first"],
        ["triangles", "most triangles first"],
        ["depth", "deepest first"],
      ] as const
    ).map(([value, text]) => el("option", { value }, text)),
  );
  private readonly filter = el("input", { type: "search", placeholder: "box, 0x85, overlap>0.5…", title: FILTER_HELP, "aria-label": "Filter nodes", oninput: () => this.arrange() });
  private readonly visited = el("input", { type: "checkbox", onchange: () => this.arrange() });
  private readonly count = el("span", { class: "note", "aria-live": "polite" });
  private readonly space = el("div", { class: "tree-space" });
  private readonly scroll = el("div", { class: "tree-scroll", role: "tree", tabindex: 0, "aria-label": "Nodes" }, this.space);
  readonly element = el(
    "div",
    { class: "tree" },
    el("div", { class: "row" }, this.filter, this.order, el("label", {}, this.visited, " only what the ray visits"), this.count),
    el(
      "div",
      { class: "tree-row tree-head", "aria-hidden": "true" },
      ...COLUMNS.map(([text, title]) => el("span", { title }, text)),
    ),
    this.scroll,
  );
  private tree: Tree | undefined;
  /** Nodes of XPHMG_RT have numbers, those of GFX12 IDs. */
  private decimal = false;
  /** One child and another sibling of each node, -1 for none; rows put them into the order of the slots. */
  private first = new Int32Array(0);
  private next = new Int32Array(0);
  private opened = new Set<number>();
  private rows: number[] = [];
  private chosen = -1;
  private marks = new Map<number, string>();

  constructor(private readonly events: TreeEvents) {
    this.scroll.addEventListener("scroll", () => this.paint());
    this.scroll.addEventListener("keydown", (event) => this.key(event));
    this.scroll.addEventListener("click", (event) => {
      const row = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-node]") : null;
      if (row !== null) {
        const node = Number(row.dataset["node"]);
        if (event.target instanceof Element && event.target.classList.contains("twist")) {
          this.toggle(node);
        } else {
          this.choose(node);
        }
      }
    });
    new ResizeObserver(() => this.paint()).observe(this.scroll);
  }

  show(tree: Tree | undefined, format: "gfx12" | "xphmg"): void {
    this.tree = tree;
    this.decimal = format === "xphmg";
    this.filter.value = "";
    this.order.value = "tree";
    this.chosen = -1;
    this.marks.clear();
    this.opened.clear();
    const count = tree?.count ?? 0;
    this.first = new Int32Array(count).fill(-1);
    this.next = new Int32Array(count).fill(-1);
    for (let i = 1; i < count; i++) {
      const parent = tree?.parent[i] ?? -1;
      if (parent >= 0) {
        this.next[i] = this.first[parent] ?? -1;
        this.first[parent] = i;
      }
    }
    for (let i = 0; i < count && (tree?.depth[i] ?? 0) <= OPEN_DEPTH; i++) {
      this.opened.add(i);
    }
    this.arrange();
  }

  /** What the ray does with nodes: classes for their rows. */
  mark(marks: Map<number, string>): void {
    this.marks = marks;
    if (this.visited.checked) {
      this.arrange();
    } else {
      this.paint();
    }
  }

  /** Chooses a node and brings its row into sight. */
  reveal(node: number): void {
    const tree = this.tree;
    if (tree === undefined || node < 0) {
      return;
    }
    for (let up = tree.parent[node] ?? -1; up >= 0; up = tree.parent[up] ?? -1) {
      this.opened.add(up);
    }
    this.chosen = node;
    this.arrange();
    const at = this.rows.indexOf(node);
    if (at >= 0 && (at * ROW < this.scroll.scrollTop || (at + 1) * ROW > this.scroll.scrollTop + this.scroll.clientHeight)) {
      this.scroll.scrollTop = at * ROW - this.scroll.clientHeight / 2;
    }
    this.paint();
  }

  private choose(node: number): void {
    this.chosen = node;
    this.paint();
    this.events.chosen(node);
  }

  private toggle(node: number): void {
    if (!this.opened.delete(node)) {
      this.opened.add(node);
    }
    this.arrange();
  }

  /* ---- which rows ---- */

  private get isTree(): boolean {
    return this.order.value === "tree" && this.filter.value.trim() === "" && !this.visited.checked;
  }

  private figure(of: Figure, node: number): number {
    const tree = this.tree;
    if (tree === undefined) {
      return NaN;
    }
    switch (of) {
      case "empty":
        return tree.kind[node] === NodeKind.Box ? tree.slots - (tree.children[node] ?? 0) : 0;
      case "sah":
        return tree.cost[node] ?? NaN;
      default:
        return tree[of][node] ?? NaN;
    }
  }

  private name(node: number): string {
    const id = this.tree?.id[node] ?? 0;
    return this.decimal ? String(id) : hex(id);
  }

  private arrange(): void {
    const tree = this.tree;
    if (tree === undefined) {
      this.rows = [];
    } else if (this.isTree) {
      this.rows = [];
      const waiting = tree.count > 0 ? [0] : [];
      for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
        this.rows.push(node);
        if (this.opened.has(node)) {
          const below: number[] = [];
          for (let child = this.first[node] ?? -1; child >= 0; child = this.next[child] ?? -1) {
            below.push(child);
          }
          waiting.push(...below.sort((a, b) => (tree.slot[b] ?? 0) - (tree.slot[a] ?? 0)));
        }
      }
    } else {
      this.rows = this.found(tree);
    }
    this.count.textContent = tree === undefined ? "" : this.isTree ? `${tree.count} nodes` : `${this.rows.length} of ${tree.count} nodes`;
    this.space.style.height = `${this.rows.length * ROW}px`;
    this.paint();
  }

  private found(tree: Tree): number[] {
    const words = this.filter.value.trim().toLowerCase().split(/\s+/).filter((word) => word !== "");
    const tests = this.tests(tree, words);
    const rows: number[] = [];
    for (let i = 0; i < tree.count; i++) {
      if ((!this.visited.checked || this.marks.has(i)) && tests.every((test) => test(i))) {
        rows.push(i);
      }
    }
    const order = this.order.value as Order;
    if (order === "tree") {
      return rows;
    }
    const value = (i: number) => {
      const figure = this.figure(order, i);
      return Number.isFinite(figure) ? figure : -1;
    };
    return rows.sort((a, b) => value(b) - value(a));
  }

  /** `overlap>0.5`, `level 2`, or a kind, an ID, an offset. */
  private tests(tree: Tree, words: readonly string[]): Test[] {
    const tests: Test[] = [];
    for (let at = 0; at < words.length; at++) {
      const word = words[at] ?? "";
      const [, name = "", sign = "=", number = ""] = /^([a-z]+)(?:(<=|>=|[<>=])(.+))?$/.exec(word) ?? [];
      const of = FIGURES.find((figure) => figure === name);
      if (of !== undefined) {
        const value = Number(number !== "" ? number : words[++at]);
        tests.push((i) => COMPARE[sign]?.(this.figure(of, i), value) === true);
      } else {
        tests.push((i) => KIND[tree.kind[i] as NodeKind].startsWith(word) || this.name(i) === word || hex(tree.offset[i]) === word);
      }
    }
    return tests;
  }

  /* ---- what is seen ---- */

  private paint(): void {
    const tree = this.tree;
    if (tree === undefined) {
      put(this.space);
      return;
    }
    const first = Math.max(0, Math.floor(this.scroll.scrollTop / ROW) - 4);
    const last = Math.min(this.rows.length, Math.ceil((this.scroll.scrollTop + this.scroll.clientHeight) / ROW) + 4);
    const made: HTMLElement[] = [];
    for (let at = first; at < last; at++) {
      const row = this.row(tree, this.rows[at] ?? 0);
      row.style.top = `${at * ROW}px`;
      made.push(row);
    }
    put(this.space, ...made);
    if (this.rows.includes(this.chosen)) {
      this.scroll.setAttribute("aria-activedescendant", `node-${this.chosen}`);
    } else {
      this.scroll.removeAttribute("aria-activedescendant");
    }
  }

  private row(tree: Tree, node: number): HTMLElement {
    const kind = tree.kind[node] as NodeKind;
    const parent = (this.first[node] ?? -1) >= 0;
    const mark = this.marks.get(node);
    const name = el(
      "span",
      { class: "tree-name" },
      el("span", { class: "twist", "aria-hidden": "true" }, !parent || !this.isTree ? "" : this.opened.has(node) ? "▾" : "▸"),
      el("span", { class: `mark ${KIND[kind]}`, "aria-hidden": "true" }, KIND[kind].charAt(0).toUpperCase()),
      el("span", { class: "mono" }, this.name(node)),
      ` ${KIND[kind]}`,
      mark !== undefined && el("span", { class: `verdict ${mark}` }, mark),
    );
    name.style.paddingInlineStart = this.isTree ? `${(tree.depth[node] ?? 0) * 12}px` : "0";
    const area = tree.area[node] ?? NaN;
    const overlap = tree.overlap[node] ?? NaN;
    return el(
      "div",
      {
        class: `tree-row${node === this.chosen ? " chosen" : ""}`,
        role: "treeitem",
        id: `node-${node}`,
        "data-node": node,
        "aria-level": (tree.depth[node] ?? 0) + 1,
        "aria-selected": node === this.chosen ? "true" : "false",
        "aria-expanded": parent && this.isTree ? String(this.opened.has(node)) : undefined,
      },
      name,
      el("span", { class: "mono" }, tree.depth[node] ?? 0),
      el("span", { class: this.figure("empty", node) > tree.slots / 2 ? "mono culled" : "mono" }, kind === NodeKind.Box ? `${tree.children[node]}/${tree.slots}` : ""),
      el("span", { class: "mono" }, tree.triangles[node] ?? 0),
      el("span", { class: "mono" }, Number.isFinite(area) ? area.toFixed(4) : "–"),
      el("span", { class: overlap > 0.5 ? "mono culled" : "mono" }, kind === NodeKind.Box && Number.isFinite(overlap) ? overlap.toFixed(3) : ""),
      el("span", { class: "mono" }, (tree.cost[node] ?? NaN).toPrecision(4)),
    );
  }

  private key(event: KeyboardEvent): void {
    const at = this.rows.indexOf(this.chosen);
    const page = Math.max(1, Math.floor(this.scroll.clientHeight / ROW) - 1);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.rows.length - 1, PageDown: at + page, PageUp: at - page }[event.key];
    if (to !== undefined && this.rows.length > 0) {
      const node = this.rows[Math.min(Math.max(to, 0), this.rows.length - 1)] ?? 0;
      event.preventDefault();
      this.choose(node);
      this.reveal(node);
    } else if (event.key === "ArrowRight" && this.chosen >= 0 && !this.opened.has(this.chosen)) {
      event.preventDefault();
      this.toggle(this.chosen);
    } else if (event.key === "ArrowLeft" && this.chosen >= 0) {
      event.preventDefault();
      if (this.opened.has(this.chosen) && (this.first[this.chosen] ?? -1) >= 0) {
        this.toggle(this.chosen);
      } else {
        const parent = this.tree?.parent[this.chosen] ?? -1;
        if (parent >= 0) {
          this.choose(parent);
          this.reveal(parent);
        }
      }
    }
  }
}

function hex(value: number | undefined): string {
  return `0x${(value ?? 0).toString(16)}`;
}
