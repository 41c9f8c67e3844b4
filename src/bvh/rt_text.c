/* See rt_text.h. */
#include "bvh/rt_text.h"

#include "base/bits.h"

#include <inttypes.h>
#include <math.h>

enum { MOST_LISTED = 255 };

static const char *const type_name[] = {"empty", "node", "leaf"};

static uint64_t place_index(const struct facet_rtbvh_view *view,
                            const struct facet_rtbvh_place *place)
{
    return place->at / (place->leaf ? FACET_RT_RANGE_BYTES : view->tile_bytes);
}

/* The end of the triangles of a range that exist and are listed: no more than the builder puts into
 * a leaf, because every TriRange of a damaged image may claim all triangles. */
static uint32_t range_end(const struct facet_rtbvh_view *view, const struct facet_rt_range *range)
{
    uint32_t count = view->header.triangle_count, shown = range->count;

    if (range->first >= count) {
        return range->first;
    }
    shown = shown > count - range->first ? count - range->first : shown;
    return range->first + (shown > MOST_LISTED ? MOST_LISTED : shown);
}

/* ---- listing ---- */

static void list_range(const struct facet_rtbvh_view *view,
                       const struct facet_rtbvh_place *place,
                       struct facet_strbuf *out)
{
    struct facet_rt_range range = facet_rtbvh_range(view, place->at);

    facet_strbuf_printf(out,
                        "0x%08" PRIx64 "  leaf %" PRIu64 "  first %u  count %u  base 0x%" PRIx64
                        "\n",
                        view->header.heap.offset + place->at,
                        place_index(view, place),
                        range.first,
                        range.count,
                        range.base);
    for (uint32_t k = range.first; k < range_end(view, &range); k++) {
        float v[3][3];

        (void)facet_rtbvh_triangle(view, k, v);
        facet_strbuf_printf(out,
                            "    triangle %u (%u.%u)",
                            k,
                            facet_rtbvh_origin(view, k, 0),
                            facet_rtbvh_origin(view, k, 1));
        for (int j = 0; j < 3; j++) {
            facet_strbuf_printf(
                out, "  %.9g %.9g %.9g", (double)v[j][0], (double)v[j][1], (double)v[j][2]);
        }
        facet_strbuf_putc(out, '\n');
    }
}

void facet_rtbvh_listing(const struct facet_rtbvh_view *view,
                         const struct facet_rtbvh_place *place,
                         struct facet_strbuf *out)
{
    if (place->leaf) {
        list_range(view, place, out);
        return;
    }
    facet_strbuf_printf(out,
                        "0x%08" PRIx64 "  node %" PRIu64 "\n",
                        view->header.heap.offset + place->at,
                        place_index(view, place));
    for (unsigned c = 0; c < view->header.children; c++) {
        struct facet_rtbvh_child child = facet_rtbvh_child(view, place->at, c);

        if (child.type != FACET_RT_EMPTY) {
            facet_strbuf_printf(out,
                                "    child %u  %s %u  %.9g %.9g %.9g  to  %.9g %.9g %.9g\n",
                                c,
                                type_name[child.type],
                                child.index,
                                (double)child.min[0],
                                (double)child.min[1],
                                (double)child.min[2],
                                (double)child.max[0],
                                (double)child.max[1],
                                (double)child.max[2]);
        }
    }
}

/* ---- JSON ---- */

/* JSON has no infinities and NaNs: null. */
static void put_triple(struct facet_strbuf *out, const float v[3])
{
    for (int a = 0; a < 3; a++) {
        facet_strbuf_puts(out, a == 0 ? "[" : ", ");
        if (isfinite(v[a])) {
            facet_strbuf_printf(out, "%.9g", (double)v[a]);
        } else {
            facet_strbuf_puts(out, "null");
        }
    }
    facet_strbuf_putc(out, ']');
}

void facet_rtbvh_json_head(const struct facet_rtbvh_view *view, struct facet_strbuf *out)
{
    const struct facet_rtbvh_header *h = &view->header;

    facet_strbuf_printf(out,
                        "{\"format\": \"xphmg%u\", \"element\": \"%s\", \"mode\": \"0x%" PRIx64
                        "\", \"alt\": \"0x%" PRIx64 "\", \"tile_bytes\": %" PRIu64
                        ", \"nodes\": %u, \"leaves\": %u, \"triangles\": %u,\n\"places\": [\n",
                        h->children,
                        facet_format_name(view->eff.elem),
                        h->mode,
                        h->alt,
                        view->tile_bytes,
                        h->nodes,
                        h->leaves,
                        h->triangle_count);
}

static void
json_child(const struct facet_rtbvh_view *view, uint64_t at, unsigned c, struct facet_strbuf *out)
{
    struct facet_rtbvh_child child = facet_rtbvh_child(view, at, c);

    facet_strbuf_printf(out, "%s{\"type\": \"%s\"", c != 0 ? ", " : "", type_name[child.type]);
    if (child.type != FACET_RT_EMPTY) {
        facet_strbuf_printf(out, ", \"index\": %u, \"elements\": [", child.index);
        for (unsigned f = 0; f < FACET_RT_BOX_ELEMENTS; f++) {
            facet_strbuf_printf(out, "%s\"0x%x\"", f != 0 ? ", " : "", child.elements[f]);
        }
        facet_strbuf_puts(out, "], \"min\": ");
        put_triple(out, child.min);
        facet_strbuf_puts(out, ", \"max\": ");
        put_triple(out, child.max);
    }
    facet_strbuf_putc(out, '}');
}

static void json_range(const struct facet_rtbvh_view *view, uint64_t at, struct facet_strbuf *out)
{
    struct facet_rt_range range = facet_rtbvh_range(view, at);

    facet_strbuf_printf(out,
                        ", \"first\": %u, \"count\": %u, \"base\": \"0x%" PRIx64
                        "\", \"triangles\": [",
                        range.first,
                        range.count,
                        range.base);
    for (uint32_t k = range.first; k < range_end(view, &range); k++) {
        float v[3][3];

        (void)facet_rtbvh_triangle(view, k, v);
        facet_strbuf_printf(out,
                            "%s{\"index\": %u, \"instance\": %u, \"primitive\": %u, \"corners\": [",
                            k != range.first ? ", " : "",
                            k,
                            facet_rtbvh_origin(view, k, 0),
                            facet_rtbvh_origin(view, k, 1));
        for (int j = 0; j < 3; j++) {
            facet_strbuf_puts(out, j != 0 ? ", " : "");
            put_triple(out, v[j]);
        }
        facet_strbuf_puts(out, "]}");
    }
    facet_strbuf_putc(out, ']');
}

void facet_rtbvh_json_place(const struct facet_rtbvh_view *view,
                            const struct facet_rtbvh_place *place,
                            struct facet_strbuf *out)
{
    facet_strbuf_printf(out,
                        "{\"offset\": \"0x%" PRIx64 "\", \"kind\": \"%s\", \"index\": %" PRIu64,
                        view->header.heap.offset + place->at,
                        place->leaf ? "leaf" : "node",
                        place_index(view, place));
    if (place->leaf) {
        json_range(view, place->at, out);
    } else {
        facet_strbuf_puts(out, ", \"children\": [");
        for (unsigned c = 0; c < view->header.children; c++) {
            json_child(view, place->at, c, out);
        }
        facet_strbuf_putc(out, ']');
    }
    facet_strbuf_putc(out, '}');
}

void facet_rtbvh_json_tail(struct facet_strbuf *out)
{
    facet_strbuf_puts(out, "\n]}\n");
}
