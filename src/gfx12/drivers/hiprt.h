/* HIPRT's nodes and the form that the hardware's instructions read (R-G12-77). HIPRT counts
 * primitive nodes from a base of their own, numbers parents by nodes, keeps the number of vertices
 * in the bits of the geometry index, and lets instances point at headers, with up to four boxes
 * before the root. */
#ifndef FACET_GFX12_DRIVERS_HIPRT_H
#define FACET_GFX12_DRIVERS_HIPRT_H

#include "base/error.h"
#include "gfx12/drivers/pieces.h"

#define FACET_GFX12_HIPRT_CUSTOM 7 /* type of a child that is no node of the hardware */

/* Instances that move through several frames have no matrix in their nodes. Before the translation,
 * gives each that of its first frame (R-G12-148). FACET_ERR_INPUT where frames cannot be read. */
enum facet_status facet_gfx12_hiprt_stop(uint8_t *bytes,
                                         const struct facet_gfx12_piece *pieces,
                                         uint32_t count,
                                         struct facet_error *err);
/* How many such instances the untranslated bytes hold, and where the first is. */
uint64_t facet_gfx12_hiprt_moving(const struct facet_gfx12_piece *pieces,
                                  uint32_t count,
                                  const uint8_t *original,
                                  uint64_t *first);

/* Changes the nodes of every HIPRT piece in `bytes`, which are those of the view, to what the
 * hardware's instructions expect for the same tree. */
void facet_gfx12_hiprt_translate(uint8_t *bytes,
                                 const struct facet_gfx12_piece *pieces,
                                 uint32_t count);

/* Whether an update can follow the structures; `original` are the bytes before the translation.
 * Otherwise says what they lack. */
enum facet_status facet_gfx12_hiprt_can_update(const struct facet_gfx12_piece *pieces,
                                               uint32_t count,
                                               const uint8_t *original,
                                               struct facet_error *err);

/* The way back after a refit: `bytes` are translated nodes with new boxes, corners and matrices,
 * and become HIPRT's again; frames follow the matrices. FACET_ERR_LIMIT where a node or a frame has
 * no room for what moved. */
enum facet_status facet_gfx12_hiprt_restore(uint8_t *bytes,
                                            const uint8_t *original,
                                            const struct facet_gfx12_piece *pieces,
                                            uint32_t count,
                                            struct facet_error *err);

#endif
