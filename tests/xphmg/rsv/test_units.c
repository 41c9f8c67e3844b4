/* RSV with the memory unit: banks named by the instruction, gather and scatter, domains,
 * fault-only- first. What XMEM does with a lane is tested with XMEM; here the loop around it. */
#include "xphmg/guest.h"

#include "xphmg/hart/block.h"

enum { BAD = 0x1000 };
#define LDS FACET_XLDSBASE_RESET

static void table(struct guest *g)
{
    for (unsigned i = 0; i < 32; i++) {
        guest_store(g, GUEST_DATA + 8 * i, 8, 0x1000 + i);
    }
}

static void set_bank(struct guest *g, unsigned bank, uint64_t bits)
{
    g->hart->units.pmask.bank[bank] = bits;
    guest_csrw(
        g, FACET_CSR_SVSTATE, FACET_PUT(guest_csr(g, FACET_CSR_SVSTATE), SVSTATE_PBANK, bank));
}

TEST(a_bank_in_the_instruction_goes_before_svstate, "RSV-020")
{
    struct guest *g = guest_make("full");

    table(g);
    set_bank(g, 1, 0x1);
    g->hart->units.pmask.bank[2] = 0xE;
    for (unsigned i = 0; i < 4; i++) {
        g->hart->x[10 + i] = i == 0 ? BAD : GUEST_DATA + 8 * i;
        g->hart->x[20 + i] = 0x99;
    }
    guest_ok(g, "svsetvl x0, 4\n svon.one\n xmem.ldg.d x20, (x10), pbank=2\n");
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(g->hart->x[20 + i], i == 0 ? 0x99 : 0x1000 + i);
    }
    CHECK_EQ(FACET_GET(guest_csr(g, FACET_CSR_SVSTATE), SVSTATE_EN), 0);
    /* XLDS.ATOMS has no such field: bank 1 of SVSTATE. */
    for (unsigned i = 0; i < 4; i++) {
        g->hart->x[10 + i] = LDS;
        g->hart->x[24 + i] = 5;
    }
    guest_store(g, LDS, 8, 1);
    guest_ok(g, "svon.one\n xlds.atoms.add.d x20, (x10), x24\n");
    CHECK_EQ(guest_load(g, LDS, 8), 6);
    guest_free(g);
}

/* Lanes of a gather or scatter by hand: index registers x20.., scale 8. */
TEST(gather_and_scatter_follow_svmem_lane_by_lane, "RSV-008 RSV-132")
{
    struct guest *g = guest_make("full");

    for (unsigned round = 0; round < 50; round++) {
        uint64_t mask = harness_random() & 0xFF;
        unsigned index[8];

        table(g);
        /* EFF_EW = 64 bits (INT32, EW = 64): SVMLEN = 0 means 8 bytes */
        guest_csrw(g, FACET_CSR_CAP_PREC_MODE, 0x8000000000000000 | 5u << 21 | 3u << 19);
        guest_csrw(g, FACET_CSR_CAP_XMEM_SVMBASE, GUEST_DATA);
        guest_csrw(g, FACET_CSR_CAP_XMEM_SVMIDX, 20);
        guest_csrw(g, FACET_CSR_CAP_XMEM_SVMSCL, 3);
        guest_csrw(g, FACET_CSR_CAP_XMEM_SVMLEN, 0);
        g->hart->units.pmask.bank[3] = mask;
        for (unsigned i = 0; i < 8; i++) {
            index[i] = (unsigned)(harness_random() % 32);
            g->hart->x[20 + i] = index[i];
            g->hart->x[8 + i] = 0x99;
        }
        guest_ok(g, "svsetvl x0, 8\n svon.one\n xmem.svm x8, x0, pbank=3\n");
        for (unsigned i = 0; i < 8; i++) {
            CHECK_EQ(g->hart->x[8 + i], (mask >> i & 1) != 0 ? 0x1000 + index[i] : 0x99);
        }
        guest_csrw(g, FACET_CSR_CAP_XMEM_SVMSCL, 3 | FACET_CAP_XMEM_SVMSCL_GS);
        for (unsigned i = 0; i < 8; i++) {
            g->hart->x[8 + i] = 0x2000 + i;
        }
        guest_ok(g, "svon.one\n xmem.svm x0, x8, pbank=3\n");
        for (unsigned e = 0; e < 32; e++) {
            uint64_t expected = 0x1000 + e;

            for (unsigned i = 0; i < 8; i++) { /* the highest lane wins */
                expected = (mask >> i & 1) != 0 && index[i] == e ? 0x2000 + i : expected;
            }
            CHECK_EQ(guest_load(g, GUEST_DATA + 8 * e, 8), expected);
        }
    }
    /* SVMLEN = 0 follows EFF_EW: FP16 containers are two bytes. */
    guest_csrw(g, FACET_CSR_CAP_PREC_MODE, 0x8000000000080000);
    guest_csrw(g, FACET_CSR_CAP_XMEM_SVMSCL, 1);
    guest_store(g, GUEST_DATA, 8, 0x4444333322221111);
    g->hart->x[20] = 2, g->hart->x[21] = 0;
    guest_ok(g, "svsetvl x0, 2\n svon.one\n xmem.svm x8, x0\n");
    CHECK_EQ(g->hart->x[8], 0x3333);
    CHECK_EQ(g->hart->x[9], 0x1111);
    guest_free(g);
}

TEST(fault_only_first_reports_the_same_in_gather_and_mtx, "RSV-133")
{
    struct guest *g = guest_make("full");
    uint64_t gather, mtx;

    guest_csrw(g, FACET_CSR_CAP_XMEM_SVMIDX, 20);
    guest_csrw(g, FACET_CSR_CAP_XMEM_SVMSCL, FACET_CAP_XMEM_SVMSCL_FOF);
    for (unsigned i = 0; i < 4; i++) {
        g->hart->x[20 + i] = i == 2 ? BAD : GUEST_DATA + 64 * i;
        g->hart->x[24 + i] = GUEST_DATA + 0x1000 + 64 * i;
    }
    guest_ok(g, "svsetvl x0, 4\n svon.one\n xmem.svm x8, x0\n");
    gather = guest_csr(g, FACET_CSR_SVFAULTI);
    guest_csrw(g, FACET_CSR_SVFAULTI, 0);
    guest_ok(g, "svon.one\n mtx.mul x24, x20\n");
    mtx = guest_csr(g, FACET_CSR_SVFAULTI);
    CHECK_EQ(gather, 1ull << 63 | 5 << 16 | 2);
    CHECK_EQ(mtx, gather);
    /* Base loads never use it. */
    guest_traps(g, FACET_CAUSE_LOAD_FAULT, "svon.one\n ld x8, 0(x20)\n");
    guest_free(g);
}

TEST(xmem_lanes_obey_the_domain_and_base_lanes_do_not, "RSV-131 RSV-107")
{
    struct guest *g = guest_make("full");

    g->xmem->blocks[0] = (struct facet_lds_block){.offset = 0, .size = 64, .dom = 2};
    g->xmem->block_count = 1;
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 5);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, FACET_CAP_XMEM_DESCPOL_STRICT_DOM);
    for (unsigned i = 0; i < 3; i++) {
        g->hart->x[10 + i] = i == 1 ? LDS + 8 : GUEST_DATA;
    }
    CHECK_EQ(guest_traps(
                 g, FACET_CAUSE_LOAD_FAULT, "svsetvl x0, 3\n svon.one\n xmem.ldg.d x20, (x10)\n"),
             LDS + 8);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 1ull << 63 | 5 << 16 | 1);
    guest_ok(g, "svon.one\n ld x20, 0(x10)\n");
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 2);
    guest_ok(g, "svon.one\n xmem.ldg.d x20, (x10)\n");
    /* Base accesses set no event, XPHMG accesses do (R-XM-42). */
    guest_csrw(g, FACET_CSR_CAP_XMEM_EVENTS, ~0ull);
    g->hart->x[11] = BAD;
    guest_traps(g, FACET_CAUSE_LOAD_FAULT, "svon.one\n ld x20, 0(x10)\n");
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS), 0);
    guest_ok(g, "svend\n");
    guest_traps(g, FACET_CAUSE_LOAD_FAULT, "svon.one\n xmem.ldg.d x20, (x10)\n");
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS), FACET_CAP_XMEM_EVENTS_INV_MISS);
    guest_free(g);
}

TEST(mask_instructions_between_prefix_and_target_spend_nothing, "RSV-098")
{
    struct guest *g = guest_make("full");

    g->hart->x[8] = 7;
    guest_csrw(g, FACET_CSR_SVSTATE, 1ull << FACET_SVSTATE_PBANK_LSB);
    g->hart->x[20] = g->hart->x[21] = g->hart->x[22] = 0;
    g->hart->x[9] = 8, g->hart->x[10] = 9;
    guest_ok(g, "svsetvl x0, 3\n svon.one\n pmset 1\n add x20, x8, x0\n");
    CHECK_EQ(g->hart->x[20], 7);
    CHECK_EQ(g->hart->x[22], 9);
    guest_free(g);
}

/* The block executor knows no lanes: it must hand every instruction under EN = 1 to the plain one,
 * also when a block was decoded and linked while EN was 0. */
TEST(the_block_executor_leaves_lanes_to_the_plain_one, "RSV-061 RSV-097")
{
    static const char text[] = "1: add x20, x8, x9\n addi x21, x20, 1\n mul x22, x20, x8\n"
                               "addi x5, x5, -1\n svon.blk 3\n bnez x5, 1b\n svend\n"
                               "svsetvl x0, 2\n svon.one\n add x24, x8, x9\n add x28, x8, x9\n";
    struct guest *plain = guest_make("full"), *fast = guest_make("full");
    facet_block_cache *cache = NULL;
    struct facet_error err = {0};

    for (unsigned i = 0; i < 2; i++) {
        struct guest *g = i == 0 ? plain : fast;

        guest_ok(g, "svsetvl x0, 3\n");
        for (unsigned r = 1; r < 32; r++) {
            g->hart->x[r] = 3 * r;
        }
        g->hart->x[5] = 6;
        if (i == 0) {
            guest_ok(g, "%s", text);
        } else {
            CHECK_EQ(facet_block_cache_create(g->hart, &cache, &err), FACET_OK);
            for (unsigned at = 0; at < 64; at += 8) {
                guest_store(g, GUEST_CODE + at, 8, guest_load(plain, GUEST_CODE + at, 8));
            }
            g->hart->pc = GUEST_CODE;
            for (unsigned n = 0; n < 1000 && g->hart->pc != plain->hart->pc; n++) {
                (void)facet_block_run(cache, g->hart, 1 + n % 7);
                if (g->hart->pc != plain->hart->pc) {
                    (void)facet_hart_step(g->hart);
                }
            }
            facet_block_cache_destroy(cache);
        }
    }
    CHECK_EQ(fast->hart->pc, plain->hart->pc);
    for (unsigned r = 0; r < 32; r++) {
        CHECK_EQ(fast->hart->x[r], plain->hart->x[r]);
    }
    CHECK_EQ(guest_csr(fast, FACET_CSR_SVSTATE), guest_csr(plain, FACET_CSR_SVSTATE));
    guest_free(plain);
    guest_free(fast);
}
