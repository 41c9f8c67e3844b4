/* See units.h. */
#include "xphmg/units.h"

#include <string.h>

void facet_units_reset(struct facet_units *units, const struct facet_cap_config *config)
{
    memset(units, 0, sizeof *units);
    units->config = config;
    facet_prec_reset(&units->cap.prec, config->alt_formats);
}

void facet_xmem_reset(struct facet_xmem *xmem)
{
    memset(xmem, 0, sizeof *xmem);
    xmem->t0_size = FACET_XT0SIZE_RESET;
}
