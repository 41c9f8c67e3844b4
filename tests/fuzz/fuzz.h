/* A fuzz target takes any bytes and must not crash, hang, leak or break the property it states
 * (fuzz_require). `make fuzz` runs the targets under libFuzzer with the sanitizers; every other
 * build links them with replay.c, which feeds them the seeds and random mutations of those.
 *
 * A target that needs a machine makes it once and puts it back for every input (fuzz_rewind):
 * making one costs more than most inputs do. */
#ifndef FACET_TESTS_FUZZ_H
#define FACET_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_require(int ok)
{
    if (!ok) {
        abort();
    }
}

/* The input as a source of numbers; behind its end all of them are 0. */
struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
};

/* The next `count` bytes, at most 8, little-endian. */
static inline uint64_t fuzz_take(struct fuzz_bytes *in, unsigned count)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < count && in->left > 0; i++, in->left--) {
        value |= (uint64_t)*in->at++ << 8 * i;
    }
    return value;
}

#endif
