/* Runs that are left anywhere, inside draws of the queue and of kernels too: when they go on, every
 * bit, event and count is that of a run that was never left. */
#include "kernel.h"

#include "base/hash.h"

#include <facet/lockstep.h>
#include <facet/observer.h>
#include <pthread.h>

enum { WIDTH = 48, HEIGHT = 40, VERTEX_COUNT = 24, INDEX_COUNT = 60 };

#define RSTATE (DATA + 0x000)
#define GSTATE (DATA + 0x040)
#define BLOCK (DATA + 0x100)
#define RDRAW (DATA + 0x180)
#define RRECT (DATA + 0x190)
#define GDRAWS (DATA + 0x1A0)
#define COUNT (DATA + 0x220)
#define VERTS (DATA + 0x400)
#define INDICES (DATA + 0x1000)
#define TEXTURE (DATA + 0x2000)
#define PICTURE (DATA + 0x4000)
#define DEPTH (DATA + 0x8000)
#define RING UINT32_C(0x80040000)
#define PACKET UINT32_C(0x80043000)

static struct kernel k;

static uint32_t below(uint32_t bound)
{
    return (uint32_t)(harness_random() % bound);
}

static void put_float(uint32_t address, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    kernel_put(&k, address, bits);
}

static void put_words(uint32_t at, const uint32_t *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        kernel_put(&k, at + 4 * i, words[i]);
    }
}

static void push(uint8_t opcode, uint8_t flags, uint8_t length, uint32_t a, uint32_t b, uint32_t c)
{
    const struct facet_tile_command command = {
        .opcode = opcode, .flags = flags, .slot = 3, .length = length, .arg = {a, b, c}};

    CHECK(facet_tile_push(k.machine, &command, NULL) == FACET_OK);
}

/* ---- a program that draws ---- */

/* Numbers of its own, so that every machine gets the same ones. */
static float coordinate(uint32_t *state, float scale)
{
    *state = *state * 1664525 + 1013904223;
    return ((float)(*state >> 8) * 0x1p-23f - 1) * scale;
}

static void put_vertices(uint32_t seed)
{
    for (unsigned i = 0; i < VERTEX_COUNT; i++) {
        const uint32_t at = VERTS + 28 * i;

        put_float(at, coordinate(&seed, 1.5f));
        put_float(at + 4, coordinate(&seed, 1.5f));
        put_float(at + 8, coordinate(&seed, .6f) + .5f);
        put_float(at + 12, coordinate(&seed, 1) + .9f); /* some lie behind the eye */
        put_float(at + 16, coordinate(&seed, 20));
        put_float(at + 20, coordinate(&seed, 20));
        kernel_put(&k, at + 24, seed * 7);
    }
    for (unsigned i = 0; i < INDEX_COUNT; i += 2) {
        (void)coordinate(&seed, 1);
        kernel_put(&k,
                   INDICES + 2 * i,
                   (seed >> 8) % VERTEX_COUNT | (i % 18 == 6   ? 0xFFFF
                                                 : i % 22 == 4 ? 50000
                                                               : (seed >> 20) % VERTEX_COUNT)
                                                    << 16);
    }
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t at = BLOCK + 32 * i;

        put_float(at, (float)WIDTH * (float)(i & 1));
        put_float(at + 4, (float)HEIGHT * (float)(i >> 1));
        put_float(at + 8, .5f);
        put_float(at + 12, 1 + (float)i);
        put_float(at + 16, (float)i * 10);
        put_float(at + 20, (float)i * 7);
        kernel_put(&k, at + 24, UINT32_C(0x60304050) << i);
    }
}

/* A blended, textured picture with depth; `stride` 0 puts all rows upon each other. */
static void put_states(uint32_t stride)
{
    const struct facet_tile_sampler sampler = {.base = TEXTURE,
                                               .stride = 64,
                                               .width = 16,
                                               .height = 16,
                                               .format = FACET_TILE_ARGB8888,
                                               .repeat_u = true,
                                               .bilinear = true};
    const uint32_t rstate[16] = {PICTURE,
                                 stride,
                                 1,
                                 WIDTH | HEIGHT << 16,
                                 DEPTH,
                                 4 * WIDTH,
                                 2 | 3 << 8, /* FP32, less or equal */
                                 1,          /* alpha */
                                 0x80FFFFFF,
                                 0,
                                 0,
                                 0,
                                 2 | 4 /* depth, texture */};
    const uint32_t rdraw[4] = {0xFFFF | 2 << 16, BLOCK};
    const uint32_t rrect[4] = {0x1FFFF | 4 << 24, 3 | 2 << 16, 40 | 30 << 16, 0x40112233};
    const uint32_t gdraw[2][8] = {{0, 0, INDEX_COUNT, 0, 0xFFFFFFFF, 1 | 2 | 8},
                                  {0, 0, VERTEX_COUNT, 1, 0xFFFFFFFF, 0}};
    const uint32_t gstate[4] = {VERTS, 28 | 1 << 17 | 1 << 19, INDICES, 8};

    CHECK(facet_tile_set_sampler(k.machine, 0, &sampler, NULL) == FACET_OK);
    put_words(RSTATE, rstate, 16);
    put_words(GSTATE, gstate, 4);
    put_words(RDRAW, rdraw, 4);
    put_words(RRECT, rrect, 4);
    put_words(GDRAWS, gdraw[0], 16);
    kernel_put(&k, COUNT, 2);
    for (unsigned i = 0; i < 4; i++) {
        put_float(GSTATE + 0x10 + 20 * i, 1);
    }
    for (unsigned i = 0; i < 256; i++) {
        kernel_put(&k, TEXTURE + 4 * i, i * 0x9E3779B9);
    }
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++) {
        put_float(DEPTH + 4 * i, 1);
    }
}

/* Draws of the queue, then four cores that draw the same over each other, then memory commands. */
static void begin(const struct facet_tile_config *config, uint32_t seed, uint32_t stride)
{
    struct facet_tile_packet packet = {.pc = IMEM, .columns = 3, .rows = 2};
    uint8_t bytes[64];

    kernel_open(&k, config);
    put_states(stride);
    put_vertices(seed);
    CHECK(kernel_load(&k,
                      IMEM,
                      "LUI s1, 0x80010\nADDI s2, s1, 0x40\nADDI s3, s1, 0x100\nADDI s4, s1, 0x180\n"
                      "ADDI s5, s1, 0x190\nADDI s6, s1, 0x1A0\nRSTATE s7, 0(s1)\n"
                      "GSTATE s7, 0(s2)\nRSETUP s7, 0(s3)\nADDI s10, s0, 2\nagain:\n"
                      "RRECT s7, 0(s5)\nRDRAW s8, 0(s4)\nGDRAW s9, 0(s6)\nADD s11, s11, s9\n"
                      "ADDI s10, s10, -1\nBNE s10, s0, again\nEXIT"));
    facet_tile_packet_write(&packet, bytes);
    CHECK(facet_machine_write(k.machine, 0, PACKET, bytes, sizeof bytes, NULL) == FACET_OK);
    CHECK(facet_tile_ring(k.machine, RING, 1024, NULL) == FACET_OK);
    push(FACET_TILE_CMD_LOAD_RSTATE, 0, 0, 5, RSTATE, 0);
    push(FACET_TILE_CMD_LOAD_GSTATE, 0, 0, 6, GSTATE, 0);
    push(FACET_TILE_CMD_RRECT, FACET_TILE_FLAG_EMIT, 0, RRECT, 5, 0);
    push(FACET_TILE_CMD_RDRAW, 0, 0, RDRAW, BLOCK, 0);
    push(FACET_TILE_CMD_GDRAW, FACET_TILE_FLAG_EMIT, 0, GDRAWS, COUNT, 0);
    push(FACET_TILE_CMD_DISPATCH, FACET_TILE_FLAG_EMIT, 0, PACKET, 0, 0);
    push(FACET_TILE_CMD_COPY_BUFFER, 0, 200, PICTURE + 0x800, PICTURE, 0);
    push(FACET_TILE_CMD_READ_MEM, FACET_TILE_FLAG_WAIT, 100, PICTURE, 0, 0);
    CHECK(facet_tile_host_write(k.machine, FACET_TILE_REG_CMDQ_DOORBELL, 1, NULL) == FACET_OK);
}

/* ---- what is told ---- */

static void mix(uint64_t *hash, const void *data, size_t size)
{
    *hash = facet_hash_bytes(data, size, *hash);
}

static void on_retire(void *context, const struct facet_retire_event *e)
{
    const uint64_t row[] = {1, e->core, e->pc, e->next_pc, e->word};

    mix(context, row, sizeof row);
}

static void on_reg(void *context, const struct facet_reg_event *e)
{
    const uint64_t row[] = {2, e->core, e->index, e->old_value.lo, e->new_value.lo};

    mix(context, row, sizeof row);
}

static void on_unit(void *context, const struct facet_unit_event *e)
{
    uint64_t row[8] = {3, e->core};

    memcpy(row + 2, e->values, e->count * sizeof row[0]);
    mix(context, row, sizeof row);
}

/* ---- runs ---- */

struct outcome {
    struct facet_blob state;
    uint64_t told; /* hash of all events */
    unsigned left; /* how often the run was left */
};

static bool countdown(void *context)
{
    uint32_t *left = context;

    return --*left == 0;
}

/* Goes on in another machine, with other threads. */
static void move(const struct facet_tile_config *config, const struct facet_observer *observer)
{
    struct facet_tile_config other = *config;
    struct facet_blob blob = {NULL, 0};
    struct facet_error err = {0};

    other.threads = below(2) * 3;
    other.plain = below(2) == 0;
    CHECK(facet_machine_snapshot(k.machine, &blob, NULL) == FACET_OK);
    kernel_close(&k);
    kernel_open(&k, &other);
    CHECK_MSG(facet_machine_restore(k.machine, blob.data, blob.size, &err) == FACET_OK,
              "%s",
              err.message);
    facet_machine_observe(k.machine, observer);
    facet_blob_free(&blob);
}

/* `most` 0: never left, else after up to so many questions. */
static struct outcome
play(const struct facet_tile_config *config, uint32_t seed, uint32_t stride, uint32_t most)
{
    const bool watched = seed % 3 == 0, steps = seed % 7 == 1;
    struct outcome out = {{NULL, 0}, 0, 0};
    struct facet_observer observer = {.context = &out.told,
                                      .retire = on_retire,
                                      .reg_write = on_reg,
                                      .csr_write = on_reg,
                                      .unit = on_unit};
    uint32_t left, error;

    begin(config, seed, stride);
    facet_machine_observe(k.machine, watched ? &observer : NULL);
    do {
        if (most != 0) {
            left = 1 + below(most);
            facet_machine_poll(k.machine, countdown, &left, 0);
        }
        if (steps) {
            facet_machine_step(k.machine, &k.stop);
            CHECK(k.stop.reason != FACET_STOP_REQUEST || k.stop.steps == 0);
        } else {
            facet_machine_run(k.machine, &(struct facet_run){.budget = UINT64_MAX}, &k.stop);
        }
        if (k.stop.reason == FACET_STOP_REQUEST) {
            out.left++;
            if (below(24) == 0) {
                move(config, watched ? &observer : NULL);
            }
        }
    } while (k.stop.reason == FACET_STOP_REQUEST || k.stop.reason == FACET_STOP_BUDGET);
    CHECK(k.stop.reason == FACET_STOP_IDLE);
    CHECK_EQ(facet_tile_info_of(k.machine).commands, 8);
    CHECK(facet_tile_host_read(k.machine, FACET_TILE_REG_LAST_ERROR, &error, NULL) == FACET_OK);
    CHECK_EQ(error, FACET_TILE_STATUS_GRAPHICS + FACET_RASTER_BAD_INDEX);
    CHECK(facet_machine_snapshot(k.machine, &out.state, NULL) == FACET_OK);
    kernel_close(&k);
    return out;
}

TEST(a_run_that_is_left_anywhere_ends_alike, "")
{
    static const struct facet_tile_config configs[] = {
        {.plain = true}, {.threads = 3}, {.quantum = 3, .threads = 1}, {.random = true, .seed = 9}};
    unsigned left = 0;

    for (uint32_t i = 0; i < (harness_long() ? 400 : 24) && !harness_failed(); i++) {
        const struct facet_tile_config *config = &configs[i % 4];
        const uint32_t stride = i % 5 == 0 ? 0 : i % 5 == 1 ? 64 : 4 * WIDTH;
        struct outcome whole = play(config, i, stride, 0);
        struct outcome parts = play(config, i, stride, i % 6 == 0 ? 1 : 40);

        CHECK(whole.state.size == parts.state.size &&
              memcmp(whole.state.data, parts.state.data, whole.state.size) == 0);
        CHECK_EQ(whole.told, parts.told);
        left += parts.left;
        if (harness_failed()) {
            CHECK_MSG(false, "program %u", (unsigned)i);
        }
        facet_blob_free(&whole.state);
        facet_blob_free(&parts.state);
    }
    CHECK(left > 400);
}

/* ---- the largest draw there is ---- */

static const char huge_kernel[] = "LUI s1, 0x80010\nRSTATE s2, 0(s1)\nADDI s3, s1, 0x190\n"
                                  "RRECT s6, 0(s3)\nEXIT";

/* 2^32 pixels over one row of memory, blended: by the queue, or by a kernel at IMEM. */
static void begin_huge(bool kernel)
{
    const uint32_t rstate[16] = {PICTURE, 0, 1, 0xFFFFFFFF, 0, 0, 0, 1};
    const uint32_t rrect[4] = {0x1FFFF, 0, 0xFFFFFFFF, 0x10203040};

    kernel_open(&k, NULL);
    put_words(RSTATE, rstate, 16);
    put_words(RRECT, rrect, 4);
    CHECK(facet_tile_ring(k.machine, RING, 1024, NULL) == FACET_OK);
    if (kernel) {
        k.packet = (struct facet_tile_packet){.pc = IMEM, .columns = 1, .rows = 1, .core_mask = 1};
        CHECK(kernel_load(&k, IMEM, huge_kernel));
        CHECK(facet_tile_dispatch(k.machine, &k.packet, NULL) == FACET_OK);
    } else {
        push(FACET_TILE_CMD_LOAD_RSTATE, 0, 0, 5, RSTATE, 0);
        push(FACET_TILE_CMD_RRECT, 0, 0, RRECT, 5, 0);
        CHECK(facet_tile_host_write(k.machine, FACET_TILE_REG_CMDQ_DOORBELL, 1, NULL) == FACET_OK);
    }
}

static void run_on(void)
{
    facet_machine_run(k.machine, &(struct facet_run){.budget = UINT64_MAX}, &k.stop);
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

static uint64_t pc_of_core(void)
{
    return kernel_reg(&k, 0, "pc");
}

/* The next kernel draws its own rectangle, and all of it. */
static void check_forgotten(void)
{
    facet_machine_poll(k.machine, NULL, NULL, 0);
    CHECK(kernel_load(&k, IMEM, huge_kernel));
    k.packet = (struct facet_tile_packet){.pc = IMEM, .columns = 1, .rows = 1, .core_mask = 1};
    kernel_put(&k, RSTATE + 28, 0); /* opaque */
    kernel_put(&k, RRECT + 8, 2 | 1 << 16);
    kernel_put(&k, RRECT + 12, 0x55);
    kernel_put(&k, PICTURE + 8, 0x66);
    kernel_run(&k);
    CHECK(k.stop.reason == FACET_STOP_EXIT);
    CHECK_EQ(kernel_get(&k, PICTURE), 0x55);
    CHECK_EQ(kernel_get(&k, PICTURE + 8), 0x66);
}

TEST(huge_draws_are_left_in_the_middle, "")
{
    for (unsigned kernel = 0; kernel < 2; kernel++) {
        const uint64_t before = kernel != 0 ? 3 : 1;
        uint64_t pc;

        begin_huge(kernel != 0);
        facet_machine_poll(k.machine, at_once, NULL, 1000000);
        run_on();
        CHECK(k.stop.reason == FACET_STOP_REQUEST);
        CHECK_EQ(facet_machine_steps(k.machine), before);
        CHECK(facet_machine_in_step(k.machine));
        CHECK_EQ(facet_machine_left(k.machine),
                 kernel != 0 ? FACET_LEFT_INSTRUCTION : FACET_LEFT_JOB);
        pc = pc_of_core();
        for (unsigned i = 0; i < 3; i++) { /* it is not counted as long as it is not complete */
            run_on();
            CHECK(k.stop.reason == FACET_STOP_REQUEST);
            CHECK_EQ(k.stop.steps, 0);
            facet_machine_step(k.machine, &k.stop);
            CHECK(k.stop.reason == FACET_STOP_REQUEST && k.stop.steps == 0);
        }
        CHECK_EQ(facet_machine_steps(k.machine), before);
        CHECK_EQ(pc_of_core(), pc);
        if (kernel != 0) { /* another pc: the rest of the draw is not wanted */
            const struct facet_value end = {.lo = pc + 4};

            CHECK_EQ(facet_machine_retired(k.machine, 0), before);
            CHECK(facet_machine_reg_write(k.machine, 0, 96, end, NULL) == FACET_OK);
            facet_machine_poll(k.machine, NULL, NULL, 0);
            run_on();
            CHECK(k.stop.reason == FACET_STOP_EXIT);
        } else {
            facet_machine_reset(k.machine);
            facet_machine_poll(k.machine, NULL, NULL, 0);
            run_on();
            CHECK(k.stop.reason == FACET_STOP_IDLE);
            CHECK_EQ(facet_tile_info_of(k.machine).commands, 0);
        }
        check_forgotten();
        CHECK_EQ(facet_machine_left(k.machine), FACET_LEFT_NOTHING);
        kernel_close(&k);
    }
}

/* A kernel under its own picture: every pixel is an EXIT. */
static void begin_over_itself(void)
{
    const uint32_t code = PICTURE + 4 * WIDTH * (HEIGHT / 2);
    const uint32_t rstate[16] = {PICTURE, 4 * WIDTH, 1, WIDTH | HEIGHT << 16};
    const uint32_t rrect[4] = {0x1FFFF, 0, WIDTH | HEIGHT << 16, kernel_word("EXIT")};

    kernel_open(&k, NULL);
    CHECK(kernel_load(&k, code, huge_kernel));
    put_words(RSTATE, rstate, 16);
    put_words(RRECT, rrect, 4);
    k.packet = (struct facet_tile_packet){.pc = code, .columns = 1, .rows = 1, .core_mask = 1};
    CHECK(facet_tile_dispatch(k.machine, &k.packet, NULL) == FACET_OK);
}

TEST(a_draw_over_its_own_instruction_is_completed, "")
{
    for (unsigned moved = 0; moved < 2; moved++) {
        unsigned runs = 0;

        begin_over_itself();
        do {
            if (moved != 0 && runs == HEIGHT / 2 + 4) {
                move(&(struct facet_tile_config){0}, NULL);
            }
            facet_machine_poll(k.machine, at_once, NULL, 0);
            run_on();
        } while (k.stop.reason == FACET_STOP_REQUEST && ++runs < 1000);
        CHECK(runs > HEIGHT / 2);
        CHECK(k.stop.reason == FACET_STOP_EXIT);
        CHECK_EQ(kernel_get(&k, PICTURE + 4 * WIDTH * HEIGHT - 4), kernel_word("EXIT"));
        CHECK_EQ(facet_machine_retired(k.machine, 0), 5);
        CHECK_EQ(kernel_reg(&k, 0, "s6"), 1);
        kernel_close(&k);
    }
}

TEST(a_draw_that_is_left_is_one_step_for_lockstep, "")
{
    struct facet_divergence out;
    unsigned calls = 0;
    facet_machine *whole;

    begin_over_itself();
    whole = k.machine;
    begin_over_itself();
    facet_machine_poll(k.machine, at_once, NULL, 0);
    do {
        CHECK(facet_lockstep_run(k.machine, whole, 100, &out, NULL) == FACET_OK);
    } while (!out.found && out.stop_a.reason == FACET_STOP_REQUEST && ++calls < 1000);
    CHECK(!out.found && out.stop_a.reason == FACET_STOP_EXIT);
    CHECK(calls > HEIGHT / 2);
    facet_machine_destroy(whole);
    kernel_close(&k);
}

TEST(an_abort_ends_a_draw_that_was_left, "")
{
    begin_huge(true);
    facet_machine_poll(k.machine, at_once, NULL, 1000000);
    run_on();
    facet_machine_poll(k.machine, NULL, NULL, 0);
    (void)facet_tile_abort(k.machine, NULL);
    run_on();
    CHECK(k.stop.reason == FACET_STOP_FAULT && k.stop.code == 10);
    check_forgotten();
    kernel_close(&k);
}

static void *interrupt_soon(void *context)
{
    facet_machine_interrupt(context);
    return NULL;
}

TEST(another_thread_stops_a_huge_draw, "")
{
    pthread_t thread;

    begin_huge(false);
    CHECK(pthread_create(&thread, NULL, interrupt_soon, k.machine) == 0);
    run_on(); /* would take half a minute */
    CHECK(k.stop.reason == FACET_STOP_REQUEST);
    CHECK(pthread_join(thread, NULL) == 0);
    kernel_close(&k);
}

/* The breakpoint of a draw is reported before it begins and not again in its middle. */
TEST(no_breakpoint_in_the_middle, "")
{
    uint32_t point, questions = 1;

    begin_huge(true);
    kernel_put(&k, RRECT + 8, 20 | 20 << 16);
    CHECK(facet_machine_break_add(k.machine, FACET_NONE, IMEM + 12, &point, NULL) == FACET_OK);
    run_on();
    CHECK(k.stop.reason == FACET_STOP_BREAKPOINT && k.stop.pc == IMEM + 12);
    facet_machine_poll(k.machine, countdown, &questions, 0);
    run_on();
    CHECK(k.stop.reason == FACET_STOP_REQUEST && k.stop.pc == IMEM + 12 && k.stop.steps == 0);
    run_on();
    CHECK(k.stop.reason == FACET_STOP_EXIT);
    kernel_close(&k);
}

/* A kernel that the host starts meanwhile waits for the rest of the queue's draw. */
TEST(the_rest_goes_first, "")
{
    uint32_t questions = 3;

    begin_huge(false);
    kernel_put(&k, RRECT + 8, 4 | 20 << 16);
    kernel_put(&k, RSTATE + 28, 0);
    CHECK(kernel_load(&k, IMEM, "MOVI s1, 0x80014000\nMOVI s2, 77\nSW s2, 0(s1)\nEXIT"));
    facet_machine_poll(k.machine, countdown, &questions, 0);
    do {
        run_on();
    } while (k.stop.reason == FACET_STOP_REQUEST && kernel_get(&k, PICTURE) == 0);
    CHECK(k.stop.reason == FACET_STOP_REQUEST);
    k.packet = (struct facet_tile_packet){.pc = IMEM, .columns = 1, .rows = 1, .core_mask = 1};
    CHECK(facet_tile_dispatch(k.machine, &k.packet, NULL) == FACET_OK);
    run_on();
    CHECK_EQ(kernel_get(&k, PICTURE), 77);
    CHECK_EQ(kernel_get(&k, PICTURE + 4), 0x10203040);
    kernel_close(&k);
}

/* Tiles that end at once take longer than their instructions. */
TEST(dispatches_of_many_empty_tiles_are_left, "")
{
    uint32_t questions = 100;

    kernel_open(&k, NULL);
    k.packet = (struct facet_tile_packet){
        .pc = IMEM, .columns = 0xFFFF, .rows = 0xFFFF, .tile_width = 1, .tile_height = 1};
    CHECK(kernel_load(&k, IMEM, "EXIT"));
    CHECK(facet_tile_dispatch(k.machine, &k.packet, NULL) == FACET_OK);
    facet_machine_poll(k.machine, countdown, &questions, 0);
    run_on();
    CHECK(k.stop.reason == FACET_STOP_REQUEST && k.stop.steps <= 100);
    kernel_close(&k);
}
