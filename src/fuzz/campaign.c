/* See campaign.h. */
#include "fuzz/campaign.h"

#include "base/bits.h"

#include <stdlib.h>
#include <string.h>

void facet_fuzz_draw(const struct facet_fuzz_campaign *campaign,
                     uint64_t number,
                     struct facet_fuzz_case *c)
{
    *c = (struct facet_fuzz_case){.seed = campaign->seed, .number = number};
    campaign->kind->draw(c, campaign->length);
}

/* ---- what is found ---- */

/* Keeps the lowest numbers, in order. */
static void keep(struct facet_fuzz_campaign *campaign, const struct facet_fuzz_finding *finding)
{
    size_t at = campaign->finding_count;

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

/* Whether a finding can be among those that are kept in the end: otherwise it only counts. */
static bool is_kept(struct facet_fuzz_campaign *campaign, uint64_t number)
{
    bool kept;

    (void)pthread_mutex_lock(&campaign->lock);
    kept = campaign->finding_count < FACET_FUZZ_MAX_FINDINGS ||
           campaign->findings[FACET_FUZZ_MAX_FINDINGS - 1].smallest.number > number;
    (void)pthread_mutex_unlock(&campaign->lock);
    return kept;
}

/* In all ways of Facet, or in that of another implementation. */
static enum facet_status run_one(const struct facet_fuzz_campaign *campaign,
                                 void *runner,
                                 const struct facet_fuzz_case *c,
                                 struct facet_fuzz_verdict *verdict,
                                 struct facet_error *err)
{
    return campaign->against != NULL
               ? facet_fuzz_against(campaign->against, campaign->kind, c, verdict, err)
               : campaign->kind->run(runner, c, verdict, err);
}

struct shrinking {
    const struct facet_fuzz_campaign *campaign;
    void *runner;
    struct facet_fuzz_verdict verdict; /* of the last one that differs */
};

static enum facet_status
still_differs(void *context, const struct facet_fuzz_case *c, bool *keeps, struct facet_error *err)
{
    struct shrinking *s = context;
    struct facet_fuzz_verdict verdict;
    enum facet_status status = run_one(s->campaign, s->runner, c, &verdict, err);

    *keeps = status == FACET_OK && verdict.differs;
    if (*keeps) {
        s->verdict = verdict;
    }
    return status;
}

static enum facet_status found(struct facet_fuzz_campaign *campaign,
                               void *runner,
                               struct facet_fuzz_finding *finding,
                               struct facet_error *err)
{
    struct shrinking s = {campaign, runner, finding->verdict};
    enum facet_status status;

    if (!is_kept(campaign, finding->smallest.number)) {
        return FACET_OK;
    }
    status = facet_fuzz_shrink(&finding->smallest, still_differs, &s, err);
    finding->verdict = s.verdict;
    (void)pthread_mutex_lock(&campaign->lock);
    keep(campaign, finding);
    (void)pthread_mutex_unlock(&campaign->lock);
    return status;
}

/* ---- cases as units ---- */

enum { FEWEST = 32, MOST_UNITS = 1 << 20 }; /* cases that share a runner; units of a campaign */

uint64_t facet_fuzz_grain(const struct facet_fuzz_campaign *campaign)
{
    const uint64_t grain = campaign->count / MOST_UNITS + 1;

    return grain > FEWEST ? grain : FEWEST;
}

static uint64_t *differing(const struct facet_fuzz_campaign *campaign, uint64_t begin)
{
    return &campaign->of_unit[begin / facet_fuzz_grain(campaign)];
}

static enum facet_status
run_some(void *context, uint64_t begin, uint64_t end, facet_pool *pool, struct facet_error *err)
{
    struct facet_fuzz_campaign *campaign = context;
    const struct facet_fuzz_kind *kind = campaign->kind;
    void *runner = NULL;
    enum facet_status status = campaign->against == NULL ? kind->open(&runner, err) : FACET_OK;

    (void)pool;
    for (uint64_t i = begin; i < end && status == FACET_OK; i++) {
        struct facet_fuzz_finding finding = {.drawn = campaign->length};

        facet_fuzz_draw(campaign, campaign->first + i, &finding.smallest);
        status = run_one(campaign, runner, &finding.smallest, &finding.verdict, err);
        if (status == FACET_OK && finding.verdict.differs) {
            ++*differing(campaign, begin);
            status = found(campaign, runner, &finding, err);
        }
    }
    if (runner != NULL) {
        kind->close(runner);
    }
    return status;
}

static void put_u64(struct facet_strbuf *out, uint64_t value)
{
    uint8_t bytes[8];

    facet_store_le64(bytes, value);
    facet_strbuf_add(out, (const char *)bytes, sizeof bytes);
}

/* How many differ; then of those that are kept number, items and text, with their sizes. */
static void pack(void *context, uint64_t begin, uint64_t end, struct facet_strbuf *out)
{
    struct facet_fuzz_campaign *campaign = context;

    put_u64(out, *differing(campaign, begin));
    (void)pthread_mutex_lock(&campaign->lock);
    for (size_t i = 0; i < campaign->finding_count; i++) {
        const struct facet_fuzz_finding *f = &campaign->findings[i];
        const uint64_t at = f->smallest.number - campaign->first;

        if (at < begin || at >= end) {
            continue;
        }
        put_u64(out, f->smallest.number);
        put_u64(out, f->smallest.count);
        put_u64(out, strlen(f->verdict.text));
        for (size_t k = 0; k < f->smallest.count; k++) {
            uint8_t bytes[4];

            facet_store_le32(bytes, f->smallest.item[k]);
            facet_strbuf_add(out, (const char *)bytes, sizeof bytes);
        }
        facet_strbuf_puts(out, f->verdict.text);
    }
    (void)pthread_mutex_unlock(&campaign->lock);
}

/* One finding of a unit; false when there is none like that. */
static bool get_finding(struct facet_fuzz_campaign *campaign,
                        uint64_t begin,
                        uint64_t end,
                        const uint8_t **at,
                        const uint8_t *last)
{
    struct facet_fuzz_finding f = {.drawn = campaign->length, .verdict.differs = true};
    const size_t left = (size_t)(last - *at);
    uint64_t count, length;

    if (left < 24) {
        return false;
    }
    f.smallest.seed = campaign->seed;
    f.smallest.number = facet_load_le64(*at);
    count = facet_load_le64(*at + 8);
    length = facet_load_le64(*at + 16);
    *at += 24;
    if (f.smallest.number < campaign->first || f.smallest.number - campaign->first < begin ||
        f.smallest.number - campaign->first >= end || count > campaign->length ||
        length >= sizeof f.verdict.text || left - 24 < 4 * count + length ||
        memchr(*at + 4 * count, 0, length) != NULL) {
        return false;
    }
    f.smallest.count = (size_t)count;
    for (size_t k = 0; k < count; k++, *at += 4) {
        f.smallest.item[k] = facet_load_le32(*at);
    }
    memcpy(f.verdict.text, *at, length);
    *at += length;
    (void)pthread_mutex_lock(&campaign->lock);
    keep(campaign, &f);
    (void)pthread_mutex_unlock(&campaign->lock);
    return true;
}

static enum facet_status unpack(void *context,
                                uint64_t begin,
                                uint64_t end,
                                const uint8_t *bytes,
                                size_t size,
                                struct facet_error *err)
{
    struct facet_fuzz_campaign *campaign = context;
    const uint8_t *const last = bytes + size;
    bool sound = size >= 8 && facet_load_le64(bytes) <= end - begin;

    if (sound) {
        *differing(campaign, begin) = facet_load_le64(bytes);
        for (bytes += 8; sound && bytes < last;) {
            sound = get_finding(campaign, begin, end, &bytes, last);
        }
    }
    return sound ? FACET_OK
                 : facet_fail(err,
                              FACET_ERR_INPUT,
                              0,
                              "the cases from %llu make no sense",
                              (unsigned long long)begin);
}

/* ---- the campaign ---- */

static enum facet_status run_all(struct facet_fuzz_campaign *campaign,
                                 struct facet_share *share,
                                 const struct facet_share_set *set,
                                 facet_pool *pool,
                                 struct facet_progress *progress,
                                 struct facet_error *err)
{
    const struct facet_units units = {.items = campaign->count,
                                      .grain = facet_fuzz_grain(campaign),
                                      .context = campaign,
                                      .compute = run_some,
                                      .pack = pack,
                                      .unpack = unpack};
    const uint64_t count = facet_share_unit_count(&units);
    enum facet_status status;

    campaign->finding_count = 0;
    campaign->different = 0;
    campaign->of_unit = calloc(count, sizeof *campaign->of_unit);
    if (campaign->of_unit == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the cases");
    }
    (void)pthread_mutex_init(&campaign->lock, NULL);
    status = set != NULL ? facet_share_set_unpack(set, &units, err)
                         : facet_share_run(share, &units, pool, progress, err);
    (void)pthread_mutex_destroy(&campaign->lock);
    for (uint64_t i = 0; i < count; i++) {
        campaign->different += campaign->of_unit[i];
    }
    free(campaign->of_unit);
    return status;
}

enum facet_status facet_fuzz_run(struct facet_fuzz_campaign *campaign,
                                 struct facet_share *share,
                                 facet_pool *pool,
                                 struct facet_progress *progress,
                                 struct facet_error *err)
{
    return run_all(campaign, share, NULL, pool, progress, err);
}

enum facet_status facet_fuzz_join(struct facet_fuzz_campaign *campaign,
                                  const struct facet_share_set *set,
                                  struct facet_error *err)
{
    return run_all(campaign, NULL, set, NULL, NULL, err);
}
