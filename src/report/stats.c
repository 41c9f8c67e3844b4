/* See stats.h. */
#include "report/stats.h"

#include "command/command.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>

double report_bytes_per_triangle(const struct facet_gfx12_bvh_stats *stats)
{
    return stats->triangles != 0 ? (double)stats->bytes / (double)stats->triangles : 0.0;
}

static json_t *histogram(const uint64_t *bins, size_t count)
{
    json_t *array = json_array();

    while (count > 0 && bins[count - 1] == 0) {
        count--;
    }
    for (size_t i = 0; i < count; i++) {
        (void)json_array_append_new(array, json_integer((json_int_t)bins[i]));
    }
    return array;
}

static double ratio(uint64_t a, uint64_t b)
{
    return b != 0 ? (double)a / (double)b : 0.0;
}

json_t *report_stats_json(const struct facet_gfx12_bvh_stats *s)
{
    json_t *object = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
                               "bytes",
                               (json_int_t)s->bytes,
                               "nodes",
                               (json_int_t)s->nodes,
                               "box_nodes",
                               (json_int_t)s->box_nodes,
                               "primitive_nodes",
                               (json_int_t)s->primitive_nodes,
                               "instance_nodes",
                               (json_int_t)s->instance_nodes,
                               "raw_nodes",
                               (json_int_t)s->raw_nodes,
                               "bottom_levels",
                               (json_int_t)s->bottom_levels,
                               "triangles",
                               (json_int_t)s->triangles,
                               "boxes",
                               (json_int_t)s->boxes,
                               "pairs",
                               (json_int_t)s->pairs,
                               "ranges",
                               (json_int_t)s->ranges,
                               "oriented_nodes",
                               (json_int_t)s->oriented,
                               "max_depth",
                               (json_int_t)s->max_depth);

    if (object == NULL) {
        return NULL;
    }
    (void)json_object_set_new(object, "sah_cost", json_real(s->sah));
    (void)json_object_set_new(
        object, "bytes_per_triangle", json_real(report_bytes_per_triangle(s)));
    (void)json_object_set_new(
        object, "triangles_per_primitive_node", json_real(ratio(s->triangles, s->primitive_nodes)));
    (void)json_object_set_new(
        object, "children_per_box_node", json_real(ratio(s->child_boxes, s->box_nodes)));
    (void)json_object_set_new(object, "full_pairs", json_real(ratio(s->full_pairs, s->pairs)));
    (void)json_object_set_new(
        object, "primitive_node_fill", json_real(ratio(s->used_bits, 1024 * s->primitive_nodes)));
    (void)json_object_set_new(
        object, "bits_per_vertex", json_real(ratio(s->vertex_bits, s->vertices)));
    (void)json_object_set_new(object, "box_nodes_by_children", histogram(s->children, 9));
    (void)json_object_set_new(object, "primitive_nodes_by_pairs", histogram(s->pairs_per_node, 9));
    (void)json_object_set_new(
        object, "primitive_nodes_by_vertices", histogram(s->vertices_per_node, 17));
    (void)json_object_set_new(object, "ranges_by_pairs", histogram(s->range_pairs, 17));
    (void)json_object_set_new(object, "axes_by_payload_bits", histogram(s->axis_bits, 33));
    (void)json_object_set_new(
        object, "nodes_by_depth", histogram(s->depth, FACET_GFX12_DEPTH_BINS));
    return object;
}

/* ---- text ---- */

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

void report_stats_print(const struct facet_gfx12_bvh_stats *s)
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
