/* GFX.SAMPLE and GFX.SAMPLE.GATH: the texture of a lane, its coordinates, texels through XMEM.
 *
 * Spec: gfx-semantics.md 2.3, 3.4, 5.3, 6, 7, 8; R-GFX-24, R-GFX-25, R-XM-38. */
#include "base/bits.h"
#include "xphmg/gfx/gfx.h"

_Static_assert(FACET_FIELD_GFX_SAMPLE_D == FACET_FIELD_GFX_SAMPLE_GATH_D, "read alike");

static struct facet_trap sample_lane(struct facet_xphmg_gfx_run *r, unsigned lane, unsigned *flags);
static struct facet_trap gather_lane(struct facet_xphmg_gfx_run *r, unsigned lane, unsigned *flags);
static bool sample_all(struct facet_xphmg_gfx_run *r);

unsigned facet_xphmg_gfx_sample_prepare(struct facet_xphmg_gfx_run *r)
{
    struct facet_xphmg_gfx_sample_op *op = &r->op.sample;
    uint64_t cfg = FACET_XPHMG_GFX_CSR(&r->csr, CFG);
    bool gather = r->in->row == FACET_XPHMG_GFX_SAMPLE_GATH;

    r->lane = gather ? gather_lane : sample_lane;
    r->batch = gather ? NULL : sample_all;
    r->result = FACET_XPHMG_GFX_TO_WINDOW;
    r->first = 0;
    r->slots = 4;
    op->desc = FACET_XPHMG_GFX_FIELD(r, SAMPLE_D) != 0;
    op->tensor = false;
    op->sampling = (struct facet_gfx_sampling){0};
    if (gather) {
        op->f = true; /* the enable alone decides */
        op->wrap_given = false;
        op->sampling.bilinear = (cfg & FACET_GFXCFG_FILTER_DFLT) != 0;
        op->taps = (uint8_t)FACET_XPHMG_GFX_FIELD(r, SAMPLE_GATH_N);
        op->weighted = FACET_XPHMG_GFX_FIELD(r, SAMPLE_GATH_P) != 0;
        op->is_signed = FACET_XPHMG_GFX_FIELD(r, SAMPLE_GATH_S) != 0;
    } else {
        op->f = FACET_XPHMG_GFX_FIELD(r, SAMPLE_F) != 0;
        op->wrap_given = FACET_XPHMG_GFX_FIELD(r, SAMPLE_W) != 0;
        op->tensor = FACET_XPHMG_GFX_FIELD(r, SAMPLE_T) != 0;
        op->sampling.wrap = (uint8_t)FACET_XPHMG_GFX_FIELD(r, SAMPLE_WRAP);
        op->sampling.raw = (cfg & FACET_GFXCFG_CONVERT_EN) == 0;
        op->sampling.bilinear = FACET_XPHMG_GFX_FIELD(r, SAMPLE_M) != 0 && !op->sampling.raw;
    }
    return facet_xphmg_gfx_lacks_f(r, !op->desc, op->desc, true) ? FACET_CAUSE_ILLEGAL : 0;
}

bool facet_xphmg_gfx_sample_texture(struct facet_xphmg_gfx_run *r)
{
    const struct facet_xphmg_gfx *csr = &r->csr;
    const struct facet_gfx_texture_csrs state = {
        .cfg = FACET_XPHMG_GFX_CSR(csr, CFG),
        .wrap = FACET_GET(FACET_XPHMG_GFX_CSR(csr, CFG), GFXCFG_WRAP_DFLT),
        .base = FACET_XPHMG_GFX_CSR(csr, TEXBASE),
        .pitch = FACET_XPHMG_GFX_CSR(csr, TEXPITCH),
        .wh = FACET_XPHMG_GFX_CSR(csr, TEXWH),
        .fmt = FACET_XPHMG_GFX_CSR(csr, TEXFMT),
        .stride1 = FACET_XPHMG_GFX_CSR(csr, TEXSTRIDE1),
        .border = {FACET_XPHMG_GFX_CSR(csr, BORDERC)[0], FACET_XPHMG_GFX_CSR(csr, BORDERC)[1]},
    };

    return r->op.sample.desc || facet_gfx_texture_of_csrs(&state,
                                                          (enum facet_format)r->lanes.eff.elem,
                                                          &r->op.sample.texture);
}

/* ---- memory ------------------------------------------------------------------------------------
 */

/* Accesses of one lane, and what stopped them. */
struct lane_memory {
    struct facet_element_port port;
    struct facet_trap trap;
};

static bool load_texel(void *context, uint64_t address, unsigned bytes, uint32_t *word)
{
    struct lane_memory *m = context;
    uint64_t value = 0;

    m->trap = facet_elements_load(&m->port, address, bytes, &value);
    *word = (uint32_t)value;
    return !m->trap.taken;
}

/* `size` bytes in aligned words of eight. */
static struct facet_trap
read_bytes(const struct facet_element_port *port, uint64_t address, unsigned size, uint8_t *bytes)
{
    struct facet_trap trap = FACET_RETIRED;

    for (unsigned at = 0; at < size && !trap.taken; at += 8) {
        uint64_t word = 0;

        trap = facet_elements_load(port, address + at, 8, &word);
        facet_store_le64(bytes + at, word);
    }
    return trap;
}

/* The trailer of a descriptor: five of its fields replace defaults for the rest of the lane. */
static struct facet_trap
read_trailer(struct facet_xphmg_gfx_run *r, unsigned lane, uint64_t desc, struct lane_memory *m)
{
    struct facet_hart *h = r->h;
    struct facet_xphmg_memctl_fields memctl;
    uint8_t bytes[FACET_XPHMG_MEMCTL_SIZE];
    struct facet_trap trap = read_bytes(&m->port, desc + FACET_GFX_TRAILER_AT, sizeof bytes, bytes);
    struct facet_xmem_job policy;

    if (trap.taken) {
        return trap;
    }
    facet_xphmg_memctl_unpack(bytes, &memctl);
    policy = facet_xmem_policy(h, m->port.actor, &memctl);
    m->port.actor = r->actor[lane] = policy.actor;
    facet_hart_unit(h,
                    "gfx",
                    "trailer",
                    6,
                    (uint64_t[]){policy.actor.dom,
                                 policy.actor.sec,
                                 policy.mclass,
                                 policy.sprof,
                                 lane,
                                 memctl.hyb != 0 ? memctl.hyb
                                                 : FACET_GET(FACET_XMEM_CSR(h, DESCPOL),
                                                             CAP_XMEM_DESCPOL_HYB_ENABLE)});
    return trap;
}

/* The texture of a lane in descriptor mode. */
static struct facet_trap read_texture(struct facet_xphmg_gfx_run *r,
                                      unsigned lane,
                                      struct lane_memory *m,
                                      struct facet_gfx_texture *texture)
{
    uint64_t address = r->h->x[(unsigned)(r->a.base + (int)lane * r->a.inc) & 31];
    uint8_t desc[FACET_XPHMG_TEXTURE_DESC_SIZE];
    struct facet_trap trap;

    if (address % FACET_XPHMG_TEXTURE_DESC_ALIGN != 0) {
        return facet_xmem_fault(
            r->h, m->port.actor, facet_hart_trap_make(FACET_CAUSE_LOAD_MISALIGNED, address));
    }
    trap = read_bytes(&m->port, address, sizeof desc, desc);
    if (trap.taken) {
        return trap;
    }
    if (!facet_gfx_texture_of_desc(desc, (enum facet_format)r->lanes.eff.elem, texture)) {
        facet_prec_raise(&r->h->units.cap.prec, FACET_UNSUP);
        return facet_hart_trap_make(FACET_CAUSE_UNSUPPORTED, r->in->word);
    }
    return texture->memctl ? read_trailer(r, lane, address, m) : trap;
}

/* Coordinates, then the texture: what both instructions begin with. */
static struct facet_trap begin_lane(struct facet_xphmg_gfx_run *r,
                                    unsigned lane,
                                    uint32_t uv[4],
                                    struct lane_memory *m,
                                    struct facet_gfx_texture *own,
                                    const struct facet_gfx_texture **texture,
                                    struct facet_gfx_sampling *sampling)
{
    const struct facet_xphmg_gfx_sample_op *op = &r->op.sample;
    struct facet_trap trap =
        facet_xphmg_gfx_read(r, op->desc ? &r->b : &r->a, lane, 0, op->tensor ? 4 : 2, uv);

    m->port = r->port;
    if (op->desc && !trap.taken) {
        trap = read_texture(r, lane, m, own);
    }
    *texture = op->desc ? own : &op->texture;
    *sampling = op->sampling;
    if (!trap.taken) {
        sampling->srgb = op->f && (*texture)->srgb;
        sampling->wrap = op->wrap_given ? sampling->wrap : (*texture)->wrap;
    }
    return trap;
}

/* ---- lanes -------------------------------------------------------------------------------------
 */

static struct facet_trap sample_lane(struct facet_xphmg_gfx_run *r, unsigned lane, unsigned *flags)
{
    struct facet_gfx_texture own;
    const struct facet_gfx_texture *texture;
    struct facet_gfx_sampling sampling;
    struct facet_gfx_sample sample;
    struct lane_memory m;
    uint32_t uv[4];
    struct facet_trap trap = begin_lane(r, lane, uv, &m, &own, &texture, &sampling);

    if (trap.taken) {
        return trap;
    }
    facet_gfx_sample_plan(&r->numbers, texture, &sampling, uv, r->op.sample.tensor, &sample, flags);
    if (!facet_gfx_sample_fetch(texture, &sample, load_texel, &m)) {
        return m.trap;
    }
    facet_gfx_sample_finish(
        &r->numbers, texture, &sampling, &sample, r->kept.out[lane], NULL, flags);
    return FACET_RETIRED;
}

static struct facet_trap gather_lane(struct facet_xphmg_gfx_run *r, unsigned lane, unsigned *flags)
{
    const struct facet_xphmg_gfx_sample_op *op = &r->op.sample;
    struct facet_gfx_texture own;
    const struct facet_gfx_texture *texture;
    struct facet_gfx_sampling sampling;
    struct facet_gfx_gather gather;
    struct lane_memory m;
    uint32_t uv[4], table[3 * FACET_GFX_TAPS_MAX];
    unsigned elements;
    struct facet_trap trap = begin_lane(r, lane, uv, &m, &own, &texture, &sampling);

    if (trap.taken) {
        return trap;
    }
    elements = facet_gfx_gather_begin(
        &r->numbers, texture, uv, facet_gfx_gather_count(op->taps, texture, flags), &gather, flags);
    trap = facet_elements_read(&m.port, FACET_XPHMG_GFX_CSR(&r->csr, GATHBASE), 0, elements, table);
    if (trap.taken) {
        return trap;
    }
    facet_gfx_gather_plan(
        &r->numbers, texture, &sampling, table, op->weighted, op->is_signed, &gather, flags);
    if (!facet_gfx_gather_fetch(texture, &gather, load_texel, &m)) {
        return m.trap;
    }
    facet_gfx_gather_finish(
        &r->numbers, texture, &sampling, &gather, r->kept.out[lane], NULL, flags);
    return FACET_RETIRED;
}

/* ---- all lanes together ------------------------------------------------------------------------
 */

/* Reading these slots of all lanes cannot fail: registers, or plain RAM. */
static bool readable(const struct facet_xphmg_gfx_run *r,
                     const struct facet_xphmg_gfx_window *w,
                     unsigned slots)
{
    const struct facet_container *c = &r->port.container;
    uint64_t bytes = facet_container_array_bytes(c, (uint64_t)slots * r->vl);

    return !w->memory ||
           (w->address % c->bytes == 0 && facet_elements_ram(&r->port, w->address, bytes) != NULL);
}

/* u and v of lane i, where reading cannot fail; the common case is FP32 in plain RAM. */
static void read_uv(
    const struct facet_xphmg_gfx_run *r, const uint8_t *plain, unsigned i, uint32_t *u, uint32_t *v)
{
    uint32_t uv[2];

    if (plain != NULL) {
        *u = facet_load_le32(plain + (size_t)4 * i);
        *v = facet_load_le32(plain + (size_t)4 * (r->vl + i));
        return;
    }
    (void)facet_xphmg_gfx_read(r, &r->a, i, 0, 2, uv);
    *u = uv[0];
    *v = uv[1];
}

/* Plain bilinear samples of a texture in plain RAM (gfx/span.h). Which lane raised a flag
 * matters only when a flag traps. */
static bool sample_all(struct facet_xphmg_gfx_run *r)
{
    const struct facet_xphmg_gfx_sample_op *op = &r->op.sample;
    const struct facet_gfx_texture *texture = &op->texture;
    struct facet_gfx_sampling sampling = op->sampling;
    uint32_t u[FACET_VLMAX], v[FACET_VLMAX], out[4][FACET_VLMAX];
    uint32_t *const into[4] = {out[0], out[1], out[2], out[3]};
    uint8_t lane[FACET_VLMAX];
    const uint8_t *texels, *plain = NULL;
    unsigned count = 0, flags = 0;

    if (op->desc || op->tensor || !readable(r, &r->a, 2)) {
        return false;
    }
    sampling.srgb = op->f && texture->srgb;
    sampling.wrap = op->wrap_given ? sampling.wrap : texture->wrap;
    if (!facet_gfx_span_fits(&r->numbers, texture, &sampling)) {
        return false;
    }
    texels = facet_elements_ram(&r->port, texture->base, facet_gfx_span_bytes(texture));
    if (texels == NULL) {
        return false;
    }
    if (r->a.memory && r->port.container.bytes == 4) { /* spans have FP32 elements */
        plain = facet_elements_ram(&r->port, r->a.address, UINT64_C(8) * r->vl);
    }
    for (unsigned i = 0; i < r->lanes.count; i++) {
        r->flags[i] = 0;
        if (facet_lanes_active(&r->lanes, i)) {
            r->actor[i] = r->port.actor;
            lane[count] = (uint8_t)i;
            read_uv(r, plain, i, &u[count], &v[count]);
            count++;
        }
    }
    facet_gfx_span_sample(&r->numbers, texture, &sampling, texels, u, v, count, into, &flags);
    if (facet_prec_hits(r->lanes.exc_en, r->lanes.eff.sae, flags) != 0) {
        return false;
    }
    for (unsigned k = 0; k < count; k++) {
        r->flags[lane[k]] = (uint16_t)flags;
        for (unsigned c = 0; c < 4; c++) {
            r->kept.out[lane[k]][c] = out[c][k];
        }
    }
    return true;
}
