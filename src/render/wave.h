/* Rays of many buckets on one device. Every thread draws a bucket and waits for its rays; what
 * waits while the device is at work goes there together afterwards, so the more threads there are
 * the larger the waves. Results do not depend on who travels with whom. */
#ifndef FACET_RENDER_WAVE_H
#define FACET_RENDER_WAVE_H

#include "gfx12/device/device.h"

struct facet_render_waves;

enum facet_status facet_render_waves_new(facet_gfx12_device *device,
                                         const facet_gfx12_tracer *host,
                                         struct facet_render_waves **out,
                                         struct facet_error *err);
void facet_render_waves_free(struct facet_render_waves *waves); /* NULL is allowed */

/* `count` rays that share `common`; rays of other calls with the same api_flags may go along, so
 * nothing else of it may differ. stats[i] belongs to ray i. */
enum facet_status facet_render_waves_trace(struct facet_render_waves *waves,
                                           const struct facet_gfx12_query *common,
                                           const struct facet_gfx12_batch_ray *rays,
                                           size_t count,
                                           struct facet_gfx12_hit *hits,
                                           struct facet_gfx12_stats *stats,
                                           struct facet_error *err);

#endif
