/* Integer vector instructions (tile-semantics.md 4, 10). */
#include "tile/exec_vec.h"

/* ---- satV per lane ---- */

#define SATURATING(name, width, exact)                                                             \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        bool saturates = facet_tile_saturates(c), outside = false;                                 \
        union facet_tile_vec result;                                                               \
                                                                                                   \
        for (unsigned i = 0; i < 128 / width; i++) {                                               \
            int64_t a = facet_tile_lane_int(&VS1, width, i),                                       \
                    b = facet_tile_lane_int(&VS2, width, i);                                       \
            int64_t d = facet_tile_lane_int(&OLD_VD, width, i);                                    \
                                                                                                   \
            (void)b, (void)d;                                                                      \
            facet_tile_set_lane(&result,                                                           \
                                width,                                                             \
                                i,                                                                 \
                                (uint32_t)facet_num_int_fit(exact, width, saturates, &outside));   \
        }                                                                                          \
        if (outside) {                                                                             \
            facet_tile_outside(c, saturates);                                                      \
        }                                                                                          \
        c->r.v[op->rd] = result;                                                                   \
        return op + 1;                                                                             \
    }
#define THREE(MAKE, name, expr)                                                                    \
    MAKE(name##_I32, 32, expr) MAKE(name##_I16, 16, expr) MAKE(name##_I8, 8, expr)

THREE(SATURATING, VADD, a + b)
THREE(SATURATING, VSUB, a - b)
THREE(SATURATING, VMUL, a *b)
THREE(SATURATING, VMAC, a *b + d)
THREE(SATURATING, VABS, a < 0 ? -a : a)

/* ---- lanes without flags ---- */

/* EXPR of a, b (patterns) and sa, sb (values). */
#define LANES(name, width, expr)                                                                   \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        union facet_tile_vec result;                                                               \
                                                                                                   \
        for (unsigned i = 0; i < 128 / width; i++) {                                               \
            uint32_t a = facet_tile_lane(&VS1, width, i), b = facet_tile_lane(&VS2, width, i);     \
            int32_t sa = facet_tile_lane_int(&VS1, width, i),                                      \
                    sb = facet_tile_lane_int(&VS2, width, i);                                      \
            unsigned n = b & (width - 1);                                                          \
                                                                                                   \
            (void)a, (void)b, (void)sa, (void)sb, (void)n;                                         \
            facet_tile_set_lane(&result, width, i, (uint32_t)(expr));                              \
        }                                                                                          \
        c->r.v[op->rd] = result;                                                                   \
        return op + 1;                                                                             \
    }

THREE(LANES, VMIN, sa < sb ? sa : sb)
THREE(LANES, VMAX, sa > sb ? sa : sb)
THREE(LANES, VSHL, a << n)
THREE(LANES, VSHR, a >> n)
THREE(LANES, VSAR, sa >> n)
THREE(LANES, VCMPV_EQ, a == b ? -1 : 0)
THREE(LANES, VCMPV_LT, sa < sb ? -1 : 0)
THREE(LANES, VCMPV_GT, sa > sb ? -1 : 0)
LANES(VXOR, 32, a ^ b)
LANES(VOR, 32, a | b)
LANES(VAND, 32, a &b)

/* ---- masks in a scalar register ---- */

#define MASK(name, width, relation)                                                                \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        uint32_t mask = 0;                                                                         \
                                                                                                   \
        for (unsigned i = 0; i < 128 / width; i++) {                                               \
            int32_t a = facet_tile_lane_int(&VS1, width, i),                                       \
                    b = facet_tile_lane_int(&VS2, width, i);                                       \
                                                                                                   \
            mask |= (uint32_t)(relation) << i;                                                     \
        }                                                                                          \
        c->r.s[op->rd] = mask;                                                                     \
        return op + 1;                                                                             \
    }

THREE(MASK, VCMP_EQ, a == b)
THREE(MASK, VCMP_LT, a < b)
THREE(MASK, VCMP_GT, a > b)

/* ---- across lanes ---- */

#define DOT(name, width, unused)                                                                   \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        bool saturates = facet_tile_saturates(c), outside = false;                                 \
        facet_i128 sum = 0;                                                                        \
                                                                                                   \
        for (unsigned i = 0; i < 128 / width; i++) {                                               \
            sum += (int64_t)facet_tile_lane_int(&VS1, width, i) *                                  \
                   facet_tile_lane_int(&VS2, width, i);                                            \
        }                                                                                          \
        c->r.s[op->rd] = (uint32_t)facet_num_int_fit(sum, 32, saturates, &outside);                \
        if (outside) {                                                                             \
            facet_tile_outside(c, saturates);                                                      \
        }                                                                                          \
        return op + 1;                                                                             \
    }

THREE(DOT, VDOT, 0)

#define CROSS(name, width, unused)                                                                 \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        bool saturates = facet_tile_saturates(c), outside = false;                                 \
        union facet_tile_vec result = {.d = {0, 0}};                                               \
                                                                                                   \
        for (unsigned i = 0; i < 3; i++) {                                                         \
            unsigned j = (i + 1) % 3, k = (i + 2) % 3;                                             \
            int64_t exact = (int64_t)facet_tile_lane_int(&VS1, width, j) *                         \
                                facet_tile_lane_int(&VS2, width, k) -                              \
                            (int64_t)facet_tile_lane_int(&VS1, width, k) *                         \
                                facet_tile_lane_int(&VS2, width, j);                               \
                                                                                                   \
            facet_tile_set_lane(&result,                                                           \
                                width,                                                             \
                                i,                                                                 \
                                (uint32_t)facet_num_int_fit(exact, width, saturates, &outside));   \
        }                                                                                          \
        if (outside) {                                                                             \
            facet_tile_outside(c, saturates);                                                      \
        }                                                                                          \
        c->r.v[op->rd] = result;                                                                   \
        return op + 1;                                                                             \
    }

THREE(CROSS, VCROSS, 0)
