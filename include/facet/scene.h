/* Scenes and pictures (libfacet-scene, archive only): read or make a scene, take its triangles to
 * facet/bvh.h, have a machine draw it. */
#ifndef FACET_SCENE_H
#define FACET_SCENE_H

#include <facet/bvh.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct facet_world facet_world;

/* A file in a format that docs/scenes.md lists, read by a process that can do nothing else. */
enum facet_status facet_world_open(const char *path, facet_world **out, struct facet_error *err);
/* A scene of `facet scene make`; size 0 for its default. */
enum facet_status
facet_world_make(const char *name, uint32_t size, facet_world **out, struct facet_error *err);
void facet_world_destroy(facet_world *world); /* NULL is allowed */

/* The meshes and their placements; mesh i has geometry i. Arrays live as long as the world. */
struct facet_bvh_scene facet_world_get_geometry(const facet_world *world);

/* Zero gives the default everywhere. Passed with its size, as facet/version.h explains. */
struct facet_world_view {
    const char *machine;    /* a name of `facet render --machine`; NULL: the first */
    uint32_t width, height; /* 0: 1280 x 720 */
    uint32_t samples;       /* per pixel; 0: 16 */
    uint32_t seed;
    uint32_t bounces;    /* of light over other surfaces */
    uint32_t camera;     /* number of the scene's camera */
    uint32_t threads;    /* 0 and 1: the calling one alone; pictures are the same */
    bool plain;          /* the machine's plain way: the same picture, slower */
    uint8_t reserved[3]; /* 0 */
};

enum facet_status facet_world_draw_sized(const facet_world *world,
                                         const struct facet_world_view *view,
                                         size_t view_size,
                                         struct facet_blob *rgba,
                                         struct facet_error *err);
/* A picture as it is displayed: width * height pixels of four bytes, row 0 on top. `view` NULL for
 * defaults. */
static inline enum facet_status facet_world_draw(const facet_world *world,
                                                 const struct facet_world_view *view,
                                                 struct facet_blob *rgba,
                                                 struct facet_error *err)
{
    return facet_world_draw_sized(world, view, sizeof *view, rgba, err);
}

/* Four bytes a pixel to a PNG file, which appears whole or not at all. */
enum facet_status facet_picture_write(
    const char *path, const void *rgba, uint32_t width, uint32_t height, struct facet_error *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
