/* What the tests of the page share: a browser, the page, and how a case is written.
 *
 *   import { test } from "../harness.mjs";
 *   test("a ray is shown", async (t) => {
 *     await t.open();                     // the page from disk, as make web wrote it
 *     await t.view("assets/room.glb");    // or: what facet view -o writes for a file
 *     await t.page.click("text=Tree");    // t.page is Playwright's
 *     await t.shot("tree");               // a picture for review, in out/web
 *   });
 *
 * Every case has a browser context of its own. A case fails when the page throws, breaks its own content security policy, or asks
 * the network for anything; one that means to do so calls t.allow(/text/). */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

export const SOURCE = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");
export const FACET = resolve(process.env.FACET ?? join(SOURCE, "build/facet"));
export const PAGE = resolve(process.env.FACET_PAGE ?? join(SOURCE, "build/web/page.html"));
export const SHOTS = resolve(process.env.FACET_SHOTS ?? join(SOURCE, "out/web"));

const WAIT = 30_000;

export const cases = [];

export function test(name, run) {
  cases.push({ name, run });
}

/** The output of the program; throws with what it said when its exit code is another. */
export function facet(...words) {
  return execFileSync(FACET, words, { cwd: SOURCE, env: { ...process.env, FACET_PAGE: PAGE }, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
}

export class Tester {
  constructor(context, page) {
    this.context = context;
    this.page = page;
    this.folder = mkdtempSync(join(tmpdir(), "facet-web-"));
    this.errors = [];
    this.allowed = [];
    page.setDefaultTimeout(WAIT);
    page.on("pageerror", (error) => this.errors.push(`the page threw: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error") {
        this.errors.push(`the page complained: ${message.text()}`);
      }
    });
    page.on("request", (request) => {
      if (!/^(file|blob|data|chrome-extension):/.test(request.url()) && !request.url().startsWith("http://127.0.0.1:")) {
        this.errors.push(`the page asked for ${request.url()}`);
      }
    });
  }

  allow(pattern) {
    this.allowed.push(pattern);
  }

  file(name) {
    return join(this.folder, name);
  }

  async goto(url) {
    /* A URL that differs in its hash only would load nothing. */
    await this.page.goto("about:blank");
    await this.page.goto(url);
    await this.page.waitForSelector("html[data-ready]");
  }

  async open(hash = "") {
    await this.goto(pathToFileURL(PAGE).href + hash);
  }

  /** The page with a file inside; other words are options of facet view. */
  async view(path, ...options) {
    const out = this.file("page.html");
    facet("view", "-q", resolve(SOURCE, path), "-o", out, ...options);
    await this.goto(pathToFileURL(out).href);
  }

  /** As if the files were chosen in the dialogue of Open. */
  async choose(...paths) {
    await this.page.setInputFiles("input[type=file][aria-label='File to open']", paths.map((path) => resolve(SOURCE, path)));
  }

  async shot(name) {
    mkdirSync(SHOTS, { recursive: true });
    await this.page.screenshot({ path: join(SHOTS, `${name}.png`) });
  }

  /** What axe finds against WCAG 2.1 A and AA, a line each. */
  async accessibility() {
    const axe = readFileSync(join(SOURCE, "web/node_modules/axe-core/axe.min.js"), "utf8");
    await this.page.evaluate(axe);
    const result = await this.page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }));
    return result.violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.target.join(" ")}: ${node.failureSummary.split("\n")[1]?.trim()}`));
  }

  /** What is wrong besides the checks of the case. */
  problems() {
    return this.errors.filter((error) => !this.allowed.some((pattern) => pattern.test(error)));
  }

  async end() {
    await this.context.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
