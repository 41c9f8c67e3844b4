/* What a suite is run against: Facet in this process, a command line per case, or one program that
 * answers JSON lines. */
#ifndef FACET_CONFORM_TARGET_H
#define FACET_CONFORM_TARGET_H

#include "conform/suite.h"

enum conform_verdict {
    CONFORM_PASS,
    CONFORM_FAIL,        /* another signature */
    CONFORM_TIMEOUT,     /* no answer in time */
    CONFORM_ERROR,       /* no signature: it crashed, or wrote none, or one that cannot be read */
    CONFORM_UNSUPPORTED, /* it cannot run cases of this kind, and said so */
    CONFORM_VERDICTS
};
extern const char *const conform_verdict_name[CONFORM_VERDICTS];

struct conform_result {
    enum conform_verdict verdict;
    char text[240]; /* the first difference, or what went wrong; "" for PASS */
};

struct conform_target;

/* `against`: NULL for Facet itself; "stdio:COMMAND" for a program that is asked by JSON lines; else
 * a command line with {elf} or {case}, and {signature} or {out}. Words are parted by blanks, quotes
 * keep them together; no shell sees them. `stop` is asked again and again while it runs, by any
 * thread; NULL: never. Once it says so, what runs is killed and every case is FACET_ERR_LIMIT. */
enum facet_status conform_target_open(const char *against,
                                      double seconds,
                                      bool (*stop)(void),
                                      struct conform_target **out,
                                      struct facet_error *err);
void conform_target_close(struct conform_target *target); /* NULL is allowed */

/* Runs a case and compares. May be called by several threads at once. FACET_ERR_* only when the
 * suite cannot be read or the host lacks something: that says nothing about the target. `keep`: a
 * folder where what was answered is written as CASE.signature, or NULL. */
enum facet_status conform_target_run(struct conform_target *target,
                                     const struct conform_case *c,
                                     const char *keep,
                                     struct conform_result *result,
                                     struct facet_error *err);

/* A folder for one case, and what a program left in it: all goes. */
void conform_remove_folder(const char *path);

/* Facet's own answer, in the plain way or as fast as it can; the verdict is PASS when there is one.
 * Free got->word in any case. */
enum facet_status conform_facet(const struct conform_case *c,
                                bool plain,
                                struct conform_words *got,
                                struct conform_result *result,
                                struct facet_error *err);

#endif
