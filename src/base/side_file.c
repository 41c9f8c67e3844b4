/* See side_file.h. The path is walked one component at a time with O_NOFOLLOW, so no name and no
 * link, not even one that changes meanwhile, leads out of the folder. */
#define _GNU_SOURCE
#include "base/side_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *facet_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    /* The slash of the root stays. */
    return strndup(path, slash != NULL ? (size_t)(slash - path) + (slash == path) : 0);
}

/* Opens one component below `folder` and closes `folder`. */
static int step_into(int folder, const char *component, int flags)
{
    /* O_NONBLOCK: a FIFO with such a name must not stop us. */
    int fd = openat(folder, component, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    int reason = errno;

    (void)close(folder);
    errno = reason;
    return fd;
}

/* Opens `name` below the folder `fd` with `flags`, and closes `fd`. */
static int walk(int fd, const char *name, int flags)
{
    char component[256];

    for (;;) {
        const char *slash = strchr(name, '/');
        size_t length = slash != NULL ? (size_t)(slash - name) : strlen(name);

        if (length >= sizeof component || (length == 0 && slash == NULL)) {
            (void)close(fd);
            errno = length == 0 ? EISDIR : ENAMETOOLONG;
            return -1;
        }
        memcpy(component, name, length);
        component[length] = '\0';
        if (strcmp(component, "..") == 0) {
            (void)close(fd);
            errno = EACCES;
            return -1;
        }
        if (slash == NULL) {
            return step_into(fd, component, flags);
        }
        if (length != 0 && strcmp(component, ".") != 0) {
            fd = step_into(fd, component, O_PATH | O_DIRECTORY);
            if (fd < 0) {
                return -1;
            }
        }
        name = slash + 1;
    }
}

static int open_below(const char *folder, const char *name, int flags)
{
    int fd = -1;

    if (name[0] == '/') {
        errno = EACCES;
    } else {
        fd = open(folder[0] != '\0' ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        fd = fd >= 0 ? walk(fd, name, flags) : fd;
    }
    return fd;
}

bool facet_side_file_exists(const char *folder, const char *name)
{
    const int fd = open_below(folder, name, O_PATH);

    if (fd < 0) {
        return errno != ENOENT;
    }
    (void)close(fd);
    return true;
}

static enum facet_status read_regular(
    int fd, const char *name, size_t limit, struct facet_bytes *out, struct facet_error *err)
{
    struct stat info;
    size_t at = 0;

    if (fstat(fd, &info) != 0) {
        return facet_fail(err, FACET_ERR_IO, 0, "%.200s: %s", name, strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "%.200s: not a regular file", name);
    }
    if ((uint64_t)info.st_size > limit) {
        return facet_fail(
            err, FACET_ERR_LIMIT, 0, "%.200s: larger than the limit of %zu bytes", name, limit);
    }
    out->data = malloc((size_t)info.st_size + 1);
    if (out->data == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "%.200s: out of memory", name);
    }
    while (at < (size_t)info.st_size) {
        ssize_t got = read(fd, out->data + at, (size_t)info.st_size - at);

        const int reason = errno;

        if (got < 0 && reason == EINTR) {
            continue;
        }
        if (got <= 0) {
            free(out->data);
            out->data = NULL;
            return facet_fail(err,
                              FACET_ERR_IO,
                              at,
                              "%.200s: %s",
                              name,
                              got < 0 ? strerror(reason) : "it became shorter");
        }
        at += (size_t)got;
    }
    out->data[at] = 0;
    out->size = at;
    return FACET_OK;
}

/* Why it cannot be opened, from errno. ENOTDIR is how a link in place of a folder shows. */
static enum facet_status explain(const char *name, struct facet_error *err)
{
    if (name[0] == '\0') {
        return facet_fail(err, FACET_ERR_INPUT, 0, "an empty name, expected that of a file");
    }
    switch (errno) {
    case EACCES:
    case ELOOP:
    case ENOTDIR:
    case ENXIO:
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "%.200s: only plain files in the same folder or below it are read",
                          name);
    case ENOENT:
    case EISDIR:
    case ENAMETOOLONG:
    case EINVAL:
        return facet_fail(err, FACET_ERR_INPUT, 0, "%.200s: %s", name, strerror(errno));
    default:
        return facet_fail(err, FACET_ERR_IO, 0, "%.200s: %s", name, strerror(errno));
    }
}

enum facet_status facet_side_file_read(const char *folder,
                                       const char *name,
                                       size_t limit,
                                       struct facet_bytes *out,
                                       struct facet_error *err)
{
    const int fd = open_below(folder, name, O_RDONLY);
    enum facet_status status;

    out->data = NULL;
    out->size = 0;
    if (fd < 0) {
        return explain(name, err);
    }
    status = read_regular(fd, name, limit, out, err);
    (void)close(fd);
    return status;
}

enum facet_status facet_folder_make(const char *path, struct facet_error *err)
{
    struct stat info;

    if (mkdir(path, 0777) != 0) {
        if (errno != EEXIST || stat(path, &info) != 0) {
            return facet_fail(
                err, FACET_ERR_IO, 0, "%s: cannot make this folder: %s", path, strerror(errno));
        }
        if (!S_ISDIR(info.st_mode)) {
            return facet_fail(err, FACET_ERR_IO, 0, "%s is a file; expected a folder", path);
        }
    }
    return access(path, W_OK | X_OK) == 0
               ? FACET_OK
               : facet_fail(err, FACET_ERR_IO, 0, "%s: %s", path, strerror(errno));
}
