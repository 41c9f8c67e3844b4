/* Area `hart`: bare-metal RV64 programs (bench/hart) on the xphmg machine and, the same ELF file,
 * on qemu-system-riscv64, in millions of guest instructions per second. The cross compiler and QEMU
 * are found on PATH; the sources travel inside the program.
 *
 * Both are measured in processor time, so that whatever else runs on the host weighs on neither;
 * QEMU's start-up, measured with no rounds to do, is subtracted. Every program checks its own
 * results and says so by its exit code. */
#include "bench/bench.h"

#include "base/error.h"
#include "base/file.h"
#include "bench/hart_programs.h"
#include "bench/scratch.h"

#include <facet/xphmg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define COMPILER "riscv64-unknown-elf-gcc"
#define QEMU "qemu-system-riscv64"

/* What start.S has at `rounds`. */
static const uint64_t rounds_mark = UINT64_C(0xFACE7B0A7D5EED01);

enum { LENGTH_FACTOR = 2, STARTS = 3, ELF_LIMIT = 1 << 24 };
static const double least_seconds = 0.1; /* of Facet, whatever was asked for */

struct program {
    const char *name;
    const char *source;
    const char *option; /* of the compiler, or NULL */
    double items;       /* done by a round; 0: instructions are counted */
    uint8_t *elf;       /* with the mark in it */
    size_t size, mark;
    double asked;          /* length for which rounds was found */
    uint64_t rounds;       /* that take that long on Facet */
    uint64_t instructions; /* of that many rounds */
    double start_up;       /* of QEMU, seconds */
};

enum { INT, FP, MEM, BRANCHY, RT, RT_SOFT, GFX, GFX_SOFT, MTX, MTX_SOFT, PROGRAMS };
static struct program programs[PROGRAMS] = {
    {.name = "int", .source = hart_int},
    {.name = "fp", .source = hart_fp},
    {.name = "mem", .source = hart_mem},
    {.name = "branchy", .source = hart_branchy},
    {.name = "rt-guest", .source = hart_rt, .items = 16384},
    {.name = "rt-guest, fallback", .source = hart_rt, .items = 16384, .option = "-DFALLBACK"},
    {.name = "gfx-guest", .source = hart_gfx, .items = 2048},
    {.name = "gfx-guest, fallback", .source = hart_gfx, .items = 2048, .option = "-DFALLBACK"},
    {.name = "mtx-guest", .source = hart_mtx, .items = 4096},
    {.name = "mtx-guest, fallback", .source = hart_mtx, .items = 4096, .option = "-DFALLBACK"},
};
static struct {
    char start[BENCH_SCRATCH_PATH], script[BENCH_SCRATCH_PATH];
    char source[BENCH_SCRATCH_PATH], elf[BENCH_SCRATCH_PATH];
    bool ready;
} files;

static void free_programs(void)
{
    for (int i = 0; i < PROGRAMS; i++) {
        free(programs[i].elf);
    }
}

static enum facet_status write_text(const char *path, const char *text, struct facet_error *err)
{
    return facet_file_write(path, text, strlen(text), err);
}

static enum facet_status prepare_files(struct facet_error *err)
{
    static const char *const needed[] = {COMPILER, QEMU};
    enum facet_status status;

    for (size_t i = 0; i < 2; i++) {
        if (!bench_has_program(needed[i])) {
            return facet_fail(err, FACET_ERR_IO, 0, "%s is not installed", needed[i]);
        }
    }
    if (files.ready) {
        return FACET_OK;
    }
    if ((status = bench_scratch("start.S", files.start, err)) == FACET_OK &&
        (status = bench_scratch("hart.ld", files.script, err)) == FACET_OK &&
        (status = bench_scratch("program.c", files.source, err)) == FACET_OK &&
        (status = bench_scratch("program.elf", files.elf, err)) == FACET_OK &&
        (status = write_text(files.start, hart_start, err)) == FACET_OK) {
        status = write_text(files.script, hart_ld, err);
    }
    if (status == FACET_OK) {
        (void)atexit(free_programs);
        files.ready = true;
    }
    return status;
}

static enum facet_status compile(struct program *p, struct facet_error *err)
{
    char *argv[] = {(char *)COMPILER,
                    (char *)"-O2",
                    (char *)"-march=rv64gc",
                    (char *)"-mabi=lp64d",
                    (char *)"-mcmodel=medany",
                    (char *)"-ffreestanding",
                    (char *)"-fno-tree-loop-distribute-patterns", /* no memcpy to call */
                    (char *)"-nostdlib",
                    (char *)"-static",
                    (char *)"-T",
                    files.script,
                    files.start,
                    files.source,
                    (char *)"-o",
                    files.elf,
                    (char *)p->option, /* or the end */
                    NULL};
    struct facet_bytes file;
    enum facet_status status;
    double seconds;

    status = write_text(files.source, p->source, err);
    if (status == FACET_OK) {
        status = bench_spawn(argv, &seconds, err);
    }
    if (status == FACET_OK) {
        status = facet_file_read(files.elf, ELF_LIMIT, &file, err);
    }
    if (status != FACET_OK) {
        return status;
    }
    for (size_t i = 0; i + sizeof rounds_mark <= file.size; i++) {
        if (memcmp(file.data + i, &rounds_mark, sizeof rounds_mark) == 0) {
            p->elf = file.data;
            p->size = file.size;
            p->mark = i;
            return FACET_OK;
        }
    }
    free(file.data);
    return facet_fail(err, FACET_ERR_INTERNAL, 0, "%s: no place for the rounds", p->name);
}

/* The guest is little-endian. */
static void set_rounds(struct program *p, uint64_t rounds)
{
    for (int i = 0; i < 8; i++) {
        p->elf[p->mark + (size_t)i] = (uint8_t)(rounds >> (8 * i));
    }
}

static double processor_seconds(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One run on a fresh machine. */
static enum facet_status
run_facet(struct program *p, uint64_t rounds, double *seconds, struct facet_error *err)
{
    const struct facet_run how = {.budget = UINT64_MAX};
    facet_machine *machine = NULL;
    enum facet_status status = facet_xphmg_create(NULL, &machine, err);
    struct facet_stop stop = {0};
    double start;

    if (status != FACET_OK) {
        return status;
    }
    set_rounds(p, rounds);
    status = facet_xphmg_load_elf(machine, p->elf, p->size, err);
    if (status == FACET_OK) {
        start = processor_seconds();
        facet_machine_run(machine, &how, &stop);
        *seconds = processor_seconds() - start;
        p->instructions = facet_machine_retired(machine, 0);
        if (stop.reason != FACET_STOP_EXIT || stop.code != 0) {
            status = facet_fail(err,
                                FACET_ERR_INTERNAL,
                                stop.pc,
                                "%s ended with %s, code %llu",
                                p->name,
                                facet_stop_name(stop.reason),
                                (unsigned long long)stop.code);
        }
    }
    facet_machine_destroy(machine);
    return status;
}

/* One run of QEMU from start to end. */
static enum facet_status
run_qemu(struct program *p, uint64_t rounds, double *seconds, struct facet_error *err)
{
    char *argv[] = {(char *)QEMU,
                    (char *)"-machine",
                    (char *)"virt",
                    (char *)"-bios",
                    (char *)"none",
                    (char *)"-display",
                    (char *)"none",
                    (char *)"-serial",
                    (char *)"none",
                    (char *)"-monitor",
                    (char *)"none",
                    (char *)"-semihosting",
                    (char *)"-kernel",
                    files.elf,
                    NULL};
    struct rusage use;
    enum facet_status status;

    set_rounds(p, rounds);
    status = facet_file_write(files.elf, p->elf, p->size, err);
    if (status != FACET_OK) {
        return status;
    }
    status = bench_run_program(argv, &use, err);
    if (status != FACET_OK) {
        return status;
    }
    *seconds = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
               (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
    return FACET_OK;
}

/* Compiles, and finds the rounds that last as long as was asked. */
static enum facet_status prepare(struct program *p, double asked, struct facet_error *err)
{
    enum facet_status status = prepare_files(err);
    double wanted = LENGTH_FACTOR * asked, took = 0;

    if (status == FACET_OK && p->elf == NULL) {
        status = compile(p, err);
    }
    if (status != FACET_OK || p->asked == asked) {
        return status;
    }
    wanted = wanted < least_seconds ? least_seconds : wanted;
    p->rounds = 1;
    status = run_facet(p, p->rounds, &took, err);
    while (status == FACET_OK && took < wanted / 8) {
        p->rounds *= 4;
        status = run_facet(p, p->rounds, &took, err);
    }
    p->rounds = 1 + (uint64_t)((double)p->rounds * wanted / took);
    p->asked = asked;
    return status;
}

static double work_of(const struct program *p)
{
    return p->items != 0 ? p->items * (double)p->rounds : (double)p->instructions;
}

static enum facet_status
measure(struct program *p, double asked, double *value, struct facet_error *err)
{
    enum facet_status status = prepare(p, asked, err);
    double seconds;

    if (status == FACET_OK) {
        status = run_facet(p, p->rounds, &seconds, err);
    }
    if (status == FACET_OK) {
        *value = work_of(p) / seconds * 1e-6;
    }
    return status;
}

/* The shortest of a few starts of QEMU with no rounds to do. */
static enum facet_status find_start_up(struct program *p, struct facet_error *err)
{
    enum facet_status status = FACET_OK;
    double took = 0;

    for (int i = 0; status == FACET_OK && i < STARTS; i++) {
        status = run_qemu(p, 0, &took, err);
        p->start_up = i == 0 || took < p->start_up ? took : p->start_up;
    }
    return status;
}

/* The instructions are those that Facet counted: the same program, the same rounds. */
static enum facet_status
measure_qemu(struct program *p, double asked, double *value, struct facet_error *err)
{
    enum facet_status status = prepare(p, asked, err);
    double seconds;

    if (status == FACET_OK && p->start_up == 0) {
        status = find_start_up(p, err);
    }
    if (status == FACET_OK) {
        status = run_qemu(p, p->rounds, &seconds, err);
    }
    if (status == FACET_OK && seconds <= p->start_up) {
        return facet_fail(err, FACET_ERR_IO, 0, "%s: the run was too short to measure", QEMU);
    }
    if (status == FACET_OK) {
        *value = work_of(p) / (seconds - p->start_up) * 1e-6;
    }
    return status;
}

#define FACET(name, index)                                                                         \
    static enum facet_status facet_##name(double seconds, double *value, struct facet_error *err)  \
    {                                                                                              \
        return measure(&programs[index], seconds, value, err);                                     \
    }
#define PEER(name, index)                                                                          \
    static enum facet_status qemu_##name(double seconds, double *value, struct facet_error *err)   \
    {                                                                                              \
        return measure_qemu(&programs[index], seconds, value, err);                                \
    }
#define MEASURE(name, index) FACET(name, index) PEER(name, index)

MEASURE(int, INT)
MEASURE(fp, FP)
MEASURE(mem, MEM)
MEASURE(branchy, BRANCHY)

/* Instructions of the units; QEMU has none of them and does the same work without. */
FACET(rt, RT)
PEER(rt, RT_SOFT)
FACET(gfx, GFX)
PEER(gfx, GFX_SOFT)
FACET(mtx, MTX)
PEER(mtx, MTX_SOFT)

static const struct bench_measure measures[] = {
    {"int", "MIPS", facet_int, QEMU, qemu_int},
    {"fp", "MIPS", facet_fp, QEMU, qemu_fp},
    {"mem", "MIPS", facet_mem, QEMU, qemu_mem},
    {"branchy", "MIPS", facet_branchy, QEMU, qemu_branchy},
    {"rt-guest", "Mtest/s", facet_rt, QEMU " without RT", qemu_rt},
    {"gfx-guest", "Mpixel/s", facet_gfx, QEMU " without GFX", qemu_gfx},
    {"mtx-guest", "Mvector/s", facet_mtx, QEMU " without MTX", qemu_mtx},
    {NULL, NULL, NULL, NULL, NULL},
};

const struct bench_area bench_area_hart = {
    .name = "hart",
    .summary = "integer, floating-point, memory and branchy programs, and those of the units, on "
               "the xphmg machine",
    .measures = measures,
};
