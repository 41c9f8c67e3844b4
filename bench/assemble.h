/* The measurement `assemble` of area isa: million instructions a second, program against program.
 */
#ifndef FACET_BENCH_ASSEMBLE_H
#define FACET_BENCH_ASSEMBLE_H

#include "bench/bench.h"

enum facet_status bench_assemble_facet(double seconds, double *value, struct facet_error *err);
enum facet_status bench_assemble_gnu(double seconds, double *value, struct facet_error *err);

#endif
