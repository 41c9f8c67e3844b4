/* What the measurements on an xphmg machine set up: a program at the start of RAM, CSRs and
 * registers of hart 0 by name. */
#ifndef FACET_BENCH_HART_SETUP_H
#define FACET_BENCH_HART_SETUP_H

#include <facet/machine.h>

/* Assembles the text to FACET_XPHMG_RAM_BASE. `end`: the address after it; may be NULL. */
enum facet_status
hart_put_program(facet_machine *machine, const char *text, uint64_t *end, struct facet_error *err);
enum facet_status
hart_put_csr(facet_machine *machine, const char *name, uint64_t value, struct facet_error *err);
enum facet_status
hart_put_reg(facet_machine *machine, const char *name, uint64_t value, struct facet_error *err);

#endif
