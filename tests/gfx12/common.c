/* The nodes of the worked examples, one image for all of them: see common.h. */
#include "gfx12/common.h"

#include "base/bits.h"
#include "base/float.h"

#include <stdlib.h>

struct placed {
    uint32_t offset; /* byte offset of the node, as the ID in the example says */
    uint32_t dwords[32];
};

/* clang-format off */
static const struct placed nodes[] = {
    /* example 2 */
    {0x0, {
        0x00000040, 0x00000080, 0xFFFFFFFF, 0x00000000,
        0x00000000, 0xBF800000, 0x20808181, 0x0000007F,
        0x05000000, 0xFF3FF800, 0x15FFF3FF, 0x06000800,
        0xFFBFF800, 0x15FFF5FF, 0x05800200, 0x0F9FF000,
        0x109FFBFF, 0xFFFFFFFF, 0x00000FFF, 0x00000000,
        0xFFFFFFFF, 0x00000FFF, 0x00000000, 0xFFFFFFFF,
        0x00000FFF, 0x00000000, 0xFFFFFFFF, 0x00000FFF,
        0x00000000, 0xFFFFFFFF, 0x00000FFF, 0x00000000,
    }},
    /* example 4 */
    {0x100, {
        0x00000100, 0x00000200, 0xFFFFFFFF, 0xC0000000,
        0x00000000, 0x00000000, 0x707F7F83, 0x0000007F,
        0x00000800, 0xFFAFF000, 0x15FFFFFF, 0x00000300,
        0xFF8FF000, 0x15FFFFFF, 0x00000500, 0xFF5FF000,
        0x15FFFFFF, 0x00000000, 0xFF47F000, 0x15FFFFFF,
        0x00000A00, 0xFFA7F000, 0x00FFFFFF, 0x00000700,
        0xFF7FF000, 0x11FFFFFF, 0x00000400, 0xFF57F000,
        0x12FFFFFF, 0x00000600, 0xFF67F000, 0x16FFFFFF,
    }},
    /* example 5 */
    {0x180, {
        0x00000000, 0x00000300, 0xFFFFFFFF, 0x00000000,
        0x00000000, 0x00000000, 0x307F8182, 0x0000007F,
        0x00000000, 0xFF1FF000, 0x06FFF3FF, 0x00800000,
        0xFF1FF000, 0x06FFFBFF, 0x00000400, 0xFF5FF000,
        0x16FFF3FF, 0x00000800, 0xFF9FF000, 0x16FFF3FF,
        0xFFFFFFFF, 0x00000FFF, 0x00000000, 0xFFFFFFFF,
        0x00000FFF, 0x00000000, 0xFFFFFFFF, 0x00000FFF,
        0x00000000, 0xFFFFFFFF, 0x00000FFF, 0x00000000,
    }},
    /* example 6 */
    {0x200, {
        0x00000400, 0x00000000, 0xFFFFFFFF, 0xBF800000,
        0xBE000000, 0xBF800000, 0x00807D80, 0x00000012,
        0x00000000, 0xFFFFF000, 0x15FFFFFF, 0xFFFFFFFF,
        0x00000FFF, 0x00000000, 0xFFFFFFFF, 0x00000FFF,
        0x00000000, 0xFFFFFFFF, 0x00000FFF, 0x00000000,
        0xFFFFFFFF, 0x00000FFF, 0x00000000, 0xFFFFFFFF,
        0x00000FFF, 0x00000000, 0xFFFFFFFF, 0x00000FFF,
        0x00000000, 0xFFFFFFFF, 0x00000FFF, 0x00000000,
    }},
    /* example 7 */
    {0x400, {
        0x002B80C6, 0x000F7C04, 0x003F8000, 0x00000FE0,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0xA8000000, 0x2108000C,
    }},
    /* example 8 */
    {0x480, {
        0x211A0C22, 0x07FE406A, 0x02001FA0, 0xC2222114,
        0x00002228, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0xC7E8FEC0, 0x8F00001F, 0xA0C4A258, 0x2108C822,
    }},
    /* example 9 */
    {0x500, {
        0x0EE07FFF, 0x0006039C, 0x00000000, 0x00000000,
        0x00000000, 0x0003F800, 0x00000000, 0x00000000,
        0x00000000, 0x0003F800, 0x00000000, 0x00000050,
        0x00000009, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x21080008,
    }},
    /* example 10 */
    {0x580, {
        0x00200000, 0x000F600B, 0x000BF800, 0x000C0000,
        0x000C0400, 0x0003F800, 0x00040000, 0x00040400,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0xD2600000, 0x0FF0000C,
    }},
    /* example 11 */
    {0x600, {
        0x3F000000, 0x00000000, 0x00000000, 0xC0000000,
        0x00000000, 0x3F000000, 0x00000000, 0x3E800000,
        0x00000000, 0x00000000, 0x40000000, 0x3F800000,
        0x00004000, 0x82000000, 0x00000005, 0x3C00BEEF,
        0xBF800000, 0xBF800000, 0xBF800000, 0x00808080,
        0x00000000, 0xFFFFF000, 0x15FFFFFF, 0xFFFFFFFF,
        0x00000FFF, 0x00000000, 0xFFFFFFFF, 0x00000FFF,
        0x00000000, 0xFFFFFFFF, 0x00000FFF, 0x00000000,
    }},
    /* example 12 */
    {0x40000, {
        0x00000000, 0x00000010, 0xFFFFFFFF, 0x00000000,
        0x00000000, 0x00000000, 0x507F7F7F, 0x0000007F,
        0x05000000, 0xFFFFF000, 0x00000FFF, 0x05000000,
        0xFFFFF000, 0x01FFF000, 0x05000000, 0xFF000000,
        0x02FFFFFF, 0x05000FFF, 0xFFFFF000, 0x03FFFFFF,
        0x05FFF000, 0xFFFFF000, 0x08FFFFFF, 0x05000000,
        0xFFFFFFFF, 0x19FFFFFF, 0xFFFFFFFF, 0x00000FFF,
        0x00000000, 0xFFFFFFFF, 0x00000FFF, 0x00000000,
    }},
    /* example 12 */
    {0x40080, {
        0x500B98C6, 0x000C9880, 0x1FC00000, 0xFE03FFF0,
        0xF01FC000, 0x80FE0007, 0xFFFFFFFF, 0x00000003,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0xEA615040, 0xCEB4C9DA, 0x89C6BA2C,
        0x7239D761, 0x42160AE4, 0x184A8159, 0x2108C82A,
    }},
    /* example 16 */
    {0x800, {
        0x00000100, 0x00000000, 0xFFFFFFFF, 0x3F800001,
        0x00000000, 0xBF800000, 0x00807F7F, 0x0000007F,
        0x00000000, 0xFFFFF000, 0x15FFFFFF, 0xFFFFFFFF,
        0x00000FFF, 0x00000000, 0xFFFFFFFF, 0x00000FFF,
        0x00000000, 0xFFFFFFFF, 0x00000FFF, 0x00000000,
        0xFFFFFFFF, 0x00000FFF, 0x00000000, 0xFFFFFFFF,
        0x00000FFF, 0x00000000, 0xFFFFFFFF, 0x00000FFF,
        0x00000000, 0xFFFFFFFF, 0x00000FFF, 0x00000000,
    }},
    /* example 17 */
    {0x880, {
        0x3F800000, 0x00000000, 0x00000000, 0x00000000,
        0x00000000, 0x3F800000, 0x00000000, 0x00000000,
        0x00000000, 0x00000000, 0x3F800000, 0x00000000,
        0x00004000, 0x80000000, 0xFFFFFFFF, 0xFF000001,
        0x00000000, 0x00000000, 0x00000000, 0x307F7F82,
        0x00000000, 0xFF1FF000, 0x15FFFFFF, 0x00000600,
        0xFF7FF000, 0x10FFFFFF, 0x01000400, 0x004FF000,
        0x15FFFFFF, 0x00000C00, 0xFFDFF000, 0x08FFFFFF,
    }},
    /* example 14: FP32 box with four children, then a triangle pair */
    {0x700, {
        0x00000105, 0x00000108, 0xFFFFFFFF, 0x0000011D,
        0x00000000, 0x00000000, 0x00000000, 0x3F800000, 0x3F800000, 0x3F800000,
        0x40000000, 0x00000000, 0x00000000, 0x40400000, 0x3F800000, 0x3F800000,
        0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000,
        0xC0800000, 0x00000000, 0x00000000, 0xBF800000, 0x3F800000, 0x3F800000,
        0x00000000, 0x00000000, 0x00000000, 0x00000000,
    }},
    {0x780, {
        0x00000000, 0x00000000, 0x00000000, 0x3F800000, 0x00000000, 0x00000000,
        0x00000000, 0x3F800000, 0x00000000, 0x3F800000, 0x3F800000, 0x00000000,
        20, 21, 3, 0x00008989,
    }},
};
/* clang-format on */

uint8_t *examples_new(void)
{
    uint8_t *image = calloc(1, EXAMPLES_SIZE);
    for (size_t n = 0; image != NULL && n < sizeof nodes / sizeof nodes[0]; n++) {
        for (unsigned i = 0; i < 32; i++) {
            facet_store_le32(image + nodes[n].offset + (size_t)4 * i, nodes[n].dwords[i]);
        }
    }
    /* Example 6 has two more copies: no matrix, and garbage above the index. */
    if (image != NULL) {
        memcpy(image + 0x280, image + 0x200, 128);
        memcpy(image + 0x300, image + 0x200, 128);
        facet_store_le32(image + 0x280 + 28, 0x7F);
        facet_store_le32(image + 0x300 + 28, 0xABCD0012);
    }
    return image;
}

struct facet_gfx12_ray ray_make(float ox, float oy, float oz, float dx, float dy, float dz)
{
    return (struct facet_gfx12_ray){
        .origin = {ox, oy, oz},
        .direction = {dx, dy, dz},
        .extent = facet_float_of(0x7F800000),
        .instance_mask = 0xFF,
    };
}

bool check_words(const char *what, const uint32_t *got, const uint32_t *want, unsigned count)
{
    bool same = true;
    for (unsigned i = 0; i < count; i++) {
        same &= CHECK_MSG(got[i] == want[i],
                          "%s: v%u is %08" PRIX32 ", expected %08" PRIX32,
                          what,
                          i,
                          got[i],
                          want[i]);
    }
    return same;
}

bool check_ray(const char *what, const struct facet_gfx12_ray *ray, const uint32_t want[6])
{
    uint32_t got[6];
    memcpy(got, ray->origin, 12);
    memcpy(got + 3, ray->direction, 12);
    bool same = true;
    for (unsigned i = 0; i < 6; i++) {
        same &= CHECK_MSG(got[i] == want[i],
                          "%s: ray word %u is %08" PRIX32 ", expected %08" PRIX32,
                          what,
                          i,
                          got[i],
                          want[i]);
    }
    return same;
}

uint32_t random_bits(void)
{
    return (uint32_t)(harness_random() >> 32);
}

uint32_t random_float_bits(unsigned spread)
{
    uint32_t r = random_bits();
    uint32_t exponent = 127 - spread + random_bits() % (2 * spread + 1);
    return (r & 0x807FFFFF) | exponent << 23;
}

uint32_t random_any_float(void)
{
    static const uint32_t special[] = {0x00000000,
                                       0x80000000,
                                       0x7F800000,
                                       0xFF800000,
                                       0x7FC00000,
                                       0xFFC00001,
                                       0x7F800001,
                                       0x00000001,
                                       0x80000001,
                                       0x007FFFFF,
                                       0x00800000,
                                       0x7F7FFFFF,
                                       0xFF7FFFFF,
                                       0x3F800000,
                                       0xBF800000};
    unsigned kind = random_bits() % 8;
    if (kind == 0) {
        return special[random_bits() % (sizeof special / sizeof special[0])];
    }
    return kind == 1 ? random_bits() : random_float_bits(kind < 5 ? 3 : 20);
}
