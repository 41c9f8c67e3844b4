/* All parts of one work: see share.h. */
#include "share/internal.h"

#include <facet/version.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FILE_LIMIT ((size_t)1 << 40)

/* Whether every part is there once. */
static enum facet_status all_there(const struct facet_share_set *set, struct facet_error *err)
{
    const json_t *head = facet_share_set_head(set);
    const uint64_t parts = (uint64_t)json_integer_value(json_object_get(head, "parts"));

    for (size_t i = 0; i < set->count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (set->files[i].number == set->files[k].number) {
                return facet_fail(err,
                                  FACET_ERR_INPUT,
                                  0,
                                  "%s: is part %" PRIu32 " of %" PRIu64 ", which %s is already",
                                  set->files[i].name,
                                  set->files[i].number,
                                  parts,
                                  set->files[k].name);
            }
        }
    }
    for (uint64_t number = 1; number <= parts && set->count < parts; number++) {
        bool there = false;

        for (size_t i = 0; i < set->count; i++) {
            there |= set->files[i].number == number;
        }
        if (!there) {
            return facet_fail(err,
                              FACET_ERR_INPUT,
                              0,
                              "part %" PRIu64 " of %" PRIu64 " is missing",
                              number,
                              parts);
        }
    }
    return FACET_OK;
}

/* What units hold is nobody's business but that of the version that made them. */
static enum facet_status same_version(const struct facet_share_file *file, struct facet_error *err)
{
    const char *version = json_string_value(json_object_get(file->head, "facet"));

    return strcmp(version, facet_version()) == 0
               ? FACET_OK
               : facet_fail(err,
                            FACET_ERR_INPUT,
                            0,
                            "%s: was made by facet %.60s; this is %s",
                            file->name,
                            version,
                            facet_version());
}

enum facet_status facet_share_set_read(char *const *paths,
                                       size_t count,
                                       struct facet_share_set *set,
                                       struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    *set = (struct facet_share_set){.files = calloc(count + 1, sizeof *set->files)};
    if (set->files == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %zu parts", count);
    }
    for (size_t i = 0; i < count && status == FACET_OK; i++) {
        struct facet_share_file *file = &set->files[i];
        struct facet_bytes bytes = {0};

        status = facet_file_read(paths[i], FILE_LIMIT, &bytes, err);
        if (status == FACET_OK) {
            set->count++;
            status = facet_share_file_parse(paths[i], bytes, file, err);
        }
        if (status == FACET_OK) {
            status = same_version(file, err);
        }
        if (status == FACET_OK && i != 0) {
            status = facet_share_same_work(paths[i], file->head, paths[0], set->files[0].head, err);
        }
    }
    return status == FACET_OK ? all_there(set, err) : status;
}

void facet_share_set_free(struct facet_share_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        facet_share_file_free(&set->files[i]);
    }
    free(set->files);
    *set = (struct facet_share_set){0};
}

const json_t *facet_share_set_head(const struct facet_share_set *set)
{
    return set->files[0].head;
}

enum facet_status facet_share_set_unpack(const struct facet_share_set *set,
                                         const struct facet_units *units,
                                         struct facet_error *err)
{
    const json_t *head = facet_share_set_head(set);
    enum facet_status status = FACET_OK;

    if (units->items != (uint64_t)json_integer_value(json_object_get(head, "items")) ||
        units->grain != (uint64_t)json_integer_value(json_object_get(head, "grain"))) {
        return facet_fail(
            err, FACET_ERR_INPUT, 0, "%s: its head contradicts itself", set->files[0].name);
    }
    for (size_t i = 0; i < set->count; i++) {
        const struct facet_share_file *file = &set->files[i];
        struct facet_share_record record;

        for (size_t at = file->records; status == FACET_OK && at < file->bytes.size;) {
            const size_t begin = at;
            uint64_t end;

            (void)facet_share_get_record(&file->bytes, file->hash, &at, &record); /* sound */
            if (record.unit == (uint64_t)FACET_SHARE_MARK) {
                continue;
            }
            end = units->items - record.unit * units->grain > units->grain
                      ? (record.unit + 1) * units->grain
                      : units->items;
            status = units->unpack(
                units->context, record.unit * units->grain, end, record.bytes, record.size, err);
            if (status != FACET_OK) {
                facet_fail_in(err, file->name);
                err->where = begin;
            }
        }
    }
    return status;
}
