/* Bytes as a source of choices: a fuzzer's input, or numbers drawn from a seed. */
#ifndef FACET_FUZZ_CHOICE_H
#define FACET_FUZZ_CHOICE_H

#include <stddef.h>
#include <stdint.h>

/* Behind its end all choices are 0. */
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
