/* See quick.h. rt.c has the same instruction in all generality. */
#include "xphmg/rt/quick.h"

#include "base/ways.h"
#include "num/host.h"
#include "rt/layout.h"
#include "xphmg/rsv/pmask.h"
#include "xphmg/rt/rt.h"
#include "xphmg/units/lanes.h"

enum { T_CLAMP = 1, CULL_BACK = 1, PRED_ONLY = 2, PACK_HINT = 4, TRI_EPS_CTL = 8, BOX_W_GUARD = 8 };

#define INFINITE UINT32_C(0x7F800000)
#define SIGN UINT32_C(0x80000000)

/* One instruction under way. */
struct run {
    struct facet_hart *h;
    struct facet_xphmg_rt_quick *quick;
    struct facet_lanes lanes;
    struct facet_reg_window a, d;
    unsigned flags;
    unsigned tested;
    uint64_t hits;
    uint32_t value[3][FACET_RT_TILE_CHILDREN]; /* of the lanes, as element bits */
};

/* ---- what stays the same for many instructions ---- */

/* FP32 in its own container, rounded to nearest even, without anything that changes numbers. */
static bool policy_fits(struct facet_hart *h)
{
    struct facet_xphmg_rt_quick *q = h->rt_quick;
    const uint64_t *image = h->units.cap.prec.image;

    if (!q->known || q->mode != image[FACET_PREC_MODE] || q->alt != image[FACET_PREC_ALT]) {
        const struct facet_eff eff = facet_prec_eff(&h->units.cap.prec);
        unsigned none = 0;

        q->known = true;
        q->mode = image[FACET_PREC_MODE];
        q->alt = image[FACET_PREC_ALT];
        q->prepared = q->coded = false;
        q->numbers = facet_rt_numbers_of(&eff, h->units.cap.zptab);
        q->fits = !eff.q && eff.ew == 2 && eff.pack == 0 && facet_rt_host_fits(&q->numbers);
        for (unsigned i = 0; i < 3; i++) {
            q->absent[i] = facet_rt_encode(
                &q->numbers, false, FACET_RT_MISS, 0, (enum facet_rt_absent)i, &none);
        }
    }
    return q->fits;
}

static bool is_nan(uint32_t bits)
{
    return (bits & ~SIGN) > INFINITE;
}

/* The ray at `bytes`; NULL when the host's arithmetic cannot serve. */
static const struct facet_rt_host_ray *prepare(struct facet_xphmg_rt_quick *q, const uint8_t *bytes)
{
    const uint32_t tmin = facet_load_le32(bytes + 24), tmax = facet_load_le32(bytes + 28);

    if (is_nan(tmin) || is_nan(tmax)) {
        return NULL;
    }
    if (!q->prepared || memcmp(q->ray, bytes, sizeof q->ray) != 0) {
        struct facet_rt_ray ray = {.tmin = tmin, .tmax = tmax};
        bool nan = false;

        for (unsigned i = 0; i < 3; i++) {
            ray.o[i] = facet_load_le32(bytes + 4 * (size_t)i);
            ray.d[i] = facet_load_le32(bytes + 12 + 4 * (size_t)i);
            nan |= is_nan(ray.o[i]) || is_nan(ray.d[i]);
        }
        if (nan) {
            return NULL;
        }
        facet_rt_host_ray(&q->numbers, &ray, &q->host);
        memcpy(q->ray, bytes, sizeof q->ray);
        q->prepared = true;
    }
    memcpy(&q->host.tmin, &tmin, sizeof q->host.tmin);
    memcpy(&q->host.tmax, &tmax, sizeof q->host.tmax);
    return &q->host;
}

/* ---- the tests ---- */

/* Plain RAM; nobody listens, so that nothing else has to happen. */
static const uint8_t *
ram(const struct facet_hart *h, uint64_t address, uint64_t size, uint64_t align)
{
    const uint64_t offset = address - h->ram.base;

    return address % align == 0 && offset < h->ram.span && size <= h->ram.span - offset
               ? h->ram.bytes + offset
               : NULL;
}

static const struct facet_rt_host_ray *ray_of(struct run *r)
{
    const uint8_t *bytes =
        ram(r->h, r->h->x[facet_lanes_window_reg(r->a, 0)], UINT64_C(4) * FACET_RT_RAY_ELEMENTS, 4);

    return bytes != NULL ? prepare(r->quick, bytes) : NULL;
}

/* The result of a lane that hit: nearly always it stays what it is. Others are often the ray's
 * tmin, again and again. */
static uint32_t encode(struct run *r, uint32_t value)
{
    struct facet_xphmg_rt_quick *q = r->quick;

    if (facet_num_host_stays(value)) {
        return value;
    }
    if (!q->coded || q->value != value) {
        q->coded = true;
        q->value = value;
        q->flags = 0;
        q->code =
            facet_rt_encode(&q->numbers, false, FACET_RT_HIT, value, FACET_RT_ZERO, &q->flags);
    }
    r->flags |= q->flags;
    return q->code;
}

/* Bit c: child c of the tile is a node or a leaf. */
static unsigned full_children(uint32_t types)
{
    unsigned full = 0;

    for (unsigned c = 0; c < FACET_RT_TILE_CHILDREN; c++) {
        full |= (unsigned)(facet_rt_child_type(types, c) != FACET_RT_EMPTY) << c;
    }
    return full;
}

static bool test_boxes(struct run *r, bool clamp)
{
    enum { TILE_BYTES = FACET_XPHMG_BVH_NODE4_SIZE(4) };
    const struct facet_xphmg_rt *rt = &r->h->units.rt;
    const unsigned children = FACET_GET(rt->node, RTNODE_N8) != 0 ? 8 : 4;
    const unsigned first = (unsigned)FACET_GET(rt->node, RTNODE_FIRST) % children;
    const unsigned slot = first % FACET_RT_TILE_CHILDREN;
    const uint64_t at = FACET_GET(rt->node, RTNODE_IDX) != 0
                            ? rt->base + FACET_GET(rt->node, RTNODE_NODE) * TILE_BYTES
                            : FACET_GET(rt->node, RTNODE_NODE) * FACET_RT_TILE_ALIGN;
    const uint8_t *tile = ram(
        r->h, at + first / FACET_RT_TILE_CHILDREN * TILE_BYTES, TILE_BYTES, FACET_RT_TILE_ALIGN);
    const struct facet_rt_host_ray *ray;
    struct facet_rt_host_tile found;
    uint32_t types;
    unsigned full;

    if (tile == NULL || slot + r->lanes.count > FACET_RT_TILE_CHILDREN ||
        (ray = ray_of(r)) == NULL) {
        return false;
    }
    types = facet_load_le32(tile + FACET_XPHMG_BVH_NODE4_CHILD_FLAGS_AT(4));
    found = facet_rt_host_boxes(ray, tile, clamp);
    full = full_children(types) >> slot & ((1u << r->lanes.count) - 1);
    if ((full & ~(found.decided >> slot)) != 0) {
        return false;
    }
    r->tested = facet_popcount32(full);
    r->flags |= (full & found.tested >> slot) != 0 ? ray->box_flags : 0;
    r->hits = full & found.hits >> slot;
    for (unsigned i = 0; i < r->lanes.count; i++) {
        const bool hit = (r->hits >> i & 1) != 0;

        r->value[0][i] = hit ? encode(r, found.near[slot + i]) : r->quick->absent[FACET_RT_HIGH];
        r->value[1][i] = hit ? encode(r, found.far[slot + i]) : r->quick->absent[FACET_RT_LOW];
    }
    return true;
}

static bool test_triangles(struct run *r, const struct facet_rt_options *options)
{
    enum { TRIANGLE_BYTES = 4 * FACET_RT_TRIANGLE_ELEMENTS };
    const struct facet_xphmg_rt *rt = &r->h->units.rt;
    const uint64_t first = FACET_GET(rt->tri, RTTRI_FIRST);
    const uint8_t *range = ram(r->h,
                               FACET_GET(rt->tri, RTTRI_RANGE) * FACET_RT_RANGE_BYTES +
                                   (FACET_GET(rt->tri, RTTRI_IDX) != 0 ? rt->base : 0),
                               FACET_RT_RANGE_BYTES,
                               FACET_RT_RANGE_BYTES);
    const struct facet_rt_host_ray *ray;
    uint64_t begin, count, base;

    if (range == NULL || r->lanes.count > FACET_RT_TILE_CHILDREN ||
        (r->lanes.count > 1 && r->a.step != 0) || (ray = ray_of(r)) == NULL) {
        return false;
    }
    begin = facet_load_le32(range + FACET_XPHMG_TRI_RANGE_FIRST_AT);
    count = facet_load_le32(range + FACET_XPHMG_TRI_RANGE_COUNT_AT);
    base = facet_load_le64(range + FACET_XPHMG_TRI_RANGE_BASE_AT);
    for (unsigned i = 0; i < r->lanes.count; i++) {
        struct facet_rt_facet hit = {.outcome = FACET_RT_MISS};
        const uint32_t at = (uint32_t)(begin + first + i);

        if (first + i < count) {
            uint32_t vertices[FACET_RT_TRIANGLE_ELEMENTS];
            const uint8_t *bytes =
                ram(r->h, base + UINT64_C(1) * TRIANGLE_BYTES * at, TRIANGLE_BYTES, 4);

            for (unsigned k = 0; bytes != NULL && k < FACET_RT_TRIANGLE_ELEMENTS; k++) {
                vertices[k] = facet_load_le32(bytes + 4 * (size_t)k);
            }
            if (bytes == NULL || !facet_rt_host_triangle(ray, vertices, options, &hit, &r->flags)) {
                return false;
            }
            r->tested++;
        }
        if (hit.outcome == FACET_RT_HIT) {
            r->hits |= UINT64_C(1) << i;
            r->value[0][i] = encode(r, hit.t);
            r->value[1][i] = encode(r, hit.u);
            r->value[2][i] = encode(r, hit.v);
        } else {
            r->value[0][i] = r->quick->absent[FACET_RT_HIGH];
            r->value[1][i] = r->value[2][i] = r->quick->absent[FACET_RT_ZERO];
        }
    }
    return true;
}

/* ---- the instruction ---- */

static void write_registers(struct run *r, unsigned values)
{
    const int stride = r->d.step == 0 ? 1 : r->lanes.count * r->d.step;
    uint64_t *x = &r->h->x[r->d.base];

    if (r->lanes.count == FACET_RT_TILE_CHILDREN && r->d.step == 1 && r->d.base != 0 &&
        r->d.base + FACET_RT_TILE_CHILDREN * (values + 1) <= 32) { /* one after the other */
        for (unsigned i = 0; i < FACET_RT_TILE_CHILDREN; i++) {
            x[i] = r->hits >> i & 1;
        }
        for (unsigned k = 0; k < values; k++) {
            for (unsigned i = 0; i < FACET_RT_TILE_CHILDREN; i++) {
                x[FACET_RT_TILE_CHILDREN * (k + 1) + i] = r->value[k][i];
            }
        }
        return;
    }
    for (unsigned i = 0; i < r->lanes.count; i++) {
        unsigned reg = facet_lanes_window_reg(r->d, i);

        facet_hart_set_x(r->h, reg, r->hits >> i & 1);
        for (unsigned k = 0; k < values; k++) {
            reg = (unsigned)((int)reg + stride) & 31;
            facet_hart_set_x(r->h, reg, r->value[k][i]);
        }
    }
}

/* All lanes of the first ones, no policy of a single instruction, no faults to hide; NX is up
 * already and does not trap, so that it makes no difference whether a lane raises it. */
static bool is_usual(const struct facet_hart *h)
{
    const uint64_t state = h->units.rsv.svstate;
    const struct facet_prec *prec = &h->units.cap.prec;

    return !facet_hart_listens(h) && (state & FACET_SVSTATE_FPC_V) == 0 &&
           ((state & FACET_SVSTATE_EN) == 0 ||
            ((state & FACET_SVSTATE_PBANK) == 0 &&
             (h->units.cap.xmem.svmscl & FACET_CAP_XMEM_SVMSCL_FOF) == 0)) &&
           (prec->exc_st & FACET_NX) != 0 && prec->exc_en == 0 &&
           (h->units.rt.cfg & FACET_RTCFG_PACK_HINT_DFLT) == 0;
}

bool facet_xphmg_rt_quick(struct facet_hart *h, const struct facet_insn *in, bool triangle)
{
    const struct facet_xphmg_rt *rt = &h->units.rt;
    const unsigned flags = (unsigned)in->imm;
    const uint64_t state = h->units.rsv.svstate;
    struct run r;

    if (h->rt_quick == NULL || !is_usual(h) || !policy_fits(h) ||
        (flags & (PRED_ONLY | PACK_HINT)) != 0 || (!triangle && (flags & BOX_W_GUARD) != 0)) {
        return false;
    }
    r.h = h;
    r.quick = h->rt_quick;
    r.lanes.rsv = (state & FACET_SVSTATE_EN) != 0;
    r.lanes.count = (uint8_t)(r.lanes.rsv ? FACET_GET(state, SVSTATE_VLM1) + 1 : 1);
    r.lanes.active = UINT64_MAX >> (64 - r.lanes.count);
    r.lanes.word = in->word;
    r.a = facet_lanes_window(h, &r.lanes, FACET_WINDOW_A, in->rs1, true);
    r.d = facet_lanes_window(h, &r.lanes, FACET_WINDOW_D, in->rd, true);
    r.flags = r.tested = 0;
    r.hits = 0;
    if (triangle) {
        const struct facet_rt_options options = {
            .eps = facet_rt_epsilon((unsigned)((flags & TRI_EPS_CTL) != 0
                                                   ? FACET_GET(rt->conf2, RTCONF2_EPS_SCALE)
                                                   : FACET_GET(rt->cfg, RTCFG_EPS_DFLT))),
            .cull_back = (flags & CULL_BACK) != 0,
        };

        if (!test_triangles(&r, &options)) {
            return false;
        }
        facet_xphmg_rt_count_triangles(h, r.tested);
    } else {
        if (!test_boxes(&r, (flags & T_CLAMP) != 0)) {
            return false;
        }
        facet_xphmg_rt_count_boxes(h, r.tested);
    }
    FACET_FAST_WAY(RT_LANES);
    facet_prec_raise(&h->units.cap.prec, r.flags);
    if (in->rd != 0 || (r.lanes.rsv && (h->units.rsv.svdst & FACET_SVDST_V) != 0)) {
        write_registers(&r, triangle ? 3 : 2);
    }
    if (facet_xphmg_config_banks(h->units.config) != 0) {
        facet_pmask_write_p0(h, (r.hits & 1) != 0);
    }
    facet_lanes_retire(h, &r.lanes, true, true);
    return true;
}
