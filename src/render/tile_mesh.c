/* Meshes for the machine tile: vertex buffers, batches, the order of transparent things.
 *
 * With one sun the unit lights vertices itself: a mesh is stored once, in object space, and drawn
 * once per instance. Other lights the unit does not know: their light is put into the vertex
 * colours, in world space, on triangles cut so small that the colours between corners are right. */
#include "render/tile_gpu.h"

#include "base/bits.h"
#include "shade/light.h"
#include "shade/surface.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CUTS = 48 };      /* of a triangle's side */
#define CUTS_PER_SCENE 32.0F /* a side of the scene's diagonal gets that many */

struct corner {
    struct facet_vec3 position, normal;
    float uv[2], color[4];
};

/* ---- vertices ---- */

static void store_vertex(uint8_t *out, const struct corner *c, uint32_t color)
{
    const struct facet_tile_gvertex_fields v = {
        .position = {c->position.x, c->position.y, c->position.z, 1.0F},
        .normal = {c->normal.x, c->normal.y, c->normal.z},
        .uv = {c->uv[0], c->uv[1]},
        .color = color};

    facet_gpu_vertex(&v, out);
}

static void mesh_corner(const struct facet_scene_mesh *mesh,
                        const struct facet_texture_use *texture,
                        uint32_t vertex,
                        struct corner *out)
{
    *out = (struct corner){.color = {1.0F, 1.0F, 1.0F, 1.0F}};
    out->position = vec3_load(mesh->positions + 3 * (size_t)vertex);
    if (mesh->normals != NULL) {
        out->normal = vec3_load(mesh->normals + 3 * (size_t)vertex);
    }
    if (mesh->colors != NULL) {
        memcpy(out->color, mesh->colors + 4 * (size_t)vertex, sizeof out->color);
    }
    if (texture->texture != FACET_SCENE_NONE) {
        facet_scene_uv(mesh, texture, vertex, out->uv);
    }
}

/* The corners of a triangle, with its own normal where the mesh has none. */
static void triangle_corners(const struct facet_scene_mesh *mesh,
                             const struct facet_texture_use *texture,
                             uint32_t triangle,
                             struct corner out[3])
{
    struct facet_vec3 flat;

    for (unsigned i = 0; i < 3; i++) {
        mesh_corner(mesh, texture, mesh->indices[3 * (size_t)triangle + i], &out[i]);
    }
    flat = vec3_cross(vec3_sub(out[1].position, out[0].position),
                      vec3_sub(out[2].position, out[0].position));
    (void)vec3_normalize(&flat);
    for (unsigned i = 0; i < 3 && mesh->normals == NULL; i++) {
        out[i].normal = flat;
    }
}

/* Rows of the matrix that normals take: cofactors of the instance's, with its mirror undone. */
static void normal_matrix(const struct facet_scene_instance *instance, float side, float out[9])
{
    const float *m = instance->transform;
    struct facet_vec3 x = vec3(m[0], m[4], m[8]), y = vec3(m[1], m[5], m[9]);
    struct facet_vec3 z = vec3(m[2], m[6], m[10]);
    struct facet_vec3 column[3] = {vec3_cross(y, z), vec3_cross(z, x), vec3_cross(x, y)};

    side *= instance->flipped ? -1.0F : 1.0F;
    for (unsigned i = 0; i < 3; i++) {
        out[i] = side * column[i].x;
        out[3 + i] = side * column[i].y;
        out[6 + i] = side * column[i].z;
    }
}

static struct facet_vec3 apply3(const float m[9], struct facet_vec3 v)
{
    return vec3(m[0] * v.x + m[1] * v.y + m[2] * v.z,
                m[3] * v.x + m[4] * v.y + m[5] * v.z,
                m[6] * v.x + m[7] * v.y + m[8] * v.z);
}

static struct facet_vec3 apply34(const float m[12], struct facet_vec3 v)
{
    return vec3(m[0] * v.x + m[1] * v.y + m[2] * v.z + m[3],
                m[4] * v.x + m[5] * v.y + m[6] * v.z + m[7],
                m[8] * v.x + m[9] * v.y + m[10] * v.z + m[11]);
}

/* ---- what a batch takes from the material ---- */

static const struct facet_scene_material *material_of(const struct gpu *g,
                                                      const struct facet_scene_mesh *mesh)
{
    return &g->render->scene->materials[mesh->material];
}

static void use_material(const struct facet_scene_material *m, struct gpu_batch *b)
{
    b->material = facet_gpu_color(vec3_load(m->base_color), m->base_color[3]);
    b->texture = m->base_texture.texture != FACET_SCENE_NONE ? &m->base_texture : NULL;
    b->depth = true;
    b->blend = b->keep_depth = m->alpha_mode != FACET_ALPHA_OPAQUE;
    b->cut = m->alpha_mode == FACET_ALPHA_MASK && b->texture != NULL;
    b->cutoff = m->alpha_cutoff;
}

/* Front faces turn counter-clockwise, what is culled turns clockwise; a mirror swaps them. */
static uint32_t cull_of(const struct facet_scene_instance *instance, bool back)
{
    return instance->flipped != back ? FACET_TILE_GSTATE_CULL_CCW : FACET_TILE_GSTATE_CULL_CW;
}

/* Draws for both sides where the material has two, with normals towards the eye. */
static bool draw_sides(struct gpu *g,
                       const struct facet_scene_instance *instance,
                       const struct facet_scene_material *material,
                       struct gpu_batch *b)
{
    g->instance = (uint32_t)(instance - g->render->scene->instances);
    for (unsigned back = material->double_sided ? 2 : 1; back-- > 0;) {
        normal_matrix(instance, back != 0 ? -1.0F : 1.0F, b->normal);
        b->cull = cull_of(instance, back != 0);
        if (!facet_gpu_draw(g, b)) {
            return false;
        }
    }
    return true;
}

/* ---- lit by the unit ---- */

static bool no_memory(const struct gpu *g)
{
    (void)facet_fail(g->err, FACET_ERR_MEMORY, 0, "no memory for vertices");
    return false;
}

/* The mesh as it is, with indices: when it has normals and fits the stage. */
static bool stage_indexed(struct gpu *g,
                          const struct facet_scene_mesh *mesh,
                          const struct facet_texture_use *texture,
                          struct gpu_batch *b)
{
    uint32_t count = 3 * mesh->triangle_count, size = mesh->vertex_count <= 65536 ? 2 : 4;
    uint32_t bytes = mesh->vertex_count * GPU_VERTEX_BYTES;
    uint8_t *data = malloc((size_t)bytes + (size_t)count * size + 64);
    uint8_t *indices = data + (bytes + 63) / 64 * 64;
    bool good;

    if (data == NULL) {
        return no_memory(g);
    }
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        struct corner c;

        mesh_corner(mesh, texture, i, &c);
        store_vertex(data + (size_t)i * GPU_VERTEX_BYTES,
                     &c,
                     facet_gpu_color(vec3(c.color[0], c.color[1], c.color[2]), c.color[3]));
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < size; k++) {
            indices[(size_t)i * size + k] = (uint8_t)(mesh->indices[i] >> (8 * k));
        }
    }
    b->count = count;
    b->wide = size == 4;
    good = facet_gpu_stage(g, data, (uint32_t)(indices - data) + count * size, &b->vertices);
    b->indices = b->vertices + (uint32_t)(indices - data);
    free(data);
    return good;
}

/* Triangles [first, first + count) with corners of their own. */
static bool stage_plain(struct gpu *g,
                        const struct facet_scene_mesh *mesh,
                        const struct facet_texture_use *texture,
                        uint32_t first,
                        uint32_t count,
                        struct gpu_batch *b)
{
    uint32_t bytes = 3 * count * GPU_VERTEX_BYTES;
    uint8_t *data = malloc(bytes);
    bool good;

    if (data == NULL) {
        return no_memory(g);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct corner c[3];

        triangle_corners(mesh, texture, first + i, c);
        for (unsigned k = 0; k < 3; k++) {
            store_vertex(
                data + (size_t)(3 * i + k) * GPU_VERTEX_BYTES,
                &c[k],
                facet_gpu_color(vec3(c[k].color[0], c[k].color[1], c[k].color[2]), c[k].color[3]));
        }
    }
    b->count = 3 * count;
    b->indices = 0;
    good = facet_gpu_stage(g, data, bytes, &b->vertices);
    free(data);
    return good;
}

/* What to add to a code of the lit colour so that the sum is the code of both, under light of
 * strength 1. */
static uint32_t glow_color(const struct facet_scene_material *m, struct facet_vec3 light)
{
    struct facet_vec3 base = vec3_load(m->base_color);
    uint32_t lit = facet_gpu_color(base, 1.0F), both = facet_gpu_color(vec3_add(base, light), 1.0F);
    uint32_t out = 0xFF000000;

    for (unsigned shift = 0; shift < 24; shift += 8) {
        uint32_t with = both >> shift & 0xFF, without = lit >> shift & 0xFF;

        out |= (with > without ? with - without : 0) << shift;
    }
    return out;
}

static bool draw_lit_instances(
    struct gpu *g, uint32_t mesh, const uint32_t *instances, uint32_t count, struct gpu_batch *b)
{
    const struct facet_scene *scene = g->render->scene;
    const struct facet_scene_material *material = material_of(g, &scene->meshes[mesh]);

    struct facet_vec3 light = vec3_scale(vec3_load(material->emissive), g->exposure);
    bool glows = light.x > 0.0F || light.y > 0.0F || light.z > 0.0F;
    struct gpu_batch glow;

    use_material(material, b);
    b->lit = !material->unlit;
    glow = *b;
    glow.lit = glow.blend = glow.cut = false;
    glow.glow = true;
    glow.material = glow_color(material, light);
    glow.texture = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct facet_scene_instance *instance = &scene->instances[instances[i]];

        b->model = glow.model = instance->transform;
        if (!draw_sides(g, instance, material, b) ||
            (glows && !draw_sides(g, instance, material, &glow))) {
            return false;
        }
    }
    return true;
}

static bool draw_lit(struct gpu *g, uint32_t number, const uint32_t *instances, uint32_t count)
{
    const struct facet_scene_mesh *mesh = &g->render->scene->meshes[number];
    const struct facet_texture_use *texture = &material_of(g, mesh)->base_texture;
    uint32_t limit = facet_gpu_stage_limit(g), step = limit / (3 * GPU_VERTEX_BYTES);
    uint64_t indexed =
        (uint64_t)mesh->vertex_count * GPU_VERTEX_BYTES + 12 * (uint64_t)mesh->triangle_count + 64;
    struct gpu_batch b = {0};

    if (mesh->normals != NULL && indexed <= limit) {
        return stage_indexed(g, mesh, texture, &b) &&
               draw_lit_instances(g, number, instances, count, &b);
    }
    for (uint32_t first = 0; first < mesh->triangle_count; first += step) {
        uint32_t some = mesh->triangle_count - first < step ? mesh->triangle_count - first : step;

        if (!stage_plain(g, mesh, texture, first, some, &b) ||
            !draw_lit_instances(g, number, instances, count, &b)) {
            return false;
        }
    }
    return true;
}

/* ---- lit by us ---- */

/* Light that a white surface sends out there. */
static struct facet_vec3 light_at(const struct gpu *g, struct facet_vec3 p, struct facet_vec3 n)
{
    const struct facet_scene *scene = g->render->scene;
    struct facet_vec3 sum = vec3_scale(facet_shade_sky_light(n), 0.7F); /* what occlusion leaves */

    for (uint32_t i = 0; i < scene->light_count && i < GPU_MAX_LIGHTS; i++) {
        struct facet_incoming in;

        if (facet_shade_light_incoming(&scene->lights[i], p, n, n, &in)) {
            sum = vec3_along(sum, in.radiance, g->exposure);
        }
    }
    return sum;
}

static uint32_t
baked_color(const struct gpu *g, const struct facet_scene_material *m, const struct corner *c)
{
    struct facet_vec3 n = c->normal, light = vec3(1.0F, 1.0F, 1.0F);
    struct facet_vec3 base = vec3(m->base_color[0] * c->color[0],
                                  m->base_color[1] * c->color[1],
                                  m->base_color[2] * c->color[2]);
    struct facet_vec3 glow = vec3_scale(vec3_load(m->emissive), g->exposure);

    (void)vec3_normalize(&n);
    if (!m->unlit) {
        light = light_at(g, c->position, n);
    }
    return facet_gpu_color(vec3_add(vec3_mul(base, light), glow), m->base_color[3] * c->color[3]);
}

static struct corner between(const struct corner c[3], float v, float w)
{
    float u = 1.0F - v - w;
    struct facet_vec3 p[3] = {c[0].position, c[1].position, c[2].position};
    struct facet_vec3 n[3] = {c[0].normal, c[1].normal, c[2].normal};
    struct corner out = {.position = vec3_blend(p, v, w), .normal = vec3_blend(n, v, w)};

    for (unsigned i = 0; i < 2; i++) {
        out.uv[i] = u * c[0].uv[i] + v * c[1].uv[i] + w * c[2].uv[i];
    }
    for (unsigned i = 0; i < 4; i++) {
        out.color[i] = u * c[0].color[i] + v * c[1].color[i] + w * c[2].color[i];
    }
    return out;
}

/* Vertices gather here until there are enough for a batch. */
struct baker {
    struct gpu *g;
    const struct facet_scene_material *material;
    const struct facet_scene_instance *instance;
    struct gpu_batch batch;
    uint8_t *data;
    uint32_t used, room; /* vertices */
};

static bool bake_out(struct baker *k)
{
    bool good = true;

    if (k->used != 0) {
        k->g->instance = (uint32_t)(k->instance - k->g->render->scene->instances);
        k->batch.count = k->used;
        good = facet_gpu_stage(k->g, k->data, k->used * GPU_VERTEX_BYTES, &k->batch.vertices) &&
               facet_gpu_draw(k->g, &k->batch);
    }
    k->used = 0;
    return good;
}

static bool
bake_vertex(struct baker *k, const struct corner c[3], uint32_t cuts, uint32_t v, uint32_t w)
{
    struct corner at = between(c, (float)v / (float)cuts, (float)w / (float)cuts);

    store_vertex(
        k->data + (size_t)k->used++ * GPU_VERTEX_BYTES, &at, baked_color(k->g, k->material, &at));
    return k->used < k->room || bake_out(k);
}

static uint32_t cuts_of(const struct gpu *g, const struct corner c[3])
{
    const struct facet_bounds *box = &g->render->scene->bounds;
    struct facet_vec3 size = vec3_sub(vec3_load(box->hi), vec3_load(box->lo));
    float limit = vec3_dot(size, size) / (CUTS_PER_SCENE * CUTS_PER_SCENE), longest = 0.0F;
    uint32_t cuts = 1;

    for (unsigned i = 0; i < 3; i++) {
        struct facet_vec3 edge = vec3_sub(c[(i + 1) % 3].position, c[i].position);

        longest = fmaxf(longest, vec3_dot(edge, edge));
    }
    while (cuts < MAX_CUTS && longest > limit * (float)(cuts * cuts)) {
        cuts++;
    }
    return cuts;
}

static bool bake_triangle(struct baker *k, const struct corner c[3])
{
    uint32_t cuts = cuts_of(k->g, c);

    for (uint32_t v = 0; v < cuts; v++) {
        for (uint32_t w = 0; w + v < cuts; w++) {
            if (!bake_vertex(k, c, cuts, v, w) || !bake_vertex(k, c, cuts, v + 1, w) ||
                !bake_vertex(k, c, cuts, v, w + 1)) {
                return false;
            }
            if (v + w + 1 < cuts &&
                (!bake_vertex(k, c, cuts, v + 1, w) || !bake_vertex(k, c, cuts, v + 1, w + 1) ||
                 !bake_vertex(k, c, cuts, v, w + 1))) {
                return false;
            }
        }
    }
    return true;
}

/* A side of an instance, in world space. */
static bool bake_side(struct baker *k, bool back)
{
    const struct facet_scene_mesh *mesh = &k->g->render->scene->meshes[k->instance->mesh];
    float normal[9];

    normal_matrix(k->instance, back ? -1.0F : 1.0F, normal);
    k->batch.cull = cull_of(k->instance, back);
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        struct corner c[3];

        triangle_corners(mesh, &k->material->base_texture, i, c);
        for (unsigned n = 0; n < 3; n++) {
            c[n].position = apply34(k->instance->transform, c[n].position);
            c[n].normal = apply3(normal, c[n].normal);
            (void)vec3_normalize(&c[n].normal);
        }
        if (!bake_triangle(k, c)) {
            return false;
        }
    }
    return bake_out(k);
}

static bool draw_baked(struct gpu *g, uint32_t number)
{
    const struct facet_scene_instance *instance = &g->render->scene->instances[number];
    struct baker k = {.g = g,
                      .instance = instance,
                      .material = material_of(g, &g->render->scene->meshes[instance->mesh]),
                      .room = 3 * (facet_gpu_stage_limit(g) / (3 * GPU_VERTEX_BYTES))};
    bool good = true;

    k.room = k.room < 3 * 4096 ? k.room : 3 * 4096;
    k.data = malloc((size_t)k.room * GPU_VERTEX_BYTES);
    if (k.data == NULL) {
        return no_memory(g);
    }
    use_material(k.material, &k.batch);
    k.batch.material = 0xFFFFFFFF; /* in the vertices */
    for (unsigned back = k.material->double_sided ? 2 : 1; back-- > 0 && good;) {
        good = bake_side(&k, back != 0);
    }
    free(k.data);
    return good;
}

/* ---- the scene ---- */

struct ordered {
    uint32_t instance;
    float distance;
};

static int farther_first(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;

    if (x->distance != y->distance) {
        return x->distance > y->distance ? -1 : 1;
    }
    return x->instance < y->instance ? -1 : x->instance > y->instance;
}

static bool is_solid(const struct gpu *g, uint32_t instance)
{
    const struct facet_scene *scene = g->render->scene;

    return material_of(g, &scene->meshes[scene->instances[instance].mesh])->alpha_mode ==
           FACET_ALPHA_OPAQUE;
}

static bool draw_one(struct gpu *g, uint32_t instance)
{
    return g->baked ? draw_baked(g, instance)
                    : draw_lit(g, g->render->scene->instances[instance].mesh, &instance, 1);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Opaque instances: those of one mesh together, so that it is stored once. */
static bool draw_solid(struct gpu *g)
{
    const struct facet_scene *scene = g->render->scene;
    uint64_t *keys = malloc(((size_t)scene->instance_count + 1) * sizeof *keys);
    uint32_t *list = malloc(((size_t)scene->instance_count + 1) * sizeof *list);
    uint32_t count = 0;
    bool good = (keys != NULL && list != NULL) || no_memory(g);

    for (uint32_t i = 0; i < scene->instance_count && good; i++) {
        if (is_solid(g, i)) {
            keys[count++] = (uint64_t)scene->instances[i].mesh << 32 | i;
        }
    }
    if (good) {
        qsort(keys, count, sizeof *keys, by_number);
    }
    for (uint32_t i = 0, some; i < count && good; i += some) {
        uint32_t mesh = (uint32_t)(keys[i] >> 32);

        for (some = 0; i + some < count && keys[i + some] >> 32 == mesh; some++) {
            list[some] = (uint32_t)keys[i + some];
        }
        for (uint32_t n = 0; n < some && good && g->baked; n++) {
            good = draw_baked(g, list[n]);
        }
        good = good && (g->baked || draw_lit(g, mesh, list, some));
    }
    free(keys);
    free(list);
    return good;
}

/* The others from the back to the front, since blending has an order. */
static bool draw_transparent(struct gpu *g, struct ordered *list)
{
    const struct facet_scene *scene = g->render->scene;
    uint32_t count = 0;

    for (uint32_t i = 0; i < scene->instance_count; i++) {
        if (!is_solid(g, i)) {
            const struct facet_bounds *box = &scene->meshes[scene->instances[i].mesh].bounds;
            struct facet_vec3 middle =
                vec3_scale(vec3_add(vec3_load(box->lo), vec3_load(box->hi)), 0.5F);
            struct facet_vec3 to = vec3_sub(apply34(scene->instances[i].transform, middle), g->eye);

            list[count++] = (struct ordered){i, vec3_dot(to, to)};
        }
    }
    qsort(list, count, sizeof *list, farther_first);
    for (uint32_t i = 0; i < count; i++) {
        if (!draw_one(g, list[i].instance)) {
            return false;
        }
    }
    return true;
}

bool facet_gpu_draw_scene(struct gpu *g)
{
    struct ordered *list = malloc(((size_t)g->render->scene->instance_count + 1) * sizeof *list);
    bool good;

    if (list == NULL) {
        return no_memory(g);
    }
    good = draw_solid(g) && draw_transparent(g, list);
    free(list);
    return good;
}
