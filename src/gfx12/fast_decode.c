/* From an image to decoded nodes: see fast.h.
 *
 * The nodes are found by following children from the root. A node is known by its address, the
 * address of the base it was reached with (its children are relative to it) and its kind, so any
 * image can be decoded, shared and cyclic ones included; links are filled in at the end. What does
 * not fit the records (ranges without an end, primitives directly below an instance, instances
 * below instances) sets `odd`, and the tracer stays with the reference loop. */
#include "gfx12/fast.h"

#include "base/array.h"
#include "base/float.h"
#include "base/hash.h"
#include "base/large.h"
#include "gfx12/image/node.h"
#include "num/f32.h"

#include <stdlib.h>

#define NO_NODE UINT32_MAX
#define MOST_UNITS (UINT64_C(1) << 29) /* that a link can name */
#define MOST_GROUP_BYTES (FAST_MAX_NODE_PAIRS * sizeof(struct fast_group)) /* of a box */

struct found {
    uint64_t address, base;
    uint32_t kind;
    uint32_t id;   /* relative to base */
    uint32_t unit; /* of its record */
    bool special;  /* a box with FAST_SPECIAL */
    bool only;     /* a box with one child, which is not a range */
};

struct decoder {
    const struct facet_gfx12_unit *unit;
    uint64_t top; /* base of the structure that rays start in */
    uint32_t root;
    uint64_t max_units;
    struct found *nodes;
    uint32_t count;
    size_t capacity;
    uint32_t *table; /* open addressing: numbers of nodes */
    uint32_t table_size;
    uint32_t *pending; /* nodes to decode, last first: a subtree stays together */
    uint32_t pending_count;
    size_t pending_capacity;
    uint8_t *arena;
    uint64_t room; /* its bytes, reserved */
    uint64_t units;
    uint64_t wish;     /* bytes of all this; 0: as many as there are */
    bool frugal;       /* boxes first, then as many groups as the wish allows */
    bool over_wish;    /* it would not have been enough: to be done again, frugally */
    uint16_t promises; /* of all boxes */
    bool odd;
    bool broken; /* something that a ray may meet cannot be fetched */
    bool failed; /* memory */
};

static uint64_t hash_of(const struct found *n)
{
    return facet_hash_mix(n->address * 8 + n->kind) ^ facet_hash_mix(n->base + 1);
}

static bool same(const struct found *a, const struct found *b)
{
    return a->address == b->address && a->base == b->base && a->kind == b->kind;
}

static void insert(struct decoder *d, uint32_t number)
{
    uint32_t i = (uint32_t)hash_of(&d->nodes[number]) & (d->table_size - 1);

    while (d->table[i] != NO_NODE) {
        i = (i + 1) & (d->table_size - 1);
    }
    d->table[i] = number;
}

static bool grow_table(struct decoder *d)
{
    uint32_t size = d->table_size != 0 ? d->table_size * 2 : 1024;
    uint32_t *table = malloc(size * sizeof table[0]);

    if (table == NULL) {
        return false;
    }
    free(d->table);
    d->table = table;
    d->table_size = size;
    memset(table, 0xFF, size * sizeof table[0]);
    for (uint32_t i = 0; i < d->count; i++) {
        insert(d, i);
    }
    return true;
}

/* The number of a box or instance node; new ones are put on the list. */
static uint32_t find(struct decoder *d, const struct found *node)
{
    uint32_t i;

    if (2 * (uint64_t)d->count >= d->table_size &&
        (d->table_size > UINT32_MAX / 4 || !grow_table(d))) {
        d->failed = true;
        return 0;
    }
    for (i = (uint32_t)hash_of(node) & (d->table_size - 1); d->table[i] != NO_NODE;
         i = (i + 1) & (d->table_size - 1)) {
        if (same(&d->nodes[d->table[i]], node)) {
            return d->table[i];
        }
    }
    if (d->count == UINT32_MAX - 1 ||
        !facet_array_fit(&d->nodes, &d->capacity, (size_t)d->count + 1, sizeof d->nodes[0]) ||
        !facet_array_fit(&d->pending,
                         &d->pending_capacity,
                         (size_t)d->pending_count + 1,
                         sizeof d->pending[0])) {
        d->failed = true;
        return 0;
    }
    d->nodes[d->count] = *node;
    d->table[i] = d->count;
    d->pending[d->pending_count++] = d->count;
    return d->count++;
}

/* Address space for the decoded nodes, which are seldom more than four times the image. */
static bool grow_arena(struct decoder *d, uint64_t need)
{
    const uint64_t guess = 6 * d->unit->image_size + FACET_LARGE_PAGE;
    const uint64_t room = need > guess ? 2 * need : guess;
    uint8_t *arena =
        d->unit->image_size >= FACET_LARGE_PAGE ? facet_reserve_large(room) : facet_reserve(room);

    if (arena == NULL) {
        return false;
    }
    if (d->arena != NULL) {
        memcpy(arena, d->arena, (size_t)(d->units * FAST_UNIT));
        facet_unreserve(d->arena, d->room);
    }
    d->arena = arena;
    d->room = room;
    return true;
}

/* Bytes so far. */
static uint64_t used(const struct decoder *d)
{
    return d->units * FAST_UNIT + d->count * (sizeof *d->nodes + 3 * sizeof *d->table);
}

/* Consecutive units, zeroed; 0 (which is never handed out) when there is no room. */
static uint64_t allocate(struct decoder *d, uint64_t units)
{
    uint64_t first = d->units;

    if (first + units > d->max_units) {
        d->odd = true;
        return 0;
    }
    if (d->wish != 0 && !d->frugal && used(d) + units * FAST_UNIT > d->wish) {
        d->over_wish = true;
        return 0;
    }
    if ((first + units) * FAST_UNIT > d->room && !grow_arena(d, (first + units) * FAST_UNIT)) {
        d->failed = true;
        return 0;
    }
    d->units += units;
    return first;
}

/* Records are written through local copies: the arena may move. */
static void put(struct decoder *d, uint64_t unit, const void *record, size_t size)
{
    memcpy(d->arena + unit * FAST_UNIT, record, size);
}

static const uint8_t *fetch(const struct decoder *d, uint64_t base, uint32_t id)
{
    if (facet_gfx12_id_kind(id) == FACET_GFX12_KIND_NONE ||
        (facet_gfx12_id_kind(id) == FACET_GFX12_KIND_INSTANCE &&
         d->unit->resource.instance_en == 0)) {
        return NULL;
    }
    return facet_gfx12_unit_fetch(d->unit, base, facet_gfx12_id_offset(id), FACET_GFX12_NODE_BYTES);
}

/* A link to a box, an instance or nothing; until the end it holds the node's number. */
static uint32_t link_to(struct decoder *d, uint64_t base, uint32_t id)
{
    const uint8_t *bytes = fetch(d, base, id);
    struct found node = {
        .base = facet_gfx12_base_address(base), .id = id, .unit = 0, .kind = FAST_BOX};
    uint32_t number;

    if (bytes == NULL) { /* the statistics of the reference loop go by the type of the ID */
        d->broken = true;
        return fast_link(FAST_NONE, facet_gfx12_id_kind(id) == FACET_GFX12_KIND_BOX);
    }
    node.address = (uint64_t)(bytes - d->unit->image);
    if (facet_gfx12_id_kind(id) == FACET_GFX12_KIND_INSTANCE) {
        node.kind = FAST_INSTANCE;
    }
    number = find(d, &node);
    if (number >= UINT32_C(1) << 29) {
        d->odd = true;
        return fast_link(FAST_NONE, 0);
    }
    return fast_link((enum fast_kind)node.kind, number);
}

/* ---- primitives ---- */

/* A pair of a range before it has a place in a group. */
struct decoded_pair {
    struct facet_gfx12_pair pair;
    uint32_t id;
    bool last, tail;
};

static bool is_procedural(const struct decoded_pair *pair)
{
    return facet_gfx12_tri_procedural(&pair->pair.desc.tri[0]) ||
           facet_gfx12_tri_procedural(&pair->pair.desc.tri[1]);
}

static void fill_pair(struct fast_group *out, unsigned p, const struct decoded_pair *in)
{
    out->id[p] = in->id;
    out->last |= (uint8_t)(in->last << p);
    out->tail |= (uint8_t)(in->tail << p);
    for (unsigned k = 0; k < 2; k++) {
        const struct facet_gfx12_pair_tri *tri = &in->pair.desc.tri[k];
        const unsigned lane = 2 * p + k;

        for (unsigned a = 0; a < 3; a++) {
            float v0 = facet_float_of(in->pair.vertex[k][0][a]);

            out->v0[a][lane] = v0;
            out->e1[a][lane] = facet_float_of(in->pair.vertex[k][1][a]) - v0;
            out->e2[a][lane] = facet_float_of(in->pair.vertex[k][2][a]) - v0;
        }
        /* As (x << 1) >> 1 leaves it. */
        out->primitive[lane] = in->pair.primitive_index[k] & 0x7FFFFFFF;
        out->geometry[lane] = in->pair.geometry_index[k] & 0x3FFFFFFF;
        out->opaque |= (uint8_t)((tri->opaque != 0) << lane);
        out->double_sided |= (uint8_t)((tri->double_sided != 0) << lane);
        out->present |= (uint8_t)(!facet_gfx12_tri_absent(tri) << lane);
    }
}

/* The pairs of a range from `id` on (11.2); returns how many, 0 for a range that does not fit. */
static unsigned decode_range(
    const struct decoder *d, uint64_t base, uint32_t id, struct decoded_pair *out, unsigned room)
{
    const uint8_t *bytes = fetch(d, base, id);
    unsigned count = 0;

    while (count < room) {
        struct decoded_pair *pair = &out[count++];

        *pair = (struct decoded_pair){.id = id};
        facet_gfx12_pair_decode(bytes, facet_gfx12_id_pair(id), &pair->pair);
        if (pair->pair.navigation == 3) {
            pair->last = true;
            return count;
        }
        id = pair->pair.navigation == 0 ? facet_gfx12_id_next_pair(id)
                                        : (id & ~UINT32_C(0xF)) + 0x10;
        bytes = fetch(d, base, id);
        if (bytes == NULL) {
            pair->last = true;
            pair->tail = id != FACET_GFX12_INVALID;
            return count;
        }
        if (facet_gfx12_id_kind(id) != FACET_GFX12_KIND_PRIMITIVE) {
            return 0;
        }
    }
    return 0;
}

/* ---- boxes ---- */

static bool is_tiny(float plane)
{
    return plane != 0 && plane > -FAST_TINY && plane < FAST_TINY;
}

/* Planes, IDs and culling of `count` children. Links are left to the caller. */
static void fill_children(struct fast_box *box,
                          const struct facet_gfx12_child *child,
                          unsigned count,
                          const uint32_t origin[3],
                          const uint8_t exponent[3],
                          bool masks)
{
    for (unsigned i = 0; i < 8; i++) {
        uint32_t lo[3], hi[3];

        for (unsigned k = 0; k < 3; k++) {
            box->plane[k][0][i] = facet_float_of(F32_INF);
            box->plane[k][1][i] = -facet_float_of(F32_INF);
        }
        if (i >= count || box->id[i] == FACET_GFX12_INVALID) {
            box->id[i] = FACET_GFX12_INVALID;
            continue;
        }
        box->used |= (uint8_t)(1u << i);
        if (i > 0 && box->id[i] == box->id[i - 1]) {
            box->repeats |= (uint8_t)(1u << i);
        }
        box->cull_mask[i] = child[i].cull_mask;
        box->cull_flags[i] = child[i].cull_flags;
        if (masks && child[i].cull_mask != 0xFF) {
            box->attention |= FAST_SPECIAL;
        }
        box->promises |= (uint16_t)(1u << (child[i].cull_flags & 15));
        facet_gfx12_child_bounds(&child[i], origin, exponent, lo, hi);
        for (unsigned k = 0; k < 3; k++) {
            box->plane[k][0][i] = facet_float_of(lo[k]);
            box->plane[k][1][i] = facet_float_of(hi[k]);
            box->nan |= f32_is_nan(facet_float_of(lo[k])) || f32_is_nan(facet_float_of(hi[k]));
            if (is_tiny(facet_float_of(lo[k])) || is_tiny(facet_float_of(hi[k]))) {
                box->attention |= FAST_SPECIAL;
            }
        }
    }
    if (box->used != 0 && (box->used & (box->used - 1)) == 0) {
        box->only = (uint8_t)(1 + __builtin_ctz(box->used));
    }
    box->attention |= box->promises | FAST_ALWAYS;
    if (box->nan != 0 || box->repeats != 0) {
        box->attention |= FAST_SPECIAL;
    }
}

/* The ranges of a box, slot by slot; false when one does not fit. Without `groups` the image keeps
 * them. */
static bool decode_ranges(struct decoder *d, uint64_t base, bool groups, struct fast_box *box)
{
    struct decoded_pair pairs[FAST_MAX_NODE_PAIRS];
    uint64_t group_units = sizeof(struct fast_group) / FAST_UNIT;
    unsigned count = 0;

    for (unsigned i = 0; i < 8; i++) {
        unsigned here;

        if ((box->ranges >> i & 1) == 0) {
            continue;
        }
        here = decode_range(d, base, box->id[i], pairs + count, FAST_MAX_NODE_PAIRS - count);
        if (here == 0 || here > FAST_MAX_RANGE) {
            return false;
        }
        box->link[i] = count;
        box->pairs[i] = (uint8_t)here;
        box->uneven |= here > 1;
        if (count + here > FAST_MAX_BOX_PAIRS) {
            box->dull |= (uint8_t)(1u << i);
        }
        for (; here > 0; here--, count++) {
            d->broken = d->broken || pairs[count].tail;
            if (is_procedural(&pairs[count]) || pairs[count].tail) {
                box->dull |= (uint8_t)(1u << i);
            }
        }
    }
    if (!groups) {
        box->dull = box->ranges;
    } else if (count > 0) {
        box->groups =
            (uint32_t)allocate(d, (count + FAST_GROUP_PAIRS - 1) / FAST_GROUP_PAIRS * group_units);
    }
    for (unsigned first = 0; first < count && box->groups != 0; first += FAST_GROUP_PAIRS) {
        struct fast_group group;

        memset(&group, 0, sizeof group);
        for (unsigned p = 0; p < FAST_GROUP_PAIRS && first + p < count; p++) {
            fill_pair(&group, p, &pairs[first + p]);
        }
        put(d, box->groups + first / FAST_GROUP_PAIRS * group_units, &group, sizeof group);
    }
    return true;
}

static void decode_box(struct decoder *d, uint32_t number)
{
    const struct found node = d->nodes[number];
    uint64_t base = node.base >> 3;
    uint64_t unit = allocate(d, sizeof(struct fast_box) / FAST_UNIT);
    struct facet_gfx12_box in;
    struct fast_box box;
    unsigned count;

    if (unit == 0) {
        return;
    }
    memset(&box, 0, sizeof box);
    facet_gfx12_box_decode(d->unit->image + node.address, &in);
    count = (in.child_count_minus_one & 7u) + 1;
    facet_gfx12_child_ids(
        in.child, count, in.internal_child_offset, in.primitive_child_offset, box.id);
    fill_children(&box, in.child, count, in.origin, in.exponent, true);
    box.obb = (in.obb_matrix_index & 0x7F) < FACET_GFX12_OBB_COUNT
                  ? (uint8_t)(in.obb_matrix_index & 0x7F)
                  : FACET_GFX12_OBB_NONE;
    if (box.obb != FACET_GFX12_OBB_NONE) {
        box.attention |= FAST_SPECIAL;
    }
    for (unsigned i = 0; i < count; i++) {
        if ((box.used >> i & 1) == 0 || box.cull_mask[i] == 0) { /* always culled */
            box.link[i] = fast_link(FAST_NONE, 0);
        } else if (facet_gfx12_id_kind(box.id[i]) != FACET_GFX12_KIND_PRIMITIVE) {
            box.link[i] = link_to(d, base, box.id[i]);
        } else if (fetch(d, base, box.id[i]) != NULL) {
            box.ranges |= (uint8_t)(1u << i);
        } else {
            d->odd = true; /* sorted like a primitive, but none */
        }
    }
    if (d->odd || !decode_ranges(d, base, !d->frugal, &box)) {
        d->odd = true;
        return;
    }
    d->nodes[number].unit = (uint32_t)unit;
    d->nodes[number].special = (box.attention & FAST_SPECIAL) != 0;
    d->nodes[number].only = box.only != 0 && box.ranges == 0;
    d->promises |= box.promises;
    put(d, unit, &box, sizeof box);
}

static void decode_instance(struct decoder *d, uint32_t number)
{
    const struct found node = d->nodes[number];
    struct facet_gfx12_instance in;
    struct fast_instance out;
    uint64_t unit = allocate(d, sizeof out / FAST_UNIT);
    unsigned count;
    uint32_t root;

    if (unit == 0) {
        return;
    }
    memset(&out, 0, sizeof out);
    facet_gfx12_instance_decode(d->unit->image + node.address, &in);
    if (node.base != d->top || facet_gfx12_base_address(in.pointer) == d->top) {
        d->odd = true; /* below another instance: the way back is not one to the TLAS */
        return;
    }
    out.numbered = facet_gfx12_instance_numbered(&in, d->root, &root);
    count = (in.child_count_minus_one & 3u) + 1;
    facet_gfx12_child_ids(in.child, count, 0, 0, out.box.id);
    fill_children(&out.box, in.child, count, in.origin, in.exponent, false); /* R-G12-33 */
    out.box.obb = FACET_GFX12_OBB_NONE;
    for (unsigned i = 0; i < count; i++) {
        uint32_t id = out.numbered ? root : out.box.id[i] & 0xFF;

        if ((out.box.used >> i & 1) == 0) {
            continue;
        }
        if (id == 0xFF || facet_gfx12_id_kind(id) == FACET_GFX12_KIND_PRIMITIVE ||
            (!out.numbered && facet_gfx12_id_kind(out.box.id[i]) == FACET_GFX12_KIND_PRIMITIVE)) {
            d->odd = true;
            return;
        }
        out.box.link[i] = link_to(d, facet_gfx12_base_enter(in.pointer, 0), id);
    }
    out.identity = true;
    for (unsigned c = 0; c < 4; c++) {
        for (unsigned r = 0; r < 3; r++) {
            out.column[c][r] = facet_float_of(in.world_to_object[4 * r + c]);
            out.identity = out.identity && out.column[c][r] == (r == c ? 1.0f : 0.0f);
        }
    }
    out.pointer = in.pointer;
    out.id = node.id;
    out.user_data = in.user_data;
    out.cull_mask = in.cull_mask;
    out.skipped_by =
        (in.pointer >> 62 & 1) != 0 ? FACET_GFX12_SKIP_PROCEDURAL : FACET_GFX12_SKIP_TRIANGLES;
    d->nodes[number].unit = (uint32_t)unit;
    put(d, unit, &out, sizeof out);
}

/* ---- the whole image ---- */

static uint32_t resolve(const struct decoder *d, uint32_t link)
{
    enum fast_kind kind = fast_kind_of(link);
    const struct found *node;

    if (kind == FAST_NONE) {
        return link;
    }
    node = &d->nodes[link >> 3];
    return fast_link(node->special ? FAST_ODD_BOX : node->only ? FAST_ONLY_BOX : kind, node->unit);
}

/* Notes for which octants the planes of `child` that face a ray lie inside slot i of a box that
 * names it: lo where the ray goes up the axis, hi where it goes down. See fast_loop.inc. */
static void check_inside(const struct fast_box *box, unsigned i, struct fast_box *child)
{
    bool below[3] = {true, true, true}, above[3] = {true, true, true};

    if (box->obb != FACET_GFX12_OBB_NONE || child->obb != FACET_GFX12_OBB_NONE) {
        child->inside = 0;
        return;
    }
    for (unsigned c = 0; c < 8; c++) {
        for (unsigned k = 0; k < 3 && (child->used >> c & 1) != 0; k++) {
            below[k] = below[k] && child->plane[k][0][c] >= box->plane[k][0][i];
            above[k] = above[k] && child->plane[k][1][c] <= box->plane[k][1][i];
        }
    }
    for (unsigned octant = 0; octant < 8; octant++) {
        for (unsigned k = 0; k < 3; k++) {
            if (!((octant >> k & 1) != 0 ? above[k] : below[k])) {
                child->inside &= (uint8_t) ~(1u << octant);
            }
        }
    }
}

/* Many images are one mesh that stands where it was modelled: a root with one child, an instance
 * that changes nothing and has one child, a plain box. Rays may start at that box when they hit the
 * two boxes on the way, which are tested side by side. Returns the link of the instance, 0 when the
 * image is another. */
static uint32_t
find_door(const struct decoder *d, const uint8_t *arena, uint32_t root, struct fast_box *both)
{
    const struct fast_box *top = (const struct fast_box *)(arena + (size_t)(root >> 3) * FAST_UNIT);
    const struct fast_instance *instance;
    unsigned instances = 0;
    uint32_t link;

    for (uint32_t n = 0; n < d->count; n++) {
        const struct fast_box *box =
            (const struct fast_box *)(arena + (size_t)d->nodes[n].unit * FAST_UNIT);

        for (unsigned i = 0; i < 8; i++) {
            instances += ((box->used & ~box->ranges) >> i & 1) != 0 &&
                         fast_kind_of(box->link[i]) == FAST_INSTANCE;
        }
    }
    if (instances != 1 || fast_kind_of(root) != FAST_ONLY_BOX ||
        fast_kind_of(link = top->link[top->only - 1]) != FAST_INSTANCE) {
        return 0;
    }
    instance = (const struct fast_instance *)(arena + (size_t)(link >> 3) * FAST_UNIT);
    if (!instance->identity || instance->box.only == 0 ||
        (instance->box.attention & FAST_SPECIAL) != 0 ||
        !fast_is_plain(instance->box.link[instance->box.only - 1])) {
        return 0;
    }
    for (unsigned i = 0; i < 48; i++) { /* all slots have one of the two */
        const unsigned k = i / 16, side = i / 8 % 2;

        both->plane[k][side][i % 8] = i % 2 == 0
                                          ? top->plane[k][side][top->only - 1]
                                          : instance->box.plane[k][side][instance->box.only - 1];
    }
    return link;
}

/* Links to boxes that `inside` does not hold for in every octant. */
static void mark_loose(const uint8_t *arena, struct fast_box *box)
{
    for (unsigned i = 0; i < 8; i++) {
        const struct fast_box *child =
            (const struct fast_box *)(arena + (size_t)(box->link[i] >> 3) * FAST_UNIT);

        if (((box->used & ~box->ranges) >> i & 1) != 0 && fast_kind_of(box->link[i]) == FAST_BOX &&
            child->inside != 0xFF) {
            box->link[i] = fast_link(FAST_LOOSE_BOX, box->link[i] >> 3);
        }
    }
}

/* Groups for boxes that have none, in the order in which they were found, while there is room. */
static void add_groups(struct decoder *d)
{
    for (uint32_t n = 0; n < d->count && !d->failed; n++) {
        const struct found *node = &d->nodes[n];
        struct fast_box box;

        memcpy(&box, d->arena + (size_t)node->unit * FAST_UNIT, sizeof box);
        if (node->kind != FAST_BOX || box.ranges == 0) {
            continue;
        }
        if (used(d) + MOST_GROUP_BYTES > d->wish) {
            break;
        }
        box.dull = 0;
        (void)decode_ranges(d, node->base >> 3, true, &box); /* it went well before */
        put(d, node->unit, &box, sizeof box);
    }
}

/* The records get real links. */
static void finish(struct decoder *d, struct facet_gfx12_tracer *tracer)
{
    uint8_t *arena = d->arena;

    /* A box stands first in both records. */
    for (uint32_t n = 0; n < d->count; n++) {
        struct fast_box *box = (struct fast_box *)(arena + (size_t)d->nodes[n].unit * FAST_UNIT);

        box->inside = 0xFF;
        for (unsigned i = 0; i < 8; i++) {
            if ((box->ranges >> i & 1) == 0) {
                box->link[i] = resolve(d, box->link[i]);
            }
        }
    }
    for (uint32_t n = 0; n < d->count; n++) {
        struct fast_box *box = (struct fast_box *)(arena + (size_t)d->nodes[n].unit * FAST_UNIT);

        for (unsigned i = 0; i < 8; i++) {
            if (((box->used & ~box->ranges) >> i & 1) != 0 &&
                fast_kind_of(box->link[i]) == FAST_BOX) {
                struct fast_box *child =
                    (struct fast_box *)(arena + (size_t)(box->link[i] >> 3) * FAST_UNIT);
                if (d->nodes[n].kind == FAST_INSTANCE) {
                    child->inside = 0; /* another space: not compared */
                } else {
                    check_inside(box, i, child);
                }
            }
        }
    }
    for (uint32_t n = 0; n < d->count; n++) {
        mark_loose(arena, (struct fast_box *)(arena + (size_t)d->nodes[n].unit * FAST_UNIT));
    }
    tracer->door = find_door(d, arena, tracer->root_link, &tracer->door_boxes);
    tracer->arena = arena;
    tracer->bytes = d->units * FAST_UNIT;
    tracer->room = d->room;
    d->arena = NULL;
}

static void fill_tables(struct facet_gfx12_tracer *tracer)
{
    for (unsigned flags = 0; flags < 1024; flags++) {
        for (unsigned n = 0; n < 16; n++) {
            tracer->culled[flags] |= (uint16_t)((facet_gfx12_flags_cull(n, flags) != 0) << n);
        }
    }
    for (unsigned n = 0; n < FACET_GFX12_OBB_COUNT; n++) {
        uint32_t rows[9];

        (void)facet_gfx12_obb_matrix(n, rows);
        for (unsigned c = 0; c < 3; c++) {
            for (unsigned r = 0; r < 3; r++) {
                tracer->obb_column[n][c][r] = facet_float_of(rows[3 * r + c]);
            }
            tracer->obb_column[n][c][3] = 0;
        }
    }
}

/* Only these descriptors visit all primitives of a box first (9.3). */
static bool sorts_as_expected(const struct facet_gfx12_resource *r)
{
    return r->compressed_format_en != 0 && r->box_sort_en != 0 && r->wide_sort_en != 0 &&
           r->sort_triangles_first != 0 && r->box_sorting_heuristic != 3;
}

static void free_decoder(struct decoder *d)
{
    free(d->nodes);
    free(d->table);
    free(d->pending);
    facet_unreserve(d->arena, d->room);
}

/* All that can be reached; returns the link of the root. */
static uint32_t decode_all(struct decoder *d, uint64_t base)
{
    const uint32_t root = link_to(d, base, d->root);

    while (d->pending_count > 0 && !d->odd && !d->failed && !d->over_wish) {
        uint32_t number = d->pending[--d->pending_count];

        if (d->nodes[number].kind == FAST_BOX) {
            decode_box(d, number);
        } else {
            decode_instance(d, number);
        }
    }
    if (d->frugal && !d->odd && !d->failed) {
        add_groups(d);
    }
    return root;
}

enum facet_status facet_gfx12_fast_decode(struct facet_gfx12_tracer *tracer,
                                          uint64_t max_bytes,
                                          uint64_t wish_bytes,
                                          struct facet_error *err)
{
    const struct decoder fresh = {
        .unit = &tracer->unit,
        .top = facet_gfx12_base_address(facet_gfx12_base_make(tracer->address, 0)),
        .root = tracer->root,
        .max_units = max_bytes != 0 && max_bytes / FAST_UNIT < MOST_UNITS ? max_bytes / FAST_UNIT
                                                                          : MOST_UNITS,
        .units = 1,
        .wish = wish_bytes,
        .frugal = 3 * tracer->unit.image_size > wish_bytes && wish_bytes != 0};
    const uint64_t base = facet_gfx12_base_make(tracer->address, 0);
    struct decoder d = fresh;
    uint32_t root;

    if (!sorts_as_expected(&tracer->unit.resource) ||
        facet_gfx12_id_kind(tracer->root) == FACET_GFX12_KIND_PRIMITIVE) {
        return FACET_OK;
    }
    root = decode_all(&d, base);
    if (d.over_wish) {
        free_decoder(&d);
        d = fresh;
        d.frugal = true;
        root = decode_all(&d, base);
    }
    if (!d.odd && !d.failed && fast_kind_of(root) != FAST_NONE) {
        tracer->root_link = resolve(&d, root);
        tracer->promises = d.promises;
        tracer->broken = d.broken;
        fill_tables(tracer);
        finish(&d, tracer);
    }
    free_decoder(&d);
    return d.failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the decoded nodes")
                    : FACET_OK;
}
