/* Measurements of `facet bench`: each has a peer (another program, a library, the host's
 * hardware) measured alternately in the same run, so that a noisy machine shakes both alike. All
 * values are rates: higher is better.
 *
 * An area is one file bench/area_NAME.c that exports `const struct bench_area bench_area_NAME`;
 * bench/areas.def lists them. */
#ifndef FACET_BENCH_BENCH_H
#define FACET_BENCH_BENCH_H

#include <facet/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One measurement of about `seconds` seconds. A peer that is not installed fails with a message
 * that says so: the run continues without it. */
typedef enum facet_status bench_fn(double seconds, double *value, struct facet_error *err);

struct bench_measure {
    const char *name; /* "decode" */
    const char *unit; /* "Minsn/s" */
    bench_fn *facet;
    const char *peer; /* "GNU as 2.40", "host FPU"; NULL for none */
    bench_fn *peer_run;
};

struct bench_area {
    const char *name;                     /* "isa" */
    const char *summary;                  /* one line for the list of areas */
    const struct bench_measure *measures; /* ends with a NULL name */
    bool by_name;                         /* not part of `all`: needs what few hosts have */
};

extern const struct bench_area *const bench_areas[]; /* ends with NULL */

/* Seconds on a clock that only goes forward. */
double bench_now(void);

/* Work that can be repeated: does `count` units and returns something computed from their results,
 * which keeps the compiler from dropping them. */
typedef uint64_t bench_work(void *context, uint64_t count);
/* Units per second, measured over about `seconds`. */
double bench_rate(bench_work *work, void *context, double seconds);

/* Units done against the CPU time of the thread: other programs on the machine count little.
 *
 *     struct bench_meter meter = bench_meter_start(seconds);
 *     do {
 *         ...
 *     } while (bench_meter_more(&meter, units));
 *     *value = bench_meter_rate(&meter);
 */
struct bench_meter {
    double seconds; /* how long to measure */
    double start, now;
    uint64_t done;
};

struct bench_meter bench_meter_start(double seconds);
/* Counts units that are done; false when the time is up. */
bool bench_meter_more(struct bench_meter *meter, uint64_t units);
/* Million units per second. */
double bench_meter_rate(const struct bench_meter *meter);

/* true when the program is on PATH, or at the path given. */
bool bench_has_program(const char *program);
/* Runs a program (found on PATH) to its end, its output thrown away, and says what it used. Fails
 * when it cannot be started or does not exit with 0. `argv` ends with NULL. The program is killed
 * when this one ends before it. */
struct rusage;
enum facet_status bench_run_program(char *const *argv, struct rusage *use, struct facet_error *err);
/* The same, and gives the wall time. */
enum facet_status bench_spawn(char *const *argv, double *seconds, struct facet_error *err);

#endif
