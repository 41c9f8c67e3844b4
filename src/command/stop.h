/* What ends a run from outside: signals and the clock.
 *
 * Between begin and end SIGINT, SIGTERM and SIGHUP ask the machine to leave its run, wherever it
 * is (facet_machine_interrupt); the second signal of a kind does what it did before. The deadline
 * is a timer that does the same. From then on the timer wakes the program again and again, so that
 * a write to a pipe that is not being read does not hold it. One watch at a time. */
#ifndef FACET_COMMAND_STOP_H
#define FACET_COMMAND_STOP_H

#include <facet/machine.h>
#include <signal.h>
#include <stdbool.h>

enum { CLI_STOP_SIGNALS = 3 };

/* The option of commands that keep the time with a watch. */
#define CLI_STOP_OPTION                                                                            \
    {                                                                                              \
        "max-seconds", 0, "SECONDS", "stop after this wall-clock time (exit code 124)"             \
    }

struct cli_stop {
    facet_machine *machine;
    double deadline; /* seconds of CLOCK_MONOTONIC */
    struct sigaction before[CLI_STOP_SIGNALS];
};

/* machine: NULL for a run of something else, which asks cli_stop_wanted. max_seconds: HUGE_VAL for
 * no deadline. */
void cli_stop_begin(struct cli_stop *stop, facet_machine *machine, double max_seconds);
void cli_stop_end(struct cli_stop *stop);
/* The signal that came since the last begin; 0: none. */
int cli_stop_signal(void);
/* Whether a signal came or the time is over. */
bool cli_stop_wanted(void);
/* How a program ends whose run was stopped: by the signal, as shells have it (130 after Ctrl-C), or
 * by the clock; and the same in words. */
int cli_stop_code(void);
const char *cli_stop_why(void);
/* Until the deadline; below 0 after it. */
double cli_stop_seconds_left(const struct cli_stop *stop);
/* Seconds of CLOCK_MONOTONIC. */
double cli_stop_now(void);

#endif
