/* Images of XPHMG_RT in the view of GFX12's: their ray's record as steps, and pictures from many traced rays. The picture's colours
 * are the page's own; what the rays hit, and every number of a step, is the C library's. */

import type { Bvh, Camera, Picture, PictureOptions, Ray, RayRecord, RayStep, RtRecord, Value, Vector } from "../engine/index.ts";
import { number } from "./record.ts";

/** What the view asks an image, whatever its format. */
export type Source = Pick<Bvh, "camera" | "picture" | "pixelRay" | "explain">;

/** Rays of one question to the worker: between two of them a click is heard. */
const RAYS_AT_ONCE = 16_384;
const CULL_BACK_FACING = 0x10;

type Event = Record<string, unknown> & { event: string };

/** The record of `facet rt why --json` as steps: one for each entry that is taken from the stack. */
export function stepsOf(record: RtRecord): RayRecord {
  const events = record.events as Event[];
  const ray = record.ray as { o: Vector; d: Vector };
  const steps: RayStep[] = [];
  let step: (RayStep & { children?: Record<string, unknown>[]; triangles?: Record<string, unknown>[]; pushes: string[] }) | undefined;
  for (const event of events) {
    if (event.event === "pop") {
      step = {
        step: steps.length,
        popped: steps.length > 0,
        returns: 0,
        node: nameOf(event),
        kind: event["entered"] !== true ? "skipped" : event["type"] === "leaf" ? "primitive" : "box",
        image_offset: "",
        ray: { origin: ray.o, direction: ray.d, extent: event["tm"] as Value, mask: "" },
        v: [],
        pushes: [],
        depth: event["depth"],
        tn: event["tn"],
        t_before: event["tm"],
        t_after: event["tm"],
      };
      steps.push(step);
    } else if (step !== undefined) {
      switch (event.event) {
        case "tile":
        case "range":
          step.image_offset ||= String(event["offset"]);
          break;
        case "child":
          (step.children ??= []).push(childOf(event));
          break;
        case "push":
          step.pushes.push(nameOf(event));
          break;
        case "triangle":
          (step.triangles ??= []).push({ ...event, primitive: event["triangle"], absent: false, procedural: false, hit: event["outcome"] === "hit", miss: event["reason"] ?? null, cull: "visible" });
          break;
        default:
          break;
      }
    }
  }
  const result = record.result;
  const hit = events.find((event) => event.event === "triangle" && event["triangle"] === result["triangle"] && event["outcome"] === "hit");
  steps.forEach((one, i) => {
    const next = steps[i + 1]?.["t_before"] ?? (result["hit"] === true ? hit?.["t"] : undefined);
    if (next !== undefined && one.kind === "primitive") {
      one["t_after"] = next;
    }
  });
  return {
    steps,
    result: {
      counts: `${steps.filter((one) => one.kind !== "skipped").length} nodes and leaves entered; ${String(result["boxes"])} boxes and ${String(result["triangles"])} triangles tested`,
      found: result["hit"],
      primitive: result["primitive"],
      geometry: 0,
      instance: result["instance"],
      backface: result["front"] === false,
      t: hit?.["t"],
      u: hit?.["u"],
      v: hit?.["v"],
    },
  };
}

function nameOf(event: Event): string {
  return `${String(event["type"])} ${String(event["index"])}`;
}

function childOf(event: Event): Record<string, unknown> {
  const axes = (event["axes"] ?? []) as { tn: Value; tf: Value }[];
  const nothing = [] as Value[];
  return {
    id: nameOf(event),
    cull: event["type"] === "empty" ? "empty" : "visible",
    hit: event["outcome"] === "hit",
    lo: event["min"] ?? nothing,
    hi: event["max"] ?? nothing,
    near: axes.map((axis) => axis.tn),
    far: axes.map((axis) => axis.tf),
    A: event["tn"],
    B: event["tf"],
    min_t: event["cn"],
    max_t: event["cf"],
    max_t_grown: event["cf"],
    rule: event["rule"],
    requirements: event["requirements"],
    reason: event["reason"],
    inverse: axes.map((axis) => (axis as unknown as { inv: Value }).inv),
    flags: event["flags"],
  };
}

export class RtSource implements Source {
  constructor(private readonly bvh: Bvh) {}

  /** From a corner of the boxes of the root, which the record of any ray has. */
  async camera(): Promise<Camera> {
    const record = stepsOf(await this.bvh.explainRt({ origin: [0, 0, 0], direction: [1, 0, 0] }));
    const boxes = (record.steps[0]?.children ?? []) as unknown as { cull: string; lo: Value[]; hi: Value[] }[];
    const lo = [0, 1, 2].map((axis) => Math.min(...boxes.filter((box) => box.cull !== "empty").map((box) => number(box.lo[axis]))));
    const hi = [0, 1, 2].map((axis) => Math.max(...boxes.filter((box) => box.cull !== "empty").map((box) => number(box.hi[axis]))));
    const sized = [...lo, ...hi].every(Number.isFinite);
    const middle = (sized ? lo.map((x, i) => (x + (hi[i] ?? 0)) / 2) : [0, 0, 0]) as [number, number, number];
    const radius = sized ? Math.max(Math.hypot(...lo.map((x, i) => (hi[i] ?? 0) - x)) / 2, 1e-6) : 1;
    const away = (3 * radius) / Math.hypot(1, 0.75, 1.2);
    return { eye: [(middle[0] ?? 0) + away, (middle[1] ?? 0) + 0.75 * away, (middle[2] ?? 0) + 1.2 * away], lookAt: middle, up: [0, 1, 0], fov: 45 };
  }

  async pixelRay(x: number, y: number, width: number, height: number, camera?: Camera): Promise<Ray> {
    const ray = rays(camera ?? (await this.camera()), width, height, y, 1).subarray(8 * x, 8 * x + 8);
    const three = (at: number) => Array.from(ray.subarray(at, at + 3)) as [number, number, number];
    return { origin: three(0), direction: three(3), tMin: ray[6] ?? 0, tMax: ray[7] ?? Infinity };
  }

  async explain(ray: Ray, options: { flags?: number } = {}): Promise<RayRecord> {
    return stepsOf(await this.bvh.explainRt(ray, { cullBack: ((options.flags ?? 0) & CULL_BACK_FACING) !== 0 }));
  }

  /** Depth, or a colour for each triangle; anything else is depth too. */
  async picture(options: PictureOptions): Promise<Picture> {
    const { width, height, signal, rows } = options;
    const camera = options.camera ?? (await this.camera());
    const picture: Picture = { width, height, rgba: new Uint8ClampedArray(4 * width * height), values: new Float32Array(width * height).fill(Infinity), rays: width * height, hits: 0, nodes: 0, heatMax: 0 };
    const step = Math.max(1, Math.floor(RAYS_AT_ONCE / width));
    const distance = Math.hypot(...camera.eye.map((x, i) => x - (camera.lookAt[i] ?? 0)));
    for (let first = 0; first < height; first += step) {
      signal?.throwIfAborted();
      const count = Math.min(step, height - first);
      const hits = await this.bvh.trace(rays(camera, width, height, first, count), { flags: options.flags ?? 0 });
      hits.forEach((hit, i) => {
        const at = first * width + i;
        picture.hits += hit.hit ? 1 : 0;
        picture.values[at] = hit.hit ? hit.t : Infinity;
        picture.rgba.set(hit.hit ? (options.aov === "ids" ? identity(hit.primitive) : grey(hit.t / distance)) : [26, 26, 32, 255], 4 * at);
      });
      rows?.(picture, first, count);
    }
    return picture;
  }
}

/** Rays through the middles of pixels, eight floats each. Directions are as long as the picture's distance: t is 1 there. */
function rays(camera: Camera, width: number, height: number, first: number, count: number): Float32Array {
  const out = new Float32Array(8 * width * count);
  const forward = unit(camera.lookAt.map((x, i) => x - camera.eye[i]!));
  const right = unit(cross(forward, camera.up));
  const up = cross(right, forward);
  const half = Math.tan((camera.fov * Math.PI) / 360);
  for (let row = 0; row < count; row++) {
    const v = (1 - (2 * (first + row + 0.5)) / height) * half;
    for (let x = 0; x < width; x++) {
      const u = (((2 * (x + 0.5)) / width - 1) * half * width) / height;
      const at = 8 * (row * width + x);
      for (let i = 0; i < 3; i++) {
        out[at + i] = camera.eye[i]!;
        out[at + 3 + i] = forward[i]! + u * right[i]! + v * up[i]!;
      }
      out[at + 7] = Infinity;
    }
  }
  return out;
}

function unit(a: readonly number[]): number[] {
  const length = Math.hypot(...a);
  return a.map((x) => x / length);
}

function cross(a: readonly number[], b: readonly number[]): number[] {
  return [0, 1, 2].map((i) => a[(i + 1) % 3]! * b[(i + 2) % 3]! - a[(i + 2) % 3]! * b[(i + 1) % 3]!);
}

function grey(depth: number): number[] {
  const level = Math.round(255 * Math.min(Math.max(1.4 - 0.8 * depth, 0.15), 1));
  return [level, level, level, 255];
}

function identity(primitive: number): number[] {
  const mixed = Math.imul(primitive + 1, 0x9e3779b1) >>> 0;
  return [80 + (mixed & 127), 80 + ((mixed >>> 8) & 127), 80 + ((mixed >>> 16) & 127), 255];
}
