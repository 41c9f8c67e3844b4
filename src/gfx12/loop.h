/* The hardware-style loop (11.4) in the pieces that stand around its two instructions: what a
 * shader does between intersect8 and stack8, and after stack8. facet_gfx12_trace_lds runs them with
 * local variables, the machine (machine.c) with registers. */
#ifndef FACET_GFX12_LOOP_H
#define FACET_GFX12_LOOP_H

#include "gfx12/trace_state.h"

/* The variables of 11.4 beside those of every loop. */
struct facet_gfx12_loop {
    uint32_t node;  /* cur */
    uint32_t last;  /* DATA0 of the stack instruction */
    uint32_t stack; /* ADDR of the stack instruction: sa */
    uint32_t inst, inst_root, parent;
};

/* The start of a ray; its stack lies at a dword of LDS. */
struct facet_gfx12_loop facet_gfx12_loop_start(uint32_t root, uint32_t lds_base);
/* A revisited box must return the original order, so it gets the original extent. */
float facet_gfx12_loop_extent(const struct facet_gfx12_trace_state *t,
                              const struct facet_gfx12_loop *loop);
/* v is the result for loop->node, which was a `kind`: handles hits, and makes of v0..v7 and
 * loop->last what the stack instruction needs. */
void facet_gfx12_loop_before_stack(struct facet_gfx12_trace_state *t,
                                   struct facet_gfx12_loop *loop,
                                   enum facet_gfx12_kind kind,
                                   uint32_t v[10]);
/* `next` is the result of the stack instruction: loop->node becomes the node to continue with. */
void facet_gfx12_loop_after_stack(struct facet_gfx12_trace_state *t,
                                  struct facet_gfx12_loop *loop,
                                  uint32_t next);
/* Whether there is a node to continue with. */
bool facet_gfx12_loop_goes_on(const struct facet_gfx12_trace_state *t,
                              const struct facet_gfx12_loop *loop);

#endif
