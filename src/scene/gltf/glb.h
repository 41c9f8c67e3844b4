/* Writing a scene as one .glb file with its textures inside as PNG. The bytes depend on the scene
 * alone: no dates, no library versions (image.h, facet_image_png_encode_plain). */
#ifndef FACET_SCENE_GLB_H
#define FACET_SCENE_GLB_H

#include "base/file.h"
#include "scene/scene.h"

/* Reading the file back gives the same meshes, materials, textures and transforms, bit for bit.
 * Meshes that are placed often and only moved and scaled use EXT_mesh_gpu_instancing; cameras and
 * lights that were derived are not written. Texture transforms must be without rotation. Free
 * out->data with free(). */
enum facet_status facet_scene_write_glb(const struct facet_scene *scene,
                                        struct facet_bytes *out,
                                        struct facet_error *err);

#endif
