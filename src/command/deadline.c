/* See deadline.h. */
#include "command/deadline.h"

#include "command/frame.h"
#include "command/stop.h"

#include "base/file.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* A command that runs a machine may take so long to begin with it, whatever the limit is: then it
 * can say where it was stopped. */
#define LEAST_SECONDS 2.0

static char message[256]; /* for the signal handler alone */
static double end = HUGE_VAL;

static void on_alarm(int number)
{
    (void)number;
    facet_file_abandon();
    (void)!write(STDERR_FILENO, message, strlen(message));
    _exit(CLI_LIMIT);
}

/* 0 switches it off. */
static void set_timer(double seconds)
{
    double whole, fraction = modf(seconds, &whole);
    struct itimerval timer = {
        .it_value = {.tv_sec = (time_t)whole, .tv_usec = (suseconds_t)(1e6 * fraction)}};

    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

bool cli_deadline_start(const struct cli_args *args)
{
    struct sigaction act = {.sa_handler = on_alarm};
    double seconds = 0, least = cli_has_own(args->command, "max-seconds") ? LEAST_SECONDS : 1e-6;

    if (!cli_given(args, "max-seconds")) {
        return true;
    }
    if (!cli_real(args, "max-seconds", 0, CLI_MOST_SECONDS, &seconds)) {
        return false;
    }
    (void)snprintf(message,
                   sizeof message,
                   "facet %s: the time limit of %g s is reached\n",
                   args->command->name,
                   seconds);
    end = cli_stop_now() + seconds;
    (void)sigaction(SIGALRM, &act, NULL);
    set_timer(seconds > least ? seconds : least);
    return true;
}

double cli_deadline_left(void)
{
    return end - cli_stop_now();
}
