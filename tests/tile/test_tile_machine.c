/* The tile machine through the common face: tables, snapshots, breakpoints, watchpoints, observer;
 * and random programs that must end in the same state whichever way they are run: whole rounds or
 * single steps, watched or not, with host SIMD or without, from a snapshot or straight on. */
#include "kernel.h"

#include "isa/isa.h"
#include "isa/isa_rows.h"
#include "machine/whole_state.h"
#include "tile/system.h"

#include <facet/lockstep.h>
#include <facet/observer.h>
#include <stdio.h>
#include <stdlib.h>

static struct kernel k;

/* ---- random programs ---- */

enum { WORDS = 160 };

/* Any row but those that end or wait; branches go forward a little, addresses stay near DATA most
 * of the time because s1..s15 hold such values. */
static uint32_t some_word(unsigned at)
{
    for (;;) {
        unsigned id = (unsigned)(harness_random() % facet_isa_row_count[FACET_ISA_TILE]);
        const struct facet_insn_row *row = &facet_isa_rows[FACET_ISA_TILE][id];
        uint32_t word = row->match | ((uint32_t)harness_random() & ~row->mask);
        bool branch = id >= FACET_TILE_BEQ && id <= FACET_TILE_BGEU;

        bool constant = id == FACET_TILE_VLD_C || id == FACET_TILE_VLD_C_L;

        if (strchr(row->syntax, '(') != NULL && harness_random() % 256 != 0) {
            word = (word & ~(31u << 15)) | (constant ? 24u : 1 + word % 7) << 15;
            if (strstr(row->fields, "s2[24:20]") != NULL) {
                word |= 24u << 20;
            } else if (strstr(row->fields, "imm[31:20]") != NULL) {
                word &= 0x07CFFFFF;
            } else {
                word &= ~((uint32_t)3 << 20 & ~row->mask); /* the short immediate of VATOM */
            }
        }
        if (strstr(row->fields, "d[11:7]") != NULL) {
            word = (word & ~(31u << 7)) | (8 + (uint32_t)(harness_random() % 16)) << 7;
        }
        if (id == FACET_TILE_WFI || id == FACET_TILE_EXIT || id == FACET_TILE_JALR ||
            id == FACET_TILE_JAL || id == FACET_TILE_JAL_S) {
            continue;
        }
        if (branch) {
            uint32_t offset = 4 * (1 + (uint32_t)(harness_random() % (WORDS - at < 6 ? 1 : 5)));

            word = (word & 0x01FFF07F) | (offset >> 1 & 15) << 8 | (offset >> 5 & 63) << 25;
        }
        if (strstr(row->syntax, "uimm(rs1)") == NULL && strstr(row->mnemonic, ".P") != NULL &&
            row->mnemonic[0] == 'S' && harness_random() % 16 != 0) {
            continue; /* stores into the program */
        }
        if (facet_isa_decode(FACET_ISA_TILE, word) != NULL) {
            return word;
        }
    }
}

static void make_program(uint32_t *words)
{
    for (unsigned i = 0; i < WORDS; i++) {
        words[i] = some_word(i);
    }
    words[WORDS] = 0x0010700F;
}

/* A machine with the program dispatched on all cores, registers filled. */
static void start(const struct facet_tile_config *config, const uint32_t *words)
{
    kernel_open(&k, config);
    k.packet = (struct facet_tile_packet){.pc = VRAM + 0x8000,
                                          .columns = 4,
                                          .rows = 1,
                                          .shared_size = 256,
                                          .const_base = DATA + 0x4000,
                                          .const_size = 1024,
                                          .watchdog = 4000};
    for (unsigned i = 0; i <= WORDS; i++) {
        kernel_put(&k, VRAM + 0x8000 + 4 * i, words[i]);
    }
    for (unsigned i = 0; i < 0x2000; i++) {
        kernel_put(&k, DATA + 4 * i, i * 0x9E3779B1);
    }
    CHECK(facet_tile_dispatch(k.machine, &k.packet, NULL) == FACET_OK);
    for (uint32_t core = 0; core < 4; core++) {
        for (uint32_t i = 1; i < 96; i++) {
            uint64_t x = (i * 7 + core) * UINT64_C(0xD1342543DE82EF95);
            struct facet_value value = {x, x * 3};

            if (i < 32) {
                value.lo = i < 8 ? DATA + (x & 0x1FF0) : i < 24 ? (uint32_t)x : x & 0xFC;
                value.hi = 0;
            } else if (i < 64) {
                value.lo = x & 0xFFFF;
                value.hi = 0;
            } else if (i >= 64 + 24) {
                value.lo &= UINT64_C(0x000000FC000000FC);
                value.hi &= UINT64_C(0x000000FC000000FC);
            }

            (void)facet_machine_reg_write(k.machine, core, i, value, NULL);
        }
    }
}

static struct facet_blob end_state(void)
{
    struct facet_blob blob = {NULL, 0};

    CHECK(facet_machine_snapshot(k.machine, &blob, NULL) == FACET_OK);
    return blob;
}

static void run_on(uint64_t budget)
{
    struct facet_run run = {.budget = budget};

    facet_machine_run(k.machine, &run, &k.stop);
}

static void ignore(void *context, const struct facet_retire_event *event)
{
    (void)event;
    ++*(uint64_t *)context;
}

/* Runs to the end in the way `how`. */
static struct facet_blob
run_program(const struct facet_tile_config *config, const uint32_t *words, unsigned how)
{
    uint64_t retired = 0, sum = 0;
    struct facet_observer observer = {.context = &retired, .retire = ignore};
    struct facet_blob blob, middle = {NULL, 0};

    start(config, words);
    switch (how) {
    case 0:
        run_on(UINT64_MAX);
        break;
    case 1: /* steps */
        do {
            facet_machine_step(k.machine, &k.stop);
        } while (k.stop.reason == FACET_STOP_BUDGET);
        break;
    case 2: /* watched */
        facet_machine_observe(k.machine, &observer);
        run_on(UINT64_MAX);
        facet_machine_observe(k.machine, NULL);
        for (uint32_t i = 0; i < 4; i++) {
            sum += facet_machine_retired(k.machine, i);
        }
        CHECK_EQ(retired, sum);
        break;
    default: /* in pieces, through a snapshot into another machine */
        do {
            run_on(1 + harness_random() % 97);
            if (harness_random() % 8 == 0) {
                CHECK(facet_machine_snapshot(k.machine, &middle, NULL) == FACET_OK);
                kernel_close(&k);
                kernel_open(&k, config);
                struct facet_error err = {0};
                CHECK_MSG(facet_machine_restore(k.machine, middle.data, middle.size, &err) ==
                              FACET_OK,
                          "%s",
                          err.message);
                facet_blob_free(&middle);
            }
        } while (k.stop.reason == FACET_STOP_BUDGET);
        break;
    }
    blob = end_state();
    kernel_close(&k);
    return blob;
}

TEST(every_way_of_running_is_the_same, "TILE-048 TILE-392")
{
    static const struct facet_tile_config configs[] = {
        {0}, {.plain = true}, {.quantum = 3}, {.random = true, .seed = 99}, {.strong = true}};
    unsigned faults = 0, ends = 0;
    uint64_t steps = 0;

    for (unsigned n = 0; n < (harness_long() ? 400 : 25) && !harness_failed(); n++) {
        uint32_t words[WORDS + 1];

        make_program(words);
        for (unsigned c = 0; c < 5; c++) {
            struct facet_blob expected = run_program(&configs[c], words, 0);

            for (unsigned how = 1; how < 4; how++) {
                struct facet_blob got = run_program(&configs[c], words, how);

                CHECK_MSG(got.size == expected.size &&
                              memcmp(got.data, expected.data, got.size) == 0,
                          "program %u, configuration %u: way %u ends differently",
                          n,
                          c,
                          how);
                facet_blob_free(&got);
            }
            if (c == 0) { /* host SIMD or not is no part of the state */
                struct facet_blob plain = run_program(&configs[1], words, 0);

                CHECK(plain.size == expected.size &&
                      memcmp(plain.data, expected.data, plain.size) == 0);
                facet_blob_free(&plain);
                faults += k.stop.reason == FACET_STOP_FAULT;
                ends += k.stop.reason == FACET_STOP_EXIT;
                steps += k.stop.steps;
            }
            facet_blob_free(&expected);
        }
    }
    CHECK_MSG(faults > 0 && ends > 0 && steps > 5000,
              "the programs are of no use: %u fault, %u end, %u steps",
              faults,
              ends,
              (unsigned)steps);
}

/* ---- tables ---- */

TEST(names, "TILE-001 TILE-003 TILE-004")
{
    kernel_open(&k, NULL);
    CHECK_EQ(facet_machine_core_count(k.machine), 4);
    CHECK_STR(facet_machine_core(k.machine, 2)->name, "core2");
    CHECK_STR(facet_machine_kind_name(k.machine), "tile");
    CHECK_EQ(facet_machine_core(k.machine, 0)->reg_count, 97);
    CHECK(facet_machine_find_reg(k.machine, 0, "V31") != FACET_NONE);
    CHECK(facet_machine_find_csr(k.machine, 0, "sampler[31].misc") != FACET_NONE);
    CHECK_EQ(facet_machine_csr_at(k.machine, 0, 0xC20),
             facet_machine_find_csr(k.machine, 0, "fault_cause"));
    CHECK_EQ(facet_machine_space_count(k.machine), 5);
    CHECK_STR(facet_machine_space_name(k.machine, 1), "scratch0");
    CHECK_EQ(facet_machine_next_core(k.machine), FACET_NONE);
    struct facet_stop stop;
    facet_machine_step(k.machine, &stop);
    CHECK_EQ(stop.reason, FACET_STOP_IDLE); /* nothing was dispatched */
    CHECK_EQ(stop.steps, 0);
    kernel_close(&k);
}

TEST(breakpoints_and_watchpoints, "TILE-048")
{
    struct facet_watch watch = {
        .core = FACET_ANY_CORE, .space = 0, .address = DATA + 4, .size = 4, .on_write = true};
    const struct facet_run run = {.budget = UINT64_MAX};
    uint32_t id;

    kernel_open(&k, NULL);
    k.packet.columns = 4;
    CHECK(kernel_load(&k,
                      VRAM,
                      "CSRR s1, core_id\nLUI s2, 0x80010\nSHLI s3, s1, 2\nhere: SW.R s1, s3(s2)\n"
                      "ADDI s4, s0, 1\nEXIT"));
    CHECK(facet_tile_dispatch(k.machine, &k.packet, NULL) == FACET_OK);
    CHECK(facet_machine_break_add(k.machine, 2, VRAM + 12, &id, NULL) == FACET_OK);
    CHECK(facet_machine_watch_add(k.machine, &watch, NULL, NULL) == FACET_OK);
    facet_machine_run(k.machine, &run, &k.stop);
    CHECK_EQ(k.stop.reason, FACET_STOP_WATCHPOINT);
    CHECK_EQ(k.stop.core, 1);
    CHECK_EQ(k.stop.address, DATA + 4);
    facet_machine_run(k.machine, &run, &k.stop);
    CHECK_EQ(k.stop.reason, FACET_STOP_BREAKPOINT);
    CHECK_EQ(k.stop.core, 2);
    CHECK_EQ(k.stop.pc, VRAM + 12);
    CHECK_EQ(kernel_reg(&k, 2, "s3"), 8);
    facet_machine_run(k.machine, &run, &k.stop);
    CHECK_EQ(k.stop.reason, FACET_STOP_EXIT);
    facet_machine_reset(k.machine); /* the dispatch begins again */
    CHECK_EQ(facet_tile_info_of(k.machine).state, FACET_TILE_STATE_RUNNING);
    CHECK_EQ(facet_machine_steps(k.machine), 0);
    kernel_close(&k);
}

/* ---- observer ---- */

struct seen {
    unsigned regs, csrs, loads, stores, traps, cores;
    uint64_t last_value;
};

static void on_reg(void *context, const struct facet_reg_event *event)
{
    struct seen *s = context;

    s->regs++;
    s->last_value = event->new_value.lo;
}

static void on_csr(void *context, const struct facet_reg_event *event)
{
    (void)event;
    ((struct seen *)context)->csrs++;
}

static void on_memory(void *context, const struct facet_memory_event *event)
{
    struct seen *s = context;

    s->loads += !event->write;
    s->stores += event->write;
}

static void on_trap(void *context, const struct facet_trap_event *event)
{
    struct seen *s = context;

    s->traps++;
    s->cores |= 1u << event->core;
    s->last_value = event->cause;
    CHECK_EQ(event->value, event->cause == 4 ? 0 : event->pc);
}

TEST(events, "TILE-048")
{
    struct seen seen = {0};
    struct facet_observer observer = {.context = &seen,
                                      .reg_write = on_reg,
                                      .csr_write = on_csr,
                                      .memory = on_memory,
                                      .trap = on_trap};

    kernel_open(&k, NULL);
    CHECK(kernel_load(&k,
                      VRAM,
                      "LUI s2, 0x80010\nLW s3, 0(s2)\nVST.V v1, 16(s2)\nAADD s4, s2, (s2)\n"
                      "VSTX v1, (s2), v0\nVLD.S16 v0, (s2), s0\nCSRW vstride, s2\nCSRW 0x400, s2\n"
                      "ADDI s5, s0, 9\nLW s6, 0(s0)"));
    CHECK(facet_tile_dispatch(k.machine, &k.packet, NULL) == FACET_OK);
    facet_machine_observe(k.machine, &observer);
    run_on(UINT64_MAX);
    CHECK_EQ(k.stop.reason, FACET_STOP_FAULT);
    CHECK_EQ(seen.regs, 4);   /* s2, s3, s4, s5: told also where they keep 0 */
    CHECK_EQ(seen.csrs, 3);   /* vstride, a sampler word, status.MEMF */
    CHECK_EQ(seen.loads, 10); /* LW, AADD, lanes of VLD.S16 */
    CHECK_EQ(seen.stores, 6); /* VST, AADD, lanes of VSTX */
    CHECK_EQ(seen.traps, 1);
    CHECK_EQ(seen.last_value, 4);
    facet_machine_observe(k.machine, NULL);
    kernel_close(&k);
}

/* The watchdog's fault is told of the cores that were still running, and of no other. */
TEST(the_watchdog_is_told, "")
{
    struct seen seen = {0};
    struct facet_observer observer = {.context = &seen, .trap = on_trap};

    kernel_open(&k, NULL);
    k.packet.columns = 3;
    k.packet.watchdog = 50;
    CHECK(kernel_load(
        &k, VRAM, "CSRR s1, core_id\nADDI s2, s0, 1\nBEQ s1, s2, out\nloop: J loop\nout: EXIT"));
    CHECK(facet_tile_dispatch(k.machine, &k.packet, NULL) == FACET_OK);
    facet_machine_observe(k.machine, &observer);
    run_on(UINT64_MAX);
    CHECK_EQ(k.stop.reason, FACET_STOP_FAULT);
    CHECK_EQ(seen.traps, 2);
    CHECK_EQ(seen.cores, 5); /* 0 and 2 */
    CHECK_EQ(seen.last_value, 9);
    facet_machine_observe(k.machine, NULL);
    kernel_close(&k);
}

/* The register that the word names as destination, straight from bits 11:7 and the letter in the
 * row's text; FACET_NONE for none. */
static uint32_t destination(uint32_t word)
{
    const struct facet_insn_row *row = facet_isa_decode(FACET_ISA_TILE, word);
    const char *first = row != NULL ? strchr(row->syntax, ' ') : NULL;
    uint32_t number = word >> 7 & 31;

    if (first == NULL || first[2] != 'd') {
        return FACET_NONE;
    }
    return first[1] == 'f'   ? 32 + number
           : number == 0     ? FACET_NONE
           : first[1] == 'v' ? 64 + number
                             : number;
}

/* What one step of the machine wrote: `regs` and `csrs` count, the last of each is kept. */
struct step {
    unsigned retired, regs, csrs;
    struct facet_change retire, reg, csr;
};

static struct step step_once(void)
{
    struct facet_change changes[64];
    struct step step = {0};
    size_t count = 0;

    CHECK(facet_machine_step_changes(k.machine, changes, 64, &count, &k.stop, NULL) == FACET_OK);
    for (size_t i = 0; i < count && i < 64; i++) {
        if (changes[i].kind == FACET_CHANGE_RETIRE) {
            step.retired++;
            step.retire = changes[i];
        } else if (changes[i].kind == FACET_CHANGE_REG) {
            step.regs++;
            step.reg = changes[i];
        } else if (changes[i].kind == FACET_CHANGE_CSR) {
            step.csrs++;
            step.csr = changes[i];
        }
    }
    return step;
}

/* Every instruction that retires tells its destination, whether the value is new or not, with the
 * value that the register then has. */
TEST(every_register_write_is_told, "TILE-048")
{
    uint32_t words[WORDS + 1];
    unsigned equal = 0;

    for (unsigned round = 0; round < 40; round++) {
        make_program(words);
        start(NULL, words);
        do {
            struct step step = step_once();
            uint32_t wanted =
                step.retired != 0 ? destination((uint32_t)step.retire.new_value.lo) : FACET_NONE;

            CHECK_EQ(step.regs, wanted != FACET_NONE);
            if (wanted != FACET_NONE && step.regs == 1) {
                struct facet_value now = {0, 0};

                (void)facet_machine_reg_read(k.machine, step.reg.core, wanted, &now, NULL);
                CHECK_EQ(step.reg.index, wanted);
                CHECK_EQ(step.reg.new_value.lo, now.lo);
                CHECK_EQ(step.reg.new_value.hi, now.hi);
                equal += step.reg.new_value.lo == step.reg.old_value.lo &&
                         step.reg.new_value.hi == step.reg.old_value.hi;
            }
        } while (k.stop.reason == FACET_STOP_BUDGET);
        kernel_close(&k);
    }
    CHECK(equal > 100); /* the case that matters has occurred */
}

/* A CSR that an instruction writes is told also when it keeps its value; one that is only read or
 * refuses the write is not. */
TEST(every_csr_write_is_told, "TILE-048")
{
    static const struct {
        const char *line;
        const char *csr; /* NULL: none */
        uint32_t old_value, new_value;
    } rows[] = {
        {"CSRRW s2, vstride, s0", "vstride", 0, 0},
        {"CSRRS s0, vstride, s1", "vstride", 0, 5},
        {"CSRRS s0, vstride, s1", "vstride", 5, 5},
        {"CSRRS s3, vstride, s0", NULL, 0, 0},
        {"CSRRW s0, int_status, s1", "int_status", 0, 0},
        {"CSRRW s0, gerror, s1", "gerror", 0, 0},
        {"CSRRW s0, sampler[3].width, s1", "sampler[3].width", 0, 5},
        {"CSRRW s0, sampler[3].width, s1", "sampler[3].width", 5, 5},
        {"SETMISC s0, 0, 0x3f", NULL, 0, 0},
        {"SETMISC s0, 0x10, 0", "config", 0, 0},
        {"CSRRW s0, core_id, s1", "status", 0, ST_CSRERR}, /* read-only: refused */
        {"CSRRW s0, core_id, s1", NULL, 0, 0},
        {"MEMBAR", NULL, 0, 0},
    };

    kernel_open(&k, NULL);
    k.packet.core_mask = 1;
    CHECK(kernel_load(&k, VRAM, "ADDI s1, s0, 5"));
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        kernel_put(&k, VRAM + 4 + 4 * i, kernel_word(rows[i].line));
    }
    CHECK(facet_tile_dispatch(k.machine, &k.packet, NULL) == FACET_OK);
    (void)step_once();
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct step step = step_once();

        CHECK_EQ(step.retired, 1);
        CHECK_EQ(step.csrs, rows[i].csr != NULL);
        if (rows[i].csr != NULL) {
            CHECK_EQ(step.csr.index, facet_machine_find_csr(k.machine, 0, rows[i].csr));
            CHECK_EQ(step.csr.old_value.lo, rows[i].old_value);
            CHECK_EQ(step.csr.new_value.lo, rows[i].new_value);
        }
    }
    kernel_close(&k);
}

/* ---- snapshots ---- */

TEST(a_snapshot_holds_every_register, "")
{
    uint32_t words[WORDS + 1];

    make_program(words);
    start(NULL, words);
    run_on(50);
    for (unsigned i = 0; i < 10 && !harness_failed(); i++) {
        check_whole_state(k.machine);
    }
    kernel_close(&k);
}

TEST(bad_snapshots_change_nothing, "TILE-048")
{
    uint32_t words[WORDS + 1];
    struct facet_blob good, before, after;

    make_program(words);
    start(NULL, words);
    run_on(100);
    good = end_state();
    run_on(37);
    before = end_state();
    for (unsigned i = 0; i < 400; i++) {
        size_t at = (size_t)(harness_random() % good.size);
        size_t size = i % 3 == 0 ? at : good.size;
        uint8_t *bytes = good.data, old = bytes[at];

        bytes[at] ^= (uint8_t)(1 + harness_random() % 255);
        CHECK(facet_machine_restore(k.machine, bytes, size, NULL) != FACET_OK);
        bytes[at] = old;
    }
    after = end_state();
    CHECK(after.size == before.size && memcmp(after.data, before.data, after.size) == 0);
    CHECK(facet_machine_restore(k.machine, good.data, good.size, NULL) == FACET_OK);
    run_on(37);
    facet_blob_free(&after);
    after = end_state();
    CHECK(after.size == before.size && memcmp(after.data, before.data, after.size) == 0);
    kernel_close(&k);
    kernel_open(&k, &(struct facet_tile_config){.strong = true});
    CHECK(facet_machine_restore(k.machine, good.data, good.size, NULL) != FACET_OK);
    kernel_close(&k);
    facet_blob_free(&good);
    facet_blob_free(&before);
    facet_blob_free(&after);
}

/* Loads some slots of every kind with words of their own. */
static void load_slots(struct facet_raster_context *g)
{
    for (unsigned slot = 0; slot < FACET_RASTER_SLOTS; slot++) {
        struct {
            uint32_t *words;
            unsigned count, kind;
        } part[] = {{g->rstate[slot], 1, FACET_RASTER_RSTATE}, /* an address: always legal */
                    {g->gstate[slot], FACET_TILE_GSTATE_WORDS, FACET_RASTER_GSTATE},
                    {g->normal[slot], FACET_TILE_NORMAL_MATRIX_WORDS, FACET_RASTER_GSTATE},
                    {g->plane[slot], FACET_TILE_PLANE_WORDS, FACET_RASTER_GSTATE},
                    {g->gparam[slot], FACET_TILE_GPARAM_WORDS, FACET_RASTER_GPARAM}};

        for (unsigned i = 0; i < sizeof part / sizeof part[0]; i++) {
            for (unsigned w = 0; w < part[i].count && (slot + part[i].kind) % 3 == 0; w++) {
                part[i].words[w] = (uint32_t)harness_random() | 1;
                g->valid[part[i].kind] |= (uint16_t)(1U << slot);
                g->current[part[i].kind] = (uint8_t)slot;
            }
        }
    }
    g->setup[3] = g->token = (uint32_t)harness_random();
    g->has_setup = 1;
}

static struct facet_raster_context *context_of(unsigned i)
{
    struct facet_tile_machine *m = facet_machine_self(k.machine, &facet_tile_ops, NULL);

    return i < FACET_TILE_CORES ? &m->core[i].gfx : &m->queue.gfx;
}

/* A draw that was left in the middle, with a value of its own in every field. */
TEST(every_field_of_a_left_draw_is_saved, "")
{
    static const char *const text = "GDRAW s1, 0(s2)\nEXIT";
    struct facet_raster_part saved, *part;
    struct facet_tile_machine *m;
    struct facet_blob blob;

    kernel_open(&k, NULL);
    m = facet_machine_self(k.machine, &facet_tile_ops, NULL);
    part = &m->draw.part;
    CHECK(kernel_load(&k, VRAM, text));
    CHECK(facet_tile_dispatch(k.machine, &k.packet, NULL) == FACET_OK);
    memset(part, 0, sizeof *part);
    part->kind = FACET_RASTER_PART_GDRAW;
    part->code = 2;
    part->count = 3;
    part->bad_mem = part->bad_mem_told = part->half = 1;
    part->row = 5;
    part->fan = 1;
    part->element = 6;
    part->assembled = UINT64_C(0x700000001);
    for (unsigned i = 0; i < FACET_RASTER_DRAW_WORDS; i++) {
        part->words[i] = 100 + i;
    }
    for (unsigned i = 0; i < FACET_TILE_VERTEX_BLOCK_WORDS; i++) {
        part->block[i] = 200 + i;
    }
    for (unsigned i = 0; i < 3; i++) {
        part->corner[i][0] = 10 + i;
    }
    m->draw_of = 0;
    m->draw_word = kernel_word(text);
    saved = *part;
    blob = end_state();
    memset(part, 0, sizeof *part);
    m->draw_word = 0;
    CHECK(facet_machine_restore(k.machine, blob.data, blob.size, NULL) == FACET_OK);
    CHECK(part->kind == saved.kind && part->code == 2 && part->count == 3 && part->bad_mem == 1);
    CHECK(part->bad_mem_told == 1 && part->half == 1 && part->fan == 1 && part->row == 5);
    CHECK(part->element == 6 && part->assembled == saved.assembled);
    CHECK(memcmp(part->words, saved.words, sizeof saved.words) == 0);
    CHECK(memcmp(part->block, saved.block, sizeof saved.block) == 0);
    CHECK(memcmp(part->corner, saved.corner, sizeof saved.corner) == 0);
    CHECK_EQ(m->draw_word, kernel_word(text));
    facet_blob_free(&blob);
    kernel_close(&k);
}

TEST(only_loaded_slots_are_saved, "")
{
    enum { CONTEXTS = FACET_TILE_CORES + 1 };
    struct facet_raster_context empty[CONTEXTS], loaded[CONTEXTS];
    struct facet_blob start, full;

    kernel_open(&k, NULL);
    start = end_state();
    for (unsigned i = 0; i < CONTEXTS; i++) {
        empty[i] = *context_of(i);
        load_slots(context_of(i));
        loaded[i] = *context_of(i);
    }
    full = end_state();
    CHECK(start.size < sizeof empty && full.size > start.size + sizeof empty / 4);
    CHECK(facet_machine_restore(k.machine, start.data, start.size, NULL) == FACET_OK);
    for (unsigned i = 0; i < CONTEXTS; i++) {
        CHECK(memcmp(context_of(i), &empty[i], sizeof empty[i]) == 0);
    }
    CHECK(facet_machine_restore(k.machine, full.data, full.size, NULL) == FACET_OK);
    for (unsigned i = 0; i < CONTEXTS; i++) {
        CHECK(memcmp(context_of(i), &loaded[i], sizeof loaded[i]) == 0);
    }
    facet_blob_free(&start);
    facet_blob_free(&full);
    kernel_close(&k);
}
