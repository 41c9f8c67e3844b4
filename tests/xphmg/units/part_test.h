/* Steps that are left half-way and taken up again (src/xphmg/units/part.h), for the suites that do
 * it: whatever the places where a run is left, and whether it goes on in the same machine or in one
 * that a snapshot was restored into, the last state, the output and every event are those of a run
 * that was never left. */
#ifndef FACET_TESTS_PART_TEST_H
#define FACET_TESTS_PART_TEST_H

#include "xphmg/units/jobs_test.h"

#include "base/hash.h"
#include "rt_image/image.h"

#include <facet/observer.h>

/* ---- what a run leaves behind ---- */

struct record {
    char output[1 << 18];
    size_t printed;
    uint64_t events; /* a hash of all of them, in order */
    uint64_t event_count;
    uint32_t reads; /* calls of the file callback */
};

static inline void mix(struct record *r, uint64_t word)
{
    r->events = (r->events ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    r->events ^= r->events >> 29;
    r->event_count++;
}

static inline void
on_output(void *context, enum facet_xphmg_stream stream, const void *data, size_t size)
{
    struct record *r = context;

    (void)stream;
    if (CHECK(size <= sizeof r->output - r->printed)) {
        memcpy(r->output + r->printed, data, size);
        r->printed += size;
    }
}

static inline int64_t on_open(void *context, const char *path, unsigned mode)
{
    (void)context, (void)path, (void)mode;
    return 5;
}

static inline int64_t on_close(void *context, int64_t handle)
{
    (void)context;
    CHECK_EQ(handle, 5);
    return 0;
}

/* An endless file of the letters of its position; short reads now and then. */
static inline int64_t on_read(void *context, int64_t handle, void *data, size_t size)
{
    struct record *r = context;

    CHECK_EQ(handle, 5);
    size = ++r->reads % 3 == 0 && size > 7 ? size - 7 : size;
    memset(data, 'a' + (int)(r->reads % 26), size);
    return (int64_t)size;
}

static inline void on_retire(void *context, const struct facet_retire_event *e)
{
    mix(context, e->pc);
    mix(context, e->word);
}

static inline void on_reg(void *context, const struct facet_reg_event *e)
{
    mix(context, UINT64_C(1) << 32 | e->index);
    mix(context, e->old_value.lo);
    mix(context, e->new_value.lo);
}

static inline void on_csr(void *context, const struct facet_reg_event *e)
{
    mix(context, UINT64_C(2) << 32 | e->index);
    mix(context, e->old_value.lo);
    mix(context, e->new_value.lo);
}

static inline void on_memory(void *context, const struct facet_memory_event *e)
{
    mix(context, e->address << 1 | e->write);
    mix(context, e->value.lo);
}

static inline void on_trap(void *context, const struct facet_trap_event *e)
{
    mix(context, e->cause);
    mix(context, e->pc);
}

static inline void on_unit(void *context, const struct facet_unit_event *e)
{
    mix(context, (uint64_t)(uint8_t)e->what[0] << 8 | (uint8_t)e->unit[0]);
    for (uint32_t i = 0; i < e->count; i++) {
        mix(context, e->values[i]);
    }
}

static inline struct facet_observer observer_of(struct record *r)
{
    return (struct facet_observer){.context = r,
                                   .retire = on_retire,
                                   .reg_write = on_reg,
                                   .csr_write = on_csr,
                                   .memory = on_memory,
                                   .trap = on_trap,
                                   .unit = on_unit};
}

/* ---- cases ---- */

struct part_case {
    const char *text;
    void (*prepare)(facet_machine *machine, const struct part_case *c);
    struct facet_xphmg_config config;
    uint32_t opts;
    uint8_t element;
    bool quantized, node8, w_guard;
    unsigned leaf_size;
    const struct facet_rtbvh_view *view;
    const uint8_t *image;
    uint64_t seed; /* of what prepare writes */
    bool stays;    /* it has open files, which no snapshot has */
};

static inline facet_machine *make_case(const struct part_case *c, struct record *r)
{
    struct facet_xphmg_config config = c->config;
    facet_machine *machine;

    config.host =
        (struct facet_xphmg_host){.context = r,
                                  .output = on_output,
                                  .files = {.open = on_open, .close = on_close, .read = on_read}};
    machine = make(config, c->text);
    if (c->prepare != NULL) {
        c->prepare(machine, c);
    }
    (void)facet_xphmg_input_end(machine, NULL);
    return machine;
}

static inline bool countdown(void *context)
{
    uint64_t *left = context;

    return --*left == 0;
}

static inline void check_snapshot(const facet_machine *machine, struct facet_blob *blob)
{
    struct facet_error err = {0};

    CHECK_MSG(facet_machine_snapshot(machine, blob, &err) == FACET_OK, "%s", err.message);
}

/* Into a machine that has just been made, as another process would. */
static inline void move_house(const struct part_case *c, struct record *r, facet_machine **machine)
{
    facet_machine *other = make_case(c, r);
    struct facet_blob blob, again;
    struct facet_error err = {0};

    check_snapshot(*machine, &blob);
    CHECK_MSG(
        facet_machine_restore(other, blob.data, blob.size, &err) == FACET_OK, "%s", err.message);
    check_snapshot(other, &again);
    CHECK(blob.size == again.size && memcmp(blob.data, again.data, blob.size) == 0);
    facet_blob_free(&blob);
    facet_blob_free(&again);
    facet_machine_destroy(*machine);
    *machine = other;
}

/* Runs to the end; left after every `most` questions or fewer, 0: never. Returns how often. */
static inline uint64_t run_case(const struct part_case *c,
                                bool observed,
                                uint64_t most,
                                bool moving,
                                struct record *r,
                                struct facet_blob *last)
{
    facet_machine *machine = make_case(c, r);
    struct facet_observer observer = observer_of(r);
    uint64_t left_in_step = 0, countdown_left = 0;
    struct facet_stop stop = {.reason = FACET_STOP_REQUEST};

    for (unsigned i = 0; stop.reason == FACET_STOP_REQUEST && i < 1000000; i++) {
        facet_machine_observe(machine, observed ? &observer : NULL);
        if (most != 0) {
            countdown_left = 1 + harness_random() % most;
            facet_machine_poll(machine, countdown, &countdown_left, 0);
        }
        stop = run(machine, 5000000);
        left_in_step += stop.reason == FACET_STOP_REQUEST;
        if (moving && stop.reason == FACET_STOP_REQUEST && harness_random() % 4 == 0) {
            move_house(c, r, &machine);
        }
    }
    CHECK_MSG(stop.reason == FACET_STOP_EXIT,
              "%s at 0x%llx",
              facet_stop_name(stop.reason),
              (unsigned long long)stop.pc);
    facet_machine_observe(machine, NULL);
    check_snapshot(machine, last);
    facet_machine_destroy(machine);
    return left_in_step;
}

static inline void check_case(const char *name, const struct part_case *c, unsigned rounds)
{
    static struct record plain, other;

    for (unsigned observed = 0; observed < 2; observed++) {
        struct facet_blob want, got;
        uint64_t times = 0;

        memset(&plain, 0, sizeof plain);
        (void)run_case(c, observed != 0, 0, false, &plain, &want);
        for (unsigned i = 0; i < rounds; i++) {
            const uint64_t most = i == 0 ? 1 : UINT64_C(2) << harness_random() % 8;

            memset(&other, 0, sizeof other);
            times += run_case(c, observed != 0, most, i % 2 == 1 && !c->stays, &other, &got);
            CHECK_MSG(want.size == got.size && memcmp(want.data, got.data, want.size) == 0,
                      "%s, observed %u, most %llu: another state",
                      name,
                      observed,
                      (unsigned long long)most);
            CHECK_MSG(plain.printed == other.printed &&
                          memcmp(plain.output, other.output, plain.printed) == 0,
                      "%s: another output",
                      name);
            CHECK_MSG(plain.events == other.events && plain.event_count == other.event_count,
                      "%s, most %llu: other events (%llu, expected %llu)",
                      name,
                      (unsigned long long)most,
                      (unsigned long long)other.event_count,
                      (unsigned long long)plain.event_count);
            facet_blob_free(&got);
        }
        CHECK_MSG(times > 0, "%s was never left", name);
        facet_blob_free(&want);
    }
}

/* Bytes and numbers between -1 and 1 for `prepare`. */
static inline uint64_t next_word(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *seed ^ *seed >> 31;
}

static inline float next_number(uint64_t *seed)
{
    return (float)((double)(int64_t)next_word(seed) * 0x1p-63);
}

/* Stands in the middle of a step, some questions on. */
static inline facet_machine *
in_the_middle(struct record *r, const struct part_case *c, uint64_t questions)
{
    facet_machine *machine = make_case(c, r);
    struct facet_stop stop;

    facet_machine_poll(machine, countdown, &questions, 0);
    stop = run(machine, 5000000);
    CHECK_EQ(stop.reason, FACET_STOP_REQUEST);
    facet_machine_poll(machine, NULL, NULL, 0);
    return machine;
}

/* Random bytes in the part of a snapshot, with a good checksum. */
static inline void spoil(struct facet_blob *blob)
{
    const uint32_t tag = (uint32_t)facet_hash_string("part");
    uint8_t *bytes = blob->data;
    size_t at = 64;

    while (at + 4 < blob->size && facet_load_le32(bytes + at) != tag) {
        at++;
    }
    if (!CHECK(at + 4 < blob->size)) {
        return;
    }
    for (uint64_t n = 1 + harness_random() % 4; n > 0; n--) {
        const size_t reach = harness_random() % 2 == 0 ? 120 : 3000;
        const size_t place = at + 4 + harness_random() % reach;

        if (place < blob->size - 8) {
            bytes[place] = (uint8_t)harness_random();
        }
    }
    facet_store_le64(bytes + blob->size - 8, facet_hash_bytes(bytes, blob->size - 8, 0));
}

/* States that nobody saved are refused, or run without harm. */
static inline void check_spoiled(const struct part_case *c)
{
    const unsigned rounds = harness_long() ? 2000 : 60;
    static struct record r;

    for (unsigned n = 0; n < rounds; n++) {
        uint64_t questions = 1 + harness_random() % 8;
        facet_machine *machine;
        struct facet_blob blob, after;
        struct facet_error err = {0};

        r.printed = 0;
        machine = in_the_middle(&r, c, questions);
        check_snapshot(machine, &blob);
        spoil(&blob);
        if (facet_machine_restore(machine, blob.data, blob.size, &err) == FACET_OK) {
            questions = 2000;
            facet_machine_poll(machine, countdown, &questions, 0);
            r.printed = 0;
            (void)run(machine, 2000);
            check_snapshot(machine, &after);
            CHECK_MSG(facet_machine_restore(machine, after.data, after.size, &err) == FACET_OK,
                      "%s",
                      err.message);
            facet_blob_free(&after);
        } else {
            CHECK(err.message[0] != '\0');
        }
        facet_blob_free(&blob);
        facet_machine_destroy(machine);
    }
}

#endif
