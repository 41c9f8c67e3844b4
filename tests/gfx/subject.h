/* One case of reference.h through the functions of src/gfx: plan, fetch, finish. */
#ifndef FACET_TESTS_GFX_SUBJECT_H
#define FACET_TESTS_GFX_SUBJECT_H

#include "reference.h"

void gfx_subject(const struct gfx_case *c, struct gfx_answer *answer);

/* Random elements, textures and states that meet the corners often. */
void gfx_random_case(struct gfx_case *c, uint64_t (*random)(void));

/* Compares both; reports the case on a difference. Returns whether they agree. */
bool gfx_compare(const struct gfx_case *c);

#endif
