/* A command list (docs/tile-draw.md) read and made ready: every byte that goes into VRAM and every
 * command, before anything runs. */
#ifndef FACET_CLI_TILE_PLAN_H
#define FACET_CLI_TILE_PLAN_H

#include "base/error.h"

#include <facet/tile.h>

/* What comes next: a command, or something the host does while the queue may stand still. */
enum tile_step_kind { TILE_STEP_COMMAND, TILE_STEP_SIGNAL, TILE_STEP_DOORBELL };

struct tile_step {
    enum tile_step_kind kind;
    uint32_t index;   /* in "commands" */
    const char *name; /* static */
    struct facet_tile_command command;
    uint32_t payload[255]; /* what command.payload points to */
    uint32_t slot, value;  /* SIGNAL; DOORBELL: the mask is `value` */
};

struct tile_piece {
    uint32_t address;
    size_t size;
    uint8_t *bytes;
};

struct tile_plan {
    struct facet_tile_config config;
    struct {
        uint32_t address, stride, width, height;
        enum facet_tile_format format;
    } frame;
    uint32_t ring, slots; /* addresses */
    struct tile_piece *pieces;
    size_t piece_count;
    struct tile_step *steps;
    size_t step_count;
};

enum { TILE_PLAN_RING_BYTES = 4096 };

/* Files that the list names are looked for in `folder` and below; NULL refuses them. Complaints
 * name `name`, the command by its index, and the field. *plan is empty on failure. */
enum facet_status tile_plan_read(const char *name,
                                 const char *folder,
                                 const void *text,
                                 size_t size,
                                 struct tile_plan *plan,
                                 struct facet_error *err);
void tile_plan_free(struct tile_plan *plan);

#endif
