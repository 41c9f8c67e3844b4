/* Matrix registers (0x830 to 0x837). MTX2, MTX3, MTX4 and MTXBIAS are windows of 64 bits into the
 * storage of a bank; MTXSEL says which bank and word (gfx-semantics.md 16.1). */
#include "xphmg/cap.h"

#include "base/bits.h"

/* The storage behind a window, NULL for another number. */
static uint8_t *storage(struct facet_mtx_bank *bank, unsigned number, unsigned *words)
{
    switch (number) {
    case FACET_CSR_MTX2:
        *words = sizeof bank->mtx2 / 8;
        return bank->mtx2;
    case FACET_CSR_MTX3:
        *words = sizeof bank->mtx3 / 8;
        return bank->mtx3;
    case FACET_CSR_MTX4:
        *words = sizeof bank->mtx4 / 8;
        return bank->mtx4;
    case FACET_CSR_MTXBIAS:
        *words = sizeof bank->bias / 8;
        return bank->bias;
    default:
        return NULL;
    }
}

bool facet_mtx_word(
    const struct facet_mtx *mtx, unsigned bank, unsigned number, unsigned word, uint64_t *value)
{
    struct facet_mtx_bank copy = mtx->bank[bank];
    unsigned words = 0;
    const uint8_t *bytes = storage(&copy, number, &words);

    *value = bytes != NULL && word < words ? facet_load_le64(bytes + 8 * (size_t)word) : 0;
    return bytes != NULL && word < words;
}

bool facet_mtx_csr_read(const struct facet_units *units, unsigned number, uint64_t *value)
{
    const struct facet_mtx *mtx = &units->mtx;

    switch (number) {
    case FACET_CSR_MTXCFG:
        *value = mtx->cfg;
        return true;
    case FACET_CSR_MTXSEL:
        *value = mtx->sel;
        return true;
    case FACET_CSR_MTX2:
    case FACET_CSR_MTX3:
    case FACET_CSR_MTX4:
    case FACET_CSR_MTXBIAS:
        (void)facet_mtx_word(mtx,
                             (unsigned)FACET_GET(mtx->sel, MTXSEL_BANK),
                             number,
                             (unsigned)FACET_GET(mtx->sel, MTXSEL_WORD),
                             value);
        return true;
    case FACET_CSR_MTXSTAT:
        *value = mtx->stat;
        return true;
    case FACET_CSR_MTXCAP:
        *value = units->config->mtxcap;
        return true;
    default:
        return false;
    }
}

void facet_mtx_csr_write(struct facet_mtx *mtx, unsigned number, uint64_t value)
{
    unsigned word = (unsigned)FACET_GET(mtx->sel, MTXSEL_WORD), words = 0;
    uint8_t *bytes = storage(&mtx->bank[FACET_GET(mtx->sel, MTXSEL_BANK)], number, &words);

    if (bytes != NULL && word < words) {
        facet_store_le64(bytes + 8 * (size_t)word, value);
    } else if (number == FACET_CSR_MTXCFG) {
        mtx->cfg = value & FACET_MTXCFG_WRITABLE;
    } else if (number == FACET_CSR_MTXSEL) {
        mtx->sel = value & FACET_MTXSEL_WRITABLE;
    }
}
