/* Kernels whose cycles can be worked out by hand, on a model with round numbers: what an
 * instruction costs, what waits for what, what memory and its caches add. Each expectation stands
 * beside its sum. */
#include "../tile/kernel.h"
#include "harness.h"

#include "timing/collect.h"

#include <stdio.h>

/* A memory that takes 100 cycles and one more for each line; 4 lines under way. */
#define BASIC                                                                                      \
    "tile.system = 1 1 0\n"                                                                        \
    "tile.memory_latency = 100\n"                                                                  \
    "tile.memory_bandwidth = 64\n"

static struct kernel k;

static struct timing_model model_of(const char *text)
{
    struct timing_model model;
    struct facet_error err = {0};

    CHECK_MSG(
        timing_parse("test", text, strlen(text), &model, &err) == FACET_OK, "%s", err.message);
    return model;
}

/* What a run of the kernel took: the only segment, and its first two cores. */
struct took {
    uint64_t cycles;
    struct timing_core_report core[2];
};

static struct took time_kernel(const char *model_text, const char *code, uint32_t tiles)
{
    const struct timing_model model = model_of(model_text);
    timing_collector *c = timing_collector_create(k.machine, FACET_ISA_TILE, &model);
    struct took took = {0};
    size_t count;
    const struct timing_segment *s;

    CHECK(c != NULL);
    facet_machine_observe(k.machine, timing_collector_observer(c));
    if (tiles == 1) {
        kernel_exec(&k, code);
    } else {
        k.packet.columns = tiles;
        if (kernel_load(&k, k.packet.pc, code)) {
            kernel_run(&k);
        }
        k.packet.columns = 1;
    }
    facet_machine_observe(k.machine, NULL);
    CHECK(timing_collector_stop(c));
    s = timing_collector_segments(c, &count);
    CHECK_EQ(count, 1);
    if (count == 1) {
        took.cycles = s->cycles;
        memcpy(took.core, s->cores, sizeof took.core);
    }
    timing_collector_free(c);
    for (unsigned i = 0; i < 2; i++) { /* every cycle is counted once */
        uint64_t sum = 0;

        for (unsigned r = 0; r < TIMING_REASONS; r++) {
            sum += took.core[i].reason[r];
        }
        CHECK_EQ(sum, took.core[i].cycles);
    }
    return took;
}

/* The line `count` times, its %u being the number. */
static const char *times(unsigned count, const char *line, unsigned first, unsigned step)
{
    static char text[4096];
    size_t at = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < count; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, line, first + i, i * step);
        at += (size_t)snprintf(text + at, sizeof text - at, "\n");
    }
    return text;
}

static void open_kernel(void)
{
    kernel_open(&k, NULL);
    k.s[1] = DATA;
}

TEST(a_chain_takes_its_latency_for_each_link, "")
{
    struct took took;

    open_kernel();
    /* 10 instructions of 7 cycles, one after the other, and EXIT. */
    took = time_kernel(BASIC "tile.scalar = 7 1 0\n", times(10, "ADDI s2, s2, 1", 0, 0), 1);
    CHECK_EQ(took.cycles, 10 * 7 + 1);
    CHECK_EQ(took.core[0].limit, TIMING_DEPENDENCY);
    CHECK_EQ(took.core[0].reason[TIMING_ISSUE], 11);
    CHECK_EQ(took.core[0].reason[TIMING_DEPENDENCY], 10 * 6);
    CHECK_EQ(took.core[0].instructions, 11);
    took = time_kernel(BASIC "tile.scalar = 7 1 0\n",
                       "ADDI s2, s3, 1\nADDI s4, s2, 1\nADDI s5, s4, 1\nADDI s6, s5, 1",
                       1);
    CHECK_EQ(took.cycles, 4 * 7 + 1);
    /* MAC reads its own destination, so it is a chain as well; MUL of other registers is none. */
    took = time_kernel(BASIC "tile.multiply = 9 1 0\n", times(10, "MAC s2, s3, s3", 0, 0), 1);
    CHECK_EQ(took.cycles, 10 * 9 + 1);
    took = time_kernel(BASIC "tile.multiply = 9 1 0\n", times(10, "MUL s%u, s3, s3", 4, 0), 1);
    CHECK_EQ(took.cycles, 9 + 9 + 1); /* the last one issues in cycle 9 */
    /* Results come in order: the second one waits to write what the first one writes. */
    took = time_kernel(BASIC "tile.multiply = 9 1 0\n", "MUL s2, s3, s3\nMUL s2, s4, s4", 1);
    CHECK_EQ(took.cycles, 2 * 9 + 1);
    /* s0 is no register that anything waits for. */
    took = time_kernel(BASIC "tile.multiply = 9 1 0\n", times(10, "MUL s0, s0, s0", 0, 0), 1);
    CHECK_EQ(took.cycles, 9 + 9 + 1);
    kernel_close(&k);
}

TEST(independent_instructions_take_the_issue_rate, "")
{
    struct took took;

    open_kernel();
    took = time_kernel(BASIC, times(16, "ADDI s%u, s1, 1", 4, 0), 1);
    CHECK_EQ(took.cycles, 16 + 1);
    CHECK_EQ(took.core[0].limit, TIMING_ISSUE);
    took = time_kernel(BASIC "tile.issue = 3\n", times(16, "ADDI s%u, s1, 1", 4, 0), 1);
    CHECK_EQ(took.cycles, (16 + 1) * 3);
    kernel_close(&k);
}

TEST(a_unit_takes_its_interval_and_its_depth, "")
{
    struct took took;

    open_kernel();
    /* Issued in cycles 0, 5, ..., 45; the last one is done 8 later. */
    took = time_kernel(BASIC "tile.vector = 8 5 0\n", times(10, "VADD.F32 v%u, v1, v2", 3, 0), 1);
    CHECK_EQ(took.cycles, 45 + 8 + 1);
    CHECK_EQ(took.core[0].limit, TIMING_UNIT);
    CHECK_EQ(took.core[0].unit, TIMING_TILE_VECTOR);
    CHECK_EQ(took.core[0].busy[TIMING_TILE_VECTOR], 50);
    /* Two at a time: 0, 1, 8, 9, 16, ..., 33, and the last is done in 41. */
    took = time_kernel(BASIC "tile.vector = 8 1 2\n", times(10, "VADD.F32 v%u, v1, v2", 3, 0), 1);
    CHECK_EQ(took.cycles, 33 + 8 + 1);
    kernel_close(&k);
}

TEST(taken_branches_lose_cycles, "")
{
    struct took took;

    open_kernel();
    k.s[2] = 10;
    /* ADDI, the branch a cycle later, 2 lost: 4 for each of nine; the last one falls through. */
    took = time_kernel(BASIC, "loop: ADDI s2, s2, -1\nBNE s2, s0, loop", 1);
    CHECK_EQ(took.cycles, 9 * 4 + 2 + 1);
    CHECK_EQ(took.core[0].reason[TIMING_BRANCH], 9 * 2);
    kernel_close(&k);
}

TEST(loads_wait_for_their_line, "")
{
    struct took took;

    open_kernel();
    took = time_kernel(BASIC, "LW s2, 0(s1)", 1);
    CHECK_EQ(took.cycles, 101 + 1);
    CHECK_EQ(took.core[0].reason[TIMING_MEMORY], 100);
    CHECK_EQ(took.core[0].limit, TIMING_MEMORY);
    /* The second word comes with the same line. */
    took = time_kernel(BASIC, "LW s2, 0(s1)\nLW s3, 4(s1)", 1);
    CHECK_EQ(took.cycles, 101 + 1);
    /* Once it is there, a load takes its own 3 cycles. */
    took = time_kernel(BASIC, "LW s2, 0(s1)\nADDI s2, s2, 0\nLW s3, 4(s1)", 1);
    CHECK_EQ(took.cycles, 101 + 1 + 3 + 1);
    /* A pointer chase: the address comes out of the load before. */
    k.s[1] = DATA;
    kernel_put(&k, DATA, DATA + 256);
    kernel_put(&k, DATA + 256, DATA + 512);
    took = time_kernel(BASIC, "LW s2, 0(s1)\nLW s2, 0(s2)\nLW s2, 0(s2)", 1);
    CHECK_EQ(took.cycles, 3 * 101 + 1);
    /* A barrier forgets the line. */
    took = time_kernel(BASIC, "LW s2, 0(s1)\nMEMBAR\nLW s3, 4(s1)", 1);
    CHECK_EQ(took.cycles, 101 + 1 + 101 + 1);
    /* Scratch memory is no line of memory. */
    k.s[4] = SCRATCH;
    k.packet.shared_size = 64;
    took = time_kernel(BASIC, "LW s2, 0(s4)", 1);
    CHECK_EQ(took.cycles, 3 + 1);
    k.packet.shared_size = 0;
    kernel_close(&k);
}

TEST(outstanding_lines_limit_independent_loads, "")
{
    struct took took;

    open_kernel();
    /* Four at a time: the line of load 4j + r is there in cycle r + 101 (j + 1). */
    took = time_kernel(BASIC, times(16, "LW.L s%u, %u(s1)", 4, 64), 1);
    CHECK_EQ(took.cycles, 3 + 101 * 4 + 1);
    CHECK_EQ(took.core[0].limit, TIMING_OUTSTANDING);
    /* With room for all they come one after the other: load k in k + 101. */
    took = time_kernel(BASIC "tile.outstanding = 16\n", times(16, "LW.L s%u, %u(s1)", 4, 64), 1);
    CHECK_EQ(took.cycles, 15 + 101 + 1);
    /* A gather of four lines is four lines. */
    k.v[2] = (union vec){.w = {0, 64, 128, 192}};
    took = time_kernel(BASIC "tile.outstanding = 1\n", "VLDX v1, (s1), v2", 1);
    CHECK_EQ(took.cycles, 4 * 101 + 1);
    kernel_close(&k);
}

TEST(a_copy_takes_what_memory_can_move, "")
{
    char code[4096];
    struct took took;

    open_kernel();
    k.s[2] = DATA + 4096;
    (void)snprintf(code, sizeof code, "%s", times(16, "LW.L s%u, %u(s1)", 4, 64));
    (void)snprintf(code + strlen(code),
                   sizeof code - strlen(code),
                   "%s",
                   times(16, "SW.L s%u, %u(s2)", 4, 64));
    /* A line takes 16 cycles. Load k's comes in 16 k + 26; the stores follow, the last one in 266;
     * EXIT, a cycle later, sends 16 lines back. */
    took = time_kernel("tile.system = 1 1 0\ntile.memory_bandwidth = 4\ntile.memory_latency = 10\n"
                       "tile.outstanding = 16\n",
                       code,
                       1);
    CHECK_EQ(took.cycles, 16 * 15 + 26 + 1 + 16 * 16);
    CHECK_EQ(took.core[0].limit, TIMING_BANDWIDTH);
    /* 15 for every store but the first; the lines of EXIT, but for the cycle that it issues in. */
    CHECK_EQ(took.core[0].reason[TIMING_BANDWIDTH], 15 * 15 + 16 * 16 - 1);
    kernel_close(&k);
}

TEST(atomics_go_to_memory_one_lane_after_the_other, "")
{
    struct took took;

    open_kernel();
    took = time_kernel(BASIC, "AADD s2, s3, (s1), rlx\nAADD s4, s3, (s1), rlx", 1);
    CHECK_EQ(took.cycles, 2 * (101 + 8) + 1);
    /* It leaves nothing in the cache: no line that goes back, none that a load finds. */
    took =
        time_kernel("tile.system = 1 1 0\ntile.memory_bandwidth = 1\ntile.memory_latency = 100\n",
                    "AADD s2, s0, (s1), rlx",
                    1);
    CHECK_EQ(took.cycles, 64 + 100 + 8 + 1);
    took = time_kernel(
        BASIC, "AADD s2, s0, (s1), rlx\nANDI s2, s2, 0\nADD s2, s2, s1\nLW s3, 0(s2)", 1);
    CHECK_EQ(took.cycles, 109 + 2 + 101 + 1);
    k.v[2] = (union vec){.w = {0, 4, 8, 12}};
    took = time_kernel(BASIC, "VATOM.ADD.X v1, v3, (s1), v2", 1);
    CHECK_EQ(took.cycles, 4 * 101 + 8 + 1);
    kernel_close(&k);
}

TEST(cores_work_side_by_side, "")
{
    char code[2048];
    struct took one, two, three;

    open_kernel();
    (void)snprintf(code, sizeof code, "%sEXIT\n", times(50, "ADDI s2, s2, 1", 0, 0));
    one = time_kernel(BASIC "tile.scalar = 4 1 0\n", times(50, "ADDI s2, s2, 1", 0, 0), 1);
    two = time_kernel(BASIC "tile.scalar = 4 1 0\n", code, 2);
    CHECK_EQ(one.cycles, 50 * 4 + 1);
    CHECK_EQ(two.cycles, one.cycles);
    CHECK_EQ(two.core[0].cycles, two.core[1].cycles);
    /* Five tiles on four cores: one core has two, and goes from one to the other in 16. */
    three = time_kernel(BASIC "tile.scalar = 4 1 0\n", code, 5);
    CHECK_EQ(three.cycles, 2 * one.cycles + 16);
    CHECK_EQ(three.core[0].reason[TIMING_BETWEEN], 16);
    CHECK_EQ(three.core[1].cycles, one.cycles);
    kernel_close(&k);
}

static void count_touch(void *context, enum facet_raster_use use, uint32_t offset, uint32_t size)
{
    unsigned *count = context;

    *count += use == FACET_RASTER_USE_SAMPLE && offset == DATA - VRAM + 64 && size == 4;
}

TEST(texels_come_through_a_cache_of_their_own, "")
{
    const struct facet_tile_sampler sampler = {
        .base = DATA + 64, .stride = 64, .width = 16, .height = 16, .format = FACET_TILE_ARGB8888};
    struct facet_tile_watch before;
    unsigned heard = 0;
    struct took took;

    open_kernel();
    CHECK(facet_tile_set_sampler(k.machine, 0, &sampler, NULL) == FACET_OK);
    /* Somebody else who listens hears every texel as well. */
    facet_tile_watch(k.machine, &before, (struct facet_raster_watch){&heard, count_touch, NULL});
    k.s[5] = 0;
    took = time_kernel(BASIC, "TEX2D.N.I32 v3, v1, s5", 1);
    CHECK_EQ(took.cycles, 101 + 1);
    CHECK_EQ(heard, 1);
    took = time_kernel(BASIC, "TEX2D.N.I32 v3, v1, s5\nTEX2D.N.I32 v4, v1, s5", 1);
    CHECK_EQ(took.cycles, 101 + 1);
    CHECK_EQ(heard, 3);
    /* The data cache has the line of the load, the texture cache has not. */
    k.s[1] = DATA + 64;
    took = time_kernel(BASIC, "LW s2, 0(s1)\nVBCAST.I32 v1, s2\nTEX2D.N.I32 v3, v1, s5", 1);
    CHECK_EQ(took.cycles, 101 + 1 + 101 + 1);
    facet_tile_unwatch(k.machine, &before);
    kernel_close(&k);
}
