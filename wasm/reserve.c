/* Reservations (base/large.h) where there are no pages to map. Zeroes cost time there, so memory
 * that is given back as zeroes is kept for the next reservation of its size, and of memory that has
 * just been added to that of the module nothing has to be cleared. */
#include "base/large.h"

#include <string.h>

#define MODULE_PAGE 65536u
/* Of what is kept: the RAM of a hart beside the VRAM and the lines of a tile GPU. */
#define MOST_BYTES ((size_t)384 << 20)
#define LEAST_BYTES ((size_t)1 << 20) /* of one: less is cleared at once */
enum { MOST_KEPT = 16 };

static struct {
    void *memory;
    size_t bytes;
} kept[MOST_KEPT]; /* the first ones, the oldest first */
static unsigned kept_count;
static size_t kept_bytes;

static void *take(unsigned i)
{
    void *const memory = kept[i].memory;

    kept_bytes -= kept[i].bytes;
    kept_count--;
    memmove(&kept[i], &kept[i + 1], (kept_count - i) * sizeof kept[0]);
    return memory;
}

/* malloc, which may have what is kept. */
static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);

    while (memory == NULL && kept_count != 0) {
        free(take(0));
        memory = malloc(bytes);
    }
    return memory;
}

void *facet_reserve_any(uint64_t bytes)
{
    return bytes <= SIZE_MAX ? allocate((size_t)bytes) : NULL;
}

void *facet_reserve(uint64_t bytes)
{
    /* What lies behind comes from memory.grow, which gives zeroes. */
    const uintptr_t end = __builtin_wasm_memory_size(0) * MODULE_PAGE;
    uintptr_t used;
    void *memory;

    for (unsigned i = kept_count; i-- > 0;) {
        if (kept[i].bytes == bytes) {
            return take(i);
        }
    }
    memory = facet_reserve_any(bytes);
    if (memory != NULL && (uintptr_t)memory < end) {
        used = end - (uintptr_t)memory;
        memset(memory, 0, used < bytes ? used : (size_t)bytes);
    }
    return memory;
}

void facet_unreserve(void *memory, uint64_t bytes)
{
    (void)bytes;
    free(memory);
}

void facet_unreserve_zeroes(void *memory, uint64_t bytes)
{
    if (memory == NULL || bytes < LEAST_BYTES || bytes > MOST_BYTES) {
        free(memory);
        return;
    }
    while (kept_count == MOST_KEPT || kept_bytes > MOST_BYTES - bytes) {
        free(take(0));
    }
    kept[kept_count].memory = memory;
    kept[kept_count++].bytes = (size_t)bytes;
    kept_bytes += (size_t)bytes;
}
