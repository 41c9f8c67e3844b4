/* What the page reads out of the record of a ray (`facet bvh why --json`): which child is missed and why, the stack as it
 * was, where a step happens. Pure functions; every number in the record is the C library's. */

import type { RayRecord, RayStep, Value, Vector } from "../engine/types.ts";

/** A child of a box node, or the box of an instance node, as a step has it. */
export interface ChildTest {
  readonly id: string;
  readonly type: number;
  readonly cull: string;
  readonly hit: boolean;
  readonly duplicate?: boolean;
  readonly lo: Vector;
  readonly hi: Vector;
  readonly near?: Vector;
  readonly far?: Vector;
  readonly A?: Value;
  readonly B?: Value;
  readonly min_t?: Value;
  readonly max_t?: Value;
  readonly max_t_grown?: Value;
  readonly slot?: string;
  readonly place?: number;
}

/** A triangle of a primitive node, as a step has it. */
export interface TriangleTest {
  readonly primitive: number;
  readonly geometry: number;
  readonly absent: boolean;
  readonly procedural: boolean;
  readonly vertices?: [Vector, Vector, Vector];
  readonly t?: Value;
  readonly u?: Value;
  readonly v?: Value;
  readonly hit?: boolean;
  readonly miss?: string | null;
  readonly front?: boolean;
  readonly cull?: string;
}

const AXES = ["x", "y", "z"] as const;

/** JSON has no NaN and no infinity; JavaScript has. */
export function number(value: Value | undefined): number {
  const x = value?.value ?? "nan";
  return typeof x === "number" ? x : x === "inf" ? Infinity : x === "-inf" ? -Infinity : NaN;
}

/** Nine digits tell every float apart; what is read needs fewer. */
export function short(value: Value | undefined): string {
  const x = number(value);
  if (Number.isNaN(x)) {
    return value === undefined ? "–" : "nan";
  }
  return Number.isFinite(x) ? String(Number(x.toPrecision(6))) : x > 0 ? "inf" : "-inf";
}

export function exact(value: Value | undefined): string {
  const x = number(value);
  return Number.isFinite(x) ? String(Number(x.toPrecision(9))) : short(value);
}

export function children(step: RayStep): readonly ChildTest[] {
  return (step.children ?? []) as unknown as ChildTest[];
}

export function triangles(step: RayStep): readonly TriangleTest[] {
  return (step["triangles"] ?? []) as TriangleTest[];
}

export type Outcome = "hit" | "missed" | "culled" | "empty";

export function outcome(child: ChildTest): Outcome {
  if (child.cull === "empty" || child.cull === "invalid") {
    return "empty";
  }
  return child.hit ? "hit" : child.cull !== "visible" ? "culled" : "missed";
}

/** Which plane decides, in words: the axis and by how much. */
export function reason(child: ChildTest): string {
  if (child.cull !== "visible") {
    return child.cull;
  }
  const near = child.near?.map(number) ?? [];
  const far = child.far?.map(number) ?? [];
  const enter = number(child.min_t);
  const leave = number(child.max_t_grown);
  const inAxis = AXES[near.indexOf(number(child.A))];
  const outAxis = AXES[far.indexOf(number(child.B))];
  const from = enter === number(child.A) && inAxis !== undefined ? `enters by ${inAxis}` : "starts";
  const to = number(child.max_t) === number(child.B) && outAxis !== undefined ? `leaves by ${outAxis}` : "ends";
  if (child.hit) {
    return `${from} at ${short(child.min_t)}, ${to} at ${short(child.max_t_grown)}`;
  }
  if (Number.isNaN(enter) || Number.isNaN(leave)) {
    return `${from} at ${short(child.min_t)}, ${to} at ${short(child.max_t_grown)}: not ordered`;
  }
  const by = Number((enter - leave).toPrecision(4));
  return to === "ends"
    ? `${from} at ${short(child.min_t)}, ${by} behind the end of the ray at ${short(child.max_t_grown)}`
    : `${from} at ${short(child.min_t)}, ${by} after it ${to} at ${short(child.max_t_grown)}`;
}

/** One line about a step. */
export function headline(step: RayStep): string {
  if (step.kind === "skipped") {
    return "begins behind the hit so far";
  }
  if (step.kind === "primitive") {
    const all = triangles(step);
    const hits = all.filter((one) => one.hit === true).length;
    return `${all.length} ${all.length === 1 ? "triangle" : "triangles"}, ${hits} hit`;
  }
  const all = children(step);
  const hits = all.filter((one) => one.hit).length;
  if (step.kind === "instance") {
    return hits > 0 ? "its box is hit: enters" : "its box is missed";
  }
  return `${hits} of ${all.length} children hit`;
}

/** The stack before each step: what waits, the top last. Pushes and pops are in the record; its `depth` must agree. */
export function stacks(record: RayRecord): string[][] {
  const stack: string[] = [];
  const seen: string[][] = [];
  for (const step of record.steps) {
    if (step.popped) {
      const returns = Number(step["returns"] ?? 0);
      for (let left = returns + 1; left > 0; left--) {
        stack.pop();
      }
    }
    seen.push([...stack]);
    stack.push(...((step["pushes"] ?? []) as string[]));
  }
  return seen;
}

/** The step of the instance that a step is below of; undefined in the world. */
function instanceOf(record: RayRecord, index: number): RayStep | undefined {
  const base = record.steps[index]?.["base"];
  if (base === record.steps[0]?.["base"]) {
    return undefined;
  }
  for (let i = index - 1; i >= 0; i--) {
    const step = record.steps[i];
    if (step?.kind === "instance" && step["merged_base"] === base) {
      return step;
    }
  }
  return undefined;
}

/** Where a step is, as rows of four numbers from the object to the world: an instance node shows what is below it, so its children are
 * there too. Only for drawing; no number of it is shown. */
export function toWorldOf(record: RayRecord, index: number, below = false): number[] | undefined {
  const instance = below && record.steps[index]?.kind === "instance" ? record.steps[index] : instanceOf(record, index);
  const rows = objectToWorld(instance);
  const outer = instance === undefined ? undefined : toWorldOf(record, record.steps.indexOf(instance));
  return rows === undefined || outer === undefined ? rows : product(outer, rows);
}

function product(a: readonly number[], b: readonly number[]): number[] {
  return Array.from({ length: 12 }, (_, i) => {
    const [row, column] = [i - (i % 4), i % 4];
    return [0, 1, 2].reduce((sum, k) => sum + (a[row + k] ?? 0) * (b[4 * k + column] ?? 0), column === 3 ? (a[row + 3] ?? 0) : 0);
  });
}

function objectToWorld(instance: RayStep | undefined): number[] | undefined {
  const m = (instance?.["world_to_object"] as Value[] | undefined)?.map(number);
  if (m === undefined || m.length !== 12) {
    return undefined;
  }
  const [a = 0, b = 0, c = 0, x = 0, d = 0, e = 0, f = 0, y = 0, g = 0, h = 0, i = 0, z = 0] = m;
  const det = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  const r = [e * i - f * h, c * h - b * i, b * f - c * e, f * g - d * i, a * i - c * g, c * d - a * f, d * h - e * g, b * g - a * h, a * e - b * d].map(
    (one) => one / det,
  );
  const row = (k: number) => -((r[k] ?? 0) * x + (r[k + 1] ?? 0) * y + (r[k + 2] ?? 0) * z);
  return [...r.slice(0, 3), row(0), ...r.slice(3, 6), row(3), ...r.slice(6, 9), row(6)];
}

/** The eight corners of a box, in the world. */
export function corners(lo: readonly number[], hi: readonly number[], toWorld: readonly number[] | undefined): number[][] {
  const all: number[][] = [];
  for (let k = 0; k < 8; k++) {
    const p = [0, 1, 2].map((axis) => ((k >> axis) & 1 ? hi[axis] : lo[axis]) ?? 0);
    all.push(
      toWorld === undefined
        ? p
        : [0, 4, 8].map((r) => (toWorld[r] ?? 0) * (p[0] ?? 0) + (toWorld[r + 1] ?? 0) * (p[1] ?? 0) + (toWorld[r + 2] ?? 0) * (p[2] ?? 0) + (toWorld[r + 3] ?? 0)),
    );
  }
  return all;
}

/** The edges between them. */
export const EDGES: readonly (readonly [number, number])[] = [
  [0, 1], [2, 3], [4, 5], [6, 7], [0, 2], [1, 3], [4, 6], [5, 7], [0, 4], [1, 5], [2, 6], [3, 7],
];
