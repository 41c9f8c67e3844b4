/* A program of wasm/build.py, compiled: conform.wasm, native.wasm. Runs as often as it is asked to. */
import { Wasi } from "./wasi.mjs";

/* How deep calls of C are left (wasm/include/setjmp.h). */
class Jump {}

export class Program {
  constructor(bytes) {
    this.module = new WebAssembly.Module(bytes);
  }

  /* Runs it to its end with descriptors of the host for its streams; returns its exit code. `words` begin with its name. */
  run(words, streams) {
    const wasi = new Wasi(words, streams);
    let exports;
    const page = {
      progress: () => undefined,
      jump: () => {
        throw new Jump();
      },
      attempt: (run, context) => {
        const stack = exports.__stack_pointer.value;
        try {
          exports.__indirect_function_table.get(run)(context);
          return 0;
        } catch (error) {
          if (!(error instanceof Jump)) {
            throw error;
          }
          exports.__stack_pointer.value = stack;
          return 1;
        }
      },
    };
    const instance = new WebAssembly.Instance(this.module, { ...wasi.imports, page });
    exports = instance.exports;
    return wasi.start(instance);
  }
}
