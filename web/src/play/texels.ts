/* Where the texels of the texture view come from. */

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

/** A picture file, by the browser's own decoder: colours as they stand in the file. */
export async function decoded(file: InputFile): Promise<Texture> {
  let bitmap: ImageBitmap;
  try {
    bitmap = await createImageBitmap(new Blob([file.bytes as Uint8Array<ArrayBuffer>]), { premultiplyAlpha: "none", colorSpaceConversion: "none" });
  } catch {
    throw new Error(`${file.name}: the browser cannot read it as a picture; expected PNG or JPEG`);
  }
  const { width, height } = bitmap;
  if (width > MOST || height > MOST) {
    bitmap.close();
    throw new Error(`${file.name}: ${width} x ${height} pixels, expected at most ${MOST} x ${MOST}`);
  }
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  if (context === null) {
    throw new Error("the browser has no canvas");
  }
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  const { data } = context.getImageData(0, 0, width, height);
  return { name: file.name, width, height, bytes: new Uint8Array(data.buffer), picture: true };
}
