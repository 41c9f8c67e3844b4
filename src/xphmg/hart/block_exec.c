/* See block_impl.h: the code of the operations. Each is a function that ends in a call of the next
 * one, which the compiler makes a jump; what the operations share stays in the host's registers as
 * their parameters.
 *
 * Loads and stores use the RAM window. Whatever is outside it (devices, faults), stores across a
 * page or into a line with cached or watched contents, and every trap are left to step.c: the block
 * stops before that instruction with nothing done. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O2", "no-math-errno")
#endif
#include "xphmg/hart/block_impl.h"

#include "xphmg/hart/alu.h"
#include "xphmg/hart/block_fp.h"
#include "xphmg/hart/csr_file.h"
#include "xphmg/units/lanes.h"
#include "xphmg/units/vendor.h"

#if defined(__has_attribute)
#if __has_attribute(musttail)
#define TAIL __attribute__((musttail))
#define FACET_MUST_TAIL
#endif
#endif
#ifndef TAIL
#define TAIL
#endif

#define ARGUMENTS o, h, left, acc, bytes, span
#define OPERATION(name) static void name(FACET_BLOCK_PARAMETERS)
#define RARE(condition) __builtin_expect(!!(condition), 0)
#define COLD __attribute__((noinline, cold))
#define GO(function) TAIL return function(ARGUMENTS)

/* ---- the ways out of a block ------------------------------------------------------------------
 */

static const struct site *site_of(const struct facet_hart *h, const struct op *o)
{
    return &h->blocks->sites[o - h->blocks->ops];
}

void facet_block_leave(struct facet_hart *h, uint64_t pc, int64_t left, enum facet_block_stop why)
{
    h->pc = pc;
    h->blocks->left = left;
    h->blocks->why = why;
}

/* For the profile: the block is left at this operation. */
#define TALLY(way)                                                                                 \
    do {                                                                                           \
        if (RARE(h->tally != NULL)) {                                                              \
            h->tally[o - h->blocks->ops].way++;                                                    \
        }                                                                                          \
    } while (0)

/* In front of the operation. */
COLD OPERATION(leave_1)
{
    const struct site *site = site_of(h, o);

    (void)acc, (void)bytes, (void)span;
    TALLY(before);
    facet_block_leave(h, site->pc, left - site->index, FACET_BLOCK_STEP);
}

/* In front of the second half of a pair. */
COLD OPERATION(leave_2)
{
    const struct site *site = site_of(h, o);

    (void)acc, (void)bytes, (void)span;
    TALLY(middle);
    facet_block_leave(h, site->second_pc, left - site->second, FACET_BLOCK_STEP);
}

/* The block at `o` is next, but the chunk is nearly used up: it runs only if it fits. */
COLD void facet_block_tight(FACET_BLOCK_PARAMETERS)
{
    const struct site *site = site_of(h, o);

    if (o->code != facet_block_codes[K_EXIT] && left + BLOCK_MAX < site->count) {
        facet_block_leave(h, site->start, left, FACET_BLOCK_BUDGET);
        return;
    }
    GO(o->code);
}

/* Enters the block at h->pc. */
COLD void facet_block_find_next(FACET_BLOCK_PARAMETERS)
{
    o = facet_block_find(h->blocks, h, h->pc);
    if (RARE(left < 0)) {
        GO(facet_block_tight);
    }
    GO(o->code);
}

#define NEXT()                                                                                     \
    do {                                                                                           \
        o++;                                                                                       \
        GO(o->code);                                                                               \
    } while (0)
/* Leaves the block through the link of the operation. */
#define TAKE()                                                                                     \
    do {                                                                                           \
        left -= o->done;                                                                           \
        TALLY(out);                                                                                \
        o = o->link;                                                                               \
        if (RARE(left < 0)) {                                                                      \
            GO(facet_block_tight);                                                                 \
        }                                                                                          \
        GO(o->code);                                                                               \
    } while (0)

/* ---- what the operations compute --------------------------------------------------------------
 */

#define W(v) facet_hart_w(v)
#define ALU_RR(row, value)                                                                         \
    static inline uint64_t alu_##row(uint64_t a, uint64_t b)                                       \
    {                                                                                              \
        return (value);                                                                            \
    }
#define ALU_RI(row, value)                                                                         \
    static inline uint64_t alu_##row(uint64_t a, uint64_t imm)                                     \
    {                                                                                              \
        return (value);                                                                            \
    }
#define ALU_R(row, value)                                                                          \
    static inline uint64_t alu_##row(uint64_t a)                                                   \
    {                                                                                              \
        return (value);                                                                            \
    }
#include "xphmg/hart/alu.def"

#define LOAD(row, size, value)                                                                     \
    static inline uint64_t load_##row(const uint8_t *at)                                           \
    {                                                                                              \
        const uint64_t v = facet_load_le(at, size);                                                \
        return (value);                                                                            \
    }
#define BRANCH(row, condition)                                                                     \
    static inline bool test_##row(uint64_t a, uint64_t b)                                          \
    {                                                                                              \
        return (condition);                                                                        \
    }
#define BRANCH_Z(row, condition)                                                                   \
    static inline bool test_##row(uint64_t a)                                                      \
    {                                                                                              \
        return (condition);                                                                        \
    }
#include "xphmg/hart/block_rows.def"

enum {
#define LOAD(row, size, value) SIZE_##row = size,
#define STORE(row, size) SIZE_##row = size,
#define LOAD_F(row, size) SIZE_##row = size,
#define STORE_F(row, size) SIZE_##row = size,
#include "xphmg/hart/block_rows.def"
};

/* ---- the bodies -------------------------------------------------------------------------------
 *
 * DO_form(row, n): one instruction with the registers and the immediate n of the operation, 1 or 2
 * for the halves of a pair; the ways out of them differ as well. */

#define IMM(n) ((uint64_t)(int64_t)o->imm##n)
#define A(n) (h->x[o->a##n])
#define B(n) (h->x[o->b##n])
#define RESULT(n, value)                                                                           \
    acc = (value);                                                                                 \
    h->x[o->d##n] = acc;

#define DO_RR(row, n) RESULT(n, alu_##row(A(n), B(n)))
#define DO_RR_A(row, n) RESULT(n, alu_##row(acc, B(n)))
#define DO_RR_B(row, n) RESULT(n, alu_##row(A(n), acc))
#define DO_RI(row, n) RESULT(n, alu_##row(A(n), IMM(n)))
#define DO_RI_A(row, n) RESULT(n, alu_##row(acc, IMM(n)))
#define DO_R(row, n) RESULT(n, alu_##row(A(n)))
#define DO_R_A(row, n) RESULT(n, alu_##row(acc))
#define DO_LI(row, n) RESULT(n, IMM(n))
#define DO_MV(row, n) RESULT(n, A(n))
#define DO_MV_A(row, n) RESULT(n, acc)

/* Offsets in the RAM window. */
#define AT(address, n) ((address) - (uint32_t)o->imm##n)
#define AT_WIDE(address) ((address)-o->imm64)

#define LOAD_FROM(row, n, offset_)                                                                 \
    {                                                                                              \
        const uint64_t offset = (offset_);                                                         \
        if (RARE(offset >= span)) {                                                                \
            GO(leave_##n);                                                                         \
        }                                                                                          \
        RESULT(n, load_##row(bytes + offset))                                                      \
    }
#define DO_LOAD(row, n) LOAD_FROM(row, n, AT(A(n), n))
#define DO_LOAD_A(row, n) LOAD_FROM(row, n, AT(acc, n))
#define DO_LOAD_WIDE(row, n) LOAD_FROM(row, n, AT_WIDE(A(n)))
/* RAM begins at a page: what is aligned there is aligned. */
#define ALIGNED_AT(row) (AT_WIDE(A(1)) % SIZE_##row == 0)
#define DO_LOAD_STRICT(row, n)                                                                     \
    if (RARE(!ALIGNED_AT(row))) {                                                                  \
        GO(leave_##n);                                                                             \
    }                                                                                              \
    DO_LOAD_WIDE(row, n)

/* A store that neither crosses a page nor, so, a line. */
#define STORE_TO(row, n, offset_, value)                                                           \
    {                                                                                              \
        const uint64_t offset = (offset_);                                                         \
        if (RARE(offset >= span ||                                                                 \
                 (offset & (FACET_CODE_LINE_BYTES - 1)) > FACET_CODE_LINE_BYTES - SIZE_##row ||    \
                 h->code_lines[offset >> FACET_CODE_LINE_BITS] != 0)) {                            \
            GO(leave_##n);                                                                         \
        }                                                                                          \
        facet_store_le(bytes + offset, SIZE_##row, (value));                                       \
        h->ram.pages[offset >> FACET_MEM_PAGE_BITS] = FACET_MEM_DIRTY_ALL;                         \
    }
#define DO_STORE(row, n) STORE_TO(row, n, AT(A(n), n), B(n))
#define DO_STORE_A(row, n) STORE_TO(row, n, AT(acc, n), B(n))
#define DO_STORE_B(row, n) STORE_TO(row, n, AT(A(n), n), acc)
#define DO_STORE_WIDE(row, n) STORE_TO(row, n, AT_WIDE(A(n)), B(n))
#define DO_STORE_STRICT(row, n)                                                                    \
    if (RARE(!ALIGNED_AT(row))) {                                                                  \
        GO(leave_##n);                                                                             \
    }                                                                                              \
    DO_STORE_WIDE(row, n)

#define BRANCH_IF(condition)                                                                       \
    if (condition) {                                                                               \
        TAKE();                                                                                    \
    }
#define DO_BR(row, n) BRANCH_IF(test_##row(A(n), B(n)))
#define DO_BR_A(row, n) BRANCH_IF(test_##row(acc, B(n)))
#define DO_BR_B(row, n) BRANCH_IF(test_##row(A(n), acc))
#define DO_BZ(row, n) BRANCH_IF(test_##row(A(n)))
#define DO_BZ_A(row, n) BRANCH_IF(test_##row(acc))

#define ONE(name, form, row)                                                                       \
    OPERATION(run_##name)                                                                          \
    {                                                                                              \
        DO_##form(row, 1) NEXT();                                                                  \
    }
#define PAIR(form1, row1, form2, row2)                                                             \
    OPERATION(run_##row1##_##form1##_##row2##_##form2)                                             \
    {                                                                                              \
        DO_##form1(row1, 1) DO_##form2(row2, 2) NEXT();                                            \
    }
#define FLOAT_LOAD(row, name, offset_)                                                             \
    OPERATION(run_##name)                                                                          \
    {                                                                                              \
        const uint64_t offset = (offset_);                                                         \
        if (RARE(offset >= span || h->fs == FACET_FS_OFF)) {                                       \
            GO(leave_1);                                                                           \
        }                                                                                          \
        h->f[o->d1] =                                                                              \
            facet_load_le(bytes + offset, SIZE_##row) | ~facet_bits_mask(8 * SIZE_##row);          \
        h->fs = FACET_FS_DIRTY;                                                                    \
        NEXT();                                                                                    \
    }
#define FLOAT_STORE(row, name, offset_)                                                            \
    OPERATION(run_##name)                                                                          \
    {                                                                                              \
        if (RARE(h->fs == FACET_FS_OFF)) {                                                         \
            GO(leave_1);                                                                           \
        }                                                                                          \
        STORE_TO(row, 1, offset_, h->f[o->b1]) NEXT();                                             \
    }

/* An unaligned one leaves. */
#define FLOAT_STRICT(row)                                                                          \
    OPERATION(run_STRICT_##row)                                                                    \
    {                                                                                              \
        if (RARE(!ALIGNED_AT(row))) {                                                              \
            GO(leave_1);                                                                           \
        }                                                                                          \
        GO(run_WIDE_##row);                                                                        \
    }

/* clang-format off */
#define ALU_RR(row, value) ONE(row, RR, row) ONE(row##_A, RR_A, row) ONE(row##_B, RR_B, row)
#define ALU_RI(row, value) ONE(row, RI, row) ONE(row##_A, RI_A, row)
#define ALU_R(row, value) ONE(row, R, row) ONE(row##_A, R_A, row)
#include "xphmg/hart/alu.def"
#define LOAD(row, size, value)      ONE(row, LOAD, row) ONE(row##_A, LOAD_A, row) ONE(WIDE_##row, LOAD_WIDE, row) ONE(STRICT_##row, LOAD_STRICT, row)
#define STORE(row, size)      ONE(row, STORE, row) ONE(row##_A, STORE_A, row) ONE(row##_B, STORE_B, row)      ONE(WIDE_##row, STORE_WIDE, row) ONE(STRICT_##row, STORE_STRICT, row)
#define BRANCH(row, condition) ONE(row, BR, row) ONE(row##_A, BR_A, row) ONE(row##_B, BR_B, row)
#define BRANCH_Z(row, condition) ONE(row, BZ, row) ONE(row##_A, BZ_A, row)
#define LOAD_F(row, size)      FLOAT_LOAD(row, row, AT(A(1), 1)) FLOAT_LOAD(row, row##_A, AT(acc, 1))      FLOAT_LOAD(row, WIDE_##row, AT_WIDE(A(1))) FLOAT_STRICT(row)
#define STORE_F(row, size)      FLOAT_STORE(row, row, AT(A(1), 1)) FLOAT_STORE(row, row##_A, AT(acc, 1))      FLOAT_STORE(row, WIDE_##row, AT_WIDE(A(1))) FLOAT_STRICT(row)
#include "xphmg/hart/block_rows.def"
#include "xphmg/hart/block_pairs.def"
ONE(LI, LI, LI)
ONE(MV, MV, MV)
ONE(MV_A, MV_A, MV)
/* clang-format on */

OPERATION(run_LI_LONG)
{
    acc = o->imm64;
    h->x[o->d1] = acc;
    NEXT();
}

/* ---- floating point ---------------------------------------------------------------------------
 */

#define FP_SIGN64 (UINT64_C(1) << 63)
#define READ_F(r) h->f[r]
#define READ_X(r) h->x[r]
#define KEEP_F(value)                                                                              \
    h->f[o->d1] = (value);                                                                         \
    h->fs = FACET_FS_DIRTY
#define KEEP_X(value) h->x[o->d1] = (value)
#define FP(row, dst, src, value)                                                                   \
    __attribute__((noinline)) OPERATION(run_##row)                                                 \
    {                                                                                              \
        const uint64_t a = READ_##src(o->a1), b = h->f[o->b1], c = h->f[o->a2];                    \
        const unsigned rm = o->b2 == 7 ? h->frm : o->b2;                                           \
        unsigned *const fl = &h->raised; /* not here: its address would keep our frame alive */    \
        if (RARE(h->fs == FACET_FS_OFF || rm > 4)) {                                               \
            GO(leave_1);                                                                           \
        }                                                                                          \
        (void)a, (void)b, (void)c;                                                                 \
        *fl = 0;                                                                                   \
        KEEP_##dst(value);                                                                         \
        facet_hart_raise(h, *fl);                                                                  \
        NEXT();                                                                                    \
    }
#include "xphmg/hart/fp.def"

/* Only operations whose rounding mode is 0 or 7 are host operations: with `frm & 7` or `frm & 0`
 * both show whether it is nearest even. */
#define HOST(row, real, value)                                                                     \
    OPERATION(run_HOST_##row)                                                                      \
    {                                                                                              \
        const real x = host_##real(h->f[o->a1]), y = host_##real(h->f[o->b1]),                     \
                   z = host_##real(h->f[o->a2]);                                                   \
        (void)y, (void)z;                                                                          \
        if ((h->frm & o->b2) == FACET_RNE && (h->fflags & FACET_NX) != 0 &&                        \
            h->fs != FACET_FS_OFF) {                                                               \
            const real number = value;                                                             \
            const uint64_t result = reg_##real(number);                                            \
            if (!RARE(!ordinary_##real(result)) || FACET_EXACT(FACET_XPHMG_##row, x, y, number)) { \
                FACET_FAST_WAY(HART_HOST_FLOAT);                                                   \
                h->f[o->d1] = result;                                                              \
                h->fs = FACET_FS_DIRTY;                                                            \
                NEXT();                                                                            \
            }                                                                                      \
        }                                                                                          \
        GO(run_##row);                                                                             \
    }
#define HOST_TEST(row, real, value)                                                                \
    OPERATION(run_HOST_##row)                                                                      \
    {                                                                                              \
        const real x = host_##real(h->f[o->a1]), y = host_##real(h->f[o->b1]);                     \
        if (RARE(isunordered(x, y) || h->fs == FACET_FS_OFF)) {                                    \
            GO(run_##row);                                                                         \
        }                                                                                          \
        FACET_FAST_WAY(HART_HOST_FLOAT);                                                           \
        h->x[o->d1] = (value);                                                                     \
        NEXT();                                                                                    \
    }
#include "xphmg/hart/block_host.def"

/* ---- from block to block ----------------------------------------------------------------------
 */

/* To the block at `pc` by way of the table. */
#define INDIRECT(target)                                                                           \
    do {                                                                                           \
        const uint64_t pc = (target);                                                              \
        const struct entry *entry = facet_block_entry(h->blocks, pc);                              \
        left -= o->done;                                                                           \
        TALLY(out);                                                                                \
        if (RARE(left < 0 || entry->pc != pc)) {                                                   \
            h->pc = pc;                                                                            \
            GO(facet_block_find_next);                                                             \
        }                                                                                          \
        o = entry->first;                                                                          \
        GO(o->code);                                                                               \
    } while (0)

OPERATION(run_JR)
{
    INDIRECT((h->x[o->a1] + IMM(1)) & ~UINT64_C(1));
}

OPERATION(run_JALR)
{
    const uint64_t to = (h->x[o->a1] + IMM(1)) & ~UINT64_C(1);

    h->x[o->d1] = site_of(h, o)->next_pc;
    INDIRECT(to);
}

OPERATION(run_RETURN)
{
    const uint64_t to = h->x[1] & ~UINT64_C(1);

    if (RARE(to != o->imm64)) {
        INDIRECT(to);
    }
    NEXT();
}

OPERATION(run_GOTO)
{
    TAKE();
}

/* The first time through a link. */
OPERATION(run_EXIT)
{
    struct op *const from = o->link;

    h->pc = o->imm64;
    if (facet_block_fits(h->blocks)) {
        from->link = facet_block_find(h->blocks, h, h->pc); /* `from` stays where it is */
    }
    GO(facet_block_find_next);
}

#define run_STOP leave_1

/* ---- the units --------------------------------------------------------------------------------
 */

/* One of facet_vendor_prompt: false: the block ends, with everything said. The count of retired
 * instructions is that of a single step, since a device may ask for the time. */
static __attribute__((noinline)) bool perform(struct op *o, struct facet_hart *h, int64_t left)
{
    facet_block_cache *const cache = h->blocks;
    const struct site *site = site_of(h, o);

    left -= site->index;
    h->retired += (uint64_t)(cache->counted - left);
    cache->counted = left;
    h->pc = site->pc;
    h->next_pc = site->next_pc;
    h->outside = false;
    cache->trap = facet_hart_perform(h, o->insn);
    if (RARE(cache->trap.taken)) {
        facet_hart_trap(h, cache->trap.cause, cache->trap.tval);
        TALLY(before);
        facet_block_leave(h, h->pc, left, FACET_BLOCK_TRAP);
        return false;
    }
    if (RARE(h->outside || h->code_written || (h->port != NULL && facet_port_asked(h->port)))) {
        TALLY(out);
        facet_block_leave(h, h->next_pc, left - 1, FACET_BLOCK_LOOK);
        return false;
    }
    /* The lane loop is step.c's. */
    if ((h->units.rsv.svstate & FACET_SVSTATE_EN) != 0 &&
        (o->b2 == 0 || h->next_pc != site->next_pc)) {
        TALLY(out);
        facet_block_leave(h, h->next_pc, left - 1, FACET_BLOCK_STEP);
        return false;
    }
    return true;
}

OPERATION(run_VENDOR)
{
    if (RARE(!perform(o, h, left))) {
        return;
    }
    if (RARE(h->next_pc != h->pc + o->insn->length)) {
        INDIRECT(h->next_pc);
    }
    NEXT();
}

OPERATION(run_UNIT_CSRW)
{
    const struct facet_csr_entry *e = &facet_csr_entries[o->insn->csr];
    const struct facet_cap_config *config = h->units.config;
    uint64_t *slot = (uint64_t *)(void *)((char *)&h->units + e->offset);

    if (RARE(h->xmem == NULL ||
             (e->unit_bits != 0 && (config->word[e->unit] & e->unit_bits) == 0))) {
        GO(run_VENDOR);
    }
    *slot = facet_hart_csr_keep(&facet_csr_rows[o->insn->csr], config, *slot, h->x[o->a1]);
    NEXT();
}

/* Only where the lanes are for the next operation. */
OPERATION(run_PREFIX)
{
    if (RARE(o->b2 == 0 || h->xmem == NULL ||
             (h->units.config->feat0 & FACET_CAP_FEAT0_RSV_PRESENT) == 0)) {
        GO(run_VENDOR);
    }
    h->units.rsv.svstate = (h->units.rsv.svstate & ~FACET_RSV_PREFIX_FIELDS) | o->imm64;
    NEXT();
}

/* What is over with this instruction: one shot, or no lanes at all. */
OPERATION(run_RT)
{
    const uint64_t mode = h->units.rsv.svstate & (FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT);

    if (RARE(mode == FACET_SVSTATE_EN || h->xmem == NULL || !facet_xphmg_rt_at_once(h, o->insn))) {
        GO(run_VENDOR);
    }
    NEXT();
}

/* ---- host code --------------------------------------------------------------------------------
 *
 * Compilers that promise jumps for calls in tail position, and GCC where it optimises and nothing
 * is left to do after the call, as a sanitizer has. */
#if defined(FACET_MUST_TAIL) || (defined(__OPTIMIZE__) && !defined(FACET_ASSERTS))
const bool facet_block_jumps = true;
#else
const bool facet_block_jumps = false;
#endif

COLD OPERATION(hot)
{
    o = facet_block_heat(h->blocks, h, o);
    GO(o->code);
}

OPERATION(run_HEAT)
{
    if (RARE(--o->imm64 == 0)) {
        GO(hot);
    }
    NEXT();
}

OPERATION(run_PASS)
{
    NEXT();
}

OPERATION(run_ENTER)
{
    h->blocks->enter(ARGUMENTS, (facet_block_code *)(uintptr_t)o->imm64);
}

facet_block_code *const facet_block_codes[K_COUNT] = {
#define RUN(name) [K_##name] = run_##name,
#define ALU_RR(row, value) RUN(row) RUN(row##_A) RUN(row##_B)
#define ALU_RI(row, value) RUN(row) RUN(row##_A)
#define ALU_R(row, value) RUN(row) RUN(row##_A)
#include "xphmg/hart/alu.def"
#define LOAD(row, size, value) RUN(row) RUN(row##_A) RUN(WIDE_##row) RUN(STRICT_##row)
#define STORE(row, size) RUN(row) RUN(row##_A) RUN(row##_B) RUN(WIDE_##row) RUN(STRICT_##row)
#define LOAD_F(row, size) RUN(row) RUN(row##_A) RUN(WIDE_##row) RUN(STRICT_##row)
#define STORE_F(row, size) RUN(row) RUN(row##_A) RUN(WIDE_##row) RUN(STRICT_##row)
#define BRANCH(row, condition) RUN(row) RUN(row##_A) RUN(row##_B)
#define BRANCH_Z(row, condition) RUN(row) RUN(row##_A)
#include "xphmg/hart/block_rows.def"
#define FP(row, dst, src, value) RUN(row)
#include "xphmg/hart/fp.def"
#define HOST(row, real, value) RUN(HOST_##row)
#define HOST_TEST(row, real, value) RUN(HOST_##row)
#include "xphmg/hart/block_host.def"
#define PAIR(form1, row1, form2, row2) RUN(row1##_##form1##_##row2##_##form2)
#include "xphmg/hart/block_pairs.def"
    RUN(LI) RUN(LI_LONG) RUN(MV) RUN(MV_A) RUN(JR) RUN(JALR) RUN(RETURN) RUN(GOTO) RUN(EXIT)
        RUN(STOP) RUN(VENDOR) RUN(UNIT_CSRW) RUN(PREFIX) RUN(RT) RUN(HEAT) RUN(PASS) RUN(ENTER)};
