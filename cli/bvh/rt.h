/* The `facet bvh` commands on BVH images of XPHMG_RT (docs/rt-images.md): each command hands over
 * when the format is asked for or the file begins with the magic. */
#ifndef FACET_CLI_BVH_RT_H
#define FACET_CLI_BVH_RT_H

#include "cli/bvh/bvh.h"

#include "render/rt_input.h"
#include "rt_image/check.h"

#include <jansson.h>

/* --format xphmg4 or xphmg8. */
bool bvh_rt_wanted(const struct cli_args *args);
int bvh_rt_build(const struct cli_args *args);
/* A scene as triangles in the world; what is left out of it is reported as by bvh_scene_read(). */
enum facet_status bvh_rt_scene(const struct cli_args *args,
                               const char *path,
                               struct facet_render_rt_input *out,
                               json_t **left_out,
                               struct facet_error *err);
/* The file has been read and stays the caller's. */
bool bvh_rt_is(const struct session_bvh *file);
/* Whether nothing was asked for that only GFX12 images have; the complaint is printed otherwise. */
bool bvh_rt_options_fit(const struct cli_args *args);
int bvh_rt_update(const struct cli_args *args, const struct session_bvh *file);
int bvh_rt_check(const struct cli_args *args, const struct session_bvh *file, uint32_t limit);
int bvh_rt_info(const struct cli_args *args, const struct session_bvh *file);
int bvh_rt_dump(const struct cli_args *args, const struct session_bvh *file);
/* Both files are RT images. */
int bvh_rt_diff(const struct cli_args *args,
                const struct session_bvh *a,
                const struct session_bvh *b,
                uint64_t limit);

#endif
