/* Filling in a facet_error. Every function accepts err == NULL and returns the status, so that a
 * failing path is one line: return facet_fail(err, FACET_ERR_INPUT, offset, "%s: ...", path). Names
 * may hold anything: the message is one line that no terminal obeys (plain.h). */
#ifndef FACET_BASE_ERROR_H
#define FACET_BASE_ERROR_H

#include <facet/error.h>
#include <stddef.h>

enum facet_status facet_fail(struct facet_error *err,
                             enum facet_status status,
                             uint64_t where,
                             const char *format,
                             ...) __attribute__((format(printf, 4, 5)));

/* Puts "context: " before the message that is already there (a file name before a parser's
 * complaint). The status stays what it is. */
void facet_fail_in(struct facet_error *err, const char *context);

#endif
