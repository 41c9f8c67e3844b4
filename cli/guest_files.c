/* See guest_files.h. The kernel keeps the paths inside the folder (openat2, RESOLVE_BENEATH): `..`,
 * absolute paths and symbolic links that lead out are refused, also while somebody renames things.
 * Only ordinary files are opened. */
#include "cli/guest_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

bool guest_files_open(struct guest_files *files, const char *folder)
{
    files->folder = -1;
    for (int i = 0; i < GUEST_FILES_MAX; i++) {
        files->open[i] = -1;
    }
    if (folder != NULL) {
        files->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return files->folder >= 0;
    }
    return true;
}

void guest_files_close(struct guest_files *files)
{
    for (int i = 0; i < GUEST_FILES_MAX; i++) {
        if (files->open[i] >= 0) {
            (void)close(files->open[i]);
        }
    }
    if (files->folder >= 0) {
        (void)close(files->folder);
    }
}

/* SYS_OPEN's modes as fopen writes them: r rb r+ r+b w wb w+ w+b a ab a+ a+b. */
static uint64_t flags_of(unsigned mode)
{
    static const int kind[3] = {0, O_CREAT | O_TRUNC, O_CREAT | O_APPEND};
    bool update = (mode & 2) != 0;
    int access = update ? O_RDWR : mode < 4 ? O_RDONLY : O_WRONLY;

    return (uint64_t)(access | kind[mode / 4 % 3] | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

int64_t guest_files_do_open(struct guest_files *files, const char *path, unsigned mode)
{
    struct open_how how = {.flags = flags_of(mode),
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    struct stat info;
    int slot = 0, fd;

    if (files->folder < 0) {
        return -ENOENT;
    }
    while (slot < GUEST_FILES_MAX && files->open[slot] >= 0) {
        slot++;
    }
    if (slot == GUEST_FILES_MAX) {
        return -EMFILE;
    }
    how.mode = (how.flags & O_CREAT) != 0 ? 0666 : 0;
    fd = (int)syscall(SYS_openat2, files->folder, path, &how, sizeof how);
    if (fd < 0) {
        return -errno;
    }
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        (void)close(fd);
        return -EACCES;
    }
    files->open[slot] = fd;
    return slot;
}

static int descriptor(const struct guest_files *files, int64_t handle)
{
    return handle >= 0 && handle < GUEST_FILES_MAX ? files->open[handle] : -1;
}

int64_t guest_files_do_close(struct guest_files *files, int64_t handle)
{
    int fd = descriptor(files, handle);

    if (fd < 0) {
        return -EBADF;
    }
    files->open[handle] = -1;
    return close(fd) == 0 ? 0 : -errno;
}

int64_t guest_files_do_read(struct guest_files *files, int64_t handle, void *data, size_t size)
{
    ssize_t got = read(descriptor(files, handle), data, size);

    return got >= 0 ? got : -errno;
}

int64_t
guest_files_do_write(struct guest_files *files, int64_t handle, const void *data, size_t size)
{
    ssize_t wrote = write(descriptor(files, handle), data, size);

    return wrote >= 0 ? wrote : -errno;
}

int64_t guest_files_do_seek(struct guest_files *files, int64_t handle, uint64_t position)
{
    off_t at = position <= INT64_MAX ? lseek(descriptor(files, handle), (off_t)position, SEEK_SET)
                                     : (errno = EINVAL, -1);

    return at >= 0 ? 0 : -errno;
}

int64_t guest_files_do_length(struct guest_files *files, int64_t handle)
{
    struct stat info;

    return fstat(descriptor(files, handle), &info) == 0 ? info.st_size : -errno;
}
