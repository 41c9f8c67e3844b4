/* See arena.h. */
#include "base/arena.h"

#include "base/require.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CHUNK 4096
#define LARGEST_CHUNK ((size_t)1 << 20)

struct facet_arena_chunk {
    struct facet_arena_chunk *older;
    size_t size; /* of bytes */
    _Alignas(max_align_t) uint8_t bytes[];
};

void facet_arena_init(struct facet_arena *arena)
{
    memset(arena, 0, sizeof *arena);
    arena->chunk_size = FIRST_CHUNK;
}

static void free_chunks(struct facet_arena_chunk *chunk)
{
    while (chunk != NULL) {
        struct facet_arena_chunk *older = chunk->older;

        free(chunk);
        chunk = older;
    }
}

void facet_arena_free(struct facet_arena *arena)
{
    free_chunks(arena->chunks);
    facet_arena_init(arena);
}

static void use_chunk(struct facet_arena *arena, struct facet_arena_chunk *chunk)
{
    arena->chunks = chunk;
    arena->next = chunk->bytes;
    arena->end = chunk->bytes + chunk->size;
}

void facet_arena_reset(struct facet_arena *arena)
{
    struct facet_arena_chunk **largest = &arena->chunks;
    struct facet_arena_chunk *kept;

    if (arena->chunks == NULL) {
        return;
    }
    for (struct facet_arena_chunk **at = largest; *at != NULL; at = &(*at)->older) {
        if ((*at)->size > (*largest)->size) {
            largest = at;
        }
    }
    kept = *largest;
    *largest = kept->older;
    free_chunks(arena->chunks);
    kept->older = NULL;
    use_chunk(arena, kept);
}

/* A chunk with room for an object of this size at any offset the alignment may ask for. */
static bool add_chunk(struct facet_arena *arena, size_t size, size_t align)
{
    struct facet_arena_chunk *chunk;
    size_t need = size + align;

    if (need < size || need > SIZE_MAX - sizeof *chunk) {
        return false;
    }
    if (need < arena->chunk_size) {
        need = arena->chunk_size;
    }
    chunk = malloc(sizeof *chunk + need);
    if (chunk == NULL) {
        return false;
    }
    chunk->older = arena->chunks;
    chunk->size = need;
    use_chunk(arena, chunk);
    if (arena->chunk_size < LARGEST_CHUNK) {
        arena->chunk_size *= 2;
    }
    return true;
}

/* Bytes from `next` to the next aligned address. */
static size_t padding(const struct facet_arena *arena, size_t align)
{
    return (size_t)(-(uintptr_t)arena->next & (align - 1));
}

static bool fits(const struct facet_arena *arena, size_t size, size_t align)
{
    size_t left = arena->next != NULL ? (size_t)(arena->end - arena->next) : 0;
    size_t skip = padding(arena, align);

    return arena->next != NULL && skip <= left && size <= left - skip;
}

void *facet_arena_alloc(struct facet_arena *arena, size_t size, size_t align)
{
    uint8_t *object;

    FACET_REQUIRE(align != 0 && (align & (align - 1)) == 0);
    if (!fits(arena, size, align) && !add_chunk(arena, size, align)) {
        return NULL;
    }
    object = arena->next + padding(arena, align);
    arena->next = object + size;
    return object;
}

void *facet_arena_calloc(struct facet_arena *arena, size_t count, size_t size)
{
    void *object;

    if (size != 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    object = facet_arena_alloc(arena, count * size, _Alignof(max_align_t));
    if (object != NULL) {
        memset(object, 0, count * size);
    }
    return object;
}

char *facet_arena_copy(struct facet_arena *arena, const char *text, size_t length)
{
    char *copy = length == SIZE_MAX ? NULL : facet_arena_alloc(arena, length + 1, 1);

    if (copy != NULL) {
        if (length != 0) {
            memcpy(copy, text, length);
        }
        copy[length] = '\0';
    }
    return copy;
}
