/* The files of `facet tile run --out` and `--save`: checked before the dispatch, read and written
 * after it. */
#ifndef FACET_SESSION_TILE_OUTPUT_H
#define FACET_SESSION_TILE_OUTPUT_H

#include "session/tile.h"

#include "base/file.h"

struct session_tile_output {
    const char *path;
    uint8_t *bytes;
    uint32_t address, size;
    uint32_t width, height; /* of a picture; 0: bytes */
};

struct session_tile_outputs {
    struct session_tile_output list[CLI_MAX_VALUES];
    int count;
    uint64_t hash;   /* of all of them, once written */
    bool use_stdout; /* for a file or the trace: the report goes to standard error */
};

/* Reads the --out options: memory that exists, folders that can be written to, and no file that the
 * command reads, traces to or writes a second time. An error is reported before the dispatch
 * begins.
 */
bool session_tile_outputs_plan(struct session_tile_outputs *outputs,
                               const struct session_tile *setup,
                               const struct cli_args *args);
enum { SESSION_TILE_REPORTS = 2 };

/* All are read before the first is written, together with `more` (each may be NULL): all or none.
 */
bool session_tile_outputs_write(struct session_tile_outputs *outputs,
                                const struct session_tile *setup,
                                const struct cli_args *args,
                                const struct facet_file_part *const more[SESSION_TILE_REPORTS]);
void session_tile_outputs_free(struct session_tile_outputs *outputs);

#endif
