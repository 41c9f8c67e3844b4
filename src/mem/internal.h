/* What mem.c and snapshot.c share. */
#ifndef FACET_MEM_INTERNAL_H
#define FACET_MEM_INTERNAL_H

#include "mem/mem.h"

struct facet_mem_entry {
    struct facet_mem_region region;
    struct facet_mem_device device; /* kind DEVICE */
    uint8_t *bytes;                 /* else */
    uint8_t *pages;
};

struct facet_mem {
    unsigned count;
    struct facet_mem_entry entries[FACET_MEM_MAX_REGIONS]; /* by rising base */
};

static inline uint64_t facet_mem_page_count(const struct facet_mem_entry *entry)
{
    return ((entry->region.size - 1) >> FACET_MEM_PAGE_BITS) + 1;
}

/* Bytes of a page: fewer than a whole page only for the last one. */
static inline size_t facet_mem_page_size(const struct facet_mem_entry *entry, uint64_t page)
{
    uint64_t left = entry->region.size - (page << FACET_MEM_PAGE_BITS);

    return left < FACET_MEM_PAGE_BYTES ? (size_t)left : FACET_MEM_PAGE_BYTES;
}

/* The first page at or after `page` with any of the bits set, or the page count. */
uint64_t facet_mem_find_page(const struct facet_mem_entry *entry, unsigned bits, uint64_t page);

#endif
