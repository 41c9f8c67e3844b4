/* Runs every *.test.mjs below this folder in headless Chromium; ends with `N passed, N failed`.
 *
 * usage: node run.mjs [SUBSTRING...]: only cases whose file or name has one of them. FACET, FACET_PAGE and FACET_SHOTS say where the
 * program, the page and the folder for pictures are. */

import { existsSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "../../web/node_modules/playwright-core/index.mjs";
import { cases, FACET, PAGE, SOURCE, Tester } from "./harness.mjs";

const CASE_MILLISECONDS = 120_000;

for (const [what, path] of [["program", FACET], ["page", PAGE]]) {
  if (!existsSync(path)) {
    console.error(`${path}: the ${what} is not there; expected what make and make web build`);
    process.exit(2);
  }
}

const here = join(SOURCE, "tests/web");
const files = readdirSync(here, { recursive: true })
  .map(String)
  .filter((name) => name.endsWith(".test.mjs"))
  .sort();
const wanted = process.argv.slice(2);
const all = [];
for (const file of files) {
  const before = cases.length;
  await import(pathToFileURL(join(here, file)).href);
  all.push(...cases.slice(before).map((one) => ({ ...one, file: relative(here, join(here, file)) })));
}
const chosen = all.filter((one) => wanted.length === 0 || wanted.some((word) => `${one.file} ${one.name}`.includes(word)));

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  /* No GPU and no user namespaces on the machines that test. */
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
});
let passed = 0;
let failed = 0;

/** What went wrong, or null. */
async function attempt(one) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
  const t = new Tester(context, await context.newPage());
  let timer;
  try {
    await Promise.race([
      one.run(t),
      new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`not done after ${CASE_MILLISECONDS / 1000} s`)), CASE_MILLISECONDS);
      }),
    ]);
    const problems = t.problems();
    return problems.length > 0 ? problems.join("\n") : null;
  } catch (error) {
    await t.shot(`failed-${failed}`).catch(() => {});
    return String(error instanceof Error ? error.stack : error);
  } finally {
    clearTimeout(timer);
    await t.end();
  }
}

for (const one of chosen) {
  let wrong = await attempt(one);
  if (wrong !== null) {
    /* A browser on a busy machine is late at times. What is wrong is wrong twice; what was late is told all the same. */
    console.log(`again ${one.file}: ${one.name}\n${wrong.replace(/^/gm, "     ")}`);
    wrong = await attempt(one);
  }
  if (wrong === null) {
    passed++;
    console.log(`ok   ${one.file}: ${one.name}`);
  } else {
    failed++;
    console.log(`FAIL ${one.file}: ${one.name}\n${wrong.replace(/^/gm, "     ")}`);
  }
}
await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
