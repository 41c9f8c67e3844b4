/* V12 and V13 per primitive: the boxes on the paths to it cover it together, and for each kind of
 * ray that culls, so do the paths whose promises hold for it (R-G12-80).
 *
 * A path's box is what the boxes on the way have in common, its promises are those of all of them.
 * Most images have every primitive inside the box of each path, which the joined bounds of
 * check_tree.c show already; only when a child does not keep its word about what lies below it, all
 * paths are walked: once to find the primitives that stick out of a path, once to gather the boxes
 * of all paths to those. */
#include "base/array.h"
#include "base/float.h"
#include "base/hash.h"
#include "gfx12/check/checker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- paths ---- */

/* One primitive at the end of a path: child `slot` of `box` names a range with it. */
struct reach {
    uint64_t key;
    uint32_t box, node;
    uint8_t slot, pair, number;
    uint8_t promises; /* of the path */
    struct facet_gfx12_extent path;
};

struct paths {
    struct facet_checker *c;
    uint64_t visits; /* left */
    uint64_t *keys;  /* a table of the primitives that stick out, 0: free */
    size_t key_room, key_count;
    bool gather; /* second walk: the primitives of the table go to `reaches` */
    struct facet_array reaches;
};

static uint64_t key_of(const struct facet_checked_primitive *p, uint64_t level_base)
{
    uint64_t hash = facet_hash_step(level_base, (uint64_t)p->geometry << 32 | p->primitive);

    for (unsigned i = 0; i < 9; i++) {
        hash = facet_hash_step(hash, facet_float_bits(p->corner[i / 3][i % 3]));
    }
    return facet_hash_mix(hash) | 1;
}

static size_t key_place(const struct paths *p, uint64_t key)
{
    size_t at = (size_t)(key >> 1) & (p->key_room - 1);

    while (p->keys[at] != 0 && p->keys[at] != key) {
        at = (at + 1) & (p->key_room - 1);
    }
    return at;
}

static void key_add(struct paths *p, uint64_t key)
{
    if (p->key_count * 2 >= p->key_room) {
        struct paths larger = *p;

        larger.key_room = p->key_room == 0 ? 256 : 2 * p->key_room;
        larger.keys = calloc(larger.key_room, sizeof *larger.keys);
        if (larger.keys == NULL) {
            p->c->failed = true;
            return;
        }
        for (size_t i = 0; i < p->key_room; i++) {
            if (p->keys[i] != 0) {
                larger.keys[key_place(&larger, p->keys[i])] = p->keys[i];
            }
        }
        free(p->keys);
        *p = larger;
    }
    {
        size_t at = key_place(p, key);

        p->key_count += p->keys[at] == 0;
        p->keys[at] = key;
    }
}

/* A box node on the way, or the range that it names. */
struct step {
    uint32_t node;
    uint8_t promises;
    struct facet_gfx12_extent path;
};

static void visit_range(struct paths *p,
                        uint32_t box,
                        const struct facet_gfx12_link *link,
                        const struct step *at)
{
    struct facet_gfx12_range range = facet_gfx12_range_start(p->c->view, link);

    do {
        struct facet_checked_primitive primitive[2];
        unsigned count = facet_gfx12_checker_primitives(
            facet_gfx12_node_bytes(p->c->view, range.node), range.pair, primitive);

        p->visits -= p->visits != 0;
        for (unsigned i = 0; i < count && !p->c->failed; i++) {
            const uint64_t base = p->c->walk.nodes[box].level_base;
            struct reach *reach;
            uint64_t key;

            if (!primitive[i].finite) {
                continue;
            }
            if (!p->gather) {
                if (!facet_gfx12_extent_holds(&at->path, &primitive[i].bounds) ||
                    (at->promises & ~facet_gfx12_checker_holds(&primitive[i])) != 0) {
                    key_add(p, key_of(&primitive[i], base));
                }
                continue;
            }
            key = key_of(&primitive[i], base);
            if (p->keys[key_place(p, key)] != key) {
                continue;
            }
            reach = facet_array_add(&p->reaches, 1, sizeof *reach);
            if (reach == NULL) {
                p->c->failed = true;
                return;
            }
            *reach = (struct reach){key,
                                    box,
                                    range.node,
                                    (uint8_t)link->slot,
                                    (uint8_t)range.pair,
                                    primitive[i].number,
                                    at->promises,
                                    at->path};
        }
    } while (facet_gfx12_range_next(&range));
}

static void visit_box(struct paths *p, const struct step *from, struct facet_array *stack)
{
    struct facet_checker *c = p->c;
    struct facet_gfx12_link links[8];
    unsigned count = facet_gfx12_links(c->view, &c->walk, from->node, links);
    struct facet_gfx12_box box;

    facet_gfx12_box_decode(facet_gfx12_node_bytes(c->view, from->node), &box);
    for (unsigned i = 0; i < count && !c->failed; i++) {
        const struct facet_gfx12_child *child = &box.child[links[i].slot];
        struct step at = *from;

        if (!facet_gfx12_link_leads(&c->walk, &links[i], &at.node)) {
            continue;
        }
        at.promises |= child->cull_flags;
        if (!facet_gfx12_checker_oriented(&box)) {
            const struct facet_gfx12_extent own =
                facet_gfx12_checker_child_extent(child, box.origin, box.exponent);

            at.path = facet_gfx12_extent_common(&at.path, &own);
        }
        if (c->walk.nodes[at.node].kind == FACET_GFX12_KIND_PRIMITIVE) {
            visit_range(p, from->node, &links[i], &at);
        } else if (c->walk.nodes[at.node].kind == FACET_GFX12_KIND_BOX &&
                   c->walk.nodes[at.node].parent == from->node) {
            struct step *next = facet_array_add(stack, 1, sizeof *next);

            c->failed = c->failed || next == NULL;
            if (next != NULL) {
                *next = at;
            }
        }
    }
}

/* Along the first parent of each box: other parents are V29, or a rebraided instance (12.8). */
static void walk_paths(struct paths *p)
{
    const struct facet_gfx12_walk *walk = &p->c->walk;
    struct facet_array stack = {0};

    p->visits = 64 * (uint64_t)walk->count + 65536;
    for (uint32_t i = 0; i < walk->reached && !p->c->failed; i++) {
        const uint32_t root = walk->order[i];
        struct step *first;

        if (walk->nodes[root].kind != FACET_GFX12_KIND_BOX ||
            !facet_gfx12_checker_is_level_root(p->c, root)) {
            continue;
        }
        stack.count = 0;
        first = facet_array_add(&stack, 1, sizeof *first);
        p->c->failed = p->c->failed || first == NULL;
        if (first != NULL) {
            *first = (struct step){root, 0, facet_gfx12_extent_all()};
        }
        while (stack.count != 0 && p->visits != 0 && !p->c->failed) {
            const struct step step = ((struct step *)stack.items)[--stack.count];

            p->visits--;
            visit_box(p, &step, &stack);
        }
    }
    free(stack.items);
}

/* ---- which box is to blame ---- */

struct blame {
    uint32_t box;
    uint8_t slot, axis;
    uint8_t severity;
    uint8_t rule; /* 12, or 13: `holds` instead of the numbers */
    uint8_t flags, holds;
    bool procedural;
    uint32_t geometry, primitive;
    float lo, hi;             /* of the box on that axis */
    double least, most;       /* what it does not contain */
    double amount, step, ulp; /* of the grid */
};

/* The spacing of binary32 numbers of that size. */
static double spacing(double size)
{
    int exponent;

    if (!isfinite(size) || size < 0x1p-126) {
        return 0x1p-149;
    }
    (void)frexp(size, &exponent);
    return ldexp(1.0, exponent - 24);
}

/* Step and ulp of an axis: ulp is that of the largest coordinate that the grid can have, or of its
 * width, because a plane is a rounded sum and its number comes from a rounded difference. */
static void grid_units(uint32_t origin, uint8_t exponent, double *step, double *ulp)
{
    const double at = (double)facet_float_of(origin), width = ldexp(1.0, (int)exponent - 127);

    *step = exponent == 0 ? 0.0 : width / 4096;
    *ulp = spacing(fmax(fmax(fabs(at), fabs(at + width)), width));
}

static double allowed(const struct facet_checker *c, double step, double ulp)
{
    const double steps = c->options->tolerance.steps * step,
                 ulps = c->options->tolerance.ulps * ulp;

    return steps < ulps ? steps : ulps;
}

static float grown(double at, double by, double direction)
{
    const double exact = at + direction * by;
    const float near = (float)exact;

    return direction * ((double)near - exact) < 0
               ? nextafterf(near, direction < 0 ? -INFINITY : INFINITY)
               : near;
}

/* Trees are not that deep; a chain that is must not make this quadratic. */
#define MOST_LEVELS 1000

/* Goes up the path from a leaf: the box on it that lacks most of [lo, hi], and what the path would
 * hold if each box were larger by the tolerance. */
static void blame_path(const struct facet_checker *c,
                       const struct reach *reach,
                       const double lo[3],
                       const double hi[3],
                       struct blame *worst,
                       struct facet_gfx12_extent *tolerant)
{
    uint32_t node = reach->box;
    unsigned slot = reach->slot;

    *worst = (struct blame){.box = node, .slot = (uint8_t)slot, .amount = -1};
    *tolerant = facet_gfx12_extent_all();
    for (unsigned level = 0; level < MOST_LEVELS; level++) {
        struct facet_gfx12_box box;

        facet_gfx12_box_decode(facet_gfx12_node_bytes(c->view, node), &box);
        if (!facet_gfx12_checker_oriented(&box)) {
            struct facet_gfx12_extent own =
                facet_gfx12_checker_child_extent(&box.child[slot], box.origin, box.exponent);

            for (unsigned k = 0; k < 3; k++) {
                double amount = fmax((double)own.lo[k] - lo[k], hi[k] - (double)own.hi[k]);
                double step, ulp;

                amount = isnan(amount) ? INFINITY : amount;
                grid_units(box.origin[k], box.exponent[k], &step, &ulp);
                if (amount > worst->amount) {
                    *worst = (struct blame){.box = node,
                                            .slot = (uint8_t)slot,
                                            .axis = (uint8_t)k,
                                            .lo = own.lo[k],
                                            .hi = own.hi[k],
                                            .least = lo[k],
                                            .most = hi[k],
                                            .amount = amount,
                                            .step = step,
                                            .ulp = ulp};
                }
                own.lo[k] = grown((double)own.lo[k], allowed(c, step, ulp), -1);
                own.hi[k] = grown((double)own.hi[k], allowed(c, step, ulp), 1);
            }
            *tolerant = facet_gfx12_extent_common(tolerant, &own);
        }
        if (facet_gfx12_checker_is_level_root(c, node)) {
            return;
        }
        slot = c->walk.nodes[node].last_slot;
        node = c->walk.nodes[node].parent;
    }
}

/* ---- one primitive ---- */

struct judge {
    struct facet_checker *c;
    struct facet_array boxes;  /* of struct facet_gfx12_extent: scratch */
    struct facet_array blames; /* of struct blame */
    uint64_t undecided;
};

static enum facet_gfx12_cover cover_primitive(struct judge *j,
                                              const struct facet_checked_primitive *p,
                                              size_t count,
                                              struct facet_gfx12_extent *hole)
{
    const struct facet_gfx12_extent *boxes = j->boxes.items;
    size_t budget = 4096 + 256 * count;

    if (count == 1) { /* by far the most */
        *hole = p->bounds;
        return facet_gfx12_extent_holds(boxes, &p->bounds) ? FACET_GFX12_COVERED : FACET_GFX12_HOLE;
    }
    return facet_gfx12_covered(
        p->procedural ? NULL : p->corner, &p->bounds, j->boxes.items, count, &budget, hole);
}

/* Whether the tolerance grants it. */
static bool add_blame(struct judge *j,
                      const struct facet_checked_primitive *p,
                      const struct reach *reaches,
                      size_t count,
                      const struct facet_gfx12_extent *hole)
{
    struct facet_gfx12_extent *boxes = j->boxes.items, unused;
    struct blame *out, least = {.amount = INFINITY}, blame;
    double lo[3], hi[3];

    for (int k = 0; k < 3; k++) {
        lo[k] = (double)p->bounds.lo[k];
        hi[k] = (double)p->bounds.hi[k];
    }
    if (count > 1 && (p->procedural || !facet_gfx12_clipped_bounds(p->corner, hole, lo, hi))) {
        for (int k = 0; k < 3; k++) {
            lo[k] = (double)hole->lo[k];
            hi[k] = (double)hole->hi[k];
        }
    }
    for (size_t i = 0; i < count; i++) {
        blame_path(j->c, &reaches[i], lo, hi, &blame, &boxes[i]);
        if (i == 0 || blame.amount < least.amount) {
            least = blame;
        }
    }
    least.severity = cover_primitive(j, p, count, &unused) == FACET_GFX12_COVERED
                         ? FACET_GFX12_WARNING
                         : FACET_GFX12_ERROR;
    least.rule = 12;
    least.procedural = p->procedural;
    least.geometry = p->geometry;
    least.primitive = p->primitive;
    out = facet_array_add(&j->blames, 1, sizeof *out);
    if (out == NULL) {
        j->c->failed = true;
        return false;
    }
    *out = least;
    return least.severity == FACET_GFX12_WARNING;
}

/* The box on the path that promises `flag`. */
static void blame_promise(struct judge *j,
                          const struct facet_checked_primitive *p,
                          const struct reach *reach,
                          unsigned flag)
{
    const struct facet_gfx12_walk_node *nodes = j->c->walk.nodes;
    struct blame *out = facet_array_add(&j->blames, 1, sizeof *out);
    struct facet_gfx12_box box;
    uint32_t node = reach->box;
    unsigned slot = reach->slot;

    if (out == NULL) {
        j->c->failed = true;
        return;
    }
    facet_gfx12_box_decode(facet_gfx12_node_bytes(j->c->view, node), &box);
    for (unsigned level = 0; level < MOST_LEVELS && (box.child[slot].cull_flags & flag) == 0 &&
                             !facet_gfx12_checker_is_level_root(j->c, node);
         level++) {
        slot = nodes[node].last_slot;
        node = nodes[node].parent;
        facet_gfx12_box_decode(facet_gfx12_node_bytes(j->c->view, node), &box);
    }
    *out = (struct blame){.box = node,
                          .slot = (uint8_t)slot,
                          .severity = FACET_GFX12_ERROR,
                          .rule = 13,
                          .flags = box.child[slot].cull_flags,
                          .holds = facet_gfx12_checker_holds(p),
                          .procedural = p->procedural,
                          .geometry = p->geometry,
                          .primitive = p->primitive};
}

/* A ray that culls what one of the flags promises does not come along the paths that promise it. */
static void judge_promises(struct judge *j,
                           const struct facet_checked_primitive *p,
                           const struct reach *reaches,
                           size_t count,
                           bool tolerant)
{
    const double none[3] = {0, 0, 0};

    for (unsigned flag = 1; flag <= FACET_GFX12_ONLY_PROCEDURAL && !j->c->failed; flag <<= 1) {
        struct facet_gfx12_extent *boxes = j->boxes.items, hole;
        const struct reach *broken = NULL;
        size_t used = 0;

        for (size_t i = 0; i < count && (facet_gfx12_checker_holds(p) & flag) == 0; i++) {
            if ((reaches[i].promises & flag) == 0) {
                struct blame unused;

                boxes[used] = reaches[i].path;
                if (tolerant) {
                    blame_path(j->c, &reaches[i], none, none, &unused, &boxes[used]);
                }
                used++;
            } else if (broken == NULL) {
                broken = &reaches[i];
            }
        }
        if (broken != NULL && cover_primitive(j, p, used, &hole) != FACET_GFX12_COVERED) {
            blame_promise(j, p, broken, flag);
            return;
        }
    }
}

/* All paths to one primitive. */
static void judge_primitive(struct judge *j, const struct reach *reaches, size_t count)
{
    struct facet_checked_primitive p[2];
    struct facet_gfx12_extent hole = {{0}, {0}}, *boxes;
    unsigned found = facet_gfx12_checker_primitives(
        facet_gfx12_node_bytes(j->c->view, reaches->node), reaches->pair, p);
    const struct facet_checked_primitive *own =
        found == 2 && p[1].number == reaches->number ? &p[1] : &p[0];
    enum facet_gfx12_cover cover;

    j->boxes.count = 0;
    boxes = facet_array_add(&j->boxes, count, sizeof *boxes);
    if (boxes == NULL) {
        j->c->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        boxes[i] = reaches[i].path;
    }
    cover = cover_primitive(j, own, count, &hole);
    if (cover == FACET_GFX12_COVERED ||
        (cover == FACET_GFX12_HOLE && add_blame(j, own, reaches, count, &hole))) {
        judge_promises(j, own, reaches, count, cover == FACET_GFX12_HOLE);
    }
    j->undecided += cover == FACET_GFX12_UNDECIDED;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_reaches(const void *a, const void *b)
{
    const struct reach *x = a, *y = b;
    int order = compare_numbers(x->key, y->key);

    order = order != 0 ? order : compare_numbers(x->box, y->box);
    return order != 0 ? order : compare_numbers(x->slot, y->slot);
}

/* By place, errors first, then the largest. */
static int compare_blames(const void *a, const void *b)
{
    const struct blame *x = a, *y = b;
    int order = compare_numbers(x->box, y->box);

    order = order != 0 ? order : compare_numbers(x->slot, y->slot);
    order = order != 0 ? order : compare_numbers(x->rule, y->rule);
    order = order != 0 ? order : compare_numbers(y->severity, x->severity);
    order = order != 0 ? order : (x->amount < y->amount) - (x->amount > y->amount);
    order = order != 0 ? order : compare_numbers(x->geometry, y->geometry);
    return order != 0 ? order : compare_numbers(x->primitive, y->primitive);
}

static void report_blame(struct facet_checker *c, const struct blame *b, const char *more)
{
    const uint64_t at = facet_gfx12_checker_offset(b->box) + 32 + 12 * (uint64_t)b->slot;
    const char *what = b->procedural ? "box" : "triangle";

    if (b->rule == 13) {
        facet_gfx12_checker_report(
            c,
            13,
            at + 3,
            "child %u: cull_flags 0x%x, but only 0x%x holds for %s %u, geometry %u%s",
            b->slot,
            b->flags,
            b->holds,
            what,
            b->primitive,
            b->geometry,
            more);
        return;
    }
    facet_gfx12_checker_report_as(
        c,
        12,
        (enum facet_gfx12_severity)b->severity,
        at,
        "child %u: %c from %.9g to %.9g does not contain %.9g to %.9g of %s %u, geometry %u: "
        "%.3g step%s, %.3g ulp outside%s",
        b->slot,
        "xyz"[b->axis],
        (double)b -> lo,
        (double)b -> hi,
        b -> least,
        b -> most,
        what,
        b -> primitive,
        b -> geometry,
        b -> step > 0
        ? b -> amount / b -> step
        : INFINITY,
        b -> amount == b -> step ? "" : "s",
        b->amount / b->ulp,
        more);
}

/* One finding per child, rule and severity, with the primitive that sticks out most. */
static void report_blames(struct judge *j)
{
    const struct blame *blames = j->blames.items;
    size_t first = 0;

    if (j->blames.count != 0) {
        qsort(j->blames.items, j->blames.count, sizeof *blames, compare_blames);
    }
    while (first < j->blames.count) {
        const struct blame *b = &blames[first];
        char more[48] = "";
        size_t end = first + 1;

        while (end < j->blames.count && blames[end].box == b->box && blames[end].slot == b->slot &&
               blames[end].rule == b->rule && blames[end].severity == b->severity) {
            end++;
        }
        if (end - first > 1) {
            snprintf(more, sizeof more, "; %zu such primitives", end - first);
        }
        report_blame(j->c, b, more);
        first = end;
    }
}

void facet_gfx12_checker_cover(struct facet_checker *c)
{
    struct paths p = {.c = c};
    struct judge j = {.c = c};
    const struct reach *reaches;
    size_t first = 0;

    if (!c->leaks) {
        return;
    }
    walk_paths(&p);
    if (p.key_count != 0 && !c->failed) {
        p.gather = true;
        walk_paths(&p);
    }
    reaches = p.reaches.items;
    if (p.reaches.count != 0 && !c->failed) {
        qsort(p.reaches.items, p.reaches.count, sizeof *reaches, compare_reaches);
    }
    while (first < p.reaches.count && !c->failed) {
        size_t end = first + 1;

        while (end < p.reaches.count && reaches[end].key == reaches[first].key) {
            end++;
        }
        judge_primitive(&j, reaches + first, end - first);
        first = end;
    }
    if (!c->failed) {
        report_blames(&j);
    }
    if (p.visits == 0 || j.undecided != 0) {
        facet_gfx12_checker_report_as(
            c, 12, FACET_GFX12_NOTE, 0, "not every primitive was judged, there are too many paths");
    }
    free(p.keys);
    free(p.reaches.items);
    free(j.boxes.items);
    free(j.blames.items);
}
