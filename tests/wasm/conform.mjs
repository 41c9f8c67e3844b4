/* Runs conform.wasm: `facet conform --suite SUITE --against "stdio:node conform.mjs CONFORM.wasm [plain]"`. The
 * program sees the folder / of the host, to read cases by the paths that it is given. */
import { readFileSync } from "node:fs";
import { WASI } from "node:wasi";

const [module, ...words] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: ["conform", process.cwd(), ...words], preopens: { "/": "/" } });
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
const { instance } = await WebAssembly.instantiate(readFileSync(module), { ...wasi.getImportObject(), page });
exports = instance.exports;
process.exitCode = wasi.start(instance);
