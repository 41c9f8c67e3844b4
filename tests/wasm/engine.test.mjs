/* The engine of the page without a browser: the calls of web/src/engine on facet.wasm, beside what the native program says.
 * Ends with `N passed, N failed`. FACET and FACET_BUILD say where the program and a build folder after `make web` are. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, engine, facet as run, file, folder, runCases, source, test } from "./cases.mjs";
import { pixels } from "./pixels.mjs";

const { Wasm, calls } = await engine("wasm.ts", "calls.ts");
const module = readFileSync(join(build, "web/wasm/facet.wasm"));
const facet = (...words) => run(folder, ...words);
const quiet = { progress: () => undefined, part: () => undefined, pause: async () => undefined };

const RAY = [-1, 0.25, 0.5, 1, 0.25, 0.125, 0, Infinity];
const RAY_TEXT = "-1 0.25 0.5 1 0.25 0.125";
const wasm = await Wasm.make(module);
facet("bvh", "build", join(source, "examples/gfx12/cube.obj"), "-o", "cube.gfx12", "-q");
facet("bvh", "build", join(source, "assets/room.glb"), "-o", "room.gfx12", "-q", "--quality", "high");
facet("bvh", "build", join(source, "examples/gfx12/cube.obj"), "-o", "cube.tiles", "--format", "xphmg4", "-q");
const open = (name, ...place) => wasm.json("page_bvh_open", readFileSync(file(name)), ...(place.length > 0 ? place : [0n, 0, null, "", -1]));
const cube = open("cube.gfx12"), room = open("room.gfx12"), tiles = open("cube.tiles");
const images = [["cube.gfx12", cube], ["room.gfx12", room]];

test("images are opened with their format and size", () => {
  assert.equal(cube.format, "gfx12");
  assert.equal(tiles.format, "xphmg");
  assert.equal(room.size, readFileSync(file("room.gfx12")).length);
});

test("an explained ray is facet bvh why --json", () => {
  for (const [name, { handle }] of images) {
    for (const [flags, mask] of [[0, 0xff], [0x10, 0x01]]) {
      assert.equal(wasm.text("page_bvh_explain", handle, new Float32Array(RAY), flags, mask),
        facet("bvh", "why", name, "--ray", RAY_TEXT, "--flags", String(flags), "--mask", String(mask), "--json").toString());
    }
  }
});

test("rules of values are those of the text of facet bvh why", () => {
  const said = facet("bvh", "why", "room.gfx12", "--ray", RAY_TEXT).toString();
  wasm.text("page_bvh_explain", room.handle, new Float32Array(RAY), 0, 0xff);
  const rules = wasm.json("page_bvh_rules");
  assert.equal(rules.children.near, "9.2 step 4");
  assert.equal(rules.triangles.miss, "9.4");
  assert.equal(rules.children.grid_origin, undefined);
  for (const [name, rule] of Object.entries(rules.children).filter(([key]) => !["hit", "duplicate"].includes(key))) {
    assert.ok(said.split("\n").some((line) => new RegExp(`\\b${name}\\b`).test(line) && line.endsWith(`(${rule})`)), `${name} (${rule})`);
  }
  wasm.text("page_bvh_explain", cube.handle, new Float32Array([100, 100, 100, 1, 0, 0, 0, 1]), 0, 0);
  assert.equal(wasm.json("page_bvh_rules").triangles, undefined, "of the last record alone");
});

test("an explained ray of XPHMG_RT is facet rt why --json", () => {
  assert.equal(wasm.text("page_rt_explain", tiles.handle, new Float32Array(RAY), 0, 1),
    facet("rt", "why", "--tiles", "cube.tiles", "--ray", RAY_TEXT, "--flags", "cull_back", "--json").toString());
});

test("the text of an image is facet bvh dump --json", () => {
  for (const [name, { handle }] of images) {
    assert.equal(wasm.text("page_bvh_dump", handle).trim(), facet("bvh", "dump", name, "--json").toString().trim());
  }
});

test("figures are those of facet bvh info --json", () => {
  for (const [name, { handle }] of images) {
    assert.deepEqual(wasm.json("page_bvh_figures", handle), JSON.parse(facet("bvh", "info", name, "--json").toString()));
  }
});

test("findings are those of facet bvh check --json, with their nodes", () => {
  const broken = readFileSync(file("cube.gfx12"));
  broken.fill(0xff, 12, 40); /* grid origin of the root */
  writeFileSync(file("broken.gfx12"), broken);
  let told;
  try {
    facet("bvh", "check", "broken.gfx12", "--json");
    assert.fail("the program found nothing");
  } catch (error) {
    told = JSON.parse(error.stdout.toString());
  }
  const found = wasm.json("page_bvh_check", open("broken.gfx12").handle);
  assert.ok(found.errors > 0);
  assert.equal(found.errors, told.errors);
  const words = (list) => list.map(({ rule, requirement, severity, expected, text, found: seen }) => [rule, requirement, severity, expected, text ?? seen]);
  assert.deepEqual(words(found.findings), words(told.findings));
  assert.ok(found.findings.every(({ node, offset }) => node === -1 || offset < broken.length));
  assert.deepEqual(wasm.json("page_bvh_check", tiles.handle), { errors: 0, count: 0, findings: [] });
});

test("pictures are those of facet bvh render, pixel by pixel", async () => {
  for (const [name, { handle }] of images) {
    for (const [aov, number] of [["normal", 1], ["depth", 2], ["ids", 3], ["", 0]]) {
      facet("bvh", "render", name, "-q", "--size", "96x64", ...(aov === "" ? [] : ["--aov", aov]), "-o", "picture.png");
      const picture = await calls["bvh.picture"](wasm, [{
        bvh: handle, width: 96, height: 64, camera: null, aov: number, flags: 0, mask: 0xff, procedural: false, heatMax: 0, values: false,
      }], quiet);
      assert.deepEqual(picture.rgba, pixels(readFileSync(file("picture.png"))), `${name} ${aov}`);
    }
  }
});

test("a picture comes in parts, each the beginning of the whole, and can be cancelled", async () => {
  const parts = [];
  const request = { bvh: room.handle, width: 640, height: 360, camera: null, aov: 4, flags: 0, mask: 0xff, procedural: false, heatMax: 50, values: true };
  const whole = await calls["bvh.picture"](wasm, [request], { ...quiet, part: (part) => parts.push(part) });
  assert.equal(whole.values.length, 640 * 360);
  assert.equal(whole.nodes, whole.values.reduce((sum, value) => sum + value, 0));
  for (const part of parts) {
    assert.deepEqual(part.rgba, whole.rgba.slice(0, part.rgba.length));
  }
  const stopped = calls["bvh.picture"](wasm, [request], { ...quiet, pause: () => Promise.reject(new Error("cancelled")) });
  await assert.rejects(stopped, /cancelled/);
});

test("the ray of a pixel is the one that facet bvh why takes", () => {
  const camera = new Float64Array([2, 1.5, 3, 0.5, 0.5, 0.5, 0, 1, 0, 50]);
  const ray = new Float32Array(wasm.bytes("page_bvh_pixel_ray", cube.handle, 47, 30, 96, 64, camera).buffer);
  const told = facet("bvh", "why", "cube.gfx12", "--pixel", "47,30", "--size", "96x64", "--eye", "2,1.5,3", "--look-at", "0.5,0.5,0.5",
    "--fov", "50", "--json");
  assert.equal(wasm.text("page_bvh_explain", cube.handle, ray, 0, 0xff), told.toString());
});

test("traced rays hit what the explained ones hit", () => {
  for (const { handle } of [cube, room]) {
    for (const ray of [RAY, [0, 5, 0, 0.01, -1, 0.02, 0, Infinity], [0, 5, 0, 0, 1, 0, 0, Infinity]]) {
      const words = new Uint32Array(wasm.bytes("page_bvh_trace", handle, new Float32Array(ray), 0, 0xff).buffer);
      const { result } = wasm.json("page_bvh_explain", handle, new Float32Array(ray), 0, 0xff);
      assert.equal((words[3] & 1) !== 0, result.found);
      if (result.found) {
        assert.deepEqual([...words.slice(0, 3), words[4], words[5]],
          [Number(result.t.bits), Number(result.u.bits), Number(result.v.bits), result.primitive, result.geometry]);
      }
    }
  }
});

/* The traced ones take decoded nodes and vectors, the explained ones the reference loop. */
function assertSameHits(handle, rays) {
  const words = new Uint32Array(wasm.bytes("page_bvh_trace", handle, rays, 0x10, 0xff).buffer);
  let hits = 0;
  for (let i = 0; i < rays.length / 8; i++) {
    const { result } = wasm.json("page_bvh_explain", handle, rays.slice(8 * i, 8 * i + 8), 0x10, 0xff);
    assert.equal((words[8 * i + 3] & 1) !== 0, result.found, `ray ${i}`);
    if (result.found) {
      hits++;
      assert.deepEqual([...words.slice(8 * i, 8 * i + 3), words[8 * i + 4]],
        [Number(result.t.bits), Number(result.u.bits), Number(result.v.bits), result.primitive], `ray ${i}`);
    }
  }
  return hits;
}

let seed = 1;
const next = () => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) / 2 ** 32;

test("odd rays hit the same bits in every way", () => {
  const odd = [0, -0, 1, -1, 1e-42, -1e30, Infinity, NaN, 0.5, 2];
  const number = (share, spread) => (next() < share ? odd[Math.floor(next() * odd.length)] : (next() - 0.5) * spread);
  const rays = Float32Array.from({ length: 8 * 600 }, (_, i) => {
    const share = i < 8 * 300 ? 0 : 0.2;
    return i % 8 < 3 ? number(share, 6) : i % 8 < 6 ? number(share, 2) : i % 8 === 6 ? 0 : Infinity;
  });
  assert.ok(assertSameHits(room.handle, rays) > 100);
});

/* Along a plane of a box 0 times infinity is a NaN, which must not hide what the other axes say. */
test("rays in the planes of boxes hit the same bits in every way", () => {
  for (const { handle } of [cube, room]) {
    const rays = [];
    for (const { lo, hi } of wasm.json("page_bvh_node", handle, 0).decoded.children) {
      for (let axis = 0; axis < 3; axis++) {
        for (const plane of [lo[axis], hi[axis]]) {
          for (let i = 0; i < 8; i++) {
            const origin = [0, 1, 2].map((k) => lo[k] - 1 + next() * (hi[k] - lo[k] + 2));
            const aim = [0, 1, 2].map((k) => lo[k] + next() * (hi[k] - lo[k]) - origin[k]);
            origin[axis] = plane;
            aim[axis] = i % 2 === 0 ? 0 : -0;
            rays.push(...origin, ...aim, 0, Infinity);
          }
        }
      }
    }
    assertSameHits(handle, Float32Array.from(rays));
  }
});

test("the tree has every node once, children behind parents and inside their boxes", () => {
  const bytes = wasm.bytes("page_bvh_tree", room.handle);
  const [count, levels, instances] = new Uint32Array(bytes.buffer, 0, 3);
  const figures = wasm.json("page_bvh_figures", room.handle);
  assert.equal(count, figures.box_nodes + figures.primitive_nodes + figures.instance_nodes);
  assert.equal(instances, figures.instance_nodes);
  assert.equal(levels, figures.bottom_levels + 1);
  const eight = (n) => Math.ceil(n / 8) * 8;
  const parentAt = 16 + 8 * count + 8 * levels + eight(4 * count);
  const parent = new Int32Array(bytes.buffer, parentAt, count);
  assert.equal(parent[0], -1);
  for (let i = 1; i < count; i++) {
    assert.ok(parent[i] >= 0 && parent[i] < i);
  }
  const node = wasm.json("page_bvh_node", room.handle, 0);
  assert.equal(node.kind, "box");
  const triangles = wasm.bytes("page_bvh_triangles", room.handle, 0, 0xffffffff).length / 48;
  assert.equal(triangles, figures.triangles);
});

test("an image in pieces is read at their addresses", () => {
  const bytes = readFileSync(file("cube.gfx12"));
  const moved = wasm.json("page_bvh_open", bytes, 0x10000n, 0, new BigUint64Array([0x10000n, 0n, BigInt(bytes.length)]));
  assert.equal(wasm.json("page_bvh_check", moved.handle).count >= 0, true);
  assert.throws(() => wasm.json("page_bvh_open", bytes, 0n, 0, new BigUint64Array([0x10001n, 0n, 64n])), /multiple of 64/);
});

test("programs are those of facet as, and complaints have their places", () => {
  const text = ["_start:", "  addi x5, x0, 7", "  mul x6, x5, x5", "  ebreak", ""].join("\n");
  writeFileSync(file("a.s"), text);
  facet("as", "--isa", "xphmg", "a.s", "-o", "a.elf", "-g");
  const made = calls["isa.assemble"](wasm, [0, text, "a.s"], quiet);
  assert.deepEqual(made.diagnostics, []);
  assert.deepEqual(Buffer.from(made.program), readFileSync(file("a.elf")));
  const bad = calls["isa.assemble"](wasm, [0, "  addi x5, x0, 99999\n  foo x1\n", "b.s"], quiet);
  assert.equal(bad.ok, false);
  assert.deepEqual(bad.diagnostics.map(({ line }) => line), [1, 2]);
  assert.equal(calls["isa.assemble"](wasm, [0, "nop\n".repeat(3), "c.s"], quiet).ok, true, "after a text with too many errors");
});

test("a text with too many errors is left in the middle, and the next one is read", () => {
  const many = calls["isa.assemble"](wasm, [1, "nonsense\n".repeat(500), "m.s"], quiet);
  assert.equal(many.ok, false);
  assert.ok(many.diagnostics.length < 500);
  assert.equal(calls["isa.assemble"](wasm, [0, "nop\n", "n.s"], quiet).ok, true);
});

test("words are decoded as facet dis prints them, and back", () => {
  const decoded = wasm.json("page_isa_decode", 0, 0x00700293, 0n);
  assert.equal(decoded.row.mnemonic, "addi");
  assert.match(decoded.text, /^(li|addi)\b/);
  const line = wasm.bytes("page_isa_line", 0, decoded.text, 0n);
  assert.equal(new DataView(line.buffer).getUint32(0, true), 0x00700293);
  assert.ok(wasm.json("page_isa_rows", 1).rows.length > 50);
  assert.ok(wasm.json("page_isa_csrs", 0).csrs.some(({ name }) => name === "CAP.PREC.MODE"));
});

test("a test of a box says which rule decided", () => {
  const bits = (...values) => new Uint32Array(new Float32Array(values).buffer);
  const ray = bits(...RAY);
  const box = wasm.json("page_rt_box", "FP32", ray, bits(0, 0, 0, 1, 1, 1), 0);
  assert.equal(box.outcome, "hit");
  assert.equal(box.values[0].value, 1);
  const miss = wasm.json("page_rt_box", "FP32", ray, bits(0, 5, 0, 1, 6, 1), 0);
  assert.equal(miss.outcome, "miss");
  const triangle = wasm.json("page_rt_triangle", "FP32", ray, bits(0, 0, 0, 0, 4, 0, 0, 0, 4), 0, 0);
  assert.equal(triangle.outcome, "hit");
  assert.equal(triangle.decided, "T11");
});

test("errors come back as status, place and words, and the module works on", () => {
  assert.throws(() => wasm.json("page_bvh_explain", tiles.handle, new Float32Array(RAY), 0, 0xff),
    (error) => error.status === "usage error" && /GFX12/.test(error.message));
  assert.throws(() => wasm.json("page_isa_decode", 0, 0, 0n), (error) => error.status === "bad input");
  assert.throws(() => wasm.bytes("page_nothing"), (error) => error.status === "internal error");
  assert.equal(wasm.json("page_version").version, JSON.parse(facet("version", "--json").toString()).facet);
});

await runCases();
