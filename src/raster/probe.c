/* See probe.h. Whether a triangle covers the pixel is asked of setup.c, with a clip rectangle that
 * cuts nothing and without culling; the answer with them says who refused it. */
#include "raster/internal.h"

#include <math.h>

static const struct raster_box everything = {0, 0, 1 << 16, 1 << 16};

static bool inside(const struct raster_box *box, int32_t x, int32_t y)
{
    return x >= box->x0 && x < box->x1 && y >= box->y0 && y < box->y1;
}

static uint32_t bytes_at(const struct raster_pipe *pipe)
{
    const struct facet_raster_probe *p = pipe->probe;
    const uint8_t *at = vram_at(pipe->unit, p->address, p->size);
    uint8_t bytes[4] = {0};

    if (at != NULL) {
        memcpy(bytes, at, p->size);
    }
    return load_u32(bytes);
}

/* ---- draws ---- */

void facet_raster_probe_draw(struct raster_pipe *pipe,
                             const struct facet_tile_rstate_fields *rstate,
                             const struct raster_choice *choice)
{
    struct facet_raster_probe *p = pipe->unit->probe;
    const uint32_t offset = p->address - pipe->color_base, stride = pipe->color_stride;
    const uint32_t y = stride != 0 ? offset / stride : 0;
    const uint32_t x = (offset - y * stride) / pipe->color_bytes;
    struct facet_raster_probe_draw draw = {
        .kind = choice->kind,
        .meets = x < rstate->fb_wh[0] && y < rstate->fb_wh[1],
        .x = (int32_t)x,
        .y = (int32_t)y,
        .cuts = choice->cuts,
        .color_base = pipe->color_base,
        .color_stride = stride,
        .color_bytes = pipe->color_bytes,
        .depth_base = pipe->depth_base,
        .depth_stride = pipe->depth_stride,
        .depth_bytes = pipe->depth_bytes,
        .depth_func = pipe->depth_func,
        .blend = pipe->blend,
        .depth_write = pipe->depth_write,
        .textured = pipe->textured,
        .bilinear = pipe->textured && pipe->sampler.bilinear,
    };

    for (unsigned i = 0; i < FACET_RASTER_CUTS; i++) {
        const struct raster_box *box = &choice->cut[i];

        draw.cut[i] = (struct facet_raster_cut_box){box->x0, box->y0, box->x1, box->y1};
        if ((choice->cuts >> i & 1) != 0 && !inside(box, draw.x, draw.y)) {
            draw.excludes |= 1u << i;
        }
    }
    p->x = draw.x;
    p->y = draw.y;
    p->triangle = 0;
    p->excludes = draw.excludes;
    p->pending = p->covered = false;
    pipe->probe = draw.meets ? p : NULL;
    pipe->regular = false; /* one pixel after the other, here */
    pipe->fill = facet_raster_fill_plain;
    p->draw(p->context, &draw);
}

/* ---- triangles and rectangles ---- */

static struct facet_raster_fact *begin(struct facet_raster_probe *p)
{
    p->now = (struct facet_raster_fact){.x = p->x, .y = p->y, .triangle = p->triangle};
    return &p->now;
}

static void tell(struct raster_pipe *pipe, enum facet_raster_fate fate)
{
    struct facet_raster_probe *p = pipe->probe;

    p->now.fate = fate;
    p->now.before = p->now.after = bytes_at(pipe);
    p->fact(p->context, &p->now);
}

/* Corners and edges of a triangle that was set up, at the pixel. */
static void place(struct facet_raster_fact *fact,
                  const struct raster_triangle *t,
                  const struct raster_vertex *const vertex[3])
{
    fact->placed = true;
    fact->area = t->a2;
    fact->miss = 0;
    for (unsigned i = 0; i < 3; i++) {
        const double length = hypot((double)t->dx[i], (double)t->dy[i]);
        float miss;

        fact->edge[i] =
            t->e[i] + t->dy[i] * (fact->y - t->box.y0) + t->dx[i] * (fact->x - t->box.x0);
        fact->bias[i] = t->bias[i];
        miss = (float)(-(double)fact->edge[i] / length);
        fact->miss = miss > fact->miss ? miss : fact->miss;
        fact->corner[i][0] = vertex[i]->x;
        fact->corner[i][1] = vertex[i]->y;
    }
    /* Setup exchanges the last two corners of a triangle that runs the other way round. */
    if (t->dx[2] != -256 * (int64_t)(vertex[1]->y - vertex[0]->y) ||
        t->dy[2] != 256 * (int64_t)(vertex[1]->x - vertex[0]->x)) {
        for (unsigned k = 0; k < 2; k++) {
            const int32_t other = fact->corner[1][k];

            fact->corner[1][k] = fact->corner[2][k];
            fact->corner[2][k] = other;
        }
    }
}

/* Whether the triangle covers the pixel by its edges alone; what does not is settled. */
static enum facet_raster_fate cover(struct raster_pipe *pipe,
                                    const struct raster_shade *shade,
                                    const struct raster_vertex *const vertex[3])
{
    struct facet_raster_fact *fact = begin(pipe->probe);
    struct raster_shade both = *shade;
    struct raster_pipe open = *pipe;
    struct raster_triangle t;
    int32_t x0, x1;

    open.clip = everything;
    both.cull = FACET_TILE_GSTATE_CULL_NONE;
    switch (facet_raster_setup(&open, &both, vertex, &t)) {
    case SETUP_RANGE:
        return FACET_RASTER_FATE_RANGE;
    case SETUP_DEGENERATE:
    case SETUP_CULLED:
    case SETUP_MISSED:
        return FACET_RASTER_FATE_EMPTY;
    case SETUP_DRAW:
        break;
    }
    place(fact, &t, vertex);
    facet_raster_row(&t, fact->y, &x0, &x1);
    if (fact->x < x0 || fact->x >= x1) {
        return fact->miss > 0 ? FACET_RASTER_FATE_EDGE : FACET_RASTER_FATE_TIE;
    }
    return facet_raster_setup(&open, shade, vertex, &t) == SETUP_CULLED ? FACET_RASTER_FATE_CULLED
                                                                        : FACET_RASTER_FATE_WRITTEN;
}

void facet_raster_probe_triangle(struct raster_pipe *pipe,
                                 const struct raster_shade *shade,
                                 const struct raster_vertex *const vertex[3],
                                 bool clipped)
{
    struct facet_raster_probe *p = pipe->probe;
    enum facet_raster_fate fate;

    if (__builtin_expect(p == NULL, 1)) {
        return;
    }
    fate = cover(pipe, shade, vertex);
    p->now.part = clipped;
    p->covered |=
        clipped && (fate == FACET_RASTER_FATE_WRITTEN || fate == FACET_RASTER_FATE_CULLED);
    if (fate == FACET_RASTER_FATE_WRITTEN && p->excludes != 0) {
        fate = FACET_RASTER_FATE_OUTSIDE;
    }
    p->pending = fate == FACET_RASTER_FATE_WRITTEN;
    if (!p->pending && !clipped) {
        tell(pipe, fate);
    } else if (!p->pending && fate != FACET_RASTER_FATE_EDGE && fate != FACET_RASTER_FATE_EMPTY) {
        tell(pipe, fate); /* other parts may cover what this one does not */
    }
    p->triangle += !clipped;
}

void facet_raster_probe_clip(struct raster_pipe *pipe,
                             const struct raster_vertex *const vertex[3],
                             uint32_t planes)
{
    const struct raster_shade shade = {.cull = FACET_TILE_GSTATE_CULL_NONE, .affine = true};
    struct facet_raster_probe *p = pipe->probe;
    const bool ahead =
        vertex[0]->w >= 0x1p-20f && vertex[1]->w >= 0x1p-20f && vertex[2]->w >= 0x1p-20f;
    enum facet_raster_fate fate;

    if (__builtin_expect(p == NULL, 1)) {
        return;
    }
    if (!p->covered) {
        (void)begin(p);
        /* What lies behind the eye has no place on the screen. */
        fate = ahead ? cover(pipe, &shade, vertex) : FACET_RASTER_FATE_BEHIND;
        p->now.planes = planes;
        tell(pipe, fate == FACET_RASTER_FATE_WRITTEN ? FACET_RASTER_FATE_CLIPPED : fate);
    }
    p->covered = false;
    p->triangle++;
}

void facet_raster_probe_lost(struct raster_pipe *pipe, enum facet_raster_fate fate)
{
    if (__builtin_expect(pipe->probe != NULL, 0)) {
        (void)begin(pipe->probe);
        tell(pipe, fate);
        pipe->probe->triangle++;
    }
}

void facet_raster_probe_rect(struct raster_pipe *pipe)
{
    struct facet_raster_probe *p = pipe->probe;

    if (__builtin_expect(p == NULL, 1)) {
        return;
    }
    (void)begin(p);
    p->pending = p->excludes == 0;
    if (!p->pending) {
        tell(pipe, FACET_RASTER_FATE_OUTSIDE);
    }
}

/* ---- the pixel ---- */

static bool note_tap(void *context, uint32_t address, unsigned size, uint8_t *bytes)
{
    struct raster_pipe *pipe = context;
    struct facet_raster_fact *fact = pipe->fact;
    const struct facet_texel_source *real = &pipe->probe->texels;
    const bool good = real->fetch(real->context, address, size, bytes);

    if (fact->tap_count < FACET_RASTER_TAPS) {
        fact->tap[fact->tap_count].address = address;
        fact->tap[fact->tap_count].size = size;
        fact->tap[fact->tap_count++].value = size == 1   ? bytes[0]
                                             : size == 2 ? load_u16(bytes)
                                                         : load_u32(bytes);
    }
    return good;
}

void facet_raster_probe_meet(struct raster_pipe *pipe, int32_t x, int32_t y, const int64_t *edges)
{
    struct facet_raster_probe *p = pipe->probe;
    const uint32_t at =
        pipe->color_base + (uint32_t)y * pipe->color_stride + (uint32_t)x * pipe->color_bytes;

    if (p->address - at >= pipe->color_bytes && at - p->address >= p->size) {
        return;
    }
    p->pending = false;
    p->now.x = x;
    p->now.y = y;
    p->now.fate = FACET_RASTER_FATE_DEPTH;
    p->now.tap_count = 0;
    p->now.depth_tested = false;
    p->now.before = bytes_at(pipe);
    for (unsigned i = 0; edges != NULL && i < 3; i++) {
        p->now.edge[i] = edges[i];
    }
    pipe->fact = &p->now;
    p->texels = pipe->source;
    pipe->source = (struct facet_texel_source){note_tap, pipe};
}

void facet_raster_probe_leave(struct raster_pipe *pipe)
{
    struct facet_raster_probe *p = pipe->probe;

    if (__builtin_expect(pipe->fact == NULL, 1)) {
        return;
    }
    pipe->fact = NULL;
    pipe->source = p->texels;
    p->now.after = bytes_at(pipe);
    p->fact(p->context, &p->now);
}

void facet_raster_probe_done(struct raster_pipe *pipe)
{
    if (__builtin_expect(pipe->probe != NULL, 0) && pipe->probe->pending) {
        pipe->probe->pending = false;
        tell(pipe, FACET_RASTER_FATE_MEMORY);
    }
}
