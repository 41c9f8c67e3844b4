/* What a view of the page is, and what the page offers to it. A view lives in a folder of its own, exports one `View`, and is named in
 * ../views.ts; the shell knows nothing else about it. */

import type { Engine } from "../engine/index.ts";

/** A file that the page was given: dropped, chosen, or put into the page by `facet view`. */
export interface InputFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** What `facet view` found out about it; files that are dropped have none. */
  readonly made?: MadeBy;
  /** Files that came with it, which it may name. */
  readonly beside?: readonly { readonly name: string; readonly bytes: Uint8Array }[];
}

/** What the native program did to a file before it put it into the page: the object of cli/cmd_view.c. */
export interface MadeBy {
  /** "bvh": bytes are a GFX12 image; "tiles": one of XPHMG_RT; "file": as they were; "scene": so, with the files that it names. */
  readonly kind: "bvh" | "tiles" | "file" | "scene";
  /** Where rays start: an address as "0x...", and the ID of a node. */
  readonly base?: string;
  readonly root?: number;
  /** Pieces of an image that has several: addresses, where they lie in the bytes, and the files that they were. */
  readonly segments?: readonly { readonly address: string; readonly offset: number; readonly size: number; readonly name?: string }[];
  /** Whose headers the pieces have, and which structure rays start in. */
  readonly driver?: string;
  readonly structure?: number;
}

/** One key that a view obeys; the page of `?` lists them. `key` is that of KeyboardEvent, "Shift+" or "Control+" before it. */
export interface Key {
  readonly key: string;
  readonly text: string;
  /** Shown beside buttons and menus too; keys with `run` are dispatched by the shell while no text is edited. */
  readonly run?: () => void;
}

/** What the shell does for the views. */
export interface Page {
  readonly engine: Engine;
  /** A line at the bottom; errors stay until they are closed, news go by themselves. Screen readers hear both. */
  say(kind: "error" | "news", text: string): void;
  /** What was thrown, in words; of a call that was cancelled only that. */
  complain(error: unknown, about?: string): void;
  /** Work under way: shows a bar with a Cancel button. Call `done` when it ended, whatever the end. */
  work(text: string, cancel?: () => void): { progress(part: number): void; done(): void };
  /** Tells the shell that `Mounted.state` would answer something else now: the address in the URL follows (soon, not at once). */
  changed(): void;
  /** Goes to another view, and lets it restore a state. */
  go(view: string, state?: unknown): Promise<void>;
  /** The whole address of the page with this view in this state, for links that leave the page. */
  link(view: string, state: unknown): Promise<string>;
  /** Asks for a file by the browser's own dialogue. */
  choose(): void;
  /** Saves bytes by the browser's own dialogue. */
  save(name: string, bytes: Uint8Array | string): void;
  /** The address of a page of the contract, when this page is part of a site; undefined in a single file. */
  contract(id: string): string | undefined;
}

/** A view that is on the page. */
export interface Mounted {
  /** Shows a file that `View.accepts` took. Throws an Error with a message for people when the file is bad. */
  open?(file: InputFile): Promise<void>;
  /** Files that were brought at once and are all for this view: whether they belong together, so that it has taken them. */
  openTogether?(files: readonly InputFile[]): boolean;
  /** What a link to this view needs, as JSON; undefined: nothing. */
  state?(): unknown;
  /** The other way round. The state is from a URL: anything at all. Throws an Error with a message when it makes no sense. */
  restore?(state: unknown): Promise<void>;
  /** True when what is shown names this file, and has it now; `open` is for any other. */
  takeBeside?(file: InputFile): boolean;
  /** The view is seen from now on, or not. */
  shown?(visible: boolean): void;
  readonly keys?: readonly Key[];
}

export interface View {
  /** In the URL: letters only. */
  readonly id: string;
  /** On the tab. */
  readonly title: string;
  /** One sentence for the start page. */
  readonly summary: string;
  /** How sure the view is that it can open a file: 0 (not at all) to 1, by its name and first bytes. */
  accepts(file: InputFile): number;
  /** Whether a file may name others: what comes with it, and is named there or nothing that the view opens by itself,
   * belongs to it. */
  gathers?(file: InputFile): boolean;
  /** Things to begin with, offered by the start page: a state as for `restore`. */
  readonly examples?: readonly { readonly title: string; readonly state: unknown }[];
  /** Builds the view inside `host`, once, when it is first opened. */
  mount(host: HTMLElement, page: Page): Mounted | Promise<Mounted>;
}
