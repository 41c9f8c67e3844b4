/* Instruction sets over the link: the interface IsaApi of types.ts. */
import type { Calls } from "./calls.ts";
import type { Link } from "./link.ts";
import type { Assembled, CsrRow, Decoded, InsnRow, Isa, IsaApi } from "./types.ts";

const NUMBERS: Record<Isa, number> = { xphmg: 0, tile: 1 };

/* In the worker: the program belongs to the text that was assembled last. */
export const isaCalls: Calls = {
  "isa.assemble": (wasm, [isa, text, name]: [number, string, string]): Assembled => ({
    ...wasm.json<Omit<Assembled, "program">>("page_isa_assemble", isa, new TextEncoder().encode(text), name),
    program: wasm.bytes("page_isa_program"),
  }),
};

export function isaApi(link: Link): IsaApi {
  return {
    assemble: (isa, text, name = "-", options) => link.call("isa.assemble", [NUMBERS[isa], text, name], options),
    assembleLine: (isa, line, pc = 0n) => link.raw("page_isa_line", [NUMBERS[isa], line, pc]),
    disassemble: async (elf) => new TextDecoder().decode(await link.raw("page_isa_disassemble", [elf])),
    decode: (isa, word, pc = 0n) => link.json<Decoded>("page_isa_decode", [NUMBERS[isa], word, pc]),
    rows: async (isa) => (await link.json<{ rows: InsnRow[] }>("page_isa_rows", [NUMBERS[isa]])).rows,
    csrs: async (isa) => (await link.json<{ csrs: CsrRow[] }>("page_isa_csrs", [NUMBERS[isa]])).csrs,
  };
}
