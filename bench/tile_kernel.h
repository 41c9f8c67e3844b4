/* The measurement `kernel` of area `tile`. */
#ifndef FACET_BENCH_TILE_KERNEL_H
#define FACET_BENCH_TILE_KERNEL_H

#include "bench/bench.h"

bench_fn bench_tile_kernel;

#endif
