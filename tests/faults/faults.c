/* A host that fails: loaded with LD_PRELOAD, this library counts the calls that a program makes to
 * the functions below and lets one of them, or all from one on, fail with the error that a host
 * gives when memory, descriptors, disk space or processes run out.
 *
 *   FACET_FAULT=SITE:N:MODE:PROCESS
 *     SITE     a name of `sites`: a function and its relatives
 *     N        which call, from 1; 0 only counts
 *     MODE     once: the Nth call fails. ever: the Nth and all later ones. short: every read and
 *              write moves about half of what it could. interrupted: every other call ends with
 * EINTR. PROCESS  main: the program itself; child: the processes that it makes
 *   FACET_FAULT_BOARD=FILE   gets struct board: how many calls there were, and how many failed
 *
 * Counting begins with main(), so that the loader's and the libraries' own start does not count.
 * glibc's streams would reach the kernel past this library: standard output and what fopen() opens
 * become streams whose bytes go through the functions below. Standard error never fails, because
 * the message is what a test wants to see. */
#undef _FILE_OFFSET_BITS /* both names, open and open64, are defined here */
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum site {
    MALLOC,
    MMAP,
    OPEN,
    READ,
    WRITE,
    SYNC,
    RENAME,
    CLOSE,
    FORK,
    THREAD,
    TRUNCATE,
    MKDIR,
    SOCKET,
    PIPE,
    POLL,
    STAT,
    SEEK,
    DUP,
    CONFINE,
    CHMOD,
    UNLINK,
    WAIT,
    SITE_COUNT,
};

static const struct {
    const char *name;
    int error;
} sites[SITE_COUNT] = {
    [MALLOC] = {"malloc", ENOMEM},      [MMAP] = {"mmap", ENOMEM},
    [OPEN] = {"open", EMFILE},          [READ] = {"read", EIO},
    [WRITE] = {"write", ENOSPC},        [SYNC] = {"fsync", EIO},
    [RENAME] = {"rename", ENOSPC},      [CLOSE] = {"close", EIO},
    [FORK] = {"fork", EAGAIN},          [THREAD] = {"pthread_create", EAGAIN},
    [TRUNCATE] = {"ftruncate", ENOSPC}, [MKDIR] = {"mkdir", ENOSPC},
    [SOCKET] = {"socket", EMFILE},      [PIPE] = {"pipe", EMFILE},
    [POLL] = {"poll", ENOMEM},          [STAT] = {"stat", ENOMEM},
    [SEEK] = {"lseek", EOVERFLOW},      [DUP] = {"dup", EMFILE},
    [CONFINE] = {"confine", EPERM},     [CHMOD] = {"chmod", EPERM},
    [UNLINK] = {"unlink", EIO},         [WAIT] = {"wait", EINTR},
};

enum { MAIN, CHILD, PROCESSES };
enum mode { ONCE, EVER, SHORT, INTERRUPTED };

/* As run.py reads it: counts of main and child per site, in the order of `sites`. */
struct board {
    _Atomic uint32_t calls[PROCESSES][SITE_COUNT];
    _Atomic uint32_t failed;
};

static struct board own_board;
static struct board *board = &own_board;
static bool counting;
static int process = MAIN, wanted_process = MAIN;
static enum site wanted_site = SITE_COUNT;
static enum mode mode = ONCE;
static uint32_t wanted_call;

/* The next definition of a function behind this library. */
#define NEXT(name)                                                                                 \
    ({                                                                                             \
        static __typeof__(&(name)) next;                                                           \
        if (next == NULL) {                                                                        \
            next = (__typeof__(&(name)))dlsym(RTLD_NEXT, #name);                                   \
        }                                                                                          \
        next;                                                                                      \
    })

static bool is_target(enum site site, uint32_t call)
{
    if (site != wanted_site || process != wanted_process || wanted_call == 0) {
        return false;
    }
    return mode == ONCE ? call == wanted_call : mode == EVER && call >= wanted_call;
}

/* Counts a call; true, with errno set, when it is one that fails. */
static bool fails(enum site site)
{
    uint32_t call;

    if (!counting) {
        return false;
    }
    call = atomic_fetch_add(&board->calls[process][site], 1) + 1;
    if (is_target(site, call)) {
        atomic_fetch_add(&board->failed, 1);
        errno = sites[site].error;
        return true;
    }
    if (mode == INTERRUPTED && process == wanted_process && call % 2 == 1 &&
        (site == READ || site == WRITE || site == POLL || site == WAIT)) {
        atomic_fetch_add(&board->failed, 1);
        errno = EINTR;
        return true;
    }
    return false;
}

static size_t share(size_t size)
{
    if (!counting || mode != SHORT || process != wanted_process || size < 2) {
        return size;
    }
    atomic_fetch_add(&board->failed, 1);
    return (size + 1) / 2;
}

#pragma GCC visibility push(default)

/* Memory. These four are glibc's own names for the allocator below malloc(). */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);

void *malloc(size_t size)
{
    return fails(MALLOC) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(MALLOC) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails(MALLOC) ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(old, bytes);
}

void *memalign(size_t align, size_t size);
void *memalign(size_t align, size_t size)
{
    return fails(MALLOC) ? NULL : __libc_memalign(align, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    return memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
    void *block = memalign(align, size);

    if (block == NULL) {
        return ENOMEM;
    }
    *out = block;
    return 0;
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return fails(MMAP) ? MAP_FAILED : NEXT(mmap)(at, size, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
    return mmap(at, size, protection, flags, fd, offset);
}

int mprotect(void *at, size_t size, int protection)
{
    return fails(MMAP) ? -1 : NEXT(mprotect)(at, size, protection);
}

int madvise(void *at, size_t size, int advice)
{
    return fails(MMAP) ? -1 : NEXT(madvise)(at, size, advice);
}

/* Opening. The mode is an argument only where a file may be made. */
static mode_t mode_argument(int flags, va_list list)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list list;
    mode_t bits;

    va_start(list, flags);
    bits = mode_argument(flags, list);
    va_end(list);
    return fails(OPEN) ? -1 : NEXT(openat)(folder, path, flags, bits);
}

int openat64(int folder, const char *path, int flags, ...)
{
    va_list list;
    mode_t bits;

    va_start(list, flags);
    bits = mode_argument(flags, list);
    va_end(list);
    return openat(folder, path, flags, bits);
}

int open(const char *path, int flags, ...)
{
    va_list list;
    mode_t bits;

    va_start(list, flags);
    bits = mode_argument(flags, list);
    va_end(list);
    return openat(AT_FDCWD, path, flags, bits);
}

int open64(const char *path, int flags, ...)
{
    va_list list;
    mode_t bits;

    va_start(list, flags);
    bits = mode_argument(flags, list);
    va_end(list);
    return openat(AT_FDCWD, path, flags, bits);
}

/* What a build with _FORTIFY_SOURCE calls. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);
ssize_t __read_chk(int fd, void *data, size_t size, size_t room);
ssize_t __recv_chk(int fd, void *data, size_t size, size_t room, int flags);
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room);

int __open_2(const char *path, int flags)
{
    return open(path, flags);
}

int __open64_2(const char *path, int flags)
{
    return open(path, flags);
}

int __openat_2(int folder, const char *path, int flags)
{
    return openat(folder, path, flags);
}

int __openat64_2(int folder, const char *path, int flags)
{
    return openat(folder, path, flags);
}

DIR *opendir(const char *path)
{
    return fails(OPEN) ? NULL : NEXT(opendir)(path);
}

struct dirent *readdir(DIR *folder)
{
    return fails(READ) ? NULL : NEXT(readdir)(folder);
}

struct dirent64 *readdir64(DIR *folder)
{
    return fails(READ) ? NULL : NEXT(readdir64)(folder);
}

int scandir64(const char *path,
              struct dirent64 ***list,
              int (*wanted)(const struct dirent64 *),
              int (*order)(const struct dirent64 **, const struct dirent64 **))
{
    return fails(OPEN) ? -1 : NEXT(scandir64)(path, list, wanted, order);
}

int mkstemp(char *pattern)
{
    return fails(OPEN) ? -1 : NEXT(mkstemp)(pattern);
}

int mkstemp64(char *pattern)
{
    return mkstemp(pattern);
}

int close(int fd)
{
    int result = NEXT(close)(fd);

    return result == 0 && fails(CLOSE) ? -1 : result;
}

/* Reading and writing. */
ssize_t read(int fd, void *data, size_t size)
{
    return fails(READ) ? -1 : NEXT(read)(fd, data, share(size));
}

ssize_t __read_chk(int fd, void *data, size_t size, size_t room)
{
    return size > room ? (abort(), -1) : read(fd, data, size);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t at)
{
    return fails(READ) ? -1 : NEXT(pread64)(fd, data, share(size), at);
}

ssize_t write(int fd, const void *data, size_t size)
{
    if (fd == STDERR_FILENO) {
        return NEXT(write)(fd, data, size);
    }
    return fails(WRITE) ? -1 : NEXT(write)(fd, data, share(size));
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
    return fails(WRITE) ? -1 : NEXT(pwrite64)(fd, data, share(size), at);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    return fails(WRITE) ? -1 : NEXT(writev)(fd, parts, count);
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
    return fails(WRITE) ? -1 : NEXT(send)(fd, data, share(size), flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    return fails(WRITE) ? -1 : NEXT(sendmsg)(fd, message, flags);
}

ssize_t recv(int fd, void *data, size_t size, int flags)
{
    return fails(READ) ? -1 : NEXT(recv)(fd, data, share(size), flags);
}

ssize_t __recv_chk(int fd, void *data, size_t size, size_t room, int flags)
{
    return size > room ? (abort(), -1) : recv(fd, data, size, flags);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    return fails(READ) ? -1 : NEXT(recvmsg)(fd, message, flags);
}

off64_t lseek64(int fd, off64_t offset, int whence)
{
    return fails(SEEK) ? -1 : NEXT(lseek64)(fd, offset, whence);
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    return fails(POLL) ? -1 : NEXT(poll)(fds, count, timeout);
}

int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room)
{
    return count * sizeof(*fds) > room ? (abort(), -1) : poll(fds, count, timeout);
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    return fails(POLL) ? -1 : NEXT(ppoll)(fds, count, timeout, mask);
}

/* Files and folders. */
int fsync(int fd)
{
    return fails(SYNC) ? -1 : NEXT(fsync)(fd);
}

int fdatasync(int fd)
{
    return fails(SYNC) ? -1 : NEXT(fdatasync)(fd);
}

int rename(const char *from, const char *to)
{
    return fails(RENAME) ? -1 : NEXT(rename)(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return fails(RENAME) ? -1 : NEXT(renameat)(from_folder, from, to_folder, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    return fails(RENAME) ? -1 : NEXT(renameat2)(from_folder, from, to_folder, to, flags);
}

int link(const char *from, const char *to)
{
    return fails(RENAME) ? -1 : NEXT(link)(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    return fails(RENAME) ? -1 : NEXT(linkat)(from_folder, from, to_folder, to, flags);
}

int ftruncate64(int fd, off64_t size)
{
    return fails(TRUNCATE) ? -1 : NEXT(ftruncate64)(fd, size);
}

int fallocate64(int fd, int how, off64_t at, off64_t size)
{
    return fails(TRUNCATE) ? -1 : NEXT(fallocate64)(fd, how, at, size);
}

int mkdir(const char *path, mode_t bits)
{
    return fails(MKDIR) ? -1 : NEXT(mkdir)(path, bits);
}

char *mkdtemp(char *pattern)
{
    return fails(MKDIR) ? NULL : NEXT(mkdtemp)(pattern);
}

int stat64(const char *restrict path, struct stat64 *restrict out)
{
    return fails(STAT) ? -1 : NEXT(stat64)(path, out);
}

int lstat64(const char *restrict path, struct stat64 *restrict out)
{
    return fails(STAT) ? -1 : NEXT(lstat64)(path, out);
}

int fstat64(int fd, struct stat64 *out)
{
    return fails(STAT) ? -1 : NEXT(fstat64)(fd, out);
}

int fstatat64(int folder, const char *restrict path, struct stat64 *restrict out, int flags)
{
    return fails(STAT) ? -1 : NEXT(fstatat64)(folder, path, out, flags);
}

int access(const char *path, int wanted)
{
    return fails(STAT) ? -1 : NEXT(access)(path, wanted);
}

ssize_t readlink(const char *restrict path, char *restrict out, size_t size)
{
    return fails(STAT) ? -1 : NEXT(readlink)(path, out, size);
}

char *realpath(const char *restrict path, char *restrict out)
{
    return fails(STAT) ? NULL : NEXT(realpath)(path, out);
}

int fchmod(int fd, mode_t bits)
{
    return fails(CHMOD) ? -1 : NEXT(fchmod)(fd, bits);
}

int fchown(int fd, uid_t user, gid_t group)
{
    return fails(CHMOD) ? -1 : NEXT(fchown)(fd, user, group);
}

/* A name that cannot be removed stays: only what the caller says about it can be right or wrong. */
int unlink(const char *path)
{
    return NEXT(unlink)(path) != 0 || fails(UNLINK) ? -1 : 0;
}

int dup2(int from, int to)
{
    return fails(DUP) ? -1 : NEXT(dup2)(from, to);
}

int dup3(int from, int to, int flags)
{
    return fails(DUP) ? -1 : NEXT(dup3)(from, to, flags);
}

int fcntl64(int fd, int command, ...)
{
    va_list list;
    void *argument;

    va_start(list, command);
    argument = va_arg(list, void *);
    va_end(list);
    if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && fails(DUP)) {
        return -1;
    }
    return NEXT(fcntl64)(fd, command, argument);
}

/* Processes, threads and what joins them. */
pid_t fork(void)
{
    pid_t child = fails(FORK) ? -1 : NEXT(fork)();

    if (child == 0) {
        process = CHILD;
    }
    return child;
}

int posix_spawnp(pid_t *restrict child,
                 const char *restrict file,
                 const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *restrict attributes,
                 char *const arguments[],
                 char *const environment[])
{
    if (fails(FORK)) {
        return errno;
    }
    return NEXT(posix_spawnp)(child, file, actions, attributes, arguments, environment);
}

/* Only EINTR can go wrong here: a child that exists can be waited for. */
pid_t waitpid(pid_t child, int *state, int flags)
{
    return fails(WAIT) ? -1 : NEXT(waitpid)(child, state, flags);
}

pid_t wait4(pid_t child, int *state, int flags, struct rusage *used)
{
    return fails(WAIT) ? -1 : NEXT(wait4)(child, state, flags, used);
}

int pthread_create(pthread_t *restrict thread,
                   const pthread_attr_t *restrict attributes,
                   void *(*body)(void *),
                   void *restrict argument)
{
    return fails(THREAD) ? EAGAIN : NEXT(pthread_create)(thread, attributes, body, argument);
}

int socket(int domain, int type, int protocol)
{
    return fails(SOCKET) ? -1 : NEXT(socket)(domain, type, protocol);
}

int socketpair(int domain, int type, int protocol, int out[2])
{
    return fails(SOCKET) ? -1 : NEXT(socketpair)(domain, type, protocol, out);
}

int bind(int fd, const struct sockaddr *address, socklen_t size)
{
    return fails(SOCKET) ? -1 : NEXT(bind)(fd, address, size);
}

int listen(int fd, int backlog)
{
    return fails(SOCKET) ? -1 : NEXT(listen)(fd, backlog);
}

int accept(int fd, struct sockaddr *address, socklen_t *size)
{
    return fails(SOCKET) ? -1 : NEXT(accept)(fd, address, size);
}

int pipe(int out[2])
{
    return fails(PIPE) ? -1 : NEXT(pipe)(out);
}

int pipe2(int out[2], int flags)
{
    return fails(PIPE) ? -1 : NEXT(pipe2)(out, flags);
}

/* The confinement of the importer. */
int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
    return fails(CONFINE) ? -1 : NEXT(setrlimit64)(resource, limit);
}

int prctl(int option, ...)
{
    unsigned long argument[4];
    va_list list;

    va_start(list, option);
    for (int i = 0; i < 4; i++) {
        argument[i] = va_arg(list, unsigned long);
    }
    va_end(list);
    if (fails(CONFINE)) {
        return -1;
    }
    return NEXT(prctl)(option, argument[0], argument[1], argument[2], argument[3]);
}

int seccomp_load(const void *filter);
int seccomp_load(const void *filter)
{
    return fails(CONFINE) ? -ECANCELED : NEXT(seccomp_load)(filter);
}

static enum site site_of_syscall(long number)
{
    switch (number) {
    case SYS_openat2:
        return OPEN;
    case SYS_renameat2:
        return RENAME;
    case SYS_seccomp:
    case SYS_close_range:
        return CONFINE;
    case SYS_memfd_create:
        return OPEN;
    default:
        return SITE_COUNT;
    }
}

long syscall(long number, ...)
{
    enum site site = site_of_syscall(number);
    long argument[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++) {
        argument[i] = va_arg(list, long);
    }
    va_end(list);
    if (site != SITE_COUNT && fails(site)) {
        return -1;
    }
    return NEXT(syscall)(
        number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}

/* Streams, over the functions above. The cookie is the descriptor. */
static ssize_t stream_read(void *cookie, char *data, size_t size)
{
    return read((int)(intptr_t)cookie, data, size);
}

/* glibc's own streams write until all is written, and see EINTR only where a handler asks for it.
 */
static ssize_t stream_write(void *cookie, const char *data, size_t size)
{
    size_t done = 0;

    while (done < size) {
        ssize_t put = write((int)(intptr_t)cookie, data + done, size - done);

        if (put < 0 && errno != EINTR) {
            return 0; /* how a cookie says that it failed */
        }
        done += put > 0 ? (size_t)put : 0;
    }
    return (ssize_t)size;
}

static int stream_seek(void *cookie, off64_t *offset, int whence)
{
    *offset = lseek64((int)(intptr_t)cookie, *offset, whence);
    return *offset < 0 ? -1 : 0;
}

static int stream_close(void *cookie)
{
    return close((int)(intptr_t)cookie);
}

static FILE *stream(int fd, const char *how)
{
    cookie_io_functions_t functions = {stream_read, stream_write, stream_seek, stream_close};

    return fopencookie((void *)(intptr_t)fd, how, functions); // NOLINT: a number, not an address
}

FILE *fopen64(const char *restrict path, const char *restrict how)
{
    int flags =
        how[0] == 'r' ? O_RDONLY : O_WRONLY | O_CREAT | (how[0] == 'a' ? O_APPEND : O_TRUNC);
    FILE *file;
    int fd;

    if (strchr(how, '+') != NULL) {
        flags = (flags & ~O_ACCMODE) | O_RDWR;
    }
    fd = open(path, flags | O_CLOEXEC | (strchr(how, 'x') != NULL ? O_EXCL : 0), 0666);
    if (fd < 0) {
        return NULL;
    }
    file = stream(fd, how);
    if (file == NULL) {
        (void)NEXT(close)(fd);
        errno = ENOMEM;
    }
    return file;
}

FILE *fopen(const char *restrict path, const char *restrict how)
{
    return fopen64(path, how);
}

/* The beginning. */
static bool find(const char *word, const char *const *words, int count, int *out)
{
    for (*out = 0; *out < count; (*out)++) {
        if (strcmp(word, words[*out]) == 0) {
            return true;
        }
    }
    return false;
}

static bool read_wish(const char *text)
{
    static const char *const modes[] = {"once", "ever", "short", "interrupted"};
    static const char *const processes[] = {"main", "child"};
    const char *names[SITE_COUNT];
    char site_word[32], mode_word[32], process_word[32];
    int site_at, mode_at, process_at;

    for (int i = 0; i < SITE_COUNT; i++) {
        names[i] = sites[i].name;
    }
    if (sscanf(text, "%31[^:]:%u:%31[^:]:%31s", site_word, &wanted_call, mode_word, process_word) !=
            4 ||
        !find(site_word, names, SITE_COUNT, &site_at) || !find(mode_word, modes, 4, &mode_at) ||
        !find(process_word, processes, PROCESSES, &process_at)) {
        return false;
    }
    wanted_site = (enum site)site_at;
    mode = (enum mode)mode_at;
    wanted_process = process_at;
    return true;
}

static bool open_board(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    void *map;

    if (fd < 0 || ftruncate64(fd, sizeof(*board)) != 0) {
        return false;
    }
    map = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)NEXT(close)(fd);
    if (map == MAP_FAILED) {
        return false;
    }
    board = map;
    return true;
}

static int (*program)(int, char **, char **);

static int begin(int argc, char **argv, char **environment)
{
    const char *wish = getenv("FACET_FAULT"), *path = getenv("FACET_FAULT_BOARD");

    if ((wish != NULL && !read_wish(wish)) || (path != NULL && !open_board(path))) {
        fprintf(stderr, "faults: FACET_FAULT or FACET_FAULT_BOARD is wrong\n");
        return 99;
    }
    /* Programs that this one starts are its children, too. */
    process = getenv("FACET_FAULT_CHILD") != NULL ? CHILD : MAIN;
    (void)setenv("FACET_FAULT_CHILD", "1", 1);
    stdout = stream(STDOUT_FILENO, "w");
    counting = true;
    return program(argc, argv, environment);
}

int __libc_start_main(int (*entry)(int, char **, char **),
                      int argc,
                      char **argv,
                      void (*init)(void),
                      void (*fini)(void),
                      void (*loader_fini)(void),
                      void *stack_end);
int __libc_start_main(int (*entry)(int, char **, char **),
                      int argc,
                      char **argv,
                      void (*init)(void),
                      void (*fini)(void),
                      void (*loader_fini)(void),
                      void *stack_end)
{
    program = entry;
    return NEXT(__libc_start_main)(begin, argc, argv, init, fini, loader_fini, stack_end);
}

#pragma GCC visibility pop
