/* `facet bvh info`: what is in an image. */
#include "cli/bvh/rt.h"
#include "session/bvh_structures.h"

#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define BAR 40

/* One line per bin that is in use, with a bar against the largest. */
static void print_histogram(const char *title, const uint64_t *bins, size_t count, size_t first)
{
    uint64_t largest = 0;

    for (size_t i = first; i < count; i++) {
        largest = bins[i] > largest ? bins[i] : largest;
    }
    if (largest == 0) {
        return;
    }
    printf("\n%s\n", title);
    for (size_t i = first; i < count; i++) {
        int length = (int)((double)bins[i] / (double)largest * BAR + 0.5);

        if (bins[i] == 0) {
            continue;
        }
        printf("  %3zu  %10" PRIu64 "  ", i, bins[i]);
        for (int k = 0; k < length; k++) {
            putchar('#');
        }
        putchar('\n');
    }
}

static void print_text(const struct facet_gfx12_bvh_stats *s)
{
    printf("bytes               %" PRIu64 " (%" PRIu64 " node%s)\n",
           s->bytes,
           s->nodes,
           cli_s(s->nodes));
    printf("box nodes           %" PRIu64, s->box_nodes);
    if (s->box_nodes != 0) {
        printf(", %.2f children each", (double)s->child_boxes / (double)s->box_nodes);
    }
    if (s->oriented != 0) {
        printf(", %" PRIu64 " oriented", s->oriented);
    }
    printf("\nprimitive nodes     %" PRIu64, s->primitive_nodes);
    if (s->primitive_nodes != 0) {
        printf(", %.2f pairs and %.0f of 1024 bits each",
               (double)s->pairs / (double)s->primitive_nodes,
               (double)s->used_bits / (double)s->primitive_nodes);
    }
    printf("\ninstance nodes      %" PRIu64 " of %" PRIu64 " bottom level%s\n",
           s->instance_nodes,
           s->bottom_levels,
           cli_s(s->bottom_levels));
    printf("not reached         %" PRIu64 "\n", s->raw_nodes);
    printf("triangles           %" PRIu64 "\n", s->triangles);
    printf("procedural boxes    %" PRIu64 "\n", s->boxes);
    if (s->triangles != 0) {
        printf("bytes per triangle  %.1f\n", report_bytes_per_triangle(s));
        printf("full pairs          %.1f %%\n", 100.0 * (double)s->full_pairs / (double)s->pairs);
        printf("bits per vertex     %.1f\n", (double)s->vertex_bits / (double)s->vertices);
    }
    printf("SAH cost            %.2f instructions per ray\n", s->sah);
    printf("depth               %u\n", s->max_depth);
    print_histogram("Box nodes by children", s->children, 9, 0);
    print_histogram("Primitive nodes by pairs", s->pairs_per_node, 9, 1);
    print_histogram("Primitive nodes by vertices", s->vertices_per_node, 17, 1);
    print_histogram("Leaf ranges by pairs (16: and more)", s->range_pairs, 17, 1);
    print_histogram("Vertex axes by payload bits", s->axis_bits, 33, 1);
    print_histogram("Nodes by depth", s->depth, FACET_GFX12_DEPTH_BINS, 0);
}

static int run_info(const struct cli_args *args)
{
    struct facet_gfx12_bvh_stats stats;
    struct facet_gfx12_walk walk;
    struct facet_error err = {0};
    struct session_bvh file;
    struct facet_progress progress;
    enum facet_status status;
    int code;

    if (!session_bvh_read_or_make(args, session_bvh_operand(args), bvh_make_image, &file)) {
        return CLI_BAD;
    }
    if (bvh_rt_is(&file)) {
        code = bvh_rt_info(args, &file);
        session_bvh_free(&file);
        return code;
    }
    if (!session_bvh_has_root(args, &file)) {
        session_bvh_free(&file);
        return CLI_BAD;
    }
    facet_progress_start(
        &progress,
        &(struct facet_progress_config){.label = "reading",
                                        .unit = "nodes",
                                        .total = file.view.size / FACET_GFX12_NODE_BYTES,
                                        .fd = STDERR_FILENO,
                                        .quiet = args->quiet});
    status = facet_gfx12_walk_shown(&file.view, &progress, &walk, &err);
    facet_progress_finish(&progress);
    if (status == FACET_OK) {
        status = facet_gfx12_bvh_stats(&file.view, &walk, &stats, &err);
        facet_gfx12_walk_free(&walk);
    }
    if (status != FACET_OK) {
        session_bvh_free(&file);
        return cli_bad_error(args, &err);
    }
    code = CLI_OK;
    if (args->json) {
        json_t *object = report_stats_json(&stats);

        session_structures_json(&file, object);
        code = cli_print_json(args, object);
    } else {
        session_structures_print(&file);
        print_text(&stats);
    }
    session_bvh_free(&file);
    return code;
}

static const struct cli_option info_options[] = {
    SESSION_BVH_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_bvh_info = {
    .name = "bvh info",
    .summary = "show statistics of a BVH image",
    .usage = "facet bvh info [IMAGE] [--segment FILE@ADDR] [--driver NAME] [--structure N|all] "
             "[--base ADDR] [--root NODE] [--json]",
    .details =
        "Counts nodes, children, pairs, vertices and bits of everything that can be reached from "
        "the root, with histograms. The SAH cost is the expected number of intersect instructions "
        "for a random line through the root's box: each visit of a box node, of an instance and "
        "of a pair counts one, weighed by the area of its box.\n\n"
        "Structures of drivers (--driver) and captures (.rra) are listed first, with the header "
        "of the one that rays start in. A scene is built with the defaults of `facet bvh build`, "
        "and that is said.\n\n"
        "Broken links are not followed; `facet bvh check` reports them. BVH images of XPHMG_RT "
        "are recognized by their header.",
    .examples = "facet bvh build examples/gfx12/cube.obj -o cube.gfx12\n"
                "facet bvh info cube.gfx12\n"
                "facet bvh info examples/gfx12/two.rra",
    .options = info_options,
    .has_json = true,
    .run = run_info,
    .operands = "[IMAGE]",
};
