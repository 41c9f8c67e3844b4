/* Registers behind XISEL and XIREG: zero points, event tokens, LDS, tickets, locks (R-CAP-42,
 * R-CAP-56). All but the zero points show state of the machine and ignore writes. */
#include "xphmg/cap.h"

#include "base/bits.h"

enum {
    ZPTAB_WORDS = sizeof((struct facet_cap *)NULL)->zptab / 8,
    TICKET_QUEUE_RT = 1, /* bits 63:56 of a ticket (R-XM-27) */
    TICKET_QUEUE_MTX = 2,
    TICKET_QUEUE_LSB = 56,
};

static bool is_zptab(unsigned number)
{
    return number >= FACET_CSR_ZPTAB0 && number < FACET_CSR_ZPTAB0 + ZPTAB_WORDS;
}

bool facet_cap_indirect_privileged(unsigned number)
{
    return is_zptab(number);
}

/* LDS bytes that are charged to a class. */
static uint64_t lds_used(const struct facet_xmem *xmem, unsigned mclass)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < xmem->block_count; i++) {
        bytes += xmem->blocks[i].mclass == mclass ? xmem->blocks[i].size : 0;
    }
    return bytes;
}

static uint64_t ticket(uint64_t queue, uint64_t sequence)
{
    return sequence == 0 ? 0 : queue << TICKET_QUEUE_LSB | sequence;
}

bool facet_cap_indirect_read(const struct facet_units *units,
                             const struct facet_xmem *xmem,
                             unsigned number,
                             uint64_t *value)
{
    if (is_zptab(number)) {
        *value = facet_load_le64(units->cap.zptab + 8 * (size_t)(number - FACET_CSR_ZPTAB0));
        return true;
    }
    if (number >= FACET_CSR_XTOK0 && number < FACET_CSR_XTOK0 + FACET_TOKENS) {
        *value = xmem->tokens[number - FACET_CSR_XTOK0];
        return true;
    }
    switch (number) {
    case FACET_CSR_XLDSBASE:
        *value = FACET_XLDSBASE_RESET;
        return true;
    case FACET_CSR_XLDSSIZE:
        *value = FACET_XLDSSIZE_RESET;
        return true;
    case FACET_CSR_XLDSUSED0:
    case FACET_CSR_XLDSUSED1:
    case FACET_CSR_XLDSUSED2:
    case FACET_CSR_XLDSUSED3:
        *value = lds_used(xmem, number - FACET_CSR_XLDSUSED0);
        return true;
    case FACET_CSR_XT0SIZE:
        *value = xmem->t0_size;
        return true;
    case FACET_CSR_XTICKRT:
        *value = ticket(TICKET_QUEUE_RT, xmem->ticket_rt);
        return true;
    case FACET_CSR_XTICKMTX:
        *value = ticket(TICKET_QUEUE_MTX, xmem->ticket_mtx);
        return true;
    case FACET_CSR_XLOCKN:
        *value = xmem->lock_count;
        return true;
    default:
        return false;
    }
}

void facet_cap_indirect_write(struct facet_cap *cap, unsigned number, uint64_t value)
{
    if (is_zptab(number)) {
        facet_store_le64(cap->zptab + 8 * (size_t)(number - FACET_CSR_ZPTAB0), value);
    }
}
