/* Which rays of a launch are to go on, without a look of the host at each of them. Their order in
 * the lists is that of no rule; results do not depend on it. */

/* fate[] of the rays list[0..count), or of all rays below `count`, into *counts, the rays that go
 * on into next[] and those that the host takes behind earlier ones in declined[]. */
__kernel void facet_gather(__global const device_u32 *fate,
                           __global const device_u32 *list,
                           device_u32 all,
                           device_u32 count,
                           __global device_u32 *next,
                           __global device_u32 *declined,
                           __global struct device_counts *counts)
{
    __local device_u32 going_on, waiting, left, next_at, left_at;
    const device_u32 item = (device_u32)get_global_id(0);
    const int first = get_local_id(0) == 0;
    device_u32 ray = 0, became = DEVICE_DONE, place = 0;

    if (first) {
        going_on = waiting = left = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < count) {
        ray = all != 0 ? item : list[item];
        became = fate[ray];
    }
    if (became == DEVICE_GOES_ON) {
        place = atomic_inc(&going_on);
    } else if (became == DEVICE_WAITS) {
        atomic_inc(&waiting);
    } else if (became != DEVICE_DONE) {
        place = atomic_inc(&left);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (first) {
        next_at = going_on != 0 ? atomic_add(&counts->going_on, going_on) : 0;
        left_at = left != 0 ? atomic_add(&counts->declined, left) : 0;
        if (waiting != 0) {
            atomic_add(&counts->waiting, waiting);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (became == DEVICE_GOES_ON) {
        next[next_at + place] = ray;
    } else if (became == DEVICE_DECLINED || became == DEVICE_ENDLESS) {
        declined[left_at + place] = ray;
    }
}

/* Rays [0, count) have not begun. */
__kernel void facet_begin(__global device_u32 *fate, device_u32 count)
{
    const device_u32 item = (device_u32)get_global_id(0);
    if (item < count) {
        fate[item] = DEVICE_FRESH;
    }
}
