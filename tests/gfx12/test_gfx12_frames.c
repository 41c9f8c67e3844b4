/* HIPRT's frames, that a refit moves with their instance: rotations of every kind, by quaternion
 * products, which the code under test does not have. */
#include "harness.h"

#include "base/bits.h"
#include "gfx12/drivers/matrix.h"

#include <math.h>

struct frame {
    double q[4], scale[3], shear[3], move[3];
};

static void put(uint8_t *at, double value)
{
    const float rounded = (float)value;
    uint32_t word;

    memcpy(&word, &rounded, sizeof word);
    facet_store_le32(at, word);
}

static double get(const uint8_t *at)
{
    const uint32_t word = facet_load_le32(at);
    float value;

    memcpy(&value, &word, sizeof value);
    return (double)value;
}

static void times(const double a[4], const double b[4], double out[4])
{
    out[0] = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
    out[1] = a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2];
    out[2] = a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0];
    out[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}

/* A point scaled and sheared, then q p q*, then moved. */
static void move(const struct frame *f, const double p[3], double out[3])
{
    const double back[4] = {-f->q[0], -f->q[1], -f->q[2], f->q[3]};
    const double v[4] = {f->scale[0] * p[0] + f->shear[0] * p[1] + f->shear[1] * p[2],
                         f->scale[1] * p[1] + f->shear[2] * p[2],
                         f->scale[2] * p[2],
                         0};
    double half[4], turned[4];

    times(f->q, v, half);
    times(half, back, turned);
    for (unsigned i = 0; i < 3; i++) {
        out[i] = turned[i] + f->move[i];
    }
}

/* World to object, by elimination: what an instance node holds. */
static void inverse(const struct frame *f, uint8_t out[48])
{
    double m[4][8] = {{0}}, origin[3], corner[3];
    const double zero[3] = {0};

    move(f, zero, origin);
    for (unsigned k = 0; k < 3; k++) {
        double unit[3] = {0};

        unit[k] = 1;
        move(f, unit, corner);
        for (unsigned i = 0; i < 3; i++) {
            m[i][k] = corner[i] - origin[i];
        }
        m[k][3] = origin[k];
    }
    m[3][3] = 1;
    for (unsigned i = 0; i < 4; i++) {
        m[i][4 + i] = 1;
    }
    for (unsigned k = 0; k < 4; k++) {
        unsigned most = k;
        double factor;

        for (unsigned i = k; i < 4; i++) {
            most = fabs(m[i][k]) > fabs(m[most][k]) ? i : most;
        }
        for (unsigned c = 0; c < 8; c++) {
            double kept = m[k][c];

            m[k][c] = m[most][c];
            m[most][c] = kept;
        }
        factor = m[k][k];
        for (unsigned c = 0; c < 8; c++) {
            m[k][c] /= factor;
        }
        for (unsigned i = 0; i < 4; i++) {
            factor = m[i][k];
            for (unsigned c = 0; c < 8 && i != k; c++) {
                m[i][c] -= factor * m[k][c];
            }
        }
    }
    for (unsigned i = 0; i < 12; i++) {
        put(out + (size_t)4 * i, m[i / 4][4 + i % 4]);
    }
}

static double between(double low, double high)
{
    return low + (high - low) * (double)(harness_random() % 100001) / 100000;
}

static struct frame any_frame(const double q[4])
{
    struct frame f;
    double length = 0;

    for (unsigned i = 0; i < 4; i++) {
        f.q[i] = q != NULL ? q[i] : between(-1, 1);
        length += f.q[i] * f.q[i];
    }
    for (unsigned i = 0; i < 4; i++) {
        f.q[i] /= sqrt(length);
    }
    for (unsigned i = 0; i < 3; i++) {
        f.scale[i] = between(0.5, 2);
        f.shear[i] = between(-0.5, 0.5);
        f.move[i] = between(-3, 3);
    }
    f.scale[2] = harness_random() % 4 == 0 ? -f.scale[2] : f.scale[2]; /* a mirror */
    return f;
}

static void store(const struct frame *f, uint8_t out[64])
{
    for (unsigned i = 0; i < 4; i++) {
        put(out + (size_t)4 * i, f->q[i]);
    }
    for (unsigned i = 0; i < 3; i++) {
        put(out + 16 + (size_t)4 * i, f->scale[i]);
        put(out + 28 + (size_t)4 * i, f->shear[i]);
        put(out + 40 + (size_t)4 * i, f->move[i]);
    }
    put(out + 52, 0.25); /* time */
    memset(out + 56, 0xA5, 8);
}

static struct frame load(const uint8_t frame[64])
{
    struct frame f;

    for (unsigned i = 0; i < 4; i++) {
        f.q[i] = get(frame + (size_t)4 * i);
    }
    for (unsigned i = 0; i < 3; i++) {
        f.scale[i] = get(frame + 16 + (size_t)4 * i);
        f.shear[i] = get(frame + 28 + (size_t)4 * i);
        f.move[i] = get(frame + 40 + (size_t)4 * i);
    }
    return f;
}

/* Half turns about every axis and between them, where another member of the quaternion is the
 * largest, then any. */
TEST(frames_follow_their_matrix, "")
{
    static const double turns[][4] = {{0, 0, 0, 1},
                                      {1, 0, 0, 0},
                                      {0, 1, 0, 0},
                                      {0, 0, 1, 0},
                                      {1, 1, 0, 0},
                                      {0, 1, 1, 0.1},
                                      {1, 0, 1, -0.1},
                                      {3, -1, 2, 1},
                                      {-1, 3, 2, 1},
                                      {1, -2, 3, 1}};
    enum { TURNS = sizeof turns / sizeof turns[0] };

    for (unsigned n = 0; n < 500; n++) {
        const struct frame before = any_frame(NULL), after = any_frame(n < TURNS ? turns[n] : NULL);
        uint8_t frame[64], old[48], new[48];
        struct frame got;

        store(&before, frame);
        inverse(&before, old);
        inverse(&after, new);
        if (!CHECK(facet_gfx12_frame_follow(frame, old, new))) {
            return;
        }
        got = load(frame);
        CHECK(get(frame + 52) == 0.25 && frame[56] == 0xA5 && frame[63] == 0xA5);
        for (unsigned k = 0; k < 4; k++) {
            const double p[3] = {k == 1, k == 2, k == 3};
            double wanted[3], there[3];

            move(&after, p, wanted);
            move(&got, p, there);
            for (unsigned i = 0; i < 3; i++) {
                CHECK_MSG(fabs(wanted[i] - there[i]) < 2e-5,
                          "turn %u: %g, expected %g",
                          n,
                          there[i],
                          wanted[i]);
            }
        }
        store(&after, frame); /* the frame of another matrix stays as it is */
        CHECK(!facet_gfx12_frame_follow(frame, old, new));
        got = load(frame);
        CHECK(got.q[0] == (double)(float)after.q[0] && got.move[2] == (double)(float)after.move[2]);
    }
}
