/* Trees, figures and triangles of images of both formats, beside what `facet bvh info`, `dump` and `check` say. Ends with
 * `N passed, N failed`. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, engine, facet as run, file, folder, runCases, source, test } from "./cases.mjs";

const { Wasm, readTree, readTriangles } = await engine("wasm.ts", "bvh.ts");
const wasm = await Wasm.make(readFileSync(join(build, "web/wasm/facet.wasm")));
const facet = (...words) => run(folder, ...words);
const open = (bytes) => wasm.json("page_bvh_open", bytes, 0n, 0, null, "auto", -1).handle;
const BOX = 2, PRIMITIVE = 1;

function image(scene, name, ...options) {
  facet("bvh", "build", join(source, scene), "-o", name, "-q", ...options);
  return { handle: open(readFileSync(file(name))), info: JSON.parse(facet("bvh", "info", name, "--json")) };
}
const treeOf = (handle) => readTree(wasm.bytes("page_bvh_tree", handle));
const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 1e-5 * Math.max(Math.abs(a), Math.abs(b), 1e-3), `${what}: ${a} and ${b}`);
const below = (tree) => Array.from({ length: tree.count }, (_, i) => i).reduce((lists, i) => (tree.parent[i] >= 0 && lists[tree.parent[i]].push(i), lists), Array.from({ length: tree.count }, () => []));

/** A visit of a box, and what is below it. */
function costsAddUp(tree) {
  const lists = below(tree);
  for (let i = 0; i < tree.count; i++) {
    if (tree.kind[i] === BOX && lists[i].length > 0) {
      const own = tree.parent[i] < 0 || tree.level[tree.parent[i]] !== tree.level[i] ? 1 : tree.area[i];
      near(tree.cost[i], own + lists[i].reduce((sum, child) => sum + tree.cost[child], 0), `node ${i}`);
    }
  }
}

for (const [scene, ...options] of [["examples/gfx12/cube.obj"], ["assets/room.glb", "--quality", "contract"], ["examples/gfx12/flag.gltf"]]) {
  test(`SAH costs of GFX12 add up to that of facet bvh info: ${scene}`, () => {
    const { handle, info } = image(scene, "a.gfx12", ...options);
    const tree = treeOf(handle);
    near(tree.cost[0], info.sah_cost, "root");
    costsAddUp(tree);
    assert.equal(tree.slots, 8);
  });
}

for (const format of ["xphmg4", "xphmg8"]) {
  for (const [scene, ...options] of [["examples/gfx12/cube.obj"], ["assets/room.glb"], ["assets/room.glb", "--ew", "16"]]) {
    test(`an image of XPHMG_RT is what facet bvh info and dump say: ${[format, scene, ...options].join(" ")}`, () => {
      const { handle, info } = image(scene, "a.tiles", "--format", format, ...options);
      const tree = treeOf(handle);
      const dump = JSON.parse(facet("bvh", "dump", "a.tiles", "--json"));
      assert.deepEqual(wasm.json("page_bvh_figures", handle), info);
      assert.equal(tree.count, info.nodes + info.leaves);
      assert.equal(tree.slots, info.format === "xphmg4" ? 4 : 8);
      assert.equal(tree.triangles[0], info.triangles);
      near(tree.cost[0], info.sah_cost, "root");
      costsAddUp(tree);
      const byOffset = new Map(Array.from(tree.offset, (offset, i) => [offset, i]));
      const lists = below(tree);
      const histogram = new Array(tree.slots + 1).fill(0);
      for (const place of dump.places) {
        const i = byOffset.get(Number(place.offset));
        assert.equal(tree.kind[i], place.kind === "node" ? BOX : PRIMITIVE);
        assert.equal(tree.id[i], place.index);
        if (place.kind === "node") {
          const used = place.children.filter((child) => child.type !== "empty");
          histogram[tree.children[i]]++;
          assert.equal(tree.children[i], used.length);
          lists[i].forEach((child) => {
            const said = place.children[tree.slot[child]];
            assert.equal(tree.id[child], said.index);
            assert.deepEqual([...tree.box.subarray(6 * child, 6 * child + 6)], [...said.min, ...said.max].map(Math.fround));
          });
        } else {
          assert.equal(tree.triangles[i], place.count);
        }
      }
      assert.deepEqual(histogram, info.nodes_by_children);
      const triangles = readTriangles(wasm.bytes("page_bvh_triangles", handle, 0, 0xffffffff));
      const said = dump.places.filter((place) => place.kind === "leaf").flatMap((place) => place.triangles.map((one) => [byOffset.get(Number(place.offset)), ...one.corners.flat().map(Math.fround)].join(" ")));
      const shown = Array.from({ length: triangles.count }, (_, i) => [triangles.node[i], ...triangles.positions.subarray(9 * i, 9 * i + 9)].join(" "));
      assert.deepEqual(shown.sort(), said.sort());
    });
  }
}

test("findings of a damaged image of XPHMG_RT lead to their nodes", () => {
  facet("bvh", "build", join(source, "assets/room.glb"), "-o", "room.tiles", "-q", "--format", "xphmg8");
  const good = readFileSync(file("room.tiles"));
  let led = 0;
  for (let i = 0; i < 60; i++) {
    const bytes = Buffer.from(good);
    bytes[128 + ((i * 7919) % (good.length / 3 - 128) | 0)] ^= 1 << (i % 8);
    writeFileSync(file("bad.tiles"), bytes);
    const handle = open(bytes);
    const tree = treeOf(handle);
    const found = wasm.json("page_bvh_check", handle);
    let native;
    try {
      native = JSON.parse(facet("bvh", "check", "bad.tiles", "--json", "--max", "10000"));
    } catch (error) {
      native = JSON.parse(error.stdout);
    }
    assert.equal(found.errors, native.errors);
    assert.equal(found.count, native.errors + native.warnings);
    native.findings.forEach((one, n) => assert.deepEqual([found.findings[n].rule, found.findings[n].offset], [one.rule, Number(one.offset)]));
    for (const { node, offset } of found.findings) {
      led += node >= 0 ? 1 : 0;
      assert.ok(node < 0 || (node < tree.count && tree.offset[node] <= offset), `finding at ${offset} in node ${node}`);
    }
    wasm.bytes("page_bvh_triangles", handle, 0, 0xffffffff);
    wasm.bytes("page_bvh_close", handle);
  }
  assert.ok(led > 20, `${led} lead to a node`);
});

await runCases();
