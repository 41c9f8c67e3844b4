/* RT.BBOX and RT.TRI: capability checks, then the frame of every lane instruction (fetch all lanes,
 * compute, status, write, retire) around the tests of src/rt.
 *
 * Spec: rt-semantics.md 2.4, 3, 6 to 10, 12; numeric.md 11.1. */
#include "xphmg/rt/rt.h"

#include "rt/host.h"
#include "xphmg/rsv/pmask.h"
#include "xphmg/rt/quick.h"
#include "xphmg/units/lanes.h"
#include "xphmg/units/vendor.h"

enum {
    BOX_T_CLAMP = 1,
    TRI_CULL_BACK = 1,
    PRED_ONLY = 2,
    PACK_HINT = 4,
    BOX_W_GUARD = 8,
    TRI_EPS_CTL = 8,
    OPCODE = 0x0B,
    FUNCT3_FIRST = 6,
};

#define FP32_SIGN UINT32_C(0x80000000)
#define FP32_INFINITY UINT32_C(0x7F800000)

/* ---- status ------------------------------------------------------------------------------------
 */

void facet_xphmg_rt_set_error(struct facet_hart *h, enum facet_xphmg_rt_error error)
{
    uint64_t stat = FACET_PUT(h->units.rt.stat, RTSTAT_LAST_EC, error);

    h->units.rt.stat = FACET_PUT(stat, RTSTAT_ERR, error != FACET_XPHMG_RT_EC_NONE);
}

void facet_xphmg_rt_count_boxes(struct facet_hart *h, uint64_t tests)
{
    uint64_t *stat = &h->units.rt.stat;

    *stat = FACET_PUT(*stat, RTSTAT_BBOX_ISSUED, FACET_GET(*stat, RTSTAT_BBOX_ISSUED) + tests);
}

void facet_xphmg_rt_count_triangles(struct facet_hart *h, uint64_t tests)
{
    uint64_t *stat = &h->units.rt.stat;

    *stat = FACET_PUT(*stat, RTSTAT_TRI_ISSUED, FACET_GET(*stat, RTSTAT_TRI_ISSUED) + tests);
}

static bool is_present(const struct facet_hart *h)
{
    return (h->units.config->feat0 & FACET_CAP_FEAT0_RT_PRESENT) != 0;
}

bool facet_xphmg_rt_supports(const struct facet_hart *h, uint64_t rtcap)
{
    return FACET_GET(h->units.config->cap_vers, CAP_VERS_MAJOR) >= 1 &&
           (h->units.config->rtcap & rtcap) == rtcap;
}

struct facet_trap facet_xphmg_rt_unsupported(struct facet_hart *h, const struct facet_insn *in)
{
    facet_xphmg_rt_set_error(h, FACET_XPHMG_RT_EC_UNSUPPORTED);
    return facet_hart_trap_make(FACET_CAUSE_UNSUPPORTED, in->word);
}

void facet_xphmg_rt_illegal(struct facet_hart *h, uint32_t word)
{
    if ((word & 0x7F) == OPCODE && (word >> 12 & 7) >= FUNCT3_FIRST && is_present(h)) {
        facet_xphmg_rt_set_error(h, FACET_XPHMG_RT_EC_ILLEGAL);
    }
}

/* ---- lanes -------------------------------------------------------------------------------------
 */

/* What lanes leave behind; valid for active ones. */
struct results {
    uint16_t flags[FACET_VLMAX];
    uint32_t out[FACET_VLMAX][3];
};

/* The ray that lanes tested last, prepared for the host's arithmetic. */
struct ready_ray {
    bool known;
    uint64_t at; /* address of its record; lanes read memory that nothing writes meanwhile */
    struct facet_rt_host_ray host;
};

/* One instruction under way. */
struct run {
    struct facet_hart *h;
    bool triangle, packed, pred_only;
    struct facet_lanes lanes;
    uint8_t vl; /* lanes.count before fault-only-first */
    struct facet_element_port port;
    struct facet_rt_numbers numbers;
    struct facet_rt_box_options box;
    struct facet_rt_options tri;
    struct facet_reg_window a, d;
    uint64_t target; /* RTNODE tile or RTTRI range */
    unsigned first, children;
    uint64_t tested; /* lanes that had something to test */
    uint64_t hits;
    struct results *results;
    bool host; /* the host's floating point may do tests: NX is not needed (rt/host.h) */
    struct ready_ray ray;
};

/* The ray for the host's arithmetic; NULL when that cannot serve. */
static const struct facet_rt_host_ray *
host_ray(struct run *r, uint64_t at, const uint32_t *elements)
{
    struct facet_rt_ray ray;
    bool nan = false;

    if (!r->host) {
        return NULL;
    }
    if (!r->ray.known || r->ray.at != at) {
        r->ray.known = true;
        r->ray.at = at;
        for (unsigned i = 0; i < FACET_RT_RAY_ELEMENTS; i++) {
            nan = nan || (elements[i] & ~FP32_SIGN) > FP32_INFINITY;
        }
        if (nan) {
            r->ray.host = (struct facet_rt_host_ray){.boxes = false, .triangles = false};
        } else { /* elements are FP32 already */
            memcpy(ray.o, elements, sizeof ray.o);
            memcpy(ray.d, elements + 3, sizeof ray.d);
            ray.tmin = elements[6];
            ray.tmax = elements[7];
            facet_rt_host_ray(&r->numbers, &ray, &r->ray.host);
        }
    }
    return &r->ray.host;
}

static struct facet_rt_lane
test_box(struct run *r, uint64_t at, const uint32_t *ray, const uint32_t *box, unsigned *flags)
{
    const struct facet_rt_host_ray *host = r->box.w_guard ? NULL : host_ray(r, at, ray);
    struct facet_rt_lane lane = facet_rt_no_lane(2);
    struct facet_rt_slab slab;

    if (host == NULL || !facet_rt_host_box(host, box, &slab, flags)) {
        return facet_rt_box_lane(&r->numbers, &r->box, ray, box, flags);
    }
    lane.outcome = slab.outcome;
    lane.value[0] = r->box.t_clamp ? slab.cnear : slab.near;
    lane.value[1] = r->box.t_clamp ? slab.cfar : slab.far;
    return lane;
}

static struct facet_rt_lane test_triangle(
    struct run *r, uint64_t at, const uint32_t *ray, const uint32_t *vertices, unsigned *flags)
{
    const struct facet_rt_host_ray *host = host_ray(r, at, ray);
    struct facet_rt_facet hit;

    if (host == NULL || !facet_rt_host_triangle(host, vertices, &r->tri, &hit, flags)) {
        return facet_rt_triangle_lane(&r->numbers, &r->tri, ray, vertices, flags);
    }
    return (struct facet_rt_lane){hit.outcome, {hit.t, hit.u, hit.v}, 3};
}

static struct facet_trap
box_lane(struct run *r, unsigned lane, struct facet_rt_lane *result, unsigned *flags)
{
    unsigned pair = r->first % r->children + lane, child = pair % r->children;
    uint64_t tile =
        r->target + child / FACET_RT_TILE_CHILDREN * facet_rt_tile_bytes(&r->port.container);
    uint64_t at = r->h->x[facet_lanes_window_reg(r->a, pair / r->children)];
    uint32_t ray[FACET_RT_RAY_ELEMENTS + 1], types = 0;
    struct facet_xphmg_rt_fetched fetched;
    struct facet_trap trap =
        facet_xphmg_rt_read_elements(&r->port, at, 0, FACET_RT_RAY_ELEMENTS + r->box.w_guard, ray);

    *result = facet_rt_no_lane(2);
    if (!trap.taken) {
        trap = facet_xphmg_rt_read_flags(&r->port, tile, &types);
    }
    if (!trap.taken) {
        trap = facet_xphmg_rt_read_child(
            &r->port, tile, types, child % FACET_RT_TILE_CHILDREN, false, &fetched);
    }
    if (!trap.taken && fetched.type != FACET_RT_EMPTY) {
        r->tested |= UINT64_C(1) << lane;
        *result = test_box(r, at, ray, fetched.box, flags);
    }
    return trap;
}

static struct facet_trap
triangle_lane(struct run *r, unsigned lane, struct facet_rt_lane *result, unsigned *flags)
{
    /* a broadcast ray meets one triangle after the other */
    uint32_t k = r->first + (r->a.step == 0 ? lane : 0);
    uint32_t ray[FACET_RT_RAY_ELEMENTS], vertices[FACET_RT_TRIANGLE_ELEMENTS];
    uint64_t at = r->h->x[facet_lanes_window_reg(r->a, lane)];
    struct facet_rt_range range = {0};
    struct facet_trap trap =
        facet_xphmg_rt_read_elements(&r->port, at, 0, FACET_RT_RAY_ELEMENTS, ray);

    *result = facet_rt_no_lane(3);
    if (!trap.taken) {
        trap = facet_xphmg_rt_read_range(&r->port, r->target, &range);
    }
    if (!trap.taken && k < range.count) {
        trap = facet_xphmg_rt_read_triangle(&r->port, range.base, range.first + k, vertices);
        if (!trap.taken) {
            r->tested |= UINT64_C(1) << lane;
            *result = test_triangle(r, at, ray, vertices, flags);
        }
    }
    return trap;
}

/* Steps 2 and 3 of one lane: results are only kept, so computing here changes nothing for the lanes
 * whose sources are read later. */
static struct facet_trap compute_lane(void *run, unsigned lane)
{
    struct run *r = run;
    struct facet_rt_lane result;
    unsigned flags = 0;
    struct facet_trap trap =
        r->triangle ? triangle_lane(r, lane, &result, &flags) : box_lane(r, lane, &result, &flags);

    if (trap.taken) {
        return trap;
    }
    if (!r->pred_only) {
        facet_rt_lane_encode(&r->numbers, r->packed, &result, r->results->out[lane], &flags);
    }
    r->hits |= (uint64_t)(result.outcome == FACET_RT_HIT) << lane;
    r->results->flags[lane] = (uint16_t)flags;
    return FACET_RETIRED;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

static uint64_t packed_word(const struct run *r, unsigned lane)
{
    uint64_t word = (r->hits >> lane & 1) << 63;

    for (unsigned k = 0; k < (r->triangle ? 3u : 2u); k++) {
        word |= (uint64_t)r->results->out[lane][k] << 16 * k;
    }
    return word;
}

/* Slot 0 of a lane is its hit bit, or all of it when packed; slots 1 to 3 are elements. */
static uint64_t slot_value(const struct run *r, unsigned lane, unsigned slot)
{
    return r->packed ? packed_word(r, lane)
           : slot == 0
               ? r->hits >> lane & 1
               : facet_container_single_x(&r->port.container, r->results->out[lane][slot - 1]);
}

static void write_registers(struct run *r)
{
    unsigned slots = r->packed ? 1 : r->triangle ? 4 : 3;
    int stride = r->d.step == 0 ? 1 : r->vl * r->d.step;

    for (unsigned i = 0; i < r->lanes.count; i++) {
        if (!facet_lanes_active(&r->lanes, i) && !r->lanes.eff.zmode) {
            continue;
        }
        for (unsigned k = 0; k < slots; k++) {
            unsigned reg = (unsigned)((int)facet_lanes_window_reg(r->d, i) + (int)k * stride) & 31;

            facet_hart_set_x(r->h, reg, facet_lanes_active(&r->lanes, i) ? slot_value(r, i, k) : 0);
        }
    }
}

static void write_predicates(struct run *r)
{
    struct facet_hart *h = r->h;
    unsigned bank = r->lanes.rsv ? (unsigned)FACET_GET(h->units.rsv.svstate, SVSTATE_PBANK) : 0;
    uint64_t mask = r->lanes.active;

    if (facet_xphmg_config_banks(h->units.config) == 0 || mask == 0) {
        return;
    }
    if (bank != 0) {
        facet_pmask_write(h, bank, (h->units.pmask.bank[bank] & ~mask) | (r->hits & mask));
    }
    if ((mask & 1) != 0) {
        facet_pmask_write_p0(h, (r->hits & 1) != 0);
    }
}

/* ---- the instruction ---------------------------------------------------------------------------
 */

/* Bits of RTCAP that the instruction needs (10). */
static uint64_t needs(const struct facet_hart *h, bool triangle, unsigned flags)
{
    bool node8 = FACET_GET(h->units.rt.node, RTNODE_N8) != 0;
    uint64_t bits = triangle ? FACET_RTCAP_WATERTIGHT
                    : node8  ? FACET_RTCAP_NODE8
                             : FACET_RTCAP_NODE4;

    bits |= (flags & PACK_HINT) != 0 ? FACET_RTCAP_PACK_HINT : 0;
    return bits | (triangle && (flags & TRI_EPS_CTL) != 0 ? FACET_RTCAP_EPS_CTL : 0);
}

/* NX is up already and does not trap, so that it makes no difference whether a lane raises it. */
static bool needs_no_inexact(const struct run *r)
{
    return (r->h->units.cap.prec.exc_st & FACET_NX) != 0 && facet_rt_host_fits(&r->numbers) &&
           facet_prec_hits(r->lanes.exc_en, r->lanes.eff.sae, FACET_NX) == 0;
}

/* The tile or TriRange that the instruction is about. */
static void aim(struct run *r)
{
    const struct facet_xphmg_rt *rt = &r->h->units.rt;

    if (r->triangle) {
        r->first = (unsigned)FACET_GET(rt->tri, RTTRI_FIRST);
        r->target = FACET_GET(rt->tri, RTTRI_RANGE) * FACET_RT_RANGE_BYTES +
                    (FACET_GET(rt->tri, RTTRI_IDX) != 0 ? rt->base : 0);
        return;
    }
    r->children = FACET_GET(rt->node, RTNODE_N8) != 0 ? 8 : 4;
    r->first = (unsigned)FACET_GET(rt->node, RTNODE_FIRST);
    r->target =
        FACET_GET(rt->node, RTNODE_IDX) != 0
            ? rt->base + FACET_GET(rt->node, RTNODE_NODE) * facet_rt_tile_bytes(&r->port.container)
            : FACET_GET(rt->node, RTNODE_NODE) * FACET_RT_TILE_ALIGN;
}

/* For traces: domain, level, class, profile, hybrid, COMP_CTL. */
static void tell_policy(struct run *r)
{
    struct facet_hart *h = r->h;

    facet_hart_unit(h,
                    "rt",
                    "policy",
                    6,
                    (uint64_t[]){r->port.actor.dom,
                                 r->port.actor.sec,
                                 facet_xmem_unit_class(h, 0),
                                 FACET_XMEM_HAS(h, STREAM_PROF) ? h->units.rt.sprof : 0,
                                 FACET_GET(FACET_XMEM_CSR(h, DESCPOL), CAP_XMEM_DESCPOL_HYB_ENABLE),
                                 FACET_XMEM_CSR(h, COMP_CTL)});
}

static struct facet_trap
execute_supported(struct facet_hart *h, const struct facet_insn *in, bool triangle)
{
    const struct facet_xphmg_rt *rt = &h->units.rt;
    unsigned flags = (unsigned)in->imm;
    struct results results;
    struct run r = {.h = h, .triangle = triangle, .results = &results};
    struct facet_trap trap = facet_lanes_begin(h, in, FACET_PBANK_STATE, &r.lanes);

    if (trap.taken) {
        return trap;
    }
    r.vl = r.lanes.count;
    r.pred_only = (flags & PRED_ONLY) != 0;
    r.packed = (flags & PACK_HINT) != 0 || FACET_GET(rt->cfg, RTCFG_PACK_HINT_DFLT) != 0;
    r.box = (struct facet_rt_box_options){
        .t_clamp = (flags & BOX_T_CLAMP) != 0,
        .w_guard = !triangle && (flags & BOX_W_GUARD) != 0,
    };
    r.tri = (struct facet_rt_options){
        .eps = facet_rt_epsilon((unsigned)((flags & TRI_EPS_CTL) != 0
                                               ? FACET_GET(rt->conf2, RTCONF2_EPS_SCALE)
                                               : FACET_GET(rt->cfg, RTCFG_EPS_DFLT))),
        .cull_back = (flags & TRI_CULL_BACK) != 0,
        .no_uv = r.pred_only,
    };
    r.port = (struct facet_element_port){h, facet_xmem_inline(h), facet_container_of(&r.lanes.eff)};
    r.numbers = facet_rt_numbers_of(&r.lanes.eff, h->units.cap.zptab);
    r.host = needs_no_inexact(&r);
    r.a = facet_lanes_window(h, &r.lanes, FACET_WINDOW_A, in->rs1, true);
    r.d = facet_lanes_window(h, &r.lanes, FACET_WINDOW_D, in->rd, true);
    aim(&r);
    tell_policy(&r);

    trap = facet_lanes_each(h, &r.lanes, facet_lanes_fof(h, &r.lanes), compute_lane, &r);
    if (!trap.taken) {
        trap = facet_lanes_status(h, &r.lanes, results.flags);
    }
    if (trap.taken) {
        return trap;
    }
    if (!r.pred_only &&
        (in->rd != 0 || (r.lanes.rsv && (h->units.rsv.svdst & FACET_SVDST_V) != 0))) {
        write_registers(&r);
    }
    write_predicates(&r);
    if (triangle) {
        facet_xphmg_rt_count_triangles(h, facet_popcount64(r.tested));
    } else {
        facet_xphmg_rt_count_boxes(h, facet_popcount64(r.tested));
    }
    facet_lanes_retire(h, &r.lanes, true, true);
    return FACET_RETIRED;
}

static struct facet_trap execute(struct facet_hart *h, const struct facet_insn *in, bool triangle)
{
    if (!is_present(h)) {
        return facet_hart_trap_make(FACET_CAUSE_ILLEGAL, in->word);
    }
    if (!facet_xphmg_rt_supports(h, needs(h, triangle, (unsigned)in->imm))) {
        return facet_xphmg_rt_unsupported(h, in);
    }
    return facet_xphmg_rt_quick(h, in, triangle) ? FACET_RETIRED
                                                 : execute_supported(h, in, triangle);
}

bool facet_xphmg_rt_at_once(struct facet_hart *h, const struct facet_insn *in)
{
    const bool triangle = in->row == FACET_XPHMG_RT_TRI;

    return is_present(h) && facet_xphmg_rt_supports(h, needs(h, triangle, (unsigned)in->imm)) &&
           facet_xphmg_rt_quick(h, in, triangle);
}

struct facet_trap facet_xphmg_rt_execute(struct facet_hart *h, const struct facet_insn *in)
{
    switch ((enum facet_xphmg_op)in->row) {
    case FACET_XPHMG_RT_BBOX:
        return execute(h, in, false);
    case FACET_XPHMG_RT_TRI:
        return execute(h, in, true);
        /* No default: the compiler finds a row without code. */
        FACET_XPHMG_ROWS_BUT_RT(FACET_XPHMG_CASE)
    case FACET_XPHMG_OP_COUNT:
        break;
    }
    return facet_hart_trap_make(FACET_CAUSE_ILLEGAL, in->word);
}
