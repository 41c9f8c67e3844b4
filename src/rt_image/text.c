/* See text.h. */
#include "rt_image/text.h"

#include "base/bits.h"
#include "base/float.h"
#include "num/f32.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_LISTED = 255, OTHER_BYTES = 64 };

static const char *const type_name[] = {"empty", "node", "leaf"};
static const char *const code_name[] = {"empty", "node", "leaf", "reserved"};

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

static void
json_section(struct facet_strbuf *out, const char *name, const struct facet_rtbvh_section *section)
{
    facet_strbuf_printf(out,
                        "\"%s\": {\"offset\": \"0x%" PRIx64 "\", \"size\": %" PRIu64 "}, ",
                        name,
                        section->offset,
                        section->size);
}

static void json_elements(struct facet_strbuf *out, const uint32_t *elements, unsigned count)
{
    facet_strbuf_puts(out, "\"elements\": [");
    for (unsigned i = 0; i < count; i++) {
        facet_strbuf_printf(out, "%s\"0x%x\"", i != 0 ? ", " : "", elements[i]);
    }
    facet_strbuf_putc(out, ']');
}

void facet_rtbvh_json_head(const struct facet_rtbvh_view *view, struct facet_strbuf *out)
{
    const struct facet_rtbvh_header *h = &view->header;

    facet_strbuf_printf(out,
                        "{\"format\": \"xphmg%u\", \"version\": %d, \"element\": \"%s\", \"mode\": "
                        "\"0x%" PRIx64 "\", \"alt\": \"0x%" PRIx64 "\", \"tile_bytes\": %" PRIu64
                        ", \"root\": %u, \"nodes\": %u, \"leaves\": %u, \"triangles\": %u, "
                        "\"growth\": \"0x%x\", \"size\": %" PRIu64 ",\n",
                        h->children,
                        (int)FACET_RTBVH_VERSION,
                        facet_format_name(view->eff.elem),
                        h->mode,
                        h->alt,
                        view->tile_bytes,
                        h->root,
                        h->nodes,
                        h->leaves,
                        h->triangle_count,
                        facet_float_bits(h->pad),
                        view->size);
    json_section(out, "heap", &h->heap);
    json_section(out, "triangle_buffer", &h->triangles);
    json_section(out, "origins", &h->origins);
    facet_strbuf_puts(out, "\n\"places\": [\n");
}

static void
json_child(const struct facet_rtbvh_view *view, uint64_t at, unsigned c, struct facet_strbuf *out)
{
    struct facet_rtbvh_child child = facet_rtbvh_child(view, at, c);

    facet_strbuf_printf(out, "%s{\"type\": \"%s\"", c != 0 ? ", " : "", code_name[child.code]);
    if (child.type != FACET_RT_EMPTY || child.index != 0) {
        facet_strbuf_printf(out, ", \"index\": %u", child.index);
    }
    if (child.type != FACET_RT_EMPTY) {
        facet_strbuf_puts(out, ", ");
        json_elements(out, child.elements, FACET_RT_BOX_ELEMENTS);
        facet_strbuf_puts(out, ", \"min\": ");
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
        uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS];
        float v[3][3];

        (void)facet_rtbvh_triangle(view, k, v);
        facet_rtbvh_vertices(view, k, elements);
        facet_strbuf_printf(out,
                            "%s{\"index\": %u, \"instance\": %u, \"primitive\": %u, ",
                            k != range.first ? ", " : "",
                            k,
                            facet_rtbvh_origin(view, k, 0),
                            facet_rtbvh_origin(view, k, 1));
        json_elements(out, elements, FACET_RT_TRIANGLE_ELEMENTS);
        facet_strbuf_puts(out, ", \"corners\": [");
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

/* ---- what the places do not give ---- */

/* The image that the members before `other` give. */
static void rebuild(const struct facet_rtbvh_check *check, uint8_t *bytes)
{
    const struct facet_rtbvh_view *view = &check->view;

    facet_rtbvh_header_write(&view->header, bytes);
    for (uint64_t i = 0; i < check->place_count; i++) {
        const struct facet_rtbvh_place *place = &check->places[i];

        if (place->leaf) {
            struct facet_rt_range range = facet_rtbvh_range(view, place->at);

            facet_rtbvh_put_range(view, place->at, &range, bytes);
            for (uint32_t k = range.first; k < range_end(view, &range); k++) {
                uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS];
                const uint32_t origin[2] = {facet_rtbvh_origin(view, k, 0),
                                            facet_rtbvh_origin(view, k, 1)};

                facet_rtbvh_vertices(view, k, elements);
                facet_rtbvh_put_triangle(view, k, elements, origin, bytes);
            }
            continue;
        }
        for (unsigned c = 0; c < view->header.children; c++) {
            struct facet_rtbvh_child child = facet_rtbvh_child(view, place->at, c);

            facet_rtbvh_put_child(view, place->at, c, &child, bytes);
        }
    }
}

bool facet_rtbvh_json_tail(const struct facet_rtbvh_check *check, struct facet_strbuf *out)
{
    const struct facet_rtbvh_view *view = &check->view;
    uint8_t *given = calloc(1, (size_t)view->size);
    bool first = true;

    if (given == NULL) {
        return false;
    }
    rebuild(check, given);
    facet_strbuf_puts(out, "\n],\n\"other\": [");
    for (uint64_t at = 0; at < view->size;) {
        uint64_t begin = at, end = at + OTHER_BYTES < view->size ? at + OTHER_BYTES : view->size;

        if (view->bytes[at] == given[at]) {
            at++;
            continue;
        }
        facet_strbuf_printf(
            out, "%s\n{\"offset\": \"0x%" PRIx64 "\", \"bytes\": \"", first ? "" : ",", begin);
        for (; at < end && view->bytes[at] != given[at]; at++) {
            facet_strbuf_printf(out, "%02x", view->bytes[at]);
        }
        facet_strbuf_puts(out, "\"}");
        first = false;
    }
    facet_strbuf_puts(out, "]}\n");
    free(given);
    return true;
}
