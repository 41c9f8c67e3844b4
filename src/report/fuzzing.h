/* What `facet fuzz` found, and its cases as files. */
#ifndef FACET_REPORT_FUZZING_H
#define FACET_REPORT_FUZZING_H

#include "command/command.h"

#include "fuzz/campaign.h"

/* --emit: all cases into the folder. An exit code, as of the other. */
int report_fuzz_emit(const struct cli_args *args,
                     const struct facet_fuzz_campaign *campaign,
                     const char *folder);
/* The findings as text or JSON; into the folder unless it is NULL. */
int report_fuzz_findings(const struct cli_args *args,
                         const struct facet_fuzz_campaign *campaign,
                         const char *folder);

/* What joining needs besides the cases; and the result of all parts, an exit code. */
struct json_t;
struct json_t *report_fuzz_frame(const struct facet_fuzz_campaign *campaign);
int report_fuzz_join(const struct cli_args *args, const struct facet_share_set *set);

#endif
