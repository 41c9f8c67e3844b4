/* Finds vertices that are equal bit by bit in every attribute and keeps one of each. Readers of
 * formats that do not share vertices (STL), or share them by attribute (OBJ), make one per corner.
 * Nothing is merged that merely lies close. */
#ifndef FACET_SCENE_WELD_H
#define FACET_SCENE_WELD_H

#include "base/array.h"
#include "scene/scene.h"

/* Rewrites the arrays in place; triangles keep their order and their corners' values. Every index
 * must be in range. false: no memory, and the mesh is as before. */
bool facet_scene_weld(struct facet_scene_mesh *mesh);

/* The same for corners that come one by one and are nothing but places: those that repeat an
 * earlier one never take memory. Starts as all 0. */
struct facet_corners {
    struct facet_array points;  /* of float[3] */
    struct facet_array indices; /* of uint32_t, one for each corner */
    uint32_t *slots;            /* open addressing: number of a point + 1 */
    size_t slot_count;
};

bool facet_corners_add(struct facet_corners *corners, const float point[3]);
/* Whoever took the arrays has cleared them. */
void facet_corners_free(struct facet_corners *corners);

#endif
