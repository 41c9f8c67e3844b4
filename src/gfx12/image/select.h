/* A part of an image: the nodes below one, down to a depth, or one bottom level. */
#ifndef FACET_GFX12_IMAGE_SELECT_H
#define FACET_GFX12_IMAGE_SELECT_H

#include "gfx12/image/walk.h"

#define FACET_GFX12_ALL UINT64_MAX /* for a member that does not limit anything */

struct facet_gfx12_selection {
    uint64_t node;  /* start here: an offset in the image, or from its size on an address */
    uint64_t depth; /* steps from the start */
    uint64_t blas;  /* number of a bottom level, in the order of their addresses */
};

/* A byte for each unit of the walk, 1 where a chosen node starts; free with free(). FACET_ERR_INPUT
 * when there is no such node or level. */
enum facet_status facet_gfx12_select(const struct facet_gfx12_view *view,
                                     const struct facet_gfx12_walk *walk,
                                     const struct facet_gfx12_selection *what,
                                     uint8_t **chosen,
                                     struct facet_error *err);

/* Addresses of the bottom levels, each once, in order: those that instances lead to. `*bases` is
 * NULL when memory is short, else free with free(). */
size_t facet_gfx12_bottom_levels(const struct facet_gfx12_view *view,
                                 const struct facet_gfx12_walk *walk,
                                 uint64_t **bases);

#endif
