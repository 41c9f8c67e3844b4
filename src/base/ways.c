/* See ways.h. */
#include "base/ways.h"

#ifdef FACET_ASSERTS
_Atomic bool facet_fast_way_taken[FACET_FAST_WAY_COUNT];

const char *const facet_fast_way_names[FACET_FAST_WAY_COUNT] = {
#define WAY_NAME(name) #name,
    FACET_FAST_WAYS(WAY_NAME)
#undef WAY_NAME
};
#endif
