/* `facet bvh why --tree`: the traversal of one ray as a tree, a line for each node in the order of
 * the visits. */
#include "command/streams.h"
#include "report/why.h"
#include "report/why_parts.h"

#include "base/array.h"
#include "gfx12/image/view.h"
#include "gfx12/steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What waits on the stack of the loop, and how deep in the tree it is. */
struct waiting {
    uint64_t item;
    unsigned depth;
};

struct tree {
    const struct facet_gfx12_view *view;
    struct facet_array waiting; /* of struct waiting: the loop's own stack, with depths */
    unsigned next;              /* depth of the node that comes next unless it is popped */
    uint64_t limit;             /* lines */
    bool failed;                /* no memory */
};

static unsigned depth_of(struct tree *tree, const struct facet_gfx12_turn *turn)
{
    const struct waiting *items = tree->waiting.items;

    if (!turn->popped) {
        return tree->next;
    }
    while (tree->waiting.count != 0) {
        const struct waiting *top = &items[--tree->waiting.count];

        if (top->item == turn->steps.node) {
            return top->depth;
        }
    }
    return 0;
}

static void push_all(struct tree *tree, const struct facet_gfx12_turn *turn, unsigned depth)
{
    struct waiting *to;

    if (turn->pushes == 0) {
        return;
    }
    to = facet_array_add(&tree->waiting, turn->pushes, sizeof *to);
    tree->failed = tree->failed || to == NULL;
    for (unsigned i = 0; to != NULL && i < turn->pushes; i++) {
        to[i] = (struct waiting){turn->push[i], depth};
    }
}

static void put_box(const struct facet_gfx12_steps *s)
{
    const struct facet_gfx12_child_steps *order[8] = {NULL};
    unsigned met = 0, culled = 0;

    for (unsigned i = 0; i < s->count; i++) {
        const struct facet_gfx12_child_steps *c = &s->child[i];

        culled += c->cull != 0;
        if (c->cull == 0 && c->slab.slab.hit && !c->duplicate) {
            order[c->place & 7] = c;
            met++;
        }
    }
    printf("%u of %u children met%s", met, s->count, met != 0 ? ":" : "");
    for (unsigned i = 0, told = 0; i < 8; i++) {
        if (order[i] != NULL) {
            printf("%s %u at t %.6g",
                   told++ != 0 ? "," : "",
                   (unsigned)(order[i] - s->child),
                   (double)order[i]->slab.slab.min_t);
        }
    }
    if (culled != 0) {
        printf("; %u culled", culled);
    }
}

static void put_instance(const struct facet_gfx12_turn *turn)
{
    const struct facet_gfx12_steps *s = &turn->steps;

    printf("user data %" PRIu32 ": ", s->instance.user_data);
    if (s->instance_cull != 0) {
        printf("culled by %s", facet_gfx12_cull_name(s->instance_cull));
    } else {
        printf("%s", turn->pushes != 0 ? "entered" : "missed");
    }
}

static void put_pair(const struct facet_gfx12_turn *turn)
{
    const struct facet_gfx12_steps *s = &turn->steps;
    unsigned told = 0;

    for (unsigned i = 0; i < turn->candidates; i++) {
        const unsigned k = turn->candidate[i].tri;
        const struct facet_gfx12_tri_steps *tri = &s->tri[k];
        const bool hit = turn->candidate[i].committed;

        if (k == 1 && facet_gfx12_tri_absent(&s->pair.desc.tri[1])) {
            continue;
        }
        printf("%sprimitive %" PRIu32 ": ", told++ != 0 ? "; " : "", s->pair.primitive_index[k]);
        (void)cli_set_style(stdout, hit ? CLI_HEADLINE : CLI_NORMAL);
        if (hit) {
            printf("HIT at t %.9g", (double)turn->t_after);
        } else if (tri->cull != 0) {
            printf("culled by %s", facet_gfx12_cull_name(tri->cull));
        } else if (tri->miss != NULL) {
            printf("missed (%s)", tri->miss);
        } else {
            printf("%s", turn->candidate[i].reason);
        }
        (void)cli_set_style(stdout, CLI_NORMAL);
    }
}

static void put_node(const struct tree *tree, const struct facet_gfx12_turn *turn, unsigned depth)
{
    const struct facet_gfx12_steps *s = &turn->steps;
    uint64_t address;

    printf("%*s%s 0x%08" PRIx32, (int)(2 * depth), "", facet_gfx12_kind_name(s->kind), s->node);
    if (s->kind == FACET_GFX12_KIND_NONE) {
        printf("  %s\n", s->no_node);
        return;
    }
    address = facet_gfx12_view_address(tree->view, s->image_offset);
    printf(" at 0x%" PRIx64, s->image_offset);
    if (address != s->image_offset) {
        printf(" (address 0x%" PRIx64 ")", address);
    }
    printf("  ");
    if (s->kind == FACET_GFX12_KIND_BOX) {
        put_box(s);
    } else if (s->kind == FACET_GFX12_KIND_INSTANCE) {
        put_instance(turn);
    } else {
        put_pair(turn);
    }
    printf("\n");
}

static void show_turn(void *context, const struct facet_gfx12_turn *turn)
{
    struct tree *tree = context;
    const unsigned depth = depth_of(tree, turn);

    if (turn->number < tree->limit) {
        put_node(tree, turn, depth);
    }
    /* The next pair of a range is beside this one, anything else below. */
    tree->next = depth + (turn->steps.kind != FACET_GFX12_KIND_PRIMITIVE);
    push_all(tree, turn, tree->next);
}

int report_why_tree(const struct cli_args *args,
                    const struct facet_gfx12_unit *unit,
                    const struct facet_gfx12_view *view,
                    const struct facet_gfx12_query *query,
                    uint64_t limit)
{
    struct tree tree = {.view = view, .limit = limit};
    struct facet_gfx12_stats stats;
    struct facet_gfx12_hit hit;
    struct facet_error err = {0};
    enum facet_status status =
        facet_gfx12_trace_watched(unit, query, show_turn, &tree, &hit, &stats, &err);

    free(tree.waiting.items);
    if (status == FACET_OK && tree.failed) {
        status = facet_fail(&err, FACET_ERR_MEMORY, 0, "no memory for the tree");
    }
    if (status != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (stats.steps > limit) {
        printf("... and %" PRIu64 " more nodes\n", stats.steps - limit);
    }
    report_why_label("hit");
    report_why_put_hit(&hit);
    printf("\n");
    return CLI_OK;
}
