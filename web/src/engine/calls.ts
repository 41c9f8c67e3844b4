/* What can be asked of the worker, by name. A call may be cut into pieces by `await context.pause()`: others are then heard
 * in between, and a cancelled call ends there. */
import { bvhCalls } from "./calls_bvh.ts";
import { sessionCalls } from "./calls_session.ts";
import { sceneCalls } from "./calls_scene.ts";
import { isaCalls } from "./isa.ts";
import type { Argument, Wasm } from "./wasm.ts";

export interface Context {
  progress(done: number, total: number): void;
  /* Something before the end: a piece of a picture. */
  part(value: unknown): void;
  pause(): Promise<void>;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Calls = Record<string, (wasm: Wasm, args: any, context: Context) => unknown>;

export const calls: Calls = {
  /* Any exported function, its answer as bytes. */
  raw: (wasm, [name, ...values]: [string, ...Argument[]]) => wasm.bytes(name, ...values),
  json: (wasm, [name, ...values]: [string, ...Argument[]]) => wasm.json(name, ...values),
  ...bvhCalls,
  ...isaCalls,
  ...sceneCalls,
  ...sessionCalls,
};
