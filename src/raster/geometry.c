/* The geometry unit (tile-semantics.md 17): elements are fetched in order, assembled into
 * triangles, clipped, culled and handed to the raster unit.
 *
 * A vertex that was processed is kept for the next element that names it. That is invisible as long
 * as its bytes are not among those that the draw writes; bytes that are get read afresh, after all
 * earlier pixels. Runs of elements outside VRAM are counted, not walked: a draw may name 2^32 of
 * them. */
#include "raster/geometry.h"

#include <stdlib.h>

enum { GS_U32 = 1, GS_CLIP = 8, GS_USER_PLANE = 16, GS_LIGHT = 32, GS_SPEC = 64, GS_SCISSOR = 128 };
enum { GD_INDEXED = 1, GD_FLAT = 2, GD_CU_ASSIST = 4, GD_RESTART = 8, GD_AFFINE = 256 };
enum { VF_NORMAL = 1 << 16, VF_UV = 1 << 17, VF_UV_FP16 = 1 << 18, VF_COLOR = 1 << 19 };

void facet_raster_report_add(struct raster_report *r, enum facet_raster_code code, uint64_t count)
{
    if (count == 0) {
        return;
    }
    if (r->code == FACET_RASTER_OK) {
        r->code = (uint8_t)code;
    }
    r->count = count >= 0xFFFFFF - r->count ? 0xFFFFFF : r->count + (uint32_t)count;
}

/* ---- making a draw ready ---- */

static void floats(float *to, const uint32_t *from, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        to[i] = float_of(from[i]);
    }
}

static void rgb_floats(float out[3], uint32_t argb)
{
    for (unsigned i = 0; i < 3; i++) {
        out[i] = (float)(argb >> (16 - 8 * i) & 255);
    }
}

static void make_light(const struct raster_gdraw *in, struct geo_draw *d)
{
    const uint32_t *gs = in->gstate;
    struct geo_light *l = &d->light;

    l->has_normal_matrix = gs[20] != 0 || d->has_model;
    if (gs[20] != 0) {
        floats(l->normal, in->normal, 9);
    } else {
        for (unsigned i = 0; i < 9; i++) {
            l->normal[i] = d->model[i / 3 * 4 + i % 3];
        }
    }
    floats(l->direction, gs + 21, 3);
    rgb_floats(l->light, gs[24]);
    rgb_floats(l->ambient, gs[25]);
    rgb_floats(l->spec_color, in->gparam[14]);
    for (unsigned i = 0; i < 3; i++) {
        l->light[i] /= 255.0f;
        l->ambient[i] /= 255.0f;
    }
    l->power = in->gparam[13] & 255;
    l->specular = (gs[3] & GS_SPEC) != 0 && l->power > 0;
    facet_geo_normalize((const float[3]){l->direction[0], l->direction[1], l->direction[2] + 1.0f},
                        l->half);
}

static void make_fetch(uint32_t format, struct geo_draw *d)
{
    uint32_t at = 16;

    d->uv_fp16 = (format & VF_UV_FP16) != 0;
    if ((format & VF_NORMAL) != 0) {
        d->at_normal = at;
        at += 12;
    }
    if ((format & VF_UV) != 0) {
        d->at_uv = at;
        at += d->uv_fp16 ? 4 : 8;
    }
    if ((format & VF_COLOR) != 0) {
        d->at_color = at;
        at += 4;
    }
    d->vertex_bytes = at;
}

/* Step 7; returns the words of the rectangle in force. */
static void
make_viewport(const struct raster_gdraw *in, struct geo_draw *d, uint32_t *xy, uint32_t *wh)
{
    if (in->gstate[29] != 0) {
        *xy = in->gstate[28];
        *wh = in->gstate[29];
    } else if (in->rstate[14] != 0) {
        *xy = in->rstate[13];
        *wh = in->rstate[14];
    } else {
        *xy = 0;
        *wh = in->rstate[3];
    }
    d->half_w = (float)(*wh & 0xFFFF) * 0.5f;
    d->half_h = (float)(*wh >> 16) * 0.5f;
    d->centre_x = (float)low16(*xy) + d->half_w;
    d->centre_y = (float)high16(*xy) + d->half_h;
}

static geo_vertex_fn *choose_process(const struct facet_raster_unit *unit)
{
#if defined(__x86_64__)
    if (!unit->plain && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return facet_geo_vertex_fma;
    }
#endif
    (void)unit;
    return facet_geo_vertex_plain;
}

static void make_draw(const struct raster_gdraw *in, struct geo_draw *d)
{
    const uint32_t flags = in->gstate[3], select = in->words[5] >> 6 & 3;

    memset(d, 0, sizeof *d);
    make_fetch(in->gstate[1], d);
    d->cu_assist = (in->words[5] & GD_CU_ASSIST) != 0;
    d->has_model = (in->gparam[15] & 1) != 0;
    d->has_material = (in->gparam[15] & 2) != 0;
    d->material = in->gparam[12];
    d->lit = (flags & GS_LIGHT) != 0 && d->at_normal != 0;
    floats(d->mvp, in->gstate + 4, 16);
    floats(d->model, in->gparam, 12);
    if (d->lit) {
        make_light(in, d);
    }
    d->clip = select == 1 || (select != 2 && (flags & GS_CLIP) != 0);
    d->user_plane = (flags & GS_USER_PLANE) != 0;
    floats(d->plane, in->plane, 4);
    d->guard = float_of(in->gstate[27]);
    if (!(d->guard >= 1 && d->guard <= 0x1p16f)) {
        d->guard = 1;
    }
    d->process = choose_process(in->unit);
}

/* ---- a draw at work ---- */

enum { SMALL_CACHE = 64, LARGE_CACHE = 1024, SPARE = 4 };

struct assembler {
    const struct geo_draw *draw;
    const struct raster_gdraw *in;
    struct raster_pipe *pipe;
    struct raster_sink sink;
    struct raster_report *report;
    enum raster_cull cull;
    bool flat, affine, strip;
    bool bad_mem_told;
    uint64_t n;                         /* elements since the last restart */
    const struct geo_vertex *corner[3]; /* list: those of the unfinished triangle; strip: the last
                                           two in [0] and [1] */
    /* processed vertices, by number */
    struct geo_vertex *cache;
    uint32_t *tag;
    uint8_t *filled;
    uint32_t mask;
    struct geo_vertex spare[SPARE];
};

static const struct geo_vertex bad_vertex = {.bad = true};

static void tell_bad_mem(struct assembler *a)
{
    if (a->pipe->bad_mem && !a->bad_mem_told) {
        a->bad_mem_told = true;
        facet_raster_report_add(a->report, FACET_RASTER_BAD_MEM, 1);
    }
}

static void raster(struct assembler *a,
                   const struct raster_vertex *const corners[3],
                   const struct geo_vertex *provoking)
{
    const struct raster_shade shade = {
        .cull = a->cull, .affine = a->affine, .solid = a->flat, .color = provoking->color};
    struct raster_triangle local, *t = facet_raster_sink_slot(&a->sink, &local);

    switch (facet_raster_setup(a->pipe, &shade, corners, t)) {
    case SETUP_DRAW:
        facet_raster_sink_add(&a->sink, t);
        tell_bad_mem(a);
        break;
    case SETUP_RANGE:
        facet_raster_report_add(a->report, FACET_RASTER_RANGE, 1);
        break;
    case SETUP_NOTHING:
        break;
    }
}

static void clipped(struct assembler *a,
                    const struct geo_vertex *const v[3],
                    unsigned first,
                    const struct geo_vertex *provoking)
{
    struct raster_vertex polygon[GEO_MAX_CORNERS];
    const unsigned count = facet_geo_clip(a->draw, v, first, polygon);

    for (unsigned i = 2; i < count; i++) {
        const struct raster_vertex *const fan[3] = {&polygon[0], &polygon[i - 1], &polygon[i]};

        raster(a, fan, provoking);
    }
}

static bool small_w(const struct geo_vertex *v)
{
    return !(v->screen.w >= 0x1p-20f);
}

static void triangle(struct assembler *a,
                     const struct geo_vertex *v0,
                     const struct geo_vertex *v1,
                     const struct geo_vertex *v2,
                     const struct geo_vertex *provoking)
{
    const struct geo_vertex *const v[3] = {v0, v1, v2};
    const struct raster_vertex *const whole[3] = {&v0->screen, &v1->screen, &v2->screen};

    if (v0->bad || v1->bad || v2->bad) {
        facet_raster_report_add(a->report, FACET_RASTER_BAD_INDEX, 1);
        return;
    }
    if (!a->draw->clip) {
        if (!small_w(v0) && !small_w(v1) && !small_w(v2)) {
            raster(a, whole, provoking);
        }
        return;
    }
    if ((v0->outside | v1->outside | v2->outside) == 0) {
        raster(a, whole, provoking);
        return;
    }
    /* Planes that all corners are inside of change nothing, so the first other one decides: all
     * outside it and the triangle is gone. Later planes see corners that this one made. */
    const unsigned some = v0->outside | v1->outside | v2->outside;
    const unsigned first = (unsigned)__builtin_ctz(some);

    if ((v0->outside & v1->outside & v2->outside) >> first & 1) {
        return;
    }
    clipped(a, v, first, provoking);
}

static void element(struct assembler *a, const struct geo_vertex *v)
{
    if (!a->strip) {
        const unsigned at = (unsigned)(a->n % 3);

        a->corner[at] = v;
        a->n++;
        if (at == 2) {
            triangle(a, a->corner[0], a->corner[1], v, a->corner[0]);
        }
        return;
    }
    if (++a->n >= 3) {
        const struct geo_vertex *older = a->corner[0], *old = a->corner[1];

        if (a->n % 2 != 0) { /* k = n - 3 is even */
            triangle(a, older, old, v, older);
        } else {
            triangle(a, old, older, v, older);
        }
    }
    a->corner[0] = a->n == 1 ? v : a->corner[1];
    a->corner[1] = v;
}

/* `count` bad elements in a row. After three of them only their number matters. */
static void bad_run(struct assembler *a, uint64_t count)
{
    uint64_t rest;

    for (unsigned i = 0; i < 3 && count > 0; i++, count--) {
        element(a, &bad_vertex);
    }
    rest = a->strip ? 0 : count % 3;
    count -= rest;
    facet_raster_report_add(a->report, FACET_RASTER_BAD_INDEX, a->strip ? count : count / 3);
    a->n += count;
    for (; rest > 0; rest--) {
        element(a, &bad_vertex);
    }
}

/* ---- fetch ---- */

static bool pinned(const struct assembler *a, const struct geo_vertex *v)
{
    return a->corner[0] == v || a->corner[1] == v || a->corner[2] == v;
}

static struct geo_vertex *spare(struct assembler *a)
{
    unsigned i = 0;

    while (pinned(a, &a->spare[i])) {
        i++; /* three corners cannot pin four */
    }
    return &a->spare[i];
}

/* What is read must not wait in the queue of pixels. True when it is also written by this draw. */
static bool written_here(struct assembler *a, const uint8_t *bytes, uint32_t size)
{
    const uint32_t begin = (uint32_t)(bytes - a->pipe->unit->vram), end = begin + size;

    if (!span_meets(a->pipe->color, begin, end) && !span_meets(a->pipe->depth, begin, end)) {
        return false;
    }
    facet_raster_sink_flush(&a->sink);
    return true;
}

static const struct geo_vertex *vertex(struct assembler *a, uint32_t number)
{
    const uint32_t *gs = a->in->gstate, slot = number & a->mask;
    struct geo_vertex *v;
    const uint8_t *bytes;

    if (a->cache != NULL && a->filled[slot] != 0 && a->tag[slot] == number) {
        return &a->cache[slot];
    }
    bytes = vram_at(a->in->unit, gs[0] + number * (gs[1] & 0xFFFF), a->draw->vertex_bytes);
    if (bytes == NULL) {
        return &bad_vertex;
    }
    tell_touch(a->in->unit, bytes, a->draw->vertex_bytes);
    if (written_here(a, bytes, a->draw->vertex_bytes) || a->cache == NULL ||
        pinned(a, &a->cache[slot])) {
        v = spare(a);
    } else {
        v = &a->cache[slot];
        a->tag[slot] = number;
        a->filled[slot] = 1;
    }
    a->draw->process(a->draw, bytes, v);
    return v;
}

/* How many of `count` items of `size` bytes, `stride` apart from `address` on, are certain to lie
 * outside VRAM; 0 when the first one begins inside. */
static uint64_t
outside_run(const struct facet_raster_unit *unit, uint32_t address, uint32_t stride, uint64_t count)
{
    const uint32_t offset = address - FACET_VRAM_BASE;
    uint64_t run;

    if (offset < unit->vram_size) {
        return 0;
    }
    if (stride == 0) {
        return count;
    }
    run = ((UINT64_C(1) << 32) - offset + stride - 1) / stride;
    return run < count ? run : count;
}

static void walk_plain(struct assembler *a)
{
    const uint32_t *words = a->in->words, *gs = a->in->gstate, stride = gs[1] & 0xFFFF;
    const uint64_t count = words[2];

    for (uint64_t k = 0; k < count;) {
        const uint32_t number = words[0] + (uint32_t)k;
        const uint64_t run = outside_run(a->in->unit, gs[0] + number * stride, stride, count - k);

        if (run > 0) {
            bad_run(a, run);
            k += run;
        } else {
            element(a, vertex(a, number));
            k++;
        }
    }
}

/* With stride 0 all vertices are one and every triangle is a point: nothing is drawn, but each may
 * report what the first one does. */
static void walk_one(struct assembler *a)
{
    const uint64_t count = a->in->words[2];
    const uint64_t triangles = a->strip ? (count < 3 ? 0 : count - 2) : count / 3;
    const struct geo_vertex *v;
    struct raster_report one = {0, 0}, *all = a->report;

    if (triangles > 0) {
        v = vertex(a, a->in->words[0]);
        a->report = &one;
        triangle(a, v, v, v, v);
        a->report = all;
        facet_raster_report_add(all, (enum facet_raster_code)one.code, one.count * triangles);
    }
}

static void walk_indexed(struct assembler *a)
{
    const uint32_t *words = a->in->words, *gs = a->in->gstate;
    const uint32_t size = (gs[3] & GS_U32) != 0 ? 4 : 2;
    const uint32_t restart = size == 4 ? 0xFFFFFFFFu : 0xFFFF;
    const bool restarts = (words[5] & GD_RESTART) != 0;
    const uint64_t count = words[2];

    for (uint64_t k = 0; k < count;) {
        const uint32_t address = gs[2] + (words[1] + (uint32_t)k) * size;
        const uint64_t run = outside_run(a->in->unit, address, size, count - k);
        const uint8_t *bytes = vram_at(a->in->unit, address, size);
        uint32_t raw;

        if (run > 0 || bytes == NULL) {
            bad_run(a, run > 0 ? run : 1);
            k += run > 0 ? run : 1;
            continue;
        }
        tell_touch(a->in->unit, bytes, size);
        (void)written_here(a, bytes, size);
        raw = size == 4 ? load_u32(bytes) : load_u16(bytes);
        if (restarts && raw == restart) {
            a->n = 0;
        } else {
            element(a, vertex(a, raw + words[0]));
        }
        k++;
    }
}

/* ---- entry ---- */

static void walk(struct assembler *a, uint32_t entries, struct geo_vertex *small)
{
    uint32_t tags[SMALL_CACHE];
    uint8_t filled[LARGE_CACHE];
    struct geo_vertex *large = NULL;

    if ((a->in->words[5] & GD_INDEXED) == 0) {
        if ((a->in->gstate[1] & 0xFFFF) == 0) {
            walk_one(a);
        } else {
            walk_plain(a);
        }
        return;
    }
    memset(filled, 0, entries);
    a->filled = filled;
    a->mask = entries - 1;
    if (entries <= SMALL_CACHE) {
        a->cache = small;
        a->tag = tags;
    } else {
        large = malloc(entries * (sizeof *large + sizeof *a->tag));
        a->cache = large; /* NULL: nothing is kept */
        a->tag = large != NULL ? (uint32_t *)(void *)(large + entries) : NULL;
    }
    walk_indexed(a);
    free(large);
}

void facet_raster_geometry_draw(const struct raster_gdraw *draw,
                                const struct raster_sampler *sampler,
                                struct raster_report *report,
                                struct facet_raster_span *color,
                                struct facet_raster_span *depth)
{
    const uint32_t flags = draw->words[5], gs_flags = draw->gstate[3];
    const uint32_t cull = (flags >> 4 & 3) == 0 ? gs_flags >> 1 & 3 : flags >> 4 & 3;
    struct geo_vertex small[SMALL_CACHE];
    struct raster_choice choice = {
        .textured = (draw->rstate[12] & RS_FLAG_TEXTURE) != 0,
        .depth = true,
        .blend = draw->rstate[7] & 255,
        .clip = facet_raster_state_box(draw->rstate),
    };
    struct geo_draw ready;
    struct raster_pipe pipe;
    struct assembler a = {
        .draw = &ready,
        .in = draw,
        .pipe = &pipe,
        .report = report,
        .cull = cull == 3 ? CULL_NONE : (enum raster_cull)cull,
        .flat = (flags & GD_FLAT) != 0,
        .affine = (flags & GD_AFFINE) != 0,
        .strip = draw->words[3] == 1,
    };
    uint32_t xy, wh, entries = SMALL_CACHE;

    make_draw(draw, &ready);
    make_viewport(draw, &ready, &xy, &wh);
    facet_raster_box_cut(&choice.clip, xy, wh);
    if ((gs_flags & GS_SCISSOR) != 0) {
        facet_raster_box_cut(&choice.clip, draw->gstate[30], draw->gstate[31]);
    }
    facet_raster_pipe_make(draw->unit, draw->rstate, &choice, sampler, &pipe);
    *color = pipe.color;
    *depth = pipe.depth;
    while (entries < LARGE_CACHE && entries < draw->words[2]) {
        entries *= 2;
    }
    facet_raster_sink_open(&a.sink, &pipe);
    walk(&a, entries, small);
    facet_raster_sink_close(&a.sink);
}
