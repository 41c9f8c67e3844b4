/* Many cases of one kind: run, and those that show a difference made small. */
#ifndef FACET_FUZZ_CAMPAIGN_H
#define FACET_FUZZ_CAMPAIGN_H

#include "fuzz/kinds.h"
#include "share/share.h"

#include <pthread.h>

enum { FACET_FUZZ_MAX_FINDINGS = 16, FACET_FUZZ_PATH = 4096 };

struct facet_fuzz_finding {
    struct facet_fuzz_case smallest;
    size_t drawn; /* items before shrinking */
    struct facet_fuzz_verdict verdict;
};

struct facet_fuzz_campaign {
    const struct facet_fuzz_kind *kind;
    uint64_t seed;
    uint64_t first, count;          /* numbers of cases */
    size_t length;                  /* items of a case, 1..FACET_FUZZ_MAX_ITEMS */
    struct conform_target *against; /* instead of Facet's own ways; NULL: none */
    bool foreign;                   /* there is, or in a part there was, such a thing */
    struct facet_fuzz_finding findings[FACET_FUZZ_MAX_FINDINGS]; /* by number */
    size_t finding_count;                                        /* kept */
    uint64_t different;                                          /* all that were found */
    /* Inside: */
    uint64_t *of_unit; /* how many were found there */
    pthread_mutex_t lock;
};

/* Case `number` as it is drawn. */
void facet_fuzz_draw(const struct facet_fuzz_campaign *campaign,
                     uint64_t number,
                     struct facet_fuzz_case *c);

/* How many cases are a unit of shared work. */
uint64_t facet_fuzz_grain(const struct facet_fuzz_campaign *campaign);
/* Runs the cases that are this process's (share/share.h); the result does not depend on threads,
 * parts or processes. Of many findings those with the lowest numbers are kept and made small. */
enum facet_status facet_fuzz_run(struct facet_fuzz_campaign *campaign,
                                 struct facet_share *share,
                                 facet_pool *pool,
                                 struct facet_progress *progress,
                                 struct facet_error *err);
/* The same out of parts. */
enum facet_status facet_fuzz_join(struct facet_fuzz_campaign *campaign,
                                  const struct facet_share_set *set,
                                  struct facet_error *err);

/* Compares Facet's plain way and another implementation, by files of a folder that goes afterwards.
 */
enum facet_status facet_fuzz_against(struct conform_target *against,
                                     const struct facet_fuzz_kind *kind,
                                     const struct facet_fuzz_case *c,
                                     struct facet_fuzz_verdict *verdict,
                                     struct facet_error *err);

/* Writes the files of the case as FOLDER/KIND-SEED-NUMBER with their ends, and what the plain way
 * answers as .signature: *answered is false when there is no answer, and no such file. The folder
 * is made when it is missing. `path` gets the name without an end. */
enum facet_status facet_fuzz_write(const struct facet_fuzz_kind *kind,
                                   const struct facet_fuzz_case *c,
                                   const char *folder,
                                   char path[FACET_FUZZ_PATH],
                                   bool *answered,
                                   struct facet_error *err);

/* FOLDER/suite.json and rows.tsv, so that facet conform replays what was written: `suite` collects
 * the cases, by their paths. */
void facet_fuzz_suite_add(struct facet_strbuf *suite,
                          const struct facet_fuzz_kind *kind,
                          const char *path);
enum facet_status facet_fuzz_suite_write(const struct facet_strbuf *suite,
                                         const char *folder,
                                         struct facet_error *err);

#endif
