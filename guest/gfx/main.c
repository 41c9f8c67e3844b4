/* The guest program of `facet render --machine xphmg-gfx`: draws one bucket of a picture on the
 * hart with the GFX and MTX instructions. The rasteriser is rasteriser.h and its files, the
 * instructions are in unit.c.
 *
 * The host leaves a block at a fixed address (guest/block.h) and reads the pixels
 * through the framebuffer device. Static data is zero at every start: the program runs once per
 * bucket. */
#include "guest/block.h"
#include "guest/gfx/rasteriser.h"

#include <framebuffer.h>

static struct facet_guest_gfx_bucket bucket;
static float pixels[FACET_BUCKET_PIXELS * 3];

static enum facet_status draw(struct facet_guest_block *block)
{
    const struct facet_guest_gfx_input *input = (const struct facet_guest_gfx_input *)block->bvh;

    if (block->layout != facet_guest_layout() || block->bvh_bytes < sizeof *input ||
        input->bytes != block->bvh_bytes) {
        return facet_fail(
            &block->error, FACET_ERR_INTERNAL, 0, "host and guest disagree on structs");
    }
    facet_guest_gfx_bucket_draw(&bucket, &block->picture, input, block->bucket);
    facet_guest_gfx_bucket_store(&bucket, pixels, bucket.width);
    framebuffer_show(pixels, bucket.width, bucket.height, FRAMEBUFFER_RGBF32);
    return FACET_OK;
}

int main(void)
{
    return draw((struct facet_guest_block *)FACET_GUEST_BLOCK) == FACET_OK ? 0 : 1;
}
