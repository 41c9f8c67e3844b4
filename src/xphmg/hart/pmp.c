/* Physical memory protection: entries in rising order, the first that has any byte of an access
 * decides. Granularity is 4 bytes.
 *
 * Spec: R-CAP-69; RISC-V privileged manual, "Physical Memory Protection". */
#include "xphmg/hart/csr_code.h"

enum {
    L = 0x80,
    A_LSB = 3,
    TOR = 1,
    NA4 = 2,
    NAPOT = 3,
    MEANING = L | 3 << A_LSB | FACET_PMP_R | FACET_PMP_W | FACET_PMP_X,
    CFG_BYTES = 8, /* entries in a pmpcfg register */
};

static unsigned mode_of(const struct facet_hart *h, unsigned entry)
{
    return h->pmpcfg[entry] >> A_LSB & 3;
}

/* The bytes of an entry: false when it has none. Addresses have 56 bits. */
static bool range_of(const struct facet_hart *h, unsigned entry, uint64_t *first, uint64_t *last)
{
    const uint64_t address = h->pmpaddr[entry];
    uint64_t ones;

    switch (mode_of(h, entry)) {
    case TOR:
        *first = entry != 0 ? h->pmpaddr[entry - 1] << 2 : 0;
        *last = (address << 2) - 1;
        return address != 0 && *first <= *last;
    case NA4:
        *first = address << 2;
        *last = *first + 3;
        return true;
    case NAPOT:
        ones = address ^ (address + 1); /* the lowest 0 and the ones below it */
        *first = (address & ~ones) << 2;
        *last = ((address | ones) << 2) + 3;
        return true;
    default:
        return false;
    }
}

static bool
entry_allows(const struct facet_hart *h, unsigned entry, enum facet_priv priv, unsigned access)
{
    const unsigned cfg = h->pmpcfg[entry];

    return (priv == FACET_PRIV_M && (cfg & L) == 0) || (cfg & access) == access;
}

enum facet_priv facet_hart_data_priv(const struct facet_hart *h)
{
    if (h->actor != FACET_ACTOR_HART) {
        return h->actor == FACET_ACTOR_USER ? FACET_PRIV_U : FACET_PRIV_M;
    }
    return h->priv == FACET_PRIV_M && (h->mstatus & FACET_MSTATUS_MPRV) != 0
               ? (enum facet_priv)FACET_GET(h->mstatus, MSTATUS_MPP)
               : (enum facet_priv)h->priv;
}

static enum facet_priv priv_of(const struct facet_hart *h, unsigned access)
{
    return access == FACET_PMP_X ? (enum facet_priv)h->priv : facet_hart_data_priv(h);
}

static bool allows(const struct facet_hart *h,
                   uint64_t address,
                   uint64_t size,
                   enum facet_priv priv,
                   unsigned access)
{
    const uint64_t end = address + (size - 1);

    for (unsigned i = 0; i < h->units.config->hart.pmp_entries; i++) {
        uint64_t first, last;

        if (range_of(h, i, &first, &last) && address <= last && end >= first) {
            return address >= first && end <= last && entry_allows(h, i, priv, access);
        }
    }
    return priv == FACET_PRIV_M;
}

bool facet_hart_pmp_access(const struct facet_hart *h,
                           uint64_t address,
                           uint64_t size,
                           unsigned access)
{
    return h->actor == FACET_ACTOR_HOST || allows(h, address, size, priv_of(h, access), access);
}

/* Bytes from `address` on before an entry begins or ends. */
static uint64_t distance(const struct facet_hart *h, uint64_t address)
{
    uint64_t least = UINT64_MAX;

    for (unsigned i = 0; i < h->units.config->hart.pmp_entries; i++) {
        uint64_t first, last;

        if (range_of(h, i, &first, &last)) {
            const uint64_t to_first = first > address ? first - address : UINT64_MAX,
                           past_last = last >= address ? last - address + 1 : UINT64_MAX;

            least = to_first < least ? to_first : least;
            least = past_last < least ? past_last : least;
        }
    }
    return least;
}

uint64_t
facet_hart_pmp_bytes(const struct facet_hart *h, uint64_t address, uint64_t size, unsigned access)
{
    const enum facet_priv priv = priv_of(h, access);
    uint64_t done = 0;

    while (h->actor != FACET_ACTOR_HOST && done < size) {
        const uint64_t left = distance(h, address + done);

        if (!allows(h, address + done, 1, priv, access)) {
            return done;
        }
        if (left >= size - done) {
            break;
        }
        done += left;
    }
    return size;
}

void facet_hart_guard(struct facet_hart *h)
{
    const uint64_t bytes = h->ram.span + h->shut_span + 15;
    const enum facet_priv data = facet_hart_data_priv(h);
    const bool open = !facet_hart_has_pmp(h) || h->actor == FACET_ACTOR_HOST ||
                      (allows(h, h->ram.base, bytes, data, FACET_PMP_R) &&
                       allows(h, h->ram.base, bytes, data, FACET_PMP_W) &&
                       allows(h, h->ram.base, bytes, (enum facet_priv)h->priv, FACET_PMP_X));

    if (open) {
        h->ram.span += h->shut_span;
        h->ram.store_span += h->shut_store_span;
        h->shut_span = h->shut_store_span = 0;
    } else {
        h->shut_span += h->ram.span;
        h->shut_store_span += h->ram.store_span;
        h->ram.span = h->ram.store_span = 0;
    }
}

bool facet_hart_pmp_holds(const struct facet_hart *h)
{
    const struct facet_hart_choices *hart = &h->units.config->hart;
    const uint64_t writable = facet_csr_at(FACET_ISA_XPHMG, FACET_CSR_PMPADDR0)->writable;
    const unsigned entries = hart->pmp == FACET_PMP_IGNORED ? FACET_PMP_MAX : hart->pmp_entries;
    bool good = true;

    for (unsigned i = 0; i < FACET_PMP_MAX; i++) {
        const unsigned cfg = h->pmpcfg[i];

        good &= (h->pmpaddr[i] & ~(i < entries ? writable : 0)) == 0 &&
                (cfg & ~(i < entries ? (unsigned)MEANING : 0)) == 0 &&
                (cfg & (FACET_PMP_R | FACET_PMP_W)) != FACET_PMP_W;
    }
    return good;
}

/* ---- the registers ----------------------------------------------------------------------------
 */

static unsigned first_of(unsigned number)
{
    return (number - FACET_CSR_PMPCFG0) / 2 * CFG_BYTES;
}

uint64_t facet_hart_csr_read_PMPCFG(const struct facet_csr_ask *ask)
{
    return facet_load_le64(ask->hart->pmpcfg + first_of(ask->number));
}

/* W without R is reserved: W stays 0. */
void facet_hart_csr_write_PMPCFG(struct facet_hart *h, const struct facet_csr_set *set)
{
    for (unsigned i = 0; i < CFG_BYTES; i++) {
        const unsigned entry = first_of(set->number) + i;
        unsigned cfg = (unsigned)(set->value >> (8 * i)) & MEANING;

        if (facet_hart_has_pmp(h) && entry < h->units.config->hart.pmp_entries &&
            (h->pmpcfg[entry] & L) == 0) {
            cfg &= (cfg & FACET_PMP_R) != 0 ? MEANING : MEANING & ~(unsigned)FACET_PMP_W;
            h->pmpcfg[entry] = (uint8_t)cfg;
        }
    }
    facet_hart_guard(h);
}

uint64_t facet_hart_csr_read_PMPADDR(const struct facet_csr_ask *ask)
{
    return ask->hart->pmpaddr[ask->number - FACET_CSR_PMPADDR0];
}

void facet_hart_csr_write_PMPADDR(struct facet_hart *h, const struct facet_csr_set *set)
{
    const unsigned entry = set->number - FACET_CSR_PMPADDR0;
    const unsigned entries =
        facet_hart_has_pmp(h) ? h->units.config->hart.pmp_entries : FACET_PMP_MAX;
    const bool locked = (h->pmpcfg[entry] & L) != 0 ||
                        (entry + 1 < FACET_PMP_MAX && (h->pmpcfg[entry + 1] & L) != 0 &&
                         mode_of(h, entry + 1) == TOR);

    if (entry < entries && !locked) {
        h->pmpaddr[entry] = set->value & set->row->writable;
    }
    facet_hart_guard(h);
}
