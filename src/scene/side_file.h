/* Files beside a scene: buffers, textures, material libraries, named by the scene file itself and
 * therefore only looked for in its own folder and below. */
#ifndef FACET_SCENE_SIDE_FILE_H
#define FACET_SCENE_SIDE_FILE_H

#include "base/file.h"

/* Reads `name`, relative to the folder of `scene_path`. Refused: absolute names, any "..",
 * symbolic links, anything but regular files; everything when the scene comes from "-". A missing
 * file is FACET_ERR_INPUT; one that is there but cannot be opened or read, FACET_ERR_IO. */
enum facet_status facet_side_file_read(const char *scene_path,
                                       const char *name,
                                       size_t limit,
                                       struct facet_bytes *out,
                                       struct facet_error *err);

#endif
