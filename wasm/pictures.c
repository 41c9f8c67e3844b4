/* Picture files where there is no decoder: the page reads pictures by the browser, never by this
 * library. */
#include "image/image.h"

enum facet_status facet_image_decode_confined(const uint8_t *data,
                                              size_t size,
                                              struct facet_image *out,
                                              struct facet_error *err)
{
    (void)data, (void)size;
    *out = (struct facet_image){0};
    return facet_fail(err,
                      FACET_ERR_INPUT,
                      0,
                      "a page reads no picture files; expected the texels as \"u32\" or \"u16\"");
}
