/* Finds vertices that are equal bit by bit in every attribute and keeps one of each. Importers of
 * formats without shared vertices (STL, OBJ through Assimp) deliver three per triangle. Unlike
 * Assimp's own step nothing is merged that merely lies close. */
#ifndef FACET_SCENE_WELD_H
#define FACET_SCENE_WELD_H

#include "scene/scene.h"

/* Rewrites the arrays in place; triangles keep their order and their corners' values. Every index
 * must be in range. false: no memory, and the mesh is as before. */
bool facet_scene_weld(struct facet_scene_mesh *mesh);

#endif
