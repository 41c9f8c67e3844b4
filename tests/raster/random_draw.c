#include "random_draw.h"
#include "base/float.h"

uint32_t random_below(uint32_t bound)
{
    return (uint32_t)(harness_random() % bound);
}

float random_float(float lo, float hi)
{
    return lo + (hi - lo) * ((float)(harness_random() >> 40) * 0x1p-24f);
}

float random_wild(float lo, float hi, uint32_t odds)
{
    if (random_below(odds) == 0) {
        static const uint32_t special[] = {0,
                                           0x80000000,
                                           0x7F800000,
                                           0xFF800000,
                                           0x7FC00000,
                                           0x7F800001,
                                           0x7F7FFFFF,
                                           0xFF7FFFFF,
                                           1,
                                           0x80000001,
                                           0x00800000,
                                           0x3F800000,
                                           0x4B000000,
                                           0x4F000000,
                                           0xCF000000,
                                           0xCF000001};

        return facet_float_of(random_below(2) == 0 ? (uint32_t)harness_random()
                                                   : special[random_below(16)]);
    }
    return random_float(lo, hi);
}

void random_memory(struct rig *r)
{
    for (uint32_t at = RIG_TEXTURE; at < RIG_SIZE; at += 4) {
        rig_word(r, at, (uint32_t)harness_random());
    }
}

void random_sampler(struct rig *r)
{
    static const uint32_t sizes[] = {1, 2, 3, 7, 8, 16, 31, 64, 100};
    uint32_t *s = r->samplers[5];

    s[0] = rig_at(RIG_TEXTURE + random_below(64));
    s[2] = sizes[random_below(9)] | (uint32_t)harness_random() << 16;
    s[3] = sizes[random_below(9)] | (uint32_t)harness_random() << 16;
    s[1] = 4 * (s[2] & 0xFFFF) + random_below(16);
    s[4] = random_below(3) | random_below(4) << 2 | random_below(4) << 4;
    s[5] = random_below(2) == 0 ? 5 : random_below(16);
    s[6] = random_below(4);
    s[7] = rig_at(RIG_PALETTE);
}

void random_rstate(struct rig *r, bool regular)
{
    uint32_t s[16];

    rig_rstate(s, RANDOM_W, RANDOM_H);
    s[2] = random_below(2);
    s[1] = (s[2] == 0 ? 2 : 4) * RANDOM_W + random_below(3) * random_below(40);
    s[0] += random_below(4);
    s[4] = random_below(8) == 0 ? 0 : rig_at(RIG_DEPTH + random_below(4));
    s[5] = 4 * RANDOM_W + random_below(8);
    s[6] = random_below(3) | random_below(8) << 8;
    s[7] = random_below(3);
    s[8] = (uint32_t)harness_random();
    s[9] = 5;
    s[12] = random_below(32) | (random_below(2) == 0 ? 2 : 0);
    s[10] = (random_below(140) - 20) % 65536 | (random_below(100) - 20) << 16;
    s[11] = random_below(120) | random_below(80) << 16;
    if (random_below(3) == 0) {
        s[13] = (random_below(60) - 20) % 65536 | (random_below(40) - 10) << 16;
        s[14] = random_below(120) | random_below(80) << 16;
    }
    s[15] = facet_float_bits(random_wild(-.5f, 1.5f, 8));
    if (!regular) {
        switch (random_below(5)) {
        case 0:
            s[1] = random_below(300); /* rows overlap */
            break;
        case 1:
            s[4] = s[0] + random_below(20000); /* depth inside colour */
            break;
        case 2:
            s[0] = rig_at(RIG_SIZE - random_below(30000)); /* leaves VRAM */
            break;
        case 3:
            s[0] = rig_at(0u - random_below(30000)); /* begins before VRAM */
            break;
        default:
            r->samplers[5][0] = s[0] + random_below(1000); /* draws into its own texture */
            break;
        }
    }
    (void)rig_load_rstate(r, s);
}

void random_triangle(struct rig_vertex v[3], bool wild)
{
    static const float sizes[] = {2, 5, 12, 40, 120, 400, 30000};
    const float size = sizes[random_below(7)];
    const float cx = random_float(0, RANDOM_W), cy = random_float(0, RANDOM_H);
    const bool flat_w = random_below(3) == 0, one_color = random_below(3) == 0;
    const uint32_t odds = wild ? 6 : 1u << 30;
    /* Beyond 2^23 the last bit of u and v is a texel. */
    const float texels = random_below(3) == 0 ? 3e7f : 150;
    const bool tiny_w = wild && random_below(6) == 0;
    /* Black without alpha, or anything without alpha, may change no colour at all. */
    static const uint32_t masks[] = {0xFFFFFFFF, 0, 0x00FFFFFF};
    const uint32_t color =
        random_below(2) == 0 ? 0xFFFFFFFF : (uint32_t)harness_random() & masks[random_below(3)];

    for (unsigned i = 0; i < 3; i++) {
        v[i].x = random_wild(cx - size / 2, cx + size / 2, wild ? 200 : odds);
        v[i].y = random_wild(cy - size / 2, cy + size / 2, wild ? 200 : odds);
        if (random_below(4) == 0) { /* on the grid: edges through pixel centres */
            v[i].x = (float)(int)cx + (float)random_below(8) * 0.5f;
            v[i].y = (float)(int)cy + (float)random_below(8) * 0.5f;
        }
        v[i].z = random_wild(-.2f, 1.2f, odds);
        if (random_below(4) == 0 && i > 0) { /* a horizontal edge */
            v[i].y = v[i - 1].y;
        }
        v[i].w = flat_w ? 2.0f : random_wild(.05f, 8, odds);
        if (tiny_w && i == random_below(3)) {
            static const float tiny[] = {0x1p-140f, 0x1p-120f, 0x1p-100f, 0x1p-75f};

            v[i].w = tiny[random_below(4)];
        }
        v[i].u = random_wild(-50, texels, odds);
        v[i].v = random_wild(-2, texels, odds);
        v[i].color = one_color ? color : (uint32_t)harness_random();
    }
}

void random_mesh(struct rig *r, unsigned vertices, unsigned indices, unsigned wild, unsigned lost)
{
    for (unsigned i = 0; i < vertices; i++) {
        const uint32_t at = RIG_VERTICES + 28 * i;

        rig_float(r, at, random_float(-1.6f, 1.6f));
        rig_float(r, at + 4, random_float(-1.6f, 1.6f));
        rig_float(r, at + 8, random_float(-.3f, 1.3f));
        rig_float(r, at + 12, random_wild(-.1f, 2.0f, wild));
        rig_float(r, at + 16, random_float(0, 60));
        rig_float(r, at + 20, random_float(0, 60));
        rig_word(r, at + 24, (uint32_t)harness_random());
    }
    for (unsigned i = 0; i < indices; i += 2) {
        const uint32_t a = random_below(20) == 0 ? 0xFFFF : random_below(vertices);
        const uint32_t b = random_below(lost) == 0 ? 40000 : random_below(vertices);

        rig_word(r, RIG_INDICES + 2 * i, a | b << 16);
    }
}
