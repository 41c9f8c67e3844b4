/* Inside the block executor: what a decoded block looks like, shared by block_translate.c, which
 * makes blocks, block_exec.c, which has the code of the operations, and block.c, which keeps and
 * runs them.
 *
 * A block is a trace: it starts at one pc, runs straight on through conditional branches that are
 * not taken, follows jumps and calls, and may come back from the calls it followed. It ends in
 * front of an instruction that only step.c executes, at an indirect jump, or at BLOCK_MAX
 * instructions. Its operations lie one after another; taken branches leave through `link`.
 *
 * Each operation holds the function that runs it and then calls the next one's in tail position:
 * a jump. There are more functions than rows:
 *   - the last result is handed on, the accumulator; an operation that reads it has the form _A
 *     (first operand) or _B (second operand), which spares the way through x[];
 *   - pairs of block_pairs.def run as one operation;
 *   - special cases: constants, moves, comparisons with zero, floating point by the host;
 *   - one for whatever the units execute, and csr* that reach them (K_VENDOR), and a few for what
 * is done most often there. Instructions without effect (results for x0, FENCE, jumps that the
 * trace follows) have no operation and only count.
 *
 * Where the host can run code made at run time, a block begins with one more operation, which
 * counts how often it is entered. When it is hot, block_emit.c makes host code of the whole block,
 * and that becomes the code of this operation: whoever enters the block, an operation or other host
 * code, does it in the same way as before. The operations behind it stay, for the end of a budget.
 */
#ifndef FACET_XPHMG_HART_BLOCK_IMPL_H
#define FACET_XPHMG_HART_BLOCK_IMPL_H

#include "host_code/code_memory.h"
#include "xphmg/hart/block.h"
#include "xphmg/hart/hart.h"

enum {
    BLOCK_MAX = 64,                /* instructions */
    BLOCK_OPS = 2 * BLOCK_MAX + 5, /* operations with the counting one and exits, at most */
    TABLE_BITS = 14,               /* direct-mapped pc -> block */
    ARENA_OPS = 1 << 18,           /* when full, everything is dropped and decoding starts again */
    ARENA_INSNS = 1 << 14,         /* the same for instructions of the units */
    ARENA_WORDS = 1 << 18,         /* the same for instructions that are counted */
    DEAD = 32,                     /* x[32] takes results for x0 */
    /* Instructions between two returns to facet_block_run. Compilers turn calls in tail position
     * into jumps, but for builds without optimisation or with sanitizers; there this many frames
     * must fit on the stack. */
    CHUNK = 4096,
    LONG_CHUNK = 1 << 15, /* where they are jumps (facet_block_jumps) */
};

/* The code of every operation. Rows with forms: the plain one, then _A, then _B. */
enum kind {
#define ALU_RR(row, value) K_##row, K_##row##_A, K_##row##_B,
#define ALU_RI(row, value) K_##row, K_##row##_A,
#define ALU_R(row, value) K_##row, K_##row##_A,
#include "xphmg/hart/alu.def"
#define LOAD(row, size, value) K_##row, K_##row##_A,
#define STORE(row, size) K_##row, K_##row##_A, K_##row##_B,
#define LOAD_F(row, size) K_##row, K_##row##_A,
#define STORE_F(row, size) K_##row, K_##row##_A,
#define BRANCH(row, condition) K_##row, K_##row##_A, K_##row##_B,
#define BRANCH_Z(name, condition) K_##name, K_##name##_A,
#include "xphmg/hart/block_rows.def"
#define FP(row, dst, src, value) K_##row,
#include "xphmg/hart/fp.def"
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
    K_VENDOR, /* one for facet_hart_perform */
    /* The same; what they nearly always do is done at once. */
    K_UNIT_CSRW, /* csrw of a register of the units that is one word */
    K_PREFIX,    /* svp.one.vlstep */
    K_RT,        /* RT.BBOX and RT.TRI */
    K_HEAT,      /* counts the times that the block is entered */
    K_PASS,      /* does nothing */
    K_ENTER,     /* host code, where calls in tail position are no jumps */
#define LOAD(row, size, value) K_WIDE_##row,
#define STORE(row, size) K_WIDE_##row,
#define LOAD_F(row, size) K_WIDE_##row,
#define STORE_F(row, size) K_WIDE_##row,
#include "xphmg/hart/block_rows.def"
/* The same where misaligned accesses trap. */
#define LOAD(row, size, value) K_STRICT_##row,
#define STORE(row, size) K_STRICT_##row,
#define LOAD_F(row, size) K_STRICT_##row,
#define STORE_F(row, size) K_STRICT_##row,
#include "xphmg/hart/block_rows.def"
#define HOST(row, real, value) K_HOST_##row,
#define HOST_TEST(row, real, value) K_HOST_##row,
#include "xphmg/hart/block_host.def"
    K_SINGLE, /* how many there are, without the pairs */
    K_PAIR = K_SINGLE - 1,
#define PAIR(form1, row1, form2, row2) K_##row1##_##form1##_##row2##_##form2,
#include "xphmg/hart/block_pairs.def"
    K_COUNT
};

struct op;

/* `left` is what remains of the chunk minus BLOCK_MAX, so that one subtraction shows whether every
 * block fits; bytes and span are those of the RAM window. */
#define FACET_BLOCK_PARAMETERS                                                                     \
    struct op *o, struct facet_hart *h, int64_t left, uint64_t acc, uint8_t *bytes, uint64_t span
typedef void facet_block_code(FACET_BLOCK_PARAMETERS);
extern facet_block_code *const facet_block_codes[K_COUNT];

/* 32 bytes, two to a cache line. The second half of a pair has a2, b2, d2 and imm2. Loads and
 * stores subtract their immediate, unsigned, for an offset in the RAM window. */
struct op {
    facet_block_code *code;
    union {
        struct {
            int32_t imm1, imm2;
        };
        uint64_t imm64; /* constant, expected target of a return, pc after an exit */
    };
    uint8_t a1, b1, d1; /* operands and result */
    uint8_t a2, b2, d2; /* of floating point, a2: third operand, b2: rounding mode */
    uint16_t done;      /* instructions of the block behind us when we leave it here */
    union {
        struct op *link; /* first operation of the next block, or an exit; of an exit: its branch */
        const struct facet_insn *insn; /* K_VENDOR and the like; b2: another one follows directly */
    };
};

/* What only the ways out of a block need, beside each operation. */
struct site {
    uint64_t pc, second_pc, next_pc; /* of the first half, the second half, and after both */
    uint8_t index, second, next;     /* the same in instructions of the block */
    /* Of the first operation: the block's pc, which may lie before its own, and instructions. */
    uint8_t count;
    uint64_t start;
    uint32_t words; /* while instructions are counted: the first of the block's in cache->words */
};

/* How often a block was left at an operation. Whatever way it is run and left, the instructions
 * from its first to some other have retired then: so many times counts them all, and nothing has to
 * be counted where nothing leaves. */
struct facet_block_tally {
    uint64_t out;    /* after `done` instructions */
    uint64_t before; /* in front of the operation, */
    uint64_t middle; /* of the second half of a pair */
};

/* An instruction of a block, for the profile: the bytes may be others by then. */
struct word {
    uint64_t pc;
    uint64_t upto; /* while summing: times that the block was left right after it */
    uint32_t word;
    bool last; /* of its block */
};

struct entry {
    uint64_t pc; /* odd: free */
    struct op *first;
};

struct facet_block_cache {
    struct entry table[1 << TABLE_BITS];
    uint16_t taken[1 << TABLE_BITS]; /* the entries that are not free: forgetting them is quick */
    size_t taken_count;
    uint64_t ram_base;
    uint8_t *code_lines; /* enum facet_line of each line */
    size_t line_count;
    size_t watched[2];  /* lines; line_count and more: none */
    struct op *ops;     /* ARENA_OPS */
    struct site *sites; /* as many */
    size_t used;
    uint64_t flushes;         /* how often everything was dropped */
    struct facet_insn *insns; /* ARENA_INSNS */
    size_t insns_used;
    uint32_t *marked; /* the lines with code, MARKED_MAX at most */
    size_t marked_count;
    int64_t counted; /* `left` up to which h->retired counts */
    int64_t left;    /* when the operations returned: as above, and why */
    enum facet_block_stop why;
    struct facet_trap trap;      /* FACET_BLOCK_TRAP */
    unsigned heat;               /* times that a block is entered before it becomes host code */
    struct facet_counts *counts; /* of the profile; NULL: none */
    struct facet_hart *harts;    /* those that count */
    uint32_t hart_count;
    struct word *words; /* ARENA_WORDS of the blocks */
    size_t words_used;
    facet_code_memory *host;   /* of the blocks; NULL: no host code */
    facet_code_memory *bridge; /* of the way from C into it */
    /* Keeps what C expects to find in registers after a call, and calls `code`. */
    void (*enter)(FACET_BLOCK_PARAMETERS, facet_block_code *code);
};

/* A block in the making. */
struct trace {
    struct op *ops;
    struct site *sites;
    uint16_t kinds[BLOCK_OPS];   /* the kind of each operation */
    uint16_t plain[BLOCK_OPS];   /* the same without the accumulator */
    uint64_t targets[BLOCK_OPS]; /* of those with a link */
    bool linked[BLOCK_OPS];
    bool paired[BLOCK_OPS];
    unsigned n;          /* operations */
    unsigned index;      /* instructions */
    uint64_t pc;         /* of the instruction */
    uint64_t next_pc;    /* after it */
    uint64_t base;       /* of the RAM window */
    bool strict;         /* misaligned accesses trap */
    uint64_t start;      /* pc of the block */
    bool apart;          /* one operation per instruction: no pairs, no accumulator */
    unsigned acc;        /* register that the accumulator mirrors, 0 for none */
    uint64_t returns[8]; /* where the calls that the trace followed come back to */
    unsigned depth;
    uint32_t words; /* as in a site */
    bool keeps;     /* its instructions there */
};

enum { MARKED_MAX = 1 << 16, MARKED_SAFE = MARKED_MAX - 2 * BLOCK_MAX };

static inline struct entry *facet_block_entry(facet_block_cache *cache, uint64_t pc)
{
    return &cache->table[(pc >> 1) & ((1 << TABLE_BITS) - 1)];
}

/* Whether one more block of any kind fits. */
static inline bool facet_block_fits(const facet_block_cache *cache)
{
    return cache->used + BLOCK_OPS <= ARENA_OPS && cache->insns_used + BLOCK_MAX <= ARENA_INSNS &&
           cache->words_used + BLOCK_MAX <= ARENA_WORDS && cache->marked_count <= MARKED_SAFE;
}

/* The first operation of the block at pc, made if need be; everything else may be dropped then. */
struct op *facet_block_find(facet_block_cache *cache, const struct facet_hart *h, uint64_t pc);

/* Decodes the block at pc. There is room for BLOCK_OPS and all its lines. */
struct op *facet_block_translate(facet_block_cache *cache, const struct facet_hart *h, uint64_t pc);
/* The operations of the block at t->start, without code or links. `ops`, `sites` and `apart` are
 * the caller's. */
void facet_block_decode(facet_block_cache *cache, const struct facet_hart *h, struct trace *t);

/* ---- host code --------------------------------------------------------------------------------
 */

/* Whether operations jump to one another in this build (block_exec.c): then host code may use every
 * register of the host, and is entered through `enter` once per chunk, not once per block. */
extern const bool facet_block_jumps;

/* The operation runs the host code at `address`. */
static inline void facet_block_host_op(struct op *o, const uint8_t *address)
{
    o->imm64 = (uint64_t)(uintptr_t)address;
    o->code =
        facet_block_jumps ? (facet_block_code *)(uintptr_t)address : facet_block_codes[K_ENTER];
}

/* The block at `first` is hot: makes its host code. Returns what to run now: `first`, or when
 * everything had to be dropped, the same block made anew. */
struct op *facet_block_heat(facet_block_cache *cache, const struct facet_hart *h, struct op *first);

/* The ways out of a block that host code takes. */
facet_block_code facet_block_tight, facet_block_find_next;
void facet_block_leave(struct facet_hart *h, uint64_t pc, int64_t left, enum facet_block_stop why);

/* Writes the code of `enter` to `bytes`; returns its size. */
size_t facet_block_emit_enter(uint8_t *bytes, size_t size);
/* Writes host code of the trace, whose operations in the arena are behind `first`, to `bytes`;
 * returns its size, more than `size` when there is not enough room. Takes operations from the
 * arena.
 */
size_t facet_block_emit(
    facet_block_cache *cache, struct op *first, const struct trace *t, uint8_t *bytes, size_t size);

#endif
