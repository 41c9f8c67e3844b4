/* The keys of a configuration that say which RISC-V hart carries the extensions and where the
 * platform is: choices that the manuals leave to whoever builds a core (R-CAP-67 to R-CAP-71). */
#include "xphmg/config.h"

#include "base/bits.h"

#include <ctype.h>
#include <errno.h>
#include <facet/xphmg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- isa --------------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    uint32_t bits;
} extensions[] = {
    {"i", 0},
    {"m", FACET_EXT_M},
    {"a", FACET_EXT_A},
    {"f", FACET_EXT_F},
    {"d", FACET_EXT_D},
    {"c", FACET_EXT_C},
    {"g", FACET_EXT_M | FACET_EXT_A | FACET_EXT_F | FACET_EXT_D | FACET_EXT_ZIFENCEI},
    {"b", FACET_EXT_B},
    {"zicsr", 0}, /* a hart with traps has it */
    {"zifencei", FACET_EXT_ZIFENCEI},
    {"zicntr", FACET_EXT_ZICNTR},
    {"zihpm", FACET_EXT_ZIHPM},
    {"zfh", FACET_EXT_ZFH},
    {"zba", FACET_EXT_ZBA},
    {"zbb", FACET_EXT_ZBB},
    {"zbs", FACET_EXT_ZBS},
};

/* Digits, `p`, digits: the version of an extension. */
static size_t version_at(const char *text)
{
    size_t major = strspn(text, "0123456789"), minor;

    if (major == 0 || text[major] != 'p') {
        return 0;
    }
    minor = strspn(text + major + 1, "0123456789");
    return minor != 0 ? major + 1 + minor : 0;
}

/* The length of the name at `text`: one letter, or all up to `_` or a version. */
static size_t name_at(const char *text)
{
    size_t length = 1;

    if (text[0] == 'z' || text[0] == 's' || text[0] == 'x') {
        while (text[length] != '\0' && text[length] != '_' && version_at(text + length) == 0) {
            length++;
        }
    }
    return length;
}

static enum facet_status
unknown_extension(const char *isa, const char *name, size_t length, struct facet_error *err)
{
    char known[160] = "";

    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++) {
        size_t used = strlen(known);

        (void)snprintf(known + used, sizeof known - used, " %s", extensions[i].name);
    }
    return facet_fail(err,
                      FACET_ERR_USAGE,
                      0,
                      "isa=%s: extension '%.*s' is not supported, expected%s%s",
                      isa,
                      (int)length,
                      name,
                      known,
                      name[0] == 'x' ? "; vendor extensions have keys of their own" : "");
}

/* rv64, i or g, then names; `_` between them where they have several letters. */
static enum facet_status
set_isa(struct facet_cap_config *config, const char *given, struct facet_error *err)
{
    char text[256] = "";
    const char *at = text + 4;
    uint32_t present = 0;

    for (size_t i = 0; given[i] != '\0' && i < sizeof text - 1; i++) {
        text[i] = (char)tolower((unsigned char)given[i]);
    }
    if (strncmp(text, "rv64", 4) != 0 || (*at != 'i' && *at != 'g')) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "isa=%s: expected rv64i or rv64g and extensions, such as "
                          "rv64imac_zifencei_zicntr",
                          given);
    }
    while (*at != '\0') {
        size_t length = name_at(at), i = 0;
        const size_t count = sizeof extensions / sizeof extensions[0];

        while (i < count && (strlen(extensions[i].name) != length ||
                             strncmp(extensions[i].name, at, length) != 0)) {
            i++;
        }
        if (i == count) {
            return unknown_extension(given, at, length, err);
        }
        present |= extensions[i].bits;
        at += length;
        at += version_at(at);
        if (*at == '_' && at[1] != '\0' && at[1] != '_') {
            at++;
        } else if (*at != '\0' && (length > 1 || *at == '_')) {
            return unknown_extension(given, at, strlen(at), err);
        }
    }
    if ((present & FACET_EXT_F) == 0 && (present & (FACET_EXT_D | FACET_EXT_ZFH)) != 0) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "isa=%s: %s needs f",
                          given,
                          (present & FACET_EXT_D) != 0 ? "d" : "zfh");
    }
    config->hart.absent = FACET_EXT_ALL & ~present;
    return FACET_OK;
}

/* ---- numbers and addresses --------------------------------------------------------------------
 */

static bool number(const char *text, const char **end, uint64_t *value)
{
    char *after;

    errno = 0;
    *value = strtoull(text, &after, 0);
    *end = after;
    return text[0] >= '0' && text[0] <= '9' && errno == 0;
}

static enum facet_status
bad(const char *key, const char *value, const char *expected, struct facet_error *err)
{
    return facet_fail(err, FACET_ERR_USAGE, 0, "%s=%s: expected %s", key, value, expected);
}

/* Physical addresses have 56 bits, as pmpaddr. */
#define ADDRESS_END (UINT64_C(1) << 56)

static enum facet_status set_ram(struct facet_cap_config *config,
                                 const char *key,
                                 const char *value,
                                 struct facet_error *err)
{
    static const char expected[] =
        "BASE or BASE+SIZE, multiples of 4096 below 2^56, SIZE up to 64 GiB, such as 0x0+64M";
    const char *end;
    uint64_t base, size = 0;
    bool good = number(value, &end, &base);

    if (good && *end == '+') {
        unsigned shift;

        good = number(end + 1, &end, &size);
        shift = *end == 'k' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
        good = good && size != 0 && size <= FACET_XPHMG_RAM_MAX >> shift;
        size <<= shift;
        end += shift != 0;
    }
    if (!good || *end != '\0' || base % 4096 != 0 || size % 4096 != 0 ||
        base > ADDRESS_END - FACET_XPHMG_RAM_MAX) {
        return bad(key, value, expected, err);
    }
    config->platform.ram_base = base;
    config->platform.ram_bytes = size;
    return FACET_OK;
}

static enum facet_status
set_device(uint64_t *base, const char *key, const char *value, struct facet_error *err)
{
    const char *end;

    if (strcmp(value, "none") == 0) {
        *base = FACET_NOWHERE;
        return FACET_OK;
    }
    if (!number(value, &end, base) || *end != '\0' || *base % 256 != 0 ||
        *base > ADDRESS_END - (1 << 16)) {
        return bad(key, value, "none, or an address below 2^56 that is a multiple of 256", err);
    }
    return FACET_OK;
}

static enum facet_status
set_number(uint64_t *to, uint64_t last, const char *key, const char *value, struct facet_error *err)
{
    const char *end;
    uint64_t given;

    if (!number(value, &end, &given) || *end != '\0' || given > last) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "%s=%s: expected a number up to 0x%llx",
                          key,
                          value,
                          (unsigned long long)last);
    }
    *to = given;
    return FACET_OK;
}

/* The first word means false, the second true. */
static enum facet_status set_word(bool *to,
                                  const char *no,
                                  const char *yes,
                                  const char *key,
                                  const char *value,
                                  struct facet_error *err)
{
    *to = strcmp(value, yes) == 0;
    if (!*to && strcmp(value, no) != 0) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "%s=%s: expected %s or %s", key, value, no, yes);
    }
    return FACET_OK;
}

static enum facet_status
set_pmp(struct facet_cap_config *config, const char *value, struct facet_error *err)
{
    uint64_t entries = 0;
    const char *end;

    if (strcmp(value, "ignored") == 0) {
        config->hart.pmp = FACET_PMP_IGNORED;
    } else if (!number(value, &end, &entries) || *end != '\0' || entries > FACET_PMP_MAX) {
        return bad("pmp", value, "ignored, 0 or a number of entries up to 16", err);
    } else {
        config->hart.pmp = entries == 0 ? FACET_PMP_ABSENT : FACET_PMP_WORKS;
    }
    config->hart.pmp_entries = (uint8_t)entries;
    return FACET_OK;
}

/* ---- the keys ---------------------------------------------------------------------------------
 */

enum key {
    ISA,
    MODES,
    MISALIGNED,
    PMP,
    RAM,
    CLINT,
    UART,
    FINISHER,
    FRAMEBUFFER,
    MVENDORID,
    MARCHID,
    MIMPID,
    HARTID,
    RESET_PC,
    KEYS
};

static const struct {
    const char *key, *values, *what;
} keys[KEYS] = {
    [ISA] = {"isa",
             "rv64imac_zicntr...",
             "extensions of the base hart: i m a f d c g b zicsr "
             "zifencei zicntr zihpm zfh zba zbb zbs"},
    [MODES] = {"modes", "m, mu", "machine mode alone, or with user mode"},
    [MISALIGNED] = {"misaligned",
                    "ok, trap",
                    "loads and stores of the base ISA off their "
                    "alignment"},
    [PMP] = {"pmp", "ignored, 0..16", "registers without effect, none, or working entries"},
    [RAM] = {"ram", "BASE[+SIZE]", "where RAM is; 0x80000000, its size that of --ram"},
    [CLINT] = {"clint", "BASE, none", "0x2000000"},
    [UART] = {"uart", "BASE, none", "0x10000000"},
    [FINISHER] = {"finisher", "BASE, none", "0x100000"},
    [FRAMEBUFFER] = {"framebuffer", "BASE, none", "0x11000000"},
    [MVENDORID] = {"mvendorid", "32 bits", "the register; 0"},
    [MARCHID] = {"marchid", "64 bits", "the register; 0"},
    [MIMPID] = {"mimpid", "64 bits", "the register; 0"},
    [HARTID] = {"hartid", "0..0xffffffff", "mhartid and a0 of the first hart; 0"},
    [RESET_PC] = {"reset_pc", "address", "where harts start, instead of the program's entry"},
};

void facet_hart_config_help(struct facet_strbuf *out)
{
    for (unsigned i = 0; i < KEYS; i++) {
        facet_strbuf_printf(out, "%-14s %-22s %s\n", keys[i].key, keys[i].values, keys[i].what);
    }
}

enum facet_status facet_hart_config_set(struct facet_cap_config *config,
                                        const char *key,
                                        const char *value,
                                        bool *known,
                                        struct facet_error *err)
{
    struct facet_hart_choices *hart = &config->hart;
    struct facet_platform *platform = &config->platform;
    unsigned i = 0;

    while (i < KEYS && strcmp(keys[i].key, key) != 0) {
        i++;
    }
    *known = i < KEYS;
    switch ((enum key)i) {
    case ISA:
        return set_isa(config, value, err);
    case MODES:
        return set_word(&hart->machine_only, "mu", "m", key, value, err);
    case MISALIGNED:
        return set_word(&hart->misaligned_traps, "ok", "trap", key, value, err);
    case PMP:
        return set_pmp(config, value, err);
    case RAM:
        return set_ram(config, key, value, err);
    case CLINT:
        return set_device(&platform->device[FACET_DEVICE_CLINT], key, value, err);
    case UART:
        return set_device(&platform->device[FACET_DEVICE_UART], key, value, err);
    case FINISHER:
        return set_device(&platform->device[FACET_DEVICE_FINISHER], key, value, err);
    case FRAMEBUFFER:
        return set_device(&platform->device[FACET_DEVICE_FRAMEBUFFER], key, value, err);
    case MVENDORID:
        return set_number(&config->mvendorid, UINT32_MAX, key, value, err);
    case MARCHID:
        return set_number(&config->marchid, UINT64_MAX, key, value, err);
    case MIMPID:
        return set_number(&config->mimpid, UINT64_MAX, key, value, err);
    case HARTID:
        return set_number(&hart->first_hart, UINT32_MAX, key, value, err);
    case RESET_PC:
        hart->resets_there = true;
        return set_number(&hart->reset_pc, UINT64_MAX, key, value, err);
    case KEYS:
        break;
    }
    return FACET_OK;
}

/* misa says what is there. */
static uint64_t misa_of(const struct facet_hart_choices *hart)
{
    static const struct {
        uint32_t needs;
        uint64_t bit;
    } letters[] = {
        {FACET_EXT_A, FACET_MISA_A},
        {FACET_EXT_B, FACET_MISA_B},
        {FACET_EXT_C, FACET_MISA_C},
        {FACET_EXT_D, FACET_MISA_D},
        {FACET_EXT_F, FACET_MISA_F},
        {FACET_EXT_M, FACET_MISA_M},
    };
    uint64_t misa = FACET_MISA_RESET;

    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++) {
        if ((hart->absent & letters[i].needs) != 0) {
            misa &= ~letters[i].bit;
        }
    }
    return misa & ~(hart->machine_only ? FACET_MISA_U : 0) & ~(hart->bare ? FACET_MISA_X : 0);
}

enum facet_status facet_hart_config_check(struct facet_cap_config *config, struct facet_error *err)
{
    struct facet_hart_choices *hart = &config->hart;
    const uint64_t align = facet_xphmg_lacks(config, FACET_EXT_C) ? 4 : 2;

    config->misa = misa_of(hart);
    hart->checks = hart->misaligned_traps || hart->pmp == FACET_PMP_WORKS;
    if (hart->reset_pc % align != 0) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          hart->reset_pc,
                          "reset_pc=0x%llx: expected a multiple of %u%s",
                          (unsigned long long)hart->reset_pc,
                          (unsigned)align,
                          align == 4 ? " without c" : "");
    }
    return FACET_OK;
}
