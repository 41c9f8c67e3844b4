/* What the page tells: errors, news, and work under way. */

import { button, el } from "./dom.ts";

const NEWS_MILLISECONDS = 6000;
/** Work that ends sooner shows no bar. */
const BAR_DELAY = 150;
const MOST_ERRORS = 4;

export class Messages {
  private readonly errors = el("div", { role: "alert", class: "errors" });
  private readonly news = el("div", { role: "status", class: "news" });
  private readonly bars = el("div", { class: "bars" });
  readonly element = el("div", { class: "messages" }, this.bars, this.errors, this.news);

  say(kind: "error" | "news", text: string): void {
    const line = el("p", { class: `message ${kind}` }, text);
    if (kind === "news") {
      this.news.replaceChildren(line);
      setTimeout(() => line.remove(), NEWS_MILLISECONDS);
      return;
    }
    line.append(button("Close", () => line.remove()));
    this.errors.append(line);
    while (this.errors.children.length > MOST_ERRORS) {
      this.errors.firstElementChild?.remove();
    }
  }

  work(text: string, cancel?: () => void): { progress(part: number): void; done(): void } {
    const bar = el("progress", { max: 1, "aria-label": text });
    const line = el("p", { class: "message work" }, el("span", {}, text), bar);
    const timer = setTimeout(() => this.bars.append(line), BAR_DELAY);
    if (cancel !== undefined) {
      line.append(button("Cancel", cancel));
    }
    return {
      progress: (part) => {
        bar.value = Math.min(Math.max(part, 0), 1);
      },
      done: () => {
        clearTimeout(timer);
        line.remove();
      },
    };
  }
}
