/* Jobs that complete late (R-XM-52): what a program sees before and behind each fence, what is
 * latched at submission and what is read late, order, room, errors, waiting and the end of a run.
 * The results expected are computed by hand (jobs_test.h). */
#include "xphmg/units/jobs_test.h"

#include <facet/lockstep.h>
#include <facet/observer.h>

enum { BUSY = 1, LATEST = 1 << 20, DEPTH = 16 };

static const struct facet_xphmg_config at_once;

/* ---- before and behind fences ------------------------------------------------------------------
 */

enum { RT = 1, MTX = 2, COPY = 4, LDS_COPY = 8 };
static const struct {
    unsigned kind;
    const char *start, *load; /* into a3 */
    uint64_t fresh;
} works[] = {
    {RT, "xsubmit.rt a1, s0\n", "lwu a3, 0x144(s0)\n", 1}, /* tail of the hit queue */
    {MTX, "xsubmit.mtx a1, a0\n", "ld a3, 0x280(s0)\n", PRODUCT},
    {COPY, "xlds.cpy a5, a6, a7, async=1\n", "ld a3, 0(a5)\n", WORDS},
    {LDS_COPY, "mv a5, s1\n xlds.cpy a5, a6, a7, async=1\n", "ld a3, 0(a5)\n", WORDS},
};

/* What each instruction waits for. */
static const struct {
    const char *text;
    unsigned waits;
} fences[] = {
    {"nop\n", 0},
    {"fence rw, rw\n", 0},
    {"fence iorw, iorw\n fence.i\n", 0},
    {"xfence.signal 3\n xfence.waiti 3\n", 0},
    {"xfence.wait x0\n", 0},
    {"xfence.wait a1\n", RT | MTX}, /* copies have no ticket: a1 is 0 */
    {"xmem.cctl.flush a5, a7\n xmem.cctl.inv a5, a7\n", 0},
    {"xfence.pipe RT\n", RT},
    {"xfence.pipe RT, 0\n", RT},
    {"xfence.pipe RT, 4, 1\n", RT | COPY | LDS_COPY},
    {"xfence.pipe MTX\n", MTX},
    {"xfence.pipe MTX, 1, 1\n", MTX | COPY | LDS_COPY},
    {"xfence.pipe ALL, 0, 0\n", RT | MTX},
    {"xfence.pipe ALL, 4, 1\n", RT | MTX | COPY | LDS_COPY},
    {"xlds.bar THREAD\n", LDS_COPY},
    {"xlds.bar SYSTEM\n", LDS_COPY},
    {"gfx.fence 3, 0\n", 0},
    {"gfx.fence 3, 1\n", 0},
    {"gfx.fence 0, 2\n", COPY | LDS_COPY},
    {"gfx.fence 3, 2\n", COPY | LDS_COPY},
    {"gfx.fence 0, 3\n", RT | MTX | COPY | LDS_COPY},
    {"gfx.fence 3, 3\n", RT | MTX | COPY | LDS_COPY},
};

/* a3 of: start, fence, load. */
static uint64_t behind(struct facet_xphmg_config config, unsigned w, unsigned f)
{
    char text[1024];
    facet_machine *machine;
    uint64_t value;

    (void)snprintf(
        text, sizeof text, PREAMBLE "%s%s%s" EXIT, works[w].start, fences[f].text, works[w].load);
    machine = make(config, text);
    run_to_exit(machine);
    value = reg(machine, 0, "a3");
    facet_machine_destroy(machine);
    return value;
}

TEST(each_fence_waits_for_its_own_work,
     "XM-152 XM-153 XM-124 XM-127 XM-128 GFX-227 GFX-228 GFX-230 RT-267 RT-273")
{
    const struct facet_xphmg_config late = {.jobs = FACET_XPHMG_JOBS_LATE};

    for (unsigned w = 0; w < sizeof works / sizeof works[0]; w++) {
        for (unsigned f = 0; f < sizeof fences / sizeof fences[0]; f++) {
            bool waits = (fences[f].waits & works[w].kind) != 0;

            CHECK_MSG(behind(late, w, f) == (waits ? works[w].fresh : 0),
                      "%s%s",
                      works[w].start,
                      fences[f].text);
            CHECK_EQ(behind(at_once, w, f), works[w].fresh);
        }
    }
}

/* Started one after the other; a fence completes those it waits for, and time does not go on for
 * the others: the program that waits for one ticket and reads what the other job writes sees old
 * bytes.
 */
TEST(a_wait_completes_nothing_else, "XM-153")
{
    static const char text[] = PREAMBLE "li s5, 0x200bff8\n"
                                        "xsubmit.mtx a1, a0\n"
                                        "xlds.cpy a5, a6, a7, async=1\n"
                                        "xsubmit.rt a2, s0\n"
                                        "xsubmit.rt a3, s0\n"
                                        "xfence.wait a3\n"
                                        "lwu s2, 0x144(s0)\n"
                                        "ld s3, 0x280(s0)\n"
                                        "ld s4, 0(a5)\n"
                                        "ld s5, 0(s5)\n"
                                        "gfx.fence 0, 2\n"
                                        "ld s6, 0x280(s0)\n"
                                        "ld s7, 0(a5)\n"
                                        "xfence.pipe MTX\n"
                                        "ld s8, 0x280(s0)\n" EXIT;
    facet_machine *machine = make_late(0, text);

    run_to_exit(machine);
    CHECK_EQ(reg(machine, 0, "s2"), 1);
    CHECK_EQ(reg(machine, 0, "s3"), 0);
    CHECK_EQ(reg(machine, 0, "s4"), 0);
    CHECK_EQ(reg(machine, 0, "s5"), 0); /* mtime: some thirty steps */
    CHECK_EQ(reg(machine, 0, "s6"), 0);
    CHECK_EQ(reg(machine, 0, "s7"), WORDS);
    CHECK_EQ(reg(machine, 0, "s8"), PRODUCT);
    facet_machine_destroy(machine);
}

TEST(with_a_seed_the_others_keep_their_time, "XM-153 XM-157")
{
    /* s2: MTX is there behind the wait for RT. The steps left when both were under way say whether
     * it may be: three more steps come before the load. */
    static const char text[] =
        PREAMBLE "xsubmit.mtx a1, a0\n xsubmit.rt a2, s0\n xfence.wait a2\n"
                 "ld s2, 0x280(s0)\n xfence.wait a1\n ld s3, 0x280(s0)\n" EXIT;
    unsigned stale = 0;

    for (uint64_t seed = 1; seed < 40; seed++) {
        facet_machine *machine = make_late(seed, text);
        struct facet_work work;
        uint64_t left = 0;

        for (unsigned i = 0; i < 100 && left == 0; i++) {
            (void)run(machine, 1);
            left = facet_machine_work(machine, 0, &work) && strcmp(work.unit, "mtx") == 0
                       ? work.left
                       : 0;
        }
        run_to_exit(machine);
        CHECK_EQ(reg(machine, 0, "s3"), PRODUCT);
        if (left > 3) {
            CHECK_EQ(reg(machine, 0, "s2"), 0);
            stale++;
        }
        facet_machine_destroy(machine);
    }
    CHECK(stale > 10);
}

/* ---- BUSY --------------------------------------------------------------------------------------
 */

TEST(busy_is_seen_until_the_last_job_is_done, "RT-040 XM-154")
{
    static const char text[] = PREAMBLE "csrr s2, RTSTAT\n"
                                        "xsubmit.rt a1, s0\n"
                                        "csrr s3, RTSTAT\n"
                                        "xsubmit.rt a2, s0\n"
                                        "xfence.wait a1\n"
                                        "csrr s4, RTSTAT\n"
                                        "xfence.wait a2\n"
                                        "csrr s5, RTSTAT\n" EXIT;

    for (uint64_t seed = 0; seed < 2; seed++) {
        facet_machine *machine = make_late(seed * 77, text);

        run_to_exit(machine);
        CHECK_EQ(reg(machine, 0, "s2"), 0);
        CHECK_EQ(reg(machine, 0, "s3"), BUSY); /* no counter has moved */
        CHECK_EQ(reg(machine, 0, "s5") & BUSY, 0);
        CHECK(reg(machine, 0, "s5") != 0);
        if (seed == 0) { /* the wait completes the first alone, which finds the ray */
            CHECK_EQ(reg(machine, 0, "s4"), reg(machine, 0, "s5") | BUSY);
        }
        facet_machine_destroy(machine);
    }
}

TEST(polling_ends, "XM-154")
{
    /* s2 counts the looks at RTSTAT, s3 those at the result of a copy */
    static const char text[] = PREAMBLE "xsubmit.rt a1, s0\n"
                                        "1: addi s2, s2, 1\n"
                                        "csrr t0, RTSTAT\n"
                                        "andi t0, t0, 1\n"
                                        "bnez t0, 1b\n"
                                        "xlds.cpy a5, a6, a7, async=1\n"
                                        "2: addi s3, s3, 1\n"
                                        "ld t0, 0(a5)\n"
                                        "beqz t0, 2b\n" EXIT;
    bool differs = false;
    uint64_t before = 0;

    for (uint64_t seed = 0; seed < 20; seed++) {
        facet_machine *machine = make_late(seed, text);
        uint64_t looks;

        run_to_exit(machine);
        looks = reg(machine, 0, "s2");
        CHECK_EQ(peek(machine, DATA + HITQ + 4, 4), 1);
        CHECK_EQ(peek(machine, DATA + TARGET, 8), WORDS);
        if (seed == 0) {
            CHECK(looks >= LATEST / 4 - 1 && looks <= LATEST / 4 + 1);
            CHECK(reg(machine, 0, "s3") >= LATEST / 3 - 1);
        } else {
            CHECK(looks >= 1 && looks <= (1 << 16) / 4 + 1);
            differs = differs || (seed > 1 && looks != before);
        }
        before = looks;
        facet_machine_destroy(machine);
    }
    CHECK(differs); /* the seed decides */
}

/* ---- what is latched ---------------------------------------------------------------------------
 */

TEST(descriptor_and_registers_are_those_of_the_submission,
     "XM-155 RT-182 CAP-008 CAP-019 CAP-108 CAP-353 CAP-443 CAP-499")
{
    /* everything that the jobs were started with is then changed */
    static const char text[] = PREAMBLE "csrw RTBASE, s0\n" /* the descriptor does not need it */
                                        "xsubmit.rt a1, s0\n"
                                        "xsubmit.mtx a2, a0\n"
                                        "li t0, 0x80\n"
                                        "1: addi t0, t0, -8\n"
                                        "add t1, s0, t0\n"
                                        "sd x0, 0(t1)\n"   /* XPHMG_RT_DESC */
                                        "sd x0, 128(t1)\n" /* XPHMG_MTX_DESC */
                                        "bnez t0, 1b\n"
                                        "li t0, 0x8000000000600000\n"
                                        "csrw CAP.PREC.MODE, t0\n" /* INT8 */
                                        "li t0, 3\n"
                                        "csrw CAP.XMEM.DOM, t0\n"
                                        "li t0, 0x1F\n"
                                        "csrw CAP.PREC.EXC.EN, t0\n"
                                        "li t0, 1\n"
                                        "csrw MTXCFG, t0\n"
                                        "li t0, 0xFF00\n"
                                        "csrw RTCFG, t0\n"
                                        "xfence.wait a1\n"
                                        "xfence.wait a2\n" EXIT;

    for (uint64_t seed = 0; seed < 5; seed++) {
        facet_machine *machine = make_late(seed, text);

        run_to_exit(machine);
        CHECK_EQ(peek(machine, DATA + HITQ + 4, 4), 1);
        CHECK_EQ(peek(machine, DATA + HITS, 8), 0x500);
        CHECK_EQ(peek(machine, DATA + HITS + 16, 4), 0x3F800000); /* t = 1 */
        CHECK_EQ(peek(machine, DATA + VOUT, 8), PRODUCT);
        CHECK_EQ(csr(machine, 0, "CAP.XMEM.DOM"), 3); /* and these stay as they were written */
        CHECK_EQ(csr(machine, 0, "CAP.PREC.EXC.EN"), 0x1F);
        CHECK_EQ(csr(machine, 0, "CAP.PREC.MODE"), 0x600000);
        facet_machine_destroy(machine);
    }
}

TEST(memory_is_read_late, "XM-155")
{
    /* The program spoils its inputs too early: the vector, the source, and it queues a second ray.
     */
    static const char text[] = PREAMBLE "xsubmit.rt a1, s0\n"
                                        "xsubmit.mtx a2, a0\n"
                                        "xlds.cpy a5, a6, a7, async=1\n"
                                        "sd x0, 0x240(s0)\n"
                                        "sd s0, 0x300(s0)\n"
                                        "li t0, 2\n"
                                        "sw t0, 0x104(s0)\n"
                                        "gfx.fence 3, 3\n" EXIT;
    facet_machine *machine = make_late(0, text);

    run_to_exit(machine);
    CHECK_EQ(peek(machine, DATA + VOUT, 8), 0);
    CHECK_EQ(peek(machine, DATA + TARGET, 8), DATA);
    CHECK_EQ(peek(machine, DATA + HITQ + 4, 4), 2);
    facet_machine_destroy(machine);
    machine = make(at_once, text);
    run_to_exit(machine);
    CHECK_EQ(peek(machine, DATA + VOUT, 8), PRODUCT);
    CHECK_EQ(peek(machine, DATA + TARGET, 8), WORDS);
    CHECK_EQ(peek(machine, DATA + HITQ + 4, 4), 1);
    facet_machine_destroy(machine);
}

/* ---- errors ------------------------------------------------------------------------------------
 */

TEST(errors_come_with_the_completion, "XM-156 RT-083 RT-277 XM-102")
{
    /* vin, the hit queue and the source of a copy lie where no memory is */
    static const char text[] = PREAMBLE "li t0, 0x10\n"
                                        "sd t0, 0x88(s0)\n"
                                        "sd t0, 0x10(s0)\n"
                                        "mv a6, t0\n"
                                        "xsubmit.rt a1, s0\n"
                                        "xsubmit.mtx a2, a0\n"
                                        "xlds.cpy a5, a6, a7, async=1\n"
                                        "csrr s2, RTSTAT\n"
                                        "csrr s3, MTXSTAT\n"
                                        "csrr s4, CAP.XMEM.EVENTS\n"
                                        "gfx.fence 3, 2\n"
                                        "csrr s5, CAP.XMEM.EVENTS\n"
                                        "xfence.pipe ALL\n"
                                        "csrr s6, RTSTAT\n"
                                        "csrr s7, MTXSTAT\n"
                                        "csrr s8, CAP.XMEM.EVENTS\n" EXIT;
    facet_machine *machine = make_late(0, text);

    run_to_exit(machine);
    CHECK_EQ(reg(machine, 0, "s2"), BUSY);
    CHECK_EQ(reg(machine, 0, "s3"), 0);
    CHECK_EQ(reg(machine, 0, "s4"), 0);
    CHECK_EQ(reg(machine, 0, "s5") >> 3 & 1, 1); /* DMA_ERR */
    CHECK_EQ(reg(machine, 0, "s6") & 0xFF, 3 << 2 | 2);
    CHECK_EQ(reg(machine, 0, "s7") >> 56, 5);
    CHECK_EQ(reg(machine, 0, "s8") & 9, 9); /* and INV_MISS */
    facet_machine_destroy(machine);
}

/* ---- order and room ----------------------------------------------------------------------------
 */

TEST(a_queue_completes_in_order, "XM-157 XM-148 RT-270 RT-271 RT-272")
{
    /* Copies from place to place, each of which needs the one before; five jobs of RT, then a wait
     * for the last alone; a6 = its ticket. */
    static const char text[] = PREAMBLE "xlds.cpy a5, a6, a7, async=1\n"
                                        "xlds.cpy s1, a5, a7, async=1\n"
                                        "addi t1, s0, 0x348\n"
                                        "xlds.cpy t1, s1, a7, async=1\n"
                                        "xlds.bar WG\n" /* the last one reads the LDS */
                                        "ld s5, 0x348(s0)\n"
                                        "li s2, 5\n"
                                        "1: lwu t0, 0x104(s0)\n"
                                        "xsubmit.rt a6, s0\n"
                                        "xsubmit.mtx a2, a0\n"
                                        "addi s2, s2, -1\n"
                                        "bnez s2, 1b\n"
                                        "xfence.wait a6\n"
                                        "lwu s3, 0x144(s0)\n"
                                        "csrr s4, RTSTAT\n" EXIT;

    for (uint64_t seed = 0; seed < 30; seed++) {
        facet_machine *machine = make_late(seed, text);

        poke(machine, DATA + RAYQ + 4, 4, 3); /* the first job finds three rays, the others none */
        run_to_exit(machine);
        CHECK_EQ(reg(machine, 0, "a6"), UINT64_C(1) << 56 | 5);
        CHECK_EQ(reg(machine, 0, "s3"), 3);
        CHECK_EQ(reg(machine, 0, "s4") & BUSY, 0);
        CHECK_EQ(reg(machine, 0, "s5"), WORDS);
        for (unsigned i = 0; i < 3; i++) {
            CHECK_EQ(peek(machine, DATA + HITS + 32 * i, 8), 0x500 + i);
        }
        facet_machine_destroy(machine);
    }
}

TEST(units_overtake_each_other_by_seed, "RT-274 XM-157")
{
    /* which of two jobs is seen first: s2 = 1 RT, 2 MTX */
    static const char text[] = PREAMBLE "xsubmit.rt a1, s0\n"
                                        "xsubmit.mtx a2, a0\n"
                                        "1: lwu t0, 0x144(s0)\n"
                                        "ld t1, 0x280(s0)\n"
                                        "snez t1, t1\n"
                                        "slli t1, t1, 1\n"
                                        "or s2, t0, t1\n"
                                        "beqz s2, 1b\n"
                                        "xfence.pipe ALL\n" EXIT;
    unsigned seen[4] = {0};

    for (uint64_t seed = 1; seed < 40; seed++) {
        facet_machine *machine = make_late(seed, text);

        run_to_exit(machine);
        seen[reg(machine, 0, "s2") & 3]++;
        CHECK_EQ(peek(machine, DATA + HITQ + 4, 4), 1);
        CHECK_EQ(peek(machine, DATA + VOUT, 8), PRODUCT);
        facet_machine_destroy(machine);
    }
    CHECK(seen[1] > 0 && seen[2] > 0);
}

TEST(a_full_queue_holds_the_hart, "XM-158")
{
    /* 40 copies of eight bytes each to rising addresses, no fence between them */
    static const char text[] = PREAMBLE "li s2, 40\n"
                                        "li a5, 0x80060000\n"
                                        "1: xlds.cpy a5, a6, a7, async=1\n"
                                        "addi a5, a5, 8\n"
                                        "addi s2, s2, -1\n"
                                        "bnez s2, 1b\n"
                                        "nop\n"
                                        "xfence.pipe ALL, 4, 1\n" EXIT;
    facet_machine *machine = make_late(0, text);
    uint32_t most = 0;

    while (reg(machine, 0, "s2") != 0 || most == 0) {
        uint32_t now;

        CHECK_EQ(run(machine, 1).reason, FACET_STOP_BUDGET);
        now = jobs_left(machine);
        most = now > most ? now : most;
        if (harness_failed()) {
            break;
        }
    }
    CHECK_EQ(most, DEPTH);
    run_to_exit(machine);
    for (unsigned i = 0; i < 40; i++) {
        CHECK_EQ(peek(machine, 0x80060000 + 8 * i, 8), WORDS);
    }
    CHECK_EQ(peek(machine, 0x80060000 + 8 * 40, 8), 0);
    facet_machine_destroy(machine);
}

/* ---- waiting, and the end ----------------------------------------------------------------------
 */

TEST(while_one_hart_waits_the_other_goes_on, "XM-159")
{
    /* hart 1 counts until the hit is there; hart 0 stands at its wait all the time */
    static const char text[] = PREAMBLE "csrr t0, mhartid\n"
                                        "bnez t0, 1f\n"
                                        "xsubmit.rt a1, s0\n"
                                        "xfence.wait a1\n"
                                        "lwu s3, 0x144(s0)\n"
                                        "xfence.waiti 1\n" EXIT "1: addi s2, s2, 1\n"
                                        "lwu t0, 0x144(s0)\n"
                                        "beqz t0, 1b\n"
                                        "xfence.signal 1\n"
                                        "2: j 2b\n";
    struct facet_xphmg_config config = {.harts = 2, .quantum = 64, .jobs = FACET_XPHMG_JOBS_LATE};
    facet_machine *machine = make(config, text);
    uint64_t retired;

    CHECK_EQ(run(machine, 2000).reason, FACET_STOP_BUDGET);
    retired = facet_machine_retired(machine, 0);
    CHECK_EQ(run(machine, 2000).reason, FACET_STOP_BUDGET);
    CHECK_EQ(facet_machine_retired(machine, 0), retired);
    CHECK_EQ(jobs_left(machine), 1);
    CHECK_EQ(csr(machine, 0, "RTSTAT") & BUSY, BUSY); /* of the hart that submitted it */
    CHECK_EQ(csr(machine, 1, "RTSTAT") & BUSY, 0);
    run_to_exit(machine);
    CHECK_EQ(reg(machine, 0, "s3"), 1);
    CHECK(reg(machine, 1, "s2") > LATEST / 8);
    facet_machine_destroy(machine);
}

TEST(a_fence_waits_for_its_own_hart_only, "XM-153")
{
    /* hart 1 fences right after hart 0 has submitted: nothing to wait for */
    static const char text[] = PREAMBLE "csrr t0, mhartid\n"
                                        "bnez t0, 1f\n"
                                        "xsubmit.mtx a1, a0\n"
                                        "xfence.signal 1\n"
                                        "2: j 2b\n"
                                        "1: xfence.waiti 1\n"
                                        "xfence.pipe ALL, 4, 1\n"
                                        "gfx.fence 3, 3\n"
                                        "ld s2, 0x280(s0)\n"
                                        "li t0, 0x0200000000000001\n"
                                        "xfence.wait t0\n" /* a ticket is anybody's */
                                        "ld s3, 0x280(s0)\n" EXIT;
    struct facet_xphmg_config config = {.harts = 2, .quantum = 64, .jobs = FACET_XPHMG_JOBS_LATE};
    facet_machine *machine = make(config, text);

    run_to_exit(machine);
    CHECK_EQ(reg(machine, 1, "s2"), 0);
    CHECK_EQ(reg(machine, 1, "s3"), PRODUCT);
    facet_machine_destroy(machine);
}

TEST(the_end_leaves_jobs_undone, "XM-160")
{
    facet_machine *machine = make_late(0, PREAMBLE "xsubmit.mtx a1, a0\n" EXIT);
    struct facet_work work;

    run_to_exit(machine);
    CHECK_EQ(peek(machine, DATA + VOUT, 8), 0);
    CHECK_EQ(jobs_left(machine), 1);
    CHECK(facet_machine_work(machine, 0, &work));
    CHECK_EQ(work.core, 0);
    CHECK(strcmp(work.unit, "mtx") == 0);
    CHECK_EQ(work.id, UINT64_C(2) << 56 | 1);
    CHECK_EQ(work.address, DATA + MTX_DESC);
    CHECK(work.left > LATEST - 20 && work.left < LATEST);
    run_to_exit(machine); /* for ever */
    CHECK_EQ(jobs_left(machine), 1);
    facet_machine_reset(machine);
    CHECK_EQ(jobs_left(machine), 0);
    facet_machine_destroy(machine);
}

TEST(idle_machines_finish_their_jobs_first, "XM-160 XM-150")
{
    facet_machine *machine =
        make_late(0, PREAMBLE "xsubmit.mtx a1, a0\n xsubmit.rt a2, s0\n 1: wfi\n j 1b\n");
    struct facet_xphmg_fault fault;
    struct facet_stop stop;

    CHECK_EQ(run(machine, 1000).reason, FACET_STOP_IDLE);
    CHECK_EQ(jobs_left(machine), 0);
    CHECK_EQ(peek(machine, DATA + VOUT, 8), PRODUCT);
    CHECK_EQ(csr(machine, 0, "RTSTAT") & BUSY, 0);
    facet_machine_destroy(machine);
    /* a ticket that nobody was given is still a deadlock, behind the jobs that there are */
    machine = make_late(0, PREAMBLE "xsubmit.mtx a1, a0\n addi a1, a1, 1\n xfence.wait a1\n" EXIT);
    stop = run(machine, 1000);
    CHECK_EQ(stop.reason, FACET_STOP_FAULT);
    CHECK(facet_xphmg_get_fault(machine, &fault, NULL) == FACET_OK &&
          fault.cause == FACET_XPHMG_DEADLOCK);
    CHECK_EQ(fault.value, UINT64_C(2) << 56 | 2);
    CHECK_EQ(peek(machine, DATA + VOUT, 8), PRODUCT);
    facet_machine_destroy(machine);
}

TEST(interrupts_are_taken_at_a_wait, "XM-159")
{
    /* hart 1 keeps the time going; the timer goes off long before the job is due, and its handler
     * counts and sets the next */
    static const char text[] =
        PREAMBLE "csrr t0, mhartid\n 1: bnez t0, 1b\n"
                 "la t0, handler\n csrw mtvec, t0\n li s3, 0x2004000\n li t1, 50\n"
                 "sd t1, 0(s3)\n li t1, 0x80\n csrw mie, t1\n csrsi mstatus, 8\n"
                 "xsubmit.mtx a1, a0\n xfence.wait a1\n csrci mstatus, 8\n"
                 "ld s4, 0x280(s0)\n" EXIT ".align 2\n"
                 "handler: ld t1, 0(s3)\n addi t1, t1, 1000\n sd t1, 0(s3)\n"
                 "addi s2, s2, 1\n ld t2, 0x280(s0)\n snez t2, t2\n add s5, s5, t2\n mret\n";
    struct facet_xphmg_config config = {.harts = 2, .jobs = FACET_XPHMG_JOBS_LATE};
    facet_machine *machine = make(config, text);

    run_to_exit(machine);
    CHECK_EQ(reg(machine, 0, "s4"), PRODUCT);
    CHECK_EQ(reg(machine, 0, "s2"), 6); /* 2^20 steps of two harts are 5242 ticks */
    CHECK(reg(machine, 0, "s5") <= 1);  /* and the job was not done meanwhile */
    facet_machine_destroy(machine);
}

/* ---- what listeners hear -----------------------------------------------------------------------
 */

struct heard {
    char text[4096];
    size_t length;
};

static void hear(struct heard *heard, const char *what, uint64_t value)
{
    heard->length += (size_t)snprintf(heard->text + heard->length,
                                      sizeof heard->text - heard->length,
                                      "%s%s %llx",
                                      heard->length > 0 ? ", " : "",
                                      what,
                                      (unsigned long long)value);
}

static void hear_unit(void *context, const struct facet_unit_event *event)
{
    if (strcmp(event->what, "submit") == 0 || strcmp(event->what, "start") == 0 ||
        strcmp(event->what, "done") == 0) {
        hear(context, event->unit, 0);
        hear(context, event->what, event->values[0]);
        if (strcmp(event->what, "done") == 0) {
            hear(context, "error", event->values[1]);
        }
    }
}

static void hear_store(void *context, const struct facet_memory_event *event)
{
    if (event->write && event->address >= DATA) {
        hear(context, "store", event->address - DATA);
    }
}

static void hear_retire(void *context, const struct facet_retire_event *event)
{
    hear(context, "retire", event->pc - CODE);
}

TEST(traces_show_when_a_job_starts_and_ends, "XM-161")
{
    static const char text[] = "j 1f\n.align 6\n1: xsubmit.mtx a1, a0\n nop\n xfence.wait a1\n"
                               "nop\n" EXIT;
    facet_machine *machine = make_late(0, text);
    struct heard heard = {.length = 0};
    struct facet_observer observer = {
        .context = &heard, .retire = hear_retire, .memory = hear_store, .unit = hear_unit};
    struct facet_value a0 = {DATA + MTX_DESC, 0}, mode = {UINT64_C(0x8000000000300000), 0};

    CHECK_EQ(facet_machine_reg_write(machine, 0, 10, a0, NULL), FACET_OK);
    CHECK_EQ(facet_machine_csr_write(
                 machine, 0, facet_machine_find_csr(machine, 0, "CAP.PREC.MODE"), mode, NULL, NULL),
             FACET_OK);
    (void)run(machine, 1);
    facet_machine_observe(machine, &observer);
    (void)run(machine, 4);
    CHECK_MSG(strcmp(heard.text,
                     "mtx 0, submit 200000000000001, retire 40, retire 44, "
                     "mtx 0, start 200000000000001, store 280, store 284, "
                     "mtx 0, done 200000000000001, error 0, retire 48, retire 4c") == 0,
              "%s",
              heard.text);
    facet_machine_destroy(machine);
}

TEST(lockstep_has_the_effects_in_the_step_of_the_wait, "XM-161")
{
    static const char text[] = PREAMBLE "xsubmit.rt a1, s0\n nop\n nop\n xfence.wait a1\n" EXIT;
    facet_machine *machine = make_late(0, text);
    struct facet_change changes[64];
    struct facet_stop stop;
    unsigned with_memory = 0;
    bool busy_set = false, busy_cleared = false;

    for (unsigned i = 0; i < 60 && with_memory == 0; i++) {
        size_t count = 0;
        uint64_t word = 0;

        CHECK_EQ(facet_machine_step_changes(machine, changes, 64, &count, &stop, NULL), FACET_OK);
        for (size_t k = 0; k < count; k++) {
            bool rtstat = changes[k].kind == FACET_CHANGE_CSR &&
                          changes[k].index == facet_machine_find_csr(machine, 0, "RTSTAT");

            word = changes[k].kind == FACET_CHANGE_RETIRE ? changes[k].new_value.lo : word;
            with_memory += changes[k].kind == FACET_CHANGE_MEMORY;
            busy_set = busy_set || (rtstat && changes[k].new_value.lo == BUSY);
            busy_cleared = busy_cleared || (rtstat && (changes[k].new_value.lo & BUSY) == 0);
        }
        if (with_memory > 0) {
            CHECK_EQ(word & 0xFFF07FFF, 0x5000707B); /* xfence.wait */
        }
    }
    CHECK(with_memory >= 3); /* the entry and two queue indexes */
    CHECK(busy_set && busy_cleared);
    facet_machine_destroy(machine);
}

TEST(a_watchpoint_sees_a_job_write, "XM-161")
{
    static const char text[] = PREAMBLE "xsubmit.mtx a1, a0\n nop\n xfence.wait a1\n nop\n" EXIT;
    const struct facet_watch watch = {
        .core = FACET_ANY_CORE, .address = DATA + VOUT, .size = 8, .on_write = true};
    facet_machine *machine = make_late(0, text);
    struct facet_stop stop;

    CHECK_EQ(facet_machine_watch_add(machine, &watch, NULL, NULL), FACET_OK);
    stop = run(machine, 1000);
    CHECK_EQ(stop.reason, FACET_STOP_WATCHPOINT);
    CHECK_EQ(stop.address, DATA + VOUT);
    CHECK_EQ(peek(machine, DATA + VOUT, 8), PRODUCT);
    facet_machine_destroy(machine);
}
