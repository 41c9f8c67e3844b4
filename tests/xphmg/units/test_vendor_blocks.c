/* Instructions of the units inside blocks: whatever they reach - a device, the watched line of
 * HTIF, code, a trap, a lane loop, a jump - and wherever the run is cut, the machine is in the
 * state of one that executes them one by one. */
#include "xphmg/units/jobs_test.h"

/* s2: the time, s3: in front of a loop. Trap handlers go on behind the instruction. */
#define HANDLER                                                                                    \
    "j 1f\n .balign 4\n"                                                                           \
    "h: csrr t2, mcause\n add s11, s11, t2\n bltz t2, 2f\n csrr t2, mepc\n addi t2, t2, 4\n"       \
    "csrw mepc, t2\n mret\n"                                                                       \
    "2: li t2, 0x2004000\n li t3, -1\n sd t3, 0(t2)\n mret\n"                                      \
    "1: la t0, h\n csrw mtvec, t0\n"

static const struct {
    const char *name, *text;
} programs[] = {
    {"the time by loads of XMEM and by matrices",
     "li s2, 0x200bff8\n li s3, 20\n"
     "1: xmem.ldg.d s4, (s2)\n add s5, s5, s4\n mul s6, s5, s3\n mtx.ld s2, 5\n csrr s7, MTX2\n"
     "add s8, s8, s7\n xmem.ldg.wu s9, (s2)\n sub s10, s9, s4\n addi s3, s3, -1\n bnez s3, 1b\n"},
    {"a device that ends the run",
     "li s2, 0x100000\n li s4, 0x5555\n li s3, 3\n"
     "1: addi s3, s3, -1\n bnez s3, 1b\n xmem.stg.w s4, (s2)\n addi s5, s5, 1\n addi s6, s6, 1\n"},
    {"an interrupt that a store of XMEM asks for",
     "li t0, 8\n csrw mie, t0\n li t0, 8\n csrs mstatus, t0\n li s2, 0x2000000\n li s4, 1\n"
     "la t0, 3f\n csrw mtvec, t0\n j 1f\n .balign 4\n"
     "3: csrr s7, mepc\n add s8, s8, s7\n xmem.stg.w x0, (s2)\n mret\n"
     "1: li s3, 5\n"
     "2: addi s5, s5, 1\n xmem.stg.w s4, (s2)\n addi s5, s5, 3\n addi s6, s6, 1\n addi s3, s3, -1\n"
     "bnez s3, 2b\n"},
    {"the timer in the middle of matrices",
     "li t0, 0x80\n csrw mie, t0\n csrsi mstatus, 8\n li t0, 0x2004000\n li t1, 300\n sd t1, "
     "0(t0)\n"
     "li s3, 200\n addi s4, s0, 0x200\n addi s5, s0, 0x240\n addi s6, s0, 0x280\n mtx.ld s4, 5\n"
     "1: mtx.mul s6, s5, 5\n addi s3, s3, -1\n svsetvl s7, 3\n add s8, s8, s7\n bnez s3, 1b\n"},
    {"floats before and behind a matrix",
     "li t0, 0x6000\n csrs mstatus, t0\n csrwi fflags, 1\n li s3, 40\n"
     "addi s4, s0, 0x200\n addi s5, s0, 0x240\n addi s6, s0, 0x280\n mtx.ld s4, 5\n"
     "fcvt.s.w f1, s3\n fcvt.s.w f2, s3\n fcvt.s.w f3, s3\n fcvt.s.w f4, s3\n fcvt.s.w f5, s3\n"
     "fcvt.s.w f6, s3\n fcvt.s.w f7, s3\n fcvt.s.w f8, s3\n fcvt.s.w f9, s3\n fmv.s f10, f9\n"
     "1: fadd.s f1, f1, f2\n fsub.s f3, f3, f4\n fadd.s f5, f5, f6\n fsub.s f7, f7, f8\n"
     "mtx.mul s6, s5, 5\n"
     "fadd.s f9, f9, f1\n fadd.s f9, f9, f3\n fadd.s f10, f10, f5\n fadd.s f10, f10, f7\n"
     "addi s3, s3, -1\n bnez s3, 1b\n"},
    {"traps in blocks",
     "li s3, 10\n li s4, 3\n"
     "1: xmem.ldg.w s5, (s4)\n addi s6, s6, 1\n csrr s7, XIREG\n addi s6, s6, 2\n mtx.ld x0, 5\n"
     "csrw RTSTAT, s3\n rt.bbox a2, x0, 0\n addi s3, s3, -1\n bnez s3, 1b\n"},
    {"branches on predicates",
     "li s3, 30\n li s4, 7\n"
     "1: pcmp.lt.s s3, s4\n bp.t 2f\n addi s5, s5, 1\n pcmp.eq.u s3, s4\n bp.f 3f\n addi s6, s6, "
     "1\n"
     "2: addi s7, s7, 5\n"
     "3: addi s3, s3, -1\n psel s8, s3, s4\n add s9, s9, s8\n bnez s3, 1b\n"},
    {"lanes behind their prefix",
     "li s3, 12\n li x8, 5\n li x9, 6\n svsetvl x0, 4\n"
     "1: svon.one\n nop\n add x20, x8, x9\n svon.one\n fence\n svon.one\n add x20, x20, x8\n"
     "svp.one.vlstep 2, 1, 1\n pmset 1\n mul x24, x20, x9\n svp.one.vlstep 2, 1, 1\n add x20, x8, "
     "x9\n svon.blk 3\n add x20, x20, x9\n"
     "csrr x28, SVSTATE\n svend\n addi s3, s3, -1\n bnez s3, 1b\n"},
    {"code that a store of XMEM writes",
     "la s2, 2f\n lw s4, 0(s2)\n la t0, 4f\n lw s5, 0(t0)\n li s3, 8\n"
     "1: addi s6, s6, 1\n xmem.stg.w s5, (s2)\n addi s6, s6, 1\n"
     "2: addi s7, s7, 1\n xmem.stg.w s4, (s2)\n addi s3, s3, -1\n bnez s3, 1b\n j 3f\n"
     "4: addi s7, s7, 100\n 3: nop\n"},
    {"aims with bits that do not exist, lanes for one instruction and for more",
     "li s3, 9\n li t1, 0x4000\n add t1, t1, s0\n addi t2, t1, 0\n li t3, 0x1000\n add t3, t3, s0\n"
     "li t4, 0x40400000\n sw t4, 12(t3)\n addi t1, t1, 0x80\n li t4, 0x4200\n add t4, t4, s0\n"
     "sd t4, 8(t1)\n"
     "1: ori t4, t2, 0x20\n csrw RTNODE, t4\n svp.one.vlstep 4, 0, 1\n rt.bbox a2, t3, 1\n"
     "csrr s4, RTNODE\n add s5, s5, s4\n csrw RTTRI, t1\n svp.one.vlstep 2, 0, 1\n rt.tri a2, t3\n"
     "svon.blk 3\n rt.tri a2, t3\n rt.bbox a2, t3, 1\n add s6, s6, a2\n csrr s7, SVSTATE\n"
     "svp.one.vlstep 4, 0, 1\n csrw RTNODE, t2\n rt.bbox a2, t3, 1\n csrr s8, RTSTAT\n"
     "rt.tri a2, t3, 1\n addi s3, s3, -1\n bnez s3, 1b\n"},
    {"a ray and a box, policy and flags",
     "li s3, 9\n addi t0, s0, 0x700\n addi t0, t0, 0x700\n li t1, 0x4000\n add t1, t1, s0\n"
     "slli t2, t1, 3\n li t3, 0x1000\n add t3, t3, s0\n csrw RTNODE, t2\n"
     "1: svp.one.vlstep 4, 0, 1\n rt.bbox a2, t3, 1\n csrr s4, RTSTAT\n csrr s5, CAP.PREC.STAT\n"
     "frflags s6\n add s7, s7, a2\n csrrci s8, CAP.PREC.EXC.ST, 1\n addi s3, s3, -1\n bnez s3, "
     "1b\n"},
};

static const struct {
    uint64_t slice;
    bool late;
    uint32_t harts, host_code;
    const char *configuration; /* of a machine without units: they trap */
} cuts[] = {{1, false, 1, 0, NULL},
            {2, false, 1, 1, NULL},
            {7, true, 1, 1, NULL},
            {64, false, 2, 2, NULL},
            {5, true, 2, 0, NULL},
            {100, true, 1, 1, NULL},
            {4096, false, 1, 0, NULL},
            {64, false, 1, 1, "min,feat0=0x8"},
            {4096, false, 1, 1, NULL}};

static void compare(const char *name, const facet_machine *fast, const facet_machine *plain)
{
    struct facet_blob a = {0}, b = {0};

    CHECK_EQ(facet_machine_snapshot(fast, &a, NULL), FACET_OK);
    CHECK_EQ(facet_machine_snapshot(plain, &b, NULL), FACET_OK);
    CHECK_MSG(a.size == b.size && memcmp(a.data, b.data, a.size) == 0,
              "%s, after %llu steps",
              name,
              (unsigned long long)facet_machine_steps(fast));
    facet_blob_free(&a);
    facet_blob_free(&b);
}

TEST(instructions_of_the_units_in_blocks_do_what_single_steps_do, "")
{
    enum { STEPS = 600 };

    for (unsigned p = 0; p < sizeof programs / sizeof programs[0]; p++) {
        for (unsigned c = 0; c < sizeof cuts / sizeof cuts[0] && !harness_failed(); c++) {
            struct facet_xphmg_config config = {.harts = cuts[c].harts,
                                                .quantum = 64,
                                                .instructions_per_tick = 1,
                                                .host_code = cuts[c].host_code,
                                                .configuration = cuts[c].configuration,
                                                .jobs = cuts[c].late ? FACET_XPHMG_JOBS_LATE
                                                                     : FACET_XPHMG_JOBS_NOW};
            facet_machine *fast, *plain;
            char text[4096];

            (void)snprintf(text, sizeof text, HANDLER PREAMBLE "%s" EXIT, programs[p].text);
            fast = make(config, text);
            config.plain = true;
            plain = make(config, text);
            while (facet_machine_steps(plain) < STEPS && !harness_failed()) {
                struct facet_stop a = run(fast, cuts[c].slice), b = run(plain, cuts[c].slice);

                CHECK_EQ(a.reason, b.reason);
                CHECK_EQ(a.steps, b.steps);
                CHECK_EQ(a.pc, b.pc);
                if (facet_machine_steps(fast) % 16 < cuts[c].slice ||
                    a.reason != FACET_STOP_BUDGET) {
                    compare(programs[p].name, fast, plain);
                }
                if (a.reason != FACET_STOP_BUDGET) {
                    break;
                }
            }
            facet_machine_destroy(fast);
            facet_machine_destroy(plain);
        }
    }
}

/* A store to tohost ends the program in front of the next instruction. */
TEST(the_host_sees_a_store_of_xmem_to_tohost_at_once, "")
{
    static const char text[] = ".globl tohost\n la s2, tohost\n li s4, 1\n li s3, 4\n"
                               "1: addi s5, s5, 1\n addi s3, s3, -1\n bnez s3, 1b\n"
                               "xmem.stg.d s4, (s2)\n addi s5, s5, 1\n addi s5, s5, 1\n j 1b\n"
                               ".balign 64\n tohost: .dword 0\n .dword 0\n";

    for (unsigned i = 0; i < 3; i++) {
        facet_machine *machine =
            make((struct facet_xphmg_config){.plain = i == 1, .host_code = i == 2}, text);

        run_to_exit(machine);
        CHECK_EQ(reg(machine, 0, "s5"), 4);
        facet_machine_destroy(machine);
    }
}
