/* Memory for large arrays. From a few megabytes on, pages of 2 MiB instead of 4 KiB save most page
 * faults and most misses of the address translation; the kernel is asked, and may decline. */
#ifndef FACET_BASE_LARGE_H
#define FACET_BASE_LARGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#ifndef __wasi__
#include <sys/mman.h>
#include <unistd.h>
#endif

#define FACET_LARGE_PAGE ((size_t)2 << 20)

static inline void facet_large_wish(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, bytes, MADV_HUGEPAGE); /* only a hint */
#else
    (void)memory;
    (void)bytes;
#endif
}

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
    if (memory != NULL && align == FACET_LARGE_PAGE) {
        facet_large_wish(memory, rounded);
    }
    return memory;
}

/* Gives the pages that lie wholly in bytes [begin, end) of `memory` back; what was there is lost.
 */
static inline void facet_large_release(void *memory, size_t begin, size_t end)
{
#ifdef MADV_DONTNEED
    const uintptr_t page = 4096, at = (uintptr_t)memory;
    const uintptr_t first = (at + begin + page - 1) / page * page, last = (at + end) / page * page;

    if (first < last) {
        (void)madvise((void *)first, last - first, MADV_DONTNEED);
    }
#else
    (void)memory;
    (void)begin;
    (void)end;
#endif
}

#ifdef __wasi__

/* One memory that grows, without pages to map: wasm/reserve.c. */
enum { FACET_ZEROES_COST = 1 };
void *facet_reserve(uint64_t bytes);
void *facet_reserve_any(uint64_t bytes);
void facet_unreserve(void *memory, uint64_t bytes);
void facet_unreserve_zeroes(void *memory, uint64_t bytes);

static inline void *facet_reserve_large(uint64_t bytes)
{
    return facet_reserve(bytes);
}

#else

/* Whether zeroes of a reservation take time: who knows what it has written then gives it back as
 * zeroes. */
enum { FACET_ZEROES_COST = 0 };

/* `bytes` zeroes, which cost address space only until they are touched; NULL when there is none.
 * Ends with facet_unreserve. */
static inline void *facet_reserve(uint64_t bytes)
{
    void *memory = MAP_FAILED;

    if (bytes <= SIZE_MAX) {
        memory = mmap(NULL,
                      (size_t)bytes,
                      PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                      -1,
                      0);
    }
    return memory != MAP_FAILED ? memory : NULL;
}

static inline void facet_unreserve(void *memory, uint64_t bytes)
{
    if (memory != NULL) {
        (void)munmap(memory, (size_t)bytes);
    }
}

/* The same when every byte is 0 again. */
static inline void facet_unreserve_zeroes(void *memory, uint64_t bytes)
{
    facet_unreserve(memory, bytes);
}

/* As facet_reserve, but what the bytes are does not matter. */
static inline void *facet_reserve_any(uint64_t bytes)
{
    return facet_reserve(bytes);
}

/* As facet_reserve, for memory that is used from its beginning on and read at random: from a large
 * page on it begins with one and has only such ones, as far as the kernel grants them. Where the
 * kernel chooses the beginning, everything up to the first large page stays in small ones. */
static inline void *facet_reserve_large(uint64_t bytes)
{
    const size_t large = FACET_LARGE_PAGE, page = (size_t)sysconf(_SC_PAGESIZE);
    size_t kept, before;
    uint8_t *memory;

    if (bytes < large || bytes > SIZE_MAX - 2 * large) {
        return facet_reserve(bytes);
    }
    kept = ((size_t)bytes + page - 1) / page * page; /* what facet_unreserve will unmap */
    memory = (uint8_t *)facet_reserve(kept + large);
    if (memory == NULL) {
        return NULL;
    }
    before = (large - (uintptr_t)memory % large) % large;
    facet_unreserve(memory, before);
    facet_unreserve(memory + before + kept, large - before);
    facet_large_wish(memory + before, kept);
    return memory + before;
}

#endif

/* Zeroes for an array of which little may be used; what is not touched costs nothing from a
 * mebibyte on. NULL without memory. Ends with facet_zeroes_free and the same size. */
static inline void *facet_zeroes(size_t bytes)
{
    return bytes < (size_t)1 << 20 ? calloc(bytes + (bytes == 0), 1) : facet_reserve(bytes);
}

static inline void facet_zeroes_free(void *memory, size_t bytes)
{
    if (bytes < (size_t)1 << 20) {
        free(memory);
    } else {
        facet_unreserve(memory, bytes);
    }
}

#endif
