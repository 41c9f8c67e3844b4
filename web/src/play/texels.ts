/* Where the texels of the texture view come from. */

import { decodePicture, type Pixels } from "../engine/pictures.ts";
import type { InputFile } from "../shell/view.ts";

export interface Texture {
  name: string;
  width: number;
  height: number;
  bytes: Uint8Array;
  /** A picture is UNORM8_RGBA; plain bytes have the format that is chosen. */
  picture: boolean;
}

export const RGBA8 = "UNORM8_RGBA";
const SIZE = 8;
const MOST = 4096;

type Paint = (x: number, y: number) => readonly [number, number, number, number];

const PAINTS: Record<string, Paint> = {
  tiles: (x, y) => ((x + y) % 2 === 0 ? [240, 240, 235, 255] : [30 + 28 * x, 60, 250 - 28 * y, 255]),
  ramp: (x, y) => [Math.round((255 * x) / (SIZE - 1)), Math.round((255 * y) / (SIZE - 1)), 128, 255],
  letter: (x, y) => (["........", ".######.", ".#......", ".####...", ".#......", ".#......", ".#......", "........"][y]?.[x] === "#" ? [20, 40, 90, 255] : [250, 220, 120, 255]),
};
export const PAINTED: readonly (readonly [string, string])[] = [["tiles", "Tiles"], ["ramp", "Ramp"], ["letter", "A letter"], ["bytes", "Bytes 0, 1, 2, …"], ["file", "A file"]];

/** A texture that the view makes itself; `bytes` in the format that is asked for. */
export function painted(name: string, bytesPerTexel: number): Texture {
  const paint = PAINTS[name];
  if (paint === undefined) {
    const bytes = Uint8Array.from({ length: SIZE * SIZE * bytesPerTexel }, (_, i) => i & 0xff);
    return { name, width: SIZE, height: SIZE, bytes, picture: false };
  }
  const bytes = new Uint8Array(SIZE * SIZE * 4);
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < SIZE; x++) {
      bytes.set(paint(x, y), 4 * (SIZE * y + x));
    }
  }
  return { name, width: SIZE, height: SIZE, bytes, picture: true };
}

const PICTURE = /\.(png|jpe?g)$/i;

export function accepts(file: InputFile): number {
  return PICTURE.test(file.name) ? 0.8 : 0;
}

/** A picture file: colours and alpha as they stand in it. */
export async function decoded(file: InputFile): Promise<Texture> {
  let picture: Pixels;
  try {
    picture = await decodePicture(file.bytes as Uint8Array<ArrayBuffer>);
  } catch (error) {
    throw new Error(`${file.name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { width, height, rgba } = picture;
  if (width > MOST || height > MOST) {
    throw new Error(`${file.name}: ${width} x ${height} pixels, expected at most ${MOST} x ${MOST}`);
  }
  return { name: file.name, width, height, bytes: rgba, picture: true };
}
