/* See ray_file.h. */
#include "session/ray_file.h"

#include "base/bits.h"
#include "base/file.h"
#include "base/float.h"

#include <stdlib.h>

enum { RECORD = 32, RAY_LIMIT = 1 << 30 };

static float float_at(const uint8_t *bytes)
{
    return facet_float_of(facet_load_le32(bytes));
}

static void take_ray(const uint8_t *record, struct facet_gfx12_batch_ray *ray)
{
    for (int k = 0; k < 3; k++) {
        ray->origin[k] = float_at(record + 4 * k);
        ray->direction[k] = float_at(record + 16 + 4 * k);
    }
    ray->t_min = float_at(record + 12);
    ray->t_max = float_at(record + 28);
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
    if (status != FACET_OK) {
        return status;
    }
    if (file.size % RECORD != 0) {
        status = facet_fail(err,
                            FACET_ERR_INPUT,
                            file.size - file.size % RECORD,
                            "%s: %zu bytes; expected rays of %d bytes, the last one at offset %zu "
                            "is cut off",
                            path,
                            file.size,
                            RECORD,
                            file.size - file.size % RECORD);
    } else {
        *rays = malloc((file.size / RECORD + 1) * sizeof **rays);
        if (*rays == NULL) {
            status =
                facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %zu rays", file.size / RECORD);
        }
    }
    for (; status == FACET_OK && *count < file.size / RECORD; (*count)++) {
        take_ray(file.data + *count * RECORD, &(*rays)[*count]);
    }
    free(file.data);
    return status;
}
