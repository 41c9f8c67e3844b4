/* The state of the command queue and the host registers (tile-semantics.md 18, 19). Part of the
 * machine, so that snapshots have it. Private to src/tile. */
#ifndef FACET_TILE_QUEUE_H
#define FACET_TILE_QUEUE_H

#include "machine/state.h"
#include "raster/raster.h"

#include <facet/tile.h>

enum { FACET_TILE_COMPLETION_SLOTS = FACET_TILE_FENCE_SLOT_COUNT };

/* Where the command at CONS stands. */
enum facet_tile_queue_phase {
    FACET_TILE_PHASE_NEXT,     /* it has not begun */
    FACET_TILE_PHASE_DISPATCH, /* its kernel runs */
    FACET_TILE_PHASE_DRAWS,    /* some of its descriptors are drawn, or one was left half-way */
};

/* Words as in the ring. */
struct facet_tile_header {
    uint32_t opcode, flags, slot, length;
    uint32_t arg[3];
};

struct facet_tile_queue {
    /* registers */
    uint32_t int_status, last_error, last_status;
    uint32_t base, size, prod, cons;
    uint32_t completion_base;
    /* fences */
    uint32_t fence; /* F */
    uint32_t last[FACET_TILE_COMPLETION_SLOTS];
    /* work */
    uint8_t state; /* enum facet_tile_queue_state */
    uint8_t phase; /* enum facet_tile_queue_phase */
    bool owns;     /* the last dispatch was a command */
    struct facet_tile_header header;
    uint32_t next_cons;   /* after the current command */
    uint32_t status;      /* of the command under way: its first error */
    uint32_t draw, draws; /* of a draw: descriptors done, and all of them */
    uint64_t commands;    /* completed */
    struct facet_raster_context gfx;
    /* what READ_MEM returned and the host has not taken */
    uint32_t answer_count;
    uint32_t answers[FACET_TILE_ANSWER_WORDS];
};

struct facet_tile_machine;

void facet_tile_queue_reset(struct facet_tile_queue *q);
/* Takes note of a dispatch of the queue that ended or waits. Does nothing else, any number of
 * times. */
void facet_tile_queue_settle(struct facet_tile_machine *m);
/* Bytes of the ring that are free. */
uint32_t facet_tile_queue_room(const struct facet_tile_queue *q);
/* CMDQ_DOORBELL. */
void facet_tile_queue_ring(struct facet_tile_machine *m);
/* The machine's run(): the cores' own (facet_tile_run) and the queue around it. */
void facet_tile_queue_run(void *self, uint64_t budget, struct facet_stop *stop);
void facet_tile_queue_visit(struct facet_tile_queue *q, struct facet_state_io *io);
/* What run() takes for granted, of a loaded state. */
bool facet_tile_queue_consistent(const struct facet_tile_machine *m);

/* queue_exec.c: begins the command in q->header, whose payload starts at ring offset `payload`.
 * Gives its status; leaves another phase than NEXT when there is more to come, and *blocked when it
 * could not begin. */
uint32_t facet_tile_queue_begin(struct facet_tile_machine *m, uint32_t payload, bool *blocked);
/* The next descriptor of a draw, or the rest of one. */
uint32_t facet_tile_queue_draw_next(struct facet_tile_machine *m);

/* A word of the ring at a byte offset, which wraps. */
uint32_t facet_tile_ring_word(const struct facet_tile_machine *m, uint32_t offset);
/* The word that fence comparisons use, or the place an EMIT writes; false when COMPLETION_BASE does
 * not lead into VRAM. */
bool facet_tile_slot_word(const struct facet_tile_machine *m, uint32_t slot, uint32_t *value);

#endif
