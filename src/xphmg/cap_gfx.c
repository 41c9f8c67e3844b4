/* Graphics registers (0x800 to 0x817): plain storage, but for three things. GFXWRAP is a view of
 * two bits of GFXCFG (R-GFX-09); the plane and border registers have 128 bits, of which
 * GFXCFG.HISEL shows one half (R-GFX-11); reserved bits do not exist. */
#include "xphmg/cap.h"

bool facet_gfx_csr_wide(unsigned number)
{
    return (number >= FACET_CSR_GFXPLN0 && number <= FACET_CSR_GFXPLN5) ||
           number == FACET_CSR_GFXBORDERC;
}

static unsigned half_of(const struct facet_gfx *gfx, unsigned number)
{
    return facet_gfx_csr_wide(number) ? (unsigned)FACET_GET(FACET_GFX_CSR(gfx, CFG), GFXCFG_HISEL)
                                      : 0;
}

bool facet_gfx_csr_read(const struct facet_gfx *gfx, unsigned number, uint64_t *value)
{
    if (number - FACET_GFX_FIRST >= FACET_GFX_COUNT) {
        return false;
    }
    *value = number == FACET_CSR_GFXWRAP ? FACET_GET(FACET_GFX_CSR(gfx, CFG), GFXCFG_WRAP_DFLT)
                                         : gfx->reg[number - FACET_GFX_FIRST][half_of(gfx, number)];
    return true;
}

uint64_t facet_gfx_legal(unsigned number, uint64_t value)
{
    switch (number) {
    case FACET_CSR_GFXCFG:
        return value & FACET_GFXCFG_WRITABLE;
    case FACET_CSR_GFXWRAP: /* no storage of its own */
        return 0;
    case FACET_CSR_GFXTEXPITCH:
        return value & FACET_GFXTEXPITCH_WRITABLE;
    case FACET_CSR_GFXTEXFMT:
        return value & FACET_GFXTEXFMT_WRITABLE;
    case FACET_CSR_GFXCLIP_EPS:
        return value & FACET_GFXCLIP_EPS_WRITABLE;
    case FACET_CSR_GFXZCFG:
        return value & FACET_GFXZCFG_WRITABLE;
    case FACET_CSR_GFXZPITCH:
        return value & FACET_GFXZPITCH_WRITABLE;
    case FACET_CSR_GFXHIZCFG:
        return value & FACET_GFXHIZCFG_WRITABLE;
    case FACET_CSR_GFXLUTFMT:
        return value & FACET_GFXLUTFMT_WRITABLE;
    case FACET_CSR_GFXPEERHINT:
        return value & FACET_GFXPEERHINT_WRITABLE;
    case FACET_CSR_GFXTEXSTRIDE1:
        return value & FACET_GFXTEXSTRIDE1_WRITABLE;
    default:
        return value;
    }
}

void facet_gfx_csr_write(struct facet_gfx *gfx, unsigned number, uint64_t value)
{
    uint64_t *cfg = &gfx->reg[FACET_CSR_GFXCFG - FACET_GFX_FIRST][0];

    if (number == FACET_CSR_GFXWRAP) {
        *cfg = FACET_PUT(*cfg, GFXCFG_WRAP_DFLT, value & FACET_GFXWRAP_MODE);
    } else {
        gfx->reg[number - FACET_GFX_FIRST][half_of(gfx, number)] = facet_gfx_legal(number, value);
    }
}
