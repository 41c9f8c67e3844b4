/* See subset.h. */
#include "base/subset.h"

#define BIT(s, i) ((uint64_t)(s) >> (i)&1)
/* How many members are below i. */
#define RANK(s, i)                                                                                 \
    (((i) > 0 ? BIT(s, 0) : 0) + ((i) > 1 ? BIT(s, 1) : 0) + ((i) > 2 ? BIT(s, 2) : 0) +           \
     ((i) > 3 ? BIT(s, 3) : 0) + ((i) > 4 ? BIT(s, 4) : 0) + ((i) > 5 ? BIT(s, 5) : 0) +           \
     ((i) > 6 ? BIT(s, 6) : 0))
#define MEMBER(s, i) (BIT(s, i) * (i) << 8 * RANK(s, i))
#define SET(s)                                                                                     \
    (MEMBER(s, 1) | MEMBER(s, 2) | MEMBER(s, 3) | MEMBER(s, 4) | MEMBER(s, 5) | MEMBER(s, 6) |     \
     MEMBER(s, 7))
#define SETS4(s) SET(s), SET((s) + 1), SET((s) + 2), SET((s) + 3)
#define SETS16(s) SETS4(s), SETS4((s) + 4), SETS4((s) + 8), SETS4((s) + 12)
#define SETS64(s) SETS16(s), SETS16((s) + 16), SETS16((s) + 32), SETS16((s) + 48)

const uint64_t facet_subset_members[256] = {SETS64(0), SETS64(64), SETS64(128), SETS64(192)};
