/* The primitives of one BLAS against those of the scene: each is there, with the same corners in
 * the same order, and has the same flags. */
#include "gfx12/check/scene.h"

#include "base/float.h"
#include "base/hash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int facet_gfx12_checker_compare_keys(const void *a, const void *b)
{
    const struct facet_checked_key *x = a, *y = b;

    return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                            : (x->number > y->number) - (x->number < y->number);
}

size_t
facet_gfx12_checker_find_key(const struct facet_checked_key *keys, size_t count, uint64_t key)
{
    size_t first = 0;

    while (count > 0) {
        const size_t half = count / 2;

        if (keys[first + half].key < key) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

/* ---- numbers in a message ---- */

/* Primitives that have the same trouble: the first few by name (geometry:primitive, geometry 0 is
 * left out), the others counted. */
struct named {
    uint64_t count;
    uint64_t at; /* byte of the first */
    size_t length;
    char text[72];
};

static void name_one(struct named *n, uint32_t geometry, uint32_t primitive, uint64_t at)
{
    char one[32];
    size_t length;

    if (n->count++ == 0) {
        n->at = at;
    }
    if (geometry == 0) {
        snprintf(one, sizeof one, "%s%u", n->length == 0 ? "" : ", ", primitive);
    } else {
        snprintf(one, sizeof one, "%s%u:%u", n->length == 0 ? "" : ", ", geometry, primitive);
    }
    length = strlen(one);
    if (n->length + length < sizeof n->text - 5) {
        memcpy(n->text + n->length, one, length + 1);
        n->length += length;
    } else if (n->text[n->length] == '\0' && n->length + 4 < sizeof n->text) {
        memcpy(n->text + n->length, " ...", 5);
    }
}

/* ---- the source ---- */

/* Primitives that match nothing and are asked for their right name. */
#define MOST_WRONG 4096

struct source {
    struct facet_checker *c;
    const struct facet_bvh_blas_input *blas;
    uint32_t count; /* of primitives */
    bool boxes;
    struct facet_checked_key *keys; /* by geometry and primitive; NULL: number = primitive index */
    uint8_t *seen;                  /* per primitive */
    struct named extra, corners, rounded, turned, flipped;
    struct named opaque[2], sided[2]; /* [0] agrees, [1] does not */
    struct facet_array wrong;         /* of struct facet_checked_primitive that match nothing */
};

struct from {
    uint32_t geometry, primitive, flags;
    float corner[3][3];
};

static struct from source_at(const struct source *s, uint32_t i)
{
    struct from out = {0};

    if (s->boxes) {
        const struct facet_bvh_aabb *b = &s->blas->aabbs[i];

        out = (struct from){.geometry = b->geometry, .primitive = b->primitive, .flags = b->flags};
        memcpy(out.corner[0], b->min, sizeof b->min);
        memcpy(out.corner[1], b->max, sizeof b->max);
    } else {
        const struct facet_bvh_triangle *t = &s->blas->triangles[i];

        out = (struct from){.geometry = t->geometry, .primitive = t->primitive, .flags = t->flags};
        memcpy(out.corner, t->vertex, sizeof out.corner);
    }
    return out;
}

bool facet_gfx12_checker_is_optional(const struct facet_bvh_triangle *t)
{
    return isnan(t->vertex[0][0]) || isnan(t->vertex[1][0]) || isnan(t->vertex[2][0]) ||
           memcmp(t->vertex[0], t->vertex[1], sizeof *t->vertex) == 0 ||
           memcmp(t->vertex[1], t->vertex[2], sizeof *t->vertex) == 0 ||
           memcmp(t->vertex[2], t->vertex[0], sizeof *t->vertex) == 0;
}

static bool is_optional(const struct source *s, uint32_t i)
{
    return s->boxes ? isnan(s->blas->aabbs[i].min[0])
                    : facet_gfx12_checker_is_optional(&s->blas->triangles[i]);
}

static uint64_t key_of(uint32_t geometry, uint32_t primitive)
{
    return (uint64_t)geometry << 32 | primitive;
}

static bool source_index(struct source *s)
{
    uint32_t i = 0;

    s->seen = calloc((size_t)s->count + 1, 1);
    for (i = 0; i < s->count; i++) {
        const struct from f = source_at(s, i);

        if (f.geometry != 0 || f.primitive != i) {
            break;
        }
    }
    if (i < s->count) {
        s->keys = malloc(s->count * sizeof *s->keys);
        for (i = 0; i < s->count && s->keys != NULL; i++) {
            const struct from f = source_at(s, i);

            s->keys[i] = (struct facet_checked_key){key_of(f.geometry, f.primitive), i};
        }
        if (s->keys == NULL) {
            return false;
        }
        qsort(s->keys, s->count, sizeof *s->keys, facet_gfx12_checker_compare_keys);
    }
    return s->seen != NULL;
}

/* The number of primitives of that name, and the place of the first in the list of keys. */
static uint32_t find(const struct source *s, uint32_t geometry, uint32_t primitive, size_t *first)
{
    const uint64_t key = key_of(geometry, primitive);
    uint32_t count = 0;

    if (s->keys == NULL) {
        *first = primitive;
        return geometry == 0 && primitive < s->count;
    }
    *first = facet_gfx12_checker_find_key(s->keys, s->count, key);
    while (*first + count < s->count && s->keys[*first + count].key == key) {
        count++;
    }
    return count;
}

/* ---- one primitive ---- */

enum likeness { OTHER, FLIPPED, TURNED, ROUNDED, SAME };

/* The corners of one in the order of the other: `start` first, then on in `direction`. */
static bool equal_corners(const float (*a)[3],
                          const float (*b)[3],
                          unsigned corners,
                          unsigned start,
                          unsigned direction,
                          double slack)
{
    for (unsigned v = 0; v < corners; v++) {
        for (int k = 0; k < 3; k++) {
            const double x = (double)a[v][k], y = (double)b[(start + direction * v) % corners][k];

            if (x != y && !(fabs(x - y) <= slack) && !(isnan(x) && isnan(y))) { /* inactive */
                return false;
            }
        }
    }
    return true;
}

/* As many ulps of the largest coordinate as a tolerance in ulp has: the default one is about boxes,
 * corners are copied without rounding. */
static double corner_slack(const struct source *s, const float (*a)[3])
{
    double size = 0;
    int exponent;

    for (int i = 0; i < 9; i++) {
        size = fmax(size, fabs((double)a[i / 3][i % 3]));
    }
    if (isfinite(s->c->options->tolerance.steps) || !isfinite(size) || size == 0) {
        return 0;
    }
    (void)frexp(size, &exponent);
    return ldexp(s->c->options->tolerance.ulps, exponent - 24);
}

static enum likeness
compare(const struct source *s, const struct facet_checked_primitive *p, const struct from *f)
{
    const double slack = corner_slack(s, p->corner);
    const unsigned corners = p->procedural ? 2 : 3;

    if (p->procedural != s->boxes) {
        return OTHER;
    }
    if (equal_corners(p->corner, f->corner, corners, 0, 1, 0)) {
        return SAME;
    }
    if (equal_corners(p->corner, f->corner, corners, 0, 1, slack)) {
        return ROUNDED;
    }
    for (unsigned start = 0; start < 3 && !s->boxes; start++) {
        if (equal_corners(p->corner, f->corner, 3, start, 1, slack)) {
            return TURNED;
        }
        if (equal_corners(p->corner, f->corner, 3, start, 2, slack)) {
            return FLIPPED;
        }
    }
    return OTHER;
}

static void judge(struct source *s, const struct facet_checked_primitive *p, uint64_t at)
{
    struct named *const trouble[] = {&s->corners, &s->flipped, &s->turned, &s->rounded, NULL};
    enum likeness best = OTHER;
    size_t first;
    uint32_t number = 0;
    const uint32_t count = find(s, p->geometry, p->primitive, &first);
    struct from f;

    for (uint32_t i = 0; i < count && best != SAME; i++) {
        const uint32_t candidate = s->keys == NULL ? (uint32_t)first : s->keys[first + i].number;
        enum likeness like;

        f = source_at(s, candidate);
        like = compare(s, p, &f);
        if (like >= best) {
            best = like;
            number = candidate;
        }
    }
    if (count == 0) {
        name_one(&s->extra, p->geometry, p->primitive, at);
    } else if (trouble[best] != NULL) {
        name_one(trouble[best], p->geometry, p->primitive, at);
    }
    if (best == OTHER && s->wrong.count < MOST_WRONG) {
        struct facet_checked_primitive *wrong = facet_array_add(&s->wrong, 1, sizeof *wrong);

        s->c->failed = s->c->failed || wrong == NULL;
        if (wrong != NULL) {
            *wrong = *p;
        }
    }
    if (best == OTHER) {
        return;
    }
    f = source_at(s, number);
    s->seen[number] = 1;
    name_one(&s->opaque[p->opaque != ((f.flags & FACET_BVH_OPAQUE) != 0)],
             p->geometry,
             p->primitive,
             at);
    if (!p->procedural) {
        name_one(&s->sided[p->double_sided != ((f.flags & FACET_BVH_DOUBLE_SIDED) != 0)],
                 p->geometry,
                 p->primitive,
                 at);
    }
}

/* Every primitive below the links, each range as often as it is named. */
static void judge_all(struct source *s, const struct facet_gfx12_link *links, size_t count)
{
    struct facet_checker *c = s->c;
    struct facet_array stack = {0};
    struct facet_gfx12_link *next = facet_array_add(&stack, count, sizeof *next);
    uint64_t budget = 64 * (uint64_t)c->walk.count + 65536;

    c->failed = c->failed || next == NULL;
    if (next != NULL && count != 0) {
        memcpy(next, links, count * sizeof *next);
    }
    while (stack.count != 0 && budget != 0 && !c->failed) {
        const struct facet_gfx12_link link =
            ((struct facet_gfx12_link *)stack.items)[--stack.count];
        struct facet_gfx12_range range;
        uint32_t node;

        budget--;
        if (!facet_gfx12_link_leads(&c->walk, &link, &node)) {
            continue;
        }
        if (c->walk.nodes[node].kind == FACET_GFX12_KIND_BOX) {
            struct facet_gfx12_link below[8];
            const unsigned used = facet_gfx12_links(c->view, &c->walk, node, below);

            next = facet_array_add(&stack, used, sizeof *next);
            c->failed = c->failed || next == NULL;
            if (next != NULL) {
                memcpy(next, below, used * sizeof *next);
            }
            continue;
        }
        if (c->walk.nodes[node].kind != FACET_GFX12_KIND_PRIMITIVE) {
            continue;
        }
        range = facet_gfx12_range_start(c->view, &link);
        do {
            struct facet_checked_primitive p[2];
            const unsigned used = facet_gfx12_checker_primitives(
                facet_gfx12_node_bytes(c->view, range.node), range.pair, p);

            for (unsigned i = 0; i < used; i++) {
                judge(s, &p[i], facet_gfx12_checker_offset(range.node));
            }
        } while (facet_gfx12_range_next(&range));
    }
    free(stack.items);
}

/* ---- findings ---- */

static void report(struct source *s,
                   const struct named *n,
                   unsigned rule,
                   enum facet_gfx12_severity severity,
                   const char *what)
{
    if (n->count != 0) {
        facet_gfx12_checker_report_as(s->c,
                                      rule,
                                      severity,
                                      n->at,
                                      "%llu %s%s (%s): %s",
                                      (unsigned long long)n->count,
                                      s->boxes ? "box" : "triangle",
                                      n->count == 1 ? ""
                                      : s->boxes    ? "es"
                                                    : "s",
                                      n->text,
                                      what);
    }
}

/* A flag that no primitive has as the scene says is a setting of the driver's build, not a fault of
 * a node. */
static void report_flag(struct source *s, const struct named flag[2], const char *what)
{
    report(s, &flag[1], 48, flag[0].count == 0 ? FACET_GFX12_WARNING : FACET_GFX12_ERROR, what);
}

static uint64_t corner_hash(const float (*corner)[3], bool boxes)
{
    uint64_t hash = 0;

    for (int i = 0; i < (boxes ? 6 : 9); i++) {
        hash = facet_hash_step(hash, facet_float_bits(corner[i / 3][i % 3] + 0.0f));
    }
    return hash;
}

/* A primitive that is lost, while one of another name has its corners: the name is wrong. */
static void report_names(struct source *s)
{
    const struct facet_checked_primitive *wrong = s->wrong.items;
    struct facet_checked_key *keys = malloc((s->wrong.count + 1) * sizeof *keys);
    uint32_t told = 0;

    if (keys == NULL) {
        s->c->failed = true;
        return;
    }
    for (size_t i = 0; i < s->wrong.count; i++) {
        keys[i] = (struct facet_checked_key){corner_hash(wrong[i].corner, s->boxes), (uint32_t)i};
    }
    qsort(keys, s->wrong.count, sizeof *keys, facet_gfx12_checker_compare_keys);
    for (uint32_t i = 0; i < s->count && s->wrong.count != 0 && told < 8; i++) {
        const struct from f = source_at(s, i);
        uint64_t hash;
        size_t at;

        if (s->seen[i] != 0) {
            continue;
        }
        hash = corner_hash(f.corner, s->boxes);
        at = facet_gfx12_checker_find_key(keys, s->wrong.count, hash);
        if (at < s->wrong.count && keys[at].key == hash) {
            const struct facet_checked_primitive *p = &wrong[keys[at].number];

            facet_gfx12_checker_report(s->c,
                                       46,
                                       s->extra.count != 0 ? s->extra.at : s->corners.at,
                                       "primitive %u, geometry %u has the corners of primitive %u, "
                                       "geometry %u of the scene",
                                       p->primitive,
                                       p->geometry,
                                       f.primitive,
                                       f.geometry);
            told++;
        }
    }
    free(keys);
}

static void report_all(struct source *s, uint64_t at)
{
    struct named lost = {0};

    for (uint32_t i = 0; i < s->count; i++) {
        if (s->seen[i] == 0 && !is_optional(s, i)) {
            const struct from f = source_at(s, i);

            name_one(&lost, f.geometry, f.primitive, at);
        }
    }
    report(s, &lost, 45, FACET_GFX12_ERROR, "of the scene, not in the image");
    report(s, &s->extra, 46, FACET_GFX12_ERROR, "the scene has no such primitive");
    report(s, &s->corners, 47, FACET_GFX12_ERROR, "other corners than in the scene");
    report(s, &s->flipped, 47, FACET_GFX12_ERROR, "the corners go round the other way");
    report(
        s, &s->turned, 47, FACET_GFX12_WARNING, "the corners begin elsewhere, barycentrics differ");
    report(s, &s->rounded, 47, FACET_GFX12_WARNING, "corners off within the tolerance");
    report_flag(s, s->opaque, "opacity is not that of the scene");
    report_flag(s, s->sided, "double-sidedness is not that of the scene");
    report_names(s);
}

void facet_gfx12_checker_source(struct facet_checker *c,
                                const struct facet_gfx12_link *links,
                                size_t count,
                                uint32_t blas,
                                uint64_t at)
{
    const struct facet_bvh_blas_input *from = &c->options->scene->blas[blas];
    struct source s = {.c = c, .blas = from};

    s.boxes = from->aabb_count != 0;
    s.count = s.boxes ? from->aabb_count : from->triangle_count;
    if (!source_index(&s)) {
        c->failed = true;
    } else {
        judge_all(&s, links, count);
        if (!c->failed) {
            report_all(&s, at);
        }
    }
    free(s.keys);
    free(s.seen);
    free(s.wrong.items);
}
