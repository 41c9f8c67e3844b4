/* What a test did with a tile machine, for conformance/recorded_tile.py, in lines of text
 * (harness_record). Each dispatch is told as if it were the first of its machine:
 *
 *     tile REGS STRONG POISON                 options that differ from the default
 *     memory ADDRESS BYTES                    all that is not zero before the dispatch
 *     exec|run PC COLUMNS ROWS WIDTH HEIGHT ARGS ARG_BYTES SHARED MASK CONST CONST_BYTES WATCHDOG
 *     in CONFIG VSTATUS VSTRIDE s1..s31 f0..f31 v1..v31   of core 0; before exec only
 *     out END CAUSE PC ADDRESS STATUS FSTATUS CONFIG VSTATUS VSTRIDE s1..s31 f0..f31 v1..v31
 *     get ADDRESS VALUE                       the test looked at it */
#ifndef FACET_TESTS_TILE_RECORD_H
#define FACET_TESTS_TILE_RECORD_H

#include "kernel.h"

/* All of them do nothing unless the suite is recorded. `exec`: with the registers of `k`. */
void record_open(struct kernel *k, const struct facet_tile_config *config);
void record_before(struct kernel *k, bool exec);
void record_after(struct kernel *k);
void record_get(struct kernel *k, uint32_t address, uint32_t value);

#endif
