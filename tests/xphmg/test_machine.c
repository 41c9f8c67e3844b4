/* The xphmg machine behind its face: the same program, cut into any pieces, with the block cache,
 * without it, and with a listener, must leave the same snapshot, bit for bit. */
#include "harness.h"

#include "isa/assemble.h"
#include "isa/elf.h"
#include "isa/object.h"

#include <facet/lockstep.h>
#include <facet/observer.h>
#include <facet/xphmg.h>
#include <stdlib.h>

enum { RAM_BYTES = 1 << 20 };

struct output {
    char text[4096];
    size_t size;
};

static void
keep_output(void *context, enum facet_xphmg_stream stream, const void *data, size_t size)
{
    struct output *out = context;

    (void)stream;
    if (out->size + size < sizeof out->text) {
        memcpy(out->text + out->size, data, size);
        out->size += size;
        out->text[out->size] = '\0';
    }
}

static uint8_t *assemble(const char *text, size_t *size)
{
    struct facet_asm_options options = {.isa = FACET_ISA_XPHMG, .file = "test.s"};
    struct facet_asm_result result;
    struct facet_error err = {0};
    uint8_t *elf = NULL;

    if (CHECK_MSG(facet_assemble(&options, text, strlen(text), &result, &err) == FACET_OK,
                  "%s",
                  err.message)) {
        CHECK_EQ(facet_elf_write(result.object, &elf, size, &err), FACET_OK);
    }
    facet_asm_result_free(&result);
    return elf;
}

static facet_machine *make(struct facet_xphmg_config config, const char *text, struct output *out)
{
    struct facet_error err = {0};
    facet_machine *machine = NULL;
    size_t size = 0;
    uint8_t *elf = assemble(text, &size);

    config.ram_bytes = RAM_BYTES;
    if (out != NULL) {
        config.host.context = out;
        config.host.output = keep_output;
    }
    CHECK_EQ(facet_xphmg_create(&config, &machine, &err), FACET_OK);
    CHECK_MSG(facet_xphmg_load_elf(machine, elf, size, &err) == FACET_OK, "%s", err.message);
    free(elf);
    return machine;
}

static struct facet_stop run(facet_machine *machine, uint64_t budget)
{
    struct facet_run how = {.budget = budget};
    struct facet_stop stop;

    facet_machine_run(machine, &how, &stop);
    return stop;
}

static uint64_t reg(facet_machine *machine, uint32_t core, const char *name)
{
    struct facet_value value = {0, 0};

    CHECK_EQ(facet_machine_reg_read(
                 machine, core, facet_machine_find_reg(machine, core, name), &value, NULL),
             FACET_OK);
    return value.lo;
}

static uint64_t csr(facet_machine *machine, uint32_t core, const char *name)
{
    struct facet_value value = {0, 0};

    CHECK_EQ(facet_machine_csr_read(
                 machine, core, facet_machine_find_csr(machine, core, name), &value, NULL),
             FACET_OK);
    return value.lo;
}

/* ---- the same bits in every way of running ----------------------------------------------------
 */

/* A timer handler that counts and re-arms, and a loop with loads, stores, atomics and floats that
 * takes its decisions from the counters it reads: any difference in time shows. */
static const char timer_program[] = "la t0, handler\n"
                                    "csrw mtvec, t0\n"
                                    "li t0, 0x2000\n"
                                    "csrs mstatus, t0\n"
                                    "csrr s11, mhartid\n"
                                    "slli s10, s11, 3\n"
                                    "li s8, 0x2004000\n"
                                    "add s8, s8, s10\n"
                                    "li s9, 0x200bff8\n"
                                    "li t0, 3\n"
                                    "sd t0, 0(s8)\n"
                                    "li t0, 0x88\n"
                                    "csrw mie, t0\n"
                                    "csrsi mstatus, 8\n"
                                    "la s0, data\n"
                                    "slli t0, s11, 8\n"
                                    "add s1, s0, t0\n"
                                    "loop: addi s2, s2, 1\n"
                                    "ld t1, 16(s1)\n"
                                    "add t1, t1, s2\n"
                                    "sd t1, 16(s1)\n"
                                    "fcvt.d.l ft0, t1\n"
                                    "fadd.d ft1, ft1, ft0\n"
                                    "fsd ft1, 24(s1)\n"
                                    "1: lr.w t2, (s0)\n"
                                    "addi t2, t2, 1\n"
                                    "sc.w t3, t2, (s0)\n"
                                    "bnez t3, 1b\n"
                                    "andi t4, s2, 63\n"
                                    "bnez t4, loop\n"
                                    "rdtime t5\n"
                                    "xor s3, s3, t5\n"
                                    "csrr t5, minstret\n"
                                    "add s3, s3, t5\n"
                                    "andi t4, s2, 127\n"
                                    "bnez t4, loop\n"
                                    "wfi\n"
                                    "j loop\n"
                                    ".align 2\n"
                                    "handler: csrw mscratch, t0\n"
                                    "addi s4, s4, 1\n"
                                    "ld t0, 0(s9)\n"
                                    "add s5, s5, t0\n"
                                    "addi t0, t0, 5\n"
                                    "sd t0, 0(s8)\n"
                                    "csrr t0, mepc\n"
                                    "xor s6, s6, t0\n"
                                    "csrr t0, mscratch\n"
                                    "mret\n"
                                    ".data\n"
                                    ".align 3\n"
                                    "data: .zero 2048\n";

static void nothing(void *context, const struct facet_retire_event *event)
{
    (void)event;
    ++*(uint64_t *)context;
}

static struct facet_blob snapshot(const facet_machine *machine)
{
    struct facet_blob blob;

    CHECK_EQ(facet_machine_snapshot(machine, &blob, NULL), FACET_OK);
    return blob;
}

static bool same(const struct facet_blob *a, const struct facet_blob *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static void pieces(facet_machine *machine, uint64_t total, uint64_t seed)
{
    while (total > 0) {
        uint64_t n =
            seed != 0 ? (seed = seed * 6364136223846793005u + 1442695040888963407u) >> 53 : total;
        struct facet_stop stop = run(machine, n < total ? n : total);

        if (!CHECK_MSG(stop.reason == FACET_STOP_BUDGET, "%s", facet_stop_name(stop.reason))) {
            return;
        }
        total -= stop.steps;
    }
}

static void compare_ways(uint32_t harts)
{
    enum { STEPS = 100000 };
    struct facet_xphmg_config cached = {.harts = harts}, plain = {.harts = harts, .no_cache = true};
    uint64_t heard = 0;
    struct facet_observer observer = {.context = &heard, .retire = nothing};
    facet_machine *machines[5] = {make(cached, timer_program, NULL),
                                  make(cached, timer_program, NULL),
                                  make(plain, timer_program, NULL),
                                  make(plain, timer_program, NULL),
                                  make(cached, timer_program, NULL)};
    struct facet_blob first;

    facet_machine_observe(machines[4], &observer);
    pieces(machines[0], STEPS, 0);
    first = snapshot(machines[0]);
    CHECK(reg(machines[0], harts - 1, "s4") > 10); /* interrupts came */
    for (int i = 1; i < 5; i++) {
        struct facet_blob blob;

        pieces(machines[i], STEPS, i % 2 == 0 && i != 4 ? 0 : 77u + (unsigned)i);
        blob = snapshot(machines[i]);
        CHECK_MSG(same(&first, &blob), "%u harts, way %d differs", harts, i);
        facet_blob_free(&blob);
    }
    CHECK(heard > STEPS / 2);
    facet_blob_free(&first);
    for (int i = 0; i < 5; i++) {
        facet_machine_destroy(machines[i]);
    }
}

TEST(pieces_and_executors_leave_the_same_bits, "")
{
    compare_ways(1);
    compare_ways(2);
    compare_ways(5);
}

TEST(a_snapshot_continues_on_another_machine, "")
{
    struct facet_xphmg_config config = {.harts = 3};
    facet_machine *a = make(config, timer_program, NULL), *b = NULL;
    struct facet_blob middle, end, again;

    config.ram_bytes = RAM_BYTES;
    CHECK_EQ(facet_xphmg_create(&config, &b, NULL), FACET_OK);
    pieces(a, 34567, 5);
    middle = snapshot(a);
    pieces(a, 50000, 6);
    end = snapshot(a);
    CHECK_EQ(facet_machine_restore(b, middle.data, middle.size, NULL), FACET_OK);
    pieces(b, 50000, 0);
    again = snapshot(b);
    CHECK(same(&end, &again));
    /* back on the machine whose future is already cached */
    CHECK_EQ(facet_machine_restore(a, middle.data, middle.size, NULL), FACET_OK);
    pieces(a, 50000, 9);
    facet_blob_free(&again);
    again = snapshot(a);
    CHECK(same(&end, &again));
    facet_blob_free(&middle);
    facet_blob_free(&end);
    facet_blob_free(&again);
    facet_machine_destroy(a);
    facet_machine_destroy(b);
}

TEST(a_snapshot_of_another_configuration_is_refused, "")
{
    struct facet_xphmg_config one = {.harts = 1}, two = {.harts = 2};
    facet_machine *a = make(one, "nop\n", NULL), *b = make(two, "nop\n", NULL);
    struct facet_blob blob = snapshot(a), before = snapshot(b), after;
    struct facet_error err = {0};

    CHECK_EQ(facet_machine_restore(b, blob.data, blob.size, &err), FACET_ERR_INPUT);
    CHECK(strstr(err.message, "number of harts") != NULL);
    after = snapshot(b);
    CHECK(same(&before, &after));
    facet_blob_free(&blob);
    facet_blob_free(&before);
    facet_blob_free(&after);
    facet_machine_destroy(a);
    facet_machine_destroy(b);
}

TEST(the_tables_name_what_the_specification_names, "")
{
    struct facet_xphmg_config config = {.harts = 2};
    facet_machine *m = make(config, "nop\n", NULL);
    const struct facet_core_desc *core = facet_machine_core(m, 1);
    struct facet_value stored;
    uint32_t at = facet_machine_find_csr(m, 0, "mstatus"), field;

    CHECK_STR(core->name, "hart1");
    CHECK(facet_machine_core(m, 2) == NULL);
    CHECK_STR(core->regs[facet_machine_find_reg(m, 1, "fa0")].name, "f10");
    CHECK_EQ(core->csrs[at].number, 0x300);
    CHECK(facet_machine_find_field(m, 0, "mstatus.MPP", &at, &field));
    /* MPP = 2 is not legal and keeps the old value; FS is plain */
    CHECK_EQ(
        facet_machine_csr_write(m, 0, at, (struct facet_value){0x1000 | 0x6000, 0}, &stored, NULL),
        FACET_OK);
    CHECK_EQ(stored.lo, UINT64_C(0x8000000200006000));
    CHECK_EQ(csr(m, 1, "mhartid"), 1);
    CHECK(facet_machine_find_csr(m, 0, "mhpmcounter31") != FACET_NONE);
    CHECK(facet_machine_find_csr(m, 0, "CAP.PREC.MODE") != FACET_NONE);
    CHECK_EQ(facet_machine_reg_write(m, 0, 0, (struct facet_value){1, 0}, NULL), FACET_ERR_USAGE);
    CHECK_EQ(reg(m, 1, "a0"), 1);
    facet_machine_destroy(m);
}
