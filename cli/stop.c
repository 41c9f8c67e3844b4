/* See stop.h. */
#include "cli/stop.h"

#include "cli/deadline.h"

#include <math.h>
#include <time.h>

#define POLL_EVERY 1000000 /* nanoseconds between two looks at the clock */

static const int signals[CLI_STOP_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
/* For the signal handler alone. */
static const struct cli_stop *watch;
static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    caught = number;
    for (int i = 0; i < CLI_STOP_SIGNALS; i++) {
        if (signals[i] == number) {
            (void)sigaction(number, &watch->before[i], NULL); /* for the second one */
        }
    }
    facet_machine_interrupt(watch->machine);
}

double cli_stop_now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool on_poll(void *context)
{
    struct cli_stop *stop = context;

    stop->time_is_up = cli_stop_now() >= stop->deadline;
    return stop->time_is_up;
}

void cli_stop_begin(struct cli_stop *stop, facet_machine *machine, double max_seconds)
{
    struct sigaction act = {.sa_handler = on_signal};

    *stop = (struct cli_stop){.machine = machine, .deadline = cli_stop_now() + max_seconds};
    watch = stop;
    caught = 0;
    for (int i = 0; i < CLI_STOP_SIGNALS; i++) {
        (void)sigaction(signals[i], &act, &stop->before[i]);
        if (signals[i] == SIGHUP && stop->before[i].sa_handler == SIG_IGN) {
            (void)sigaction(signals[i], &stop->before[i], NULL); /* nohup */
        }
    }
    if (isfinite(stop->deadline)) {
        cli_deadline_off();
        facet_machine_poll(machine, on_poll, stop, POLL_EVERY);
    }
}

void cli_stop_end(struct cli_stop *stop)
{
    for (int i = 0; i < CLI_STOP_SIGNALS; i++) {
        (void)sigaction(signals[i], &stop->before[i], NULL);
    }
    if (isfinite(stop->deadline)) {
        facet_machine_poll(stop->machine, NULL, NULL, 0);
    }
}

int cli_stop_signal(void)
{
    return caught;
}

int cli_stop_code(void)
{
    return caught != 0 ? 128 + caught : CLI_LIMIT;
}

const char *cli_stop_why(void)
{
    return caught != 0 ? "interrupted" : "the time limit is reached";
}

double cli_stop_seconds_left(const struct cli_stop *stop)
{
    return stop->deadline - cli_stop_now();
}
