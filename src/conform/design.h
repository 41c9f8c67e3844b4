/* A design that is a shared library (facet/design.h), asked for one case after the other. */
#ifndef FACET_CONFORM_DESIGN_H
#define FACET_CONFORM_DESIGN_H

#include "base/strbuf.h"
#include "conform/target.h"

struct conform_design;

enum facet_status
conform_design_open(const char *path, struct conform_design **out, struct facet_error *err);
void conform_design_close(struct conform_design *design); /* NULL is allowed */

/* What it answered: result->verdict PASS with words, FAIL with the first difference in a line, or
 * what else became of the case. */
struct conform_design_answer {
    struct conform_result result;
    struct conform_words words;
    struct facet_strbuf report; /* of a session: lines about the difference */
    struct facet_blob state;    /* a snapshot from before it */
};

/* FACET_ERR_* only for what is no matter of the design. Release the answer in any case. */
enum facet_status conform_design_run(struct conform_design *design,
                                     const struct conform_case *c,
                                     struct conform_design_answer *answer,
                                     struct facet_error *err);
void conform_design_answer_free(struct conform_design_answer *answer);

/* Answers the lines of `in` (ask.c) until its end, into the descriptor `out`. */
enum facet_status conform_serve(const char *library, FILE *in, int out, struct facet_error *err);

#endif
