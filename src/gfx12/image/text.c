/* Writing: every table of node.h becomes an object whose members have the table's names. */
#include "gfx12/image/text.h"

#include "base/float.h"
#include "gfx12/image/node.h"

#include <math.h>
#include <string.h>

/* Wide fields are hexadecimal strings (json/json.h), narrow ones numbers. */
static void put_field(struct facet_strbuf *out, const char *name, unsigned width, uint64_t value)
{
    if (width > 16) {
        facet_strbuf_printf(out, "\"%s\":\"0x%llx\",", name, (unsigned long long)value);
    } else {
        facet_strbuf_printf(out, "\"%s\":%llu,", name, (unsigned long long)value);
    }
}

static void end_object(struct facet_strbuf *out)
{
    if (out->length > 0 && out->text[out->length - 1] == ',') {
        out->length--;
        out->text[out->length] = '\0';
    }
    facet_strbuf_putc(out, '}');
}

/* JSON has no words for infinities and NaN. */
static void put_float(struct facet_strbuf *out, uint32_t bits)
{
    float f = facet_float_of(bits);

    facet_strbuf_printf(out, isfinite(f) ? "%.9g" : "\"%g\"", (double)f);
}

static void put_floats(struct facet_strbuf *out, const uint32_t *bits, unsigned count)
{
    facet_strbuf_putc(out, '[');
    for (unsigned i = 0; i < count; i++) {
        if (i != 0) {
            facet_strbuf_putc(out, ',');
        }
        put_float(out, bits[i]);
    }
    facet_strbuf_putc(out, ']');
}

static void put_words(struct facet_strbuf *out, const uint32_t *words, unsigned count)
{
    facet_strbuf_putc(out, '[');
    for (unsigned i = 0; i < count; i++) {
        facet_strbuf_printf(out, "%s\"0x%x\"", i != 0 ? "," : "", words[i]);
    }
    facet_strbuf_putc(out, ']');
}

static void put_hex(struct facet_strbuf *out, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        facet_strbuf_printf(out, "%02x", bytes[i]);
    }
}

#define PUT(name, member, at, width) put_field(out, #name, width, in->member);

static void put_child(struct facet_strbuf *out, const struct facet_gfx12_child *in)
{
    facet_strbuf_putc(out, '{');
    FACET_GFX12_CHILD_FIELDS(PUT)
    end_object(out);
}

static void put_children(struct facet_strbuf *out, const struct facet_gfx12_child *c, unsigned n)
{
    facet_strbuf_puts(out, ",\"children\":[");
    for (unsigned i = 0; i < n; i++) {
        if (i != 0) {
            facet_strbuf_putc(out, ',');
        }
        put_child(out, &c[i]);
    }
    facet_strbuf_putc(out, ']');
}

static void put_decoded(struct facet_strbuf *out,
                        const struct facet_gfx12_child *child,
                        const uint32_t origin[3],
                        const uint8_t exponent[3],
                        const struct facet_gfx12_link *links,
                        unsigned count)
{
    facet_strbuf_puts(out, ",\"decoded\":{\"children\":[");
    for (unsigned i = 0; i < count; i++) {
        uint32_t lo[3], hi[3];

        facet_gfx12_child_bounds(&child[links[i].slot], origin, exponent, lo, hi);
        facet_strbuf_printf(out,
                            "%s{\"slot\":%u,\"id\":\"0x%08x\",\"lo\":",
                            i != 0 ? "," : "",
                            links[i].slot,
                            links[i].id);
        put_floats(out, lo, 3);
        facet_strbuf_puts(out, ",\"hi\":");
        put_floats(out, hi, 3);
        facet_strbuf_putc(out, '}');
    }
    facet_strbuf_puts(out, "]}");
}

static void put_box(struct facet_strbuf *out,
                    const uint8_t *bytes,
                    const struct facet_gfx12_link *links,
                    unsigned count)
{
    struct facet_gfx12_box box, *in = &box;

    facet_gfx12_box_decode(bytes, &box);
    facet_strbuf_puts(out, ",\"fields\":{");
    FACET_GFX12_BOX_FIELDS(PUT)
    end_object(out);
    put_children(out, box.child, 8);
    put_decoded(out, box.child, box.origin, box.exponent, links, count);
}

static void put_instance(struct facet_strbuf *out,
                         const uint8_t *bytes,
                         const struct facet_gfx12_link *links,
                         unsigned count)
{
    struct facet_gfx12_instance instance, *in = &instance;

    facet_gfx12_instance_decode(bytes, &instance);
    facet_strbuf_puts(out, ",\"fields\":{");
    FACET_GFX12_INSTANCE_FIELDS(PUT)
    end_object(out);
    put_children(out, instance.child, 4);
    put_decoded(out, instance.child, instance.origin, instance.exponent, links, count);
}

static void put_triangles(struct facet_strbuf *out, const struct facet_gfx12_prim *p)
{
    bool first = true;

    facet_strbuf_puts(out, ",\"decoded\":{\"vertices\":[");
    for (unsigned v = 0; v < p->vertex_count; v++) {
        uint32_t xyz[3];

        facet_gfx12_prim_vertex(p, v, xyz);
        facet_strbuf_puts(out, v != 0 ? "," : "");
        put_floats(out, xyz, 3);
    }
    facet_strbuf_puts(out, "],\"primitives\":[");
    for (unsigned t = 0; t < 2 * facet_gfx12_prim_pairs(&p->header); t++) {
        const struct facet_gfx12_pair_tri *tri = &p->pair[t / 2].tri[t % 2];

        if (t % 2 == 1 && facet_gfx12_tri_absent(tri)) {
            continue;
        }
        facet_strbuf_printf(
            out,
            "%s{\"pair\":%u,\"geometry\":%u,\"primitive\":%u,\"corners\":[%u,%u,%u]}",
            first ? "" : ",",
            t / 2,
            facet_gfx12_prim_geometry(p, t),
            facet_gfx12_prim_primitive(p, t),
            tri->index[0],
            tri->index[1],
            tri->index[2]);
        first = false;
    }
    facet_strbuf_putc(out, ']');
    if (facet_gfx12_tri_procedural(&p->pair[0].tri[0])) {
        facet_strbuf_puts(out, ",\"aabb\":");
        put_floats(out, p->aabb, 6);
    }
    facet_strbuf_putc(out, '}');
}

static void put_pairs(struct facet_strbuf *out, const struct facet_gfx12_prim *p)
{
    facet_strbuf_puts(out, ",\"pairs\":[");
    for (unsigned i = 0; i < facet_gfx12_prim_pairs(&p->header); i++) {
        const struct facet_gfx12_pair_desc *in = &p->pair[i];

        facet_strbuf_puts(out, i != 0 ? ",{" : "{");
        FACET_GFX12_PAIR_DESC_FIELDS(PUT)
        end_object(out);
    }
    facet_strbuf_putc(out, ']');
}

static void put_prim(struct facet_strbuf *out, const uint8_t *bytes)
{
    struct facet_gfx12_prim p;
    const struct facet_gfx12_prim_header *in = &p.header;
    unsigned slots;

    facet_gfx12_prim_decode(bytes, &p);
    slots = 2 * facet_gfx12_prim_pairs(&p.header) - 1;
    facet_strbuf_puts(out, ",\"fields\":{");
    FACET_GFX12_PRIM_HEADER_FIELDS(PUT)
    end_object(out);
    facet_strbuf_puts(out, ",\"prefix\":");
    put_words(out, p.prefix, 3);
    facet_strbuf_puts(out, ",\"payload\":");
    put_words(out, &p.payload[0][0], 3u * p.vertex_count);
    facet_strbuf_printf(out, ",\"geometry_base\":%u,\"geometry_payload\":", p.geometry_base);
    put_words(out, p.geometry_payload + 1, slots);
    facet_strbuf_printf(out, ",\"primitive_base\":%u,\"primitive_payload\":", p.primitive_base);
    put_words(out, p.primitive_payload + 1, slots);
    if (facet_gfx12_prim_has_aabb(&p)) {
        facet_strbuf_puts(out, ",\"aabb\":");
        put_words(out, p.aabb, 6);
    }
    put_pairs(out, &p);
    facet_strbuf_puts(out, ",\"free_bits\":");
    put_words(out, p.free_bits, 32);
    put_triangles(out, &p);
}

void facet_gfx12_json_head(const struct facet_gfx12_view *view, bool part, struct facet_strbuf *out)
{
    facet_strbuf_printf(out,
                        "{\"format\":\"facet-gfx12\",\"version\":1,\"base\":\"0x%llx\","
                        "\"root\":\"0x%x\",\"size\":%llu,",
                        (unsigned long long)view->base,
                        view->root,
                        (unsigned long long)view->size);
    for (uint32_t i = 0; i < view->segment_count; i++) {
        facet_strbuf_printf(out,
                            "%s{\"address\":\"0x%llx\",\"size\":%llu}%s",
                            i == 0 ? "\"segments\":[" : ",",
                            (unsigned long long)view->segments[i].address,
                            (unsigned long long)view->segments[i].size,
                            i + 1 == view->segment_count ? "]," : "");
    }
    facet_strbuf_puts(out, part ? "\"part\":true,\"nodes\":[\n" : "\"nodes\":[\n");
}

void facet_gfx12_json_node(const struct facet_gfx12_view *view,
                           const struct facet_gfx12_walk *walk,
                           uint32_t node,
                           struct facet_strbuf *out)
{
    const uint8_t *bytes = facet_gfx12_node_bytes(view, node);
    const enum facet_gfx12_kind kind = walk->nodes[node].kind;
    struct facet_gfx12_link links[8];
    unsigned count = facet_gfx12_links(view, walk, node, links);
    const uint64_t offset = facet_gfx12_node_offset(node);
    const uint64_t address = facet_gfx12_view_address(view, offset);

    facet_strbuf_printf(out, "{\"offset\":\"0x%llx\",", (unsigned long long)offset);
    if (address != offset) {
        facet_strbuf_printf(out, "\"address\":\"0x%llx\",", (unsigned long long)address);
    }
    facet_strbuf_printf(out, "\"kind\":\"%s\"", facet_gfx12_kind_name(kind));
    switch (kind) {
    case FACET_GFX12_KIND_BOX:
        put_box(out, bytes, links, count);
        break;
    case FACET_GFX12_KIND_INSTANCE:
        put_instance(out, bytes, links, count);
        break;
    case FACET_GFX12_KIND_PRIMITIVE:
        put_prim(out, bytes);
        break;
    case FACET_GFX12_KIND_NONE:
        facet_strbuf_puts(out, ",\"data\":\"");
        put_hex(out, bytes, facet_gfx12_walk_block(view, walk, node) * FACET_GFX12_UNIT_BYTES);
        facet_strbuf_putc(out, '"');
        break;
    }
    facet_strbuf_putc(out, '}');
}

void facet_gfx12_json_tail(const struct facet_gfx12_view *view, struct facet_strbuf *out)
{
    size_t rest = (size_t)(view->size % FACET_GFX12_UNIT_BYTES);

    facet_strbuf_puts(out, "\n],\"tail\":\"");
    put_hex(out, view->bytes + (view->size - rest), rest);
    facet_strbuf_puts(out, "\"}\n");
}

/* ---- listing ---- */

static void list_children(struct facet_strbuf *out,
                          const struct facet_gfx12_child *child,
                          const uint32_t origin[3],
                          const uint8_t exponent[3],
                          const struct facet_gfx12_link *links,
                          unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct facet_gfx12_child *c = &child[links[i].slot];
        uint32_t bits[2][3];
        float f[2][3];

        facet_gfx12_child_bounds(c, origin, exponent, bits[0], bits[1]);
        memcpy(f, bits, sizeof f);
        facet_strbuf_printf(out,
                            "    child %u  %08X  (%.7g, %.7g, %.7g) .. (%.7g, %.7g, %.7g)  flags "
                            "0x%X  mask 0x%02X  size %u\n",
                            links[i].slot,
                            links[i].id,
                            (double)f[0][0],
                            (double)f[0][1],
                            (double)f[0][2],
                            (double)f[1][0],
                            (double)f[1][1],
                            (double)f[1][2],
                            c->cull_flags,
                            c->cull_mask,
                            c->node_size);
    }
}

static void list_instance(struct facet_strbuf *out, const struct facet_gfx12_instance *in)
{
    float m[12];

    memcpy(m, in->world_to_object, sizeof m);
    facet_strbuf_printf(out,
                        "  BLAS 0x%llx  flags 0x%03X  user data 0x%06X  mask 0x%02X  parent %08X\n",
                        (unsigned long long)facet_gfx12_base_address(in->pointer),
                        facet_gfx12_base_flags(in->pointer),
                        in->user_data,
                        in->cull_mask,
                        in->parent);
    for (int r = 0; r < 3; r++) {
        facet_strbuf_printf(out,
                            "    world_to_object  %.9g %.9g %.9g %.9g\n",
                            (double)m[4 * r],
                            (double)m[4 * r + 1],
                            (double)m[4 * r + 2],
                            (double)m[4 * r + 3]);
    }
}

static void list_prim(struct facet_strbuf *out, const uint8_t *bytes)
{
    struct facet_gfx12_prim p;
    unsigned pairs;

    facet_gfx12_prim_decode(bytes, &p);
    pairs = facet_gfx12_prim_pairs(&p.header);
    facet_strbuf_printf(
        out,
        "  %u pair%s, %u vertices of %u+%u+%u bits, %u trailing zeros, %u bits used, "
        "midpoint %u\n",
        pairs,
        pairs == 1 ? "" : "s",
        p.vertex_count,
        p.header.vertex_bits_minus_one[0] + 1u,
        p.header.vertex_bits_minus_one[1] + 1u,
        p.header.vertex_bits_minus_one[2] + 1u,
        p.header.trailing_zero_bits,
        facet_gfx12_prim_bits(&p.header, p.vertex_count),
        p.header.indices_midpoint);
    for (unsigned t = 0; t < 2 * pairs; t++) {
        const struct facet_gfx12_pair_tri *tri = &p.pair[t / 2].tri[t % 2];
        float f[3][3];

        if (t % 2 == 1 && facet_gfx12_tri_absent(tri)) {
            continue;
        }
        facet_strbuf_printf(out,
                            "    pair %u%s  geometry %u  primitive %u%s%s%s",
                            t / 2,
                            t % 2 == 0 ? "a" : "b",
                            facet_gfx12_prim_geometry(&p, t),
                            facet_gfx12_prim_primitive(&p, t),
                            tri->opaque ? "  opaque" : "",
                            tri->double_sided ? "  double-sided" : "",
                            p.pair[t / 2].prim_range_stop ? "  stop" : "");
        if (facet_gfx12_tri_procedural(tri)) {
            memcpy(f, p.aabb, 6 * sizeof f[0][0]);
            facet_strbuf_printf(out,
                                "  box (%.9g, %.9g, %.9g) .. (%.9g, %.9g, %.9g)\n",
                                (double)f[0][0],
                                (double)f[0][1],
                                (double)f[0][2],
                                (double)f[1][0],
                                (double)f[1][1],
                                (double)f[1][2]);
            continue;
        }
        for (int c = 0; c < 3; c++) {
            uint32_t xyz[3];

            facet_gfx12_prim_vertex(&p, tri->index[c], xyz);
            memcpy(f[c], xyz, sizeof xyz);
            facet_strbuf_printf(out,
                                "  v%u (%.9g, %.9g, %.9g)",
                                tri->index[c],
                                (double)f[c][0],
                                (double)f[c][1],
                                (double)f[c][2]);
        }
        facet_strbuf_putc(out, '\n');
    }
}

void facet_gfx12_listing(const struct facet_gfx12_view *view,
                         const struct facet_gfx12_walk *walk,
                         uint32_t node,
                         struct facet_strbuf *out)
{
    const uint8_t *bytes = facet_gfx12_node_bytes(view, node);
    struct facet_gfx12_link links[8];
    unsigned count = facet_gfx12_links(view, walk, node, links);
    struct facet_gfx12_instance instance;
    struct facet_gfx12_box box;
    const uint64_t offset = facet_gfx12_node_offset(node);
    const uint64_t address = facet_gfx12_view_address(view, offset);

    facet_strbuf_printf(out, "0x%08llx  ", (unsigned long long)offset);
    if (address != offset) {
        facet_strbuf_printf(out, "address 0x%llx  ", (unsigned long long)address);
    }
    facet_strbuf_puts(out, facet_gfx12_kind_name(walk->nodes[node].kind));
    if (walk->nodes[node].kind == FACET_GFX12_KIND_NONE) {
        facet_strbuf_puts(out, "  (not reached)\n");
        return;
    }
    facet_strbuf_printf(out, "  %08X\n", facet_gfx12_walk_id(view, walk, node));
    switch (walk->nodes[node].kind) {
    case FACET_GFX12_KIND_BOX:
        facet_gfx12_box_decode(bytes, &box);
        facet_strbuf_printf(out,
                            "  parent %08X  exponents %u %u %u  children %u  matrix %u\n",
                            box.parent,
                            box.exponent[0],
                            box.exponent[1],
                            box.exponent[2],
                            box.child_count_minus_one + 1u,
                            box.obb_matrix_index & 0x7F);
        list_children(out, box.child, box.origin, box.exponent, links, count);
        break;
    case FACET_GFX12_KIND_INSTANCE:
        facet_gfx12_instance_decode(bytes, &instance);
        list_instance(out, &instance);
        list_children(out, instance.child, instance.origin, instance.exponent, links, count);
        break;
    default:
        list_prim(out, bytes);
        break;
    }
}
