/* BVH images of both formats: open, check, figures, text, rays. */
#include "wasm/page_bvh.h"

#include "gfx12/ask/explain.h"
#include "gfx12/ask/why.h"
#include "gfx12/check/check.h"
#include "gfx12/image/stats.h"
#include "gfx12/image/text.h"
#include "gfx12/tracer.h"
#include "gfx12/unit.h"
#include "rt_image/check.h"
#include "rt_image/text.h"

#include <facet/machine.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FINDINGS = 10000 };                    /* of XPHMG_RT, as GFX12's validator keeps */
enum { MOST_NODES = 1000, MOST_VISITS = 1 << 20 }; /* as `facet bvh why` has it */

/* ---- life ---- */

static void close(struct page_bvh *b)
{
    if (b != NULL) {
        facet_bvh_destroy(b->bvh);
        if (b->walked) {
            facet_gfx12_walk_free(&b->walk);
        }
        free(b->number);
        page_rt_forget(b);
        free(b->segments);
        facet_gfx12_structures_free(&b->structures);
        free(b);
    }
}

/* Answers {"handle", "format", "size"}, and for structures of a driver or a capture what
 * `facet bvh info --json` says about them. See struct page_bvh_place for the arguments. */
int PAGE_EXPORT(page_bvh_open)(const uint8_t *image,
                               size_t size,
                               uint64_t base,
                               uint32_t root,
                               const uint64_t *segments,
                               size_t segment_bytes,
                               const char *driver,
                               int structure)
{
    const struct page_bvh_place place = {
        driver, structure, base, root, segments, segment_bytes / (3 * sizeof *segments)};
    struct page_bvh *b = calloc(1, sizeof *b);
    struct facet_blob own = {0};
    struct facet_error err = {0};
    struct facet_record *r;
    enum facet_status status;

    if (b == NULL) {
        return page_no_memory("an image");
    }
    status = page_bvh_place(b, &place, image, size, &own, &err);
    if (status == FACET_OK) {
        status = own.data != NULL ? facet_bvh_open(own.data, own.size, &b->bvh, &err)
                                  : facet_bvh_open(image, size, &b->bvh, &err);
    }
    facet_blob_free(&own);
    if (status != FACET_OK) {
        close(b);
        return page_fail(&err);
    }
    b->format = facet_bvh_get_format(b->bvh);
    b->view.bytes = facet_bvh_get_image(b->bvh, &size);
    r = page_begin();
    facet_record_number(r, "handle", (int64_t)(uintptr_t)b);
    facet_record_word(r, "format", b->format == FACET_BVH_FORMAT_GFX12 ? "gfx12" : "xphmg");
    facet_record_number(r, "size", (int64_t)size);
    page_bvh_put_structures(b, r);
    return page_end();
}

/* Triangles of nine floats become an image: its bytes are the answer. */
int PAGE_EXPORT(page_bvh_build)(const float *positions, size_t bytes, int xphmg, int quality)
{
    const struct facet_bvh_mesh mesh = {.positions = positions,
                                        .vertex_count = (uint32_t)(bytes / 36 * 3),
                                        .triangle_count = (uint32_t)(bytes / 36),
                                        .flags = FACET_BVH_OPAQUE};
    const struct facet_bvh_scene scene = {.meshes = &mesh, .mesh_count = 1};
    const struct facet_bvh_config config = {.format = xphmg != 0 ? FACET_BVH_FORMAT_XPHMG
                                                                 : FACET_BVH_FORMAT_GFX12,
                                            .quality = (enum facet_bvh_quality)quality};
    struct facet_error err = {0};
    const uint8_t *image;
    facet_bvh *bvh;
    uint8_t *copy;
    size_t size;

    if (facet_bvh_build(&scene, &config, &bvh, &err) != FACET_OK) {
        return page_fail(&err);
    }
    image = facet_bvh_get_image(bvh, &size);
    copy = malloc(size + (size == 0));
    if (copy != NULL) {
        memcpy(copy, image, size);
    }
    facet_bvh_destroy(bvh);
    return copy != NULL ? page_give_bytes(copy, size) : page_no_memory("an image");
}

int PAGE_EXPORT(page_bvh_close)(struct page_bvh *b)
{
    close(b);
    return page_done();
}

int PAGE_EXPORT(page_bvh_image)(const struct page_bvh *b)
{
    uint8_t *copy = malloc((size_t)b->view.size + 1);

    if (copy == NULL) {
        return page_no_memory("a copy of the image");
    }
    memcpy(copy, b->view.bytes, (size_t)b->view.size);
    return page_give_bytes(copy, (size_t)b->view.size);
}

enum facet_status page_bvh_needs_gfx12(const struct page_bvh *b, struct facet_error *err)
{
    return b->format == FACET_BVH_FORMAT_GFX12
               ? FACET_OK
               : facet_fail(err,
                            FACET_ERR_USAGE,
                            0,
                            "an image of XPHMG_RT; this can be asked of GFX12 images");
}

enum facet_status page_bvh_walk(struct page_bvh *b, struct facet_error *err)
{
    struct facet_progress progress;
    enum facet_status status = page_bvh_needs_gfx12(b, err);

    if (b->walked || status != FACET_OK) {
        return status;
    }
    facet_progress_start(
        &progress, &(struct facet_progress_config){.total = b->view.size / FACET_GFX12_NODE_BYTES});
    status = facet_gfx12_walk_shown(&b->view, &progress, &b->walk, err);
    if (status != FACET_OK) {
        return status;
    }
    b->number = malloc(((size_t)b->walk.count + 1) * sizeof *b->number);
    if (b->number == NULL) {
        facet_gfx12_walk_free(&b->walk);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the numbers of the nodes");
    }
    memset(b->number, 0xFF, ((size_t)b->walk.count + 1) * sizeof *b->number);
    for (uint32_t i = 0; i < b->walk.reached; i++) {
        b->number[page_bvh_unit(b, i)] = i;
    }
    b->walked = true;
    return FACET_OK;
}

uint32_t page_bvh_node_at(const struct page_bvh *b, uint64_t offset)
{
    const uint32_t unit = facet_gfx12_node_at(offset);

    if (!b->walked || offset >= b->view.size || unit >= b->walk.count) {
        return FACET_NONE;
    }
    return b->number[unit] != FACET_NONE ? b->number[unit]
           : unit > 0                    ? b->number[unit - 1]
                                         : FACET_NONE;
}

/* ---- check ---- */

static void put_finding(struct facet_record *r,
                        const char *severity,
                        const char *rule,
                        const char *requirement,
                        uint64_t offset,
                        uint32_t node,
                        const char *expected,
                        const char *text)
{
    facet_record_open(r, NULL, NULL);
    facet_record_word(r, "severity", severity);
    facet_record_word(r, "rule", rule);
    facet_record_word(r, "requirement", requirement);
    facet_record_number(r, "offset", (int64_t)offset);
    facet_record_number(r, "node", node != FACET_NONE ? (int64_t)node : -1);
    facet_record_word(r, "expected", expected);
    facet_record_word(r, "text", text);
    facet_record_close(r);
}

static int check_gfx12(struct page_bvh *b)
{
    struct facet_progress progress;
    struct facet_gfx12_check_options options = {.tolerance = FACET_GFX12_TOLERANCE,
                                                .progress = &progress};
    struct facet_gfx12_check check;
    struct facet_error err = {0};
    struct facet_record *r;

    facet_progress_start(
        &progress, &(struct facet_progress_config){.total = b->view.size / FACET_GFX12_NODE_BYTES});
    if (b->structures.count != 0) {
        facet_gfx12_structures_options(&b->structures, &options);
    }
    if (page_bvh_walk(b, &err) != FACET_OK ||
        facet_gfx12_check(&b->view, &options, &check, &err) != FACET_OK) {
        return page_fail(&err);
    }
    if (b->structures.count != 0 &&
        facet_gfx12_structures_check(&b->structures, &b->view, &options, &check, &err) !=
            FACET_OK) {
        facet_gfx12_check_free(&check);
        return page_fail(&err);
    }
    r = page_begin();
    facet_record_number(r, "errors", (int64_t)check.total[FACET_GFX12_ERROR]);
    facet_record_number(r, "count", (int64_t)(check.total[0] + check.total[1] + check.total[2]));
    facet_record_list(r, "findings");
    for (uint32_t i = 0; i < check.count; i++) {
        const struct facet_gfx12_finding *f = &check.findings[i];

        put_finding(r,
                    facet_gfx12_severity_name(f->severity),
                    facet_gfx12_rules[f->rule].id,
                    facet_gfx12_rules[f->rule].requirement,
                    f->offset,
                    page_bvh_node_at(b, f->offset),
                    facet_gfx12_rules[f->rule].title,
                    f->text);
    }
    facet_record_close(r);
    facet_gfx12_check_free(&check);
    return page_end();
}

static int check_rt(struct page_bvh *b)
{
    struct facet_rtbvh_check check = {0};
    struct facet_error err = {0};
    struct facet_record *r;

    if (facet_rtbvh_check(b->view.bytes, b->view.size, MOST_FINDINGS, &check, &err) != FACET_OK) {
        return page_fail(&err);
    }
    r = page_begin();
    facet_record_number(r, "errors", (int64_t)check.errors);
    facet_record_number(r, "count", (int64_t)(check.errors + check.warnings));
    facet_record_list(r, "findings");
    for (uint32_t i = 0; i < check.count; i++) {
        const struct facet_rtbvh_rule_text *rule = &facet_rtbvh_rules[check.findings[i].rule];

        put_finding(r,
                    rule->warning ? "warning" : "error",
                    rule->id,
                    rule->requirement,
                    check.findings[i].offset,
                    page_rt_node_at(b, &check.view, check.findings[i].offset),
                    rule->title,
                    check.findings[i].text);
    }
    facet_record_close(r);
    facet_rtbvh_check_free(&check);
    return page_end();
}

int PAGE_EXPORT(page_bvh_check)(struct page_bvh *b)
{
    return b->format == FACET_BVH_FORMAT_GFX12 ? check_gfx12(b) : check_rt(b);
}

/* ---- text ---- */

/* The JSON of `facet bvh dump --json`. */
int PAGE_EXPORT(page_bvh_dump)(struct page_bvh *b)
{
    struct facet_strbuf out;
    struct facet_error err = {0};
    struct facet_blob text;

    if (b->format != FACET_BVH_FORMAT_GFX12) {
        return facet_bvh_dump(b->bvh, true, &text, &err) == FACET_OK ? page_give(text)
                                                                     : page_fail(&err);
    }
    if (page_bvh_walk(b, &err) != FACET_OK) {
        return page_fail(&err);
    }
    facet_strbuf_init(&out);
    facet_gfx12_json_head(&b->view, false, &out);
    for (uint32_t i = 0; i < b->walk.count; i += facet_gfx12_walk_block(&b->view, &b->walk, i)) {
        facet_strbuf_puts(&out, i != 0 ? ",\n" : "");
        facet_gfx12_json_node(&b->view, &b->walk, i, &out);
    }
    facet_gfx12_json_tail(&b->view, &out);
    if (out.failed) {
        facet_strbuf_free(&out);
        return page_no_memory("the text of the image");
    }
    return page_give_bytes(out.text, out.length);
}

/* ---- figures ---- */

static void put_bins(struct facet_record *r, const char *key, const uint64_t *bins, unsigned count)
{
    while (count > 0 && bins[count - 1] == 0) {
        count--;
    }
    facet_record_numbers(r, key, (const int64_t *)bins, count);
}

static double ratio(uint64_t a, uint64_t b)
{
    return b != 0 ? (double)a / (double)b : 0.0;
}

/* Names and meanings are those of `facet bvh info --json`. */
int PAGE_EXPORT(page_bvh_figures)(struct page_bvh *b)
{
    struct facet_gfx12_bvh_stats s;
    struct facet_error err = {0};
    struct facet_record *r;

    if (b->format == FACET_BVH_FORMAT_XPHMG) {
        return page_rt_figures(b);
    }
    if (page_bvh_walk(b, &err) != FACET_OK ||
        facet_gfx12_bvh_stats(&b->view, &b->walk, &s, &err) != FACET_OK) {
        return page_fail(&err);
    }
    r = page_begin();
    facet_record_number(r, "bytes", (int64_t)s.bytes);
    facet_record_number(r, "nodes", (int64_t)s.nodes);
    facet_record_number(r, "box_nodes", (int64_t)s.box_nodes);
    facet_record_number(r, "primitive_nodes", (int64_t)s.primitive_nodes);
    facet_record_number(r, "instance_nodes", (int64_t)s.instance_nodes);
    facet_record_number(r, "raw_nodes", (int64_t)s.raw_nodes);
    facet_record_number(r, "bottom_levels", (int64_t)s.bottom_levels);
    facet_record_number(r, "triangles", (int64_t)s.triangles);
    facet_record_number(r, "boxes", (int64_t)s.boxes);
    facet_record_number(r, "pairs", (int64_t)s.pairs);
    facet_record_number(r, "ranges", (int64_t)s.ranges);
    facet_record_number(r, "oriented_nodes", (int64_t)s.oriented);
    facet_record_number(r, "max_depth", (int64_t)s.max_depth);
    facet_record_real(r, "sah_cost", s.sah);
    facet_record_real(r, "bytes_per_triangle", ratio(s.bytes, s.triangles));
    facet_record_real(r, "triangles_per_primitive_node", ratio(s.triangles, s.primitive_nodes));
    facet_record_real(r, "children_per_box_node", ratio(s.child_boxes, s.box_nodes));
    facet_record_real(r, "full_pairs", ratio(s.full_pairs, s.pairs));
    facet_record_real(r, "primitive_node_fill", ratio(s.used_bits, 1024 * s.primitive_nodes));
    facet_record_real(r, "bits_per_vertex", ratio(s.vertex_bits, s.vertices));
    put_bins(r, "box_nodes_by_children", s.children, 9);
    put_bins(r, "primitive_nodes_by_pairs", s.pairs_per_node, 9);
    put_bins(r, "primitive_nodes_by_vertices", s.vertices_per_node, 17);
    put_bins(r, "ranges_by_pairs", s.range_pairs, 17);
    put_bins(r, "axes_by_payload_bits", s.axis_bits, 33);
    put_bins(r, "nodes_by_depth", s.depth, FACET_GFX12_DEPTH_BINS);
    return page_end();
}

/* ---- rays ---- */

struct facet_gfx12_query
page_bvh_query(const struct page_bvh *b, const float *ray, uint32_t flags, uint32_t mask)
{
    struct facet_gfx12_query query;

    facet_gfx12_query_init(&query, ray, ray + 3);
    query.t_min = ray[6];
    query.t_max = ray[7];
    query.api_flags = flags;
    query.instance_mask = mask;
    query.address = b->view.base;
    query.root = b->view.root;
    query.max_steps = MOST_VISITS;
    return query;
}

/* Rules of the members of the last record that was made. */
static struct facet_record_rules rules;

/* {LIST: {MEMBER: RULE}}: what the text of `facet bvh why` says behind the values of the ray that
 * was explained last. */
int PAGE_EXPORT(page_bvh_rules)(void)
{
    struct facet_record *r = page_begin();

    for (unsigned i = 0; i < rules.count; i++) {
        bool first = true;

        for (unsigned k = 0; k < i; k++) {
            first = first && strcmp(rules.rule[k].list, rules.rule[i].list) != 0;
        }
        if (!first) {
            continue;
        }
        facet_record_open(r, rules.rule[i].list, NULL);
        for (unsigned k = i; k < rules.count; k++) {
            if (strcmp(rules.rule[k].list, rules.rule[i].list) == 0) {
                facet_record_word(r, rules.rule[k].key, rules.rule[k].rule);
            }
        }
        facet_record_close(r);
    }
    return page_end();
}

/* The JSON of `facet bvh why --json`. Flags are the ray flags of 2.2. */
int PAGE_EXPORT(page_bvh_explain)(
    struct page_bvh *b, const float *ray, size_t bytes, uint32_t flags, uint32_t mask)
{
    struct facet_gfx12_query query;
    struct facet_gfx12_unit unit;
    struct facet_error err = {0};
    struct facet_record record;
    enum facet_status status = page_bvh_needs_gfx12(b, &err);
    struct facet_blob text;

    if (status == FACET_OK && bytes != 8 * sizeof *ray) {
        status = facet_fail(&err, FACET_ERR_USAGE, 0, "a ray has eight floats");
    }
    if (status != FACET_OK) {
        return page_fail(&err);
    }
    query = page_bvh_query(b, ray, flags, mask);
    facet_gfx12_unit_view(&unit, &b->view);
    facet_record_init(&record, true);
    rules.count = 0;
    record.rules = &rules;
    status = facet_gfx12_record_trace(&record, &unit, &query, MOST_NODES, NULL, NULL, &err);
    if (status == FACET_OK) {
        facet_record_end(&record);
    }
    if (status == FACET_OK && record.text.failed) {
        status = facet_fail(&err, FACET_ERR_MEMORY, 0, "no memory for the record");
    }
    if (status != FACET_OK) {
        facet_record_free(&record);
        return page_fail(&err);
    }
    text = (struct facet_blob){record.text.text, record.text.length};
    return page_give(text);
}

/* Rays of eight floats; the answer has a struct facet_bvh_hit for each. */
int PAGE_EXPORT(page_bvh_trace)(
    struct page_bvh *b, const float *rays, size_t bytes, uint32_t flags, uint32_t mask)
{
    const size_t count = bytes / (8 * sizeof *rays), stride = 8 * sizeof *rays;
    const struct facet_bvh_rays in = {
        count, rays, stride, rays + 3, stride, rays + 6, stride, rays + 7, stride};
    const struct facet_bvh_trace_config config = {
        .any_hit = (flags & FACET_GFX12_API_TERMINATE_ON_FIRST_HIT) != 0,
        .cull_back = (flags & FACET_GFX12_CULL_BACK_FACING) != 0,
        .mask = mask};
    struct facet_error err = {0};
    struct facet_bvh_hit *hits;
    enum facet_status status = FACET_OK;

    if (b->view.segment_count != 0 || b->view.base != 0 || b->view.root != FACET_GFX12_ROOT) {
        status = facet_fail(&err, FACET_ERR_USAGE, 0, "many rays need an image in one piece");
    } else if ((flags & ~(uint32_t)(FACET_GFX12_API_TERMINATE_ON_FIRST_HIT |
                                    FACET_GFX12_CULL_BACK_FACING)) != 0) {
        status = facet_fail(&err, FACET_ERR_USAGE, 0, "many rays take the flags 0x4 and 0x10");
    }
    if (status != FACET_OK) {
        return page_fail(&err);
    }
    hits = calloc(count + 1, sizeof *hits);
    if (hits == NULL) {
        return page_no_memory("the hits");
    }
    if (facet_bvh_trace(b->bvh, &config, &in, hits, 0, &err) != FACET_OK) {
        free(hits);
        return page_fail(&err);
    }
    return page_give_bytes(hits, count * sizeof *hits);
}
