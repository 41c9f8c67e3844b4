/* See wire.h. Each table has one writer and one reader below, in the same order of fields. */
#include "scene/wire.h"

#include "base/hash.h"
#include "base/incoming.h"
#include "image/image.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC 0x46535733U /* changes with the layout */
#define ENDS_EARLY "the importer's result ends too early"

/* ---- writing ---- */

struct writer {
    const struct facet_wire_out *out;
    bool ok;
};

static void put(struct writer *w, const void *bytes, size_t size)
{
    w->ok = w->ok && (size == 0 || w->out->put(w->out->context, bytes, size));
}

static void put_u32(struct writer *w, uint32_t value)
{
    put(w, &value, sizeof value);
}

static void put_floats(struct writer *w, const float *values, size_t count)
{
    put(w, values, count * sizeof *values);
}

static void put_array(struct writer *w, const float *values, size_t count)
{
    put_u32(w, values != NULL);
    if (values != NULL) {
        put_floats(w, values, count);
    }
}

static void put_traits(struct writer *w, const struct facet_scene_traits *traits)
{
    put_u32(w, traits->set);
    put_u32(w, traits->mask);
    put_u32(w, traits->user_data);
}

static void put_mesh(struct writer *w, const struct facet_scene_mesh *mesh)
{
    size_t vertices = mesh->vertex_count;

    put(w, mesh->name, sizeof mesh->name);
    put_u32(w, mesh->vertex_count);
    put_u32(w, mesh->triangle_count);
    put_u32(w, mesh->material);
    put_u32(w, mesh->geometry);
    put_u32(w, mesh->continues);
    put_traits(w, &mesh->traits);
    put(w, mesh->indices, 3 * (size_t)mesh->triangle_count * sizeof *mesh->indices);
    put_floats(w, mesh->positions, 3 * vertices);
    put_array(w, mesh->normals, 3 * vertices);
    put_array(w, mesh->colors, 4 * vertices);
    for (unsigned set = 0; set < FACET_SCENE_UV_SETS; set++) {
        put_array(w, mesh->uv[set], 2 * vertices);
    }
}

static void put_texture_use(struct writer *w, const struct facet_texture_use *use)
{
    const uint32_t words[7] = {
        use->texture, use->uv_set, use->wrap_u, use->wrap_v, use->magnify, use->minify, use->mip};

    put(w, words, sizeof words);
    put_floats(w, use->matrix, 6);
}

static void put_material(struct writer *w, const struct facet_scene_material *m)
{
    put(w, m->name, sizeof m->name);
    put_floats(w, m->base_color, 4);
    put_floats(w, m->emissive, 3);
    put_floats(w, &m->metallic, 1);
    put_floats(w, &m->roughness, 1);
    put_texture_use(w, &m->base_texture);
    put_texture_use(w, &m->emissive_texture);
    put_u32(w, m->alpha_mode);
    put_floats(w, &m->alpha_cutoff, 1);
    put_u32(w, m->double_sided);
    put_u32(w, m->unlit);
}

static void put_texture(struct writer *w, const struct facet_scene_texture *t)
{
    put(w, t->name, sizeof t->name);
    put_u32(w, t->width);
    put_u32(w, t->height);
    put(w, t->rgba, 4 * (size_t)t->width * t->height);
}

static void put_camera(struct writer *w, const struct facet_scene_camera *c)
{
    const float values[6] = {c->y_fov, c->aspect, c->x_mag, c->y_mag, c->z_near, c->z_far};

    put(w, c->name, sizeof c->name);
    put_u32(w, c->kind);
    put_floats(w, c->transform, 12);
    put_floats(w, values, 6);
}

static void put_light(struct writer *w, const struct facet_scene_light *l)
{
    const float values[4] = {l->intensity, l->range, l->inner_cone, l->outer_cone};

    put(w, l->name, sizeof l->name);
    put_u32(w, l->kind);
    put_floats(w, l->color, 3);
    put_floats(w, l->position, 3);
    put_floats(w, l->direction, 3);
    put_floats(w, values, 4);
}

bool facet_wire_write(const struct facet_wire_out *out, const struct facet_scene *scene)
{
    struct writer w = {out, true};
    const uint32_t counts[8] = {MAGIC,
                                scene->mesh_count,
                                scene->instance_count,
                                scene->material_count,
                                scene->texture_count,
                                scene->camera_count,
                                scene->light_count,
                                scene->left_out_count};

    put(&w, counts, sizeof counts);
    for (uint32_t i = 0; i < scene->texture_count; i++) {
        put_texture(&w, &scene->textures[i]);
    }
    for (uint32_t i = 0; i < scene->material_count; i++) {
        put_material(&w, &scene->materials[i]);
    }
    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        put_mesh(&w, &scene->meshes[i]);
    }
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        put_u32(&w, scene->instances[i].mesh);
        put_traits(&w, &scene->instances[i].traits);
        put_floats(&w, scene->instances[i].transform, 12);
    }
    for (uint32_t i = 0; i < scene->camera_count; i++) {
        put_camera(&w, &scene->cameras[i]);
    }
    for (uint32_t i = 0; i < scene->light_count; i++) {
        put_light(&w, &scene->lights[i]);
    }
    put(&w, scene->left_out, scene->left_out_count * sizeof *scene->left_out);
    return w.ok;
}

/* ---- reading ---- */

struct reader {
    const struct facet_wire_in *in;
    struct facet_scene *scene;
    enum facet_status status; /* of the first failure */
    struct facet_error *err;
    uint64_t vertices, triangles, texels; /* totals so far */
};

static bool good(const struct reader *r)
{
    return r->status == FACET_OK;
}

static void fail(struct reader *r, enum facet_status status, const char *what)
{
    if (good(r)) {
        r->status = facet_fail(r->err, status, 0, "%s", what);
    }
}

/* Numbers of one record; zeros after a failure. */
static void get(struct reader *r, void *bytes, size_t size)
{
    if (!good(r)) {
        memset(bytes, 0, size);
    } else if (!r->in->get(r->in->context, bytes, size)) {
        memset(bytes, 0, size);
        fail(r, FACET_ERR_INPUT, ENDS_EARLY);
    }
}

static uint32_t get_u32(struct reader *r)
{
    uint32_t value = 0;

    get(r, &value, sizeof value);
    return value;
}

/* A number below `limit`; 0 after a failure. */
static uint32_t get_below(struct reader *r, uint32_t limit, const char *what)
{
    uint32_t value = get_u32(r);

    if (value >= limit) {
        fail(r, FACET_ERR_INPUT, what);
        return 0;
    }
    return value;
}

static void get_floats(struct reader *r, float *values, size_t count)
{
    get(r, values, count * sizeof *values);
}

static void get_name(struct reader *r, char name[FACET_SCENE_NAME_BYTES])
{
    char raw[FACET_SCENE_NAME_BYTES];

    get(r, raw, sizeof raw);
    facet_scene_set_name(name, raw, strnlen(raw, sizeof raw));
}

/* `count` items of `size` bytes from the stream. Counts are bounded before. */
static void *get_array(struct reader *r, size_t count, size_t size)
{
    void *array = NULL;
    enum facet_status status =
        good(r) ? facet_incoming_array(r->in->get, r->in->context, count * size, &array) : FACET_OK;

    if (status != FACET_OK) {
        fail(r, status, status == FACET_ERR_MEMORY ? "no memory for the scene" : ENDS_EARLY);
    }
    return array;
}

static void *get_optional(struct reader *r, size_t count, size_t size)
{
    return get_below(r, 2, "the importer's result has a bad flag") != 0 ? get_array(r, count, size)
                                                                        : NULL;
}

static void total(struct reader *r, uint64_t *sum, uint64_t more, uint64_t limit, const char *what)
{
    *sum += more;
    if (*sum > limit) {
        fail(r, FACET_ERR_LIMIT, what);
    }
}

static void get_traits(struct reader *r, struct facet_scene_traits *traits)
{
    const char *const bad = "the importer's result has a bad trait";

    traits->set = (uint8_t)get_below(r, FACET_TRAIT_ALL + 1, bad);
    traits->mask = (uint8_t)get_below(r, 256, bad);
    traits->user_data = get_below(r, FACET_TRAIT_MOST_USER_DATA + 1, bad);
}

static void get_mesh(struct reader *r, uint32_t materials)
{
    struct facet_scene_mesh mesh;
    size_t vertices;

    memset(&mesh, 0, sizeof mesh);
    get_name(r, mesh.name);
    mesh.vertex_count = get_u32(r);
    mesh.triangle_count = get_u32(r);
    mesh.material = get_below(r, materials, "the importer's result names a missing material");
    mesh.geometry = get_below(r, UINT32_C(1) << 30, "the importer's result has a bad geometry");
    mesh.continues = get_below(r, 2, "the importer's result has a bad flag") != 0;
    get_traits(r, &mesh.traits);
    total(r,
          &r->vertices,
          mesh.vertex_count,
          FACET_SCENE_MAX_VERTICES,
          "the scene has more than 134217728 vertices");
    total(r,
          &r->triangles,
          mesh.triangle_count,
          FACET_SCENE_MAX_TRIANGLES,
          "the scene has more than 134217728 triangles");
    vertices = mesh.vertex_count;
    mesh.indices = get_array(r, 3 * (size_t)mesh.triangle_count, sizeof *mesh.indices);
    mesh.positions = get_array(r, 3 * vertices, sizeof *mesh.positions);
    mesh.normals = get_optional(r, 3 * vertices, sizeof *mesh.normals);
    mesh.colors = get_optional(r, 4 * vertices, sizeof *mesh.colors);
    for (unsigned set = 0; set < FACET_SCENE_UV_SETS; set++) {
        mesh.uv[set] = get_optional(r, 2 * vertices, sizeof *mesh.uv[set]);
    }
    if (good(r)) {
        r->status = facet_scene_add_mesh(r->scene, &mesh, NULL, r->err);
    }
    if (!good(r)) {
        facet_scene_mesh_free(&mesh);
    }
}

static void get_texture_use(struct reader *r, struct facet_texture_use *use, uint32_t textures)
{
    const char *const bad = "the importer's result has a bad texture reference";
    uint32_t texture = get_u32(r);

    if (texture != FACET_SCENE_NONE && texture >= textures) {
        fail(r, FACET_ERR_INPUT, bad);
    }
    use->texture = texture;
    use->uv_set = get_below(r, FACET_SCENE_UV_SETS, bad);
    use->wrap_u = (enum facet_wrap)get_below(r, FACET_WRAP_COUNT, bad);
    use->wrap_v = (enum facet_wrap)get_below(r, FACET_WRAP_COUNT, bad);
    use->magnify = (enum facet_filter)get_below(r, FACET_FILTER_COUNT, bad);
    use->minify = (enum facet_filter)get_below(r, FACET_FILTER_COUNT, bad);
    use->mip = (enum facet_mip)get_below(r, FACET_MIP_COUNT, bad);
    get_floats(r, use->matrix, 6);
}

static void get_material(struct reader *r, uint32_t textures)
{
    const char *const bad = "the importer's result has a bad material";
    struct facet_scene_material m;

    memset(&m, 0, sizeof m);
    get_name(r, m.name);
    get_floats(r, m.base_color, 4);
    get_floats(r, m.emissive, 3);
    get_floats(r, &m.metallic, 1);
    get_floats(r, &m.roughness, 1);
    get_texture_use(r, &m.base_texture, textures);
    get_texture_use(r, &m.emissive_texture, textures);
    m.alpha_mode = (enum facet_alpha)get_below(r, FACET_ALPHA_COUNT, bad);
    get_floats(r, &m.alpha_cutoff, 1);
    m.double_sided = get_below(r, 2, bad) != 0;
    m.unlit = get_below(r, 2, bad) != 0;
    if (good(r)) {
        r->status = facet_scene_add_material(r->scene, &m, NULL, r->err);
    }
}

static void get_texture(struct reader *r)
{
    struct facet_scene_texture t;

    memset(&t, 0, sizeof t);
    get_name(r, t.name);
    t.width = get_u32(r);
    t.height = get_u32(r);
    if (good(r)) {
        r->status = facet_image_check_size(t.width, t.height, r->err);
    }
    total(r,
          &r->texels,
          (uint64_t)t.width * t.height,
          FACET_SCENE_MAX_TEXELS,
          "the textures have more than 268435456 texels together");
    t.rgba = get_array(r, (size_t)t.width * t.height, 4);
    if (good(r)) {
        r->status = facet_scene_add_texture(r->scene, &t, NULL, r->err);
    }
    if (!good(r)) {
        free(t.rgba);
    }
}

static void get_instance(struct reader *r, uint32_t meshes)
{
    struct facet_scene_instance instance;

    memset(&instance, 0, sizeof instance);
    instance.mesh = get_below(r, meshes, "the importer's result names a missing mesh");
    get_traits(r, &instance.traits);
    get_floats(r, instance.transform, 12);
    if (good(r)) {
        r->status = facet_scene_add_instance(r->scene, &instance, r->err);
    }
}

static void get_camera(struct reader *r)
{
    struct facet_scene_camera c;
    float values[6];

    memset(&c, 0, sizeof c);
    get_name(r, c.name);
    c.kind = (enum facet_camera_kind)get_below(
        r, FACET_CAMERA_COUNT, "the importer's result has a bad camera");
    get_floats(r, c.transform, 12);
    get_floats(r, values, 6);
    c.y_fov = values[0];
    c.aspect = values[1];
    c.x_mag = values[2];
    c.y_mag = values[3];
    c.z_near = values[4];
    c.z_far = values[5];
    if (good(r)) {
        r->status = facet_scene_add_camera(r->scene, &c, r->err);
    }
}

static void get_light(struct reader *r)
{
    struct facet_scene_light l;
    float values[4];

    memset(&l, 0, sizeof l);
    get_name(r, l.name);
    l.kind = (enum facet_light_kind)get_below(
        r, FACET_LIGHT_COUNT, "the importer's result has a bad light");
    get_floats(r, l.color, 3);
    get_floats(r, l.position, 3);
    get_floats(r, l.direction, 3);
    get_floats(r, values, 4);
    l.intensity = values[0];
    l.range = values[1];
    l.inner_cone = values[2];
    l.outer_cone = values[3];
    if (good(r)) {
        r->status = facet_scene_add_light(r->scene, &l, r->err);
    }
}

static void clean(char *text, size_t size)
{
    char raw[sizeof(struct facet_left_out)];

    memcpy(raw, text, size);
    facet_scene_clean(text, size, raw, strnlen(raw, size));
}

static void get_left_out(struct reader *r)
{
    struct facet_left_out note;

    get(r, &note, sizeof note);
    clean(note.what, sizeof note.what);
    clean(note.first, sizeof note.first);
    clean(note.why, sizeof note.why);
    if (good(r)) {
        r->status = facet_scene_add_left_out(r->scene, &note, r->err);
    }
}

static const char *over_limit(const uint32_t counts[8])
{
    if (counts[1] > FACET_SCENE_MAX_MESHES) {
        return "the scene has too many meshes";
    }
    if (counts[2] > FACET_SCENE_MAX_INSTANCES) {
        return "the scene has too many instances";
    }
    if (counts[3] > FACET_SCENE_MAX_MATERIALS) {
        return "the scene has too many materials";
    }
    if (counts[4] > FACET_SCENE_MAX_TEXTURES) {
        return "the scene has too many textures";
    }
    if (counts[5] > FACET_SCENE_MAX_CAMERAS) {
        return "the scene has too many cameras";
    }
    if (counts[6] > FACET_SCENE_MAX_LIGHTS) {
        return "the scene has too many lights";
    }
    return counts[7] > FACET_SCENE_MAX_LEFT_OUT ? "too many notes of what was left out" : NULL;
}

enum facet_status
facet_wire_read(const struct facet_wire_in *in, struct facet_scene *scene, struct facet_error *err)
{
    struct reader r = {.in = in, .scene = scene, .err = err};
    uint32_t counts[8];

    facet_scene_init(scene);
    get(&r, counts, sizeof counts);
    if (counts[0] != MAGIC) {
        fail(&r, FACET_ERR_INPUT, "the importer's result has a bad start");
    }
    if (over_limit(counts) != NULL) {
        fail(&r, FACET_ERR_LIMIT, over_limit(counts));
    }
    for (uint32_t i = 0; good(&r) && i < counts[4]; i++) {
        get_texture(&r);
    }
    for (uint32_t i = 0; good(&r) && i < counts[3]; i++) {
        get_material(&r, counts[4]);
    }
    for (uint32_t i = 0; good(&r) && i < counts[1]; i++) {
        get_mesh(&r, counts[3]);
    }
    for (uint32_t i = 0; good(&r) && i < counts[2]; i++) {
        get_instance(&r, counts[1]);
    }
    for (uint32_t i = 0; good(&r) && i < counts[5]; i++) {
        get_camera(&r);
    }
    for (uint32_t i = 0; good(&r) && i < counts[6]; i++) {
        get_light(&r);
    }
    for (uint32_t i = 0; good(&r) && i < counts[7]; i++) {
        get_left_out(&r);
    }
    if (!good(&r)) {
        facet_scene_free(scene);
    }
    return r.status;
}

static bool hash_put(void *context, const void *bytes, size_t size)
{
    uint64_t *hash = context;

    *hash = facet_hash_bytes(bytes, size, *hash);
    return true;
}

uint64_t facet_wire_hash(const struct facet_scene *scene)
{
    uint64_t hash = 0;
    const struct facet_wire_out out = {hash_put, &hash};

    (void)facet_wire_write(&out, scene);
    return hash;
}
