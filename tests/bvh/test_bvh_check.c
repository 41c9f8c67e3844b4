/* The validator: one seeded corruption per way in which an image can be wrong, each with the rule
 * that must name it; images as RADV and GPURT lay them out; any bytes. */
#include "base/failing_alloc.h"
#include "base/float.h"
#include "gfx12/build/build.h"
#include "gfx12/check/check.h"
#include "harness.h"
#include "meshes.h"

#include <facet/gfx12.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- a sound image to damage ---- */

struct subject {
    struct facet_gfx12_image image;
    struct facet_gfx12_view view;
    uint32_t box, leaf_box, prim, instance; /* node numbers: BLAS root, a box with leaves, ... */
};

static uint32_t
find_node(const struct facet_gfx12_view *view, enum facet_gfx12_kind kind, uint32_t from)
{
    struct facet_gfx12_walk walk;
    uint32_t found = FACET_GFX12_NO_NODE;

    CHECK(facet_gfx12_walk(view, &walk, NULL) == FACET_OK);
    for (uint32_t i = from; i < walk.count && found == FACET_GFX12_NO_NODE; i++) {
        if (walk.nodes[i].kind == kind) {
            found = i;
        }
    }
    facet_gfx12_walk_free(&walk);
    return found;
}

/* Two instances of a small planet. */
static void subject_make(struct subject *s, bool high)
{
    struct mesh mesh = mesh_planet(8, 8);
    struct facet_bvh_blas_input blas = {.triangles = mesh.triangles, .triangle_count = mesh.count};
    struct facet_bvh_instance instance[2] = {{.mask = 0x0F}, {.mask = 0xF0}};
    struct facet_bvh_scene_input scene = {&blas, 1, instance, 2};
    struct facet_gfx12_build_options options = {.quality =
                                                    high ? FACET_BVH_HIGH : FACET_BVH_CONTRACT};
    struct facet_gfx12_build_report report;

    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) {
            instance[i].world_to_object[k][k] = 1;
        }
        instance[i].world_to_object[0][3] = (float)(10 * i);
        instance[i].user_data = (uint32_t)i;
    }
    CHECK(facet_gfx12_build(&scene, &options, NULL, NULL, &s->image, &report, NULL) == FACET_OK);
    s->view = (struct facet_gfx12_view){
        .bytes = s->image.bytes, .size = s->image.size, .root = FACET_GFX12_ROOT};
    s->instance = find_node(&s->view, FACET_GFX12_KIND_INSTANCE, 0);
    s->box = find_node(&s->view, FACET_GFX12_KIND_BOX, 1);
    s->prim = find_node(&s->view, FACET_GFX12_KIND_PRIMITIVE, 0);
    for (s->leaf_box = s->box;; s->leaf_box++) {
        struct facet_gfx12_box box;

        s->leaf_box = find_node(&s->view, FACET_GFX12_KIND_BOX, s->leaf_box);
        facet_gfx12_box_decode(s->image.bytes + facet_gfx12_node_offset(s->leaf_box), &box);
        if (box.child[0].node_type != 5) {
            break;
        }
    }
    mesh_free(&mesh);
}

static uint8_t *node_at(const struct subject *s, uint32_t node)
{
    return s->image.bytes + facet_gfx12_node_offset(node);
}

/* ---- damages ---- */

typedef void damage_fn(struct subject *s);

#define BOX(name, body)                                                                            \
    static void name(struct subject *s)                                                            \
    {                                                                                              \
        struct facet_gfx12_box box;                                                                \
        facet_gfx12_box_decode(node_at(s, s->box), &box);                                          \
        body;                                                                                      \
        facet_gfx12_box_encode(&box, node_at(s, s->box));                                          \
    }
#define LEAF_BOX(name, body)                                                                       \
    static void name(struct subject *s)                                                            \
    {                                                                                              \
        struct facet_gfx12_box box;                                                                \
        facet_gfx12_box_decode(node_at(s, s->leaf_box), &box);                                     \
        body;                                                                                      \
        facet_gfx12_box_encode(&box, node_at(s, s->leaf_box));                                     \
    }
#define INSTANCE(name, body)                                                                       \
    static void name(struct subject *s)                                                            \
    {                                                                                              \
        struct facet_gfx12_instance in;                                                            \
        facet_gfx12_instance_decode(node_at(s, s->instance), &in);                                 \
        body;                                                                                      \
        facet_gfx12_instance_encode(&in, node_at(s, s->instance));                                 \
    }
#define PRIM(name, body)                                                                           \
    static void name(struct subject *s)                                                            \
    {                                                                                              \
        struct facet_gfx12_prim p;                                                                 \
        facet_gfx12_prim_decode(node_at(s, s->prim), &p);                                          \
        body;                                                                                      \
        facet_gfx12_prim_encode(&p, node_at(s, s->prim));                                          \
    }

static void cut_short(struct subject *s)
{
    s->view.size -= 4;
}

static void cut_in_half(struct subject *s)
{
    s->view.size = s->view.size / 2 & ~127ull;
}

static void no_bytes(struct subject *s)
{
    s->view.size = 0;
}

static void bad_root_type(struct subject *s)
{
    s->view.root = 0x7;
}

static void bad_root_place(struct subject *s)
{
    s->view.root = 0x7FFFFFF5;
}

/* A BLAS base between two nodes. */
INSTANCE(misaligned_blas, in.pointer += 64 / 8)
INSTANCE(blas_elsewhere, in.pointer = facet_gfx12_base_make(UINT64_C(1) << 40, 0x200))
INSTANCE(pointer_low_bits, in.pointer |= 4)
INSTANCE(pointer_gap_bits, in.pointer |= UINT64_C(1) << 50)
INSTANCE(wrong_aabbs, in.pointer |= UINT64_C(1) << 62)
INSTANCE(nan_matrix, in.world_to_object[5] = 0x7FC00000)
INSTANCE(infinite_matrix, in.world_to_object[11] = 0x7F800000)
INSTANCE(zero_matrix, memset(in.world_to_object, 0, sizeof in.world_to_object))
INSTANCE(flat_matrix, in.world_to_object[10] = 0)
INSTANCE(equal_rows, memcpy(in.world_to_object, in.world_to_object + 4, 4 * sizeof(uint32_t)))
INSTANCE(instance_count, in.child_count_minus_one = 4)
INSTANCE(instance_unused, in.unused = 2)
INSTANCE(instance_parent, in.parent = 0x00000125)
INSTANCE(instance_origin, in.origin[1] = 0xFFC00000)
INSTANCE(instance_exponent, in.exponent[0] = 5)
INSTANCE(instance_box, in.child[0].max[0] = 5)
INSTANCE(instance_non_opaque, in.child[0].cull_flags = FACET_GFX12_ONLY_NON_OPAQUE)
INSTANCE(instance_procedural, in.child[0].cull_flags = FACET_GFX12_ONLY_PROCEDURAL)
INSTANCE(instance_forced, {
    in.pointer |= facet_gfx12_base_make(0, FACET_GFX12_FORCE_NON_OPAQUE);
    in.child[0].cull_flags = FACET_GFX12_ONLY_OPAQUE;
})
INSTANCE(instance_slot, in.child[2].cull_mask = 1)
INSTANCE(instance_mask, in.cull_mask = 0xFF)
INSTANCE(moved_instance, in.world_to_object[7] = 0x41200000)
INSTANCE(instance_child_type, in.child[0].node_type = 7)
INSTANCE(instance_loop, in.pointer = facet_gfx12_base_make(0, 0x200))

INSTANCE(unseen_instance, in.cull_mask = 0)

/* Another TLAS behind the image, whose only instance leads to the TLAS in front. */
static void scene_below(struct subject *s)
{
    const size_t at = s->image.size;
    struct facet_gfx12_instance in;
    struct facet_gfx12_box box;

    facet_gfx12_box_decode(s->image.bytes, &box);
    facet_gfx12_instance_decode(node_at(s, s->instance), &in);
    s->image.bytes = realloc(s->image.bytes, at + 256);
    s->image.size = at + 256;
    box.primitive_child_offset = (uint32_t)(at + 128) >> 3;
    box.child_count_minus_one = 0;
    box.child[0].node_type = 6;
    in.pointer = facet_gfx12_base_make(0, 0);
    facet_gfx12_box_encode(&box, s->image.bytes + at);
    facet_gfx12_instance_encode(&in, s->image.bytes + at + 128);
    s->view.bytes = s->image.bytes;
    s->view.size = s->image.size;
    s->view.root = (uint32_t)(at >> 3) | FACET_GFX12_ROOT;
}
INSTANCE(shrunk_instance, {
    for (int i = 0; i < 12; i++) {
        in.world_to_object[i] = facet_float_bits(2 * facet_float_of(in.world_to_object[i]));
    }
})

BOX(matrix_junk, box.obb_matrix_index |= 0x4200)
BOX(lost_box, box.child_count_minus_one--)
BOX(internal_low_bits, box.internal_child_offset |= 8)
BOX(primitive_low_bits, box.primitive_child_offset |= 1)
BOX(internal_outside, box.internal_child_offset = 0x0FFFFFF0)
BOX(loop_to_itself, box.internal_child_offset = 0)
BOX(box_as_prim, box.child[0].node_type = 0)
BOX(box_as_instance, box.child[0].node_type = 6)
BOX(type_4, box.child[0].node_type = 4)
BOX(type_15, box.child[1].node_type = 15)
BOX(count_nine, box.child_count_minus_one = (uint8_t)(box.child_count_minus_one | 8))
BOX(unused_bits, box.unused = 1)
BOX(child_unused_bits, box.child[0].unused = 9)
BOX(matrix_104, box.obb_matrix_index = 104)
BOX(matrix_126, box.obb_matrix_index = 0xABC00000 | 126)
BOX(matrix_other, box.obb_matrix_index = 20)
BOX(exponent_12, box.exponent[2] = 12)
BOX(exponent_255, box.exponent[0] = 255)
BOX(nan_origin, box.origin[0] = 0x7FC00001)
BOX(infinite_origin, box.origin[2] = 0xFF800000)
BOX(inverted, {
    box.child[0].min[1] = 4000;
    box.child[0].max[1] = 17;
})
BOX(shrunk_max, box.child[0].max[0] -= 1)
BOX(raised_min, box.child[1].min[2] += 1)
BOX(moved_origin, box.origin[0] = 0x41200000)
BOX(false_non_opaque, box.child[0].cull_flags = 6)
BOX(false_procedural, box.child[0].cull_flags = 9)
BOX(mask_zero, box.child[0].cull_mask = 0)
BOX(mask_bit, box.child[1].cull_mask = 0xFE)
BOX(wrong_parent, box.parent = 0x00000775)
BOX(twice_the_same, box.child[0].node_size = 0)

LEAF_BOX(lost_range, box.child_count_minus_one--)
LEAF_BOX(pair_seven, { box.child[0].node_type = 11; })
LEAF_BOX(primitive_outside, box.primitive_child_offset = 0xFFFFFF00)
LEAF_BOX(prim_as_box, {
    box.child[0].node_type = 5;
    box.internal_child_offset = box.primitive_child_offset;
})
LEAF_BOX(range_twice, {
    box.child[1].node_type = box.child[0].node_type;
    box.child[2].node_type = box.child[0].node_type;
    box.child[0].node_size = box.child[1].node_size = 0;
    box.child[1].cull_mask = 0xFF;
    box.child[1].node_type = 1;
})

static void stale_slot(struct subject *s)
{
    struct facet_gfx12_box box;

    facet_gfx12_box_decode(node_at(s, 0), &box);
    box.child[7].min[0] = 3;
    facet_gfx12_box_encode(&box, node_at(s, 0));
}

static void tlas_mask(struct subject *s)
{
    struct facet_gfx12_box box;

    facet_gfx12_box_decode(node_at(s, 0), &box);
    box.child[0].cull_mask = 0x01;
    facet_gfx12_box_encode(&box, node_at(s, 0));
}

/* An oriented box above instances, with planes that were made for the world's axes. */
static void tlas_matrix(struct subject *s)
{
    struct facet_gfx12_box box;

    facet_gfx12_box_decode(node_at(s, 0), &box);
    box.obb_matrix_index = 40;
    facet_gfx12_box_encode(&box, node_at(s, 0));
}

PRIM(negative_prefix, {
    p.header.trailing_zero_bits = 31;
    p.header.vertex_bits_minus_one[1] = 20;
})
PRIM(reserved_vertex_type, p.header.vertex_type = 1)
PRIM(vertex_fifteen, p.pair[0].tri[0].index[2] = 15)
PRIM(wide_vertices, p.header.vertex_bits_minus_one[0] = p.header.vertex_bits_minus_one[1] = 31)
PRIM(midpoint_low, p.header.indices_midpoint = 40)
PRIM(midpoint_high, p.header.indices_midpoint = 1020)
PRIM(wide_geometry, p.header.geometry_index_bits_div_2 = 15)
PRIM(wide_primitive, p.header.primitive_index_bits = 31)
PRIM(half_procedural, {
    p.pair[0].tri[0].index[0] = 15;
    p.pair[0].tri[0].index[1] = 15;
})
PRIM(not_opaque, p.pair[0].tri[0].opaque = 0)
PRIM(stored_twice, {
    for (int k = 0; k < 3; k++) {
        p.payload[1][k] = p.payload[0][k];
    }
})
PRIM(name_twice, p.primitive_payload[1] = p.primitive_base)
PRIM(name_elsewhere, p.primitive_payload[1] ^= 1u << (p.header.primitive_index_bits - 1))
PRIM(moved_vertex, p.payload[0][1] ^= 1u << (p.header.vertex_bits_minus_one[1]))

/* All stop bits gone, in every primitive node. */
static void no_stop(struct subject *s)
{
    struct facet_gfx12_walk walk;

    CHECK(facet_gfx12_walk(&s->view, &walk, NULL) == FACET_OK);
    for (uint32_t i = 0; i < walk.count; i++) {
        if (walk.nodes[i].kind == FACET_GFX12_KIND_PRIMITIVE) {
            struct facet_gfx12_prim p;

            facet_gfx12_prim_decode(node_at(s, i), &p);
            for (int k = 0; k < 8; k++) {
                p.pair[k].prim_range_stop = 0;
            }
            facet_gfx12_prim_encode(&p, node_at(s, i));
        }
    }
    facet_gfx12_walk_free(&walk);
}

static void last_pair_runs_on(struct subject *s)
{
    struct facet_gfx12_prim p;

    facet_gfx12_prim_decode(node_at(s, s->prim), &p);
    p.pair[p.header.triangle_pair_count_minus_one].prim_range_stop = 0;
    facet_gfx12_prim_encode(&p, node_at(s, s->prim));
}

/* A NaN vertex: every payload bit of x of vertex 0 set under an all-ones exponent is not reachable
 * with prefixes, so write a raw node of one triangle. */
static void nan_vertex(struct subject *s)
{
    struct facet_gfx12_prim p = {0};

    p.header.vertex_bits_minus_one[0] = p.header.vertex_bits_minus_one[1] =
        p.header.vertex_bits_minus_one[2] = 31;
    p.header.indices_midpoint = 384;
    p.vertex_count = 3;
    p.payload[0][0] = 0x7FC00000;
    p.payload[1][1] = 0x3F800000;
    p.payload[2][2] = 0x3F800000;
    p.pair[0].prim_range_stop = 1;
    p.pair[0].tri[0] = (struct facet_gfx12_pair_tri){{0, 1, 2}, 1, 0};
    facet_gfx12_prim_encode(&p, node_at(s, s->prim));
}

static void orphan(struct subject *s)
{
    struct facet_gfx12_box box;

    facet_gfx12_box_decode(node_at(s, s->box), &box);
    box.child_count_minus_one = 0;
    facet_gfx12_box_encode(&box, node_at(s, s->box));
}

struct damage {
    const char *name;
    damage_fn *apply;
    unsigned rule;
    enum facet_gfx12_severity severity;
};

#define E FACET_GFX12_ERROR
#define W FACET_GFX12_WARNING
#define N FACET_GFX12_NOTE
#define D(name, rule, severity)                                                                    \
    {                                                                                              \
#name, name, rule, severity                                                                \
    }

/* clang-format off */
static const struct damage damages[] = {
    D(cut_short, 1, E), D(no_bytes, 1, E), D(misaligned_blas, 1, E),
    D(cut_in_half, 2, E), D(bad_root_place, 2, E), D(blas_elsewhere, 2, E), D(internal_outside, 2, E),
    D(primitive_outside, 2, E), D(prim_as_box, 2, E), D(box_as_prim, 2, E),
    D(internal_low_bits, 3, E), D(primitive_low_bits, 3, W),
    D(count_nine, 4, W), D(instance_count, 4, W),
    D(unused_bits, 5, W), D(child_unused_bits, 5, W), D(instance_unused, 5, W),
    D(matrix_104, 6, E), D(matrix_126, 6, E),
    D(exponent_12, 7, W), D(exponent_255, 7, W), D(instance_exponent, 7, W),
    D(nan_origin, 8, E), D(infinite_origin, 8, E), D(instance_origin, 8, E),
    D(inverted, 9, W),
    D(stale_slot, 10, W), D(instance_slot, 10, W),
    D(type_4, 11, E), D(type_15, 11, E), D(bad_root_type, 11, E), D(instance_child_type, 11, E),
    D(shrunk_max, 12, E), D(raised_min, 12, E), D(moved_origin, 12, E), D(matrix_other, 12, E),
    D(moved_instance, 12, E), D(moved_vertex, 12, E),
    D(tlas_matrix, 12, E),
    D(false_non_opaque, 13, E), D(false_procedural, 13, E), D(mask_zero, 13, E), D(mask_bit, 13, E),
    D(tlas_mask, 13, E), D(instance_mask, 13, E), D(not_opaque, 13, E),
    D(instance_non_opaque, 13, E), D(instance_procedural, 13, E), D(instance_forced, 13, E),
    D(pair_seven, 14, E),
    D(negative_prefix, 15, E),
    D(reserved_vertex_type, 16, E),
    D(vertex_fifteen, 17, E), D(wide_vertices, 17, E),
    D(midpoint_low, 18, E), D(midpoint_high, 18, E), D(wide_geometry, 18, E), D(wide_primitive, 18, E),
    D(half_procedural, 19, E),
    D(no_stop, 20, E),
    D(last_pair_runs_on, 21, W),
    D(pointer_low_bits, 22, E), D(pointer_gap_bits, 22, E),
    D(wrong_aabbs, 23, W),
    D(nan_matrix, 24, E), D(infinite_matrix, 24, E), D(zero_matrix, 24, E), D(flat_matrix, 24, E),
    D(equal_rows, 24, E),
    D(instance_box, 25, E),
    D(wrong_parent, 26, W), D(instance_parent, 26, W),
    D(stored_twice, 27, W),
    D(loop_to_itself, 28, E), D(instance_loop, 28, E),
    D(range_twice, 29, N),
    D(orphan, 30, N),
    D(nan_vertex, 31, W),
    D(matrix_junk, 5, E), D(name_twice, 40, E), D(name_twice, 41, W), D(name_elsewhere, 40, E), D(lost_range, 41, W),
    D(lost_box, 42, E), D(lost_range, 42, E), D(unseen_instance, 43, W), D(shrunk_instance, 44, W),
    D(box_as_instance, 2, E), D(twice_the_same, 12, E), D(scene_below, 53, W),
};
/* clang-format on */

static bool has_finding(const struct facet_gfx12_check *check,
                        unsigned rule,
                        enum facet_gfx12_severity severity)
{
    for (uint32_t i = 0; i < check->count; i++) {
        if (check->findings[i].rule == rule && check->findings[i].severity == severity) {
            return true;
        }
    }
    return false;
}

static void describe(const struct facet_gfx12_check *check, char *out, size_t size)
{
    size_t at = 0;

    out[0] = '\0';
    for (unsigned r = 1; r <= FACET_GFX12_RULES && at + 20 < size; r++) {
        if (check->by_rule[r] != 0 && facet_gfx12_rules[r].id != NULL) {
            at += (size_t)snprintf(out + at,
                                   size - at,
                                   " %s x%llu",
                                   facet_gfx12_rules[r].id,
                                   (unsigned long long)check->by_rule[r]);
        }
    }
}

TEST(every_damage_is_named_by_its_rule,
     "G12-257 G12-285 G12-003 G12-020 G12-021 G12-066 G12-102 G12-152 G12-155 G12-188 G12-194")
{
    uint64_t covered = 0;

    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        const struct damage *d = &damages[i];
        struct facet_gfx12_check_options options = {0};
        struct facet_gfx12_check check;
        struct subject s;
        char found[400];

        subject_make(&s, false);
        if (strcmp(d->name, "last_pair_runs_on") == 0) { /* the last primitive node of the image */
            uint32_t next = s.prim;

            while (next != FACET_GFX12_NO_NODE) {
                s.prim = next;
                next = find_node(&s.view, FACET_GFX12_KIND_PRIMITIVE, next + 1);
            }
        }
        d->apply(&s);
        CHECK(facet_gfx12_check(&s.view, &options, &check, NULL) == FACET_OK);
        describe(&check, found, sizeof found);
        CHECK_MSG(has_finding(&check, d->rule, d->severity),
                  "%s: expected %s %s, found%s",
                  d->name,
                  facet_gfx12_severity_name(d->severity),
                  facet_gfx12_rules[d->rule].id,
                  found);
        for (uint32_t k = 0; k < check.count; k++) {
            CHECK(check.findings[k].offset <= s.view.size);
        }
        covered |= UINT64_C(1) << (d->rule - 1);
        facet_gfx12_check_free(&check);
        free(s.image.bytes);
    }
    CHECK_EQ(covered, 0x7FFFFFFF | UINT64_C(0x1F) << 39 | UINT64_C(1) << 52); /* and V53 */
}

/* The same box under two parents. */
TEST(a_node_with_two_parents_is_an_error, "G12-257")
{
    struct facet_gfx12_check_options options = {0};
    struct facet_gfx12_check check;
    struct facet_gfx12_box a, b;
    struct facet_gfx12_image image = {calloc(3, 128), 3 * 128};
    struct facet_gfx12_view view = {
        .bytes = image.bytes, .size = image.size, .root = FACET_GFX12_ROOT};

    /* Root with two children at nodes 1 and 2; node 1's child is node 2 again. */
    memset(&a, 0, sizeof a);
    for (int i = 0; i < 8; i++) {
        facet_gfx12_child_unused(&a.child[i]);
    }
    a.parent = FACET_GFX12_INVALID;
    a.obb_matrix_index = 0x7F;
    b = a;
    facet_gfx12_box_encode(&b, image.bytes + 256); /* an empty box */
    b.internal_child_offset = 32;
    b.child[0] = (struct facet_gfx12_child){.cull_mask = 0xFF, .node_type = 5, .node_size = 1};
    facet_gfx12_box_encode(&b, image.bytes + 128);
    a.internal_child_offset = 16;
    a.child_count_minus_one = 1;
    a.child[0] = a.child[1] = b.child[0];
    facet_gfx12_box_encode(&a, image.bytes);
    CHECK(facet_gfx12_check(&view, &options, &check, NULL) == FACET_OK);
    CHECK(has_finding(&check, 29, FACET_GFX12_ERROR));
    facet_gfx12_check_free(&check);
    free(image.bytes);
}

TEST(sound_images_have_no_findings, "G12-257")
{
    for (int high = 0; high < 2; high++) {
        struct facet_gfx12_check_options options = {0};
        struct facet_gfx12_check check;
        struct subject s;

        subject_make(&s, high);
        CHECK(facet_gfx12_check(&s.view, &options, &check, NULL) == FACET_OK);
        CHECK_EQ(check.count, 0);
        CHECK_EQ(check.reached, check.nodes);
        facet_gfx12_check_free(&check);
        free(s.image.bytes);
    }
}

TEST(a_tlas_alone_is_partial, "G12-257")
{
    struct facet_gfx12_check_options strict = {0}, partial = {.partial = true};
    struct facet_gfx12_check check;
    struct subject s;

    subject_make(&s, false);
    s.view.size = facet_gfx12_node_offset(s.box); /* everything before the BLAS */
    CHECK(facet_gfx12_check(&s.view, &strict, &check, NULL) == FACET_OK);
    CHECK(check.total[FACET_GFX12_ERROR] == 2);
    facet_gfx12_check_free(&check);
    CHECK(facet_gfx12_check(&s.view, &partial, &check, NULL) == FACET_OK);
    CHECK_EQ(check.total[FACET_GFX12_ERROR], 0);
    CHECK_EQ(check.total[FACET_GFX12_NOTE], 2);
    facet_gfx12_check_free(&check);
    free(s.image.bytes);
}

/* ---- images of the drivers (12.8) ---- */

static void unit_grid(uint32_t origin[3], uint8_t exponent[3])
{
    for (int k = 0; k < 3; k++) {
        origin[k] = 0;
        exponent[k] = 127;
    }
}

static struct facet_gfx12_child whole_child(uint8_t type, uint8_t size)
{
    return (struct facet_gfx12_child){
        .max = {4095, 4095, 4095}, .cull_mask = 0xFF, .node_type = type, .node_size = size};
}

/* One triangle per node as example 9 shows it. */
static void radv_triangle(uint8_t *node)
{
    struct facet_gfx12_prim p = {0};

    for (int k = 0; k < 3; k++) {
        p.header.vertex_bits_minus_one[k] = 31;
    }
    p.header.geometry_index_base_bits_div_2 = p.header.geometry_index_bits_div_2 = 14;
    p.header.primitive_index_base_bits = p.header.primitive_index_bits = 28;
    p.header.indices_midpoint = 384;
    p.geometry_base = 5;
    p.primitive_base = 9;
    p.vertex_count = 3;
    p.payload[1][0] = p.payload[2][1] = facet_float_bits(1.0f);
    p.pair[0].prim_range_stop = 1;
    p.pair[0].tri[0] = (struct facet_gfx12_pair_tri){{0, 1, 2}, 1, 0};
    facet_gfx12_prim_encode(&p, node);
}

static void
instance_node(uint8_t *node, uint64_t blas, const struct facet_gfx12_child *child, unsigned count)
{
    struct facet_gfx12_instance in = {.cull_mask = 0xFF};

    in.world_to_object[0] = in.world_to_object[5] = in.world_to_object[10] = facet_float_bits(1.0f);
    in.pointer = facet_gfx12_base_make(blas, FACET_GFX12_SKIP_PROCEDURAL);
    unit_grid(in.origin, in.exponent);
    for (unsigned i = 0; i < 4; i++) {
        facet_gfx12_child_unused(&in.child[i]);
        if (i < count) {
            in.child[i] = child[i];
        }
    }
    in.child_count_minus_one = (uint8_t)(count - 1);
    facet_gfx12_instance_encode(&in, node);
}

static void box_node(uint8_t *node,
                     uint32_t internal,
                     uint32_t primitive,
                     const struct facet_gfx12_child *child,
                     unsigned count,
                     uint8_t field)
{
    struct facet_gfx12_box box = {.internal_child_offset = internal,
                                  .primitive_child_offset = primitive,
                                  .parent = FACET_GFX12_INVALID,
                                  .obb_matrix_index = 0x7F,
                                  .child_count_minus_one = field};

    unit_grid(box.origin, box.exponent);
    for (unsigned i = 0; i < 8; i++) {
        facet_gfx12_child_unused(&box.child[i]);
        if (i < count) {
            box.child[i] = child[i];
        }
    }
    facet_gfx12_box_encode(&box, node);
}

TEST(what_radv_writes_is_accepted, "G12-257 G12-070")
{
    /* 0 root, 1 instance, 2 user data, 3 instance, 4 user data | 5 BLAS root, 6 triangle | 7 an
     * empty BLAS with count 15 */
    uint8_t *image = calloc(8, 128);
    struct facet_gfx12_view view = {
        .bytes = image, .size = 8 * 128, .base = 0x200000, .root = FACET_GFX12_ROOT};
    struct facet_gfx12_child child[2] = {whole_child(6, 2), whole_child(6, 2)};
    struct facet_gfx12_child root = whole_child(5, 1), leaf = whole_child(0, 1);
    struct facet_gfx12_check_options options = {0};
    struct facet_gfx12_check check;

    memset(image + 2 * 128, 0xCD, 128);
    memset(image + 4 * 128, 0xCD, 128);
    box_node(image, 0, 16, child, 2, 1);
    instance_node(image + 128, view.base + 5 * 128, &root, 1);
    instance_node(image + 3 * 128, view.base + 7 * 128, &root, 1);
    box_node(image + 5 * 128, 0, 16, &leaf, 1, 0);
    radv_triangle(image + 6 * 128);
    box_node(image + 7 * 128, 0, 0, NULL, 0, 15);
    CHECK(facet_gfx12_check(&view, &options, &check, NULL) == FACET_OK);
    for (uint32_t i = 0; i < check.count; i++) {
        CHECK_MSG(check.findings[i].severity != FACET_GFX12_ERROR,
                  "0x%llx %s",
                  (unsigned long long)check.findings[i].offset,
                  check.findings[i].text);
    }
    CHECK_EQ(check.by_rule[4], 1);  /* the count of 15 */
    CHECK_EQ(check.by_rule[30], 1); /* user data behind the instances, said once */
    CHECK_EQ(check.reached, 6);
    facet_gfx12_check_free(&check);
    free(image);
}

TEST(what_gpurt_writes_is_accepted, "G12-257")
{
    /* 0 header, 1 root, 2 instance | 3 header, 4 BLAS root, 5 triangle. The root ID is 15; the
     * instance's four boxes share one ID whose type is the root's node number, 1. */
    uint8_t *image = calloc(6, 128);
    struct facet_gfx12_view view = {.bytes = image, .size = 6 * 128, .root = 0x15};
    struct facet_gfx12_child child[4], placed = whole_child(6, 1), leaf = whole_child(0, 1);
    struct facet_gfx12_check_options options = {0};
    struct facet_gfx12_check check;

    for (int i = 0; i < 4; i++) {
        child[i] = whole_child(1, 0);
        child[i].min[0] = (uint16_t)(1024 * i);
        child[i].max[0] = (uint16_t)(1024 * i + 1023);
    }
    memset(image, 0xAB, 128);
    memset(image + 3 * 128, 0xAB, 128);
    box_node(image + 128, 0, 32, &placed, 1, 0);
    instance_node(image + 2 * 128, 3 * 128, child, 4);
    box_node(image + 4 * 128, 0, 32, &leaf, 1, 0);
    radv_triangle(image + 5 * 128);
    CHECK(facet_gfx12_check(&view, &options, &check, NULL) == FACET_OK);
    for (uint32_t i = 0; i < check.count; i++) {
        CHECK_MSG(check.findings[i].severity != FACET_GFX12_ERROR,
                  "0x%llx %s",
                  (unsigned long long)check.findings[i].offset,
                  check.findings[i].text);
    }
    CHECK_EQ(check.reached, 4);
    facet_gfx12_check_free(&check);
    free(image);
}

/* A TLAS of one instance of one triangle: 0 root, 1 instance | 2 BLAS root, 3 triangle with the
 * bounds 0..1, 0..1, 0. The instance doubles it, turns it around z and moves it: in the world, its
 * corners are x = 4 or 6, y = 0 or 2, z = 0. */
static struct facet_gfx12_instance turned_instance(uint8_t *image)
{
    struct facet_gfx12_child placed = whole_child(6, 1), root = whole_child(5, 1);
    struct facet_gfx12_child leaf = whole_child(0, 1);
    struct facet_gfx12_instance in;

    box_node(image, 0, 16, &placed, 1, 0);
    instance_node(image + 128, 2 * 128, &root, 1);
    box_node(image + 2 * 128, 0, 16, &leaf, 1, 0);
    radv_triangle(image + 3 * 128);
    facet_gfx12_instance_decode(image + 128, &in);
    memset(in.world_to_object, 0, sizeof in.world_to_object);
    in.world_to_object[1] = facet_float_bits(0.5f);
    in.world_to_object[4] = facet_float_bits(-0.5f);
    in.world_to_object[7] = facet_float_bits(3.0f);
    in.world_to_object[10] = facet_float_bits(0.5f);
    facet_gfx12_instance_encode(&in, image + 128);
    return in;
}

/* Promises of an instance's children against what holds for the BLAS as placed: all 16 values, with
 * each force bit; the children's masks do not count. */
TEST(promises_of_instance_children_are_compared, "G12-257")
{
    static const struct {
        unsigned force, holds;
    } ways[] = {
        {0, FACET_GFX12_ONLY_OPAQUE},
        {FACET_GFX12_FORCE_OPAQUE, FACET_GFX12_ONLY_OPAQUE},
        {FACET_GFX12_FORCE_NON_OPAQUE, FACET_GFX12_ONLY_NON_OPAQUE},
    };

    for (unsigned way = 0; way < 3; way++) {
        for (unsigned flags = 0; flags < 16; flags++) {
            bool holds = (flags & ~(ways[way].holds | FACET_GFX12_ONLY_TRIANGLES)) == 0;
            uint8_t image[4 * 128] = {0};
            struct facet_gfx12_view view = {
                .bytes = image, .size = sizeof image, .root = FACET_GFX12_ROOT};
            struct facet_gfx12_check_options options = {0};
            struct facet_gfx12_check check;
            struct facet_gfx12_instance in = turned_instance(image);

            in.pointer |= facet_gfx12_base_make(0, ways[way].force);
            in.child[0].cull_flags = (uint8_t)flags;
            in.child[0].cull_mask = 0;
            facet_gfx12_instance_encode(&in, image + 128);
            CHECK(facet_gfx12_check(&view, &options, &check, NULL) == FACET_OK);
            CHECK_MSG(check.by_rule[13] == !holds, "force %u, flags %u", way, flags);
            for (uint32_t i = 0; i < check.count; i++) {
                CHECK(check.findings[i].rule != 13 || check.findings[i].offset == 128 + 83);
            }
            facet_gfx12_check_free(&check);
        }
    }
}

/* One finding per matrix: of its elements, or of the whole. A tiny matrix has an inverse, and an
 * instance whose BLAS is not in the image is looked at as well. */
TEST(matrices_without_inverse_are_named_once, "G12-257")
{
    static const struct {
        uint32_t z;
        unsigned findings;
    } ways[] = {{0, 1}, {0x80000000, 1}, {0x7F800000, 1}, {0x00000001, 0}, {0x3F000000, 0}};

    for (size_t i = 0; i < 2 * (sizeof ways / sizeof *ways); i++) {
        uint8_t image[4 * 128] = {0};
        struct facet_gfx12_view view = {
            .bytes = image, .size = i % 2 == 0 ? 512 : 256, .root = FACET_GFX12_ROOT};
        struct facet_gfx12_check_options options = {.partial = true};
        struct facet_gfx12_check check;
        struct facet_gfx12_instance in = turned_instance(image);

        in.world_to_object[10] = ways[i / 2].z;
        facet_gfx12_instance_encode(&in, image + 128);
        CHECK(facet_gfx12_check(&view, &options, &check, NULL) == FACET_OK);
        CHECK_EQ(check.by_rule[24], ways[i / 2].findings);
        facet_gfx12_check_free(&check);
    }
}

/* Planes that just enclose the rotated corners are accepted, each of them moved in is not. */
TEST(oriented_boxes_above_instances_are_compared, "G12-257")
{
    const double corner[4][3] = {{4, 0, 0}, {6, 0, 0}, {4, 2, 0}, {6, 2, 0}};

    for (unsigned matrix = 0; matrix < FACET_GFX12_OBB_COUNT; matrix++) {
        for (int moved = -1; moved < 6; moved++) {
            uint8_t image[4 * 128] = {0};
            struct facet_gfx12_view view = {
                .bytes = image, .size = sizeof image, .root = FACET_GFX12_ROOT};
            struct facet_gfx12_check_options options = {0};
            struct facet_gfx12_check check;
            struct facet_gfx12_box box;
            uint32_t rows[9], lo[3], hi[3];

            (void)turned_instance(image);
            facet_gfx12_box_decode(image, &box);
            CHECK(facet_gfx12_obb_matrix(matrix, rows));
            for (int r = 0; r < 3; r++) {
                double least = INFINITY, most = -INFINITY;

                for (int i = 0; i < 4; i++) {
                    double x = 0;

                    for (int k = 0; k < 3; k++) {
                        float m;

                        memcpy(&m, &rows[3 * r + k], sizeof m);
                        x += (double)m * corner[i][k];
                    }
                    least = fmin(least, x);
                    most = fmax(most, x);
                }
                lo[r] = facet_float_bits((float)least - 1e-5f);
                hi[r] = facet_float_bits((float)most + 1e-5f);
                box.origin[r] = lo[r];
                CHECK(facet_gfx12_quantize_exponent(
                    lo[r], facet_float_bits((float)most + 0.5f), &box.exponent[r]));
            }
            box.obb_matrix_index = matrix;
            facet_gfx12_quantize_child(lo, hi, box.origin, box.exponent, &box.child[0]);
            if (moved >= 0 && moved < 3) {
                box.child[0].min[moved] = (uint16_t)(box.child[0].min[moved] + 3);
            } else if (moved >= 3 && box.child[0].max[moved - 3] >= 3) {
                box.child[0].max[moved - 3] = (uint16_t)(box.child[0].max[moved - 3] - 3);
            } else if (moved >= 3) {
                continue; /* flat along this axis */
            }
            facet_gfx12_box_encode(&box, image);
            CHECK(facet_gfx12_check(&view, &options, &check, NULL) == FACET_OK);
            CHECK_MSG(check.by_rule[12] == (moved >= 0), "matrix %u, plane %d", matrix, moved);
            CHECK_EQ(check.total[FACET_GFX12_ERROR], (uint64_t)(moved >= 0));
            facet_gfx12_check_free(&check);
        }
    }
}

/* Child reuse: two boxes for one child, together they cover it. */
TEST(several_boxes_may_cover_one_child, "G12-257")
{
    uint8_t *image = calloc(3, 128);
    struct facet_gfx12_view view = {.bytes = image, .size = 3 * 128, .root = FACET_GFX12_ROOT};
    struct facet_gfx12_child child[2] = {whole_child(5, 0), whole_child(5, 0)};
    struct facet_gfx12_child leaf = whole_child(0, 1);
    struct facet_gfx12_check_options options = {0};
    struct facet_gfx12_check check;

    child[0].max[0] = 2047;
    child[1].min[0] = 2048;
    box_node(image, 16, 0, child, 2, 1);
    box_node(image + 128, 0, 32, &leaf, 1, 0);
    radv_triangle(image + 256);
    CHECK(facet_gfx12_check(&view, &options, &check, NULL) == FACET_OK);
    CHECK_EQ(check.total[FACET_GFX12_ERROR], 0);
    facet_gfx12_check_free(&check);
    free(image);
}

/* ---- any bytes ---- */

TEST(random_bytes_never_hurt, "G12-257")
{
    struct mesh mesh = mesh_planet(4, 4);
    struct facet_bvh_blas_input blas = {.triangles = mesh.triangles, .triangle_count = mesh.count};
    struct facet_bvh_instance instance = {
        .world_to_object = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}, .mask = 0xFF};
    struct facet_bvh_scene_input scene = {&blas, 1, &instance, 1};

    for (int round = 0; round < 800; round++) {
        uint32_t nodes = 1 + (uint32_t)(harness_random() % 12);
        size_t size = 128 * (size_t)nodes - (round % 7 == 0 ? harness_random() % 128 : 0);
        uint8_t *image = malloc(size + 1);
        struct facet_gfx12_view view = {.bytes = image, .size = size, .root = FACET_GFX12_ROOT};
        struct facet_gfx12_check_options options = {0};
        struct facet_gfx12_check check;

        for (size_t i = 0; i < size; i++) {
            image[i] = (uint8_t)harness_random();
        }
        /* Links that often lead somewhere. */
        for (uint32_t n = 0; 128 * (size_t)n + 128 <= size; n++) {
            struct facet_gfx12_box box;

            facet_gfx12_box_decode(image + 128 * (size_t)n, &box);
            box.internal_child_offset = 16 * (uint32_t)(harness_random() % nodes);
            box.primitive_child_offset = 16 * (uint32_t)(harness_random() % nodes);
            for (int c = 0; c < 8; c++) {
                box.child[c].node_size &= 1;
                box.child[c].node_type = harness_random() % 2 ? 5 : box.child[c].node_type;
            }
            if (round % 2 == 0) {
                facet_gfx12_box_encode(&box, image + 128 * (size_t)n);
            }
        }
        options.scene = round % 3 == 0 ? &scene : NULL;
        options.tolerance = round % 2 == 0 ? FACET_GFX12_TOLERANCE : options.tolerance;
        CHECK(facet_gfx12_check(&view, &options, &check, NULL) == FACET_OK);
        facet_gfx12_check_free(&check);
        free(image);
    }
    mesh_free(&mesh);
}

/* A chain of oriented boxes, each above all the others: quadratic work must be cut off. */
TEST(deep_oriented_chains_end_in_time, "")
{
    uint32_t depth = 20000;
    uint8_t *image = calloc(depth + 1, 128);
    struct facet_gfx12_view view = {
        .bytes = image, .size = 128 * (uint64_t)(depth + 1), .root = FACET_GFX12_ROOT};
    struct facet_gfx12_check_options options = {0};
    struct facet_gfx12_check check;

    for (uint32_t i = 0; i < depth; i++) {
        struct facet_gfx12_child child = whole_child(i + 1 < depth ? 5 : 0, 1);
        struct facet_gfx12_box box;

        box_node(image + 128 * (size_t)i, 16 * (i + 1), 16 * (i + 1), &child, 1, 0);
        facet_gfx12_box_decode(image + 128 * (size_t)i, &box);
        box.obb_matrix_index = i % 104;
        facet_gfx12_box_encode(&box, image + 128 * (size_t)i);
    }
    radv_triangle(image + 128 * (size_t)depth);
    CHECK(facet_gfx12_check(&view, &options, &check, NULL) == FACET_OK);
    CHECK_EQ(check.reached, depth + 1);
    CHECK(check.total[FACET_GFX12_NOTE] > 0);
    facet_gfx12_check_free(&check);
    free(image);
}

TEST(findings_beyond_the_limit_are_counted, "")
{
    struct facet_gfx12_check_options options = {.max_findings = 3};
    struct facet_gfx12_check check;
    struct subject s;

    subject_make(&s, false);
    no_stop(&s);
    CHECK(facet_gfx12_check(&s.view, &options, &check, NULL) == FACET_OK);
    CHECK_EQ(check.count, 3);
    CHECK(check.total[FACET_GFX12_ERROR] > 3);
    facet_gfx12_check_free(&check);
    free(s.image.bytes);
}

TEST(no_memory_is_an_error, "")
{
    struct mesh mesh = mesh_planet(4, 4);
    struct facet_bvh_blas_input blas = {.triangles = mesh.triangles, .triangle_count = mesh.count};
    struct facet_bvh_instance instance = {
        .world_to_object = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}, .mask = 0xFF};
    struct facet_bvh_scene_input scene = {&blas, 1, &instance, 1};
    struct subject s;

    subject_make(&s, false);
    not_opaque(&s);
    shrunk_max(&s);
    for (long good = 0;; good++) {
        struct facet_gfx12_check_options options = {.scene = &scene};
        struct facet_gfx12_check check;
        enum facet_status status;

        failing_alloc_after(good);
        status = facet_gfx12_check(&s.view, &options, &check, NULL);
        failing_alloc_after(-1);
        if (status == FACET_OK) {
            CHECK(check.by_rule[12] != 0 && check.by_rule[13] != 0 && check.by_rule[45] != 0);
            facet_gfx12_check_free(&check);
            break;
        }
        CHECK_EQ(status, FACET_ERR_MEMORY);
        CHECK(good < 100);
    }
    free(s.image.bytes);
    mesh_free(&mesh);
}
