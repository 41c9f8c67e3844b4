/* The model's file, the classes of all instructions, draws, and what must hold for any stream of
 * steps: every cycle is counted once, and nothing that gets slower makes the whole faster. */
#include "harness.h"

#include "base/bits.h"
#include "isa/table.h"
#include "timing/cache.h"
#include "timing/engine.h"

#include <stdlib.h>

static enum facet_status
parse(const char *text, struct timing_model *model, struct facet_error *err)
{
    return timing_parse("a.timing", text, strlen(text), model, err);
}

/* ---- the file ---- */

TEST(what_is_printed_is_read_back, "")
{
    struct timing_model first, second;
    struct facet_strbuf text;
    struct facet_error err = {0};

    CHECK(parse("tile.scalar = 2 3 4 # a comment\n\n  xphmg.memory_bandwidth=0.125\r\n"
                "tile.line = 32",
                &first,
                &err) == FACET_OK);
    CHECK_EQ(first.value[TIMING_TILE_SCALAR][TIMING_LATENCY], 2);
    CHECK_EQ(first.value[TIMING_TILE_SCALAR][TIMING_INTERVAL], 3);
    CHECK_EQ(first.value[TIMING_TILE_SCALAR][TIMING_DEPTH], 4);
    CHECK_EQ(first.value[TIMING_XPHMG_BANDWIDTH][0], 125);
    CHECK_EQ(first.value[TIMING_TILE_LINE][0], 32);
    CHECK_EQ(first.value[TIMING_TILE_LATENCY][0], 200); /* left out: as it is */
    facet_strbuf_init(&text);
    timing_print(&first, &text);
    CHECK(timing_parse("b", facet_strbuf_text(&text), text.length, &second, &err) == FACET_OK);
    CHECK(memcmp(&first, &second, sizeof first) == 0);
    facet_strbuf_free(&text);
}

TEST(a_wrong_file_is_refused_with_its_line, "")
{
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"tile.issue = 1\ntile.isue = 1\n", "a.timing:2: unknown key 'tile.isue'"},
        {"tile.issue 1\n", "a.timing:1: expected 'tile.issue = ...'"},
        {"tile.issue = 0\n", "a.timing:1: tile.issue: expected a number from 1 to 1000"},
        {"tile.issue = 1001\n", "a.timing:1: tile.issue: expected a number from 1 to 1000"},
        {"tile.issue = 99999999999999999999\n", "a.timing:1: tile.issue: expected a number"},
        {"tile.issue = 1.5\n", "a.timing:1: tile.issue: expected a number"},
        {"tile.issue = -1\n", "a.timing:1: tile.issue: expected a number"},
        {"tile.issue =\n", "a.timing:1: tile.issue: expected a number"},
        {"tile.issue = 1 2\n", "a.timing:1: tile.issue: expected one number and nothing behind"},
        {"\n#\ntile.issue = 1\ntile.issue = 2\n", "a.timing:4: tile.issue is there a second time"},
        {"tile.line = 48\n", "a.timing:1: tile.line: expected a number from 8 to 4096, a power"},
        {"tile.scalar = 1 1\n", "a.timing:1: tile.scalar: expected depth from 0 to 64"},
        {"tile.scalar = 0 1 1\n", "a.timing:1: tile.scalar: expected latency from 1 to 1000000"},
        {"tile.scalar = 1 0 1\n", "a.timing:1: tile.scalar: expected interval from 1 to"},
        {"tile.scalar = 1 1 1 1\n", "a.timing:1: tile.scalar: expected latency, interval, depth"},
        {"tile.pixels = 0.0001\n", "a.timing:1: tile.pixels: expected a number from 0.001 to 1000"},
        {"tile.pixels = 0\n", "a.timing:1: tile.pixels: expected a number from 0.001"},
        {"tile.pixels = 1.\n", "a.timing:1: tile.pixels: expected a number from 0.001"},
        {"tile.pixels = 1001\n", "a.timing:1: tile.pixels: expected a number from 0.001"},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct timing_model model, preset;
        struct facet_error err = {0};

        timing_default(&preset);
        CHECK(parse(wrong[i].text, &model, &err) == FACET_ERR_INPUT);
        CHECK_MSG(strncmp(err.message, wrong[i].message, strlen(wrong[i].message)) == 0,
                  "%s",
                  err.message);
        CHECK(memcmp(&model, &preset, sizeof model) == 0);
    }
}

/* ---- classes ---- */

TEST(every_instruction_has_a_class, "")
{
    static const struct {
        enum facet_isa isa;
        const char *mnemonic;
        uint32_t cls;
    } some[] = {{FACET_ISA_TILE, "MAC", TIMING_TILE_MULTIPLY},
                {FACET_ISA_TILE, "CMP", TIMING_TILE_SCALAR},
                {FACET_ISA_TILE, "LBU.PL", TIMING_TILE_LOAD},
                {FACET_ISA_TILE, "LUI", TIMING_TILE_SCALAR},
                {FACET_ISA_TILE, "SH", TIMING_TILE_STORE},
                {FACET_ISA_TILE, "SHL", TIMING_TILE_SCALAR},
                {FACET_ISA_TILE, "VLDX8", TIMING_TILE_LOAD},
                {FACET_ISA_TILE, "VST.S", TIMING_TILE_STORE},
                {FACET_ISA_TILE, "VSELD.F32", TIMING_TILE_TRANSFER},
                {FACET_ISA_TILE, "VCAS", TIMING_TILE_ATOMIC},
                {FACET_ISA_TILE, "FRSQRT", TIMING_TILE_FLOAT_SPECIAL},
                {FACET_ISA_TILE, "GDRAW", TIMING_TILE_GRAPHICS},
                {FACET_ISA_TILE, "JAL.S", TIMING_TILE_BRANCH},
                {FACET_ISA_XPHMG, "lui", TIMING_XPHMG_INTEGER},
                {FACET_ISA_XPHMG, "lwu", TIMING_XPHMG_LOAD},
                {FACET_ISA_XPHMG, "c.ldsp", TIMING_XPHMG_LOAD},
                {FACET_ISA_XPHMG, "c.li", TIMING_XPHMG_INTEGER},
                {FACET_ISA_XPHMG, "c.fsd", TIMING_XPHMG_STORE},
                {FACET_ISA_XPHMG, "bext", TIMING_XPHMG_INTEGER},
                {FACET_ISA_XPHMG, "bgeu", TIMING_XPHMG_BRANCH},
                {FACET_ISA_XPHMG, "fdiv.h", TIMING_XPHMG_FLOAT_DIVIDE},
                {FACET_ISA_XPHMG, "fld", TIMING_XPHMG_LOAD},
                {FACET_ISA_XPHMG, "sfence.vma", TIMING_CLASSES}, /* there is none */
                {FACET_ISA_XPHMG, "remuw", TIMING_XPHMG_DIVIDE},
                {FACET_ISA_XPHMG, "xsubmit.rt", TIMING_XPHMG_JOB},
                {FACET_ISA_XPHMG, "MTX.MAD", TIMING_XPHMG_MTX}};
    size_t met = 0;

    for (int isa = 0; isa < FACET_ISA_COUNT; isa++) {
        for (size_t i = 0; i < facet_isa_row_count[isa]; i++) {
            const struct facet_insn_row *row = &facet_isa_rows[isa][i];
            const uint32_t cls =
                timing_class_of((enum facet_isa)isa, row->mnemonic, row->extension);

            CHECK_MSG(cls < TIMING_CLASSES, "%s", row->mnemonic);
            CHECK_MSG(
                (cls >= TIMING_XPHMG_INTEGER) == (isa == FACET_ISA_XPHMG), "%s", row->mnemonic);
            for (size_t k = 0; k < sizeof some / sizeof some[0]; k++) {
                if ((int)some[k].isa == isa && strcmp(some[k].mnemonic, row->mnemonic) == 0) {
                    CHECK_MSG(cls == some[k].cls, "%s: %s", row->mnemonic, timing_class_name(cls));
                    met++;
                }
            }
        }
    }
    CHECK_EQ(met, sizeof some / sizeof some[0] - 1);
}

/* ---- caches ---- */

TEST(caches_keep_what_was_used_last, "")
{
    struct timing_cache cache;

    CHECK(timing_cache_make(&cache, 2, 2)); /* lines 0, 2, 4 share a set */
    CHECK(!timing_cache_use(&cache, 0, true).hit);
    CHECK(!timing_cache_use(&cache, 2, false).hit);
    CHECK(timing_cache_use(&cache, 0, false).hit);
    CHECK(!timing_cache_use(&cache, 4, false).hit); /* 2 goes */
    CHECK(timing_cache_use(&cache, 0, false).hit);
    CHECK(!timing_cache_use(&cache, 2, false).written_back); /* 4 goes */
    CHECK(timing_cache_use(&cache, 6, false).written_back);  /* 0 goes, which is dirty */
    CHECK(!timing_cache_use(&cache, 1, true).hit);
    CHECK_EQ(timing_cache_clear(&cache), 1);
    CHECK_EQ(timing_cache_clear(&cache), 0);
    CHECK(!timing_cache_use(&cache, 6, false).hit);
    timing_cache_free(&cache);
}

/* ---- draws ---- */

TEST(a_draw_takes_its_longest_stage, "")
{
    const struct timing_work large = {.triangles = 1, .pixels = 1000, .texels = 900, .lines = 63};
    const struct timing_work small = {.vertices = 30, .triangles = 10, .pixels = 20};
    const struct timing_work few = {.lines = 2};
    struct timing_model model;
    struct timing_draw draw;

    CHECK(parse("tile.pixels = 0.5\ntile.memory_bandwidth = 4\ntile.memory_latency = 200\n"
                "tile.vertex = 7\ntile.setup = 20\n",
                &model,
                NULL) == FACET_OK);
    draw = timing_draw_of(&model, &large); /* 2000, against 63 lines of 16 cycles */
    CHECK_EQ(draw.cycles, 200 + 2000);
    CHECK_EQ(draw.limit, TIMING_PIXELS);
    draw = timing_draw_of(&model, &small); /* vertices 210, triangles 200, pixels 40; no memory */
    CHECK_EQ(draw.cycles, 210);
    CHECK_EQ(draw.limit, TIMING_GEOMETRY);
    draw = timing_draw_of(&model, &few);
    CHECK_EQ(draw.cycles, 200 + 32);
    CHECK_EQ(draw.limit, TIMING_ANSWER);
}

/* ---- streams of steps ---- */

enum { REGS = 8, CORES = 3, STEPS = 300 };

struct stream {
    struct timing_step step[CORES][STEPS];
};

static struct timing_step some_step(uint64_t *fills)
{
    static const uint32_t classes[] = {TIMING_TILE_SCALAR,
                                       TIMING_TILE_MULTIPLY,
                                       TIMING_TILE_VECTOR,
                                       TIMING_TILE_LOAD,
                                       TIMING_TILE_STORE,
                                       TIMING_TILE_SAMPLE,
                                       TIMING_TILE_ATOMIC,
                                       TIMING_TILE_GRAPHICS,
                                       TIMING_TILE_BRANCH,
                                       TIMING_TILE_SYSTEM};
    const uint64_t r = harness_random();
    struct timing_step s = {.cls = classes[r % 10]};

    s.read_count = (uint8_t)(r >> 8 & 3);
    for (unsigned i = 0; i < s.read_count; i++) {
        s.reads[i] = (uint16_t)(harness_random() % REGS);
    }
    s.write_count = (uint8_t)(r >> 10 & 1);
    s.writes[0] = (uint16_t)(r >> 12 & (REGS - 1));
    if (s.cls == TIMING_TILE_LOAD || s.cls == TIMING_TILE_SAMPLE) {
        s.lines = 1 + (uint32_t)(r >> 16 & 3);
        s.misses = (uint32_t)(r >> 18) % (s.lines + 1);
        *fills += s.misses;
        s.fill = *fills;
        s.written = r >> 22 & 1;
    }
    s.uncached = s.cls == TIMING_TILE_ATOMIC;
    s.lines = s.uncached ? 1 + (uint32_t)(r >> 24 & 3) : s.lines;
    s.barrier = s.cls == TIMING_TILE_SYSTEM && (r >> 26 & 1) != 0;
    s.written = s.barrier ? r >> 27 & 7 : s.written;
    s.ends = s.barrier && (r >> 30 & 1) != 0;
    s.draw = s.cls == TIMING_TILE_GRAPHICS ? r >> 32 & 255 : 0;
    s.taken = s.cls == TIMING_TILE_BRANCH && (r >> 40 & 1) != 0;
    return s;
}

static void some_stream(struct stream *stream)
{
    for (unsigned core = 0; core < CORES; core++) {
        uint64_t fills = 0;

        for (unsigned i = 0; i < STEPS; i++) {
            stream->step[core][i] = some_step(&fills);
        }
    }
}

/* In turn, or one core after the other. */
static struct timing_report run_stream(const struct timing_model *model,
                                       const struct stream *stream,
                                       unsigned cores,
                                       bool in_turn,
                                       struct timing_core_report *out)
{
    struct timing_engine engine;
    struct timing_report report;

    CHECK(timing_engine_make(&engine, model, FACET_ISA_TILE, cores, REGS));
    for (unsigned i = 0; i < cores * STEPS; i++) {
        const unsigned core = in_turn ? i % cores : i / STEPS;

        timing_engine_push(&engine, core, &stream->step[core][in_turn ? i / cores : i % STEPS]);
    }
    report = timing_engine_finish(&engine, out);
    timing_engine_free(&engine);
    return report;
}

TEST(every_cycle_is_counted_once_and_the_order_of_the_cores_does_not_matter, "")
{
    struct stream *stream = malloc(sizeof *stream);
    struct timing_model model;

    timing_default(&model);
    for (unsigned round = 0; stream != NULL && round < 20; round++) {
        struct timing_core_report first[CORES], second[CORES];
        struct timing_report a, b;

        some_stream(stream);
        a = run_stream(&model, stream, CORES, true, first);
        b = run_stream(&model, stream, CORES, false, second);
        CHECK_EQ(a.cycles, b.cycles);
        CHECK(memcmp(first, second, sizeof first) == 0);
        for (unsigned i = 0; i < CORES; i++) {
            uint64_t sum = 0;

            for (unsigned r = 0; r < TIMING_REASONS; r++) {
                sum += first[i].reason[r];
            }
            CHECK_EQ(sum, first[i].cycles);
            CHECK_EQ(first[i].instructions, STEPS);
            CHECK(first[i].cycles <= a.cycles);
        }
        CHECK(a.memory_busy <= a.cycles && a.raster_busy <= a.cycles);
    }
    free(stream);
}

/* With one core: among several, the order in which they ask for lines may change. */
TEST(what_gets_slower_never_makes_a_core_faster, "")
{
    struct stream *stream = malloc(sizeof *stream);
    unsigned slower = 0;

    for (unsigned round = 0; stream != NULL && round < 200; round++) {
        struct timing_core_report core;
        struct timing_model model;
        uint64_t before, after;
        uint32_t row = (uint32_t)(harness_random() % TIMING_ROWS);
        const uint32_t number = row < TIMING_CLASSES ? (uint32_t)(harness_random() % 3) : 0;
        uint32_t *value;

        timing_default(&model);
        some_stream(stream);
        value = &model.value[row][number];
        if (row == TIMING_TILE_LINE || row == TIMING_XPHMG_LINE) {
            continue;
        }
        *value = *value != 0 ? *value : 64;
        before = run_stream(&model, stream, 1, true, &core).cycles;
        if (row == TIMING_TILE_BANDWIDTH || row == TIMING_TILE_OUTSTANDING ||
            (row < TIMING_CLASSES && number == TIMING_DEPTH)) {
            *value = *value > 1 ? *value / 2 : 1;
        } else {
            *value += 1 + (uint32_t)(harness_random() % 50);
        }
        after = run_stream(&model, stream, 1, true, &core).cycles;
        CHECK_MSG(after >= before,
                  "row %u: %llu, then %llu",
                  (unsigned)row,
                  (unsigned long long)before,
                  (unsigned long long)after);
        slower += after > before;
    }
    CHECK(slower > 20);
    free(stream);
}

TEST(a_barrier_waits_for_draws, "")
{
    const struct timing_step draw = {.cls = TIMING_TILE_GRAPHICS, .draw = 500};
    const struct timing_step barrier = {.cls = TIMING_TILE_SYSTEM, .barrier = true};
    const struct timing_step add = {.cls = TIMING_TILE_SCALAR};
    struct timing_core_report core;
    struct timing_engine engine;
    struct timing_report report;
    struct timing_model model;

    CHECK(parse("tile.system = 1 1 0\n", &model, NULL) == FACET_OK);
    CHECK(timing_engine_make(&engine, &model, FACET_ISA_TILE, 1, REGS));
    timing_engine_push(&engine, 0, &draw);
    timing_engine_push(&engine, 0, &draw);
    timing_engine_push(&engine, 0, &add); /* does not wait */
    timing_engine_push(&engine, 0, &barrier);
    report = timing_engine_finish(&engine, &core);
    CHECK_EQ(report.cycles, 2 * 500 + 1);
    CHECK_EQ(report.raster_busy, 1000);
    CHECK_EQ(core.reason[TIMING_DRAW], 1000 - 3);
    CHECK_EQ(core.limit, TIMING_DRAW);
    timing_engine_free(&engine);
}

TEST(memory_serves_cores_in_the_order_of_their_time, "")
{
    const struct timing_step slow = {.cls = TIMING_TILE_MULTIPLY, .write_count = 1, .writes = {1}};
    const struct timing_step late = {
        .cls = TIMING_TILE_LOAD, .read_count = 1, .reads = {1}, .lines = 1, .misses = 1, .fill = 1};
    const struct timing_step early = {.cls = TIMING_TILE_LOAD, .lines = 1, .misses = 1, .fill = 1};
    const struct timing_step atomic = {.cls = TIMING_TILE_ATOMIC, .uncached = true, .lines = 4};
    const struct timing_step add = {.cls = TIMING_TILE_SCALAR};
    struct timing_core_report cores[2];
    struct timing_engine engine;
    struct timing_model model;

    CHECK(parse("tile.multiply = 1000 1 0\ntile.memory_latency = 100\ntile.memory_bandwidth = 1\n",
                &model,
                NULL) == FACET_OK);
    CHECK(timing_engine_make(&engine, &model, FACET_ISA_TILE, 2, REGS));
    timing_engine_push(&engine, 0, &slow);
    timing_engine_push(&engine, 0, &late); /* asks in cycle 1000 */
    timing_engine_push(&engine, 1, &early);
    CHECK_EQ(timing_engine_finish(&engine, cores).cycles, 1000 + 64 + 100);
    CHECK_EQ(cores[1].cycles, 64 + 100);
    /* Two that ask in the same cycle: one waits for the other's transfer. */
    timing_engine_reset(&engine);
    timing_engine_push(&engine, 1, &early);
    timing_engine_push(&engine, 0, &early);
    CHECK_EQ(timing_engine_finish(&engine, cores).cycles, 2 * 64 + 100);
    CHECK_EQ(cores[0].cycles, 64 + 100);
    CHECK_EQ(cores[1].reason[TIMING_BANDWIDTH], 64);
    /* An atomic of four lanes asks four times; in between memory serves others. */
    timing_engine_reset(&engine);
    timing_engine_push(&engine, 0, &atomic);
    timing_engine_push(&engine, 1, &add);
    timing_engine_push(&engine, 1, &early);
    CHECK_EQ(timing_engine_finish(&engine, cores).cycles, 4 * (64 + 100) + 8);
    CHECK_EQ(cores[1].cycles, 4 * 64 + 64 + 100);
    timing_engine_free(&engine);
}

TEST(lines_that_are_replaced_go_back_at_the_rate_of_memory, "")
{
    const struct timing_step store = {.cls = TIMING_TILE_STORE, .lines = 1, .written = 1};
    struct timing_core_report core;
    struct timing_engine engine;
    struct timing_model model;

    CHECK(parse("tile.outstanding = 4\n", &model, NULL) == FACET_OK);
    CHECK(timing_engine_make(&engine, &model, FACET_ISA_TILE, 1, REGS));
    for (unsigned i = 0; i < 100; i++) {
        timing_engine_push(&engine, 0, &store);
    }
    /* A line takes 16 cycles; store k waits until that of store k - 4 is gone. */
    CHECK_EQ(timing_engine_finish(&engine, &core).cycles, 100 * 16);
    CHECK_EQ(core.cycles, 96 * 16 + 1);
    CHECK_EQ(core.limit, TIMING_BANDWIDTH);
    timing_engine_free(&engine);
}
