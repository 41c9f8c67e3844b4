/* What the suites of late jobs share: machines with a scene, a matrix and bytes to copy in memory,
 * and programs in assembly text.
 *
 * A ray i starts at (0.25, 0.25, -1 - i) towards +z and hits the one triangle, in the plane z = 0,
 * at t = 1 + i. The matrix job is [1 2; 3 4] * [5 6] = [17 39]. */
#ifndef FACET_TESTS_XPHMG_JOBS_TEST_H
#define FACET_TESTS_XPHMG_JOBS_TEST_H

#include "harness.h"

#include "assembler/assemble.h"
#include "base/bits.h"
#include "object/elf.h"
#include "object/object.h"

#include <facet/xphmg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    CODE = 0x80000000u,
    DATA = 0x80040000u, /* s0 */
    RT_DESC = 0,        /* offsets from it */
    MTX_DESC = 0x80,
    RAYQ = 0x100,
    HITQ = 0x140,
    MATRIX = 0x200,
    VIN = 0x240,
    VOUT = 0x280,
    SOURCE = 0x300,
    TARGET = 0x340,
    RAYS = 0x1000,
    HITS = 0x3000,
    HEAP = 0x4000,
    TRIANGLE = 0x4200,
    DATA_BYTES = 0x5000,
    SLOTS = 64,
    LDS = 0x40000000,
};

#define PRODUCT UINT64_C(0x421C000041880000) /* 17, 39 */
#define WORDS UINT64_C(0x0123456789ABCDEF)   /* in SOURCE */

/* FP32, GFX on, s0 = DATA, s1 = LDS; a5, a6, a7: a copy of eight bytes from SOURCE to TARGET. */
#define PREAMBLE                                                                                   \
    "li t0, 0x8000000000300000\n csrw CAP.PREC.MODE, t0\n li t0, 1\n csrw GFXCFG, t0\n"            \
    "li s0, 0x80040000\n li s1, 0x40000000\n addi a5, s0, 0x340\n addi a6, s0, 0x300\n"            \
    "li a7, 8\n li a1, 0\n addi a0, s0, 0x80\n"
#define EXIT "li t0, 0x100000\n li t1, 0x5555\n sw t1, 0(t0)\n j .\n"

static inline void poke(facet_machine *machine, uint64_t at, unsigned size, uint64_t value)
{
    uint8_t bytes[8];

    facet_store_le64(bytes, value);
    CHECK_EQ(facet_machine_write(machine, 0, at, bytes, size, NULL), FACET_OK);
}

static inline uint64_t peek(const facet_machine *machine, uint64_t at, unsigned size)
{
    uint8_t bytes[8] = {0};

    CHECK_EQ(facet_machine_read(machine, 0, at, bytes, size, NULL), FACET_OK);
    return facet_load_le64(bytes);
}

static inline void poke_floats(facet_machine *machine, uint64_t at, const float *values, int count)
{
    for (int i = 0; i < count; i++) {
        uint32_t bits;

        memcpy(&bits, &values[i], sizeof bits);
        poke(machine, at + 4 * (uint64_t)i, 4, bits);
    }
}

static inline void put_data(facet_machine *machine)
{
    static const float triangle[9] = {-1, -1, 0, 3, -1, 0, -1, 3, 0};
    static const float box[6] = {-4, -4, -1, 4, 4, 1};
    static const float matrix[4] = {1, 2, 3, 4}, vector[2] = {5, 6};

    poke(machine, DATA + RT_DESC, 8, DATA + HEAP);
    poke(machine, DATA + RT_DESC + 8, 8, DATA + RAYQ);
    poke(machine, DATA + RT_DESC + 16, 8, DATA + HITQ);
    poke(machine, DATA + RT_DESC + 32, 8, DATA + TRIANGLE);
    poke(machine, DATA + RAYQ + 4, 4, 1); /* one ray is queued */
    poke(machine, DATA + RAYQ + 8, 4, SLOTS);
    poke(machine, DATA + RAYQ + 16, 8, DATA + RAYS);
    poke(machine, DATA + HITQ + 8, 4, SLOTS);
    poke(machine, DATA + HITQ + 16, 8, DATA + HITS);
    for (unsigned i = 0; i < SLOTS; i++) {
        const float ray[8] = {0.25f, 0.25f, -1 - (float)i, 0, 0, 1, 0, 1000};

        poke_floats(machine, DATA + RAYS + 64 * i, ray, 8);
        poke(machine, DATA + RAYS + 64 * i + 56, 8, 0x500 + i);
    }
    poke_floats(machine, DATA + HEAP, box, 6);
    poke(machine, DATA + HEAP + 0x70, 4, 8); /* child 0: the TriRange behind the tile */
    poke(machine, DATA + HEAP + 0x7C, 4, 2); /* a leaf; the others are empty */
    poke(machine, DATA + HEAP + 0x84, 4, 1); /* one triangle, of tri_buf */
    poke_floats(machine, DATA + TRIANGLE, triangle, 9);
    poke_floats(machine, DATA + MATRIX, matrix, 4);
    poke_floats(machine, DATA + VIN, vector, 2);
    poke(machine, DATA + MTX_DESC, 8, DATA + MATRIX);
    poke(machine, DATA + MTX_DESC + 8, 8, DATA + VIN);
    poke(machine, DATA + MTX_DESC + 16, 8, DATA + VOUT);
    poke(machine, DATA + MTX_DESC + 24, 4, 5 | 1 << 5); /* 2x2, row-major */
    poke(machine, DATA + MTX_DESC + 28, 4, 5);
    poke(machine, DATA + MTX_DESC + 32, 4, 1);
    poke(machine, DATA + SOURCE, 8, WORDS);
}

static inline facet_machine *make(struct facet_xphmg_config config, const char *text)
{
    struct facet_asm_options options = {.isa = FACET_ISA_XPHMG, .file = "jobs.s"};
    struct facet_asm_result result;
    struct facet_error err = {0};
    facet_machine *machine = NULL;
    uint8_t *elf = NULL;
    size_t size = 0;

    config.ram_bytes = 1 << 20;
    CHECK_MSG(facet_assemble(&options, text, strlen(text), &result, &err) == FACET_OK,
              "line %llu: %s: %s",
              (unsigned long long)err.where,
              err.message,
              text);
    CHECK_EQ(facet_elf_write(result.object, &elf, &size, &err), FACET_OK);
    facet_asm_result_free(&result);
    CHECK_EQ(facet_xphmg_create(&config, &machine, &err), FACET_OK);
    CHECK_EQ(facet_xphmg_load_elf(machine, elf, size, &err), FACET_OK);
    free(elf);
    put_data(machine);
    return machine;
}

/* `seed` is of no use to a machine that completes jobs at once. */
static inline facet_machine *make_late(uint64_t seed, const char *text)
{
    return make((struct facet_xphmg_config){.jobs = FACET_XPHMG_JOBS_LATE, .jobs_seed = seed},
                text);
}

static inline struct facet_stop run(facet_machine *machine, uint64_t budget)
{
    struct facet_run how = {.budget = budget};
    struct facet_stop stop;

    facet_machine_run(machine, &how, &stop);
    return stop;
}

static inline void run_to_exit(facet_machine *machine)
{
    struct facet_stop stop = run(machine, 5000000);

    CHECK_MSG(stop.reason == FACET_STOP_EXIT,
              "%s at 0x%llx",
              facet_stop_name(stop.reason),
              (unsigned long long)stop.pc);
}

static inline uint64_t reg(const facet_machine *machine, uint32_t core, const char *name)
{
    struct facet_value value = {0, 0};

    CHECK_EQ(facet_machine_reg_read(
                 machine, core, facet_machine_find_reg(machine, core, name), &value, NULL),
             FACET_OK);
    return value.lo;
}

static inline uint64_t csr(const facet_machine *machine, uint32_t core, const char *name)
{
    struct facet_value value = {0, 0};

    CHECK_EQ(facet_machine_csr_read(
                 machine, core, facet_machine_find_csr(machine, core, name), &value, NULL),
             FACET_OK);
    return value.lo;
}

static inline uint32_t jobs_left(const facet_machine *machine)
{
    struct facet_work work;
    uint32_t n = 0;

    while (facet_machine_work(machine, n, &work)) {
        n++;
    }
    return n;
}

#endif
