/* The face: tables, registers, CSRs, memory, observer. */
#include "acc_test.h"
#include "base/failing_alloc.h"

#include <stdarg.h>
#include <stdio.h>

TEST(tables_and_names, "")
{
    facet_machine *m = make(&acc_ops);
    uint32_t csr = 9, field = 9;
    struct facet_region_desc region;

    CHECK_STR(facet_machine_kind_name(m), "acc");
    CHECK_EQ(facet_machine_core_count(m), 2);
    CHECK_STR(facet_machine_core(m, 1)->name, "core1");
    CHECK(facet_machine_core(m, 2) == NULL && facet_machine_core(m, FACET_NONE) == NULL);
    CHECK_EQ(facet_machine_find_reg(m, 0, "ACC"), ACC_REG_ACC);
    CHECK_EQ(facet_machine_find_reg(m, 1, "A"), ACC_REG_ACC);
    CHECK_EQ(facet_machine_find_reg(m, 0, "wid"), FACET_NONE);
    CHECK_EQ(facet_machine_find_reg(m, 2, "acc"), FACET_NONE);
    CHECK_EQ(facet_machine_find_csr(m, 0, "Acc.Cause"), ACC_CSR_CAUSE);
    CHECK_EQ(facet_machine_find_csr(m, 0, "cause"), FACET_NONE);
    CHECK_EQ(facet_machine_csr_at(m, 0, 0x13), ACC_CSR_BIG);
    CHECK_EQ(facet_machine_csr_at(m, 0, 0x14), FACET_NONE);
    CHECK(facet_machine_find_field(m, 0, "acc.ctrl.mode", &csr, &field));
    CHECK(csr == ACC_CSR_CTRL && field == 1);
    CHECK(facet_machine_find_field(m, 0, "ACC.BIG.TOP", &csr, &field));
    CHECK(csr == ACC_CSR_BIG && field == 0);
    CHECK(!facet_machine_find_field(m, 0, "acc.ctrl", &csr, &field));
    CHECK(!facet_machine_find_field(m, 0, "acc.ctrl.", &csr, &field));
    CHECK(!facet_machine_find_field(m, 0, "acc.ctrl:en", &csr, &field));
    CHECK(!facet_machine_find_field(m, 0, "acc.vector.en", &csr, &field));

    CHECK_EQ(facet_machine_space_count(m), 2);
    CHECK_STR(facet_machine_space_name(m, 1), "local");
    CHECK(facet_machine_space_name(m, 2) == NULL);
    CHECK(facet_machine_region(m, 0, 2, &region));
    CHECK_STR(region.name, "rom");
    CHECK(region.base == ACC_ROM && region.size == 64 && !region.writable && !region.device);
    CHECK(facet_machine_region(m, 0, 1, &region) && region.device);
    CHECK(!facet_machine_region(m, 0, 3, &region) && !facet_machine_region(m, 2, 0, &region));
    facet_machine_destroy(m);
    facet_machine_destroy(NULL);
}

TEST(registers_are_checked, "")
{
    facet_machine *m = make(&acc_ops);
    struct facet_value wide = {0x1122334455667788, 0x99AABBCCDDEEFF00}, got = {1, 1};
    struct facet_error err;

    CHECK(facet_machine_reg_write(m, 1, ACC_REG_WIDE, wide, NULL) == FACET_OK);
    CHECK(facet_machine_reg_read(m, 1, ACC_REG_WIDE, &got, NULL) == FACET_OK);
    CHECK(got.lo == wide.lo && got.hi == wide.hi);
    CHECK_EQ(reg(m, 0, ACC_REG_WIDE), 0); /* the other core's is its own */
    CHECK(facet_machine_reg_write(m, 0, ACC_REG_ACC, facet_value64(UINT32_MAX), NULL) == FACET_OK);
    CHECK(facet_machine_reg_write(m, 0, ACC_REG_ACC, facet_value64(UINT64_C(1) << 32), &err) ==
          FACET_ERR_USAGE);
    CHECK_STR(err.message, "acc has only 32 bits");
    CHECK(facet_machine_reg_write(m, 0, ACC_REG_ACC, facet_value128(0, 1), &err) ==
          FACET_ERR_USAGE);
    CHECK_EQ(reg(m, 0, ACC_REG_ACC), UINT32_MAX);
    CHECK(facet_machine_reg_write(m, 0, ACC_REG_ID, facet_value64(0), &err) == FACET_ERR_USAGE);
    CHECK_STR(err.message, "id is read-only");
    CHECK_EQ(reg(m, 1, ACC_REG_ID), 1);
    CHECK(facet_machine_reg_read(m, 0, 4, &got, &err) == FACET_ERR_USAGE);
    CHECK_STR(err.message, "core0 has no register 4");
    CHECK(facet_machine_reg_read(m, 2, 0, &got, &err) == FACET_ERR_USAGE);
    CHECK_STR(err.message, "no core 2");
    CHECK(facet_machine_reg_write(m, FACET_NONE, 0, got, &err) == FACET_ERR_USAGE);
    facet_machine_destroy(m);
}

TEST(csr_writes_store_what_is_legal, "")
{
    facet_machine *m = make(&acc_ops);
    struct facet_value got = {0, 0};
    struct facet_error err;

    CHECK(facet_machine_csr_write(m, 0, ACC_CSR_CTRL, facet_value64(0x010000FF), &got, NULL) ==
          FACET_OK);
    CHECK_EQ(got.lo, 0xAC000001); /* ID stays, MODE 3 becomes 0 */
    CHECK(facet_machine_csr_read(m, 0, ACC_CSR_CTRL, &got, NULL) == FACET_OK);
    CHECK_EQ(got.lo, 0xAC000001);
    CHECK(facet_machine_csr_write(m, 0, ACC_CSR_CTRL, facet_value128(0, 1), NULL, &err) ==
          FACET_ERR_USAGE);
    CHECK_STR(err.message, "acc.ctrl has only 32 bits");
    CHECK(facet_machine_csr_read(m, 0, 4, &got, &err) == FACET_ERR_USAGE);
    CHECK_STR(err.message, "core0 has no CSR 4");
    CHECK(facet_machine_csr_write(m, 7, 0, got, NULL, &err) == FACET_ERR_USAGE);
    facet_machine_destroy(m);
}

TEST(a_field_write_leaves_the_others_alone, "")
{
    static const uint32_t code[] = {ACC_LD(0x1000)};
    facet_machine *m = make(&acc_ops);
    struct facet_value got = {0, 0};
    struct facet_error err;
    struct facet_stop stop;

    put_words(m, 0, code, 1);
    facet_machine_step(m, &stop); /* the load sets SEEN, a write-one-to-clear bit */
    CHECK(facet_machine_field_write(m, 0, ACC_CSR_CTRL, 1, facet_value64(2), &got, NULL) ==
          FACET_OK);
    CHECK_EQ(got.lo, 2);
    CHECK(facet_machine_csr_read(m, 0, ACC_CSR_CTRL, &got, NULL) == FACET_OK);
    CHECK_EQ(got.lo, 0xAC000014); /* SEEN is still set */
    CHECK(facet_machine_field_write(m, 0, ACC_CSR_CTRL, 1, facet_value64(1), &got, NULL) ==
          FACET_OK);
    CHECK_EQ(got.lo, 1); /* replaced, not joined with the old 2 */
    CHECK(facet_machine_field_write(m, 0, ACC_CSR_CTRL, 1, facet_value64(3), &got, NULL) ==
          FACET_OK);
    CHECK_EQ(got.lo, 0); /* legalised */
    CHECK(facet_machine_field_read(m, 0, ACC_CSR_CTRL, 2, &got, NULL) == FACET_OK);
    CHECK_EQ(got.lo, 1);
    CHECK(facet_machine_field_write(m, 0, ACC_CSR_CTRL, 2, facet_value64(1), &got, NULL) ==
          FACET_OK);
    CHECK_EQ(got.lo, 0);
    CHECK(facet_machine_field_read(m, 0, ACC_CSR_CTRL, 3, &got, NULL) == FACET_OK);
    CHECK_EQ(got.lo, 0xAC);
    /* A field across the middle of a 128-bit CSR, and one at its top. */
    CHECK(facet_machine_field_write(m, 0, ACC_CSR_BIG, 1, facet_value64(0xA5), &got, NULL) ==
          FACET_OK);
    CHECK(facet_machine_field_write(m, 0, ACC_CSR_BIG, 0, facet_value64(0x81), &got, NULL) ==
          FACET_OK);
    CHECK(facet_machine_csr_read(m, 0, ACC_CSR_BIG, &got, NULL) == FACET_OK);
    CHECK(got.lo == UINT64_C(0x5000000000000000) && got.hi == UINT64_C(0x810000000000000A));
    CHECK(facet_machine_field_read(m, 0, ACC_CSR_BIG, 1, &got, NULL) == FACET_OK);
    CHECK_EQ(got.lo, 0xA5);
    CHECK(facet_machine_field_write(m, 0, ACC_CSR_CTRL, 1, facet_value64(4), NULL, &err) ==
          FACET_ERR_USAGE);
    CHECK_STR(err.message, "MODE has only 2 bits");
    CHECK(facet_machine_field_read(m, 0, ACC_CSR_CTRL, 4, &got, &err) == FACET_ERR_USAGE);
    CHECK_STR(err.message, "acc.ctrl has no field 4");
    CHECK(facet_machine_field_read(m, 0, ACC_CSR_VECTOR, 0, &got, &err) == FACET_ERR_USAGE);
    facet_machine_destroy(m);
}

TEST(memory_faults_are_results, "")
{
    facet_machine *m = make(&acc_ops);
    struct facet_error err;
    uint8_t bytes[8] = {0};

    CHECK(facet_machine_read(m, 0, ACC_RAM_BYTES - 4, bytes, 8, &err) == FACET_ERR_FAULT);
    CHECK_EQ(err.where, ACC_RAM_BYTES);
    CHECK(facet_machine_write(m, 0, UINT64_MAX - 1, bytes, 8, &err) == FACET_ERR_FAULT);
    CHECK_EQ(err.where, UINT64_MAX - 1);
    CHECK(facet_machine_write(m, 0, ACC_ROM, "rom", 3, NULL) == FACET_OK);
    CHECK(facet_machine_bus_write(m, 0, ACC_ROM, "new", 3, &err) == FACET_ERR_FAULT);
    CHECK(strstr(err.message, "read-only memory at address 0x200000") != NULL);
    CHECK(facet_machine_read(m, 0, ACC_ROM, bytes, 3, NULL) == FACET_OK);
    CHECK(memcmp(bytes, "rom", 3) == 0);
    CHECK(facet_machine_read(m, 0, ACC_DEVICE, bytes, 4, &err) == FACET_ERR_FAULT);
    CHECK(facet_machine_bus_read(m, 0, ACC_DEVICE, bytes, 4, NULL) == FACET_OK);
    CHECK_EQ(facet_load_le32(bytes), 1); /* the first read: looking did not count */
    CHECK(facet_machine_bus_read(m, 0, ACC_DEVICE + 8, bytes, 4, &err) == FACET_ERR_FAULT);
    CHECK(facet_machine_write(m, 1, 252, bytes, 4, NULL) == FACET_OK);
    CHECK(facet_machine_write(m, 1, 253, bytes, 4, &err) == FACET_ERR_FAULT);
    CHECK(facet_machine_read(m, 2, 0, bytes, 1, &err) == FACET_ERR_USAGE);
    CHECK(facet_machine_write(m, 2, 0, bytes, 1, &err) == FACET_ERR_USAGE);
    CHECK(facet_machine_bus_read(m, 9, 0, bytes, 1, &err) == FACET_ERR_USAGE);
    CHECK(facet_machine_bus_write(m, 9, 0, bytes, 1, &err) == FACET_ERR_USAGE);
    CHECK_STR(err.message, "no address space 9");
    facet_machine_destroy(m);
}

TEST(disassembly_behaves_like_snprintf, "")
{
    static const uint32_t code[] = {ACC_JNZ(0x1234)};
    facet_machine *m = make(&acc_ops);
    char text[32];
    uint32_t length = 9;

    put_words(m, 0, code, 1);
    CHECK_EQ(facet_machine_disassemble(m, 0, 0, text, sizeof text, &length), 10);
    CHECK_STR(text, "jnz 0x1234");
    CHECK_EQ(length, 4);
    CHECK_EQ(facet_machine_disassemble(m, 0, 0, text, 4, NULL), 10);
    CHECK_STR(text, "jnz");
    CHECK_EQ(facet_machine_disassemble(m, 0, UINT64_MAX, text, sizeof text, &length), 0);
    CHECK_EQ(length, 0);
    CHECK_EQ(facet_machine_disassemble(m, 5, 0, text, sizeof text, &length), 0);
    CHECK_STR(text, "");
    facet_machine_destroy(m);
}

TEST(reset_keeps_memory, "")
{
    facet_machine *m = make_counters(&acc_ops), *fresh = make_counters(&acc_ops);

    (void)run_for(m, 1001);
    CHECK_EQ(facet_machine_steps(m), 1001);
    CHECK(word_at(m, 0, 0x1000) != 0);
    facet_machine_reset(m);
    CHECK_EQ(facet_machine_steps(m), 0);
    CHECK_EQ(facet_machine_retired(m, 0), 0);
    CHECK_EQ(reg(m, 1, ACC_REG_PC), ACC_CODE1);
    CHECK(word_at(m, 0, 0x1000) != 0 && !same_state(m, fresh));
    CHECK(facet_machine_write(m, 0, 0x1000, "\0\0\0", 4, NULL) == FACET_OK);
    CHECK(facet_machine_write(m, 1, 8, "\0\0\0", 4, NULL) == FACET_OK);
    CHECK(same_state(m, fresh));
    facet_machine_destroy(m);
    facet_machine_destroy(fresh);
}

TEST(creation_may_fail_anywhere, "")
{
    struct acc_config huge = {UINT64_C(1) << 60};
    struct facet_error err;
    facet_machine *m;
    long good = 0;

    CHECK(facet_machine_create(&acc_ops, &huge, &m, &err) == FACET_ERR_MEMORY && m == NULL);
    CHECK(strstr(err.message, "ram") != NULL);
    for (;; good++) {
        enum facet_status status;

        failing_alloc_after(good);
        status = facet_machine_create(&acc_ops, NULL, &m, &err);
        failing_alloc_after(-1);
        if (status == FACET_OK) {
            break;
        }
        CHECK(status == FACET_ERR_MEMORY && m == NULL);
    }
    CHECK_EQ(good, 4);
    facet_machine_destroy(m);
}

/* ---- observer ---------------------------------------------------------------------------------
 */

static char record[4096];
static size_t recorded;

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    recorded += (size_t)vsnprintf(record + recorded, sizeof record - recorded, format, args);
    va_end(args);
}

static void on_retire(void *context, const struct facet_retire_event *e)
{
    note("%s%u retire %x->%x %08x/%u\n",
         (const char *)context,
         e->core,
         (unsigned)e->pc,
         (unsigned)e->next_pc,
         e->word,
         e->length);
}

static void on_reg(void *context, const struct facet_reg_event *e)
{
    note("%s%u reg%u %x->%x\n",
         (const char *)context,
         e->core,
         e->index,
         (unsigned)e->old_value.lo,
         (unsigned)e->new_value.lo);
}

static void on_csr(void *context, const struct facet_reg_event *e)
{
    note("%s%u csr%u %x->%x\n",
         (const char *)context,
         e->core,
         e->index,
         (unsigned)e->old_value.lo,
         (unsigned)e->new_value.lo);
}

static void on_memory(void *context, const struct facet_memory_event *e)
{
    note("%s%u %s %u:%x/%u %x\n",
         (const char *)context,
         e->core,
         e->write ? "write" : "read",
         e->space,
         (unsigned)e->address,
         e->size,
         (unsigned)e->value.lo);
}

static void on_trap(void *context, const struct facet_trap_event *e)
{
    note("%s%u trap %x cause %x value %x to %x\n",
         (const char *)context,
         e->core,
         (unsigned)e->pc,
         (unsigned)e->cause,
         (unsigned)e->value,
         (unsigned)e->handler);
}

static void on_unit(void *context, const struct facet_unit_event *e)
{
    note("%s%u %s %s %x %x\n",
         (const char *)context,
         e->core,
         e->unit,
         e->what,
         (unsigned)e->values[0],
         (unsigned)e->values[1]);
}

static char prefix[] = "@";
static const struct facet_observer recorder = {
    prefix, on_retire, on_reg, on_csr, on_memory, on_trap, on_unit};

/* One of every event; the same stream whether or not our own ears stand in front. */
static void check_stream(bool with_watch)
{
    static const uint32_t code0[] = {ACC_LDI(0x40), ACC_CSRW(1), ACC_ADD(0x2000), 0xF0000000};
    static const uint32_t code1[] = {ACC_ST(ACC_LOCAL | 4), ACC_HALT};
    static const char expect[] = "@0 reg1 0->40\n"
                                 "@0 retire 0->4 10000040/4\n"
                                 "@1 write 1:4/4 0\n"
                                 "@1 retire 8000->8004 38000004/4\n"
                                 "@0 csr1 0->40\n"
                                 "@0 retire 4->8 60000001/4\n"
                                 "@1 retire 8004->8008 70000000/4\n"
                                 "@0 csr0 ac000000->ac000010\n"
                                 "@0 read 0:2000/4 7\n"
                                 "@0 adder add 40 7\n"
                                 "@0 reg1 40->47\n"
                                 "@0 reg2 0->47\n"
                                 "@0 retire 8->c 40002000/4\n"
                                 "@0 csr2 0->2\n"
                                 "@0 trap c cause 2 value f0000000 to 40\n";
    static const uint32_t seven = 7;
    struct facet_watch watch = {FACET_ANY_CORE, 0, 0x3000, 4, true, true};
    facet_machine *m = make(&acc_ops);
    struct facet_stop stop;

    put_words(m, 0, code0, COUNT(code0));
    put_words(m, ACC_CODE1, code1, COUNT(code1));
    put_words(m, 0x2000, &seven, 1);
    if (with_watch) {
        CHECK(facet_machine_watch_add(m, &watch, NULL, NULL) == FACET_OK);
    }
    recorded = 0;
    record[0] = '\0';
    facet_machine_observe(m, &recorder);
    stop = run_for(m, 6);
    CHECK_EQ(stop.reason, FACET_STOP_BUDGET);
    CHECK_STR(record, expect);
    /* Writes from outside are not events, and without an observer there are none. */
    CHECK(facet_machine_reg_write(m, 0, ACC_REG_ACC, facet_value64(1), NULL) == FACET_OK);
    CHECK(facet_machine_write(m, 0, 0x2000, "x", 1, NULL) == FACET_OK);
    facet_machine_observe(m, NULL);
    (void)run_for(m, 100);
    CHECK_STR(record, expect);
    facet_machine_destroy(m);
}

TEST(the_observer_hears_everything_in_order, "")
{
    check_stream(false);
}

TEST(watchpoints_do_not_disturb_the_observer, "")
{
    check_stream(true);
}

TEST(callbacks_may_be_missing, "")
{
    static const struct facet_observer deaf = {0};
    struct facet_watch watch = {FACET_ANY_CORE, 0, 0x9000, 4, true, true};
    facet_machine *m = make_counters(&acc_ops), *alone = make_counters(&acc_ops);

    facet_machine_observe(m, &deaf);
    (void)run_for(m, 500);
    CHECK(facet_machine_watch_add(m, &watch, NULL, NULL) == FACET_OK);
    (void)run_for(m, 500);
    (void)run_for(alone, 1000);
    CHECK(same_state(m, alone)); /* being watched changes nothing */
    facet_machine_destroy(m);
    facet_machine_destroy(alone);
}
