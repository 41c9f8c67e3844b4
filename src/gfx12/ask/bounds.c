/* See bounds.h. */
#include "gfx12/ask/bounds.h"

#include "base/float.h"
#include "gfx12/ask/brute.h"

#include <math.h>

static void widen(double lo[3], double hi[3], const double point[3])
{
    for (unsigned k = 0; k < 3; k++) {
        lo[k] = fmin(lo[k], point[k]);
        hi[k] = fmax(hi[k], point[k]);
    }
}

void facet_gfx12_child_world(const struct facet_gfx12_box *box,
                             unsigned slot,
                             double lo[3],
                             double hi[3])
{
    uint32_t low[3], high[3], m[9];
    const bool turned = facet_gfx12_obb_matrix(box->obb_matrix_index & 0x7F, m);

    facet_gfx12_child_bounds(&box->child[slot], box->origin, box->exponent, low, high);
    for (unsigned k = 0; k < 3; k++) {
        lo[k] = turned ? INFINITY : (double)facet_float_of(low[k]);
        hi[k] = turned ? -INFINITY : (double)facet_float_of(high[k]);
    }
    for (unsigned corner = 0; turned && corner < 8; corner++) {
        double point[3] = {0, 0, 0};

        for (unsigned r = 0; r < 3; r++) { /* the inverse of a rotation is its transpose */
            for (unsigned c = 0; c < 3; c++) {
                point[c] += (double)facet_float_of(m[3 * r + c]) *
                            (double)facet_float_of((corner >> r & 1) != 0 ? high[r] : low[r]);
            }
        }
        widen(lo, hi, point);
    }
}

static void box_bounds(const uint8_t *bytes, double lo[3], double hi[3])
{
    struct facet_gfx12_box box;

    facet_gfx12_box_decode(bytes, &box);
    for (unsigned i = 0; i <= (box.child_count_minus_one & 7u); i++) {
        const struct facet_gfx12_child *c = &box.child[i];
        double low[3], high[3];

        if (c->min[0] > c->max[0] || c->min[1] > c->max[1] || c->min[2] > c->max[2]) {
            continue; /* holds nothing */
        }
        facet_gfx12_child_world(&box, i, low, high);
        widen(lo, hi, low);
        widen(lo, hi, high);
    }
}

static void prim_bounds(const uint8_t *bytes, double lo[3], double hi[3])
{
    for (unsigned p = 0; p < facet_gfx12_stored_pairs(bytes); p++) {
        struct facet_gfx12_pair pair;

        facet_gfx12_pair_decode(bytes, p, &pair);
        for (unsigned i = 0; i < 6; i++) {
            double point[3];

            for (unsigned k = 0; k < 3; k++) {
                point[k] = (double)facet_float_of(pair.vertex[i / 3][i % 3][k]);
            }
            widen(lo, hi, point);
        }
    }
}

bool facet_gfx12_view_bounds(const struct facet_gfx12_view *view, float lo[3], float hi[3])
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    const enum facet_gfx12_kind kind = facet_gfx12_id_kind(view->root);
    uint64_t offset;

    if (!facet_gfx12_view_offset(view,
                                 view->base + facet_gfx12_id_offset(view->root),
                                 FACET_GFX12_NODE_BYTES,
                                 &offset)) {
        return false;
    }
    if (kind == FACET_GFX12_KIND_BOX) {
        box_bounds(view->bytes + offset, low, high);
    } else if (kind == FACET_GFX12_KIND_PRIMITIVE) {
        prim_bounds(view->bytes + offset, low, high);
    }
    for (unsigned k = 0; k < 3; k++) {
        lo[k] = (float)low[k];
        hi[k] = (float)high[k];
        if (!isfinite(lo[k]) || !isfinite(hi[k]) || lo[k] > hi[k]) {
            return false;
        }
    }
    return true;
}

/* Cramer's rule in double precision; exact for the identity and for moves. */
bool facet_gfx12_object_to_world(const float to_object[3][4], double out[3][4])
{
    double a[3][3], cofactor[3][3], det = 0.0;

    for (unsigned r = 0; r < 3; r++) {
        for (unsigned c = 0; c < 3; c++) {
            a[r][c] = (double)to_object[r][c];
        }
    }
    for (unsigned r = 0; r < 3; r++) {
        for (unsigned c = 0; c < 3; c++) {
            const unsigned r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;

            cofactor[r][c] = a[r1][c1] * a[r2][c2] - a[r1][c2] * a[r2][c1];
        }
    }
    for (unsigned c = 0; c < 3; c++) {
        det += a[0][c] * cofactor[0][c];
    }
    for (unsigned r = 0; r < 3; r++) {
        out[r][3] = 0.0;
        for (unsigned c = 0; c < 3; c++) {
            out[r][c] = cofactor[c][r] / det;
            out[r][3] -= out[r][c] * (double)to_object[c][3];
        }
        if (!isfinite(out[r][0] + out[r][1] + out[r][2] + out[r][3])) {
            return false;
        }
    }
    return fabs(det) > 0.0;
}
