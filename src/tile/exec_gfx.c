/* TEX2D and the raster and geometry instructions: what the core adds to src/raster (handles, the
 * texture cache, error reports; tile-semantics.md 8.2, 11.1, 14). */
#include "tile/exec_vec.h"
#include "tile/tally/tally.h"
#include "tile/watch.h"

#include <string.h>

/* ---- textures ---- */

/* A texel through T, or from G under the strong model. */
static bool read_texel(void *context, uint32_t address, unsigned size, uint8_t *bytes)
{
    struct facet_tile_core *c = context;
    const struct facet_tile_machine *m = c->m;
    uint32_t first = address - FACET_VRAM_BASE;
    bool inside = true;

    if (first < m->vram_size && first % 64 + size <= 64) { /* one line, whole or not at all */
        memcpy(bytes,
               m->config.strong
                   ? m->vram + first
                   : facet_tile_cache_texels(&c->cache, m->vram, first / 64) + first % 64,
               size);
        return true;
    }
    for (unsigned i = 0; i < size; i++) {
        uint32_t offset = address + i - FACET_VRAM_BASE;

        if (offset >= m->vram_size) {
            bytes[i] = 0;
            inside = false;
        } else if (m->config.strong) {
            bytes[i] = m->vram[offset];
        } else {
            bytes[i] = facet_tile_cache_texels(&c->cache, m->vram, offset / 64)[offset % 64];
        }
    }
    return inside;
}

static bool fetch_texel(void *context, uint32_t address, unsigned size, uint8_t *bytes)
{
    const struct facet_tile_machine *m = ((struct facet_tile_core *)context)->m;
    bool inside = read_texel(context, address, size, bytes);

    if (__builtin_expect(m->tally != NULL, 0)) {
        const uint32_t core = ((struct facet_tile_core *)context)->id;

        m->tally->traffic[core]
            .accesses[FACET_TILE_REACH_TEXEL][FACET_TILE_LOAD][__builtin_ctz(size)]++;
    }
    if (__builtin_expect(m->unit.watch != NULL, 0) && inside) {
        m->unit.watch->touch(
            m->unit.watch->context, FACET_RASTER_USE_SAMPLE, address - FACET_VRAM_BASE, size);
    }
    return inside;
}

/* The descriptor of the handle; false for a bad one. */
static bool find_descriptor(struct facet_tile_core *c, uint32_t handle, uint32_t *words)
{
    struct facet_tile_lanes lanes = {.address = {handle},
                                     .count = 1,
                                     .size = FACET_TILE_SAMPLER_SIZE,
                                     .align = FACET_TILE_SAMPLER_ALIGN,
                                     .window = true};
    uint8_t bytes[FACET_TILE_SAMPLER_SIZE];
    bool misaligned;

    if ((c->r.config & FACET_CONFIG_TEX_PTR) == 0) {
        if (handle >= FACET_TILE_SAMPLERS) {
            return false;
        }
        memcpy(bytes, c->m->sampler + (size_t)handle * sizeof bytes, sizeof bytes);
    } else {
        if (handle % FACET_TILE_SAMPLER_ALIGN != 0 ||
            facet_tile_check(c, &lanes, FACET_TILE_LOAD, &misaligned).cause != 0) {
            return false;
        }
        facet_tile_read(c, handle, bytes, sizeof bytes);
    }
    for (unsigned i = 0; i < FACET_TILE_SAMPLER_WORDS; i++) {
        words[i] = facet_load_le32(bytes + 4 * i);
    }
    return true;
}

static const struct facet_tile_insn *
sample(struct facet_tile_core *c, const struct facet_tile_insn *op, bool bilinear, unsigned type)
{
    struct facet_texel_source source = {fetch_texel, c};
    union facet_tile_vec result = {.d = {0, 0}};
    uint32_t words[FACET_TILE_SAMPLER_WORDS];

    if (!find_descriptor(c, c->r.s[op->rs2], words) ||
        !facet_raster_tex2d(words,
                            VS1.w[0],
                            VS1.w[1],
                            (c->r.config & FACET_CONFIG_TEX_NORM) != 0,
                            bilinear,
                            type,
                            &source,
                            result.w)) {
        c->r.status |= FACET_STATUS_TEXERR;
    }
    c->r.v[op->rd] = result;
    c->perf[FACET_TILE_CLASS_TEXTURE]++;
    return op + 1;
}

#define TEXTURE(type, code)                                                                        \
    FACET_TILE_OP(TEX2D_N_##type)                                                                  \
    {                                                                                              \
        return sample(c, op, false, code);                                                         \
    }                                                                                              \
    FACET_TILE_OP(TEX2D_B_##type)                                                                  \
    {                                                                                              \
        return sample(c, op, true, code);                                                          \
    }

TEXTURE(I32, 0)
TEXTURE(I16, 1)
TEXTURE(I8, 2)
TEXTURE(F16, 3)
TEXTURE(F8, 4)
TEXTURE(F32, 5)

/* ---- raster and geometry ---- */

static void report(struct facet_tile_core *c, const struct facet_raster_result *result)
{
    uint32_t code = c->r.gerror & 0xFF;
    uint64_t count = (uint64_t)(c->r.gerror >> 8) + result->count;

    if (result->count == 0) {
        return;
    }
    code = code != 0 ? code : result->code;
    count = count < 0xFFFFFF ? count : 0xFFFFFF;
    c->r.gerror = (uint32_t)count << 8 | code;
    c->r.status |= FACET_STATUS_GERR;
    c->r.int_status |= FACET_INT_STATUS_GERR;
}

static void written(struct facet_tile_machine *m, struct facet_raster_span span)
{
    for (uint32_t at = span.begin; at < span.end;) {
        uint32_t next = (at | 4095) + 1 < span.end ? (at | 4095) + 1 : span.end;

        facet_tile_touch(m, at, next - at);
        at = next;
    }
}

static void tell_unit(const struct facet_tile_core *c,
                      const char *what,
                      uint32_t address,
                      const struct facet_raster_result *result)
{
    struct facet_unit_event event = {.core = c->id,
                                     .unit = "gfx",
                                     .what = what,
                                     .count = 4,
                                     .values = {address, result->rd, result->code, result->count}};

    facet_port_unit(c->m->port, &event);
}

/* The draw is interrupted in the middle; pc stays. */
static const struct facet_tile_insn *leave(struct facet_tile_core *c,
                                           const struct facet_tile_insn *op)
{
    c->m->draw_of = (uint8_t)c->id;
    c->m->draw_word = op->word;
    c->m->event = FACET_TILE_EVENT_LEFT;
    c->instret--; /* it does not retire */
    return op;
}

typedef struct facet_raster_result draw_fn(const struct facet_raster_unit *unit,
                                           struct facet_raster_context *context,
                                           uint32_t address);

static const struct facet_tile_insn *graphics(struct facet_tile_core *c,
                                              const struct facet_tile_insn *op,
                                              draw_fn *draw,
                                              const char *what)
{
    const bool is_draw =
        draw == facet_raster_rdraw || draw == facet_raster_rrect || draw == facet_raster_gdraw;
    uint32_t address = c->r.s[op->rs1] + (uint32_t)op->imm;
    struct facet_raster_result result = draw(&c->m->unit, &c->gfx, address);

    written(c->m, result.color);
    written(c->m, result.depth);
    if (result.left) {
        return leave(c, op);
    }
    report(c, &result);
    tell_unit(c, what, address, &result);
    if (c->m->tally != NULL && is_draw) {
        facet_tile_tally_draw(c->m, c->id, what);
    }
    c->r.s[op->rd] = result.rd;
    c->perf[FACET_TILE_CLASS_GRAPHICS]++;
    if (facet_port_asked(c->m->port)) { /* many short draws take long as well */
        c->m->event = FACET_TILE_EVENT_ASKED;
    }
    return op + 1;
}

#define GRAPHICS(name, draw, what)                                                                 \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        return graphics(c, op, draw, what);                                                        \
    }

GRAPHICS(RSTATE, facet_raster_rstate, "rstate")
GRAPHICS(RSETUP, facet_raster_rsetup, "rsetup")
GRAPHICS(RDRAW, facet_raster_rdraw, "rdraw")
GRAPHICS(RRECT, facet_raster_rrect, "rrect")
GRAPHICS(GSTATE, facet_raster_gstate, "gstate")
GRAPHICS(GPARAM, facet_raster_gparam, "gparam")
GRAPHICS(GDRAW, facet_raster_gdraw, "gdraw")

void facet_tile_written(facet_machine *machine, uint32_t begin, uint32_t end)
{
    written(facet_tile_self(machine, NULL), (struct facet_raster_span){begin, end});
}
