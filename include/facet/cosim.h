/* A session that checks a design under test (RTL, an emulator, another model) against a machine,
 * instruction by instruction.
 *
 * The session owns the reference machine. The design says what it wrote and what it retired, in its
 * own order within a step; the session steps the reference, compares, and at the first difference
 * keeps everything that explains it: both values, disassembly, symbol and source line, who wrote
 * what the instruction read, the steps before, a snapshot from before.
 *
 *     facet_cosim_create(machine, NULL, &cosim, &err);
 *     for each instruction of the design:
 *         facet_cosim_wrote(cosim, core, "x5", value, &err);      any number of times
 *         facet_cosim_retired(cosim, core, pc, word, &result, &err);
 *         if (result == FACET_COSIM_DIFFERENT) puts(facet_cosim_report(cosim));
 *
 * What the reference cannot know enters by facet/xphmg.h (interrupt lines, values of loads, devices
 * of the host); the session sets facet_xphmg_wait_for_told, so that interrupts come when the design
 * takes them. Of a tile machine any core may come next (facet/tile.h has the same for its loads).
 * docs/lockstep.md has the whole story, facet/dpi.h the same for SystemVerilog. */
#ifndef FACET_COSIM_H
#define FACET_COSIM_H

#include <facet/lockstep.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct facet_cosim facet_cosim;

#define FACET_COSIM_WINDOW 16
#define FACET_COSIM_WINDOW_MAX 4096
#define FACET_COSIM_SNAPSHOT_EVERY 1000000
#define FACET_COSIM_NO_SNAPSHOTS UINT64_MAX

/* Zero gives the default everywhere. Passed with its size, as facet/version.h explains. */
struct facet_cosim_config {
    uint32_t window;         /* steps before the difference that a report shows */
    bool own_interrupts;     /* xphmg: the reference takes interrupts by itself */
    uint64_t snapshot_every; /* steps; the replay begins between once and twice as many before */
};

enum facet_status facet_cosim_create_sized(facet_machine *machine,
                                           const struct facet_cosim_config *config,
                                           size_t config_size,
                                           facet_cosim **out,
                                           struct facet_error *err);
/* The machine belongs to the session from then on, unless this fails. `config` NULL for defaults.
 */
static inline enum facet_status facet_cosim_create(facet_machine *machine,
                                                   const struct facet_cosim_config *config,
                                                   facet_cosim **out,
                                                   struct facet_error *err)
{
    return facet_cosim_create_sized(machine, config, sizeof *config, out, err);
}
void facet_cosim_destroy(facet_cosim *cosim); /* NULL is allowed */

/* For lines, given loads, devices and memory; not for stepping it past the design. */
facet_machine *facet_cosim_machine(facet_cosim *cosim);
/* What is not compared; at first nothing. */
facet_lockstep_filter *facet_cosim_filter(facet_cosim *cosim);
/* Takes symbols, and lines where there is DWARF, out of an ELF file; loads nothing. */
enum facet_status
facet_cosim_symbols(facet_cosim *cosim, const void *elf, size_t size, struct facet_error *err);

/* ---- what the design did ----------------------------------------------------------------------
 *
 * Writes belong to the next instruction or trap of their core. Their order does not matter; of two
 * writes of one register the last counts. */

/* A register or CSR by name. */
enum facet_status facet_cosim_wrote(
    facet_cosim *cosim, uint32_t core, const char *name, uint64_t value, struct facet_error *err);
/* Anything, as facet_machine_step_changes would report it; old values are not needed. */
enum facet_status facet_cosim_wrote_change(facet_cosim *cosim,
                                           const struct facet_change *change,
                                           struct facet_error *err);
/* Bytes of the main memory, of any number. */
enum facet_status facet_cosim_wrote_memory(facet_cosim *cosim,
                                           uint32_t core,
                                           uint64_t address,
                                           const void *data,
                                           size_t size,
                                           struct facet_error *err);
/* What a unit of the core wrote by itself, at any time from the submission of its job to the
 * instruction that waits for it (FACET_XPHMG_JOBS_LATE). The bytes and registers are compared when
 * the reference does the work: by their last values, whatever the pieces. */
enum facet_status facet_cosim_unit_wrote(
    facet_cosim *cosim, uint32_t core, const char *name, uint64_t value, struct facet_error *err);
enum facet_status facet_cosim_unit_wrote_memory(facet_cosim *cosim,
                                                uint32_t core,
                                                uint64_t address,
                                                const void *data,
                                                size_t size,
                                                struct facet_error *err);

enum facet_cosim_result {
    FACET_COSIM_SAME,
    FACET_COSIM_DIFFERENT, /* now or before: the first difference stays */
    FACET_COSIM_ENDED,     /* the same, and the program has ended: facet_cosim_stop */
};
/* The core retired the instruction at pc; word 0: not known. Steps the reference and compares. */
enum facet_status facet_cosim_retired(facet_cosim *cosim,
                                      uint32_t core,
                                      uint64_t pc,
                                      uint32_t word,
                                      enum facet_cosim_result *result,
                                      struct facet_error *err);
/* The core took a trap instead of the instruction at pc. Of an interrupt (xphmg: bit 63 of cause)
 * the reference is told, and it must be one that it may take (facet_xphmg_take). */
enum facet_status facet_cosim_trapped(facet_cosim *cosim,
                                      uint32_t core,
                                      uint64_t pc,
                                      uint64_t cause,
                                      uint64_t value,
                                      enum facet_cosim_result *result,
                                      struct facet_error *err);
/* A whole step at once, as facet_machine_step_changes of the design would give it: nearly always
 * one RETIRE or TRAP and what it wrote. */
enum facet_status facet_cosim_step(facet_cosim *cosim,
                                   const struct facet_change *changes,
                                   size_t count,
                                   enum facet_cosim_result *result,
                                   struct facet_error *err);
/* The design has ended: what its units wrote and the reference did not is a difference too. */
enum facet_status
facet_cosim_finish(facet_cosim *cosim, enum facet_cosim_result *result, struct facet_error *err);

/* ---- the first difference ---------------------------------------------------------------------
 */

/* Passed with its size, as facet/version.h explains. */
struct facet_cosim_difference {
    uint64_t step; /* of the reference, steps before it */
    uint32_t core;
    uint64_t pc;
    bool has_reference; /* false: it has no such change */
    bool has_design;
    struct facet_change reference;
    struct facet_change design;
    const char *why; /* one line; lives as long as the session */
};
enum facet_status facet_cosim_get_difference_sized(const facet_cosim *cosim,
                                                   struct facet_cosim_difference *out,
                                                   size_t out_size,
                                                   struct facet_error *err);
/* FACET_ERR_USAGE when there is none. */
static inline enum facet_status facet_cosim_get_difference(const facet_cosim *cosim,
                                                           struct facet_cosim_difference *out,
                                                           struct facet_error *err)
{
    return facet_cosim_get_difference_sized(cosim, out, sizeof *out, err);
}
/* Lines of text about it, "" when there is none; lives as long as the session. */
const char *facet_cosim_report(const facet_cosim *cosim);
/* Why the reference last stopped; reason BUDGET while it goes on. */
void facet_cosim_stop(const facet_cosim *cosim, struct facet_stop *stop);
/* The replay is to be the state just before this step of the reference (facet_cosim_difference),
 * with all that the reference was told for it. After a difference the same run again, with its
 * step here, gives a state from which one step shows it, whatever came from outside before. */
void facet_cosim_snapshot_at(facet_cosim *cosim, uint64_t step);
/* Steps compared so far. */
uint64_t facet_cosim_steps(const facet_cosim *cosim);
/* A state of the reference from before the difference, or from before now, for
 * facet_machine_restore and `facet gdb --resume`; *step says of when. Free with facet_blob_free.
 * FACET_ERR_USAGE when the session keeps none. */
enum facet_status facet_cosim_replay(const facet_cosim *cosim,
                                     struct facet_blob *out,
                                     uint64_t *step,
                                     struct facet_error *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
