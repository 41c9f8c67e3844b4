/* Scenes and their pictures: what takes more than one call of C. */
import type { Calls, Context } from "./calls.ts";
import { decodeAll, withFiles } from "./beside.ts";
import type { SceneFiles } from "./types.ts";
import type { Argument, Wasm } from "./wasm.ts";

const SLICE_MS = 60; /* between two looks at what the page wants */
const SHOW_MS = 150;

export interface RenderRequest {
  scene: number;
  machine: string;
  look: Float64Array;
  place: Float64Array | null;
  whole: boolean; /* the machine cannot cut its picture */
  light: boolean;
}

export interface RenderCounts {
  rays: number;
  hits: number;
  nodes: number;
  instructions: number;
  commands: number;
  triangles: number;
}

export interface RenderPart {
  rgba: Uint8ClampedArray<ArrayBuffer>; /* transparent where nothing is drawn yet */
  heatMax: number;
}

interface Opened {
  handle: number;
}

function show(wasm: Wasm, picture: number): RenderPart {
  const bytes = wasm.bytes("page_render_show", picture);
  return { heatMax: new Float32Array(bytes.buffer, 0, 1)[0]!, rgba: new Uint8ClampedArray(bytes.buffer, 4) };
}

async function draw(wasm: Wasm, picture: number, buckets: number, whole: boolean, context: Context): Promise<RenderCounts> {
  let counts: RenderCounts = { rays: 0, hits: 0, nodes: 0, instructions: 0, commands: 0, triangles: 0 };
  let count = 1, shown = performance.now(), every = SHOW_MS;
  for (let done = 0; done < buckets; ) {
    const start = performance.now();
    const now = whole ? buckets : Math.min(count, buckets - done);
    counts = wasm.json<RenderCounts>("page_render_draw", picture, done, now);
    done += now;
    const took = performance.now() - start;
    count = Math.max(1, Math.round(now * Math.min(4, SLICE_MS / Math.max(took, 1))));
    context.progress(done, buckets);
    if (performance.now() - shown > every && done < buckets) {
      const before = performance.now();
      context.part(show(wasm, picture));
      shown = performance.now();
      every = Math.max(SHOW_MS, 8 * (shown - before)); /* showing takes an eighth of the time at most */
    }
    await context.pause();
  }
  return counts;
}

export const sceneCalls: Calls = {
  /* Twice when there are pictures: the second time they are known. */
  "scene.open": (wasm, [files]: [SceneFiles], context) =>
    withFiles(wasm, files.beside, context, async () => {
      const args: Argument[] = [files.name, files.bytes];
      const first = wasm.json<Opened>("page_scene_open", ...args);
      try {
        if ((await decodeAll(wasm, context)) === 0) {
          return first;
        }
      } catch (error) {
        wasm.bytes("page_scene_close", first.handle);
        throw error;
      }
      wasm.bytes("page_scene_close", first.handle);
      return wasm.json<Opened>("page_scene_open", ...args);
    }),

  "scene.build": (wasm, [files]: [SceneFiles], context) =>
    withFiles(wasm, files.beside, context, async () => wasm.bytes("page_scene_build", files.name, files.bytes)),

  "scene.render": async (wasm, [r]: [RenderRequest], context) => {
    const { handle, buckets } = wasm.json<{ handle: number; buckets: number }>("page_render_open", r.scene, r.machine, r.look, r.place);
    try {
      await context.pause();
      const counts = await draw(wasm, handle, buckets, r.whole, context);
      const light = r.light ? new Float32Array(wasm.bytes("page_render_light", handle).buffer) : new Float32Array();
      return { ...show(wasm, handle), counts, light };
    } finally {
      if (!wasm.broken) {
        wasm.bytes("page_render_close", handle);
      }
    }
  },
};
