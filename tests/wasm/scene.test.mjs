/* Scenes in the page's C code beside the native program: images, pictures by every machine, what is told about a pixel, textures,
 * and files that are broken. Ends with `N passed, N failed`. FACET and FACET_BUILD are as for engine.test.mjs. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { build, engine, facet as run, file, folder, runCases, source, test } from "./cases.mjs";
import { floats, pixels } from "./pixels.mjs";

const { Wasm, calls, sceneApi } = await engine("wasm.ts", "calls.ts", "scene.ts");
const wasm = await Wasm.make(readFileSync(join(build, "web/wasm/facet.wasm")));
const quiet = { progress: () => undefined, part: () => undefined, pause: async () => undefined };

/* The page's end of the line, without a worker between. */
const link = {
  generation: 1,
  call: async (name, args, options = {}) => calls[name](wasm, args, { ...quiet, part: (value) => options.part?.(value), pause: async () => {
    if (options.signal?.aborted === true) {
      throw new Error("cancelled");
    }
  } }),
  raw: async (name, args) => wasm.bytes(name, ...args),
  json: async (name, args = []) => wasm.json(name, ...args),
};
const scenes = sceneApi(link);
const machines = await scenes.machines();
const machine = (name) => machines.find((one) => one.name === name);

const facet = (...words) => run(folder, ...words);

/* What the program complains about, without its own name. */
function complaint(...words) {
  try {
    facet(...words);
  } catch (error) {
    /* jansson names the token at the place as well. */
    return error.stderr.toString().trim().replace(/^facet [a-z ]+: /, "").replace(/ near '.*'$/, "");
  }
  return assert.fail("the program had nothing to complain about");
}

const asset = (name) => join(source, name);
const load = (path, ...beside) => ({
  name: basename(path), bytes: readFileSync(path), beside: beside.map((name) => ({ name, bytes: readFileSync(join(dirname(path), name)) })),
});
const look = (more = {}) => ({
  width: 64, height: 36, spp: 1, bounces: 0, aoRays: 1, exposure: 1, clamp: false, shadows: true, camera: 0, ...more,
});
const crate = () => load(asset("assets/crate.obj"), "crate.mtl", "crate.png");

/* The same triangles in the formats that have no materials. */
const CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], FACES = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
writeFileSync(file("four.ply"), `ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 4\n`
  + `property list uchar int vertex_indices\nend_header\n${CORNERS.map((c) => c.join(" ")).join("\n")}\n${FACES.map((f) => `3 ${f.join(" ")}`).join("\n")}\n`);
writeFileSync(file("four.stl"), `solid four\n${FACES.map((f) => `facet normal 0 0 0\nouter loop\n${f.map((i) => `vertex ${CORNERS[i].join(" ")}`).join("\n")}\nendloop\nendfacet\n`).join("")}endsolid four\n`);

/* One triangle, whose corners are in another file. */
const ONE = JSON.stringify({ asset: { version: "2.0" }, buffers: [{ uri: "sub/points.bin", byteLength: 36 }], bufferViews: [{ buffer: 0, byteLength: 36 }],
  accessors: [{ bufferView: 0, componentType: 5126, count: 3, type: "VEC3", min: [0, 0, 0], max: [1, 1, 0] }],
  meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }], nodes: [{ mesh: 0 }], scenes: [{ nodes: [0] }], scene: 0 });
const POINTS = Buffer.from(new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]).buffer);

const SCENES = [
  load(asset("assets/room.glb")), load(asset("assets/instances.glb")), load(asset("examples/gfx12/flag.gltf")), crate(), load(file("four.ply")),
  load(file("four.stl")),
];
const PATHS = ["assets/room.glb", "assets/instances.glb", "examples/gfx12/flag.gltf", "assets/crate.obj"].map(asset).concat(file("four.ply"), file("four.stl"));

test("the image of a scene has the bytes of facet bvh build", async () => {
  for (const [i, files] of SCENES.entries()) {
    facet("bvh", "build", PATHS[i], "-o", "image.gfx12", "-q");
    assert.deepEqual(Buffer.from(await calls["scene.build"](wasm, [files], quiet)), readFileSync(file("image.gfx12")), files.name);
  }
});

test("every machine draws the picture of facet render, to the bit", async () => {
  assert.deepEqual(machines.map(({ name }) => name).sort(), ["gfx12", "tile", "xphmg-gfx", "xphmg-gfx-portable", "xphmg-rt", "xphmg-rt-offload"]);
  for (const [i, files] of [[0, SCENES[0]], [3, SCENES[3]]]) {
    const scene = await scenes.open(files);
    for (const one of machines) {
      const words = [PATHS[i], "-q", "--size", "64x36", "--spp", "2", "--machine", one.name];
      facet("render", ...words, "-o", "p.pfm");
      facet("render", ...words, "-o", "p.png");
      const got = await scene.render(one, look({ spp: 2 }), { light: true });
      assert.deepEqual(got.light, floats(readFileSync(file("p.pfm"))), `${files.name} by ${one.name}`);
      assert.deepEqual(got.rgba, pixels(readFileSync(file("p.png"))), `${files.name} by ${one.name}, developed`);
    }
    await scene.close();
  }
});

test("camera, light, tone and heat maps are those of the options", async () => {
  const scene = await scenes.open(SCENES[0]);
  const place = { eye: [1, 1.5, 2], lookAt: [0, 1, 0], up: [0, 1, 0], fov: 70 };
  const moved = ["--eye", "1,1.5,2", "--look-at", "0,1,0", "--up", "0,1,0", "--fov", "70"];
  for (const [name, words, more] of [
    ["gfx12", ["--camera", "frame"], { camera: -1 }],
    ["gfx12", moved, { place }],
    ["xphmg-rt", [...moved, "--bounces", "2", "--seed", "9"], { place, bounces: 2, seed: 9 }],
    ["tile", moved, { place }],
    ["gfx12", ["--exposure", "3.5", "--tone", "clamp", "--no-ao", "--no-shadows"], { exposure: 3.5, clamp: true, aoRays: 0, shadows: false }],
    ["xphmg-rt-offload", ["--ao-rays", "3", "--ao-distance", "0.5"], { aoRays: 3, aoDistance: 0.5 }],
  ]) {
    facet("render", PATHS[0], "-q", "--size", "64x36", "--spp", "1", "--machine", name, ...words, "-o", "p.png");
    const got = await scene.render(machine(name), look(more));
    assert.deepEqual(got.rgba, pixels(readFileSync(file("p.png"))), words.join(" "));
  }
  for (const view of ["nodes", "triangles"]) {
    const words = [PATHS[0], "-q", "--size", "64x36", "--spp", "1", "--machine", "xphmg-rt", "--heatmap", view]; /* too small for a legend */
    facet("render", ...words, "-o", "p.pfm");
    facet("render", ...words, "-o", "p.png");
    const got = await scene.render(machine("xphmg-rt"), look({ view }), { light: true });
    assert.deepEqual(got.light, floats(readFileSync(file("p.pfm"))), view);
    assert.deepEqual(got.rgba, pixels(readFileSync(file("p.png"))), view);
  }
  await scene.close();
});

test("what is told about a pixel is facet why, as text and as JSON", async () => {
  const scene = await scenes.open(SCENES[0]);
  for (const { name } of machines) {
    const words = ["why", PATHS[0], "--pixel", "40,20", "--size", "64x36", "--spp", "1", "--machine", name, "--quiet"];
    assert.equal((await scene.why(machine(name), look(), 40, 20)).trim(), facet(...words).toString().trim(), name);
    assert.equal((await scene.why(machine(name), look(), 40, 20, true)).trim(), facet(...words, "--json").toString().trim(), name);
  }
  await scene.close();
});

test("what is left out is what facet render says, machine by machine", async () => {
  const words = (notes) => notes.map(({ count, what, first, why }) => [count, what, first, why]);
  const lights = Array.from({ length: 70 }, () => ({ type: "point" }));
  const many = JSON.parse(ONE);
  many.extensions = { KHR_lights_punctual: { lights } };
  many.extensionsUsed = ["KHR_lights_punctual"];
  many.nodes.push(...lights.map((_, light) => ({ extensions: { KHR_lights_punctual: { light } } })));
  many.scenes[0].nodes = many.nodes.map((_, i) => i);
  many.buffers[0].uri = `data:application/octet-stream;base64,${POINTS.toString("base64")}`;
  writeFileSync(file("many.gltf"), JSON.stringify(many));
  for (const [path, name] of [[PATHS[2], "gfx12"], [file("many.gltf"), "tile"], [file("many.gltf"), "gfx12"]]) {
    const scene = await scenes.open(load(path));
    const told = JSON.parse(facet("render", path, "-q", "--size", "16x9", "--spp", "1", "--machine", name, "-o", "p.png", "--json").toString()).left_out;
    const notes = words(await scene.leftOut(machine(name)));
    for (const one of words(told)) {
      assert.ok(notes.some((note) => JSON.stringify(note) === JSON.stringify(one)), `${path} by ${name}: ${one[1]}`);
    }
    assert.equal(notes.length - (await scene.leftOut()).length, name === "tile" ? 1 : 0);
    await scene.close();
  }
});

test("a picture comes in parts that belong to the whole, and can be cancelled", async () => {
  const scene = await scenes.open(SCENES[0]);
  const parts = [];
  const wide = look({ width: 320, height: 180, spp: 4 });
  const whole = await scene.render(machine("xphmg-rt"), wide, { part: (rgba) => parts.push(rgba) });
  assert.ok(parts.length > 0);
  for (const part of parts) {
    let drawn = 0;
    for (let i = 0; i < part.length; i += 4) {
      if (part[i + 3] !== 0) {
        drawn++;
        assert.ok([0, 1, 2].every((c) => part[i + c] === whole.rgba[i + c]), `pixel ${i / 4}`);
      }
    }
    assert.ok(drawn > 0 && drawn < 320 * 180);
  }
  const cancel = new AbortController();
  cancel.abort();
  await assert.rejects(scene.render(machine("xphmg-rt"), wide, { signal: cancel.signal }), /cancelled/);
  assert.equal((await scene.render(machine("gfx12"), look())).rgba.length, 4 * 64 * 36);
  await scene.close();
});

/* ---- pictures ---- */

function chunk(name, body) {
  const out = Buffer.alloc(12 + body.length);
  out.writeUInt32BE(body.length, 0);
  out.write(name, 4, "latin1");
  body.copy(out, 8);
  out.writeUInt32BE(crc32(out.subarray(4, 8 + body.length)), 8 + body.length);
  return out;
}

/* A PNG of any kind with every filter, of bytes that look random; those of filter 4 are small, so that its sums are often equal. */
function png(kind, depth, interlaced, transparent) {
  const size = 13, channels = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }[kind], head = Buffer.alloc(13);
  let state = 1 + kind + 16 * depth + 999 * interlaced;
  const random = () => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 24;
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  head.set([depth, kind, 0, 0, interlaced], 8);
  const passes = interlaced ? [[0, 0, 8, 8], [4, 0, 8, 8], [0, 4, 4, 8], [2, 0, 4, 4], [0, 2, 2, 4], [1, 0, 2, 2], [0, 1, 1, 2]] : [[0, 0, 1, 1]];
  const rows = passes.flatMap(([x, y, dx, dy]) =>
    Array.from({ length: Math.ceil((size - y) / dy) }, (_, k) =>
      [k % 5, ...Array.from({ length: Math.ceil((Math.ceil((size - x) / dx) * channels * depth) / 8) }, () => random() & (k % 5 === 4 ? 3 : 255))]));
  const parts = [chunk("IHDR", head)];
  if (kind === 3) {
    parts.push(chunk("PLTE", Buffer.from(Array.from({ length: 3 * 2 ** depth }, random))));
  }
  if (transparent !== undefined) {
    parts.push(chunk("tRNS", Buffer.from(transparent)));
  }
  const packed = deflateSync(Buffer.from(rows.flat()));
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), ...parts, chunk("IDAT", packed.subarray(0, 40)),
    chunk("IDAT", packed.subarray(40)), chunk("IEND", Buffer.alloc(0))]);
}

async function crateWith(picture) {
  const files = crate();
  writeFileSync(file("crate.png"), picture);
  for (const name of ["crate.obj", "crate.mtl"]) {
    writeFileSync(file(name), readFileSync(asset(`assets/${name}`)));
  }
  files.beside[1] = { name: "crate.png", bytes: picture };
  return scenes.open(files);
}

test("PNG textures of every kind have the texels of the program", async () => {
  const kinds = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [2, 8], [2, 16], [3, 1], [3, 2], [3, 4], [3, 8], [4, 8], [4, 16], [6, 8], [6, 16]];
  for (const [kind, depth] of kinds) {
    for (const interlaced of [0, 1]) {
      for (const transparent of [undefined, { 0: [0, 1], 2: [0, 1, 0, 2, 0, 3], 3: [0, 128] }[kind]]) {
        const scene = await crateWith(png(kind, depth, interlaced, transparent));
        facet("render", "crate.obj", "-q", "--size", "40x40", "--spp", "1", "-o", "p.pfm");
        const got = await scene.render(machine("gfx12"), look({ width: 40, height: 40 }), { light: true });
        assert.deepEqual(got.light, floats(readFileSync(file("p.pfm"))), `kind ${kind}, ${depth} bits, interlaced ${interlaced}, tRNS ${transparent}`);
        await scene.close();
      }
    }
  }
});

test("a damaged picture is noted, and the plain colour is drawn", async () => {
  const whole = png(2, 8, 0), flipped = Buffer.from(whole);
  flipped[60] ^= 1;
  for (const bad of [whole.subarray(0, 80), flipped, Buffer.from("GIF89a")]) {
    const scene = await crateWith(bad);
    facet("render", "crate.obj", "-q", "--size", "16x16", "--spp", "1", "-o", "p.pfm");
    const got = await scene.render(machine("gfx12"), look({ width: 16, height: 16 }), { light: true });
    assert.deepEqual(got.light, floats(readFileSync(file("p.pfm"))));
    const notes = await scene.leftOut();
    assert.equal(notes.length, 1);
    assert.match(notes[0].why, /damaged PNG|neither PNG nor JPEG/);
    await scene.close();
  }
});

/* ---- what is wrong ---- */

test("a broken scene is the importer's message, and the module works on", async () => {
  const room = readFileSync(PATHS[0]);
  const bad = {
    "cut.glb": room.subarray(0, 5000), "empty.glb": Buffer.alloc(0), "words.gltf": Buffer.from('{"asset": {"version": "2.0"}, "scenes": 7}'),
    "comma.gltf": Buffer.from('{"asset": {"version": "2.0"},}'), "index.obj": Buffer.from("v 0 0 0\nf 1 2 9\n"), "head.ply": Buffer.from("ply\nformat odd 1.0\n"),
    "short.stl": Buffer.from("solid x\nfacet normal 0 0 1\n"), "what.glb": Buffer.from("hello"), "nothing.obj": Buffer.from("v 0 0 0\n"),
  };
  for (const [name, bytes] of Object.entries(bad)) {
    writeFileSync(file(name), bytes);
    const told = complaint("render", name, "-q", "-o", "p.png");
    await assert.rejects(scenes.open({ name, bytes, beside: [] }), (error) => {
      assert.equal(error.message, told);
      return true;
    });
    await assert.rejects(async () => calls["scene.build"](wasm, [{ name, bytes, beside: [] }], quiet), { message: complaint("bvh", "build", name, "-q", "-o", "p") });
  }
});

test("files beside a scene are asked for by name", async () => {
  const files = { name: "one.gltf", bytes: Buffer.from(ONE), beside: [] };
  await assert.rejects(scenes.open(files), /sub\/points\.bin: not there; open or drop it together/);
  const scene = await scenes.open({ ...files, beside: [{ name: "points.bin", bytes: POINTS }] });
  assert.equal(scene.facts.triangles, 1);
  await scene.close();
  const bare = await scenes.open({ ...crate(), beside: [] });
  assert.match((await bare.leftOut()).map(({ what }) => what).join(), /crate\.mtl/);
  await bare.close();
});

test("options out of range are refused with what was expected", async () => {
  const scene = await scenes.open(SCENES[5]);
  await assert.rejects(scene.render(machine("gfx12"), look({ spp: 0 })), /spp is 0; expected a whole number from 1/);
  await assert.rejects(scene.render(machine("gfx12"), look({ bounces: 1.5 })), /bounces is 1.5/);
  await assert.rejects(scene.render(machine("gfx12"), look({ exposure: NaN })), /exposure is nan/);
  await assert.rejects(scene.render(machine("gfx12"), look({ camera: 7 })), /camera 7 of 1/);
  await assert.rejects(scene.render(machine("tile"), look({ bounces: 1 })), /traces no rays/);
  await assert.rejects(scene.render({ name: "gpu", whole: false }, look()), /no machine/);
  await assert.rejects(scene.why(machine("gfx12"), look(), 64, 0), /pixel 64,0/);
  await scene.close();
});

await runCases();
