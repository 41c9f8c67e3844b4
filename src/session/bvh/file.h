/* BVH images in files: reading one of GFX12, in one piece or in several, and saying what else a
 * file is. */
#ifndef FACET_SESSION_BVH_FILE_H
#define FACET_SESSION_BVH_FILE_H

#include "command/command.h"
#include "session/bvh/driver.h"

#include "base/file.h"
#include "gfx12/image/walk.h"

/* Options --segment, --driver, --structure, --base and --root, for commands that read an image;
 * their operand is [IMAGE]. */
#define SESSION_BVH_OPTIONS                                                                        \
    {"segment",                                                                                    \
     0,                                                                                            \
     "FILE@ADDR",                                                                                  \
     CLI_GROUP("Image") "a piece of the image and its address "                                    \
                        "(repeatable); FILE@ADDR+OFFSET:SIZE is a part of a file"},                \
        SESSION_DRIVER_OPTIONS,                                                                    \
        {"base",                                                                                   \
         0,                                                                                        \
         "ADDR",                                                                                   \
         "address of IMAGE (default 0); without one, where rays start (default: "                  \
         "in the first segment)"},                                                                 \
    {                                                                                              \
        "root", 0, "NODE", "ID of the root node, relative to the base (default 5)"                 \
    }

struct session_bvh {
    struct facet_bytes bytes; /* of all pieces */
    struct facet_gfx12_view view;
    struct facet_gfx12_segment *segments;
    const char *name; /* of the first file, for messages */
    struct facet_gfx12_structures driver;
    bool all;  /* --structure all */
    bool made; /* from a scene, by session_bvh_make */
};

/* An address in an option: 48 bits or canonical, a multiple of 64. The complaint is printed when it
 * returns false. An option that was not given leaves *out alone. */
bool session_bvh_address(const struct cli_args *args, const char *option, uint64_t *out);

/* The IMAGE of a command whose only operand it is, NULL without one. */
const char *session_bvh_operand(const struct cli_args *args);
/* Reads the image (`path` may be NULL when there is a --segment) and the options above; the
 * complaint is printed when it returns false. */
bool session_bvh_read(const struct cli_args *args, const char *path, struct session_bvh *out);
/* The same for a command that also takes a scene: `make` turns the file into an image at address 0,
 * or prints the complaint and returns false. */
typedef bool
session_bvh_make(const struct cli_args *args, const char *path, struct facet_bytes *out);
bool session_bvh_read_or_make(const struct cli_args *args,
                              const char *path,
                              session_bvh_make *make,
                              struct session_bvh *out);
/* Whether the output is a file that was read; the complaint is printed when it is. A successor of
 * the image may replace what it follows. */
bool session_bvh_would_be_replaced(const struct cli_args *args,
                                   const char *output,
                                   const struct session_bvh *file,
                                   bool successor);
void session_bvh_free(struct session_bvh *file);

/* Writes the image: `output` becomes the segment that rays start in, and each other segment the
 * file OUTPUT.0xADDR. All appear, or none. */
enum facet_status
session_bvh_write(const char *output, const struct facet_gfx12_view *view, struct facet_error *err);

/* Whether the bytes can be a GFX12 image (it has no header: whatever is not an RT image), and
 * whether its root lies in it; the complaint is printed when they return false. */
bool session_bvh_is_gfx12(const struct cli_args *args, const struct session_bvh *file);
bool session_bvh_has_root(const struct cli_args *args, const struct session_bvh *file);
/* The same, and that it is not a structure in which nothing is active (FACET_GFX12_NO_ROOT). */
bool session_bvh_has_nodes(const struct cli_args *args, const struct session_bvh *file);

#endif
