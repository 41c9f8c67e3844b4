/* Control registers of the register vectors (0x7F8 to 0x7FF): R-CAP-40, R-CAP-41. */
#include "xphmg/cap.h"

uint64_t *facet_rsv_register(struct facet_rsv *rsv, unsigned number)
{
    switch (number) {
    case FACET_CSR_SVSTATE:
        return &rsv->svstate;
    case FACET_CSR_SVSRCA:
        return &rsv->svsrca;
    case FACET_CSR_SVSRCB:
        return &rsv->svsrcb;
    case FACET_CSR_SVDST:
        return &rsv->svdst;
    case FACET_CSR_SVFAULTI:
        return &rsv->svfaulti;
    default:
        return NULL;
    }
}

bool facet_rsv_traps(unsigned number)
{
    return number == FACET_CSR_SVRSV0 || number == FACET_CSR_SVRSV1;
}

static uint64_t legal_svstate(const struct facet_cap_config *config, uint64_t value)
{
    enum { LAST_STEP = 3 };

    value &= FACET_SVSTATE_WRITABLE;
    if (FACET_GET(value, SVSTATE_VLM1) >= FACET_VLMAX) {
        value = FACET_PUT(value, SVSTATE_VLM1, FACET_VLMAX - 1);
    }
    if (FACET_GET(value, SVSTATE_PBANK) >= facet_config_banks(config)) {
        value = FACET_PUT(value, SVSTATE_PBANK, 0);
    }
    if (FACET_GET(value, SVSTATE_SSTEP) > LAST_STEP) {
        value = FACET_PUT(value, SVSTATE_SSTEP, 0);
    }
    if (FACET_GET(value, SVSTATE_DSTEP) > LAST_STEP) {
        value = FACET_PUT(value, SVSTATE_DSTEP, 0);
    }
    return value;
}

uint64_t facet_rsv_legal(const struct facet_cap_config *config, unsigned number, uint64_t value)
{
    switch (number) {
    case FACET_CSR_SVSTATE:
        return legal_svstate(config, value);
    case FACET_CSR_SVSRCA:
        return value & FACET_SVSRCA_WRITABLE;
    case FACET_CSR_SVSRCB:
        return value & FACET_SVSRCB_WRITABLE;
    case FACET_CSR_SVDST:
        return value & FACET_SVDST_WRITABLE;
    case FACET_CSR_SVFAULTI:
        return value & FACET_SVFAULTI_WRITABLE;
    default:
        return 0;
    }
}
