/* Makes the page: one HTML file with its script, its style sheets, the worker and the C core inside.
 *
 * usage: node build.mjs WASM OUT.html
 *
 * The page asks nothing of any network, and its content security policy keeps it so: the script is named by its hash. What
 * `facet view` shows goes in at <!--facet-input-->. */

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const web = dirname(fileURLToPath(import.meta.url));
const [wasmPath, outPath] = process.argv.slice(2);
if (outPath === undefined) {
  console.error("usage: node build.mjs WASM OUT.html");
  process.exit(2);
}

const common = { bundle: true, write: false, metafile: true, minify: true, format: "iife", target: "es2022", charset: "utf8", legalComments: "none", logLevel: "warning" };

/** The worker's script as text: it becomes a Blob, so that the page works from disk. */
const workerPlugin = {
  name: "worker",
  setup(build) {
    build.onResolve({ filter: /^facet:worker$/ }, () => ({ path: "worker", namespace: "facet" }));
    build.onLoad({ filter: /.*/, namespace: "facet" }, async () => {
      const made = await esbuild.build({ ...common, entryPoints: [join(web, "src/engine/worker.ts")] });
      noteParts(made);
      return { contents: made.outputFiles[0].text, loader: "text" };
    });
  },
};

/** Files of the repository as text: `import text from "facet:text/examples/xphmg/hello.s"`. */
const textPlugin = {
  name: "text",
  setup(build) {
    build.onResolve({ filter: /^facet:text\// }, (args) => ({ path: join(web, "..", args.path.slice("facet:text/".length)), namespace: "text" }));
    build.onLoad({ filter: /.*/, namespace: "text" }, (args) => ({ contents: readFileSync(args.path, "utf8"), loader: "text" }));
  },
};

/** The npm packages that went into the page: their licences ask to go with it. */
const parts = new Set();
function noteParts(made) {
  for (const path of Object.keys(made.metafile.inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (found) {
      parts.add(found[1]);
    }
  }
}

function licences() {
  return [...parts].sort().map((name) => `${name}\n\n${readFileSync(join(web, "node_modules", name, "LICENSE"), "utf8").trim()}`).join("\n\n----\n\n");
}

/** A script or style sheet must not end its own element. */
function inside(text, element) {
  return text.replaceAll(`</${element}`, `<\\/${element}`);
}

function hash(text) {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

const bundled = await esbuild.build({ ...common, entryPoints: [join(web, "src/main.ts")], plugins: [workerPlugin, textPlugin] });
noteParts(bundled);
const script = inside(bundled.outputFiles[0].text, "script");
const style = inside((await esbuild.build({ ...common, entryPoints: [join(web, "style/page.css")] })).outputFiles[0].text, "style");
const core = gzipSync(readFileSync(wasmPath), { level: 9 }).toString("base64");
/* CodeMirror adds its style sheet by itself, and carries this word. */
const nonce = createHash("sha256").update(script).update(style).digest("hex").slice(0, 24);

const policy = [
  "default-src 'none'",
  `script-src ${hash(script)} 'wasm-unsafe-eval'`,
  "worker-src blob:",
  `style-src ${hash(style)} 'nonce-${nonce}'`,
  "img-src data: blob:",
  "connect-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="style-nonce" content="${nonce}">
<title>Facet</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<noscript>This page runs the machines of Facet in the browser and needs JavaScript.</noscript>
<div id="page"></div>
<script type="application/octet-stream" id="facet-core">${core}</script>
<script type="text/plain" id="facet-licences">${inside(licences(), "script")}</script>
<!--facet-input-->
<script>${script}</script>
</body>
</html>
`;

mkdirSync(dirname(outPath), { recursive: true });
writeFileSync(outPath, page);
console.log(`${outPath}: ${page.length} bytes, ${gzipSync(page).length} compressed`);
