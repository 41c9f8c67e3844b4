/* `facet why`: what a machine did for one pixel of a picture. */
#ifndef FACET_REPORT_PIXEL_H
#define FACET_REPORT_PIXEL_H

#include "record/record.h"
#include "render/pixel.h"

struct cli_args;

struct report_pixel {
    const struct facet_scene *scene;
    struct facet_render *render;
    const struct facet_render_options *options;
    const struct facet_render_pixel *seen;
    float light[3];     /* of the pixel */
    uint8_t color[4];   /* as `facet render` writes it */
    float nodes;        /* per primary ray, as a heat map counts; below 0: there are no rays */
    uint64_t max_nodes; /* of a ray that are shown */
    bool on_hart;       /* the host drew; what was seen is the same program on the hart */
};

/* "X,Y" of a picture; the complaint is printed when it returns false. */
bool report_pixel_read(
    const struct cli_args *args, uint32_t width, uint32_t height, uint32_t *x, uint32_t *y);
/* Draws what is told about the pixel of `seen` and fills in the rest of `p`, which has scene,
 * options and seen. Exposure and clamping are those of `facet render`. */
enum facet_status report_pixel_ask(struct report_pixel *p,
                                   struct facet_render_options *options,
                                   struct facet_render_pixel *seen,
                                   facet_pool *pool,
                                   float exposure,
                                   bool clamp,
                                   struct facet_error *err);
/* Whether it went well or not. */
void report_pixel_free(struct report_pixel *p, struct facet_render_pixel *seen);
/* Between opening and drawing: where the guest program traces rays, or keeps its bucket. */
void report_pixel_find_entry(struct facet_render_pixel *pixel, bool rasterizes);
/* Everything, as one object; `full`: all rays, and every value and its bits. */
void report_pixel_record(struct facet_record *r, const struct report_pixel *p, bool full);
/* Text or JSON; returns the exit code. */
int report_pixel(const struct cli_args *args, const struct report_pixel *p);

#endif
