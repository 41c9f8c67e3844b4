/* A file in the making. Until it is whole it has no name at all (O_TMPFILE), so that nothing is
 * left of it when the program ends, by whatever signal; only where the file system cannot do that
 * it has a temporary one. Then it takes the place of what its name meant before:
 *
 * - Permission bits and group of an old file stay, and its owner where the host allows that. Where
 *   the group cannot stay, its members lose what others may not do either.
 * - A symbolic link stays and what it points to is replaced, or made.
 * - Other hard links to an old file keep the old bytes: a file cannot be replaced in one step under
 *   several names. Access lists and extended attributes are those of a new file.
 * - An old file that may not be written is not replaced, although its folder would allow it.
 * - Devices and pipes, and what /proc/self/fd (and with it /dev/stdout) points to, are written in
 *   place.
 *
 * A new name for an old file means two steps, a temporary link and rename(); a SIGKILL or a power
 * cut in between leaves the link, which is the whole new file. */
#ifndef FACET_BASE_NEW_FILE_H
#define FACET_BASE_NEW_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct facet_new_file {
    int fd;                      /* to write to; -1: closed */
    const char *name;            /* as it was given, for messages; the caller's */
    char *path;                  /* where it will be: links followed; NULL: written in place */
    char *temporary;             /* the name that it has already; NULL: none */
    struct stat old;             /* of the file that it replaces; no mode: none */
    bool linked;                 /* has its own name, which nothing had before */
    struct facet_new_file *next; /* of those that have temporary names */
};

/* What path names when links are followed, malloc()ed; nothing need be there. NULL with errno set
 * when there is no memory, or links form a cycle. */
char *facet_file_target(const char *path);
/* Whether a file of that name is written in place: a device, a pipe, a descriptor of /proc. */
bool facet_file_in_place(const char *path);

/* Opens it for writing. `nameless` asks for no name until it is whole, which costs a descriptor
 * until then. On failure it is discarded. It must not move until committed or discarded. */
enum facet_status facet_new_file_open(struct facet_new_file *file,
                                      const char *path,
                                      bool nameless,
                                      struct facet_error *err);
/* Writes bytes at a place of it, which is none that is written in place; threads may each write
 * their own. It is not discarded on failure. */
enum facet_status facet_new_file_put(const struct facet_new_file *file,
                                     uint64_t at,
                                     const void *data,
                                     size_t size,
                                     struct facet_error *err);
/* Everything has been written: gives it its permissions and syncs it. On failure it is discarded.
 */
enum facet_status facet_new_file_complete(struct facet_new_file *file, struct facet_error *err);
/* Complete files take their names, all or none as far as the host allows. Signals wait for the end
 * of it. Frees them, also on failure. */
enum facet_status
facet_new_files_commit(struct facet_new_file *const *files, size_t count, struct facet_error *err);
/* Nothing of it is left; nothing happens when it is discarded already. */
void facet_new_file_discard(struct facet_new_file *file);

#endif
