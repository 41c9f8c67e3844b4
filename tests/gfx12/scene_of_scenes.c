#include "gfx12/scene_of_scenes.h"

#include "gfx12/common.h"

#include <math.h>
#include <string.h>

enum { TRIANGLES = 24 };

static float between(float lo, float hi)
{
    return lo + (hi - lo) * ((float)(random_bits() >> 8) * 0x1p-24f);
}

/* world_to_object: a scale, a turn of the axes and a move, so that the way back is exact enough. */
static void place(struct pack_instance *in, const float lo[3], const float hi[3])
{
    const unsigned turn = random_bits() % 3;
    const float scale = between(0.5f, 2);

    memcpy(in->blas_lo, lo, sizeof in->blas_lo);
    memcpy(in->blas_hi, hi, sizeof in->blas_hi);
    in->mask = 0xFF;
    for (unsigned row = 0; row < 3; row++) {
        const unsigned axis = (row + turn) % 3; /* of the world */
        const float move = between(-3, 3);

        memset(in->world_to_object + 4 * (size_t)row, 0, 4 * sizeof(float));
        in->world_to_object[4 * row + axis] = scale;
        in->world_to_object[4 * row + 3] = move;
        in->lo[axis] = (lo[row] - move) / scale - 0.01f;
        in->hi[axis] = (hi[row] - move) / scale + 0.01f;
    }
}

static void bounds_of(const struct pack_instance *in, unsigned count, float lo[3], float hi[3])
{
    for (unsigned k = 0; k < 3; k++) {
        lo[k] = INFINITY;
        hi[k] = -INFINITY;
        for (unsigned i = 0; i < count; i++) {
            lo[k] = fminf(lo[k], in[i].lo[k]);
            hi[k] = fmaxf(hi[k], in[i].hi[k]);
        }
    }
}

void scene_of_scenes_build(struct scene_of_scenes *w)
{
    struct pack_tri tris[TRIANGLES];
    float lo[3], hi[3], middle_lo[3], middle_hi[3];

    memset(w, 0, sizeof *w);
    for (unsigned i = 0; i < TRIANGLES; i++) {
        float at[3] = {between(-1, 1), between(-1, 1), between(-1, 1)};

        tris[i] = (struct pack_tri){.primitive = i, .opaque = true};
        for (unsigned c = 0; c < 9; c++) {
            tris[i].v[c / 3][c % 3] = at[c % 3] + between(-0.7f, 0.7f);
        }
    }
    w->blas = pack_blas(&w->image, tris, TRIANGLES, 2, 0.01f, lo, hi);
    for (unsigned i = 0; i < SCENES_MIDDLE; i++) {
        place(&w->below[i], lo, hi);
        w->below[i].blas = w->blas;
        w->below[i].user_data = i;
    }
    w->middle = pack_tlas(&w->image, w->below, SCENES_MIDDLE);
    bounds_of(w->below, SCENES_MIDDLE, middle_lo, middle_hi);
    for (unsigned i = 0; i < SCENES_TOP; i++) {
        const bool direct = i == SCENES_TOP - 1;

        place(&w->above[i], direct ? lo : middle_lo, direct ? hi : middle_hi);
        w->above[i].blas = direct ? w->blas : w->middle;
        w->above[i].user_data = 100 + i;
    }
    w->top = pack_tlas(&w->image, w->above, SCENES_TOP);
}

void scene_of_scenes_ray(float ray[2][3])
{
    for (unsigned k = 0; k < 3; k++) {
        ray[0][k] = between(-12, 12);
        ray[1][k] = between(-4, 4) - ray[0][k];
    }
}
