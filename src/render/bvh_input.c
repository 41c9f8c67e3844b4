/* Flat triangles: a builder reads each one a few times in an order of its own, and a copy of 48
 * bytes in one place is cheaper than three look-ups. Files can be large, and then memory counts. */
#include "render/bvh_input.h"

#include "bvh/affine.h"

#include <facet/gfx12.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is made of a scene. */
struct maker {
    const struct facet_scene *scene;
    const struct facet_render_bvh_traits *traits; /* NULL: a BLAS per mesh, without traits */
    struct facet_render_bvh_input *out;
    uint32_t *blas_of_mesh;
};

static uint32_t triangle_flags(const struct maker *m, const struct facet_scene_mesh *mesh)
{
    const struct facet_scene_material *material = &m->scene->materials[mesh->material];
    bool opaque = material->alpha_mode == FACET_ALPHA_OPAQUE, both = material->double_sided;

    if (m->traits != NULL) {
        struct facet_scene_traits t = mesh->traits;

        facet_scene_traits_add(&t, &m->traits->geometry);
        opaque =
            (opaque || (t.set & FACET_TRAIT_OPAQUE) != 0) && (t.set & FACET_TRAIT_NON_OPAQUE) == 0;
        both = (both || (t.set & FACET_TRAIT_CULL_DISABLE) != 0) && (t.set & FACET_TRAIT_CULL) == 0;
    }
    return (opaque ? FACET_BVH_OPAQUE : 0) | (both ? FACET_BVH_DOUBLE_SIDED : 0);
}

static uint32_t geometry_of(const struct maker *m, const struct facet_scene_mesh *mesh)
{
    return m->traits != NULL ? mesh->geometry : 0;
}

static void copy_mesh(const struct maker *m,
                      const struct facet_scene_mesh *mesh,
                      struct facet_bvh_triangle *out)
{
    const uint32_t flags = triangle_flags(m, mesh);

    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        for (int c = 0; c < 3; c++) {
            memcpy(out[i].vertex[c],
                   &mesh->positions[3 * (size_t)mesh->indices[3 * (size_t)i + c]],
                   sizeof out[i].vertex[c]);
        }
        out[i].geometry = geometry_of(m, mesh);
        out[i].primitive = i;
        out[i].flags = flags;
    }
}

static void set_traits(const struct maker *m,
                       const struct facet_scene_instance *from,
                       struct facet_bvh_instance *to)
{
    struct facet_scene_traits t = from->traits;

    facet_scene_traits_add(&t, &m->traits->instance);
    to->flags |= (t.set & FACET_TRAIT_OPAQUE) != 0 ? FACET_GFX12_FORCE_OPAQUE : 0;
    to->flags |= (t.set & FACET_TRAIT_NON_OPAQUE) != 0 ? FACET_GFX12_FORCE_NON_OPAQUE : 0;
    to->flags |= (t.set & FACET_TRAIT_CULL_DISABLE) != 0 ? FACET_GFX12_DISABLE_TRIANGLE_CULL : 0;
    to->flags |= (t.set & FACET_TRAIT_FLIP) != 0 ? FACET_GFX12_FLIP_FACEDNESS : 0;
    to->mask = (t.set & FACET_TRAIT_MASK) != 0 ? t.mask : 0xFF;
    to->user_data = (t.set & FACET_TRAIT_USER_DATA) != 0 ? t.user_data : to->user_data;
}

/* An instance that its matrix flattens stays for updates, where it may grow again: no ray sees it,
 * and it is as good as a point at its place. */
static void switch_off(const float transform[12], struct facet_bvh_instance *to)
{
    const float much = 0x1p20F;

    memset(to->world_to_object, 0, sizeof to->world_to_object);
    for (int k = 0; k < 3; k++) {
        const float moved = -much * transform[4 * k + 3];

        to->world_to_object[k][k] = much;
        to->world_to_object[k][3] = isfinite(moved) ? moved : 0;
    }
    to->mask = 0;
    to->off = true;
}

/* Whether instance i is one more geometry of the object that the instance before begins or goes on
 * with. */
static bool goes_on(const struct maker *m, uint32_t i)
{
    return m->traits != NULL && m->scene->meshes[m->scene->instances[i].mesh].continues;
}

/* The instances of an object: all its geometries in order, in one place. */
static bool is_whole(const struct maker *m, uint32_t i)
{
    const struct facet_scene *scene = m->scene;
    const struct facet_scene_instance *first = &scene->instances[i];

    for (uint32_t mesh = first->mesh + 1;
         m->traits != NULL && mesh < scene->mesh_count && scene->meshes[mesh].continues;
         mesh++) {
        i++;
        if (i >= scene->instance_count || scene->instances[i].mesh != mesh ||
            memcmp(scene->instances[i].transform, first->transform, sizeof first->transform) != 0) {
            return false;
        }
    }
    return true;
}

static enum facet_status add_instances(const struct maker *m, struct facet_error *err)
{
    struct facet_render_bvh_input *out = m->out;

    for (uint32_t i = 0; i < m->scene->instance_count; i++) {
        const struct facet_scene_instance *from = &m->scene->instances[i];
        struct facet_bvh_instance *to = &out->instances[out->scene.instance_count];

        if (goes_on(m, i)) {
            continue;
        }
        if (!is_whole(m, i)) {
            return facet_fail(err,
                              FACET_ERR_INPUT,
                              i,
                              "instance %u: the geometries of its mesh are not placed together",
                              i);
        }
        *to = (struct facet_bvh_instance){
            .blas = m->blas_of_mesh[from->mesh], .user_data = i, .mask = 0xFF};
        if (m->traits != NULL) {
            set_traits(m, from, to);
        }
        if (!facet_bvh_affine_invert(from->transform, to->world_to_object)) {
            switch_off(from->transform, to);
            out->flat_instances++;
        }
        out->scene.instance_count++;
    }
    return FACET_OK;
}

/* BLASes that no instance needs any more go too. */
bool facet_render_bvh_input_drop_off(struct facet_render_bvh_input *input)
{
    struct facet_bvh_scene_input *scene = &input->scene;
    uint32_t *number = malloc(((size_t)scene->blas_count + 1) * sizeof *number);
    uint32_t kept = 0;

    if (number == NULL) {
        return false;
    }
    memset(number, 0xFF, (size_t)scene->blas_count * sizeof *number);
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        if (!input->instances[i].off) {
            number[input->instances[i].blas] = 0;
            input->instances[kept++] = input->instances[i];
        }
    }
    scene->instance_count = kept;
    kept = 0;
    for (uint32_t i = 0; i < scene->blas_count; i++) {
        if (number[i] == FACET_SCENE_NONE) {
            input->triangle_count -= input->blas[i].triangle_count;
            continue;
        }
        number[i] = kept;
        input->blas_mesh[kept] = input->blas_mesh[i];
        input->blas[kept++] = input->blas[i];
    }
    scene->blas_count = kept;
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        input->instances[i].blas = number[input->instances[i].blas];
    }
    free(number);
    return true;
}

static void add_meshes(struct maker *m)
{
    struct facet_render_bvh_input *out = m->out;
    struct facet_bvh_triangle *next = out->triangles;
    uint32_t shown = 0; /* meshes */

    memset(m->blas_of_mesh, 0xFF, (size_t)m->scene->mesh_count * sizeof *m->blas_of_mesh);
    for (uint32_t i = 0; i < m->scene->instance_count; i++) {
        m->blas_of_mesh[m->scene->instances[i].mesh] = 0;
    }
    for (uint32_t i = 0; i < m->scene->mesh_count; i++) {
        const struct facet_scene_mesh *mesh = &m->scene->meshes[i];
        const bool continues = m->traits != NULL && mesh->continues && i > 0 &&
                               m->blas_of_mesh[i - 1] != FACET_SCENE_NONE;
        struct facet_bvh_blas_input *blas;

        if (m->blas_of_mesh[i] == FACET_SCENE_NONE) {
            continue;
        }
        if (!continues) {
            out->blas_mesh[out->scene.blas_count] = i;
            out->blas[out->scene.blas_count++] = (struct facet_bvh_blas_input){
                .triangles = next, .meshes = out->meshes != NULL ? &out->meshes[shown] : NULL};
        }
        m->blas_of_mesh[i] = out->scene.blas_count - 1;
        blas = &out->blas[m->blas_of_mesh[i]];
        if (next != NULL) {
            copy_mesh(m, mesh, next);
            next += mesh->triangle_count;
        } else {
            out->meshes[shown++] = (struct facet_bvh_indexed){.positions = mesh->positions,
                                                              .indices = mesh->indices,
                                                              .first = blas->triangle_count,
                                                              .geometry = geometry_of(m, mesh),
                                                              .flags = triangle_flags(m, mesh)};
            blas->mesh_count++;
        }
        blas->triangle_count += mesh->triangle_count;
        out->triangle_count += mesh->triangle_count;
    }
}

static enum facet_status add_scene(const struct facet_scene *scene,
                                   const struct facet_render_bvh_traits *traits,
                                   struct facet_render_bvh_input *out,
                                   struct facet_error *err)
{
    struct maker m = {.scene = scene, .traits = traits, .out = out};
    enum facet_status status;

    m.blas_of_mesh = malloc(((size_t)scene->mesh_count + 1) * sizeof *m.blas_of_mesh);
    if (m.blas_of_mesh == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %u meshes", scene->mesh_count);
    }
    add_meshes(&m);
    status = add_instances(&m, err);
    free(m.blas_of_mesh);
    return status;
}

static void add_aabbs(struct facet_render_bvh_input *out,
                      uint32_t count,
                      uint32_t user_data,
                      const struct facet_render_bvh_traits *traits)
{
    const struct maker m = {.traits = traits};
    const struct facet_scene_instance plain = {0};
    struct facet_bvh_instance *in = &out->instances[out->scene.instance_count++];

    *in = (struct facet_bvh_instance){
        .blas = out->scene.blas_count, .user_data = user_data, .mask = 0xFF};
    for (int k = 0; k < 3; k++) {
        in->world_to_object[k][k] = 1.0f;
    }
    if (traits != NULL) {
        set_traits(&m, &plain, in);
    }
    for (uint32_t i = 0; traits != NULL && i < count; i++) {
        uint32_t *flags = &out->aabbs[i].flags;

        *flags |= (traits->geometry.set & FACET_TRAIT_OPAQUE) != 0 ? FACET_BVH_OPAQUE : 0;
        *flags &= (traits->geometry.set & FACET_TRAIT_NON_OPAQUE) != 0 ? ~(uint32_t)FACET_BVH_OPAQUE
                                                                       : ~0U;
    }
    out->blas_mesh[out->scene.blas_count] = FACET_SCENE_NONE;
    out->blas[out->scene.blas_count++] =
        (struct facet_bvh_blas_input){.aabbs = out->aabbs, .aabb_count = count};
}

enum facet_status facet_render_bvh_input_make(const struct facet_scene *scene,
                                              const struct facet_bvh_aabb *aabbs,
                                              uint32_t aabb_count,
                                              const struct facet_render_bvh_traits *traits,
                                              bool flat,
                                              struct facet_render_bvh_input *out,
                                              struct facet_error *err)
{
    enum facet_status status = FACET_OK;
    size_t meshes = scene != NULL ? scene->mesh_count : 0;
    size_t instances = scene != NULL ? scene->instance_count : 0;
    uint64_t triangles = scene != NULL ? facet_scene_triangles(scene) : 0;

    *out = (struct facet_render_bvh_input){0};
    if (instances + (aabbs != NULL) > UINT32_C(1) << 24) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          instances,
                          "%zu instances; expected at most 2^24, the range of an instance's user "
                          "data",
                          instances);
    }
    out->blas = calloc(meshes + 1, sizeof *out->blas);
    out->blas_mesh = calloc(meshes + 1, sizeof *out->blas_mesh);
    out->instances = calloc(instances + 1, sizeof *out->instances);
    if (flat) {
        out->triangles = malloc((size_t)(triangles + 1) * sizeof *out->triangles);
    } else {
        out->meshes = calloc(meshes + 1, sizeof *out->meshes);
    }
    out->aabbs = malloc(((size_t)aabb_count + 1) * sizeof *out->aabbs);
    if (out->blas == NULL || out->blas_mesh == NULL || out->instances == NULL ||
        (out->triangles == NULL && out->meshes == NULL) || out->aabbs == NULL) {
        facet_render_bvh_input_free(out);
        return facet_fail(err,
                          FACET_ERR_MEMORY,
                          0,
                          "no memory for %llu triangles",
                          (unsigned long long)triangles);
    }
    if (scene != NULL) {
        status = add_scene(scene, traits, out, err);
    }
    if (status != FACET_OK) {
        facet_render_bvh_input_free(out);
        return status;
    }
    if (aabbs != NULL) {
        memcpy(out->aabbs, aabbs, (size_t)aabb_count * sizeof *aabbs);
        add_aabbs(out, aabb_count, (uint32_t)instances, traits);
    }
    out->scene.blas = out->blas;
    out->scene.instances = out->instances;
    if (out->flat_instances == 0 || (traits != NULL && traits->keep_off)) {
        return FACET_OK;
    }
    status =
        facet_render_bvh_input_drop_off(out)
            ? out->scene.instance_count != 0
                  ? FACET_OK
                  : facet_fail(err, FACET_ERR_INPUT, 0, "all instances are flattened to nothing")
            : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %zu instances", instances);
    if (status != FACET_OK) {
        facet_render_bvh_input_free(out);
    }
    return status;
}

void facet_render_bvh_input_free(struct facet_render_bvh_input *input)
{
    free(input->blas);
    free(input->blas_mesh);
    free(input->instances);
    free(input->triangles);
    free(input->meshes);
    facet_scene_free(&input->owned);
    free(input->aabbs);
    *input = (struct facet_render_bvh_input){0};
}
