/* The guest program of `facet render --machine xphmg-rt` and `xphmg-rt-offload`: draws one bucket
 * of a picture on the hart. Shading is Facet's own (src/shade), compiled for the guest; every ray
 * goes through the RT instructions (guest/rt), one by one or as queues for the job engine.
 *
 * The host leaves a block at a fixed address (guest/block.h) and reads the pixels
 * through the framebuffer device. Static data is zero at every start: the program runs once per
 * bucket. */
#include "base/float.h"
#include "guest/block.h"
#include "rt.h"

#include <framebuffer.h>
#include <math.h>
#include <string.h>

enum { WAVE = FACET_BUCKET_PIXELS };

struct tracer {
    const struct facet_guest_block *block;
    struct rt_bvh bvh;
    struct rt_batch batch;
};

static struct tracer tracer;
static struct facet_bucket bucket;
static float pixels[FACET_BUCKET_PIXELS * 3];
static uint8_t batch_memory[(WAVE + 1) * 96] __attribute__((aligned(64)));

/* The rays of a wave that are still travelling: those that hit something which lets them pass
 * continue beyond it. */
static struct xphmg_ray_record_32 rays[WAVE];
static struct rt_hit found[WAVE];
static bool hit[WAVE];
static uint32_t owner[WAVE];

/* ---- neighbours of a float ---- */

/* As nextafterf has them, which asks and raises flags on the way. */
static float next_up(float value)
{
    uint32_t bits = facet_float_bits(value);

    if (!(value < INFINITY)) {
        return value;
    }
    return facet_float_of(value == 0.0F ? 1 : value > 0.0F ? bits + 1 : bits - 1);
}

static float next_to_zero(float value)
{
    return value == 0.0F ? value : facet_float_of(facet_float_bits(value) - 1);
}

/* ---- one round of rays ---- */

static enum rt_status trace_one(const struct tracer *t, uint32_t i, bool any)
{
    enum rt_status status =
        any ? rt_any(&t->bvh, &rays[i]) : rt_closest(&t->bvh, &rays[i], &found[i]);

    hit[i] = status == RT_HIT;
    return status;
}

static enum rt_status trace_round(struct tracer *t, uint32_t count, bool any)
{
    enum rt_status status = RT_OK;

    if (t->block->offload) {
        return rt_batch_trace(&t->batch, &t->bvh, rays, count, any, hit, found);
    }
    for (uint32_t i = 0; i < count && status >= 0; i++) {
        status = trace_one(t, i, any);
    }
    return status;
}

/* For heat maps: what each ray took by itself. */
static enum rt_status
trace_counted(struct tracer *t, uint32_t count, const uint32_t *whose, struct facet_shade_hit *out)
{
    enum rt_status status = RT_OK;

    for (uint32_t i = 0; i < count && status >= 0; i++) {
        struct rt_counts before = rt_counts(), after;

        status = t->block->offload
                     ? rt_batch_trace(&t->batch, &t->bvh, &rays[i], 1, false, &hit[i], &found[i])
                     : trace_one(t, i, false);
        after = rt_counts();
        out[whose[i]].pairs += (after.triangles - before.triangles) & 0xFFFFFFF;
        out[whose[i]].nodes += ((after.boxes - before.boxes) & 0xFFFFFFF) +
                               ((after.triangles - before.triangles) & 0xFFFFFFF);
    }
    return status;
}

/* ---- what a hit means to the scene ---- */

static void name_hit(const struct tracer *t, const struct rt_hit *from, struct facet_shade_hit *to)
{
    const uint32_t *origin = t->bvh.origins + (size_t)2 * from->triangle;

    to->t = from->t;
    to->u = from->u;
    to->v = from->v;
    to->instance = origin[0];
    to->triangle = origin[1];
    /* An instance that mirrors turns its front faces into back faces. */
    to->back = from->front == t->block->picture.scene->instances[origin[0]].flipped;
}

/* The back of a one-sided triangle is not there: neither for the eye nor for the light, which looks
 * along a shadow ray from its far end. Whatever its side, a triangle keeps the sky away. */
static bool
stops(const struct facet_scene *scene, enum facet_ray_kind kind, const struct facet_shade_hit *h)
{
    const struct facet_scene_mesh *mesh = &scene->meshes[scene->instances[h->instance].mesh];
    bool one_sided = !scene->materials[mesh->material].double_sided;

    if (one_sided && kind != FACET_RAY_AMBIENT && h->back == (kind != FACET_RAY_SHADOW)) {
        return false;
    }
    return facet_shade_surface_stops(scene, h->instance, h->triangle, h->t, h->u, h->v);
}

/* ---- a wave ---- */

static bool first_hit_decides(const struct facet_guest_block *block, enum facet_ray_kind kind)
{
    return (kind == FACET_RAY_SHADOW && block->shadow_any) ||
           (kind == FACET_RAY_AMBIENT && block->ambient_any);
}

/* Facet's rays end before t_max and begin after t_min; those of XPHMG_RT include both. */
static void take_rays(const struct facet_shade_ray *from, size_t count, struct facet_shade_hit *out)
{
    for (uint32_t i = 0; i < count; i++) {
        for (unsigned a = 0; a < 3; a++) {
            rays[i].origin[a] = from[i].origin[a];
            rays[i].direction[a] = from[i].direction[a];
        }
        rays[i].tmin = next_up(from[i].t_min);
        rays[i].tmax = from[i].t_max < INFINITY ? next_to_zero(from[i].t_max) : INFINITY;
        owner[i] = i;
        out[i] = (struct facet_shade_hit){.instance = FACET_SCENE_NONE};
    }
}

/* Keeps the rays that passed what they met; they continue beyond it. Returns how many. */
static uint32_t sort_out(const struct tracer *t,
                         enum facet_ray_kind kind,
                         uint32_t count,
                         bool any,
                         struct facet_shade_hit *out)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct facet_shade_hit h;

        if (!hit[i]) {
            continue;
        }
        if (any) {
            out[owner[i]].instance = 0; /* which one does not matter */
            continue;
        }
        h = out[owner[i]];
        name_hit(t, &found[i], &h);
        if (stops(t->block->picture.scene, kind, &h)) {
            out[owner[i]] = h;
        } else {
            rays[kept] = rays[i];
            rays[kept].tmin = next_up(h.t);
            owner[kept++] = owner[i];
        }
    }
    return kept;
}

/* Called as it stands here: `facet why` reads rays and hits at its beginning and end. */
static __attribute__((noipa)) enum facet_status trace(const void *machine,
                                                      enum facet_ray_kind kind,
                                                      const struct facet_shade_ray *from,
                                                      size_t total,
                                                      struct facet_shade_hit *out,
                                                      struct facet_shade_cost *cost,
                                                      struct facet_error *err)
{
    struct tracer *t = (struct tracer *)machine;
    bool any = first_hit_decides(t->block, kind);
    bool counted = t->block->picture.view != FACET_SHADE_PICTURE;
    struct rt_counts before = rt_counts(), after;

    take_rays(from, total, out);
    for (uint32_t left = (uint32_t)total; left != 0;) {
        enum rt_status status =
            counted ? trace_counted(t, left, owner, out) : trace_round(t, left, any);

        if (status < 0) {
            return facet_fail(err, FACET_ERR_INTERNAL, 0, "ray tracing failed with %d", status);
        }
        left = sort_out(t, kind, left, any, out);
    }
    after = rt_counts();
    cost->rays += total;
    for (size_t i = 0; i < total; i++) {
        cost->hits += out[i].instance != FACET_SCENE_NONE;
    }
    cost->box_nodes += (after.boxes - before.boxes) & 0xFFFFFFF;
    cost->primitive_nodes += (after.triangles - before.triangles) & 0xFFFFFFF;
    cost->nodes = cost->box_nodes + cost->primitive_nodes;
    return FACET_OK;
}

/* ---- the program ---- */

static enum facet_status draw(struct facet_guest_block *block)
{
    enum facet_status status;

    if (block->layout != facet_guest_layout()) {
        return facet_fail(
            &block->error, FACET_ERR_INTERNAL, 0, "host and guest disagree on structs");
    }
    if (rt_open(&tracer.bvh, (const void *)block->bvh, block->bvh_bytes) != RT_OK) {
        return facet_fail(&block->error, FACET_ERR_INTERNAL, 0, "no RT image of FP32 elements");
    }
    rt_use(&tracer.bvh);
    rt_batch_make(&tracer.batch, batch_memory, WAVE);
    tracer.block = block;
    status = facet_shade_bucket_draw(
        &bucket, &block->picture, block->bucket, trace, &tracer, &block->error);
    if (status == FACET_OK) {
        facet_shade_bucket_store(&bucket, pixels, bucket.width);
        memcpy(block->cost, bucket.cost, sizeof block->cost);
        framebuffer_show(pixels, bucket.width, bucket.height, FRAMEBUFFER_RGBF32);
    }
    return status;
}

int main(void)
{
    return draw((struct facet_guest_block *)FACET_GUEST_BLOCK) == FACET_OK ? 0 : 1;
}
