/* The work of `facet bvh trace` in units of rays (share/share.h), and what it leaves. */
#ifndef FACET_REPORT_TRACING_H
#define FACET_REPORT_TRACING_H

#include "base/new_file.h"
#include "command/command.h"
#include "gfx12/device/device.h"
#include "report/lost.h"
#include "session/ray_file.h"
#include "session/share.h"

enum {
    REPORT_TRACING_GRAIN = 1 << 16, /* rays of a unit */
    REPORT_TRACING_TOGETHER = 64,   /* units that are computed at a time, at most */
};

struct report_tracing_unit;

struct report_tracing {
    uint64_t count; /* of rays */
    const char *stack;
    bool figures;    /* --stats */
    bool candidates; /* are listed */
    const char
        *trouble; /* with the image by itself, when its base, root or a stack was given; or NULL */
    /* What computing needs. */
    const struct session_rays *rays;
    const char *output; /* of the hits */
    const struct facet_gfx12_view *view;
    struct facet_gfx12_unit unit;
    struct facet_gfx12_query query;
    const facet_gfx12_tracer *tracer;
    facet_gfx12_device *device; /* NULL: the tracer alone */
    bool fallback;              /* the tracer goes on where the device fails */
    bool failed;                /* so it was */
    struct facet_error failure;
    /* Inside: */
    struct facet_new_file made; /* takes hits as they come in; no name: they stay in `records` */
    uint8_t *records;           /* of all hits */
    void *room;                 /* for rays and hits of the device; NULL: none */
    bool shared;                /* parts need what each unit did */
    struct report_tracing_unit *units;
};

/* Traces what is this process's to trace. Free in any case. */
enum facet_status report_tracing_run(struct report_tracing *t,
                                     struct facet_share *share,
                                     facet_pool *pool,
                                     struct facet_progress *progress,
                                     struct facet_error *err);
/* The files of -o and --candidates, both or none, and what is told; the exit code. */
int report_tracing_finish(const struct cli_args *args, struct report_tracing *t);
void report_tracing_free(struct report_tracing *t);
/* Whether hits, candidates and figures have places of their own; the complaint is printed when they
 * have not. */
bool report_tracing_files(const struct cli_args *args, bool figures, bool candidates);

/* What shared work consists of; all parts in memory, to be freed in any case; and their
 * result, an exit code. */
enum facet_status report_tracing_describe(const struct cli_args *args,
                                          struct session_share *share,
                                          const struct report_tracing *t,
                                          struct facet_error *err);
enum facet_status report_tracing_read(const struct facet_share_set *set,
                                      struct report_tracing *t,
                                      struct facet_error *err);
int report_tracing_join(const struct cli_args *args, const struct facet_share_set *set);

#endif
