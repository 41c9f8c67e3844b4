/* Polygons with any number of corners, cut into triangles. */
#ifndef FACET_SCENE_POLYGON_H
#define FACET_SCENE_POLYGON_H

#include <stdbool.h>
#include <stdint.h>

#define FACET_POLYGON_MOST_CORNERS 1024U /* of one that is not convex */
#define FACET_POLYGON_MOST_LOOKS 64U     /* at each corner, on average, for an ear */
/* What those that need more are called where they are noted. */
#define FACET_POLYGON_TOO_LARGE                                                                    \
    "polygons that are not convex and have more than 1024 corners or need too many looks"

/* The direction that the polygon faces, of length 1; (0, 0, 0) without an area. `points` has three
 * floats for each of `count` corners. */
void facet_polygon_normal(const float *points, uint32_t count, float normal[3]);

/* Writes the numbers of the corners of count - 2 triangles, which turn as the polygon does. A
 * convex polygon becomes a fan around its first corner, any other loses one ear after the other;
 * where none is left, because its edges cross, the rest is a fan. false: it is not convex and has
 * more corners than are tried, or needs more looks than are allowed; all of it or the rest is a
 * fan. The time is at most proportional to the square of `count`. count >= 3. */
bool facet_polygon_cut(const float *points, uint32_t count, uint32_t *triangles);

#endif
