/* Inside the block executor: what a decoded block looks like, shared by block_translate.c, which
 * makes blocks, and block.c, which keeps and runs them.
 *
 * A block is a trace: it starts at one pc, runs straight on through conditional branches that are
 * not taken, follows jumps and calls, and may come back from the calls it followed. It ends in
 * front of an instruction that only step.c executes, at an indirect jump, or at BLOCK_MAX
 * instructions. Its operations lie one after another; taken branches leave through `link`.
 *
 * Each operation holds the address of its code. There is more code than rows:
 *   - the last result stays in a local variable, the accumulator; an operation that reads it has
 *     the form _A (first operand) or _B (second operand), which spares the way through x[];
 *   - pairs of block_pairs.def run as one operation;
 *   - special cases: constants, moves, comparisons with zero.
 * Instructions without effect (results for x0, FENCE, jumps that the trace follows) have no
 * operation and only count. */
#ifndef FACET_XPHMG_BLOCK_IMPL_H
#define FACET_XPHMG_BLOCK_IMPL_H

#include "xphmg/block.h"
#include "xphmg/hart.h"

enum {
    BLOCK_MAX = 64,                /* instructions */
    BLOCK_OPS = 2 * BLOCK_MAX + 4, /* operations with exits, at most */
    TABLE_BITS = 14,               /* direct-mapped pc -> block */
    ARENA_OPS = 1 << 18,           /* when full, everything is dropped and decoding starts again */
    DEAD = 32,                     /* x[32] takes results for x0 */
};

/* The code of every operation. Rows with forms: the plain one, then _A, then _B. */
enum kind {
#define ALU_RR(row, value) K_##row, K_##row##_A, K_##row##_B,
#define ALU_RI(row, value) K_##row, K_##row##_A,
#define ALU_R(row, value) K_##row, K_##row##_A,
#include "xphmg/alu.def"
#define LOAD(row, size, value) K_##row, K_##row##_A,
#define STORE(row, size) K_##row, K_##row##_A, K_##row##_B,
#define LOAD_F(row, size) K_##row, K_##row##_A,
#define STORE_F(row, size) K_##row, K_##row##_A,
#define BRANCH(row, condition) K_##row, K_##row##_A, K_##row##_B,
#define BRANCH_Z(name, condition) K_##name, K_##name##_A,
#include "xphmg/block_rows.def"
#define FP(row, dst, src, value) K_##row,
#include "xphmg/fp.def"
    K_LI,      /* 32-bit constant */
    K_LI_LONG, /* 64-bit constant */
    K_MV,
    K_MV_A,
    K_JR, /* JALR that keeps no return address */
    K_JALR,
    K_RETURN, /* JALR that the trace expects to go to imm64 */
    K_GOTO,   /* on to the block of `link` */
    K_EXIT,   /* where a link leads before it is known */
    K_STOP,   /* the instruction is for step.c */
#define PAIR(form1, row1, form2, row2) K_##row1##_##form1##_##row2##_##form2,
#include "xphmg/block_pairs.def"
    K_COUNT
};

/* 32 bytes, two to a cache line. The second half of a pair has rd2, c, d and imm2. */
struct op {
    const void *code;
    union {
        struct {
            int32_t imm, imm2;
        };
        uint64_t imm64; /* constant, expected target of a return, pc behind an exit */
    };
    uint8_t rd, a, b;
    uint8_t rd2, c, d; /* c: rs3 of floating point, d: its rounding mode */
    uint16_t done;     /* instructions of the block behind us when we leave through `link` */
    struct op *link;   /* first operation of the next block, or an exit; of an exit: its branch */
};

/* What only the ways out of a block need, beside each operation. */
struct site {
    uint64_t pc, second_pc, next_pc; /* of the first half, the second half, and behind both */
    uint8_t index, second, next;     /* the same in instructions of the block */
    uint8_t count;                   /* instructions of the whole block, at its first operation */
};

struct entry {
    uint64_t pc; /* odd: free */
    struct op *first;
};

struct facet_block_cache {
    struct entry table[1 << TABLE_BITS];
    uint8_t *code_pages; /* one byte per page of the RAM window: 1 = has cached code */
    size_t page_count;
    struct op *ops;     /* ARENA_OPS */
    struct site *sites; /* as many */
    size_t used;
};

static inline struct entry *facet_block_entry(facet_block_cache *cache, uint64_t pc)
{
    return &cache->table[(pc >> 1) & ((1 << TABLE_BITS) - 1)];
}

/* Decodes the block at pc; `code` has the code of every kind. There is room for BLOCK_OPS. */
struct op *facet_block_translate(facet_block_cache *cache,
                                 const struct facet_hart *h,
                                 uint64_t pc,
                                 const void *const *code);

#endif
