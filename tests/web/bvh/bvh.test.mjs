/* Ray and BVH: what is shown is what the program says about the same pixel; tree, findings, two images, links, 3D. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
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
  const overlaps = (await t.page.locator(".tree-space .tree-row > span:last-child").allInnerTexts()).map(Number);
  assert.deepEqual(overlaps, [...overlaps].sort((a, b) => b - a));
  await t.page.selectOption("select[aria-label=Order]", "tree");
  await t.page.check("text=only what the ray visits");
  const visited = new Set(why(image, 320, 180).steps.map((step) => step.image_offset));
  assert.equal(await note.innerText(), `${visited.size} of ${info.nodes} nodes`);
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

test("a capture keeps its pieces and where its rays start", async (t) => {
  await t.view("examples/gfx12/two.rra");
  await t.page.waitForSelector(DRAWN);
  const info = JSON.parse(facet("bvh", "info", `${SOURCE}/examples/gfx12/two.rra`, "--json"));
  assert.equal(await t.page.locator(".tree > .row .note").innerText(), `${info.nodes - info.raw_nodes} nodes`);
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

