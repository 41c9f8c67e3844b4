/* A bump allocator: many small objects that die together.
 *
 * Memory comes in chunks that double in size; there is no per-object free. Objects never move. An
 * arena belongs to one thread at a time. */
#ifndef FACET_BASE_ARENA_H
#define FACET_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct facet_arena_chunk;

struct facet_arena {
    struct facet_arena_chunk *chunks; /* newest first */
    uint8_t *next;                    /* free bytes of the newest chunk: [next, end) */
    uint8_t *end;
    size_t chunk_size; /* of the next chunk */
};

/* Allocates nothing yet. */
void facet_arena_init(struct facet_arena *arena);
/* Frees everything; the arena is as after init and may be used again. */
void facet_arena_free(struct facet_arena *arena);
/* Forgets all objects but keeps the largest chunk for reuse. */
void facet_arena_reset(struct facet_arena *arena);

/* `size` bytes, not cleared, aligned to `align` (a power of two); NULL when memory is short, and
 * the arena is as before. Size 0 gives a valid pointer. */
void *facet_arena_alloc(struct facet_arena *arena, size_t size, size_t align);
/* `count` cleared objects of `size` bytes, aligned for any type; NULL also when count * size does
 * not fit a size_t. */
void *facet_arena_calloc(struct facet_arena *arena, size_t count, size_t size);
/* A NUL-terminated copy of `length` bytes. */
char *facet_arena_copy(struct facet_arena *arena, const char *text, size_t length);

#endif
