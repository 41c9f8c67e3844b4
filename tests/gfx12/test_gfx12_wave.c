/* The gfx12 machine: observer, points, snapshots, lockstep. */
#include "gfx12/wave.h"

#include "base/bits.h"
#include "base/float.h"

#include <facet/lockstep.h>

/* ---- observer ---- */

struct shadow {
    const facet_machine *m;
    uint64_t regs[FACET_GFX12_REG_COUNT];
    uint8_t lds[FACET_GFX12_LDS_BYTES];
    unsigned retired, loads, units;
    uint64_t node_read; /* address of the last read of the image */
};

static void hear_reg(void *context, const struct facet_reg_event *event)
{
    struct shadow *s = context;

    CHECK(event->core == 0 && event->index < FACET_GFX12_REG_COUNT);
    CHECK_EQ(event->old_value.lo, s->regs[event->index]);
    s->regs[event->index] = event->new_value.lo;
}

static void hear_memory(void *context, const struct facet_memory_event *event)
{
    struct shadow *s = context;
    uint64_t at = event->address - FACET_GFX12_LDS_BASE;

    if (at < sizeof s->lds) {
        CHECK(event->size == 4 && event->space == 0);
        CHECK_EQ(event->write ? event->old_value.lo : event->value.lo,
                 facet_load_le32(s->lds + at));
        facet_store_le32(s->lds + at, (uint32_t)event->value.lo);
    } else {
        uint8_t bytes[16] = {0};

        s->node_read = event->address;
        s->loads++;
        CHECK(!event->write &&
              facet_machine_read(s->m, 0, event->address, bytes, event->size, NULL) == FACET_OK);
        CHECK(event->value.lo == facet_load_le64(bytes) &&
              event->value.hi == facet_load_le64(bytes + 8));
    }
}

static void hear_retire(void *context, const struct facet_retire_event *event)
{
    struct shadow *s = context;

    CHECK_EQ(event->pc, s->regs[FACET_GFX12_REG_PC]);
    s->regs[FACET_GFX12_REG_PC] = event->next_pc;
    s->retired++;
}

static void hear_unit(void *context, const struct facet_unit_event *event)
{
    ((struct shadow *)context)->units++;
    CHECK_STR(event->unit, "ray");
}

/* Whoever writes down what is told knows all registers and all of LDS. */
TEST(an_observer_is_told_everything, "")
{
    struct facet_gfx12_image image = wave_world();
    struct shadow *s = calloc(1, sizeof *s);
    struct facet_observer observer = {.context = s,
                                      .retire = hear_retire,
                                      .reg_write = hear_reg,
                                      .memory = hear_memory,
                                      .unit = hear_unit};

    for (unsigned n = 0; n < 10 && !harness_failed(); n++) {
        struct facet_gfx12_hit hit;
        facet_machine *m = wave_started(&image, &hit);
        uint8_t lds[sizeof s->lds];
        struct facet_stop stop = {.reason = FACET_STOP_BUDGET};
        struct facet_value value;

        *s = (struct shadow){.m = m};
        for (uint32_t i = 0; i < FACET_GFX12_REG_COUNT; i++) {
            CHECK(facet_machine_reg_read(m, 0, i, &value, NULL) == FACET_OK);
            s->regs[i] = value.lo;
        }
        facet_machine_observe(m, &observer);
        while (stop.reason == FACET_STOP_BUDGET && !harness_failed()) {
            facet_machine_step(m, &stop);
            for (uint32_t i = 0; i < FACET_GFX12_REG_COUNT; i++) {
                CHECK(facet_machine_reg_read(m, 0, i, &value, NULL) == FACET_OK);
                CHECK_MSG(value.lo == s->regs[i],
                          "%s at step %u",
                          facet_machine_core(m, 0)->regs[i].name,
                          s->retired);
            }
            CHECK(facet_machine_read(m, 0, FACET_GFX12_LDS_BASE, lds, sizeof lds, NULL) ==
                  FACET_OK);
            CHECK(memcmp(lds, s->lds, sizeof lds) == 0);
        }
        CHECK(stop.reason == FACET_STOP_EXIT && wave_reg(m, 0, "hit") == 1);
        CHECK_EQ(wave_reg(m, 0, "hit_t"), facet_float_bits(hit.t));
        CHECK_EQ(wave_reg(m, 0, "hit_primitive"), hit.primitive_index);
        CHECK(s->retired == facet_machine_retired(m, 0) && s->units == s->retired / 2);
        CHECK(s->loads >= 8 * s->units);
        facet_machine_destroy(m);
    }
    free(s);
    free(image.bytes);
}

TEST(points_stop_the_wave, "")
{
    struct facet_gfx12_image image = wave_world();
    struct facet_gfx12_hit hit;
    facet_machine *m = wave_started(&image, &hit);
    struct facet_watch watch = {
        .core = FACET_ANY_CORE, .address = FACET_GFX12_LDS_BASE, .size = 4, .on_write = true};
    struct facet_stop stop;
    uint32_t id, node_id;

    CHECK(facet_machine_break_add(m, 0, FACET_GFX12_CODE_BASE + 12, &id, NULL) == FACET_OK);
    for (unsigned n = 0; n < 2; n++) {
        stop = wave_run(m, 100);
        CHECK(stop.reason == FACET_STOP_BREAKPOINT && stop.point == id);
        CHECK(stop.pc == FACET_GFX12_CODE_BASE + 12 && stop.steps == 1 + n);
    }
    CHECK(facet_machine_point_remove(m, id, NULL) == FACET_OK);
    facet_machine_reset(m);
    CHECK(facet_machine_watch_add(m, &watch, &id, NULL) == FACET_OK);
    stop = wave_run(m, 1000);
    CHECK(stop.reason == FACET_STOP_WATCHPOINT && stop.point == id);
    CHECK(stop.address == FACET_GFX12_LDS_BASE && stop.steps % 2 == 0);
    CHECK(facet_machine_point_remove(m, id, NULL) == FACET_OK);
    facet_machine_reset(m);
    watch = (struct facet_watch){.core = 0,
                                 .address = facet_gfx12_base_address(hit.base) +
                                            facet_gfx12_id_offset(hit.node),
                                 .size = 128,
                                 .on_read = true};
    CHECK(facet_machine_watch_add(m, &watch, &node_id, NULL) == FACET_OK);
    stop = wave_run(m, 100000);
    CHECK(stop.reason == FACET_STOP_WATCHPOINT && stop.point == node_id && stop.steps % 2 == 1);
    facet_machine_destroy(m);
    free(image.bytes);
}

static void hear_store(void *context, const struct facet_memory_event *event)
{
    if (event->core == 2 && event->write) {
        CHECK_EQ(event->address % 128, 8);
        (*(unsigned *)context)++;
    }
}

TEST(lanes_have_stacks_of_their_own, "G12-267")
{
    struct facet_gfx12_image image = wave_world();
    facet_machine *m = wave_make(&image, 4, 8);
    unsigned stores = 0;
    struct facet_observer observer = {.context = &stores, .memory = hear_store};

    facet_machine_observe(m, &observer);
    for (uint32_t i = 0; i < 4; i++) {
        struct facet_gfx12_query q = wave_query();

        wave_start(m, i, &q);
    }
    CHECK(wave_run(m, UINT64_MAX).reason == FACET_STOP_EXIT && stores > 0);
    facet_machine_destroy(m);
    free(image.bytes);
}

/* LDS as the events tell it. */
struct told_lds {
    uint32_t dwords[FACET_GFX12_LDS_BYTES / 4];
    unsigned stores;
};

static void keep_told(void *context, const struct facet_memory_event *event)
{
    struct told_lds *told = context;
    uint32_t *at = &told->dwords[(event->address - FACET_GFX12_LDS_BASE) / 4];

    CHECK_EQ(event->write ? event->old_value.lo : event->value.lo, *at);
    if (event->write) {
        *at = (uint32_t)event->value.lo;
        told->stores++;
    }
}

/* A stack of four entries takes eight pushes: each entry is written twice in one step. */
TEST(stores_are_told_one_by_one, "")
{
    struct facet_gfx12_image image = wave_world();
    facet_machine *m = wave_make(&image, 1, 8);
    struct facet_gfx12_query q = wave_query();
    struct told_lds *told = calloc(1, sizeof *told);
    struct facet_observer observer = {.context = told, .memory = keep_told};
    uint32_t words[3], dword;
    char name[8];

    (void)facet_gfx12_insn_parse(
        "ds_bvh_stack_push8_pop1_rtn_b32 v50, v22, v21, v[60:67], 4, 0", words, NULL);
    CHECK(facet_gfx12_set_program(m, words, 2, false, NULL) == FACET_OK);
    wave_start(m, 0, &q);
    for (unsigned k = 0; k < 8; k++) {
        (void)snprintf(name, sizeof name, "v%u", 60 + k);
        wave_set_reg(m, 0, name, (k + 1) << 4 | FACET_GFX12_TYPE_BOX);
    }
    facet_machine_observe(m, &observer);
    CHECK(wave_run(m, 10).reason == FACET_STOP_EXIT);
    CHECK_EQ(told->stores, 8);
    for (unsigned i = 0; i < 4; i++) {
        CHECK(facet_machine_read(m, 0, FACET_GFX12_LDS_BASE + 128 * i, &dword, 4, NULL) ==
              FACET_OK);
        CHECK_EQ(dword, told->dwords[32 * i]);
    }
    free(told);
    facet_machine_destroy(m);
    free(image.bytes);
}

TEST(lanes_take_turns, "G12-268")
{
    struct facet_gfx12_image image = wave_world();
    facet_machine *m = wave_make(&image, 3, 8);
    struct facet_stop stop;
    uint32_t lane = 0;

    for (uint32_t i = 0; i < 3; i++) {
        struct facet_gfx12_query q = wave_query();

        q.root = i == 1 ? FACET_GFX12_TYPE_BOX | 0x7FFFFFF0 : q.root; /* outside: ends at once */
        wave_start(m, i, &q);
    }
    for (unsigned n = 0; n < 12; n++) { /* lane 1 has two steps */
        CHECK_EQ(facet_machine_next_core(m), lane);
        facet_machine_step(m, &stop);
        CHECK(stop.reason == FACET_STOP_BUDGET);
        lane = n < 5 ? (lane + 1) % 3 : lane == 2 ? 0 : 2;
    }
    CHECK_EQ(facet_machine_retired(m, 1), 2);
    facet_machine_step_core(m, 2, 10, &stop);
    CHECK_EQ(stop.steps, lane == 2 ? 1 : 2);
    facet_machine_destroy(m);
    free(image.bytes);
}

/* ---- state ---- */

static struct facet_blob snapshot(const facet_machine *m)
{
    struct facet_blob blob = {NULL, 0};
    struct facet_error err = {0};

    CHECK_MSG(facet_machine_snapshot(m, &blob, &err) == FACET_OK, "%s", err.message);
    return blob;
}

static bool same_state(const facet_machine *a, const facet_machine *b)
{
    struct facet_blob x = snapshot(a), y = snapshot(b);
    bool same = x.size == y.size && memcmp(x.data, y.data, x.size) == 0;

    facet_blob_free(&x);
    facet_blob_free(&y);
    return same;
}

/* What no register shows. */
static bool same_lanes(const facet_machine *a, const facet_machine *b)
{
    bool same = true;

    for (uint32_t i = 0; i < facet_machine_core_count(a); i++) {
        struct facet_gfx12_lane x, y;

        CHECK(facet_gfx12_read_lane(a, i, &x, NULL) == FACET_OK);
        CHECK(facet_gfx12_read_lane(b, i, &y, NULL) == FACET_OK);
        same = same && x.state == y.state && x.stats.steps == y.stats.steps &&
               x.stats.boxes == y.stats.boxes && x.stats.primitives == y.stats.primitives &&
               x.stats.instances == y.stats.instances && x.stats.walk_backs == y.stats.walk_backs;
    }
    return same;
}

/* A ray for which the stack of 8 entries is too small. */
static struct facet_gfx12_query deep_query(const struct facet_gfx12_image *image)
{
    struct facet_gfx12_unit unit = wave_unit(image);
    struct facet_gfx12_stats stats = {0};
    struct facet_gfx12_query q;
    struct facet_gfx12_hit hit;

    for (unsigned n = 0; n < 10000 && stats.walk_backs == 0; n++) {
        q = wave_query();
        CHECK(facet_gfx12_trace_lds(&unit, &q, 8, &hit, &stats, NULL) == FACET_OK);
    }
    CHECK(stats.walk_backs > 0);
    return q;
}

/* From any step on a restored machine goes the same way, and pieces of a run are the run. */
TEST(a_snapshot_continues_identically, "")
{
    struct facet_gfx12_image image = wave_world();
    struct facet_gfx12_query q[3] = {deep_query(&image), wave_query(), deep_query(&image)};
    facet_machine *whole = wave_make(&image, 3, 8), *pieces = wave_make(&image, 3, 8);

    for (uint32_t i = 0; i < 3; i++) {
        wave_start(whole, i, &q[i]);
        wave_start(pieces, i, &q[i]);
    }
    CHECK(wave_run(whole, UINT64_MAX).reason == FACET_STOP_EXIT);
    for (unsigned n = 0; !harness_failed(); n++) {
        struct facet_blob blob = snapshot(pieces);
        facet_machine *other = wave_make(&image, 3, 8);
        struct facet_error err = {0};

        CHECK_MSG(facet_machine_restore(other, blob.data, blob.size, &err) == FACET_OK,
                  "%s",
                  err.message);
        CHECK(same_state(pieces, other));
        CHECK(wave_run(other, UINT64_MAX).reason == FACET_STOP_EXIT);
        CHECK(same_state(whole, other) && same_lanes(whole, other));
        facet_machine_destroy(other);
        facet_blob_free(&blob);
        if (wave_run(pieces, 1 + n % 5).reason == FACET_STOP_EXIT) {
            break;
        }
    }
    CHECK(same_state(whole, pieces));
    facet_machine_reset(pieces);
    CHECK(!same_state(whole, pieces));
    CHECK(wave_run(pieces, UINT64_MAX).reason == FACET_STOP_EXIT && same_state(whole, pieces));
    facet_machine_destroy(whole);
    facet_machine_destroy(pieces);
    free(image.bytes);
}

TEST(a_snapshot_of_another_machine_is_refused, "")
{
    struct facet_gfx12_image image = wave_world();
    struct facet_gfx12_hit hit;
    facet_machine *m = wave_started(&image, &hit), *two = wave_make(&image, 2, 8), *other;
    struct facet_gfx12_config config = {
        .image_base = WAVE_BASE, .image_bytes = image.size, .profile = FACET_GFX12_GPURT};
    struct facet_error err = {0};
    struct facet_blob blob;

    (void)wave_run(m, 7);
    blob = snapshot(m);
    CHECK(facet_machine_restore(two, blob.data, blob.size, &err) == FACET_ERR_INPUT);
    CHECK(strstr(err.message, "a different number of lanes") != NULL);
    CHECK(facet_gfx12_create(&config, &other, NULL) == FACET_OK);
    CHECK(facet_machine_restore(other, blob.data, blob.size, &err) == FACET_ERR_INPUT);
    CHECK(strstr(err.message, "a different profile") != NULL);
    (void)wave_run(m, 3);
    for (size_t size = 0; size < blob.size; size += 1 + size / 8) {
        struct facet_blob before = snapshot(m), after;

        CHECK(facet_machine_restore(m, blob.data, size, &err) == FACET_ERR_INPUT);
        after = snapshot(m);
        CHECK(before.size == after.size && memcmp(before.data, after.data, after.size) == 0);
        facet_blob_free(&before);
        facet_blob_free(&after);
    }
    CHECK(facet_machine_restore(m, blob.data, blob.size, &err) == FACET_OK);
    facet_blob_free(&blob);
    facet_machine_destroy(other);
    facet_machine_destroy(two);
    facet_machine_destroy(m);
    free(image.bytes);
}

TEST(lockstep_finds_a_flipped_bit, "")
{
    struct facet_gfx12_image image = wave_world();
    struct facet_gfx12_query q = wave_query();
    facet_machine *a = wave_make(&image, 1, 8), *b = wave_make(&image, 1, 8);
    struct facet_divergence d;

    q.api_flags = 0;
    wave_start(a, 0, &q);
    wave_start(b, 0, &q);
    CHECK(facet_lockstep_run(a, b, UINT64_MAX, &d, NULL) == FACET_OK);
    CHECK(!d.found && d.stop_a.reason == FACET_STOP_EXIT);
    facet_machine_reset(a);
    facet_machine_reset(b);
    CHECK(facet_lockstep_run(a, b, 3, &d, NULL) == FACET_OK && !d.found);
    wave_set_reg(b, 0, "v22", wave_reg(b, 0, "v22") ^ 1u << 15); /* the base of the stack */
    CHECK(facet_lockstep_run(a, b, UINT64_MAX, &d, NULL) == FACET_OK && d.found);
    facet_machine_destroy(a);
    facet_machine_destroy(b);
    free(image.bytes);
}
