/* The line between page and worker, under node: its threads stand for the browser's workers. Calls beside each other, progress,
 * cancelling, a worker that is stuck. Ends with `N passed, N failed`; FACET and FACET_BUILD as for engine.test.mjs. */

import assert from "node:assert/strict";
import { resolveObjectURL } from "node:buffer";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Worker as Thread } from "node:worker_threads";
import { build, engine, facet as run, folder, runCases, source, test, workerScript } from "./cases.mjs";

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

const worker = workerScript();
const { startEngine } = await engine("index.ts");
const wasm = new Uint8Array(readFileSync(join(build, "web/wasm/facet.wasm")));
const facet = (...words) => run(folder, ...words);
facet("bvh", "build", join(source, "assets/room.glb"), "-o", "room.gfx12", "-q");
const room = new Uint8Array(readFileSync(join(folder, "room.gfx12")));
const RAY = { origin: [-1, 0.25, 0.5], direction: [1, 0.25, 0.125] };
const told = JSON.parse(facet("bvh", "why", "room.gfx12", "--ray", "-1 0.25 0.5 1 0.25 0.125", "--json").toString());
/** The record as the program prints it: the sections of the contract beside it are the page's. */
const withoutRules = ({ rules, ...record }) => (assert.equal(rules.children.near, "9.2 step 4"), record);

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
  assert.deepEqual(withoutRules(await image.explain(RAY)), told);
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
  assert.deepEqual(withoutRules(await image.explain(RAY)), told);
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
  assert.deepEqual(withoutRules(await image.explain(RAY)), told);
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
  assert.deepEqual(withoutRules(await image.explain(RAY)), told);
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

await runCases(() => startEngine({ wasm, worker }), (made) => made.close());
