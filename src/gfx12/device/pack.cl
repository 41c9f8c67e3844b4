/* Nodes as the fast loop (fast.cl) reads them: what a ray asks, in the order in which it asks, by
 * loads of 16 bytes. Each 128 bytes of the image become a record, as a box node and as eight pairs
 * of triangles, whatever they are: only a ray that comes there knows. What the fast loop leaves to
 * walk.cl is not marked as plain.
 *
 * A box node is its origin, its exponents with the marks, six rows of eight planes (of each axis
 * the lower ones and the upper ones), and the links of eight children. A row has 16 bits for a
 * plane, so that a ray takes the planes that it meets first by the address of their row. */

#define BOX_RECORD 36u /* dwords */
#define BOX_ROWS 4u
#define BOX_LINKS 28u
#define BOX_PLAIN (1u << 24)
#define BOX_ALL_MASKS (1u << 25) /* no instance mask but 0 hides a child */

#define BOX_PROMISES (1u << 26) /* the first of four: some child makes it */

/* Two triangles, each three times four dwords: corner and primitive, edge and geometry, edge and
 * (of the first) marks. */
#define PAIR_RECORD 24u
#define PAIR_MARKS 11u
#define PAIR_NAVIGATION 4u /* shift */
#define PAIR_PLAIN (1u << 6)
#define NODE_PAIRS 8u

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

/* A plane whose distance from the box's origin is less than the least normal number lies there
 * (plane_at). Only boxes that are flat have such exponents. */
static device_u32 plane_that_counts(device_u32 exponent, device_u32 plane)
{
    return plane != 0 && 19 - (int)clz(plane) + (int)exponent > 0 ? plane : 0;
}

static void pack_box(__global const device_u32 *node, __global device_u32 *out)
{
    const device_u32 count = (node[6] >> 28 & 7u) + 1u;
    device_u32 internal_at = node[0], primitive_at = node[1], previous = NODE_INVALID;
    const device_u32 x = node[6] & 255u, y = node[6] >> 8 & 255u, z = node[6] >> 16 & 255u;
    device_u32 masks = 255u, promises = 0;
    int plain = (node[7] & 0x7Fu) >= ORIENTATIONS;

    for (device_u32 k = 0; k < 3; k++) {
        const device_u32 exponent = node[6] >> (8 * k) & 255u;
        /* Then no plane is NaN. */
        plain = plain && (node[3 + k] & F32_INF_BITS) != F32_INF_BITS && exponent < 255;
        out[k] = node[3 + k];
    }
    for (device_u32 i = 0; i < 24; i++) {
        out[BOX_ROWS + i] = 0;
    }
    for (device_u32 i = 0; i < 8; i++) {
        __global const device_u32 *child = node + 8 + 3 * i;
        const device_u32 a = child[0], b = child[1], d = child[2];
        const device_u32 type = d >> 24 & 15u, size = d >> 28, high = (i & 1u) * 16u;
        __global device_u32 *row = out + BOX_ROWS + i / 2;
        device_u32 id = NODE_INVALID;

        if (i < count) {
            id = (type == 5 ? internal_at : primitive_at) | type;
            internal_at += type == 5 ? size << 4 : 0u;
            primitive_at += type == 5 ? 0u : size << 4;
            row[0] |= plane_that_counts(x, a & 0xFFFu) << high;
            row[4] |= plane_that_counts(x, (b >> 12 & 0xFFFu) + 1u) << high;
            row[8] |= plane_that_counts(y, a >> 12 & 0xFFFu) << high;
            row[12] |= plane_that_counts(y, (d & 0xFFFu) + 1u) << high;
            row[16] |= plane_that_counts(z, b & 0xFFFu) << high;
            row[20] |= plane_that_counts(z, (d >> 12 & 0xFFFu) + 1u) << high;
            masks &= b >> 24;
            promises |= a >> 24 & 15u;
            plain = plain && b >> 24 != 0 && id != previous;
            previous = id;
        }
        out[BOX_LINKS + i] = link_of(id);
    }
    out[3] = (node[6] & 0x00FFFFFFu) | (plain ? BOX_PLAIN : 0u) |
             (masks == 255u ? BOX_ALL_MASKS : 0u) | promises * BOX_PROMISES;
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
