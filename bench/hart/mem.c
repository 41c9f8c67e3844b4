/* `mem` of `facet bench hart`: loads and stores. Each round copies a buffer word by word and byte
 * by byte, sums it with several strides, and chases pointers through a permuted ring; the sum must
 * come out the same each time. */
#include <stdint.h>

enum { WORDS = 1 << 15, BYTES = 1 << 14, RING = 1 << 14 };

static uint64_t from[WORDS], to[WORDS];
static uint32_t ring[RING];

static __attribute__((noinline)) void copy_words(uint64_t *d, const uint64_t *s, long count)
{
    for (long i = 0; i < count; i += 4) {
        uint64_t a = s[i], b = s[i + 1], c = s[i + 2], e = s[i + 3];

        d[i] = a;
        d[i + 1] = b;
        d[i + 2] = c;
        d[i + 3] = e;
    }
}

static __attribute__((noinline)) void copy_bytes(uint8_t *d, const uint8_t *s, long count)
{
    for (long i = 0; i < count; i++) {
        d[i] = s[i];
    }
}

static __attribute__((noinline)) uint64_t sum_stride(const uint64_t *s, long count, long stride)
{
    uint64_t sum = 0;

    for (long start = 0; start < stride; start++) {
        for (long i = start; i < count; i += stride) {
            sum = sum * 3 + s[i];
        }
    }
    return sum;
}

static __attribute__((noinline)) uint64_t chase(const uint32_t *next, long count)
{
    uint32_t at = 0;
    uint64_t sum = 0;

    for (long i = 0; i < count; i++) {
        at = next[at];
        sum += at ^ (uint64_t)i;
    }
    return sum;
}

extern const volatile long rounds; /* start.S; set by who runs the program */

/* What a round comes to, on any machine. */
#define EXPECTED UINT64_C(0x177E9B56BE24E881)

int main(void)
{
    for (long i = 0; i < WORDS; i++) {
        from[i] = (uint64_t)i * UINT64_C(0x9E3779B97F4A7C15);
    }
    for (uint32_t i = 0; i < RING; i++) { /* odd multiplier and increment: one ring through all */
        ring[i] = (i * 4093 + 2731) % RING;
    }
    for (long i = 0; i < rounds; i++) {
        uint64_t sum;

        copy_words(to, from, WORDS);
        copy_bytes((uint8_t *)to + 1, (const uint8_t *)from + 5, BYTES);
        sum = sum_stride(to, WORDS, 1) ^ sum_stride(to, WORDS, 8) ^ sum_stride(to, WORDS, 64);
        if (sum + chase(ring, RING) != EXPECTED) {
            return 1;
        }
    }
    return 0;
}
