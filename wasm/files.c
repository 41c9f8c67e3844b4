/* base/side_file.h where there are no folders: the files that were given to the page together with
 * the one it reads. */
#include "base/side_file.h"

#include "base/array.h"
#include "wasm/page.h"

#include <stdlib.h>
#include <string.h>

struct file {
    char *name;
    uint8_t *bytes;
    size_t size;
};

static struct facet_array files; /* of struct file */

static void forget_all(void)
{
    struct file *f = files.items;

    for (size_t i = 0; i < files.count; i++) {
        free(f[i].name);
        free(f[i].bytes);
    }
    free(files.items);
    files = (struct facet_array){0};
}

int PAGE_EXPORT(page_files_clear)(void)
{
    forget_all();
    return page_done();
}

int PAGE_EXPORT(page_files_add)(const char *name, const uint8_t *bytes, size_t size)
{
    struct file file = {.name = strdup(name), .bytes = malloc(size + 1), .size = size};
    struct file *place = facet_array_add(&files, 1, sizeof *place);

    if (file.name == NULL || file.bytes == NULL || place == NULL) {
        files.count -= place != NULL;
        free(file.name);
        free(file.bytes);
        return page_no_memory("a file");
    }
    memcpy(file.bytes, bytes, size);
    file.bytes[size] = 0;
    *place = file;
    return page_done();
}

static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash != NULL ? slash + 1 : name;
}

/* Files that are dropped bring no folders along: the last part of a name is enough. */
static const struct file *find(const char *name)
{
    const struct file *f = files.items, *found = NULL;

    for (size_t i = 0; i < files.count; i++) {
        if (strcmp(f[i].name, name) == 0) {
            return &f[i];
        }
        if (strcmp(last_part(f[i].name), last_part(name)) == 0) {
            found = &f[i];
        }
    }
    return found;
}

/* Names that lead out of a folder are refused as where there are folders. */
static bool leads_out(const char *name)
{
    const char *up = strstr(name, "..");

    while (up != NULL && ((up != name && up[-1] != '/') || (up[2] != '/' && up[2] != '\0'))) {
        up = strstr(up + 1, "..");
    }
    return name[0] == '/' || up != NULL;
}

enum facet_status facet_side_file_read(const char *folder,
                                       const char *name,
                                       size_t limit,
                                       struct facet_bytes *out,
                                       struct facet_error *err)
{
    const struct file *file = find(name);

    (void)folder;
    *out = (struct facet_bytes){NULL, 0};
    if (name[0] == '\0') {
        return facet_fail(err, FACET_ERR_INPUT, 0, "an empty name, expected that of a file");
    }
    if (leads_out(name)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "%.200s: only plain files in the same folder or below it are read",
                          name);
    }
    if (file == NULL) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "%.200s: not there; open or drop it together with this file",
                          name);
    }
    if (file->size > limit) {
        return facet_fail(
            err, FACET_ERR_LIMIT, 0, "%.200s: larger than the limit of %zu bytes", name, limit);
    }
    out->data = malloc(file->size + 1);
    if (out->data == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "%.200s: out of memory", name);
    }
    memcpy(out->data, file->bytes, file->size + 1);
    out->size = file->size;
    return FACET_OK;
}

bool facet_side_file_exists(const char *folder, const char *name)
{
    (void)folder;
    return find(name) != NULL;
}
