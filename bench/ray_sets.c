/* See ray_sets.h. */
#include "bench/ray_sets.h"

#include "base/error.h"
#include "bench/bench.h"

#include <stdlib.h>

enum facet_status ray_sets_make(struct ray_sets *sets, struct facet_error *err)
{
    bool good;

    *sets = (struct ray_sets){.hits = malloc(RAYS * sizeof sets->hits[0])};
    good = sets->hits != NULL;
    for (unsigned set = 0; set < SETS; set++) {
        sets->rays[set] = malloc(RAYS * sizeof sets->rays[0][0]);
        good = good && sets->rays[set] != NULL;
    }
    return good ? FACET_OK : facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
}

enum facet_status ray_sets_peer_rate(struct ray_sets *sets,
                                     const struct facet_scene *scene,
                                     enum ray_set set,
                                     double seconds,
                                     double *value,
                                     struct facet_error *err)
{
    enum facet_status status =
        sets->peer == NULL ? embree_peer_create(scene, false, &sets->peer, err) : FACET_OK;
    struct bench_meter meter;

    if (status != FACET_OK) {
        return status;
    }
    meter = bench_meter_start(seconds);
    do {
        embree_peer_trace(sets->peer, sets->rays[set], sets->count[set], sets->hits);
    } while (bench_meter_more(&meter, sets->count[set]));
    *value = bench_meter_rate(&meter);
    return FACET_OK;
}
