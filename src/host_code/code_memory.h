/* Memory for host code that is made at run time. No page of it is ever writable and executable at
 * once: what was closed can run, what is opened can be written. One piece at a time, from the
 * beginning to the end; all of it is forgotten together.
 *
 * Hosts that cannot run such code (other processors, a system that refuses executable memory) get
 * none: callers do without. One thread at a time. */
#ifndef FACET_HOST_CODE_CODE_MEMORY_H
#define FACET_HOST_CODE_CODE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct facet_code_memory facet_code_memory;

/* NULL when the host has none to give; pages are taken from it when they are written. */
facet_code_memory *facet_code_memory_create(size_t bytes);
void facet_code_memory_destroy(facet_code_memory *memory); /* NULL is allowed */

/* Room for the next piece, of at most `bytes`; NULL when there is no room, or when the host
 * refuses. Until it is closed, pieces beside it cannot run either. */
uint8_t *facet_code_memory_open(facet_code_memory *memory, size_t bytes);
/* Keeps `bytes` of the piece; false when the host no longer lets it run: then the memory is to be
 * destroyed, with nothing of it in use. */
bool facet_code_memory_close(facet_code_memory *memory, size_t bytes);
/* Bytes that the next piece may have. */
size_t facet_code_memory_room(const facet_code_memory *memory);
/* Forgets everything. */
void facet_code_memory_clear(facet_code_memory *memory);
/* Whether the address is that of code in here. */
bool facet_code_memory_has(const facet_code_memory *memory, const void *address);

#endif
