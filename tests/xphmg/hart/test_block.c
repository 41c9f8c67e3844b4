/* The block executor, without and with host code, against the plain one, on programs made to reach
 * its special ways: loops, calls and returns, indirect jumps, traps, code that rewrites itself,
 * every pair of instructions that it fuses, budgets that end anywhere, and floating point that the
 * host computes. Registers, flags, counters and memory must be the same after every number of
 * instructions. */
#include "harness.h"

#include "assembler/assemble.h"
#include "machine/counts.h"
#include "object/object.h"
#include "xphmg/hart/block.h"
#include "xphmg/hart/hart.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { BASE = 0x80000000u, RAM_BYTES = 1 << 16, DATA = 0x80008000u, STACK = 0x8000f000u };

struct bench {
    facet_mem *mem;
    struct facet_hart hart;
    facet_block_cache *cache;
    uint64_t *seen; /* how often the instruction at each half word retired; NULL: not asked */
};

/* Blocks stay blocks, or become host code when they are entered this often. */
static const unsigned heats[] = {0, 1, 3};
enum { HEATS = sizeof heats / sizeof heats[0] };

static void bench_make(struct bench *b, uint64_t base, unsigned heat)
{
    struct facet_error err = {0};

    memset(b, 0, sizeof *b);
    CHECK_EQ(facet_mem_create(&b->mem, &err), FACET_OK);
    CHECK_EQ(facet_mem_add_ram(b->mem, "dram", FACET_MEM_RAM, base, RAM_BYTES, &err), FACET_OK);
    b->hart.mem = b->mem;
    b->hart.ram = facet_mem_window(b->mem, base);
    facet_hart_reset(&b->hart, base);
    CHECK_EQ(facet_block_cache_create(&b->hart, &b->cache, &err), FACET_OK);
    facet_block_cache_host_code(b->cache, heat);
}

static void bench_free(struct bench *b)
{
    facet_block_cache_destroy(b->cache);
    facet_mem_destroy(b->mem);
}

/* A test of every way to run a block. */
#define TEST_EACH_HEAT(name)                                                                       \
    static void name##_with(unsigned heat);                                                        \
    TEST(name, "")                                                                                 \
    {                                                                                              \
        for (unsigned i = 0; i < HEATS; i++) {                                                     \
            name##_with(heats[i]);                                                                 \
        }                                                                                          \
    }                                                                                              \
    static void name##_with(unsigned heat)

/* Text under construction. */
struct text {
    char bytes[1 << 16];
    size_t used;
    unsigned labels;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    t->used += (size_t)vsnprintf(t->bytes + t->used, sizeof t->bytes - t->used, format, arguments);
    va_end(arguments);
}

static unsigned below(unsigned limit)
{
    return (unsigned)(harness_random() % limit);
}

/* A register that random instructions write. */
static unsigned reg(void)
{
    static const uint8_t regs[] = {5, 6, 7, 10, 11, 12, 13, 14, 15};

    return regs[below(sizeof regs)];
}

/* Every row of alu.def that put_computation does not have. */
static void put_rare_computation(struct text *t)
{
    static const char *const two[] = {
        "sltu",   "srl",    "sllw",   "srlw",      "sraw",      "mulh",      "mulhsu",
        "mulhu",  "divu",   "remu",   "divw",      "divuw",     "remw",      "remuw",
        "add.uw", "sh1add", "sh3add", "sh1add.uw", "sh2add.uw", "sh3add.uw", "andn",
        "orn",    "xnor",   "maxu",   "min",       "minu",      "ror",       "rolw",
        "rorw",   "bclr",   "bext",   "binv",      "bset"};
    static const char *const one[] = {"clz",
                                      "ctz",
                                      "cpop",
                                      "clzw",
                                      "ctzw",
                                      "cpopw",
                                      "sext.b",
                                      "sext.h",
                                      "zext.h",
                                      "orc.b",
                                      "rev8"};
    static const char *const shifts[] = {"slli.uw", "rori", "bclri", "bexti", "binvi", "bseti"};

    switch (below(4)) {
    case 0:
        put(t, "%s x%u, x%u\n", one[below(11)], reg(), reg());
        break;
    case 1:
        put(t, "%s x%u, x%u, %u\n", shifts[below(6)], reg(), reg(), below(64));
        break;
    case 2:
        put(t, "roriw x%u, x%u, %u\n", reg(), reg(), below(32));
        break;
    default:
        put(t, "%s x%u, x%u, x%u\n", two[below(33)], reg(), below(8) ? reg() : 0, reg());
        break;
    }
}

/* The rows that the executor fuses or treats apart, often; now and then another. */
static void put_computation(struct text *t)
{
    static const char *const two[] = {"add",
                                      "addw",
                                      "mulw",
                                      "xor",
                                      "sub",
                                      "subw",
                                      "and",
                                      "or",
                                      "mul",
                                      "sll",
                                      "sra",
                                      "slt",
                                      "div",
                                      "rem",
                                      "sh2add",
                                      "max",
                                      "rol"};
    static const char *const one[] = {"addi", "addiw", "andi", "xori", "ori", "slti", "sltiu"};
    static const char *const shifts[] = {"slli", "srli", "srai"};
    static const char *const word_shifts[] = {"slliw", "srliw", "sraiw"};
    static const char *const small[] = {"c.add", "c.mv", "c.sub", "c.xor", "c.and"};

    switch (below(10)) {
    case 9:
        put_rare_computation(t);
        break;
    case 0:
        put(t, "li x%u, %d\n", reg(), (int)(harness_random() >> (33 + below(31))));
        break;
    case 1:
        put(t, "mv x%u, x%u\n", reg(), reg());
        break;
    case 2:
        put(t, "%s x%u, x%u, %u\n", shifts[below(3)], reg(), reg(), below(64));
        break;
    case 3:
        put(t, "%s x%u, x%u, %u\n", word_shifts[below(3)], reg(), reg(), below(32));
        break;
    case 4: /* registers of the short encodings */
        put(t, "%s x%u, x%u\n", small[below(5)], 10 + below(6), 10 + below(6));
        break;
    case 5:
    case 6:
        put(t,
            "%s x%u, x%u, %d\n",
            one[below(below(2) ? 3 : 7)],
            reg(),
            below(8) ? reg() : 0,
            (int)below(4096) - 2048);
        break;
    default:
        put(t,
            "%s x%u, x%u, x%u\n",
            two[below(below(2) ? 9 : 17)],
            below(20) ? reg() : 0,
            reg(),
            below(8) ? reg() : 0);
        break;
    }
}

static void put_access(struct text *t)
{
    static const char *const loads[] = {"ld", "lw", "lh", "lbu", "lb", "lhu", "lwu"};
    static const char *const stores[] = {"sd", "sw", "sh", "sb"};
    int offset = (int)below(512) - 256;

    if (below(2)) {
        put(t, "%s x%u, %d(x8)\n", loads[below(7)], below(20) ? reg() : 0, offset);
    } else {
        put(t, "%s x%u, %d(x8)\n", stores[below(4)], reg(), offset);
    }
}

static void put_floating(struct text *t)
{
    static const char *const two[] = {
        "fadd", "fsub", "fmul", "fdiv", "fmin", "fmax", "fsgnj", "fsgnjn", "fsgnjx"};
    static const char *const integers[] = {"w", "wu", "l", "lu"};
    static const char *const three[] = {"fmadd", "fmsub", "fnmsub", "fnmadd"};
    static const char *const tests[] = {"feq", "flt", "fle"};
    char format = "ds"[below(2)];

    switch (below(10)) {
    case 0:
        put(t,
            "%s.%c f%u, f%u, f%u, f%u\n",
            three[below(4)],
            format,
            below(8),
            below(8),
            below(8),
            below(8));
        break;
    case 1:
        put(t, "%s.%c x%u, f%u, f%u\n", tests[below(3)], format, reg(), below(8), below(8));
        break;
    case 2:
        put(t, "fl%c f%u, %u(x8)\n", format == 'd' ? 'd' : 'w', below(8), 8 * below(32));
        break;
    case 3:
        put(t, "fs%c f%u, %d(x8)\n", format == 'd' ? 'd' : 'w', below(8), -8 * (int)below(30));
        break;
    case 4:
        put(t, "fsqrt.%c f%u, f%u\n", format, below(8), below(8));
        break;
    case 5:
        put(t, "fcvt.%c.%s f%u, x%u\n", format, integers[below(4)], below(8), reg());
        break;
    case 6:
        put(t,
            "fcvt.%s.%c x%u, f%u%s\n",
            integers[below(4)],
            format,
            reg(),
            below(8),
            below(4) ? ", rtz" : "");
        break;
    case 7:
        switch (below(4)) {
        case 0:
            put(t, "fmv.x.%c x%u, f%u\n", "wd"[below(2)], reg(), below(8));
            break;
        case 1:
            put(t, "fmv.%c.x f%u, x%u\n", "wd"[below(2)], below(8), reg());
            break;
        case 2:
            put(t, "fcvt.d.s f%u, f%u\n", below(8), below(8));
            break;
        default:
            put(t, "fcvt.s.d f%u, f%u\n", below(8), below(8));
            break;
        }
        break;
    default:
        put(t, "%s.%c f%u, f%u, f%u\n", two[below(9)], format, below(8), below(8), below(8));
        break;
    }
}

/* A loop of a few turns, closed by a branch or by a jump. */
static void put_loop(struct text *t)
{
    const unsigned label = t->labels, turns = 1 + below(12);
    const bool jumps = below(3) == 0;

    t->labels += 2;
    put(t, "li x19, %u\nL%u:\n", turns, label);
    if (jumps) {
        put(t, "beqz x19, L%u\n", label + 1);
    }
    for (unsigned n = 1 + below(6); n > 0; n--) {
        if (below(8) == 0) {
            put_floating(t);
        } else if (below(3) == 0) {
            put_access(t);
        } else {
            put_computation(t);
        }
    }
    put(t, jumps ? "addi x19, x19, -1\nj L%u\n" : "addi x19, x19, -1\nbgtz x19, L%u\n", label);
    put(t, "L%u:\n", label + 1);
}

/* Straight code with loops, forward branches, calls of f0..f(callees - 1), jumps, traps. */
static void put_body(struct text *t, unsigned length, unsigned callees)
{
    static const char *const branches[] = {"beq", "bne", "blt", "bge", "bltu", "bgeu"};

    for (unsigned i = 0; i < length; i++) {
        unsigned kind = below(21), label = t->labels;

        if (kind < 9) {
            put_computation(t);
        } else if (kind < 13) {
            put_access(t);
        } else if (kind < 15) {
            put_floating(t);
        } else if (kind < 18) {
            t->labels++;
            put(t,
                "%s x%u, x%u, L%u\n",
                branches[below(6)],
                below(4) ? reg() : 0,
                below(2) ? reg() : 0,
                label);
            put_computation(t);
            if (below(2)) {
                put_access(t);
            }
            put(t, "L%u:\n", label);
        } else if (kind == 20) {
            put_loop(t);
        } else if (kind == 18 && callees > 0) {
            if (below(3)) {
                put(t, "jal ra, f%u\n", below(callees));
            } else {
                put(t, "la x28, f%u\njalr ra, 0(x28)\n", below(callees));
            }
        } else if (below(4) == 0) {
            put(t, "ld x29, 0(zero)\n"); /* the handler goes on behind it */
        } else {
            t->labels++;
            put(t, "j L%u\n", label);
            put_computation(t);
            put(t, "L%u: fence\n", label);
        }
    }
}

/* A function: its calls keep ra on the stack; some rewrite an instruction of another. */
static void put_function(struct text *t, unsigned number, bool rewrites)
{
    put(t, "f%u: addi sp, sp, -16\nsd ra, 8(sp)\n", number);
    put_body(t, 3 + below(8), number);
    if (rewrites) {
        put(t,
            "la x30, patch%u\nla x31, words\nlw x28, %u(x31)\nsw x28, 0(x30)\n",
            number / 2,
            4 * below(4));
        if (below(2)) {
            put(t, "fence.i\n");
        }
    }
    put(t, ".align 2\npatch%u: addi x5, x5, 1\n", number);
    put_body(t, 1 + below(4), 0);
    put(t, "ld ra, 8(sp)\naddi sp, sp, 16\nret\n");
}

static void put_program(struct text *t, bool rewrites)
{
    unsigned functions = 1 + below(4);

    t->used = 0;
    t->labels = 0;
    put(t, "la x28, handler\ncsrw mtvec, x28\nli x28, 0x6000\ncsrs mstatus, x28\n");
    put(t, "csrwi frm, %u\nli x18, %u\n", below(4) ? 0 : below(5), 2 + below(6));
    put(t, "loop:\n");
    if (below(3) == 0) { /* FS becomes Clean: who makes it Dirty again? */
        put(t, "li x28, 0x6000\ncsrc mstatus, x28\nli x28, 0x4000\ncsrs mstatus, x28\n");
    }
    put_body(t, 4 + below(20), functions);
    put(t, "jal ra, f%u\n", functions - 1);
    put_body(t, below(6), functions);
    if (below(4) == 0) {
        put(t, "csrwi fflags, 0\n");
    }
    put(t, "addi x18, x18, -1\nbnez x18, loop\nj .\n");
    for (unsigned i = 0; i < functions; i++) {
        put_function(t, i, rewrites && below(2));
    }
    put(t,
        ".align 2\nhandler: csrr x29, mepc\naddi x29, x29, 4\ncsrw mepc, x29\n"
        "addi x27, x27, 1\nmret\n");
    put(t, ".align 2\nwords: addi x5, x5, 7\nxor x6, x6, x5\nsub x7, x5, x6\nmv x10, x5\n");
}

static bool assemble(const char *text, uint8_t **bytes, size_t *size)
{
    struct facet_asm_options options = {.isa = FACET_ISA_XPHMG, .file = "test.s"};
    struct facet_asm_result result;
    struct facet_error err = {0};
    uint64_t base = 0;

    if (!CHECK_MSG(facet_assemble(&options, text, strlen(text), &result, &err) == FACET_OK,
                   "%s",
                   err.message)) {
        return false;
    }
    CHECK_EQ(facet_object_flatten(result.object, bytes, size, &base, &err), FACET_OK);
    facet_asm_result_free(&result);
    return true;
}

/* The same start for every run of a program. */
struct start {
    uint8_t *code;
    size_t size;
    uint64_t base, x[32], f[32], data[512];
};

/* Numbers of all sizes, infinities, NaNs and numbers near the ends of the range. */
/* One in eight is a zero. */
static uint64_t random_double(void)
{
    static const uint16_t exponents[] = {
        0, 1, 2, 3, 0x7FD, 0x7FE, 0x7FF, 0x3FF, 0x400, 0x200, 0x5FF};
    uint64_t exponent = below(3) ? 0x3F0 + below(32) : exponents[below(11)];

    if (below(8) == 0) {
        return harness_random() << 63;
    }
    return harness_random() << 63 | exponent << 52 |
           (below(4) ? harness_random() >> 12 : harness_random() >> 12 & ~UINT64_C(0) << 40);
}

static uint64_t random_float(void)
{
    static const uint8_t exponents[] = {0, 1, 2, 3, 0xFD, 0xFE, 0xFF, 0x7F, 0x80, 0x40, 0xBF};
    uint32_t exponent = below(3) ? 0x78 + below(16) : exponents[below(11)];
    uint32_t sign = (uint32_t)harness_random() << 31;
    uint32_t bits = below(8) ? sign | exponent << 23 | (uint32_t)below(1 << 23) : sign;

    return (below(16) ? UINT64_C(0xFFFFFFFF) << 32 : 0) | bits;
}

static void start_make(struct start *s)
{
    for (int i = 0; i < 32; i++) {
        s->x[i] = below(2) ? harness_random() : harness_random() >> (32 + below(32));
        s->f[i] = i & 1 ? random_float() : random_double();
    }
    for (int i = 0; i < 512; i++) {
        s->data[i] = i & 1 ? random_float() : random_double();
    }
    s->x[0] = 0;
    s->x[2] = s->base + (STACK - BASE);
    s->x[8] = s->base + (DATA - BASE) + 2048 + below(8);
}

static void start_apply(const struct start *s, struct bench *b)
{
    static const uint8_t zeros[RAM_BYTES];

    (void)facet_mem_poke(b->mem, s->base, zeros, sizeof zeros);
    (void)facet_mem_poke(b->mem, s->base, s->code, s->size);
    (void)facet_mem_poke(b->mem, s->base + (DATA - BASE), s->data, sizeof s->data);
    facet_hart_reset(&b->hart, s->base);
    memcpy(b->hart.x, s->x, sizeof s->x);
    memcpy(b->hart.f, s->f, sizeof s->f);
    facet_block_cache_flush(b->cache);
}

static bool same(const struct bench *plain, const struct bench *fast)
{
    const struct facet_hart *a = &plain->hart, *b = &fast->hart;
    bool equal =
        a->pc == b->pc && a->retired == b->retired && a->fflags == b->fflags && a->fs == b->fs &&
        a->frm == b->frm && a->mcause == b->mcause && a->mepc == b->mepc && a->mtval == b->mtval &&
        a->mstatus == b->mstatus && a->priv == b->priv && memcmp(a->x, b->x, 32 * 8) == 0 &&
        memcmp(a->f, b->f, sizeof a->f) == 0 && memcmp(a->ram.bytes, b->ram.bytes, RAM_BYTES) == 0;

    for (int r = 0; r < 32 && !equal; r++) {
        CHECK_MSG(a->x[r] == b->x[r] && a->f[r] == b->f[r],
                  "register %d: x %" PRIx64 " %" PRIx64 ", f %" PRIx64 " %" PRIx64,
                  r,
                  a->x[r],
                  b->x[r],
                  a->f[r],
                  b->f[r]);
    }
    return CHECK_MSG(equal,
                     "pc %" PRIx64 " %" PRIx64 ", retired %" PRIu64 " %" PRIu64
                     ", fflags %x %x, fs %u %u, mcause %" PRIu64 " %" PRIu64,
                     a->pc,
                     b->pc,
                     a->retired,
                     b->retired,
                     a->fflags,
                     b->fflags,
                     a->fs,
                     b->fs,
                     a->mcause,
                     b->mcause);
}

/* Exactly `count` more steps of the plain executor; a trap is a step that retires nothing. */
static void run_plain(struct bench *b, uint64_t retired)
{
    while (b->hart.retired < retired) {
        const uint64_t pc = b->hart.pc, before = b->hart.retired;

        (void)facet_hart_step(&b->hart);
        if (b->seen != NULL && b->hart.retired != before) {
            b->seen[(pc - b->hart.ram.base) / 2]++;
        }
    }
}

static void run_fast(struct bench *b, uint64_t retired)
{
    while (b->hart.retired < retired) {
        (void)facet_block_run(b->cache, &b->hart, retired - b->hart.retired);
        if (b->hart.retired < retired) {
            (void)facet_hart_step(&b->hart);
        }
    }
}

static void program_make(struct text *text, struct start *s, uint64_t base, bool rewrites)
{
    s->base = base;
    put_program(text, rewrites);
    s->code = NULL;
    if (!assemble(text->bytes, &s->code, &s->size)) {
        return;
    }
    CHECK(s->size < DATA - BASE);
    start_make(s);
}

/* What blocks count for a profile is what the plain executor was seen to retire. */
static void counts_begin(struct bench *plain, struct bench *fast, struct facet_counts *counts)
{
    struct facet_error err = {0};

    plain->seen = calloc(RAM_BYTES / 2, sizeof *plain->seen);
    CHECK_EQ(facet_block_cache_count(fast->cache, &fast->hart, 1, counts, &err), FACET_OK);
    fast->hart.counts = counts;
}

static bool counts_end(struct bench *plain, struct bench *fast, struct facet_counts *counts)
{
    bool equal = true;

    (void)facet_block_cache_count(fast->cache, &fast->hart, 1, NULL, NULL);
    fast->hart.counts = NULL;
    CHECK(!counts->no_memory);
    for (size_t i = 0; i < counts->rows.count; i++) {
        const struct facet_counts_row *row = facet_counts_row(counts, i);

        plain->seen[(row->pc - plain->hart.ram.base) / 2] -= row->retired;
    }
    for (size_t i = 0; i < RAM_BYTES / 2; i++) {
        equal = CHECK_MSG(plain->seen[i] == 0,
                          "half word %zu: %" PRId64 " counts missing",
                          i,
                          (int64_t)plain->seen[i]) &&
                equal;
    }
    facet_counts_free(counts);
    free(plain->seen);
    plain->seen = NULL;
    return equal;
}

/* Long runs in pieces of random length; every other one is counted. */
static void compare_pieces(uint64_t base, bool rewrites, unsigned programs, unsigned heat)
{
    struct text *text = malloc(sizeof *text);
    struct facet_counts counts = {.table = NULL};
    struct bench plain, fast;
    struct start s;

    bench_make(&plain, base, 0);
    bench_make(&fast, base, heat);
    for (unsigned n = 0; n < programs && !harness_failed(); n++) {
        program_make(text, &s, base, rewrites);
        if (s.code == NULL) {
            break;
        }
        start_apply(&s, &plain);
        start_apply(&s, &fast);
        if (n % 2 == 0) {
            counts_begin(&plain, &fast, &counts);
        }
        for (uint64_t at = 0; at < 1500 && !harness_failed();) {
            at += 1 + below(below(2) ? 20 : 300);
            run_plain(&plain, at);
            run_fast(&fast, at);
            if (!same(&plain, &fast)) {
                printf("program %u:\n%s\n", n, text->bytes);
            }
        }
        if (n % 2 == 0 && !counts_end(&plain, &fast, &counts)) {
            printf("program %u:\n%s\n", n, text->bytes);
        }
        free(s.code);
    }
    bench_free(&plain);
    bench_free(&fast);
    free(text);
}

TEST_EACH_HEAT(random_programs_with_loops_and_calls)
{
    compare_pieces(BASE, false, harness_long() ? 20000 : 300, heat);
}

TEST_EACH_HEAT(random_programs_that_rewrite_themselves)
{
    compare_pieces(BASE, true, harness_long() ? 20000 : 300, heat);
}

/* Bases from which offsets do not fit 32 bits take other operations. */
TEST_EACH_HEAT(random_programs_anywhere_in_the_address_space)
{
    static const uint64_t bases[] = {
        0x10000, UINT64_C(0x123400000000), UINT64_C(0xFFFFFFFFFFF00000)};

    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        compare_pieces(bases[i], true, harness_long() ? 1000 : 40, heat);
    }
}

TEST_EACH_HEAT(a_budget_may_end_at_every_instruction)
{
    struct text *text = malloc(sizeof *text);
    struct bench plain, fast;
    struct start s;

    bench_make(&plain, BASE, 0);
    bench_make(&fast, BASE, heat);
    for (unsigned n = 0; n < (harness_long() ? 100 : 6) && !harness_failed(); n++) {
        program_make(text, &s, BASE, n % 2 == 0);
        if (s.code == NULL) {
            break;
        }
        start_apply(&s, &plain);
        for (uint64_t at = 1; at < 300 && !harness_failed(); at++) {
            start_apply(&s, &fast);
            run_plain(&plain, at);
            run_fast(&fast, at);
            if (!same(&plain, &fast)) {
                printf("program %u:\n%s\n", n, text->bytes);
            }
            /* Nothing runs past the budget, and what is run is counted. */
            start_apply(&s, &fast);
            (void)facet_block_run(fast.cache, &fast.hart, at);
            CHECK(fast.hart.retired <= at);
        }
        free(s.code);
    }
    bench_free(&plain);
    bench_free(&fast);
    free(text);
}

/* Every operation of the host beside src/num, from all kinds of operands, flags and modes. */
TEST_EACH_HEAT(floating_point_of_the_host_has_the_same_bits_and_flags)
{
    static const char *const rows[] = {
        "fadd.%c f10, f1, f2\n",      "fsub.%c f11, f1, f2\n",       "fmul.%c f12, f1, f2\n",
        "fdiv.%c f13, f1, f2\n",      "fsqrt.%c f14, f1\n",          "fmadd.%c f15, f1, f2, f3\n",
        "fmsub.%c f16, f1, f2, f3\n", "fnmsub.%c f17, f1, f2, f3\n", "fnmadd.%c f18, f1, f2, f3\n",
        "feq.%c x10, f1, f2\n",       "flt.%c x11, f1, f2\n",        "fle.%c x12, f1, f2\n",
        "fadd.%c f19, f1, f2, rtz\n", "fmul.%c f20, f1, f2, rne\n",  "fmul.%c f21, f1, f2, rup\n",
        "fmin.%c f22, f1, f2\n",      "fmax.%c f23, f1, f2\n",       "fsgnj.%c f24, f1, f2\n",
        "fsgnjn.%c f25, f1, f2\n",    "fsgnjx.%c f26, f1, f2\n",     "fcvt.%c.w f27, x13\n",
        "fcvt.%c.wu f28, x13\n",      "fcvt.%c.l f29, x13\n",        "fcvt.%c.lu f30, x13\n",
        "fcvt.w.%c x14, f1, rtz\n",   "fcvt.wu.%c x15, f1, rtz\n",   "fcvt.l.%c x16, f1, rtz\n",
        "fcvt.lu.%c x17, f1, rtz\n",  "fcvt.w.%c x18, f1\n",         "fadd.%c f4, f27, f24\n",
    };
    struct text *text = malloc(sizeof *text);
    unsigned rounds = harness_long() ? 1000000 : 20000;
    struct bench plain, fast;
    uint8_t *code[2] = {NULL, NULL};
    size_t size[2] = {0, 0}, count = sizeof rows / sizeof rows[0];

    bench_make(&plain, BASE, 0);
    bench_make(&fast, BASE, heat);
    for (int k = 0; k < 2; k++) {
        text->used = 0;
        for (size_t i = 0; i < count; i++) {
            put(text, rows[i], "ds"[k]);
        }
        if (!assemble(text->bytes, &code[k], &size[k])) {
            rounds = 0;
        }
    }
    for (unsigned n = 0; n < rounds && !harness_failed(); n++) {
        unsigned k = n / (rounds / 2) & 1, flags = below(2) ? 1 : below(32),
                 mode = below(3) ? 0 : below(8);
        uint64_t a = k ? random_float() : random_double(), b = k ? random_float() : random_double();
        uint64_t c = k ? random_float() : random_double();
        uint64_t whole = harness_random() >> below(64);
        struct bench *each[2] = {&plain, &fast};

        if (below(8) == 0) { /* numbers that compare as equal, or differ in sign alone */
            b = a ^ (uint64_t)below(2) << (k ? 31 : 63);
        }
        for (int i = 0; i < 2; i++) {
            struct facet_hart *h = &each[i]->hart;

            if (n == 0 || n == rounds / 2) {
                (void)facet_mem_poke(each[i]->mem, BASE, code[k], size[k]);
                facet_block_cache_flush(each[i]->cache);
            }
            h->pc = BASE;
            h->retired = 0;
            h->fs = FACET_FS_CLEAN;
            h->fflags = (uint8_t)flags;
            h->frm = (uint8_t)mode;
            h->mtvec = BASE;
            h->f[1] = a;
            h->f[2] = b;
            h->f[3] = c;
            h->x[13] = whole;
        }
        if (mode > 4) { /* every instruction with a dynamic mode traps: one is enough */
            (void)facet_hart_step(&plain.hart);
            CHECK_EQ(facet_block_run(fast.cache, &fast.hart, 100), FACET_BLOCK_STEP);
            CHECK_EQ(fast.hart.pc, BASE);
            (void)facet_hart_step(&fast.hart);
        } else {
            /* not always all: those that come later raise again what one has missed */
            const uint64_t last = below(2) ? count : 1 + below((unsigned)count);

            for (uint64_t at = 1; at <= last; at++) {
                run_plain(&plain, at);
            }
            run_fast(&fast, last);
        }
        if (!same(&plain, &fast)) {
            printf("operands %" PRIx64 " %" PRIx64 " %" PRIx64 ", flags %x, mode %u\n",
                   a,
                   b,
                   c,
                   flags,
                   mode);
        }
    }
    free(code[0]);
    free(code[1]);
    free(text);
    bench_free(&plain);
    bench_free(&fast);
}

/* Operations call one another; whether the compiler makes jumps of that or not, a long run must not
 * use up the host's stack, nor stop early. */
TEST_EACH_HEAT(one_call_runs_a_million_instructions)
{
    uint8_t *code = NULL;
    size_t size = 0;
    struct bench b;

    bench_make(&b, BASE, heat);
    if (assemble("li x5, 200000\nloop: addi x6, x6, 3\nxor x7, x7, x6\nslli x7, x7, 1\n"
                 "addi x5, x5, -1\nbnez x5, loop\necall\n",
                 &code,
                 &size)) {
        (void)facet_mem_poke(b.mem, BASE, code, size);
        CHECK_EQ(facet_block_run(b.cache, &b.hart, UINT64_MAX), FACET_BLOCK_STEP);
        CHECK_EQ(b.hart.x[6], 600000);
        CHECK_EQ(b.hart.retired, 2 + 5 * 200000); /* li is lui and addiw */
        CHECK_EQ(b.hart.pc, BASE + size - 4);
    }
    free(code);
    bench_free(&b);
}

/* Stores beside cached code are the block executor's own, and a watched line is step.c's. */
TEST_EACH_HEAT(lines_with_code_or_a_watch_leave_stores_to_the_plain_executor)
{
    const char *text = "la x5, near\nsd x6, 0(x5)\nsd x6, 64(x5)\nsd x6, 128(x5)\necall\n"
                       ".align 6\nnear: .zero 192\n";
    uint8_t *code = NULL;
    size_t size = 0;
    struct bench b;

    bench_make(&b, BASE, heat);
    if (assemble(text, &code, &size)) {
        (void)facet_mem_poke(b.mem, BASE, code, size);
        CHECK_EQ(facet_block_run(b.cache, &b.hart, 100), FACET_BLOCK_STEP);
        CHECK_EQ(b.hart.retired, 5); /* all stores */
        facet_block_cache_watch(b.cache, 1, BASE + 64 + 64 + 8);
        b.hart.pc = BASE;
        b.hart.retired = 0;
        CHECK_EQ(facet_block_run(b.cache, &b.hart, 100), FACET_BLOCK_STEP);
        CHECK_EQ(b.hart.retired, 3); /* in front of the second store */
        (void)facet_hart_step(&b.hart);
        CHECK(!b.hart.code_written);
        facet_block_cache_watch(b.cache, 1, 0);
        b.hart.pc = BASE;
        b.hart.retired = 0;
        CHECK_EQ(facet_block_run(b.cache, &b.hart, 100), FACET_BLOCK_STEP);
        CHECK_EQ(b.hart.retired, 5);
        b.hart.x[5] = BASE; /* into the code itself */
        b.hart.pc = BASE + 8;
        b.hart.retired = 0;
        CHECK_EQ(facet_block_run(b.cache, &b.hart, 100), FACET_BLOCK_STEP);
        CHECK_EQ(b.hart.retired, 0);
        (void)facet_hart_step(&b.hart);
        CHECK(b.hart.code_written);
    }
    free(code);
    bench_free(&b);
}

/* A store across a line, and here across a page: whoever does it, both pages are marked, and a
 * watch on the second line leaves it to step.c. */
TEST_EACH_HEAT(a_store_across_lines_is_one_in_both)
{
    const uint64_t edge = BASE + 2 * FACET_MEM_PAGE_BYTES;
    uint8_t *code = NULL, *pages;
    size_t size = 0;
    struct bench b;

    bench_make(&b, BASE, heat);
    pages = b.hart.ram.pages;
    if (assemble("sd x6, 0(x5)\necall\n", &code, &size)) {
        (void)facet_mem_poke(b.mem, BASE, code, size);
        for (uint64_t before = 1; before < 8; before++) {
            const uint64_t value = harness_random();
            uint64_t found = 0;

            b.hart.x[5] = edge - before;
            b.hart.x[6] = value;
            b.hart.pc = BASE;
            b.hart.retired = 0;
            facet_block_cache_watch(b.cache, 1, edge);
            CHECK_EQ(facet_block_run(b.cache, &b.hart, 100), FACET_BLOCK_STEP);
            CHECK_EQ(b.hart.retired, 0);
            facet_block_cache_watch(b.cache, 1, 0);
            pages[1] = pages[2] = 0;
            CHECK_EQ(facet_block_run(b.cache, &b.hart, 100), FACET_BLOCK_STEP);
            if (b.hart.retired == 0) { /* only host code does it by itself */
                (void)facet_hart_step(&b.hart);
            }
            CHECK_EQ(b.hart.pc, BASE + 4);
            CHECK(facet_window_load(&b.hart.ram, edge - before, 8, &found) && found == value);
            CHECK(pages[1] != 0 && pages[2] != 0);
        }
    }
    free(code);
    bench_free(&b);
}

/* A trace that followed a call expects to come back behind it; a function may decide otherwise. */
TEST_EACH_HEAT(a_function_that_returns_elsewhere_is_followed_there)
{
    uint8_t *code = NULL;
    size_t size = 0;
    struct bench b;

    bench_make(&b, BASE, heat);
    if (assemble("jal ra, f\nli x6, 1\necall\nelse: li x6, 2\necall\nf: la ra, else\nret\n",
                 &code,
                 &size)) {
        (void)facet_mem_poke(b.mem, BASE, code, size);
        CHECK_EQ(facet_block_run(b.cache, &b.hart, 100), FACET_BLOCK_STEP);
        CHECK_EQ(b.hart.x[6], 2);
        CHECK_EQ(b.hart.pc, BASE + 16);
        CHECK_EQ(b.hart.retired, 5);
    }
    free(code);
    bench_free(&b);
}

/* The return address is even whatever the register holds, where it was expected and elsewhere. */
TEST_EACH_HEAT(a_return_clears_bit_zero)
{
    static const char *const texts[] = {
        "jal ra, f\nli x6, 1\necall\nf: addi ra, ra, 1\nret\n",
        "jal ra, f\nnop\nli x6, 1\necall\nf: addi ra, ra, 5\nret\n"};

    for (unsigned i = 0; i < 2; i++) {
        uint8_t *code = NULL;
        size_t size = 0;
        struct bench b;

        bench_make(&b, BASE, heat);
        if (assemble(texts[i], &code, &size)) {
            (void)facet_mem_poke(b.mem, BASE, code, size);
            CHECK_EQ(facet_block_run(b.cache, &b.hart, 100), FACET_BLOCK_STEP);
            CHECK_EQ(b.hart.x[6], 1);
            CHECK_EQ(b.hart.x[1], BASE + 4 + (i == 0 ? 1 : 5));
            CHECK_EQ(b.hart.pc, BASE + 8 + 4 * i);
        }
        free(code);
        bench_free(&b);
    }
}

/* A block begins at every instruction of a long row of them; their host code fills its memory more
 * than once, and all is made again. */
TEST(host_code_that_fills_its_memory_is_dropped, "")
{
    enum { ROWS = 2000, BLOCK = 64 };
    struct text *text = malloc(sizeof *text);
    struct bench plain, fast;
    uint8_t *code = NULL;
    size_t size = 0;

    text->used = text->labels = 0;
    for (unsigned i = 0; i < ROWS + BLOCK; i++) {
        put(text, "fmadd.s f%u, f%u, f%u, f%u\n", below(8), below(8), below(8), below(8));
    }
    bench_make(&plain, BASE, 0);
    bench_make(&fast, BASE, 1);
    if (assemble(text->bytes, &code, &size)) {
        (void)facet_mem_poke(plain.mem, BASE, code, size);
        (void)facet_mem_poke(fast.mem, BASE, code, size);
        for (unsigned i = 0; i < 2 * ROWS && !harness_failed(); i++) {
            struct bench *each[2] = {&plain, &fast};
            const uint64_t number = random_float();

            for (int k = 0; k < 2; k++) {
                each[k]->hart.pc = BASE + 4 * (i % ROWS);
                each[k]->hart.fs = FACET_FS_CLEAN;
                each[k]->hart.f[i % 8] = number;
            }
            run_plain(&plain, plain.hart.retired + BLOCK);
            run_fast(&fast, fast.hart.retired + BLOCK);
            (void)same(&plain, &fast);
        }
    }
    free(code);
    free(text);
    bench_free(&plain);
    bench_free(&fast);
}
