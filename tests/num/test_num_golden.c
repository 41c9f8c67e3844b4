/* What the specification itself writes down: golden vectors (numeric.md 15), worked EFF examples
 * (14), and the field-by-field observables of cap.requirements.tsv that need no machine. */
#include "harness.h"
#include "num/accum.h"
#include "num/container.h"
#include "num/eff.h"
#include "spec_table.h"

#include <stdio.h>
#include <stdlib.h>

static bool format_named(const char *name, uint8_t *format)
{
    for (unsigned f = 0; f < FACET_FMT_COUNT; f++) {
        if (strcmp(facet_format_name(f), name) == 0) {
            *format = (uint8_t)f;
            return true;
        }
    }
    return false;
}

static void set_state(struct facet_conv *conv, const char *state)
{
    static const char *const modes[] = {"RNE", "RTZ", "RDN", "RUP", "RMM"};

    for (unsigned rm = 0; rm < 5; rm++) {
        if (spec_has_word(state, modes[rm])) {
            conv->rm = (uint8_t)rm;
        }
    }
    conv->ftz = spec_has_word(state, "FTZ");
    conv->sat = spec_has_word(state, "SAT");
    conv->sat_mode = spec_has_word(state, "SAT_MODE");
    conv->nan_pol = (uint8_t)spec_value(state, "NAN_POL", 0);
    if (spec_has_word(state, "Q")) {
        conv->uns = spec_has_word(state, "UNS");
        conv->zp = (int16_t)spec_value(state, "zp", 0);
        conv->scale = (int8_t)spec_value(state, "s", 0);
    }
}

/* Integer accumulators are written in decimal, everything else in hexadecimal. */
static uint32_t number(uint8_t format, bool accumulator, const char *text)
{
    bool decimal = accumulator && facet_format_is_int(format);

    return (uint32_t)strtoll(text, NULL, decimal ? 10 : 16);
}

struct golden {
    bool widen;
    unsigned checked;
};

/* What a golden vector is about: the way it rounds, the format, the stickies it names. */
static void row_of_narrowing(const struct facet_conv *conv, unsigned flags)
{
    static const char *const modes[] = {"CAP-203", "CAP-204", "CAP-205", "CAP-206", ""};
    char ids[80];

    (void)snprintf(ids,
                   sizeof ids,
                   "CAP-202 %s %s %s %s %s",
                   modes[conv->rm],
                   conv->elem == FACET_FMT_BF16_LITE ? "CAP-253" : "",
                   flags & FACET_DOWN ? "CAP-287" : "",
                   flags & FACET_SAT ? "CAP-288" : "",
                   flags & FACET_FTZ ? "CAP-289" : "");
    harness_row(ids);
}

static void golden_row(const char *const cell[], unsigned count, void *context)
{
    struct golden *golden = context;
    struct facet_conv conv = {.rm = FACET_RNE};
    unsigned flags = 0;
    uint32_t got, want;

    if (!CHECK(count >= 7) || !CHECK(format_named(cell[golden->widen ? 0 : 3], &conv.elem) &&
                                     format_named(cell[golden->widen ? 3 : 0], &conv.acc))) {
        return;
    }
    set_state(&conv, cell[4]);
    if (golden->widen) {
        got = facet_widen(&conv, number(conv.elem, false, cell[1]), &flags);
        want = number(conv.acc, true, cell[5]);
    } else {
        got = facet_narrow(&conv, number(conv.acc, true, cell[1]), &flags);
        want = number(conv.elem, false, cell[5]);
    }
    if (!golden->widen) {
        row_of_narrowing(&conv, flags);
    }
    CHECK_MSG(got == want && flags == spec_flags_named(cell[6]),
              "%s %s -> %s (%s): %x flags %x, expected %s %s",
              cell[0],
              cell[1],
              cell[3],
              cell[4],
              got,
              flags,
              cell[5],
              cell[6]);
    golden->checked++;
}

TEST(golden_narrow, "")
{
    struct golden golden = {.widen = false};

    CHECK_EQ(spec_table("### 15.1 Narrow", golden_row, &golden), golden.checked);
    harness_row("");
    CHECK(golden.checked >= 79);
}

TEST(golden_widen, "")
{
    struct golden golden = {.widen = true};

    CHECK_EQ(spec_table("### 15.2 Widen", golden_row, &golden), golden.checked);
    CHECK(golden.checked >= 30);
}

/* numeric.md 14. The action column holds `csrw 0x7D0, value`; other actions are told by words. */
struct examples {
    struct facet_prec prec;
    char number;
    unsigned checked;
};

static void act(struct examples *ex, const char *label, const char *action)
{
    const char *csr = strstr(action, "csr"), *hex = csr != NULL ? strstr(csr, ", 0") : NULL;
    unsigned reg = csr != NULL ? (unsigned)strtoul(csr + 5, NULL, 16) : 0;
    enum facet_csr_op op = csr == NULL     ? FACET_CSRRW
                           : csr[3] == 's' ? FACET_CSRRS
                           : csr[3] == 'c' ? FACET_CSRRC
                                           : FACET_CSRRW;

    if (csr == NULL) {
        CHECK_STR(label, "11b");
        facet_prec_retire(&ex->prec);
    } else if (reg == 0x7D3) {
        ex->prec.exc_en = strtoull(hex + 2, NULL, 0);
    } else {
        CHECK(reg == 0x7D0 || reg == 0x7D1);
        (void)facet_prec_write(&ex->prec,
                               reg == 0x7D0 ? FACET_PREC_MODE : FACET_PREC_ALT,
                               op,
                               strtoull(hex + 2, NULL, 0));
    }
}

static uint64_t bits(uint64_t x, unsigned high, unsigned low)
{
    return x >> low & ((UINT64_C(2) << (high - low)) - 1);
}

/* STAT field by field, each charged to its row. */
static void check_stat(uint64_t got, uint64_t want)
{
    static const struct {
        unsigned high, low;
        const char *ids;
    } fields[] = {
        {31, 28, "CAP-278"},
        {27, 26, "CAP-279"},
        {25, 24, "CAP-280"},
        {23, 23, "CAP-281"},
        {22, 22, "CAP-282"},
        {21, 19, "CAP-283"},
        {18, 18, "CAP-284"},
        {17, 16, "CAP-285"},
        {15, 15, "CAP-023 CAP-286"},
        {7, 4, "CAP-271 CAP-293"},
        {3, 0, "CAP-271 CAP-294"},
    };

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        CHECK_ID(fields[i].ids,
                 bits(got, fields[i].high, fields[i].low) ==
                     bits(want, fields[i].high, fields[i].low));
    }
}

static void example_row(const char *const cell[], unsigned count, void *context)
{
    struct examples *ex = context;
    long n = strtol(cell[0], NULL, 10);

    if (!CHECK(count == 9)) {
        return;
    }
    if (n != ex->number && n != 8 && n != 9) { /* 8 and 9 continue from 7 */
        facet_prec_reset(&ex->prec, FACET_ALT_ALL);
    }
    ex->number = (char)n;
    ex->prec.exc_en = strtoull(cell[5], NULL, 16);
    if (n == 12) { /* "set earlier" */
        facet_prec_raise(&ex->prec, FACET_SAT | FACET_FTZ | FACET_DOWN);
    }
    CHECK_EQ(ex->prec.image[0], strtoull(cell[2], NULL, 16));
    CHECK_EQ(ex->prec.image[1], strtoull(cell[3], NULL, 16));
    CHECK_EQ(ex->prec.stat, strtoull(cell[4], NULL, 16));
    act(ex, cell[0], cell[1]);
    CHECK_MSG(ex->prec.image[0] == strtoull(cell[6], NULL, 16) &&
                  ex->prec.image[1] == strtoull(cell[7], NULL, 16) &&
                  ex->prec.stat == strtoull(cell[8], NULL, 16),
              "example %s (%s): MODE %016" PRIx64 " ALT %016" PRIx64 " STAT %016" PRIx64,
              cell[0],
              cell[1],
              ex->prec.image[0],
              ex->prec.image[1],
              ex->prec.stat);
    check_stat(ex->prec.stat, strtoull(cell[8], NULL, 16));
    ex->checked++;
}

TEST(worked_examples_of_section_14, "CAP-183")
{
    struct examples ex = {.number = 0};

    CHECK_EQ(spec_table("## 14. Worked EFF examples", example_row, &ex), ex.checked);
    CHECK(ex.checked >= 25);
    facet_prec_reset(&ex.prec, FACET_ALT_ALL);
    (void)facet_prec_write(&ex.prec, FACET_PREC_MODE, FACET_CSRRW, UINT64_C(0x8000000000080000));
    CHECK_ID("CAP-488", ex.prec.stat == 0x04000000);
    facet_prec_reset(&ex.prec, FACET_ALT_ALL);
    (void)facet_prec_write(&ex.prec, FACET_PREC_ALT, FACET_CSRRW, UINT64_C(0x8000000049C00000));
    CHECK_ID("CAP-490", ex.prec.stat == 0x81C00000);
}

TEST(reset_values, "CAP-299 CAP-479")
{
    struct facet_prec prec;
    struct facet_eff eff;

    facet_prec_reset(&prec, FACET_ALT_ALL);
    CHECK_EQ(prec.image[FACET_PREC_MODE], 0x80000);
    CHECK_EQ(prec.image[FACET_PREC_ALT], 0);
    CHECK_EQ(prec.stat, 0x04000000);
    CHECK_EQ(prec.exc_en | prec.exc_st, 0);
    eff = facet_prec_eff(&prec);
    CHECK(eff.elem == FACET_FMT_FP16 && eff.acc == FACET_FMT_FP32 && eff.ew == 1 && eff.pack == 0);
    CHECK(!eff.sat && !eff.alt_en && !eff.zmode && !eff.sae && eff.nan_pol == 0 && eff.rm == 0);
}

#define APPLY (UINT64_C(1) << 63)
/* MODE with FP32 accumulator: PET, EW. */
#define MODE(pet, ew) ((uint64_t)(pet) << 21 | (uint64_t)(ew) << 19)

static struct facet_prec applied(uint64_t mode, uint64_t alt)
{
    struct facet_prec prec;

    facet_prec_reset(&prec, FACET_ALT_ALL);
    (void)facet_prec_write(&prec, FACET_PREC_MODE, FACET_CSRRW, mode | APPLY);
    (void)facet_prec_write(&prec, FACET_PREC_ALT, FACET_CSRRW, alt | APPLY);
    return prec;
}

/* The element that FP32 accumulator bits become under MODE and ALT; flags into *flags. */
static uint32_t written(uint64_t mode, uint64_t alt, uint32_t fp32, unsigned *flags)
{
    struct facet_prec prec = applied(mode, alt);
    struct facet_eff eff = facet_prec_eff(&prec);
    struct facet_conv conv = facet_eff_conv(&eff, NULL, 0);

    *flags = 0;
    return facet_narrow(&conv, fp32, flags);
}

static uint64_t stat_after(uint64_t mode, uint64_t alt)
{
    return applied(mode, alt).stat;
}

enum { ONE = 0x3F800000, ONE_HALF_MORE = 0x3FC00000 };

TEST(pet_codes, "")
{
    static const uint32_t one_and_a_half[] = {0x3E00, 0x3FC00000, 0x3FC0, 2, 2, 2};
    static const unsigned ew[] = {1, 2, 1, 0, 1, 2};
    unsigned flags;

    for (unsigned pet = 0; pet < 6; pet++) {
        static const char *const ids[] = {
            "CAP-214", "CAP-215", "CAP-216", "CAP-217", "CAP-218", "CAP-219"};
        harness_row(ids[pet]);
        CHECK_EQ(written(MODE(pet, ew[pet]), 0, ONE_HALF_MORE, &flags), one_and_a_half[pet]);
        CHECK_EQ(bits(stat_after(MODE(pet, ew[pet]), 0), 31, 28), pet);
        CHECK_ID("CAP-213", bits(stat_after(MODE(pet, ew[pet]), 0), 31, 28) == pet);
    }
    for (unsigned pet = 6; pet < 8; pet++) {
        struct facet_prec prec = applied(0, 0);
        (void)facet_prec_write(&prec, FACET_PREC_MODE, FACET_CSRRW, MODE(pet, 1) | APPLY);
        CHECK_ID("CAP-220 CAP-463", bits(prec.image[0], 23, 21) == 0);
        CHECK_ID("CAP-220 CAP-464", bits(prec.stat, 15, 15) == 1);
    }
    harness_row("CAP-464"); /* ACCW 5, PACK 3 and FP32 in 16 bits are format faults too */
    for (unsigned i = 0; i < 3; i++) {
        static const uint64_t image[] = {UINT64_C(5) << 24 | 0x80000, 3 << 17 | 0x80000, 0x280000};
        struct facet_prec prec = applied(0, 0);
        (void)facet_prec_write(&prec, FACET_PREC_MODE, FACET_CSRRW, image[i] | APPLY);
        CHECK_EQ(bits(prec.stat, 15, 15), 1);
    }
}

TEST(saturation, "")
{
    const uint64_t sat = UINT64_C(1) << 30, fp16 = MODE(0, 1), int8 = MODE(3, 0);
    unsigned flags;

    harness_row("CAP-198");
    CHECK_EQ(written(fp16 | sat, 0, 0x4788B800, &flags), 0x7BFF);
    CHECK_EQ(flags, FACET_SAT | FACET_DOWN);
    harness_row("CAP-199");
    CHECK_EQ(written(fp16, 0, 0x4788B800, &flags), 0x7C00);
    CHECK_EQ(flags, FACET_OF | FACET_NX | FACET_DOWN);
    CHECK_EQ(facet_prec_hits(FACET_OF, false, flags), FACET_OF); /* traps when enabled */
    harness_row("CAP-230");
    CHECK_EQ(written(int8 | sat, 0, 0xC3480000, &flags), 0x80);
    CHECK_EQ(written(int8 | sat | 1 << 16, 0, 0xC3480000, &flags), 0x81);
    harness_row("CAP-247"); /* ALT.SAT wins over MODE.SAT = 0 */
    CHECK_EQ(written(fp16, UINT64_C(0x48400000), 0x447A0000, &flags), 0x7E);
    CHECK_EQ(flags, FACET_SAT | FACET_DOWN);
    CHECK_ID("CAP-254", written(fp16, UINT64_C(0x48000000), 0x43E00000, &flags) == 0x7E);
    CHECK_ID("CAP-255", written(fp16, UINT64_C(0x4C000000), 0x47600000, &flags) == 0x7B);
    for (unsigned i = 0; i < 4; i++) {
        uint64_t stat = stat_after(fp16 | ((i & 1) != 0 ? sat : 0),
                                   UINT64_C(0x48000000) | (uint64_t)(i >> 1) << 22);
        CHECK_ID("CAP-261 CAP-282", bits(stat, 22, 22) == (i != 0));
    }
}

TEST(rounding_codes, "")
{
    static const struct {
        uint32_t positive, negative; /* FP32 sources */
        uint32_t up, down;           /* FP16 results */
    } rows[5] = {{0x3F801000, 0xBF801000, 0x3C00, 0xBC00},
                 {0x3F801001, 0xBF801001, 0x3C00, 0xBC00},
                 {0x3F801000, 0xBF801000, 0x3C00, 0xBC01},
                 {0x3F801000, 0xBF801000, 0x3C01, 0xBC00},
                 {0x3F801000, 0xBF801000, 0x3C01, 0xBC01}};
    unsigned flags;

    for (unsigned code = 0; code < 8; code++) {
        uint64_t mode = MODE(0, 1) | (uint64_t)(code & 3) << 27 | (uint64_t)(code >> 2) << 32;
        const unsigned used = code < 5 ? code : 0;

        static const char *const ids[] = {"CAP-203", "CAP-204", "CAP-205", "CAP-206"};
        harness_row(code < 4 ? ids[code] : "CAP-207");
        CHECK_EQ(bits(stat_after(mode, 0), 21, 19), used);
        CHECK_ID("CAP-283", bits(stat_after(mode, 0), 21, 19) == used);
        CHECK_ID("CAP-264", bits(stat_after(mode, 0x48000000), 21, 19) == used);
        CHECK_ID("CAP-202",
                 code > 3 || written(mode, 0, rows[used].positive, &flags) == rows[used].up);
        CHECK_EQ(bits(stat_after(mode, 0), 15, 15), 0);
        CHECK_EQ(written(mode, 0, rows[used].positive, &flags), rows[used].up);
        CHECK_EQ(written(mode, 0, rows[used].negative, &flags), rows[used].down);
    }
}

TEST(accumulator_codes, "")
{
    static const uint8_t formats[] = {
        FACET_FMT_FP32, FACET_FMT_FP16, FACET_FMT_INT32, FACET_FMT_INT16};

    for (unsigned mode = 0; mode < 4; mode++) {
        for (unsigned alt = 0; alt < 4; alt++) {
            struct facet_prec prec = applied(MODE(0, 1) | (uint64_t)mode << 24,
                                             UINT64_C(0x48000000) | (uint64_t)alt << 24);
            unsigned want = alt != 0 ? alt : mode;

            CHECK_ID(alt == 0 ? "CAP-245 CAP-260" : "CAP-245 CAP-260 CAP-280",
                     bits(prec.stat, 25, 24) == want);
            CHECK_ID("CAP-260", facet_prec_eff(&prec).acc == formats[want]);
        }
        CHECK_ID("CAP-208 CAP-280",
                 bits(stat_after(MODE(0, 1) | (uint64_t)mode << 24, 0), 25, 24) == mode);
    }
}

TEST(zero_points, "")
{
    const uint64_t int8 = MODE(3, 0), q = 1 << 5, uns = 1 << 4, sat = UINT64_C(1) << 30;
    const uint64_t tensor = 1 << 14, channel = 2 << 14, int4 = UINT64_C(0x50000000);
    uint8_t zptab[256];
    unsigned flags;

    for (unsigned i = 0; i < 256; i++) {
        zptab[i] = (uint8_t)(i * 7 + 1);
    }
    CHECK_ID("CAP-232", written(int8 | q, 0, ONE, &flags) == 1);
    CHECK_ID("CAP-232", written(int8 | q | 5 << 6, 0, ONE, &flags) == 1);
    CHECK_ID("CAP-233", written(int8 | q | tensor | 5 << 6, 0, ONE, &flags) == 6);
    CHECK_ID("CAP-236", written(int8 | tensor | 5 << 6, 0, ONE, &flags) == 1); /* Q = 0 */
    for (uint64_t en = 0; en < 4; en++) {
        CHECK_ID("CAP-231",
                 bits(applied(int8 | en << 14, 0).image[0], 15, 14) == (en < 3 ? en : 0));
    }
    harness_row("CAP-235"); /* ZP = 0x80: -128 signed, 128 unsigned */
    for (unsigned u = 0; u < 2; u++) {
        struct facet_prec prec = applied(int8 | q | tensor | 0x80 << 6 | (u != 0 ? uns : 0), 0);
        struct facet_eff eff = facet_prec_eff(&prec);
        CHECK_EQ(facet_eff_zero_point(&eff, zptab, 9), u != 0 ? 128 : -128);
        CHECK_EQ(facet_eff_zero_point(&eff, NULL, 0), u != 0 ? 128 : -128);
    }
    harness_row("CAP-234"); /* per channel: ZPTAB[(ZP + ZP_OFFS + c) mod 256] */
    for (unsigned c = 0; c < 300; c++) {
        struct facet_prec prec = applied(int8 | q | channel | 2 << 6, 0);
        struct facet_eff eff = facet_prec_eff(&prec);
        CHECK_EQ(facet_eff_zero_point(&eff, zptab, c), (int8_t)zptab[(2 + c) & 255]);
        prec = applied(int8 | q | uns | channel | 77 << 6, int4 | 2 << 14 | 0xFF << 6);
        eff = facet_prec_eff(&prec);
        CHECK_EQ(facet_eff_zero_point(&eff, zptab, c), zptab[(1 + c) & 255]);
    }
    harness_row("CAP-237");
    CHECK_EQ(written(int8 | q | uns | sat, 0, 0x43480000, &flags), 0xC8);
    CHECK_EQ(written(int8 | q | sat, 0, 0x43480000, &flags), 0x7F);
    CHECK_EQ(written(int8 | uns | sat, 0, 0x43480000, &flags), 0x7F); /* UNS needs Q */
    /* ALT supplies its own zero point and offset */
    CHECK_ID("CAP-248", written(int8 | q | uns | tensor, int4 | 8 << 14, 0, &flags) == 8);
    CHECK_ID("CAP-249",
             written(int8 | q | uns | tensor, int4 | 8 << 14 | 0xFF << 6, 0, &flags) == 7);
    CHECK_ID("CAP-267", written(int8 | uns | tensor, int4 | 8 << 14, 0, &flags) == 0);
    CHECK_ID("CAP-263", written(int8 | q | uns | sat, int4, 0x41A00000, &flags) == 15);
    CHECK_ID("CAP-263", written(int8 | q | sat, int4, 0x41A00000, &flags) == 7);
    CHECK_ID("CAP-236", bits(stat_after(int8 | q, 0), 18, 18) == 1);
    CHECK_ID("CAP-236", bits(stat_after(int8, 0), 18, 18) == 0);
}

TEST(scale_shift, "CAP-505 CAP-506 CAP-267 CAP-236")
{
    const uint64_t int8 = MODE(3, 0), q = 1 << 5, int4 = UINT64_C(0x50000000);
    unsigned flags;

    CHECK_EQ(written(int8 | q | UINT64_C(0xFF) << 40, 0, ONE, &flags), 2);
    CHECK_EQ(written(int8 | q | UINT64_C(1) << 40, 0, 0x40800000, &flags), 2);
    CHECK_EQ(written(int8 | UINT64_C(0xFF) << 40, 0, ONE, &flags), 1); /* Q = 0 */
    CHECK_EQ(written(int8 | q | UINT64_C(3) << 40, int4, 0x40400000, &flags), 3);
    CHECK_EQ(written(int8 | q | UINT64_C(3) << 40, int4 | UINT64_C(0xFF) << 40, 0x40400000, &flags),
             6);
}

TEST(nan_policy, "CAP-270 CAP-292 CAP-507")
{
    static const uint32_t results[] = {0x7E00, 0, 0x7C00};
    unsigned flags;

    for (uint64_t pol = 0; pol < 3; pol++) {
        CHECK_EQ(written(MODE(0, 1) | pol << 34, 0, 0x7FC00000, &flags), results[pol]);
        CHECK_EQ(bits(stat_after(MODE(0, 1) | pol << 34, 0), 9, 8), pol);
    }
    CHECK_EQ(bits(applied(MODE(0, 1) | UINT64_C(3) << 34, 0).image[0], 35, 34), 0);
    CHECK_EQ(bits(stat_after(MODE(0, 1) | UINT64_C(3) << 34, 0), 15, 15), 0);
}

TEST(alt_formats, "")
{
    static const struct {
        unsigned pet, ew, pack, elem;
    } rows[6] = {{0, 0, 0, 0},
                 {2, 1, 0, FACET_FMT_BF16_LITE},
                 {8, 0, 0, FACET_FMT_E4M3},
                 {9, 0, 0, FACET_FMT_E5M2},
                 {10, 0, 1, FACET_FMT_INT4},
                 {11, 0, 2, FACET_FMT_INT2}};
    static const char *const ids[6] = {"", "CAP-252", "CAP-254", "CAP-255", "CAP-256", "CAP-257"};
    const uint64_t mode = MODE(1, 2) | 1 << 5; /* FP32, Q */
    unsigned flags;

    for (uint64_t fmt = 0; fmt < 16; fmt++) {
        uint64_t alt = UINT64_C(1) << 30 | fmt << 26, off = fmt << 26;
        uint64_t stat = stat_after(mode, alt), plain = stat_after(mode, off);

        CHECK_ID("CAP-243 CAP-258", plain == stat_after(mode, 0)); /* ALT_EN = 0: EFF is MODE */
        if (fmt >= 1 && fmt <= 5) {
            harness_row(ids[fmt]);
            CHECK_EQ(bits(stat, 31, 28), rows[fmt].pet);
            CHECK_EQ(bits(stat, 27, 26), rows[fmt].ew);
            CHECK_EQ(bits(stat, 17, 16), rows[fmt].pack);
            CHECK_EQ(bits(stat, 23, 23), 1);
            CHECK_EQ(facet_eff_compose(mode, alt, FACET_ALT_ALL).elem, rows[fmt].elem);
            CHECK_ID("CAP-031 CAP-243 CAP-259",
                     bits(stat, 31, 28) == rows[fmt].pet && bits(stat, 27, 26) == rows[fmt].ew);
            CHECK_ID("CAP-262", bits(stat, 18, 18) == 1);
            CHECK_ID("CAP-262", bits(stat_after(mode & ~UINT64_C(0x20), alt), 18, 18) == 0);
            CHECK_ID("CAP-244", bits(stat, 15, 15) == 0);
            /* VER != 0, or a machine without the format: as unsupported */
            CHECK_ID("CAP-251", stat_after(mode, alt | 1) == (plain | FACET_UNSUP));
            CHECK_ID("CAP-492", facet_eff_compose(mode, alt, FACET_ALT_NONE).unsup);
        } else {
            CHECK_ID("CAP-038 CAP-272", ((stat ^ plain) & ~UINT64_C(0x8000)) == 0);
            CHECK_ID("CAP-038 CAP-244 CAP-273", bits(stat, 15, 15) == 1);
            CHECK_ID("CAP-274", bits(stat, 23, 23) == 0 && applied(mode, alt).image[1] == alt);
        }
    }
    {
        /* configuration min: no ALT format at all */
        struct facet_prec prec;
        facet_prec_reset(&prec, FACET_ALT_NONE);
        (void)facet_prec_write(&prec, FACET_PREC_ALT, FACET_CSRRW, UINT64_C(0x8000000049C00000));
        CHECK_ID("CAP-492", prec.stat == 0x04008000);
    }
    /* PACK: the largest of MODE.PACK, ALT.PACK and the format's minimum */
    CHECK_ID("CAP-250", bits(stat_after(MODE(0, 1), UINT64_C(0x48000008)), 17, 16) == 1);
    harness_row("CAP-266");
    CHECK_EQ(bits(stat_after(MODE(0, 1) | 2 << 17, UINT64_C(0x48000000)), 17, 16), 2);
    CHECK_EQ(bits(stat_after(MODE(0, 1) | 1 << 17, UINT64_C(0x54000000)), 17, 16), 2);
    harness_row("CAP-253");
    /* BF16_LITE has fewer bits and a smaller range than BF16 */
    CHECK_EQ(written(MODE(0, 1), UINT64_C(0x44000000), 0x3F840000, &flags), 0x3F80);
    CHECK_EQ(written(MODE(0, 1), UINT64_C(0x44000000), 0x5F800000, &flags), 0x7F80);
    CHECK_EQ(flags & FACET_OF, FACET_OF);
}

TEST(ftz_under_alt, "CAP-265 CAP-289")
{
    struct facet_eff eff =
        facet_eff_compose(MODE(0, 1) | UINT64_C(1) << 33, UINT64_C(0x48000000), FACET_ALT_ALL);
    struct facet_conv conv = facet_eff_conv(&eff, NULL, 0);
    unsigned flags = 0;

    CHECK_EQ(facet_widen(&conv, 0x01, &flags), 0);
    CHECK_EQ(flags, FACET_FTZ);
}

TEST(glossary_positions_have_no_meaning, "CAP-502 CAP-240 CAP-242")
{
    struct facet_prec prec = applied(0x80F00, 0);

    CHECK_EQ(bits(prec.stat, 11, 8), 0);
    CHECK_EQ(bits(prec.image[0], 13, 6), 0x3C);
    CHECK_EQ(bits(applied(MODE(0, 1) | 3, 0).image[0], 1, 0), 0);
    /* bit 31 is no APPLY: staged only */
    prec = applied(MODE(0, 1), 0);
    (void)facet_prec_write(&prec, FACET_PREC_ALT, FACET_CSRRW, UINT64_C(0xC9400100));
    CHECK_EQ(prec.image[1], 0);
    CHECK_EQ(prec.stat, 0x04000000);
}

TEST(sae_and_stickies, "")
{
    struct facet_prec prec = applied(MODE(0, 1), 0);

    facet_prec_raise(&prec, FACET_SAT | FACET_FTZ | FACET_UNSUP | FACET_FLAGS_IEEE | FACET_QNAN);
    CHECK_EQ(bits(prec.stat, 15, 12), 0xB);
    CHECK_EQ(prec.exc_st, 0x3F);
    facet_prec_raise(&prec, 0);
    CHECK_ID("CAP-296", bits(prec.stat, 15, 15) == 1);
    CHECK_ID("CAP-297", bits(prec.stat, 13, 13) == 1);
    CHECK_ID("CAP-298", bits(prec.stat, 12, 12) == 1);
    (void)facet_prec_write(&prec, FACET_PREC_ALT, FACET_CSRRW, APPLY);
    CHECK_ID("CAP-296", bits(prec.stat, 15, 15) == 0);
    CHECK_ID("CAP-297", bits(prec.stat, 13, 13) == 0);
    CHECK_ID("CAP-298", bits(prec.stat, 12, 12) == 0);
    CHECK_ID("CAP-307", prec.exc_st == 0x3F);
    (void)facet_prec_write(&prec, FACET_PREC_MODE, FACET_CSRRW, MODE(0, 1) | APPLY);
    CHECK_ID("CAP-307", prec.exc_st == 0x3F);
    CHECK_ID("CAP-268 CAP-290", bits(stat_after(MODE(0, 1) | 1 << 3, 0), 11, 11) == 1);
    CHECK_ID("CAP-268 CAP-290", bits(stat_after(MODE(0, 1), 0), 11, 11) == 0);
    harness_row("CAP-269 CAP-291");
    CHECK_EQ(bits(stat_after(MODE(0, 1), 0), 10, 10), 0);
    CHECK_EQ(bits(stat_after(MODE(0, 1) | UINT64_C(1) << 29, 0), 10, 10), 1);
    CHECK_EQ(bits(stat_after(MODE(0, 1) | 1 << 2, 0), 10, 10), 1);
    harness_row("");
    CHECK_EQ(facet_prec_hits(0x14, false, FACET_OF | FACET_NX | FACET_QNAN), FACET_OF);
    CHECK_EQ(facet_prec_hits(0x1F, true, FACET_FLAGS_IEEE), 0);
    /* the override replaces rounding, SAE and ZMODE, codes 5..7 keep the mode */
    {
        struct facet_eff eff = facet_eff_compose(MODE(0, 1) | 3 << 27, 0, FACET_ALT_ALL);
        facet_eff_override(&eff, FACET_RMM, true, true);
        CHECK(eff.rm == FACET_RMM && eff.sae && eff.zmode);
        facet_eff_override(&eff, 6, false, false);
        CHECK(eff.rm == FACET_RMM && !eff.sae && !eff.zmode);
    }
}

/* numeric.md 5. */
TEST(containers_and_arrays, "")
{
    for (unsigned pack = 0; pack < 3; pack++) { /* INT8, EW 32 */
        struct facet_eff eff =
            facet_eff_compose(MODE(3, 2) | (uint64_t)pack << 17, 0, FACET_ALT_ALL);
        struct facet_container c = facet_container_of(&eff);

        static const char *const ids[] = {"CAP-227", "CAP-228", "CAP-229"};

        harness_row(ids[pack]);
        for (unsigned i = 0; i < 12; i++) {
            unsigned slot = i % (1u << pack);
            CHECK_EQ(facet_container_offset(&c, i), (i >> pack) * 4);
            CHECK_EQ(facet_container_slot(&c, i), slot);
            CHECK_EQ(facet_container_get(&c, 0xD4C3B2A1, slot), 0xD4C3B2A1 >> 8 * slot & 0xFF);
        }
        CHECK_EQ(facet_container_array_bytes(&c, 5), (5 + (1u << pack) - 1) / (1u << pack) * 4);
    }
    {
        harness_row("");
        /* signed and alone: sign-extended; packed or unsigned: zeros above */
        struct facet_container alone = {.nat = 8, .bytes = 4, .pack = 0, .sign_extend = true};
        struct facet_container pair = {.nat = 8, .bytes = 4, .pack = 1, .sign_extend = false};
        struct facet_container nibbles = {.nat = 4, .bytes = 1, .pack = 1, .sign_extend = false};
        struct facet_container fp64 = {.nat = 32, .bytes = 8, .pack = 1, .sign_extend = false};

        CHECK_EQ(facet_container_put(&alone, 0x12345678, 0, 0x80), 0xFFFFFF80);
        CHECK_EQ(facet_container_to_x(&alone, 0xFFFFFF80), UINT64_C(0xFFFFFFFFFFFFFF80));
        CHECK_EQ(facet_container_put(&pair, 0x12345678, 1, 0x80), 0x8078);
        CHECK_EQ(facet_container_to_f(&pair, 0x8078), UINT64_C(0xFFFFFFFF00008078));
        CHECK_ID("CAP-256", facet_container_put(&nibbles, 0xAB, 0, 0x7) == 0xA7);
        CHECK_ID("CAP-256", facet_container_get(&nibbles, 0xAB, 1) == 0xA);
        for (unsigned slot = 0; slot < 4; slot++) { /* INT2: bits 1:0, 3:2, 5:4, 7:6 */
            struct facet_container crumbs = {.nat = 2, .bytes = 1, .pack = 2};

            CHECK_ID("CAP-257", facet_container_get(&crumbs, 0xE4, slot) == slot);
        }
        CHECK_EQ(facet_container_put(&fp64, UINT64_C(0x1111111122222222), 1, 0xFFFFFFFF),
                 UINT64_C(0xFFFFFFFF22222222));
        CHECK_EQ(facet_container_from_reg(&pair, UINT64_C(0x1234567800008078)), 0x8078);
        CHECK_EQ(facet_container_single_x(&alone, 0xFF), UINT64_MAX);
        CHECK_EQ(facet_container_single_x(&pair, 0xFF), 0xFF);
    }
    {
        struct facet_eff eff = facet_eff_compose(MODE(3, 2) | 1 << 5, 0, FACET_ALT_ALL);
        CHECK(facet_container_of(&eff).sign_extend);
        eff = facet_eff_compose(MODE(3, 2) | 1 << 5 | 1 << 4, 0, FACET_ALT_ALL);
        CHECK(!facet_container_of(&eff).sign_extend);
        eff = facet_eff_compose(MODE(0, 2), 0, FACET_ALT_ALL);
        CHECK(!facet_container_of(&eff).sign_extend);
    }
    CHECK_EQ(facet_acc_to_x(FACET_FMT_INT16, (uint32_t)-2), UINT64_C(0xFFFFFFFFFFFFFFFE));
    CHECK_EQ(facet_acc_to_x(FACET_FMT_FP32, 0x80000000), 0x80000000);
    CHECK_EQ(facet_acc_from_x(FACET_FMT_INT16, 0x12348000), 0xFFFF8000);
    CHECK_EQ(facet_acc_from_x(FACET_FMT_FP16, 0x12348000), 0x8000);
}

/* gfx-semantics.md 5.2: ppp replaces the format, the container follows, UNSUP stays as it was. */
TEST(format_replacement, "")
{
    struct facet_eff eff =
        facet_eff_compose(MODE(0, 1) | 2 << 17, UINT64_C(0x44000000), FACET_ALT_ALL);

    CHECK_EQ(eff.elem, FACET_FMT_BF16_LITE);
    facet_eff_replace_pet(&eff, 2, 1);
    CHECK(eff.elem == FACET_FMT_BF16 && eff.ew == 3 && eff.pack == 2 && !eff.unsup);
    facet_eff_replace_pet(&eff, 1, 2);
    CHECK(eff.elem == FACET_FMT_FP32 && eff.ew == 3 && eff.pack == 1 && !eff.unsup);
    CHECK(eff.alt_en);
}

/* Every FP8 number is a BF16_LITE and an FP16 number (R-CAP-09). */
TEST(fp8_is_contained, "")
{
    static const uint8_t sources[] = {FACET_FMT_E4M3, FACET_FMT_E5M2};

    for (unsigned s = 0; s < 2; s++) {
        for (unsigned code = 0; code < 256; code++) {
            struct facet_conv from = {.elem = sources[s], .acc = FACET_FMT_FP32};
            struct facet_conv lite = {.elem = FACET_FMT_BF16_LITE, .acc = FACET_FMT_FP32};
            struct facet_conv half = {.elem = FACET_FMT_FP16, .acc = FACET_FMT_FP32};
            unsigned flags = 0;
            uint32_t acc = facet_widen(&from, code, &flags);
            uint32_t lite_bits = facet_narrow(&lite, acc, &flags);
            uint32_t half_bits = facet_narrow(&half, acc, &flags);

            CHECK_EQ(flags & (FACET_NX | FACET_UF | FACET_OF | FACET_FTZ), 0);
            CHECK_EQ(facet_widen(&lite, lite_bits, &flags), acc);
            CHECK_EQ(facet_widen(&half, half_bits, &flags), acc);
        }
    }
}
