/* Exercises about a ray: questions whose answers are members of the record of `facet bvh why --json`, which the library makes again when
 * it grades. The answers are not in the link. */

import type { Camera, RayRecord } from "../engine/types.ts";
import { Card } from "../exercise/card.ts";
import { makeExercise } from "../exercise/dialog.ts";
import { count, fail, object, only, readBig, readExercise, text, type Exercise, type Grade } from "../exercise/format.ts";
import { button, el } from "../shell/dom.ts";

/** Which ray: that of a pixel, under the camera that sees everything or another. */
export interface RayPlace {
  size: string;
  pixel: [number, number];
  camera?: Camera;
  backs?: false;
}

type RayCheck =
  /* What stands there in the record of the exercise's ray; a number to so many digits. */
  | { what: "answer"; of: string; digits: number; text: string }
  /* The pixel that is chosen has a ray with such a record. */
  | { what: "find"; of: string; equals?: string; least?: number; most?: number; text: string };

export interface RayHost {
  /** The record of a ray; undefined: nothing is open. */
  record(place: RayPlace): Promise<RayRecord | undefined>;
  /** What is looked at. */
  place(): RayPlace | undefined;
  step(): number;
  changed(): void;
  save(): void;
  fail(error: unknown): void;
}

const DIGITS = 4;

function readCheck(value: unknown, where: string): RayCheck {
  const from = object(value, where);
  const of = text(from, "of", where);
  const says = text(from, "text", where);
  if (!/^\w+(\.\w+)*$/.test(of)) {
    fail(`${where}.of`, "a path such as result.t or steps.2.node");
  }
  if (from["what"] === "answer") {
    only(from, ["what", "of", "digits", "text"], where);
    return { what: "answer", of, digits: Math.min(17, Math.max(1, count(from, "digits", where, DIGITS))), text: says };
  }
  if (from["what"] !== "find") {
    return fail(`${where}.what`, "answer or find");
  }
  only(from, ["what", "of", "equals", "least", "most", "text"], where);
  const tests = ["equals", "least", "most"].filter((name) => from[name] !== undefined);
  if (tests.length === 0) {
    fail(where, "equals, least or most");
  }
  return {
    what: "find",
    of,
    text: says,
    ...(from["equals"] === undefined ? {} : { equals: text(from, "equals", where) }),
    ...(from["least"] === undefined ? {} : { least: count(from, "least", where) }),
    ...(from["most"] === undefined ? {} : { most: count(from, "most", where) }),
  };
}

function readPlace(value: unknown): RayPlace {
  const from = object(value, "exercise.ray");
  only(from, ["size", "pixel", "camera", "backs"], "exercise.ray");
  const size = text(from, "size", "exercise.ray");
  const pixel = from["pixel"];
  if (!/^\d{1,4}x\d{1,4}$/.test(size)) {
    fail("exercise.ray.size", "a size such as 640x360");
  }
  if (!Array.isArray(pixel) || pixel.length !== 2 || !pixel.every((one) => Number.isSafeInteger(one) && one >= 0)) {
    fail("exercise.ray.pixel", "two whole numbers");
  }
  return {
    size,
    pixel: [Number(pixel[0]), Number(pixel[1])],
    ...(from["camera"] === undefined ? {} : { camera: from["camera"] as Camera }),
    ...(from["backs"] === false ? { backs: false } : {}),
  };
}

/* ---- values of a record ---- */

/** A member by its path; undefined when there is none. */
function member(record: RayRecord, path: string): unknown {
  let at: unknown = record;
  for (const name of path.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) {
      return undefined;
    }
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}

interface Fact {
  bits?: bigint;
  value: string | number | boolean;
}

/** A number with its bits, or what JSON has; lists are no answers. */
function fact(value: unknown): Fact | undefined {
  if (typeof value === "object" && value !== null && "bits" in value && "value" in value) {
    return { bits: BigInt(String(value.bits)), value: value.value as number | string };
  }
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? { value } : undefined;
}

const YES = new Map([["yes", true], ["true", true], ["1", true], ["no", false], ["false", false], ["0", false]]);

function asBig(spelling: string): bigint | undefined {
  try {
    return readBig(spelling, "");
  } catch {
    return undefined;
  }
}

/** Whether an answer is the fact: by its bits, by so many digits, or word by word. */
function isSame(there: Fact, given: string, digits: number): boolean {
  const answer = given.trim().toLowerCase();
  if (answer === "") {
    return false;
  }
  if (typeof there.value === "boolean") {
    return YES.get(answer) === there.value;
  }
  if (there.bits !== undefined && answer.startsWith("0x")) {
    return asBig(answer) === there.bits;
  }
  if (typeof there.value === "number") {
    return Number.isInteger(there.value) && there.bits === undefined ? Number(answer) === there.value : Number(answer).toPrecision(digits) === there.value.toPrecision(digits);
  }
  const number = asBig(there.value);
  return number !== undefined ? asBig(answer) === number : answer === there.value.toLowerCase();
}

export class RayExercise extends Card<RayCheck> {
  private ray: RayPlace | undefined;
  private fields: { element: HTMLElement; input: HTMLInputElement }[] = [];

  constructor(private readonly host: RayHost) {
    super({
      subject: "my answers",
      describe: (check) => check.text,
      field: (i) => this.fields[i]?.element,
      grade: () => this.graded(),
      fail: (error) => host.fail(error),
    });
  }

  override show(exercise: Exercise<RayCheck> | undefined): void {
    this.fields = (exercise?.checks ?? []).map((check, i) => this.field(check, i));
    super.show(exercise);
    this.element.querySelector(".panel-tools")?.append(button("Save exercise", () => this.host.save(), { title: "The exercise with its image as a file, which facet view opens" }));
  }

  /** Of another image, or none. */
  clear(): void {
    this.ray = undefined;
    this.show(undefined);
  }

  state(): unknown {
    return this.exercise === undefined ? undefined : { ...this.exercise, ray: this.ray };
  }

  restore(value: unknown): void {
    if (value === undefined) {
      this.clear();
      return;
    }
    const { ray, ...exercise } = object(value, "exercise");
    this.ray = readPlace(ray);
    this.show(readExercise(exercise, readCheck));
  }

  private field(check: RayCheck, i: number): { element: HTMLElement; input: HTMLInputElement } {
    const input = el("input", { class: "answer mono", "aria-label": `Answer ${i + 1}`, spellcheck: "false", autocomplete: "off" });
    const steps = /^steps\.\d+\.(.*)$/.exec(check.of)?.[1];
    const take = check.what === "answer" && steps !== undefined && button("take the step shown", () => void this.take(input, steps), { title: "The same member of the step that is shown now" });
    const element = check.what === "answer" ? el("span", { class: "answer-row" }, input, take) : el("span", { class: "quiet" }, "(the pixel that you have clicked)");
    return { element, input };
  }

  private async take(input: HTMLInputElement, path: string): Promise<void> {
    const place = this.host.place();
    const record = place === undefined ? undefined : await this.host.record(place);
    const there = record === undefined ? undefined : fact(member(record, `steps.${this.host.step()}.${path}`));
    input.value = there === undefined ? "" : String(there.value);
  }

  private async graded(): Promise<Grade<RayCheck>[]> {
    const asked = this.ray === undefined ? undefined : await this.host.record(this.ray);
    const place = this.host.place();
    const chosen = place === undefined ? undefined : await this.host.record(place);
    return (this.exercise?.checks ?? []).map((check, i) =>
      check.what === "answer" ? gradeAnswer(check, asked, this.fields[i]?.input.value ?? "") : gradeFind(check, chosen),
    );
  }

  edit(): void {
    const place = this.host.place();
    if (place === undefined) {
      this.host.fail(new Error("click the pixel that the exercise is about"));
      return;
    }
    makeExercise<RayCheck>({
      exercise: this.exercise,
      about: `The questions are about the ray of pixel ${place.pixel.join(", ")}, as it is shown now.`,
      offers: [
        ["t of the hit", () => ({ what: "answer", of: "result.t", text: "At which t does the ray hit?" })],
        ["triangle", () => ({ what: "answer", of: "result.primitive", text: "Which primitive does it hit?" })],
        ["node", () => ({ what: "answer", of: `steps.${this.host.step()}.node`, text: `Which node does step ${this.host.step()} test?` })],
        ["steps", () => ({ what: "answer", of: "steps.length", text: "How many steps does the ray take?" })],
        ["find a pixel", () => ({ what: "find", of: "steps.length", least: 10, text: "Find a pixel whose ray takes at least 10 steps." })],
      ],
      read: (value) => readExercise(value, readCheck),
      done: (exercise) => {
        this.ray = exercise === undefined ? undefined : place;
        this.show(exercise);
        this.host.changed();
      },
    });
  }
}

function gradeAnswer(check: RayCheck & { what: "answer" }, record: RayRecord | undefined, given: string): Grade<RayCheck> {
  const there = record === undefined ? undefined : fact(member(record, check.of));
  if (there === undefined) {
    return { check, passed: false, found: `the record of the ray has no ${check.of}` };
  }
  return { check, passed: isSame(there, given, check.digits), found: given.trim() === "" ? "no answer" : "" };
}

function gradeFind(check: RayCheck & { what: "find" }, record: RayRecord | undefined): Grade<RayCheck> {
  const there = record === undefined ? undefined : fact(member(record, check.of));
  if (there === undefined) {
    return { check, passed: false, found: record === undefined ? "no pixel is chosen" : `its record has no ${check.of}` };
  }
  const passed =
    (check.equals === undefined || isSame(there, check.equals, DIGITS)) &&
    (check.least === undefined || Number(there.value) >= check.least) &&
    (check.most === undefined || Number(there.value) <= check.most);
  return { check, passed, found: passed ? "" : String(there.value) };
}
