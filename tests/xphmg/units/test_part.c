/* Steps that are left half-way and taken up again (src/xphmg/units/part.h): whatever the places
 * where a run is left, and whether it goes on in the same machine or in one that a snapshot was
 * restored into, the last state, the output and every event are those of a run that was never left.
 */
#include "xphmg/units/jobs_test.h"

#include "base/failing_alloc.h"
#include "base/hash.h"
#include "contract/xphmg_csrs.h"
#include "contract/xphmg_layouts.h"
#include "rt_image/build.h"
#include "rt_image/image.h"

#include <facet/observer.h>
#include <pthread.h>

enum { IMAGE = 0x80080000u, MORE_RAYS = 0x80060000u, ODD_HITS = 0x80070000u, RAY_SLOTS = 60 };

/* ---- what a run leaves behind ---- */

struct record {
    char output[1 << 18];
    size_t printed;
    uint64_t events; /* a hash of all of them, in order */
    uint64_t event_count;
    uint32_t reads; /* calls of the file callback */
};

static void mix(struct record *r, uint64_t word)
{
    r->events = (r->events ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    r->events ^= r->events >> 29;
    r->event_count++;
}

static void on_output(void *context, enum facet_xphmg_stream stream, const void *data, size_t size)
{
    struct record *r = context;

    (void)stream;
    if (CHECK(size <= sizeof r->output - r->printed)) {
        memcpy(r->output + r->printed, data, size);
        r->printed += size;
    }
}

static int64_t on_open(void *context, const char *path, unsigned mode)
{
    (void)context, (void)path, (void)mode;
    return 5;
}

static int64_t on_close(void *context, int64_t handle)
{
    (void)context;
    CHECK_EQ(handle, 5);
    return 0;
}

/* An endless file of the letters of its position; short reads now and then. */
static int64_t on_read(void *context, int64_t handle, void *data, size_t size)
{
    struct record *r = context;

    CHECK_EQ(handle, 5);
    size = ++r->reads % 3 == 0 && size > 7 ? size - 7 : size;
    memset(data, 'a' + (int)(r->reads % 26), size);
    return (int64_t)size;
}

static void on_retire(void *context, const struct facet_retire_event *e)
{
    mix(context, e->pc);
    mix(context, e->word);
}

static void on_reg(void *context, const struct facet_reg_event *e)
{
    mix(context, UINT64_C(1) << 32 | e->index);
    mix(context, e->old_value.lo);
    mix(context, e->new_value.lo);
}

static void on_csr(void *context, const struct facet_reg_event *e)
{
    mix(context, UINT64_C(2) << 32 | e->index);
    mix(context, e->old_value.lo);
    mix(context, e->new_value.lo);
}

static void on_memory(void *context, const struct facet_memory_event *e)
{
    mix(context, e->address << 1 | e->write);
    mix(context, e->value.lo);
}

static void on_trap(void *context, const struct facet_trap_event *e)
{
    mix(context, e->cause);
    mix(context, e->pc);
}

static void on_unit(void *context, const struct facet_unit_event *e)
{
    mix(context, (uint64_t)(uint8_t)e->what[0] << 8 | (uint8_t)e->unit[0]);
    for (uint32_t i = 0; i < e->count; i++) {
        mix(context, e->values[i]);
    }
}

static struct facet_observer observer_of(struct record *r)
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

static facet_machine *make_case(const struct part_case *c, struct record *r)
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
    facet_xphmg_input_end(machine);
    return machine;
}

static bool countdown(void *context)
{
    uint64_t *left = context;

    return --*left == 0;
}

static void check_snapshot(const facet_machine *machine, struct facet_blob *blob)
{
    struct facet_error err = {0};

    CHECK_MSG(facet_machine_snapshot(machine, blob, &err) == FACET_OK, "%s", err.message);
}

/* Into a machine that has just been made, as another process would. */
static void move_house(const struct part_case *c, struct record *r, facet_machine **machine)
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
static uint64_t run_case(const struct part_case *c,
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

static void check_case(const char *name, const struct part_case *c, unsigned rounds)
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

/* ---- rays ---- */

#define RT_TEXT                                                                                    \
    PREAMBLE "ld t0, 0x700(s0)\n csrw CAP.PREC.ALT, t0\n ld t0, 0x708(s0)\n"                       \
             "csrw CAP.PREC.MODE, t0\n ld t0, 0x710(s0)\n csrw CAP.PREC.EXC.ST, t0\n"              \
             "xsubmit.rt a1, s0\n xfence.wait a1\n xsubmit.rt a2, s0\n xfence.wait a2\n" EXIT

static uint64_t next_word(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *seed ^ *seed >> 31;
}

static float next_number(uint64_t *seed)
{
    return (float)((double)(int64_t)next_word(seed) * 0x1p-63);
}

/* Elements of a ray in the format of the tree; those of integers are any bytes. */
static void put_ray(facet_machine *machine, const struct part_case *c, uint64_t at, uint64_t *seed)
{
    const unsigned bytes = c->view->container.bytes;

    for (unsigned k = 0; k < 9; k++) {
        const float value = k == 6 ? 0 : k == 7 ? 100 : k == 8 ? 1 : 2 * next_number(seed);
        uint32_t bits;

        memcpy(&bits, &value, sizeof bits);
        if (bytes == 2) { /* FP16 and its like */
            bits = (bits >> 31) << 15 | 0x3000 | (bits & 0xFFF);
        }
        poke(machine, at + (uint64_t)bytes * k, bytes, bits);
    }
    poke(machine, at + FACET_XPHMG_RAY_ENTRY_TAG_AT(bytes), 8, next_word(seed));
}

static void put_rays(facet_machine *machine, const struct part_case *c)
{
    const struct facet_rtbvh_header *header = &c->view->header;
    uint64_t seed = c->seed;

    CHECK_EQ(facet_machine_write(machine, 0, IMAGE, c->image, c->view->size, NULL), FACET_OK);
    poke(machine, DATA + 0x700, 8, header->alt | FACET_CAP_PREC_ALT_APPLY1);
    poke(machine, DATA + 0x708, 8, header->mode | FACET_CAP_PREC_MODE_APPLY0);
    poke(machine, DATA + 0x710, 8, c->seed % 2 == 0 ? 0x7F : 0);
    poke(machine, DATA + RT_DESC, 8, IMAGE + header->heap.offset);
    poke(machine, DATA + RT_DESC + 24, 8, DATA + HITQ + 0x40);
    poke(machine, DATA + RT_DESC + 32, 8, IMAGE + header->triangles.offset);
    poke(
        machine, DATA + RT_DESC + 40, 4, c->opts | (c->node8 ? FACET_XPHMG_RT_DESC_OPTS_NODE8 : 0));
    poke(machine, DATA + RAYQ + 4, 4, RAY_SLOTS - 1);
    poke(machine, DATA + RAYQ + 8, 4, RAY_SLOTS);
    poke(machine, DATA + RAYQ + 16, 8, MORE_RAYS);
    poke(machine, DATA + HITQ + 8, 4, 4 * RAY_SLOTS);
    poke(machine, DATA + HITQ + 16, 8, ODD_HITS);
    poke(machine, DATA + HITQ + 0x48, 4, 4 * RAY_SLOTS);
    poke(machine, DATA + HITQ + 0x50, 8, ODD_HITS + 0x8000);
    for (unsigned i = 0; i < RAY_SLOTS; i++) {
        put_ray(machine,
                c,
                MORE_RAYS + i * FACET_XPHMG_RAY_ENTRY_SIZE(c->view->container.bytes),
                &seed);
    }
}

static void
build(struct part_case *c, struct facet_rtbvh_view *view, struct facet_rtbvh_image *image)
{
    static struct facet_bvh_triangle triangles[600];
    const struct facet_rtbvh_options options = {.children = c->node8 ? 8 : 4,
                                                .element = c->element,
                                                .quantized = c->quantized,
                                                .leaf_size = c->leaf_size};
    struct facet_rtbvh_report report;
    struct facet_error err = {0};

    for (unsigned i = 0; i < 600; i++) {
        const float at[3] = {next_number(&c->seed), next_number(&c->seed), next_number(&c->seed)};

        triangles[i].primitive = i;
        for (unsigned k = 0; k < 9; k++) {
            triangles[i].vertex[k / 3][k % 3] = at[k % 3] + 0.4f * next_number(&c->seed);
        }
    }
    CHECK_MSG(facet_rtbvh_build(triangles, 600, &options, NULL, NULL, image, &report, &err) ==
                  FACET_OK,
              "%s",
              err.message);
    CHECK_EQ(facet_rtbvh_open(image->bytes, image->size, view, &err), FACET_OK);
    c->view = view;
    c->image = image->bytes;
}

static void leave_jobs_of_rays(struct facet_xphmg_config config, unsigned seed)
{
    static const struct {
        const char *name;
        uint8_t element;
        bool quantized, node8;
        unsigned leaf_size;
        uint32_t opts;
    } kinds[] = {
        {"fp32", FACET_FMT_FP32, false, false, 4, 0},
        {"fp32, large leaves", FACET_FMT_FP32, false, false, 255, 0},
        {"node8", FACET_FMT_FP32, false, true, 200, 0},
        {"any hit", FACET_FMT_FP32, false, false, 120, FACET_XPHMG_RT_DESC_OPTS_ANY_HIT},
        {"packed", FACET_FMT_FP32, false, true, 8, FACET_XPHMG_RT_DESC_OPTS_PACK_HINT},
        {"w guard", FACET_FMT_FP32, false, false, 100, FACET_XPHMG_RT_DESC_OPTS_W_GUARD},
        {"fp16", FACET_FMT_FP16, false, false, 100, 0},
        {"fp16 node8", FACET_FMT_FP16, false, true, 4, FACET_XPHMG_RT_DESC_OPTS_CULL_BACK},
        {"int16", FACET_FMT_INT16, true, false, 100, 0},
    };

    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct part_case c = {.text = RT_TEXT,
                              .prepare = put_rays,
                              .config = config,
                              .opts = kinds[i].opts,
                              .element = kinds[i].element,
                              .quantized = kinds[i].quantized,
                              .node8 = kinds[i].node8,
                              .leaf_size = kinds[i].leaf_size,
                              .seed = 2 * i + seed};
        struct facet_rtbvh_image image;
        struct facet_rtbvh_view view;

        build(&c, &view, &image);
        c.seed = 2 * i + seed;
        check_case(kinds[i].name, &c, harness_long() ? 12 : 3);
        free(image.bytes);
    }
}

TEST(a_job_of_rays_is_left_anywhere, "")
{
    leave_jobs_of_rays((struct facet_xphmg_config){0}, 0);
    leave_jobs_of_rays((struct facet_xphmg_config){.no_cache = true}, 3);
}

TEST(a_job_of_rays_on_threads_is_left_anywhere, "")
{
    leave_jobs_of_rays((struct facet_xphmg_config){.job_threads = 3}, 1);
}

TEST(a_late_job_of_rays_is_left_anywhere, "")
{
    leave_jobs_of_rays((struct facet_xphmg_config){.jobs = FACET_XPHMG_JOBS_LATE, .jobs_seed = 7},
                       2);
}

/* ---- the other units ---- */

/* 1000 vectors over their own matrix and instruction. */
static void put_vectors(facet_machine *machine, const struct part_case *c)
{
    uint64_t seed = 11;

    (void)c;
    poke(machine, DATA + MTX_DESC + 8, 8, DATA + 0x8000);
    poke(machine, DATA + MTX_DESC + 16, 8, DATA + 0x100);
    poke(machine, DATA + MTX_DESC + 32, 4, 1000);
    for (unsigned i = 0; i < 2000; i++) {
        const float value = next_number(&seed);

        poke_floats(machine, DATA + 0x8000 + 4 * i, &value, 1);
    }
}

TEST(a_job_of_vectors_is_left_anywhere, "")
{
    for (unsigned late = 0; late < 2; late++) {
        struct part_case c = {
            .text = PREAMBLE "xsubmit.mtx a1, a0\n xfence.wait a1\n" EXIT,
            .prepare = put_vectors,
            .config = {.jobs = late != 0 ? FACET_XPHMG_JOBS_LATE : FACET_XPHMG_JOBS_NOW}};

        check_case("mtx", &c, 6);
    }
}

/* 32 vectors of two numbers with the lowest bit set: software interrupts for 64 harts. */
static void put_interrupts(facet_machine *machine, const struct part_case *c)
{
    const float one[2] = {0x1.000002p0f, 0x1.000002p0f}, unit[4] = {1, 0, 0, 1};

    (void)c;
    poke(machine, DATA + MTX_DESC + 8, 8, DATA + 0x8000);
    poke(machine, DATA + MTX_DESC + 16, 8, 0x2000000);
    poke(machine, DATA + MTX_DESC + 32, 4, 32);
    poke_floats(machine, peek(machine, DATA + MTX_DESC, 8), unit, 4);
    for (unsigned i = 0; i < 32; i++) {
        poke_floats(machine, DATA + 0x8000 + 8 * i, one, 2);
    }
}

/* A job that wakes harts in its first half changes nobody's turn before its end. */
TEST(nobody_has_a_turn_inside_a_job, "")
{
    static const struct part_case c = {
        .text = PREAMBLE "csrr t0, mhartid\n bnez t0, 1f\n xsubmit.mtx a1, a0\n xfence.wait a1\n"
                         "li t0, 100\n 2: addi t0, t0, -1\n bnez t0, 2b\n" EXIT
                         "1: li t0, 8\n csrw mie, t0\n wfi\n 3: j 3b\n",
        .prepare = put_interrupts,
        .config = {.harts = 64, .jobs = FACET_XPHMG_JOBS_LATE}};

    check_case("interrupts", &c, 4);
}

static void put_bytes(facet_machine *machine, const struct part_case *c)
{
    static uint8_t bytes[0x8000];
    uint64_t seed = 5;

    (void)c;
    for (unsigned i = 0; i < sizeof bytes; i += 8) {
        const uint64_t word = next_word(&seed);

        facet_store_le64(bytes + i, word & (word << 8 | word >> 40));
    }
    CHECK_EQ(facet_machine_write(machine, 0, DATA + 0x8000, bytes, sizeof bytes, NULL), FACET_OK);
}

TEST(copies_are_left_anywhere, "")
{
    static const char *const texts[] = {
        /* up, down over itself, asynchronous; sizes that are no multiple of 8 */
        "li a0, 0x80050000\n li a1, 0x80048000\n li a2, 20003\n xlds.cpy a0, a1, a2\n",
        "li a0, 0x80048123\n li a1, 0x80048001\n li a2, 20005\n xlds.cpy a0, a1, a2\n",
        "li a0, 0x80050000\n li a1, 0x80048000\n li a2, 20003\n xlds.cpy a0, a1, a2, async=1\n"
        "xfence.pipe ALL, 4, 1\n",
        /* over the instruction itself */
        "la a0, 1f\n la a1, from\n li a2, 9000\n 1: xlds.cpy a0, a1, a2\n .zero 9000\n"
        ".align 4\n from: .word 0\n",
        /* compression and back, each with its fallback to a plain copy */
        "li a0, 0x80050000\n li a1, 0x80048000\n li a2, 20003\n"
        "xmem.dstorec (a0), a1, a2, mode=1\n li a3, 0x80060000\n xmem.dloadc a3, (a0), a2, mode=1\n"
        "li a4, 0x80070000\n xmem.dstorec (a4), a1, a2, mode=2\n",
        /* layouts: 100 x 90 of 2 bytes there and back; one that goes out of memory */
        "li a0, 0x80050000\n li a1, 0x80048000\n li a2, 0x5a00640100\n xswz.tex2ten a0, a1, a2\n"
        "li a3, 0x80060000\n xswz.ten2tex a3, a0, a2\n",
    };

    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (unsigned late = 0; late < 2; late++) {
            char text[1024];
            struct part_case c = {
                .text = text,
                .prepare = put_bytes,
                .config = {.jobs = late != 0 ? FACET_XPHMG_JOBS_LATE : FACET_XPHMG_JOBS_NOW}};

            (void)snprintf(text, sizeof text, PREAMBLE "%s" EXIT, texts[i]);
            check_case(texts[i], &c, 6);
        }
    }
}

/* Over the depth buffer itself, one level out of the one below, then elsewhere. */
#define HIZ_TEXT                                                                                   \
    PREAMBLE "li t0, 0x80048000\n csrw GFXZBASE, t0\n li t0, 320\n csrw GFXZPITCH, t0\n"           \
             "li t0, 0x4b00000050\n csrw GFXZWH, t0\n li t0, 0x512\n csrw GFXHIZCFG, t0\n"         \
             "li a1, 0x8004a000\n gfx.hz.build a2, a1, hh=1, all=1\n"                              \
             "gfx.hz.build a3, a1, hh=0\n"                                                         \
             "li a1, 0x80050000\n gfx.hz.build a4, a1, hh=0, all=1, tt=1\n" EXIT

TEST(a_hierarchy_of_depth_is_left_anywhere, "")
{
    static const struct part_case c = {.text = HIZ_TEXT, .prepare = put_bytes};

    check_case("hz.build", &c, 8);
}

/* Three builds need memory of the host, which it refuses once for each. */
TEST(a_hierarchy_of_depth_waits_for_memory, "")
{
    static const struct part_case c = {.text = HIZ_TEXT, .prepare = put_bytes};

    for (unsigned observed = 0; observed < 2; observed++) {
        static struct record plain, other;
        struct facet_observer observer = observer_of(&other);
        struct facet_blob want, got;
        facet_machine *machine = make_case(&c, &other);
        struct facet_stop stop;
        unsigned refused = 0;

        memset(&plain, 0, sizeof plain);
        memset(&other, 0, sizeof other);
        (void)run_case(&c, observed != 0, 0, false, &plain, &want);
        facet_machine_observe(machine, observed != 0 ? &observer : NULL);
        do {
            failing_alloc_after(0);
            stop = run(machine, 5000000);
            failing_alloc_after(-1);
            if (stop.reason == FACET_STOP_MEMORY) {
                CHECK(facet_machine_in_step(machine));
                facet_machine_step(machine, &stop);
                CHECK(stop.reason == FACET_STOP_BUDGET && stop.steps == 1);
                refused++;
            }
        } while (stop.reason == FACET_STOP_BUDGET && refused < 4);
        CHECK(stop.reason == FACET_STOP_EXIT && refused == 3);
        facet_machine_observe(machine, NULL);
        check_snapshot(machine, &got);
        CHECK(want.size == got.size && memcmp(want.data, got.data, want.size) == 0);
        CHECK(plain.events == other.events && plain.event_count == other.event_count);
        facet_blob_free(&want);
        facet_blob_free(&got);
        facet_machine_destroy(machine);
    }
}

/* ---- calls of the host ---- */

#define CALL(n) "li a0, " #n "\n call semihost\n"
#define SEMIHOST ".align 4\n semihost: .word 0x01f01013, 0x00100073, 0x40705013\n ret\n"

static void put_strings(facet_machine *machine, const struct part_case *c)
{
    static char text[50000];

    (void)c;
    for (unsigned i = 0; i < sizeof text; i++) {
        text[i] = (char)('A' + i % 57);
    }
    CHECK_EQ(facet_machine_write(machine, 0, 0x80048000, text, sizeof text, NULL), FACET_OK);
}

/* WRITE0 of 50000 bytes, WRITE, OPEN, and READ over its own arguments. */
#define HOST_TEXT                                                                                  \
    "li sp, 0x80040000\n"                                                                          \
    "li a1, 0x80048000\n" CALL(                                                                    \
        4) "li s0, 0x80030000\n li t0, 1\n sd t0, 0(s0)\n li t1, 0x80048001\n sd t1, 8(s0)\n"      \
           "li t2, 40001\n sd t2, 16(s0)\n"                                                        \
           "li t0, 2\n sd t0, 0(s0)\n mv a1, s0\n" CALL(                                           \
               5) "la t0, name\n sd t0, 0(s0)\n sd zero, 8(s0)\n li t0, 1\n sd t0, 16(s0)\n"       \
                  "mv a1, s0\n" CALL(1) "sd a0, 0(s0)\n addi t0, s0, -0x100\n sd t0, 8(s0)\n li "  \
                                        "t0, 30000\n sd t0, 16(s0)\n"                              \
                                        "mv a1, s0\n" CALL(6) EXIT SEMIHOST "name: .asciz \"x\"\n"

TEST(calls_of_the_host_are_left_anywhere, "")
{
    static const struct part_case c = {.text = HOST_TEXT, .prepare = put_strings, .stays = true};

    check_case("semihosting", &c, 8);
}

TEST(a_write_of_htif_is_left_anywhere, "")
{
    static const struct part_case c = {
        .text = ".globl tohost\n.globl fromhost\n .globl _start\n _start:\n"
                "la s0, words\n li t0, 64\n sd t0, 0(s0)\n li t0, 1\n sd t0, 8(s0)\n"
                "li t0, 0x80048000\n sd t0, 16(s0)\n li t0, 50000\n sd t0, 24(s0)\n"
                "la t1, tohost\n sd s0, 0(t1)\n la t1, fromhost\n 1: ld t2, 0(t1)\n beqz t2, 1b\n"
                "ld a0, 0(s0)\n" EXIT ".align 4\n words: .zero 64\n tohost: .dword 0\n"
                "fromhost: .dword 0\n",
        .prepare = put_strings};

    check_case("htif", &c, 6);
}

/* ---- from another thread, by a debugger, out of bad files ---- */

static void *interrupt_often(void *context)
{
    for (unsigned i = 0; i < 2000; i++) {
        facet_machine_interrupt(context);
    }
    return NULL;
}

TEST(interrupts_of_another_thread_change_nothing, "")
{
    static struct record plain, other;
    struct part_case c = {.text = RT_TEXT,
                          .prepare = put_rays,
                          .config.job_threads = 3,
                          .element = FACET_FMT_FP32,
                          .leaf_size = 100,
                          .seed = 4};
    struct facet_rtbvh_image image;
    struct facet_rtbvh_view view;
    struct facet_stop stop = {.reason = FACET_STOP_REQUEST};
    struct facet_blob want, got;
    facet_machine *machine;
    pthread_t thread;

    build(&c, &view, &image);
    (void)run_case(&c, false, 0, false, &plain, &want);
    machine = make_case(&c, &other);
    CHECK_EQ(pthread_create(&thread, NULL, interrupt_often, machine), 0);
    while (stop.reason == FACET_STOP_REQUEST) {
        stop = run(machine, 5000000);
    }
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(stop.reason, FACET_STOP_EXIT);
    check_snapshot(machine, &got);
    CHECK(want.size == got.size && memcmp(want.data, got.data, want.size) == 0);
    facet_blob_free(&want);
    facet_blob_free(&got);
    facet_machine_destroy(machine);
    free(image.bytes);
}

/* Stands in the middle of the copy, some questions on. */
static facet_machine *in_the_middle(struct record *r, const struct part_case *c, uint64_t questions)
{
    facet_machine *machine = make_case(c, r);
    struct facet_stop stop;

    facet_machine_poll(machine, countdown, &questions, 0);
    stop = run(machine, 5000000);
    CHECK_EQ(stop.reason, FACET_STOP_REQUEST);
    facet_machine_poll(machine, NULL, NULL, 0);
    return machine;
}

static const struct part_case long_copy = {.text = PREAMBLE
                                           "li a0, 0x80050000\n li a1, 0x80048000\n li a2, 0x8000\n"
                                           "here: xlds.cpy a0, a1, a2\n" EXIT,
                                           .prepare = put_bytes};

TEST(a_left_step_is_not_counted_and_its_breakpoint_is_passed, "")
{
    static struct record r;
    facet_machine *machine = make_case(&long_copy, &r);
    struct facet_stop stop = run(machine, 1);
    uint64_t before, questions = 1;

    while ((peek(machine, stop.pc, 4) & 0x7F) != 0x0B &&
           (peek(machine, stop.pc, 4) & 0x7F) != 0x2B &&
           (peek(machine, stop.pc, 4) & 0x7F) != 0x5B &&
           (peek(machine, stop.pc, 4) & 0x7F) != 0x7B && stop.steps == 1) {
        stop = run(machine, 1);
    }
    before = facet_machine_steps(machine);
    CHECK_EQ(facet_machine_break_add(machine, FACET_ANY_CORE, stop.pc, NULL, NULL), FACET_OK);
    facet_machine_poll(machine, countdown, &questions, 0);
    facet_machine_step(machine, &stop);
    CHECK_EQ(stop.reason, FACET_STOP_REQUEST);
    CHECK_EQ(stop.steps, 0);
    CHECK_EQ(facet_machine_steps(machine), before);
    facet_machine_poll(machine, NULL, NULL, 0);
    stop = run(machine, 1); /* not the breakpoint: the instruction has begun */
    CHECK_EQ(stop.reason, FACET_STOP_BUDGET);
    CHECK_EQ(facet_machine_steps(machine), before + 1);
    CHECK_EQ(peek(machine, 0x80057FF8, 8), peek(machine, 0x8004FFF8, 8));
    facet_machine_destroy(machine);
}

TEST(writing_pc_or_a_reset_gives_up_what_is_left, "")
{
    static struct record r;

    for (unsigned way = 0; way < 2; way++) {
        facet_machine *machine = in_the_middle(&r, &long_copy, 3);
        uint32_t pc = facet_machine_core(machine, 0)->pc;
        struct facet_value value;

        if (way == 0) { /* over the instruction */
            CHECK_EQ(facet_machine_reg_read(machine, 0, pc, &value, NULL), FACET_OK);
            value.lo += 4;
            CHECK_EQ(facet_machine_reg_write(machine, 0, pc, value, NULL), FACET_OK);
        } else {
            facet_machine_reset(machine);
            value.lo = 0;
        }
        poke(machine, 0x8004FFF8, 8, 77);
        if (way == 0) {
            run_to_exit(machine);
            CHECK(peek(machine, 0x80057FF8, 8) != 77); /* the end was never copied */
        } else {
            run_to_exit(machine);
            CHECK_EQ(peek(machine, 0x80057FF8, 8), 77);
        }
        facet_machine_destroy(machine);
    }
}

/* ---- handles ---- */

TEST(callbacks_see_only_handles_that_open_gave, "")
{
    /* CLOSE, WRITE, READ, SEEK and FLEN; those that are not -1 tell how many bytes were left. */
    static const struct {
        unsigned call;
        int64_t answer;
    } calls[] = {{2, -1}, {5, 3}, {6, 3}, {10, -1}, {12, -1}};
    static const uint64_t handles[] = {0,
                                       8, /* open() gave 5, which is 9 for the guest */
                                       10,
                                       UINT64_MAX,
                                       UINT64_C(1) << 63,
                                       INT64_MAX,
                                       INT64_MAX - 3,
                                       (UINT64_C(1) << 63) + 9};
    static struct record r;

    for (unsigned i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        for (unsigned k = 0; k < sizeof handles / sizeof handles[0]; k++) {
            char text[1024];
            struct part_case c = {.text = text};
            facet_machine *machine;

            (void)snprintf(text,
                           sizeof text,
                           "li sp, 0x80040000\n li s0, 0x80030000\n la t0, name\n sd t0, 0(s0)\n"
                           "li t0, 1\n sd t0, 16(s0)\n mv a1, s0\n li a0, 1\n call semihost\n"
                           "mv s1, a0\n li t0, 0x%llx\n sd t0, 0(s0)\n sd s0, 8(s0)\n li t0, 3\n"
                           "sd t0, 16(s0)\n mv a1, s0\n li a0, %u\n call semihost\n" EXIT SEMIHOST
                           "name: .asciz \"x\"\n",
                           (unsigned long long)handles[k],
                           calls[i].call);
            machine = make_case(&c, &r);
            run_to_exit(machine);
            CHECK_EQ(reg(machine, 0, "s1"), 9);
            CHECK_EQ(reg(machine, 0, "a0"), (uint64_t)calls[i].answer);
            facet_machine_destroy(machine);
        }
    }
}

/* ---- states that nobody saved ---- */

/* Random bytes in the part of a snapshot, with a good checksum. */
static void spoil(struct facet_blob *blob)
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

TEST(parts_that_nobody_saved_are_refused_or_do_no_harm, "")
{
    struct part_case cases[] = {
        {.text = RT_TEXT, .prepare = put_rays, .element = FACET_FMT_FP32, .leaf_size = 100},
        {.text = RT_TEXT,
         .prepare = put_rays,
         .element = FACET_FMT_FP32,
         .leaf_size = 100,
         .config = {.jobs = FACET_XPHMG_JOBS_LATE}},
        {.text = PREAMBLE "xsubmit.mtx a1, a0\n" EXIT, .prepare = put_vectors},
        {.text = HIZ_TEXT, .prepare = put_bytes},
        {.text = HOST_TEXT, .prepare = put_strings},
        long_copy,
    };
    const unsigned rounds = harness_long() ? 2000 : 60;
    static struct record r;

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct facet_rtbvh_image image = {NULL, 0};
        struct facet_rtbvh_view view;

        if (cases[i].prepare == put_rays) {
            build(&cases[i], &view, &image);
        }
        for (unsigned n = 0; n < rounds; n++) {
            uint64_t questions = 1 + harness_random() % 8;
            facet_machine *machine;
            struct facet_blob blob, after;
            struct facet_error err = {0};

            r.printed = 0;
            machine = in_the_middle(&r, &cases[i], questions);
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
        free(image.bytes);
    }
}
