/* A command list (docs/tile-draw.md) read and made ready: every byte that goes into VRAM and every
 * command, before anything runs. */
#ifndef FACET_TILE_LIST_LIST_H
#define FACET_TILE_LIST_LIST_H

#include "base/error.h"
#include "object/object.h"

#include <facet/tile.h>

/* What comes next: a command, or something the host does while the queue may stand still. */
enum facet_tile_list_step_kind {
    FACET_TILE_LIST_COMMAND,
    FACET_TILE_LIST_SIGNAL,
    FACET_TILE_LIST_DOORBELL,
    FACET_TILE_LIST_REGISTER
};

struct facet_tile_list_step {
    enum facet_tile_list_step_kind kind;
    uint32_t index;   /* in "commands" */
    const char *name; /* static */
    struct facet_tile_command command;
    uint32_t payload[255]; /* what command.payload points to */
    uint32_t slot,
        value; /* SIGNAL; DOORBELL: the mask is `value`; REGISTER: `slot` is its offset */
};

/* What belongs to the result beside the frame, for facet conform. */
enum facet_tile_list_seen_kind {
    FACET_TILE_LIST_STATUS,  /* host registers after every step */
    FACET_TILE_LIST_ANSWERS, /* what READ_MEM returned */
    FACET_TILE_LIST_CORES,   /* CORE_STATE of the cores */
    FACET_TILE_LIST_BYTES    /* a buffer, the completion slots */
};

struct facet_tile_list_seen {
    enum facet_tile_list_seen_kind kind;
    uint32_t address, size; /* BYTES */
};

struct facet_tile_list_piece {
    uint32_t address;
    size_t size;
    uint8_t *bytes;
};

struct facet_tile_list {
    struct facet_tile_config config;
    struct {
        uint32_t address, stride, width, height;
        enum facet_tile_format format;
    } frame;
    uint32_t ring, slots; /* addresses */
    struct facet_tile_list_piece *pieces;
    size_t piece_count;
    struct facet_tile_list_step *steps;
    size_t step_count;
    struct facet_tile_list_seen *seen;
    size_t seen_count;
    struct facet_object *program; /* all kernels that were assembled, with names and lines */
};

enum { FACET_TILE_LIST_RING_BYTES = 4096 };

/* Files that the list names are looked for in `folder` and below; NULL refuses them. Complaints
 * name `name`, the command by its index, and the field. *plan is empty on failure. */
enum facet_status facet_tile_list_read(const char *name,
                                       const char *folder,
                                       const void *text,
                                       size_t size,
                                       struct facet_tile_list *plan,
                                       struct facet_error *err);
void facet_tile_list_free(struct facet_tile_list *plan);

/* All of it on a machine that was made with plan->config: bytes, then every step to its end. */
enum facet_status facet_tile_list_run(const struct facet_tile_list *plan,
                                      facet_machine *machine,
                                      struct facet_error *err);

#endif
