/* The history of one pixel of a command list: every draw, store and command that had it, with what came of it and why. The record is
 * that of `facet tile why X,Y LIST --json`. */

import type { PixelEntry } from "../engine/machines.ts";
import { el, put } from "../shell/dom.ts";
import type { Desk, Look, Panel } from "./panel.ts";

/** Why a triangle left nothing, in words. */
const FATES: Record<string, string> = {
  written: "written",
  depth: "refused by the depth test",
  memory: "its depth lies outside VRAM",
  outside: "covered, but cut",
  culled: "covered, but culled",
  clipped: "covered, but clipped away",
  rule: "on an edge that is neither top nor left",
  edge: "not covered",
  empty: "covers no pixel centre",
  range: "out of range",
  behind: "behind the eye",
  index: "a vertex outside VRAM",
};

/** Bits of a pixel as a colour; RGB565 has four digits. */
function colour(bits: string): string {
  const value = Number(BigInt(bits));
  return `#${(value & 0xffffff).toString(16).padStart(6, "0")}`;
}

export class PixelHistory implements Panel {
  readonly id = "history";
  readonly title = "Pixel";
  readonly element = el("div", { class: "panel-body pixel-history" });
  private at: { x: number; y: number } | undefined;
  private look: Look | undefined;

  constructor(private readonly desk: Desk) {}

  /** Another pixel; the panel is shown next. */
  ask(x: number, y: number): void {
    this.at = { x, y };
    this.show(this.look).catch((error: unknown) => this.desk.fail(error));
  }

  async show(look: Look | undefined): Promise<void> {
    this.look = look;
    if (look === undefined || this.at === undefined) {
      put(this.element, el("p", { class: "quiet" }, "Click a pixel of the picture: what did each command do to it?"));
      return;
    }
    const { x, y } = this.at;
    const record = await look.session.pixel(x, y);
    put(
      this.element,
      el("h3", {}, `Pixel ${x},${y}`),
      el("p", { class: "mono" }, `${record.value} ${record.format} at ${record.address}`),
      el(
        "ol",
        { class: "pixel-entries" },
        ...record.history.map((entry, i) => this.entry(entry, i === record.made_by, record.format === "ARGB8888", record.history[entry.over ?? -1]?.command)),
      ),
      record.history.length === 0 && el("p", { class: "quiet" }, "Nothing ever had it."),
      record.elsewhere > 0 && el("p", { class: "quiet" }, `${record.elsewhere} draws on other surfaces.`),
    );
  }

  private entry(entry: PixelEntry, last: boolean, argb: boolean, over: string | undefined): HTMLElement {
    const reasons = (entry.facts ?? []).map((fact) => {
      const miss = fact.miss === undefined ? "" : `, ${Number(fact.miss.value).toFixed(1)} pixels outside`;
      return `${fact.triangle === undefined ? "" : `triangle ${fact.triangle} `}${FATES[fact.fate] ?? fact.fate}${miss}`;
    });
    const item = el(
      "li",
      { class: `${entry.writes ? "wrote" : "passed"}${last ? " last" : ""}` },
      el("strong", {}, entry.command),
      entry.writes && el("span", { class: "mono" }, ` ${entry.before} → ${entry.after} `, argb && swatch(colour(entry.after))),
      el("div", {}, reasons.join("; "), entry.place !== undefined && el("code", {}, entry.place)),
      over !== undefined && el("div", { class: "quiet" }, `${entry.overwritten === true ? "overwritten" : "changed"} by ${over}`),
      last && el("div", { class: "made" }, "made the pixel"),
    );
    const values = el("details", {}, el("summary", {}, "every value"));
    values.addEventListener("toggle", () => {
      if (values.open && values.childElementCount === 1) {
        values.append(el("pre", { class: "mono" }, JSON.stringify(entry, null, 1)));
      }
    });
    item.append(values);
    return item;
  }
}

function swatch(fill: string): HTMLElement {
  const made = el("span", { class: "swatch", role: "img", "aria-label": `colour ${fill}` });
  made.style.setProperty("background-color", fill);
  return made;
}
