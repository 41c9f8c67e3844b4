/* `facet bvh why`: the explanation goes the way of the reference loop, visit by visit, register by
 * register, and its intermediate values are those of the model. */
#include "gfx12/common.h"

#include "bvh/gfx12_build.h"
#include "gfx12/why.h"

#include <jansson.h>
#include <stdlib.h>

struct visits {
    unsigned count;
    struct {
        uint64_t base;
        uint32_t node, v[10];
    } visit[512];
};

static void note(void *context, uint64_t base, uint32_t node, const uint32_t v[10])
{
    struct visits *visits = context;

    if (visits->count < 512) {
        visits->visit[visits->count].base = base;
        visits->visit[visits->count].node = node;
        memcpy(visits->visit[visits->count].v, v, 40);
    }
    visits->count++;
}

static uint32_t hex(const json_t *value)
{
    return (uint32_t)strtoul(json_string_value(value), NULL, 16);
}

static uint32_t bits(const json_t *object, const char *name)
{
    return hex(json_object_get(json_object_get(object, name), "bits"));
}

static float value(const json_t *object, const char *name)
{
    return from_bits(bits(object, name));
}

static void check_visit(const json_t *visit, const struct visits *want, size_t i)
{
    const json_t *v = json_object_get(visit, "v"), *slot;
    size_t k;

    CHECK_EQ(hex(json_object_get(visit, "node")), want->visit[i].node);
    CHECK_EQ(strtoull(json_string_value(json_object_get(visit, "base")), NULL, 16),
             want->visit[i].base);
    for (k = 0; k < 10; k++) {
        CHECK_EQ(hex(json_array_get(v, k)), want->visit[i].v[k]);
    }
    /* Which children came back follows from the shown intervals alone. */
    json_array_foreach(json_object_get(visit, "children"), k, slot)
    {
        CHECK_EQ(json_is_true(json_object_get(slot, "hit")),
                 value(slot, "min_t") <= value(slot, "max_t_grown"));
        if (strcmp(json_string_value(json_object_get(visit, "kind")), "box") == 0 &&
            strcmp(json_string_value(json_object_get(slot, "result")), "returned") == 0) {
            bool found = false;
            for (size_t j = 0; j < 8; j++) {
                found = found || want->visit[i].v[j] == hex(json_object_get(slot, "id"));
            }
            CHECK(found);
        }
    }
    json_array_foreach(json_object_get(visit, "triangles"), k, slot)
    {
        if (json_is_true(json_object_get(slot, "returned_hit"))) {
            CHECK_EQ(bits(slot, "t"), want->visit[i].v[4 * k]);
        }
    }
}

static float in_range(float lo, float hi)
{
    return lo + (hi - lo) * ((float)(harness_random() >> 40) * 0x1p-24f);
}

static void random_image(struct facet_gfx12_image *image)
{
    static struct facet_bvh_triangle triangles[200];
    struct facet_bvh_blas_input blas = {.triangles = triangles, .triangle_count = 200};
    struct facet_bvh_instance instances[3];
    const struct facet_bvh_scene_input scene = {&blas, 1, instances, 3};
    const struct facet_gfx12_build_options options = {.quality = FACET_BVH_HIGH,
                                                      .obb = harness_random() % 2 != 0};
    struct facet_gfx12_build_report report;

    for (unsigned i = 0; i < 200; i++) {
        float at[3] = {in_range(-2, 2), in_range(-2, 2), in_range(-2, 2)};
        triangles[i].primitive = i;
        triangles[i].flags = FACET_BVH_OPAQUE;
        for (unsigned c = 0; c < 9; c++) {
            triangles[i].vertex[c / 3][c % 3] = at[c % 3] + in_range(-0.5f, 0.5f);
        }
    }
    memset(instances, 0, sizeof instances);
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned r = 0; r < 3; r++) {
            instances[i].world_to_object[r][r] = 1;
            instances[i].world_to_object[r][3] = in_range(-3, 3);
        }
        instances[i].mask = 0xFF;
        instances[i].user_data = i;
    }
    CHECK(facet_gfx12_build(&scene, &options, NULL, NULL, image, &report, NULL) == FACET_OK);
}

TEST(goes_the_way_of_the_loop, "")
{
    unsigned hits = 0;

    for (unsigned n = 0; n < 400 && !harness_failed(); n++) {
        const struct facet_gfx12_why_options options = {0};
        struct facet_gfx12_image image = {0};
        struct visits visits = {0};
        struct facet_gfx12_unit unit;
        struct facet_gfx12_query q;
        struct facet_gfx12_hit hit;
        const float o[3] = {in_range(-6, 6), in_range(-6, 6), in_range(-6, 6)};
        const float d[3] = {-o[0] + in_range(-1, 1), -o[1] + in_range(-1, 1), -o[2]};
        const json_t *list, *visit, *found;
        json_t *why;
        size_t i;

        random_image(&image);
        facet_gfx12_unit_init(&unit, image.bytes, image.size);
        unit.profile = n % 4 == 3 ? FACET_GFX12_GPURT : FACET_GFX12_SILICON;
        unit.resource.box_sorting_heuristic = (uint8_t)(n % 3);
        facet_gfx12_query_init(&q, o, d);
        q.api_flags = n % 5 == 0 ? FACET_GFX12_API_TERMINATE_ON_FIRST_HIT : 0;
        q.callbacks.context = &visits;
        q.callbacks.visit = note;
        CHECK(facet_gfx12_trace(&unit, &q, &hit, NULL, NULL) == FACET_OK);
        CHECK(facet_gfx12_why(&unit, &q, &options, &why, NULL) == FACET_OK);
        list = json_object_get(why, "visits");
        CHECK_EQ(json_array_size(list), visits.count);
        json_array_foreach(list, i, visit)
        {
            if (!harness_failed()) {
                check_visit(visit, &visits, i);
            }
        }
        found = json_object_get(why, "hit");
        CHECK_EQ(json_is_true(json_object_get(found, "found")), hit.found);
        if (hit.found) {
            hits++;
            CHECK_EQ(bits(found, "t"), to_bits(hit.t));
            CHECK_EQ(json_integer_value(json_object_get(found, "primitive")), hit.primitive_index);
            CHECK_EQ(hex(json_object_get(found, "instance")), hit.instance);
        }
        json_decref(why);
        free(image.bytes);
    }
    CHECK_MSG(hits > 100, "only %u hits", hits);
}

TEST(one_node, "")
{
    uint8_t *image = examples_new();
    struct facet_gfx12_unit unit;
    struct facet_gfx12_query q;
    const float o[3] = {-1, 0.25f, 0.5f}, d[3] = {1, 0.25f, 0.125f};
    json_t *why;

    facet_gfx12_unit_init(&unit, image, EXAMPLES_SIZE);
    facet_gfx12_query_init(&q, o, d);
    q.address = 0x40000;
    for (unsigned visited = 0; visited < 2; visited++) {
        const struct facet_gfx12_why_options options = {.one_node = true,
                                                        .node = visited != 0 ? 0x12 : 0x10};

        CHECK(facet_gfx12_why(&unit, &q, &options, &why, NULL) == FACET_OK);
        CHECK_EQ(json_is_true(json_object_get(why, "visited")), visited);
        CHECK_EQ(json_array_size(json_object_get(why, "visits")), 1);
        const json_t *visit = json_array_get(json_object_get(why, "visits"), 0);
        CHECK_EQ(hex(json_object_get(visit, "node")), options.node);
        /* Example 12: the hit of the visited node; the other one misses. */
        CHECK_EQ(hex(json_array_get(json_object_get(visit, "v"), 0)),
                 visited != 0 ? 0x3F800000 : 0x7F800000);
        json_decref(why);
    }
    free(image);
}

TEST(a_cycle_ends, "")
{
    /* The root names itself. */
    uint8_t image[128] = {0};
    const float o[3] = {0.5f, 0.5f, -1}, d[3] = {0, 0, 1};
    const struct facet_gfx12_why_options options = {.max_steps = 50};
    struct facet_gfx12_box box = {.exponent = {127, 127, 127},
                                  .obb_matrix_index = FACET_GFX12_OBB_NONE};
    struct facet_gfx12_unit unit;
    struct facet_gfx12_query q;
    json_t *why;

    for (unsigned i = 0; i < 8; i++) {
        facet_gfx12_child_unused(&box.child[i]);
    }
    box.child[0] =
        (struct facet_gfx12_child){.max = {4095, 4095, 4095}, .cull_mask = 0xFF, .node_type = 5};
    facet_gfx12_box_encode(&box, image);
    facet_gfx12_unit_init(&unit, image, sizeof image);
    facet_gfx12_query_init(&q, o, d);
    CHECK(facet_gfx12_why(&unit, &q, &options, &why, NULL) == FACET_OK);
    CHECK_STR(json_string_value(json_object_get(why, "ended")), "max_steps");
    CHECK_EQ(json_array_size(json_object_get(why, "visits")), 50);
    json_decref(why);
}
