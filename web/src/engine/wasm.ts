/* Facet's C code as WebAssembly: memory, arguments, answers, errors (wasm/page.h has the other side). */

/* What a C function takes: a text is the address of a copy that ends with zero; an array is two arguments, address and
 * bytes; null is an array of none. */
export type Argument = number | bigint | string | ArrayBufferView | null;

/* An error as it travels from the worker. */
export class CallError extends Error {
  constructor(readonly status: string, message: string, readonly where: bigint = 0n) {
    super(message);
  }
}

/* How deep calls of C are left (wasm/include/setjmp.h). */
class Jump {}

interface Exports {
  memory: WebAssembly.Memory;
  __indirect_function_table: WebAssembly.Table;
  __stack_pointer: WebAssembly.Global;
  _initialize(): void;
  page_alloc(size: number): number;
  page_free(address: number): void;
  page_result_data(): number;
  page_result_size(): number;
}

const STATUS = ["ok", "usage error", "bad input", "input/output error", "out of memory", "limit exceeded", "guest address fault", "internal error"];
const NO_SUCH_FILE = 8; /* WASI's EBADF */

export class Wasm {
  /* Called while C code works. */
  progress: (done: number, total: number) => void = () => undefined;
  /* The C code has met a bug of its own: nothing it says can be trusted any more. */
  broken = false;
  private exports!: Exports;
  private functions!: Record<string, (...values: (number | bigint)[]) => number>;

  static async make(bytes: BufferSource): Promise<Wasm> {
    const wasm = new Wasm();
    const { instance } = await WebAssembly.instantiate(bytes, wasm.imports());
    wasm.exports = instance.exports as unknown as Exports;
    wasm.functions = instance.exports as typeof wasm.functions;
    wasm.exports._initialize();
    return wasm;
  }

  /* Calls an exported function and takes its answer. */
  bytes(name: string, ...values: Argument[]): Uint8Array<ArrayBuffer> {
    const call = this.functions[name];
    if (this.broken || typeof call !== "function") {
      throw new CallError("internal error", this.broken ? "the C code has failed before" : `the C code has no ${name}`);
    }
    const lent: number[] = [];
    try {
      const status = call(...values.flatMap((value) => this.lend(value, lent)));
      const answer = this.result();
      if (status !== 0) {
        throw this.failure(status, answer);
      }
      return answer;
    } catch (error) {
      throw error instanceof CallError ? error : this.breakdown(name, error);
    } finally {
      if (!this.broken) {
        lent.forEach((address) => this.exports.page_free(address));
      }
    }
  }

  text(name: string, ...values: Argument[]): string {
    return new TextDecoder().decode(this.bytes(name, ...values));
  }

  json<T>(name: string, ...values: Argument[]): T {
    return JSON.parse(this.text(name, ...values)) as T;
  }

  private lend(value: Argument, lent: number[]): (number | bigint)[] {
    if (typeof value === "number" || typeof value === "bigint") {
      return [value];
    }
    if (value === null) {
      return [0, 0];
    }
    const bytes = typeof value === "string" ? new TextEncoder().encode(value + "\0")
      : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    const address = this.exports.page_alloc(bytes.length);
    if (address === 0) {
      throw new CallError("out of memory", `no memory for ${bytes.length} bytes`);
    }
    lent.push(address);
    new Uint8Array(this.exports.memory.buffer, address >>> 0, bytes.length).set(bytes);
    return typeof value === "string" ? [address] : [address, bytes.length];
  }

  private result(): Uint8Array<ArrayBuffer> {
    const at = this.exports.page_result_data() >>> 0;
    return new Uint8Array(this.exports.memory.buffer.slice(at, at + (this.exports.page_result_size() >>> 0)) as ArrayBuffer);
  }

  private failure(status: number, answer: Uint8Array): CallError {
    const name = STATUS[status] ?? "internal error";
    if (answer.length === 0) {
      return new CallError(name, name);
    }
    const told = JSON.parse(new TextDecoder().decode(answer)) as { status: string; where: string; message: string };
    return new CallError(told.status, told.message, BigInt(told.where));
  }

  private breakdown(name: string, error: unknown): CallError {
    this.broken = true;
    return new CallError("internal error", `${name}: ${error instanceof Error ? error.message : String(error)}`);
  }

  private imports(): WebAssembly.Imports {
    const word = (address: number): DataView => new DataView(this.exports.memory.buffer, address >>> 0, 4);
    return {
      page: {
        progress: (done: number, total: number) => this.progress(done, total),
        jump: () => {
          throw new Jump();
        },
        attempt: (run: number, context: number): number => {
          const stack = this.exports.__stack_pointer.value as number;
          try {
            (this.exports.__indirect_function_table.get(run) as (context: number) => void)(context);
            return 0;
          } catch (error) {
            if (!(error instanceof Jump)) {
              throw error;
            }
            this.exports.__stack_pointer.value = stack;
            return 1;
          }
        },
      },
      /* What the C library wants for files that nobody opens. What it prints is dropped. */
      wasi_snapshot_preview1: {
        fd_close: () => NO_SUCH_FILE,
        fd_seek: () => NO_SUCH_FILE,
        fd_write: (_file: number, pieces: number, count: number, written: number): number => {
          let size = 0;
          for (let i = 0; i < count; i++) {
            size += word(pieces + 8 * i + 4).getUint32(0, true);
          }
          word(written).setUint32(0, size, true);
          return 0;
        },
      },
    };
  }
}
