/* Running the chosen cases of a suite, on threads, with a file that remembers what is done. */
#ifndef FACET_CONFORM_RUN_H
#define FACET_CONFORM_RUN_H

#include "conform/target.h"

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
    size_t resumed; /* taken from the file */
};

struct conform_how {
    struct conform_choice choice;
    const char *against;
    double seconds;     /* per case */
    bool (*stop)(void); /* see target.h */
    unsigned threads;
    const char *resume; /* a file, or NULL */
    const char *keep;   /* a folder for what was answered, or NULL */
};

/* Free *run in any case. */
enum facet_status conform_run_suite(const struct conform_suite *suite,
                                    const struct conform_how *how,
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
