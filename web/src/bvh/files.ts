/* Which files the view takes, and what it begins with when nobody brought one. */

import type { InputFile } from "../shell/view.ts";

function ends(file: InputFile, ...endings: string[]): boolean {
  const name = file.name.toLowerCase();
  return endings.some((ending) => name.endsWith(ending));
}

export function startsWith(bytes: Uint8Array, text: string): boolean {
  return [...text].every((letter, i) => bytes[i] === letter.charCodeAt(0));
}

const SCENES = [".glb", ".gltf", ".obj", ".ply", ".stl"];

/** An exercise about a ray, with its image. */
export function isExercise(file: InputFile): boolean {
  return ends(file, ".json") && /"facet-ray"\s*:/.test(new TextDecoder().decode(file.bytes.subarray(0, 4096)));
}

/** A GFX12 image has no header: any bytes might be one, and its name decides. */
export function accepts(file: InputFile): number {
  if (isExercise(file)) {
    return 1;
  }
  if (file.made !== undefined) {
    return file.made.kind === "file" ? 0 : 1;
  }
  if (ends(file, ".gfx12", ".tiles", ".bvh", ".rra", ...SCENES)) {
    return 0.9;
  }
  return startsWith(file.bytes, "AMD_RDF ") || startsWith(file.bytes, "XPHMGBVH") ? 0.9 : ends(file, ".bin", ".img") ? 0.3 : 0;
}

/** Bytes out of memory: no file of a format. */
export function isBuffer(file: InputFile): boolean {
  return ends(file, ".bin", ".img") && !startsWith(file.bytes, "AMD_RDF ") && !startsWith(file.bytes, "XPHMGBVH");
}

/** A scene by its name or, for the one format that says so, its first bytes. */
export function isScene(file: InputFile): boolean {
  return file.made !== undefined ? file.made.kind === "scene" : ends(file, ...SCENES) || startsWith(file.bytes, "glTF");
}

/** Throws where the page has no reader for it. */
export function refuse(file: InputFile): void {
  if (file.bytes.length === 0) {
    throw new Error(`${file.name} is empty; expected a BVH image, a capture or a scene`);
  }
}

export const EXAMPLES = ["knot", "boxes", "hills"] as const;
export type Example = (typeof EXAMPLES)[number];

/** Triangles of a scene of our own, nine numbers each; the library makes the image of them. */
export function exampleTriangles(name: Example): Float32Array {
  switch (name) {
    case "knot":
      return surface(220, 22, (u, v) => {
        const a = u * 4 * Math.PI;
        const b = v * 2 * Math.PI;
        const ring = 2 + 0.8 * Math.cos(1.5 * a) + 0.32 * Math.cos(b);
        return [ring * Math.cos(a), 0.8 * Math.sin(1.5 * a) + 0.32 * Math.sin(b), ring * Math.sin(a)];
      });
    case "hills":
      return surface(90, 90, (u, v) => {
        const x = 8 * u - 4;
        const z = 8 * v - 4;
        return [x, 0.5 * Math.sin(2 * x) * Math.cos(1.7 * z) + 0.15 * Math.sin(7 * x + 3 * z), z];
      });
    case "boxes":
      return boxes();
  }
}

function surface(across: number, along: number, at: (u: number, v: number) => number[]): Float32Array {
  const out: number[] = [];
  for (let i = 0; i < across; i++) {
    for (let k = 0; k < along; k++) {
      const [a, b, c, d] = [at(i / across, k / along), at((i + 1) / across, k / along), at((i + 1) / across, (k + 1) / along), at(i / across, (k + 1) / along)];
      out.push(...(a ?? []), ...(c ?? []), ...(b ?? []), ...(a ?? []), ...(d ?? []), ...(c ?? []));
    }
  }
  return Float32Array.from(out);
}

function boxes(): Float32Array {
  const out: number[] = [];
  const faces = [
    [0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3],
  ];
  for (let n = 0; n < 64; n++) {
    const at = [(n & 3) * 1.6, ((n >> 2) & 3) * 1.6, (n >> 4) * 1.6];
    const size = 0.4 + 0.1 * (n % 7);
    const corner = (k: number) => at.map((x, axis) => x + ((k >> axis) & 1 ? size : 0));
    for (const [a = 0, b = 0, c = 0, d = 0] of faces) {
      out.push(...corner(a), ...corner(c), ...corner(b), ...corner(a), ...corner(d), ...corner(c));
    }
  }
  return Float32Array.from(out);
}
