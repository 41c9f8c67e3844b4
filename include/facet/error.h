/* What went wrong, where, and what was expected: the one error type of the public API.
 *
 * Two kinds of failure never mix. A guest trap or fault is a result of the simulated architecture
 * and has types of its own; a host error (bad file, bad argument, no memory) is a facet_status plus
 * an optional facet_error. */
#ifndef FACET_ERROR_H
#define FACET_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum facet_status {
    FACET_OK = 0,
    FACET_ERR_USAGE,    /* the caller asked for something that does not exist */
    FACET_ERR_INPUT,    /* malformed file, text or image */
    FACET_ERR_IO,       /* the host refused to read or write */
    FACET_ERR_MEMORY,   /* an allocation failed */
    FACET_ERR_LIMIT,    /* well formed, but beyond a stated limit */
    FACET_ERR_FAULT,    /* a guest address outside guest memory */
    FACET_ERR_INTERNAL, /* a bug in Facet */
};

struct facet_error {
    enum facet_status status;
    uint64_t where; /* guest address, byte offset or line: the message says which */
    char message[480];
};

/* "ok", "usage error", ... ; never NULL. */
const char *facet_status_name(enum facet_status status);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
