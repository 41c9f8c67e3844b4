/* An xphmg machine with an RT image and the three queues of a job in its RAM, for measuring and
 * checking XSUBMIT.RT: rays go in, one instruction traces them, hits come out. */
#ifndef FACET_BENCH_RT_MACHINE_H
#define FACET_BENCH_RT_MACHINE_H

#include "bench/gfx12_rays.h"
#include "rt_image/build.h"

struct rt_scene {
    struct trace_scene trace; /* scene only: for camera_rays and diffuse_rays */
    struct facet_rtbvh_image image;
};

/* A recipe of scene/make.h as FP32 tiles. Free it also after a failure. */
enum facet_status rt_scene_make(const char *name,
                                uint32_t size,
                                unsigned children,
                                struct rt_scene *out,
                                struct facet_error *err);
void rt_scene_free(struct rt_scene *s);

struct rt_machine;

struct rt_machine_config {
    size_t rays;      /* most rays of a job */
    unsigned threads; /* of the machine, for one job */
    uint32_t opts;    /* of the descriptor, NODE8 aside */
};

enum facet_status rt_machine_create(const struct facet_rtbvh_image *image,
                                    const struct rt_machine_config *config,
                                    struct rt_machine **out,
                                    struct facet_error *err);
void rt_machine_destroy(struct rt_machine *m); /* NULL is allowed */

struct rt_hit {
    bool found, front;
    uint32_t t, u, v;             /* FP32 */
    uint32_t triangle, leaf;      /* of the image */
    uint32_t instance, primitive; /* of the scene */
};

/* The rays of the next job. */
enum facet_status rt_machine_load(struct rt_machine *m,
                                  const struct facet_gfx12_batch_ray *rays,
                                  size_t count,
                                  struct facet_error *err);
/* One job: XSUBMIT.RT, XFENCE.WAIT. Runs the loaded rays as often as it is called. Fails when the
 * job ends with an error or leaves a ray over. */
enum facet_status rt_machine_run(struct rt_machine *m, struct facet_error *err);
/* What the last job wrote; hits[i] belongs to ray i. */
enum facet_status
rt_machine_hits(struct rt_machine *m, struct rt_hit *hits, struct facet_error *err);
/* The same as diffuse_rays takes them. */
void rt_hits_for_rays(const struct rt_hit *hits, size_t count, struct facet_gfx12_hit *out);
/* A CSR of the hart by name. */
uint64_t rt_machine_csr(const struct rt_machine *m, const char *name);

#endif
