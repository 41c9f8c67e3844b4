/* progress.h on a pipe, on a pseudo-terminal, and quiet. */
#define _GNU_SOURCE
#include "base/pool.h"
#include "base/progress.h"
#include "harness.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static void sleep_ms(long ms)
{
    struct timespec t = {0, ms * 1000000};

    nanosleep(&t, NULL);
}

/* Counts to 50 in ten steps with one update per step. */
static void job(const struct facet_progress_config *config)
{
    struct facet_progress progress;

    facet_progress_start(&progress, config);
    for (int i = 0; i < 10; i++) {
        sleep_ms(3);
        facet_progress_add(&progress, 5);
    }
    facet_progress_finish(&progress);
}

/* What the job wrote into a pipe. */
static void run_into_pipe(struct facet_progress_config config, char *out, size_t size)
{
    int fds[2];
    ssize_t got;

    out[0] = '\0';
    if (!CHECK(pipe(fds) == 0)) {
        return;
    }
    config.fd = fds[1];
    job(&config);
    close(fds[1]);
    got = read(fds[0], out, size - 1);
    out[got > 0 ? got : 0] = '\0';
    close(fds[0]);
}

TEST(a_pipe_gets_plain_lines, "")
{
    struct facet_progress_config config = {
        .label = "counting", .unit = "things", .total = 50, .interval_ms = 1};
    char text[4096];

    run_into_pipe(config, text, sizeof text);
    CHECK(strncmp(text, "counting:  10 % (5/50 things), ", 31) == 0);
    CHECK(strstr(text, "counting: 100 % (50/50 things), 0 s left\n") != NULL);
    CHECK(strstr(text, "counting: 50 things in 1 s\n") != NULL);
    CHECK(strchr(text, '\r') == NULL && strchr(text, '\033') == NULL);
}

TEST(an_unknown_total_counts, "")
{
    struct facet_progress_config config = {.label = "fuzzing", .interval_ms = 1};
    char text[4096];

    run_into_pipe(config, text, sizeof text);
    CHECK(strncmp(text, "fuzzing: 5, 1 s\n", 16) == 0);
    CHECK(strchr(text, '%') == NULL);
}

TEST(updates_are_rate_limited, "")
{
    struct facet_progress_config config = {.label = "x", .total = 50, .interval_ms = 12};
    char text[4096];
    int lines = 0;

    run_into_pipe(config, text, sizeof text);
    for (const char *p = text; *p != '\0'; p++) {
        lines += *p == '\n';
    }
    CHECK_MSG(lines >= 2 && lines <= 9, "%d lines", lines); /* 11 without a limit */
}

TEST(quiet_and_short_jobs_write_nothing, "")
{
    struct facet_progress_config quiet = {
        .label = "x", .total = 50, .quiet = true, .interval_ms = 1};
    struct facet_progress_config short_job = {.label = "x", .total = 50};
    char text[4096];

    run_into_pipe(quiet, text, sizeof text);
    CHECK_STR(text, "");
    run_into_pipe(short_job, text, sizeof text);
    CHECK_STR(text, "");
    facet_progress_add(NULL, 1);
    facet_progress_finish(NULL);
}

/* What the job draws on a terminal of this width; false when the host has none. */
static bool run_on_terminal(const char *label, unsigned short columns, char *out, size_t size)
{
    struct facet_progress_config config = {.label = label, .total = 50, .interval_ms = 1};
    struct winsize window = {.ws_row = 24, .ws_col = columns};
    int primary = posix_openpt(O_RDWR | O_NOCTTY);
    ssize_t got = 0, more;

    if (primary < 0 || grantpt(primary) != 0 || unlockpt(primary) != 0 ||
        (config.fd = open(ptsname(primary), O_RDWR | O_NOCTTY)) < 0) {
        harness_skip("no pseudo-terminal here");
        return false;
    }
    CHECK(ioctl(primary, TIOCSWINSZ, &window) == 0);
    job(&config);
    close(config.fd);
    while ((more = read(primary, out + got, size - 1 - (size_t)got)) > 0) {
        got += more;
    }
    out[got] = '\0';
    close(primary);
    return true;
}

TEST(a_terminal_gets_a_bar_that_is_erased, "")
{
    char text[8192];
    size_t length;

    if (!run_on_terminal("drawing", 60, text, sizeof text)) {
        return;
    }
    length = strlen(text);
    CHECK(strncmp(text, "\rdrawing:  10 % (5/50), ", 24) == 0);
    CHECK(strstr(text, "[##") != NULL && strstr(text, "..]") != NULL);
    CHECK(length > 4 && strcmp(text + length - 4, "\r\033[K") == 0);
    CHECK(strchr(text, '\n') == NULL);
}

/* Writing the last column makes some terminals wrap. */
TEST(no_line_reaches_the_last_column, "")
{
    for (unsigned short columns = 20; columns < 140; columns += 7) {
        char text[8192];

        if (!run_on_terminal("a label of some length", columns, text, sizeof text)) {
            return;
        }
        for (const char *line = strchr(text, '\r'); line != NULL; line = strchr(line + 1, '\r')) {
            CHECK(strcspn(line + 1, "\033") < columns);
        }
    }
}

static void add_all(void *context, size_t begin, size_t end)
{
    facet_progress_add(context, end - begin);
}

TEST(counting_is_thread_safe, "")
{
    struct facet_progress_config config = {.label = "x", .total = 100000, .quiet = true};
    struct facet_progress progress;
    facet_pool *pool;

    facet_progress_start(&progress, &config);
    CHECK(facet_pool_create(4, &pool, NULL) == FACET_OK);
    facet_pool_for(pool, 100000, 7, add_all, &progress);
    CHECK_EQ(progress.done, 100000);
    facet_pool_destroy(pool);
    facet_progress_finish(&progress);
}
