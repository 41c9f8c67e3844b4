/* The GDB stub by its packets: frames, registers, memory, running forwards and backwards on a
 * machine with two cores, and states compared bit by bit with those of a machine that was never
 * debugged. tests/gdb/test_gdb.py talks to it with a real GDB. */
#include "base/failing_alloc.h"
#include "desk.h"

#include "assembler/assemble.h"
#include "gdb/history.h"
#include "gdb/target.h"
#include "object/elf.h"
#include "object/object.h"

#include <ctype.h>
#include <facet/xphmg.h>
#include <stdlib.h>

/* ---- frames -----------------------------------------------------------------------------------
 */

static struct facet_gdb_reader reader;

/* The last event that is not NOTHING. */
static enum facet_gdb_event feed(const char *bytes, size_t size)
{
    enum facet_gdb_event last = FACET_GDB_NOTHING;

    for (size_t i = 0; i < size; i++) {
        enum facet_gdb_event event = facet_gdb_read_byte(&reader, (uint8_t)bytes[i]);

        last = event != FACET_GDB_NOTHING ? event : last;
    }
    return last;
}

#define FEED(text) feed(text, sizeof(text) - 1)

TEST(frames_are_found_among_noise, "")
{
    memset(&reader, 0, sizeof reader);
    CHECK_EQ(FEED("noise"), FACET_GDB_NOTHING);
    CHECK_EQ(FEED("+"), FACET_GDB_ACK);
    CHECK_EQ(FEED("-"), FACET_GDB_NAK);
    CHECK_EQ(FEED("\x03"), FACET_GDB_INTERRUPT);
    CHECK_EQ(FEED("$OK#9a"), FACET_GDB_PACKET);
    CHECK_STR(reader.data, "OK");
    CHECK_EQ(FEED("$OK#9A"), FACET_GDB_PACKET);
    CHECK_EQ(FEED("$OK#9b"), FACET_GDB_DAMAGED);
    CHECK_EQ(FEED("$OK#zz"), FACET_GDB_DAMAGED);
    CHECK_EQ(FEED("$#00"), FACET_GDB_PACKET);
    CHECK_EQ(reader.length, 0);
    CHECK_EQ(FEED("$half$OK#9a"), FACET_GDB_PACKET); /* a lost end */
    CHECK_STR(reader.data, "OK");
    CHECK_EQ(FEED("$a}\x03}]#bb"), FACET_GDB_PACKET);
    CHECK_STR(reader.data, "a#}");
    CHECK_EQ(FEED("$a\x03#64"), FACET_GDB_PACKET); /* no interrupt inside a frame */
    CHECK_EQ(reader.length, 2);
}

TEST(numbers_have_one_to_sixteen_digits, "")
{
    static const struct {
        const char *text;
        bool good;
        uint64_t value;
    } rows[] = {{"", false, 7},
                {",", false, 7},
                {"0,", true, 0},
                {"fedcba9876543210", true, UINT64_C(0xFEDCBA9876543210)},
                {"0fedcba9876543210", false, 7}};

    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct facet_gdb_text text = {rows[i].text, rows[i].text + strlen(rows[i].text)};
        uint64_t value = 7;

        CHECK_EQ(facet_gdb_take_hex(&text, &value), rows[i].good);
        CHECK_EQ(value, rows[i].value);
    }
}

TEST(a_frame_that_is_too_long_is_told, "")
{
    memset(&reader, 0, sizeof reader);
    CHECK_EQ(FEED("$"), FACET_GDB_NOTHING);
    for (int i = 0; i < FACET_GDB_PACKET_BYTES + 1; i++) {
        CHECK_EQ(FEED("a"), FACET_GDB_NOTHING);
    }
    CHECK_EQ(FEED("#00"), FACET_GDB_TOO_LONG);
    CHECK_EQ(FEED("$OK#9a"), FACET_GDB_PACKET);
}

TEST(what_is_framed_is_read_back, "")
{
    for (int n = 0; n < 300; n++) {
        char bytes[64];
        size_t size = harness_random() % sizeof bytes;
        struct facet_strbuf frame;

        for (size_t i = 0; i < size; i++) {
            bytes[i] = (char)harness_random();
        }
        memset(&reader, 0, sizeof reader);
        facet_strbuf_init(&frame);
        facet_gdb_frame(&frame, bytes, size);
        CHECK_EQ(feed(frame.text, frame.length), FACET_GDB_PACKET);
        CHECK(reader.length == size && memcmp(reader.data, bytes, size) == 0);
        facet_strbuf_free(&frame);
    }
}

/* ---- registers and memory ---------------------------------------------------------------------
 */

TEST(registers_are_read_and_written, "")
{
    struct desk d;

    desk_open(&d, make_counters(&acc_ops));
    TALK(&d,
         {"?", "T05thread:1;"},
         {"qSupported:multiprocess+", NULL},
         {"g", "000000000000000000"}, /* pc and id */
         {"P0=0800000000000000", "OK"},
         {"p0", "0800000000000000"},
         {"P1=05", "E01"}, /* id is read-only */
         {"G100000000000000007", "OK"},
         {"g", "100000000000000000"},
         {"Hg2", "OK"},
         {"p0", "0080000000000000"},
         {"p1", "01"},
         {"P3=000102030405060708090a0b0c0d0e0f", "OK"},
         {"p3", "000102030405060708090a0b0c0d0e0f"},
         {"P4=ffffffff", "OK"}, /* acc.ctrl */
         {"p4", "010000ac"},    /* what it stored: MODE 3 is illegal, ID is fixed */
         {"p99", "E16"},
         {"p", "E16"},
         {"P99=00", "E16"},
         {"P1=0", "E16"},
         {"P1=0001", "E16"},
         {"P0=000000000000000z", "E16"},
         {"G00", "E16"},
         {"nonsense", ""},
         {"vMustReplyEmpty", ""},
         {"", ""},
         {"!", ""});
    desk_close(&d);
}

/* Every register and CSR of the machine under a name of its own that GDB can spell. */
static void check_names(facet_machine *machine)
{
    const struct facet_core_desc *core = facet_machine_core(machine, 0);
    struct facet_gdb_target t;
    uint32_t regs = 0, csrs = 0;

    CHECK(facet_gdb_target_make(&t, machine, NULL) == FACET_OK);
    CHECK(t.count >= core->reg_count + core->csr_count);
    for (uint32_t i = 0; i < t.count; i++) {
        char wanted[128];

        for (const char *c = t.regs[i].name; *c != '\0'; c++) {
            CHECK(isdigit((unsigned char)*c) || islower((unsigned char)*c) || *c == '_');
        }
        CHECK(!isdigit((unsigned char)t.regs[i].name[0]));
        for (uint32_t k = 0; k < i; k++) {
            CHECK_MSG(strcmp(t.regs[i].name, t.regs[k].name) != 0, "two %s", t.regs[i].name);
        }
        (void)snprintf(wanted,
                       sizeof wanted,
                       "<reg name=\"%s\" bitsize=\"%u\" regnum=\"%u\"",
                       t.regs[i].name,
                       t.regs[i].bytes * 8u,
                       i);
        CHECK_MSG(strstr(t.features.text, wanted) != NULL, "no %s", wanted);
        regs += t.regs[i].reg != NULL && !t.regs[i].fields;
        csrs += t.regs[i].csr != NULL && !t.regs[i].fields;
    }
    CHECK_EQ(regs, core->reg_count);
    CHECK_EQ(csrs, core->csr_count);
    facet_gdb_target_free(&t);
}

TEST(every_register_has_a_name, "")
{
    facet_machine *machine = make(&acc_ops);

    check_names(machine);
    facet_machine_destroy(machine);
    for (int i = 0; i < 3; i++) {
        struct facet_xphmg_config config = {.ram_bytes = 1 << 20,
                                            .configuration = i == 0   ? "full"
                                                             : i == 1 ? "min"
                                                                      : "prof"};

        CHECK(facet_xphmg_create(&config, &machine, NULL) == FACET_OK);
        check_names(machine);
        facet_machine_destroy(machine);
    }
}

TEST(memory_is_read_and_written, "")
{
    struct desk d;

    desk_open(&d, make_counters(&acc_ops));
    TALK(&d,
         {"m2000,8", "0100000002000000"},
         {"M2000,2:a1b2", "OK"},
         {"m2000,4", "a1b20000"},
         {"X2000,3:xyz", "OK"},
         {"m2000,4", "78797a00"},
         {"X2000,0:", "OK"},
         {"mffff,8", "00"}, /* as far as there is memory */
         {"m10000,1", "E0e"},
         {"m100000,1", "E0e"}, /* a device */
         {"mffffffffffffffff,8", "E0e"},
         {"M10000,1:00", "E0e"},
         {"M2000,2:a1", "E16"},
         {"M2000,1:a1b2", "E16"},
         {"M2000,ffffffffffffffff:00", "E16"},
         {"X2000,4:xyz", "E16"},
         {"m2000", "E16"},
         {"mfffffffffffffffff,1", "E16"},
         {"m2000,", "E16"});
    desk_close(&d);
}

/* ---- running ----------------------------------------------------------------------------------
 */

TEST(breakpoints_hold_each_core, "")
{
    struct desk d;

    desk_open(&d, make_counters(&acc_ops));
    TALK(&d,
         {"Z0,8,4", "OK"},
         {"Z1,8008,4", "OK"},
         {"Z0,8,4", "OK"}, /* twice is once */
         {"vCont?", "vCont;c;C;s;S"},
         {"vCont;c", "T05thread:1;swbreak:;"},
         {"vCont;c", "T05thread:2;hwbreak:;"},
         {"?", "T05thread:2;hwbreak:;"},
         {"qC", "QC2"},
         {"z1,8008,4", "OK"},
         {"c", "T05thread:1;swbreak:;"},
         {"z0,8,4", "OK"},
         {"Z7,8,4", ""},
         {"Z0,8", "E16"},
         {"Z2,1000,0", "E01"});
    CHECK(is_at(&d, 12)); /* four instructions of each core to come round, then two of each */
    desk_close(&d);
}

TEST(steps_are_of_the_thread_that_is_asked, "")
{
    struct desk d;

    desk_open(&d, make_counters(&acc_ops));
    TALK(&d,
         {"qfThreadInfo", "m1,2"},
         {"qsThreadInfo", "l"},
         {"T2", "OK"},
         {"T3", "E01"},
         {"qThreadExtraInfo,2", "636f726531"},
         {"vCont;s:1;c", "T05thread:1;"},
         {"vCont;s:1;c", "T05thread:1;"},
         {"Hc2", "OK"},
         {"s", "T05thread:2;"},
         {"Hg1", "OK"},
         {"Hg9", "E16"},
         {"vCont;x", "E16"},
         {"vCont", "E16"},
         {"S05", "T05thread:2;"});
    CHECK(is_at(&d, 6));
    desk_close(&d);
}

TEST(watchpoints_tell_the_address, "")
{
    struct desk d;

    desk_open(&d, make_counters(&acc_ops));
    TALK(&d,
         {"Z2,1000,4", "OK"},
         {"c", "T05thread:1;watch:1000;"},
         {"c", "T05thread:2;watch:1000;"},
         {"z2,1000,4", "OK"},
         {"Z3,1002,1", "OK"},
         {"c", "T05thread:1;rwatch:1002;"},
         {"z3,1002,1", "OK"},
         {"Z4,1003,9", "OK"},
         {"c", "T05thread:2;awatch:1003;"});
    desk_close(&d);
}

TEST(an_interrupt_stops_the_machine, "")
{
    struct desk d;

    desk_open(&d, make_counters(&acc_ops));
    d.interrupt_at = 3;
    TALK(&d, {"c", "T02thread:1;"});
    CHECK(is_at(&d, UINT64_C(3) << 20));
    desk_close(&d);
}

/* A copy of 15 MiB at 0x80001000, into what is watched first of all. */
static facet_machine *make_long_copy(void)
{
    static const char text[] = "li a0, 0x81000000\n li a1, 0x80010000\n li a2, 0xF00000\n"
                               "j 1f\n .align 12\n 1: xlds.cpy a0, a1, a2\n j .\n";
    struct facet_asm_options options = {.isa = FACET_ISA_XPHMG, .file = "copy.s"};
    struct facet_xphmg_config config = {.ram_bytes = 32 << 20};
    struct facet_asm_result result;
    facet_machine *machine;
    uint8_t *elf;
    size_t size;

    CHECK(facet_assemble(&options, text, sizeof text - 1, &result, NULL) == FACET_OK);
    CHECK(facet_elf_write(result.object, &elf, &size, NULL) == FACET_OK);
    CHECK(facet_xphmg_create(&config, &machine, NULL) == FACET_OK);
    CHECK(facet_xphmg_load_elf(machine, elf, size, NULL) == FACET_OK);
    facet_asm_result_free(&result);
    free(elf);
    return machine;
}

/* The access belongs to the instruction that is under way, not to the one before. */
TEST(a_watchpoint_in_a_long_instruction_stops_in_front_of_it, "")
{
    struct facet_value pc;
    struct desk d;

    desk_open(&d, make_long_copy());
    d.interrupt_at = 1;
    TALK(&d, {"Z2,81000000,8", "OK"}, {"vCont;c", "T05thread:1;watch:81000000;"});
    CHECK_EQ(facet_machine_reg_read(d.machine, 0, facet_machine_core(d.machine, 0)->pc, &pc, NULL),
             FACET_OK);
    CHECK_EQ(pc.lo, 0x80001000);
    CHECK(!facet_machine_in_step(d.machine));
    desk_close(&d);
}

TEST(an_exit_and_a_fault_are_told, "")
{
    static const uint32_t leave[] = {ACC_LDI(300), ACC_EXIT}, halt[] = {ACC_HALT}, bad[] = {0};
    facet_machine *m = make(&acc_ops);
    struct desk d;

    put_words(m, 0, leave, COUNT(leave));
    put_words(m, ACC_CODE1, halt, 1);
    desk_open(&d, m);
    TALK(&d, {"c", "Wff"}, {"?", "Wff"}, {"c", "Wff"});
    desk_close(&d);
    m = make(&acc_ops);
    put_words(m, 0, bad, 1);
    put_words(m, ACC_CODE1, halt, 1);
    desk_open(&d, m);
    TALK(&d, {"c", "T06thread:1;"});
    CHECK(strstr(d.said, "cannot continue") != NULL);
    desk_close(&d);
    m = make(&acc_ops);
    put_words(m, 0, halt, 1);
    put_words(m, ACC_CODE1, halt, 1);
    desk_open(&d, m);
    TALK(&d, {"c", NULL});
    CHECK(strstr(d.said, "Every core waits") != NULL);
    desk_close(&d);
}

TEST(it_ends_as_the_debugger_says, "")
{
    static const struct {
        const char *packet;
        const char *answer;
        enum facet_gdb_end end;
    } ways[] = {{"D", "OK", FACET_GDB_DETACHED},
                {"vKill;1", "OK", FACET_GDB_KILLED},
                {"k", NULL, FACET_GDB_KILLED},
                {"?", "T05thread:1;", FACET_GDB_GONE}};

    for (size_t i = 0; i < COUNT(ways); i++) {
        const struct desk_line line = {ways[i].packet, ways[i].answer};
        struct desk d;

        desk_open(&d, make_counters(&acc_ops));
        d.lines = &line;
        d.count = 1;
        CHECK_EQ(facet_gdb_serve(d.gdb), ways[i].end);
        CHECK_EQ(d.sent_size, ways[i].answer != NULL ? strlen(ways[i].answer) + 5 : 1);
        desk_close(&d);
    }
}

TEST(acknowledgements_end_when_asked, "")
{
    struct desk d;

    desk_open(&d, make_counters(&acc_ops));
    TALK(&d, {"QStartNoAckMode", "OK"}, {"qC", "QC1"});
    CHECK_EQ(d.sent_size, strlen("+$OK#9a$QC1#c5"));
    TALK(&d, {"qC", "QC1"}); /* the next debugger starts anew */
    CHECK_EQ(d.sent[0], '+');
    desk_close(&d);
}

/* ---- backwards --------------------------------------------------------------------------------
 */

TEST(a_step_back_is_exact, "")
{
    struct desk d;

    desk_open(&d, make_counters(&acc_ops));
    (void)run_for(d.machine, 0);
    TALK(&d, {"vCont;s:2;c", "T05thread:2;"}, {"s", "T05thread:2;"}, {"s", "T05thread:2;"});
    CHECK(is_at(&d, 6));
    TALK(&d, {"bs", "T05thread:2;"}); /* before the last step of core 1 */
    CHECK(is_at(&d, 5));
    TALK(&d, {"Hc1", "OK"}, {"bs", "T05thread:1;"});
    CHECK(is_at(&d, 4));
    TALK(
        &d, {"bs", "T05thread:1;"}, {"bs", "T05thread:1;"}, {"bs", "T05thread:1;replaylog:begin;"});
    CHECK(is_at(&d, 0));
    TALK(&d, {"bs", "T05thread:1;replaylog:begin;"}, {"bx", ""}, {"b", ""});
    CHECK(is_at(&d, 0));
    desk_close(&d);
}

/* Far enough for several snapshots; steps that lie a little apart, far apart, and on snapshots. */
TEST(any_place_of_the_past_is_reached, "")
{
    static const uint64_t places[] = {
        4500000, 4499999, 4499000, 4400000, 2097153, 2097152, 2097151, 1048576, 5000, 1, 0};
    struct facet_gdb_host host = {0};
    struct facet_gdb_history h;
    facet_machine *m = make_counters(&acc_ops);
    struct desk d = {.machine = m};

    CHECK(facet_gdb_history_start(&h, m, &host, NULL) == FACET_OK);
    while (facet_machine_steps(m) < 5000000) {
        struct facet_stop stop;

        facet_gdb_history_run(&h, 5000000 - facet_machine_steps(m), false, &stop);
    }
    CHECK(h.count > 3);
    for (size_t i = 0; i < COUNT(places); i++) {
        CHECK(facet_gdb_history_goto(&h, places[i]));
        CHECK(is_at(&d, places[i]));
    }
    facet_gdb_history_free(&h);
    facet_machine_destroy(m);
}

TEST(the_past_stays_small, "")
{
    struct facet_gdb_host host = {0};
    struct facet_gdb_history h;
    facet_machine *m = make_counters(&acc_ops);
    struct desk d = {.machine = m};

    CHECK(facet_gdb_history_start(&h, m, &host, NULL) == FACET_OK);
    h.interval = 1000;
    while (facet_machine_steps(m) < 500000) {
        uint64_t interval = h.interval;
        struct facet_stop stop;

        facet_gdb_history_run(&h, 1000, false, &stop);
        h.interval = h.interval > 100000 ? interval : h.interval; /* not by size */
        CHECK(h.count <= FACET_GDB_MOMENTS);
    }
    CHECK_EQ(facet_gdb_history_begin(&h), 0);
    CHECK(facet_gdb_history_goto(&h, 123457));
    CHECK(is_at(&d, 123457));
    facet_gdb_history_free(&h);
    facet_machine_destroy(m);
}

TEST(running_back_stops_at_points, "")
{
    uint64_t last;
    struct desk d;

    desk_open(&d, make_counters(&acc_ops));
    d.interrupt_at = 2;
    TALK(&d, {"c", "T02thread:1;"}); /* 2^21 steps */
    TALK(&d, {"Z0,8008,4", "OK"}, {"bc", "T05thread:2;swbreak:;"});
    CHECK_EQ(facet_machine_steps(d.machine) % 2, 1); /* core 1 is next */
    CHECK_EQ(reg(d.machine, 1, ACC_REG_PC), 0x8008);
    CHECK((1 << 21) - facet_machine_steps(d.machine) <= 10); /* the last time round */
    CHECK(is_at(&d, facet_machine_steps(d.machine)));
    last = facet_machine_steps(d.machine);
    TALK(&d, {"Z0,8008,4", "OK"}, {"bc", "T05thread:2;swbreak:;"}, {"bc", NULL});
    CHECK_EQ(facet_machine_steps(d.machine), last - 20); /* five instructions of two cores, twice */
    TALK(&d, {"Z0,8008,4", "OK"}, {"Z0,8,4", "OK"}, {"s", NULL}, {"c", "T05thread:1;swbreak:;"});
    CHECK(is_at(&d, facet_machine_steps(d.machine)));
    TALK(&d, {"bc", NULL});
    CHECK_EQ(facet_machine_steps(d.machine), 0);
    CHECK(is_at(&d, 0));
    desk_close(&d);
}

TEST(a_watchpoint_backwards_stops_before_the_access, "")
{
    struct desk d;

    desk_open(&d, make_counters(&acc_ops));
    TALK(&d,
         {"Z2,1000,4", "OK"},
         {"c", "T05thread:1;watch:1000;"},
         {"m1000,4", "01000000"},
         {"bc", "T05thread:1;watch:1000;"},
         {"m1000,4", "00000000"},
         {"bc", "T05thread:1;replaylog:begin;"});
    CHECK(is_at(&d, 0));
    desk_close(&d);
}

static void run_to(struct facet_gdb_history *h, uint64_t steps)
{
    while (facet_machine_steps(h->machine) < steps) {
        struct facet_stop stop;

        facet_gdb_history_run(h, steps - facet_machine_steps(h->machine), false, &stop);
    }
}

static void poke(struct facet_gdb_history *h, uint32_t word)
{
    put_words(h->machine, 0x1000, &word, 1);
    facet_gdb_history_changed(h);
}

/* Going over the place again finds it written; writing in the past makes another future. */
TEST(writes_of_the_debugger_are_part_of_the_past, "")
{
    struct facet_gdb_host host = {0};
    struct facet_gdb_history h;
    facet_machine *m = make_counters(&acc_ops), *other = make_counters(&acc_ops);
    struct desk d = {.machine = m};

    CHECK(facet_gdb_history_start(&h, m, &host, NULL) == FACET_OK);
    poke(&h, 0x333); /* where a moment is already */
    run_to(&h, 10);
    CHECK_EQ(h.count, 1);
    CHECK(facet_gdb_history_goto(&h, 0));
    CHECK_EQ(word_at(m, 0, 0x1000), 0x333);
    poke(&h, 0);
    run_to(&h, 100);
    poke(&h, 0x777);
    run_to(&h, 200);
    (void)run_for(other, 100);
    put_words(other, 0x1000, (const uint32_t[]){0x777}, 1);
    (void)run_for(other, 100);
    CHECK(same_state(m, other));
    CHECK(facet_gdb_history_goto(&h, 99));
    CHECK(is_at(&d, 99));
    run_to(&h, 200);
    CHECK(same_state(m, other));
    CHECK(facet_gdb_history_goto(&h, 100));
    CHECK_EQ(word_at(m, 0, 0x1000), 0x777);
    CHECK(facet_gdb_history_goto(&h, 150));
    run_to(&h, 200);
    CHECK(same_state(m, other));
    CHECK(facet_gdb_history_goto(&h, 50));
    poke(&h, 0x55);
    run_to(&h, 200);
    facet_machine_destroy(other);
    other = make_counters(&acc_ops);
    (void)run_for(other, 50);
    put_words(other, 0x1000, (const uint32_t[]){0x55}, 1);
    (void)run_for(other, 150);
    CHECK(same_state(m, other));
    for (uint32_t i = 0; i < 3 * FACET_GDB_MOMENTS; i++) { /* more than there is room for */
        run_to(&h, 201 + i);
        poke(&h, i);
    }
    CHECK(h.count <= FACET_GDB_MOMENTS);
    CHECK(facet_gdb_history_begin(&h) > 200);
    CHECK(facet_gdb_history_goto(&h, facet_gdb_history_begin(&h)));
    facet_gdb_history_free(&h);
    facet_machine_destroy(m);
    facet_machine_destroy(other);
}

/* Input that comes at the second look: a word in memory. */
static uint64_t came_at;
static unsigned looks;

static bool look(void *context)
{
    const struct desk *d = context;

    if (++looks != 2) {
        return false;
    }
    came_at = facet_machine_steps(d->machine);
    put_words(d->machine, 0x1000, (const uint32_t[]){0x999}, 1);
    return true;
}

static bool is_at_with_input(const struct desk *d)
{
    facet_machine *other = make_counters(&acc_ops);
    bool same;

    (void)run_for(other, came_at);
    put_words(other, 0x1000, (const uint32_t[]){0x999}, 1);
    (void)run_for(other, facet_machine_steps(d->machine) - came_at);
    same = same_state(d->machine, other);
    facet_machine_destroy(other);
    return same;
}

TEST(input_comes_again_at_its_step, "")
{
    facet_machine *m = make_counters(&acc_ops);
    struct desk d = {.machine = m};
    struct facet_gdb_host host = desk_host(&d);

    host.look = look;
    looks = 0;
    CHECK(facet_gdb_create(m, &host, &d.gdb, NULL) == FACET_OK);
    d.interrupt_at = 3;
    TALK(&d, {"c", "T02thread:1;"});
    CHECK(came_at > 0 && facet_machine_steps(m) > came_at);
    CHECK(is_at_with_input(&d));
    TALK(&d, {"bs", NULL}, {"bs", NULL}, {"s", NULL});
    CHECK(is_at_with_input(&d));
    TALK(&d, {"bc", NULL});
    CHECK(is_at(&d, 0));
    d.looks = 0;
    TALK(&d, {"c", "T02thread:1;"});
    CHECK(facet_machine_steps(m) > came_at);
    CHECK(is_at_with_input(&d));
    CHECK(looks > 2); /* and it was not taken from outside twice */
    desk_close(&d);
}

TEST(what_cannot_be_repeated_has_no_past, "")
{
    facet_machine *m = make_counters(&acc_ops);
    struct desk d = {.machine = m};
    struct facet_gdb_host host = desk_host(&d);

    host.no_reverse = true;
    CHECK(facet_gdb_create(m, &host, &d.gdb, NULL) == FACET_OK);
    TALK(&d, {"s", NULL}, {"bs", ""}, {"bc", ""}, {"qSupported", NULL});
    d.sent[d.sent_size] = '\0';
    CHECK(strstr(d.sent, "swbreak+") != NULL && strstr(d.sent, "Reverse") == NULL);
    CHECK(is_at(&d, 1));
    desk_close(&d);
}

/* ---- queries ----------------------------------------------------------------------------------
 */

TEST(descriptions_come_in_pieces, "")
{
    struct desk d;

    desk_open(&d, make_counters(&acc_ops));
    TALK(&d,
         {"qXfer:features:read:target.xml:0,5", "m<?xml"},
         {"qXfer:features:read:target.xml:2,3", "mxml"},
         {"qXfer:features:read:target.xml:ffffff,5", "l"},
         {"qXfer:features:read:other.xml:0,5", "E00"},
         {"qXfer:features:read:target.xml:0", "E16"},
         {"qXfer:memory-map:read::0,5", "m<?xml"},
         {"qAttached", "1"},
         {"qSymbol::", "OK"});
    desk_close(&d);
}

/* "steps" in hexadecimal is 7374657073. */
TEST(monitor_commands_answer, "")
{
    struct desk d;

    desk_open(&d, make_counters(&acc_ops));
    TALK(&d, {"s", NULL}, {"s", NULL}, {"qRcmd,7374657073", "OK"});
    CHECK(strncmp(d.said, "steps 3, reached 3, history from 0 in 1 snapshot\n", 49) == 0);
    TALK(&d, {"qRcmd,68656c70", "OK"});
    CHECK(strstr(d.said, "reset") != NULL);
    TALK(&d, {"qRcmd,6a6f6273", "OK"}); /* jobs: this machine has none */
    CHECK_STR(d.said, "no jobs under way\n");
    TALK(&d, {"qRcmd,6e6f", "OK"});
    CHECK_STR(d.said, "unknown command no; monitor help lists them\n");
    TALK(&d, {"qRcmd,7265736574", "OK"}, {"?", "T05thread:1;"}); /* reset */
    CHECK(is_at(&d, 0));
    TALK(&d, {"qRcmd,7", "E16"}, {"qRcmd,zz", "E16"}, {"bs", "T05thread:1;replaylog:begin;"});
    desk_close(&d);
}

/* ---- memory -----------------------------------------------------------------------------------
 */

struct talk {
    facet_machine *machine;
    struct facet_blob start;
    char sent[DESK_BYTES]; /* when memory is there */
    size_t sent_size;
};

/* What the debugger hears is right as far as it goes, and where it ends the end says why. */
static void talk_or_lack_memory(void *context)
{
    static const struct desk_line lines[] = {{"qRcmd,68656c70", NULL},
                                             {"Z0,4,4", NULL},
                                             {"Z0,8,4", NULL},
                                             {"c", NULL},
                                             {"bs", NULL},
                                             {"g", NULL},
                                             {"qXfer:features:read:target.xml:0,fff", NULL}};
    static struct desk d;
    struct talk *whole = context;
    struct facet_gdb_host host = desk_host(&d);
    enum facet_gdb_end end = FACET_GDB_SHORT;

    memset(&d, 0, sizeof d);
    d.lines = lines;
    d.count = COUNT(lines);
    if (facet_gdb_create(whole->machine, &host, &d.gdb, NULL) == FACET_OK) {
        end = facet_gdb_serve(d.gdb);
    }
    failing_alloc_after(-1);
    facet_gdb_destroy(d.gdb);
    CHECK(facet_machine_restore(whole->machine, whole->start.data, whole->start.size, NULL) ==
          FACET_OK);
    if (whole->sent_size == 0) {
        whole->sent_size = d.sent_size;
        memcpy(whole->sent, d.sent, d.sent_size);
    }
    CHECK(memcmp(d.sent, whole->sent, d.sent_size) == 0);
    CHECK_EQ(end, d.sent_size == whole->sent_size ? FACET_GDB_GONE : FACET_GDB_SHORT);
}

TEST(a_breakpoint_without_memory_ends_the_session, "")
{
    static const struct desk_line line = {"Z0,4,4", NULL};
    struct desk d;

    desk_open(&d, make_counters(&acc_ops));
    TALK(&d, {"?", "T05thread:1;"}); /* the buffers of answers have their size now */
    d.lines = &line;
    d.next = 0;
    failing_alloc_after(0);
    CHECK_EQ(facet_gdb_serve(d.gdb), FACET_GDB_SHORT);
    failing_alloc_after(-1);
    desk_close(&d);
}

TEST(an_answer_without_memory_ends_the_session, "")
{
    static struct talk whole;

    whole.machine = make_counters(&acc_ops);
    CHECK(facet_machine_snapshot(whole.machine, &whole.start, NULL) == FACET_OK);
    talk_or_lack_memory(&whole);
    CHECK(failing_alloc_each(talk_or_lack_memory, &whole) > 10);
    facet_blob_free(&whole.start);
    facet_machine_destroy(whole.machine);
}
