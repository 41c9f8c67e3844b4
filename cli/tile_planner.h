/* What the files of the command list's reader share (tile_plan.c: machine, frame and the whole;
 * tile_plan_buffers.c; tile_plan_commands.c): places in VRAM, names of buffers, complaints. */
#ifndef FACET_CLI_TILE_PLANNER_H
#define FACET_CLI_TILE_PLANNER_H

#include "cli/tile_desc.h"
#include "cli/tile_plan.h"

enum { TILE_PLANNER_PLACE = 200 }; /* room for the name of a place in the file */

struct tile_named {
    const char *name; /* of the JSON value */
    uint32_t address;
    size_t size;
};

struct tile_planner {
    const char *name, *folder;
    struct tile_plan *plan;
    struct facet_error *err;
    struct tile_named *buffers;
    size_t buffer_count;
    uint64_t next; /* free VRAM from here, an offset */
    size_t piece_room;
    struct tile_desc_host host;
    uint32_t setup; /* address of the last RSETUP block, 0: none */
    uint32_t index; /* of the command being read */
};

/* These two are always false. */
bool tile_planner_complain(void *planner, const char *where, const char *expected);
bool tile_planner_no_memory(const struct tile_planner *p);
/* Refuses members that nobody asks for. */
bool tile_planner_known(struct tile_planner *p,
                        const json_t *object,
                        const char *where,
                        const char *names);

bool tile_planner_reserve(
    struct tile_planner *p, const char *where, uint64_t size, uint32_t align, uint32_t *out);
/* Takes `bytes`, also on failure. */
bool tile_planner_add_piece(struct tile_planner *p, uint32_t address, uint8_t *bytes, size_t size);
/* Words at a new place. */
bool tile_planner_add_words(struct tile_planner *p,
                            const char *where,
                            const uint32_t *words,
                            uint32_t count,
                            uint32_t align,
                            uint32_t *address);
/* "name", "name+0x40", a number. */
bool tile_planner_address(void *planner, const json_t *value, const char *where, uint32_t *out);

bool tile_plan_read_buffers(struct tile_planner *p, const json_t *buffers);
bool tile_plan_read_commands(struct tile_planner *p, const json_t *list);

#endif
