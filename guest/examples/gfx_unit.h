/* What the GFX examples share: numbers in FP32, all windows in memory, 64 lanes. */
#ifndef GFX_UNIT_H
#define GFX_UNIT_H

#include <stdint.h>
#include <string.h>
#include <xphmg.h>

enum { LANES = 64 };

static inline void gfx_use(uint64_t more)
{
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_ALT, XPHMG_CAP_PREC_ALT_APPLY1);
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_MODE,
                    XPHMG_FIELD(XPHMG_CAP_PREC_MODE_PET, XPHMG_CAP_PREC_MODE_PET_FP32) |
                        XPHMG_FIELD(XPHMG_CAP_PREC_MODE_EW, XPHMG_CAP_PREC_MODE_EW_EW32) |
                        XPHMG_CAP_PREC_MODE_APPLY0);
    xphmg_csr_write(XPHMG_CSR_GFXCFG,
                    XPHMG_GFXCFG_EN | XPHMG_GFXCFG_CONVERT_EN | XPHMG_GFXCFG_AMEM |
                        XPHMG_GFXCFG_BMEM | XPHMG_GFXCFG_DMEM | more);
    xphmg_svsetvl_imm(LANES);
}

/* A plane register is 128 bits; HISEL chooses the half that CSR accesses see. */
#define GFX_PLANE(number, values)                                                                  \
    do {                                                                                           \
        uint64_t half_[2];                                                                         \
        memcpy(half_, values, sizeof half_);                                                       \
        xphmg_csr_clear(XPHMG_CSR_GFXCFG, XPHMG_GFXCFG_HISEL);                                     \
        xphmg_csr_write(XPHMG_CSR_GFXPLN##number, half_[0]);                                       \
        xphmg_csr_set(XPHMG_CSR_GFXCFG, XPHMG_GFXCFG_HISEL);                                       \
        xphmg_csr_write(XPHMG_CSR_GFXPLN##number, half_[1]);                                       \
    } while (0)

static inline float gfx_number(uint32_t *seed, float lo, float hi)
{
    *seed = *seed * 1664525u + 1013904223u;
    return lo + (hi - lo) * (float)(*seed >> 8) / 16777216.0f;
}

#endif
