/* Tests of the native program, compiled like the page: rays over decoded nodes (tests/gfx12/test_fast.c), which compares the vectors of
 * WebAssembly with the loop of the contract, hits and figures, for boxes and rays of every odd kind, and the lanes of the tile GPU
 * (tests/tile/test_tile_vector.c). Ends with `N passed, N failed`. FACET_BUILD says where a build folder after `make web` is.
 *
 * usage: node native.test.mjs [CASE...] */

import { execFileSync } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Program } from "./program.mjs";

const source = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");
const wasm = join(resolve(process.env.FACET_BUILD ?? join(source, "build")), "web/wasm");
execFileSync("ninja", ["-C", wasm, "native.wasm"], { stdio: "ignore" });

const log = join(wasm, "native.log"), output = openSync(log, "w");
const code = new Program(readFileSync(join(wasm, "native.wasm"))).run(["native", ...process.argv.slice(2)], { input: 0, output });
closeSync(output);
const told = readFileSync(log, "utf8");
process.stdout.write(told);
const counts = /(\d+) passed, (\d+) failed/.exec(told);
console.log(counts === null ? "0 passed, 1 failed" : `${counts[1]} passed, ${counts[2]} failed`);
process.exitCode = code === 0 && counts !== null ? 0 : 1;
