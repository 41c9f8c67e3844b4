/* See block.h and block_impl.h: the cache of blocks and the loop that runs them.
 *
 * Dispatch is one indirect jump per operation (labels as values). Loads and stores use the RAM
 * window; whatever is outside it (devices, faults), stores across a page and every trap are left to
 * step.c: the block stops before that instruction with nothing done. A store into a page that has
 * cached code drops the cache after the store.
 *
 * The budget is looked at when a block is entered: `left` is what remains of it minus BLOCK_MAX, so
 * that one subtraction tells whether every block fits; only the last few entries compare with the
 * length of the block at hand. */
#if defined(__GNUC__) && !defined(__clang__)
/* Each operation keeps its own indirect jump, which the host predicts one by one. */
#pragma GCC optimize("no-gcse", "no-crossjumping", "no-math-errno")
#endif
#include "xphmg/block_impl.h"

#include "xphmg/alu.h"
#include "xphmg/block_fp.h"

#include <stdlib.h>
#include <string.h>

enum facet_status
facet_block_cache_create(struct facet_hart *h, facet_block_cache **out, struct facet_error *err)
{
    facet_block_cache *cache = calloc(1, sizeof *cache);

    *out = NULL;
    if (cache != NULL) {
        cache->page_count = (size_t)(h->ram.span >> FACET_MEM_PAGE_BITS) + 2;
        cache->code_pages = calloc(cache->page_count, 1);
        cache->ops = malloc(ARENA_OPS * sizeof *cache->ops);
        cache->sites = malloc(ARENA_OPS * sizeof *cache->sites);
    }
    if (cache == NULL || cache->code_pages == NULL || cache->ops == NULL || cache->sites == NULL) {
        facet_block_cache_destroy(cache);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the block cache");
    }
    facet_block_cache_flush(cache);
    h->code_pages = cache->code_pages;
    *out = cache;
    return FACET_OK;
}

void facet_block_cache_destroy(facet_block_cache *cache)
{
    if (cache != NULL) {
        free(cache->code_pages);
        free(cache->ops);
        free(cache->sites);
        free(cache);
    }
}

void facet_block_cache_flush(facet_block_cache *cache)
{
    for (size_t i = 0; i < sizeof cache->table / sizeof cache->table[0]; i++) {
        cache->table[i] = (struct entry){1, NULL};
    }
    memset(cache->code_pages, 0, cache->page_count);
    cache->used = 0;
}

/* ---- what the operations compute --------------------------------------------------------------
 */

#define W(v) facet_w(v)
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
#include "xphmg/alu.def"

#define LOAD(row, size, value)                                                                     \
    enum { SIZE_##row = size };                                                                    \
    static inline uint64_t load_##row(const uint8_t *at)                                           \
    {                                                                                              \
        const uint64_t v = facet_load_le(at, size);                                                \
        return (value);                                                                            \
    }
#define STORE(row, size) enum { SIZE_##row = size };
#define LOAD_F LOAD_F_SIZE
#define LOAD_F_SIZE(row, size) enum { SIZE_##row = size };
#define STORE_F(row, size) enum { SIZE_##row = size };
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
#include "xphmg/block_rows.def"
#undef LOAD_F_SIZE

/* ---- the bodies -------------------------------------------------------------------------------
 *
 * DO_form(row, rd, ra, rb, imm, half): one instruction, its registers and immediate as fields of
 * the operation. `half` is 1 or 2: the ways out of the first and second half of a pair differ. */

#define RARE(condition) __builtin_expect(!!(condition), 0)
#define IMM(imm) ((uint64_t)(int64_t)o->imm)
#define RESULT(rd, value)                                                                          \
    acc = (value);                                                                                 \
    x[o->rd] = acc;

#define DO_RR(row, rd, ra, rb, imm, half) RESULT(rd, alu_##row(x[o->ra], x[o->rb]))
#define DO_RR_A(row, rd, ra, rb, imm, half) RESULT(rd, alu_##row(acc, x[o->rb]))
#define DO_RR_B(row, rd, ra, rb, imm, half) RESULT(rd, alu_##row(x[o->ra], acc))
#define DO_RI(row, rd, ra, rb, imm, half) RESULT(rd, alu_##row(x[o->ra], IMM(imm)))
#define DO_RI_A(row, rd, ra, rb, imm, half) RESULT(rd, alu_##row(acc, IMM(imm)))
#define DO_R(row, rd, ra, rb, imm, half) RESULT(rd, alu_##row(x[o->ra]))
#define DO_R_A(row, rd, ra, rb, imm, half) RESULT(rd, alu_##row(acc))
#define DO_LI(row, rd, ra, rb, imm, half) RESULT(rd, IMM(imm))
#define DO_MV(row, rd, ra, rb, imm, half) RESULT(rd, x[o->ra])
#define DO_MV_A(row, rd, ra, rb, imm, half) RESULT(rd, acc)

#define LOAD_FROM(row, rd, from, imm, half)                                                        \
    {                                                                                              \
        const uint64_t offset = (from) + IMM(imm) - base;                                          \
        if (RARE(offset >= span)) {                                                                \
            goto leave_##half;                                                                     \
        }                                                                                          \
        RESULT(rd, load_##row(bytes + offset))                                                     \
    }
#define DO_LOAD(row, rd, ra, rb, imm, half) LOAD_FROM(row, rd, x[o->ra], imm, half)
#define DO_LOAD_A(row, rd, ra, rb, imm, half) LOAD_FROM(row, rd, acc, imm, half)

/* A store that does not cross a page marks one page; the others are for step.c. */
#define STORE_TO(row, to, value, imm, half)                                                        \
    {                                                                                              \
        const uint64_t offset = (to) + IMM(imm) - base;                                            \
        if (RARE(offset >= store_span ||                                                           \
                 (offset & (FACET_MEM_PAGE_BYTES - 1)) > FACET_MEM_PAGE_BYTES - SIZE_##row)) {     \
            goto leave_##half;                                                                     \
        }                                                                                          \
        facet_store_le(bytes + offset, SIZE_##row, (value));                                       \
        pages[offset >> FACET_MEM_PAGE_BITS] = FACET_MEM_DIRTY_ALL;                                \
        if (RARE(code_pages[offset >> FACET_MEM_PAGE_BITS] != 0)) {                                \
            goto written_##half;                                                                   \
        }                                                                                          \
    }
#define DO_STORE(row, rd, ra, rb, imm, half) STORE_TO(row, x[o->ra], x[o->rb], imm, half)
#define DO_STORE_A(row, rd, ra, rb, imm, half) STORE_TO(row, acc, x[o->rb], imm, half)
#define DO_STORE_B(row, rd, ra, rb, imm, half) STORE_TO(row, x[o->ra], acc, imm, half)

#define BRANCH_IF(condition)                                                                       \
    if (condition) {                                                                               \
        TAKE();                                                                                    \
    }
#define DO_BR(row, rd, ra, rb, imm, half) BRANCH_IF(test_##row(x[o->ra], x[o->rb]))
#define DO_BR_A(row, rd, ra, rb, imm, half) BRANCH_IF(test_##row(acc, x[o->rb]))
#define DO_BR_B(row, rd, ra, rb, imm, half) BRANCH_IF(test_##row(x[o->ra], acc))
#define DO_BZ(row, rd, ra, rb, imm, half) BRANCH_IF(test_##row(x[o->ra]))
#define DO_BZ_A(row, rd, ra, rb, imm, half) BRANCH_IF(test_##row(acc))

#define NEXT()                                                                                     \
    do {                                                                                           \
        o++;                                                                                       \
        goto * o->code;                                                                            \
    } while (0)
/* Leaves the block through the link of the operation. */
#define TAKE()                                                                                     \
    do {                                                                                           \
        left -= o->done;                                                                           \
        o = o->link;                                                                               \
        if (RARE(left < 0)) {                                                                      \
            goto tight;                                                                            \
        }                                                                                          \
        goto * o->code;                                                                            \
    } while (0)
#define ONE(name, form, row)                                                                       \
    L_##name:                                                                                      \
    {                                                                                              \
        DO_##form(row, rd, a, b, imm, 1) NEXT();                                                   \
    }

enum facet_block_stop
facet_block_run(facet_block_cache *cache, struct facet_hart *h, uint64_t budget)
{
    static const void *const code[K_COUNT] = {
#define AT(name) [K_##name] = &&L_##name,
#define ALU_RR(row, value) AT(row) AT(row##_A) AT(row##_B)
#define ALU_RI(row, value) AT(row) AT(row##_A)
#define ALU_R(row, value) AT(row) AT(row##_A)
#include "xphmg/alu.def"
#define LOAD(row, size, value) AT(row) AT(row##_A)
#define STORE(row, size) AT(row) AT(row##_A) AT(row##_B)
#define LOAD_F(row, size) AT(row) AT(row##_A)
#define STORE_F(row, size) AT(row) AT(row##_A)
#define BRANCH(row, condition) AT(row) AT(row##_A) AT(row##_B)
#define BRANCH_Z(row, condition) AT(row) AT(row##_A)
#include "xphmg/block_rows.def"
#define FP(row, dst, src, value) AT(row)
#include "xphmg/fp.def"
#define PAIR(form1, row1, form2, row2) AT(row1##_##form1##_##row2##_##form2)
#include "xphmg/block_pairs.def"
        AT(LI) AT(LI_LONG) AT(MV) AT(MV_A) AT(JR) AT(JALR) AT(RETURN) AT(GOTO) AT(EXIT) AT(STOP)};
    const uint64_t base = h->ram.base, span = h->ram.span, store_span = h->ram.store_span;
    uint8_t *const bytes = h->ram.bytes, *const pages = h->ram.pages;
    const uint8_t *const code_pages = cache->code_pages;
    uint64_t *const x = h->x;
    uint64_t *const f = h->f;
    uint64_t pc = h->pc, acc = 0;
    int64_t left;
    struct op *o;
    enum facet_block_stop why = FACET_BLOCK_STEP;

    budget = budget < INT64_MAX ? budget : INT64_MAX;
    left = (int64_t)budget - BLOCK_MAX;
    if (h->slow) {
        return FACET_BLOCK_STEP;
    }
    if (h->code_written) {
        facet_block_cache_flush(cache);
        h->code_written = false;
    }

find : {
    struct entry *entry = facet_block_entry(cache, pc);

    o = entry->first;
    if (entry->pc != pc) {
        if (cache->used + BLOCK_OPS > ARENA_OPS) {
            facet_block_cache_flush(cache);
        }
        o = facet_block_translate(cache, h, pc, code);
    }
    if (RARE(left < 0)) {
        goto tight;
    }
    goto * o->code;
}

tight: /* near the end of the budget: the block at `o` runs only if it fits */
    if (o->code == code[K_EXIT]) {
        goto * o->code;
    }
    if (left + BLOCK_MAX < cache->sites[o - cache->ops].count) {
        pc = cache->sites[o - cache->ops].pc;
        why = FACET_BLOCK_BUDGET;
        goto out;
    }
    goto * o->code;

#define ALU_RR(row, value) ONE(row, RR, row) ONE(row##_A, RR_A, row) ONE(row##_B, RR_B, row)
#define ALU_RI(row, value) ONE(row, RI, row) ONE(row##_A, RI_A, row)
#define ALU_R(row, value) ONE(row, R, row) ONE(row##_A, R_A, row)
#include "xphmg/alu.def"

#define LOAD(row, size, value) ONE(row, LOAD, row) ONE(row##_A, LOAD_A, row)
#define STORE(row, size) ONE(row, STORE, row) ONE(row##_A, STORE_A, row) ONE(row##_B, STORE_B, row)
#define BRANCH(row, condition) ONE(row, BR, row) ONE(row##_A, BR_A, row) ONE(row##_B, BR_B, row)
#define BRANCH_Z(row, condition) ONE(row, BZ, row) ONE(row##_A, BZ_A, row)
#define FLOAT_LOAD(row, name, from)                                                                \
    L_##name:                                                                                      \
    {                                                                                              \
        const uint64_t offset = (from) + IMM(imm) - base;                                          \
        if (RARE(offset >= span || h->fs == FACET_FS_OFF)) {                                       \
            goto leave_1;                                                                          \
        }                                                                                          \
        f[o->rd] = facet_load_le(bytes + offset, SIZE_##row) | ~facet_bits_mask(8 * SIZE_##row);   \
        h->fs = FACET_FS_DIRTY;                                                                    \
        NEXT();                                                                                    \
    }
#define FLOAT_STORE(row, name, to)                                                                 \
    L_##name:                                                                                      \
    {                                                                                              \
        if (RARE(h->fs == FACET_FS_OFF)) {                                                         \
            goto leave_1;                                                                          \
        }                                                                                          \
        STORE_TO(row, to, f[o->b], imm, 1) NEXT();                                                 \
    }
#define LOAD_F(row, size) FLOAT_LOAD(row, row, x[o->a]) FLOAT_LOAD(row, row##_A, acc)
#define STORE_F(row, size) FLOAT_STORE(row, row, x[o->a]) FLOAT_STORE(row, row##_A, acc)
#include "xphmg/block_rows.def"

    ONE(LI, LI, LI)
    ONE(MV, MV, MV)
    ONE(MV_A, MV_A, MV)
L_LI_LONG:
    acc = o->imm64;
    x[o->rd] = acc;
    NEXT();

#define PAIR(form1, row1, form2, row2)                                                             \
    L_##row1##_##form1##_##row2##_##form2:                                                         \
    {                                                                                              \
        DO_##form1(row1, rd, a, b, imm, 1) DO_##form2(row2, rd2, c, d, imm2, 2) NEXT();            \
    }
#include "xphmg/block_pairs.def"

/* Flags that are up already tell block_fp.h that it may use the host; a row with its result in x
 * must know whether it raised any itself. */
#define READ_F(r) f[r]
#define READ_X(r) x[r]
#define KEEP_F                                                                                     \
    f[o->rd] = result;                                                                             \
    h->fs = FACET_FS_DIRTY;                                                                        \
    h->fflags = (uint8_t)raised;
#define KEEP_X                                                                                     \
    x[o->rd] = result;                                                                             \
    facet_hart_raise(h, raised);
#define RAISED_F h->fflags
#define RAISED_X 0
#define FP(row, dst, src, value)                                                                   \
    L_##row:                                                                                       \
    {                                                                                              \
        const uint64_t a = READ_##src(o->a), b = f[o->b], c = f[o->c];                             \
        const unsigned rm = o->d == 7 ? h->frm : o->d;                                             \
        unsigned raised = RAISED_##dst, *const fl = &raised;                                       \
        if (RARE(h->fs == FACET_FS_OFF || rm > 4)) {                                               \
            goto leave_1;                                                                          \
        }                                                                                          \
        (void)a, (void)b, (void)c, (void)fl;                                                       \
        const uint64_t result = (value);                                                           \
        KEEP_##dst NEXT();                                                                         \
    }
#include "xphmg/fp.def"

L_JR:
    pc = (x[o->a] + IMM(imm)) & ~UINT64_C(1);
    goto indirect;
L_JALR : {
    const uint64_t target = (x[o->a] + IMM(imm)) & ~UINT64_C(1);

    x[o->rd] = cache->sites[o - cache->ops].next_pc;
    pc = target;
    goto indirect;
}
L_RETURN:
    pc = x[1] & ~UINT64_C(1);
    if (pc == o->imm64) {
        NEXT();
    }
indirect : {
    const struct entry *entry = facet_block_entry(cache, pc);

    left -= o->done;
    if (RARE(left < 0 || entry->pc != pc)) {
        goto find;
    }
    o = entry->first;
    goto * o->code;
}
L_GOTO:
    TAKE();
L_EXIT : /* the first time through a link */
{
    struct op *const from = o->link;
    struct entry *entry;

    pc = o->imm64;
    entry = facet_block_entry(cache, pc);
    if (entry->pc != pc) {
        if (cache->used + BLOCK_OPS > ARENA_OPS) { /* `from` goes away with the rest */
            goto find;
        }
        (void)facet_block_translate(cache, h, pc, code);
    }
    from->link = entry->first;
    goto find;
}

/* The ways out of a block in front of an instruction, or behind a store. */
written_1:
    facet_block_cache_flush(cache);
    left -= cache->sites[o - cache->ops].second;
    pc = cache->sites[o - cache->ops].second_pc;
    goto find;
written_2:
    facet_block_cache_flush(cache);
    left -= cache->sites[o - cache->ops].next;
    pc = cache->sites[o - cache->ops].next_pc;
    goto find;
leave_2:
    left -= cache->sites[o - cache->ops].second;
    pc = cache->sites[o - cache->ops].second_pc;
    goto out;
L_STOP:
leave_1:
    left -= cache->sites[o - cache->ops].index;
    pc = cache->sites[o - cache->ops].pc;
out:
    h->pc = pc;
    h->retired += budget - (uint64_t)(left + BLOCK_MAX);
    return why;
}
