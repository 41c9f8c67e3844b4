/* What the self-test asks a device: the numbers of exact.cl for operands that the host chose, and
 * whether every reciprocal is the right one. */

#define CHECK_IN 29u
#define CHECK_OUT 29u

static void put3(__global device_u32 *out, const float v[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = as_uint(v[k]);
    }
}

/* Operations one by one: what the tests and fast.cl are made of, where a number that is not normal
 * may get lost. `a` and `b` are no signaling NaN. */
static void check_operations(float a, float b, float c, __global device_u32 *out)
{
    out[0] = as_uint(a + b);
    out[1] = as_uint(a - b);
    out[2] = as_uint(a * b);
    out[3] = as_uint(fma(a, b, c));
    out[4] = as_uint(fmax(a, b));
    out[5] = as_uint(fmin(a, b));
    out[6] = (a < b ? 1u : 0u) | (a <= b ? 2u : 0u) | (a > b ? 4u : 0u) | (a >= b ? 8u : 0u) |
             (a < 0.0f ? 16u : 0u) | (a >= 0.0f ? 32u : 0u);
    out[7] = as_uint(a < b ? a : c); /* bits stay as they are */
}

/* Origin, direction, nine numbers of a triangle of which six are a box too, nine more that complete
 * a matrix, and three for single operations. */
static void check_one(__global const device_u32 *in, __global device_u32 *out)
{
    float origin[3], direction[3], lo[3], hi[3];
    device_u32 vertex[9], rows[12];
    struct slab_ray ray;
    struct slab slab;
    struct tri_terms terms;

    for (int k = 0; k < 3; k++) {
        origin[k] = as_float(in[k]);
        direction[k] = as_float(in[3 + k]);
        lo[k] = as_float(in[6 + k]);
        hi[k] = as_float(in[9 + k]);
    }
    for (int k = 0; k < 9; k++) {
        vertex[k] = in[6 + k];
    }
    for (int k = 0; k < 12; k++) {
        rows[k] = in[12 + k];
    }
    terms = tri_test(vertex, origin, direction);
    out[0] = as_uint(terms.t);
    out[1] = as_uint(terms.u);
    out[2] = as_uint(terms.v);
    out[3] = as_uint(terms.det);
    ray = slab_ray_of(origin, direction, as_float(in[23]), in[22] & 255u);
    put3(out + 4, ray.inverse);
    out[7] = as_uint(ray.grow);
    slab = slab_test(&ray, lo, hi);
    out[8] = as_uint(slab.enter);
    out[9] = as_uint(slab.leave);
    out[10] = as_uint(slab.min_t);
    out[11] = as_uint(slab.max_t);
    out[12] = (device_u32)slab.hit;
    out[13] = as_uint(plane_at(in[0], in[22] & 255u, in[22] >> 8 & 4095u));
    out[14] = as_uint(divide(as_float(in[20]), as_float(in[21])));
    transform(rows, origin, direction);
    put3(out + 15, origin);
    put3(out + 18, direction);
    check_operations(as_float(in[24]), as_float(in[25]), as_float(in[26]), out + 21);
}

__kernel void facet_check(__global const device_u32 *in, __global device_u32 *out, device_u32 count)
{
    const device_u32 item = (device_u32)get_global_id(0);
    if (item < count) {
        check_one(in + (size_t)CHECK_IN * item, out + (size_t)CHECK_OUT * item);
    }
}

/* wrong[i]: how many of the mantissas [i * each, (i + 1) * each) have a reciprocal that is not the
 * nearest. For m = b * 2^-23 and its reciprocal r * 2^-24 that is 2 |2^47 - r * b| <= b; the two
 * sides are never equal, as 2^48 has no odd divisor but 1. */
__kernel void facet_reciprocals(__global device_u32 *wrong, device_u32 each)
{
    const device_u32 item = (device_u32)get_global_id(0);
    device_u32 count = 0;
    for (device_u32 i = item * each; i < (item + 1u) * each; i++) {
        const device_u64 b = 0x00800000u | i;
        const float r = reciprocal(as_float(0x3F800000u | i));
        device_u64 product, off;
        if (!(r > 0.5f && r <= 1.0f)) {
            count++;
            continue;
        }
        product = (device_u64)(r * 16777216.0f) * b;
        off = product > 0x800000000000ul ? product - 0x800000000000ul : 0x800000000000ul - product;
        count += 2ul * off > b ? 1u : 0u;
    }
    wrong[item] = count;
}
