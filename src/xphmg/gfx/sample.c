/* GFX.SAMPLE and GFX.SAMPLE.GATH: the texture of a lane, its coordinates, texels through XMEM.
 *
 * Spec: gfx-semantics.md 2.3, 3.4, 5.3, 6, 7, 8; R-GFX-24, R-GFX-25, R-XM-38. */
#include "base/bits.h"
#include "xphmg/gfx/again.h"

_Static_assert(FACET_FIELD_GFX_SAMPLE_D == FACET_FIELD_GFX_SAMPLE_GATH_D, "read alike");

static struct facet_trap sample_lane(struct facet_xphmg_gfx_run *r, unsigned lane, unsigned *flags);
static struct facet_trap gather_lane(struct facet_xphmg_gfx_run *r, unsigned lane, unsigned *flags);
static bool sample_all(struct facet_xphmg_gfx_run *r);
static bool gather_all(struct facet_xphmg_gfx_run *r);

unsigned facet_xphmg_gfx_sample_prepare(struct facet_xphmg_gfx_run *r)
{
    struct facet_xphmg_gfx_sample_op *op = &r->op.sample;
    uint64_t cfg = FACET_XPHMG_GFX_CSR(r->csr, CFG);
    bool gather = r->in->row == FACET_XPHMG_GFX_SAMPLE_GATH;

    r->lane = gather ? gather_lane : sample_lane;
    r->batch = gather ? gather_all : sample_all;
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
    const struct facet_xphmg_gfx *csr = r->csr;
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
    trap = facet_elements_read(&m.port, FACET_XPHMG_GFX_CSR(r->csr, GATHBASE), 0, elements, table);
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

/* The active lanes, one behind the other. */
struct batch {
    struct facet_gfx_sampling sampling;
    const uint8_t *texels;
    unsigned count;
    bool whole; /* all lanes are active: results go to r->kept.column or window R, else to `own` */
    const uint32_t *u, *v;
    uint32_t *out[4];
    uint8_t lane[FACET_VLMAX]; /* not whole */
    uint32_t uv[2][FACET_VLMAX];
    uint32_t own[4][FACET_VLMAX];
};

/* u and v of all active lanes, where reading cannot fail; true: they are in RAM itself. */
static bool read_coordinates(struct facet_xphmg_gfx_run *r, struct batch *b)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (b->whole && r->a.words != NULL) {
        b->count = r->vl;
        b->u = (const uint32_t *)(const void *)r->a.words;
        b->v = b->u + r->vl;
        return true;
    }
#endif
    b->u = b->uv[0];
    b->v = b->uv[1];
    b->count = 0;
    for (uint64_t rest = r->lanes.active; rest != 0; rest &= rest - 1) {
        const unsigned i = facet_ctz64(rest);
        uint32_t uv[2];

        (void)facet_xphmg_gfx_read(r, &r->a, i, 0, 2, uv);
        b->lane[b->count] = (uint8_t)i;
        b->uv[0][b->count] = uv[0];
        b->uv[1][b->count++] = uv[1];
    }
    return false;
}

/* Can all lanes sample together (gfx/span.h)? The texture and the coordinates must be such that
 * reading cannot fail. */
static bool begin_batch(struct facet_xphmg_gfx_run *r, struct batch *b)
{
    const struct facet_xphmg_gfx_sample_op *op = &r->op.sample;
    const struct facet_gfx_texture *texture = &op->texture;
    uint64_t size;

    if (op->desc || op->tensor || !readable(r, &r->a, 2)) {
        return false;
    }
    b->sampling = op->sampling;
    b->sampling.srgb = op->f && texture->srgb;
    b->sampling.wrap = op->wrap_given ? op->sampling.wrap : texture->wrap;
    if (!facet_gfx_span_fits(&r->numbers, texture, &b->sampling)) {
        return false;
    }
    size = facet_gfx_span_bytes(texture);
    b->texels = facet_elements_ram(&r->port, texture->base, size);
    if (b->texels == NULL) {
        return false;
    }
    b->whole = r->lanes.active == facet_bits_mask(r->vl);
    for (unsigned c = 0; c < 4; c++) {
        b->out[c] = b->whole ? r->kept.column[c] : b->own[c];
    }
    if (read_coordinates(r, b) &&
        facet_prec_hits(r->lanes.exc_en, r->lanes.eff.sae, FACET_FLAGS_IEEE) == 0) {
        const uint8_t *inputs[2] = {r->a.words, b->texels};
        const uint64_t sizes[2] = {UINT64_C(8) * r->vl, size};

        (void)facet_xphmg_gfx_open_columns(r, inputs, sizes, b->out);
    }
    return true;
}

/* Which lane raised a flag matters only when a flag traps. */
static bool end_batch(struct facet_xphmg_gfx_run *r, const struct batch *b, unsigned flags)
{
    if (facet_prec_hits(r->lanes.exc_en, r->lanes.eff.sae, flags) != 0) {
        return false;
    }
    r->together = true;
    r->raised = (uint16_t)flags;
    r->columns = true;
    for (unsigned k = 0; !b->whole && k < b->count; k++) {
        for (unsigned c = 0; c < 4; c++) {
            r->kept.column[c][b->lane[k]] = b->own[c][k];
        }
    }
    return true;
}

static bool sample_all(struct facet_xphmg_gfx_run *r)
{
    struct batch b;
    unsigned flags = r->lanes.raised;

    if (!begin_batch(r, &b)) {
        return false;
    }
    facet_gfx_span_sample(&r->numbers,
                          &r->op.sample.texture,
                          &b.sampling,
                          b.texels,
                          b.u,
                          b.v,
                          b.count,
                          b.out,
                          &flags);
    facet_xphmg_gfx_keep(r, &b.sampling);
    return end_batch(r, &b, flags);
}

/* All lanes read the same table. */
static bool gather_all(struct facet_xphmg_gfx_run *r)
{
    const struct facet_xphmg_gfx_sample_op *op = &r->op.sample;
    const uint64_t base = FACET_XPHMG_GFX_CSR(r->csr, GATHBASE);
    const struct facet_container *c = &r->port.container;
    uint32_t table[3 * FACET_GFX_TAPS_MAX];
    struct batch b;
    unsigned flags = r->lanes.raised, taps = facet_gfx_gather_count(op->taps, &op->texture, &flags);

    if (taps == 0 || base % c->bytes != 0 ||
        facet_elements_ram(&r->port, base, facet_container_array_bytes(c, UINT64_C(3) * taps)) ==
            NULL ||
        !begin_batch(r, &b)) {
        return false;
    }
    (void)facet_elements_read(&r->port, base, 0, 3 * taps, table); /* plain RAM */
    if (!facet_gfx_span_gather(&r->numbers,
                               &op->texture,
                               &b.sampling,
                               b.texels,
                               table,
                               taps,
                               op->weighted,
                               op->is_signed,
                               b.u,
                               b.v,
                               b.count,
                               b.out,
                               &flags)) {
        r->direct = false;
        return false;
    }
    return end_batch(r, &b, flags);
}
