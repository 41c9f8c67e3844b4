/* A scene as the page holds it. */
#ifndef FACET_WASM_PAGE_SCENE_H
#define FACET_WASM_PAGE_SCENE_H

#include "scene/scene.h"
#include "wasm/page.h"

struct page_scene {
    struct facet_scene scene;
};

/* The camera of this number, FACET_SCENE_NONE for one that sees everything. */
enum facet_status page_scene_camera_of(const struct page_scene *s,
                                       uint32_t number,
                                       struct facet_scene_camera *out,
                                       struct facet_error *err);

#endif
