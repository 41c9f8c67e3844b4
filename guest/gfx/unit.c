/* The rasteriser's unit (rasteriser.h) on the hart: each operation is one instruction for
 * 64 lanes, or a few. guest/gfx/unit_portable.c is the same in plain C.
 *
 * Elements are FP32. All windows lie in memory (GFXCFG.AMEM, BMEM, DMEM), so a prefix and one
 * instruction are all that an asm statement needs; window B is always the register x12. Lanes run
 * under predicate bank 1. */
#include "guest/gfx/rasteriser.h"

#include <string.h>
#include <xphmg.h>

enum { BANK = 1, ALL = 3, WINDOW_B = 12, SHAPE_4X4 = 0xF, FMT_RGBA8 = 0x30 };
enum { CMP_GREATER = 2, LUT_LOG2 = 4 };
_Static_assert((1 << LUT_LOG2) + 1 == FACET_GUEST_GFX_LUT_SIDE,
               "the table has 2^n + 1 entries a side");
_Static_assert(offsetof(struct facet_guest_gfx_depths, pixel) == 256,
               "the X slot follows the elements");

#define CONFIG                                                                                     \
    (XPHMG_GFXCFG_EN | XPHMG_GFXCFG_CONVERT_EN | XPHMG_GFXCFG_SRGB_EN | XPHMG_GFXCFG_NORM |        \
     XPHMG_GFXCFG_AMEM | XPHMG_GFXCFG_BMEM | XPHMG_GFXCFG_DMEM)

/* One instruction for the lanes of bank 1: R and A are addresses. */
#define LANES(text, r, a) __asm__ volatile("svon.one\n " text : : [R] "r"(r), [A] "r"(a) : "memory")
/* The same for one that leaves a mask; lanes that do not run give 0. */
#define MASK(text, result, a)                                                                      \
    __asm__ volatile("svon.one\n " text : [M] "+&r"(result) : [A] "r"(a) : "memory")

static void use_lanes(uint64_t lanes)
{
    xphmg_pmlow_wr(BANK, lanes);
    xphmg_pmhigh_wr(BANK, lanes >> 32);
}

static uint64_t lanes_of_all(void)
{
    return xphmg_pmhigh_rd(ALL) << 32 | xphmg_pmlow_rd(ALL);
}

void facet_guest_gfx_unit_open(struct facet_guest_gfx_unit *unit, const float *lut)
{
    memset(unit, 0, sizeof *unit);
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_ALT, XPHMG_CAP_PREC_ALT_APPLY1);
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_MODE,
                    XPHMG_FIELD(XPHMG_CAP_PREC_MODE_PET, XPHMG_CAP_PREC_MODE_PET_FP32) |
                        XPHMG_FIELD(XPHMG_CAP_PREC_MODE_EW, XPHMG_CAP_PREC_MODE_EW_EW32) |
                        XPHMG_CAP_PREC_MODE_APPLY0);
    xphmg_csr_write(XPHMG_CSR_SVSTATE,
                    XPHMG_FIELD(XPHMG_SVSTATE_VLM1, FACET_GUEST_GFX_LANES - 1) |
                        XPHMG_FIELD(XPHMG_SVSTATE_PBANK, BANK));
    xphmg_csr_write(XPHMG_CSR_SVSRCB, XPHMG_SVSRCB_V | XPHMG_FIELD(XPHMG_SVSRCB_BASE, WINDOW_B));
    xphmg_csr_write(XPHMG_CSR_GFXCFG, CONFIG);
    xphmg_csr_write(XPHMG_CSR_GFXTEXFMT, FMT_RGBA8);
    xphmg_csr_write(XPHMG_CSR_GFXZCFG,
                    XPHMG_FIELD(XPHMG_GFXZCFG_CMP, CMP_GREATER) | XPHMG_GFXZCFG_WRITE_EN);
    xphmg_csr_write(XPHMG_CSR_GFXZBASE, (uint64_t)unit->depth);
    xphmg_csr_write(XPHMG_CSR_GFXZPITCH, FACET_BUCKET * sizeof(float));
    xphmg_csr_write(XPHMG_CSR_GFXZWH, (uint64_t)FACET_BUCKET << 32 | FACET_BUCKET);
    xphmg_csr_write(XPHMG_CSR_GFXHIZCFG, XPHMG_FIELD(XPHMG_GFXHIZCFG_TILE_W_LOG2, 3));
    xphmg_csr_write(XPHMG_CSR_GFXLUTBASE, (uint64_t)lut);
    xphmg_csr_write(XPHMG_CSR_GFXLUTFMT,
                    XPHMG_FIELD(XPHMG_GFXLUTFMT_DIM, 1) | XPHMG_GFXLUTFMT_NORM_IDX |
                        XPHMG_GFXLUTFMT_SIZE_P1 | XPHMG_FIELD(XPHMG_GFXLUTFMT_SIZE_R, LUT_LOG2) |
                        XPHMG_FIELD(XPHMG_GFXLUTFMT_SIZE_G, LUT_LOG2) |
                        XPHMG_FIELD(XPHMG_GFXLUTFMT_SIZE_B, LUT_LOG2));
}

/* ---- matrices ---- */

void facet_guest_gfx_unit_matrix(struct facet_guest_gfx_unit *unit,
                                 unsigned bank,
                                 const float rows[16])
{
    (void)unit;
    xphmg_csr_write(XPHMG_CSR_MTXSEL, bank);
    xphmg_mtx_ld(rows, SHAPE_4X4, 0, 1);
}

void facet_guest_gfx_unit_transform(const struct facet_guest_gfx_unit *unit,
                                    unsigned bank,
                                    const float (*in)[4],
                                    float (*out)[4],
                                    uint32_t count)
{
    (void)unit;
    xphmg_csr_write(XPHMG_CSR_MTXSEL, bank);
    for (uint32_t i = 0; i < count; i += 8) {
        xphmg_mtx_mul(out[i], in[i], SHAPE_4X4, 0, 0, 8 - 1);
    }
}

/* ---- culling ---- */

#define PLANE(number, half) xphmg_csr_write(XPHMG_CSR_GFXPLN##number, words[2 * (number) + (half)])
#define SIX(half)                                                                                  \
    do {                                                                                           \
        PLANE(0, half);                                                                            \
        PLANE(1, half);                                                                            \
        PLANE(2, half);                                                                            \
        PLANE(3, half);                                                                            \
        PLANE(4, half);                                                                            \
        PLANE(5, half);                                                                            \
    } while (0)

void facet_guest_gfx_unit_planes(struct facet_guest_gfx_unit *unit, const float planes[6][4])
{
    uint64_t words[12];

    (void)unit;
    memcpy(words, planes, sizeof words);
    xphmg_csr_clear(XPHMG_CSR_GFXCFG, XPHMG_GFXCFG_HISEL);
    SIX(0);
    xphmg_csr_set(XPHMG_CSR_GFXCFG, XPHMG_GFXCFG_HISEL);
    SIX(1);
}

uint64_t facet_guest_gfx_unit_boxes(const struct facet_guest_gfx_unit *unit,
                                    const facet_guest_gfx_slot *box,
                                    uint64_t lanes)
{
    uint64_t found = 0;

    (void)unit;
    use_lanes(lanes);
    xphmg_csr_write(XPHMG_CSR_MTXSEL, FACET_GUEST_GFX_TO_CLIP);
    MASK("gfx.cull.aabb %[M], %[A], f=1", found, box);
    return found;
}

/* Bank ALL loses the lanes whose three corners are outside of the plane: bank 1 follows the
 * corners, each test runs under what the one before left. */
#define AGAINST(number)                                                                            \
    do {                                                                                           \
        uint64_t outside_ = 0;                                                                     \
        xphmg_gfx_cull_compose(BANK, 0, ALL, 3);                                                   \
        MASK("gfx.cull.plane %[M], %[A], k=1, idx=" #number ", pd=1", outside_, corners);          \
        MASK("gfx.cull.plane %[M], %[A], k=1, idx=" #number ", pd=1", outside_, corners + 4);      \
        outside_ = 0;                                                                              \
        MASK("gfx.cull.plane %[M], %[A], k=1, idx=" #number ", pd=1", outside_, corners + 8);      \
        if (outside_ != 0) {                                                                       \
            xphmg_gfx_cull_compose(ALL, ALL, BANK, 0, 1);                                          \
        }                                                                                          \
    } while (0)

uint64_t facet_guest_gfx_unit_triangles(const struct facet_guest_gfx_unit *unit,
                                        const facet_guest_gfx_slot *corners,
                                        uint64_t lanes)
{
    (void)unit;
    use_lanes(lanes);
    xphmg_gfx_cull_compose(ALL, 0, BANK, 3); /* op 3: a copy */
    AGAINST(0);
    AGAINST(1);
    AGAINST(2);
    AGAINST(3);
    AGAINST(4);
    AGAINST(5);
    return lanes_of_all();
}

uint32_t facet_guest_gfx_unit_list(const struct facet_guest_gfx_unit *unit,
                                   uint64_t lanes,
                                   uint32_t list[64])
{
    uint64_t count = 0;

    (void)unit;
    use_lanes(lanes);
    MASK("gfx.cull.compact %[M], %[A], mm=1, cc=1, ps=1", count, list);
    return (uint32_t)count;
}

/* ---- pixels ---- */

uint64_t facet_guest_gfx_unit_depth(struct facet_guest_gfx_unit *unit,
                                    const struct facet_guest_gfx_depths *depths,
                                    uint64_t lanes,
                                    bool write)
{
    uint64_t passed = 0;

    (void)unit;
    use_lanes(lanes);
    if (write) {
        MASK("gfx.ztest %[M], %[A], w=1, t=1", passed, depths);
    } else {
        MASK("gfx.ztest %[M], %[A], t=1", passed, depths);
    }
    return passed;
}

void facet_guest_gfx_unit_interpolate(const struct facet_guest_gfx_unit *unit,
                                      struct facet_guest_gfx_taps *taps,
                                      unsigned channels,
                                      uint64_t lanes)
{
    (void)unit;
    use_lanes(lanes);
    if (channels == 2) {
        LANES("gfx.interp %[R], %[A], M=1, nc=1", taps->r, taps->a);
    } else if (channels == 3) {
        LANES("gfx.interp %[R], %[A], M=1, nc=2", taps->r, taps->a);
    } else {
        LANES("gfx.interp %[R], %[A], M=1, nc=3", taps->r, taps->a);
    }
}

void facet_guest_gfx_unit_texture(struct facet_guest_gfx_unit *unit,
                                  const struct facet_scene_texture *texture,
                                  enum facet_wrap wrap)
{
    static const uint8_t mode[FACET_WRAP_COUNT] = {
        [FACET_WRAP_CLAMP] = 0, [FACET_WRAP_REPEAT] = 1, [FACET_WRAP_MIRROR] = 2};

    if (unit->texture != texture) {
        xphmg_csr_write(XPHMG_CSR_GFXTEXBASE, (uint64_t)texture->rgba);
        xphmg_csr_write(XPHMG_CSR_GFXTEXPITCH, 4 * texture->width);
        xphmg_csr_write(XPHMG_CSR_GFXTEXWH, (uint64_t)texture->height << 32 | texture->width);
        unit->texture = texture;
    }
    xphmg_csr_write(XPHMG_CSR_GFXWRAP, mode[wrap]);
    unit->wrap = wrap;
}

void facet_guest_gfx_unit_sample(const struct facet_guest_gfx_unit *unit,
                                 const facet_guest_gfx_slot *uv,
                                 facet_guest_gfx_slot *rgba,
                                 bool nearest,
                                 uint64_t lanes)
{
    (void)unit;
    use_lanes(lanes);
    if (nearest) {
        LANES("gfx.sample %[R], %[A], f=1", rgba, uv);
    } else {
        LANES("gfx.sample %[R], %[A], m=1, f=1", rgba, uv);
    }
}

void facet_guest_gfx_unit_normalize(const struct facet_guest_gfx_unit *unit,
                                    facet_guest_gfx_slot *normal,
                                    uint64_t lanes)
{
    (void)unit;
    use_lanes(lanes);
    LANES("gfx.shade %[R], %[A], OO=0, N=1, nc=3", normal, normal);
}

void facet_guest_gfx_unit_multiply(const struct facet_guest_gfx_unit *unit,
                                   struct facet_guest_gfx_colors *colors,
                                   uint64_t lanes)
{
    (void)unit;
    use_lanes(lanes);
    LANES("gfx.shade %[R], %[A], OO=2", colors->work, colors->work);
}

void facet_guest_gfx_unit_light(const struct facet_guest_gfx_unit *unit,
                                struct facet_guest_gfx_colors *colors,
                                const facet_guest_gfx_slot *normal,
                                const facet_guest_gfx_slot *light,
                                uint64_t lanes)
{
    register const facet_guest_gfx_slot *b __asm__("x12") = light;

    (void)unit;
    use_lanes(lanes);
    __asm__ volatile("svon.one\n gfx.shade %[R], %[A], OO=2, L=1, nc=3"
                     :
                     : [R] "r"(colors->work), [A] "r"(normal), "r"(b)
                     : "memory");
}

void facet_guest_gfx_unit_add(const struct facet_guest_gfx_unit *unit,
                              struct facet_guest_gfx_colors *colors,
                              uint64_t lanes)
{
    (void)unit;
    use_lanes(lanes);
    LANES("gfx.shade %[R], %[A], OO=0, nc=3", colors->sum, colors->sum);
}

void facet_guest_gfx_unit_grade(const struct facet_guest_gfx_unit *unit,
                                facet_guest_gfx_slot *rgb,
                                uint64_t lanes)
{
    (void)unit;
    use_lanes(lanes);
    LANES("gfx.lut3d %[R], %[A], i=1", rgb, rgb);
}
