/* What drivers wrote: --driver and --structure of commands that read an image. The headers of its
 * pieces say where rays start; the pieces of a capture (.rra) come out of one file. */
#ifndef FACET_SESSION_BVH_DRIVER_H
#define FACET_SESSION_BVH_DRIVER_H

#include "command/command.h"

#include "gfx12/drivers/pieces.h"

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

struct session_structure {
    uint32_t piece;  /* of `pieces` */
    uint64_t origin; /* of its header in the file, UNKNOWN where it was compressed */
};

struct session_driver {
    struct facet_gfx12_piece *pieces; /* in the order of their addresses */
    uint32_t count;
    struct session_structure *list; /* the same in the order of the files */
    uint32_t chosen;                /* of the list: where rays start */
    bool all;                       /* --structure all */
    bool capture;
    uint32_t left_out;      /* structures of a capture at addresses that others have already */
    uint8_t *original;      /* the bytes of the files where the view's are translated; else NULL */
    const char *translated; /* to what; NULL as well */
    char reason[FACET_GFX12_REASON];
};

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
void session_driver_free(struct session_driver *driver);

/* Before the bytes of the view become those of `translated`: keeps them for the dump. */
bool session_driver_keep(struct session_bvh *file, const char *translated);
/* Structures in which nothing is active, where there are such, become empty ones (R-G12-147). False
 * when memory is short. */
bool session_driver_clear(struct session_bvh *file);

/* Lets rays start in a structure of the list. */
void session_driver_start(struct session_bvh *file, uint32_t structure);
const struct facet_gfx12_piece *session_driver_piece(const struct session_bvh *file,
                                                     uint32_t structure);

#endif
