/* Roots of instances that are numbers (12.8): the same image twice, once with the ID of a node
 * below the instance formed by the rules of 4.1, once with its number in the type fields as GPURT
 * writes it. Every loop must go the same way through both. */
#include "gfx12/build/build.h"
#include "gfx12/image/node.h"
#include "gfx12/image/walk.h"
#include "gfx12/tracer.h"
#include "gfx12/unit.h"
#include "harness.h"
#include "meshes.h"

#include <math.h>
#include <stdlib.h>

enum { BLASES = 4, INSTANCES = 12, ROOT = 0x15 };

static struct facet_gfx12_image build_scene(bool boxes)
{
    struct mesh mesh[BLASES] = {
        mesh_planet(9, 12), mesh_soup(300, 3), mesh_soup(boxes ? 200 : 2, 5), mesh_terrain(9)};

    return mesh_image(mesh, BLASES, INSTANCES, 1);
}

/* The image behind a node that is none, so that the ray's root is ROOT; only the top level moves
 * relative to its base. */
static struct facet_gfx12_image shifted(const struct facet_gfx12_image *from)
{
    struct facet_gfx12_view view = {
        .bytes = from->bytes, .size = from->size, .root = FACET_GFX12_ROOT};
    struct facet_gfx12_image to = {calloc(1, from->size + 128), from->size + 128};
    struct facet_gfx12_walk walk;

    memset(to.bytes, 0xEE, 128);
    memcpy(to.bytes + 128, from->bytes, from->size);
    CHECK(facet_gfx12_walk(&view, &walk, NULL) == FACET_OK);
    for (uint32_t i = 0; i < walk.reached; i++) {
        uint32_t node = walk.order[i];
        uint8_t *bytes = to.bytes + 128 + facet_gfx12_node_offset(node);
        struct facet_gfx12_instance in;
        struct facet_gfx12_box box;

        if (walk.nodes[node].kind == FACET_GFX12_KIND_INSTANCE) {
            facet_gfx12_instance_decode(bytes, &in);
            in.parent += 0x10;
            in.pointer = facet_gfx12_base_make(facet_gfx12_base_address(in.pointer) + 128,
                                               facet_gfx12_base_flags(in.pointer));
            facet_gfx12_instance_encode(&in, bytes);
        } else if (walk.nodes[node].kind == FACET_GFX12_KIND_BOX &&
                   walk.nodes[node].level_base == 0) {
            facet_gfx12_box_decode(bytes, &box);
            box.internal_child_offset += 16;
            box.primitive_child_offset += 16;
            box.parent += box.parent != FACET_GFX12_INVALID ? 0x10 : 0;
            facet_gfx12_box_encode(&box, bytes);
        }
    }
    facet_gfx12_walk_free(&walk);
    return to;
}

/* Child 0 is never hit and moves the ID of child 1 to `number` (4.1). */
static void name_by_id(struct facet_gfx12_instance *in, unsigned number, bool primitive)
{
    struct facet_gfx12_child whole = in->child[0];

    in->child_count_minus_one = 1;
    facet_gfx12_child_unused(&in->child[0]);
    in->child[0].cull_flags = 0;
    whole.node_type = primitive ? 0 : FACET_GFX12_TYPE_BOX;
    in->child[0].node_type = whole.node_type;
    in->child[0].node_size = (uint8_t)number;
    whole.node_size = 1;
    in->child[1] = whole;
}

/* The box in four parts along x, in any order, or in less than four. */
static void name_by_number(struct facet_gfx12_instance *in, unsigned number, bool primitive)
{
    const struct facet_gfx12_child whole = in->child[0];
    const unsigned first = primitive, parts = 1 + (unsigned)harness_random() % (4 - first);
    const unsigned width = (unsigned)(whole.max[0] - whole.min[0]) / parts;

    in->child_count_minus_one = 3;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned part = i - first;

        facet_gfx12_child_unused(&in->child[i]);
        if (i >= first && i - first < parts) {
            in->child[i] = whole;
            in->child[i].min[0] = (uint16_t)(whole.min[0] + part * width);
            in->child[i].max[0] =
                part + 1 == parts ? whole.max[0] : (uint16_t)(in->child[i].min[0] + width - 1);
        }
        in->child[i].cull_flags = 0;
        in->child[i].cull_mask = 0xFF;
        in->child[i].node_type = (uint8_t)number;
        in->child[i].node_size = 0;
    }
    if (primitive) {
        in->child[0].node_size = 1;
    } else if (parts == 3) { /* a gap between boxes that are hit */
        struct facet_gfx12_child last = in->child[3];

        in->child[3] = in->child[1];
        in->child[1] = last;
    }
}

/* Whether a node of the BLAS can be a root: 1..15, inside its level; *primitive is its kind. */
static bool choose(const struct facet_gfx12_view *view,
                   const struct facet_gfx12_walk *walk,
                   uint64_t blas,
                   unsigned number,
                   bool *primitive)
{
    uint64_t offset;
    uint32_t node;

    if (!facet_gfx12_view_offset(view, blas + 128 * (uint64_t)number, 128, &offset)) {
        return false;
    }
    node = facet_gfx12_node_at(offset);
    *primitive = walk->nodes[node].kind == FACET_GFX12_KIND_PRIMITIVE;
    return walk->nodes[node].level_base == blas && walk->nodes[node].kind != 0 &&
           (!*primitive || (walk->nodes[node].starts & 1) != 0);
}

struct pair {
    struct facet_gfx12_image image[2]; /* by ID, by number */
    unsigned numbers;                  /* bit n: node n was a root */
    unsigned primitives;
};

/* `boxes`: no root is a primitive, which only the reference loop takes. */
static void pair_make(struct pair *p, bool boxes)
{
    struct facet_gfx12_image built = build_scene(boxes);
    struct facet_gfx12_view view;
    struct facet_gfx12_walk walk;

    *p = (struct pair){.image[0] = shifted(&built)};
    p->image[1] = (struct facet_gfx12_image){malloc(p->image[0].size), p->image[0].size};
    memcpy(p->image[1].bytes, p->image[0].bytes, p->image[0].size);
    view = (struct facet_gfx12_view){
        .bytes = p->image[0].bytes, .size = p->image[0].size, .root = ROOT};
    CHECK(facet_gfx12_walk(&view, &walk, NULL) == FACET_OK);
    CHECK_EQ(walk.problem_count, 0);
    for (uint32_t i = 0; i < walk.reached; i++) {
        uint64_t at = facet_gfx12_node_offset(walk.order[i]);
        struct facet_gfx12_instance in, other;
        unsigned number;
        bool primitive;

        if (walk.nodes[walk.order[i]].kind != FACET_GFX12_KIND_INSTANCE) {
            continue;
        }
        facet_gfx12_instance_decode(view.bytes + at, &in);
        other = in;
        do {
            number = 1 + (unsigned)harness_random() % 15;
        } while (!choose(&view, &walk, facet_gfx12_base_address(in.pointer), number, &primitive));
        p->numbers |= 1u << number;
        p->primitives += primitive;
        name_by_id(&in, number, primitive);
        name_by_number(&other, number, primitive);
        facet_gfx12_instance_encode(&in, p->image[0].bytes + at);
        facet_gfx12_instance_encode(&other, p->image[1].bytes + at);
    }
    facet_gfx12_walk_free(&walk);
    free(built.bytes);
}

static void pair_free(struct pair *p)
{
    free(p->image[0].bytes);
    free(p->image[1].bytes);
}

/* From around the scene into it. */
static struct facet_gfx12_query random_ray(void)
{
    struct facet_gfx12_query query;
    static const float centres[2][3] = {{3, -1.5f, 0.5f}, {0.5f, 0.5f, 0.5f}};
    const float *centre = centres[harness_random() % 2];
    float origin[3], direction[3];

    for (int k = 0; k < 3; k++) {
        origin[k] = 6 * mesh_uniform();
        direction[k] = centre[k] + mesh_uniform() - origin[k];
    }
    facet_gfx12_query_init(&query, origin, direction);
    query.root = ROOT;
    return query;
}

/* path 0: the reference loop, 1: the LDS loop, then those of the tracers. */
static void trace(int path,
                  const struct facet_gfx12_unit *unit,
                  const facet_gfx12_tracer *const tracer[2],
                  const struct facet_gfx12_query *query,
                  struct facet_gfx12_hit *hit,
                  struct facet_gfx12_stats *stats)
{
    enum facet_status status;

    if (path == 0) {
        status = facet_gfx12_trace(unit, query, hit, stats, NULL);
    } else if (path == 1) {
        status = facet_gfx12_trace_lds(unit, query, 8, hit, stats, NULL);
    } else {
        status = facet_gfx12_tracer_trace(tracer[path - 2], query, hit, stats, NULL);
    }
    CHECK(status == FACET_OK);
}

TEST(numbers_lead_where_ids_lead, "G12-284 G12-256")
{
    unsigned numbers = 0, primitives = 0, hits = 0;

    for (int round = 0; round < 30; round++) {
        facet_gfx12_tracer *tracer[2][2];
        struct facet_gfx12_unit unit[2];
        struct pair p;

        pair_make(&p, round % 3 != 0);
        numbers |= p.numbers;
        primitives += p.primitives;
        for (int i = 0; i < 2; i++) {
            struct facet_gfx12_tracer_options options = {.root = ROOT};

            facet_gfx12_unit_init(&unit[i], p.image[i].bytes, p.image[i].size);
            options.path = FACET_GFX12_PATH_PORTABLE;
            CHECK(facet_gfx12_tracer_create(&unit[i], &options, &tracer[i][0], NULL) == FACET_OK);
            options.path = FACET_GFX12_PATH_AUTO;
            CHECK(facet_gfx12_tracer_create(&unit[i], &options, &tracer[i][1], NULL) == FACET_OK);
            CHECK_EQ(facet_gfx12_tracer_used(tracer[i][0]) != FACET_GFX12_PATH_REFERENCE,
                     p.primitives == 0);
        }
        for (int r = 0; r < 200; r++) {
            struct facet_gfx12_query query = random_ray();
            struct facet_gfx12_stats reference;
            struct facet_gfx12_hit first;

            trace(0, &unit[0], NULL, &query, &first, &reference);
            hits += first.found;
            for (int path = 0; path < 4; path++) {
                struct facet_gfx12_stats stats;
                struct facet_gfx12_hit hit;

                trace(path,
                      &unit[1],
                      (const facet_gfx12_tracer *const[2]){tracer[1][0], tracer[1][1]},
                      &query,
                      &hit,
                      &stats);
                CHECK_MSG(same_hits(&hit, &first),
                          "round %d ray %d path %d: primitive %u at %g, by ID %u at %g",
                          round,
                          r,
                          path,
                          hit.primitive_index,
                          (double)hit.t,
                          first.primitive_index,
                          (double)first.t);
                if (path != 1) {
                    CHECK(memcmp(&stats, &reference, sizeof stats) == 0);
                }
            }
        }
        for (int i = 0; i < 4; i++) {
            facet_gfx12_tracer_destroy(tracer[i / 2][i % 2]);
        }
        pair_free(&p);
    }
    CHECK_EQ(numbers, 0xFFFE);
    CHECK_MSG(primitives > 20 && hits > 300, "%u primitives, %u hits", primitives, hits);
}

/* What the walk finds below an instance is what the ID names, and nothing but it. */
TEST(the_walk_follows_numbers, "G12-284")
{
    for (int round = 0; round < 20; round++) {
        struct facet_gfx12_view view;
        struct facet_gfx12_walk walk;
        struct pair p;

        pair_make(&p, round % 3 != 0);
        view = (struct facet_gfx12_view){
            .bytes = p.image[1].bytes, .size = p.image[1].size, .root = ROOT};
        CHECK(facet_gfx12_walk(&view, &walk, NULL) == FACET_OK);
        for (uint32_t i = 0; i < walk.reached; i++) {
            struct facet_gfx12_link links[8];
            struct facet_gfx12_instance in;
            uint32_t target, ids[2];

            if (walk.nodes[walk.order[i]].kind != FACET_GFX12_KIND_INSTANCE) {
                continue;
            }
            facet_gfx12_instance_decode(p.image[0].bytes + facet_gfx12_node_offset(walk.order[i]),
                                        &in);
            facet_gfx12_child_ids(in.child, 2, 0, 0, ids);
            CHECK_EQ(facet_gfx12_links(&view, &walk, walk.order[i], links), 1);
            CHECK_EQ(links[0].id, ids[1]);
            CHECK(facet_gfx12_link_leads(&walk, &links[0], &target));
            CHECK_EQ(links[0].address,
                     facet_gfx12_base_address(in.pointer) + facet_gfx12_id_offset(ids[1]));
        }
        for (uint32_t i = 0; i < walk.problem_count; i++) { /* a range may be a root too */
            CHECK_EQ(walk.problems[i].trouble, FACET_GFX12_TROUBLE_REPEATED);
        }
        facet_gfx12_walk_free(&walk);
        pair_free(&p);
    }
}

/* Four boxes for the box node at the base of its level are IDs: nothing else could name it. */
TEST(four_boxes_of_the_node_at_the_base_are_no_number, "G12-284")
{
    struct facet_gfx12_instance in = {.child_count_minus_one = 3};
    uint32_t root = 0;

    for (int i = 0; i < 4; i++) {
        in.child[i].node_type = FACET_GFX12_TYPE_BOX;
    }
    CHECK(!facet_gfx12_instance_numbered(&in, FACET_GFX12_ROOT, &root));
    CHECK(facet_gfx12_instance_numbered(&in, ROOT, &root) && root == 0x55);
    in.child[2].node_size = 1;
    CHECK(!facet_gfx12_instance_numbered(&in, ROOT, &root));
    in.child[2].node_size = 0;
    in.child[2].node_type = 1;
    CHECK(!facet_gfx12_instance_numbered(&in, ROOT, &root));
    for (int i = 0; i < 4; i++) {
        in.child[i].node_type = 1;
    }
    CHECK(facet_gfx12_instance_numbered(&in, FACET_GFX12_ROOT, &root) && root == 0x15);
    in.child[0].node_size = 1;
    CHECK(!facet_gfx12_instance_numbered(&in, ROOT, &root)); /* child 0 can be hit */
    for (int k = 2; k >= 0; k--) { /* one axis the wrong way round is not enough */
        CHECK(!facet_gfx12_instance_numbered(&in, ROOT, &root));
        in.child[0].min[k] = 0xFFF;
    }
    CHECK(facet_gfx12_instance_numbered(&in, ROOT, &root) && root == 0x10);
    in.child_count_minus_one = 2;
    CHECK(!facet_gfx12_instance_numbered(&in, ROOT, &root));
}
