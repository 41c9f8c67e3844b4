/* Descriptors and other structures of spec/ *.layout.tsv, chosen by the input: mostly what a
 * machine takes, now and then anything. */
#ifndef FACET_FUZZ_STRUCTURES_H
#define FACET_FUZZ_STRUCTURES_H

#include "fuzz/choice.h"
#include "isa/table.h"

/* Where addresses lead: multiples of 64 from base on, below base + size. */
struct facet_fuzz_place {
    uint64_t base;
    uint64_t size;
};

/* A structure of the machine ("xphmg", "tile"), chosen by one byte, into `out`; no more than `room`
 * bytes. Elements are of 1, 2, 4 or 8 bytes. */
void facet_fuzz_structure(struct fuzz_bytes *in,
                          const char *machine,
                          unsigned element,
                          const struct facet_fuzz_place *place,
                          uint8_t *out,
                          size_t room);
/* The one of that name, which must exist. */
void facet_fuzz_structure_named(struct fuzz_bytes *in,
                                const char *name,
                                unsigned element,
                                const struct facet_fuzz_place *place,
                                uint8_t *out,
                                size_t room);

#endif
