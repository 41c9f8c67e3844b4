/* What the engine offers: Facet's C library as WebAssembly in a worker, behind promises.
 *
 * Every value comes from the C code; TypeScript only carries it. Where the program `facet` has the
 * same answer as JSON, the engine gives that JSON, parsed: `facet bvh why --json` and `RayRecord` are
 * the same thing. 64-bit quantities are "0x..." strings in such records and bigint elsewhere.
 *
 * Every call may be cancelled by `signal` and may tell how far it is by `progress`. What can be cut
 * into pieces (pictures, runs) ends after the piece at hand; anything else ends by making the worker
 * anew, after which machines are gone (their calls fail with status "lost") and images open again by
 * themselves. */

/* ---- calls ---- */

export interface CallOptions {
  signal?: AbortSignal;
  progress?: (done: number, total: number) => void;
}

export type Status =
  | "usage error" | "bad input" | "input/output error" | "out of memory" | "limit exceeded"
  | "guest address fault" | "internal error"
  | "cancelled" | "lost";

/* What a call throws. `where` is a line, an offset or an address: the message says which. */
export interface EngineError extends Error {
  name: "EngineError";
  status: Status;
  where: bigint;
}

export interface EngineInfo {
  version: string; /* of the library */
  wasmBytes: number;
  startMilliseconds: number;
}

/* ---- values ---- */

/* A number as its bits and what they stand for; no JSON number for "nan", "inf", "-inf". */
export interface Value {
  bits: string;
  value: number | "nan" | "inf" | "-inf";
}
export type Vector = [Value, Value, Value];

/* ---- isa ---- */

export type Isa = "xphmg" | "tile";

export interface Diagnostic {
  severity: "error";
  line: number; /* from 1 */
  column: number; /* from 1, in bytes of UTF-8 */
  length: number; /* bytes at fault, at least 1 */
  message: string;
  hint: string; /* what was expected, or a near miss; "" for none */
}

export interface Assembled {
  ok: boolean;
  program: Uint8Array; /* an ELF file; empty unless ok */
  diagnostics: Diagnostic[];
}

export interface InsnRow {
  mnemonic: string;
  syntax: string;
  fields: string; /* the encoding, as the row writes it */
  semantics: string;
  extension: string;
  file: string; /* of spec/, and the line there */
  line: number;
  id: number;
  length: number;
  mask: number;
  match: number;
}

export interface Operand {
  name: string;
  meaning: string;
  value: string; /* decimal: up to 64 bits */
  field: string;
  bits: number;
  hidden: boolean;
}

export interface Decoded {
  row: InsnRow;
  text: string;
  operands: Operand[];
}

export interface CsrField {
  name: string;
  meaning: string;
  legal: string;
  reset: string;
  hi: number;
  lo: number;
  access: "RO" | "RW" | "W1C" | "WARL" | "W1A" | "WC";
}

export interface CsrRow {
  name: string;
  file: string;
  number: number;
  count: number;
  stride: number;
  width: number;
  reset: string;
  fields: CsrField[];
}

export interface IsaApi {
  assemble(isa: Isa, text: string, name?: string, options?: CallOptions): Promise<Assembled>;
  /* One line; bytes of its instruction or instructions. */
  assembleLine(isa: Isa, line: string, pc?: bigint): Promise<Uint8Array>;
  disassemble(elf: Uint8Array): Promise<string>;
  decode(isa: Isa, word: number, pc?: bigint): Promise<Decoded>;
  rows(isa: Isa): Promise<InsnRow[]>;
  csrs(isa: Isa): Promise<CsrRow[]>;
}

/* ---- BVH images ---- */

export interface Camera {
  eye: [number, number, number];
  lookAt: [number, number, number];
  up: [number, number, number];
  fov: number; /* degrees, vertical */
}

export type Aov = "picture" | "normal" | "depth" | "ids" | "nodes" | "triangles";

export interface PictureOptions extends CallOptions {
  width: number;
  height: number;
  camera?: Camera; /* default: sees everything */
  aov?: Aov;
  flags?: number;
  mask?: number;
  coarse?: boolean; /* a camera turns: who has a quicker picture may give that */
  procedural?: boolean; /* the boxes of procedural primitives are seen */
  /* End of the colour scale of counts; default: as soon as the picture is whole, by the picture. */
  heatMax?: number;
  /* Some rows are done: rgba of the whole picture so far, rows first..first+count. */
  rows?: (picture: Picture, first: number, count: number) => void;
}

export interface Picture {
  width: number;
  height: number;
  rgba: Uint8ClampedArray; /* as `facet bvh render` writes it */
  values: Float32Array; /* one per pixel: depth, counts; empty for colours */
  rays: number;
  hits: number;
  nodes: number;
  heatMax: number;
  text?: string; /* what is said about it, in place of the numbers above */
}

export interface Finding {
  severity: "note" | "warning" | "error";
  rule: string;
  requirement: string;
  offset: number; /* byte in the image */
  node: number; /* index in Tree; -1: none */
  expected: string; /* what the rule says */
  text: string; /* what was found */
}

export interface BvhFigures {
  [name: string]: number | number[] | string | boolean; /* as `facet bvh info --json` */
}

/* The nodes that are reached, parents before children, as columns: entry i is node i. Node 0 is the
 * root. Boxes are in the space of the node's level, which is the world for level 0. */
export interface Tree {
  count: number;
  slots: number; /* of a box node */
  id: Uint32Array; /* as its level names it */
  offset: Float64Array; /* byte in the image */
  kind: Uint8Array; /* enum NodeKind */
  parent: Int32Array; /* index, -1 for the root */
  slot: Uint8Array; /* of the parent */
  depth: Uint32Array;
  level: Uint32Array; /* index in levels */
  children: Uint8Array; /* slots in use */
  box: Float32Array; /* six per node: lo, hi; lo > hi where there is none */
  triangles: Uint32Array; /* in or below the node; an instance counts its bottom level */
  area: Float32Array; /* of the surface of the box, relative to the root of its level */
  overlap: Float32Array; /* box nodes: surface of what two children share, relative to its own */
  cost: Float32Array; /* with all below it: its part of the SAH cost of its level, whose root has all */
  levels: { base: string; root: number; instances: number[] }[]; /* nodes; instances that lead there */
  /* Three rows of four for each instance node, in the order of instanceNodes. */
  instanceNodes: Uint32Array;
  instanceLevels: Int32Array; /* that each shows; -1: the image has none there */
  objectToWorld: Float32Array;
}
export enum NodeKind { None = 0, Primitive = 1, Box = 2, Instance = 3 }

/* A node as `facet bvh dump --json` writes it. */
export interface NodeRecord {
  offset: string;
  kind: string;
  fields: Record<string, string | number>;
  children?: Record<string, number>[];
  decoded?: Record<string, unknown>;
  [key: string]: unknown;
}

export interface Triangles {
  count: number;
  positions: Float32Array; /* nine per triangle, in the space of its level */
  node: Uint32Array; /* index in Tree of its primitive node */
  geometry: Uint32Array;
  primitive: Uint32Array;
}

export interface Ray {
  origin: [number, number, number];
  direction: [number, number, number];
  tMin?: number;
  tMax?: number;
}

export interface RayOptions {
  mask?: number;
  flags?: number; /* 0x10: triangles seen from behind are not hit */
  anyHit?: boolean;
}

export interface Hit {
  hit: boolean;
  back: boolean;
  t: number;
  u: number;
  v: number;
  primitive: number;
  geometry: number;
  instance: number;
  node: number;
}

/* What `facet rt why --json` writes about a ray through an image of XPHMG_RT. */
export interface RtRecord {
  ray: Record<string, unknown>;
  events: Record<string, unknown>[];
  complete: boolean;
  result: Record<string, unknown>;
}

/* A step of a ray: what `facet bvh why --json` calls one. */
export interface RayStep {
  step: number;
  popped: boolean;
  node: string;
  kind: string;
  image_offset: string;
  ray: { origin: Vector; direction: Vector; extent: Value; mask: string };
  children?: Record<string, unknown>[];
  v: string[];
  [key: string]: unknown;
}
export interface RayRecord {
  steps: RayStep[];
  result: Record<string, unknown>;
  /* By the list that a value is in ("children") and its name: the section of the contract, as the text of `facet bvh why` has it. */
  rules?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  [key: string]: unknown;
}

/* A structure of a driver or a capture. What its header says is under the names of the driver's source. */
export interface Structure {
  index: number;
  kind: "TLAS" | "BLAS";
  driver: string;
  address: string;
  root: string | null; /* null: nothing in it is active, so it has no nodes */
  bytes: number;
  contents: "instances" | "boxes" | "triangles";
  instances?: number | null; /* null: the header does not say */
  boxes?: number | null;
  triangles?: number | null;
  geometries: number | null;
  header: Record<string, string | number | null>;
}
/* What `facet bvh info --json` says about structures; rays start in number `structure`. */
export interface Structures {
  driver: string;
  reason: string;
  translated: boolean;
  structure: number;
  left_out: number;
  structures: Structure[];
}

export interface Bvh {
  readonly format: "gfx12" | "xphmg";
  readonly size: number;
  readonly structures: Structures | undefined;
  image(): Promise<Uint8Array>;
  figures(options?: CallOptions): Promise<BvhFigures>;
  check(options?: CallOptions): Promise<{ errors: number; count: number; findings: Finding[] }>;
  tree(options?: CallOptions): Promise<Tree>;
  node(index: number): Promise<NodeRecord>;
  /* Of the nodes first .. first + count of the tree. */
  triangles(first?: number, count?: number, options?: CallOptions): Promise<Triangles>;
  dump(options?: CallOptions): Promise<string>;
  /* The camera that sees everything, as `facet bvh render` has it. */
  camera(): Promise<Camera>;
  picture(options: PictureOptions): Promise<Picture>;
  bounds(): Promise<{ lo: [number, number, number]; hi: [number, number, number] }>;
  pixelRay(x: number, y: number, width: number, height: number, camera?: Camera): Promise<Ray>;
  /* Eight floats per ray: origin, direction, tMin, tMax. */
  trace(rays: Float32Array, options?: RayOptions & CallOptions): Promise<Hit[]>;
  /* GFX12; images of XPHMG_RT have explainRt. */
  explain(ray: Ray, options?: RayOptions & CallOptions): Promise<RayRecord>;
  explainRt(ray: Ray, options?: { anyHit?: boolean; cullBack?: boolean } & CallOptions): Promise<RtRecord>;
  close(): Promise<void>;
}

/* Where the bytes come from, if not from one image at address 0 with the usual root. */
export interface BvhPlace {
  base?: bigint; /* address of the structure that rays start in */
  root?: number; /* node ID; 5, or what the structure's header says */
  driver?: string; /* "radv", "gpurt", "hiprt", or "auto"; default: no header is looked for */
  structure?: number; /* of a driver or a capture; default: the first TLAS */
  /* Pieces that lie anywhere in memory: by rising address and offset, multiples of 64. */
  segments?: { address: bigint; offset: number; size: number }[];
}

export interface BvhApi {
  /* The bytes of an image of either format, or of a capture. */
  open(image: Uint8Array, place?: BvhPlace, options?: CallOptions): Promise<Bvh>;
  /* Triangles, nine floats each. */
  build(positions: Float32Array, format?: "gfx12" | "xphmg", quality?: "contract" | "fast" | "high"): Promise<Bvh>;
}

/* ---- scenes ---- */

export interface Machine {
  name: string; /* as `facet render --machine` has it */
  summary: string;
  rays: boolean; /* it traces rays: bounces and heat maps */
  whole: boolean; /* it cannot draw a part of its picture */
}

/* What a picture is asked for: options of `facet render`. */
export interface Look {
  width: number;
  height: number;
  spp: number;
  seed?: number;
  bounces: number;
  aoRays: number; /* 0: no ambient occlusion */
  aoDistance?: number;
  exposure: number;
  clamp: boolean; /* --tone clamp */
  shadows: boolean;
  camera: number; /* of the scene; -1: one that sees everything */
  place?: Camera; /* where it stands instead */
  view?: "picture" | "nodes" | "triangles";
}

export interface RenderOptions extends CallOptions {
  /* Some of the picture is done: RGBA, transparent where nothing is. */
  part?: (rgba: Uint8ClampedArray<ArrayBuffer>) => void;
  light?: boolean; /* the numbers of a .pfm are wanted, too */
}

export interface Rendered {
  width: number;
  height: number;
  rgba: Uint8ClampedArray<ArrayBuffer>; /* as `facet render` writes it; heat maps have no legend */
  light: Float32Array; /* three per pixel, when asked for */
  heatMax: number;
  rays: number;
  hits: number;
  nodes: number;
  instructions: number; /* of the program on the hart */
  commands: number; /* of the tile GPU */
  triangles: number;
}

/* A scene file, and the files that it names. */
export interface SceneFiles {
  name: string;
  bytes: Uint8Array;
  beside: readonly { readonly name: string; readonly bytes: Uint8Array }[];
}

export interface SceneFacts {
  triangles: number; /* as placed */
  instances: number;
  cameras: string[];
}

export interface LeftOut {
  count: number;
  what: string;
  first: string;
  why: string;
}

export interface Scene {
  readonly facts: SceneFacts;
  camera(number: number): Promise<Camera>;
  /* What the file has and the picture by this machine does not. */
  leftOut(machine?: Machine): Promise<LeftOut[]>;
  render(machine: Machine, look: Look, options?: RenderOptions): Promise<Rendered>;
  pixelRay(look: Look, x: number, y: number): Promise<Ray>;
  /* What `facet why --pixel` prints, as text or JSON. */
  why(machine: Machine, look: Look, x: number, y: number, json?: boolean, options?: CallOptions): Promise<string>;
  close(): Promise<void>;
}

export interface SceneApi {
  machines(): Promise<Machine[]>;
  /* The bytes of the BVH image of `facet bvh build` without options. */
  build(files: SceneFiles, options?: CallOptions): Promise<Uint8Array>;
  open(files: SceneFiles, options?: CallOptions): Promise<Scene>;
}

/* ---- single tests of XPHMG_RT ---- */

export type FlagName =
  | "NX" | "UF" | "OF" | "DZ" | "NV" | "QNAN" | "SNAN" | "FTZ" | "SAT" | "DOWN" | "UNSUP";

/* Elements are bits of a format, FP32 unless `element` names another. The records have the members of facet/rt.h; what comes
 * after the rule that decided was not computed and is 0. */
export interface RtTest {
  outcome: "miss" | "hit" | "nan";
  decided: string; /* "B7": the rule of the contract that did */
  values: Value[]; /* tnear, tfar, or t, u, v */
  flags: FlagName[];
  ray: { o: Vector; d: Vector; tmin: Value; tmax: Value };
  [key: string]: unknown;
}

export interface RtApi {
  box(ray: Uint32Array, box: Uint32Array, options?: { tClamp?: boolean; element?: string }): Promise<RtTest>;
  triangle(ray: Uint32Array, vertices: Uint32Array, options?: { cullBack?: boolean; epsilon?: number; element?: string }):
    Promise<RtTest>;
}

/* ---- the whole ---- */

/* Machines, command lists, numbers and textures have their own wrappers over the same link: machines.ts, and core.ts of the
 * playgrounds. */
/* `wasm`: the module, inflated; the worker's script as text, to be run from a Blob. */
export interface EngineSource {
  wasm: Uint8Array;
  worker: string;
}

