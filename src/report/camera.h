/* Cameras in options: for pictures, and for the ray through a pixel of one. */
#ifndef FACET_REPORT_CAMERA_H
#define FACET_REPORT_CAMERA_H

#include "command/command.h"

#include "gfx12/image/view.h"
#include "scene/scene.h"

#define REPORT_CAMERA_OPTIONS                                                                      \
    {"eye", 0, "X,Y,Z", CLI_GROUP("Camera") "where the camera stands"},                            \
        {"look-at", 0, "X,Y,Z", "what it looks at (default: the middle of everything)"},           \
        {"up", 0, "X,Y,Z", "which way is up (default 0,1,0)"},                                     \
    {                                                                                              \
        "fov", 0, "DEGREES", "its vertical angle (default 45)"                                     \
    }

/* --size, 1280x720 without it. All of these print the complaint when they return false. */
bool report_size_read(const struct cli_args *args, uint64_t *width, uint64_t *height);
/* Moves and turns a camera as the options above say; `lo` and `hi` are the bounds of everything. */
bool report_camera_move(const struct cli_args *args,
                        const float lo[3],
                        const float hi[3],
                        struct facet_scene_camera *camera);
/* A camera that sees the whole image, moved by the options. */
bool report_camera_frame(const struct cli_args *args,
                         const struct facet_gfx12_view *view,
                         const char *name,
                         struct facet_scene_camera *camera);
/* Sets origin, direction, t_min and t_max: the ray through the middle of pixel --pixel of a picture
 * of the image, or, with --scene, of that scene with its --camera: the first ray that `facet render
 * --spp 1` sends there. */
bool report_pixel_ray(const struct cli_args *args,
                      const struct facet_gfx12_view *view,
                      const char *name,
                      struct facet_gfx12_query *query);

#endif
