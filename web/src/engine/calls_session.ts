/* The worker's half of machines.ts: each call is one function of wasm/page_*.c, or a run of it in slices that a message can get
 * between. */

import { decodeAll, withFiles, type GivenFile } from "./beside.ts";
import type { Calls, Context } from "./calls.ts";
import type { Wasm } from "./wasm.ts";

/** Steps of the first slice, and what a slice should take. */
const FIRST_SLICE = 20_000;
const SLICE_MILLISECONDS = 30;
const MOST_SLICE = 50_000_000;

interface Args {
  id: number;
  [name: string]: unknown;
}

/** Every call of a session has one argument: its values by name. */
type SessionCall = (wasm: Wasm, args: unknown, context: Context) => unknown;

const given = (args: unknown): Args => args as Args;

/** Again when there are pictures that were not known: without them a list may make no sense. */
async function openList(wasm: Wasm, context: Context, text: Uint8Array, options: string): Promise<unknown> {
  let made: { session: number } | undefined;
  let failure: unknown;
  try {
    made = wasm.json("page_list_open", text, options);
  } catch (error) {
    failure = error;
  }
  if (!wasm.broken && (await decodeAll(wasm, context)) > 0) {
    if (made !== undefined) {
      wasm.bytes("page_session_close", made.session);
    }
    return openList(wasm, context, text, options);
  }
  if (made === undefined) {
    throw failure;
  }
  return made;
}

interface Progress {
  done: number;
  total: number;
}

/** The steps again, in slices: the machine is in its past meanwhile, so the session's other calls wait (below). */
async function check(wasm: Wasm, id: number, timing: 0 | 1, context: Context): Promise<unknown> {
  let slice = FIRST_SLICE;
  let now = wasm.json<Progress>("page_check_begin", id, timing);
  try {
    while (now.done < now.total) {
      const begin = performance.now();
      const before = now.done;
      now = wasm.json<Progress>("page_check_go", id, BigInt(slice));
      if (now.done === before) {
        break;
      }
      slice = nextSlice(slice, performance.now() - begin);
      context.progress(now.done, now.total);
      await context.pause();
    }
  } catch (error) {
    if (!wasm.broken) {
      wasm.bytes("page_check_end", id);
    }
    throw error;
  }
  return wasm.json("page_check_end", id);
}

/** The check of a session that is under way. */
const checks = new Map<number, Promise<unknown>>();

/** A call of a session when no check of it is under way; a check itself holds up others. */
async function inTurn(name: string, run: SessionCall, wasm: Wasm, args: unknown, context: Context): Promise<unknown> {
  const { id } = given(args);
  while (checks.has(id)) {
    await checks.get(id)?.catch(() => undefined);
  }
  const work = run(wasm, args, context);
  if (name !== "session.timing" && name !== "session.findings") {
    return work;
  }
  const held = Promise.resolve(work).finally(() => checks.delete(id));
  checks.set(id, held);
  return held;
}

const nextSlice = (slice: number, took: number): number => Math.min(MOST_SLICE, Math.max(1000, Math.round(slice * Math.min(4, SLICE_MILLISECONDS / Math.max(took, 1)))));

const named: Record<string, SessionCall> = {
  "session.open": (wasm, args, context) => {
    const { kind, source, options, input, files } = args as { kind: string; source: Uint8Array; options: string; input: Uint8Array; files: GivenFile[] };
    const open = (): unknown => wasm.json("page_session_open", kind === "hart" ? 0 : 1, source, options, input);
    return files.length === 0 ? open() : withFiles(wasm, files, context, async () => open());
  },
  "list.open": (wasm, args, context) => {
    const { text, options, files } = args as { text: Uint8Array; options: string; files: GivenFile[] };
    return withFiles(wasm, files, context, () => openList(wasm, context, text, options));
  },
  "session.close": (wasm, args) => void wasm.bytes("page_session_close", given(args).id),
  "session.describe": (wasm, args) => wasm.json("page_session_describe", given(args).id),
  "session.state": (wasm, args) => wasm.json("page_session_state", given(args).id),
  "session.run": async (wasm, args, context) => {
    const { id, budget, core, over } = args as { id: number; budget: number; core: number; over: number };
    let left = budget < 0 ? Number.MAX_SAFE_INTEGER : budget;
    let slice = FIRST_SLICE;
    for (;;) {
      const begin = performance.now();
      const most = Math.min(slice, left);
      const stop = wasm.json<{ reason: string; steps: number }>("page_session_run", id, BigInt(most), core, over);
      const took = performance.now() - begin;
      left -= most;
      if (stop.reason !== "budget" || left <= 0) {
        return stop;
      }
      slice = nextSlice(slice, took);
      context.progress(stop.steps, 0);
      await context.pause();
    }
  },
  "session.goto": (wasm, args) => wasm.json("page_session_goto", given(args).id, BigInt(given(args)["steps"] as number)),
  "session.back": (wasm, args) => wasm.json("page_session_back", given(args).id, given(args)["core"] as number),
  "session.reverse": (wasm, args) => wasm.json("page_session_reverse", given(args).id),
  "session.breaks": (wasm, args) => void wasm.bytes("page_session_breaks", given(args).id, given(args)["addresses"] as Uint8Array),
  "session.watches": (wasm, args) => void wasm.bytes("page_session_watches", given(args).id, given(args)["text"] as string),
  "session.set": (wasm, args) => {
    const { id, core, name, value } = args as { id: number; core: number; name: string; value: bigint };
    wasm.bytes("page_session_set", id, core, name, BigInt.asUintN(64, value), BigInt.asUintN(64, value >> 64n));
  },
  "session.poke": (wasm, args) => {
    const { id, space, address, bytes } = args as { id: number; space: number; address: bigint; bytes: Uint8Array };
    wasm.bytes("page_session_poke", id, space, address, bytes);
  },
  "session.memory": (wasm, args) => {
    const { id, space, address, size, core } = args as { id: number; space: number; address: bigint; size: number; core: number };
    return wasm.bytes("page_session_memory", id, space, address, size, core);
  },
  "session.console": (wasm, args) => wasm.bytes("page_session_console", given(args).id),
  "session.input": (wasm, args) =>
    void wasm.bytes("page_session_input", given(args).id, given(args)["bytes"] as Uint8Array, given(args)["end"] as number),
  "session.frame": (wasm, args) => wasm.bytes("page_session_frame", given(args).id),
  "session.lanes": (wasm, args) => {
    const { id, core, group, format } = args as { id: number; core: number; group: string; format: string };
    return wasm.json("page_session_lanes", id, core, group, format);
  },
  "session.listing": (wasm, args) => wasm.json("page_session_listing", given(args).id, given(args)["most"] as number),
  "session.profile": (wasm, args) => wasm.json("page_session_profile", given(args).id),
  "session.timing": (wasm, args, context) => check(wasm, given(args).id, 1, context),
  "session.findings": (wasm, args, context) => check(wasm, given(args).id, 0, context),
  "session.why": (wasm, args) => wasm.json("page_session_why", given(args).id, given(args)["core"] as number),
  "session.steps": (wasm, args) =>
    wasm.json("page_session_steps", given(args).id, BigInt(given(args)["from"] as number), given(args)["count"] as number),
  "list.state": (wasm, args) => wasm.json("page_list_state", given(args).id),
  "list.pixel": (wasm, args) => wasm.json("page_list_pixel", given(args).id, given(args)["x"] as number, given(args)["y"] as number),
  "list.goto": async (wasm, args, context) => {
    const { id, count } = args as { id: number; count: number };
    let slice = FIRST_SLICE;
    let before = -1;
    for (;;) {
      const begin = performance.now();
      const state = wasm.json<{ reached: number; commands: unknown[] }>("page_list_goto", id, count, BigInt(slice));
      const took = performance.now() - begin;
      const now = wasm.json<{ steps: number }>("page_session_state", id).steps;
      if (state.reached >= Math.min(count, state.commands.length) || now === before) {
        return state;
      }
      before = now;
      slice = nextSlice(slice, took);
      context.progress(state.reached, state.commands.length);
      await context.pause();
    }
  },
};

export const sessionCalls: Calls = Object.fromEntries(
  Object.entries(named).map(([name, run]) => [name, (wasm: Wasm, [args]: [unknown], context: Context) => inTurn(name, run, wasm, args, context)]),
);
