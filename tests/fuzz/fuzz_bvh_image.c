/* Any bytes as a GFX12 image: checking, counting, comparing with itself, and dump followed by
 * encode must give the same bytes. The first byte chooses the root. */
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
    struct facet_gfx12_image back;
    struct facet_strbuf text;

    facet_strbuf_init(&text);
    facet_gfx12_json_head(view, &text);
    for (uint32_t i = 0; i < walk->count; i++) {
        facet_strbuf_puts(&text, i != 0 ? ",\n" : "");
        facet_gfx12_json_node(view, walk, i, &text);
    }
    facet_gfx12_json_tail(view, &text);
    if (facet_doc_gfx12_json_read("fuzz", facet_strbuf_text(&text), text.length, &back, NULL) !=
            FACET_OK ||
        back.size != view->size || memcmp(back.bytes, view->bytes, (size_t)view->size) != 0) {
        abort();
    }
    free(back.bytes);
    facet_strbuf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_gfx12_check_options options = {.max_findings = 20};
    struct facet_gfx12_view view = {.bytes = data, .size = size, .root = FACET_GFX12_ROOT};
    struct facet_gfx12_check check;
    struct facet_gfx12_bvh_stats stats;
    struct facet_gfx12_walk walk;
    uint64_t count;

    if (size > 1 << 16) {
        return 0;
    }
    if (size % 128 == 1) { /* one byte more than whole nodes: it names the root */
        view.root = data[0];
        view.bytes++;
        view.size--;
    }
    if (facet_gfx12_walk(&view, &walk, NULL) != FACET_OK ||
        facet_gfx12_check(&view, &options, &check, NULL) != FACET_OK ||
        facet_gfx12_bvh_stats(&view, &walk, &stats, NULL) != FACET_OK ||
        facet_gfx12_diff(&view, &view, differs, NULL, &count, NULL) != FACET_OK) {
        abort();
    }
    round_trip(&view, &walk);
    facet_gfx12_check_free(&check);
    facet_gfx12_walk_free(&walk);
    return 0;
}
