/* See failing_alloc.h. */
#include "base/failing_alloc.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

static long good_left = -1;
static bool once, refused;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void failing_alloc_after(long good)
{
    good_left = good;
    once = false;
}

void failing_alloc_once_after(long good)
{
    good_left = good;
    once = true;
}

long failing_alloc_each(void (*attempt)(void *context), void *context)
{
    long good = 0;

    for (int alone = 0; alone < 2; alone++) {
        good = -1;
        do {
            refused = false;
            good_left = ++good;
            once = alone != 0;
            attempt(context);
            good_left = -1;
        } while (refused);
    }
    return good;
}

/* jansson is a shared library, which the linker's option does not reach. Earlier than the
 * library's own constructor, which keeps the functions that it finds. */
__attribute__((constructor(101))) static void route_jansson(void)
{
    json_set_alloc_funcs(malloc, free);
}

/* Sizes that no host grants are refused here, because a sanitizer's allocator aborts on them. */
static bool refuse(size_t size)
{
    if (size > (size_t)1 << 40) {
        return true;
    }
    if (good_left < 0) {
        return false;
    }
    if (good_left == 0) {
        good_left = once ? -1 : 0;
        refused = true;
        return true;
    }
    good_left--;
    return false;
}

void *__wrap_malloc(size_t size)
{
    return refuse(size) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse(count * size) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return refuse(size) ? NULL : __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
    return refuse(size) ? NULL : __real_aligned_alloc(align, size);
}
