/* Numeric policy through instructions: staging and APPLY, the worked examples of numeric.md 14,
 * exceptions, stickies, traps, SAE in its four forms. The numeric instruction is an FP instruction
 * under register vectors. */
#include "xphmg/guest.h"

#include "base/float.h"
#include "isa/isa.h"
#include "num/convert.h"
#include "num/spec_table.h"
#include "xphmg/units/vendor.h"

#include <stdlib.h>

enum { MODE = 0x7D0, ALT = 0x7D1, STAT = 0x7D2, EXC_EN = 0x7D3, EXC_ST = 0x7D4 };

#define APPLY (UINT64_C(1) << 63)
#define BASE UINT64_C(0x80000)
#define FTZ (UINT64_C(1) << 33)
#define SAT (UINT64_C(1) << 30)
#define SAE_DEF (UINT64_C(1) << 29)

#define NV 16u
#define DZ 8u
#define OF 4u
#define UF 2u
#define NX 1u

#define ONE 0x3F800000u
#define MAX 0x7F7FFFFFu
#define TINY 0x00800000u /* smallest normal */
#define QNAN 0x7FC00000u
#define SNAN 0x7FA00000u

static void set_s(struct guest *g, unsigned reg, uint32_t bits)
{
    g->hart->f[reg] = UINT64_C(0xFFFFFFFF00000000) | bits;
}

/* One numeric instruction: f3 = f1 OP f2 under RSV with VL = 1. */
static struct facet_trap numeric(struct guest *g, const char *op, uint32_t a, uint32_t b)
{
    set_s(g, 1, a);
    set_s(g, 2, b);
    g->hart->units.rsv.svstate &= ~UINT64_C(0x400000000); /* a trap saved EN in PEN */
    return guest_run(g, "svon.one\n %s f3, f1, f2\n", op);
}

/* An operation for each exception bit, exact in the other bits as far as IEEE lets it. */
static const struct {
    const char *op;
    uint32_t a, b;
    unsigned flags;
} raisers[] = {
    {"fmul.s", 0, 0x7F800000, NV},
    {"fdiv.s", ONE, 0, DZ},
    {"fmul.s", MAX, MAX, OF | NX},
    {"fmul.s", TINY, 0x3EAAAAAB, UF | NX},
    {"fadd.s", ONE, 0x33000000, NX},
};

/* EXC.ST after it: a NaN that is made here is seen when it is written. */
static unsigned sticky(unsigned flags)
{
    return flags | ((flags & NV) != 0 ? 0x20 : 0);
}

/* ---- staging and APPLY ----------------------------------------------------------------------- */

struct examples {
    struct guest *g;
    long number;
    unsigned checked;
};

static void example_row(const char *const cell[], unsigned count, void *context)
{
    struct examples *ex = context;
    struct guest *g = ex->g;
    long n = strtol(cell[0], NULL, 10);
    const char *csr = strstr(cell[1], "csr"), *hex = csr != NULL ? strstr(csr, ", 0") : NULL;

    if (!CHECK(count == 9)) {
        return;
    }
    if (n != ex->number && n != 8 && n != 9) { /* 8 and 9 continue from 7 */
        guest_reset(g);
    }
    ex->number = n;
    guest_csrw(g, EXC_EN, strtoull(cell[5], NULL, 16));
    if (n == 12) { /* flush, saturate and down-cast in one conversion each */
        guest_csrw(g, MODE, APPLY | BASE | FTZ | SAT);
        g->hart->f[1] = UINT64_C(0xFFFFFFFF33800000);
        g->hart->f[2] = UINT64_C(0xFFFFFFFF49742400);
        guest_ok(g, "svon.one\n fcvt.h.s f3, f1\n svon.one\n fcvt.h.s f4, f2\n");
        CHECK_EQ(guest_csrr(g, STAT) & 0x7000, 0x7000);
        g->hart->units.cap.prec.image[0] = BASE; /* the state that the row starts from */
        g->hart->units.cap.prec.stat &= ~UINT64_C(0x400000);
    }
    CHECK_EQ(guest_csrr(g, MODE), strtoull(cell[2], NULL, 16));
    CHECK_EQ(guest_csrr(g, ALT), strtoull(cell[3], NULL, 16));
    CHECK_EQ(guest_csrr(g, STAT), strtoull(cell[4], NULL, 16));
    if (csr == NULL) {
        CHECK_STR(cell[0], "11b");
        CHECK(!numeric(g, "fadd.s", ONE, ONE).taken);
    } else {
        g->hart->x[5] = strtoull(hex + 2, NULL, 0);
        guest_ok(
            g, "csrr%c t1, 0x%lx, t0\n", csr[3] == 'w' ? 'w' : csr[3], strtoul(csr + 5, NULL, 16));
    }
    CHECK_MSG(guest_csrr(g, MODE) == strtoull(cell[6], NULL, 16) &&
                  guest_csrr(g, ALT) == strtoull(cell[7], NULL, 16) &&
                  guest_csrr(g, STAT) == strtoull(cell[8], NULL, 16),
              "example %s (%s): MODE %016" PRIx64 " ALT %016" PRIx64 " STAT %016" PRIx64,
              cell[0],
              cell[1],
              guest_csr(g, MODE),
              guest_csr(g, ALT),
              guest_csr(g, STAT));
    ex->checked++;
}

TEST(worked_examples_through_csr_instructions, "CAP-454 CAP-275 CAP-277 CAP-295 CAP-503")
{
    struct examples ex = {.g = guest_make("full")};

    CHECK_EQ(spec_table("## 14. Worked EFF examples", example_row, &ex), ex.checked);
    CHECK(ex.checked >= 25);
    guest_free(ex.g);
}

/* Stages FP32, is interrupted by a handler that computes in INT8, and applies; `restore` is what
 * the handler does about the staged image. */
static void interrupted(struct guest *g, const char *restore)
{
    guest_reset(g);
    (void)guest_traps(g, FACET_CAUSE_ECALL_M, "li t0, 0x300000\n csrw 0x7D0, t0\n ecall\n");
    guest_ok(
        g,
        "csrr s0, 0x840\n csrr s1, 0x7D0\n li t0, 0x7DA0\n csrw 0x840, t0\n csrr s2, 0x841\n"
        "li t0, 0x8000000000600000\n csrw 0x7D0, t0\n csrr s3, 0x7D2\n csrr s4, 0x841\n"
        "bseti t0, s1, 63\n csrw 0x7D0, t0\n li t0, 0x7DA0\n csrw 0x840, t0\n %s csrw 0x840, s0\n",
        restore);
    guest_ok(g, "li t0, 1 << 63\n csrs 0x7D0, t0\n");
}

TEST(a_handler_saves_and_restores_a_staged_image, "CAP-523 CAP-524")
{
    struct guest *g = guest_make("full");

    interrupted(g, "csrw 0x841, s2\n");
    CHECK_EQ(g->hart->x[18], APPLY | 0x300000); /* s2: SMODE as the handler found it */
    CHECK_EQ(g->hart->x[19] >> 28, 3);          /* s3: STAT, INT8 in force */
    CHECK_EQ(g->hart->x[20], 0);                /* s4: its APPLY dropped the image */
    CHECK_EQ(guest_csrr(g, MODE), 0x300000);
    CHECK_EQ(guest_indirect_read(g, 0x7DA0), 0);
    interrupted(g, ""); /* what the image is saved for */
    CHECK_EQ(guest_csrr(g, MODE), 0x80000);
    guest_free(g);
}

TEST(staged_images_are_registers_of_machine_mode, "CAP-523 CAP-525 CAP-526 CAP-527")
{
    struct guest *g = guest_make("full");

    for (unsigned reg = 0; reg < 2; reg++) {
        const unsigned number = MODE + reg, staged = 0x7DA0 + reg;
        const uint64_t image = reg == 0 ? 0x300000 : 0x49C00000, before = guest_csrr(g, number);
        const uint64_t stat = guest_csrr(g, STAT);

        guest_csrw(g, number, image | UINT64_C(1) << 50); /* reserved bits show as written */
        CHECK_EQ(guest_indirect_read(g, staged), APPLY | UINT64_C(1) << 50 | image);
        CHECK_EQ(guest_indirect_read(g, staged ^ 1), 0);
        guest_indirect_write(g, staged, 0); /* dropped */
        g->hart->x[5] = APPLY;
        guest_ok(g, reg == 0 ? "csrs 0x7D0, t0\n" : "csrs 0x7D1, t0\n");
        CHECK_EQ(guest_csrr(g, number), before);
        guest_indirect_write(g, staged, APPLY | image); /* staged, and nothing in force */
        CHECK_EQ(guest_csrr(g, number), before);
        CHECK_EQ(guest_csrr(g, STAT), stat);
        guest_indirect_write(g, staged, image); /* VALID = 0 */
        guest_ok(g, "csrs 0x7D0, x0\n csrs 0x7D1, x0\n");
        guest_indirect_write(g, staged, APPLY | image);
        g->hart->x[5] = APPLY;
        guest_ok(g, reg == 0 ? "csrs 0x7D0, t0\n" : "csrs 0x7D1, t0\n");
        CHECK_EQ(guest_csrr(g, number), image);
        CHECK_EQ(guest_indirect_read(g, staged), 0);
        g->hart->units.cap.xisel = staged;
        g->hart->priv = FACET_PRIV_U;
        CHECK_EQ(guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x841\n"), 0x841022F3);
        guest_reset(g);
    }
    guest_csrw(g, MODE, UINT64_C(0x809A0000)); /* bit 31 as APPLY: the seeds' examples */
    CHECK_EQ(guest_csrr(g, MODE), 0x80000);
    g->hart->x[5] = APPLY | 8;
    guest_ok(g, "csrs 0x7D0, t0\n");
    CHECK_EQ(guest_csrr(g, MODE), 0x9A0008);
    guest_free(g);
}

TEST(a_staged_image_shows_nowhere_until_its_own_apply, "")
{
    struct guest *g = guest_make("full");
    const uint64_t rup = UINT64_C(3) << 27;

    harness_row("CAP-016 CAP-105 CAP-489");
    guest_csrw(g, MODE, BASE | rup); /* staged */
    CHECK_EQ(guest_csrr(g, MODE), BASE);
    CHECK_EQ(guest_csrr(g, STAT), 0x04000000);
    (void)numeric(g, "fadd.s", ONE, 0x33000000);
    CHECK_ID("CAP-028", (g->hart->f[3] & 0xFFFFFFFF) == ONE); /* still to nearest */
    harness_row("CAP-107");
    guest_csrw(g, ALT, APPLY | UINT64_C(0x49C00000)); /* the other register's APPLY */
    CHECK_EQ(guest_csrr(g, MODE), BASE);
    CHECK_EQ(guest_csrr(g, STAT) >> 19 & 7, 0);
    guest_csrw(g, ALT, APPLY);
    CHECK_EQ(guest_csrr(g, STAT), 0x04000000);
    harness_row("CAP-472"); /* an interruption in the middle changes nothing, loses nothing */
    (void)guest_traps(g, FACET_CAUSE_ECALL_M, "ecall\n");
    guest_ok(g, "csrr t1, mepc\n");
    CHECK_EQ(guest_csrr(g, MODE), BASE);
    CHECK_EQ(guest_csrr(g, STAT), 0x04000000);
    harness_row("CAP-195");
    g->hart->x[5] = UINT64_C(1) << 31; /* bit 31 is no APPLY */
    guest_ok(g, "csrs 0x7D0, t0\n");
    CHECK_EQ(guest_csrr(g, MODE), BASE);
    g->hart->x[5] = APPLY;
    guest_ok(g, "csrrs t1, 0x7D0, t0\n");
    harness_row("CAP-105 CAP-106 CAP-195 CAP-489");
    CHECK_EQ(g->hart->x[6], BASE); /* rd: the image from before */
    CHECK_EQ(guest_csrr(g, MODE), BASE | rup);
    CHECK_EQ(guest_csrr(g, STAT) >> 19 & 7, 3);
    (void)numeric(g, "fadd.s", ONE, 0x33000000);
    CHECK_EQ(g->hart->f[3] & 0xFFFFFFFF, ONE + 1);
    harness_row("CAP-468 CAP-469");
    /* csrc changes the staged image and never applies, even where bit 63 was staged away. */
    g->hart->x[5] = rup;
    guest_ok(g, "csrc 0x7D0, t0\n");
    CHECK_EQ(guest_csrr(g, MODE), BASE | rup);
    g->hart->x[5] = APPLY;
    guest_ok(g, "csrc 0x7D0, t0\n");
    CHECK_EQ(guest_csrr(g, MODE), BASE | rup);
    guest_ok(g, "csrs 0x7D0, t0\n");
    CHECK_EQ(guest_csrr(g, MODE), BASE);
    guest_csrw(g, EXC_EN, 0x11); /* this one has no gate */
    CHECK_ID("CAP-468", guest_csrr(g, EXC_EN) == 0x11);
    guest_csrw(g, EXC_EN, 0);
    harness_row("CAP-276 CAP-491"); /* csrs and csrc with x0 do not write */
    guest_csrw(g, ALT, UINT64_C(0x44000000));
    guest_ok(g, "csrr t1, 0x7D1\n csrsi 0x7D1, 0\n csrci 0x7D1, 0\n");
    CHECK_EQ(guest_csrr(g, ALT), 0);
    CHECK_EQ(guest_csrr(g, STAT) >> 23 & 1, 0);
    guest_reset(g); /* reset forgets it */
    g->hart->x[5] = APPLY;
    guest_ok(g, "csrs 0x7D1, t0\n csrs 0x7D0, t0\n");
    CHECK_EQ(guest_csrr(g, ALT), 0);
    CHECK_EQ(guest_csrr(g, MODE), BASE);
    guest_free(g);
}

TEST(a_write_is_in_force_for_the_next_instruction, "CAP-010 CAP-016 CAP-470 CAP-468 CAP-455")
{
    struct guest *g = guest_make("full");

    set_s(g, 1, ONE);
    set_s(g, 2, 0x33000000); /* 2^-25: below half an ulp */
    g->hart->x[5] = APPLY | BASE | UINT64_C(3) << 27;
    guest_ok(g,
             "svon.blk 2\n"
             "fadd.s f3, f1, f2\n"
             "csrw 0x7D0, t0\n"
             "fadd.s f4, f1, f2\n");
    CHECK_EQ(g->hart->f[3] & 0xFFFFFFFF, ONE);
    CHECK_EQ(g->hart->f[4] & 0xFFFFFFFF, ONE + 1);
    guest_ok(g, "li t0, 0x123\n csrw 0x7F0, t0\n csrr t1, 0x7F0\n"); /* no gate on memory policy */
    CHECK_EQ(g->hart->x[6], 0x123);
    guest_ok(g, "li t0, 3\n csrw 0x7E6, t0\n csrr t1, 0x7E6\n csrw 0x7D3, t0\n csrr t2, 0x7D3\n");
    CHECK_EQ(g->hart->x[6], 3);
    CHECK_EQ(g->hart->x[7], 3);
    guest_free(g);
}

TEST(mode_and_alt_fields_take_every_value_through_apply, "CAP-196 CAP-197")
{
    struct guest *g = guest_make("full");

    for (unsigned r = 0; r < 2; r++) {
        const struct facet_csr_row *row = facet_csr_at(FACET_ISA_XPHMG, MODE + r);

        for (unsigned i = 0; i < row->field_count && !harness_failed(); i++) {
            const struct facet_csr_field *f = &row->fields[i];
            uint64_t last = (UINT64_C(2) << (f->hi - f->lo)) - 1;

            if (f->lo == 63 || last > 255) {
                continue;
            }
            for (uint64_t v = 0; v <= last; v++) {
                uint64_t want = f->access == FACET_CSR_RO ? 0 : v;

                /* Reserved codes of numeric.md 4 become 0. */
                want = (strcmp(f->name, "PET") == 0 && v > 5) ||
                               (strcmp(f->name, "ACCW") == 0 && v > 3) ||
                               (strcmp(f->name, "PACK") == 0 && v > 2) ||
                               (strcmp(f->name, "NAN_POL") == 0 && v > 2) ||
                               (strcmp(f->name, "ZP_EN") == 0 && v > 2)
                           ? 0
                           : want;
                guest_csrw(g, MODE + r, APPLY | v << f->lo);
                harness_row(f->access == FACET_CSR_RO ? "CAP-022 CAP-182"
                            : r == 1                  ? "CAP-179 CAP-190"
                                                      : "CAP-179");
                CHECK_MSG(guest_csrr(g, MODE + r) == want << f->lo,
                          "%s.%s = %llu reads 0x%llx",
                          row->name,
                          f->name,
                          (unsigned long long)v,
                          (unsigned long long)guest_csr(g, MODE + r));
                if (r == 0 && strcmp(f->name, "EW") == 0) { /* INT8 fits every container */
                    guest_csrw(g, MODE, APPLY | 3 << 21 | v << 19);
                    CHECK_ID("CAP-221", (guest_csrr(g, STAT) >> 26 & 3) == v);
                }
                if (r == 0 && strcmp(f->name, "PACK") == 0) {
                    guest_csrw(g, MODE, APPLY | 3 << 21 | v << 17);
                    CHECK_ID("CAP-226", (guest_csrr(g, STAT) >> 16 & 3) == want);
                    CHECK_ID("CAP-226", (guest_csrr(g, STAT) >> 15 & 1) == (v == 3));
                }
            }
        }
    }
    guest_free(g);
}

/* ---- exceptions ------------------------------------------------------------------------------ */

TEST(each_exception_has_its_enable_its_sticky_and_its_trap, "")
{
    struct guest *g = guest_make("full");

    for (size_t i = 0; i < sizeof raisers / sizeof raisers[0]; i++) {
        for (unsigned enabled = 0; enabled < 32; enabled++) {
            unsigned hits = raisers[i].flags & enabled;
            uint64_t f3 = UINT64_C(0xFFFFFFFF12345678);
            struct facet_trap trap;

            guest_reset(g);
            guest_csrw(g, EXC_EN, enabled);
            g->hart->f[3] = f3;
            trap = numeric(g, raisers[i].op, raisers[i].a, raisers[i].b);
            CHECK_ID("CAP-185 CAP-201 CAP-304", trap.taken == (hits != 0));
            CHECK_ID("CAP-186 CAP-308 CAP-495", /* trap or not */
                     guest_csrr(g, EXC_ST) == sticky(raisers[i].flags));
            harness_row("");
            CHECK_EQ(g->hart->fflags, 0);
            if (hits != 0) {
                CHECK_EQ(trap.cause, 24);
                CHECK_EQ(trap.tval, hits);
                CHECK_EQ(g->hart->mcause, 24);
                CHECK_EQ(g->epc, 4); /* the instruction, not its prefix */
                CHECK_EQ(g->hart->f[3], f3);
                CHECK_EQ(guest_csrr(g, 0x7FF), APPLY | 24 << 16);
            } else {
                harness_row("CAP-305");
                CHECK(g->hart->f[3] != f3);
                CHECK_EQ(guest_csrr(g, 0x7FF), 0);
            }
        }
    }
    harness_row("CAP-522");
    guest_reset(g); /* the base sequence leaves traps off */
    guest_csrw(g, MODE, APPLY | BASE);
    for (unsigned i = 0; i < 3; i++) {
        CHECK(!numeric(g, raisers[i].op, raisers[i].a, raisers[i].b).taken);
    }
    CHECK_EQ(guest_csrr(g, EXC_ST), sticky(NV | DZ | OF | NX));
    harness_row("CAP-494");
    guest_csrw(g, EXC_EN, 1 << 2 | 1 << 4);
    CHECK(!numeric(g, "fadd.s", ONE, 0x33000000).taken);
    CHECK(numeric(g, "fmul.s", MAX, MAX).taken);
    CHECK(numeric(g, "fmul.s", 0, 0x7F800000).taken);
    guest_free(g);
}

TEST(the_lowest_lane_traps_and_every_lane_is_seen, "CAP-304 CAP-495 CAP-308")
{
    /* x / y of four lanes: exact, inexact, by zero, invalid. */
    static const uint32_t x[] = {ONE, ONE, ONE, 0}, y[] = {ONE, 0x40400000, 0, 0};
    static const struct {
        unsigned enabled, lane, hits; /* lane 4: no trap */
    } rows[] = {{0, 4, 0},
                {NX, 1, NX},
                {DZ, 2, DZ},
                {NV, 3, NV},
                {OF, 4, 0},
                {DZ | NV, 2, DZ},
                {NX | DZ | NV, 1, NX},
                {UF | NV, 3, NV}};
    struct guest *g = guest_make("full");

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (unsigned masked = 0; masked < 2; masked++) { /* lane 1 out: its NX is gone */
            unsigned lane = rows[i].lane, hits = rows[i].hits;
            struct facet_trap trap;

            if (masked != 0 && lane == 1) {
                lane = rows[i].enabled == NX ? 4 : 2;
                hits = lane == 4 ? 0 : DZ;
            }
            guest_reset(g);
            for (unsigned k = 0; k < 4; k++) {
                set_s(g, 4 + k, x[k]);
                set_s(g, 8 + k, y[k]);
                g->hart->f[12 + k] = 7;
            }
            g->hart->units.pmask.bank[1] = masked != 0 ? 0xD : 0xF;
            guest_csrw(g, EXC_EN, rows[i].enabled);
            guest_csrw(g, 0x7F8, 3 | 1 << 10);
            trap = guest_run(g, "svon.one\n fdiv.s f12, f4, f8\n");
            CHECK_EQ(trap.taken, lane < 4);
            CHECK_EQ(guest_csrr(g, EXC_ST), sticky(NV | DZ | (masked != 0 ? 0 : NX)));
            if (trap.taken) {
                CHECK_EQ(trap.tval, hits | lane << 8);
                CHECK_EQ(guest_csrr(g, 0x7FF), APPLY | 24 << 16 | lane);
                CHECK_EQ(g->hart->f[12] | g->hart->f[13] | g->hart->f[14] | g->hart->f[15], 7);
            } else {
                CHECK_EQ(g->hart->f[12], UINT64_C(0xFFFFFFFF3F800000));
            }
        }
    }
    guest_free(g);
}

TEST(stickies_stay_until_they_are_cleared_or_applied, "")
{
    struct guest *g = guest_make("full");

    /* EXC.ST: over clean operations and APPLY, until W1C. */
    harness_row("CAP-306 CAP-307");
    (void)numeric(g, "fadd.s", ONE, 0x33000000);
    CHECK_EQ(guest_csrr(g, EXC_ST), NX);
    (void)numeric(g, "fadd.s", ONE, ONE);
    CHECK_EQ(guest_csrr(g, EXC_ST), NX);
    guest_csrw(g, MODE, APPLY | BASE);
    guest_csrw(g, ALT, APPLY);
    CHECK_EQ(guest_csrr(g, EXC_ST), NX);
    guest_csrw(g, EXC_ST, 1);
    CHECK_EQ(guest_csrr(g, EXC_ST), 0);
    harness_row("CAP-186 CAP-309");
    (void)numeric(g, "fadd.s", QNAN, ONE);
    CHECK_EQ(guest_csrr(g, EXC_ST), 0x20);
    guest_csrw(g, EXC_ST, 0x7F);
    CHECK_ID("CAP-496", guest_csrr(g, EXC_ST) == 0);
    (void)numeric(g, "fadd.s", SNAN, ONE);
    CHECK_EQ(guest_csrr(g, EXC_ST) & 0x50, 0x50);
    /* NaN observations never trap. */
    guest_reset(g);
    guest_csrw(g, EXC_EN, 0x1F);
    CHECK(!numeric(g, "fadd.s", QNAN, ONE).taken);
    CHECK_EQ(guest_csrr(g, EXC_ST), 0x20);
    /* STAT: saturation, flush and down-cast add up, clean operations keep them, APPLY clears. */
    guest_reset(g);
    guest_csrw(g, EXC_EN, 0x14);
    guest_csrw(g, MODE, APPLY | BASE | SAT | FTZ);
    CHECK_EQ(guest_csrr(g, STAT), 0x044000A0);
    g->hart->f[1] = UINT64_C(0xFFFFFFFF49742400); /* 10^6 */
    guest_ok(g, "svon.one\n fcvt.h.s f3, f1\n");
    CHECK_EQ(g->hart->f[3], UINT64_C(0xFFFFFFFFFFFF7BFF));
    harness_row("CAP-493");
    CHECK_EQ(guest_csrr(g, STAT), 0x044060A0); /* EFF, SAT_HIT, DOWNCAST_TAKEN, IE_MASK */
    harness_row("CAP-504");
    g->hart->f[1] = UINT64_C(0xFFFFFFFFFFFF0001);
    g->hart->f[2] = UINT64_C(0xFFFFFFFFFFFF0000);
    guest_ok(g, "svon.one\n fadd.h f3, f1, f2\n"); /* a subnormal source reads as 0 */
    CHECK_EQ(g->hart->f[3], UINT64_C(0xFFFFFFFFFFFF0000));
    (void)numeric(g, "fadd.s", ONE, ONE);
    CHECK_ID("CAP-504", (guest_csrr(g, STAT) >> 12 & 1) == 1);
    harness_row("CAP-184 CAP-508");
    CHECK_EQ(guest_csrr(g, STAT), 0x044070A0);
    guest_csrw(g, MODE, APPLY | BASE);
    CHECK_EQ(guest_csrr(g, STAT), 0x040000A0);
    harness_row("CAP-504");
    g->hart->f[1] = UINT64_C(0xFFFFFFFFFFFF0001); /* without FTZ it is 2^-24 */
    g->hart->f[2] = UINT64_C(0xFFFFFFFFFFFF0000);
    guest_ok(g, "svon.one\n fadd.h f3, f1, f2\n");
    CHECK_EQ(g->hart->f[3], UINT64_C(0xFFFFFFFFFFFF0001));
    CHECK_EQ(guest_csrr(g, STAT) >> 12 & 7, 0);
    harness_row("CAP-287 CAP-508");
    g->hart->f[1] = UINT64_C(0xFFFFFFFF3F800000);
    guest_ok(g, "svon.one\n fcvt.h.s f3, f1\n");
    CHECK_EQ(guest_csrr(g, STAT) >> 14 & 1, 1); /* whatever the value */
    guest_csrw(g, ALT, APPLY);
    CHECK_EQ(guest_csrr(g, STAT) >> 14 & 1, 0);
    guest_free(g);
}

/* ---- SAE ------------------------------------------------------------------------------------- */

TEST(sae_keeps_traps_away_and_never_stickies, "")
{
    struct guest *g = guest_make("full");

    for (size_t i = 0; i < sizeof raisers / sizeof raisers[0]; i++) {
        for (unsigned def = 0; def < 2; def++) {
            for (int fpctl = -1; fpctl < 2; fpctl++) { /* none, sae=0, sae=1 */
                for (unsigned one_shot = 0; one_shot < 2; one_shot++) {
                    for (unsigned en = 0; en < 2; en++) {
                        bool sae = fpctl >= 0 ? fpctl == 1 : def != 0 || one_shot != 0;
                        bool want = en != 0 && !sae;
                        struct facet_trap trap;

                        guest_reset(g);
                        guest_csrw(g, EXC_EN, en != 0 ? raisers[i].flags : 0);
                        guest_csrw(
                            g, MODE, APPLY | BASE | (def != 0 ? SAE_DEF : 0) | one_shot << 2);
                        CHECK_ID("CAP-239", (guest_csrr(g, MODE) >> 2 & 1) == one_shot);
                        if (fpctl >= 0) {
                            guest_ok(g, "svon.fpctl rc=RNE, sae=%d, z=0\n", fpctl);
                        }
                        trap = numeric(g, raisers[i].op, raisers[i].a, raisers[i].b);
                        /* Whose word it is: a prefix before the one-shot before the default. */
                        harness_row(fpctl == 1 && def == 0 ? "CAP-034 CAP-303 CAP-311"
                                    : fpctl >= 0           ? "CAP-083 CAP-303 CAP-304"
                                    : one_shot != 0        ? "CAP-239"
                                    : def != 0             ? "CAP-200 CAP-301 CAP-310"
                                                           : "CAP-201 CAP-304");
                        CHECK_EQ(trap.taken, want);
                        CHECK_EQ(guest_csrr(g, EXC_ST), sticky(raisers[i].flags));
                        harness_row("CAP-239");
                        if (want) { /* an instruction that traps spends nothing; EFF_SAE shows 0 */
                            CHECK_EQ(guest_csrr(g, MODE) >> 2 & 1, one_shot);
                            CHECK_EQ(guest_csrr(g, STAT) >> 10 & 1, 0);
                        } else {
                            CHECK_EQ(guest_csrr(g, MODE) >> 2 & 1, 0);
                            CHECK_EQ(guest_csrr(g, STAT) >> 10 & 1, def);
                            CHECK_EQ(guest_csrr(g, 0x7F8) >> 21 & 1, 0);
                        }
                    }
                }
            }
        }
    }
    guest_free(g);
}

TEST(the_one_shot_is_spent_by_numeric_instructions_that_retire,
     "CAP-239 CAP-459 CAP-503 CAP-271 CAP-039")
{
    struct guest *g = guest_make("full");

    guest_csrw(g, EXC_EN, 0x1F);
    guest_csrw(g, MODE, APPLY | BASE | 4);
    CHECK_EQ(guest_csrr(g, STAT), 0x04000400);
    set_s(g, 1, ONE);
    /* Integer, memory and scalar FP instructions, moves, prefixes and CSR accesses do not. */
    guest_ok(g,
             "add x7, x0, x0\n fadd.s f4, f1, f1\n svon.one\n add x8, x7, x7\n"
             "svon.one\n fsgnj.s f5, f1, f1\n svon.one\n fclass.s x9, f1\n"
             "svsetvl x0, 1\n svon.one\n fmv.x.w x9, f1\n csrr x9, 0x7D0\n");
    CHECK_EQ(guest_csrr(g, MODE), BASE | 4);
    /* A memory fault does not. */
    (void)guest_traps(g, FACET_CAUSE_LOAD_FAULT, "svon.one\n flw f4, 0(x0)\n");
    g->hart->units.rsv = (struct facet_rsv){0};
    CHECK_EQ(guest_csrr(g, MODE), BASE | 4);
    CHECK(!numeric(g, "fmul.s", MAX, MAX).taken); /* this one does */
    CHECK_EQ(guest_csrr(g, MODE), BASE);
    CHECK_EQ(guest_csrr(g, STAT), 0x040000F8);
    CHECK(numeric(g, "fmul.s", MAX, MAX).taken);
    /* IE_MASK is a record: EXC.EN alone decides. */
    guest_csrw(g, EXC_EN, 0);
    CHECK_EQ(guest_csrr(g, STAT), 0x040000F8);
    CHECK(!numeric(g, "fmul.s", MAX, MAX).taken);
    guest_csrw(g, EXC_EN, 0x05);
    CHECK_EQ(guest_csrr(g, STAT), 0x040000F8);
    guest_csrw(g, ALT, APPLY);
    CHECK_EQ(guest_csrr(g, STAT), 0x04000028);
    guest_free(g);
}

TEST(an_override_reaches_one_instruction_and_no_register, "")
{
    struct guest *g = guest_make("full");
    uint64_t mode, alt, stat;

    /* RC: the first result is rounded up, the second to nearest. */
    guest_csrw(g, ALT, APPLY | UINT64_C(0x44000000));
    mode = guest_csrr(g, MODE), alt = guest_csrr(g, ALT), stat = guest_csrr(g, STAT);
    set_s(g, 1, ONE);
    set_s(g, 2, 0x33000000);
    guest_ok(g, "svon.fpctl rc=RUP, sae=0, z=0\n");
    CHECK_EQ(guest_csrr(g, STAT), stat);
    guest_ok(g, "svon.blk 2\n fadd.s f3, f1, f2\n fadd.s f4, f1, f2\n");
    CHECK_ID("CAP-083 CAP-312", (g->hart->f[3] & 0xFFFFFFFF) == ONE + 1);
    CHECK_ID("CAP-011 CAP-039", (g->hart->f[4] & 0xFFFFFFFF) == ONE);
    harness_row("CAP-012 CAP-312");
    CHECK_EQ(guest_csrr(g, MODE), mode);
    CHECK_EQ(guest_csrr(g, ALT), alt);
    CHECK_EQ(guest_csrr(g, STAT) & ~UINT64_C(0x7000), stat);
    CHECK_ID("CAP-039", (guest_csrr(g, 0x7F8) >> 21 & 1) == 0);
    /* ZMODE: bank 1 = 0b01, VL = 2. Lane 1 of the destination is kept or zeroed. */
    for (unsigned def = 0; def < 2; def++) {
        for (int z = -1; z < 2; z++) {
            bool zero = z < 0 ? def != 0 : z == 1;

            guest_reset(g);
            g->hart->units.pmask.bank[1] = 1;
            guest_csrw(g, MODE, APPLY | BASE | def << 3);
            CHECK_ID("CAP-238", (guest_csrr(g, STAT) >> 11 & 1) == def);
            g->hart->x[10] = 7;
            g->hart->x[11] = 8;
            g->hart->x[20] = g->hart->x[21] = 99;
            g->hart->x[22] = g->hart->x[23] = 99;
            guest_csrw(g, 0x7F8, 1 | 1 << 10); /* VL = 2, PBANK = 1 */
            if (z >= 0) {
                guest_ok(g, "svon.fpctl rc=RNE, sae=0, z=%d\n", z);
            }
            guest_ok(g, "svon.blk 2\n add x20, x10, x0\n add x22, x10, x0\n");
            harness_row(z < 0 ? "CAP-024 CAP-040 CAP-238 CAP-501" : "CAP-025 CAP-040 CAP-083");
            CHECK_EQ(g->hart->x[20], 7);
            CHECK_EQ(g->hart->x[21], zero ? 0 : 99);
            CHECK_EQ(g->hart->x[22], 7);
            CHECK_EQ(g->hart->x[23], def != 0 ? 0 : 99); /* the next one: the default again */
            CHECK_ID("CAP-025", (guest_csrr(g, MODE) >> 3 & 1) == def);
        }
    }
    guest_free(g);
}

TEST(one_snapshot_serves_all_lanes, "CAP-032 CAP-009")
{
    struct guest *g = guest_make("full");
    uint64_t first[32];

    for (unsigned pass = 0; pass < 2; pass++) {
        guest_reset(g);
        for (unsigned r = 0; r < 32; r++) {
            g->hart->f[r] = UINT64_C(0xFFFFFFFF3F800000) + r;
        }
        guest_csrw(g, MODE, APPLY | BASE | UINT64_C(1) << 27); /* toward zero */
        g->hart->x[5] = 64;
        /* 64 lanes over overlapping windows; every lane reads what stood there before. */
        guest_ok(g, "svsetvl x0, t0\n svon.one\n fmul.s f7, f8, f9\n");
        for (unsigned r = 0; r < 32; r++) {
            float a, b;
            uint32_t bits_a = 0x3F800000u + (r + 1) % 32, bits_b = 0x3F800000u + (r + 2) % 32;
            double exact;
            float nearest;
            uint32_t bits;

            a = facet_float_of(bits_a);
            memcpy(&b, &bits_b, 4);
            exact = (double)a * b; /* 48 bits: exact */
            nearest = (float)exact;
            bits = facet_float_bits(nearest);
            bits -= (double)nearest > exact;
            CHECK_EQ(g->hart->f[r] & 0xFFFFFFFF, bits);
        }
        if (pass == 0) {
            memcpy(first, g->hart->f, sizeof first);
        }
        CHECK(memcmp(first, g->hart->f, sizeof first) == 0);
    }
    guest_free(g);
}

/* ---- formats and their descriptors ----------------------------------------------------------- */

TEST(descriptors_tell_the_truth_about_formats, "")
{
    static const char *const names[] = {"full", "min"};
    static const struct {
        unsigned number, bit, alt_fmt;
    } bits[] = {{0x7DD, 0, 2}, {0x7DD, 1, 3}, {0x7DD, 2, 1}, {0x7DE, 1, 4}, {0x7DE, 2, 5}};

    for (unsigned c = 0; c < 2; c++) {
        struct guest *g = guest_make(names[c]);

        for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
            harness_row(bits[i].number == 0x7DD ? "CAP-510" : "CAP-512");
            guest_csrw(g, ALT, APPLY | 1 << 30 | (uint64_t)bits[i].alt_fmt << 26);
            CHECK_EQ(guest_csrr(g, STAT) >> 15 & 1,
                     !(guest_csrr(g, bits[i].number) >> bits[i].bit & 1));
            CHECK_EQ(guest_csrr(g, STAT) >> 23 & 1,
                     guest_csrr(g, bits[i].number) >> bits[i].bit & 1);
        }
        harness_row("CAP-514");
        CHECK_EQ(guest_csrr(g, 0x7DE) >> 11 & 1, 0); /* one scale for all channels */
        guest_csrw(g, ALT, APPLY);
        guest_csrw(g, MODE, APPLY | UINT64_C(5) << 40 | 3 << 21 | 2 << 14 | 1 << 5);
        for (unsigned channel = 0; channel < 256; channel++) {
            struct facet_eff eff = facet_prec_eff(&g->hart->units.cap.prec);

            CHECK_EQ(facet_eff_conv(&eff, g->hart->units.cap.zptab, channel).scale, 5);
        }
        if (c == 0) { /* every FP8 code is exact in BF16_LITE and in FP16 */
            harness_row("CAP-511");
            CHECK_EQ(guest_csrr(g, 0x7DD) >> 3 & 7, 7);
            for (unsigned code = 0; code < 512; code++) {
                struct facet_conv from = {.elem = code < 256 ? FACET_FMT_E4M3 : FACET_FMT_E5M2,
                                          .acc = FACET_FMT_FP32};
                struct facet_conv lite = {.elem = FACET_FMT_BF16_LITE, .acc = FACET_FMT_FP32};
                struct facet_conv half = {.elem = FACET_FMT_FP16, .acc = FACET_FMT_FP32};
                unsigned flags = 0;
                uint32_t acc = facet_widen(&from, code & 255, &flags);

                CHECK_EQ(facet_widen(&lite, facet_narrow(&lite, acc, &flags), &flags), acc);
                CHECK_EQ(facet_widen(&half, facet_narrow(&half, acc, &flags), &flags), acc);
                CHECK_EQ(flags & NX, 0);
            }
        }
        guest_free(g);
    }
}

/* ---- discovery and policy are apart -----------------------------------------------------------
 */

/* A program that computes, saturates, masks and stores; a digest of everything it leaves. */
static uint64_t digest(struct guest *g)
{
    uint64_t hash = 0;

    g->hart->units.pmask.bank[1] = 0x35;
    for (unsigned r = 0; r < 32; r++) {
        g->hart->f[r] = UINT64_C(0xFFFFFFFF3F000000) + r * 0x00123457u;
        g->hart->x[r] = r == 0 ? 0 : r * UINT64_C(0x9E3779B97F4A7C15);
    }
    guest_csrw(g, MODE, APPLY | BASE | SAT | FTZ | 1 << 3 | UINT64_C(2) << 27);
    g->hart->x[5] = GUEST_DATA;
    guest_ok(g,
             "mv x28, t0\n"
             "li t1, 0x407\n csrw 0x7F8, t1\n" /* VL = 8, PBANK = 1 */
             "li x29, 200\n"
             "1: svon.blk 4\n fmul.s f8, f9, f10\n fadd.s f16, f8, f17\n"
             "xor x12, x13, x14\n mul x20, x12, x21\n"
             "sd x12, 0(x28)\n fsd f8, 8(x28)\n fsd f16, 16(x28)\n sd x20, 24(x28)\n"
             "addi x28, x28, 32\n addi x29, x29, -1\n bnez x29, 1b\n");
    for (unsigned i = 0; i < 200 * 4; i++) {
        hash = (hash ^ guest_load(g, GUEST_DATA + 8 * i, 8)) * UINT64_C(0x100000001B3);
    }
    for (unsigned r = 0; r < 32; r++) {
        hash = (hash ^ g->hart->x[r]) * UINT64_C(0x100000001B3);
        hash = (hash ^ g->hart->f[r]) * UINT64_C(0x100000001B3);
    }
    return hash ^ guest_csrr(g, STAT) ^ guest_csrr(g, EXC_ST) << 32;
}

TEST(advisory_values_change_no_result, "")
{
    struct guest *g = guest_make("full");
    uint64_t plain = digest(g);

    harness_row("CAP-009");
    CHECK_EQ((guest_reset(g), digest(g)), plain);
    harness_row("CAP-004 CAP-013 CAP-461");
    guest_configure(g, "feat0", 0x5D19 ^ 0x63E7); /* everything but the units that run */
    CHECK(guest_csrr(g, 0x7C5) != (0x5D19 & ~0x408));
    CHECK_EQ(digest(g), plain);
    guest_free(g);
    g = guest_make("full");
    g->config.prec_alu = g->config.prec_fp8 = g->config.prec_intq = 0;
    g->config.prec_hyb = g->config.prec_rt = 0;
    g->config.feat1 ^= 0x7F;
    guest_reset(g);
    harness_row("CAP-004 CAP-315");
    CHECK_EQ(guest_csrr(g, 0x7D8), 0);
    CHECK_EQ(digest(g), plain);
    guest_free(g);
    g = guest_make("prof"); /* another TIER.WAVE */
    CHECK_EQ(facet_cap_set_profile(&g->hart->units, 2, NULL), FACET_OK);
    harness_row("CAP-004 CAP-154");
    CHECK_EQ(guest_csrr(g, 0x7C9), 3);
    CHECK_EQ(digest(g), plain);
    guest_free(g);
}

TEST(policy_changes_results, "CAP-460 CAP-017")
{
    struct guest *g = guest_make("full");
    uint64_t plain, other;

    (void)numeric(g, "fadd.s", ONE, 0x33000000);
    plain = g->hart->f[3];
    guest_csrw(g, MODE, APPLY | BASE | UINT64_C(3) << 27);
    (void)numeric(g, "fadd.s", ONE, 0x33000000);
    other = g->hart->f[3];
    CHECK(plain != other);
    /* No other register of the machine has a say: MTXCFG, MTXSEL, the RSV windows, XMEM policy. */
    for (unsigned number = 0x7E2; number <= 0x831; number++) {
        if (number < 0x7F8 || number >= 0x830) {
            guest_csrw(g, number, UINT64_MAX);
            (void)numeric(g, "fadd.s", ONE, 0x33000000);
            CHECK_EQ(g->hart->f[3], other);
        }
        number = number == 0x7F7 ? 0x82F : number;
    }
    g->hart->frm = 1; /* fcsr neither, in both directions */
    (void)numeric(g, "fadd.s", ONE, 0x33000000);
    CHECK_EQ(g->hart->f[3], other);
    CHECK_EQ(g->hart->fflags, 0);
    guest_free(g);
}

TEST(advisory_values_are_stable, "")
{
    struct guest *g = guest_make("full");
    uint64_t before[32];

    for (unsigned i = 0; i < 32; i++) {
        before[i] = guest_csrr(g, 0x7C0 + i);
    }
    guest_ok(g,
             "li t0, 9000\n li t3, 0x7FFFFFFF\n"
             "1: svon.one\n add x10, x11, x12\n csrw 0x7E2, t3\n csrw 0x7C5, t3\n csrr x9, 0x7C5\n"
             "fcvt.s.w f1, t0\n svon.one\n fmul.s f2, f1, f1\n csrw 0x7C9, t3\n svsetvl x0, 3\n"
             "xor x13, x13, t0\n addi t0, t0, -1\n bnez t0, 1b\n");
    CHECK(g->steps > 100000);
    for (unsigned i = 0; i < 32; i++) {
        if (i < 16 || i >= 24) { /* 0x7D0-0x7D7 is policy and status */
            harness_row(i == 2             ? "CAP-126"
                        : i == 5           ? "CAP-021 CAP-133 CAP-462 CAP-478"
                        : i >= 6 && i < 16 ? "CAP-021 CAP-124 CAP-462 CAP-478"
                                           : "CAP-462 CAP-478");
            CHECK_EQ(guest_csrr(g, 0x7C0 + i), before[i]);
        }
    }
    guest_free(g);
}

TEST(programming_in_any_order_ends_in_the_last_writes, "CAP-471 CAP-473 CAP-475")
{
    struct guest *g = guest_make("full");
    uint64_t instret = 0;

    for (unsigned round = 0; round < 10000; round++) {
        uint64_t x = harness_random();
        unsigned number = 0x7D0 + harness_random() % 0x26;

        x = number <= 0x7D1 ? x & ~(UINT64_C(0x24) | UINT64_C(1) << 29) : x;
        g->hart->x[5] = x;
        guest_ok(g, "csrw 0x%x, t0\n", number);
        g->hart->units.cap.prec.exc_en = 0;
        CHECK(!numeric(g, "fadd.s", ONE, MAX).taken);
        CHECK(g->hart->retired > instret);
        instret = g->hart->retired;
    }
    guest_csrw(g, 0x7F2, 0x1B);
    guest_csrw(g, ALT, APPLY | UINT64_C(0x49C00000));
    guest_csrw(g, EXC_EN, 0x15);
    guest_csrw(g, 0x7F0, 0x1234);
    guest_csrw(g, MODE, APPLY | UINT64_C(0x300000));
    CHECK_EQ(guest_csrr(g, MODE), 0x300000);
    CHECK_EQ(guest_csrr(g, ALT), 0x49C00000);
    CHECK_EQ(guest_csrr(g, EXC_EN), 0x15);
    CHECK_EQ(guest_csrr(g, 0x7F0), 0x1234);
    CHECK_EQ(guest_csrr(g, 0x7F2), 0x1B);
    CHECK_EQ(guest_csrr(g, STAT), 0x81C000A8);
    guest_free(g);
}
