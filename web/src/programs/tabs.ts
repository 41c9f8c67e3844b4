/* Panels behind tabs; only the one that is seen is asked to show anything. */

import { el } from "../shell/dom.ts";
import type { Desk, Look, Panel } from "./panel.ts";

export class Tabs {
  readonly element = el("div", { class: "panel-set" });
  private readonly list: HTMLElement;
  private readonly buttons = new Map<string, HTMLButtonElement>();
  private current: Panel;
  private look: Look | undefined;

  constructor(
    label: string,
    private readonly panels: readonly Panel[],
    private readonly desk: Desk,
  ) {
    const [first] = panels;
    if (first === undefined) {
      throw new Error("tabs without panels");
    }
    this.current = first;
    this.list = el("div", { role: "tablist", "aria-label": label, class: "panel-tabs", onkeydown: (event) => this.key(event as KeyboardEvent) });
    for (const panel of panels) {
      const tab = el(
        "button",
        { type: "button", role: "tab", class: "panel-tab", id: `panel-tab-${panel.id}`, "aria-controls": `panel-${panel.id}`, onclick: () => this.choose(panel.id) },
        panel.title,
      );
      this.buttons.set(panel.id, tab);
      this.list.append(tab);
      panel.element.id = `panel-${panel.id}`;
      panel.element.setAttribute("role", "tabpanel");
      panel.element.setAttribute("aria-labelledby", tab.id);
    }
    this.element.append(this.list, ...panels.map((panel) => panel.element));
    this.mark();
  }

  get chosen(): string {
    return this.current.id;
  }

  choose(id: string): void {
    const panel = this.panels.find((one) => one.id === id);
    if (panel !== undefined && panel !== this.current) {
      this.current = panel;
      this.mark();
      void this.fill();
    }
  }

  /** A panel that makes no sense for the machine is not offered. */
  offer(id: string, there: boolean): void {
    const tab = this.buttons.get(id);
    if (tab !== undefined) {
      tab.hidden = !there;
    }
    if (!there && this.current.id === id) {
      this.choose(this.panels.find((panel) => panel.id !== id && this.buttons.get(panel.id)?.hidden !== true)?.id ?? id);
    }
  }

  show(look: Look | undefined): Promise<void> {
    this.look = look;
    return this.fill();
  }

  private async fill(): Promise<void> {
    const panel = this.current;
    panel.element.setAttribute("aria-busy", "true");
    try {
      await panel.show(this.look);
    } catch (error) {
      this.desk.fail(error);
    }
    panel.element.setAttribute("aria-busy", "false");
  }

  private mark(): void {
    for (const panel of this.panels) {
      const on = panel === this.current;
      panel.element.hidden = !on;
      const tab = this.buttons.get(panel.id);
      tab?.setAttribute("aria-selected", String(on));
      tab?.setAttribute("tabindex", on ? "0" : "-1");
    }
  }

  private key(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step !== 0) {
      const there = this.panels.filter((panel) => this.buttons.get(panel.id)?.hidden !== true);
      const next = there[(there.indexOf(this.current) + step + there.length) % there.length];
      if (next !== undefined) {
        this.choose(next.id);
        this.buttons.get(next.id)?.focus();
      }
      event.preventDefault();
      event.stopPropagation();
    }
  }
}
