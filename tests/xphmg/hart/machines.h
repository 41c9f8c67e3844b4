/* Machines of any configuration that run one program in every way they have: plain, with blocks,
 * with host code, in small pieces. All must leave the same snapshot. */
#ifndef FACET_TESTS_XPHMG_HART_MACHINES_H
#define FACET_TESTS_XPHMG_HART_MACHINES_H

#include <facet/xphmg.h>

/* Assembles the text for `base` (0x80000000 without _at), and runs it to its end or 100000 steps,
 * with 1 MiB of RAM unless the configuration says otherwise. The machine with host code is the
 * caller's to destroy. */
facet_machine *machines_run(const char *configuration, const char *text, uint32_t harts);
facet_machine *
machines_run_at(const char *configuration, const char *text, uint32_t harts, uint64_t base);

/* For the runs that follow: jobs complete late. */
extern bool machines_late;

/* Of the last run. */
extern struct facet_stop machines_stop;
extern char machines_output[256];
uint64_t machines_base(void);
uint64_t machines_symbol(const char *name);

uint64_t machines_reg(const facet_machine *m, uint32_t core, const char *name);
uint64_t machines_csr(const facet_machine *m, uint32_t core, const char *name);
void machines_csrw(facet_machine *m, uint32_t core, const char *name, uint64_t value);
void machines_regw(facet_machine *m, uint32_t core, const char *name, uint64_t value);
struct facet_region_desc machines_region(const facet_machine *m, const char *name);

/* Restores a snapshot of m with `count` bytes changed, `past` bytes behind the place that holds the
 * eight bytes of `mark`; the answer of the restore. */
enum facet_status machines_restore_changed(facet_machine *m,
                                           uint64_t mark,
                                           size_t past,
                                           const void *bytes,
                                           size_t count,
                                           struct facet_error *err);

#endif
