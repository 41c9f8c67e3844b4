/* Which unit executes a vendor row. */
#include "xphmg/units/vendor.h"

#include "xphmg/hart/csr_file.h"

static bool is_prompt_csr(const struct facet_insn *in)
{
    return in->csr != FACET_INSN_NO_CSR &&
           (!facet_csr_entries[in->csr].base || (unsigned)in->imm <= FACET_CSR_FCSR);
}

bool facet_vendor_prompt(const struct facet_insn *in)
{
    if (in->row >= FACET_XPHMG_OP_COUNT) {
        return false;
    }
    switch (facet_xphmg_extension[in->row]) {
    case FACET_XPHMG_EXT_PMASK:
    case FACET_XPHMG_EXT_RSV:
    case FACET_XPHMG_EXT_MTX:
    case FACET_XPHMG_EXT_RT:
        return true;
    case FACET_XPHMG_EXT_XMEM:
        return in->row >= FACET_XPHMG_XMEM_LDG_B && in->row <= FACET_XPHMG_XMEM_STG_D;
    case FACET_XPHMG_EXT_GFX:
        return in->row != FACET_XPHMG_GFX_HZ_BUILD && in->row != FACET_XPHMG_GFX_FENCE;
    default:
        return in->row >= FACET_XPHMG_CSRRW && in->row <= FACET_XPHMG_CSRRCI && is_prompt_csr(in);
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
