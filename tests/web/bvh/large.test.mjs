/* Ray and BVH with an image of more than a million triangles: tree, ray, cancelled work. How long the page itself was blocked is told,
 * never judged. */

import assert from "node:assert/strict";
import { facet, test } from "../harness.mjs";

const CELLS = 708; /* 2 * 708 * 708 triangles */
const SIZE = { width: 640, height: 360 };
const DRAWN = ".bvh-body:not([hidden]) canvas.picture[aria-busy=false]";

function terrain(t, cells = CELLS) {
  const scene = t.file("terrain.glb");
  const image = t.file("terrain.gfx12");
  facet("scene", "make", "terrain", "--size", String(cells), "-o", scene, "-q");
  facet("bvh", "build", scene, "-o", image, "-q");
  return image;
}

/** Tasks of the page's own thread that took longer than 50 ms, from now on. */
async function watchBlocking(t) {
  await t.page.evaluate(() => {
    globalThis.blocked = [];
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => globalThis.blocked.push(Math.round(entry.duration)))).observe({ type: "longtask" });
  });
}

/** Presses Cancel as soon as there is one, `count` times; a machine that needs less than the delay of the bar shows none. */
async function cancelWork(t, text) {
  await t.page.evaluate((wanted) => {
    globalThis.cancelled = 0;
    const look = () => {
      const line = [...document.querySelectorAll(".message.work")].find((one) => one.textContent.includes(wanted));
      if (line !== undefined && globalThis.cancelled === 0) {
        globalThis.cancelled++;
        line.querySelector("button").click();
      }
    };
    new MutationObserver(look).observe(document.querySelector(".bars"), { childList: true });
  }, text);
}

test("a million triangles: tree, ray and figures are those of the program", async (t) => {
  const image = terrain(t);
  const info = JSON.parse(facet("bvh", "info", image, "--json"));
  assert.ok(info.triangles >= 1_000_000);
  await t.open();
  await t.page.click("#tab-bvh");
  await watchBlocking(t);
  const begun = Date.now();
  await t.choose(image);
  await t.page.waitForSelector(DRAWN);
  const opened = Date.now() - begun;
  const note = t.page.locator(".tree > .row .note");
  assert.equal(await note.innerText(), `${info.nodes - info.raw_nodes} nodes`);

  /* The rows that are seen exist, wherever the list stands. */
  await t.page.selectOption("select[aria-label=Order]", "area");
  assert.equal(await note.innerText(), `${info.nodes - info.raw_nodes} of ${info.nodes - info.raw_nodes} nodes`);
  const scroll = t.page.locator(".tree-scroll");
  for (const part of [0.25, 0.5, 0.999, 0]) {
    await scroll.evaluate((one, to) => one.scrollTo(0, to * one.scrollHeight), part);
    await t.page.waitForFunction(() => {
      const box = document.querySelector(".tree-scroll").getBoundingClientRect();
      return document.elementFromPoint(box.left + 40, box.top + 30)?.closest("[data-node]") !== null;
    });
    assert.ok((await t.page.locator(".tree-space .tree-row").count()) < 60);
  }
  await t.page.fill("input[type=search]", "primitive triangles<=2");
  await t.page.fill("input[type=search]", "");
  await t.page.selectOption("select[aria-label=Order]", "tree");

  const [x, y] = [330, 200];
  const box = await t.page.locator("canvas.picture").first().boundingBox();
  await t.page.mouse.click(box.x + ((x + 0.5) / SIZE.width) * box.width, box.y + ((y + 0.5) / SIZE.height) * box.height);
  await t.page.waitForSelector(`text=Ray of pixel (${x}, ${y})`);
  const record = JSON.parse(facet("bvh", "why", image, "--pixel", `${x},${y}`, "--size", "640x360", "--json"));
  assert.equal(record.result.found, true);
  const shown = await t.page.locator(".ray-result .tuv").evaluateAll((list) => list.map((one) => one.title));
  assert.deepEqual(shown, ["t", "u", "v"].map((name) => record.result[name].bits));
  const lines = await t.page.locator(".steps li").evaluateAll((list) => list.map((one) => [...one.querySelectorAll("span")].map((part) => part.textContent.trim()).slice(2, 4)));
  assert.deepEqual(lines, record.steps.map((step) => [step.kind, step.node]));
  const last = record.steps.length - 1;
  await t.page.locator(".steps li button").nth(last).click();
  const registers = await t.page.locator(".registers tr td:nth-child(2)").allInnerTexts();
  assert.deepEqual(registers, record.steps[last].v.map((word) => `0x${Number(word).toString(16).padStart(8, "0")}`));
  await t.shot("bvh-million");
  const blocked = await t.page.evaluate(() => globalThis.blocked);
  console.log(`     opened and drawn in ${opened} ms; the page was blocked for ${Math.max(0, ...blocked)} ms at most, ${blocked.length} times more than 50 ms`);
});

test("an opening that is cancelled ends, and the next image opens", async (t) => {
  const image = terrain(t, 1300);
  const small = t.file("cube.gfx12");
  facet("bvh", "build", "examples/gfx12/cube.obj", "-o", small);
  await t.open();
  await t.choose(small);
  await t.page.waitForSelector(DRAWN);
  await cancelWork(t, "Reading terrain");
  await t.choose(image);
  await t.page.waitForSelector("text=terrain.gfx12: cancelled.");
  assert.equal(await t.page.evaluate(() => globalThis.cancelled), 1);
  await t.page.waitForSelector(".message.work", { state: "detached" });
  assert.equal(await t.page.locator(".message.error").count(), 0);
  /* What was open before still answers, in whatever worker. */
  await t.page.keyboard.press("Shift+ArrowRight");
  await t.page.waitForSelector("text=Ray of pixel (321, 180)");
  const room = t.file("room.gfx12");
  facet("bvh", "build", "assets/room.glb", "-o", room);
  await t.choose(room);
  await t.page.waitForFunction(() => document.querySelector(".file-name").textContent === "room.gfx12");
  await t.page.waitForSelector(DRAWN);
});

test("a picture that is cancelled ends, and can be drawn again", async (t) => {
  const image = terrain(t, 1300);
  await t.open();
  await t.choose(image);
  await t.page.waitForSelector(DRAWN, { timeout: 60_000 });
  await cancelWork(t, "Drawing");
  await t.page.selectOption("select[aria-label=Size]", "1280x720");
  await t.page.waitForSelector("text=/^Cancelled: choose a picture/");
  await t.page.waitForSelector(".message.work", { state: "detached" });
  await t.page.selectOption("select[aria-label=Size]", "320x180");
  await t.page.waitForSelector("text=/^320 × 180, 57600 rays/");
});
