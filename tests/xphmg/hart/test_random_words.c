/* Random instruction words from random states: whatever a program does, the hart neither crashes
 * nor hangs, and its state stays one that a program can reach. 10^6 words here, 10^7 under `make
 * test-long`; sanitizers watch when the build has them. */
#include "xphmg/guest.h"

#include "isa/isa.h"
#include "machine/state.h"
#include "xphmg/units/vendor.h"

#include <stdlib.h>

enum {
    DEVICE = 0x20000000,
    DEVICE_BYTES = 0x1000,
    STEPS_PER_STATE = 50,
};
#define LDS FACET_XLDSBASE_RESET

static unsigned below(unsigned n)
{
    return (unsigned)(harness_random() % n);
}

/* A device that refuses every fourth word, so that faults appear after a successful probe. */
static bool device_read(void *context, uint64_t offset, unsigned size, uint64_t *value)
{
    (void)context, (void)size;
    *value = offset * 0x0101010101010101;
    return (offset >> 3 & 3) != 3;
}

static bool device_write(void *context, uint64_t offset, unsigned size, uint64_t value)
{
    (void)context, (void)size, (void)value;
    return (offset >> 3 & 3) != 3;
}

/* ---- random states ----------------------------------------------------------------------------
 */

static uint64_t random_value(void)
{
    static const uint64_t corners[] = {0,
                                       1,
                                       UINT64_MAX,
                                       INT64_MAX,
                                       UINT64_C(1) << 63,
                                       0xFFFFFFFF7FC00000,
                                       0xFFFFFFFF7F800001,
                                       0xFFFFFFFF00000001,
                                       0xFFFFFFFFFFFF7C00,
                                       GUEST_CODE + GUEST_RAM_BYTES - 4};

    switch (below(9)) {
    case 0:
        return harness_random();
    case 1:
        return corners[below(10)];
    case 2: /* a small count */
        return below(300);
    case 3:
    case 4: /* an address in RAM, mostly aligned */
        return GUEST_DATA + (harness_random() % 0x8000 & ~(uint64_t)(below(8) ? 63 : 0));
    case 5:
        return LDS +
               (harness_random() % (FACET_XLDSSIZE_RESET + 64) & ~(uint64_t)(below(4) ? 63 : 0));
    case 6:
        return DEVICE + (harness_random() % DEVICE_BYTES & ~(uint64_t)7);
    case 7: /* boxed */
        return harness_random() | ~UINT64_C(0) << (below(2) ? 32 : 16);
    default:
        return (uint64_t)(int64_t)(int16_t)harness_random();
    }
}

/* A number that exists, vendor ones preferred. */
static unsigned random_csr(void)
{
    for (;;) {
        unsigned number = below(4) == 0   ? below(4096)
                          : below(3) == 0 ? 0x300 + below(0x50)
                          : below(2)      ? 0x7C0 + below(0x40)
                                          : 0x800 + below(0x50);

        if (below(20) == 0 || facet_csr_at(FACET_ISA_XPHMG, number) != NULL) {
            return number;
        }
    }
}

static void random_state(struct guest *g)
{
    struct facet_hart *h = g->hart;

    for (unsigned r = 1; r < 32; r++) {
        h->x[r] = random_value();
    }
    for (unsigned r = 0; r < 32; r++) {
        h->f[r] = random_value();
    }
    for (unsigned i = 0; i < 16; i++) { /* through the doors that csr* instructions use */
        unsigned number = random_csr();
        struct facet_insn in = facet_insn_decode(number << 20 | 0x1073); /* csrrw */
        uint64_t old;

        (void)facet_hart_csr_access(
            h, &in, random_value() | (below(2) ? UINT64_C(1) << 63 : 0), true, &old);
    }
    for (unsigned i = 0; i < 64; i++) {
        guest_store(g, GUEST_DATA + 8 * (uint64_t)below(0x1000), 8, random_value());
    }
    h->priv = below(4) == 0 ? FACET_PRIV_U : FACET_PRIV_M;
    h->fs = below(8) == 0 ? FACET_FS_OFF : FACET_FS_DIRTY;
    h->mip = below(50) == 0 ? harness_random() & 0x888 : 0;
}

/* A word of a random row, sometimes with a bit turned, sometimes just bits. */
static uint32_t random_word(void)
{
    const struct facet_insn_row *row;
    uint32_t word;

    if (below(10) == 0) {
        return (uint32_t)harness_random();
    }
    do { /* half of the words are the vendor's */
        row = &facet_isa_rows[FACET_ISA_XPHMG][below(FACET_XPHMG_OP_COUNT)];
    } while (below(2) == 0 && strcmp(row->file, "rv64.insn.tsv") == 0);
    word = (row->match & row->mask) | ((uint32_t)harness_random() & ~row->mask);
    if (row->id >= FACET_XPHMG_CSRRW && row->id <= FACET_XPHMG_CSRRCI) {
        word = (word & 0xFFFFF) | random_csr() << 20;
    }
    return below(20) == 0 ? word ^ 1u << below(32) : word;
}

/* ---- what every state must fulfil -------------------------------------------------------------
 */

static bool lds_is_well_formed(const struct facet_xmem *xmem)
{
    uint32_t end = 0;

    if (xmem->block_count > FACET_MAX_ALLOCATIONS || xmem->lock_count > FACET_MAX_LOCKS) {
        return false;
    }
    for (uint32_t i = 0; i < xmem->block_count; i++) {
        const struct facet_lds_block *b = &xmem->blocks[i];

        if (b->offset < end || b->offset % 64 != 0 || b->size == 0 || b->mclass > 3 || b->sec > 2 ||
            b->offset + b->size > FACET_XLDSSIZE_RESET) {
            return false;
        }
        end = b->offset + b->size;
    }
    return true;
}

static const char *what_is_wrong(const struct guest *g)
{
    const struct facet_hart *h = g->hart;
    const struct facet_units *u = &h->units;
    const struct facet_prec *prec = &u->cap.prec;
    uint64_t state = u->rsv.svstate, mode = prec->image[FACET_PREC_MODE];
    unsigned banks = facet_xphmg_config_banks(u->config);
    bool unused = false;

#define DEMAND(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            return #condition;                                                                     \
        }                                                                                          \
    } while (0)
    DEMAND(h->x[0] == 0);
    DEMAND(h->priv == FACET_PRIV_U || h->priv == FACET_PRIV_M);
    DEMAND(h->frm <= 7 && h->fflags <= 0x1F && h->fs <= FACET_FS_DIRTY);
    DEMAND((h->mstatus >> FACET_MSTATUS_MPP_LSB & 3) % 3 == 0);
    DEMAND((h->mepc & 1) == 0 && (h->mtvec & 2) == 0);
    DEMAND((state & ~FACET_SVSTATE_WRITABLE) == 0);
    DEMAND(FACET_GET(state, SVSTATE_VLM1) < FACET_VLMAX);
    DEMAND(FACET_GET(state, SVSTATE_PBANK) == 0 || FACET_GET(state, SVSTATE_PBANK) < banks);
    DEMAND(FACET_GET(state, SVSTATE_SSTEP) <= 3 && FACET_GET(state, SVSTATE_DSTEP) <= 3);
    DEMAND(((u->rsv.svsrca | u->rsv.svsrcb | u->rsv.svdst) & ~FACET_SVDST_WRITABLE) == 0);
    DEMAND((u->rsv.svfaulti & ~FACET_SVFAULTI_WRITABLE) == 0);
    DEMAND(u->pmask.bank[0] == 0);
    for (unsigned b = banks > 0 ? banks : 1; b < FACET_BANKS; b++) {
        DEMAND(u->pmask.bank[b] == 0);
    }
    DEMAND(facet_prec_legal_mode(mode, &unused) == mode);
    DEMAND(facet_prec_legal_alt(prec->image[FACET_PREC_ALT], &unused) ==
           prec->image[FACET_PREC_ALT]);
    DEMAND(!unused);
    DEMAND((prec->exc_en & ~UINT64_C(0x1F)) == 0 && (prec->exc_st & ~UINT64_C(0x7F)) == 0);
    DEMAND((prec->stat & (7 | ~UINT64_C(0xFFFFFFFF))) == 0);
    DEMAND((u->mtx.cfg & ~FACET_MTXCFG_WRITABLE) == 0 &&
           (u->mtx.sel & ~FACET_MTXSEL_WRITABLE) == 0);
    DEMAND(lds_is_well_formed(g->xmem));
#undef DEMAND
    return NULL;
}

/* A snapshot of the units loads again: the loader refuses what no program can reach. */
static bool survives_a_snapshot(const struct guest *g, struct facet_error *err)
{
    struct facet_strbuf bytes = {0};
    struct facet_state_io io = facet_state_saver(&bytes);
    struct facet_units units = g->hart->units, loaded = {.config = g->hart->units.config};
    struct facet_xmem *xmem = malloc(sizeof *xmem);
    bool ok;

    *xmem = *g->xmem;
    facet_units_visit(&units, &io);
    facet_xmem_visit(xmem, &io);
    ok = facet_state_done(&io);
    io = facet_state_loader(bytes.text, bytes.length, 0, err);
    facet_units_visit(&loaded, &io);
    facet_xmem_visit(xmem, &io);
    ok = ok && facet_state_done(&io);
    facet_strbuf_free(&bytes);
    free(xmem);
    return ok;
}

static void run(const char *config, unsigned words)
{
    struct facet_mem_device device = {.read = device_read, .write = device_write};
    struct guest *g = guest_make(config);
    struct facet_error err = {0};

    CHECK_EQ(facet_mem_add_device(g->mem, "device", DEVICE, DEVICE_BYTES, &device, &err), FACET_OK);
    for (unsigned n = 0; n < words && !harness_failed(); n++) {
        uint32_t word = random_word();
        uint64_t retired;
        const char *wrong;

        if (n % (40 * STEPS_PER_STATE) == 0) {
            guest_reset(g);
        }
        if (n % STEPS_PER_STATE == 0) {
            random_state(g);
        }
        retired = g->hart->retired;
        guest_store(g, GUEST_CODE, 4, word);
        g->hart->pc = GUEST_CODE;
        g->hart->waiting = false;
        (void)facet_hart_step(g->hart);
        CHECK(g->hart->retired - retired <= 1);
        wrong = what_is_wrong(g);
        CHECK_MSG(wrong == NULL, "%s: word %08x of step %u: %s", config, word, n, wrong);
        if (n % STEPS_PER_STATE == STEPS_PER_STATE - 1) {
            CHECK_MSG(survives_a_snapshot(g, &err), "%s: step %u: %s", config, n, err.message);
        }
    }
    guest_free(g);
}

TEST(random_words_leave_a_well_formed_machine, "")
{
    unsigned words = harness_long() ? 10000000 : 1000000;

    run("full", words / 2);
    run("min", words / 4);
    run("prof", words / 4);
}
