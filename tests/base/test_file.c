/* file.h and error.h: complete files or none, and complaints that say what and where. */
#define _GNU_SOURCE
#include "base/failing_alloc.h"
#include "base/file.h"
#include "harness.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
    for (long good = 0; good < 3; good++) {
        failing_alloc_after(good);
        CHECK(facet_file_write_all(parts, 3, &err) != FACET_OK);
        failing_alloc_after(-1);
        check_content(first, "one");
    }
    CHECK_EQ(end(), 2); /* and no temporary name is left */
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

TEST(errors_nest, "")
{
    struct facet_error err = {FACET_OK, 0, ""};
    char *name = malloc(1000);

    CHECK(facet_fail(&err, FACET_ERR_INPUT, 7, "line %d: bad", 7) == FACET_ERR_INPUT);
    CHECK(facet_fail_in(&err, "a.json") == FACET_ERR_INPUT);
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
