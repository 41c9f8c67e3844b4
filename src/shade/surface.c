/* See surface.h. Positions come from the triangle's corners and not from the ray: a point along a
 * long ray is off by as much as the ray's length rounds. */
#include "shade/surface.h"

#include "base/float.h"
#include "scene/sample.h"

struct corners {
    const IN_SCENE struct facet_scene_mesh *mesh;
    const IN_SCENE struct facet_scene_material *material;
    const IN_SCENE uint32_t *index;
    float u, v;
};

static const IN_SCENE struct facet_scene_instance *
instance_of(const IN_SCENE struct facet_scene *scene, uint32_t number)
{
    return SCENE_PART(struct facet_scene_instance, scene, instances) + number;
}

static struct corners corners_of(const IN_SCENE struct facet_scene *scene,
                                 uint32_t instance,
                                 uint32_t triangle,
                                 float u,
                                 float v)
{
    const IN_SCENE struct facet_scene_mesh *mesh =
        SCENE_PART(struct facet_scene_mesh, scene, meshes) + instance_of(scene, instance)->mesh;

    return (struct corners){.mesh = mesh,
                            .material = SCENE_PART(struct facet_scene_material, scene, materials) +
                                        mesh->material,
                            .index = SCENE_PART(uint32_t, mesh, indices) + 3 * (size_t)triangle,
                            .u = u,
                            .v = v};
}

static void
load_corners(const struct corners *at, const IN_SCENE float *values, struct facet_vec3 corner[3])
{
    for (unsigned i = 0; i < 3; i++) {
        corner[i] = vec3_from(values + 3 * (size_t)at->index[i]);
    }
}

/* ---- colour ---- */

static void sample_texture(const IN_SCENE struct facet_scene *scene,
                           const struct corners *at,
                           const IN_SCENE struct facet_texture_use *use,
                           float rgba[4])
{
    float w = 1.0F - at->u - at->v, uv[3][2];

    if (use->texture == FACET_SCENE_NONE) {
        rgba[0] = rgba[1] = rgba[2] = rgba[3] = 1.0F;
        return;
    }
    for (unsigned i = 0; i < 3; i++) {
        facet_scene_uv(at->mesh, use, at->index[i], uv[i]);
    }
    facet_shade_texture_sample(SCENE_PART(struct facet_scene_texture, scene, textures) +
                                   use->texture,
                               use,
                               w * uv[0][0] + at->u * uv[1][0] + at->v * uv[2][0],
                               w * uv[0][1] + at->u * uv[1][1] + at->v * uv[2][1],
                               rgba);
}

static void
base_color(const IN_SCENE struct facet_scene *scene, const struct corners *at, float rgba[4])
{
    const IN_SCENE float *colors = SCENE_PART(float, at->mesh, colors);
    float w = 1.0F - at->u - at->v;

    sample_texture(scene, at, &at->material->base_texture, rgba);
    for (unsigned c = 0; c < 4; c++) {
        rgba[c] *= at->material->base_color[c];
        if (at->mesh->colors != NULL) {
            rgba[c] *= w * colors[4 * (size_t)at->index[0] + c] +
                       at->u * colors[4 * (size_t)at->index[1] + c] +
                       at->v * colors[4 * (size_t)at->index[2] + c];
        }
    }
}

float facet_shade_surface_alpha(const IN_SCENE struct facet_scene *scene,
                                uint32_t instance,
                                uint32_t triangle,
                                float u,
                                float v)
{
    struct corners at = corners_of(scene, instance, triangle, u, v);
    float rgba[4];

    base_color(scene, &at, rgba);
    return rgba[3];
}

bool facet_shade_surface_stops(const IN_SCENE struct facet_scene *scene,
                               uint32_t instance,
                               uint32_t triangle,
                               float t,
                               float u,
                               float v)
{
    struct corners at = corners_of(scene, instance, triangle, u, v);
    uint32_t hash;
    float rgba[4];

    if (at.material->alpha_mode == FACET_ALPHA_OPAQUE) {
        return true;
    }
    base_color(scene, &at, rgba);
    if (at.material->alpha_mode == FACET_ALPHA_MASK) {
        return rgba[3] >= at.material->alpha_cutoff;
    }
    hash = facet_sample_hash(facet_sample_hash(instance, triangle), facet_float_bits(t));
    hash = facet_sample_hash(hash, facet_sample_hash(facet_float_bits(u), facet_float_bits(v)));
    return (float)(hash >> 8) * 0x1p-24F < rgba[3];
}

/* ---- place ---- */

static struct facet_vec3 to_world(const IN_SCENE float m[12], struct facet_vec3 p)
{
    return vec3(m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3],
                m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7],
                m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11]);
}

/* Normals go by the cofactors of the matrix: the inverse transpose times its determinant, whose
 * sign tells a mirror. */
struct normals_way {
    struct facet_vec3 x, y, z;
    bool flipped;
};

static struct normals_way normals_way_of(const IN_SCENE struct facet_scene_instance *instance)
{
    const IN_SCENE float *m = instance->transform;
    struct facet_vec3 x = vec3(m[0], m[4], m[8]), y = vec3(m[1], m[5], m[9]);
    struct facet_vec3 z = vec3(m[2], m[6], m[10]);

    return (struct normals_way){
        vec3_cross(y, z), vec3_cross(z, x), vec3_cross(x, y), instance->flipped};
}

static struct facet_vec3 normal_to_world(const struct normals_way *way, struct facet_vec3 n)
{
    struct facet_vec3 sum = vec3_scale(way->x, n.x);

    sum = vec3_along(sum, way->y, n.y);
    sum = vec3_along(sum, way->z, n.z);
    return way->flipped ? vec3_scale(sum, -1.0F) : sum;
}

/* How far a point may be off: proportional to the largest number that went into it. A ray that
 * starts this far above its surface cannot hit it again through rounding. */
static float rounding_reach(const IN_SCENE float m[12], struct facet_vec3 p)
{
    float reach = 0.0F;

    for (unsigned r = 0; r < 3; r++) {
        const IN_SCENE float *row = m + (size_t)4 * r;

        reach = fmaxf(
            reach, fabsf(row[0] * p.x) + fabsf(row[1] * p.y) + fabsf(row[2] * p.z) + fabsf(row[3]));
    }
    return reach * 0x1p-16F;
}

/* A point on a coarse mesh that poses as smooth lies below the surface it poses as, and its own
 * neighbours would shadow it. It is raised to that surface: the mean of its projections onto the
 * tangent planes at the corners ("Hacking the Shadow Terminator", Hanika 2021). */
static struct facet_vec3 raise(struct facet_vec3 p,
                               const struct facet_vec3 corner[3],
                               const struct facet_vec3 normal[3],
                               float u,
                               float v)
{
    struct facet_vec3 raised[3];

    for (unsigned i = 0; i < 3; i++) {
        float below = vec3_dot(vec3_sub(p, corner[i]), normal[i]);

        raised[i] = below < 0.0F ? vec3_along(p, normal[i], -below) : p;
    }
    return vec3_blend(raised, u, v);
}

static void place(const IN_SCENE struct facet_scene *scene,
                  const struct facet_shade_hit *hit,
                  const struct corners *at,
                  struct facet_surface *out)
{
    const IN_SCENE struct facet_scene_instance *instance = instance_of(scene, hit->instance);
    const struct normals_way way = normals_way_of(instance);
    float side = hit->back ? -1.0F : 1.0F;
    struct facet_vec3 corner[3], world[3], normal[3], in_object;
    bool smooth = at->mesh->normals != NULL;

    load_corners(at, SCENE_PART(float, at->mesh, positions), corner);
    in_object = vec3_blend(corner, hit->u, hit->v);
    for (unsigned i = 0; i < 3; i++) {
        world[i] = to_world(instance->transform, corner[i]);
    }
    out->position = to_world(instance->transform, in_object);
    out->geometric = normal_to_world(
        &way, vec3_cross(vec3_sub(corner[1], corner[0]), vec3_sub(corner[2], corner[0])));
    if (!vec3_normalize(&out->geometric)) {
        out->geometric = vec3(0.0F, 1.0F, 0.0F);
    }
    out->geometric = vec3_scale(out->geometric, side);
    out->normal = out->geometric;
    out->start = out->position;
    if (smooth) {
        load_corners(at, SCENE_PART(float, at->mesh, normals), normal);
        for (unsigned i = 0; i < 3; i++) {
            normal[i] = vec3_scale(normal_to_world(&way, normal[i]), side);
            smooth =
                smooth && vec3_normalize(&normal[i]) && vec3_dot(normal[i], out->geometric) > 0.0F;
        }
    }
    if (smooth) {
        out->normal = vec3_blend(normal, hit->u, hit->v);
        if (!vec3_normalize(&out->normal)) {
            out->normal = out->geometric;
        }
        out->start = raise(out->position, world, normal, hit->u, hit->v);
    }
    out->start =
        vec3_along(out->start, out->geometric, rounding_reach(instance->transform, in_object));
}

void facet_shade_surface_find(const IN_SCENE struct facet_scene *scene,
                              const struct facet_shade_hit *hit,
                              struct facet_surface *out)
{
    struct corners at = corners_of(scene, hit->instance, hit->triangle, hit->u, hit->v);
    const IN_SCENE struct facet_scene_material *material = at.material;
    float rgba[4];

    place(scene, hit, &at, out);
    base_color(scene, &at, rgba);
    out->color = vec3(rgba[0], rgba[1], rgba[2]);
    out->unlit = material->unlit;
    out->mirror = material->metallic > 0.5F && material->roughness < 0.25F;
    out->emitted = vec3_from(material->emissive);
    if (out->emitted.x > 0.0F || out->emitted.y > 0.0F || out->emitted.z > 0.0F) {
        sample_texture(scene, &at, &material->emissive_texture, rgba);
        out->emitted = vec3_mul(out->emitted, vec3(rgba[0], rgba[1], rgba[2]));
    }
}
