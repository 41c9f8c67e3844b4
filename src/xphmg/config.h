/* What an xphmg machine is built from: the reference configurations `full`, `min` and `prof`,
 * `rv64` without any vendor extension, and the keys that change one thing of them.
 *
 * Spec: numeric.md 16, R-CAP-46, R-CAP-57, R-CAP-67 to R-CAP-71. */
#ifndef FACET_XPHMG_CONFIG_H
#define FACET_XPHMG_CONFIG_H

#include "base/error.h"
#include "base/strbuf.h"
#include "contract/xphmg_csrs.h"

#include <stdbool.h>
#include <stdint.h>

/* Extensions of the base hart that `isa` can leave out. */
enum facet_extension {
    FACET_EXT_M = 1 << 0,
    FACET_EXT_A = 1 << 1,
    FACET_EXT_F = 1 << 2,
    FACET_EXT_D = 1 << 3,
    FACET_EXT_C = 1 << 4,
    FACET_EXT_ZIFENCEI = 1 << 5,
    FACET_EXT_ZICNTR = 1 << 6,
    FACET_EXT_ZIHPM = 1 << 7,
    FACET_EXT_ZFH = 1 << 8,
    FACET_EXT_ZBA = 1 << 9,
    FACET_EXT_ZBB = 1 << 10,
    FACET_EXT_ZBS = 1 << 11,
    FACET_EXT_B = FACET_EXT_ZBA | FACET_EXT_ZBB | FACET_EXT_ZBS,
    FACET_EXT_ALL = (1 << 12) - 1,
};

enum facet_pmp_kind {
    FACET_PMP_IGNORED, /* registers without effect (R-RV-05) */
    FACET_PMP_ABSENT,  /* no registers */
    FACET_PMP_WORKS,   /* R-CAP-69 */
};
enum { FACET_PMP_MAX = 16 }; /* entries */

/* What a conforming hart may choose; zero is what this one is by itself. */
struct facet_hart_choices {
    uint32_t absent;       /* of enum facet_extension */
    bool bare;             /* no XPHMG extension */
    bool machine_only;     /* no U mode */
    bool misaligned_traps; /* loads and stores of the base ISA */
    uint8_t pmp;           /* enum facet_pmp_kind */
    uint8_t pmp_entries;
    bool checks; /* loads and stores: misaligned_traps or FACET_PMP_WORKS */
    bool resets_there;
    uint64_t reset_pc;   /* instead of the program's entry */
    uint64_t first_hart; /* mhartid of hart 0 */
};

/* Where things are. */
enum facet_device_name {
    FACET_DEVICE_FINISHER,
    FACET_DEVICE_CLINT,
    FACET_DEVICE_UART,
    FACET_DEVICE_FRAMEBUFFER,
    FACET_DEVICES
};
#define FACET_NOWHERE UINT64_MAX
struct facet_platform {
    uint64_t ram_base, ram_bytes; /* bytes 0: as struct facet_xphmg_config says */
    uint64_t device[FACET_DEVICES];
};

/* Values of read-only registers; presence bits remove their unit (R-CAP-57). */
struct facet_cap_config {
    union {
        struct {
            FACET_STORE_CONFIG;
        };
        uint64_t word[FACET_CONFIG_WORDS]; /* the same */
    };
    uint32_t alt_formats; /* bit f: ALT_FMT f is supported */
    struct facet_hart_choices hart;
    struct facet_platform platform;
};

static inline bool facet_xphmg_lacks(const struct facet_cap_config *config, unsigned extensions)
{
    return (config->hart.absent & extensions) != 0;
}

/* `full`, `min`, `prof` or `rv64`; NULL for another name. */
const struct facet_cap_config *facet_cap_config_named(const char *name);

/* "min", or "full,pmask_banks=2,feat0=0x1d11": a name and keys; the name may be left out in front
 * of keys: `full`, as is NULL. A machine that a document forbids is FACET_ERR_USAGE: GFX without
 * RSV or MTX (R-CAP-66). */
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

/* The same for the keys of the base hart and the platform, with any value; *known says whether the
 * key is one of them (config_hart.c). */
enum facet_status facet_hart_config_set(struct facet_cap_config *config,
                                        const char *key,
                                        const char *value,
                                        bool *known,
                                        struct facet_error *err);
/* What several keys must agree on. */
enum facet_status facet_hart_config_check(struct facet_cap_config *config, struct facet_error *err);

/* All keys, a line each: name, values, what they change. */
void facet_cap_config_help(struct facet_strbuf *out);
void facet_hart_config_help(struct facet_strbuf *out);

static inline unsigned facet_xphmg_config_banks(const struct facet_cap_config *config)
{
    return (config->pmask_cap & 1) != 0 ? ((unsigned)config->pmask_cap >> 1 & 7) + 1 : 0;
}

#endif
