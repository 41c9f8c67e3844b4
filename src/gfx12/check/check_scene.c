/* The instances of the image, each with the instance of the scene that it stands for. User data and
 * matrix together decide; then the matrix alone (drivers keep numbers of their own in the user
 * data), where the BLAS's bounds decide between equal matrices; then the user data alone. Several
 * instances of the image may stand for one of the scene when they enter its BLAS at different nodes
 * (rebraiding). */
#include "gfx12/check/scene.h"

#include "base/float.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX

struct placed {
    struct facet_gfx12_instance in;
    uint32_t node;
    uint32_t is; /* number in the scene, NOBODY */
};

struct matcher {
    struct facet_checker *c;
    const struct facet_bvh_scene_input *scene;
    struct placed *placed;
    uint32_t count;
    struct facet_checked_key *by_data, *by_place; /* of the scene: user data, first translation */
    uint8_t *taken;                               /* per instance of the scene */
    struct facet_gfx12_extent *bounds;            /* per BLAS of the scene */
    uint32_t numbered; /* instances whose user data says what their matrix says */
};

/* ---- likeness ---- */

/* Inverses come from other arithmetic than ours. */
#define MATRIX_SLACK 1e-4

/* Negative when an element differs too much, else by how much of the largest one. */
static double matrix_distance(const struct placed *p, const struct facet_bvh_instance *s)
{
    double size[2] = {0, 1e-3}, worst = 0; /* of the matrix, of the translation */

    for (int i = 0; i < 12; i++) {
        double *largest = &size[i % 4 == 3];

        *largest = fmax(*largest, fabs((double)s->world_to_object[i / 4][i % 4]));
    }
    for (int i = 0; i < 12; i++) {
        const double a = (double)facet_float_of(p->in.world_to_object[i]);
        const double b = (double)s->world_to_object[i / 4][i % 4];

        worst = a == b ? worst : fmax(worst, fabs(a - b) / size[i % 4 == 3]);
        if (a != b && !(fabs(a - b) <= MATRIX_SLACK * size[i % 4 == 3])) {
            return -1;
        }
    }
    return worst;
}

static bool same_matrix(const struct placed *p, const struct facet_bvh_instance *s)
{
    return matrix_distance(p, s) >= 0;
}

static void include(struct facet_gfx12_extent *e, const float point[3])
{
    for (int k = 0; k < 3; k++) {
        e->lo[k] = fminf(e->lo[k], point[k]);
        e->hi[k] = fmaxf(e->hi[k], point[k]);
    }
}

static bool same_extent(const struct facet_gfx12_extent *a, const struct facet_gfx12_extent *b)
{
    bool same = true;

    for (int k = 0; k < 3; k++) {
        same = same && a->lo[k] == b->lo[k] && a->hi[k] == b->hi[k];
    }
    return same;
}

static struct facet_gfx12_extent source_bounds(const struct facet_bvh_blas_input *blas)
{
    struct facet_gfx12_extent out = {{INFINITY, INFINITY, INFINITY},
                                     {-INFINITY, -INFINITY, -INFINITY}};

    for (uint32_t i = 0; i < blas->triangle_count; i++) {
        for (int v = 0; v < 3 && !facet_gfx12_checker_is_optional(&blas->triangles[i]); v++) {
            include(&out, blas->triangles[i].vertex[v]);
        }
    }
    for (uint32_t i = 0; i < blas->aabb_count; i++) {
        include(&out, blas->aabbs[i].min);
        include(&out, blas->aabbs[i].max);
    }
    return out;
}

/* How well the BLAS below an instance of the image fits one of the scene: 2 the same bounds, 1
 * inside them, 0 neither. */
static unsigned blas_likeness(const struct matcher *m, const struct placed *p, uint32_t blas)
{
    struct facet_checked below;
    struct facet_gfx12_extent own;

    facet_gfx12_checker_blas_below(m->c, p->node, &below);
    own = facet_gfx12_checker_bounds(&below);
    if (same_extent(&own, &m->bounds[blas])) {
        return 2;
    }
    return facet_gfx12_extent_holds(&m->bounds[blas], &own);
}

/* ---- matching ---- */

static void take(struct matcher *m, struct placed *p, uint32_t number)
{
    p->is = number;
    m->taken[number] = 1;
}

static void match_both(struct matcher *m, struct placed *p)
{
    size_t at = facet_gfx12_checker_find_key(m->by_data, m->scene->instance_count, p->in.user_data);

    for (; at < m->scene->instance_count && m->by_data[at].key == p->in.user_data; at++) {
        if (same_matrix(p, &m->scene->instances[m->by_data[at].number])) {
            take(m, p, m->by_data[at].number);
            m->numbered++;
            return;
        }
    }
}

/* Translations in the order of their values, as keys. */
static uint64_t place_key(double x)
{
    const uint32_t bits = facet_float_bits((float)x + 0.0f);

    return (bits >> 31) != 0 ? ~bits : bits | UINT32_C(0x80000000);
}

/* Prefers instances that nobody stands for yet, then a likely BLAS, then the nearest matrix. */
static void match_matrix(struct matcher *m, struct placed *p)
{
    const double x = (double)facet_float_of(p->in.world_to_object[3]);
    const double reach = 4 * MATRIX_SLACK * fmax(fabs(x), 1.0) + MATRIX_SLACK;
    const uint64_t end = place_key(x + reach);
    double best = -1;
    size_t at =
        facet_gfx12_checker_find_key(m->by_place, m->scene->instance_count, place_key(x - reach));

    for (unsigned looked = 0;
         at < m->scene->instance_count && m->by_place[at].key <= end && looked < 4096;
         at++, looked++) {
        const uint32_t number = m->by_place[at].number;
        const struct facet_bvh_instance *s = &m->scene->instances[number];
        const double distance = matrix_distance(p, s);
        double score;

        if (distance < 0) {
            continue;
        }
        score = 10 * blas_likeness(m, p, s->blas) + (m->taken[number] != 0 ? 0 : 5) + 1 -
                distance / MATRIX_SLACK;
        if (score > best) {
            best = score;
            p->is = number;
        }
    }
    if (p->is != NOBODY) {
        take(m, p, p->is);
    }
}

static void match_data(struct matcher *m, struct placed *p)
{
    size_t at = facet_gfx12_checker_find_key(m->by_data, m->scene->instance_count, p->in.user_data);

    for (; at < m->scene->instance_count && m->by_data[at].key == p->in.user_data; at++) {
        const uint32_t number = m->by_data[at].number;

        if (m->taken[number] == 0 && blas_likeness(m, p, m->scene->instances[number].blas) != 0) {
            take(m, p, number);
            return;
        }
    }
}

/* What is left goes to the first instance that is left and has the same BLAS. */
static void match_blas(struct matcher *m, struct placed *p)
{
    unsigned looked = 0;

    for (uint32_t i = 0; i < m->scene->instance_count && looked < 4096; i++) {
        if (m->taken[i] == 0 && ++looked != 0 &&
            blas_likeness(m, p, m->scene->instances[i].blas) == 2) {
            take(m, p, i);
            return;
        }
    }
}

/* ---- findings about instances ---- */

static void compare_instance(struct matcher *m, const struct placed *p)
{
    const struct facet_bvh_instance *s = &m->scene->instances[p->is];
    const uint64_t at = facet_gfx12_checker_offset(p->node);
    /* Triangles or boxes, which bits 8 and 9 say, is V23. */
    const unsigned flags = facet_gfx12_base_flags(p->in.pointer) & 0xFF;
    const bool numbered = 2 * m->numbered > m->count;
    /* Boxes have no faces: builders switch their culling off. */
    const unsigned compared = m->scene->blas[s->blas].aabb_count != 0
                                  ? 0xFFu & ~FACET_GFX12_DISABLE_TRIANGLE_CULL
                                  : 0xFFu;

    if (!same_matrix(p, s)) {
        facet_gfx12_checker_report(
            m->c, 50, at, "world_to_object is not that of instance %u of the scene", p->is);
    }
    if (p->in.cull_mask != s->mask) {
        facet_gfx12_checker_report_as(
            m->c,
            51,
            numbered || (s->mask & ~p->in.cull_mask) != 0 ? FACET_GFX12_ERROR : FACET_GFX12_WARNING,
            at + 63,
            "the mask is 0x%02x, instance %u of the scene has 0x%02x",
            p->in.cull_mask,
            p->is,
            s->mask);
    }
    if (((flags ^ s->flags) & compared) != 0) {
        facet_gfx12_checker_report_as(m->c,
                                      51,
                                      numbered ? FACET_GFX12_ERROR : FACET_GFX12_WARNING,
                                      at + 54,
                                      "the flags are 0x%02x, instance %u of the scene has 0x%02x",
                                      flags,
                                      p->is,
                                      s->flags & 0xFF);
    }
    if (numbered && p->in.user_data != s->user_data) {
        facet_gfx12_checker_report(m->c,
                                   51,
                                   at + 60,
                                   "the user data is %u, instance %u of the scene has %u",
                                   p->in.user_data,
                                   p->is,
                                   s->user_data);
    }
}

/* ---- the BLASes ---- */

static int by_instance(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    return x->is != y->is ? (x->is > y->is) - (x->is < y->is)
                          : (x->node > y->node) - (x->node < y->node);
}

static int by_address(const void *a, const void *b)
{
    const struct facet_gfx12_link *x = a, *y = b;

    return x->address != y->address ? (x->address > y->address) - (x->address < y->address)
                                    : (x->id > y->id) - (x->id < y->id);
}

/* What all instances that stand for one of the scene lead to, each once. Two that lead to the same
 * node are one too many. */
static size_t entrances_of(struct matcher *m,
                           const struct placed *first,
                           const struct placed *end,
                           bool tell,
                           struct facet_array *links)
{
    struct facet_gfx12_link *all;
    size_t used = 0;

    links->count = 0;
    for (const struct placed *p = first; p < end && !m->c->failed; p++) {
        struct facet_gfx12_link own[8];
        const unsigned count = facet_gfx12_links(m->c->view, &m->c->walk, p->node, own);
        struct facet_gfx12_link *to = facet_array_add(links, count, sizeof *to);

        if (to == NULL) {
            m->c->failed = true;
            return 0;
        }
        memcpy(to, own, count * sizeof *to);
    }
    all = links->items;
    if (links->count > 1) {
        qsort(all, links->count, sizeof *all, by_address);
    }
    for (size_t i = 0; i < links->count; i++) {
        if (i == 0 || by_address(&all[i], &all[i - 1]) != 0) {
            all[used++] = all[i];
        } else if (tell && end - first > 1) {
            facet_gfx12_checker_report(m->c,
                                       49,
                                       facet_gfx12_checker_offset(first[1].node),
                                       "instance %u of the scene is in the image twice",
                                       first->is);
            tell = false;
        }
    }
    return used;
}

/* The instances that stand for the same one of the scene. */
static const struct placed *group_end(const struct matcher *m, const struct placed *first)
{
    const struct placed *end = first;

    while (end < m->placed + m->count && end->is == first->is) {
        end++;
    }
    return end;
}

static uint64_t entrances_key(uint32_t blas, const struct facet_gfx12_link *links, size_t count)
{
    uint64_t key = blas;

    for (size_t i = 0; i < count; i++) {
        key = facet_hash_step(facet_hash_step(key, links[i].address), links[i].id);
    }
    return key;
}

/* Many instances have one BLAS: each BLAS of the image is compared once with each of the scene. */
static void compare_groups(struct matcher *m, uint32_t used)
{
    struct facet_array links = {0}, groups = {0};
    const struct facet_checked_key *keys;

    for (const struct placed *p = m->placed; p < m->placed + used && !m->c->failed;
         p = group_end(m, p)) {
        struct facet_checked_key *group = facet_array_add(&groups, 1, sizeof *group);
        const size_t count = entrances_of(m, p, group_end(m, p), true, &links);

        m->c->failed = m->c->failed || group == NULL;
        if (group != NULL) {
            *group = (struct facet_checked_key){
                entrances_key(m->scene->instances[p->is].blas, links.items, count),
                (uint32_t)(p - m->placed)};
        }
    }
    keys = groups.items;
    if (groups.count > 1) {
        qsort(groups.items, groups.count, sizeof *keys, facet_gfx12_checker_compare_keys);
    }
    for (size_t i = 0; i < groups.count && !m->c->failed; i++) {
        const struct placed *p = &m->placed[keys[i].number];

        if (i == 0 || keys[i].key != keys[i - 1].key) {
            const size_t count = entrances_of(m, p, group_end(m, p), false, &links);

            facet_gfx12_checker_source(m->c,
                                       links.items,
                                       count,
                                       m->scene->instances[p->is].blas,
                                       facet_gfx12_checker_offset(p->node));
        }
    }
    free(links.items);
    free(groups.items);
}

static void compare_blases(struct matcher *m)
{
    uint32_t first = 0, lost = 0, first_lost = 0;

    qsort(m->placed, m->count, sizeof *m->placed, by_instance);
    while (first < m->count && m->placed[first].is != NOBODY) {
        first++;
    }
    compare_groups(m, first);
    for (uint32_t i = first; i < m->count; i++) {
        facet_gfx12_checker_report(m->c,
                                   49,
                                   facet_gfx12_checker_offset(m->placed[i].node),
                                   "the scene has no such instance (user data %u)",
                                   m->placed[i].in.user_data);
    }
    for (uint32_t i = m->scene->instance_count; i-- > 0;) {
        if (m->taken[i] == 0 && !m->scene->instances[i].off) {
            lost++;
            first_lost = i;
        }
    }
    if (lost != 0) {
        facet_gfx12_checker_report(
            m->c,
            49,
            0,
            "%u instance%s of the scene %s not in the image, the first is %u",
            lost,
            lost == 1 ? "" : "s",
            lost == 1 ? "is" : "are",
            first_lost);
    }
}

/* ---- the whole ---- */

static bool matcher_init(struct matcher *m)
{
    const size_t instances = (size_t)m->scene->instance_count + 1;

    m->by_data = malloc(instances * sizeof *m->by_data);
    m->by_place = malloc(instances * sizeof *m->by_place);
    m->taken = calloc(instances, 1);
    m->bounds = malloc(((size_t)m->scene->blas_count + 1) * sizeof *m->bounds);
    m->placed = malloc(((size_t)m->count + 1) * sizeof *m->placed);
    if (m->by_data == NULL || m->by_place == NULL || m->taken == NULL || m->bounds == NULL ||
        m->placed == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < m->scene->instance_count; i++) {
        const struct facet_bvh_instance *s = &m->scene->instances[i];

        m->by_data[i] = (struct facet_checked_key){s->user_data, i};
        m->by_place[i] = (struct facet_checked_key){place_key((double)s->world_to_object[0][3]), i};
    }
    qsort(m->by_data, instances - 1, sizeof *m->by_data, facet_gfx12_checker_compare_keys);
    qsort(m->by_place, instances - 1, sizeof *m->by_place, facet_gfx12_checker_compare_keys);
    for (uint32_t i = 0; i < m->scene->blas_count; i++) {
        m->bounds[i] = source_bounds(&m->scene->blas[i]);
    }
    m->count = 0;
    for (uint32_t i = 0; i < m->c->walk.reached; i++) {
        const uint32_t node = m->c->walk.order[i];

        if (m->c->walk.nodes[node].kind == FACET_GFX12_KIND_INSTANCE) {
            struct placed *p = &m->placed[m->count++];

            facet_gfx12_instance_decode(facet_gfx12_node_bytes(m->c->view, node), &p->in);
            p->node = node;
            p->is = NOBODY;
        }
    }
    return true;
}

static void match_all(struct matcher *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        match_both(m, &m->placed[i]);
    }
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->placed[i].is == NOBODY) {
            match_matrix(m, &m->placed[i]);
        }
    }
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->placed[i].is == NOBODY) {
            match_data(m, &m->placed[i]);
        }
    }
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->placed[i].is == NOBODY) {
            match_blas(m, &m->placed[i]);
        }
    }
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->placed[i].is != NOBODY) {
            compare_instance(m, &m->placed[i]);
        }
    }
}

/* A BLAS by itself: the one of the scene that has its bounds. */
static void compare_alone(struct matcher *m)
{
    const uint32_t root = m->c->walk.reached != 0 ? m->c->walk.order[m->c->walk.reached - 1] : 0;
    const struct facet_gfx12_link link = {
        .id = m->c->view->root,
        .address = facet_gfx12_view_address(m->c->view, facet_gfx12_node_offset(root)),
        .offset = facet_gfx12_node_offset(root),
        .inside = true};
    uint32_t blas = 0;

    if (m->c->walk.reached == 0 || m->scene->blas_count == 0) {
        return;
    }
    for (uint32_t i = 1; i < m->scene->blas_count; i++) {
        const struct facet_gfx12_extent own = facet_gfx12_checker_bounds(&m->c->below[root]);

        blas = same_extent(&own, &m->bounds[i]) ? i : blas;
    }
    facet_gfx12_checker_source(m->c, &link, 1, blas, facet_gfx12_node_offset(root));
}

void facet_gfx12_checker_scene(struct facet_checker *c)
{
    struct matcher m = {.c = c, .scene = c->options->scene};

    for (uint32_t i = 0; i < c->walk.reached; i++) {
        m.count += c->walk.nodes[c->walk.order[i]].kind == FACET_GFX12_KIND_INSTANCE;
    }
    if (!matcher_init(&m)) {
        c->failed = true;
    } else if (m.count == 0 && m.scene->instance_count != 0) {
        compare_alone(&m);
    } else {
        match_all(&m);
        compare_blases(&m);
    }
    free(m.by_data);
    free(m.by_place);
    free(m.taken);
    free(m.bounds);
    free(m.placed);
}
