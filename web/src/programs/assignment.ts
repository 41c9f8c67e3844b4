/* The exercise of a program. */

import { Card } from "../exercise/card.ts";
import { makeExercise } from "../exercise/dialog.ts";
import type { MachineApi, MachineState } from "../engine/machines.ts";
import { describeCheck, grade } from "./exercise.ts";
import type { Desk } from "./panel.ts";
import { readProject, type Check, type Exercise, type Project } from "./project.ts";

export class Assignment extends Card<Check> {
  constructor(
    machines: MachineApi,
    private readonly project: () => Project,
    private readonly changed: (exercise: Exercise | undefined) => void,
    private readonly state: () => MachineState | undefined,
    desk: Desk,
  ) {
    super({
      subject: "my program",
      describe: describeCheck,
      grade: (progress) => grade(machines, project(), { progress }),
      fail: (error) => desk.fail(error),
    });
  }

  edit(): void {
    const kind = this.project().kind;
    makeExercise<Check>({
      exercise: this.exercise,
      about: "The program above is what others begin with.",
      offers: [
        ["exit code", () => ({ what: "exit", equals: BigInt(this.state()?.stop.code ?? "0").toString() })],
        ["register", () => ({ what: "register", core: 0, name: kind === "hart" ? "a0" : "s1", equals: "0" })],
        ["memory", () => ({ what: "memory", at: "0x80100000", bytes: "01000000" })],
        ["console", () => ({ what: "console", equals: "hello\n" })],
        ["pixel", () => ({ what: "pixel", x: 0, y: 0, equals: "#ff0000" })],
        ["steps", () => ({ what: "steps", most: this.state()?.steps ?? 1000 })],
        ["other orders", () => ({ what: "schedules", count: 8 })],
      ],
      read: (value) => {
        const { exercise } = readProject({ ...this.project(), exercise: value });
        if (exercise === undefined) {
          throw new Error("expected an exercise");
        }
        return exercise;
      },
      done: (exercise) => {
        this.show(exercise);
        this.changed(exercise);
      },
    });
  }
}
