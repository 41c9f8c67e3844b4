/* One field of a descriptor after the other: what it does to a picture so small that it is known by
 * hand. The comparisons with a second formulation draw everything at once; here each field answers
 * for itself. */
#include "base/float.h"
#include "rig.h"

enum { W = 16, COLOR = 1 << 19, UV = 1 << 17, UV16 = 1 << 18, NORMAL = 1 << 16 };
enum { STRIDE = 20 }; /* position and colour */

struct scene {
    struct rig r;
    uint32_t s[16], g[32], p[16];
};

/* A corner at a pixel of the whole framebuffer, for the identity matrix. */
static void corner(struct rig *r, uint32_t at, float x, float y, uint32_t color)
{
    rig_float(r, at, x / 8 - 1);
    rig_float(r, at + 4, 1 - y / 8);
    rig_float(r, at + 8, .25f);
    rig_float(r, at + 12, 1);
    rig_word(r, at + 16, color);
}

/* A clockwise triangle over pixel (x, y) and those right of it and below. */
static void triangle(struct rig *r, uint32_t at, uint32_t stride, unsigned x, unsigned y)
{
    corner(r, at, (float)x, (float)y, 0xFFFFFFFF);
    corner(r, at + stride, (float)(x + 4), (float)y, 0xFFFFFFFF);
    corner(r, at + 2 * stride, (float)x, (float)(y + 4), 0xFFFFFFFF);
}

/* Two triangles: vertices 0..2 over (0, 0), 3..5 over (8, 8). */
static void begin(struct scene *t)
{
    rig_open(&t->r);
    memset(t->p, 0, sizeof t->p);
    rig_rstate(t->s, W, W);
    rig_gstate(t->g, STRIDE | COLOR);
    triangle(&t->r, RIG_VERTICES, STRIDE, 0, 0);
    triangle(&t->r, RIG_VERTICES + 3 * STRIDE, STRIDE, 8, 8);
}

static void load(struct scene *t)
{
    memset(t->r.vram + RIG_COLOR, 0, 4 * W * W);
    rig_load_rstate(&t->r, t->s);
    rig_load_gstate(&t->r, t->g);
}

/* GDRAW with all its words. */
static void gdraw(struct scene *t, const uint32_t words[4], uint32_t flags)
{
    for (unsigned i = 0; i < 4; i++) {
        rig_word(&t->r, RIG_DESC + 4 * i, words[i]);
    }
    rig_word(&t->r, RIG_DESC + 16, 0xFFFFFFFF);
    rig_word(&t->r, RIG_DESC + 20, flags);
    CHECK_EQ(facet_raster_gdraw(&t->r.unit, &t->r.context, rig_at(RIG_DESC)).code, 0);
}

static uint32_t pixel(const struct scene *t, unsigned x, unsigned y)
{
    return rig_pixel(&t->r, W, x, y);
}

/* Which of the two triangles is there: bit 0 the first, bit 1 the second. */
static unsigned seen(const struct scene *t)
{
    return (pixel(t, 0, 0) != 0) | (unsigned)(pixel(t, 8, 8) != 0) << 1;
}

static unsigned draw_and_see(struct scene *t, uint32_t count, uint32_t flags)
{
    load(t);
    gdraw(t, (const uint32_t[]){0, 0, count, 0}, flags);
    return seen(t);
}

/* ---- where vertices and indices come from ---- */

TEST(vertices_and_indices, "")
{
    static const uint16_t order[6] = {0, 1, 2, 3, 4, 5};
    struct scene t;

    begin(&t);
    harness_row("TILE-578");
    CHECK_EQ(draw_and_see(&t, 5, 0), 1);
    CHECK_EQ(draw_and_see(&t, 6, 0), 3);
    harness_row("TILE-421");
    t.g[0] += 3 * STRIDE;
    CHECK_EQ(draw_and_see(&t, 3, 0), 2);
    t.g[0] -= 3 * STRIDE;
    harness_row("TILE-576"); /* vertices 3, 4, 5; then 2, 3, 4, which cover neither pixel */
    load(&t);
    gdraw(&t, (const uint32_t[]){3, 0, 3, 0}, 0);
    CHECK_EQ(seen(&t), 2);
    load(&t);
    gdraw(&t, (const uint32_t[]){2, 0, 3, 0}, 0);
    CHECK_EQ(seen(&t), 0);
    CHECK(pixel(&t, 6, 6) != 0);
    for (uint32_t i = 0; i < 6; i++) {
        memcpy(t.r.vram + RIG_INDICES + 2 * i, &order[i], 2);
        rig_word(&t.r, RIG_INDICES + 0x80 + 4 * i, 5 - i);
    }
    harness_row("TILE-577 TILE-438"); /* the first index is read at index_base + 6 */
    load(&t);
    gdraw(&t, (const uint32_t[]){0, 3, 3, 0}, 1);
    CHECK_EQ(seen(&t), 2);
    CHECK_ID("TILE-404", draw_and_see(&t, 6, 1) == 3);
    harness_row("TILE-423");
    CHECK_EQ(draw_and_see(&t, 3, 1), 1);
    t.g[2] += 6;
    CHECK_EQ(draw_and_see(&t, 3, 1), 2);
    harness_row("TILE-424"); /* the same buffer in u32 */
    t.g[2] = rig_at(RIG_INDICES + 0x80);
    t.g[3] = 1;
    CHECK_EQ(draw_and_see(&t, 3, 1), 2);
    CHECK_EQ(draw_and_see(&t, 6, 1), 3);
    harness_row("TILE-422 TILE-446"); /* every second vertex */
    t.g[3] = 0;
    t.g[1] = 2 * STRIDE | COLOR;
    triangle(&t.r, RIG_VERTICES, 2 * STRIDE, 8, 8);
    CHECK_EQ(draw_and_see(&t, 3, 0), 2);
    rig_close(&t.r);
}

/* ---- attributes ---- */

TEST(vertex_attributes, "")
{
    struct scene t;

    begin(&t);
    harness_row("TILE-445 TILE-399"); /* the colour behind the position */
    for (unsigned i = 0; i < 3; i++) {
        rig_word(&t.r, RIG_VERTICES + STRIDE * i + 16, 0xFF102030);
    }
    CHECK_EQ(draw_and_see(&t, 3, 0), 1);
    CHECK_EQ(pixel(&t, 0, 0), 0xFF102030);
    harness_row("TILE-399"); /* without has_color: white */
    t.g[1] = STRIDE;
    CHECK_EQ(draw_and_see(&t, 3, 0), 1);
    CHECK_EQ(pixel(&t, 0, 0), 0xFFFFFFFF);
    harness_row("TILE-445 TILE-399"); /* behind normal and uv: 16 + 12 + 8 */
    t.g[1] = 40 | NORMAL | UV | COLOR;
    triangle(&t.r, RIG_VERTICES, 40, 0, 0);
    for (unsigned i = 0; i < 3; i++) {
        rig_word(&t.r, RIG_VERTICES + 40 * i + 36, 0xFF405060);
    }
    CHECK_EQ(draw_and_see(&t, 3, 0), 1);
    CHECK_EQ(pixel(&t, 0, 0), 0xFF405060);
    harness_row("TILE-436"); /* the material instead, with has_material alone */
    t.p[12] = 0xFF00FF00;
    rig_load_gparam(&t.r, t.p);
    CHECK_EQ(draw_and_see(&t, 3, 0), 1);
    CHECK_EQ(pixel(&t, 0, 0), 0xFF405060);
    for (unsigned i = 0; i < 3; i++) {
        rig_word(&t.r, RIG_VERTICES + 40 * i + 36, 0xFFFFFFFF);
    }
    t.p[15] = 2;
    rig_load_gparam(&t.r, t.p);
    CHECK_EQ(draw_and_see(&t, 3, 0), 1);
    CHECK_EQ(pixel(&t, 0, 0), 0xFF00FF00);
    rig_close(&t.r);
}

TEST(texture_coordinates_in_both_formats, "TILE-444")
{
    struct scene t;

    begin(&t);
    for (uint32_t i = 0; i < 64; i++) {
        rig_word(&t.r, RIG_TEXTURE + 4 * i, 0xFF000000 | i);
    }
    t.r.samplers[3][0] = rig_at(RIG_TEXTURE);
    t.r.samplers[3][1] = 32;
    t.r.samplers[3][2] = t.r.samplers[3][3] = 8;
    t.r.samplers[3][4] = 1;
    t.s[9] = 3;
    t.s[12] = 2;
    for (unsigned half = 0; half < 2; half++) { /* u = 3.5, v = 2.5 everywhere */
        uint32_t stride = half != 0 ? 20 : 24;

        t.g[1] = stride | UV | (half != 0 ? UV16 : 0);
        triangle(&t.r, RIG_VERTICES, stride, 0, 0);
        for (unsigned i = 0; i < 3; i++) {
            rig_word(&t.r, RIG_VERTICES + stride * i + 16, half != 0 ? 0x41004300 : 0x40600000);
            if (half == 0) {
                rig_float(&t.r, RIG_VERTICES + stride * i + 20, 2.5f);
            }
        }
        CHECK_EQ(draw_and_see(&t, 3, 0), 1);
        CHECK_EQ(pixel(&t, 0, 0), 0xFF000000 | (2 * 8 + 3));
    }
    rig_close(&t.r);
}

/* ---- transforms, light, culling, rectangles ---- */

TEST(transforms, "")
{
    struct scene t;

    begin(&t);
    harness_row("TILE-400 TILE-425"); /* one to the right and one down: eight pixels each */
    t.g[4 + 3] = facet_float_bits(1);
    t.g[4 + 7] = facet_float_bits(-1);
    CHECK_EQ(draw_and_see(&t, 3, 0), 2);
    harness_row("TILE-413 TILE-420 TILE-441"); /* CU_ASSIST: positions are taken as they are */
    CHECK_EQ(draw_and_see(&t, 3, 4), 1);
    t.g[4 + 3] = t.g[4 + 7] = 0;
    harness_row("TILE-435");
    t.p[3] = facet_float_bits(1);
    t.p[7] = facet_float_bits(-1);
    for (unsigned i = 0; i < 3; i++) {
        t.p[5 * i] = facet_float_bits(1);
    }
    rig_load_gparam(&t.r, t.p);
    CHECK_EQ(draw_and_see(&t, 3, 0), 1); /* without has_model */
    t.p[15] = 1;
    rig_load_gparam(&t.r, t.p);
    CHECK_EQ(draw_and_see(&t, 3, 0), 2);
    rig_close(&t.r);
}

/* A lit triangle: white light along z, no ambient, every normal the same. */
static void lit_scene(struct scene *t, float x, float y, float z)
{
    t->g[1] = 32 | NORMAL | COLOR;
    t->g[3] = 32;                   /* LIGHT, */
    t->g[23] = facet_float_bits(1); /* along z, */
    t->g[24] = 0xFFFFFF;            /* white, without ambient */
    triangle(&t->r, RIG_VERTICES, 32, 0, 0);
    for (unsigned i = 0; i < 3; i++) {
        rig_float(&t->r, RIG_VERTICES + 32 * i + 16, x);
        rig_float(&t->r, RIG_VERTICES + 32 * i + 20, y);
        rig_float(&t->r, RIG_VERTICES + 32 * i + 24, z);
        rig_word(&t->r, RIG_VERTICES + 32 * i + 28, 0xFFFFFFFF);
    }
}

TEST(normals_are_turned_by_their_matrix, "TILE-401 TILE-426")
{
    struct scene t;

    begin(&t);
    lit_scene(&t, 0, 0, 1);
    CHECK_EQ(draw_and_see(&t, 3, 0), 1);
    CHECK_EQ(pixel(&t, 0, 0), 0xFFFFFFFF);
    for (unsigned i = 0; i < 9; i++) { /* -1: away from the light */
        rig_float(&t.r, RIG_INDICES + 4 * i, i % 4 == 0 ? -1 : 0);
    }
    t.g[20] = rig_at(RIG_INDICES);
    CHECK_EQ(draw_and_see(&t, 3, 0), 1);
    CHECK_EQ(pixel(&t, 0, 0), 0xFF000000);
    rig_close(&t.r);
}

TEST(light_fields, "")
{
    struct scene t;
    uint32_t once, often;

    begin(&t);
    lit_scene(&t, 0, 0, 1);
    harness_row("TILE-428");
    t.g[24] = 0x804020;
    CHECK_EQ(draw_and_see(&t, 3, 0), 1);
    CHECK_EQ(pixel(&t, 0, 0), 0xFF804020);
    harness_row("TILE-427");
    t.g[23] = facet_float_bits(-1);
    CHECK_EQ(draw_and_see(&t, 3, 0), 1);
    CHECK_EQ(pixel(&t, 0, 0), 0xFF000000);
    harness_row("TILE-429");
    t.g[25] = 0x102030;
    CHECK_EQ(draw_and_see(&t, 3, 0), 1);
    CHECK_EQ(pixel(&t, 0, 0), 0xFF102030);
    harness_row("TILE-443"); /* behind the position: turned round it sees the light */
    lit_scene(&t, 0, 0, -1);
    t.g[23] = facet_float_bits(-1);
    t.g[25] = 0;
    CHECK_EQ(draw_and_see(&t, 3, 0), 1);
    CHECK_EQ(pixel(&t, 0, 0), 0xFFFFFFFF);
    harness_row("TILE-437"); /* n.h = 0.8: itself, and next to nothing as its 32nd power */
    lit_scene(&t, .6f, 0, .8f);
    for (unsigned i = 0; i < 3; i++) { /* black: the highlight alone */
        rig_word(&t.r, RIG_VERTICES + 32 * i + 28, 0xFF000000);
    }
    t.g[3] |= 64; /* SPEC */
    t.p[14] = 0xFFFFFF;
    t.p[13] = 1;
    rig_load_gparam(&t.r, t.p);
    CHECK_EQ(draw_and_see(&t, 3, 0), 1);
    once = pixel(&t, 0, 0) & 0xFF;
    t.p[13] = 32;
    rig_load_gparam(&t.r, t.p);
    (void)draw_and_see(&t, 3, 0);
    often = pixel(&t, 0, 0) & 0xFF;
    CHECK_MSG(once > 195 && once < 210 && often < 5, "%u and %u", once, often);
    rig_close(&t.r);
}

TEST(culling_by_state_and_by_draw, "")
{
    struct scene t;

    begin(&t);
    for (uint32_t cull = 0; cull < 4; cull++) { /* none, CW, CCW, none; the triangle is CW */
        t.g[3] = cull << 1;
        harness_row("TILE-430 TILE-406");
        CHECK_EQ(draw_and_see(&t, 3, 0), cull != 1);
        harness_row("TILE-418");
        CHECK_EQ(draw_and_see(&t, 3, 1 << 4), 0);
        CHECK_EQ(draw_and_see(&t, 3, 2 << 4), 1);
        CHECK_EQ(draw_and_see(&t, 3, 3 << 4), 1);
    }
    rig_close(&t.r);
}

TEST(viewport_and_scissor_of_draws, "")
{
    struct scene t;

    begin(&t);
    harness_row("TILE-434"); /* the viewport of RSTATE where GSTATE has none, */
    t.s[13] = 8 | 8 << 16;
    t.s[14] = 8 | 8 << 16;
    CHECK_EQ(draw_and_see(&t, 3, 0), 2);
    t.g[29] = W | W << 16; /* and not where it has one */
    CHECK_EQ(draw_and_see(&t, 3, 0), 1);
    harness_row("TILE-411 TILE-432");
    t.g[28] = 4 | 2 << 16;
    CHECK_EQ(draw_and_see(&t, 3, 0), 0);
    CHECK(pixel(&t, 4, 2) != 0);
    t.g[28] = 0;
    harness_row("TILE-411 TILE-433"); /* only where the flag says so */
    t.g[30] = 1;
    t.g[31] = 1 | 4 << 16;
    CHECK_EQ(draw_and_see(&t, 3, 0), 1);
    t.g[3] = 128;
    CHECK_EQ(draw_and_see(&t, 3, 0), 0);
    CHECK(pixel(&t, 1, 0) != 0 && pixel(&t, 2, 0) == 0);
    rig_close(&t.r);
}

/* ---- the render state ---- */

static unsigned lit_pixels(const struct scene *t)
{
    unsigned count = 0;

    for (unsigned i = 0; i < W * W; i++) {
        count += rig_read(&t->r, RIG_COLOR + 4 * i) != 0;
    }
    return count;
}

TEST(colour_buffer_and_rectangles, "")
{
    struct scene t;

    begin(&t);
    harness_row("TILE-365");
    t.s[0] = rig_at(RIG_COLOR + 0x2000);
    load(&t);
    CHECK_EQ(rig_rrect(&t.r, 0, 0, 1, 1, 0xFF123456, 0).code, 0);
    CHECK_EQ(rig_read(&t.r, RIG_COLOR + 0x2000), 0xFF123456);
    CHECK_EQ(rig_read(&t.r, RIG_COLOR), 0);
    t.s[0] = rig_at(RIG_COLOR);
    harness_row("TILE-366");
    t.s[1] = 200;
    load(&t);
    CHECK_EQ(rig_rrect(&t.r, 1, 2, 1, 1, 0xFF123456, 0).code, 0);
    CHECK_EQ(rig_read(&t.r, RIG_COLOR + 2 * 200 + 4), 0xFF123456);
    t.s[1] = 4 * W;
    harness_row("TILE-371");
    t.s[13] = 4 | 5 << 16;
    t.s[14] = 3 | 2 << 16;
    load(&t);
    CHECK_EQ(rig_rrect(&t.r, 0, 0, W, W, 0xFF123456, 0).code, 0);
    CHECK_EQ(lit_pixels(&t), 6);
    CHECK(pixel(&t, 4, 5) != 0 && pixel(&t, 6, 6) != 0);
    t.s[13] = t.s[14] = 0;
    harness_row("TILE-372"); /* with the flag, and not without */
    t.s[10] = 7 | 1 << 16;
    t.s[11] = 2 | 4 << 16;
    load(&t);
    CHECK_EQ(rig_rrect(&t.r, 0, 0, W, W, 0xFF123456, 0).code, 0);
    CHECK_EQ(lit_pixels(&t), W * W);
    t.s[12] = 1;
    load(&t);
    CHECK_EQ(rig_rrect(&t.r, 0, 0, W, W, 0xFF123456, 0).code, 0);
    CHECK_EQ(lit_pixels(&t), 8);
    CHECK(pixel(&t, 7, 1) != 0 && pixel(&t, 8, 4) != 0);
    rig_close(&t.r);
}

TEST(depth_buffer_and_functions, "")
{
    static const float z[3] = {.25f, .5f, .75f};
    struct scene t;

    begin(&t);
    t.s[4] = rig_at(RIG_DEPTH + 0x100);
    t.s[5] = 256;
    t.s[6] = 2 | 7 << 8; /* D32F, always */
    t.s[12] = 4;
    t.s[15] = facet_float_bits(.5f);
    load(&t);
    CHECK_EQ(rig_rrect(&t.r, 1, 2, 1, 1, 0xFF123456, 4).code, 0);
    CHECK_ID("TILE-368", rig_read(&t.r, RIG_DEPTH + 0x100 + 2 * 256 + 4) == 0x3F000000);
    CHECK_ID("TILE-369", rig_read(&t.r, RIG_DEPTH + 0x100 + 2 * 256 + 4) == 0x3F000000);
    t.s[5] = 512;
    load(&t);
    CHECK_EQ(rig_rrect(&t.r, 1, 2, 1, 1, 0xFF123456, 4).code, 0);
    CHECK_ID("TILE-369", rig_read(&t.r, RIG_DEPTH + 0x100 + 2 * 512 + 4) == 0x3F000000);
    t.s[4] += 0x40;
    load(&t);
    CHECK_EQ(rig_rrect(&t.r, 0, 0, 1, 1, 0xFF123456, 4).code, 0);
    CHECK_ID("TILE-368", rig_read(&t.r, RIG_DEPTH + 0x140) == 0x3F000000);
    for (uint32_t function = 0; function < 8; function++) { /* less 1, equal 2, greater 4 */
        t.s[6] = 2 | function << 8;
        for (unsigned i = 0; i < 3; i++) {
            t.s[15] = facet_float_bits(z[i]);
            for (unsigned on = 0; on < 2; on++) {
                t.s[12] = on != 0 ? 4 : 0;
                load(&t);
                rig_float(&t.r, RIG_DEPTH + 0x140, .5f);
                CHECK_EQ(rig_rrect(&t.r, 0, 0, 1, 1, 0xFF123456, 4).code, 0);
                harness_row(on != 0 ? "TILE-377" : "TILE-376");
                CHECK_EQ(pixel(&t, 0, 0) != 0, on == 0 || (function >> i & 1) != 0);
                harness_row("TILE-376");
                CHECK_EQ(rig_read(&t.r, RIG_DEPTH + 0x140),
                         on != 0 && (function >> i & 1) != 0 ? t.s[15] : 0x3F000000);
                harness_row("");
            }
        }
    }
    rig_close(&t.r);
}
