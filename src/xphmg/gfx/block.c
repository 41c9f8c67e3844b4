/* Results of all lanes at once, when window R is a whole block of plain RAM: one probe and a run of
 * stores in place of a probe and a store for each element. There is no observer then, so that the
 * order of the stores is not seen. */
#include "xphmg/gfx/gfx.h"

#include "base/bits.h"
#include "xphmg/hart/memory.h"

#include <string.h>

static uint64_t block_start(const struct facet_xphmg_gfx_run *r)
{
    return r->r.address + (uint64_t)r->first * r->vl * r->port.container.bytes;
}

bool facet_xphmg_gfx_probe_block(const struct facet_xphmg_gfx_run *r)
{
    const struct facet_container *c = &r->port.container;
    const uint64_t start = block_start(r), bytes = (uint64_t)r->slots * r->vl * c->bytes;
    const bool sampled =
        r->in->row == FACET_XPHMG_GFX_SAMPLE || r->in->row == FACET_XPHMG_GFX_SAMPLE_GATH;

    /* lanes with descriptors may write under policies of their own */
    return r->r.memory && c->pack == 0 && !(sampled && r->op.sample.desc) &&
           start % c->bytes == 0 && facet_elements_ram(&r->port, start, bytes) != NULL &&
           !facet_xmem_probe(r->h, r->port.actor, start, bytes, true).taken;
}

static uint32_t result_of(const struct facet_xphmg_gfx_run *r, unsigned k, unsigned lane)
{
    return r->columns ? r->kept.column[k][lane] : r->kept.out[lane][k];
}

static void store_words(uint8_t *restrict to, const uint32_t *restrict from, unsigned count)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(to, from, (size_t)4 * count);
#else
    for (unsigned k = 0; k < count; k++) {
        facet_store_le32(to + (size_t)4 * k, from[k]);
    }
#endif
}

/* All lanes of slot k. */
static void store_slot(const struct facet_xphmg_gfx_run *r, unsigned k, uint8_t *to)
{
    const unsigned bytes = r->port.container.bytes;

    if (r->columns && bytes == 4) {
        store_words(to, r->kept.column[k], r->vl);
        return;
    }
    for (unsigned lane = 0; lane < r->vl; lane++) {
        facet_store_le(to + (size_t)lane * bytes, bytes, result_of(r, k, lane));
    }
}

/* The active lanes of slot k, which is at `address`. */
static void
store_lanes(const struct facet_xphmg_gfx_run *r, unsigned k, uint8_t *to, uint64_t address)
{
    const unsigned bytes = r->port.container.bytes;

    for (uint64_t rest = r->lanes.active; rest != 0; rest &= rest - 1) {
        const unsigned lane = facet_ctz64(rest);

        facet_store_le(to + (size_t)lane * bytes, bytes, result_of(r, k, lane));
        facet_hart_note_store(r->h, address + (uint64_t)lane * bytes, bytes);
    }
}

/* Elements that fill their containers, into RAM by pointer; false: the window does not take them.
 * At most four slots of 64 lanes are less than a page. */
static bool write_plain(const struct facet_xphmg_gfx_run *r, uint64_t start, uint64_t bytes)
{
    const struct facet_container *c = &r->port.container;
    struct facet_hart *h = r->h;
    const uint64_t offset = start - h->ram.base;
    const uint64_t stride = (uint64_t)r->vl * c->bytes;
    const bool whole = r->lanes.active == facet_bits_mask(r->vl);

    if (c->nat != 8u * c->bytes || offset >= h->ram.store_span ||
        bytes > h->ram.store_span - offset) {
        return false;
    }
    FACET_FAST_WAY(MEM_WINDOW);
    for (unsigned k = 0; k < r->slots; k++) {
        uint8_t *to = h->ram.bytes + offset + k * stride;

        if (whole) {
            store_slot(r, k, to);
        } else {
            store_lanes(r, k, to, start + k * stride);
        }
    }
    facet_window_mark(&h->ram, offset, (unsigned)bytes);
    for (uint64_t at = 0; whole && at < bytes; at += FACET_CODE_LINE_BYTES) {
        const uint64_t rest = bytes - at;

        facet_hart_note_store(
            h, start + at, rest < FACET_CODE_LINE_BYTES ? (unsigned)rest : FACET_CODE_LINE_BYTES);
    }
    return true;
}

void facet_xphmg_gfx_write_block(const struct facet_xphmg_gfx_run *r)
{
    const struct facet_container *c = &r->port.container;
    uint64_t address = block_start(r);

    if (write_plain(r, address, (uint64_t)r->slots * r->vl * c->bytes)) {
        return;
    }
    for (unsigned k = 0; k < r->slots; k++) {
        for (unsigned lane = 0; lane < r->vl; lane++, address += c->bytes) {
            if (lane < r->lanes.count && facet_lanes_active(&r->lanes, lane)) {
                uint64_t bits = facet_container_put(c, 0, 0, result_of(r, k, lane));

                (void)facet_hart_store(r->h, address, c->bytes, bits); /* RAM that was probed */
            }
        }
    }
}
