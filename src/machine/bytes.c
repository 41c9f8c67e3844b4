/* Bytes that were written, by page: see facet/lockstep.h. */
#include "base/array.h"
#include "base/error.h"
#include "machine/internal.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_BITS = 10, PAGE = 1 << PAGE_BITS };

struct page {
    uint32_t space;
    uint32_t count; /* bytes that are there */
    uint64_t number;
    uint64_t there[PAGE / 64];
    uint8_t bytes[PAGE];
};

struct facet_lockstep_bytes {
    struct page **pages; /* by rising space and number */
    size_t page_count;
    size_t page_capacity;
    uint64_t count;
};

enum facet_status facet_lockstep_bytes_create(facet_lockstep_bytes **out, struct facet_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out != NULL ? FACET_OK : facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
}

void facet_lockstep_bytes_clear(facet_lockstep_bytes *bytes)
{
    for (size_t i = 0; i < bytes->page_count; i++) {
        free(bytes->pages[i]);
    }
    bytes->page_count = 0;
    bytes->count = 0;
}

void facet_lockstep_bytes_destroy(facet_lockstep_bytes *bytes)
{
    if (bytes != NULL) {
        facet_lockstep_bytes_clear(bytes);
        free(bytes->pages);
        free(bytes);
    }
}

uint64_t facet_lockstep_bytes_count(const facet_lockstep_bytes *bytes)
{
    return bytes->count;
}

/* Index of the first page that is not before this one. */
static size_t find(const facet_lockstep_bytes *bytes, uint32_t space, uint64_t number)
{
    size_t low = 0, high = bytes->page_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct page *page = bytes->pages[middle];

        if (page->space < space || (page->space == space && page->number < number)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct page *page_at(const facet_lockstep_bytes *bytes, uint32_t space, uint64_t number)
{
    size_t at = find(bytes, space, number);

    return at < bytes->page_count && bytes->pages[at]->space == space &&
                   bytes->pages[at]->number == number
               ? bytes->pages[at]
               : NULL;
}

static struct page *page_make(facet_lockstep_bytes *bytes, uint32_t space, uint64_t number)
{
    struct page *page = page_at(bytes, space, number);
    size_t at;

    if (page != NULL) {
        return page;
    }
    if (!facet_array_fit(
            &bytes->pages, &bytes->page_capacity, bytes->page_count + 1, sizeof *bytes->pages) ||
        (page = calloc(1, sizeof *page)) == NULL) {
        return NULL;
    }
    page->space = space;
    page->number = number;
    at = find(bytes, space, number);
    memmove(
        &bytes->pages[at + 1], &bytes->pages[at], (bytes->page_count - at) * sizeof *bytes->pages);
    bytes->pages[at] = page;
    bytes->page_count++;
    return page;
}

static bool is_there(const struct page *page, unsigned offset)
{
    return (page->there[offset / 64] >> (offset % 64) & 1) != 0;
}

enum facet_status facet_lockstep_bytes_add(facet_lockstep_bytes *bytes,
                                           uint32_t space,
                                           uint64_t address,
                                           const void *data,
                                           size_t size,
                                           struct facet_error *err)
{
    const uint8_t *from = data;
    struct page *page = NULL;

    for (size_t i = 0; i < size; i++, address++) {
        unsigned offset = (unsigned)(address % PAGE);

        if (page == NULL || offset == 0) {
            page = page_make(bytes, space, address >> PAGE_BITS);
        }
        if (page == NULL) {
            return facet_fail(err, FACET_ERR_MEMORY, address, "out of memory for bytes written");
        }
        page->bytes[offset] = from[i];
        if (!is_there(page, offset)) {
            page->there[offset / 64] |= UINT64_C(1) << (offset % 64);
            page->count++;
            bytes->count++;
        }
    }
    return FACET_OK;
}

enum facet_status facet_lockstep_bytes_add_changes(facet_lockstep_bytes *bytes,
                                                   const struct facet_change *changes,
                                                   size_t count,
                                                   struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    for (size_t i = 0; i < count && status == FACET_OK; i++) {
        uint8_t data[16];

        if (changes[i].kind == FACET_CHANGE_MEMORY) {
            facet_store_le64(data, changes[i].new_value.lo);
            facet_store_le64(data + 8, changes[i].new_value.hi);
            status = facet_lockstep_bytes_add(bytes,
                                              changes[i].index,
                                              changes[i].address,
                                              data,
                                              changes[i].size < 16 ? changes[i].size : 16,
                                              err);
        }
    }
    return status;
}

bool facet_lockstep_bytes_get(
    facet_lockstep_bytes *bytes, uint32_t space, uint64_t address, bool take, uint8_t *value)
{
    struct page *page = page_at(bytes, space, address >> PAGE_BITS);
    unsigned offset = (unsigned)(address % PAGE);

    if (page == NULL || !is_there(page, offset)) {
        return false;
    }
    *value = page->bytes[offset];
    if (take) {
        page->there[offset / 64] &= ~(UINT64_C(1) << (offset % 64));
        bytes->count--;
        if (--page->count == 0) {
            size_t at = find(bytes, space, address >> PAGE_BITS);

            free(page);
            bytes->page_count--;
            memmove(&bytes->pages[at],
                    &bytes->pages[at + 1],
                    (bytes->page_count - at) * sizeof *bytes->pages);
        }
    }
    return true;
}

bool facet_lockstep_bytes_next(const facet_lockstep_bytes *bytes,
                               uint32_t *space,
                               uint64_t *address)
{
    for (size_t at = find(bytes, *space, *address >> PAGE_BITS); at < bytes->page_count; at++) {
        const struct page *page = bytes->pages[at];
        bool here = page->space == *space && page->number == *address >> PAGE_BITS;

        for (unsigned offset = here ? (unsigned)(*address % PAGE) : 0; offset < PAGE; offset++) {
            if (is_there(page, offset)) {
                *space = page->space;
                *address = page->number << PAGE_BITS | offset;
                return true;
            }
        }
    }
    return false;
}

/* The first byte of `a` that `b` lacks or has otherwise. */
static bool first_difference(const facet_lockstep_bytes *a,
                             const facet_lockstep_bytes *b,
                             struct facet_byte_difference *out)
{
    for (size_t i = 0; i < a->page_count; i++) {
        const struct page *mine = a->pages[i], *its = page_at(b, mine->space, mine->number);

        if (its != NULL && memcmp(mine->there, its->there, sizeof mine->there) == 0 &&
            memcmp(mine->bytes, its->bytes, PAGE) == 0) {
            continue;
        }
        for (unsigned offset = 0; offset < PAGE; offset++) {
            bool theirs = its != NULL && is_there(its, offset);

            if (is_there(mine, offset) && (!theirs || mine->bytes[offset] != its->bytes[offset])) {
                *out = (struct facet_byte_difference){mine->space,
                                                      true,
                                                      theirs,
                                                      mine->bytes[offset],
                                                      theirs ? its->bytes[offset] : 0,
                                                      mine->number << PAGE_BITS | offset};
                return true;
            }
        }
    }
    return false;
}

bool facet_lockstep_bytes_compare(const facet_lockstep_bytes *a,
                                  const facet_lockstep_bytes *b,
                                  struct facet_byte_difference *difference)
{
    struct facet_byte_difference forth, back;
    bool differs = first_difference(a, b, &forth), reverse = first_difference(b, a, &back);

    if (reverse && (!differs || back.space < forth.space ||
                    (back.space == forth.space && back.address < forth.address))) {
        forth = (struct facet_byte_difference){
            back.space, back.has_b, back.has_a, back.b, back.a, back.address};
        differs = true;
    }
    if (differs) {
        *difference = forth;
    }
    return !differs;
}
