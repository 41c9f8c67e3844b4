/* See file.h. */
#include "base/file.h"

#include "base/new_file.h"

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

static bool is_stream(const char *path)
{
    return strcmp(path, "-") == 0;
}

static enum facet_status write_stream(const struct facet_file_part *part, struct facet_error *err)
{
    return write_all(STDOUT_FILENO, part->data, part->size)
               ? FACET_OK
               : facet_fail(err, FACET_ERR_IO, 0, "standard output: %s", strerror(errno));
}

/* Whole, but not yet under its name. */
static enum facet_status write_file(const struct facet_file_part *part,
                                    bool nameless,
                                    struct facet_new_file *file,
                                    struct facet_error *err)
{
    enum facet_status status = facet_new_file_open(file, part->path, nameless, err);

    if (status == FACET_OK && !write_all(file->fd, part->data, part->size)) {
        status =
            facet_fail(err, FACET_ERR_IO, 0, "%s: cannot write: %s", part->path, strerror(errno));
        facet_new_file_discard(file);
    }
    return status == FACET_OK ? facet_new_file_complete(file, err) : status;
}

enum { MOST_NAMELESS = 16 }; /* descriptors are few; the rest have temporary names */

enum facet_status facet_file_write_with(struct facet_new_file *made,
                                        const struct facet_file_part *parts,
                                        size_t count,
                                        struct facet_error *err)
{
    struct facet_new_file *files = calloc(count + 1, sizeof *files);
    struct facet_new_file **whole = calloc(count + 1, sizeof *whole);
    enum facet_status status = FACET_OK;
    size_t ready = 0;

    if (files == NULL || whole == NULL) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory to write %zu files", count);
    } else if (made != NULL) {
        whole[ready++] = made;
        status = facet_new_file_complete(made, err);
    }
    for (int in_place = 0; in_place < 2; in_place++) { /* those come last: nothing undoes them */
        for (size_t i = 0; status == FACET_OK && i < count; i++) {
            bool stream = is_stream(parts[i].path);

            if ((stream || facet_file_in_place(parts[i].path)) != in_place) {
                continue;
            }
            if (stream) {
                status = write_stream(&parts[i], err);
            } else {
                status = write_file(&parts[i], ready < MOST_NAMELESS, &files[i], err);
                whole[ready] = &files[i];
                ready += status == FACET_OK;
            }
        }
    }
    if (status == FACET_OK) {
        status = facet_new_files_commit(whole, ready, err);
    }
    while (ready > 0) {
        facet_new_file_discard(whole[--ready]);
    }
    if (made != NULL) {
        facet_new_file_discard(made);
    }
    free(whole);
    free(files);
    return status;
}

enum facet_status
facet_file_write_all(const struct facet_file_part *parts, size_t count, struct facet_error *err)
{
    return facet_file_write_with(NULL, parts, count, err);
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

static bool same_target(const char *path, const char *other)
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

bool facet_file_same(const char *path, const char *other)
{
    char *target = facet_file_target(path), *other_target = facet_file_target(other);
    bool same =
        same_target(target != NULL ? target : path, other_target != NULL ? other_target : other);

    free(target);
    free(other_target);
    return same;
}
