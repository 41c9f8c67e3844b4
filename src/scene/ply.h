/* Is a PLY file as long as its header says? Assimp reads past the end of binary ones and passes
 * over missing rows of text ones, so this is found out before it sees the file. */
#ifndef FACET_SCENE_PLY_H
#define FACET_SCENE_PLY_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Walks over the header and the body, without looking at values other than the lengths of lists.
 * Headers with words that are not known here pass; Assimp decides about them. */
enum facet_status facet_ply_check(const uint8_t *data, size_t size, struct facet_error *err);

#endif
