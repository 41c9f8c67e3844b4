/* Files of rays: records of eight little-endian floats, ox oy oz tmin dx dy dz tmax. */
#ifndef FACET_SESSION_RAY_FILE_H
#define FACET_SESSION_RAY_FILE_H

#include "gfx12/tracer.h"

#include <sys/stat.h>

/* All of them, at most 1 GiB. Free *rays with free(). */
enum facet_status session_rays_read(const char *path,
                                    struct facet_gfx12_batch_ray **rays,
                                    size_t *count,
                                    struct facet_error *err);

/* Rays that are read when they are asked for, from a file of any size. Those of a pipe or standard
 * input are in memory, at most 1 GiB. */
struct session_rays {
    uint64_t count;
    struct facet_gfx12_batch_ray *all; /* NULL: in the file */
    const char *path;                  /* the caller's */
    int fd;
    struct stat info;
};

/* Close it also after a failure. */
enum facet_status
session_rays_open(const char *path, struct session_rays *out, struct facet_error *err);
/* Rays from `first` on; any number of threads at a time. A file that changes while its rays are
 * read is an error. */
enum facet_status session_rays_get(const struct session_rays *rays,
                                   uint64_t first,
                                   size_t count,
                                   struct facet_gfx12_batch_ray *out,
                                   struct facet_error *err);
void session_rays_close(struct session_rays *rays);

#endif
