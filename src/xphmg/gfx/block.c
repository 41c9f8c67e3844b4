/* Results of all lanes at once, when window R is a whole block of plain RAM: one probe and a run of
 * stores in place of a probe and a store for each element. There is no observer then, so that the
 * order of the stores is not seen. */
#include "xphmg/gfx/gfx.h"

#include "base/bits.h"
#include "xphmg/hart/memory.h"

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

void facet_xphmg_gfx_write_block(const struct facet_xphmg_gfx_run *r)
{
    const struct facet_container *c = &r->port.container;
    uint64_t address = block_start(r);

    for (unsigned k = 0; k < r->slots; k++) {
        for (unsigned lane = 0; lane < r->vl; lane++, address += c->bytes) {
            if (lane < r->lanes.count && facet_lanes_active(&r->lanes, lane)) {
                uint64_t bits = facet_container_put(c, 0, 0, r->kept.out[lane][k]);

                (void)facet_hart_store(r->h, address, c->bytes, bits); /* RAM that was probed */
            }
        }
    }
}
