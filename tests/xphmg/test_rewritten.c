/* Programs that someone else writes to between two runs: host code and blocks outlive a reset and
 * writes beside them, and follow every byte that changed. */
#include "harness.h"

#include "assembler/assemble.h"
#include "base/bits.h"
#include "object/elf.h"
#include "object/object.h"

#include <facet/xphmg.h>
#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 400, ADD = 0x00050513 /* addi a0, a0, 0; the immediate is bits 20 and up */ };

/* The word that is written to begins or ends a line of 64 bytes, or lies inside. */
static const unsigned before[] = {0, 7, 15};

static void load(facet_machine *m, unsigned nops, unsigned amount)
{
    struct facet_asm_options options = {.isa = FACET_ISA_XPHMG, .file = "test.s"};
    struct facet_asm_result result;
    struct facet_error err = {0};
    char text[1024];
    uint8_t *elf = NULL;
    size_t size = 0;

    (void)snprintf(text,
                   sizeof text,
                   "j start\n.balign 64\nfirst: .rept %u\nnop\n.endr\n"
                   "again: addi a0, a0, %u\naddi a1, a1, -1\nbnez a1, again\n"
                   "la t0, again\nli t1, 0x%x\nsw t1, 0(t0)\ndone: j done\n"
                   "start: li a1, %d\nj first\n",
                   nops,
                   amount,
                   ADD | 9u << 20,
                   TURNS);
    if (CHECK_MSG(facet_assemble(&options, text, strlen(text), &result, &err) == FACET_OK,
                  "%s",
                  err.message)) {
        CHECK_EQ(facet_elf_write(result.object, &elf, &size, &err), FACET_OK);
        CHECK_EQ(facet_xphmg_load_elf(m, elf, size, &err), FACET_OK);
    }
    facet_asm_result_free(&result);
    free(elf);
}

static uint64_t reg(facet_machine *m, const char *name)
{
    struct facet_value value = {0, 0};

    CHECK_EQ(facet_machine_reg_read(m, 0, facet_machine_find_reg(m, 0, name), &value, NULL),
             FACET_OK);
    return value.lo;
}

static void run(facet_machine *m, uint64_t budget)
{
    const struct facet_run how = {.budget = budget};
    struct facet_stop stop;

    facet_machine_run(m, &how, &stop);
    CHECK_EQ(stop.reason, FACET_STOP_BUDGET);
}

/* From the start to the end of the loop: what each turn added. */
static uint64_t amount_of(facet_machine *m, unsigned nops)
{
    facet_machine_reset(m);
    run(m, 3 + nops + 3 * TURNS);
    CHECK_EQ(reg(m, "a1"), 0);
    CHECK_EQ(reg(m, "a0") % TURNS, 0);
    return reg(m, "a0") / TURNS;
}

static facet_machine *make(void)
{
    const struct facet_xphmg_config config = {.ram_bytes = 1 << 20};
    facet_machine *m = NULL;

    CHECK_EQ(facet_xphmg_create(&config, &m, NULL), FACET_OK);
    return m;
}

static uint64_t place_of(unsigned nops)
{
    return FACET_XPHMG_RAM_BASE + 64 + 4 * (uint64_t)nops;
}

TEST(code_that_a_debugger_writes_is_executed, "")
{
    for (unsigned k = 0; k < 3 && !harness_failed(); k++) {
        const uint64_t at = place_of(before[k]);
        facet_machine *m = make();
        uint8_t bytes[12];

        load(m, before[k], 1);
        CHECK_EQ(amount_of(m, before[k]), 1);
        facet_store_le32(bytes, ADD | 2 << 20); /* all of the word */
        CHECK_EQ(facet_machine_write(m, 0, at, bytes, 4, NULL), FACET_OK);
        CHECK_EQ(amount_of(m, before[k]), 2);
        bytes[0] = 0x35; /* one byte of it: bits 16 to 23 */
        CHECK_EQ(facet_machine_write(m, 0, at + 2, bytes, 1, NULL), FACET_OK);
        CHECK_EQ(amount_of(m, before[k]), 3);
        CHECK_EQ(facet_machine_read(m, 0, at - 8, bytes, sizeof bytes, NULL), FACET_OK);
        bytes[10] = 0x45; /* the end of a longer write */
        CHECK_EQ(facet_machine_write(m, 0, at - 8, bytes, 11, NULL), FACET_OK);
        CHECK_EQ(amount_of(m, before[k]), 4);
        CHECK_EQ(facet_machine_read(m, 0, at + 3, bytes, 9, NULL), FACET_OK);
        bytes[0] = 1; /* the beginning of one: 4 and 16 */
        CHECK_EQ(facet_machine_write(m, 0, at + 3, bytes, 9, NULL), FACET_OK);
        CHECK_EQ(amount_of(m, before[k]), 20);
        bytes[0] = 0x5A; /* beside all code */
        CHECK_EQ(facet_machine_write(m, 0, at + 0x4000, bytes, 1, NULL), FACET_OK);
        CHECK_EQ(amount_of(m, before[k]), 20);
        facet_machine_destroy(m);
    }
}

TEST(a_store_into_code_just_before_a_reset_is_executed_after_it, "")
{
    for (unsigned k = 0; k < 3 && !harness_failed(); k++) {
        facet_machine *m = make();
        uint64_t pc;

        load(m, before[k], 1);
        CHECK_EQ(amount_of(m, before[k]), 1);
        do { /* to the instruction behind the store */
            run(m, 1);
            pc = reg(m, "pc");
            run(m, 1);
        } while (reg(m, "pc") != pc && !harness_failed());
        CHECK_EQ(amount_of(m, before[k]), 9);
        facet_machine_destroy(m);

        m = make(); /* the store is the last instruction before the reset */
        load(m, before[k], 1);
        run(m, 3 + before[k] + 3 * TURNS);
        while (reg(m, "t1") != (ADD | 9u << 20)) {
            run(m, 1);
        }
        run(m, 1);
        CHECK_EQ(amount_of(m, before[k]), 9);
        facet_machine_destroy(m);
    }
}

TEST(a_program_that_is_loaded_over_another_is_executed, "")
{
    facet_machine *m = make();

    for (unsigned amount = 1; amount < 6; amount++) {
        load(m, before[amount % 3], amount);
        CHECK_EQ(amount_of(m, before[amount % 3]), amount);
    }
    facet_machine_destroy(m);
}
