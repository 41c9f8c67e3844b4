/* Picture files to RGBA, for textures: the library has no decoder here. PNG is read by ourselves, so that samples are those of the
 * file: a canvas would multiply colours by alpha, and follow profiles. JPEG is the browser's. */

export interface Pixels {
  width: number;
  height: number;
  rgba: Uint8Array<ArrayBuffer>;
}

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const CHANNELS: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const DEPTHS: Record<number, number[]> = { 0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16] };
/* Passes of Adam7: where they begin, and how far pixels are apart. */
const PASSES = [[0, 0, 8, 8], [4, 0, 8, 8], [0, 4, 4, 8], [2, 0, 4, 4], [0, 2, 2, 4], [1, 0, 2, 2], [0, 1, 1, 2]] as const;

interface Head {
  width: number;
  height: number;
  depth: number;
  kind: number;
  interlaced: boolean;
}

interface Png extends Head {
  palette: Uint8Array;
  transparent: Uint8Array; /* tRNS */
  packed: Uint8Array<ArrayBuffer>[];
}

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) {
    n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  }
  return n;
});

function crc(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum = CRC[(sum ^ byte) & 255]! ^ (sum >>> 8);
  }
  return ~sum >>> 0;
}

function readHead(body: Uint8Array): Head {
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  if (body.length !== 13) {
    throw new Error("a header of another size");
  }
  const head = { width: view.getUint32(0), height: view.getUint32(4), depth: body[8]!, kind: body[9]!, interlaced: body[12] === 1 };
  if (head.width === 0 || head.height === 0 || DEPTHS[head.kind]?.includes(head.depth) !== true || body[10] !== 0 || body[11] !== 0 || body[12]! > 1) {
    throw new Error("a header that PNG does not have");
  }
  return head;
}

/* Chunks that may be skipped are, but for transparency. */
function readChunks(file: Uint8Array<ArrayBuffer>): Png {
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  let png: Png | undefined;
  if (!SIGNATURE.every((byte, i) => file[i] === byte)) {
    throw new Error("no PNG signature");
  }
  for (let at = 8; ; ) {
    const size = at + 12 <= file.length ? view.getUint32(at) : Infinity;
    if (at + 12 + size > file.length) {
      throw new Error("the file ends too early");
    }
    const name = String.fromCharCode(...file.subarray(at + 4, at + 8));
    const body = file.subarray(at + 8, at + 8 + size);
    if (!/^[A-Za-z]{4}$/.test(name)) {
      throw new Error("invalid chunk type");
    }
    if (!/^[a-z]/.test(name) && crc(file.subarray(at + 4, at + 8 + size)) !== view.getUint32(at + 8 + size)) {
      throw new Error(`${name}: CRC error`);
    }
    if (name === "IHDR" && png === undefined) {
      png = { ...readHead(body), palette: new Uint8Array(768), transparent: new Uint8Array(), packed: [] };
    } else if (png === undefined) {
      throw new Error(`${name} before IHDR`);
    } else if (name === "PLTE") {
      png.palette.set(body.subarray(0, 768));
    } else if (name === "tRNS") {
      png.transparent = body;
    } else if (name === "IDAT") {
      png.packed.push(body);
    } else if (name === "IEND") {
      return png;
    }
    at += 12 + size;
  }
}

/* The first `need` bytes: what a file holds beyond the last row is not looked at. */
async function inflate(packed: Uint8Array<ArrayBuffer>[], need: number): Promise<Uint8Array> {
  const reader = new Blob(packed).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
  const parts: Uint8Array[] = [];
  let have = 0;
  while (have < need) {
    const { value, done } = await reader.read();
    if (done) {
      throw new Error(`${have} bytes of ${need} for the rows`);
    }
    parts.push(value);
    have += value.length;
  }
  void reader.cancel().catch(() => undefined);
  const whole = new Uint8Array(have);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function paeth(a: number, b: number, c: number): number {
  const p = a + b - c, pa = Math.abs(p - a), pb = Math.abs(p - b), pc = Math.abs(p - c);
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/* Undoes the filter of a row in place; `step` is the distance to the pixel on the left. */
function unfilter(kind: number, row: Uint8Array, above: Uint8Array, step: number): void {
  if (kind > 4) {
    throw new Error(`filter ${kind}`);
  }
  for (let i = 0; i < row.length && kind !== 0; i++) {
    const a = i >= step ? row[i - step]! : 0, b = above[i]!, c = i >= step ? above[i - step]! : 0;
    row[i]! += kind === 1 ? a : kind === 2 ? b : kind === 3 ? (a + b) >> 1 : paeth(a, b, c);
  }
}

/* Sample i of a row, with all its bits. */
function sample(row: Uint8Array, i: number, depth: number): number {
  if (depth === 8) {
    return row[i]!;
  }
  if (depth === 16) {
    return (row[2 * i]! << 8) | row[2 * i + 1]!;
  }
  return (row[(i * depth) >> 3]! >> (8 - depth - ((i * depth) & 7))) & ((1 << depth) - 1);
}

function writePixel(png: Png, row: Uint8Array, x: number, out: Uint8Array, at: number): void {
  const { depth, kind, transparent } = png;
  const channels = CHANNELS[kind]!, most = 2 ** depth - 1;
  const value = (i: number): number => sample(row, x * channels + i, depth);
  const scaled = (v: number): number => (depth === 16 ? (v * 255 + 32895) >>> 16 : (v * 255) / most);
  if (kind === 3) {
    const index = value(0);
    out.set(png.palette.subarray(3 * index, 3 * index + 3), at);
    out[at + 3] = transparent[index] ?? 255;
    return;
  }
  const colors = kind & 2 ? 3 : 1;
  for (let i = 0; i < 3; i++) {
    out[at + i] = scaled(value(colors === 3 ? i : 0));
  }
  const isKey = transparent.length >= 2 * colors && [0, 1, 2].slice(0, colors).every((i) => (((transparent[2 * i]! << 8) | transparent[2 * i + 1]!) & most) === value(i));
  out[at + 3] = kind & 4 ? scaled(value(colors)) : isKey ? 0 : 255;
}

async function png(file: Uint8Array<ArrayBuffer>): Promise<Pixels> {
  const read = readChunks(file);
  const { width, height, depth } = read;
  const bits = depth * CHANNELS[read.kind]!;
  const passes = (read.interlaced ? PASSES : [[0, 0, 1, 1] as const])
    .map(([x, y, dx, dy]) => ({ x, y, dx, dy, columns: Math.ceil((width - x) / dx), rows: Math.ceil((height - y) / dy) }))
    .filter((pass) => pass.columns > 0 && pass.rows > 0);
  const stride = (columns: number): number => Math.ceil((columns * bits) / 8);
  const raw = await inflate(read.packed, passes.reduce((sum, pass) => sum + pass.rows * (1 + stride(pass.columns)), 0));
  const rgba = new Uint8Array(4 * width * height);
  let at = 0;
  for (const pass of passes) {
    const size = stride(pass.columns);
    let above: Uint8Array = new Uint8Array(size);
    for (let k = 0; k < pass.rows; k++, at += 1 + size) {
      const row = raw.subarray(at + 1, at + 1 + size);
      unfilter(raw[at]!, row, above, Math.max(1, bits >> 3));
      for (let i = 0; i < pass.columns; i++) {
        writePixel(read, row, i, rgba, 4 * ((pass.y + k * pass.dy) * width + pass.x + i * pass.dx));
      }
      above = row;
    }
  }
  return { width, height, rgba };
}

/* The file without its APP1 to APP13, APP15: a camera's turn and a colour profile are nothing to a texture. */
function plainJpeg(file: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const kept = [file.subarray(0, 2)];
  let at = 2;
  while (file[at] === 0xff && at + 4 <= file.length && file[at + 1] !== 0xda) {
    const marker = file[at + 1]!, end = at + 2 + ((file[at + 2]! << 8) | file[at + 3]!);
    if (marker <= 0xe0 || marker > 0xef || marker === 0xee) {
      kept.push(file.subarray(at, end));
    }
    at = end;
  }
  return [...kept, file.subarray(at)];
}

/* Without transparency a canvas keeps the bytes of the decoder. */
async function jpeg(file: Uint8Array<ArrayBuffer>): Promise<Pixels> {
  if (typeof createImageBitmap !== "function" || typeof OffscreenCanvas !== "function") {
    throw new Error("JPEG pictures need a browser");
  }
  const bitmap = await createImageBitmap(new Blob(plainJpeg(file), { type: "image/jpeg" }), {
    colorSpaceConversion: "none", premultiplyAlpha: "none",
  }).catch(() => {
    throw new Error("the browser cannot read this JPEG");
  });
  const { width, height } = bitmap;
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  if (context === null) {
    throw new Error(`no memory for a picture of ${width} x ${height}`);
  }
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return { width, height, rgba: new Uint8Array(context.getImageData(0, 0, width, height).data.buffer) };
}

/* PNG or JPEG, by the first bytes. Throws an Error with what is wrong. */
export async function decodePicture(file: Uint8Array<ArrayBuffer>): Promise<Pixels> {
  const isPng = file[0] === SIGNATURE[0];
  try {
    return await (isPng ? png(file) : jpeg(file));
  } catch (error) {
    throw new Error(`damaged ${isPng ? "PNG" : "JPEG"}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
