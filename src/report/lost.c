/* See lost.h. */
#include "report/lost.h"

#include "base/bits.h"
#include "gfx12/image/node.h"
#include "gfx12/image/walk.h"

#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void report_lost_places(const struct facet_gfx12_view *view,
                        const struct facet_gfx12_lost *lost,
                        struct report_places *places)
{
    for (unsigned i = 0; i < FACET_GFX12_LOSSES; i++) {
        memset(places->text[i], 0, sizeof places->text[i]);
        if (lost->loss[i].count != 0) {
            (void)facet_gfx12_view_place(view, lost->loss[i].address, places->text[i]);
        }
    }
}

bool report_lost_at(const struct cli_args *args,
                    const struct report_places *places,
                    const struct facet_gfx12_lost *lost)
{
    for (unsigned i = 0; i < FACET_GFX12_LOSSES; i++) {
        /* What HIPRT leaves to the program's own functions (R-G12-116). */
        const bool custom = i == FACET_GFX12_LOST_TYPE && (lost->loss[i].node & 15) == 7;

        if (lost->loss[i].count != 0) {
            (void)cli_bad(args,
                          "%" PRIu64 " %s%s, first by ray %" PRIu64 ": node %08" PRIX32
                          " of the structure at 0x%" PRIx64 ", %s",
                          lost->loss[i].count,
                          facet_gfx12_loss_name((enum facet_gfx12_loss)i, lost->loss[i].count != 1),
                          custom ? " (type 7: custom primitives of HIPRT, which only a program's "
                                   "own function can test)"
                                 : "",
                          lost->loss[i].ray,
                          lost->loss[i].node,
                          lost->loss[i].base,
                          places->text[i]);
        }
    }
    return facet_gfx12_lost_total(lost) != 0;
}

bool report_lost(const struct cli_args *args,
                 const struct facet_gfx12_view *view,
                 const struct facet_gfx12_lost *lost)
{
    struct report_places places;

    report_lost_places(view, lost, &places);
    return report_lost_at(args, &places, lost);
}

/* Whether an instance leads to a node of the image that is not the root of a BLAS: to no box, or to
 * one with a parent. Rebraided instances (12.8) name such nodes with good reason. */
static bool misses_root(const struct facet_gfx12_view *view,
                        const struct facet_gfx12_walk *walk,
                        uint32_t node,
                        uint64_t *address)
{
    struct facet_gfx12_link links[8];
    struct facet_gfx12_instance instance;
    const unsigned count = facet_gfx12_links(view, walk, node, links);
    uint32_t root, parent;

    facet_gfx12_instance_decode(facet_gfx12_node_bytes(view, node), &instance);
    if (count == 0 || !links[0].inside ||
        facet_gfx12_instance_numbered(&instance, view->root, &root)) {
        return false;
    }
    *address = links[0].address;
    parent = facet_load_le32(view->bytes + links[0].offset + 8);
    return facet_gfx12_id_kind(links[0].id) != FACET_GFX12_KIND_BOX ||
           (parent != FACET_GFX12_INVALID && parent != 0);
}

/* With --base and no --root, which may name any node: a root with a parent is none. */
static bool is_no_root(const struct cli_args *args,
                       const struct facet_gfx12_view *view,
                       char out[REPORT_TROUBLE])
{
    const uint64_t address = view->base + facet_gfx12_id_offset(view->root);
    uint64_t offset;
    uint32_t parent;

    if (!cli_given(args, "base") || cli_given(args, "root") ||
        facet_gfx12_id_kind(view->root) != FACET_GFX12_KIND_BOX ||
        !facet_gfx12_view_offset(view, address, FACET_GFX12_NODE_BYTES, &offset)) {
        return false;
    }
    parent = facet_load_le32(view->bytes + offset + 8);
    if (parent == FACET_GFX12_INVALID || parent == 0) {
        return false;
    }
    (void)snprintf(out,
                   REPORT_TROUBLE,
                   "the root at 0x%" PRIx64 " has a parent (0x%08" PRIx32 "); is --base right?",
                   address,
                   parent);
    return true;
}

/* Whether a node is where a level begins: the root, which ends the walk, or what an instance names.
 */
static bool begins_level(const struct facet_gfx12_walk *walk, uint32_t node)
{
    const uint32_t parent = walk->nodes[node].parent;

    return node == walk->order[walk->reached - 1] ||
           (parent != FACET_GFX12_NO_NODE && walk->nodes[parent].kind == FACET_GFX12_KIND_INSTANCE);
}

/* Children of the roots of levels that are no nodes. */
static uint64_t lost_children(const struct facet_gfx12_walk *walk)
{
    uint64_t count = 0;

    for (uint32_t i = 0; walk->reached != 0 && i < walk->problem_count; i++) {
        const uint32_t node = walk->problems[i].node;

        count += node != FACET_GFX12_NO_NODE && begins_level(walk, node);
    }
    return count;
}

/* Instances whose BLAS, or what their boxes name in it, is not in the image. */
static uint64_t lost_instances(const struct facet_gfx12_walk *walk)
{
    uint64_t count = 0;
    uint32_t last = FACET_GFX12_NO_NODE;

    for (uint32_t i = 0; i < walk->problem_count; i++) {
        const struct facet_gfx12_problem *p = &walk->problems[i];

        if ((p->trouble == FACET_GFX12_TROUBLE_BLAS || p->trouble == FACET_GFX12_TROUBLE_OUTSIDE) &&
            p->node != FACET_GFX12_NO_NODE && p->node != last &&
            walk->nodes[p->node].kind == FACET_GFX12_KIND_INSTANCE) {
            count++;
            last = p->node;
        }
    }
    return count;
}

bool report_wrong_base_text(const struct cli_args *args,
                            const struct facet_gfx12_view *view,
                            char out[REPORT_TROUBLE])
{
    const char *const option = cli_given(args, "base") ? "base" : "root";
    struct facet_gfx12_walk walk;
    uint64_t first = 0, count = 0, instances = 0, lost, nowhere;

    if (is_no_root(args, view, out)) {
        return true;
    }
    if ((!cli_given(args, "base") && !cli_given(args, "root")) ||
        facet_gfx12_walk(view, &walk, NULL) != FACET_OK) {
        return false;
    }
    for (uint32_t i = 0; i < walk.reached; i++) {
        const uint32_t node = walk.order[i];
        uint64_t address = 0;

        if (walk.nodes[node].kind == FACET_GFX12_KIND_INSTANCE) {
            instances++;
            if (misses_root(view, &walk, node, &address)) {
                first = count++ == 0 ? address : first;
            }
        }
    }
    lost = lost_children(&walk);
    nowhere = lost_instances(&walk);
    facet_gfx12_walk_free(&walk);
    if (lost != 0) {
        (void)snprintf(out,
                       REPORT_TROUBLE,
                       "%" PRIu64 " %s no node%s; is --%s right?",
                       lost,
                       lost == 1 ? "child of a root is" : "children of roots are",
                       cli_s(lost),
                       option);
        return true;
    }
    if (instances != 0 && nowhere == instances) {
        (void)snprintf(out,
                       REPORT_TROUBLE,
                       "no instance leads into the image (of %" PRIu64 "); is --%s right?",
                       instances,
                       option);
        return true;
    }
    if (count != 0) {
        (void)snprintf(out,
                       REPORT_TROUBLE,
                       "%" PRIu64 " of %" PRIu64 " instances lead%s to a node that is no root, the "
                       "first to 0x%" PRIx64 "; is --%s right?",
                       count,
                       instances,
                       count == 1 ? "s" : "",
                       first,
                       option);
    }
    return count != 0;
}

/* The line, where there is one. */
static bool tell(const struct cli_args *args, bool trouble, const char *text)
{
    if (trouble) {
        (void)cli_bad(args, "%s", text);
    }
    return trouble;
}

bool report_wrong_base(const struct cli_args *args, const struct facet_gfx12_view *view)
{
    char text[REPORT_TROUBLE];

    return tell(args, report_wrong_base_text(args, view, text), text);
}

/* HIPRT's custom primitives are children that only the program's own functions follow. */
static bool is_custom(const struct facet_gfx12_view *view,
                      const struct facet_gfx12_walk *walk,
                      const struct facet_gfx12_problem *p)
{
    struct facet_gfx12_link links[8];
    unsigned count = 0, i = 0;

    if (p->trouble == FACET_GFX12_TROUBLE_TYPE && p->node != FACET_GFX12_NO_NODE) {
        count = facet_gfx12_links(view, walk, p->node, links);
    }
    while (i < count && links[i].slot != p->slot) {
        i++;
    }
    return i < count && (links[i].id & 15) == 7;
}

static bool broken_text(const struct facet_gfx12_view *view,
                        const struct facet_gfx12_walk *walk,
                        bool twisted,
                        char out[REPORT_TROUBLE])
{
    const unsigned across = 1u << FACET_GFX12_TROUBLE_MISALIGNED | 1u << FACET_GFX12_TROUBLE_CYCLE |
                            1u << FACET_GFX12_TROUBLE_OVERLAP | 1u << FACET_GFX12_TROUBLE_KIND |
                            1u << FACET_GFX12_TROUBLE_BASE;
    const unsigned lost = 1u << FACET_GFX12_TROUBLE_OUTSIDE | 1u << FACET_GFX12_TROUBLE_TYPE |
                          1u << FACET_GFX12_TROUBLE_RANGE | 1u << FACET_GFX12_TROUBLE_BLAS;
    const unsigned kinds = twisted ? across : across | lost;
    uint64_t count = 0, first = 0;

    for (uint32_t i = 0; i < walk->problem_count; i++) {
        if ((kinds >> walk->problems[i].trouble & 1) != 0 &&
            !is_custom(view, walk, &walk->problems[i])) {
            first = count == 0 ? walk->problems[i].address : first;
            count++;
        }
    }
    if (count != 0) {
        (void)snprintf(
            out,
            REPORT_TROUBLE,
            "%" PRIu64
            " link%s to nothing, across other nodes or in a circle, the first to 0x%" PRIx64
            "; facet bvh check says more",
            count,
            count == 1 ? " leads" : "s lead",
            first);
    }
    return count != 0;
}

bool report_trouble_text(const struct facet_gfx12_view *view,
                         bool twisted,
                         char out[REPORT_TROUBLE])
{
    struct facet_gfx12_walk walk;
    bool found;

    if (facet_gfx12_walk(view, &walk, NULL) != FACET_OK) {
        return false; /* no memory: what needs it says so itself */
    }
    found = broken_text(view, &walk, twisted, out);
    facet_gfx12_walk_free(&walk);
    return found;
}

bool report_nested_text(const struct facet_gfx12_view *view, char out[REPORT_TROUBLE])
{
    const uint64_t count = facet_gfx12_count_nested(view);

    if (count != 0) {
        (void)snprintf(out,
                       REPORT_TROUBLE,
                       "%" PRIu64 " instance%s below instances: with --stack a ray comes back from "
                       "there to the TLAS, and hits may be missing",
                       count,
                       count == 1 ? " lies" : "s lie");
    }
    return count != 0;
}

bool report_broken(const struct cli_args *args,
                   const struct facet_gfx12_view *view,
                   const struct facet_gfx12_walk *walk,
                   bool twisted)
{
    char text[REPORT_TROUBLE];

    return tell(args, broken_text(view, walk, twisted, text), text);
}

bool report_trouble(const struct cli_args *args, const struct facet_gfx12_view *view, bool twisted)
{
    char text[REPORT_TROUBLE];

    return tell(args, report_trouble_text(view, twisted, text), text);
}

void report_lost_json(json_t *object, const struct facet_gfx12_lost *lost)
{
    static const char *const keys[FACET_GFX12_LOSSES] = {"outside", "no_type", "endless_ranges"};
    json_t *examples = json_object();

    for (unsigned i = 0; i < FACET_GFX12_LOSSES; i++) {
        (void)json_object_set_new(object, keys[i], json_integer((json_int_t)lost->loss[i].count));
        if (lost->loss[i].count != 0) {
            (void)json_object_set_new(examples,
                                      keys[i],
                                      json_pack("{s:I, s:o, s:o, s:o}",
                                                "ray",
                                                (json_int_t)lost->loss[i].ray,
                                                "address",
                                                facet_json_hex(lost->loss[i].address),
                                                "base",
                                                facet_json_hex(lost->loss[i].base),
                                                "node",
                                                facet_json_hex(lost->loss[i].node)));
        }
    }
    (void)json_object_set_new(object, "examples", examples);
}
