/* What the `facet bvh` commands share: reading scenes, printing findings. */
#ifndef FACET_CLI_BVH_BVH_H
#define FACET_CLI_BVH_BVH_H

#include "session/bvh_file.h"

#include "render/bvh_input.h"
#include "report/stats.h"

struct json_t;

/* Hands the buffer to standard output; false when memory ran out on the way. */
struct facet_strbuf;
bool bvh_flush_text(struct facet_strbuf *buf);

/* What the validator of either format found. */
struct bvh_finding {
    uint64_t offset;
    const struct facet_gfx12_view *view; /* GFX12: the image, for address and file of the offset */
    const char *rule, *requirement, *severity, *expected, *found;
};
/* A line with the place, the rule and `words`. */
void bvh_finding_print(const struct bvh_finding *finding, const char *words);
struct json_t *bvh_finding_json(const struct bvh_finding *finding);

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

/* The same with what options say of every geometry and instance (report/traits.h). */
enum facet_status bvh_scene_read_as(const struct cli_args *args,
                                    const char *path,
                                    const char *aabbs,
                                    const struct facet_render_bvh_traits *traits,
                                    struct facet_render_bvh_input *out,
                                    struct json_t **left_out,
                                    struct facet_error *err);

#endif
