/* Codecs of the GFX12 box node, instance node and resource descriptor, node IDs and base pointers:
 * sections 2, 3, 4 and 8 of gfx12-semantics.md. All driven by the field tables of node.h; a
 * codec is one pass over its table, so that decode and encode cannot disagree. */
#include "gfx12/image/node.h"

#include <string.h>

#define WIDTH(name, member, at, width) +(width)
_Static_assert(0 FACET_GFX12_CHILD_FIELDS(WIDTH) == FACET_GFX12_CHILD_BITS, "three dwords");
_Static_assert(0 FACET_GFX12_BOX_FIELDS(WIDTH) == FACET_GFX12_BOX_CHILDREN_BIT, "8 dwords");
_Static_assert(0 FACET_GFX12_INSTANCE_FIELDS(WIDTH) == FACET_GFX12_INSTANCE_CHILDREN_BIT, "20");
_Static_assert(0 FACET_GFX12_RESOURCE_FIELDS(WIDTH) == 128, "four SGPRs");
_Static_assert(FACET_GFX12_BOX_CHILDREN_BIT + 8 * FACET_GFX12_CHILD_BITS == 1024, "128 bytes");
_Static_assert(FACET_GFX12_INSTANCE_CHILDREN_BIT + 4 * FACET_GFX12_CHILD_BITS == 1024, "128 bytes");
#undef WIDTH

/* ---- node IDs and base pointers ---- */

enum facet_gfx12_kind facet_gfx12_id_kind(uint32_t id)
{
    unsigned type;

    if (id >= FACET_GFX12_FIRST_SENTINEL) {
        return FACET_GFX12_KIND_NONE;
    }
    type = id & 0xF;
    if (type == FACET_GFX12_TYPE_BOX) {
        return FACET_GFX12_KIND_BOX;
    }
    if (type == FACET_GFX12_TYPE_INSTANCE) {
        return FACET_GFX12_KIND_INSTANCE;
    }
    return (type & 4) == 0 ? FACET_GFX12_KIND_PRIMITIVE : FACET_GFX12_KIND_NONE;
}

uint64_t facet_gfx12_id_offset(uint32_t id)
{
    return (uint64_t)(id & 0xFFFFFFF0) * 8;
}

unsigned facet_gfx12_id_pair(uint32_t id)
{
    return (id & 3) | (id & 8) >> 1;
}

unsigned facet_gfx12_pair_type(unsigned pair)
{
    return (pair & 3) | (pair & 4) << 1;
}

uint32_t facet_gfx12_id_next_pair(uint32_t id)
{
    return (id & 0xF) == 3 ? id ^ 0xB : id + 1;
}

uint32_t facet_gfx12_id_make(uint64_t byte_offset, unsigned type)
{
    return ((uint32_t)(byte_offset / 8) & 0xFFFFFFF0) | (type & 0xF);
}

uint64_t facet_gfx12_base_make(uint64_t byte_address, unsigned flags)
{
    return (byte_address / 8 & UINT64_C(0x1FFFFFFFFFFF)) | (uint64_t)(flags & 0x3FF) << 54;
}

uint64_t facet_gfx12_base_address(uint64_t base)
{
    return (base & UINT64_C(0x1FFFFFFFFFFF)) * 8;
}

unsigned facet_gfx12_base_flags(uint64_t base)
{
    return (unsigned)(base >> 54);
}

unsigned facet_gfx12_api_flags(unsigned api)
{
    return api & 0x3F3;
}

uint64_t facet_gfx12_base_enter(uint64_t instance_pointer, uint64_t ray_base)
{
    uint64_t ray = ray_base >> 54;
    uint64_t keep = (ray & 3) != 0 ? 0x3FC : 0x3FF; /* the ray's forced opacity wins */
    uint64_t flags = (instance_pointer >> 54 & keep) | ray;
    return (instance_pointer & UINT64_C(0x003FFFFFFFFFFFF8)) | flags << 54;
}

/* ---- tables ---- */

/* Each codec has `words` and `base` in scope; the members are as wide as their fields need. */
#define GET(name, member, at, width) out->member = facet_gfx12_bits_get(words, base + (at), width);
#define SET(name, member, at, width) facet_gfx12_bits_set(words, base + (at), width, in->member);

static void
resource_get(const struct facet_gfx12_words *words, int base, struct facet_gfx12_resource *out)
{
    FACET_GFX12_RESOURCE_FIELDS(GET)
}

static void
resource_set(struct facet_gfx12_words *words, int base, const struct facet_gfx12_resource *in)
{
    FACET_GFX12_RESOURCE_FIELDS(SET)
}

static inline void
child_get(const struct facet_gfx12_words *words, int base, struct facet_gfx12_child *out)
{
    FACET_GFX12_CHILD_FIELDS(GET)
}

static void child_set(struct facet_gfx12_words *words, int base, const struct facet_gfx12_child *in)
{
    FACET_GFX12_CHILD_FIELDS(SET)
}

static void box_get(const struct facet_gfx12_words *words, int base, struct facet_gfx12_box *out)
{
    FACET_GFX12_BOX_FIELDS(GET)
}

static void box_set(struct facet_gfx12_words *words, int base, const struct facet_gfx12_box *in)
{
    FACET_GFX12_BOX_FIELDS(SET)
}

static void
instance_get(const struct facet_gfx12_words *words, int base, struct facet_gfx12_instance *out)
{
    FACET_GFX12_INSTANCE_FIELDS(GET)
}

static void
instance_set(struct facet_gfx12_words *words, int base, const struct facet_gfx12_instance *in)
{
    FACET_GFX12_INSTANCE_FIELDS(SET)
}

void facet_gfx12_resource_unpack(const uint32_t dwords[4], struct facet_gfx12_resource *out)
{
    struct facet_gfx12_words words = {{dwords[0], dwords[1], dwords[2], dwords[3]}};
    resource_get(&words, 0, out);
}

void facet_gfx12_resource_pack(const struct facet_gfx12_resource *in, uint32_t dwords[4])
{
    struct facet_gfx12_words words = {{0}};
    resource_set(&words, 0, in);
    memcpy(dwords, words.w, 4 * sizeof dwords[0]);
}

void facet_gfx12_resource_default(struct facet_gfx12_resource *out)
{
    *out = (struct facet_gfx12_resource){
        .size = (UINT64_C(1) << 42) - 1,
        .sort_triangles_first = 1,
        .box_sort_en = 1,
        .compressed_format_en = 1,
        .wide_sort_en = 1,
        .instance_en = 1,
        .pointer_flags = 1,
        .triangle_return_mode = 1,
        .type = 8,
    };
}

void facet_gfx12_box_decode(const uint8_t node[128], struct facet_gfx12_box *out)
{
    struct facet_gfx12_words words;
    facet_gfx12_words_load(&words, node);
    box_get(&words, 0, out);
    for (int i = 0; i < 8; i++) {
        /* Whole dwords: at the fixed place 0 the fields are one shift and one mask each. */
        const uint32_t *w = &words.w[FACET_GFX12_BOX_CHILDREN_BIT / 32 + 3 * i];
        const struct facet_gfx12_words child = {{w[0], w[1], w[2]}};

        child_get(&child, 0, &out->child[i]);
    }
}

void facet_gfx12_box_encode(const struct facet_gfx12_box *in, uint8_t node[128])
{
    struct facet_gfx12_words words = {{0}};
    box_set(&words, 0, in);
    for (int i = 0; i < 8; i++) {
        child_set(&words, FACET_GFX12_BOX_CHILDREN_BIT + i * FACET_GFX12_CHILD_BITS, &in->child[i]);
    }
    facet_gfx12_words_store(&words, node);
}

void facet_gfx12_instance_decode(const uint8_t node[128], struct facet_gfx12_instance *out)
{
    struct facet_gfx12_words words;
    facet_gfx12_words_load(&words, node);
    instance_get(&words, 0, out);
    for (int i = 0; i < 4; i++) {
        child_get(
            &words, FACET_GFX12_INSTANCE_CHILDREN_BIT + i * FACET_GFX12_CHILD_BITS, &out->child[i]);
    }
}

void facet_gfx12_instance_encode(const struct facet_gfx12_instance *in, uint8_t node[128])
{
    struct facet_gfx12_words words = {{0}};
    instance_set(&words, 0, in);
    for (int i = 0; i < 4; i++) {
        child_set(
            &words, FACET_GFX12_INSTANCE_CHILDREN_BIT + i * FACET_GFX12_CHILD_BITS, &in->child[i]);
    }
    facet_gfx12_words_store(&words, node);
}

/* A slot that no ray can hit: all planes the wrong way round. */
static bool is_inverted(const struct facet_gfx12_child *c)
{
    return c->min[0] == 0xFFF && c->min[1] == 0xFFF && c->min[2] == 0xFFF && c->max[0] == 0 &&
           c->max[1] == 0 && c->max[2] == 0;
}

bool facet_gfx12_instance_numbered(const struct facet_gfx12_instance *node,
                                   uint32_t ray_root,
                                   uint32_t *root)
{
    const struct facet_gfx12_child *child = node->child;
    const uint32_t number = child[0].node_type;
    const bool primitive = child[0].node_size == 1 && is_inverted(&child[0]);

    if ((node->child_count_minus_one & 3u) != 3 || number == 0 ||
        (child[0].node_size != 0 && !primitive)) {
        return false;
    }
    for (unsigned i = 1; i < 4; i++) {
        if (child[i].node_type != number || child[i].node_size != 0) {
            return false;
        }
    }
    /* Four boxes for the box node at the base are written the same way. GPURT has a header there,
     * so its rays do not start there either. */
    if (number == FACET_GFX12_TYPE_BOX && facet_gfx12_id_offset(ray_root) == 0) {
        return false;
    }
    *root = number << 4 | (primitive ? 0 : FACET_GFX12_TYPE_BOX);
    return true;
}

/* ---- children ---- */

void facet_gfx12_child_unused(struct facet_gfx12_child *out)
{
    *out =
        (struct facet_gfx12_child){.min = {0xFFF, 0xFFF, 0xFFF}, .cull_flags = 0xF, .unused = 0xF};
}

void facet_gfx12_child_ids(const struct facet_gfx12_child *child,
                           unsigned count,
                           uint32_t internal_offset,
                           uint32_t primitive_offset,
                           uint32_t *ids)
{
    for (unsigned i = 0; i < count; i++) {
        bool box = child[i].node_type == FACET_GFX12_TYPE_BOX;
        uint32_t *offset = box ? &internal_offset : &primitive_offset;
        ids[i] = *offset | child[i].node_type;
        *offset += (uint32_t)child[i].node_size << 4; /* after the ID: it is the distance to the
                                                         next child of the class */
    }
}
