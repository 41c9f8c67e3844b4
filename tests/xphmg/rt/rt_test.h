/* What the RT suites share: a scene of one tile, one TriRange and one ray in guest memory. */
#ifndef FACET_TESTS_XPHMG_RT_TEST_H
#define FACET_TESTS_XPHMG_RT_TEST_H

#include "xphmg/guest.h"

#include "rt/examples.h"

enum {
    /* The examples of the contract, moved as a whole (numeric.md 16). */
    MOVED = GUEST_DATA,
    RAY = MOVED + 0x100,
    TILE = MOVED + 0x200,
    RANGE = MOVED + 0x400,
    VERTICES = MOVED + 0x800,
    END = GUEST_CODE + GUEST_RAM_BYTES,
    BAD = 0x1000, /* unmapped */
    /* MODE images without APPLY0 */
    MODE_FP16 = 0x00080000,
    MODE_FP32 = 0x00300000,
    MODE_BF16 = 0x00480000,
    MODE_INT8 = 0x00600000,
    MODE_INT16 = 0x00880000,
    MODE_INT32 = 0x00B00000,
};

#define ONE_F 0x3F800000u
#define INF_F 0x7F800000u

static inline void set_mode(struct guest *g, uint64_t mode)
{
    guest_csrw(g, FACET_CSR_CAP_PREC_MODE, mode | FACET_CAP_PREC_MODE_APPLY0);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
}

/* FP32, with a rounding mode. */
static inline uint64_t fp32_mode(unsigned rm)
{
    return MODE_FP32 | (uint64_t)(rm & 3) << 27 | (uint64_t)(rm >> 2) << 32;
}

static inline void put_words(struct guest *g, uint64_t at, const uint32_t *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        guest_store(g, at + 4 * i, 4, words[i]);
    }
}

static inline uint64_t stat_bits(const struct guest *g)
{
    return guest_csr(g, FACET_CSR_CAP_PREC_STAT) & FACET_FLAGS_STAT;
}

static inline uint64_t exc_st(const struct guest *g)
{
    return guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST);
}

static inline unsigned last_ec(const struct guest *g)
{
    return (unsigned)FACET_GET(guest_csr(g, FACET_CSR_RTSTAT), RTSTAT_LAST_EC);
}

static inline uint64_t boxes(const struct guest *g)
{
    return FACET_GET(guest_csr(g, FACET_CSR_RTSTAT), RTSTAT_BBOX_ISSUED);
}

static inline uint64_t triangles(const struct guest *g)
{
    return FACET_GET(guest_csr(g, FACET_CSR_RTSTAT), RTSTAT_TRI_ISSUED);
}

#endif
