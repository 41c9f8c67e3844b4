/* share/share.h where one process does all the work. */
#include "share/share.h"

enum facet_status facet_share_run(struct facet_share *share,
                                  const struct facet_units *units,
                                  facet_pool *pool,
                                  struct facet_progress *progress,
                                  struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    (void)share;
    for (uint64_t at = 0; at < units->items && status == FACET_OK; at += units->grain) {
        const uint64_t left = units->items - at, step = left < units->grain ? left : units->grain;

        status = units->compute(units->context, at, at + step, pool, err);
        facet_progress_add(progress, step);
    }
    return status;
}

enum facet_status facet_share_set_unpack(const struct facet_share_set *set,
                                         const struct facet_units *units,
                                         struct facet_error *err)
{
    (void)set, (void)units;
    return facet_fail(err, FACET_ERR_USAGE, 0, "a page joins no parts");
}
