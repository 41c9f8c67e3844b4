/* See pages.h. A page is 2^shift bytes and the first 64 of the next one, so that every node is in
 * one piece in the page that it begins in. */
#include "gfx12/device/pages.h"

#include "gfx12/device/shared.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_SHIFT = 20, SMALLEST_SHIFT = 12, OVERLAP = 64, FEW = 64 };

struct facet_gfx12_pages {
    facet_opencl *cl;
    const uint8_t *bytes;
    uint64_t size;
    uint32_t shift;
    uint32_t count; /* of the pages */
    uint32_t room;  /* of the device, in pages */
    uint64_t brought;
    facet_opencl_memory *memory, *slots;
    uint32_t *slot;  /* of each page, or DEVICE_NOWHERE */
    uint32_t *holds; /* the page in each slot, or DEVICE_NOWHERE */
    uint32_t next;   /* slot to be used */
    uint32_t *rays;  /* that want each page; 0 between two calls */
    struct wish {
        uint32_t page, rays;
    } * wishes;
};

static enum facet_status bring(struct facet_gfx12_pages *p,
                               uint64_t to,
                               uint64_t from,
                               uint64_t bytes,
                               struct facet_error *err)
{
    bytes = bytes < p->size - from ? bytes : p->size - from;
    return bytes == 0
               ? FACET_OK
               : facet_opencl_write(p->cl, p->memory, to, p->bytes + from, (size_t)bytes, err);
}

static uint64_t page_bytes(uint32_t shift)
{
    return (UINT64_C(1) << shift) + OVERLAP;
}

/* Large pages, as long as there are a few of them. */
static uint32_t shift_for(uint64_t room)
{
    uint32_t shift = LARGEST_SHIFT;

    while (shift > SMALLEST_SHIFT && room / page_bytes(shift) < FEW) {
        shift--;
    }
    return shift;
}

static enum facet_status make(struct facet_gfx12_pages *p, uint64_t room, struct facet_error *err)
{
    const bool whole = p->size <= room;
    uint64_t bytes = p->size + OVERLAP;
    enum facet_status status;

    p->count = p->room = 1;
    if (!whole) {
        p->shift = shift_for(room);
        if (p->size >> p->shift >= DEVICE_NOWHERE) {
            return facet_fail(err, FACET_ERR_LIMIT, 0, "the image is too large for a device");
        }
        p->count = (uint32_t)(p->size >> p->shift) + 1;
        p->room = (uint32_t)(room / page_bytes(p->shift));
        p->room = p->room == 0 ? 1 : p->room < p->count ? p->room : p->count;
        bytes = p->room * page_bytes(p->shift);
    }
    p->slot = malloc(p->count * sizeof *p->slot);
    p->holds = malloc(p->room * sizeof *p->holds);
    p->rays = calloc(p->count, sizeof *p->rays);
    p->wishes = calloc(p->count, sizeof *p->wishes);
    if (p->slot == NULL || p->holds == NULL || p->rays == NULL || p->wishes == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    memset(p->slot, 0xFF, p->count * sizeof *p->slot); /* DEVICE_NOWHERE */
    memset(p->holds, 0xFF, p->room * sizeof *p->holds);
    status = facet_opencl_memory_new(p->cl, bytes, &p->memory, err);
    if (status == FACET_OK) {
        status = facet_opencl_memory_new(p->cl, p->count * sizeof *p->slot, &p->slots, err);
    }
    if (status == FACET_OK) {
        status = facet_opencl_write(p->cl, p->slots, 0, p->slot, p->count * sizeof *p->slot, err);
    }
    return status == FACET_OK && whole ? bring(p, 0, 0, p->size, err) : status;
}

enum facet_status facet_gfx12_pages_new(facet_opencl *cl,
                                        const uint8_t *bytes,
                                        uint64_t size,
                                        uint64_t room,
                                        struct facet_gfx12_pages **out,
                                        struct facet_error *err)
{
    struct facet_gfx12_pages *p = calloc(1, sizeof *p);
    enum facet_status status;

    *out = NULL;
    if (p == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    p->cl = cl;
    p->bytes = bytes;
    p->size = size;
    status = make(p, room, err);
    if (status != FACET_OK) {
        facet_gfx12_pages_free(p);
        return status;
    }
    *out = p;
    return FACET_OK;
}

void facet_gfx12_pages_free(struct facet_gfx12_pages *pages)
{
    if (pages != NULL) {
        facet_opencl_memory_free(pages->cl, pages->memory);
        facet_opencl_memory_free(pages->cl, pages->slots);
        free(pages->slot);
        free(pages->holds);
        free(pages->rays);
        free(pages->wishes);
        free(pages);
    }
}

facet_opencl_memory *facet_gfx12_pages_memory(const struct facet_gfx12_pages *pages)
{
    return pages->memory;
}

facet_opencl_memory *facet_gfx12_pages_slots(const struct facet_gfx12_pages *pages)
{
    return pages->slots;
}

uint32_t facet_gfx12_pages_shift(const struct facet_gfx12_pages *pages)
{
    return pages->shift;
}

uint64_t facet_gfx12_pages_brought(const struct facet_gfx12_pages *pages)
{
    return pages->brought;
}

/* ---- wishes ---- */

/* Most rays first; the order of equals only has to be one. */
static int compare(const void *a, const void *b)
{
    const struct wish *x = a, *y = b;

    if (x->rays != y->rays) {
        return x->rays < y->rays ? 1 : -1;
    }
    return x->page < y->page ? -1 : 1;
}

/* The pages that are wanted, in order; returns how many. */
static uint32_t
gather(struct facet_gfx12_pages *p, const uint32_t *wanted, const uint32_t *list, size_t count)
{
    uint32_t pages = 0;

    for (size_t i = 0; i < count; i++) {
        const uint32_t page = wanted[list[i]];

        if (page != DEVICE_NOWHERE && p->rays[page]++ == 0) {
            p->wishes[pages++].page = page;
        }
    }
    for (uint32_t i = 0; i < pages; i++) {
        p->wishes[i].rays = p->rays[p->wishes[i].page];
        p->rays[p->wishes[i].page] = 0;
    }
    qsort(p->wishes, pages, sizeof *p->wishes, compare);
    return pages;
}

enum facet_status facet_gfx12_pages_bring(struct facet_gfx12_pages *pages,
                                          const uint32_t *wanted,
                                          const uint32_t *list,
                                          size_t count,
                                          struct facet_error *err)
{
    struct facet_gfx12_pages *p = pages;
    const uint32_t wishes = gather(p, wanted, list, count);
    enum facet_status status = FACET_OK;

    /* No page that is there is wanted, so each may go: the slots are used in turn. */
    for (uint32_t i = 0; i < wishes && i < p->room && status == FACET_OK; i++) {
        const uint32_t page = p->wishes[i].page, slot = p->next;

        p->next = p->next + 1 == p->room ? 0 : p->next + 1;
        if (p->holds[slot] != DEVICE_NOWHERE) {
            p->slot[p->holds[slot]] = DEVICE_NOWHERE;
        }
        p->holds[slot] = page;
        p->slot[page] = slot;
        p->brought++;
        status = bring(
            p, slot * page_bytes(p->shift), (uint64_t)page << p->shift, page_bytes(p->shift), err);
    }
    return status == FACET_OK
               ? facet_opencl_write(p->cl, p->slots, 0, p->slot, p->count * sizeof *p->slot, err)
               : status;
}
