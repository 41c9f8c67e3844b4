/* See output.h. */
#include "command/output.h"

#include "base/file.h"
#include "base/new_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_is_stream(const char *path)
{
    return strcmp(path, "-") == 0;
}

bool cli_ends_with(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);

    return length >= tail && strcasecmp(path + length - tail, ending) == 0;
}

/* The folder that a file is made in, links followed; false with errno when there is none. */
static bool folder_of(const char *path, char *folder, size_t size)
{
    char *target = facet_file_target(path);
    const char *slash = target != NULL ? strrchr(target, '/') : NULL;
    int length = slash == NULL ? 1 : (int)(slash - target) + (slash == target);
    bool fits = target != NULL &&
                snprintf(folder, size, "%.*s", length, slash == NULL ? "." : target) < (int)size;

    errno = target != NULL ? ENAMETOOLONG : errno;
    free(target);
    return fits;
}

bool cli_can_write(const struct cli_args *args, const char *path)
{
    struct stat info;
    char folder[4096];

    if (path == NULL || cli_is_stream(path)) {
        return true;
    }
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode)) {
            (void)cli_bad(
                args, "%s: cannot create: it is a folder; expected a file to write", path);
            return false;
        }
        if (access(path, W_OK) != 0) {
            (void)cli_bad(args, "%s: cannot write: %s", path, strerror(errno));
            return false;
        }
        if (facet_file_in_place(path)) {
            return true;
        }
    }
    if (!folder_of(path, folder, sizeof folder)) {
        (void)cli_bad(args, "%s: cannot create: %s", path, strerror(errno));
        return false;
    }
    if (access(folder, W_OK | X_OK) != 0) {
        (void)cli_bad(args, "%s: cannot create in folder %s: %s", path, folder, strerror(errno));
        return false;
    }
    return true;
}

static bool is_file(const char *path)
{
    return path != NULL && !cli_is_stream(path);
}

bool cli_would_replace(const struct cli_args *args,
                       const char *output,
                       const char *other,
                       const char *what)
{
    if (!is_file(output) || !is_file(other) || !facet_file_same(output, other)) {
        return false;
    }
    (void)cli_bad(args, "%s is %s: choose another output", output, what);
    return true;
}
