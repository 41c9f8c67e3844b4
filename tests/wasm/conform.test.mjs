/* The conformance suite, answered by WebAssembly: every signature is the one that the native program must give. Ends with
 * `N passed, N failed`. FACET and FACET_BUILD say where the program and a build folder after `make web` are. */

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join, relative, resolve } from "node:path";

const source = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");
const build = resolve(process.env.FACET_BUILD ?? join(source, "build"));
const facet = resolve(process.env.FACET ?? join(build, "facet"));
const wasm = join(build, "web/wasm");

/* The suite of `make conformance` if there is one; else what needs no recording. */
let suite = join(build, "conformance");
if (!existsSync(join(suite, "suite.json"))) {
  suite = join(build, "web/suite");
  rmSync(suite, { recursive: true, force: true });
  execFileSync("python3", [join(source, "conformance/generate.py"), "--facet", facet, "--out", suite], {
    stdio: "ignore", env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
  });
}
execFileSync("ninja", ["-C", wasm, "conform.wasm"], { stdio: "ignore" });

const words = `node ${join(source, "tests/wasm/conform.mjs")} ${join(wasm, "conform.wasm")}`;
const run = spawnSync(facet, ["conform", "-q", "--suite", relative(process.cwd(), suite), "--timeout", "120", "--against", `stdio:${words}`], { encoding: "utf8" });
process.stdout.write(run.stdout + run.stderr);
const counts = /(\d+) cases?: (\d+) passed/.exec(run.stdout);
if (counts === null) {
  console.log("0 passed, 1 failed");
  process.exit(1);
}
console.log(`${counts[2]} passed, ${Number(counts[1]) - Number(counts[2])} failed`);
/* Not process.exit: what a pipe has not taken yet would be lost. */
process.exitCode = run.status === 0 ? 0 : 1;
