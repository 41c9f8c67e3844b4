/* The four-wide nodes of the generation before GFX12, which image_bvh_dual_intersect_ray reads when
 * the compressed format is off: section 10 of gfx12-semantics.md. Every field is a whole dword or
 * half dword, so that no bit table is needed. */
#include "gfx12/image/node.h"

/* binary16 to binary32 bits; every value is representable. */
static uint32_t widen(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t exponent = half >> 10 & 0x1F;
    uint32_t fraction = half & 0x3FF;
    if (exponent == 0x1F) {
        return sign | 0x7F800000 | fraction << 13;
    }
    if (exponent == 0) {
        unsigned shift; /* brings the leading one to bit 10 */

        if (fraction == 0) {
            return sign;
        }
        shift = facet_clz32(fraction) - 21;
        exponent = 1 - shift;
        fraction = fraction << shift & 0x3FF;
    }
    return sign | (exponent + 112) << 23 | fraction << 13;
}

/* The inverse of widen for values that came from it; others are truncated. */
static uint16_t narrow(uint32_t bits)
{
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    int exponent = (int)(bits >> 23 & 0xFF) - 112;
    uint32_t fraction = bits & 0x7FFFFF;
    if (exponent == 255 - 112) {
        return (uint16_t)(sign | 0x7C00 | fraction >> 13);
    }
    if (exponent > 30) {
        return (uint16_t)(sign | 0x7BFF);
    }
    if (exponent > 0) {
        return (uint16_t)(sign | exponent << 10 | fraction >> 13);
    }
    return exponent < -10 ? sign : (uint16_t)(sign | (fraction | 0x800000) >> (14 - exponent));
}

void facet_gfx12_box4_decode(const uint8_t node[128], struct facet_gfx12_box4 *out)
{
    struct facet_gfx12_words words;
    facet_gfx12_words_load(&words, node);
    for (unsigned i = 0; i < 4; i++) {
        out->child[i] = words.w[i];
        for (unsigned k = 0; k < 3; k++) {
            out->lo[i][k] = words.w[4 + 6 * i + k];
            out->hi[i][k] = words.w[7 + 6 * i + k];
        }
        out->flags[i] = (uint8_t)(words.w[28] >> (8 * i));
    }
    memcpy(out->unused, &words.w[29], sizeof out->unused);
}

void facet_gfx12_box4_encode(const struct facet_gfx12_box4 *in, uint8_t node[128])
{
    struct facet_gfx12_words words = {{0}};
    for (unsigned i = 0; i < 4; i++) {
        words.w[i] = in->child[i];
        for (unsigned k = 0; k < 3; k++) {
            words.w[4 + 6 * i + k] = in->lo[i][k];
            words.w[7 + 6 * i + k] = in->hi[i][k];
        }
        words.w[28] |= (uint32_t)in->flags[i] << (8 * i);
    }
    memcpy(&words.w[29], in->unused, sizeof in->unused);
    facet_gfx12_words_store(&words, node);
}

void facet_gfx12_box4_decode_half(const uint8_t node[64], struct facet_gfx12_box4 *out)
{
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < 4; i++) {
        const uint8_t *box = node + 16 + (size_t)12 * i;
        out->child[i] = facet_load_le32(node + (size_t)4 * i);
        for (unsigned k = 0; k < 3; k++) {
            out->lo[i][k] = widen(facet_load_le16(box + (size_t)2 * k));
            out->hi[i][k] = widen(facet_load_le16(box + 6 + (size_t)2 * k));
        }
    }
}

void facet_gfx12_box4_encode_half(const struct facet_gfx12_box4 *in, uint8_t node[64])
{
    for (unsigned i = 0; i < 4; i++) {
        uint8_t *box = node + 16 + (size_t)12 * i;
        facet_store_le32(node + (size_t)4 * i, in->child[i]);
        for (unsigned k = 0; k < 3; k++) {
            facet_store_le16(box + (size_t)2 * k, narrow(in->lo[i][k]));
            facet_store_le16(box + 6 + (size_t)2 * k, narrow(in->hi[i][k]));
        }
    }
}

void facet_gfx12_tri4_decode(const uint8_t node[64], struct facet_gfx12_tri4 *out)
{
    for (unsigned i = 0; i < 12; i++) {
        out->vertex[i / 3][i % 3] = facet_load_le32(node + (size_t)4 * i);
    }
    out->primitive_index[0] = facet_load_le32(node + 48);
    out->primitive_index[1] = facet_load_le32(node + 52);
    out->geometry_index = facet_load_le32(node + 56);
    out->triangle_id = facet_load_le32(node + 60);
}

void facet_gfx12_tri4_encode(const struct facet_gfx12_tri4 *in, uint8_t node[64])
{
    for (unsigned i = 0; i < 12; i++) {
        facet_store_le32(node + (size_t)4 * i, in->vertex[i / 3][i % 3]);
    }
    facet_store_le32(node + 48, in->primitive_index[0]);
    facet_store_le32(node + 52, in->primitive_index[1]);
    facet_store_le32(node + 56, in->geometry_index);
    facet_store_le32(node + 60, in->triangle_id);
}
