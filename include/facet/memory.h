/* Memory that the library hands out, and where it takes it from. */
#ifndef FACET_MEMORY_H
#define FACET_MEMORY_H

#include <facet/error.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Bytes that belong to the caller. Texts end with a zero byte, which `size` does not count. */
struct facet_blob {
    void *data;
    size_t size;
};

/* Gives the bytes back; the blob is empty then. */
void facet_blob_free(struct facet_blob *blob);

/* Where all memory of the library comes from, but for
 *   - guest RAM of more than some pages and the stacks of threads, which the system maps;
 *   - what functions of the C library take for themselves and give back before they return
 * (sorting, names of files that are being written);
 *   - libfacet-scene: what jansson, libpng, libjpeg and zlib take.
 * Any thread may call these; NULL means no memory. The one
 * allocator serves the whole process: machines, hierarchies and texts are handed from one to the
 * other, and each would have to remember where it came from. */
struct facet_allocator {
    void *context;
    /* align: a power of two, or 0 for what suits every type. */
    void *(*allocate)(void *context, size_t size, size_t align);
    void *(*resize)(void *context, void *memory, size_t size); /* as realloc; align is 0 */
    void (*release)(void *context, void *memory);              /* memory is not NULL */
};

/* Before anything else of the library is called; NULL for the C library's. FACET_ERR_USAGE when
 * something has been allocated already. */
enum facet_status facet_set_allocator(const struct facet_allocator *allocator,
                                      struct facet_error *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
