/* The worker: all C code runs here, so that the page never waits for it. */
import { calls, type Context } from "./calls.ts";
import type { FromWorker, Request, ToWorker } from "./protocol.ts";
import { CallError, Wasm } from "./wasm.ts";

interface Scope {
  postMessage(message: FromWorker, transfer?: Transferable[]): void;
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
}
const scope = self as unknown as Scope;

let wasm: Promise<Wasm> | undefined;
const cancelled = new Set<number>();

/* A turn of the event loop, without the delay of a timer. A channel of its own each time: one that is used again and again may be
 * drained before others are looked at. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

function contextOf(id: number): Context {
  return {
    progress: (done, total) => scope.postMessage({ id, progress: [done, total] }),
    part: (part) => scope.postMessage({ id, part }, buffersOf(part)),
    pause: async () => {
      await nextTurn();
      if (cancelled.has(id)) {
        throw new CallError("cancelled", "cancelled");
      }
      scope.postMessage({ running: id });
    },
  };
}

/* Arrays of an answer are handed over, not copied. */
function buffersOf(value: unknown): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  const look = (item: unknown): void => {
    if (ArrayBuffer.isView(item)) {
      found.add(item.buffer as ArrayBuffer);
    } else if (item !== null && typeof item === "object" && Object.getPrototypeOf(item) === Object.prototype) {
      Object.values(item).forEach(look);
    }
  };
  look(value);
  return [...found];
}

async function start(bytes: Uint8Array): Promise<Wasm> {
  const before = performance.now();
  const made = await Wasm.make(bytes as Uint8Array<ArrayBuffer>);
  const { version } = made.json<{ version: string }>("page_version");
  scope.postMessage({ ready: { version, wasmBytes: bytes.length, startMilliseconds: performance.now() - before } });
  return made;
}

async function answer({ id, name, args }: Request): Promise<void> {
  let machine: Wasm | undefined;
  try {
    machine = await wasm;
    const call = calls[name];
    if (machine === undefined || call === undefined) {
      throw new CallError("internal error", `the worker does not know ${name}`);
    }
    const context = contextOf(id);
    scope.postMessage({ running: id });
    machine.progress = context.progress;
    const value = await call(machine, args, context);
    scope.postMessage({ id, value }, buffersOf(value));
  } catch (thrown) {
    const { status, message, where } = thrown instanceof CallError ? thrown
      : new CallError("internal error", thrown instanceof Error ? thrown.message : String(thrown));
    scope.postMessage({ id, error: { status, message, where }, broken: machine?.broken === true });
  } finally {
    cancelled.delete(id);
  }
}

scope.onmessage = ({ data }) => {
  if ("wasm" in data) {
    wasm = start(data.wasm);
    wasm.catch((error: unknown) => scope.postMessage({ broken: error instanceof Error ? error.message : String(error) }));
  } else if ("cancel" in data) {
    cancelled.add(data.cancel);
  } else {
    void answer(data);
  }
};
