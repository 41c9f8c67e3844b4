/* See bvh.h. */
#include "cli/bvh/bvh.h"
#include "cli/left_out.h"
#include "documents/bvh_aabbs.h"

#include "base/strbuf.h"
#include "scene/import.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

bool bvh_flush_text(struct facet_strbuf *buf)
{
    bool ok = !buf->failed;

    if (ok) {
        fwrite(facet_strbuf_text(buf), 1, buf->length, stdout);
    }
    facet_strbuf_clear(buf);
    return ok;
}

void bvh_finding_print(const struct bvh_finding *f, const char *words)
{
    char place[FACET_GFX12_PLACE];

    if (f->view != NULL && f->view->segment_count != 0) {
        (void)facet_gfx12_view_place(f->view, facet_gfx12_view_address(f->view, f->offset), place);
    } else {
        (void)snprintf(place, sizeof place, "0x%08" PRIx64, f->offset);
    }
    printf("%s  %s  %s  %s: %s\n", place, f->rule, f->requirement, f->severity, words);
}

json_t *bvh_finding_json(const struct bvh_finding *f)
{
    json_t *object = json_pack("{s:o, s:s, s:s, s:s, s:s, s:s}",
                               "offset",
                               facet_json_hex(f->offset),
                               "rule",
                               f->rule,
                               "requirement",
                               f->requirement,
                               "severity",
                               f->severity,
                               "expected",
                               f->expected,
                               "found",
                               f->found);

    if (f->view != NULL) {
        struct facet_gfx12_segment s = facet_gfx12_view_segment(f->view, f->offset);

        (void)json_object_set_new(
            object, "address", facet_json_hex(facet_gfx12_view_address(f->view, f->offset)));
        if (s.name != NULL) {
            (void)json_object_set_new(object, "file", json_string(s.name));
            (void)json_object_set_new(
                object, "file_offset", facet_json_hex(s.file_offset + (f->offset - s.offset)));
        }
    }
    return object;
}

static void print_place(uint64_t offset)
{
    if (offset == BVH_WHOLE_IMAGE) {
        printf("image");
    } else {
        printf("0x%08" PRIx64, offset);
    }
}

static json_t *place_json(uint64_t offset)
{
    return offset == BVH_WHOLE_IMAGE ? json_null() : facet_json_hex(offset);
}

void bvh_differences_add(struct bvh_differences *out,
                         const uint64_t offsets[2],
                         const char *field,
                         const uint64_t values[2])
{
    if (out->shown++ >= out->limit) {
        return;
    }
    if (out->list != NULL) {
        (void)json_array_append_new(out->list,
                                    json_pack("{s:o, s:o, s:s, s:o, s:o}",
                                              out->keys[0],
                                              place_json(offsets[0]),
                                              out->keys[1],
                                              place_json(offsets[1]),
                                              "field",
                                              field,
                                              "a",
                                              facet_json_hex(values[0]),
                                              "b",
                                              facet_json_hex(values[1])));
        return;
    }
    print_place(offsets[0]);
    if (offsets[0] != offsets[1]) {
        printf(" / ");
        print_place(offsets[1]);
    }
    printf("  %s: 0x%" PRIx64 ", 0x%" PRIx64 "\n", field, values[0], values[1]);
}

int bvh_differences_end(const struct cli_args *args, struct bvh_differences *out)
{
    int code = out->shown == 0 ? CLI_OK : CLI_NO;

    if (args->json) {
        json_t *object =
            json_pack("{s:I, s:o}", "differences", (json_int_t)out->shown, "list", out->list);

        return cli_print_json(args, object) == CLI_OK ? code : CLI_BAD;
    }
    if (out->shown > out->limit) {
        printf("... and %" PRIu64 " more\n", out->shown - out->limit);
    }
    return code;
}

/* ---- input ---- */

enum facet_status bvh_scene_read(const struct cli_args *args,
                                 const char *path,
                                 const char *aabbs,
                                 struct facet_render_bvh_input *out,
                                 json_t **left_out,
                                 struct facet_error *err)
{
    struct facet_scene scene;
    struct facet_bvh_aabb *boxes = NULL;
    uint32_t box_count = 0;
    enum facet_status status = FACET_OK;

    facet_scene_init(&scene);
    if (path != NULL) {
        status = facet_scene_import(path, NULL, &scene, err);
    }
    if (status == FACET_OK && aabbs != NULL) {
        status = facet_doc_bvh_aabbs_read(aabbs, &boxes, &box_count, err);
    }
    if (status == FACET_OK) {
        status =
            facet_render_bvh_input_make(path != NULL ? &scene : NULL, boxes, box_count, out, err);
    }
    if (status == FACET_OK) {
        status = cli_tell_left_out(args, path, &scene, FACET_LOSS_SHAPE, left_out, err);
    }
    free(boxes);
    facet_scene_free(&scene);
    return status;
}

/* ---- statistics ---- */

double bvh_bytes_per_triangle(const struct facet_gfx12_bvh_stats *stats)
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

json_t *bvh_stats_json(const struct facet_gfx12_bvh_stats *s)
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
    (void)json_object_set_new(object, "bytes_per_triangle", json_real(bvh_bytes_per_triangle(s)));
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
