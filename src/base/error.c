/* See error.h. */
#include "base/error.h"

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
        va_list args;

        err->status = status;
        err->where = where;
        va_start(args, format);
        (void)vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

enum facet_status facet_fail_in(struct facet_error *err, const char *context)
{
    char old[sizeof err->message];

    if (err == NULL) {
        return FACET_ERR_INTERNAL;
    }
    memcpy(old, err->message, sizeof old);
    (void)snprintf(err->message, sizeof err->message, "%.160s: %.300s", context, old);
    return err->status;
}
