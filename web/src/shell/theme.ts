/* Light, dark, or as the system has it. */

import { button } from "./dom.ts";

const THEMES = ["system", "light", "dark"] as const;
const NAME = "facet-theme";

export class Theme {
  readonly button = button("", () => this.next(), { title: "Light, dark, or as the system has it (d)" });
  private theme: (typeof THEMES)[number];

  constructor() {
    this.theme = THEMES.find((one) => one === read()) ?? "system";
    this.apply();
  }

  next(): void {
    this.theme = THEMES[(THEMES.indexOf(this.theme) + 1) % THEMES.length] ?? "system";
    try {
      localStorage.setItem(NAME, this.theme);
    } catch {
      /* A page from disk may have no storage: the choice lasts as long as the page. */
    }
    this.apply();
  }

  private apply(): void {
    const root = document.documentElement;
    if (this.theme === "system") {
      delete root.dataset["theme"];
    } else {
      root.dataset["theme"] = this.theme;
    }
    this.button.textContent = { system: "Auto", light: "Light", dark: "Dark" }[this.theme];
    /* Canvases do not follow style sheets by themselves. */
    window.dispatchEvent(new Event("facet-theme"));
  }
}

function read(): string | null {
  try {
    return localStorage.getItem(NAME);
  } catch {
    return null;
  }
}
