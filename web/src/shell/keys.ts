/* The page of `?`: every key that works now. */

import { button, el } from "./dom.ts";
import type { Key } from "./view.ts";

const SIGNS: Record<string, string> = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", " ": "Space" };

function keyName(key: string): string {
  return key
    .split(/(?<=.)\+/)
    .map((part) => SIGNS[part] ?? part)
    .join(" + ");
}

export function showKeys(groups: readonly { title: string; keys: readonly Key[] }[]): void {
  const dialog = el("dialog", { class: "keys", "aria-labelledby": "keys-title" });
  dialog.append(el("h2", { id: "keys-title" }, "Keys"));
  for (const group of groups.filter((one) => one.keys.length > 0)) {
    const list = el("dl", {});
    for (const key of group.keys) {
      list.append(el("div", {}, el("dt", {}, el("kbd", {}, keyName(key.key))), el("dd", {}, key.text)));
    }
    dialog.append(el("h3", {}, group.title), list);
  }
  dialog.append(button("Close", () => dialog.close()));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
