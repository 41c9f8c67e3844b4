/* See select.h. */
#include "gfx12/image/select.h"

#include "base/array.h"

#include <stdlib.h>

/* ---- bottom levels ---- */

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* The node right below an instance. Rebraided instances of one BLAS name several of its nodes. */
static bool below_instance(const struct facet_gfx12_view *view,
                           const struct facet_gfx12_walk *walk,
                           uint32_t node,
                           uint32_t *target)
{
    struct facet_gfx12_link links[8];

    return walk->nodes[node].kind == FACET_GFX12_KIND_INSTANCE &&
           facet_gfx12_links(view, walk, node, links) != 0 &&
           facet_gfx12_link_leads(walk, &links[0], target);
}

size_t facet_gfx12_bottom_levels(const struct facet_gfx12_view *view,
                                 const struct facet_gfx12_walk *walk,
                                 uint64_t **bases)
{
    size_t found = 0, capacity = 0, count = 0;
    uint32_t target;

    *bases = malloc(sizeof **bases);
    for (uint32_t i = 0; *bases != NULL && i < walk->reached; i++) {
        if (below_instance(view, walk, walk->order[i], &target)) {
            if (!facet_array_fit(bases, &capacity, found + 1, sizeof **bases)) {
                free(*bases);
                *bases = NULL;
                return 0;
            }
            (*bases)[found++] = walk->nodes[target].level_base;
        }
    }
    if (found != 0) {
        qsort(*bases, found, sizeof **bases, by_value);
    }
    for (size_t i = 0; i < found; i++) {
        if (i == 0 || (*bases)[i] != (*bases)[count - 1]) {
            (*bases)[count++] = (*bases)[i];
        }
    }
    return count;
}

/* ---- selection ---- */

struct choice {
    const struct facet_gfx12_view *view;
    const struct facet_gfx12_walk *walk;
    uint8_t *chosen;
    uint32_t *queue; /* chosen nodes, in the order of their distance from the start */
    size_t count, capacity;
    bool failed;
};

static void choose(struct choice *c, uint32_t node)
{
    if (c->chosen[node] || c->failed) {
        return;
    }
    if (!facet_array_fit(&c->queue, &c->capacity, c->count + 1, sizeof *c->queue)) {
        c->failed = true;
        return;
    }
    c->chosen[node] = 1;
    c->queue[c->count++] = node;
}

static void choose_children(struct choice *c, uint32_t node)
{
    struct facet_gfx12_link links[8];
    unsigned count = facet_gfx12_links(c->view, c->walk, node, links);

    for (unsigned i = 0; i < count; i++) {
        struct facet_gfx12_range range;
        uint32_t target;

        if (!facet_gfx12_link_leads(c->walk, &links[i], &target)) {
            continue;
        }
        if (c->walk->nodes[target].kind != FACET_GFX12_KIND_PRIMITIVE) {
            choose(c, target);
            continue;
        }
        range = facet_gfx12_range_start(c->view, &links[i]);
        do {
            if (c->walk->nodes[range.node].kind == FACET_GFX12_KIND_PRIMITIVE) {
                choose(c, range.node);
            }
        } while (facet_gfx12_range_next(&range));
    }
}

static enum facet_status
start_at_node(struct choice *c, const struct facet_gfx12_selection *what, struct facet_error *err)
{
    uint64_t offset = what->node;
    bool inside = offset < c->view->size ||
                  facet_gfx12_view_offset(c->view, what->node, FACET_GFX12_NODE_BYTES, &offset);

    if (!inside || offset % FACET_GFX12_UNIT_BYTES != 0 ||
        facet_gfx12_node_at(offset) >= c->walk->count ||
        c->walk->nodes[facet_gfx12_node_at(offset)].kind == FACET_GFX12_KIND_NONE) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          what->node,
                          "no node that the root leads to starts at 0x%llx",
                          (unsigned long long)what->node);
    }
    choose(c, facet_gfx12_node_at(offset));
    return FACET_OK;
}

static enum facet_status
start_at_blas(struct choice *c, const struct facet_gfx12_selection *what, struct facet_error *err)
{
    uint64_t *bases;
    size_t count = facet_gfx12_bottom_levels(c->view, c->walk, &bases);
    enum facet_status status = FACET_OK;

    c->failed = bases == NULL;
    if (!c->failed && what->blas >= count) {
        status = facet_fail(err,
                            FACET_ERR_INPUT,
                            what->blas,
                            "no bottom level %llu: the image has %zu, counted from 0",
                            (unsigned long long)what->blas,
                            count);
    }
    for (uint32_t i = 0; !c->failed && status == FACET_OK && i < c->walk->reached; i++) {
        uint32_t target;

        if (below_instance(c->view, c->walk, c->walk->order[i], &target) &&
            c->walk->nodes[target].level_base == bases[what->blas]) {
            choose(c, target);
        }
    }
    free(bases);
    return status;
}

enum facet_status facet_gfx12_select(const struct facet_gfx12_view *view,
                                     const struct facet_gfx12_walk *walk,
                                     const struct facet_gfx12_selection *what,
                                     uint8_t **chosen,
                                     struct facet_error *err)
{
    struct choice c = {.view = view, .walk = walk, .chosen = calloc((size_t)walk->count + 1, 1)};
    enum facet_status status = FACET_OK;
    size_t done = 0;

    c.failed = c.chosen == NULL;
    if (!c.failed && what->node != FACET_GFX12_ALL) {
        status = start_at_node(&c, what, err);
    } else if (!c.failed && what->blas != FACET_GFX12_ALL) {
        status = start_at_blas(&c, what, err);
    } else if (!c.failed && walk->reached != 0) {
        choose(&c, walk->order[walk->reached - 1]);
    }
    for (uint64_t depth = 0; depth < what->depth && done < c.count && !c.failed; depth++) {
        const size_t end = c.count;

        for (; done < end; done++) {
            choose_children(&c, c.queue[done]);
        }
    }
    free(c.queue);
    *chosen = c.chosen;
    if (c.failed) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the part of the image");
    }
    if (status != FACET_OK) {
        free(c.chosen);
        *chosen = NULL;
    }
    return status;
}
