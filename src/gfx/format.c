/* Texture formats (gfx-semantics.md 6.2): what a code means, its name, and the exact value of a
 * channel code. */
#include "gfx/texture.h"

#include <string.h>
#include <strings.h>

enum type_kind { KIND_UNORM, KIND_SNORM, KIND_UINT, KIND_SINT, KIND_FP };

static const struct {
    uint8_t bytes, kind, fp;
} types[FACET_GFX_TYPE_COUNT] = {
    [FACET_GFX_UNORM8] = {1, KIND_UNORM, 0},
    [FACET_GFX_SNORM8] = {1, KIND_SNORM, 0},
    [FACET_GFX_UINT8] = {1, KIND_UINT, 0},
    [FACET_GFX_SINT8] = {1, KIND_SINT, 0},
    [FACET_GFX_UNORM16] = {2, KIND_UNORM, 0},
    [FACET_GFX_SNORM16] = {2, KIND_SNORM, 0},
    [FACET_GFX_UINT16] = {2, KIND_UINT, 0},
    [FACET_GFX_SINT16] = {2, KIND_SINT, 0},
    [FACET_GFX_FP16] = {2, KIND_FP, FACET_FMT_FP16},
    [FACET_GFX_BF16] = {2, KIND_FP, FACET_FMT_BF16},
    [FACET_GFX_FP32] = {4, KIND_FP, FACET_FMT_FP32},
    [FACET_GFX_UINT32] = {4, KIND_UINT, 0},
    [FACET_GFX_SINT32] = {4, KIND_SINT, 0},
    [FACET_GFX_E4M3] = {1, KIND_FP, FACET_FMT_E4M3},
    [FACET_GFX_E5M2] = {1, KIND_FP, FACET_FMT_E5M2},
};

static const struct facet_gfx_format packed[FACET_GFX_PACKED_END - FACET_GFX_R5G6B5] = {
    {3, 0, 2, true, true, {11, 5, 0, 0}, {5, 6, 5, 0}},
    {4, 0, 2, true, true, {11, 6, 1, 0}, {5, 5, 5, 1}},
    {4, 0, 2, true, true, {12, 8, 4, 0}, {4, 4, 4, 4}},
    {4, 0, 4, true, true, {0, 10, 20, 30}, {10, 10, 10, 2}},
};

bool facet_gfx_format_of(unsigned code, struct facet_gfx_format *format)
{
    const unsigned type = code & 15;

    if (code >= FACET_GFX_R5G6B5 && code < FACET_GFX_PACKED_END) {
        *format = packed[code - FACET_GFX_R5G6B5];
        return true;
    }
    if (code >= FACET_GFX_R5G6B5 || type >= FACET_GFX_TYPE_COUNT) {
        return false;
    }
    *format = (struct facet_gfx_format){
        .channels = (uint8_t)((code >> 4) + 1),
        .type = (uint8_t)type,
        .bytes = types[type].bytes,
        .unorm = types[type].kind == KIND_UNORM,
    };
    return true;
}

#define NAMES(type)                                                                                \
    {                                                                                              \
        type "_R", type "_RG", type "_RGB", type "_RGBA"                                           \
    }
static const char *const names[FACET_GFX_TYPE_COUNT][4] = {
    NAMES("UNORM8"),
    NAMES("SNORM8"),
    NAMES("UINT8"),
    NAMES("SINT8"),
    NAMES("UNORM16"),
    NAMES("SNORM16"),
    NAMES("UINT16"),
    NAMES("SINT16"),
    NAMES("FP16"),
    NAMES("BF16"),
    NAMES("FP32"),
    NAMES("UINT32"),
    NAMES("SINT32"),
    NAMES("FP8_E4M3"),
    NAMES("FP8_E5M2"),
};
#undef NAMES

static const char *const packed_names[FACET_GFX_PACKED_END - FACET_GFX_R5G6B5] = {
    "R5G6B5", "R5G5B5A1", "R4G4B4A4", "R10G10B10A2"};

const char *facet_gfx_format_name(unsigned code)
{
    struct facet_gfx_format format;

    if (!facet_gfx_format_of(code, &format)) {
        return NULL;
    }
    return format.packed ? packed_names[code - FACET_GFX_R5G6B5]
                         : names[format.type][format.channels - 1];
}

int facet_gfx_format_find(const char *name)
{
    for (unsigned code = 0; code < 256; code++) {
        const char *known = facet_gfx_format_name(code);

        if (known != NULL && strcasecmp(known, name) == 0) {
            return (int)code;
        }
    }
    return -1;
}

uint32_t facet_gfx_texel_code(const struct facet_gfx_format *f, const uint32_t words[4], unsigned c)
{
    if (f->packed) {
        return words[0] >> f->shift[c] & ((UINT32_C(1) << f->width[c]) - 1);
    }
    return words[c];
}

struct facet_gfx_real facet_gfx_texel_value(
    const struct facet_gfx_format *f, unsigned c, uint32_t code, bool ftz, unsigned *flags)
{
    const unsigned bits = f->packed ? f->width[c] : 8u * f->bytes;
    const unsigned kind = f->packed ? KIND_UNORM : types[f->type].kind;
    const uint32_t largest = UINT32_MAX >> (32 - bits); /* of unsigned codes */
    const int64_t as_signed = (int64_t)((uint64_t)code << (64 - bits)) >> (64 - bits);

    switch (kind) {
    case KIND_UNORM:
        return facet_gfx_real_of(code, largest, 0);
    case KIND_SNORM: /* the most negative code is -1 too */
        return facet_gfx_real_of(as_signed < -(int64_t)(largest >> 1) ? -(int64_t)(largest >> 1)
                                                                      : as_signed,
                                 largest >> 1,
                                 0);
    case KIND_UINT:
        return facet_gfx_real_of(code, 1, 0);
    case KIND_SINT:
        return facet_gfx_real_of(as_signed, 1, 0);
    default:
        return facet_gfx_real_of_fp(types[f->type].fp, code, ftz, flags);
    }
}
