/* Whole-file input and atomic output: a file appears complete under its name or not at all, and
 * keeps permissions and links of the one it replaces (new_file.h). */
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

/* "-" writes to standard output. On failure nothing is left behind and an old file of that name is
 * untouched. */
enum facet_status
facet_file_write(const char *path, const void *data, size_t size, struct facet_error *err);

/* Several files that belong together: each is complete before the first takes its name. On failure
 * nothing is left behind and no old file is touched, unless the host refuses to rename a file that
 * it let us write. What "-", devices and pipes were given cannot be taken back; they come after the
 * other files are written and before these take their names. */
struct facet_file_part {
    const char *path;
    const void *data;
    size_t size;
};

enum facet_status
facet_file_write_all(const struct facet_file_part *parts, size_t count, struct facet_error *err);
/* The same with one more, whose bytes are written already. It ends here, also on failure; NULL:
 * none. */
struct facet_new_file;
enum facet_status facet_file_write_with(struct facet_new_file *made,
                                        const struct facet_file_part *parts,
                                        size_t count,
                                        struct facet_error *err);

/* For a signal handler that ends the program, and safe there: removes the temporary names that
 * files in the making have where a file system needs them, and lets no file take its name any more.
 * A set of files that is just taking its names does so first. Call it once, then end the process at
 * once: another thread that writes a file waits forever. */
void facet_file_abandon(void);

/* Whether writing to one name would replace what the other names: the same file by whatever path
 * or link, or a file yet to be made of the same name in the same folder. Devices and pipes never
 * are: writing to them replaces nothing. */
bool facet_file_same(const char *path, const char *other);

#endif
