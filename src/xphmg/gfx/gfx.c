/* The frame of GFX instructions: order of checks, number state, phases, results.
 *
 * Spec: gfx-semantics.md 2, 5, 17; numeric.md 11.1. */
#include "xphmg/gfx/gfx.h"

#include "xphmg/gfx/again.h"
#include "xphmg/rsv/pmask.h"
#include "xphmg/units/vendor.h"

#include <string.h>

/* ---- number state ------------------------------------------------------------------------------
 */

#define SAME_STATE(row)                                                                            \
    _Static_assert(FACET_FIELD_GFX_##row##_PPP == FACET_FIELD_GFX_SAMPLE_PPP &&                    \
                       FACET_FIELD_GFX_##row##_ALT == FACET_FIELD_GFX_SAMPLE_ALT,                  \
                   "ppp and alt are read alike")
SAME_STATE(SAMPLE_GATH);
SAME_STATE(INTERP);
SAME_STATE(SHADE);
SAME_STATE(LUT1D);
SAME_STATE(LUT3D);
SAME_STATE(ZTEST);
SAME_STATE(HZ_BUILD);
_Static_assert(FACET_FIELD_GFX_CULL_PLANE_ALT == FACET_FIELD_GFX_SAMPLE_ALT &&
                   FACET_FIELD_GFX_CULL_FRUSTUM_ALT == FACET_FIELD_GFX_SAMPLE_ALT &&
                   FACET_FIELD_GFX_CULL_AABB_ALT == FACET_FIELD_GFX_SAMPLE_ALT,
               "alt is read alike");

enum { PPP_RESERVED = 6, PPP_CAP = 7 };

static bool has_ppp(unsigned row)
{
    switch (row) {
    case FACET_XPHMG_GFX_SAMPLE:
    case FACET_XPHMG_GFX_SAMPLE_GATH:
    case FACET_XPHMG_GFX_INTERP:
    case FACET_XPHMG_GFX_SHADE:
    case FACET_XPHMG_GFX_LUT1D:
    case FACET_XPHMG_GFX_LUT3D:
    case FACET_XPHMG_GFX_ZTEST:
    case FACET_XPHMG_GFX_HZ_BUILD:
        return true;
    default:
        return false;
    }
}

static bool has_alt(unsigned row)
{
    return has_ppp(row) || row == FACET_XPHMG_GFX_CULL_PLANE ||
           row == FACET_XPHMG_GFX_CULL_FRUSTUM || row == FACET_XPHMG_GFX_CULL_AABB;
}

static unsigned unsupported(struct facet_xphmg_gfx_run *r, enum facet_cause cause)
{
    facet_prec_raise(&r->h->units.cap.prec, FACET_UNSUP);
    return cause;
}

unsigned facet_xphmg_gfx_state(struct facet_xphmg_gfx_run *r, struct facet_eff *eff)
{
    static const uint8_t container[6] = {1, 2, 1, 0, 1, 2}; /* EW of FP16 ... INT32 */
    const struct facet_prec *prec = &r->h->units.cap.prec;
    unsigned ppp = has_ppp(r->in->row) ? FACET_XPHMG_GFX_FIELD(r, SAMPLE_PPP) : PPP_CAP;

    if (ppp == PPP_RESERVED) {
        return unsupported(r, FACET_CAUSE_ILLEGAL);
    }
    if (has_alt(r->in->row) && FACET_XPHMG_GFX_FIELD(r, SAMPLE_ALT) != 0) {
        *eff = facet_eff_compose(prec->image[FACET_PREC_MODE],
                                 prec->image[FACET_PREC_ALT] | FACET_CAP_PREC_ALT_ALT_EN,
                                 prec->alt_formats);
        if (!eff->alt_en) {
            return unsupported(r, FACET_CAUSE_UNSUPPORTED);
        }
        facet_lanes_override(r->h, eff);
    }
    if (ppp != PPP_CAP) {
        facet_eff_replace_pet(eff, ppp, container[ppp]);
    }
    return 0;
}

void facet_xphmg_gfx_numbers_set(struct facet_xphmg_gfx_run *r, const struct facet_eff *eff)
{
    const struct facet_hart_policy *kept = &r->h->policy;

    r->port = (struct facet_element_port){r->h, facet_xmem_inline(r->h), facet_container_of(eff)};
    if (kept->known && !eff->q && memcmp(eff, &kept->eff, sizeof *eff) == 0) {
        r->numbers = (struct facet_gfx_numbers){{kept->conv, kept->conv, kept->conv, kept->conv}};
    } else {
        r->numbers = facet_gfx_numbers_of(eff, r->h->units.cap.zptab);
    }
}

uint32_t facet_xphmg_gfx_wide_element(const struct facet_xphmg_gfx_run *r,
                                      const uint64_t words[2],
                                      unsigned k)
{
    unsigned nat = r->port.container.nat, bit = k * nat;

    return (uint32_t)(words[bit / 64] >> bit % 64 & facet_bits_mask(nat));
}

void facet_xphmg_gfx_tell_policy(const struct facet_xphmg_gfx_run *r)
{
    struct facet_hart *h = r->h;

    facet_hart_unit(
        h,
        "gfx",
        "policy",
        6,
        (uint64_t[]){r->port.actor.dom,
                     r->port.actor.sec,
                     facet_xmem_unit_class(h, 0),
                     0,
                     FACET_XMEM_CSR(h, STREAM_CTL),
                     FACET_GET(FACET_XMEM_CSR(h, DESCPOL), CAP_XMEM_DESCPOL_HYB_ENABLE)});
}

/* ---- phases ------------------------------------------------------------------------------------
 */

/* Fetch and compute. A memory fault of lane f traps, or cuts the lanes from f on; an unsupported
 * descriptor always traps and SVFAULTI does not say. */
static struct facet_trap compute(struct facet_xphmg_gfx_run *r, bool fof)
{
    if (r->batch != NULL && r->batch(r)) {
        return FACET_RETIRED;
    }
    for (unsigned i = 0; i < r->lanes.count; i++) {
        unsigned flags = r->lanes.raised;
        struct facet_trap trap;

        r->flags[i] = 0;
        if (!facet_lanes_active(&r->lanes, i)) {
            continue;
        }
        r->actor[i] = r->port.actor;
        trap = r->lane(r, i, &flags);
        r->flags[i] = (uint16_t)flags;
        if (trap.taken && trap.cause == FACET_CAUSE_UNSUPPORTED) {
            return trap;
        }
        if (trap.taken && fof) {
            facet_lanes_cut(r->h, &r->lanes, i, trap);
        } else if (trap.taken) {
            return facet_lanes_fault(r->h, &r->lanes, i, trap);
        }
    }
    return FACET_RETIRED;
}

/* Results by slots to results by lanes, all under one policy. */
static void leave_columns(struct facet_xphmg_gfx_run *r)
{
    uint32_t column[4][FACET_VLMAX];

    memcpy(column, r->kept.column, sizeof column[0] * r->slots);
    for (uint64_t rest = r->lanes.active; rest != 0; rest &= rest - 1) {
        const unsigned lane = facet_ctz64(rest);

        r->actor[lane] = r->port.actor;
        for (unsigned k = 0; k < r->slots; k++) {
            r->kept.out[lane][k] = column[k][lane];
        }
    }
    r->columns = false;
}

const struct facet_gfx_lane_kernels *facet_xphmg_gfx_kernels(const struct facet_xphmg_gfx_run *r)
{
    return r->vl % 8 == 0 && facet_gfx_lanes_fit(&r->numbers, r->lanes.raised) ? facet_gfx_lanes()
                                                                               : NULL;
}

bool facet_xphmg_gfx_done(struct facet_xphmg_gfx_run *r)
{
    FACET_FAST_WAY(GFX_LANES);
    r->columns = r->result == FACET_XPHMG_GFX_TO_WINDOW;
    r->together = true;
    r->raised = r->lanes.raised;
    return true;
}

/* Window and depth results of all lanes: `probe` first, then `write`. */
static struct facet_trap put_lanes(struct facet_xphmg_gfx_run *r, bool write)
{
    bool window = r->result == FACET_XPHMG_GFX_TO_WINDOW;

    if (!window && !r->stores) {
        return FACET_RETIRED;
    }
    if (window && !write) {
        r->block = r->direct || facet_xphmg_gfx_probe_block(r);
        if (r->columns && !r->block) {
            leave_columns(r);
        }
    }
    if (window && r->block) {
        if (write) {
            facet_xphmg_gfx_write_block(r);
        }
        return FACET_RETIRED;
    }
    for (unsigned i = 0; i < r->lanes.count; i++) {
        struct facet_trap trap = FACET_RETIRED;

        if (facet_lanes_active(&r->lanes, i)) {
            trap = window  ? write ? facet_xphmg_gfx_write(r, i) : facet_xphmg_gfx_probe(r, i)
                    : write ? facet_xphmg_gfx_depth_write(r, i)
                           : facet_xphmg_gfx_depth_probe(r, i);
        } else if (window && write && r->lanes.eff.zmode) {
            facet_xphmg_gfx_zero(r, i);
        }
        if (trap.taken) {
            return facet_lanes_fault(r->h, &r->lanes, i, trap);
        }
    }
    return FACET_RETIRED;
}

static struct facet_trap put_memory(struct facet_xphmg_gfx_run *r, bool write)
{
    return r->result == FACET_XPHMG_GFX_TO_STREAM ? facet_xphmg_gfx_stream(r, write)
                                                  : put_lanes(r, write);
}

/* Survivors into x[D.base] and bank pd (2.4). Lanes that fault-only-first dropped keep their bits
 * whatever ZMODE says. */
static void write_mask(struct facet_xphmg_gfx_run *r)
{
    struct facet_hart *h = r->h;
    unsigned reg = facet_lanes_window(h, &r->lanes, FACET_WINDOW_D, r->in->rd, true).base;
    uint64_t all = facet_bits_mask(r->vl), mask = r->lanes.active;
    uint64_t dropped = all & ~facet_bits_mask(r->lanes.count);
    uint64_t kept = r->lanes.eff.zmode ? dropped : all & ~mask;
    uint64_t result = r->survivors & mask;

    facet_hart_set_x(h, reg, result | (h->x[reg] & kept));
    if (r->bank != 0) {
        uint64_t old = h->units.pmask.bank[r->bank];

        facet_pmask_write(h, r->bank, result | (old & (kept | ~all)));
        if ((mask & 1) != 0) {
            facet_pmask_write_p0(h, (result & 1) != 0);
        }
    }
}

static void write_count(struct facet_xphmg_gfx_run *r)
{
    unsigned reg = facet_lanes_window(r->h, &r->lanes, FACET_WINDOW_D, r->in->rd, true).base;

    if (r->counts) {
        facet_hart_set_x(r->h, reg, facet_popcount64(r->op.compact.chosen & r->lanes.active));
    }
}

/* Everything after the checks. */
static struct facet_trap run(struct facet_xphmg_gfx_run *r)
{
    bool numeric = r->result != FACET_XPHMG_GFX_TO_STREAM;
    struct facet_trap trap = compute(r, facet_lanes_fof(r->h, &r->lanes));

    if (!trap.taken && numeric && r->together) {
        facet_prec_raise(&r->h->units.cap.prec, r->lanes.active != 0 ? r->raised : 0);
    } else if (!trap.taken && numeric) {
        trap = facet_lanes_status(r->h, &r->lanes, r->flags);
    }
    if (!trap.taken) {
        trap = put_memory(r, false);
    }
    if (!trap.taken) {
        trap = put_memory(r, true);
    }
    if (trap.taken) {
        return trap;
    }
    if (r->result == FACET_XPHMG_GFX_TO_MASK) {
        write_mask(r);
    } else if (r->result == FACET_XPHMG_GFX_TO_STREAM) {
        write_count(r);
    }
    facet_lanes_retire(r->h, &r->lanes, numeric, numeric);
    return FACET_RETIRED;
}

/* ---- the instruction ---------------------------------------------------------------------------
 */

static bool is_lane_row(unsigned row)
{
    return row != FACET_XPHMG_GFX_FENCE && row != FACET_XPHMG_GFX_HZ_BUILD &&
           row != FACET_XPHMG_GFX_CULL_COMPOSE;
}

static unsigned prepare(struct facet_xphmg_gfx_run *r)
{
    switch ((enum facet_xphmg_op)r->in->row) {
    case FACET_XPHMG_GFX_SAMPLE:
    case FACET_XPHMG_GFX_SAMPLE_GATH:
        return facet_xphmg_gfx_sample_prepare(r);
    case FACET_XPHMG_GFX_ZTEST:
    case FACET_XPHMG_GFX_ZWRITE:
        return facet_xphmg_gfx_depth_prepare(r);
    case FACET_XPHMG_GFX_CULL_PLANE:
    case FACET_XPHMG_GFX_CULL_FRUSTUM:
    case FACET_XPHMG_GFX_CULL_AABB:
        return facet_xphmg_gfx_cull_prepare(r);
    case FACET_XPHMG_GFX_CULL_COMPACT:
        return facet_xphmg_gfx_compact_prepare(r);
    case FACET_XPHMG_GFX_INTERP:
    case FACET_XPHMG_GFX_SHADE:
    case FACET_XPHMG_GFX_LUT1D:
    case FACET_XPHMG_GFX_LUT3D:
        return facet_xphmg_gfx_color_prepare(r);
    /* No default: the compiler finds a row without code. These have no lanes: */
    case FACET_XPHMG_GFX_FENCE:
    case FACET_XPHMG_GFX_HZ_BUILD:
    case FACET_XPHMG_GFX_CULL_COMPOSE:
        FACET_XPHMG_ROWS_BUT_GFX(FACET_XPHMG_CASE)
    case FACET_XPHMG_OP_COUNT:
        break;
    }
    return FACET_CAUSE_ILLEGAL;
}

/* Step 4 and what needs the number state. */
static unsigned check_format(struct facet_xphmg_gfx_run *r)
{
    bool compact = r->in->row == FACET_XPHMG_GFX_CULL_COMPACT;
    unsigned cause = compact ? 0 : facet_xphmg_gfx_state(r, &r->lanes.eff);

    if (cause != 0) {
        return cause;
    }
    facet_xphmg_gfx_numbers_set(r, &r->lanes.eff);
    switch (r->in->row) {
    case FACET_XPHMG_GFX_SAMPLE:
    case FACET_XPHMG_GFX_SAMPLE_GATH:
        return facet_xphmg_gfx_sample_texture(r) ? 0 : unsupported(r, FACET_CAUSE_UNSUPPORTED);
    case FACET_XPHMG_GFX_CULL_PLANE:
    case FACET_XPHMG_GFX_CULL_FRUSTUM:
    case FACET_XPHMG_GFX_CULL_AABB:
        facet_xphmg_gfx_cull_planes(r);
        return 0;
    default:
        return 0;
    }
}

/* Rows of window A, after which a following window B starts (3.1). */
static unsigned rows_of_a(const struct facet_xphmg_gfx_run *r)
{
    unsigned round = (1u << r->port.container.pack) - 1, pack = r->port.container.pack;

    switch (r->in->row) {
    case FACET_XPHMG_GFX_INTERP:
        return (FACET_GFX_INTERP_END + round) >> pack;
    case FACET_XPHMG_GFX_SHADE:
    case FACET_XPHMG_GFX_CULL_PLANE:
        return (4 + round) >> pack;
    default:
        return 1;
    }
}

static bool a_holds_pointers(const struct facet_xphmg_gfx_run *r)
{
    return r->in->row == FACET_XPHMG_GFX_CULL_COMPACT ||
           ((r->in->row == FACET_XPHMG_GFX_SAMPLE || r->in->row == FACET_XPHMG_GFX_SAMPLE_GATH) &&
            r->op.sample.desc);
}

static struct facet_trap execute_lanes(struct facet_xphmg_gfx_run *r)
{
    const struct facet_insn *in = r->in;
    struct facet_trap trap = facet_lanes_begin(r->h, in, FACET_PBANK_STATE, &r->lanes);
    unsigned cause;

    if (trap.taken) {
        return trap;
    }
    r->vl = r->lanes.count;
    cause = prepare(r);
    if (cause == 0) {
        cause = check_format(r);
    }
    if (cause != 0) {
        return facet_hart_trap_make((enum facet_cause)cause, in->word);
    }
    facet_xphmg_gfx_windows(r, a_holds_pointers(r), rows_of_a(r));
    facet_xphmg_gfx_tell_policy(r);
    return run(r);
}

struct facet_trap facet_xphmg_gfx_execute(struct facet_hart *h, const struct facet_insn *in)
{
    uint64_t cfg = FACET_XPHMG_GFX_CSR(&h->units.gfx, CFG);
    struct facet_xphmg_gfx_run r; /* large: lanes fill what they use */

    if ((h->units.config->feat0 & FACET_CAP_FEAT0_GFX_PRESENT) == 0) {
        return facet_hart_trap_make(FACET_CAUSE_ILLEGAL, in->word);
    }
    if ((cfg & FACET_GFXCFG_EN) == 0) {
        if ((cfg & FACET_GFXCFG_DIS_TRAP) != 0) {
            return facet_hart_trap_make(FACET_CAUSE_ILLEGAL, in->word);
        }
        if (is_lane_row(in->row)) {
            facet_lanes_spend(h);
        }
        return FACET_RETIRED;
    }
    if (facet_xphmg_gfx_again(h, in)) {
        return FACET_RETIRED;
    }
    r.h = h;
    r.in = in;
    r.csr = &h->units.gfx;
    r.survivors = 0;
    r.bank = 0;
    r.slots = 0;
    r.batch = NULL;
    r.stores = false;
    r.columns = false;
    r.direct = false;
    r.together = false;
    r.counts = false;
    switch (in->row) {
    case FACET_XPHMG_GFX_FENCE:
        return facet_xphmg_gfx_fence(&r);
    case FACET_XPHMG_GFX_HZ_BUILD:
        return facet_xphmg_gfx_hiz(&r);
    case FACET_XPHMG_GFX_CULL_COMPOSE:
        return facet_xphmg_gfx_compose(&r);
    default:
        return execute_lanes(&r);
    }
}
