/* Random states, samplers and vertices: what suites that compare two ways of drawing share. */
#ifndef FACET_TESTS_RASTER_RANDOM_DRAW_H
#define FACET_TESTS_RASTER_RANDOM_DRAW_H

#include "rig.h"

enum { RANDOM_W = 100, RANDOM_H = 60 };

uint32_t random_below(uint32_t bound);
/* In [lo, hi). */
float random_float(float lo, float hi);
/* Any bits one time in `odds`, else a number of [lo, hi). */
float random_wild(float lo, float hi, uint32_t odds);

/* Fills colour, depth, texture and palette with random bytes. */
void random_memory(struct rig *r);
/* Sampler 5: formats, wraps, filters, odd sizes. */
void random_sampler(struct rig *r);
/* RANDOM_W x RANDOM_H, every format, function, blend and flag; loads it. `regular`: surfaces lie
 * apart and inside VRAM, else sometimes not. */
void random_rstate(struct rig *r, bool regular);
/* Three corners of a size that is often small, sometimes huge or not finite. */
void random_triangle(struct rig_vertex v[3], bool wild);

/* Vertices anywhere around the screen, some behind the eye, and pairs of indices with restarts: one
 * w of `wild` is no plain number, one index of `lost` leads nowhere. */
void random_mesh(struct rig *r, unsigned vertices, unsigned indices, unsigned wild, unsigned lost);

#endif
