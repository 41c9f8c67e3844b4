/* Files beside a command list in the page's C code: kernels, bytes and PNG pictures give what `facet tile draw` makes of the same
 * folder; what is missing, damaged or leads out of the folder is named. Ends with `N passed, N failed`. FACET and FACET_BUILD say
 * where the program and a build folder after `make web` are. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { constants, crc32, deflateSync } from "node:zlib";

const source = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");
const build = resolve(process.env.FACET_BUILD ?? join(source, "build"));
const program = resolve(process.env.FACET ?? join(build, "facet"));
const folder = mkdtempSync(join(tmpdir(), "facet-files-"));
const { buildSync } = await import(pathToFileURL(join(source, "web/node_modules/esbuild/lib/main.js")).href);

buildSync({
  stdin: { contents: 'export * from "./wasm.ts"; export * from "./calls.ts";', resolveDir: join(source, "web/src/engine") },
  bundle: true, format: "esm", platform: "node", outfile: join(folder, "engine.mjs"), logLevel: "warning",
});
const { Wasm, calls } = await import(pathToFileURL(join(folder, "engine.mjs")).href);
const wasm = await Wasm.make(readFileSync(join(build, "web/wasm/facet.wasm")));

const cases = [];
const test = (name, run) => cases.push({ name, run });
const VRAM = 0x80000000n;

/** What the program says of the list in a folder of its own. */
function native(list, files) {
  writeFileSync(join(folder, "list.json"), JSON.stringify(list));
  for (const { name, bytes } of files) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
  const ran = spawnSync(program, ["tile", "draw", "list.json", "-o", "out.png", "--json"], { cwd: folder });
  return ran.status === 2 ? { error: ran.stderr.toString().trim().replace("facet tile draw: list.json: ", "") } : JSON.parse(ran.stdout);
}

/** The first `size` bytes of the first buffer when the list is over, or the complaint. */
async function here(list, files, size) {
  let id;
  try {
    ({ session: id } = await calls["list.open"](wasm, [{ text: Buffer.from(JSON.stringify(list)), options: "", files }], context));
  } catch (error) {
    return { error: error.message.replace("list: ", "") };
  }
  wasm.json("page_list_goto", id, 1000, 1n << 40n);
  const bytes = wasm.bytes("page_session_memory", id, 0, VRAM, size, 0xffffffff);
  wasm.bytes("page_session_close", id);
  return { bytes: Buffer.from(bytes) };
}

const context = { progress: () => undefined, part: () => undefined, pause: async () => undefined };
const words = (bytes) => [...new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)].map((word) => `0x${word.toString(16)}`);

/* ---- pictures ---- */

let seed = 1;
function random() {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed >>> 24;
}

function chunk(name, body) {
  const out = Buffer.alloc(12 + body.length);
  out.writeUInt32BE(body.length);
  out.write(name, 4, "latin1");
  Buffer.from(body).copy(out, 8);
  out.writeUInt32BE(crc32(out.subarray(4, 8 + body.length)), 8 + body.length);
  return out;
}

const CHANNELS = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const PASSES = [[0, 0, 8, 8], [4, 0, 8, 8], [0, 4, 4, 8], [2, 0, 4, 4], [0, 2, 2, 4], [1, 0, 2, 2], [0, 1, 1, 2]];

/** A picture of any bytes at all: every filter, runs for the packer to find, data in several chunks. */
function png(width, height, kind, depth, { interlaced = false, transparency, pack = {} } = {}) {
  const rows = [];
  for (const [x, y, dx, dy] of interlaced ? PASSES : [[0, 0, 1, 1]]) {
    const columns = Math.ceil((width - x) / dx);
    for (let row = y; columns > 0 && row < height; row += dy) {
      const size = Math.ceil((columns * CHANNELS[kind] * depth) / 8);
      rows.push(Buffer.from([random() % 5, ...Array.from({ length: size }, (_, i) => (i % 22 === 10 ? 0 : i % 22 === 11 ? 0x80 : i % 7 < 3 ? 0x55 : random())) /* 0x0080 rounds closely */]));
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.set([depth, kind, 0, 0, interlaced ? 1 : 0], 8);
  const packed = deflateSync(Buffer.concat(rows), pack);
  const middle = packed.length >> 1;
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", head),
    chunk("gAMA", [0, 1, 134, 160]),
    ...(kind === 3 ? [chunk("PLTE", Array.from({ length: 3 << depth }, random))] : []),
    ...(transparency === undefined ? [] : [chunk("tRNS", transparency)]),
    chunk("IDAT", packed.subarray(0, middle)),
    chunk("IDAT", packed.subarray(middle)),
    chunk("IEND", []),
  ]);
}

function pictureList(count, format) {
  return {
    buffers: { texels: { image: "art/picture.png", ...(format === undefined ? {} : { format }) } },
    frame: { base: "texels", width: 1, height: 1 },
    commands: [{ command: "READ_MEM", address: "texels", count }],
  };
}

test("PNG pictures of every kind have the texels that facet tile draw reads", async () => {
  let compared = 0;
  for (const kind of [0, 2, 3, 4, 6]) {
    for (const depth of kind === 0 ? [1, 2, 4, 8, 16] : kind === 3 ? [1, 2, 4, 8] : [8, 16]) {
      const keys = { 0: [0, depth === 16 ? 0x55 : 1], 2: [0, 0x55, 0, 0x55, 0, 0x55], 3: [0, 128].slice(0, 1 << depth) };
      for (const transparency of keys[kind] === undefined ? [undefined] : [undefined, keys[kind]]) {
        for (const interlaced of [false, true]) {
          const picture = png(19, 13, kind, depth, { interlaced, transparency });
          const list = pictureList(247);
          const expected = native(list, [{ name: "art/picture.png", bytes: picture }]).reads[0].words;
          assert.deepEqual(words((await here(list, [{ name: "picture.png", bytes: picture }], 988)).bytes), expected, `kind ${kind}, ${depth} bits, ${interlaced}`);
          compared++;
        }
      }
    }
  }
  assert.equal(compared, 52);
});

test("packed in every way", async () => {
  const { Z_FIXED, Z_RLE, Z_HUFFMAN_ONLY, Z_DEFAULT_STRATEGY } = constants;
  for (const strategy of [Z_FIXED, Z_RLE, Z_HUFFMAN_ONLY, Z_DEFAULT_STRATEGY]) {
    for (const level of [0, 1, 9]) {
      const picture = png(97, 200, 6, 8, { pack: { strategy, level, windowBits: level === 1 ? 9 : 15 } });
      const list = { ...pictureList(0), commands: [] };
      const expected = native({ ...list, commands: [{ command: "READ_MEM", address: "texels+76000", count: 200 }] }, [{ name: "art/picture.png", bytes: picture }]).reads[0].words;
      assert.deepEqual(words((await here(list, [{ name: "art/picture.png", bytes: picture }], 76800)).bytes.subarray(76000)), expected);
    }
  }
  const small = png(19, 13, 2, 8);
  const list = { ...pictureList(123, "RGB565") };
  assert.deepEqual(words((await here(list, [{ name: "./art//picture.png", bytes: small }], 492)).bytes), native(list, [{ name: "art/picture.png", bytes: small }]).reads[0].words);
});

test("damaged pictures are refused where the program refuses them", async () => {
  const good = png(19, 13, 2, 8);
  let refused = 0;
  for (let i = 0; i < 400; i++) {
    const bad = Buffer.from(good);
    bad[8 + ((i * 37) % (bad.length - 8))] ^= 1 << i % 8;
    const list = pictureList(247);
    const expected = native(list, [{ name: "art/picture.png", bytes: bad }]);
    const found = await here(list, [{ name: "picture.png", bytes: bad }], 988);
    if (expected.error === undefined) {
      assert.deepEqual(words(found.bytes), expected.reads[0].words, `flip ${i}`);
    } else {
      assert.ok(found.error !== undefined, `flip ${i}: the program says ${expected.error}`);
      refused++;
    }
  }
  assert.ok(refused > 100, `${refused} refused`);
  for (let size = 0; size < good.length; size += 11) {
    assert.match((await here(pictureList(1), [{ name: "picture.png", bytes: good.subarray(0, size) }], 4)).error, /buffers\.texels\.image: (damaged|not a) PNG/);
  }
  /* Cut off within the packed data, with a checksum that holds. */
  const packed = png(19, 13, 2, 8, { pack: { level: 9 } });
  const begin = packed.indexOf("IDAT") - 4, end = packed.indexOf("IEND") - 4;
  const body = packed.subarray(begin + 8, begin + 8 + packed.readUInt32BE(begin));
  for (let size = 0; size < body.length; size += 7) {
    const bytes = Buffer.concat([packed.subarray(0, begin), chunk("IDAT", body.subarray(0, size)), packed.subarray(end)]);
    assert.match((await here(pictureList(1), [{ name: "picture.png", bytes }], 4)).error, /damaged PNG/);
  }
});

/* ---- names ---- */

test("kernels, what they include, and bytes are found", async () => {
  const kernel = Buffer.from('.include "more.s"\n MARK s1\n CSRR s5, arg_base\n LW s2, 0(s5)\n SW s1, 0(s2)\n EXIT\n');
  const more = Buffer.from(".macro MARK reg\n ADDI \\reg, s0, 77\n.endm\n");
  const list = {
    buffers: { out: { size: 64 }, args: { u32: ["out"] }, k: { assembly: "k.s" }, data: { file: "sub/data.bin" } },
    frame: { base: "out", width: 1, height: 1 },
    commands: [
      { command: "DISPATCH", descriptor: { pc: "k", grid: [1, 1], arg_base: "args", arg_size: 4 } },
      { command: "COPY_BUFFER", to: "out+4", from: "data", count: 2 },
      { command: "READ_MEM", address: "out", count: 4 },
    ],
  };
  const files = [{ name: "k.s", bytes: kernel }, { name: "more.s", bytes: more }, { name: "sub/data.bin", bytes: Buffer.from("8 bytes.") }];
  const expected = native(list, files);
  assert.equal(expected.failed, 0, JSON.stringify(expected.commands));
  assert.deepEqual(words((await here(list, files, 16)).bytes), expected.reads[0].words);
});

test("what is missing is named, and what leads out of the folder is refused", async () => {
  const list = (name) => ({ buffers: { d: { file: name } }, frame: { base: "d", width: 1, height: 1 }, commands: [] });
  const files = [{ name: "data.bin", bytes: Buffer.alloc(4) }];
  assert.equal((await here(list("other.bin"), files, 4)).error, "buffers.d.file: other.bin: not there; open or drop it together with this file");
  assert.equal((await here(list("data.bin"), [], 4)).error, "buffers.d.file: data.bin: not there; open or drop it together with this file");
  for (const name of ["../data.bin", "/data.bin", ""]) {
    assert.equal((await here(list(name), files, 4)).error, native(list(name), files).error, name);
  }
  assert.equal((await here(list("deep/data.bin"), files, 4)).bytes.length, 4, "a name alone is found for any folder");
});

let failed = 0;
for (const { name, run } of cases) {
  try {
    await run();
    console.log(`ok   ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}\n${error.stack}`);
  }
}
rmSync(folder, { recursive: true });
console.log(`${cases.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
