/* Exercises about a ray: the answers are those of `facet bvh why` for the same image, in the example, in a link, in a file that facet view
 * opens; wrong answers and damaged exercises are told. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { facet, test } from "../harness.mjs";

const DRAWN = ".bvh-body:not([hidden]) canvas.picture[aria-busy=false]";

/** The image that is shown, as the program reads it. */
async function savedImage(t) {
  const [saved] = await Promise.all([t.page.waitForEvent("download"), t.page.click("button:text-is('Save image')")]);
  const file = t.file("image.gfx12");
  await saved.saveAs(file);
  return file;
}

const why = (image, [x, y]) => JSON.parse(facet("bvh", "why", image, "--pixel", `${x},${y}`, "--size", "640x360", "--json"));

async function answer(t, answers) {
  for (const [i, one] of answers.entries()) {
    if (one !== undefined) {
      await t.page.fill(`input[aria-label='Answer ${i + 1}']`, String(one));
    }
  }
  await t.page.click("text=Check my answers");
  await t.page.waitForSelector(".grade-verdict:has-text('checks passed')");
  return t.page.innerText(".grade-verdict");
}

test("a ray's exercise grades answers by the record of facet bvh why", async (t) => {
  await t.open();
  await t.page.click("text=Exercise: follow a ray");
  await t.page.waitForSelector(DRAWN);
  await t.page.waitForSelector("text=Ray of pixel (356, 162)");
  assert.equal(await answer(t, []), "0 of 5 checks passed.");
  const image = await savedImage(t);
  const record = why(image, [356, 162]);
  assert.equal(record.result.found, true);
  const right = [record.steps[4].node, record.result.boxes, record.result.t.value.toPrecision(4), record.result.primitive];
  assert.equal(await answer(t, [Number(right[0]) + 1, right[1] + 1, (record.result.t.value * 1.001).toPrecision(5), right[3] + 1]), "0 of 5 checks passed.");
  await t.shot("bvh-exercise");
  assert.equal(await answer(t, right), "4 of 5 checks passed.");
  assert.equal(await answer(t, [right[0], right[1], record.result.t.bits, right[3]]), "4 of 5 checks passed.");
  assert.deepEqual(await t.accessibility(), []);
  /* The node by going to its step. */
  await t.page.fill("input[aria-label='Answer 1']", "");
  await t.page.locator(".ray-pane, .ray").first().waitFor();
  await t.page.click(".steps li >> nth=4");
  await t.page.click("text=take the step shown");
  await t.page.waitForFunction((wanted) => document.querySelector("input[aria-label='Answer 1']").value === wanted, record.steps[4].node);
  /* A pixel that has what is asked for. */
  const miss = [[5, 5], [630, 350]].find((pixel) => !why(image, pixel).result.found);
  await t.page.fill("input[aria-label='Pixel x']", String(miss[0]));
  await t.page.fill("input[aria-label='Pixel y']", String(miss[1]));
  await t.page.press("input[aria-label='Pixel y']", "Enter");
  await t.page.waitForSelector(`text=Ray of pixel (${miss[0]}, ${miss[1]})`);
  assert.equal(await answer(t, right), "Solved: 5 of 5 checks passed.");
  /* The address holds the exercise with its ray, not the answers. */
  await t.page.waitForFunction((x) => location.hash.length > 400 && new URL(location.href).hash.includes("bvh=") && x > 0, miss[0]);
  await t.page.waitForTimeout(600);
  await t.open(await t.page.evaluate(() => location.hash));
  await t.page.waitForSelector(`text=Ray of pixel (${miss[0]}, ${miss[1]})`);
  assert.equal(await t.page.inputValue("input[aria-label='Answer 3']"), "");
  assert.equal(await answer(t, right), "Solved: 5 of 5 checks passed.");
});

test("an exercise is made of an image, saved, and opened by facet view", async (t) => {
  facet("bvh", "build", "examples/gfx12/cube.obj", "-o", t.file("cube.gfx12"));
  await t.view(t.file("cube.gfx12"));
  await t.page.waitForSelector(DRAWN);
  await t.page.click("button:text-is('Exercise…')");
  await t.page.waitForSelector(".message.error:has-text('click the pixel')");
  await t.page.fill("input[aria-label='Pixel x']", "320");
  await t.page.fill("input[aria-label='Pixel y']", "180");
  await t.page.press("input[aria-label='Pixel y']", "Enter");
  await t.page.waitForSelector("text=Ray of pixel (320, 180)");
  await t.page.click("button:text-is('Exercise…')");
  await t.page.fill("input[aria-label=Title]", "The cube");
  await t.page.fill("textarea[aria-label=Task]", "Where does `the ray` hit?");
  for (const [wrong, message] of [
    ['{"what": "guess", "of": "result.t", "text": "?"}', "exercise.checks[0].what: expected answer or find"],
    ['{"what": "answer", "of": "result..t", "text": "?"}', "exercise.checks[0].of: expected a path"],
    ['{"what": "find", "of": "result.t", "text": "?"}', "exercise.checks[0]: expected equals, least or most"],
    ["what", "check 1: expected JSON"],
  ]) {
    await t.page.fill("textarea[aria-label='Checks, one in a line']", wrong);
    await t.page.click("text=Use it");
    await t.page.waitForSelector(`.wrong:has-text(${JSON.stringify(message)})`);
  }
  await t.page.fill("textarea[aria-label='Checks, one in a line']", "");
  await t.page.click("dialog button:text-is('t of the hit')");
  await t.page.click("dialog button:text-is('triangle')");
  await t.page.click("text=Use it");
  const [saved] = await Promise.all([t.page.waitForEvent("download"), t.page.click("text=Save exercise")]);
  const file = t.file("cube.facet.json");
  await saved.saveAs(file);
  const record = why(t.file("cube.gfx12"), [320, 180]);
  await t.view(file);
  await t.page.waitForSelector(DRAWN);
  await t.page.waitForSelector("text=Ray of pixel (320, 180)");
  assert.match(await t.page.innerText(".assignment"), /The cube/);
  assert.equal(await answer(t, [record.result.t.value, record.result.primitive]), "Solved: 2 of 2 checks passed.");
  /* Another image has no exercise. */
  await t.choose(t.file("cube.gfx12"));
  await t.page.waitForSelector(".assignment", { state: "hidden" });
  /* Damaged ones are told. */
  const made = JSON.parse(readFileSync(file, "utf8"));
  for (const [change, message] of [
    [{ exercise: { ...made.exercise, ray: { size: "640", pixel: [1, 2] } } }, "exercise.ray.size: expected"],
    [{ exercise: { ...made.exercise, checks: [] } }, "exercise.checks: expected"],
    [{ exercise: 7 }, "exercise: expected an object"],
    [{ "facet-ray": 2 }, "facet-ray: expected 1"],
  ]) {
    writeFileSync(t.file("bad.facet.json"), JSON.stringify({ ...made, ...change }));
    await t.choose(t.file("bad.facet.json"));
    await t.page.waitForSelector(`.message.error:has-text(${JSON.stringify(message)})`);
    await t.page.locator(".message.error button").last().click();
  }
});
