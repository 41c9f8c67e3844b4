/* Memory of the libraries. The build includes this first in every file of libfacet and
 * libfacet-scene, so that their calls of malloc and its kin reach the allocator of the program that
 * uses them (facet_set_allocator), while files stay plain C. Files that are compiled for the hart
 * and the program `facet` itself use the C library's. */
#ifndef FACET_BASE_ALLOC_H
#define FACET_BASE_ALLOC_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* some files ask for it; it counts only before the first header */
#endif
#include <stdlib.h>
#include <string.h>

void *facet_malloc(size_t size);
void *facet_calloc(size_t count, size_t size);
void *facet_realloc(void *memory, size_t size);
void *facet_aligned_alloc(size_t align, size_t size);
void facet_free(void *memory);
char *facet_strdup(const char *text);
char *facet_strndup(const char *text, size_t most);

/* C libraries have some of these as macros. */
#undef strdup
#undef strndup
#define malloc(size) facet_malloc(size)
#define calloc(count, size) facet_calloc(count, size)
#define realloc(memory, size) facet_realloc(memory, size)
#define aligned_alloc(align, size) facet_aligned_alloc(align, size)
#define free(memory) facet_free(memory)
#define strdup(text) facet_strdup(text)
#define strndup(text, most) facet_strndup(text, most)

#endif
