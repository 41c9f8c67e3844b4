/* What the commands that run kernels say about them: the table of the cores, and every fault with
 * its place and what led to it. */
#ifndef FACET_SESSION_TILE_REPORT_H
#define FACET_SESSION_TILE_REPORT_H

#include "session/explain.h"
#include "session/lint.h"
#include "session/tile.h"
#include "session/timing/option.h"

/* How a dispatch ended or where it stopped: one object with --json, else text on `out`. */
int session_tile_report(const struct cli_args *args,
                        const struct session_tile *setup,
                        struct session_explain *why,
                        const struct session_lint *lint,
                        const struct session_timing *timing,
                        const struct facet_stop *stop,
                        FILE *out);

/* What the graphics units refused in the tile that each core ran last; a kernel goes on behind
 * that. As text, and as a list; NULL without memory. */
void session_tile_refusals_print(const facet_machine *machine, FILE *out);
json_t *session_tile_refusals_json(const facet_machine *machine);

/* The instruction at which a run was stopped, and what it reads. */
void session_tile_held_print(const facet_machine *machine,
                             const struct session_explain *why,
                             const struct facet_stop *stop,
                             FILE *out);
json_t *session_tile_held_json(const struct session_explain *why, const struct facet_stop *stop);

/* The faults of the cores in the current or last dispatch. */
bool session_tile_has_fault(const facet_machine *machine);
void session_tile_faults_print(const facet_machine *machine,
                               const struct session_explain *why,
                               FILE *out);
json_t *session_tile_fault_json(const facet_machine *machine,
                                const struct session_explain *why,
                                uint32_t core);

#endif
