/* See jobs.h. */
#include "xphmg/units/jobs.h"

#include "base/bits.h"
#include "xphmg/mtx/mtx.h"
#include "xphmg/rt/rt.h"
#include "xphmg/units/lanes.h"
#include "xphmg/units/part.h"
#include "xphmg/xmem/unit.h"

#include <string.h>

enum { LATENCY_BITS = 17 }; /* with a seed: 1 to 2^16 steps, every power of two as likely */

void facet_jobs_reset(struct facet_jobs *jobs)
{
    jobs->copies = 0;
    memset(jobs->count, 0, sizeof jobs->count);
}

uint32_t facet_jobs_count(const struct facet_jobs *jobs, unsigned queue)
{
    return jobs != NULL ? jobs->count[queue - 1] : 0;
}

/* ---- whom a fence waits for --------------------------------------------------------------------
 */

static uint64_t waited_by_pipe(const struct facet_insn *in)
{
    int64_t dom = facet_insn_field(in, "dom");

    return (dom != FACET_XPHMG_MEMCTL_DOM_MTX ? FACET_JOBS_RT : 0) |
           (dom != FACET_XPHMG_MEMCTL_DOM_RT ? FACET_JOBS_MTX : 0) |
           (facet_insn_field(in, "ff") != 0 ? FACET_JOBS_COPY : 0);
}

uint64_t facet_jobs_waited(const struct facet_insn *in, const struct facet_units *units)
{
    enum { SCOPE_DRAM = 2, SCOPE_GLOBAL = 3 };
    int64_t ff;

    switch (in->row) {
    case FACET_XPHMG_XFENCE_PIPE:
        return waited_by_pipe(in);
    case FACET_XPHMG_XLDS_BAR:
        return FACET_JOBS_LDS;
    case FACET_XPHMG_GFX_FENCE:
        ff = (FACET_XPHMG_GFX_CSR(&units->gfx, CFG) & FACET_GFXCFG_EN) != 0
                 ? facet_insn_field(in, "ff")
                 : 0;
        return (ff >= SCOPE_DRAM ? FACET_JOBS_COPY : 0) |
               (ff == SCOPE_GLOBAL ? FACET_JOBS_RT | FACET_JOBS_MTX : 0);
    default:
        return 0;
    }
}

bool facet_jobs_copy_in_lds(uint64_t to, uint64_t from, uint64_t size)
{
    return to - FACET_XLDSBASE_RESET < FACET_XLDSSIZE_RESET || FACET_XLDSBASE_RESET - to < size ||
           from - FACET_XLDSBASE_RESET < FACET_XLDSSIZE_RESET || FACET_XLDSBASE_RESET - from < size;
}

/* A copy is latched as three words: to, from, size. */
static bool touches_lds(const struct facet_job *job)
{
    return facet_jobs_copy_in_lds(facet_load_le64(job->descriptor),
                                  facet_load_le64(job->descriptor + 8),
                                  facet_load_le64(job->descriptor + 16));
}

static bool in_sets(const struct facet_job *job, unsigned queue, uint64_t hart, uint64_t sets)
{
    bool lds = queue == FACET_QUEUE_COPY && (sets & FACET_JOBS_LDS) != 0;

    return job->hart == hart && ((sets >> queue & 1) != 0 || (lds && touches_lds(job)));
}

bool facet_jobs_pending(const struct facet_jobs *jobs, uint64_t hart, uint64_t sets)
{
    for (unsigned q = 0; jobs != NULL && q < FACET_JOB_QUEUES; q++) {
        for (uint32_t i = 0; i < jobs->count[q]; i++) {
            if (in_sets(&jobs->queue[q][i], q + 1, hart, sets)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- submission --------------------------------------------------------------------------------
 */

/* The identity of the i-th job of a queue: its ticket, or the number of a copy. */
static uint64_t
id_of(const struct facet_jobs *jobs, const struct facet_xmem *xmem, unsigned queue, uint32_t i)
{
    uint64_t issued = queue == FACET_QUEUE_RT    ? xmem->ticket_rt
                      : queue == FACET_QUEUE_MTX ? xmem->ticket_mtx
                                                 : jobs->copies;
    uint64_t sequence = issued - jobs->count[queue - 1] + 1 + i;

    return queue == FACET_QUEUE_COPY ? sequence
                                     : (uint64_t)queue << FACET_TICKET_QUEUE_LSB | sequence;
}

static const char *unit_of(unsigned queue)
{
    return queue == FACET_QUEUE_RT ? "rt" : queue == FACET_QUEUE_MTX ? "mtx" : "xmem";
}

/* Mixes all bits of a word (the finaliser of SplitMix64). */
static uint64_t mix(uint64_t v)
{
    v = (v ^ v >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    v = (v ^ v >> 27) * UINT64_C(0x94D049BB133111EB);
    return v ^ v >> 31;
}

/* Steps that a job takes: a function of seed, job and hart alone. */
static uint64_t latency(uint64_t seed, unsigned queue, uint64_t id, uint64_t hart)
{
    uint64_t word = mix(mix(mix(seed + UINT64_C(0x9E3779B97F4A7C15)) + id) + queue * 64 + hart);

    return seed == 0 ? FACET_JOB_LATEST
                     : 1 + (word >> 8 & facet_bits_mask((unsigned)(word & 0xFF) % LATENCY_BITS));
}

void facet_jobs_add(
    struct facet_hart *h, unsigned queue, uint64_t address, const void *descriptor, size_t size)
{
    struct facet_jobs *jobs = h->jobs;
    uint32_t at = jobs->count[queue - 1]++;
    struct facet_job *job = &jobs->queue[queue - 1][at];
    uint64_t id;

    jobs->copies += queue == FACET_QUEUE_COPY;
    id = id_of(jobs, h->xmem, queue, at);
    job->hart = (uint32_t)h->hartid;
    job->address = address;
    job->due = *jobs->clock + latency(jobs->seed, queue, id, h->hartid);
    if (at > 0 && job[-1].due > job->due) { /* jobs of a queue complete in order */
        job->due = job[-1].due;
    }
    memset(job->descriptor, 0, sizeof job->descriptor);
    memcpy(job->descriptor, descriptor, size);
    job->units = h->units;
    job->actor = facet_hart_data_priv(h) == FACET_PRIV_U ? FACET_ACTOR_USER : FACET_ACTOR_MACHINE;
    if (queue == FACET_QUEUE_RT) {
        h->units.rt.stat |= FACET_RTSTAT_BUSY;
    }
    facet_hart_unit(
        h, unit_of(queue), "submit", 3, (uint64_t[]){id, address, job->due - *jobs->clock});
}

bool facet_jobs_room(struct facet_hart *h, unsigned queue)
{
    if (facet_jobs_count(h->jobs, queue) < FACET_JOB_DEPTH) {
        return true;
    }
    (void)facet_xmem_wait(h, FACET_WAIT_ROOM, queue);
    return false;
}

/* What a job does; returns what stopped it (jobs.h). */
static unsigned perform(struct facet_hart *h, unsigned queue, const uint8_t *descriptor)
{
    return queue == FACET_QUEUE_RT    ? (unsigned)facet_xphmg_rt_run(h, descriptor)
           : queue == FACET_QUEUE_MTX ? facet_mtx_run(h, descriptor)
                                      : facet_xmem_copy_run(h, descriptor);
}

static void
tell_failed(struct facet_hart *h, unsigned queue, uint64_t id, unsigned error, uint64_t address)
{
    if (error != 0) {
        facet_hart_unit(h, unit_of(queue), "failed", 3, (uint64_t[]){id, error, address});
    }
}

static uint64_t *issued_of(struct facet_hart *h, unsigned queue)
{
    return queue == FACET_QUEUE_RT ? &h->xmem->ticket_rt : &h->xmem->ticket_mtx;
}

/* XSUBMIT is done. */
static struct facet_trap
end_submission(struct facet_hart *h, const struct facet_insn *in, unsigned queue)
{
    const struct facet_lanes frame = {.rsv = false}; /* no lane instruction: EN and BLK stay */

    facet_hart_set_x(h, in->rd, (uint64_t)queue << FACET_TICKET_QUEUE_LSB | *issued_of(h, queue));
    facet_lanes_retire(h, &frame, true, true);
    return FACET_RETIRED;
}

/* Does a job inside its instruction, or a part of it. */
static struct facet_trap do_at_once(struct facet_hart *h,
                                    const struct facet_insn *in,
                                    unsigned queue,
                                    const uint8_t descriptor[FACET_JOB_BYTES])
{
    uint64_t id = (uint64_t)queue << FACET_TICKET_QUEUE_LSB | *issued_of(h, queue);
    unsigned error = perform(h, queue, descriptor);

    if (facet_part_left(h)) {
        memmove(h->part->descriptor, descriptor, FACET_JOB_BYTES);
        return FACET_RETIRED;
    }
    tell_failed(h, queue, id, error, h->x[in->rs1]);
    return end_submission(h, in, queue);
}

struct facet_trap facet_jobs_submit(struct facet_hart *h,
                                    const struct facet_insn *in,
                                    unsigned queue,
                                    const void *descriptor,
                                    size_t size)
{
    uint8_t latched[FACET_JOB_BYTES] = {0};

    ++*issued_of(h, queue);
    if (h->jobs != NULL) {
        facet_jobs_add(h, queue, h->x[in->rs1], descriptor, size);
        return end_submission(h, in, queue);
    }
    memcpy(latched, descriptor, size);
    return do_at_once(h, in, queue, latched);
}

bool facet_jobs_resumes(const struct facet_hart *h, unsigned part_kind)
{
    return h->jobs == NULL && facet_part_resume(h, part_kind) != NULL;
}

struct facet_trap
facet_jobs_resume(struct facet_hart *h, const struct facet_insn *in, unsigned queue)
{
    return do_at_once(h, in, queue, h->part->descriptor);
}

/* ---- completion --------------------------------------------------------------------------------
 */

/* The queue whose oldest job is due first; FACET_JOB_QUEUES: nothing is under way. */
static unsigned first_queue(const struct facet_jobs *jobs)
{
    unsigned best = FACET_JOB_QUEUES;

    for (unsigned q = 0; q < FACET_JOB_QUEUES; q++) {
        if (jobs->count[q] > 0 &&
            (best == FACET_JOB_QUEUES || jobs->queue[q][0].due < jobs->queue[best][0].due)) {
            best = q;
        }
    }
    return best;
}

uint64_t facet_jobs_next(const struct facet_jobs *jobs, uint32_t *hart)
{
    unsigned q = first_queue(jobs);

    if (q == FACET_JOB_QUEUES) {
        return UINT64_MAX;
    }
    *hart = jobs->queue[q][0].hart;
    return jobs->queue[q][0].due;
}

/* Whether a waiting hart waits for the i-th job of a queue. */
static bool
awaits(const struct facet_jobs *jobs, const struct facet_hart *h, unsigned q, uint32_t i)
{
    switch ((enum facet_wait)h->wait) {
    case FACET_WAIT_TICKET:
        return q + 1 != FACET_QUEUE_COPY && id_of(jobs, h->xmem, q + 1, i) == h->wait_on;
    case FACET_WAIT_JOBS:
        return in_sets(&jobs->queue[q][i], q + 1, h->hartid, h->wait_on);
    case FACET_WAIT_ROOM:
        return q + 1 == h->wait_on && i == 0;
    default:
        return false;
    }
}

bool facet_jobs_hurry(struct facet_jobs *jobs, const struct facet_hart *h)
{
    bool any = false;

    for (unsigned q = 0; jobs != NULL && q < FACET_JOB_QUEUES; q++) {
        uint32_t n = jobs->count[q];

        while (n > 0 && !awaits(jobs, h, q, n - 1)) {
            n--;
        }
        any = any || n > 0;
        for (uint32_t i = 0; i < n; i++) { /* with those that its queue completes before */
            struct facet_job *job = &jobs->queue[q][i];

            job->due = job->due < *jobs->clock ? job->due : *jobs->clock;
        }
    }
    return any;
}

/* What a job reports goes into the registers as they are now. */
static void carry_status(struct facet_units *to, const struct facet_units *from)
{
    struct facet_prec *prec = &to->cap.prec;

    prec->exc_st = from->cap.prec.exc_st;
    prec->stat = (prec->stat & ~(uint64_t)FACET_FLAGS_STAT) |
                 (from->cap.prec.stat & (uint64_t)FACET_FLAGS_STAT);
    to->cap.xmem.events = from->cap.xmem.events;
    to->rt.stat = from->rt.stat;
    to->mtx.stat = from->mtx.stat;
}

struct completion {
    struct facet_hart *h;
    struct facet_job *job;
    unsigned queue;
    unsigned error;
};

static void remove_first(struct facet_jobs *jobs, unsigned queue)
{
    struct facet_job *first = jobs->queue[queue - 1];

    jobs->count[queue - 1]--;
    memmove(first, first + 1, jobs->count[queue - 1] * sizeof *first);
}

/* Memory is protected as from whoever submitted the job. */
static void act_as(struct facet_hart *h, uint8_t actor)
{
    h->actor = actor;
    if (facet_hart_has_pmp(h)) {
        facet_hart_guard(h);
    }
}

static void run(void *context)
{
    struct completion *c = context;
    struct facet_hart *h = c->h;
    struct facet_units now = h->units;

    h->units = c->job->units;
    carry_status(&h->units, &now);
    act_as(h, c->job->actor);
    c->error = perform(h, c->queue, c->job->descriptor);
    act_as(h, FACET_ACTOR_HART);
    carry_status(&now, &h->units);
    h->units = now;
    if (facet_part_left(h)) {
        return;
    }
    remove_first(h->jobs, c->queue);
    if (c->queue == FACET_QUEUE_RT && !facet_jobs_pending(h->jobs, h->hartid, FACET_JOBS_RT)) {
        h->units.rt.stat &= ~(uint64_t)FACET_RTSTAT_BUSY;
    }
}

struct facet_hart *facet_jobs_complete(struct facet_jobs *jobs, struct facet_hart *harts)
{
    struct facet_part *part = harts->part;
    bool resumed = facet_part_begin(part);
    unsigned q = resumed ? part->queue - 1u : first_queue(jobs);
    struct facet_job *job = &jobs->queue[q][0];
    struct completion c = {.h = &harts[job->hart], .job = job, .queue = q + 1};
    uint64_t id = id_of(jobs, c.h->xmem, c.queue, 0), address = job->address;
    bool stalled = c.h->stalled;

    if (!resumed) {
        facet_hart_unit(c.h, unit_of(c.queue), "start", 1, &id);
    }
    facet_hart_tell_units(c.h, 0, run, &c);
    c.h->stalled = stalled; /* at its instruction, which has no part in this */
    if (part->left) {
        part->queue = (uint8_t)c.queue;
        return c.h;
    }
    facet_part_drop(part);
    tell_failed(c.h, c.queue, id, c.error, address);
    facet_hart_unit(c.h, unit_of(c.queue), "done", 2, (uint64_t[]){id, c.error});
    return c.h;
}

/* ---- looking, saving ---------------------------------------------------------------------------
 */

bool facet_jobs_describe(const struct facet_jobs *jobs,
                         const struct facet_xmem *xmem,
                         uint32_t n,
                         struct facet_work *work)
{
    for (unsigned q = 0; jobs != NULL && q < FACET_JOB_QUEUES; q++) {
        if (n < jobs->count[q]) {
            const struct facet_job *job = &jobs->queue[q][n];

            *work =
                (struct facet_work){.core = job->hart,
                                    .unit = unit_of(q + 1),
                                    .id = id_of(jobs, xmem, q + 1, n),
                                    .address = job->address,
                                    .left = job->due > *jobs->clock ? job->due - *jobs->clock : 0};
            return true;
        }
        n -= jobs->count[q];
    }
    return false;
}

static bool queue_exists(const struct facet_cap_config *config, unsigned queue)
{
    return queue == FACET_QUEUE_RT    ? (config->feat0 & FACET_CAP_FEAT0_RT_PRESENT) != 0
           : queue == FACET_QUEUE_MTX ? (config->feat0 & FACET_CAP_FEAT0_MTX_PRESENT) != 0
                                      : (config->xmem_cap & FACET_CAP_XMEM_CAP_XDMA) != 0;
}

static void visit_queue(struct facet_jobs *jobs,
                        const struct facet_cap_config *config,
                        unsigned q,
                        uint32_t harts,
                        struct facet_state_io *io)
{
    uint64_t before = 0;

    for (uint32_t i = 0; i < jobs->count[q] && !io->failed; i++) {
        struct facet_job *job = &jobs->queue[q][i];

        facet_state_u32(io, &job->hart);
        facet_state_require(io, job->hart < harts, "hart number of a job");
        facet_state_u64(io, &job->address);
        facet_state_u64(io, &job->due);
        facet_state_require(io,
                            job->due >= before && (job->due <= *jobs->clock ||
                                                   job->due - *jobs->clock <= FACET_JOB_LATEST),
                            "a job is due out of order, or later than any job can be");
        facet_state_bytes(io, job->descriptor, sizeof job->descriptor);
        if (io->loading) {
            job->units.config = config;
        }
        facet_units_visit(&job->units, io);
        if (config->hart.pmp == FACET_PMP_WORKS) {
            facet_state_u8(io, &job->actor);
            facet_state_require(io,
                                job->actor == FACET_ACTOR_USER || job->actor == FACET_ACTOR_MACHINE,
                                "privilege of a job, expected 1 or 2");
        }
        before = job->due;
    }
}

void facet_jobs_visit(struct facet_jobs *jobs,
                      const struct facet_cap_config *config,
                      const struct facet_xmem *xmem,
                      uint32_t harts,
                      struct facet_state_io *io)
{
    uint64_t seed = jobs->seed;

    facet_state_tag(io, "jobs");
    facet_state_u64(io, &seed);
    facet_state_require(io, seed == jobs->seed, "a different seed of jobs");
    facet_state_u64(io, &jobs->copies);
    for (unsigned q = 0; q < FACET_JOB_QUEUES; q++) {
        uint64_t issued = q + 1 == FACET_QUEUE_RT    ? xmem->ticket_rt
                          : q + 1 == FACET_QUEUE_MTX ? xmem->ticket_mtx
                                                     : FACET_JOB_DEPTH; /* a number, no ticket */

        facet_state_u32(io, &jobs->count[q]);
        facet_state_require(io,
                            jobs->count[q] <= FACET_JOB_DEPTH && jobs->count[q] <= issued &&
                                (jobs->count[q] == 0 || queue_exists(config, q + 1)),
                            "more jobs under way than were submitted or fit");
        visit_queue(jobs, config, q, harts, io);
    }
}
