/* What the `facet bvh` commands share: reading scenes, handing out text. */
#ifndef FACET_CLI_BVH_BVH_H
#define FACET_CLI_BVH_BVH_H

#include "session/bvh/file.h"

#include "render/bvh_input.h"
#include "report/stats.h"

struct json_t;

/* Hands the buffer to standard output; false when memory ran out on the way. */
struct facet_strbuf;
bool bvh_flush_text(struct facet_strbuf *buf);

/* A session_bvh_make: what `facet bvh build` makes of the scene without options, which it says. */
bool bvh_make_image(const struct cli_args *args, const char *path, struct facet_bytes *out);

/* A scene (NULL: none) and boxes from `aabbs` (a JSON file, NULL: none) as builder input. Says what
 * of the scene is left out, or with --json puts it into *left_out. */
enum facet_status bvh_scene_read(const struct cli_args *args,
                                 const char *path,
                                 const char *aabbs,
                                 struct facet_render_bvh_input *out,
                                 struct json_t **left_out,
                                 struct facet_error *err);

/* The same with what options say of every geometry and instance (report/traits.h), and triangles
 * one by one if `flat` (render/bvh_input.h). */
enum facet_status bvh_scene_read_as(const struct cli_args *args,
                                    const char *path,
                                    const char *aabbs,
                                    const struct facet_render_bvh_traits *traits,
                                    bool flat,
                                    struct facet_render_bvh_input *out,
                                    struct json_t **left_out,
                                    struct facet_error *err);

#endif
