/* See hiprt.h. */
#include "gfx12/drivers/hiprt.h"

#include "base/bits.h"
#include "gfx12/drivers/matrix.h"

#include <string.h>

#define NODE FACET_GFX12_NODE_BYTES
#define TYPE_BOX 5
#define TYPE_INSTANCE 6
#define VERTEX_COUNT (UINT32_C(15) << 20)
#define OWN_BITS UINT32_C(0x0f000000) /* below the number of children */
#define MATRIX_ID UINT32_C(0x7f)
#define SIZE_AT(i) (80 + 12 * (i) + 11) /* of a box of an instance: its type and size */

/* How many nodes of `wanted` lie in the piece from `from` on. */
static uint64_t nodes_there(const struct facet_gfx12_piece *piece, uint64_t from, uint64_t wanted)
{
    uint64_t room = from < piece->bytes ? (piece->bytes - from) / NODE : 0;

    return wanted < room ? wanted : room;
}

static void change(uint8_t *word, uint32_t value)
{
    facet_store_le32(word, value);
}

/* The pointer of an instance leads to a header; the hardware's to the nodes behind it. */
static uint64_t
pointer_to_nodes(uint64_t header, const struct facet_gfx12_piece *pieces, uint32_t count)
{
    const struct facet_gfx12_piece *piece = facet_gfx12_piece_before(pieces, count, header);

    if (piece != NULL && piece->structure.driver == FACET_GFX12_DRIVER_HIPRT &&
        piece->address == (header & facet_bits_mask(48))) {
        header = facet_gfx12_piece_base(piece);
    }
    return facet_gfx12_base_make(header & facet_bits_mask(48), 0);
}

/* An instance keeps its ray mask where the hardware keeps the parent, and four bits of its own
 * beside the number of children. All its boxes stand before the root, whatever their sizes say. */
static void translate_instance(uint8_t *node,
                               uint32_t parent,
                               const struct facet_gfx12_piece *pieces,
                               uint32_t count)
{
    const uint32_t mask =
        facet_load_le32(node + 56) & node[63]; /* m_mask, and what the unit sees */
    const bool more = (node[79] >> 4 & 3) != 0;

    facet_store_le64(node + 48, pointer_to_nodes(facet_load_le64(node + 48), pieces, count));
    change(node + 56, parent);
    change(node + 60, (facet_load_le32(node + 60) & 0xffffff) | mask << 24);
    change(node + 76, facet_load_le32(node + 76) & ~OWN_BITS);
    for (unsigned i = 0; i < 4; i++) {
        node[SIZE_AT(i)] &= more ? 0x0f : 0xff;
    }
}

/* The parents of the instances below a box: its children that are no boxes stand one after another.
 */
static void translate_instances_of(uint8_t *piece_bytes,
                                   const struct facet_gfx12_piece *piece,
                                   const uint8_t *box,
                                   uint32_t parent,
                                   uint64_t first,
                                   const struct facet_gfx12_piece *pieces,
                                   uint32_t count)
{
    const unsigned children = (box[27] >> 4) + 1u;
    uint64_t at = first;

    for (unsigned i = 0; i < children && i < 8; i++) {
        const uint8_t kind = box[32 + 12 * i + 11];

        if ((kind & 15) == TYPE_INSTANCE && at <= piece->bytes && piece->bytes - at >= NODE) {
            translate_instance(piece_bytes + at, parent, pieces, count);
        }
        if ((kind & 15) != TYPE_BOX) {
            at += (uint64_t)(kind >> 4) * NODE;
        }
    }
}

static void translate(uint8_t *bytes,
                      const struct facet_gfx12_piece *piece,
                      const struct facet_gfx12_piece *pieces,
                      uint32_t count)
{
    const struct facet_gfx12_structure *s = &piece->structure;
    const uint64_t apart = s->leaf_nodes - s->base;
    uint8_t *first = bytes + piece->at;
    const uint64_t boxes = nodes_there(piece, s->base, s->boxes);

    for (uint64_t i = 0; i < boxes; i++) {
        uint8_t *box = first + s->base + i * NODE;
        const uint32_t prims = facet_load_le32(box + 4), parent = facet_load_le32(box + 8);

        change(box + 4, s->procedural ? prims : prims + (uint32_t)(apart >> 3));
        change(box + 8, parent == UINT32_MAX ? parent : parent << 4 | FACET_GFX12_ROOT);
        /* Unnamed bits of its structs, which hold what the memory held before. */
        change(box + 24, facet_load_le32(box + 24) & ~OWN_BITS);
        change(box + 28, facet_load_le32(box + 28) & MATRIX_ID);
        if (s->top) {
            translate_instances_of(first,
                                   piece,
                                   box,
                                   (uint32_t)i << 4 | FACET_GFX12_ROOT,
                                   s->leaf_nodes + facet_gfx12_id_offset(prims),
                                   pieces,
                                   count);
        }
    }
    if (!s->top && !s->procedural) {
        const uint64_t leaves = nodes_there(piece, s->leaf_nodes, s->leaves);

        for (uint64_t i = 0; i < leaves; i++) {
            uint8_t *leaf = first + s->leaf_nodes + i * NODE;

            change(leaf, facet_load_le32(leaf) & ~VERTEX_COUNT);
        }
    }
}

void facet_gfx12_hiprt_translate(uint8_t *bytes,
                                 const struct facet_gfx12_piece *pieces,
                                 uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (pieces[i].structure.driver == FACET_GFX12_DRIVER_HIPRT) {
            translate(bytes, &pieces[i], pieces, count);
        }
    }
}

/* ---- instances that move (R-G12-148) ---- */

#define FLAG_STATIC (UINT32_C(1) << 26)
#define FLAG_IDENTITY (UINT32_C(1) << 27)
#define ENTRY_BYTES 16 /* of m_instances: the first frame, how many, a pointer */
#define FRAME_BYTES 64

/* Where a pointer of the header leads, from the first byte of the piece on; false unless so many
 * bytes lie there. */
static bool
part_of(const struct facet_gfx12_piece *piece, uint64_t pointer, uint64_t bytes, uint64_t *at)
{
    *at = (pointer - piece->address) & facet_bits_mask(48);
    return facet_gfx12_piece_has(piece, piece->at + *at, bytes);
}

static bool is_hiprt(const struct facet_gfx12_piece *piece)
{
    return piece->structure.driver == FACET_GFX12_DRIVER_HIPRT;
}

/* The next instance of a scene at or behind the node `*i` that moves; its offset in the view. */
static bool
next_moving(const uint8_t *bytes, const struct facet_gfx12_piece *piece, uint64_t *i, uint64_t *at)
{
    const struct facet_gfx12_structure *s = &piece->structure;
    const uint64_t leaves = s->top ? nodes_there(piece, s->leaf_nodes, s->leaves) : 0;

    for (; *i < leaves; ++*i) {
        *at = piece->at + s->leaf_nodes + *i * NODE;
        if ((facet_load_le32(bytes + *at + 76) & FLAG_STATIC) == 0) {
            ++*i;
            return true;
        }
    }
    return false;
}

uint64_t facet_gfx12_hiprt_moving(const struct facet_gfx12_piece *pieces,
                                  uint32_t count,
                                  const uint8_t *original,
                                  uint64_t *first)
{
    uint64_t found = 0, at;

    for (uint32_t k = 0; k < count; k++) {
        for (uint64_t i = 0; is_hiprt(&pieces[k]) && next_moving(original, &pieces[k], &i, &at);) {
            *first = found++ == 0 ? at : *first;
        }
    }
    return found;
}

/* The first and the last frame of an instance, that keeps in place of a matrix from which frame on
 * how many are its own. NULL: it has none, and stays where it was made. */
static enum facet_status frames_of(const uint8_t *bytes,
                                   const struct facet_gfx12_piece *piece,
                                   uint64_t at,
                                   const uint8_t *frames[2],
                                   struct facet_error *err)
{
    const uint8_t *first = bytes + piece->at;
    const uint64_t index = facet_load_le32(bytes + at), count = facet_load_le32(bytes + at + 4);
    const uint64_t pointer = facet_load_le64(first + 24), held = facet_load_le32(first + 56);
    uint64_t where;

    frames[0] = frames[1] = NULL;
    if (count == 0 || pointer == 0) {
        return FACET_OK;
    }
    if (index + count > held ||
        !part_of(piece, pointer + index * FRAME_BYTES, count * FRAME_BYTES, &where)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          at,
                          "the instance at 0x%llx moves through %llu frames from %llu on, of which "
                          "not all are in m_frames (m_frameCount %llu) and in the file",
                          (unsigned long long)at,
                          (unsigned long long)count,
                          (unsigned long long)index,
                          (unsigned long long)held);
    }
    frames[0] = first + where;
    frames[1] = frames[0] + (count - 1) * FRAME_BYTES;
    return FACET_OK;
}

/* All frames of a scene have one form, which nothing names: that which all can have. Of both, that
 * whose times rise, and otherwise HIPRT's default. */
static enum facet_status form_of(const uint8_t *bytes,
                                 const struct facet_gfx12_piece *piece,
                                 enum facet_gfx12_frame_form *form,
                                 struct facet_error *err)
{
    bool fits[2] = {true, true}, rises[2] = {true, true};
    uint64_t at, bad[2] = {0, 0};
    uint8_t matrix[48];

    for (uint64_t i = 0; next_moving(bytes, piece, &i, &at);) {
        const uint8_t *frames[2];
        enum facet_status status = frames_of(bytes, piece, at, frames, err);

        if (status != FACET_OK) {
            return status;
        }
        for (unsigned f = 0; f < 2 && frames[0] != NULL; f++) {
            const enum facet_gfx12_frame_form as = (enum facet_gfx12_frame_form)f;

            for (unsigned k = 0; k < 2; k++) {
                if (fits[f] && !facet_gfx12_frame_read(frames[k], as, matrix)) {
                    fits[f] = false;
                    bad[f] = (uint64_t)(frames[k] - bytes);
                }
            }
            rises[f] = rises[f] && facet_gfx12_frame_time(frames[0], as) <
                                       facet_gfx12_frame_time(frames[1], as);
        }
    }
    if (!fits[0] && !fits[1]) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          bad[0],
                          "the frames of instances that move have no known form: that at 0x%llx is "
                          "no rotation with scale, shear and translation, that at 0x%llx no matrix "
                          "with an inverse",
                          (unsigned long long)bad[0],
                          (unsigned long long)bad[1]);
    }
    *form = !fits[0] || (fits[1] && rises[1] && !rises[0]) ? FACET_GFX12_FRAME_MATRIX
                                                           : FACET_GFX12_FRAME_TURN;
    return FACET_OK;
}

static enum facet_status
stop_instances(uint8_t *bytes, const struct facet_gfx12_piece *piece, struct facet_error *err)
{
    static const uint8_t stays[48] = {
        [2] = 0x80, [3] = 0x3f, [22] = 0x80, [23] = 0x3f, [42] = 0x80, [43] = 0x3f};
    enum facet_gfx12_frame_form form = FACET_GFX12_FRAME_TURN;
    enum facet_status status = form_of(bytes, piece, &form, err);
    uint64_t at;

    for (uint64_t i = 0; status == FACET_OK && next_moving(bytes, piece, &i, &at);) {
        const uint8_t *frames[2];

        status = frames_of(bytes, piece, at, frames, err);
        if (status == FACET_OK) {
            memcpy(bytes + at, stays, sizeof stays);
        }
        if (status == FACET_OK && frames[0] != NULL) {
            (void)facet_gfx12_frame_read(frames[0], form, bytes + at);
        }
    }
    return status;
}

enum facet_status facet_gfx12_hiprt_stop(uint8_t *bytes,
                                         const struct facet_gfx12_piece *pieces,
                                         uint32_t count,
                                         struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    for (uint32_t i = 0; i < count && status == FACET_OK; i++) {
        if (is_hiprt(&pieces[i])) {
            status = stop_instances(bytes, &pieces[i], err);
        }
    }
    return status;
}

/* ---- the way back ---- */

static void keep_bits(uint8_t *word, const uint8_t *original, uint32_t bits)
{
    change(word, (facet_load_le32(word) & ~bits) | (facet_load_le32(original) & bits));
}

static void restore_box(uint8_t *box, const uint8_t *original)
{
    keep_bits(box + 4, original + 4, UINT32_MAX);
    keep_bits(box + 8, original + 8, UINT32_MAX);
    keep_bits(box + 24, original + 24, OWN_BITS);
    keep_bits(box + 28, original + 28, ~MATRIX_ID);
    for (unsigned i = 0; i < 8; i++) { /* no promises, and one mask for all */
        keep_bits(box + 32 + 12 * i, original + 32 + 12 * i, UINT32_C(0xff000000));
        keep_bits(box + 36 + 12 * i, original + 36 + 12 * i, UINT32_C(0xff000000));
    }
}

/* Corners move in their places; a node that was packed anew would have lost what HIPRT keeps of its
 * layout. */
static enum facet_status
restore_leaf(uint8_t *leaf, const uint8_t *original, uint64_t at, struct facet_error *err)
{
    const uint64_t layout = facet_load_le64(original) & ~(uint64_t)VERTEX_COUNT;

    if ((facet_load_le64(leaf) ^ layout) & facet_bits_mask(52)) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          at,
                          "the packet at 0x%llx shares corners between triangles that have come "
                          "apart, and has no room for more; build the geometry anew",
                          (unsigned long long)at);
    }
    keep_bits(leaf, original, VERTEX_COUNT);
    for (unsigned i = 0; i <= (facet_load_le32(leaf) >> 28 & 7); i++) {
        for (unsigned half = 0; half < 2; half++) { /* opacity and sides: HIPRT has its own */
            const unsigned bit = 1024 - 29 * (i + 1) + (half == 0 ? 15 : 1);

            for (unsigned b = bit; b < bit + 2; b++) {
                const uint8_t mask = (uint8_t)(1u << b % 8);

                leaf[b / 8] = (uint8_t)((leaf[b / 8] & ~mask) | (original[b / 8] & mask));
            }
        }
    }
    return FACET_OK;
}

/* The frame of an instance that has one and does not move; false where it is not in the piece. */
static bool
frame_of(const struct facet_gfx12_piece *piece, const uint8_t *first, uint32_t index, uint64_t *at)
{
    uint64_t entry;

    return part_of(piece,
                   facet_load_le64(first + 16) + (uint64_t)index * ENTRY_BYTES,
                   ENTRY_BYTES,
                   &entry) &&
           facet_load_le32(first + entry) < facet_load_le32(first + 56) &&
           part_of(piece,
                   facet_load_le64(first + 24) +
                       (uint64_t)facet_load_le32(first + entry) * FRAME_BYTES,
                   FRAME_BYTES,
                   at);
}

/* Nodes whose box nobody led to were not translated. */
static enum facet_status restore_instance(uint8_t *bytes,
                                          const uint8_t *original,
                                          const struct facet_gfx12_piece *piece,
                                          uint64_t at,
                                          struct facet_error *err)
{
    uint8_t *node = bytes + at;
    const uint8_t *before = original + at;
    const uint32_t mask = node[63], index = facet_load_le32(before + 60) & 0xffffff;
    uint64_t frame;

    if (memcmp(node, before, NODE) == 0) {
        return FACET_OK;
    }
    memcpy(node + 48, before + 48, 16); /* pointer, mask, index */
    change(node + 56, (facet_load_le32(before + 56) & ~UINT32_C(0xff)) | mask);
    keep_bits(node + 76, before + 76, OWN_BITS & ~FLAG_IDENTITY);
    if (facet_gfx12_is_identity(node)) {
        change(node + 76, facet_load_le32(node + 76) | FLAG_IDENTITY);
    }
    for (unsigned i = 0; i < 4; i++) {
        node[SIZE_AT(i)] = (uint8_t)((node[SIZE_AT(i)] & 0x0f) | (before[SIZE_AT(i)] & 0xf0));
    }
    if (memcmp(node, before, 48) == 0 ||
        facet_load_le32(original + piece->at + 56) == 0) { /* m_frameCount */
        return FACET_OK;
    }
    if (!frame_of(piece, original + piece->at, index, &frame) ||
        !facet_gfx12_frame_follow(bytes + piece->at + frame, before, node)) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          at,
                          "the instance at 0x%llx has moved, and its frame is not in m_frames or "
                          "is not what its matrix was made from",
                          (unsigned long long)at);
    }
    return FACET_OK;
}

static enum facet_status restore(uint8_t *bytes,
                                 const uint8_t *original,
                                 const struct facet_gfx12_piece *piece,
                                 struct facet_error *err)
{
    const struct facet_gfx12_structure *s = &piece->structure;
    const uint64_t boxes = nodes_there(piece, s->base, s->boxes);
    const uint64_t leaves = s->procedural ? 0 : nodes_there(piece, s->leaf_nodes, s->leaves);
    enum facet_status status = FACET_OK;

    for (uint64_t i = 0; i < boxes; i++) {
        const uint64_t at = piece->at + s->base + i * NODE;

        restore_box(bytes + at, original + at);
    }
    for (uint64_t i = 0; i < leaves && status == FACET_OK; i++) {
        const uint64_t at = piece->at + s->leaf_nodes + i * NODE;

        status = s->top ? restore_instance(bytes, original, piece, at, err)
                        : restore_leaf(bytes + at, original + at, at, err);
    }
    return status;
}

enum facet_status facet_gfx12_hiprt_restore(uint8_t *bytes,
                                            const uint8_t *original,
                                            const struct facet_gfx12_piece *pieces,
                                            uint32_t count,
                                            struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    for (uint32_t i = 0; i < count && status == FACET_OK; i++) {
        if (is_hiprt(&pieces[i])) {
            status = restore(bytes, original, &pieces[i], err);
        }
    }
    return status;
}

static enum facet_status
can_update(const struct facet_gfx12_piece *piece, const uint8_t *original, struct facet_error *err)
{
    uint64_t i = 0, at;

    if (piece->structure.procedural) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          piece->at,
                          "a geometry of custom primitives, which cannot be written: its nodes "
                          "hold numbers and no boxes");
    }
    if (next_moving(original, piece, &i, &at)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          at,
                          "the instance at 0x%llx moves through several frames and has no matrix, "
                          "so it cannot be written",
                          (unsigned long long)at);
    }
    return FACET_OK;
}

enum facet_status facet_gfx12_hiprt_can_update(const struct facet_gfx12_piece *pieces,
                                               uint32_t count,
                                               const uint8_t *original,
                                               struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    for (uint32_t i = 0; i < count && status == FACET_OK; i++) {
        if (is_hiprt(&pieces[i])) {
            status = can_update(&pieces[i], original, err);
        }
    }
    return status;
}
