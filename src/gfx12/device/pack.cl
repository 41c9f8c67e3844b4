/* Nodes as the fast loop (fast.cl) reads them: what a ray asks, in the order in which it asks, by
 * loads of 16 bytes. Each 128 bytes of the image become a record, as a box node and as eight pairs
 * of triangles, whatever they are: only a ray that comes there knows. What the fast loop leaves to
 * walk.cl is not marked as plain.
 *
 * A box node is the planes of its eight children, of each axis the lower ones and the upper ones,
 * so that a ray takes those that it meets first by their address; then the links of the children,
 * and between the last two the marks: a ray that asks for the marks brings the links near. The
 * planes are floats: taking them out of fewer bits would cost a ray more than the sum and the
 * product that it makes of them. */

#define BOX_MARKS 55u
#define BOX_LINK(child) (48u + (child) + ((child) + 1u) / 8u)
#define BOX_BOXES 1u           /* the first of eight: the child is a box */
#define BOX_PLAIN (1u << 8)
#define BOX_HIDES (1u << 9)    /* some instance mask but 0 hides a child */
#define BOX_PROMISES (1u << 10) /* the first of four: some child makes it */

/* Two triangles, each three times four dwords: corner and primitive, edge and geometry, edge and
 * (of the first) marks. */
#define PAIR_MARKS 11u
#define PAIR_NAVIGATION 4u /* shift */
#define PAIR_PLAIN (1u << 6)

/* An ID whose lowest three bits have become the highest: a box comes after a triangle by its sign.
 */
#define LINK_INVALID 0xFFFFFFFFu /* of NODE_INVALID */

static device_u32 link_of(device_u32 id)
{
    return id << 29 | id >> 3;
}

static device_u32 id_of(device_u32 link)
{
    return link << 3 | link >> 29;
}

/* Planes that no ray meets: it is in front of one and behind the other at once. */
#define NEVER_BELOW F32_INF_BITS
#define NEVER_ABOVE (F32_SIGN_BIT | F32_INF_BITS)

static void pack_box(__global const device_u32 *node, __global device_u32 *out)
{
    const device_u32 count = (node[6] >> 28 & 7u) + 1u;
    device_u32 internal_at = node[0], primitive_at = node[1], previous = NODE_INVALID;
    device_u32 masks = 255u, promises = 0, marks = 0;
    int plain = (node[7] & 0x7Fu) >= ORIENTATIONS;

    for (device_u32 i = 0; i < 8; i++) {
        __global const device_u32 *child = node + 8 + 3 * i;
        const device_u32 a = child[0], b = child[1], d = child[2];
        const device_u32 type = d >> 24 & 15u, size = d >> 28;
        const device_u32 low[3] = {a & 0xFFFu, a >> 12 & 0xFFFu, b & 0xFFFu};
        const device_u32 high[3] = {b >> 12 & 0xFFFu, d & 0xFFFu, d >> 12 & 0xFFFu};
        device_u32 id = NODE_INVALID;

        if (i < count) {
            id = (type == 5 ? internal_at : primitive_at) | type;
            internal_at += type == 5 ? size << 4 : 0u;
            primitive_at += type == 5 ? 0u : size << 4;
            masks &= b >> 24;
            promises |= a >> 24 & 15u;
            plain = plain && b >> 24 != 0 && id != previous;
            previous = id;
        }
        for (device_u32 k = 0; k < 3; k++) {
            const device_u32 exponent = node[6] >> (8 * k) & 255u;
            const float lower = plane_at(node[3 + k], exponent, low[k]);
            const float upper = plane_at(node[3 + k], exponent, high[k] + 1u);
            __global device_u32 *planes = out + 16 * k + i;

            planes[0] = id != NODE_INVALID ? as_uint(lower) : NEVER_BELOW;
            planes[8] = id != NODE_INVALID ? as_uint(upper) : NEVER_ABOVE;
            plain = plain && (id == NODE_INVALID || !(is_nan(lower) || is_nan(upper)));
        }
        marks |= (id & 4u) != 0 ? BOX_BOXES << i : 0u;
        out[BOX_LINK(i)] = link_of(id);
    }
    out[BOX_MARKS] = marks | (plain ? BOX_PLAIN : 0u) | (masks != 255u ? BOX_HIDES : 0u) |
                     promises * BOX_PROMISES;
}

static void pack_pair(__global const device_u32 *node, device_u32 number, __global device_u32 *out)
{
    struct pair pair;

    pair_read(node, number, &pair);
    for (device_u32 k = 0; k < 2; k++) {
        for (device_u32 axis = 0; axis < 3; axis++) {
            const float corner = as_float(pair.vertex[k][axis]);
            out[12 * k + axis] = as_uint(corner);
            out[12 * k + 4 + axis] = as_uint(as_float(pair.vertex[k][3 + axis]) - corner);
            out[12 * k + 8 + axis] = as_uint(as_float(pair.vertex[k][6 + axis]) - corner);
        }
        out[12 * k + 3] = pair.primitive[k];
        out[12 * k + 7] = pair.geometry[k];
        out[12 * k + 11] = 0;
    }
    out[PAIR_MARKS] = (pair.state[0] & 3u) | (pair.state[1] & 3u) << 2 |
                      pair.navigation << PAIR_NAVIGATION |
                      (((pair.state[0] | pair.state[1]) & PAIR_PROCEDURAL) == 0 ? PAIR_PLAIN : 0u);
}

/* The records of `count` nodes, the first of which lies `phase` dwords into the image. */
__kernel void facet_pack(__global const device_u32 *image,
                         device_u32 phase,
                         device_u32 count,
                         __global device_u32 *boxes,
                         __global device_u32 *pairs)
{
    const size_t item = get_global_id(0);

    if (item < count) {
        __global const device_u32 *node = image + phase + NODE_DWORDS * item;
        pack_box(node, boxes + BOX_RECORD * item);
        for (device_u32 number = 0; number < NODE_PAIRS; number++) {
            pack_pair(node, number, pairs + PAIR_RECORD * (NODE_PAIRS * item + number));
        }
    }
}
