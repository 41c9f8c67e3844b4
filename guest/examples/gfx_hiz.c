/* GFX.HZ.BUILD and GFX.ZTEST: which of 64 boxes can be seen behind walls that are drawn already.
 *
 * The depth of the walls is written pixel by pixel with GFX.ZTEST. GFX.HZ.BUILD makes a pyramid of
 * maxima: level 0 has one entry per 8 x 8 pixels, each further level one per 2 x 2 entries. A box
 * is hidden when its nearest depth is not less than the farthest depth in its rectangle; a level
 * where the rectangle touches at most 2 x 2 entries is enough. All boxes are then asked at once:
 * that level's entries are themselves a depth buffer, and GFX.ZTEST without writing compares 64
 * boxes with one of their corners. What is said hidden must be hidden in every pixel (plain C). */
#include "check.h"
#include "gfx_unit.h"

#include <math.h>

enum { SIDE = 128, LEVELS = 4, BOXES = LANES, CMP_LESS = 0, WALLS = 5 };

static float depth[SIDE][SIDE];
static float pyramid[1024] __attribute__((aligned(64)));
static uint32_t width_of[LEVELS], offset_of[LEVELS]; /* offsets in floats */

static struct {
    float z[LANES];
    uint64_t pixel[LANES]; /* y << 16 | x */
} lanes __attribute__((aligned(8)));

static struct {
    int x0, y0, x1, y1, level; /* pixels x0..x1, y0..y1 */
    float z;
} box[BOXES];

static void use_depth(void *base, uint32_t side)
{
    xphmg_csr_write(XPHMG_CSR_GFXZBASE, (uint64_t)base);
    xphmg_csr_write(XPHMG_CSR_GFXZPITCH, side * sizeof(float));
    xphmg_csr_write(XPHMG_CSR_GFXZWH, (uint64_t)side << 32 | side);
}

/* Bit i: lane i is nearer than what is there. */
static uint64_t test_and_write(void)
{
    uint64_t passed;

    __asm__ volatile("svon.one\n gfx.ztest %[m], %[a], w=1"
                     : [m] "=&r"(passed)
                     : [a] "r"(&lanes)
                     : "memory");
    return passed;
}

static uint64_t test(void)
{
    uint64_t passed;

    __asm__ volatile("svon.one\n gfx.ztest %[m], %[a]"
                     : [m] "=&r"(passed)
                     : [a] "r"(&lanes)
                     : "memory");
    return passed;
}

static void draw_wall(int x0, int x1, int y0, int y1, float z)
{
    for (int y = y0; y < y1; y++) {
        for (int x = x0; x < x1; x += LANES) {
            for (int i = 0; i < LANES; i++) {
                lanes.z[i] = z;
                lanes.pixel[i] = x + i < x1 ? (uint64_t)y << 16 | (uint64_t)(x + i)
                                            : 0xFFFFFFFF; /* outside: fails */
            }
            (void)test_and_write();
        }
    }
}

/* ---- the pyramid ---- */

static uint32_t build(void)
{
    uint32_t entries = 0;

    xphmg_csr_write(XPHMG_CSR_GFXHIZCFG,
                    XPHMG_FIELD(XPHMG_GFXHIZCFG_TILE_W_LOG2, 3) |
                        XPHMG_FIELD(XPHMG_GFXHIZCFG_TILE_H_LOG2, 3) |
                        XPHMG_FIELD(XPHMG_GFXHIZCFG_LEVELS, LEVELS));
    entries = (uint32_t)xphmg_gfx_hz_build(pyramid, 7, 1, 0, 0, 1); /* maxima, all levels */
    for (uint32_t n = 0, at = 0, w = SIDE / 8; n < LEVELS; n++, w /= 2) {
        width_of[n] = w;
        offset_of[n] = at;
        at = (at + w * w + 15) / 16 * 16;
    }
    return entries;
}

static void check_pyramid(void)
{
    for (uint32_t n = 0; n < LEVELS; n++) {
        uint32_t side = 8u << n;

        for (uint32_t e = 0; e < width_of[n] * width_of[n]; e++) {
            uint32_t x0 = e % width_of[n] * side, y0 = e / width_of[n] * side;
            float far = 0;

            for (uint32_t p = 0; p < side * side; p++) {
                far = fmaxf(far, depth[y0 + p / side][x0 + p % side]);
            }
            CHECK(pyramid[offset_of[n] + e] == far);
        }
    }
}

/* ---- boxes ---- */

static int level_for(int b)
{
    int n = 0;

    while (n < LEVELS - 1 && ((box[b].x1 >> (3 + n)) - (box[b].x0 >> (3 + n)) > 1 ||
                              (box[b].y1 >> (3 + n)) - (box[b].y0 >> (3 + n)) > 1)) {
        n++;
    }
    return n;
}

static void scatter(void)
{
    uint32_t seed = 7;

    for (int b = 0; b < BOXES; b++) {
        int x = (int)gfx_number(&seed, 0, SIDE - 1), y = (int)gfx_number(&seed, 0, SIDE - 1);

        box[b].x0 = x;
        box[b].y0 = y;
        box[b].x1 = x + (int)gfx_number(&seed, 0, 40);
        box[b].y1 = y + (int)gfx_number(&seed, 0, 30);
        box[b].x1 = box[b].x1 < SIDE ? box[b].x1 : SIDE - 1;
        box[b].y1 = box[b].y1 < SIDE ? box[b].y1 : SIDE - 1;
        box[b].z = gfx_number(&seed, 0.2f, 0.95f);
        box[b].level = level_for(b);
    }
}

/* Boxes whose rectangle shows them in some entry of their level. */
static uint64_t ask(void)
{
    uint64_t seen = 0;

    for (int n = 0; n < LEVELS; n++) {
        use_depth(pyramid + offset_of[n], width_of[n]);
        for (int corner = 0; corner < 4; corner++) {
            for (int b = 0; b < BOXES; b++) {
                uint64_t x = (uint64_t)((corner & 1) != 0 ? box[b].x1 : box[b].x0) >> (3 + n);
                uint64_t y = (uint64_t)((corner & 2) != 0 ? box[b].y1 : box[b].y0) >> (3 + n);

                lanes.z[b] = box[b].z;
                lanes.pixel[b] = box[b].level == n ? y << 16 | x : 0xFFFFFFFF;
            }
            seen |= test();
        }
    }
    return seen;
}

static int really_seen(int b)
{
    for (int y = box[b].y0; y <= box[b].y1; y++) {
        for (int x = box[b].x0; x <= box[b].x1; x++) {
            if (box[b].z < depth[y][x]) {
                return 1;
            }
        }
    }
    return 0;
}

int main(void)
{
    int hidden = 0, lost = 0, spared = 0;
    uint32_t entries;
    uint64_t seen;

    gfx_use(0);
    xphmg_csr_write(XPHMG_CSR_GFXZCFG,
                    XPHMG_FIELD(XPHMG_GFXZCFG_CMP, CMP_LESS) | XPHMG_GFXZCFG_WRITE_EN);
    for (int i = 0; i < SIDE * SIDE; i++) {
        depth[i / SIDE][i % SIDE] = 1.0f;
    }
    use_depth(depth, SIDE);
    draw_wall(0, 70, 16, 128, 0.6f);
    draw_wall(64, 128, 40, 120, 0.4f);
    draw_wall(20, 90, 0, 48, 0.5f);
    draw_wall(0, 128, 100, 128, 0.3f);
    draw_wall(100, 128, 0, 64, 0.7f);
    CHECK(depth[20][30] == 0.5f && depth[110][5] == 0.3f && depth[50][110] == 0.4f);
    entries = build();
    CHECK(entries == 256 + 64 + 16 + 4);
    check_pyramid();
    scatter();
    seen = ask();
    for (int b = 0; b < BOXES; b++) {
        int visible = really_seen(b), said = (int)(seen >> b & 1);

        hidden += !visible;
        lost += visible && !said;
        spared += !said;
    }
    printf("%d walls, pyramid of %d entries\n", WALLS, (int)entries);
    printf("%d of %d boxes are hidden, %d found so\n", hidden, BOXES, spared);
    CHECK(lost == 0); /* nothing that can be seen is dropped */
    CHECK(spared > 0 && spared <= hidden);
    return verdict("gfx_hiz");
}
