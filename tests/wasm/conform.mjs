/* Runs conform.wasm: `facet conform --suite SUITE --against "stdio:node conform.mjs CONFORM.wasm [plain]"`. The
 * program sees the folder / of the host, to read cases by the paths that it is given. */
import { readFileSync } from "node:fs";
import { Program } from "./program.mjs";

const [module, ...words] = process.argv.slice(2);
process.exitCode = new Program(readFileSync(module)).run(["conform", process.cwd(), ...words], { input: 0, output: 1 });
