/* Children first, so that every box is joined from finished ones. */
#include "gfx12/build/refit.h"

#include "gfx12/build/level.h"
#include "gfx12/build/pack_node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a node covers now. */
struct covered {
    float lo[3], hi[3];
    uint8_t promises, mask;
    bool empty;
};

/* (geometry, primitive) of the primitives of one BLAS, sorted. */
struct key {
    uint64_t id;
    uint32_t index;
};

struct blas {
    uint64_t base; /* address */
    struct key *keys;
    uint32_t count;
};

struct refit {
    const struct facet_gfx12_view *view;
    const struct facet_bvh_scene_input *scene;
    struct facet_gfx12_walk walk;
    struct covered *covered;
    struct blas *blas;
    uint32_t blas_count;
    uint8_t *bytes;
    struct facet_error *err;
};

static enum facet_status mismatch(struct refit *r, uint64_t at, const char *what)
{
    return facet_fail(r->err,
                      FACET_ERR_INPUT,
                      at,
                      "the image does not belong to this scene: at 0x%llx %s",
                      (unsigned long long)at,
                      what);
}

/* ---- matching ---- */

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_blas(const void *a, const void *b)
{
    const struct blas *x = a, *y = b;

    return x->base < y->base ? -1 : x->base > y->base;
}

static bool make_keys(struct blas *blas, const struct facet_bvh_blas_input *in)
{
    blas->count = in->triangle_count + in->aabb_count;
    blas->keys = malloc(((size_t)blas->count + 1) * sizeof *blas->keys);
    if (blas->keys == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < blas->count; i++) {
        uint32_t geometry = in->aabb_count != 0 ? in->aabbs[i].geometry : in->triangles[i].geometry;
        uint32_t primitive =
            in->aabb_count != 0 ? in->aabbs[i].primitive : in->triangles[i].primitive;

        blas->keys[i] = (struct key){(uint64_t)geometry << 32 | primitive, i};
    }
    qsort(blas->keys, blas->count, sizeof *blas->keys, compare_keys);
    return true;
}

static bool
find_primitive(const struct blas *blas, uint32_t geometry, uint32_t primitive, uint32_t *index)
{
    struct key wanted = {(uint64_t)geometry << 32 | primitive, 0};
    const struct key *found =
        bsearch(&wanted, blas->keys, blas->count, sizeof *blas->keys, compare_keys);

    if (found != NULL) {
        *index = found->index;
    }
    return found != NULL;
}

static struct blas *find_blas(struct refit *r, uint64_t base)
{
    struct blas wanted = {.base = base};

    return bsearch(&wanted, r->blas, r->blas_count, sizeof *r->blas, compare_blas);
}

/* One entry per level base below an instance; an image without instances is one BLAS. */
static enum facet_status match_levels(struct refit *r)
{
    uint32_t found = 0;

    r->blas_count = r->scene->blas_count;
    r->blas = calloc((size_t)r->blas_count + 1, sizeof *r->blas);
    if (r->blas == NULL) {
        return facet_fail(r->err, FACET_ERR_MEMORY, 0, "no memory for the refit");
    }
    for (uint32_t i = 0; i < r->walk.reached; i++) {
        uint32_t node = r->walk.order[i];
        const struct facet_gfx12_walk_node *n = &r->walk.nodes[node];
        bool root = n->parent == FACET_GFX12_NO_NODE ||
                    r->walk.nodes[n->parent].kind == FACET_GFX12_KIND_INSTANCE;
        bool below_instance = root && n->parent != FACET_GFX12_NO_NODE;

        if (!root || (!below_instance && r->scene->instance_count != 0)) {
            continue;
        }
        if (n->kind != FACET_GFX12_KIND_BOX || found == r->blas_count) {
            return mismatch(
                r, facet_gfx12_node_offset(node), "starts a BLAS that the scene does not have");
        }
        r->blas[found++].base = n->level_base;
    }
    if (found != r->blas_count) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          0,
                          "the image does not belong to this scene: it has %u BLASes, the scene %u",
                          found,
                          r->blas_count);
    }
    qsort(r->blas, found, sizeof *r->blas, compare_blas);
    for (uint32_t i = 0; i < found; i++) {
        if (!make_keys(&r->blas[i], &r->scene->blas[i])) {
            return facet_fail(r->err, FACET_ERR_MEMORY, 0, "no memory for the refit");
        }
    }
    return FACET_OK;
}

/* ---- primitive nodes ---- */

static enum facet_status refit_procedural(struct refit *r,
                                          const struct blas *blas,
                                          const struct facet_gfx12_prim *p,
                                          uint32_t node)
{
    const struct facet_bvh_blas_input *in = &r->scene->blas[blas - r->blas];
    uint32_t index;

    if (in->aabb_count == 0 ||
        !find_primitive(
            blas, facet_gfx12_prim_geometry(p, 0), facet_gfx12_prim_primitive(p, 0), &index)) {
        return mismatch(r, facet_gfx12_node_offset(node), "is a box that the scene does not have");
    }
    for (int k = 0; k < 3; k++) {
        if (!(in->aabbs[index].min[k] <= in->aabbs[index].max[k]) ||
            !isfinite(in->aabbs[index].min[k]) || !isfinite(in->aabbs[index].max[k])) {
            return facet_fail(
                r->err, FACET_ERR_INPUT, index, "box %u is inverted or not finite", index);
        }
    }
    facet_gfx12_pack_aabb(&in->aabbs[index], r->bytes + facet_gfx12_node_offset(node));
    return FACET_OK;
}

static bool finite_triangle(const struct facet_bvh_triangle *t)
{
    for (int i = 0; i < 9; i++) {
        if (!isfinite((&t->vertex[0][0])[i])) {
            return false;
        }
    }
    return true;
}

static enum facet_status refit_prim(struct refit *r, uint32_t node)
{
    const struct facet_bvh_triangle *pair[8][2] = {{NULL, NULL}};
    const struct blas *blas = find_blas(r, r->walk.nodes[node].level_base);
    struct facet_pack_node packed;
    struct facet_gfx12_prim p;
    bool stop[8], room = true;
    unsigned pairs;

    if (blas == NULL) {
        return mismatch(r, facet_gfx12_node_offset(node), "lies in no BLAS");
    }
    facet_gfx12_prim_decode(facet_gfx12_node_bytes(r->view, node), &p);
    if (facet_gfx12_tri_procedural(&p.pair[0].tri[0])) {
        return refit_procedural(r, blas, &p, node);
    }
    pairs = facet_gfx12_prim_pairs(&p.header);
    for (unsigned t = 0; t < 2 * pairs; t++) {
        const struct facet_bvh_blas_input *in = &r->scene->blas[blas - r->blas];
        uint32_t index;

        stop[t / 2] = p.pair[t / 2].prim_range_stop != 0;
        if (t % 2 == 1 && facet_gfx12_tri_absent(&p.pair[t / 2].tri[1])) {
            continue;
        }
        if (in->triangle_count == 0 || !find_primitive(blas,
                                                       facet_gfx12_prim_geometry(&p, t),
                                                       facet_gfx12_prim_primitive(&p, t),
                                                       &index)) {
            return mismatch(
                r, facet_gfx12_node_offset(node), "is a triangle that the scene does not have");
        }
        pair[t / 2][t % 2] = &in->triangles[index];
        if (!finite_triangle(&in->triangles[index])) {
            return facet_fail(
                r->err, FACET_ERR_INPUT, index, "triangle %u is no longer finite", index);
        }
    }
    facet_gfx12_pack_node_clear(&packed);
    for (unsigned i = 0; i < pairs && room; i++) {
        room = facet_gfx12_pack_node_pair(&packed, pair[i][0], pair[i][1], stop[i]);
    }
    if (!room || !facet_gfx12_pack_node_fits(&packed)) {
        return facet_fail(r->err,
                          FACET_ERR_LIMIT,
                          facet_gfx12_node_offset(node),
                          "the primitive node at 0x%llx has no room for the moved vertices; build "
                          "a new image",
                          (unsigned long long)facet_gfx12_node_offset(node));
    }
    facet_gfx12_pack_node_write(&packed, r->bytes + facet_gfx12_node_offset(node));
    return FACET_OK;
}

/* ---- boxes ---- */

static void cover_nothing(struct covered *c)
{
    *c = (struct covered){.promises = 0xF, .empty = true};
}

static float min_exact(float a, float b)
{
    return a < b || (a == b && signbit(a)) ? a : b;
}

static float max_exact(float a, float b)
{
    return a > b || (a == b && !signbit(a)) ? a : b;
}

static void cover_point(struct covered *c, const float p[3])
{
    for (int k = 0; k < 3; k++) {
        c->lo[k] = c->empty ? p[k] : min_exact(c->lo[k], p[k]);
        c->hi[k] = c->empty ? p[k] : max_exact(c->hi[k], p[k]);
    }
    c->empty = false;
}

static void cover_join(struct covered *c, const struct covered *o)
{
    c->promises &= o->promises;
    c->mask |= o->mask;
    if (!o->empty) {
        cover_point(c, o->lo);
        cover_point(c, o->hi);
    }
}

/* From the new bytes of the range's nodes. */
static void
cover_range(const struct refit *r, const struct facet_gfx12_link *link, struct covered *out)
{
    struct facet_gfx12_range range = facet_gfx12_range_start(r->view, link);

    cover_nothing(out);
    out->mask = 0xFF;
    do {
        const uint8_t *node = r->bytes + facet_gfx12_node_offset(range.node);
        struct facet_gfx12_pair p;
        struct facet_gfx12_prim prim;

        facet_gfx12_pair_decode(node, range.pair, &p);
        for (int t = 0; t < 2; t++) {
            const struct facet_gfx12_pair_tri *tri = &p.desc.tri[t];
            bool procedural = facet_gfx12_tri_procedural(tri);
            float corner[3][3];

            if (t == 1 && facet_gfx12_tri_absent(tri)) {
                continue;
            }
            memcpy(corner, p.vertex[t], sizeof corner);
            if (procedural) {
                facet_gfx12_prim_decode(node, &prim);
                memcpy(corner, prim.aabb, sizeof prim.aabb);
            }
            for (int c = 0; c < (procedural ? 2 : 3); c++) {
                cover_point(out, corner[c]);
            }
            out->promises &=
                (uint8_t)((tri->opaque ? FACET_GFX12_ONLY_OPAQUE : FACET_GFX12_ONLY_NON_OPAQUE) |
                          (procedural ? FACET_GFX12_ONLY_PROCEDURAL : FACET_GFX12_ONLY_TRIANGLES));
        }
    } while (facet_gfx12_range_next(&range));
}

static enum facet_status too_wide(struct refit *r, uint32_t node)
{
    return facet_fail(r->err,
                      FACET_ERR_INPUT,
                      facet_gfx12_node_offset(node),
                      "the scene is more than 2^127 wide, which the node at 0x%llx cannot hold",
                      (unsigned long long)facet_gfx12_node_offset(node));
}

static enum facet_status refit_box(struct refit *r, uint32_t node)
{
    struct facet_gfx12_link links[8];
    unsigned count = facet_gfx12_links(r->view, &r->walk, node, links);
    struct covered *own = &r->covered[node];
    struct covered below[8];
    struct facet_gfx12_box box;
    uint32_t lo[8][3], hi[8][3];

    cover_nothing(own);
    for (unsigned i = 0; i < count; i++) {
        uint32_t target = facet_gfx12_node_at(links[i].offset);

        if (facet_gfx12_id_kind(links[i].id) == FACET_GFX12_KIND_PRIMITIVE) {
            cover_range(r, &links[i], &below[i]);
        } else {
            below[i] = r->covered[target];
        }
        cover_join(own, &below[i]);
        memcpy(lo[i], below[i].lo, sizeof lo[i]);
        memcpy(hi[i], below[i].hi, sizeof hi[i]);
    }
    if (count == 0) {
        return FACET_OK; /* the root of an empty level */
    }
    facet_gfx12_box_decode(facet_gfx12_node_bytes(r->view, node), &box);
    box.obb_matrix_index = FACET_GFX12_OBB_NONE;
    if (!facet_gfx12_box_grid(&box, lo, hi, count)) {
        return too_wide(r, node);
    }
    for (unsigned i = 0; i < count; i++) {
        struct facet_gfx12_child *child = &box.child[links[i].slot];

        child->cull_flags = below[i].promises;
        child->cull_mask = below[i].mask;
        facet_gfx12_quantize_child(lo[i], hi[i], box.origin, box.exponent, child);
    }
    facet_gfx12_box_encode(&box, r->bytes + facet_gfx12_node_offset(node));
    return FACET_OK;
}

static enum facet_status refit_instance(struct refit *r, uint32_t node)
{
    struct facet_gfx12_link links[8];
    unsigned count = facet_gfx12_links(r->view, &r->walk, node, links);
    struct covered *own = &r->covered[node];
    struct facet_gfx12_instance in;
    const struct facet_bvh_instance *moved;
    const struct covered *blas;
    uint32_t target;

    facet_gfx12_instance_decode(facet_gfx12_node_bytes(r->view, node), &in);
    if (in.user_data >= r->scene->instance_count || count != 1) {
        return mismatch(
            r, facet_gfx12_node_offset(node), "is an instance that the scene does not have");
    }
    moved = &r->scene->instances[in.user_data];
    target = facet_gfx12_node_at(links[0].offset);
    if (moved->blas >= r->blas_count ||
        r->blas[moved->blas].base != r->walk.nodes[target].level_base) {
        return mismatch(r, facet_gfx12_node_offset(node), "is an instance of another mesh");
    }
    blas = &r->covered[target];
    cover_nothing(own);
    own->empty = false;
    own->mask = moved->mask;
    own->promises = facet_gfx12_instance_promises(moved, blas->promises);
    if (!facet_gfx12_instance_bounds(moved, blas->lo, blas->hi, own->lo, own->hi)) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          in.user_data,
                          "instance %u: world_to_object has no inverse",
                          in.user_data);
    }
    if (!facet_gfx12_instance_node(moved,
                                   blas->lo,
                                   blas->hi,
                                   r->scene->blas[moved->blas].aabb_count != 0,
                                   facet_gfx12_base_address(in.pointer),
                                   in.parent,
                                   r->bytes + facet_gfx12_node_offset(node))) {
        return too_wide(r, node);
    }
    return FACET_OK;
}

static enum facet_status refit_nodes(struct refit *r)
{
    enum facet_status status = FACET_OK;

    for (uint32_t i = 0; i < r->walk.reached && status == FACET_OK; i++) {
        uint32_t node = r->walk.order[i];

        switch (r->walk.nodes[node].kind) {
        case FACET_GFX12_KIND_BOX:
            status = refit_box(r, node);
            break;
        case FACET_GFX12_KIND_INSTANCE:
            status = refit_instance(r, node);
            break;
        default:
            status = refit_prim(r, node);
            break;
        }
    }
    return status;
}

enum facet_status facet_gfx12_refit(const struct facet_gfx12_view *view,
                                    const struct facet_bvh_scene_input *scene,
                                    struct facet_gfx12_image *out,
                                    struct facet_error *err)
{
    struct refit r = {.view = view, .scene = scene, .err = err};
    enum facet_status status = facet_gfx12_walk(view, &r.walk, err);

    *out = (struct facet_gfx12_image){NULL, 0};
    if (status == FACET_OK && (r.walk.problem_count != 0 || r.walk.reached == 0)) {
        status =
            facet_fail(err,
                       FACET_ERR_INPUT,
                       0,
                       "the image is malformed (%u broken links); `facet bvh check` lists them",
                       r.walk.problem_count);
    }
    if (status == FACET_OK) {
        r.bytes = malloc((size_t)view->size);
        r.covered = calloc((size_t)r.walk.count + 1, sizeof *r.covered);
        if (r.bytes == NULL || r.covered == NULL) {
            status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the refit");
        }
    }
    if (status == FACET_OK) {
        memcpy(r.bytes, view->bytes, (size_t)view->size);
        status = match_levels(&r);
    }
    if (status == FACET_OK) {
        status = refit_nodes(&r);
    }
    for (uint32_t i = 0; r.blas != NULL && i < r.blas_count; i++) {
        free(r.blas[i].keys);
    }
    free(r.blas);
    free(r.covered);
    facet_gfx12_walk_free(&r.walk);
    if (status != FACET_OK) {
        free(r.bytes);
        return status;
    }
    *out = (struct facet_gfx12_image){r.bytes, view->size};
    return FACET_OK;
}
