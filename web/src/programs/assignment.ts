/* An exercise on the page: its task, its checks with a grade, and the dialogue that makes one. */

import type { MachineApi, MachineState } from "../engine/machines.ts";
import { button, el, put } from "../shell/dom.ts";
import { describeCheck, grade, type Grade } from "./exercise.ts";
import type { Desk } from "./panel.ts";
import { readProject, type Check, type Exercise, type Project } from "./project.ts";

export class Assignment {
  readonly element = el("section", { class: "assignment", hidden: true, "aria-label": "Exercise" });
  private readonly checks = el("ul", { class: "checks" });
  private readonly verdict = el("p", { class: "grade-verdict", role: "status" });
  private readonly go = button("Check my program", () => this.grade(), { class: "primary" });
  private exercise: Exercise | undefined;

  constructor(
    private readonly machines: MachineApi,
    private readonly project: () => Project,
    private readonly changed: (exercise: Exercise | undefined) => void,
    private readonly state: () => MachineState | undefined,
    private readonly desk: Desk,
  ) {}

  show(exercise: Exercise | undefined): void {
    this.exercise = exercise;
    this.element.hidden = exercise === undefined;
    if (exercise === undefined) {
      return;
    }
    put(
      this.element,
      el(
        "div",
        { class: "task" },
        el("h2", {}, exercise.title),
        ...exercise.task.split(/\n\s*\n/).map((paragraph) =>
          el("p", {}, ...paragraph.split(/(`[^`]*`)/).map((piece) => (piece.startsWith("`") && piece.length > 1 ? el("code", {}, piece.slice(1, -1)) : piece))),
        ),
      ),
      el("div", { class: "grades" }, this.checks, el("div", { class: "panel-tools" }, this.go, this.verdict)),
    );
    this.forget();
  }

  /** The text is another: what was graded is not. */
  forget(): void {
    put(this.verdict);
    put(this.checks, ...(this.exercise?.checks ?? []).map((check) => el("li", { class: "open" }, el("span", { class: "check-mark" }, "○"), describeCheck(check))));
  }

  private grade(): void {
    this.go.disabled = true;
    put(this.verdict, "Runs…");
    grade(this.machines, this.project(), { progress: (done, total) => put(this.verdict, total > 0 ? `order ${done} of ${total}` : "Runs…") })
      .then(
        (grades) => this.tell(grades),
        (error: unknown) => {
          this.forget();
          this.desk.fail(error);
        },
      )
      .finally(() => {
        this.go.disabled = false;
      });
  }

  private tell(grades: readonly Grade[]): void {
    put(
      this.checks,
      ...grades.map((one) =>
        el(
          "li",
          { class: one.passed ? "passed" : "failed" },
          el("span", { class: "check-mark", "aria-label": one.passed ? "passed:" : "failed:", role: "img" }, one.passed ? "✓" : "✗"),
          describeCheck(one.check),
          !one.passed && one.found !== "" && el("span", { class: "found" }, ` found: ${one.found}`),
        ),
      ),
    );
    const passed = grades.filter((one) => one.passed).length;
    put(this.verdict, passed === grades.length ? `Solved: ${passed} of ${grades.length} checks passed.` : `${passed} of ${grades.length} checks passed.`);
  }

  /* ---- making one ---- */

  edit(): void {
    const exercise: Exercise = this.exercise ?? { title: "", task: "", checks: [] };
    const title = el("input", { value: exercise.title, "aria-label": "Title" });
    const task = el("textarea", { rows: 6, "aria-label": "Task" }, exercise.task);
    const checks = el("textarea", { rows: 8, class: "mono", spellcheck: "false", "aria-label": "Checks, one in a line" }, exercise.checks.map((check) => JSON.stringify(check)).join("\n"));
    const wrong = el("p", { class: "wrong", role: "alert" });
    const add = (check: Check): void => {
      checks.value = `${checks.value.trimEnd()}\n${JSON.stringify(check)}`.trimStart();
    };
    const dialog = el("dialog", { class: "keys exercise-dialog", "aria-labelledby": "exercise-title" });
    const finish = (): void => {
      try {
        const made = readProject({ ...this.project(), exercise: { title: title.value, task: task.value, checks: readChecks(checks.value) } }).exercise;
        this.show(made);
        this.changed(made);
        dialog.close();
      } catch (error) {
        put(wrong, error instanceof Error ? error.message : String(error));
      }
    };
    const none = (): void => {
      this.show(undefined);
      this.changed(undefined);
      dialog.close();
    };
    dialog.append(
      el("h2", { id: "exercise-title" }, "Exercise"),
      el("p", { class: "quiet" }, "The program above is what others begin with. Copy link then gives an address that holds all of it and grades itself; Save makes a file for facet view."),
      el("label", {}, "Title ", title),
      el("label", {}, "Task; words in `backquotes` are code ", task),
      el("label", {}, "Checks, one in a line ", checks),
      el(
        "div",
        { class: "panel-tools" },
        "Add: ",
        button("exit code", () => add({ what: "exit", equals: BigInt(this.state()?.stop.code ?? "0").toString() })),
        button("register", () => add({ what: "register", core: 0, name: this.project().kind === "hart" ? "a0" : "s1", equals: "0" })),
        button("memory", () => add({ what: "memory", at: "0x80100000", bytes: "01000000" })),
        button("console", () => add({ what: "console", equals: "hello\n" })),
        button("pixel", () => add({ what: "pixel", x: 0, y: 0, equals: "#ff0000" })),
        button("steps", () => add({ what: "steps", most: this.state()?.steps ?? 1000 })),
        button("other orders", () => add({ what: "schedules", count: 8 })),
      ),
      wrong,
      el("div", { class: "panel-tools" }, button("Use it", finish, { class: "primary" }), button("No exercise", none), button("Cancel", () => dialog.close())),
    );
    dialog.addEventListener("keydown", (event) => event.stopPropagation());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }
}

function readChecks(text: string): unknown[] {
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
