/* One node as `facet bvh dump --json` writes it: what is stored, and what that stands for. */

import { el, put } from "../shell/dom.ts";
import type { NodeRecord } from "../engine/types.ts";

type Item = unknown;

function isList(item: Item): item is Item[] {
  return Array.isArray(item) && item.some((one) => typeof one === "object" && one !== null && !Array.isArray(one));
}

function isObject(item: Item): item is Record<string, Item> {
  return typeof item === "object" && item !== null && !Array.isArray(item);
}

function text(item: Item): string {
  return Array.isArray(item) ? item.map((one) => (Array.isArray(one) ? `(${text(one)})` : text(one))).join(" ") : item === null ? "–" : typeof item === "number" && !Number.isInteger(item) ? String(Number(item.toPrecision(9))) : String(item);
}

/** Objects as rows, lists of objects as a table with a column for each member. */
function show(record: Record<string, Item>): HTMLElement[] {
  const plain = Object.entries(record).filter(([, item]) => !isList(item) && !isObject(item));
  const parts: HTMLElement[] = [];
  if (plain.length > 0) {
    parts.push(el("table", { class: "values" }, el("tbody", {}, ...plain.map(([name, item]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "mono" }, text(item)))))));
  }
  for (const [name, item] of Object.entries(record)) {
    if (isList(item)) {
      parts.push(el("h4", {}, name), columns(item.filter(isObject)));
    } else if (isObject(item)) {
      parts.push(el("h4", {}, name), ...show(item));
    }
  }
  return parts;
}

function columns(list: readonly Record<string, Item>[]): HTMLElement {
  const names = [...new Set(list.flatMap((one) => Object.keys(one)))];
  return el(
    "table",
    { class: "values grid" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, ""), ...names.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...list.map((one, i) => el("tr", {}, el("th", { scope: "row" }, i), ...names.map((name) => el("td", { class: "mono" }, name in one ? text(one[name]) : ""))))),
  );
}

export function showNode(host: Element, record: NodeRecord | undefined): void {
  put(host, ...(record === undefined ? [el("p", { class: "empty" }, "Choose a node of the tree.")] : show(record)));
}
