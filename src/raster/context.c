/* Graphics contexts (tile-semantics.md 14): loading states and parameters into slots, RSETUP, and
 * the draws up to the point where everything they name is known to be good. The order of the checks
 * is that of section 14. */
#include "raster/internal.h"

static const struct {
    uint32_t words, align;
} layout[FACET_RASTER_KINDS] = {
    [FACET_RASTER_RSTATE] = {FACET_TILE_RSTATE_WORDS, FACET_TILE_RSTATE_ALIGN},
    [FACET_RASTER_GSTATE] = {FACET_TILE_GSTATE_WORDS, FACET_TILE_GSTATE_ALIGN},
    [FACET_RASTER_GPARAM] = {FACET_TILE_GPARAM_WORDS, FACET_TILE_GPARAM_ALIGN},
};

void facet_raster_reset(struct facet_raster_context *context)
{
    memset(context, 0, sizeof *context);
    memset(context->current, FACET_RASTER_NONE, sizeof context->current);
}

bool facet_raster_context_valid(const struct facet_raster_context *context)
{
    for (unsigned kind = 0; kind < FACET_RASTER_KINDS; kind++) {
        const uint8_t current = context->current[kind];

        if (context->next[kind] >= FACET_RASTER_SLOTS ||
            (current != FACET_RASTER_NONE &&
             (current >= FACET_RASTER_SLOTS || (context->valid[kind] >> current & 1) == 0)) ||
            (current == FACET_RASTER_NONE && context->valid[kind] != 0)) {
            return false;
        }
    }
    for (unsigned slot = 0; slot < FACET_RASTER_SLOTS; slot++) {
        if (!facet_tile_rstate_legal(context->rstate[slot])) {
            return false;
        }
    }
    return context->has_setup <= 1;
}

static struct facet_raster_result failed(enum facet_raster_code code)
{
    return (struct facet_raster_result){
        .rd = FACET_RASTER_FAILED, .code = (uint8_t)code, .count = 1};
}

/* Alignment first, then presence. */
static enum facet_raster_code read_words(const struct facet_raster_unit *unit,
                                         uint32_t address,
                                         uint32_t align,
                                         uint32_t count,
                                         uint32_t *words)
{
    const uint8_t *p;

    if (address % align != 0) {
        return FACET_RASTER_BAD_ALIGN;
    }
    p = vram_at(unit, address, 4 * count);
    if (p == NULL) {
        return FACET_RASTER_BAD_MEM;
    }
    tell_touch(unit, FACET_RASTER_USE_STATE, p, 4 * count);
    for (uint32_t i = 0; i < count; i++) {
        words[i] = load_u32(p + 4 * i);
    }
    return FACET_RASTER_OK;
}

static enum facet_raster_code
read_block(const struct facet_raster_unit *unit, uint32_t address, uint32_t *words)
{
    return read_words(
        unit, address, FACET_TILE_VERTEX_BLOCK_ALIGN, FACET_TILE_VERTEX_BLOCK_WORDS, words);
}

/* ---- states and parameters ---- */

/* The blocks that a GSTATE points to. */
static enum facet_raster_code read_gstate_blocks(const struct facet_raster_unit *unit,
                                                 const uint32_t *words,
                                                 uint32_t *normal,
                                                 uint32_t *plane)
{
    const uint32_t normal_ptr = facet_tile_gstate_normal_ptr(words);
    enum facet_raster_code code = FACET_RASTER_OK;

    if (normal_ptr != 0) {
        code = read_words(unit,
                          normal_ptr,
                          FACET_TILE_NORMAL_MATRIX_ALIGN,
                          FACET_TILE_NORMAL_MATRIX_WORDS,
                          normal);
    }
    if (code == FACET_RASTER_OK &&
        (facet_tile_gstate_flags(words) & FACET_TILE_GSTATE_FLAGS_USER_PLANE) != 0) {
        code = read_words(unit,
                          facet_tile_gstate_plane_ptr(words),
                          FACET_TILE_PLANE_ALIGN,
                          FACET_TILE_PLANE_WORDS,
                          plane);
    }
    return code;
}

struct facet_raster_result facet_raster_load(const struct facet_raster_unit *unit,
                                             struct facet_raster_context *context,
                                             enum facet_raster_kind kind,
                                             unsigned slot,
                                             uint32_t address)
{
    uint32_t words[FACET_TILE_GSTATE_WORDS]; /* the largest */
    uint32_t normal[FACET_TILE_NORMAL_MATRIX_WORDS] = {0}, plane[FACET_TILE_PLANE_WORDS] = {0};
    enum facet_raster_code code;

    if (slot >= FACET_RASTER_SLOTS) {
        return failed(FACET_RASTER_BAD_STATE);
    }
    code = read_words(unit, address, layout[kind].align, layout[kind].words, words);
    if (code == FACET_RASTER_OK && kind == FACET_RASTER_RSTATE && !facet_tile_rstate_legal(words)) {
        code = FACET_RASTER_BAD_FORMAT;
    }
    if (code == FACET_RASTER_OK && kind == FACET_RASTER_GSTATE) {
        code = read_gstate_blocks(unit, words, normal, plane);
    }
    if (code != FACET_RASTER_OK) {
        return failed(code);
    }
    switch (kind) {
    case FACET_RASTER_RSTATE:
        memcpy(context->rstate[slot], words, sizeof context->rstate[slot]);
        break;
    case FACET_RASTER_GSTATE:
        memcpy(context->gstate[slot], words, sizeof context->gstate[slot]);
        memcpy(context->normal[slot], normal, sizeof normal);
        memcpy(context->plane[slot], plane, sizeof plane);
        break;
    case FACET_RASTER_GPARAM:
        memcpy(context->gparam[slot], words, sizeof context->gparam[slot]);
        break;
    }
    context->valid[kind] |= (uint16_t)(1u << slot);
    context->current[kind] = (uint8_t)slot;
    return (struct facet_raster_result){.rd = slot};
}

static struct facet_raster_result load_next(const struct facet_raster_unit *unit,
                                            struct facet_raster_context *context,
                                            enum facet_raster_kind kind,
                                            uint32_t address)
{
    struct facet_raster_result r =
        facet_raster_load(unit, context, kind, context->next[kind], address);

    if (r.code == FACET_RASTER_OK) {
        context->next[kind] = (uint8_t)((context->next[kind] + 1) % FACET_RASTER_SLOTS);
    }
    return r;
}

struct facet_raster_result facet_raster_rstate(const struct facet_raster_unit *unit,
                                               struct facet_raster_context *context,
                                               uint32_t address)
{
    return load_next(unit, context, FACET_RASTER_RSTATE, address);
}

struct facet_raster_result facet_raster_gstate(const struct facet_raster_unit *unit,
                                               struct facet_raster_context *context,
                                               uint32_t address)
{
    return load_next(unit, context, FACET_RASTER_GSTATE, address);
}

struct facet_raster_result facet_raster_gparam(const struct facet_raster_unit *unit,
                                               struct facet_raster_context *context,
                                               uint32_t address)
{
    return load_next(unit, context, FACET_RASTER_GPARAM, address);
}

struct facet_raster_result facet_raster_rsetup(const struct facet_raster_unit *unit,
                                               struct facet_raster_context *context,
                                               uint32_t address)
{
    uint32_t words[FACET_TILE_VERTEX_BLOCK_WORDS];
    enum facet_raster_code code = read_block(unit, address, words);

    if (code != FACET_RASTER_OK) {
        return failed(code);
    }
    memcpy(context->setup, words, sizeof words);
    context->has_setup = 1;
    return (struct facet_raster_result){.rd = ++context->token};
}

/* ---- what draws name ---- */

/* The slot that `id` names, or FACET_RASTER_NONE; `current` is the code for the current one. */
static uint8_t
resolve(const struct facet_raster_context *context, unsigned kind, uint32_t id, uint32_t current)
{
    if (id == current) {
        return context->current[kind];
    }
    return id < FACET_RASTER_SLOTS && (context->valid[kind] >> id & 1) != 0 ? (uint8_t)id
                                                                            : FACET_RASTER_NONE;
}

/* The sampler of a state, checked only when it will be used. */
static bool state_sampler(const struct facet_raster_unit *unit,
                          const struct facet_tile_rstate_fields *rstate,
                          struct raster_sampler *s)
{
    return facet_raster_sampler_make(unit->samplers[rstate->sampler], s);
}

/* RDRAW and RRECT begin alike; what both have is read as an RDRAW. */
_Static_assert(FACET_TILE_RDRAW_WORDS == FACET_TILE_RRECT_WORDS &&
                   FACET_TILE_RDRAW_ALIGN == FACET_TILE_RRECT_ALIGN &&
                   FACET_TILE_RDRAW_STATE_ID_AT == FACET_TILE_RRECT_STATE_ID_AT &&
                   FACET_TILE_RDRAW_FLAGS_LSB == FACET_TILE_RRECT_FLAGS_LSB &&
                   FACET_TILE_RDRAW_BLEND_LSB == FACET_TILE_RRECT_BLEND_LSB &&
                   FACET_TILE_RDRAW_FLAGS_TEXTURED == FACET_TILE_RRECT_FLAGS_TEXTURED &&
                   FACET_TILE_RDRAW_FLAGS_DEPTH == FACET_TILE_RRECT_FLAGS_DEPTH,
               "one header");

struct header {
    struct facet_tile_rstate_fields rstate;
    struct facet_tile_rdraw_fields draw; /* flags of the command OR-ed in */
    struct raster_choice choice;
};

/* Goes on with the part of a draw that was left, or reads the descriptor for a new one. */
static enum facet_raster_code read_header(const struct facet_raster_unit *unit,
                                          enum facet_raster_part_kind kind,
                                          uint32_t address,
                                          uint32_t or_flags,
                                          struct facet_raster_part *part,
                                          struct header *h)
{
    uint32_t *words = part->words;
    enum facet_raster_code code = FACET_RASTER_OK;

    if (!facet_raster_part_take(unit, kind, part)) {
        code = read_words(unit, address, FACET_TILE_RDRAW_ALIGN, FACET_TILE_RDRAW_WORDS, words);
    }
    if (code != FACET_RASTER_OK) {
        return code;
    }
    words[FACET_TILE_RDRAW_FLAGS_AT / 4] |= or_flags << FACET_TILE_RDRAW_FLAGS_LSB;
    facet_tile_rdraw_unpack(words, &h->draw);
    return (kind == FACET_RASTER_PART_RRECT ? facet_tile_rrect_rect_legal(words)
                                            : facet_tile_rdraw_rect_legal(words))
               ? FACET_RASTER_OK
               : FACET_RASTER_BAD_DESC;
}

static enum facet_raster_code
use_state(const struct facet_raster_context *context, uint32_t id, struct header *h)
{
    const uint8_t slot =
        resolve(context, FACET_RASTER_RSTATE, id, FACET_TILE_RDRAW_STATE_ID_CURRENT);
    const uint32_t flags = h->draw.flags, blend = h->draw.blend;

    if (slot == FACET_RASTER_NONE) {
        return FACET_RASTER_BAD_STATE;
    }
    facet_tile_rstate_unpack(context->rstate[slot], &h->rstate);
    h->choice = (struct raster_choice){
        .textured = (flags & FACET_TILE_RDRAW_FLAGS_TEXTURED) != 0 &&
                    (h->rstate.flags & FACET_TILE_RSTATE_FLAGS_TEXTURE) != 0,
        .depth = (flags & FACET_TILE_RDRAW_FLAGS_DEPTH) != 0,
        .blend = blend == FACET_TILE_RDRAW_BLEND_STATE
                     ? h->rstate.blend
                     : (uint8_t)(blend - FACET_TILE_RDRAW_BLEND_OPAQUE),
    };
    facet_raster_clip_start(&h->choice, &h->rstate);
    if (facet_tile_rstate_viewport_wh(context->rstate[slot]) != 0) {
        facet_raster_clip_cut(
            &h->choice, FACET_RASTER_CUT_VIEWPORT, h->rstate.viewport_xy, h->rstate.viewport_wh);
    }
    return FACET_RASTER_OK;
}

/* Everything is drawn, or the draw is left and its part kept. */
static struct facet_raster_result finish(const struct facet_raster_unit *unit,
                                         struct facet_raster_context *context,
                                         const struct facet_raster_part *part,
                                         struct facet_raster_span color,
                                         struct facet_raster_span depth,
                                         bool left)
{
    if (left) {
        unit->stop->part = *part;
        return (struct facet_raster_result){.color = color, .depth = depth, .left = true};
    }
    return (struct facet_raster_result){
        .rd = ++context->token,
        .code = part->code,
        .count = part->count,
        .color = color,
        .depth = depth,
    };
}

/* ... of one triangle or rectangle, which reports pixels outside VRAM at its end. */
static struct facet_raster_result finish_one(struct facet_raster_context *context,
                                             const struct raster_pipe *pipe,
                                             struct facet_raster_part *part,
                                             bool left)
{
    facet_raster_pipe_counted(pipe);
    part->bad_mem = pipe->bad_mem;
    if (pipe->bad_mem && !left) {
        facet_raster_report_add(part, FACET_RASTER_BAD_MEM, 1);
    }
    return finish(pipe->unit, context, part, pipe->color, pipe->depth, left);
}

/* ---- RDRAW ---- */

static void block_vertex(const struct facet_tile_vertex_fields *in, struct raster_vertex *v)
{
    facet_raster_snap(v, in->x, in->y);
    v->z = in->z;
    v->w = in->w;
    v->u = in->u;
    v->v = in->v;
    rgba_floats(v->color, in->color);
}

/* No byte outside the rows of a triangle is written. */
static void narrow_spans(struct raster_pipe *pipe, const struct raster_box *box)
{
    const uint32_t top = (uint32_t)(box->y0 - pipe->clip.y0);
    const uint32_t below = (uint32_t)(pipe->clip.y1 - box->y1);

    if (pipe->regular) {
        pipe->color.begin += top * pipe->color_stride;
        pipe->color.end -= below * pipe->color_stride;
        if (pipe->depth_bytes != 0) {
            pipe->depth.begin += top * pipe->depth_stride;
            pipe->depth.end -= below * pipe->depth_stride;
        }
    }
}

/* True when the triangle is left. */
static bool
draw_block(struct raster_pipe *pipe, const struct header *h, struct facet_raster_part *part)
{
    struct facet_tile_vertex_block_fields block;
    struct raster_vertex vertex[3];
    const struct raster_vertex *const corners[3] = {&vertex[0], &vertex[1], &vertex[2]};
    const uint32_t flags = h->draw.flags;
    const bool state_color = (flags & FACET_TILE_RDRAW_FLAGS_STATE_COLOR) != 0;
    struct raster_shade shade = {
        .cull = FACET_TILE_GSTATE_CULL_NONE,
        .affine = (flags & FACET_TILE_RDRAW_FLAGS_AFFINE) != 0,
        .solid = state_color || (flags & FACET_TILE_RDRAW_FLAGS_FLAT) != 0,
    };
    enum raster_setup setup;
    struct raster_triangle t;

    facet_tile_vertex_block_unpack(part->block, &block);
    shade.color = state_color ? h->rstate.const_color : block.vertex[0].color;
    for (unsigned i = 0; i < 3; i++) {
        block_vertex(&block.vertex[i], &vertex[i]);
    }
    facet_raster_probe_triangle(pipe, &shade, corners, false);
    setup = facet_raster_setup(pipe, &shade, corners, &t);
    if (setup == SETUP_DRAW) {
        part->row = (uint32_t)facet_raster_fill_wide(pipe, &t, (int32_t)part->row);
        facet_raster_probe_done(pipe);
        narrow_spans(pipe, &t.box);
        if ((int32_t)part->row < t.box.y1) {
            return true;
        }
    }
    if (pipe->unit->counts != NULL) {
        pipe->unit->counts->triangles++;
        count_setup(pipe->unit->counts, setup);
    }
    if (setup == SETUP_DRAW) {
        return false;
    }
    facet_raster_report_add(part, FACET_RASTER_RANGE, setup == SETUP_RANGE);
    pipe->color = pipe->depth = (struct facet_raster_span){0, 0};
    return false;
}

/* The vertices of an RDRAW. */
static enum facet_raster_code find_block(const struct facet_raster_unit *unit,
                                         const struct facet_raster_context *context,
                                         uint32_t pointer,
                                         uint32_t *block)
{
    if (pointer != 0) {
        return read_block(unit, pointer, block);
    }
    if (context->has_setup == 0) {
        return FACET_RASTER_BAD_STATE;
    }
    memcpy(block, context->setup, sizeof context->setup);
    return FACET_RASTER_OK;
}

struct facet_raster_result facet_raster_rdraw_command(const struct facet_raster_unit *unit,
                                                      struct facet_raster_context *context,
                                                      uint32_t address,
                                                      uint32_t arg1,
                                                      uint32_t arg2)
{
    struct raster_sampler sampler = {0};
    struct facet_raster_part part;
    struct raster_tally tally;
    struct raster_pipe pipe;
    struct header h;
    enum facet_raster_code code =
        read_header(unit, FACET_RASTER_PART_RDRAW, address, arg2, &part, &h);

    if (code == FACET_RASTER_OK) {
        code = use_state(context, h.draw.state_id, &h);
    }
    if (code == FACET_RASTER_OK && part.row == 0) { /* not left before */
        code = find_block(unit, context, arg1 != 0 ? arg1 : h.draw.vtx_ptr, part.block);
    }
    if (code == FACET_RASTER_OK && h.choice.textured && !state_sampler(unit, &h.rstate, &sampler)) {
        code = FACET_RASTER_BAD_SAMPLER;
    }
    if (code != FACET_RASTER_OK) {
        return failed(code);
    }
    h.choice.kind = FACET_RASTER_PART_RDRAW;
    facet_raster_pipe_make(unit, &h.rstate, &h.choice, &sampler, &pipe);
    facet_raster_pipe_count(&pipe, &tally);
    pipe.bad_mem = part.bad_mem != 0;
    return finish_one(context, &pipe, &part, draw_block(&pipe, &h, &part));
}

struct facet_raster_result facet_raster_rdraw(const struct facet_raster_unit *unit,
                                              struct facet_raster_context *context,
                                              uint32_t address)
{
    return facet_raster_rdraw_command(unit, context, address, 0, 0);
}

/* ---- RRECT ---- */

struct facet_raster_result facet_raster_rrect_command(const struct facet_raster_unit *unit,
                                                      struct facet_raster_context *context,
                                                      uint32_t address,
                                                      uint32_t arg1,
                                                      uint32_t arg2)
{
    struct raster_sampler sampler = {0};
    struct facet_raster_part part;
    struct raster_pipe pipe;
    struct raster_tally tally;
    struct facet_tile_rrect_fields draw;
    struct raster_rect rect;
    struct header h;
    enum facet_raster_code code =
        read_header(unit, FACET_RASTER_PART_RRECT, address, arg2, &part, &h);

    if (code == FACET_RASTER_OK) {
        code = use_state(context, arg1 < FACET_RASTER_SLOTS ? arg1 : h.draw.state_id, &h);
    }
    if (code == FACET_RASTER_OK && h.choice.textured && !state_sampler(unit, &h.rstate, &sampler)) {
        code = FACET_RASTER_BAD_SAMPLER;
    }
    if (code != FACET_RASTER_OK) {
        return failed(code);
    }
    facet_tile_rrect_unpack(part.words, &draw);
    rect = (struct raster_rect){
        .x = draw.xy[0],
        .y = draw.xy[1],
        .w = draw.wh[0],
        .h = draw.wh[1],
        .color = (draw.flags & FACET_TILE_RRECT_FLAGS_STATE_COLOR) != 0 ? h.rstate.const_color
                                                                        : draw.color,
        .u0 = facet_tile_rrect_uv_first(part.words),
        .v0 = facet_tile_rrect_uv_second(part.words),
        .stretch = (draw.flags & FACET_TILE_RRECT_FLAGS_STRETCH) != 0,
        .z = h.rstate.rect_z,
    };
    h.choice.kind = FACET_RASTER_PART_RRECT;
    facet_raster_clip_cut(&h.choice, FACET_RASTER_CUT_RECTANGLE, draw.xy, draw.wh);
    facet_raster_pipe_make(unit, &h.rstate, &h.choice, &sampler, &pipe);
    facet_raster_pipe_count(&pipe, &tally);
    pipe.nearest = true;
    pipe.bad_mem = part.bad_mem != 0;
    facet_raster_probe_rect(&pipe);
    part.row = (uint32_t)facet_raster_rect_fill(&pipe, &rect, (int32_t)part.row);
    facet_raster_probe_done(&pipe);
    return finish_one(context, &pipe, &part, (int32_t)part.row < pipe.clip.y1);
}

struct facet_raster_result facet_raster_rrect(const struct facet_raster_unit *unit,
                                              struct facet_raster_context *context,
                                              uint32_t address)
{
    return facet_raster_rrect_command(unit, context, address, UINT32_MAX, 0);
}

/* ---- GDRAW ---- */

/* What arg2 of a queue command says. */
enum { GDRAW_ARG_CU_ASSIST = 1, GDRAW_ARG_STRIP = 2 };

struct facet_raster_result facet_raster_gdraw_command(const struct facet_raster_unit *unit,
                                                      struct facet_raster_context *context,
                                                      uint32_t address,
                                                      uint32_t arg2)
{
    static const uint32_t default_gparam[FACET_TILE_GPARAM_WORDS] = {0};
    struct raster_sampler sampler = {0};
    struct facet_raster_part part;
    struct raster_gdraw draw = {.unit = unit};
    struct facet_raster_span color, depth;
    struct facet_tile_gdraw_fields *d = &draw.draw;
    uint32_t *words = part.words;
    uint8_t gstate, rstate, gparam;
    bool left;
    enum facet_raster_code code = FACET_RASTER_OK;

    if (!facet_raster_part_take(unit, FACET_RASTER_PART_GDRAW, &part)) {
        code = read_words(unit, address, FACET_TILE_GDRAW_ALIGN, FACET_TILE_GDRAW_WORDS, words);
    }
    if (code != FACET_RASTER_OK) {
        return failed(code);
    }
    if ((arg2 & GDRAW_ARG_STRIP) != 0) {
        facet_tile_gdraw_set_topology(words, FACET_TILE_GDRAW_TOPOLOGY_STRIP);
    }
    if (!facet_tile_gdraw_topology_legal(words)) {
        return failed(FACET_RASTER_BAD_FORMAT);
    }
    facet_tile_gdraw_unpack(words, d);
    d->flags |= (arg2 & GDRAW_ARG_CU_ASSIST) != 0 ? FACET_TILE_GDRAW_FLAGS_CU_ASSIST : 0;
    gstate = resolve(context, FACET_RASTER_GSTATE, d->gstate, FACET_TILE_GDRAW_GSTATE_CURRENT);
    rstate = resolve(context, FACET_RASTER_RSTATE, d->rstate, FACET_TILE_GDRAW_RSTATE_CURRENT);
    gparam = resolve(context, FACET_RASTER_GPARAM, d->gparam, FACET_TILE_GDRAW_GPARAM_CURRENT);
    if (gstate == FACET_RASTER_NONE || rstate == FACET_RASTER_NONE ||
        (gparam == FACET_RASTER_NONE && d->gparam != FACET_TILE_GDRAW_GPARAM_CURRENT)) {
        return failed(FACET_RASTER_BAD_STATE);
    }
    facet_tile_gstate_unpack(context->gstate[gstate], &draw.gstate);
    facet_tile_normal_matrix_unpack(context->normal[gstate], &draw.normal);
    facet_tile_plane_unpack(context->plane[gstate], &draw.plane);
    facet_tile_rstate_unpack(context->rstate[rstate], &draw.rstate);
    facet_tile_gparam_unpack(gparam == FACET_RASTER_NONE ? default_gparam : context->gparam[gparam],
                             &draw.gparam);
    if ((draw.rstate.flags & FACET_TILE_RSTATE_FLAGS_TEXTURE) != 0 &&
        !state_sampler(unit, &draw.rstate, &sampler)) {
        return failed(FACET_RASTER_BAD_SAMPLER);
    }
    left = facet_raster_geometry_draw(&draw, &sampler, &part, &color, &depth);
    return finish(unit, context, &part, color, depth, left);
}

struct facet_raster_result facet_raster_gdraw(const struct facet_raster_unit *unit,
                                              struct facet_raster_context *context,
                                              uint32_t address)
{
    return facet_raster_gdraw_command(unit, context, address, 0);
}
