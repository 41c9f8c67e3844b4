/* BVH images: what takes more than one call of C. */
import type { Calls } from "./calls.ts";
import type { Argument, Wasm } from "./wasm.ts";

const SLICE_MS = 60; /* between two looks at what the page wants */

export interface PictureRequest {
  bvh: number;
  width: number;
  height: number;
  camera: Float64Array | null;
  aov: number;
  flags: number;
  mask: number;
  procedural: boolean;
  heatMax: number;
  values: boolean;
}

export interface PicturePart {
  rgba: Uint8ClampedArray<ArrayBuffer>; /* of the rows from the top to `done` */
  done: number;
  heatMax: number;
}

interface Rows {
  done: number;
  rays: number;
  hits: number;
  nodes: number;
}

function show(wasm: Wasm, picture: number, heatMax: number, done: number): PicturePart {
  const bytes = wasm.bytes("page_picture_show", picture, heatMax);
  return { heatMax: new Float32Array(bytes.buffer, 0, 1)[0]!, rgba: new Uint8ClampedArray(bytes.buffer, 4), done };
}

export const bvhCalls: Calls = {
  /* The record, and which rules its values follow: the C code knows the latter of the last record. */
  "bvh.explain": (wasm, args: Argument[]) => ({ ...wasm.json<object>("page_bvh_explain", ...args), rules: wasm.json("page_bvh_rules") }),

  "bvh.picture": async (wasm, [r]: [PictureRequest], context) => {
    const { handle } = wasm.json<{ handle: number }>("page_picture_open", r.bvh, r.width, r.height, r.camera, r.aov, r.flags, r.mask,
      r.procedural ? 1 : 0);
    try {
      let rows: Rows = { done: 0, rays: 0, hits: 0, nodes: 0 };
      let count = Math.max(1, Math.floor(4096 / r.width));
      let shown = performance.now(), every = 150;
      while (rows.done < r.height) {
        const start = performance.now();
        rows = wasm.json<Rows>("page_picture_rows", handle, count);
        const took = performance.now() - start;
        count = Math.max(1, Math.min(r.height, Math.round(count * Math.min(4, SLICE_MS / Math.max(took, 1)))));
        context.progress(rows.done, r.height);
        if (performance.now() - shown > every && rows.done < r.height) {
          const before = performance.now();
          context.part(show(wasm, handle, r.heatMax, rows.done));
          shown = performance.now();
          every = Math.max(150, 8 * (shown - before)); /* showing takes an eighth of the time at most */
        }
        await context.pause();
      }
      const values = r.values ? new Float32Array(wasm.bytes("page_picture_values", handle).buffer) : new Float32Array();
      return { ...show(wasm, handle, r.heatMax, rows.done), values, rays: rows.rays, hits: rows.hits, nodes: rows.nodes };
    } finally {
      if (!wasm.broken) {
        wasm.bytes("page_picture_close", handle);
      }
    }
  },
};
