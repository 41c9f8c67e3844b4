/* Ray and BVH: what is shown is what the program says about the same pixel; tree, findings, two images, links, 3D. */

import assert from "node:assert/strict";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { facet, SOURCE, test } from "../harness.mjs";

const SIZE = { width: 640, height: 360 };
const DRAWN = ".bvh-body:not([hidden]) canvas.picture[aria-busy=false]";

/** Clicks the middle of a pixel of the picture, wherever it is on the page. */
async function clickPixel(t, x, y) {
  await t.page.waitForSelector(DRAWN);
  const box = await t.page.locator("canvas.picture").first().boundingBox();
  await t.page.mouse.click(box.x + ((x + 0.5) / SIZE.width) * box.width, box.y + ((y + 0.5) / SIZE.height) * box.height);
  await t.page.waitForSelector(`text=Ray of pixel (${x}, ${y})`);
}

function built(t, scene, ...options) {
  const image = t.file("image.gfx12");
  facet("bvh", "build", scene, "-o", image, ...options);
  return image;
}

function why(image, x, y, ...options) {
  return JSON.parse(facet("bvh", "why", image, "--pixel", `${x},${y}`, "--size", `${SIZE.width}x${SIZE.height}`, "--json", ...options));
}

function number(value) {
  return typeof value.value === "number" ? String(Number(value.value.toPrecision(9))) : value.value;
}

/** Every step on the page against every step of the record: node, children, verdicts, registers, all floats of a child. */
async function compareRay(t, record) {
  const shown = await t.page.locator(".steps li").allInnerTexts();
  assert.equal(shown.length, record.steps.length);
  for (const [i, step] of record.steps.entries()) {
    await t.page.locator(".steps li button").nth(i).click();
    assert.match(await t.page.locator(".step-detail h3").innerText(), new RegExp(`^${step.kind} node ${step.node} `));
    const registers = await t.page.locator(".registers tr td:nth-child(2)").allInnerTexts();
    assert.deepEqual(registers, step.v.map((word) => `0x${Number(word).toString(16).padStart(8, "0")}`));
    const slots = t.page.locator(".step-detail .slot");
    const items = step.children ?? step.triangles ?? [];
    assert.equal(await slots.count(), items.length);
    for (const [k, item] of items.entries()) {
      const slot = slots.nth(k);
      const verdict = await slot.locator(".verdict").first().innerText();
      assert.equal(verdict.startsWith("hit"), item.hit === true && item.absent !== true, `${step.node} ${k}: ${verdict}`);
      await slot.locator("summary").click();
      const rows = Object.fromEntries(
        await slot.locator("tr").evaluateAll((list) => list.map((row) => [row.cells[0].textContent, [...row.cells].slice(1).map((cell) => ({ text: cell.textContent, bits: cell.title }))])),
      );
      for (const [name, value] of Object.entries(item)) {
        const values = Array.isArray(value) ? value : [value];
        if (values.every((one) => one !== null && typeof one === "object" && "bits" in one)) {
          for (const [n, one] of values.entries()) {
            assert.deepEqual({ text: rows[name][n].text, bits: rows[name][n].bits }, { text: number(one), bits: one.bits }, `${step.node} ${k} ${name}`);
          }
        }
      }
    }
  }
}

test("the ray of a pixel is that of facet bvh why, number by number", async (t) => {
  const image = built(t, "assets/room.glb");
  await t.view(image);
  for (const [x, y] of [[288, 223], [320, 180]]) {
    await clickPixel(t, x, y);
    const record = why(image, x, y);
    assert.equal(record.result.found, true);
    const shown = await t.page.locator(".ray-result .tuv").evaluateAll((list) => list.map((one) => [one.textContent.trim(), one.title]));
    assert.deepEqual(shown, ["t", "u", "v"].map((name) => [`${name} ${number(record.result[name])}`, record.result[name].bits]));
    await compareRay(t, record);
  }
  await t.shot("bvh-ray");
});

test("a camera that was moved gives the rays of the command that the page shows", async (t) => {
  const image = built(t, "assets/room.glb");
  await t.view(image);
  await t.page.waitForSelector(DRAWN);
  const box = await t.page.locator("canvas.picture").first().boundingBox();
  await t.page.mouse.move(box.x + 200, box.y + 100);
  await t.page.mouse.wheel(0, -300);
  await t.page.mouse.down();
  await t.page.mouse.move(box.x + 260, box.y + 130, { steps: 4 });
  await t.page.mouse.up();
  await t.page.check("text=cull backs");
  await clickPixel(t, 300, 200);
  await t.page.click("text=The same in a terminal");
  const command = (await t.page.locator(".command").innerText()).split(" ");
  assert.deepEqual(command.slice(0, 4), ["facet", "bvh", "why", "image.gfx12"]);
  assert.ok(command.includes("--eye") && command.includes("--flags"));
  const record = JSON.parse(facet("bvh", "why", image, ...command.slice(4), "--json"));
  await compareRay(t, record);
  await t.shot("bvh-inside");
});

test("a ray that hits nothing says so", async (t) => {
  const image = built(t, "assets/room.glb");
  await t.view(image);
  await clickPixel(t, 3, 3);
  assert.equal(why(image, 3, 3).result.found, false);
  assert.match(await t.page.locator(".ray-result").innerText(), /hits nothing/);
});

test("pictures are those of facet bvh render", async (t) => {
  const image = built(t, "assets/room.glb");
  await t.view(image);
  for (const [aov, option] of [["picture", undefined], ["normal", "normal"], ["ids", "ids"], ["depth", "depth"]]) {
    await t.page.selectOption("select[aria-label=Picture]", aov);
    await t.page.waitForSelector("canvas.picture[aria-busy=false]");
    const png = t.file("native.png");
    facet("bvh", "render", image, "-o", png, "--size", "640x360", ...(option === undefined ? [] : ["--aov", option]));
    const bytes = readFileSync(png).toString("base64");
    const differs = await t.page.evaluate(async (base64) => {
      const native = new Image();
      native.src = `data:image/png;base64,${base64}`;
      await native.decode();
      const canvas = document.createElement("canvas");
      canvas.width = native.width;
      canvas.height = native.height;
      const context = canvas.getContext("2d");
      context.drawImage(native, 0, 0);
      const a = context.getImageData(0, 0, native.width, native.height).data;
      const shown = document.querySelector("canvas.picture");
      const b = shown.getContext("2d").getImageData(0, 0, shown.width, shown.height).data;
      let count = a.length === b.length ? 0 : -1;
      for (let i = 0; i < a.length && count >= 0; i++) {
        count += a[i] !== b[i] ? 1 : 0;
      }
      return count;
    }, bytes);
    assert.equal(differs, 0, aov);
  }
});

test("keys go through the steps and from pixel to pixel", async (t) => {
  await t.view(built(t, "assets/room.glb"));
  await clickPixel(t, 320, 180);
  await t.page.keyboard.press("ArrowRight");
  assert.match(await t.page.locator(".step-place").innerText(), /^step 2 of/);
  await t.page.keyboard.press("End");
  await t.page.keyboard.press("ArrowRight");
  const [, at, count] = /step (\d+) of (\d+)/.exec(await t.page.locator(".step-place").innerText());
  assert.equal(at, count);
  await t.page.keyboard.press("Shift+ArrowDown");
  await t.page.waitForSelector("text=Ray of pixel (320, 181)");
  await t.page.locator(".pixel input").first().fill("12");
  await t.page.keyboard.press("Enter");
  await t.page.waitForSelector("text=Ray of pixel (12, 181)");
});

test("the stack that is shown is as deep as the record says", async (t) => {
  const image = built(t, "assets/room.glb");
  await t.view(image);
  await clickPixel(t, 320, 180);
  for (const [i, step] of why(image, 320, 180).steps.entries()) {
    await t.page.locator(".steps li button").nth(i).click();
    assert.equal(await t.page.locator(".stack .chip").count(), step.depth, `step ${i}`);
  }
});

test("the tree filters, orders and shows what the ray visits", async (t) => {
  const image = built(t, "assets/room.glb");
  const info = JSON.parse(facet("bvh", "info", image, "--json"));
  await t.view(image);
  await clickPixel(t, 320, 180);
  const note = t.page.locator(".tree > .row .note");
  assert.equal(await note.innerText(), `${info.nodes} nodes`);
  await t.page.fill("input[type=search]", "instance");
  assert.equal(await note.innerText(), `${info.instance_nodes} of ${info.nodes} nodes`);
  await t.page.fill("input[type=search]", "");
  await t.page.selectOption("select[aria-label=Order]", "overlap");
  const overlaps = (await t.page.locator(".tree-space .tree-row > span:nth-child(6)").allInnerTexts()).map(Number);
  assert.deepEqual(overlaps, [...overlaps].sort((a, b) => b - a));
  await t.page.selectOption("select[aria-label=Order]", "tree");
  await t.page.check("text=only what the ray visits");
  const visited = new Set(why(image, 320, 180).steps.map((step) => step.image_offset));
  assert.equal(await note.innerText(), `${visited.size} of ${info.nodes} nodes`);
});

test("the filter takes figures of nodes", async (t) => {
  const image = built(t, "assets/room.glb");
  const info = JSON.parse(facet("bvh", "info", image, "--json"));
  await t.view(image);
  await t.page.waitForSelector(DRAWN);
  const note = t.page.locator(".tree > .row .note");
  const count = async (words) => {
    await t.page.fill("input[type=search]", words);
    return Number((await note.innerText()).split(" ")[0]);
  };
  for (const [depth, nodes] of info.nodes_by_depth.entries()) {
    assert.equal(await count(`depth ${depth}`), nodes);
  }
  const by = info.box_nodes_by_children;
  assert.equal(await count("box empty>=5"), by[0] + by[1] + by[2] + by[3]);
  assert.equal(await count("box empty<5"), by.slice(4).reduce((a, b) => a + b));
  assert.equal(await count("sah>1e9"), 0);
  await t.page.fill("input[type=search]", "");
  const costs = t.page.locator(".tree-space .tree-row > span:nth-child(7)");
  assert.equal(await costs.first().innerText(), info.sah_cost.toPrecision(4));
  await t.page.selectOption("select[aria-label=Order]", "sah");
  const shown = (await costs.allInnerTexts()).map(Number);
  assert.deepEqual(shown, [...shown].sort((a, b) => b - a));
});

test("an image of XPHMG_RT has tree, figures, findings and 3D", async (t) => {
  const image = t.file("room.tiles");
  facet("bvh", "build", "assets/room.glb", "-o", image, "--format", "xphmg8");
  const info = JSON.parse(facet("bvh", "info", image, "--json"));
  await t.open();
  await t.choose(image);
  await clickPixel(t, 320, 180);
  const note = t.page.locator(".tree > .row .note");
  assert.equal(await note.innerText(), `${info.nodes + info.leaves} nodes`);
  assert.equal(await t.page.locator(".tree-space .tree-row").first().locator("span:nth-child(7)").innerText(), info.sah_cost.toPrecision(4));
  await t.page.check("text=only what the ray visits");
  assert.equal(Number((await note.innerText()).split(" ")[0]), await t.page.locator(".steps li").filter({ hasNotText: "skipped" }).count());
  await t.shot("bvh-tiles-tree");
  await t.page.click("text=Figures");
  const figures = await t.page.locator(".figures").innerText();
  for (const name of ["nodes", "leaves", "triangles", "stack_entries"]) {
    assert.match(figures, new RegExp(`${name.replace("_", " ")}\\s+${info[name]}\\b`));
  }
  await t.page.click("text=3D");
  await t.page.waitForSelector(".space canvas");
  await t.page.waitForTimeout(500);
  await t.shot("bvh-tiles-space");
  assert.ok((await t.page.locator(".space canvas").screenshot()).length > 3000, "the picture has one colour");
});

test("a chosen node is shown as facet bvh dump has it", async (t) => {
  for (const [name, ...options] of [["image.gfx12"], ["image.tiles", "--format", "xphmg8"]]) {
    const image = t.file(name);
    facet("bvh", "build", "assets/room.glb", "-o", image, ...options);
    const dump = JSON.parse(facet("bvh", "dump", image, "--json"));
    await t.open();
    await t.choose(image);
    await t.page.waitForSelector(DRAWN);
    for (const row of [0, 2, 9]) {
      await t.page.click(".subtabs >> text=Tree");
      await t.page.locator(".tree-space .tree-row").nth(row).click();
      await t.page.click(".subtabs >> text=Node");
      const place = t.page.locator(".pane:not([hidden]) tr", { has: t.page.locator("th", { hasText: /^offset$/ }) }).first();
      await place.waitFor();
      const offset = await place.locator("td").innerText();
      const node = (dump.places ?? dump.nodes).find((one) => one.offset === offset);
      assert.ok(node !== undefined, offset);
      const shown = await t.page.locator(".pane:not([hidden])").innerText();
      const plain = Object.values({ ...node, ...node.fields }).filter((value) => ["string", "number"].includes(typeof value));
      assert.ok(plain.length > 1);
      for (const value of plain) {
        assert.ok(shown.includes(typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(9))) : String(value)), `${offset}: ${value}`);
      }
    }
    await t.shot(`bvh-node-${name.slice(6)}`);
  }
});

test("findings of a damaged image lead to their nodes", async (t) => {
  const image = built(t, "examples/gfx12/cube.obj");
  const bytes = readFileSync(image);
  bytes.fill(0xff, 64, 96);
  writeFileSync(image, bytes);
  let native;
  try {
    native = JSON.parse(facet("bvh", "check", image, "--json"));
  } catch (error) {
    native = JSON.parse(error.stdout);
  }
  assert.ok(native.findings.length > 0);
  await t.view(image);
  await t.page.waitForSelector(DRAWN);
  await t.page.click("text=/^Findings \\(/");
  assert.equal(await t.page.locator(".finding").count(), native.findings.length);
  assert.match(await t.page.locator(".finding").first().innerText(), new RegExp(native.findings[0].requirement ?? "V"));
  await t.shot("bvh-findings");
  await t.page.locator(".finding").first().click();
});

test("bytes that are no image are drawn without a crash", async (t) => {
  await t.open();
  writeFileSync(t.file("noise.gfx12"), Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7919 + (i >> 3) * 31) & 255)));
  await t.choose(t.file("noise.gfx12"));
  await t.page.waitForSelector(".bvh-body:not([hidden]), [role=alert] .message");
  await t.choose(built(t, "examples/gfx12/cube.obj"));
  await t.page.waitForSelector(DRAWN);
});

test("a link brings the same ray, from another page", async (t) => {
  const image = built(t, "examples/gfx12/cube.obj");
  await t.view(image);
  await clickPixel(t, 320, 180);
  await t.page.keyboard.press("ArrowRight");
  await t.page.waitForTimeout(700);
  const link = new URL(t.page.url());
  assert.match(link.hash, /^#bvh=/);
  const before = await t.page.locator(".ray").innerText();
  /* A small image travels inside the link: the page without a file shows it too. */
  await t.open(link.hash);
  await t.page.waitForSelector("text=Ray of pixel (320, 180)");
  await t.page.waitForFunction((text) => document.querySelector(".ray").innerText === text, before);
});

test("a link about a large image waits for it", async (t) => {
  const image = built(t, "assets/room.glb");
  await t.view(image);
  await clickPixel(t, 288, 223);
  await t.page.waitForTimeout(700);
  const { hash } = new URL(t.page.url());
  await t.open(hash);
  await t.page.waitForSelector("text=open that file, and it continues there");
  await t.choose(image);
  await t.page.waitForSelector("text=Ray of pixel (288, 223)");
});

test("examples are built in the page", async (t) => {
  for (const [title, name] of [["A knot", "knot"], ["64 boxes", "boxes"], ["Hills", "hills"]]) {
    await t.open();
    await t.page.click(`text=${title}`);
    await t.page.waitForSelector(DRAWN);
    assert.equal(await t.page.locator(".file-name").innerText(), name);
  }
});

test("two images stand beside each other", async (t) => {
  const first = built(t, "assets/room.glb");
  const second = t.file("second.gfx12");
  facet("bvh", "build", "assets/room.glb", "-o", second, "--quality", "contract");
  await t.view(first);
  await t.page.waitForSelector(DRAWN);
  const chooser = t.page.waitForEvent("filechooser");
  await t.page.click("text=Compare…");
  await (await chooser).setFiles(second);
  await t.page.waitForSelector("text=/ pixels differ; nodes per ray/");
  await t.page.click("text=Figures");
  const a = JSON.parse(facet("bvh", "info", first, "--json"));
  const b = JSON.parse(facet("bvh", "info", second, "--json"));
  const row = await t.page.locator(".figures tr", { hasText: "nodes" }).first().innerText();
  assert.match(row, new RegExp(`${a.nodes}\\s+${b.nodes}`));
  await t.shot("bvh-compare");
  await t.page.click("text=Swap");
  await t.page.waitForFunction(() => document.querySelector(".file-name").textContent === "second.gfx12");
  await t.page.waitForSelector("text=/ pixels differ; nodes per ray/");
  await t.page.waitForFunction((text) => document.querySelector(".figures").innerText.match(text), `${b.nodes}\\s+${a.nodes}`);
  await clickPixel(t, 288, 223);
  const shown = await t.page.locator(".ray-result .tuv").first().getAttribute("title");
  assert.equal(shown, why(second, 288, 223).result.t.bits);
});

test("boxes and triangles are drawn in 3D", async (t) => {
  await t.view(built(t, "assets/room.glb"));
  await clickPixel(t, 288, 223);
  await t.page.click("text=3D");
  await t.page.waitForSelector(".space canvas");
  await t.page.waitForTimeout(500);
  await t.shot("bvh-space");
  const colours = await t.page.locator(".space canvas").screenshot();
  assert.ok(colours.length > 3000, "the picture has one colour");
});

const TWO = `${SOURCE}/examples/gfx12/two.rra`;

/** The structure, the tree's size and a ray, beside what the program says for `words`. */
async function compareStructure(t, words, [x, y]) {
  await t.page.waitForSelector(DRAWN);
  const info = JSON.parse(facet("bvh", "info", ...words, "--json"));
  await t.page.waitForFunction((text) => document.querySelector(".tree > .row .note")?.innerText === text, `${info.nodes - info.raw_nodes} nodes`);
  assert.equal(await t.page.locator("select[aria-label=Structure]").inputValue(), String(info.structure));
  assert.equal(await t.page.locator("select[aria-label=Structure] option").count(), info.structures.length);
  await clickPixel(t, x, y);
  await t.page.click("text=The same in a terminal");
  return JSON.parse(facet("bvh", "why", ...words, "--pixel", `${x},${y}`, "--size", `${SIZE.width}x${SIZE.height}`, "--json"));
}

test("a capture is opened in the page, and each of its structures", async (t) => {
  await t.open();
  await t.choose(TWO);
  await compareRay(t, await compareStructure(t, [TWO], [280, 176]));
  assert.match(await t.page.locator(".command").innerText(), /^facet bvh why two\.rra --pixel 280,176/);
  await t.page.click("text=Figures");
  assert.match(await t.page.locator(".structures").innerText(), /numActivePrims\s+2/);
  await t.page.selectOption("select[aria-label=Structure]", "1");
  await compareRay(t, await compareStructure(t, [TWO, "--structure", "1"], [320, 180]));
  assert.match(await t.page.locator(".command").innerText(), /^facet bvh why two\.rra --structure 1 --pixel/);
  await t.shot("bvh-capture");
  await t.page.waitForTimeout(700);
  const { hash } = new URL(t.page.url());
  await t.open(hash);
  await t.page.waitForSelector("text=Ray of pixel (320, 180)");
  assert.equal(await t.page.locator("select[aria-label=Structure]").inputValue(), "1");
});

test("a broken capture is refused in words, and the page lives on", async (t) => {
  const good = readFileSync(TWO);
  await t.open();
  for (const [name, bytes, words] of [
    ["short.rra", good.subarray(0, 1000), /short\.rra: the index \(offset 16\)/],
    ["none.rra", Buffer.alloc(0), /none\.rra is empty/],
    ["old.rra", Buffer.concat([good.subarray(0, 8), Buffer.from([2]), good.subarray(9)]), /old\.rra: RDF version 2/],
  ]) {
    writeFileSync(t.file(name), bytes);
    await t.choose(t.file(name));
    await t.page.waitForFunction((text) => new RegExp(text).test(document.querySelector("[role=alert]").innerText), words.source);
  }
  await t.choose(TWO);
  await compareStructure(t, [TWO], [280, 176]);
});

test("facet view of a capture and of a driver's buffers offers all structures", async (t) => {
  await t.view("examples/gfx12/two.rra", "--structure", "1");
  await compareRay(t, await compareStructure(t, [TWO, "--structure", "1"], [320, 180]));
  const words = ["radv-tlas.bin@0x7f1200000000", "radv-blas.bin@0x7f1200100000"].flatMap((one) => ["--segment", `${SOURCE}/examples/gfx12/${one}`]);
  const out = t.file("page.html");
  facet("view", "-q", ...words, "--driver", "radv", "-o", out);
  await t.goto(pathToFileURL(out).href);
  await compareRay(t, await compareStructure(t, [...words, "--driver", "radv"], [320, 180]));
  assert.match(await t.page.locator(".command").innerText(), /--segment radv-tlas\.bin@0x7f1200000000 --segment radv-blas\.bin@0x7f1200100000 --driver radv --structure 0 --pixel/);
});

test("buffers of a driver are put together in the page", async (t) => {
  await t.open();
  await t.choose("examples/gfx12/radv-tlas.bin");
  await t.page.waitForSelector("text=/1 structure of radv/");
  await t.page.click("text=Memory…");
  await t.page.setInputFiles("input[aria-label='Pieces to add']", `${SOURCE}/examples/gfx12/radv-blas.bin`);
  await t.page.fill("input[aria-label='Address of radv-tlas.bin']", "0x7f1200000001");
  await t.page.fill("input[aria-label='Address of radv-blas.bin']", "0x7f1200100000");
  await t.page.click("dialog >> text=Read");
  await t.page.waitForSelector("dialog >> text=/expected a multiple of 64/");
  await t.page.fill("input[aria-label='Address of radv-tlas.bin']", "nowhere");
  await t.page.click("dialog >> text=Read");
  await t.page.waitForSelector("dialog >> text=/nowhere; expected a number/");
  assert.deepEqual(await t.accessibility(), []);
  await t.shot("bvh-memory");
  await t.page.fill("input[aria-label='Address of radv-tlas.bin']", "0x7f1200000000");
  await t.page.click("dialog >> text=Read");
  await t.page.waitForSelector("dialog", { state: "detached" });
  const words = ["radv-tlas.bin@0x7f1200000000", "radv-blas.bin@0x7f1200100000"].flatMap((one) => ["--segment", `${SOURCE}/examples/gfx12/${one}`]);
  await compareRay(t, await compareStructure(t, [...words, "--driver", "auto"], [320, 180]));
  await t.page.waitForTimeout(700);
  const { hash } = new URL(t.page.url());
  await t.open(hash);
  await compareStructure(t, [...words, "--driver", "auto"], [320, 180]);
});

test("buffers that are dropped together become one image, at the addresses in their names", async (t) => {
  const words = [];
  for (const [name, address] of [["radv-tlas", "0x7f1200000000"], ["radv-blas", "0x7f1200100000"]]) {
    const file = t.file(`${name}-${address}.bin`);
    copyFileSync(`${SOURCE}/examples/gfx12/${name}.bin`, file);
    words.push("--segment", `${file}@${address}`);
  }
  await t.open();
  await t.choose(t.file("radv-tlas-0x7f1200000000.bin"), t.file("radv-blas-0x7f1200100000.bin"));
  await t.page.click("dialog >> text=Read");
  await t.page.waitForSelector("dialog", { state: "detached" });
  await compareRay(t, await compareStructure(t, [...words, "--driver", "auto"], [320, 180]));
  /* Other files are opened one after another. */
  facet("bvh", "build", "examples/gfx12/cube.obj", "-o", t.file("a.gfx12"));
  facet("bvh", "build", "examples/gfx12/cube.obj", "-o", t.file("b.gfx12"));
  await t.choose(t.file("a.gfx12"), t.file("b.gfx12"));
  await t.page.waitForFunction(() => document.querySelector(".file-name").textContent === "b.gfx12");
});

test("an image lies at the address that the user says", async (t) => {
  const image = built(t, "examples/gfx12/cube.obj", "--base", "0x40000");
  await t.open();
  await t.choose(image);
  await t.page.waitForSelector(DRAWN);
  await t.page.click("text=Memory…");
  await t.page.fill("input[aria-label='Address of image.gfx12']", "0x40000");
  await t.page.click("dialog >> text=Read");
  await t.page.waitForSelector("dialog", { state: "detached" });
  await clickPixel(t, 320, 180);
  await t.page.click("text=The same in a terminal");
  assert.match(await t.page.locator(".command").innerText(), /^facet bvh why image\.gfx12 --base 0x40000 --pixel/);
  await compareRay(t, why(image, 320, 180, "--base", "0x40000"));
});

test("a ray in an image of XPHMG_RT is that of facet rt why", async (t) => {
  const image = t.file("cube.tiles");
  facet("bvh", "build", "examples/gfx12/cube.obj", "-o", image, "--format", "xphmg8");
  await t.view(image);
  await t.page.waitForSelector(DRAWN);
  assert.match(await t.page.locator(".legend").innerText(), /[1-9]\d* hit/);
  await clickPixel(t, 320, 180);
  await t.page.click("text=The same in a terminal");
  const [, ray] = /--ray "(.*)"/.exec(await t.page.locator(".command").innerText());
  const record = JSON.parse(facet("rt", "why", "--tiles", image, "--ray", ray, "--json"));
  assert.equal(record.result.hit, true);
  const pops = record.events.filter((one) => one.event === "pop");
  assert.equal(await t.page.locator(".steps li").count(), pops.length);
  const hit = record.events.find((one) => one.event === "triangle" && one.outcome === "hit" && one.triangle === record.result.triangle);
  const shown = await t.page.locator(".ray-result .tuv").evaluateAll((list) => list.map((one) => one.title));
  assert.deepEqual(shown, [hit.t.bits, hit.u.bits, hit.v.bits]);
  const children = record.events.filter((one) => one.event === "child");
  const first = children.slice(0, await t.page.locator(".step-detail .slot").count());
  for (const [k, child] of first.entries()) {
    const slot = t.page.locator(".step-detail .slot").nth(k);
    assert.equal((await slot.locator(".verdict").first().innerText()).startsWith("hit"), child.outcome === "hit");
    if (child.type !== "empty") {
      await slot.locator("summary").click();
      const row = slot.locator("tr", { has: t.page.locator("th", { hasText: /^min_t$/ }) });
      assert.equal(await row.locator("td").first().getAttribute("title"), child.cn.bits);
    }
  }
  await t.shot("bvh-tiles");
});

test("axe finds nothing about a ray, light and dark", async (t) => {
  for (const colorScheme of ["light", "dark"]) {
    await t.page.emulateMedia({ colorScheme });
    await t.view(built(t, "assets/room.glb"));
    await clickPixel(t, 288, 223);
    await t.page.locator(".slot summary").first().click();
    assert.deepEqual(await t.accessibility(), []);
    await t.shot(`bvh-${colorScheme}`);
  }
});

