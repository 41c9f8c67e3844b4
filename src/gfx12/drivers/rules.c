/* See rules.h. The tree below each header is looked at once; what was found there is then compared
 * with what the header says. */
#include "gfx12/drivers/rules.h"
#include "gfx12/drivers/hiprt.h"
#include "gfx12/drivers/matrix.h"

#include "base/array.h"
#include "base/bits.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define NODE FACET_GFX12_NODE_BYTES

enum rule {
    PLACES = 32, /* offsets lie in the structure, in order */
    COUNTS,
    BOUNDS,
    GEOMETRY, /* indices of geometries and primitives, infos */
    LINKS,    /* pointers of instances */
    SIZE,
    KIND, /* TLAS or BLAS, triangles or boxes */
    SIDE, /* what stands beside an instance */
};

/* What lies below a header. */
struct tree {
    uint64_t boxes, instances, prims, custom;
    uint64_t *ids; /* geometry in the upper half, primitive in the lower, one each */
    size_t id_count, id_capacity;
    float low[3], high[3];
    bool triangles, procedural;
};

struct judge {
    const struct facet_gfx12_view *view;
    const struct facet_gfx12_walk *walk;
    const struct facet_gfx12_piece *pieces;
    uint32_t count;
    struct tree *trees;
    facet_gfx12_header_report *report;
    void *context;
    bool failed;
};

static void __attribute__((format(printf, 4, 5)))
say(struct judge *j, enum rule rule, uint64_t offset, const char *format, ...)
{
    char text[160];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    j->report(j->context, (unsigned)rule, offset, text);
}

/* ---- what is there ---- */

static float as_float(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static void grow(struct tree *t, const uint32_t point[3])
{
    for (unsigned k = 0; k < 3; k++) {
        float v = as_float(point[k]);

        if (v < t->low[k]) {
            t->low[k] = v;
        }
        if (v > t->high[k]) {
            t->high[k] = v;
        }
    }
}

static void add_id(struct judge *j, struct tree *t, uint32_t geometry, uint32_t primitive)
{
    if (!facet_array_fit(&t->ids, &t->id_capacity, t->id_count + 1, sizeof *t->ids)) {
        j->failed = true;
        return;
    }
    t->ids[t->id_count++] = (uint64_t)geometry << 32 | primitive;
}

static void look_at_primitives(struct judge *j, struct tree *t, const uint8_t *node)
{
    struct facet_gfx12_prim prim;
    unsigned pairs;

    facet_gfx12_prim_decode(node, &prim);
    pairs = facet_gfx12_prim_pairs(&prim.header);
    for (unsigned i = 0; i < 2 * pairs; i++) {
        const struct facet_gfx12_pair_tri *tri = &prim.pair[i / 2].tri[i % 2];

        if (facet_gfx12_tri_absent(tri)) {
            continue;
        }
        add_id(j, t, facet_gfx12_prim_geometry(&prim, i), facet_gfx12_prim_primitive(&prim, i));
        if (facet_gfx12_tri_procedural(tri)) {
            t->procedural = true;
            grow(t, prim.aabb);
            grow(t, prim.aabb + 3);
            continue;
        }
        t->triangles = true;
        for (unsigned corner = 0; corner < 3; corner++) {
            uint32_t xyz[3];

            facet_gfx12_prim_vertex(&prim, tri->index[corner], xyz);
            grow(t, xyz);
        }
    }
}

/* HIPRT's custom primitives: the children of type 7 name entries of a list of numbers, four bytes
 * each, which only the program's own functions read (R-G12-116). */
static void
look_at_custom(struct judge *j, const struct facet_gfx12_piece *p, struct tree *t, uint32_t node)
{
    const struct facet_gfx12_structure *s = &p->structure;
    struct facet_gfx12_link links[8];
    const unsigned count = facet_gfx12_links(j->view, j->walk, node, links);

    for (unsigned i = 0; i < count; i++) {
        const uint64_t entry = links[i].id >> 4;
        const uint64_t from = p->at + s->leaf_nodes + 4 * entry;
        const uint64_t at = facet_gfx12_node_offset(node) + 32 + 12 * (uint64_t)links[i].slot;

        if ((links[i].id & 15) != FACET_GFX12_HIPRT_CUSTOM) {
            continue;
        }
        t->custom++;
        if (!s->procedural) {
            continue; /* check_kind() says so */
        }
        if (entry >= s->leaves || !facet_gfx12_piece_has(p, from, 4)) {
            say(j,
                COUNTS,
                at,
                "child %u: custom primitive %" PRIu64 " of %" PRIu64,
                links[i].slot,
                entry,
                s->leaves);
            continue;
        }
        add_id(j, t, 0, facet_load_le32(j->view->bytes + from));
    }
}

static int compare_ids(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* A triangle that was split, or repeated to fill a pair, is one. */
static void keep_distinct(struct tree *t)
{
    size_t kept = 0;

    if (t->id_count == 0) {
        return;
    }
    qsort(t->ids, t->id_count, sizeof *t->ids, compare_ids);
    for (size_t i = 1; i < t->id_count; i++) {
        if (t->ids[i] != t->ids[kept]) {
            t->ids[++kept] = t->ids[i];
        }
    }
    t->id_count = kept + 1;
}

static void look_at_trees(struct judge *j)
{
    const struct facet_gfx12_piece *last = NULL;

    for (uint32_t i = 0; i < j->walk->reached && !j->failed; i++) {
        const uint32_t node = j->walk->order[i];
        const struct facet_gfx12_walk_node *n = &j->walk->nodes[node];
        struct tree *t;

        if (last == NULL || facet_gfx12_piece_base(last) != n->level_base) {
            last = facet_gfx12_piece_with_base(j->pieces, j->count, n->level_base);
        }
        if (last == NULL || last->structure.root == FACET_GFX12_NO_ROOT) {
            continue; /* the root of an inactive structure is none of the driver's */
        }
        t = &j->trees[last - j->pieces];
        t->boxes += n->kind == FACET_GFX12_KIND_BOX;
        if (n->kind == FACET_GFX12_KIND_BOX && last->structure.driver == FACET_GFX12_DRIVER_HIPRT) {
            look_at_custom(j, last, t, node);
        }
        t->instances += n->kind == FACET_GFX12_KIND_INSTANCE;
        if (n->kind == FACET_GFX12_KIND_PRIMITIVE) {
            t->prims++;
            look_at_primitives(j, t, facet_gfx12_node_bytes(j->view, node));
        }
    }
    for (uint32_t i = 0; i < j->count; i++) {
        keep_distinct(&j->trees[i]);
    }
}

/* ---- against the headers ---- */

static void check_places(struct judge *j, const struct facet_gfx12_piece *p)
{
    const struct facet_gfx12_structure *s = &p->structure;
    const uint64_t header = p->at + s->header;
    const uint64_t infos =
        s->infos != 0 && s->geometries != FACET_GFX12_UNKNOWN ? 12 * s->geometries : 0;

    if (s->leaf_nodes != 0 && (s->leaf_nodes < s->base || s->leaf_nodes > p->bytes)) {
        say(j,
            PLACES,
            header,
            "leaf nodes at 0x%" PRIx64 ", outside the structure's %" PRIu64 " bytes",
            s->leaf_nodes,
            p->bytes);
    }
    if (s->infos != 0 && (s->infos > p->bytes || infos > p->bytes - s->infos)) {
        say(j,
            PLACES,
            header,
            "%" PRIu64 " geometry infos at 0x%" PRIx64 ", outside the structure's %" PRIu64
            " bytes",
            s->geometries,
            s->infos,
            p->bytes);
    }
    if (s->driver == FACET_GFX12_DRIVER_GPURT) {
        const uint8_t *h = j->view->bytes + header;
        const uint32_t inner = facet_load_le32(h + 32), leaf = facet_load_le32(h + 36),
                       info = facet_load_le32(h + 40), pointers = facet_load_le32(h + 44);

        if (leaf < inner || (info != 0 && info < leaf) || (pointers != 0 && pointers < info)) {
            say(j,
                PLACES,
                header + 32,
                "offsets 0x%x, 0x%x, 0x%x, 0x%x; expected each no smaller than the one before",
                inner,
                leaf,
                info,
                pointers);
        }
    }
    if (s->driver == FACET_GFX12_DRIVER_HIPRT && (s->leaf_nodes - s->base) % NODE != 0) {
        say(j, PLACES, header + 8, "m_primNodes is no multiple of 128 behind m_boxNodes");
    }
    if (s->address != FACET_GFX12_UNKNOWN && s->address != (p->address & facet_bits_mask(48))) {
        say(j,
            PLACES,
            p->at,
            "its own pointers say address 0x%" PRIx64 ", but it was read at 0x%" PRIx64,
            s->address,
            p->address);
    }
}

static void check_size(struct judge *j, const struct facet_gfx12_piece *p)
{
    const struct facet_gfx12_structure *s = &p->structure;

    if (s->size > p->bytes) {
        say(j,
            SIZE,
            p->at + s->header,
            "the header says %" PRIu64 " bytes, of which %" PRIu64 " are here",
            s->size,
            p->bytes);
    }
}

static void check_counts(struct judge *j, const struct facet_gfx12_piece *p, const struct tree *t)
{
    const struct facet_gfx12_structure *s = &p->structure;
    const uint64_t header = p->at + s->header;
    const uint64_t found = s->top ? t->instances : t->id_count;

    /* Rebraiding makes several nodes of one instance. */
    if (s->primitives != FACET_GFX12_UNKNOWN && found > s->primitives &&
        !(s->top && s->driver == FACET_GFX12_DRIVER_GPURT)) {
        say(j,
            COUNTS,
            header,
            "%" PRIu64 " %s, but the header counts %" PRIu64,
            found,
            s->top ? "instances" : "primitives",
            s->primitives);
    }
    if (s->active != FACET_GFX12_UNKNOWN && s->active > s->primitives) {
        say(j,
            COUNTS,
            header,
            "%" PRIu64 " active primitives of %" PRIu64,
            s->active,
            s->primitives);
    }
    if (s->boxes != FACET_GFX12_UNKNOWN && t->boxes > s->boxes) {
        say(j,
            COUNTS,
            header,
            "%" PRIu64 " box nodes, but the header counts %" PRIu64,
            t->boxes,
            s->boxes);
    }
    /* What RADV calls leaf nodes in a capture are primitives, several to a node. */
    if (s->leaves != FACET_GFX12_UNKNOWN && t->prims + t->instances > s->leaves) {
        say(j,
            COUNTS,
            header,
            "%" PRIu64 " leaf nodes, but the header counts %" PRIu64,
            t->prims + t->instances,
            s->leaves);
    }
}

static void check_bounds(struct judge *j, const struct facet_gfx12_piece *p, const struct tree *t)
{
    const struct facet_gfx12_structure *s = &p->structure;
    static const char axes[] = "xyz";

    if (!s->has_bounds || t->id_count == 0) {
        return;
    }
    for (unsigned k = 0; k < 3; k++) {
        if (t->low[k] < s->low[k] || t->high[k] > s->high[k]) {
            say(j,
                BOUNDS,
                p->at + s->header,
                "%c from %.9g to %.9g in the header does not contain %.9g to %.9g",
                axes[k],
                (double)s->low[k],
                (double)s->high[k],
                (double)t->low[k],
                (double)t->high[k]);
        }
    }
}

/* The number of primitives that the info of a geometry tells; UNKNOWN without one. */
static uint64_t
info_count(const struct judge *j, const struct facet_gfx12_piece *p, uint64_t geometry)
{
    const struct facet_gfx12_structure *s = &p->structure;
    const uint64_t at = s->infos + 12 * geometry;

    if (s->infos == 0 || geometry >= s->geometries || at > p->bytes || p->bytes - at < 12) {
        return FACET_GFX12_UNKNOWN;
    }
    return facet_load_le32(j->view->bytes + p->at + at) & s->info_mask;
}

static void check_geometry(struct judge *j, const struct facet_gfx12_piece *p, const struct tree *t)
{
    const struct facet_gfx12_structure *s = &p->structure;
    uint64_t total = 0, g = 0;

    if (s->top || s->geometries == FACET_GFX12_UNKNOWN || t->id_count == 0) {
        return;
    }
    /* The IDs are in order: the last of each geometry has its largest primitive. */
    for (size_t i = 0; i < t->id_count; i++) {
        const uint64_t geometry = t->ids[i] >> 32, primitive = t->ids[i] & UINT32_MAX;
        const bool last = i + 1 == t->id_count || t->ids[i + 1] >> 32 != geometry;

        if (!last) {
            continue;
        }
        if (geometry >= s->geometries) {
            say(j,
                GEOMETRY,
                p->at + s->header,
                "a primitive of geometry %" PRIu64 ", but the header counts %" PRIu64,
                geometry,
                s->geometries);
        } else if (primitive >= info_count(j, p, geometry)) {
            say(j,
                GEOMETRY,
                p->at + s->infos + 12 * geometry,
                "primitive %" PRIu64 " of geometry %" PRIu64 ", whose info counts %" PRIu64,
                primitive,
                geometry,
                info_count(j, p, geometry));
        }
    }
    while (g < s->geometries && info_count(j, p, g) != FACET_GFX12_UNKNOWN) {
        total += info_count(j, p, g++);
    }
    if (g == s->geometries && s->infos != 0 && s->primitives != FACET_GFX12_UNKNOWN &&
        total != s->primitives) {
        say(j,
            GEOMETRY,
            p->at + s->infos,
            "the infos count %" PRIu64 " primitives, the header %" PRIu64,
            total,
            s->primitives);
    }
}

/* Every custom primitive stands for one entry, and every entry has a number of its own. */
static void check_custom(struct judge *j, const struct facet_gfx12_piece *p, const struct tree *t)
{
    const struct facet_gfx12_structure *s = &p->structure;

    if (s->driver != FACET_GFX12_DRIVER_HIPRT || !s->procedural || t->custom == 0) {
        return;
    }
    if (t->id_count != t->custom || t->custom != s->leaves) {
        say(j,
            GEOMETRY,
            p->at + s->leaf_nodes,
            "%" PRIu64 " custom primitives with %" PRIu64 " different numbers, but the header "
            "counts %" PRIu64,
            t->custom,
            (uint64_t)t->id_count,
            s->leaves);
    } else if ((t->ids[t->id_count - 1] & UINT32_MAX) >= s->leaves) {
        say(j,
            GEOMETRY,
            p->at + s->leaf_nodes,
            "custom primitive number %" PRIu64 " of %" PRIu64,
            t->ids[t->id_count - 1] & UINT32_MAX,
            s->leaves);
    }
}

static void check_kind(struct judge *j, const struct facet_gfx12_piece *p, const struct tree *t)
{
    const struct facet_gfx12_structure *s = &p->structure;
    const char *found = s->top && t->prims != 0 ? "primitives in a TLAS"
                        : !s->procedural && t->custom != 0
                            ? "custom primitives in a structure of another kind"
                        : !s->top && t->instances != 0    ? "instances in a BLAS"
                        : s->procedural && t->triangles   ? "triangles in a BLAS of boxes"
                        : !s->procedural && t->procedural ? "boxes in a BLAS of triangles"
                                                          : NULL;

    if (found != NULL) {
        say(j, KIND, p->at + s->header, "%s", found);
    }
}

/* ---- instances ---- */

static void check_instance(struct judge *j, uint32_t node)
{
    const uint64_t at = facet_gfx12_node_offset(node);
    const uint8_t *bytes = facet_gfx12_node_bytes(j->view, node);
    const struct facet_gfx12_piece *own =
        facet_gfx12_piece_with_base(j->pieces, j->count, j->walk->nodes[node].level_base);
    struct facet_gfx12_instance instance;
    const struct facet_gfx12_piece *blas;
    uint64_t target, offset, side;

    if (own == NULL) {
        return;
    }
    facet_gfx12_instance_decode(bytes, &instance);
    target = facet_gfx12_base_address(instance.pointer);
    blas = facet_gfx12_piece_with_base(j->pieces, j->count, target);
    if (blas == NULL && facet_gfx12_view_offset(j->view, target, 1, &offset)) {
        say(j,
            LINKS,
            at + 48,
            "bvh_addr 0x%" PRIx64 " is not where the nodes of a structure begin",
            target);
    } else if (blas != NULL && blas->structure.top &&
               own->structure.driver != FACET_GFX12_DRIVER_HIPRT) {
        say(j, LINKS, at + 48, "bvh_addr 0x%" PRIx64 " leads to a TLAS", target);
    }
    if (!facet_gfx12_piece_side(own, at, &side)) {
        return;
    }
    {
        const bool radv = own->structure.driver == FACET_GFX12_DRIVER_RADV;
        const uint8_t *beside = j->view->bytes + side;
        const uint64_t index = facet_load_le32(beside + (radv ? 52 : 0));

        if (index >= own->structure.primitives) {
            say(j,
                SIDE,
                side,
                "instance index %" PRIu64 " of %" PRIu64,
                index,
                own->structure.primitives);
        }
        if (radv && blas != NULL && facet_load_le32(beside + 56) != blas->structure.base) {
            say(j,
                SIDE,
                side + 56,
                "bvh_offset 0x%x, but that of the BLAS is 0x%" PRIx64,
                facet_load_le32(beside + 56),
                blas->structure.base);
        }
        if (!facet_gfx12_are_inverse(bytes, beside + (radv ? 0 : 16))) {
            say(j, SIDE, side, "object_to_world is not the inverse of world_to_object");
        }
    }
}

enum facet_status facet_gfx12_headers_check(const struct facet_gfx12_view *view,
                                            const struct facet_gfx12_walk *walk,
                                            const struct facet_gfx12_piece *pieces,
                                            uint32_t count,
                                            facet_gfx12_header_report *report,
                                            void *context,
                                            struct facet_error *err)
{
    struct judge j = {view, walk, pieces, count, NULL, report, context, false};

    if (count == 0) {
        return FACET_OK;
    }
    j.trees = calloc(count, sizeof *j.trees);
    if (j.trees == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %u structures", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        for (unsigned k = 0; k < 3; k++) {
            j.trees[i].low[k] = INFINITY;
            j.trees[i].high[k] = -INFINITY;
        }
    }
    look_at_trees(&j);
    for (uint32_t i = 0; i < count && !j.failed; i++) {
        check_places(&j, &pieces[i]);
        check_size(&j, &pieces[i]);
        check_counts(&j, &pieces[i], &j.trees[i]);
        check_bounds(&j, &pieces[i], &j.trees[i]);
        check_geometry(&j, &pieces[i], &j.trees[i]);
        check_custom(&j, &pieces[i], &j.trees[i]);
        check_kind(&j, &pieces[i], &j.trees[i]);
    }
    for (uint32_t i = 0; i < walk->reached && !j.failed; i++) {
        if (walk->nodes[walk->order[i]].kind == FACET_GFX12_KIND_INSTANCE) {
            check_instance(&j, walk->order[i]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        free(j.trees[i].ids);
    }
    free(j.trees);
    return j.failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the list of primitives")
                    : FACET_OK;
}
