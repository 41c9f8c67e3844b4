/* The page begins here: start the engine, show the shell with all views, open what the page was given. */

import workerText from "facet:worker";
import { startEngine } from "./engine/index.ts";
import { inflate, embedded } from "./shell/data.ts";
import { Shell } from "./shell/shell.ts";
import { views } from "./views.ts";

async function begin(): Promise<void> {
  const host = document.getElementById("page");
  if (host === null) {
    throw new Error("the page has no place for its views");
  }
  const core = document.getElementById("facet-core");
  const wasm = await inflate(core?.textContent ?? "");
  core?.remove();
  const engine = startEngine({ wasm, worker: workerText });
  const shell = new Shell(host, engine, views);
  await shell.start(await embedded());
}

void begin().catch((error: unknown) => {
  document.body.textContent = `The page could not start: ${error instanceof Error ? error.message : String(error)}`;
});
