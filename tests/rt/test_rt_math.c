/* src/rt: the worked examples of the contract, a second formulation on MPFR over random and
 * adversarial numbers in every format, watertight fans, and exact rational geometry. */
#include "harness.h"

#include "base/float.h"
#include "examples.h"
#include "oracle.h"
#include "reference.h"
#include "rt/host.h"
#include "rt/layout.h"
#include "rt/rt.h"

#include <gmp.h>
#include <math.h>

static struct facet_rt_numbers plain(enum facet_format elem, unsigned rm)
{
    struct facet_rt_numbers n;

    for (unsigned c = 0; c < 4; c++) {
        n.channel[c] =
            (struct facet_conv){.elem = (uint8_t)elem, .acc = FACET_FMT_FP32, .rm = (uint8_t)rm};
    }
    return n;
}

/* ---- worked examples ---------------------------------------------------------------------------
 */

static struct facet_rt_lane run_example(const struct rt_example *e, unsigned *flags)
{
    struct facet_rt_numbers n = plain(FACET_FMT_FP32, e->rm);
    struct facet_rt_box_options box = {.t_clamp = e->t_clamp, .w_guard = e->w_guard};
    struct facet_rt_options options = {.eps = facet_rt_epsilon(e->eps), .cull_back = e->cull_back};

    return e->triangle ? facet_rt_triangle_lane(&n, &options, e->ray, e->item, flags)
                       : facet_rt_box_lane(&n, &box, e->ray, e->item, flags);
}

/* The rows that an example is about, by its name in rt-semantics.md 13. */
static const char *row_of_example(const struct rt_example *e)
{
    static const struct {
        const char *name, *ids;
    } rows[] = {{"X02", "RT-151"},
                {"X03", "RT-148"},
                {"X04", "RT-148"},
                {"X11", "RT-149"},
                {"X12", "RT-174"},
                {"X17", "RT-163"},
                {"X22", "RT-165 RT-168"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strncmp(e->name, rows[i].name, 3) == 0) {
            return rows[i].ids;
        }
    }
    return e->triangle ? "RT-166 RT-219" : "RT-147 RT-219";
}

static void check_example(const struct rt_example *e, void *context)
{
    struct facet_rt_numbers n = plain(FACET_FMT_FP32, e->rm);
    unsigned flags = 0;
    struct facet_rt_lane lane = run_example(e, &flags);
    uint32_t out[3];

    (void)context;
    facet_rt_lane_encode(&n, false, &lane, out, &flags);
    harness_row(row_of_example(e));
    CHECK_MSG((lane.outcome == FACET_RT_HIT) == e->hit, "%s: outcome %d", e->name, lane.outcome);
    CHECK_MSG(flags == e->flags, "%s: flags %x, expected %x", e->name, flags, e->flags);
    for (unsigned i = 0; i < lane.count; i++) {
        CHECK_MSG(out[i] == e->value[i],
                  "%s: value %u is %08x, expected %08x",
                  e->name,
                  i,
                  out[i],
                  e->value[i]);
    }
    if (e->edges) {
        struct facet_rt_options options = {.eps = facet_rt_epsilon(e->eps),
                                           .cull_back = e->cull_back};
        struct facet_rt_ray ray;
        struct facet_rt_triangle triangle;
        struct facet_rt_facet hit;

        (void)facet_rt_ray_widen(&n, e->ray, &ray, &flags);
        (void)facet_rt_triangle_widen(&n, e->item, &triangle, &flags);
        hit = facet_rt_test_triangle(&n, &ray, &triangle, &options, &flags);
        CHECK_MSG(hit.edges && memcmp(hit.edge, e->edge, sizeof hit.edge) == 0,
                  "%s: edges %08x %08x %08x",
                  e->name,
                  hit.edge[0],
                  hit.edge[1],
                  hit.edge[2]);
    }
}

TEST(worked_examples, "")
{
    CHECK_EQ(rt_examples(check_example, NULL), 19 + 20);
}

static uint64_t packed_of(const struct facet_rt_lane *lane, const uint32_t out[3])
{
    uint64_t word = lane->outcome == FACET_RT_HIT ? 1ull << 63 : 0;

    for (unsigned i = 0; i < lane->count; i++) {
        word |= (uint64_t)out[i] << 16 * i;
    }
    return word;
}

static void check_packed(const struct rt_example *e, void *context)
{
    static const struct {
        const char *name;
        uint64_t word;
        unsigned flags;
    } rows[] = {
        {"X15", 0x80003350310741b7, FACET_NX | FACET_DOWN},
        {"X16a", 0x8000380000004200, FACET_DOWN},
        {"X17b", 0x800000003c004200, FACET_DOWN},
        {"X18a", 0x8000380000013c00, FACET_NX | FACET_UF | FACET_DOWN},
        {"X22", 0x0000000000007c00, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, e->name) == 0) {
            struct facet_rt_numbers n = plain(FACET_FMT_FP32, e->rm);
            unsigned flags = 0;
            struct facet_rt_lane lane = run_example(e, &flags);
            uint32_t out[3];

            facet_rt_lane_encode(&n, true, &lane, out, &flags);
            CHECK_EQ(packed_of(&lane, out), rows[i].word);
            CHECK_EQ(flags, rows[i].flags);
            ++*(unsigned *)context;
        }
    }
}

TEST(packed_examples, "RT-157 RT-211 RT-239")
{
    unsigned seen = 0;

    (void)rt_examples(check_packed, &seen);
    CHECK_EQ(seen, 5);
}

TEST(saturation_and_integers_by_example, "RT-078 RT-186 RT-204 RT-210")
{
    const uint32_t ray[8] = {0, 0, 0, 0x35800000, 0x35800000, 0x3f800000, 0, 0x7f800000};
    const uint32_t box[6] = {
        0xbf800000, 0xbf800000, 0x4788b800, 0x3f800000, 0x3f800000, 0x47afc800};
    const uint32_t ray8[8] = {0x00, 0x01, 0xf6, 0x00, 0x01, 0x03, 0x00, 0x64};
    const uint32_t box8[6] = {0xfc, 0xfc, 0xfd, 0x04, 0x04, 0x05};
    struct facet_rt_box_options options = {0};
    struct facet_rt_numbers n = plain(FACET_FMT_FP32, FACET_RNE);
    unsigned flags = 0;
    struct facet_rt_lane lane = facet_rt_box_lane(&n, &options, ray, box, &flags);
    uint32_t out[3];

    CHECK_EQ(flags, 0); /* X14c */
    facet_rt_lane_encode(&n, true, &lane, out, &flags);
    CHECK_EQ(packed_of(&lane, out), 0x800000007c007c00); /* X14a */
    CHECK_EQ(flags, FACET_OF | FACET_NX | FACET_DOWN);
    n.channel[3].sat = true;
    flags = 0;
    facet_rt_lane_encode(&n, true, &lane, out, &flags);
    CHECK_EQ(packed_of(&lane, out), 0x800000007bff7bff); /* X14b */
    CHECK_EQ(flags, FACET_SAT | FACET_DOWN);

    n = plain(FACET_FMT_INT8, FACET_RNE); /* X23 */
    flags = 0;
    lane = facet_rt_box_lane(&n, &options, ray8, box8, &flags);
    CHECK_EQ(lane.value[0], 0x40155556);
    CHECK_EQ(lane.value[1], 0x40400000);
    facet_rt_lane_encode(&n, false, &lane, out, &flags);
    CHECK_EQ(out[0], 2);
    CHECK_EQ(out[1], 3);
    CHECK_EQ(flags, FACET_DZ | FACET_NX | FACET_DOWN);
}

/* ---- against the second formulation ------------------------------------------------------------
 */

static unsigned pick(unsigned count)
{
    return (unsigned)(harness_random() % count);
}

/* A coordinate: small grid numbers that meet in planes and edges, ordinary ones, and the rim of the
 * format. */
static uint32_t coordinate(void)
{
    static const uint32_t rim[] = {0,          0x80000000, 1,          0x80000001, 0x007FFFFF,
                                   0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000,
                                   0x7FC00000, 0x7F800001, 0x3F800000, 0xBF800000, 0x3F7FFFFF,
                                   0x34000000, 0x1F800000, 0x5F800000, 0x00000100, 0x20000000};

    switch (pick(16)) {
    case 0:
        return rim[pick(sizeof rim / sizeof rim[0])];
    case 1:
        return (uint32_t)harness_random();
    case 2: /* any exponent, few digits */
        return (uint32_t)harness_random() & 0xFFF00000 & 0xBFFFFFFF;
    case 3:
    case 4:
    case 5:
        return facet_float_bits((float)((int)pick(17) - 8));
    default:
        return facet_float_bits((float)((int)pick(1u << 20) - (1 << 19)) * 0x1p-17f);
    }
}

static uint32_t element_of(const struct facet_conv *conv, uint32_t fp32)
{
    unsigned unused = 0;

    if (conv->elem == FACET_FMT_FP32) {
        return fp32;
    }
    if (pick(12) == 0) {
        return (uint32_t)harness_random() &
               (uint32_t)((1ull << facet_format_width(conv->elem)) - 1);
    }
    return facet_narrow(conv, fp32, &unused);
}

static void random_request(struct rt_request *q, struct facet_rt_numbers *n)
{
    static const uint8_t formats[] = {FACET_FMT_FP32,
                                      FACET_FMT_FP32,
                                      FACET_FMT_FP32,
                                      FACET_FMT_FP16,
                                      FACET_FMT_BF16,
                                      FACET_FMT_E4M3,
                                      FACET_FMT_E5M2,
                                      FACET_FMT_BF16_LITE,
                                      FACET_FMT_INT32,
                                      FACET_FMT_INT16,
                                      FACET_FMT_INT8,
                                      FACET_FMT_INT4,
                                      FACET_FMT_INT2};
    bool quantized = pick(3) == 0;
    struct facet_conv conv = {
        .elem = formats[pick(sizeof formats)],
        .acc = FACET_FMT_FP32,
        .rm = (uint8_t)pick(5),
        .nan_pol = (uint8_t)pick(3),
        .ftz = pick(3) == 0,
        .sat = pick(2) != 0,
        .sat_mode = pick(2) != 0,
        .uns = quantized && pick(2) != 0,
        .scale = (int16_t)(quantized ? (int)pick(9) - 4 : 0),
    };

    *q = (struct rt_request){
        .rm = conv.rm,
        .ftz = conv.ftz,
        .t_clamp = pick(2) != 0,
        .w_guard = pick(4) == 0,
        .cull_back = pick(3) == 0,
        .pred_only = pick(4) == 0,
        .packed = pick(2) != 0,
        .eps = pick(3) == 0 ? pick(256) : 0,
    };
    for (unsigned c = 0; c < 4; c++) {
        conv.zp = (int16_t)(quantized && facet_format_is_int(conv.elem) ? (int)pick(7) - 3 : 0);
        q->conv[c] = n->channel[c] = conv;
    }
}

static void random_ray(const struct facet_rt_numbers *n, uint32_t ray[9])
{
    for (unsigned i = 0; i < 6; i++) {
        ray[i] = element_of(&n->channel[i % 3], coordinate());
    }
    ray[6] = element_of(&n->channel[3], pick(4) == 0 ? coordinate() : 0);
    ray[7] = element_of(&n->channel[3], pick(4) == 0 ? coordinate() : 0x7F800000);
    ray[8] = element_of(&n->channel[3], pick(3) == 0 ? 0x80000000 : coordinate());
}

static void compare(const struct rt_request *q,
                    const struct facet_rt_numbers *n,
                    const struct facet_rt_lane *lane,
                    unsigned flags,
                    const struct rt_reference *want)
{
    uint32_t out[3] = {0};

    if (!q->pred_only) {
        facet_rt_lane_encode(n, q->packed, lane, out, &flags);
    }
    CHECK_MSG((int)lane->outcome == want->outcome,
              "format %u mode %u: outcome %d, expected %d",
              q->conv[0].elem,
              q->rm,
              lane->outcome,
              want->outcome);
    CHECK_MSG(flags == want->flags,
              "format %u mode %u outcome %d: flags %x, expected %x",
              q->conv[0].elem,
              q->rm,
              lane->outcome,
              flags,
              want->flags);
    for (unsigned i = 0; i < lane->count; i++) {
        CHECK_MSG(want->outcome != FACET_RT_HIT || (q->pred_only && i > 0 && lane->count == 3) ||
                      lane->value[i] == want->value[i],
                  "format %u mode %u: value %u is %08x, expected %08x",
                  q->conv[0].elem,
                  q->rm,
                  i,
                  lane->value[i],
                  want->value[i]);
        CHECK_MSG(q->pred_only || out[i] == want->element[i],
                  "format %u mode %u packed %d: element %u is %08x, expected %08x",
                  q->conv[0].elem,
                  q->rm,
                  q->packed,
                  i,
                  out[i],
                  want->element[i]);
    }
}

TEST(boxes_equal_the_mpfr_formulation, "RT-147 RT-184 RT-187 RT-219")
{
    unsigned rounds = harness_long() ? 1000000 : 40000, hits = 0;

    for (unsigned i = 0; i < rounds && !harness_failed(); i++) {
        struct facet_rt_numbers n;
        struct rt_request q;
        uint32_t ray[9], box[6];
        unsigned flags = 0, ignored = 0;
        struct facet_rt_lane lane, other;
        struct rt_reference want;

        random_request(&q, &n);
        random_ray(&n, ray);
        for (unsigned a = 0; a < 3; a++) {
            uint32_t low = coordinate(), high = coordinate();
            bool swap = facet_float_of(low) > facet_float_of(high) && pick(8) != 0;

            box[a] = element_of(&n.channel[a], swap ? high : low);
            box[3 + a] = element_of(&n.channel[a], swap ? low : high);
            if (pick(8) == 0) {
                ray[a] = box[a]; /* an origin on a plane */
            }
        }
        lane = facet_rt_box_lane(
            &n,
            &(struct facet_rt_box_options){.t_clamp = q.t_clamp, .w_guard = q.w_guard},
            ray,
            box,
            &flags);
        want = rt_ref_box(&q, ray, box);
        other = facet_rt_box_lane(
            &n,
            &(struct facet_rt_box_options){.t_clamp = !q.t_clamp, .w_guard = q.w_guard},
            ray,
            box,
            &ignored);
        CHECK_ID("RT-136", other.outcome == lane.outcome);
        compare(&q, &n, &lane, flags, &want);
        hits += want.outcome == FACET_RT_HIT;
    }
    CHECK_MSG(hits > rounds / 20, "only %u hits of %u", hits, rounds);
}

TEST(triangles_equal_the_mpfr_formulation, "RT-155 RT-169 RT-184 RT-187 RT-219 RT-242 RT-243")
{
    unsigned rounds = harness_long() ? 400000 : 20000, hits = 0;

    for (unsigned i = 0; i < rounds && !harness_failed(); i++) {
        struct facet_rt_numbers n;
        struct rt_request q;
        uint32_t ray[9], v[9];
        unsigned flags = 0;
        struct facet_rt_lane lane;
        struct rt_reference want;

        random_request(&q, &n);
        random_ray(&n, ray);
        for (unsigned k = 0; k < 9; k++) {
            v[k] = element_of(&n.channel[k % 3], coordinate());
        }
        if (pick(3) != 0) { /* aim: the middle of the triangle, an edge, or a vertex */
            double weight[3] = {pick(4), pick(4), pick(4)}, sum = weight[0] + weight[1] + weight[2];

            for (unsigned a = 0; a < 3; a++) {
                unsigned unused = 0;
                double at = 0;

                for (unsigned j = 0; j < 3; j++) {
                    at += (sum == 0 ? 1.0 / 3 : weight[j] / sum) *
                          (double)facet_float_of(facet_widen(&n.channel[a], v[3 * j + a], &unused));
                }
                ray[3 + a] = element_of(
                    &n.channel[a],
                    facet_float_bits((float)(at - (double)facet_float_of(facet_widen(
                                                      &n.channel[a], ray[a], &unused)))));
            }
        }
        lane = facet_rt_triangle_lane(&n,
                                      &(struct facet_rt_options){.eps = facet_rt_epsilon(q.eps),
                                                                 .cull_back = q.cull_back,
                                                                 .no_uv = q.pred_only},
                                      ray,
                                      v,
                                      &flags);
        want = rt_ref_triangle(&q, ray, v);
        compare(&q, &n, &lane, flags, &want);
        hits += want.outcome == FACET_RT_HIT;
    }
    CHECK_MSG(hits > rounds / 20, "only %u hits of %u", hits, rounds);
}

TEST(every_half_converts_as_numeric_md_says, "RT-172")
{
    for (uint32_t code = 0; code < 0x10000 && !harness_failed(); code++) {
        struct facet_rt_numbers n = plain(FACET_FMT_FP16, code % 5);
        uint32_t elements[8] = {0}, out;
        struct ref_result wide, back;
        struct facet_rt_ray ray;
        unsigned flags = 0;

        elements[code % 3] = code;
        (void)facet_rt_ray_widen(&n, elements, &ray, &flags);
        wide = ref_widen(&n.channel[0], code);
        CHECK_EQ(ray.o[code % 3], wide.bits);
        CHECK_EQ(flags, wide.flags);
        flags = 0;
        out = facet_rt_encode(&n, false, FACET_RT_HIT, code << 16 | 0x5678, FACET_RT_HIGH, &flags);
        back = ref_narrow(&n.channel[0], code << 16 | 0x5678);
        CHECK_EQ(out, back.bits);
        CHECK_EQ(flags, back.flags);
    }
}

/* ---- the host's floating point -----------------------------------------------------------------
 */

/* The same bits, and the same flags but for NX, wherever the host answers; and it answers often. */
TEST(the_host_gives_the_same_bits, "")
{
    unsigned rounds = harness_long() ? 20000000 : 400000, boxes = 0, triangles = 0;
    struct facet_rt_numbers n = plain(FACET_FMT_FP32, FACET_RNE);

    CHECK(facet_rt_host_fits(&n));
    for (unsigned i = 0; i < rounds && !harness_failed(); i++) {
        bool tame = pick(4) != 0;
        uint32_t elements[9], item[9];
        unsigned none = 0, flags = 0, host_flags = 0;
        struct facet_rt_host_ray host;
        struct facet_rt_ray ray;
        struct facet_rt_box box;
        struct facet_rt_triangle triangle;
        struct facet_rt_slab slab, host_slab;
        struct facet_rt_facet hit, host_hit;
        struct facet_rt_options options = {.eps = pick(4) == 0 ? facet_rt_epsilon(pick(256)) : 0,
                                           .cull_back = pick(3) == 0,
                                           .no_uv = pick(5) == 0};

        random_ray(&n, elements);
        for (unsigned k = 0; k < 9; k++) {
            item[k] = tame ? facet_float_bits((float)((int)pick(1u << 20) - (1 << 19)) * 0x1p-17f)
                           : coordinate();
        }
        for (unsigned k = 0; k < 6 && tame; k++) {
            elements[k] = facet_float_bits((float)((int)pick(1u << 20) - (1 << 19)) * 0x1p-17f);
        }
        if (facet_rt_ray_widen(&n, elements, &ray, &none)) {
            continue;
        }
        facet_rt_host_ray(&n, &ray, &host);
        if (!facet_rt_box_widen(&n, item, &box, &none)) {
            slab = facet_rt_test_box(&n, &ray, &box, &flags);
            if (facet_rt_host_box(&host, item, &host_slab, &host_flags)) {
                boxes++;
                CHECK_EQ(host_slab.outcome, slab.outcome);
                CHECK_EQ((host_flags ^ flags) & ~(unsigned)FACET_NX, 0);
                CHECK(slab.outcome != FACET_RT_HIT ||
                      (host_slab.near == slab.near && host_slab.far == slab.far &&
                       host_slab.cnear == slab.cnear && host_slab.cfar == slab.cfar));
            } else {
                CHECK_EQ(host_flags, 0);
            }
        } else {
            CHECK(!facet_rt_host_box(&host, item, &host_slab, &host_flags));
        }
        flags = host_flags = 0;
        if (pick(2) == 0) { /* towards the triangle */
            for (unsigned a = 0; a < 3; a++) {
                ray.d[a] = facet_float_bits(
                    0.5f * facet_float_of(item[a]) + 0.25f * facet_float_of(item[3 + a]) +
                    0.25f * facet_float_of(item[6 + a]) - facet_float_of(ray.o[a]));
            }
            if (isnan(facet_float_of(ray.d[0]) + facet_float_of(ray.d[1]) +
                      facet_float_of(ray.d[2]))) {
                continue;
            }
            facet_rt_host_ray(&n, &ray, &host);
        }
        if (!facet_rt_triangle_widen(&n, item, &triangle, &none)) {
            hit = facet_rt_test_triangle(&n, &ray, &triangle, &options, &flags);
            if (facet_rt_host_triangle(&host, item, &options, &host_hit, &host_flags)) {
                triangles++;
                CHECK_EQ(host_hit.outcome, hit.outcome);
                CHECK_EQ((host_flags ^ flags) & ~(unsigned)FACET_NX, 0);
                CHECK(memcmp(host_hit.edge, hit.edge, sizeof hit.edge) == 0);
                CHECK(hit.outcome != FACET_RT_HIT ||
                      (host_hit.t == hit.t && host_hit.u == hit.u && host_hit.v == hit.v &&
                       host_hit.front == hit.front));
            } else {
                CHECK_EQ(host_flags, 0);
            }
        } else {
            CHECK(!facet_rt_host_triangle(&host, item, &options, &host_hit, &host_flags));
        }
    }
    CHECK_MSG(boxes > rounds / 2, "the host did %u boxes of %u", boxes, rounds);
    CHECK_MSG(triangles > rounds / 2, "the host did %u triangles of %u", triangles, rounds);
}

/* ---- geometry ----------------------------------------------------------------------------------
 */

static float random_float(void)
{
    return (float)((double)(int64_t)harness_random() * 0x1p-63); /* -1 to 1 */
}

static uint32_t hits_triangle(unsigned rm, bool ftz, const uint32_t ray[8], const uint32_t v[9])
{
    struct facet_rt_numbers n = plain(FACET_FMT_FP32, rm);
    struct facet_rt_options options = {0};
    unsigned flags = 0;

    n.channel[0].ftz = n.channel[1].ftz = n.channel[2].ftz = n.channel[3].ftz = ftz;
    return facet_rt_triangle_lane(&n, &options, ray, v, &flags).outcome == FACET_RT_HIT;
}

/* A closed fan around a vertex: rays aimed at the vertex, at spokes and at inner points must hit,
 * in every rounding mode, whatever is lost when the aim is rounded (it stays well inside). */
TEST(fans_have_no_cracks, "RT-164")
{
    enum { SPOKES = 7 };
    unsigned fans = harness_long() ? 20000 : 800;

    for (unsigned f = 0; f < fans && !harness_failed(); f++) {
        float centre[3], rim[SPOKES][3], origin[3];
        float scale = ldexpf(1, (int)pick(21) - 10);

        for (unsigned a = 0; a < 3; a++) {
            centre[a] = random_float() * 0.1f * scale;
            origin[a] = a == 2 ? scale * (-4.0f + random_float()) : random_float() * scale;
        }
        for (unsigned k = 0; k < SPOKES; k++) {
            double angle = 6.283185307179586 * (k + 0.3 * (double)random_float()) / SPOKES;

            rim[k][0] = scale * (float)cos(angle);
            rim[k][1] = scale * (float)sin(angle);
            rim[k][2] = 0.1f * random_float() * scale;
        }
        for (unsigned shot = 0; shot < 10; shot++) {
            unsigned spoke = pick(SPOKES), rm = pick(5), axis = pick(3), found = 0;
            float along = shot < 3 ? 0 : 0.8f * fabsf(random_float());
            bool ftz = pick(4) == 0;
            uint32_t ray[8];

            for (unsigned a = 0; a < 3; a++) { /* axes rotated, so that each becomes kz */
                float at = centre[a] + along * (rim[spoke][a] - centre[a]);

                ray[(a + axis) % 3] = facet_float_bits(origin[a]);
                ray[3 + (a + axis) % 3] = facet_float_bits(at - origin[a]);
            }
            ray[6] = 0, ray[7] = 0x7F800000;
            for (unsigned k = 0; k < SPOKES; k++) {
                const float *corner[3] = {centre, rim[k], rim[(k + 1) % SPOKES]};
                uint32_t v[9];

                for (unsigned i = 0; i < 9; i++) {
                    v[3 * (i / 3) + (i % 3 + axis) % 3] = facet_float_bits(corner[i / 3][i % 3]);
                }
                found += hits_triangle(rm, ftz, ray, v);
            }
            CHECK_MSG(found >= 1, "fan %u: a ray at spoke %u slips through, mode %u", f, spoke, rm);
        }
    }
}

/* t, u, v by exact rationals (Moeller and Trumbore), rounded to double once at the end. */
static bool exact_hit(const float o[3], const float d[3], const float v[3][3], double tuv[3])
{
    mpq_t e1[3], e2[3], s[3], p[3], q[3], dir[3], det, acc, x;
    bool regular;

#define EACH(what)                                                                                 \
    for (unsigned a = 0; a < 3; a++) {                                                             \
        what;                                                                                      \
    }
#define CROSS(out, m, n)                                                                           \
    EACH(mpq_mul(out[a], m[(a + 1) % 3], n[(a + 2) % 3]);                                          \
         mpq_mul(x, m[(a + 2) % 3], n[(a + 1) % 3]);                                               \
         mpq_sub(out[a], out[a], x))
#define DOT(m, n)                                                                                  \
    mpq_set_ui(acc, 0, 1);                                                                         \
    EACH(mpq_mul(x, m[a], n[a]); mpq_add(acc, acc, x))
    EACH(mpq_inits(e1[a], e2[a], s[a], p[a], q[a], dir[a], NULL))
    mpq_inits(det, acc, x, NULL);
    EACH(mpq_set_d(dir[a], (double)d[a]); mpq_set_d(x, (double)v[0][a]);
         mpq_set_d(e1[a], (double)v[1][a]);
         mpq_sub(e1[a], e1[a], x);
         mpq_set_d(e2[a], (double)v[2][a]);
         mpq_sub(e2[a], e2[a], x);
         mpq_set_d(s[a], (double)o[a]);
         mpq_sub(s[a], s[a], x))
    CROSS(p, dir, e2);
    DOT(e1, p);
    mpq_set(det, acc);
    regular = mpq_sgn(det) != 0;
    if (regular) {
        CROSS(q, s, e1);
        DOT(e2, q);
        mpq_div(x, acc, det);
        tuv[0] = mpq_get_d(x);
        DOT(s, p);
        mpq_div(x, acc, det);
        tuv[1] = mpq_get_d(x);
        DOT(dir, q);
        mpq_div(x, acc, det);
        tuv[2] = mpq_get_d(x);
    }
    EACH(mpq_clears(e1[a], e2[a], s[a], p[a], q[a], dir[a], NULL))
    mpq_clears(det, acc, x, NULL);
    return regular;
}

TEST(hits_are_those_of_exact_geometry, "RT-163 RT-240")
{
    unsigned rounds = harness_long() ? 400000 : 20000, hits = 0;
    struct facet_rt_numbers n = plain(FACET_FMT_FP32, FACET_RNE);
    struct facet_rt_options options = {0};

    for (unsigned i = 0; i < rounds && !harness_failed(); i++) {
        float o[3], d[3], v[3][3];
        uint32_t ray[8] = {[7] = 0x7F800000}, bits[9];
        double want[3] = {0};
        unsigned flags = 0;
        struct facet_rt_lane lane;

        for (unsigned a = 0; a < 3; a++) { /* well shaped: about 1 wide, seen from about 4 away */
            v[0][a] = 0.2f * random_float() - (a == 0);
            v[1][a] = 0.2f * random_float() + (a == 0);
            v[2][a] = 0.2f * random_float() + (a == 1);
            o[a] = 0.5f * random_float() - (a == 2 ? 4 : 0);
            d[a] = random_float() * 0.3f + (a == 2);
            ray[a] = facet_float_bits(o[a]);
            ray[3 + a] = facet_float_bits(d[a]);
        }
        for (unsigned k = 0; k < 9; k++) {
            bits[k] = facet_float_bits(v[k / 3][k % 3]);
        }
        lane = facet_rt_triangle_lane(&n, &options, ray, bits, &flags);
        if (!exact_hit(o, d, v, want)) {
            continue;
        }
        if (want[1] > 0x1p-16 && want[2] > 0x1p-16 && want[1] + want[2] < 1 - 0x1p-16 &&
            want[0] > 0) {
            hits++;
            CHECK_MSG(
                lane.outcome == FACET_RT_HIT, "an inner hit is missed: %g %g", want[1], want[2]);
            CHECK_MSG(fabs((double)facet_float_of(lane.value[0]) - want[0]) < 0x1p-18 * want[0] &&
                          fabs((double)facet_float_of(lane.value[1]) - want[1]) < 0x1p-18 &&
                          fabs((double)facet_float_of(lane.value[2]) - want[2]) < 0x1p-18,
                      "t %a u %a v %a",
                      want[0],
                      want[1],
                      want[2]);
        } else if (want[1] < -0x1p-16 || want[2] < -0x1p-16 || want[1] + want[2] > 1 + 0x1p-16) {
            CHECK_MSG(lane.outcome == FACET_RT_MISS, "an outer miss is hit");
        }
    }
    CHECK_MSG(hits > rounds / 20, "only %u hits", hits);
}

/* ---- layouts -----------------------------------------------------------------------------------
 */

TEST(tiles_have_the_sizes_of_the_contract, "RT-089")
{
    static const struct {
        uint8_t nat, bytes, pack;
        unsigned tile, flags, ray, hit;
    } rows[] = {
        {8, 1, 0, 64, 0x3C, 32, 32},
        {16, 2, 0, 64, 0x3C, 32, 32},
        {32, 4, 0, 128, 0x7C, 64, 32},
        {32, 8, 0, 256, 0xFC, 128, 64},
        {8, 2, 1, 64, 0x3C, 32, 32},
        {16, 4, 1, 64, 0x3C, 64, 32},
        {8, 4, 2, 64, 0x3C, 64, 32},
        {32, 8, 1, 128, 0x7C, 128, 64},
        {16, 8, 2, 64, 0x3C, 128, 64},
        {4, 1, 1, 64, 0x3C, 32, 32},
        {2, 1, 2, 64, 0x3C, 32, 32},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct facet_container c = {
            .nat = rows[i].nat, .bytes = rows[i].bytes, .pack = rows[i].pack};

        CHECK_EQ(facet_rt_tile_bytes(&c), rows[i].tile);
        CHECK_EQ(facet_rt_tile_word(&c, 3), rows[i].flags);
        CHECK_EQ(facet_rt_ray_entry_bytes(&c), rows[i].ray);
        CHECK_EQ(facet_rt_hit_entry_bytes(&c), rows[i].hit);
    }
    for (unsigned slot = 0; slot < 4; slot++) {
        static const uint8_t types[] = {
            FACET_RT_EMPTY, FACET_RT_NODE, FACET_RT_LEAF, FACET_RT_EMPTY};

        for (unsigned code = 0; code < 4; code++) {
            CHECK_EQ(facet_rt_child_type(0x12345600 | code << 2 * slot, slot), types[code]);
        }
    }
    CHECK_EQ(facet_rt_child3_index(0x123456FF), 0x123456);
}
