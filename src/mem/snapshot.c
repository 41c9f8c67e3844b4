/* Contents of a guest memory as a stream of bytes.
 *
 *   "FACETMEM"  u32 version  u32 regions           all numbers little-endian
 *   per region  name[32]  u64 base  u64 size  u64 kind  u64 pages
 *   per page    u64 index  4096 bytes (zeros beyond the end of the region)
 *
 * A checksum belongs to the snapshot of the machine around it. Devices are not in the stream: their
 * state belongs to the machine. Only pages that are not zero are stored, in rising order, so equal
 * contents give equal streams however they came about. */
#include "mem/internal.h"

#include <inttypes.h>
#include <string.h>

#define VERSION 2
#define HEADER_BYTES 16
#define REGION_BYTES (FACET_MEM_NAME_BYTES + 32)
#define RECORD_BYTES (8 + FACET_MEM_PAGE_BYTES)

static const char magic[8] = "FACETMEM";
static const uint8_t zero_page[FACET_MEM_PAGE_BYTES];

/* ---- saving -----------------------------------------------------------------------------------
 */

static void put_u32(struct facet_strbuf *out, uint32_t value)
{
    char bytes[4];

    facet_store_le32(bytes, value);
    facet_strbuf_add(out, bytes, sizeof bytes);
}

static void put_u64(struct facet_strbuf *out, uint64_t value)
{
    char bytes[8];

    facet_store_le64(bytes, value);
    facet_strbuf_add(out, bytes, sizeof bytes);
}

/* The next page at or after `page` that is not zero, or the page count. */
static uint64_t next_full_page(const struct facet_mem_entry *entry, uint64_t page)
{
    uint64_t count = facet_mem_page_count(entry);

    while ((page = facet_mem_find_page(entry, FACET_MEM_WRITTEN, page)) < count) {
        if (memcmp(entry->bytes + (page << FACET_MEM_PAGE_BITS),
                   zero_page,
                   facet_mem_page_size(entry, page)) != 0) {
            break;
        }
        page++;
    }
    return page;
}

static void save_region(const struct facet_mem_entry *entry, struct facet_strbuf *out)
{
    uint64_t count = facet_mem_page_count(entry), pages = 0;

    for (uint64_t page = next_full_page(entry, 0); page < count;) {
        pages++;
        page = next_full_page(entry, page + 1);
    }
    facet_strbuf_add(out, entry->region.name, FACET_MEM_NAME_BYTES);
    put_u64(out, entry->region.base);
    put_u64(out, entry->region.size);
    put_u64(out, entry->region.kind);
    put_u64(out, pages);
    for (uint64_t page = next_full_page(entry, 0); page < count;) {
        size_t size = facet_mem_page_size(entry, page);

        put_u64(out, page);
        facet_strbuf_add(out, (char *)entry->bytes + (page << FACET_MEM_PAGE_BITS), size);
        facet_strbuf_add(out, (const char *)zero_page, FACET_MEM_PAGE_BYTES - size);
        page = next_full_page(entry, page + 1);
    }
}

static unsigned stored_regions(const facet_mem *mem)
{
    unsigned count = 0;

    for (unsigned i = 0; i < mem->count; i++) {
        count += mem->entries[i].bytes != NULL;
    }
    return count;
}

enum facet_status
facet_mem_save(const facet_mem *mem, struct facet_strbuf *out, struct facet_error *err)
{
    facet_strbuf_add(out, magic, sizeof magic);
    put_u32(out, VERSION);
    put_u32(out, stored_regions(mem));
    for (unsigned i = 0; i < mem->count; i++) {
        if (mem->entries[i].bytes != NULL) {
            save_region(&mem->entries[i], out);
        }
    }
    return out->failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a memory snapshot")
                       : FACET_OK;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

struct reader {
    const uint8_t *data;
    size_t size; /* without the hash at the end */
    size_t at;
    struct facet_error *err;
};

/* The next `size` bytes, or NULL with the complaint written. */
static const uint8_t *take(struct reader *in, size_t size, const char *what)
{
    const uint8_t *bytes = in->data + in->at;

    if (size > in->size - in->at) {
        (void)facet_fail(in->err,
                         FACET_ERR_INPUT,
                         in->size,
                         "memory snapshot ends at offset %zu inside %s",
                         in->size,
                         what);
        return NULL;
    }
    in->at += size;
    return bytes;
}

static enum facet_status check_header(struct reader *in, const facet_mem *mem)
{
    const uint8_t *header = take(in, HEADER_BYTES, "the header");

    if (header == NULL) {
        return FACET_ERR_INPUT;
    }
    if (memcmp(header, magic, sizeof magic) != 0) {
        return facet_fail(
            in->err, FACET_ERR_INPUT, 0, "offset 0: not a memory snapshot, expected \"FACETMEM\"");
    }
    if (facet_load_le32(header + 8) != VERSION) {
        return facet_fail(in->err,
                          FACET_ERR_INPUT,
                          8,
                          "offset 8: memory snapshot version %u, expected %d",
                          (unsigned)facet_load_le32(header + 8),
                          VERSION);
    }
    if (facet_load_le32(header + 12) != stored_regions(mem)) {
        return facet_fail(in->err,
                          FACET_ERR_INPUT,
                          12,
                          "offset 12: %u regions, expected %u",
                          (unsigned)facet_load_le32(header + 12),
                          stored_regions(mem));
    }
    return FACET_OK;
}

/* The region's row must be this entry's; gives the number of pages that follow. */
static enum facet_status
check_row(struct reader *in, const struct facet_mem_entry *entry, uint64_t *pages)
{
    size_t at = in->at;
    const uint8_t *row = take(in, REGION_BYTES, "a region");
    const struct facet_mem_region *region = &entry->region;

    if (row == NULL) {
        return FACET_ERR_INPUT;
    }
    if (memcmp(row, region->name, FACET_MEM_NAME_BYTES) != 0 ||
        facet_load_le64(row + 32) != region->base || facet_load_le64(row + 40) != region->size ||
        facet_load_le64(row + 48) != (uint64_t)region->kind) {
        return facet_fail(in->err,
                          FACET_ERR_INPUT,
                          at,
                          "offset %zu: another region, expected \"%s\" with 0x%" PRIx64
                          " bytes at 0x%" PRIx64,
                          at,
                          region->name,
                          region->size,
                          region->base);
    }
    *pages = facet_load_le64(row + 56);
    if (*pages > facet_mem_page_count(entry)) {
        return facet_fail(in->err,
                          FACET_ERR_INPUT,
                          at + 56,
                          "offset %zu: more pages than region \"%s\" has",
                          at + 56,
                          region->name);
    }
    return FACET_OK;
}

static enum facet_status
check_pages(struct reader *in, const struct facet_mem_entry *entry, uint64_t pages)
{
    uint64_t lowest = 0;

    for (uint64_t i = 0; i < pages; i++) {
        size_t at = in->at;
        const uint8_t *record = take(in, RECORD_BYTES, "a page");
        uint64_t page;
        size_t size;

        if (record == NULL) {
            return FACET_ERR_INPUT;
        }
        page = facet_load_le64(record);
        if (page < lowest || page >= facet_mem_page_count(entry)) {
            return facet_fail(in->err,
                              FACET_ERR_INPUT,
                              at,
                              "offset %zu: page %" PRIu64 ", expected %" PRIu64 "..%" PRIu64,
                              at,
                              page,
                              lowest,
                              facet_mem_page_count(entry) - 1);
        }
        size = facet_mem_page_size(entry, page);
        if (memcmp(record + 8 + size, zero_page, FACET_MEM_PAGE_BYTES - size) != 0) {
            return facet_fail(in->err,
                              FACET_ERR_INPUT,
                              at + 8 + size,
                              "offset %zu: bytes beyond the end of region \"%s\"",
                              at + 8 + size,
                              entry->region.name);
        }
        lowest = page + 1;
    }
    return FACET_OK;
}

enum facet_status
facet_mem_validate(const facet_mem *mem, const void *data, size_t size, struct facet_error *err)
{
    struct reader in = {data, size, 0, err};
    enum facet_status status = check_header(&in, mem);

    for (unsigned i = 0; i < mem->count && status == FACET_OK; i++) {
        uint64_t pages = 0;

        if (mem->entries[i].bytes != NULL) {
            status = check_row(&in, &mem->entries[i], &pages);
            status = status == FACET_OK ? check_pages(&in, &mem->entries[i], pages) : status;
        }
    }
    if (status != FACET_OK) {
        return status;
    }
    if (in.at != in.size) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          in.at,
                          "offset %zu: %zu bytes after the last page",
                          in.at,
                          in.size - in.at);
    }
    return FACET_OK;
}

/* Pages that already hold the wanted bytes stay clean: restoring a near state dirties little. */
static void set_page(struct facet_mem_entry *entry, uint64_t page, const uint8_t *wanted)
{
    uint8_t *bytes = entry->bytes + (page << FACET_MEM_PAGE_BITS);
    size_t size = facet_mem_page_size(entry, page);

    if (memcmp(bytes, wanted, size) != 0) {
        memcpy(bytes, wanted, size);
        entry->pages[page] = FACET_MEM_DIRTY_ALL;
    }
}

static void clear_pages(struct facet_mem_entry *entry, uint64_t from, uint64_t to)
{
    while ((from = facet_mem_find_page(entry, FACET_MEM_WRITTEN, from)) < to) {
        set_page(entry, from++, zero_page);
    }
}

void facet_mem_apply(facet_mem *mem, const void *data)
{
    const uint8_t *at = (const uint8_t *)data + HEADER_BYTES;

    for (unsigned i = 0; i < mem->count; i++) {
        struct facet_mem_entry *entry = &mem->entries[i];
        uint64_t pages, next = 0;

        if (entry->bytes == NULL) {
            continue;
        }
        pages = facet_load_le64(at + REGION_BYTES - 8);
        at += REGION_BYTES;
        for (uint64_t k = 0; k < pages; k++, at += RECORD_BYTES) {
            uint64_t page = facet_load_le64(at);

            clear_pages(entry, next, page);
            set_page(entry, page, at + 8);
            next = page + 1;
        }
        clear_pages(entry, next, facet_mem_page_count(entry));
    }
}

enum facet_status
facet_mem_restore(facet_mem *mem, const void *data, size_t size, struct facet_error *err)
{
    enum facet_status status = facet_mem_validate(mem, data, size, err);

    if (status == FACET_OK) {
        facet_mem_apply(mem, data);
    }
    return status;
}
