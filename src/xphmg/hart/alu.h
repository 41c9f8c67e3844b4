/* Integer helpers of alu.def: the results that C leaves undefined are those of the RISC-V
 * manual (division by zero and overflow give values, never traps). */
#ifndef FACET_XPHMG_HART_ALU_H
#define FACET_XPHMG_HART_ALU_H

#include "base/bits.h"

static inline uint64_t facet_hart_w(uint64_t value)
{
    return (uint64_t)(int64_t)(int32_t)value;
}

static inline uint64_t facet_hart_mulhu(uint64_t a, uint64_t b)
{
    return (uint64_t)(((unsigned __int128)a * b) >> 64);
}

static inline uint64_t facet_hart_mulh(uint64_t a, uint64_t b)
{
    return (uint64_t)(((__int128)(int64_t)a * (int64_t)b) >> 64);
}

static inline uint64_t facet_hart_mulhsu(uint64_t a, uint64_t b)
{
    return (uint64_t)(((__int128)(int64_t)a * (__int128)b) >> 64);
}

static inline uint64_t facet_hart_div(uint64_t a, uint64_t b)
{
    if (b == 0) {
        return UINT64_MAX;
    }
    if (b == UINT64_MAX) { /* -1: INT64_MIN / -1 overflows to itself */
        return 0 - a;
    }
    return (uint64_t)((int64_t)a / (int64_t)b);
}

static inline uint64_t facet_hart_rem(uint64_t a, uint64_t b)
{
    if (b == 0) {
        return a;
    }
    return b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}

static inline uint64_t facet_hart_divw(uint64_t a, uint64_t b)
{
    if ((uint32_t)b == 0) {
        return UINT64_MAX;
    }
    if ((uint32_t)b == UINT32_MAX) {
        return facet_hart_w(0 - a);
    }
    return facet_hart_w((uint64_t)((int32_t)a / (int32_t)b));
}

static inline uint64_t facet_hart_remw(uint64_t a, uint64_t b)
{
    if ((uint32_t)b == 0) {
        return facet_hart_w(a);
    }
    return (uint32_t)b == UINT32_MAX ? 0 : facet_hart_w((uint64_t)((int32_t)a % (int32_t)b));
}

/* Every byte that is not zero becomes 0xFF. */
static inline uint64_t facet_hart_orc_b(uint64_t a)
{
    uint64_t high = UINT64_C(0x8080808080808080);
    uint64_t any = (((a & ~high) + ~high) | a) & high; /* bit 7 of each non-zero byte */

    return (any >> 7) * 0xFF;
}

#endif
