/* A command list run to its end, for the commands that have one: what each command gave, and every
 * fault of its kernels explained. */
#ifndef FACET_SESSION_TILE_PLAY_H
#define FACET_SESSION_TILE_PLAY_H

#include "command/command.h"

#include "base/file.h"
#include "base/pool.h"
#include "profile/profile.h"
#include "session/trace.h"
#include "tile/tile.h"
#include "tile_list/play.h"

#include <jansson.h>

/* All zero: nothing. */
struct session_tile_play {
    const struct cli_args *args;
    struct facet_bytes text; /* of the list */
    struct facet_tile_list plan;
    facet_machine *machine;
    facet_pool *pool;
    struct facet_tile_play play;
    json_t *reads;    /* what READ_MEM returned */
    json_t *faults;   /* per step: a list of the faults of its kernel, or null */
    json_t *refusals; /* per step: what graphics units refused its kernel, or null */
    char **notes;     /* per step: the same as text, or NULL */
    uint32_t explained;
    bool no_memory; /* for the past of a stop */
    bool stopped;   /* by a signal or the clock */
    uint64_t limit; /* of the machine's steps, 0: none. Set before the run */
    bool held;      /* at a breakpoint or at the limit: the rest has not run */
    struct session_tile_held {
        size_t index; /* of the step that is not complete */
        char *text;
        json_t *json;
    } at;
    struct session_trace *trace; /* of what the kernels do; NULL: none. Set before the run */
    /* Called when a command is complete; NULL: not. */
    void (*done)(void *context, const struct facet_tile_list_step *step);
    void *context;
};

/* Reads the list at `path` and the files beside it, and makes the machine with its buffers. false
 * after a complaint. End in every case. */
bool session_tile_play_start(struct session_tile_play *p,
                             const struct cli_args *args,
                             const char *path);
void session_tile_play_end(struct session_tile_play *p);

/* Every step of the list, up to a breakpoint of the machine or the limit. false: it did not come to
 * its end, and *err says where. */
bool session_tile_play_run(struct session_tile_play *p, struct facet_error *err);

/* Draws that were counted by the queue get the index of their command in the list. */
void session_tile_play_name_draws(const struct session_tile_play *p, struct facet_counts *counts);

/* The commands that failed with their faults, and the words that were read, as text. */
void session_tile_play_print(const struct session_tile_play *p, FILE *out);
/* Every command of the list as a JSON array. */
json_t *session_tile_play_json(const struct session_tile_play *p);

#endif
