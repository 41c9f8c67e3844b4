/* Memory policy and gather/scatter defaults (0x7E2 to 0x7F7).
 *
 * One table says which fields stand on a feature of CAP.XMEM.CAP and which values a field takes;
 * what it does not name is plain storage. A field of an absent feature reads 0 and ignores writes,
 * a value that a field does not take is stored as 0.
 *
 * Spec: the meaning column of spec/cap.csr.tsv, R-XM-23, R-XM-35, R-CAP-13. */
#include "xphmg/cap.h"

#include <stddef.h>

/* Sets of field values: bit v stands for value v. */
#define UP_TO(v) (UINT64_MAX >> (63 - (v)))
#define ANY UINT64_MAX
#define ONE(v) (UINT64_C(1) << (v))

#define NEEDS_1(a) FACET_CAP_XMEM_CAP_##a
#define NEEDS_2(a, b) (FACET_CAP_XMEM_CAP_##a | FACET_CAP_XMEM_CAP_##b)
#define FIELD(csr, field, values, needs)                                                           \
    {                                                                                              \
        FACET_CSR_CAP_XMEM_##csr, FACET_CAP_XMEM_##csr##_##field,                                  \
            FACET_CAP_XMEM_##csr##_##field##_LSB, values, needs                                    \
    }
#define SPROF(csr)                                                                                 \
    FIELD(csr, STRIDE, ANY, NEEDS_1(STREAM_PROF)),                                                 \
        FIELD(csr, PF_DEPTH, ANY, NEEDS_1(STREAM_PROF)),                                           \
        FIELD(csr, NT_POLICY, UP_TO(3), NEEDS_2(STREAM_PROF, NONTEMP))

static const struct {
    unsigned number;
    uint64_t mask;
    unsigned lsb;
    uint64_t values; /* ANY: all that fit */
    uint64_t needs;  /* bits of CAP.XMEM.CAP, all of them; 0: nothing */
} fields[] = {
    FIELD(L1CFG, WAYS_HINT, ANY, NEEDS_1(L1)),
    FIELD(L1CFG, LINE_SZ, UP_TO(2), NEEDS_1(SECT)),
    FIELD(L1CFG, REPL, UP_TO(3), NEEDS_1(L1)),
    FIELD(L1CFG, LOCK_EN, ANY, NEEDS_1(LINE_LOCK)),
    FIELD(L1CFG, ACTIVE_CLASS, UP_TO(3), NEEDS_1(CLASS_PART)),
    FIELD(CLSMAP, CL0_WAYMASK, ANY, NEEDS_2(CLASS_PART, WAY_PART)),
    FIELD(CLSMAP, CL1_WAYMASK, ANY, NEEDS_2(CLASS_PART, WAY_PART)),
    FIELD(CLSMAP, CL2_WAYMASK, ANY, NEEDS_2(CLASS_PART, WAY_PART)),
    FIELD(CLSMAP, CL3_WAYMASK, ANY, NEEDS_2(CLASS_PART, WAY_PART)),
    FIELD(CLSMAP, CL0_QOS, ANY, NEEDS_1(CLASS_PART)),
    FIELD(CLSMAP, CL1_QOS, ANY, NEEDS_1(CLASS_PART)),
    FIELD(CLSMAP, CL2_QOS, ANY, NEEDS_1(CLASS_PART)),
    FIELD(CLSMAP, CL3_QOS, ANY, NEEDS_1(CLASS_PART)),
    FIELD(LDS_BUDGET, CL0_KIB, ANY, NEEDS_1(LDS)),
    FIELD(LDS_BUDGET, CL1_KIB, ANY, NEEDS_1(LDS)),
    FIELD(LDS_BUDGET, CL2_KIB, ANY, NEEDS_1(LDS)),
    FIELD(LDS_BUDGET, CL3_KIB, ANY, NEEDS_1(LDS)),
    FIELD(L2CFG, VICT, ANY, NEEDS_1(L2)),
    FIELD(L2CFG, QOS, ANY, NEEDS_1(L2)),
    FIELD(L2CFG, SNC, ANY, NEEDS_1(L2)),
    FIELD(L2CFG, COMP_THR, ANY, NEEDS_1(COMPRESS)),
    FIELD(DOM, DOM, UP_TO(6) | ONE(15), 0),
    FIELD(STREAM_CTL, NONTEMP_EN, ANY, NEEDS_1(NONTEMP)),
    SPROF(SPROF0),
    SPROF(SPROF1),
    SPROF(SPROF2),
    SPROF(SPROF3),
    FIELD(COMP_CTL, MODE, UP_TO(1), NEEDS_1(COMPRESS)),
    FIELD(COMP_CTL, LEVEL, ANY, NEEDS_1(COMPRESS)),
    FIELD(COMP_CTL, DICT, ANY, NEEDS_1(COMPRESS)),
    FIELD(DESCPOL, DEF_CLASS, ANY, NEEDS_1(CLASS_PART)),
    FIELD(DESCPOL, HYB_ENABLE, ANY, NEEDS_1(CLASS_PART)),
    FIELD(DESCPOL, HYB_BORROW_QOS, ANY, NEEDS_1(CLASS_PART)),
    FIELD(EVENTS, LOCK_OVF, ANY, NEEDS_1(LINE_LOCK)),
    FIELD(EVENTS, LDS_OOM, ANY, NEEDS_1(LDS)),
    FIELD(EVENTS, DMA_ERR, ANY, NEEDS_1(XDMA)),
    FIELD(EVENTS, BUDGET_OVF, ANY, NEEDS_1(LDS)),
    FIELD(EVENTS, SEC_VIOL, ANY, NEEDS_1(SEC_DOM)),
    FIELD(EVENTS, HYB_FALLBK, ANY, NEEDS_1(CLASS_PART)),
    FIELD(SVMSCL, SCALE, UP_TO(4), 0),
    FIELD(SVMLEN, LEN, ONE(0) | ONE(1) | ONE(2) | ONE(4) | ONE(8), 0),
    FIELD(SVMMODE, COMPRESS_EN, ANY, NEEDS_1(COMPRESS)),
    FIELD(SVMMODE, EXPAND_EN, ANY, NEEDS_1(COMPRESS)),
};

/* Bits that exist on a machine with every feature. */
static uint64_t writable(unsigned number)
{
#define CASE(csr)                                                                                  \
    case FACET_CSR_CAP_XMEM_##csr:                                                                 \
        return FACET_CAP_XMEM_##csr##_WRITABLE
    switch (number) {
        CASE(L1CFG);
        CASE(CLSMAP);
        CASE(LDS_BUDGET);
        CASE(L2CFG);
        CASE(DOM);
        CASE(STREAM_CTL);
        CASE(SPROF0);
        CASE(SPROF1);
        CASE(SPROF2);
        CASE(SPROF3);
        CASE(COMP_CTL);
        CASE(DESCPOL);
        CASE(EVENTS);
        CASE(SVMBASE);
        CASE(SVMIDX);
        CASE(SVMSCL);
        CASE(SVMLEN);
        CASE(SVMMODE);
        CASE(SVMLIM);
    default: /* kept free */
        return 0;
    }
#undef CASE
}

uint64_t
facet_cap_xmem_legal(const struct facet_cap_config *config, unsigned number, uint64_t value)
{
    value &= writable(number);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        uint64_t field = (value & fields[i].mask) >> fields[i].lsb;

        if (fields[i].number == number &&
            ((config->xmem_cap & fields[i].needs) != fields[i].needs ||
             (fields[i].values != ANY && (field > 63 || (fields[i].values >> field & 1) == 0)))) {
            value &= ~fields[i].mask;
        }
    }
    return value;
}

uint64_t facet_cap_events(const struct facet_cap_config *config)
{
    return facet_cap_xmem_legal(config, FACET_CSR_CAP_XMEM_EVENTS, UINT64_MAX);
}
