/* Jobs that a program has submitted and not waited for, with the bytes that each one read and
 * wrote. Until the wait a job may run at any time (R-RT-37, R-XM-28): what it writes is not there
 * yet, what it reads must stay. */
#ifndef FACET_LINT_JOBS_H
#define FACET_LINT_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lint_queue { LINT_QUEUE_COPY, LINT_QUEUE_RT, LINT_QUEUE_MTX, LINT_QUEUES };

struct lint_job {
    enum lint_queue queue;
    uint64_t sequence;       /* of its ticket; asynchronous copies have none */
    uint64_t pc;             /* of the submission */
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

void lint_jobs_free(struct lint_jobs *jobs);

/* A submission has begun: what follows up to _submitted or _refused is the job's. */
void lint_jobs_begin(struct lint_jobs *jobs, enum lint_queue queue, uint64_t pc);
void lint_jobs_note(struct lint_jobs *jobs, uint64_t address, uint32_t size, bool write);
void lint_jobs_submitted(struct lint_jobs *jobs, uint64_t sequence);
void lint_jobs_refused(struct lint_jobs *jobs);

/* A job that completes late: what follows up to _ran is its own, not that of any instruction. It
 * may have been waited for already; then nothing is kept. */
void lint_jobs_run(struct lint_jobs *jobs, enum lint_queue queue, uint64_t sequence);
void lint_jobs_ran(struct lint_jobs *jobs);

/* The jobs of a queue up to a sequence number are complete. */
void lint_jobs_wait(struct lint_jobs *jobs, enum lint_queue queue, uint64_t sequence);

/* The oldest job under way that an access disturbs: a read meets what the job writes, a write what
 * it reads or writes. Jobs of `except` (LINT_QUEUES: none) are in order with the access and do not
 * count. NULL when there is none. */
const struct lint_job *lint_jobs_disturbed(
    struct lint_jobs *jobs, uint64_t address, uint32_t size, bool write, enum lint_queue except);

#endif
