/* Where an image came from: one file or several pieces of memory, at which addresses, with whose headers. As the page opens it, as a
 * link has it, and as the words of the program's commands. */

import type { BvhPlace } from "../engine/types.ts";

export const DRIVERS = ["auto", "", "radv", "gpurt", "hiprt"] as const;
export type Driver = (typeof DRIVERS)[number];

/** A piece of memory; without an address where its header says, or at 0. */
export interface Piece {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly address: bigint | undefined;
}

/** What is needed to open an image, again too. */
export interface Input {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly place: BvhPlace;
  /** The files that the segments are, where there are several. */
  readonly pieces?: readonly Piece[];
}

const SCENE = /\.(glb|gltf|obj|ply|stl)$/i;
const CAPTURE = /\.rra$/i;
const UNIT = 64;
/** More pieces come from no driver, and from no hand. */
const MOST_PIECES = 4096;

export function isAddress(text: unknown): text is string {
  return typeof text === "string" && /^(0x[0-9a-f]{1,16}|\d{1,19})$/i.test(text);
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Anything at all, from a link or from `facet view`: what makes sense of it. The C library has the last word. */
export function placeOf(value: unknown): BvhPlace {
  const said = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  const segments = (Array.isArray(said["segments"]) ? said["segments"] : []).slice(0, MOST_PIECES) as Record<string, unknown>[];
  const driver = DRIVERS.find((name) => name !== "" && name === said["driver"]);
  return {
    ...(isAddress(said["base"]) ? { base: BigInt(said["base"]) } : {}),
    ...(isSize(said["root"]) ? { root: said["root"] } : {}),
    ...(driver !== undefined ? { driver } : {}),
    ...(isSize(said["structure"]) ? { structure: said["structure"] } : {}),
    ...(segments.length > 0 && segments.every((one) => isAddress(one["address"]) && isSize(one["offset"]) && isSize(one["size"]))
      ? { segments: segments.map((one) => ({ address: BigInt(one["address"] as string), offset: one["offset"] as number, size: one["size"] as number })) }
      : {}),
  };
}

/** The files that segments are, where `value` names them. */
export function piecesOf(value: unknown, { base, segments }: BvhPlace, bytes: Uint8Array): readonly Piece[] | undefined {
  const said = (value as { segments?: { name?: unknown }[] } | undefined)?.segments ?? [];
  const pieces = (segments ?? []).map(({ address, offset, size }, i) => ({ name: String(said[i]?.name ?? ""), bytes: bytes.subarray(offset, offset + size), address }));
  const start = pieces.findIndex(({ address, bytes: { length } }) => base !== undefined && base >= address && base < address + BigInt(length));
  const first = pieces[start];
  return pieces.length > 0 && pieces.every(({ name }) => name !== "") ? [...(first === undefined ? [] : [first]), ...pieces.filter((_, i) => i !== start)] : undefined;
}

/** The other way round: JSON, empty for an image at address 0. */
export function placeState(place: BvhPlace): Record<string, unknown> {
  return {
    ...place,
    ...(place.base === undefined ? {} : { base: hex(place.base) }),
    ...(place.segments === undefined ? {} : { segments: place.segments.map((one) => ({ ...one, address: hex(one.address) })) }),
  };
}

/** The address that a dump was named after: tlas-0x7f1200000000.bin. */
export function addressIn(name: string): bigint | undefined {
  const [found] = /0x[0-9a-f]{4,16}/i.exec(name) ?? [];
  return found === undefined ? undefined : BigInt(found);
}

export function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}

/** Pieces as one run of bytes: by address, each from a multiple of 64 on. Rays start at `base`, or in the first piece of the list. */
export function join(pieces: readonly Piece[], place: BvhPlace): Input {
  const first = pieces[0];
  if (first === undefined) {
    throw new Error("expected at least one piece");
  }
  if (pieces.length === 1) {
    const base = place.base ?? first.address;
    return { name: first.name, bytes: first.bytes, place: { ...place, ...(base === undefined ? {} : { base }) }, pieces };
  }
  const sorted = pieces.map((piece) => ({ piece, address: piece.address ?? 0n })).sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0));
  const segments: { address: bigint; offset: number; size: number }[] = [];
  let size = 0;
  for (const { piece, address } of sorted) {
    const offset = Math.ceil(size / UNIT) * UNIT;
    segments.push({ address, offset, size: piece.bytes.length });
    size = offset + piece.bytes.length;
  }
  const bytes = new Uint8Array(size);
  sorted.forEach(({ piece }, i) => bytes.set(piece.bytes, segments[i]?.offset));
  return { name: first.name, bytes, place: { ...place, base: place.base ?? first.address ?? 0n, segments }, pieces };
}

/** The image as the operands and options of a `facet bvh` command. A scene is built into a file beside it first. */
export function commandWords({ name, place, pieces }: Input): string[] {
  const words: string[] = [];
  if (pieces !== undefined && pieces.length > 1) {
    words.push(...pieces.map((piece) => `--segment ${piece.name}@${hex(piece.address ?? 0n)}`));
    if (place.base !== undefined && place.base !== pieces[0]?.address && place.structure === undefined) {
      words.push(`--base ${hex(place.base)}`);
    }
  } else {
    words.push(name.replace(SCENE, ".gfx12"));
    if (place.base !== undefined && place.base !== 0n && !CAPTURE.test(name)) {
      words.push(`--base ${hex(place.base)}`);
    }
  }
  if (place.driver !== undefined && place.driver !== "" && place.driver !== "auto") {
    words.push(`--driver ${place.driver}`);
  }
  if (place.structure !== undefined) {
    words.push(`--structure ${place.structure}`);
  }
  return words;
}
