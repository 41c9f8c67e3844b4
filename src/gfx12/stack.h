/* The LDS stack instructions with a record of what they touched, for a machine that notifies its
 * observer; facet/gfx12.h has them without. */
#ifndef FACET_GFX12_STACK_H
#define FACET_GFX12_STACK_H

#include <facet/gfx12.h>

/* Eight pushes and two pops at most. */
struct facet_gfx12_touches {
    unsigned count;
    struct facet_gfx12_touch {
        uint32_t dword; /* index in LDS, inside it */
        bool write;
        uint32_t value;   /* read, or what a write replaced */
        uint32_t written; /* a small stack may write the same entry again */
    } at[10];
};

/* As facet_gfx12_stack_push8_pop1 and _pop2; pop1 fills result[0] only. `touches` may be NULL. */
void facet_gfx12_stack_push8(const struct facet_gfx12_lds *lds,
                             bool pop2,
                             uint32_t *address,
                             uint32_t last,
                             const uint32_t data[8],
                             uint32_t result[2],
                             struct facet_gfx12_touches *touches);

#endif
