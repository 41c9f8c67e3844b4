/* The gfx12 machine: its steps against the loops of trace.c and loop.c, tables, programs. */
#include "gfx12/wave.h"

#include "base/bits.h"
#include "base/failing_alloc.h"
#include "base/float.h"
#include "machine/whole_state.h"

#include <facet/tile.h>

static bool same_hit(const struct facet_gfx12_hit *a, const struct facet_gfx12_hit *b)
{
    return a->found == b->found && a->procedural == b->procedural && a->opaque == b->opaque &&
           a->backface == b->backface && facet_float_bits(a->t) == facet_float_bits(b->t) &&
           facet_float_bits(a->u) == facet_float_bits(b->u) &&
           facet_float_bits(a->v) == facet_float_bits(b->v) &&
           a->primitive_index == b->primitive_index && a->geometry_index == b->geometry_index &&
           a->node == b->node && a->base == b->base && a->instance == b->instance &&
           a->instance_user_data == b->instance_user_data;
}

static bool same_stats(const struct facet_gfx12_stats *a, const struct facet_gfx12_stats *b)
{
    return a->steps == b->steps && a->boxes == b->boxes && a->primitives == b->primitives &&
           a->instances == b->instances && a->walk_backs == b->walk_backs;
}

/* ---- the loop ---- */

/* Every field of the hit and every count is that of facet_gfx12_trace_lds; t is that of the
 * reference loop, which visits in another order. */
TEST(the_stepped_loop_gives_the_bits_of_the_traversal_loops, "G12-264")
{
    static const uint32_t entries[] = {8, 9, 16, 31};
    unsigned found = 0, rounds = harness_long() ? 64 : 8;
    uint64_t walk_backs = 0;

    for (unsigned n = 0; n < rounds && !harness_failed(); n++) {
        struct facet_gfx12_image image = wave_world();
        struct facet_gfx12_unit unit = wave_unit(&image);
        facet_machine *m = wave_make(&image, 1 + n % FACET_GFX12_LANES, entries[n % 4]);
        uint32_t lanes = facet_machine_core_count(m);

        for (unsigned r = 0; r < 60 && !harness_failed(); r++) {
            struct facet_gfx12_query q[FACET_GFX12_LANES];
            uint64_t steps = 0;

            for (uint32_t i = 0; i < lanes; i++) {
                q[i] = wave_query();
                wave_start(m, i, &q[i]);
            }
            CHECK(wave_run(m, UINT64_MAX).reason == FACET_STOP_EXIT);
            for (uint32_t i = 0; i < lanes; i++) {
                struct facet_gfx12_hit want, reference;
                struct facet_gfx12_stats stats;
                struct facet_gfx12_lane lane;

                CHECK(facet_gfx12_trace_lds(&unit, &q[i], entries[n % 4], &want, &stats, NULL) ==
                      FACET_OK);
                CHECK(facet_gfx12_trace(&unit, &q[i], &reference, NULL, NULL) == FACET_OK);
                CHECK(facet_gfx12_read_lane(m, i, &lane, NULL) == FACET_OK);
                CHECK(lane.state == FACET_GFX12_LANE_ENDED);
                CHECK(same_hit(&lane.hit, &want) && same_stats(&lane.stats, &stats));
                CHECK(lane.hit.found == reference.found);
                if ((q[i].api_flags & FACET_GFX12_API_TERMINATE_ON_FIRST_HIT) == 0) {
                    CHECK(facet_float_bits(lane.hit.t) == facet_float_bits(reference.t));
                }
                CHECK_EQ(facet_machine_retired(m, i), 2 * stats.steps);
                steps += 2 * stats.steps;
                found += want.found;
                walk_backs += stats.walk_backs;
            }
            CHECK(steps > 0);
        }
        facet_machine_destroy(m);
        free(image.bytes);
    }
    CHECK_MSG(found > 20 && walk_backs > 20, "%u hits, %u walks back", found, (unsigned)walk_backs);
}

/* Images that make no sense: the same results, and a fault where the loop gives up. */
TEST(garbage_images_end_as_in_the_traversal_loop, "")
{
    uint8_t bytes[64 * 128];
    struct facet_gfx12_image image = {bytes, sizeof bytes};
    unsigned endless = 0, rounds = harness_long() ? 5000 : 400;

    for (unsigned n = 0; n < rounds && !harness_failed(); n++) {
        struct facet_gfx12_unit unit = wave_unit(&image);
        struct facet_gfx12_query q = wave_query();
        struct facet_gfx12_hit want;
        struct facet_gfx12_stats stats;
        struct facet_gfx12_lane lane;
        struct facet_stop stop;
        facet_machine *m;

        for (unsigned i = 0; i < sizeof bytes / 8; i++) {
            facet_store_le64(bytes + (size_t)8 * i, harness_random());
        }
        for (unsigned i = 0; i < 64; i++) { /* children inside the image, big boxes */
            uint8_t *node = bytes + (size_t)128 * i;

            facet_store_le32(node, (random_bits() % 64) << 4);
            facet_store_le32(node + 4, (random_bits() % 64) << 4);
            for (unsigned k = 0; k < 3; k++) {
                facet_store_le32(node + 12 + (size_t)4 * k, facet_float_bits(-8));
                node[24 + k] = 131;
            }
        }
        q.max_steps = n % 2 == 0 ? 500 : 2; /* random nodes seldom make a cycle */
        q.root = (random_bits() % 64) << 4 | (n % 4 == 0 ? random_bits() & 15 : 5);
        q.root = n % 50 == 0 ? INV - n % 8 : q.root;
        m = wave_make(&image, 1, 8 + n % 24);
        wave_start(m, 0, &q);
        stop = wave_run(m, UINT64_MAX);
        if (facet_gfx12_trace_lds(&unit, &q, 8 + n % 24, &want, &stats, NULL) == FACET_OK) {
            CHECK(stop.reason == FACET_STOP_EXIT);
        } else {
            endless++;
            CHECK(stop.reason == FACET_STOP_FAULT && stop.code == FACET_GFX12_ENDLESS);
        }
        CHECK(facet_gfx12_read_lane(m, 0, &lane, NULL) == FACET_OK);
        CHECK(same_hit(&lane.hit, &want) && same_stats(&lane.stats, &stats));
        facet_machine_destroy(m);
    }
    CHECK_MSG(endless > 0 && endless < rounds, "%u endless", endless);
}

/* ---- tables, registers, memory ---- */

TEST(tables_and_names, "")
{
    struct facet_gfx12_config config = {.lanes = 3, .image_base = 0x1000, .image_bytes = 0x100};
    struct facet_region_desc region;
    facet_machine *m;
    char name[8];

    CHECK(facet_gfx12_create(&config, &m, NULL) == FACET_OK);
    CHECK_STR(facet_machine_kind_name(m), "gfx12");
    CHECK_EQ(facet_machine_core_count(m), 3);
    CHECK_STR(facet_machine_core(m, 2)->name, "lane2");
    CHECK(facet_machine_core(m, 3) == NULL && facet_machine_core(m, 0)->csr_count == 0);
    for (uint32_t i = 0; i < 256; i++) {
        (void)snprintf(name, sizeof name, "v%u", i);
        CHECK_EQ(facet_machine_find_reg(m, 1, name), i);
    }
    for (uint32_t i = 0; i < 108; i++) {
        (void)snprintf(name, sizeof name, "S%u", i);
        CHECK_EQ(facet_machine_find_reg(m, 1, name), 256 + i);
    }
    CHECK_EQ(facet_machine_find_reg(m, 0, "v256"), FACET_NONE);
    CHECK_EQ(facet_machine_core(m, 0)->pc, facet_machine_find_reg(m, 0, "pc"));
    CHECK_EQ(facet_machine_space_count(m), 1);
    CHECK(facet_machine_region(m, 0, 0, &region) && !region.writable);
    CHECK_STR(region.name, "bvh");
    CHECK(region.base == 0x1000 && region.size == 0x100);
    CHECK(facet_machine_region(m, 0, 1, &region) && region.writable);
    CHECK_STR(region.name, "lds");
    CHECK(facet_machine_region(m, 0, 2, &region) && !region.writable);
    CHECK_STR(region.name, "code");
    CHECK(!facet_machine_region(m, 0, 3, &region));
    CHECK_EQ(facet_machine_next_core(m), FACET_NONE);
    CHECK(wave_run(m, 10).reason == FACET_STOP_IDLE);
    facet_machine_destroy(m);
}

/* Each register has a place of its own, in a snapshot too. */
TEST(registers_are_apart, "")
{
    facet_machine *m;
    const struct facet_core_desc *core;

    CHECK(facet_gfx12_create(&(struct facet_gfx12_config){.lanes = 2}, &m, NULL) == FACET_OK);
    core = facet_machine_core(m, 1);
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < core->reg_count; i++) {
            uint64_t ones = facet_bits_mask(core->regs[i].width);
            struct facet_value value = {(i * UINT64_C(0x9E3779B97F4A7C15)) & ones, 0}, got;

            if (pass == 0) {
                CHECK(facet_machine_reg_write(m, 1, i, value, NULL) == FACET_OK);
                CHECK(core->regs[i].width == 64 ||
                      facet_machine_reg_write(m, 1, i, (struct facet_value){ones + 1, 0}, NULL) ==
                          FACET_ERR_USAGE);
            }
            CHECK(facet_machine_reg_read(m, 1, i, &got, NULL) == FACET_OK);
            CHECK_MSG(got.lo == value.lo && got.hi == 0, "%s", core->regs[i].name);
        }
    }
    CHECK_EQ(wave_reg(m, 0, "v9"), 0);
    check_whole_state(m);
    facet_machine_destroy(m);
}

TEST(what_cannot_be_is_refused, "")
{
    static const struct facet_gfx12_config bad[] = {
        {.lanes = 33},
        {.stack_entries = 7},
        {.stack_entries = 32},
        {.image_base = 32},
        {.image_base = UINT64_C(1) << 48},
        {.image_bytes = (UINT64_C(1) << 48) + 1},
        {.profile = (enum facet_gfx12_profile)2},
        {.opaque_sense = (enum facet_gfx12_opaque_sense)2}};
    static const uint32_t word = 0;
    struct facet_gfx12_query q = wave_query();
    struct facet_gfx12_lane lane;
    struct facet_error err = {0};
    facet_machine *m, *tile;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(facet_gfx12_create(&bad[i], &m, &err) == FACET_ERR_USAGE && m == NULL);
    }
    CHECK(facet_tile_create(NULL, &tile, NULL) == FACET_OK);
    CHECK(facet_gfx12_start(tile, 0, &q, &err) == FACET_ERR_USAGE);
    CHECK_STR(err.message, "the machine is of kind tile; expected gfx12");
    CHECK(facet_gfx12_set_program(tile, &word, 1, false, NULL) == FACET_ERR_USAGE);
    CHECK(facet_gfx12_read_lane(tile, 0, &lane, NULL) == FACET_ERR_USAGE);
    facet_machine_destroy(tile);
    CHECK(facet_gfx12_create(NULL, &m, NULL) == FACET_OK);
    CHECK(facet_gfx12_start(m, 1, &q, &err) == FACET_ERR_USAGE);
    CHECK_STR(err.message, "lane 1, expected less than 1");
    CHECK(facet_gfx12_read_lane(m, 1, &lane, NULL) == FACET_ERR_USAGE);
    CHECK(facet_gfx12_set_program(m, &word, 0, false, NULL) == FACET_ERR_USAGE);
    CHECK(facet_gfx12_set_program(m, &word, 16385, false, NULL) == FACET_ERR_USAGE);
    q.callbacks.any_hit = (enum facet_gfx12_verdict(*)(void *, const struct facet_gfx12_hit *))(
        uintptr_t)1; /* never called */
    CHECK(facet_gfx12_start(m, 0, &q, &err) == FACET_ERR_USAGE);
    CHECK_STR(err.message, "a machine has no callbacks");
    facet_machine_destroy(m);
    CHECK_STR(facet_gfx12_cause_name(FACET_GFX12_ILLEGAL), "illegal instruction");
    CHECK_STR(facet_gfx12_cause_name(99), "unknown fault");
}

TEST(creation_survives_a_lack_of_memory, "")
{
    struct facet_error err = {0};
    facet_machine *m = NULL;
    long good = 0;

    for (; m == NULL && good < 50; good++) {
        enum facet_status status;

        failing_alloc_after(good);
        status = facet_gfx12_create(NULL, &m, &err);
        failing_alloc_after(-1);
        CHECK(m != NULL ? status == FACET_OK : status == FACET_ERR_MEMORY);
    }
    CHECK(good > 2 && m != NULL);
    facet_machine_destroy(m);
}

/* ---- programs ---- */

static const char intersect_line[] =
    "image_bvh8_intersect_ray v[30:39], [v[10:11], v[12:13], v[14:16], v[17:19], v20], s[0:3]";
static const char dual_line[] =
    "image_bvh_dual_intersect_ray v[30:39], [v[10:11], v[12:13], v[14:16], v[17:19], v[20:21]], "
    "s[4:7]";
static const char push_line[] = "ds_bvh_stack_push8_pop1_rtn_b32 v50, v22, v21, v[30:37], 16, 2";
static const char push2_line[] =
    "ds_bvh_stack_push8_pop2_rtn_b64 v[50:51], v22, v21, v[30:37], 9, 0";

TEST(instructions_have_words_and_text, "")
{
    static const char *const lines[] = {intersect_line, dual_line, push_line, push2_line};
    static const char *const bad[] = {
        "ds_bvh_stack_push8_pop1_rtn_b32 v50, v22, v21, v[30:36], 16, 2",
        "ds_bvh_stack_push8_pop1_rtn_b32 v50, v22, v21, v[30:37], 256, 2",
        "ds_bvh_stack_push8_pop1_rtn_b32 v50, v22, v21, v[30:37], 16",
        "ds_bvh_stack_push8_pop1_rtn_b32 v50, v22, v21, v[30:37], 16, 2 v",
        "ds_bvh_stack_push4_pop1_rtn_b32 v50, v22, v21, v[30:37], 16, 2",
        "ds_bvh_stack_push8_pop2_rtn_b64 v50, v22, v21, v[30:37], 16, 2",
        "s_endpgm"};
    struct facet_gfx12_insn in;
    struct facet_error err;
    uint32_t words[3];
    char text[160];

    for (size_t i = 0; i < 4; i++) {
        unsigned count = facet_gfx12_insn_parse(lines[i], words, &err);

        CHECK_EQ(count, i < 2 ? 3 : 2);
        CHECK_EQ(facet_gfx12_insn_decode(words, count, &in), count);
        CHECK_EQ(facet_gfx12_insn_decode(words, count - 1, &in), 0);
        CHECK_EQ(facet_gfx12_insn_decode(words, count, &in), count);
        CHECK_EQ(facet_gfx12_insn_print(&in, text, sizeof text), strlen(lines[i]));
        CHECK_STR(text, lines[i]);
        CHECK(facet_gfx12_insn_print(&in, text, 5) == strlen(lines[i]) && strlen(text) == 4);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        err.message[0] = '\0';
        CHECK_EQ(facet_gfx12_insn_parse(bad[i], words, &err), 0);
        CHECK_MSG(strstr(err.message, "column") != NULL, "%s", bad[i]);
    }
    words[0] = 0xDB840210; /* spec/gfx12.insn.tsv: the stack instruction with 16 entries */
    words[1] = 0x32FF1516;
    CHECK_EQ(facet_gfx12_insn_decode(words, 2, &in), 0); /* v255 is not the first of eight */
    words[1] = 0x321E1516;
    CHECK_EQ(facet_gfx12_insn_decode(words, 2, &in), 2);
    (void)facet_gfx12_insn_print(&in, text, sizeof text);
    CHECK_STR(text, push_line);
}

static size_t assemble(const char *const *lines, size_t count, uint32_t *words)
{
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        at += facet_gfx12_insn_parse(lines[i], words + at, NULL);
    }
    return at;
}

/* Without a loop a lane does its instructions and nothing else, on whatever registers they name. */
TEST(a_program_does_its_instructions_and_ends, "G12-265")
{
    static const char *const lines[] = {intersect_line, push_line, dual_line, push2_line};
    struct facet_gfx12_image image = wave_world();
    struct facet_gfx12_unit unit = wave_unit(&image);
    struct facet_gfx12_query q = wave_query();
    facet_machine *m = wave_make(&image, 2, 8);
    struct facet_gfx12_ray ray = {.extent = q.t_max, .instance_mask = q.instance_mask};
    uint64_t base = facet_gfx12_base_make(q.address, facet_gfx12_api_flags(q.api_flags));
    uint32_t words[16], v[10], dwords[1024] = {0}, address = 1u << 15, result[2];
    size_t count = assemble(lines, 4, words);
    struct facet_gfx12_lds lds = {dwords, 1024, 16, true};
    struct facet_stop stop;
    char text[160], name[8];
    uint32_t length;

    memcpy(ray.origin, q.origin, sizeof ray.origin);
    memcpy(ray.direction, q.direction, sizeof ray.direction);
    CHECK_EQ(count, 10);
    CHECK(facet_gfx12_set_program(m, words, count, false, NULL) == FACET_OK);
    wave_start(m, 1, &q);
    for (unsigned i = 0; i < 4; i++) { /* an uncompressed descriptor for the dual instruction */
        (void)snprintf(name, sizeof name, "s%u", i);
        v[i] = (uint32_t)wave_reg(m, 1, name);
    }
    v[3] &= ~(1u << 19);
    for (unsigned i = 0; i < 4; i++) {
        (void)snprintf(name, sizeof name, "s%u", 4 + i);
        wave_set_reg(m, 1, name, v[i]);
    }
    (void)facet_machine_disassemble(m, 1, FACET_GFX12_CODE_BASE + 12, text, sizeof text, &length);
    CHECK(length == 8);
    CHECK_STR(text, push_line);
    CHECK_EQ(facet_machine_next_core(m), 1);

    facet_machine_step(m, &stop);
    facet_gfx12_intersect8(&unit, base, FACET_GFX12_ROOT, &ray, v);
    CHECK(stop.reason == FACET_STOP_BUDGET && stop.pc == FACET_GFX12_CODE_BASE + 12);
    CHECK(v[0] != INV); /* or the test tests nothing */
    for (unsigned i = 0; i < 10; i++) {
        (void)snprintf(name, sizeof name, "v%u", 30 + i);
        CHECK_EQ(wave_reg(m, 1, name), v[i]);
    }
    facet_machine_step(m, &stop);
    CHECK_EQ(wave_reg(m, 1, "v50"), facet_gfx12_stack_push8_pop1(&lds, &address, INV, v));
    CHECK_EQ(wave_reg(m, 1, "v22"), address);
    CHECK_EQ(wave_reg(m, 1, "v20"), FACET_GFX12_ROOT); /* the program's registers alone */
    facet_machine_step(m, &stop);
    unit.resource.compressed_format_en = 0;
    facet_gfx12_intersect_dual(&unit, base, FACET_GFX12_ROOT, INV, &ray, v);
    for (unsigned i = 0; i < 10; i++) {
        (void)snprintf(name, sizeof name, "v%u", 30 + i);
        CHECK_EQ(wave_reg(m, 1, name), v[i]);
    }
    facet_machine_step(m, &stop);
    lds.stack_size = 9;
    facet_gfx12_stack_push8_pop2(&lds, &address, INV, v, result);
    CHECK(wave_reg(m, 1, "v50") == result[0] && wave_reg(m, 1, "v51") == result[1]);
    CHECK(wave_reg(m, 1, "v22") == address);
    CHECK(stop.reason == FACET_STOP_EXIT && facet_machine_next_core(m) == FACET_NONE);
    facet_machine_step(m, &stop);
    CHECK(stop.reason == FACET_STOP_EXIT && stop.steps == 0);
    CHECK_EQ(facet_machine_retired(m, 1), 4);
    facet_machine_destroy(m);
    free(image.bytes);
}

/* Another allocation of registers and another length give the same ray. */
TEST(a_loop_may_use_other_registers, "")
{
    static const char *const lines[] = {
        "image_bvh8_intersect_ray v[90:99], [v[10:11], v[12:13], v[14:16], v[17:19], v20], s[0:3]",
        "ds_bvh_stack_push8_pop1_rtn_b32 v60, v22, v21, v[90:97], 8, 2",
        "image_bvh8_intersect_ray v[70:79], [v[10:11], v[12:13], v[14:16], v[17:19], v20], s[0:3]",
        "ds_bvh_stack_push8_pop1_rtn_b32 v20, v22, v21, v[70:77], 8, 2"};
    struct facet_gfx12_image image = wave_world();
    struct facet_gfx12_hit want;
    struct facet_gfx12_lane lane;
    facet_machine *m = wave_started(&image, &want);
    uint32_t words[16];

    CHECK(facet_gfx12_set_program(m, words, assemble(lines, 4, words), true, NULL) == FACET_OK);
    CHECK(wave_run(m, UINT64_MAX).reason == FACET_STOP_EXIT);
    CHECK(facet_gfx12_read_lane(m, 0, &lane, NULL) == FACET_OK);
    CHECK(same_hit(&lane.hit, &want));
    facet_machine_destroy(m);
    free(image.bytes);
}

TEST(faults_stay_until_the_machine_is_reset, "G12-266")
{
    struct facet_gfx12_query q = wave_query();
    struct facet_stop stop;
    uint32_t words[4];
    facet_machine *m;

    CHECK(facet_gfx12_create(NULL, &m, NULL) == FACET_OK);
    q.address = 0;
    wave_start(m, 0, &q);
    (void)facet_gfx12_insn_parse(intersect_line, words, NULL);
    words[3] = 0xBFB00000; /* s_endpgm: not modelled */
    CHECK(facet_gfx12_set_program(m, words, 4, false, NULL) == FACET_OK);
    for (unsigned n = 0; n < 2; n++) {
        stop = wave_run(m, 100);
        CHECK(stop.reason == FACET_STOP_FAULT && stop.code == FACET_GFX12_ILLEGAL);
        CHECK(stop.address == 0xBFB00000 && stop.pc == FACET_GFX12_CODE_BASE + 12);
        CHECK(stop.steps == (n == 0 ? 2 : 0) && facet_machine_next_core(m) == FACET_NONE);
    }
    CHECK_EQ(facet_machine_retired(m, 0), 1);
    facet_machine_reset(m);
    CHECK_EQ(facet_machine_steps(m), 0);
    wave_set_reg(m, 0, "pc", 0x1234);
    stop = wave_run(m, 100);
    CHECK(stop.reason == FACET_STOP_FAULT && stop.code == FACET_GFX12_NO_CODE);
    CHECK_EQ(stop.address, 0x1234);
    CHECK(facet_gfx12_set_program(m, words, 2, false, NULL) == FACET_OK); /* cut in the middle */
    stop = wave_run(m, 100);
    CHECK(stop.reason == FACET_STOP_FAULT && stop.code == FACET_GFX12_ILLEGAL);
    facet_machine_destroy(m);
}

/* Loops that 11.4 does not count: the dual instruction, both results of the stack, no stack at all.
 * On a node that names itself each of them would run for ever (R-G12-70). */
TEST(every_loop_ends_by_the_limit_of_its_ray, "G12-266")
{
    static const char *const programs[][2] = {
        {"image_bvh_dual_intersect_ray v[30:39], [v[10:11], v[12:13], v[14:16], v[17:19], "
         "v[20:21]], s[0:3]",
         "ds_bvh_stack_push8_pop1_rtn_b32 v50, v22, v21, v[60:67], 8, 2"},
        {"image_bvh8_intersect_ray v[30:39], [v[10:11], v[12:13], v[14:16], v[17:19], v20], s[0:3]",
         "ds_bvh_stack_push8_pop2_rtn_b64 v[50:51], v22, v21, v[60:67], 8, 0"},
        {"image_bvh8_intersect_ray v[30:39], [v[10:11], v[12:13], v[14:16], v[17:19], v20], s[0:3]",
         "image_bvh8_intersect_ray v[30:39], [v[10:11], v[12:13], v[14:16], v[17:19], v20], "
         "s[0:3]"}};
    struct facet_gfx12_image image = wave_world();
    struct facet_gfx12_query q = wave_query();
    char name[8];

    q.max_steps = 100;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        facet_machine *m = wave_make(&image, 1, 8);
        struct facet_gfx12_lane lane;
        struct facet_stop stop;
        uint32_t words[8];

        CHECK(facet_gfx12_set_program(m, words, assemble(programs[i], 2, words), true, NULL) ==
              FACET_OK);
        wave_start(m, 0, &q);
        for (unsigned k = 0; k < 8; k++) { /* what is pushed: the stack is never empty */
            (void)snprintf(name, sizeof name, "v%u", 60 + k);
            wave_set_reg(m, 0, name, FACET_GFX12_ROOT);
        }
        stop = wave_run(m, 10000);
        CHECK_MSG(stop.reason == FACET_STOP_FAULT && stop.code == FACET_GFX12_ENDLESS,
                  "program %zu: reason %u",
                  i,
                  stop.reason);
        CHECK(stop.steps >= 199 && stop.steps <= 200);
        CHECK(facet_gfx12_read_lane(m, 0, &lane, NULL) == FACET_OK && lane.stats.steps == 100);
        facet_machine_destroy(m);
    }
    free(image.bytes);
}
