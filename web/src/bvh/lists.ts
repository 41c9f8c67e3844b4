/* Findings of the validator and figures of an image, one or two side by side. */

import { button, el, put } from "../shell/dom.ts";
import type { BvhFigures, Finding, Structures } from "../engine/types.ts";

/** More are counted. */
const MOST_FINDINGS = 500;

export function showFindings(host: Element, result: { errors: number; count: number; findings: Finding[] }, chosen: (finding: Finding) => void): void {
  if (result.findings.length === 0) {
    put(host, el("p", { class: "empty" }, "The validator found nothing."));
    return;
  }
  put(
    host,
    el("p", { class: "note" }, `${result.count} findings, ${result.errors} of them errors`),
    el(
      "ul",
      { class: "findings" },
      ...result.findings.slice(0, MOST_FINDINGS).map((finding) =>
        el(
          "li",
          {},
          button("", () => chosen(finding), { class: "finding" }),
        ),
      ),
    ),
    result.findings.length > MOST_FINDINGS && el("p", { class: "note" }, `${result.findings.length - MOST_FINDINGS} more`),
  );
  host.querySelectorAll(".finding").forEach((line, i) => {
    const finding = result.findings[i];
    if (finding !== undefined) {
      line.append(
        el("span", { class: `verdict ${finding.severity === "error" ? "culled" : finding.severity === "warning" ? "current" : "empty"}` }, finding.severity),
        el("span", { class: "mono" }, ` ${finding.rule} `),
        el("span", {}, finding.text),
        el("span", { class: "note" }, ` ${finding.requirement} at 0x${finding.offset.toString(16)}`),
      );
    }
  });
}

function text(value: BvhFigures[string] | undefined): string {
  return value === undefined ? "–" : Array.isArray(value) ? value.join(" ") : typeof value !== "number" || Number.isInteger(value) ? String(value) : value.toPrecision(6);
}

export function showFigures(host: Element, names: readonly [string, string?], a: BvhFigures, b?: BvhFigures): void {
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b ?? {})])];
  const rows = keys.map((key) => {
    const left = a[key];
    const right = b?.[key];
    const ratio = typeof left === "number" && typeof right === "number" && left !== 0 && left !== right ? `× ${(right / left).toFixed(3)}` : "";
    return el(
      "tr",
      { class: b !== undefined && text(left) !== text(right) ? "differs" : "" },
      el("th", { scope: "row" }, key.replaceAll("_", " ")),
      el("td", { class: "mono" }, text(left)),
      b !== undefined && el("td", { class: "mono" }, text(right)),
      b !== undefined && el("td", { class: "mono" }, ratio),
    );
  });
  put(
    host,
    el(
      "table",
      { class: "values figures" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "figure"), el("th", { scope: "col" }, names[0]), b !== undefined && el("th", { scope: "col" }, names[1] ?? ""), b !== undefined && el("th", { scope: "col" }, "second : first"))),
      el("tbody", {}, ...rows),
    ),
  );
}

/** The structures of a driver or a capture, and the header of the one that rays start in. */
export function structuresTable(all: Structures): HTMLElement {
  const chosen = all.structures[all.structure];
  const heads = ["", "kind", "address", "bytes", "count", "contents"];
  return el(
    "div",
    { class: "structures" },
    el("p", { class: "note" }, `${all.driver}: ${all.reason}${all.translated ? "; translated to what the hardware reads" : ""}`),
    el(
      "table",
      { class: "values" },
      el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
      el(
        "tbody",
        {},
        ...all.structures.map((one) =>
          el(
            "tr",
            { class: one === chosen ? "chosen" : "" },
            el("th", { scope: "row" }, one.index),
            ...[one.kind, one.address, one.bytes, one[one.contents] ?? "?", `${one.contents}${one.root === null ? ", none active: no nodes" : ""}`].map((value) => el("td", { class: "mono" }, value)),
          ),
        ),
      ),
    ),
    chosen !== undefined &&
      el(
        "table",
        { class: "values" },
        el("caption", {}, `Header of structure ${chosen.index}`),
        el("tbody", {}, ...Object.entries(chosen.header).map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "mono" }, value ?? "–")))),
      ),
  );
}
