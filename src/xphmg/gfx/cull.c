/* Culling and what follows it: GFX.CULL.PLANE, FRUSTUM, AABB, COMPOSE, COMPACT; GFX.FENCE.
 *
 * Spec: gfx-semantics.md 14, 15; R-GFX-48 to R-GFX-52. */
#include "base/bits.h"
#include "xphmg/gfx/gfx.h"
#include "xphmg/hart/memory.h"
#include "xphmg/rsv/pmask.h"
#include "xphmg/units/jobs.h"
#include "xphmg/xmem/unit.h"

_Static_assert(FACET_FIELD_GFX_CULL_PLANE_TT == FACET_FIELD_GFX_CULL_FRUSTUM_TT &&
                   FACET_FIELD_GFX_CULL_PLANE_K == FACET_FIELD_GFX_CULL_FRUSTUM_K &&
                   FACET_FIELD_GFX_CULL_PLANE_Z == FACET_FIELD_GFX_CULL_FRUSTUM_Z &&
                   FACET_FIELD_GFX_CULL_PLANE_PD == FACET_FIELD_GFX_CULL_FRUSTUM_PD &&
                   FACET_FIELD_GFX_CULL_PLANE_PD == FACET_FIELD_GFX_CULL_AABB_PD,
               "these rows are read alike");

/* ---- planes and boxes --------------------------------------------------------------------------
 */

static struct facet_trap point_lane(struct facet_xphmg_gfx_run *r, unsigned lane, unsigned *flags)
{
    struct facet_gfx_cull *cull = &r->op.cull;
    uint32_t point[4];
    struct facet_trap trap = facet_xphmg_gfx_read(r, &r->a, lane, 0, 4, point);

    if (!trap.taken && r->plane_given) {
        trap = facet_xphmg_gfx_read(r, &r->b, lane, 0, 4, cull->plane[0]);
    }
    if (!trap.taken) {
        bool survives = facet_gfx_cull_point(&r->numbers, cull, point, flags);

        r->survivors |= (uint64_t)survives << lane;
    }
    return trap;
}

static struct facet_trap box_lane(struct facet_xphmg_gfx_run *r, unsigned lane, unsigned *flags)
{
    uint32_t box[6];
    struct facet_trap trap = facet_xphmg_gfx_read(r, &r->a, lane, 0, 6, box);

    if (!trap.taken) {
        bool survives = facet_gfx_cull_box(&r->numbers, &r->op.box, box, flags);

        r->survivors |= (uint64_t)survives << lane;
    }
    return trap;
}

static bool points_all(struct facet_xphmg_gfx_run *r)
{
    const struct facet_gfx_cull *cull = &r->op.cull;
    const struct facet_gfx_lane_kernels *kernels = facet_xphmg_gfx_kernels(r);
    struct facet_gfx_slots points;

    return kernels != NULL && !cull->reject && !r->plane_given &&
           facet_xphmg_gfx_slots(r, &r->a, 4, &points) &&
           kernels->points(cull, &points, r->lanes.active, &r->survivors) &&
           facet_xphmg_gfx_done(r);
}

static bool boxes_all(struct facet_xphmg_gfx_run *r)
{
    const struct facet_gfx_cull_box *cull = &r->op.box;
    const struct facet_gfx_lane_kernels *kernels = facet_xphmg_gfx_kernels(r);
    struct facet_gfx_slots boxes;

    return kernels != NULL && cull->encoding == FACET_GFX_MIN_MAX &&
           facet_xphmg_gfx_slots(r, &r->a, 6, &boxes) &&
           kernels->boxes(cull, &boxes, r->lanes.active, &r->survivors) && facet_xphmg_gfx_done(r);
}

static unsigned prepare_point(struct facet_xphmg_gfx_run *r)
{
    bool plane = r->in->row == FACET_XPHMG_GFX_CULL_PLANE;

    r->lane = point_lane;
    r->batch = points_all;
    r->plane_given = plane && FACET_XPHMG_GFX_FIELD(r, CULL_PLANE_S) != 0;
    r->op.cull = (struct facet_gfx_cull){
        .side = (uint8_t)FACET_XPHMG_GFX_FIELD(r, CULL_PLANE_TT),
        .keep = FACET_XPHMG_GFX_FIELD(r, CULL_PLANE_K) != 0,
        .reject = FACET_XPHMG_GFX_FIELD(r, CULL_PLANE_Z) != 0,
        .eps = (uint32_t)FACET_XPHMG_GFX_CSR(r->csr, CLIP_EPS),
        .planes = plane ? 1 : FACET_GFX_PLANES,
    };
    return (plane && !r->plane_given &&
            FACET_XPHMG_GFX_FIELD(r, CULL_PLANE_IDX) >= FACET_GFX_PLANES) ||
                   facet_xphmg_gfx_lacks_f(r, true, r->plane_given, false)
               ? FACET_CAUSE_ILLEGAL
               : 0;
}

static unsigned prepare_box(struct facet_xphmg_gfx_run *r)
{
    const struct facet_units *units = &r->h->units;
    bool transform = FACET_XPHMG_GFX_FIELD(r, CULL_AABB_F) != 0;

    r->lane = box_lane;
    r->batch = boxes_all;
    r->op.box = (struct facet_gfx_cull_box){
        .encoding = (uint8_t)FACET_XPHMG_GFX_FIELD(r, CULL_AABB_EE),
        .keep = FACET_XPHMG_GFX_FIELD(r, CULL_AABB_K) != 0,
        .contain = FACET_XPHMG_GFX_FIELD(r, CULL_AABB_X) != 0,
        .transform = transform,
        .transpose = FACET_GET(units->mtx.cfg, MTXCFG_TRANSPOSE_DEF) != 0,
    };
    if (r->op.box.encoding == 3 || facet_xphmg_gfx_lacks_f(r, true, false, false)) {
        return FACET_CAUSE_ILLEGAL;
    }
    return transform && (units->config->feat0 & FACET_CAP_FEAT0_MTX_PRESENT) == 0
               ? FACET_CAUSE_UNSUPPORTED
               : 0;
}

unsigned facet_xphmg_gfx_cull_prepare(struct facet_xphmg_gfx_run *r)
{
    r->result = FACET_XPHMG_GFX_TO_MASK;
    r->bank = (uint8_t)FACET_XPHMG_GFX_FIELD(r, CULL_PLANE_PD);
    if (!facet_xphmg_gfx_has_bank(r, r->bank)) {
        return FACET_CAUSE_ILLEGAL;
    }
    return r->in->row == FACET_XPHMG_GFX_CULL_AABB ? prepare_box(r) : prepare_point(r);
}

static void plane_elements(const struct facet_xphmg_gfx_run *r, unsigned index, uint32_t plane[4])
{
    const struct facet_xphmg_gfx *csr = r->csr;
    const uint64_t *const planes[] = {
        csr->pln0, csr->pln1, csr->pln2, csr->pln3, csr->pln4, csr->pln5};

    for (unsigned k = 0; k < 4; k++) {
        plane[k] = facet_xphmg_gfx_wide_element(r, planes[index], k);
    }
}

void facet_xphmg_gfx_cull_planes(struct facet_xphmg_gfx_run *r)
{
    const struct facet_mtx *mtx = &r->h->units.mtx;
    unsigned nat = r->port.container.nat;

    if (r->in->row == FACET_XPHMG_GFX_CULL_PLANE) {
        unsigned index = FACET_XPHMG_GFX_FIELD(r, CULL_PLANE_IDX);

        plane_elements(r, index < FACET_GFX_PLANES ? index : 0, r->op.cull.plane[0]);
        return;
    }
    for (unsigned p = 0; p < FACET_GFX_PLANES; p++) {
        plane_elements(r,
                       p,
                       r->in->row == FACET_XPHMG_GFX_CULL_AABB ? r->op.box.plane[p]
                                                               : r->op.cull.plane[p]);
    }
    for (unsigned e = 0; r->in->row == FACET_XPHMG_GFX_CULL_AABB && e < 16; e++) {
        const uint8_t *storage = mtx->bank[FACET_GET(mtx->sel, MTXSEL_BANK)].mtx4;
        uint64_t word = facet_load_le64(storage + e * nat / 64 * 8);

        r->op.box.matrix[e] = (uint32_t)(word >> e * nat % 64 & facet_bits_mask(nat));
    }
}

/* ---- COMPACT -----------------------------------------------------------------------------------
 */

enum { LANE_NUMBERS = 1, WITHOUT_ID = 2, PAYLOAD_FIRST = 4 };

static unsigned record_words(const struct facet_xphmg_gfx_compact_op *op)
{
    return op->mode == LANE_NUMBERS
               ? 1u
               : (op->mode != WITHOUT_ID) + (unsigned)op->attributes + op->payload;
}

static unsigned word_bytes(const struct facet_xphmg_gfx_compact_op *op)
{
    return op->mode == LANE_NUMBERS ? 4 : 8;
}

/* X slot of word k of a record. */
static unsigned slot_of(const struct facet_xphmg_gfx_compact_op *op, unsigned k)
{
    unsigned first = op->mode == WITHOUT_ID ? 1 : 0, ids = first + k;

    return ids <= op->attributes ? ids : PAYLOAD_FIRST + (ids - op->attributes - 1);
}

static struct facet_trap compact_lane(struct facet_xphmg_gfx_run *r, unsigned lane, unsigned *flags)
{
    struct facet_xphmg_gfx_compact_op *op = &r->op.compact;
    struct facet_trap trap = FACET_RETIRED;

    (void)flags;
    if ((op->chosen >> lane & 1) == 0) {
        return trap;
    }
    for (unsigned k = 0; k < record_words(op) && !trap.taken; k++) {
        unsigned slot = slot_of(op, k);

        if (op->mode == LANE_NUMBERS) {
            op->words[lane][0] = lane;
        } else {
            trap = facet_xphmg_gfx_read_x(r, &r->b, lane, slot, slot, 0, &op->words[lane][k]);
        }
    }
    return trap;
}

unsigned facet_xphmg_gfx_compact_prepare(struct facet_xphmg_gfx_run *r)
{
    struct facet_xphmg_gfx_compact_op *op = &r->op.compact;
    unsigned bank = FACET_XPHMG_GFX_FIELD(r, CULL_COMPACT_PS);

    r->lane = compact_lane;
    r->result = FACET_XPHMG_GFX_TO_STREAM;
    r->counts = FACET_XPHMG_GFX_FIELD(r, CULL_COMPACT_CC) != 0;
    op->mode = (uint8_t)FACET_XPHMG_GFX_FIELD(r, CULL_COMPACT_MM);
    op->attributes = (uint8_t)FACET_XPHMG_GFX_FIELD(r, CULL_COMPACT_AA);
    op->payload = (uint8_t)FACET_XPHMG_GFX_FIELD(r, CULL_COMPACT_RR);
    if (op->mode == 3 || (op->mode == LANE_NUMBERS && op->attributes + op->payload != 0) ||
        !facet_xphmg_gfx_has_bank(r, bank)) {
        return FACET_CAUSE_ILLEGAL;
    }
    op->chosen = bank == 0 ? ~UINT64_C(0) : r->h->units.pmask.bank[bank];
    return 0;
}

struct facet_trap facet_xphmg_gfx_stream(const struct facet_xphmg_gfx_run *r, bool write)
{
    const struct facet_xphmg_gfx_compact_op *op = &r->op.compact;
    unsigned bytes = word_bytes(op), words = record_words(op);
    uint64_t address = r->h->x[r->a.base];

    for (unsigned i = 0; i < r->lanes.count; i++) {
        if (((r->lanes.active & op->chosen) >> i & 1) == 0) {
            continue;
        }
        for (unsigned k = 0; k < words; k++, address += bytes) {
            struct facet_trap trap =
                write ? facet_hart_store(r->h, address, bytes, op->words[i][k])
                      : facet_xmem_probe_element(r->h, r->port.actor, address, bytes, true);

            if (trap.taken) {
                return facet_lanes_fault(
                    r->h, &r->lanes, i, facet_xmem_fault(r->h, r->port.actor, trap));
            }
        }
    }
    return FACET_RETIRED;
}

/* ---- COMPOSE, FENCE ----------------------------------------------------------------------------
 */

struct facet_trap facet_xphmg_gfx_compose(struct facet_xphmg_gfx_run *r)
{
    struct facet_hart *h = r->h;
    unsigned pd = FACET_XPHMG_GFX_FIELD(r, CULL_COMPOSE_PD),
             pa = FACET_XPHMG_GFX_FIELD(r, CULL_COMPOSE_PA),
             pb = FACET_XPHMG_GFX_FIELD(r, CULL_COMPOSE_PB);
    uint64_t a, b, result;

    if (!facet_xphmg_gfx_has_bank(r, pd) || !facet_xphmg_gfx_has_bank(r, pa) ||
        !facet_xphmg_gfx_has_bank(r, pb)) {
        return facet_hart_trap_make(FACET_CAUSE_ILLEGAL, r->in->word);
    }
    a = facet_pmask_read(h, pa);
    b = facet_pmask_read(h, pb);
    b = FACET_XPHMG_GFX_FIELD(r, CULL_COMPOSE_INV) != 0 ? ~b : b;
    switch (FACET_XPHMG_GFX_FIELD(r, CULL_COMPOSE_OP)) {
    case 0:
        result = a & b;
        break;
    case 1:
        result = a | b;
        break;
    case 2:
        result = a ^ b;
        break;
    default:
        result = b;
        break;
    }
    if (pd != 0) {
        facet_pmask_write(h, pd, result);
        facet_pmask_write_p0(h, (result & 1) != 0);
    }
    return FACET_RETIRED;
}

/* Instructions retire in order (R-XM-30): copies and jobs are left to wait for. */
struct facet_trap facet_xphmg_gfx_fence(struct facet_xphmg_gfx_run *r)
{
    (void)facet_xmem_wait(r->h, FACET_WAIT_JOBS, facet_jobs_waited(r->in, &r->h->units));
    if (!r->h->stalled) {
        facet_hart_unit(r->h,
                        "gfx",
                        "fence",
                        3,
                        (uint64_t[]){facet_xmem_inline(r->h).dom,
                                     FACET_XPHMG_GFX_FIELD(r, FENCE_MM),
                                     FACET_XPHMG_GFX_FIELD(r, FENCE_FF)});
    }
    return FACET_RETIRED;
}
