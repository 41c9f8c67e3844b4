/* The whole pipeline beside Mesa's llvmpipe: random triangles in clip space, cut by every plane of
 * the frustum, textured with perspective and sorted by depth. The two differ in sub-pixel bits and
 * in the last bits of attributes, so single pixels on edges may differ; whole areas may not. */
#include "rig.h"

#include "base/float.h"
#include "bench/osmesa_peer.h"

#include <stdlib.h>

enum { W = 240, H = 120, TRIANGLES = 40, TEXTURE = 64, VERTEX_BYTES = 24 };

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(FACET_HAVE_OSMESA) && !defined(SANITIZED)

#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>

#define GL(name) ((__typeof__(&(name)))osmesa_peer_function(peer, #name))

static float between(float lo, float hi)
{
    return lo + (hi - lo) * ((float)(harness_random() >> 40) * 0x1p-24f);
}

/* Neighbouring texels differ by little, so that a coordinate that rounds the other way shows
 * little. */
static uint32_t texel(uint32_t x, uint32_t y)
{
    return 0xFF000000u | (4 * x) << 16 | (4 * y) << 8 | (2 * (x + y));
}

/* x y z w u v; z from 0 to w as the tile GPU wants it. */
static void make(float v[3 * TRIANGLES][6])
{
    for (unsigned i = 0; i < 3 * TRIANGLES; i++) {
        const float w = between(0.4f, 3);

        v[i][0] = between(-1.6f, 1.6f) * w;
        v[i][1] = between(-1.6f, 1.6f) * w;
        v[i][2] = between(-0.3f, 1.3f) * w;
        v[i][3] = i % 7 == 0 ? -0.2f : w; /* some behind the eye */
        v[i][4] = between(0, 1);
        v[i][5] = between(0, 1);
    }
}

static void draw_here(struct rig *r, float v[3 * TRIANGLES][6])
{
    uint32_t s[16], g[32];

    for (uint32_t i = 0; i < TEXTURE * TEXTURE; i++) {
        rig_word(r, RIG_TEXTURE + 4 * i, texel(i % TEXTURE, i / TEXTURE));
    }
    r->samplers[0][0] = rig_at(RIG_TEXTURE);
    r->samplers[0][1] = 4 * TEXTURE;
    r->samplers[0][2] = r->samplers[0][3] = TEXTURE;
    r->samplers[0][4] = 1;
    rig_rstate(s, W, H);
    s[4] = rig_at(RIG_DEPTH);
    s[5] = 4 * W;
    s[6] = 2 | 1 << 8; /* D32F, less */
    s[12] = 2 | 4 | 16;
    s[15] = facet_float_bits(1);
    rig_load_rstate(r, s);
    rig_gstate(g, VERTEX_BYTES | 1 << 17);
    g[3] = 8;
    rig_load_gstate(r, g);
    for (uint32_t i = 0; i < W * H; i++) {
        rig_word(r, RIG_DEPTH + 4 * i, facet_float_bits(1));
    }
    memcpy(r->vram + RIG_VERTICES, v, 3 * TRIANGLES * VERTEX_BYTES);
    CHECK_EQ(rig_gdraw(r, 3 * TRIANGLES, 0, 0).code, 0);
}

static void draw_there(struct osmesa_peer *peer, float v[3 * TRIANGLES][6])
{
    uint32_t texels[TEXTURE * TEXTURE];
    GLuint texture;

    for (uint32_t i = 0; i < TEXTURE * TEXTURE; i++) {
        texels[i] = texel(i % TEXTURE, i / TEXTURE);
    }
    for (unsigned i = 0; i < 3 * TRIANGLES; i++) {
        v[i][2] = 2 * v[i][2] - v[i][3]; /* from -w to w */
    }
    GL(glViewport)(0, 0, W, H);
    GL(glDisable)(GL_DITHER);
    GL(glEnable)(GL_DEPTH_TEST);
    GL(glEnable)(GL_TEXTURE_2D);
    GL(glGenTextures)(1, &texture);
    GL(glBindTexture)(GL_TEXTURE_2D, texture);
    GL(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    GL(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    GL(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    GL(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    GL(glTexImage2D)
    (GL_TEXTURE_2D, 0, GL_RGBA8, TEXTURE, TEXTURE, 0, GL_BGRA, GL_UNSIGNED_BYTE, texels);
    GL(glTexEnvi)(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
    GL(glEnableClientState)(GL_VERTEX_ARRAY);
    GL(glEnableClientState)(GL_TEXTURE_COORD_ARRAY);
    GL(glVertexPointer)(4, GL_FLOAT, VERTEX_BYTES, v);
    GL(glTexCoordPointer)(2, GL_FLOAT, VERTEX_BYTES, &v[0][4]);
    GL(glClearColor)(0, 0, 0, 0);
    GL(glClear)(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    GL(glDrawArrays)(GL_TRIANGLES, 0, 3 * TRIANGLES);
    GL(glFinish)();
    GL(glDeleteTextures)(1, &texture);
}

static bool alike(uint32_t a, uint32_t b)
{
    for (unsigned shift = 0; shift < 32; shift += 8) {
        if (abs((int)(a >> shift & 255) - (int)(b >> shift & 255)) > 4) {
            return false;
        }
    }
    return true;
}

TEST(pictures_are_those_of_llvmpipe, "TILE-359 TILE-412")
{
    float v[3 * TRIANGLES][6];
    struct osmesa_peer *peer;
    struct facet_error err;

    if (osmesa_peer_create(W, H, 24, &peer, &err) != FACET_OK) {
        harness_skip(err.message);
        return;
    }
    for (unsigned round = 0; round < (harness_long() ? 200 : 4); round++) {
        unsigned differ = 0, drawn = 0;
        struct rig r;

        rig_open(&r);
        make(v);
        draw_here(&r, v);
        draw_there(peer, v);
        for (unsigned y = 0; y < H; y++) {
            for (unsigned x = 0; x < W; x++) {
                const uint32_t here = rig_pixel(&r, W, x, y);
                const uint32_t there = osmesa_peer_pixels(peer)[(H - 1 - y) * W + x];

                drawn += here != 0;
                differ += !alike(here, there);
            }
        }
        CHECK_MSG(differ * 100 < W * H, "round %u: %u of %u pixels differ", round, differ, W * H);
        CHECK(drawn > W * H / 4);
        rig_close(&r);
    }
    osmesa_peer_destroy(peer);
}

#else

TEST(pictures_are_those_of_llvmpipe, "")
{
    harness_skip("needs libosmesa6-dev, and no address sanitizer: LLVM keeps its memory");
}

#endif
