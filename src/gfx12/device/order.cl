/* An order of rays in which neighbours begin near each other and go the same way, so that they meet
 * the same nodes: a sort by counting. Rays with the same key are in no order; no result depends on
 * any. */

#define ORDER_CELLS 8.0f /* along each axis of the scene, in which rays begin */
#define ORDER_WAYS 4.0f  /* along each axis of the cube of directions */
#define ORDER_GROUPS (DEVICE_ORDER_KEYS / DEVICE_GROUP)

/* Which of `count` equal parts of 0..1 has x; of anything else the nearest. */
INLINE device_u32 part_of(float x, float count)
{
    return (device_u32)fmin(fmax(x * count, 0.0f), count - 1.0f);
}

/* The bits of three numbers in turn, the highest ones first. */
INLINE device_u32 in_turn(const device_u32 v[3], int bits)
{
    device_u32 r = 0;

    UNROLL
    for (int i = bits - 1; i >= 0; i--) {
        r = r << 3 | (v[0] >> i & 1u) << 2 | (v[1] >> i & 1u) << 1 | (v[2] >> i & 1u);
    }
    return r;
}

/* The extent of the root's children along an axis; empty where it is no node of the records. */
INLINE void extent_of(__constant struct device_common *c,
                      __global const device_u32 *boxes,
                      int axis,
                      float *low,
                      float *high)
{
    const device_u32 number = (link_of(c->root) & 0x1FFFFFFFu) >> 1;
    struct fast f;

    *low = as_float(NEVER_BELOW);
    *high = as_float(NEVER_ABOVE);
    fast_enter(c, c->tlas_base, &f);
    if (number < f.nodes) {
        __global const device_u32 *planes =
            boxes + (size_t)BOX_RECORD * (f.first + number) + 16 * axis;

        for (int i = 0; i < 8; i++) {
            *low = fmin(*low, as_float(planes[i]));
            *high = fmax(*high, as_float(planes[8 + i]));
        }
    }
}

INLINE device_u32 order_key(__constant struct device_common *c,
                            __global const device_u32 *boxes,
                            __global const struct device_ray *ray)
{
    const float longest = fmax(fmax(fabs(ray->direction[0]), fabs(ray->direction[1])),
                               fabs(ray->direction[2]));
    device_u32 cell[3], way[3];

    for (int k = 0; k < 3; k++) {
        float low, high;

        extent_of(c, boxes, k, &low, &high);
        cell[k] = part_of((ray->origin[k] - low) / (high - low), ORDER_CELLS);
        way[k] = part_of(0.5f * ray->direction[k] / longest + 0.5f, ORDER_WAYS);
    }
    return in_turn(cell, 3) << 6 | in_turn(way, 2);
}

/* The key of each ray into key_of_ray[], and how many rays have each. */
__kernel void facet_order_count(__constant struct device_common *common,
                                __global const device_u32 *boxes,
                                __global const struct device_ray *rays,
                                device_u32 count,
                                __global device_u32 *key_of_ray,
                                __global device_u32 *keys)
{
    const size_t item = get_global_id(0);

    if (item < count) {
        const device_u32 key = order_key(common, boxes, &rays[item]);

        key_of_ray[item] = key;
        atomic_inc(&keys[key]);
    }
}

/* What each of a group's numbers has before it in the group; *all: their sum. */
INLINE device_u32
before_in_group(device_u32 own, __local device_u32 sums[DEVICE_GROUP], device_u32 *all)
{
    const device_u32 lane = (device_u32)get_local_id(0);

    sums[lane] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (device_u32 back = 1; back < DEVICE_GROUP; back *= 2) {
        const device_u32 more = lane >= back ? sums[lane - back] : 0u;

        barrier(CLK_LOCAL_MEM_FENCE);
        sums[lane] += more;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *all = sums[DEVICE_GROUP - 1u];
    return sums[lane] - own;
}

/* keys[] becomes where each key's rays begin among those of its group, and behind the keys is how
 * many a group has. */
__kernel IN_GROUPS(DEVICE_GROUP) void facet_order_keys(__global device_u32 *keys)
{
    __local device_u32 sums[DEVICE_GROUP];
    const size_t key = get_global_id(0);
    device_u32 all;

    keys[key] = before_in_group(keys[key], sums, &all);
    if (get_local_id(0) == 0) {
        keys[DEVICE_ORDER_KEYS + get_group_id(0)] = all;
    }
}

/* That becomes where a group's rays begin. For one group of work items. */
__kernel IN_GROUPS(DEVICE_GROUP) void facet_order_groups(__global device_u32 *keys)
{
    __local device_u32 sums[DEVICE_GROUP];
    device_u32 begin = 0;

    for (size_t at = get_local_id(0); at < ORDER_GROUPS; at += DEVICE_GROUP) {
        __global device_u32 *group = keys + DEVICE_ORDER_KEYS + at;
        device_u32 all;

        *group = begin + before_in_group(*group, sums, &all);
        begin += all;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* The numbers of the rays into list[], in order. */
__kernel void facet_order_list(device_u32 count,
                               __global const device_u32 *key_of_ray,
                               __global device_u32 *keys,
                               __global device_u32 *list)
{
    const size_t item = get_global_id(0);

    if (item < count) {
        const device_u32 key = key_of_ray[item];
        const device_u32 begin = keys[DEVICE_ORDER_KEYS + key / DEVICE_GROUP];

        list[begin + atomic_inc(&keys[key])] = (device_u32)item;
    }
}
