/* No pages can be mapped or dropped: what libfacet asks for is refused, and it does without. */
#ifndef FACET_WASM_MMAN_H
#define FACET_WASM_MMAN_H

#include <stddef.h>

#define MADV_DONTNEED 4

static inline int madvise(void *memory, size_t size, int advice)
{
    (void)memory, (void)size, (void)advice;
    return -1;
}

#endif
