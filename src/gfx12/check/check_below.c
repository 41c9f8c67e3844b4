/* What lies below a node or a link: the geometry itself, not the boxes in between. A grandchild's
 * decoded box may stick out of its parent's by a grid step without losing a hit (R-G12-58). */
#include "base/array.h"
#include "base/float.h"
#include "gfx12/check/checker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void facet_gfx12_checker_nothing(struct facet_checked *b)
{
    for (int k = 0; k < 3; k++) {
        b->lo[k] = INFINITY;
        b->hi[k] = -INFINITY;
    }
    b->promises = 0xF;
    b->mask = 0;
    b->done = 0;
    b->has_instance = 0;
    b->apart = 0;
}

void facet_gfx12_checker_join(struct facet_checked *into, const struct facet_checked *b)
{
    for (int k = 0; k < 3; k++) {
        into->lo[k] = b->lo[k] < into->lo[k] ? b->lo[k] : into->lo[k];
        into->hi[k] = b->hi[k] > into->hi[k] ? b->hi[k] : into->hi[k];
    }
    into->promises &= b->promises;
    into->mask |= b->mask;
    into->has_instance |= b->has_instance;
}

/* ---- primitives ---- */

static void set_bounds(struct facet_checked_primitive *p, unsigned corners)
{
    p->finite = true;
    for (unsigned k = 0; k < 3; k++) {
        p->bounds.lo[k] = INFINITY;
        p->bounds.hi[k] = -INFINITY;
        for (unsigned v = 0; v < corners; v++) {
            p->finite = p->finite && isfinite(p->corner[v][k]);
            p->bounds.lo[k] = fminf(p->bounds.lo[k], p->corner[v][k]);
            p->bounds.hi[k] = fmaxf(p->bounds.hi[k], p->corner[v][k]);
        }
    }
}

unsigned facet_gfx12_checker_primitives(const uint8_t *node,
                                        unsigned pair,
                                        struct facet_checked_primitive out[2])
{
    struct facet_gfx12_pair p;
    unsigned count = 0;

    facet_gfx12_pair_decode(node, pair, &p);
    for (unsigned t = 0; t < 2; t++) {
        const struct facet_gfx12_pair_tri *tri = &p.desc.tri[t];
        struct facet_checked_primitive *to = &out[count];
        struct facet_gfx12_prim prim;

        if (t == 1 && facet_gfx12_tri_absent(tri)) {
            continue;
        }
        *to = (struct facet_checked_primitive){.geometry = p.geometry_index[t],
                                               .primitive = p.primitive_index[t],
                                               .number = (uint8_t)t,
                                               .procedural = facet_gfx12_tri_procedural(tri),
                                               .opaque = tri->opaque != 0,
                                               .double_sided = tri->double_sided != 0};
        if (to->procedural) {
            facet_gfx12_prim_decode(node, &prim);
        }
        for (unsigned i = 0; i < (to->procedural ? 6 : 9); i++) {
            /* Encoders that look for equal corners by value write one zero for the other. */
            to->corner[i / 3][i % 3] =
                facet_float_of(to->procedural ? prim.aabb[i] : p.vertex[t][i / 3][i % 3]) + 0.0f;
        }
        set_bounds(to, to->procedural ? 2 : 3);
        count++;
    }
    return count;
}

uint8_t facet_gfx12_checker_holds(const struct facet_checked_primitive *p)
{
    return (uint8_t)((p->opaque ? FACET_GFX12_ONLY_OPAQUE : FACET_GFX12_ONLY_NON_OPAQUE) |
                     (p->procedural ? FACET_GFX12_ONLY_PROCEDURAL : FACET_GFX12_ONLY_TRIANGLES));
}

static bool is_apart(const struct facet_gfx12_extent *a, const struct facet_gfx12_extent *b)
{
    const struct facet_gfx12_extent common = facet_gfx12_extent_common(a, b);

    return facet_gfx12_extent_empty(&common);
}

/* Primitives with a NaN or infinity are reported by V31 and have no bounds here. */
static void range_below(const struct facet_checker *c,
                        const struct facet_gfx12_link *link,
                        const struct facet_gfx12_extent *box,
                        struct facet_checked *out)
{
    struct facet_gfx12_range range = facet_gfx12_range_start(c->view, link);

    facet_gfx12_checker_nothing(out);
    out->mask = 0xFF;
    do {
        struct facet_checked_primitive primitive[2];
        unsigned count = facet_gfx12_checker_primitives(
            facet_gfx12_node_bytes(c->view, range.node), range.pair, primitive);

        for (unsigned i = 0; i < count; i++) {
            if (box != NULL && primitive[i].finite && is_apart(&primitive[i].bounds, box)) {
                out->apart = 1;
                continue;
            }
            out->promises &= facet_gfx12_checker_holds(&primitive[i]);
            for (int k = 0; k < 3 && primitive[i].finite; k++) {
                out->lo[k] = fminf(out->lo[k], primitive[i].bounds.lo[k]);
                out->hi[k] = fmaxf(out->hi[k], primitive[i].bounds.hi[k]);
            }
        }
    } while (facet_gfx12_range_next(&range));
    out->done = 1;
}

bool facet_gfx12_checker_is_level_root(const struct facet_checker *c, uint32_t node)
{
    const uint32_t parent = c->walk.nodes[node].parent;

    return parent == FACET_GFX12_NO_NODE || c->walk.nodes[parent].kind == FACET_GFX12_KIND_INSTANCE;
}

/* false when the link leads nowhere that was walked. */
bool facet_gfx12_checker_below(const struct facet_checker *c,
                               const struct facet_gfx12_link *link,
                               const struct facet_gfx12_extent *box,
                               struct facet_checked *out)
{
    uint32_t node;

    if (!facet_gfx12_link_leads(&c->walk, link, &node)) {
        return false;
    }
    if (c->walk.nodes[node].kind == FACET_GFX12_KIND_PRIMITIVE) {
        range_below(c, link, box, out);
        return true;
    }
    *out = c->below[node];
    return out->done != 0;
}

/* ---- axis-aligned boxes ---- */

bool facet_gfx12_checker_has_geometry(const struct facet_checked *b)
{
    return b->lo[0] <= b->hi[0];
}

struct facet_gfx12_extent facet_gfx12_checker_child_extent(const struct facet_gfx12_child *child,
                                                           const uint32_t origin[3],
                                                           const uint8_t exponent[3])
{
    struct facet_gfx12_extent out;
    uint32_t lo[3], hi[3];

    facet_gfx12_child_bounds(child, origin, exponent, lo, hi);
    for (int k = 0; k < 3; k++) {
        out.lo[k] = facet_float_of(lo[k]);
        out.hi[k] = facet_float_of(hi[k]);
    }
    return out;
}

bool facet_gfx12_checker_oriented(const struct facet_gfx12_box *box)
{
    return (box->obb_matrix_index & 0x7F) < FACET_GFX12_OBB_COUNT;
}

struct facet_gfx12_extent facet_gfx12_checker_bounds(const struct facet_checked *b)
{
    struct facet_gfx12_extent out;

    memcpy(out.lo, b->lo, sizeof out.lo);
    memcpy(out.hi, b->hi, sizeof out.hi);
    return out;
}

void facet_gfx12_checker_push_children(struct facet_checker *c,
                                       uint32_t node,
                                       const struct facet_gfx12_extent *path,
                                       struct facet_array *stack)
{
    struct facet_gfx12_link links[8];
    unsigned count = facet_gfx12_links(c->view, &c->walk, node, links);
    struct facet_checked_step *next = facet_array_add(stack, count, sizeof *next);
    struct facet_gfx12_box box;

    if (next == NULL) {
        c->failed = true;
        return;
    }
    facet_gfx12_box_decode(facet_gfx12_node_bytes(c->view, node), &box);
    for (unsigned i = 0; i < count; i++) {
        next[i] = (struct facet_checked_step){links[i], *path};
        if (!facet_gfx12_checker_oriented(&box)) {
            const struct facet_gfx12_extent own = facet_gfx12_checker_child_extent(
                &box.child[links[i].slot], box.origin, box.exponent);

            next[i].path = facet_gfx12_extent_common(path, &own);
        }
    }
}

/* What all children of an instance node hold together, in object space. */
void facet_gfx12_checker_blas_below(const struct facet_checker *c,
                                    uint32_t node,
                                    struct facet_checked *out)
{
    struct facet_gfx12_link links[8];
    unsigned count = facet_gfx12_links(c->view, &c->walk, node, links);

    facet_gfx12_checker_nothing(out);
    for (unsigned i = 0; i < count; i++) {
        struct facet_checked b;

        if (facet_gfx12_checker_below(c, &links[i], NULL, &b)) {
            facet_gfx12_checker_join(out, &b);
        }
    }
}
