/* Memory for large arrays. From a few megabytes on, pages of 2 MiB instead of 4 KiB save most page
 * faults and most misses of the address translation; the kernel is asked, and may decline. */
#ifndef FACET_BASE_LARGE_H
#define FACET_BASE_LARGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define FACET_LARGE_PAGE ((size_t)2 << 20)

/* `bytes` bytes, not cleared, aligned to 64; NULL when memory is short. Ends with free(). */
static inline void *facet_large_alloc(size_t bytes)
{
    const size_t align = bytes >= 2 * FACET_LARGE_PAGE ? FACET_LARGE_PAGE : 64;
    size_t rounded;
    void *memory;

    if (bytes > SIZE_MAX - align) {
        return NULL;
    }
    rounded = (bytes + (bytes == 0) + align - 1) / align * align;
    memory = aligned_alloc(align, rounded);
#ifdef MADV_HUGEPAGE
    if (memory != NULL && align == FACET_LARGE_PAGE) {
        (void)madvise(memory, rounded, MADV_HUGEPAGE); /* only a wish */
    }
#endif
    return memory;
}

#endif
