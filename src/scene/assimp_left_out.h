/* What OBJ, PLY and STL files say and neither Assimp nor assimp.c hands on. */
#ifndef FACET_SCENE_ASSIMP_LEFT_OUT_H
#define FACET_SCENE_ASSIMP_LEFT_OUT_H

#include "scene/reader.h"

struct aiScene;

/* What assimp.c calls a library that is not there; its name follows. */
#define FACET_MISSING_LIBRARY "material library "

/* Notes in `out` what of Assimp's scene assimp.c does not convert, and what of the file's own text
 * ("obj", "ply"; other formats have none) and of the OBJ's material libraries, all in one, Assimp
 * passes over. */
enum facet_status facet_assimp_note_left_out(const struct facet_reader *reader,
                                             const char *extension,
                                             const struct facet_bytes *libraries,
                                             const struct aiScene *in,
                                             struct facet_scene *out,
                                             struct facet_error *err);

#endif
