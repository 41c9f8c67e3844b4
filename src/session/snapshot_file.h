/* A snapshot of an xphmg machine in a file that is enough by itself: the configuration to make the
 * machine again comes before its state.
 *
 *   "FACETRUN"  u32 version  u32 harts  u64 RAM bytes  u32 quantum  u32 instructions per tick
 *   u32 flags (bit 0: no semihosting)  u32 size of the configuration  u32 size of the command line
 *   u64 size of the state  [u64 seed]  configuration  command line  u64 hash of all before it
 *   the state (machine/snapshot.c, with a hash of its own)
 *
 * The bare state alone, as facet_machine_snapshot and facet_cosim_replay give it, is read too: the
 * machine is then made by the options of the command line.
 *
 * Numbers are little-endian. Version 1 has no seed; version 2 is of a machine whose jobs complete
 * late, and has it. */
#ifndef FACET_SESSION_SNAPSHOT_FILE_H
#define FACET_SESSION_SNAPSHOT_FILE_H

#include "base/file.h"

#include <facet/xphmg.h>

struct session_snapshot {
    struct facet_xphmg_config config; /* strings are ours; no host */
    const uint8_t *state;             /* inside the bytes that were parsed */
    size_t state_size;
    char *configuration;
    char *command_line;
    bool bare; /* there is no configuration in the file */
};

/* `config`: what the machine was made with; its zeros stand for the defaults. */
enum facet_status session_snapshot_write(const char *path,
                                         const struct facet_xphmg_config *config,
                                         const facet_machine *machine,
                                         struct facet_error *err);
/* FACET_ERR_INPUT with err->where = the offset. Free in every case. */
enum facet_status session_snapshot_parse(const void *data,
                                         size_t size,
                                         struct session_snapshot *out,
                                         struct facet_error *err);
void session_snapshot_free(struct session_snapshot *file);
/* Makes the machine and takes over the state. Host, plain and job_threads are those of `here`:
 * they are not of the file. */
enum facet_status session_snapshot_resume(struct session_snapshot *file,
                                          const struct facet_xphmg_config *here,
                                          facet_machine **out,
                                          struct facet_error *err);

#endif
