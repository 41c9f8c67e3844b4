/* GFX.INTERP, GFX.SHADE, GFX.LUT1D and GFX.LUT3D: operands of a lane to the functions of src/gfx.
 *
 * Spec: gfx-semantics.md 2.1, 3.4, 9, 10, 11. */
#include "xphmg/gfx/gfx.h"

_Static_assert(FACET_FIELD_GFX_LUT1D_I == FACET_FIELD_GFX_LUT3D_I &&
                   FACET_FIELD_GFX_LUT1D_C == FACET_FIELD_GFX_LUT3D_C,
               "both table rows are read alike");

/* ---- INTERP, SHADE -----------------------------------------------------------------------------
 */

static struct facet_trap interp_lane(struct facet_xphmg_gfx_run *r, unsigned lane, unsigned *flags)
{
    const struct facet_gfx_interp *op = &r->op.interp;
    bool alpha = op->premultiply && op->channels < 4;
    uint32_t taps[16], a[FACET_GFX_INTERP_END] = {0}, b[4] = {0};
    struct facet_trap trap =
        facet_xphmg_gfx_read(r, &r->a, lane, FACET_GFX_INTERP_FRAC, 2, &a[FACET_GFX_INTERP_FRAC]);

    if (!trap.taken && op->perspective) {
        trap = facet_xphmg_gfx_read(
            r, &r->a, lane, FACET_GFX_INTERP_RCPW, 4, &a[FACET_GFX_INTERP_RCPW]);
    }
    if (!trap.taken && alpha) {
        trap = facet_xphmg_gfx_read(
            r, &r->a, lane, FACET_GFX_INTERP_ALPHA, 4, &a[FACET_GFX_INTERP_ALPHA]);
    }
    if (!trap.taken && op->bias) {
        trap = facet_xphmg_gfx_read(r, &r->b, lane, 0, op->channels, b);
    }
    if (!trap.taken) {
        trap = facet_xphmg_gfx_read(r, &r->r, lane, 0, 4u * op->channels, taps);
    }
    if (!trap.taken) {
        facet_gfx_interp(&r->numbers, op, taps, a, b, r->kept.out[lane], flags);
    }
    return trap;
}

static struct facet_trap shade_lane(struct facet_xphmg_gfx_run *r, unsigned lane, unsigned *flags)
{
    const struct facet_gfx_shade *op = &r->op.shade;
    uint32_t a[4], b[4], normal[3] = {0}, light[3] = {0};
    struct facet_trap trap = FACET_RETIRED;

    if (op->light) {
        trap = facet_xphmg_gfx_read(r, &r->a, lane, 0, 3, normal);
        if (!trap.taken) {
            trap = facet_xphmg_gfx_read(r, &r->b, lane, 0, 3, light);
        }
    }
    if (!trap.taken) {
        trap = facet_xphmg_gfx_read(r, &r->r, lane, 0, op->channels, a);
    }
    if (!trap.taken) {
        trap = facet_xphmg_gfx_read(r, &r->r, lane, 4, op->channels, b);
    }
    if (!trap.taken) {
        facet_gfx_shade(&r->numbers, op, a, b, normal, light, r->kept.out[lane], flags);
    }
    return trap;
}

/* All lanes at once; the results are read before any is written. */
static bool interp_all(struct facet_xphmg_gfx_run *r)
{
    const struct facet_gfx_interp *op = &r->op.interp;
    const bool alpha = op->premultiply && op->channels < 4;
    const unsigned end = alpha             ? FACET_GFX_INTERP_END
                         : op->perspective ? FACET_GFX_INTERP_ALPHA
                                           : FACET_GFX_INTERP_RCPW;
    const struct facet_gfx_lane_kernels *kernels = facet_xphmg_gfx_kernels(r);
    struct facet_gfx_slots taps, a, b = {0};

    return kernels != NULL && facet_xphmg_gfx_slots(r, &r->r, 4u * op->channels, &taps) &&
           facet_xphmg_gfx_slots(r, &r->a, end, &a) &&
           (!op->bias || facet_xphmg_gfx_slots(r, &r->b, op->channels, &b)) &&
           kernels->interp(op, &taps, &a, &b, r->lanes.active, r->kept.column) &&
           facet_xphmg_gfx_done(r);
}

static bool shade_all(struct facet_xphmg_gfx_run *r)
{
    const struct facet_gfx_shade *op = &r->op.shade;
    const struct facet_gfx_lane_kernels *kernels = facet_xphmg_gfx_kernels(r);
    struct facet_gfx_slots colors, normal = {0}, light = {0};

    return kernels != NULL && facet_xphmg_gfx_slots(r, &r->r, 4u + op->channels, &colors) &&
           (!op->light || (facet_xphmg_gfx_slots(r, &r->a, 3, &normal) &&
                           facet_xphmg_gfx_slots(r, &r->b, 3, &light))) &&
           kernels->shade(op, &colors, &normal, &light, r->lanes.active, r->kept.column) &&
           facet_xphmg_gfx_done(r);
}

/* ---- LUT ---------------------------------------------------------------------------------------
 */

struct lut_memory {
    const struct facet_xphmg_gfx_run *r;
    struct facet_trap trap;
};

static bool load_entry(void *context, uint64_t index, uint32_t *bits)
{
    struct lut_memory *m = context;

    m->trap =
        facet_elements_read(&m->r->port, FACET_XPHMG_GFX_CSR(m->r->csr, LUTBASE), index, 1, bits);
    return !m->trap.taken;
}

static struct facet_trap lut_lane(struct facet_xphmg_gfx_run *r, unsigned lane, unsigned *flags)
{
    const struct facet_gfx_lut *lut = &r->op.lut;
    struct lut_memory m = {.r = r};
    struct facet_gfx_lut_plan plan;
    uint32_t in[4];
    struct facet_trap trap = facet_xphmg_gfx_read(r, &r->a, lane, 0, facet_gfx_lut_inputs(lut), in);

    if (trap.taken) {
        return trap;
    }
    facet_gfx_lut_plan(&r->numbers, lut, in, &plan, flags);
    if (!facet_gfx_lut_fetch(lut, &plan, load_entry, &m)) {
        return m.trap;
    }
    facet_gfx_lut_finish(&r->numbers, lut, &plan, r->kept.out[lane], flags);
    return FACET_RETIRED;
}

/* ---- preparation -------------------------------------------------------------------------------
 */

unsigned facet_xphmg_gfx_color_prepare(struct facet_xphmg_gfx_run *r)
{
    bool three = r->in->row == FACET_XPHMG_GFX_LUT3D, off;

    r->result = FACET_XPHMG_GFX_TO_WINDOW;
    r->first = 0;
    switch (r->in->row) {
    case FACET_XPHMG_GFX_INTERP:
        r->lane = interp_lane;
        r->batch = interp_all;
        r->op.interp = (struct facet_gfx_interp){
            .channels = (uint8_t)(FACET_XPHMG_GFX_FIELD(r, INTERP_NC) + 1),
            .perspective = FACET_XPHMG_GFX_FIELD(r, INTERP_M) != 0,
            .premultiply = FACET_XPHMG_GFX_FIELD(r, INTERP_P) != 0,
            .bias = FACET_XPHMG_GFX_FIELD(r, INTERP_B) != 0,
        };
        r->slots = r->op.interp.channels;
        r->first = (uint8_t)(4 * r->slots);
        off = facet_xphmg_gfx_lacks_f(r, true, r->op.interp.bias, true);
        break;
    case FACET_XPHMG_GFX_SHADE: /* nc = 0 is RGBA: the word as the document draws it */
        r->lane = shade_lane;
        r->batch = shade_all;
        r->op.shade = (struct facet_gfx_shade){
            .op = (uint8_t)FACET_XPHMG_GFX_FIELD(r, SHADE_OO),
            .channels = (uint8_t)(FACET_XPHMG_GFX_FIELD(r, SHADE_NC) != 0
                                      ? FACET_XPHMG_GFX_FIELD(r, SHADE_NC)
                                      : 4),
            .light = FACET_XPHMG_GFX_FIELD(r, SHADE_L) != 0,
            .normalize = FACET_XPHMG_GFX_FIELD(r, SHADE_N) != 0,
        };
        r->slots = (uint8_t)facet_gfx_shade_results(&r->op.shade);
        off = facet_xphmg_gfx_lacks_f(r, r->op.shade.light, r->op.shade.light, true);
        break;
    default:
        r->lane = lut_lane;
        r->op.lut = facet_gfx_lut_of(FACET_XPHMG_GFX_CSR(r->csr, LUTFMT),
                                     three,
                                     FACET_XPHMG_GFX_FIELD(r, LUT1D_I) != 0,
                                     FACET_XPHMG_GFX_FIELD(r, LUT1D_C) != 0);
        r->slots = (uint8_t)facet_gfx_lut_outputs(&r->op.lut);
        off = facet_xphmg_gfx_lacks_f(r, true, false, true) ||
              FACET_GET(FACET_XPHMG_GFX_CSR(r->csr, LUTFMT), GFXLUTFMT_DIM) != three;
        break;
    }
    return off ? FACET_CAUSE_ILLEGAL : 0;
}
