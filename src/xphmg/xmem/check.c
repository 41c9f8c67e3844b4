/* Which XPHMG accesses are allowed: mapping, the owner of a Tier-0 region, its security tag.
 *
 * Spec: R-XM-14, R-XM-15, R-XM-19, R-XM-42, R-XM-46. */
#include "xphmg/xmem/xmem.h"

#include "xphmg/hart/memory.h"
#include "xphmg/units/vendor.h"

struct facet_xmem_actor facet_xmem_inline(const struct facet_hart *h)
{
    uint8_t dom = (uint8_t)FACET_GET(FACET_XMEM_CSR(h, DOM), CAP_XMEM_DOM_DOM);

    return (struct facet_xmem_actor){
        .dom = dom == 0 ? FACET_DOM_ALL : dom,
        .strict = FACET_GET(FACET_XMEM_CSR(h, DESCPOL), CAP_XMEM_DESCPOL_STRICT_DOM) != 0,
    };
}

static bool rejects(const struct facet_lds_block *block, struct facet_xmem_actor actor)
{
    bool stranger =
        actor.dom != block->dom && actor.dom != FACET_DOM_ALL && block->dom != FACET_DOM_ALL;

    return (actor.strict && block->tier == 0 && stranger) || actor.sec < block->sec;
}

/* Bytes from `address` up to the first one in a block that rejects the actor; `size` if none does.
 */
static uint64_t
allowed(const struct facet_hart *h, struct facet_xmem_actor actor, uint64_t address, uint64_t size)
{
    const struct facet_xmem *xmem = h->xmem;

    for (uint32_t i = 0; i < xmem->block_count; i++) {
        const struct facet_lds_block *block = &xmem->blocks[i];
        uint64_t start = FACET_XLDSBASE_RESET + block->offset;
        uint64_t distance = address - start < block->size ? 0 : start - address;

        if (distance < size && rejects(block, actor)) {
            size = distance;
        }
    }
    return size;
}

struct facet_trap facet_xmem_probe(const struct facet_hart *h,
                                   struct facet_xmem_actor actor,
                                   uint64_t address,
                                   uint64_t size,
                                   bool write)
{
    uint64_t good = allowed(h, actor, address, size);
    struct facet_trap trap = facet_hart_probe(h, address, good, write);

    if (!trap.taken && good < size) {
        trap = facet_hart_trap_make(write ? FACET_CAUSE_STORE_FAULT : FACET_CAUSE_LOAD_FAULT,
                                    address + good);
    }
    return trap;
}

struct facet_trap facet_xmem_probe_element(const struct facet_hart *h,
                                           struct facet_xmem_actor actor,
                                           uint64_t address,
                                           unsigned size,
                                           bool write)
{
    if ((address & (size - 1)) != 0) {
        return facet_hart_trap_make(
            write ? FACET_CAUSE_STORE_MISALIGNED : FACET_CAUSE_LOAD_MISALIGNED, address);
    }
    return facet_xmem_probe(h, actor, address, size, write);
}

/* SEC_VIOL when the fault is that of a region whose tag is above the actor's level. */
static uint64_t
security_event(const struct facet_hart *h, struct facet_xmem_actor actor, struct facet_trap fault)
{
    bool access = fault.cause == FACET_CAUSE_LOAD_FAULT || fault.cause == FACET_CAUSE_STORE_FAULT;

    for (uint32_t i = 0; i < h->xmem->block_count && access; i++) {
        const struct facet_lds_block *block = &h->xmem->blocks[i];

        if (fault.tval - (FACET_XLDSBASE_RESET + block->offset) < block->size &&
            actor.sec < block->sec) {
            return FACET_CAP_XMEM_EVENTS_SEC_VIOL;
        }
    }
    return 0;
}

struct facet_trap
facet_xmem_fault(struct facet_hart *h, struct facet_xmem_actor actor, struct facet_trap fault)
{
    facet_cap_event(h, FACET_CAP_XMEM_EVENTS_INV_MISS | security_event(h, actor, fault));
    return fault;
}

void facet_xmem_copy_error(struct facet_hart *h,
                           struct facet_xmem_actor actor,
                           struct facet_trap fault)
{
    facet_cap_event(h, FACET_CAP_XMEM_EVENTS_DMA_ERR | security_event(h, actor, fault));
}
