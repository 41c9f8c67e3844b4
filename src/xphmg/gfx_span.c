/* All lanes at once. GFX.SAMPLE for what nearly every program does: one bilinear RGBA8 texture from
 * the CSRs, in plain RAM, FP32 (gfx/span.h); and the results of any instruction whose window R is a
 * whole block of memory. What is left behind is that of the way lane by lane; when anything about a
 * lane could show (a fault, a trap, somebody who listens) that way is taken. */
#include "xphmg/gfx.h"

#include "base/bits.h"
#include "xphmg/memory.h"

/* The texture where it lies, NULL when it is not wholly plain RAM. */
static const uint8_t *texels_of(const struct facet_gfx_run *r)
{
    const struct facet_gfx_texture *t = &r->op.sample.texture;
    const uint64_t bytes = facet_gfx_span_bytes(t);

    if (FACET_XLDSBASE_RESET - t->base < bytes) { /* the LDS begins inside */
        return NULL;
    }
    return facet_elements_ram(&r->port, t->base, bytes);
}

/* u and v of the active lanes, one after the other; false when a read faults. */
static bool read_coordinates(const struct facet_gfx_run *r, uint32_t *u, uint32_t *v)
{
    const uint64_t bytes = UINT64_C(4) * r->vl;
    const bool plain = r->a.memory && r->port.container.bytes == 4 && r->a.address % 4 == 0 &&
                       FACET_XLDSBASE_RESET - r->a.address >= 2 * bytes;
    const uint8_t *memory = plain ? facet_elements_ram(&r->port, r->a.address, 2 * bytes) : NULL;
    unsigned k = 0;

    for (uint64_t left = r->lanes.active; left != 0; left &= left - 1, k++) {
        const unsigned lane = facet_ctz64(left);
        uint32_t uv[2];

        if (memory != NULL) {
            u[k] = facet_load_le32(memory + (size_t)4 * lane);
            v[k] = facet_load_le32(memory + bytes + (size_t)4 * lane);
            continue;
        }
        if (facet_gfx_read(r, &r->a, lane, 0, 2, uv).taken) {
            return false;
        }
        u[k] = uv[0];
        v[k] = uv[1];
    }
    return true;
}

bool facet_gfx_sample_span(struct facet_gfx_run *r)
{
    const struct facet_gfx_sample_op *op = &r->op.sample;
    uint32_t u[FACET_VLMAX], v[FACET_VLMAX], out[4][FACET_VLMAX];
    uint32_t *const into[4] = {out[0], out[1], out[2], out[3]};
    struct facet_gfx_sampling sampling;
    const uint8_t *texels;
    unsigned flags = 0, k = 0;

    if (r->in->row != FACET_XPHMG_GFX_SAMPLE || op->desc || op->tensor || r->lanes.active == 0) {
        return false;
    }
    sampling = op->sampling;
    sampling.srgb = op->f && op->texture.srgb;
    sampling.wrap = op->wrap_given ? sampling.wrap : op->texture.wrap;
    if (!facet_gfx_span_fits(&r->numbers, &op->texture, &sampling) ||
        (texels = texels_of(r)) == NULL || !read_coordinates(r, u, v)) {
        return false;
    }
    facet_gfx_span_sample(&r->numbers,
                          &op->texture,
                          &sampling,
                          texels,
                          u,
                          v,
                          facet_popcount64(r->lanes.active),
                          into,
                          &flags);
    if (facet_prec_hits(r->lanes.exc_en, r->lanes.eff.sae, flags) != 0) {
        return false; /* whose trap it is, only the other way tells */
    }
    for (unsigned i = 0; i < r->lanes.count; i++) {
        r->flags[i] = 0;
        if ((r->lanes.active >> i & 1) == 0) {
            continue;
        }
        r->flags[i] = k == 0 ? (uint16_t)flags : 0; /* only their union is seen */
        r->actor[i] = r->port.actor;
        for (unsigned c = 0; c < 4; c++) {
            r->kept.out[i][c] = out[c][k];
        }
        k++;
    }
    return true;
}

/* ---- results -----------------------------------------------------------------------------------
 */

static uint64_t block_start(const struct facet_gfx_run *r)
{
    return r->r.address + (uint64_t)r->first * r->vl * r->port.container.bytes;
}

bool facet_gfx_probe_block(const struct facet_gfx_run *r)
{
    const struct facet_container *c = &r->port.container;
    const uint64_t start = block_start(r), bytes = (uint64_t)r->slots * r->vl * c->bytes;
    const bool sampled =
        r->in->row == FACET_XPHMG_GFX_SAMPLE || r->in->row == FACET_XPHMG_GFX_SAMPLE_GATH;

    /* lanes with descriptors may write under policies of their own */
    return r->r.memory && c->pack == 0 && r->lanes.active == facet_bits_mask(r->vl) &&
           r->lanes.count == r->vl && !(sampled && r->op.sample.desc) && start % c->bytes == 0 &&
           FACET_XLDSBASE_RESET - start >= bytes &&
           facet_elements_ram(&r->port, start, bytes) != NULL &&
           !facet_xmem_probe(r->h, r->port.actor, start, bytes, true).taken;
}

void facet_gfx_write_block(const struct facet_gfx_run *r)
{
    const struct facet_container *c = &r->port.container;
    uint64_t address = block_start(r);

    for (unsigned k = 0; k < r->slots; k++) {
        for (unsigned lane = 0; lane < r->vl; lane++, address += c->bytes) {
            uint64_t bits = facet_container_put(c, 0, 0, r->kept.out[lane][k]);

            (void)facet_hart_store(r->h, address, c->bytes, bits); /* RAM that was probed */
        }
    }
}
