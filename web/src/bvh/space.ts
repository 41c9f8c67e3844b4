/* Boxes, triangles and the ray in 3D. WebGL by three.js; where the browser has none, the rest of the view works without it. */

import * as three from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { el } from "../shell/dom.ts";
import type { Bvh, Camera, Tree, Triangles } from "../engine/types.ts";
import { EDGES } from "./record.ts";
import type { BoxLines } from "./picture.ts";

/** More triangles than these, instances counted, are not drawn: a laptop could not turn them. */
const MOST_TRIANGLES = 4_000_000;
/** Nodes whose triangles are asked for at once from the worker. */
const PART = 20_000;

export class SpacePane {
  readonly element = el("div", { class: "space" });
  private readonly note = el("p", { class: "empty" });
  private readonly probe = el("span", { hidden: true });
  private renderer: three.WebGLRenderer | undefined;
  private readonly scene = new three.Scene();
  private readonly camera = new three.PerspectiveCamera(45, 16 / 9, 0.01, 1e6);
  private controls: OrbitControls | undefined;
  private readonly material = new three.MeshLambertMaterial({ color: 0x9aabbf, side: three.DoubleSide });
  private readonly surfaces = new three.Group();
  private readonly boxes = new three.Group();
  private frame = 0;
  private loaded: Bvh | undefined;
  private asked: Camera | undefined;

  constructor() {
    this.element.append(this.note, this.probe);
    const light = new three.DirectionalLight(0xffffff, 2.2);
    light.position.set(0.4, 0.6, 1);
    this.camera.add(light);
    this.scene.add(this.camera, new three.AmbientLight(0xffffff, 0.7), this.surfaces, this.boxes);
    window.addEventListener("facet-theme", () => this.draw());
  }

  /** The camera that the user has turned to. */
  get view(): Camera | undefined {
    if (this.controls === undefined) {
      return undefined;
    }
    const vector = (v: three.Vector3) => [v.x, v.y, v.z] as [number, number, number];
    return { eye: vector(this.camera.position), lookAt: vector(this.controls.target), up: vector(this.camera.up), fov: this.camera.fov };
  }

  /** Brings the triangles of an image; once for each image. */
  async load(bvh: Bvh, tree: Tree, camera: Camera, signal: AbortSignal, progress: (part: number) => void): Promise<void> {
    if (this.loaded === bvh || !this.start()) {
      return;
    }
    this.loaded = bvh;
    this.surfaces.clear();
    this.look(camera);
    try {
      await this.bring(bvh, tree, signal, progress);
    } catch (error) {
      this.loaded = undefined;
      if (!signal.aborted) {
        throw error;
      }
    }
    this.draw();
  }

  /** Leaves out what is seen from behind, as the rays do: one looks into a room. */
  cull(backs: boolean): void {
    this.material.side = backs ? three.FrontSide : three.DoubleSide;
    this.material.needsUpdate = true;
    this.draw();
  }

  look(camera: Camera): void {
    this.asked = camera;
    if (this.controls === undefined) {
      return;
    }
    this.camera.up.set(...camera.up);
    this.camera.position.set(...camera.eye);
    this.camera.fov = camera.fov;
    this.controls.target.set(...camera.lookAt);
    const distance = this.camera.position.distanceTo(this.controls.target) || 1;
    this.camera.near = distance / 1000;
    this.camera.far = distance * 1000;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.draw();
  }

  /** Boxes of the step and of the chosen node, and the ray as far as it goes. */
  show(boxes: readonly BoxLines[], ray: readonly [readonly number[], readonly number[]] | undefined): void {
    for (const child of this.boxes.children) {
      if (child instanceof three.LineSegments) {
        (child.geometry as three.BufferGeometry).dispose();
        (child.material as three.Material).dispose();
      }
    }
    this.boxes.clear();
    for (const box of boxes) {
      const points = EDGES.flatMap(([a, b]) => [...(box.corners[a] ?? []), ...(box.corners[b] ?? [])]);
      this.addLines(points, box.kind, box.kind === "culled" ? 0.55 : 1);
    }
    if (ray !== undefined) {
      this.addLines([...ray[0], ...ray[1]], "accent", 1);
    }
    this.draw();
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (this.renderer !== undefined && width > 0 && height > 0) {
      this.renderer.setSize(width, height, false);
      this.camera.aspect = width / height;
      this.camera.updateProjectionMatrix();
      this.draw();
    }
  }

  private start(): boolean {
    if (this.renderer !== undefined) {
      return true;
    }
    try {
      this.renderer = new three.WebGLRenderer({ antialias: true, alpha: true });
    } catch {
      this.note.textContent = "This browser has no WebGL; the picture and the tree work without it.";
      return false;
    }
    this.note.remove();
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.element.append(this.renderer.domElement);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.addEventListener("change", () => this.draw());
    new ResizeObserver(() => this.resize()).observe(this.element);
    if (this.asked !== undefined) {
      this.look(this.asked);
    }
    this.resize();
    return true;
  }

  private async bring(bvh: Bvh, tree: Tree, signal: AbortSignal, progress: (part: number) => void): Promise<void> {
    const total = tree.triangles[0] ?? 0;
    if (total > MOST_TRIANGLES) {
      this.element.append(el("p", { class: "empty" }, `${total} triangles, instances counted, are more than ${MOST_TRIANGLES}: only boxes are shown.`));
      return;
    }
    const levels = new Map<number, Float32Array[]>();
    for (let first = 0; first < tree.count; first += PART) {
      const part = await bvh.triangles(first, PART, { signal });
      for (const [level, corners] of byLevel(part, tree)) {
        levels.set(level, [...(levels.get(level) ?? []), corners]);
      }
      progress(Math.min((first + PART) / tree.count, 1));
    }
    const matrices = new Map<number, number>();
    tree.instanceNodes.forEach((node, i) => matrices.set(node, i));
    for (const [level, parts] of levels) {
      const geometry = new three.BufferGeometry();
      geometry.setAttribute("position", new three.BufferAttribute(joined(parts), 3));
      geometry.computeVertexNormals(); /* no indices: one normal for each triangle */
      const instances = tree.levels[level]?.instances ?? [];
      const mesh = new three.InstancedMesh(geometry, this.material, Math.max(instances.length, 1));
      instances.forEach((node, i) => mesh.setMatrixAt(i, matrixOf(tree, matrices.get(node) ?? -1)));
      if (instances.length === 0) {
        mesh.setMatrixAt(0, new three.Matrix4());
      }
      mesh.frustumCulled = false;
      this.surfaces.add(mesh);
    }
  }

  private addLines(points: readonly number[], kind: string, opacity: number): void {
    const geometry = new three.BufferGeometry();
    geometry.setAttribute("position", new three.BufferAttribute(Float32Array.from(points), 3));
    const lines = new three.LineSegments(geometry, new three.LineBasicMaterial({ color: this.colour(kind === "chosen" ? "accent" : kind), transparent: true, opacity, depthTest: false }));
    lines.renderOrder = kind === "current" ? 2 : 1;
    lines.frustumCulled = false;
    this.boxes.add(lines);
  }

  /** What a colour of the style sheet is in the scheme of now. */
  private colour(name: string): string {
    this.probe.style.color = `var(--${name})`;
    return getComputedStyle(this.probe).color;
  }

  private draw(): void {
    if (this.frame === 0 && this.renderer !== undefined) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.renderer?.render(this.scene, this.camera);
      });
    }
  }
}

/** The corners of the triangles of each level. */
function byLevel(part: Triangles, tree: Tree): Map<number, Float32Array> {
  const counts = new Map<number, number>();
  const levelOf = (i: number) => tree.level[part.node[i] ?? 0] ?? 0;
  for (let i = 0; i < part.count; i++) {
    counts.set(levelOf(i), (counts.get(levelOf(i)) ?? 0) + 1);
  }
  const out = new Map([...counts].map(([level, count]) => [level, new Float32Array(9 * count)]));
  const used = new Map<number, number>();
  for (let i = 0; i < part.count; i++) {
    const at = used.get(levelOf(i)) ?? 0;
    out.get(levelOf(i))?.set(part.positions.subarray(9 * i, 9 * i + 9), at);
    used.set(levelOf(i), at + 9);
  }
  return out;
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const out = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Object to world of an instance node, three rows of four. */
export function rowsOf(tree: Tree, index: number): number[] | undefined {
  return index < 0 ? undefined : Array.from(tree.objectToWorld.subarray(12 * index, 12 * index + 12));
}

function matrixOf(tree: Tree, index: number): three.Matrix4 {
  const rows = rowsOf(tree, index);
  const m = new three.Matrix4();
  if (rows?.length === 12) {
    const [a = 1, b = 0, c = 0, x = 0, d = 0, e = 1, f = 0, y = 0, g = 0, h = 0, i = 1, z = 0] = rows;
    m.set(a, b, c, x, d, e, f, y, g, h, i, z, 0, 0, 0, 1);
  }
  return m;
}
