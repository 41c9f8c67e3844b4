/* What the tests of this folder share: where things are, the page's engine for node, and the loop over the cases. FACET and
 * FACET_BUILD say where the program and a build folder after `make web` are. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

export const source = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");
export const build = resolve(process.env.FACET_BUILD ?? join(source, "build"));
export const program = resolve(process.env.FACET ?? join(build, "facet"));
/** For this run alone. */
export const folder = mkdtempSync(join(tmpdir(), "facet-wasm-"));
export const file = (name) => join(folder, name);
const { buildSync } = await import(pathToFileURL(join(source, "web/node_modules/esbuild/lib/main.js")).href);

const WAIT = 60_000;
const cases = [];

/** What the program prints, run in `cwd`; throws when its exit code is not 0. */
export function facet(cwd, ...words) {
  return execFileSync(program, words, { cwd, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
}

/** Files of web/src/engine as one module. */
export async function engine(...names) {
  const contents = names.map((name) => `export * from "./${name}";`).join(" ");
  buildSync({ stdin: { contents, resolveDir: join(source, "web/src/engine") }, bundle: true, format: "esm", platform: "node", outfile: file("engine.mjs"), logLevel: "warning" });
  return import(pathToFileURL(file("engine.mjs")).href);
}

/** The worker's script as the page has it. */
export function workerScript() {
  return buildSync({ bundle: true, platform: "node", logLevel: "warning", format: "iife", entryPoints: [join(source, "web/src/engine/worker.ts")], write: false }).outputFiles[0].text;
}

export function test(name, run) {
  cases.push({ name, run });
}

/** `before` makes what every case gets, `after` takes it away. Ends with `N passed, N failed`. */
export async function runCases(before = () => undefined, after = () => undefined) {
  let failed = 0;
  for (const { name, run } of cases) {
    const given = before();
    let timer;
    try {
      await Promise.race([run(given), new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`not done after ${WAIT / 1000} s`)), WAIT)))]);
      console.log(`ok   ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAIL ${name}\n${String(error.stack ?? error).slice(0, 2000)}`);
    }
    clearTimeout(timer);
    after(given);
  }
  rmSync(folder, { recursive: true, force: true });
  console.log(`${cases.length - failed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}
