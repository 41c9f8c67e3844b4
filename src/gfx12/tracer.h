/* Tracing many rays through one GFX12 image, fast.
 *
 * A tracer is the reference loop of gfx12-semantics.md 11.1 over nodes that were decoded once, when
 * it was created: same hits, same bits, same statistics, same order of callbacks as
 * facet_gfx12_trace, ray by ray. What it cannot do faster (a root of another structure, a
 * descriptor that sorts otherwise, a `visit` callback, an image that makes no sense) it hands to
 * that loop, so a caller never has to choose.
 *
 * A tracer is read-only after creation: any number of threads may trace with it. It refers to the
 * image, whose bytes must not change while it lives. */
#ifndef FACET_GFX12_TRACER_H
#define FACET_GFX12_TRACER_H

#include "base/error.h"
#include "base/pool.h"

#include <facet/gfx12.h>

typedef struct facet_gfx12_tracer facet_gfx12_tracer;

enum facet_gfx12_tracer_path {
    FACET_GFX12_PATH_AUTO,      /* the fastest that the host can run */
    FACET_GFX12_PATH_REFERENCE, /* facet_gfx12_trace for every ray */
    FACET_GFX12_PATH_PORTABLE,  /* decoded nodes, plain C */
    FACET_GFX12_PATH_AVX2,      /* decoded nodes, AVX2 and FMA; needs a host that has them */
    FACET_GFX12_PATH_AVX512,    /* the same with AVX-512 F, VL, DQ and BW */
};

struct facet_gfx12_tracer_options {
    uint64_t address; /* of the structure that rays start in: facet_gfx12_query.address */
    uint32_t root;    /* its root node; 0 stands for FACET_GFX12_ROOT */
    uint64_t
        max_bytes; /* for decoded nodes; 0: no limit but memory. Beyond it: the reference loop */
    uint64_t wish_bytes; /* all that decoding may take, if that is enough for the boxes: triangles
                            beyond it stay in the image, at several times the cost. 0: no wish */
    enum facet_gfx12_tracer_path path;
    bool one_by_one; /* no packets of rays, only in turn: the same results, for measurements */
    /* 8..31: the hardware-style loop of 11.4 with so many entries of LDS for every ray, walking
     * back through parents after an overflow; there is no fast way for it. 0: as many as needed. */
    uint8_t stack;
};

/* Copies the unit, not the image. `options` may be NULL: structure at the image's address, root 5.
 * FACET_ERR_USAGE when the host cannot run the path that was asked for. */
enum facet_status facet_gfx12_tracer_create(const struct facet_gfx12_unit *unit,
                                            const struct facet_gfx12_tracer_options *options,
                                            facet_gfx12_tracer **out,
                                            struct facet_error *err);
void facet_gfx12_tracer_destroy(facet_gfx12_tracer *tracer); /* NULL is allowed */

/* What is used: never FACET_GFX12_PATH_AUTO; REFERENCE when nothing was decoded. */
enum facet_gfx12_tracer_path facet_gfx12_tracer_used(const facet_gfx12_tracer *tracer);
/* Whether no ray can meet a node that cannot be fetched; false when nothing was decoded. */
bool facet_gfx12_tracer_sound(const facet_gfx12_tracer *tracer);
uint64_t facet_gfx12_tracer_bytes(const facet_gfx12_tracer *tracer); /* memory of decoded nodes */
const char *facet_gfx12_tracer_path_name(enum facet_gfx12_tracer_path path);

/* One ray, as facet_gfx12_trace: same results, same statistics, same failures. stats and err may be
 * NULL. For an occlusion ray set FACET_GFX12_API_TERMINATE_ON_FIRST_HIT. */
enum facet_status facet_gfx12_tracer_trace(const facet_gfx12_tracer *tracer,
                                           const struct facet_gfx12_query *query,
                                           struct facet_gfx12_hit *hit,
                                           struct facet_gfx12_stats *stats,
                                           struct facet_error *err);

/* The sum of two, with the deeper of their stacks. */
void facet_gfx12_stats_add(struct facet_gfx12_stats *sum, const struct facet_gfx12_stats *s);

/* The varying part of a ray of a batch; also the record of `facet bvh trace --rays`. */
struct facet_gfx12_batch_ray {
    float origin[3];
    float t_min;
    float direction[3];
    float t_max;
};

/* `count` rays that share everything else with `common` (whose origin, direction, t_min and t_max
 * are not read). hits[i] belongs to rays[i] and does not depend on the number of threads; callbacks
 * run on the threads of the pool, which may be NULL. stats (may be NULL) is the sum over all rays,
 * max_depth the maximum. When rays fail, the status and the message are those of the first one,
 * whose number is err->where; rays after it may then be left out (their hits are not written), and
 * stats is not a sum of anything. */
enum facet_status facet_gfx12_tracer_batch(const facet_gfx12_tracer *tracer,
                                           const struct facet_gfx12_query *common,
                                           const struct facet_gfx12_batch_ray *rays,
                                           size_t count,
                                           struct facet_gfx12_hit *hits,
                                           facet_pool *pool,
                                           struct facet_gfx12_stats *stats,
                                           struct facet_error *err);

#endif
