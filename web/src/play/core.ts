/* What the C code says about numbers and samples (wasm/page_num.c, wasm/page_sample.c). Bits are "0x..." text on the way, as records have
 * them; nothing here knows how a number is rounded. */

import type { Link } from "../engine/link.ts";

export const MODES = ["RNE", "RTZ", "RDN", "RUP", "RMM"] as const;
export type Mode = (typeof MODES)[number];

export interface Format {
  name: string;
  bits: number;
  floating: boolean;
  /** Of floating-point formats, from the highest bit down behind the sign. */
  exponent?: number;
  fraction?: number;
  unused?: number;
}

export interface Numeral {
  bits: string;
  class: string;
  value: number | "nan" | "inf" | "-inf";
  exact: string;
  hex: string;
  flags: string[];
}

export interface Rounded {
  text: string;
  modes: Record<Mode, Numeral>;
  saturated: Record<Mode, Numeral>;
  below: Numeral;
  above: Numeral;
}

export interface Policy {
  rm: number;
  flush: number;
  saturate: number;
  nan: number;
  flushOperand: boolean;
}

export interface Element {
  elem: number;
  acc: number;
  rm: number;
  nanPol: number;
  ftz: boolean;
  sat: boolean;
  satMode: boolean;
  uns: boolean;
  scale: number;
  zp: number;
}

const bit = (on: boolean, at: number): number => (on ? 1 << at : 0);
const pack = (p: Policy): number => p.rm | (p.flush << 4) | (p.saturate << 8) | (p.nan << 12) | bit(p.flushOperand, 16);

export class Numbers {
  constructor(private readonly link: Link) {}

  async formats(): Promise<Format[]> {
    return (await this.link.json<{ formats: Format[] }>("page_num_formats")).formats;
  }

  round(format: number, text: string): Promise<Rounded> {
    return this.link.json("page_num_round", [format, text]);
  }

  bits(format: number, bits: bigint): Promise<{ value: Numeral; below: Numeral | null; above: Numeral | null }> {
    return this.link.json("page_num_bits", [format, bits]);
  }

  async calculate(operation: string, format: number, operands: readonly bigint[], policy: Policy): Promise<Numeral> {
    const [a = 0n, b = 0n, c = 0n] = operands;
    return (await this.link.json<{ result: Numeral }>("page_num_calculate", [operation, format, a, b, c, pack(policy)])).result;
  }

  /** An accumulator as an element (`narrow`), or an element as an accumulator. */
  async element(e: Element, narrow: boolean, bits: number): Promise<Numeral> {
    const options = e.rm | (e.nanPol << 4) | bit(e.ftz, 8) | bit(e.sat, 9) | bit(e.satMode, 10) | bit(e.uns, 11);
    const asked = [e.elem, e.acc, options, e.scale, e.zp, narrow ? 1 : 0, bits];
    return (await this.link.json<{ result: Numeral }>("page_num_element", asked)).result;
  }
}

/* ---- samples ---- */

export interface Value {
  bits: string;
  value: number | "nan" | "inf" | "-inf";
}

export interface Tap {
  border: boolean;
  x?: number;
  y?: number;
  address?: string;
  channels?: Record<string, Value>;
}

export interface Lerp {
  weight?: Value;
  difference?: Value;
  result: Value;
}

export interface Channel {
  taps: Record<string, Value | null>;
  row0?: Lerp | null;
  row1?: Lerp | null;
  rows?: Lerp | null;
  filtered: Value;
  srgb: string | null;
  accumulator: Value;
  element: Value;
  flags: string[];
}

/** `facet gfx why --json`. */
export interface SampleRecord {
  footprint: { kind: string; position?: [number, number]; texel?: [number, number]; weight?: [number, number]; taps?: Record<string, Tap | null> };
  channels?: Record<string, Channel>;
  result: Value[];
  flags: string[];
  u: Value;
  v: Value;
}

export interface Question {
  width: number;
  height: number;
  pitch: number;
  format: number;
  wrap: number;
  normalized: boolean;
  bilinear: boolean;
  srgb: boolean;
  raw: boolean;
  elem: number;
  acc: number;
  rm: number;
  u: number; /* elements */
  v: number;
  border: readonly [number, number, number, number];
}

/** `struct ask` of wasm/page_sample.c. */
function words(q: Question): Uint32Array {
  return Uint32Array.of(q.width, q.height, q.pitch, q.format, q.wrap, +q.normalized, +q.bilinear, +q.srgb, +q.raw, q.elem, q.acc, q.rm, q.u, q.v, ...q.border);
}

export class Samples {
  constructor(private readonly link: Link) {}

  async formats(): Promise<{ code: number; name: string; bytes: number }[]> {
    return (await this.link.json<{ formats: { code: number; name: string; bytes: number }[] }>("page_sample_formats")).formats;
  }

  async why(texels: Uint8Array, question: Question): Promise<SampleRecord> {
    const answer = await this.link.json<{ records: [SampleRecord] }>("page_sample_why", [texels, words(question)]);
    return answer.records[0];
  }

  /** What every texel of a window gives by itself, also outside of the texture: four FP32 numbers each. */
  async window(texels: Uint8Array, question: Question, x: number, y: number, width: number, height: number): Promise<Float32Array> {
    const bytes = await this.link.raw("page_sample_window", [texels, words(question), x, y, width, height]);
    return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  }
}
