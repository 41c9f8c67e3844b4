/* See error.h. */
#include "base/error.h"

#include "base/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *facet_status_name(enum facet_status status)
{
    switch (status) {
    case FACET_OK:
        return "ok";
    case FACET_ERR_USAGE:
        return "usage error";
    case FACET_ERR_INPUT:
        return "bad input";
    case FACET_ERR_IO:
        return "input/output error";
    case FACET_ERR_MEMORY:
        return "out of memory";
    case FACET_ERR_LIMIT:
        return "limit exceeded";
    case FACET_ERR_FAULT:
        return "guest memory fault";
    case FACET_ERR_INTERNAL:
        return "internal error";
    }
    return "unknown status";
}

enum facet_status facet_fail(
    struct facet_error *err, enum facet_status status, uint64_t where, const char *format, ...)
{
    if (err != NULL) {
        char raw[sizeof err->message];
        va_list args;

        err->status = status;
        err->where = where;
        va_start(args, format);
        (void)vsnprintf(raw, sizeof raw, format, args);
        va_end(args);
        facet_plain_text(err->message, sizeof err->message, raw, strlen(raw));
    }
    return status;
}

void facet_fail_in(struct facet_error *err, const char *context)
{
    char raw[sizeof err->message];

    if (err != NULL) {
        (void)snprintf(raw, sizeof raw, "%.160s: %.300s", context, err->message);
        facet_plain_text(err->message, sizeof err->message, raw, strlen(raw));
    }
}
