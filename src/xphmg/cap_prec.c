/* Numeric policy (0x7D0 to 0x7D4). MODE and ALT are staged and applied by num/eff.c; EXC.EN is
 * live (R-CAP-18), EXC.ST is cleared by ones (R-CAP-34), STAT ignores writes. */
#include "xphmg/cap.h"
#include "xphmg/vendor.h"

bool facet_cap_prec_read(const struct facet_cap *cap, unsigned number, uint64_t *value)
{
    switch (number) {
    case FACET_CSR_CAP_PREC_MODE:
        *value = cap->prec.image[FACET_PREC_MODE];
        return true;
    case FACET_CSR_CAP_PREC_ALT:
        *value = cap->prec.image[FACET_PREC_ALT];
        return true;
    case FACET_CSR_CAP_PREC_STAT:
        *value = cap->prec.stat;
        return true;
    case FACET_CSR_CAP_PREC_EXC_EN:
        *value = cap->prec.exc_en;
        return true;
    case FACET_CSR_CAP_PREC_EXC_ST:
        *value = cap->prec.exc_st;
        return true;
    default:
        return false;
    }
}

void facet_cap_prec_write(struct facet_cap *cap,
                          unsigned number,
                          enum facet_csr_op op,
                          uint64_t operand)
{
    struct facet_prec *prec = &cap->prec;

    switch (number) {
    case FACET_CSR_CAP_PREC_MODE:
        (void)facet_prec_write(prec, FACET_PREC_MODE, op, operand);
        break;
    case FACET_CSR_CAP_PREC_ALT:
        (void)facet_prec_write(prec, FACET_PREC_ALT, op, operand);
        break;
    case FACET_CSR_CAP_PREC_EXC_EN:
        prec->exc_en =
            facet_csr_combine(op, prec->exc_en, operand) & FACET_CAP_PREC_EXC_EN_WRITABLE;
        break;
    case FACET_CSR_CAP_PREC_EXC_ST:
        prec->exc_st &= ~facet_csr_combine(op, prec->exc_st, operand);
        break;
    default:
        break;
    }
}
