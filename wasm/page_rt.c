/* XPHMG_RT: a ray through an image, and single tests of a ray with a box or a triangle. */
#include "wasm/page_bvh.h"

#include "xphmg/rt/explain.h"

#include <facet/gfx12.h>
#include <facet/rt.h>
#include <string.h>

/* ---- a ray ---- */

struct telling {
    const struct facet_xphmg_rt_why_query *query;
    struct facet_record *record;
    uint64_t visits;
};

enum { MOST_VISITS = 1000 }; /* as `facet rt why` has it */

static void on_event(void *context, const struct facet_xphmg_rt_event *event, uint64_t offset)
{
    struct telling *t = context;

    t->visits += event->kind == FACET_XPHMG_RT_EVENT_POP;
    if (t->visits <= MOST_VISITS) {
        facet_xphmg_rt_record_event(t->record, t->query, event, offset);
    }
}

/* The JSON of `facet rt why --json` for a ray of eight floats. */
int PAGE_EXPORT(page_rt_explain)(
    const struct page_bvh *b, const float *ray, size_t bytes, int any_hit, int cull_back)
{
    struct facet_xphmg_rt_why_result result;
    struct facet_xphmg_rt_why_query query = {.any_hit = any_hit != 0, .cull_back = cull_back != 0};
    struct facet_rtbvh_view view;
    struct facet_error err = {0};
    struct facet_record *r;
    struct telling telling = {.query = &query};
    enum facet_status status;

    status = b->format == FACET_BVH_FORMAT_XPHMG && bytes == 8 * sizeof *ray
                 ? facet_rtbvh_open(b->view.bytes, b->view.size, &view, &err)
                 : facet_fail(&err,
                              FACET_ERR_USAGE,
                              0,
                              "expected an image of XPHMG_RT and a ray of eight floats");
    if (status != FACET_OK) {
        return page_fail(&err);
    }
    query.view = &view;
    for (unsigned i = 0; i < 8; i++) {
        query.ray[i] = facet_xphmg_rt_why_element(&view, i, ray[i]);
    }
    query.ray[8] = facet_xphmg_rt_why_element(&view, 8, 1.0F);
    r = page_begin();
    telling.record = r;
    facet_xphmg_rt_record_ray(r, "ray", &query);
    facet_record_list(r, "events");
    if (facet_xphmg_rt_why_trace(&query, on_event, &telling, &result, &err) != FACET_OK) {
        return page_fail(&err);
    }
    facet_record_close(r);
    facet_record_bool(r, "complete", telling.visits <= MOST_VISITS);
    facet_xphmg_rt_record_result(r, "result", &query, &result);
    return page_end();
}

/* ---- single tests; the members are those of facet/rt.h ---- */

static const char *const outcomes[] = {"miss", "hit", "nan"};

static void put_flags(struct facet_record *r, unsigned flags)
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {{FACET_NX, "NX"},
                 {FACET_UF, "UF"},
                 {FACET_OF, "OF"},
                 {FACET_DZ, "DZ"},
                 {FACET_NV, "NV"},
                 {FACET_QNAN, "QNAN"},
                 {FACET_SNAN, "SNAN"},
                 {FACET_FTZ, "FTZ"},
                 {FACET_SAT, "SAT"},
                 {FACET_DOWN, "DOWN"},
                 {FACET_UNSUP, "UNSUP"}};

    facet_record_list(r, "flags");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((flags & names[i].bit) != 0) {
            facet_record_word(r, NULL, names[i].name);
        }
    }
    facet_record_close(r);
}

static void put_lane(struct facet_record *r,
                     const struct facet_rt_lane *lane,
                     char letter,
                     uint32_t rule,
                     unsigned flags)
{
    const char decided[4] = {letter,
                             (char)(rule >= 10 ? '1' : '0' + (int)rule),
                             (char)(rule >= 10 ? '0' + (int)(rule - 10) : '\0'),
                             '\0'};

    facet_record_word(r, "outcome", outcomes[lane->outcome % 3]);
    facet_record_word(r, "decided", decided);
    facet_record_vector(r, "values", NULL, lane->value, lane->count);
    put_flags(r, flags);
}

static void put_ray(struct facet_record *r, const struct facet_rt_ray *ray)
{
    facet_record_open(r, "ray", NULL);
    facet_record_vector(r, "o", NULL, ray->o, 3);
    facet_record_vector(r, "d", NULL, ray->d, 3);
    facet_record_f32(r, "tmin", ray->tmin);
    facet_record_f32(r, "tmax", ray->tmax);
    facet_record_close(r);
}

static void put_axis(struct facet_record *r, const struct facet_rt_axis_steps *axis)
{
    facet_record_open(r, NULL, NULL);
    facet_record_f32(r, "inv", axis->inv);
    facet_record_bool(r, "parallel", axis->parallel);
    facet_record_bool(r, "inside", axis->inside);
    facet_record_f32(r, "near", axis->near);
    facet_record_f32(r, "far", axis->far);
    facet_record_f32(r, "near_o", axis->near_o);
    facet_record_f32(r, "far_o", axis->far_o);
    facet_record_f32(r, "tn", axis->tn);
    facet_record_f32(r, "tf", axis->tf);
    facet_record_close(r);
}

/* Elements of the format with this name; false when there is none. */
static bool read_numbers(const char *element, struct facet_conv *conv)
{
    *conv = (struct facet_conv){.elem = (uint8_t)facet_format_find(element), .acc = FACET_FMT_FP32};
    return conv->elem != FACET_FMT_COUNT && conv->elem != FACET_FMT_FP64;
}

static int wrong_size(const char *expected)
{
    struct facet_error err = {0};

    (void)facet_fail(&err, FACET_ERR_USAGE, 0, "expected %s", expected);
    return page_fail(&err);
}

int PAGE_EXPORT(page_rt_box)(const char *element,
                             const uint32_t *ray,
                             size_t ray_bytes,
                             const uint32_t *box,
                             size_t box_bytes,
                             int t_clamp)
{
    const struct facet_rt_box_options options = {.t_clamp = t_clamp != 0};
    struct facet_rt_box_lane_steps steps;
    struct facet_conv numbers;
    struct facet_record *r;
    unsigned flags = 0;

    if (!read_numbers(element, &numbers) || ray_bytes != 32 || box_bytes != 24) {
        return wrong_size("a format of elements, eight of a ray and six of a box");
    }
    facet_rt_explain_box(&numbers, &options, ray, box, &steps, &flags);
    r = page_begin();
    put_lane(r, &steps.lane, 'B', steps.rule, flags);
    put_ray(r, &steps.ray);
    facet_record_vector(r, "min", NULL, steps.box.min, 3);
    facet_record_vector(r, "max", NULL, steps.box.max, 3);
    facet_record_list(r, "axes");
    for (unsigned k = 0; k < 3; k++) {
        put_axis(r, &steps.test.axis[k]);
    }
    facet_record_close(r);
    facet_record_open(r, "slab", NULL);
    facet_record_f32(r, "near", steps.test.slab.near);
    facet_record_f32(r, "far", steps.test.slab.far);
    facet_record_f32(r, "cnear", steps.test.slab.cnear);
    facet_record_f32(r, "cfar", steps.test.slab.cfar);
    facet_record_close(r);
    return page_end();
}

static void put_vertex(struct facet_record *r, const struct facet_rt_vertex_steps *vertex)
{
    facet_record_open(r, NULL, NULL);
    facet_record_vector(r, "p", NULL, vertex->p, 3);
    facet_record_f32(r, "x", vertex->x);
    facet_record_f32(r, "y", vertex->y);
    facet_record_f32(r, "z", vertex->z);
    facet_record_close(r);
}

int PAGE_EXPORT(page_rt_triangle)(const char *element,
                                  const uint32_t *ray,
                                  size_t ray_bytes,
                                  const uint32_t *vertices,
                                  size_t vertex_bytes,
                                  int cull_back,
                                  int epsilon)
{
    const struct facet_rt_options options = {.cull_back = cull_back != 0,
                                             .eps = (uint32_t)(epsilon & 0xFF) << 23};
    struct facet_rt_triangle_lane_steps steps;
    struct facet_conv numbers;
    struct facet_record *r;
    unsigned flags = 0;

    if (!read_numbers(element, &numbers) || ray_bytes != 32 || vertex_bytes != 36) {
        return wrong_size("a format of elements, eight of a ray and nine of a triangle");
    }
    facet_rt_explain_triangle(&numbers, &options, ray, vertices, &steps, &flags);
    r = page_begin();
    put_lane(r, &steps.lane, 'T', steps.rule, flags);
    put_ray(r, &steps.ray);
    facet_record_vector(r, "vertices", NULL, steps.triangle.v, 9);
    facet_record_numbers(r, "k", (const int64_t[]){steps.test.kx, steps.test.ky, steps.test.kz}, 3);
    facet_record_vector(
        r, "s", NULL, (const uint32_t[]){steps.test.sx, steps.test.sy, steps.test.sz}, 3);
    facet_record_list(r, "vertex");
    for (unsigned v = 0; v < 3; v++) {
        put_vertex(r, &steps.test.vertex[v]);
    }
    facet_record_close(r);
    facet_record_f32(r, "uv", steps.test.uv);
    facet_record_f32(r, "det", steps.test.det);
    facet_record_f32(r, "wz", steps.test.wz);
    facet_record_f32(r, "vz", steps.test.vz);
    facet_record_f32(r, "T", steps.test.T);
    facet_record_open(r, "facet", NULL);
    facet_record_vector(r, "edge", NULL, steps.test.facet.edge, 3);
    facet_record_bool(r, "edges", steps.test.facet.edges);
    facet_record_bool(r, "front", steps.test.facet.front);
    facet_record_f32(r, "t", steps.test.facet.t);
    facet_record_f32(r, "u", steps.test.facet.u);
    facet_record_f32(r, "v", steps.test.facet.v);
    facet_record_close(r);
    return page_end();
}
