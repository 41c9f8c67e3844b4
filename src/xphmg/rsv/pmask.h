/* Writes to predicate state. Every unit that produces predicates writes them here, so that traces
 * see each change (unit event "pmask" with old and new value). */
#ifndef FACET_XPHMG_RSV_PMASK_H
#define FACET_XPHMG_RSV_PMASK_H

#include "base/bits.h"
#include "xphmg/hart/hart.h"

/* Lanes below the effective VL, whether or not RSV is enabled (R-PM-04). */
static inline uint64_t facet_pmask_lanes(const struct facet_hart *h)
{
    return facet_bits_mask((unsigned)FACET_GET(h->units.rsv.svstate, SVSTATE_VLM1) + 1);
}

/* What a bank reads as; bank 0 is all ones below VL. */
static inline uint64_t facet_pmask_read(const struct facet_hart *h, unsigned bank)
{
    return bank == 0 ? facet_pmask_lanes(h) : h->units.pmask.bank[bank];
}

/* Bank 0 ignores the write. */
void facet_pmask_write(struct facet_hart *h, unsigned bank, uint64_t value);
void facet_pmask_write_p0(struct facet_hart *h, bool value);

#endif
