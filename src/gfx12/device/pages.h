/* The bytes of an image on a device: all of them, or pages that come when rays wait for them. */
#ifndef FACET_GFX12_DEVICE_PAGES_H
#define FACET_GFX12_DEVICE_PAGES_H

#include "opencl/opencl.h"

struct facet_gfx12_pages;

/* At most `room` bytes of the device, but one page at least. The bytes must live as long. */
enum facet_status facet_gfx12_pages_new(facet_opencl *cl,
                                        const uint8_t *bytes,
                                        uint64_t size,
                                        uint64_t room,
                                        struct facet_gfx12_pages **out,
                                        struct facet_error *err);
void facet_gfx12_pages_free(struct facet_gfx12_pages *pages); /* NULL is allowed */
facet_opencl_memory *facet_gfx12_pages_memory(const struct facet_gfx12_pages *pages);
facet_opencl_memory *facet_gfx12_pages_slots(const struct facet_gfx12_pages *pages);
uint32_t facet_gfx12_pages_shift(const struct facet_gfx12_pages *pages); /* 0: all is there */
uint64_t facet_gfx12_pages_brought(const struct facet_gfx12_pages *pages);

/* Brings pages that the rays list[0..count) want; wanted[ray] is DEVICE_NOWHERE for one that waits
 * for none. Those that most rays want come first, and at least one comes. */
enum facet_status facet_gfx12_pages_bring(struct facet_gfx12_pages *pages,
                                          const uint32_t *wanted,
                                          const uint32_t *list,
                                          size_t count,
                                          struct facet_error *err);

#endif
