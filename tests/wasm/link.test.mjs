/* The line between page and worker, under node: its threads stand for the browser's workers. Calls beside each other, progress,
 * cancelling, a worker that is stuck. Ends with `N passed, N failed`; FACET and FACET_BUILD as for engine.test.mjs. */

import assert from "node:assert/strict";
import { resolveObjectURL } from "node:buffer";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker as Thread } from "node:worker_threads";

const source = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");
const build = resolve(process.env.FACET_BUILD ?? join(source, "build"));
const program = resolve(process.env.FACET ?? join(build, "facet"));
const folder = mkdtempSync(join(tmpdir(), "facet-link-"));
const { buildSync } = await import(pathToFileURL(join(source, "web/node_modules/esbuild/lib/main.js")).href);
const common = { bundle: true, platform: "node", logLevel: "warning" };

/* What a browser gives to the script of a worker. */
const PRELUDE = `
  const { parentPort } = require("node:worker_threads");
  globalThis.self = {
    postMessage: (message, transfer) => parentPort.postMessage(message, transfer),
    set onmessage(hear) { parentPort.on("message", (data) => hear({ data })); },
  };`;

/* A worker by the address of its script, as in a browser. */
globalThis.Worker = class {
  constructor(address) {
    this.sent = [];
    resolveObjectURL(address).text().then((script) => {
      if (this.over) {
        return;
      }
      this.thread = new Thread(PRELUDE + script, { eval: true });
      this.thread.on("message", (data) => this.over || this.onmessage({ data }));
      this.sent.forEach((message) => this.thread.postMessage(message));
    });
  }

  postMessage(message) {
    this.thread === undefined ? this.sent.push(message) : this.thread.postMessage(message);
  }

  terminate() {
    this.over = true;
    void this.thread?.terminate();
  }
};

const worker = buildSync({ ...common, format: "iife", entryPoints: [join(source, "web/src/engine/worker.ts")], write: false }).outputFiles[0].text;
buildSync({ ...common, format: "esm", entryPoints: [join(source, "web/src/engine/index.ts")], outfile: join(folder, "engine.mjs") });
const { startEngine } = await import(pathToFileURL(join(folder, "engine.mjs")).href);
const wasm = new Uint8Array(readFileSync(join(build, "web/wasm/facet.wasm")));
const facet = (...words) => execFileSync(program, words, { cwd: folder, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
facet("bvh", "build", join(source, "assets/room.glb"), "-o", "room.gfx12", "-q");
const room = new Uint8Array(readFileSync(join(folder, "room.gfx12")));
const RAY = { origin: [-1, 0.25, 0.5], direction: [1, 0.25, 0.125] };
const told = JSON.parse(facet("bvh", "why", "room.gfx12", "--ray", "-1 0.25 0.5 1 0.25 0.125", "--json").toString());

const cases = [];
const test = (name, run) => cases.push({ name, run });

test("the engine says that it is ready, and which version it is", async (engine) => {
  const info = await engine.ready;
  assert.equal(info.wasmBytes, wasm.length);
  assert.match(info.version, /^\d+\.\d+\.\d+/);
});

test("a ray is explained while a picture is drawn, and the picture comes in parts", async (engine) => {
  const image = await engine.bvh.open(room);
  const seen = [];
  let over = false;
  const picture = image.picture({ width: 960, height: 540, aov: "normal", rows: (_, __, count) => seen.push(count), progress: (done, total) => assert.ok(done <= total) })
    .then((made) => {
      over = true;
      return made;
    });
  assert.deepEqual(await image.explain(RAY), told);
  assert.equal(over, false, "the ray had to wait for the whole picture");
  const made = await picture;
  assert.equal(made.rgba.length, 4 * 960 * 540);
  assert.equal(seen.at(-1), 540);
  assert.ok(made.hits > 0);
});

test("a picture that is cancelled ends, and the worker goes on", async (engine) => {
  const image = await engine.bvh.open(room);
  const stop = new AbortController();
  const picture = image.picture({ width: 2000, height: 2000, signal: stop.signal, progress: () => stop.abort() });
  await assert.rejects(picture, { name: "EngineError", status: "cancelled" });
  assert.equal(engine.link.generation, 1);
  assert.deepEqual(await image.explain(RAY), told);
  await assert.rejects(image.check({ signal: stop.signal }), { status: "cancelled" }, "a signal that was given before");
});

test("a call that does not end takes its worker along; images open again, machines are gone", async (engine) => {
  const image = await engine.bvh.open(room);
  const { session } = await engine.link.json("page_session_open", [0, new TextEncoder().encode("_start: j _start\n"), "", new Uint8Array()]);
  const stop = new AbortController();
  const run = engine.link.raw("page_session_run", [session, 1n << 60n, -1, 0], { signal: stop.signal });
  setTimeout(() => stop.abort(), 50);
  await assert.rejects(run, { status: "cancelled" });
  assert.equal(engine.link.generation, 2);
  assert.deepEqual(await image.explain(RAY), told);
  await assert.rejects(engine.link.raw("page_session_run", [session, 1n, -1, 0]), { status: "usage error" });
});

test("a cancelled call that waits for another one leaves that alone", async (engine) => {
  const image = await engine.bvh.open(room);
  const { session } = await engine.link.json("page_session_open", [0, new TextEncoder().encode("_start: j _start\n"), "", new Uint8Array()]);
  const stop = new AbortController();
  const run = engine.link.raw("page_session_run", [session, 2_000_000_000n, -1, 0]); /* some seconds */
  const picture = image.picture({ width: 2000, height: 2000, signal: stop.signal });
  setTimeout(() => stop.abort(), 50);
  await assert.rejects(picture, { status: "cancelled" });
  await run;
  assert.equal(engine.link.generation, 1);
});

test("a scene opens again by itself when its worker is gone", async (engine) => {
  const [machine] = await engine.scenes.machines();
  const files = { name: "room.glb", bytes: new Uint8Array(readFileSync(join(source, "assets/room.glb"))), beside: [] };
  const look = { width: 32, height: 18, spp: 1, bounces: 0, aoRays: 1, exposure: 1, clamp: false, shadows: true, camera: 0 };
  const scene = await engine.scenes.open(files);
  const before = await scene.render(machine, look);
  await assert.rejects(engine.link.raw("page_bvh_node", [0xfffffff0, 0]), { name: "EngineError", status: "internal error" });
  assert.equal(engine.link.generation, 2);
  assert.deepEqual((await scene.render(machine, look)).rgba, before.rgba);
  const seen = [];
  await scene.render(machine, { ...look, width: 640, height: 360, spp: 4 }, { progress: (done, total) => seen.push(done / total) });
  assert.equal(seen.at(-1), 1);
  await scene.close();
  await assert.rejects(scene.render(machine, look), { status: "usage error" });
});

test("a worker whose C code fails is made anew", async (engine) => {
  const image = await engine.bvh.open(room);
  await assert.rejects(engine.link.raw("page_bvh_node", [0xfffffff0, 0]), { name: "EngineError", status: "internal error" });
  assert.deepEqual(await image.explain(RAY), told);
  assert.equal(engine.link.generation, 2);
});

test("a closed engine answers no more", async (engine) => {
  const image = await engine.bvh.open(room);
  const check = image.check();
  engine.close();
  await assert.rejects(check, { status: "cancelled" });
  await assert.rejects(image.explain(RAY), { status: "cancelled" });
});

test("a closed image is refused", async (engine) => {
  const image = await engine.bvh.open(room);
  await image.close();
  await image.close();
  await assert.rejects(image.explain(RAY), { status: "usage error" });
});

let failed = 0;
for (const { name, run } of cases) {
  const engine = startEngine({ wasm, worker });
  let timer;
  try {
    await Promise.race([run(engine), new Promise((_, reject) => (timer = setTimeout(() => reject(new Error("not done after 60 s")), 60_000)))]);
    console.log(`ok   ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}\n${String(error.stack ?? error).slice(0, 1500)}`);
  }
  clearTimeout(timer);
  engine.close();
}
rmSync(folder, { recursive: true, force: true });
console.log(`${cases.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
