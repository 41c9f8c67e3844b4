/* See csr_file.h. */
#include "xphmg/csr_file.h"

#include "xphmg/csr_code.h"

#include <stddef.h>

/* What the table adds to a row: its rules as functions, and where its storage lies. */
struct entry {
    uint64_t (*visible)(const uint64_t *config);
    uint64_t (*legal)(const uint64_t *config, uint64_t old, uint64_t value);
    facet_csr_read_fn *read;
    facet_csr_write_fn *write;
    uint32_t offset;
    uint16_t unit; /* word of the configuration */
    bool base, privileged;
    uint64_t unit_bits; /* in that word: must be set for the register to exist; 0: always there */
};

#define OFFSET_HART(where) offsetof(struct facet_hart, where)
#define OFFSET_UNITS(where) offsetof(struct facet_units, where)
#define IS_BASE_HART true
#define IS_BASE_UNITS false
#define PLACE_NONE(root, where) .offset = 0
#define PLACE_CONST(root, where) .offset = 0
#define PLACE_VIEW(root, where) .offset = 0
#define PLACE_XISEL(root, where) .offset = 0
#define PLACE_CONFIG(root, where) .offset = offsetof(struct facet_cap_config, where)
#define PLACE_STORE(root, where) .offset = OFFSET_##root(where)
#define PLACE_BANKED(root, where) .offset = OFFSET_##root(where)
#define PLACE_CODE_RO(root, where) .read = facet_csr_read_##where
#define PLACE_CODE(root, where) .read = facet_csr_read_##where, .write = facet_csr_write_##where
#define PLACE_WINDOW(root, where) PLACE_CODE(root, where)
#define ENTRY(name, row, root, kind, where, word, bits, machine)                                   \
    [row - FACET_XPHMG_CSR_FIRST] = {.visible = facet_visible_##name,                              \
                                     .legal = facet_legal_##name,                                  \
                                     .base = IS_BASE_##root,                                       \
                                     .privileged = machine,                                        \
                                     .unit = word,                                                 \
                                     .unit_bits = bits,                                            \
                                     PLACE_##kind(root, where)},

static const struct entry entries[] = {FACET_XPHMG_CSRS(ENTRY)};

static const struct entry *entry_of(const struct facet_csr_row *row)
{
    return &entries[row - facet_csr_rows - FACET_XPHMG_CSR_FIRST];
}

bool facet_csr_is_base(const struct facet_csr_row *row)
{
    return entry_of(row)->base;
}

bool facet_csr_is_privileged(const struct facet_csr_row *row)
{
    return entry_of(row)->privileged;
}

uint64_t facet_csr_visible(const struct facet_cap_config *config, const struct facet_csr_row *row)
{
    return entry_of(row)->visible(config->word);
}

uint64_t facet_csr_legal(const struct facet_cap_config *config,
                         const struct facet_csr_row *row,
                         uint64_t old,
                         uint64_t value)
{
    return entry_of(row)->legal(config->word, old, value);
}

bool facet_csr_holds(const struct facet_cap_config *config,
                     const struct facet_csr_row *row,
                     uint64_t value)
{
    uint64_t written = value & row->writable;

    return (value & ~facet_csr_visible(config, row)) == 0 &&
           facet_csr_legal(config, row, 0, written) == written;
}

/* ---- storage ---- */

/* Which word of a family or of a register in several words an access means. */
static size_t word_of(const struct facet_csr_ask *ask)
{
    const struct facet_csr_row *row = ask->row;
    struct facet_csr_ask select = *ask;
    uint64_t value = 0;

    if (row->select_mask == 0) {
        return (ask->number - row->number) / row->stride;
    }
    select.row = &facet_csr_rows[row->select_row];
    select.number = select.row->number;
    (void)facet_csr_read(&select, &value);
    return (size_t)((value & row->select_mask) / (row->select_mask & -row->select_mask));
}

static const uint64_t *slot_of(const struct facet_csr_ask *ask)
{
    const struct entry *e = entry_of(ask->row);
    const char *state = e->base ? (const char *)ask->hart : (const char *)ask->units;

    return (const uint64_t *)(const void *)(state + e->offset) + word_of(ask);
}

const uint64_t *
facet_csr_stored(const struct facet_units *units, const struct facet_csr_row *row, unsigned *count)
{
    const struct entry *e = entry_of(row);

    if (row->place != FACET_PLACE_STORE || e->base) {
        return NULL;
    }
    *count = row->select_mask == 0
                 ? row->count
                 : 1 + (unsigned)(row->select_mask / (row->select_mask & -row->select_mask));
    return (const uint64_t *)(const void *)((const char *)units + e->offset);
}

uint64_t *
facet_csr_storage(struct facet_units *units, const struct facet_csr_row *row, unsigned *count)
{
    return facet_csr_stored(units, row, count) != NULL
               ? (uint64_t *)(void *)((char *)units + entry_of(row)->offset)
               : NULL;
}

/* ---- access ---- */

/* Bits of the target as they stand in the view, and back. */
static uint64_t into_view(const struct facet_csr_view *view, uint64_t target)
{
    return (view->shift >= 0 ? target << view->shift : target >> -view->shift) & view->mask;
}

static uint64_t out_of_view(const struct facet_csr_view *view, uint64_t value)
{
    value &= view->mask;
    return view->shift >= 0 ? value >> view->shift : value << -view->shift;
}

static uint64_t read_views(const struct facet_csr_ask *ask)
{
    struct facet_csr_ask target = *ask;
    uint64_t bits = 0;

    for (unsigned i = 0; i < ask->row->view_count; i++) {
        uint64_t value = 0;

        target.row = &facet_csr_rows[ask->row->views[i].row];
        target.number = target.row->number;
        (void)facet_csr_read(&target, &value);
        bits |= into_view(&ask->row->views[i], value);
    }
    return bits;
}

bool facet_csr_read(const struct facet_csr_ask *ask, uint64_t *value)
{
    const struct entry *e = entry_of(ask->row);
    const struct facet_cap_config *config = ask->units->config;

    if (e->unit_bits != 0 && (config->word[e->unit] & e->unit_bits) == 0) {
        return false;
    }
    switch ((enum facet_csr_place)ask->row->place) {
    case FACET_PLACE_STORE:
        *value = *slot_of(ask);
        return true;
    case FACET_PLACE_CONST:
        *value = ask->row->reset;
        return true;
    case FACET_PLACE_CONFIG:
        *value = *(const uint64_t *)(const void *)((const char *)config + e->offset) &
                 e->visible(config->word);
        return true;
    case FACET_PLACE_VIEW:
        *value = read_views(ask);
        return true;
    case FACET_PLACE_CODE:
    case FACET_PLACE_WINDOW:
        *value = e->read(ask);
        return true;
    case FACET_PLACE_NONE:
    case FACET_PLACE_XISEL:
        break;
    }
    return false;
}

bool facet_units_csr(const struct facet_units *units,
                     const struct facet_xmem *xmem,
                     unsigned number,
                     uint64_t *value)
{
    struct facet_csr_ask ask = {NULL, units, xmem, facet_csr_at(FACET_ISA_XPHMG, number), number};

    if (ask.row == NULL || facet_csr_is_base(ask.row)) {
        return false;
    }
    if (number == ask.row->alias) {
        ask.number = ask.row->number;
    }
    return facet_csr_read(&ask, value);
}

/* The access kinds: RO bits stay, RW and WARL take what is legal, ones clear W1C, any write clears
 * WC, and W1A holds nothing. */
static uint64_t stored(const struct facet_csr_row *row,
                       const struct facet_cap_config *config,
                       uint64_t old,
                       uint64_t value)
{
    uint64_t kept = old & ~(row->writable | row->w1c | row->wc | row->w1a);

    return kept | facet_csr_legal(config, row, old, value) | (old & row->w1c & ~value);
}

static void write_views(struct facet_hart *h, const struct facet_csr_row *row, uint64_t value)
{
    for (unsigned i = 0; i < row->view_count; i++) {
        const struct facet_csr_view *view = &row->views[i];
        struct facet_csr_ask target = {
            h, &h->units, h->xmem, &facet_csr_rows[view->row], facet_csr_rows[view->row].number};
        uint64_t old = 0;

        (void)facet_csr_read(&target, &old);
        facet_csr_write(h,
                        target.row,
                        target.number,
                        old,
                        FACET_CSRRW,
                        (old & ~out_of_view(view, view->mask)) | out_of_view(view, value));
    }
}

void facet_csr_write(struct facet_hart *h,
                     const struct facet_csr_row *row,
                     unsigned number,
                     uint64_t old,
                     enum facet_csr_op op,
                     uint64_t operand)
{
    const struct entry *e = entry_of(row);
    const struct facet_csr_set set = {
        row, number, op, operand, facet_csr_combine(op, old, operand)};

    if (row->place == FACET_PLACE_STORE) {
        const struct facet_csr_ask ask = {h, &h->units, h->xmem, row, number};
        uint64_t *slot = (uint64_t *)slot_of(&ask); /* of *h, which the caller may write */

        *slot = stored(row, h->units.config, *slot, set.value);
    } else if (row->place == FACET_PLACE_VIEW) {
        write_views(h, row, set.value & row->writable);
    } else if (e->write != NULL) {
        e->write(h, &set);
    }
}
