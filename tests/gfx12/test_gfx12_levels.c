/* Instances below instances (HIPRT's scenes of scenes): a ray that leaves one goes on in the level
 * that the instance stands in (11.1). Every way through three levels is taken by hand and ends in a
 * trace of the bottom level alone; the nearest of these hits is the one that all loops must find.
 */
#include "gfx12/common.h"

#include "base/float.h"
#include "gfx12/scene_of_scenes.h"
#include "gfx12/tracer.h"

#include <math.h>

enum { RAYS = 2000 };

/* transform of 9.6. */
static void enter(const struct pack_instance *in, const float from[2][3], float to[2][3])
{
    for (unsigned r = 0; r < 3; r++) {
        const float *m = in->world_to_object + 4 * (size_t)r;

        to[0][r] = fmaf(from[0][0], m[0], fmaf(from[0][1], m[1], fmaf(from[0][2], m[2], m[3])));
        to[1][r] = fmaf(from[1][0], m[0], fmaf(from[1][1], m[1], from[1][2] * m[2]));
    }
}

static void nearer(const struct scene_of_scenes *w,
                   const float ray[2][3],
                   uint32_t user_data,
                   struct facet_gfx12_hit *best)
{
    struct facet_gfx12_unit unit;
    struct facet_gfx12_query query;
    struct facet_gfx12_hit hit;

    facet_gfx12_unit_init(&unit, w->image.bytes, w->image.size);
    facet_gfx12_query_init(&query, ray[0], ray[1]);
    query.address = w->blas;
    CHECK(facet_gfx12_trace(&unit, &query, &hit, NULL, NULL) == FACET_OK);
    if (hit.found && (!best->found || hit.t < best->t)) {
        *best = hit;
        best->instance_user_data = user_data;
    }
}

static struct facet_gfx12_hit expected(const struct scene_of_scenes *w, const float ray[2][3])
{
    struct facet_gfx12_hit best = {0};

    for (unsigned i = 0; i < SCENES_TOP; i++) {
        float inner[2][3], own[2][3];

        enter(&w->above[i], ray, inner);
        if (w->above[i].blas == w->blas) {
            nearer(w, (const float(*)[3])inner, w->above[i].user_data, &best);
            continue;
        }
        for (unsigned j = 0; j < SCENES_MIDDLE; j++) {
            enter(&w->below[j], (const float(*)[3])inner, own);
            nearer(w, (const float(*)[3])own, w->below[j].user_data, &best);
        }
    }
    return best;
}

TEST(rays_return_to_the_level_that_they_came_from, "G12-248")
{
    struct facet_gfx12_tracer_options start = {.root = FACET_GFX12_ROOT};
    struct facet_gfx12_unit unit;
    facet_gfx12_tracer *tracer;
    struct scene_of_scenes w;
    unsigned hits = 0;

    scene_of_scenes_build(&w);
    facet_gfx12_unit_init(&unit, w.image.bytes, w.image.size);
    start.address = w.top;
    CHECK(facet_gfx12_tracer_create(&unit, &start, &tracer, NULL) == FACET_OK);
    for (unsigned n = 0; n < RAYS && !harness_failed(); n++) {
        float ray[2][3];
        struct facet_gfx12_query query;
        struct facet_gfx12_hit want, hit, again;

        scene_of_scenes_ray(ray);
        want = expected(&w, (const float(*)[3])ray);
        facet_gfx12_query_init(&query, ray[0], ray[1]);
        query.address = w.top;
        CHECK(facet_gfx12_trace(&unit, &query, &hit, NULL, NULL) == FACET_OK);
        CHECK(facet_gfx12_tracer_trace(tracer, &query, &again, NULL, NULL) == FACET_OK);
        CHECK_EQ(hit.found, want.found);
        hits += hit.found;
        if (hit.found && want.found) {
            CHECK_EQ(facet_float_bits(hit.t), facet_float_bits(want.t));
            CHECK_EQ(hit.primitive_index, want.primitive_index);
            CHECK_EQ(hit.instance_user_data, want.instance_user_data);
        }
        CHECK(memcmp(&hit, &again, sizeof hit) == 0);
    }
    CHECK_MSG(hits > RAYS / 10, "only %u hits", hits);
    facet_gfx12_tracer_destroy(tracer);
    pack_free(&w.image);
}
