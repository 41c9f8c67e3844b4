/* See guest_image.h. The same walk runs twice: first it only counts bytes, then it fills them in.
 */
#include "render/guest_image.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64 };

struct writer {
    uint8_t *bytes; /* NULL: counting */
    uint64_t size;
};

/* Room for an array, and where it is in guest memory. */
static uint64_t reserve(struct writer *w, uint64_t bytes)
{
    uint64_t at = w->size;

    w->size += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return FACET_GUEST_BLOCK + at;
}

static uint8_t *host_of(const struct writer *w, uint64_t address)
{
    return w->bytes + (address - FACET_GUEST_BLOCK);
}

/* Copies an array; the address that the guest will follow, 0 for NULL. */
static uint64_t put(struct writer *w, const void *data, uint64_t bytes)
{
    uint64_t address;

    if (data == NULL) {
        return 0;
    }
    address = reserve(w, bytes);
    if (w->bytes != NULL && bytes != 0) {
        memcpy(host_of(w, address), data, bytes);
    }
    return address;
}

static struct facet_scene_mesh put_mesh(struct writer *w, const struct facet_scene_mesh *mesh)
{
    struct facet_scene_mesh copy = *mesh;
    uint64_t vertices = mesh->vertex_count, float_bytes = sizeof(float);

    copy.indices_at =
        put(w, mesh->indices, 3 * sizeof *mesh->indices * (uint64_t)mesh->triangle_count);
    copy.positions_at = put(w, mesh->positions, 3 * float_bytes * vertices);
    copy.normals_at = put(w, mesh->normals, 3 * float_bytes * vertices);
    copy.colors_at = put(w, mesh->colors, 4 * float_bytes * vertices);
    for (unsigned set = 0; set < FACET_SCENE_UV_SETS; set++) {
        copy.uv_at[set] = put(w, mesh->uv[set], 2 * float_bytes * vertices);
    }
    return copy;
}

static uint64_t put_meshes(struct writer *w, const struct facet_scene *scene)
{
    uint64_t address = reserve(w, sizeof *scene->meshes * (uint64_t)scene->mesh_count);

    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        struct facet_scene_mesh copy = put_mesh(w, &scene->meshes[i]);

        if (w->bytes != NULL) {
            memcpy(host_of(w, address) + i * sizeof copy, &copy, sizeof copy);
        }
    }
    return address;
}

static uint64_t put_textures(struct writer *w, const struct facet_scene *scene)
{
    uint64_t address = reserve(w, sizeof *scene->textures * (uint64_t)scene->texture_count);

    for (uint32_t i = 0; i < scene->texture_count; i++) {
        struct facet_scene_texture copy = scene->textures[i];

        copy.rgba_at = put(w, copy.rgba, UINT64_C(4) * copy.width * copy.height);
        if (w->bytes != NULL) {
            memcpy(host_of(w, address) + i * sizeof copy, &copy, sizeof copy);
        }
    }
    return address;
}

static uint64_t put_scene(struct writer *w, const struct facet_scene *scene)
{
    struct facet_scene copy = *scene;

    copy.meshes_at = put_meshes(w, scene);
    copy.instances_at =
        put(w, scene->instances, sizeof *scene->instances * (uint64_t)scene->instance_count);
    copy.materials_at =
        put(w, scene->materials, sizeof *scene->materials * (uint64_t)scene->material_count);
    copy.textures_at = put_textures(w, scene);
    copy.lights_at = put(w, scene->lights, sizeof *scene->lights * (uint64_t)scene->light_count);
    copy.cameras_at = 0; /* the picture has its own */
    copy.camera_count = 0;
    copy.left_out_at = 0;
    copy.left_out_count = 0;
    return put(w, &copy, sizeof copy);
}

/* Whether rays may stop at the first triangle they meet, whichever it is. */
static void ask_materials(const struct facet_scene *scene, struct facet_guest_block *block)
{
    bool opaque = true, two_sided = true;

    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        const struct facet_scene_material *m = &scene->materials[scene->meshes[i].material];

        opaque = opaque && m->alpha_mode == FACET_ALPHA_OPAQUE;
        two_sided = two_sided && m->double_sided;
    }
    block->ambient_any = opaque;
    block->shadow_any = opaque && two_sided;
}

static void write_all(struct writer *w,
                      const struct facet_picture *picture,
                      const void *bvh,
                      uint64_t bvh_bytes,
                      bool offload)
{
    uint64_t address = reserve(w, sizeof(struct facet_guest_block));
    struct facet_guest_block block;

    memset(&block, 0, sizeof block); /* padding too: same input, same bytes */
    block.layout = facet_guest_layout();
    block.offload = offload;
    block.picture = *picture;
    block.picture.scene_at = put_scene(w, picture->scene);
    block.picture.lamps_at =
        put(w, picture->lamps, sizeof *picture->lamps * (uint64_t)picture->lamp_count);
    block.bvh = put(w, bvh, bvh_bytes);
    block.bvh_bytes = bvh_bytes;
    ask_materials(picture->scene, &block);
    if (w->bytes != NULL) {
        memcpy(host_of(w, address), &block, sizeof block);
    }
}

enum facet_status facet_render_guest_image_make(const struct facet_picture *picture,
                                                const void *bvh,
                                                uint64_t bvh_bytes,
                                                bool offload,
                                                struct facet_render_guest_image *out,
                                                struct facet_error *err)
{
    struct writer w = {NULL, 0};

    write_all(&w, picture, bvh, bvh_bytes, offload);
    w.bytes = w.size <= SIZE_MAX ? calloc(1, (size_t)w.size) : NULL;
    if (w.bytes == NULL) {
        return facet_fail(err,
                          FACET_ERR_MEMORY,
                          0,
                          "no memory for %llu bytes of guest memory",
                          (unsigned long long)w.size);
    }
    out->size = w.size;
    w.size = 0;
    write_all(&w, picture, bvh, bvh_bytes, offload);
    out->bytes = w.bytes;
    return FACET_OK;
}
