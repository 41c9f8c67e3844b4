/* How fast the page draws a scene by every machine, beside `facet render` on one thread, in seconds of processor time; and how long
 * it takes to open a large one.
 *
 * usage: node wasm/bench_scene.mjs BUILD: a build folder after `make web` */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const source = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "..");
const build = resolve(process.argv[2] ?? join(source, "build"));
const folder = mkdtempSync(join(tmpdir(), "facet-bench-"));
const { buildSync } = await import(pathToFileURL(join(source, "web/node_modules/esbuild/lib/main.js")).href);
const RUNS = 3, WIDTH = 320, HEIGHT = 180, SPP = 1;
/* In the order of struct look in wasm/page_render.c. */
const LOOK = new Float64Array([WIDTH, HEIGHT, SPP, 0, 0, 1, 0, 1, 0, 0, 1, 0]);

buildSync({
  stdin: { contents: 'export * from "./wasm.ts";', resolveDir: join(source, "web/src/engine") },
  bundle: true, format: "esm", platform: "node", outfile: join(folder, "engine.mjs"), logLevel: "warning",
});
const { Wasm } = await import(pathToFileURL(join(folder, "engine.mjs")).href);
const wasm = await Wasm.make(readFileSync(join(build, "web/wasm/facet.wasm")));

function median(run) {
  return Array.from({ length: RUNS }, run).sort((a, b) => a - b)[RUNS >> 1];
}

function seconds(run) {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/* `render` of --stats: the time of the buckets on one thread. */
function native(machine) {
  execFileSync(join(build, "facet"), ["render", join(source, "assets/room.glb"), "-q", "--size", `${WIDTH}x${HEIGHT}`, "--spp", String(SPP),
    "--machine", machine, "--threads", "1", "-o", "n.png", "--stats", "n.json"], { cwd: folder, stdio: "ignore" });
  const stats = JSON.parse(readFileSync(join(folder, "n.json"), "utf8"));
  return stats.seconds.render;
}

function page(scene, machine) {
  const { handle, buckets } = wasm.json("page_render_open", scene, machine, LOOK, null);
  const took = seconds(() => wasm.bytes("page_render_draw", handle, 0, buckets));
  wasm.bytes("page_render_close", handle);
  return took;
}

const { handle } = wasm.json("page_scene_open", "room.glb", readFileSync(join(source, "assets/room.glb")));
for (const { name } of wasm.json("page_render_machines").machines) {
  const [a, b] = [median(() => native(name)), median(() => page(handle, name))];
  console.log(`${name.padEnd(20)} native ${a.toFixed(3)} s   page ${b.toFixed(3)} s   ${(b / a).toFixed(1)} times as long`);
}
wasm.bytes("page_scene_close", handle);

execFileSync(join(build, "facet"), ["scene", "make", "terrain", "--size", "710", "-o", "large.glb"], { cwd: folder, stdio: "ignore" });
const large = readFileSync(join(folder, "large.glb"));
const built = seconds(() => wasm.bytes("page_scene_build", "large.glb", large));
const opened = seconds(() => wasm.json("page_scene_open", "large.glb", large));
console.log(`terrain of ${2 * 710 * 710} triangles: image ${built.toFixed(2)} s, scene ${opened.toFixed(2)} s`);
rmSync(folder, { recursive: true, force: true });
