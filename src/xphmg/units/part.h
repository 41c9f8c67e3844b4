/* A step that was interrupted half-way: an instruction or a job that takes long, when asked to
 * stop (facet_port_asked).
 *
 * Such a step asks facet_part_work after each piece of its work, of some microseconds. When that
 * says so, it writes down how far it came and leaves: pc stays, nothing is retired, the clock
 * stands still. The next run executes the same instruction again, or continues the same job,
 * before anything else happens: no interrupt is taken, no breakpoint counts, no other hart or job
 * runs. It finds its part, does not repeat what was done, events included, and does the rest. What
 * the step itself may have overwritten is kept here: the instruction, descriptors, arguments.
 *
 * Asking after the work and not before it means that even a run that is always asked to stop comes
 * on. Harts of a machine run one after the other, so there is one part for all. */
#ifndef FACET_XPHMG_UNITS_PART_H
#define FACET_XPHMG_UNITS_PART_H

#include "xphmg/rt/rt.h"
#include "xphmg/units/jobs.h"

#include "num/extreme.h"

enum facet_part_kind {
    FACET_PART_RT = 1,
    FACET_PART_MTX,
    FACET_PART_COPY,
    FACET_PART_SWIZZLE,
    FACET_PART_COMPRESS,
    FACET_PART_DECOMPRESS,
    FACET_PART_HIZ,
    FACET_PART_HOST, /* a call of semihosting */
    FACET_PART_KINDS
};

enum { FACET_PART_WORDS = 8 };

/* The rest is valid only while something is left. */
struct facet_part {
    bool left;
    bool resumes;  /* while the rest is being done */
    uint8_t kind;  /* enum facet_part_kind */
    uint8_t queue; /* of the late job that it is; 0: the instruction at pc of the current hart */
    uint32_t word; /* of the instruction */
    /* The units before the step, for observers, which are notified at its end of what changed;
     * valid when there was one. */
    bool told;
    struct facet_units units;
    struct facet_xmem xmem;

    uint64_t at[FACET_PART_WORDS]; /* how far it came; each kind has its own meaning */
    uint8_t descriptor[FACET_JOB_BYTES];
    uint64_t pin; /* LDS of a job; 0: none */
    struct facet_mtx_bank bank;
    struct facet_xphmg_rt_part rt;
    struct facet_extreme extreme; /* HIZ: of the tile that is being looked at */
    uint32_t *values;             /* HIZ: entries of all levels, NULL or malloc() */
    uint64_t value_count;
};

/* Whether a stop was requested, without the work that facet_part_work counts. */
static inline bool facet_part_asked(const struct facet_hart *h)
{
    return h->part != NULL && facet_port_asked(h->port);
}

/* After a piece of work of that many nanoseconds: true: leave. */
static inline bool facet_part_work(const struct facet_hart *h, uint64_t nanoseconds)
{
    return h->part != NULL && facet_port_work(h->port, nanoseconds);
}

/* Whether something is left. */
static inline bool facet_part_left(const struct facet_hart *h)
{
    return h->part != NULL && h->part->left;
}

/* The executor begins a step: true when it is the rest of one. */
static inline bool facet_part_begin(struct facet_part *part)
{
    if (part == NULL || !part->left) {
        return false;
    }
    part->left = false;
    part->resumes = true;
    return true;
}

/* What a step of this kind left; NULL: it begins now. */
static inline struct facet_part *facet_part_resume(const struct facet_hart *h,
                                                   enum facet_part_kind kind)
{
    return h->part != NULL && h->part->resumes && h->part->kind == kind ? h->part : NULL;
}

/* The step ends here for now; the caller fills in how far it came. Only after facet_part_work has
 * said so. */
static inline struct facet_part *facet_part_leave(struct facet_hart *h, enum facet_part_kind kind)
{
    h->part->left = true;
    h->part->resumes = false;
    h->part->kind = (uint8_t)kind;
    h->stalled = true;
    return h->part;
}

/* Nothing is left any more: the step is done, or will never be. */
void facet_part_drop(struct facet_part *part);

/* Saves or loads; loading allocates `values`. */
void facet_part_visit(struct facet_part *part,
                      const struct facet_cap_config *config,
                      const struct facet_jobs *jobs,
                      struct facet_state_io *io);

#endif
