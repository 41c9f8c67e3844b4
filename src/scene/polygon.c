/* See polygon.h. Decisions are made in the plane that the polygon faces most, in double precision,
 * where the sign of an area of three floats' coordinates is as good as exact. */
#include "scene/polygon.h"

#include "scene/matrix.h"

#include <math.h>
#include <string.h>

struct flat {
    double x, y;
};

/* Newell's method: twice the area, as a vector. */
static void area_vector(const float *points, uint32_t count, double area[3])
{
    const float *p = points + 3 * (size_t)(count - 1);

    area[0] = area[1] = area[2] = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        const float *q = points + 3 * (size_t)i;

        for (unsigned k = 0; k < 3; k++) {
            const unsigned a = (k + 1) % 3, b = (k + 2) % 3;

            area[k] += ((double)p[a] - (double)q[a]) * ((double)p[b] + (double)q[b]);
        }
        p = q;
    }
}

void facet_polygon_normal(const float *points, uint32_t count, float normal[3])
{
    double area[3];
    bool some;

    area_vector(points, count, area);
    some = facet_scene_normalize(area);
    for (unsigned k = 0; k < 3; k++) {
        normal[k] = some ? (float)area[k] : 0.0F;
    }
}

/* Twice the area of a, b, c: positive when they turn left. */
static double turn(struct flat a, struct flat b, struct flat c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/* A polygon projected along the largest component of its area, so that it turns left. */
struct view {
    const float *points;
    unsigned x, y;
};

static struct view view_of(const float *points, uint32_t count)
{
    double area[3];
    unsigned axis = 0;
    bool back;

    area_vector(points, count, area);
    for (unsigned k = 1; k < 3; k++) {
        axis = fabs(area[k]) > fabs(area[axis]) ? k : axis;
    }
    back = area[axis] < 0.0;
    return (struct view){points, (axis + (back ? 2 : 1)) % 3, (axis + (back ? 1 : 2)) % 3};
}

static struct flat flat_of(const struct view *view, uint32_t corner)
{
    const float *p = view->points + 3 * (size_t)corner;

    return (struct flat){(double)p[view->x], (double)p[view->y]};
}

static bool is_convex(const struct view *view, uint32_t count)
{
    struct flat a = flat_of(view, count - 2), b = flat_of(view, count - 1);

    for (uint32_t i = 0; i < count; i++) {
        struct flat c = flat_of(view, i);

        if (turn(a, b, c) <= 0.0) {
            return false;
        }
        a = b;
        b = c;
    }
    return true;
}

static void fan(const uint32_t *corners, uint32_t count, uint32_t *triangles)
{
    for (uint32_t i = 2; i < count; i++) {
        *triangles++ = corners != NULL ? corners[0] : 0;
        *triangles++ = corners != NULL ? corners[i - 1] : i - 1;
        *triangles++ = corners != NULL ? corners[i] : i;
    }
}

static bool same(struct flat a, struct flat b)
{
    return a.x == b.x && a.y == b.y;
}

/* What is known about a corner: the number of one that keeps it from being an ear, or one of these.
 */
enum { UNKNOWN = FACET_POLYGON_MOST_CORNERS, IS_EAR, TURNS_RIGHT };

/* The corners that are left, where they are, and what is known about them. */
struct ring {
    uint32_t count;
    uint32_t corner[FACET_POLYGON_MOST_CORNERS], known[FACET_POLYGON_MOST_CORNERS];
    struct flat at[FACET_POLYGON_MOST_CORNERS];
    bool gone[FACET_POLYGON_MOST_CORNERS]; /* by number */
};

/* A corner whose triangle holds no other corner can be cut off. Corners at the place of one of its
 * three, as where a hole is joined to the outline, do not count. */
static uint32_t look_at(const struct ring *ring, uint32_t i)
{
    const struct flat a = ring->at[(i + ring->count - 1) % ring->count], b = ring->at[i],
                      c = ring->at[(i + 1) % ring->count];

    if (turn(a, b, c) <= 0.0) {
        return TURNS_RIGHT;
    }
    for (uint32_t k = 0; k < ring->count; k++) {
        const struct flat p = ring->at[k];

        if (turn(a, b, p) >= 0.0 && turn(b, c, p) >= 0.0 && turn(c, a, p) >= 0.0 && !same(p, a) &&
            !same(p, b) && !same(p, c)) {
            return ring->corner[k];
        }
    }
    return IS_EAR;
}

/* What was seen stays true while the corner has its neighbours and the other one is there. So a
 * corner is looked at again only after a cut beside it or a cut of the other one: a few times, and
 * `looks` is the limit for polygons that are made to need more. */
static bool is_ear(struct ring *ring, uint32_t i, uint32_t *looks)
{
    const uint32_t known = ring->known[i];

    if (known == UNKNOWN || (known < UNKNOWN && ring->gone[known])) {
        if (*looks == 0) {
            return false;
        }
        (*looks)--;
        ring->known[i] = look_at(ring, i);
    }
    return ring->known[i] == IS_EAR;
}

static void remove_corner(struct ring *ring, uint32_t i)
{
    ring->known[(i + ring->count - 1) % ring->count] = UNKNOWN;
    ring->known[(i + 1) % ring->count] = UNKNOWN;
    ring->gone[ring->corner[i]] = true;
    ring->count--;
    memmove(&ring->corner[i], &ring->corner[i + 1], (ring->count - i) * sizeof ring->corner[0]);
    memmove(&ring->known[i], &ring->known[i + 1], (ring->count - i) * sizeof ring->known[0]);
    memmove(&ring->at[i], &ring->at[i + 1], (ring->count - i) * sizeof ring->at[0]);
}

/* False when the limit of looks was reached: the rest is a fan. */
static bool cut_ears(const struct view *view, uint32_t count, uint32_t *triangles)
{
    struct ring ring = {.count = count};
    uint32_t at = 0, tried = 0, looks = FACET_POLYGON_MOST_LOOKS * count;

    for (uint32_t i = 0; i < count; i++) {
        ring.corner[i] = i;
        ring.known[i] = UNKNOWN;
        ring.at[i] = flat_of(view, i);
    }
    while (ring.count > 3 && tried < ring.count) {
        const uint32_t i = at % ring.count, after = (i + 1) % ring.count;
        const uint32_t before = (i + ring.count - 1) % ring.count;

        if (!is_ear(&ring, i, &looks)) {
            at = after;
            tried++;
            continue;
        }
        *triangles++ = ring.corner[before];
        *triangles++ = ring.corner[i];
        *triangles++ = ring.corner[after];
        remove_corner(&ring, i);
        at = i; /* the next corner: strips rather than one fan */
        tried = 0;
    }
    fan(ring.corner, ring.count, triangles);
    return looks != 0 || ring.count <= 3;
}

bool facet_polygon_cut(const float *points, uint32_t count, uint32_t *triangles)
{
    struct view view;
    bool convex = count == 3;

    if (!convex) {
        view = view_of(points, count);
        convex = is_convex(&view, count);
    }
    if (convex || count > FACET_POLYGON_MOST_CORNERS) {
        fan(NULL, count, triangles);
        return convex;
    }
    return cut_ears(&view, count, triangles);
}
