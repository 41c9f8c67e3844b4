/* What changed between two states of the units, register by register: for traces and lockstep. */
#include "xphmg/cap.h"

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

/* Registers first..last; a number without a register reads 0 before and after. */
static void compare_csrs(const struct comparison *c, unsigned first, unsigned last)
{
    for (unsigned number = first; number <= last; number++) {
        uint64_t old = 0, value = 0;

        (void)facet_units_csr(c->old, c->old_xmem, number, &old);
        (void)facet_units_csr(c->now, c->now_xmem, number, &value);
        compare(c, FACET_CHANGE_CSR, number, old, value);
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

static void compare_graphics(const struct comparison *c)
{
    for (unsigned number = FACET_GFX_FIRST; number < FACET_GFX_FIRST + FACET_GFX_COUNT; number++) {
        const uint64_t *old = c->old->gfx.reg[number - FACET_GFX_FIRST];
        const uint64_t *now = c->now->gfx.reg[number - FACET_GFX_FIRST];

        if (!facet_gfx_csr_wide(number)) {
            compare(c, FACET_CHANGE_CSR, number, old[0], now[0]);
            continue;
        }
        for (unsigned half = 0; half < 2; half++) {
            compare(c, FACET_CHANGE_GFX, facet_change_gfx(number, half), old[half], now[half]);
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

    /* Whole units first: most instructions touch none or one. */
    if (memcmp(&old->cap, &now->cap, sizeof old->cap) != 0) {
        compare_csrs(&c, FACET_CSR_CAP_ID, FACET_CSR_SVSTATE - 1);
        compare_csrs(&c, FACET_CSR_XISEL, FACET_CSR_XISEL);
        compare_csrs(
            &c, FACET_CSR_ZPTAB0, FACET_CSR_ZPTAB0 + (unsigned)sizeof old->cap.zptab / 8 - 1);
    }
    if (memcmp(&old->rsv, &now->rsv, sizeof old->rsv) != 0) {
        compare_csrs(&c, FACET_CSR_SVSTATE, FACET_CSR_SVFAULTI);
    }
    if (memcmp(&old->mtx, &now->mtx, sizeof old->mtx) != 0) {
        compare_csrs(&c, FACET_CSR_MTXCFG, FACET_CSR_MTXSEL);
        compare_csrs(&c, FACET_CSR_MTXSTAT, FACET_CSR_MTXCAP);
        compare_matrices(&c);
    }
    if (memcmp(&old->rt, &now->rt, sizeof old->rt) != 0) { /* RTCLSDEF shows DESCPOL */
        compare_csrs(&c, FACET_CSR_RTCFG, FACET_CSR_RTCONF2);
        compare_csrs(&c, FACET_CSR_RTSPROF, FACET_CSR_RTTRI);
    }
    if (memcmp(&old->gfx, &now->gfx, sizeof old->gfx) != 0) {
        compare_graphics(&c);
    }
    compare(&c, FACET_CHANGE_P0, 0, old->pmask.p0, now->pmask.p0);
    for (unsigned bank = 1; bank < FACET_BANKS; bank++) {
        compare(&c, FACET_CHANGE_BANK, bank, old->pmask.bank[bank], now->pmask.bank[bank]);
    }
    if (memcmp(old_xmem, now_xmem, sizeof *old_xmem) != 0) {
        compare_csrs(&c, FACET_CSR_XTOK0, FACET_CSR_XTOK0 + FACET_TOKENS - 1);
        compare_csrs(&c, FACET_CSR_XLDSBASE, FACET_CSR_XLOCKN);
    }
}
