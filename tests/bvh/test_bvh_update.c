/* Updatable images: any motion of the same triangles is taken, by the images that were built for
 * it. What the nodes hold is read with the codec of the nodes, not with the code that wrote them.
 */
#include "gfx12/build/build.h"
#include "gfx12/build/raw_node.h"
#include "gfx12/build/refit.h"
#include "gfx12/check/check.h"
#include "harness.h"
#include "meshes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct facet_gfx12_build_options updatable = {.allow_update = true};

static struct facet_gfx12_view view_of(const struct facet_gfx12_image *image)
{
    return (struct facet_gfx12_view){
        .bytes = image->bytes, .size = image->size, .root = FACET_GFX12_ROOT};
}

static struct facet_gfx12_image build(const struct facet_bvh_scene_input *scene,
                                      const struct facet_gfx12_build_options *options,
                                      struct facet_gfx12_build_report *report)
{
    struct facet_gfx12_image image;
    struct facet_error err = {0};

    CHECK_MSG(facet_gfx12_build(scene, options, NULL, NULL, &image, report, &err) == FACET_OK,
              "%s",
              err.message);
    return image;
}

/* ---- what an image says ---- */

struct tally {
    const struct facet_bvh_triangle *triangles;
    uint32_t count;
    uint32_t found; /* triangles, each at most once */
    uint32_t wrong;
    uint32_t nodes, whole_floats;
    bool *seen;
};

static void tally_node(const uint8_t node[128], struct tally *t)
{
    struct facet_gfx12_prim p;

    facet_gfx12_prim_decode(node, &p);
    t->nodes++;
    t->whole_floats += facet_gfx12_raw_node(node);
    for (unsigned i = 0; i < 2 * facet_gfx12_prim_pairs(&p.header); i++) {
        const struct facet_gfx12_pair_tri *tri = &p.pair[i / 2].tri[i % 2];
        const uint32_t number = facet_gfx12_prim_primitive(&p, i);
        const struct facet_bvh_triangle *own = &t->triangles[number];
        uint32_t xyz[3][3];

        if (i % 2 == 1 && facet_gfx12_tri_absent(tri)) {
            continue;
        }
        if (number >= t->count || t->seen[number]) {
            t->wrong++;
            continue;
        }
        for (int c = 0; c < 3; c++) {
            facet_gfx12_prim_vertex(&p, tri->index[c], xyz[c]);
        }
        t->seen[number] = true;
        t->found++;
        t->wrong += memcmp(xyz, own->vertex, sizeof xyz) != 0 ||
                    tri->opaque != ((own->flags & FACET_BVH_OPAQUE) != 0) ||
                    tri->double_sided != ((own->flags & FACET_BVH_DOUBLE_SIDED) != 0);
    }
}

/* Every triangle once, with its corners bit for bit, and no finding of the validator. */
static struct tally
check_holds(const struct facet_gfx12_image *image, const struct mesh *mesh, const char *what)
{
    const struct facet_gfx12_view view = view_of(image);
    struct facet_gfx12_check_options options = {0};
    struct facet_gfx12_check check;
    struct facet_gfx12_walk walk;
    struct tally t = {.triangles = mesh->triangles,
                      .count = mesh->count,
                      .seen = calloc(mesh->count, sizeof *t.seen)};

    CHECK(facet_gfx12_walk(&view, &walk, NULL) == FACET_OK);
    for (uint32_t i = 0; i < walk.reached; i++) {
        if (walk.nodes[walk.order[i]].kind == FACET_GFX12_KIND_PRIMITIVE) {
            tally_node(facet_gfx12_node_bytes(&view, walk.order[i]), &t);
        }
    }
    CHECK_MSG(t.found == mesh->count && t.wrong == 0,
              "%s: %u of %u triangles, %u wrong",
              what,
              t.found,
              mesh->count,
              t.wrong);
    CHECK(facet_gfx12_check(&view, &options, &check, NULL) == FACET_OK);
    CHECK_MSG(check.total[FACET_GFX12_ERROR] == 0 && check.total[FACET_GFX12_WARNING] == 0,
              "%s: %s",
              what,
              check.count != 0 ? check.findings[0].text : "");
    facet_gfx12_check_free(&check);
    facet_gfx12_walk_free(&walk);
    free(t.seen);
    t.seen = NULL;
    return t;
}

/* ---- motions ---- */

/* Twenty: rotations, scalings, waves of several lengths, twists, a burst of single triangles. */
enum { MOTIONS = 20 };

static void move_vertex(unsigned motion, uint32_t triangle, float v[3])
{
    const float x = v[0], y = v[1], z = v[2];
    const float angle = 0.1f * (float)(motion % 5 + 1) * (motion % 4 == 3 ? y : 1.0f);
    const float size = 1.0f + 0.37f * (float)(motion % 7);

    switch (motion % 4) {
    case 0: /* rotation */
    case 3: /* twist */
        v[0] = cosf(angle) * x - sinf(angle) * z;
        v[2] = sinf(angle) * x + cosf(angle) * z;
        break;
    case 1: /* scaling, uneven and mirrored */
        v[0] = x * size;
        v[1] = y / size;
        v[2] = motion % 2 == 1 ? -z : z;
        break;
    default: /* wave */
        v[1] = y + 0.02f * size * sinf(9.0f * size * x + 5.0f * z);
        break;
    }
    if (motion == MOTIONS - 1) { /* corners that were one move apart */
        v[triangle % 3] += 1e-3f * (float)(triangle % 17);
    }
}

static struct mesh moved_mesh(const struct mesh *mesh, unsigned motion)
{
    struct mesh out = {malloc(mesh->count * sizeof *out.triangles), mesh->count};

    memcpy(out.triangles, mesh->triangles, mesh->count * sizeof *out.triangles);
    for (uint32_t i = 0; i < mesh->count; i++) {
        for (int c = 0; c < 3; c++) {
            move_vertex(motion, i, out.triangles[i].vertex[c]);
        }
        out.triangles[i].flags = motion & 3;
    }
    return out;
}

static struct facet_bvh_scene_input scene_of(const struct mesh *mesh,
                                             struct facet_bvh_blas_input *blas,
                                             struct facet_bvh_instance *instance)
{
    *blas =
        (struct facet_bvh_blas_input){.triangles = mesh->triangles, .triangle_count = mesh->count};
    *instance = (struct facet_bvh_instance){.mask = 0xFF};
    for (int k = 0; k < 3; k++) {
        instance->world_to_object[k][k] = 1;
    }
    return (struct facet_bvh_scene_input){blas, 1, instance, 1};
}

TEST(updatable_images_take_any_motion, "G12-254")
{
    static const char *const names[] = {"planet", "terrain", "soup"};
    struct mesh meshes[3] = {mesh_planet(24, 32), mesh_terrain(24), mesh_soup(700, 11)};
    unsigned taken = 0, refused = 0;
    facet_pool *pool;

    for (uint32_t i = 0; i < meshes[2].count; i++) { /* one numbering, which the validator wants */
        meshes[2].triangles[i].geometry = 0;
    }
    CHECK(facet_pool_create(3, &pool, NULL) == FACET_OK);
    for (int m = 0; m < 3; m++) {
        for (int quality = 0; quality < FACET_BVH_QUALITIES; quality++) {
            const struct facet_gfx12_build_options options = {.quality = quality,
                                                              .allow_update = true};
            const struct facet_gfx12_build_options packed = {.quality = quality};
            struct facet_gfx12_build_report report;
            struct facet_bvh_blas_input blas;
            struct facet_bvh_instance instance;
            struct facet_bvh_scene_input scene = scene_of(&meshes[m], &blas, &instance);
            struct facet_gfx12_image image = build(&scene, &options, &report);
            struct facet_gfx12_image tight = build(&scene, &packed, &report);
            const struct facet_gfx12_view view = view_of(&image), tight_view = view_of(&tight);
            uint8_t *out = malloc(image.size), *threads = malloc(image.size);
            struct tally t = check_holds(&image, &meshes[m], names[m]);

            CHECK_EQ(t.whole_floats, t.nodes);
            for (unsigned motion = 0; motion < MOTIONS; motion++) {
                struct mesh moved = moved_mesh(&meshes[m], motion);
                struct facet_gfx12_image after = {out, image.size};
                struct facet_progress progress;
                struct facet_error err = {0};
                char what[64];

                scene = scene_of(&moved, &blas, &instance);
                instance.world_to_object[1][3] = (float)motion;
                (void)snprintf(what, sizeof what, "%s, motion %u", names[m], motion);
                CHECK_MSG(facet_gfx12_refit(&view, &scene, NULL, NULL, out, &err) == FACET_OK,
                          "%s: %s",
                          what,
                          err.message);
                (void)check_holds(&after, &moved, what);
                taken++;
                facet_progress_start(&progress, &(struct facet_progress_config){.quiet = true});
                CHECK(facet_gfx12_refit(&view, &scene, pool, &progress, threads, NULL) == FACET_OK);
                facet_progress_finish(&progress);
                /* All nodes but those of the top level. */
                CHECK_EQ(progress.done, image.size / FACET_GFX12_NODE_BYTES - 2);
                CHECK_MSG(memcmp(out, threads, image.size) == 0, "%s: threads show", what);
                refused +=
                    facet_gfx12_refit(&tight_view, &scene, NULL, NULL, threads, NULL) != FACET_OK;
                mesh_free(&moved);
            }
            free(out);
            free(threads);
            free(image.bytes);
            free(tight.bytes);
        }
        mesh_free(&meshes[m]);
    }
    CHECK_EQ(taken, 3 * FACET_BVH_QUALITIES * MOTIONS);
    CHECK_MSG(refused > taken / 2, "compressed images took %u", taken - refused);
    facet_pool_destroy(pool);
}

TEST(an_image_may_be_refitted_where_it_is, "")
{
    struct mesh mesh = mesh_planet(12, 16), moved = moved_mesh(&mesh, 2);
    struct facet_gfx12_build_report report;
    struct facet_bvh_blas_input blas;
    struct facet_bvh_instance instance;
    struct facet_bvh_scene_input scene = scene_of(&mesh, &blas, &instance);
    struct facet_gfx12_image image = build(&scene, &updatable, &report);
    const struct facet_gfx12_view view = view_of(&image);
    uint8_t *out = malloc(image.size);

    scene = scene_of(&moved, &blas, &instance);
    CHECK(facet_gfx12_refit(&view, &scene, NULL, NULL, out, NULL) == FACET_OK);
    CHECK(facet_gfx12_refit(&view, &scene, NULL, NULL, image.bytes, NULL) == FACET_OK);
    CHECK(memcmp(out, image.bytes, image.size) == 0);
    free(out);
    free(image.bytes);
    mesh_free(&mesh);
    mesh_free(&moved);
}

/* What fails in a copy fails in place too, where the first look has written some nodes already. */
TEST(a_refit_that_is_refused_is_refused_in_place, "")
{
    for (int m = 0; m < 2; m++) {
        struct mesh mesh = m == 0 ? mesh_soup(3, 1) : mesh_planet(12, 16);
        struct facet_gfx12_build_report report;
        struct facet_bvh_blas_input blas = {.triangles = mesh.triangles,
                                            .triangle_count = mesh.count};
        const struct facet_bvh_scene_input scene = {.blas = &blas, .blas_count = 1};
        struct facet_gfx12_image image;
        struct facet_gfx12_view view;
        struct facet_error copied = {0}, placed = {0};
        uint8_t *out;

        CHECK(facet_gfx12_build_blas(&blas, &updatable, NULL, NULL, &image, &report, NULL) ==
              FACET_OK);
        view = view_of(&image);
        out = malloc(image.size);
        mesh.triangles[0].vertex[0][0] = 0x1.8p127f; /* more than 2^127 wide */
        mesh.triangles[1].vertex[0][0] = -0x1.8p127f;
        CHECK_EQ(facet_gfx12_refit(&view, &scene, NULL, NULL, out, &copied), FACET_ERR_INPUT);
        CHECK_EQ(facet_gfx12_refit(&view, &scene, NULL, NULL, image.bytes, &placed),
                 FACET_ERR_INPUT);
        CHECK_STR(placed.message, copied.message);
        free(out);
        free(image.bytes);
        mesh_free(&mesh);
    }
}

/* A triangle that has no area yet stays in an updatable image; one that another image has dropped
 * is missed when it grows. */
TEST(triangles_without_area_may_grow, "")
{
    struct mesh mesh = mesh_soup(40, 3), grown = mesh_soup(40, 3);
    struct facet_gfx12_build_report report;
    struct facet_gfx12_build_options plain = {0};
    struct facet_bvh_blas_input blas;
    struct facet_bvh_instance instance;
    struct facet_bvh_scene_input scene = scene_of(&mesh, &blas, &instance);
    struct facet_gfx12_image image, packed;
    struct facet_gfx12_view view;
    struct facet_error err = {0};

    memcpy(mesh.triangles[7].vertex[1], mesh.triangles[7].vertex[0], 12);
    memcpy(mesh.triangles[7].vertex[2], mesh.triangles[7].vertex[0], 12);
    image = build(&scene, &updatable, &report);
    CHECK_EQ(report.degenerate, 0);
    packed = build(&scene, &plain, &report);
    CHECK_EQ(report.degenerate, 1);
    scene = scene_of(&grown, &blas, &instance);
    view = view_of(&image);
    CHECK(facet_gfx12_refit(&view, &scene, NULL, NULL, image.bytes, NULL) == FACET_OK);
    view = view_of(&packed);
    CHECK_EQ(facet_gfx12_refit(&view, &scene, NULL, NULL, packed.bytes, &err), FACET_ERR_INPUT);
    CHECK_MSG(strstr(err.message, "primitive 7 of BLAS 0") != NULL, "%s", err.message);
    free(image.bytes);
    free(packed.bytes);
    mesh_free(&mesh);
    mesh_free(&grown);
}

/* Instances are told apart by mesh and user data; where that is the same, by place. */
TEST(instances_with_equal_user_data_are_refitted, "")
{
    struct mesh mesh = mesh_soup(30, 5);
    struct facet_bvh_blas_input blas = {.triangles = mesh.triangles, .triangle_count = mesh.count};
    struct facet_bvh_instance instance[20] = {0};
    const struct facet_bvh_scene_input scene = {&blas, 1, instance, 20};
    struct facet_gfx12_build_report report;
    struct facet_gfx12_image image;
    struct facet_gfx12_view view;
    struct facet_gfx12_walk walk;
    uint8_t *out;
    double sum = 0;

    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 3; k++) {
            instance[i].world_to_object[k][k] = 1;
            instance[i].world_to_object[k][3] = (float)(i * (k + 3) % 11);
        }
        instance[i].mask = 1;
        instance[i].user_data = (uint32_t)i / 8;
    }
    image = build(&scene, &updatable, &report);
    view = view_of(&image);
    out = malloc(image.size);
    CHECK(facet_gfx12_refit(&view, &scene, NULL, NULL, out, NULL) == FACET_OK);
    CHECK(memcmp(out, image.bytes, image.size) == 0);
    for (int i = 0; i < 20; i++) {
        instance[i].world_to_object[0][3] = (float)(1 << i);
    }
    CHECK(facet_gfx12_refit(&view, &scene, NULL, NULL, out, NULL) == FACET_OK);
    view.bytes = out;
    CHECK(facet_gfx12_walk(&view, &walk, NULL) == FACET_OK);
    for (uint32_t i = 0; i < walk.reached; i++) {
        struct facet_gfx12_instance node;

        if (walk.nodes[walk.order[i]].kind == FACET_GFX12_KIND_INSTANCE) {
            float x;

            facet_gfx12_instance_decode(facet_gfx12_node_bytes(&view, walk.order[i]), &node);
            memcpy(&x, &node.world_to_object[3], sizeof x);
            sum += (double)x;
            CHECK_EQ(node.user_data, (unsigned)log2f(x) / 8);
        }
    }
    CHECK(sum == (1 << 20) - 1); /* each place once */
    facet_gfx12_walk_free(&walk);
    free(out);
    free(image.bytes);
    mesh_free(&mesh);
}

/* The fields of a node of whole floats, against the codec at random. */
TEST(nodes_of_whole_floats_read_as_the_codec_says, "G12-071")
{
    uint64_t state = 88172645463325252u;

    for (int round = 0; round < 2000; round++) {
        uint8_t node[128], before[128];
        struct facet_gfx12_prim p;
        uint32_t xyz[3], own[3];
        unsigned v, pair;

        for (int i = 0; i < 128; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            node[i] = (uint8_t)(state >> 24);
        }
        node[0] = 0xFF;
        node[1] = 0x7F;
        node[2] &= 0xF0;
        node[3] &= 0x7F;
        v = (unsigned)(state % 10);
        pair = (unsigned)(state >> 8 & 7);
        CHECK(facet_gfx12_raw_node(node));
        facet_gfx12_prim_decode(node, &p);
        facet_gfx12_prim_vertex(&p, v, xyz);
        facet_gfx12_raw_words(node, v, own);
        CHECK(memcmp(xyz, own, sizeof xyz) == 0);
        memcpy(before, node, sizeof node);
        facet_gfx12_raw_set_pair(node, pair, facet_gfx12_raw_pair(node, pair));
        facet_gfx12_raw_store(node, v, own);
        CHECK(memcmp(before, node, sizeof node) == 0);
        own[1] ^= 0x5A5A5A5A;
        facet_gfx12_raw_store(node, v, own);
        facet_gfx12_prim_decode(node, &p);
        facet_gfx12_prim_vertex(&p, v, xyz);
        CHECK(memcmp(xyz, own, sizeof xyz) == 0);
    }
}
