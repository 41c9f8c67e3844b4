/* The lane loop against a second formulation of rt-semantics.md 2.3 to 2.6: every lane is one
 * scalar instruction, executed by the plain executor on a copy of the hart whose register fields
 * name the lane's registers. The copy's memory is a second one, so that stores and AMOs can be
 * compared byte by byte. */
#include "xphmg/guest.h"

#include "xphmg/units/vendor.h"

#include <stdio.h>

enum { SPAN = 256 }; /* bytes of DATA that the instructions may touch */

struct pair {
    struct guest *tested, *model;
};

/* What rt-semantics.md 2.4 expects of one instruction. */
struct expectation {
    struct facet_trap trap;
    unsigned lane; /* of the trap */
    uint64_t x[32], f[32];
    unsigned flags; /* OR over the lanes, numeric instructions only */
    bool writes_f;
};

static unsigned below(unsigned n)
{
    return (unsigned)(harness_random() % n);
}

/* 2.3: written down again, from the formula. */
static unsigned lane_register(
    const struct facet_hart *h, uint64_t csr, bool source, unsigned field, bool is_x, unsigned lane)
{
    static const int step[] = {0, 1, 2, 4};
    uint64_t state = h->units.rsv.svstate;
    bool v = csr >> 63 != 0;
    int base = v ? (int)(csr & 31) : (int)field, inc;

    if (!v && is_x && field == 0) {
        return 0;
    }
    if ((state >> 27 & 1) != 0) {
        inc = step[source ? state >> 28 & 3 : state >> 31 & 3];
    } else {
        inc = v ? (int8_t)(csr >> 8) : 1;
    }
    return (unsigned)(((base + (int)lane * inc) % 32 + 32) % 32);
}

/* Files of the operands, from the opcode and funct7 of the word that the base row stands for. */
struct files {
    bool rd_f, rs1_f, rs2_f;
};

static struct files files_of(const struct facet_insn *in)
{
    uint32_t word = facet_isa_rows[FACET_ISA_XPHMG][in->row].match;
    struct files files = {0};

    switch (word & 0x7F) {
    case 0x07: /* LOAD-FP */
        files.rd_f = true;
        break;
    case 0x27: /* STORE-FP */
        files.rs2_f = true;
        break;
    case 0x43: /* fused multiply-add */
    case 0x47:
    case 0x4B:
    case 0x4F:
        files = (struct files){true, true, true};
        break;
    case 0x53: {
        unsigned funct5 = word >> 27;

        files.rs2_f = true;
        files.rd_f = !(funct5 == 0x14 || funct5 == 0x18 || funct5 == 0x1C);
        files.rs1_f = !(funct5 == 0x1A || funct5 == 0x1E);
        break;
    }
    default:
        break;
    }
    return files;
}

static bool is_numeric(const struct facet_insn *in)
{
    uint32_t word = facet_isa_rows[FACET_ISA_XPHMG][in->row].match;
    unsigned opcode = word & 0x7F, funct5 = word >> 27;

    if (opcode >= 0x43 && opcode <= 0x4F) {
        return (opcode & 3) == 3;
    }
    /* FSGNJ 00100, FMV.X and FCLASS 11100, FMV.F.X 11110 */
    return opcode == 0x53 && funct5 != 0x04 && funct5 != 0x1C && funct5 != 0x1E;
}

/* Format of an FP operand: 16, 32 or 64 bits. */
static unsigned format_bits(unsigned code)
{
    return code == 0 ? 32 : code == 1 ? 64 : 16;
}

static unsigned result_bits(const struct facet_insn *in)
{
    uint32_t word = facet_isa_rows[FACET_ISA_XPHMG][in->row].match;

    if ((word & 0x7F) == 0x07) {
        return 8u << (word >> 12 & 7);
    }
    return format_bits(word >> 25 & 3);
}

/* FCVT between formats has the source's code in the rs2 field. */
static unsigned source_bits(const struct facet_insn *in)
{
    uint32_t word = facet_isa_rows[FACET_ISA_XPHMG][in->row].match;

    return (word & 0x7F) == 0x53 && word >> 27 == 0x08 ? format_bits(word >> 20 & 3)
                                                       : result_bits(in);
}

static uint64_t ones(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* Fields of FP16 and FP32 codes. */
static uint64_t sign_of(unsigned bits)
{
    return UINT64_C(1) << (bits - 1);
}

static uint64_t infinity_of(unsigned bits)
{
    return bits == 32 ? 0x7F800000 : 0x7C00;
}

static uint64_t quiet_of(unsigned bits)
{
    return bits == 32 ? 0x00400000 : 0x0200;
}

static uint64_t nan_of(unsigned bits)
{
    return infinity_of(bits) | quiet_of(bits);
}

static bool is_subnormal(unsigned bits, uint64_t code)
{
    uint64_t magnitude = code & (sign_of(bits) - 1), hidden = quiet_of(bits) << 1;

    return magnitude != 0 && magnitude < hidden;
}

/* numeric.md 9 *widen* inside one format, on a boxed register. */
static uint64_t widened(unsigned bits, uint64_t reg, bool ftz, unsigned *flags)
{
    uint64_t code = (reg | ones(bits)) == UINT64_MAX ? reg & ones(bits) : nan_of(bits);

    if ((code & (sign_of(bits) - 1)) > infinity_of(bits)) {
        *flags |= (code & quiet_of(bits)) != 0 ? FACET_QNAN : FACET_SNAN | FACET_NV;
        code = nan_of(bits);
    } else if (ftz && is_subnormal(bits, code)) {
        *flags |= FACET_FTZ;
        code &= sign_of(bits);
    }
    return code | ~ones(bits);
}

/* numeric.md 9 *narrow*, on what the scalar instruction computed with the flags `own`: flushing is
 * what UF or a subnormal result tells. `converts`: the scalar result is the rounding itself. */
static uint64_t narrowed(const struct facet_eff *eff,
                         unsigned bits,
                         uint64_t reg,
                         bool converts,
                         bool from_infinity,
                         unsigned own,
                         unsigned *flags)
{
    uint64_t code = reg & ones(bits), magnitude = code & (sign_of(bits) - 1);
    uint64_t largest = infinity_of(bits) - 1;

    if (magnitude > infinity_of(bits)) {
        *flags |= own | FACET_QNAN;
        code = eff->nan_pol == 1 ? 0 : eff->nan_pol == 2 ? infinity_of(bits) : nan_of(bits);
        return code | ~ones(bits);
    }
    if (eff->ftz && (is_subnormal(bits, code) || (own & FACET_UF) != 0)) {
        *flags |= own | FACET_FTZ | FACET_UF | FACET_NX;
        return (code & sign_of(bits)) | ~ones(bits);
    }
    if (converts && eff->sat && (own & FACET_OF) != 0) {
        *flags |= FACET_SAT; /* in place of OF and NX */
        return (code & sign_of(bits)) | largest | ~ones(bits);
    }
    *flags |= own;
    if (magnitude == infinity_of(bits) && eff->sat && !eff->sat_mode &&
        (!converts || from_infinity)) {
        *flags |= FACET_SAT;
        code = (code & sign_of(bits)) | largest;
    }
    return code | ~ones(bits);
}

/* One numeric lane: the scalar instruction on widened sources, its result narrowed. */
static uint64_t numeric_lane(const struct facet_hart *start,
                             const struct facet_insn *scalar,
                             const struct facet_eff *eff,
                             unsigned rm,
                             unsigned *flags)
{
    struct facet_hart h = *start;
    struct facet_insn in = *scalar;
    struct files files = files_of(scalar);
    unsigned from = source_bits(scalar), to = result_bits(scalar);
    bool plain = from == 64 || (files.rd_f && to == 64);
    bool from_infinity = false;
    uint64_t result;

    in.rm = (uint8_t)rm;
    if (!plain && files.rs1_f) {
        /* registers 1, 2, 3 stand for the sources: they may name one register */
        uint32_t row = facet_isa_rows[FACET_ISA_XPHMG][in.row].match;
        unsigned funct5 = row >> 27;
        bool fused = (row & 0x7F) != 0x53;
        bool one_source = !fused && (funct5 == 0x0B || funct5 == 0x08 || funct5 == 0x18);

        h.f[1] = widened(from, start->f[in.rs1], eff->ftz, flags);
        in.rs1 = 1;
        if (!one_source) {
            h.f[2] = widened(from, start->f[in.rs2], eff->ftz, flags);
            in.rs2 = 2;
        }
        if (fused) {
            h.f[3] = widened(from, start->f[in.rs3], eff->ftz, flags);
            in.rs3 = 3;
        }
        from_infinity = (h.f[1] & (sign_of(from) - 1)) == infinity_of(from);
    }
    h.fflags = 0;
    CHECK(!facet_hart_execute(&h, &in).taken);
    if (!files.rd_f || plain) {
        *flags |= h.fflags;
        return files.rd_f ? h.f[in.rd] : h.x[in.rd];
    }
    result = h.f[in.rd];
    if (from == 32 && to == 16 && files.rs1_f) {
        *flags |= FACET_DOWN;
    }
    return narrowed(eff, to, result, files.rs1_f && from != to, from_infinity, h.fflags, flags);
}

static struct expectation expect(struct pair *p, const struct facet_insn *in)
{
    struct facet_hart *h = p->model->hart;
    struct facet_eff eff = facet_prec_eff(&h->units.cap.prec);
    const struct facet_hart start = *h;
    uint64_t state = h->units.rsv.svstate;
    unsigned vl = (unsigned)(state & 0xFF) + 1, bank = (unsigned)(state >> 10 & 3);
    uint32_t match = facet_isa_rows[FACET_ISA_XPHMG][in->row].match;
    bool memory = (match & 0x7F) == 0x2F || (match & 0x5F) == 0x03 || (match & 0x5F) == 0x07;
    struct files files = files_of(in);
    struct expectation e = {0};
    unsigned hits_lane = 64, hits = 0, rm = in->rm, trap_lane = 64;
    bool store = (match & 0x7F) == 0x23 || (match & 0x7F) == 0x27;
    uint64_t mask = bank == 0 ? UINT64_MAX : h->units.pmask.bank[bank];

    memory |= store;
    if ((state >> 21 & 1) != 0) {
        unsigned rc = (unsigned)(state >> 22 & 7);

        eff.sae = (state >> 25 & 1) != 0;
        eff.zmode = (state >> 26 & 1) != 0;
        if (rc <= 4) {
            eff.rm = (uint8_t)rc;
            rm = rc;
        }
    }
    rm = rm > 4 ? eff.rm : rm;
    memcpy(e.x, start.x, sizeof e.x);
    memcpy(e.f, start.f, sizeof e.f);

    /* Which lane faults first: addresses alone decide. */
    for (unsigned i = 0; memory && i < vl && trap_lane == 64; i++) {
        unsigned size = 1u << (match >> 12 & 3);
        bool amo = (match & 0x7F) == 0x2F;
        uint64_t address =
            start.x[lane_register(&start, start.units.rsv.svsrca, true, in->rs1, true, i)] +
            (amo ? 0 : (uint64_t)in->imm);
        uint64_t first_bad = 0;
        bool bad = false;

        if ((mask >> i & 1) == 0) {
            continue;
        }
        for (unsigned b = 0; b < size && !bad; b++) {
            uint8_t byte;

            bad = facet_mem_peek(p->model->mem, address + b, &byte, 1).fault != FACET_MEM_OK;
            first_bad = address + b;
        }
        if (amo && address % size != 0) {
            e.trap = facet_hart_trap_make(FACET_CAUSE_STORE_MISALIGNED, address);
        } else if (bad) {
            e.trap = facet_hart_trap_make(
                amo || store ? FACET_CAUSE_STORE_FAULT : FACET_CAUSE_LOAD_FAULT, first_bad);
        }
        trap_lane = e.trap.taken ? i : 64;
    }
    e.lane = trap_lane;
    if (e.trap.taken) {
        return e;
    }
    for (unsigned i = 0; i < vl; i++) {
        unsigned rd = lane_register(&start, start.units.rsv.svdst, false, in->rd, !files.rd_f, i);
        struct facet_insn scalar = *in;
        struct facet_hart lane = start;
        uint64_t result;
        unsigned flags = 0;

        if ((mask >> i & 1) == 0) {
            if (eff.zmode && !store) {
                if (files.rd_f) {
                    e.f[rd] = ~ones(result_bits(in));
                    e.writes_f = true;
                } else if (rd != 0) {
                    e.x[rd] = 0;
                }
            }
            continue;
        }
        scalar.rd = files.rd_f ? 0 : 31; /* any register: only its value is looked at */
        scalar.rs1 =
            (uint8_t)lane_register(&start, start.units.rsv.svsrca, true, in->rs1, !files.rs1_f, i);
        scalar.rs2 =
            (uint8_t)lane_register(&start, start.units.rsv.svsrcb, true, in->rs2, !files.rs2_f, i);
        { /* rs3: its field as base, the increment of rd */
            uint64_t csr = start.units.rsv.svdst & ~UINT64_C(31);

            scalar.rs3 = (uint8_t)lane_register(&start, csr | in->rs3, false, in->rs3, false, i);
        }
        if (is_numeric(in)) {
            result = numeric_lane(&start, &scalar, &eff, rm, &flags);
        } else {
            CHECK(!facet_hart_execute(&lane, &scalar).taken);
            result = files.rd_f ? lane.f[0] : lane.x[31];
        }
        e.flags |= flags;
        if (!eff.sae && (flags & start.units.cap.prec.exc_en & 0x1F) != 0 && hits_lane == 64) {
            hits_lane = i;
            hits = flags & (unsigned)start.units.cap.prec.exc_en & 0x1F;
        }
        if (store) {
            continue;
        }
        if (files.rd_f) {
            e.f[rd] = result;
            e.writes_f = true;
        } else if (rd != 0) {
            e.x[rd] = result;
        }
    }
    if (hits_lane < 64) {
        e.trap = facet_hart_trap_make(FACET_CAUSE_NUMERIC, hits | (uint64_t)hits_lane << 8);
        e.lane = hits_lane;
        memcpy(e.x, start.x, sizeof e.x);
        memcpy(e.f, start.f, sizeof e.f);
        e.writes_f = false;
    }
    return e;
}

/* Interesting register contents: numbers of all formats, boxed and not, and addresses. */
static uint64_t random_value(void)
{
    static const uint32_t special32[] = {0,
                                         0x80000000,
                                         0x7F800000,
                                         0xFF800000,
                                         0x7FC00000,
                                         0x7F800001,
                                         0x00000001,
                                         0x007FFFFF,
                                         0x00800000,
                                         0x7F7FFFFF,
                                         0x3F800000,
                                         0x80000003};
    static const uint16_t special16[] = {
        0, 0x8000, 0x7C00, 0xFC00, 0x7E00, 0x7C01, 0x0001, 0x03FF, 0x0400, 0x7BFF, 0x3C00, 0x8003};

    switch (below(8)) {
    case 0:
        return harness_random();
    case 1:
        return ~UINT64_C(0) << 32 | special32[below(12)];
    case 2:
        return ~UINT64_C(0) << 16 | special16[below(12)];
    case 3:
        return ~UINT64_C(0) << 32 | (uint32_t)harness_random();
    case 4:
        return ~UINT64_C(0) << 16 | (uint16_t)harness_random();
    case 5: /* near one, so that sums cancel and products stay inside */
        return ~UINT64_C(0) << 32 | 0x3F000000 | (harness_random() & 0x81FFFFFF);
    case 6: /* tiny and huge */
        return ~UINT64_C(0) << 32 | (below(2) ? 0x00800000 : 0x7E800000) |
               (harness_random() & 0x80FFFFFF);
    default:
        return (uint64_t)(int64_t)(int8_t)harness_random();
    }
}

static uint64_t random_window(void)
{
    static const uint8_t strides[] = {0, 1, 1, 2, 3, 4, 7, 0xFF, 0xFE, 0x80, 31, 32};

    if (below(3) == 0) {
        return harness_random() & FACET_SVDST_WRITABLE & ~FACET_SVDST_V;
    }
    return FACET_SVDST_V | (uint64_t)strides[below(12)] << 8 | below(32);
}

static void random_state(struct pair *p, bool addresses)
{
    struct facet_hart *h = p->tested->hart;
    struct facet_rsv *rsv = &h->units.rsv;
    uint64_t mode = harness_random() & UINT64_C(0x0000000F78010008); /* rm NAN_POL FTZ SAT SAE */
    uint64_t state;

    for (unsigned r = 1; r < 32; r++) {
        h->x[r] = random_value();
        h->f[r] = random_value();
        if (addresses) { /* mostly inside the data, sometimes unaligned, seldom outside */
            h->x[r] = GUEST_DATA + (harness_random() % SPAN & ~(uint64_t)(below(4) ? 7 : 0));
            h->x[r] = below(200) == 0 ? 0x1000 + r : h->x[r];
        }
    }
    h->f[0] = random_value();
    for (unsigned b = 1; b < FACET_BANKS; b++) {
        h->units.pmask.bank[b] = harness_random() | (below(2) ? harness_random() : 0);
    }
    rsv->svsrca = random_window();
    rsv->svsrcb = random_window();
    rsv->svdst = random_window();
    rsv->svfaulti = harness_random() & FACET_SVFAULTI_WRITABLE;
    state = FACET_SVSTATE_EN | (uint64_t)(below(4) ? below(8) : below(64)) |
            (uint64_t)below(4) << FACET_SVSTATE_PBANK_LSB;
    switch (below(3)) {
    case 0:
        state |= FACET_SVSTATE_ONE_SHOT;
        break;
    case 1:
        state |= (uint64_t)(1 + below(256)) << FACET_SVSTATE_BLK_LSB;
        break;
    default: /* open */
        break;
    }
    if (below(3) == 0) {
        state |= FACET_SVSTATE_STEPV | (uint64_t)below(4) << FACET_SVSTATE_SSTEP_LSB |
                 (uint64_t)below(4) << FACET_SVSTATE_DSTEP_LSB;
    }
    if (below(3) == 0) {
        state |= FACET_SVSTATE_FPC_V |
                 (harness_random() &
                  (FACET_SVSTATE_FPC_RC | FACET_SVSTATE_FPC_SAE | FACET_SVSTATE_FPC_Z));
    }
    rsv->svstate = state;
    h->units.cap.prec.exc_en = below(3) == 0 ? below(32) : 0;
    h->units.cap.prec.exc_st = 0;
    (void)facet_prec_write(
        &h->units.cap.prec, FACET_PREC_MODE, FACET_CSRRW, mode | 0x80000 | UINT64_C(1) << 63);
    h->frm = (uint8_t)below(8);
    h->fflags = (uint8_t)below(32);
    h->fs = FACET_FS_CLEAN;
    h->pc = GUEST_CODE;
    p->model->hart->units = h->units;
    p->model->hart->units.config = &p->model->config;
    memcpy(p->model->hart->x, h->x, sizeof h->x);
    memcpy(p->model->hart->f, h->f, sizeof h->f);
    p->model->hart->pc = h->pc;
    p->model->hart->frm = 0; /* the model resolves rounding itself */
    p->model->hart->fs = FACET_FS_CLEAN;
    for (unsigned i = 0; i < 2 * SPAN; i += 8) {
        uint64_t value = random_value();

        guest_store(p->tested, GUEST_DATA - SPAN / 2 + i, 8, value);
        guest_store(p->model, GUEST_DATA - SPAN / 2 + i, 8, value);
    }
}

/* The lifetime after retirement (2.4 step 6). */
static uint64_t retired_state(uint64_t state)
{
    uint64_t left = state >> 12 & 0x1FF;

    state &= ~(UINT64_C(1) << 21);
    if ((state >> 9 & 1) != 0) {
        return state & ~(UINT64_C(1) << 8 | UINT64_C(1) << 9 | UINT64_C(1) << 27);
    }
    if (left > 0) {
        state -= UINT64_C(1) << 12;
        state &= left == 1 ? ~(UINT64_C(1) << 8) : UINT64_MAX;
    }
    return state;
}

static void compare(struct pair *p, uint32_t word, const struct facet_insn *in)
{
    struct facet_hart *h = p->tested->hart;
    const struct facet_hart before = *h;
    struct expectation e = expect(p, in);
    struct facet_trap trap;
    uint64_t state = before.units.rsv.svstate;
    uint8_t got[2 * SPAN], want[2 * SPAN];
    char text[64];

    snprintf(text, sizeof text, "word %08x state %09llx", word, (unsigned long long)state);
    guest_store(p->tested, GUEST_CODE, 4, word);
    trap = facet_hart_step(h);
    if (!CHECK_MSG(trap.taken == e.trap.taken && trap.cause == e.trap.cause &&
                       trap.tval == e.trap.tval,
                   "%s: trap %d/%u/%llx, expected %d/%u/%llx",
                   text,
                   trap.taken,
                   trap.cause,
                   (unsigned long long)trap.tval,
                   e.trap.taken,
                   e.trap.cause,
                   (unsigned long long)e.trap.tval)) {
        return;
    }
    for (unsigned r = 0; r < 32; r++) {
        CHECK_MSG(h->x[r] == e.x[r] && h->f[r] == e.f[r],
                  "%s: register %u x %llx f %llx, expected %llx %llx",
                  text,
                  r,
                  (unsigned long long)h->x[r],
                  (unsigned long long)h->f[r],
                  (unsigned long long)e.x[r],
                  (unsigned long long)e.f[r]);
    }
    CHECK_EQ(h->fflags, before.fflags);
    CHECK_EQ(h->fs, e.writes_f ? FACET_FS_DIRTY : before.fs);
    CHECK_MSG(h->units.cap.prec.exc_st == (e.flags & 0x7F) &&
                  (h->units.cap.prec.stat & 0x7000) == (e.flags & 0x7000),
              "%s: EXC.ST %llx STAT %llx, expected flags %x",
              text,
              (unsigned long long)h->units.cap.prec.exc_st,
              (unsigned long long)h->units.cap.prec.stat,
              e.flags);
    if (e.trap.taken) {
        CHECK_EQ(h->units.rsv.svfaulti, UINT64_C(1) << 63 | (uint64_t)e.trap.cause << 16 | e.lane);
        CHECK_EQ(h->mepc, before.pc);
        facet_hart_return(h); /* EN and FPC_V come back */
        CHECK_EQ(h->units.rsv.svstate, state);
    } else {
        CHECK_EQ(h->units.rsv.svfaulti, before.units.rsv.svfaulti);
        CHECK_EQ(h->units.rsv.svstate, retired_state(state));
        CHECK_EQ(h->pc, before.pc + in->length);
    }
    (void)facet_mem_peek(p->tested->mem, GUEST_DATA - SPAN / 2, got, sizeof got);
    (void)facet_mem_peek(p->model->mem, GUEST_DATA - SPAN / 2, want, sizeof want);
    CHECK_MSG(memcmp(got, want, sizeof got) == 0, "%s: memory differs", text);
}

/* A random word of a base row that RSV repeats, compressed ones included. */
static uint32_t random_word(struct facet_insn *in)
{
    for (;;) {
        const struct facet_insn_row *row =
            &facet_isa_rows[FACET_ISA_XPHMG][below(FACET_XPHMG_OP_COUNT)];
        uint32_t word = (row->match & row->mask) | ((uint32_t)harness_random() & ~row->mask);

        *in = facet_insn_decode(word);
        if (in->row < FACET_XPHMG_OP_COUNT && facet_rsv_affects(in)) {
            return word;
        }
    }
}

TEST(random_instructions_equal_scalar_ones_lane_by_lane, "RSV-032 RSV-060 RSV-102 RSV-103")
{
    struct pair p = {guest_make("full"), guest_make("full")};
    unsigned rounds = harness_long() ? 1000000 : 60000;

    for (unsigned i = 0; i < rounds && !harness_failed(); i++) {
        struct facet_insn in;
        uint32_t word = random_word(&in), match;

        match = facet_isa_rows[FACET_ISA_XPHMG][in.row].match & 0x7F;
        random_state(
            &p, match == 0x03 || match == 0x07 || match == 0x23 || match == 0x27 || match == 0x2F);
        compare(&p, word, &in);
    }
    guest_free(p.tested);
    guest_free(p.model);
}
