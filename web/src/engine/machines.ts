/* Machines of the page: programs of the hart, kernels and command lists of the tile GPU, with their past. The C code is
 * wasm/page_open.c, page_run.c, page_look.c and page_list.c; nothing here knows what an instruction does.
 *
 * Numbers of registers, addresses and memory are bigint or "0x..." text; steps fit a number. */

import type { GivenFile } from "./beside.ts";
export type { GivenFile } from "./beside.ts";
import type { CallOptions, CsrField } from "./types.ts";

export interface RegDesc {
  name: string;
  alias: string | null;
  group: string;
  width: number;
  type: "integer" | "float" | "vector" | "code" | "flags";
  readOnly: boolean;
}

export interface CsrDesc {
  name: string;
  number: number;
  width: number;
  fields: { name: string; hi: number; lo: number; access: CsrField["access"]; meaning: string | null }[];
}

export interface Region {
  name: string;
  base: string;
  size: string;
  writable: boolean;
  device: boolean;
}

/** What does not change while a machine lives. All cores have the same registers. */
export interface MachineDesc {
  kind: "xphmg" | "tile";
  cores: string[];
  pc: number; /* index of the program counter in regs */
  regs: RegDesc[];
  csrs: CsrDesc[];
  spaces: { name: string; regions: Region[] }[];
  symbols: { name: string; address: string }[];
  lines: { address: string; line: number; file: string }[];
  args: { name: string; value: string }[];
}

export type StopReason = "budget" | "breakpoint" | "watchpoint" | "trap" | "exit" | "fault" | "idle" | "request" | "memory";

export interface Stop {
  reason: StopReason;
  core: number; /* -1: none */
  pc: string;
  code: string; /* exit code, cause of a trap or fault */
  address: string;
  steps: number; /* since the beginning */
  wantsInput: boolean;
  explanation: string; /* a sentence: what happened and where */
  watch?: { index: number; before: string; after: string; pc: string; line: number }; /* of those that were set; at most 64 bits of memory */
}

export interface CoreState {
  pc: string;
  line: number; /* of the source; 0: none */
  file: string; /* of the line; in a command list "buffers.NAME.code" */
  symbol: string;
  text: string; /* the instruction at pc */
  retired: number;
  regs: string[]; /* in the order of MachineDesc.regs */
  csrs: string[];
  /* Of the tile machine: */
  tiles?: number;
  fault?: number;
  faultName?: string;
  faultPc?: string;
  faultAddress?: string;
}

export interface MachineState {
  steps: number;
  first: number; /* the earliest step that can be gone back to */
  nextCore: number; /* -1: none */
  printed: number;
  stop: Stop;
  cores: CoreState[];
  work: { core: number; unit: string; id: string; address: string; left: number }[];
}

export interface ListingLine {
  address: string;
  size: number;
  word: string;
  code: boolean;
  label: string | null;
  text: string;
  line: number;
}

export interface StepLine {
  step: number;
  core: number;
  pc?: string; /* neither for a step of the queue alone */
  line?: number;
  changes: string[];
}

export interface Profile {
  rows: { core: number; pc: string; line: number; retired: number; active: number; lanes: number }[];
  memory: { class: string; bytes: number; accesses: number }[];
}

/** The text of `--timing`, and the cycles of each instruction, all cores together. */
export interface Timing {
  text: string;
  rows: { pc: string; line: number; cycles: number }[];
}

export interface MistakePlace {
  pc: string;
  symbol: string;
  line: number;
  core: number;
  instruction: string;
}

/** What `--lint` or `--check-order` names. */
export interface Mistake extends MistakePlace {
  rule: string;
  requirement: string; /* rows of the contract, parted by blanks */
  text: string;
  detail: string;
  count: number;
  other?: MistakePlace;
}

export interface Frame {
  width: number;
  height: number;
  rgba: Uint8ClampedArray<ArrayBuffer>; /* sRGB */
}

/** `facet_explain_core`: the instruction, what it reads and who wrote it. */
export interface Why {
  pc: string;
  symbol?: string;
  offset?: number;
  file?: string;
  line?: number;
  instruction?: string;
  registers?: Record<string, unknown>[];
  status_words?: Record<string, unknown>[];
  [key: string]: unknown;
}

export interface Command {
  index: number;
  name: string;
  kind: "command" | "signal" | "doorbell" | "register";
  after: number; /* steps of the machine when it was complete; -1: it is not */
  status?: number;
  statusName?: string;
}

export interface ListState {
  done: number; /* commands that are complete now */
  over: boolean;
  reached: number; /* commands that were complete once: their pictures can be seen */
  width: number;
  height: number;
  commands: Command[];
}

/** What one command did to a pixel. */
export interface PixelEntry {
  command: string;
  kind: "draw" | "store" | "write";
  writes: boolean;
  before: string;
  after: string;
  over?: number; /* the entry that wrote over it */
  overwritten?: boolean;
  place?: string; /* of the instruction */
  facts?: { fate: string; triangle?: number; miss?: { bits: string; value: number | string }; [key: string]: unknown }[];
  [key: string]: unknown;
}

/** `facet tile why X,Y LIST --json`. */
export interface PixelRecord {
  pixel: [number, number];
  format: string;
  address: string;
  value: string;
  history: PixelEntry[];
  made_by: number; /* -1: nothing */
  elsewhere: number;
  dropped: number;
}

export interface SourceError {
  line: number;
  column: number;
  length: number;
  message: string;
  hint: string;
}

/** A text that does not assemble. */
export class SourceErrors extends Error {
  constructor(readonly errors: SourceError[]) {
    super(errors[0] === undefined ? "the text has errors" : `line ${errors[0].line}: ${errors[0].message}${errors[0].hint === "" ? "" : `; ${errors[0].hint}`}`);
    this.name = "SourceErrors";
  }
}

export interface ListConfig {
  options?: readonly [name: string, value: string][]; /* those of `facet run`, `tile run` and `tile draw`, without dashes */
  files?: readonly GivenFile[]; /* that its text or its options may name */
}

export interface ProgramConfig extends ListConfig {
  kind: "hart" | "tile";
  source: string | Uint8Array; /* assembly text, or an ELF file */
  input?: string; /* of the console */
}

/** A range of memory, or a register, CSR or CSR.FIELD that changes. */
export type Watch =
  | { readonly space: number; readonly address: bigint; readonly size: number; readonly read: boolean; readonly write: boolean }
  | { readonly core: number; readonly name: string };

export interface RunOptions extends CallOptions {
  steps?: number; /* at most; with a core: of its own */
  core?: number;
  ignoreBreakpoints?: boolean;
}

/** How the worker is asked; `generation` counts workers, for a machine lives in one of them. */
export interface Asks {
  readonly generation: number;
  call(name: string, args: unknown[], options?: CallOptions): Promise<unknown>;
}

const NO_CORE = 0xffffffff;

const optionLines = (options: ListConfig["options"] = []): string => options.map(([name, value]) => `${name}=${value}\n`).join("");
const plainFiles = (files: readonly GivenFile[] = []): GivenFile[] => files.map(({ name, bytes }) => ({ name, bytes }));

export class Session {
  private constructor(
    private readonly link: Asks,
    private readonly generation: number,
    private readonly id: number,
    readonly desc: MachineDesc,
    readonly isList: boolean,
  ) {}

  static async program(link: Asks, config: ProgramConfig): Promise<Session> {
    const source = typeof config.source === "string" ? new TextEncoder().encode(config.source) : config.source;
    const made = (await link.call("session.open", [{
      kind: config.kind,
      source,
      options: optionLines(config.options),
      input: new TextEncoder().encode(config.input ?? ""),
      files: plainFiles(config.files),
    }])) as { session?: number; diagnostics?: SourceError[] };
    if (made.session === undefined) {
      throw new SourceErrors(made.diagnostics ?? []);
    }
    return Session.of(link, made.session, false);
  }

  static async list(link: Asks, text: string, more: ListConfig): Promise<Session> {
    const made = (await link.call("list.open", [{
      text: new TextEncoder().encode(text),
      options: optionLines(more.options),
      files: plainFiles(more.files),
    }])) as { session: number };
    return Session.of(link, made.session, true);
  }

  private static async of(link: Asks, id: number, isList: boolean): Promise<Session> {
    return new Session(link, link.generation, id, (await link.call("session.describe", [{ id }])) as MachineDesc, isList);
  }

  private one<T>(name: string, args: object = {}, options?: CallOptions): Promise<T> {
    if (this.generation !== this.link.generation) {
      return Promise.reject(Object.assign(new Error("the machine is gone with its worker"), { name: "EngineError", status: "lost", where: 0n }));
    }
    return this.link.call(name, [{ id: this.id, ...args }], options) as Promise<T>;
  }

  state(): Promise<MachineState> {
    return this.one("session.state");
  }

  /** Runs until something stops it; `signal` leaves it where it is then. */
  run(options: RunOptions = {}): Promise<Stop> {
    const { steps, core, ignoreBreakpoints, ...call } = options;
    return this.one("session.run", { budget: steps ?? -1, core: core ?? NO_CORE, over: ignoreBreakpoints === true ? 1 : 0 }, call);
  }

  /** To the state after so many steps of those that were made. */
  goto(steps: number): Promise<Stop> {
    return this.one("session.goto", { steps });
  }

  /** Before the last step, or before the last one of a core. */
  back(core?: number): Promise<Stop> {
    return this.one("session.back", { core: core ?? NO_CORE });
  }

  /** To the last breakpoint or watchpoint before this place, else to the beginning. */
  reverse(): Promise<Stop> {
    return this.one("session.reverse");
  }

  breakpoints(addresses: readonly bigint[]): Promise<void> {
    const bytes = new BigUint64Array(addresses);
    return this.one("session.breaks", { addresses: new Uint8Array(bytes.buffer) });
  }

  watchpoints(watches: readonly Watch[]): Promise<void> {
    const lines = watches.map((one) =>
      "name" in one ? `register ${one.core} ${one.name}\n` : `memory ${one.space} ${one.address} ${one.size} ${one.read ? "r" : ""}${one.write ? "w" : ""}\n`,
    );
    return this.one("session.watches", { text: lines.join("") });
  }

  /** A register, a CSR, or CSR.FIELD. */
  set(core: number, name: string, value: bigint): Promise<void> {
    return this.one("session.set", { core, name, value });
  }

  write(space: number, address: bigint, bytes: Uint8Array): Promise<void> {
    return this.one("session.poke", { space, address, bytes });
  }

  /** As many bytes as there are from the address on; of the tile machine as a core sees them. */
  read(space: number, address: bigint, size: number, core?: number): Promise<Uint8Array> {
    return this.one("session.memory", { space, address, size, core: core ?? NO_CORE });
  }

  async console(): Promise<string> {
    return new TextDecoder().decode(await this.one<Uint8Array>("session.console"));
  }

  input(text: string, end: boolean): Promise<void> {
    return this.one("session.input", { bytes: new TextEncoder().encode(text), end: end ? 1 : 0 });
  }

  /** Null while nothing is shown. */
  async frame(): Promise<Frame | null> {
    const bytes = await this.one<Uint8Array>("session.frame");
    if (bytes.length < 8) {
      return null;
    }
    const head = new DataView(bytes.buffer, bytes.byteOffset, 8);
    return { width: head.getUint32(0, true), height: head.getUint32(4, true), rgba: new Uint8ClampedArray(bytes.slice(8)) };
  }

  /** Registers of a group as numbers of a format, lane by lane. */
  async lanes(core: number, group: string, format: string): Promise<{ name: string; lanes: string[] }[]> {
    return (await this.one<{ regs: { name: string; lanes: string[] }[] }>("session.lanes", { core, group, format })).regs;
  }

  listing(most = 20000): Promise<{ lines: ListingLine[]; more: boolean }> {
    return this.one("session.listing", { most });
  }

  profile(): Promise<Profile> {
    return this.one("session.profile");
  }

  /** What --timing says of the steps that were made; the machine needs that option. */
  timing(options?: CallOptions): Promise<Timing> {
    return this.one("session.timing", {}, options);
  }

  /** What --check-order and --lint find in them. */
  async findings(options?: CallOptions): Promise<Mistake[]> {
    return (await this.one<{ findings: Mistake[] }>("session.findings", {}, options)).findings;
  }

  why(core: number): Promise<Why> {
    return this.one("session.why", { core });
  }

  /** Steps that were made, with what each changed. */
  async steps(from: number, count: number): Promise<StepLine[]> {
    return (await this.one<{ steps: StepLine[] }>("session.steps", { from, count })).steps;
  }

  listState(): Promise<ListState> {
    return this.one("list.state");
  }

  /** To the state after so many commands, forwards or back. */
  listGoto(count: number, options?: CallOptions): Promise<ListState> {
    return this.one("list.goto", { count }, options);
  }

  /** What the commands up to here did to a pixel of the frame: the list is played again. */
  pixel(x: number, y: number): Promise<PixelRecord> {
    return this.one("list.pixel", { x, y });
  }

  async close(): Promise<void> {
    await this.one("session.close");
  }
}

export interface MachineApi {
  program(config: ProgramConfig): Promise<Session>;
  list(text: string, more?: ListConfig): Promise<Session>;
}

export function machineApi(link: Asks): MachineApi {
  return { program: (config) => Session.program(link, config), list: (text, more = {}) => Session.list(link, text, more) };
}
