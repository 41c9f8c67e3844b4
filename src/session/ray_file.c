/* See ray_file.h. */
#include "session/ray_file.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORD = sizeof(struct facet_gfx12_batch_ray), RAY_LIMIT = 1 << 30 };

/* A record in memory is one of the file. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the host must be little-endian");
_Static_assert(RECORD == 32 && offsetof(struct facet_gfx12_batch_ray, t_min) == 12 &&
                   offsetof(struct facet_gfx12_batch_ray, direction) == 16 &&
                   offsetof(struct facet_gfx12_batch_ray, t_max) == 28,
               "ox oy oz tmin dx dy dz tmax");

static enum facet_status check_size(const char *path, uint64_t size, struct facet_error *err)
{
    const uint64_t cut = size - size % RECORD;

    return cut == size ? FACET_OK
                       : facet_fail(err,
                                    FACET_ERR_INPUT,
                                    cut,
                                    "%s: %" PRIu64 " bytes; expected rays of %d bytes, the last "
                                    "one at offset %" PRIu64 " is cut off",
                                    path,
                                    size,
                                    RECORD,
                                    cut);
}

enum facet_status session_rays_read(const char *path,
                                    struct facet_gfx12_batch_ray **rays,
                                    size_t *count,
                                    struct facet_error *err)
{
    struct facet_bytes file;
    enum facet_status status = facet_file_read(path, RAY_LIMIT, &file, err);

    *rays = NULL;
    *count = 0;
    if (status == FACET_OK) {
        status = check_size(path, file.size, err);
    }
    if (status != FACET_OK) {
        free(file.data);
        return status;
    }
    *rays = (struct facet_gfx12_batch_ray *)(void *)file.data;
    *count = file.size / RECORD;
    return FACET_OK;
}

static enum facet_status fail(const struct session_rays *rays, struct facet_error *err)
{
    return facet_fail(err, FACET_ERR_IO, 0, "%s: %s", rays->path, strerror(errno));
}

enum facet_status
session_rays_open(const char *path, struct session_rays *out, struct facet_error *err)
{
    enum facet_status status;
    size_t count = 0;

    *out = (struct session_rays){.path = path, .fd = -1};
    /* A size of 0 may be that of a file whose size nobody knows, as in /proc. */
    if (strcmp(path, "-") == 0 || stat(path, &out->info) != 0 || !S_ISREG(out->info.st_mode) ||
        out->info.st_size == 0) {
        status = session_rays_read(path, &out->all, &count, err);
        out->count = count;
        return status;
    }
    out->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (out->fd < 0 || fstat(out->fd, &out->info) != 0) {
        return fail(out, err);
    }
    out->count = (uint64_t)out->info.st_size / RECORD;
    return check_size(path, (uint64_t)out->info.st_size, err);
}

enum facet_status session_rays_get(const struct session_rays *rays,
                                   uint64_t first,
                                   size_t count,
                                   struct facet_gfx12_batch_ray *out,
                                   struct facet_error *err)
{
    uint8_t *const bytes = (uint8_t *)out;
    const size_t size = count * RECORD;
    size_t done = 0;
    ssize_t got = 1;
    struct stat now;

    if (rays->all != NULL) {
        memcpy(out, rays->all + first, size);
        return FACET_OK;
    }
    while (done < size && got != 0) {
        got = pread(rays->fd, bytes + done, size - done, (off_t)(first * RECORD + done));
        if (got < 0 && errno != EINTR) {
            return fail(rays, err);
        }
        done += got > 0 ? (size_t)got : 0;
    }
    if (fstat(rays->fd, &now) != 0) {
        return fail(rays, err);
    }
    return done == size && now.st_size == rays->info.st_size &&
                   now.st_mtim.tv_sec == rays->info.st_mtim.tv_sec &&
                   now.st_mtim.tv_nsec == rays->info.st_mtim.tv_nsec
               ? FACET_OK
               : facet_fail(err, FACET_ERR_IO, 0, "%s: was changed while it was read", rays->path);
}

void session_rays_close(struct session_rays *rays)
{
    free(rays->all);
    if (rays->fd >= 0) {
        (void)close(rays->fd);
    }
}
