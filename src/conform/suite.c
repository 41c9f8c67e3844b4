/* See suite.h. */
#include "conform/suite.h"

#include "base/file.h"
#include "base/hash.h"
#include "cards/area.h"
#include "isa/isa.h"
#include "json/reader.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUITE_LIMIT = 64 << 20, ROWS_LIMIT = 4 << 20, FORMAT = 1 };

const char *const conform_kind_name[CONFORM_KINDS] = {"elf", "tile", "list", "vector"};

/* ---- one case ---- */

static char *joined(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);

    if (path != NULL) {
        (void)snprintf(path, size, "%s/%s", folder, name);
    }
    return path;
}

/* Whether the text is a path that stays below the folder where it begins. */
static bool stays_below(const char *path)
{
    for (const char *part = path;; part++) {
        size_t length = strcspn(part, "/");

        if (length == 0 || (length == 2 && strncmp(part, "..", 2) == 0)) {
            return false;
        }
        part += length;
        if (*part == '\0') {
            return true;
        }
    }
}

/* A path inside the suite, or NULL after a complaint. */
static char *inside(struct facet_json_reader *r, const char *folder, const char *key)
{
    const char *name = facet_reader_string(r, key);
    char *path;

    if (r->status != FACET_OK) {
        return NULL;
    }
    if (!stays_below(name)) {
        facet_reader_refuse(
            r, key, FACET_READER_NO_INDEX, "expected a path inside the folder of the suite");
        return NULL;
    }
    path = joined(folder, name);
    if (path == NULL) {
        r->status = facet_fail(r->err, FACET_ERR_MEMORY, 0, "out of memory for a suite");
    }
    return path;
}

/* A name is part of a path for --signatures, and stands in reports as it is. */
static const char *name_of(struct facet_json_reader *r)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-";
    const char *name = facet_reader_string(r, "name");

    if (r->status == FACET_OK && (name[strspn(name, allowed)] != '\0' || !stays_below(name))) {
        facet_reader_refuse(r,
                            "name",
                            FACET_READER_NO_INDEX,
                            "expected letters, digits and ._+- in parts between slashes, no '..'");
    }
    return name;
}

static enum conform_kind kind_of(struct facet_json_reader *r)
{
    const char *word = facet_reader_string(r, "kind");

    for (unsigned k = 0; k < CONFORM_KINDS; k++) {
        if (r->status != FACET_OK || strcmp(word, conform_kind_name[k]) == 0) {
            return (enum conform_kind)k;
        }
    }
    facet_reader_refuse(r, "kind", FACET_READER_NO_INDEX, "expected elf, tile, list or vector");
    return CONFORM_ELF;
}

static void read_rows(struct facet_json_reader *r, struct conform_case *c)
{
    const json_t *list = json_object_get(r->object, "rows");

    if (r->status != FACET_OK) {
        return;
    }
    if (!json_is_array(list)) {
        facet_reader_refuse(r, "rows", FACET_READER_NO_INDEX, "expected a list of row IDs");
        return;
    }
    c->rows = calloc(json_array_size(list) + 1, sizeof *c->rows); /* random programs show none */
    if (c->rows == NULL) {
        r->status = facet_fail(r->err, FACET_ERR_MEMORY, 0, "out of memory for a suite");
        return;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *id = json_string_value(json_array_get(list, i));

        if (id == NULL || facet_requirement_find(id) == NULL) {
            facet_reader_refuse(r, "rows", i, "expected the ID of a requirement row");
            return;
        }
        c->rows[c->row_count++] = id;
    }
}

static void read_case(struct facet_json_reader *r, const char *folder, struct conform_case *c)
{
    static const char *const keys[] = {
        "name", "kind", "source", "config", "rows", "file", "signature"};

    FACET_READER_ONLY(r, keys);
    c->name = name_of(r);
    c->kind = kind_of(r);
    c->source = facet_reader_string(r, "source");
    c->config =
        json_object_get(r->object, "config") != NULL ? facet_reader_string(r, "config") : "";
    read_rows(r, c);
    c->path = inside(r, folder, "file");
    c->signature = inside(r, folder, "signature");
}

/* ---- rows.tsv ---- */

static enum facet_status read_reasons(struct conform_suite *suite, struct facet_error *err)
{
    struct facet_bytes bytes = {0};
    char *path = joined(suite->folder, "rows.tsv"), *line, *rest;
    enum facet_status status;
    uint64_t number = 0;

    suite->reasons = calloc(facet_requirement_row_count, sizeof *suite->reasons);
    if (path == NULL || suite->reasons == NULL) {
        free(path);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a suite");
    }
    status = facet_file_read(path, ROWS_LIMIT, &bytes, err);
    suite->reason_text = (char *)bytes.data;
    for (line = suite->reason_text; status == FACET_OK && line != NULL && line[0] != '\0';
         line = rest) {
        char *tab;
        const struct facet_requirement_row *row;

        number++;
        rest = strchr(line, '\n');
        if (rest != NULL) {
            *rest++ = '\0';
        }
        if (line[0] == '#' || line[0] == '\0' || number == 1) { /* the first names the columns */
            continue;
        }
        tab = strchr(line, '\t');
        if (tab != NULL) {
            *tab++ = '\0';
        }
        row = facet_requirement_find(line);
        if (tab == NULL || tab[0] == '\0' || row == NULL) {
            status = facet_fail(err,
                                FACET_ERR_INPUT,
                                number,
                                "%s:%llu: expected the ID of a row, a tab and a reason",
                                path,
                                (unsigned long long)number);
            break;
        }
        suite->reasons[row - facet_requirement_rows] = tab;
    }
    free(path);
    return status;
}

/* ---- the suite ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct conform_case *)a)->name, ((const struct conform_case *)b)->name);
}

static enum facet_status
read_cases(struct conform_suite *suite, const char *path, struct facet_error *err)
{
    struct facet_json_reader root = {.object = suite->root, .err = err};
    const json_t *list = json_object_get(suite->root, "cases");

    if (facet_reader_get(&root, "format", 16) != FORMAT && root.status == FACET_OK) {
        facet_reader_refuse(&root, "format", FACET_READER_NO_INDEX, "expected 1");
    }
    if (!json_is_array(list)) {
        facet_reader_refuse(&root, "cases", FACET_READER_NO_INDEX, "expected a list");
    }
    if (root.status != FACET_OK) {
        facet_fail_in(err, path);
        return root.status;
    }
    suite->cases = calloc(json_array_size(list) + 1, sizeof *suite->cases);
    if (suite->cases == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a suite");
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct facet_json_reader r = facet_reader_enter(&root, json_array_get(list, i), "cases", i);

        suite->case_count++;
        read_case(&r, suite->folder, &suite->cases[i]);
        if (r.status != FACET_OK) {
            facet_fail_in(err, path);
            return r.status;
        }
    }
    qsort(suite->cases, suite->case_count, sizeof *suite->cases, by_name);
    for (size_t i = 1; i < suite->case_count; i++) {
        if (strcmp(suite->cases[i - 1].name, suite->cases[i].name) == 0) {
            return facet_fail(
                err, FACET_ERR_INPUT, i, "%s: two cases are called %s", path, suite->cases[i].name);
        }
    }
    return FACET_OK;
}

enum facet_status
conform_suite_read(const char *folder, struct conform_suite *suite, struct facet_error *err)
{
    struct facet_bytes bytes = {0};
    enum facet_status status;
    char *path = joined(folder, "suite.json");

    *suite = (struct conform_suite){.folder = strdup(folder)};
    if (path == NULL || suite->folder == NULL) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a suite");
    } else {
        status = facet_file_read(path, SUITE_LIMIT, &bytes, err);
    }
    if (status == FACET_OK) {
        suite->hash = facet_hash_bytes(bytes.data, bytes.size, 0);
        status = facet_json_parse(path, bytes.data, bytes.size, &suite->root, err);
    }
    status = status == FACET_OK ? read_cases(suite, path, err) : status;
    status = status == FACET_OK ? read_reasons(suite, err) : status;
    free(bytes.data);
    free(path);
    return status;
}

/* ---- away from its folder ---- */

json_t *conform_suite_frame(const struct conform_suite *suite)
{
    json_t *reasons = json_object();

    for (size_t i = 0; i < facet_requirement_row_count; i++) {
        if (suite->reasons[i] != NULL) {
            (void)json_object_set_new(
                reasons, facet_requirement_rows[i].id, facet_json_name(suite->reasons[i]));
        }
    }
    return json_pack("{s:O, s:o}", "suite", suite->root, "reasons", reasons);
}

enum facet_status conform_suite_from(const json_t *frame,
                                     const char *name,
                                     struct conform_suite *suite,
                                     struct facet_error *err)
{
    json_t *root = json_object_get(frame, "suite"), *reasons = json_object_get(frame, "reasons");
    enum facet_status status = FACET_OK;
    const char *id;
    json_t *reason;

    *suite = (struct conform_suite){
        .folder = strdup(name),
        .root = json_incref(root),
        .reasons = calloc(facet_requirement_row_count, sizeof *suite->reasons)};
    if (suite->folder == NULL || suite->reasons == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a suite");
    }
    json_object_foreach(reasons, id, reason)
    {
        const struct facet_requirement_row *row = facet_requirement_find(id);

        if (row == NULL || !json_is_string(reason)) {
            status = facet_fail(err, FACET_ERR_INPUT, 0, "%s: has a reason for no row", name);
            break;
        }
        suite->reasons[row - facet_requirement_rows] = json_string_value(reason);
    }
    return status == FACET_OK ? read_cases(suite, name, err) : status;
}

static enum facet_status hash_file(const char *path, uint64_t *hash, struct facet_error *err)
{
    struct facet_bytes bytes = {0};
    enum facet_status status = facet_file_read(path, SUITE_LIMIT, &bytes, err);

    if (status == FACET_OK) {
        *hash = facet_hash_bytes(bytes.data, bytes.size, *hash);
    }
    free(bytes.data);
    return status;
}

static int in_order(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static enum facet_status hash_folder(const char *path, uint64_t *hash, struct facet_error *err)
{
    struct dirent **entries = NULL;
    const int count = scandir(path, &entries, NULL, in_order);
    enum facet_status status = FACET_OK;

    if (count < 0) {
        return facet_fail(err, FACET_ERR_IO, 0, "%s: %s", path, strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        char *file = joined(path, entries[i]->d_name);
        struct stat info;

        if (file == NULL) {
            status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a suite");
        } else if (status == FACET_OK && stat(file, &info) == 0 && S_ISREG(info.st_mode)) {
            *hash = facet_hash_bytes(entries[i]->d_name, strlen(entries[i]->d_name), *hash);
            status = hash_file(file, hash, err);
        }
        free(file);
        free(entries[i]);
    }
    free(entries);
    return status;
}

enum facet_status
conform_case_hash(const struct conform_case *c, uint64_t *hash, struct facet_error *err)
{
    struct stat info;
    enum facet_status status = stat(c->path, &info) == 0 && S_ISDIR(info.st_mode)
                                   ? hash_folder(c->path, hash, err)
                                   : hash_file(c->path, hash, err);

    return status == FACET_OK ? hash_file(c->signature, hash, err) : status;
}

void conform_suite_free(struct conform_suite *suite)
{
    for (size_t i = 0; i < suite->case_count; i++) {
        free(suite->cases[i].rows);
        free(suite->cases[i].path);
        free(suite->cases[i].signature);
    }
    free(suite->cases);
    free(suite->folder);
    free(suite->reasons);
    free(suite->reason_text);
    json_decref(suite->root);
    *suite = (struct conform_suite){0};
}

void conform_suite_folder(char *buf, size_t size)
{
    char self[4000];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    self[length > 0 ? length : 0] = '\0';
    slash = strrchr(self, '/');
    (void)snprintf(buf, size, "%.*s/conformance", slash != NULL ? (int)(slash - self) : 0, self);
}

bool conform_case_about(const struct conform_case *c, const char *area, const char *row)
{
    if (area == NULL && row == NULL) {
        return true; /* also a case that shows no row */
    }
    for (size_t i = 0; i < c->row_count; i++) {
        const struct facet_requirement_row *r = facet_requirement_find(c->rows[i]);

        if (facet_card_area_has(area, r) && (row == NULL || facet_card_area_asked(row, r))) {
            return true;
        }
    }
    return false;
}
