/* What an xphmg machine is built from: the reference configurations `full`, `min` and `prof` and
 * the keys that change one thing of them.
 *
 * Spec: numeric.md 16, R-CAP-46, R-CAP-57. */
#ifndef FACET_XPHMG_CONFIG_H
#define FACET_XPHMG_CONFIG_H

#include "base/error.h"
#include "contract/xphmg_csrs.h"

#include <stdbool.h>
#include <stdint.h>

/* Values of read-only registers; presence bits remove their unit (R-CAP-57). */
struct facet_cap_config {
    union {
        struct {
            FACET_STORE_CONFIG;
        };
        uint64_t word[FACET_CONFIG_WORDS]; /* the same */
    };
    uint32_t alt_formats; /* bit f: ALT_FMT f is supported */
};

/* `full`, `min` or `prof`; NULL for another name. */
const struct facet_cap_config *facet_cap_config_named(const char *name);

/* "min", or "full,pmask_banks=2,feat0=0x1d11": a name and keys. NULL is `full`. A machine that
 * a document forbids is FACET_ERR_USAGE: GFX without RSV or MTX (R-CAP-66). */
enum facet_status
facet_cap_config_parse(const char *text, struct facet_cap_config *config, struct facet_error *err);

/* Changes one key: "pmask_present", "pmask_level", "pmask_banks", "feat0", "xmem_cap",
 * "alt_formats", "cap_vers", "flags", "rtcap", "mtxcap", "mtx_descq", or a bit of rtcap:
 * "rt_node4", "rt_node8", "rt_watertight", "rt_pack_hint", "rt_eps_ctl", "rt_descq". An unknown key
 * or a value that does not fit is FACET_ERR_USAGE. */
enum facet_status facet_cap_config_set(struct facet_cap_config *config,
                                       const char *key,
                                       uint64_t value,
                                       struct facet_error *err);

static inline unsigned facet_xphmg_config_banks(const struct facet_cap_config *config)
{
    return (config->pmask_cap & 1) != 0 ? ((unsigned)config->pmask_cap >> 1 & 7) + 1 : 0;
}

#endif
