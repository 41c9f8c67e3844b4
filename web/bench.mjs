/* How soon the page shows something and how large it is: from navigation to the first finished picture of assets/room.glb in headless
 * Chromium, from disk and from a server, and bytes as gzip sends them.
 *
 * usage: node web/bench.mjs BUILD: a build folder after `make web` */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { chromium } from "./node_modules/playwright-core/index.mjs";

const source = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "..");
const build = resolve(process.argv[2] ?? join(source, "build"));
const folder = mkdtempSync(join(tmpdir(), "facet-bench-"));
const page = join(build, "web/page.html"), room = join(folder, "room.html");
const RUNS = 9;
const DRAWN = ".bvh-body:not([hidden]) canvas.picture[aria-busy=false]";

/* Notes when the page could be used and when the picture was whole, in milliseconds since the navigation began. */
function watch(drawn) {
  const look = () => {
    if (globalThis.usable === undefined && document.querySelector("[role=tab]") !== null) {
      globalThis.usable = performance.now();
    }
    /* The legend speaks of whole pictures: a coarse one that comes before has none. */
    if (globalThis.drawn === undefined && document.querySelector(drawn) !== null && document.querySelector(".legend")?.textContent.includes(" rays") === true) {
      globalThis.drawn = performance.now();
    }
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
}

async function measure(browser, url) {
  const runs = [];
  for (let i = 0; i < RUNS; i++) {
    const context = await browser.newContext({ viewport: { width: 1366, height: 768 } });
    const tab = await context.newPage();
    await tab.addInitScript(watch, DRAWN);
    await tab.goto(url);
    await tab.waitForFunction(() => globalThis.drawn !== undefined, null, { timeout: 60_000 });
    runs.push(await tab.evaluate(() => [globalThis.usable, globalThis.drawn]));
    await context.close();
  }
  const median = (k) => runs.map((one) => one[k]).sort((a, b) => a - b)[RUNS >> 1].toFixed(0).padStart(5);
  const worst = Math.max(...runs.map((one) => one[1])).toFixed(0).padStart(5);
  return `tabs after ${median(0)} ms, picture after ${median(1)} ms (slowest ${worst} ms)`;
}

const bytes = (path) => `${(gzipSync(readFileSync(path), { level: 9 }).length / 1e6).toFixed(2)} MB compressed, ${(readFileSync(path).length / 1e6).toFixed(2)} MB`;

try {
  execFileSync(join(build, "facet"), ["view", "-q", join(source, "assets/room.glb"), "-o", room], { env: { ...process.env, FACET_PAGE: page } });
  console.log(`page          ${bytes(page)}\nwith room.glb ${bytes(room)}`);
  const compressed = gzipSync(readFileSync(room));
  const server = createServer((_, answer) => answer.writeHead(200, { "content-type": "text/html", "content-encoding": "gzip" }).end(compressed));
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] });
  for (const [name, url] of [["from disk", pathToFileURL(room).href], ["from a server", `http://127.0.0.1:${server.address().port}/`]]) {
    console.log(`${name.padEnd(13)} ${await measure(browser, url)}`);
  }
  await browser.close();
  server.close();
} finally {
  rmSync(folder, { recursive: true });
}
