/* See scene.h. */
#include "report/scene.h"

#include "report/left_out.h"
#include "json/json.h"

#include <stdio.h>

static const char *const wrap_names[FACET_WRAP_COUNT] = {"repeat", "clamp", "mirror"};
static const char *const alpha_names[FACET_ALPHA_COUNT] = {"opaque", "mask", "blend"};
static const char *const light_names[FACET_LIGHT_COUNT] = {"directional", "point", "spot"};

static uint32_t uv_sets(const struct facet_scene_mesh *mesh)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < FACET_SCENE_UV_SETS; i++) {
        count += mesh->uv[i] != NULL;
    }
    return count;
}

static uint64_t vertices(const struct facet_scene *scene)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        sum += scene->meshes[i].vertex_count;
    }
    return sum;
}

static uint32_t mirrored(const struct facet_scene *scene)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < scene->instance_count; i++) {
        sum += scene->instances[i].flipped;
    }
    return sum;
}

/* ---- text ---- */

static void print_meshes(const struct facet_scene *scene, uint32_t most)
{
    for (uint32_t i = 0; i < scene->mesh_count && i < most; i++) {
        const struct facet_scene_mesh *mesh = &scene->meshes[i];

        printf("  mesh %u  %s: %u %s, %u triangle%s, material %u, %s%s, UV sets %u\n",
               i,
               mesh->name,
               mesh->vertex_count,
               mesh->vertex_count == 1 ? "vertex" : "vertices",
               mesh->triangle_count,
               cli_s(mesh->triangle_count),
               mesh->material,
               mesh->normals != NULL ? "normals" : "flat",
               mesh->colors != NULL ? ", colours" : "",
               uv_sets(mesh));
    }
    if (scene->mesh_count > most) {
        printf("  ... and %u more mesh%s (--json lists all)\n",
               scene->mesh_count - most,
               scene->mesh_count - most == 1 ? "" : "es");
    }
}

static void print_materials(const struct facet_scene *scene, uint32_t most)
{
    for (uint32_t i = 0; i < scene->material_count && i < most; i++) {
        const struct facet_scene_material *m = &scene->materials[i];

        printf("  material %u  %s: colour %.3g %.3g %.3g %.3g, %s%s%s",
               i,
               m->name,
               (double)m->base_color[0],
               (double)m->base_color[1],
               (double)m->base_color[2],
               (double)m->base_color[3],
               alpha_names[m->alpha_mode],
               m->double_sided ? ", two-sided" : "",
               m->unlit ? ", unlit" : "");
        if (m->base_texture.texture != FACET_SCENE_NONE) {
            printf(", texture %u (UV set %u, %s/%s)",
                   m->base_texture.texture,
                   m->base_texture.uv_set,
                   wrap_names[m->base_texture.wrap_u],
                   wrap_names[m->base_texture.wrap_v]);
        }
        putchar('\n');
    }
    for (uint32_t i = 0; i < scene->texture_count && i < most; i++) {
        printf("  texture %u  %s: %u x %u\n",
               i,
               scene->textures[i].name,
               scene->textures[i].width,
               scene->textures[i].height);
    }
}

static void print_views(const struct facet_scene *scene, uint32_t most)
{
    for (uint32_t i = 0; i < scene->camera_count && i < most; i++) {
        const struct facet_scene_camera *c = &scene->cameras[i];

        printf("  camera %u  %s: %s, at %.4g %.4g %.4g\n",
               i,
               c->name,
               c->kind == FACET_CAMERA_PERSPECTIVE ? "perspective" : "orthographic",
               (double)c->transform[3],
               (double)c->transform[7],
               (double)c->transform[11]);
    }
    for (uint32_t i = 0; i < scene->light_count && i < most; i++) {
        const struct facet_scene_light *l = &scene->lights[i];

        printf("  light %u  %s: %s, intensity %.4g\n",
               i,
               l->name,
               light_names[l->kind],
               (double)l->intensity);
    }
}

void report_scene_text(const char *path, const struct facet_scene *scene)
{
    const uint32_t most = 16;
    const struct facet_bounds *b = &scene->bounds;
    char line[sizeof(struct facet_left_out) + 64];

    printf("%s\n", path);
    printf("  meshes %u, vertices %llu, triangles %llu\n",
           scene->mesh_count,
           (unsigned long long)vertices(scene),
           (unsigned long long)facet_scene_triangles(scene));
    printf("  instances %u, mirrored %u, triangles shown %llu\n",
           scene->instance_count,
           mirrored(scene),
           (unsigned long long)facet_scene_instanced_triangles(scene));
    printf("  materials %u, textures %u, cameras %u, lights %u\n",
           scene->material_count,
           scene->texture_count,
           scene->camera_count,
           scene->light_count);
    printf("  bounds %.6g %.6g %.6g to %.6g %.6g %.6g\n",
           (double)b->lo[0],
           (double)b->lo[1],
           (double)b->lo[2],
           (double)b->hi[0],
           (double)b->hi[1],
           (double)b->hi[2]);
    print_meshes(scene, most);
    print_materials(scene, most);
    print_views(scene, most);
    for (uint32_t i = 0; i < scene->left_out_count; i++) {
        report_left_out_text(&scene->left_out[i], line, sizeof line);
        printf("  left out  %s\n", line);
    }
}

/* ---- JSON ---- */

static json_t *numbers(const float *values, size_t count)
{
    json_t *array = json_array();

    for (size_t i = 0; i < count; i++) {
        (void)json_array_append_new(array, json_real((double)values[i]));
    }
    return array;
}

static json_t *texture_use_json(const struct facet_texture_use *use)
{
    if (use->texture == FACET_SCENE_NONE) {
        return json_null();
    }
    return json_pack("{s:i, s:i, s:s, s:s, s:s, s:s, s:o}",
                     "texture",
                     (int)use->texture,
                     "uv_set",
                     (int)use->uv_set,
                     "wrap_u",
                     wrap_names[use->wrap_u],
                     "wrap_v",
                     wrap_names[use->wrap_v],
                     "magnify",
                     use->magnify == FACET_FILTER_NEAREST ? "nearest" : "linear",
                     "minify",
                     use->minify == FACET_FILTER_NEAREST ? "nearest" : "linear",
                     "matrix",
                     numbers(use->matrix, 6));
}

static json_t *meshes_json(const struct facet_scene *scene)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        const struct facet_scene_mesh *mesh = &scene->meshes[i];

        (void)json_array_append_new(array,
                                    json_pack("{s:s, s:I, s:I, s:I, s:b, s:b, s:i, s:o, s:o}",
                                              "name",
                                              mesh->name,
                                              "vertices",
                                              (json_int_t)mesh->vertex_count,
                                              "triangles",
                                              (json_int_t)mesh->triangle_count,
                                              "material",
                                              (json_int_t)mesh->material,
                                              "normals",
                                              mesh->normals != NULL,
                                              "colors",
                                              mesh->colors != NULL,
                                              "uv_sets",
                                              (int)uv_sets(mesh),
                                              "lo",
                                              numbers(mesh->bounds.lo, 3),
                                              "hi",
                                              numbers(mesh->bounds.hi, 3)));
    }
    return array;
}

static json_t *materials_json(const struct facet_scene *scene)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < scene->material_count; i++) {
        const struct facet_scene_material *m = &scene->materials[i];

        (void)json_array_append_new(
            array,
            json_pack("{s:s, s:o, s:o, s:f, s:f, s:s, s:f, s:b, s:b, s:o, s:o}",
                      "name",
                      m->name,
                      "base_color",
                      numbers(m->base_color, 4),
                      "emissive",
                      numbers(m->emissive, 3),
                      "metallic",
                      (double)m->metallic,
                      "roughness",
                      (double)m->roughness,
                      "alpha",
                      alpha_names[m->alpha_mode],
                      "alpha_cutoff",
                      (double)m->alpha_cutoff,
                      "double_sided",
                      (int)m->double_sided,
                      "unlit",
                      (int)m->unlit,
                      "base_texture",
                      texture_use_json(&m->base_texture),
                      "emissive_texture",
                      texture_use_json(&m->emissive_texture)));
    }
    return array;
}

static json_t *textures_json(const struct facet_scene *scene)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < scene->texture_count; i++) {
        const struct facet_scene_texture *t = &scene->textures[i];

        (void)json_array_append_new(array,
                                    json_pack("{s:s, s:i, s:i}",
                                              "name",
                                              t->name,
                                              "width",
                                              (int)t->width,
                                              "height",
                                              (int)t->height));
    }
    return array;
}

static json_t *cameras_json(const struct facet_scene *scene)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < scene->camera_count; i++) {
        const struct facet_scene_camera *c = &scene->cameras[i];
        bool perspective = c->kind == FACET_CAMERA_PERSPECTIVE;

        (void)json_array_append_new(array,
                                    json_pack("{s:s, s:s, s:b, s:o, s:f, s:f, s:f, s:f}",
                                              "name",
                                              c->name,
                                              "kind",
                                              perspective ? "perspective" : "orthographic",
                                              "derived",
                                              (int)c->derived,
                                              "transform",
                                              numbers(c->transform, 12),
                                              perspective ? "y_fov" : "x_mag",
                                              (double)(perspective ? c->y_fov : c->x_mag),
                                              perspective ? "aspect" : "y_mag",
                                              (double)(perspective ? c->aspect : c->y_mag),
                                              "z_near",
                                              (double)c->z_near,
                                              "z_far",
                                              (double)c->z_far));
    }
    return array;
}

static json_t *lights_json(const struct facet_scene *scene)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < scene->light_count; i++) {
        const struct facet_scene_light *l = &scene->lights[i];

        (void)json_array_append_new(array,
                                    json_pack("{s:s, s:s, s:b, s:o, s:f, s:o, s:o, s:f, s:f, s:f}",
                                              "name",
                                              l->name,
                                              "kind",
                                              light_names[l->kind],
                                              "derived",
                                              (int)l->derived,
                                              "color",
                                              numbers(l->color, 3),
                                              "intensity",
                                              (double)l->intensity,
                                              "position",
                                              numbers(l->position, 3),
                                              "direction",
                                              numbers(l->direction, 3),
                                              "range",
                                              (double)l->range,
                                              "inner_cone",
                                              (double)l->inner_cone,
                                              "outer_cone",
                                              (double)l->outer_cone));
    }
    return array;
}

/* The same as sentences. */
static json_t *warnings_json(const struct facet_scene *scene)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < scene->left_out_count; i++) {
        char line[sizeof(struct facet_left_out) + 64];

        report_left_out_text(&scene->left_out[i], line, sizeof line);
        (void)json_array_append_new(array, json_string(line));
    }
    return array;
}

json_t *report_scene_json(const char *path, const struct facet_scene *scene)
{
    return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "file",
                     facet_json_name(path),
                     "vertices",
                     (json_int_t)vertices(scene),
                     "triangles",
                     (json_int_t)facet_scene_triangles(scene),
                     "instances",
                     (json_int_t)scene->instance_count,
                     "mirrored_instances",
                     (json_int_t)mirrored(scene),
                     "instanced_triangles",
                     (json_int_t)facet_scene_instanced_triangles(scene),
                     "lo",
                     numbers(scene->bounds.lo, 3),
                     "hi",
                     numbers(scene->bounds.hi, 3),
                     "meshes",
                     meshes_json(scene),
                     "materials",
                     materials_json(scene),
                     "textures",
                     textures_json(scene),
                     "cameras",
                     cameras_json(scene),
                     "lights",
                     lights_json(scene),
                     "warnings",
                     warnings_json(scene),
                     "left_out",
                     report_left_out_json(scene, 0));
}
