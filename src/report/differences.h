/* Fields in which two images differ. */
#ifndef FACET_REPORT_DIFFERENCES_H
#define FACET_REPORT_DIFFERENCES_H

#include "command/command.h"

struct json_t;

/* As text while they come or as JSON at the end. */
struct report_differences {
    const char *keys[2]; /* of the places in JSON */
    struct json_t *list; /* NULL: text */
    uint64_t shown, limit;
};
#define REPORT_WHOLE_IMAGE UINT64_MAX /* in place of an offset */
/* Shows a field that differs; past the limit they are counted. */
void report_differences_add(struct report_differences *out,
                            const uint64_t offsets[2],
                            const char *field,
                            const uint64_t values[2]);
/* Prints what is left and returns the exit code. */
int report_differences_end(const struct cli_args *args, struct report_differences *out);

#endif
