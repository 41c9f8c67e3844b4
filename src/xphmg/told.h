/* What the host tells a hart from outside: interrupt lines that it drives itself, a trap that the
 * hart takes next, and what its next loads and CSR reads give. Part of the state: snapshots hold
 * it. facet/xphmg.h has the verbs, R-RV-25 to R-RV-27 the rules. */
#ifndef FACET_XPHMG_TOLD_H
#define FACET_XPHMG_TOLD_H

#include "machine/state.h"

#include <facet/xphmg.h>

/* The value of one load, for addresses first..last, or of one read of the CSR with index `first`.
 */
struct facet_told_value {
    bool csr;
    uint64_t first, last;
    uint64_t value;
};

struct facet_told {
    bool waits;      /* interrupts are taken only when told (R-RV-26); survives a reset */
    uint64_t driven; /* a bit per interrupt whose line the host holds */
    uint64_t high;   /* its level; inside `driven` */
    bool trap;       /* the next step is this trap */
    uint64_t cause, value;
    bool kept; /* a reservation while others have the turn, and the bytes at it */
    uint64_t kept_bytes;
    uint32_t count; /* of what follows, oldest first */
    struct facet_told_value given[FACET_XPHMG_GIVEN_MAX];
};

/* The oldest value that is meant for a load of these bytes, which is gone from the queue then. */
bool facet_told_load(struct facet_told *told, uint64_t address, unsigned size, uint64_t *value);
/* By index of the table. */
bool facet_told_csr(struct facet_told *told, uint32_t index, uint64_t *value);

/* All but `waits` as after power-on. */
void facet_told_reset(struct facet_told *told);
void facet_told_visit(struct facet_told *told, struct facet_state_io *io);

#endif
