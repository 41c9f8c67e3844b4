/* ELF files: the executables that `facet as` writes and every machine loads.
 *
 * xphmg: ELF64, little-endian, EM_RISCV, e_flags = RVC | double-float ABI. tile: ELF32,
 * little-endian, e_machine FACET_EM_TILE, no flags (R-TILE-104). The writer lays out headers,
 * sections in the object's order, symbol table, string tables; nothing depends on time or host, so
 * equal objects give equal files. The reader takes any bytes: it checks every offset, size and
 * count against the file and says at which offset what is wrong. */
#ifndef FACET_OBJECT_ELF_H
#define FACET_OBJECT_ELF_H

#include "isa/table.h"
#include "object/object.h"

/* "TG": a number no registry has given away. */
#define FACET_EM_TILE 0x5447

/* The file's bytes; free(*data). Makes the segments of the object first. */
enum facet_status
facet_elf_write(struct facet_object *object, uint8_t **data, size_t *size, struct facet_error *err);

/* Makes a program of the tile machine, as written above, one of 32-bit RISC-V for debuggers that
 * know no other. */
void facet_elf_as_riscv(uint8_t *data, size_t size);

/* true when the bytes start like an ELF file. */
bool facet_elf_is(const uint8_t *data, size_t size);

/* On success *out belongs to the caller (facet_object_free) and does not refer to `data`; where a
 * file has no section headers each loadable segment becomes a section. err->where is the offset of
 * the offending bytes. */
enum facet_status facet_elf_read(const uint8_t *data,
                                 size_t size,
                                 struct facet_object **out,
                                 struct facet_error *err);

#endif
