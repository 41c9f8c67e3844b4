/* The generated decision tables that decode.c and lookup.c walk (tools/decode_tree.py). Nothing
 * else reads them: use isa.h. */
#ifndef FACET_ISA_DECODE_TABLES_H
#define FACET_ISA_DECODE_TABLES_H

#include "isa/table.h"

/* The next node is base + ((word >> shift1) & mask1) + ((word >> shift2) & mask2). A leaf has zero
 * masks and leads to itself; leaf number `leaf` may own the word. */
struct facet_decode_node {
    uint16_t base;
    uint16_t leaf;
    uint8_t shift1;
    uint8_t shift2;
    uint8_t mask1;
    uint8_t mask2;
};

/* Leaf n stands for row n; the one after the last row matches no word. A word belongs to a row
 * when its fixed bits agree and neither condition forbids it: (word & mask) == value is illegal. An
 * unused condition is {0, 1}, which no word meets. */
struct facet_decode_leaf {
    uint32_t mask;
    uint32_t match;
    struct {
        uint32_t mask;
        uint32_t value;
    } forbidden[2];
};

extern const struct facet_decode_node facet_decode_nodes[];
extern const size_t facet_decode_node_count;
extern const struct facet_decode_leaf *const facet_decode_leaves[FACET_ISA_COUNT];

/* Rows by FNV-1a hash of the lower-case mnemonic: bucket b holds rows[first[b] .. first[b + 1]]. */
struct facet_mnemonic_hash {
    uint32_t mask;
    const uint16_t *first;
    const uint16_t *rows;
};
extern const struct facet_mnemonic_hash facet_mnemonic_hashes[FACET_ISA_COUNT];

#endif
