/* A scene, its RT image and the block that says what to draw (guest/block.h), as the bytes that
 * the guest program finds at FACET_GUEST_BLOCK. */
#ifndef FACET_RENDER_GUEST_IMAGE_H
#define FACET_RENDER_GUEST_IMAGE_H

#include "guest/block.h"

struct facet_render_guest_image {
    uint8_t *bytes; /* free with free() */
    uint64_t size;
};

/* `picture` as it is on the host; `bvh` is copied. */
enum facet_status facet_render_guest_image_make(const struct facet_picture *picture,
                                                const void *bvh,
                                                uint64_t bvh_bytes,
                                                bool offload,
                                                struct facet_render_guest_image *out,
                                                struct facet_error *err);

#endif
