/* See csr_file.h. */
#include "xphmg/hart/csr_file.h"

#include "xphmg/hart/csr_code.h"

#include <stddef.h>

/* Where a member lies; of one word, it must be as wide as the table takes it for. */
#define OFFSET_HART(where) offsetof(struct facet_hart, where)
#define OFFSET_UNITS(where) offsetof(struct facet_units, where)
#define IS_WORD(type, where) (0 * sizeof(char[sizeof(((type *)NULL)->where) == 8 ? 1 : -1]))
#define WORD_HART(where) (OFFSET_HART(where) + IS_WORD(struct facet_hart, where))
#define WORD_UNITS(where) (OFFSET_UNITS(where) + IS_WORD(struct facet_units, where))
#define IS_BASE_HART true
#define IS_BASE_UNITS false
#define PLACE_NONE(root, where) .offset = 0
#define PLACE_CONST(root, where) .offset = 0
#define PLACE_VIEW(root, where) .offset = 0
#define PLACE_XISEL(root, where) .offset = 0
#define PLACE_CONFIG(root, where) .offset = offsetof(struct facet_cap_config, where)
#define PLACE_STORE(root, where) .offset = WORD_##root(where), .one_word = true
#define PLACE_FAMILY(root, where) .offset = OFFSET_##root(where)
#define PLACE_BANKED(root, where) .offset = OFFSET_##root(where)
#define PLACE_CODE_RO(root, where) .read = facet_hart_csr_read_##where
#define PLACE_CODE(root, where)                                                                    \
    .read = facet_hart_csr_read_##where, .write = facet_hart_csr_write_##where
#define PLACE_WINDOW(root, where) PLACE_CODE(root, where)
#define ENTRY(name, row, root, kind, where, word, bits, machine)                                   \
    [row] = {.visible = facet_visible_##name,                                                      \
             .legal = facet_legal_##name,                                                          \
             .base = IS_BASE_##root,                                                               \
             .privileged = machine,                                                                \
             .unit = word,                                                                         \
             .unit_bits = bits,                                                                    \
             PLACE_##kind(root, where)},

const struct facet_csr_entry facet_csr_entries[] = {FACET_XPHMG_CSRS(ENTRY)};
_Static_assert(FACET_XPHMG_CSR_FIRST == 0, "rows and entries have the same numbers");

uint64_t facet_hart_csr_visible(const struct facet_cap_config *config,
                                const struct facet_csr_row *row)
{
    return facet_hart_csr_entry_of(row)->visible(config->word);
}

uint64_t facet_hart_csr_legal(const struct facet_cap_config *config,
                              const struct facet_csr_row *row,
                              uint64_t old,
                              uint64_t value)
{
    return facet_hart_csr_entry_of(row)->legal(config->word, old, value);
}

bool facet_hart_csr_holds(const struct facet_cap_config *config,
                          const struct facet_csr_row *row,
                          uint64_t value)
{
    uint64_t written = value & row->writable;

    return (value & ~facet_hart_csr_visible(config, row)) == 0 &&
           facet_hart_csr_legal(config, row, 0, written) == written;
}

/* ---- storage ---- */

/* Which word of a register in several words its selecting field means. */
static size_t selected(const struct facet_csr_ask *ask)
{
    uint64_t value = 0, mask = ask->row->select_mask;
    struct facet_csr_ask select = *ask;

    select.row = &facet_csr_rows[ask->row->select_row];
    select.number = select.row->number;
    (void)facet_hart_csr_read(&select, &value);
    return (size_t)((value & mask) / (mask & -mask));
}

static const uint64_t *slot_of(const struct facet_csr_ask *ask, const struct facet_csr_entry *e)
{
    const char *state = e->base ? (const char *)ask->hart : (const char *)ask->units;
    const uint64_t *slot = (const uint64_t *)(const void *)(state + e->offset);

    if (e->one_word) {
        return slot;
    }
    return slot + (ask->row->select_mask != 0
                       ? selected(ask)
                       : (ask->number - ask->row->number) / ask->row->stride);
}

const uint64_t *facet_hart_csr_stored(const struct facet_units *units,
                                      const struct facet_csr_row *row,
                                      unsigned *count)
{
    const struct facet_csr_entry *e = facet_hart_csr_entry_of(row);

    if (row->place != FACET_PLACE_STORE || e->base) {
        return NULL;
    }
    *count = row->select_mask == 0
                 ? row->count
                 : 1 + (unsigned)(row->select_mask / (row->select_mask & -row->select_mask));
    return (const uint64_t *)(const void *)((const char *)units + e->offset);
}

uint64_t *
facet_hart_csr_storage(struct facet_units *units, const struct facet_csr_row *row, unsigned *count)
{
    return facet_hart_csr_stored(units, row, count) != NULL
               ? (uint64_t *)(void *)((char *)units + facet_hart_csr_entry_of(row)->offset)
               : NULL;
}

/* ---- access ---- */

static uint64_t read_views(const struct facet_csr_ask *ask)
{
    struct facet_csr_ask target = *ask;
    uint64_t bits = 0;

    for (unsigned i = 0; i < ask->row->view_count; i++) {
        uint64_t value = 0;

        target.row = &facet_csr_rows[ask->row->views[i].row];
        target.number = target.row->number;
        (void)facet_hart_csr_read(&target, &value);
        bits |= facet_csr_into_view(&ask->row->views[i], value);
    }
    return bits;
}

bool facet_hart_csr_read(const struct facet_csr_ask *ask, uint64_t *value)
{
    const struct facet_csr_entry *e = facet_hart_csr_entry_of(ask->row);
    const struct facet_cap_config *config = ask->units->config;

    if (e->unit_bits != 0 && (config->word[e->unit] & e->unit_bits) == 0) {
        return false;
    }
    if (e->one_word) { /* nearly all */
        *value = *slot_of(ask, e);
        return true;
    }
    switch ((enum facet_csr_place)ask->row->place) {
    case FACET_PLACE_STORE:
        *value = *slot_of(ask, e);
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

    if (ask.row == NULL || facet_hart_csr_entry_of(ask.row)->base) {
        return false;
    }
    if (number == ask.row->alias) {
        ask.number = ask.row->number;
    }
    return facet_hart_csr_read(&ask, value);
}

static void write_views(struct facet_hart *h, const struct facet_csr_row *row, uint64_t value)
{
    for (unsigned i = 0; i < row->view_count; i++) {
        const struct facet_csr_view *view = &row->views[i];
        struct facet_csr_ask target = {
            h, &h->units, h->xmem, &facet_csr_rows[view->row], facet_csr_rows[view->row].number};
        uint64_t old = 0;

        (void)facet_hart_csr_read(&target, &old);
        facet_hart_csr_write(h,
                             &target,
                             old,
                             FACET_CSRRW,
                             (old & ~facet_csr_out_of_view(view, view->mask)) |
                                 facet_csr_out_of_view(view, value));
    }
}

void facet_hart_csr_write(struct facet_hart *h,
                          const struct facet_csr_ask *ask,
                          uint64_t old,
                          enum facet_csr_op op,
                          uint64_t operand)
{
    const struct facet_csr_entry *e = facet_hart_csr_entry_of(ask->row);
    uint64_t value = facet_hart_csr_combine(op, old, operand);

    if (ask->row->place == FACET_PLACE_STORE) {
        uint64_t *slot = (uint64_t *)slot_of(ask, e); /* of *h, which the caller may write */

        *slot = facet_hart_csr_keep(ask->row, h->units.config, *slot, value);
    } else if (ask->row->place == FACET_PLACE_VIEW) {
        write_views(h, ask->row, value & ask->row->writable);
    } else if (e->write != NULL) {
        const struct facet_csr_set set = {ask->row, ask->number, op, operand, value};

        e->write(h, &set);
    }
}
