/* Running the chosen cases of a suite, on threads and in shared work (share/share.h): a unit is a
 * case. */
#ifndef FACET_CONFORM_RUN_H
#define FACET_CONFORM_RUN_H

#include "conform/target.h"
#include "share/share.h"

struct conform_choice {
    const char *area, *row, *name; /* each may be NULL: all; name: a part of the case's name */
};

struct conform_run {
    const struct conform_suite *suite;
    const char *against; /* NULL: Facet */
    /* Indices of the chosen cases in the suite, by name, and what became of each. */
    size_t *chosen;
    struct conform_result *results;
    size_t count;
    size_t verdicts[CONFORM_VERDICTS];
};

struct conform_how {
    struct conform_choice choice;
    const char *against;
    double seconds;     /* per case */
    bool (*stop)(void); /* see target.h */
    unsigned threads;
    const char *keep; /* a folder for what was answered, or NULL */
    struct facet_share *share;
    struct facet_progress *progress; /* of cases */
};

/* Which cases of the suite are asked for; none is an error. Free *run in any case. */
enum facet_status conform_choose(const struct conform_suite *suite,
                                 const struct conform_choice *choice,
                                 struct conform_run *run,
                                 struct facet_error *err);
/* What shared work consists of: hashes of what is read, and what conform_join needs. Both NULL on
 * failure. */
enum facet_status conform_describe(const struct conform_run *run,
                                   const struct conform_how *how,
                                   json_t **inputs,
                                   json_t **frame,
                                   struct facet_error *err);
/* Runs what was chosen. The results count where the share ends with all of them. */
enum facet_status
conform_run_chosen(struct conform_run *run, const struct conform_how *how, struct facet_error *err);
/* The results of all parts, without running anything; *suite is the one they are of. Free both in
 * any case, the run first. */
enum facet_status conform_join(const struct facet_share_set *set,
                               struct conform_suite *suite,
                               struct conform_run *run,
                               struct facet_error *err);
void conform_run_free(struct conform_run *run);

/* What is known about a requirement row. */
struct conform_row {
    size_t cases;       /* of the suite that name it */
    size_t run, passed; /* of those that were run; `unsupported` ones were not */
    const char *reason; /* that it has none, or NULL */
};
/* One entry per row of facet_requirement_rows, to be freed; `run` may be NULL. */
struct conform_row *conform_rows(const struct conform_suite *suite, const struct conform_run *run);

#endif
