/* An xphmg machine that samples a texture with GFX.SAMPLE under RSV: 64 lanes an instruction,
 * coordinates and colours in memory windows, a loop over many groups of lanes. */
#ifndef FACET_BENCH_GFX_MACHINE_H
#define FACET_BENCH_GFX_MACHINE_H

#include <facet/error.h>
#include <stddef.h>
#include <stdint.h>

struct gfx_machine;

enum { GFX_MACHINE_LANES = 64 };

/* An RGBA8 texture, normalized coordinates, bilinear, repeat, FP32. `groups` times 64 samples. */
enum facet_status gfx_machine_create(const uint8_t *texels,
                                     uint32_t width,
                                     uint32_t height,
                                     unsigned groups,
                                     struct gfx_machine **out,
                                     struct facet_error *err);
void gfx_machine_destroy(struct gfx_machine *m); /* NULL is allowed */

/* Coordinates of group k: FP32 bits. */
enum facet_status gfx_machine_put(struct gfx_machine *m,
                                  unsigned k,
                                  const uint32_t u[GFX_MACHINE_LANES],
                                  const uint32_t v[GFX_MACHINE_LANES],
                                  struct facet_error *err);
/* All groups once; fails when the program does not end where it should. */
enum facet_status gfx_machine_run(struct gfx_machine *m, struct facet_error *err);
/* Component c of group k. */
enum facet_status gfx_machine_get(struct gfx_machine *m,
                                  unsigned k,
                                  unsigned c,
                                  uint32_t out[GFX_MACHINE_LANES],
                                  struct facet_error *err);

#endif
