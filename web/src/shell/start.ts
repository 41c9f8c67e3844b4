/* What a visitor sees who brought nothing: what the page can do, and something to begin with. */

import { button, el } from "./dom.ts";
import type { Mounted, Page, View } from "./view.ts";

export function startPage(host: HTMLElement, page: Page, views: readonly View[]): Mounted {
  const cards = views.map((view) => {
    const examples = (view.examples ?? []).map((example) =>
      el(
        "li",
        {},
        button(example.title, () => {
          page.go(view.id, example.state).catch((error: unknown) => page.complain(error));
        }),
      ),
    );
    return el(
      "article",
      { class: "card" },
      el("h2", {}, button(view.title, () => void page.go(view.id), { class: "plain" })),
      el("p", {}, view.summary),
      examples.length > 0 && el("ul", { class: "examples" }, ...examples),
    );
  });
  host.append(
    el(
      "div",
      { class: "start" },
      el("h1", {}, "Look inside a graphics machine"),
      el(
        "p",
        { class: "lead" },
        "Three instruction sets for graphics run in this page, instruction by instruction, with the same bits as the program ",
        el("code", {}, "facet"),
        ". Nothing you open leaves it.",
      ),
      el(
        "p",
        { class: "drop" },
        button("Open a file…", () => page.choose(), { class: "primary" }),
        el("span", {}, " or drop one anywhere: scenes, BVH images, captures, programs, kernels, command lists."),
      ),
      el("div", { class: "cards" }, ...cards),
      el("p", { class: "foot" }, el("span", { id: "engine-info" }, "Starting the machines…")),
    ),
  );
  const info = host.querySelector("#engine-info");
  page.engine.ready.then(
    (engine) => {
      if (info !== null) {
        info.textContent = `libfacet ${engine.version}, ${Math.round(engine.wasmBytes / 1024)} KiB of WebAssembly. Press ? for the keys.`;
      }
    },
    (error: unknown) => {
      if (info !== null) {
        info.textContent = "The machines could not start.";
      }
      page.say("error", error instanceof Error ? error.message : String(error));
    },
  );
  return {};
}
