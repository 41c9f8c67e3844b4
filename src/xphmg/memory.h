/* Guest loads and stores as instructions make them: the window first, then the careful door, a
 * fault as a trap. Misaligned accesses work everywhere; atomics must be aligned. */
#ifndef FACET_XPHMG_MEMORY_H
#define FACET_XPHMG_MEMORY_H

#include "xphmg/hart.h"

static inline struct facet_trap
facet_hart_load(struct facet_hart *h, uint64_t address, unsigned size, uint64_t *value)
{
    if (!facet_window_load(&h->ram, address, size, value)) {
        struct facet_mem_result result = facet_mem_read(h->mem, address, size, value);

        if (result.fault != FACET_MEM_OK) {
            return facet_trap_make(FACET_CAUSE_LOAD_FAULT, result.address);
        }
    }
    if (h->observer != NULL && h->observer->load != NULL) {
        h->observer->load(h->observer->context, address, size, *value);
    }
    return FACET_RETIRED;
}

static inline struct facet_trap
facet_hart_store(struct facet_hart *h, uint64_t address, unsigned size, uint64_t value)
{
    uint64_t old = 0;

    if (h->observer != NULL && h->observer->store != NULL) {
        (void)facet_mem_peek(h->mem, address, &old, size);
    }
    if (!facet_window_store(&h->ram, address, size, value)) {
        struct facet_mem_result result = facet_mem_write(h->mem, address, size, value);

        if (result.fault != FACET_MEM_OK) {
            return facet_trap_make(FACET_CAUSE_STORE_FAULT, result.address);
        }
    }
    if (h->code_lines != NULL && address - h->ram.base < h->ram.span) {
        uint64_t offset = address - h->ram.base;

        h->code_written |= (h->code_lines[offset >> FACET_CODE_LINE_BITS] |
                            h->code_lines[(offset + size - 1) >> FACET_CODE_LINE_BITS]) != 0;
    }
    if (h->observer != NULL && h->observer->store != NULL) {
        h->observer->store(h->observer->context, address, size, old, value);
    }
    return FACET_RETIRED;
}

#endif
