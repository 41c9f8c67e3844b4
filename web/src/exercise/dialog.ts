/* The dialogue that makes an exercise, or changes one. */

import { button, el, put } from "../shell/dom.ts";
import type { Exercise } from "./format.ts";

export interface Making<Check> {
  readonly exercise: Exercise<Check> | undefined;
  /** What others begin with. */
  readonly about: string;
  /** Checks to begin with: what a button adds. */
  readonly offers: readonly (readonly [string, () => unknown])[];
  /** Throws an Error for checks that make no sense. */
  read(value: unknown): Exercise<Check>;
  done(exercise: Exercise<Check> | undefined): void;
}

export function makeExercise<Check>(making: Making<Check>): void {
  const { title: heading = "", task: text = "", checks: old = [] } = making.exercise ?? {};
  const title = el("input", { value: heading, "aria-label": "Title" });
  const task = el("textarea", { rows: 6, "aria-label": "Task" }, text);
  const checks = el("textarea", { rows: 8, class: "mono", spellcheck: "false", "aria-label": "Checks, one in a line" }, old.map((check) => JSON.stringify(check)).join("\n"));
  const wrong = el("p", { class: "wrong", role: "alert" });
  const dialog = el("dialog", { class: "keys exercise-dialog", "aria-labelledby": "exercise-title" });
  const finish = (): void => {
    try {
      making.done(making.read({ title: title.value, task: task.value, checks: readLines(checks.value) }));
      dialog.close();
    } catch (error) {
      put(wrong, error instanceof Error ? error.message : String(error));
    }
  };
  const none = (): void => {
    making.done(undefined);
    dialog.close();
  };
  dialog.append(
    el("h2", { id: "exercise-title" }, "Exercise"),
    el("p", { class: "quiet" }, `${making.about} Copy link then gives an address that holds all of it and grades itself; Save makes a file for facet view.`),
    el("label", {}, "Title ", title),
    el("label", {}, "Task; words in `backquotes` are code ", task),
    el("label", {}, "Checks, one in a line ", checks),
    el(
      "div",
      { class: "panel-tools" },
      "Add: ",
      ...making.offers.map(([name, check]) =>
        button(name, () => {
          checks.value = `${checks.value.trimEnd()}\n${JSON.stringify(check())}`.trimStart();
        }),
      ),
    ),
    wrong,
    el("div", { class: "panel-tools" }, button("Use it", finish, { class: "primary" }), button("No exercise", none), button("Cancel", () => dialog.close())),
  );
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function readLines(text: string): unknown[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line, i) => {
      try {
        return JSON.parse(line) as unknown;
      } catch {
        throw new Error(`check ${i + 1}: expected JSON such as {"what": "exit", "equals": "0"}`);
      }
    });
}
