/* The measurement `assemble` of area `isa`; see assemble.c. */
#ifndef FACET_BENCH_ASSEMBLE_H
#define FACET_BENCH_ASSEMBLE_H

#include "bench/bench.h"

/* Millions of instructions per second; one run of the program whatever `seconds` says. */
bench_fn bench_assemble_facet, bench_assemble_gnu;

#endif
