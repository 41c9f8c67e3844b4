/* What became of the cases of `facet conform`, as its options ask for it. */
#ifndef FACET_REPORT_CONFORM_H
#define FACET_REPORT_CONFORM_H

#include "command/command.h"

#include "conform/report.h"

/* The files of --junit and --html, then text or JSON: printed, or into the file of -o. An exit
 * code. */
int report_conform(const struct cli_args *args, const struct conform_run *run);
/* Whether these can be written; the complaint is printed when it returns false. */
bool report_conform_files(const struct cli_args *args);

#endif
