/* The base hart: programs in assembly with the results that the RISC-V manuals demand, and random
 * programs on which the plain executor (step.c) and the block executor (block.c) must agree in
 * every register, flag, counter and byte. */
#include "harness.h"

#include "assembler/assemble.h"
#include "object/object.h"
#include "xphmg/hart/block.h"
#include "xphmg/hart/hart.h"

#include <stdlib.h>

enum { BASE = 0x80000000u, RAM_BYTES = 1 << 20, DATA = 0x80080000u };

struct bench {
    facet_mem *mem;
    struct facet_hart *hart;
    facet_block_cache *cache;
};

static struct bench bench_make(void)
{
    struct bench b = {0};
    struct facet_error err = {0};

    CHECK_EQ(facet_mem_create(&b.mem, &err), FACET_OK);
    CHECK_EQ(facet_mem_add_ram(b.mem, "dram", FACET_MEM_RAM, BASE, RAM_BYTES, &err), FACET_OK);
    b.hart = calloc(1, sizeof *b.hart);
    b.hart->mem = b.mem;
    b.hart->ram = facet_mem_window(b.mem, BASE);
    facet_hart_reset(b.hart, BASE);
    CHECK_EQ(facet_block_cache_create(b.hart, &b.cache, &err), FACET_OK);
    return b;
}

static void bench_free(struct bench *b)
{
    facet_block_cache_destroy(b->cache);
    facet_mem_destroy(b->mem);
    free(b->hart);
}

static void load_text(struct bench *b, const char *text)
{
    struct facet_asm_options options = {.isa = FACET_ISA_XPHMG, .file = "test.s"};
    struct facet_asm_result result;
    struct facet_error err = {0};
    uint64_t base = 0;
    uint8_t *bytes = NULL;
    size_t size = 0;

    if (!CHECK_MSG(facet_assemble(&options, text, strlen(text), &result, &err) == FACET_OK,
                   "%s",
                   err.message)) {
        return;
    }
    CHECK_EQ(facet_object_flatten(result.object, &bytes, &size, &base, &err), FACET_OK);
    CHECK_EQ(base, BASE);
    CHECK_EQ(facet_mem_poke(b->mem, base, bytes, size).fault, FACET_MEM_OK);
    free(bytes);
    facet_asm_result_free(&result);
}

/* Runs until the hart stands at one pc (`j .`, a trap to itself) or `limit` instructions retired.
 */
static void run(struct bench *b, bool fast, uint64_t limit)
{
    for (uint64_t i = 0; i < 4 * limit && b->hart->retired < limit; i++) {
        uint64_t pc;

        if (fast) {
            (void)facet_block_run(b->cache, b->hart, limit - b->hart->retired);
        }
        pc = b->hart->pc;
        if (b->hart->retired < limit) {
            (void)facet_hart_step(b->hart);
        }
        if (b->hart->pc == pc) {
            return;
        }
    }
}

/* The program in both executors, and as host code; `check` looks at the hart afterwards. */
static void both(const char *text, void (*check)(const struct facet_hart *h))
{
    for (int fast = 0; fast < 3; fast++) {
        struct bench b = bench_make();

        facet_block_cache_host_code(b.cache, fast == 2);
        load_text(&b, text);
        run(&b, fast != 0, 2000);
        check(b.hart);
        bench_free(&b);
    }
}

static void check_division(const struct facet_hart *h)
{
    CHECK_EQ(h->x[10], UINT64_MAX);                   /* 7 / 0 */
    CHECK_EQ(h->x[11], 7);                            /* 7 % 0 */
    CHECK_EQ(h->x[12], UINT64_C(1) << 63);            /* INT64_MIN / -1 */
    CHECK_EQ(h->x[13], 0);                            /* INT64_MIN % -1 */
    CHECK_EQ(h->x[14], UINT64_C(0xFFFFFFFF80000000)); /* INT32_MIN / -1, W form */
    CHECK_EQ(h->x[15], UINT64_MAX);                   /* divuw by 0 */
    CHECK_EQ(h->x[16], UINT64_C(0xFFFFFFFFFFFFFFFD)); /* mulh(-5, 2^63 - 1) = -3 */
    CHECK_EQ(h->x[17], UINT64_C(0xFFFFFFFFFFFFFFFD)); /* mulhsu(-5, 2^63 - 1) */
}

TEST(division_and_multiplication_have_a_result_for_every_operand, "CAP-530")
{
    both("li t0, 7\n"
         "div a0, t0, zero\n rem a1, t0, zero\n"
         "li t1, -1\n slli t2, t1, 63\n"
         "div a2, t2, t1\n rem a3, t2, t1\n"
         "lui t3, 0x80000\n divw a4, t3, t1\n"
         "divuw a5, t0, zero\n"
         "li t4, -5\n srli t5, t1, 1\n mulh a6, t4, t5\n mulhsu a7, t4, t5\n"
         "j .\n",
         check_division);
}

static void check_trap(const struct facet_hart *h)
{
    CHECK_EQ(h->x[10], FACET_CAUSE_LOAD_FAULT);
    CHECK_EQ(h->x[11], 16); /* mtval: the address */
    CHECK_EQ(h->x[12], FACET_CAUSE_ILLEGAL);
    CHECK_EQ(h->x[13], 0xFFFFFFFF); /* mtval: the word */
    CHECK_EQ(h->x[14], FACET_CAUSE_ECALL_U);
    CHECK_EQ(h->priv, FACET_PRIV_M);
    CHECK_EQ(h->x[15], 0); /* MPP of the ecall: U */
}

TEST(traps_enter_the_handler_with_cause_value_and_privilege, "")
{
    both("la t0, first\n csrw mtvec, t0\n li t1, 16\n ld t2, 0(t1)\n j .\n"
         ".align 2\n"
         "first: csrr a0, mcause\n csrr a1, mtval\n la t0, second\n csrw mtvec, t0\n"
         ".word 0xffffffff\n j .\n"
         ".align 2\n"
         "second: csrr a2, mcause\n csrr a3, mtval\n la t0, third\n csrw mtvec, t0\n"
         "la t1, user\n csrw mepc, t1\n li t2, 0x1800\n csrc mstatus, t2\n mret\n"
         "user: ecall\n j .\n"
         ".align 2\n"
         "third: csrr a4, mcause\n csrr a5, mstatus\n srli a5, a5, 11\n andi a5, a5, 3\n j .\n",
         check_trap);
}

static void check_counters(const struct facet_hart *h)
{
    CHECK_EQ(h->x[10], 100);      /* what was written is what the next instruction reads */
    CHECK_EQ(h->x[11], 102);      /* and the instruction between counts */
    CHECK_EQ(h->x[12], h->x[13]); /* inhibited */
}

static void check_mprv(const struct facet_hart *h)
{
    CHECK_EQ(h->x[10], 1); /* kept by a return to M */
    CHECK_EQ(h->x[11], 0); /* cleared by a return to U */
}

TEST(a_return_to_less_privilege_clears_mprv, "")
{
    both("la t0, end\n csrw mtvec, t0\n li s0, 0x21800\n li s1, 0x1800\n" /* MPRV and MPP, MPP */
         "csrs mstatus, s0\n la t0, there\n csrw mepc, t0\n mret\n"
         "there: csrr a0, mstatus\n srli a0, a0, 17\n andi a0, a0, 1\n"
         "csrc mstatus, s1\n la t0, user\n csrw mepc, t0\n mret\n"
         "user: ecall\n"
         ".align 2\n"
         "end: csrr a1, mstatus\n srli a1, a1, 17\n andi a1, a1, 1\n j .\n",
         check_mprv);
}

TEST(instret_counts_and_stands_still_when_inhibited, "")
{
    both("li t0, 100\n csrw minstret, t0\n csrr a0, minstret\n nop\n csrr a1, minstret\n"
         "csrwi mcountinhibit, 4\n csrr a2, minstret\n nop\n nop\n csrr a3, minstret\n j .\n",
         check_counters);
}

static void check_reservation(const struct facet_hart *h)
{
    CHECK_EQ(h->x[10], 0); /* sc after lr */
    CHECK_EQ(h->x[11], 1); /* sc without reservation */
    CHECK_EQ(h->x[12], 5);
    CHECK_EQ(h->x[13], UINT64_C(0xFFFFFFFFFFFFFFFF)); /* amomax.w: old value, sign-extended */
    CHECK_EQ(h->x[14], 3);
}

TEST(reservations_and_atomics, "")
{
    both("la t0, cell\n li t1, 5\n lr.d t2, (t0)\n sc.d a0, t1, (t0)\n sc.d a1, t1, (t0)\n"
         "ld a2, 0(t0)\n li t1, -1\n sw t1, 0(t0)\n li t1, 3\n amomax.w a3, t1, (t0)\n lw a4, "
         "0(t0)\n"
         "j .\n .align 3\n cell: .dword 0\n",
         check_reservation);
}

/* Both sides of an AMO fault as a store (the privileged manual); a load and LR as a load. */
static void check_atomic_faults(const struct facet_hart *h)
{
    CHECK_EQ(h->x[18], FACET_CAUSE_STORE_FAULT); /* s2: amoadd.w */
    CHECK_EQ(h->x[19], 0x1000);
    CHECK_EQ(h->x[20], FACET_CAUSE_STORE_FAULT); /* s4: amomaxu.d */
    CHECK_EQ(h->x[21], 0x1008);
    CHECK_EQ(h->x[23], FACET_CAUSE_LOAD_FAULT); /* s7: lr.w */
    CHECK_EQ(h->x[10], 77);                     /* rd of none of them */
}

TEST(an_atomic_that_cannot_load_is_a_store_fault, "")
{
    both("li a0, 77\n li a1, 0x1000\n li a2, 1\n la t0, 1f\n csrw mtvec, t0\n"
         "amoadd.w a0, a2, (a1)\n j .\n"
         ".align 2\n1: csrr s2, mcause\n csrr s3, mtval\n la t0, 2f\n csrw mtvec, t0\n"
         "addi a1, a1, 8\n amomaxu.d a0, a2, (a1)\n j .\n"
         ".align 2\n2: csrr s4, mcause\n csrr s5, mtval\n la t0, 3f\n csrw mtvec, t0\n"
         "lr.w a0, (a1)\n j .\n"
         ".align 2\n3: csrr s7, mcause\n j .\n",
         check_atomic_faults);
}

static void check_float(const struct facet_hart *h)
{
    CHECK_EQ(h->x[10], 0x10);                         /* NV of inf - inf */
    CHECK_EQ(h->x[11], 0x7FC00000);                   /* canonical NaN */
    CHECK_EQ(h->x[12], UINT64_C(0x7FF8000000000000)); /* not boxed: reads as NaN, fcvt.d.s */
    CHECK_EQ(h->x[13], FACET_CAUSE_ILLEGAL);          /* frm = 5 and rm = dyn */
    CHECK_EQ(h->fs, FACET_FS_DIRTY);
}

TEST(floating_point_flags_boxes_and_rounding_modes, "")
{
    both("li t0, 0x2000\n csrs mstatus, t0\n"
         "li t1, 0x7f800000\n fmv.w.x f1, t1\n fsub.s f2, f1, f1\n csrr a0, fflags\n fmv.x.w a1, "
         "f2\n"
         "fmv.d.x f3, zero\n fcvt.d.s f4, f3\n fmv.x.d a2, f4\n"
         "la t0, handler\n csrw mtvec, t0\n csrwi frm, 5\n fadd.s f5, f1, f1\n j .\n"
         ".align 2\n handler: csrr a3, mcause\n j .\n",
         check_float);
}

static void check_self_modified(const struct facet_hart *h)
{
    CHECK_EQ(h->x[10], 12); /* ten rounds of 1, then one of 2 */
}

TEST(code_that_rewrites_itself_runs_the_new_instruction, "")
{
    both("li s0, 11\n la t0, patch\n"
         "loop: addi s0, s0, -1\n bnez s0, patch\n lw t1, new\n sw t1, 0(t0)\n fence.i\n"
         "patch: addi a0, a0, 1\n bnez s0, loop\n j .\n .align 2\n new: addi a0, a0, 2\n",
         check_self_modified);
}

/* ---- both executors on random programs --------------------------------------------------------
 */

enum { PROGRAM_WORDS = 200 };

/* Behind the program and its trap handler: keeps cause, pc and value of a trap in x5..x7, then
 * stands at an illegal word that traps to itself. */
static const uint32_t epilogue[7] = {
    0x342022F3, /* csrr x5, mcause */
    0x34102373, /* csrr x6, mepc */
    0x343023F3, /* csrr x7, mtval */
    0x00000217, /* auipc x4, 0 */
    0x00C20213, /* addi x4, x4, 12 */
    0x30521073, /* csrw mtvec, x4 */
    0xFFFFFFFF,
};

/* A legal word of a base row that neither traps by itself nor leaves the program. */
static uint32_t random_word(unsigned index)
{
    for (;;) {
        const struct facet_insn_row *row =
            &facet_isa_rows[FACET_ISA_XPHMG]
                           [harness_random() % facet_isa_row_count[FACET_ISA_XPHMG]];
        uint32_t word = ((uint32_t)harness_random() & ~row->mask) | row->match;
        struct facet_insn in = facet_insn_decode(word);

        if (strncmp(row->file, "rv64", 4) != 0 || row->length != 4 ||
            facet_isa_decode(FACET_ISA_XPHMG, word) != row) {
            continue;
        }
        switch (in.row) {
        case FACET_XPHMG_ECALL:
        case FACET_XPHMG_EBREAK:
        case FACET_XPHMG_MRET:
        case FACET_XPHMG_WFI:
        case FACET_XPHMG_JALR:
        case FACET_XPHMG_CSRRW:
        case FACET_XPHMG_CSRRS:
        case FACET_XPHMG_CSRRC:
        case FACET_XPHMG_CSRRWI:
        case FACET_XPHMG_CSRRSI:
        case FACET_XPHMG_CSRRCI:
            continue;
        default:
            break;
        }
        /* Jumps stay short and forward; pointers are x8 and x9, which nothing else writes. */
        for (unsigned i = 0; i < row->operand_count; i++) {
            const struct facet_operand *operand = &row->operands[i];

            if (operand->kind == FACET_OPERAND_PCREL) {
                unsigned left = PROGRAM_WORDS - index;
                unsigned jump = 1 + (unsigned)(harness_random() % 6);

                word = facet_operand_set(operand, word, 4 * (int)(jump < left ? jump : left));
            } else if (operand->kind == FACET_OPERAND_XREG && strcmp(operand->name, "rd") == 0 &&
                       (in.rd == 8 || in.rd == 9)) {
                word = facet_operand_set(operand, word, 10);
            } else if (row->item_count != 0 && row->items[row->item_count - 1].base == (int8_t)i) {
                word = facet_operand_set(operand, word, 8 + (int)(harness_random() & 1));
            }
        }
        return word;
    }
}

static void same_state(const struct bench *a, const struct bench *b)
{
    CHECK_EQ(a->hart->pc, b->hart->pc);
    /* A program that rewrote itself into `j .` turns there a different number of times. */
    if (a->hart->pc == BASE + 4 * (PROGRAM_WORDS + 6)) {
        CHECK_EQ(a->hart->retired, b->hart->retired);
    }
    CHECK_EQ(a->hart->fflags, b->hart->fflags);
    CHECK_EQ(a->hart->fs, b->hart->fs);
    CHECK_EQ(a->hart->mcause, b->hart->mcause);
    CHECK_EQ(a->hart->mtval, b->hart->mtval);
    CHECK_EQ(a->hart->mepc, b->hart->mepc);
    for (int r = 0; r < 32; r++) {
        CHECK_MSG(a->hart->x[r] == b->hart->x[r] && a->hart->f[r] == b->hart->f[r],
                  "register %d: x %" PRIx64 " %" PRIx64 ", f %" PRIx64 " %" PRIx64,
                  r,
                  a->hart->x[r],
                  b->hart->x[r],
                  a->hart->f[r],
                  b->hart->f[r]);
    }
    CHECK(memcmp(a->hart->ram.bytes, b->hart->ram.bytes, RAM_BYTES) == 0);
}

TEST(both_executors_agree_on_random_programs, "")
{
    unsigned programs = harness_long() ? 20000 : 400;

    for (unsigned n = 0; n < programs && !harness_failed(); n++) {
        struct bench plain = bench_make(), fast = bench_make();
        struct bench *each[2] = {&plain, &fast};
        uint32_t words[PROGRAM_WORDS + 7];
        uint64_t x[32], f[32], data[512];

        for (unsigned i = 0; i < PROGRAM_WORDS; i++) {
            words[i] = random_word(i);
        }
        memcpy(words + PROGRAM_WORDS, epilogue, sizeof epilogue);
        for (int i = 0; i < 32; i++) {
            x[i] = harness_random() >> (harness_random() & 63);
            f[i] = harness_random() | (harness_random() & 1 ? UINT64_C(0xFFFFFFFF) << 32 : 0);
        }
        x[0] = 0;
        x[8] = DATA + 2048;
        x[9] = (n & 7) == 0 ? BASE + 64 : DATA + 2049; /* sometimes into the program itself */
        for (int i = 0; i < 512; i++) {
            data[i] = harness_random();
        }
        for (int k = 0; k < 2; k++) {
            struct facet_hart *h = each[k]->hart;

            (void)facet_mem_poke(each[k]->mem, BASE, words, sizeof words);
            (void)facet_mem_poke(each[k]->mem, DATA, data, sizeof data);
            memcpy(h->x, x, sizeof x);
            memcpy(h->f, f, sizeof f);
            h->fs = FACET_FS_CLEAN;
            h->frm = (uint8_t)(n % 5);
            h->mtvec = BASE + 4 * PROGRAM_WORDS;
        }
        run(&plain, false, 4 * PROGRAM_WORDS);
        run(&fast, true, 4 * PROGRAM_WORDS);
        same_state(&plain, &fast);
        bench_free(&plain);
        bench_free(&fast);
    }
}
