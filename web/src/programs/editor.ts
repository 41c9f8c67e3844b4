/* The editor: assembly text with colours, complaints at their place, breakpoints and the line where each core stands. */

import { autocompletion, completionKeymap, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting, bracketMatching } from "@codemirror/language";
import { lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, RangeSet, RangeSetBuilder, StateEffect, StateField, type Extension } from "@codemirror/state";
import {
  Decoration,
  EditorView,
  GutterMarker,
  drawSelection,
  gutter,
  highlightActiveLine,
  hoverTooltip,
  keymap,
  lineNumbers,
  type DecorationSet,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { InsnRow } from "../engine/types.ts";
import type { SourceError } from "../engine/machines.ts";

/* ---- colours ---- */

const assembly = StreamLanguage.define<{ begun: boolean }>({
  name: "assembly",
  startState: () => ({ begun: false }),
  token(stream, state) {
    if (stream.sol()) {
      state.begun = false;
    }
    if (stream.eatSpace()) {
      return null;
    }
    if (stream.match(/^(#|;|\/\/).*/)) {
      return "comment";
    }
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) {
      return "string";
    }
    if (!state.begun && stream.match(/^[.\w$]+:/)) {
      return "labelName";
    }
    if (!state.begun && stream.match(/^\.\w+/)) {
      state.begun = true;
      return "meta";
    }
    if (!state.begun && stream.match(/^[A-Za-z][\w.]*/)) {
      state.begun = true;
      return "keyword";
    }
    if (stream.match(/^[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?)\b/)) {
      return "number";
    }
    if (stream.match(/^[A-Za-z_.$][\w.$]*/)) {
      return "variableName";
    }
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: "#" } },
});

const json = StreamLanguage.define({
  name: "json",
  token(stream) {
    if (stream.eatSpace()) {
      return null;
    }
    if (stream.match(/^"(?:[^"\\]|\\.)*"(?=\s*:)/)) {
      return "keyword";
    }
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) {
      return "string";
    }
    if (stream.match(/^-?[0-9][0-9.eE+-]*/)) {
      return "number";
    }
    stream.next();
    return null;
  },
});

const colours = HighlightStyle.define([
  { tag: tags.comment, class: "tok-comment" },
  { tag: tags.string, class: "tok-string" },
  { tag: tags.keyword, class: "tok-word" },
  { tag: tags.number, class: "tok-number" },
  { tag: tags.labelName, class: "tok-label" },
  { tag: tags.meta, class: "tok-meta" },
]);

/* ---- breakpoints ---- */

class Dot extends GutterMarker {
  override toDOM(): Node {
    const dot = document.createElement("span");
    dot.className = "break-dot";
    dot.textContent = "●";
    return dot;
  }
}
const dot = new Dot();
const empty = new (class extends GutterMarker {
  override toDOM(): Node {
    return document.createTextNode("○");
  }
})();

const toggleBreak = StateEffect.define<number>({ map: (at, changes) => changes.mapPos(at) });
const breaks = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(set, transaction) {
    let now = set.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(toggleBreak)) {
        let there = false;
        now.between(effect.value, effect.value, () => {
          there = true;
        });
        now = there ? now.update({ filter: (from) => from !== effect.value }) : now.update({ add: [dot.range(effect.value)] });
      }
    }
    return now;
  },
});

/* ---- where cores stand, and how often lines ran ---- */

export interface Mark {
  line: number;
  current: boolean; /* of the core that is looked at */
  title: string;
}

const setMarks = StateEffect.define<readonly Mark[]>();
const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, transaction) {
    let now = set.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(setMarks)) {
        const builder = new RangeSetBuilder<Decoration>();
        const lines = new Map<number, Mark>();
        for (const mark of effect.value) {
          if (mark.line >= 1 && mark.line <= transaction.state.doc.lines && (mark.current || !lines.has(mark.line))) {
            lines.set(mark.line, mark);
          }
        }
        for (const line of [...lines.keys()].sort((a, b) => a - b)) {
          const mark = lines.get(line);
          const at = transaction.state.doc.line(line).from;
          builder.add(at, at, Decoration.line({ class: mark?.current === true ? "line-current" : "line-other", attributes: { title: mark?.title ?? "" } }));
        }
        now = builder.finish();
      }
    }
    return now;
  },
  provide: (field) => EditorView.decorations.from(field),
});

class Count extends GutterMarker {
  constructor(
    private readonly text: string,
    private readonly level: number,
  ) {
    super();
  }
  override eq(other: Count): boolean {
    return this.text === other.text && this.level === other.level;
  }
  override toDOM(): Node {
    const made = document.createElement("span");
    made.className = `heat heat-${this.level}`;
    made.textContent = this.text;
    return made;
  }
}

const setCounts = StateEffect.define<ReadonlyMap<number, number>>();
const counts = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(set, transaction) {
    let now = set.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(setCounts)) {
        const most = Math.max(1, ...effect.value.values());
        const rows = [...effect.value].filter(([line]) => line >= 1 && line <= transaction.state.doc.lines).sort((a, b) => a[0] - b[0]);
        now = RangeSet.of(rows.map(([line, count]) => new Count(count.toLocaleString("en"), Math.ceil((4 * count) / most)).range(transaction.state.doc.line(line).from)));
      }
    }
    return now;
  },
});

/* ---- the rows of the contract while typing ---- */

/** The card of an instruction: what the row says. */
function card(rows: readonly InsnRow[]): HTMLElement {
  const made = document.createElement("div");
  made.className = "insn-card";
  for (const row of rows.slice(0, 4)) {
    const syntax = document.createElement("code");
    syntax.textContent = row.syntax;
    const meaning = document.createElement("p");
    meaning.textContent = row.semantics;
    const from = document.createElement("p");
    from.className = "quiet";
    from.textContent = `${row.extension} · ${row.file}:${row.line}`;
    made.append(syntax, meaning, from);
  }
  return made;
}

/* ---- the editor ---- */

export interface EditorHost {
  /** The text has changed, some moments ago. */
  changed(): void;
  breakpointsChanged(): void;
}

export class Editor {
  readonly view: EditorView;
  private readonly language = new Compartment();
  private rows = new Map<string, InsnRow[]>();
  private silent = false;
  private timer: number | undefined;

  constructor(parent: HTMLElement, host: EditorHost) {
    const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? "";
    const extensions: Extension[] = [
      EditorView.cspNonce.of(nonce),
      breaks,
      gutter({
        class: "breaks",
        markers: (view) => view.state.field(breaks),
        initialSpacer: () => empty,
        domEventHandlers: {
          mousedown: (view, line) => {
            view.dispatch({ effects: toggleBreak.of(line.from) });
            host.breakpointsChanged();
            return true;
          },
        },
      }),
      lineNumbers(),
      counts,
      gutter({ class: "counts", markers: (view) => view.state.field(counts) }),
      marks,
      history(),
      drawSelection(),
      highlightActiveLine(),
      highlightSelectionMatches(),
      bracketMatching(),
      search({ top: true }),
      lintGutter(),
      syntaxHighlighting(colours),
      this.language.of(assembly),
      autocompletion({ override: [(context) => this.complete(context)], activateOnTyping: true }),
      hoverTooltip((view, at) => this.hover(view, at)),
      keymap.of([
        {
          key: "F9",
          run: (view) => {
            view.dispatch({ effects: toggleBreak.of(view.state.doc.lineAt(view.state.selection.main.head).from) });
            host.breakpointsChanged();
            return true;
          },
        },
        ...defaultKeymap,
        ...historyKeymap,
        ...searchKeymap,
        ...completionKeymap,
        indentWithTab,
      ]),
      EditorView.contentAttributes.of({ "aria-label": "Program", tabindex: "0" }),
      EditorState.tabSize.of(8),
      EditorView.updateListener.of((update) => {
        if (update.docChanged && !this.silent) {
          window.clearTimeout(this.timer);
          this.timer = window.setTimeout(() => host.changed(), 250);
        }
      }),
    ];
    this.view = new EditorView({ parent, state: EditorState.create({ doc: "", extensions }) });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  get breakpoints(): number[] {
    const lines: number[] = [];
    this.view.state.field(breaks).between(0, this.view.state.doc.length, (from) => {
      lines.push(this.view.state.doc.lineAt(from).number);
    });
    return lines;
  }

  /** Another text, with its breakpoints; nobody is told. */
  open(text: string, breakpoints: readonly number[], isJson: boolean): void {
    this.silent = true;
    const old = this.breakpoints.map((line) => toggleBreak.of(this.view.state.doc.line(line).from));
    this.view.dispatch({ effects: old });
    this.view.dispatch({
      changes: { from: 0, to: this.view.state.doc.length, insert: text },
      selection: { anchor: 0 },
      effects: [this.language.reconfigure(isJson ? json : assembly), EditorView.scrollIntoView(0)],
    });
    const doc = this.view.state.doc;
    this.view.dispatch({ effects: breakpoints.filter((line) => line <= doc.lines).map((line) => toggleBreak.of(doc.line(line).from)) });
    this.silent = false;
  }

  complain(errors: readonly SourceError[]): void {
    const doc = this.view.state.doc;
    const diagnostics = errors
      .filter((error) => error.line >= 1 && error.line <= doc.lines)
      .map((error): Diagnostic => {
        const line = doc.line(error.line);
        const from = Math.min(line.to, line.from + Math.max(0, error.column - 1));
        return {
          from,
          to: Math.max(from, Math.min(line.to, from + error.length)),
          severity: "error",
          message: error.hint === "" ? error.message : `${error.message}\n${error.hint}`,
        };
      });
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics));
  }

  stand(where: readonly Mark[], follow: boolean): void {
    const current = where.find((mark) => mark.current);
    const effects: StateEffect<unknown>[] = [setMarks.of(where)];
    if (follow && current !== undefined && current.line >= 1 && current.line <= this.view.state.doc.lines) {
      effects.push(EditorView.scrollIntoView(this.view.state.doc.line(current.line).from, { y: "nearest", yMargin: 60 }));
    }
    this.view.dispatch({ effects });
  }

  /** How often each line ran; nothing: no counts are shown. */
  heat(perLine: ReadonlyMap<number, number>): void {
    this.view.dispatch({ effects: setCounts.of(perLine) });
  }

  goTo(line: number): void {
    if (line >= 1 && line <= this.view.state.doc.lines) {
      const at = this.view.state.doc.line(line).from;
      this.view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      this.view.focus();
    }
  }

  /** The instructions that completion and the cards know. */
  know(rows: readonly InsnRow[]): void {
    this.rows = new Map();
    for (const row of rows) {
      const name = row.mnemonic.toLowerCase();
      this.rows.set(name, [...(this.rows.get(name) ?? []), row]);
    }
  }

  private complete(context: CompletionContext): CompletionResult | null {
    const line = context.state.doc.lineAt(context.pos);
    const before = /^\s*(?:[.\w$]+:)?\s*([A-Za-z][\w.]*)$/.exec(line.text.slice(0, context.pos - line.from));
    if (before?.[1] === undefined) {
      return null;
    }
    return {
      from: context.pos - before[1].length,
      options: [...this.rows.values()].map((rows) => ({
        label: rows[0]?.mnemonic ?? "",
        detail: rows[0]?.syntax.slice(rows[0].mnemonic.length) ?? "",
        info: () => card(rows),
      })),
      validFor: /^[\w.]*$/,
    };
  }

  private hover(view: EditorView, at: number): { pos: number; above: boolean; create: () => { dom: HTMLElement } } | null {
    const line = view.state.doc.lineAt(at);
    const word = /^\s*(?:[.\w$]+:)?\s*([A-Za-z][\w.]*)/.exec(line.text);
    const rows = word?.[1] === undefined ? undefined : this.rows.get(word[1].toLowerCase());
    const end = word === null ? 0 : word[0].length;
    if (rows === undefined || word?.[1] === undefined || at - line.from > end || at - line.from < end - word[1].length) {
      return null;
    }
    return { pos: line.from + end - word[1].length, above: true, create: () => ({ dom: card(rows) }) };
  }
}
