/* An exercise on the page: its task, its checks with a grade. What a check is, the view knows. */

import { button, el, put } from "../shell/dom.ts";
import type { Exercise, Grade } from "./format.ts";

export interface Grader<Check> {
  /** What is graded: "my program". */
  readonly subject: string;
  describe(check: Check): string;
  /** Where the answer to a check is given, when it asks for one. */
  field?(index: number): Node | undefined;
  grade(progress: (done: number, total: number) => void): Promise<Grade<Check>[]>;
  fail(error: unknown): void;
}

export class Card<Check> {
  readonly element = el("section", { class: "assignment", hidden: true, "aria-label": "Exercise" });
  private readonly checks = el("ul", { class: "checks" });
  private readonly verdict = el("p", { class: "grade-verdict", role: "status" });
  private readonly go: HTMLButtonElement;
  exercise: Exercise<Check> | undefined;

  constructor(private readonly grader: Grader<Check>) {
    this.go = button(`Check ${grader.subject}`, () => this.grade(), { class: "primary" });
  }

  show(exercise: Exercise<Check> | undefined): void {
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

  /** What was graded is another now. */
  forget(): void {
    put(this.verdict);
    put(this.checks, ...(this.exercise?.checks ?? []).map((check, i) => el("li", { class: "open" }, el("span", { class: "check-mark" }, "○"), this.grader.describe(check), this.grader.field?.(i))));
  }

  private grade(): void {
    this.go.disabled = true;
    put(this.verdict, "Runs…");
    this.grader
      .grade((done, total) => put(this.verdict, total > 0 ? `order ${done} of ${total}` : "Runs…"))
      .then(
        (grades) => this.tell(grades),
        (error: unknown) => {
          this.forget();
          this.grader.fail(error);
        },
      )
      .finally(() => {
        this.go.disabled = false;
      });
  }

  private tell(grades: readonly Grade<Check>[]): void {
    put(
      this.checks,
      ...grades.map((one, i) =>
        el(
          "li",
          { class: one.passed ? "passed" : "failed" },
          el("span", { class: "check-mark", "aria-label": one.passed ? "passed:" : "failed:", role: "img" }, one.passed ? "✓" : "✗"),
          this.grader.describe(one.check),
          this.grader.field?.(i),
          !one.passed && one.found !== "" && el("span", { class: "found" }, ` found: ${one.found}`),
        ),
      ),
    );
    const passed = grades.filter((one) => one.passed).length;
    put(this.verdict, passed === grades.length ? `Solved: ${passed} of ${grades.length} checks passed.` : `${passed} of ${grades.length} checks passed.`);
  }
}
