/* See units.h. */
#include "xphmg/units/units.h"

#include "xphmg/hart/csr_file.h"

#include <string.h>

void facet_units_reset(struct facet_units *units, const struct facet_cap_config *config)
{
    memset(units, 0, sizeof *units);
    units->config = config;
    for (size_t i = 0; i < facet_csr_row_count; i++) {
        const struct facet_csr_row *row = &facet_csr_rows[i];
        unsigned count = 0;
        uint64_t *words =
            row->isa == FACET_ISA_XPHMG ? facet_hart_csr_storage(units, row, &count) : NULL;

        for (unsigned k = 0; k < count; k++) {
            words[k] = row->reset & facet_hart_csr_visible(config, row);
        }
    }
    facet_prec_reset(&units->cap.prec, config->alt_formats);
}

void facet_xmem_reset(struct facet_xmem *xmem)
{
    memset(xmem, 0, sizeof *xmem);
    xmem->t0_size = FACET_XT0SIZE_RESET;
}
