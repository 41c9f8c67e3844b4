/* What page and worker tell each other. */

export interface Request {
  id: number;
  name: string;
  args: unknown[];
}
export type ToWorker = { wasm: Uint8Array } | Request | { cancel: number };

export type FromWorker =
  | { ready: { version: string; wasmBytes: number; startMilliseconds: number } }
  /* This call has the worker until the next one says so. */
  | { running: number }
  | { id: number; value: unknown }
  | { id: number; part: unknown }
  | { id: number; progress: [done: number, total: number] }
  /* `broken`: the C code cannot go on, and the page makes a new worker. */
  | { id: number; error: { status: string; message: string; where: bigint }; broken: boolean }
  | { broken: string };
