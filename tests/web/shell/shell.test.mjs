/* The frame around the views: start, keys, files, links, security, accessibility; what facet view writes and serves. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { FACET, facet, PAGE, SOURCE, test } from "../harness.mjs";

test("every view opens", async (t) => {
  await t.open();
  const tabs = await t.page.locator("[role=tab]").all();
  assert.ok(tabs.length >= 2);
  for (const tab of tabs) {
    await tab.click();
    assert.equal(await tab.getAttribute("aria-selected"), "true");
    const panel = t.page.locator(`#${await tab.getAttribute("aria-controls")}`);
    await panel.locator("button, a, input, select").first().waitFor();
  }
});

test("the start page names the library", async (t) => {
  await t.open();
  await t.page.waitForSelector("text=libfacet");
  await t.shot("start");
});

for (const scheme of ["light", "dark"]) {
  test(`axe finds nothing, ${scheme}`, async (t) => {
    await t.page.emulateMedia({ colorScheme: scheme });
    await t.open();
    for (const tab of await t.page.locator("[role=tab]").all()) {
      await tab.click();
      assert.deepEqual(await t.accessibility(), []);
    }
    await t.page.keyboard.press("?");
    await t.page.waitForSelector("dialog[open]");
    assert.deepEqual(await t.accessibility(), []);
    await t.shot(`keys-${scheme}`);
  });
}

test("keys go from view to view, and help lists them", async (t) => {
  await t.open();
  await t.page.keyboard.press("2");
  assert.equal(await t.page.locator("[role=tab][aria-selected=true]").getAttribute("id"), "tab-bvh");
  await t.page.keyboard.press("?");
  assert.match(await t.page.locator("dialog[open]").innerText(), /Copy a link/);
  await t.page.keyboard.press("Escape");
  await t.page.locator("[role=tab][aria-selected=true]").focus();
  await t.page.keyboard.press("ArrowLeft");
  assert.equal(await t.page.locator("[role=tab][aria-selected=true]").getAttribute("id"), "tab-start");
});

test("the colours stay as they were chosen", async (t) => {
  await t.open();
  await t.page.keyboard.press("d");
  await t.page.keyboard.press("d");
  assert.equal(await t.page.evaluate(() => document.documentElement.dataset.theme), "dark");
});

test("a file that is none gets a message, and the page lives on", async (t) => {
  await t.open();
  writeFileSync(t.file("poem.odt"), "no graphics in here");
  await t.choose(t.file("poem.odt"));
  await t.page.waitForSelector("[role=alert] >> text=/poem\\.odt: not a file that this page can show/");
  writeFileSync(t.file("broken.gfx12"), "");
  await t.choose(t.file("broken.gfx12"));
  await t.page.waitForSelector("text=broken.gfx12 is empty; expected a BVH image, a capture or a scene");
  await t.page.click("text=Example: boxes");
  await t.page.waitForSelector(".bvh-body:not([hidden]) .legend span");
});

test("a damaged link gets a message, and the page lives on", async (t) => {
  for (const hash of ["#bvh=%%%", "#bvh=AAAA", "#nowhere", "#bvh=q1bKTFGyMjE2qgUA"]) {
    await t.open(hash);
    await t.page.waitForSelector("[role=alert] .message");
    await t.page.click("#tab-bvh");
    await t.page.waitForSelector("text=No image yet");
  }
});

test("a link may not grow beyond its limit", async (t) => {
  const { deflateRawSync } = await import("node:zlib");
  const packed = deflateRawSync(JSON.stringify({ example: " ".repeat(40 << 20) })).toString("base64url");
  await t.open(`#bvh=${packed}`);
  await t.page.waitForSelector("text=bytes when unpacked");
});

test("the policy lets no script, style or connection in", async (t) => {
  t.allow(/Content Security Policy|violates|Refused to/i);
  await t.open();
  const got = await t.page.evaluate(async () => {
    const script = document.createElement("script");
    script.textContent = "globalThis.intruder = 1";
    document.head.append(script);
    const style = document.createElement("style");
    style.textContent = "body { color: red !important }";
    document.head.append(style);
    const connected = await fetch("https://example.org/").then(
      () => true,
      () => false,
    );
    return { intruder: globalThis.intruder, colour: getComputedStyle(document.body).color, connected };
  });
  assert.equal(got.intruder, undefined);
  assert.notEqual(got.colour, "rgb(255, 0, 0)");
  assert.equal(got.connected, false);
});

test("the page is at most 4 MB compressed", async () => {
  const size = gzipSync(readFileSync(PAGE)).length;
  assert.ok(size <= 4_000_000, `${size} bytes`);
});

test("facet view -o writes the same page for the same file, whatever its name holds", async (t) => {
  const evil = t.file("</script><!--<script>.gfx12");
  facet("bvh", "build", "examples/gfx12/cube.obj", "-o", evil.replaceAll("/script", "script"));
  const name = evil.replaceAll("/script", "script");
  await t.view(name);
  await t.page.waitForSelector(".bvh-body:not([hidden])");
  assert.equal(await t.page.locator(".file-name").innerText(), "<script><!--<script>.gfx12");
  const once = readFileSync(t.file("page.html"));
  await t.view(name);
  assert.ok(once.equals(readFileSync(t.file("page.html"))));
});

test("facet view serves the page to those who know its address", async (t) => {
  const child = spawn(FACET, ["view", "-q", "--no-open", "examples/gfx12/cube.obj"], { cwd: SOURCE, env: { ...process.env, FACET_PAGE: PAGE } });
  try {
    const address = await new Promise((resolve, reject) => {
      child.stdout.once("data", (text) => resolve(String(text).trim()));
      child.once("exit", (code) => reject(new Error(`facet view ended with ${code}`)));
    });
    assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);
    const { origin, pathname } = new URL(address);
    for (const path of ["/", "/favicon.ico", pathname.slice(0, -1), `${pathname}x`, pathname.replace(/.\/$/, "g/")]) {
      assert.equal((await fetch(origin + path)).status, 404, path);
    }
    assert.equal((await fetch(address, { method: "POST", body: "x" })).status, 405);
    assert.equal((await fetch(address)).headers.get("referrer-policy"), "no-referrer");
    await t.goto(address);
    await t.page.waitForSelector(".bvh-body:not([hidden]) .legend span");
    child.kill("SIGINT");
    assert.equal(await new Promise((resolve) => child.once("exit", resolve)), 0);
  } finally {
    child.kill("SIGKILL");
  }
});

test("the page works in a sub-folder of a server", async (t) => {
  const page = readFileSync(PAGE);
  const server = createServer((request, answer) => {
    const known = request.url === "/some/where/page.html";
    answer.writeHead(known ? 200 : 404, { "content-type": "text/html" }).end(known ? page : "");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await t.goto(`http://127.0.0.1:${server.address().port}/some/where/page.html`);
    await t.page.click("text=A knot");
    await t.page.waitForSelector(".bvh-body:not([hidden]) .legend span");
  } finally {
    server.close();
  }
});
