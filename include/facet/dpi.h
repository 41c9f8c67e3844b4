/* A session of facet/cosim.h for SystemVerilog: plain numbers, strings and one handle, as DPI-C
 * passes them. facet_dpi.sv, beside this file, has the imports; a simulator loads libfacet.so.1 or
 * links the archive. C programs use facet/cosim.h.
 *
 * Functions that give an int: 0 or more is good, -1 an error that facet_dpi_error tells. Numbers of
 * registers and CSRs are those of the instruction set, not of the tables. */
#ifndef FACET_DPI_H
#define FACET_DPI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What the last call that failed in this thread has to say; "" before the first. */
const char *facet_dpi_error(void);

/* A reference with the program of an ELF file: an xphmg machine with `harts` harts (0: 1) in a
 * configuration ("": full; spec/numeric.md 16). `late`: jobs complete when something waits for
 * them. NULL on failure. The handle is a facet_cosim *, so that C code can make another one (the
 * tile machine with a kernel that was dispatched, a machine with devices) and hand it over. */
void *facet_dpi_open(const char *elf, const char *configuration, uint32_t harts, uint32_t late);
void facet_dpi_close(void *session); /* NULL is allowed */

/* facet_lockstep_filter_ignore and _compare. */
int32_t facet_dpi_ignore(void *session, const char *what);
int32_t facet_dpi_compare(void *session, const char *what);

/* What the next instruction of the hart wrote: x and f registers, a CSR, 1..8 bytes of memory. A
 * write of x0 is none. */
int32_t facet_dpi_x(void *session, uint32_t hart, uint32_t reg, uint64_t value);
int32_t facet_dpi_f(void *session, uint32_t hart, uint32_t reg, uint64_t value);
int32_t facet_dpi_csr(void *session, uint32_t hart, uint32_t number, uint64_t value);
int32_t
facet_dpi_store(void *session, uint32_t hart, uint64_t address, uint32_t size, uint64_t value);
/* Any register by name. */
int32_t facet_dpi_reg(void *session, uint32_t hart, const char *name, uint64_t value);
/* What a unit wrote by itself (facet_cosim_unit_wrote). */
int32_t facet_dpi_unit_csr(void *session, uint32_t hart, uint32_t number, uint64_t value);
int32_t
facet_dpi_unit_store(void *session, uint32_t hart, uint64_t address, uint32_t size, uint64_t value);

/* The instruction retired, or the trap was taken: 0 the same, 1 different (facet_dpi_report), 2 the
 * same and the program has ended. word 0: not known. */
int32_t facet_dpi_retire(void *session, uint32_t hart, uint64_t pc, uint32_t word);
int32_t facet_dpi_trap(void *session, uint32_t hart, uint64_t pc, uint64_t cause, uint64_t value);
/* facet_cosim_finish: 1 or 2. */
int32_t facet_dpi_finish(void *session);

/* What the reference cannot know (facet/xphmg.h; loads and CSRs also of a tile machine's core): an
 * interrupt line (level 0: the platform's own, 1: low, 2: high), the value of the next load from
 * first..last, of the next read of a CSR, a trap that the hart takes next without a check, a
 * reservation that is lost. */
int32_t facet_dpi_line(void *session, uint32_t hart, uint32_t interrupt, uint32_t level);
int32_t
facet_dpi_next_load(void *session, uint32_t hart, uint64_t first, uint64_t last, uint64_t value);
int32_t facet_dpi_next_csr(void *session, uint32_t hart, uint32_t number, uint64_t value);
int32_t facet_dpi_take(void *session, uint32_t hart, uint64_t cause, uint64_t value);
int32_t facet_dpi_break_reservation(void *session, uint32_t hart);

/* The reference's state: a register, CSR or field by name, 1..8 bytes of memory; 0 on failure. */
uint64_t facet_dpi_get(void *session, uint32_t hart, const char *name);
uint64_t facet_dpi_read(void *session, uint64_t address, uint32_t size);
/* Steps compared so far. */
uint64_t facet_dpi_steps(void *session);

/* Text about the first difference; "" without one. */
const char *facet_dpi_report(void *session);
/* facet_cosim_snapshot_at, for a second run. */
int32_t facet_dpi_snapshot_at(void *session, uint64_t step);
/* Writes the snapshot from before it to a file, for `facet gdb PROGRAM --resume FILE`. */
int32_t facet_dpi_save(void *session, const char *path);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
