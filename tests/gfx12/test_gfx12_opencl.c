/* Rays on a device of OpenCL against the reference loop: every hit, every statistic, every failure,
 * with images that are there as a whole and images that come in pages. Every device that is there
 * is tested; without one the cases are skipped. */
#include "gfx12/common.h"

#include "base/float.h"
#include "gfx12/ask/lost.h"
#include "gfx12/ask/procedural.h"
#include "gfx12/device/device.h"
#include "gfx12/worlds.h"

#include <stdlib.h>

enum { RAYS = 300 };

static size_t device_count(void)
{
    struct facet_opencl_device *devices;
    struct facet_error err;
    char why[128];
    size_t count = 0;

    CHECK(facet_opencl_devices(&devices, &count, why, &err) == FACET_OK);
    free(devices);
    if (count == 0) {
        harness_skip(why);
    }
    return count;
}

static facet_gfx12_device *open_device(size_t number, uint64_t max_bytes)
{
    const struct facet_gfx12_device_options options = {.number = number, .max_bytes = max_bytes};
    facet_gfx12_device *device;
    struct facet_error err = {0};

    CHECK_MSG(facet_gfx12_device_open(&options, &device, &err) == FACET_OK, "%s", err.message);
    return device;
}

/* The context of the callbacks says which rays the host traced. */
static void before(void *context, size_t ray)
{
    *(size_t *)context = ray;
}

static enum facet_gfx12_verdict any_hit(void *context, const struct facet_gfx12_hit *candidate)
{
    (void)context;
    return candidate->primitive_index % 3 == 0 ? FACET_GFX12_IGNORE : FACET_GFX12_ACCEPT;
}

static bool procedural(void *context,
                       const struct facet_gfx12_ray *ray,
                       const uint8_t node[128],
                       struct facet_gfx12_hit *candidate)
{
    (void)context, (void)ray, (void)node;
    candidate->t = 0.5f + (float)(candidate->primitive_index % 7);
    return true;
}

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
           a->instances == b->instances && a->pushes == b->pushes && a->max_depth == b->max_depth;
}

struct batch {
    struct facet_gfx12_batch_ray rays[RAYS];
    struct facet_gfx12_hit want[RAYS], got[RAYS];
    struct facet_gfx12_stats want_each[RAYS], each[RAYS];
};

/* One batch of a world; false after the first difference. */
static bool check_batch(facet_gfx12_device *device, const struct world *w, struct batch *b)
{
    const float zero[3] = {0, 0, 0};
    const struct facet_gfx12_tracer_options options = {.address = w->base,
                                                       .path = FACET_GFX12_PATH_REFERENCE};
    struct facet_gfx12_query q;
    struct facet_gfx12_stats want_sum = {0}, sum;
    struct facet_error want_err = {0}, err = {0};
    facet_gfx12_tracer *tracer;
    enum facet_status want_status = FACET_OK, status;
    size_t context = 0, done = 0;
    bool lost = false, good;

    facet_gfx12_query_init(&q, zero, zero);
    q.address = w->base;
    q.api_flags = random_api_flags();
    q.instance_mask = below(3) == 0 ? (uint32_t)harness_random() & 0x1FF : 0xFF;
    q.max_steps = below(8) == 0 ? 1 + below(100) : 3000;
    q.callbacks.context = &context;
    q.callbacks.any_hit = below(3) == 0 ? any_hit : NULL;
    q.callbacks.procedural = below(3) == 0   ? procedural
                             : below(2) == 0 ? facet_gfx12_procedural_box
                                             : NULL;
    if (!CHECK(facet_gfx12_tracer_create(&w->unit, &options, &tracer, &err) == FACET_OK)) {
        return false;
    }
    for (size_t i = 0; i < RAYS; i++) {
        random_ray(w, &b->rays[i]);
        memcpy(q.origin, b->rays[i].origin, sizeof q.origin);
        memcpy(q.direction, b->rays[i].direction, sizeof q.direction);
        q.t_min = b->rays[i].t_min;
        q.t_max = b->rays[i].t_max;
        if (want_status == FACET_OK) {
            want_status = facet_gfx12_trace(&w->unit, &q, &b->want[i], &b->want_each[i], &want_err);
            done += want_status == FACET_OK;
            facet_gfx12_stats_add(&want_sum, &b->want_each[i]);
        }
    }
    good =
        CHECK_MSG(facet_gfx12_device_image(device, &w->unit, &err) == FACET_OK, "%s", err.message);
    status = !good ? FACET_ERR_IO
                   : facet_gfx12_device_trace(device,
                                              &(struct facet_gfx12_device_batch){.host = tracer,
                                                                                 .common = &q,
                                                                                 .rays = b->rays,
                                                                                 .count = RAYS,
                                                                                 .hits = b->got,
                                                                                 .each = b->each,
                                                                                 .sum = &sum,
                                                                                 .lost = &lost,
                                                                                 .before = before},
                                              &err);
    facet_gfx12_tracer_destroy(tracer);
    good =
        good && CHECK_MSG(status == want_status &&
                              (status == FACET_OK ||
                               (err.where == done && strcmp(err.message, want_err.message) == 0)),
                          "status %d, expected %d: %s",
                          status,
                          want_status,
                          err.message);
    for (size_t i = 0; i < done && good; i++) {
        good = CHECK_MSG(same_hit(&b->got[i], &b->want[i]) &&
                             same_stats(&b->each[i], &b->want_each[i]),
                         "ray %u: t %a primitive %u steps %u, expected t %a primitive %u steps %u",
                         (unsigned)i,
                         b->got[i].t,
                         b->got[i].primitive_index,
                         (unsigned)b->each[i].steps,
                         b->want[i].t,
                         b->want[i].primitive_index,
                         (unsigned)b->want_each[i].steps);
    }
    return good && (status != FACET_OK || CHECK(same_stats(&sum, &want_sum)));
}

static void check_worlds(unsigned worlds, bool damaged, uint64_t max_bytes)
{
    const size_t devices = device_count();
    struct batch *b = calloc(1, sizeof *b);

    for (size_t d = 0; d < devices && b != NULL && !harness_failed(); d++) {
        facet_gfx12_device *device = open_device(d, max_bytes);

        for (unsigned i = 0; i < worlds && device != NULL && !harness_failed(); i++) {
            struct world *w = world_new(damaged);

            if (w != NULL) {
                (void)check_batch(device, w, b);
                world_free(w);
            }
        }
        if (device != NULL && max_bytes != 0) {
            CHECK(facet_gfx12_device_figures(device).launches > worlds);
        }
        facet_gfx12_device_close(device);
    }
    free(b);
}

TEST(rays_equal_the_reference, "G12-195 G12-248")
{
    check_worlds(harness_long() ? 1000 : 60, false, 0);
}

TEST(rays_through_damaged_images_equal_the_reference, "G12-195")
{
    check_worlds(harness_long() ? 1000 : 60, true, 0);
}

/* Two pages of 4 KiB and room for a few rays. */
TEST(streamed_images_and_rays_change_nothing, "")
{
    check_worlds(harness_long() ? 500 : 30, false, 20000);
    check_worlds(harness_long() ? 500 : 30, true, 20000);
}

TEST(a_device_that_is_not_there, "")
{
    const struct facet_gfx12_device_options options = {.number = 1000};
    facet_gfx12_device *device;
    struct facet_error err = {0};

    CHECK(facet_gfx12_device_open(&options, &device, &err) == FACET_ERR_USAGE);
    CHECK(device == NULL && strstr(err.message, "opencl:1000") != NULL);
}
