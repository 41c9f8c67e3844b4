/* See config.h. */
#include "xphmg/config.h"

#include "base/bits.h"
#include "contract/xphmg_csrs.h"
#include "num/eff.h"

#include <stddef.h>
#include <string.h>

/* Units that this program has. The presence bits of the others read 0 and their instructions and
 * CSRs are those of an absent unit. */
#define BUILT (~(FACET_CAP_FEAT0_RT_PRESENT | FACET_CAP_FEAT0_GFX_PRESENT))

#define FULL                                                                                       \
    .cap_vers = FACET_CAP_VERS_RESET, .feat0 = FACET_CAP_FEAT0_RESET & BUILT,                      \
    .feat1 = FACET_CAP_FEAT1_RESET, .pmask_cap = FACET_CAP_PMASK_CAP_RESET,                        \
    .xmem_cap = FACET_CAP_XMEM_CAP_RESET, .xmem_params = FACET_CAP_XMEM_PARAMS_RESET,              \
    .prec_alu = FACET_CAP_PREC_ALU_RESET, .prec_fp8 = FACET_CAP_PREC_FP8_RESET,                    \
    .prec_intq = FACET_CAP_PREC_INTQ_RESET, .prec_hyb = FACET_CAP_PREC_HYB_RESET,                  \
    .prec_rt = FACET_CAP_PREC_RT_RESET, .rtcap = FACET_RTCAP_RESET, .mtxcap = FACET_MTXCAP_RESET,  \
    .alt_formats = FACET_ALT_ALL

static const struct {
    const char *name;
    struct facet_xphmg_config config;
} configs[] = {
    {"full", {FULL, .flags = FACET_CAP_FLAGS_RESET}},
    {"prof", {FULL, .flags = 3, .prof_sup = 7}},
    {"min",
     {
         .cap_vers = FACET_CAP_VERS_RESET,
         .feat0 = UINT64_C(0x1408) & BUILT,
         .feat1 = 0x7E3C,
         .pmask_cap = 0x13,
         .xmem_cap = 0x0001,
         .xmem_params = UINT64_C(0x0000000600000040),
         .prec_alu = 0x7F,
         .prec_fp8 = 0,
         .prec_intq = 0x1799,
         .prec_hyb = 0x16,
         .prec_rt = 0x33F,
         .rtcap = FACET_RTCAP_RESET,
         .mtxcap = FACET_MTXCAP_RESET,
         .alt_formats = FACET_ALT_NONE,
     }},
};

const struct facet_xphmg_config *facet_xphmg_config_named(const char *name)
{
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        if (strcmp(configs[i].name, name) == 0) {
            return &configs[i].config;
        }
    }
    return NULL;
}

/* A key is a field of a register. */
static const struct {
    const char *key;
    size_t offset;
    uint64_t mask; /* 0: the whole register */
    uint8_t low;
    bool minus_one;
} keys[] = {
#define WHOLE(key)                                                                                 \
    {                                                                                              \
#key, offsetof(struct facet_xphmg_config, key), 0, 0, false                                \
    }
#define PART(key, reg, field, minus)                                                               \
    {                                                                                              \
#key, offsetof(struct facet_xphmg_config, reg), FACET_##field, FACET_##field##_LSB, minus  \
    }
    WHOLE(cap_vers),
    WHOLE(flags),
    WHOLE(feat0),
    WHOLE(xmem_cap),
    WHOLE(rtcap),
    WHOLE(mtxcap),
    PART(pmask_present, pmask_cap, CAP_PMASK_CAP_PMASK_PRESENT, false),
    PART(pmask_banks, pmask_cap, CAP_PMASK_CAP_PMASK_BANKS_M1, true),
    PART(pmask_level, feat1, CAP_FEAT1_PMASK_LEVEL, false),
    PART(mtx_descq, feat1, CAP_FEAT1_MTX_DESCQ, false),
    PART(rt_descq, rtcap, RTCAP_DESCQ, false),
};

enum facet_status facet_xphmg_config_set(struct facet_xphmg_config *config,
                                         const char *key,
                                         uint64_t value,
                                         struct facet_error *err)
{
    if (strcmp(key, "alt_formats") == 0) {
        if ((value & ~(uint64_t)FACET_ALT_ALL) != 0) {
            return facet_fail(
                err, FACET_ERR_USAGE, 0, "alt_formats has bits 1 to 5, one for each ALT_FMT");
        }
        config->alt_formats = (uint32_t)value;
        return FACET_OK;
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        uint64_t *reg = (uint64_t *)(void *)((char *)config + keys[i].offset);
        uint64_t field = value - keys[i].minus_one;

        if (strcmp(keys[i].key, key) != 0) {
            continue;
        }
        if (keys[i].mask == 0) {
            *reg = value;
        } else if (field > keys[i].mask >> keys[i].low) {
            return facet_fail(err,
                              FACET_ERR_USAGE,
                              0,
                              "%s is at most %llu",
                              key,
                              (unsigned long long)(keys[i].mask >> keys[i].low) +
                                  keys[i].minus_one);
        } else {
            *reg = (*reg & ~keys[i].mask) | field << keys[i].low;
        }
        config->feat0 &= BUILT;
        return FACET_OK;
    }
    return facet_fail(err, FACET_ERR_USAGE, 0, "no configuration key is called %s", key);
}
