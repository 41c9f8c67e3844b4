/* From an instance to triangles in the bucket: boxes of clusters, corners through matrices,
 * triangles against the frustum. See rasteriser.h. */
#include "guest/gfx/rasteriser.h"

/* ---- matrices ---- */

static void use_matrices(struct facet_guest_gfx_bucket *t)
{
    const float *m = t->instance->transform, *clip = t->input->clip;
    float world[16] = {0}, whole[16], normals[16] = {0};

    for (unsigned r = 0; r < 3; r++) {
        for (unsigned c = 0; c < 4; c++) {
            world[4 * r + c] = m[4 * r + c];
        }
    }
    world[15] = 1.0F;
    for (unsigned r = 0; r < 4; r++) {
        for (unsigned c = 0; c < 4; c++) {
            float sum = clip[4 * r] * world[c];

            for (unsigned k = 1; k < 4; k++) {
                sum += clip[4 * r + k] * world[4 * k + c];
            }
            whole[4 * r + c] = sum;
        }
    }
    /* Normals go by the cofactors; their sign tells a mirror. */
    for (unsigned r = 0; r < 3; r++) {
        for (unsigned c = 0; c < 3; c++) {
            unsigned r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            float cofactor = m[4 * r1 + c1] * m[4 * r2 + c2] - m[4 * r1 + c2] * m[4 * r2 + c1];

            normals[4 * r + c] = t->instance->flipped ? -cofactor : cofactor;
        }
    }
    facet_guest_gfx_unit_matrix(&t->unit, FACET_GUEST_GFX_TO_CLIP, whole);
    facet_guest_gfx_unit_matrix(&t->unit, FACET_GUEST_GFX_TO_WORLD, world);
    facet_guest_gfx_unit_matrix(&t->unit, FACET_GUEST_GFX_NORMALS, normals);
}

/* ---- corners ---- */

static void
gather(float (*to)[4], const float *from, const uint32_t *index, uint32_t count, float w)
{
    for (uint32_t i = 0; i < count; i++) {
        const float *v = from + (size_t)3 * index[i];

        to[i][0] = v[0];
        to[i][1] = v[1];
        to[i][2] = v[2];
        to[i][3] = w;
    }
}

/* The triangle's own normal for all three corners, where the mesh has none. */
static void flat_normals(struct facet_guest_gfx_bucket *t, uint32_t count)
{
    for (uint32_t i = 0; i < count; i += 3) {
        struct facet_vec3 a = vec3_load(t->object[i]);
        struct facet_vec3 n = vec3_cross(vec3_sub(vec3_load(t->object[i + 1]), a),
                                         vec3_sub(vec3_load(t->object[i + 2]), a));

        for (uint32_t k = 0; k < 3; k++) {
            vec3_store(n, t->clip[i + k]);
            t->clip[i + k][3] = 0.0F;
        }
    }
}

static void make_normals(struct facet_guest_gfx_bucket *t, const uint32_t *index, uint32_t count)
{
    /* The clip coordinates have been copied to the windows; their array is free. */
    if (t->mesh->normals != NULL) {
        gather(t->clip, t->mesh->normals, index, count, 0.0F);
    } else {
        flat_normals(t, count);
    }
    facet_guest_gfx_unit_transform(
        &t->unit, FACET_GUEST_GFX_NORMALS, (const float(*)[4])t->clip, t->normal, count);
}

static void fill_corner(const struct facet_guest_gfx_bucket *t,
                        uint32_t triangle,
                        uint32_t k,
                        uint32_t vertex,
                        struct facet_guest_gfx_vertex *out)
{
    uint32_t at = 3 * triangle + k;
    struct facet_vec3 normal = vec3_load(t->normal[at]);

    (void)vec3_normalize(&normal); /* different lengths would bend what lies between */
    vec3_store(normal, out->normal);
    for (unsigned c = 0; c < 4; c++) {
        out->clip[c] = t->corners[4 * k + c][triangle];
        out->color[c] = t->mesh->colors != NULL ? t->mesh->colors[(size_t)4 * vertex + c] : 1.0F;
    }
    for (unsigned c = 0; c < 3; c++) {
        out->position[c] = t->world[at][c];
    }
    facet_scene_uv(t->mesh, &t->material->base_texture, vertex, out->uv);
    facet_scene_uv(t->mesh, &t->material->emissive_texture, vertex, out->emissive_uv);
}

/* ---- clusters ---- */

/* Whether a one-sided triangle is seen from behind, with some room for rounding: what
 * is near enough to its edge is left to the exact test on the screen. The sign is that of the
 * volume of the eye and the corners, which needs no division. */
static bool turns_away(const struct facet_guest_gfx_bucket *t, uint32_t triangle)
{
    float volume = 0.0F, size = 0.0F;

    if (t->material->double_sided) {
        return false;
    }
    for (unsigned k = 0; k < 3; k++) {
        const facet_guest_gfx_slot *a = t->corners + (size_t)4 * k;
        const facet_guest_gfx_slot *b = t->corners + (size_t)4 * ((k + 1) % 3);
        const facet_guest_gfx_slot *c = t->corners + (size_t)4 * ((k + 2) % 3);
        float p = a[0][triangle] * (b[1][triangle] * c[3][triangle]);
        float q = a[0][triangle] * (b[3][triangle] * c[1][triangle]);

        volume += p - q;
        size += fabsf(p) + fabsf(q);
    }
    return (t->instance->flipped ? -volume : volume) < -1e-5F * size;
}

/* Triangles of the cluster that may be in the bucket. Leaves their corners in clip space in
 * t->corners. */
static uint64_t
cull_triangles(struct facet_guest_gfx_bucket *t, const uint32_t *index, uint32_t count)
{
    uint64_t lanes = count == FACET_GUEST_GFX_LANES ? UINT64_MAX : (UINT64_C(1) << count) - 1;

    gather(t->object, t->mesh->positions, index, 3 * count, 1.0F);
    facet_guest_gfx_unit_transform(
        &t->unit, FACET_GUEST_GFX_TO_CLIP, (const float(*)[4])t->object, t->clip, 3 * count);
    for (uint32_t i = 0; i < 3 * count; i++) {
        for (unsigned c = 0; c < 4; c++) {
            t->corners[4 * (i % 3) + c][i / 3] = t->clip[i][c];
        }
    }
    return facet_guest_gfx_unit_triangles(
        &t->unit, (const facet_guest_gfx_slot *)t->corners, lanes);
}

static void draw_cluster(struct facet_guest_gfx_bucket *t, uint32_t first)
{
    uint32_t count = t->mesh->triangle_count - first;
    const uint32_t *index = t->mesh->indices + (size_t)3 * first;
    uint32_t list[FACET_GUEST_GFX_LANES], found;
    uint64_t seen;

    count = count < FACET_GUEST_GFX_CLUSTER ? count : FACET_GUEST_GFX_CLUSTER;
    seen = cull_triangles(t, index, count);
    if (seen == 0) {
        return;
    }
    if (!t->material->unlit) {
        make_normals(t, index, 3 * count);
        if (!t->input->distant_lights) {
            facet_guest_gfx_unit_transform(&t->unit,
                                           FACET_GUEST_GFX_TO_WORLD,
                                           (const float(*)[4])t->object,
                                           t->world,
                                           3 * count);
        }
    }
    found = facet_guest_gfx_unit_list(&t->unit, seen, list);
    for (uint32_t i = 0; i < found; i++) {
        struct facet_guest_gfx_vertex corner[3];

        if (turns_away(t, list[i])) {
            continue;
        }
        for (uint32_t k = 0; k < 3; k++) {
            fill_corner(t, list[i], k, index[3 * list[i] + k], &corner[k]);
        }
        t->triangle = first + list[i];
        facet_guest_gfx_draw_triangle(t, corner);
    }
}

uint64_t facet_guest_gfx_cull_boxes(struct facet_guest_gfx_bucket *t,
                                    const float (*boxes)[6],
                                    uint32_t count)
{
    uint64_t lanes = count == FACET_GUEST_GFX_LANES ? UINT64_MAX : (UINT64_C(1) << count) - 1;

    for (uint32_t i = 0; i < count; i++) {
        for (unsigned k = 0; k < 6; k++) {
            t->box[k][i] = boxes[i][k];
        }
    }
    return facet_guest_gfx_unit_boxes(&t->unit, (const facet_guest_gfx_slot *)t->box, lanes);
}

void facet_guest_gfx_draw_instance(struct facet_guest_gfx_bucket *t)
{
    const uint32_t *firsts = facet_guest_gfx_firsts(t->input) + t->instance->mesh;
    const float(*boxes)[6] = (const float(*)[6])facet_guest_gfx_boxes(t->input) + firsts[0];
    uint32_t clusters = firsts[1] - firsts[0];

    use_matrices(t);
    for (uint32_t base = 0; base < clusters; base += FACET_GUEST_GFX_LANES) {
        uint32_t count =
            clusters - base < FACET_GUEST_GFX_LANES ? clusters - base : FACET_GUEST_GFX_LANES;
        /* One cluster is the instance, whose box has been asked already. */
        uint64_t lanes = clusters == 1 ? 1 : facet_guest_gfx_cull_boxes(t, boxes + base, count);

        FACET_GUEST_GFX_EACH(i, lanes)
        {
            draw_cluster(t, (uint32_t)(base + i) * FACET_GUEST_GFX_CLUSTER);
        }
    }
}
