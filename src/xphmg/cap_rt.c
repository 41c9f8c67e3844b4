/* Registers of RT: twelve numbers behind XISEL, each with a direct alias (R-RT-01). RTSTAT and
 * RTCAP ignore writes; RTCLSDEF is a view of CAP.XMEM.DESCPOL that every mode may use (R-RT-29). */
#include "xphmg/cap.h"

enum { DIRECT_FIRST = 0x820 };

#define CLSDEF_BITS                                                                                \
    (FACET_RTCLSDEF_DEF_CLASS | FACET_RTCLSDEF_HYB_ENABLE | FACET_RTCLSDEF_HYB_BORROW_QOS)

bool facet_rt_csr_number(unsigned *number)
{
    if (*number - DIRECT_FIRST <= FACET_CSR_RTTRI - FACET_CSR_RTCFG) {
        *number += FACET_CSR_RTCFG - DIRECT_FIRST;
    }
    return *number >= FACET_CSR_RTCFG && *number <= FACET_CSR_RTTRI;
}

uint64_t *facet_rt_register(struct facet_rt *rt, unsigned number)
{
    switch (number) {
    case FACET_CSR_RTCFG:
        return &rt->cfg;
    case FACET_CSR_RTSTAT:
        return &rt->stat;
    case FACET_CSR_RTBASE:
        return &rt->base;
    case FACET_CSR_RTQ_RAY:
        return &rt->queue_ray;
    case FACET_CSR_RTQ_HIT:
        return &rt->queue_hit;
    case FACET_CSR_RTQ_MISS:
        return &rt->queue_miss;
    case FACET_CSR_RTCONF2:
        return &rt->conf2;
    case FACET_CSR_RTSPROF:
        return &rt->sprof;
    case FACET_CSR_RTNODE:
        return &rt->node;
    case FACET_CSR_RTTRI:
        return &rt->tri;
    default:
        return NULL;
    }
}

static const uint64_t *descpol(const struct facet_units *units)
{
    return &units->cap.xmem[FACET_CSR_CAP_XMEM_DESCPOL - FACET_CAP_XMEM_FIRST];
}

bool facet_rt_csr_read(const struct facet_units *units, unsigned number, uint64_t *value)
{
    struct facet_rt copy = units->rt;
    const uint64_t *reg;

    if (!facet_rt_csr_number(&number)) {
        return false;
    }
    reg = facet_rt_register(&copy, number);
    *value = number == FACET_CSR_RTCAP      ? units->config->rtcap
             : number == FACET_CSR_RTCLSDEF ? *descpol(units) & CLSDEF_BITS
                                            : *reg;
    return true;
}

/* Bits that ask for a feature do not exist without it, so nobody can ask by accident (R-RT-09). */
uint64_t facet_rt_legal(const struct facet_cap_config *config, unsigned number, uint64_t value)
{
    switch (number) {
    case FACET_CSR_RTCFG:
        value &= FACET_RTCFG_WRITABLE;
        return (config->rtcap & FACET_RTCAP_PACK_HINT) != 0 ? value
                                                            : value & ~FACET_RTCFG_PACK_HINT_DFLT;
    case FACET_CSR_RTCONF2:
        return (config->rtcap & FACET_RTCAP_EPS_CTL) != 0 ? value & FACET_RTCONF2_EPS_SCALE : 0;
    case FACET_CSR_RTSPROF:
        return value & FACET_RTSPROF_WRITABLE;
    case FACET_CSR_RTNODE:
        return value & FACET_RTNODE_WRITABLE;
    default:
        return value;
    }
}

void facet_rt_csr_write(struct facet_units *units, unsigned number, uint64_t value)
{
    uint64_t *reg;

    if (!facet_rt_csr_number(&number) || number == FACET_CSR_RTSTAT) {
        return;
    }
    reg = facet_rt_register(&units->rt, number);
    if (reg != NULL) {
        *reg = facet_rt_legal(units->config, number, value);
    } else if (number == FACET_CSR_RTCLSDEF) {
        units->cap.xmem[FACET_CSR_CAP_XMEM_DESCPOL - FACET_CAP_XMEM_FIRST] =
            facet_cap_xmem_legal(units->config,
                                 FACET_CSR_CAP_XMEM_DESCPOL,
                                 (*descpol(units) & ~CLSDEF_BITS) | (value & CLSDEF_BITS));
    }
}
