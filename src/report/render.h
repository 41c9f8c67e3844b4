/* What `facet render` was asked for and what came of it. */
#ifndef FACET_REPORT_RENDER_H
#define FACET_REPORT_RENDER_H

#include "command/command.h"

#include "base/file.h"
#include "render/render.h"
#include "session/share.h"

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
    struct session_share *share; /* NULL: all is drawn here */
};

struct render_outcome {
    struct facet_render_report report;
    json_t *bvh;      /* statistics of the acceleration structure; NULL: not asked for */
    json_t *left_out; /* of the scene */
    uint32_t flat_instances;
    unsigned threads;
    double seconds[PHASE_COUNT];
    double heat_limit;
    float exposure; /* what light is multiplied by on its way to pixels */
    uint64_t hash;
};

/* The pixels that a PNG file shows. */
enum facet_status report_render_picture(const struct render_request *r,
                                        const struct facet_render_options *options,
                                        const struct facet_image_f *image,
                                        struct render_outcome *o,
                                        struct facet_image *out,
                                        struct facet_error *err);
/* The bytes of the picture's file. */
enum facet_status report_render_encode(const struct render_request *r,
                                       const struct facet_render_options *options,
                                       const struct facet_image_f *image,
                                       struct render_outcome *o,
                                       struct facet_bytes *out,
                                       struct facet_error *err);
/* -o of the command: its kind follows from the name. The complaint is printed when it returns
 * false. */
bool report_render_output(const struct cli_args *args, struct render_request *r);

/* NULL when memory is short. */
json_t *report_render_outcome_json(const struct render_request *r,
                                   const struct facet_render_options *options,
                                   const struct render_outcome *o);
/* The picture, and the statistics file when that was asked for: both or none. */
enum facet_status report_render_write(const struct render_request *r,
                                      const struct facet_bytes *picture,
                                      const json_t *stats,
                                      const struct facet_file_part *more,
                                      struct facet_error *err);
/* JSON or text, as asked for; returns the exit code. */
int report_render_tell(const struct cli_args *args,
                       const struct render_request *r,
                       const struct facet_render_options *options,
                       const struct render_outcome *o);

/* What joining needs besides the buckets; and the result of all parts, an exit code. */
json_t *report_render_frame(const struct render_request *r,
                            const struct facet_render_options *options,
                            const struct render_outcome *o);
int report_render_join(const struct cli_args *args, const struct facet_share_set *set);

#endif
