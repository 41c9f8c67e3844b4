/* What rays did not find in an image. */
#ifndef FACET_REPORT_LOST_H
#define FACET_REPORT_LOST_H

#include "command/command.h"
#include "gfx12/ask/lost.h"
#include "gfx12/image/walk.h"

struct json_t;

/* A line for each kind on standard error; false when there was none. */
bool report_lost(const struct cli_args *args,
                 const struct facet_gfx12_view *view,
                 const struct facet_gfx12_lost *lost);
/* The same where the image is no longer at hand: with the places that it named. */
struct report_places {
    char text[FACET_GFX12_LOSSES][FACET_GFX12_PLACE];
};
void report_lost_places(const struct facet_gfx12_view *view,
                        const struct facet_gfx12_lost *lost,
                        struct report_places *places);
bool report_lost_at(const struct cli_args *args,
                    const struct report_places *places,
                    const struct facet_gfx12_lost *lost);
/* The image by itself, without rays: a line on standard error and true when links lead to nothing,
 * or, with `twisted` only, when nodes lie across each other, as from a wrong base they do. */
bool report_trouble(const struct cli_args *args, const struct facet_gfx12_view *view, bool twisted);
/* The same for an image that was walked. */
bool report_broken(const struct cli_args *args,
                   const struct facet_gfx12_view *view,
                   const struct facet_gfx12_walk *walk,
                   bool twisted);
/* With --base or --root: a line on standard error and true when instances lead into the image, but
 * not to the root of a BLAS, or when with --base the root itself is none, as from a wrong base they
 * do. */
bool report_wrong_base(const struct cli_args *args, const struct facet_gfx12_view *view);
/* The two lines by themselves. */
enum { REPORT_TROUBLE = 200 };
bool report_wrong_base_text(const struct cli_args *args,
                            const struct facet_gfx12_view *view,
                            char out[REPORT_TROUBLE]);
bool report_trouble_text(const struct facet_gfx12_view *view,
                         bool twisted,
                         char out[REPORT_TROUBLE]);
/* For loops on the LDS stack: true and the line when instances lead to instances (R-G12-146). */
bool report_nested_text(const struct facet_gfx12_view *view, char out[REPORT_TROUBLE]);
/* Adds the three counts and, for those that are not 0, the example to an object. */
void report_lost_json(struct json_t *object, const struct facet_gfx12_lost *lost);

#endif
