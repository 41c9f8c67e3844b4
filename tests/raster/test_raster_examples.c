/* The worked examples G1 to G6 and 20.10 of tile-semantics.md, through the instructions. Values
 * that no pixel shows directly (E, u, v) are read off with states that make them visible: D32F for
 * z, and a texture whose texels name themselves for u and v. */
#include "base/float.h"
#include "rig.h"

enum { W = 64, H = 64 };

static void clear(struct rig *r)
{
    memset(r->vram + RIG_COLOR, 0, RIG_SIZE - RIG_COLOR);
}

static unsigned row_mask(const struct rig *r, unsigned y)
{
    unsigned mask = 0;

    for (unsigned x = 0; x < 32; x++) {
        mask |= (unsigned)(rig_pixel(r, W, x, y) != 0) << x;
    }
    return mask;
}

static unsigned covered(const struct rig *r)
{
    unsigned n = 0;

    for (unsigned i = 0; i < W * H; i++) {
        n += rig_pixel(r, W, i, 0) != 0;
    }
    return n;
}

static const struct rig_vertex g1[3] = {
    {1, 1, .25f, 1, 0, 0, 0xFFFF0000},
    {6.5f, 2, .5f, 1, 8, 0, 0xFF00FF00},
    {2.25f, 7.75f, .75f, 1, 0, 8, 0xFF0000FF},
};

TEST(g1_coverage_depth_colour, "TILE-359")
{
    struct rig r;
    uint32_t s[16];

    rig_open(&r);
    rig_rstate(s, W, H);
    s[4] = rig_at(RIG_DEPTH);
    s[5] = 4 * W;
    s[6] = 2 | 7 << 8; /* D32F, always */
    s[12] = 4;
    rig_load_rstate(&r, s);
    CHECK_EQ(rig_rdraw(&r, g1, 4).code, 0);
    harness_row("TILE-362 TILE-379 TILE-380");
    CHECK_EQ(row_mask(&r, 0), 0);
    CHECK_EQ(row_mask(&r, 1), 0xE);
    CHECK_EQ(row_mask(&r, 2), 0x3E);
    CHECK_EQ(row_mask(&r, 3), 0x1E);
    CHECK_EQ(row_mask(&r, 4), 0x1C);
    CHECK_EQ(row_mask(&r, 5), 0xC);
    CHECK_EQ(row_mask(&r, 6), 0x4);
    CHECK_EQ(covered(&r), 18);
    harness_row("TILE-385 TILE-390");
    CHECK_EQ(rig_pixel(&r, W, 3, 3), 0xFF000000 | 77 << 16 | 98 << 8 | 80);
    CHECK_EQ(rig_pixel(&r, W, 2, 5), 0xFF000000 | 58 << 16 | 32 << 8 | 165);
    harness_row("TILE-381 TILE-390");
    CHECK_EQ(rig_read(&r, RIG_DEPTH + 4 * (3 * W + 3)), 0x3F00AB43);
    CHECK_EQ(rig_read(&r, RIG_DEPTH + 4 * (5 * W + 2)), 0x3F1AFB8A);
    s[5] = 2 * W;
    s[6] = 1 | 7 << 8; /* D16 */
    rig_load_rstate(&r, s);
    CHECK_EQ(rig_rdraw(&r, g1, 4).code, 0);
    CHECK_EQ(rig_read(&r, RIG_DEPTH + 2 * (3 * W + 3)) & 0xFFFF, 32939);
    rig_close(&r);
}

/* A texture of width w whose texel (x, y) is the word y << 16 | x, with opaque alpha. */
static void name_texels(struct rig *r, unsigned w, unsigned h)
{
    for (unsigned y = 0; y < h; y++) {
        for (unsigned x = 0; x < w; x++) {
            rig_word(r, RIG_TEXTURE + 4 * (y * w + x), 0xFF000000 | y << 16 | x);
        }
    }
    memset(r->samplers[3], 0, sizeof r->samplers[3]);
    r->samplers[3][0] = rig_at(RIG_TEXTURE);
    r->samplers[3][1] = 4 * w;
    r->samplers[3][2] = w;
    r->samplers[3][3] = h;
    r->samplers[3][4] = 1;
}

/* The value of an FP32 attribute at a pixel: u spans exact multiples, so that the texel number is
 * floor(scale * u). Comparing at two scales around the expected value pins its bits. */
static unsigned u_texel(struct rig *r,
                        const struct rig_vertex v[3],
                        float scale,
                        float shift,
                        unsigned flags,
                        unsigned x,
                        unsigned y)
{
    struct rig_vertex t[3];
    uint32_t s[16];

    memcpy(t, v, sizeof t);
    for (unsigned i = 0; i < 3; i++) {
        t[i].u = t[i].u * scale + shift;
        t[i].v = t[i].v * scale + shift;
        t[i].color = 0xFFFFFFFF;
    }
    rig_rstate(s, W, H);
    s[9] = 3;
    s[12] = 2;
    rig_load_rstate(r, s);
    CHECK_EQ(rig_rdraw(r, t, 2 | flags).code, 0);
    return rig_pixel(r, W, x, y) & 0xFFFFFF;
}

TEST(g1_texture_coordinates, "TILE-363 TILE-383 TILE-384 TILE-391")
{
    struct rig r;

    rig_open(&r);
    name_texels(&r, 64, 64);
    /* u = 3.0662, v = 2.5087 (0x40443CA8, 0x40208EB8); scale by 8: 24.5, 20.07 */
    CHECK_EQ(u_texel(&r, g1, 1, 0, 0, 3, 3), 2 << 16 | 3);
    CHECK_EQ(u_texel(&r, g1, 8, 0, 0, 3, 3), 20 << 16 | 24);
    rig_close(&r);
}

TEST(g2_fill_rule, "TILE-389")
{
    static const struct rig_vertex a[3] = {
        {0, 0, 0, 1, 0, 0, ~0u}, {4, 0, 0, 1, 0, 0, ~0u}, {0, 4, 0, 1, 0, 0, ~0u}};
    static const struct rig_vertex b[3] = {
        {4, 0, 0, 1, 0, 0, ~0u}, {4, 4, 0, 1, 0, 0, ~0u}, {0, 4, 0, 1, 0, 0, ~0u}};
    static const struct rig_vertex c[3] = {
        {.5f, .5f, 0, 1, 0, 0, ~0u}, {3.5f, .5f, 0, 1, 0, 0, ~0u}, {.5f, 3.5f, 0, 1, 0, 0, ~0u}};
    struct rig r;
    uint32_t s[16];

    rig_open(&r);
    rig_rstate(s, W, H);
    rig_load_rstate(&r, s);
    rig_rdraw(&r, a, 0);
    CHECK_EQ(row_mask(&r, 0), 7);
    CHECK_EQ(row_mask(&r, 1), 3);
    CHECK_EQ(row_mask(&r, 2), 1);
    CHECK_EQ(covered(&r), 6);
    clear(&r);
    rig_rdraw(&r, b, 0);
    CHECK_EQ(row_mask(&r, 0), 8);
    CHECK_EQ(row_mask(&r, 1), 12);
    CHECK_EQ(row_mask(&r, 2), 14);
    CHECK_EQ(row_mask(&r, 3), 15);
    CHECK_EQ(covered(&r), 10);
    clear(&r);
    rig_rdraw(&r, c, 0);
    CHECK_EQ(row_mask(&r, 0), 7);
    CHECK_EQ(row_mask(&r, 1), 3);
    CHECK_EQ(row_mask(&r, 2), 1);
    CHECK_EQ(covered(&r), 6);
    rig_close(&r);
}

TEST(g3_blend, "")
{
    struct rig r;
    uint32_t s[16];

    rig_open(&r);
    rig_rstate(s, W, H);
    s[7] = 1;
    rig_load_rstate(&r, s);
    rig_word(&r, RIG_COLOR, 0xFFFF2010);
    rig_rrect(&r, 0, 0, 1, 1, 0x804080C0, 0);
    CHECK_ID("TILE-374", rig_pixel(&r, W, 0, 0) == 0xFF9F5068);
    rig_word(&r, RIG_COLOR, 0xFFFF2010);
    s[7] = 2;
    rig_load_rstate(&r, s);
    rig_rrect(&r, 0, 0, 1, 1, 0x804080C0, 0);
    CHECK_ID("TILE-375", rig_pixel(&r, W, 0, 0) == 0xFFFFA0D0);
    s[7] = 0;
    rig_load_rstate(&r, s);
    rig_rrect(&r, 0, 0, 1, 1, 0x804080C0, 0);
    CHECK_ID("TILE-373", rig_pixel(&r, W, 0, 0) == 0x804080C0);
    /* as RGB565: the destination 0xFFFF2010 loses bits, so blend onto the nearest colour */
    s[2] = 0;
    rig_load_rstate(&r, s);
    rig_word(&r, RIG_COLOR, 0);
    rig_rrect(&r, 0, 0, 1, 1, 0xFF9F5068, 0);
    CHECK_EQ(rig_read(&r, RIG_COLOR), 0x9A8D);
    rig_close(&r);
}

/* ---- geometry ---- */

enum { NORMAL = 1 << 16, UV = 1 << 17, COLOR = 1 << 19 };

static void
put_vertex(struct rig *r, unsigned i, const float p[4], const float uv[2], uint32_t color)
{
    const uint32_t at = RIG_VERTICES + 28 * i;

    for (unsigned k = 0; k < 4; k++) {
        rig_float(r, at + 4 * k, p[k]);
    }
    rig_float(r, at + 16, uv[0]);
    rig_float(r, at + 20, uv[1]);
    rig_word(r, at + 24, color);
}

TEST(g4_clip, "")
{
    static const float p[3][4] = {{0, 0, .5f, 1}, {.5f, 0, -.5f, 1}, {0, .5f, .5f, 1}};
    static const float uv[3][2] = {{0, 0}, {1, 0}, {0, 1}};
    static const uint32_t color[3] = {0xFFFF0000, 0xFF00FF00, 0xFF0000FF};
    struct rig r;
    uint32_t s[16], g[32];

    rig_open(&r);
    rig_rstate(s, W, H);
    rig_load_rstate(&r, s);
    rig_gstate(g, 28 | UV | COLOR);
    g[3] = 8; /* CLIP */
    g[29] = 64 | 64 << 16;
    rig_load_gstate(&r, g);
    for (unsigned i = 0; i < 3; i++) {
        put_vertex(&r, i, p[i], uv[i], color[i]);
    }
    CHECK_EQ(rig_gdraw(&r, 3, 0, 0).code, 0);
    CHECK_ID("TILE-407 TILE-431", covered(&r) == 92);
    harness_row("TILE-407 TILE-410 TILE-411 TILE-432 TILE-442");
    for (unsigned y = 0; y < H; y++) {
        for (unsigned x = 0; x < W; x++) {
            const bool in = (y >= 17 && y <= 24 && x >= 32 && x <= 32 + (y - 17)) ||
                            (y >= 25 && y <= 31 && x >= 32 && x <= 39);

            CHECK_EQ(rig_pixel(&r, W, x, y) != 0, in);
        }
    }
    harness_row("TILE-412");
    /* both fan triangles are counter-clockwise: culled by CCW, kept by CW */
    clear(&r);
    rig_gdraw(&r, 3, 0, 2 << 4);
    CHECK_EQ(covered(&r), 0);
    rig_gdraw(&r, 3, 0, 1 << 4);
    CHECK_EQ(covered(&r), 92);
    clear(&r);
    g[3] = 0; /* unclipped the part before the near plane is there, too */
    rig_load_gstate(&r, g);
    CHECK_EQ(rig_gdraw(&r, 3, 0, 0).code, 0);
    CHECK_ID("TILE-431", covered(&r) > 92);
    rig_close(&r);
}

TEST(g4_guard_band, "TILE-408 TILE-419")
{
    static const float p[3][4] = {
        {-.5f, -.5f, .25f, 1}, {3, -.5f, .25f, 1}, {-.5f, .75f, -.25f, 1}};
    static const float uv[3][2] = {{0, 0}, {1, 0}, {0, 1}};
    struct rig r;
    uint32_t s[16], g[32], narrow[W * H];

    rig_open(&r);
    rig_rstate(s, W, H);
    rig_load_rstate(&r, s);
    rig_gstate(g, 28 | UV | COLOR);
    g[3] = 8;
    g[29] = 64 | 64 << 16;
    rig_load_gstate(&r, g);
    for (unsigned i = 0; i < 3; i++) {
        put_vertex(&r, i, p[i], uv[i], 0xFFFFFFFF);
    }
    CHECK_EQ(rig_gdraw(&r, 3, 0, 0).code, 0);
    memcpy(narrow, r.vram + RIG_COLOR, sizeof narrow);
    /* x from -.5 to 1, y from -.5 up to .125: pixels 16..63, rows 28..47 */
    CHECK_EQ(covered(&r), 48 * 20);
    clear(&r);
    g[27] = facet_float_bits(4);
    rig_load_gstate(&r, g);
    CHECK_EQ(rig_gdraw(&r, 3, 0, 0).code, 0);
    CHECK(memcmp(narrow, r.vram + RIG_COLOR, sizeof narrow) == 0);
    rig_close(&r);
}

TEST(g5_perspective, "TILE-382")
{
    static const struct rig_vertex v[3] = {{0, 0, 0, 1, 0, 0, 0xFF000000},
                                           {8, 0, 0, 4, 8, 0, 0xFFFFFFFF},
                                           {0, 8, 0, 1, 0, 8, 0xFF000000}};
    struct rig r;
    uint32_t s[16];

    rig_open(&r);
    rig_rstate(s, W, H);
    rig_load_rstate(&r, s);
    rig_rdraw(&r, v, 0);
    CHECK_EQ(rig_pixel(&r, W, 3, 1), 0xFF2A2A2A);
    rig_rdraw(&r, v, 64);
    CHECK_EQ(rig_pixel(&r, W, 3, 1), 0xFF707070);
    name_texels(&r, 64, 64);
    /* u = 1.302, v = 2.232; AFFINE: 3.5, 1.5; at scale 8: 10.4, 17.86; 28, 12 */
    CHECK_EQ(u_texel(&r, v, 1, 0, 0, 3, 1), 2 << 16 | 1);
    CHECK_EQ(u_texel(&r, v, 8, 0, 0, 3, 1), 17 << 16 | 10);
    CHECK_EQ(u_texel(&r, v, 8, 0, 64, 3, 1), 12 << 16 | 28);
    rig_close(&r);
}

TEST(g6_light, "")
{
    static const float p[3][4] = {{-1, -1, 0, 1}, {1, -1, 0, 1}, {-1, 1, 0, 1}};
    struct rig r;
    uint32_t s[16], g[32], param[16] = {0};

    rig_open(&r);
    rig_rstate(s, W, H);
    rig_load_rstate(&r, s);
    rig_gstate(g, 32 | NORMAL | COLOR);
    g[3] = 32; /* LIGHT */
    g[22] = facet_float_bits(.6f);
    g[23] = facet_float_bits(.8f);
    g[24] = 0xFF8000;
    g[25] = 0x202020;
    rig_load_gstate(&r, g);
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t at = RIG_VERTICES + 32 * i;

        for (unsigned k = 0; k < 4; k++) {
            rig_float(&r, at + 4 * k, p[i][k]);
        }
        rig_float(&r, at + 16, 0);
        rig_float(&r, at + 20, 0);
        rig_float(&r, at + 24, 2);
        rig_word(&r, at + 28, 0x12C8C8C8);
    }
    CHECK_EQ(rig_gdraw(&r, 3, 0, 0).code, 0);
    harness_row("TILE-402");
    CHECK_EQ(rig_pixel(&r, W, 8, 48), 0x12000000 | 185 << 16 | 105 << 8 | 25);
    g[3] |= 64; /* SPEC */
    rig_load_gstate(&r, g);
    param[13] = 8;
    param[14] = 0xFFFFFF;
    rig_load_gparam(&r, param);
    CHECK_EQ(rig_gdraw(&r, 3, 0, 0).code, 0);
    harness_row("TILE-403");
    CHECK_EQ(rig_pixel(&r, W, 8, 48), 0x12000000 | 255 << 16 | 189 << 8 | 25);
    rig_close(&r);
}

TEST(strip_keeps_winding, "TILE-405 TILE-406 TILE-579")
{
    static const float p[4][2] = {{0, 0}, {4, 0}, {0, 4}, {4, 4}};
    struct rig r;
    uint32_t s[16], g[32];

    rig_open(&r);
    rig_rstate(s, W, H);
    rig_load_rstate(&r, s);
    rig_gstate(g, 16);
    g[29] = 64 | 64 << 16;
    rig_load_gstate(&r, g);
    for (unsigned i = 0; i < 4; i++) {
        rig_float(&r, RIG_VERTICES + 16 * i, p[i][0] / 32 - 1);
        rig_float(&r, RIG_VERTICES + 16 * i + 4, 1 - p[i][1] / 32);
        rig_float(&r, RIG_VERTICES + 16 * i + 8, 0);
        rig_float(&r, RIG_VERTICES + 16 * i + 12, 1);
    }
    CHECK_EQ(rig_gdraw(&r, 4, 1, 2 << 4).code, 0); /* CCW culled: both are CW */
    CHECK_EQ(covered(&r), 16);
    clear(&r);
    rig_gdraw(&r, 4, 1, 1 << 4);
    CHECK_EQ(covered(&r), 0);
    CHECK_EQ(rig_gdraw(&r, 4, 2, 0).code, FACET_RASTER_BAD_FORMAT);
    rig_close(&r);
}
