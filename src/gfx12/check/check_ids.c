/* What an image says about its source without it: names of primitives (V40, V41), children that a
 * wrong count hides (V42). */
#include "gfx12/check/scene.h"

#include "base/bits.h"
#include "base/float.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- which pairs rays can come to ---- */

static unsigned pairs_of(const struct facet_checker *c, uint32_t node)
{
    return (facet_load_le32(facet_gfx12_node_bytes(c->view, node)) >> 28 & 7) + 1;
}

static bool stops(const struct facet_checker *c, uint32_t node, unsigned pair)
{
    const struct facet_gfx12_range range = {.view = c->view, .node = node, .pair = pair};

    return facet_gfx12_range_is_stop(&range);
}

/* Does a range go on from the node before? Ranges have at most 255 pairs, so nodes. */
static bool continues_into(const struct facet_checker *c, uint32_t node)
{
    for (unsigned back = 0; back < 256 && node >= 2; back++) {
        const struct facet_gfx12_walk_node *before = &c->walk.nodes[node - 2];
        unsigned pair = pairs_of(c, node - 2);

        if (before->kind != FACET_GFX12_KIND_PRIMITIVE ||
            before->level_base != c->walk.nodes[node].level_base) {
            return false;
        }
        while (pair-- > 0) {
            if (stops(c, node - 2, pair)) {
                return false;
            }
            if ((before->starts >> pair & 1) != 0) {
                return true;
            }
        }
        node -= 2;
    }
    return false;
}

/* One bit per pair. */
static unsigned reached_pairs(const struct facet_checker *c, uint32_t node)
{
    const unsigned pairs = pairs_of(c, node), starts = c->walk.nodes[node].starts;
    bool open = (starts & 1) == 0 && continues_into(c, node);
    unsigned reached = 0;

    for (unsigned pair = 0; pair < pairs; pair++) {
        open = open || (starts >> pair & 1) != 0;
        reached |= (unsigned)open << pair;
        open = open && !stops(c, node, pair);
    }
    return reached;
}

/* ---- names ---- */

static uint32_t corner_hash(const struct facet_checked_primitive *p)
{
    uint64_t hash = p->procedural;

    for (unsigned i = 0; i < 9; i++) {
        hash = facet_hash_step(hash, facet_float_bits(p->corner[i / 3][i % 3]));
    }
    return (uint32_t)facet_hash_mix(hash);
}

static void gather_names(struct facet_checker *c, uint32_t node, struct facet_array *names)
{
    const unsigned reached = reached_pairs(c, node);

    for (unsigned pair = 0; pair < 8 && !c->failed; pair++) {
        struct facet_checked_primitive p[2];
        struct facet_checked_key *to;
        unsigned count;

        if ((reached >> pair & 1) == 0) {
            continue;
        }
        count = facet_gfx12_checker_primitives(facet_gfx12_node_bytes(c->view, node), pair, p);
        to = facet_array_add(names, count, sizeof *to);
        if (to == NULL) {
            c->failed = true;
            return;
        }
        for (unsigned i = 0; i < count; i++) {
            to[i] = (struct facet_checked_key){(uint64_t)p[i].geometry << 32 | p[i].primitive,
                                               corner_hash(&p[i])};
        }
    }
}

static void report_gap(struct facet_checker *c,
                       uint64_t at,
                       uint32_t geometry,
                       uint64_t missing,
                       uint64_t expected,
                       uint64_t first)
{
    if (missing != 0 && c->options->scene == NULL) { /* with a scene V45 knows better */
        facet_gfx12_checker_report(c,
                                   41,
                                   at,
                                   "geometry %u: %llu of the primitive indices 0 to %llu %s "
                                   "missing, the first is %llu",
                                   geometry,
                                   (unsigned long long)missing,
                                   (unsigned long long)expected - 1,
                                   missing == 1 ? "is" : "are",
                                   (unsigned long long)first);
    }
}

/* The names of one BLAS, in order. */
static void judge_names(struct facet_checker *c, struct facet_array *names, uint64_t at)
{
    const struct facet_checked_key *keys = names->items;
    uint64_t expected = 0, missing = 0, first_missing = 0, twice = 0, first_twice = 0;

    if (names->count == 0) {
        return;
    }
    qsort(names->items, names->count, sizeof *keys, facet_gfx12_checker_compare_keys);
    for (size_t i = 0; i < names->count; i++) {
        const uint32_t geometry = (uint32_t)(keys[i].key >> 32), index = (uint32_t)keys[i].key;

        if (i != 0 && keys[i].key == keys[i - 1].key) {
            /* Many different ones of one name count once each. */
            if (keys[i].number != keys[i - 1].number && twice++ == 0) {
                first_twice = keys[i].key;
            }
            continue;
        }
        if (i != 0 && geometry != keys[i - 1].key >> 32) {
            report_gap(c, at, (uint32_t)(keys[i - 1].key >> 32), missing, expected, first_missing);
            expected = missing = 0;
        }
        if (index > expected && missing == 0) {
            first_missing = expected;
        }
        missing += index - expected;
        expected = (uint64_t)index + 1;
    }
    report_gap(
        c, at, (uint32_t)(keys[names->count - 1].key >> 32), missing, expected, first_missing);
    if (twice != 0) {
        facet_gfx12_checker_report(c,
                                   40,
                                   at,
                                   "%llu primitive%s a name that another with other corners has, "
                                   "the first is primitive %u, geometry %u",
                                   (unsigned long long)twice,
                                   twice == 1 ? " has" : "s have",
                                   (uint32_t)first_twice,
                                   (uint32_t)(first_twice >> 32));
    }
}

static void check_names(struct facet_checker *c)
{
    struct facet_array nodes = {0}, names = {0};
    const struct facet_checked_key *keys;

    for (uint32_t i = 0; i < c->walk.reached && !c->failed; i++) {
        const uint32_t node = c->walk.order[i];
        struct facet_checked_key *to;

        if (c->walk.nodes[node].kind != FACET_GFX12_KIND_PRIMITIVE) {
            continue;
        }
        to = facet_array_add(&nodes, 1, sizeof *to);
        c->failed = to == NULL;
        if (to != NULL) {
            *to = (struct facet_checked_key){c->walk.nodes[node].level_base, node};
        }
    }
    keys = nodes.items;
    if (nodes.count > 1) {
        qsort(nodes.items, nodes.count, sizeof *keys, facet_gfx12_checker_compare_keys);
    }
    for (size_t i = 0, first = 0; i < nodes.count && !c->failed; i++) {
        gather_names(c, keys[i].number, &names);
        if (i + 1 == nodes.count || keys[i + 1].key != keys[i].key) {
            judge_names(c, &names, facet_gfx12_checker_offset(keys[first].number));
            names.count = 0;
            first = i + 1;
        }
    }
    free(nodes.items);
    free(names.items);
}

/* ---- children behind the count ---- */

static bool is_plausible(const struct facet_gfx12_child *child)
{
    for (int k = 0; k < 3; k++) {
        if (child->min[k] > child->max[k] + 1) {
            return false;
        }
    }
    return child->cull_mask != 0;
}

/* Is there a node that nothing names? */
static bool is_orphan(const struct facet_checker *c, uint32_t id, uint64_t level_base)
{
    const enum facet_gfx12_kind kind = facet_gfx12_id_kind(id);
    uint64_t offset;
    uint32_t node;

    if (kind == FACET_GFX12_KIND_NONE ||
        !facet_gfx12_view_offset(
            c->view, level_base + facet_gfx12_id_offset(id), FACET_GFX12_NODE_BYTES, &offset) ||
        offset % FACET_GFX12_UNIT_BYTES != 0) {
        return false;
    }
    node = facet_gfx12_node_at(offset);
    if (c->walk.nodes[node].kind == FACET_GFX12_KIND_NONE) {
        return node == 0 || c->walk.nodes[node - 1].kind == FACET_GFX12_KIND_NONE;
    }
    return kind == FACET_GFX12_KIND_PRIMITIVE && c->walk.nodes[node].kind == kind &&
           facet_gfx12_id_pair(id) < pairs_of(c, node) &&
           (reached_pairs(c, node) >> facet_gfx12_id_pair(id) & 1) == 0;
}

static void check_count(struct facet_checker *c, uint32_t node)
{
    struct facet_gfx12_box box;
    uint32_t ids[8];
    unsigned count;

    facet_gfx12_box_decode(facet_gfx12_node_bytes(c->view, node), &box);
    count = (box.child_count_minus_one & 7u) + 1;
    facet_gfx12_child_ids(box.child, 8, box.internal_child_offset, box.primitive_child_offset, ids);
    for (unsigned i = count; i < 8; i++) {
        if (is_plausible(&box.child[i]) && is_orphan(c, ids[i], c->walk.nodes[node].level_base)) {
            facet_gfx12_checker_report(c,
                                       42,
                                       facet_gfx12_checker_offset(node) + 27,
                                       "child_count_minus_one is %u, but slot %u holds a child "
                                       "(%08X) that nothing else names",
                                       box.child_count_minus_one,
                                       i,
                                       ids[i]);
            return;
        }
    }
}

void facet_gfx12_checker_ids(struct facet_checker *c)
{
    check_names(c);
    for (uint32_t i = 0; i < c->walk.reached && !c->failed; i++) {
        if (c->walk.nodes[c->walk.order[i]].kind == FACET_GFX12_KIND_BOX) {
            check_count(c, c->walk.order[i]);
        }
    }
}
