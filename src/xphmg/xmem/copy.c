/* Memory to memory: XLDS.CPY and the layout conversions XSWZ.*.
 *
 * Both ranges are probed before the first byte moves. A copy takes eight bytes at a time, from the
 * end when the destination overlaps the source from above; a layout conversion goes element by
 * element in row order. Where jobs complete late (jobs.h), an asynchronous copy is one of them.
 *
 * Spec: R-XM-01, R-XM-20, R-XM-25, R-XM-44, R-XM-49. */
#include "base/bits.h"
#include "xphmg/hart/memory.h"
#include "xphmg/units/jobs.h"
#include "xphmg/units/part.h"
#include "xphmg/units/vendor.h"
#include "xphmg/xmem/unit.h"

#include <string.h>

struct facet_trap facet_xmem_probe_copy(
    const struct facet_hart *h, uint64_t to, uint64_t to_size, uint64_t from, uint64_t from_size)
{
    struct facet_xmem_actor actor = facet_xmem_inline(h);
    struct facet_trap trap = facet_xmem_probe(h, actor, from, from_size, false);

    return trap.taken ? trap : facet_xmem_probe(h, actor, to, to_size, true);
}

static struct facet_trap move_piece(struct facet_hart *h, uint64_t to, uint64_t from, unsigned size)
{
    uint64_t value;
    struct facet_trap trap = facet_hart_load(h, from, size, &value);

    return trap.taken ? trap : facet_hart_store(h, to, size, value);
}

/* Bytes between two questions whether to leave a copy, and nanoseconds that eight take. */
enum { BYTES_ASKED = 4096, WORD_NANOSECONDS = 8 };

/* A copy on its way. */
struct copy {
    uint64_t to, from, size;
    uint64_t done; /* bytes */
};

/* How many bytes come next, and where: from the end when the destination overlaps the source from
 * above; eight at a time from the start of both ranges on, single ones after the last eight. */
static unsigned next_piece(const struct copy *c, uint64_t *offset)
{
    uint64_t left = c->size - c->done;
    bool up = c->to - c->from >= c->size;
    unsigned size = (up ? left >= 8 : left % 8 == 0) ? 8 : 1;

    *offset = up ? c->done : left - size;
    return size;
}

/* The rest of a copy between ranges that have been probed, or a part of it: then h->part is left
 * with the copy in it. */
static struct facet_trap move(struct facet_hart *h, struct copy c)
{
    struct facet_trap trap = FACET_RETIRED;

    while (c.done < c.size && !trap.taken) {
        uint64_t offset;
        unsigned size = next_piece(&c, &offset);

        trap = move_piece(h, c.to + offset, c.from + offset, size);
        c.done += size;
        if (c.done % BYTES_ASKED < size && facet_part_work(h, BYTES_ASKED / 8 * WORD_NANOSECONDS) &&
            !trap.taken && c.done < c.size) {
            struct facet_part *part = facet_part_leave(h, FACET_PART_COPY);

            memcpy(part->at, (uint64_t[]){c.to, c.from, c.size, c.done}, 4 * sizeof part->at[0]);
            break;
        }
    }
    return trap;
}

static struct copy copy_of(const struct facet_part *part)
{
    return (struct copy){part->at[0], part->at[1], part->at[2], part->at[3]};
}

static struct facet_trap copy_on(struct facet_hart *h, struct copy c)
{
    struct facet_trap trap = move(h, c);

    return trap.taken ? facet_xmem_fault(h, facet_xmem_inline(h), trap) : trap;
}

struct facet_trap facet_xmem_move(struct facet_hart *h, uint64_t to, uint64_t from, uint64_t size)
{
    return copy_on(h, (struct copy){to, from, size, 0});
}

struct facet_trap facet_xmem_move_rest(struct facet_hart *h, const struct facet_part *part)
{
    return copy_on(h, copy_of(part));
}

unsigned facet_xmem_copy_run(struct facet_hart *h, const uint8_t *words)
{
    const struct facet_part *part = facet_part_resume(h, FACET_PART_COPY);
    struct copy c = part != NULL ? copy_of(part)
                                 : (struct copy){facet_load_le64(words),
                                                 facet_load_le64(words + 8),
                                                 facet_load_le64(words + 16),
                                                 0};
    struct facet_trap trap =
        part != NULL ? FACET_RETIRED : facet_xmem_probe_copy(h, c.to, c.size, c.from, c.size);

    if (!trap.taken) {
        trap = move(h, c);
    }
    if (trap.taken) {
        facet_xmem_copy_error(h, facet_xmem_inline(h), trap);
    }
    return trap.taken ? trap.cause : 0;
}

struct facet_trap facet_xmem_copy(struct facet_hart *h, const struct facet_insn *in)
{
    const struct facet_part *part = facet_part_resume(h, FACET_PART_COPY);
    bool async = facet_insn_field(in, "async") != 0 && FACET_XMEM_HAS(h, XDMA);
    bool swz = facet_insn_field(in, "swz") != 0 && FACET_XMEM_HAS(h, BIDIR_SWZ);
    uint64_t to = h->x[in->rd], from = h->x[in->rs1], size = h->x[in->rs2];
    struct facet_trap trap;

    if (part != NULL) {
        return facet_xmem_move_rest(h, part);
    }
    if (async && !facet_jobs_room(h, FACET_QUEUE_COPY)) {
        return FACET_RETIRED;
    }
    facet_hart_unit(h, "xmem", "copy", 5, (uint64_t[]){to, from, size, swz, async});
    if (async && h->jobs != NULL) {
        uint8_t words[24];

        facet_store_le64(words, to);
        facet_store_le64(words + 8, from);
        facet_store_le64(words + 16, size);
        facet_jobs_add(h, FACET_QUEUE_COPY, to, words, sizeof words);
        return FACET_RETIRED;
    }
    trap = facet_xmem_probe_copy(h, to, size, from, size);
    if (!trap.taken) {
        return facet_xmem_move(h, to, from, size);
    }
    if (!async) {
        return facet_xmem_fault(h, facet_xmem_inline(h), trap);
    }
    facet_xmem_copy_error(h, facet_xmem_inline(h), trap);
    return FACET_RETIRED;
}

/* ---- layouts -----------------------------------------------------------------------------------
 */

/* x[rs2] of XSWZ.*. */
struct shape {
    bool morton; /* texture: Morton order, else linear with a pitch */
    bool dense;  /* tensor: linear, else 4x4 tiles */
    unsigned size;
    uint32_t width, height;
    uint64_t pitch;
};

enum { SHAPE_RESERVED_LOW = 0xFC00 }; /* bits 11:10 and the tile field 15:12 */

static bool read_shape(uint64_t word, struct shape *shape)
{
    unsigned texture = word & 15, tensor = word >> 4 & 15;

    *shape = (struct shape){
        .morton = texture == 1,
        .dense = tensor == 1,
        .size = 1u << (word >> 8 & 3),
        .width = word >> 16 & 0xFFF,
        .height = word >> 32 & 0xFFF,
        .pitch = word >> 48,
    };
    if (shape->pitch == 0) {
        shape->pitch = (uint64_t)shape->width * shape->size;
    }
    return texture <= 1 && tensor <= 1 && (word & SHAPE_RESERVED_LOW) == 0 &&
           (word >> 28 & 15) == 0 && (word >> 44 & 15) == 0 && shape->width != 0 &&
           shape->height != 0;
}

/* Bits of a coordinate at the even places. */
static uint64_t spread(uint32_t v)
{
    uint64_t r = v;

    r = (r | r << 8) & UINT64_C(0x00FF00FF);
    r = (r | r << 4) & UINT64_C(0x0F0F0F0F);
    r = (r | r << 2) & UINT64_C(0x33333333);
    return (r | r << 1) & UINT64_C(0x55555555);
}

static uint64_t texture_offset(const struct shape *s, uint32_t x, uint32_t y)
{
    return s->morton ? (spread(x) | spread(y) << 1) * s->size
                     : y * s->pitch + (uint64_t)x * s->size;
}

static uint64_t tensor_offset(const struct shape *s, uint32_t x, uint32_t y)
{
    uint64_t tiles = (s->width + 3) / 4;
    uint64_t index = s->dense ? (uint64_t)y * s->width + x
                              : 16 * ((y / 4) * tiles + x / 4) + 4 * (y % 4) + x % 4;

    return index * s->size;
}

typedef uint64_t offset_fn(const struct shape *s, uint32_t x, uint32_t y);

/* A conversion on its way. */
enum phase { PROBE_SOURCE, PROBE_TARGET, MOVE, DONE };

struct conversion {
    struct shape shape;
    offset_fn *source, *target;
    uint64_t to, from;
    uint32_t width, height; /* of what is written: padding of tiles included */
    enum phase phase;
    uint32_t row;            /* of the phase: the next one */
    struct facet_trap worst; /* of the probes of this phase so far */
};

/* One probe of the whole extent settles the common case: offsets rise with both coordinates in a
 * texture, and the last tile ends a tensor. */
static bool extent_is_good(
    const struct facet_hart *h, const struct shape *s, offset_fn *offset, uint64_t base, bool write)
{
    uint64_t extent = offset(s, (s->width + 3) & ~3u, (s->height + 3) & ~3u) + s->size;

    return !facet_xmem_probe(h, facet_xmem_inline(h), base, extent, write).taken;
}

/* Probes a row of elements of a layout; the lowest bad byte of any element counts. */
static void probe_row(const struct facet_hart *h, struct conversion *c)
{
    const struct shape *s = &c->shape;
    bool write = c->phase == PROBE_TARGET;
    offset_fn *offset = write ? c->target : c->source;
    uint64_t base = write ? c->to : c->from;

    for (uint32_t x = 0; x < (write ? c->width : s->width); x++) {
        struct facet_trap trap =
            facet_xmem_probe(h, facet_xmem_inline(h), base + offset(s, x, c->row), s->size, write);

        if (trap.taken && (!c->worst.taken || trap.tval - base < c->worst.tval - base)) {
            c->worst = trap;
        }
    }
}

static struct facet_trap move_row(struct facet_hart *h, const struct conversion *c)
{
    const struct shape *s = &c->shape;
    uint32_t y = c->row;
    struct facet_trap trap = FACET_RETIRED;

    for (uint32_t x = 0; x < c->width && !trap.taken; x++) {
        uint64_t to = c->to + c->target(s, x, y);

        trap = x < s->width && y < s->height
                   ? move_piece(h, to, c->from + c->source(s, x, y), s->size)
                   : facet_hart_store(h, to, s->size, 0);
    }
    return trap;
}

/* Rows of the phase. */
static uint32_t rows_of(const struct facet_hart *h, const struct conversion *c)
{
    switch (c->phase) {
    case PROBE_SOURCE:
        return extent_is_good(h, &c->shape, c->source, c->from, false) ? 0 : c->shape.height;
    case PROBE_TARGET:
        return extent_is_good(h, &c->shape, c->target, c->to, true) ? 0 : c->height;
    default:
        return c->height;
    }
}

/* The rest of the phase, row by row, then the next phase; *left: a part is left. */
static struct facet_trap convert(struct facet_hart *h, struct conversion *c, bool *left)
{
    uint32_t rows = rows_of(h, c);
    struct facet_trap trap = FACET_RETIRED;

    while (c->row < rows && !trap.taken && !*left) {
        if (c->phase == MOVE) {
            trap = move_row(h, c);
        } else {
            probe_row(h, c);
        }
        c->row++;
        *left = facet_part_work(h, UINT64_C(1) * c->width * WORD_NANOSECONDS) && !trap.taken;
    }
    if (!*left && !trap.taken) {
        trap = c->worst;
        c->phase++;
        c->row = 0;
    }
    return trap;
}

static void keep_conversion(const struct conversion *c, struct facet_part *part)
{
    part->at[0] = c->phase;
    part->at[1] = c->row;
    part->at[2] = c->worst.taken;
    part->at[3] = c->worst.cause;
    part->at[4] = c->worst.tval;
}

static void take_conversion(struct conversion *c, const struct facet_part *part)
{
    c->phase = part->at[0] <= MOVE ? (enum phase)part->at[0] : MOVE;
    c->row = (uint32_t)part->at[1];
    c->worst = (struct facet_trap){part->at[2] != 0, (uint8_t)part->at[3], part->at[4]};
}

struct facet_trap facet_xmem_swizzle(struct facet_hart *h, const struct facet_insn *in)
{
    const struct facet_part *part = facet_part_resume(h, FACET_PART_SWIZZLE);
    bool to_tensor = in->row == FACET_XPHMG_XSWZ_TEX2TEN, left = false;
    struct conversion c = {.source = to_tensor ? texture_offset : tensor_offset,
                           .target = to_tensor ? tensor_offset : texture_offset,
                           .to = h->x[in->rd],
                           .from = h->x[in->rs1]};
    struct facet_trap trap = FACET_RETIRED;
    struct shape *s = &c.shape;

    if (!read_shape(h->x[in->rs2], s)) {
        facet_cap_event(h, FACET_CAP_XMEM_EVENTS_INV_MISS);
        return FACET_RETIRED;
    }
    /* tile padding is written by tex2ten and skipped by ten2tex */
    c.width = to_tensor && !s->dense ? (s->width + 3) & ~3u : s->width;
    c.height = to_tensor && !s->dense ? (s->height + 3) & ~3u : s->height;
    if (part != NULL) {
        take_conversion(&c, part);
    }
    while (c.phase != DONE && !trap.taken && !left) {
        trap = convert(h, &c, &left);
    }
    if (left) {
        keep_conversion(&c, facet_part_leave(h, FACET_PART_SWIZZLE));
    }
    return trap.taken ? facet_xmem_fault(h, facet_xmem_inline(h), trap) : trap;
}
