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

void ray_sets_make_squares(struct ray_sets *sets)
{
    enum { SQUARE = 16, SIDE = 4, BLOCK = SIDE * SIDE };
    struct facet_gfx12_batch_ray *out = sets->rays[SQUARES];

    for (uint32_t y = 0; y < HEIGHT; y += SQUARE) {
        for (uint32_t x = 0; x < WIDTH; x += SQUARE) {
            for (uint32_t i = 0; i < SQUARE * SQUARE; i++) {
                const uint32_t block = i / BLOCK, in = i % BLOCK;
                const uint32_t column = x + block % (SQUARE / SIDE) * SIDE + in % SIDE;
                const uint32_t row = y + block / (SQUARE / SIDE) * SIDE + in / SIDE;

                if (row < HEIGHT && column < WIDTH) {
                    *out++ = sets->rays[PRIMARY][(size_t)row * WIDTH + column];
                }
            }
        }
    }
    sets->count[SQUARES] = (size_t)(out - sets->rays[SQUARES]);
}

static enum facet_status
need_peer(struct ray_sets *sets, const struct facet_scene *scene, struct facet_error *err)
{
    return sets->peer == NULL ? embree_peer_create(scene, false, &sets->peer, err) : FACET_OK;
}

enum facet_status ray_sets_peer_rate(struct ray_sets *sets,
                                     const struct facet_scene *scene,
                                     enum ray_set set,
                                     embree_tracing *trace,
                                     double seconds,
                                     double *value,
                                     struct facet_error *err)
{
    enum facet_status status = need_peer(sets, scene, err);
    struct bench_meter meter;

    if (status != FACET_OK) {
        return status;
    }
    meter = bench_meter_start(seconds);
    do {
        trace(sets->peer, sets->rays[set], sets->count[set], sets->hits);
    } while (bench_meter_more(&meter, sets->count[set]));
    *value = bench_meter_rate(&meter);
    return FACET_OK;
}

enum facet_status ray_sets_stream_rate(struct ray_sets *sets,
                                       const struct facet_scene *scene,
                                       double seconds,
                                       double *value,
                                       struct facet_error *err)
{
    enum facet_status status = need_peer(sets, scene, err);

    if (status == FACET_OK && sets->stream == NULL) {
        status = embree_stream_create(
            sets->peer, sets->rays[SQUARES], sets->count[SQUARES], &sets->stream, err);
    }
    if (status != FACET_OK) {
        return status;
    }
    *value = 0;
    for (unsigned packets = 0; packets < 2; packets++) {
        struct bench_meter meter = bench_meter_start(0.5 * seconds);

        do {
            embree_stream_trace(sets->stream, packets != 0);
        } while (bench_meter_more(&meter, sets->count[SQUARES]));
        *value = bench_meter_rate(&meter) > *value ? bench_meter_rate(&meter) : *value;
    }
    return FACET_OK;
}
