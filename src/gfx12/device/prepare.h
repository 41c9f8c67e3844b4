/* What a launch of the kernel needs, from what src/gfx12 has, and back. Knows no device. */
#ifndef FACET_GFX12_DEVICE_PREPARE_H
#define FACET_GFX12_DEVICE_PREPARE_H

#include "gfx12/device/shared.h"
#include "gfx12/tracer.h"

/* Whether nodes lie on multiples of 64 bytes from the first byte of the image, which a device needs
 * for loads of 16 bytes. Images of files and of Facet's builder always do. */
bool facet_gfx12_device_aligned(const struct facet_gfx12_unit *unit,
                                const struct facet_gfx12_query *query);
/* What all rays share; page_shift is 0 and slice the largest. */
void facet_gfx12_device_common(const struct facet_gfx12_unit *unit,
                               const struct facet_gfx12_query *query,
                               struct device_common *out);
/* Whether the fast loop (fast.cl) is for such a launch, which has no pages. */
bool facet_gfx12_device_fast(const struct device_common *common);
/* Where nodes lie: so many bytes beyond multiples of 128 from the first byte of the image. */
uint32_t facet_gfx12_device_phase(const struct device_common *common);
/* How many records the image has then. */
uint32_t facet_gfx12_device_records(const struct device_common *common, uint32_t phase);
/* The matrices of section 6, twelve dwords each. */
void facet_gfx12_device_turned(uint32_t rows[12 * FACET_GFX12_OBB_COUNT]);
/* What the tracer found as the device has it; statistics modulo 2^32. */
void facet_gfx12_device_result(const struct facet_gfx12_hit *hit,
                               const struct facet_gfx12_stats *stats,
                               struct device_result *out);

#endif
