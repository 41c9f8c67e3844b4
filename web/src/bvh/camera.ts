/* Where a point of the world is in the picture: the camera of `facet bvh render` the other way round. Only for lines that are
 * drawn over the picture; rays come from the C library. */

import type { Camera } from "../engine/types.ts";

type Point = readonly number[];

function minus(a: Point, b: Point): number[] {
  return [0, 1, 2].map((i) => (a[i] ?? 0) - (b[i] ?? 0));
}

function dot(a: Point, b: Point): number {
  return [0, 1, 2].reduce((sum, i) => sum + (a[i] ?? 0) * (b[i] ?? 0), 0);
}

function cross(a: Point, b: Point): number[] {
  const [x = 0, y = 0, z = 0] = a;
  const [u = 0, v = 0, w = 0] = b;
  return [y * w - z * v, z * u - x * w, x * v - y * u];
}

function unit(a: Point): number[] {
  const length = Math.hypot(...a);
  return a.map((x) => x / length);
}

/** Lines in the world to lines in pixels; what lies behind the eye is cut off. */
export class Projection {
  private readonly forward: number[];
  private readonly right: number[];
  private readonly up: number[];
  private readonly scale: number;

  constructor(
    private readonly camera: Camera,
    private readonly width: number,
    private readonly height: number,
  ) {
    this.forward = unit(minus(camera.lookAt, camera.eye));
    this.right = unit(cross(this.forward, camera.up));
    this.up = cross(this.right, this.forward);
    this.scale = height / 2 / Math.tan((camera.fov * Math.PI) / 360);
  }

  line(a: Point, b: Point): [number, number, number, number] | undefined {
    let from = this.toCamera(a);
    let to = this.toCamera(b);
    const near = 1e-4 * Math.max(Math.abs(from[2] ?? 0), Math.abs(to[2] ?? 0), 1e-6);
    if ((from[2] ?? 0) < near && (to[2] ?? 0) < near) {
      return undefined;
    }
    if ((from[2] ?? 0) < near) {
      from = cut(from, to, near);
    } else if ((to[2] ?? 0) < near) {
      to = cut(to, from, near);
    }
    return [...this.toPixel(from), ...this.toPixel(to)];
  }

  private toCamera(p: Point): number[] {
    const d = minus(p, this.camera.eye);
    return [dot(d, this.right), dot(d, this.up), dot(d, this.forward)];
  }

  private toPixel(p: Point): [number, number] {
    const [x = 0, y = 0, z = 1] = p;
    return [this.width / 2 + (x / z) * this.scale, this.height / 2 - (y / z) * this.scale];
  }
}

function cut(behind: Point, before: Point, near: number): number[] {
  const part = (near - (behind[2] ?? 0)) / ((before[2] ?? 0) - (behind[2] ?? 0));
  return [0, 1, 2].map((i) => (behind[i] ?? 0) + part * ((before[i] ?? 0) - (behind[i] ?? 0)));
}

/** The camera after a turn around what it looks at, in degrees, and a step nearer or farther. */
export function orbit(camera: Camera, right: number, up: number, zoom: number): Camera {
  const offset = minus(camera.eye, camera.lookAt);
  const axis = unit(camera.up);
  const turned = rotate(offset, axis, (right * Math.PI) / 180);
  const side = unit(cross(axis, turned));
  const raised = rotate(turned, side, (-up * Math.PI) / 180);
  /* Not over the pole: there is no up to see from there. */
  const steep = Math.abs(dot(unit(raised), axis)) > 0.995;
  const kept = (steep ? turned : raised).map((x) => x * zoom);
  return { ...camera, eye: [0, 1, 2].map((i) => (camera.lookAt[i] ?? 0) + (kept[i] ?? 0)) as [number, number, number] };
}

function rotate(v: Point, axis: Point, angle: number): number[] {
  const c = Math.cos(angle);
  const s = Math.sin(angle);
  const k = dot(axis, v) * (1 - c);
  const x = cross(axis, v);
  return [0, 1, 2].map((i) => (v[i] ?? 0) * c + (x[i] ?? 0) * s + (axis[i] ?? 0) * k);
}
