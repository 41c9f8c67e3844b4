/* Files that another file names: buffers and textures of a scene, pictures of a command list,
 * `.include`. The name comes from data and not from the user, so it is looked for only in one
 * folder and below. */
#ifndef FACET_BASE_SIDE_FILE_H
#define FACET_BASE_SIDE_FILE_H

#include "base/file.h"

/* Reads `name` from `folder` ("" is the current one; it may be reached through links). Refused:
 * absolute names, any "..", symbolic links on the way, anything but regular files. Messages start
 * with the name. FACET_ERR_IO: the host could not do it. Free data with free(). */
enum facet_status facet_side_file_read(const char *folder,
                                       const char *name,
                                       size_t limit,
                                       struct facet_bytes *out,
                                       struct facet_error *err);

/* false only when there is nothing of that name: what else is wrong with it, reading tells. */
bool facet_side_file_exists(const char *folder, const char *name);

/* The folder of the file at `path`, "" for a name alone; NULL without memory. Free with free(). */
char *facet_folder_of(const char *path);
/* Makes the folder unless it is there, in a folder that must be there. FACET_ERR_IO when it is a
 * file, cannot be made, or cannot be written to. */
enum facet_status facet_folder_make(const char *path, struct facet_error *err);

#endif
