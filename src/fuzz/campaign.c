/* See campaign.h. */
#include "fuzz/campaign.h"

#include <pthread.h>
#include <string.h>

enum { CHUNK = 32 }; /* cases that share a runner */

void facet_fuzz_draw(const struct facet_fuzz_campaign *campaign,
                     uint64_t number,
                     struct facet_fuzz_case *c)
{
    *c = (struct facet_fuzz_case){.seed = campaign->seed, .number = number};
    campaign->kind->draw(c, campaign->length);
}

/* ---- all cases ---- */

struct work {
    struct facet_fuzz_campaign *campaign;
    struct facet_progress *progress;
    pthread_mutex_t lock;
    enum facet_status status; /* of the first failure */
    struct facet_error *err;
};

/* Keeps the lowest numbers, in order. */
static void keep(struct facet_fuzz_campaign *campaign, const struct facet_fuzz_finding *finding)
{
    size_t at = campaign->finding_count;

    campaign->different++;
    while (at > 0 && campaign->findings[at - 1].smallest.number > finding->smallest.number) {
        at--;
    }
    if (at == FACET_FUZZ_MAX_FINDINGS) {
        return;
    }
    if (campaign->finding_count < FACET_FUZZ_MAX_FINDINGS) {
        campaign->finding_count++;
    }
    memmove(&campaign->findings[at + 1],
            &campaign->findings[at],
            (campaign->finding_count - at - 1) * sizeof campaign->findings[0]);
    campaign->findings[at] = *finding;
}

static void fail(struct work *work, enum facet_status status, const struct facet_error *err)
{
    pthread_mutex_lock(&work->lock);
    if (work->status == FACET_OK) {
        work->status = status;
        if (work->err != NULL) {
            *work->err = *err;
        }
    }
    pthread_mutex_unlock(&work->lock);
}

static void run_some(void *context, size_t begin, size_t end)
{
    struct work *work = context;
    const struct facet_fuzz_kind *kind = work->campaign->kind;
    struct facet_error err = {0};
    void *runner = NULL;
    enum facet_status status = kind->open(work->campaign->against, &runner, &err);

    for (size_t i = begin; i < end && status == FACET_OK; i++) {
        struct facet_fuzz_finding finding = {.drawn = work->campaign->length};

        facet_fuzz_draw(work->campaign, work->campaign->first + i, &finding.smallest);
        status = kind->run(runner, &finding.smallest, &finding.verdict, &err);
        if (status == FACET_OK && finding.verdict.differs) {
            pthread_mutex_lock(&work->lock);
            keep(work->campaign, &finding);
            pthread_mutex_unlock(&work->lock);
        }
        facet_progress_add(work->progress, 1);
    }
    if (status != FACET_OK) {
        fail(work, status, &err);
    }
    kind->close(runner);
}

/* ---- those that differ ---- */

struct shrinking {
    const struct facet_fuzz_kind *kind;
    void *runner;
    struct facet_fuzz_verdict verdict; /* of the last one that differs */
};

static enum facet_status
still_differs(void *context, const struct facet_fuzz_case *c, bool *keeps, struct facet_error *err)
{
    struct shrinking *s = context;
    struct facet_fuzz_verdict verdict;
    enum facet_status status = s->kind->run(s->runner, c, &verdict, err);

    *keeps = status == FACET_OK && verdict.differs;
    if (*keeps) {
        s->verdict = verdict;
    }
    return status;
}

static enum facet_status shrink_all(struct facet_fuzz_campaign *campaign, struct facet_error *err)
{
    struct shrinking s = {.kind = campaign->kind};
    enum facet_status status = s.kind->open(campaign->against, &s.runner, err);

    for (size_t i = 0; i < campaign->finding_count && status == FACET_OK; i++) {
        s.verdict = campaign->findings[i].verdict;
        status = facet_fuzz_shrink(&campaign->findings[i].smallest, still_differs, &s, err);
        campaign->findings[i].verdict = s.verdict;
    }
    s.kind->close(s.runner);
    return status;
}

enum facet_status facet_fuzz_run(struct facet_fuzz_campaign *campaign,
                                 facet_pool *pool,
                                 struct facet_progress *progress,
                                 struct facet_error *err)
{
    struct work work = {.campaign = campaign, .progress = progress, .err = err};

    campaign->finding_count = 0;
    campaign->different = 0;
    pthread_mutex_init(&work.lock, NULL);
    facet_pool_for(pool, campaign->count, CHUNK, run_some, &work);
    pthread_mutex_destroy(&work.lock);
    return work.status == FACET_OK ? shrink_all(campaign, err) : work.status;
}
