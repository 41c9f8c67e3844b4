/* Programs and kernels: a text with its machine beside it, run forwards and backwards. */

import type { GivenFile, ListState, MachineState, Session, Stop } from "../engine/machines.ts";
import { SourceErrors } from "../engine/machines.ts";
import type { CallOptions, EngineError, Isa } from "../engine/types.ts";
import { toBase64 } from "../shell/data.ts";
import { button, el, put } from "../shell/dom.ts";
import type { InputFile, Key, Mounted, Page, View } from "../shell/view.ts";
import { Assignment } from "./assignment.ts";
import { codeLines, Commands } from "./commands.ts";
import { Csrs } from "./csrs.ts";
import { Editor, type Mark } from "./editor.ts";
import { EXAMPLES } from "./examples.ts";
import { PixelHistory } from "./history.ts";
import { Lanes } from "./lanes.ts";
import { Findings } from "./findings.ts";
import { Listing } from "./listing.ts";
import { Memory } from "./memory.ts";
import { readOptions, type Option } from "./options.ts";
import { Output } from "./output.ts";
import { hex, type Desk, type Look } from "./panel.ts";
import { Picture } from "./picture.ts";
import { Profiles } from "./profile.ts";
import { EMPTY, filesOf, readFile, readProject, writeFile, type Kind, type Project } from "./project.ts";
import { Reasons } from "./why.ts";
import { Registers } from "./registers.ts";
import { Steps } from "./steps.ts";
import { Tabs } from "./tabs.ts";
import { describe, resolve, Watches } from "./watch.ts";

const KINDS: readonly [Kind, string][] = [
  ["hart", "Hart (xphmg)"],
  ["tile", "Kernel (tile GPU)"],
  ["list", "Command list"],
];

/** More than any list has. */
const MOST_COMMANDS = 1e9;

/** Files that are larger together are not in the address of the page. */
const MOST_LINKED = 64 << 10;

/** Whether bytes begin like an ELF file, and for which machine. */
function elfKind(bytes: Uint8Array): Kind | undefined {
  if (bytes.length < 20 || bytes[0] !== 0x7f || bytes[1] !== 0x45 || bytes[2] !== 0x4c || bytes[3] !== 0x46) {
    return undefined;
  }
  return bytes[4] === 1 ? "tile" : "hart";
}

function isList(file: InputFile): boolean {
  return /\.json$/i.test(file.name) && /"(buffers|commands|frame)"\s*:/.test(new TextDecoder().decode(file.bytes.subarray(0, 4096)));
}

/** A text without a word about its machine: registers of the tile machine are named s, f, v, and nothing there is called x or a. */
function textKind(text: string): Kind {
  return /^\s*(?:\w+:)?\s*(?:CSRR|VLD|VST|EXIT|VADD|LW\s+s\d+,\s*\d*\(s)/im.test(text) && !/\b(?:la|csrw|ecall|ebreak|call)\b/.test(text) ? "tile" : "hart";
}

class Programs implements Mounted, Desk {
  private readonly editor: Editor;
  private readonly commands: Commands;
  private readonly left: Tabs;
  private readonly right: Tabs;
  private readonly assignment: Assignment;
  private readonly history: PixelHistory;
  private readonly watches: Watches;

  private readonly kind = el("select", { "aria-label": "Machine" }, ...KINDS.map(([id, title]) => el("option", { value: id }, title)));
  private readonly examples = el("select", { "aria-label": "Examples" }, el("option", { value: "" }, "Examples…"), ...EXAMPLES.map((one, i) => el("option", { value: i }, one.title)));
  private readonly options = el("input", { class: "options mono", "aria-label": "Options, as on the command line", spellcheck: "false", placeholder: "options, such as --harts 2" });
  private readonly input = el("textarea", { class: "input mono", rows: 1, "aria-label": "What the program can read from its console", placeholder: "input", spellcheck: "false" });
  private readonly status = el("p", { class: "stop", role: "status" });
  private readonly cores = el("div", { class: "cores", role: "group", "aria-label": "Cores" });
  private readonly runButton = button("Run", () => this.run(), { class: "primary run", title: "Run until something stops it, or pause (F8)" });
  private readonly moves: HTMLButtonElement[];

  private elf: Uint8Array | undefined;
  private files: readonly GivenFile[] = []; /* that the text or the options name */
  private session: Session | undefined;
  private state_: MachineState | undefined;
  private before: MachineState | undefined;
  private list: ListState | undefined;
  private core = 0;
  private exercise: Project["exercise"];
  private made = ""; /* what the machine was made of */
  private used: readonly Option[] = [];
  private running: AbortController | undefined;
  private wanted: number | undefined; /* commands that are to be done */
  private checking = 0;
  private queue: Promise<void> = Promise.resolve();
  private waiting = 0;
  private readonly body = el("div", { class: "programs" });
  private symbolsOf: Isa | undefined;
  private readonly codeOf = new Map<string, number[]>();

  readonly keys: readonly Key[];

  constructor(
    private readonly host: HTMLElement,
    private readonly page: Page,
  ) {
    const picture = new Picture(
      this,
      (name, bytes) => page.save(name, bytes),
      (x, y) => this.pixel(x, y),
    );
    this.history = new PixelHistory(this);
    const editorHost = el("div", { class: "editor" });
    this.editor = new Editor(editorHost, {
      changed: () => this.edited(),
      breakpointsChanged: () => {
        this.page.changed();
        this.act(() => this.sendBreakpoints());
      },
    });
    this.watches = new Watches(this, () => {
      this.page.changed();
      return this.sendWatchpoints();
    });
    this.commands = new Commands((count) => this.toCommand(count));
    this.left = new Tabs("Program", [new Output(this, () => this.run()), new Steps(this), new Listing(this)], this);
    this.right = new Tabs(
      "Machine",
      [new Registers(this), new Lanes(this), new Csrs(this), new Memory(this), this.watches, picture, this.history, new Reasons(this), new Profiles(this, (lines) => this.editor.heat(lines), (option) => this.addOption(option)), new Findings(this, page.contract, (option) => this.addOption(option))],
      this,
    );
    this.assignment = new Assignment(
      page.engine.machines,
      () => this.project(),
      (exercise) => {
        this.exercise = exercise;
        this.page.changed();
      },
      () => this.state_,
      this,
    );
    const step = button("Step", () => this.step(), { title: "One instruction of the machine (F10)" });
    const stepCore = button("Step core", () => this.step(this.core), { title: "Until the chosen core has made a step (F11)", class: "step-core-button" });
    const back = button("Back", () => this.back(), { title: "Before the last instruction (Shift+F10)" });
    const backCore = button("Back core", () => this.back(this.core), { title: "Before the last instruction of the chosen core (Shift+F11)", class: "step-core-button" });
    const reverse = button("Reverse", () => this.reverse(), { title: "Back to the last breakpoint or watchpoint, or to the beginning (Shift+F8)" });
    const restart = button("Restart", () => this.restart(), { title: "The machine as it was before the first step (Control+F8)" });
    this.moves = [step, stepCore, back, backCore, reverse, restart];
    this.kind.addEventListener("change", () => {
      this.elf = undefined;
      this.dressed();
      this.edited();
    });
    this.examples.addEventListener("change", () => {
      const example = EXAMPLES[Number(this.examples.value)];
      if (this.examples.value !== "" && example !== undefined) {
        this.openProject(example.project);
        this.page.changed();
      }
      this.examples.value = "";
    });
    for (const field of [this.options, this.input]) {
      field.addEventListener("input", () => this.edited());
    }
    this.body.append(
        el(
          "div",
          { class: "prog-bar", role: "toolbar", "aria-label": "Run" },
          this.kind,
          this.examples,
          el("span", { class: "bar-group" }, this.runButton, step, stepCore),
          el("span", { class: "bar-group" }, back, backCore, reverse, restart),
          this.options,
          this.input,
          button("Save", () => this.save(), { title: "The program with its options, breakpoints and exercise as a file" }),
          button("Exercise…", () => this.assignment.edit(), { title: "Make an exercise of this program: a link that grades itself" }),
        ),
        el("div", { class: "prog-status" }, this.status, this.cores),
        this.assignment.element,
        el(
          "div",
          { class: "prog-main" },
          el("div", { class: "prog-left" }, this.commands.element, editorHost, el("div", { class: "prog-lower" }, this.left.element)),
          el("div", { class: "prog-right" }, this.right.element),
        ),
    );
    host.append(this.body);
    host.addEventListener("keydown", (event) => this.key(event));
    this.keys = [
      { key: "r", text: "run or pause (F8, also while typing)", run: () => this.run() },
      { key: "s", text: "step (F10)", run: () => this.step() },
      { key: "c", text: "step of the chosen core (F11)", run: () => this.step(this.core) },
      { key: "b", text: "back one step (Shift+F10)", run: () => this.back() },
      { key: "v", text: "back to the last breakpoint or watchpoint (Shift+F8)", run: () => this.reverse() },
      { key: "0", text: "restart (Control+F8)", run: () => this.restart() },
      { key: "F9", text: "set or clear a breakpoint on the line of the cursor" },
    ];
    this.openProject(EXAMPLES[0]?.project ?? EMPTY);
  }

  /* ---- what the shell asks ---- */

  open(file: InputFile): Promise<void> {
    const kind = elfKind(file.bytes);
    if (kind !== undefined) {
      this.openProject({ ...EMPTY, kind, source: `# ${file.name}: an ELF file of ${file.bytes.length} bytes; see Listing.\n` });
      this.elf = file.bytes;
      this.left.choose("listing");
      return this.act(async () => {
        await this.start();
      });
    }
    const text = new TextDecoder("utf-8", { fatal: true }).decode(file.bytes);
    const json = text.trimStart().startsWith("{");
    const project = json ? readFile(text) : undefined;
    this.openProject(project ?? { ...EMPTY, kind: json ? "list" : textKind(text), source: text }, file.beside);
    return Promise.resolve();
  }

  /** A file that the list's text names, or an option does. */
  takeBeside(file: InputFile): boolean {
    const strings = this.machine === "list" ? [...this.editor.text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text ?? "") : [];
    const mine = [...strings, ...this.options.value.split(/[\s=]+/)].some((text) => text === file.name || text.endsWith(`/${file.name}`));
    if (mine) {
      this.files = [...this.files.filter((one) => one.name !== file.name), { name: file.name, bytes: file.bytes }];
      void this.act(() => this.drop());
      this.edited();
      this.run();
    }
    return mine;
  }

  state(): unknown {
    if (this.elf !== undefined) {
      return undefined;
    }
    const { files, ...project } = this.project();
    const size = this.files.reduce((sum, file) => sum + file.bytes.length, 0);
    return files === undefined || size > MOST_LINKED ? project : { ...project, files };
  }

  restore(state: unknown): Promise<void> {
    this.openProject(readProject(state));
    return Promise.resolve();
  }

  shown(visible: boolean): void {
    if (visible) {
      this.editor.view.requestMeasure();
    }
  }

  /* ---- the project ---- */

  private get machine(): Kind {
    return this.kind.value as Kind;
  }

  private project(): Project {
    return {
      kind: this.machine,
      source: this.editor.text,
      options: this.options.value,
      input: this.input.value,
      breakpoints: this.editor.breakpoints,
      ...(this.watches.watchpoints.length > 0 ? { watchpoints: this.watches.watchpoints } : {}),
      ...(this.files.length > 0 ? { files: this.files.map(({ name, bytes }) => ({ name, data: toBase64(bytes) })) } : {}),
      ...(this.exercise === undefined ? {} : { exercise: this.exercise }),
    };
  }

  private openProject(project: Project, beside: readonly GivenFile[] = []): void {
    this.elf = undefined;
    this.files = [...beside, ...filesOf(project)];
    this.kind.value = project.kind;
    this.options.value = this.options.title = project.options;
    this.input.value = project.input;
    this.exercise = project.exercise;
    this.editor.open(project.source, project.breakpoints, project.kind === "list");
    this.watches.watchpoints = project.watchpoints ?? [];
    this.editor.heat(new Map());
    this.assignment.show(project.exercise);
    this.dressed();
    this.act(() => this.drop());
    this.check();
    if (project.kind === "list") {
      this.run();
    }
  }

  /** What the kind of machine makes of the page around the editor. */
  private dressed(): void {
    const kind = this.machine;
    this.input.hidden = kind !== "hart";
    this.options.placeholder = { hart: "options, such as --harts 2 --config min", tile: "options, such as --grid 4x3 --arg target=0x80100000", list: "options, such as --timing default" }[kind];
    this.left.offer("console", kind === "hart");
    this.left.choose(kind === "hart" ? "console" : "steps");
    this.right.offer("history", kind === "list");
    this.right.choose(kind === "list" ? "picture" : "registers");
    this.commands.show(undefined);
    const isa: Isa = kind === "hart" ? "xphmg" : "tile";
    if (kind !== "list" && this.symbolsOf !== isa) {
      this.symbolsOf = isa;
      this.page.engine.isa.rows(isa).then(
        (rows) => this.editor.know(rows),
        (error: unknown) => this.fail(error),
      );
    }
  }

  private edited(): void {
    this.options.title = this.options.value;
    this.assignment.forget();
    this.page.changed();
    this.check();
    this.tell();
  }

  /** Complaints about the text at their place. */
  private check(): void {
    const mine = ++this.checking;
    const found = this.machine === "list" ? this.checkList() : this.checkText();
    found.then(
      (errors) => {
        if (mine === this.checking) {
          this.editor.complain(errors);
        }
      },
      (error: unknown) => this.fail(error),
    );
  }

  private async checkText(): Promise<SourceErrors["errors"]> {
    const isa: Isa = this.machine === "hart" ? "xphmg" : "tile";
    const { diagnostics } = await this.page.engine.isa.assemble(isa, this.editor.text, "program.s");
    return diagnostics.map((one) => ({ line: one.line, column: one.column, length: one.length, message: one.message, hint: one.hint }));
  }

  private async checkList(): Promise<SourceErrors["errors"]> {
    try {
      await (await this.page.engine.machines.list(this.editor.text, { files: this.files })).close();
      return [];
    } catch (error) {
      const { where, message } = error as EngineError;
      const at = /^list:(\d+):(\d+): (.*)$/.exec(message);
      return [{ line: Number(at?.[1] ?? (typeof where === "bigint" && where > 0n ? where : 1)), column: Number(at?.[2] ?? 1), length: 1, message: at?.[3] ?? message, hint: "" }];
    }
  }

  /** As if it were typed: the machine is made anew, and goes where it was. */
  private addOption(option: string): void {
    const steps = this.state_?.steps ?? 0;
    this.options.value = `${this.options.value.trim()} ${option}`.trim();
    this.edited();
    this.go(async (session, signal) => {
      if (session.isList) {
        return this.runList(session, signal);
      }
      return steps > 0 ? session.run({ steps, signal, ignoreBreakpoints: true }) : undefined;
    });
  }

  private save(): void {
    this.page.save("program.facet.json", writeFile(this.project()));
  }

  /* ---- the machine ---- */

  /** One thing after the other; what fails is told. */
  private act(what: () => Promise<void>): Promise<void> {
    this.waiting++;
    this.body.setAttribute("aria-busy", "true");
    this.queue = this.queue
      .then(what)
      .catch((error: unknown) => this.fail(error))
      .finally(() => {
        this.waiting--;
        this.body.setAttribute("aria-busy", String(this.waiting > 0));
      });
    return this.queue;
  }

  fail(error: unknown): void {
    const one = error as EngineError;
    if (one instanceof SourceErrors) {
      this.editor.complain(one.errors);
      this.page.say("error", one.message);
    } else if (one.status === "lost") {
      this.session = undefined;
      this.state_ = this.before = this.list = undefined;
      void this.showAll();
      this.page.say("news", "The machine is gone; Run or Step makes it anew.");
    } else if (one.status !== "cancelled") {
      this.page.say("error", one.message);
    }
  }

  /** What a machine is made of, to see whether it is another. */
  private get recipe(): string {
    return JSON.stringify([this.machine, this.elf === undefined ? this.editor.text : "", this.options.value, this.input.value]);
  }

  private get stale(): boolean {
    return this.session !== undefined && this.made !== this.recipe;
  }

  private async drop(): Promise<void> {
    const old = this.session;
    this.session = undefined;
    this.state_ = this.before = this.list = undefined;
    this.codeOf.clear();
    await old?.close().catch(() => undefined);
    await this.showAll();
  }

  /** The machine of the text, made when there is none or the text is another. */
  private async start(): Promise<Session> {
    if (this.session !== undefined && !this.stale) {
      return this.session;
    }
    await this.drop();
    const { machines } = this.page.engine;
    const kind = this.machine;
    const recipe = this.recipe;
    const options = readOptions(this.options.value);
    this.session =
      kind === "list"
        ? await machines.list(this.editor.text, { options, files: this.files })
        : await machines.program({ kind, source: this.elf ?? this.editor.text, options, input: this.input.value, files: this.files });
    this.made = recipe;
    this.used = options;
    this.editor.complain([]);
    this.core = 0;
    await this.sendBreakpoints();
    await this.look();
    await this.sendWatchpoints();
    return this.session;
  }

  private async sendWatchpoints(): Promise<void> {
    const session = this.session;
    if (session !== undefined && !this.stale) {
      await session.watchpoints(this.watches.watchpoints.map((one) => resolve(session.desc, one)));
    }
  }

  private async sendBreakpoints(): Promise<void> {
    const session = this.session;
    if (session === undefined || this.stale) {
      return;
    }
    const addresses: bigint[] = [];
    const places = session.desc.lines
      .map((one) => ({ line: this.lineOf(session, one.file, one.line), address: BigInt(one.address) }))
      .sort((a, b) => a.line - b.line || (a.address < b.address ? -1 : 1));
    for (const line of this.editor.breakpoints) {
      /* The first instruction of the line; a line without one stops at the next that has some. */
      const there = places.find((one) => one.line >= line);
      if (there !== undefined) {
        addresses.push(there.address);
      }
    }
    await session.breakpoints([...new Set(addresses)]);
  }

  /** The line of the editor: kernels of a list stand in the strings of its "code". */
  private lineOf(session: Session, file: string, line: number): number {
    if (!session.isList) {
      return line;
    }
    const buffer = /^buffers\.(.*)\.code$/.exec(file)?.[1];
    if (buffer === undefined || line === 0) {
      return 0;
    }
    let lines = this.codeOf.get(buffer);
    if (lines === undefined) {
      lines = codeLines(this.editor.text, buffer);
      this.codeOf.set(buffer, lines);
    }
    return lines[line - 1] ?? 0;
  }

  private lineAt(session: Session, pc: bigint): number {
    const rows = session.desc.lines;
    let low = 0;
    let high = rows.length;
    while (low < high) { /* rows by rising address */
      const middle = (low + high) >> 1;
      if (BigInt(rows[middle]?.address ?? 0) <= pc) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const row = rows[low - 1];
    return row === undefined ? 0 : this.lineOf(session, row.file, row.line);
  }

  private run(): void {
    if (this.running !== undefined) {
      this.running.abort();
      return;
    }
    this.go(async (session, signal) => {
      if (session.isList) {
        return this.runList(session, signal);
      }
      return session.run({ signal, progress: (steps) => this.tell(`runs: ${steps.toLocaleString("en")} steps`) });
    });
  }

  /** Something that may take long: the button pauses it. */
  private go(what: (session: Session, signal: AbortSignal) => Promise<Stop | undefined>): void {
    const running = new AbortController();
    this.running = running;
    this.runButton.textContent = "Pause";
    this.act(async () => {
      try {
        const session = await this.start();
        this.tell("runs…");
        const stop = await what(session, running.signal);
        if (stop !== undefined && stop.core >= 0 && ["breakpoint", "watchpoint", "fault"].includes(stop.reason)) {
          this.core = stop.core;
        }
        if (stop?.wantsInput === true) {
          this.left.choose("console");
        }
      } finally {
        this.running = undefined;
        this.wanted = undefined;
        this.runButton.textContent = "Run";
        await this.look();
      }
    });
  }

  /** With breakpoints the list runs as a machine does; without, command by command to its end. */
  private async runList(session: Session, signal: AbortSignal): Promise<Stop | undefined> {
    if (this.editor.breakpoints.length + this.watches.watchpoints.length > 0) {
      return session.run({ signal });
    }
    await session.listGoto(MOST_COMMANDS, { signal, progress: (done, total) => this.tell(`runs: ${done} of ${total} commands`) });
    return undefined;
  }

  private step(core?: number): void {
    this.move(async (session) => {
      const stop = await session.run({ steps: 1, ...(core === undefined ? {} : { core }), ignoreBreakpoints: true });
      if (core === undefined && this.state_ !== undefined && this.state_.nextCore >= 0 && stop.reason !== "exit") {
        this.core = this.state_.nextCore; /* that made the step */
      }
    });
  }

  private back(core?: number): void {
    this.move(async (session) => {
      await session.back(core);
    });
  }

  private reverse(): void {
    this.move(async (session) => {
      const stop = await session.reverse();
      this.core = stop.core >= 0 ? stop.core : this.core;
    });
  }

  private restart(): void {
    if (this.stale || this.session === undefined) {
      this.act(async () => {
        await this.drop();
        await this.start();
      });
    } else {
      this.travel(0);
    }
  }

  travel(steps: number): void {
    this.move(async (session) => {
      await session.goto(steps);
    });
  }

  /** The slider may ask for more than can be shown: the last wish counts. */
  private toCommand(count: number): void {
    const seeking = this.wanted !== undefined;
    this.wanted = count;
    if (seeking || this.running !== undefined) {
      return;
    }
    this.go(async (session, signal) => {
      let done: number | undefined;
      while (this.wanted !== done && this.wanted !== undefined) {
        done = this.wanted;
        await session.listGoto(Math.min(done, MOST_COMMANDS), { signal, progress: (some, total) => this.tell(`runs: ${some} of ${total} commands`) });
      }
      return undefined;
    });
  }

  private move(what: (session: Session) => Promise<void>): void {
    if (this.running === undefined) {
      this.act(async () => {
        const session = await this.start();
        await what(session);
        await this.look();
      });
    }
  }

  async long<T>(text: string, work: (options: CallOptions) => Promise<T>): Promise<T | undefined> {
    const cancel = new AbortController();
    const bar = this.page.work(text, () => cancel.abort());
    try {
      return await work({ signal: cancel.signal, progress: (done, total) => bar.progress(done / total) });
    } catch (error) {
      if ((error as EngineError).status === "cancelled") {
        return undefined;
      }
      throw error;
    } finally {
      bar.done();
    }
  }

  refresh(): void {
    this.act(() => this.look());
  }

  goTo(line: number): void {
    this.editor.goTo(line);
  }

  private pixel(x: number, y: number): void {
    if (this.session?.isList === true) {
      this.history.ask(x, y);
      this.right.choose("history");
    }
  }

  /* ---- showing ---- */

  private async look(): Promise<void> {
    const session = this.session;
    if (session === undefined) {
      return;
    }
    const state = await session.state();
    if (this.state_ === undefined || this.state_.steps !== state.steps) {
      this.before = this.state_;
    }
    this.state_ = state;
    this.list = session.isList ? await session.listState() : undefined;
    this.core = Math.min(this.core, state.cores.length - 1);
    await this.showAll();
  }

  private async showAll(): Promise<void> {
    const { session, state_: state } = this;
    const look: Look | undefined = session === undefined || state === undefined ? undefined : { session, state, before: this.before, core: this.core, options: this.used, lineAt: (pc) => this.lineAt(session, BigInt(pc)) };
    this.commands.show(this.list);
    this.tell();
    this.showCores();
    const standing = state?.stop.reason === "exit" ? [] : (state?.cores ?? []); /* behind its end a program is nowhere */
    const marks: Mark[] = standing.map((core, i) => ({ line: session === undefined ? 0 : this.lineOf(session, core.file, core.line), current: i === this.core, title: `${session?.desc.cores[i] ?? ""}: ${core.text}` }));
    this.editor.stand(marks, true);
    await Promise.all([this.left.show(look), this.right.show(look)]);
  }

  private tell(text?: string): void {
    const state = this.state_;
    const parts: (Node | string)[] = [];
    if (text !== undefined) {
      parts.push(text);
    } else if (state === undefined) {
      parts.push("Not started: Step or Run makes the machine.");
    } else {
      const ended = state.stop.reason === "exit" || state.stop.reason === "fault";
      parts.push(
        el("strong", { class: `reason ${state.stop.reason}` }, this.list?.over === true ? "done" : ended || state.stop.reason === "breakpoint" || state.stop.reason === "watchpoint" ? state.stop.reason : "stopped"),
        ` ${this.where(state)} `,
        el("span", { class: "quiet mono" }, `${state.steps.toLocaleString("en")} step${state.steps === 1 ? "" : "s"}`),
      );
    }
    if (this.stale) {
      parts.push(el("span", { class: "stale" }, " The text was edited: the next step starts anew."));
    }
    put(this.status, ...parts);
  }

  private where(state: MachineState): string {
    const seen = state.stop.watch;
    const watched = seen === undefined ? undefined : this.watches.watchpoints[seen.index];
    if (seen !== undefined && watched !== undefined) {
      const core = this.session?.desc.cores[state.stop.core] ?? "";
      return `${describe(watched, this.session?.desc)}: ${hex(BigInt(seen.before))} → ${hex(BigInt(seen.after))} by ${core} in ${seen.line > 0 ? `line ${seen.line}` : seen.pc}; ${state.stop.explanation.replace(/^watchpoint, /, "")}`;
    }
    const core = state.cores[this.core];
    if (this.list === undefined && state.stop.reason === "budget" && core !== undefined) {
      /* The one that is looked at, whoever comes next. */
      return `${this.session?.desc.cores[this.core] ?? ""} at ${core.pc} <${core.symbol}>${core.line > 0 ? ` line ${core.line}` : ""}: ${core.text}`;
    }
    if (this.list === undefined) {
      return state.stop.explanation;
    }
    const place = state.stop.reason === "breakpoint" || state.stop.reason === "trap" ? `, ${state.stop.explanation}` : "";
    return `after ${this.list.done} of ${this.list.commands.length} commands${place}`;
  }

  private showCores(): void {
    const state = this.state_;
    for (const one of this.body.querySelectorAll<HTMLElement>(".step-core-button")) {
      one.hidden = state === undefined ? this.machine === "hart" : state.cores.length < 2;
    }
    if (state === undefined || state.cores.length < 2) {
      put(this.cores);
      return;
    }
    put(
      this.cores,
      ...state.cores.map((core, i) =>
        button(
          `${this.session?.desc.cores[i] ?? i}${core.fault !== undefined && core.fault !== 0 ? " ⚠" : ""}`,
          () => {
            this.core = i;
            this.before = undefined;
            void this.showAll();
          },
          {
            "aria-pressed": String(i === this.core),
            class: i === state.nextCore ? "next-core" : "",
            title: `${core.symbol || core.pc}: ${core.text}${i === state.nextCore ? "\nmakes the next step" : ""}${core.faultName === undefined || core.faultName === "" ? "" : `\n${core.faultName}`}`,
          },
        ),
      ),
    );
  }

  private key(event: KeyboardEvent): void {
    const name = `${event.ctrlKey ? "Control+" : ""}${event.shiftKey ? "Shift+" : ""}${event.key}`;
    const run: Record<string, () => void> = {
      F8: () => this.run(),
      F10: () => this.step(),
      F11: () => this.step(this.core),
      "Shift+F10": () => this.back(),
      "Shift+F11": () => this.back(this.core),
      "Shift+F8": () => this.reverse(),
      "Control+F8": () => this.restart(),
    };
    const found = run[name];
    if (found !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      found();
    }
  }
}

export const programsView: View = {
  id: "programs",
  title: "Programs",
  summary: "Write, run and step programs of the hart and kernels of the tile GPU, forwards and backwards; command lists with the picture after every command.",
  gathers: isList,
  accepts(file) {
    if (file.made !== undefined && file.made.kind !== "file") {
      return 0;
    }
    if (elfKind(file.bytes) !== undefined || /\.(s|asm)$/i.test(file.name)) {
      return 1;
    }
    const begin = new TextDecoder().decode(file.bytes.subarray(0, 4096));
    if (/"facet-program"\s*:/.test(begin)) {
      return 1;
    }
    return isList(file) ? 0.9 : 0;
  },
  examples: EXAMPLES.map((one) => ({ title: one.title, state: one.project })),
  mount: (host, page) => new Programs(host, page),
};
