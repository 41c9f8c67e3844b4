/* Finds vertices that are equal bit by bit in every attribute and keeps one of each. Readers of
 * formats that do not share vertices (STL), or share them by attribute (OBJ), make one per corner.
 * Nothing is merged that merely lies close. */
#ifndef FACET_SCENE_WELD_H
#define FACET_SCENE_WELD_H

#include "scene/scene.h"

/* Rewrites the arrays in place; triangles keep their order and their corners' values. Every index
 * must be in range. false: no memory, and the mesh is as before. */
bool facet_scene_weld(struct facet_scene_mesh *mesh);

#endif
