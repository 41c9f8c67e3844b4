/* See host.h: four boxes of a tile at once, with the vectors of GNU C, which every host has. Lane
 * by lane this is facet_rt_host_box. */
#include "rt/host.h"

#include <math.h>

#include "base/bits.h"

typedef float f4 __attribute__((vector_size(16)));
typedef int32_t i4 __attribute__((vector_size(16)));

#define ALL(value) ((f4){value, value, value, value})
#define BITS(vector) ((i4)(vector))
#define FLOATS(vector) ((f4)(vector))
#define PICK(mask, a, b) FLOATS(((mask)&BITS(a)) | (~(mask)&BITS(b)))
#define SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)

enum { MAGNITUDE = INT32_MAX, INFINITE = 0x7F800000, TWICE_TINIEST = 0x01000000 };

static inline f4 load4(const uint8_t *at)
{
    return FLOATS(((i4){(int32_t)facet_load_le32(at),
                        (int32_t)facet_load_le32(at + 4),
                        (int32_t)facet_load_le32(at + 8),
                        (int32_t)facet_load_le32(at + 12)}));
}

static inline i4 are_finite(f4 v)
{
    return (BITS(v) & MAGNITUDE) < INFINITE;
}

static inline i4 are_ordinary(f4 v)
{
    const i4 magnitude = BITS(v) & MAGNITUDE;

    return (magnitude >= TWICE_TINIEST) & (magnitude < INFINITE);
}

/* The larger and the smaller of two numbers, -0 < +0. */
static inline f4 larger(f4 a, f4 b)
{
    return PICK((a > b) | ((a == b) & (BITS(a) >= 0)), a, b);
}

static inline f4 smaller(f4 a, f4 b)
{
    return PICK((a < b) | ((a == b) & (BITS(a) < 0)), a, b);
}

static inline unsigned mask_of(i4 lanes)
{
    return (unsigned)((lanes[0] & 1) | (lanes[1] & 2) | (lanes[2] & 4) | (lanes[3] & 8));
}

/* The bounds of four boxes, which lie one after the other: min x, y, z, max x, y, z. */
static void turn(const uint8_t *boxes, f4 min[3], f4 max[3])
{
    f4 v[6], low[3], high[3];

    for (unsigned i = 0; i < 6; i++) {
        v[i] = load4(boxes + 16 * (size_t)i);
    }
    low[0] = SHUFFLE(v[0], v[1], 0, 6, 1, 7); /* x and y of boxes 0 and 1 */
    low[1] = SHUFFLE(v[0], v[2], 2, 4, 3, 5); /* min z and max x */
    low[2] = SHUFFLE(v[1], v[2], 0, 6, 1, 7); /* max y and z */
    high[0] = SHUFFLE(v[3], v[4], 0, 6, 1, 7);
    high[1] = SHUFFLE(v[3], v[5], 2, 4, 3, 5);
    high[2] = SHUFFLE(v[4], v[5], 0, 6, 1, 7);
    min[0] = SHUFFLE(low[0], high[0], 0, 1, 4, 5);
    min[1] = SHUFFLE(low[0], high[0], 2, 3, 6, 7);
    min[2] = SHUFFLE(low[1], high[1], 0, 1, 4, 5);
    max[0] = SHUFFLE(low[1], high[1], 2, 3, 6, 7);
    max[1] = SHUFFLE(low[2], high[2], 0, 1, 4, 5);
    max[2] = SHUFFLE(low[2], high[2], 2, 3, 6, 7);
}

struct facet_rt_host_tile
facet_rt_host_boxes(const struct facet_rt_host_ray *ray, const uint8_t *boxes, bool clamp)
{
    f4 min[3], max[3], near = ALL(-INFINITY), far = ALL(INFINITY), cnear, cfar;
    i4 sound, inverted, fine = {-1, -1, -1, -1};
    struct facet_rt_host_tile tile;

    turn(boxes, min, max);
    sound = are_finite(min[0]) & are_finite(min[1]) & are_finite(min[2]) & are_finite(max[0]) &
            are_finite(max[1]) & are_finite(max[2]);
    inverted = (min[0] > max[0]) | (min[1] > max[1]) | (min[2] > max[2]);
    for (unsigned a = 0; a < 3; a++) {
        const f4 o = ALL(ray->o[a]);
        f4 tn, tf;

        if (ray->parallel[a]) {
            const i4 inside = (min[a] <= o) & (o <= max[a]);

            tn = PICK(inside, ALL(-INFINITY), ALL(INFINITY));
            tf = -tn;
        } else {
            const f4 inverse = ALL(ray->inverse[a]);
            const f4 first = (ray->backward[a] ? max[a] : min[a]) - o,
                     second = (ray->backward[a] ? min[a] : max[a]) - o;

            tn = first * inverse;
            tf = second * inverse;
            fine &= (are_ordinary(tn) | (first == 0)) & (are_ordinary(tf) | (second == 0));
        }
        near = larger(near, tn);
        far = smaller(far, tf);
    }
    cnear = larger(near, ALL(ray->tmin));
    cfar = smaller(far, ALL(ray->tmax));
    tile.tested = mask_of(~inverted);
    tile.hits = mask_of((cnear <= cfar) & ~inverted);
    tile.decided = ray->boxes ? mask_of(sound & (fine | inverted)) : 0;
    near = clamp ? cnear : near;
    far = clamp ? cfar : far;
    memcpy(tile.near, &near, sizeof tile.near);
    memcpy(tile.far, &far, sizeof tile.far);
    return tile;
}
