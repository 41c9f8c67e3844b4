/* Floating point under RSV (rt-semantics.md 2.5): rounding, flags, traps, FTZ, NaN policy and
 * saturation come from CAP and svon.fpctl. Expected values are worked out by hand; the random
 * comparison with the scalar instructions is in test_random.c. */
#include "xphmg/guest.h"

#define S(code) (UINT64_C(0xFFFFFFFF00000000) | (code))
#define H(code) (UINT64_C(0xFFFFFFFFFFFF0000) | (code))

static uint64_t state(const struct guest *g)
{
    return guest_csr(g, FACET_CSR_SVSTATE);
}

static uint64_t exc_st(const struct guest *g)
{
    return guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST);
}

static uint64_t stat_bits(const struct guest *g)
{
    return guest_csr(g, FACET_CSR_CAP_PREC_STAT) & FACET_FLAGS_STAT;
}

static void set_mode(struct guest *g, uint64_t fields)
{
    guest_csrw(g,
               FACET_CSR_CAP_PREC_MODE,
               FACET_CAP_PREC_MODE_RESET | fields | FACET_CAP_PREC_MODE_APPLY0);
}

static uint64_t rounding(unsigned code)
{
    return (uint64_t)(code & 3) << FACET_CAP_PREC_MODE_FP_RMODE_LSB |
           (uint64_t)(code >> 2) << FACET_CAP_PREC_MODE_FP_RMODE2_LSB;
}

static void clear_status(struct guest *g)
{
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
}

/* f2.. = 1, -1, 1 and f6.. = 2^-24, -2^-24, 3 * 2^-25: a tie, its mirror, three quarters. */
static void inexact_sums(struct guest *g)
{
    static const uint32_t a[] = {0x3F800000, 0xBF800000, 0x3F800000};
    static const uint32_t b[] = {0x33800000, 0xB3800000, 0x33C00000};

    for (unsigned i = 0; i < 3; i++) {
        g->hart->f[2 + i] = S(a[i]);
        g->hart->f[6 + i] = S(b[i]);
    }
}

/* The three sums in the five rounding modes. */
static const uint32_t sums[5][3] = {
    {0x3F800000, 0xBF800000, 0x3F800001}, /* RNE */
    {0x3F800000, 0xBF800000, 0x3F800000}, /* RTZ */
    {0x3F800000, 0xBF800001, 0x3F800000}, /* RDN */
    {0x3F800001, 0xBF800000, 0x3F800001}, /* RUP */
    {0x3F800001, 0xBF800001, 0x3F800001}, /* RMM */
};

static void check_sums(struct guest *g, unsigned mode, const char *what)
{
    for (unsigned i = 0; i < 3; i++) {
        CHECK_MSG(g->hart->f[10 + i] == S(sums[mode][i]),
                  "%s, mode %u, lane %u: %08x",
                  what,
                  mode,
                  i,
                  (unsigned)g->hart->f[10 + i]);
    }
}

TEST(rounding_is_fpctl_else_static_else_cap, "")
{
    static const char *const ids[] = {
        "RSV-077", "RSV-078", "RSV-079", "RSV-080", "RSV-081", "RSV-082", "RSV-082", "RSV-082"};
    static const char *const names[] = {"rne", "rtz", "rdn", "rup", "rmm"};
    struct guest *g = guest_make("full");

    inexact_sums(g);
    guest_ok(g, "svsetvl x0, 3\n");
    for (unsigned cap = 0; cap < 5; cap++) {
        set_mode(g, rounding(cap));
        g->hart->frm = (uint8_t)(cap + 1) % 5; /* fcsr plays no role */
        guest_ok(g, "svon.one\n fadd.s f10, f2, f6\n");
        harness_row("RSV-090 RSV-106 RSV-127");
        check_sums(g, cap, "CAP");
        for (unsigned fixed = 0; fixed < 5; fixed++) {
            guest_ok(g, "svon.one\n fadd.s f10, f2, f6, %s\n", names[fixed]);
            harness_row("RSV-127");
            check_sums(g, fixed, "static");
            for (unsigned rc = 0; rc < 8; rc++) {
                guest_ok(
                    g, "svon.fpctl rc=%u\n svon.one\n fadd.s f10, f2, f6, %s\n", rc, names[fixed]);
                harness_row(ids[rc]);
                check_sums(g, rc < 5 ? rc : fixed, "fpctl over static");
            }
        }
        for (unsigned rc = 0; rc < 8; rc++) {
            guest_ok(g, "svon.fpctl rc=%u\n svon.one\n fadd.s f10, f2, f6\n", rc);
            harness_row(ids[rc]);
            check_sums(g, rc < 5 ? rc : cap, "fpctl over CAP");
        }
    }
    harness_row("RSV-127");
    g->hart->frm = 7; /* an invalid frm does not matter under RSV, and does in scalar code */
    guest_ok(g, "svon.one\n fadd.s f10, f2, f6\n");
    guest_traps(g, FACET_CAUSE_ILLEGAL, "fadd.s f10, f2, f6\n");
    guest_free(g);
}

TEST(fpctl_acts_on_one_numeric_instruction_and_expires, "RSV-089 RSV-090 RSV-091 RSV-092")
{
    struct guest *g = guest_make("full");

    inexact_sums(g);
    guest_ok(g,
             "svsetvl x0, 3\n svon.fpctl rc=RUP\n svon.blk 2\n"
             "fadd.s f10, f2, f6\n fadd.s f14, f2, f6\n");
    check_sums(g, 3, "first");
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(g->hart->f[14 + i], S(sums[0][i]));
    }
    CHECK_EQ(FACET_GET(state(g), SVSTATE_FPC_V), 0);
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_MODE), FACET_CAP_PREC_MODE_RESET);
    CHECK_EQ(FACET_GET(guest_csr(g, FACET_CSR_CAP_PREC_STAT), CAP_PREC_STAT_EFF_FP_RMODE), 0);
    /* A scalar FP instruction is not numeric: it neither obeys nor spends. */
    guest_ok(g, "svon.fpctl rc=RUP\n fadd.s f10, f2, f6\n");
    CHECK_EQ(g->hart->f[10], S(0x3F800000));
    CHECK_EQ(FACET_GET(state(g), SVSTATE_FPC_V), 1);
    /* A bit-moving one runs the lane loop, so it spends the override. */
    guest_ok(g, "svon.one\n fsgnj.s f10, f2, f6\n");
    CHECK_EQ(FACET_GET(state(g), SVSTATE_FPC_V), 0);
    guest_free(g);
}

TEST(the_format_is_the_encoded_one_and_flags_go_to_cap, "RSV-033 RSV-127")
{
    struct guest *g = guest_make("full"); /* EFF is FP16 after reset */

    g->hart->f[2] = S(0x7F7FFFFF), g->hart->f[6] = S(0x7F7FFFFF); /* OF NX */
    g->hart->f[3] = S(0x7F800001), g->hart->f[7] = S(0x3F800000); /* NV, signaling */
    g->hart->f[4] = S(0x7FC00000), g->hart->f[8] = S(0x3F800000); /* quiet */
    g->hart->f[5] = S(0x3F800000), g->hart->f[9] = S(0x3F800000); /* nothing */
    guest_ok(g, "csrwi fflags, 2\n svsetvl x0, 4\n svon.one\n fadd.s f10, f2, f6\n");
    CHECK_EQ(g->hart->f[10], S(0x7F800000));
    CHECK_EQ(g->hart->f[11], S(0x7FC00000));
    CHECK_EQ(g->hart->f[12], S(0x7FC00000));
    CHECK_EQ(g->hart->f[13], S(0x40000000));
    CHECK_EQ(exc_st(g), FACET_OF | FACET_NX | FACET_NV | FACET_SNAN | FACET_QNAN);
    CHECK_EQ(g->hart->fflags, 2);
    CHECK_EQ(stat_bits(g), 0);
    /* FP64 raises the five IEEE flags and nothing else. */
    clear_status(g);
    g->hart->f[2] = 0x7FF0000000000001, g->hart->f[6] = 0x3FF0000000000000;
    guest_ok(g, "svsetvl x0, 1\n svon.one\n fadd.d f10, f2, f6\n");
    CHECK_EQ(g->hart->f[10], 0x7FF8000000000000);
    CHECK_EQ(exc_st(g), FACET_NV);
    /* A source that is not boxed counts as a quiet NaN. */
    clear_status(g);
    g->hart->f[2] = 0x3F800000;
    guest_ok(g, "svon.one\n fadd.s f10, f2, f7\n");
    CHECK_EQ(exc_st(g), FACET_QNAN);
    guest_free(g);
}

TEST(ftz_nan_policy_and_saturation_come_from_cap, "RSV-054 RSV-127")
{
    struct guest *g = guest_make("full");

    guest_ok(g, "svsetvl x0, 1\n");
    set_mode(g, FACET_CAP_PREC_MODE_DENORM_FTZ);
    g->hart->f[2] = S(0x00000001), g->hart->f[6] = S(0x3F800000);
    guest_ok(g, "svon.one\n fmul.s f10, f2, f6\n"); /* a subnormal source reads as zero */
    CHECK_EQ(g->hart->f[10], S(0));
    CHECK_EQ(stat_bits(g), FACET_FTZ);
    CHECK_EQ(exc_st(g), 0);
    g->hart->f[2] = S(0x80800000), g->hart->f[6] = S(0x3F000000); /* -2^-126 / 2 */
    guest_ok(g, "svon.one\n fmul.s f10, f2, f6\n");
    CHECK_EQ(g->hart->f[10], S(0x80000000));
    CHECK_EQ(exc_st(g), FACET_UF | FACET_NX);

    set_mode(g, 1ull << FACET_CAP_PREC_MODE_NAN_POL_LSB);
    clear_status(g);
    g->hart->f[2] = S(0x7FC00000);
    guest_ok(g, "svon.one\n fadd.s f10, f2, f6\n");
    CHECK_EQ(g->hart->f[10], S(0));
    CHECK_EQ(exc_st(g), FACET_QNAN);
    set_mode(g, 2ull << FACET_CAP_PREC_MODE_NAN_POL_LSB);
    guest_ok(g, "svon.one\n fadd.s f10, f2, f6\n");
    CHECK_EQ(g->hart->f[10], S(0x7F800000));
    guest_ok(g, "svon.one\n fcvt.w.s x10, f2\n"); /* integer results are those of the base ISA */
    CHECK_EQ(g->hart->x[10], 0x7FFFFFFF);
    CHECK_EQ(exc_st(g), FACET_QNAN | FACET_NV);

    set_mode(g, FACET_CAP_PREC_MODE_SAT);
    clear_status(g);
    g->hart->f[2] = S(0x7F7FFFFF);
    guest_ok(g, "svon.one\n fadd.s f10, f2, f2\n"); /* rounds to infinity, then saturates */
    CHECK_EQ(g->hart->f[10], S(0x7F7FFFFF));
    CHECK_EQ(stat_bits(g), FACET_SAT);
    CHECK_EQ(exc_st(g), FACET_OF | FACET_NX);
    set_mode(g, FACET_CAP_PREC_MODE_SAT);
    clear_status(g);
    g->hart->f[2] = S(0x49742400);                /* 1e6 */
    guest_ok(g, "svon.one\n fcvt.h.s f10, f2\n"); /* narrows: SAT_HIT in place of OF and NX */
    CHECK_EQ(g->hart->f[10], H(0x7BFF));
    CHECK_EQ(stat_bits(g), FACET_SAT | FACET_DOWN);
    CHECK_EQ(exc_st(g), 0);
    set_mode(g, FACET_CAP_PREC_MODE_SAT | FACET_CAP_PREC_MODE_SAT_MODE);
    g->hart->f[2] = S(0xFF800000); /* SAT_MODE 1 keeps infinities */
    guest_ok(g, "svon.one\n fcvt.h.s f10, f2\n");
    CHECK_EQ(g->hart->f[10], H(0xFC00));
    set_mode(g, FACET_CAP_PREC_MODE_SAT);
    clear_status(g);
    g->hart->x[7] = 1000000; /* an integer source: Round, then narrow (R-RSV-24) */
    guest_ok(g, "svon.one\n fcvt.h.w f10, x7\n");
    CHECK_EQ(g->hart->f[10], H(0x7BFF));
    CHECK_EQ(exc_st(g), FACET_OF | FACET_NX);
    CHECK_EQ(stat_bits(g), FACET_SAT);
    /* CSR SVSAT does not exist, so nothing overrides this. */
    guest_csrw(g, FACET_CSR_SVSAT, ~0ull);
    CHECK_EQ(guest_csrr(g, FACET_CSR_SVSAT), 0);
    guest_free(g);
}

TEST(masked_f_registers_become_boxed_zero_of_the_format, "RSV-129")
{
    static const struct {
        const char *text;
        uint64_t zero;
    } rows[] = {{"fadd.s f10, f2, f6", S(0)},
                {"fadd.h f10, f2, f6", H(0)},
                {"fadd.d f10, f2, f6", 0},
                {"fmadd.h f10, f2, f6, f8", H(0)},
                {"fcvt.h.d f10, f2", H(0)},
                {"fcvt.d.s f10, f2", 0},
                {"fcvt.s.l f10, x2", S(0)},
                {"fmv.w.x f10, x2", S(0)},
                {"fmv.d.x f10, x2", 0},
                {"fmv.h.x f10, x2", H(0)},
                {"fsgnj.h f10, f2, f6", H(0)},
                {"flh f10, 0(x9)", H(0)},
                {"flw f10, 0(x9)", S(0)},
                {"fld f10, 0(x9)", 0},
                {"c.fld f10, 0(x9)", 0}};
    struct guest *g = guest_make("full");

    set_mode(g, FACET_CAP_PREC_MODE_ZMODE);
    g->hart->units.pmask.bank[1] = 1;
    guest_csrw(g, FACET_CSR_SVSTATE, 1 | 1ull << FACET_SVSTATE_PBANK_LSB);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        g->hart->x[9] = GUEST_DATA;
        g->hart->f[11] = 0x1234;
        g->hart->fs = FACET_FS_CLEAN;
        guest_ok(g, "svon.one\n %s\n", rows[i].text);
        CHECK_MSG(g->hart->f[11] == rows[i].zero, "%s", rows[i].text);
        CHECK_EQ(g->hart->fs, FACET_FS_DIRTY);
    }
    g->hart->x[11] = 5;
    guest_ok(g, "svon.one\n feq.s x10, f2, f6\n"); /* an x register: 0 */
    CHECK_EQ(g->hart->x[11], 0);
    guest_free(g);
}

TEST(mstatus_fs_guards_every_fp_instruction, "RSV-127")
{
    static const char *const texts[] = {"fadd.s f10, f2, f6",
                                        "fsgnj.d f10, f2, f6",
                                        "flw f10, 0(x9)",
                                        "fsw f10, 0(x9)",
                                        "fmv.x.w x10, f2",
                                        "feq.s x10, f2, f6"};
    struct guest *g = guest_make("full");

    g->hart->units.pmask.bank[1] = 0; /* all lanes masked: FS is looked at before */
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        guest_csrw(g, FACET_CSR_SVSTATE, 1 | 1ull << FACET_SVSTATE_PBANK_LSB);
        g->hart->x[9] = g->hart->x[10] = GUEST_DATA;
        g->hart->fs = FACET_FS_OFF;
        guest_traps(g, FACET_CAUSE_ILLEGAL, "svon.one\n %s\n", texts[i]);
        g->hart->fs = FACET_FS_CLEAN; /* nothing written: stays clean */
        guest_csrw(g, FACET_CSR_SVSTATE, 1 | 1ull << FACET_SVSTATE_PBANK_LSB);
        guest_ok(g, "svon.one\n %s\n", texts[i]);
        CHECK_EQ(g->hart->fs, FACET_FS_CLEAN);
    }
    guest_csrw(g, FACET_CSR_SVSTATE, 0); /* flags in CAP do not make FS dirty, an f write does */
    g->hart->f[2] = S(0x7F800001);
    guest_ok(g, "svon.one\n feq.s x10, f2, f6\n");
    CHECK(exc_st(g) != 0);
    CHECK_EQ(g->hart->fs, FACET_FS_CLEAN);
    guest_ok(g, "svon.one\n fadd.s f10, f2, f6\n");
    CHECK_EQ(g->hart->fs, FACET_FS_DIRTY);
    guest_free(g);
}

TEST(the_third_source_walks_with_rd, "RSV-019")
{
    struct guest *g = guest_make("full");

    for (unsigned r = 0; r < 32; r++) {
        g->hart->x[7] = r;
        guest_ok(g, "fcvt.s.l f%u, x7\n", r);
    }
    guest_ok(g, "svsetvl x0, 2\n svon.one\n fmadd.s f10, f2, f4, f20\n");
    CHECK_EQ(g->hart->f[10], S(0x41E00000)); /* 2*4 + 20 */
    CHECK_EQ(g->hart->f[11], S(0x42100000)); /* 3*5 + 21 */
    guest_csrw(g, FACET_CSR_SVDST, 1ull << 63 | 4 << 8 | 24);
    guest_ok(g, "svon.one\n fmadd.s f10, f2, f4, f20\n"); /* f24, f28; f20, f24 */
    CHECK_EQ(g->hart->f[24], S(0x41E00000));
    CHECK_EQ(g->hart->f[28], S(0x421C0000)); /* 3*5 + 24 */
    guest_free(g);
}

/* ---- traps ------------------------------------------------------------------------------------
 */

TEST(an_enabled_exception_traps_with_the_lowest_lane, "")
{
    for (unsigned zmode = 0; zmode < 2; zmode++) {
        struct guest *g = guest_make("full");

        set_mode(g, zmode ? FACET_CAP_PREC_MODE_ZMODE : 0);
        guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, FACET_DZ);
        for (unsigned i = 0; i < 4; i++) { /* 1/1, 1/0, 1/3 (inexact), 1/0 */
            static const uint32_t d[] = {0x3F800000, 0, 0x40400000, 0x80000000};

            g->hart->f[2 + i] = S(0x3F800000);
            g->hart->f[6 + i] = S(d[i]);
            g->hart->f[10 + i] = 0x77;
        }
        harness_row(zmode != 0 ? "RSV-123 RSV-130" : "RSV-130");
        CHECK_EQ(
            guest_traps(g, FACET_CAUSE_NUMERIC, "svsetvl x0, 4\n svon.one\n fdiv.s f10, f2, f6\n"),
            FACET_DZ | 1 << 8);
        CHECK_EQ(g->epc, 8);
        CHECK_ID("RSV-116", guest_csr(g, FACET_CSR_SVFAULTI) == (1ull << 63 | 24 << 16 | 1));
        CHECK_ID("RSV-033 RSV-119", exc_st(g) == (FACET_DZ | FACET_NX)); /* of all lanes */
        for (unsigned i = 0; i < 4; i++) {
            CHECK_EQ(g->hart->f[10 + i], 0x77);
        }
        CHECK_ID("RSV-117",
                 FACET_GET(guest_csr(g, FACET_CSR_CAP_PREC_STAT), CAP_PREC_STAT_EFF_SAE) == 0);
        CHECK_EQ(state(g), 3 | FACET_SVSTATE_ONE_SHOT | FACET_SVSTATE_PEN);
        /* The same operands in scalar code: fcsr collects, nothing traps. */
        guest_ok(g, "fdiv.s f10, f3, f7\n");
        guest_free(g);
    }
}

TEST(sae_suppresses_the_trap_and_not_the_flags, "")
{
    struct guest *g = guest_make("full");

    inexact_sums(g);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, FACET_NX);
    guest_ok(g, "svsetvl x0, 3\n svon.fpctl sae=1\n svon.one\n fadd.s f10, f2, f6\n");
    harness_row("RSV-083");
    check_sums(g, 0, "sae");
    CHECK_ID("RSV-115", exc_st(g) == FACET_NX);
    guest_traps(g, FACET_CAUSE_NUMERIC, "svon.one\n fadd.s f10, f2, f6\n");
    guest_ok(g, "svend\n");
    harness_row("RSV-115");
    set_mode(g, FACET_CAP_PREC_MODE_SAE_DEF);
    clear_status(g);
    guest_ok(g, "svon.one\n fadd.s f10, f2, f6\n");
    CHECK_EQ(exc_st(g), FACET_NX);
    harness_row("RSV-117 RSV-118");
    /* sae = 0 lifts SAE_DEF = 1, and STAT shows it to the handler. */
    CHECK_EQ(FACET_GET(guest_csr(g, FACET_CSR_CAP_PREC_STAT), CAP_PREC_STAT_EFF_SAE), 1);
    guest_traps(g, FACET_CAUSE_NUMERIC, "svon.fpctl sae=0\n svon.one\n fadd.s f10, f2, f6\n");
    CHECK_EQ(FACET_GET(guest_csr(g, FACET_CSR_CAP_PREC_STAT), CAP_PREC_STAT_EFF_SAE), 0);
    CHECK_EQ(FACET_GET(state(g), SVSTATE_PFPC), 1); /* kept for the second try */
    facet_hart_return(g->hart);
    CHECK_EQ(FACET_GET(state(g), SVSTATE_FPC_V), 1);
    guest_free(g);
}

TEST(the_one_shot_sae_is_spent_by_numeric_instructions_that_retire, "RSV-035 RSV-135")
{
    struct guest *g = guest_make("full");

    inexact_sums(g);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, FACET_NX);
    set_mode(g, FACET_CAP_PREC_MODE_SAE);
    guest_ok(g, "svsetvl x0, 3\n svon.blk 2\n fsgnj.s f20, f2, f6\n add x20, x20, x20\n");
    CHECK(guest_csr(g, FACET_CSR_CAP_PREC_MODE) & FACET_CAP_PREC_MODE_SAE); /* not numeric */
    guest_ok(g, "svon.one\n fadd.s f10, f2, f6\n");
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_MODE) & FACET_CAP_PREC_MODE_SAE, 0);
    guest_traps(g, FACET_CAUSE_NUMERIC, "svon.one\n fadd.s f10, f2, f6\n");
    guest_ok(g, "svend\n");
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, 0);
    /* A staged MODE is not seen before its APPLY: RSV never sees half an update. */
    guest_csrw(g, FACET_CSR_CAP_PREC_MODE, FACET_CAP_PREC_MODE_RESET | rounding(3));
    guest_ok(g, "svon.one\n fadd.s f10, f2, f6\n");
    check_sums(g, 0, "staged");
    guest_ok(
        g, "li t0, 1\n slli t0, t0, 63\n csrs CAP.PREC.MODE, t0\n svon.one\n fadd.s f10, f2, f6\n");
    check_sums(g, 3, "applied");
    guest_free(g);
}

TEST(reset_state_gives_scalar_values, "RSV-032 RSV-034 RSV-127 RSV-140")
{
    static const char *const texts[] = {
        "fadd.s", "fsub.s", "fmul.s", "fdiv.s", "fmin.s", "fmax.s", "fadd.h", "fmul.h", "fdiv.d"};
    struct guest *g = guest_make("full");

    for (unsigned round = 0; round < 40; round++) {
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
            for (unsigned r = 2; r < 10; r++) {
                g->hart->f[r] = texts[i][5] == 'd'   ? harness_random()
                                : texts[i][5] == 's' ? S((uint32_t)harness_random())
                                                     : H((uint16_t)harness_random());
            }
            g->hart->frm = 0;
            g->hart->fflags = 0;
            clear_status(g);
            guest_ok(g,
                     "svsetvl x0, 4\n svon.one\n %s f10, f2, f6\n"
                     "%s f20, f2, f6\n %s f21, f3, f7\n %s f22, f4, f8\n %s f23, f5, f9\n",
                     texts[i],
                     texts[i],
                     texts[i],
                     texts[i],
                     texts[i]);
            for (unsigned r = 0; r < 4; r++) {
                CHECK_MSG(g->hart->f[10 + r] == g->hart->f[20 + r], "%s", texts[i]);
            }
            CHECK_MSG((exc_st(g) & 0x1F) == g->hart->fflags, "%s flags", texts[i]);
        }
    }
    guest_free(g);
}
