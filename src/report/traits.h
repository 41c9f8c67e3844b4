/* Options of commands that build images of scenes: what holds for every geometry and instance. */
#ifndef FACET_REPORT_TRAITS_H
#define FACET_REPORT_TRAITS_H

#include "command/command.h"
#include "render/bvh_input.h"

#define REPORT_TRAIT_OPTIONS                                                                       \
    {"opaque", 0, "yes|no", "all triangles are opaque, or none (default: as the scene says)"},     \
        {"cull-disable", 0, "yes|no", "all triangles keep both sides, or none does"},              \
        {"force-opaque", 0, "yes|no", "instances override opacity (default: as the scene says)"},  \
        {"flip", 0, NULL, "instances exchange front and back"},                                    \
        {"mask", 0, "N", "mask of all instances, 0 to 255 (default 255)"},                         \
    {                                                                                              \
        "user-data", 0, "N", "user data of all instances (default: their number)"                  \
    }

/* Their names, and those of REPORT_POSE_OPTIONS, for cli_useless(). */
extern const char *const report_trait_names[];
extern const char *const report_pose_names[];

/* Fails when an option has a bad value. */
enum facet_status report_bvh_traits(const struct cli_args *args,
                                    struct facet_render_bvh_traits *out,
                                    struct facet_error *err);

#endif
