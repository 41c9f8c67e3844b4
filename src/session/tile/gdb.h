/* The tile machine under a debugger: one kernel, or the kernels of a command list, whose host the
 * debugger's stub then plays. */
#ifndef FACET_SESSION_TILE_GDB_H
#define FACET_SESSION_TILE_GDB_H

#include "session/explain.h"
#include "session/tile.h"
#include "session/tile/play.h"

#include "gdb/gdb.h"

/* All zero: nothing. */
struct session_tile_gdb {
    const struct cli_args *args;
    facet_machine *machine; /* of one of the two: */
    struct session_tile kernel;
    struct session_tile_play list;
    bool is_list;
    struct session_explain why;
    uint8_t *elf; /* the program as a file, for the debugger */
    size_t elf_size;
    uint8_t *stops; /* per step of the list: the debugger wants to see it before */
    size_t held;    /* the step that was held at last, SIZE_MAX: none */
    bool every;     /* all of them */
};

/* positional[0] is a kernel or a command list (.json); --resume is heeded. false after a complaint.
 * End in every case. */
bool session_tile_gdb_start(struct session_tile_gdb *s, const struct cli_args *args);
void session_tile_gdb_end(struct session_tile_gdb *s);
/* Fills in what the stub asks of the host besides the line; `context` of those calls is `s`. */
void session_tile_gdb_host(struct session_tile_gdb *s, struct facet_gdb_host *host);

#endif
