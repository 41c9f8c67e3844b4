/* The explanation of a job against the job: the same ray submitted on another hart, at other
 * addresses, by a program, with its memory accesses recorded. The result must be the same, and the
 * tiles, TriRanges and triangles of the explanation must be what the job reads, in its order. And
 * single instructions: what is explained is what RT.BBOX and RT.TRI write. */
#include "harness.h"

#include "../bvh/meshes.h"
#include "../xphmg/guest.h"
#include "base/float.h"
#include "facet/observer.h"
#include "rt_image/build.h"
#include "xphmg/rt/why.h"

#include <stdlib.h>

enum {
    DESC = GUEST_DATA,
    RAYQ = GUEST_DATA + 0x100,
    HITQ = GUEST_DATA + 0x120,
    MISSQ = GUEST_DATA + 0x140,
    RAY = GUEST_DATA + 0x200,
    HITS = GUEST_DATA + 0x300,
    MISSES = GUEST_DATA + 0x400,
    HEAP = GUEST_DATA + 0x1000,
    MOST = 20000,
};

/* Addresses relative to the two sections: heap offsets, and triangles from TRIANGLE on. */
#define TRIANGLE (UINT64_C(1) << 32)
struct order {
    uint64_t at[MOST];
    unsigned count;
};

static void note(struct order *order, uint64_t at)
{
    if (order->count < MOST && (order->count == 0 || order->at[order->count - 1] != at)) {
        order->at[order->count++] = at;
    }
}

/* ---- a scene on a guest ---- */

struct scene {
    struct facet_rtbvh_image image;
    struct facet_rtbvh_view view;
    struct guest *g;
    uint64_t triangles; /* address */
    uint64_t from, to;  /* of the heap: what is being read */
    struct order reads;
};

static struct scene *scene_make(unsigned children, enum facet_format element, bool quantized)
{
    struct scene *s = calloc(1, sizeof *s);
    struct mesh mesh = mesh_soup(120, 7 + (unsigned)element);
    struct facet_rtbvh_options options = {
        .children = children, .element = (uint8_t)element, .quantized = quantized, .leaf_size = 3};
    struct facet_rtbvh_report report;
    struct facet_error err;
    facet_pool *pool = NULL;

    CHECK(s != NULL && facet_pool_create(1, &pool, &err) == FACET_OK);
    CHECK_EQ(facet_rtbvh_build(
                 mesh.triangles, mesh.count, &options, pool, NULL, &s->image, &report, &err),
             FACET_OK);
    facet_pool_destroy(pool);
    mesh_free(&mesh);
    CHECK_EQ(facet_rtbvh_open(s->image.bytes, s->image.size, &s->view, &err), FACET_OK);
    s->g = guest_make("full");
    s->triangles = HEAP + (s->view.header.heap.size + 63) / 64 * 64;
    CHECK_EQ(
        facet_mem_poke(
            s->g->mem, HEAP, s->image.bytes + s->view.header.heap.offset, s->view.header.heap.size)
            .fault,
        FACET_MEM_OK);
    CHECK_EQ(facet_mem_poke(s->g->mem,
                            s->triangles,
                            s->image.bytes + s->view.header.triangles.offset,
                            s->view.header.triangles.size)
                 .fault,
             FACET_MEM_OK);
    guest_csrw(s->g, FACET_CSR_CAP_PREC_ALT, s->view.header.alt | FACET_CAP_PREC_ALT_APPLY1);
    guest_csrw(s->g, FACET_CSR_CAP_PREC_MODE, s->view.header.mode | FACET_CAP_PREC_MODE_APPLY0);
    return s;
}

static void scene_free(struct scene *s)
{
    guest_free(s->g);
    free(s->image.bytes);
    free(s);
}

static void put_ray(struct scene *s, const struct facet_xphmg_rt_why_query *q)
{
    const struct facet_container *c = &s->view.container;

    for (unsigned i = 0; i < 128; i += 8) {
        guest_store(s->g, RAY + i, 8, 0);
    }
    for (unsigned i = 0; i < 9; i++) {
        uint64_t at = RAY + facet_container_offset(c, i);
        uint64_t bits = guest_load(s->g, at, c->bytes);

        bits = facet_container_put(c, bits, facet_container_slot(c, i), q->ray[i]);
        guest_store(s->g, at, c->bytes, bits);
    }
}

static void queue(struct guest *g, uint64_t at, uint32_t tail, uint64_t base)
{
    guest_store(g, at, 8, (uint64_t)tail << 32);
    guest_store(g, at + 8, 8, 2);
    guest_store(g, at + 16, 8, base);
}

/* What the job begins to read. The first word of a tile is its last, child_flags; that of a
 * TriRange is its first. */
static void on_memory(void *context, const struct facet_memory_event *event)
{
    struct scene *s = context;
    const struct facet_rtbvh_view *v = &s->view;
    uint64_t at = event->address - HEAP, buffer = event->address - s->triangles;

    if (event->write || (at >= s->from && at < s->to)) {
        return;
    }
    if (at < v->header.heap.size) {
        s->from = at % 16 == 12 ? at + 4 - v->tile_bytes : at;
        s->to = at % 16 == 12 ? at + 4 : at + 16;
        note(&s->reads, s->from);
    } else if (buffer < v->header.triangles.size) {
        s->from = s->to = 0;
        note(&s->reads, TRIANGLE + buffer / v->container.bytes / 9);
    }
}

static void submit(struct scene *s, const struct facet_xphmg_rt_why_query *q, bool observed)
{
    struct facet_observer observer = {.context = s, .memory = on_memory};
    struct guest *g = s->g;
    const uint64_t fields[5] = {HEAP, RAYQ, HITQ, MISSQ, s->triangles};

    for (unsigned i = 0; i < 5; i++) {
        guest_store(g, DESC + 8 * i, 8, fields[i]);
    }
    guest_store(g,
                DESC + 40,
                8,
                (q->cull_back ? 1u : 0u) | (q->pack_hint ? 4u : 0u) | (q->eps_ctl ? 8u : 0u) |
                    (q->any_hit ? 16u : 0u) | (s->view.header.children == 8 ? 32u : 0u) |
                    (q->w_guard ? 64u : 0u));
    for (unsigned i = 48; i < 72; i += 8) {
        guest_store(g, DESC + i, 8, 0);
    }
    queue(g, RAYQ, 1, RAY);
    queue(g, HITQ, 0, HITS);
    queue(g, MISSQ, 0, MISSES);
    put_ray(s, q);
    guest_csrw(g, 0x820, FACET_PUT(0, RTCFG_EPS_DFLT, q->eps));
    guest_csrw(g, 0x827, FACET_PUT(0, RTCONF2_EPS_SCALE, q->eps));
    g->hart->x[10] = DESC;
    s->reads.count = 0;
    s->from = s->to = 0;
    guest_observe(g, observed ? &observer : NULL);
    guest_ok(g, "xsubmit.rt a1, a0\n xfence.wait a1\n");
    guest_observe(g, NULL);
}

/* ---- the explanation ---- */

struct told {
    const struct scene *s;
    struct order order;
    unsigned tests, hits;
};

static void on_event(void *context, const struct facet_xphmg_rt_event *event, uint64_t offset)
{
    struct told *t = context;
    uint64_t at = offset - t->s->view.header.heap.offset;

    switch (event->kind) {
    case FACET_XPHMG_RT_EVENT_TILE:
    case FACET_XPHMG_RT_EVENT_RANGE:
        note(&t->order, at);
        break;
    case FACET_XPHMG_RT_EVENT_TEST:
        note(&t->order, TRIANGLE + event->number);
        t->tests++;
        t->hits += event->choice != FACET_XPHMG_RT_CHOICE_MISSED;
        break;
    default:
        break;
    }
}

static double uniform(void)
{
    return (double)(harness_random() >> 11) / 9007199254740992.0;
}

/* A ray that mostly crosses the soup. */
static void random_query(const struct scene *s, struct facet_xphmg_rt_why_query *q)
{
    uint64_t dice = harness_random();
    unsigned flags = 0;
    float corner[3][3];
    uint32_t k = (uint32_t)(harness_random() % s->view.header.triangle_count);

    (void)facet_rtbvh_triangle(&s->view, k, corner);
    *q = (struct facet_xphmg_rt_why_query){.view = &s->view,
                                           .cull_back = (dice & 3) == 0,
                                           .pack_hint = (dice & 12) == 0,
                                           .any_hit = (dice & 48) == 0,
                                           .w_guard = (dice & 192) == 0,
                                           .eps_ctl = (dice & 256) != 0,
                                           .eps = (dice & 512) != 0 ? 110 : 0};
    for (unsigned i = 0; i < 9; i++) {
        struct facet_conv conv = s->view.numbers.channel[i < 6 ? i % 3 : 3];
        float middle = corner[0][i % 3] / 2 + corner[1][i % 3] / 4 + corner[2][i % 3] / 4;
        float value = i < 3 ? middle + (float)(uniform() - 0.5) : i < 6 ? 0 : i == 6 ? 0 : 1000;
        uint32_t bits;

        conv.sat = true;
        if (i >= 3 && i < 6) {
            uint32_t o = facet_widen(&conv, q->ray[i - 3], &flags);
            float origin = facet_float_of(o);

            value = middle - origin;
        }
        bits = facet_float_bits(value);
        q->ray[i] = facet_narrow(&conv, bits, &flags);
    }
}

static void compare(struct scene *s)
{
    struct facet_xphmg_rt_why_query query;
    struct facet_xphmg_rt_why_result result;
    struct told *told = calloc(1, sizeof *told);
    struct facet_error err;
    unsigned width;

    if (!CHECK(told != NULL)) {
        return;
    }
    told->s = s;
    random_query(s, &query);
    if (!CHECK(facet_xphmg_rt_why_trace(&query, on_event, told, &result, &err) == FACET_OK)) {
        return;
    }
    CHECK(result.agrees);
    CHECK_EQ(result.error, 0);
    CHECK_EQ(result.triangles, told->tests);
    CHECK(!result.hit || told->hits > 0);
    for (unsigned pass = 0; pass < 2; pass++) { /* the careful way, and as fast as it goes */
        submit(s, &query, pass == 0);
        CHECK_EQ(guest_load(s->g, HITQ + 4, 4), result.hit);
        CHECK_EQ(guest_load(s->g, MISSQ + 4, 4), !result.hit);
        if (result.hit) {
            width = query.pack_hint ? 2 : s->view.container.bytes;
            CHECK_EQ(guest_load(s->g, HITS + 8, 4), result.triangle);
            CHECK_EQ(guest_load(s->g, HITS + 12, 4), result.leaf);
            CHECK_EQ(guest_load(s->g, HITS + facet_rt_hit_entry_bytes(&s->view.container) - 4, 4),
                     result.front);
            for (unsigned i = 0; i < 3; i++) {
                uint64_t bits = guest_load(s->g, HITS + 16 + (uint64_t)i * width, width);

                CHECK_EQ(query.pack_hint ? bits : facet_container_get(&s->view.container, bits, 0),
                         result.value[i]);
            }
        }
        if (pass == 0 && s->view.container.pack == 0) {
            if (CHECK(s->reads.count == told->order.count)) {
                for (unsigned i = 0; i < s->reads.count; i++) {
                    CHECK_EQ(s->reads.at[i], told->order.at[i]);
                }
            }
        }
    }
    free(told);
}

static const struct {
    unsigned children;
    enum facet_format element;
    bool quantized;
} kinds[] = {
    {4, FACET_FMT_FP32, false},
    {8, FACET_FMT_FP32, false},
    {4, FACET_FMT_FP16, false},
    {8, FACET_FMT_BF16, false},
    {4, FACET_FMT_INT8, true},
    {8, FACET_FMT_INT16, true},
    {4, FACET_FMT_E5M2, false},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

TEST(the_explained_way_is_the_way_of_the_job, "RT-275 RT-276")
{
    for (size_t i = 0; i < KINDS; i++) {
        struct scene *s = scene_make(kinds[i].children, kinds[i].element, kinds[i].quantized);

        for (unsigned n = 0; n < 40; n++) {
            compare(s);
        }
        scene_free(s);
    }
}

/* ---- instructions ---- */

static void check_registers(const struct scene *s, const struct facet_xphmg_rt_why_registers *r)
{
    for (unsigned k = 0; k < r->count; k++) {
        CHECK_EQ(s->g->hart->x[16 + k], r->x[k]);
    }
    for (unsigned k = r->count; k < 4; k++) { /* not written */
        CHECK_EQ(s->g->hart->x[16 + k], 0x5A5A + k);
    }
}

static void prepare(struct scene *s)
{
    for (unsigned k = 0; k < 4; k++) {
        s->g->hart->x[16 + k] = 0x5A5A + k;
    }
    s->g->hart->x[10] = RAY;
    guest_csrw(s->g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
}

static void compare_tile(struct scene *s)
{
    uint64_t dice = harness_random();
    unsigned flags = (unsigned)dice & 15;
    struct facet_xphmg_rt_why_child child[8];
    struct facet_xphmg_rt_why_query query;
    struct facet_error err;

    random_query(s, &query);
    query.t_clamp = (flags & 1) != 0;
    query.pred_only = (flags & 2) != 0;
    query.pack_hint = (flags & 4) != 0;
    query.w_guard = (flags & 8) != 0;
    put_ray(s, &query);
    if (!CHECK(facet_xphmg_rt_why_tile(&query, s->view.header.heap.offset, child, &err) ==
               FACET_OK)) {
        return;
    }
    for (unsigned c = 0; c < s->view.header.children; c++) {
        prepare(s);
        guest_csrw(s->g,
                   FACET_CSR_RTNODE - 0x7FA0 + 0x820,
                   HEAP | c | (s->view.header.children == 8 ? FACET_RTNODE_N8 : 0));
        guest_ok(s->g, "rt.bbox x16, a0, %u\n", flags);
        check_registers(s, &child[c].registers);
        CHECK_EQ(s->g->hart->units.pmask.p0, child[c].steps.lane.outcome == FACET_RT_HIT);
        CHECK_EQ(guest_csr(s->g, FACET_CSR_CAP_PREC_EXC_ST), child[c].flags & FACET_FLAGS_EXC_ST);
    }
}

TEST(explained_boxes_are_what_rt_bbox_writes, "RT-135 RT-137 RT-138 RT-139 RT-144")
{
    for (size_t i = 0; i < KINDS; i++) {
        struct scene *s = scene_make(kinds[i].children, kinds[i].element, kinds[i].quantized);

        for (unsigned n = 0; n < 20; n++) {
            compare_tile(s);
        }
        scene_free(s);
    }
}

static void compare_triangle(struct scene *s)
{
    enum { RANGE = GUEST_DATA + 0x800 };
    unsigned flags = (unsigned)harness_random() & 15;
    uint32_t k = (uint32_t)(harness_random() % s->view.header.triangle_count);
    struct facet_xphmg_rt_why_triangle triangle;
    struct facet_xphmg_rt_why_query query;
    struct facet_error err;

    random_query(s, &query);
    query.cull_back = (flags & 1) != 0;
    query.pred_only = (flags & 2) != 0;
    query.pack_hint = (flags & 4) != 0;
    query.eps_ctl = (flags & 8) != 0;
    put_ray(s, &query);
    if (!CHECK(facet_xphmg_rt_why_triangle(&query, k, &triangle, &err) == FACET_OK)) {
        return;
    }
    guest_store(s->g, RANGE, 8, UINT64_C(1) << 32 | k);
    guest_store(s->g, RANGE + 8, 8, s->triangles);
    guest_csrw(s->g, 0x82B, RANGE);
    guest_csrw(s->g, 0x820, FACET_PUT(0, RTCFG_EPS_DFLT, query.eps));
    guest_csrw(s->g, 0x827, FACET_PUT(0, RTCONF2_EPS_SCALE, query.eps));
    prepare(s);
    guest_ok(s->g, "rt.tri x16, a0, %u\n", flags);
    check_registers(s, &triangle.registers);
    CHECK_EQ(s->g->hart->units.pmask.p0, triangle.steps.lane.outcome == FACET_RT_HIT);
    CHECK_EQ(guest_csr(s->g, FACET_CSR_CAP_PREC_EXC_ST), triangle.flags & FACET_FLAGS_EXC_ST);
}

TEST(explained_triangles_are_what_rt_tri_writes, "RT-155 RT-156 RT-157 RT-158 RT-162")
{
    for (size_t i = 0; i < KINDS; i++) {
        struct scene *s = scene_make(kinds[i].children, kinds[i].element, kinds[i].quantized);

        for (unsigned n = 0; n < 60; n++) {
            compare_triangle(s);
        }
        scene_free(s);
    }
}
