/* The frame around the views: tabs, files that are dropped or chosen, links, keys, messages. */

import type { Engine } from "../engine/index.ts";
import { packState, unpackState } from "./data.ts";
import { button, el, put } from "./dom.ts";
import { Messages } from "./messages.ts";
import { showKeys } from "./keys.ts";
import { startPage } from "./start.ts";
import { Theme } from "./theme.ts";
import type { InputFile, Key, Mounted, Page, View } from "./view.ts";

/** The name of the start page in the URL. */
const START = "start";
/** Nothing that Facet reads is larger; a browser's tab could not hold it twice. */
const MAX_FILE = 1 << 30;
/** A view that is so sure about a file opens it by itself. */
const SURE = 0.5;
/** After the last change, until the URL follows. */
const LINK_DELAY = 400;

interface Tab {
  readonly view: View;
  readonly button: HTMLButtonElement;
  readonly panel: HTMLElement;
  mounted?: Promise<Mounted>;
  live?: Mounted;
}

export class Shell {
  private readonly tabs = new Map<string, Tab>();
  private readonly messages = new Messages();
  private readonly theme = new Theme();
  private readonly chooser = el("input", { type: "file", multiple: true, class: "hidden", "aria-label": "File to open" });
  private current = "";
  private linkTimer: number | undefined;
  /** The address that the shell wrote itself: no reason to restore anything. */
  private written = "";

  constructor(
    private readonly host: HTMLElement,
    private readonly engine: Engine,
    private readonly views: readonly View[],
  ) {
    const list = el("div", { role: "tablist", "aria-label": "Views", class: "tabs" });
    const main = el("main", { class: "main" });
    const start: View = {
      id: START,
      title: "Start",
      summary: "",
      accepts: () => 0,
      mount: (panel, page) => startPage(panel, page, views),
    };
    for (const view of [start, ...views]) {
      const tab = el(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${view.id}`,
          class: "tab",
          "aria-controls": `view-${view.id}`,
          "aria-selected": "false",
          tabindex: -1,
          onclick: () => void this.show(view.id),
        },
        view.title,
      );
      const panel = el("section", {
        role: "tabpanel",
        id: `view-${view.id}`,
        class: "view",
        "aria-labelledby": `tab-${view.id}`,
        hidden: true,
      });
      this.tabs.set(view.id, { view, button: tab, panel });
      list.append(tab);
      main.append(panel);
    }
    list.addEventListener("keydown", (event) => this.moveTab(event));
    put(
      host,
      el("a", { class: "skip", href: "#page", onclick: (event) => this.skip(event) }, "Skip to the view"),
      el(
        "header",
        { class: "top" },
        el("span", { class: "brand" }, "Facet"),
        list,
        el(
          "div",
          { class: "tools" },
          button("Open…", () => this.choose(), { title: "Open a file (o); or drop one anywhere on the page" }),
          button("Copy link", () => void this.copyLink(), { title: "Copy a link to what is shown now (l)" }),
          this.theme.button,
          button("?", () => this.help(), { title: "Keys (?)", "aria-label": "Keys" }),
        ),
      ),
      main,
      this.messages.element,
      this.chooser,
      el("div", { class: "drop-hint", "aria-hidden": "true" }, "Drop to open. The file stays in this page."),
    );
    this.listen();
  }

  /** Shows what the URL or the file in the page asks for. */
  async start(file: InputFile | undefined): Promise<void> {
    if (file !== undefined) {
      await this.open(file);
    }
    if (location.hash.length > 1) {
      await this.followAddress();
    } else if (this.current === "") {
      await this.show(START);
    }
    document.documentElement.dataset["ready"] = "yes";
  }

  private listen(): void {
    this.chooser.addEventListener("change", () => {
      void this.openAll(this.chooser.files);
      this.chooser.value = "";
    });
    window.addEventListener("hashchange", () => {
      if (location.hash !== this.written) {
        void this.followAddress();
      }
    });
    window.addEventListener("keydown", (event) => this.key(event));
    const over = (on: boolean) => (event: DragEvent) => {
      if (event.dataTransfer?.types.includes("Files") === true) {
        event.preventDefault();
        this.host.classList.toggle("dropping", on);
      }
    };
    window.addEventListener("dragover", over(true));
    window.addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) {
        over(false)(event);
      }
    });
    window.addEventListener("drop", (event) => {
      over(false)(event);
      void this.openAll(event.dataTransfer?.files ?? null);
    });
  }

  private async openAll(list: FileList | null): Promise<void> {
    const read: InputFile[] = [];
    /* A copy: the browser's list is emptied when the dialogue is ready for the next time. */
    for (const file of [...(list ?? [])]) {
      if (file.size > MAX_FILE) {
        this.messages.say("error", `${file.name}: ${file.size} bytes, expected at most ${MAX_FILE}`);
      } else {
        read.push({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) });
      }
    }
    if (await this.openTogether(read)) {
      return;
    }
    const gatherer = this.views.find((view) => read.some((file) => view.gathers?.(file) === true));
    const heads = gatherer === undefined ? [] : read.filter((file) => gatherer.gathers?.(file) === true).map((file) => new TextDecoder().decode(file.bytes));
    const beside = read.filter((file) => gatherer?.gathers?.(file) === false && (gatherer.accepts(file) < SURE || heads.some((head) => head.includes(file.name))));
    for (const file of read.filter((one) => !beside.includes(one))) {
      await this.open(gatherer?.gathers?.(file) === true ? { ...file, beside } : file);
    }
  }

  private async openTogether(files: readonly InputFile[]): Promise<boolean> {
    const views = new Set(files.map((file) => this.surest(file)));
    const [view] = views;
    if (files.length < 2 || views.size > 1 || view === undefined) {
      return false;
    }
    return (await this.show(view.id))?.openTogether?.(files) === true;
  }

  private surest(file: InputFile): View | undefined {
    let best: View | undefined;
    let most = 0;
    for (const view of this.views) {
      const sure = view.accepts(file) + (view.id === this.current ? 0.05 : 0);
      if (sure > most && view.accepts(file) > 0) {
        best = view;
        most = sure;
      }
    }
    return best;
  }

  /** Gives a file to the view that is surest about it. */
  private async open(file: InputFile): Promise<void> {
    if (this.tabs.get(this.current)?.live?.takeBeside?.(file) === true) {
      this.changed();
      return;
    }
    const best = this.surest(file);
    if (best === undefined) {
      const known = this.views.map((view) => view.title).join(", ");
      this.messages.say("error", `${file.name}: not a file that this page can show (${known})`);
      return;
    }
    try {
      const mounted = await this.show(best.id);
      await mounted?.open?.(file);
      this.changed();
    } catch (error) {
      this.complain(error, file.name);
    }
  }

  /** Brings a view to the front, and makes it when this is the first time. */
  private async show(id: string): Promise<Mounted | undefined> {
    const tab = this.tabs.get(id);
    if (tab === undefined) {
      throw new Error(`the page has no view "${id}"`);
    }
    if (this.current !== id) {
      this.tabs.get(this.current)?.live?.shown?.(false);
      this.current = id;
      for (const [name, one] of this.tabs) {
        const on = name === id;
        one.panel.hidden = !on;
        one.button.setAttribute("aria-selected", String(on));
        one.button.tabIndex = on ? 0 : -1;
      }
      document.title = id === START ? "Facet" : `${tab.view.title} · Facet`;
    }
    tab.mounted ??= Promise.resolve(tab.view.mount(tab.panel, this.page()));
    tab.live = await tab.mounted;
    if (this.current === id) {
      tab.live.shown?.(true);
      this.changed();
    }
    return tab.live;
  }

  private page(): Page {
    return {
      engine: this.engine,
      say: (kind, text) => this.messages.say(kind, text),
      complain: (error, about) => this.complain(error, about),
      work: (text, cancel) => this.messages.work(text, cancel),
      changed: () => this.changed(),
      go: async (view, state) => {
        const mounted = await this.show(view);
        if (state !== undefined) {
          await mounted?.restore?.(state);
        }
      },
      link: async (view, state) => `${location.href.replace(/#.*$/, "")}${await address(view, state)}`,
      choose: () => this.choose(),
      save,
      contract,
    };
  }

  private choose(): void {
    this.chooser.click();
  }

  private complain(error: unknown, about?: string): void {
    const text = error instanceof Error ? error.message : String(error);
    if ((error as { status?: unknown } | undefined)?.status === "cancelled") {
      this.messages.say("news", about === undefined ? "Cancelled." : `${about}: cancelled.`);
      return;
    }
    this.messages.say("error", about === undefined || text.startsWith(about) ? text : `${about}: ${text}`);
  }

  /* ---- the address ---- */

  private async followAddress(): Promise<void> {
    this.written = location.hash;
    const [id = "", packed] = location.hash.slice(1).split("=", 2);
    try {
      const mounted = await this.show(id);
      if (packed !== undefined) {
        await mounted?.restore?.(await unpackState(packed));
      }
    } catch (error) {
      this.complain(error);
      if (this.current === "") {
        await this.show(START);
      }
    }
  }

  private currentAddress(): Promise<string> {
    return address(this.current, this.tabs.get(this.current)?.live?.state?.());
  }

  private changed(): void {
    clearTimeout(this.linkTimer);
    this.linkTimer = window.setTimeout(() => {
      void this.currentAddress().then((hash) => {
        this.written = hash;
        history.replaceState(null, "", hash);
      });
    }, LINK_DELAY);
  }

  private async copyLink(): Promise<void> {
    const link = location.href.replace(/#.*$/, "") + (await this.currentAddress());
    try {
      await navigator.clipboard.writeText(link);
      this.messages.say("news", `Link copied: ${link.length} characters`);
    } catch {
      /* Not every page may use the clipboard: the address bar has the link as well. */
      history.replaceState(null, "", link);
      this.messages.say("news", "The link is in the address bar: this browser lets no page copy it");
    }
  }

  /* ---- keys ---- */

  private keys(): readonly Key[] {
    const views = [...this.tabs.values()];
    return [
      { key: "?", text: "These keys", run: () => this.help() },
      { key: "o", text: "Open a file", run: () => this.choose() },
      { key: "l", text: "Copy a link to what is shown", run: () => void this.copyLink() },
      { key: "d", text: "Light, dark, or as the system has it", run: () => this.theme.next() },
      ...views.map((tab, i) => ({ key: String(i + 1), text: tab.view.title, run: () => void this.show(tab.view.id) })),
    ];
  }

  private key(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.altKey || event.metaKey || isEdited(event) || document.querySelector("dialog[open]") !== null) {
      return;
    }
    /* A capital or a sign has its Shift inside. */
    const shift = event.shiftKey && event.key.length > 1 ? "Shift+" : "";
    const name = (event.ctrlKey ? "Control+" : "") + shift + event.key;
    const own = this.tabs.get(this.current)?.live?.keys ?? [];
    const found = [...own, ...this.keys()].find((key) => key.key === name && key.run !== undefined);
    if (found !== undefined) {
      event.preventDefault();
      found.run?.();
    }
  }

  private help(): void {
    const tab = this.tabs.get(this.current);
    showKeys([
      { title: "Everywhere", keys: this.keys() },
      { title: tab?.view.title ?? "", keys: tab?.live?.keys ?? [] },
    ]);
  }

  private moveTab(event: KeyboardEvent): void {
    const ids = [...this.tabs.keys()];
    const at = ids.indexOf(this.current);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: ids.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      const id = ids[(to + ids.length) % ids.length] ?? START;
      void this.show(id);
      this.tabs.get(id)?.button.focus();
    }
  }

  private skip(event: Event): void {
    event.preventDefault();
    const panel = this.tabs.get(this.current)?.panel;
    panel?.querySelector<HTMLElement>("button, input, select, textarea, [tabindex='0']")?.focus();
  }
}

async function address(view: string, state: unknown): Promise<string> {
  return state === undefined ? `#${view}` : `#${view}=${await packState(state)}`;
}

/** Whether a key goes into text, a list, or a control that has keys of its own. */
function isEdited(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target instanceof HTMLTextAreaElement ||
      target instanceof HTMLSelectElement ||
      (target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type)))
  );
}

function save(name: string, bytes: Uint8Array | string): void {
  const url = URL.createObjectURL(new Blob([bytes as BlobPart]));
  const link = el("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** The page of a name beside this page, which the site's search knows: a page of a site has <meta name="contract">. */
function contract(id: string): string | undefined {
  const beside = document.querySelector("meta[name=contract]") !== null;
  return beside ? `search.html?go=${encodeURIComponent(id)}` : undefined;
}
