/* The GFX12 primitive node: section 7 of gfx12-semantics.md. Up to eight triangle pairs with
 * compressed vertices that grow up from bit 52, index payloads around a midpoint and descriptors
 * that grow down from bit 1023.
 *
 * One function walks over all stored fields and hands (position, width, member) to a visitor;
 * reading, writing and finding the free bits are three visitors. That makes decode and encode
 * inverse to each other for every bit pattern, also where a malformed header makes the sections
 * overlap. */
#include "gfx12/image/node.h"

#include "base/float.h"

#include <string.h>

#define WIDTH(name, member, at, width) +(width)
_Static_assert(0 FACET_GFX12_PRIM_HEADER_FIELDS(WIDTH) == FACET_GFX12_PRIM_HEADER_BITS, "header");
_Static_assert(0 FACET_GFX12_PAIR_DESC_FIELDS(WIDTH) == FACET_GFX12_PAIR_DESC_BITS, "descriptor");
#undef WIDTH

#define GET(name, member, at, width) out->member = facet_gfx12_bits_get(words, base + (at), width);
#define SET(name, member, at, width) facet_gfx12_bits_set(words, base + (at), width, in->member);

/* Positions and widths that the header implies. */
struct layout {
    int vertex_at; /* vertex 0 */
    int midpoint;
    unsigned prefix_bits[3];
    unsigned payload_bits[3];
    unsigned vertex_bits; /* of all axes */
    unsigned geometry_base_bits, geometry_bits;
    unsigned primitive_base_bits, primitive_bits;
};

unsigned facet_gfx12_prim_pairs(const struct facet_gfx12_prim_header *header)
{
    return header->triangle_pair_count_minus_one + 1u;
}

unsigned facet_gfx12_prim_prefix_bits(const struct facet_gfx12_prim_header *header, unsigned axis)
{
    int bits = 32 - header->trailing_zero_bits - (header->vertex_bits_minus_one[axis] + 1);
    return bits > 0 ? (unsigned)bits : 0;
}

static struct layout layout_of(const struct facet_gfx12_prim_header *header)
{
    struct layout l = {
        .vertex_at = FACET_GFX12_PRIM_HEADER_BITS,
        .midpoint = header->indices_midpoint,
        .geometry_base_bits = 2u * header->geometry_index_base_bits_div_2,
        .geometry_bits = 2u * header->geometry_index_bits_div_2,
        .primitive_base_bits = header->primitive_index_base_bits,
        .primitive_bits = header->primitive_index_bits,
    };
    for (unsigned k = 0; k < 3; k++) {
        l.prefix_bits[k] = facet_gfx12_prim_prefix_bits(header, k);
        l.payload_bits[k] = header->vertex_bits_minus_one[k] + 1u;
        l.vertex_bits += l.payload_bits[k];
        l.vertex_at += (int)l.prefix_bits[k];
    }
    return l;
}

static int geometry_at(const struct layout *l, unsigned t)
{
    return l->midpoint - (int)(l->geometry_base_bits + t * l->geometry_bits);
}

static int primitive_at(const struct layout *l, unsigned t)
{
    return l->midpoint + (int)(l->primitive_base_bits + (t - 1) * l->primitive_bits);
}

static int desc_at(unsigned pair)
{
    return 1024 - FACET_GFX12_PAIR_DESC_BITS * (int)(pair + 1);
}

static void header_get(const struct facet_gfx12_words *words, struct facet_gfx12_prim_header *out)
{
    const int base = 0;
    FACET_GFX12_PRIM_HEADER_FIELDS(GET)
}

static void header_set(struct facet_gfx12_words *words, const struct facet_gfx12_prim_header *in)
{
    const int base = 0;
    FACET_GFX12_PRIM_HEADER_FIELDS(SET)
}

static void
desc_get(const struct facet_gfx12_words *words, unsigned pair, struct facet_gfx12_pair_desc *out)
{
    const int base = desc_at(pair);
    FACET_GFX12_PAIR_DESC_FIELDS(GET)
}

static void
desc_set(struct facet_gfx12_words *words, unsigned pair, const struct facet_gfx12_pair_desc *in)
{
    const int base = desc_at(pair);
    FACET_GFX12_PAIR_DESC_FIELDS(SET)
}

bool facet_gfx12_tri_absent(const struct facet_gfx12_pair_tri *tri)
{
    return (tri->index[0] | tri->index[1] | tri->index[2]) == 0;
}

bool facet_gfx12_tri_procedural(const struct facet_gfx12_pair_tri *tri)
{
    return tri->index[0] == 15 && tri->index[1] == 15;
}

/* Where GPURT's builder puts an AABB: behind a vertex 0 that is the origin. */
#define GPURT_AABB_BIT 160

static bool is_box(const struct facet_gfx12_words *words, int at)
{
    bool real = true;
    for (int k = 0; k < 3; k++) {
        real =
            real && facet_float_of((uint32_t)facet_gfx12_bits_get(words, at + 32 * k, 32)) <=
                        facet_float_of((uint32_t)facet_gfx12_bits_get(words, at + 96 + 32 * k, 32));
    }
    return real;
}

/* R-G12-21. All others leave index 2 at 0; GPURT's own updates write to bit 52, as they do. */
static int aabb_at(const struct facet_gfx12_words *words, const struct facet_gfx12_pair_tri *tri)
{
    const bool behind = tri->index[2] == 15 &&
                        facet_gfx12_bits_get(words, FACET_GFX12_AABB_BIT, 64) == 0 &&
                        facet_gfx12_bits_get(words, FACET_GFX12_AABB_BIT + 64, 44) == 0 &&
                        is_box(words, GPURT_AABB_BIT);
    return behind ? GPURT_AABB_BIT : FACET_GFX12_AABB_BIT;
}

int facet_gfx12_aabb_bit(const uint8_t node[128])
{
    struct facet_gfx12_words words;
    struct facet_gfx12_pair_desc desc;
    facet_gfx12_words_load(&words, node);
    desc_get(&words, 0, &desc);
    return aabb_at(&words, &desc.tri[0]);
}

bool facet_gfx12_prim_has_aabb(const struct facet_gfx12_prim *prim)
{
    const struct facet_gfx12_pair_tri *tri = &prim->pair[0].tri[0];
    return facet_gfx12_tri_procedural(tri) && tri->index[2] != 15;
}

/* 1 + the highest vertex number that a stored triangle names. */
static uint8_t count_vertices(const struct facet_gfx12_prim *prim)
{
    uint8_t count = 0;
    for (unsigned t = 0; t < 2 * facet_gfx12_prim_pairs(&prim->header); t++) {
        const struct facet_gfx12_pair_tri *tri = &prim->pair[t / 2].tri[t % 2];
        bool absent = t % 2 == 1 && facet_gfx12_tri_absent(tri);
        for (unsigned i = 0; i < 3 && !absent && !facet_gfx12_tri_procedural(tri); i++) {
            count = tri->index[i] >= count ? (uint8_t)(tri->index[i] + 1) : count;
        }
    }
    return count;
}

/* Which of the fields take part in a walk: all that can be named, or those that are stored. */
struct extent {
    unsigned vertices;
    unsigned pairs;
    bool aabb;
};

typedef void visit_fn(struct facet_gfx12_words *words, int at, unsigned width, uint32_t *field);

static void visit_get(struct facet_gfx12_words *words, int at, unsigned width, uint32_t *field)
{
    *field = (uint32_t)facet_gfx12_bits_get(words, at, width);
}

static void visit_set(struct facet_gfx12_words *words, int at, unsigned width, uint32_t *field)
{
    facet_gfx12_bits_set(words, at, width, *field);
}

static void visit_clear(struct facet_gfx12_words *words, int at, unsigned width, uint32_t *field)
{
    (void)field;
    facet_gfx12_bits_set(words, at, width, 0);
}

/* Visits everything but header and descriptors, which have tables of their own. The order matters
 * only for writing a node whose fields overlap: payload slots of an absent triangle may lie under
 * descriptors, and the AABB lies over the vertex data of a procedural node. */
static void walk(struct facet_gfx12_words *words,
                 struct facet_gfx12_prim *prim,
                 struct extent extent,
                 visit_fn *visit)
{
    const struct layout l = layout_of(&prim->header);
    int at = FACET_GFX12_PRIM_HEADER_BITS;
    for (unsigned k = 0; k < 3; k++) {
        visit(words, at, l.prefix_bits[k], &prim->prefix[k]);
        at += (int)l.prefix_bits[k];
    }
    for (unsigned v = 0; v < extent.vertices; v++) {
        for (unsigned k = 0; k < 3; k++) {
            visit(words, at, l.payload_bits[k], &prim->payload[v][k]);
            at += (int)l.payload_bits[k];
        }
    }
    visit(words, geometry_at(&l, 0), l.geometry_base_bits, &prim->geometry_base);
    visit(words, l.midpoint, l.primitive_base_bits, &prim->primitive_base);
    for (unsigned t = 1; t < 2 * extent.pairs; t++) {
        visit(words, geometry_at(&l, t), l.geometry_bits, &prim->geometry_payload[t]);
        visit(words, primitive_at(&l, t), l.primitive_bits, &prim->primitive_payload[t]);
    }
    for (int i = 0; i < 6 && extent.aabb; i++) {
        visit(words, FACET_GFX12_AABB_BIT + 32 * i, 32, &prim->aabb[i]);
    }
}

static void get_aabb(const struct facet_gfx12_words *words, struct facet_gfx12_prim *out)
{
    const int at = aabb_at(words, &out->pair[0].tri[0]);
    for (int i = 0; i < 6; i++) {
        out->aabb[i] = (uint32_t)facet_gfx12_bits_get(words, at + 32 * i, 32);
    }
}

static struct extent stored_extent(const struct facet_gfx12_prim *prim)
{
    return (struct extent){
        .vertices = prim->vertex_count < 16 ? prim->vertex_count : 16,
        .pairs = facet_gfx12_prim_pairs(&prim->header),
        .aabb = facet_gfx12_prim_has_aabb(prim),
    };
}

static void get_outline(const struct facet_gfx12_words *words, struct facet_gfx12_prim *out)
{
    memset(out, 0, sizeof *out);
    header_get(words, &out->header);
    for (unsigned p = 0; p < 8; p++) {
        desc_get(words, p, &out->pair[p]);
    }
    out->vertex_count = count_vertices(out);
}

void facet_gfx12_prim_outline(const uint8_t node[128], struct facet_gfx12_prim *out)
{
    struct facet_gfx12_words words;
    facet_gfx12_words_load(&words, node);
    get_outline(&words, out);
}

void facet_gfx12_prim_decode(const uint8_t node[128], struct facet_gfx12_prim *out)
{
    struct facet_gfx12_words words;
    facet_gfx12_words_load(&words, node);
    get_outline(&words, out);
    walk(&words, out, (struct extent){.vertices = 16, .pairs = 8}, visit_get);
    get_aabb(&words, out);

    walk(&words, out, stored_extent(out), visit_clear);
    facet_gfx12_bits_set(&words, 0, FACET_GFX12_PRIM_HEADER_BITS, 0);
    for (unsigned p = 0; p < facet_gfx12_prim_pairs(&out->header); p++) {
        facet_gfx12_bits_set(&words, desc_at(p), FACET_GFX12_PAIR_DESC_BITS, 0);
    }
    memcpy(out->free_bits, words.w, sizeof out->free_bits);
}

void facet_gfx12_prim_encode(const struct facet_gfx12_prim *in, uint8_t node[128])
{
    struct facet_gfx12_words words;
    struct facet_gfx12_prim prim = *in;
    memcpy(words.w, in->free_bits, sizeof words.w);
    walk(&words, &prim, stored_extent(in), visit_set);
    for (unsigned p = 0; p < facet_gfx12_prim_pairs(&in->header); p++) {
        desc_set(&words, p, &in->pair[p]);
    }
    header_set(&words, &in->header);
    facet_gfx12_words_store(&words, node);
}

static uint32_t component(const struct facet_gfx12_prim_header *header,
                          unsigned prefix_bits,
                          uint32_t prefix,
                          uint32_t payload)
{
    uint32_t high = prefix_bits == 0 ? 0 : prefix << (32 - prefix_bits); /* R-G12-18 */
    return high | payload << header->trailing_zero_bits;
}

void facet_gfx12_prim_vertex(const struct facet_gfx12_prim *prim, unsigned vertex, uint32_t xyz[3])
{
    for (unsigned k = 0; k < 3; k++) {
        xyz[k] = component(&prim->header,
                           facet_gfx12_prim_prefix_bits(&prim->header, k),
                           prim->prefix[k],
                           prim->payload[vertex & 15][k]);
    }
}

/* 7.3: a narrower payload replaces the low bits of the base. */
static uint32_t
join_index(uint32_t base, uint32_t payload, unsigned base_bits, unsigned payload_bits)
{
    return payload_bits >= base_bits ? payload : payload | (base & ~((1u << payload_bits) - 1));
}

uint32_t facet_gfx12_prim_geometry(const struct facet_gfx12_prim *prim, unsigned t)
{
    return t == 0 ? prim->geometry_base
                  : join_index(prim->geometry_base,
                               prim->geometry_payload[t & 15],
                               2u * prim->header.geometry_index_base_bits_div_2,
                               2u * prim->header.geometry_index_bits_div_2);
}

uint32_t facet_gfx12_prim_primitive(const struct facet_gfx12_prim *prim, unsigned t)
{
    return t == 0 ? prim->primitive_base
                  : join_index(prim->primitive_base,
                               prim->primitive_payload[t & 15],
                               prim->header.primitive_index_base_bits,
                               prim->header.primitive_index_bits);
}

unsigned facet_gfx12_prim_bits(const struct facet_gfx12_prim_header *header, unsigned vertex_count)
{
    const struct layout l = layout_of(header);
    unsigned pairs = facet_gfx12_prim_pairs(header);
    return (unsigned)l.vertex_at + FACET_GFX12_PAIR_DESC_BITS * pairs +
           (2 * pairs - 1) * (l.geometry_bits + l.primitive_bits) + l.geometry_base_bits +
           l.primitive_base_bits + vertex_count * l.vertex_bits;
}

/* What the instruction reads of a node, without unpacking the rest. */
void facet_gfx12_pair_decode(const uint8_t node[128], unsigned pair, struct facet_gfx12_pair *out)
{
    struct facet_gfx12_words words;
    struct facet_gfx12_prim_header header;
    uint32_t prefix[3];
    bool last;
    uint32_t geometry, primitive;
    struct layout l;
    int at = FACET_GFX12_PRIM_HEADER_BITS;

    pair &= 7;
    memset(out, 0, sizeof *out);
    facet_gfx12_words_load(&words, node);
    header_get(&words, &header);
    l = layout_of(&header);
    for (unsigned k = 0; k < 3; k++) {
        prefix[k] = (uint32_t)facet_gfx12_bits_get(&words, at, l.prefix_bits[k]);
        at += (int)l.prefix_bits[k];
    }
    geometry = (uint32_t)facet_gfx12_bits_get(&words, geometry_at(&l, 0), l.geometry_base_bits);
    primitive = (uint32_t)facet_gfx12_bits_get(&words, l.midpoint, l.primitive_base_bits);

    desc_get(&words, pair, &out->desc);
    for (unsigned k = 0; k < 2; k++) {
        unsigned t = 2 * pair + k;
        for (unsigned c = 0; c < 3; c++) {
            at = l.vertex_at + (int)(out->desc.tri[k].index[c] * l.vertex_bits);
            for (unsigned axis = 0; axis < 3; axis++) {
                uint32_t payload = (uint32_t)facet_gfx12_bits_get(&words, at, l.payload_bits[axis]);
                at += (int)l.payload_bits[axis];
                out->vertex[k][c][axis] =
                    component(&header, l.prefix_bits[axis], prefix[axis], payload);
            }
        }
        if (t == 0) {
            out->geometry_index[0] = geometry;
            out->primitive_index[0] = primitive;
            continue;
        }
        out->geometry_index[k] =
            join_index(geometry,
                       (uint32_t)facet_gfx12_bits_get(&words, geometry_at(&l, t), l.geometry_bits),
                       l.geometry_base_bits,
                       l.geometry_bits);
        out->primitive_index[k] = join_index(
            primitive,
            (uint32_t)facet_gfx12_bits_get(&words, primitive_at(&l, t), l.primitive_bits),
            l.primitive_base_bits,
            l.primitive_bits);
    }
    last = pair + 1 == facet_gfx12_prim_pairs(&header);
    out->navigation = out->desc.prim_range_stop != 0 ? 3 : last ? 1 : 0;
}
