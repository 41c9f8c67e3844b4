/* The dialogue about where an image lies in memory: whose headers it has, its address, more pieces of it. */

import { button, el, put } from "../shell/dom.ts";
import { addressIn, DRIVERS, hex, isAddress, join } from "./place.ts";
import type { Input, Piece } from "./place.ts";

const DRIVER_TEXT: Record<(typeof DRIVERS)[number], string> = {
  auto: "whose headers it has (radv, gpurt, hiprt)",
  "": "nobody's: the nodes alone",
  radv: "radv (Mesa)",
  gpurt: "gpurt (AMDVLK, Windows)",
  hiprt: "hiprt",
};

interface Row {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly address: HTMLInputElement;
}

function addressField(label: string, value: bigint | undefined, placeholder: string): HTMLInputElement {
  return el("input", { type: "text", class: "mono", spellcheck: "false", "aria-label": label, placeholder, value: value === undefined ? "" : hex(value) });
}

/** Throws when the text is no address; undefined when it is empty. */
function addressOf(field: HTMLInputElement): bigint | undefined {
  const text = field.value.trim();
  if (text === "") {
    return undefined;
  }
  if (!isAddress(text)) {
    throw new Error(`${field.getAttribute("aria-label") ?? ""}: ${text}; expected a number such as 0x7f1200000000`);
  }
  return BigInt(text);
}

/** Shows the dialogue; `open` opens what was said and throws with the reason when that fails. */
export function showMemory(now: Input, open: (input: Input) => Promise<void>): void {
  const pieces: readonly Piece[] = now.pieces ?? [{ name: now.name, bytes: now.bytes, address: now.place.base }];
  const rows: Row[] = pieces.map(({ name, bytes, address }) => ({ name, bytes, address: addressField(`Address of ${name}`, address, "as its header says, or 0") }));
  const driver = el("select", { "aria-label": "Headers" }, ...DRIVERS.map((value) => el("option", { value }, DRIVER_TEXT[value])));
  const base = addressField("Rays start at", now.pieces !== undefined && now.pieces.length > 1 && now.place.base !== pieces[0]?.address ? now.place.base : undefined, "in the first piece");
  const root = el("input", { type: "text", class: "mono narrow", "aria-label": "Root node", placeholder: "5", value: now.place.root === undefined ? "" : `0x${now.place.root.toString(16)}` });
  const files = el("input", { type: "file", multiple: true, class: "hidden", "aria-label": "Pieces to add" });
  const list = el("tbody", {});
  const wrong = el("p", { class: "message error", role: "alert", hidden: true });
  const dialog = el("dialog", { class: "memory", "aria-labelledby": "memory-title" });

  const show = () => {
    put(
      list,
      ...rows.map((row, i) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, row.name),
          el("td", { class: "mono" }, `${row.bytes.length} bytes`),
          el("td", {}, row.address),
          el("td", {}, rows.length > 1 && button("Remove", () => (rows.splice(i, 1), show()), { "aria-label": `Remove ${row.name}` })),
        ),
      ),
    );
  };
  const apply = async () => {
    wrong.hidden = true;
    const node = addressOf(root);
    const start = addressOf(base);
    await open(
      join(
        rows.map(({ name, bytes, address }) => ({ name, bytes, address: addressOf(address) })),
        { driver: driver.value, ...(start === undefined ? {} : { base: start }), ...(node === undefined ? {} : { root: Number(node & 0xffffffffn) }) },
      ),
    );
    dialog.close();
  };
  const tryIt = (event: Event) => {
    event.preventDefault();
    apply().catch((error: unknown) => {
      wrong.textContent = error instanceof Error ? error.message : String(error);
      wrong.hidden = false;
    });
  };

  driver.value = now.place.driver ?? "";
  files.addEventListener("change", () => {
    void Promise.all([...(files.files ?? [])].map(async (file) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()), address: addressField(`Address of ${file.name}`, addressIn(file.name), "0x…") }))).then((added) => {
      rows.push(...added);
      files.value = "";
      show();
    });
  });
  show();
  dialog.append(
    el("h2", { id: "memory-title" }, "Where the image lies in memory"),
    el("p", { class: "note" }, "Buffers of a driver as they were dumped: the TLAS and its BLASes, each with its address, as for ", el("code", {}, "facet bvh --segment FILE@ADDR --driver NAME"), "."),
    el(
      "form",
      { onsubmit: tryIt },
      el("table", { class: "values" }, el("thead", {}, el("tr", {}, ...["piece", "size", "address", ""].map((text) => el("th", { scope: "col" }, text)))), list),
      el("p", { class: "row" }, button("Add pieces…", () => files.click()), files),
      el("p", { class: "row" }, el("label", {}, "Headers ", driver), el("label", {}, "Rays start at ", base), el("label", {}, "Root node ", root)),
      wrong,
      el("p", { class: "row" }, el("button", { type: "submit", class: "primary" }, "Read"), button("Cancel", () => dialog.close())),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
