/* Exercises in files and links: what every kind has, and how their members are looked at. A link may come from anyone. */

const MOST_TEXT = 4 << 20;
const MOST_CHECKS = 100;

/** A task, and what must be true when it is done. */
export interface Exercise<Check> {
  title: string;
  task: string; /* paragraphs, parted by empty lines */
  checks: Check[];
}

export interface Grade<Check> {
  check: Check;
  passed: boolean;
  found: string; /* what is there instead */
}

export function fail(where: string, expected: string): never {
  throw new Error(`${where}: expected ${expected}`);
}

export function object(value: unknown, where: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    fail(where, "an object");
  }
  return value as Record<string, unknown>;
}

export function only(from: Record<string, unknown>, names: readonly string[], where: string): void {
  for (const name of Object.keys(from)) {
    if (!names.includes(name)) {
      fail(`${where}.${name}`, `one of ${names.join(", ")}`);
    }
  }
}

export function text(from: Record<string, unknown>, name: string, where: string, missing?: string): string {
  const value = from[name] ?? missing;
  if (typeof value !== "string" || value.length > MOST_TEXT) {
    fail(`${where}.${name}`, "a text");
  }
  return value;
}

export function count(from: Record<string, unknown>, name: string, where: string, missing?: number): number {
  const value = from[name] ?? missing;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    fail(`${where}.${name}`, "a whole number from 0 on");
  }
  return value;
}

/** A number as people write it: decimal, 0x..., negative. */
export function readBig(spelling: string, where: string): bigint {
  const match = /^(-?)(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)$/.exec(spelling.trim());
  if (match === null || match[2] === undefined) {
    fail(where, `a number such as 42 or 0x2a, not "${spelling}"`);
  }
  const size = BigInt(match[2]);
  return match[1] === "-" ? -size : size;
}


export function readExercise<Check>(value: unknown, readCheck: (value: unknown, where: string) => Check): Exercise<Check> {
  const from = object(value, "exercise");
  only(from, ["title", "task", "checks"], "exercise");
  const checks = from["checks"];
  if (!Array.isArray(checks) || checks.length === 0 || checks.length > MOST_CHECKS) {
    fail("exercise.checks", `1 to ${MOST_CHECKS} checks`);
  }
  return {
    title: text(from, "title", "exercise"),
    task: text(from, "task", "exercise"),
    checks: checks.map((check: unknown, i) => readCheck(check, `exercise.checks[${i}]`)),
  };
}
