/* Control and status registers: by name, then field by field with what the contract says about it. */

import { el, put } from "../shell/dom.ts";
import { hex, NOTHING, type Desk, type Look, type Panel } from "./panel.ts";
import { readBig } from "../exercise/format.ts";

const ACCESS: Record<string, string> = {
  RO: "read-only",
  RW: "read and write",
  W1C: "writing 1 clears",
  WARL: "an illegal value becomes a legal one",
  W1A: "writing 1 applies what was staged",
  WC: "writing anything clears",
};

export class Csrs implements Panel {
  readonly id = "csrs";
  readonly title = "CSRs";
  readonly element = el("div", { class: "panel-body" });
  private readonly filter = el("input", { type: "search", placeholder: "name, such as PREC", "aria-label": "Names to show", oninput: () => this.draw() });
  private readonly all = el("input", { type: "checkbox", onchange: () => this.draw() });
  private readonly body = el("div", { class: "csrs" });
  private readonly opened = new Set<string>();
  private look: Look | undefined;

  constructor(private readonly desk: Desk) {
    this.element.append(
      el("div", { class: "panel-tools" }, this.filter, el("label", {}, this.all, " those that are 0, too")),
      this.body,
    );
  }

  show(look: Look | undefined): void {
    this.look = look;
    this.draw();
  }

  private draw(): void {
    const look = this.look;
    const now = look?.state.cores[look.core];
    if (look === undefined || now === undefined) {
      put(this.body, el("p", { class: "quiet" }, NOTHING));
      return;
    }
    const before = look.before?.cores[look.core];
    const wanted = this.filter.value.trim().toLowerCase();
    const rows: HTMLElement[] = [];
    for (const [i, csr] of look.session.desc.csrs.entries()) {
      const value = BigInt(now.csrs[i] ?? "0");
      const old = before === undefined ? value : BigInt(before.csrs[i] ?? "0");
      const named = csr.name.toLowerCase().includes(wanted) || csr.fields.some((field) => field.name.toLowerCase() === wanted);
      if (!named || (value === 0n && old === 0n && !this.all.checked && wanted === "" && !this.opened.has(csr.name))) {
        continue;
      }
      const row = el(
        "details",
        { class: value !== old ? "csr changed" : "csr", open: this.opened.has(csr.name) },
        el(
          "summary",
          {},
          el("span", { class: "csr-name" }, csr.name),
          el("span", { class: "quiet mono" }, hex(BigInt(csr.number), 3)),
          el("span", { class: "csr-value mono" }, hex(value, Math.ceil(csr.width / 4))),
        ),
      );
      const fill = (): void => {
        if (row.childElementCount === 1) {
          row.append(this.fields(look, i, value, old));
        }
      };
      if (this.opened.has(csr.name)) {
        fill();
      }
      row.addEventListener("toggle", () => {
        if (row.open) {
          this.opened.add(csr.name);
          fill();
        } else {
          this.opened.delete(csr.name);
        }
      });
      rows.push(row);
    }
    put(this.body, ...rows, rows.length === 0 && el("p", { class: "quiet" }, "No register of that name."));
  }

  private fields(look: Look, index: number, value: bigint, old: bigint): HTMLElement {
    const csr = look.session.desc.csrs[index];
    const fields = csr === undefined || csr.fields.length === 0 ? [] : [...csr.fields].sort((a, b) => b.hi - a.hi);
    const part = (whole: bigint, hi: number, lo: number): bigint => BigInt.asUintN(hi - lo + 1, whole >> BigInt(lo));
    return el(
      "table",
      { class: "csr-fields" },
      el("thead", {}, el("tr", {}, ...["bits", "field", "value", "meaning"].map((name) => el("th", { scope: "col" }, name)))),
      el(
        "tbody",
        {},
        ...fields.map((field) => {
          const now = part(value, field.hi, field.lo);
          const writes = field.access !== "RO";
          const name = `${csr?.name ?? ""}.${field.name}`;
          return el(
            "tr",
            { class: now !== part(old, field.hi, field.lo) ? "changed" : "" },
            el("td", { class: "mono quiet" }, field.hi === field.lo ? field.lo : `${field.hi}:${field.lo}`),
            el("td", { title: ACCESS[field.access] ?? "" }, field.name, el("small", { class: "quiet" }, ` ${field.access}`)),
            el(
              "td",
              { class: "mono" },
              writes
                ? el("input", {
                    class: "csr-input mono",
                    value: now > 9n ? hex(now) : String(now),
                    "aria-label": name,
                    onkeydown: (event) => {
                      event.stopPropagation();
                      if ((event as KeyboardEvent).key === "Enter") {
                        this.write(look, name, (event.currentTarget as HTMLInputElement).value).catch((error: unknown) => this.desk.fail(error));
                      }
                    },
                  })
                : hex(now),
            ),
            el("td", {}, field.meaning ?? ""),
          );
        }),
      ),
    );
  }

  private async write(look: Look, name: string, text: string): Promise<void> {
    await look.session.set(look.core, name, BigInt.asUintN(64, readBig(text, name)));
    this.desk.refresh();
  }
}
