/* What `facet render` was asked for and what came of it. */
#ifndef FACET_REPORT_RENDER_H
#define FACET_REPORT_RENDER_H

#include "command/command.h"

#include "base/file.h"
#include "render/render.h"

#include <jansson.h>

/* The last one is making the bytes of the picture's file. */
enum render_phase { PHASE_IMPORT, PHASE_BUILD, PHASE_RENDER, PHASE_WRITE, PHASE_COUNT };

enum render_kind { KIND_PNG, KIND_FLOAT };

struct render_request {
    const char *scene, *output, *stats;
    enum render_kind kind;
    uint64_t width, height, threads;
    uint64_t spp, seed, ao_rays, bounces;
    double exposure, ao_distance, heat_limit;
    bool clamp;
};

struct render_outcome {
    struct facet_render_report report;
    json_t *bvh;      /* statistics of the acceleration structure; NULL: not asked for */
    json_t *left_out; /* of the scene */
    uint32_t flat_instances;
    unsigned threads;
    double seconds[PHASE_COUNT];
    double heat_limit;
    uint64_t hash;
};

/* NULL when memory is short. */
json_t *report_render_outcome_json(const struct render_request *r,
                                   const struct facet_render_options *options,
                                   const struct render_outcome *o);
/* The picture, and the statistics file when that was asked for: both or none. */
enum facet_status report_render_write(const struct render_request *r,
                                      const struct facet_bytes *picture,
                                      const json_t *stats,
                                      struct facet_error *err);
/* JSON or text, as asked for; returns the exit code. */
int report_render_tell(const struct cli_args *args,
                       const struct render_request *r,
                       const struct facet_render_options *options,
                       const struct render_outcome *o);

#endif
