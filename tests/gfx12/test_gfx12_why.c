/* Why a ray misses a triangle. Images of random triangles below random instances are traced and
 * compared with all triangles tested one by one; then they are damaged, one field at a time, and
 * every triangle that a ray loses by that must be explained by the damage. */
#include "gfx12/common.h"

#include "base/bits.h"
#include "gfx12/ask/brute.h"
#include "gfx12/ask/why.h"
#include "gfx12/build/build.h"

#include <math.h>
#include <stdlib.h>

enum { TRIANGLES = 40, INSTANCES = 4 };

struct world {
    struct facet_gfx12_image image;
    struct facet_gfx12_view view;
    struct facet_gfx12_unit unit;
    struct facet_gfx12_walk walk;
    struct facet_gfx12_brute brute;
    struct facet_bvh_triangle triangles[TRIANGLES];
    struct facet_bvh_instance instances[INSTANCES];
};

static unsigned below(unsigned n)
{
    return (unsigned)(harness_random() >> 33) % n;
}

static float in_range(float lo, float hi)
{
    return lo + (hi - lo) * (float)(harness_random() >> 40) * 0x1p-24f;
}

static void look(struct world *w)
{
    facet_gfx12_brute_free(&w->brute);
    facet_gfx12_walk_free(&w->walk);
    w->view = (struct facet_gfx12_view){
        .bytes = w->image.bytes, .size = w->image.size, .base = 0x10000, .root = FACET_GFX12_ROOT};
    CHECK_EQ(facet_gfx12_walk(&w->view, &w->walk, NULL), FACET_OK);
    CHECK_EQ(facet_gfx12_brute_make(&w->view, &w->walk, &w->brute, NULL), FACET_OK);
}

static void make(struct world *w, enum facet_bvh_quality quality)
{
    const struct facet_bvh_blas_input blas = {.triangles = w->triangles,
                                              .triangle_count = TRIANGLES};
    const struct facet_bvh_scene_input scene = {&blas, 1, w->instances, INSTANCES};
    const struct facet_gfx12_build_options options = {
        .quality = quality, .base = 0x10000, .obb = below(3) == 0, .prim_range = 16};
    struct facet_gfx12_build_report report;

    memset(w, 0, sizeof *w);
    for (unsigned i = 0; i < TRIANGLES; i++) {
        const float at[3] = {in_range(-2, 2), in_range(-2, 2), in_range(-2, 2)};

        for (unsigned c = 0; c < 9; c++) {
            w->triangles[i].vertex[c / 3][c % 3] = at[c % 3] + in_range(-0.5f, 0.5f);
        }
        w->triangles[i].primitive = i;
        w->triangles[i].flags = FACET_BVH_OPAQUE;
    }
    for (unsigned i = 0; i < INSTANCES; i++) {
        struct facet_bvh_instance *in = &w->instances[i];

        in->mask = 0xFF;
        in->user_data = i;
        for (unsigned k = 0; k < 3; k++) {
            in->world_to_object[k][k] = in_range(0.5f, 2);
            in->world_to_object[k][(k + 1) % 3] = in_range(-0.3f, 0.3f);
            in->world_to_object[k][3] = in_range(-1, 1);
        }
    }
    CHECK_EQ(facet_gfx12_build(&scene, &options, NULL, NULL, &w->image, &report, NULL), FACET_OK);
    facet_gfx12_unit_init(&w->unit, w->image.bytes, w->image.size);
    w->unit.image_address = 0x10000;
    look(w);
}

static void unmake(struct world *w)
{
    facet_gfx12_brute_free(&w->brute);
    facet_gfx12_walk_free(&w->walk);
    free(w->image.bytes);
}

static struct facet_gfx12_query random_query(void)
{
    struct facet_gfx12_query q;
    float origin[3], direction[3];

    for (unsigned k = 0; k < 3; k++) {
        origin[k] = in_range(-8, 8);
        direction[k] = in_range(-2, 2) - origin[k];
    }
    facet_gfx12_query_init(&q, origin, direction);
    q.address = 0x10000;
    return q;
}

/* ---- an image as it was built ---- */

TEST(all_triangles_one_by_one_give_the_hit_of_the_traversal, "")
{
    static struct world w;
    unsigned rays = 0, hits = 0, rounded = 0;

    for (unsigned turn = 0; turn < 12; turn++) {
        make(&w, (enum facet_bvh_quality)(turn % 3));
        for (unsigned i = 0; i < 1000 && !harness_failed(); i++, rays++) {
            const struct facet_gfx12_query q = random_query();
            struct facet_gfx12_hit hit, all;
            struct facet_gfx12_why why;
            struct facet_gfx12_expect expect = {.has_instance = true};
            uint64_t tested;

            CHECK_EQ(facet_gfx12_trace(&w.unit, &q, &hit, NULL, NULL), FACET_OK);
            CHECK(facet_gfx12_brute_trace(&w.brute, &w.unit, &q, UINT64_MAX, &tested, &all));
            hits += hit.found;
            if (!all.found) {
                CHECK(!hit.found);
                continue;
            }
            expect.primitive = all.primitive_index;
            expect.instance = all.instance_user_data;
            CHECK_EQ(facet_gfx12_why(&w.unit, &w.view, &w.walk, &q, &expect, &why, NULL), FACET_OK);
            if (hit.found && hit.t == all.t) {
                CHECK(why.fault == FACET_GFX12_FAULT_NONE || why.t == all.t);
                CHECK_EQ(why.rejected, why.count);
            } else {
                CHECK_EQ(why.fault, FACET_GFX12_FAULT_ROUNDING);
                rounded++;
            }
            CHECK(!why.corner.known);
            facet_gfx12_why_free(&why);
        }
        unmake(&w);
    }
    CHECK_MSG(rays >= 10000 && hits > rays / 4 && rounded < 3,
              "%u rays, %u hits, %u rounded away",
              rays,
              hits,
              rounded);
}

/* ---- images with one field changed ---- */

enum damage { PLANE, EXPONENT, CHILD_MASK, INSTANCE_MASK, CHILD_FLAGS, STOP_BIT, MATRIX, DAMAGES };

/* A random node of the kind, or of two kinds. */
static uint8_t *pick(const struct world *w, unsigned kind)
{
    for (;;) {
        const uint32_t node = w->walk.order[below(w->walk.reached)];

        if (w->walk.nodes[node].kind == kind) {
            return w->image.bytes + facet_gfx12_node_offset(node);
        }
    }
}

static void damage_box(const struct world *w, enum damage what)
{
    uint8_t *bytes = pick(w, FACET_GFX12_KIND_BOX);
    struct facet_gfx12_box box;
    struct facet_gfx12_child *child;
    const unsigned axis = below(3);

    facet_gfx12_box_decode(bytes, &box);
    child = &box.child[below(box.child_count_minus_one + 1u)];
    if (what == PLANE) {
        const uint16_t cut = (uint16_t)((child->max[axis] - child->min[axis]) / 2);

        if (below(2) == 0) {
            child->max[axis] = (uint16_t)(child->max[axis] - cut);
        } else {
            child->min[axis] = (uint16_t)(child->min[axis] + cut);
        }
    } else if (what == EXPONENT) {
        box.exponent[axis]--;
    } else if (what == CHILD_MASK) {
        child->cull_mask = 0;
    } else {
        child->cull_flags = FACET_GFX12_ONLY_NON_OPAQUE;
    }
    facet_gfx12_box_encode(&box, bytes);
}

static void damage(const struct world *w, enum damage what)
{
    struct facet_gfx12_instance instance;
    struct facet_gfx12_prim prim;
    uint8_t *bytes;

    switch (what) {
    case INSTANCE_MASK:
    case MATRIX:
        bytes = pick(w, FACET_GFX12_KIND_INSTANCE);
        facet_gfx12_instance_decode(bytes, &instance);
        if (what == MATRIX) {
            const float far = in_range(-9, 9) + (below(2) != 0 ? 20.0f : -20.0f);

            memcpy(&instance.world_to_object[4 * below(3) + 3], &far, sizeof far);
        } else {
            instance.cull_mask = 0;
        }
        facet_gfx12_instance_encode(&instance, bytes);
        break;
    case STOP_BIT:
        bytes = pick(w, FACET_GFX12_KIND_PRIMITIVE);
        facet_gfx12_prim_decode(bytes, &prim);
        prim.pair[below(facet_gfx12_prim_pairs(&prim.header))].prim_range_stop = 1;
        facet_gfx12_prim_encode(&prim, bytes);
        break;
    default:
        damage_box(w, what);
        break;
    }
}

/* The fault that a damage may be reported as. */
static bool explains(enum damage what, const struct facet_gfx12_why *why)
{
    switch (what) {
    case PLANE:
    case EXPONENT:
        return why->fault == FACET_GFX12_FAULT_BOX &&
               why->path[why->rejected].reject == FACET_GFX12_REJECT_BOX && why->hit_point.known &&
               why->hit_point.amount > 0.0 && why->gap_t > 0.0;
    case CHILD_MASK:
        return why->fault == FACET_GFX12_FAULT_MASK && why->own_flags;
    case INSTANCE_MASK:
        return why->fault == FACET_GFX12_FAULT_MASK && !why->own_flags;
    case CHILD_FLAGS:
        return why->fault == FACET_GFX12_FAULT_FLAGS && why->own_flags;
    case STOP_BIT:
        return why->fault == FACET_GFX12_FAULT_RANGE;
    default:
        return why->fault == FACET_GFX12_FAULT_TRANSFORM;
    }
}

TEST(every_damage_is_named, "")
{
    static struct world w;
    unsigned lost[DAMAGES] = {0};

    for (unsigned turn = 0; turn < 15 * DAMAGES && !harness_failed(); turn++) {
        const enum damage what = (enum damage)(turn % DAMAGES);
        struct facet_gfx12_query queries[200];
        struct facet_gfx12_hit before[200];
        uint64_t tested;

        make(&w, (enum facet_bvh_quality)(turn / DAMAGES % 3));
        for (unsigned i = 0; i < 200; i++) {
            queries[i] = random_query();
            queries[i].api_flags = what == CHILD_FLAGS ? FACET_GFX12_CULL_NON_OPAQUE : 0;
            (void)facet_gfx12_brute_trace(
                &w.brute, &w.unit, &queries[i], UINT64_MAX, &tested, &before[i]);
        }
        damage(&w, what);
        look(&w);
        for (unsigned i = 0; i < 200 && !harness_failed(); i++) {
            const struct facet_gfx12_expect expect = {.primitive = before[i].primitive_index,
                                                      .has_geometry = true,
                                                      .has_instance = true,
                                                      .instance = before[i].instance_user_data};
            struct facet_gfx12_why why;

            if (!before[i].found) {
                continue;
            }
            CHECK_EQ(facet_gfx12_why(&w.unit, &w.view, &w.walk, &queries[i], &expect, &why, NULL),
                     FACET_OK);
            if (!facet_gfx12_is_expected(&why.hit, &expect) &&
                !(why.hit.found && why.hit.t == before[i].t)) {
                lost[what]++;
                CHECK_MSG(explains(what, &why),
                          "damage %u: fault %s, rejected %u of %u",
                          what,
                          facet_gfx12_fault_name(why.fault),
                          why.rejected,
                          why.count);
            }
            facet_gfx12_why_free(&why);
        }
        unmake(&w);
    }
    for (unsigned what = 0; what < DAMAGES; what++) {
        CHECK_MSG(lost[what] >= 5, "damage %u lost %u triangles", what, lost[what]);
    }
}
