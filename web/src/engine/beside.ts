/* Files beside a scene or a list, and the pictures among them, while the C code reads what names them. */
import type { Context } from "./calls.ts";
import { decodePicture } from "./pictures.ts";
import type { Wasm } from "./wasm.ts";

export interface GivenFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/* They lie in one place of the C code: what names some is read one after the other. */
let reading: Promise<unknown> = Promise.resolve();

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const mine = reading.then(work, work);
  reading = mine.catch(() => undefined);
  return mine;
}

/* Pictures that were met and not known; what named them is to be read again when there are any. */
export async function decodeAll(wasm: Wasm, context: Context): Promise<number> {
  for (let count = 0; ; count++) {
    const file = wasm.bytes("page_pictures_next");
    if (file.length === 0) {
      return count;
    }
    try {
      const { width, height, rgba } = await decodePicture(file);
      wasm.bytes("page_pictures_decoded", width, height, rgba, "");
    } catch (error) {
      wasm.bytes("page_pictures_decoded", 0, 0, null, error instanceof Error ? error.message : String(error));
    }
    await context.pause();
  }
}

export function withFiles<T>(wasm: Wasm, files: readonly GivenFile[], context: Context, work: () => Promise<T>): Promise<T> {
  return inTurn(async () => {
    wasm.progress = context.progress;
    try {
      wasm.bytes("page_pictures_clear");
      wasm.bytes("page_files_clear");
      for (const { name, bytes } of files) {
        wasm.bytes("page_files_add", name, bytes);
      }
      return await work();
    } finally {
      if (!wasm.broken) {
        wasm.bytes("page_files_clear");
        wasm.bytes("page_pictures_clear");
      }
    }
  });
}
