/* GFX.ZTEST and GFX.ZWRITE on the depth buffer, GFX.HZ.BUILD over it.
 *
 * Spec: gfx-semantics.md 12, 13; numeric.md 11.1; R-GFX-41 to R-GFX-47, R-GFX-55, R-GFX-56,
 * R-GFX-66, R-GFX-67. */
#include "gfx/depth.h"
#include "base/bits.h"
#include "xphmg/gfx/gfx.h"
#include "xphmg/units/part.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE_MAX_PIXELS = 65536 };

static uint32_t pixels(uint64_t size)
{
    return size > SIZE_MAX_PIXELS ? SIZE_MAX_PIXELS : (uint32_t)size;
}

static uint64_t row_address(const struct facet_xphmg_gfx_run *r, uint64_t y)
{
    return FACET_XPHMG_GFX_CSR(r->csr, ZBASE) + y * FACET_XPHMG_GFX_CSR(r->csr, ZPITCH);
}

/* ---- pixels ------------------------------------------------------------------------------------
 */

/* The pixel word of a lane: its own, or the one of lane 0 for all (read once). */
static struct facet_trap
read_pixel(struct facet_xphmg_gfx_run *r, unsigned lane, uint32_t *x, uint32_t *y)
{
    struct facet_xphmg_gfx_depth_op *op = &r->op.depth;
    uint64_t word = 0;
    struct facet_trap trap = FACET_RETIRED;

    if (!op->tiled) {
        trap = facet_xphmg_gfx_read_x(r, &r->a, lane, 0, 1, 1, &word);
        lane = 0;
    } else {
        if (!op->have_origin) {
            trap = facet_xphmg_gfx_read_x(r, &r->a, 0, 0, 1, 1, &op->origin);
            op->have_origin = true;
        }
        word = op->origin;
    }
    *x = (uint32_t)(word & 0xFFFF) + (lane & ((1u << op->tile_w_log2) - 1));
    *y = (uint32_t)(word >> 16 & 0xFFFF) + (lane >> op->tile_w_log2);
    return trap;
}

/* Elements of one container, or one element: are both the same place? */
static bool same_element(const struct facet_xphmg_gfx_run *r,
                         const struct facet_xphmg_gfx_store *a,
                         const struct facet_xphmg_gfx_store *b)
{
    const struct facet_container *c = &r->port.container;

    return a->row + facet_container_offset(c, a->x) == b->row + facet_container_offset(c, b->x) &&
           facet_container_slot(c, a->x) == facet_container_slot(c, b->x);
}

/* Memory, or what the nearest earlier lane of this instruction will store there. */
static struct facet_trap read_depth(struct facet_xphmg_gfx_run *r, unsigned lane, uint32_t *bits)
{
    const struct facet_xphmg_gfx_store *at = &r->kept.store[lane];
    struct facet_trap trap = facet_elements_read(&r->port, at->row, at->x, 1, bits);

    for (unsigned i = lane; i-- > 0 && !trap.taken;) {
        const struct facet_xphmg_gfx_store *earlier = &r->kept.store[i];

        if (facet_lanes_active(&r->lanes, i) && earlier->pending && same_element(r, earlier, at)) {
            *bits = earlier->bits;
            break;
        }
    }
    return trap;
}

static struct facet_trap depth_lane(struct facet_xphmg_gfx_run *r, unsigned lane, unsigned *flags)
{
    const struct facet_xphmg_gfx_depth_op *op = &r->op.depth;
    const struct facet_conv *conv = &r->numbers.channel[0];
    struct facet_xphmg_gfx_store *store = &r->kept.store[lane];
    bool test = r->result == FACET_XPHMG_GFX_TO_MASK, pass = true;
    uint32_t z = 0, stored = 0, y = 0;
    struct facet_trap trap = FACET_RETIRED;

    *store = (struct facet_xphmg_gfx_store){0};
    if (!op->bypass) {
        trap = facet_xphmg_gfx_read(r, &r->a, lane, 0, 1, &z);
        if (!trap.taken) {
            trap = read_pixel(r, lane, &store->x, &y);
        }
        pass = store->x < op->width && y < op->height;
        store->row = row_address(r, y);
        if (!trap.taken && test && pass) {
            trap = read_depth(r, lane, &stored);
            pass = !trap.taken &&
                   facet_gfx_depth_passes(conv, op->compare, op->reverse, z, stored, flags);
        }
        if (!trap.taken && pass && op->write) {
            store->pending = true;
            store->bits = facet_gfx_depth_stored(conv, z, flags);
        }
    }
    if (test && op->merge && r->bank != 0) {
        pass = pass && (r->h->units.pmask.bank[r->bank] >> lane & 1) != 0;
    }
    r->survivors |= (uint64_t)pass << lane;
    return trap;
}

/* ZWRITE with WRITE_EN = 0 does nothing at all. */
static struct facet_trap no_lane(struct facet_xphmg_gfx_run *r, unsigned lane, unsigned *flags)
{
    (void)flags;
    r->kept.store[lane].pending = false;
    return FACET_RETIRED;
}

unsigned facet_xphmg_gfx_depth_prepare(struct facet_xphmg_gfx_run *r)
{
    uint64_t zcfg = FACET_XPHMG_GFX_CSR(r->csr, ZCFG), size = FACET_XPHMG_GFX_CSR(r->csr, ZWH);
    bool test = r->in->row == FACET_XPHMG_GFX_ZTEST;
    bool write = (zcfg & FACET_GFXZCFG_WRITE_EN) != 0;
    bool early = (zcfg & FACET_GFXZCFG_EARLY_EN) != 0;

    r->lane = test || write ? depth_lane : no_lane;
    r->result = test ? FACET_XPHMG_GFX_TO_MASK : FACET_XPHMG_GFX_TO_DEPTH;
    r->op.depth = (struct facet_xphmg_gfx_depth_op){
        .compare = (uint8_t)FACET_GET(zcfg, GFXZCFG_CMP),
        .reverse = (zcfg & FACET_GFXZCFG_REVERSE_Z) != 0,
        .write = write && (!test || FACET_XPHMG_GFX_FIELD(r, ZTEST_W) != 0),
        .merge = test && FACET_XPHMG_GFX_FIELD(r, ZTEST_M) != 0,
        .tiled =
            (test ? FACET_XPHMG_GFX_FIELD(r, ZTEST_T) : FACET_XPHMG_GFX_FIELD(r, ZWRITE_T)) != 0,
        .bypass = test && FACET_XPHMG_GFX_FIELD(r, ZTEST_E) != 0 && !early,
        .tile_w_log2 =
            (uint8_t)FACET_GET(FACET_XPHMG_GFX_CSR(r->csr, HIZCFG), GFXHIZCFG_TILE_W_LOG2),
        .width = pixels(FACET_GET(size, GFXZWH_W)),
        .height = pixels(FACET_GET(size, GFXZWH_H)),
    };
    r->stores = r->op.depth.write;
    r->bank = test ? (uint8_t)FACET_XPHMG_GFX_FIELD(r, ZTEST_PD) : 0;
    return !facet_xphmg_gfx_has_bank(r, r->bank) || facet_xphmg_gfx_lacks_f(r, true, false, false)
               ? FACET_CAUSE_ILLEGAL
               : 0;
}

struct facet_trap facet_xphmg_gfx_depth_probe(const struct facet_xphmg_gfx_run *r, unsigned lane)
{
    const struct facet_xphmg_gfx_store *store = &r->kept.store[lane];

    return store->pending ? facet_elements_probe(&r->port, store->row, store->x, 1) : FACET_RETIRED;
}

struct facet_trap facet_xphmg_gfx_depth_write(const struct facet_xphmg_gfx_run *r, unsigned lane)
{
    const struct facet_xphmg_gfx_store *store = &r->kept.store[lane];

    return store->pending ? facet_elements_write(&r->port, store->row, store->x, 1, &store->bits)
                          : FACET_RETIRED;
}

/* ---- HZ.BUILD ----------------------------------------------------------------------------------
 */

enum { PYRAMID_ALIGN = 64, LEVELS_MAX = 255, CHUNK = 64 };

/* Nanoseconds that a chunk of elements takes; after each the build asks whether to leave (part.h).
 */
enum { CHUNK_NANOSECONDS = 2000 };

/* How far a build came: reading and computing first, then writing. */
struct progress {
    bool writing;
    uint64_t entry;               /* of those that are built: the next one */
    uint32_t row;                 /* of the tile of this entry */
    uint64_t element;             /* of that row */
    struct facet_extreme extreme; /* of the tile so far */
    unsigned flags;
};

/* One build under way. Values of a level are element bits. */
struct build {
    struct facet_xphmg_gfx_run *r;
    struct facet_gfx_level level[LEVELS_MAX];
    unsigned first, end; /* levels that are written; end > first */
    unsigned tile_w, tile_h;
    bool max;
    uint64_t base;
    uint64_t count;   /* entries of all levels */
    uint32_t *values; /* levels first .. end-1 back to back; NULL: only read and raise */
    struct progress at;
    unsigned seen; /* elements since it was asked */
    bool left;     /* the rest waits */
};

static uint64_t entries_of(const struct facet_gfx_level *level)
{
    return (uint64_t)level->width * level->height;
}

/* So many elements are done: now and then the question whether to leave the build here. */
static void ask(struct build *b, unsigned elements)
{
    b->seen += elements;
    if (b->seen >= CHUNK) {
        b->seen = 0;
        b->left = facet_part_work(b->r->h, CHUNK_NANOSECONDS);
    }
}

/* The elements up to first+count of an array in memory, from at.element on. */
static struct facet_trap
look_at_memory(struct build *b, uint64_t array, uint64_t first, uint64_t count)
{
    const struct facet_conv *conv = &b->r->numbers.channel[0];
    uint32_t bits[CHUNK];

    while (b->at.element < count && !b->left) {
        uint64_t rest = count - b->at.element;
        unsigned some = rest < CHUNK ? (unsigned)rest : CHUNK;
        struct facet_trap trap =
            facet_elements_read(&b->r->port, array, first + b->at.element, some, bits);

        if (trap.taken) {
            return trap;
        }
        for (unsigned i = 0; i < some; i++) {
            facet_num_extreme_look(&b->at.extreme, conv, b->max, bits[i], &b->at.flags);
        }
        b->at.element += some;
        ask(b, some);
    }
    return FACET_RETIRED;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Entry (x,y) of the first level that is built: from the depth buffer or from the level below; or a
 * part of it. */
static struct facet_trap reduce_memory(struct build *b, uint32_t x, uint32_t y, uint32_t *bits)
{
    bool bottom = b->first == 0;
    uint64_t size = FACET_XPHMG_GFX_CSR(b->r->csr, ZWH);
    const struct facet_gfx_level *below = bottom ? NULL : &b->level[b->first - 1];
    uint32_t width = bottom ? pixels(FACET_GET(size, GFXZWH_W)) : below->width;
    uint32_t height = bottom ? pixels(FACET_GET(size, GFXZWH_H)) : below->height;
    uint32_t x0 = x << b->tile_w, x1 = least(width, x0 + (1u << b->tile_w));
    uint32_t y0 = y << b->tile_h, y1 = least(height, y0 + (1u << b->tile_h));
    struct facet_trap trap = FACET_RETIRED;

    while (b->at.row < y1 - y0 && !trap.taken) {
        uint32_t row = y0 + b->at.row;

        trap =
            bottom
                ? look_at_memory(b, row_address(b->r, row), x0, x1 - x0)
                : look_at_memory(b, b->base + below->offset, (uint64_t)row * width + x0, x1 - x0);
        if (b->left) {
            return trap;
        }
        b->at.row++;
        b->at.element = 0;
    }
    if (!trap.taken) {
        *bits = facet_num_extreme_bits(&b->at.extreme, &b->r->numbers.channel[0], &b->at.flags);
        b->at.row = 0;
        b->at.extreme = (struct facet_extreme){0};
    }
    return trap;
}

/* Entry (x,y) of a level from the values of the one before. */
static uint32_t reduce_values(struct build *b,
                              const struct facet_gfx_level *below,
                              const uint32_t *values,
                              uint32_t x,
                              uint32_t y)
{
    const struct facet_conv *conv = &b->r->numbers.channel[0];
    struct facet_extreme e = {0};

    for (uint32_t j = 2 * y; j < least(below->height, 2 * y + 2); j++) {
        for (uint32_t i = 2 * x; i < least(below->width, 2 * x + 2); i++) {
            facet_num_extreme_look(
                &e, conv, b->max, values[(uint64_t)j * below->width + i], &b->at.flags);
        }
    }
    return facet_num_extreme_bits(&e, conv, &b->at.flags);
}

/* The level that holds an entry of those that are built; *start is the first entry of it. */
static unsigned level_of(const struct build *b, uint64_t entry, uint64_t *start)
{
    unsigned n = b->first;

    *start = 0;
    while (n < b->end && entry - *start >= entries_of(&b->level[n])) {
        *start += entries_of(&b->level[n++]);
    }
    return n;
}

/* Destination memory of all levels, in order. */
static struct facet_trap probe_levels(const struct build *b)
{
    struct facet_element_port *port = &b->r->port;
    struct facet_trap trap = FACET_RETIRED;

    if (b->base % PYRAMID_ALIGN != 0) {
        return facet_hart_trap_make(FACET_CAUSE_STORE_MISALIGNED, b->base);
    }
    for (unsigned n = b->first; n < b->end && !trap.taken; n++) {
        trap = facet_xmem_probe(
            port->h,
            port->actor,
            b->base + b->level[n].offset,
            facet_container_array_bytes(&port->container, entries_of(&b->level[n])),
            true);
    }
    return trap;
}

/* Entry number at.entry; or a part of it. */
static struct facet_trap compute_entry(struct build *b, unsigned n, uint64_t start)
{
    const struct facet_gfx_level *level = &b->level[n];
    uint32_t x = (uint32_t)((b->at.entry - start) % level->width);
    uint32_t y = (uint32_t)((b->at.entry - start) / level->width);
    uint32_t bits = 0;

    if (n == b->first) {
        struct facet_trap trap = reduce_memory(b, x, y, &bits);

        if (trap.taken || b->left) {
            return trap;
        }
    } else {
        bits = reduce_values(b, level - 1, b->values + start - entries_of(level - 1), x, y);
        ask(b, 4);
    }
    if (b->values != NULL) {
        b->values[b->at.entry] = bits;
    }
    b->at.entry++;
    return FACET_RETIRED;
}

/* All values; level `first` from memory, the others from values. Without room for values (they
 * would not fit the guest's memory either) levels are only read. */
static struct facet_trap compute_levels(struct build *b)
{
    uint64_t start, end = b->values != NULL ? b->count : entries_of(&b->level[b->first]);
    unsigned n = level_of(b, b->at.entry, &start);
    struct facet_trap trap = FACET_RETIRED;

    while (b->at.entry < end && !trap.taken && !b->left) {
        while (b->at.entry - start >= entries_of(&b->level[n])) {
            start += entries_of(&b->level[n++]);
        }
        trap = compute_entry(b, n, start);
    }
    return trap;
}

/* The entries from at.entry on, level by level. */
static struct facet_trap write_levels(struct build *b)
{
    uint64_t start;
    unsigned n = level_of(b, b->at.entry, &start);
    struct facet_trap trap = FACET_RETIRED;

    while (b->at.entry < b->count && !trap.taken && !b->left) {
        uint64_t inside = b->at.entry - start, left = entries_of(&b->level[n]) - inside;
        unsigned some = left < CHUNK ? (unsigned)left : CHUNK;

        trap = facet_elements_write(
            &b->r->port, b->base + b->level[n].offset, inside, some, b->values + b->at.entry);
        b->at.entry += some;
        if (some == left) {
            start = b->at.entry;
            do { /* levels may be empty */
                n++;
            } while (n < b->end && entries_of(&b->level[n]) == 0);
        }
        ask(b, CHUNK);
    }
    return trap;
}

/* Sizes and places of levels 0 .. end-1; which are built. */
static void shape(struct build *b)
{
    const struct facet_xphmg_gfx_run *r = b->r;
    uint64_t cfg = FACET_XPHMG_GFX_CSR(r->csr, HIZCFG), size = FACET_XPHMG_GFX_CSR(r->csr, ZWH);
    unsigned hh = FACET_XPHMG_GFX_FIELD(r, HZ_BUILD_HH),
             levels = (unsigned)FACET_GET(cfg, GFXHIZCFG_LEVELS);

    b->max = FACET_XPHMG_GFX_FIELD(r, HZ_BUILD_TT) != 0;
    b->first = FACET_XPHMG_GFX_FIELD(r, HZ_BUILD_LL);
    b->end = FACET_XPHMG_GFX_FIELD(r, HZ_BUILD_ALL) != 0 ? levels : b->first + 1;
    b->end = b->first < levels ? b->end : b->first;
    b->tile_w = hh != 0 ? hh : (unsigned)FACET_GET(cfg, GFXHIZCFG_TILE_W_LOG2);
    b->tile_h = hh != 0 ? hh : (unsigned)FACET_GET(cfg, GFXHIZCFG_TILE_H_LOG2);
    b->level[0] = facet_gfx_level_first(
        pixels(FACET_GET(size, GFXZWH_W)), pixels(FACET_GET(size, GFXZWH_H)), b->tile_w, b->tile_h);
    for (unsigned n = 1; n < b->end; n++) {
        b->level[n] = facet_gfx_level_next(&b->level[n - 1], &r->port.container);
    }
    if (b->first != 0) { /* 2x2 blocks of the level below */
        b->tile_w = b->tile_h = 1;
    }
    for (unsigned n = b->first; n < b->end; n++) {
        b->count += entries_of(&b->level[n]);
    }
}

/* Reads and computes all entries, and reports the flags; then everything is ready to be written. */
static struct facet_trap compute(struct build *b)
{
    struct facet_xphmg_gfx_run *r = b->r;
    uint16_t flags[FACET_VLMAX] = {0};
    struct facet_trap refused = probe_levels(b), trap;

    if (!refused.taken && b->count != 0 && b->values == NULL) {
        bool begins = b->at.entry == 0 && b->at.row == 0 && b->at.element == 0;

        if (begins) { /* no more than fits the guest's memory */
            b->values = malloc(b->count * sizeof *b->values);
        }
        if (b->values == NULL && begins && r->h->part != NULL) {
            r->h->port->no_memory = b->left = true;
            return FACET_RETIRED;
        }
        if (b->values == NULL) {
            refused = facet_hart_trap_make(FACET_CAUSE_STORE_FAULT, b->base);
        }
    }
    trap = compute_levels(b);
    if (trap.taken || b->left) {
        return trap;
    }
    flags[0] = (uint16_t)b->at.flags;
    trap = facet_lanes_status(r->h, &r->lanes, flags);
    if (!trap.taken && refused.taken) {
        trap = facet_xmem_fault(r->h, r->port.actor, refused);
    }
    b->at = (struct progress){.writing = true};
    return trap;
}

static void keep_build(const struct build *b)
{
    struct facet_part *part = facet_part_leave(b->r->h, FACET_PART_HIZ);
    const struct progress *at = &b->at;

    memcpy(part->at,
           (uint64_t[]){at->writing, at->entry, at->row, at->element, at->flags},
           5 * sizeof part->at[0]);
    part->extreme = at->extreme;
    part->values = b->values;
    part->value_count = b->count;
}

/* Takes the values out of a part. Those of a forged snapshot may be missing or too few:
 * the build then ends as if the host had no room for them. */
static bool take_build(struct build *b, struct facet_part *part)
{
    const uint64_t *at = part->at;
    bool good = part->value_count == b->count && (part->values != NULL || at[0] == 0);

    b->at = (struct progress){
        at[0] != 0, at[1], (uint32_t)at[2], at[3], part->extreme, (unsigned)at[4]};
    b->values = part->values;
    part->values = NULL;
    return good;
}

/* The rest of a build, or a part of it. */
static struct facet_trap build(struct build *b)
{
    struct facet_part *part = facet_part_resume(b->r->h, FACET_PART_HIZ);
    struct facet_trap trap = FACET_RETIRED;

    if (part != NULL && !take_build(b, part)) {
        trap = facet_hart_trap_make(FACET_CAUSE_STORE_FAULT, b->base);
    }
    if (!trap.taken && !b->at.writing) {
        trap = compute(b);
    }
    if (!trap.taken && !b->left) {
        trap = write_levels(b);
    }
    b->left = b->left && !trap.taken && (!b->at.writing || b->at.entry < b->count);
    if (b->left) {
        keep_build(b);
    } else {
        free(b->values);
    }
    return trap;
}

struct facet_trap facet_xphmg_gfx_hiz(struct facet_xphmg_gfx_run *r)
{
    struct facet_hart *h = r->h;
    struct build b = {.r = r, .base = h->x[r->in->rs1]};
    struct facet_trap trap = FACET_RETIRED;
    unsigned cause;

    r->lanes = (struct facet_lanes){
        .count = 1,
        .active = 1,
        .eff = facet_prec_eff(&h->units.cap.prec),
        .exc_en = h->units.cap.prec.exc_en,
    };
    facet_lanes_override(h, &r->lanes.eff);
    cause = facet_xphmg_gfx_state(r, &r->lanes.eff);
    if (cause != 0) {
        return facet_hart_trap_make((enum facet_cause)cause, r->in->word);
    }
    facet_xphmg_gfx_numbers_set(r, &r->lanes.eff);
    shape(&b);
    if (facet_part_resume(h, FACET_PART_HIZ) == NULL) {
        facet_xphmg_gfx_tell_policy(r);
    }
    if (b.end > b.first) {
        trap = build(&b);
    }
    if (trap.taken || b.left) {
        return trap;
    }
    facet_hart_set_x(h, r->in->rd, b.count);
    facet_lanes_retire(h, &r->lanes, true, true);
    return FACET_RETIRED;
}
