/* Registers of the XPHMG units that are more than storage (place `code` and `window` in
 * spec/cap.csr.tsv and spec/gfx.csr.tsv): what depends on the profile, MODE and ALT with their
 * staged images, zero points, the state that all harts share, and the windows into matrix storage.
 *
 * Spec: R-CAP-14, R-CAP-18, R-CAP-42, R-CAP-60, R-XM-27, gfx-semantics.md 16.1. */
#include "xphmg/hart/csr_code.h"

#include "base/bits.h"

/* ---- profiles ---- */

/* What P0, P1 and P2 say (numeric.md 16); without profiles, and for others, P0 (R-CAP-60). */
struct profile {
    uint8_t waves, granule;
};

static struct profile profile(const struct facet_units *units)
{
    static const struct profile profiles[] = {{0, 0}, {1, 1}, {3, 2}};
    bool vary = FACET_GET(units->config->flags, CAP_FLAGS_RUNTIME_MUTABLE) != 0 &&
                FACET_GET(units->config->flags, CAP_FLAGS_HAS_PROFILES) != 0;

    return profiles[vary && units->cap.profile < 3 ? units->cap.profile : 0];
}

uint64_t facet_hart_csr_read_CAP_TIER_WAVE(const struct facet_csr_ask *ask)
{
    return FACET_PUT(ask->row->reset, CAP_TIER_WAVE_WAVES, profile(ask->units).waves);
}

uint64_t facet_hart_csr_read_CAP_HINT_BVHGR(const struct facet_csr_ask *ask)
{
    return FACET_PUT(ask->row->reset, CAP_HINT_BVHGR_GRAN, profile(ask->units).granule);
}

/* ---- numeric policy ---- */

uint64_t facet_hart_csr_read_CAP_PREC_MODE(const struct facet_csr_ask *ask)
{
    return ask->units->cap.prec.image[FACET_PREC_MODE];
}

void facet_hart_csr_write_CAP_PREC_MODE(struct facet_hart *h, const struct facet_csr_set *set)
{
    (void)facet_prec_write(&h->units.cap.prec, FACET_PREC_MODE, set->op, set->operand);
}

uint64_t facet_hart_csr_read_CAP_PREC_ALT(const struct facet_csr_ask *ask)
{
    return ask->units->cap.prec.image[FACET_PREC_ALT];
}

void facet_hart_csr_write_CAP_PREC_ALT(struct facet_hart *h, const struct facet_csr_set *set)
{
    (void)facet_prec_write(&h->units.cap.prec, FACET_PREC_ALT, set->op, set->operand);
}

uint64_t facet_hart_csr_read_ZPTAB(const struct facet_csr_ask *ask)
{
    return facet_load_le64(ask->units->cap.zptab + 8 * (size_t)(ask->number - FACET_CSR_ZPTAB0));
}

void facet_hart_csr_write_ZPTAB(struct facet_hart *h, const struct facet_csr_set *set)
{
    facet_store_le64(h->units.cap.zptab + 8 * (size_t)(set->number - FACET_CSR_ZPTAB0), set->value);
}

/* ---- state that the harts share ---- */

uint64_t facet_hart_csr_read_XTOK(const struct facet_csr_ask *ask)
{
    return ask->xmem->tokens[ask->number - FACET_CSR_XTOK0];
}

/* LDS bytes that are charged to a class. */
uint64_t facet_hart_csr_read_XLDSUSED(const struct facet_csr_ask *ask)
{
    unsigned mclass = ask->number - FACET_CSR_XLDSUSED0;
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < ask->xmem->block_count; i++) {
        bytes += ask->xmem->blocks[i].mclass == mclass ? ask->xmem->blocks[i].size : 0;
    }
    return bytes;
}

uint64_t facet_hart_csr_read_XT0SIZE(const struct facet_csr_ask *ask)
{
    return ask->xmem->t0_size;
}

static uint64_t ticket(uint64_t queue, uint64_t sequence)
{
    return sequence == 0 ? 0 : queue << FACET_TICKET_QUEUE_LSB | sequence;
}

uint64_t facet_hart_csr_read_XTICKRT(const struct facet_csr_ask *ask)
{
    return ticket(FACET_QUEUE_RT, ask->xmem->ticket_rt);
}

uint64_t facet_hart_csr_read_XTICKMTX(const struct facet_csr_ask *ask)
{
    return ticket(FACET_QUEUE_MTX, ask->xmem->ticket_mtx);
}

uint64_t facet_hart_csr_read_XLOCKN(const struct facet_csr_ask *ask)
{
    return ask->xmem->lock_count;
}

/* ---- matrices: MTXSEL says which bank and word the windows show ---- */

/* Where the storage of a window is in a bank, and its length in words; 0 for another number.
 */
static unsigned window(unsigned number, size_t *offset)
{
    static const struct {
        unsigned number, words;
        size_t offset;
    } windows[] = {
#define WINDOW(csr, member)                                                                        \
    {FACET_CSR_##csr,                                                                              \
     sizeof((struct facet_mtx_bank *)NULL)->member / 8,                                            \
     offsetof(struct facet_mtx_bank, member)}
        WINDOW(MTX2, mtx2),
        WINDOW(MTX3, mtx3),
        WINDOW(MTX4, mtx4),
        WINDOW(MTXBIAS, bias),
    };

    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        if (windows[i].number == number) {
            *offset = windows[i].offset;
            return windows[i].words;
        }
    }
    return 0;
}

bool facet_mtx_word(
    const struct facet_mtx *mtx, unsigned bank, unsigned number, unsigned word, uint64_t *value)
{
    size_t offset = 0;
    bool inside = word < window(number, &offset);

    *value =
        inside ? facet_load_le64((const uint8_t *)&mtx->bank[bank] + offset + 8 * (size_t)word) : 0;
    return inside;
}

uint64_t facet_hart_csr_read_MTX(const struct facet_csr_ask *ask)
{
    const struct facet_mtx *mtx = &ask->units->mtx;
    uint64_t value;

    (void)facet_mtx_word(mtx,
                         (unsigned)FACET_GET(mtx->sel, MTXSEL_BANK),
                         ask->number,
                         (unsigned)FACET_GET(mtx->sel, MTXSEL_WORD),
                         &value);
    return value;
}

void facet_hart_csr_write_MTX(struct facet_hart *h, const struct facet_csr_set *set)
{
    struct facet_mtx *mtx = &h->units.mtx;
    unsigned word = (unsigned)FACET_GET(mtx->sel, MTXSEL_WORD);
    size_t offset = 0;

    if (word < window(set->number, &offset)) {
        facet_store_le64((uint8_t *)&mtx->bank[FACET_GET(mtx->sel, MTXSEL_BANK)] + offset +
                             8 * (size_t)word,
                         set->value);
    }
}
