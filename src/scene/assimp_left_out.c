/* See assimp_left_out.h. */
#include "scene/assimp_left_out.h"

#include "base/hash.h"

#include <assimp/material.h>
#include <assimp/scene.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct notes {
    struct facet_scene *out;
    struct facet_error *err;
    enum facet_status status; /* of the first failure */
};

static void leave_out(struct notes *n,
                      unsigned effect,
                      uint32_t count,
                      const char *what,
                      const char *first,
                      const char *why)
{
    if (n->status == FACET_OK) {
        n->status = facet_scene_leave_out(n->out, effect, count, what, first, why, n->err);
    }
}

static const char *quoted(char out[FACET_SCENE_NAME_BYTES], const char *kind, const char *name)
{
    (void)snprintf(out, FACET_SCENE_NAME_BYTES, "%s \"%.100s\"", kind, name);
    return out;
}

/* ---- what Assimp read ---- */

static const char *texture_kind(unsigned semantic)
{
    switch (semantic) {
    case aiTextureType_SPECULAR:
        return "specular textures";
    case aiTextureType_AMBIENT:
        return "ambient textures";
    case aiTextureType_EMISSIVE:
        return "emissive textures";
    case aiTextureType_HEIGHT:
        return "bump textures";
    case aiTextureType_NORMALS:
        return "normal textures";
    case aiTextureType_SHININESS:
        return "shininess textures";
    case aiTextureType_OPACITY:
        return "opacity textures";
    case aiTextureType_DISPLACEMENT:
        return "displacement textures";
    case aiTextureType_REFLECTION:
        return "reflection textures";
    case aiTextureType_DIFFUSE_ROUGHNESS:
    case aiTextureType_METALNESS:
        return "metallic and roughness textures";
    default:
        return "textures of other kinds";
    }
}

/* Whether one of the numbers of a property is not `plain`. */
static bool differs(const struct aiMaterialProperty *p, float plain)
{
    float value;

    for (unsigned at = 0; p->mType == aiPTI_Float && at + sizeof value <= p->mDataLength;
         at += (unsigned)sizeof value) {
        memcpy(&value, p->mData + at, sizeof value);
        if (value != plain) {
            return true;
        }
    }
    return false;
}

static void
note_property(struct notes *n, const struct aiMaterialProperty *p, const char *name, bool *gloss)
{
    const char *key = p->mKey.data;

    if (strcmp(key, "$tex.file") == 0 &&
        (p->mSemantic != aiTextureType_DIFFUSE || p->mIndex != 0)) {
        leave_out(n,
                  FACET_LOSS_LOOK,
                  1,
                  texture_kind(p->mSemantic),
                  name,
                  "only the texture of the diffuse colour is read");
    } else if (strcmp(key, "$tex.uvtrafo") == 0 && p->mSemantic == aiTextureType_DIFFUSE) {
        leave_out(n,
                  FACET_LOSS_LOOK,
                  1,
                  "texture transforms",
                  name,
                  "the texture lies as its coordinates say");
    } else if (strcmp(key, "$clr.specular") == 0 || strcmp(key, "$mat.metallicFactor") == 0 ||
               strcmp(key, "$mat.clearcoat.factor") == 0) {
        *gloss = *gloss || differs(p, 0.0F);
    } else if (strcmp(key, "$clr.transparent") == 0 && differs(p, 1.0F)) {
        leave_out(n,
                  FACET_LOSS_LOOK,
                  1,
                  "transmission colours",
                  name,
                  "only the opacity of a material is used");
    }
}

/* "" for one without. */
static const char *material_name(const struct aiMaterial *material)
{
    for (unsigned i = 0; i < material->mNumProperties; i++) {
        const struct aiMaterialProperty *p = material->mProperties[i];

        if (strcmp(p->mKey.data, "?mat.name") == 0 && p->mType == aiPTI_String &&
            p->mDataLength > 4) {
            return p->mData + 4; /* behind the length; Assimp ends it with a NUL */
        }
    }
    return "";
}

static void note_material(struct notes *n, const struct aiMaterial *material)
{
    char name[FACET_SCENE_NAME_BYTES];
    bool gloss = false;

    (void)quoted(name, "material", material_name(material));
    for (unsigned i = 0; i < material->mNumProperties; i++) {
        note_property(n, material->mProperties[i], name, &gloss);
    }
    leave_out(n,
              FACET_LOSS_LOOK,
              gloss,
              "reflections of metallic or smooth materials",
              name,
              "they are drawn matte");
}

static void note_mesh(struct notes *n, const struct aiMesh *mesh)
{
    char name[FACET_SCENE_NAME_BYTES];
    uint32_t points = 0, lines = 0;

    (void)quoted(name, "mesh", mesh->mName.data);
    for (unsigned i = 0; i < mesh->mNumFaces; i++) {
        points += mesh->mFaces[i].mNumIndices == 1;
        lines += mesh->mFaces[i].mNumIndices == 2;
    }
    leave_out(n, FACET_LOSS_SHAPE, points, "points", name, "only triangles are read");
    leave_out(n, FACET_LOSS_SHAPE, lines, "lines", name, "only triangles are read");
    leave_out(n, FACET_LOSS_SHAPE, mesh->mNumBones, "bones", name, "the rest pose is shown");
    leave_out(
        n, FACET_LOSS_SHAPE, mesh->mNumAnimMeshes, "morph targets", name, "the rest pose is shown");
    leave_out(n,
              FACET_LOSS_LOOK,
              mesh->mColors[0] != NULL && mesh->mColors[1] != NULL,
              "second vertex colours",
              name,
              "only the first are used");
}

/* Materials of formats without any are made up by Assimp: nothing of theirs is lost. */
static void note_scene(struct notes *n, const struct aiScene *in, bool has_materials)
{
    bool *used = calloc((size_t)in->mNumMaterials + 1, sizeof *used);

    if (used == NULL) {
        n->status = facet_fail(n->err, FACET_ERR_MEMORY, 0, "out of memory");
        return;
    }
    for (unsigned i = 0; i < in->mNumMeshes; i++) {
        if (in->mMeshes[i]->mMaterialIndex < in->mNumMaterials) {
            used[in->mMeshes[i]->mMaterialIndex] = true;
        }
        note_mesh(n, in->mMeshes[i]);
    }
    for (unsigned i = 0; has_materials && i < in->mNumMaterials; i++) {
        if (used[i]) {
            note_material(n, in->mMaterials[i]);
        }
    }
    free(used);
    leave_out(n, FACET_LOSS_SHAPE, in->mNumAnimations, "animations", "", "the rest pose is shown");
    leave_out(n, FACET_LOSS_LOOK, in->mNumCameras, "cameras", "", "the default one is used");
    leave_out(n, FACET_LOSS_LOOK, in->mNumLights, "lights", "", "the default sun shines");
}

/* ---- what Assimp passes over in the text of an OBJ ---- */

/* The next line, without its end, cut to `size`; false after the last. */
static bool next_line(const struct facet_bytes *text, size_t *at, char *line, size_t size)
{
    size_t length = 0;

    if (*at >= text->size) {
        return false;
    }
    for (; *at < text->size && text->data[*at] != '\n' && text->data[*at] != '\r'; ++*at) {
        if (length < size - 1) {
            line[length++] = (char)text->data[*at];
        }
    }
    ++*at;
    line[length] = '\0';
    return true;
}

static bool is_one_of(const char *word, const char *list)
{
    char wanted[40];

    (void)snprintf(wanted, sizeof wanted, " %.36s ", word);
    return strstr(list, wanted) != NULL;
}

static void note_obj(struct notes *n, const struct facet_bytes *text)
{
    bool normals = false, goes_on = false;
    uint32_t smooth = 0;
    char line[256], word[40], what[64], value[16];
    size_t at = 0;

    while (next_line(text, &at, line, sizeof line)) {
        bool statement = !goes_on;
        size_t length = strlen(line);

        goes_on = length != 0 && line[length - 1] == '\\';
        if (!statement || sscanf(line, "%39s", word) != 1 || word[0] == '#') {
            continue;
        }
        normals = normals || strcmp(word, "vn") == 0;
        if (strcmp(word, "s") == 0) {
            smooth += sscanf(line, " s %15s", value) == 1 && !is_one_of(value, " off 0 ");
        } else if (!is_one_of(word, " v vt vn f l p g o mtllib usemtl mg ")) {
            (void)snprintf(what, sizeof what, "OBJ statement %.36s", word);
            leave_out(n, FACET_LOSS_SHAPE, 1, what, line, "only polygons are read");
        }
    }
    leave_out(n,
              FACET_LOSS_LOOK,
              normals ? 0 : smooth,
              "smoothing groups",
              "",
              "without normals (vn) triangles are flat");
}

/* ---- material libraries ---- */

/* The name behind "newmtl", without the blanks around it, as a number: two names with one number
 * would only hide a note. */
static uint64_t name_hash(const char *name)
{
    size_t length;

    name += strspn(name, " \t");
    length = strlen(name);
    while (length != 0 && strchr(" \t", name[length - 1]) != NULL) {
        length--;
    }
    return facet_hash_bytes(name, length, 0);
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Options in front of a picture's name; Assimp takes -clamp and skips the others. */
static void note_texture_options(struct notes *n, const char *line)
{
    const char *at = line;

    while ((at = strstr(at, " -")) != NULL) {
        char option[16], what[64];

        if (sscanf(++at, "%15s", option) == 1 && strspn(option + 1, "0123456789.") == 0 &&
            !is_one_of(option, " -clamp -type ")) {
            (void)snprintf(what, sizeof what, "MTL texture option %.15s", option);
            leave_out(n, FACET_LOSS_LOOK, 1, what, line, "Facet does not use it");
        }
    }
}

/* Returns how many materials the libraries define; their hashes go to `names` where that is not
 * NULL. */
static size_t read_libraries(struct notes *n, const struct facet_bytes *text, uint64_t *names)
{
    char line[256], word[40], what[64];
    size_t at = 0, count = 0;

    while (next_line(text, &at, line, sizeof line)) {
        if (sscanf(line, "%39s", word) != 1 || word[0] == '#') {
            continue;
        }
        if (strcmp(word, "newmtl") == 0) {
            if (names != NULL) {
                names[count] = name_hash(strstr(line, "newmtl") + 6);
            }
            count++;
        } else if (names != NULL && strcmp(word, "map_Kd") == 0) {
            note_texture_options(n, line);
        } else if (names != NULL &&
                   !is_one_of(word,
                              " Ka Kd Ks Ke Ns Ni d Tr Tf illum map_Ka map_Ks map_Ke map_Ns map_d "
                              "map_Tr map_bump map_Bump bump norm map_Kn disp map_disp refl Pr Pm "
                              "Ps Pc Pcr aniso anisor sharpness map_Pr map_Pm map_Ps map_emissive "
                              "map_Pcr map_Pc ")) {
            (void)snprintf(what, sizeof what, "MTL statement %.36s", word);
            leave_out(n, FACET_LOSS_LOOK, 1, what, line, "Facet does not use it");
        }
    }
    return count;
}

/* Assimp makes up a grey material for every name that no library defines. Where a library is
 * missing, that has been said. */
static void
note_libraries(struct notes *n, const struct facet_bytes *libraries, const struct aiScene *in)
{
    size_t count = read_libraries(n, libraries, NULL);
    uint64_t *names = malloc((count + 1) * sizeof *names);
    char name[FACET_SCENE_NAME_BYTES];
    bool missing = false;

    if (names == NULL) {
        n->status = facet_fail(n->err, FACET_ERR_MEMORY, 0, "out of memory");
        return;
    }
    (void)read_libraries(n, libraries, names);
    qsort(names, count, sizeof *names, compare_hashes);
    for (uint32_t i = 0; i < n->out->left_out_count; i++) {
        missing = missing || strncmp(n->out->left_out[i].what,
                                     FACET_MISSING_LIBRARY,
                                     sizeof FACET_MISSING_LIBRARY - 1) == 0;
    }
    for (unsigned i = 0; !missing && i < in->mNumMaterials; i++) {
        const char *text = material_name(in->mMaterials[i]);
        uint64_t hash = name_hash(text);

        if (strcmp(text, AI_DEFAULT_MATERIAL_NAME) != 0 &&
            bsearch(&hash, names, count, sizeof hash, compare_hashes) == NULL) {
            leave_out(n,
                      FACET_LOSS_LOOK,
                      1,
                      "materials that no library defines",
                      quoted(name, "usemtl", text),
                      "they are drawn grey");
        }
    }
    free(names);
}

/* ---- PLY ---- */

static void note_ply_property(struct notes *n, const char *element, const char *line)
{
    bool vertex = strcmp(element, "vertex") == 0;
    const char *name = strrchr(line, ' ');
    char what[96];

    name = name != NULL ? name + 1 : line;
    if (vertex ? is_one_of(name,
                           " x y z nx ny nz red green blue alpha r g b diffuse_red diffuse_green "
                           "diffuse_blue diffuse_alpha u v s t tx ty texture_u texture_v ")
               : is_one_of(name, " vertex_index vertex_indices texcoord texcoords texnumber ")) {
        return;
    }
    (void)snprintf(what, sizeof what, "PLY property %.30s of element %.30s", name, element);
    leave_out(n, vertex ? 0 : FACET_LOSS_LOOK, 1, what, "the header", "Facet does not use it");
}

static void note_ply(struct notes *n, const struct facet_bytes *text)
{
    char line[256], element[40] = "", what[64], count[24];
    size_t at = 0;

    while (next_line(text, &at, line, sizeof line) && strcmp(line, "end_header") != 0) {
        if (sscanf(line, "element %39s %23s", element, count) == 2) {
            if (!is_one_of(element, " vertex face tristrips ") && strcmp(count, "0") != 0) {
                (void)snprintf(what, sizeof what, "PLY element %.36s", element);
                leave_out(n, FACET_LOSS_SHAPE, 1, what, line, "only vertices and faces are read");
            }
        } else if (strncmp(line, "property ", 9) == 0 && is_one_of(element, " vertex face ")) {
            note_ply_property(n, element, line);
        }
    }
}

enum facet_status facet_assimp_note_left_out(const struct facet_reader *reader,
                                             const char *extension,
                                             const struct facet_bytes *libraries,
                                             const struct aiScene *in,
                                             struct facet_scene *out,
                                             struct facet_error *err)
{
    const struct facet_bytes text = {(uint8_t *)reader->data, reader->size};
    struct notes n = {.out = out, .err = err};

    note_scene(&n, in, strcmp(extension, "obj") == 0);
    if (strcmp(extension, "obj") == 0) {
        note_obj(&n, &text);
        note_libraries(&n, libraries, in);
    } else if (strcmp(extension, "ply") == 0) {
        note_ply(&n, &text);
    }
    return n.status;
}
