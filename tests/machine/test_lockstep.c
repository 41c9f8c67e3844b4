/* Changes of a step, and finding where two machines part. */
#include "acc_test.h"
#include "base/failing_alloc.h"

static void
check_change(const facet_machine *m, const struct facet_change *change, const char *text)
{
    char got[200];
    size_t length = facet_change_print(m, change, got, sizeof got);

    CHECK_STR(got, text);
    CHECK_EQ(length, strlen(text));
}

TEST(the_changes_of_a_step, "")
{
    static const uint32_t code[] = {ACC_ADD(0x2000), ACC_ST(0x1000), ACC_CSRW(0), 0xF0000000};
    static const uint32_t halt[] = {ACC_HALT}, seven[] = {7};
    facet_machine *m = make(&acc_ops);
    struct facet_change changes[8];
    struct facet_stop stop;
    size_t count = 0;
    char small[8];

    put_words(m, 0, code, COUNT(code));
    put_words(m, ACC_CODE1, halt, 1);
    put_words(m, 0x2000, seven, 1);
    CHECK(facet_machine_csr_write(m, 0, ACC_CSR_VECTOR, facet_value64(0x80), NULL, NULL) ==
          FACET_OK);
    CHECK(facet_machine_reg_write(
              m, 0, ACC_REG_WIDE, facet_value128(UINT64_C(0xFF) << 56, 1), NULL) == FACET_OK);
    CHECK(facet_machine_step_changes(m, changes, 8, &count, &stop, NULL) == FACET_OK);
    CHECK_EQ(count, 4); /* the read is no change */
    check_change(m, &changes[0], "core0: retired 0x0: 0x40002000  add 0x2000");
    check_change(m, &changes[1], "core0: acc 0x0 -> 0x7");
    check_change(
        m, &changes[2], "core0: wide 0x1ff00000000000000 -> 0xff00000000000006ff00000000000007");
    check_change(m, &changes[3], "core0: acc.ctrl 0xac000000 -> 0xac000010");
    CHECK(facet_machine_step_changes(m, changes, 8, &count, &stop, NULL) == FACET_OK);
    CHECK_EQ(count, 1);
    check_change(m, &changes[0], "core1: retired 0x8000: 0x70000000  halt 0x0");
    memset(changes, 0xEE, sizeof changes);
    CHECK(facet_machine_step_changes(m, changes, 1, &count, &stop, NULL) == FACET_OK);
    CHECK_EQ(count, 2); /* more than there was room for */
    check_change(m, &changes[0], "core0: retired 0x4: 0x30001000  st 0x1000");
    CHECK_EQ(changes[1].address, 0xEEEEEEEEEEEEEEEE);
    CHECK(facet_machine_step_changes(m, changes, 8, &count, &stop, NULL) == FACET_OK);
    check_change(m, &changes[1], "core0: acc.ctrl 0xac000010 -> 0xac000011"); /* what was stored */
    CHECK(facet_machine_step_changes(m, changes, 8, &count, &stop, NULL) == FACET_OK);
    CHECK_EQ(count, 2);
    check_change(m, &changes[0], "core0: trap at 0xc, cause 0x2, value 0xf0000000");
    check_change(m, &changes[1], "core0: acc.cause 0x0 -> 0x2");
    changes[1].size = 0; /* of a design that does not tell the old value */
    check_change(m, &changes[1], "core0: acc.cause -> 0x2");
    changes[1].size = 1;
    changes[0].kind = FACET_CHANGE_MEMORY;
    changes[0].index = 1;
    changes[0].size = 4;
    check_change(m, &changes[0], "core0: local 0xc (4 bytes) = 0xf00000000000000000000002");
    changes[0] = (struct facet_change){
        .kind = FACET_CHANGE_RETIRE, .address = 8, .size = 2, .new_value = {0x1F, 0}};
    check_change(m, &changes[0], "core0: retired 0x8: 0x001f"); /* as many digits as it is long */
    changes[0].size = 8;
    check_change(m, &changes[0], "core0: retired 0x8: 0x000000000000001f");
    CHECK_EQ(facet_change_print(m, &changes[1], small, sizeof small), 27);
    CHECK_STR(small, "core0: ");
    facet_machine_destroy(m);
}

/* A machine whose step writes the same registers several times and out of order. */
static void run_messy(void *self, uint64_t budget, struct facet_stop *stop);
static struct facet_machine_ops messy_ops;
static struct facet_port *messy_port;
static int messy_writes;

static enum facet_status
create_messy(const void *config, struct facet_port *port, void **self, struct facet_error *err)
{
    messy_port = port;
    return acc_ops.create(config, port, self, err);
}

static void run_messy(void *self, uint64_t budget, struct facet_stop *stop)
{
    (void)self;
    (void)budget;
    for (int i = 0; i < messy_writes; i++) {
        uint32_t index = (uint32_t)(i * 7 % 3);

        facet_port_memory(
            messy_port, 0, 0, (uint64_t)(1000 - i % 10), 1, true, facet_value64((uint64_t)i));
        facet_port_reg(
            messy_port, 1, index, facet_value64((uint64_t)i), facet_value64((uint64_t)i + 100));
        facet_port_csr(messy_port, 0, index, facet_value64(0), facet_value64((uint64_t)i));
    }
    facet_port_retire(messy_port, 0, 4, 8, 0, 4);
    stop->steps = 1;
}

TEST(changes_are_sorted_and_merged, "")
{
    static struct facet_change changes[4000];
    struct facet_stop stop;
    struct facet_error err;
    facet_machine *m;
    size_t count;

    messy_ops = acc_ops;
    messy_ops.create = create_messy;
    messy_ops.run = run_messy;
    m = make(&messy_ops);
    messy_writes = 1000;
    CHECK(facet_machine_step_changes(m, changes, 4000, &count, &stop, NULL) == FACET_OK);
    CHECK_EQ(count, 1 + 3 + 3 + 1000);
    CHECK(messy_port->observer == NULL); /* nobody listens any more */
    CHECK_EQ(changes[0].kind, FACET_CHANGE_RETIRE);
    for (uint32_t i = 0; i < 3; i++) {
        /* Register i was written at steps i, i + 3, ...: the first old value, the last new one. */
        uint64_t last = i == 0 ? 999 : i == 1 ? 997 : 998;

        CHECK(changes[1 + i].kind == FACET_CHANGE_REG && changes[1 + i].index == i);
        CHECK_EQ(changes[1 + i].old_value.lo, i);
        CHECK_EQ(changes[1 + i].new_value.lo, last + 100);
        CHECK(changes[4 + i].kind == FACET_CHANGE_CSR && changes[4 + i].new_value.lo == last);
    }
    for (size_t i = 8; i < count; i++) {
        const struct facet_change *a = &changes[i - 1], *b = &changes[i];

        /* By address; writes to one address stay in the order they happened. */
        CHECK(a->address < b->address ||
              (a->address == b->address && a->new_value.lo < b->new_value.lo));
    }
    for (long good = 0; good < 2; good++) {
        messy_writes = 3000;
        failing_alloc_after(good == 0 ? 0 : 2); /* while growing; then the sort's scratch */
        CHECK(facet_machine_step_changes(m, changes, 4000, &count, &stop, &err) ==
              FACET_ERR_MEMORY);
        failing_alloc_after(-1);
        CHECK_EQ(count, 0);
    }
    facet_machine_destroy(m);
}

TEST(comparing_lists, "")
{
    struct facet_change a[2] = {{.kind = FACET_CHANGE_REG, .index = 1, .new_value = {5, 0}},
                                {.kind = FACET_CHANGE_MEMORY, .address = 8, .size = 4}};
    struct facet_change b[2];

    memcpy(b, a, sizeof a);
    CHECK_EQ(facet_changes_compare(a, 2, b, 2), SIZE_MAX);
    CHECK_EQ(facet_changes_compare(a, 2, b, 1), 1);
    CHECK_EQ(facet_changes_compare(a, 0, b, 1), 0);
    b[0].old_value.lo = 9;
    CHECK_EQ(facet_changes_compare(a, 2, b, 2), SIZE_MAX);
    b[0].new_value.hi = 1;
    CHECK_EQ(facet_changes_compare(a, 2, b, 2), 0);
    b[0].new_value.hi = 0;
    b[1].size = 8;
    CHECK_EQ(facet_changes_compare(a, 2, b, 2), 1);
    b[1].size = 4;
    b[1].core = 1;
    CHECK_EQ(facet_changes_compare(a, 2, b, 2), 1);
}

TEST(equal_machines_stay_together, "")
{
    facet_machine *a = make_counters(&acc_ops), *b = make_counters(&acc_plain_ops);
    struct facet_divergence d;

    CHECK(facet_lockstep_run(a, b, 5000, &d, NULL) == FACET_OK);
    CHECK(!d.found && d.step == 5000);
    CHECK(same_state(a, b));
    facet_machine_destroy(a);
    facet_machine_destroy(b);
}

TEST(both_ends_together_is_no_divergence, "")
{
    static const uint32_t code[] = {ACC_LDI(3), ACC_EXIT};
    facet_machine *a = make(&acc_ops), *b = make(&acc_ops);
    struct facet_divergence d;

    put_words(a, 0, code, 2);
    put_words(a, ACC_CODE1, code, 1);
    put_words(b, 0, code, 2);
    put_words(b, ACC_CODE1, code, 1);
    CHECK(facet_lockstep_run(a, b, UINT64_MAX, &d, NULL) == FACET_OK);
    CHECK(!d.found && d.stop_a.reason == FACET_STOP_EXIT && d.stop_b.code == 3);
    facet_machine_destroy(a);
    facet_machine_destroy(b);
}

/* The fault is planted in memory; it shows when the value is first read into a register. */
TEST(the_first_difference_is_found, "")
{
    facet_machine *a = make_counters(&acc_ops), *b = make_counters(&acc_ops);
    static const uint32_t wrong[] = {3};
    struct facet_divergence d;
    char text[100];

    put_words(b, 0x2004, wrong, 1);
    CHECK(facet_lockstep_run(a, b, 1000, &d, NULL) == FACET_OK);
    CHECK(d.found && d.has_a && d.has_b);
    CHECK_EQ(d.step, 3); /* core 1's second instruction */
    (void)facet_change_print(a, &d.a, text, sizeof text);
    CHECK_STR(text, "core1: acc 0x0 -> 0x2");
    (void)facet_change_print(b, &d.b, text, sizeof text);
    CHECK_STR(text, "core1: acc 0x0 -> 0x3");
    facet_machine_destroy(a);
    facet_machine_destroy(b);
}

TEST(a_missing_change_and_a_different_end_are_found, "")
{
    static const uint32_t halts[] = {ACC_HALT}, loads[] = {ACC_LDI(0)};
    static const uint32_t exits[] = {ACC_EXIT};
    facet_machine *a = make(&acc_ops), *b = make(&acc_ops);
    struct facet_divergence d;

    put_words(a, 0, halts, 1);
    put_words(b, 0, loads, 1);
    CHECK(facet_lockstep_run(a, b, 10, &d, NULL) == FACET_OK);
    CHECK(d.found && d.step == 0 && d.a.kind == FACET_CHANGE_RETIRE);
    facet_machine_reset(a);
    facet_machine_reset(b);
    put_words(a, 0, exits, 1);
    put_words(b, 0, exits, 1);
    CHECK(facet_machine_reg_write(b, 0, ACC_REG_ACC, facet_value64(1), NULL) == FACET_OK);
    CHECK(facet_lockstep_run(a, b, 10, &d, NULL) == FACET_OK);
    CHECK(d.found && !d.has_a && !d.has_b); /* same changes, another exit code */
    CHECK(d.stop_a.code == 0 && d.stop_b.code == 1);
    facet_machine_destroy(a);
    facet_machine_destroy(b);
}

TEST(collecting_leaves_the_observer_in_place, "")
{
    static const struct facet_observer deaf = {0};
    struct facet_watch watch = {FACET_ANY_CORE, 0, 0x1000, 4, true, false};
    facet_machine *m = make_counters(&acc_ops), *plain = make_counters(&acc_ops);
    struct facet_change changes[8];
    struct facet_stop stop;
    size_t count;

    facet_machine_observe(m, &deaf);
    CHECK(facet_machine_watch_add(m, &watch, NULL, NULL) == FACET_OK);
    CHECK(facet_machine_step_changes(m, changes, 8, &count, &stop, NULL) == FACET_OK);
    CHECK_EQ(stop.reason, FACET_STOP_WATCHPOINT);
    for (int i = 0; i < 99; i++) {
        CHECK(facet_machine_step_changes(m, changes, 8, &count, &stop, NULL) == FACET_OK);
        CHECK(count >= 1);
    }
    (void)run_for(plain, 100);
    CHECK(same_state(m, plain));
    facet_machine_destroy(m);
    facet_machine_destroy(plain);
}
