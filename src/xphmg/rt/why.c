/* See why.h. The job runs on a machine of its own, whose RAM holds the instruction, its
 * descriptor, three queues and the two sections of the image. */
#include "xphmg/rt/why.h"

#include "xphmg/machine.h"
#include "xphmg/rt/rt.h"

#include <string.h>

uint32_t facet_xphmg_rt_why_element(const struct facet_rtbvh_view *view, unsigned i, float value)
{
    struct facet_conv conv = view->numbers.channel[i < 6 ? i % 3 : 3];
    unsigned flags = 0;

    conv.rm = FACET_RNE;
    conv.sat =
        !isinf(value) || facet_format_is_int(conv.elem) || !facet_fp_formats[conv.elem].has_inf;
    conv.nan_pol = 0;
    return facet_narrow(&conv, facet_float_bits(value), &flags);
}

/* Addresses in the machine. */
enum {
    CODE = 0x80000000u,
    DESCRIPTOR = CODE + 0x100,
    RAY_QUEUE = CODE + 0x200,
    HIT_QUEUE = CODE + 0x220,
    MISS_QUEUE = CODE + 0x240,
    RAY = CODE + 0x400,
    HIT = CODE + 0x600,
    MISS = CODE + 0x800,
    HEAP = CODE + 0x1000,
    RS1 = 10, /* holds the address of the descriptor */
    ENTRY_BYTES = 64,
};

/* A job under way. */
struct explainer {
    const struct facet_xphmg_rt_why_query *query;
    facet_xphmg_rt_why_event *event;
    void *context;
    uint64_t heap, triangles; /* addresses */
    uint64_t visits;
    uint64_t range; /* file offset of the TriRange in work */
    enum facet_status status;
    struct facet_error *err;
};

/* What a job leaves, as bytes, so that two can be compared. */
struct outcome {
    uint8_t hit[ENTRY_BYTES], miss[FACET_RT_MISS_BYTES];
    uint64_t hit_tail, rtstat, exc_st, stat;
};

/* ---- the image ---------------------------------------------------------------------------------
 */

static uint64_t triangle_offset(const struct facet_rtbvh_view *view, uint32_t k)
{
    return view->header.triangles.offset +
           facet_container_offset(&view->container, (uint64_t)FACET_RT_TRIANGLE_ELEMENTS * k);
}

/* The complaint about what lies outside the heap. */
static enum facet_status outside(const struct facet_rtbvh_view *view,
                                 const char *what,
                                 uint64_t offset,
                                 struct facet_error *err)
{
    const struct facet_rtbvh_section *heap = &view->header.heap;

    return facet_fail(err,
                      FACET_ERR_INPUT,
                      offset,
                      "offset 0x%llx: %s outside the heap, expected one inside 0x%llx..0x%llx",
                      (unsigned long long)offset,
                      what,
                      (unsigned long long)heap->offset,
                      (unsigned long long)(heap->offset + heap->size));
}

static bool in_heap(const struct facet_rtbvh_view *view, uint64_t at, uint64_t bytes)
{
    return at <= view->header.heap.size && bytes <= view->header.heap.size - at;
}

/* ---- watching ----------------------------------------------------------------------------------
 */

/* Whether the image has what the event is about; *offset is where. */
static enum facet_status
locate(struct explainer *e, const struct facet_xphmg_rt_event *event, uint64_t *offset)
{
    const struct facet_rtbvh_view *view = e->query->view;
    uint64_t at = event->address - e->heap;

    switch (event->kind) {
    case FACET_XPHMG_RT_EVENT_TILE:
        *offset = view->header.heap.offset + at;
        return in_heap(view, at, view->tile_bytes) ? FACET_OK
                                                   : outside(view, "a tile", *offset, e->err);
    case FACET_XPHMG_RT_EVENT_RANGE:
        *offset = e->range = view->header.heap.offset + at;
        return in_heap(view, at, FACET_RT_RANGE_BYTES)
                   ? FACET_OK
                   : outside(view, "a TriRange", *offset, e->err);
    case FACET_XPHMG_RT_EVENT_TRIANGLE:
        if (event->base != 0) {
            return facet_fail(e->err,
                              FACET_ERR_INPUT,
                              e->range + 8,
                              "offset 0x%llx: the base of a TriRange is 0x%llx, expected 0",
                              (unsigned long long)e->range + 8,
                              (unsigned long long)event->base);
        }
        *offset = triangle_offset(view, event->number);
        return event->number < view->header.triangle_count
                   ? FACET_OK
                   : facet_fail(e->err,
                                FACET_ERR_INPUT,
                                e->range,
                                "offset 0x%llx: a TriRange with triangle %u, expected one below %u",
                                (unsigned long long)e->range,
                                event->number,
                                view->header.triangle_count);
    case FACET_XPHMG_RT_EVENT_TEST:
        *offset = triangle_offset(view, event->number);
        return FACET_OK;
    default:
        *offset = 0;
        return FACET_OK;
    }
}

static bool on_event(void *context, const struct facet_xphmg_rt_event *event)
{
    struct explainer *e = context;
    uint64_t offset = 0;

    if (e->status != FACET_OK) {
        return false;
    }
    e->status = locate(e, event, &offset);
    if (e->status == FACET_OK &&
        (event->kind == FACET_XPHMG_RT_EVENT_TILE ||
         event->kind == FACET_XPHMG_RT_EVENT_TRIANGLE) &&
        ++e->visits > FACET_XPHMG_RT_WHY_VISITS) {
        e->status = facet_fail(e->err,
                               FACET_ERR_INPUT,
                               offset,
                               "offset 0x%llx: more than %d tile visits and triangle tests, "
                               "expected a hierarchy without cycles",
                               (unsigned long long)offset,
                               (int)FACET_XPHMG_RT_WHY_VISITS);
    }
    if (e->status == FACET_OK) {
        e->event(e->context, event, offset);
    }
    return e->status == FACET_OK;
}

/* ---- the job -----------------------------------------------------------------------------------
 */

static uint32_t options(const struct facet_xphmg_rt_why_query *q)
{
    return (q->cull_back ? FACET_XPHMG_RT_DESC_OPTS_CULL_BACK : 0u) |
           (q->pack_hint ? FACET_XPHMG_RT_DESC_OPTS_PACK_HINT : 0u) |
           (q->eps_ctl ? FACET_XPHMG_RT_DESC_OPTS_EPS_CTL : 0u) |
           (q->any_hit ? FACET_XPHMG_RT_DESC_OPTS_ANY_HIT : 0u) |
           (q->view->header.children == 8 ? FACET_XPHMG_RT_DESC_OPTS_NODE8 : 0u) |
           (q->w_guard ? FACET_XPHMG_RT_DESC_OPTS_W_GUARD : 0u);
}

/* A queue of two slots; `tail` entries are in it. */
static void put_queue(uint8_t *ram, uint64_t at, uint32_t tail, uint64_t base)
{
    uint8_t *q = ram + (at - CODE);

    facet_store_le32(q, 0);
    facet_store_le32(q + 4, tail);
    facet_store_le32(q + 8, 2);
    facet_store_le64(q + 16, base);
}

static void put_ray(const struct facet_xphmg_rt_why_query *q, uint8_t *record)
{
    const struct facet_container *c = &q->view->container;

    for (unsigned i = 0; i < FACET_RT_RAY_ELEMENTS + (q->w_guard ? 1u : 0u); i++) {
        uint8_t *at = record + facet_container_offset(c, i);
        uint64_t bits = facet_load_le(at, c->bytes);

        facet_store_le(
            at, c->bytes, facet_container_put(c, bits, facet_container_slot(c, i), q->ray[i]));
    }
}

/* Everything that the job reads; the sections of the image are there already. */
static void set_up(const struct explainer *e, struct facet_hart *h)
{
    const struct facet_xphmg_rt_why_query *q = e->query;
    const struct facet_rtbvh_header *header = &q->view->header;
    uint8_t *ram = h->ram.bytes, *d = ram + (DESCRIPTOR - CODE);
    uint32_t word = facet_isa_rows[FACET_ISA_XPHMG][FACET_XPHMG_XSUBMIT_RT].match | (uint32_t)RS1
                                                                                        << 15;

    memset(ram, 0, HEAP - CODE);
    facet_store_le32(ram, word);
    facet_store_le64(d, e->heap);
    facet_store_le64(d + 8, RAY_QUEUE);
    facet_store_le64(d + 16, HIT_QUEUE);
    facet_store_le64(d + 24, MISS_QUEUE);
    facet_store_le64(d + 32, e->triangles);
    facet_store_le32(d + 40, options(q));
    put_queue(ram, RAY_QUEUE, 1, RAY);
    put_queue(ram, HIT_QUEUE, 0, HIT);
    put_queue(ram, MISS_QUEUE, 0, MISS);
    put_ray(q, ram + (RAY - CODE));
    facet_hart_csr_poke(h, FACET_CSR_CAP_PREC_ALT, header->alt | FACET_CAP_PREC_ALT_APPLY1);
    facet_hart_csr_poke(h, FACET_CSR_CAP_PREC_MODE, header->mode | FACET_CAP_PREC_MODE_APPLY0);
    facet_hart_csr_poke(h, FACET_CSR_RTCFG, FACET_PUT(0, RTCFG_EPS_DFLT, q->eps));
    facet_hart_csr_poke(h, FACET_CSR_RTCONF2, FACET_PUT(0, RTCONF2_EPS_SCALE, q->eps));
    facet_hart_csr_poke(h, FACET_CSR_CAP_PREC_EXC_ST, UINT64_MAX);
    h->x[RS1] = DESCRIPTOR;
}

/* Runs the job once, watched or not. */
static struct outcome run(struct explainer *e, facet_machine *machine, bool watched)
{
    struct facet_xphmg *m = facet_machine_self(machine, &facet_xphmg_ops, NULL);
    struct facet_hart *h = &m->harts[0];
    const struct facet_xphmg_rt_watch watch = {e, on_event};
    const uint8_t *ram = h->ram.bytes;
    struct outcome out;

    facet_machine_reset(machine);
    set_up(e, h);
    if (!watched) { /* with NX up jobs need not find it out, and are fast */
        facet_prec_raise(&h->units.cap.prec, FACET_NX);
    }
    h->rt_watch = watched ? &watch : NULL;
    (void)facet_hart_step(h); /* the descriptor is sound: no trap */
    h->rt_watch = NULL;
    memcpy(out.hit, ram + (HIT - CODE), sizeof out.hit);
    memcpy(out.miss, ram + (MISS - CODE), sizeof out.miss);
    out.hit_tail = facet_load_le32(ram + (HIT_QUEUE - CODE) + 4);
    out.rtstat = facet_hart_csr_peek(h, FACET_CSR_RTSTAT);
    out.exc_st = facet_hart_csr_peek(h, FACET_CSR_CAP_PREC_EXC_ST);
    out.stat = facet_hart_csr_peek(h, FACET_CSR_CAP_PREC_STAT) & FACET_FLAGS_STAT;
    return out;
}

static void read_hit(const struct facet_xphmg_rt_why_query *q,
                     const uint8_t *entry,
                     struct facet_xphmg_rt_why_result *result)
{
    const struct facet_container *c = &q->view->container;
    unsigned width = q->pack_hint ? 2 : c->bytes;

    result->triangle = facet_load_le32(entry + 8);
    result->leaf = facet_load_le32(entry + 12);
    result->front = facet_load_le32(entry + facet_rt_hit_entry_bytes(c) - 4) != 0;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t bits = facet_load_le(entry + 16 + (size_t)i * width, width);

        result->value[i] = q->pack_hint ? (uint32_t)bits : facet_container_get(c, bits, 0);
    }
}

static void read_outcome(const struct facet_xphmg_rt_why_query *q,
                         const struct outcome *out,
                         struct facet_xphmg_rt_why_result *result)
{
    *result = (struct facet_xphmg_rt_why_result){
        .hit = out->hit_tail != 0,
        .nan = facet_load_le32(out->miss + 8) != 0,
        .error = (unsigned)FACET_GET(out->rtstat, RTSTAT_LAST_EC),
        .flags = (unsigned)(out->exc_st | out->stat),
        .boxes = FACET_GET(out->rtstat, RTSTAT_BBOX_ISSUED),
        .triangles = FACET_GET(out->rtstat, RTSTAT_TRI_ISSUED),
    };
    if (result->hit) {
        read_hit(q, out->hit, result);
    }
}

/* A machine whose RAM holds the sections. */
static enum facet_status load(struct explainer *e, facet_machine **machine, struct facet_error *err)
{
    const struct facet_rtbvh_view *view = e->query->view;
    const struct facet_rtbvh_section *heap = &view->header.heap, *tris = &view->header.triangles;
    uint64_t bytes;
    struct facet_xphmg_config config = {.plain = true};
    enum facet_status status;

    e->heap = HEAP;
    e->triangles = HEAP + (heap->size + 63) / 64 * 64;
    bytes = e->triangles + tris->size - CODE;
    config.ram_bytes = (bytes + 4095) / 4096 * 4096;
    status = facet_xphmg_create(&config, machine, err);
    if (status == FACET_OK) {
        const struct facet_xphmg *m = facet_machine_self(*machine, &facet_xphmg_ops, NULL);
        uint8_t *ram = m->harts[0].ram.bytes;

        if (heap->size != 0) {
            memcpy(ram + (e->heap - CODE), view->bytes + heap->offset, heap->size);
        }
        if (tris->size != 0) {
            memcpy(ram + (e->triangles - CODE), view->bytes + tris->offset, tris->size);
        }
    }
    return status;
}

enum facet_status facet_xphmg_rt_why_trace(const struct facet_xphmg_rt_why_query *query,
                                           facet_xphmg_rt_why_event *event,
                                           void *context,
                                           struct facet_xphmg_rt_why_result *result,
                                           struct facet_error *err)
{
    struct explainer e = {.query = query, .event = event, .context = context, .err = err};
    facet_machine *machine = NULL;
    enum facet_status status = load(&e, &machine, err);

    *result = (struct facet_xphmg_rt_why_result){0};
    if (status == FACET_OK) {
        struct outcome told = run(&e, machine, true), other;

        read_outcome(query, &told, result);
        status = e.status;
        if (status == FACET_OK) {
            other = run(&e, machine, false);
            other.exc_st = (other.exc_st & ~(uint64_t)FACET_NX) | (told.exc_st & FACET_NX);
            result->agrees = memcmp(&told, &other, sizeof told) == 0;
        }
    }
    facet_machine_destroy(machine);
    return status;
}

/* ---- instructions ------------------------------------------------------------------------------
 */

static struct facet_xphmg_rt_why_registers registers_of(const struct facet_xphmg_rt_why_query *q,
                                                        const struct facet_rt_lane *lane,
                                                        unsigned *flags)
{
    struct facet_xphmg_rt_why_registers r = {{lane->outcome == FACET_RT_HIT}, 0};
    uint32_t out[3];

    if (q->pred_only) {
        return r;
    }
    facet_rt_lane_encode(&q->view->numbers, q->pack_hint, lane, out, flags);
    r.count = q->pack_hint ? 1 : 1u + lane->count;
    if (q->pack_hint) {
        r.x[0] <<= 63;
    }
    for (unsigned i = 0; i < lane->count; i++) {
        if (q->pack_hint) {
            r.x[0] |= (uint64_t)out[i] << 16 * i;
        } else {
            r.x[1 + i] = facet_container_single_x(&q->view->container, out[i]);
        }
    }
    return r;
}

enum facet_status facet_xphmg_rt_why_tile(const struct facet_xphmg_rt_why_query *query,
                                          uint64_t offset,
                                          struct facet_xphmg_rt_why_child out[8],
                                          struct facet_error *err)
{
    const struct facet_rtbvh_view *view = query->view;
    const struct facet_rt_box_options opts = {query->t_clamp, query->w_guard};
    uint64_t at = offset - view->header.heap.offset;

    if (offset < view->header.heap.offset || !in_heap(view, at, facet_rtbvh_node_bytes(view))) {
        return outside(view, "a tile", offset, err);
    }
    if (at % view->tile_bytes != 0) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          offset,
                          "offset 0x%llx: not where a tile starts, expected 0x%llx and a multiple "
                          "of 0x%llx bytes",
                          (unsigned long long)offset,
                          (unsigned long long)view->header.heap.offset,
                          (unsigned long long)view->tile_bytes);
    }
    for (unsigned c = 0; c < view->header.children; c++) {
        struct facet_xphmg_rt_why_child *child = &out[c];

        *child = (struct facet_xphmg_rt_why_child){.stored = facet_rtbvh_child(view, at, c)};
        if (child->stored.type == FACET_RT_EMPTY) {
            child->steps.rule = 1;
            child->steps.lane = facet_rt_no_lane(2);
        } else {
            facet_rt_box_lane_steps(&view->numbers,
                                    &opts,
                                    query->ray,
                                    child->stored.elements,
                                    &child->steps,
                                    &child->flags);
        }
        child->registers = registers_of(query, &child->steps.lane, &child->flags);
    }
    return FACET_OK;
}

enum facet_status facet_xphmg_rt_why_triangle(const struct facet_xphmg_rt_why_query *query,
                                              uint32_t k,
                                              struct facet_xphmg_rt_why_triangle *out,
                                              struct facet_error *err)
{
    const struct facet_rtbvh_view *view = query->view;
    const struct facet_rt_options opts = {
        .eps = facet_rt_epsilon(query->eps),
        .cull_back = query->cull_back,
        .no_uv = query->pred_only,
    };

    if (k >= view->header.triangle_count) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          k,
                          "triangle %u: the image has %u, expected a number below that",
                          k,
                          view->header.triangle_count);
    }
    *out = (struct facet_xphmg_rt_why_triangle){.flags = 0};
    facet_rtbvh_vertices(view, k, out->elements);
    facet_rt_triangle_lane_steps(
        &view->numbers, &opts, query->ray, out->elements, &out->steps, &out->flags);
    out->registers = registers_of(query, &out->steps.lane, &out->flags);
    return FACET_OK;
}
