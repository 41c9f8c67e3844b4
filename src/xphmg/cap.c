/* The vendor CSRs. */
#include "xphmg/vendor.h"

enum facet_csr_answer
facet_vendor_csr_read(const struct facet_hart *h, unsigned number, uint64_t *value)
{
    (void)h, (void)number, (void)value;
    return FACET_CSR_ABSENT;
}

enum facet_csr_answer facet_vendor_csr_write(struct facet_hart *h,
                                             unsigned number,
                                             enum facet_csr_op op,
                                             uint64_t operand)
{
    (void)h, (void)number, (void)op, (void)operand;
    return FACET_CSR_ABSENT;
}

void facet_cap_event(struct facet_hart *h, uint64_t events)
{
    h->units.cap.xmem[FACET_CSR_CAP_XMEM_EVENTS - FACET_CAP_XMEM_FIRST] |= events;
}
