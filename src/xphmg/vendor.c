/* Which unit executes a vendor row. */
#include "xphmg/vendor.h"

bool facet_xmem_wait_over(const struct facet_hart *h)
{
    const uint64_t sequence = h->wait_on & ((UINT64_C(1) << FACET_TICKET_QUEUE_LSB) - 1);

    switch (h->wait) {
    case FACET_WAIT_TOKEN:
        return h->xmem->tokens[h->wait_on % FACET_TOKENS] != 0;
    case FACET_WAIT_TICKET: /* jobs end before their submission retires (R-XM-28) */
        return sequence <= (h->wait_on >> FACET_TICKET_QUEUE_LSB == FACET_QUEUE_RT
                                ? h->xmem->ticket_rt
                                : h->xmem->ticket_mtx);
    default:
        return false;
    }
}

struct facet_trap facet_vendor_execute(struct facet_hart *h, const struct facet_insn *in)
{
    if (in->row < FACET_XPHMG_OP_COUNT && h->xmem != NULL) {
        switch (facet_xphmg_extension[in->row]) {
        case FACET_XPHMG_EXT_PMASK:
            return facet_pmask_execute(h, in);
        case FACET_XPHMG_EXT_XMEM:
            return facet_xmem_execute(h, in);
        case FACET_XPHMG_EXT_RSV:
            return facet_rsv_execute(h, in);
        case FACET_XPHMG_EXT_MTX:
            return facet_mtx_execute(h, in);
        default: /* RT and GFX: absent (config.c) */
            break;
        }
    }
    return facet_trap_make(FACET_CAUSE_ILLEGAL, in->word);
}
