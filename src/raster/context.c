/* Graphics contexts (tile-semantics.md 14): loading states and parameters into slots, RSETUP, and
 * the draws up to the point where everything they name is known to be good. The order of the checks
 * is that of section 14. */
#include "raster/internal.h"

static const struct {
    uint32_t size, align;
} layout[FACET_RASTER_KINDS] = {
    [FACET_RASTER_RSTATE] = {64, 32},
    [FACET_RASTER_GSTATE] = {128, 64},
    [FACET_RASTER_GPARAM] = {64, 32},
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
        const uint32_t *s = context->rstate[slot];

        if ((s[2] & 255) > 1 || (s[6] & 255) > DEPTH_D32F || (s[7] & 255) > BLEND_ADDITIVE) {
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
    tell_touch(unit, p, 4 * count);
    for (uint32_t i = 0; i < count; i++) {
        words[i] = load_u32(p + 4 * i);
    }
    return FACET_RASTER_OK;
}

/* ---- states and parameters ---- */

static enum facet_raster_code check_rstate(const uint32_t words[16])
{
    return (words[2] & 255) > 1 || (words[6] & 255) > DEPTH_D32F ||
                   (words[7] & 255) > BLEND_ADDITIVE
               ? FACET_RASTER_BAD_FORMAT
               : FACET_RASTER_OK;
}

enum { GSTATE_USER_PLANE = 16 };

/* The blocks that a GSTATE points to. */
static enum facet_raster_code read_gstate_blocks(const struct facet_raster_unit *unit,
                                                 const uint32_t words[32],
                                                 uint32_t normal[9],
                                                 uint32_t plane[4])
{
    enum facet_raster_code code = FACET_RASTER_OK;

    if (words[20] != 0) {
        code = read_words(unit, words[20], 4, 9, normal);
    }
    if (code == FACET_RASTER_OK && (words[3] & GSTATE_USER_PLANE) != 0) {
        code = read_words(unit, words[26], 4, 4, plane);
    }
    return code;
}

struct facet_raster_result facet_raster_load(const struct facet_raster_unit *unit,
                                             struct facet_raster_context *context,
                                             enum facet_raster_kind kind,
                                             unsigned slot,
                                             uint32_t address)
{
    uint32_t words[32], normal[9] = {0}, plane[4] = {0};
    enum facet_raster_code code;

    if (slot >= FACET_RASTER_SLOTS) {
        return failed(FACET_RASTER_BAD_STATE);
    }
    code = read_words(unit, address, layout[kind].align, layout[kind].size / 4, words);
    if (code == FACET_RASTER_OK && kind == FACET_RASTER_RSTATE) {
        code = check_rstate(words);
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
    uint32_t words[24];
    enum facet_raster_code code = read_words(unit, address, 32, 24, words);

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
                          const uint32_t *rstate,
                          struct raster_sampler *s)
{
    return facet_raster_sampler_make(unit->samplers[rstate[9] & 31], s);
}

/* RDRAW and RRECT have the same header. */
struct header {
    const uint32_t *rstate;
    uint32_t words[4];
    uint32_t flags;
    bool textured;
    struct raster_choice choice;
};

static enum facet_raster_code read_header(const struct facet_raster_unit *unit,
                                          uint32_t address,
                                          uint32_t or_flags,
                                          bool rect,
                                          struct header *h)
{
    enum facet_raster_code code = read_words(unit, address, 16, 4, h->words);

    if (code != FACET_RASTER_OK) {
        return code;
    }
    h->flags = h->words[0] >> 16 | (or_flags & 0xFFFF);
    return ((h->flags & DRAW_RECT) != 0) == rect ? FACET_RASTER_OK : FACET_RASTER_BAD_DESC;
}

static enum facet_raster_code
use_state(const struct facet_raster_context *context, uint32_t id, struct header *h)
{
    const uint8_t slot = resolve(context, FACET_RASTER_RSTATE, id, 0xFFFF);
    const uint32_t select = h->flags >> 3 & 3;

    if (slot == FACET_RASTER_NONE) {
        return FACET_RASTER_BAD_STATE;
    }
    h->rstate = context->rstate[slot];
    h->choice = (struct raster_choice){
        .textured = (h->flags & DRAW_TEXTURED) != 0 && (h->rstate[12] & RS_FLAG_TEXTURE) != 0,
        .depth = (h->flags & DRAW_DEPTH) != 0,
        .blend = select == 0 ? h->rstate[7] & 255 : (uint8_t)(select - 1),
        .clip = facet_raster_state_box(h->rstate),
    };
    if (h->rstate[14] != 0) {
        facet_raster_box_cut(&h->choice.clip, h->rstate[13], h->rstate[14]);
    }
    return FACET_RASTER_OK;
}

static struct facet_raster_result finish(struct facet_raster_context *context,
                                         const struct raster_pipe *pipe,
                                         struct raster_report *report)
{
    if (pipe->bad_mem) {
        facet_raster_report_add(report, FACET_RASTER_BAD_MEM, 1);
    }
    return (struct facet_raster_result){
        .rd = ++context->token,
        .code = report->code,
        .count = report->count,
        .color = pipe->color,
        .depth = pipe->depth,
    };
}

/* ---- RDRAW ---- */

static void block_vertex(const uint32_t words[8], struct raster_vertex *v)
{
    facet_raster_snap(v, float_of(words[0]), float_of(words[1]));
    v->z = float_of(words[2]);
    v->w = float_of(words[3]);
    v->u = float_of(words[4]);
    v->v = float_of(words[5]);
    v->color[0] = (float)(words[6] >> 16 & 255);
    v->color[1] = (float)(words[6] >> 8 & 255);
    v->color[2] = (float)(words[6] & 255);
    v->color[3] = (float)(words[6] >> 24);
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

static void
draw_block(struct raster_pipe *pipe, const struct header *h, const uint32_t block[24], bool *range)
{
    struct raster_vertex vertex[3];
    const struct raster_vertex *const corners[3] = {&vertex[0], &vertex[1], &vertex[2]};
    const struct raster_shade shade = {
        .affine = (h->flags & DRAW_AFFINE) != 0,
        .solid = (h->flags & (DRAW_FLAT | DRAW_STATE_COLOR)) != 0,
        .color = (h->flags & DRAW_STATE_COLOR) != 0 ? h->rstate[8] : block[6],
    };
    struct raster_triangle t;

    for (unsigned i = 0; i < 3; i++) {
        block_vertex(block + 8 * i, &vertex[i]);
    }
    switch (facet_raster_setup(pipe, &shade, corners, &t)) {
    case SETUP_DRAW:
        facet_raster_fill_wide(pipe, &t);
        narrow_spans(pipe, &t.box);
        return;
    case SETUP_RANGE:
        *range = true;
        break;
    case SETUP_NOTHING:
        break;
    }
    pipe->color = pipe->depth = (struct facet_raster_span){0, 0};
}

struct facet_raster_result facet_raster_rdraw_command(const struct facet_raster_unit *unit,
                                                      struct facet_raster_context *context,
                                                      uint32_t address,
                                                      uint32_t arg1,
                                                      uint32_t arg2)
{
    struct raster_sampler sampler = {0};
    struct raster_report report = {0, 0};
    struct raster_pipe pipe;
    struct header h;
    uint32_t block[24], pointer;
    bool range = false;
    enum facet_raster_code code = read_header(unit, address, arg2, false, &h);

    if (code == FACET_RASTER_OK) {
        code = use_state(context, h.words[0] & 0xFFFF, &h);
    }
    if (code != FACET_RASTER_OK) {
        return failed(code);
    }
    pointer = arg1 != 0 ? arg1 : h.words[1];
    if (pointer != 0) {
        code = read_words(unit, pointer, 32, 24, block);
    } else if (context->has_setup == 0) {
        code = FACET_RASTER_BAD_STATE;
    } else {
        memcpy(block, context->setup, sizeof block);
    }
    if (code == FACET_RASTER_OK && h.choice.textured && !state_sampler(unit, h.rstate, &sampler)) {
        code = FACET_RASTER_BAD_SAMPLER;
    }
    if (code != FACET_RASTER_OK) {
        return failed(code);
    }
    facet_raster_pipe_make(unit, h.rstate, &h.choice, &sampler, &pipe);
    draw_block(&pipe, &h, block, &range);
    if (range) {
        facet_raster_report_add(&report, FACET_RASTER_RANGE, 1);
    }
    return finish(context, &pipe, &report);
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
    struct raster_report report = {0, 0};
    struct raster_pipe pipe;
    struct raster_rect rect;
    struct header h;
    enum facet_raster_code code = read_header(unit, address, arg2, true, &h);

    if (code == FACET_RASTER_OK) {
        code = use_state(context, arg1 < FACET_RASTER_SLOTS ? arg1 : h.words[0] & 0xFFFF, &h);
    }
    if (code == FACET_RASTER_OK && h.choice.textured && !state_sampler(unit, h.rstate, &sampler)) {
        code = FACET_RASTER_BAD_SAMPLER;
    }
    if (code != FACET_RASTER_OK) {
        return failed(code);
    }
    rect = (struct raster_rect){
        .x = low16(h.words[1]),
        .y = high16(h.words[1]),
        .w = h.words[2] & 0xFFFF,
        .h = h.words[2] >> 16,
        .color = (h.flags & DRAW_STATE_COLOR) != 0 ? h.rstate[8] : h.words[3],
        .u0 = low16(h.words[3]),
        .v0 = high16(h.words[3]),
        .stretch = (h.flags & DRAW_STRETCH) != 0,
        .z = float_of(h.rstate[15]),
    };
    facet_raster_box_cut(&h.choice.clip, h.words[1], h.words[2]);
    facet_raster_pipe_make(unit, h.rstate, &h.choice, &sampler, &pipe);
    facet_raster_rect_fill(&pipe, &rect);
    return finish(context, &pipe, &report);
}

struct facet_raster_result facet_raster_rrect(const struct facet_raster_unit *unit,
                                              struct facet_raster_context *context,
                                              uint32_t address)
{
    return facet_raster_rrect_command(unit, context, address, UINT32_MAX, 0);
}

/* ---- GDRAW ---- */

enum { GDRAW_CU_ASSIST = 4 };

struct facet_raster_result facet_raster_gdraw_command(const struct facet_raster_unit *unit,
                                                      struct facet_raster_context *context,
                                                      uint32_t address,
                                                      uint32_t arg2)
{
    static const uint32_t default_gparam[16] = {0};
    struct raster_sampler sampler = {0};
    struct raster_report report = {0, 0};
    struct raster_gdraw draw = {.unit = unit};
    struct facet_raster_result r = {0};
    uint32_t words[6];
    uint8_t gstate, rstate, gparam;
    enum facet_raster_code code = read_words(unit, address, 16, 6, words);

    if (code != FACET_RASTER_OK) {
        return failed(code);
    }
    words[5] |= (arg2 & 1) != 0 ? (uint32_t)GDRAW_CU_ASSIST : 0;
    words[3] = (arg2 & 2) != 0 ? 1 : words[3];
    if (words[3] > 1) {
        return failed(FACET_RASTER_BAD_FORMAT);
    }
    gstate = resolve(context, FACET_RASTER_GSTATE, words[4] & 255, 0xFF);
    rstate = resolve(context, FACET_RASTER_RSTATE, words[4] >> 8 & 255, 0xFF);
    gparam = resolve(context, FACET_RASTER_GPARAM, words[4] >> 16, 0xFFFF);
    if (gstate == FACET_RASTER_NONE || rstate == FACET_RASTER_NONE ||
        (gparam == FACET_RASTER_NONE && words[4] >> 16 != 0xFFFF)) {
        return failed(FACET_RASTER_BAD_STATE);
    }
    draw.gstate = context->gstate[gstate];
    draw.normal = context->normal[gstate];
    draw.plane = context->plane[gstate];
    draw.rstate = context->rstate[rstate];
    draw.gparam = gparam == FACET_RASTER_NONE ? default_gparam : context->gparam[gparam];
    draw.words = words;
    if ((draw.rstate[12] & RS_FLAG_TEXTURE) != 0 && !state_sampler(unit, draw.rstate, &sampler)) {
        return failed(FACET_RASTER_BAD_SAMPLER);
    }
    facet_raster_geometry_draw(&draw, &sampler, &report, &r.color, &r.depth);
    r.rd = ++context->token;
    r.code = report.code;
    r.count = report.count;
    return r;
}

struct facet_raster_result facet_raster_gdraw(const struct facet_raster_unit *unit,
                                              struct facet_raster_context *context,
                                              uint32_t address)
{
    return facet_raster_gdraw_command(unit, context, address, 0);
}
