/* Pictures that the program writes. */

import assert from "node:assert/strict";
import { inflateSync } from "node:zlib";

/* The pixels of a PNG of 8 bits per channel without interlacing, as the program writes it. */
export function pixels(png) {
  const width = png.readUInt32BE(16), height = png.readUInt32BE(20), kind = png[25];
  const channels = kind === 6 ? 4 : kind === 2 ? 3 : assert.fail(`a PNG of kind ${kind}`);
  const parts = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT") {
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
    }
  }
  const raw = inflateSync(Buffer.concat(parts)), stride = width * channels;
  const rows = Buffer.alloc(stride * height), out = new Uint8ClampedArray(4 * width * height).fill(255);
  const near = (a, b, c) => {
    const p = a + b - c, pa = Math.abs(p - a), pb = Math.abs(p - b), pc = Math.abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
  };
  for (let y = 0; y < height; y++) {
    for (let i = 0; i < stride; i++) {
      const a = i >= channels ? rows[y * stride + i - channels] : 0, b = y > 0 ? rows[(y - 1) * stride + i] : 0;
      const c = i >= channels && y > 0 ? rows[(y - 1) * stride + i - channels] : 0;
      const add = [0, a, b, (a + b) >> 1, near(a, b, c)][raw[y * (stride + 1)]];
      rows[y * stride + i] = raw[y * (stride + 1) + 1 + i] + add;
    }
  }
  for (let i = 0; i < width * height; i++) {
    out.set(rows.subarray(i * channels, (i + 1) * channels), 4 * i);
  }
  return out;
}

/* The floats of a .pfm, the top row first. */
export function floats(pfm) {
  const [head, size] = pfm.toString("latin1", 0, 64).split("\n");
  assert.equal(head, "PF");
  const [width, height] = size.split(" ").map(Number), bytes = 12 * width * height;
  const from = new Float32Array(new Uint8Array(pfm.subarray(pfm.length - bytes)).buffer), out = new Float32Array(from.length);
  for (let y = 0; y < height; y++) {
    out.set(from.subarray(3 * width * y, 3 * width * (y + 1)), 3 * width * (height - 1 - y));
  }
  return out;
}
