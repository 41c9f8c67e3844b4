/* See exact_ray.h. */
#include "exact_ray.h"

struct exact intersect_exact(const struct facet_gfx12_batch_ray *ray, double corner[3][3])
{
    struct exact r = {.edge = INFINITY};
    double e1[3], e2[3], e3[3], n[3], s[3], scale = 0;

    for (int k = 0; k < 3; k++) {
        e1[k] = corner[1][k] - corner[0][k];
        e2[k] = corner[2][k] - corner[0][k];
        e3[k] = (double)ray->origin[k] - corner[0][k];
        scale = fmax(scale, fabs((double)ray->origin[k]));
        for (int c = 0; c < 3; c++) {
            scale = fmax(scale, fabs(corner[c][k]));
        }
    }
    const double d[3] = {
        (double)ray->direction[0], (double)ray->direction[1], (double)ray->direction[2]};
    cross3(e1, e2, n);
    double det = -dot3(n, d);
    r.valid = det != 0;
    if (!r.valid) {
        return r;
    }
    r.t = dot3(n, e3) / det;
    cross3(e3, d, s);
    const double u = dot3(e2, s) / det, v = -dot3(e1, s) / det;
    const double weight[3] = {1 - u - v, u, v};
    double area = length3(n);
    scale = fmax(scale, fabs(r.t) * length3(d));
    r.scale = scale;
    r.slant = fabs(det) / (area * length3(d));
    for (int c = 0; c < 3; c++) {
        double opposite[3];
        for (int k = 0; k < 3; k++) {
            opposite[k] = corner[(c + 2) % 3][k] - corner[(c + 1) % 3][k];
        }
        /* Grazing rays move along the triangle by more than the error across it. */
        double distance = weight[c] * area / length3(opposite) * r.slant;
        r.edge = fmin(r.edge, distance / scale);
    }
    return r;
}
