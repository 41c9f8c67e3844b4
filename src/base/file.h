/* Whole-file input and atomic output: a file appears complete under its name or not at all. */
#ifndef FACET_BASE_FILE_H
#define FACET_BASE_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct facet_bytes {
    uint8_t *data; /* one extra NUL byte follows data[size - 1] */
    size_t size;
};

/* Reads a regular file, a pipe, or standard input for "-". Refuses more than `limit` bytes. Free
 * data with free(). */
enum facet_status
facet_file_read(const char *path, size_t limit, struct facet_bytes *out, struct facet_error *err);

/* Writes to a temporary name in the same folder, syncs, renames. "-" writes to standard output. On
 * failure nothing is left behind and an old file of that name is untouched. */
enum facet_status
facet_file_write(const char *path, const void *data, size_t size, struct facet_error *err);

/* Several files that belong together: each is complete under its temporary name before the first
 * takes its own. On failure nothing is left behind and no old file is touched, unless the host
 * refuses to rename a file that it let us write. What "-", devices and pipes were given cannot be
 * taken back; they come after the temporary files and before the renames. */
struct facet_file_part {
    const char *path;
    const void *data;
    size_t size;
};

enum facet_status
facet_file_write_all(const struct facet_file_part *parts, size_t count, struct facet_error *err);

/* Whether writing to one name would replace what the other names: the same file by whatever path
 * or link, or a file yet to be made of the same name in the same folder. Devices and pipes never
 * are: writing to them replaces nothing. */
bool facet_file_same(const char *path, const char *other);

#endif
