/* The rules of the tile machine: arguments, scratch, ends of kernels and CSRs; what cores see of
 * one another is order.c. */
#include "lint/tile.h"
#include "lint/race.h"

#include "base/array.h"
#include "base/bits.h"
#include "contract/tile_csrs.h"
#include "isa/isa.h"
#include "isa/isa_rows.h"
#include "tile/system.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MEMO_BITS = 10, SCALARS = 32, FILES = 3, SOURCES = 4, MOST_BARRIERS = 65536 };
enum { FAULT_ILLEGAL = 1, FAULT_FETCH = 3 };

/* What the rules need to know about an instruction word. */
struct known {
    uint32_t word;
    bool valid;
    uint16_t row; /* enum facet_tile_op; UINT16_MAX for an illegal word */
    uint8_t rd;   /* scalar destination, 0: none */
    uint8_t rs1, rs2;
    uint16_t csr;
    uint8_t sources[SOURCES], source_count; /* registers that it reads, as the face counts them */
};

struct core_state {
    uint32_t old_s[SCALARS];
    uint32_t touched;   /* scalar registers with a value in old_s */
    uint32_t arguments; /* scalar registers that point into the arguments */
    uint32_t last_pc;   /* of the last instruction that retired, 0: none in this tile */
    uint64_t retired;
    uint32_t defined[FILES], fresh[FILES]; /* registers written by this tile, by this step */
    uint32_t barriers;                     /* passed by this tile */
    uint8_t written[FACET_TILE_SCRATCH_BYTES / 8]; /* by this tile, a bit per byte */
};

struct tile_lint {
    struct facet_tile_machine *m;
    struct lint_store *store;
    struct lint_order order;
    struct facet_raster_watch watch;
    facet_pool *pool; /* of the machine, put back at the end */
    bool plain;
    struct known memo[1 << MEMO_BITS];
    struct core_state core[FACET_TILE_CORES];
    /* For FACET_LINT_SET_ORDER. */
    struct lint_race *race;
    uint64_t instructions;       /* of the dispatch, up to the last event */
    struct lint_place *barriers; /* that the first tile passed to come so far */
    size_t barrier_count, barrier_room;
    bool any_ended;
    uint32_t fewest;         /* barriers of a tile that has ended */
    struct lint_place ended; /* where it has */
};

/* ---- words ---- */

static uint32_t operand(const struct facet_insn_row *row, uint32_t word, const char *name)
{
    for (unsigned i = 0; i < row->operand_count; i++) {
        if (row->operands[i].key == facet_name_key(name)) {
            return (uint32_t)facet_operand_get(&row->operands[i], word);
        }
    }
    return 0;
}

/* What is written lane by lane (VINS) is no source, nor what cancels out (XOR s1, s2, s2). */
static void add_sources(struct known *k, const struct facet_insn_row *row)
{
    for (unsigned i = 0; i < row->operand_count && k->source_count < SOURCES; i++) {
        const struct facet_operand *o = &row->operands[i];
        uint32_t number = (uint32_t)facet_operand_get(o, k->word);
        uint32_t file = o->kind == FACET_OPERAND_SREG    ? FACET_TILE_REG_S
                        : o->kind == FACET_OPERAND_TFREG ? FACET_TILE_REG_F
                                                         : FACET_TILE_REG_V;

        if (facet_tile_is_register(o) && o->name[1] == 's' &&
            (number != 0 || file == FACET_TILE_REG_F)) {
            k->sources[k->source_count++] = (uint8_t)(file + number);
        }
    }
    if ((k->row == FACET_TILE_XOR || k->row == FACET_TILE_VXOR || k->row == FACET_TILE_SUB) &&
        k->source_count == 2 && k->sources[0] == k->sources[1]) {
        k->source_count = 0;
    }
}

static const struct known *decode(struct tile_lint *l, uint32_t word)
{
    struct known *k = &l->memo[(word * UINT32_C(0x9E3779B1)) >> (32 - MEMO_BITS)];

    if (!k->valid || k->word != word) {
        const struct facet_insn_row *row = facet_isa_decode(FACET_ISA_TILE, word);

        *k = (struct known){.word = word, .valid = true, .row = UINT16_MAX};
        if (row != NULL) {
            k->row = row->id;
            k->rd = (uint8_t)operand(row, word, "rd");
            k->rs1 = (uint8_t)operand(row, word, "rs1");
            k->rs2 = (uint8_t)operand(row, word, "rs2");
            k->csr = (uint16_t)operand(row, word, "csr");
            add_sources(k, row);
        }
    }
    return k;
}

static struct lint_place here(const struct facet_tile_core *c)
{
    return (struct lint_place){c->id, facet_tile_pc(c, c->ip)};
}

/* ---- tiles ---- */

static void differ(struct tile_lint *l, struct lint_place barrier, struct lint_place other)
{
    facet_lint_add_pair(l->store,
                        barrier,
                        other,
                        FACET_LINT_BARRIER,
                        "core %u is at 0x%08x",
                        (unsigned)other.core,
                        (unsigned)other.pc);
}

static void pass_barrier(struct tile_lint *l, struct lint_place place)
{
    uint32_t index = l->core[place.core].barriers++;

    if (index < l->barrier_count && l->barriers[index].pc != place.pc) {
        differ(l, place, l->barriers[index]);
    } else if (l->any_ended && index >= l->fewest) {
        differ(l, place, l->ended);
    }
    if (index == l->barrier_count && index < MOST_BARRIERS) {
        if (!facet_array_fit(
                &l->barriers, &l->barrier_room, l->barrier_count + 1, sizeof *l->barriers)) {
            l->store->failed = true;
            return;
        }
        l->barriers[l->barrier_count++] = place;
    }
}

static void end_barriers(struct tile_lint *l, struct lint_place place)
{
    uint32_t passed = l->core[place.core].barriers;

    if (passed < l->barrier_count && !(l->any_ended && l->fewest <= passed)) {
        differ(l, l->barriers[passed], place);
    }
    if (!l->any_ended || passed < l->fewest) {
        l->any_ended = true;
        l->fewest = passed;
        l->ended = place;
    }
}

/* Whether the rules of order are asked; a new dispatch comes after all that was. */
static bool in_order(struct tile_lint *l)
{
    uint64_t sum = 0;

    if ((l->store->sets & FACET_LINT_SET_ORDER) == 0) {
        return false;
    }
    if (l->race == NULL) {
        l->race = facet_lint_race_create(l->store, FACET_TILE_CORES);
        l->store->failed |= l->race == NULL;
    }
    for (uint32_t i = 0; i < FACET_TILE_CORES; i++) {
        sum += l->m->core[i].instret;
    }
    if (l->race != NULL && sum < l->instructions) {
        facet_lint_race_all(l->race);
        l->barrier_count = 0;
        l->any_ended = false;
    }
    l->instructions = sum;
    return l->race != NULL;
}

static void end_tile(struct tile_lint *l, uint32_t core)
{
    struct core_state *s = &l->core[core];

    if (l->race != NULL) {
        facet_lint_race_begin(l->race, core);
    }
    memset(s->defined, 0, sizeof s->defined);
    memset(s->fresh, 0, sizeof s->fresh);
    s->barriers = 0;

    facet_lint_order_settle(&l->order, core);
    s->touched = s->arguments = s->last_pc = 0;
    memset(s->written, 0, sizeof s->written);
}

/* ---- memory ---- */

static void note_scratch(struct tile_lint *l, const struct facet_memory_event *event)
{
    const struct facet_tile_core *c = &l->m->core[event->core];
    uint8_t *written = l->core[event->core].written;
    uint32_t first = (uint32_t)event->address - FACET_TILE_SCRATCH_BASE, missing = 0;

    for (uint32_t at = first; at < first + event->size; at++) {
        uint8_t bit = (uint8_t)(1u << (at % 8));

        if (event->write) {
            written[at / 8] |= bit;
        } else {
            missing += (written[at / 8] & bit) == 0;
        }
    }
    /* A vector may read more than it uses. */
    if (missing != 0 && (event->size <= 4 || missing == event->size)) {
        facet_lint_add(
            l->store, here(c), FACET_LINT_SCRATCH, "address 0x%08x", (unsigned)event->address);
    }
}

/* A scalar must end inside; a vector may begin inside and read more than it uses. */
static void note_argument(struct tile_lint *l, const struct facet_memory_event *event)
{
    const struct facet_tile_core *c = &l->m->core[event->core];
    const struct facet_tile_packet *p = &l->m->packet;
    uint32_t used = event->size <= 4 ? (uint32_t)event->size : 1;
    uint64_t end = (uint64_t)((uint32_t)event->address - p->arg_base) + used;

    if ((l->core[event->core].arguments >> c->ip->rs1 & 1) != 0 && end > p->arg_size) {
        facet_lint_add(l->store,
                       here(c),
                       FACET_LINT_ARG_SIZE,
                       "offset %d, arg_size is %u",
                       (int)((uint32_t)event->address - p->arg_base),
                       (unsigned)p->arg_size);
    }
}

static bool is_atomic(uint16_t row)
{
    return (row >= FACET_TILE_AADD && row <= FACET_TILE_ACASI) ||
           (row >= FACET_TILE_VATOM_ADD && row <= FACET_TILE_VCAS);
}

static void note_race(struct tile_lint *l, const struct facet_memory_event *event)
{
    const struct facet_tile_core *c = &l->m->core[event->core];
    bool atomic = is_atomic(decode(l, c->ip->word)->row);
    struct lint_race_access access = {.place = here(c),
                                      .address = event->address,
                                      .size = event->size,
                                      .write = event->write,
                                      .atomic = atomic,
                                      .acquire = atomic && (c->ip->order & 1) != 0,
                                      .release = atomic && (c->ip->order & 2) != 0};

    facet_lint_race_access(l->race, &access);
}

static uint32_t pixels(uint32_t side)
{
    return side != 0 ? side : 16;
}

static bool covers(uint64_t tiles, uint32_t side, uint32_t length)
{
    return tiles * side >= length && (tiles - 1) * side < length;
}

/* Each tile is a rectangle of the picture: the tiles of the dispatch cover it, and none is beside
 * it. A picture of a single tile has no other one. */
static bool is_drawn(const struct facet_tile_packet *p, const struct facet_lint_picture *picture)
{
    return (uint64_t)p->columns * p->rows > 1 &&
           covers(p->columns, pixels(p->tile_width), picture->width) &&
           covers(p->rows, pixels(p->tile_height), picture->height);
}

static void check_tile(struct tile_lint *l,
                       const struct facet_memory_event *event,
                       const struct facet_lint_picture *picture)
{
    const struct facet_tile_core *c = &l->m->core[event->core];
    const uint32_t left = c->tile_offset & 0xFFFF, top = c->tile_offset >> 16;

    for (uint64_t at = event->address; at < event->address + event->size; at++) {
        const uint64_t offset = at - picture->base;
        const uint64_t x = offset % picture->stride / picture->pixel, y = offset / picture->stride;

        if (at < picture->base || x >= picture->width || y >= picture->height ||
            (x - left < pixels(l->m->packet.tile_width) &&
             y - top < pixels(l->m->packet.tile_height))) {
            continue;
        }
        facet_lint_add(l->store,
                       here(c),
                       FACET_LINT_OUT_OF_TILE,
                       "pixel %u,%u by the tile that begins at %u,%u",
                       (unsigned)x,
                       (unsigned)y,
                       (unsigned)left,
                       (unsigned)top);
        return;
    }
}

static void note_pixels(struct tile_lint *l, const struct facet_memory_event *event)
{
    if (is_atomic(decode(l, l->m->core[event->core].ip->word)->row)) {
        return; /* what several tiles may do to one word */
    }
    for (unsigned i = 0; i < l->store->picture_count; i++) {
        if (is_drawn(&l->m->packet, &l->store->pictures[i])) {
            check_tile(l, event, &l->store->pictures[i]);
        }
    }
}

static void hear_memory(void *self, const struct facet_memory_event *event)
{
    struct tile_lint *l = self;
    const struct facet_tile_core *c = &l->m->core[event->core];

    if (event->space != 0) {
        note_scratch(l, event);
        return;
    }
    if (!event->write) {
        note_argument(l, event);
    }
    if (facet_tile_in_vram(l->m, (uint32_t)event->address, event->size)) {
        struct lint_access access = {.place = here(c),
                                     .offset = (uint32_t)event->address - FACET_VRAM_BASE,
                                     .size = event->size};

        if (in_order(l)) {
            note_race(l, event);
            if (event->write) {
                note_pixels(l, event);
            }
        }
        if (event->write) {
            facet_lint_order_store(&l->order, &access);
        } else {
            facet_lint_order_load(&l->order, &access);
        }
    }
}

/* Of the units: a texel, or what a graphics instruction reads and draws. */
static void hear_touch(void *context, enum facet_raster_use use, uint32_t offset, uint32_t size)
{
    struct tile_lint *l = context;
    const struct facet_tile_core *c;
    struct lint_access access = {.offset = offset, .size = size};
    uint16_t row;

    (void)use;
    if (l->m->stepping == FACET_NONE) { /* a command of the queue: every core has published */
        return;
    }
    c = &l->m->core[l->m->stepping];
    access.place = here(c);
    row = decode(l, c->ip->word)->row;
    if (row >= FACET_TILE_RSTATE && row <= FACET_TILE_GDRAW) {
        facet_lint_order_unit(&l->order, &access);
    } else {
        facet_lint_order_texel(&l->order, &access);
    }
}

/* ---- registers ---- */

static void hear_reg(void *self, const struct facet_reg_event *event)
{
    struct core_state *s = &((struct tile_lint *)self)->core[event->core];

    if (event->index < FILES * 32) {
        s->fresh[event->index / 32] |= UINT32_C(1) << (event->index % 32);
    }
    if (event->index < SCALARS && (s->touched >> event->index & 1) == 0) {
        s->old_s[event->index] = (uint32_t)event->old_value.lo;
        s->touched |= UINT32_C(1) << event->index;
    }
}

static uint32_t s_before(const struct tile_lint *l, uint32_t core, unsigned reg)
{
    const struct core_state *s = &l->core[core];

    return (s->touched >> reg & 1) != 0 ? s->old_s[reg] : l->m->core[core].r.s[reg];
}

static void check_csr(struct tile_lint *l, struct lint_place place, const struct known *k)
{
    const struct facet_tile_core *c = &l->m->core[place.core];
    struct lint_csr_write w = {.row = facet_csr_at(FACET_ISA_TILE, k->csr), .number = k->csr};
    uint32_t now = 0;
    bool exists = facet_tile_csr_peek(c, k->csr, &now);

    if (!exists || w.row == NULL) {
        facet_lint_add(l->store, place, FACET_LINT_CSR_ABSENT, "number 0x%03x", (unsigned)k->csr);
        return;
    }
    if (k->row == FACET_TILE_CSRRS && k->rs1 == 0) { /* only reads */
        return;
    }
    w.op = k->row == FACET_TILE_CSRRS ? FACET_CSRRS : FACET_CSRRW;
    w.operand = s_before(l, place.core, k->rs1);
    w.old = w.stored = now; /* what a write cannot change is the same before and after */
    w.written = w.op == FACET_CSRRS ? now | w.operand : w.operand;
    w.spoken =
        facet_lint_csr_mask(w.row, FACET_CSR_W1C); /* takes the operand itself, in both forms */
    if (w.op == FACET_CSRRS && w.spoken != 0) {
        w.op = FACET_CSRRW;
        w.written = w.operand;
    }
    facet_lint_csr_check(l->store, place, &w);
}

/* Which registers still point into the arguments. */
static void follow_arguments(struct tile_lint *l, uint32_t core, const struct known *k)
{
    uint32_t *mask = &l->core[core].arguments;
    bool points = false;

    if (k->row == FACET_TILE_CSRRS || k->row == FACET_TILE_CSRRW) {
        points = k->csr == FACET_CSR_ARG_BASE;
    } else if (k->row == FACET_TILE_ADDI) {
        points = (*mask >> k->rs1 & 1) != 0;
    } else if (k->row == FACET_TILE_ADD) {
        points = ((*mask >> k->rs1 | *mask >> k->rs2) & 1) != 0;
    }
    *mask = (*mask & ~(UINT32_C(1) << k->rd)) | (uint32_t)points << k->rd;
    *mask &= ~UINT32_C(1);
}

/* ---- steps ---- */

static void check_sources(struct tile_lint *l, struct lint_place place, const struct known *k)
{
    struct core_state *s = &l->core[place.core];

    for (unsigned i = 0; i < k->source_count; i++) {
        uint32_t *defined = &s->defined[k->sources[i] / 32];
        uint32_t number = k->sources[i] % 32;

        if ((*defined >> number & 1) == 0) {
            facet_lint_add(l->store,
                           place,
                           FACET_LINT_REGISTER,
                           "%c%u",
                           "sfv"[k->sources[i] / 32],
                           (unsigned)number);
            *defined |= UINT32_C(1) << number; /* once is enough */
        }
    }
    for (unsigned i = 0; i < FILES; i++) {
        s->defined[i] |= s->fresh[i];
        s->fresh[i] = 0;
    }
}

static void follow_order(struct tile_lint *l, struct lint_place place, const struct known *k)
{
    check_sources(l, place, k);
    if (k->row == FACET_TILE_MEMBAR) {
        facet_lint_race_fence(l->race, place.core, true, true);
    } else if (k->row == FACET_TILE_BARR_SYNC) {
        pass_barrier(l, place);
    } else if (k->row == FACET_TILE_EXIT) {
        end_barriers(l, place);
    }
}

static void hear_retire(void *self, const struct facet_retire_event *event)
{
    struct tile_lint *l = self;
    const struct facet_tile_core *c = &l->m->core[event->core];
    struct core_state *s = &l->core[event->core];
    const struct known *k = decode(l, event->word);

    if (c->instret < s->retired) { /* another dispatch, after one that was aborted */
        end_tile(l, event->core);
    }
    s->retired = c->instret;
    if (k->row == FACET_TILE_CSRRW || k->row == FACET_TILE_CSRRS) {
        check_csr(l, (struct lint_place){event->core, event->pc}, k);
    }
    if (in_order(l)) {
        follow_order(l, (struct lint_place){event->core, event->pc}, k);
    }
    follow_arguments(l, event->core, k);
    s->touched = 0;
    s->last_pc = (uint32_t)event->pc;
    if (k->row == FACET_TILE_EXIT || (k->row == FACET_TILE_WFI && c->r.int_mask == 0)) {
        end_tile(l, event->core);
    }
}

/* Code ends where memory is zero, or where there is none, right after the last instruction. */
static void hear_trap(void *self, const struct facet_trap_event *event)
{
    struct tile_lint *l = self;
    struct core_state *s = &l->core[event->core];
    uint8_t code[4] = {0};

    (void)facet_mem_peek(l->m->mem, event->pc, code, sizeof code);
    if (s->last_pc != 0 && s->last_pc + 4 == (uint32_t)event->pc &&
        ((event->cause == FAULT_ILLEGAL && facet_load_le32(code) == 0) ||
         event->cause == FAULT_FETCH)) {
        facet_lint_add(
            l->store, (struct lint_place){event->core, s->last_pc}, FACET_LINT_NO_EXIT, "%s", "");
    }
    for (uint32_t i = 0; i < FACET_TILE_CORES; i++) { /* one fault ends the whole dispatch */
        end_tile(l, i);
    }
}

static void hear_unit(void *self, const struct facet_unit_event *event)
{
    (void)self;
    (void)event;
}

/* ---- life ---- */

static void finish(void *self)
{
    struct tile_lint *l = self;

    for (uint32_t i = 0; i < FACET_TILE_CORES; i++) {
        facet_lint_order_settle(&l->order, i);
        if (l->race != NULL) {
            facet_lint_race_begin(l->race, i);
        }
    }
    l->store->failed |= l->order.failed;
}

static void destroy(void *self)
{
    struct tile_lint *l = self;

    l->m->unit.watch = NULL;
    l->m->unit.pool = l->pool;
    l->m->unit.plain = l->plain;
    facet_lint_order_free(&l->order);
    facet_lint_race_free(l->race);
    free(l->barriers);
    free(l);
}

void *facet_lint_tile_create(facet_machine *machine, struct lint_store *store, bool *failed)
{
    struct facet_tile_machine *m = facet_machine_self(machine, &facet_tile_ops, NULL);
    struct tile_lint *l;

    if (m == NULL) {
        return NULL;
    }
    l = calloc(1, sizeof *l);
    *failed = l == NULL;
    if (l != NULL) {
        l->m = m;
        l->store = store;
        l->order = (struct lint_order){.m = m, .store = store};
        l->watch = (struct facet_raster_watch){l, hear_touch, NULL};
        l->pool = m->unit.pool;
        l->plain = m->unit.plain;
        m->unit.watch = &l->watch;
        m->unit.pool = NULL;
        m->unit.plain = true;
    }
    return l;
}

const struct lint_machine_ops lint_tile_ops = {
    hear_retire, hear_reg, hear_memory, hear_trap, hear_unit, finish, destroy};
