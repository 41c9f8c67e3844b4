/* The measurements `kernel` and `kernel-scalar` of area `tile`. */
#ifndef FACET_BENCH_TILE_KERNEL_H
#define FACET_BENCH_TILE_KERNEL_H

#include "bench/bench.h"

bench_fn bench_tile_kernel, bench_tile_kernel_peer, bench_tile_scalar, bench_tile_scalar_peer;

#endif
