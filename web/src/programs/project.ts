/* What the view works on, as a link carries it: a program, how it is run, where it stops, and for an exercise what must come out. A
 * link may come from anyone, so everything in it is looked at. */

import { count, fail, object, only, readBig, readExercise, text, type Exercise as Task } from "../exercise/format.ts";
import type { GivenFile } from "../engine/machines.ts";
import { fromBase64 } from "../shell/data.ts";

export type Kind = "hart" | "tile" | "list";

/** What must be true when the program has ended. */
export type Check =
  | { what: "exit"; equals: string; text?: string }
  | { what: "register"; core: number; name: string; equals: string; text?: string }
  | { what: "memory"; at: string; bytes: string; text?: string }
  | { what: "console"; equals: string; text?: string }
  | { what: "pixel"; x: number; y: number; equals: string; text?: string }
  | { what: "steps"; most: number; text?: string }
  /* All other checks, in so many other legal orders of the cores. */
  | { what: "schedules"; count: number; text?: string };

export type Exercise = Task<Check>;

/** Where a run stops besides: memory by an address, a symbol or an argument (with +N), or what is named "change": a register, CSR or
 * CSR.FIELD. */
export interface Watchpoint {
  on: "write" | "read" | "access" | "change";
  what: string;
  size: number; /* bytes of memory */
  space: number;
  core: number; /* of a register */
}

export interface ProjectFile {
  name: string;
  data: string; /* base64 */
}

export interface Project {
  kind: Kind;
  source: string;
  options: string;
  input: string;
  breakpoints: number[]; /* lines */
  watchpoints?: Watchpoint[];
  files?: ProjectFile[]; /* that a list names */
  exercise?: Exercise;
}

export const EMPTY: Project = { kind: "hart", source: "", options: "", input: "", breakpoints: [] };

export const MOST_WATCHPOINTS = 32; /* of a session */
const MOST_SCHEDULES = 64;

function readCheck(value: unknown, where: string): Check {
  const from = object(value, where);
  const says = from["text"] === undefined ? {} : { text: text(from, "text", where) };
  switch (from["what"]) {
    case "exit":
      only(from, ["what", "equals", "text"], where);
      return { what: "exit", equals: String(readBig(text(from, "equals", where), `${where}.equals`)), ...says };
    case "register":
      only(from, ["what", "core", "name", "equals", "text"], where);
      readBig(text(from, "equals", where), `${where}.equals`);
      return { what: "register", core: count(from, "core", where, 0), name: text(from, "name", where), equals: text(from, "equals", where), ...says };
    case "memory": {
      only(from, ["what", "at", "bytes", "text"], where);
      const bytes = text(from, "bytes", where);
      if (!/^([0-9a-fA-F]{2})+$/.test(bytes.replaceAll(/\s/g, ""))) {
        fail(`${where}.bytes`, "pairs of hexadecimal digits");
      }
      return { what: "memory", at: text(from, "at", where), bytes, ...says };
    }
    case "console":
      only(from, ["what", "equals", "text"], where);
      return { what: "console", equals: text(from, "equals", where), ...says };
    case "pixel": {
      only(from, ["what", "x", "y", "equals", "text"], where);
      const colour = text(from, "equals", where);
      if (!/^#[0-9a-fA-F]{6}$/.test(colour)) {
        fail(`${where}.equals`, "a colour such as #ff8000");
      }
      return { what: "pixel", x: count(from, "x", where), y: count(from, "y", where), equals: colour.toLowerCase(), ...says };
    }
    case "steps":
      only(from, ["what", "most", "text"], where);
      return { what: "steps", most: count(from, "most", where), ...says };
    case "schedules":
      only(from, ["what", "count", "text"], where);
      return { what: "schedules", count: Math.min(count(from, "count", where), MOST_SCHEDULES), ...says };
    default:
      return fail(`${where}.what`, "exit, register, memory, console, pixel, steps or schedules");
  }
}

function readWatchpoints(value: unknown): Watchpoint[] {
  if (!Array.isArray(value) || value.length > MOST_WATCHPOINTS) {
    fail("program.watchpoints", `a list of at most ${MOST_WATCHPOINTS}`);
  }
  return value.map((one: unknown, i) => {
    const where = `program.watchpoints[${i}]`;
    const from = object(one, where);
    only(from, ["on", "what", "size", "space", "core"], where);
    const on = from["on"];
    if (on !== "write" && on !== "read" && on !== "access" && on !== "change") {
      fail(`${where}.on`, "write, read, access or change");
    }
    return { on, what: text(from, "what", where), size: count(from, "size", where, 4), space: count(from, "space", where, 0), core: count(from, "core", where, 0) };
  });
}

function readFiles(value: unknown): ProjectFile[] {
  if (!Array.isArray(value)) {
    fail("program.files", "a list of files");
  }
  return value.map((one: unknown, i) => {
    const where = `program.files[${i}]`;
    const from = object(one, where);
    only(from, ["name", "data"], where);
    const data = text(from, "data", where);
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(data) || data.length % 4 !== 0) {
      fail(`${where}.data`, "base64");
    }
    return { name: text(from, "name", where), data };
  });
}

/** Anything at all as a project, or an Error that says what is wrong with it. */
export function readProject(value: unknown): Project {
  const from = object(value, "the program of the link");
  only(from, ["kind", "source", "options", "input", "breakpoints", "watchpoints", "files", "exercise"], "program");
  const kind = from["kind"];
  if (kind !== "hart" && kind !== "tile" && kind !== "list") {
    fail("program.kind", "hart, tile or list");
  }
  const breakpoints = from["breakpoints"] ?? [];
  if (!Array.isArray(breakpoints) || !breakpoints.every((line) => Number.isSafeInteger(line) && line > 0)) {
    fail("program.breakpoints", "a list of line numbers");
  }
  return {
    kind,
    source: text(from, "source", "program"),
    options: text(from, "options", "program", ""),
    input: text(from, "input", "program", ""),
    breakpoints: breakpoints as number[],
    ...(from["watchpoints"] === undefined ? {} : { watchpoints: readWatchpoints(from["watchpoints"]) }),
    ...(from["files"] === undefined ? {} : { files: readFiles(from["files"]) }),
    ...(from["exercise"] === undefined ? {} : { exercise: readExercise(from["exercise"], readCheck) }),
  };
}

export const filesOf = (project: Project): GivenFile[] => (project.files ?? []).map(({ name, data }) => ({ name, bytes: fromBase64(data) }));

/** A project as a file, which the page and `facet view` open again. */
export function writeFile(project: Project): string {
  return `${JSON.stringify({ "facet-program": 1, ...project }, null, 2)}\n`;
}

/** The project in such a file; undefined for another kind of JSON. Throws an Error for one that is damaged. */
export function readFile(content: string): Project | undefined {
  const value = JSON.parse(content) as unknown;
  if (typeof value !== "object" || value === null || !("facet-program" in value)) {
    return undefined;
  }
  const { "facet-program": version, ...project } = value;
  if (version !== 1) {
    fail("facet-program", "1");
  }
  return readProject(project);
}
