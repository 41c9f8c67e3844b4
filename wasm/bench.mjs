/* How fast the page's C code is beside the native program on one thread, with and without vectors, in seconds of processor time.
 *
 * usage: node wasm/bench.mjs BUILD: a build folder after `make web` */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const source = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "..");
const build = resolve(process.argv[2] ?? join(source, "build"));
const folder = mkdtempSync(join(tmpdir(), "facet-bench-"));
const plain = join(build, "web/wasm-plain");
const { buildSync } = await import(pathToFileURL(join(source, "web/node_modules/esbuild/lib/main.js")).href);
const RUNS = 5, WIDTH = 1280, HEIGHT = 720;

const STEPS = 120_000_006;
const LOOP = `_start:
  li x5, 20000000
1: addi x6, x6, 3
  xor x7, x7, x6
  slli x8, x7, 3
  add x9, x9, x8
  addi x5, x5, -1
  bnez x5, 1b
  li x10, 0x100000
  li x11, 0x5555
  sw x11, 0(x10)
  j .
`;

function median(run) {
  const all = Array.from({ length: RUNS }, run).sort((a, b) => a - b);
  return all[RUNS >> 1];
}

/* User time of a child. */
function native(...words) {
  return median(() => {
    const before = childTime();
    execFileSync(join(build, "facet"), words, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    return childTime() - before;
  });
}

/* Of all children that have ended: fields 16 and 17 of /proc/self/stat, in hundredths. */
function childTime() {
  const fields = readFileSync("/proc/self/stat", "latin1").replace(/^.*\) /s, "").split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

buildSync({
  stdin: { contents: 'export * from "./wasm.ts";', resolveDir: join(source, "web/src/engine") },
  bundle: true, format: "esm", platform: "node", outfile: join(folder, "engine.mjs"), logLevel: "warning",
});
execFileSync("python3", [join(source, "wasm/build.py"), build, plain, "-mno-simd128"]);
execFileSync("ninja", ["-C", plain], { stdio: "ignore" });
execFileSync(join(build, "facet"), ["bvh", "build", join(source, "assets/room.glb"), "-o", "room.gfx12", "-q"], { cwd: folder, stdio: "ignore" });
writeFileSync(join(folder, "loop.s"), LOOP);
execFileSync(join(build, "facet"), ["as", "--isa", "xphmg", "loop.s", "-o", "loop.elf"], { cwd: folder });
const { Wasm } = await import(pathToFileURL(join(folder, "engine.mjs")).href);

function seconds(run) {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

async function measure(module) {
  const wasm = await Wasm.make(readFileSync(module));
  const { handle } = wasm.json("page_bvh_open", readFileSync(join(folder, "room.gfx12")), 0n, 0, null);
  const picture = median(() => {
    const drawing = wasm.json("page_picture_open", handle, WIDTH, HEIGHT, null, 1, 0, 0xff, 0).handle;
    const took = seconds(() => wasm.json("page_picture_rows", drawing, HEIGHT));
    wasm.bytes("page_picture_close", drawing);
    return took;
  });
  const hart = median(() => {
    const { session } = wasm.json("page_session_open", 0, new TextEncoder().encode(LOOP), "", new Uint8Array());
    const took = seconds(() => wasm.json("page_session_run", session, BigInt(2 * STEPS), -1, 0));
    wasm.bytes("page_session_close", session);
    return took;
  });
  return { picture, hart };
}

const cases = {
  "the native program": {
    picture: native("bvh", "render", "room.gfx12", "--size", `${WIDTH}x${HEIGHT}`, "--aov", "normal", "--threads", "1", "-q", "-o", "n.pfm"),
    hart: native("run", "loop.elf", "--host-code", "4294967294"),
  },
  "WebAssembly with vectors": await measure(join(build, "web/wasm/facet.wasm")),
  "WebAssembly without": await measure(join(plain, "facet.wasm")),
};
const base = cases["the native program"];
for (const [name, { picture, hart }] of Object.entries(cases)) {
  const rays = (WIDTH * HEIGHT) / picture / 1e6;
  console.log(`${name.padEnd(25)} ${rays.toFixed(1).padStart(6)} M rays/s (${(base.picture / picture).toFixed(2)})  ` +
    `hart ${(STEPS / hart / 1e6).toFixed(0).padStart(5)} MIPS (${(base.hart / hart).toFixed(2)})`);
}
rmSync(folder, { recursive: true, force: true });
