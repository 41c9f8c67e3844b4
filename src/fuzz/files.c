/* Cases as files: see campaign.h. */
#include "fuzz/campaign.h"

#include "base/file.h"
#include "base/side_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What belongs to a case, and where it goes. */
struct parts {
    struct facet_strbuf text, signature;
    struct facet_blob elf;
    char names[3][FACET_FUZZ_PATH + 16];
    struct facet_file_part part[3];
    size_t count;
};

static void
add(struct parts *p, const char *path, const char *suffix, const void *data, size_t size)
{
    char *name = p->names[p->count];

    (void)snprintf(name, sizeof p->names[0], "%s%s", path, suffix);
    p->part[p->count++] = (struct facet_file_part){name, data, size};
}

static enum facet_status collect(struct parts *p,
                                 const struct facet_fuzz_kind *kind,
                                 const struct facet_fuzz_case *c,
                                 const char *path,
                                 struct facet_error *err)
{
    void *runner = NULL;
    enum facet_status status = kind->text(c, &p->text, err);

    if (status == FACET_OK) {
        add(p, path, kind->suffix, facet_strbuf_text(&p->text), p->text.length);
    }
    if (status == FACET_OK && kind->program != NULL) {
        status = kind->open(NULL, &runner, err);
        if (status == FACET_OK) {
            status = kind->program(runner, c, &p->elf, &p->signature, err);
        }
        kind->close(runner);
        if (status == FACET_OK) {
            add(p, path, ".elf", p->elf.data, p->elf.size);
            add(p, path, ".signature", facet_strbuf_text(&p->signature), p->signature.length);
        }
    }
    return status;
}

enum facet_status facet_fuzz_write(const struct facet_fuzz_kind *kind,
                                   const struct facet_fuzz_case *c,
                                   const char *folder,
                                   char path[FACET_FUZZ_PATH],
                                   struct facet_error *err)
{
    static const char *const format = "%s/%s-%" PRIu64 "-%" PRIu64;
    struct parts parts = {.count = 0};
    enum facet_status status = facet_folder_make(folder, err);

    if (status == FACET_OK &&
        snprintf(path, FACET_FUZZ_PATH, format, folder, kind->name, c->seed, c->number) >=
            FACET_FUZZ_PATH) {
        status = facet_fail(err, FACET_ERR_INPUT, 0, "%s: the name is too long", folder);
    }
    facet_strbuf_init(&parts.text);
    facet_strbuf_init(&parts.signature);
    if (status == FACET_OK) {
        status = collect(&parts, kind, c, path, err);
    }
    if (status == FACET_OK) {
        status = facet_file_write_all(parts.part, parts.count, err);
    }
    facet_strbuf_free(&parts.text);
    facet_strbuf_free(&parts.signature);
    facet_blob_free(&parts.elf);
    return status;
}

enum facet_status facet_fuzz_write_suite(const struct facet_fuzz_kind *kind,
                                         const char *folder,
                                         const char *const *paths,
                                         size_t count,
                                         struct facet_error *err)
{
    static const char rows[] = "id\treason\n";
    char names[2][FACET_FUZZ_PATH + 16];
    struct facet_strbuf suite;
    enum facet_status status = FACET_OK;

    if (kind->program == NULL) {
        return FACET_OK;
    }
    facet_strbuf_init(&suite);
    facet_strbuf_puts(&suite, "{\"format\": 1, \"cases\": [");
    for (size_t i = 0; i < count; i++) {
        const char *name = paths[i] + strlen(folder) + 1;

        facet_strbuf_printf(&suite,
                            "%s\n{\"name\": \"%s\", \"kind\": \"elf\", \"source\": "
                            "\"reference-run\", \"rows\": [], \"file\": \"%s.elf\", "
                            "\"signature\": \"%s.signature\"}",
                            i == 0 ? "" : ",",
                            name,
                            name,
                            name);
    }
    facet_strbuf_puts(&suite, "\n]}\n");
    (void)snprintf(names[0], sizeof names[0], "%s/suite.json", folder);
    (void)snprintf(names[1], sizeof names[1], "%s/rows.tsv", folder);
    if (suite.failed) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a suite");
    } else {
        const struct facet_file_part parts[] = {{names[0], facet_strbuf_text(&suite), suite.length},
                                                {names[1], rows, sizeof rows - 1}};

        status = facet_file_write_all(parts, 2, err);
    }
    facet_strbuf_free(&suite);
    return status;
}
