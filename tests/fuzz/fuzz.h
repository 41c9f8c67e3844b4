/* A fuzz target takes any bytes and must not crash, hang, leak or break the property it states
 * (fuzz_require). `make fuzz` runs the targets under libFuzzer with the sanitizers; every other
 * build links them with replay.c, which feeds them the seeds and random mutations of those.
 *
 * A target that needs a machine makes it once and puts it back for every input (fuzz_rewind):
 * making one costs more than most inputs do. */
#ifndef FACET_TESTS_FUZZ_H
#define FACET_TESTS_FUZZ_H

#include "fuzz/choice.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_require(int ok)
{
    if (!ok) {
        abort();
    }
}

#endif
