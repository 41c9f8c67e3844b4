/* See block.h.
 *
 * A block is a run of decoded instructions from one pc up to the first unconditional jump, an
 * instruction that only step.c executes, or a page end. Conditional branches stay inside: taken
 * ones leave through a cached link, the others fall to the next operation. Each operation holds the
 * address of its code (labels as values), so dispatch is one indirect jump.
 *
 * Results for x0 go to the dead register x[32]. Loads and stores use the RAM window; whatever is
 * outside it (devices, faults) and every trap is left to step.c: the block stops before that
 * instruction with nothing done. A store into a page that has cached code drops the cache after the
 * store. */
#include "xphmg/block.h"

#include "num/hart.h"
#include "xphmg/alu.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_MAX = 64,      /* operations, the closing one not counted */
    TABLE_BITS = 14,     /* direct-mapped pc -> block */
    ARENA_OPS = 1 << 19, /* when full, everything is dropped and decoding starts again */
};

struct op {
    const void *code;
    int64_t imm; /* immediate, or absolute target of a jump */
    uint8_t rd, rs1, rs2, rs3;
    uint8_t rm;
    uint8_t index;      /* instructions before this one in the block */
    uint16_t distance;  /* bytes from the block's pc */
    struct block *link; /* of a taken branch or a jump, once known */
};

struct block {
    uint64_t pc;
    unsigned count;     /* instructions at most when run to the end */
    struct block *next; /* the block behind the last operation, once known */
    struct op ops[];
};

struct facet_block_cache {
    struct block *table[1 << TABLE_BITS];
    uint8_t *code_pages; /* enum facet_page per page of the RAM window */
    size_t page_count;
    uint64_t ram_base;
    size_t watched[2]; /* pages; page_count and more: none */
    uint8_t *arena;
    size_t arena_used, arena_size;
};

enum facet_status
facet_block_cache_create(struct facet_hart *h, facet_block_cache **out, struct facet_error *err)
{
    facet_block_cache *cache = calloc(1, sizeof *cache);

    *out = NULL;
    if (cache != NULL) {
        cache->page_count = (size_t)(h->ram.span >> FACET_MEM_PAGE_BITS) + 2;
        cache->code_pages = calloc(cache->page_count, 1);
        cache->ram_base = h->ram.base;
        cache->watched[0] = cache->watched[1] = cache->page_count;
        cache->arena_size = ARENA_OPS * sizeof(struct op);
        cache->arena = malloc(cache->arena_size);
    }
    if (cache == NULL || cache->code_pages == NULL || cache->arena == NULL) {
        facet_block_cache_destroy(cache);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the block cache");
    }
    h->code_pages = cache->code_pages;
    *out = cache;
    return FACET_OK;
}

void facet_block_cache_destroy(facet_block_cache *cache)
{
    if (cache != NULL) {
        free(cache->code_pages);
        free(cache->arena);
        free(cache);
    }
}

void facet_block_cache_flush(facet_block_cache *cache)
{
    memset(cache->table, 0, sizeof cache->table);
    memset(cache->code_pages, 0, cache->page_count);
    for (int i = 0; i < 2; i++) {
        if (cache->watched[i] < cache->page_count) {
            cache->code_pages[cache->watched[i]] = FACET_PAGE_WATCHED;
        }
    }
    cache->arena_used = 0;
}

void facet_block_cache_watch(facet_block_cache *cache, unsigned slot, uint64_t address)
{
    cache->watched[slot] = (size_t)((address - cache->ram_base) >> FACET_MEM_PAGE_BITS);
    facet_block_cache_flush(cache);
}

static size_t table_index(uint64_t pc)
{
    return (pc >> 1) & ((1 << TABLE_BITS) - 1);
}

/* Where the code of each row is; filled by the first run. Rows without code of their own stop the
 * block in front of them. */
static struct block *translate(facet_block_cache *cache,
                               const struct facet_hart *h,
                               uint64_t pc,
                               const void *const *code,
                               const void *stop)
{
    size_t room = sizeof(struct block) + (BLOCK_MAX + 1) * sizeof(struct op);
    struct block *b;
    uint64_t at = pc;
    unsigned n = 0;
    bool open = true;

    if (cache->arena_used + room > cache->arena_size) {
        facet_block_cache_flush(cache);
    }
    b = (struct block *)(void *)(cache->arena + cache->arena_used);
    memset(b, 0, sizeof *b);
    b->pc = pc;
    while (open && n < BLOCK_MAX) {
        struct op *op = &b->ops[n];
        struct facet_insn in;
        uint64_t word;

        if (!facet_window_load(&h->ram, at, 4, &word)) {
            break;
        }
        in = facet_insn_decode((uint32_t)word);
        if (code[in.row] == NULL) {
            break;
        }
        memset(op, 0, sizeof *op);
        op->code = code[in.row];
        op->imm = in.imm;
        op->rd = in.rd;
        op->rs1 = in.rs1;
        op->rs2 = in.rs2;
        op->rs3 = in.rs3;
        op->rm = in.rm;
        op->index = (uint8_t)n;
        op->distance = (uint16_t)(at - pc);
        switch (in.row) {
        case FACET_XPHMG_AUIPC:
            op->imm += (int64_t)at;
            break;
        case FACET_XPHMG_JAL:
            op->imm += (int64_t)at;
            open = false;
            break;
        case FACET_XPHMG_JALR:
            open = false;
            break;
        case FACET_XPHMG_BEQ:
        case FACET_XPHMG_BNE:
        case FACET_XPHMG_BLT:
        case FACET_XPHMG_BGE:
        case FACET_XPHMG_BLTU:
        case FACET_XPHMG_BGEU:
            op->imm += (int64_t)at;
            break;
        default:
            break;
        }
        /* The dead register; jumps keep their return address apart. */
        if (in.row == FACET_XPHMG_JAL || in.row == FACET_XPHMG_JALR) {
            op->rs3 = in.length;
        }
        if (op->rd == 0) {
            op->rd = 32;
        }
        cache->code_pages[(at - h->ram.base) >> FACET_MEM_PAGE_BITS] |= FACET_PAGE_CODE;
        cache->code_pages[(at + 3 - h->ram.base) >> FACET_MEM_PAGE_BITS] |= FACET_PAGE_CODE;
        at += in.length;
        n++;
    }
    b->count = n;
    memset(&b->ops[n], 0, sizeof b->ops[n]);
    b->ops[n].code = stop;
    b->ops[n].index = (uint8_t)n;
    b->ops[n].distance = (uint16_t)(at - pc);
    b->ops[n].imm = n == BLOCK_MAX; /* 1: only the length ended the block */
    if (n == 0) {
        return NULL;
    }
    cache->arena_used += (sizeof(struct block) + (n + 1) * sizeof(struct op) + 15) & ~(size_t)15;
    cache->table[table_index(pc)] = b;
    return b;
}

enum facet_block_stop
facet_block_run(facet_block_cache *cache, struct facet_hart *h, uint64_t budget)
{
    static const void *const code[FACET_XPHMG_OP_COUNT + 1] = {
#define ALU_RR(row, value) [FACET_XPHMG_##row] = &&L_##row,
#define ALU_RI(row, value) [FACET_XPHMG_##row] = &&L_##row,
#define ALU_R(row, value) [FACET_XPHMG_##row] = &&L_##row,
#include "xphmg/alu.def"
#define FP(row, dst, src, value) [FACET_XPHMG_##row] = &&L_##row,
#include "xphmg/fp.def"
#define ROW(row) [FACET_XPHMG_##row] = &&L_##row
        ROW(LUI), ROW(AUIPC), ROW(JAL),  ROW(JALR), ROW(BEQ),   ROW(BNE), ROW(BLT),
        ROW(BGE), ROW(BLTU),  ROW(BGEU), ROW(LB),   ROW(LH),    ROW(LW),  ROW(LD),
        ROW(LBU), ROW(LHU),   ROW(LWU),  ROW(SB),   ROW(SH),    ROW(SW),  ROW(SD),
        ROW(FLW), ROW(FLD),   ROW(FSW),  ROW(FSD),  ROW(FENCE),
#undef ROW
    };
    const struct facet_mem_window ram = h->ram;
    uint8_t *const code_pages = cache->code_pages;
    uint64_t *const x = h->x;
    uint64_t *const f = h->f;
    struct block *b;
    const struct op *o;
    uint64_t pc = h->pc, left = budget;
    enum facet_block_stop why = FACET_BLOCK_STEP;

/* Leaves the block before the operation `o`. */
#define LEAVE_BEFORE()                                                                             \
    do {                                                                                           \
        left -= o->index;                                                                          \
        pc = b->pc + o->distance;                                                                  \
        goto out;                                                                                  \
    } while (0)
#define NEXT()                                                                                     \
    do {                                                                                           \
        o++;                                                                                       \
        goto * o->code;                                                                            \
    } while (0)
/* `b` holds the block to enter. */
#define ENTER()                                                                                    \
    do {                                                                                           \
        if (left < b->count) {                                                                     \
            pc = b->pc;                                                                            \
            why = FACET_BLOCK_BUDGET;                                                              \
            goto out;                                                                              \
        }                                                                                          \
        o = b->ops;                                                                                \
        goto * o->code;                                                                            \
    } while (0)

    if (h->code_written) {
        facet_block_cache_flush(cache);
        h->code_written = false;
    }
    if ((h->units.rsv.svstate & FACET_SVSTATE_EN) != 0) { /* the lane loop is step.c's */
        return FACET_BLOCK_STEP;
    }
find:
    b = cache->table[table_index(pc)];
    if (b == NULL || b->pc != pc) {
        b = translate(cache, h, pc, code, &&L_STOP);
        if (b == NULL) {
            goto out;
        }
    }
    ENTER();

#define W(v) facet_w(v)
/* The names a, b, c, imm, rm, fl of the .def files live in inner blocks; `b` shadows the block. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#define ALU_RR(row, value)                                                                         \
    L_##row:                                                                                       \
    {                                                                                              \
        const uint64_t a = x[o->rs1], b = x[o->rs2];                                               \
        x[o->rd] = (value);                                                                        \
        NEXT();                                                                                    \
    }
#define ALU_RI(row, value)                                                                         \
    L_##row:                                                                                       \
    {                                                                                              \
        const uint64_t a = x[o->rs1], imm = (uint64_t)o->imm;                                      \
        x[o->rd] = (value);                                                                        \
        NEXT();                                                                                    \
    }
#define ALU_R(row, value)                                                                          \
    L_##row:                                                                                       \
    {                                                                                              \
        const uint64_t a = x[o->rs1];                                                              \
        x[o->rd] = (value);                                                                        \
        NEXT();                                                                                    \
    }
#include "xphmg/alu.def"

#define FP_SIGN64 (UINT64_C(1) << 63)
#define READ_F(r) f[r]
#define READ_X(r) x[r]
#define WRITE_F(value)                                                                             \
    f[o->rd & 31] = (value);                                                                       \
    h->fs = FACET_FS_DIRTY
#define WRITE_X(value) x[o->rd] = (value)
#define FP(row, dst, src, value)                                                                   \
    L_##row:                                                                                       \
    {                                                                                              \
        const uint64_t a = READ_##src(o->rs1), b_ = f[o->rs2], c = f[o->rs3];                      \
        const unsigned rm = o->rm == 7 ? h->frm : o->rm;                                           \
        unsigned raised = 0, *fl = &raised;                                                        \
        if (h->fs == FACET_FS_OFF || rm > 4) {                                                     \
            LEAVE_BEFORE();                                                                        \
        }                                                                                          \
        {                                                                                          \
            const uint64_t b = b_;                                                                 \
            (void)a, (void)b, (void)c, (void)fl;                                                   \
            WRITE_##dst(value);                                                                    \
        }                                                                                          \
        if (raised != 0) {                                                                         \
            facet_hart_raise(h, raised);                                                           \
        }                                                                                          \
        NEXT();                                                                                    \
    }
#include "xphmg/fp.def"
#pragma GCC diagnostic pop

L_LUI:
L_AUIPC:
    x[o->rd] = (uint64_t)o->imm;
    NEXT();

#define LOAD(row, size, file, value_)                                                              \
    L_##row:                                                                                       \
    {                                                                                              \
        const uint64_t offset = x[o->rs1] + (uint64_t)o->imm - ram.base;                           \
        if (__builtin_expect(offset >= ram.span, 0)) {                                             \
            LEAVE_BEFORE();                                                                        \
        }                                                                                          \
        const uint64_t v = facet_load_le(ram.bytes + offset, size);                                \
        file[o->rd] = (value_);                                                                    \
        NEXT();                                                                                    \
    }
    LOAD(LB, 1, x, (uint64_t)(int64_t)(int8_t)v)
    LOAD(LH, 2, x, (uint64_t)(int64_t)(int16_t)v)
    LOAD(LW, 4, x, (uint64_t)(int64_t)(int32_t)v)
    LOAD(LD, 8, x, v)
    LOAD(LBU, 1, x, v)
    LOAD(LHU, 2, x, v)
    LOAD(LWU, 4, x, v)
#undef LOAD

#define LOAD_F(row, size, box)                                                                     \
    L_##row:                                                                                       \
    {                                                                                              \
        const uint64_t offset = x[o->rs1] + (uint64_t)o->imm - ram.base;                           \
        if (__builtin_expect(offset >= ram.span || h->fs == FACET_FS_OFF, 0)) {                    \
            LEAVE_BEFORE();                                                                        \
        }                                                                                          \
        f[o->rd & 31] = facet_load_le(ram.bytes + offset, size) | (box);                           \
        h->fs = FACET_FS_DIRTY;                                                                    \
        NEXT();                                                                                    \
    }
    LOAD_F(FLW, 4, UINT64_C(0xFFFFFFFF00000000))
    LOAD_F(FLD, 8, 0)
#undef LOAD_F

#define STORE(row, size, value_)                                                                   \
    L_##row:                                                                                       \
    {                                                                                              \
        const uint64_t offset = x[o->rs1] + (uint64_t)o->imm - ram.base;                           \
        if (__builtin_expect(offset >= ram.store_span, 0)) {                                       \
            LEAVE_BEFORE();                                                                        \
        }                                                                                          \
        const unsigned page = code_pages[offset >> FACET_MEM_PAGE_BITS] |                          \
                              code_pages[(offset + (size)-1) >> FACET_MEM_PAGE_BITS];              \
        if (__builtin_expect((page & FACET_PAGE_WATCHED) != 0, 0)) {                               \
            LEAVE_BEFORE();                                                                        \
        }                                                                                          \
        facet_store_le(ram.bytes + offset, size, value_);                                          \
        facet_window_mark(&ram, offset, size);                                                     \
        if (__builtin_expect(page != 0, 0)) {                                                      \
            goto code_written;                                                                     \
        }                                                                                          \
        NEXT();                                                                                    \
    }
    STORE(SB, 1, x[o->rs2])
    STORE(SH, 2, x[o->rs2])
    STORE(SW, 4, x[o->rs2])
    STORE(SD, 8, x[o->rs2])
#undef STORE

#define STORE_F(row, size)                                                                         \
    L_##row:                                                                                       \
    {                                                                                              \
        const uint64_t offset = x[o->rs1] + (uint64_t)o->imm - ram.base;                           \
        if (__builtin_expect(offset >= ram.store_span || h->fs == FACET_FS_OFF, 0)) {              \
            LEAVE_BEFORE();                                                                        \
        }                                                                                          \
        const unsigned page = code_pages[offset >> FACET_MEM_PAGE_BITS] |                          \
                              code_pages[(offset + (size)-1) >> FACET_MEM_PAGE_BITS];              \
        if (__builtin_expect((page & FACET_PAGE_WATCHED) != 0, 0)) {                               \
            LEAVE_BEFORE();                                                                        \
        }                                                                                          \
        facet_store_le(ram.bytes + offset, size, f[o->rs2]);                                       \
        facet_window_mark(&ram, offset, size);                                                     \
        if (__builtin_expect(page != 0, 0)) {                                                      \
            goto code_written;                                                                     \
        }                                                                                          \
        NEXT();                                                                                    \
    }
    STORE_F(FSW, 4)
    STORE_F(FSD, 8)
#undef STORE_F

code_written: /* the store is done; what was decoded may be stale */
    left -= o->index + 1u;
    pc = b->pc + (o + 1)->distance;
    facet_block_cache_flush(cache);
    goto find;

L_FENCE:
    NEXT();

#define BRANCH(row, condition)                                                                     \
    L_##row:                                                                                       \
    {                                                                                              \
        if (condition) {                                                                           \
            goto taken;                                                                            \
        }                                                                                          \
        NEXT();                                                                                    \
    }
    BRANCH(BEQ, x[o->rs1] == x[o->rs2])
    BRANCH(BNE, x[o->rs1] != x[o->rs2])
    BRANCH(BLT, (int64_t)x[o->rs1] < (int64_t)x[o->rs2])
    BRANCH(BGE, (int64_t)x[o->rs1] >= (int64_t)x[o->rs2])
    BRANCH(BLTU, x[o->rs1] < x[o->rs2])
    BRANCH(BGEU, x[o->rs1] >= x[o->rs2])
#undef BRANCH

L_JAL:
    x[o->rd] = b->pc + o->distance + o->rs3;
taken : {
    struct op *from =
        (struct op *)(uintptr_t)o; /* the arena is ours; ops are const to the bodies */

    left -= o->index + 1u;
    pc = (uint64_t)o->imm;
    b = from->link;
    if (__builtin_expect(b == NULL, 0)) {
        b = cache->table[table_index(pc)];
        if (b == NULL || b->pc != pc) {
            size_t used = cache->arena_used;

            b = translate(cache, h, pc, code, &&L_STOP);
            if (b == NULL) {
                goto out;
            }
            if (cache->arena_used < used) { /* dropped everything: `from` is gone */
                ENTER();
            }
        }
        from->link = b;
    }
    ENTER();
}
L_JALR : {
    const uint64_t target = (x[o->rs1] + (uint64_t)o->imm) & ~UINT64_C(1);

    x[o->rd] = b->pc + o->distance + o->rs3;
    left -= o->index + 1u;
    pc = target;
    goto find;
}
L_STOP: /* behind the last operation */
    left -= o->index;
    pc = b->pc + o->distance;
    if (o->imm != 0) {
        goto find;
    }
out:
    h->pc = pc;
    h->retired += budget - left;
    return why;
}
