/* Cases as files: see campaign.h. */
#include "fuzz/campaign.h"

#include "base/file.h"
#include "base/side_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- parts ---- */

enum facet_status facet_fuzz_put(struct facet_fuzz_files *files,
                                 const char *end,
                                 const void *data,
                                 size_t size,
                                 struct facet_error *err)
{
    uint8_t *copy = malloc(size + 1);
    size_t at = 0;

    while (at < files->count && strcmp(files->part[at].end, end) != 0) {
        at++;
    }
    if (copy == NULL || at == FACET_FUZZ_MAX_PARTS) {
        free(copy);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a case");
    }
    if (size != 0) {
        memcpy(copy, data, size);
    }
    free(files->part[at].data);
    files->part[at].end = end;
    files->part[at].data = copy;
    files->part[at].size = size;
    files->count += at == files->count;
    return FACET_OK;
}

enum facet_status facet_fuzz_put_text(struct facet_fuzz_files *files,
                                      const char *end,
                                      const struct facet_strbuf *text,
                                      struct facet_error *err)
{
    return text->failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a case")
                        : facet_fuzz_put(files, end, facet_strbuf_text(text), text->length, err);
}

void facet_fuzz_files_free(struct facet_fuzz_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->part[i].data);
    }
    files->count = 0;
}

/* ---- a case ---- */

static enum facet_status
write_parts(const struct facet_fuzz_files *files, const char *path, struct facet_error *err)
{
    static const size_t room = FACET_FUZZ_PATH + 32;
    char *names = calloc(FACET_FUZZ_MAX_PARTS, room);
    struct facet_file_part parts[FACET_FUZZ_MAX_PARTS];
    enum facet_status status = FACET_OK;

    if (names == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a case");
    }
    for (size_t i = 0; i < files->count && status == FACET_OK; i++) {
        char *name = names + i * room;

        (void)snprintf(name, room, "%s%s", path, files->part[i].end);
        parts[i] = (struct facet_file_part){name, files->part[i].data, files->part[i].size};
        if (i == 0 && files->part[i].end[0] == '/') {
            status = facet_folder_make(path, err);
        }
    }
    status = status == FACET_OK ? facet_file_write_all(parts, files->count, err) : status;
    free(names);
    return status;
}

/* A case without its answer is none. */
static void remove_parts(const struct facet_fuzz_files *files, const char *path)
{
    char name[FACET_FUZZ_PATH + 32];

    for (size_t i = 0; i < files->count; i++) {
        (void)snprintf(name, sizeof name, "%s%s", path, files->part[i].end);
        (void)remove(name);
    }
    if (files->count != 0 && files->part[0].end[0] == '/') {
        (void)rmdir(path);
    }
}

/* What the plain way answers, as a file beside the others. */
static enum facet_status write_answer(const struct facet_fuzz_kind *kind,
                                      const struct facet_fuzz_case *c,
                                      struct facet_fuzz_files *files,
                                      const char *path,
                                      bool *answered,
                                      struct facet_error *err)
{
    char name[FACET_FUZZ_PATH + 32], signature[FACET_FUZZ_PATH + 32];
    const struct conform_case own = {
        .name = "case", .kind = kind->conform, .config = "full", .path = name};
    struct conform_result result = {.verdict = CONFORM_PASS};
    struct conform_words words = {0};
    struct facet_strbuf text;
    enum facet_status status;

    (void)snprintf(name, sizeof name, "%s%s", path, kind->end);
    (void)snprintf(signature, sizeof signature, "%s.signature", path);
    facet_strbuf_init(&text);
    status = conform_facet(&own, true, &words, &result, err);
    *answered = status == FACET_OK && result.verdict == CONFORM_PASS;
    for (size_t i = 0; i < words.count; i++) {
        facet_strbuf_printf(&text, "%08" PRIx32 "\n", words.word[i]);
    }
    if (*answered && kind->finish != NULL) {
        status = kind->finish(c, &words, files, err);
        status = status == FACET_OK ? write_parts(files, path, err) : status;
    }
    if (status == FACET_OK && text.failed) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a signature");
    } else if (status == FACET_OK && *answered) {
        status = facet_file_write(signature, facet_strbuf_text(&text), text.length, err);
    }
    facet_strbuf_free(&text);
    free(words.word);
    return status;
}

enum facet_status facet_fuzz_write(const struct facet_fuzz_kind *kind,
                                   const struct facet_fuzz_case *c,
                                   const char *folder,
                                   char path[FACET_FUZZ_PATH],
                                   bool *answered,
                                   struct facet_error *err)
{
    static const char *const format = "%s/%s-%" PRIu64 "-%" PRIu64;
    struct facet_fuzz_files files = {.count = 0};
    enum facet_status status = facet_folder_make(folder, err);

    *answered = false;
    if (status == FACET_OK &&
        snprintf(path, FACET_FUZZ_PATH, format, folder, kind->name, c->seed, c->number) >=
            FACET_FUZZ_PATH) {
        status = facet_fail(err, FACET_ERR_INPUT, 0, "%s: the name is too long", folder);
    }
    status = status == FACET_OK ? kind->files(c, &files, err) : status;
    status = status == FACET_OK ? write_parts(&files, path, err) : status;
    if (status == FACET_OK) {
        status = write_answer(kind, c, &files, path, answered, err);
        if (status != FACET_OK) {
            remove_parts(&files, path);
        }
    }
    facet_fuzz_files_free(&files);
    return status;
}

/* ---- the suite ---- */

void facet_fuzz_suite_add(struct facet_strbuf *suite,
                          const struct facet_fuzz_kind *kind,
                          const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;

    facet_strbuf_printf(suite,
                        "%s\n{\"name\": \"%s\", \"kind\": \"%s\", \"source\": "
                        "\"reference-run\", \"rows\": [], \"file\": \"%s%s\", "
                        "\"signature\": \"%s.signature\"}",
                        suite->length == 0 ? "{\"format\": 1, \"cases\": [" : ",",
                        name,
                        conform_kind_name[kind->conform],
                        name,
                        kind->end,
                        name);
}

enum facet_status facet_fuzz_suite_write(const struct facet_strbuf *suite,
                                         const char *folder,
                                         struct facet_error *err)
{
    static const char rows[] = "id\treason\n";
    char names[2][FACET_FUZZ_PATH + 16];
    struct facet_strbuf whole;
    enum facet_status status;

    if (suite->length == 0) {
        return FACET_OK;
    }
    facet_strbuf_init(&whole);
    facet_strbuf_printf(&whole, "%s\n]}\n", facet_strbuf_text(suite));
    (void)snprintf(names[0], sizeof names[0], "%s/suite.json", folder);
    (void)snprintf(names[1], sizeof names[1], "%s/rows.tsv", folder);
    if (suite->failed || whole.failed) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a suite");
    } else {
        const struct facet_file_part parts[] = {{names[0], facet_strbuf_text(&whole), whole.length},
                                                {names[1], rows, sizeof rows - 1}};

        status = facet_file_write_all(parts, 2, err);
    }
    facet_strbuf_free(&whole);
    return status;
}
