/* What drivers wrote: --driver and --structure of commands that read an image. The headers of its
 * pieces say where rays start; the pieces of a capture (.rra) come out of one file. */
#ifndef FACET_SESSION_BVH_DRIVER_H
#define FACET_SESSION_BVH_DRIVER_H

#include "command/command.h"

#include "gfx12/drivers/structures.h"

#define SESSION_DRIVER_OPTIONS                                                                     \
    {"driver",                                                                                     \
     0,                                                                                            \
     "radv|gpurt|hiprt|auto",                                                                      \
     "whose structures the pieces are: their headers say where rays start"},                       \
    {                                                                                              \
        "structure", 0, "N|all",                                                                   \
            "which structure of a capture or of --driver, as bvh info numbers them "               \
            "(default: the first TLAS)"                                                            \
    }

struct session_bvh;
struct facet_bytes;
/* For an image that was read: does what the options say, and refuses files that are no images by
 * the name of what they are; a scene becomes what `make` (see session_bvh_make; may be NULL) makes
 * of it. The complaint is printed when it returns false. */
bool session_driver_apply(const struct cli_args *args,
                          bool (*make)(const struct cli_args *args,
                                       const char *path,
                                       struct facet_bytes *out),
                          struct session_bvh *file);
/* The pieces of a capture take the place of its bytes. */
bool session_capture_open(const struct cli_args *args, struct session_bvh *file);

#endif
