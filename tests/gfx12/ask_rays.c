/* Many rays of one image at once, for test_ask_rays.py: what the traversal, the brute force of
 * `bvh why` and its verdicts say, against a second brute force over the scene itself, in double
 * precision. Prints what differs, and counts.
 *
 *   ask_rays DRIVER WORLD RAYS BASE ROOT FILE@ADDR...
 *
 * DRIVER is radv, gpurt, hiprt or none. WORLD: a record for each instance, {u32 number, u32 shapes,
 * 12 doubles world to object}, then its shapes, {u32 geometry, u32 primitive, u32 box, 9 floats}.
 */
#include "base/bits.h"
#include "base/file.h"
#include "gfx12/ask/brute.h"
#include "gfx12/ask/procedural.h"
#include "gfx12/ask/why.h"
#include "gfx12/drivers/hiprt.h"
#include "gfx12/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_SEGMENTS = 16, MOST_SHAPES = 4096, MOST_INSTANCES = 16 };

static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "ask_rays: %s\n", what);
        exit(2);
    }
}

static struct facet_bytes read(const char *path)
{
    struct facet_bytes out;

    require(facet_file_read(path, 1 << 28, &out, NULL) == FACET_OK, path);
    return out;
}

/* ---- the image ---- */

static struct facet_gfx12_segment segments[MOST_SEGMENTS];
static struct facet_gfx12_piece pieces[MOST_SEGMENTS];
static uint32_t segment_count;

static int by_address(const void *a, const void *b)
{
    const struct facet_gfx12_segment *x = a, *y = b;

    return x->address < y->address ? -1 : x->address > y->address;
}

static struct facet_gfx12_view open_image(char **words, int count, uint64_t base, uint32_t root)
{
    uint64_t size = 0;
    uint8_t *bytes;

    require(count <= MOST_SEGMENTS, "too many segments");
    for (int i = 0; i < count; i++) {
        char *at = strrchr(words[i], '@');

        require(at != NULL, "FILE@ADDR");
        *at = 0;
        segments[i] = (struct facet_gfx12_segment){
            .address = strtoull(at + 1, NULL, 0) & facet_bits_mask(48), .name = words[i]};
    }
    segment_count = (uint32_t)count;
    qsort(segments, segment_count, sizeof *segments, by_address);
    bytes = calloc(1, 1 << 24);
    for (uint32_t i = 0; i < segment_count; i++) {
        struct facet_bytes file = read(segments[i].name);

        segments[i].offset = size;
        segments[i].size = file.size;
        require(size + file.size < 1 << 24, "too large");
        memcpy(bytes + size, file.data, file.size);
        size = (size + file.size + 63) / 64 * 64;
        free(file.data);
    }
    return (struct facet_gfx12_view){.bytes = bytes,
                                     .size = size,
                                     .base = base & facet_bits_mask(48),
                                     .root = root,
                                     .segments = segments,
                                     .segment_count = segment_count};
}

static void translate(const struct facet_gfx12_view *view)
{
    for (uint32_t i = 0; i < segment_count; i++) {
        char reason[FACET_GFX12_REASON];

        pieces[i] = (struct facet_gfx12_piece){
            .at = segments[i].offset, .bytes = segments[i].size, .address = segments[i].address};
        require(facet_gfx12_header_read(FACET_GFX12_DRIVER_HIPRT,
                                        view->bytes + segments[i].offset,
                                        segments[i].size,
                                        &pieces[i].structure,
                                        reason) == FACET_GFX12_HEADER_YES,
                "no header of hiprt");
    }
    facet_gfx12_hiprt_translate((uint8_t *)(uintptr_t)view->bytes, pieces, segment_count);
}

/* ---- the scene, in double precision ---- */

struct shape {
    uint32_t geometry, primitive, box;
    double corner[3][3];
};

struct placed {
    uint32_t number, count;
    double to_object[3][4];
    const struct shape *shapes;
};

static struct shape shapes[MOST_SHAPES];
static struct placed placed[MOST_INSTANCES];
static unsigned placed_count, shape_count;

static void read_world(const char *path)
{
    struct facet_bytes file = read(path);
    size_t at = 0;

    while (at < file.size) {
        struct placed *p = &placed[placed_count++];

        require(placed_count <= MOST_INSTANCES, "too many instances");
        p->number = facet_load_le32(file.data + at);
        p->count = facet_load_le32(file.data + at + 4);
        memcpy(p->to_object, file.data + at + 8, sizeof p->to_object);
        p->shapes = &shapes[shape_count];
        at += 8 + sizeof p->to_object;
        for (uint32_t i = 0; i < p->count; i++, at += 48) {
            struct shape *s = &shapes[shape_count++];
            float corner[9];

            require(shape_count <= MOST_SHAPES, "too many shapes");
            s->geometry = facet_load_le32(file.data + at);
            s->primitive = facet_load_le32(file.data + at + 4);
            s->box = facet_load_le32(file.data + at + 8);
            memcpy(corner, file.data + at + 12, sizeof corner);
            for (unsigned k = 0; k < 9; k++) {
                s->corner[k / 3][k % 3] = (double)corner[k];
            }
        }
    }
    free(file.data);
}

static void sub(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = a[k] - b[k];
    }
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    }
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* How the ray meets a shape: *t, and how far inside (above 0) or outside it passes. */
static double meet_triangle(const double o[3], const double d[3], const struct shape *s, double *t)
{
    double e1[3], e2[3], p[3], q[3], from[3], det, u, v;

    sub(s->corner[1], s->corner[0], e1);
    sub(s->corner[2], s->corner[0], e2);
    cross(d, e2, p);
    det = dot(e1, p);
    if (det == 0) {
        return -INFINITY;
    }
    sub(o, s->corner[0], from);
    cross(from, e1, q);
    u = dot(from, p) / det;
    v = dot(d, q) / det;
    *t = dot(e2, q) / det;
    return fmin(fmin(u, v), 1 - u - v);
}

/* R-G12-91: the near side, or the far one from inside. */
static double meet_box(const double o[3], const double d[3], const struct shape *s, double *t)
{
    double near = -INFINITY, far = INFINITY;

    for (int k = 0; k < 3; k++) {
        const double a = (s->corner[0][k] - o[k]) / d[k], b = (s->corner[1][k] - o[k]) / d[k];

        near = fmax(near, fmin(a, b));
        far = fmin(far, fmax(a, b));
    }
    *t = near > 0 ? near : far;
    return near > 0 ? far - near : fmin(far, fmin(far - near, -near));
}

static double
meet(const struct placed *p, const struct shape *s, const struct facet_gfx12_query *q, double *t)
{
    double o[3], d[3], inside;

    for (int i = 0; i < 3; i++) {
        o[i] = p->to_object[i][3];
        d[i] = 0;
        for (int j = 0; j < 3; j++) {
            o[i] += p->to_object[i][j] * (double)q->origin[j];
            d[i] += p->to_object[i][j] * (double)q->direction[j];
        }
    }
    *t = -1;
    inside = s->box ? meet_box(o, d, s, t) : meet_triangle(o, d, s, t);
    return *t > 0 ? inside : -INFINITY;
}

/* ---- comparisons ---- */

#define EDGE 1e-4
#define SLACK 1e-3

static unsigned wrong[4], asked[4]; /* traversal, brute force, verdicts on hits, on others */
static const char *const names[] = {"trace", "brute", "why of the hit", "why of another"};

static void differ(unsigned what, size_t ray, const char *found)
{
    if (wrong[what]++ == 0) {
        printf("ray %zu: %s: %s\n", ray, names[what], found);
    }
}

/* The answer is the closest one, but for rays that pass an edge or meet two shapes at once. */
static bool is_closest(const struct facet_gfx12_query *q, const struct facet_gfx12_hit *hit)
{
    const double limit = hit->found ? (double)hit->t * (1 - EDGE) - EDGE : INFINITY;
    bool same = !hit->found, edge = false;

    for (unsigned i = 0; i < placed_count; i++) {
        for (uint32_t k = 0; k < placed[i].count; k++) {
            const struct shape *s = &placed[i].shapes[k];
            double t, inside = meet(&placed[i], s, q, &t);

            if (inside > EDGE && t < limit) {
                return false;
            }
            edge = edge || fabs(inside) <= EDGE;
            same = same ||
                   (placed[i].number == hit->instance_user_data &&
                    s->geometry == hit->geometry_index && s->primitive == hit->primitive_index &&
                    inside > -EDGE && fabs(t - (double)hit->t) <= SLACK * fmax(1, fabs(t)));
        }
    }
    return same || edge;
}

static void ask(const struct facet_gfx12_unit *unit,
                const struct facet_gfx12_view *view,
                const struct facet_gfx12_walk *walk,
                const struct facet_gfx12_query *q,
                const struct facet_gfx12_hit *hit,
                size_t ray)
{
    const unsigned other = (unsigned)(ray * 2654435761u >> 8) % shape_count;
    struct facet_gfx12_why why;
    struct facet_gfx12_expect expect = {.has_geometry = true, .has_instance = true};
    unsigned i = 0;
    double t, inside;

    if (hit->found && ray % 2 == 0) {
        expect.primitive = hit->primitive_index;
        expect.geometry = hit->geometry_index;
        expect.instance = hit->instance_user_data;
        require(facet_gfx12_why(unit, view, walk, q, &expect, &why, NULL) == FACET_OK, "memory");
        asked[2]++;
        if (why.fault != FACET_GFX12_FAULT_NONE || !why.hit.found || why.hit.t != hit->t) {
            differ(2, ray, facet_gfx12_fault_name(why.fault));
        }
        facet_gfx12_why_free(&why);
        return;
    }
    while (placed[i].shapes + placed[i].count <= &shapes[other]) {
        i++;
    }
    inside = meet(&placed[i], &shapes[other], q, &t);
    if (fabs(inside) <= SLACK || (hit->found && fabs(t - (double)hit->t) <= SLACK * fabs(t))) {
        return;
    }
    expect.primitive = shapes[other].primitive;
    expect.geometry = shapes[other].geometry;
    expect.instance = placed[i].number;
    require(facet_gfx12_why(unit, view, walk, q, &expect, &why, NULL) == FACET_OK, "memory");
    asked[3]++;
    if (why.fault != (inside > 0 ? FACET_GFX12_FAULT_NEARER : FACET_GFX12_FAULT_RAY)) {
        differ(3, ray, facet_gfx12_fault_name(why.fault));
    }
    facet_gfx12_why_free(&why);
}

int main(int count, char **words)
{
    struct facet_gfx12_query query;
    struct facet_gfx12_brute brute;
    struct facet_gfx12_view view;
    struct facet_gfx12_walk walk;
    struct facet_gfx12_unit unit;
    struct facet_bytes rays;
    const float zero[3] = {0, 0, 0};
    size_t found = 0;

    require(count > 6, "DRIVER WORLD RAYS BASE ROOT FILE@ADDR...");
    read_world(words[2]);
    rays = read(words[3]);
    view = open_image(
        words + 6, count - 6, strtoull(words[4], NULL, 0), (uint32_t)strtoul(words[5], NULL, 0));
    if (strcmp(words[1], "hiprt") == 0) {
        translate(&view);
    }
    facet_gfx12_unit_view(&unit, &view);
    facet_gfx12_query_init(&query, zero, zero);
    query.address = view.base;
    query.root = view.root;
    query.max_steps = 1 << 20;
    query.callbacks.procedural = facet_gfx12_procedural_box;
    require(facet_gfx12_walk(&view, &walk, NULL) == FACET_OK, "memory");
    require(facet_gfx12_brute_make(&view, &walk, &brute, NULL) == FACET_OK, "memory");
    for (size_t i = 0; i < rays.size / 32; i++) {
        struct facet_gfx12_hit hit, all;
        uint64_t tested;
        float r[8];

        memcpy(r, rays.data + 32 * i, sizeof r);
        memcpy(query.origin, r, sizeof query.origin);
        memcpy(query.direction, r + 4, sizeof query.direction);
        query.t_min = r[3];
        query.t_max = r[7];
        require(facet_gfx12_trace(&unit, &query, &hit, NULL, NULL) == FACET_OK, "a cycle");
        require(facet_gfx12_brute_trace(&brute, &unit, &query, UINT64_MAX, &tested, &all), "brute");
        asked[0]++;
        asked[1]++;
        found += hit.found;
        if (!is_closest(&query, &hit)) {
            differ(0, i, hit.found ? "another hit" : "a miss");
        }
        if (hit.found != all.found || (hit.found && hit.t != all.t)) {
            differ(1, i, all.found ? "a nearer hit" : "a miss");
        }
        ask(&unit, &view, &walk, &query, &hit, i);
    }
    printf("%zu rays, %zu hits", rays.size / 32, found);
    for (unsigned k = 0; k < 4; k++) {
        printf(", %s: %u of %u differ", names[k], wrong[k], asked[k]);
    }
    putchar('\n');
    facet_gfx12_brute_free(&brute);
    facet_gfx12_walk_free(&walk);
    free(rays.data);
    free((void *)(uintptr_t)view.bytes);
    return wrong[0] + wrong[1] + wrong[2] + wrong[3] != 0;
}
