/* Why a ray of XPHMG_RT went where it went in an RT image: a job of one ray (XSUBMIT.RT) that is
 * watched, and RT.BBOX and RT.TRI on one tile or one triangle. The values come from the code that
 * computes (rt/steps.h, watch.h); nothing is computed a second time.
 *
 * Spec: rt-semantics.md 7, 8, 11. */
#ifndef FACET_XPHMG_RT_WHY_H
#define FACET_XPHMG_RT_WHY_H

#include "rt_image/image.h"
#include "xphmg/rt/watch.h"

enum {
    FACET_XPHMG_RT_WHY_VISITS = 1 << 20
}; /* tile visits and tests; a cycle is not followed longer */

struct facet_xphmg_rt_why_query {
    const struct facet_rtbvh_view *view;
    uint32_t ray[FACET_RT_RAY_ELEMENTS + 1]; /* elements; the last, w, counts with w_guard */
    bool w_guard, pack_hint, eps_ctl;
    bool cull_back;
    bool any_hit;            /* jobs */
    bool t_clamp, pred_only; /* instructions */
    uint8_t eps;             /* code: RTCONF2.EPS_SCALE with eps_ctl, RTCFG.EPS_DFLT without */
};

/* Number i of a ray as an element of the image: the nearest one; infinity only for infinity. */
uint32_t facet_xphmg_rt_why_element(const struct facet_rtbvh_view *view, unsigned i, float value);

/* ---- a job -------------------------------------------------------------------------------------
 */

/* What the job left in memory and registers. */
struct facet_xphmg_rt_why_result {
    bool hit, nan; /* nan: the flag of a miss entry */
    bool front;
    uint32_t triangle, leaf;
    uint32_t value[3];         /* t, u, v: element bits, or 16-bit slots with pack_hint */
    unsigned error;            /* enum facet_xphmg_rt_error: RTSTAT.LAST_EC */
    unsigned flags;            /* FACET_NV and the others in EXC.ST and STAT */
    uint64_t boxes, triangles; /* RTSTAT */
    bool agrees;               /* a second job, unwatched and fast, left the same but for NX */
};

/* `offset`: byte in the file of the tile, the TriRange or the triangle, else 0. */
typedef void
facet_xphmg_rt_why_event(void *context, const struct facet_xphmg_rt_event *event, uint64_t offset);

/* FACET_ERR_INPUT with an offset when the ray leads out of the image. */
enum facet_status facet_xphmg_rt_why_trace(const struct facet_xphmg_rt_why_query *query,
                                           facet_xphmg_rt_why_event *event,
                                           void *context,
                                           struct facet_xphmg_rt_why_result *result,
                                           struct facet_error *err);

/* ---- an instruction ----------------------------------------------------------------------------
 */

/* What one lane writes: hit_pred, then two or three elements, or one packed register. */
struct facet_xphmg_rt_why_registers {
    uint64_t x[4];
    unsigned count; /* 0 with pred_only */
};

struct facet_xphmg_rt_why_child {
    struct facet_rtbvh_child stored;
    struct facet_rt_box_lane_steps steps; /* not for an empty child */
    struct facet_xphmg_rt_why_registers registers;
    unsigned flags;
};

/* RT.BBOX on all children (out[0 .. children - 1]) of the node at this byte of the file. */
enum facet_status facet_xphmg_rt_why_tile(const struct facet_xphmg_rt_why_query *query,
                                          uint64_t offset,
                                          struct facet_xphmg_rt_why_child out[8],
                                          struct facet_error *err);

struct facet_xphmg_rt_why_triangle {
    uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS];
    struct facet_rt_triangle_lane_steps steps;
    struct facet_xphmg_rt_why_registers registers;
    unsigned flags;
};

/* RT.TRI on triangle k of the buffer. */
enum facet_status facet_xphmg_rt_why_triangle(const struct facet_xphmg_rt_why_query *query,
                                              uint32_t k,
                                              struct facet_xphmg_rt_why_triangle *out,
                                              struct facet_error *err);

#endif
