/* Paths of a picture: a work item is a pixel and keeps its path from step to step. A step takes in
 * what the rays of the last one met and makes the next; between two steps facet_fast and
 * facet_trace trace them. The order of rays is that of no rule; a pixel's light does not depend on
 * it. */

#undef mix
#undef shuffle
#undef bits_of

INLINE device_u32 scene_stops(__global const device_u32 *memory,
                              device_u32 instance,
                              device_u32 triangle,
                              float t,
                              float u,
                              float v)
{
    __global const struct device_picture *picture = (__global const struct device_picture *)memory;

    return facet_shade_surface_stops(
        SCENE_PART(struct device_scene, picture, scene), instance, triangle, t, u, v);
}
#define ANY_HIT_STOPS scene_stops

#define BUCKET 32u
#define BLOCK 8u /* of neighbours, a group */

/* Where pixel number `place` of a list of buckets is; 0: outside the picture. */
INLINE int place_of(__global const struct device_picture *picture,
                    __global const device_u32 *buckets,
                    device_u32 place,
                    device_u32 *x,
                    device_u32 *y)
{
    const device_u32 columns = (picture->width + BUCKET - 1u) / BUCKET;
    const device_u32 bucket = buckets[place / (BUCKET * BUCKET)];
    const device_u32 block = place / (BLOCK * BLOCK) % (BUCKET * BUCKET / (BLOCK * BLOCK));

    *x = bucket % columns * BUCKET + block % (BUCKET / BLOCK) * BLOCK + place % BLOCK;
    *y = bucket / columns * BUCKET + block / (BUCKET / BLOCK) * BLOCK + place / BLOCK % BLOCK;
    return *x < picture->width && *y < picture->height;
}

struct step {
    device_u32 take;   /* kind of the rays that were traced */
    device_u32 make;   /* DEVICE_MAKE_... */
    device_u32 k;      /* which light or ambient ray */
    device_u32 sample; /* that begins */
};

/* What the pixel's ray has met. */
INLINE void take_ray(__global const struct device_picture *picture,
                     device_u32 kind,
                     __global const struct device_result *result,
                     struct device_pixel *p,
                     __global double *sum)
{
    const int found = (result->flags & DEVICE_FOUND) != 0;
    struct facet_shade_hit hit;

    if (kind == FACET_RAY_SHADOW) {
        if (!found) {
            facet_shade_path_bring(&p->path, picture, p->brings);
        }
    } else if (kind == FACET_RAY_AMBIENT) {
        p->path.unoccluded += found ? 0u : 1u;
    } else if (picture->view != FACET_SHADE_PICTURE) {
        sum[0] += picture->view == FACET_SHADE_NODES ? result->steps : result->primitives;
    } else {
        hit.t = result->t;
        hit.u = result->u;
        hit.v = result->v;
        hit.instance = found ? result->user_data : FACET_SCENE_NONE;
        hit.triangle = result->primitive;
        hit.back = (result->flags & DEVICE_BACKFACE) != 0;
        p->lit = facet_shade_path_see(&p->path, picture, &hit);
    }
}

/* A sample has all its light. */
INLINE void end_sample(__global const struct device_picture *picture,
                       struct device_pixel *p,
                       __global double *sum)
{
    if (picture->view != FACET_SHADE_PICTURE) {
        return;
    }
    if (picture->bounces == 0 && p->lit) {
        facet_shade_path_add_sky_light(&p->path, picture);
    }
    sum[0] += (double)p->path.light.x;
    sum[1] += (double)p->path.light.y;
    sum[2] += (double)p->path.light.z;
}

INLINE void begin_sample(__global const struct device_picture *picture,
                         device_u32 x,
                         device_u32 y,
                         device_u32 sample,
                         struct device_pixel *p,
                         __global double *sum,
                         struct facet_shade_ray *ray)
{
    if (sample == 0) {
        p->path.noise = facet_sample_pixel(picture->seed, x, y);
        sum[0] = sum[1] = sum[2] = 0.0;
    }
    p->lit = 0;
    facet_shade_path_begin(&p->path, picture, &picture->lens, x, y, sample, ray);
}

/* Whether the pixel has a ray to trace. */
INLINE int make_ray(__global const struct device_picture *picture,
                    const struct step *step,
                    struct device_pixel *p,
                    struct facet_shade_ray *ray)
{
    int made = 0;

    if (!p->lit) {
        return 0;
    }
    if (step->make == DEVICE_MAKE_AMBIENT) {
        return facet_shade_path_ambient_ray(&p->path, picture, step->k, ray);
    }
    if (step->make == DEVICE_MAKE_BOUNCE) {
        p->lit = 0; /* until something is met */
        return facet_shade_path_bounce_ray(&p->path, ray);
    }
    if (step->make == DEVICE_MAKE_LIGHT) {
        made = facet_shade_path_light_ray(&p->path, picture, step->k, ray, &p->brings);
    } else if (step->make == DEVICE_MAKE_LAMP) {
        made = facet_shade_path_lamp_ray(&p->path, picture, ray, &p->brings);
    }
    if (made && !picture->shadows) {
        facet_shade_path_bring(&p->path, picture, p->brings);
        made = 0;
    }
    return made;
}

/* The words of a pixel do not lie together: each lies with that word of the other pixels, so that
 * what neighbours read at a time does. */
#define PIXEL_WORDS (sizeof(struct device_pixel) / 4u)
union pixel {
    struct device_pixel of;
    device_u32 words[PIXEL_WORDS];
};
#define PIXEL_SLOT 0u
#define PIXEL_LIT 1u

/* One step of one pixel, whose words are `apart` from each other; whether *ray is to be traced. */
INLINE int step_pixel(__global const struct device_picture *picture,
                      const struct step *step,
                      device_u32 x,
                      device_u32 y,
                      __global const struct device_result *results,
                      __global device_u32 *words,
                      size_t apart,
                      __global double *sum,
                      struct facet_shade_ray *ray)
{
    const int first = step->make == DEVICE_MAKE_PRIMARY && step->sample == 0;
    const int ends = step->make == DEVICE_MAKE_PRIMARY || step->make == DEVICE_MAKE_NOTHING;
    const device_u32 slot = first ? DEVICE_NOWHERE : words[PIXEL_SLOT * apart];
    union pixel p;
    int made;

    if (!ends && slot == DEVICE_NOWHERE && words[PIXEL_LIT * apart] == 0) {
        return 0;
    }
    UNROLL
    for (device_u32 i = 0; i < PIXEL_WORDS; i++) {
        p.words[i] = words[i * apart];
    }
    if (slot != DEVICE_NOWHERE) {
        take_ray(picture, step->take, &results[slot], &p.of, sum);
    }
    if (ends && !first) {
        end_sample(picture, &p.of, sum);
    }
    if (step->make == DEVICE_MAKE_PRIMARY) {
        begin_sample(picture, x, y, step->sample, &p.of, sum, ray);
        made = 1;
    } else {
        made = make_ray(picture, step, &p.of, ray);
    }
    p.of.slot = DEVICE_NOWHERE;
    UNROLL
    for (device_u32 i = 0; i < PIXEL_WORDS; i++) {
        words[i * apart] = p.words[i];
    }
    return made;
}

/* Adds to the numbers of the group what tracing took. */
INLINE void count_ray(__global const struct device_result *result, __local device_u32 *tally)
{
    atomic_inc(&tally[0]);
    if ((result->flags & DEVICE_FOUND) != 0) {
        atomic_inc(&tally[1]);
    }
    atomic_add(&tally[2], result->steps);
    atomic_add(&tally[3], result->boxes);
    atomic_add(&tally[4], result->instances);
    atomic_add(&tally[5], result->primitives);
}

/* A step of `count` pixels, of which the first has place `first` in the list of buckets. Numbers in
 * `costs` are of one group each and go on from launch to launch. */
__kernel void facet_paths(__global const struct device_picture *picture,
                          __global const device_u32 *buckets,
                          __global device_u32 *pixels,
                          __global double *sums,
                          __global struct device_ray *rays,
                          __global const struct device_result *results,
                          __global device_u32 *ray_count,
                          __global device_u64 *costs,
                          device_u32 take,
                          device_u32 make,
                          device_u32 k,
                          device_u32 sample,
                          device_u32 first,
                          device_u32 count)
{
    __local device_u32 made, at, tally[DEVICE_COSTS];
    const device_u32 item = (device_u32)get_global_id(0), lane = (device_u32)get_local_id(0);
    device_u32 x = 0, y = 0, place = 0;
    const struct step step = {take, make, k, sample};
    __global device_u32 *slot = pixels + item + PIXEL_SLOT * DEVICE_PIXELS_APART(count);
    struct facet_shade_ray ray;
    int there, sends = 0;

    if (lane == 0) {
        made = 0;
    }
    if (lane < DEVICE_COSTS) {
        tally[lane] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    there = item < count && place_of(picture, buckets, first + item, &x, &y);
    if (there && take != DEVICE_NO_RAYS && *slot != DEVICE_NOWHERE) {
        count_ray(&results[*slot], tally);
    }
    if (there) {
        sends = step_pixel(picture,
                           &step,
                           x,
                           y,
                           results,
                           pixels + item,
                           DEVICE_PIXELS_APART(count),
                           sums + 3 * (size_t)item,
                           &ray);
    }
    if (sends) {
        place = atomic_inc(&made);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) {
        at = made != 0 ? atomic_add(ray_count, made) : 0;
    }
    if (lane < DEVICE_COSTS && take != DEVICE_NO_RAYS) {
        costs[(get_group_id(0) * DEVICE_NO_RAYS + take) * DEVICE_COSTS + lane] += tally[lane];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (sends) {
        place += at;
        *slot = place;
        for (int k = 0; k < 3; k++) {
            rays[place].origin[k] = ray.origin[k];
            rays[place].direction[k] = ray.direction[k];
        }
        rays[place].t_min = ray.t_min;
        rays[place].t_max = ray.t_max;
    }
}

/* See shade/check.h; the last of the numbers are sizes of what is handed to and fro. */
__kernel void facet_shade_checks(__global const device_u32 *in,
                                 __global device_u32 *out,
                                 device_u32 count)
{
    const device_u32 item = (device_u32)get_global_id(0);
    uint32_t from[FACET_SHADE_CHECK_IN], to[FACET_SHADE_CHECK_OUT];

    if (item >= count) {
        return;
    }
    for (int i = 0; i < FACET_SHADE_CHECK_IN; i++) {
        from[i] = in[FACET_SHADE_CHECK_IN * item + i];
    }
    facet_shade_check(from, to);
    to[FACET_SHADE_CHECK_OUT - 2] = (uint32_t)sizeof(struct device_pixel);
    to[FACET_SHADE_CHECK_OUT - 1] = (uint32_t)sizeof(struct device_picture);
    for (int i = 0; i < FACET_SHADE_CHECK_OUT; i++) {
        out[FACET_SHADE_CHECK_OUT * item + i] = to[i];
    }
}
