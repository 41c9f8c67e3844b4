/* Grading: the program runs from its beginning, without breakpoints, and each check looks at what is there at the end. The checks know
 * nothing of machines beyond what the session offers. */

import type { CallOptions } from "../engine/types.ts";
import type { MachineApi, MachineState, Session } from "../engine/machines.ts";
import { readOptions, type Option } from "./options.ts";
import { readBig, type Grade } from "../exercise/format.ts";
import { filesOf, type Check, type Project } from "./project.ts";

/** A program of an exercise that is still running then has gone astray. */
const MOST_STEPS = 200_000_000;

/** What a check asks for, in words. */
export function describeCheck(check: Check): string {
  if (check.text !== undefined) {
    return check.text;
  }
  switch (check.what) {
    case "exit":
      return `ends with exit code ${check.equals}`;
    case "register":
      return `${check.name}${check.core > 0 ? ` of core ${check.core}` : ""} is ${check.equals}`;
    case "memory":
      return `memory at ${check.at} holds ${check.bytes}`;
    case "console":
      return `prints ${JSON.stringify(check.equals)}`;
    case "pixel":
      return `pixel ${check.x},${check.y} is ${check.equals}`;
    case "steps":
      return `takes at most ${check.most} steps`;
    case "schedules":
      return `all of this in ${check.count} other orders of the cores, too`;
  }
}

function openSession(machines: MachineApi, project: Project, more: Option[]): Promise<Session> {
  const options = [...readOptions(project.options), ...more];
  const files = filesOf(project);
  return project.kind === "list" ? machines.list(project.source, { options, files }) : machines.program({ kind: project.kind, source: project.source, options, input: project.input, files });
}

/** Runs to the end, and gives input its end when the program asks for more. */
async function finish(session: Session, project: Project, options: CallOptions): Promise<MachineState> {
  let stop = await session.run({ ...options, steps: MOST_STEPS, ignoreBreakpoints: true });
  if (stop.wantsInput && project.kind === "hart") {
    await session.input("", true);
    stop = await session.run({ ...options, steps: MOST_STEPS, ignoreBreakpoints: true });
  }
  return session.state();
}

/** A register by name or alias, a CSR, or CSR.FIELD. */
function valueOf(session: Session, state: MachineState, core: number, name: string): { value: bigint; width: number } | undefined {
  const wanted = name.toLowerCase();
  const values = state.cores[core];
  if (values === undefined) {
    return undefined;
  }
  const reg = session.desc.regs.findIndex((one) => one.name.toLowerCase() === wanted || one.alias?.toLowerCase() === wanted);
  if (reg >= 0) {
    return { value: BigInt(values.regs[reg] ?? "0"), width: session.desc.regs[reg]?.width ?? 64 };
  }
  for (const [i, csr] of session.desc.csrs.entries()) {
    const whole = BigInt(values.csrs[i] ?? "0");
    if (csr.name.toLowerCase() === wanted) {
      return { value: whole, width: csr.width };
    }
    const field = csr.fields.find((one) => `${csr.name}.${one.name}`.toLowerCase() === wanted);
    if (field !== undefined) {
      const width = field.hi - field.lo + 1;
      return { value: BigInt.asUintN(width, whole >> BigInt(field.lo)), width };
    }
  }
  return undefined;
}

/** The address that a check names: a number, a symbol or an argument of the kernel, with +N behind it. */
function addressOf(session: Session, at: string): bigint | undefined {
  const [name = "", offset = "0"] = at.split("+").map((part) => part.trim());
  const symbol = session.desc.symbols.find((one) => one.name === name)?.address ?? session.desc.args.find((one) => one.name === name)?.value;
  try {
    return (symbol !== undefined ? BigInt(symbol) : readBig(name, at)) + readBig(offset, at);
  } catch {
    return undefined;
  }
}

const hexBytes = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

async function look(session: Session, state: MachineState, check: Check): Promise<{ passed: boolean; found: string }> {
  switch (check.what) {
    case "exit": {
      const code = state.stop.reason === "exit" ? BigInt(state.stop.code) : undefined;
      return { passed: code === BigInt(check.equals), found: code?.toString() ?? state.stop.explanation };
    }
    case "register": {
      const there = valueOf(session, state, check.core, check.name);
      if (there === undefined) {
        return { passed: false, found: `there is no ${check.name} of core ${check.core}` };
      }
      const wanted = BigInt.asUintN(there.width, readBig(check.equals, check.name));
      return { passed: there.value === wanted, found: `0x${there.value.toString(16)} (${BigInt.asIntN(there.width, there.value)})` };
    }
    case "memory": {
      const wanted = check.bytes.replaceAll(/\s/g, "").toLowerCase();
      const address = addressOf(session, check.at);
      if (address === undefined) {
        return { passed: false, found: `the program has no ${check.at}` };
      }
      const found = hexBytes(await session.read(0, address, wanted.length / 2));
      return { passed: found === wanted, found: found === "" ? "no memory there" : found };
    }
    case "console": {
      const found = await session.console();
      return { passed: found === check.equals, found: JSON.stringify(found) };
    }
    case "pixel": {
      const frame = await session.frame();
      if (frame === null || check.x >= frame.width || check.y >= frame.height) {
        return { passed: false, found: "no such pixel" };
      }
      const at = 4 * (check.y * frame.width + check.x);
      const found = `#${hexBytes(Uint8Array.from(frame.rgba.slice(at, at + 3)))}`;
      return { passed: found === check.equals, found };
    }
    case "steps":
      return { passed: state.stop.reason === "exit" && state.steps <= check.most, found: `${state.steps} steps` };
    case "schedules":
      return { passed: true, found: "" };
  }
}

async function once(machines: MachineApi, project: Project, more: Option[], options: CallOptions): Promise<Grade<Check>[]> {
  const session = await openSession(machines, project, more);
  try {
    const state = project.kind === "list" ? (await session.listGoto(1e9, options), await session.state()) : await finish(session, project, options);
    const grades: Grade<Check>[] = [];
    for (const check of project.exercise?.checks ?? []) {
      if (check.what !== "schedules") {
        grades.push({ check, ...(await look(session, state, check)) });
      }
    }
    return grades;
  } finally {
    await session.close().catch(() => undefined);
  }
}

/** Every check of the exercise, in its order. Throws what the session throws: a text that does not assemble, bad options. */
export async function grade(machines: MachineApi, project: Project, options: CallOptions = {}): Promise<Grade<Check>[]> {
  const first = await once(machines, project, [], options);
  const grades: Grade<Check>[] = [];
  for (const check of project.exercise?.checks ?? []) {
    if (check.what !== "schedules") {
      grades.push(first.find((one) => one.check === check) ?? { check, passed: false, found: "" });
      continue;
    }
    let wrong = "";
    for (let seed = 1; seed <= check.count && wrong === ""; seed++) {
      const bad = (await once(machines, project, [["schedule", String(seed)]], options)).find((one) => !one.passed);
      wrong = bad === undefined ? "" : `with --schedule ${seed}: ${describeCheck(bad.check)}; found ${bad.found}`;
      options.progress?.(seed, check.count);
    }
    grades.push({ check, passed: wrong === "" && first.every((one) => one.passed), found: wrong });
  }
  return grades;
}
