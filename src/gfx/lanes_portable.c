/* Lanes for any host: eight numbers one by one. */
#include "base/float.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline
#define KERNEL static
#define KERNELS facet_gfx_lanes_portable

typedef struct {
    float f[8];
} eight;

/* All ones or zero for each. */
typedef struct {
    uint32_t m[8];
} truths;

#define EACH for (unsigned i = 0; i < 8; i++)

INLINE eight load(const void *from)
{
    eight r;

    memcpy(&r, from, sizeof r);
    return r;
}

INLINE void store(void *to, eight x)
{
    memcpy(to, &x, sizeof x);
}

INLINE eight splat(float x)
{
    return (eight){{x, x, x, x, x, x, x, x}};
}

#define OPERATION(name, expression)                                                                \
    INLINE eight name(eight x, eight y)                                                            \
    {                                                                                              \
        EACH                                                                                       \
        {                                                                                          \
            x.f[i] = expression;                                                                   \
        }                                                                                          \
        return x;                                                                                  \
    }
OPERATION(add, x.f[i] + y.f[i])
OPERATION(sub, x.f[i] - y.f[i])
OPERATION(mul, x.f[i] * y.f[i])
OPERATION(quotient, x.f[i] / y.f[i])

INLINE eight fused(eight x, eight y, eight z)
{
    EACH
    {
        x.f[i] = fmaf(x.f[i], y.f[i], z.f[i]);
    }
    return x;
}

INLINE eight root(eight x)
{
    EACH
    {
        x.f[i] = sqrtf(x.f[i]);
    }
    return x;
}

/* Number k of four, wherever it belongs to them. */
#define SPREAD(x, k)                                                                               \
    ((eight){{(x).f[k],                                                                            \
              (x).f[k],                                                                            \
              (x).f[k],                                                                            \
              (x).f[k],                                                                            \
              (x).f[4 + (k)],                                                                      \
              (x).f[4 + (k)],                                                                      \
              (x).f[4 + (k)],                                                                      \
              (x).f[4 + (k)]}})

#define COMPARISON(name, op)                                                                       \
    INLINE truths name(eight x, eight y)                                                           \
    {                                                                                              \
        truths r;                                                                                  \
                                                                                                   \
        EACH                                                                                       \
        {                                                                                          \
            r.m[i] = x.f[i] op y.f[i] ? UINT32_MAX : 0;                                            \
        }                                                                                          \
        return r;                                                                                  \
    }
COMPARISON(equal, ==)
COMPARISON(less, <)
COMPARISON(not_above, <=)

INLINE eight where(truths m, eight yes, eight no)
{
    EACH
    {
        yes.f[i] = m.m[i] != 0 ? yes.f[i] : no.f[i];
    }
    return yes;
}

INLINE unsigned bits_of(truths m)
{
    unsigned bits = 0;

    EACH
    {
        bits |= (m.m[i] & 1) << i;
    }
    return bits;
}

/* Of each lane the smallest magnitude but zero, less 1, and the largest. */
typedef struct {
    uint32_t factor[8], term[8], high[8];
} watch;

INLINE watch watch_nothing(void)
{
    watch w = {{0}, {0}, {0}};

    EACH
    {
        w.factor[i] = w.term[i] = UINT32_MAX;
    }
    return w;
}

#define WATCH(name)                                                                                \
    INLINE eight name(watch *w, eight x)                                                           \
    {                                                                                              \
        EACH                                                                                       \
        {                                                                                          \
            const uint32_t m = facet_float_bits(x.f[i]) & INT32_MAX;                               \
                                                                                                   \
            w->high[i] = m > w->high[i] ? m : w->high[i];                                          \
            w->name[i] = m - 1 < w->name[i] ? m - 1 : w->name[i];                                  \
        }                                                                                          \
        return x;                                                                                  \
    }
WATCH(factor)
WATCH(term)

INLINE unsigned fine(const watch *w, uint32_t least_factor, uint32_t least_term, uint32_t end)
{
    unsigned bits = 0;

    EACH
    {
        bits |= (unsigned)(w->factor[i] >= least_factor - 1 && w->term[i] >= least_term - 1 &&
                           w->high[i] < end)
                << i;
    }
    return bits;
}

#include "gfx/lanes.inc"
