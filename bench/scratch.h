/* Files that peers read and write: in a folder of their own, which goes away when the program ends,
 * also by a signal. */
#ifndef FACET_BENCH_SCRATCH_H
#define FACET_BENCH_SCRATCH_H

#include <facet/error.h>

enum { BENCH_SCRATCH_PATH = 96 };

/* Where the file `name`, a literal of at most 31 characters, is or will be. */
enum facet_status
bench_scratch(const char *name, char path[BENCH_SCRATCH_PATH], struct facet_error *err);
/* For signal handlers, too. */
void bench_scratch_remove(void);

#endif
