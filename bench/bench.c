/* The table of areas and what measurements share: the clock, repeated work, peers that are
 * programs.
 */
#include "bench/bench.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

/* In the new process: its end is ours, and its output is discarded. */
_Noreturn static void become(char *const *argv, pid_t parent)
{
    int nothing = open("/dev/null", O_RDWR);

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || nothing < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 ||
        dup2(nothing, 2) < 0) {
        _exit(127);
    }
    (void)execvp(argv[0], argv);
    _exit(127);
}

enum facet_status bench_run_program(char *const *argv, struct rusage *use, struct facet_error *err)
{
    pid_t parent = getpid(), pid;
    int status;

    if (!bench_has_program(argv[0])) {
        return facet_fail(err, FACET_ERR_IO, 0, "%s is not installed", argv[0]);
    }
    pid = fork();
    if (pid < 0) {
        return facet_fail(err, FACET_ERR_IO, 0, "%s: %s", argv[0], strerror(errno));
    }
    if (pid == 0) {
        become(argv, parent);
    }
    if (wait4(pid, &status, 0, use) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return facet_fail(err, FACET_ERR_IO, 0, "%s did not end with exit code 0", argv[0]);
    }
    return FACET_OK;
}

enum facet_status bench_spawn(char *const *argv, double *seconds, struct facet_error *err)
{
    double start = bench_now();
    struct rusage use;
    enum facet_status status = bench_run_program(argv, &use, err);

    if (status == FACET_OK) {
        *seconds = bench_now() - start;
    }
    return status;
}
