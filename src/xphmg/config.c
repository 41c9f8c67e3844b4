/* See config.h. */
#include "xphmg/config.h"

#include "base/bits.h"
#include "contract/xphmg_csrs.h"
#include "isa/isa.h"
#include "num/eff.h"

#include <errno.h>
#include <facet/xphmg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the manuals leave to the implementer, and where the platform is: docs/run.md. */
#define BASE                                                                                       \
    .misa = FACET_MISA_RESET,                                                                      \
    .platform = {.ram_base = FACET_XPHMG_RAM_BASE,                                                 \
                 .device = {[FACET_DEVICE_FINISHER] = 0x100000,                                    \
                            [FACET_DEVICE_CLINT] = 0x2000000,                                      \
                            [FACET_DEVICE_UART] = 0x10000000,                                      \
                            [FACET_DEVICE_FRAMEBUFFER] = FACET_XPHMG_FRAME_BASE}}
#define FULL                                                                                       \
    BASE, .cap_vers = FACET_CAP_VERS_RESET, .feat0 = FACET_CAP_FEAT0_RESET,                        \
          .feat1 = FACET_CAP_FEAT1_RESET, .pmask_cap = FACET_CAP_PMASK_CAP_RESET,                  \
          .xmem_cap = FACET_CAP_XMEM_CAP_RESET, .xmem_params = FACET_CAP_XMEM_PARAMS_RESET,        \
          .prec_alu = FACET_CAP_PREC_ALU_RESET, .prec_fp8 = FACET_CAP_PREC_FP8_RESET,              \
          .prec_intq = FACET_CAP_PREC_INTQ_RESET, .prec_hyb = FACET_CAP_PREC_HYB_RESET,            \
          .prec_rt = FACET_CAP_PREC_RT_RESET, .rtcap = FACET_RTCAP_RESET,                          \
          .mtxcap = FACET_MTXCAP_RESET, .alt_formats = FACET_ALT_ALL

static const struct {
    const char *name;
    struct facet_cap_config config;
} configs[] = {
    {"full", {FULL, .flags = FACET_CAP_FLAGS_RESET}},
    {"prof", {FULL, .flags = 3, .prof_sup = 7}},
    {"min",
     {
         BASE,
         .cap_vers = FACET_CAP_VERS_RESET,
         .feat0 = 0x1C08,
         .feat1 = 0x7E3C,
         .pmask_cap = 0x13,
         .xmem_cap = 0x0001,
         .xmem_params = UINT64_C(0x0000000600000040),
         .prec_alu = 0x7F,
         .prec_fp8 = 0,
         .prec_intq = 0x1799,
         .prec_hyb = 0x16,
         .prec_rt = 0x22C,
         .rtcap = FACET_RTCAP_RESET,
         .mtxcap = FACET_MTXCAP_RESET,
         .alt_formats = FACET_ALT_NONE,
     }},
    {"rv64", {BASE, .alt_formats = FACET_ALT_NONE, .hart = {.bare = true}}},
};

const struct facet_cap_config *facet_cap_config_named(const char *name)
{
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        if (strcmp(configs[i].name, name) == 0) {
            return &configs[i].config;
        }
    }
    return NULL;
}

/* A key is a register or a field of one. */
static const struct {
    const char *key;
    size_t offset;
    unsigned number; /* the whole register: its CSR number; a field: 0 */
    uint64_t mask;   /* of the field */
    uint8_t low;
    uint8_t first, last; /* the values that may be given; the field stores value - first */
    const char *what;    /* register, or register and field */
} keys[] = {
#define WHOLE(key, csr)                                                                            \
    {                                                                                              \
#key, offsetof(struct facet_cap_config, key), FACET_CSR_##csr, 0, 0, 0, 0, #csr            \
    }
#define PART(key, reg, field, first, last)                                                         \
    {                                                                                              \
#key, offsetof(struct facet_cap_config, reg), 0, FACET_##field, FACET_##field##_LSB,       \
            first, last, #field                                                                    \
    }
    WHOLE(cap_vers, CAP_VERS),
    WHOLE(flags, CAP_FLAGS),
    WHOLE(feat0, CAP_FEAT0),
    WHOLE(xmem_cap, CAP_XMEM_CAP),
    WHOLE(rtcap, RTCAP),
    WHOLE(mtxcap, MTXCAP),
    PART(pmask_present, pmask_cap, CAP_PMASK_CAP_PMASK_PRESENT, 0, 1),
    PART(pmask_banks, pmask_cap, CAP_PMASK_CAP_PMASK_BANKS_M1, 1, 4),
    PART(pmask_level, feat1, CAP_FEAT1_PMASK_LEVEL, 0, 2),
    PART(mtx_descq, feat1, CAP_FEAT1_MTX_DESCQ, 0, 1),
    PART(rt_node4, rtcap, RTCAP_NODE4, 0, 1),
    PART(rt_node8, rtcap, RTCAP_NODE8, 0, 1),
    PART(rt_watertight, rtcap, RTCAP_WATERTIGHT, 0, 1),
    PART(rt_pack_hint, rtcap, RTCAP_PACK_HINT, 0, 1),
    PART(rt_eps_ctl, rtcap, RTCAP_EPS_CTL, 0, 1),
    PART(rt_descq, rtcap, RTCAP_DESCQ, 0, 1),
};

/* Reserved bits: RSV, RSVD, RSV0, but not RSV_PRESENT. */
static bool is_reserved(const char *name)
{
    return strncmp(name, "RSV", 3) == 0 && name[3] != '_';
}

/* Bits of a register that have a name. */
static uint64_t named_bits(unsigned number)
{
    const struct facet_csr_row *row = facet_csr_at(FACET_ISA_XPHMG, number);
    uint64_t mask = 0;

    for (unsigned i = 0; row != NULL && i < row->field_count; i++) {
        const struct facet_csr_field *field = &row->fields[i];

        if (!is_reserved(field->name)) {
            mask |= facet_bits_mask(field->hi - field->lo + 1u) << field->lo;
        }
    }
    return mask;
}

enum facet_status facet_cap_config_set(struct facet_cap_config *config,
                                       const char *key,
                                       uint64_t value,
                                       struct facet_error *err)
{
    if (strcmp(key, "alt_formats") == 0) {
        if ((value & ~(uint64_t)FACET_ALT_ALL) != 0) {
            return facet_fail(err,
                              FACET_ERR_USAGE,
                              0,
                              "alt_formats=0x%llx: expected a mask of bits 1 to 5",
                              (unsigned long long)value);
        }
        config->alt_formats = (uint32_t)value;
        return FACET_OK;
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        uint64_t *reg = (uint64_t *)(void *)((char *)config + keys[i].offset);

        if (strcmp(keys[i].key, key) != 0) {
            continue;
        }
        if (keys[i].number != 0) {
            if ((value & ~named_bits(keys[i].number)) != 0) {
                return facet_fail(err,
                                  FACET_ERR_USAGE,
                                  0,
                                  "%s: unknown bits 0x%llx",
                                  key,
                                  (unsigned long long)(value & ~named_bits(keys[i].number)));
            }
            *reg = value;
        } else if (value < keys[i].first || value > keys[i].last) {
            return facet_fail(
                err, FACET_ERR_USAGE, 0, "%s: expected %u to %u", key, keys[i].first, keys[i].last);
        } else {
            *reg = (*reg & ~keys[i].mask) | (value - keys[i].first) << keys[i].low;
        }
        return FACET_OK;
    }
    return facet_fail(err, FACET_ERR_USAGE, 0, "unknown configuration key %s", key);
}

/* One `key=value` of [text, text + length). */
static enum facet_status
set_text(struct facet_cap_config *config, const char *text, size_t length, struct facet_error *err)
{
    char word[256];
    char *equals, *end;
    bool known = false;
    enum facet_status status;
    uint64_t value;

    (void)snprintf(word, sizeof word, "%.*s", length < 999 ? (int)length : 999, text);
    equals = strchr(word, '=');
    if (length >= sizeof word || equals == NULL) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "%s: expected key=value", word);
    }
    *equals = '\0';
    status = facet_hart_config_set(config, word, equals + 1, &known, err);
    if (known) {
        return status;
    }
    if (config->hart.bare) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "%s=%s: configuration rv64 has no vendor extension and no such key",
                          word,
                          equals + 1);
    }
    errno = 0;
    value = strtoull(equals + 1, &end, 0);
    if (equals[1] < '0' || equals[1] > '9' || *end != '\0' || errno != 0) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "%s=%s: expected a number", word, equals + 1);
    }
    return facet_cap_config_set(config, word, value, err);
}

void facet_cap_config_help(struct facet_strbuf *out)
{
    facet_hart_config_help(out);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char values[16] = "named bits";

        if (keys[i].number == 0) {
            (void)snprintf(values, sizeof values, "%u..%u", keys[i].first, keys[i].last);
        }
        facet_strbuf_printf(out,
                            "%-14s %-22s %s %s\n",
                            keys[i].key,
                            values,
                            keys[i].number != 0 ? "register" : "field",
                            keys[i].what);
    }
    facet_strbuf_printf(
        out, "%-14s %-22s which codes of ALT_FMT are supported\n", "alt_formats", "bits 1..5");
}

/* Units that a present unit's document makes mandatory (R-CAP-66). */
static enum facet_status check_units(const struct facet_cap_config *config, struct facet_error *err)
{
    const uint64_t needed = FACET_CAP_FEAT0_RSV_PRESENT | FACET_CAP_FEAT0_MTX_PRESENT;
    uint64_t missing = needed & ~config->feat0;

    if ((config->feat0 & FACET_CAP_FEAT0_GFX_PRESENT) == 0 || missing == 0) {
        return FACET_OK;
    }
    return facet_fail(err,
                      FACET_ERR_USAGE,
                      0,
                      "feat0=0x%llx: GFX needs RSV and MTX (XPHMG_GFX, section 2), expected "
                      "feat0=0x%llx, or 0x%llx without GFX",
                      (unsigned long long)config->feat0,
                      (unsigned long long)(config->feat0 | missing),
                      (unsigned long long)(config->feat0 & ~FACET_CAP_FEAT0_GFX_PRESENT));
}

enum facet_status
facet_cap_config_parse(const char *text, struct facet_cap_config *config, struct facet_error *err)
{
    enum facet_status status = FACET_OK;
    size_t length = text != NULL ? strcspn(text, ",") : 0;
    const bool named = text != NULL && memchr(text, '=', length) == NULL;
    char name[16] = "full";

    if (named) {
        (void)snprintf(name, sizeof name, "%.*s", length < 999 ? (int)length : 999, text);
    }
    if ((named && length >= sizeof name) || facet_cap_config_named(name) == NULL) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "unknown configuration '%s', expected full, min, prof or rv64",
                          name);
    }
    *config = *facet_cap_config_named(name);
    if (text != NULL && !named) {
        status = set_text(config, text, length, err);
    }
    while (status == FACET_OK && text != NULL && text[length] == ',') {
        text += length + 1;
        length = strcspn(text, ",");
        status = set_text(config, text, length, err);
    }
    if (status == FACET_OK) {
        status = facet_hart_config_check(config, err);
    }
    return status == FACET_OK ? check_units(config, err) : status;
}
