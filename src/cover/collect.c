/* The observer that counts. The state that an instruction runs in is the one before its step, which
 * no event shows; so the few registers that matter are read again after every step that wrote a CSR
 * or a predicate, and kept for the next one. */
#include "cover/cover.h"

#include "base/array.h"
#include "base/bits.h"
#include "contract/tile_csrs.h"
#include "contract/xphmg_csrs.h"
#include "isa/isa.h"

#include <stdlib.h>
#include <string.h>

enum { RM_DYN = 7, RM_COUNT = 5, PPP_EFFECTIVE = 7, SMALL_BITS = 4 };
enum { MASK_NONE, MASK_NO_LANE, MASK_SOME, MASK_ALL }; /* buckets of COVER_MASK */
#define INTERRUPT (UINT64_C(1) << 63)
#define GET(value, field) (((value)&FACET_##field) >> FACET_##field##_LSB)

/* The registers that instructions depend on. */
enum { STAT, ALT, SVSTATE, FRM, BANK1, BANK2, BANK3, HART_REGS };
enum { CONFIG, VSTATUS, TILE_REGS };
static const char *const hart_names[HART_REGS] = {
    "CAP.PREC.STAT", "CAP.PREC.ALT", "SVSTATE", "frm", "pbank1", "pbank2", "pbank3"};
static const char *const tile_names[TILE_REGS] = {"config", "vstatus"};

/* What they hold in one core. */
struct context {
    uint64_t value[HART_REGS];
    uint32_t index[HART_REGS]; /* in the core's tables; FACET_NONE: it has no such register */
    bool stale;
};

/* A CSR as a step left it. */
struct change {
    uint32_t core;
    const struct facet_csr_row *row;
    struct facet_value old_value, new_value;
};

struct cover_collector {
    const facet_machine *machine;
    struct facet_observer observer;
    struct cover *cover;
    struct change *changes; /* of the step that is under way */
    size_t count, room;
    bool failed;
    struct context contexts[];
};

/* ---- the state before a step ---- */

static bool is_bank(const cover_collector *c, unsigned i)
{
    return c->cover->isa == FACET_ISA_XPHMG && i >= BANK1;
}

static unsigned reg_count(const cover_collector *c)
{
    return c->cover->isa == FACET_ISA_XPHMG ? HART_REGS : TILE_REGS;
}

static void find(cover_collector *c, uint32_t core)
{
    for (unsigned i = 0; i < reg_count(c); i++) {
        const char *name = c->cover->isa == FACET_ISA_XPHMG ? hart_names[i] : tile_names[i];

        c->contexts[core].index[i] = is_bank(c, i) ? facet_machine_find_reg(c->machine, core, name)
                                                   : facet_machine_find_csr(c->machine, core, name);
    }
}

static void look(cover_collector *c, uint32_t core)
{
    struct context *now = &c->contexts[core];

    for (unsigned i = 0; i < reg_count(c); i++) {
        struct facet_value value = {0, 0};

        if (now->index[i] != FACET_NONE) {
            (void)(is_bank(c, i)
                       ? facet_machine_reg_read(c->machine, core, now->index[i], &value, NULL)
                       : facet_machine_csr_read(c->machine, core, now->index[i], &value, NULL));
        }
        now->value[i] = value.lo;
    }
    now->stale = false;
}

/* ---- the buckets of an instruction ---- */

static bool extension_is(const struct facet_insn_row *row, const char *const *names)
{
    while (*names != NULL && strcmp(row->extension, *names) != 0) {
        names++;
    }
    return *names != NULL;
}

static const struct facet_operand *operand(const struct facet_insn_row *row, const char *name)
{
    for (unsigned i = 0; i < row->operand_count; i++) {
        if (strcmp(row->operands[i].name, name) == 0) {
            return &row->operands[i];
        }
    }
    return NULL;
}

/* Codes of EFF_PET (CAP.PREC.STAT) and of ppp, as buckets of COVER_FORMAT. */
static unsigned format_bucket(uint64_t pet, bool alt)
{
    enum { BF16 = 2, FIRST_SMALL = 8, SMALL = 6, BF16_LITE = 10 };

    return pet == BF16 && alt  ? BF16_LITE
           : pet < FIRST_SMALL ? (unsigned)pet
                               : (unsigned)(pet - FIRST_SMALL) + SMALL;
}

/* The format of an instruction with alt=1, which is ALT's whether or not ALT is in effect. */
static unsigned alt_bucket(uint64_t alt_fmt)
{
    enum { FMT_BF16_LITE = 1, FIRST_SMALL = 2, SMALL = 6, BF16_LITE = 10 };

    return alt_fmt == FMT_BF16_LITE ? BF16_LITE : (unsigned)(alt_fmt - FIRST_SMALL) + SMALL;
}

static unsigned lanes_bucket(bool rsv, unsigned count)
{
    return !rsv ? 0 : count == 1 ? 1 : count <= 4 ? 2 : count <= 16 ? 3 : count <= 63 ? 4 : 5;
}

static unsigned mask_bucket(const struct context *now, unsigned bank, unsigned count)
{
    uint64_t all = count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
    uint64_t active = bank > 0 ? now->value[BANK1 + bank - 1] & all : all;

    return bank == 0       ? MASK_NONE
           : active == 0   ? MASK_NO_LANE
           : active == all ? MASK_ALL
                           : MASK_SOME;
}

static void count_in(cover_collector *c, size_t row, enum cover_dim dim, unsigned bucket)
{
    uint16_t at = (uint16_t)(c->cover->first[dim] + bucket);

    if (at < c->cover->first[dim + 1]) { /* a reserved code has no bucket */
        cover_row(c->cover, row)[at]++;
    }
}

static void count_hart(cover_collector *c,
                       const struct context *now,
                       const struct facet_insn_row *row,
                       uint32_t word)
{
    static const char *const units[] = {"XPHMG_RT", "XPHMG_MTX", "XPHMG_GFX", "XPHMG_XMEM", NULL};
    static const char *const floats[] = {"RV64F", "RV64D", "Zfh", NULL};
    bool rsv = GET(now->value[SVSTATE], SVSTATE_EN) != 0, unit = extension_is(row, units);
    unsigned lanes = rsv ? (unsigned)GET(now->value[SVSTATE], SVSTATE_VLM1) + 1 : 1;
    const struct facet_operand *rm = operand(row, "rm"), *ppp = operand(row, "ppp"),
                               *pbank = operand(row, "pbank"), *with_alt = operand(row, "alt");
    uint64_t bank = pbank != NULL ? (uint64_t)facet_operand_get(pbank, word)
                    : rsv         ? GET(now->value[SVSTATE], SVSTATE_PBANK)
                                  : 0;

    if (unit || rsv) {
        count_in(c, row->id, COVER_LANES, lanes_bucket(rsv, lanes));
        count_in(c, row->id, COVER_MASK, mask_bucket(now, (unsigned)bank, lanes));
    }
    if (unit || (rsv && extension_is(row, floats))) { /* CAP.PREC governs */
        bool own = ppp != NULL && facet_operand_get(ppp, word) != PPP_EFFECTIVE;
        bool alt = with_alt != NULL && facet_operand_get(with_alt, word) != 0;
        uint64_t rounding = GET(now->value[STAT], CAP_PREC_STAT_EFF_FP_RMODE);
        uint64_t alt_accw = alt ? GET(now->value[ALT], CAP_PREC_ALT_ALT_ACCW) : 0;

        if (GET(now->value[SVSTATE], SVSTATE_FPC_V) != 0 &&
            GET(now->value[SVSTATE], SVSTATE_FPC_RC) < RM_COUNT) {
            rounding = GET(now->value[SVSTATE], SVSTATE_FPC_RC);
        }
        count_in(c,
                 row->id,
                 COVER_FORMAT,
                 own   ? format_bucket((uint64_t)facet_operand_get(ppp, word), false)
                 : alt ? alt_bucket(GET(now->value[ALT], CAP_PREC_ALT_ALT_FMT))
                       : format_bucket(GET(now->value[STAT], CAP_PREC_STAT_EFF_PET),
                                       GET(now->value[STAT], CAP_PREC_STAT_EFF_ALT_EN) != 0));
        count_in(
            c,
            row->id,
            COVER_ACCUMULATOR,
            (unsigned)(alt_accw != 0 ? alt_accw : GET(now->value[STAT], CAP_PREC_STAT_EFF_ACCW)));
        count_in(c, row->id, COVER_ROUNDING, (unsigned)rounding);
    } else if (rm != NULL) {
        uint64_t rounding = (uint64_t)facet_operand_get(rm, word);

        count_in(c,
                 row->id,
                 COVER_ROUNDING,
                 (unsigned)(rounding == RM_DYN ? now->value[FRM] : rounding));
    }
}

static void
count_tile(cover_collector *c, const struct context *now, const struct facet_insn_row *row)
{
    static const char *const numeric[] = {"tile.fp16", "tile.vector", "tile.integer", NULL};

    if (extension_is(row, numeric)) {
        count_in(c, row->id, COVER_ROUNDING, (unsigned)GET(now->value[CONFIG], CONFIG_RM));
        count_in(c,
                 row->id,
                 COVER_SATURATION,
                 GET(now->value[CONFIG], CONFIG_SAT) != 0 ||
                     (row->mnemonic[0] == 'V' && GET(now->value[VSTATUS], VSTATUS_VSAT) != 0));
    }
}

/* ---- registers ---- */

static uint64_t field_of(struct facet_value value, const struct facet_csr_field *field)
{
    unsigned width = field->hi - field->lo + 1u;
    uint64_t bits = field->lo >= 64  ? value.hi >> (field->lo - 64)
                    : field->lo == 0 ? value.lo
                                     : value.lo >> field->lo | value.hi << (64 - field->lo);

    return width >= 64 ? bits : bits & ((UINT64_C(1) << width) - 1);
}

static void count_fields(cover_collector *c, const struct change *change)
{
    size_t r = (size_t)(change->row - facet_csr_rows);

    for (uint32_t f = 0; f < change->row->field_count; f++) {
        const struct facet_csr_field *field = &change->row->fields[f];
        struct cover_field *seen = &c->cover->fields[c->cover->first_field[r] + f];
        uint64_t value = field_of(change->new_value, field);

        seen->changed += value != field_of(change->old_value, field);
        if (field->hi - field->lo < SMALL_BITS) {
            seen->values |= (uint16_t)(1u << value);
        }
    }
}

/* Bits that were 0 and are 1. */
static void count_flags(cover_collector *c, size_t row, const struct change *change)
{
    uint64_t raised = change->new_value.lo & ~change->old_value.lo;

    for (uint16_t b = c->cover->first[COVER_FLAGS]; b < c->cover->first[COVER_FLAGS + 1]; b++) {
        if (&facet_csr_rows[c->cover->buckets[b].csr] == change->row) {
            cover_row(c->cover, row)[b] += raised >> c->cover->buckets[b].bit & 1;
        }
    }
}

/* Whether the instruction writes the register itself: by its number, through a window that shows
 * another one, or (tile) as one of the system instructions. */
static bool writes(const struct facet_insn_row *insn,
                   const struct facet_csr_row *named,
                   const struct facet_csr_row *row)
{
    static const char *const system[] = {"tile.system", NULL};

    return insn != NULL && (named == row || extension_is(insn, system) ||
                            (named != NULL && (named->place == FACET_PLACE_XISEL ||
                                               named->place == FACET_PLACE_WINDOW)));
}

/* The register that a CSR instruction names, or NULL. */
static const struct facet_csr_row *
named_by(const cover_collector *c, const struct facet_insn_row *insn, uint32_t word)
{
    for (unsigned i = 0; insn != NULL && i < insn->operand_count; i++) {
        if (insn->operands[i].kind == FACET_OPERAND_CSR) {
            return facet_csr_at(c->cover->isa,
                                (uint32_t)facet_operand_get(&insn->operands[i], word));
        }
    }
    return NULL;
}

/* All CSRs that the step changed; `insn` is NULL where no row retired or trapped. */
static void count_csrs(cover_collector *c,
                       uint32_t core,
                       const struct facet_insn_row *insn,
                       const struct facet_csr_row *named)
{
    bool written = false;

    for (size_t i = 0; i < c->count; i++) {
        const struct change *change = &c->changes[i];
        struct cover_csr *seen = &c->cover->csrs[change->row - facet_csr_rows];

        count_fields(c, change);
        if (change->core == core && writes(insn, named, change->row)) {
            seen->written++;
            written = true;
        } else {
            seen->set++;
            if (change->core == core && insn != NULL) {
                count_flags(c, insn->id, change);
            }
        }
    }
    if (named != NULL && !written) {
        c->cover->csrs[named - facet_csr_rows].read++;
    }
    c->count = 0;
}

/* ---- events ---- */

static void hear_csr(void *context, const struct facet_reg_event *event)
{
    cover_collector *c = context;
    const struct facet_csr_desc *desc =
        &facet_machine_core(c->machine, event->core)->csrs[event->index];
    const struct facet_csr_row *row = facet_csr_at(c->cover->isa, desc->number);

    c->contexts[event->core].stale = true;
    if (row == NULL) {
        return;
    }
    if (!facet_array_fit(&c->changes, &c->room, c->count + 1, sizeof *c->changes)) {
        c->failed = true;
        return;
    }
    c->changes[c->count++] = (struct change){event->core, row, event->old_value, event->new_value};
}

/* Predicates are registers; x and f do not matter here. */
static void hear_reg(void *context, const struct facet_reg_event *event)
{
    cover_collector *c = context;
    const char *name = facet_machine_core(c->machine, event->core)->regs[event->index].name;

    if (name[0] == 'p') {
        c->contexts[event->core].stale = true;
    }
}

static void end_step(cover_collector *c)
{
    for (uint32_t i = 0; i < facet_machine_core_count(c->machine); i++) {
        if (c->contexts[i].stale) {
            look(c, i);
        }
    }
}

static void hear_retire(void *context, const struct facet_retire_event *event)
{
    cover_collector *c = context;
    const struct facet_insn_row *row = facet_isa_decode(c->cover->isa, event->word);

    c->cover->retired++;
    if (row != NULL) {
        c->cover->counts[row->id]++;
        if (c->cover->isa == FACET_ISA_XPHMG) {
            count_hart(c, &c->contexts[event->core], row, event->word);
        } else {
            count_tile(c, &c->contexts[event->core], row);
        }
    }
    count_csrs(c, event->core, row, named_by(c, row, event->word));
    end_step(c);
}

/* The instruction that trapped, as far as it can be read. */
static const struct facet_insn_row *trapped(const cover_collector *c,
                                            const struct facet_trap_event *event)
{
    uint8_t bytes[4] = {0};

    if (event->interrupt ||
        facet_machine_read(c->machine, 0, event->pc, bytes, 2, NULL) != FACET_OK) {
        return NULL;
    }
    if (facet_isa_length(c->cover->isa, (uint16_t)facet_load_le(bytes, 2)) == 4 &&
        facet_machine_read(c->machine, 0, event->pc, bytes, 4, NULL) != FACET_OK) {
        return NULL;
    }
    return facet_isa_decode(c->cover->isa, facet_load_le32(bytes));
}

static void hear_trap(void *context, const struct facet_trap_event *event)
{
    cover_collector *c = context;
    uint64_t code = (event->cause & ~INTERRUPT) | (event->interrupt ? INTERRUPT : 0);
    const struct facet_insn_row *row = trapped(c, event);

    for (uint16_t b = c->cover->first[COVER_TRAPS]; b < c->cover->first[COVER_TRAPS + 1]; b++) {
        if (c->cover->buckets[b].code == code) {
            c->cover->causes[b]++;
            if (row != NULL) {
                cover_row(c->cover, row->id)[b]++;
            }
        }
    }
    count_csrs(c, event->core, row, NULL);
    end_step(c);
}

/* ---- life ---- */

cover_collector *cover_collector_create(const facet_machine *machine, enum facet_isa isa)
{
    uint32_t cores = facet_machine_core_count(machine);
    cover_collector *c = calloc(1, sizeof *c + cores * sizeof c->contexts[0]);

    if (c == NULL) {
        return NULL;
    }
    c->machine = machine;
    c->cover = cover_create(isa);
    if (c->cover == NULL) {
        free(c);
        return NULL;
    }
    c->cover->runs = 1;
    c->observer = (struct facet_observer){.context = c,
                                          .retire = hear_retire,
                                          .reg_write = hear_reg,
                                          .csr_write = hear_csr,
                                          .trap = hear_trap};
    for (uint32_t i = 0; i < cores; i++) {
        find(c, i);
        look(c, i);
    }
    return c;
}

void cover_collector_free(cover_collector *c)
{
    if (c != NULL) {
        cover_free(c->cover);
        free(c->changes);
        free(c);
    }
}

const struct facet_observer *cover_collector_observer(const cover_collector *c)
{
    return &c->observer;
}

const struct cover *cover_collector_result(const cover_collector *c)
{
    return c->failed ? NULL : c->cover;
}
