/* What a design under test tells the machine: whose turn it is, what loads and CSR reads give
 * (R-TILE-132), also through a session of facet/cosim.h. */
#include "kernel.h"

#include <facet/cosim.h>
#include <facet/dpi.h>
#include <stdio.h>
#include <string.h>

static void start(struct kernel *k, const char *text, uint32_t cores)
{
    struct facet_error err = {0};

    CHECK(kernel_load(k, k->packet.pc, text));
    k->packet.core_mask = cores;
    CHECK_MSG(facet_tile_dispatch(k->machine, &k->packet, &err) == FACET_OK, "%s", err.message);
}

static void steps(struct kernel *k, uint64_t count)
{
    facet_machine_run(k->machine, &(struct facet_run){.budget = count}, &k->stop);
}

static enum facet_status load(struct kernel *k, uint32_t first, uint32_t last, uint64_t lo)
{
    return facet_tile_next_load(
        k->machine, 0, first, last, (struct facet_value){.lo = lo, .hi = ~lo}, NULL);
}

static struct facet_value vector(struct kernel *k, const char *name)
{
    struct facet_value value = {0};

    CHECK_EQ(facet_machine_reg_read(
                 k->machine, 0, facet_machine_find_reg(k->machine, 0, name), &value, NULL),
             FACET_OK);
    return value;
}

TEST(loads_give_what_was_told, "")
{
    /* With and without the fast ways, with a listener (a step of changes) and without. */
    for (unsigned way = 0; way < 3; way++) {
        struct facet_tile_config config = {.vram = 1 << 20, .plain = way == 1};
        struct facet_change changes[64];
        struct kernel k;
        struct facet_value v1, v2;
        uint32_t left = 9;
        size_t count;

        kernel_open(&k, &config);
        kernel_put(&k, DATA, 0x11111111);
        start(&k,
              "LUI s1, 0x80010\nLB s2, 0(s1)\nLHU s3, 0(s1)\nLW s4, 0(s1)\nLW s5, 0(s1)\n"
              "VLD.V v1, 0(s1)\nAADD s6, s1, (s1)\nVLDX v2, (s1), v0\nEXIT",
              1);
        CHECK_EQ(load(&k, DATA + 4, UINT32_MAX, 99), FACET_OK); /* for nobody here */
        CHECK_EQ(load(&k, DATA, DATA, 0x7FFFFF80), FACET_OK);
        CHECK_EQ(load(&k, 0, UINT32_MAX, 0xABCD8001), FACET_OK);
        CHECK_EQ(load(&k, 0, DATA + 3, 0x12345678), FACET_OK);
        for (unsigned i = 0; way == 2 && i < 4; i++) {
            CHECK_EQ(facet_machine_step_changes(k.machine, changes, 64, &count, &k.stop, NULL),
                     FACET_OK);
        }
        steps(&k, way == 2 ? 1 : 5);
        CHECK_EQ(kernel_reg(&k, 0, "s2"), 0xFFFFFF80);
        CHECK_EQ(kernel_reg(&k, 0, "s3"), 0x8001);
        CHECK_EQ(kernel_reg(&k, 0, "s4"), 0x12345678);
        CHECK_EQ(kernel_reg(&k, 0, "s5"), 0x11111111); /* what is there */
        CHECK_EQ(facet_tile_given(k.machine, 0, true, &left, NULL), FACET_OK);
        CHECK_EQ(left, 1);
        CHECK_EQ(load(&k, DATA, DATA, 0x0123456789ABCDEF), FACET_OK); /* VLD.V takes 16 bytes */
        CHECK_EQ(load(&k, DATA, DATA, 5), FACET_OK);                  /* an atomic its old word */
        for (uint32_t lane = 0; lane < 4; lane++) {
            CHECK_EQ(load(&k, DATA, DATA, 70 + lane), FACET_OK);
        }
        steps(&k, 3);
        v1 = vector(&k, "v1");
        v2 = vector(&k, "v2");
        CHECK_EQ(v1.lo, 0x0123456789ABCDEF);
        CHECK_EQ(v1.hi, ~UINT64_C(0x0123456789ABCDEF));
        CHECK_EQ(v2.lo, UINT64_C(71) << 32 | 70);
        CHECK_EQ(v2.hi, UINT64_C(73) << 32 | 72);
        CHECK_EQ(kernel_reg(&k, 0, "s6"), 5);
        CHECK_EQ(kernel_get(&k, DATA), 5 + 0x80010000);
        kernel_close(&k);
    }
}

TEST(csr_reads_give_what_was_told, "")
{
    struct kernel k;

    kernel_open(&k, NULL);
    start(&k,
          "CSRR s1, time_lo\nADDI s2, s0, 6\nCSRRS s3, vstride, s2\nCSRR s4, vstride\n"
          "CSRR s5, time_lo\nEXIT",
          1);
    CHECK_EQ(facet_tile_next_csr(k.machine, 0, 0x123, 777, NULL), FACET_ERR_USAGE);
    CHECK_EQ(facet_tile_next_csr(k.machine, 0, kernel_word("CSRR s1, time_lo") >> 20, 777, NULL),
             FACET_OK);
    CHECK_EQ(facet_tile_next_csr(k.machine, 0, kernel_word("CSRR s1, vstride") >> 20, 48, NULL),
             FACET_OK);
    steps(&k, 100);
    CHECK_EQ(kernel_reg(&k, 0, "s1"), 777);
    CHECK_EQ(kernel_reg(&k, 0, "s3"), 48);
    CHECK_EQ(kernel_reg(&k, 0, "s4"), 6); /* the register itself, with the bits that were set */
    CHECK_EQ(kernel_reg(&k, 0, "s5"), 4);
    kernel_close(&k);
}

TEST(what_was_told_is_state, "")
{
    struct facet_blob blob = {0};
    struct kernel a, b;
    uint32_t left = 0;

    kernel_open(&a, NULL);
    kernel_open(&b, NULL);
    start(&a, "LUI s1, 0x80010\nLW s2, 0(s1)\nEXIT", 1);
    CHECK_EQ(load(&a, DATA, DATA, 41), FACET_OK);
    CHECK_EQ(facet_machine_snapshot(a.machine, &blob, NULL), FACET_OK);
    CHECK_EQ(facet_machine_restore(b.machine, blob.data, blob.size, NULL), FACET_OK);
    steps(&b, 2);
    CHECK_EQ(kernel_reg(&b, 0, "s2"), 41);
    facet_machine_reset(a.machine);
    CHECK_EQ(facet_tile_given(a.machine, 0, false, &left, NULL), FACET_OK);
    CHECK_EQ(left, 0);
    facet_blob_free(&blob);
    kernel_close(&a);
    kernel_close(&b);
}

TEST(refused, "")
{
    struct facet_error err = {0};
    struct kernel k;

    kernel_open(&k, NULL);
    CHECK_EQ(facet_tile_set_turn(k.machine, 0, &err), FACET_ERR_USAGE);
    CHECK_MSG(strstr(err.message, "no dispatch") != NULL, "%s", err.message);
    CHECK_EQ(facet_tile_set_turn(k.machine, 4, NULL), FACET_ERR_USAGE);
    CHECK_EQ(load(&k, 5, 4, 0), FACET_ERR_USAGE);
    for (unsigned i = 0; i < FACET_TILE_GIVEN_MAX; i++) {
        CHECK_EQ(load(&k, 0, 4, 0), FACET_OK);
    }
    CHECK_EQ(load(&k, 0, 4, 0), FACET_ERR_LIMIT);
    k.packet.columns = 2;
    start(&k, "EXIT", 5);
    CHECK_EQ(facet_tile_set_turn(k.machine, 1, &err), FACET_ERR_USAGE); /* not in the mask */
    CHECK_MSG(strstr(err.message, "no tile left") != NULL, "%s", err.message);
    CHECK_EQ(facet_tile_set_turn(k.machine, 2, NULL), FACET_OK);
    CHECK_EQ(facet_machine_next_core(k.machine), 2);
    kernel_close(&k);
}

TEST(a_core_that_waits_wakes_by_its_turn, "")
{
    struct facet_error err = {0};
    struct kernel k;

    kernel_open(&k, NULL);
    k.packet.columns = 2;
    start(&k, "ADDI s1, s0, 1\nCSRW int_mask, s1\nWFI\nADDI s2, s0, 9\nEXIT", 3);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(facet_tile_set_turn(k.machine, 1, NULL), FACET_OK);
        steps(&k, 1);
    }
    CHECK_EQ(facet_tile_set_turn(k.machine, 1, &err), FACET_ERR_USAGE);
    CHECK_MSG(strstr(err.message, "waits") != NULL, "%s", err.message);
    CHECK_EQ(facet_tile_doorbell(k.machine, 2, NULL), FACET_OK);
    CHECK_EQ(facet_tile_set_turn(k.machine, 1, NULL), FACET_OK);
    steps(&k, 1);
    CHECK_EQ(kernel_reg(&k, 1, "s2"), 9);
    CHECK_EQ(kernel_reg(&k, 0, "s1"), 0); /* has not run at all */
    kernel_close(&k);
}

/* A design with another order of its cores, another clock, and a session that follows it: sums
 * whose order shows, over several tiles. `wrong` breaks one of them. */
static void follow(uint32_t seed, bool wrong)
{
    static const char text[] =
        "CSRR s1, tile_offset\nLUI s4, 0x80010\nADDI s2, s0, 5\n"
        "loop: AADD s3, s2, (s4)\nSW s3, 64(s4)\nMEMBAR\nLW s5, 64(s4)\nCSRR s6, time_lo\n"
        "ADDI s2, s2, -1\nBNE s2, s0, loop\nEXIT\n";
    struct facet_tile_config random = {.vram = 1 << 20, .random = true, .seed = seed};
    const uint32_t time = kernel_word("CSRR s6, time_lo");
    enum facet_cosim_result result = FACET_COSIM_SAME;
    struct facet_change changes[64];
    facet_cosim *cosim = NULL;
    struct kernel a, b;
    uint32_t others = 0;

    kernel_open(&a, NULL);
    kernel_open(&b, &random);
    a.packet.columns = b.packet.columns = 3;
    a.packet.rows = b.packet.rows = 3;
    start(&a, text, 15);
    start(&b, text, 15);
    CHECK_EQ(facet_cosim_create(a.machine, NULL, &cosim, NULL), FACET_OK);
    for (unsigned n = 0; n < 5000 && result == FACET_COSIM_SAME; n++) {
        size_t count;

        others += facet_machine_next_core(a.machine) != facet_machine_next_core(b.machine);
        CHECK_EQ(facet_machine_step_changes(b.machine, changes, 64, &count, &b.stop, NULL),
                 FACET_OK);
        if (b.stop.steps == 0) {
            break;
        }
        for (size_t c = 0; c < count; c++) {
            struct facet_change *change = &changes[c];

            if (change->kind == FACET_CHANGE_REG && change->index == 6) { /* what it read */
                CHECK_EQ(facet_dpi_next_csr(cosim, change->core, time >> 20, change->new_value.lo),
                         0);
            }
            if (wrong && change->kind == FACET_CHANGE_REG && change->index == 3 && n > 200) {
                change->new_value.lo ^= 4;
            }
        }
        CHECK_EQ(facet_cosim_step(cosim, changes, count, &result, NULL), FACET_OK);
    }
    CHECK(others > 50);
    CHECK_MSG(result == (wrong ? FACET_COSIM_DIFFERENT : FACET_COSIM_ENDED),
              "seed %u: %d %s",
              seed,
              (int)result,
              facet_cosim_report(cosim));
    if (wrong) {
        CHECK_MSG(
            strstr(facet_cosim_report(cosim), "AADD s3") != NULL, "%s", facet_cosim_report(cosim));
    }
    facet_cosim_destroy(cosim);
    kernel_close(&b);
}

TEST(a_session_follows_the_order_of_the_design, "")
{
    for (uint32_t seed = 1; seed < 9; seed++) {
        follow(seed, false);
    }
    follow(3, true);
}

/* A core of the design that goes on where the reference has no more tile for it. */
TEST(a_turn_that_cannot_be_is_a_difference, "")
{
    enum facet_cosim_result result = FACET_COSIM_SAME;
    facet_cosim *cosim = NULL;
    struct kernel k;

    kernel_open(&k, NULL);
    start(&k, "NOP\nEXIT", 15);
    CHECK_EQ(facet_cosim_create(k.machine, NULL, &cosim, NULL), FACET_OK);
    CHECK_EQ(facet_cosim_retired(cosim, 2, k.packet.pc, 0, &result, NULL), FACET_OK);
    CHECK_EQ(result, FACET_COSIM_DIFFERENT);
    CHECK_MSG(
        strstr(facet_cosim_report(cosim), "no tile left") != NULL, "%s", facet_cosim_report(cosim));
    facet_cosim_destroy(cosim);
}
