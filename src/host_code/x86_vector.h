/* Vector instructions of x86-64 with 128 bits, in the three-operand form (VEX). */
#ifndef FACET_HOST_CODE_X86_VECTOR_H
#define FACET_HOST_CODE_X86_VECTOR_H

#include "host_code/x86.h"

/* The Intel manual's opcode with its prefix (0x66, 0xF3 or none) and map (0x0F, 0x0F38, 0x0F3A) as
 * one number: 0x0F58 adds floats, 0x660FFE whole numbers, 0x660F3898 and its like multiply and add.
 */
static inline void facet_x86_vector(struct facet_x86 *e,
                                    uint32_t opcode,
                                    unsigned reg,
                                    unsigned second,
                                    struct facet_x86_operand rm)
{
    const bool long_map = (opcode >> 8 & 0xFF) == 0x38 || (opcode >> 8 & 0xFF) == 0x3A;
    const unsigned map = !long_map ? 1 : (opcode >> 8 & 0xFF) == 0x38 ? 2 : 3;
    const unsigned prefix = opcode >> (long_map ? 24 : 16) & 0xFF;
    const unsigned pp = prefix == 0x66 ? 1 : prefix == 0xF3 ? 2 : prefix == 0xF2 ? 3 : 0;
    const bool indexed = rm.memory && (rm.index != FACET_RSP || (rm.base & 7) == FACET_RSP);
    const unsigned index = indexed ? rm.index : 0;

    facet_x86_byte(e, 0xC4);
    facet_x86_byte(e,
                   (~reg >> 3 & 1) << 7 | (~index >> 3 & 1) << 6 |
                       (~(unsigned)rm.base >> 3 & 1) << 5 | map);
    facet_x86_byte(e, (~second & 15) << 3 | pp);
    facet_x86_byte(e, opcode & 0xFF);
    if (!rm.memory) {
        facet_x86_byte(e, 0xC0 | (reg & 7) << 3 | (rm.base & 7));
        return;
    }
    facet_x86_byte(e, 0x80 | (reg & 7) << 3 | (indexed ? 4u : rm.base & 7u));
    if (indexed) {
        facet_x86_byte(e, (unsigned)rm.shift << 6 | (rm.index & 7u) << 3 | (rm.base & 7u));
    }
    facet_x86_word(e, (uint32_t)rm.offset);
}

#endif
