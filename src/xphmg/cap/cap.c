/* The vendor CSRs for csr* instructions: what XIREG stands for, and who may ask. */
#include "contract/xphmg_csr_rules.h"
#include "xphmg/hart/csr_file.h"
#include "xphmg/units/vendor.h"

/* The register that a csr* instruction means: XIREG stands for what XISEL names, if the mode may
 * have it. false: there is no such register. */
static bool resolve(struct facet_csr_ask *ask)
{
    const struct facet_hart *h = ask->hart;

    if (h->xmem == NULL || ask->row == NULL) {
        return false;
    }
    if (ask->row->place == FACET_PLACE_XISEL) {
        ask->number = (unsigned)h->units.cap.xisel;
        ask->row = facet_csr_at(FACET_ISA_XPHMG, ask->number);
        if (ask->row == NULL || ask->number <= 0xFFF ||
            (facet_hart_csr_entry_of(ask->row)->privileged && h->priv != FACET_PRIV_M)) {
            return false;
        }
    }
    if (ask->number == ask->row->alias) {
        ask->number = ask->row->number;
    }
    return !facet_hart_csr_entry_of(ask->row)->base;
}

enum facet_csr_answer
facet_vendor_csr_read(const struct facet_hart *h, unsigned number, uint64_t *value)
{
    struct facet_csr_ask ask = {
        h, &h->units, h->xmem, facet_csr_at(FACET_ISA_XPHMG, number), number};

    return resolve(&ask) && facet_hart_csr_read(&ask, value) ? FACET_CSR_ANSWERED
                                                             : FACET_CSR_ABSENT;
}

enum facet_csr_answer facet_vendor_csr_access(struct facet_hart *h,
                                              const struct facet_csr_row *row,
                                              unsigned number,
                                              enum facet_csr_op op,
                                              uint64_t operand,
                                              uint64_t *old)
{
    struct facet_csr_ask ask = {h, &h->units, h->xmem, row, number};

    if (!resolve(&ask) || !facet_hart_csr_read(&ask, old)) {
        return FACET_CSR_ABSENT;
    }
    facet_hart_csr_write(h, &ask, *old, op, operand);
    return FACET_CSR_ANSWERED;
}

enum facet_csr_answer facet_vendor_csr_write(struct facet_hart *h,
                                             unsigned number,
                                             enum facet_csr_op op,
                                             uint64_t operand)
{
    uint64_t old;

    return facet_vendor_csr_access(
        h, facet_csr_at(FACET_ISA_XPHMG, number), number, op, operand, &old);
}

void facet_cap_event(struct facet_hart *h, uint64_t events)
{
    h->units.cap.xmem.events |= events & facet_visible_CAP_XMEM_EVENTS(h->units.config->word);
}

enum facet_status
facet_cap_set_profile(struct facet_units *units, unsigned profile, struct facet_error *err)
{
    const struct facet_cap_config *config = units->config;

    if (FACET_GET(config->flags, CAP_FLAGS_HAS_PROFILES) == 0) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "this configuration has no profiles");
    }
    if (profile > 63 || (config->prof_sup >> profile & 1) == 0) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "profile P%u does not exist: CAP.PROF.SUP is 0x%llx",
                          profile,
                          (unsigned long long)config->prof_sup);
    }
    units->cap.profile = profile;
    return FACET_OK;
}
