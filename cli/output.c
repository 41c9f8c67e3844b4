/* See output.h. */
#include "cli/output.h"

#include "base/file.h"

#include <errno.h>
#include <stdio.h>
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

/* The folder that a path names a file of; false when it does not fit. */
static bool folder_of(const char *path, char *folder, size_t size)
{
    const char *slash = strrchr(path, '/');
    int length = slash == NULL ? 1 : (int)(slash - path) + (slash == path);

    return snprintf(folder, size, "%.*s", length, slash == NULL ? "." : path) < (int)size;
}

bool cli_can_write(const struct cli_args *args, const char *path)
{
    struct stat info;
    char folder[4096];

    if (path == NULL || cli_is_stream(path)) {
        return true;
    }
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        if (S_ISDIR(info.st_mode)) {
            (void)cli_bad(
                args, "%s: cannot create: it is a folder; expected a file to write", path);
        } else if (access(path, W_OK) != 0) { /* devices and pipes are written into */
            (void)cli_bad(args, "%s: cannot write: %s", path, strerror(errno));
        } else {
            return true;
        }
        return false;
    }
    if (!folder_of(path, folder, sizeof folder)) {
        (void)cli_bad(args, "%s: cannot create: %s", path, strerror(ENAMETOOLONG));
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

void cli_take_back(const char *path)
{
    struct stat info;

    if (!cli_is_stream(path) && stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
        (void)remove(path);
    }
}
