/* See refit_instances.h. */
#include "gfx12/build/refit_instances.h"

#include "gfx12/build/refit_prim.h"
#include "gfx12/image/node.h"

#include <stdlib.h>
#include <string.h>

/* Any instance of the same mesh may take the place of another, since its node is written anew; by
 * user data, and where that is the same by matrix, each finds itself if nothing has changed. */
static int compare_keys(const struct facet_refit_instance *x, const struct facet_refit_instance *y)
{
    if (x->base != y->base) {
        return x->base < y->base ? -1 : 1;
    }
    if (x->user_data != y->user_data) {
        return x->user_data < y->user_data ? -1 : 1;
    }
    return memcmp(x->matrix, y->matrix, sizeof x->matrix);
}

static int compare_instances(const void *a, const void *b)
{
    const struct facet_refit_instance *x = a, *y = b;
    const int keys = compare_keys(x, y);

    return keys != 0 ? keys : x->root < y->root ? -1 : x->root > y->root;
}

/* Several nodes can stand for one instance, each for another part of its BLAS (R-G12-72). Of nodes
 * that are alike, the n-th for a part belongs to the n-th instance. Numbers the instances of the
 * sorted nodes from 0 on in `index`, and returns how many there are. */
static uint32_t number_instances(struct facet_refit_instance *list, uint32_t nodes)
{
    uint32_t first = 0, same = 0, count = 0;

    for (uint32_t i = 0; i < nodes; i++) {
        if (i == 0 || compare_keys(&list[i - 1], &list[i]) != 0) {
            first = count;
            same = 0;
        } else {
            same = list[i - 1].root == list[i].root ? same + 1 : 0;
        }
        list[i].index = first + same;
        count = first + same >= count ? first + same + 1 : count;
    }
    return count;
}

static int compare_nodes(const void *a, const void *b)
{
    const struct facet_refit_instance *x = a, *y = b;

    return x->node < y->node ? -1 : x->node > y->node;
}

static enum facet_status read_instance(const struct facet_gfx12_view *view,
                                       const struct facet_gfx12_walk *walk,
                                       uint64_t top,
                                       uint32_t node,
                                       struct facet_refit_instance *out,
                                       struct facet_error *err)
{
    struct facet_gfx12_link links[8];
    struct facet_gfx12_instance in;
    const unsigned count = facet_gfx12_links(view, walk, node, links);
    bool one = count != 0 && walk->nodes[node].level_base == top;

    for (unsigned i = 1; i < count; i++) {
        one = one && links[i].offset == links[0].offset;
    }
    if (!one) {
        return facet_gfx12_refit_mismatch(
            err,
            facet_gfx12_node_offset(node),
            "is an instance in a BLAS, or one that names several nodes; a refit follows neither");
    }
    facet_gfx12_instance_decode(facet_gfx12_node_bytes(view, node), &in);
    *out = (struct facet_refit_instance){
        .node = node, .root = facet_gfx12_node_at(links[0].offset), .user_data = in.user_data};
    out->base = walk->nodes[out->root].level_base;
    memcpy(out->matrix, in.world_to_object, sizeof out->matrix);
    return FACET_OK;
}

const struct facet_refit_instance *
facet_gfx12_refit_instance_at(const struct facet_refit_instances *instances, uint32_t node)
{
    const struct facet_refit_instance wanted = {.node = node};

    return bsearch(
        &wanted, instances->list, instances->count, sizeof *instances->list, compare_nodes);
}

/* The instances of the scene in the order of those of the image; NULL when memory is short. */
static struct facet_refit_instance *sort_moved(const struct facet_bvh_scene_input *scene,
                                               const struct facet_refit_blas *blas)
{
    const uint32_t count = scene->instance_count;
    struct facet_refit_instance *moved = malloc(((size_t)count + 1) * sizeof *moved);

    for (uint32_t i = 0; moved != NULL && i < count; i++) {
        const struct facet_bvh_instance *in = &scene->instances[i];

        moved[i] = (struct facet_refit_instance){
            .index = i,
            .base = in->blas < scene->blas_count ? blas[in->blas].base : UINT64_MAX,
            .user_data = in->user_data};
        memcpy(moved[i].matrix, in->world_to_object, sizeof moved[i].matrix);
    }
    if (moved != NULL) {
        qsort(moved, count, sizeof *moved, compare_instances);
    }
    return moved;
}

/* Each node gets the number that its instance has in the scene. */
static enum facet_status join(struct facet_refit_instances *out,
                              const struct facet_refit_instance *moved,
                              struct facet_error *err)
{
    for (uint32_t i = 0; i < out->count; i++) {
        const struct facet_refit_instance *to = &moved[out->list[i].index];

        if (out->list[i].base != to->base) {
            return facet_gfx12_refit_mismatch(
                err, facet_gfx12_node_offset(out->list[i].node), "is an instance of another mesh");
        }
        out->list[i].index = to->index;
    }
    qsort(out->list, out->count, sizeof *out->list, compare_nodes);
    return FACET_OK;
}

enum facet_status facet_gfx12_refit_match_instances(const struct facet_gfx12_view *view,
                                                    const struct facet_gfx12_walk *walk,
                                                    uint64_t top,
                                                    const struct facet_bvh_scene_input *scene,
                                                    const struct facet_refit_blas *blas,
                                                    struct facet_refit_instances *out,
                                                    struct facet_error *err)
{
    const uint32_t nodes = out->nodes;
    struct facet_refit_instance *moved = sort_moved(scene, blas);
    enum facet_status status = FACET_OK;
    uint32_t found = 0;

    out->list = malloc(((size_t)nodes + 1) * sizeof *out->list);
    if (out->list == NULL || moved == NULL) {
        free(moved);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the refit");
    }
    for (uint32_t i = out->first; out->count < nodes && status == FACET_OK; i++) {
        if (walk->nodes[walk->order[i]].kind == FACET_GFX12_KIND_INSTANCE) {
            status = read_instance(view, walk, top, walk->order[i], &out->list[out->count++], err);
        }
    }
    if (status == FACET_OK) {
        qsort(out->list, nodes, sizeof *out->list, compare_instances);
        found = number_instances(out->list, nodes);
        status = found == scene->instance_count
                     ? join(out, moved, err)
                     : facet_fail(err,
                                  FACET_ERR_INPUT,
                                  0,
                                  "the image does not belong to this scene: it has %u instances, "
                                  "the scene %u",
                                  found,
                                  scene->instance_count);
    }
    free(moved);
    return status;
}
