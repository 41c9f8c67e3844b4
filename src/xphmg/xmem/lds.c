/* LDS: the allocator with its tiers, classes and budgets, and the owners of its regions.
 *
 * The blocks are kept in rising order of offset; first fit is a walk over the gaps between them.
 * Tier-0 is the first t0_size bytes of the window, Tier-1 the rest; no block crosses the border.
 *
 * Spec: R-XM-06, R-XM-07, R-XM-10 to R-XM-15, R-XM-47. */
#include "xphmg/xmem/unit.h"
#include "xphmg/xmem/xmem.h"

#include "base/bits.h"
#include "xphmg/hart/memory.h"
#include "xphmg/units/vendor.h"

#include <string.h>

static uint32_t lds_bytes(const struct facet_hart *h)
{
    return (uint32_t)FACET_GET(h->units.config->xmem_params, CAP_XMEM_PARAMS_LDS_KIB) << 10;
}

static uint32_t granule(const struct facet_hart *h)
{
    return UINT32_C(1) << FACET_GET(h->units.config->xmem_params, CAP_XMEM_PARAMS_LDS_GRAN_LOG2);
}

/* Index of the block that starts at the address; block_count when there is none. */
static uint32_t find(const struct facet_xmem *xmem, uint64_t address)
{
    uint32_t i = 0;

    while (i < xmem->block_count && FACET_XLDSBASE_RESET + xmem->blocks[i].offset != address) {
        i++;
    }
    return i;
}

/* First fit in [from, to): the index at which a block of `size` goes in, with its offset. */
static bool fit(const struct facet_xmem *xmem,
                uint32_t from,
                uint32_t to,
                uint64_t size,
                uint32_t *index,
                uint32_t *offset)
{
    uint32_t start = from;

    for (uint32_t i = 0; i <= xmem->block_count; i++) {
        uint32_t end =
            i < xmem->block_count && xmem->blocks[i].offset < to ? xmem->blocks[i].offset : to;

        if (end >= start && end - start >= size) {
            *index = i;
            *offset = start;
            return true;
        }
        if (i < xmem->block_count && xmem->blocks[i].offset + xmem->blocks[i].size > start) {
            start = xmem->blocks[i].offset + xmem->blocks[i].size;
        }
    }
    return false;
}

static void insert(struct facet_xmem *xmem, uint32_t index, const struct facet_lds_block *block)
{
    memmove(&xmem->blocks[index + 1],
            &xmem->blocks[index],
            (xmem->block_count - index) * sizeof *block);
    xmem->blocks[index] = *block;
    xmem->block_count++;
}

static uint64_t used(const struct facet_xmem *xmem, unsigned mclass)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < xmem->block_count; i++) {
        sum += xmem->blocks[i].mclass == mclass ? xmem->blocks[i].size : 0;
    }
    return sum;
}

static uint64_t budget_bytes(const struct facet_hart *h, unsigned mclass)
{
    return (FACET_XMEM_CSR(h, LDS_BUDGET) >> (16 * mclass) & 0xFFFF) << 10;
}

/* DESCPOL = 0 is the default policy, which allows borrowing (R-XM-05). */
static bool may_borrow(const struct facet_hart *h)
{
    uint64_t policy = FACET_XMEM_CSR(h, DESCPOL);

    return policy == 0 || FACET_GET(policy, CAP_XMEM_DESCPOL_HYB_ENABLE) != 0;
}

uint64_t facet_lds_alloc(struct facet_hart *h, const struct facet_lds_request *request)
{
    struct facet_xmem *xmem = h->xmem;
    bool classes = FACET_XMEM_HAS(h, CLASS_PART);
    bool hyb = request->hyb && classes, borrow = hyb && may_borrow(h);
    struct facet_lds_block block = {
        .mclass = classes ? request->mclass : 0, .dom = request->dom, .tier = 1};
    uint32_t index = 0;
    uint64_t limit;

    if (request->size == 0) {
        return 0;
    }
    if (request->size > lds_bytes(h) || xmem->block_count == FACET_MAX_ALLOCATIONS) {
        facet_cap_event(h, FACET_CAP_XMEM_EVENTS_LDS_OOM);
        return 0;
    }
    block.size = (uint32_t)facet_align_up(request->size, granule(h));
    if (classes && (request->t0 || borrow)) {
        block.mclass = FACET_CLASS_SHARED;
    }
    if (FACET_XMEM_HAS(h, SEC_DOM) && request->sec <= 2) {
        block.sec = request->sec;
    }
    if (request->t0 && fit(xmem, 0, xmem->t0_size, block.size, &index, &block.offset)) {
        block.tier = 0;
    } else if (!fit(xmem, xmem->t0_size, lds_bytes(h), block.size, &index, &block.offset)) {
        facet_cap_event(h, FACET_CAP_XMEM_EVENTS_LDS_OOM);
        return 0;
    }
    insert(xmem, index, &block);
    limit = budget_bytes(h, block.mclass);
    if (!borrow && limit != 0 && used(xmem, block.mclass) > limit) {
        facet_cap_event(h, FACET_CAP_XMEM_EVENTS_BUDGET_OVF);
    }
    if (hyb && !borrow) {
        facet_cap_event(h, FACET_CAP_XMEM_EVENTS_HYB_FALLBK);
    }
    facet_hart_unit(
        h,
        "xmem",
        "lds.alloc",
        6,
        (uint64_t[]){block.offset, block.size, block.mclass, block.tier, block.dom, block.sec});
    return FACET_XLDSBASE_RESET + block.offset;
}

bool facet_lds_free(struct facet_hart *h, uint64_t address)
{
    struct facet_xmem *xmem = h->xmem;
    uint32_t i = find(xmem, address);

    if (i == xmem->block_count) {
        return false;
    }
    facet_hart_unit(
        h, "xmem", "lds.free", 2, (uint64_t[]){xmem->blocks[i].offset, xmem->blocks[i].size});
    memmove(&xmem->blocks[i],
            &xmem->blocks[i + 1],
            (xmem->block_count - i - 1) * sizeof xmem->blocks[0]);
    xmem->block_count--;
    return true;
}

/* ---- instructions ------------------------------------------------------------------------------
 */

enum { FLAG_CLASS = 3, FLAG_HYB = 4, FLAG_T0 = 8, FLAG_ZERO = 16 };

static struct facet_trap clear(struct facet_hart *h, uint64_t address, uint64_t size)
{
    struct facet_trap trap = FACET_RETIRED;

    for (uint64_t i = 0; i < size && !trap.taken; i += 8) {
        trap = facet_hart_store(h, address + i, 8, 0);
    }
    return trap;
}

struct facet_trap facet_xmem_alloc(struct facet_hart *h, const struct facet_insn *in)
{
    unsigned flags = (unsigned)facet_insn_field(in, "flags");
    struct facet_lds_request request = {
        .size = h->x[in->rs1],
        .mclass =
            (uint8_t)((flags & FLAG_CLASS) != 0 ? flags & FLAG_CLASS : facet_xmem_active_class(h)),
        .dom = facet_xmem_inline(h).dom,
        .sec = (uint8_t)facet_insn_field(in, "sec"),
        .hyb = (flags & FLAG_HYB) != 0,
        .t0 = (flags & FLAG_T0) != 0,
    };
    uint64_t address = facet_lds_alloc(h, &request);
    struct facet_trap trap = FACET_RETIRED;

    if (address != 0 && (flags & FLAG_ZERO) != 0) {
        trap = clear(h, address, facet_align_up(request.size, granule(h)));
    }
    if (trap.taken) { /* a machine without memory in its LDS window */
        (void)facet_lds_free(h, address);
        return trap;
    }
    facet_hart_set_x(h, in->rd, address);
    return trap;
}

struct facet_trap facet_xmem_free(struct facet_hart *h, const struct facet_insn *in)
{
    uint64_t address = h->x[in->rs1];

    if (address != 0 && !facet_lds_free(h, address)) {
        facet_cap_event(h, FACET_CAP_XMEM_EVENTS_INV_MISS);
    }
    return FACET_RETIRED;
}

struct facet_trap facet_xmem_set_domain(struct facet_hart *h, const struct facet_insn *in)
{
    struct facet_xmem *xmem = h->xmem;
    uint32_t i = find(xmem, h->x[in->rs1]);
    unsigned dom = h->x[in->rs2] & 15;

    if (i == xmem->block_count) {
        facet_cap_event(h, FACET_CAP_XMEM_EVENTS_INV_MISS);
        return FACET_RETIRED;
    }
    dom = facet_xmem_dom_exists(dom) ? dom : FACET_DOM_ALL;
    facet_hart_unit(
        h, "xmem", "lds.domain", 3, (uint64_t[]){xmem->blocks[i].offset, xmem->blocks[i].dom, dom});
    xmem->blocks[i].dom = (uint8_t)dom;
    return FACET_RETIRED;
}

static bool resize_tier0(struct facet_hart *h, uint64_t base, uint64_t size)
{
    struct facet_xmem *xmem = h->xmem;

    if (base != FACET_XLDSBASE_RESET || size > lds_bytes(h) || size % granule(h) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < xmem->block_count; i++) {
        const struct facet_lds_block *block = &xmem->blocks[i];

        if (block->tier == 0 ? block->offset + block->size > size : block->offset < size) {
            return false;
        }
    }
    xmem->t0_size = (uint32_t)size;
    return true;
}

/* Way mask of a class, or the Tier-0 range: R-XM-13. */
struct facet_trap facet_xmem_partition(struct facet_hart *h, const struct facet_insn *in)
{
    uint64_t a = h->x[in->rs1], b = h->x[in->rs2];

    if (FACET_XMEM_HAS(h, CLASS_PART)) {
        uint64_t map = facet_bits_set(FACET_XMEM_CSR(h, CLSMAP), 8 * (a & 3), 8, b);

        (void)facet_vendor_csr_write(h, FACET_CSR_CAP_XMEM_CLSMAP, FACET_CSRRW, map);
    } else if (!resize_tier0(h, a, b)) {
        facet_cap_event(h, FACET_CAP_XMEM_EVENTS_INV_MISS);
        return FACET_RETIRED;
    }
    facet_hart_unit(h, "xmem", "partition", 2, (uint64_t[]){a, b});
    return FACET_RETIRED;
}
