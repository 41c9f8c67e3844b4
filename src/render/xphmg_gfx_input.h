/* Makes what the rasteriser needs beside the scene (guest/gfx/rasteriser.h). */
#ifndef FACET_RENDER_XPHMG_GFX_INPUT_H
#define FACET_RENDER_XPHMG_GFX_INPUT_H

#include "base/progress.h"
#include "guest/gfx/rasteriser.h"

/* Progress counts triangles. Free *out with free(). */
enum facet_status facet_render_gfx_input_make(const struct facet_picture *picture,
                                              struct facet_progress *progress,
                                              struct facet_guest_gfx_input **out,
                                              struct facet_error *err);

#endif
