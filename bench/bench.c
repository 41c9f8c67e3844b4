/* The table of areas and what measurements share: the clock, repeated work, peers that are
 * programs.
 */
#include "bench/bench.h"

#include "base/error.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AREA(name) extern const struct bench_area bench_area_##name;
#include "bench/areas.def"
#undef AREA

const struct bench_area *const bench_areas[] = {
#define AREA(name) &bench_area_##name,
#include "bench/areas.def"
#undef AREA
    NULL,
};

static double seconds_on(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double bench_now(void)
{
    return seconds_on(CLOCK_MONOTONIC);
}

struct bench_meter bench_meter_start(double seconds)
{
    const double now = seconds_on(CLOCK_THREAD_CPUTIME_ID);

    return (struct bench_meter){.seconds = seconds, .start = now, .now = now};
}

bool bench_meter_more(struct bench_meter *meter, uint64_t units)
{
    meter->done += units;
    meter->now = seconds_on(CLOCK_THREAD_CPUTIME_ID);
    return meter->now - meter->start < meter->seconds;
}

double bench_meter_rate(const struct bench_meter *meter)
{
    return (double)meter->done / (meter->now - meter->start) * 1e-6;
}

/* Seconds that `count` units take. */
static double time_of(bench_work *work, void *context, uint64_t count)
{
    static volatile uint64_t sink;
    double start = bench_now();

    sink = sink + work(context, count);
    return bench_now() - start;
}

double bench_rate(bench_work *work, void *context, double seconds)
{
    uint64_t count = 64;
    double took = time_of(work, context, count);

    /* Find out roughly how fast it is, then measure for as long as was asked. */
    while (took < seconds / 8 && count < UINT64_C(1) << 60) {
        count *= 2;
        took = time_of(work, context, count);
    }
    if (took < seconds) {
        count = (uint64_t)((double)count * seconds / took);
        took = time_of(work, context, count);
    }
    return (double)count / took;
}

bool bench_has_program(const char *program)
{
    const char *path = getenv("PATH");
    char file[4096];

    if (program[0] == '\0') {
        return false;
    }
    if (strchr(program, '/') != NULL) {
        return access(program, X_OK) == 0;
    }
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");

        (void)snprintf(file, sizeof file, "%.*s/%s", (int)length, path, program);
        if (access(file, X_OK) == 0) {
            return true;
        }
        path += length + (path[length] == ':');
    }
    return false;
}

enum facet_status bench_spawn(char *const *argv, double *seconds, struct facet_error *err)
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    double start = bench_now();
    int status, failed;
    pid_t pid;

    if (!bench_has_program(argv[0])) {
        return facet_fail(err, FACET_ERR_IO, 0, "%s is not installed", argv[0]);
    }
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    (void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        return facet_fail(err, FACET_ERR_IO, 0, "%s: %s", argv[0], strerror(failed));
    }
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return facet_fail(err, FACET_ERR_IO, 0, "%s did not end with exit code 0", argv[0]);
    }
    *seconds = bench_now() - start;
    return FACET_OK;
}
