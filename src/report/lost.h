/* What rays did not find in an image. */
#ifndef FACET_REPORT_LOST_H
#define FACET_REPORT_LOST_H

#include "command/command.h"
#include "gfx12/ask/lost.h"
#include "gfx12/image/view.h"

struct json_t;

/* A line for each kind on standard error; false when there was none. */
bool report_lost(const struct cli_args *args,
                 const struct facet_gfx12_view *view,
                 const struct facet_gfx12_lost *lost);
/* The image by itself, without rays: a line on standard error and true when links lead to nothing,
 * or, with `twisted` only, when nodes lie across each other, as from a wrong base they do. */
bool report_trouble(const struct cli_args *args, const struct facet_gfx12_view *view, bool twisted);
/* With --base or --root: a line on standard error and true when instances lead into the image, but
 * not to the root of a BLAS, as from a wrong base they do. */
bool report_wrong_base(const struct cli_args *args, const struct facet_gfx12_view *view);
/* Adds the three counts and, for those that are not 0, the example to an object. */
void report_lost_json(struct json_t *object, const struct facet_gfx12_lost *lost);

#endif
