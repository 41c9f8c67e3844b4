/* Scenes in the page: the image is that of facet bvh build, pictures are those of facet render, what is told about a pixel is facet
 * why, whatever way the scene came in. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { pixels } from "../../wasm/pixels.mjs";
import { facet, SOURCE, test } from "../harness.mjs";

const DRAWN = ".bvh-body:not([hidden]) canvas.picture[aria-busy=false]";
const BY = "select[aria-label='Surfaces by']";
const BESIDE = "select[aria-label='Beside it']";
const CAMERA = "select[aria-label='Camera']";

/** Waits until a picture of the machine, or the image's, is whole. */
async function drawn(t, by) {
  await t.page.waitForSelector(DRAWN);
  await t.page.waitForSelector(`.legend >> text=${by === undefined ? "nodes per ray" : `by ${by}`}`, { timeout: 90_000 });
  await t.page.waitForSelector(DRAWN);
}

/** A scene in a small picture, as it is first seen. */
async function enter(t, ...paths) {
  await t.open();
  await t.choose(...paths);
  await drawn(t, "gfx12");
  await t.page.selectOption("select[aria-label=Size]", "320x180");
  await drawn(t, "gfx12");
}

/** The image that was made of it. */
async function open(t, ...paths) {
  await enter(t, ...paths);
  await t.page.selectOption(CAMERA, "-1");
  await t.page.selectOption(BY, "");
  await drawn(t);
}

async function shown(t, canvas = 0) {
  const base64 = await t.page.locator("canvas.picture").nth(canvas).evaluate((one) => {
    const { data } = one.getContext("2d").getImageData(0, 0, one.width, one.height);
    let text = "";
    for (let i = 0; i < data.length; i += 4096) {
      text += String.fromCharCode(...data.subarray(i, i + 4096));
    }
    return btoa(text);
  });
  return new Uint8ClampedArray(Buffer.from(base64, "base64"));
}

function rendered(t, scene, ...words) {
  facet("render", scene, "-q", "--size", "320x180", "-o", t.file("native.png"), ...words);
  return pixels(readFileSync(t.file("native.png")));
}

function differing(a, b) {
  assert.equal(a.length, b.length);
  let count = 0;
  for (let i = 0; i < a.length; i += 4) {
    count += a[i] !== b[i] || a[i + 1] !== b[i + 1] || a[i + 2] !== b[i + 2] ? 1 : 0;
  }
  return count;
}

async function same(t, machine, expected, what = machine) {
  await t.page.selectOption(BY, machine);
  await drawn(t, machine);
  assert.equal(differing(await shown(t), expected), 0, what);
}

async function setSamples(t, count) {
  await t.page.fill("input[aria-label='Samples per pixel']", String(count));
  await t.page.locator("input[aria-label='Samples per pixel']").blur();
}

test("a scene that is opened becomes the image of facet bvh build", async (t) => {
  await open(t, "assets/room.glb");
  const [download] = await Promise.all([t.page.waitForEvent("download"), t.page.click("text=Save image")]);
  assert.equal(download.suggestedFilename(), "room.gfx12");
  facet("bvh", "build", "assets/room.glb", "-o", t.file("room.gfx12"), "-q");
  assert.ok(readFileSync(await download.path()).equals(readFileSync(t.file("room.gfx12"))));
  facet("bvh", "render", t.file("room.gfx12"), "-o", t.file("native.png"), "--size", "320x180", "-q");
  assert.equal(differing(await shown(t), pixels(readFileSync(t.file("native.png")))), 0);
});

test("a scene is first seen by its own camera, as facet render draws it", async (t) => {
  await enter(t, "assets/room.glb");
  assert.equal(differing(await shown(t), rendered(t, "assets/room.glb", "--spp", "1")), 0);
});

test("every machine's picture in the page is that of facet render", async (t) => {
  await open(t, "assets/room.glb");
  await t.page.selectOption(CAMERA, "0");
  await t.page.selectOption(BY, "gfx12");
  await setSamples(t, 1);
  for (const machine of ["gfx12", "xphmg-rt", "xphmg-rt-offload", "xphmg-gfx", "xphmg-gfx-portable", "tile"]) {
    await same(t, machine, rendered(t, "assets/room.glb", "--machine", machine, "--spp", "1"));
  }
  await t.shot("scene-tile");
});

test("a camera that was moved and other light are those of the command", async (t) => {
  await open(t, "assets/room.glb");
  await t.page.selectOption(CAMERA, "0");
  await same(t, "gfx12", rendered(t, "assets/room.glb", "--spp", "1"));
  const box = await t.page.locator("canvas.picture").first().boundingBox();
  await t.page.mouse.move(box.x + 100, box.y + 100);
  await t.page.mouse.down();
  await t.page.mouse.move(box.x + 160, box.y + 120, { steps: 3 });
  await t.page.mouse.up();
  await t.page.fill("input[aria-label=Bounces]", "2");
  await t.page.fill("input[aria-label=Exposure]", "1.5");
  await t.page.selectOption("select[aria-label=Tone]", "clamp");
  await t.page.waitForTimeout(500);
  await drawn(t, "gfx12");
  await t.page.locator("canvas.picture").first().click({ position: { x: 50, y: 50 } });
  await t.page.waitForSelector("text=Ray of pixel");
  await t.page.click("text=The same in a terminal");
  const words = (await t.page.locator(".command").innerText()).split(" ");
  assert.deepEqual(words.slice(0, 3), ["facet", "why", "room.glb"]);
  const pixel = words.indexOf("--pixel");
  const options = words.slice(3).filter((_, i) => i + 3 !== pixel && i + 3 !== pixel + 1);
  assert.ok(options.includes("--bounces") && options.includes("--eye") && options.includes("--tone"));
  facet("render", "assets/room.glb", "-q", "-o", t.file("native.png"), ...options);
  assert.equal(differing(await shown(t), pixels(readFileSync(t.file("native.png")))), 0);
});

test("what a machine did for a pixel is facet why", async (t) => {
  await open(t, "assets/room.glb");
  await t.page.selectOption(CAMERA, "0");
  await t.page.selectOption(BY, "tile");
  await setSamples(t, 1);
  for (const machine of ["tile", "xphmg-gfx"]) {
    await t.page.selectOption(BY, machine);
    await drawn(t, machine);
    await t.page.fill("input[aria-label='Pixel x']", "200");
    await t.page.fill("input[aria-label='Pixel y']", "90");
    await t.page.locator("input[aria-label='Pixel y']").blur();
    await t.page.click(".subtabs >> text=Machine");
    const expected = facet("why", "assets/room.glb", "--pixel", "200,90", "--size", "320x180", "--spp", "1", "--machine", machine).toString().trim();
    await t.page.waitForFunction((text) => document.querySelector("pre.why").textContent.trim() === text, expected);
    await t.page.waitForSelector("text=Ray of pixel (200, 90)");
  }
  assert.deepEqual(await t.accessibility(), []);
  await t.shot("scene-why");
});

test("pictures by two machines stand beside each other", async (t) => {
  await open(t, "assets/crate.obj", "assets/crate.mtl", "assets/crate.png");
  await t.page.selectOption(BY, "xphmg-gfx");
  await setSamples(t, 1);
  for (const machine of ["xphmg-gfx-portable", "gfx12"]) {
    await t.page.selectOption(BESIDE, machine);
    const words = ["assets/crate.obj", "--spp", "1", "--camera", "frame", "--machine"];
    const count = differing(rendered(t, ...words, "xphmg-gfx"), rendered(t, ...words, machine));
    await t.page.waitForSelector(`text=/^${count} of 57600 pixels differ/`);
    assert.deepEqual(await t.page.locator(".compare figcaption").allInnerTexts(), ["xphmg-gfx", machine]);
  }
  await t.shot("scene-beside");
  assert.deepEqual(await t.accessibility(), []);
  await t.page.selectOption(BESIDE, "-");
  await t.page.waitForSelector(".place:not([hidden]) > .picture-area");
});

test("files beside a scene come along; without them the page says what is missing", async (t) => {
  await open(t, "assets/crate.obj", "assets/crate.mtl", "assets/crate.png");
  await same(t, "gfx12", rendered(t, "assets/crate.obj", "--spp", "1", "--camera", "frame"));
  await open(t, "assets/crate.obj");
  await t.page.click("text=not everything is shown");
  await t.page.waitForSelector("text=/material library crate.mtl.*not there; open or drop it together with this file/");
});

test("an image that is dropped with a scene is opened by itself", async (t) => {
  facet("bvh", "build", "assets/boxes.glb", "-o", t.file("boxes.gfx12"), "-q");
  await t.open();
  await t.choose("assets/crate.obj", "assets/crate.mtl", "assets/crate.png", t.file("boxes.gfx12"));
  await t.page.waitForSelector(".file-name >> text=boxes.gfx12");
  await drawn(t);
  await t.page.waitForSelector(".scene-bar", { state: "hidden" });
});

test("JPEG textures have the texels of the program", async (t) => {
  await t.open();
  const base64 = await t.page.evaluate(async () => {
    const canvas = new OffscreenCanvas(61, 47);
    const context = canvas.getContext("2d");
    for (let i = 0; i < 400; i++) {
      context.fillStyle = `hsl(${(i * 77) % 360} 80% ${20 + ((i * 31) % 60)}%)`;
      context.fillRect((i * 37) % 61, (i * 53) % 47, 1 + (i % 9), 1 + (i % 5));
    }
    const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/jpeg", quality: 0.8 })).arrayBuffer());
    return btoa(String.fromCharCode(...bytes));
  });
  for (const [name, bytes] of [["made.jpg", Buffer.from(base64, "base64")], ["small.jpg", readFileSync(`${SOURCE}/tests/fuzz/corpus/image/small.jpg`)]]) {
    writeFileSync(t.file(name), bytes);
    writeFileSync(t.file("crate.obj"), readFileSync(`${SOURCE}/assets/crate.obj`));
    writeFileSync(t.file("crate.mtl"), `newmtl crate\nKd 1 1 1\nmap_Kd ${name}\n`);
    await open(t, t.file("crate.obj"), t.file("crate.mtl"), t.file(name));
    await same(t, "gfx12", rendered(t, t.file("crate.obj"), "--spp", "1", "--camera", "frame"), name);
  }
});

test("a broken scene gets the importer's message, and the page lives on", async (t) => {
  await t.open();
  writeFileSync(t.file("cut.glb"), readFileSync(`${SOURCE}/assets/room.glb`).subarray(0, 5000));
  let told = "";
  try {
    facet("bvh", "build", t.file("cut.glb"), "-o", t.file("image"), "-q");
  } catch (error) {
    told = error.stderr.toString().trim().split("cut.glb: ")[1];
  }
  assert.ok(told.length > 10);
  await t.choose(t.file("cut.glb"));
  await t.page.waitForSelector(`[role=alert] >> text=cut.glb: ${told}`);
  await t.choose("assets/boxes.glb");
  await drawn(t, "gfx12");
});

test("a scene that is good for an image alone is shown as one", async (t) => {
  const points = Buffer.from(new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, NaN, 0, 0]).buffer);
  const gltf = { asset: { version: "2.0" }, scene: 0, scenes: [{ nodes: [0] }], nodes: [{ mesh: 0 }], meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }],
    accessors: [{ bufferView: 0, componentType: 5126, count: 6, type: "VEC3" }], bufferViews: [{ buffer: 0, byteLength: points.length }],
    buffers: [{ byteLength: points.length, uri: `data:application/octet-stream;base64,${points.toString("base64")}` }] };
  writeFileSync(t.file("odd.gltf"), JSON.stringify(gltf));
  assert.throws(() => facet("render", t.file("odd.gltf"), "-q", "-o", t.file("native.png")));
  await t.open();
  await t.choose(t.file("odd.gltf"));
  await t.page.waitForSelector("text=/no pictures by machines: odd.gltf: /");
  await drawn(t);
  await t.page.waitForSelector(".scene-bar", { state: "hidden" });
});

test("a picture that takes long grows, can be cancelled, and the next one is drawn", async (t) => {
  await open(t, "assets/room.glb");
  await t.page.selectOption(CAMERA, "0");
  await t.page.selectOption(BY, "gfx12");
  await drawn(t, "gfx12");
  const before = await shown(t);
  await setSamples(t, 100);
  await t.page.selectOption(BY, "xphmg-rt");
  await t.page.waitForSelector("text=Drawing");
  let grown = 0;
  for (let i = 0; i < 100 && grown === 0; i++) {
    await t.page.waitForTimeout(100);
    grown = differing(await shown(t), before);
  }
  assert.ok(grown > 0 && grown < 320 * 180, `${grown} pixels`);
  await t.page.click("text=Cancel");
  await t.page.waitForSelector("text=Drawing", { state: "detached" });
  await setSamples(t, 60000); /* a single bucket takes minutes: the worker is given up */
  await t.page.waitForSelector("text=Drawing");
  await t.page.waitForTimeout(1000);
  await t.page.click("text=Cancel");
  await t.page.waitForSelector("text=Drawing", { state: "detached" });
  await setSamples(t, 1);
  await same(t, "gfx12", rendered(t, "assets/room.glb", "--spp", "1"));
});

test("facet view hands the scene itself to the page", async (t) => {
  await t.view("assets/crate.obj");
  await drawn(t, "gfx12");
  await t.page.selectOption("select[aria-label=Size]", "320x180");
  await drawn(t, "gfx12");
  await same(t, "xphmg-rt", rendered(t, "assets/crate.obj", "--spp", "1", "--camera", "frame", "--machine", "xphmg-rt"));
});

test("a small scene travels in a link with its picture", async (t) => {
  await open(t, "assets/crate.obj", "assets/crate.mtl", "assets/crate.png");
  await t.page.selectOption(BY, "xphmg-rt-offload");
  await drawn(t, "xphmg-rt-offload");
  await t.page.waitForFunction(() => location.hash.startsWith("#bvh="));
  await t.page.waitForTimeout(600);
  const hash = await t.page.evaluate(() => location.hash);
  const expected = await shown(t);
  await t.open(hash);
  await drawn(t, "xphmg-rt-offload");
  assert.equal(differing(await shown(t), expected), 0);
});
