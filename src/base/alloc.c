/* See alloc.h and facet/memory.h. */
#include "base/alloc.h"

#include "base/error.h"

#include <facet/memory.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Here the names mean the C library's own. */
#undef malloc
#undef calloc
#undef realloc
#undef aligned_alloc
#undef free

/* The program's; `allocate` is NULL: the C library's. Set before anything is allocated, so it needs
 * no lock. */
static struct facet_allocator allocator;
static _Atomic bool used;

static void note_use(void)
{
    if (!atomic_load_explicit(&used, memory_order_relaxed)) {
        atomic_store_explicit(&used, true, memory_order_relaxed);
    }
}

enum facet_status facet_set_allocator(const struct facet_allocator *from, struct facet_error *err)
{
    if (atomic_load(&used)) {
        return facet_fail(
            err, FACET_ERR_USAGE, 0, "the library already holds memory: set the allocator first");
    }
    if (from != NULL && (from->allocate == NULL || from->resize == NULL || from->release == NULL)) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "an allocator needs all three functions");
    }
    allocator = from != NULL ? *from : (struct facet_allocator){0};
    return FACET_OK;
}

void facet_blob_free(struct facet_blob *blob)
{
    facet_free(blob->data);
    *blob = (struct facet_blob){0};
}

void *facet_malloc(size_t size)
{
    note_use();
    return allocator.allocate != NULL ? allocator.allocate(allocator.context, size, 0)
                                      : malloc(size);
}

void *facet_calloc(size_t count, size_t size)
{
    void *memory;

    note_use();
    if (allocator.allocate == NULL) {
        return calloc(count, size);
    }
    if (size != 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    memory = allocator.allocate(allocator.context, count * size, 0);
    return memory != NULL ? memset(memory, 0, count * size) : NULL;
}

void *facet_realloc(void *memory, size_t size)
{
    note_use();
    return allocator.allocate != NULL ? allocator.resize(allocator.context, memory, size)
                                      : realloc(memory, size);
}

void *facet_aligned_alloc(size_t align, size_t size)
{
    note_use();
    return allocator.allocate != NULL ? allocator.allocate(allocator.context, size, align)
                                      : aligned_alloc(align, size);
}

void facet_free(void *memory)
{
    if (allocator.allocate == NULL) {
        free(memory);
    } else if (memory != NULL) {
        allocator.release(allocator.context, memory);
    }
}

static char *copy(const char *text, size_t length)
{
    char *to = facet_malloc(length + 1);

    if (to != NULL) {
        memcpy(to, text, length);
        to[length] = '\0';
    }
    return to;
}

char *facet_strdup(const char *text)
{
    return copy(text, strlen(text));
}

char *facet_strndup(const char *text, size_t most)
{
    return copy(text, strnlen(text, most));
}
