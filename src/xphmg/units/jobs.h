/* Jobs and asynchronous copies under way, of a machine where they complete late.
 *
 * A submission is checked and latched by its instruction: descriptor, registers of the units,
 * ticket. The job itself runs as a whole between two steps (left half-way, see part.h, it stays the
 * first of its queue), when its time has come, with the units
 * as they were at submission; only status (flags, EVENTS, RTSTAT, MTXSTAT) is the present one.
 * Until then memory and status show nothing of it but RTSTAT.BUSY, and its inputs are still in
 * memory, where programs can overwrite them. A machine that completes jobs at once has no struct
 * facet_jobs.
 *
 * Unit events, by the unit "rt", "mtx" or "xmem" (an asynchronous XLDS.CPY), "id" being the ticket,
 * or the number of the copy:
 *
 *     submit      id, address of the descriptor or destination, steps until it is due
 *     start       id; what follows up to "done" is the job's
 *     done        id, what stopped it: RTSTAT.LAST_EC, else a cause; 0 without an error
 *
 * A job that an error stops says so in either machine:
 *
 *     failed      id, what stopped it, address of the descriptor or destination
 *
 * Spec: R-XM-52. */
#ifndef FACET_XPHMG_UNITS_JOBS_H
#define FACET_XPHMG_UNITS_JOBS_H

#include "contract/xphmg_layouts.h"
#include "xphmg/hart/hart.h"

enum {
    FACET_JOB_QUEUES = 3,
    FACET_JOB_DEPTH = 16, /* jobs of one queue under way; one more waits at its XSUBMIT */
    FACET_JOB_BYTES = FACET_XPHMG_RT_DESC_SIZE, /* the largest descriptor */
    FACET_JOB_LATEST = 1 << 20,                 /* steps from submission to completion, at most */
    /* Sets of jobs of one hart that a fence waits for: 1 << queue, and those copies that touch the
     * LDS. */
    FACET_JOBS_RT = 1 << FACET_QUEUE_RT,
    FACET_JOBS_MTX = 1 << FACET_QUEUE_MTX,
    FACET_JOBS_COPY = 1 << FACET_QUEUE_COPY,
    FACET_JOBS_LDS = 1 << 4,
    FACET_JOBS_SETS = FACET_JOBS_RT | FACET_JOBS_MTX | FACET_JOBS_COPY | FACET_JOBS_LDS,
};

struct facet_job {
    uint32_t hart;
    uint64_t address; /* of the descriptor; where a copy goes to */
    uint64_t due;     /* on the machine's clock */
    uint8_t descriptor[FACET_JOB_BYTES];
    struct facet_units units; /* at submission */
    uint8_t actor;            /* the same: FACET_ACTOR_USER or FACET_ACTOR_MACHINE (R-CAP-70) */
};

struct facet_jobs {
    uint64_t seed;         /* 0: as late as FACET_JOB_LATEST allows */
    const uint64_t *clock; /* the machine's */
    uint64_t copies;       /* asynchronous copies accepted since reset */
    uint32_t count[FACET_JOB_QUEUES];
    struct facet_job queue[FACET_JOB_QUEUES][FACET_JOB_DEPTH]; /* the oldest first */
};

void facet_jobs_reset(struct facet_jobs *jobs);

/* Jobs of a queue (FACET_QUEUE_RT, ...) under way; 0 for jobs NULL. */
uint32_t facet_jobs_count(const struct facet_jobs *jobs, unsigned queue);
/* Whether jobs of the hart in these sets are under way. */
bool facet_jobs_pending(const struct facet_jobs *jobs, uint64_t hart, uint64_t sets);

/* The sets that an instruction waits for, with the units as it finds them; 0: it waits for no job
 * of its hart. (XFENCE.WAIT waits for one ticket, of whatever hart.) Spec: R-XM-34, R-XM-52 item 4.
 */
uint64_t facet_jobs_waited(const struct facet_insn *in, const struct facet_units *units);
/* Whether a copy of `size` bytes is one of FACET_JOBS_LDS. */
bool facet_jobs_copy_in_lds(uint64_t to, uint64_t from, uint64_t size);

/* Whether the queue can take one more; the hart waits at its instruction otherwise. Ask before the
 * instruction does anything. */
bool facet_jobs_room(struct facet_hart *h, unsigned queue);
/* XSUBMIT after its checks, in either machine: the job is latched, or done at once; x[rd] is its
 * ticket. */
struct facet_trap facet_jobs_submit(struct facet_hart *h,
                                    const struct facet_insn *in,
                                    unsigned queue,
                                    const void *descriptor,
                                    size_t size);
/* Whether XSUBMIT was interrupted in the middle of a job that it does at once (part.h), and the
 * rest of it.
 */
bool facet_jobs_resumes(const struct facet_hart *h, unsigned part_kind);
struct facet_trap
facet_jobs_resume(struct facet_hart *h, const struct facet_insn *in, unsigned queue);
/* Latches a job into a queue that has room. `descriptor` has at most FACET_JOB_BYTES. */
void facet_jobs_add(
    struct facet_hart *h, unsigned queue, uint64_t address, const void *descriptor, size_t size);

/* When the next job is due, UINT64_MAX without one; *hart is who submitted it. */
uint64_t facet_jobs_next(const struct facet_jobs *jobs, uint32_t *hart);
/* What the waiting hart waits for becomes due now, with what its queues complete before it; all
 * else keeps its time. False: it waits for nothing that is under way. jobs may be NULL. */
bool facet_jobs_hurry(struct facet_jobs *jobs, const struct facet_hart *h);
/* Runs the next, or the rest of one that was left. `harts` are the machine's; returns the one that
 * submitted it. */
struct facet_hart *facet_jobs_complete(struct facet_jobs *jobs, struct facet_hart *harts);

/* The n-th job under way, queue by queue; false past the last. */
bool facet_jobs_describe(const struct facet_jobs *jobs,
                         const struct facet_xmem *xmem,
                         uint32_t n,
                         struct facet_work *work);

/* Saves or loads. Loading writes into *jobs, whose seed and clock the caller has set. */
void facet_jobs_visit(struct facet_jobs *jobs,
                      const struct facet_cap_config *config,
                      const struct facet_xmem *xmem,
                      uint32_t harts,
                      struct facet_state_io *io);

#endif
