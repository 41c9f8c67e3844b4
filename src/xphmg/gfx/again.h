/* GFX.SAMPLE once more: most programs sample with the same instruction under the same registers
 * again and again, and only the addresses of the windows move. What the instruction before found
 * out is kept with everything that it was found out from; nothing has to be forgotten. */
#ifndef FACET_XPHMG_GFX_AGAIN_H
#define FACET_XPHMG_GFX_AGAIN_H

#include "xphmg/gfx/gfx.h"

/* One for all harts of a machine. */
struct facet_xphmg_gfx_kept {
    bool known;
    /* The instruction and what decides its meaning: */
    uint32_t word;
    uint64_t mode, alt, svstate, svsrca, svdst;
    struct facet_xphmg_gfx csr;
    /* What it means, in memory windows and with all lanes active: */
    uint8_t lanes, from, to; /* the registers with the addresses */
    struct facet_gfx_numbers numbers;
    struct facet_gfx_texture texture;
    struct facet_gfx_sampling sampling;
    uint64_t texture_bytes;
};

/* Keeps an instruction that read and wrote RAM itself. */
void facet_xphmg_gfx_keep(const struct facet_xphmg_gfx_run *r,
                          const struct facet_gfx_sampling *sampling);
/* The whole instruction, where it is the one that was kept; false: nothing was done. */
bool facet_xphmg_gfx_again(struct facet_hart *h, const struct facet_insn *in);

#endif
