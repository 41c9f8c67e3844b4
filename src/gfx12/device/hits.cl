/* Results of a flight that is over, in the host's own form: it reads them into its arrays and looks
 * at none. They take the place of the rays' states, which nobody needs any more: hits of all rays,
 * then statistics of all rays, then sums of groups. Rays that the host has to trace have zeros in
 * all three. */

INLINE __global struct device_stats *stats_in(__global device_u64 *states, device_u32 count)
{
    return (__global struct device_stats *)((__global struct device_hit *)states + count);
}

INLINE device_u32 byte_of(device_u32 flags, device_u32 flag, int place)
{
    return ((flags & flag) != 0 ? 1u : 0u) << (8 * place);
}

INLINE struct device_hit hit_of(__global const struct device_result *r)
{
    struct device_hit hit;

    hit.marks = byte_of(r->flags, DEVICE_FOUND, 0) | byte_of(r->flags, DEVICE_PROCEDURAL, 1) |
                byte_of(r->flags, DEVICE_OPAQUE, 2) | byte_of(r->flags, DEVICE_BACKFACE, 3);
    hit.t = r->t;
    hit.u = r->u;
    hit.v = r->v;
    hit.primitive_index = r->primitive;
    hit.geometry_index = r->geometry;
    hit.node = r->node;
    hit.zero = 0;
    hit.base = r->base;
    hit.instance = r->instance;
    hit.instance_user_data = r->user_data;
    return hit;
}

INLINE struct device_stats stats_of(__global const struct device_result *r)
{
    struct device_stats stats;

    stats.steps = r->steps;
    stats.boxes = r->boxes;
    stats.primitives = r->primitives;
    stats.instances = r->instances;
    stats.walk_backs = 0;
    stats.pushes = r->pushes;
    stats.max_depth = r->max_depth;
    stats.lost_walks = 0;
    return stats;
}

/* Hits of rays [0, count) and, for `each`, their statistics. */
__kernel void facet_hits(__global const struct device_result *results,
                         __global const device_u32 *fate,
                         device_u32 count,
                         __global device_u64 *states,
                         device_u32 each)
{
    __global struct device_hit *hits = (__global struct device_hit *)states;
    const device_u32 ray = (device_u32)get_global_id(0);
    const struct device_hit no_hit = {0};
    const struct device_stats none = {0};

    if (ray >= count) {
        return;
    }
    hits[ray] = fate[ray] == DEVICE_DONE ? hit_of(&results[ray]) : no_hit;
    if (each != 0) {
        stats_in(states, count)[ray] =
            fate[ray] == DEVICE_DONE ? stats_of(&results[ray]) : none;
    }
}

/* The statistics of rays [0, count) added up: DEVICE_SUMMED rays for each work item, and one sum
 * for each group. OpenCL 1.2 has no 64-bit atomics. */
__kernel void facet_sums(__global const struct device_result *results,
                         __global const device_u32 *fate,
                         device_u32 count,
                         __global device_u64 *states)
{
    __global struct device_sum *sums =
        (__global struct device_sum *)(stats_in(states, count) + count);
    __local struct device_sum tree[DEVICE_GROUP];
    const device_u32 lane = (device_u32)get_local_id(0), lanes = (device_u32)get_local_size(0);
    const device_u32 group = (device_u32)get_group_id(0);
    device_u32 ray = group * lanes * DEVICE_SUMMED + lane;
    struct device_sum sum = {0};

    for (device_u32 i = 0; i < DEVICE_SUMMED && ray < count; i++, ray += lanes) {
        __global const struct device_result *r = &results[ray];

        if (fate[ray] == DEVICE_DONE) {
            sum.steps += r->steps;
            sum.boxes += r->boxes;
            sum.primitives += r->primitives;
            sum.instances += r->instances;
            sum.pushes += r->pushes;
            sum.max_depth = r->max_depth > sum.max_depth ? r->max_depth : sum.max_depth;
            sum.lost |= r->flags & DEVICE_LOST;
        }
    }
    tree[lane] = sum;
    for (device_u32 apart = lanes / 2u; apart != 0; apart /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < apart) {
            __local const struct device_sum *other = &tree[lane + apart];

            tree[lane].steps += other->steps;
            tree[lane].boxes += other->boxes;
            tree[lane].primitives += other->primitives;
            tree[lane].instances += other->instances;
            tree[lane].pushes += other->pushes;
            tree[lane].max_depth =
                other->max_depth > tree[lane].max_depth ? other->max_depth : tree[lane].max_depth;
            tree[lane].lost |= other->lost;
        }
    }
    if (lane == 0) {
        sums[group] = tree[0];
    }
}
