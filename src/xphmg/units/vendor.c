/* Which unit executes a vendor row. */
#include "xphmg/units/vendor.h"

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
        case FACET_XPHMG_EXT_RT:
            return facet_xphmg_rt_execute(h, in);
        case FACET_XPHMG_EXT_GFX:
            return facet_xphmg_gfx_execute(h, in);
        default:
            break;
        }
    } else if (in->row == FACET_XPHMG_OP_COUNT && h->xmem != NULL) {
        facet_xphmg_rt_illegal(h, in->word);
    }
    return facet_hart_trap_make(FACET_CAUSE_ILLEGAL, in->word);
}
