/* What the files of `facet render` share: cmd_render.c reads the options and draws, render_all.c
 * puts the pictures of all machines on one sheet, report/render.h says what was done. */
#ifndef FACET_CLI_RENDER_H
#define FACET_CLI_RENDER_H

#include "command/command.h"

#include "report/render.h"

/* Size, samples, light and exposure; what is not given stays. These print the complaint when they
 * return false. */
bool render_read_numbers(const struct cli_args *args, struct render_request *r);
bool render_read_options(const struct cli_args *args,
                         const struct render_request *r,
                         const struct facet_scene *scene,
                         struct facet_render_options *out);
enum facet_status render_draw(const struct cli_args *args,
                              const struct facet_scene *scene,
                              const struct facet_render_options *options,
                              const struct render_request *r,
                              struct facet_image_f *image,
                              struct render_outcome *o,
                              struct facet_error *err);
/* --machine all; returns the exit code. */
int render_all(const struct cli_args *args,
               const struct render_request *r,
               const struct facet_scene *scene);

#endif
