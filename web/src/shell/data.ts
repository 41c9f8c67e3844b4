/* Bytes in the page's text and in its address: gzip or deflate, then base64. */

import type { InputFile, MadeBy } from "./view.ts";

/** The most that a link may grow to when it is unpacked: a small link must not fill the memory. */
const MAX_STATE = 16 << 20;

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) {
    bytes[i] = binary.charCodeAt(i);
  }
  return bytes;
}

export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let i = 0; i < bytes.length; i += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  }
  return btoa(binary);
}

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
  most = Infinity,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) {
      break;
    }
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new Error(`more than ${most} bytes when unpacked`);
    }
    parts.push(value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Bytes of gzip as base64. */
export function inflate(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return through(fromBase64(text), new DecompressionStream("gzip"));
}

/** Any JSON as letters that a URL may have. */
export async function packState(state: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const packed = await through(bytes, new CompressionStream("deflate-raw"));
  return toBase64(packed).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export async function unpackState(text: string): Promise<unknown> {
  try {
    const bytes = fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
    const plain = await through(bytes, new DecompressionStream("deflate-raw"), MAX_STATE);
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(plain)) as unknown;
  } catch (error) {
    throw new Error(`the link is damaged: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** What `facet view` put into the page: JSON with the bytes as gzip and base64. */
export async function embedded(): Promise<InputFile | undefined> {
  const block = document.getElementById("facet-input");
  if (block === null) {
    return undefined;
  }
  interface Packed {
    name: string;
    data: string;
  }
  const { name, data, beside = [], ...made } = JSON.parse(block.textContent ?? "") as MadeBy & Packed & { beside?: Packed[] };
  block.remove();
  const others = await Promise.all(beside.map(async (one) => ({ name: one.name, bytes: await inflate(one.data) })));
  return { name, bytes: await inflate(data), made, ...(others.length > 0 ? { beside: others } : {}) };
}
