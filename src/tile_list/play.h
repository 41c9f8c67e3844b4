/* A command list on a machine: what the host does, step after step. Whoever plays it runs the
 * machine in between, so a debugger may stop anywhere. */
#ifndef FACET_TILE_LIST_PLAY_H
#define FACET_TILE_LIST_PLAY_H

#include "tile_list/list.h"

#include <facet/machine.h>

struct facet_tile_play {
    const struct facet_tile_list *plan;
    facet_machine *machine;
    size_t next;           /* the step that the machine is given next */
    size_t first;          /* the oldest step that may not be complete */
    size_t waiting;        /* commands in the ring */
    uint64_t seen;         /* commands of the machine that are noted */
    uint32_t *statuses;    /* per step */
    uint32_t bad;          /* commands with another status than OK */
    uint64_t instructions; /* of all dispatches that are over */
};

/* Puts every buffer into the machine, which the plan's configuration has made, and sets up ring and
 * slots. Plan and machine must outlive the play; free in every case. */
enum facet_status facet_tile_play_start(struct facet_tile_play *play,
                                        const struct facet_tile_list *plan,
                                        facet_machine *machine,
                                        struct facet_error *err);
void facet_tile_play_free(struct facet_tile_play *play);

/* Whether there is no further step to give. */
bool facet_tile_play_over(const struct facet_tile_play *play);
/* Gives the machine the next step; there is one. Then run the machine until nothing moves. */
enum facet_status facet_tile_play_give(struct facet_tile_play *play, struct facet_error *err);
/* After each run: the command that was completed, or NULL. A run that completes several of them
 * leaves the status of the last; `facet_tile_play_budget` is short enough to see each. */
const struct facet_tile_list_step *facet_tile_play_note(struct facet_tile_play *play);
uint64_t facet_tile_play_budget(const struct facet_tile_play *play);
/* The machine was put back to another state of the same play, in which `next` steps had been given;
 * SIZE_MAX: as many as the machine shows, no signals and doorbells after the last command. */
void facet_tile_play_seek(struct facet_tile_play *play, size_t next);
/* The oldest command that is not complete, or NULL. */
const struct facet_tile_list_step *facet_tile_play_pending(const struct facet_tile_play *play);

#endif
