/* What the suites of the gfx12 machine share: a world of triangles and instances, rays through it,
 * and machines that have it in their memory. Failures are failed checks. */
#ifndef FACET_TESTS_GFX12_WAVE_H
#define FACET_TESTS_GFX12_WAVE_H

#include "gfx12/build/build.h"
#include "gfx12/common.h"
#include "gfx12/machine/machine.h"

#include <stdio.h>
#include <stdlib.h>

enum { WAVE_STEPS = 1 << 20 };       /* more than any ray here needs: a broken loop ends */
#define WAVE_BASE UINT64_C(0x123400) /* of the image */

/* Two bottom-level structures, placed six times; free the bytes. */
struct facet_gfx12_image wave_world(void);
struct facet_gfx12_query wave_query(void);
struct facet_gfx12_unit wave_unit(const struct facet_gfx12_image *image);
/* A machine with the image in its memory. */
facet_machine *wave_make(const struct facet_gfx12_image *image, uint32_t lanes, uint32_t entries);
void wave_start(facet_machine *m, uint32_t lane, const struct facet_gfx12_query *q);
/* One lane with a stack of 8 that has just been given a ray; *hit is what it will hit. */
facet_machine *wave_started(const struct facet_gfx12_image *image, struct facet_gfx12_hit *hit);
struct facet_stop wave_run(facet_machine *m, uint64_t budget);
uint64_t wave_reg(const facet_machine *m, uint32_t lane, const char *name);
void wave_set_reg(facet_machine *m, uint32_t lane, const char *name, uint64_t value);

#endif
