/* Memory to memory: XLDS.CPY and the layout conversions XSWZ.*.
 *
 * Both ranges are probed before the first byte moves. A copy takes eight bytes at a time, from the
 * end when the destination overlaps the source from above; a layout conversion goes element by
 * element in row order. Where jobs complete late (jobs.h), an asynchronous copy is one of them.
 *
 * Spec: R-XM-01, R-XM-20, R-XM-25, R-XM-44, R-XM-49. */
#include "base/bits.h"
#include "xphmg/jobs.h"
#include "xphmg/memory.h"
#include "xphmg/vendor.h"
#include "xphmg/xmem_unit.h"

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

static struct facet_trap move(struct facet_hart *h, uint64_t to, uint64_t from, uint64_t size)
{
    struct facet_trap trap = FACET_RETIRED;
    uint64_t whole = size & ~UINT64_C(7);

    if (to - from >= size) { /* upwards is safe */
        for (uint64_t i = 0; i < whole && !trap.taken; i += 8) {
            trap = move_piece(h, to + i, from + i, 8);
        }
        for (uint64_t i = whole; i < size && !trap.taken; i++) {
            trap = move_piece(h, to + i, from + i, 1);
        }
    } else {
        for (uint64_t i = size; i > whole && !trap.taken; i--) {
            trap = move_piece(h, to + i - 1, from + i - 1, 1);
        }
        for (uint64_t i = whole; i > 0 && !trap.taken; i -= 8) {
            trap = move_piece(h, to + i - 8, from + i - 8, 8);
        }
    }
    return trap;
}

struct facet_trap facet_xmem_move(struct facet_hart *h, uint64_t to, uint64_t from, uint64_t size)
{
    struct facet_trap trap = move(h, to, from, size);

    return trap.taken ? facet_xmem_fault(h, facet_xmem_inline(h), trap) : trap;
}

unsigned facet_xmem_copy_run(struct facet_hart *h, const uint8_t *words)
{
    uint64_t to = facet_load_le64(words), from = facet_load_le64(words + 8);
    uint64_t size = facet_load_le64(words + 16);
    struct facet_trap trap = facet_xmem_probe_copy(h, to, size, from, size);

    if (!trap.taken) {
        trap = move(h, to, from, size);
    }
    if (trap.taken) {
        facet_xmem_copy_error(h, facet_xmem_inline(h), trap);
    }
    return trap.taken ? trap.cause : 0;
}

struct facet_trap facet_xmem_copy(struct facet_hart *h, const struct facet_insn *in)
{
    bool async = facet_insn_field(in, "async") != 0 && FACET_XMEM_HAS(h, XDMA);
    bool swz = facet_insn_field(in, "swz") != 0 && FACET_XMEM_HAS(h, BIDIR_SWZ);
    uint64_t to = h->x[in->rd], from = h->x[in->rs1], size = h->x[in->rs2];
    struct facet_trap trap;

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

/* Probes the elements (0,0) to (width-1, height-1) of a layout. Offsets rise with both coordinates
 * in a texture, and the last tile ends a tensor, so one probe of the whole extent settles the
 * common case; otherwise the lowest bad byte of any element counts. */
static struct facet_trap probe_elements(const struct facet_hart *h,
                                        const struct shape *s,
                                        offset_fn *offset,
                                        uint32_t width,
                                        uint32_t height,
                                        uint64_t base,
                                        bool write)
{
    struct facet_xmem_actor actor = facet_xmem_inline(h);
    uint64_t extent = offset(s, (s->width + 3) & ~3u, (s->height + 3) & ~3u) + s->size;
    struct facet_trap worst = facet_xmem_probe(h, actor, base, extent, write);

    if (!worst.taken) {
        return worst;
    }
    worst = FACET_RETIRED;
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            struct facet_trap trap =
                facet_xmem_probe(h, actor, base + offset(s, x, y), s->size, write);

            if (trap.taken && (!worst.taken || trap.tval - base < worst.tval - base)) {
                worst = trap;
            }
        }
    }
    return worst;
}

struct facet_trap facet_xmem_swizzle(struct facet_hart *h, const struct facet_insn *in)
{
    bool to_tensor = in->row == FACET_XPHMG_XSWZ_TEX2TEN;
    uint64_t to = h->x[in->rd], from = h->x[in->rs1];
    offset_fn *source = to_tensor ? texture_offset : tensor_offset;
    offset_fn *target = to_tensor ? tensor_offset : texture_offset;
    uint32_t width, height;
    struct facet_trap trap;
    struct shape s;

    if (!read_shape(h->x[in->rs2], &s)) {
        facet_cap_event(h, FACET_CAP_XMEM_EVENTS_INV_MISS);
        return FACET_RETIRED;
    }
    /* tile padding is written by tex2ten and skipped by ten2tex */
    width = to_tensor && !s.dense ? (s.width + 3) & ~3u : s.width;
    height = to_tensor && !s.dense ? (s.height + 3) & ~3u : s.height;
    trap = probe_elements(h, &s, source, s.width, s.height, from, false);
    if (!trap.taken) {
        trap = probe_elements(h, &s, target, width, height, to, true);
    }
    for (uint32_t y = 0; y < height && !trap.taken; y++) {
        for (uint32_t x = 0; x < width && !trap.taken; x++) {
            trap = x < s.width && y < s.height
                       ? move_piece(h, to + target(&s, x, y), from + source(&s, x, y), s.size)
                       : facet_hart_store(h, to + target(&s, x, y), s.size, 0);
        }
    }
    return trap.taken ? facet_xmem_fault(h, facet_xmem_inline(h), trap) : trap;
}
