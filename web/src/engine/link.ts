/* The page's end of the line to the worker: calls as promises, progress, cancelling, and a new worker when the old one is
 * stuck or broken. */
import type { FromWorker, Request } from "./protocol.ts";
import type { CallOptions, EngineError, EngineInfo, EngineSource, Status } from "./types.ts";
import type { Argument } from "./wasm.ts";

/* How long a cancelled call may go on before the worker is given up. */
const PATIENCE_MS = 2000;

interface Pending {
  resolve(value: unknown): void;
  reject(error: EngineError): void;
  options: LinkOptions;
}

export interface LinkOptions extends CallOptions {
  part?: (value: unknown) => void;
}

export function engineError(status: Status, message: string, where = 0n): EngineError {
  return Object.assign(new Error(message), { name: "EngineError" as const, status, where });
}

export class Link {
  readonly ready: Promise<EngineInfo>;
  /* Counts workers: what an earlier one had opened is gone. */
  generation = 0;
  private worker!: Worker;
  private pending = new Map<number, Pending>();
  private lastId = 0;
  private running = 0;
  private closed = false;
  private begun!: { resolve(info: EngineInfo): void; reject(error: EngineError): void };

  constructor(private readonly source: EngineSource) {
    this.ready = new Promise((resolve, reject) => {
      this.begun = { resolve, reject };
    });
    this.ready.catch(() => undefined);
    this.start();
  }

  call<T>(name: string, args: unknown[] = [], options: LinkOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.closed || options.signal?.aborted === true) {
        reject(engineError("cancelled", this.closed ? "the engine is closed" : "cancelled"));
        return;
      }
      const id = ++this.lastId;
      const stop = (): void => this.cancel(id);
      const done = (): void => options.signal?.removeEventListener("abort", stop);
      this.pending.set(id, {
        resolve: (value) => (done(), resolve(value as T)),
        reject: (error) => (done(), reject(error)),
        options,
      });
      options.signal?.addEventListener("abort", stop, { once: true });
      this.worker.postMessage({ id, name, args } satisfies Request);
    });
  }

  /* An exported function of wasm/, its answer as bytes or as JSON. */
  raw(name: string, args: Argument[] = [], options?: LinkOptions): Promise<Uint8Array> {
    return this.call("raw", [name, ...args], options);
  }

  json<T>(name: string, args: Argument[] = [], options?: LinkOptions): Promise<T> {
    return this.call("json", [name, ...args], options);
  }

  close(): void {
    this.closed = true;
    this.worker.terminate();
    this.rejectAll(engineError("cancelled", "the engine is closed"));
  }

  private start(): void {
    this.generation++;
    const address = URL.createObjectURL(new Blob([this.source.worker], { type: "text/javascript" }));
    this.worker = new Worker(address);
    URL.revokeObjectURL(address);
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.hear(data);
    this.worker.onerror = (event) => this.giveUp(`the worker failed: ${event.message}`);
    this.worker.postMessage({ wasm: this.source.wasm });
  }

  private hear(message: FromWorker): void {
    if ("ready" in message) {
      this.begun.resolve(message.ready);
      return;
    }
    if ("running" in message) {
      this.running = message.running;
      return;
    }
    if (!("id" in message)) {
      this.giveUp(message.broken);
      return;
    }
    const call = this.pending.get(message.id);
    if (call === undefined) {
      return;
    }
    if ("progress" in message) {
      call.options.progress?.(...message.progress);
    } else if ("part" in message) {
      call.options.part?.(message.part);
    } else {
      this.pending.delete(message.id);
      if ("value" in message) {
        call.resolve(message.value);
      } else {
        call.reject(engineError(message.error.status as Status, message.error.message, message.error.where));
        if (message.broken) { /* before the caller can ask again */
          this.again(message.error.message);
        }
      }
    }
  }

  private cancel(id: number): void {
    const call = this.pending.get(id);
    if (call === undefined) {
      return;
    }
    this.worker.postMessage({ cancel: id });
    /* One that waits behind another does no harm, and that other one may go on. */
    const giveUp = (): void => {
      if (this.pending.get(id) === call && this.running !== id) {
        setTimeout(giveUp, PATIENCE_MS);
      } else if (this.pending.get(id) === call) {
        this.pending.delete(id);
        call.reject(engineError("cancelled", "cancelled"));
        this.again("another call was cancelled, and the worker with it");
      }
    };
    setTimeout(giveUp, PATIENCE_MS);
  }

  private giveUp(why: string): void {
    this.begun.reject(engineError("internal error", why));
    this.again(why);
  }

  private again(why: string): void {
    this.worker.terminate();
    this.rejectAll(engineError("lost", why));
    if (!this.closed) {
      this.start();
    }
  }

  private rejectAll(error: EngineError): void {
    const calls = [...this.pending.values()];
    this.pending.clear();
    calls.forEach((call) => call.reject(error));
  }
}
