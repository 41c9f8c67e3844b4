/* Between the files of the XMEM unit: who executes which rows. Each function executes a row of its
 * group, or returns the trap with nothing written. */
#ifndef FACET_XPHMG_XMEM_UNIT_H
#define FACET_XPHMG_XMEM_UNIT_H

#include "xphmg/xmem/xmem.h"

struct facet_trap facet_xmem_alloc(struct facet_hart *h, const struct facet_insn *in);
struct facet_trap facet_xmem_free(struct facet_hart *h, const struct facet_insn *in);
struct facet_trap facet_xmem_set_domain(struct facet_hart *h, const struct facet_insn *in);
struct facet_trap facet_xmem_partition(struct facet_hart *h, const struct facet_insn *in);
struct facet_trap facet_xmem_atomic(struct facet_hart *h, const struct facet_insn *in);
struct facet_trap facet_xmem_load(struct facet_hart *h, const struct facet_insn *in);
struct facet_trap facet_xmem_store(struct facet_hart *h, const struct facet_insn *in);
struct facet_trap facet_xmem_svm(struct facet_hart *h, const struct facet_insn *in);
struct facet_trap facet_xmem_copy(struct facet_hart *h, const struct facet_insn *in);
struct facet_trap facet_xmem_swizzle(struct facet_hart *h, const struct facet_insn *in);
struct facet_trap facet_xmem_compress(struct facet_hart *h, const struct facet_insn *in);
struct facet_trap facet_xmem_decompress(struct facet_hart *h, const struct facet_insn *in);
struct facet_trap facet_xmem_sync(struct facet_hart *h, const struct facet_insn *in);

/* An asynchronous copy (to, from, size), a fault of which is an event; returns its cause, or 0. */
unsigned facet_xmem_copy_run(struct facet_hart *h, const uint8_t *words);
/* Stands at the instruction until what it waits for has come. */
struct facet_trap facet_xmem_wait(struct facet_hart *h, enum facet_wait what, uint64_t on);

/* Copies between ranges that have been probed; overlap as memmove. It may leave a part of itself
 * (part.h), FACET_PART_COPY, and continue with the rest. */
struct facet_part;
struct facet_trap facet_xmem_move(struct facet_hart *h, uint64_t to, uint64_t from, uint64_t size);
struct facet_trap facet_xmem_move_rest(struct facet_hart *h, const struct facet_part *part);
/* Source, then destination (R-XM-44). No side effect. */
struct facet_trap facet_xmem_probe_copy(
    const struct facet_hart *h, uint64_t to, uint64_t to_size, uint64_t from, uint64_t from_size);

/* Locks the lines of a range (R-XM-24). */
void facet_xmem_lock(struct facet_hart *h, uint64_t address, uint64_t size);

static inline struct facet_trap facet_xmem_illegal(const struct facet_insn *in)
{
    return facet_hart_trap_make(FACET_CAUSE_ILLEGAL, in->word);
}

#endif
