/* What the rows of spec/(machine).csr.tsv alone say about a write: no register is named here.
 *
 * Three things are not mistakes. A register with something to write takes all ones from software
 * that asks what exists. A write of a whole value leaves read-only fields 0, whatever they read. A
 * hint may be dropped. */
#include "lint/internal.h"

#include "base/bits.h"

#include <inttypes.h>
#include <string.h>

static bool is_reserved(const struct facet_csr_field *field)
{
    return strncmp(field->name, "RSV", 3) == 0 || strcmp(field->name, "reserved") == 0;
}

static uint64_t field_mask(const struct facet_csr_field *field)
{
    return facet_bits_mask(field->hi - field->lo + 1u) << field->lo;
}

static uint64_t width_mask(const struct facet_csr_row *row)
{
    return facet_bits_mask(row->width);
}

uint64_t facet_lint_csr_mask(const struct facet_csr_row *row, enum facet_csr_access access)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < row->field_count; i++) {
        const struct facet_csr_field *field = &row->fields[i];

        mask |= field->access == access && !is_reserved(field) ? field_mask(field) : 0;
    }
    return mask;
}

uint64_t facet_lint_csr_reserved(const struct facet_csr_row *row)
{
    uint64_t known = 0;

    for (unsigned i = 0; i < row->field_count; i++) {
        known |= is_reserved(&row->fields[i]) ? 0 : field_mask(&row->fields[i]);
    }
    return width_mask(row) & ~known;
}

/* Bits that the instruction means to become 1, and to become 0. */
static uint64_t sets(const struct lint_csr_write *w)
{
    return w->op == FACET_CSRRC ? 0 : w->op == FACET_CSRRS ? w->operand : w->written;
}

static uint64_t clears(const struct lint_csr_write *w)
{
    return w->op == FACET_CSRRC ? w->operand : w->op == FACET_CSRRS ? 0 : ~w->written;
}

/* The name of the field with the lowest of the bits. */
static const char *field_at(const struct facet_csr_row *row, uint64_t bits)
{
    for (unsigned i = 0; i < row->field_count; i++) {
        if ((field_mask(&row->fields[i]) & bits & (~bits + 1)) != 0) {
            return row->fields[i].name;
        }
    }
    return "";
}

static void
check_w1c(struct lint_store *store, struct lint_place place, const struct lint_csr_write *w)
{
    uint64_t w1c = facet_lint_csr_mask(w->row, FACET_CSR_W1C);

    if (w->op == FACET_CSRRW || w1c == 0 || (w->op == FACET_CSRRS && (w->operand & w1c) == w1c)) {
        return;
    }
    facet_lint_add(store,
                   place,
                   FACET_LINT_CSR_W1C,
                   "%s held 0x%" PRIx64 " and holds 0x%" PRIx64,
                   w->row->name,
                   w->old,
                   w->stored);
}

static void check_read_only(struct lint_store *store,
                            struct lint_place place,
                            const struct lint_csr_write *w,
                            bool writable)
{
    uint64_t ro = facet_lint_csr_mask(w->row, FACET_CSR_RO) & ~w->spoken;
    uint64_t bits = sets(w) & ~w->old & ro;

    if (!writable || w->op == FACET_CSRRC) {
        bits |= clears(w) & w->old & ro;
    }
    if (bits != 0) {
        facet_lint_add(store,
                       place,
                       FACET_LINT_CSR_READ_ONLY,
                       writable ? "%s.%s keeps its value" : "%s keeps its value",
                       w->row->name,
                       field_at(w->row, bits));
    }
}

/* Fields that may refuse a value. */
static void
check_stored(struct lint_store *store, struct lint_place place, const struct lint_csr_write *w)
{
    for (unsigned i = 0; i < w->row->field_count; i++) {
        const struct facet_csr_field *field = &w->row->fields[i];
        uint64_t mask = field_mask(field);

        if (field->access == FACET_CSR_WARL && !is_reserved(field) && (mask & w->spoken) == 0 &&
            strstr(field->name, "HINT") == NULL && ((w->written ^ w->stored) & mask) != 0) {
            facet_lint_add(store,
                           place,
                           FACET_LINT_CSR_ILLEGAL,
                           "%s.%s: %" PRIu64 " was written, %" PRIu64 " is there",
                           w->row->name,
                           field->name,
                           (w->written & mask) >> field->lo,
                           (w->stored & mask) >> field->lo);
        }
    }
}

void facet_lint_csr_check(struct lint_store *store,
                          struct lint_place place,
                          const struct lint_csr_write *w)
{
    uint64_t all = width_mask(w->row), reserved;
    bool writable =
        (facet_lint_csr_mask(w->row, FACET_CSR_RO) | facet_lint_csr_reserved(w->row)) != all;
    bool probe = writable && w->op != FACET_CSRRC && (sets(w) & all) == all;

    check_w1c(store, place, w);
    if (probe) {
        return;
    }
    reserved = sets(w) & facet_lint_csr_reserved(w->row) & ~w->spoken;
    if (reserved != 0 && writable) {
        facet_lint_add(
            store, place, FACET_LINT_CSR_RESERVED, "%s: bits 0x%" PRIx64, w->row->name, reserved);
    }
    check_read_only(store, place, w, writable);
    if (!w->held) {
        check_stored(store, place, w);
    }
}
