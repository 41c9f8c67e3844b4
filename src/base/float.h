/* The bits of a number of the host, and the number that has them; rounding outwards. */
#ifndef FACET_BASE_FLOAT_H
#define FACET_BASE_FLOAT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t facet_float_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float facet_float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t facet_double_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double facet_double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The nearest floats that are not above and not below. */
static inline float facet_float_below(double x)
{
    float f = (float)x;

    return (double)f > x ? nextafterf(f, -INFINITY) : f;
}

static inline float facet_float_above(double x)
{
    float f = (float)x;

    return (double)f < x ? nextafterf(f, INFINITY) : f;
}

#endif
