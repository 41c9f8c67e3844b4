/* Reading a scene for a command, and saying what it did not take (struct facet_left_out). */
#ifndef FACET_REPORT_LEFT_OUT_H
#define FACET_REPORT_LEFT_OUT_H

#include "command/command.h"

#include "scene/import.h"

struct json_t;

#define REPORT_POSE_OPTIONS                                                                        \
    {"time", 0, "T", "glTF: the scene at this second of its animation (default: its rest pose)"},  \
    {                                                                                              \
        "animation", 0, "NAME|N", "glTF: which animation --time is of (default 0, the first)"      \
    }

/* As facet_scene_import(), in the pose that the options of the command ask for. */
enum facet_status report_scene_import(const struct cli_args *args,
                                      const char *path,
                                      struct facet_import_options options,
                                      struct facet_scene *out,
                                      struct facet_error *err);

/* One line on standard error per kind of loss that changes one of `effects` (FACET_LOSS_*):
 * "facet render: x.glb: left out: ...". Nothing with --quiet, nor with --json, whose result has
 * them. */
void report_print_left_out(const struct cli_args *args,
                           const char *path,
                           const struct facet_scene *scene,
                           unsigned effects);

/* The words of such a line after "left out: ", for at most `size` bytes. */
void report_left_out_text(const struct facet_left_out *note, char *out, size_t size);

/* The same losses as an array; 0 for `effects`: all. NULL when memory is short. */
struct json_t *report_left_out_json(const struct facet_scene *scene, unsigned effects);

/* Either of the two: lines, or with --json the array in *out, which is NULL otherwise. */
enum facet_status report_tell_left_out(const struct cli_args *args,
                                       const char *path,
                                       const struct facet_scene *scene,
                                       unsigned effects,
                                       struct json_t **out,
                                       struct facet_error *err);

#endif
