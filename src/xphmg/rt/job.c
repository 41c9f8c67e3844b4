/* XSUBMIT.RT: rays out of a queue, hits and misses into two others (rt-semantics.md 11). The job
 * runs to its end before the next instruction or later (jobs.h), also when it is left on the way
 * (part.h); what stops it goes to RTSTAT.LAST_EC and leaves the ray at the head of its queue.
 *
 * The descriptor is XPHMG_RT_DESC of spec/xphmg.layout.tsv, queues and entries are there too. */
#include "machine/counts.h"
#include "rt/host.h"
#include "xphmg/hart/memory.h"
#include "xphmg/rt/batch.h"
#include "xphmg/units/jobs.h"
#include "xphmg/units/lanes.h"
#include "xphmg/units/part.h"

#include <string.h>

enum {
    MAX_ENTRY = FACET_XPHMG_HIT_ENTRY_SIZE(8),
    QUEUE_BASE_ALIGN = 16,
    RAY_TAG = FACET_XPHMG_RAY_ENTRY_TAG_AT(4), /* of FP32 entries */
};

struct job {
    struct facet_hart *h;
    struct facet_xphmg_rt_scene scene;
    struct facet_xphmg_rt_queue rays, hits, misses;
    bool packed, w_guard, sae;
    uint64_t exc_en;
    /* The ray at the head. */
    bool in_ray; /* it is on its way: `walk` */
    uint64_t tag;
    struct facet_xphmg_rt_walk walk;
    bool left; /* the rest of the job waits (part.h) */
};

/* Rays between two questions whether to leave a job whose rays were traced ahead, and nanoseconds
 * that a ray takes beside its steps. */
enum { RAYS_ASKED = 8, RAY_NANOSECONDS = 200, TEST_NANOSECONDS = 5 };

/* ---- submission --------------------------------------------------------------------------------
 */

/* Bits of RTCAP that a job with these options needs (R-RT-52). */
static uint64_t needs(uint32_t opts)
{
    return FACET_RTCAP_WATERTIGHT |
           ((opts & FACET_XPHMG_RT_DESC_OPTS_NODE8) != 0 ? FACET_RTCAP_NODE8 : FACET_RTCAP_NODE4) |
           ((opts & FACET_XPHMG_RT_DESC_OPTS_PACK_HINT) != 0 ? FACET_RTCAP_PACK_HINT : 0) |
           ((opts & FACET_XPHMG_RT_DESC_OPTS_EPS_CTL) != 0 ? FACET_RTCAP_EPS_CTL : 0);
}

/* A zero field of the descriptor selects the register (R-RT-34). */
static uint64_t either(uint64_t field, uint64_t csr)
{
    return field != 0 ? field : csr;
}

static void set_up(struct job *job,
                   struct facet_hart *h,
                   const struct facet_xphmg_rt_desc_fields *d,
                   const struct facet_lanes *frame)
{
    const struct facet_xphmg_rt *rt = &h->units.rt;

    *job = (struct job){
        .h = h,
        .scene = {.port = {.h = h, .container = facet_container_of(&frame->eff)},
                  .numbers = facet_rt_numbers_of(&frame->eff, h->units.cap.zptab),
                  .options = {.eps = facet_rt_epsilon(
                                  (unsigned)((d->opts & FACET_XPHMG_RT_DESC_OPTS_EPS_CTL) != 0
                                                 ? FACET_GET(rt->conf2, RTCONF2_EPS_SCALE)
                                                 : FACET_GET(rt->cfg, RTCFG_EPS_DFLT))),
                              .cull_back = (d->opts & FACET_XPHMG_RT_DESC_OPTS_CULL_BACK) != 0},
                  .heap = either(d->bvh_base, rt->base),
                  .triangles = d->tri_buf,
                  .any_hit = (d->opts & FACET_XPHMG_RT_DESC_OPTS_ANY_HIT) != 0,
                  .node8 = (d->opts & FACET_XPHMG_RT_DESC_OPTS_NODE8) != 0,
                  .watch = h->rt_watch},
        .rays.address = either(d->rayq_desc, rt->queue_ray),
        .hits.address = either(d->hitq_desc, rt->queue_hit),
        .misses.address = either(d->missq_desc, rt->queue_miss),
        .packed = (d->opts & FACET_XPHMG_RT_DESC_OPTS_PACK_HINT) != 0 ||
                  FACET_GET(rt->cfg, RTCFG_PACK_HINT_DFLT) != 0,
        .w_guard = (d->opts & FACET_XPHMG_RT_DESC_OPTS_W_GUARD) != 0,
        .sae = frame->eff.sae,
        .exc_en = frame->exc_en,
    };
}

/* ---- queues ------------------------------------------------------------------------------------
 */

static struct facet_trap read_queue(const struct facet_element_port *port,
                                    struct facet_xphmg_rt_queue *q)
{
    uint64_t head = 0, tail = 0, cap = 0;
    struct facet_trap trap =
        facet_xphmg_rt_read(port, q->address + FACET_XPHMG_QUEUE_HEAD_AT, 4, &head);

    if (!trap.taken) {
        trap = facet_xphmg_rt_read(port, q->address + FACET_XPHMG_QUEUE_TAIL_AT, 4, &tail);
    }
    if (!trap.taken) {
        trap = facet_xphmg_rt_read(port, q->address + FACET_XPHMG_QUEUE_CAP_AT, 4, &cap);
    }
    if (!trap.taken) {
        trap = facet_xphmg_rt_read(port, q->address + FACET_XPHMG_QUEUE_BASE_AT, 8, &q->base);
    }
    q->head = (uint32_t)head;
    q->tail = (uint32_t)tail;
    q->cap = (uint32_t)cap;
    return trap;
}

static enum facet_xphmg_rt_error open_queue(const struct job *job, struct facet_xphmg_rt_queue *q)
{
    if (q->address == 0) {
        return FACET_XPHMG_RT_EC_NONE;
    }
    if (q->address % FACET_XPHMG_QUEUE_ALIGN != 0) {
        return FACET_XPHMG_RT_EC_QUEUE;
    }
    if (read_queue(&job->scene.port, q).taken) {
        return FACET_XPHMG_RT_EC_DESC_FAULT;
    }
    return facet_xphmg_rt_queue_in_range(q) && q->base % QUEUE_BASE_ALIGN == 0
               ? FACET_XPHMG_RT_EC_NONE
               : FACET_XPHMG_RT_EC_QUEUE;
}

static uint32_t after(uint32_t index, uint32_t cap)
{
    return index + 1 == cap ? 0 : index + 1;
}

/* Whether aligned bytes can be written; a fault is an event. */
static bool can_write(const struct job *job, uint64_t address, unsigned size, unsigned align)
{
    const struct facet_element_port *port = &job->scene.port;
    struct facet_trap trap = address % align != 0
                                 ? facet_hart_trap_make(FACET_CAUSE_STORE_MISALIGNED, address)
                                 : facet_xmem_probe(port->h, port->actor, address, size, true);

    if (trap.taken) {
        (void)facet_xmem_fault(port->h, port->actor, trap);
    }
    return !trap.taken;
}

/* What a device refuses although it was probed (R-XM-45). */
static bool store(const struct job *job, uint64_t address, unsigned size, uint64_t value)
{
    struct facet_trap trap = facet_hart_store(job->h, address, size, value);

    if (trap.taken) {
        (void)facet_xmem_fault(job->h, job->scene.port.actor, trap);
    }
    return !trap.taken;
}

/* The ray is done: its entry, the tail after it, then the head of the ray queue. Everything is
 * probed before the first byte changes, so that an error leaves nothing of the ray (R-RT-54). `to`
 * may be a queue that does not exist: nothing is recorded then. */
static enum facet_xphmg_rt_error
finish(struct job *job, struct facet_xphmg_rt_queue *to, const uint8_t *entry, unsigned size)
{
    uint32_t head = after(job->rays.head, job->rays.cap);
    uint64_t at = 0;

    if (to->address != 0) {
        if (read_queue(&job->scene.port, to).taken) {
            return FACET_XPHMG_RT_EC_DESC_FAULT;
        }
        if (!facet_xphmg_rt_queue_in_range(to)) {
            return FACET_XPHMG_RT_EC_QUEUE;
        }
        if (after(to->tail, to->cap) == to->head) {
            return FACET_XPHMG_RT_EC_QFULL;
        }
        at = to->base + (uint64_t)to->tail * size;
        if (!can_write(job, at, size, 8) ||
            !can_write(job, to->address + FACET_XPHMG_QUEUE_TAIL_AT, 4, 4)) {
            return FACET_XPHMG_RT_EC_DESC_FAULT;
        }
    }
    if (!can_write(job, job->rays.address + FACET_XPHMG_QUEUE_HEAD_AT, 4, 4)) {
        return FACET_XPHMG_RT_EC_DESC_FAULT;
    }
    if (to->address != 0) {
        for (unsigned i = 0; i < size; i += 8) {
            if (!store(job, at + i, 8, facet_load_le64(entry + i))) {
                return FACET_XPHMG_RT_EC_DESC_FAULT;
            }
        }
        if (!store(job, to->address + FACET_XPHMG_QUEUE_TAIL_AT, 4, after(to->tail, to->cap))) {
            return FACET_XPHMG_RT_EC_DESC_FAULT;
        }
    }
    if (!store(job, job->rays.address + FACET_XPHMG_QUEUE_HEAD_AT, 4, head)) {
        return FACET_XPHMG_RT_EC_DESC_FAULT;
    }
    job->rays.head = head;
    return FACET_XPHMG_RT_EC_NONE;
}

/* ---- rays --------------------------------------------------------------------------------------
 */

/* Hit entry (5.4); returns its size. */
static unsigned hit_entry(const struct job *job,
                          uint64_t tag,
                          const struct facet_xphmg_rt_found *found,
                          uint8_t entry[MAX_ENTRY],
                          unsigned *flags)
{
    const struct facet_container *c = &job->scene.port.container;
    unsigned size = facet_rt_hit_entry_bytes(c), width = job->packed ? 2 : c->bytes;
    struct facet_rt_lane lane = {FACET_RT_HIT, {found->t, found->u, found->v}, 3};
    uint32_t out[3];

    facet_rt_lane_encode(&job->scene.numbers, job->packed, &lane, out, flags);
    memset(entry, 0, MAX_ENTRY);
    facet_store_le64(entry + FACET_XPHMG_HIT_ENTRY_TAG_AT, tag);
    facet_store_le32(entry + FACET_XPHMG_HIT_ENTRY_TRIANGLE_AT, found->triangle);
    facet_store_le32(entry + FACET_XPHMG_HIT_ENTRY_LEAF_AT, found->leaf);
    for (unsigned i = 0; i < 3; i++) {
        facet_store_le(entry + FACET_XPHMG_HIT_ENTRY_T_AT + (size_t)i * width,
                       width,
                       job->packed ? out[i] : facet_container_put(c, 0, 0, out[i]));
    }
    facet_store_le32(entry + FACET_XPHMG_HIT_ENTRY_FLAGS_AT(c->bytes),
                     found->front ? FACET_XPHMG_HIT_ENTRY_FLAGS_FRONT : 0);
    return size;
}

/* NX is up already and does not stop the job, so that it makes no difference whether the next ray
 * raises it. A watcher needs every step, and NX with it. */
static bool needs_no_inexact(const struct job *job)
{
    return job->scene.watch == NULL && facet_rt_host_fits(&job->scene.numbers) &&
           (job->h->units.cap.prec.exc_st & FACET_NX) != 0 &&
           facet_prec_hits(job->exc_en, job->sae, FACET_NX) == 0;
}

/* Reads the ray at the head of the queue. *traced: it is to be sent through the hierarchy; *nan:
 * not, and its entry says so. */
static enum facet_xphmg_rt_error begin_ray(struct job *job, bool *traced, bool *nan)
{
    const struct facet_element_port *port = &job->scene.port;
    uint64_t size = facet_rt_ray_entry_bytes(&port->container);
    uint64_t at = job->rays.base + job->rays.head * size;
    uint32_t elements[FACET_RT_RAY_ELEMENTS + 1];
    enum facet_rt_w w = FACET_RT_W_OTHER;
    unsigned flags = 0;
    struct facet_rt_ray ray;
    struct facet_trap trap =
        facet_xphmg_rt_read_elements(port, at, 0, FACET_RT_RAY_ELEMENTS + job->w_guard, elements);

    if (!trap.taken) {
        trap = facet_xphmg_rt_read(
            port, at + FACET_XPHMG_RAY_ENTRY_TAG_AT(port->container.bytes), 8, &job->tag);
    }
    if (trap.taken) {
        return FACET_XPHMG_RT_EC_DESC_FAULT;
    }
    *nan = facet_rt_ray_widen(&job->scene.numbers, elements, &ray, &flags);
    if (job->w_guard) {
        w = facet_rt_w_widen(&job->scene.numbers, elements[FACET_RT_RAY_ELEMENTS], &flags);
    }
    *nan = (*nan && w != FACET_RT_W_ZERO) || w == FACET_RT_W_NAN;
    *traced = !*nan && w != FACET_RT_W_ZERO;
    facet_xphmg_rt_walk_begin(&job->walk, &ray, flags);
    return FACET_XPHMG_RT_EC_NONE;
}

/* The entry of the ray whose way has ended. */
static enum facet_xphmg_rt_error end_ray(struct job *job, bool nan)
{
    const struct facet_xphmg_rt_found *found = &job->walk.found;
    struct facet_xphmg_rt_counts *counts = job->scene.counts;
    uint8_t entry[MAX_ENTRY] = {0};
    unsigned flags = job->walk.flags, bytes = FACET_RT_MISS_BYTES;

    if (found->hit) {
        bytes = hit_entry(job, job->tag, found, entry, &flags);
    } else {
        facet_xphmg_miss_entry_set_tag(entry, job->tag);
        facet_xphmg_miss_entry_set_flags(entry, nan ? FACET_XPHMG_MISS_ENTRY_FLAGS_NAN : 0);
    }
    if (counts != NULL) {
        counts->rays++;
        counts->hits += found->hit;
    }
    facet_prec_raise(&job->h->units.cap.prec, flags);
    if (facet_prec_hits(job->exc_en, job->sae, flags) != 0) {
        return FACET_XPHMG_RT_EC_NUMERIC;
    }
    return finish(job, found->hit ? &job->hits : &job->misses, entry, bytes);
}

/* The ray at the head of the queue, from its record to its entry; or a part of it. */
static enum facet_xphmg_rt_error one_ray(struct job *job)
{
    bool traced = true, nan = false;
    enum facet_xphmg_rt_error error =
        job->in_ray ? FACET_XPHMG_RT_EC_NONE : begin_ray(job, &traced, &nan);

    job->in_ray = false;
    job->scene.host = needs_no_inexact(job);
    if (error == FACET_XPHMG_RT_EC_NONE && traced) {
        error = facet_xphmg_rt_walk_on(&job->scene, &job->walk, &job->left);
        job->in_ray = job->left;
    }
    if (error != FACET_XPHMG_RT_EC_NONE || job->left) {
        return error; /* with the flags of the ray dropped */
    }
    return end_ray(job, nan);
}

/* A ray is done: whether to leave the job before the next one. */
static void ask(struct job *job, uint64_t nanoseconds)
{
    job->left = facet_part_work(job->h, nanoseconds) && job->rays.head != job->rays.tail;
}

/* ---- many rays ---------------------------------------------------------------------------------
 *
 * Rays are traced ahead by batch.c and recorded in order. Nothing else changes the queues while
 * the job runs, so head and tails are kept in the job and written when a batch ends or a ray must
 * be done alone. */

static struct facet_xphmg_rt_stretch header_of(const struct facet_xphmg_rt_queue *q)
{
    return (struct facet_xphmg_rt_stretch){q->address, q->address != 0 ? FACET_RT_QUEUE_BYTES : 0};
}

static struct facet_xphmg_rt_stretch slots_of(const struct facet_xphmg_rt_queue *q, uint64_t size)
{
    return (struct facet_xphmg_rt_stretch){q->base, q->address != 0 ? q->cap * size : 0};
}

static struct facet_xphmg_rt_stretch tail_of(const struct facet_xphmg_rt_queue *q)
{
    return (struct facet_xphmg_rt_stretch){q->address + FACET_XPHMG_QUEUE_TAIL_AT,
                                           q->address != 0 ? 4 : 0};
}

/* Whether no entry is written over a queue, and each queue is one by itself. */
static bool queues_apart(const struct job *job, unsigned hit_bytes)
{
    const struct facet_xphmg_rt_stretch part[] = {header_of(&job->rays),
                                                  header_of(&job->hits),
                                                  header_of(&job->misses),
                                                  slots_of(&job->hits, hit_bytes),
                                                  slots_of(&job->misses, FACET_RT_MISS_BYTES)};
    bool apart = true;

    for (unsigned i = 0; i < 3; i++) {
        for (unsigned k = i + 1; k < sizeof part / sizeof part[0]; k++) {
            apart = apart && !facet_xphmg_rt_overlap(part[i], part[k]);
        }
    }
    return apart;
}

static void write_queues(const struct job *job)
{
    (void)store(job, job->rays.address + FACET_XPHMG_QUEUE_HEAD_AT, 4, job->rays.head);
    if (job->hits.address != 0) {
        (void)store(job, job->hits.address + FACET_XPHMG_QUEUE_TAIL_AT, 4, job->hits.tail);
    }
    if (job->misses.address != 0) {
        (void)store(job, job->misses.address + FACET_XPHMG_QUEUE_TAIL_AT, 4, job->misses.tail);
    }
}

static void read_queues(struct job *job)
{
    if (job->hits.address != 0) {
        (void)read_queue(&job->scene.port, &job->hits);
    }
    if (job->misses.address != 0) {
        (void)read_queue(&job->scene.port, &job->misses);
    }
}

/* As finish, into plain RAM. */
static enum facet_xphmg_rt_error
append(struct job *job, struct facet_xphmg_rt_queue *to, const uint8_t *entry, unsigned size)
{
    if (to->address != 0) {
        struct facet_hart *h = job->h;
        uint32_t tail = after(to->tail, to->cap);
        uint64_t at = to->base + (uint64_t)to->tail * size;

        if (tail == to->head) {
            return FACET_XPHMG_RT_EC_QFULL;
        }
        memcpy(h->ram.bytes + (at - h->ram.base), entry, size);
        facet_window_mark(&h->ram, at - h->ram.base, size);
        facet_hart_note_store(h, at, size);
        to->tail = tail;
    }
    job->rays.head = after(job->rays.head, job->rays.cap);
    return FACET_XPHMG_RT_EC_NONE;
}

static void count_result(struct facet_xphmg_rt_counts *counts,
                         const struct facet_rt_fast_result *result)
{
    counts->rays++;
    counts->hits += result->hit;
    counts->nodes += result->nodes;
    counts->quick_nodes += result->nodes;
    counts->boxes += result->boxes;
    counts->triangles += result->triangle_tests;
    counts->deepest = result->deepest > counts->deepest ? result->deepest : counts->deepest;
}

/* To the profile. */
static void tell_counts(struct facet_counts *to, const struct facet_xphmg_rt_counts *c)
{
    facet_counts_add(to, "RT jobs", "rays", c->rays);
    facet_counts_add(to, "RT jobs", "hits", c->hits);
    facet_counts_add(to, "RT jobs", "nodes", c->nodes);
    facet_counts_add(to, "RT jobs", "box tests", c->boxes);
    facet_counts_add(to, "RT jobs", "triangle tests", c->triangles);
    facet_counts_most(to, "RT jobs", "deepest stack", c->deepest);
    facet_counts_add(to, "decoded BVH", "node hits", c->quick_nodes - c->new_nodes);
    facet_counts_add(to, "decoded BVH", "node misses", c->new_nodes);
    facet_counts_add(to, "decoded BVH", "leaf misses", c->new_leaves);
    facet_counts_add(to, "decoded BVH", "evicted nodes", c->dropped_nodes);
    facet_counts_add(to, "decoded BVH", "evicted leaves", c->dropped_leaves);
    facet_counts_add(to, "decoded BVH", "evictions", c->drops);
}

/* What became of a ray that was traced ahead; the end of one_ray. */
static enum facet_xphmg_rt_error
record(struct job *job, const struct facet_rt_fast_result *result, uint64_t tag)
{
    unsigned flags = result->flags, bytes = FACET_RT_MISS_BYTES;
    uint8_t entry[MAX_ENTRY];

    facet_xphmg_rt_count_boxes(job->h, result->boxes);
    facet_xphmg_rt_count_triangles(job->h, result->triangle_tests);
    if (job->scene.counts != NULL) {
        count_result(job->scene.counts, result);
    }
    facet_store_le64(entry + FACET_XPHMG_HIT_ENTRY_TAG_AT, tag);
    if (!result->hit) {
        memset(entry, 0, FACET_RT_MISS_BYTES);
        facet_store_le64(entry + FACET_XPHMG_MISS_ENTRY_TAG_AT, tag);
    } else if (job->packed) {
        const struct facet_xphmg_rt_found found = {.hit = true,
                                                   .front = result->front,
                                                   .t = result->t,
                                                   .u = result->u,
                                                   .v = result->v,
                                                   .triangle = result->triangle,
                                                   .leaf = result->leaf};

        bytes = hit_entry(job, tag, &found, entry, &flags);
    } else { /* finite FP32 numbers in their own format: nothing to narrow */
        bytes = FACET_RT_FAST_HIT_BYTES;
        facet_store_le32(entry + FACET_XPHMG_HIT_ENTRY_TRIANGLE_AT, result->triangle);
        facet_store_le32(entry + FACET_XPHMG_HIT_ENTRY_LEAF_AT, result->leaf);
        facet_store_le32(entry + FACET_XPHMG_HIT_ENTRY_T_AT, result->t);
        facet_store_le32(entry + FACET_XPHMG_HIT_ENTRY_U_AT(4), result->u);
        facet_store_le32(entry + FACET_XPHMG_HIT_ENTRY_V_AT(4), result->v);
        facet_store_le32(entry + FACET_XPHMG_HIT_ENTRY_FLAGS_AT(4),
                         result->front ? FACET_XPHMG_HIT_ENTRY_FLAGS_FRONT : 0);
    }
    facet_prec_raise(&job->h->units.cap.prec, flags);
    if (facet_prec_hits(job->exc_en, job->sae, flags) != 0) {
        return FACET_XPHMG_RT_EC_NUMERIC;
    }
    return append(job, result->hit ? &job->hits : &job->misses, entry, bytes);
}

static enum facet_xphmg_rt_error
record_batch(struct job *job, const struct facet_xphmg_rt_batch *batch, size_t count)
{
    enum facet_xphmg_rt_error error = FACET_XPHMG_RT_EC_NONE;
    uint64_t work = 0;

    for (size_t i = 0; i < count && error == FACET_XPHMG_RT_EC_NONE && !job->left; i++) {
        const struct facet_rt_fast_result *result = &batch->results[i];
        const uint8_t *ray = batch->entries + (uint64_t)job->rays.head * FACET_RT_FAST_RAY_BYTES;

        if (result->done) {
            error = record(job, result, facet_load_le64(ray + RAY_TAG));
            work += RAY_NANOSECONDS +
                    TEST_NANOSECONDS * ((uint64_t)result->boxes + result->triangle_tests);
        } else {
            write_queues(job);
            error = one_ray(job);
            read_queues(job);
            work += RAY_NANOSECONDS + FACET_XPHMG_RT_BATCH_STEPS * TEST_NANOSECONDS;
        }
        /* Rays that were not traced because a stop was requested come after one that was. */
        if (error == FACET_XPHMG_RT_EC_NONE && !job->left &&
            (job->rays.head % RAYS_ASKED == 0 || facet_part_asked(job->h))) {
            ask(job, work);
            work = 0;
        }
    }
    write_queues(job);
    return error;
}

/* Whether a queue is still the one that `job` was opened with: what lies where (queues_apart) was
 * found out from that. A job does not change it then, but a debugger can while the job is left. */
static bool same_place(const struct facet_xphmg_rt_queue *a, const struct facet_xphmg_rt_queue *b)
{
    return a->address == 0 ||
           (a->base == b->base && a->cap == b->cap && facet_xphmg_rt_queue_in_range(b));
}

/* Reads the queues as they stand; false: they are not where they were. */
static bool reread_queues(struct job *job)
{
    const struct facet_xphmg_rt_queue hits = job->hits, misses = job->misses;

    read_queues(job);
    if (same_place(&hits, &job->hits) && same_place(&misses, &job->misses)) {
        return true;
    }
    job->hits = hits;
    job->misses = misses;
    return false;
}

/* All rays that are left, if they can be traced ahead. */
static enum facet_xphmg_rt_error run_batches(struct job *job)
{
    unsigned hit_bytes = facet_rt_hit_entry_bytes(&job->scene.port.container);
    const struct facet_xphmg_rt_stretch writes[FACET_XPHMG_RT_STRETCHES] = {
        {job->rays.address + FACET_XPHMG_QUEUE_HEAD_AT, 4},
        tail_of(&job->hits),
        slots_of(&job->hits, hit_bytes),
        tail_of(&job->misses),
        slots_of(&job->misses, FACET_RT_MISS_BYTES)};
    enum facet_xphmg_rt_error error = FACET_XPHMG_RT_EC_NONE;
    struct facet_xphmg_rt_batch batch;
    bool reread;

    if (job->w_guard || !queues_apart(job, hit_bytes) ||
        !facet_xphmg_rt_batch_begin(
            &job->scene, slots_of(&job->rays, FACET_RT_FAST_RAY_BYTES), writes, &batch)) {
        return FACET_XPHMG_RT_EC_NONE;
    }
    reread = reread_queues(job);
    while (reread && error == FACET_XPHMG_RT_EC_NONE && !job->left &&
           job->rays.head != job->rays.tail) {
        uint32_t end = job->rays.tail > job->rays.head ? job->rays.tail : job->rays.cap;
        size_t count = end - job->rays.head < batch.room ? end - job->rays.head : batch.room;

        facet_xphmg_rt_batch_trace(job->h, &batch, job->rays.head, count);
        error = record_batch(job, &batch, count);
    }
    facet_xphmg_rt_batch_end(job->h, &batch, job->scene.counts);
    return error;
}

/* The queues of a job that begins. */
static enum facet_xphmg_rt_error open_queues(struct job *job)
{
    struct facet_xphmg_rt_queue *queues[] = {&job->rays, &job->hits, &job->misses};
    enum facet_xphmg_rt_error error =
        job->rays.address == 0 ? FACET_XPHMG_RT_EC_QUEUE : FACET_XPHMG_RT_EC_NONE;

    for (unsigned i = 0; i < FACET_XPHMG_RT_QUEUES && error == FACET_XPHMG_RT_EC_NONE; i++) {
        error = open_queue(job, queues[i]);
    }
    return error;
}

static enum facet_xphmg_rt_error run(struct job *job)
{
    enum facet_xphmg_rt_error error = FACET_XPHMG_RT_EC_NONE;
    bool tried = false;

    while (error == FACET_XPHMG_RT_EC_NONE && !job->left && job->rays.head != job->rays.tail) {
        if (!tried && !job->in_ray && needs_no_inexact(job)) {
            tried = true;
            error = run_batches(job);
        } else {
            error = one_ray(job);
            if (error == FACET_XPHMG_RT_EC_NONE && !job->left) {
                ask(job, RAY_NANOSECONDS);
            }
        }
    }
    return error;
}

/* ---- left and taken up again ---- */

static void keep_job(const struct job *job, struct facet_xphmg_rt_part *part)
{
    part->queue[FACET_XPHMG_RT_QUEUE_RAYS] = job->rays;
    part->queue[FACET_XPHMG_RT_QUEUE_HITS] = job->hits;
    part->queue[FACET_XPHMG_RT_QUEUE_MISSES] = job->misses;
    part->in_ray = job->in_ray;
    if (job->in_ray) {
        part->tag = job->tag;
        part->walk = job->walk;
    }
}

static void take_job(struct job *job, const struct facet_xphmg_rt_part *part)
{
    job->rays = part->queue[FACET_XPHMG_RT_QUEUE_RAYS];
    job->hits = part->queue[FACET_XPHMG_RT_QUEUE_HITS];
    job->misses = part->queue[FACET_XPHMG_RT_QUEUE_MISSES];
    job->in_ray = part->in_ray;
    if (job->in_ray) {
        job->tag = part->tag;
        job->walk = part->walk;
    }
}

/* ---- the instruction ---------------------------------------------------------------------------
 */

/* The outcome of the job's policy, for traces: as for an instruction (rt.c). */
static void tell_policy(struct facet_hart *h, const struct facet_xmem_job *policy, uint64_t hyb)
{
    uint64_t sprof = policy->sprof != 0               ? policy->sprof
                     : FACET_XMEM_HAS(h, STREAM_PROF) ? h->units.rt.sprof
                                                      : 0;

    facet_hart_unit(
        h,
        "rt",
        "job",
        6,
        (uint64_t[]){policy->actor.dom,
                     policy->actor.sec,
                     policy->mclass,
                     sprof,
                     hyb != 0 ? hyb
                              : FACET_GET(FACET_XMEM_CSR(h, DESCPOL), CAP_XMEM_DESCPOL_HYB_ENABLE),
                     FACET_XMEM_CSR(h, COMP_CTL)});
}

enum facet_xphmg_rt_error facet_xphmg_rt_run(struct facet_hart *h, const uint8_t *descriptor)
{
    struct facet_xphmg_rt_desc_fields d;
    const struct facet_insn none = {0};
    struct facet_xmem_job policy;
    struct facet_lanes frame;
    enum facet_xphmg_rt_error error = FACET_XPHMG_RT_EC_NONE;
    struct facet_part *part = facet_part_resume(h, FACET_PART_RT);
    struct facet_xphmg_rt_counts counts = {.deepest = 0};
    struct job job;

    facet_xphmg_rt_desc_unpack(descriptor, &d);
    (void)facet_lanes_begin(h, &none, 0, &frame); /* bank 0 always exists */
    set_up(&job, h, &d, &frame);
    job.scene.counts = h->counts != NULL ? &counts : NULL;
    if (part != NULL) {
        facet_xmem_job_resume(h, &d.memctl, part->pin, &policy);
        job.scene.port.actor = policy.actor;
        take_job(&job, &part->rt);
    } else {
        facet_xmem_job_begin(h, &d.memctl, &policy);
        job.scene.port.actor = policy.actor;
        tell_policy(h, &policy, d.memctl.hyb);
        error = open_queues(&job);
    }
    if (error == FACET_XPHMG_RT_EC_NONE) {
        error = run(&job);
    }
    if (h->counts != NULL) {
        facet_counts_add(h->counts, "RT jobs", "jobs", !job.left);
        tell_counts(h->counts, &counts);
    }
    if (job.left) {
        part = facet_part_leave(h, FACET_PART_RT);
        part->pin = policy.pin;
        keep_job(&job, &part->rt);
        return FACET_XPHMG_RT_EC_NONE;
    }
    facet_xmem_job_end(h, &policy);
    if (error != FACET_XPHMG_RT_EC_NONE) {
        facet_xphmg_rt_set_error(h, error);
    }
    return error;
}

struct facet_trap facet_xphmg_rt_submit(struct facet_hart *h, const struct facet_insn *in)
{
    uint8_t bytes[FACET_XPHMG_RT_DESC_SIZE];
    struct facet_trap trap;

    if ((h->units.config->feat0 & FACET_CAP_FEAT0_RT_PRESENT) == 0) {
        return facet_hart_trap_make(FACET_CAUSE_UNSUPPORTED, in->word); /* no RTSTAT to tell */
    }
    if (!facet_xphmg_rt_supports(h, FACET_RTCAP_DESCQ)) {
        return facet_xphmg_rt_unsupported(h, in);
    }
    if (facet_jobs_resumes(h, FACET_PART_RT)) {
        return facet_jobs_resume(h, in, FACET_QUEUE_RT);
    }
    if (!facet_jobs_room(h, FACET_QUEUE_RT)) {
        return FACET_RETIRED;
    }
    trap = facet_xmem_read_descriptor(h, h->x[in->rs1], sizeof bytes, bytes);
    if (trap.taken) {
        return trap;
    }
    if (!facet_xphmg_rt_desc_legal(bytes)) {
        facet_xphmg_rt_set_error(h, FACET_XPHMG_RT_EC_ILLEGAL);
        return facet_hart_trap_make(FACET_CAUSE_ILLEGAL, in->word);
    }
    if (!facet_xphmg_rt_supports(h, needs(facet_xphmg_rt_desc_opts(bytes)))) {
        return facet_xphmg_rt_unsupported(h, in);
    }
    return facet_jobs_submit(h, in, FACET_QUEUE_RT, bytes, sizeof bytes);
}
