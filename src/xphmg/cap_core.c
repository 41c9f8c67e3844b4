/* Discovery: identity, flags, profiles, features, tiers, hints, formats (spec/cap.csr.tsv 0x7C0 to
 * 0x7CF, 0x7D5 to 0x7DF, 0x7E0, 0x7E1). All read-only: what the configuration does not decide is
 * the reset column of the table. */
#include "xphmg/cap.h"

static bool in_core(unsigned number)
{
    return (number >= FACET_CSR_CAP_ID && number <= FACET_CSR_CAP_HINT_LDSBK) ||
           (number >= FACET_CSR_CAP_PREC_RSV0 && number <= FACET_CSR_CAP_PREC_HYB) ||
           number == FACET_CSR_CAP_XMEM_CAP || number == FACET_CSR_CAP_XMEM_PARAMS;
}

static bool pmask_present(const struct facet_cap_config *config)
{
    return FACET_GET(config->pmask_cap, CAP_PMASK_CAP_PMASK_PRESENT) != 0;
}

/* Registers that no configuration changes. */
static uint64_t constant(unsigned number)
{
#define CASE(csr)                                                                                  \
    case FACET_CSR_CAP_##csr:                                                                      \
        return FACET_CAP_##csr##_RESET
    switch (number) {
        CASE(ID);
        CASE(TIER_REG);
        CASE(TIER_LDS);
        CASE(TIER_SAMP);
        CASE(TIER_RT);
        CASE(HINT_ALIGN);
        CASE(HINT_LDSBK);
        CASE(PREC_TEX);
        CASE(PREC_IMG);
        CASE(PREC_CAP);
    default: /* reserved numbers */
        return 0;
    }
#undef CASE
}

/* What P0, P1 and P2 say (numeric.md 16); without profiles, and for others, P0 (R-CAP-60). */
struct profile {
    uint8_t waves, granule;
};

static struct profile profile(const struct facet_units *units)
{
    static const struct profile profiles[] = {{0, 0}, {1, 1}, {3, 2}};
    bool vary = FACET_GET(units->config->flags, CAP_FLAGS_RUNTIME_MUTABLE) != 0 &&
                FACET_GET(units->config->flags, CAP_FLAGS_HAS_PROFILES) != 0;

    return profiles[vary && units->cap.profile < 3 ? units->cap.profile : 0];
}

bool facet_cap_core_read(const struct facet_units *units, unsigned number, uint64_t *value)
{
    const struct facet_cap_config *config = units->config;
    bool profiles = FACET_GET(config->flags, CAP_FLAGS_HAS_PROFILES) != 0;

    if (!in_core(number)) {
        return false;
    }
    switch (number) {
    case FACET_CSR_CAP_VERS:
        *value = config->cap_vers;
        break;
    case FACET_CSR_CAP_FLAGS:
        *value = config->flags;
        break;
    case FACET_CSR_CAP_PROF_CUR:
        *value = profiles ? units->cap.profile : 0;
        break;
    case FACET_CSR_CAP_PROF_SUP:
        *value = profiles ? config->prof_sup : 0;
        break;
    case FACET_CSR_CAP_FEAT0:
        *value = config->feat0;
        break;
    case FACET_CSR_CAP_FEAT1:
        *value = pmask_present(config) ? config->feat1
                                       : FACET_PUT(config->feat1, CAP_FEAT1_PMASK_LEVEL, 0);
        break;
    case FACET_CSR_CAP_PMASK_CAP: /* absent: there is nothing to describe */
        *value = pmask_present(config) ? config->pmask_cap : 0;
        break;
    case FACET_CSR_CAP_TIER_WAVE:
        *value = FACET_PUT(FACET_CAP_TIER_WAVE_RESET, CAP_TIER_WAVE_WAVES, profile(units).waves);
        break;
    case FACET_CSR_CAP_HINT_BVHGR:
        *value = FACET_PUT(FACET_CAP_HINT_BVHGR_RESET, CAP_HINT_BVHGR_GRAN, profile(units).granule);
        break;
    case FACET_CSR_CAP_PREC_ALU:
        *value = config->prec_alu;
        break;
    case FACET_CSR_CAP_PREC_RT:
        *value = config->prec_rt;
        break;
    case FACET_CSR_CAP_PREC_FP8:
        *value = config->prec_fp8;
        break;
    case FACET_CSR_CAP_PREC_INTQ:
        *value = config->prec_intq;
        break;
    case FACET_CSR_CAP_PREC_HYB:
        *value = config->prec_hyb;
        break;
    case FACET_CSR_CAP_XMEM_CAP:
        *value = config->xmem_cap;
        break;
    case FACET_CSR_CAP_XMEM_PARAMS:
        *value = config->xmem_params;
        break;
    default:
        *value = constant(number);
        break;
    }
    return true;
}
