/* XSUBMIT.MTX (gfx-semantics.md 16.6): tickets, checks, jobs against the same work done with
 * MTX.LD and MTX.MUL, errors, and the memory policy of the descriptor. */
#include "xphmg/guest.h"

#include "xphmg/units/vendor.h"

enum {
    DESC = GUEST_DATA,
    MATRIX = GUEST_DATA + 0x1000,
    VIN = GUEST_DATA + 0x2000,
    VOUT = GUEST_DATA + 0x4000,
    DIRECT = GUEST_DATA + 0x6000,
    END = GUEST_CODE + GUEST_RAM_BYTES,
    FP32 = 0x00300000,
    INT8 = 0x02600000,
};

struct desc {
    uint64_t mat, vin, vout;
    uint32_t ld_imm, mul_imm, count, flags;
    uint8_t memctl[24];
};

static struct desc plain(uint32_t shape, uint32_t count)
{
    return (struct desc){MATRIX, VIN, VOUT, shape | 1u << 5 /* row-major */, shape, count, 0, {0}};
}

static void put(struct guest *g, const struct desc *d)
{
    guest_store(g, DESC, 8, d->mat);
    guest_store(g, DESC + 8, 8, d->vin);
    guest_store(g, DESC + 16, 8, d->vout);
    guest_store(g, DESC + 24, 4, d->ld_imm);
    guest_store(g, DESC + 28, 4, d->mul_imm);
    guest_store(g, DESC + 32, 4, d->count);
    guest_store(g, DESC + 36, 4, d->flags);
    CHECK_EQ(facet_mem_poke(g->mem, DESC + 40, d->memctl, 24).fault, FACET_MEM_OK);
    g->hart->x[10] = DESC;
}

static unsigned job_error(const struct guest *g)
{
    return (unsigned)FACET_GET(guest_csr(g, FACET_CSR_MTXSTAT), MTXSTAT_JOB_ERR);
}

static void set_mode(struct guest *g, uint64_t mode)
{
    guest_csrw(g, FACET_CSR_CAP_PREC_MODE, mode | FACET_CAP_PREC_MODE_APPLY0);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
}

static void random_bytes(struct guest *g, uint64_t at, unsigned size)
{
    for (unsigned i = 0; i < size; i += 8) {
        guest_store(g, at + i, 8, harness_random());
    }
}

static bool same(const struct guest *g, uint64_t a, uint64_t b, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        if (guest_load(g, a + i, 1) != guest_load(g, b + i, 1)) {
            return false;
        }
    }
    return true;
}

TEST(tickets_count_accepted_jobs, "")
{
    struct guest *g = guest_make("full");
    struct desc d = plain(5, 1);

    set_mode(g, FP32);
    put(g, &d);
    guest_ok(g, "xsubmit.mtx a1, a0\n xsubmit.mtx a2, a0\n");
    CHECK_EQ(g->hart->x[11], 2ull << 56 | 1);
    CHECK_EQ(g->hart->x[12], 2ull << 56 | 2);
    guest_traps(g, FACET_CAUSE_LOAD_MISALIGNED, "addi a0, a0, 4\n xsubmit.mtx a1, a0\n");
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS), FACET_CAP_XMEM_EVENTS_INV_MISS);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "li a0, 0x%x\n xsubmit.mtx a1, a0\n", END - 32),
             END);
    CHECK_EQ(g->xmem->ticket_mtx, 2); /* trapped submissions use none */
    CHECK_EQ(g->hart->x[11], 2ull << 56 | 1);
    g->hart->x[10] = DESC;
    guest_ok(g, "xsubmit.mtx a1, a0\n xfence.wait a1\n");
    CHECK_EQ(g->hart->x[11], 2ull << 56 | 3);
    guest_configure(g, "mtx_descq", 0);
    g->hart->x[10] = DESC + 1; /* the queue is asked for first */
    CHECK_EQ(guest_traps(g, FACET_CAUSE_UNSUPPORTED, "xsubmit.mtx a1, a0\n"),
             guest_load(g, GUEST_CODE, 4));
    guest_free(g);
}

TEST(a_job_equals_ld_and_mul_on_a_private_bank, "RSV-134 MTX-079")
{
    static const uint8_t shapes[] = {0x5, 0x6, 0x9, 0xA, 0x7, 0xD, 0xF};
    static const struct {
        uint64_t mode;
        unsigned bits; /* per element in memory */
    } formats[] = {{FP32, 32}, {0x80000, 16}, {INT8, 8}, {INT8 | 2ull << 17, 8}};
    struct guest *g = guest_make("full");

    for (unsigned round = 0; round < 400; round++) {
        unsigned f = (unsigned)(harness_random() % 4), shape = shapes[harness_random() % 7];
        unsigned transpose = harness_random() & 1, mad = harness_random() & 1;
        unsigned count = 1 + (unsigned)(harness_random() % 8);
        unsigned rows = (shape >> 2) + 1, columns = (shape & 3) + 1;
        unsigned outputs = transpose ? columns : rows;
        struct desc d = plain(shape, count);
        struct facet_mtx_bank banks[4];
        uint64_t flags, stat;

        set_mode(g, formats[f].mode);
        guest_csrw(g, FACET_CSR_MTXCFG, harness_random() & 1);
        random_bytes(g, MATRIX, 96);
        random_bytes(g, VIN, 256);
        random_bytes(g, VOUT, 256);
        for (unsigned i = 0; i < 256; i += 8) {
            guest_store(g, DIRECT + i, 8, guest_load(g, VOUT + i, 8));
        }
        g->hart->x[10] = MATRIX, g->hart->x[11] = VIN, g->hart->x[12] = DIRECT;
        memset(&g->hart->units.mtx.bank[0], 0, sizeof g->hart->units.mtx.bank[0]);
        if ((guest_csr(g, FACET_CSR_MTXCFG) & 1) != 0) {
            outputs = transpose ? rows : columns;
        }
        guest_ok(g,
                 "mtx.ld a0, shape=%u, rowmajor=1, with_bias=1\n"
                 "mtx.%s a2, a1, shape=%u, transpose=%u, vec_count=%u\n",
                 shape,
                 mad ? "mad" : "mul",
                 shape,
                 transpose,
                 count - 1);
        flags = guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST);
        stat = guest_csr(g, FACET_CSR_CAP_PREC_STAT);
        set_mode(g, formats[f].mode);
        for (unsigned b = 0; b < 4; b++) {
            memset(&g->hart->units.mtx.bank[b], 0x5A, sizeof banks[b]);
        }
        memcpy(banks, g->hart->units.mtx.bank, sizeof banks);
        d.ld_imm |= 1u << 6;
        /* vec_count, stride and sat_hint of mul_imm are ignored */
        d.mul_imm |= transpose << 4 | (uint32_t)(harness_random() & 0x7E0);
        d.flags = mad;
        for (unsigned i = 0; i < 24; i++) { /* hints, class, streams: no result depends on them */
            d.memctl[i] = (uint8_t)harness_random();
        }
        memset(d.memctl + 8, 0, 8); /* no soft pin */
        put(g, &d);
        guest_ok(g, "xsubmit.mtx a1, a0\n");
        CHECK_EQ(job_error(g), 0);
        CHECK_MSG(same(g, VOUT, DIRECT, (outputs * count * formats[f].bits + 7) / 8 + 8),
                  "shape %x transpose %u mad %u format %u count %u",
                  shape,
                  transpose,
                  mad,
                  f,
                  count);
        CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST), flags);
        CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_STAT), stat);
        CHECK(memcmp(banks, g->hart->units.mtx.bank, sizeof banks) == 0);
    }
    /* Jobs do not count as instructions. */
    CHECK_EQ(FACET_GET(guest_csr(g, FACET_CSR_MTXSTAT), MTXSTAT_OPS_ISSUED), 400);
    guest_free(g);
}

TEST(illegal_jobs_touch_nothing, "")
{
    static const struct {
        uint32_t ld_imm, mul_imm, flags;
    } rows[] = {{0x25, 0x5, 2},
                {0x25, 0x5, 0x80000001},
                {0x25 | 1 << 7, 0x5, 0},
                {0x25 | 1 << 12, 0x5, 0},
                {0x25, 0x5 | 1 << 11, 0},
                {0x25, 0x5 | 1u << 31, 0},
                {0x20, 0x5, 0},
                {0x25, 0xB, 0}};
    struct guest *g = guest_make("full");

    set_mode(g, FP32);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct desc d = plain(5, 1);

        d.mat = d.vin = d.vout = 16; /* no access is made, so these do not matter */
        d.ld_imm = rows[i].ld_imm;
        d.mul_imm = rows[i].mul_imm;
        d.flags = rows[i].flags;
        put(g, &d);
        g->hart->units.mtx.stat = 0;
        guest_ok(g, "xsubmit.mtx a1, a0\n");
        CHECK_MSG(job_error(g) == FACET_CAUSE_ILLEGAL, "row %zu: %u", i, job_error(g));
        CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS), 0);
        CHECK_EQ(g->hart->x[11], 2ull << 56 | (i + 1)); /* accepted all the same */
    }
    {
        struct desc d = plain(5, 0);

        guest_configure(g, "mtxcap", FACET_MTXCAP_RESET & ~FACET_MTXCAP_HAS_MAD);
        d.flags = 1;
        put(g, &d);
        guest_ok(g, "xsubmit.mtx a1, a0\n");
        CHECK_EQ(job_error(g), FACET_CAUSE_ILLEGAL);
        guest_configure(g, "mtxcap", FACET_MTXCAP_RESET & ~FACET_MTXCAP_HAS_BIAS);
        d.flags = 0;
        d.ld_imm |= 1u << 6;
        put(g, &d);
        guest_ok(g, "xsubmit.mtx a1, a0\n");
        CHECK_EQ(job_error(g), FACET_CAUSE_ILLEGAL);
    }
    guest_free(g);
}

TEST(a_vector_that_would_trap_stops_the_job, "")
{
    struct guest *g = guest_make("full");
    struct desc d = plain(5, 4);

    set_mode(g, FP32); /* doubling */
    guest_store(g, MATRIX, 8, 0x40000000);
    guest_store(g, MATRIX + 8, 8, 0x40000000ull << 32);
    for (unsigned k = 0; k < 8; k++) {
        guest_store(g, VIN + 4 * k, 4, k == 4 ? 0x7F7FFFFF : 0x3F800000);
        guest_store(g, VOUT + 4 * k, 4, 0x77);
    }
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, FACET_OF);
    put(g, &d);
    guest_ok(g, "xsubmit.mtx a1, a0\n"); /* vector 2 overflows */
    CHECK_EQ(job_error(g), FACET_CAUSE_NUMERIC);
    CHECK_EQ(guest_load(g, VOUT + 12, 4), 0x40000000);
    CHECK_EQ(guest_load(g, VOUT + 16, 4), 0x77);
    CHECK_EQ(guest_load(g, VOUT + 20, 4), 0x77);
    CHECK_EQ(guest_load(g, VOUT + 24, 4), 0x77);
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST), FACET_OF | FACET_NX);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 0);
    /* A pending svon.fpctl is the job's, and spent: SAE lets it run to the end. */
    guest_ok(g, "svon.fpctl rc=RTZ, sae=1\n xsubmit.mtx a1, a0\n");
    CHECK_EQ(guest_load(g, VOUT + 16, 4), 0x7F7FFFFF); /* RTZ */
    CHECK_EQ(guest_load(g, VOUT + 24, 4), 0x40000000);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVSTATE) & FACET_SVSTATE_FPC_V, 0);
    CHECK_EQ(job_error(g), FACET_CAUSE_NUMERIC); /* a good job does not clear it */
    /* EN = 1 does not concern a submission, and is not spent by it. */
    guest_ok(g, "svon.blk 2\n xsubmit.mtx a1, a0\n");
    CHECK_EQ(FACET_GET(guest_csr(g, FACET_CSR_SVSTATE), SVSTATE_BLK), 2);
    guest_ok(g, "svend\n");
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, 0);
    for (unsigned i = 0; i < 5; i++) { /* memory faults of matrix, input, output */
        static const unsigned causes[] = {5, 5, 7, 4, 6};

        d = plain(5, 4);
        d.mat = i == 0 ? END - 8 : i == 3 ? MATRIX + 2 : MATRIX;
        d.vin = i == 1 ? END - 16 : VIN;
        d.vout = i == 2 ? END - 16 : i == 4 ? VOUT + 1 : VOUT;
        put(g, &d);
        guest_csrw(g, FACET_CSR_CAP_XMEM_EVENTS, ~0ull);
        guest_store(g, VOUT, 8, 0x77);
        guest_ok(g, "xsubmit.mtx a1, a0\n");
        CHECK_EQ(job_error(g), causes[i]);
        CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS), FACET_CAP_XMEM_EVENTS_INV_MISS);
        /* two vectors were done in the second case, none where the matrix was bad */
        CHECK_EQ(guest_load(g, VOUT, 4), i == 1 ? 0 : 0x77); /* zeros there */
    }
    guest_free(g);
}

TEST(the_policy_of_the_descriptor_replaces_set_fields_only, "RSV-134 MTX-079")
{
    struct guest *g = guest_make("full");
    struct desc d = plain(5, 1);

    set_mode(g, FP32);
    d.vin = FACET_XLDSBASE_RESET;
    g->xmem->blocks[0] = (struct facet_lds_block){.offset = 0, .size = 64, .dom = 2};
    g->xmem->block_count = 1;
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 3);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, FACET_CAP_XMEM_DESCPOL_STRICT_DOM);
    for (unsigned dom = 0; dom < 16; dom++) { /* 0 and reserved ones leave CAP.XMEM.DOM */
        d.memctl[0] = (uint8_t)dom;
        put(g, &d);
        g->hart->units.mtx.stat = 0;
        guest_ok(g, "xsubmit.mtx a1, a0\n");
        CHECK_MSG(job_error(g) == (dom == 2 || dom == 15 ? 0 : 5), "dom %u: %u", dom, job_error(g));
    }
    guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, 0);
    g->xmem->blocks[0].sec = 2;
    for (unsigned sec = 0; sec < 5; sec++) {
        d.memctl[19] = (uint8_t)sec;
        put(g, &d);
        g->hart->units.mtx.stat = 0;
        guest_csrw(g, FACET_CSR_CAP_XMEM_EVENTS, ~0ull);
        guest_ok(g, "xsubmit.mtx a1, a0\n");
        CHECK_MSG(job_error(g) == (sec == 2 ? 0 : 5), "sec %u: %u", sec, job_error(g));
        CHECK_EQ((guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS) & FACET_CAP_XMEM_EVENTS_SEC_VIOL) != 0,
                 sec != 2);
    }
    /* A soft pin that does not fit is reported and changes nothing. */
    d = plain(5, 1);
    d.memctl[14] = 1;
    put(g, &d);
    guest_csrw(g, FACET_CSR_CAP_XMEM_EVENTS, ~0ull);
    g->hart->units.mtx.stat = 0;
    guest_ok(g, "xsubmit.mtx a1, a0\n");
    CHECK_EQ(job_error(g), 0);
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS), FACET_CAP_XMEM_EVENTS_LDS_OOM);
    CHECK_EQ(g->xmem->block_count, 1);
    guest_free(g);
}
