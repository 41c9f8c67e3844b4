/* The command queue: ring, fences, the order of work (tile-semantics.md 18). What each opcode does
 * is queue_exec.c, the registers are host.c.
 *
 * The queue works inside the machine's run(): one step takes one command from the ring, or draws
 * one descriptor of an indirect GDRAW; a DISPATCH then runs its kernel instruction by instruction.
 * A draw that was interrupted in the middle is the step that comes next, and counts when it is
 * complete. So a debugger stops inside a command, a budget may end anywhere, and a snapshot holds a
 * queue in the middle of its work. A BLOCKED command is tried again by every run; nothing changes
 * while its fence is not there. */
#include "tile/queue.h"

#include "contract/tile_csrs.h"
#include "tile/core.h"

#include <string.h>

void facet_tile_queue_reset(struct facet_tile_queue *q)
{
    memset(q, 0, sizeof *q);
    facet_raster_reset(&q->gfx);
}

/* ---- ring ---- */

static bool ring_good(const struct facet_tile_machine *m)
{
    const struct facet_tile_queue *q = &m->queue;

    return q->base % 32 == 0 && q->size >= 64 && (q->size & (q->size - 1)) == 0 &&
           q->size <= m->vram_size && facet_tile_in_vram(m, q->base, q->size);
}

uint32_t facet_tile_ring_word(const struct facet_tile_machine *m, uint32_t offset)
{
    const struct facet_tile_queue *q = &m->queue;

    return facet_load_le32(m->vram + (q->base - FACET_VRAM_BASE) + (offset & (q->size - 1)));
}

/* Bytes between the next header and what the host has written last. */
static uint32_t ring_bytes(const struct facet_tile_queue *q)
{
    return (q->prod - q->cons) & (q->size - 1) & ~UINT32_C(3);
}

static struct facet_tile_header read_header(const struct facet_tile_machine *m)
{
    uint32_t words[FACET_TILE_COMMAND_WORDS];

    for (uint32_t i = 0; i < FACET_TILE_COMMAND_WORDS; i++) {
        words[i] = facet_tile_ring_word(m, m->queue.cons + 4 * i);
    }
    return (struct facet_tile_header){
        .opcode = facet_tile_command_opcode(words),
        .flags = facet_tile_command_flags(words),
        .slot = facet_tile_command_rdst(words),
        .length = facet_tile_command_len(words),
        .arg = {facet_tile_command_arg0(words),
                facet_tile_command_arg1(words),
                facet_tile_command_arg2(words)},
    };
}

/* ---- fences ---- */

static uint32_t slot_address(const struct facet_tile_queue *q, uint32_t slot)
{
    return q->completion_base + 4 * slot;
}

static bool slot_good(const struct facet_tile_machine *m, uint32_t slot)
{
    return m->queue.completion_base % 4 == 0 &&
           facet_tile_in_vram(m, slot_address(&m->queue, slot), 4);
}

bool facet_tile_slot_word(const struct facet_tile_machine *m, uint32_t slot, uint32_t *value)
{
    const struct facet_tile_queue *q = &m->queue;

    if (q->completion_base == 0) {
        *value = q->fence;
        return true;
    }
    if (!slot_good(m, slot)) {
        *value = 0;
        return false;
    }
    *value = facet_load_le32(m->vram + (slot_address(q, slot) - FACET_VRAM_BASE));
    return true;
}

/* EMIT; false when the slot cannot be written. */
static bool emit(struct facet_tile_machine *m, uint32_t slot)
{
    struct facet_tile_queue *q = &m->queue;
    uint32_t at = slot_address(q, slot) - FACET_VRAM_BASE;

    q->fence++;
    q->last[slot] = q->fence;
    for (unsigned i = 0; i < FACET_TILE_CORES; i++) {
        m->core[i].r.int_status |= FACET_INT_STATUS_FENCE;
    }
    if (q->completion_base == 0) {
        return true;
    }
    if (!slot_good(m, slot)) {
        return false;
    }
    facet_store_le32(m->vram + at, q->fence);
    facet_tile_touch(m, at, 4);
    return true;
}

/* The condition of WAIT; a slot without a word to read fails (*status). */
static bool fence_passed(const struct facet_tile_machine *m, uint32_t slot, uint32_t *status)
{
    uint32_t last = m->queue.last[slot], word;

    if (!facet_tile_slot_word(m, slot, &word)) {
        *status = FACET_TILE_STATUS_BAD_ARG;
        return true;
    }
    return (int32_t)(word - (last > 1 ? last : 1)) >= 0;
}

/* ---- commands ---- */

static void tell(const struct facet_tile_machine *m)
{
    const struct facet_tile_queue *q = &m->queue;
    const struct facet_tile_header *h = &q->header;
    const char *name = facet_tile_opcode_name(h->opcode);
    struct facet_unit_event event = {
        .core = FACET_NONE,
        .unit = "queue",
        .what = name != NULL ? name : "bad opcode",
        .count = 6,
        .values = {q->last_status, h->flags, h->slot, h->arg[0], h->arg[1], h->arg[2]}};

    facet_port_unit(m->port, &event);
}

/* The command under way is over, with q->status. */
static void complete(struct facet_tile_machine *m)
{
    struct facet_tile_queue *q = &m->queue;

    if ((q->header.flags & FACET_TILE_FLAG_EMIT) != 0 && !emit(m, q->header.slot) &&
        q->status == FACET_TILE_STATUS_OK) {
        q->status = FACET_TILE_STATUS_BAD_ARG;
    }
    if ((q->header.flags & FACET_TILE_FLAG_IRQ) != 0) {
        q->int_status |= FACET_TILE_INT_COMMAND;
    }
    q->last_status = q->status;
    if (q->last_error == FACET_TILE_STATUS_OK) {
        q->last_error = q->status;
    }
    q->cons = q->next_cons;
    q->phase = FACET_TILE_PHASE_NEXT;
    q->state = FACET_TILE_QUEUE_ACTIVE;
    q->commands++;
    tell(m);
}

static void fail(struct facet_tile_machine *m, uint32_t status)
{
    m->queue.status = status;
    complete(m);
}

static void block(struct facet_tile_queue *q)
{
    if (q->state != FACET_TILE_QUEUE_BLOCKED) {
        q->state = FACET_TILE_QUEUE_BLOCKED;
        q->int_status |= FACET_TILE_INT_BLOCKED;
    }
}

/* Takes the command at CONS from the ring, or blocks. */
static void begin(struct facet_tile_machine *m)
{
    struct facet_tile_queue *q = &m->queue;
    uint32_t bytes = ring_bytes(q), all = FACET_TILE_COMMAND_SIZE, status = FACET_TILE_STATUS_OK;
    uint32_t payload = q->cons + FACET_TILE_COMMAND_SIZE;
    bool blocked = false;

    q->header = (struct facet_tile_header){0};
    if (bytes >= FACET_TILE_COMMAND_SIZE) {
        q->header = read_header(m);
        all += (q->header.flags & FACET_TILE_FLAG_PAYLOAD) != 0 ? 4 * q->header.length : 0;
    }
    if (bytes < all) {
        q->next_cons = (q->cons + bytes) & (q->size - 1);
        fail(m, FACET_TILE_STATUS_BAD_LENGTH);
        return;
    }
    q->next_cons = (q->cons + all) & (q->size - 1);
    if ((q->header.flags & FACET_TILE_FLAG_WAIT) != 0 &&
        !fence_passed(m, q->header.slot, &status)) {
        block(q);
        return;
    }
    if (status == FACET_TILE_STATUS_OK) {
        status = facet_tile_queue_begin(m, payload, &blocked);
    }
    if (blocked) {
        block(q);
        return;
    }
    q->state = FACET_TILE_QUEUE_ACTIVE;
    q->status = status;
    if (q->phase == FACET_TILE_PHASE_NEXT) {
        complete(m);
    }
}

/* ---- dispatches ---- */

static uint32_t dispatch_status(const struct facet_tile_machine *m)
{
    return m->state == FACET_TILE_STATE_FAULTED
               ? FACET_TILE_STATUS_DISPATCH + m->core[m->event_core].fault_cause
               : FACET_TILE_STATUS_OK;
}

void facet_tile_queue_settle(struct facet_tile_machine *m)
{
    struct facet_tile_queue *q = &m->queue;

    if (q->phase != FACET_TILE_PHASE_DISPATCH) {
        return;
    }
    if (m->state == FACET_TILE_STATE_WAITING) {
        if (q->state != FACET_TILE_QUEUE_WAITING) {
            q->state = FACET_TILE_QUEUE_WAITING;
            q->int_status |= FACET_TILE_INT_WAITING;
        }
        return;
    }
    q->state = FACET_TILE_QUEUE_ACTIVE;
    if (m->state != FACET_TILE_STATE_RUNNING) {
        q->status = dispatch_status(m);
        q->int_status |= q->status != FACET_TILE_STATUS_OK ? FACET_TILE_INT_FAULT : 0;
        complete(m);
    }
}

/* ---- running ---- */

void facet_tile_queue_ring(struct facet_tile_machine *m)
{
    struct facet_tile_queue *q = &m->queue;

    if (q->phase != FACET_TILE_PHASE_NEXT) {
        return; /* running */
    }
    if (!ring_good(m)) {
        q->last_status = FACET_TILE_STATUS_BAD_ARG;
        if (q->last_error == FACET_TILE_STATUS_OK) {
            q->last_error = q->last_status;
        }
        q->state = FACET_TILE_QUEUE_EMPTY;
        return;
    }
    q->state = FACET_TILE_QUEUE_ACTIVE; /* a blocked command tries again, and says so again */
}

/* One step of the queue; false when it has nothing to do now. */
static bool step(struct facet_tile_machine *m)
{
    struct facet_tile_queue *q = &m->queue;

    if (q->phase == FACET_TILE_PHASE_DRAWS) {
        uint32_t status = facet_tile_queue_draw_next(m);

        q->status = q->status != FACET_TILE_STATUS_OK ? q->status : status;
        if (q->phase == FACET_TILE_PHASE_NEXT) {
            complete(m);
        }
        return true;
    }
    if (ring_bytes(q) == 0) {
        q->state = FACET_TILE_QUEUE_EMPTY;
        return false;
    }
    begin(m);
    facet_tile_queue_settle(m); /* a grid without tiles is over at once */
    return q->state != FACET_TILE_QUEUE_BLOCKED;
}

/* A dispatch that is not the queue's goes first: there is one set of cores. */
static bool cores_are_busy(const struct facet_tile_machine *m)
{
    return m->state == FACET_TILE_STATE_RUNNING || m->state == FACET_TILE_STATE_WAITING;
}

static bool queue_works(const struct facet_tile_queue *q)
{
    return q->state == FACET_TILE_QUEUE_ACTIVE || q->state == FACET_TILE_QUEUE_BLOCKED;
}

/* Whether this run ends here, whatever there is to do. */
static bool is_over(const struct facet_tile_machine *m)
{
    return m->port->stop || facet_port_asked(m->port);
}

void facet_tile_queue_run(void *self, uint64_t budget, struct facet_stop *stop)
{
    struct facet_tile_machine *m = self;
    struct facet_tile_queue *q = &m->queue;

    m->draw.often = m->port->poll != NULL && m->port->poll_every == 0;
    for (;;) {
        if (!facet_tile_half_drawn(m, FACET_TILE_OF_QUEUE) &&
            (cores_are_busy(m) || (!q->owns && !queue_works(q)))) {
            facet_tile_run(self, budget, stop);
            facet_tile_queue_settle(m);
            if (!queue_works(q) || cores_are_busy(m) || stop->reason == FACET_STOP_BREAKPOINT) {
                return;
            }
            stop->reason = FACET_STOP_BUDGET; /* the kernel's end is not the queue's */
            if (is_over(m)) {
                return;
            }
        }
        if (stop->steps >= budget) {
            return;
        }
        if (!queue_works(q) || !step(m)) {
            stop->reason = FACET_STOP_IDLE;
            return;
        }
        stop->steps += !facet_tile_half_drawn(m, FACET_TILE_OF_QUEUE);
        if (is_over(m)) {
            return;
        }
    }
}

/* ---- snapshots ---- */

static void visit_header(struct facet_tile_header *h, struct facet_state_io *io)
{
    facet_state_u32(io, &h->opcode);
    facet_state_u32(io, &h->flags);
    facet_state_u32(io, &h->slot);
    facet_state_u32(io, &h->length);
    facet_state_require(io,
                        h->opcode <= 0xFF && h->flags <= 0xFF &&
                            h->slot < FACET_TILE_COMPLETION_SLOTS && h->length <= 0xFF,
                        "header of a command");
    facet_state_u32s(io, h->arg, 3);
}

void facet_tile_queue_visit(struct facet_tile_queue *q, struct facet_state_io *io)
{
    facet_state_tag(io, "queue");
    facet_state_u32(io, &q->int_status);
    facet_state_u32(io, &q->last_error);
    facet_state_u32(io, &q->last_status);
    facet_state_u32(io, &q->base);
    facet_state_u32(io, &q->size);
    facet_state_u32(io, &q->prod);
    facet_state_u32(io, &q->cons);
    facet_state_u32(io, &q->completion_base);
    facet_state_u32(io, &q->fence);
    facet_state_u32s(io, q->last, FACET_TILE_COMPLETION_SLOTS);
    facet_state_u8(io, &q->state);
    facet_state_u8(io, &q->phase);
    facet_state_bool(io, &q->owns);
    visit_header(&q->header, io);
    facet_state_u32(io, &q->next_cons);
    facet_state_u32(io, &q->status);
    facet_state_u32(io, &q->draw);
    facet_state_u32(io, &q->draws);
    facet_state_u64(io, &q->commands);
    facet_state_u32(io, &q->answer_count);
    facet_state_require(io, q->answer_count <= FACET_TILE_ANSWER_WORDS, "number of answers");
    if (!io->failed) {
        facet_state_u32s(io, q->answers, q->answer_count);
    }
}

bool facet_tile_queue_consistent(const struct facet_tile_machine *m)
{
    const struct facet_tile_queue *q = &m->queue;
    bool working = q->state != FACET_TILE_QUEUE_EMPTY;
    bool dispatched = m->state == FACET_TILE_STATE_RUNNING || m->state == FACET_TILE_STATE_WAITING;

    return q->state <= FACET_TILE_QUEUE_WAITING && q->phase <= FACET_TILE_PHASE_DRAWS &&
           (!working || (ring_good(m) && q->cons < q->size && q->cons % 4 == 0)) &&
           (q->phase == FACET_TILE_PHASE_NEXT ||
            (working && q->next_cons < q->size && q->next_cons % 4 == 0)) &&
           (q->phase == FACET_TILE_PHASE_DISPATCH ? q->owns && dispatched &&
                                                        (q->state == FACET_TILE_QUEUE_WAITING) ==
                                                            (m->state == FACET_TILE_STATE_WAITING)
                                                  : q->state != FACET_TILE_QUEUE_WAITING) &&
           (q->phase != FACET_TILE_PHASE_DRAWS || q->draw < q->draws);
}
