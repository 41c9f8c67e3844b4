/* See again.h. */
#include "xphmg/gfx/again.h"

#include "gfx/span.h"

#include <string.h>

/* Nobody listens, no flag traps, nothing is masked, no fault hides. */
static bool is_usual(const struct facet_hart *h)
{
    const uint64_t state = h->units.rsv.svstate;

    return (state & (FACET_SVSTATE_EN | FACET_SVSTATE_FPC_V | FACET_SVSTATE_PBANK)) ==
               FACET_SVSTATE_EN &&
           (h->units.cap.xmem.svmscl & FACET_CAP_XMEM_SVMSCL_FOF) == 0 &&
           h->units.cap.prec.exc_en == 0 && !facet_hart_listens(h);
}

void facet_xphmg_gfx_keep(const struct facet_xphmg_gfx_run *r,
                          const struct facet_gfx_sampling *sampling)
{
    const struct facet_hart *h = r->h;
    struct facet_xphmg_gfx_kept *kept = h->gfx_kept;

    if (kept == NULL || !is_usual(h) || !r->direct || r->lanes.eff.q) {
        return;
    }
    kept->known = true;
    kept->word = r->in->word;
    kept->mode = h->units.cap.prec.image[FACET_PREC_MODE];
    kept->alt = h->units.cap.prec.image[FACET_PREC_ALT];
    kept->svstate = h->units.rsv.svstate;
    kept->svsrca = h->units.rsv.svsrca;
    kept->svdst = h->units.rsv.svdst;
    kept->csr = h->units.gfx;
    kept->lanes = r->vl;
    kept->from = r->a.base;
    kept->to = r->r.base;
    kept->numbers = r->numbers;
    kept->texture = r->op.sample.texture;
    kept->sampling = *sampling;
    kept->texture_bytes = facet_gfx_span_bytes(&kept->texture);
}

static bool is_kept(const struct facet_hart *h, const struct facet_insn *in)
{
    const struct facet_xphmg_gfx_kept *kept = h->gfx_kept;
    const struct facet_units *units = &h->units;

    return kept != NULL && kept->known && kept->word == in->word &&
           kept->svstate == units->rsv.svstate && kept->svsrca == units->rsv.svsrca &&
           kept->svdst == units->rsv.svdst &&
           kept->mode == units->cap.prec.image[FACET_PREC_MODE] &&
           kept->alt == units->cap.prec.image[FACET_PREC_ALT] && is_usual(h) &&
           memcmp(&kept->csr, &units->gfx, sizeof kept->csr) == 0;
}

bool facet_xphmg_gfx_again(struct facet_hart *h, const struct facet_insn *in)
{
    const struct facet_xphmg_gfx_kept *kept = h->gfx_kept;
    const struct facet_element_port port = {.h = h};
    struct facet_lanes lanes = {.rsv = true, .word = in->word};
    unsigned flags = h->units.cap.prec.exc_st & FACET_NX, stride, bytes;
    uint64_t from, to;
    const uint8_t *uv, *texels;
    uint8_t *out;

    if (!is_kept(h, in)) {
        return false;
    }
    lanes.count = kept->lanes;
    lanes.active = UINT64_MAX >> (64 - kept->lanes);
    from = h->x[kept->from];
    to = h->x[kept->to];
    stride = 4u * kept->lanes;
    bytes = 4 * stride;
    uv = facet_elements_ram(&port, from, UINT64_C(2) * stride);
    out = facet_elements_open(&port, to, bytes);
    texels = facet_elements_ram(&port, kept->texture.base, kept->texture_bytes);
    if (((from | to) & 3) != 0 || uv == NULL || out == NULL || texels == NULL ||
        !facet_xphmg_gfx_apart(out, bytes, uv, UINT64_C(2) * stride) ||
        !facet_xphmg_gfx_apart(out, bytes, texels, kept->texture_bytes)) {
        return false;
    }
    facet_gfx_span_sample(&kept->numbers,
                          &kept->texture,
                          &kept->sampling,
                          texels,
                          (const uint32_t *)(const void *)uv,
                          (const uint32_t *)(const void *)(uv + stride),
                          kept->lanes,
                          (uint32_t *const[4]){(uint32_t *)(void *)out,
                                               (uint32_t *)(void *)(out + stride),
                                               (uint32_t *)(void *)(out + (size_t)2 * stride),
                                               (uint32_t *)(void *)(out + (size_t)3 * stride)},
                          &flags);
    facet_elements_stored(h, to, bytes);
    facet_prec_raise(&h->units.cap.prec, flags);
    facet_lanes_retire(h, &lanes, true, true);
    return true;
}
