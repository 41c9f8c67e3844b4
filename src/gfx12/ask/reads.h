/* What an instruction of the gfx12 machine reads: the ray and the node, or the stack and results.
 */
#ifndef FACET_GFX12_ASK_READS_H
#define FACET_GFX12_ASK_READS_H

#include <facet/gfx12.h>

enum { FACET_GFX12_READS = 16 }; /* registers of one instruction, at most */

struct facet_gfx12_read {
    uint32_t reg;  /* of the lane's table */
    char what[40]; /* "origin x, -1" */
};

/* Those of the instruction at `pc` of a lane; 0 where there is none. */
uint32_t facet_gfx12_reads(const facet_machine *machine,
                           uint32_t lane,
                           uint64_t pc,
                           struct facet_gfx12_read out[FACET_GFX12_READS]);

#endif
