/* BVH images in files: reading one of GFX12, and saying what else a file is. */
#ifndef FACET_SESSION_BVH_FILE_H
#define FACET_SESSION_BVH_FILE_H

#include "command/command.h"

#include "base/file.h"
#include "gfx12/image/walk.h"

/* Options --base and --root, for commands that read an image. */
#define SESSION_BVH_OPTIONS                                                                        \
    {"base", 0, "ADDR", CLI_GROUP("Image") "address of the first byte of the image (default 0)"},  \
    {                                                                                              \
        "root", 0, "NODE", "ID of the root node, relative to the base (default 5)"                 \
    }

struct session_bvh {
    struct facet_bytes bytes;
    struct facet_gfx12_view view;
};

/* Reads the image and the two options; the complaint is printed when it returns false. */
bool session_bvh_read(const struct cli_args *args, const char *path, struct session_bvh *out);
void session_bvh_free(struct session_bvh *file);
/* Whether the bytes can be a GFX12 image (it has no header: whatever is not an RT image), and
 * whether its root lies in it; the complaint is printed when they return false. */
bool session_bvh_is_gfx12(const struct cli_args *args,
                          const char *path,
                          const struct session_bvh *file);
bool session_bvh_has_root(const struct cli_args *args,
                          const char *path,
                          const struct session_bvh *file);

#endif
