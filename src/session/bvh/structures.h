/* Structures of drivers in the `facet bvh` commands: their list, and the rules about headers. */
#ifndef FACET_SESSION_BVH_STRUCTURES_H
#define FACET_SESSION_BVH_STRUCTURES_H

#include "session/bvh/file.h"

#include <jansson.h>

/* The driver, the reason, the list of structures, and the header of the one that rays start in;
 * nothing for an image without headers. */
void session_structures_print(const struct session_bvh *file);
/* The same as members of `object`. */
void session_structures_json(const struct session_bvh *file, json_t *object);

/* Whether bvh update can write what was read; the complaint is printed otherwise. */
bool session_structures_writable(const struct cli_args *args, const struct session_bvh *file);
/* After a refit: headers and what stands beside instances, in `bytes`, which are the view's and
 * then as the driver keeps them. */
enum facet_status
session_structures_refit(const struct session_bvh *file, uint8_t *bytes, struct facet_error *err);

#endif
