/* What the `facet bvh` commands share: reading images and scenes, printing statistics. */
#ifndef FACET_CLI_BVH_H
#define FACET_CLI_BVH_H

#include "cli/command.h"

#include "base/file.h"
#include "gfx12/image/stats.h"
#include "render/bvh_input.h"

struct json_t;

/* Options --base and --root, for commands that read an image. */
#define BVH_IMAGE_OPTIONS                                                                          \
    {"base", 0, "ADDR", "address of the first byte of the image (default 0)"},                     \
    {                                                                                              \
        "root", 0, "NODE", "ID of the root node, relative to the base (default 5)"                 \
    }

struct bvh_file {
    struct facet_bytes bytes;
    struct facet_gfx12_view view;
};

/* Reads the image and the two options; the complaint is printed when it returns false. */
bool bvh_file_read(const struct cli_args *args, const char *path, struct bvh_file *out);
void bvh_file_free(struct bvh_file *file);
/* Whether the bytes can be a GFX12 image (it has no header: whatever is no tile image), and whether
 * its root lies in it; the complaint is printed when they return false. */
bool bvh_is_gfx12(const struct cli_args *args, const char *path, const struct bvh_file *file);
bool bvh_has_root(const struct cli_args *args, const char *path, const struct bvh_file *file);

/* Hands the buffer to standard output; false when memory ran out on the way. */
struct facet_strbuf;
bool bvh_flush_text(struct facet_strbuf *buf);

/* What `facet bvh diff` found, as text while it comes or as JSON at the end. */
struct bvh_differences {
    struct json_t *list; /* NULL: text */
    uint64_t shown, limit;
};
/* Whether the next difference is to be shown; the others are counted. */
bool bvh_differences_next(struct bvh_differences *out);
/* Prints what is left and returns the exit code. */
int bvh_differences_end(const struct cli_args *args, struct bvh_differences *out);

/* A scene (NULL: none) and boxes from `aabbs` (a JSON file, NULL: none) as builder input. Says what
 * of the scene is left out, or with --json puts it into *left_out. */
enum facet_status bvh_scene_read(const struct cli_args *args,
                                 const char *path,
                                 const char *aabbs,
                                 struct facet_bvh_input *out,
                                 struct json_t **left_out,
                                 struct facet_error *err);

struct json_t *bvh_stats_json(const struct facet_bvh_stats *stats);
double bvh_bytes_per_triangle(const struct facet_bvh_stats *stats);

#endif
