/* What the files of `facet render` share: cmd_render.c reads the options and draws, render_report.c
 * says what was done, render_all.c puts the pictures of all machines on one sheet. */
#ifndef FACET_CLI_RENDER_H
#define FACET_CLI_RENDER_H

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
    json_t *bvh; /* statistics of the acceleration structure; NULL: not asked for */
    uint32_t flat_instances;
    unsigned threads;
    double seconds[PHASE_COUNT];
    double heat_limit;
    uint64_t hash;
};

/* Prints the complaint when it returns false. */
bool render_read_options(const struct cli_args *args,
                         const struct render_request *r,
                         const struct facet_scene *scene,
                         struct facet_render_options *out);
enum facet_status render_draw(const struct cli_args *args,
                              const struct facet_scene *scene,
                              const struct facet_render_options *options,
                              const struct render_request *r,
                              struct facet_image_f *image,
                              struct render_outcome *o,
                              struct facet_error *err);
/* The pixels that a PNG file shows. */
enum facet_status render_make_picture(const struct render_request *r,
                                      const struct facet_scene *scene,
                                      const struct facet_render_options *options,
                                      const struct facet_image_f *image,
                                      struct render_outcome *o,
                                      struct facet_image *out,
                                      struct facet_error *err);

/* NULL when memory is short. */
json_t *render_outcome_json(const struct render_request *r,
                            const struct facet_scene *scene,
                            const struct facet_render_options *options,
                            const struct render_outcome *o);
/* The picture, and the statistics file when that was asked for: both or none. */
enum facet_status render_write(const struct render_request *r,
                               const struct facet_bytes *picture,
                               const json_t *stats,
                               struct facet_error *err);
/* JSON or text, as asked for; returns the exit code. */
int render_tell(const struct cli_args *args,
                const struct render_request *r,
                const struct facet_scene *scene,
                const struct facet_render_options *options,
                const struct render_outcome *o);

/* --machine all; returns the exit code. */
int render_all(const struct cli_args *args,
               const struct render_request *r,
               const struct facet_scene *scene);

#endif
