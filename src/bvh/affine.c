/* See affine.h. */
#include "bvh/affine.h"

#include <math.h>

bool facet_bvh_affine_invert(const float m[12], float out[3][4])
{
    double a[3][4], inv[3][3], det;

    for (int i = 0; i < 12; i++) {
        a[i / 4][i % 4] = (double)m[i];
    }
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            int i = (c + 1) % 3, j = (c + 2) % 3, k = (r + 1) % 3, l = (r + 2) % 3;

            inv[r][c] = a[i][k] * a[j][l] - a[i][l] * a[j][k];
        }
    }
    det = (a[0][0] * inv[0][0] + a[0][1] * inv[1][0]) + a[0][2] * inv[2][0];
    if (det == 0.0) {
        return false;
    }
    for (int r = 0; r < 3; r++) {
        double t = 0.0;

        for (int c = 0; c < 3; c++) {
            inv[r][c] /= det;
            t -= inv[r][c] * a[c][3];
            out[r][c] = (float)inv[r][c];
        }
        out[r][3] = (float)t;
        for (int c = 0; c < 4; c++) {
            if (!isfinite(out[r][c])) {
                return false;
            }
        }
    }
    /* A matrix that is invertible on paper may round to one that is not. */
    det = (double)out[0][0] *
              ((double)out[1][1] * (double)out[2][2] - (double)out[1][2] * (double)out[2][1]) -
          (double)out[0][1] *
              ((double)out[1][0] * (double)out[2][2] - (double)out[1][2] * (double)out[2][0]) +
          (double)out[0][2] *
              ((double)out[1][0] * (double)out[2][1] - (double)out[1][1] * (double)out[2][0]);
    return det != 0.0 && isfinite(1.0 / det);
}

void facet_bvh_affine_apply(const float m[12], const float p[3], float out[3])
{
    for (int r = 0; r < 3; r++) {
        const float *row = m + 4 * (size_t)r;
        double sum = ((double)row[0] * (double)p[0] + (double)row[1] * (double)p[1]) +
                     ((double)row[2] * (double)p[2] + (double)row[3]);

        out[r] = (float)sum;
    }
}
