/* PMASK and XMEM words from random states: whatever is executed, the state stays well-formed, a
 * trap leaves registers, predicates, LDS and memory as they were, and a stall leaves everything. */
#include "xphmg/xmem/xmem_test.h"

#include "isa/isa.h"
#include "isa/isa_rows.h"
#include "xphmg/hart/csr_file.h"
#include "xphmg/units/vendor.h"

#include <stdlib.h>

enum { D = GUEST_DATA, DATA_BYTES = 4096 };

struct picture {
    uint64_t x[32];
    struct facet_pmask pmask;
    struct facet_xmem xmem;
    uint8_t lds[LDS_BYTES], data[DATA_BYTES];
};

static void take(struct guest *g, struct picture *p)
{
    memcpy(p->x, g->hart->x, sizeof p->x);
    p->pmask = g->hart->units.pmask;
    p->xmem = *g->xmem;
    CHECK_EQ(facet_mem_peek(g->mem, LDS, p->lds, LDS_BYTES).fault, FACET_MEM_OK);
    CHECK_EQ(facet_mem_peek(g->mem, D, p->data, DATA_BYTES).fault, FACET_MEM_OK);
}

static bool same(const struct picture *a, const struct picture *b)
{
    return memcmp(a->x, b->x, sizeof a->x) == 0 && a->pmask.p0 == b->pmask.p0 &&
           memcmp(a->pmask.bank, b->pmask.bank, sizeof a->pmask.bank) == 0 &&
           memcmp(&a->xmem, &b->xmem, sizeof a->xmem) == 0 &&
           memcmp(a->lds, b->lds, LDS_BYTES) == 0 && memcmp(a->data, b->data, DATA_BYTES) == 0;
}

/* A register value that instructions like: addresses, lengths, shapes, tickets, masks. */
static uint64_t interesting(void)
{
    uint64_t r = harness_random(), low = r >> 8;

    switch (r % 12) {
    case 0:
        return D + low % DATA_BYTES;
    case 1:
        return D + (low % DATA_BYTES & ~UINT64_C(7));
    case 2:
        return LDS + (low % LDS_BYTES & ~UINT64_C(7));
    case 3:
        return LDS + (low % LDS_BYTES & ~UINT64_C(63));
    case 4:
        return low % 300;
    case 5:
        return low & 15;
    case 6:
        return NOWHERE + low % 64;
    case 7:
        return (low & 1) | (low & 2) << 3 | (low & 12) << 6 | (low >> 8 & 15) << 16 |
               (low >> 16 & 15) << 32; /* a small shape */
    case 8:
        return UINT64_MAX - low % 64;
    case 9:
        return UINT64_C(2) << 56 | (low & 1);
    case 10:
        return (uint64_t)GUEST_CODE + GUEST_RAM_BYTES - low % 64;
    default:
        return r;
    }
}

static void random_state(struct guest *g)
{
    struct facet_hart *h = g->hart;

    for (unsigned i = 1; i < 32; i++) {
        h->x[i] = interesting();
    }
    for (unsigned n = FACET_CSR_CAP_XMEM_L1CFG; n <= FACET_CSR_CAP_XMEM_SVMLIM; n++) {
        uint64_t value = n >= FACET_CSR_CAP_XMEM_SVMBASE ? interesting() : harness_random();

        if (n != FACET_CSR_CAP_XMEM_EVENTS) {
            (void)facet_vendor_csr_write(h, n, FACET_CSRRW, value);
        }
    }
    (void)facet_vendor_csr_write(
        h, FACET_CSR_CAP_PREC_MODE, FACET_CSRRW, harness_random() | UINT64_C(1) << 63);
    (void)facet_vendor_csr_write(
        h, FACET_CSR_CAP_PREC_ALT, FACET_CSRRW, harness_random() | UINT64_C(1) << 63);
    (void)facet_vendor_csr_write(
        h, FACET_CSR_CAP_PREC_EXC_EN, FACET_CSRRW, harness_random() & 0x1F);
    for (unsigned n = FACET_CSR_SVSTATE; n <= FACET_CSR_SVDST; n++) {
        (void)facet_vendor_csr_write(h, n, FACET_CSRRW, harness_random());
    }
    for (unsigned bank = 1; bank < 4; bank++) {
        h->units.pmask.bank[bank] = harness_random();
    }
}

static uint32_t random_word(void)
{
    static const uint16_t last = FACET_XPHMG_XFENCE_PIPE, first = FACET_XPHMG_PMCLR;
    uint64_t r = harness_random();
    const struct facet_insn_row *row =
        &facet_isa_rows[FACET_ISA_XPHMG][first + r % (last - first + 1u)];

    return (r >> 32 & 15) == 0 ? (uint32_t)(r >> 36 << 7) | 0x7B
                               : row->match | ((uint32_t)(r >> 16) & ~row->mask);
}

static void check_blocks(const struct facet_xmem *xmem)
{
    uint32_t at = 0;

    CHECK(xmem->block_count <= FACET_MAX_ALLOCATIONS);
    CHECK(xmem->t0_size <= LDS_BYTES && xmem->t0_size % 64 == 0);
    for (uint32_t i = 0; i < xmem->block_count; i++) {
        const struct facet_lds_block *b = &xmem->blocks[i];

        CHECK(b->offset >= at && b->size > 0);
        CHECK(b->offset % 64 == 0 && b->size % 64 == 0 && b->offset + b->size <= LDS_BYTES);
        CHECK(b->tier == 0 ? b->offset + b->size <= xmem->t0_size : b->offset >= xmem->t0_size);
        CHECK(b->mclass < 4 && b->sec < 3 && ((b->dom >= 1 && b->dom <= 6) || b->dom == 15));
        at = b->offset + b->size;
    }
}

static void check_state(const struct guest *g)
{
    const struct facet_hart *h = g->hart;

    CHECK_EQ(h->x[0], 0);
    CHECK_EQ(h->units.pmask.bank[0], 0);
    check_blocks(g->xmem);
    CHECK(g->xmem->lock_count <= (g->config.xmem_params >> 40 & 0xFF));
    for (unsigned n = FACET_CSR_CAP_XMEM_L1CFG; n <= FACET_CSR_CAP_XMEM_SVMLIM; n++) {
        const struct facet_csr_row *row = facet_csr_at(FACET_ISA_XPHMG, n);
        unsigned count;
        const uint64_t *word = facet_hart_csr_stored(&h->units, row, &count);

        CHECK(word == NULL || facet_hart_csr_holds(&g->config, row, *word));
    }
    CHECK(facet_hart_csr_holds(
        &g->config, facet_csr_at(FACET_ISA_XPHMG, FACET_CSR_SVSTATE), h->units.rsv.svstate));
}

static void one_word(struct guest *g, struct picture *before, struct picture *after)
{
    struct facet_hart *h = g->hart;
    uint32_t word = random_word();
    uint64_t retired;
    struct facet_trap trap;

    random_state(g);
    guest_store(g, GUEST_CODE, 4, word);
    h->pc = GUEST_CODE;
    h->waiting = h->stalled = false;
    retired = h->retired;
    take(g, before);
    trap = facet_hart_step(h);
    take(g, after);
    if (trap.taken) {
        CHECK_MSG(same(before, after), "0x%08x trapped with %u and left traces", word, trap.cause);
        CHECK_EQ(h->mepc, GUEST_CODE);
        CHECK_EQ(h->retired, retired);
        CHECK(trap.cause == 2 || (trap.cause >= 4 && trap.cause <= 7) || trap.cause == 24 ||
              trap.cause == 25);
        CHECK((trap.cause != 2 && trap.cause != 25) || trap.tval == word);
    } else if (h->stalled) {
        CHECK(same(before, after));
        CHECK_EQ(h->pc, GUEST_CODE);
        CHECK_EQ(h->retired, retired);
    } else {
        CHECK_EQ(h->retired, retired + 1);
    }
    check_state(g);
}

TEST(random_words_leave_a_well_formed_state, "")
{
    static const struct {
        const char *config;
        uint64_t cap;
    } machines[] = {{"full", 0x1FFF}, {"min", 0x0001}, {"full", 0x1DFF}, {"full", 0x16D6 | 1}};
    unsigned words = harness_long() ? 250000 : 6000;
    struct picture *before = malloc(sizeof *before), *after = malloc(sizeof *after);

    if (!CHECK(before != NULL && after != NULL)) {
        return;
    }
    for (unsigned m = 0; m < 4; m++) {
        struct guest *g = guest_make(machines[m].config);

        guest_configure(g, "xmem_cap", machines[m].cap);
        for (unsigned i = 0; i < words && !harness_failed(); i++) {
            one_word(g, before, after);
        }
        guest_free(g);
    }
    free(before);
    free(after);
}
