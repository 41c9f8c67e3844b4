/* The step from sRGB to linear (gfx-semantics.md 6.6 and 19): binary32 and nearest even whatever
 * the accumulator, so that hardware needs one table and one interpolator. */
#include "gfx/sample.h"

#include "num/arith.h"
#include "num/convert.h"

/* clang-format off */
const uint32_t facet_gfx_srgb_table[256] = {
    0x00000000, 0x399F22B4, 0x3A1F22B4, 0x3A6EB40E, 0x3A9F22B4, 0x3AC6EB61, 0x3AEEB40E, 0x3B0B3E5D,
    0x3B1F22B4, 0x3B33070A, 0x3B46EB61, 0x3B5B518E, 0x3B70F18F, 0x3B83E1C6, 0x3B8FE616, 0x3B9C87FD,
    0x3BA9C9B6, 0x3BB7AD6F, 0x3BC6354A, 0x3BD56360, 0x3BE539C1, 0x3BF5BA71, 0x3C0373B6, 0x3C0C6153,
    0x3C15A705, 0x3C1F45BE, 0x3C293E6B, 0x3C3391F7, 0x3C3E4149, 0x3C494D44, 0x3C54B6C9, 0x3C607EB4,
    0x3C6CA5DF, 0x3C792D22, 0x3C830AA9, 0x3C89AF9F, 0x3C9085DC, 0x3C978DC6, 0x3C9EC7C2, 0x3CA63433,
    0x3CADD37D, 0x3CB5A602, 0x3CBDAC21, 0x3CC5E63A, 0x3CCE54AC, 0x3CD6F7D5, 0x3CDFD010, 0x3CE8DDBA,
    0x3CF2212D, 0x3CFB9AC3, 0x3D02A56A, 0x3D0798DD, 0x3D0CA7E6, 0x3D11D2AF, 0x3D171964, 0x3D1C7C30,
    0x3D21FB3C, 0x3D2796B2, 0x3D2D4EBB, 0x3D332381, 0x3D39152B, 0x3D3F23E4, 0x3D454FD2, 0x3D4B991D,
    0x3D51FFEC, 0x3D588468, 0x3D5F26B6, 0x3D65E6FD, 0x3D6CC563, 0x3D73C20E, 0x3D7ADD24, 0x3D810B65,
    0x3D84B793, 0x3D88732E, 0x3D8C3E48, 0x3D9018F4, 0x3D940344, 0x3D97FD49, 0x3D9C0715, 0x3DA020BA,
    0x3DA44A4A, 0x3DA883D6, 0x3DACCD6F, 0x3DB12727, 0x3DB5910F, 0x3DBA0B38, 0x3DBE95B3, 0x3DC33090,
    0x3DC7DBE0, 0x3DCC97B4, 0x3DD1641D, 0x3DD6412B, 0x3DDB2EEE, 0x3DE02D76, 0x3DE53CD4, 0x3DEA5D18,
    0x3DEF8E51, 0x3DF4D090, 0x3DFA23E5, 0x3DFF885E, 0x3E027F06, 0x3E05427F, 0x3E080EA2, 0x3E0AE377,
    0x3E0DC104, 0x3E10A753, 0x3E13966A, 0x3E168E51, 0x3E198F0F, 0x3E1C98AC, 0x3E1FAB30, 0x3E22C6A1,
    0x3E25EB07, 0x3E29186A, 0x3E2C4ED0, 0x3E2F8E42, 0x3E32D6C5, 0x3E362862, 0x3E39831F, 0x3E3CE703,
    0x3E405417, 0x3E43CA60, 0x3E4749E6, 0x3E4AD2AF, 0x3E4E64C3, 0x3E520029, 0x3E55A4E7, 0x3E595305,
    0x3E5D0A89, 0x3E60CB7A, 0x3E6495DF, 0x3E6869BE, 0x3E6C471F, 0x3E702E07, 0x3E741E7E, 0x3E78188B,
    0x3E7C1C33, 0x3E8014BF, 0x3E822039, 0x3E84308B, 0x3E8645B8, 0x3E885FC3, 0x3E8A7EB0, 0x3E8CA281,
    0x3E8ECB3B, 0x3E90F8DF, 0x3E932B72, 0x3E9562F6, 0x3E979F6F, 0x3E99E0E0, 0x3E9C274C, 0x3E9E72B6,
    0x3EA0C321, 0x3EA31890, 0x3EA57307, 0x3EA7D288, 0x3EAA3716, 0x3EACA0B6, 0x3EAF0F68, 0x3EB18332,
    0x3EB3FC15, 0x3EB67A14, 0x3EB8FD34, 0x3EBB8576, 0x3EBE12DE, 0x3EC0A56E, 0x3EC33D2A, 0x3EC5DA14,
    0x3EC87C30, 0x3ECB2380, 0x3ECDD008, 0x3ED081CA, 0x3ED338C9, 0x3ED5F508, 0x3ED8B68A, 0x3EDB7D52,
    0x3EDE4963, 0x3EE11ABF, 0x3EE3F169, 0x3EE6CD65, 0x3EE9AEB5, 0x3EEC955B, 0x3EEF815C, 0x3EF272B8,
    0x3EF56974, 0x3EF86593, 0x3EFB6716, 0x3EFE6E00, 0x3F00BD2B, 0x3F02460C, 0x3F03D1A5, 0x3F055FF7,
    0x3F06F104, 0x3F0884CD, 0x3F0A1B54, 0x3F0BB499, 0x3F0D509F, 0x3F0EEF65, 0x3F1090EF, 0x3F12353D,
    0x3F13DC50, 0x3F15862A, 0x3F1732CC, 0x3F18E237, 0x3F1A946E, 0x3F1C4970, 0x3F1E0140, 0x3F1FBBDE,
    0x3F21794D, 0x3F23398C, 0x3F24FC9F, 0x3F26C285, 0x3F288B41, 0x3F2A56D2, 0x3F2C253C, 0x3F2DF67F,
    0x3F2FCA9C, 0x3F31A194, 0x3F337B6A, 0x3F35581D, 0x3F3737B0, 0x3F391A24, 0x3F3AFF7A, 0x3F3CE7B2,
    0x3F3ED2CF, 0x3F40C0D2, 0x3F42B1BC, 0x3F44A58E, 0x3F469C49, 0x3F4895EF, 0x3F4A9280, 0x3F4C91FF,
    0x3F4E946C, 0x3F5099C9, 0x3F52A216, 0x3F54AD56, 0x3F56BB88, 0x3F58CCAF, 0x3F5AE0CC, 0x3F5CF7DF,
    0x3F5F11EA, 0x3F612EEF, 0x3F634EEE, 0x3F6571E9, 0x3F6797E0, 0x3F69C0D5, 0x3F6BECCA, 0x3F6E1BBF,
    0x3F704DB5, 0x3F7282AE, 0x3F74BAAB, 0x3F76F5AE, 0x3F7933B6, 0x3F7B74C6, 0x3F7DB8DE, 0x3F800000,
};
/* clang-format on */

static const uint32_t ONE = UINT32_C(0x3F800000), CODES = UINT32_C(0x437F0000); /* 255 */

static const struct facet_num_policy nearest = {.rm = FACET_RNE};

/* The accumulator's value as binary32; flags of this reading do not count (R-GFX-58). */
static uint32_t to_fp32(const struct facet_conv *conv, uint32_t acc)
{
    unsigned none = 0;

    if (facet_format_is_int(conv->acc)) {
        return (uint32_t)facet_num_from_ratio(
            FACET_FMT_FP32, (int32_t)acc, 1, conv->scale, &nearest, &none);
    }
    return (uint32_t)facet_num_convert(FACET_FMT_FP32, conv->acc, acc, &nearest, &none);
}

/* Between table entries: 0 < x < 1, so y is below 255 and there is an entry above. */
static uint32_t look_up(uint32_t x, struct facet_gfx_srgb_steps *s, unsigned *flags)
{
    unsigned raised = 0, none = 0;
    uint32_t low;

    s->computed = true;
    s->scaled = (uint32_t)facet_num_mul(FACET_FMT_FP32, x, CODES, &nearest, &raised);
    s->entry = (unsigned)facet_num_to_int(
        FACET_FMT_FP32, s->scaled, 32, true, &(struct facet_num_policy){.rm = FACET_RTZ}, &none);
    s->fraction =
        (uint32_t)facet_num_sub(FACET_FMT_FP32,
                                s->scaled,
                                facet_num_from_u64(FACET_FMT_FP32, s->entry, &nearest, &none),
                                &nearest,
                                &none);
    low = facet_gfx_srgb_table[s->entry];
    s->linear = low;
    if (s->fraction != 0) {
        s->diff = (uint32_t)facet_num_sub(
            FACET_FMT_FP32, facet_gfx_srgb_table[s->entry + 1], low, &nearest, &raised);
        s->linear = (uint32_t)facet_num_fma(
            FACET_FMT_FP32, s->fraction, s->diff, low, false, false, &nearest, &raised);
    }
    *flags |= raised & FACET_NX;
    return s->linear;
}

uint32_t facet_gfx_srgb(const struct facet_conv *conv,
                        uint32_t acc,
                        struct facet_gfx_srgb_steps *steps,
                        unsigned *flags)
{
    struct facet_gfx_srgb_steps s = {.applied = true, .x = to_fp32(conv, acc)};
    struct facet_gfx_real linear;
    unsigned none = 0;

    if (facet_num_is_nan(FACET_FMT_FP32, s.x)) {
        s.linear = s.x;
    } else if ((s.x & UINT32_C(0x80000000)) != 0 || s.x == 0) {
        s.linear = 0;
    } else if (s.x >= ONE) { /* positive numbers order as their bits */
        s.linear = ONE;
    } else {
        s.linear = look_up(s.x, &s, flags);
    }
    if (steps != NULL) {
        *steps = s;
    }
    linear = facet_gfx_real_of_fp(FACET_FMT_FP32, s.linear, false, &none);
    return facet_gfx_cv(conv, &linear, flags);
}
