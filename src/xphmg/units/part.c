/* See part.h. A part comes out of a snapshot, which anybody may have written: whatever it says, the
 * step that takes it reads and writes guest memory through the doors that check, and its own arrays
 * inside their bounds. */
#include "xphmg/units/part.h"

#include "machine/state.h"

#include <stdlib.h>

void facet_part_drop(struct facet_part *part)
{
    free(part->values);
    part->values = NULL;
    part->value_count = 0;
    part->left = part->resumes = part->told = false;
    part->queue = 0;
}

static void visit_rt(struct facet_xphmg_rt_part *rt, struct facet_state_io *io)
{
    struct facet_xphmg_rt_walk *walk = &rt->walk;
    uint32_t *const found[] = {
        &walk->found.t, &walk->found.u, &walk->found.v, &walk->found.triangle, &walk->found.leaf};

    for (unsigned i = 0; i < FACET_XPHMG_RT_QUEUES; i++) {
        struct facet_xphmg_rt_queue *q = &rt->queue[i];

        facet_state_u64(io, &q->address);
        facet_state_u32(io, &q->head);
        facet_state_u32(io, &q->tail);
        facet_state_u32(io, &q->cap);
        facet_state_u64(io, &q->base);
    }
    facet_state_require(io,
                        facet_xphmg_rt_queue_in_range(&rt->queue[FACET_XPHMG_RT_QUEUE_RAYS]),
                        "head and tail of a queue of rays, expected below its capacity");
    facet_state_bool(io, &rt->in_ray);
    if (!rt->in_ray) {
        return;
    }
    facet_state_u64(io, &rt->tag);
    facet_state_u32s(io, walk->ray.o, 3);
    facet_state_u32s(io, walk->ray.d, 3);
    facet_state_u32(io, &walk->ray.tmin);
    facet_state_u32(io, &walk->ray.tmax);
    facet_state_bool(io, &walk->found.hit);
    facet_state_bool(io, &walk->found.front);
    for (unsigned i = 0; i < sizeof found / sizeof found[0]; i++) {
        facet_state_u32(io, found[i]);
    }
    facet_state_u32(io, &walk->flags);
    facet_state_u32(io, &walk->steps);
    facet_state_u32(io, &walk->leaf);
    facet_state_u32(io, &walk->next);
    facet_state_u32(io, &walk->range.first);
    facet_state_u32(io, &walk->range.count);
    facet_state_u64(io, &walk->range.base);
    facet_state_u32(io, &walk->depth);
    facet_state_require(io, walk->depth <= FACET_XPHMG_RT_STACK, "depth of a ray's stack");
    for (uint32_t i = 0; i < walk->depth && !io->failed; i++) {
        struct facet_xphmg_rt_entry *entry = &walk->stack[i];

        facet_state_u8(io, &entry->type);
        facet_state_require(io,
                            entry->type == FACET_RT_NODE || entry->type == FACET_RT_LEAF,
                            "entry of a ray's stack, expected a node or a leaf");
        facet_state_u8(io, &entry->child);
        facet_state_u32(io, &entry->index);
        facet_state_u32(io, &entry->near);
    }
}

/* Entries of a hierarchy of depth: 4 bytes each, so that the snapshot itself bounds the memory. */
static void visit_values(struct facet_part *part, struct facet_state_io *io)
{
    bool any = part->values != NULL;

    facet_state_bool(io, &part->extreme.found);
    facet_state_u64(io, (uint64_t *)&part->extreme.value);
    facet_state_u32(io, &part->extreme.bits);
    facet_state_bool(io, &any);
    facet_state_u64(io, &part->value_count);
    if (!any || io->failed) {
        return;
    }
    if (io->loading) {
        facet_state_require(io,
                            part->value_count != 0 &&
                                part->value_count <= (io->size - io->at) / sizeof *part->values,
                            "entries of a hierarchy of depth");
        part->values = io->failed ? NULL : malloc(part->value_count * sizeof *part->values);
        facet_state_need(io, part->values != NULL);
    }
    if (!io->failed) {
        facet_state_u32s(io, part->values, (size_t)part->value_count);
    }
}

static enum facet_part_kind kind_of(unsigned queue)
{
    return queue == FACET_QUEUE_RT    ? FACET_PART_RT
           : queue == FACET_QUEUE_MTX ? FACET_PART_MTX
                                      : FACET_PART_COPY;
}

void facet_part_visit(struct facet_part *part,
                      const struct facet_cap_config *config,
                      const struct facet_jobs *jobs,
                      struct facet_state_io *io)
{
    facet_state_tag(io, "part");
    if (io->loading) {
        *part = (struct facet_part){0};
    }
    facet_state_bool(io, &part->left);
    if (!part->left || io->failed) {
        return;
    }
    facet_state_u8(io, &part->kind);
    facet_state_require(
        io, part->kind >= 1 && part->kind < FACET_PART_KINDS, "kind of a half-done step");
    facet_state_u8(io, &part->queue);
    facet_state_require(io,
                        part->queue == 0 || (part->queue <= FACET_JOB_QUEUES &&
                                             part->kind == kind_of(part->queue) &&
                                             facet_jobs_count(jobs, part->queue) > 0),
                        "queue of a half-done job");
    facet_state_u32(io, &part->word);
    facet_state_bool(io, &part->told);
    if (part->told) {
        if (io->loading) {
            part->units.config = config;
        }
        facet_units_visit(&part->units, io);
        facet_xmem_visit(&part->xmem, io);
    }
    facet_state_u64s(io, part->at, FACET_PART_WORDS);
    facet_state_bytes(io, part->descriptor, sizeof part->descriptor);
    facet_state_u64(io, &part->pin);
    facet_state_bytes(io, &part->bank, sizeof part->bank);
    if (part->kind == FACET_PART_RT) {
        visit_rt(&part->rt, io);
    } else if (part->kind == FACET_PART_HIZ) {
        visit_values(part, io);
    }
}
