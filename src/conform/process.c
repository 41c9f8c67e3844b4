/* Other programs: children that do not outlive this one. */
#include "conform/internal.h"

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

double conform_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

bool conform_stopped(const struct conform_target *target)
{
    return target->stop != NULL && target->stop();
}

int conform_spawn(char *const *words, int in, int out, int error)
{
    int pid = fork();

    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)setpgid(0, 0);
        if (dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(error, 2) == 2) {
            (void)execvp(words[0], words);
        }
        _exit(127);
    }
    return pid;
}
