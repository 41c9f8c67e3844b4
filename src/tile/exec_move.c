/* Selects, swizzles, permutes and transfers: raw bits, no flags (tile-semantics.md 10.2). */
#include "tile/exec_vec.h"

#define SIX(MAKE, name)                                                                            \
    MAKE(name##_I32, 32)                                                                           \
    MAKE(name##_I16, 16)                                                                           \
    MAKE(name##_I8, 8)                                                                             \
    MAKE(name##_F16, 16)                                                                           \
    MAKE(name##_F8, 8)                                                                             \
    MAKE(name##_F32, 32)

/* ---- selects ---- */

static inline const struct facet_tile_insn *select_lanes(struct facet_tile_core *c,
                                                         const struct facet_tile_insn *op,
                                                         unsigned width,
                                                         const union facet_tile_vec *otherwise)
{
    uint32_t mask = c->r.s[op->rs2] ^ ((c->r.config & FACET_CONFIG_PINV) != 0 ? UINT32_MAX : 0);
    union facet_tile_vec result = *otherwise;

    for (unsigned i = 0; i < 128 / width; i++) {
        if ((mask >> i & 1) != 0) {
            facet_tile_set_lane(&result, width, i, facet_tile_lane(&VS1, width, i));
        }
    }
    c->r.v[op->rd] = result;
    return op + 1;
}

/* Mask and other operand have one register number (R-TILE-31). */
#define SELECT(name, width)                                                                        \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        return select_lanes(c, op, width, &VS2);                                                   \
    }
#define SELECT_D(name, width)                                                                      \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        return select_lanes(c, op, width, &OLD_VD);                                                \
    }

SIX(SELECT, VSEL)
SIX(SELECT_D, VSELD)

/* ---- swizzles ---- */

static inline const struct facet_tile_insn *swizzle(struct facet_tile_core *c,
                                                    const struct facet_tile_insn *op,
                                                    unsigned width,
                                                    uint32_t pattern)
{
    union facet_tile_vec result;

    for (unsigned i = 0; i < 128 / width; i++) {
        unsigned from = (i & ~3u) + (pattern >> 2 * (i & 3) & 3);

        facet_tile_set_lane(&result, width, i, facet_tile_lane(&VS1, width, from));
    }
    c->r.v[op->rd] = result;
    return op + 1;
}

#define SWIZZLE(name, width)                                                                       \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        return swizzle(c, op, width, c->r.s[op->rs2]);                                             \
    }

SIX(SWIZZLE, VSWIZ)

FACET_TILE_OP(VSHUF)
{
    return swizzle(c, op, 32, (uint32_t)op->imm);
}

/* ---- permutes ---- */

/* Lane i of the result is EXPR of a = vs1, b = vs2. */
#define PERMUTE(name, expr)                                                                        \
    FACET_TILE_OP(VPERM_##name)                                                                    \
    {                                                                                              \
        const union facet_tile_vec *a = &VS1, *b = &VS2;                                           \
        union facet_tile_vec result;                                                               \
                                                                                                   \
        (void)b;                                                                                   \
        for (unsigned i = 0; i < 4; i++) {                                                         \
            result.w[i] = (expr);                                                                  \
        }                                                                                          \
        c->r.v[op->rd] = result;                                                                   \
        return op + 1;                                                                             \
    }

static uint32_t permute_bytes(uint32_t word, uint32_t selectors)
{
    uint32_t result = 0;

    for (unsigned k = 0; k < 4; k++) {
        result |= (word >> 8 * (selectors >> 2 * k & 3) & 0xFF) << 8 * k;
    }
    return result;
}

PERMUTE(B, permute_bytes(a->w[i], b->w[i]))
PERMUTE(ROT, a->w[(i + c->r.s[op->rs2]) & 3])
PERMUTE(HALF, i < 2 ? a->w[i + 2] : b->w[i - 2])
PERMUTE(BC0, a->w[0])
PERMUTE(EVEN, i < 2 ? a->w[2 * i] : b->w[2 * i - 4])
PERMUTE(ODD, i < 2 ? a->w[2 * i + 1] : b->w[2 * i - 3])
PERMUTE(ZIP, a->w[(i >> 1 | i << 1) & 3])

/* ---- transfers ---- */

#define TRANSFER(type, file, width)                                                                \
    FACET_TILE_OP(VBCAST_##type)                                                                   \
    {                                                                                              \
        uint32_t value = c->r.file[op->rs1];                                                       \
                                                                                                   \
        for (unsigned i = 0; i < 128 / width; i++) {                                               \
            facet_tile_set_lane(&c->r.v[op->rd], width, i, value);                                 \
        }                                                                                          \
        return op + 1;                                                                             \
    }                                                                                              \
    FACET_TILE_OP(VINS_##type)                                                                     \
    {                                                                                              \
        union facet_tile_vec result = OLD_VD;                                                      \
                                                                                                   \
        facet_tile_set_lane(&result, width, (unsigned)op->imm, c->r.file[op->rs1]);                \
        c->r.v[op->rd] = result;                                                                   \
        return op + 1;                                                                             \
    }                                                                                              \
    FACET_TILE_OP(VEXTR_##type)                                                                    \
    {                                                                                              \
        c->r.file[op->rd] =                                                                        \
            (__typeof__(c->r.file[0]))facet_tile_lane_int(&VS1, width, (unsigned)op->imm);         \
        return op + 1;                                                                             \
    }

TRANSFER(I32, s, 32)
TRANSFER(I16, s, 16)
TRANSFER(I8, s, 8)
TRANSFER(F16, f, 16)
