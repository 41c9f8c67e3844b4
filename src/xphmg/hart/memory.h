/* Guest loads and stores as instructions make them: the window first, then the careful door, a
 * fault as a trap. Misaligned accesses work everywhere; atomics must be aligned. */
#ifndef FACET_XPHMG_HART_MEMORY_H
#define FACET_XPHMG_HART_MEMORY_H

#include "xphmg/hart/hart.h"

/* What is not in the window of RAM: a device may ask for the time and change what comes next. */
static inline void facet_hart_leave_ram(struct facet_hart *h)
{
    h->outside = true;
    if (h->host != NULL && h->host->catch_up != NULL) {
        h->host->catch_up(h->host->context, h);
    }
}

static inline struct facet_trap
facet_hart_load(struct facet_hart *h, uint64_t address, unsigned size, uint64_t *value)
{
    if (!facet_window_load(&h->ram, address, size, value)) {
        struct facet_mem_result result;

        facet_hart_leave_ram(h);
        result = facet_mem_read(h->mem, address, size, value);
        if (result.fault != FACET_MEM_OK) {
            return facet_hart_trap_make(FACET_CAUSE_LOAD_FAULT, result.address);
        }
    }
    if (facet_hart_listens(h)) {
        facet_port_memory(
            h->port, (uint32_t)h->hartid, 0, address, size, false, facet_value64(*value));
    }
    return FACET_RETIRED;
}

/* After bytes of memory have changed: what was decoded from them is stale. */
static inline void facet_hart_note_store(struct facet_hart *h, uint64_t address, unsigned size)
{
    if (h->code_lines != NULL && address - h->ram.base < h->ram.span + 15) { /* the whole region */
        uint64_t offset = address - h->ram.base;
        unsigned line = h->code_lines[offset >> FACET_CODE_LINE_BITS] |
                        h->code_lines[(offset + size - 1) >> FACET_CODE_LINE_BITS];

        h->code_written |= (line & FACET_LINE_CODE) != 0;
        h->outside |= (line & FACET_LINE_WATCHED) != 0;
    }
}

static inline struct facet_trap
facet_hart_store(struct facet_hart *h, uint64_t address, unsigned size, uint64_t value)
{
    uint64_t old = 0;

    if (facet_hart_listens(h)) {
        uint8_t bytes[8] = {0};

        (void)facet_mem_peek(h->mem, address, bytes, size); /* a device has no old value: 0 */
        old = facet_load_le64(bytes);
    }
    if (!facet_window_store(&h->ram, address, size, value)) {
        struct facet_mem_result result;

        facet_hart_leave_ram(h);
        result = facet_mem_write(h->mem, address, size, value);
        if (result.fault != FACET_MEM_OK) {
            return facet_hart_trap_make(FACET_CAUSE_STORE_FAULT, result.address);
        }
    }
    facet_hart_note_store(h, address, size);
    if (facet_hart_listens(h)) {
        facet_port_store(h->port,
                         (uint32_t)h->hartid,
                         0,
                         address,
                         size,
                         facet_value64(old),
                         facet_value64(value & facet_bits_mask(8 * size)));
    }
    return FACET_RETIRED;
}

/* Whether `size` bytes can be read or written, from the lowest address up; tval is the first bad
 * one. Looks at regions only and disturbs nothing, so a device may still refuse (R-XM-45). */
static inline struct facet_trap
facet_hart_probe(const struct facet_hart *h, uint64_t address, uint64_t size, bool write)
{
    while (size != 0) {
        const struct facet_mem_region *region = facet_mem_region_at(h->mem, address);
        uint64_t after;

        if (region == NULL || (write && region->kind == FACET_MEM_ROM)) {
            return facet_hart_trap_make(write ? FACET_CAUSE_STORE_FAULT : FACET_CAUSE_LOAD_FAULT,
                                        address);
        }
        after = region->base + (region->size - 1) - address;
        if (size - 1 <= after) {
            break;
        }
        address += after + 1;
        size -= after + 1;
    }
    return FACET_RETIRED;
}

#endif
