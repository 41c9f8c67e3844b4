/* Captures, structures of drivers and images in pieces, as the page opens them, beside what the program says of the same files.
 * Ends with `N passed, N failed`. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build, engine, facet as run, file, folder, runCases, source, test } from "./cases.mjs";

const { Wasm } = await engine("wasm.ts");
const wasm = await Wasm.make(readFileSync(join(build, "web/wasm/facet.wasm")));
const facet = (...words) => run(folder, ...words);
const open = (bytes, { base = 0n, root = 0, segments = null, driver = "", structure = -1 } = {}) =>
  wasm.json("page_bvh_open", bytes, base, root, segments, driver, structure);
const written = JSON.parse(execFileSync("python3", [join(source, "tests/wasm/write_captures.py"), folder], { env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" } }));
const RAYS = [[3, 2, 1, 0, -1, 0], [0.1, 5, 0.2, 0, -1, 0.01], [-6, 0.3, 0.2, 1, 0.02, 0.01], [0.3, 0.4, 7, -0.01, 0.01, -1]];

/** A command that exits with 1 has printed its findings all the same. */
function told(...words) {
  try {
    return JSON.parse(facet(...words, "--json"));
  } catch (error) {
    return JSON.parse(error.stdout);
  }
}

/** Everything that the page shows of an image, beside what the program says for `words`. */
function compare(opened, words) {
  const info = told("bvh", "info", ...words);
  info.structures.forEach((one) => delete one.file);
  for (const name of ["driver", "reason", "translated", "structure", "left_out", "structures"]) {
    assert.deepEqual(opened[name], info[name], name);
    delete info[name];
  }
  assert.deepEqual(wasm.json("page_bvh_figures", opened.handle), info);
  const check = told("bvh", "check", ...words);
  const found = wasm.json("page_bvh_check", opened.handle);
  const list = ({ findings }) => findings.map(({ rule, severity, offset, text, found: seen }) => [rule, severity, Number(offset), text ?? seen]);
  assert.deepEqual(list(found).map(([rule, severity, , text]) => [rule, severity, text]), list(check).map(([rule, severity, , text]) => [rule, severity, text]));
  for (const ray of RAYS) {
    assert.equal(wasm.text("page_bvh_explain", opened.handle, new Float32Array([...ray, 0, Infinity]), 0, 0xff),
      facet("bvh", "why", ...words, "--ray", ray.join(" "), "--json").toString());
  }
  wasm.bytes("page_bvh_close", opened.handle);
}

test("captures are opened as the program opens them, every structure", () => {
  for (const name of [...written.captures, join(source, "examples/gfx12/two.rra")]) {
    const bytes = readFileSync(resolve(folder, name));
    const opened = open(bytes);
    compare(opened, [name]);
    for (const { index } of opened.structures) {
      compare(open(bytes, { structure: index }), [name, "--structure", String(index)]);
    }
  }
});

/** The pieces of a driver as the page lays them out: by address, each from a multiple of 64 on. */
function piecesOf(driver) {
  const list = written.buffers[driver].map(([name, address]) => ({ name, address: BigInt(address), bytes: readFileSync(file(name)) }));
  const words = list.flatMap(({ name, address }) => ["--segment", `${name}@0x${address.toString(16)}`]);
  const base = list[0].address;
  let offset = 0;
  list.sort((a, b) => (a.address < b.address ? -1 : 1));
  const at = list.map(({ bytes }) => {
    const here = offset;
    offset = Math.ceil((offset + bytes.length) / 64) * 64;
    return here;
  });
  const whole = new Uint8Array(at.at(-1) + list.at(-1).bytes.length);
  list.forEach(({ bytes }, i) => whole.set(bytes, at[i]));
  return { words, base, whole, segments: new BigUint64Array(list.flatMap(({ address, bytes }, i) => [address, BigInt(at[i]), BigInt(bytes.length)])) };
}

test("buffers of drivers are opened as the program opens them, by name and by `auto`", () => {
  for (const driver of Object.keys(written.buffers)) {
    const { words, base, whole, segments } = piecesOf(driver);
    compare(open(whole, { base, segments, driver }), [...words, "--driver", driver]);
    compare(open(whole, { base, segments, driver: "auto", structure: 1 }), [...words, "--driver", "auto", "--structure", "1"]);
    assert.throws(() => open(whole, { base, segments, driver, structure: 9 }), /structure 9; expected 0 to 2/);
  }
});

test("one buffer lies where its header or the user says", () => {
  const bytes = readFileSync(file("gpurt-1.bin"));
  compare(open(bytes, { driver: "gpurt" }), ["gpurt-1.bin", "--driver", "gpurt"]);
  compare(open(bytes, { driver: "auto", base: 0x123400n }), ["gpurt-1.bin", "--driver", "auto", "--base", "0x123400"]);
});

test("an image without a header can lie anywhere", () => {
  facet("bvh", "build", join(source, "examples/gfx12/cube.obj"), "-o", "high.gfx12", "-q", "--base", "0xffff800000001000");
  const bytes = readFileSync(file("high.gfx12"));
  const ray = (opened) => wasm.text("page_bvh_explain", opened.handle, new Float32Array([...RAYS[0], 0, Infinity]), 0, 0xff);
  const native = (...words) => facet("bvh", "why", "high.gfx12", "--ray", RAYS[0].join(" "), "--json", "--base", "0xffff800000001000", ...words).toString();
  const opened = open(bytes, { driver: "auto", base: 0xffff800000001000n });
  assert.equal(opened.structures, undefined);
  assert.equal(ray(opened), native());
  assert.equal(wasm.json("page_bvh_figures", opened.handle).triangles, 12);
});

test("what is no image, or lies nowhere, is refused in words", () => {
  const good = readFileSync(file("plain.rra"));
  const patched = (at, value) => {
    const out = Buffer.from(good);
    out.writeBigInt64LE(BigInt(value), at);
    return out;
  };
  const index = Number(good.readBigInt64LE(16));
  const noise = (size) => Buffer.from(Array.from({ length: size }, (_, i) => (i * 7919 + (i >> 3) * 31) & 255));
  for (const [pattern, bytes, place] of [
    [/index/, good.subarray(0, 40)],
    [/index/, patched(16, good.length)],
    [/does not lie inside the file/, patched(index + 2 * 64 + 40, 2 ** 40)],
    [/RDF/, Buffer.from("AMD_RDF ")],
    [/a PNG picture; expected a BVH image/, Buffer.from("\x89PNG\r\n\x1a\n", "latin1")],
    [/is not a node of the image \(10 bytes/, noise(10)],
    [/is not a node of the image \(0 bytes/, Buffer.alloc(0)],
    [/the root 0x00100005 is not a node/, noise(4096), { root: 0x100005 }],
    [/the base is 0x123; expected a multiple of 64/, noise(4096), { base: 0x123n }],
    [/at address 0x1001; expected a multiple of 64/, noise(4096), { base: 0x1000n, segments: new BigUint64Array([0x1001n, 0n, 4096n]) }],
    [/and no other piece there/, noise(4096), { base: 0x1000n, segments: new BigUint64Array([0x1000n, 0n, 2048n, 0x1400n, 2048n, 2048n]) }],
    [/a piece of 0x2000 bytes/, noise(4096), { base: 0x1000n, segments: new BigUint64Array([0x1000n, 0n, 8192n]) }],
    [/driver 'intel'; expected radv, gpurt, hiprt or auto/, noise(4096), { driver: "intel" }],
    [/no structure of radv/, noise(4096), { driver: "radv" }],
  ]) {
    assert.throws(() => open(bytes, place), (error) => pattern.test(error.message) || assert.fail(`${pattern}: ${error.message}`));
  }
  compare(open(good), ["plain.rra"]);
});

test("captures that were damaged anywhere are opened or refused", () => {
  const good = readFileSync(file("recorded.rra"));
  let opened = 0;
  for (let i = 0; i < 400; i++) {
    const bytes = Buffer.from(good);
    bytes[(i * 2654435761) % bytes.length] ^= 1 << (i % 8);
    try {
      const { handle } = open(bytes);
      opened++;
      wasm.json("page_bvh_check", handle);
      wasm.bytes("page_bvh_close", handle);
    } catch (error) {
      assert.equal(error.status, "bad input", error.message);
    }
  }
  assert.ok(opened > 100);
});

/* libzstd does not always look whether all of a stream was used, so it opens a few that the page refuses. */
test("chunks in zstd are what libzstd makes of them, and refused where it refuses", () => {
  compare(open(readFileSync(file("packed.rra"))), ["packed.rra"]);
  /* The last bytes of the large one's first chunk are its checksum. */
  const summed = readFileSync(file("well.rra"));
  const index = Number(summed.readBigInt64LE(16)) + 2 * 64;
  summed[Number(summed.readBigInt64LE(index + 40)) + Number(summed.readBigInt64LE(index + 48)) - 1] ^= 1;
  assert.throws(() => open(summed), /is no zstd data of/);
  const good = readFileSync(file("packed.rra"));
  const at = (i) => 32 + ((i * 2654435761) % (good.length - 32));
  let refused = 0;
  for (let i = 0; i < 60; i++) {
    const bytes = Buffer.from(good);
    bytes[at(i)] ^= 1 << (i % 8);
    writeFileSync(file("damaged.rra"), bytes);
    let native, own;
    try {
      native = told("bvh", "dump", "damaged.rra");
    } catch {
      native = undefined;
    }
    try {
      own = open(bytes);
    } catch (error) {
      assert.equal(error.status, "bad input", error.message);
    }
    refused += own === undefined ? 1 : 0;
    if (own !== undefined) {
      assert.notEqual(native, undefined, `bit ${i % 8} of byte ${at(i)}`);
      assert.deepEqual(wasm.json("page_bvh_dump", own.handle).nodes, native.nodes);
      wasm.bytes("page_bvh_close", own.handle);
    }
  }
  assert.ok(refused > 5 && refused < 60, `${refused} refused`);
});

await runCases();
