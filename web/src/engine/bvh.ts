/* BVH images over the link: the interface Bvh of types.ts. */
import type { PicturePart } from "./calls_bvh.ts";
import { engineError, type Link } from "./link.ts";
import type {
  Aov, Bvh, BvhApi, BvhFigures, BvhPlace, CallOptions, Camera, Finding, Hit, NodeRecord, Picture, PictureOptions, Ray, RayOptions,
  RayRecord, RtRecord, Structures, Tree, Triangles,
} from "./types.ts";

const ANY_HIT = 4; /* FACET_GFX12_API_TERMINATE_ON_FIRST_HIT */
const AOVS: Record<Aov, number> = { picture: 0, normal: 1, depth: 2, ids: 3, nodes: 4, triangles: 5 };
const NUMBERS: Aov[] = ["depth", "nodes", "triangles"];
const NONE = 0xffffffff;

function cameraNumbers(camera: Camera | undefined): Float64Array | null {
  return camera === undefined ? null : new Float64Array([...camera.eye, ...camera.lookAt, ...camera.up, camera.fov]);
}

function rayNumbers(ray: Ray): Float32Array {
  return new Float32Array([...ray.origin, ...ray.direction, ray.tMin ?? 0, ray.tMax ?? Infinity]);
}

function flagsOf(options: RayOptions): number {
  return (options.flags ?? 0) | (options.anyHit === true ? ANY_HIT : 0);
}

function three(from: ArrayLike<number>, at: number): [number, number, number] {
  return [from[at]!, from[at + 1]!, from[at + 2]!];
}

/* The columns of page_bvh_tree, in the order of lay_out in wasm/page_tree.c. */
export function readTree(bytes: Uint8Array): Tree {
  const buffer = bytes.buffer as ArrayBuffer;
  const [count, levelCount, instanceCount, slots] = new Uint32Array(buffer, 0, 4) as unknown as [number, number, number, number];
  let at = 16;
  const take = <T>(make: new (buffer: ArrayBuffer, at: number, length: number) => T, length: number, size: number): T => {
    const here = at;
    at = Math.ceil((at + length * size) / 8) * 8;
    return new make(buffer, here, length);
  };
  const offset = take(Float64Array, count, 8);
  const levelBase = take(Float64Array, levelCount, 8);
  const id = take(Uint32Array, count, 4);
  const parent = take(Int32Array, count, 4);
  const level = take(Uint32Array, count, 4);
  const triangles = take(Uint32Array, count, 4);
  const depth = take(Uint32Array, count, 4);
  const box = take(Float32Array, 6 * count, 4);
  const area = take(Float32Array, count, 4);
  const overlap = take(Float32Array, count, 4);
  const cost = take(Float32Array, count, 4);
  const levelRoot = take(Uint32Array, levelCount, 4);
  const instanceNodes = take(Uint32Array, instanceCount, 4);
  const goes = take(Int32Array, instanceCount, 4);
  const objectToWorld = take(Float32Array, 12 * instanceCount, 4);
  const kind = take(Uint8Array, count, 1);
  const slot = take(Uint8Array, count, 1);
  const children = take(Uint8Array, count, 1);
  const levels: Tree["levels"] = Array.from(levelRoot, (root, i) => ({ base: `0x${BigInt(levelBase[i]!).toString(16)}`, root, instances: [] }));
  instanceNodes.forEach((node, i) => levels[goes[i]!]?.instances.push(node));
  return {
    count, slots, id, offset, kind, parent, slot, depth, level, children, box, triangles, area, overlap, cost, levels, instanceNodes,
    instanceLevels: goes, objectToWorld,
  };
}

export function readTriangles(bytes: Uint8Array): Triangles {
  const words = new Uint32Array(bytes.buffer, 0, bytes.length / 4);
  const floats = new Float32Array(bytes.buffer, 0, bytes.length / 4);
  const count = words.length / 12;
  const out: Triangles = {
    count, positions: new Float32Array(9 * count), node: new Uint32Array(count), geometry: new Uint32Array(count), primitive: new Uint32Array(count),
  };
  for (let i = 0; i < count; i++) {
    out.positions.set(floats.subarray(12 * i, 12 * i + 9), 9 * i);
    out.node[i] = words[12 * i + 9]!;
    out.geometry[i] = words[12 * i + 10]!;
    out.primitive[i] = words[12 * i + 11]!;
  }
  return out;
}

function readHits(bytes: Uint8Array): Hit[] {
  const words = new Uint32Array(bytes.buffer, 0, bytes.length / 4);
  const floats = new Float32Array(bytes.buffer, 0, bytes.length / 4);
  return Array.from({ length: words.length / 8 }, (_, i) => ({
    t: floats[8 * i]!, u: floats[8 * i + 1]!, v: floats[8 * i + 2]!, hit: (words[8 * i + 3]! & 1) !== 0, back: (words[8 * i + 3]! & 2) !== 0,
    primitive: words[8 * i + 4]!, geometry: words[8 * i + 5]!, instance: words[8 * i + 6]!, node: words[8 * i + 7]!,
  }));
}

interface Opened extends Partial<Structures> {
  handle: number;
  format: "gfx12" | "xphmg";
  size: number;
}

function structuresOf({ driver, reason, translated, structure, left_out, structures }: Opened): Structures | undefined {
  return structures === undefined ? undefined
    : { driver: driver!, reason: reason!, translated: translated!, structure: structure!, left_out: left_out!, structures };
}

class Image implements Bvh {
  readonly format: "gfx12" | "xphmg";
  readonly size: number;
  readonly structures: Structures | undefined;
  private generation: number;
  private handle: Promise<number>;
  private closed = false;

  /* `bytes` are kept: a worker that is made anew opens them again. */
  constructor(private readonly link: Link, private readonly bytes: Uint8Array, private readonly place: BvhPlace, opened: Opened) {
    this.format = opened.format;
    this.size = opened.size;
    this.structures = structuresOf(opened);
    this.generation = link.generation;
    this.handle = Promise.resolve(opened.handle);
  }

  static async open(link: Link, bytes: Uint8Array, place: BvhPlace, options?: CallOptions): Promise<Image> {
    return new Image(link, bytes, place, await Image.load(link, bytes, place, options));
  }

  private static load(link: Link, bytes: Uint8Array, place: BvhPlace, options?: CallOptions): Promise<Opened> {
    const segments = place.segments === undefined ? null
      : new BigUint64Array(place.segments.flatMap(({ address, offset, size }) => [address, BigInt(offset), BigInt(size)]));
    return link.json<Opened>("page_bvh_open", [bytes, place.base ?? 0n, place.root ?? 0, segments, place.driver ?? "", place.structure ?? -1], options);
  }

  private async own(): Promise<number> {
    if (this.closed) {
      throw engineError("usage error", "the image was closed");
    }
    if (this.generation !== this.link.generation) {
      this.generation = this.link.generation;
      this.handle = Image.load(this.link, this.bytes, this.place).then(({ handle }) => handle);
    }
    return this.handle;
  }

  async image(): Promise<Uint8Array> {
    return this.bytes;
  }

  async figures(options?: CallOptions): Promise<BvhFigures> {
    return this.link.json("page_bvh_figures", [await this.own()], options);
  }

  async check(options?: CallOptions): Promise<{ errors: number; count: number; findings: Finding[] }> {
    return this.link.json("page_bvh_check", [await this.own()], options);
  }

  async tree(options?: CallOptions): Promise<Tree> {
    return readTree(await this.link.raw("page_bvh_tree", [await this.own()], options));
  }

  async node(index: number): Promise<NodeRecord> {
    return this.link.json("page_bvh_node", [await this.own(), index]);
  }

  async triangles(first = 0, count = NONE, options?: CallOptions): Promise<Triangles> {
    return readTriangles(await this.link.raw("page_bvh_triangles", [await this.own(), first, count], options));
  }

  async dump(options?: CallOptions): Promise<string> {
    return new TextDecoder().decode(await this.link.raw("page_bvh_dump", [await this.own()], options));
  }

  async camera(): Promise<Camera> {
    const numbers = new Float64Array((await this.link.raw("page_bvh_camera", [await this.own()])).buffer as ArrayBuffer);
    return { eye: three(numbers, 0), lookAt: three(numbers, 3), up: three(numbers, 6), fov: numbers[9]! };
  }

  async bounds(): Promise<{ lo: [number, number, number]; hi: [number, number, number] }> {
    const numbers = new Float64Array((await this.link.raw("page_bvh_camera", [await this.own()])).buffer as ArrayBuffer);
    return { lo: three(numbers, 10), hi: three(numbers, 13) };
  }

  async picture(options: PictureOptions): Promise<Picture> {
    const { width, height, aov = "picture", signal, progress, rows } = options;
    const request = {
      bvh: await this.own(), width, height, camera: cameraNumbers(options.camera), aov: AOVS[aov], flags: options.flags ?? 0,
      mask: options.mask ?? 0xff, procedural: options.procedural ?? false, heatMax: options.heatMax ?? 0, values: NUMBERS.includes(aov),
    };
    const whole = (part: PicturePart): Picture => {
      const rgba = new Uint8ClampedArray(4 * width * height);
      rgba.set(part.rgba);
      return { width, height, rgba, values: new Float32Array(), rays: 0, hits: 0, nodes: 0, heatMax: part.heatMax };
    };
    const done = await this.link.call<PicturePart & Pick<Picture, "values" | "rays" | "hits" | "nodes">>("bvh.picture", [request], {
      ...(signal === undefined ? {} : { signal }), ...(progress === undefined ? {} : { progress }),
      part: (part) => rows?.(whole(part as PicturePart), 0, (part as PicturePart).done),
    });
    const picture: Picture = {
      width, height, rgba: done.rgba, values: done.values, rays: done.rays, hits: done.hits, nodes: done.nodes, heatMax: done.heatMax,
    };
    rows?.(picture, 0, height);
    return picture;
  }

  async pixelRay(x: number, y: number, width: number, height: number, camera?: Camera): Promise<Ray> {
    const bytes = await this.link.raw("page_bvh_pixel_ray", [await this.own(), x, y, width, height, cameraNumbers(camera)]);
    const floats = new Float32Array(bytes.buffer as ArrayBuffer);
    return { origin: three(floats, 0), direction: three(floats, 3), tMin: floats[6]!, tMax: floats[7]! };
  }

  async trace(rays: Float32Array, options: RayOptions & CallOptions = {}): Promise<Hit[]> {
    return readHits(await this.link.raw("page_bvh_trace", [await this.own(), rays, flagsOf(options), options.mask ?? 0xff], options));
  }

  async explain(ray: Ray, options: RayOptions & CallOptions = {}): Promise<RayRecord> {
    return this.link.call("bvh.explain", [await this.own(), rayNumbers(ray), flagsOf(options), options.mask ?? 0xff], options);
  }

  async explainRt(ray: Ray, options: { anyHit?: boolean; cullBack?: boolean } & CallOptions = {}): Promise<RtRecord> {
    return this.link.json("page_rt_explain", [await this.own(), rayNumbers(ray), Number(options.anyHit ?? false), Number(options.cullBack ?? false)],
      options);
  }

  async close(): Promise<void> {
    if (this.closed) {
      return;
    }
    const handle = await this.own();
    this.closed = true;
    await this.link.raw("page_bvh_close", [handle]);
  }
}

export function bvhApi(link: Link): BvhApi {
  return {
    open: (image, place = {}, options = {}) => Image.open(link, image, place, options),
    build: async (positions, format = "gfx12", quality = "contract") =>
      Image.open(link, await link.raw("page_bvh_build", [positions, format === "xphmg" ? 1 : 0, ["contract", "fast", "high"].indexOf(quality)]), {}),
  };
}
