/* Structs that cross the public interface together with their size (facet/version.h). */
#ifndef FACET_BASE_SIZED_H
#define FACET_BASE_SIZED_H

#include "base/error.h"

#include <stdint.h>
#include <string.h>

/* The caller's struct into ours: members that it does not have yet are 0, members that we do not
 * know must be. `theirs` NULL: all 0. */
static inline enum facet_status facet_sized_in(void *ours,
                                               size_t our_size,
                                               const void *theirs,
                                               size_t their_size,
                                               const char *name,
                                               struct facet_error *err)
{
    size_t common = their_size < our_size ? their_size : our_size;

    memset(ours, 0, our_size);
    if (theirs == NULL) {
        return FACET_OK;
    }
    memcpy(ours, theirs, common);
    for (size_t i = our_size; i < their_size; i++) {
        if (((const uint8_t *)theirs)[i] != 0) {
            return facet_fail(err,
                              FACET_ERR_USAGE,
                              i,
                              "struct %s of %zu bytes sets a member at byte %zu; this library "
                              "knows the first %zu bytes",
                              name,
                              their_size,
                              i,
                              our_size);
        }
    }
    return FACET_OK;
}

/* Ours into the caller's: members that we do not know are 0. */
static inline void
facet_sized_out(void *theirs, size_t their_size, const void *ours, size_t our_size)
{
    memset(theirs, 0, their_size);
    memcpy(theirs, ours, their_size < our_size ? their_size : our_size);
}

#endif
