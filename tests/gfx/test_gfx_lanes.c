/* Lanes in groups of eight against the functions of single lanes: bits, and no flag but NX. */
#include "base/float.h"
#include "gfx/lanes.h"
#include "harness.h"

enum { LANES = FACET_GFX_LANES, SLOTS = 16 };

static uint32_t taps[SLOTS][LANES], windows[2][SLOTS][LANES];
static struct facet_gfx_numbers numbers;

static unsigned below(unsigned n)
{
    return (unsigned)((harness_random() >> 32) % n);
}

/* Mostly ordinary numbers, many of them alike; `style` 1 and 2: more and more unusual ones; 3:
 * small ones. */
static uint32_t element(unsigned style)
{
    static const uint32_t special[] = {
        0,          0x80000000, 0x3F800000, 0xBF800000, 0x20800000, /* 2^-62 */
        0x207FFFFF, 0x5EFFFFFF,                                     /* just below 2^63 */
        0x5F000000, 0x0D800000,                                     /* 2^-100 */
        0x0D7FFFFF, 0x00800000, 0x007FFFFF, 1,          0x7F7FFFFF, 0x7F800000,
        0xFF800000, 0x7FC00000, 0x7F800001, 0x24000000, 0x33D6BF95};
    const uint64_t r = harness_random();
    const uint32_t sign = (uint32_t)(r >> 63) << 31;

    if (style == 3) { /* as small as products take, in steps that cancel out */
        return (127 - 40 - below(22)) << 23 | (uint32_t)(r >> 16 & 3) << 21 | (r >> 20 & 1) | sign;
    }
    if (style != 0 && r % (style == 1 ? 40 : 4) == 0) {
        return special[below(sizeof special / sizeof special[0])] ^ sign;
    }
    switch (r >> 8 & 7) {
    case 0:
        return sign;
    case 1:
        return 0x3F800000 | sign;
    case 2: /* far apart */
        return (uint32_t)(r >> 16 & 0x7FFFFF) | (127 - 45 + below(90)) << 23 | sign;
    default:
        return (uint32_t)(r >> 16 & 0x7FFFFF) | (127 - 3 + below(6)) << 23 | sign;
    }
}

/* Coefficients from 0 to 1. */
static uint32_t fraction(void)
{
    const uint64_t r = harness_random();

    return r % 8 == 0   ? 0
           : r % 8 == 1 ? 0x3F800000
           : r % 8 == 2 ? 0x80000000
                        : facet_float_bits((float)(r >> 40) * 0x1p-24f);
}

static void fill(unsigned style)
{
    for (unsigned k = 0; k < SLOTS * LANES; k++) {
        taps[k / LANES][k % LANES] = element(style);
        windows[0][k / LANES][k % LANES] = element(style);
        windows[1][k / LANES][k % LANES] = element(style);
    }
    for (unsigned i = 0; i < 2 * LANES && style != 2; i++) {
        windows[0][FACET_GFX_INTERP_FRAC + i / LANES][i % LANES] = fraction();
    }
}

static uint64_t some_lanes(void)
{
    const uint64_t r = harness_random();

    return below(3) == 0 ? UINT64_MAX : below(2) == 0 ? r & harness_random() & (r << 9) : r;
}

static void column(uint32_t from[SLOTS][LANES], unsigned lane, uint32_t to[SLOTS])
{
    for (unsigned k = 0; k < SLOTS; k++) {
        to[k] = from[k][lane];
    }
}

/* One lane the other way; `what` as in `kernels_equal_single_lanes`. */
union operation {
    struct facet_gfx_interp interp;
    struct facet_gfx_shade shade;
    struct facet_gfx_cull cull;
    struct facet_gfx_cull_box box;
};
enum what { INTERP, SHADE, POINTS, BOXES, WHATS };

static void make(enum what what, unsigned style, union operation *op)
{
    memset(op, 0, sizeof *op);
    switch (what) {
    case INTERP:
        op->interp = (struct facet_gfx_interp){
            .channels = (uint8_t)(1 + below(4)),
            .perspective = below(2) != 0,
            .premultiply = below(3) == 0,
            .bias = below(3) == 0,
        };
        break;
    case SHADE:
        op->shade = (struct facet_gfx_shade){
            .op = (uint8_t)below(4),
            .channels = (uint8_t)(1 + below(4)),
            .light = below(2) != 0,
            .normalize = below(2) != 0,
        };
        break;
    case POINTS:
        op->cull = (struct facet_gfx_cull){
            .side = (uint8_t)below(4), .keep = below(2) != 0, .planes = below(2) != 0 ? 1 : 6};
        for (unsigned k = 0; k < 24; k++) {
            op->cull.plane[k / 4][k % 4] = element(style);
        }
        break;
    default:
        op->box = (struct facet_gfx_cull_box){
            .keep = below(2) != 0,
            .contain = below(2) != 0,
            .transform = below(2) != 0,
            .transpose = below(2) != 0,
        };
        for (unsigned k = 0; k < 24; k++) {
            op->box.plane[k / 4][k % 4] = element(style);
        }
        for (unsigned k = 0; k < 16; k++) {
            op->box.matrix[k] = element(style);
        }
        break;
    }
}

/* out: results, or whether the lane survives. */
static void
one_lane(enum what what, const union operation *op, unsigned lane, uint32_t out[4], unsigned *flags)
{
    uint32_t t[SLOTS], a[SLOTS], b[SLOTS];

    column(taps, lane, t);
    column(windows[0], lane, a);
    column(windows[1], lane, b);
    switch (what) {
    case INTERP:
        facet_gfx_interp(&numbers, &op->interp, t, a, b, out, flags);
        break;
    case SHADE:
        facet_gfx_shade(&numbers, &op->shade, t, t + 4, a, b, out, flags);
        break;
    case POINTS:
        out[0] = facet_gfx_cull_point(&numbers, &op->cull, a, flags);
        break;
    default:
        out[0] = facet_gfx_cull_box(&numbers, &op->box, a, flags);
        break;
    }
}

static bool all_lanes(const struct facet_gfx_lane_kernels *kernels,
                      enum what what,
                      const union operation *op,
                      uint64_t active,
                      uint32_t out[4][LANES])
{
    const struct facet_gfx_slots t = {(const uint8_t *)taps, sizeof taps[0]};
    const struct facet_gfx_slots a = {(const uint8_t *)windows[0], sizeof taps[0]};
    const struct facet_gfx_slots b = {(const uint8_t *)windows[1], sizeof taps[0]};
    uint64_t survivors = ~active;
    bool done;

    switch (what) {
    case INTERP:
        return kernels->interp(&op->interp, &t, &a, &b, active, out);
    case SHADE:
        return kernels->shade(&op->shade, &t, &a, &b, active, out);
    case POINTS:
        done = kernels->points(&op->cull, &a, active, &survivors);
        break;
    default:
        done = kernels->boxes(&op->box, &a, active, &survivors);
        break;
    }
    CHECK_EQ(survivors & ~active, done ? 0 : ~active); /* nothing was done, or all of it */
    for (unsigned i = 0; i < LANES; i++) {
        out[0][i] = survivors >> i & 1;
    }
    return done;
}

static unsigned results_of(enum what what, const union operation *op)
{
    return what == INTERP  ? op->interp.channels
           : what == SHADE ? facet_gfx_shade_results(&op->shade)
                           : 1;
}

static unsigned kernels_of(const struct facet_gfx_lane_kernels *kernels[2])
{
    kernels[0] = &facet_gfx_lanes_portable;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        kernels[1] = &facet_gfx_lanes_avx2;
        return 2;
    }
#endif
    return 1;
}

TEST(kernels_equal_single_lanes, "")
{
    const unsigned rounds = harness_long() ? 100000 : 4000;
    const struct facet_gfx_lane_kernels *kernels[2];
    const unsigned count = kernels_of(kernels);
    unsigned done[WHATS][3] = {{0}}, declined = 0;

    for (unsigned c = 0; c < 4; c++) {
        numbers.channel[c] = (struct facet_conv){.elem = FACET_FMT_FP32, .acc = FACET_FMT_FP32};
    }
    for (unsigned round = 0; round < rounds && !harness_failed(); round++) {
        const enum what what = round % WHATS;
        const unsigned style = below(8) == 0 ? 2 : below(4) == 0;
        uint64_t active = some_lanes();
        static uint32_t out[2][4][LANES];
        union operation op;
        bool taken[2] = {false};

        make(what, style == 2 ? 1 : 0, &op);
        fill(style);
        if (style != 0) { /* few lanes, or hardly any would go through */
            active &= harness_random() & harness_random() & harness_random();
        }
        for (unsigned k = 0; k < count; k++) {
            taken[k] = all_lanes(kernels[k], what, &op, active, out[k]);
            CHECK_EQ(taken[k], taken[0]);
        }
        done[what][style] += taken[0];
        declined += !taken[0];
        for (unsigned i = 0; taken[0] && i < LANES; i++) {
            uint32_t want[4];
            unsigned flags = 0;

            if ((active >> i & 1) == 0) {
                continue;
            }
            one_lane(what, &op, i, want, &flags);
            CHECK_EQ(flags & ~(unsigned)FACET_NX, 0);
            for (unsigned k = 0; k < count * results_of(what, &op); k++) {
                CHECK_EQ(out[k % count][k / count][i], want[k / count]);
            }
        }
    }
    for (unsigned what = 0; what < WHATS; what++) { /* neither always nor never */
        CHECK(done[what][0] > rounds / 20);
        CHECK(done[what][1] != 0);
    }
    CHECK(declined != 0);
}

TEST(unusual_numbers_of_other_lanes_do_not_matter, "")
{
    const struct facet_gfx_shade op = {.op = FACET_GFX_MUL, .channels = 4};
    const struct facet_gfx_slots t = {(const uint8_t *)taps, sizeof taps[0]};
    uint32_t out[4][LANES];

    for (unsigned k = 0; k < SLOTS * LANES; k++) {
        taps[k / LANES][k % LANES] = k % LANES == 20 ? 0x3F000000 : 0x7F800001;
    }
    CHECK(facet_gfx_lanes()->shade(&op, &t, &t, &t, UINT64_C(1) << 20, out));
    CHECK_EQ(out[3][20], 0x3E800000);
    CHECK(!facet_gfx_lanes()->shade(&op, &t, &t, &t, UINT64_C(3) << 20, out));
}

/* Row i of the matrix times a vector, by the single operations. */
TEST(products_equal_sums_of_single_operations, "")
{
    const unsigned rounds = harness_long() ? 200000 : 20000;
    const struct facet_gfx_lane_kernels *kernels[2];
    const unsigned ways = kernels_of(kernels);
    const struct facet_conv conv = {.elem = FACET_FMT_FP32, .acc = FACET_FMT_FP32};
    unsigned done = 0;

    for (unsigned round = 0; round < rounds && !harness_failed(); round++) {
        const unsigned style = below(3), count = 1 + below(8);
        const unsigned kind = style == 0 ? 0 : style == 1 ? 1 : 3;
        uint32_t columns[16], in[32], out[2][33];
        bool taken[2] = {false};

        for (unsigned k = 0; k < 16; k++) {
            columns[k] = element(kind);
        }
        for (unsigned k = 0; k < 32; k++) {
            in[k] = element(kind);
        }
        for (unsigned k = 0; k < ways; k++) {
            out[k][4 * count] = 0xABCD;
            taken[k] = kernels[k]->product(columns, in, count, out[k]);
            CHECK_EQ(taken[k], taken[0]);
            CHECK_EQ(out[k][4 * count], 0xABCD);
        }
        done += taken[0];
        for (unsigned k = 0; taken[0] && k < 4 * count; k++) {
            const uint32_t *v = in + (k & ~3u);
            unsigned flags = 0;
            uint32_t want = facet_acc_mul(&conv, columns[k % 4], v[0], &flags);

            for (unsigned j = 1; j < 4; j++) {
                want = facet_acc_fma(&conv, columns[4 * j + k % 4], v[j], want, &flags);
            }
            CHECK_EQ(flags & ~(unsigned)FACET_NX, 0);
            for (unsigned way = 0; way < ways; way++) {
                CHECK_EQ(out[way][k], want);
            }
        }
    }
    CHECK(done > rounds / 4 && done < rounds);
}
