/* See wave.h. */
#include "render/wave.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The rays of one caller, who waits. */
struct request {
    const struct facet_gfx12_query *common;
    const struct facet_gfx12_batch_ray *rays;
    size_t count;
    struct facet_gfx12_hit *hits;
    struct facet_gfx12_stats *stats;
    bool done;
    enum facet_status status;
    struct facet_error err;
    struct request *next;
};

struct facet_render_waves {
    facet_gfx12_device *device;
    const facet_gfx12_tracer *host;
    pthread_mutex_t lock; /* of the two below and of the requests */
    pthread_cond_t change;
    struct request *waiting;
    bool away; /* a wave is under way */
};

enum facet_status facet_render_waves_new(facet_gfx12_device *device,
                                         const facet_gfx12_tracer *host,
                                         struct facet_render_waves **out,
                                         struct facet_error *err)
{
    struct facet_render_waves *w = calloc(1, sizeof *w);

    *out = w;
    if (w == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    w->device = device;
    w->host = host;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->change, NULL);
    return FACET_OK;
}

void facet_render_waves_free(struct facet_render_waves *waves)
{
    if (waves != NULL) {
        pthread_cond_destroy(&waves->change);
        pthread_mutex_destroy(&waves->lock);
        free(waves);
    }
}

/* Takes all requests with the flags of the first out of those that wait. */
static struct request *take_wave(struct facet_render_waves *w)
{
    const uint32_t flags = w->waiting->common->api_flags;
    struct request *wave = NULL, **from = &w->waiting;

    while (*from != NULL) {
        struct request *r = *from;

        if (r->common->api_flags == flags) {
            *from = r->next;
            r->next = wave;
            wave = r;
        } else {
            from = &r->next;
        }
    }
    return wave;
}

struct wave_memory {
    struct facet_gfx12_batch_ray *rays;
    struct facet_gfx12_hit *hits;
    struct facet_gfx12_stats *stats;
};

static enum facet_status trace_wave(struct facet_render_waves *w,
                                    const struct request *wave,
                                    const struct wave_memory *m,
                                    struct facet_error *err)
{
    size_t count = 0;
    enum facet_status status;

    for (const struct request *r = wave; r != NULL; r = r->next) {
        memcpy(m->rays + count, r->rays, r->count * sizeof *m->rays);
        count += r->count;
    }
    status = facet_gfx12_device_trace(w->device,
                                      &(struct facet_gfx12_device_batch){.host = w->host,
                                                                         .common = wave->common,
                                                                         .rays = m->rays,
                                                                         .count = count,
                                                                         .hits = m->hits,
                                                                         .each = m->stats},
                                      err);
    count = 0;
    for (const struct request *r = wave; status == FACET_OK && r != NULL; r = r->next) {
        memcpy(r->hits, m->hits + count, r->count * sizeof *m->hits);
        memcpy(r->stats, m->stats + count, r->count * sizeof *m->stats);
        count += r->count;
    }
    return status;
}

/* The requests are this thread's alone until they are done. */
static enum facet_status
send(struct facet_render_waves *w, const struct request *wave, struct facet_error *err)
{
    size_t count = 0;
    struct wave_memory m;
    enum facet_status status;

    for (const struct request *r = wave; r != NULL; r = r->next) {
        count += r->count;
    }
    m = (struct wave_memory){.rays = malloc(count * sizeof *m.rays),
                             .hits = malloc(count * sizeof *m.hits),
                             .stats = malloc(count * sizeof *m.stats)};
    status = m.rays != NULL && m.hits != NULL && m.stats != NULL
                 ? trace_wave(w, wave, &m, err)
                 : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %zu rays", count);
    free(m.rays);
    free(m.hits);
    free(m.stats);
    return status;
}

enum facet_status facet_render_waves_trace(struct facet_render_waves *waves,
                                           const struct facet_gfx12_query *common,
                                           const struct facet_gfx12_batch_ray *rays,
                                           size_t count,
                                           struct facet_gfx12_hit *hits,
                                           struct facet_gfx12_stats *stats,
                                           struct facet_error *err)
{
    struct request own = {
        .common = common, .rays = rays, .count = count, .hits = hits, .stats = stats};

    if (count == 0) {
        return FACET_OK;
    }
    pthread_mutex_lock(&waves->lock);
    own.next = waves->waiting;
    waves->waiting = &own;
    while (!own.done) {
        struct facet_error trouble = {0};
        struct request *wave;
        enum facet_status status;

        if (waves->away || waves->waiting == NULL) {
            pthread_cond_wait(&waves->change, &waves->lock);
            continue;
        }
        wave = take_wave(waves);
        waves->away = true;
        pthread_mutex_unlock(&waves->lock);
        status = send(waves, wave, &trouble);
        pthread_mutex_lock(&waves->lock);
        waves->away = false;
        while (wave != NULL) {
            struct request *next = wave->next; /* done ones vanish with their threads */

            wave->status = status;
            wave->err = trouble;
            wave->done = true;
            wave = next;
        }
        pthread_cond_broadcast(&waves->change);
    }
    pthread_mutex_unlock(&waves->lock);
    if (own.status != FACET_OK && err != NULL) {
        *err = own.err;
    }
    return own.status;
}
