/* Guest loads and stores as instructions make them: the window first, then the careful door, a
 * fault as a trap. Misaligned accesses work everywhere, unless the configuration has them trap;
 * atomics must be aligned. */
#ifndef FACET_XPHMG_HART_MEMORY_H
#define FACET_XPHMG_HART_MEMORY_H

#include "xphmg/hart/hart.h"
#include "xphmg/told.h"

/* What is not in the window of RAM: a device may ask for the time and change what comes next. */
static inline void facet_hart_leave_ram(struct facet_hart *h)
{
    h->outside = true;
    if (h->host != NULL && h->host->catch_up != NULL) {
        h->host->catch_up(h->host->context, h);
    }
}

/* What stops a load or store of the base ISA before it looks for memory (R-CAP-68, R-CAP-69). */
static inline struct facet_trap
facet_hart_check(const struct facet_hart *h, uint64_t address, unsigned size, bool write)
{
    const struct facet_hart_choices *choices = &h->units.config->hart;

    if (choices->checks) {
        if (choices->misaligned_traps && (address & (size - 1)) != 0) {
            return facet_hart_trap_make(
                write ? FACET_CAUSE_STORE_MISALIGNED : FACET_CAUSE_LOAD_MISALIGNED, address);
        }
        if (choices->pmp == FACET_PMP_WORKS &&
            !facet_hart_pmp_access(h, address, size, write ? FACET_PMP_W : FACET_PMP_R)) {
            return facet_hart_trap_make(write ? FACET_CAUSE_STORE_FAULT : FACET_CAUSE_LOAD_FAULT,
                                        address);
        }
    }
    return FACET_RETIRED;
}

/* The first byte outside of RAM that PMP forbids, as a trap. */
static inline struct facet_trap
facet_hart_forbidden(const struct facet_hart *h, uint64_t address, uint64_t size, bool write)
{
    if (facet_hart_has_pmp(h)) {
        const uint64_t good =
            facet_hart_pmp_bytes(h, address, size, write ? FACET_PMP_W : FACET_PMP_R);

        if (good < size) {
            return facet_hart_trap_make(write ? FACET_CAUSE_STORE_FAULT : FACET_CAUSE_LOAD_FAULT,
                                        address + good);
        }
    }
    return FACET_RETIRED;
}

static inline struct facet_trap
facet_hart_load(struct facet_hart *h, uint64_t address, unsigned size, uint64_t *value)
{
    if (!facet_window_load(&h->ram, address, size, value)) {
        struct facet_trap trap = facet_hart_forbidden(h, address, size, false);
        struct facet_mem_result result;

        if (trap.taken) {
            return trap;
        }
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

/* The load of an instruction of the base set, of which the host may have given the value. */
static inline struct facet_trap
facet_hart_load_data(struct facet_hart *h, uint64_t address, unsigned size, uint64_t *value)
{
    if (h->told != NULL && h->told->count != 0 && facet_told_load(h->told, address, size, value)) {
        if (facet_hart_listens(h)) {
            facet_port_memory(
                h->port, (uint32_t)h->hartid, 0, address, size, false, facet_value64(*value));
        }
        return FACET_RETIRED;
    }
    return facet_hart_load(h, address, size, value);
}

/* After bytes of memory have changed: what was decoded from them is stale. */
static inline void facet_hart_note_store(struct facet_hart *h, uint64_t address, unsigned size)
{
    if (h->code_lines != NULL &&
        address - h->ram.base < h->ram.span + h->shut_span + 15) { /* the whole region */
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
        struct facet_trap trap = facet_hart_forbidden(h, address, size, true);
        struct facet_mem_result result;

        if (trap.taken) {
            return trap;
        }
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

/* The first byte without memory, as a trap. */
static inline struct facet_trap
facet_hart_missing(const struct facet_hart *h, uint64_t address, uint64_t size, bool write)
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

/* Whether `size` bytes can be read or written, from the lowest address up; tval is the first bad
 * one. Looks at regions only and disturbs nothing, so a device may still refuse (R-XM-45). */
static inline struct facet_trap
facet_hart_probe(const struct facet_hart *h, uint64_t address, uint64_t size, bool write)
{
    struct facet_trap forbidden = facet_hart_forbidden(h, address, size, write), missing;

    missing =
        facet_hart_missing(h, address, forbidden.taken ? forbidden.tval - address : size, write);
    return missing.taken ? missing : forbidden;
}

#endif
