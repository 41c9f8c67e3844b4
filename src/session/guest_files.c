/* See guest_files.h. The kernel keeps the paths inside the folder (openat2, RESOLVE_BENEATH): `..`,
 * absolute paths and symbolic links that lead out are refused, also while files are being renamed.
 * Only ordinary files are opened. */
#include "session/guest_files.h"

#include "base/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Enough for pictures and logs; too little for a program in a loop to fill a disk with. */
#define DEFAULT_BYTES (UINT64_C(1) << 30)
#define DEFAULT_FILES 10000

/* "64M" or "64M,100" */
static bool read_quota(struct session_files *files, const struct cli_args *args)
{
    const char *text = cli_value(args, "files-quota"), *end;
    char *last = NULL;

    files->bytes_quota = DEFAULT_BYTES;
    files->files_left = DEFAULT_FILES;
    if (text == NULL) {
        return true;
    }
    if (files->folder < 0 || files->read_only) {
        (void)cli_bad(args, "--files-quota needs --files DIR");
        return false;
    }
    if (cli_size(text, &end, &files->bytes_quota)) {
        if (*end == '\0') {
            return true;
        }
        errno = 0;
        if (end[0] == ',' && end[1] >= '0' && end[1] <= '9') {
            files->files_left = strtoull(end + 1, &last, 10);
        }
    }
    if (last == NULL || *last != '\0' || errno != 0) {
        (void)cli_bad(args, "--files-quota %s: expected SIZE or SIZE,N, such as 64M,100", text);
        return false;
    }
    return true;
}

bool session_files_open(struct session_files *files, const struct cli_args *args)
{
    const char *option = cli_given(args, "files-ro") ? "files-ro" : "files";
    const char *folder = cli_value(args, option);

    *files = (struct session_files){.folder = -1, .read_only = cli_given(args, "files-ro")};
    for (int i = 0; i < SESSION_FILES_MAX; i++) {
        files->open[i].fd = -1;
    }
    if (files->read_only && cli_given(args, "files")) {
        (void)cli_bad(args, "--files and --files-ro: expected one of them");
        return false;
    }
    if (folder != NULL) {
        files->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (files->folder < 0) {
            (void)cli_bad(args, "--%s %s: %s", option, folder, strerror(errno));
            return false;
        }
    }
    if (!read_quota(files, args)) {
        session_files_close(files, args);
        return false;
    }
    files->bytes_left = files->bytes_quota;
    return true;
}

void session_files_close(struct session_files *files, const struct cli_args *args)
{
    for (int i = 0; i < SESSION_FILES_MAX; i++) {
        if (files->open[i].fd >= 0) {
            (void)close(files->open[i].fd);
            files->open[i].fd = -1;
        }
    }
    if (files->folder >= 0) {
        (void)close(files->folder);
        files->folder = -1;
    }
    if (files->refused != 0) {
        fprintf(stderr,
                "facet %s: refused %" PRIu64 " call%s of the program, the first: %s\n",
                args->command->name,
                files->refused,
                cli_s(files->refused),
                files->first);
    }
}

/* Remembers the first; returns the error for the guest. */
static int64_t refuse(struct session_files *files, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int64_t refuse(struct session_files *files, int error, const char *format, ...)
{
    if (files->refused++ == 0) {
        va_list args;

        va_start(args, format);
        (void)vsnprintf(files->first, sizeof files->first, format, args);
        va_end(args);
    }
    return -error;
}

/* SYS_OPEN's modes as fopen writes them: r rb r+ r+b w wb w+ w+b a ab a+ a+b. */
static int access_of(unsigned mode)
{
    return (mode & 2) != 0 ? O_RDWR : mode < 4 ? O_RDONLY : O_WRONLY;
}

static bool truncates(unsigned mode)
{
    return mode / 4 % 3 == 1;
}

static bool appends(unsigned mode)
{
    return mode / 4 % 3 == 2;
}

static int open_below(const struct session_files *files, const char *path, int flags)
{
    struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK),
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
                           .mode = (flags & O_CREAT) != 0 ? 0666 : 0};

    return (int)syscall(SYS_openat2, files->folder, path, &how, sizeof how);
}

/* An empty file counts for nothing, so what it held may be used again: a program may write the same
 * picture over and over. */
static bool empty(struct session_files *files, int fd, off_t size)
{
    uint64_t left = files->bytes_left + (uint64_t)size;

    if (size != 0 && ftruncate(fd, 0) != 0) {
        return false;
    }
    files->bytes_left = left < files->bytes_quota ? left : files->bytes_quota;
    return true;
}

/* A descriptor, or a negative errno. `name` is fit for messages. */
static int64_t
open_file(struct session_files *files, const char *path, unsigned mode, const char *name)
{
    int flags = access_of(mode) | (appends(mode) ? O_APPEND : 0);
    struct stat info;
    int fd, reason;

    if (files->read_only && access_of(mode) != O_RDONLY) {
        return refuse(files, EROFS, "opening %s to write (--files-ro)", name);
    }
    fd = open_below(files, path, flags);
    if (fd < 0 && errno == ENOENT && mode >= 4) {
        if (files->files_left == 0) {
            return refuse(files, ENOSPC, "creating %s, one file too many (--files-quota)", name);
        }
        fd = open_below(files, path, flags | O_CREAT);
        files->files_left -= fd >= 0;
    }
    if (fd < 0) {
        return -errno;
    }
    reason = fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)      ? EACCES
             : truncates(mode) && !empty(files, fd, info.st_size) ? errno
                                                                  : 0;
    if (reason != 0) {
        (void)close(fd);
        return -reason;
    }
    return fd;
}

static int64_t do_open(void *context, const char *path, unsigned mode)
{
    struct session_files *files = context;
    struct guest_file *file;
    int64_t fd;
    int slot = 0;

    if (files->folder < 0) {
        return -ENOENT;
    }
    while (slot < SESSION_FILES_MAX && files->open[slot].fd >= 0) {
        slot++;
    }
    if (slot == SESSION_FILES_MAX) {
        return -EMFILE;
    }
    file = &files->open[slot];
    file->append = appends(mode);
    facet_plain_text(file->name, sizeof file->name, path, strlen(path));
    fd = open_file(files, path, mode, file->name);
    if (fd < 0) {
        return fd;
    }
    file->fd = (int)fd;
    return slot;
}

static int descriptor(const struct session_files *files, int64_t handle)
{
    return handle >= 0 && handle < SESSION_FILES_MAX ? files->open[handle].fd : -1;
}

static int64_t do_close(void *context, int64_t handle)
{
    struct session_files *files = context;
    int fd = descriptor(files, handle);

    if (fd < 0) {
        return -EBADF;
    }
    files->open[handle].fd = -1;
    return close(fd) == 0 ? 0 : -errno;
}

static int64_t do_read(void *context, int64_t handle, void *data, size_t size)
{
    ssize_t got;

    do {
        got = read(descriptor(context, handle), data, size);
    } while (got < 0 && errno == EINTR); /* a signal is none of the program's business */
    return got >= 0 ? got : -errno;
}

/* How far beyond its end a file grows when `size` bytes are written where it stands. */
static uint64_t growth(uint64_t position, uint64_t length, uint64_t size)
{
    uint64_t end = position + size; /* of less than 2^63 bytes, and of RAM */

    return end > length ? end - length : 0;
}

static int64_t do_write(void *context, int64_t handle, const void *data, size_t size)
{
    struct session_files *files = context;
    int fd = descriptor(files, handle);
    uint64_t length, position, more;
    struct stat info;
    ssize_t wrote;
    off_t at;

    if (fd < 0 || fstat(fd, &info) != 0 || (at = lseek(fd, 0, SEEK_CUR)) < 0) {
        return -EBADF;
    }
    length = (uint64_t)info.st_size;
    position = files->open[handle].append ? length : (uint64_t)at;
    more = growth(position, length, size);
    if (size != 0 && more > files->bytes_left) {
        uint64_t excess = more - files->bytes_left;
        int64_t error = refuse(files,
                               ENOSPC,
                               "writing %zu bytes to %s (--files-quota)",
                               size,
                               files->open[handle].name);

        if (excess >= size) {
            return error;
        }
        size -= (size_t)excess; /* what fits, as on a disk that gets full */
    }
    do {
        wrote = write(fd, data, size);
    } while (wrote < 0 && errno == EINTR);
    if (wrote < 0) {
        return -errno;
    }
    more = wrote > 0 ? growth(position, length, (uint64_t)wrote) : 0;
    files->bytes_left -= more < files->bytes_left ? more : files->bytes_left;
    return wrote;
}

static int64_t do_seek(void *context, int64_t handle, uint64_t position)
{
    off_t at = position <= INT64_MAX ? lseek(descriptor(context, handle), (off_t)position, SEEK_SET)
                                     : (errno = EINVAL, -1);

    return at >= 0 ? 0 : -errno;
}

static int64_t do_length(void *context, int64_t handle)
{
    struct stat info;

    return fstat(descriptor(context, handle), &info) == 0 ? info.st_size : -errno;
}

const struct facet_xphmg_files session_files_calls = {
    do_open, do_close, do_read, do_write, do_seek, do_length};
