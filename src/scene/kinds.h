/* The kinds of things in a scene; also part of the text that devices compile (memory.h). */
#ifndef FACET_SCENE_KINDS_H
#define FACET_SCENE_KINDS_H

#define FACET_SCENE_NONE 0xFFFFFFFFU /* in place of a number */

enum facet_wrap { FACET_WRAP_REPEAT, FACET_WRAP_CLAMP, FACET_WRAP_MIRROR, FACET_WRAP_COUNT };
enum facet_filter { FACET_FILTER_LINEAR, FACET_FILTER_NEAREST, FACET_FILTER_COUNT };
enum facet_mip { FACET_MIP_NONE, FACET_MIP_NEAREST, FACET_MIP_LINEAR, FACET_MIP_COUNT };
enum facet_alpha { FACET_ALPHA_OPAQUE, FACET_ALPHA_MASK, FACET_ALPHA_BLEND, FACET_ALPHA_COUNT };
enum facet_camera_kind { FACET_CAMERA_PERSPECTIVE, FACET_CAMERA_ORTHOGRAPHIC, FACET_CAMERA_COUNT };
enum facet_light_kind {
    FACET_LIGHT_DIRECTIONAL,
    FACET_LIGHT_POINT,
    FACET_LIGHT_SPOT,
    FACET_LIGHT_COUNT,
};

#endif
