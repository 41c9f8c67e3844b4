/* See file.h. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum facet_status too_large(struct facet_error *err, const char *name, size_t limit)
{
    return facet_fail(
        err, FACET_ERR_LIMIT, limit, "%s: larger than the limit of %zu bytes", name, limit);
}

static enum facet_status
read_all(int fd, const char *name, size_t limit, struct facet_bytes *out, struct facet_error *err)
{
    size_t capacity = 65536;
    uint8_t *data = malloc(capacity + 1);
    size_t size = 0;

    if (data == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "%s: out of memory", name);
    }
    for (;;) {
        ssize_t got;

        if (size == capacity) {
            uint8_t *more = realloc(data, capacity * 2 + 1);

            if (more == NULL) {
                free(data);
                return facet_fail(err, FACET_ERR_MEMORY, size, "%s: out of memory", name);
            }
            data = more;
            capacity *= 2;
        }
        got = read(fd, data + size, capacity - size);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            free(data);
            return facet_fail(err, FACET_ERR_IO, size, "%s: %s", name, strerror(errno));
        }
        if (got == 0) {
            break;
        }
        size += (size_t)got;
        if (size > limit) {
            free(data);
            return too_large(err, name, limit);
        }
    }
    data[size] = 0;
    out->data = data;
    out->size = size;
    return FACET_OK;
}

enum facet_status
facet_file_read(const char *path, size_t limit, struct facet_bytes *out, struct facet_error *err)
{
    enum facet_status status;
    struct stat info;
    int fd;

    out->data = NULL;
    out->size = 0;
    if (strcmp(path, "-") == 0) {
        return read_all(STDIN_FILENO, "standard input", limit, out, err);
    }
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return facet_fail(err, FACET_ERR_IO, 0, "%s: %s", path, strerror(errno));
    }
    if (fstat(fd, &info) != 0) {
        info.st_mode = 0; /* nothing is known about it; reading will tell */
    }
    if (S_ISDIR(info.st_mode)) {
        close(fd);
        return facet_fail(err, FACET_ERR_IO, 0, "%s: is a folder, expected a file", path);
    }
    if (S_ISREG(info.st_mode) && (uint64_t)info.st_size > limit) {
        close(fd);
        return too_large(err, path, limit);
    }
    status = read_all(fd, path, limit, out, err);
    close(fd);
    return status;
}

static bool write_all(int fd, const uint8_t *data, size_t size)
{
    while (size > 0) {
        ssize_t put = write(fd, data, size);

        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            errno = put == 0 ? EIO : errno;
            return false;
        }
        data += put;
        size -= (size_t)put;
    }
    return true;
}

/* A fresh file beside the target, so that rename() stays inside one file system. Not mkstemp(): it
 * ignores the umask, and asking for the umask means changing it under other threads' feet. */
static int create_temporary(const char *path, char **name)
{
    static _Atomic unsigned counter;
    const size_t size = strlen(path) + 48;
    int fd = -1, reason;

    *name = malloc(size);
    for (unsigned attempt = 0; *name != NULL && fd < 0 && attempt < 1000; attempt++) {
        (void)snprintf(*name, size, "%s.%ld-%u.tmp", path, (long)getpid(), counter++);
        fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) {
            break;
        }
    }
    if (fd < 0) {
        reason = errno;
        free(*name);
        *name = NULL;
        errno = reason;
    }
    return fd;
}

/* A device or pipe cannot be replaced by rename(), nor can standard output. */
static bool replaceable(const char *path)
{
    struct stat info;

    return strcmp(path, "-") != 0 &&
           (stat(path, &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode));
}

static enum facet_status
write_temporary(const struct facet_file_part *part, char **temporary, struct facet_error *err)
{
    struct stat info;
    bool ok;
    int fd;

    if (stat(part->path, &info) == 0 && S_ISDIR(info.st_mode)) { /* rename() would tell too late */
        return facet_fail(
            err, FACET_ERR_IO, 0, "%s: cannot write: %s", part->path, strerror(EISDIR));
    }
    fd = create_temporary(part->path, temporary);
    if (fd < 0) {
        return facet_fail(
            err, FACET_ERR_IO, 0, "%s: cannot create: %s", part->path, strerror(errno));
    }
    ok = write_all(fd, part->data, part->size) && fsync(fd) == 0;
    ok = close(fd) == 0 && ok;
    return ok ? FACET_OK
              : facet_fail(
                    err, FACET_ERR_IO, 0, "%s: cannot write: %s", part->path, strerror(errno));
}

static enum facet_status write_direct(const struct facet_file_part *part, struct facet_error *err)
{
    bool out = strcmp(part->path, "-") == 0, ok;
    int fd = out ? STDOUT_FILENO : open(part->path, O_WRONLY | O_CLOEXEC);

    ok = fd >= 0 && write_all(fd, part->data, part->size);
    ok = (out || fd < 0 || close(fd) == 0) && ok;
    return ok ? FACET_OK
              : facet_fail(err,
                           FACET_ERR_IO,
                           0,
                           "%s: %s",
                           out ? "standard output" : part->path,
                           strerror(errno));
}

static enum facet_status
take_name(const struct facet_file_part *part, char **temporary, struct facet_error *err)
{
    if (*temporary != NULL && rename(*temporary, part->path) != 0) {
        return facet_fail(
            err, FACET_ERR_IO, 0, "%s: cannot write: %s", part->path, strerror(errno));
    }
    free(*temporary);
    *temporary = NULL;
    return FACET_OK;
}

static enum facet_status write_parts(const struct facet_file_part *parts,
                                     size_t count,
                                     char **temporary, /* NULL: written into directly */
                                     struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    for (size_t i = 0; status == FACET_OK && i < count; i++) {
        if (replaceable(parts[i].path)) {
            status = write_temporary(&parts[i], &temporary[i], err);
        }
    }
    for (size_t i = 0; status == FACET_OK && i < count; i++) {
        if (temporary[i] == NULL) {
            status = write_direct(&parts[i], err);
        }
    }
    for (size_t i = 0; status == FACET_OK && i < count; i++) {
        status = take_name(&parts[i], &temporary[i], err);
    }
    return status;
}

enum facet_status
facet_file_write_all(const struct facet_file_part *parts, size_t count, struct facet_error *err)
{
    char **temporary = calloc(count + 1, sizeof *temporary);
    enum facet_status status;

    if (temporary == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory to write %zu files", count);
    }
    status = write_parts(parts, count, temporary, err);
    for (size_t i = 0; i < count; i++) {
        if (temporary[i] != NULL) {
            (void)unlink(temporary[i]);
            free(temporary[i]);
        }
    }
    free(temporary);
    return status;
}

enum facet_status
facet_file_write(const char *path, const void *data, size_t size, struct facet_error *err)
{
    const struct facet_file_part part = {path, data, size};

    return facet_file_write_all(&part, 1, err);
}

/* The folder of a file that does not exist yet; *name is its last part. */
static bool folder_of(const char *path, struct stat *info, const char **name)
{
    const char *slash = strrchr(path, '/');
    char folder[4096];
    size_t length = slash != NULL ? (size_t)(slash - path) + 1 : 0;

    *name = path + length;
    if (length >= sizeof folder) {
        return false;
    }
    memcpy(folder, path, length);
    folder[length] = '\0';
    return stat(length != 0 ? folder : ".", info) == 0;
}

bool facet_file_same(const char *path, const char *other)
{
    struct stat a, b;
    bool has_a = stat(path, &a) == 0, has_b = stat(other, &b) == 0;
    const char *name, *other_name;

    if (has_a && has_b) {
        return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    }
    return !has_a && !has_b && folder_of(path, &a, &name) && folder_of(other, &b, &other_name) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino && strcmp(name, other_name) == 0;
}
