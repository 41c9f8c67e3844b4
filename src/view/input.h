/* What a file is to the inspector's page: an image, which a scene becomes first, or a program or
 * list as it is. */
#ifndef FACET_VIEW_INPUT_H
#define FACET_VIEW_INPUT_H

#include "session/bvh/file.h"

#include <jansson.h>

/* The page's input; `bvh` owns the bytes of an image, `file` those of anything else. */
struct view_shown {
    struct session_bvh bvh;
    struct facet_bytes file;
    const uint8_t *bytes;
    size_t size;
    bool tiles;   /* an image of XPHMG_RT */
    json_t *made; /* what the page is told: kind, and where rays start */
};

/* Reads FILE and the options of images; `make` builds the image of a scene. The complaint is
 * printed when it returns false. Free in every case. */
bool view_shown_read(const struct cli_args *args,
                     const char *path,
                     session_bvh_make *make,
                     struct view_shown *out);
void view_shown_free(struct view_shown *shown);

#endif
