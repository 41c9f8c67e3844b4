/* Pictures whose paths stay on a device: it makes the rays, traces them and shades, and only the
 * sums of finished pixels come back. The same pixels and counters as those of the processor. */
#ifndef FACET_RENDER_DEVICE_PATHS_H
#define FACET_RENDER_DEVICE_PATHS_H

#include "render/render.h"

struct facet_render_paths;

/* Brings the picture's scene to a device that has the image. *out is NULL where shading has to stay
 * here: the device is open without facet_render_device_addition, or has no room for the scene. */
enum facet_status facet_render_paths_new(const struct facet_render *render,
                                         facet_gfx12_device *device,
                                         const facet_gfx12_tracer *host,
                                         struct facet_render_paths **out,
                                         struct facet_error *err);
void facet_render_paths_free(struct facet_render_paths *paths); /* NULL is allowed */

/* How many buckets a call should have. */
uint32_t facet_render_paths_together(const struct facet_render_paths *paths);
/* Draws buckets; took[b] is that of bucket b. */
enum facet_status facet_render_paths_draw(struct facet_render_paths *paths,
                                          const uint32_t *buckets,
                                          size_t count,
                                          struct facet_image_f *out,
                                          struct facet_render_report *took,
                                          struct facet_error *err);

/* gfx12.c: facet_shade_surface_stops for the scene that is the context. */
enum facet_gfx12_verdict facet_render_any_hit(void *context,
                                              const struct facet_gfx12_hit *candidate);

#endif
