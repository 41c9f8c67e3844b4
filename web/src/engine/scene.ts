/* Scenes over the link: the interface Scene of types.ts. */
import type { RenderCounts, RenderPart } from "./calls_scene.ts";
import { engineError, type Link } from "./link.ts";
import type { CallOptions, Camera, LeftOut, Look, Machine, Ray, Rendered, RenderOptions, Scene, SceneApi, SceneFacts, SceneFiles } from "./types.ts";

/* In the order of struct look in wasm/page_render.c. */
function numbersOf(look: Look): Float64Array {
  return new Float64Array([
    look.width, look.height, look.spp, look.seed ?? 0, look.bounces, look.aoRays, look.aoDistance ?? 0, look.exposure, look.camera,
    { picture: 0, nodes: 1, triangles: 2 }[look.view ?? "picture"], Number(look.shadows), Number(look.clamp),
  ]);
}

function placeOf(look: Look): Float64Array | null {
  const { place } = look;
  return place === undefined ? null : new Float64Array([...place.eye, ...place.lookAt, ...place.up, place.fov]);
}

interface Opened {
  handle: number;
  triangles: number;
  instances: number;
  cameras: string[];
}

class Opening implements Scene {
  readonly facts: SceneFacts;
  private generation: number;
  private handle: Promise<number>;
  private closed = false;

  /* The files are kept: a worker that is made anew reads them again. */
  constructor(private readonly link: Link, private readonly files: SceneFiles, opened: Opened) {
    this.facts = { triangles: opened.triangles, instances: opened.instances, cameras: opened.cameras };
    this.generation = link.generation;
    this.handle = Promise.resolve(opened.handle);
  }

  private async own(): Promise<number> {
    if (this.closed) {
      throw engineError("usage error", "the scene was closed");
    }
    if (this.generation !== this.link.generation) {
      this.generation = this.link.generation;
      this.handle = this.link.call<Opened>("scene.open", [this.files]).then(({ handle }) => handle);
    }
    return this.handle;
  }

  async camera(number: number): Promise<Camera> {
    const n = new Float64Array((await this.link.raw("page_scene_camera", [await this.own(), number])).buffer as ArrayBuffer);
    return { eye: [n[0]!, n[1]!, n[2]!], lookAt: [n[3]!, n[4]!, n[5]!], up: [n[6]!, n[7]!, n[8]!], fov: n[9]! };
  }

  async leftOut(machine?: Machine): Promise<LeftOut[]> {
    return (await this.link.json<{ left_out: LeftOut[] }>("page_render_left_out", [await this.own(), machine?.name ?? ""])).left_out;
  }

  async render(machine: Machine, look: Look, options: RenderOptions = {}): Promise<Rendered> {
    const { width, height } = look;
    const request = {
      scene: await this.own(), machine: machine.name, look: numbersOf(look), place: placeOf(look), whole: machine.whole,
      light: options.light ?? false,
    };
    const { part, ...call } = options;
    const done = await this.link.call<RenderPart & { counts: RenderCounts; light: Float32Array }>("scene.render", [request], {
      ...call, part: (some) => part?.((some as RenderPart).rgba),
    });
    return { width, height, rgba: done.rgba, light: done.light, heatMax: done.heatMax, ...done.counts };
  }

  async pixelRay(look: Look, x: number, y: number): Promise<Ray> {
    const bytes = await this.link.raw("page_render_pixel_ray", [await this.own(), numbersOf(look), placeOf(look), x, y]);
    const n = new Float32Array(bytes.buffer as ArrayBuffer);
    return { origin: [n[0]!, n[1]!, n[2]!], direction: [n[3]!, n[4]!, n[5]!], tMin: n[6]!, tMax: n[7]! };
  }

  async why(machine: Machine, look: Look, x: number, y: number, json = false, options?: CallOptions): Promise<string> {
    const args = [await this.own(), machine.name, numbersOf(look), placeOf(look), x, y, Number(json)];
    return new TextDecoder().decode(await this.link.raw("page_render_why", args, options));
  }

  async close(): Promise<void> {
    if (!this.closed) {
      const handle = this.generation === this.link.generation ? await this.handle : undefined;
      this.closed = true;
      if (handle !== undefined) {
        await this.link.raw("page_scene_close", [handle]);
      }
    }
  }
}

export function sceneApi(link: Link): SceneApi {
  return {
    machines: async () => (await link.json<{ machines: Machine[] }>("page_render_machines")).machines,
    build: (files, options) => link.call("scene.build", [files], options),
    open: async (files, options) => new Opening(link, files, await link.call<Opened>("scene.open", [files], options)),
  };
}
