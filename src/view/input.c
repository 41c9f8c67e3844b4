/* See input.h. */
#define _GNU_SOURCE /* strdup */
#include "view/input.h"

#include "base/side_file.h"
#include "command/output.h"
#include "rt_image/image.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES ((size_t)1 << 30)

/* ---- what the file is ---- */

/* Programs, kernels and lists go to the page as they are; it has the assembler and the readers. */
static bool goes_as_it_is(const char *path)
{
    static const char *const endings[] = {".s", ".asm", ".elf", ".o", ".json", ".hex"};
    bool found = false;

    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        found |= cli_ends_with(path, endings[i]);
    }
    return found;
}

static bool is_elf(const char *path)
{
    char magic[4] = {0};
    FILE *file = fopen(path, "rb");
    const bool elf = file != NULL && fread(magic, 1, sizeof magic, file) == sizeof magic &&
                     memcmp(magic, "\177ELF", sizeof magic) == 0;

    if (file != NULL) {
        (void)fclose(file);
    }
    return elf;
}

/* ---- files that a list names ---- */

static void add_beside(const char *folder, const char *name, struct view_shown *out);

/* Of `.include "NAME"` at the beginning of a line, as kernels have it. */
static void add_included(const char *folder, const char *text, struct view_shown *out)
{
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        char name[256];

        line += *line == '\n';
        if (sscanf(line, " .include \"%255[^\"\n]\"", name) == 1) {
            add_beside(folder, name, out);
        }
    }
}

static bool is_beside(const struct view_shown *out, const char *name)
{
    const struct view_beside *beside = out->beside.items;
    bool found = false;

    for (size_t i = 0; i < out->beside.count; i++) {
        found |= strcmp(beside[i].name, name) == 0;
    }
    return found;
}

/* What cannot be read is left out: the page then says that it does not have it. */
static void add_beside(const char *folder, const char *name, struct view_shown *out)
{
    struct view_beside one = {.name = NULL}, *place;
    struct facet_error err = {0};

    if (is_beside(out, name) ||
        facet_side_file_read(folder, name, MOST_BYTES, &one.file, &err) != FACET_OK) {
        return;
    }
    one.name = strdup(name);
    place = one.name != NULL ? facet_array_add(&out->beside, 1, sizeof *place) : NULL;
    if (place == NULL) {
        out->failed = true;
        free(one.name);
        free(one.file.data);
        return;
    }
    *place = one;
    if (cli_ends_with(name, ".s")) {
        add_included(folder, (const char *)one.file.data, out);
    }
}

/* The members of a buffer that name a file (docs/tile-draw.md). What is wrong with the list, the
 * page says. */
static void add_files_of_list(const char *path, struct view_shown *out)
{
    static const char *const members[] = {"file", "image", "assembly"};
    json_t *list = NULL, *buffer;
    char *folder = facet_folder_of(path);
    struct facet_error err = {0};
    const char *key;

    if (folder != NULL &&
        facet_json_parse(path, out->file.data, out->file.size, &list, &err) == FACET_OK) {
        json_object_foreach(json_object_get(list, "buffers"), key, buffer)
        {
            for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
                const char *name = json_string_value(json_object_get(buffer, members[i]));

                if (name != NULL) {
                    add_beside(folder, name, out);
                }
            }
            for (size_t i = 0; i < json_array_size(json_object_get(buffer, "code")); i++) {
                const json_t *line = json_array_get(json_object_get(buffer, "code"), i);

                if (json_is_string(line)) {
                    add_included(folder, json_string_value(line), out);
                }
            }
        }
    }
    json_decref(list);
    free(folder);
}

static bool read_as_it_is(const struct cli_args *args, const char *path, struct view_shown *out)
{
    static const char *const others[] = {"segment", "driver", "structure", "base", "root", NULL};
    struct facet_error err = {0};

    if (cli_useless(args, others, "is for BVH images, which %s is not by its name", path)) {
        return false;
    }
    if (facet_file_read(path, MOST_BYTES, &out->file, &err) != FACET_OK) {
        return cli_bad_error(args, &err) == CLI_OK;
    }
    out->bytes = out->file.data;
    out->size = out->file.size;
    (void)json_object_set_new(out->made, "kind", json_string("file"));
    if (cli_ends_with(path, ".json")) {
        add_files_of_list(path, out);
    }
    return !out->failed || cli_bad(args, "out of memory for the files of %s", path) == CLI_OK;
}

/* The pieces of an image that has several, as addresses and places in the bytes. */
static json_t *segments_json(const struct facet_gfx12_view *view)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < view->segment_count; i++) {
        const struct facet_gfx12_segment *s = &view->segments[i];
        const char *slash = s->name != NULL ? strrchr(s->name, '/') : NULL;
        json_t *one = json_object();

        (void)json_object_set_new(one, "address", facet_json_hex(s->address));
        (void)json_object_set_new(one, "offset", json_integer((json_int_t)s->offset));
        (void)json_object_set_new(one, "size", json_integer((json_int_t)s->size));
        if (s->name != NULL) {
            (void)json_object_set_new(
                one, "name", facet_json_name(slash != NULL ? slash + 1 : s->name));
        }
        (void)json_array_append_new(list, one);
    }
    return list;
}

/* ---- scenes ---- */

/* The page builds the image: in the place of one are the bytes of the scene. */
static bool take_scene(const struct cli_args *args, const char *path, struct facet_bytes *out)
{
    struct facet_error err = {0};

    return facet_file_read(path, MOST_BYTES, out, &err) == FACET_OK ||
           cli_bad_error(args, &err) == CLI_OK;
}

static void keep(void *context, const char *name, const struct facet_bytes *bytes)
{
    struct view_shown *out = context;
    struct view_beside one = {.name = strdup(name), .file = {malloc(bytes->size + 1), bytes->size}};
    struct view_beside *place = facet_array_add(&out->beside, 1, sizeof *place);

    if (one.name == NULL || one.file.data == NULL || place == NULL) {
        out->beside.count -= place != NULL;
        out->failed = true;
        free(one.name);
        free(one.file.data);
        return;
    }
    memcpy(one.file.data, bytes->data, bytes->size);
    *place = one;
}

static bool read_scene(const struct cli_args *args,
                       const char *path,
                       view_import *import,
                       struct view_shown *out)
{
    const struct facet_import_options options = {.inactive = true, .beside = keep, .context = out};

    if (!import(args, path, options)) {
        return false;
    }
    if (out->failed) {
        return cli_bad(args, "out of memory for the files of %s", path) == CLI_OK;
    }
    (void)json_object_set_new(out->made, "kind", json_string("scene"));
    return true;
}

/* The page reads a capture itself, as it is, and offers all of its structures. */
static bool read_capture(const struct cli_args *args, const char *path, struct view_shown *out)
{
    struct facet_error err = {0};

    if (facet_file_read(path, MOST_BYTES, &out->file, &err) != FACET_OK) {
        return cli_bad_error(args, &err) == CLI_OK;
    }
    out->bytes = out->file.data;
    out->size = out->file.size;
    (void)json_object_set_new(
        out->made, "structure", json_integer((json_int_t)out->bvh.driver.chosen));
    return true;
}

/* Structures of a driver: the bytes as it keeps them, and whose they are. The base only says which
 * piece has a header for sure. */
static void tell_driver(struct view_shown *out)
{
    const struct facet_gfx12_structures *d = &out->bvh.driver;
    const struct facet_gfx12_piece *chosen = facet_gfx12_structures_piece(d, d->chosen);

    out->bytes = d->original != NULL ? d->original : out->bytes;
    (void)json_object_set_new(
        out->made, "driver", json_string(facet_gfx12_driver_name(chosen->structure.driver)));
    (void)json_object_set_new(out->made, "structure", json_integer((json_int_t)d->chosen));
}

static bool read_image(const struct cli_args *args,
                       const char *path,
                       view_import *import,
                       struct view_shown *out)
{
    const struct facet_gfx12_view *view = &out->bvh.view;

    if (!session_bvh_read_or_make(args, path, take_scene, &out->bvh)) {
        return false;
    }
    out->bytes = view->bytes;
    out->size = (size_t)view->size;
    if (out->bvh.made) {
        return read_scene(args, path, import, out);
    }
    out->tiles = facet_rtbvh_is(out->bytes, out->size);
    if (out->tiles) {
        (void)json_object_set_new(out->made, "kind", json_string("tiles"));
        return true;
    }
    if (!session_bvh_has_root(args, &out->bvh)) {
        return false;
    }
    (void)json_object_set_new(out->made, "kind", json_string("bvh"));
    if (out->bvh.driver.capture) {
        return read_capture(args, path, out);
    }
    if (out->bvh.driver.count != 0) {
        tell_driver(out);
    }
    if (out->bvh.driver.count == 0 || cli_given(args, "root")) {
        (void)json_object_set_new(out->made, "root", json_integer(view->root));
    }
    (void)json_object_set_new(out->made, "base", facet_json_hex(view->base));
    if (view->segment_count > 0) {
        (void)json_object_set_new(out->made, "segments", segments_json(view));
    }
    return true;
}

bool view_shown_read(const struct cli_args *args,
                     const char *path,
                     view_import *import,
                     struct view_shown *out)
{
    *out = (struct view_shown){.made = json_object()};
    return path != NULL && (goes_as_it_is(path) || is_elf(path))
               ? read_as_it_is(args, path, out)
               : read_image(args, path, import, out);
}

void view_shown_free(struct view_shown *shown)
{
    struct view_beside *beside = shown->beside.items;

    for (size_t i = 0; i < shown->beside.count; i++) {
        free(beside[i].name);
        free(beside[i].file.data);
    }
    free(beside);
    json_decref(shown->made);
    free(shown->file.data);
    session_bvh_free(&shown->bvh);
}
