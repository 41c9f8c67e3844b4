/* Results of all lanes at once, when window R is a whole block of plain RAM: one probe and a run of
 * stores in place of a probe and a store for each element. There is no observer then, so that the
 * order of the stores is not seen. */
#include "xphmg/gfx/gfx.h"

#include "base/bits.h"
#include "xphmg/hart/memory.h"

#include <string.h>

enum { LITTLE_ENDIAN_HOST = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

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
           start % c->bytes == 0 && facet_elements_open(&r->port, start, bytes) != NULL;
}

static uint32_t result_of(const struct facet_xphmg_gfx_run *r, unsigned k, unsigned lane)
{
    return r->columns ? r->kept.column[k][lane] : r->kept.out[lane][k];
}

/* All lanes of slot k. */
static void store_slot(const struct facet_xphmg_gfx_run *r, unsigned k, uint8_t *to)
{
    const unsigned bytes = r->port.container.bytes;

    if (r->columns && bytes == 4 && LITTLE_ENDIAN_HOST) {
        memcpy(to, r->kept.column[k], (size_t)4 * r->vl);
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
        facet_elements_stored(r->h, address + (uint64_t)lane * bytes, bytes);
    }
}

/* Where results of all lanes go that fill their containers; NULL: the window does not take them. */
static uint8_t *open_block(const struct facet_xphmg_gfx_run *r)
{
    const struct facet_container *c = &r->port.container;

    return c->nat == 8u * c->bytes ? facet_elements_open(&r->port,
                                                         block_start(r),
                                                         (uint64_t)r->slots * r->vl * c->bytes)
                                   : NULL;
}

bool facet_xphmg_gfx_open_columns(struct facet_xphmg_gfx_run *r,
                                  const uint8_t *inputs[2],
                                  const uint64_t sizes[2],
                                  uint32_t *columns[4])
{
    const uint64_t stride = UINT64_C(4) * r->vl;
    uint8_t *to;

    if (!LITTLE_ENDIAN_HOST || r->port.container.bytes != 4 ||
        r->lanes.active != facet_bits_mask(r->vl) || !facet_xphmg_gfx_probe_block(r)) {
        return false;
    }
    to = open_block(r);
    for (unsigned k = 0; k < 2 && to != NULL; k++) {
        to = facet_xphmg_gfx_apart(to, r->slots * stride, inputs[k], sizes[k]) ? to : NULL;
    }
    for (unsigned k = 0; to != NULL && k < r->slots; k++) {
        columns[k] = (uint32_t *)(void *)(to + k * stride);
    }
    r->direct = to != NULL;
    return r->direct;
}

/* Into RAM by pointer. */
static bool write_plain(const struct facet_xphmg_gfx_run *r, uint64_t start, unsigned bytes)
{
    const uint64_t stride = (uint64_t)r->vl * r->port.container.bytes;
    const bool whole = r->lanes.active == facet_bits_mask(r->vl);
    uint8_t *to = open_block(r);

    for (unsigned k = 0; to != NULL && k < r->slots && !r->direct; k++) {
        if (whole) {
            store_slot(r, k, to + k * stride);
        } else {
            store_lanes(r, k, to + k * stride, start + k * stride);
        }
    }
    if (to != NULL && whole) {
        facet_elements_stored(r->h, start, bytes);
    }
    return to != NULL;
}

void facet_xphmg_gfx_write_block(const struct facet_xphmg_gfx_run *r)
{
    const struct facet_container *c = &r->port.container;
    uint64_t address = block_start(r);

    if (write_plain(r, address, (unsigned)r->slots * r->vl * c->bytes)) {
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
