/* Scenes through Assimp's C API: OBJ + MTL, PLY and STL; glTF too, as a second opinion on our own
 * reader. Assimp sees no file system: its file functions are ours and hand out the bytes of the
 * scene, or ask the fetch function for a file beside it.
 *
 * The library is loaded when first needed: linking it would make every start of the program four
 * times slower (5 ms instead of 1 ms), whatever the command.
 *
 * Assimp's texture coordinates have v upwards; ours go down, as in glTF. */
#define _GNU_SOURCE
#include "scene/assimp_left_out.h"
#include "scene/matrix.h"
#include "scene/ply.h"
#include "scene/reader.h"
#include "scene/weld.h"

#include "image/image.h"

#include <assimp/cfileio.h>
#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/material.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_NODE_DEPTH 4096U
/* The name that Assimp sees for an OBJ. When a material library is missing, Assimp looks for one
 * named like the scene: no file beside it has a name that begins with this byte. */
#define OWN_NAME "\001scene"
#define LIBRARY "libassimp.so.5" /* the ABI that the headers above describe */

/* The functions that we call, each under its own name. */
#define ASSIMP_FUNCTIONS(F)                                                                        \
    F(aiImportFileEx)                                                                              \
    F(aiReleaseImport)                                                                             \
    F(aiGetErrorString)                                                                            \
    F(aiGetMaterialString)                                                                         \
    F(aiGetMaterialColor)                                                                          \
    F(aiGetMaterialFloatArray)                                                                     \
    F(aiGetMaterialIntegerArray)                                                                   \
    F(aiGetMaterialTexture)

static struct {
#define DECLARE(name) __typeof__(name) *name;
    ASSIMP_FUNCTIONS(DECLARE)
#undef DECLARE
    bool loaded;
    char problem[200];
} assimp;

static void load_library(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    const char *problem = library == NULL ? dlerror() : NULL;

    if (library == NULL) {
        (void)snprintf(assimp.problem,
                       sizeof assimp.problem,
                       "%s",
                       problem != NULL ? problem : "cannot be loaded");
        return;
    }
    assimp.loaded = true;
#define FIND(name)                                                                                 \
    *(void **)&assimp.name = dlsym(library, #name);                                                \
    if (assimp.name == NULL) {                                                                     \
        assimp.loaded = false;                                                                     \
        (void)snprintf(assimp.problem, sizeof assimp.problem, "it has no function " #name);        \
    }
    ASSIMP_FUNCTIONS(FIND)
#undef FIND
}

enum facet_status facet_assimp_load(struct facet_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, load_library);
    if (!assimp.loaded) {
        return facet_fail(
            err, FACET_ERR_IO, 0, "the library %s is needed: %s", LIBRARY, assimp.problem);
    }
    return FACET_OK;
}

struct convert {
    const struct facet_reader *reader;
    char main_name[32];
    struct facet_bytes libraries; /* the material libraries that were read, one after the other */
    const struct aiScene *in;
    struct facet_scene *out;
    struct facet_error *err;
    enum facet_status status;
    bool double_sided;
    uint32_t *mesh_map;    /* aiMesh -> scene mesh, or FACET_SCENE_NONE for points and lines */
    uint32_t *texture_map; /* per aiMaterial: the texture it loaded, to share it by name */
    char (*texture_names)[256];
    uint32_t textures;
};

/* ---- Assimp's view of the file system ---- */

struct stream {
    const uint8_t *data;
    size_t size, at;
    uint8_t *owned;
};

static size_t stream_read(struct aiFile *file, char *to, size_t size, size_t count)
{
    struct stream *s = (struct stream *)file->UserData;
    size_t items = size != 0 ? (s->size - s->at) / size : 0;

    items = items < count ? items : count;
    if (items != 0) {
        memcpy(to, s->data + s->at, items * size);
        s->at += items * size;
    }
    return items;
}

static size_t stream_write(struct aiFile *file, const char *from, size_t size, size_t count)
{
    (void)file;
    (void)from;
    (void)size;
    (void)count;
    return 0;
}

static size_t stream_tell(struct aiFile *file)
{
    return ((struct stream *)file->UserData)->at;
}

static size_t stream_size(struct aiFile *file)
{
    return ((struct stream *)file->UserData)->size;
}

static aiReturn stream_seek(struct aiFile *file, size_t offset, enum aiOrigin origin)
{
    struct stream *s = (struct stream *)file->UserData;
    size_t base = origin == aiOrigin_SET ? 0 : origin == aiOrigin_CUR ? s->at : s->size;

    if (offset > s->size - base) {
        return aiReturn_FAILURE;
    }
    s->at = base + offset;
    return aiReturn_SUCCESS;
}

static void stream_flush(struct aiFile *file)
{
    (void)file;
}

/* A file that is not there is noted: MTL files and pictures are often not shipped with an OBJ. For
 * glTF it is an error, as in our own reader; so is, for all, a file that is there and cannot be
 * read. */
static void file_is_missing(struct convert *c,
                            const char *kind,
                            const char *name,
                            const char *instead,
                            const struct facet_error *err)
{
    char why[sizeof((struct facet_left_out *)NULL)->why];
    char what[sizeof((struct facet_left_out *)NULL)->what];
    size_t length = strlen(name);
    const char *reason = err->message;

    if (c->status != FACET_OK) {
        return;
    }
    if (err->status != FACET_ERR_INPUT || !c->double_sided) {
        c->status = facet_fail(c->err, err->status, 0, "%s", err->message);
        return;
    }
    (void)snprintf(what, sizeof what, "%s%.120s", kind, name);
    for (uint32_t i = 0; i < c->out->left_out_count; i++) {
        const char *noted = c->out->left_out[i].what;
        size_t tail = strlen(noted) > length ? strlen(noted) - length : 0;

        /* Assimp asks several times, and "../x.mtl" again as "/x.mtl". */
        if (strcmp(noted, what) == 0 || (name[0] == '/' && strcmp(noted + tail, name) == 0)) {
            return;
        }
    }
    if (strncmp(reason, name, length) == 0 && strncmp(reason + length, ": ", 2) == 0) {
        reason += length + 2;
    }
    (void)snprintf(why, sizeof why, "%.160s; %s", reason, instead);
    c->status = facet_scene_leave_out(c->out, FACET_LOSS_LOOK, 1, what, "", why, c->err);
}

static void keep_library(struct convert *c, const char *name, const struct facet_bytes *bytes)
{
    const char *dot = strrchr(name, '.');
    uint8_t *grown;

    if (c->status != FACET_OK || !c->double_sided || dot == NULL || strcasecmp(dot, ".mtl") != 0) {
        return;
    }
    grown = realloc(c->libraries.data, c->libraries.size + bytes->size + 2);
    if (grown == NULL) {
        c->status = facet_fail(c->err, FACET_ERR_MEMORY, 0, "%.200s: out of memory", name);
        return;
    }
    memcpy(grown + c->libraries.size, bytes->data, bytes->size);
    c->libraries.data = grown;
    c->libraries.size += bytes->size + 1;
    grown[c->libraries.size - 1] = '\n';
}

static struct aiFile *open_stream(struct aiFileIO *io, const char *name, const char *mode)
{
    struct convert *c = (struct convert *)io->UserData;
    struct stream *s = calloc(1, sizeof *s);
    struct aiFile *file = calloc(1, sizeof *file);
    struct facet_bytes bytes = {NULL, 0};
    bool found = false;

    (void)mode;
    while (strncmp(name, "./", 2) == 0) {
        name += 2;
    }
    if (s != NULL && file != NULL && strcmp(name, c->main_name) == 0) {
        s->data = c->reader->data;
        s->size = c->reader->size;
        found = true;
    } else if (s != NULL && file != NULL && c->reader->fetch != NULL && name[0] != OWN_NAME[0]) {
        struct facet_error err = {0};

        found = c->reader->fetch(c->reader->context, name, &bytes, &err) == FACET_OK;
        if (found) {
            keep_library(c, name, &bytes);
        } else {
            file_is_missing(c, FACET_MISSING_LIBRARY, name, "plain materials stand in", &err);
        }
        s->data = s->owned = bytes.data;
        s->size = bytes.size;
    }
    if (!found) {
        free(s);
        free(file);
        return NULL;
    }
    file->UserData = (aiUserData)s;
    file->ReadProc = stream_read;
    file->WriteProc = stream_write;
    file->TellProc = stream_tell;
    file->FileSizeProc = stream_size;
    file->SeekProc = stream_seek;
    file->FlushProc = stream_flush;
    return file;
}

static void close_stream(struct aiFileIO *io, struct aiFile *file)
{
    struct stream *s = (struct stream *)file->UserData;

    (void)io;
    free(s->owned);
    free(s);
    free(file);
}

/* ---- conversion ---- */

static bool failed(struct convert *c, enum facet_status status, const char *message)
{
    if (c->status == FACET_OK) {
        c->status = facet_fail(c->err, status, 0, "%s", message);
    }
    return false;
}

static float *copy_vectors(const struct aiVector3D *from, uint32_t count, unsigned components)
{
    float *to = malloc((size_t)count * components * sizeof *to + 1);

    for (size_t i = 0; to != NULL && i < count; i++) {
        to[components * i] = from[i].x;
        if (components == 2) {
            to[2 * i + 1] = 1.0F - from[i].y;
        } else {
            to[3 * i + 1] = from[i].y;
            to[3 * i + 2] = from[i].z;
        }
    }
    return to;
}

static float *copy_colors(const struct aiColor4D *from, uint32_t count)
{
    float *to = malloc((size_t)count * 4 * sizeof *to + 1);

    for (size_t i = 0; to != NULL && i < count; i++) {
        to[4 * i] = from[i].r;
        to[4 * i + 1] = from[i].g;
        to[4 * i + 2] = from[i].b;
        to[4 * i + 3] = from[i].a;
    }
    return to;
}

static bool copy_faces(struct convert *c, const struct aiMesh *in, struct facet_scene_mesh *mesh)
{
    mesh->indices = malloc(3 * (size_t)in->mNumFaces * sizeof *mesh->indices + 1);
    if (mesh->indices == NULL) {
        return failed(c, FACET_ERR_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; i < in->mNumFaces; i++) {
        const struct aiFace *face = &in->mFaces[i];

        if (face->mNumIndices != 3) {
            continue; /* a point or a line */
        }
        for (unsigned k = 0; k < 3; k++) {
            if (face->mIndices[k] >= in->mNumVertices) {
                return failed(c, FACET_ERR_INPUT, "a triangle refers to a vertex that is missing");
            }
            mesh->indices[3 * (size_t)mesh->triangle_count + k] = face->mIndices[k];
        }
        mesh->triangle_count++;
    }
    return true;
}

static bool copy_mesh(struct convert *c, const struct aiMesh *in, struct facet_scene_mesh *mesh)
{
    bool ok;

    facet_scene_set_name(mesh->name, in->mName.data, strnlen(in->mName.data, in->mName.length));
    mesh->vertex_count = in->mNumVertices;
    mesh->material = in->mMaterialIndex;
    if (in->mVertices == NULL || in->mMaterialIndex >= c->in->mNumMaterials) {
        return failed(c, FACET_ERR_INPUT, "a mesh has no vertices or no material");
    }
    mesh->positions = copy_vectors(in->mVertices, in->mNumVertices, 3);
    ok = mesh->positions != NULL;
    if (in->mNormals != NULL) {
        mesh->normals = copy_vectors(in->mNormals, in->mNumVertices, 3);
        ok = ok && mesh->normals != NULL;
    }
    if (in->mColors[0] != NULL) {
        mesh->colors = copy_colors(in->mColors[0], in->mNumVertices);
        ok = ok && mesh->colors != NULL;
    }
    for (unsigned set = 0; set < FACET_SCENE_UV_SETS && set < AI_MAX_NUMBER_OF_TEXTURECOORDS;
         set++) {
        if (in->mTextureCoords[set] != NULL) {
            mesh->uv[set] = copy_vectors(in->mTextureCoords[set], in->mNumVertices, 2);
            ok = ok && mesh->uv[set] != NULL;
        }
    }
    return (ok || failed(c, FACET_ERR_MEMORY, "out of memory")) && copy_faces(c, in, mesh) &&
           (facet_scene_weld(mesh) || failed(c, FACET_ERR_MEMORY, "out of memory"));
}

static bool add_mesh(struct convert *c, uint32_t index)
{
    struct facet_scene_mesh mesh;
    bool ok;

    memset(&mesh, 0, sizeof mesh);
    c->mesh_map[index] = FACET_SCENE_NONE;
    ok = copy_mesh(c, c->in->mMeshes[index], &mesh);
    if (mesh.name[0] == '\0') {
        (void)snprintf(mesh.name, sizeof mesh.name, "mesh %u", index);
    }
    if (ok && mesh.triangle_count != 0) {
        c->status = facet_scene_add_mesh(c->out, &mesh, &c->mesh_map[index], c->err);
        ok = c->status == FACET_OK;
    }
    if (!ok || mesh.triangle_count == 0) {
        facet_scene_mesh_free(&mesh);
    }
    return ok;
}

/* "*3" names picture 3 inside the file. */
static const struct aiTexture *embedded_texture(const struct aiScene *scene, const char *name)
{
    unsigned long index = name[0] == '*' ? strtoul(name + 1, NULL, 10) : scene->mNumTextures;

    return index < scene->mNumTextures ? scene->mTextures[index] : NULL;
}

/* A picture beside the scene or inside it ("*0"). A missing or unknown one is noted. */
static bool decode_texture(struct convert *c, const char *name, struct facet_image *image)
{
    const struct aiTexture *inside = embedded_texture(c->in, name);
    struct facet_bytes bytes = {NULL, 0};
    struct facet_error err;
    enum facet_status status;

    err.message[0] = '\0';
    if (inside != NULL && inside->mHeight == 0) {
        status = facet_image_decode((const uint8_t *)inside->pcData, inside->mWidth, image, &err);
    } else if (c->reader->fetch != NULL) {
        char *slashes = strdup(name);

        for (char *at = slashes; at != NULL && *at != '\0'; at++) {
            *at = *at == '\\' ? '/' : *at;
        }
        status = slashes != NULL ? c->reader->fetch(c->reader->context, slashes, &bytes, &err)
                                 : facet_fail(&err, FACET_ERR_MEMORY, 0, "out of memory");
        free(slashes);
        if (status == FACET_OK) {
            status = facet_image_decode(bytes.data, bytes.size, image, &err);
        }
        free(bytes.data);
    } else {
        status = facet_fail(&err, FACET_ERR_INPUT, 0, "no files here");
    }
    if (status != FACET_OK) {
        file_is_missing(c, "texture ", name, "the plain colour is drawn", &err);
    }
    return status == FACET_OK;
}

static uint32_t find_texture(struct convert *c, const char *name)
{
    struct facet_scene_texture texture;
    struct facet_image image = {0, 0, NULL};
    uint32_t slot = c->textures;

    for (uint32_t i = 0; i < c->textures; i++) {
        if (strncmp(c->texture_names[i], name, sizeof c->texture_names[i] - 1) == 0) {
            return c->texture_map[i];
        }
    }
    (void)snprintf(c->texture_names[slot], sizeof c->texture_names[slot], "%s", name);
    c->texture_map[slot] = FACET_SCENE_NONE;
    c->textures++;
    if (!decode_texture(c, name, &image)) {
        return FACET_SCENE_NONE;
    }
    memset(&texture, 0, sizeof texture);
    facet_scene_set_name(texture.name, name, strlen(name));
    texture.width = image.width;
    texture.height = image.height;
    texture.rgba = image.rgba;
    c->status = facet_scene_add_texture(c->out, &texture, &c->texture_map[slot], c->err);
    if (c->status != FACET_OK) {
        facet_image_free(&image);
    }
    return c->texture_map[slot];
}

static enum facet_wrap wrap_of(enum aiTextureMapMode mode)
{
    return mode == aiTextureMapMode_Clamp    ? FACET_WRAP_CLAMP
           : mode == aiTextureMapMode_Mirror ? FACET_WRAP_MIRROR
                                             : FACET_WRAP_REPEAT;
}

static bool add_material(struct convert *c, const struct aiMaterial *in)
{
    struct facet_scene_material m;
    struct aiColor4D color = {1, 1, 1, 1}, glow = {0, 0, 0, 1};
    struct aiString text;
    enum aiTextureMapMode modes[3] = {
        aiTextureMapMode_Wrap, aiTextureMapMode_Wrap, aiTextureMapMode_Wrap};
    float opacity = 1.0F;
    unsigned uv_set = 0;
    int sides = 0;

    facet_scene_material_default(&m);
    if (assimp.aiGetMaterialString(in, AI_MATKEY_NAME, &text) == aiReturn_SUCCESS) {
        facet_scene_set_name(m.name, text.data, strnlen(text.data, text.length));
    }
    (void)assimp.aiGetMaterialColor(in, AI_MATKEY_COLOR_DIFFUSE, &color);
    (void)assimp.aiGetMaterialColor(in, AI_MATKEY_COLOR_EMISSIVE, &glow);
    (void)assimp.aiGetMaterialFloatArray(in, AI_MATKEY_OPACITY, &opacity, NULL);
    (void)assimp.aiGetMaterialIntegerArray(in, AI_MATKEY_TWOSIDED, &sides, NULL);
    m.base_color[0] = color.r;
    m.base_color[1] = color.g;
    m.base_color[2] = color.b;
    m.base_color[3] = c->double_sided ? opacity : color.a;
    m.emissive[0] = glow.r;
    m.emissive[1] = glow.g;
    m.emissive[2] = glow.b;
    m.metallic = 0.0F;
    m.double_sided = c->double_sided || sides != 0;
    m.alpha_mode = m.base_color[3] < 1.0F ? FACET_ALPHA_BLEND : FACET_ALPHA_OPAQUE;
    if (assimp.aiGetMaterialTexture(
            in, aiTextureType_DIFFUSE, 0, &text, NULL, &uv_set, NULL, NULL, modes, NULL) ==
        aiReturn_SUCCESS) {
        m.base_texture.texture = find_texture(c, text.data);
        m.base_texture.uv_set = uv_set < FACET_SCENE_UV_SETS ? uv_set : 0;
        m.base_texture.wrap_u = wrap_of(modes[0]);
        m.base_texture.wrap_v = wrap_of(modes[1]);
    }
    if (c->status == FACET_OK) {
        c->status = facet_scene_add_material(c->out, &m, NULL, c->err);
    }
    return c->status == FACET_OK;
}

static struct facet_affine matrix_of(const struct aiMatrix4x4 *m)
{
    return (struct facet_affine){{(double)m->a1,
                                  (double)m->a2,
                                  (double)m->a3,
                                  (double)m->a4,
                                  (double)m->b1,
                                  (double)m->b2,
                                  (double)m->b3,
                                  (double)m->b4,
                                  (double)m->c1,
                                  (double)m->c2,
                                  (double)m->c3,
                                  (double)m->c4}};
}

static bool add_node(struct convert *c,
                     const struct aiNode *node,
                     const struct facet_affine *parent,
                     unsigned depth)
{
    struct facet_affine local = matrix_of(&node->mTransformation);
    struct facet_affine world = facet_affine_multiply(parent, &local);

    if (depth > MAX_NODE_DEPTH) {
        return failed(c, FACET_ERR_LIMIT, "the node tree is too deep");
    }
    for (unsigned i = 0; i < node->mNumMeshes; i++) {
        struct facet_scene_instance instance;
        uint32_t mesh = node->mMeshes[i];

        if (mesh >= c->in->mNumMeshes || c->mesh_map[mesh] == FACET_SCENE_NONE) {
            continue;
        }
        memset(&instance, 0, sizeof instance);
        instance.mesh = c->mesh_map[mesh];
        facet_affine_to_float(&world, instance.transform);
        c->status = facet_scene_add_instance(c->out, &instance, c->err);
        if (c->status != FACET_OK) {
            return false;
        }
    }
    for (unsigned i = 0; i < node->mNumChildren; i++) {
        if (!add_node(c, node->mChildren[i], &world, depth + 1)) {
            return false;
        }
    }
    return true;
}

static bool convert_scene(struct convert *c)
{
    struct facet_affine identity = facet_affine_identity();
    bool ok = true;

    c->mesh_map = calloc((size_t)c->in->mNumMeshes + 1, sizeof *c->mesh_map);
    c->texture_map = calloc((size_t)c->in->mNumMaterials + 1, sizeof *c->texture_map);
    c->texture_names = calloc((size_t)c->in->mNumMaterials + 1, sizeof *c->texture_names);
    if (c->mesh_map == NULL || c->texture_map == NULL || c->texture_names == NULL) {
        ok = failed(c, FACET_ERR_MEMORY, "out of memory");
    }
    for (unsigned i = 0; ok && i < c->in->mNumMaterials; i++) {
        ok = add_material(c, c->in->mMaterials[i]);
    }
    for (unsigned i = 0; ok && i < c->in->mNumMeshes; i++) {
        ok = add_mesh(c, i);
    }
    if (ok && c->in->mRootNode != NULL) {
        ok = add_node(c, c->in->mRootNode, &identity, 0);
    }
    free(c->mesh_map);
    free(c->texture_map);
    free(c->texture_names);
    return ok;
}

static enum facet_status refusal(const char *why, struct facet_error *err)
{
    if (why == NULL || why[0] == '\0') {
        why = "not a scene that can be read";
    }
    if (strstr(why, "bad_alloc") != NULL || strstr(why, "bad alloc") != NULL) {
        return facet_fail(
            err, FACET_ERR_LIMIT, 0, "not enough memory for the sizes that the file declares");
    }
    return facet_fail(err, FACET_ERR_INPUT, 0, "%.300s", why);
}

enum facet_status facet_assimp_read(const struct facet_reader *reader,
                                    const char *extension,
                                    struct facet_scene *scene,
                                    struct facet_error *err)
{
    struct convert c = {.reader = reader, .out = scene, .err = err};
    struct aiFileIO io = {open_stream, close_stream, (aiUserData)&c};
    enum facet_status status = facet_assimp_load(err);

    if (status != FACET_OK) {
        return status;
    }
    if (strcmp(extension, "ply") == 0) {
        status = facet_ply_check(reader->data, reader->size, err);
        if (status != FACET_OK) {
            return status;
        }
    }
    (void)snprintf(c.main_name,
                   sizeof c.main_name,
                   "%s.%s",
                   strcmp(extension, "obj") == 0 ? OWN_NAME : "scene",
                   extension);
    /* These formats do not say which side of a triangle is its front. */
    c.double_sided = extension[0] != 'g';
    c.in = assimp.aiImportFileEx(c.main_name, aiProcess_Triangulate, &io);
    if (c.in == NULL && c.status == FACET_OK) {
        c.status = refusal(assimp.aiGetErrorString(), err);
    }
    if (c.status == FACET_OK && convert_scene(&c) && c.double_sided) {
        c.status = facet_assimp_note_left_out(reader, extension, &c.libraries, c.in, scene, err);
    }
    if (c.in != NULL) {
        assimp.aiReleaseImport(c.in);
    }
    free(c.libraries.data);
    return c.status;
}
