/* See new_file.h. */
#define _GNU_SOURCE
#include "base/new_file.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* asprintf's memory is the C library's, and so is all other of this file: none leaves it. */
#undef free
#undef strdup
#undef strndup

enum { MOST_LINKS = 40, MOST_NAMES = 1000 };

/* ---- names ---- */

/* "folder/" of a path, "." when it has none; NULL without memory. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
}

/* "pointed", beside the link when it does not start with a slash; NULL without memory. */
static char *beside(const char *link, const char *pointed)
{
    const char *slash = strrchr(link, '/');
    int length = pointed[0] != '/' && slash != NULL ? (int)(slash - link) + 1 : 0;
    char *path = NULL;

    return asprintf(&path, "%.*s%s", length, link, pointed) >= 0 ? path : NULL;
}

/* What the links of /proc point to need not be what they say, nor have a name. */
static bool in_proc(const char *path)
{
    char *folder = folder_of(path);
    struct statfs system;
    bool found =
        folder != NULL && statfs(folder, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;

    free(folder);
    return found;
}

/* See facet_file_target. *proc: one of the links was of /proc. */
static char *follow(const char *path, bool *proc)
{
    char *at = strdup(path), pointed[PATH_MAX];
    ssize_t length;

    *proc = false;
    for (int links = 0; at != NULL && (length = readlink(at, pointed, sizeof pointed - 1)) >= 0;
         links++) {
        char *link = at;

        pointed[length] = '\0';
        *proc = *proc || in_proc(link);
        at = links < MOST_LINKS ? beside(link, pointed) : NULL;
        free(link);
        if (links == MOST_LINKS) {
            errno = ELOOP;
        }
    }
    return at;
}

char *facet_file_target(const char *path)
{
    bool proc;

    return follow(path, &proc);
}

bool facet_file_in_place(const char *path)
{
    struct stat info;
    bool proc = false;

    if (stat(path, &info) != 0 || S_ISDIR(info.st_mode)) {
        return false;
    }
    free(follow(path, &proc));
    return proc || !S_ISREG(info.st_mode);
}

/* ---- names that must not stay ---- */

static atomic_flag busy = ATOMIC_FLAG_INIT;
static struct facet_new_file *named; /* those that have temporary names */

/* No signal handler of this thread runs until leave(); those of other threads wait in
 * facet_file_abandon. */
static void enter(sigset_t *old)
{
    sigset_t all;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, old);
    while (atomic_flag_test_and_set(&busy)) {
        (void)sched_yield(); /* a system call and nothing else: safe in a handler too */
    }
}

static void leave(const sigset_t *old)
{
    atomic_flag_clear(&busy);
    (void)pthread_sigmask(SIG_SETMASK, old, NULL);
}

void facet_file_abandon(void)
{
    sigset_t old;

    enter(&old); /* for good: nothing takes a name any more */
    for (const struct facet_new_file *file = named; file != NULL; file = file->next) {
        (void)unlink(file->temporary);
    }
}

/* It has its temporary name no more. Between enter() and leave(). */
static void forget_temporary(struct facet_new_file *file)
{
    struct facet_new_file **at = &named;

    while (*at != file) {
        at = &(*at)->next;
    }
    *at = file->next;
    free(file->temporary);
    file->temporary = NULL;
}

static void remove_temporary(struct facet_new_file *file)
{
    if (file->temporary != NULL) {
        (void)unlink(file->temporary);
        forget_temporary(file);
    }
}

/* Tries names beside the path until make() finds one that is free; what it returns (-1: failed) is
 * returned. Between enter() and leave(). Not mkstemp(): it ignores the umask, and asking for the
 * umask means changing it under other threads' feet. */
static int take_temporary(struct facet_new_file *file,
                          int (*make)(const struct facet_new_file *file, const char *name))
{
    static unsigned counter;
    int made = -1, reason;

    for (int tries = 0; made < 0 && tries < MOST_NAMES; tries++) {
        char *name = NULL;

        if (asprintf(&name, "%s.%ld-%u.tmp", file->path, (long)getpid(), counter++) < 0) {
            errno = ENOMEM;
            return -1;
        }
        made = make(file, name);
        if (made >= 0) {
            file->temporary = name;
            file->next = named;
            named = file;
        } else {
            reason = errno;
            free(name);
            errno = reason;
            if (reason != EEXIST) {
                break;
            }
        }
    }
    return made;
}

/* ---- the file ---- */

static enum facet_status
fail(const struct facet_new_file *file, const char *what, struct facet_error *err)
{
    return facet_fail(err, FACET_ERR_IO, 0, "%s: cannot %s: %s", file->name, what, strerror(errno));
}

static mode_t first_mode(const struct facet_new_file *file)
{
    return file->old.st_mode != 0 ? 0600 : 0666; /* the kernel applies the umask */
}

static int create_named(const struct facet_new_file *file, const char *name)
{
    return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, first_mode(file));
}

/* -1 where that is not possible, for whatever reason: a named file then shows why. Names are given
 * through /proc, since linkat() of a descriptor itself needs a privilege on many kernels. */
static int create_nameless(const struct facet_new_file *file)
{
    char *folder = access("/proc/self/fd", X_OK) == 0 ? folder_of(file->path) : NULL;
    int fd = -1;

    if (folder != NULL) {
        fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, first_mode(file));
    }
    free(folder);
    return fd;
}

static int create(struct facet_new_file *file, bool nameless)
{
    int fd = nameless ? create_nameless(file) : -1;
    sigset_t old;

    if (fd < 0) {
        enter(&old);
        fd = take_temporary(file, create_named);
        leave(&old);
    }
    return fd;
}

void facet_new_file_discard(struct facet_new_file *file)
{
    sigset_t old;

    if (file->temporary != NULL) {
        enter(&old);
        remove_temporary(file);
        leave(&old);
    }
    if (file->fd >= 0) {
        (void)close(file->fd);
        file->fd = -1;
    }
    free(file->path);
    file->path = NULL;
}

enum facet_status facet_new_file_open(struct facet_new_file *file,
                                      const char *path,
                                      bool nameless,
                                      struct facet_error *err)
{
    const char *what = "write";
    bool proc = false;

    *file = (struct facet_new_file){.fd = -1, .name = path, .path = follow(path, &proc)};
    if (file->path == NULL) {
        return fail(file, "create", err);
    }
    if (stat(path, &file->old) != 0) {
        file->old.st_mode = 0;
    }
    if (S_ISDIR(file->old.st_mode)) { /* rename() would fail too late */
        errno = EISDIR;
    } else if (proc || (file->old.st_mode != 0 && !S_ISREG(file->old.st_mode))) {
        free(file->path);
        file->path = NULL;
        file->fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    } else if (file->old.st_mode == 0 || faccessat(AT_FDCWD, file->path, W_OK, AT_EACCESS) == 0) {
        what = "create";
        file->fd = create(file, nameless);
    }
    if (file->fd < 0) {
        enum facet_status status = fail(file, what, err);

        facet_new_file_discard(file);
        return status;
    }
    return FACET_OK;
}

enum facet_status facet_new_file_put(const struct facet_new_file *file,
                                     uint64_t at,
                                     const void *data,
                                     size_t size,
                                     struct facet_error *err)
{
    const uint8_t *bytes = data;

    while (size > 0) {
        ssize_t put = pwrite(file->fd, bytes, size, (off_t)at);

        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            errno = put == 0 ? EIO : errno;
            return fail(file, "write", err);
        }
        bytes += put;
        at += (uint64_t)put;
        size -= (size_t)put;
    }
    return FACET_OK;
}

/* As the file that it replaces has them. */
static bool keep_permissions(const struct facet_new_file *file)
{
    mode_t mode = file->old.st_mode & 0777;

    if (file->old.st_mode == 0) {
        return true;
    }
    if (fchown(file->fd, (uid_t)-1, file->old.st_gid) != 0) {
        mode &= ~(mode_t)070 | (mode & 07) << 3;
    }
    (void)!fchown(file->fd, file->old.st_uid, (gid_t)-1); /* only the superuser may */
    return fchmod(file->fd, mode) == 0;
}

static bool sync_file(int fd)
{
    int result;

    do {
        result = fsync(fd);
    } while (result != 0 && errno == EINTR); /* network file systems */
    return result == 0;
}

enum facet_status facet_new_file_complete(struct facet_new_file *file, struct facet_error *err)
{
    bool good = file->path == NULL || (keep_permissions(file) && sync_file(file->fd));
    enum facet_status status = FACET_OK;

    /* One without a name would be gone. */
    if (good && (file->path == NULL || file->temporary != NULL)) {
        good = close(file->fd) == 0;
        file->fd = -1;
    }
    if (!good) {
        status = fail(file, "write", err);
        facet_new_file_discard(file);
    }
    return status;
}

/* ---- taking its place ---- */

static int link_nameless(const struct facet_new_file *file, const char *name)
{
    char self[64];

    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", file->fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* A nameless file takes its own name when that is free. */
static bool take_free_name(struct facet_new_file *file)
{
    if (file->path == NULL || file->temporary != NULL) {
        return true;
    }
    file->linked = link_nameless(file, file->path) == 0;
    return file->linked || (errno == EEXIST && take_temporary(file, link_nameless) >= 0);
}

static bool take_place(struct facet_new_file *file)
{
    if (file->temporary == NULL) {
        return true;
    }
    if (rename(file->temporary, file->path) != 0) {
        return false;
    }
    forget_temporary(file);
    return true;
}

/* Whether the new name survives a power cut. The file is there and whole in any case, and not every
 * folder can be synced: no failure of the job. */
static void sync_folder(const char *path)
{
    char *folder = folder_of(path);
    int fd = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
    free(folder);
}

enum facet_status
facet_new_files_commit(struct facet_new_file *const *files, size_t count, struct facet_error *err)
{
    static bool (*const steps[])(struct facet_new_file *) = {take_free_name, take_place};
    enum facet_status status = FACET_OK;
    sigset_t old;

    enter(&old);
    for (int step = 0; step < 2; step++) { /* what is replaced comes last: it cannot be undone */
        for (size_t i = 0; status == FACET_OK && i < count; i++) {
            status = steps[step](files[i]) ? FACET_OK : fail(files[i], "write", err);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (status != FACET_OK && files[i]->linked) {
            (void)unlink(files[i]->path);
        }
        remove_temporary(files[i]);
    }
    leave(&old);
    for (size_t i = 0; i < count; i++) {
        if (status == FACET_OK && files[i]->path != NULL) {
            sync_folder(files[i]->path);
        }
        facet_new_file_discard(files[i]);
    }
    return status;
}
