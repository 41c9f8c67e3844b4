/* See side_file.h. The path is walked one component at a time with O_NOFOLLOW, so no name and no
 * link, not even one that changes meanwhile, leads out of the folder. */
#define _GNU_SOURCE
#include "scene/side_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    char *folder = length != 0 ? strndup(path, length) : strdup(".");
    int fd;

    if (folder == NULL) {
        errno = ENOMEM;
        return -1;
    }
    fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    return fd;
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

static int open_below(int fd, const char *name)
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
            return step_into(fd, component, O_RDONLY);
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

/* Whether the name is to blame, not the host. */
static bool is_bad_name(int reason)
{
    return reason == ENOENT || reason == ENOTDIR || reason == EISDIR || reason == ENAMETOOLONG ||
           reason == ENXIO || reason == EINVAL;
}

static enum facet_status read_regular(
    int fd, const char *name, size_t limit, struct facet_bytes *out, struct facet_error *err)
{
    struct stat info;
    size_t at = 0;

    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
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

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            free(out->data);
            out->data = NULL;
            return facet_fail(err, FACET_ERR_IO, at, "%.200s: cannot be read", name);
        }
        at += (size_t)got;
    }
    out->data[at] = 0;
    out->size = at;
    return FACET_OK;
}

enum facet_status facet_side_file_read(const char *scene_path,
                                       const char *name,
                                       size_t limit,
                                       struct facet_bytes *out,
                                       struct facet_error *err)
{
    enum facet_status status;
    int fd;

    out->data = NULL;
    out->size = 0;
    if (strcmp(scene_path, "-") == 0) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "a scene from standard input cannot refer to the file %.200s",
                          name);
    }
    fd = name[0] == '/' ? (errno = EACCES, -1) : open_folder_of(scene_path);
    if (fd >= 0) {
        fd = open_below(fd, name);
    }
    if (fd < 0 && (errno == EACCES || errno == ELOOP)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "%.200s: only plain files in the scene's folder or below it are read",
                          name);
    }
    if (fd < 0) {
        return facet_fail(err,
                          is_bad_name(errno) ? FACET_ERR_INPUT : FACET_ERR_IO,
                          0,
                          "%.200s: %s",
                          name,
                          strerror(errno));
    }
    status = read_regular(fd, name, limit, out, err);
    (void)close(fd);
    return status;
}
