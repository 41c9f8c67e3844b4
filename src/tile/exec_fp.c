/* Scalar FP16 instructions (tile-semantics.md 5). */
#include "contract/tile_csrs.h"
#include "tile/system.h"

#define FS1 (c->r.f[op->rs1])
#define FS2 (c->r.f[op->rs2])
#define FS3 (c->r.f[op->rs3])

static void raise_flags(struct facet_tile_core *c, unsigned flags)
{
    c->r.fflags |= flags;
    c->r.status |= ((flags & FACET_NV) != 0 ? (uint32_t)FACET_STATUS_FPI : 0) |
                   ((flags & FACET_OF) != 0 ? (uint32_t)FACET_STATUS_FPO : 0);
}

/* FILE[rd] = EXPR, which uses `env` and `flags`. */
#define FLOAT(name, file, type, expr)                                                              \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        struct facet_num_tile_env env = c->env;                                                    \
        unsigned flags = 0;                                                                        \
                                                                                                   \
        c->r.file[op->rd] = (type)(expr);                                                          \
        raise_flags(c, flags);                                                                     \
        (void)env;                                                                                 \
        return op + 1;                                                                             \
    }
#define FLOAT_F(name, expr) FLOAT(name, f, uint16_t, expr)
#define FLOAT_S(name, expr) FLOAT(name, s, uint32_t, expr)
#define FUSED(name, addend, negate_product, negate_addend)                                         \
    FLOAT_F(name,                                                                                  \
            facet_num_tile_fma(                                                                    \
                FACET_FMT_FP16, FS1, FS2, addend, negate_product, negate_addend, env, &flags))

FLOAT_F(FADD, facet_num_tile_add(FACET_FMT_FP16, FS1, FS2, env, &flags))
FLOAT_F(FSUB, facet_num_tile_sub(FACET_FMT_FP16, FS1, FS2, env, &flags))
FLOAT_F(FMUL, facet_num_tile_mul(FACET_FMT_FP16, FS1, FS2, env, &flags))
FLOAT_F(FMIN, facet_num_tile_min(FACET_FMT_FP16, FS1, FS2, env, &flags))
FLOAT_F(FMAX, facet_num_tile_max(FACET_FMT_FP16, FS1, FS2, env, &flags))
FLOAT_F(FRECIP, facet_num_tile_rcp(FACET_FMT_FP16, FS1, env, &flags))
FLOAT_F(FRSQRT, facet_num_tile_rsqrt(FACET_FMT_FP16, FS1, env, &flags))
/* The addend is the low half of the s register with the number of fs2 (R-TILE-09). */
FUSED(FMA, c->r.s[op->rs2] & 0xFFFF, false, false)
FUSED(FMADD, FS3, false, false)
FUSED(FMSUB, FS3, false, true)
FUSED(FNMSUB, FS3, true, false)
FUSED(FNMADD, FS3, true, true)
FLOAT_F(FCVT_I2F, facet_num_tile_from_int(FACET_FMT_FP16, (int32_t)c->r.s[op->rs1], env, &flags))
FLOAT_S(FCVT_F2I, facet_num_tile_to_int(FACET_FMT_FP16, FS1, 32, env, &flags))
FLOAT_S(FCMP_EQ, facet_num_tile_eq(FACET_FMT_FP16, FS1, FS2, env, &flags))
FLOAT_S(FCMP_LT, facet_num_tile_lt(FACET_FMT_FP16, FS1, FS2, env, &flags))
FLOAT_S(FCMP_LE, facet_num_tile_le(FACET_FMT_FP16, FS1, FS2, env, &flags))
FLOAT_F(FABS, FS1 & 0x7FFF)
FLOAT_F(FNEG, FS1 ^ 0x8000)
FLOAT_F(FMV_S2F, c->r.s[op->rs1])
FLOAT_S(FMV_F2S, FS1)
