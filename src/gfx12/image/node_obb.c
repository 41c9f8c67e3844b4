/* The 104 rotation matrices that obb_matrix_index selects: section 6 of gfx12-semantics.md. They
 * are rotations by multiples of 22.5 degrees about 13 axes; every entry is one of eight magnitudes
 * of its angle, so that the table is built from 32 constants and no trigonometry. */
#include "gfx12/image/node.h"

static const int8_t axes[13][3] = {
    {1, 0, 0},
    {0, 1, 0},
    {0, 0, 1},
    {0, 1, 1},
    {0, -1, 1},
    {1, 0, 1},
    {1, 0, -1},
    {1, 1, 0},
    {-1, 1, 0},
    {1, 1, 1},
    {-1, 1, 1},
    {1, -1, 1},
    {-1, -1, 1},
};

/* Correctly rounded magnitudes per angle (a+1)*22.5 degrees, named as in section 6. */
struct magnitudes {
    uint32_t C, S, H, K, Q, D, U, W;
};
static const struct magnitudes angles[4] = {
    {0x3F6C835E,
     0x3EC3EF15,
     0x3F7641AF,
     0x3D1BE50C,
     0x3E8A8BD4,
     0x3F73023F,
     0x3E7C3A3A,
     0x3E484336},
    {0x3F3504F3,
     0x3F3504F3,
     0x3F5A827A,
     0x3E15F61A,
     0x3F000000,
     0x3F4E034D,
     0x3F01814F,
     0x3E9F0938},
    {0x3EC3EF15,
     0x3F6C835E,
     0x3F30FBC5,
     0x3E9E0875,
     0x3F273D75,
     0x3F16A507,
     0x3F3D3A87,
     0x3EA7BF1B},
    {0x00000000,
     0x3F800000,
     0x3F000000,
     0x3F000000,
     0x3F3504F3,
     0x3EAAAAAB,
     0x3F692290,
     0x3E79DF93},
};

static uint32_t with_sign(int sign, uint32_t magnitude)
{
    return sign < 0 ? magnitude | 0x80000000 : magnitude;
}

static uint32_t diagonal(const struct magnitudes *m, unsigned nonzero, int g)
{
    switch (nonzero) {
    case 1:
        return g != 0 ? 0x3F800000 : m->C;
    case 2:
        return g != 0 ? m->H : m->C;
    default:
        return m->D;
    }
}

/* p = product of the axis components of row and column, b = sine part with its sign. */
static uint32_t off_diagonal(const struct magnitudes *m, unsigned nonzero, int p, int b)
{
    switch (nonzero) {
    case 1:
        return b != 0 ? with_sign(b, m->S) : 0;
    case 2:
        return p != 0 ? with_sign(p, m->K) : with_sign(b, m->Q);
    default:
        return with_sign(b, p == b ? m->U : m->W);
    }
}

bool facet_gfx12_obb_matrix(unsigned index, uint32_t rows[9])
{
    const int8_t *g;
    const struct magnitudes *m;
    int sense;
    unsigned nonzero;

    if (index >= FACET_GFX12_OBB_COUNT) {
        return false;
    }
    g = axes[index / 8];
    m = &angles[index % 8 / 2];
    sense = index % 2 != 0 ? -1 : 1;
    nonzero = (unsigned)(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            int eps = (r + 1) % 3 == c ? -1 : 1;
            rows[3 * r + c] =
                r == c ? diagonal(m, nonzero, g[r])
                       : off_diagonal(m, nonzero, g[r] * g[c], sense * g[3 - r - c] * eps);
        }
    }
    return true;
}
