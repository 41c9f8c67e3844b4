/* file.h and error.h: complete files or none, and complaints that say what and where. */
#define _GNU_SOURCE
#include "base/failing_alloc.h"
#include "base/file.h"
#include "base/new_file.h"
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a host that refuses (linked with --wrap) ---- */

static const char *refused_call; /* NULL: none */
static long good_calls;          /* of it, before it is refused once */
static bool no_nameless;         /* a file system without O_TMPFILE */

static bool refuses(const char *call)
{
    if (refused_call == NULL || strcmp(call, refused_call) != 0 || good_calls-- != 0) {
        return false;
    }
    errno = EIO;
    return true;
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (no_nameless && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return refuses("open") ? -1 : __real_open64(path, flags, mode);
}

#define WRAP(call, parameters, arguments)                                                          \
    int __real_##call parameters;                                                                  \
    int __wrap_##call parameters;                                                                  \
    int __wrap_##call parameters                                                                   \
    {                                                                                              \
        return refuses(#call) ? -1 : __real_##call arguments;                                      \
    }

WRAP(fsync, (int fd), (fd))
WRAP(fchmod, (int fd, mode_t mode), (fd, mode))
WRAP(rename, (const char *from, const char *to), (from, to))
WRAP(linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags))

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size)
{
    return refuses("write") ? -1 : __real_write(fd, data, size);
}

ssize_t __real_pwrite64(int fd, const void *data, size_t size, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t size, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t size, off_t at)
{
    return refuses("pwrite64") ? -1 : __real_pwrite64(fd, data, size != 0, at);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    return __real_close(fd) != 0 || refuses("close") ? -1 : 0;
}

/* ---- */

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[2][512];
    static int turn;

    turn ^= 1;
    (void)snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static bool begin(void)
{
    strcpy(folder, "/tmp/facet-file-XXXXXX");
    return CHECK(mkdtemp(folder) != NULL);
}

/* Removes the folder; returns how many entries were in it. */
static int end(void)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    int count = 0;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            count++;
            (void)remove(in_folder(entry->d_name));
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    CHECK(rmdir(folder) == 0);
    return count;
}

static void check_content(const char *path, const char *expect)
{
    struct facet_bytes file;

    if (CHECK(facet_file_read(path, 1 << 20, &file, NULL) == FACET_OK)) {
        CHECK_STR((const char *)file.data, expect);
        CHECK_EQ(file.size, strlen(expect));
        free(file.data);
    }
}

TEST(write_then_read, "")
{
    struct stat info;
    mode_t mask;

    if (!begin()) {
        return;
    }
    mask = umask(027);
    CHECK(facet_file_write(in_folder("a"), "hello", 5, NULL) == FACET_OK);
    umask(mask);
    check_content(in_folder("a"), "hello");
    CHECK(stat(in_folder("a"), &info) == 0 && (info.st_mode & 0777) == 0640);
    CHECK(facet_file_write(in_folder("a"), "", 0, NULL) == FACET_OK);
    check_content(in_folder("a"), "");
    CHECK_EQ(end(), 1); /* no temporary name left */
}

TEST(large_file_and_limit, "")
{
    size_t size = 300000;
    char *text = malloc(size + 1);
    struct facet_bytes file;
    struct facet_error err;

    if (!begin() || text == NULL) {
        return;
    }
    for (size_t i = 0; i < size; i++) {
        text[i] = (char)(' ' + harness_random() % 90);
    }
    text[size] = '\0';
    CHECK(facet_file_write(in_folder("big"), text, size, NULL) == FACET_OK);
    check_content(in_folder("big"), text);
    CHECK(facet_file_read(in_folder("big"), size, &file, NULL) == FACET_OK);
    free(file.data);
    CHECK(facet_file_read(in_folder("big"), size - 1, &file, &err) == FACET_ERR_LIMIT);
    CHECK(file.data == NULL && strstr(err.message, "299999") != NULL);
    CHECK_EQ(err.where, size - 1);
    for (long good = 0; good < 3; good++) {
        failing_alloc_after(good);
        CHECK(facet_file_read(in_folder("big"), size, &file, &err) == FACET_ERR_MEMORY);
        failing_alloc_after(-1);
        CHECK(file.data == NULL);
    }
    (void)end();
    free(text);
}

TEST(failures_say_what_and_leave_nothing, "")
{
    struct facet_bytes file;
    struct facet_error err;
    char *long_name = malloc(5000);

    if (!begin() || long_name == NULL) {
        return;
    }
    CHECK(facet_file_read(in_folder("absent"), 10, &file, &err) == FACET_ERR_IO);
    CHECK(strstr(err.message, "absent: No such file") != NULL && file.data == NULL);
    CHECK(facet_file_read(folder, 10, &file, &err) == FACET_ERR_IO);
    CHECK(strstr(err.message, "is a folder") != NULL);
    CHECK(facet_file_write(in_folder("no/such/folder"), "x", 1, &err) == FACET_ERR_IO);
    CHECK(strstr(err.message, "no/such/folder: cannot create") != NULL);
    memset(long_name, 'a', 4999);
    long_name[4999] = '\0';
    CHECK(facet_file_write(long_name, "x", 1, &err) == FACET_ERR_IO);
    /* The target is a folder. */
    CHECK(mkdir(in_folder("sub"), 0777) == 0);
    CHECK(facet_file_write(in_folder("sub"), "x", 1, &err) == FACET_ERR_IO);
    CHECK(strstr(err.message, "sub: cannot write: Is a directory") != NULL);
    CHECK_EQ(end(), 1);
    free(long_name);
}

/* A full disk, played by a limit on the file size in a child process. */
TEST(old_file_survives_a_failed_write, "")
{
    static char big[100000];
    struct facet_error err;
    int state = 0;
    pid_t child;

    if (!begin()) {
        return;
    }
    CHECK(facet_file_write(in_folder("old"), "precious", 8, NULL) == FACET_OK);
    child = fork();
    if (child == 0) {
        struct rlimit limit = {50000, 50000};

        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(facet_file_write(in_folder("old"), big, sizeof big, &err) == FACET_ERR_IO &&
                      strstr(err.message, "old: cannot write: File too large") != NULL
                  ? 0
                  : 1);
    }
    CHECK(child > 0 && waitpid(child, &state, 0) == child && WIFEXITED(state) &&
          WEXITSTATUS(state) == 0);
    check_content(in_folder("old"), "precious");
    CHECK_EQ(end(), 1);
}

/* Files that belong together: all or none, whichever of them fails. */
TEST(several_files_or_none, "")
{
    char first[512], last[512];
    struct facet_file_part parts[3] = {{first, "one", 3}, {"/dev/null", "two", 3}, {last, "", 0}};
    const char *const bad[] = {folder, "/dev/full", "/no/such/folder/x"};
    struct facet_error err;

    if (!begin()) {
        return;
    }
    (void)snprintf(first, sizeof first, "%s", in_folder("first"));
    (void)snprintf(last, sizeof last, "%s", in_folder("last"));
    CHECK(facet_file_write_all(parts, 3, NULL) == FACET_OK);
    check_content(first, "one");
    check_content(last, "");
    parts[0].data = "ONE";
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (i == 1 && access(bad[i], W_OK) != 0) {
            continue;
        }
        parts[1].path = bad[i];
        parts[2].path = in_folder("new");
        CHECK(facet_file_write_all(parts, 3, &err) == FACET_ERR_IO);
        CHECK(strstr(err.message, bad[i]) == err.message);
        CHECK(access(in_folder("new"), F_OK) != 0);
        check_content(first, "one");
    }
    parts[1].path = "/dev/null";
    for (int n = 0; n < 2; n++) { /* of its own memory */
        struct facet_new_file made;

        CHECK(facet_new_file_open(&made, in_folder("new"), n != 0, NULL) == FACET_OK);
        failing_alloc_after(n);
        CHECK(facet_file_write_with(&made, parts, 2, &err) == FACET_ERR_MEMORY);
        failing_alloc_after(-1);
        CHECK_EQ(made.fd, -1);
        check_content(first, "one");
    }
    CHECK_EQ(end(), 2); /* and no temporary name is left */
}

/* All parts, or all but the last one, which is written piece by piece before them. */
static enum facet_status
write_three(const struct facet_file_part parts[3], bool made, struct facet_error *err)
{
    const char *const bytes = parts[2].data;
    struct facet_new_file last;
    enum facet_status status;

    if (!made) {
        return facet_file_write_all(parts, 3, err);
    }
    status = facet_new_file_open(&last, parts[2].path, true, err);
    if (status == FACET_OK) {
        status = facet_new_file_put(&last, 1, bytes + 1, parts[2].size - 1, err);
    }
    if (status == FACET_OK) {
        status = facet_new_file_put(&last, 0, bytes, 1, err);
    }
    if (status == FACET_OK) {
        return facet_file_write_with(&last, parts, 2, err);
    }
    facet_new_file_discard(&last);
    return status;
}

/* Every call refused in turn, with and without nameless files: the old files or the new ones. */
TEST(refused_calls_leave_all_old_files_or_make_all_new_ones, "")
{
    static const char *const calls[] = {
        "open", "write", "pwrite64", "fsync", "fchmod", "close", "linkat", "rename"};
    char old[512], other[512], fresh[512];
    const struct facet_file_part before[2] = {{old, "old", 3}, {other, "OLD", 3}};
    const struct facet_file_part parts[3] = {
        {old, "new", 3}, {fresh, "fresh", 5}, {other, "NEW", 3}};
    size_t refusals = 0;

    if (!begin()) {
        return;
    }
    (void)snprintf(old, sizeof old, "%s", in_folder("old"));
    (void)snprintf(other, sizeof other, "%s", in_folder("other"));
    (void)snprintf(fresh, sizeof fresh, "%s", in_folder("fresh"));
    for (size_t i = 0; i < 4 * sizeof calls / sizeof calls[0]; i++) {
        no_nameless = i % 2 != 0;
        for (long n = 0;; n++) {
            struct facet_error err = {0};
            enum facet_status status;
            bool reached;

            CHECK(facet_file_write_all(before, 2, NULL) == FACET_OK);
            (void)unlink(fresh);
            refused_call = calls[i / 4];
            good_calls = n;
            status = write_three(parts, i / 2 % 2 != 0, &err);
            reached = good_calls < 0;
            refused_call = NULL;
            CHECK(status == FACET_OK || strstr(err.message, strerror(EIO)) != NULL);
            if (status == FACET_OK) {
                check_content(old, "new");
                check_content(fresh, "fresh");
                check_content(other, "NEW");
            } else if (i / 4 != 7 || n == 0) { /* after one rename there is no way back */
                check_content(old, "old");
                CHECK(access(fresh, F_OK) != 0);
                check_content(other, "OLD");
            }
            if (!reached) {
                CHECK(status == FACET_OK);
                break;
            }
            refusals += status != FACET_OK;
        }
    }
    no_nameless = false;
    CHECK(refusals > 40);
    (void)unlink(fresh);
    CHECK_EQ(end(), 2);
}

/* What a replaced file was: its permissions, and the links to it. */
TEST(permissions_and_links_stay, "")
{
    struct stat info, hard;

    for (int i = 0; i < 2; i++) {
        no_nameless = i != 0;
        if (!begin()) {
            return;
        }
        CHECK(facet_file_write(in_folder("a"), "old", 3, NULL) == FACET_OK);
        CHECK(chmod(in_folder("a"), 0600) == 0);
        CHECK(link(in_folder("a"), in_folder("hard")) == 0);
        CHECK(symlink("b", in_folder("link")) == 0 && symlink("a", in_folder("b")) == 0);
        CHECK(facet_file_write(in_folder("link"), "new", 3, NULL) == FACET_OK);
        CHECK(lstat(in_folder("link"), &info) == 0 && S_ISLNK(info.st_mode));
        CHECK(lstat(in_folder("b"), &info) == 0 && S_ISLNK(info.st_mode));
        CHECK(lstat(in_folder("a"), &info) == 0 && S_ISREG(info.st_mode));
        CHECK_EQ(info.st_mode & 0777, 0600);
        CHECK(stat(in_folder("hard"), &hard) == 0 && hard.st_ino != info.st_ino);
        check_content(in_folder("a"), "new");
        check_content(in_folder("hard"), "old");
        CHECK(chmod(in_folder("a"), 0755) == 0);
        CHECK(facet_file_write(in_folder("a"), "more", 4, NULL) == FACET_OK);
        CHECK(stat(in_folder("a"), &info) == 0 && (info.st_mode & 0777) == 0755);
        CHECK_EQ(end(), 4);
    }
    no_nameless = false;
}

TEST(links_to_nothing_and_to_themselves, "")
{
    struct facet_error err;
    struct stat info;

    if (!begin()) {
        return;
    }
    CHECK(symlink("made", in_folder("link")) == 0 && symlink("loop", in_folder("loop")) == 0);
    CHECK(facet_file_same(in_folder("link"), in_folder("made")));
    CHECK(facet_file_write(in_folder("link"), "new", 3, NULL) == FACET_OK);
    CHECK(lstat(in_folder("link"), &info) == 0 && S_ISLNK(info.st_mode));
    check_content(in_folder("made"), "new");
    CHECK(facet_file_write(in_folder("loop"), "x", 1, &err) == FACET_ERR_IO);
    CHECK(strstr(err.message, strerror(ELOOP)) != NULL);
    CHECK_EQ(end(), 3);
}

/* A file that its owner protects is not replaced although the folder would allow it. The superuser
 * may write anything: tried as somebody else. */
TEST(a_protected_file_is_not_replaced, "")
{
    int state = 0;
    pid_t child;

    if (!begin()) {
        return;
    }
    CHECK(facet_file_write(in_folder("a"), "old", 3, NULL) == FACET_OK);
    CHECK(chmod(in_folder("a"), 0444) == 0 && chmod(folder, 0777) == 0);
    child = fork();
    if (child == 0) {
        struct facet_error err;

        if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0)) {
            _exit(2);
        }
        _exit(facet_file_write(in_folder("a"), "new", 3, &err) == FACET_ERR_IO &&
                      strstr(err.message, strerror(EACCES)) != NULL
                  ? 0
                  : 1);
    }
    CHECK(child > 0 && waitpid(child, &state, 0) == child && state == 0);
    check_content(in_folder("a"), "old");
    CHECK_EQ(end(), 1);
}

/* A signal handler that ends the program removes the names of files in the making. */
static void end_by_abandoning(int number)
{
    (void)number;
    facet_file_abandon();
    _exit(0);
}

TEST(abandoned_files_leave_no_names, "")
{
    struct facet_new_file file[2];
    int state = 0;
    pid_t child;

    if (!begin()) {
        return;
    }
    child = fork();
    if (child == 0) {
        no_nameless = true;
        (void)signal(SIGTERM, end_by_abandoning);
        if (facet_new_file_open(&file[0], in_folder("one"), true, NULL) == FACET_OK &&
            facet_new_file_open(&file[1], in_folder("two"), true, NULL) == FACET_OK &&
            access(file[0].temporary, F_OK) == 0 && access(file[1].temporary, F_OK) == 0) {
            (void)raise(SIGTERM);
        }
        _exit(1);
    }
    CHECK(child > 0 && waitpid(child, &state, 0) == child && state == 0);
    CHECK_EQ(end(), 0);
}

/* What a redirected standard output is called in /proc is written to, not replaced. */
TEST(a_descriptor_by_name_is_written_in_place, "")
{
    struct stat before, after;
    char name[64];
    int fd;

    if (!begin()) {
        return;
    }
    fd = open(in_folder("a"), O_RDWR | O_CREAT, 0666);
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    CHECK(fd >= 0 && facet_file_in_place(name));
    CHECK(facet_file_write(name, "through", 7, NULL) == FACET_OK);
    CHECK(fstat(fd, &before) == 0 && stat(in_folder("a"), &after) == 0);
    CHECK_EQ(before.st_ino, after.st_ino);
    check_content(in_folder("a"), "through");
    (void)close(fd);
    CHECK_EQ(end(), 1);
}

TEST(device_is_written_in_place, "")
{
    struct facet_error err;
    struct stat info;

    CHECK(facet_file_write("/dev/null", "x", 1, NULL) == FACET_OK);
    CHECK(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
    if (access("/dev/full", W_OK) == 0) {
        CHECK(facet_file_write("/dev/full", "x", 1, &err) == FACET_ERR_IO);
        CHECK(strstr(err.message, "No space") != NULL);
    }
}

/* "-" through a pipe on both sides: the child copies standard input to standard output. */
TEST(dash_is_standard_input_and_output, "")
{
    int in[2], out[2], state = 0;
    char got[16] = "";
    pid_t child;

    if (!CHECK(pipe(in) == 0 && pipe(out) == 0)) {
        return;
    }
    child = fork();
    if (child == 0) {
        struct facet_bytes file;
        bool ok;

        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[1]);
        ok = facet_file_read("-", 100, &file, NULL) == FACET_OK &&
             facet_file_write("-", file.data, file.size, NULL) == FACET_OK;
        _exit(ok ? 0 : 1);
    }
    close(in[0]);
    close(out[1]);
    CHECK(write(in[1], "dash\0works", 10) == 10);
    close(in[1]);
    CHECK(read(out[0], got, sizeof got) == 10 && memcmp(got, "dash\0works", 10) == 0);
    close(out[0]);
    CHECK(waitpid(child, &state, 0) == child && state == 0);
}

TEST(messages_are_one_line_that_no_terminal_obeys, "")
{
    struct facet_error err;

    (void)facet_fail(&err, FACET_ERR_INPUT, 0, "a\033b\n%s", "\xC3\xA9\x9B");
    CHECK_STR(err.message, "a\\u001bb\\u000a\xC3\xA9\\x9b");
    (void)facet_fail_in(&err, "x\ry");
    CHECK_STR(err.message, "x\\u000dy: a\\u001bb\\u000a\xC3\xA9\\x9b");
}

TEST(errors_nest, "")
{
    struct facet_error err = {FACET_OK, 0, ""};
    char *name = malloc(1000);

    CHECK(facet_fail(&err, FACET_ERR_INPUT, 7, "line %d: bad", 7) == FACET_ERR_INPUT);
    facet_fail_in(&err, "a.json");
    facet_fail_in(NULL, "a.json");
    CHECK_EQ(err.status, FACET_ERR_INPUT);
    CHECK_STR(err.message, "a.json: line 7: bad");
    CHECK_EQ(err.where, 7);
    CHECK(facet_fail(NULL, FACET_ERR_IO, 0, "x") == FACET_ERR_IO);
    for (int status = FACET_OK; status <= FACET_ERR_INTERNAL; status++) {
        CHECK(strcmp(facet_status_name((enum facet_status)status), "unknown status") != 0);
    }
    CHECK_STR(facet_status_name((enum facet_status)99), "unknown status");
    if (name != NULL) {
        memset(name, 'n', 999);
        name[999] = '\0';
        (void)facet_fail(&err, FACET_ERR_IO, 0, "%s", name);
        (void)facet_fail_in(&err, name);
        CHECK(strlen(err.message) < sizeof err.message);
    }
    free(name);
}
