/* The geometry unit (tile-semantics.md 17): elements are fetched in order, assembled into
 * triangles, clipped, culled and handed to the raster unit.
 *
 * A vertex that was processed is kept for the next element that names it. That is invisible as long
 * as its bytes are not among those that the draw writes; bytes that are get read afresh, after all
 * earlier pixels. Runs of elements outside VRAM are counted, not walked: a draw may name 2^32 of
 * them. */
#include "raster/geometry.h"

void facet_raster_report_add(struct facet_raster_part *part,
                             enum facet_raster_code code,
                             uint64_t count)
{
    if (count == 0) {
        return;
    }
    if (part->code == FACET_RASTER_OK) {
        part->code = (uint8_t)code;
    }
    part->count = count >= FACET_RASTER_MAX_REPORTS - part->count ? FACET_RASTER_MAX_REPORTS
                                                                  : part->count + (uint32_t)count;
}

/* ---- making a draw ready ---- */

static void rgb_floats(float out[3], uint32_t argb)
{
    float rgba[4];

    rgba_floats(rgba, argb);
    memcpy(out, rgba, 3 * sizeof *out);
}

static void make_light(const struct raster_gdraw *in, struct geo_draw *d)
{
    const struct facet_tile_gstate_fields *gs = &in->gstate;
    struct geo_light *l = &d->light;

    l->has_normal_matrix = gs->normal_ptr != 0 || d->has_model;
    if (gs->normal_ptr != 0) {
        memcpy(l->normal, in->normal.m, sizeof l->normal);
    } else {
        for (unsigned i = 0; i < 9; i++) {
            l->normal[i] = d->model[i / 3 * 4 + i % 3];
        }
    }
    memcpy(l->direction, gs->light_dir, sizeof l->direction);
    rgb_floats(l->light, gs->light_color);
    rgb_floats(l->ambient, gs->ambient);
    rgb_floats(l->spec_color, in->gparam.spec_color);
    for (unsigned i = 0; i < 3; i++) {
        l->light[i] /= 255.0f;
        l->ambient[i] /= 255.0f;
    }
    l->power = in->gparam.spec_power;
    l->specular = (gs->flags & FACET_TILE_GSTATE_FLAGS_SPEC) != 0 && l->power > 0;
    facet_raster_geo_normalize(
        (const float[3]){l->direction[0], l->direction[1], l->direction[2] + 1.0f}, l->half);
}

/* An attribute that is absent takes no bytes. */
static void make_fetch(uint32_t attributes, struct geo_draw *d)
{
    uint32_t at = FACET_TILE_GVERTEX_NORMAL_AT;

    d->uv_fp16 = (attributes & FACET_TILE_GSTATE_ATTRIBUTES_UV_FP16) != 0;
    if ((attributes & FACET_TILE_GSTATE_ATTRIBUTES_NORMAL) != 0) {
        d->at_normal = at;
        at += FACET_TILE_GVERTEX_UV_AT - FACET_TILE_GVERTEX_NORMAL_AT;
    }
    if ((attributes & FACET_TILE_GSTATE_ATTRIBUTES_UV) != 0) {
        d->at_uv = at;
        at += (FACET_TILE_GVERTEX_COLOR_AT - FACET_TILE_GVERTEX_UV_AT) / (d->uv_fp16 ? 2 : 1);
    }
    if ((attributes & FACET_TILE_GSTATE_ATTRIBUTES_COLOR) != 0) {
        d->at_color = at;
        at += FACET_TILE_GVERTEX_SIZE - FACET_TILE_GVERTEX_COLOR_AT;
    }
    d->vertex_bytes = at;
}

static bool any(const uint16_t wh[2])
{
    return (wh[0] | wh[1]) != 0;
}

/* Step 7; cuts the clip rectangle by the viewport in force. */
static void
make_viewport(const struct raster_gdraw *in, struct geo_draw *d, struct raster_choice *choice)
{
    static const int16_t origin[2] = {0, 0};
    const bool own = any(in->gstate.viewport_wh), state = any(in->rstate.viewport_wh);
    const int16_t *xy = own ? in->gstate.viewport_xy : state ? in->rstate.viewport_xy : origin;
    const uint16_t *wh = own     ? in->gstate.viewport_wh
                         : state ? in->rstate.viewport_wh
                                 : in->rstate.fb_wh;

    d->half_w = (float)wh[0] * 0.5f;
    d->half_h = (float)wh[1] * 0.5f;
    d->centre_x = (float)xy[0] + d->half_w;
    d->centre_y = (float)xy[1] + d->half_h;
    facet_raster_clip_cut(choice, FACET_RASTER_CUT_VIEWPORT, xy, wh);
}

static geo_vertex_fn *choose_process(const struct facet_raster_unit *unit)
{
#if defined(__x86_64__)
    if (!unit->plain && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        FACET_FAST_WAY(RASTER_VERTEX);
        return facet_geo_vertex_fma;
    }
#endif
    (void)unit;
    return facet_geo_vertex_plain;
}

static void make_draw(const struct raster_gdraw *in, struct geo_draw *d)
{
    const uint32_t flags = in->gstate.flags, clip = in->draw.clip;

    memset(d, 0, sizeof *d);
    make_fetch(in->gstate.attributes, d);
    d->cu_assist = (in->draw.flags & FACET_TILE_GDRAW_FLAGS_CU_ASSIST) != 0;
    d->has_model = (in->gparam.flags & FACET_TILE_GPARAM_FLAGS_MODEL) != 0;
    d->has_material = (in->gparam.flags & FACET_TILE_GPARAM_FLAGS_MATERIAL) != 0;
    d->material = in->gparam.material;
    d->lit = (flags & FACET_TILE_GSTATE_FLAGS_LIGHT) != 0 && d->at_normal != 0;
    memcpy(d->mvp, in->gstate.mvp, sizeof d->mvp);
    memcpy(d->model, in->gparam.model, sizeof d->model);
    if (d->lit) {
        make_light(in, d);
    }
    d->clip = clip == FACET_TILE_GDRAW_CLIP_ON ||
              (clip == FACET_TILE_GDRAW_CLIP_STATE && (flags & FACET_TILE_GSTATE_FLAGS_CLIP) != 0);
    d->user_plane = (flags & FACET_TILE_GSTATE_FLAGS_USER_PLANE) != 0;
    memcpy(d->plane, in->plane.abcd, sizeof d->plane);
    d->guard = in->gstate.guard;
    if (!(d->guard >= 1 && d->guard <= 0x1p16f)) {
        d->guard = 1;
    }
    d->process = choose_process(in->unit);
}

/* ---- a running draw ---- */

enum { ELEMENT_PIXELS = 4 }; /* what an element takes beside its pixels, at a guess */

static const struct geo_vertex bad_vertex = {.bad = true};

static void tell_bad_mem(struct geo_assembler *a)
{
    if (a->pipe->bad_mem && a->part->bad_mem_told == 0) {
        a->part->bad_mem_told = 1;
        facet_raster_report_add(a->part, FACET_RASTER_BAD_MEM, 1);
    }
}

static void raster(struct geo_assembler *a,
                   const struct raster_vertex *const corners[3],
                   bool solid,
                   bool clipped,
                   const struct geo_vertex *provoking)
{
    const struct raster_shade shade = {
        .cull = a->cull, .affine = a->affine, .solid = solid, .color = provoking->color};
    struct raster_triangle local, *t = a->sink.slot != a->sink.end ? a->sink.slot : &local;
    enum raster_setup setup;

    if (a->fan < a->done) {
        a->fan++;
        return;
    }
    facet_raster_probe_triangle(a->pipe, &shade, corners, clipped);
    setup = facet_raster_setup(a->pipe, &shade, corners, t);
    if (setup == SETUP_DRAW) {
        a->row = facet_raster_sink_add(&a->sink, t, a->row);
        facet_raster_probe_done(a->pipe);
        if (a->row < t->box.y1) {
            a->leaves = true;
            return;
        }
        tell_bad_mem(a);
    } else if (setup == SETUP_RANGE) {
        facet_raster_report_add(a->part, FACET_RASTER_RANGE, 1);
    }
    count_setup(&a->counts, setup);
    a->row = 0;
    a->fan++;
}

static void clipped(struct geo_assembler *a,
                    const struct geo_vertex *const v[3],
                    unsigned first,
                    const struct geo_vertex *provoking)
{
    struct raster_vertex polygon[GEO_MAX_CORNERS];
    const unsigned count = facet_raster_geo_clip(a->draw, v, first, polygon);

    for (unsigned i = 2; i < count && !a->leaves; i++) {
        const struct raster_vertex *const fan[3] = {&polygon[0], &polygon[i - 1], &polygon[i]};

        raster(a, fan, a->flat, true, provoking);
    }
    a->counts.outside += count < 3;
    a->counts.clipped += count >= 3 && !a->leaves;
}

static bool small_w(const struct geo_vertex *v)
{
    return !(v->screen.w >= 0x1p-20f);
}

static void draw_triangle(struct geo_assembler *a,
                          const struct geo_vertex *v0,
                          const struct geo_vertex *v1,
                          const struct geo_vertex *v2,
                          const struct geo_vertex *provoking)
{
    const struct geo_vertex *const v[3] = {v0, v1, v2};
    const struct raster_vertex *const whole[3] = {&v0->screen, &v1->screen, &v2->screen};
    const unsigned some = v0->outside | v1->outside | v2->outside;
    /* Three equal colours make a constant: no w of a whole triangle is so small that its weights
     * could be infinite (setup.c). */
    const bool solid = a->flat || (v0->color == v1->color && v0->color == v2->color);
    unsigned first;

    a->fan = 0;
    if (v0->bad || v1->bad || v2->bad) {
        a->counts.bad_index++;
        facet_raster_probe_lost(a->pipe, FACET_RASTER_FATE_INDEX);
        facet_raster_report_add(a->part, FACET_RASTER_BAD_INDEX, 1);
        return;
    }
    if (!a->draw->clip) {
        if (!small_w(v0) && !small_w(v1) && !small_w(v2)) {
            raster(a, whole, solid, false, provoking);
        } else {
            facet_raster_probe_lost(a->pipe, FACET_RASTER_FATE_BEHIND);
            a->counts.outside++;
        }
        return;
    }
    if (some == 0) {
        raster(a, whole, solid, false, provoking);
        return;
    }
    /* Planes that all corners are inside of change nothing, so the first other one decides: all
     * outside it and the triangle is gone. Later planes see corners that this one made. */
    first = (unsigned)__builtin_ctz(some);
    if ((v0->outside & v1->outside & v2->outside) >> first & 1) {
        a->counts.outside++;
    } else {
        clipped(a, v, first, provoking);
    }
    facet_raster_probe_clip(a->pipe, whole, some);
}

static void triangle(struct geo_assembler *a,
                     const struct geo_vertex *v0,
                     const struct geo_vertex *v1,
                     const struct geo_vertex *v2,
                     const struct geo_vertex *provoking)
{
    draw_triangle(a, v0, v1, v2, provoking);
    a->counts.triangles += !a->leaves;
}

static void element(struct geo_assembler *a, const struct geo_vertex *v)
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
        if (a->leaves) {
            return;
        }
    }
    a->corner[0] = a->n == 1 ? v : a->corner[1];
    a->corner[1] = v;
}

/* Element k is taken; its index was read. */
static inline void count_element(struct geo_assembler *a, const struct geo_vertex *v)
{
    a->counts.elements++;
    a->counts.vertices += !v->bad;
    a->counts.accesses[FACET_RASTER_INDEX_LOAD]++;
}

/* `count` bad elements in a row. After three of them only their number matters. */
static void bad_run(struct geo_assembler *a, uint64_t count)
{
    uint64_t rest;

    a->counts.elements += count;
    for (unsigned i = 0; i < 3 && count > 0; i++, count--) {
        element(a, &bad_vertex);
    }
    rest = a->strip ? 0 : count % 3;
    count -= rest;
    facet_raster_report_add(a->part, FACET_RASTER_BAD_INDEX, a->strip ? count : count / 3);
    a->counts.triangles += a->strip ? count : count / 3;
    a->counts.bad_index += a->strip ? count : count / 3;
    a->n += count;
    for (; rest > 0; rest--) {
        element(a, &bad_vertex);
    }
}

/* ---- fetch ---- */

static bool pinned(const struct geo_assembler *a, const struct geo_vertex *v)
{
    return a->corner[0] == v || a->corner[1] == v || a->corner[2] == v;
}

static struct geo_vertex *spare(struct geo_assembler *a)
{
    unsigned i = 0;

    while (pinned(a, &a->spare[i])) {
        i++; /* three corners cannot pin four */
    }
    return &a->spare[i];
}

static inline bool meets_output(const struct geo_assembler *a, const uint8_t *bytes, uint32_t size)
{
    const uint32_t begin = (uint32_t)(bytes - a->pipe->unit->vram), end = begin + size;

    return span_meets(a->pipe->color, begin, end) || span_meets(a->pipe->depth, begin, end);
}

/* Whether bytes are also written by this draw. What is read must not wait in the queue of pixels.
 */
static bool written_here(struct geo_assembler *a, const uint8_t *bytes, uint32_t size)
{
    if (!meets_output(a, bytes, size)) {
        return false;
    }
    if (a->sink.collects) {
        facet_raster_geo_leave(a); /* pixels of others may wait */
    } else {
        facet_raster_sink_flush(&a->sink);
    }
    return true;
}

static const struct geo_vertex *fetch(struct geo_assembler *a, uint32_t number)
{
    const struct facet_tile_gstate_fields *gs = &a->in->gstate;
    struct geo_cache *cache = a->cache;
    const uint32_t slot = cache != NULL ? number & cache->mask : 0;
    struct geo_vertex *v;
    const uint8_t *bytes;

    bytes = vram_at(a->in->unit, gs->vbo_base + number * gs->stride, a->draw->vertex_bytes);
    if (bytes == NULL) {
        return &bad_vertex;
    }
    tell_touch(a->in->unit, FACET_RASTER_USE_VERTEX, bytes, a->draw->vertex_bytes);
    if (written_here(a, bytes, a->draw->vertex_bytes) || cache == NULL ||
        pinned(a, &cache->vertex[slot])) {
        v = spare(a);
    } else {
        v = &cache->vertex[slot];
        cache->tag[slot] = number;
        cache->filled[slot] = 1;
    }
    a->draw->process(a->draw, bytes, v);
    return v;
}

/* When the draw is left instead, of no use. */
static inline const struct geo_vertex *vertex(struct geo_assembler *a, uint32_t number)
{
    struct geo_cache *cache = a->cache;

    if (cache != NULL) {
        const uint32_t slot = number & cache->mask;

        if (cache->filled[slot] != 0 && cache->tag[slot] == number) {
            return &cache->vertex[slot];
        }
    }
    return fetch(a, number);
}

/* ---- leaving ---- */

static void keep_corner(struct geo_assembler *a, unsigned i, const struct geo_vertex *v)
{
    memcpy(a->part->corner[i], v, sizeof *v);
}

/* The draw is left before element k, or inside the triangle that its vertex (`half`) completes. */
static void keep(struct geo_assembler *a, const struct geo_vertex *half)
{
    struct facet_raster_part *part = a->part;

    part->element = (uint32_t)a->k;
    part->assembled = half != NULL ? a->n - 1 : a->n;
    part->half = half != NULL;
    part->fan = a->fan;
    part->row = (uint32_t)a->row;
    for (unsigned i = 0; i < (a->strip ? 2 : part->assembled % 3) && part->assembled > 0; i++) {
        keep_corner(a, i, a->corner[i]);
    }
    if (half != NULL) {
        keep_corner(a, 2, half);
    }
    a->leaves = true;
}

void facet_raster_geo_leave(struct geo_assembler *a)
{
    keep(a, NULL);
}

/* Element k, whose vertex is known unless the draw is left. */
static void take_element(struct geo_assembler *a, const struct geo_vertex *v)
{
    if (a->leaves) {
        return;
    }
    element(a, v);
    if (a->leaves) {
        keep(a, v);
    } else {
        a->k++;
        count_element(a, v);
    }
}

/* Between two elements: whether there is another one now. */
static inline bool goes_on(struct geo_assembler *a)
{
    if (a->leaves || a->k >= a->count) {
        return false;
    }
    a->sink.left -= ELEMENT_PIXELS;
    if (__builtin_expect(a->sink.left <= 0, 0) && facet_raster_sink_asks(&a->sink)) {
        keep(a, NULL);
        return false;
    }
    return true;
}

/* A new draw begins with zeros. */
void facet_raster_geo_restore(struct geo_assembler *a)
{
    const struct facet_raster_part *part = a->part;

    a->k = part->element;
    a->n = part->assembled;
    a->leaves = false;
    for (unsigned i = 0; i < 3; i++) {
        memcpy(&a->spare[i], part->corner[i], sizeof a->spare[i]);
    }
    a->corner[0] = &a->spare[0];
    a->corner[1] = &a->spare[1];
    if (part->half != 0) {
        a->done = part->fan;
        a->row = (int32_t)part->row;
        take_element(a, &a->spare[2]);
        a->done = 0;
    }
}

/* ---- walks ---- */

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

static uint32_t index_bytes(const struct geo_assembler *a)
{
    return a->in->gstate.index_type == FACET_TILE_GSTATE_INDEX_TYPE_U32 ? 4 : 2;
}

uint64_t facet_raster_geo_outside(const struct geo_assembler *a)
{
    const struct facet_tile_gdraw_fields *draw = &a->in->draw;
    const bool indexed = (draw->flags & FACET_TILE_GDRAW_FLAGS_INDEXED) != 0;
    const uint32_t stride = indexed ? index_bytes(a) : a->in->gstate.stride;
    const uint32_t base = indexed ? a->in->gstate.index_base : a->in->gstate.vbo_base;
    const uint32_t number = (indexed ? draw->idx_base : draw->vtx_base) + (uint32_t)a->k;

    return outside_run(a->in->unit, base + number * stride, stride, a->count - a->k);
}

static void walk_plain(struct geo_assembler *a)
{
    do {
        const uint32_t number = a->in->draw.vtx_base + (uint32_t)a->k;
        const uint64_t run = facet_raster_geo_outside(a);

        if (run > 0) {
            bad_run(a, run);
            a->k += run;
        } else {
            take_element(a, vertex(a, number));
        }
    } while (goes_on(a));
}

/* With stride 0 all vertices are one and every triangle is a point: nothing is drawn, but each may
 * report what the first one does. */
static void walk_one(struct geo_assembler *a)
{
    const uint64_t count = a->in->draw.count;
    const uint64_t triangles = a->strip ? (count < 3 ? 0 : count - 2) : count / 3;
    const struct geo_vertex *v;
    struct facet_raster_part one = {0}, *all = a->part;
    struct facet_raster_counts each;

    a->counts.elements += count;
    if (count > 0) {
        v = vertex(a, a->in->draw.vtx_base);
        a->counts.vertices += v->bad ? 0 : count;
    }
    if (triangles > 0) {
        const struct facet_raster_counts before = a->counts;

        a->counts = (struct facet_raster_counts){0};
        v = vertex(a, a->in->draw.vtx_base);
        a->part = &one;
        triangle(a, v, v, v, v);
        a->part = all;
        facet_raster_report_add(all, (enum facet_raster_code)one.code, one.count * triangles);
        each = a->counts;
        a->counts = before;
        facet_raster_counts_add(&a->counts, &each, triangles);
    }
}

static inline uint32_t load_index(const uint8_t *bytes, uint32_t size)
{
    return size == 4 ? load_u32(bytes) : load_u16(bytes);
}

/* The next triangle of a list whose indices lie at `bytes`. */
static void take_triangle(struct geo_assembler *a, const uint8_t *bytes, uint32_t size)
{
    const struct geo_vertex *v;

    tell_touch(a->in->unit, FACET_RASTER_USE_INDEX, bytes, 3 * size);
    for (unsigned i = 0; i < 3; i++) {
        v = vertex(a, load_index(bytes + i * size, size) + a->in->draw.vtx_base);
        if (a->leaves) {
            return;
        }
        a->corner[i] = v;
        a->n++;
        a->k++;
        if (i < 2) {
            count_element(a, v);
        }
    }
    triangle(a, a->corner[0], a->corner[1], v, a->corner[0]);
    if (a->leaves) {
        a->k--;
        keep(a, v);
    } else {
        count_element(a, v);
    }
}

/* Triangles of a list from their first element on, while their indices are in VRAM and not written
 * here: that is asked once for many. */
static void walk_triangles(struct geo_assembler *a, uint32_t size)
{
    enum { MANY = 64 };

    while (a->n % 3 == 0 && a->count - a->k >= 3) {
        const uint64_t left = (a->count - a->k) / 3;
        const uint32_t count = left < MANY ? (uint32_t)left : MANY;
        const uint32_t from = a->in->draw.idx_base + (uint32_t)a->k;
        const uint8_t *bytes =
            vram_at(a->in->unit, a->in->gstate.index_base + from * size, 3 * size * count);

        if (bytes == NULL || meets_output(a, bytes, 3 * size * count)) {
            return;
        }
        for (uint32_t i = 0; i < count; i++) {
            take_triangle(a, bytes + 3 * size * i, size);
            a->sink.left -= 2 * ELEMENT_PIXELS;
            if (!goes_on(a)) {
                return;
            }
        }
    }
}

static void walk_indexed(struct geo_assembler *a)
{
    const struct facet_tile_gdraw_fields *draw = &a->in->draw;
    const uint32_t base = a->in->gstate.index_base;
    const uint32_t size = index_bytes(a);
    const uint32_t restart = size == 4 ? 0xFFFFFFFFu : 0xFFFF;
    const bool restarts = (draw->flags & FACET_TILE_GDRAW_FLAGS_RESTART) != 0;

    if (!a->strip && !restarts) {
        walk_triangles(a, size);
    }
    if (a->leaves || a->k >= a->count) {
        return;
    }
    do {
        const uint32_t address = base + (draw->idx_base + (uint32_t)a->k) * size;
        const uint64_t run = facet_raster_geo_outside(a);
        const uint8_t *bytes = vram_at(a->in->unit, address, size);
        uint32_t raw;

        if (run > 0 || bytes == NULL) {
            bad_run(a, run > 0 ? run : 1);
            a->k += run > 0 ? run : 1;
            continue;
        }
        tell_touch(a->in->unit, FACET_RASTER_USE_INDEX, bytes, size);
        if (written_here(a, bytes, size) && a->leaves) {
            return;
        }
        raw = load_index(bytes, size);
        if (restarts && raw == restart) {
            a->n = 0;
            a->k++;
            a->counts.elements++;
            a->counts.accesses[FACET_RASTER_INDEX_LOAD]++;
        } else {
            take_element(a, vertex(a, raw + draw->vtx_base));
        }
    } while (goes_on(a));
}

/* ---- entry ---- */

/* The culling of the draw, or that of its state. */
static uint8_t cull_of(const struct raster_gdraw *draw)
{
    switch (draw->draw.cull) {
    case FACET_TILE_GDRAW_CULL_CW:
        return FACET_TILE_GSTATE_CULL_CW;
    case FACET_TILE_GDRAW_CULL_CCW:
        return FACET_TILE_GSTATE_CULL_CCW;
    case FACET_TILE_GDRAW_CULL_NONE:
        return FACET_TILE_GSTATE_CULL_NONE;
    default:
        return draw->gstate.cull;
    }
}

void facet_raster_geo_walk(struct geo_assembler *a)
{
    if (a->k >= a->count) {
        return;
    }
    if ((a->in->draw.flags & FACET_TILE_GDRAW_FLAGS_INDEXED) != 0) {
        walk_indexed(a);
    } else if (a->in->gstate.stride == 0) {
        walk_one(a);
    } else {
        walk_plain(a);
    }
}

/* The rest of the draw. */
static void walk(struct geo_assembler *a)
{
    const bool indexed = (a->in->draw.flags & FACET_TILE_GDRAW_FLAGS_INDEXED) != 0;

    facet_raster_geo_restore(a);
    if (a->leaves) {
        return;
    }
    a->cache = indexed ? facet_raster_take(a->in->unit, sizeof *a->cache)
                       : NULL; /* NULL: nothing is kept */
    if (a->cache != NULL) {
        a->cache->mask = GEO_CACHE - 1;
        while (a->cache->mask > 63 && a->cache->mask >= 2 * a->count) {
            a->cache->mask /= 2;
        }
        memset(a->cache->filled, 0, a->cache->mask + 1);
    }
    facet_raster_geo_crew(a);
    facet_raster_give(a->in->unit, a->cache);
}

/* The counts of the draw, or of what was done of it here. */
static void count_draw(const struct geo_assembler *a)
{
    struct facet_raster_counts *counts = a->in->unit->counts;

    if (counts == NULL) {
        return;
    }
    facet_raster_counts_add(counts, &a->counts, 1);
    if ((a->in->draw.flags & FACET_TILE_GDRAW_FLAGS_INDEXED) != 0) {
        counts->accesses[FACET_RASTER_INDEX_LOAD] += a->counts.accesses[FACET_RASTER_INDEX_LOAD];
        counts->bytes_each[FACET_RASTER_INDEX_LOAD] = index_bytes(a);
    }
    counts->accesses[FACET_RASTER_VERTEX_LOAD] += a->counts.vertices;
    counts->bytes_each[FACET_RASTER_VERTEX_LOAD] = a->draw->vertex_bytes;
}

bool facet_raster_geometry_draw(const struct raster_gdraw *draw,
                                const struct raster_sampler *sampler,
                                struct facet_raster_part *part,
                                struct facet_raster_span *color,
                                struct facet_raster_span *depth)
{
    const uint32_t flags = draw->draw.flags;
    struct raster_choice choice = {
        .kind = FACET_RASTER_PART_GDRAW,
        .textured = (draw->rstate.flags & FACET_TILE_RSTATE_FLAGS_TEXTURE) != 0,
        .depth = true,
        .blend = draw->rstate.blend,
    };
    struct geo_draw ready;
    struct raster_tally tally;
    struct raster_pipe pipe;
    struct geo_assembler a = {
        .draw = &ready,
        .in = draw,
        .pipe = &pipe,
        .part = part,
        .cull = cull_of(draw),
        .flat = (flags & FACET_TILE_GDRAW_FLAGS_FLAT) != 0,
        .affine = (flags & FACET_TILE_GDRAW_FLAGS_AFFINE) != 0,
        .strip = draw->draw.topology == FACET_TILE_GDRAW_TOPOLOGY_STRIP,
        .count = draw->draw.count,
    };

    make_draw(draw, &ready);
    facet_raster_clip_start(&choice, &draw->rstate);
    make_viewport(draw, &ready, &choice);
    if ((draw->gstate.flags & FACET_TILE_GSTATE_FLAGS_SCISSOR) != 0) {
        facet_raster_clip_cut(&choice,
                              FACET_RASTER_CUT_DRAW_SCISSOR,
                              draw->gstate.scissor_xy,
                              draw->gstate.scissor_wh);
    }
    facet_raster_pipe_make(draw->unit, &draw->rstate, &choice, sampler, &pipe);
    *color = pipe.color;
    *depth = pipe.depth;
    facet_raster_pipe_count(&pipe, &tally);
    pipe.bad_mem = part->bad_mem != 0;
    facet_raster_sink_open(&a.sink, &pipe, draw->draw.count);
    walk(&a);
    facet_raster_sink_close(&a.sink);
    facet_raster_pipe_counted(&pipe);
    count_draw(&a);
    part->bad_mem = pipe.bad_mem;
    return a.leaves;
}
