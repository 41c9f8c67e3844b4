/* The contract as a site, in a browser: search, links, examples that run, keys, themes, print; from disk and from a folder of a server. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { facet, FACET, PAGE, SHOTS, SOURCE, test } from "../harness.mjs";

const FOLDER = mkdtempSync(join(tmpdir(), "facet-site-"));
process.on("exit", () => rmSync(FOLDER, { recursive: true, force: true }));

/** The site with the inspector in it, made when the first case asks. */
function site() {
  const out = join(FOLDER, "site");
  if (!existsSync(out)) {
    execFileSync("python3", ["web/site/build_site.py", "--facet", FACET, "--tree", ".", "--style", "web/style", "--inspector", PAGE, "-o", out], {
      cwd: SOURCE,
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  return pathToFileURL(out).href;
}

const names = (page) => page.locator("#results .result-name").allInnerTexts();

test("search finds what facet spec finds, in its order", async (t) => {
  for (const words of ["watertight triangle", "NAN_POL", "quantiz scale", "rt.bbox", "watchdog", "nan zero"]) {
    await t.page.goto(`${site()}/search.html?q=${encodeURIComponent(words)}`);
    await t.page.waitForSelector("#results li");
    const own = await t.page.evaluate(() =>
      [...document.querySelectorAll("#results li")].filter((one) => !one.querySelector(".result-kind").textContent.endsWith("guide")).map((one) => one.querySelector(".result-name").textContent),
    );
    const { hits } = JSON.parse(facet("spec", "--search", ...words.split(" "), "--json").toString());
    const score = new Map(hits.map((hit) => [hit.name, hit.score]));
    const expected = hits.map((hit) => hit.name);
    assert.ok(expected.length > 0, words);
    /* Names of equal worth may stand in another order: lists of the site are by kind. */
    const first = own.filter((name) => score.has(name)).slice(0, 20);
    assert.deepEqual(first.map((name) => score.get(name)), expected.slice(0, first.length).map((name) => score.get(name)), words);
    assert.deepEqual(own.filter((name) => !score.has(name)), [], `${words}: not in facet spec`);
    assert.equal(new Set(own).size >= Math.min(new Set(expected).size, 150), true, `${words}: ${own.length} of ${expected.length}`);
  }
});

test("typing suggests, arrows choose, Enter goes there", async (t) => {
  await t.page.goto(`${site()}/index.html`);
  await t.page.keyboard.press("/");
  await t.page.keyboard.type("rt.bbox");
  await t.page.waitForSelector("#found li");
  assert.equal(await t.page.locator("#search").getAttribute("aria-expanded"), "true");
  await t.page.keyboard.press("ArrowDown");
  assert.match(await t.page.locator("#found li[aria-selected=true]").innerText(), /^rt\.bbox/);
  await t.shot("site-suggestions");
  await t.page.keyboard.press("Enter");
  await t.page.waitForURL(/xphmg\/insn\/rt\.bbox\.html$/);
  assert.equal(await t.page.locator("h1").innerText(), "rt.bbox");
});

test("Enter without a choice lists everything, and the address holds the words", async (t) => {
  await t.page.goto(`${site()}/index.html`);
  await t.page.fill("#search", "watertight triangle");
  await t.page.keyboard.press("Enter");
  await t.page.waitForURL(/search\.html\?q=watertight%20triangle$/);
  assert.ok((await names(t.page)).includes("R-RT-50"));
  await t.page.fill("#search", "nothing-has-this-name");
  await t.page.keyboard.press("Enter");
  await t.page.waitForSelector("text=0 found");
});

test("a name in an address leads to its page", async (t) => {
  for (const [name, path, text] of [
    ["CAP.PREC.MODE.ZMODE", "xphmg/csr/CAP.PREC.MODE.html#ZMODE", "ZMODE"],
    ["R-G12-09", "resolution/R-G12-09.html", "Node IDs"],
    ["numeric.md 9", "contract/numeric.html#s9", "conversion pipeline"],
  ]) {
    await t.page.goto(`${site()}/search.html?go=${encodeURIComponent(name)}`);
    await t.page.waitForURL((url) => url.href.endsWith(path));
    assert.ok((await t.page.locator("main").innerText()).includes(text), name);
  }
});

test("from rule to name to row to test and back", async (t) => {
  await t.page.goto(`${site()}/contract/rt-semantics.html#s7`);
  const leads = t.page.locator("#s7 + details");
  await leads.locator("summary").click();
  await leads.locator("text=rt.bbox").first().click();
  await t.page.waitForURL(/rt\.bbox\.html$/);
  await t.page.locator("#requirements ~ details summary, #requirements ~ * summary").first().click();
  await t.page.click("a:text-is('RT-135')");
  assert.equal(await t.page.locator("h1").innerText(), "RT-135");
  await t.page.click("#about ~ dl a:has-text('rt.bbox')");
  await t.page.waitForURL(/rt\.bbox\.html$/);
});

test("an example opens in the inspector, stops at its instruction, and the inspector leads back", async (t) => {
  await t.page.goto(`${site()}/xphmg/insn/add.html`);
  await t.page.click("text=Run it step by step");
  await t.page.waitForSelector("html[data-ready]");
  await t.page.click("button:has-text('Run')");
  await t.page.waitForSelector("[role=status]:has-text('breakpoint')");
  await t.shot("site-example");
  await t.page.click("#tab-numbers");
  await t.page.click("text=How it is rounded");
  await t.page.waitForURL(/contract\/numeric\.html#s9$/);
});

test("an example runs in its place, from disk, and closes again", async (t) => {
  await t.page.goto(`${site()}/tile/insn/aadd.r.html`);
  await t.page.click("button:text-is('Run it here')");
  const frame = t.page.frameLocator("iframe.run");
  await frame.locator("html[data-ready]").waitFor({ state: "attached" });
  await frame.locator("button:has-text('Run')").first().click();
  await frame.locator("[role=status]:has-text('breakpoint')").waitFor();
  assert.match(await frame.locator(".cm-line.line-current").innerText(), /AADD\.R/);
  await t.shot("site-in-place");
  await t.page.click("button:text-is('Close')");
  assert.equal(await t.page.locator("iframe").count(), 0);
  await t.page.goto(`${site()}/gfx12/insn/image_bvh8_intersect_ray.html`);
  await t.page.click("text=Run it step by step");
  await t.page.waitForSelector("text=Ray of pixel (356, 162)");
});

test("a sub-folder of a server serves it as well", async (t) => {
  site();
  const types = { html: "text/html; charset=utf-8", css: "text/css", js: "text/javascript", png: "image/png" };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://x").pathname);
    const file = join(FOLDER, "site", path.slice("/deep/er/".length));
    if (!path.startsWith("/deep/er/") || !existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": types[file.split(".").at(-1)] ?? "application/octet-stream" }).end(readFileSync(file));
  }).listen(0, "127.0.0.1");
  try {
    await new Promise((resolve) => server.once("listening", resolve));
    const base = `http://127.0.0.1:${server.address().port}/deep/er`;
    await t.page.goto(`${base}/tile/structure/RSTATE.html`);
    await t.page.fill("#search", "CAP-137");
    await t.page.waitForSelector("#found li");
    await t.page.keyboard.press("Enter");
    await t.page.waitForSelector("#results a");
    await t.page.click("#results a:text-is('CAP-137')");
    await t.page.waitForURL(`${base}/requirement/CAP-137.html`);
    await t.page.click("text=Inspector");
    await t.page.waitForSelector("html[data-ready]");
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("the theme stays from page to page", async (t) => {
  await t.page.goto(`${site()}/index.html`);
  const ground = () => t.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await t.page.click("#theme");
  await t.page.click("#theme");
  assert.notEqual(await ground(), light);
  const dark = await ground();
  await t.page.click("text=Glossary");
  await t.page.waitForURL(/glossary/);
  await t.page.waitForLoadState("load");
  assert.equal(await ground(), dark);
});

test("on paper lists are open and nothing is cut", async (t) => {
  await t.page.goto(`${site()}/xphmg/csr/CAP.PREC.MODE.html`);
  await t.page.emulateMedia({ media: "print" });
  await t.page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  assert.equal(await t.page.locator("main details:not([open])").count(), 0);
  assert.equal(await t.page.locator(".top").isVisible(), false);
  await t.page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  assert.ok((await t.page.locator("main details:not([open])").count()) > 0);
});

for (const scheme of ["light", "dark"]) {
  test(`axe finds nothing in the contract, ${scheme}`, async (t) => {
    t.allow(/connect-src/); /* axe would read the style sheet again */
    await t.page.emulateMedia({ colorScheme: scheme });
    for (const path of ["index.html", "xphmg/insn/rt.bbox.html", "xphmg/csr/CAP.PREC.MODE.html", "gfx12/structure/GFX12_BOX_NODE.html", "requirement/RT-135.html",
      "resolution/R-G12-09.html", "xphmg/index.html", "contract/numeric.html", "search.html?q=watertight", "suite/index.html"]) {
      await t.page.goto(`${site()}/${path}`);
      if (path.startsWith("search")) {
        await t.page.waitForSelector("#results li");
      }
      assert.deepEqual(await t.accessibility(), [], path);
    }
  });
}

test("pages fit on a laptop and on a projector", async (t) => {
  for (const [width, height] of [[1280, 800], [1920, 1080], [600, 900]]) {
    await t.page.setViewportSize({ width, height });
    for (const path of ["index.html", "xphmg/csr/CAP.PREC.MODE.html", "tile/structure/RSTATE.html", "xphmg/index.html", "contract/numeric.html", "requirement/area-CAP.html"]) {
      await t.page.goto(`${site()}/${path}`);
      assert.equal(await t.page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true, `${path} at ${width}`);
      await t.shot(`site-${path.replace(/\W/g, "-")}-${width}`);
    }
  }
  assert.ok(existsSync(SHOTS));
});
