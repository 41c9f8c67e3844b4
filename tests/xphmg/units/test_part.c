/* Jobs of rays that are left half-way and taken up again (part_test.h), by another thread as well,
 * and states that nobody saved. */
#include "xphmg/units/part_test.h"

#include "base/float.h"
#include "contract/xphmg_csrs.h"
#include "contract/xphmg_layouts.h"
#include "rt_image/build.h"

#include <pthread.h>

enum { IMAGE = 0x80080000u, MORE_RAYS = 0x80060000u, ODD_HITS = 0x80070000u, RAY_SLOTS = 60 };

#define RT_TEXT                                                                                    \
    PREAMBLE "ld t0, 0x700(s0)\n csrw CAP.PREC.ALT, t0\n ld t0, 0x708(s0)\n"                       \
             "csrw CAP.PREC.MODE, t0\n ld t0, 0x710(s0)\n csrw CAP.PREC.EXC.ST, t0\n"              \
             "xsubmit.rt a1, s0\n xfence.wait a1\n xsubmit.rt a2, s0\n xfence.wait a2\n" EXIT

/* Elements of a ray in the format of the tree; those of integers are any bytes. */
static void put_ray(facet_machine *machine, const struct part_case *c, uint64_t at, uint64_t *seed)
{
    const unsigned bytes = c->view->container.bytes;

    for (unsigned k = 0; k < 9; k++) {
        const float value = k == 6 ? 0 : k == 7 ? 100 : k == 8 ? 1 : 2 * next_number(seed);
        uint32_t bits = facet_float_bits(value);

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
    leave_jobs_of_rays((struct facet_xphmg_config){.plain = true}, 3);
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

/* ---- from another thread ---- */

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

/* ---- states that nobody saved ---- */

TEST(parts_of_jobs_that_nobody_saved_are_refused_or_do_no_harm, "")
{
    for (unsigned late = 0; late < 2; late++) {
        struct part_case c = {
            .text = RT_TEXT,
            .prepare = put_rays,
            .element = FACET_FMT_FP32,
            .leaf_size = 100,
            .config = {.jobs = late != 0 ? FACET_XPHMG_JOBS_LATE : FACET_XPHMG_JOBS_NOW}};
        struct facet_rtbvh_image image;
        struct facet_rtbvh_view view;

        build(&c, &view, &image);
        check_spoiled(&c);
        free(image.bytes);
    }
}
