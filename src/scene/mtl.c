/* See mtl.h. */
#define _GNU_SOURCE
#include "scene/mtl.h"

#include "scene/beside.h"

#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct facet_mtl_library {
    struct facet_mtl_library *next;
    char name[FACET_BESIDE_NAME_BYTES];
    struct facet_bytes bytes;
};

struct facet_mtl_texture {
    struct facet_mtl_texture *next;
    char name[FACET_BESIDE_NAME_BYTES];
    uint32_t texture;
};

struct facet_mtl_material {
    struct facet_span name;
    bool defined;
    uint32_t index; /* in the scene, FACET_SCENE_NONE until it is used */
    float color[3], glow[3], opacity, metallic;
    float roughness;           /* negative: from the exponent of the highlight */
    float exponent;            /* of the highlight; negative: not said */
    struct facet_span picture; /* of the colour; empty: none */
    bool clamp;
    bool gloss;        /* it would reflect */
    bool filter;       /* it colours the light that passes */
    unsigned textures; /* bits: rows of `maps` that it has */
};

/* Textures that are not read, by what they are for. */
static const struct {
    const char *words, *what;
} maps[] = {
    {" map_ka ", "ambient textures"},
    {" map_ks ", "specular textures"},
    {" map_ke map_emissive ", "emissive textures"},
    {" map_bump bump ", "bump textures"},
    {" norm map_kn map_norm ", "normal textures"},
    {" map_ns ", "shininess textures"},
    {" map_d map_tr ", "opacity textures"},
    {" disp map_disp ", "displacement textures"},
    {" refl map_refl ", "reflection textures"},
    {" map_pr map_pm map_rma map_orm ", "metallic and roughness textures"},
    {" map_ps map_pc map_pcr decal map_aniso map_tf map_ni ", "textures of other kinds"},
};

/* What changes nothing in a picture of ours: Ka is light that Facet does not have, illum names the
 * equation, Ni bends light inside, the rest shapes reflections. */
static const char nothing_lost[] = " ka illum ni sharpness ps pcr aniso anisor map_aat ";

/* ---- the materials by name ---- */

static int compare_names(const void *a, const void *b)
{
    const struct facet_span x = ((const struct facet_mtl_material *)a)->name;
    const struct facet_span y = ((const struct facet_mtl_material *)b)->name;

    return x.size != y.size ? (x.size > y.size) - (x.size < y.size) : memcmp(x.at, y.at, x.size);
}

struct facet_mtl_material *facet_mtl_find(struct facet_mtl *mtl, struct facet_span name)
{
    const struct facet_mtl_material plain = {
        .name = name,
        .index = FACET_SCENE_NONE,
        .color = {0.6F, 0.6F, 0.6F}, /* unless Kd says otherwise */
        .opacity = 1.0F,
        .roughness = -1.0F,
        .exponent = -1.0F};
    void *found = tfind(&plain, &mtl->tree, compare_names);
    struct facet_mtl_material *made;

    if (found != NULL) {
        return *(struct facet_mtl_material **)found;
    }
    made = malloc(sizeof *made);
    if (made != NULL) {
        *made = plain;
        if (tsearch(made, &mtl->tree, compare_names) == NULL) {
            free(made);
            made = NULL;
        }
    }
    return made;
}

/* ---- reading a library ---- */

struct parser {
    struct facet_mtl *mtl;
    const char *file;
    struct facet_text text;
    struct facet_mtl_material *material; /* NULL before the first newmtl */
};

static enum facet_status
leave_out(struct parser *p, const char *what, struct facet_span word, const char *why)
{
    char full[96], first[FACET_SCENE_NAME_BYTES];

    (void)snprintf(full, sizeof full, "%s%.*s", what, FACET_SPAN_ARGS(word, (size_t)36));
    (void)snprintf(first, sizeof first, "%.90s, line %u", p->file, p->text.line);
    return facet_scene_leave_out(p->mtl->scene, FACET_LOSS_LOOK, 1, full, first, why, p->mtl->err);
}

static enum facet_status out_of_memory(struct facet_mtl *mtl)
{
    return facet_fail(mtl->err, FACET_ERR_MEMORY, 0, "out of memory for materials");
}

/* One number for all three, or three. A colour may be given in ways that no program writes. */
static enum facet_status read_color(struct parser *p, struct facet_span keyword, float color[3])
{
    enum facet_status status = FACET_OK;
    struct facet_span word;
    unsigned count = 0;
    float value[3], more;

    while (facet_text_word(&p->text, &word) && word.at[0] != '#') {
        if (count == 0 && (facet_span_is(word, "spectral") || facet_span_is(word, "xyz"))) {
            return leave_out(
                p, "MTL colours given as ", word, "only red, green and blue are understood");
        }
        if (count == 3 || !facet_span_float(word, &value[count])) {
            break;
        }
        count++;
    }
    if (count == 3 && facet_span_float(word, &more)) { /* a fourth number: alpha, as some write */
        status = leave_out(p, "MTL numbers after the third of ", keyword, "a colour has three");
    } else if ((count != 1 && count != 3) || (word.size != 0 && word.at[0] != '#')) {
        return facet_fail(p->mtl->err,
                          FACET_ERR_INPUT,
                          p->text.line,
                          "%.200s, line %u: %.*s: expected one number or three%s%.*s",
                          p->file,
                          p->text.line,
                          FACET_SPAN_ARGS(keyword, (size_t)20),
                          word.size != 0 ? ", found " : "",
                          FACET_SPAN_ARGS(word, (size_t)40));
    }
    for (unsigned i = 0; i < 3; i++) {
        color[i] = value[count == 1 ? 0 : i];
    }
    return status;
}

static enum facet_status read_number(struct parser *p, struct facet_span keyword, float *value)
{
    struct facet_span word;

    (void)facet_text_word(&p->text, &word);
    if (!facet_span_float(word, value)) {
        return facet_fail(p->mtl->err,
                          FACET_ERR_INPUT,
                          p->text.line,
                          "%.200s, line %u: %.*s: expected a number, found \"%.*s\"",
                          p->file,
                          p->text.line,
                          FACET_SPAN_ARGS(keyword, (size_t)20),
                          FACET_SPAN_ARGS(word, (size_t)40));
    }
    return FACET_OK;
}

/* How many words belong to an option of a picture; -1: it is none. */
static int option_words(struct facet_span option)
{
    return facet_span_in(option, " -blendu -blendv -bm -boost -cc -clamp -imfchan -texres -type ")
               ? 1
           : facet_span_is(option, "-mm")        ? 2
           : facet_span_in(option, " -o -s -t ") ? 3
                                                 : -1;
}

/* The rest of the line; a name does not continue on the next one. */
static enum facet_status read_name(struct parser *p, const char *statement, struct facet_span *name)
{
    *name = facet_text_name(&p->text);
    return !facet_text_goes_on(&p->text)
               ? FACET_OK
               : facet_fail(p->mtl->err,
                            FACET_ERR_INPUT,
                            p->text.line,
                            "%.200s, line %u: %s: expected a name on one line, found \"%.*s\"",
                            p->file,
                            p->text.line,
                            statement,
                            FACET_SPAN_ARGS(*name, (size_t)40));
}

/* Options, then the name, which may hold blanks. */
static enum facet_status read_picture(struct parser *p)
{
    enum facet_status status = FACET_OK;
    struct facet_text before = p->text;
    struct facet_span option, word;
    float number;
    int words;

    p->material->clamp = false;
    while (status == FACET_OK && facet_text_word(&p->text, &option) &&
           (words = option_words(option)) >= 0) {
        before = p->text;
        for (int i = 0; i < words && facet_text_word(&p->text, &word); i++) {
            if (words == 3 && i != 0 && !facet_span_float(word, &number)) {
                break; /* -o, -s and -t may have one or two numbers */
            }
            if (facet_span_is(option, "-clamp")) {
                p->material->clamp = facet_span_is(word, "on");
            }
            before = p->text;
        }
        p->text = before;
        if (!facet_span_in(option, " -clamp -type ")) {
            status = leave_out(p, "MTL texture option ", option, "Facet does not use it");
        }
    }
    p->text = before;
    return status == FACET_OK ? read_name(p, "map_Kd", &p->material->picture) : status;
}

static bool is_dark(const float color[3])
{
    return color[0] == 0.0F && color[1] == 0.0F && color[2] == 0.0F;
}

/* A statement whose value may only tell that something is left out. */
static enum facet_status read_gloss(struct parser *p, struct facet_span keyword)
{
    float color[3] = {0.0F, 0.0F, 0.0F};
    enum facet_status status = read_color(p, keyword, color);

    if (facet_span_is_anycase(keyword, "Tf")) {
        p->material->filter = color[0] != 1.0F || color[1] != 1.0F || color[2] != 1.0F;
    } else {
        p->material->gloss = p->material->gloss || !is_dark(color);
    }
    return status;
}

static enum facet_status read_opacity(struct parser *p, struct facet_span keyword)
{
    const struct facet_text before = p->text;
    struct facet_span word;
    enum facet_status status = FACET_OK;

    if (facet_text_word(&p->text, &word) && facet_span_is(word, "-halo")) {
        status = leave_out(p, "MTL option ", word, "opacity is the same from every side");
    } else {
        p->text = before;
    }
    if (status == FACET_OK) {
        status = read_number(p, keyword, &p->material->opacity);
    }
    if (facet_span_is_anycase(keyword, "Tr")) {
        p->material->opacity = 1.0F - p->material->opacity;
    }
    return status;
}

static enum facet_status read_other(struct parser *p, struct facet_span keyword)
{
    char low[40] = "";
    struct facet_span word = {low, keyword.size};

    if (keyword.size < sizeof low) {
        for (size_t i = 0; i < keyword.size; i++) {
            low[i] = (char)(keyword.at[i] >= 'A' && keyword.at[i] <= 'Z' ? keyword.at[i] + 32
                                                                         : keyword.at[i]);
        }
        if (facet_span_in(word, nothing_lost)) {
            return FACET_OK;
        }
        for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
            if (facet_span_in(word, maps[i].words)) {
                p->material->textures |= 1U << i;
                return FACET_OK;
            }
        }
    }
    return leave_out(p, "MTL statement ", keyword, "Facet does not use it");
}

static enum facet_status read_statement(struct parser *p, struct facet_span keyword)
{
    struct facet_mtl_material *m = p->material;
    struct facet_span name;

    if (facet_span_is_anycase(keyword, "newmtl")) {
        enum facet_status status = read_name(p, "newmtl", &name);

        if (status != FACET_OK) {
            return status;
        }
        p->material = facet_mtl_find(p->mtl, name);
        if (p->material == NULL) {
            return out_of_memory(p->mtl);
        }
        p->material->defined = true;
        return FACET_OK;
    }
    if (m == NULL) {
        return leave_out(p,
                         "MTL statements before the first newmtl",
                         (struct facet_span){"", 0},
                         "they belong to no material");
    }
    if (facet_span_is_anycase(keyword, "Kd")) {
        return read_color(p, keyword, m->color);
    }
    if (facet_span_is_anycase(keyword, "Ke")) {
        return read_color(p, keyword, m->glow);
    }
    if (facet_span_in(keyword, " d D Tr tr TR ")) {
        return read_opacity(p, keyword);
    }
    if (facet_span_is_anycase(keyword, "Ns")) {
        return read_number(p, keyword, &m->exponent);
    }
    if (facet_span_is_anycase(keyword, "Pr")) {
        return read_number(p, keyword, &m->roughness);
    }
    if (facet_span_is_anycase(keyword, "Pm")) {
        return read_number(p, keyword, &m->metallic);
    }
    if (facet_span_is_anycase(keyword, "Ks") || facet_span_is_anycase(keyword, "Pc") ||
        facet_span_is_anycase(keyword, "Tf")) {
        return read_gloss(p, keyword);
    }
    return facet_span_is_anycase(keyword, "map_Kd") ? read_picture(p) : read_other(p, keyword);
}

static enum facet_status read_library(struct facet_mtl *mtl, const struct facet_mtl_library *from)
{
    struct parser p = {
        .mtl = mtl, .file = from->name, .text = facet_text_of(from->bytes.data, from->bytes.size)};
    enum facet_status status = FACET_OK;
    struct facet_span keyword;

    p.text.continues = true;
    do {
        if (facet_text_word(&p.text, &keyword) && keyword.at[0] != '#') {
            status = read_statement(&p, keyword);
        }
    } while (status == FACET_OK && facet_text_next_line(&p.text));
    return status;
}

static enum facet_status fetch_library(struct facet_mtl *mtl, struct facet_span name)
{
    struct facet_mtl_library *library = calloc(1, sizeof *library);
    enum facet_status status;

    if (library == NULL) {
        return out_of_memory(mtl);
    }
    facet_scene_beside_name(library->name, name);
    for (struct facet_mtl_library *old = mtl->libraries; old != NULL; old = old->next) {
        if (strcmp(old->name, library->name) == 0) {
            free(library);
            return FACET_OK;
        }
    }
    library->next = mtl->libraries;
    mtl->libraries = library;
    status = facet_scene_beside_fetch(mtl->reader,
                                      "material library",
                                      library->name,
                                      "plain materials are used instead",
                                      mtl->scene,
                                      &library->bytes,
                                      mtl->err);
    if (status == FACET_OK && library->bytes.data == NULL) {
        mtl->missing = true;
        return FACET_OK;
    }
    return status == FACET_OK ? read_library(mtl, library) : status;
}

enum facet_status facet_mtl_read(struct facet_mtl *mtl, struct facet_span names)
{
    struct facet_text line = {.at = names.at, .end = names.at + names.size};
    struct facet_span word, name = {NULL, 0};
    enum facet_status status = FACET_OK;

    while (status == FACET_OK && facet_text_word(&line, &word)) {
        name.at = name.at != NULL ? name.at : word.at;
        name.size = (size_t)(line.at - name.at);
        if (line.at == line.end || (word.size > 4 && strncasecmp(line.at - 4, ".mtl", 4) == 0)) {
            status = fetch_library(mtl, name);
            name.at = NULL;
        }
    }
    return status;
}

/* ---- into the scene ---- */

static enum facet_status
use_picture(struct facet_mtl *mtl, struct facet_span name, uint32_t *texture)
{
    struct facet_mtl_texture *item = calloc(1, sizeof *item);
    enum facet_status status;

    if (item == NULL) {
        return out_of_memory(mtl);
    }
    facet_scene_beside_name(item->name, name);
    for (struct facet_mtl_texture *old = mtl->textures; old != NULL; old = old->next) {
        if (strcmp(old->name, item->name) == 0) {
            *texture = old->texture;
            free(item);
            return FACET_OK;
        }
    }
    item->next = mtl->textures;
    mtl->textures = item;
    status = facet_scene_beside_texture(mtl->reader, item->name, mtl->scene, texture, mtl->err);
    item->texture = *texture;
    return status;
}

static enum facet_status note_unused(struct facet_mtl *mtl, const struct facet_mtl_material *m)
{
    enum facet_status status = FACET_OK;
    char where[FACET_SCENE_NAME_BYTES];

    (void)snprintf(where,
                   sizeof where,
                   "%s \"%.*s\"",
                   m->defined ? "material" : "usemtl",
                   FACET_SPAN_ARGS(m->name, (size_t)100));
    for (size_t i = 0; status == FACET_OK && i < sizeof maps / sizeof maps[0]; i++) {
        status = facet_scene_leave_out(mtl->scene,
                                       FACET_LOSS_LOOK,
                                       m->textures >> i & 1U,
                                       maps[i].what,
                                       where,
                                       "only the texture of the diffuse colour is read",
                                       mtl->err);
    }
    if (status == FACET_OK) {
        status = facet_scene_leave_out(mtl->scene,
                                       FACET_LOSS_LOOK,
                                       m->gloss || m->metallic != 0.0F,
                                       "reflections of metallic or smooth materials",
                                       where,
                                       "they are drawn matte",
                                       mtl->err);
    }
    if (status == FACET_OK) {
        status = facet_scene_leave_out(mtl->scene,
                                       FACET_LOSS_LOOK,
                                       m->filter,
                                       "transmission colours",
                                       where,
                                       "only the opacity of a material is used",
                                       mtl->err);
    }
    if (status == FACET_OK) {
        status = facet_scene_leave_out(mtl->scene,
                                       FACET_LOSS_LOOK,
                                       !m->defined && !mtl->missing && m->name.size != 0,
                                       "materials that no library defines",
                                       where,
                                       "they are drawn grey",
                                       mtl->err);
    }
    return status;
}

/* The width of a highlight with Blinn's exponent, as glTF's roughness describes it. */
static float roughness_of(const struct facet_mtl_material *m)
{
    if (m->roughness >= 0.0F) {
        return m->roughness;
    }
    return m->exponent > 0.0F ? (float)sqrt(sqrt(2.0 / ((double)m->exponent + 2.0))) : 1.0F;
}

enum facet_status
facet_mtl_use(struct facet_mtl *mtl, struct facet_mtl_material *material, uint32_t *index)
{
    struct facet_mtl_material *m = material;
    struct facet_scene_material out;
    enum facet_status status = FACET_OK;

    *index = m->index;
    if (m->index != FACET_SCENE_NONE) {
        return FACET_OK;
    }
    facet_scene_material_plain(&out);
    if (m->name.size != 0) {
        facet_scene_set_name(out.name, m->name.at, m->name.size);
    }
    for (unsigned i = 0; i < 3; i++) {
        out.base_color[i] = m->color[i];
        out.emissive[i] = m->glow[i];
    }
    out.base_color[3] = m->opacity;
    out.alpha_mode = m->opacity < 1.0F ? FACET_ALPHA_BLEND : FACET_ALPHA_OPAQUE;
    out.metallic = m->metallic;
    out.roughness = roughness_of(m);
    out.base_texture.wrap_u = out.base_texture.wrap_v =
        m->clamp ? FACET_WRAP_CLAMP : FACET_WRAP_REPEAT;
    if (m->picture.size != 0) {
        status = use_picture(mtl, m->picture, &out.base_texture.texture);
    }
    if (status == FACET_OK) {
        status = note_unused(mtl, m);
    }
    if (status == FACET_OK) {
        status = facet_scene_add_material(mtl->scene, &out, &m->index, mtl->err);
    }
    *index = m->index;
    return status;
}

void facet_mtl_free(struct facet_mtl *mtl)
{
    tdestroy(mtl->tree, facet_free); /* the bare name `free` would be that of the C library */
    mtl->tree = NULL;
    while (mtl->libraries != NULL) {
        struct facet_mtl_library *next = mtl->libraries->next;

        free(mtl->libraries->bytes.data);
        free(mtl->libraries);
        mtl->libraries = next;
    }
    while (mtl->textures != NULL) {
        struct facet_mtl_texture *next = mtl->textures->next;

        free(mtl->textures);
        mtl->textures = next;
    }
}
