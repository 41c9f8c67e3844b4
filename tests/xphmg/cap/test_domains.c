/* One numeric policy for every unit: the same number takes the same way through matrices (MTX),
 * gather and scatter (XMEM.SVM) and FP instructions under register vectors (RSV); the golden
 * vectors of numeric.md 15 run on the machine; jobs keep the state of their submission. */
#include "xphmg/guest.h"

#include "num/spec_table.h"
#include "xphmg/units/vendor.h"

#include <stdlib.h>

enum {
    MODE = 0x7D0,
    ALT = 0x7D1,
    STAT = 0x7D2,
    EXC_EN = 0x7D3,
    EXC_ST = 0x7D4,
    MATRIX = GUEST_DATA + 0x1000,
    INPUT = GUEST_DATA + 0x2000,
    OUTPUT = GUEST_DATA + 0x3000,
    DESC = GUEST_DATA + 0x4000,
};

#define APPLY (UINT64_C(1) << 63)
#define RTZ (UINT64_C(1) << 27)
#define RUP (UINT64_C(3) << 27)
#define SAT (UINT64_C(1) << 30)
#define Q (UINT64_C(1) << 5)

/* Formats with one element per container. */
static const struct format {
    const char *name;
    uint64_t mode, alt; /* PET and EW, or ALT_EN, ALT_FMT and MIXED */
    unsigned bits;
    uint32_t one, minus_zero;
} formats[] = {
    {"FP16", 0 << 21 | 1 << 19, 0, 16, 0x3C00, 0x8000},
    {"FP32", 1 << 21 | 2 << 19, 0, 32, 0x3F800000, 0x80000000},
    {"BF16", 2 << 21 | 1 << 19, 0, 16, 0x3F80, 0x8000},
    {"INT8", 3 << 21 | 0 << 19, 0, 8, 1, 0},
    {"INT16", 4 << 21 | 1 << 19, 0, 16, 1, 0},
    {"INT32", 5 << 21 | 2 << 19, 0, 32, 1, 0},
    {"FP8_E4M3", 1 << 19, 1 << 30 | 2 << 26 | 1 << 23, 8, 0x38, 0x80},
    {"FP8_E5M2", 1 << 19, 1 << 30 | 3 << 26 | 1 << 23, 8, 0x3C, 0x80},
    {"BF16_LITE", 1 << 19, 1 << 30 | 1 << 26 | 1 << 23, 16, 0x3F80, 0x8000},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static const struct format *format_named(const char *name)
{
    for (unsigned i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i].name, name) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}

/* Applies a format with more bits of MODE and ALT; STAT and EXC.ST are clean afterwards. */
static void apply(struct guest *g, const struct format *f, uint64_t mode, uint64_t alt)
{
    guest_csrw(g, ALT, APPLY | f->alt | (f->alt != 0 ? alt : 0));
    guest_csrw(g, MODE, APPLY | f->mode | mode);
    guest_csrw(g, EXC_ST, 0x7F);
}

/* Everything raised since apply(), in the bits of flags_named. */
static unsigned raised(struct guest *g)
{
    return (unsigned)((guest_csrr(g, STAT) & 0xF000) | guest_csrr(g, EXC_ST));
}

/* widen: an element in memory to the accumulator image in a register. */
static uint64_t expand(struct guest *g, const struct format *f, uint32_t bits)
{
    guest_store(g, INPUT, f->bits / 8, bits);
    guest_csrw(g, 0x7F0, INPUT);
    guest_csrw(g, 0x7F1, 10);
    guest_csrw(g, 0x7F2, 0);
    guest_csrw(g, 0x7F4, 8); /* EXPAND_EN */
    g->hart->x[10] = 0;
    guest_ok(g, "xmem.svm x12, x0\n");
    return g->hart->x[12];
}

/* narrow: an accumulator image to an element in memory. */
static struct facet_trap run_compress(struct guest *g, uint64_t image)
{
    guest_csrw(g, 0x7F0, OUTPUT);
    guest_csrw(g, 0x7F1, 10);
    guest_csrw(g, 0x7F2, 1 << 4); /* scatter */
    guest_csrw(g, 0x7F4, 4);      /* COMPRESS_EN */
    g->hart->x[10] = 0;
    g->hart->x[12] = image;
    return guest_run(g, "xmem.svm x0, x12\n");
}

static uint32_t compress(struct guest *g, const struct format *f, uint64_t image)
{
    guest_store(g, OUTPUT, 8, UINT64_C(0x5555555555555555));
    CHECK(!run_compress(g, image).taken);
    return (uint32_t)guest_load(g, OUTPUT, f->bits / 8);
}

/* u = M v with M = (b -0; b -0), v = (a 0): both rows are a * b. */
static void put_product(struct guest *g, const struct format *f, uint32_t a, uint32_t b)
{
    unsigned size = f->bits / 8;

    for (unsigned i = 0; i < 4; i++) {
        guest_store(g, MATRIX + i * size, size, i % 2 == 0 ? b : f->minus_zero);
    }
    guest_store(g, INPUT, size, a);
    guest_store(g, INPUT + size, size, 0);
    guest_store(g, OUTPUT, 8, UINT64_C(0x5555555555555555));
    g->hart->x[10] = MATRIX;
    g->hart->x[11] = INPUT;
    g->hart->x[12] = OUTPUT;
}

static struct facet_trap run_product(struct guest *g, const char *flags)
{
    return guest_run(g, "MTX.LD x10, shape=5, rowmajor=1\n MTX.MUL x12, x11, shape=5%s\n", flags);
}

static uint32_t product(struct guest *g, const struct format *f, uint32_t a, uint32_t b)
{
    put_product(g, f, a, b);
    CHECK(!run_product(g, "").taken);
    CHECK_EQ(guest_load(g, OUTPUT, f->bits / 8), guest_load(g, OUTPUT + f->bits / 8, f->bits / 8));
    return (uint32_t)guest_load(g, OUTPUT, f->bits / 8);
}

/* FP32 to FP16 by an FP instruction under register vectors. */
static uint32_t convert(struct guest *g, uint32_t bits)
{
    g->hart->f[1] = UINT64_C(0xFFFFFFFF00000000) | bits;
    guest_ok(g, "svon.one\n fcvt.h.s f2, f1\n");
    return (uint32_t)(g->hart->f[2] & 0xFFFF);
}

/* ---- golden vectors on the machine ----------------------------------------------------------- */

struct golden {
    struct guest *g;
    bool widen;
    unsigned checked;
};

static void golden_row(const char *const cell[], unsigned count, void *context)
{
    static const char *const modes[] = {"RNE", "RTZ", "RDN", "RUP", "RMM"};
    static const char *const accumulators[] = {"FP32", "FP16", "INT32", "INT16"};
    struct golden *golden = context;
    const struct format *f = count < 7 ? NULL : format_named(cell[golden->widen ? 0 : 3]);
    const char *accumulator = cell[golden->widen ? 3 : 0], *state = cell[4];
    uint64_t mode = 0, alt = 0, got, want, zp, scale;
    bool integer = strncmp(accumulator, "INT", 3) == 0;

    if (f == NULL) { /* INT4 and INT2 are always packed: XMEM.SVM does not convert them */
        return;
    }
    for (uint64_t rm = 0; rm < 5; rm++) {
        mode |= spec_has_word(state, modes[rm]) ? (rm & 3) << 27 | (rm >> 2) << 32 : 0;
    }
    for (uint64_t a = 0; a < 4; a++) {
        mode |= strcmp(accumulators[a], accumulator) == 0 ? a << 24 : 0;
    }
    mode |= spec_has_word(state, "FTZ") ? UINT64_C(1) << 33 : 0;
    mode |= spec_has_word(state, "SAT") ? SAT : 0;
    mode |= spec_has_word(state, "SAT_MODE") ? 1 << 16 : 0;
    mode |= (uint64_t)spec_value(state, "NAN_POL", 0) << 34;
    if (spec_has_word(state, "Q")) {
        zp = (uint64_t)spec_value(state, "zp", 0) & 0xFF;
        scale = (uint64_t)spec_value(state, "s", 0) & 0xFF;
        mode |= Q | 1 << 14 | (spec_has_word(state, "UNS") ? 1 << 4 : 0) | zp << 6 | scale << 40;
        alt |= zp << 14 | scale << 40;
    }
    apply(golden->g, f, mode, alt);
    if (golden->widen) {
        got = expand(golden->g, f, (uint32_t)strtoul(cell[1], NULL, 16));
        want = integer ? (uint64_t)strtoll(cell[5], NULL, 10) : strtoull(cell[5], NULL, 16);
    } else {
        got =
            compress(golden->g,
                     f,
                     integer ? (uint64_t)strtoll(cell[1], NULL, 10) : strtoull(cell[1], NULL, 16));
        want = strtoull(cell[5], NULL, 16);
    }
    CHECK_MSG(got == want && raised(golden->g) == spec_flags_named(cell[6]),
              "%s %s %s %s: %llx flags %x, expected %s %s",
              cell[0],
              cell[1],
              cell[3],
              state,
              (unsigned long long)got,
              raised(golden->g),
              cell[5],
              cell[6]);
    golden->checked++;
}

TEST(golden_vectors_hold_on_the_machine_under_every_profile, "")
{
    for (unsigned profile = 0; profile < 3; profile++) {
        struct golden golden = {.g = guest_make("prof")};

        CHECK_EQ(facet_cap_set_profile(&golden.g->hart->units, profile, NULL), FACET_OK);
        harness_row(profile == 0 ? "CAP-041 CAP-042 CAP-439" : "CAP-169 CAP-476");
        (void)spec_table("### 15.1 Narrow", golden_row, &golden);
        CHECK(golden.checked > 70);
        golden.checked = 0;
        golden.widen = true;
        harness_row(profile == 0 ? "CAP-440 CAP-444 CAP-447" : "CAP-169 CAP-476");
        (void)spec_table("### 15.2 Widen", golden_row, &golden);
        CHECK(golden.checked >= 26);
        guest_free(golden.g);
    }
}

/* ---- the same number through every unit ------------------------------------------------------ */

TEST(one_rounding_policy_for_every_unit, "CAP-001 CAP-036 CAP-241 CAP-458 CAP-010")
{
    struct guest *g = guest_make("full");
    /* (1 + 2^-10)^2 = 1 + 2^-9 + 2^-20: exact in the FP32 accumulator, not in FP16. */
    const uint32_t exact = 0x3F804008;
    static const struct {
        uint64_t mode;
        uint32_t bits;
    } rows[] = {{0, 0x3C02}, {RTZ, 0x3C02}, {RUP, 0x3C03}, {UINT64_C(2) << 27, 0x3C02}};

    for (unsigned i = 0; i < 4; i++) {
        apply(g, &formats[0], rows[i].mode, 0);
        CHECK_EQ(product(g, &formats[0], 0x3C01, 0x3C01), rows[i].bits);
        CHECK_EQ(compress(g, &formats[0], exact), rows[i].bits);
        CHECK_EQ(convert(g, exact), rows[i].bits);
    }
    /* One APPLY changes the element format of them all. */
    apply(g, &formats[2], RTZ, 0); /* BF16: 1 + 2^-7 squared = 1 + 2^-6 + 2^-14 */
    CHECK_EQ(product(g, &formats[2], 0x3F81, 0x3F81), 0x3F82);
    CHECK_EQ(compress(g, &formats[2], 0x3F810200 + 0x10000), 0x3F82);
    CHECK_EQ(expand(g, &formats[2], 0x3F82), 0x3F820000);
    apply(g, &formats[0], RTZ, 0);
    CHECK_EQ(expand(g, &formats[0], 0x3C02), 0x3F804000);
    guest_free(g);
}

TEST(matrices_convert_exactly_as_gather_and_scatter_do, "CAP-001 CAP-036 CAP-041 CAP-444 CAP-447")
{
    struct guest *g = guest_make("full");
    unsigned compared = 0;

    for (unsigned round = 0; round < 3000 && !harness_failed(); round++) {
        const struct format *f = &formats[harness_random() % FORMATS];
        uint64_t r = harness_random();
        uint64_t rm = r % 5, accw = (r >> 8) % 4;
        uint64_t mode = (rm & 3) << 27 | (rm >> 2) << 32 | accw << 24 | (r >> 16 & 1) << 30 |
                        (r >> 17 & 1) << 16 | (r >> 18 & 1) << 33 | (r >> 20) % 3 << 34;
        uint32_t a = (uint32_t)(harness_random() >> (harness_random() % 33));
        uint32_t by_scatter, by_matrix;
        unsigned scatter_flags;
        uint64_t acc;

        a &= f->bits == 32 ? UINT32_MAX : (1u << f->bits) - 1;
        apply(g, f, mode, 0);
        acc = expand(g, f, a);
        if ((acc & (accw == 1 ? 0x7FFF : 0x7FFFFFFF)) == 0) {
            continue; /* the sign of a zero sum follows the rounding mode */
        }
        by_scatter = compress(g, f, acc);
        scatter_flags = raised(g);
        apply(g, f, mode, 0);
        by_matrix = product(g, f, a, f->one);
        CHECK_MSG(by_matrix == by_scatter && raised(g) == scatter_flags,
                  "%s %x mode %llx: matrix %x flags %x, scatter %x flags %x",
                  f->name,
                  a,
                  (unsigned long long)mode,
                  by_matrix,
                  raised(g),
                  by_scatter,
                  scatter_flags);
        compared++;
    }
    CHECK(compared > 2000);
    guest_free(g);
}

TEST(local_controls_of_a_unit_change_no_number, "CAP-005 CAP-007 CAP-017")
{
    static const char *const flags[] = {
        "", ", sat_hint=1", ", stride=1", ", stride=3", ", sat_hint=1, stride=2"};
    struct guest *g = guest_make("full");

    for (unsigned cfg = 0; cfg < 8; cfg += 2) { /* BIAS_EN and SAT_EN */
        for (unsigned sat = 0; sat < 2; sat++) {
            for (unsigned i = 0; i < sizeof flags / sizeof flags[0]; i++) {
                guest_csrw(g, 0x830, cfg);
                apply(g, &formats[0], sat != 0 ? SAT : 0, 0);
                put_product(g, &formats[0], 0x7BFF, 0x4400); /* 65504 * 4 */
                CHECK(!run_product(g, flags[i]).taken);
                CHECK_EQ(guest_load(g, OUTPUT, 2), sat != 0 ? 0x7BFF : 0x7C00);
                CHECK_EQ(guest_csrr(g, STAT) >> 13 & 1, sat);
            }
        }
    }
    guest_free(g);
}

TEST(quantization_and_nan_policy_are_the_same_everywhere, "CAP-035 CAP-500 CAP-042")
{
    struct guest *g = guest_make("full");
    const uint64_t q = Q | 1 << 14 | 5 << 6 | UINT64_C(0xFE) << 40; /* zp = 5, s = -2 */
    static const uint32_t nans[] = {0x7E00, 0x0000, 0x7C00};
    static const uint64_t boxed[] = {
        UINT64_C(0xFFFFFFFF7FC00000), UINT64_C(0xFFFFFFFF00000000), UINT64_C(0xFFFFFFFF7F800000)};

    /* 3.0 is stored as 3 * 4 + 5 = 17, 1.0 as 9, 0 as 5. */
    apply(g, &formats[3], q, 0);
    for (unsigned i = 0; i < 4; i++) {
        guest_store(g, MATRIX + i, 1, i % 2 == 0 ? 9 : 5);
    }
    guest_store(g, INPUT, 2, 5 << 8 | 17);
    g->hart->x[10] = MATRIX;
    g->hart->x[11] = INPUT;
    g->hart->x[12] = OUTPUT;
    CHECK(!run_product(g, "").taken);
    CHECK_EQ(guest_load(g, OUTPUT, 2), 17 << 8 | 17);
    CHECK_EQ(compress(g, &formats[3], 0x40400000), 17);
    CHECK_EQ(expand(g, &formats[3], 17), 0x40400000);
    /* 300 saturates to 127 (INT32 accumulator and FP32 accumulator). */
    apply(g, &formats[3], SAT | UINT64_C(2) << 24, 0);
    CHECK_EQ(compress(g, &formats[3], 300), 127);
    CHECK_EQ(guest_csrr(g, STAT) >> 13 & 1, 1);
    apply(g, &formats[3], SAT, 0);
    CHECK_EQ(compress(g, &formats[3], 0x43960000), 127);
    for (uint64_t policy = 0; policy < 3; policy++) {
        apply(g, &formats[0], policy << 34, 0);
        CHECK_EQ(compress(g, &formats[0], 0x7FC00000), nans[policy]);
        CHECK_EQ(product(g, &formats[0], 0x7E01, 0x3C00), nans[policy]);
        CHECK_EQ(convert(g, 0x7FC00000), nans[policy]);
        g->hart->f[1] = UINT64_C(0xFFFFFFFF7FC00000);
        guest_ok(g, "svon.one\n fadd.s f2, f1, f1\n");
        CHECK_EQ(g->hart->f[2], boxed[policy]);
    }
    guest_free(g);
}

TEST(exceptions_are_the_same_everywhere, "CAP-033 CAP-450 CAP-451 CAP-495")
{
    struct guest *g = guest_make("full");

    for (unsigned enabled = 0; enabled < 8; enabled++) {
        for (unsigned sae = 0; sae < 2; sae++) {
            unsigned hits = sae != 0 ? 0 : enabled & 5; /* OF and NX happen */

            for (unsigned unit = 0; unit < 3; unit++) {
                struct facet_trap trap;

                guest_reset(g);
                apply(g, &formats[0], (uint64_t)sae << 29, 0);
                guest_csrw(g, EXC_EN, enabled);
                if (unit == 0) {
                    put_product(g, &formats[0], 0x7BFF, 0x4400);
                    trap = run_product(g, "");
                    CHECK_EQ(guest_load(g, OUTPUT, 2), hits != 0 ? 0x5555 : 0x7C00);
                } else if (unit == 1) {
                    guest_store(g, OUTPUT, 2, 0x5555);
                    trap = run_compress(g, 0x49742400);
                    CHECK_EQ(guest_load(g, OUTPUT, 2), hits != 0 ? 0x5555 : 0x7C00);
                } else {
                    g->hart->f[1] = UINT64_C(0xFFFFFFFF49742400);
                    g->hart->f[2] = 0;
                    trap = guest_run(g, "svon.one\n fcvt.h.s f2, f1\n");
                    CHECK_EQ(g->hart->f[2], hits != 0 ? 0 : UINT64_C(0xFFFFFFFFFFFF7C00));
                }
                CHECK_EQ(trap.taken, hits != 0);
                if (trap.taken) {
                    CHECK_EQ(trap.cause, 24);
                    CHECK_EQ(trap.tval, hits);
                }
                CHECK_EQ(guest_csrr(g, EXC_ST), 5);
                CHECK_EQ(guest_csrr(g, STAT) >> 14 & 1, 1);
            }
        }
    }
    guest_reset(g); /* stickies of several units add up */
    apply(g, &formats[0], 0, 0);
    (void)product(g, &formats[0], 0x3C01, 0x3C01);
    CHECK_EQ(guest_csrr(g, EXC_ST), 1);
    g->hart->f[1] = UINT64_C(0xFFFFFFFF3F800000);
    g->hart->f[2] = UINT64_C(0xFFFFFFFF00000000);
    guest_ok(g, "svon.one\n fdiv.s f3, f1, f2\n");
    CHECK_EQ(guest_csrr(g, EXC_ST), 9);
    (void)compress(g, &formats[0], 0x49742400);
    CHECK_EQ(guest_csrr(g, EXC_ST), 13);
    guest_free(g);
}

/* ---- predicates ------------------------------------------------------------------------------ */

/* Two lanes, bank 1 = 0b01: lane 1 reads nothing, touches no memory and follows ZMODE. */
TEST(every_unit_takes_predicates_from_pmask, "")
{
    struct guest *g = guest_make("full");

    for (unsigned zmode = 0; zmode < 2; zmode++) {
        uint64_t kept = zmode != 0 ? 0 : 77;

        guest_reset(g);
        guest_csrw(g, MODE, APPLY | formats[1].mode | zmode << 3); /* FP32 */
        guest_ok(g, "svsetvl x0, 2\n li t0, 1\n pmlow.wr 1, t0\n li t0, 2\n pmlow.wr 2, t0\n");
        guest_store(g, INPUT, 8, UINT64_C(0x4000000040400000)); /* 3.0, 2.0 */
        for (unsigned bank = 0; bank < 3; bank++) {
            unsigned active = bank == 0 ? 3 : bank;

            /* RSV: bank of SVSTATE. */
            harness_row(bank == 0 ? "CAP-072 CAP-074" : "CAP-072 CAP-448 CAP-501");
            guest_csrw(g, 0x7F8, 1 | bank << 10);
            g->hart->x[10] = 5;
            g->hart->x[11] = 6;
            g->hart->x[20] = g->hart->x[21] = 77;
            guest_ok(g, "svon.one\n addi x20, x10, 1\n");
            CHECK_EQ(g->hart->x[20], (active & 1) != 0 ? 6 : kept);
            CHECK_EQ(g->hart->x[21], (active & 2) != 0 ? 7 : kept);
            /* XMEM.LDG: bank of the instruction; masked lanes point nowhere. */
            harness_row("CAP-072 CAP-073 CAP-080 CAP-448 CAP-449 CAP-501");
            g->hart->x[10] = (active & 1) != 0 ? INPUT : 8;
            g->hart->x[11] = (active & 2) != 0 ? INPUT + 4 : 8;
            g->hart->x[20] = g->hart->x[21] = 77;
            guest_csrw(g, 0x7F8, 1);
            guest_ok(g, "svon.one\n xmem.ldg.w x20, (x10), pbank=%u\n", bank);
            CHECK_EQ(g->hart->x[20], (active & 1) != 0 ? 0x40400000 : kept);
            CHECK_EQ(g->hart->x[21], (active & 2) != 0 ? 0x40000000 : kept);
            /* XMEM.SVM: the same through indices. */
            harness_row("CAP-067 CAP-072 CAP-448 CAP-449 CAP-501");
            guest_csrw(g, 0x7F0, INPUT);
            guest_csrw(g, 0x7F1, 10);
            guest_csrw(g, 0x7F2, 2); /* times 4 */
            guest_csrw(g, 0x7F4, 0);
            g->hart->x[10] = (active & 1) != 0 ? 0 : UINT64_C(1) << 40;
            g->hart->x[11] = (active & 2) != 0 ? 1 : UINT64_C(1) << 40;
            g->hart->x[20] = g->hart->x[21] = 77;
            guest_ok(g, "svon.one\n xmem.svm x20, x0, pbank=%u\n", bank);
            CHECK_EQ(g->hart->x[20], (active & 1) != 0 ? 0x40400000 : kept);
            CHECK_EQ(g->hart->x[21], (active & 2) != 0 ? 0x40000000 : kept);
            /* MTX: the sum of a 4x4 tile per lane. */
            harness_row("CAP-072 CAP-448 CAP-449 CAP-501");
            for (unsigned i = 0; i < 16; i++) {
                guest_store(g, MATRIX + 4 * i, 4, 0x3F800000);
            }
            guest_csrw(g, 0x7F8, 1 | bank << 10);
            g->hart->x[10] = (active & 1) != 0 ? MATRIX : 8;
            g->hart->x[11] = (active & 2) != 0 ? MATRIX : 8;
            g->hart->x[20] = g->hart->x[21] = 77;
            guest_ok(g, "svon.one\n MTX.RED x20, x10, op=0, dim=0\n");
            CHECK_EQ(g->hart->x[20], (active & 1) != 0 ? 0x41800000 : kept);
            CHECK_EQ(g->hart->x[21], (active & 2) != 0 ? 0x41800000 : kept);
            CHECK_EQ(guest_csrr(g, 0x7EE), 0);
        }
        harness_row("CAP-082"); /* who has no lanes does not know ZMODE */
        g->hart->x[10] = 5;
        g->hart->x[11] = 6;
        guest_ok(g,
                 "pmmov.to_p0 x0\n psel x20, x10, x11\n pmmov.p0 x21\n pmmov.to_p0 x10\n"
                 "psel x22, x10, x11\n pmmov.p0 x23\n csrr x24, 0x7C0\n");
        CHECK_EQ(g->hart->x[20], 6);
        CHECK_EQ(g->hart->x[21], 0);
        CHECK_EQ(g->hart->x[22], 5);
        CHECK_EQ(g->hart->x[23], 1);
        CHECK_EQ(g->hart->x[24], 0x50484D47);
    }
    guest_free(g);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* One product as a job: vector a, matrix as put_product makes it. */
static void put_job(struct guest *g, const struct format *f, uint32_t a, uint32_t b)
{
    put_product(g, f, a, b);
    guest_store(g, DESC, 8, MATRIX);
    guest_store(g, DESC + 8, 8, INPUT);
    guest_store(g, DESC + 16, 8, OUTPUT);
    guest_store(g, DESC + 24, 4, 5 | 1 << 5); /* MTX.LD shape=5, rowmajor=1 */
    guest_store(g, DESC + 28, 4, 5);          /* MTX.MUL shape=5 */
    guest_store(g, DESC + 32, 4, 1);
    guest_store(g, DESC + 36, 4, 0);
    for (unsigned i = 0; i < 3; i++) {
        guest_store(g, DESC + 40 + 8 * i, 8, 0);
    }
    g->hart->x[9] = DESC;
}

TEST(a_job_keeps_the_state_of_its_submission, "")
{
    static const char *const between[] = {
        "",
        "csrw 0x7D0, x5\n",                  /* another format */
        "csrw 0x7D3, x6\n csrw 0x7E6, x7\n", /* traps, another domain */
        "csrw 0x7F0, x5\n csrw 0x7F1, x5\n csrw 0x7F2, x5\n csrw 0x7F4, x5\n csrw 0x7D1, x5\n",
    };
    struct guest *g = guest_make("full");

    for (unsigned i = 0; i < sizeof between / sizeof between[0]; i++) {
        static const char *const ids[] = {"CAP-446 CAP-497",
                                          "CAP-008 CAP-108 CAP-443 CAP-499",
                                          "CAP-019 CAP-443",
                                          "CAP-019 CAP-353"};

        harness_row(ids[i]);
        guest_reset(g);
        apply(g, &formats[0], RUP, 0);
        put_job(g, &formats[0], 0x3C01, 0x3C01);
        g->hart->x[5] = APPLY | formats[2].mode | RTZ;
        g->hart->x[6] = 0x1F;
        g->hart->x[7] = 3;
        guest_ok(g, "xsubmit.mtx x8, x9\n %s xfence.wait x8\n", between[i]);
        CHECK_EQ(g->hart->x[8], UINT64_C(2) << 56 | 1);
        CHECK_EQ(guest_load(g, OUTPUT, 4), 0x3C033C03);
        CHECK_EQ(guest_csrr(g, 0x836) >> 56, 0);
    }
    harness_row("CAP-498"); /* the next job takes what was applied in between */
    guest_reset(g);
    apply(g, &formats[0], RTZ, 0);
    put_job(g, &formats[0], 0x3C01, 0x3C01);
    guest_ok(g, "xsubmit.mtx x8, x9\n xfence.wait x8\n");
    CHECK_EQ(guest_load(g, OUTPUT, 4), 0x3C023C02);
    apply(g, &formats[2], RUP, 0);
    put_job(g, &formats[2], 0x3F81, 0x3F81);
    guest_ok(g, "xsubmit.mtx x8, x9\n xfence.wait x8\n");
    CHECK_EQ(guest_load(g, OUTPUT, 4), 0x3F833F83);
    CHECK_EQ(g->hart->x[8], UINT64_C(2) << 56 | 2);
    CHECK_EQ(guest_indirect_read(g, 0x7EA8), UINT64_C(2) << 56 | 2);
    guest_free(g);
}

struct changed {
    unsigned csrs, others;
};

static void count_change(void *context, const struct facet_units_change *change)
{
    struct changed *changed = context;

    if (change->kind == FACET_CHANGE_CSR && (change->number == STAT || change->number == EXC_ST ||
                                             change->number == 0x836 || change->number == 0x7EA8)) {
        changed->csrs++;
    } else {
        changed->others++;
    }
}

TEST(engines_share_memory_and_registers_only, "CAP-037 CAP-043 CAP-044 CAP-453")
{
    struct guest *g = guest_make("full");
    struct facet_units before;
    struct facet_xmem before_xmem;
    struct changed changed = {0};

    /* A job leaves results in memory, its status and its ticket, and nothing else. */
    apply(g, &formats[0], 0, 0);
    put_job(g, &formats[0], 0x3C01, 0x3C01);
    before = g->hart->units;
    before_xmem = *g->xmem;
    guest_ok(g, "xsubmit.mtx x8, x9\n xfence.wait x8\n");
    facet_units_changes(&before, &before_xmem, &g->hart->units, g->xmem, count_change, &changed);
    CHECK_EQ(changed.others, 0);
    CHECK(changed.csrs >= 2);
    /* Stores, copies and products cannot reach CAP: only csr* instructions write it. */
    for (unsigned number = 0x7C0; number < 0x800; number++) {
        (void)guest_traps(g, FACET_CAUSE_STORE_FAULT, "li t0, 0x%x\n sd t0, 0(t0)\n", number * 8);
    }
    /* Producer and consumer through LDS and through memory. */
    for (unsigned lds = 0; lds < 2; lds++) {
        uint64_t out = lds != 0 ? UINT64_C(0x40001000) : OUTPUT;

        put_product(g, &formats[0], 0x4200, 0x4000); /* 3 * 2 */
        g->hart->x[12] = out;
        CHECK(!run_product(g, "").taken);
        guest_ok(g, "lhu x13, 0(x12)\n xmem.ldg.hu x14, (x12)\n");
        CHECK_EQ(g->hart->x[13], 0x4600);
        CHECK_EQ(g->hart->x[14], 0x4600);
        guest_csrw(g, 0x7F0, out);
        guest_csrw(g, 0x7F1, 10);
        guest_csrw(g, 0x7F2, 0);
        guest_csrw(g, 0x7F4, 8);
        g->hart->x[10] = 0;
        guest_ok(g, "xmem.svm x15, x0\n flh f1, 0(x12)\n svon.one\n fcvt.s.h f2, f1\n");
        CHECK_EQ(g->hart->x[15], 0x40C00000);
        CHECK_EQ(g->hart->f[2] & 0xFFFFFFFF, 0x40C00000);
        g->hart->x[10] = out; /* and back into a bank */
        guest_ok(g, "MTX.LD x10, shape=5, rowmajor=1\n csrw 0x831, x0\n csrr x16, 0x832\n");
        CHECK_EQ(g->hart->x[16] & 0xFFFF, 0x4600);
    }
    guest_free(g);
}

TEST(reprogramming_between_instructions_leaves_no_trace, "CAP-474 CAP-473 CAP-475 CAP-176 CAP-015")
{
    uint64_t plain[3] = {0};

    for (unsigned churn = 0; churn < 2; churn++) {
        struct guest *g = guest_make("prof");

        apply(g, &formats[0], RUP, 0);
        for (unsigned i = 0; i < 300; i++) {
            uint64_t retired = g->hart->retired;

            if (churn != 0) { /* staged images, other policies for a while, profiles */
                guest_csrw(g, MODE, harness_random() & ~APPLY);
                guest_csrw(g, ALT, harness_random() & ~APPLY);
                for (unsigned number = 0x7E2; number <= 0x7F5; number++) {
                    if (number != 0x7EE) {
                        guest_csrw(g, number, harness_random());
                        guest_csrw(g, number, 0);
                    }
                }
                CHECK_EQ(facet_cap_set_profile(&g->hart->units, i % 3, NULL), FACET_OK);
                CHECK(g->hart->retired > retired);
            }
            put_job(g, &formats[0], 0x3C00 + i, 0x3C00 + 3 * i);
            guest_ok(g, "xsubmit.mtx x8, x9\n xfence.wait x8\n");
            plain[0] = churn == 0 ? plain[0] * 31 + guest_load(g, OUTPUT, 4) : plain[0];
            if (churn != 0) {
                plain[2] = plain[2] * 31 + guest_load(g, OUTPUT, 4);
            }
        }
        if (churn == 0) {
            plain[1] = guest_csrr(g, EXC_ST) << 32 | guest_csrr(g, STAT);
        } else {
            CHECK_EQ(plain[2], plain[0]);
            CHECK_EQ(guest_csrr(g, EXC_ST) << 32 | guest_csrr(g, STAT), plain[1]);
        }
        guest_free(g);
    }
}
