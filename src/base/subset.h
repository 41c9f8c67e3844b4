/* Subsets of eight things, as permutations: the n-th byte of an entry is the n-th member of the set
 * that the index stands for, lowest first; bytes behind the last member are 0. */
#ifndef FACET_BASE_SUBSET_H
#define FACET_BASE_SUBSET_H

#include <stdint.h>

extern const uint64_t facet_subset_members[256];

#endif
