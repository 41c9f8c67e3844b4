/* A guest's life for conformance/recorded.py, in lines of text (harness_record): what the test put
 * into registers and memory before each run, the run, and what the test could see after it.
 *
 *     guest N CONFIG[,KEY=VALUE...]     a machine after reset
 *     use N                             lines that follow are about it
 *     memory ADDRESS BYTES              as the run finds it, where it is not what the last one left
 *     run SIZE STATE x1..x31 [float f0..f31]      of SIZE bytes at GUEST_CODE, with these registers
 *     ran ok|trap CAUSE TVAL PC STATE x1..x31 [float f0..f31]
 *     csr NUMBER VALUE                  the test looked at it
 *     load ADDRESS SIZE VALUE           likewise
 *     lost                              from here on something cannot be told, or enough was told
 */
#ifndef FACET_TESTS_XPHMG_RECORD_H
#define FACET_TESTS_XPHMG_RECORD_H

#include "xphmg/guest.h"

/* All of them do nothing unless the run is recorded. */
void record_make(struct guest *g, const char *config);
void record_configure(struct guest *g, const char *key, uint64_t value);
void record_reset(struct guest *g);
void record_free(struct guest *g);
void record_run(struct guest *g, size_t size);
void record_ran(struct guest *g, struct facet_trap trap);
void record_csr(const struct guest *g, unsigned number, uint64_t value);
void record_load(const struct guest *g, uint64_t address, unsigned size, uint64_t value);

#endif
