/* How far a long job is: a bar with the remaining time on a terminal, an occasional plain line in a
 * log, nothing when quiet. The only part of the library that writes to a stream, and only to the
 * one that the caller names.
 *
 * Jobs shorter than a moment show nothing. A bar is erased when the job ends, so the output of a
 * command is the same with and without it. */
#ifndef FACET_BASE_PROGRESS_H
#define FACET_BASE_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct facet_progress_config {
    const char *label;    /* "rendering"; must outlive the progress */
    const char *unit;     /* "tiles", or NULL */
    uint64_t total;       /* 0 = unknown: counts without a bar */
    int fd;               /* usually STDERR_FILENO */
    bool quiet;           /* write nothing at all */
    unsigned interval_ms; /* least time between two updates, and before the first; 0 = 100 on a
                             terminal, 5000 elsewhere */
};

struct facet_progress {
    struct facet_progress_config config;
    bool terminal;
    bool shown;        /* under the lock */
    uint64_t start_ms; /* monotonic */
    _Atomic uint64_t done;
    _Atomic uint64_t next_ms; /* when the next update is due */
    pthread_mutex_t lock;     /* one writer at a time */
};

void facet_progress_start(struct facet_progress *progress,
                          const struct facet_progress_config *config);
/* Counts `units` more; from any thread, never waits for the stream's other writers. NULL is allowed
 * and does nothing. */
void facet_progress_add(struct facet_progress *progress, uint64_t units);
/* Erases the bar, or ends a started log with a last line. Call once; NULL is allowed. */
void facet_progress_finish(struct facet_progress *progress);

#endif
