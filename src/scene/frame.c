/* Cameras that are chosen: one that sees a whole box, and one that looks at a point. */
#include "scene/matrix.h"
#include "scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Camera to world for an eye that looks along `forward` with +Y up. */
static void look_along(const double eye[3], const double forward[3], float transform[12])
{
    const double up[3] = {0, 1, 0};
    double right[3], true_up[3];

    facet_scene_cross(forward, up, right);
    (void)facet_scene_normalize(right);
    facet_scene_cross(right, forward, true_up);
    for (unsigned i = 0; i < 3; i++) {
        transform[4 * i] = (float)right[i];
        transform[4 * i + 1] = (float)true_up[i];
        transform[4 * i + 2] = (float)-forward[i];
        transform[4 * i + 3] = (float)eye[i];
    }
}

void facet_scene_frame(const struct facet_bounds *bounds, struct facet_scene_camera *out)
{
    /* tan(22.5 degrees), and a margin of 8 %, for a square picture: wider ones see more. */
    const double tangent = 0.41421356237309503 / 1.08;
    double forward[3] = {-0.60, -0.42, -0.68};
    double center[3], half[3], eye[3], distance = 0.0, radius = 0.0;
    double right[3], up[3];

    (void)facet_scene_normalize(forward);
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < 3; i++) {
        center[i] = ((double)bounds->lo[i] + (double)bounds->hi[i]) / 2;
        half[i] = ((double)bounds->hi[i] - (double)bounds->lo[i]) / 2;
        radius += half[i] * half[i];
        eye[i] = 0.0;
    }
    radius = sqrt(radius);
    look_along(eye, forward, out->transform);
    for (unsigned i = 0; i < 3; i++) {
        right[i] = (double)out->transform[4 * i];
        up[i] = (double)out->transform[4 * i + 1];
    }
    for (unsigned corner = 0; corner < 8; corner++) {
        double x = 0, y = 0, z = 0, need;

        for (unsigned i = 0; i < 3; i++) {
            double side = (corner >> i & 1U) != 0 ? half[i] : -half[i];

            x += side * right[i];
            y += side * up[i];
            z -= side * forward[i];
        }
        need = z + (fabs(x) > fabs(y) ? fabs(x) : fabs(y)) / tangent;
        distance = need > distance ? need : distance;
    }
    distance = distance > 0.0 ? distance : 1.0;
    for (unsigned i = 0; i < 3; i++) {
        eye[i] = center[i] - forward[i] * distance;
    }
    look_along(eye, forward, out->transform);
    (void)snprintf(out->name, sizeof out->name, "default camera");
    out->kind = FACET_CAMERA_PERSPECTIVE;
    out->derived = true;
    out->y_fov = 0.785398163F;
    out->z_near = (float)(distance * 0.001);
    out->z_far = (float)((distance + radius) * 4.0);
}

bool facet_scene_aim(const double eye[3],
                     const double target[3],
                     const double up[3],
                     struct facet_scene_camera *camera)
{
    double back[3], right[3], true_up[3];

    for (unsigned k = 0; k < 3; k++) {
        back[k] = eye[k] - target[k];
    }
    facet_scene_cross(up, back, right);
    if (!facet_scene_normalize(back) || !facet_scene_normalize(right)) {
        return false;
    }
    facet_scene_cross(back, right, true_up);
    for (unsigned k = 0; k < 3; k++) {
        camera->transform[4 * k] = (float)right[k];
        camera->transform[4 * k + 1] = (float)true_up[k];
        camera->transform[4 * k + 2] = (float)back[k];
        camera->transform[4 * k + 3] = (float)eye[k];
    }
    camera->z_near = 0.0F; /* the planes were chosen for another place */
    camera->z_far = 0.0F;
    return true;
}
