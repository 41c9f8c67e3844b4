/* Numbers of the tile machine (tile-semantics.md 4, 5): FP32, FP16 and FP8 E4M3 with NaN payloads
 * kept, FTZ on operands and results, FSAT, and saturating integers.
 *
 * `format` is FACET_FMT_FP32, FACET_FMT_FP16 or FACET_FMT_E4M3. Flags are NV DZ OF UF NX only, in
 * the order of fstatus. */
#ifndef FACET_NUM_TILE_H
#define FACET_NUM_TILE_H

#include "num/arith.h"
#include "num/convert.h"

/* config.RM, config.FTZ, config.FSAT. Texture, raster and geometry units use the zero value. */
struct facet_num_tile_env {
    uint8_t rm;
    bool ftz, fsat;
    bool plain; /* no short ways for usual operands: the same results, slower */
};

struct facet_num_policy facet_num_tile_policy(struct facet_num_tile_env env);

uint32_t facet_num_tile_add(enum facet_format format,
                            uint32_t a,
                            uint32_t b,
                            struct facet_num_tile_env env,
                            unsigned *flags);
uint32_t facet_num_tile_sub(enum facet_format format,
                            uint32_t a,
                            uint32_t b,
                            struct facet_num_tile_env env,
                            unsigned *flags);
uint32_t facet_num_tile_mul(enum facet_format format,
                            uint32_t a,
                            uint32_t b,
                            struct facet_num_tile_env env,
                            unsigned *flags);
/* +-(a * b) +- c, rounded once; the negations do not touch a NaN (FMADD .. FNMADD, VFMA, VCROSS).
 */
uint32_t facet_num_tile_fma(enum facet_format format,
                            uint32_t a,
                            uint32_t b,
                            uint32_t c,
                            bool negate_product,
                            bool negate_addend,
                            struct facet_num_tile_env env,
                            unsigned *flags);
uint32_t facet_num_tile_rcp(enum facet_format format,
                            uint32_t a,
                            struct facet_num_tile_env env,
                            unsigned *flags);
uint32_t facet_num_tile_rsqrt(enum facet_format format,
                              uint32_t a,
                              struct facet_num_tile_env env,
                              unsigned *flags);
uint32_t facet_num_tile_min(enum facet_format format,
                            uint32_t a,
                            uint32_t b,
                            struct facet_num_tile_env env,
                            unsigned *flags);
uint32_t facet_num_tile_max(enum facet_format format,
                            uint32_t a,
                            uint32_t b,
                            struct facet_num_tile_env env,
                            unsigned *flags);
bool facet_num_tile_eq(enum facet_format format,
                       uint32_t a,
                       uint32_t b,
                       struct facet_num_tile_env env,
                       unsigned *flags);
bool facet_num_tile_lt(enum facet_format format,
                       uint32_t a,
                       uint32_t b,
                       struct facet_num_tile_env env,
                       unsigned *flags);
bool facet_num_tile_le(enum facet_format format,
                       uint32_t a,
                       uint32_t b,
                       struct facet_num_tile_env env,
                       unsigned *flags);
static inline bool facet_num_tile_gt(enum facet_format format,
                                     uint32_t a,
                                     uint32_t b,
                                     struct facet_num_tile_env env,
                                     unsigned *flags)
{
    return facet_num_tile_lt(format, b, a, env, flags);
}

/* VCVT between FP types: payload's upper bits kept between FP16 and FP32, sign kept always;
 * infinity into FP8 raises OF and NX and gives NaN with the sign, or +-448 with FSAT. */
uint32_t facet_num_tile_convert(enum facet_format to,
                                enum facet_format from,
                                uint32_t a,
                                struct facet_num_tile_env env,
                                unsigned *flags);
/* FCVT.F2I (width 32), VCVT.I*.F*: clamps whatever config.SAT says; NaN gives the largest value. */
int32_t facet_num_tile_to_int(enum facet_format from,
                              uint32_t a,
                              unsigned width,
                              struct facet_num_tile_env env,
                              unsigned *flags);
/* FCVT.I2F, VCVT.F*.I*. */
uint32_t facet_num_tile_from_int(enum facet_format to,
                                 int32_t n,
                                 struct facet_num_tile_env env,
                                 unsigned *flags);

/* satS and satV are facet_num_int_fit() of convert.h: width 32 or the lane width, `saturate` from
 * config.SAT or vstatus.VSAT; *outside reports ISAT, SAT or OVF. */

#endif
