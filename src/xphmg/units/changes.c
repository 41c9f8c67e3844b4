/* What changed between two states of the units, register by register: for traces and lockstep. */
#include "xphmg/hart/csr_file.h"

#include <string.h>

struct comparison {
    const struct facet_units *old, *now;
    const struct facet_xmem *old_xmem, *now_xmem;
    facet_units_change_fn *report;
    void *context;
};

static void compare(const struct comparison *c,
                    enum facet_change_kind kind,
                    unsigned number,
                    uint64_t old,
                    uint64_t value)
{
    if (old != value) {
        struct facet_units_change change = {kind, number, old, value};

        c->report(c->context, &change);
    }
}

/* One row: its words of storage, or what its function reads. Views and windows show what is
 * reported elsewhere. */
static void compare_row(const struct comparison *c, const struct facet_csr_row *row)
{
    unsigned count = 0;
    const uint64_t *old = facet_hart_csr_stored(c->old, row, &count);
    const uint64_t *now = facet_hart_csr_stored(c->now, row, &count);

    for (unsigned k = 0; k < count; k++) {
        bool wide = row->select_mask != 0;

        compare(c,
                wide ? FACET_CHANGE_GFX : FACET_CHANGE_CSR,
                wide ? facet_change_gfx(row->number, k) : row->number + k * row->stride,
                old[k],
                now[k]);
    }
    for (unsigned k = 0; row->place == FACET_PLACE_CODE && k < row->count; k++) {
        unsigned number = row->number + k * row->stride;
        uint64_t before = 0, after = 0;

        (void)facet_units_csr(c->old, c->old_xmem, number, &before);
        (void)facet_units_csr(c->now, c->now_xmem, number, &after);
        compare(c, FACET_CHANGE_CSR, number, before, after);
    }
}

static void compare_matrices(const struct comparison *c)
{
    static const unsigned windows[] = {
        FACET_CSR_MTX2, FACET_CSR_MTX3, FACET_CSR_MTX4, FACET_CSR_MTXBIAS};

    for (unsigned bank = 0; bank < FACET_BANKS; bank++) {
        for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
            uint64_t old, value;

            for (unsigned word = 0; facet_mtx_word(&c->old->mtx, bank, windows[i], word, &old);
                 word++) {
                (void)facet_mtx_word(&c->now->mtx, bank, windows[i], word, &value);
                compare(c, FACET_CHANGE_MTX, facet_change_mtx(windows[i], bank, word), old, value);
            }
        }
    }
}

void facet_units_changes(const struct facet_units *old,
                         const struct facet_xmem *old_xmem,
                         const struct facet_units *now,
                         const struct facet_xmem *now_xmem,
                         facet_units_change_fn *report,
                         void *context)
{
    const struct comparison c = {old, now, old_xmem, now_xmem, report, context};

    if (memcmp(old, now, sizeof *old) == 0 && memcmp(old_xmem, now_xmem, sizeof *old_xmem) == 0) {
        return; /* most instructions touch nothing here */
    }
    for (size_t i = 0; i < facet_csr_row_count; i++) {
        if (facet_csr_rows[i].isa == FACET_ISA_XPHMG) {
            compare_row(&c, &facet_csr_rows[i]);
        }
    }
    if (memcmp(&old->mtx, &now->mtx, sizeof old->mtx) != 0) {
        compare_matrices(&c);
    }
    compare(&c, FACET_CHANGE_P0, 0, old->pmask.p0, now->pmask.p0);
    for (unsigned bank = 1; bank < FACET_BANKS; bank++) {
        compare(&c, FACET_CHANGE_BANK, bank, old->pmask.bank[bank], now->pmask.bank[bank]);
    }
}
