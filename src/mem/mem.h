/* Guest memory: named regions in a 64-bit little-endian address space.
 *
 * A RAM region is one flat, sparse reservation: pages that were never written cost nothing, so a
 * region may be far larger than the host's memory. A device region calls hooks. Addresses count
 * modulo 2^64: the byte after the last one is byte 0. Every access is checked; what is not there,
 * or may not be written, is a fault in the result and never a host error, and an access that faults
 * before reaching a device has changed nothing.
 *
 * Three doors, from fast to careful:
 *   facet_window_load/store   inline, one compare, for interpreters; false = take the next door
 *   facet_mem_read/write      what a guest instruction does: any address, devices, read-only
 * regions facet_mem_peek/poke       what a loader or debugger does: no device is disturbed,
 * read-only regions can be written
 *
 * All doors keep the page map: one byte per 4 KiB page of a region, set by every write and cleared
 * bit by bit by its clients (snapshots, caches, displays), each of which owns one bit.
 *
 * Reading from several threads is safe while nothing writes; devices decide for themselves. */
#ifndef FACET_MEM_MEM_H
#define FACET_MEM_MEM_H

#include "base/bits.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/ways.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct facet_mem facet_mem;

#define FACET_MEM_PAGE_BITS 12
#define FACET_MEM_PAGE_BYTES (1 << FACET_MEM_PAGE_BITS)
#define FACET_MEM_MAX_REGIONS 64
#define FACET_MEM_NAME_BYTES 32 /* with the terminator */

enum facet_mem_kind { FACET_MEM_RAM, FACET_MEM_ROM, FACET_MEM_DEVICE };

struct facet_mem_region {
    char name[FACET_MEM_NAME_BYTES];
    uint64_t base;
    uint64_t size; /* base + size - 1 does not pass 2^64 - 1 */
    enum facet_mem_kind kind;
};

/* Hooks of a device. `size` is 1, 2, 4 or 8 and `offset`, counted from the region's base, is a
 * multiple of it: an access that is not naturally aligned arrives as several aligned ones, in
 * rising order. Returning false refuses the access (a fault for the guest). */
struct facet_mem_device {
    bool (*read)(void *context, uint64_t offset, unsigned size, uint64_t *value);
    bool (*write)(void *context, uint64_t offset, unsigned size, uint64_t value);
    void *context;
};

enum facet_mem_fault {
    FACET_MEM_OK = 0,
    FACET_MEM_UNMAPPED,  /* no region at the address */
    FACET_MEM_READ_ONLY, /* a write into a ROM region */
    FACET_MEM_REFUSED,   /* the device said no, or a peek/poke met a device */
};

struct facet_mem_result {
    enum facet_mem_fault fault;
    uint64_t address; /* of the first bad byte; 0 when there is none */
};

enum facet_status facet_mem_create(facet_mem **out, struct facet_error *err);
void facet_mem_destroy(facet_mem *mem); /* NULL is allowed */

/* Adds a zeroed region (kind RAM or ROM). Regions may touch but not overlap and are never removed.
 * FACET_ERR_MEMORY when the host does not grant the reservation, FACET_ERR_USAGE for an impossible
 * range or a name that is empty, too long or taken. */
enum facet_status facet_mem_add_ram(facet_mem *mem,
                                    const char *name,
                                    enum facet_mem_kind kind,
                                    uint64_t base,
                                    uint64_t size,
                                    struct facet_error *err);
/* The hooks are copied; a missing one refuses every access of its direction. */
enum facet_status facet_mem_add_device(facet_mem *mem,
                                       const char *name,
                                       uint64_t base,
                                       uint64_t size,
                                       const struct facet_mem_device *device,
                                       struct facet_error *err);

/* Regions in rising address order; NULL past the last. Pointers live until a region is added. */
const struct facet_mem_region *facet_mem_region(const facet_mem *mem, unsigned index);
const struct facet_mem_region *facet_mem_region_at(const facet_mem *mem, uint64_t address);
const struct facet_mem_region *facet_mem_region_named(const facet_mem *mem, const char *name);
/* Back to zeros everywhere (ROM too), host memory returned; every written page counts as dirty. */
void facet_mem_clear(facet_mem *mem);

/* Guest accesses. `size` 1, 2, 4 or 8 for the value forms, anything for the byte forms; zero bytes
 * never fault. On a fault *value or the buffer is not written and memory is as before; only when a
 * device refuses in the middle of an access, the parts before it stay done (a buffer of at most 16
 * bytes is untouched even then). */
struct facet_mem_result
facet_mem_read(const facet_mem *mem, uint64_t address, unsigned size, uint64_t *value);
struct facet_mem_result
facet_mem_write(facet_mem *mem, uint64_t address, unsigned size, uint64_t value);
struct facet_mem_result
facet_mem_read_bytes(const facet_mem *mem, uint64_t address, void *out, size_t size);
struct facet_mem_result
facet_mem_write_bytes(facet_mem *mem, uint64_t address, const void *data, size_t size);

/* Host accesses: all or nothing, devices refuse, ROM takes writes. */
struct facet_mem_result
facet_mem_peek(const facet_mem *mem, uint64_t address, void *out, size_t size);
struct facet_mem_result
facet_mem_poke(facet_mem *mem, uint64_t address, const void *data, size_t size);

/* "no memory at 0x..." and so on, for messages. */
const char *facet_mem_fault_name(enum facet_mem_fault fault);
/* A host-side failure as an error: FACET_ERR_FAULT at the address, or FACET_OK. */
enum facet_status facet_mem_fail(struct facet_mem_result result, struct facet_error *err);

/* ---- the fast door ----------------------------------------------------------------------------
 */

/* The page map bits of the clients. Each may set its own meaning; a write sets them all. */
enum {
    FACET_MEM_DIRTY_SNAPSHOT = 0x01,
    FACET_MEM_DIRTY_CODE = 0x02,
    FACET_MEM_DIRTY_DISPLAY = 0x04,
    FACET_MEM_DIRTY_USER = 0x08,
    FACET_MEM_DIRTY_BVH = 0x10,
    FACET_MEM_WRITTEN = 0x80, /* since the last clear of the memory; callers cannot clear it */
    FACET_MEM_DIRTY_ALL = 0xFF,
};

/* One RAM region seen by pointer and bound. A plain value: keep it as long as the facet_mem lives,
 * it does not change when regions are added. The spans end 15 bytes before the region does, so that
 * one compare serves every access size up to 16; the last bytes take the careful door. */
struct facet_mem_window {
    uint64_t base;
    uint64_t span;       /* an access of 1..16 bytes at base + [0, span) is inside; 0 = none */
    uint64_t store_span; /* the same for writes: 0 for ROM */
    uint8_t *bytes;      /* of base; [0, span + 15) may be touched */
    uint8_t *pages;      /* page map */
};

/* The window of the region at the address; an empty one (both spans 0) for devices and holes. */
struct facet_mem_window facet_mem_window(const facet_mem *mem, uint64_t address);

/* `size` 1, 2, 4 or 8, best a constant. false: outside the window, nothing happened. */
static inline bool facet_window_load(const struct facet_mem_window *window,
                                     uint64_t address,
                                     unsigned size,
                                     uint64_t *value)
{
    uint64_t offset = address - window->base;

    if (offset >= window->span) {
        return false;
    }
    FACET_FAST_WAY(MEM_WINDOW);
    *value = facet_load_le(window->bytes + offset, size);
    return true;
}

static inline void
facet_window_mark(const struct facet_mem_window *window, uint64_t offset, unsigned size)
{
    window->pages[offset >> FACET_MEM_PAGE_BITS] = FACET_MEM_DIRTY_ALL;
    window->pages[(offset + size - 1) >> FACET_MEM_PAGE_BITS] = FACET_MEM_DIRTY_ALL;
}

static inline bool facet_window_store(const struct facet_mem_window *window,
                                      uint64_t address,
                                      unsigned size,
                                      uint64_t value)
{
    uint64_t offset = address - window->base;

    if (offset >= window->store_span) {
        return false;
    }
    FACET_FAST_WAY(MEM_WINDOW);
    facet_store_le(window->bytes + offset, size, value);
    facet_window_mark(window, offset, size);
    return true;
}

/* 16 bytes at once: low half first. */
static inline bool
facet_window_load16(const struct facet_mem_window *window, uint64_t address, uint64_t value[2])
{
    uint64_t offset = address - window->base;

    if (offset >= window->span) {
        return false;
    }
    value[0] = facet_load_le64(window->bytes + offset);
    value[1] = facet_load_le64(window->bytes + offset + 8);
    return true;
}

static inline bool facet_window_store16(const struct facet_mem_window *window,
                                        uint64_t address,
                                        const uint64_t value[2])
{
    uint64_t offset = address - window->base;

    if (offset >= window->store_span) {
        return false;
    }
    facet_store_le64(window->bytes + offset, value[0]);
    facet_store_le64(window->bytes + offset + 8, value[1]);
    facet_window_mark(window, offset, 16);
    return true;
}

/* `size` bytes that lie in one RAM or ROM region, for bulk readers; NULL otherwise. Valid as long
 * as the facet_mem lives; never read past size. */
const uint8_t *facet_mem_span(const facet_mem *mem, uint64_t address, uint64_t size);

/* ---- dirty pages ------------------------------------------------------------------------------
 */

/* A page of a region; pages count from the region's base. The last one may be short. */
struct facet_mem_page {
    uint64_t address;
    uint32_t size;
    const uint8_t *bytes;
};

struct facet_mem_cursor {
    unsigned region;
    uint64_t page;
};

/* The next page at or after the cursor (start with zeros) with any of the bits set; moves the
 * cursor past it. Regions in address order. false when there is none. */
bool facet_mem_dirty_next(const facet_mem *mem,
                          unsigned bits,
                          struct facet_mem_cursor *cursor,
                          struct facet_mem_page *page);
/* Whether the page of this address has any of the bits set. */
bool facet_mem_dirty_test(const facet_mem *mem, unsigned bits, uint64_t address);
/* Clears the bits everywhere; FACET_MEM_WRITTEN stays. */
void facet_mem_dirty_clear(facet_mem *mem, unsigned bits);

/* ---- snapshots --------------------------------------------------------------------------------
 */

/* Appends the contents of all RAM and ROM regions: the layout and the pages that are not zero, with
 * a version. The same contents always give the same bytes. */
enum facet_status
facet_mem_save(const facet_mem *mem, struct facet_strbuf *out, struct facet_error *err);
/* Takes contents back that were saved from a memory of the same layout. `where` is the offset of
 * the first bad byte. Everything is validated before the first page changes. Pages that change
 * become dirty. */
enum facet_status
facet_mem_restore(facet_mem *mem, const void *data, size_t size, struct facet_error *err);
/* The validation alone. */
enum facet_status
facet_mem_validate(const facet_mem *mem, const void *data, size_t size, struct facet_error *err);
/* The rest, for what has been validated for this memory. */
void facet_mem_apply(facet_mem *mem, const void *data);

#endif
