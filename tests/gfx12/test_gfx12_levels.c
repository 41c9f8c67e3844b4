/* Instances below instances (HIPRT's scenes of scenes): a ray that leaves one goes on in the level
 * that the instance stands in (11.1). Every way through three levels is taken by hand and ends in a
 * trace of the bottom level alone; the nearest of these hits is the one that all loops must find.
 */
#include "gfx12/common.h"

#include "base/float.h"
#include "gfx12/pack.h"
#include "gfx12/tracer.h"

#include <math.h>

enum { TRIANGLES = 24, MIDDLE = 5, TOP = 3, RAYS = 2000 };

struct world {
    struct pack_image image;
    size_t blas, middle, top;
    struct pack_instance below[MIDDLE], above[TOP];
};

static float in_range(float lo, float hi)
{
    return lo + (hi - lo) * ((float)(random_bits() >> 8) * 0x1p-24f);
}

/* world_to_object: a scale, a turn of the axes and a move, so that the way back is exact enough. */
static void place(struct pack_instance *in, const float lo[3], const float hi[3])
{
    const unsigned turn = random_bits() % 3;
    const float scale = in_range(0.5f, 2);

    memcpy(in->blas_lo, lo, sizeof in->blas_lo);
    memcpy(in->blas_hi, hi, sizeof in->blas_hi);
    in->mask = 0xFF;
    for (unsigned row = 0; row < 3; row++) {
        const unsigned axis = (row + turn) % 3; /* of the world */
        const float move = in_range(-3, 3);

        memset(in->world_to_object + 4 * (size_t)row, 0, 4 * sizeof(float));
        in->world_to_object[4 * row + axis] = scale;
        in->world_to_object[4 * row + 3] = move;
        in->lo[axis] = (lo[row] - move) / scale - 0.01f;
        in->hi[axis] = (hi[row] - move) / scale + 0.01f;
    }
}

static void bounds_of(const struct pack_instance *in, unsigned count, float lo[3], float hi[3])
{
    for (unsigned k = 0; k < 3; k++) {
        lo[k] = INFINITY;
        hi[k] = -INFINITY;
        for (unsigned i = 0; i < count; i++) {
            lo[k] = fminf(lo[k], in[i].lo[k]);
            hi[k] = fmaxf(hi[k], in[i].hi[k]);
        }
    }
}

static void build(struct world *w)
{
    struct pack_tri tris[TRIANGLES];
    float lo[3], hi[3], middle_lo[3], middle_hi[3];

    memset(w, 0, sizeof *w);
    for (unsigned i = 0; i < TRIANGLES; i++) {
        float at[3] = {in_range(-1, 1), in_range(-1, 1), in_range(-1, 1)};

        tris[i] = (struct pack_tri){.primitive = i, .opaque = true};
        for (unsigned c = 0; c < 9; c++) {
            tris[i].v[c / 3][c % 3] = at[c % 3] + in_range(-0.7f, 0.7f);
        }
    }
    w->blas = pack_blas(&w->image, tris, TRIANGLES, 2, 0.01f, lo, hi);
    for (unsigned i = 0; i < MIDDLE; i++) {
        place(&w->below[i], lo, hi);
        w->below[i].blas = w->blas;
        w->below[i].user_data = i;
    }
    w->middle = pack_tlas(&w->image, w->below, MIDDLE);
    bounds_of(w->below, MIDDLE, middle_lo, middle_hi);
    for (unsigned i = 0; i < TOP; i++) {
        const bool direct = i == TOP - 1;

        place(&w->above[i], direct ? lo : middle_lo, direct ? hi : middle_hi);
        w->above[i].blas = direct ? w->blas : w->middle;
        w->above[i].user_data = 100 + i;
    }
    w->top = pack_tlas(&w->image, w->above, TOP);
}

/* transform of 9.6. */
static void enter(const struct pack_instance *in, const float from[2][3], float to[2][3])
{
    for (unsigned r = 0; r < 3; r++) {
        const float *m = in->world_to_object + 4 * (size_t)r;

        to[0][r] = fmaf(from[0][0], m[0], fmaf(from[0][1], m[1], fmaf(from[0][2], m[2], m[3])));
        to[1][r] = fmaf(from[1][0], m[0], fmaf(from[1][1], m[1], from[1][2] * m[2]));
    }
}

static void nearer(const struct world *w,
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

static struct facet_gfx12_hit expected(const struct world *w, const float ray[2][3])
{
    struct facet_gfx12_hit best = {0};

    for (unsigned i = 0; i < TOP; i++) {
        float inner[2][3], own[2][3];

        enter(&w->above[i], ray, inner);
        if (w->above[i].blas == w->blas) {
            nearer(w, (const float(*)[3])inner, w->above[i].user_data, &best);
            continue;
        }
        for (unsigned j = 0; j < MIDDLE; j++) {
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
    struct world w;
    unsigned hits = 0;

    build(&w);
    facet_gfx12_unit_init(&unit, w.image.bytes, w.image.size);
    start.address = w.top;
    CHECK(facet_gfx12_tracer_create(&unit, &start, &tracer, NULL) == FACET_OK);
    for (unsigned n = 0; n < RAYS && !harness_failed(); n++) {
        float ray[2][3];
        struct facet_gfx12_query query;
        struct facet_gfx12_hit want, hit, again;

        for (unsigned k = 0; k < 3; k++) {
            ray[0][k] = in_range(-12, 12);
            ray[1][k] = in_range(-4, 4) - ray[0][k];
        }
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
