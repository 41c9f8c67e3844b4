/* See matrix.h. */
#include "gfx12/drivers/matrix.h"

#include "base/bits.h"

#include <math.h>
#include <string.h>

static double number(const uint8_t *at)
{
    uint32_t word = facet_load_le32(at);
    float value;

    memcpy(&value, &word, sizeof value);
    return (double)value;
}

static double element(const uint8_t *matrix, unsigned row, unsigned column)
{
    return number(matrix + 16 * row + 4 * column);
}

bool facet_gfx12_are_inverse(const uint8_t *to_object, const uint8_t *to_world)
{
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned k = 0; k < 4; k++) {
            double sum = k == 3 ? element(to_object, i, 3) : 0;
            double size = fabs(sum);
            const double wanted = i == k ? 1 : 0;

            for (unsigned m = 0; m < 3; m++) {
                const double product = element(to_object, i, m) * element(to_world, m, k);

                sum += product;
                size += fabs(product);
            }
            if (!(fabs(sum - wanted) <= 1e-5 * (size + 1))) {
                return false;
            }
        }
    }
    return true;
}

static void store_float(uint8_t *to, double value)
{
    const float rounded = (float)value;
    uint32_t word;

    memcpy(&word, &rounded, sizeof word);
    facet_store_le32(to, word);
}

void facet_gfx12_store_inverse(const uint8_t *from, uint8_t *to)
{
    double cofactor[3][3], det = 0;

    for (unsigned i = 0; i < 3; i++) {
        for (unsigned k = 0; k < 3; k++) {
            const unsigned a = (k + 1) % 3, b = (k + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;

            cofactor[i][k] = element(from, a, c) * element(from, b, d) -
                             element(from, a, d) * element(from, b, c);
        }
        det += element(from, 0, i) * cofactor[i][0];
    }
    if (det == 0 || !isfinite(1 / det)) {
        return;
    }
    for (unsigned i = 0; i < 3; i++) {
        double moved = 0;

        for (unsigned k = 0; k < 3; k++) {
            store_float(to + 16 * i + 4 * k, cofactor[i][k] / det);
            moved -= cofactor[i][k] / det * element(from, k, 3);
        }
        store_float(to + 16 * i + 12, moved);
    }
}

bool facet_gfx12_is_identity(const uint8_t *matrix)
{
    for (unsigned i = 0; i < 12; i++) {
        if (element(matrix, i / 4, i % 4) != (i % 5 == 0 ? 1 : 0)) {
            return false;
        }
    }
    return true;
}

/* ---- frames ---- */

/* Floats of a frame: a quaternion (x, y, z, w), then scale, shear, translation, time. A point is
 * scaled and sheared, rotated, moved. */
enum { SCALE = 4, SHEAR = 7, MOVE = 10 };

static void rotation_of(const double q[4], double out[3][3])
{
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    const double rows[3][3] = {
        {1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
        {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
        {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)},
    };

    memcpy(out, rows, sizeof rows);
}

/* The matrix of a frame that holds a rotation. */
static void compose(const uint8_t *frame, uint8_t *matrix)
{
    double f[13], q[3][3];

    for (unsigned i = 0; i < 13; i++) {
        f[i] = number(frame + 4 * i);
    }
    rotation_of(f, q);
    for (unsigned i = 0; i < 3; i++) {
        const double *r = q[i];

        store_float(matrix + 16 * i, r[0] * f[SCALE]);
        store_float(matrix + 16 * i + 4, r[0] * f[SHEAR] + r[1] * f[SCALE + 1]);
        store_float(matrix + 16 * i + 8,
                    r[0] * f[SHEAR + 1] + r[1] * f[SHEAR + 2] + r[2] * f[SCALE + 2]);
        store_float(matrix + 16 * i + 12, f[MOVE + i]);
    }
}

bool facet_gfx12_frame_read(const uint8_t *frame,
                            enum facet_gfx12_frame_form form,
                            uint8_t *to_object)
{
    uint8_t to_world[48] = {0}, inverse[48] = {0};
    double length = 0;

    memcpy(to_world, frame, sizeof to_world);
    if (form == FACET_GFX12_FRAME_TURN) {
        for (unsigned i = 0; i < 4; i++) {
            length += number(frame + 4 * i) * number(frame + 4 * i);
        }
        if (!(fabs(length - 1) <= 1e-3)) {
            return false;
        }
        compose(frame, to_world);
    }
    facet_gfx12_store_inverse(to_world, inverse);
    if (!facet_gfx12_are_inverse(inverse, to_world)) {
        return false;
    }
    memcpy(to_object, inverse, sizeof inverse);
    return true;
}

double facet_gfx12_frame_time(const uint8_t *frame, enum facet_gfx12_frame_form form)
{
    return number(frame + (form == FACET_GFX12_FRAME_TURN ? 4 * (MOVE + 3) : 48));
}

/* The quaternion of a rotation, by its largest member, so that nothing is lost by cancelling. */
static void quaternion_of(double m[3][3], double q[4])
{
    const double squares[4] = {1 + m[0][0] - m[1][1] - m[2][2],
                               1 - m[0][0] + m[1][1] - m[2][2],
                               1 - m[0][0] - m[1][1] + m[2][2],
                               1 + m[0][0] + m[1][1] + m[2][2]};
    unsigned most = 3;
    double twice;

    for (unsigned i = 0; i < 3; i++) {
        most = squares[i] > squares[most] ? i : most;
    }
    twice = sqrt(squares[most]); /* twice the member */
    for (unsigned i = 0; i < 3; i++) {
        const unsigned a = (i + 1) % 3, b = (i + 2) % 3;

        q[i] = most == 3   ? (m[b][a] - m[a][b]) / (2 * twice)
               : most == i ? twice / 2
                           : (m[most][i] + m[i][most]) / (2 * twice);
    }
    if (most == 3) {
        q[3] = twice / 2;
    } else {
        const unsigned a = (most + 1) % 3, b = (most + 2) % 3;

        q[3] = (m[b][a] - m[a][b]) / (2 * twice);
    }
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Columns made orthogonal one after the other, from the first on: what is left is the rotation,
 * what was taken away scale and shear. A mirror goes into the last scale. */
static void decompose(const uint8_t *matrix, uint8_t *frame)
{
    double c[3][3], upper[3][3] = {{0}}, rows[3][3], q[4], turned[3];

    for (unsigned k = 0; k < 3; k++) {
        for (unsigned i = 0; i < 3; i++) {
            c[k][i] = element(matrix, i, k);
        }
        for (unsigned j = 0; j < k; j++) {
            upper[j][k] = dot(c[j], c[k]);
            for (unsigned i = 0; i < 3; i++) {
                c[k][i] -= upper[j][k] * c[j][i];
            }
        }
        upper[k][k] = sqrt(dot(c[k], c[k]));
        for (unsigned i = 0; i < 3; i++) {
            c[k][i] /= upper[k][k];
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        const unsigned a = (i + 1) % 3, b = (i + 2) % 3;

        turned[i] = c[0][a] * c[1][b] - c[0][b] * c[1][a];
    }
    if (dot(turned, c[2]) < 0) {
        upper[2][2] = -upper[2][2];
        memcpy(c[2], turned, sizeof turned);
    }
    for (unsigned i = 0; i < 9; i++) {
        rows[i / 3][i % 3] = c[i % 3][i / 3];
    }
    quaternion_of(rows, q);
    for (unsigned i = 0; i < 4; i++) {
        store_float(frame + 4 * i, q[i]);
    }
    for (unsigned i = 0; i < 3; i++) {
        store_float(frame + 4 * (SCALE + i), upper[i][i]);
        store_float(frame + 4 * (SHEAR + i), upper[i == 2 ? 1 : 0][i == 0 ? 1 : 2]);
        store_float(frame + 4 * (MOVE + i), element(matrix, i, 3));
    }
}

bool facet_gfx12_frame_follow(uint8_t *frame, const uint8_t *before, const uint8_t *after)
{
    uint8_t matrix[48] = {0};

    if (facet_gfx12_are_inverse(before, frame)) {
        facet_gfx12_store_inverse(after, frame);
        return true;
    }
    compose(frame, matrix);
    if (!facet_gfx12_are_inverse(before, matrix)) {
        return false;
    }
    facet_gfx12_store_inverse(after, matrix);
    decompose(matrix, frame);
    return true;
}
