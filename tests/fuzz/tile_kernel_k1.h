/* Worked example K1 of the tile contract: every core writes its number. */
#ifndef FACET_TESTS_FUZZ_TILE_KERNEL_K1_H
#define FACET_TESTS_FUZZ_TILE_KERNEL_K1_H

#include <stdint.h>

static const uint32_t kernel_k1[] = {0xC020228F,
                                     0x0002A30C,
                                     0x0042A38C,
                                     0xC010240F,
                                     0x01445497,
                                     0x01041517,
                                     0x01455517,
                                     0x0274848B,
                                     0x00A4848B,
                                     0x00249497,
                                     0xC000258F,
                                     0x0293258D,
                                     0x0010700F};

#endif
