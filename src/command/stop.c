/* See stop.h. */
#include "command/stop.h"

#include "command/deadline.h"

#include <math.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

#define WAKE_EVERY 0.1 /* seconds, once the run is to end */

static const int signals[CLI_STOP_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
/* For the signal handlers. */
static const struct cli_stop *volatile watch;
static volatile sig_atomic_t caught, late;

/* First after that many seconds, then repeatedly; 0 switches it off. */
static void set_timer(double seconds)
{
    double whole, fraction = modf(seconds, &whole);
    struct itimerval timer = {
        .it_value = {.tv_sec = (time_t)whole, .tv_usec = (suseconds_t)(1e6 * fraction)},
        .it_interval = {.tv_usec = (suseconds_t)(1e6 * WAKE_EVERY)}};

    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

static void interrupt_machine(void)
{
    if (watch != NULL && watch->machine != NULL) {
        facet_machine_interrupt(watch->machine);
    }
}

static void on_alarm(int number)
{
    (void)number;
    if (caught == 0) {
        late = 1;
        interrupt_machine();
    }
}

/* The timer is ours from here on (deadline.h). */
static void wake_after(double seconds)
{
    struct sigaction act = {.sa_handler = on_alarm};

    set_timer(0);
    (void)sigaction(SIGALRM, &act, NULL);
    set_timer(seconds > 1e-6 ? seconds : 1e-6);
}

static void on_signal(int number)
{
    caught = number;
    for (int i = 0; i < CLI_STOP_SIGNALS; i++) {
        if (signals[i] == number && watch != NULL) {
            (void)sigaction(number, &watch->before[i], NULL); /* for the second one */
        }
    }
    wake_after(WAKE_EVERY);
    interrupt_machine();
}

double cli_stop_now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void cli_stop_begin(struct cli_stop *stop, facet_machine *machine, double max_seconds)
{
    struct sigaction act = {.sa_handler = on_signal};

    *stop = (struct cli_stop){.machine = machine, .deadline = cli_stop_now() + max_seconds};
    watch = stop;
    caught = late = 0;
    for (int i = 0; i < CLI_STOP_SIGNALS; i++) {
        (void)sigaction(signals[i], &act, &stop->before[i]);
        if (signals[i] == SIGHUP && stop->before[i].sa_handler == SIG_IGN) {
            (void)sigaction(signals[i], &stop->before[i], NULL); /* nohup */
        }
    }
    if (isfinite(stop->deadline)) {
        wake_after(max_seconds);
    }
}

/* The output that is still to be written is not waited for either, so the timer keeps running. */
void cli_stop_end(struct cli_stop *stop)
{
    watch = NULL;
    for (int i = 0; i < CLI_STOP_SIGNALS; i++) {
        (void)sigaction(signals[i], &stop->before[i], NULL);
    }
    if (isfinite(stop->deadline) && !cli_stop_wanted()) {
        set_timer(0);
    }
}

bool cli_stop_wanted(void)
{
    return caught != 0 || late != 0;
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
