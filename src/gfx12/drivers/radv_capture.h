/* Captures that RADV records (R-G12-145). It copies its nodes into the form that GPURT's captures
 * have, one after another behind the header, and leaves two things as they were: instances name the
 * root as if no header stood before it, and sizes of children count what lay between the nodes. */
#ifndef FACET_GFX12_DRIVERS_RADV_CAPTURE_H
#define FACET_GFX12_DRIVERS_RADV_CAPTURE_H

#include "gfx12/drivers/pieces.h"

#define FACET_GFX12_RADV_CAPTURE_HEADER 120 /* bytes of its header of a structure */

/* Changes the nodes of the piece in `bytes`, which are those of the view, to what GPURT would have
 * written for the same tree. */
void facet_gfx12_radv_capture_translate(uint8_t *bytes, const struct facet_gfx12_piece *piece);

#endif
