/* Rays on a device of OpenCL against the reference loop: every hit, every statistic, every failure,
 * with images that are there as a whole and images that come in pages. Every device that is there
 * is tested; without one the cases are skipped. */
#include "gfx12/common.h"

#include "base/float.h"
#include "gfx12/ask/lost.h"
#include "gfx12/ask/procedural.h"
#include "gfx12/device/device.h"
#include "gfx12/device/order.h"
#include "gfx12/device/prepare.h"
#include "gfx12/image/node.h"
#include "gfx12/worlds.h"

#include <math.h>
#include <stdlib.h>

enum { FEW = 300, RAYS = 5000 };

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

/* The context of the callbacks: rays that the host traced, in order? */
struct traced {
    size_t count, next;
    bool in_order;
};

static void before(void *context, size_t ray)
{
    struct traced *t = context;

    t->in_order = t->in_order && ray >= t->next;
    t->next = ray + 1;
    t->count++;
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
    size_t count;
    struct facet_gfx12_batch_ray rays[RAYS];
    struct facet_gfx12_hit want[RAYS], got[RAYS];
    struct facet_gfx12_stats want_each[RAYS], each[RAYS], want_sum;
    enum facet_status want_status;
    size_t done; /* rays before the first that fails */
    struct facet_error want_err;
    unsigned mixed, sound,
        lost; /* sums with declined rays; batches that lose nothing or something */
};

static void random_query(const struct world *w, struct traced *traced, struct facet_gfx12_query *q)
{
    const float zero[3] = {0, 0, 0};

    facet_gfx12_query_init(q, zero, zero);
    q->address = w->base;
    q->api_flags = random_api_flags();
    q->instance_mask = below(3) == 0 ? (uint32_t)harness_random() & 0x1FF : 0xFF;
    q->max_steps = below(8) == 0 ? 1 + below(100) : 3000;
    q->callbacks.context = traced;
    q->callbacks.any_hit = below(3) == 0 ? any_hit : NULL;
    q->callbacks.procedural = below(3) == 0   ? procedural
                              : below(2) == 0 ? facet_gfx12_procedural_box
                                              : NULL;
}

/* Rays, and what they meet. */
static void
trace_here(const struct world *w, const struct facet_gfx12_query *common, struct batch *b)
{
    struct facet_gfx12_query q = *common;

    b->count = below(10) == 0 ? RAYS : FEW;
    b->want_status = FACET_OK;
    b->want_sum = (struct facet_gfx12_stats){0};
    b->done = 0;
    for (size_t i = 0; i < b->count; i++) {
        random_ray(w, &b->rays[i]);
        memcpy(q.origin, b->rays[i].origin, sizeof q.origin);
        memcpy(q.direction, b->rays[i].direction, sizeof q.direction);
        q.t_min = b->rays[i].t_min;
        q.t_max = b->rays[i].t_max;
        if (b->want_status == FACET_OK) {
            b->want_status =
                facet_gfx12_trace(&w->unit, &q, &b->want[i], &b->want_each[i], &b->want_err);
            b->done += b->want_status == FACET_OK;
            facet_gfx12_stats_add(&b->want_sum, &b->want_each[i]);
        }
    }
    memset(b->got, 0xA5, sizeof b->got);
    memset(b->each, 0xA5, sizeof b->each);
}

/* Rays that the host traced count as if they had lost something. */
static bool check_lost(const struct world *w,
                       const struct facet_gfx12_query *q,
                       struct batch *b,
                       bool lost,
                       size_t declined)
{
    struct facet_gfx12_lost losses;
    struct facet_error err;
    bool want;

    CHECK(facet_gfx12_lost_rays(&w->unit, q, b->rays, b->count, NULL, &losses, &err) == FACET_OK);
    want = facet_gfx12_lost_total(&losses) != 0;
    b->lost += want && declined == 0;
    b->sound += !want && declined == 0;
    return CHECK(lost == (want || declined != 0));
}

/* One batch of a world; false after the first difference. */
static bool check_batch(facet_gfx12_device *device, const struct world *w, struct batch *b)
{
    const struct facet_gfx12_tracer_options options = {.address = w->base,
                                                       .path = FACET_GFX12_PATH_REFERENCE};
    const uint64_t declined = facet_gfx12_device_figures(device).declined;
    struct traced traced = {.in_order = true};
    struct facet_gfx12_device_batch batch = {.rays = b->rays, .hits = b->got, .before = before};
    struct facet_gfx12_query q;
    struct facet_gfx12_stats sum;
    struct facet_error err = {0};
    facet_gfx12_tracer *tracer;
    enum facet_status status;
    bool lost, good;

    random_query(w, &traced, &q);
    if (!CHECK(facet_gfx12_tracer_create(&w->unit, &options, &tracer, &err) == FACET_OK)) {
        return false;
    }
    trace_here(w, &q, b);
    batch.host = tracer;
    batch.common = &q;
    batch.count = b->count;
    batch.each = below(3) != 0 ? b->each : NULL;
    batch.sum = below(3) != 0 ? &sum : NULL;
    batch.lost = below(3) != 0 ? &lost : NULL;
    status = facet_gfx12_device_image(device, &w->unit, &err);
    status = status == FACET_OK ? facet_gfx12_device_trace(device, &batch, &err) : status;
    facet_gfx12_tracer_destroy(tracer);
    good = CHECK_MSG(status == b->want_status &&
                         (status == FACET_OK ||
                          (err.where == b->done && strcmp(err.message, b->want_err.message) == 0)),
                     "status %d, expected %d: %s",
                     status,
                     b->want_status,
                     err.message);
    for (size_t i = 0; i < b->done && good; i++) {
        good = CHECK_MSG(same_hit(&b->got[i], &b->want[i]) &&
                             (batch.each == NULL || same_stats(&b->each[i], &b->want_each[i])),
                         "ray %u: t %a primitive %u steps %u, expected t %a primitive %u steps %u",
                         (unsigned)i,
                         b->got[i].t,
                         b->got[i].primitive_index,
                         (unsigned)b->each[i].steps,
                         b->want[i].t,
                         b->want[i].primitive_index,
                         (unsigned)b->want_each[i].steps);
    }
    good = good && CHECK(traced.in_order);
    if (!good || status != FACET_OK) {
        return good;
    }
    b->mixed += batch.sum != NULL && traced.count != 0 && traced.count < b->count;
    return CHECK(traced.count == facet_gfx12_device_figures(device).declined - declined) &&
           (batch.sum == NULL || CHECK(same_stats(&sum, &b->want_sum))) &&
           (batch.lost == NULL || check_lost(w, &q, b, lost, traced.count));
}

/* Whether the batches so far had what makes them worth something. */
static bool seen_all(facet_gfx12_device *device, const struct batch *b, bool damaged)
{
    return b->mixed > 2 && (damaged ? b->lost : b->sound) > 2 &&
           (damaged || facet_gfx12_device_figures(device).sorted >= RAYS);
}

static void check_worlds(unsigned worlds, bool damaged, uint64_t max_bytes)
{
    const size_t devices = device_count();
    struct batch *b = calloc(1, sizeof *b);

    for (size_t d = 0; d < devices && b != NULL && !harness_failed(); d++) {
        facet_gfx12_device *device = open_device(d, max_bytes);
        unsigned i = 0;

        while (
            device != NULL && !harness_failed() &&
            (i < worlds || (max_bytes == 0 && i < 20 * worlds && !seen_all(device, b, damaged)))) {
            struct world *w = world_new(damaged);

            if (w != NULL) {
                facet_gfx12_device_order(device, i % 3); /* it changes nothing */
                (void)check_batch(device, w, b);
                world_free(w);
            }
            i++;
        }
        CHECK(device == NULL ||
              (max_bytes != 0 ? facet_gfx12_device_figures(device).launches > worlds
                              : seen_all(device, b, damaged)));
        facet_gfx12_device_close(device);
    }
    CHECK(b != NULL);
    free(b);
}

enum { NEIGHBOURS = 2048 };

/* Whether some of `count` rays, which fail nowhere, may have lost something, of every NEIGHBOURS.
 */
static void trace_for_loss(facet_gfx12_device *device,
                           const struct world *w,
                           const struct facet_gfx12_batch_ray *rays,
                           size_t count,
                           bool *lost)
{
    static struct facet_gfx12_hit hits[3 * NEIGHBOURS];
    const struct facet_gfx12_tracer_options options = {.address = w->base,
                                                       .path = FACET_GFX12_PATH_REFERENCE};
    const float zero[3] = {0, 0, 0};
    struct facet_gfx12_device_batch batch = {
        .rays = rays, .count = count, .hits = hits, .lost = lost, .lost_rays = NEIGHBOURS};
    struct facet_gfx12_query q;
    struct facet_error err = {0};
    facet_gfx12_tracer *tracer;

    facet_gfx12_query_init(&q, zero, zero);
    q.address = w->base;
    CHECK(facet_gfx12_tracer_create(&w->unit, &options, &tracer, &err) == FACET_OK);
    batch.host = tracer;
    batch.common = &q;
    memset(lost, true, (count + NEIGHBOURS - 1) / NEIGHBOURS);
    CHECK_MSG(facet_gfx12_device_trace(device, &batch, &err) == FACET_OK, "%s", err.message);
    facet_gfx12_tracer_destroy(tracer);
}

/* Far from a ray that may have lost something nobody looks again. */
TEST(lost_rays_are_told_by_their_neighbours, "")
{
    static struct facet_gfx12_batch_ray rays[3 * NEIGHBOURS];
    facet_gfx12_device *device = device_count() != 0 ? open_device(0, 0) : NULL;
    unsigned found = 0;

    for (unsigned i = 0; i < 200 && device != NULL && found < 5 && !harness_failed(); i++) {
        struct world *w = world_new(true);
        struct facet_gfx12_batch_ray losing = {0}, sound = {0};
        struct facet_error err = {0};
        unsigned have = 0;

        CHECK(facet_gfx12_device_image(device, &w->unit, &err) == FACET_OK);
        for (unsigned r = 0; r < 50 && have != 3 && !harness_failed(); r++) {
            struct facet_gfx12_batch_ray ray;
            bool lost;

            random_ray(w, &ray);
            trace_for_loss(device, w, &ray, 1, &lost);
            *(lost ? &losing : &sound) = ray;
            have |= lost ? 1 : 2;
        }
        for (unsigned at = 0; have == 3 && at < 3; at++) {
            bool lost[3];

            for (size_t r = 0; r < 3 * NEIGHBOURS; r++) {
                rays[r] = r == at * NEIGHBOURS + 777 ? losing : sound;
            }
            trace_for_loss(device, w, rays, 3 * NEIGHBOURS, lost);
            CHECK(lost[0] == (at == 0) && lost[1] == (at == 1) && lost[2] == (at == 2));
        }
        found += have == 3;
        world_free(w);
    }
    CHECK(device == NULL || found == 5);
    facet_gfx12_device_close(device);
}

TEST(rays_equal_the_reference, "G12-195 G12-248")
{
    check_worlds(harness_long() ? 1000 : 100, false, 0);
}

TEST(rays_through_damaged_images_equal_the_reference, "G12-195")
{
    check_worlds(harness_long() ? 1000 : 100, true, 0);
}

/* Two pages of 4 KiB and room for a few rays. */
TEST(streamed_images_and_rays_change_nothing, "")
{
    check_worlds(harness_long() ? 500 : 60, false, 20000);
    check_worlds(harness_long() ? 500 : 60, true, 20000);
}

/* ---- the order of rays ---- */

enum { MANY = 1 << 18, WINDOW = 32 };

/* A box of boxes around [-4, 4]. */
static void one_box(uint8_t bytes[256])
{
    struct facet_gfx12_box box = {
        .origin = {facet_float_bits(-4), facet_float_bits(-4), facet_float_bits(-4)},
        .exponent = {130, 130, 130},
        .parent = FACET_GFX12_INVALID,
        .obb_matrix_index = 127};

    for (unsigned i = 0; i < 8; i++) {
        facet_gfx12_child_unused(&box.child[i]);
    }
    box.child[0] = (struct facet_gfx12_child){
        .max = {4095, 4095, 4095}, .cull_mask = 0xFF, .node_type = 5, .node_size = 1};
    memset(bytes, 0, 256);
    facet_gfx12_box_encode(&box, bytes);
}

/* How far the rays of a window are apart along an axis, all windows together, of 8 each. */
static double spread(const struct facet_gfx12_batch_ray *rays)
{
    double sum = 0;

    for (size_t first = 0; first < MANY; first += WINDOW) {
        for (unsigned k = 0; k < 3; k++) {
            float lo = 4, hi = -4;

            for (size_t i = first; i < first + WINDOW; i++) {
                const float at = rays[i].origin[k];

                lo = at >= -4 && at < lo ? at : lo;
                hi = at <= 4 && at > hi ? at : hi;
            }
            sum += (double)(hi - lo);
        }
    }
    return sum / (3.0 * MANY / WINDOW * 8);
}

static void run_there(facet_opencl *cl,
                      const char *kernel,
                      const struct facet_opencl_argument *arguments,
                      unsigned count,
                      size_t items)
{
    struct facet_error err = {0};

    CHECK_MSG(facet_opencl_run(cl, kernel, arguments, count, items, NULL, &err) == FACET_OK,
              "%s",
              err.message);
}

static facet_opencl_memory *memory_of(facet_opencl *cl, const void *data, size_t bytes)
{
    facet_opencl_memory *memory;
    struct facet_error err = {0};

    CHECK_MSG(facet_opencl_memory_new(cl, bytes, &memory, &err) == FACET_OK, "%s", err.message);
    if (data != NULL) {
        CHECK(facet_opencl_write(cl, memory, 0, data, bytes, &err) == FACET_OK);
    }
    return memory;
}

static void check_order(facet_opencl *cl,
                        const struct facet_gfx12_batch_ray *rays,
                        struct facet_gfx12_batch_ray *sorted)
{
    static uint32_t list[MANY];
    static bool met[MANY];
    const float zero[3] = {0, 0, 0};
    uint8_t bytes[256];
    struct facet_gfx12_unit unit;
    struct facet_gfx12_query q;
    struct device_common common;
    struct facet_error err = {0};
    uint64_t nanoseconds = 0;

    one_box(bytes);
    facet_gfx12_unit_init(&unit, bytes, sizeof bytes);
    facet_gfx12_query_init(&q, zero, zero);
    facet_gfx12_device_common(&unit, &q, &common);
    common.records = facet_gfx12_device_records(&common, common.phase);
    facet_opencl_memory *image = memory_of(cl, bytes, sizeof bytes);
    facet_opencl_memory *boxes = memory_of(cl, NULL, 2 * 256),
                        *pairs = memory_of(cl, NULL, 2 * 768);
    const struct facet_opencl_argument packing[] = {
        {image, 0}, {NULL, 0}, {NULL, common.records}, {boxes, 0}, {pairs, 0}};
    const struct facet_gfx12_order sort = {.cl = cl,
                                           .keys = memory_of(cl, NULL, facet_gfx12_order_bytes()),
                                           .key_of_ray = memory_of(cl, NULL, sizeof list),
                                           .common = memory_of(cl, &common, sizeof common),
                                           .boxes = boxes,
                                           .rays = memory_of(cl, rays, MANY * sizeof *rays),
                                           .list = memory_of(cl, NULL, sizeof list),
                                           .count = MANY,
                                           .nanoseconds = &nanoseconds};

    run_there(cl, "facet_pack", packing, 5, common.records);
    memset(met, 0, sizeof met);
    for (unsigned turn = 0; turn < 2; turn++) { /* what is left of one is in no one's way */
        CHECK(facet_gfx12_order_rays(&sort, &err) == FACET_OK);
    }
    CHECK(facet_opencl_read(cl, sort.list, 0, list, sizeof list, &err) == FACET_OK);
    for (size_t i = 0; i < MANY; i++) {
        if (!CHECK(list[i] < MANY && !met[list[i]])) {
            break;
        }
        met[list[i]] = true;
        sorted[i] = rays[list[i]];
    }
    facet_opencl_memory *const all[] = {
        image, boxes, pairs, sort.keys, sort.key_of_ray, sort.common, sort.rays, sort.list};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        facet_opencl_memory_free(cl, all[i]);
    }
}

/* Every ray once, and neighbours begin near each other and go the same way. */
TEST(sorted_rays_keep_each_other_company, "")
{
    const size_t devices = device_count();
    struct facet_gfx12_batch_ray *rays = malloc(2 * MANY * sizeof *rays), *sorted = rays + MANY;

    for (size_t i = 0; i < MANY; i++) {
        for (unsigned k = 0; k < 3; k++) {
            rays[i].origin[k] = in_range(-4, 4);
            rays[i].direction[k] = in_range(-1, 1);
        }
        if (i % 1000 == 0) { /* are of no cell and no way */
            rays[i].origin[i / 1000 % 3] = odd_float();
            rays[i].direction[i / 3000 % 3] = odd_float();
        }
    }
    CHECK(facet_gfx12_order_helps(rays, MANY) && !facet_gfx12_order_helps(rays, 1000));
    CHECK(spread(rays) > 0.9);
    for (size_t d = 0; d < devices && !harness_failed(); d++) {
        facet_gfx12_device *device = open_device(d, 0);

        if (device != NULL) {
            check_order(facet_gfx12_device_opencl(device), rays, sorted);
            CHECK_MSG(!facet_gfx12_order_helps(sorted, MANY), "the ways");
            CHECK_MSG(spread(sorted) < 0.25, "%g of the scene", spread(sorted));
            facet_gfx12_device_close(device);
        }
    }
    free(rays);
}

/* ---- runs of kernels ---- */

enum { ITEMS = 1000 };

static void more(facet_opencl *cl, facet_opencl_memory *memory, uint32_t by, uint64_t *nanoseconds)
{
    const struct facet_opencl_argument arguments[] = {{memory, 0}, {NULL, by}, {NULL, ITEMS}};
    struct facet_error err;

    CHECK(facet_opencl_run(cl, "more", arguments, 3, ITEMS, nanoseconds, &err) == FACET_OK);
}

/* More runs than are kept in mind without a look at how they ended; and a device is closed before
 * its last run has. */
TEST(runs_follow_one_another, "")
{
    static const char *const text[] = {
        "__kernel void more(__global uint *a, uint by, uint count)"
        "{ if (get_global_id(0) < count) a[get_global_id(0)] = a[get_global_id(0)] * 3 + by; }"};
    const size_t devices = device_count();

    for (size_t d = 0; d < devices; d++) {
        facet_opencl *cl;
        facet_opencl_memory *memory;
        struct facet_error err = {0};
        uint64_t nanoseconds[2] = {0};
        uint32_t numbers[ITEMS], want = 0;

        CHECK_MSG(facet_opencl_open(d, text, 1, &cl, &err) == FACET_OK, "%s", err.message);
        CHECK(facet_opencl_memory_new(cl, sizeof numbers, &memory, &err) == FACET_OK);
        memset(numbers, 0x5A, sizeof numbers);
        CHECK(facet_opencl_write(cl, memory, 0, numbers, sizeof numbers, &err) == FACET_OK);
        CHECK(facet_opencl_clear(cl, memory, 4, sizeof numbers - 4, &err) == FACET_OK);
        for (uint32_t i = 0; i < 100; i++) {
            more(cl, memory, i, &nanoseconds[i % 2]);
            want = want * 3 + i;
        }
        CHECK(facet_opencl_read(cl, memory, 0, numbers, sizeof numbers, &err) == FACET_OK);
        CHECK(numbers[0] != want && nanoseconds[0] > 0 && nanoseconds[1] > 0);
        for (unsigned i = 1; i < ITEMS; i++) {
            CHECK_EQ(numbers[i], want);
        }
        more(cl, memory, 0, NULL);
        facet_opencl_memory_free(cl, memory);
        facet_opencl_close(cl);
    }
}

TEST(a_device_that_is_not_there, "")
{
    const struct facet_gfx12_device_options options = {.number = 1000};
    facet_gfx12_device *device;
    struct facet_error err = {0};

    CHECK(facet_gfx12_device_open(&options, &device, &err) == FACET_ERR_USAGE);
    CHECK(device == NULL && strstr(err.message, "opencl:1000") != NULL);
}
