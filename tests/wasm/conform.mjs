/* Runs conform.wasm: `facet conform --suite SUITE --against "stdio:node conform.mjs CONFORM.wasm [plain]"`. The
 * program sees the folder / of the host, to read cases by the paths that it is given. */
import { readFileSync } from "node:fs";
import { Wasi } from "./wasi.mjs";

const [module, ...words] = process.argv.slice(2);
const wasi = new Wasi(["conform", process.cwd(), ...words]);
class Jump {}
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
const { instance } = await WebAssembly.instantiate(readFileSync(module), { ...wasi.imports, page });
exports = instance.exports;
process.exitCode = wasi.start(instance);
