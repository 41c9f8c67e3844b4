/* Any bytes as a GFX12 image, in one piece and cut into segments: checking, counting, comparing
 * with itself, and dump followed by encode must give the same bytes. One byte more than whole
 * nodes: the first chooses the root, and where the pieces lie. */
#include "documents/bvh_images.h"
#include "fuzz/fuzz.h"
#include "gfx12/check/check.h"
#include "gfx12/image/diff.h"
#include "gfx12/image/stats.h"

#include <stdlib.h>
#include <string.h>

static bool differs(void *context, const struct facet_gfx12_difference *difference)
{
    (void)context;
    (void)difference;
    abort(); /* an image equals itself */
}

static void round_trip(const struct facet_gfx12_view *view, const struct facet_gfx12_walk *walk)
{
    struct facet_gfx12_view back;
    struct facet_strbuf text;

    facet_strbuf_init(&text);
    facet_gfx12_json_head(view, false, &text);
    for (uint32_t i = 0; i < walk->count; i += facet_gfx12_walk_block(view, walk, i)) {
        facet_strbuf_puts(&text, i != 0 ? ",\n" : "");
        facet_gfx12_json_node(view, walk, i, &text);
    }
    facet_gfx12_json_tail(view, &text);
    if (facet_doc_gfx12_json_view("fuzz", facet_strbuf_text(&text), text.length, &back, NULL) !=
            FACET_OK ||
        back.size != view->size || back.segment_count != view->segment_count ||
        memcmp(back.bytes, view->bytes, (size_t)view->size) != 0) {
        abort();
    }
    for (uint32_t i = 0; i < back.segment_count; i++) {
        fuzz_require(back.segments[i].address == view->segments[i].address &&
                     back.segments[i].offset == view->segments[i].offset &&
                     back.segments[i].size == view->segments[i].size);
    }
    facet_doc_gfx12_view_free(&back);
    facet_strbuf_free(&text);
}

/* Pieces of growing size; the gaps between them come from the bits of `choice`. */
static uint32_t
cut(uint8_t choice, uint64_t size, struct facet_gfx12_segment *segments, uint32_t most)
{
    uint64_t address = (uint64_t)(choice >> 4) * 64, at = 0;
    uint32_t count = 0;

    while (at < size) {
        uint64_t bytes = 128 + 64 * (uint64_t)count;

        bytes = bytes < size - at && count + 1 < most ? bytes : size - at;
        segments[count] =
            (struct facet_gfx12_segment){.address = address, .offset = at, .size = bytes};
        at += bytes;
        address += (bytes + 63) / 64 * 64 + 64 * (uint64_t)(choice >> count % 8 & 1);
        count++;
    }
    return count;
}

/* The scene of the seeds: something to lose, to find twice and to take for another. */
static const struct facet_bvh_triangle triangles[] = {
    {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, 0, 0, FACET_BVH_OPAQUE},
    {{{1, 0, 0}, {1, 1, 0}, {0, 1, 0}}, 0, 1, FACET_BVH_OPAQUE},
    {{{0, 0, 0}, {0, 0, 0}, {0, 1, 0}}, 3, 2, 0},
};
static const struct facet_bvh_aabb boxes[] = {{{0, 0, 0}, {1, 1, 1}, 0, 0, FACET_BVH_OPAQUE}};
static const struct facet_bvh_blas_input blases[] = {{.triangles = triangles, .triangle_count = 3},
                                                     {.aabbs = boxes, .aabb_count = 1}};
static const struct facet_bvh_instance instances[] = {
    {.world_to_object = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}, .mask = 0xFF},
    {.world_to_object = {{1, 0, 0, 9}, {0, 1, 0, 0}, {0, 0, 1, 0}}, .blas = 1, .user_data = 1},
};
static const struct facet_bvh_scene_input scene = {blases, 2, instances, 2};

static void try_all(const struct facet_gfx12_view *view)
{
    struct facet_gfx12_check_options options = {
        .max_findings = 20,
        .tolerance = FACET_GFX12_TOLERANCE,
        .scene = &scene,
        .dialect = view->size % FACET_GFX12_DIALECTS,
    };
    struct facet_gfx12_check check;
    struct facet_gfx12_bvh_stats stats;
    struct facet_gfx12_walk walk;
    uint64_t count;

    if (facet_gfx12_walk(view, &walk, NULL) != FACET_OK ||
        facet_gfx12_check(view, &options, &check, NULL) != FACET_OK ||
        facet_gfx12_bvh_stats(view, &walk, &stats, NULL) != FACET_OK ||
        facet_gfx12_diff(view, view, differs, NULL, &count, NULL) != FACET_OK) {
        abort();
    }
    round_trip(view, &walk);
    facet_gfx12_check_free(&check);
    facet_gfx12_walk_free(&walk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_gfx12_view view = {.bytes = data, .size = size, .root = FACET_GFX12_ROOT};
    struct facet_gfx12_segment segments[16];

    if (size > 1 << 16) {
        return 0;
    }
    if (size % 64 != 1) {
        try_all(&view);
        return 0;
    }
    view.bytes++;
    view.size--;
    view.root = data[0];
    try_all(&view);
    view.root = FACET_GFX12_ROOT;
    view.segments = segments;
    view.segment_count = cut(data[0], view.size, segments, 16);
    view.base = view.segment_count != 0 ? segments[0].address : 0;
    try_all(&view);
    return 0;
}
