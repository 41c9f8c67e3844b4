/* The playground of texture samples beside `facet gfx why --json`. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { crc32, deflateSync } from "node:zlib";
import { facet, test } from "../harness.mjs";

const CHANNELS = ["R", "G", "B", "A"];
const DEFAULT = { u: "0.4", v: "0.55", wrap: "clamp", filter: "bilinear", space: "normalized", elem: "FP32", acc: "FP32", rm: "rne", border: "1 0 1 1" };

async function ask(t, { format, srgb, ...values }) {
  const all = { ...DEFAULT, ...values };
  if (format !== undefined) {
    await t.page.selectOption("#play-format", { label: format });
  }
  for (const key of ["wrap", "filter", "elem", "acc"]) {
    await t.page.selectOption(`#play-${key}`, { label: all[key] });
  }
  await t.page.selectOption("#play-rm", { label: all.rm.toUpperCase() });
  await t.page.selectOption("#play-space", { label: all.space === "texel" ? "texels" : "0 to 1" });
  await t.page.setChecked("#play-srgb", srgb === true);
  await t.page.fill("#play-border", all.border);
  await t.page.fill("#play-u", all.u);
  await t.page.fill("#play-v", all.v);
  await t.page.waitForFunction(
    ([u, v]) => {
      const of = JSON.parse(document.querySelector(".sample-result").dataset.of ?? "{}");
      return of.u === u && of.v === v && ["wrap", "filter", "elem", "acc", "rm", "space", "format", "border"].every((key) => of[key] === document.querySelector(`#play-${key}`).value) &&
        of.srgb === document.querySelector("#play-srgb").checked;
    },
    [all.u, all.v],
  );
  const options = ["u", "v", "wrap", "filter", "space", "acc", "rm", "border"].map((key) => `--${key}=${all[key]}`);
  return [...options, `--element=${all.elem}`, ...(srgb === true ? ["--srgb"] : [])];
}

/** Cells of the tables: elements, taps, channels. */
function read(page) {
  return page.evaluate(() => {
    const rows = (table) => [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => ({ text: cell.innerText, bits: cell.querySelector("[title]")?.title })));
    const [result, taps, channels] = [...document.querySelectorAll(".play.texture table")].map(rows);
    return { result, taps, channels };
  });
}

function same(shown, record, what) {
  assert.deepEqual(shown.result[0].slice(1).map((cell) => cell.text), record.result.map((one) => one.bits), `${what}: elements`);
  const taps = Object.entries(record.footprint.taps ?? {});
  assert.deepEqual(
    shown.taps.map(([name, , place]) => [name.text, place.text]),
    taps.map(([name, tap]) => [name, tap === null ? "not fetched" : tap.border ? "border colour" : `${tap.x}, ${tap.y} at ${tap.address}`]),
    `${what}: taps`,
  );
  taps.forEach(([, tap], i) => {
    for (const [name, code] of Object.entries(tap?.channels ?? {})) {
      assert.ok(shown.taps[i][3].text.includes(`${name} ${code.bits}`), `${what}: codes of tap ${i}: ${shown.taps[i][3].text}`);
    }
  });
  for (const [title, pick] of [["filtered", (c) => c.filtered], ["accumulator", (c) => c.accumulator], ["upper row", (c) => c.row0?.result], ["lower row", (c) => c.row1?.result], ["both rows", (c) => c.rows?.result]]) {
    const row = shown.channels?.find(([name]) => name.text === title);
    if (row !== undefined && record.channels !== undefined) {
      assert.deepEqual(row.slice(1).map((cell) => cell.bits), CHANNELS.map((name) => pick(record.channels[name])?.bits), `${what}: ${title}`);
    }
  }
}

test("samples are those of facet gfx why", async (t) => {
  await t.open("#texture");
  await t.page.selectOption("#play-source", "bytes");
  const sizes = { UNORM8_RGBA: 4, R5G6B5: 2, FP16_RG: 4, SNORM8_R: 1, UNORM16_RGBA: 8, R10G10B10A2: 4, FP32_R: 4 };
  const questions = [
    {}, { filter: "nearest" }, { wrap: "repeat", u: "1.3", v: "-0.7" }, { wrap: "mirror", u: "1.02", v: "2.4" }, { wrap: "border", u: "-0.01", v: "0.5" },
    { wrap: "border", u: "1.04", v: "1.04", border: "0.25 -1 2 0.5" }, { space: "texel", u: "3.5", v: "3.5" }, { space: "texel", u: "2.75", v: "-3" }, { u: "nan" }, { u: "inf", v: "-inf", wrap: "clamp" },
    { elem: "FP16", acc: "FP16" }, { elem: "FP16", acc: "FP32", rm: "rup" }, { elem: "BF16", rm: "rtz" }, { elem: "FP8_E4M3", u: "0.4375" },
  ];
  for (const [format, size] of Object.entries(sizes)) {
    const file = t.file(`${format}.raw`);
    writeFileSync(file, Uint8Array.from({ length: 64 * size }, (_, i) => i & 0xff));
    for (const question of format === "UNORM8_RGBA" ? questions : questions.slice(0, 4)) {
      const options = await ask(t, { format, ...question });
      const record = JSON.parse(facet("gfx", "why", "--raw", file, `--format=${format}`, "--width=8", "--height=8", ...options, "--json").toString());
      same(await read(t.page), record, `${format} ${JSON.stringify(question)}`);
    }
  }
  const options = await ask(t, { format: "UNORM8_RGBA", srgb: true });
  same(await read(t.page), JSON.parse(facet("gfx", "why", "--raw", t.file("UNORM8_RGBA.raw"), "--width=8", "--height=8", ...options, "--json").toString()), "sRGB");
});

test("a picture that is opened is sampled like facet gfx why samples it", async (t) => {
  await t.open();
  await t.choose("assets/crate.png");
  await t.page.waitForSelector(".texture-picture svg");
  for (const question of [{ u: "0.3", v: "0.7" }, { u: "-0.3", v: "1.7", wrap: "mirror", srgb: true }]) {
    const options = await ask(t, question);
    same(await read(t.page), JSON.parse(facet("gfx", "why", "--image", "assets/crate.png", ...options, "--json").toString()), JSON.stringify(question));
  }
  await t.shot("texture");
});

/** A picture of 8 x 8 texels with every alpha, most of them small: what a canvas would round away. */
function transparentPng() {
  const chunk = (name, body) => {
    const out = Buffer.alloc(12 + body.length);
    out.writeUInt32BE(body.length);
    out.write(name, 4, "latin1");
    body.copy(out, 8);
    out.writeUInt32BE(crc32(out.subarray(4, 8 + body.length)), 8 + body.length);
    return out;
  };
  const head = Buffer.from([0, 0, 0, 8, 0, 0, 0, 8, 8, 6, 0, 0, 0]);
  const rows = Array.from({ length: 8 }, (_, y) => Buffer.from([0, ...Array.from({ length: 8 }, (_, x) => [17 * x + 3, 250 - 29 * y, 91 + x * y, x + 8 * y]).flat()]));
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", head), chunk("IDAT", deflateSync(Buffer.concat(rows))), chunk("IEND", Buffer.alloc(0))]);
}

test("a transparent picture has the texels that facet gfx why reads", async (t) => {
  await t.open("#texture");
  writeFileSync(t.file("glass.png"), transparentPng());
  await t.choose(t.file("glass.png"));
  for (const question of [{ u: "0.3", v: "0.2" }, { u: "0.9", v: "0.45", filter: "nearest" }, { u: "0.02", v: "0.02" }]) {
    const options = await ask(t, question);
    same(await read(t.page), JSON.parse(facet("gfx", "why", "--image", t.file("glass.png"), ...options, "--json").toString()), JSON.stringify(question));
  }
});

test("the taps stand where they are taken, with their weights", async (t) => {
  await t.open("#texture");
  await ask(t, { u: "0.5", v: "0.5" }); /* the middle: four texels, a quarter each */
  assert.deepEqual(await t.page.locator(".weight").allTextContents(), ["25%", "25%", "25%", "25%"]);
  await ask(t, { u: "0.4375", v: "0.4375" }); /* the middle of texel (3, 3) */
  assert.deepEqual(await t.page.locator(".weight").allTextContents(), ["100%"]);
  const [tap, cross] = await t.page.evaluate(() => [".tap", ".cross"].map((name) => document.querySelector(name).getBoundingClientRect()).map((box) => [box.x + box.width / 2, box.y + box.height / 2]));
  assert.ok(Math.hypot(tap[0] - cross[0], tap[1] - cross[1]) < 1.5, `the cross is at ${cross}, the tap at ${tap}`);
});

test("a click and the arrow keys move the sample", async (t) => {
  await t.open("#texture");
  await ask(t, { u: "0.5", v: "0.5" });
  const picture = t.page.locator(".texture-picture svg");
  const box = await picture.boundingBox();
  /* The window shows texels -3 to 10: eight texels are 8/14 of it. */
  await picture.click({ position: { x: (box.width * (3 + 3 + 2.5)) / 14, y: (box.height * (3 + 3 + 0.5)) / 14 } });
  await t.page.waitForFunction(() => document.querySelector("#play-u").value !== "0.5");
  const [u, v] = [Number(await t.page.inputValue("#play-u")), Number(await t.page.inputValue("#play-v"))];
  assert.ok(Math.abs(u - 5.5 / 8) < 0.01 && Math.abs(v - 3.5 / 8) < 0.01, `${u}, ${v}`);
  await ask(t, { u: "0.5", v: "0.5" });
  await t.page.locator(".texture-picture").focus();
  await t.page.keyboard.press("ArrowRight");
  await t.page.waitForFunction(() => document.querySelector("#play-u").value === "0.515625");
  await t.page.keyboard.press("Shift+ArrowDown");
  await t.page.waitForFunction(() => document.querySelector("#play-v").value === "0.625");
});

test("what is no number is told, and what is no picture too", async (t) => {
  await t.open("#texture");
  await t.page.fill("#play-u", "left");
  await t.page.waitForSelector("#play-u-problem:has-text('expected a number')");
  await t.page.fill("#play-u", "0.5");
  await t.page.fill("#play-border", "1 2 3");
  await t.page.waitForSelector("#play-border-problem:has-text('expected four numbers')");
  await t.page.fill("#play-border", "1 2 3 4");
  writeFileSync(t.file("broken.png"), "\x89PNG\r\n\x1a\n and then nothing", "latin1");
  await t.choose(t.file("broken.png"));
  await t.page.waitForSelector("text=broken.png: damaged PNG");
  await ask(t, { u: "0.25", border: "1 2 3 4" });
});

test("a link shows the same sample", async (t) => {
  await t.open("#texture");
  await ask(t, { u: "0.9", v: "0.1", wrap: "mirror", elem: "FP16" });
  const before = await read(t.page);
  await t.page.waitForFunction(() => location.hash.startsWith("#texture="));
  await t.page.waitForTimeout(600); /* the address follows after the last change */
  await t.open(await t.page.evaluate(() => location.hash));
  await t.page.waitForFunction(() => document.querySelector(".sample-result")?.dataset.of !== undefined && document.querySelector("#play-u").value === "0.9");
  await ask(t, { u: "0.9", v: "0.1", wrap: "mirror", elem: "FP16" });
  assert.deepEqual(await read(t.page), before);
});

for (const scheme of ["light", "dark"]) {
  test(`axe finds nothing in the playgrounds, ${scheme}`, async (t) => {
    await t.page.emulateMedia({ colorScheme: scheme });
    for (const hash of ["#numbers", "#texture"]) {
      await t.open(hash);
      await t.page.waitForSelector("[data-of]");
      assert.deepEqual(await t.accessibility(), [], hash);
      await t.shot(`${hash.slice(1)}-${scheme}`);
    }
  });
}
