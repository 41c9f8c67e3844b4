/* Jobs that a program has submitted and not waited for, with the bytes that each one read and
 * wrote. Until the wait a job may run at any time (R-RT-37, R-XM-28): what it writes is not there
 * yet, what it reads must stay. */
#ifndef FACET_LINT_JOBS_H
#define FACET_LINT_JOBS_H

#include "xphmg/units/jobs.h"

enum { LINT_NO_QUEUE = 0 }; /* beside FACET_QUEUE_RT, ... */

/* Who submits what, and where. */
struct lint_submission {
    uint32_t hart;
    uint64_t pc;
    unsigned queue;
    bool lds; /* a copy from or to the LDS */
};

struct lint_job {
    struct lint_submission by;
    uint64_t sequence;       /* of its ticket, or the number of a copy that completes late */
    struct lint_page *pages; /* open hashing by address */
    size_t page_count, page_room;
    struct lint_page *last; /* that was looked for */
};

struct lint_jobs {
    struct lint_job *job; /* the oldest first */
    size_t count, room;
    bool building;            /* the last one is being submitted */
    struct lint_job *running; /* that was submitted before and runs now; NULL: none */
    bool failed;              /* out of memory */
};

void facet_lint_jobs_free(struct lint_jobs *jobs);

/* A submission has begun: what follows up to _submitted or _refused is the job's. */
void facet_lint_jobs_begin(struct lint_jobs *jobs, struct lint_submission by);
void facet_lint_jobs_note(struct lint_jobs *jobs, uint64_t address, uint32_t size, bool write);
void facet_lint_jobs_submitted(struct lint_jobs *jobs, uint64_t sequence);
void facet_lint_jobs_refused(struct lint_jobs *jobs);

/* A job that completes late: what follows up to _ran is its own, not that of any instruction. It
 * may have been waited for already; then nothing is kept. */
void facet_lint_jobs_run(struct lint_jobs *jobs, unsigned queue, uint64_t sequence);
void facet_lint_jobs_ran(struct lint_jobs *jobs);

/* The jobs of a queue up to a sequence number are complete, no matter which hart submitted them. */
void facet_lint_jobs_wait(struct lint_jobs *jobs, unsigned queue, uint64_t sequence);
/* The hart's jobs in the sets (FACET_JOBS_RT, ...) are complete, and with them what went into the
 * same queue before: a queue keeps its order (R-XM-52 item 3). */
void facet_lint_jobs_fence(struct lint_jobs *jobs, uint32_t hart, uint64_t sets);

/* The oldest job under way that an access disturbs: a read meets what the job writes, a write what
 * it reads or writes. Jobs of `except` (LINT_NO_QUEUE: none) are in order with the access and do
 * not count. NULL when there is none. */
const struct lint_job *facet_lint_jobs_disturbed(
    struct lint_jobs *jobs, uint64_t address, uint32_t size, bool write, unsigned except);

#endif
