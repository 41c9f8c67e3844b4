/* The vendor CSRs: which block answers for a number, and who may ask. */
#include "xphmg/cap.h"
#include "xphmg/vendor.h"

static bool present(const struct facet_units *units, uint64_t feat0)
{
    return (units->config->feat0 & feat0) != 0;
}

static bool in_xmem(unsigned number)
{
    return number > FACET_CSR_CAP_XMEM_PARAMS && number < FACET_CSR_SVSTATE;
}

static bool in_rsv(unsigned number)
{
    return number >= FACET_CSR_SVSTATE && number <= FACET_CSR_SVFAULTI;
}

static bool in_mtx(unsigned number)
{
    return number >= FACET_CSR_MTXCFG && number <= FACET_CSR_MTXCAP;
}

static bool in_gfx(unsigned number)
{
    return number - FACET_GFX_FIRST < FACET_GFX_COUNT;
}

static bool in_rt(unsigned number)
{
    return facet_rt_csr_number(&number);
}

/* Without RSV its numbers read 0 and ignore writes (R-CAP-57). */
static bool read_rsv(const struct facet_units *units, unsigned number, uint64_t *value)
{
    struct facet_rsv copy = units->rsv;
    const uint64_t *reg = facet_rsv_register(&copy, number);

    *value = reg != NULL && present(units, FACET_CAP_FEAT0_RSV_PRESENT) ? *reg : 0;
    return !facet_rsv_traps(number);
}

bool facet_units_csr(const struct facet_units *units,
                     const struct facet_xmem *xmem,
                     unsigned number,
                     uint64_t *value)
{
    if (in_xmem(number)) {
        *value = units->cap.xmem[number - FACET_CAP_XMEM_FIRST];
        return true;
    }
    if (in_rsv(number)) {
        return read_rsv(units, number, value);
    }
    if (in_mtx(number)) {
        return present(units, FACET_CAP_FEAT0_MTX_PRESENT) &&
               facet_mtx_csr_read(units, number, value);
    }
    if (in_rt(number)) {
        return present(units, FACET_CAP_FEAT0_RT_PRESENT) &&
               facet_rt_csr_read(units, number, value);
    }
    if (in_gfx(number)) {
        return present(units, FACET_CAP_FEAT0_GFX_PRESENT) &&
               facet_gfx_csr_read(&units->gfx, number, value);
    }
    if (number == FACET_CSR_XISEL) {
        *value = units->cap.xisel;
        return true;
    }
    return facet_cap_core_read(units, number, value) ||
           facet_cap_prec_read(&units->cap, number, value) ||
           facet_cap_indirect_read(units, xmem, number, value);
}

static void write_xmem(struct facet_units *units, unsigned number, uint64_t value)
{
    uint64_t *reg = &units->cap.xmem[number - FACET_CAP_XMEM_FIRST];

    *reg = number == FACET_CSR_CAP_XMEM_EVENTS ? *reg & ~value
                                               : facet_cap_xmem_legal(units->config, number, value);
}

static void write_rsv(struct facet_units *units, unsigned number, uint64_t value)
{
    uint64_t *reg = facet_rsv_register(&units->rsv, number);

    if (reg != NULL && present(units, FACET_CAP_FEAT0_RSV_PRESENT)) {
        *reg = facet_rsv_legal(units->config, number, value);
    }
}

/* The number that a csr* instruction means: XIREG stands for what XISEL names, if the mode may have
 * it. false: there is no such register. */
static bool resolve(const struct facet_hart *h, unsigned *number)
{
    uint64_t selected = h->units.cap.xisel;

    if (*number != FACET_CSR_XIREG) {
        return h->xmem != NULL;
    }
    *number = (unsigned)selected;
    return h->xmem != NULL && selected > 0xFFF &&
           (h->priv == FACET_PRIV_M || !facet_cap_indirect_privileged(*number));
}

enum facet_csr_answer
facet_vendor_csr_read(const struct facet_hart *h, unsigned number, uint64_t *value)
{
    return resolve(h, &number) && facet_units_csr(&h->units, h->xmem, number, value)
               ? FACET_CSR_ANSWERED
               : FACET_CSR_ABSENT;
}

enum facet_csr_answer facet_vendor_csr_write(struct facet_hart *h,
                                             unsigned number,
                                             enum facet_csr_op op,
                                             uint64_t operand)
{
    struct facet_units *units = &h->units;
    uint64_t old, value;

    if (!resolve(h, &number) || !facet_units_csr(units, h->xmem, number, &old)) {
        return FACET_CSR_ABSENT;
    }
    value = facet_csr_combine(op, old, operand);
    if (in_xmem(number)) {
        write_xmem(units, number, value);
    } else if (in_rsv(number)) {
        write_rsv(units, number, value);
    } else if (in_mtx(number)) {
        facet_mtx_csr_write(&units->mtx, number, value);
    } else if (in_rt(number)) {
        facet_rt_csr_write(units, number, value);
    } else if (in_gfx(number)) {
        facet_gfx_csr_write(&units->gfx, number, value);
    } else if (number == FACET_CSR_XISEL) {
        units->cap.xisel = value & FACET_XISEL_WRITABLE;
    } else {
        facet_cap_prec_write(&units->cap, number, op, operand);
        facet_cap_indirect_write(&units->cap, number, value);
    }
    return FACET_CSR_ANSWERED;
}

void facet_cap_event(struct facet_hart *h, uint64_t events)
{
    h->units.cap.xmem[FACET_CSR_CAP_XMEM_EVENTS - FACET_CAP_XMEM_FIRST] |=
        events & facet_cap_events(h->units.config);
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
    units->cap.profile = (uint8_t)profile;
    return FACET_OK;
}
