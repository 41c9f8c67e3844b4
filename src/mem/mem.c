/* See mem.h. Accesses are cut into parts that lie in one region each; all parts are checked before
 * the first one acts. */
#include "mem/mem.h"

#include "base/large.h"
#include "mem/internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum facet_status facet_mem_create(facet_mem **out, struct facet_error *err)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for an address space");
    }
    return FACET_OK;
}

/* From here on the host is asked for pages of 2 MiB: programs that jump about in memory, trees
 * above all, then miss the address translation less often. */
#define LARGE (UINT64_C(16) << 20)

static void *reserve(uint64_t size)
{
    return size >= LARGE ? facet_reserve_large(size) : facet_reserve(size);
}

static void clear_written(struct facet_mem_entry *entry)
{
    const uint64_t pages = facet_mem_page_count(entry);

    for (uint64_t page = 0; (page = facet_mem_find_page(entry, FACET_MEM_WRITTEN, page)) < pages;
         page++) {
        memset(entry->bytes + (page << FACET_MEM_PAGE_BITS), 0, facet_mem_page_size(entry, page));
    }
}

static void release(struct facet_mem_entry *entry)
{
    if (FACET_ZEROES_COST && entry->bytes != NULL && entry->pages != NULL) {
        clear_written(entry);
        facet_unreserve_zeroes(entry->bytes, entry->region.size);
    } else {
        facet_unreserve(entry->bytes, entry->region.size);
    }
    facet_unreserve(entry->pages, facet_mem_page_count(entry));
}

void facet_mem_destroy(facet_mem *mem)
{
    if (mem == NULL) {
        return;
    }
    for (unsigned i = 0; i < mem->count; i++) {
        release(&mem->entries[i]);
    }
    free(mem);
}

/* ---- regions ----------------------------------------------------------------------------------
 */

/* The entry with the greatest base that is not above the address, or NULL. */
static const struct facet_mem_entry *entry_below(const facet_mem *mem, uint64_t address)
{
    unsigned low = 0, high = mem->count;

    while (low < high) {
        unsigned middle = (low + high) / 2;

        if (mem->entries[middle].region.base <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? &mem->entries[low - 1] : NULL;
}

static const struct facet_mem_entry *entry_at(const facet_mem *mem, uint64_t address)
{
    const struct facet_mem_entry *entry = entry_below(mem, address);

    return entry != NULL && address - entry->region.base < entry->region.size ? entry : NULL;
}

const struct facet_mem_region *facet_mem_region(const facet_mem *mem, unsigned index)
{
    return index < mem->count ? &mem->entries[index].region : NULL;
}

const struct facet_mem_region *facet_mem_region_at(const facet_mem *mem, uint64_t address)
{
    const struct facet_mem_entry *entry = entry_at(mem, address);

    return entry != NULL ? &entry->region : NULL;
}

const struct facet_mem_region *facet_mem_region_named(const facet_mem *mem, const char *name)
{
    for (unsigned i = 0; i < mem->count; i++) {
        if (strcmp(mem->entries[i].region.name, name) == 0) {
            return &mem->entries[i].region;
        }
    }
    return NULL;
}

static enum facet_status check_region(
    const facet_mem *mem, const char *name, uint64_t base, uint64_t size, struct facet_error *err)
{
    size_t length = strlen(name);
    uint64_t last = base + (size - 1);

    if (length == 0 || length >= FACET_MEM_NAME_BYTES) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          base,
                          "region name \"%s\": expected 1..%d bytes",
                          name,
                          FACET_MEM_NAME_BYTES - 1);
    }
    if (facet_mem_region_named(mem, name) != NULL) {
        return facet_fail(err, FACET_ERR_USAGE, base, "region \"%s\" already exists", name);
    }
    if (size == 0 || last < base) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          base,
                          "region \"%s\": 0x%" PRIx64 " bytes at 0x%" PRIx64
                          " do not fit the address space",
                          name,
                          size,
                          base);
    }
    for (unsigned i = 0; i < mem->count; i++) {
        const struct facet_mem_region *other = &mem->entries[i].region;

        if (base <= other->base + (other->size - 1) && other->base <= last) {
            return facet_fail(err,
                              FACET_ERR_USAGE,
                              base,
                              "region \"%s\" at 0x%" PRIx64 "..0x%" PRIx64 " overlaps \"%s\"",
                              name,
                              base,
                              last,
                              other->name);
        }
    }
    if (mem->count == FACET_MEM_MAX_REGIONS) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          base,
                          "region \"%s\": more than %d regions",
                          name,
                          FACET_MEM_MAX_REGIONS);
    }
    return FACET_OK;
}

static void insert(facet_mem *mem, const struct facet_mem_entry *entry)
{
    unsigned at = mem->count;

    while (at > 0 && mem->entries[at - 1].region.base > entry->region.base) {
        mem->entries[at] = mem->entries[at - 1];
        at--;
    }
    mem->entries[at] = *entry;
    mem->count++;
}

static struct facet_mem_entry
make_entry(const char *name, enum facet_mem_kind kind, uint64_t base, uint64_t size)
{
    struct facet_mem_entry entry = {.region = {.base = base, .size = size, .kind = kind}};

    memcpy(entry.region.name, name, strlen(name));
    return entry;
}

enum facet_status facet_mem_add_ram(facet_mem *mem,
                                    const char *name,
                                    enum facet_mem_kind kind,
                                    uint64_t base,
                                    uint64_t size,
                                    struct facet_error *err)
{
    enum facet_status status = check_region(mem, name, base, size, err);
    struct facet_mem_entry entry;

    if (status != FACET_OK) {
        return status;
    }
    entry = make_entry(name, kind == FACET_MEM_ROM ? kind : FACET_MEM_RAM, base, size);
    entry.bytes = reserve(size);
    entry.pages = reserve(facet_mem_page_count(&entry));
    if (entry.bytes == NULL || entry.pages == NULL) {
        release(&entry);
        return facet_fail(err,
                          FACET_ERR_MEMORY,
                          base,
                          "region \"%s\": the host cannot provide 0x%" PRIx64 " bytes",
                          name,
                          size);
    }
    insert(mem, &entry);
    return FACET_OK;
}

enum facet_status facet_mem_add_device(facet_mem *mem,
                                       const char *name,
                                       uint64_t base,
                                       uint64_t size,
                                       const struct facet_mem_device *device,
                                       struct facet_error *err)
{
    enum facet_status status = check_region(mem, name, base, size, err);
    struct facet_mem_entry entry;

    if (status != FACET_OK) {
        return status;
    }
    entry = make_entry(name, FACET_MEM_DEVICE, base, size);
    entry.device = *device;
    insert(mem, &entry);
    return FACET_OK;
}

void facet_mem_clear(facet_mem *mem)
{
    for (unsigned i = 0; i < mem->count; i++) {
        struct facet_mem_entry *entry = &mem->entries[i];
        uint64_t pages, page = 0;

        if (entry->bytes == NULL) {
            continue;
        }
        /* Private anonymous pages come back as zeros. A host that cannot drop them gets them
         * overwritten. */
        pages = facet_mem_page_count(entry);
        if (madvise(entry->bytes, (size_t)entry->region.size, MADV_DONTNEED) != 0) {
            clear_written(entry);
        }
        while ((page = facet_mem_find_page(entry, FACET_MEM_WRITTEN, page)) < pages) {
            entry->pages[page++] = FACET_MEM_DIRTY_ALL & ~FACET_MEM_WRITTEN;
        }
    }
}

/* ---- accesses ---------------------------------------------------------------------------------
 */

enum door { GUEST_READ, GUEST_WRITE, HOST_PEEK, HOST_POKE };

static const struct facet_mem_result good = {FACET_MEM_OK, 0};

static struct facet_mem_result fault_at(enum facet_mem_fault fault, uint64_t address)
{
    struct facet_mem_result result = {fault, address};

    return result;
}

/* How many of the bytes at the address lie in this entry. */
static size_t part_size(const struct facet_mem_entry *entry, uint64_t address, size_t size)
{
    uint64_t left = entry->region.size - (address - entry->region.base);

    return size < left ? size : (size_t)left;
}

static enum facet_mem_fault permission(const struct facet_mem_entry *entry, enum door door)
{
    if (entry == NULL) {
        return FACET_MEM_UNMAPPED;
    }
    switch (entry->region.kind) {
    case FACET_MEM_RAM:
        return FACET_MEM_OK;
    case FACET_MEM_ROM:
        return door == GUEST_WRITE ? FACET_MEM_READ_ONLY : FACET_MEM_OK;
    case FACET_MEM_DEVICE:
        break;
    }
    return (door == GUEST_READ && entry->device.read != NULL) ||
                   (door == GUEST_WRITE && entry->device.write != NULL)
               ? FACET_MEM_OK
               : FACET_MEM_REFUSED;
}

static struct facet_mem_result
check_access(const facet_mem *mem, uint64_t address, size_t size, enum door door)
{
    while (size > 0) {
        const struct facet_mem_entry *entry = entry_at(mem, address);
        enum facet_mem_fault fault = permission(entry, door);
        size_t part;

        if (fault != FACET_MEM_OK) {
            return fault_at(fault, address);
        }
        part = part_size(entry, address, size);
        address += part;
        size -= part;
    }
    return good;
}

/* The largest aligned piece of 1, 2, 4 or 8 bytes that starts here. */
static unsigned device_piece(uint64_t offset, size_t size)
{
    unsigned piece = 8;

    while (piece > size || (offset & (piece - 1)) != 0) {
        piece /= 2;
    }
    return piece;
}

static struct facet_mem_result
device_read(const struct facet_mem_entry *entry, uint64_t offset, uint8_t *out, size_t size)
{
    while (size > 0) {
        unsigned piece = device_piece(offset, size);
        uint64_t value = 0;

        if (!entry->device.read(entry->device.context, offset, piece, &value)) {
            return fault_at(FACET_MEM_REFUSED, entry->region.base + offset);
        }
        facet_store_le(out, piece, value);
        offset += piece;
        out += piece;
        size -= piece;
    }
    return good;
}

static struct facet_mem_result
device_write(const struct facet_mem_entry *entry, uint64_t offset, const uint8_t *data, size_t size)
{
    while (size > 0) {
        unsigned piece = device_piece(offset, size);

        if (!entry->device.write(
                entry->device.context, offset, piece, facet_load_le(data, piece))) {
            return fault_at(FACET_MEM_REFUSED, entry->region.base + offset);
        }
        offset += piece;
        data += piece;
        size -= piece;
    }
    return good;
}

static void mark_pages(const struct facet_mem_entry *entry, uint64_t offset, size_t size)
{
    uint64_t first = offset >> FACET_MEM_PAGE_BITS;
    uint64_t last = (offset + size - 1) >> FACET_MEM_PAGE_BITS;

    for (uint64_t page = first; page <= last; page++) {
        entry->pages[page] = FACET_MEM_DIRTY_ALL;
    }
}

static struct facet_mem_result
read_parts(const facet_mem *mem, uint64_t address, uint8_t *out, size_t size)
{
    while (size > 0) {
        const struct facet_mem_entry *entry = entry_at(mem, address);
        uint64_t offset = address - entry->region.base;
        size_t part = part_size(entry, address, size);

        if (entry->region.kind == FACET_MEM_DEVICE) {
            struct facet_mem_result result = device_read(entry, offset, out, part);

            if (result.fault != FACET_MEM_OK) {
                return result;
            }
        } else {
            memcpy(out, entry->bytes + offset, part);
        }
        address += part;
        out += part;
        size -= part;
    }
    return good;
}

static struct facet_mem_result
write_parts(const facet_mem *mem, uint64_t address, const uint8_t *data, size_t size)
{
    while (size > 0) {
        const struct facet_mem_entry *entry = entry_at(mem, address);
        uint64_t offset = address - entry->region.base;
        size_t part = part_size(entry, address, size);

        if (entry->region.kind == FACET_MEM_DEVICE) {
            struct facet_mem_result result = device_write(entry, offset, data, part);

            if (result.fault != FACET_MEM_OK) {
                return result;
            }
        } else {
            memcpy(entry->bytes + offset, data, part);
            mark_pages(entry, offset, part);
        }
        address += part;
        data += part;
        size -= part;
    }
    return good;
}

static struct facet_mem_result
write_checked(facet_mem *mem, uint64_t address, const void *data, size_t size, enum door door)
{
    struct facet_mem_result result = check_access(mem, address, size, door);

    return result.fault != FACET_MEM_OK ? result : write_parts(mem, address, data, size);
}

/* The entry when the access lies whole in one RAM or ROM region, else NULL: nearly every access
 * needs no more than this. */
static const struct facet_mem_entry *
plain_entry(const facet_mem *mem, uint64_t address, uint64_t size)
{
    const struct facet_mem_entry *entry = entry_at(mem, address);

    return entry != NULL && entry->region.kind != FACET_MEM_DEVICE &&
                   size <= entry->region.size - (address - entry->region.base)
               ? entry
               : NULL;
}

struct facet_mem_result
facet_mem_read(const facet_mem *mem, uint64_t address, unsigned size, uint64_t *value)
{
    const struct facet_mem_entry *entry = plain_entry(mem, address, size);
    uint8_t bytes[8] = {0};
    struct facet_mem_result result;

    assert(size <= sizeof bytes && facet_is_power_of_two(size));
    if (entry != NULL) {
        *value = facet_load_le(entry->bytes + (address - entry->region.base), size);
        return good;
    }
    result = facet_mem_read_bytes(mem, address, bytes, size);

    if (result.fault == FACET_MEM_OK) {
        *value = facet_load_le64(bytes);
    }
    return result;
}

struct facet_mem_result
facet_mem_write(facet_mem *mem, uint64_t address, unsigned size, uint64_t value)
{
    const struct facet_mem_entry *entry = plain_entry(mem, address, size);
    uint8_t bytes[8];

    assert(size <= sizeof bytes && facet_is_power_of_two(size));
    if (entry != NULL && entry->region.kind == FACET_MEM_RAM) {
        facet_store_le(entry->bytes + (address - entry->region.base), size, value);
        mark_pages(entry, address - entry->region.base, size);
        return good;
    }
    facet_store_le64(bytes, value);
    return facet_mem_write_bytes(mem, address, bytes, size);
}

struct facet_mem_result
facet_mem_read_bytes(const facet_mem *mem, uint64_t address, void *out, size_t size)
{
    struct facet_mem_result result = check_access(mem, address, size, GUEST_READ);
    uint8_t small[16];

    if (result.fault != FACET_MEM_OK) {
        return result;
    }
    /* A device may refuse half way; accesses of instruction size go through a copy, so that the
     * caller's buffer is written whole or not at all. */
    if (size > sizeof small) {
        return read_parts(mem, address, out, size);
    }
    result = read_parts(mem, address, small, size);
    if (result.fault == FACET_MEM_OK && size > 0) {
        memcpy(out, small, size);
    }
    return result;
}

struct facet_mem_result
facet_mem_write_bytes(facet_mem *mem, uint64_t address, const void *data, size_t size)
{
    return write_checked(mem, address, data, size, GUEST_WRITE);
}

struct facet_mem_result
facet_mem_peek(const facet_mem *mem, uint64_t address, void *out, size_t size)
{
    struct facet_mem_result result = check_access(mem, address, size, HOST_PEEK);

    return result.fault != FACET_MEM_OK ? result : read_parts(mem, address, out, size);
}

struct facet_mem_result
facet_mem_poke(facet_mem *mem, uint64_t address, const void *data, size_t size)
{
    return write_checked(mem, address, data, size, HOST_POKE);
}

const char *facet_mem_fault_name(enum facet_mem_fault fault)
{
    switch (fault) {
    case FACET_MEM_OK:
        return "no fault";
    case FACET_MEM_UNMAPPED:
        return "no memory";
    case FACET_MEM_READ_ONLY:
        return "read-only memory";
    case FACET_MEM_REFUSED:
        return "a device that refuses the access";
    }
    return "unknown fault";
}

enum facet_status facet_mem_fail(struct facet_mem_result result, struct facet_error *err)
{
    if (result.fault == FACET_MEM_OK) {
        return FACET_OK;
    }
    return facet_fail(err,
                      FACET_ERR_FAULT,
                      result.address,
                      "%s at address 0x%" PRIx64,
                      facet_mem_fault_name(result.fault),
                      result.address);
}

/* ---- windows and pages ------------------------------------------------------------------------
 */

struct facet_mem_window facet_mem_window(const facet_mem *mem, uint64_t address)
{
    const struct facet_mem_entry *entry = entry_at(mem, address);
    struct facet_mem_window window = {0};

    if (entry != NULL && entry->region.kind != FACET_MEM_DEVICE) {
        window.base = entry->region.base;
        window.span = entry->region.size > 15 ? entry->region.size - 15 : 0;
        window.store_span = entry->region.kind == FACET_MEM_RAM ? window.span : 0;
        window.bytes = entry->bytes;
        window.pages = entry->pages;
    }
    return window;
}

const uint8_t *facet_mem_span(const facet_mem *mem, uint64_t address, uint64_t size)
{
    const struct facet_mem_entry *entry = plain_entry(mem, address, size);

    return entry != NULL ? entry->bytes + (address - entry->region.base) : NULL;
}

uint64_t facet_mem_find_page(const struct facet_mem_entry *entry, unsigned bits, uint64_t page)
{
    uint64_t count = facet_mem_page_count(entry);

    while (page < count) {
        /* Sparse regions have long runs of untouched pages: eight at a time. */
        while (page + 8 <= count && facet_load_le64(entry->pages + page) == 0) {
            page += 8;
        }
        if (page < count && (entry->pages[page] & bits) != 0) {
            return page;
        }
        page += page < count;
    }
    return count;
}

bool facet_mem_dirty_next(const facet_mem *mem,
                          unsigned bits,
                          struct facet_mem_cursor *cursor,
                          struct facet_mem_page *page)
{
    for (; cursor->region < mem->count; cursor->region++, cursor->page = 0) {
        const struct facet_mem_entry *entry = &mem->entries[cursor->region];
        uint64_t at;

        if (entry->pages == NULL) {
            continue;
        }
        at = facet_mem_find_page(entry, bits, cursor->page);
        if (at < facet_mem_page_count(entry)) {
            page->address = entry->region.base + (at << FACET_MEM_PAGE_BITS);
            page->size = (uint32_t)facet_mem_page_size(entry, at);
            page->bytes = entry->bytes + (at << FACET_MEM_PAGE_BITS);
            cursor->page = at + 1;
            return true;
        }
    }
    return false;
}

bool facet_mem_dirty_test(const facet_mem *mem, unsigned bits, uint64_t address)
{
    const struct facet_mem_entry *entry = entry_at(mem, address);

    return entry != NULL && entry->pages != NULL &&
           (entry->pages[(address - entry->region.base) >> FACET_MEM_PAGE_BITS] & bits) != 0;
}

void facet_mem_dirty_clear(facet_mem *mem, unsigned bits)
{
    bits &= ~(unsigned)FACET_MEM_WRITTEN;
    for (unsigned i = 0; i < mem->count; i++) {
        struct facet_mem_entry *entry = &mem->entries[i];
        uint64_t page = 0;

        while (entry->pages != NULL &&
               (page = facet_mem_find_page(entry, bits, page)) < facet_mem_page_count(entry)) {
            entry->pages[page++] &= (uint8_t)~bits;
        }
    }
}
