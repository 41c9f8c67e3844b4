/* Numbers of XPHMG_GFX: exact reals (coordinates, weights, texel values), their way into the
 * accumulator, and the primitives with real coefficients. No memory, no machine.
 *
 * Accumulators, conversions and flags are those of num/element.h and num/accum.h. Every function
 * ORs what it raises into *flags. `steps` arguments may be NULL; otherwise the intermediate results
 * are kept there for explanations.
 *
 * Spec: gfx-semantics.md 4; R-GFX-18, R-GFX-19, R-GFX-60. */
#ifndef FACET_GFX_PRIMITIVE_H
#define FACET_GFX_PRIMITIVE_H

#include "num/accum.h"
#include "num/eff.h"

#include <facet/gfx.h>

/* How numbers of an instruction behave: the conversion of each colour component. Values without a
 * component (z, positions, planes) use channel 0. */
struct facet_gfx_numbers {
    struct facet_conv channel[4];
};

struct facet_gfx_numbers facet_gfx_numbers_of(const struct facet_eff *eff,
                                              const uint8_t zptab[256]);

/* ---- exact reals -------------------------------------------------------------------------------
 */

enum facet_gfx_class { FACET_GFX_ZERO, FACET_GFX_NUMBER, FACET_GFX_INF, FACET_GFX_NAN };

/* NUMBER: (-1)^negative * num / den * 2^exp; 0 < num < 2^62, 0 < den. ZERO and INF have a sign. */
struct facet_gfx_real {
    uint64_t num;
    uint32_t den;
    int32_t exp;
    uint8_t cls; /* enum facet_gfx_class */
    bool negative;
};

/* num / den * 2^exp; |num| < 2^62. */
struct facet_gfx_real facet_gfx_real_of(int64_t num, uint32_t den, int exp);
/* The value of FP bits: an exact number. NaN raises SNAN_SEEN and NV, or QNAN_SEEN; a subnormal is
 * zero (FTZ_HIT) with `ftz` or in BF16_LITE. */
struct facet_gfx_real
facet_gfx_real_of_fp(enum facet_format format, uint32_t bits, bool ftz, unsigned *flags);
/* The value of an FP accumulator: what it holds, without flags. */
struct facet_gfx_real facet_gfx_real_of_acc(const struct facet_conv *conv, uint32_t acc);
/* Exactly the integer n >= 0? */
bool facet_gfx_real_is(const struct facet_gfx_real *x, unsigned n);
/* The next three are for coordinates and other reals with den = 1.
 * floor(x * 2^bits) clamped to [-2^47, 2^47 - 1]; infinities give the ends, NaN gives 0. */
int64_t facet_gfx_real_floor(const struct facet_gfx_real *x, unsigned bits);
/* floor(x * 65536) of a gather offset, cut to 63 bits so that adding it to a position and clamping
 * the sum to 48 bits is exact; NaN gives 0. */
int64_t facet_gfx_real_offset(const struct facet_gfx_real *x);
/* a' of 4.3: floor(x * 65536) clamped to 32 bits, NaN 0. */
int32_t facet_gfx_real_fixed(const struct facet_gfx_real *x);

/* An element of the coordinate class (4.2). Integers are signed unless Q = 1 and UNS = 1. */
struct facet_gfx_real
facet_gfx_coordinate(const struct facet_gfx_numbers *n, uint32_t element, unsigned *flags);
/* The same with a separate sign: integers sign- or zero-extended, of FP elements the sign is
 * dropped when not `is_signed` (gather offsets). */
struct facet_gfx_real facet_gfx_coordinate_signed(const struct facet_gfx_numbers *n,
                                                  uint32_t element,
                                                  bool is_signed,
                                                  unsigned *flags);
/* Tensor index of 6.4: floor clamped to 0..65535, NaN 0. */
uint32_t facet_gfx_tensor_index(const struct facet_gfx_real *x);

/* ---- into the accumulator ----------------------------------------------------------------------
 */

/* cv of 4.2. A NaN raises nothing in an FP accumulator and NV in an integer one (its own flags were
 * raised when it was read). */
uint32_t
facet_gfx_cv(const struct facet_conv *conv, const struct facet_gfx_real *x, unsigned *flags);
/* What widen gives for a NaN: the accumulator of a sample at a NaN coordinate. */
uint32_t facet_gfx_nan(const struct facet_conv *conv, unsigned *flags);

/* ---- primitives of 4.3 -------------------------------------------------------------------------
 * A nest of lerps whose coefficients are all 0 or 1 picks one entry: it computes nothing, and no
 * MIXED step follows. A coefficient of 0 or 1 leaves the other side of its lerp alone: its entries
 * are not looked at and nothing there is computed (R-GFX-60). */

uint32_t facet_gfx_lerp(const struct facet_conv *conv,
                        uint32_t p,
                        uint32_t q,
                        const struct facet_gfx_real *a,
                        unsigned *flags);
/* steps: the two rows, then the column. */
uint32_t facet_gfx_bilerp(const struct facet_conv *conv,
                          const uint32_t t[4],
                          const struct facet_gfx_real *a,
                          const struct facet_gfx_real *b,
                          struct facet_gfx_lerp steps[3],
                          unsigned *flags);
/* Entry t[x + 2y + 4z]: along x, then y, then z; coefficients between 0 and 1. */
uint32_t facet_gfx_trilerp(const struct facet_conv *conv,
                           const uint32_t t[8],
                           const struct facet_gfx_real f[3],
                           unsigned *flags);
/* n >= 1. steps: the accumulator after each term (an integer accumulator has only the last). */
uint32_t facet_gfx_wsum(const struct facet_conv *conv,
                        const struct facet_gfx_real *w,
                        const uint32_t *t,
                        unsigned n,
                        uint32_t *steps,
                        unsigned *flags);
uint32_t facet_gfx_mean(
    const struct facet_conv *conv, const uint32_t *t, unsigned n, uint32_t *steps, unsigned *flags);
uint32_t facet_gfx_dot(const struct facet_conv *conv,
                       const uint32_t *a,
                       const uint32_t *b,
                       unsigned n,
                       unsigned *flags);
uint32_t facet_gfx_rsqrt(const struct facet_conv *conv, uint32_t s, unsigned *flags);

#endif
