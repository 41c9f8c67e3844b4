/* What a run of a suite found: for a person, a script, a test server and a reader. */
#ifndef FACET_CONFORM_REPORT_H
#define FACET_CONFORM_REPORT_H

#include "base/file.h"
#include "conform/run.h"

#include <stdio.h>

/* Cases that did not pass, with their rows, and the count. `all` lists the others too. */
void conform_print(FILE *file, const struct conform_run *run, bool all);
json_t *conform_json(const struct conform_run *run);
/* Whether all that was run passed. */
bool conform_good(const struct conform_run *run);
/* Files for others, all or none; a name, and `other`, may be NULL. `junit`: XML, a test suite per
 * folder of cases. `html`: one page with areas, rows, their texts and resolutions, cases and what
 * became of them. */
enum facet_status conform_write(const struct conform_run *run,
                                const char *junit,
                                const char *html,
                                const struct facet_file_part *other,
                                struct facet_error *err);

/* Whether a row is of this area; NULL: all. */
bool conform_has_area(const char *area);
/* Rows with a case, rows with a reason, rows with neither. */
void conform_print_rows(FILE *file, const struct conform_row *rows, const char *area, bool missing);
json_t *conform_rows_json(const struct conform_row *rows, const char *area, bool missing);

#endif
