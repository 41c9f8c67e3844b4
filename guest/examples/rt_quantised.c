/* RT: boxes in eight bits, triangles in FP32.
 *
 * The nodes of a BVH are made again with 8-bit elements, once FP8 (E4M3) and once INT8 with scale
 * and zero point: 64 bytes a node instead of 128. Minima are rounded down and maxima up, so a box
 * only grows and no hit is lost. The ray record has the elements of the nodes, so the rays here
 * have numbers that eight bits hold exactly; rays that do not need boxes that are grown by their
 * error too. A walk over the small nodes collects the leaves that the ray may meet (RT.BBOX, eight
 * bits); then one change of CAP.PREC, and the triangles decide (RT.TRI, FP32). */
#include "ball.h"

#include <stdint.h>
#include <string.h>
#include <xphmg.h>

enum { RAYS = 80, MAX_NODES = BALL_TRIANGLES + 2, STACK = 64, LEAVES = BALL_TRIANGLES };
enum { ZERO_POINT = 3, SCALE_LOG2 = -5 };

static float triangles[BALL_TRIANGLES][9];
static struct rt_bvh bvh;

/* ---- two formats of eight bits ---- */

struct format {
    const char *name;
    float (*value)(uint8_t code);
    uint64_t mode, alt; /* of CAP.PREC, without APPLY */
};

/* 1 sign, 4 exponent (bias 7), 3 mantissa; the code that would be infinity is a NaN. */
static float e4m3(uint8_t code)
{
    int exponent = code >> 3 & 15, mantissa = code & 7;
    float size =
        exponent == 0 ? ldexpf((float)mantissa, -9) : ldexpf((float)(mantissa + 8), exponent - 10);

    return (code & 0x7F) == 0x7F ? NAN : code >> 7 ? -size : size;
}

static float int8(uint8_t code)
{
    return ldexpf((float)((int8_t)code - ZERO_POINT), SCALE_LOG2);
}

static const struct format formats[] = {
    {"FP8 E4M3",
     e4m3,
     0,
     XPHMG_CAP_PREC_ALT_ALT_EN | XPHMG_FIELD(XPHMG_CAP_PREC_ALT_ALT_FMT, 2) |
         XPHMG_CAP_PREC_ALT_MIXED},
    {"INT8, scale 2^-5, zero point 3",
     int8,
     XPHMG_FIELD(XPHMG_CAP_PREC_MODE_PET, XPHMG_CAP_PREC_MODE_PET_INT8) | XPHMG_CAP_PREC_MODE_Q |
         XPHMG_FIELD(XPHMG_CAP_PREC_MODE_ZP_EN, XPHMG_CAP_PREC_MODE_ZP_EN_TENSOR) |
         XPHMG_FIELD(XPHMG_CAP_PREC_MODE_ZP, ZERO_POINT) |
         XPHMG_FIELD(XPHMG_CAP_PREC_MODE_SCALE_SH, (uint64_t)(uint8_t)SCALE_LOG2),
     0},
};

/* The code next to x that is not above (up: not below) it. */
static uint8_t encode(const struct format *format, float x, bool up)
{
    float best = up ? INFINITY : -INFINITY;
    uint8_t code = 0;

    for (unsigned c = 0; c < 256; c++) {
        float value = format->value((uint8_t)c);

        if (up ? value >= x && value < best : value <= x && value > best) {
            best = value;
            code = (uint8_t)c;
        }
    }
    CHECK(best - best == 0); /* within the format's range */
    return code;
}

static void use(const struct format *format)
{
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_ALT, format->alt | XPHMG_CAP_PREC_ALT_APPLY1);
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_MODE, format->mode | XPHMG_CAP_PREC_MODE_APPLY0);
}

/* ---- small nodes ---- */

static struct xphmg_bvh_node4_8 nodes[MAX_NODES];

/* Kind and index of a child; the words are alike in tiles of every element width. */
static uint32_t type_of(const struct xphmg_bvh_node4_8 *node, unsigned c)
{
    return node->child_flags >> XPHMG_BVH_NODE4_TYPE1_LSB * c & XPHMG_BVH_NODE4_TYPE0;
}

static uint32_t index_of(const struct xphmg_bvh_node4_8 *node, unsigned c)
{
    const uint32_t indices[4] = {node->child0_idx,
                                 node->child1_idx,
                                 node->child2_idx,
                                 node->child_flags >> XPHMG_BVH_NODE4_CHILD3_IDX_LSB};

    return indices[c];
}

/* Makes node `index` and those below it, under the same numbers; how many. */
static unsigned shrink(const struct format *format, uint32_t index)
{
    const struct xphmg_bvh_node4_32 *wide = (const struct xphmg_bvh_node4_32 *)bvh.heap + index;
    struct xphmg_bvh_node4_8 *node = &nodes[index];
    unsigned made = 1;

    CHECK(index < MAX_NODES);
    *node = (struct xphmg_bvh_node4_8){.child0_idx = wide->child0_idx,
                                       .child1_idx = wide->child1_idx,
                                       .child2_idx = wide->child2_idx,
                                       .child_flags = wide->child_flags};
    for (unsigned c = 0; c < 4; c++) {
        for (unsigned a = 0; type_of(node, c) != XPHMG_BVH_NODE4_TYPE0_EMPTY && a < 3; a++) {
            node->child[c].min[a] = encode(format, wide->child[c].min[a], false);
            node->child[c].max[a] = encode(format, wide->child[c].max[a], true);
        }
        if (type_of(node, c) == XPHMG_BVH_NODE4_TYPE0_NODE) {
            made += shrink(format, index_of(node, c));
        }
    }
    return made;
}

/* ---- tracing ---- */

/* The leaves whose boxes the ray meets; the record has eight elements of eight bits. */
static unsigned collect(const uint8_t record[8], uint32_t leaves[LEAVES], unsigned *tests)
{
    uint32_t stack[STACK] = {0};
    unsigned depth = 1, count = 0;

    while (depth > 0) {
        const struct xphmg_bvh_node4_8 *node = &nodes[stack[--depth]];

        for (unsigned c = 0; c < 4; c++) {
            uint32_t type = type_of(node, c);
            struct xphmg_slots out = {{0}};

            xphmg_csr_write(XPHMG_CSR_RTNODE, (uint64_t)node | c);
            out = xphmg_rt_bbox(out, record, 0);
            *tests += type != XPHMG_BVH_NODE4_TYPE0_EMPTY;
            if (out.slot[0] != 0) {
                if (type == XPHMG_BVH_NODE4_TYPE0_LEAF) {
                    leaves[count++] = index_of(node, c);
                } else {
                    CHECK(depth < STACK);
                    stack[depth++] = index_of(node, c);
                }
            }
        }
    }
    return count;
}

/* The nearest hit in these leaves; the hart computes in FP32 now. */
static bool
decide(struct xphmg_ray_record_32 ray, const uint32_t *leaves, unsigned count, struct rt_hit *hit)
{
    bool found = false;

    for (unsigned i = 0; i < count; i++) {
        struct xphmg_tri_range range;

        memcpy(&range, bvh.heap + (size_t)leaves[i] * sizeof range, sizeof range);
        range.base = (uint64_t)bvh.triangles;
        for (; range.count > 0; range.first++, range.count--) {
            struct xphmg_slots out = {{0}};
            uint32_t bits;
            float t;

            __asm__ volatile("" ::"r"(&range), "r"(&ray) : "memory");
            xphmg_csr_write(XPHMG_CSR_RTTRI, (uint64_t)&range);
            out = xphmg_rt_tri(out, &ray, 0);
            bits = (uint32_t)out.slot[1];
            memcpy(&t, &bits, sizeof t);
            if (out.slot[0] != 0 && (!found || t < hit->t || range.first < hit->triangle)) {
                hit->t = ray.tmax = t;
                hit->triangle = range.first;
                found = true;
            }
        }
    }
    return found;
}

/* A ray whose numbers are multiples of 1/8 with four significant bits: both formats hold them. */
static struct xphmg_ray_record_32 make_ray(uint32_t *seed)
{
    struct xphmg_ray_record_32 ray = {.origin = {0, 0, 3}, .tmin = 0, .tmax = 3.75f};

    for (int a = 0; a < 3; a++) {
        *seed = *seed * 1664525u + 1013904223u;
        ray.direction[a] = a < 2 ? (float)((int)(*seed >> 16) % 31 - 15) / 8 : -3;
    }
    return ray;
}

static void trace_all(const struct format *format)
{
    static uint32_t leaves[LEAVES];
    unsigned hits = 0, tests = 0, made = shrink(format, 0);
    uint32_t seed = 7;

    for (int i = 0; i < RAYS; i++) {
        struct xphmg_ray_record_32 ray = make_ray(&seed);
        const float numbers[8] = {ray.origin[0],
                                  ray.origin[1],
                                  ray.origin[2],
                                  ray.direction[0],
                                  ray.direction[1],
                                  ray.direction[2],
                                  ray.tmin,
                                  ray.tmax};
        struct rt_hit hit = {0}, expected = {0};
        uint8_t record[8];
        unsigned count;
        bool found;

        for (int k = 0; k < 8; k++) {
            record[k] = encode(format, numbers[k], false);
            CHECK(format->value(record[k]) == numbers[k]);
        }
        __asm__ volatile("" ::"r"(record) : "memory");
        use(format);
        count = collect(record, leaves, &tests);
        rt_use(&bvh);
        found = decide(ray, leaves, count, &hit);
        CHECK(found == (rt_closest(&bvh, &ray, &expected) == RT_HIT));
        CHECK(!found || (hit.t == expected.t && hit.triangle == expected.triangle));
        hits += found;
    }
    printf("%s: %u nodes of %d bytes, %d rays, %u box tests, %u hits\n",
           format->name,
           made,
           (int)sizeof nodes[0],
           RAYS,
           tests,
           hits);
    CHECK(hits > 0 && hits < RAYS);
}

int main(void)
{
    ball_triangles(triangles);
    ball_build(&bvh, triangles);
    trace_all(&formats[0]);
    trace_all(&formats[1]);
    return verdict("rt_quantised");
}
