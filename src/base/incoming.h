/* Arrays from a sender that is not trusted: memory grows with the bytes that really arrive, so a
 * stream that announces gigabytes and ends costs nothing. */
#ifndef FACET_BASE_INCOMING_H
#define FACET_BASE_INCOMING_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define FACET_INCOMING_PIECE ((size_t)1 << 20)

/* All of `size` bytes or false. */
typedef bool facet_incoming_fn(void *context, void *to, size_t size);

/* FACET_ERR_INPUT when the stream ends early, FACET_ERR_MEMORY; the caller says it in words. Free
 * *out with free(); it is NULL on failure, and never NULL on success. */
static inline enum facet_status
facet_incoming_array(facet_incoming_fn *get, void *context, size_t size, void **out)
{
    uint8_t *data = NULL;
    size_t have = 0;

    *out = NULL;
    do {
        /* As much as is there already: growing by doubles moves each byte about once. */
        size_t more = have != 0 ? have : FACET_INCOMING_PIECE;
        uint8_t *larger;

        more = more < size - have ? more : size - have;
        larger = realloc(data, have + more + 1);
        if (larger == NULL) {
            free(data);
            return FACET_ERR_MEMORY;
        }
        data = larger;
        if (more != 0 && !get(context, data + have, more)) {
            free(data);
            return FACET_ERR_INPUT;
        }
        have += more;
    } while (have < size);
    *out = data;
    return FACET_OK;
}

#endif
