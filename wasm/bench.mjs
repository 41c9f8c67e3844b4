/* How fast the page's C code is beside the native program, one thread each: the conformance suite, rays of a picture, programs of
 * the hart, kernels of the tile GPU. In seconds of processor time; the sides take turns, and a ratio is the median of those of the
 * turns. Nobody's start counts: of a native run that with next to no work is subtracted, the module is compiled before. `portable` is native
 * code, too, but none that is made at run time.
 *
 * usage: node wasm/bench.mjs BUILD [SUBSTRING]: a build folder after `make web`; with a substring only what has it in its name */

import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Program } from "../tests/wasm/program.mjs";

const source = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "..");
const build = resolve(process.argv[2] ?? join(source, "build"));
const asked = process.argv[3] ?? "";
const folder = mkdtempSync(join(tmpdir(), "facet-bench-"));
const file = (name) => join(folder, name);
const facet = join(build, "facet");
const TURNS = 3, LEAST_SECONDS = 0.15;
const modules = { vectors: join(build, "web/wasm"), plain: join(build, "web/wasm-plain") };

/* ---- the sides ---- */

const ALL = "%3U %3S", USER = "%3U";

/* Processor time of a child, without that of the system where `what` is %3U alone; the shell counts it in thousandths of a second. */
function childSeconds(what, command, ...words) {
  const told = execFileSync("bash", ["-c", `TIMEFORMAT="${what}"; { time "$@" >/dev/null 2>&3; } 3>&2 2>&1`, "bash", command, ...words],
    { cwd: folder, stdio: ["ignore", "pipe", "ignore"], encoding: "utf8" });
  return told.trim().split(" ").reduce((sum, word) => sum + Number(word), 0);
}

function seconds(run) {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

const { buildSync } = await import(pathToFileURL(join(source, "web/node_modules/esbuild/lib/main.js")).href);
buildSync({
  stdin: { contents: 'export * from "./wasm.ts";', resolveDir: join(source, "web/src/engine") },
  bundle: true, format: "esm", platform: "node", outfile: file("engine.mjs"), logLevel: "warning",
});
const { Wasm } = await import(pathToFileURL(file("engine.mjs")).href);
execFileSync("ninja", ["-C", build, "tests/conform/conform_answers"], { stdio: "ignore" });
execFileSync("python3", [join(source, "wasm/build.py"), build, modules.plain, "-mno-simd128"]);
for (const module of Object.values(modules)) {
  execFileSync("ninja", ["-C", module, "facet.wasm", "conform.wasm"], { stdio: "ignore" });
}
const pages = { vectors: await Wasm.make(readFileSync(join(modules.vectors, "facet.wasm"))), plain: await Wasm.make(readFileSync(join(modules.plain, "facet.wasm"))) };

/* A session from its beginning to its end. */
function sessionSeconds(wasm, kind, text, options) {
  const { session, diagnostics } = wasm.json("page_session_open", kind, text, options.map((one) => `${one}\n`).join(""), new Uint8Array());
  if (session === undefined) {
    throw new Error(JSON.stringify(diagnostics));
  }
  const took = seconds(() => {
    const stop = wasm.json("page_session_run", session, 1n << 60n, 0xffffffff, 0);
    if (stop.reason !== "exit" && stop.reason !== "idle") {
      throw new Error(JSON.stringify(stop));
    }
  });
  wasm.bytes("page_session_close", session);
  return took;
}

/* ---- what is done ---- */

/* The suite as requests: every case, from its file to its signature. */
function conformance() {
  const suite = join(build, "web/suite"), answerer = join(build, "tests/conform/conform_answers");
  execFileSync("python3", [join(source, "conformance/generate.py"), "--facet", facet, "--out", suite], {
    stdio: "ignore", env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
  });
  const { cases } = JSON.parse(readFileSync(join(suite, "suite.json"), "utf8"));
  const request = ({ name, kind, file, config }) => JSON.stringify({ case: name, kind, file: join(suite, file), config: config ?? "full" });
  writeFileSync(file("requests"), cases.map((one) => request(one) + "\n").join(""));
  writeFileSync(file("none"), "");
  const answers = (input) => childSeconds(ALL, "bash", "-c", `"$@" <${input}`, "bash", answerer, folder);
  const programs = Object.fromEntries(Object.entries(modules).map(([name, module]) => [name, new Program(readFileSync(join(module, "conform.wasm")))]));
  return {
    name: "conformance suite", unit: "cases/s", amount: cases.length,
    native: () => answers("requests") - answers("none"),
    wasm: (name) => {
      const input = openSync(file("requests")), output = openSync("/dev/null", "w");
      const took = seconds(() => programs[name].run(["conform", folder], { input, output }));
      closeSync(input);
      closeSync(output);
      return took;
    },
  };
}

function picture() {
  const [width, height] = [1280, 720];
  execFileSync(facet, ["bvh", "build", join(source, "assets/room.glb"), "-o", "room.gfx12", "-q"], { cwd: folder, stdio: "ignore" });
  const image = readFileSync(file("room.gfx12"));
  const handles = Object.fromEntries(Object.entries(pages).map(([name, wasm]) => [name, wasm.json("page_bvh_open", image, 0n, 0, null).handle]));
  /* Without the system's time, which is that of writing the picture. */
  const native = (...more) => {
    const draw = (w, h) => childSeconds(USER, facet, "bvh", "render", "room.gfx12", "--size", `${w}x${h}`, "--aov", "normal", "--threads", "1", "-q", "-o", "n.pfm", ...more);
    return draw(width, height) - draw(16, 9);
  };
  return {
    name: "rays of a picture", unit: "M rays/s", amount: (width * height) / 1e6, native,
    wasm: (name) => {
      const drawing = pages[name].json("page_picture_open", handles[name], width, height, null, 1, 0, 0xff, 0).handle;
      const took = seconds(() => pages[name].json("page_picture_rows", drawing, height));
      pages[name].bytes("page_picture_close", drawing);
      return took;
    },
  };
}

/* A program of bench/hart: `items` of a round, or instructions. */
function hart(program, unit, items) {
  const place = join(source, "bench/hart"), mark = Buffer.alloc(8);
  execFileSync("riscv64-unknown-elf-gcc", ["-O2", "-march=rv64gc", "-mabi=lp64d", "-mcmodel=medany", "-ffreestanding", "-fno-tree-loop-distribute-patterns",
    "-nostdlib", "-static", "-T", join(place, "hart.ld"), join(place, "start.S"), join(place, `${program}.c`), "-o", file(`${program}.elf`)]);
  const elf = readFileSync(file(`${program}.elf`));
  mark.writeBigUInt64LE(0xFACE7B0A7D5EED01n);
  const at = elf.indexOf(mark);
  const once = Buffer.from(elf);
  const set = (bytes, rounds, name) => {
    bytes.writeBigUInt64LE(BigInt(rounds), at);
    writeFileSync(file(name), bytes);
  };
  const one = `${program}-once.elf`, many = `${program}.elf`;
  const native = (...more) => childSeconds(ALL, facet, "run", many, "-q", ...more) - childSeconds(ALL, facet, "run", one, "-q", ...more);
  let rounds = 1;
  set(once, 0, one);
  do {
    rounds *= 2;
    set(elf, rounds, many);
  } while (native() < LEAST_SECONDS);
  const steps = JSON.parse(execFileSync(facet, ["run", many, "--json"], { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })).steps;
  return {
    name: `hart, ${program}`, unit, amount: (items === undefined ? steps : items * rounds) / 1e6, native,
    portable: ["--host-code", "4294967294"],
    wasm: (name) => sessionSeconds(pages[name], 0, elf, ["ram=128M"]),
  };
}

/* A kernel of guest/tile: pixels. */
function kernel(name, columns, rows, options) {
  const words = (w, h) => ["tile", "run", join(source, `guest/tile/${name}.s`), "--grid", `${w}x${h}`, ...options.flatMap((one) => ["--arg", one]), "-q"];
  const text = readFileSync(join(source, `guest/tile/${name}.s`));
  return {
    name: `tile GPU, ${name}`, unit: "M pixels/s", amount: (columns * rows * 256) / 1e6,
    native: (...more) => childSeconds(ALL, facet, ...words(columns, rows), ...more) - childSeconds(ALL, facet, ...words(1, 1), ...more),
    portable: ["--host-code", "0"],
    wasm: (page) => sessionSeconds(pages[page], 1, text, [`grid=${columns}x${rows}`, ...options.map((one) => `arg=${one}`)]),
  };
}

const WORK = [
  ["conformance suite", conformance],
  ["rays of a picture", picture],
  ...["int", "fp", "mem", "branchy"].map((one) => [`hart, ${one}`, () => hart(one, "MIPS")]),
  ["hart, rt", () => hart("rt", "M tests/s", 16384)],
  ["hart, gfx", () => hart("gfx", "M pixels/s", 2048)],
  ["tile GPU, mandelbrot", () => kernel("mandelbrot", 16, 16, ["target=0x80100000", "stride=1024", "x0=-2.25", "y0=-1.125", "step=0.01171875", "limit=60"])],
  ["tile GPU, upscale", () => kernel("upscale", 32, 32, ["source=0x80080000", "width=64", "height=64", "pitch=256", "target=0x80100000", "stride=2048", "step_x=8192", "step_y=8192"])],
];

function median(list) {
  return [...list].sort((a, b) => a - b)[list.length >> 1];
}

const text = (number, digits) => (Number.isNaN(number) ? "" : number.toFixed(digits));
const row = (...words) => console.log(words.map((word, i) => (i === 0 ? word.padEnd(22) : word.padStart(11))).join(" "));

row("", "native", "portable", "vectors", "without", "vectors", "without", "portable", "without");
row("", "", "", "", "", "/ native", "/ native", "/ native", "/ portable");
for (const [name, make] of WORK.filter(([name]) => name.includes(asked))) {
  const work = make();
  const turns = Array.from({ length: TURNS }, () => ({
    native: work.native(),
    portable: work.portable !== undefined ? work.native(...work.portable) : NaN,
    vectors: work.wasm("vectors"),
    plain: work.wasm("plain"),
  }));
  const speed = (side) => work.amount / median(turns.map((turn) => turn[side]));
  const ratio = (side, peer) => median(turns.map((turn) => turn[peer] / turn[side]));
  row(name, ...["native", "portable", "vectors", "plain"].map((side) => text(speed(side), 1)), ...[["vectors", "native"], ["plain", "native"],
    ["portable", "native"], ["plain", "portable"]].map(([side, peer]) => text(ratio(side, peer), 2)), work.unit);
}
rmSync(folder, { recursive: true, force: true });
