/* Address map, access checks and the memory model of one core (tile-semantics.md 6, 7, 8). */
#include "tile/core.h"

#include <string.h>

enum { FAULT_LOAD = 4, FAULT_STORE = 5, FAULT_CONST = 6, FAULT_MISALIGNED = 7, FAULT_ATOMIC = 8 };

/* ---- checks (6, 12) ---- */

static bool byte_permits(const struct facet_tile_core *c,
                         uint32_t address,
                         enum facet_tile_access access,
                         bool window)
{
    const struct facet_tile_machine *m = c->m;

    if (address - FACET_VRAM_BASE < m->vram_size ||
        address - FACET_TILE_SCRATCH_BASE < m->packet.shared_size) {
        return true;
    }
    if (address - FACET_TILE_IMEM_BASE < FACET_TILE_IMEM_BYTES) {
        return access == FACET_TILE_LOAD;
    }
    return window && address - FACET_TILE_SAMPLER_BASE < FACET_TILE_SAMPLER_BYTES;
}

static bool const_byte(const struct facet_tile_machine *m, uint32_t address)
{
    return address - m->packet.const_base < m->packet.const_size;
}

/* Causes 6, 5 and 4 have the address of the first byte that fails. */
static bool find_byte(const struct facet_tile_core *c,
                      const struct facet_tile_lanes *lanes,
                      enum facet_tile_access access,
                      bool constant,
                      uint32_t *address)
{
    for (uint32_t i = 0; i < lanes->count; i++) {
        bool window = lanes->window && lanes->address[i] % lanes->align == 0;

        for (uint32_t k = 0; k < lanes->size; k++) {
            *address = lanes->address[i] + k;
            if (constant ? const_byte(c->m, *address)
                         : !byte_permits(c, *address, access, window)) {
                return true;
            }
        }
    }
    return false;
}

/* Whether all lanes are aligned, in VRAM and, unless loaded, beside the constant region: then
 * nothing more is to be checked. Lanes are as wide as their alignment, which divides the size of
 * VRAM. */
static bool nothing_special(const struct facet_tile_core *c,
                            const struct facet_tile_lanes *lanes,
                            enum facet_tile_access access)
{
    const struct facet_tile_packet *p = &c->m->packet;
    uint32_t last = lanes->size - 1;
    bool special = lanes->size != lanes->align;

    for (uint32_t i = 0; i < lanes->count; i++) {
        uint32_t address = lanes->address[i];

        special |=
            (address & last) != 0 || address - FACET_VRAM_BASE >= c->m->vram_size ||
            (access != FACET_TILE_LOAD && address + last - p->const_base < p->const_size + last);
    }
    return !special;
}

struct facet_tile_fault facet_tile_check(const struct facet_tile_core *c,
                                         const struct facet_tile_lanes *lanes,
                                         enum facet_tile_access access,
                                         bool *misaligned)
{
    struct facet_tile_fault fault = {0, 0};

    *misaligned = false;
    if (nothing_special(c, lanes, access)) {
        return fault;
    }
    for (uint32_t i = 0; i < lanes->count && !*misaligned; i++) {
        *misaligned = lanes->address[i] % lanes->align != 0;
        fault.address = lanes->address[i];
    }
    if (*misaligned && (access == FACET_TILE_ATOMIC || (c->r.config & 0x200) != 0)) {
        fault.cause = access == FACET_TILE_ATOMIC ? FAULT_ATOMIC : FAULT_MISALIGNED;
        return fault;
    }
    if (access != FACET_TILE_LOAD && find_byte(c, lanes, access, true, &fault.address)) {
        fault.cause = FAULT_CONST;
    } else if (find_byte(c, lanes, access, false, &fault.address)) {
        fault.cause = access == FACET_TILE_LOAD ? FAULT_LOAD : FAULT_STORE;
    }
    return fault;
}

/* ---- caches (8.2) ---- */

static uint64_t byte_mask(uint32_t offset, uint32_t size)
{
    return (size >= 64 ? UINT64_MAX : (UINT64_C(1) << size) - 1) << (offset & 63);
}

/* Bytes of one line. */
static void read_line(struct facet_tile_core *c, uint32_t offset, uint8_t *out, uint32_t size)
{
    uint64_t mask = byte_mask(offset, size);
    uint32_t line = offset / 64;

    if (c->m->config.strong) {
        memcpy(out, c->m->vram + offset, size);
        return;
    }
    if ((c->cache.valid[line] & mask) != mask) {
        /* Byte by byte: the first that is not valid brings the line. Those before it were read, and
         * may be older than what is there now. */
        uint32_t first = facet_ctz64(~c->cache.valid[line] & mask) - offset % 64;

        memcpy(out, c->cache.data + offset, first);
        facet_tile_cache_fetch(&c->cache, c->m->vram, line);
        memcpy(out + first, c->cache.data + offset + first, size - first);
        return;
    }
    memcpy(out, c->cache.data + offset, size);
}

static void
write_line(struct facet_tile_core *c, uint32_t offset, const uint8_t *data, uint32_t size)
{
    uint64_t mask = byte_mask(offset, size);
    uint32_t line = offset / 64;

    if (c->m->config.strong) {
        memcpy(c->m->vram + offset, data, size);
        facet_tile_touch(c->m, offset, size);
        return;
    }
    if (c->cache.stamp[line] != c->cache.now) {
        facet_tile_cache_list_store(&c->cache, line);
    }
    memcpy(c->cache.data + offset, data, size);
    c->cache.valid[line] |= mask;
    c->cache.dirty[line] |= mask;
}

static uint32_t piece_in_line(uint32_t offset, uint32_t size)
{
    uint32_t left = 64 - offset % 64;

    return size < left ? size : left;
}

void facet_tile_read(struct facet_tile_core *c, uint32_t address, void *out, uint32_t size)
{
    struct facet_tile_machine *m = c->m;
    uint8_t *to = out;

    if (address - FACET_VRAM_BASE < m->vram_size) {
        for (uint32_t offset = address - FACET_VRAM_BASE; size > 0;) {
            uint32_t piece = piece_in_line(offset, size);

            read_line(c, offset, to, piece);
            offset += piece;
            to += piece;
            size -= piece;
        }
    } else if (address - FACET_TILE_SCRATCH_BASE < FACET_TILE_SCRATCH_BYTES) {
        memcpy(to, c->scratch.bytes + (address - FACET_TILE_SCRATCH_BASE), size);
    } else if (address - FACET_TILE_IMEM_BASE < FACET_TILE_IMEM_BYTES) {
        memcpy(to, m->imem + (address - FACET_TILE_IMEM_BASE), size);
    } else {
        memcpy(to, m->sampler + (address - FACET_TILE_SAMPLER_BASE), size);
    }
}

void facet_tile_write(struct facet_tile_core *c, uint32_t address, const void *data, uint32_t size)
{
    const uint8_t *from = data;

    if (address - FACET_VRAM_BASE < c->m->vram_size) {
        for (uint32_t offset = address - FACET_VRAM_BASE; size > 0;) {
            uint32_t piece = piece_in_line(offset, size);

            write_line(c, offset, from, piece);
            offset += piece;
            from += piece;
            size -= piece;
        }
    } else if (address - FACET_TILE_SCRATCH_BASE < FACET_TILE_SCRATCH_BYTES) {
        uint32_t offset = address - FACET_TILE_SCRATCH_BASE;

        if (c->cache.logs) {
            facet_tile_cache_log_scratch(&c->cache, offset, size);
        }
        memcpy(c->scratch.bytes + offset, from, size);
        facet_window_mark(&c->scratch, offset, size);
    } else if (c->cache.logs) { /* the sampler table, which other cores read */
        c->m->event = FACET_TILE_EVENT_TURN;
    } else {
        (void)facet_mem_poke(c->m->mem, address, from, size);
    }
}

void facet_tile_membar(struct facet_tile_core *c)
{
    facet_tile_cache_publish(c->m, &c->cache);
    facet_tile_cache_clear(&c->cache);
    facet_port_published(c->m->port, c->id, FACET_VRAM_BASE, c->m->vram_size); /* copies are gone */
}
