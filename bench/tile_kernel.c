/* See tile_kernel.h: instructions of kernels per second on the tile machine under its default
 * options (weak memory, rr:1, four cores), one host thread. The peer is the same machine with one
 * instruction of each core in turn, by the interpreter. */
#include "bench/tile_kernel.h"

#include "assembler/assemble.h"
#include "base/error.h"
#include "tile/tile.h"

#include <string.h>

/* 256 vertices by a 4x4 matrix, s20 times: loads, broadcasts, multiply-adds, stores, a loop. */
static const char *const transform =
    "        CSRR    s5, arg_base\n"
    "        LW      s20, 0(s5)              # passes\n"
    "        CSRR    s6, core_id\n"
    "        ADDI    s7, s5, 64              # matrix\n"
    "        VLD.V   v10, 0(s7)\n"
    "        VLD.V   v11, 16(s7)\n"
    "        VLD.V   v12, 32(s7)\n"
    "        VLD.V   v13, 48(s7)\n"
    "        LUI     s8, 0x80100             # vertices of this core\n"
    "        SHLI    s9, s6, 16\n"
    "        ADD     s8, s8, s9\n"
    "pass:   ADDI    s10, s8, 0\n"
    "        LUI     s11, 0x1\n"
    "        ADD     s11, s10, s11           # end\n"
    "vertex: VLD.V   v1, 0(s10)\n"
    "        VSHUF   v2, v1, 0x00\n"
    "        VSHUF   v3, v1, 0x55\n"
    "        VSHUF   v4, v1, 0xAA\n"
    "        VSHUF   v5, v1, 0xFF\n"
    "        VMUL.F32 v6, v2, v10\n"
    "        VFMA.F32 v6, v3, v11\n"
    "        VFMA.F32 v6, v4, v12\n"
    "        VFMA.F32 v6, v5, v13\n"
    "        VST.V.L v6, 0x7F0(s10)\n"
    "        ADDI    s10, s10, 16\n"
    "        BNE     s10, s11, vertex\n"
    "        ADDI    s20, s20, -1\n"
    "        BNE     s20, s0, pass\n"
    "        EXIT\n";

/* Whole numbers, branches that depend on them, calls and a table in memory, s20 * 256 times: random
 * numbers are reduced by Euclid's algorithm in a function, and the results counted. */
static const char *const count_divisors =
    "        CSRR    s5, arg_base\n"
    "        LW      s20, 0(s5)              # passes\n"
    "        CSRR    s6, core_id\n"
    "        LUI     s8, 0x80100             # table of this core\n"
    "        SHLI    s9, s6, 16\n"
    "        ADD     s8, s8, s9\n"
    "        ADDI    s10, s6, 1              # random state, another in each core\n"
    "        SHLI    s20, s20, 8\n"
    "number: SHLI    s11, s10, 13            # xorshift\n"
    "        XOR     s10, s10, s11\n"
    "        LSRI    s11, s10, 17\n"
    "        XOR     s10, s10, s11\n"
    "        SHLI    s11, s10, 5\n"
    "        XOR     s10, s10, s11\n"
    "        ANDI    s12, s10, 0x3FF\n"
    "        LSRI    s13, s10, 22\n"
    "        JAL     s1, divisor\n"
    "        ANDI    s12, s12, 0xFF\n"
    "        SHLI    s12, s12, 2\n"
    "        LW.R    s14, s12(s8)\n"
    "        ADDI    s14, s14, 1\n"
    "        SW.R    s14, s12(s8)\n"
    "        ADDI    s20, s20, -1\n"
    "        BNE     s20, s0, number\n"
    "        EXIT\n"
    "divisor: BEQ    s13, s0, found          # of s12 and s13, by subtraction\n"
    "        BLTU    s12, s13, swap\n"
    "        SUB     s12, s12, s13\n"
    "        BNE     s12, s13, divisor\n"
    "found:  JALR    s0, 0(s1)\n"
    "swap:   XOR     s12, s12, s13\n"
    "        XOR     s13, s12, s13\n"
    "        XOR     s12, s12, s13\n"
    "        BNE     s13, s0, divisor\n"
    "        JALR    s0, 0(s1)\n";

enum { VERTEX_WORDS = 4 * 0x4000, PASSES = 64 };

static enum facet_status
load_text(facet_machine *machine, const char *text, struct facet_error *err)
{
    struct facet_asm_options options = {.isa = FACET_ISA_TILE, .file = "kernel"};
    struct facet_asm_result result;
    enum facet_status status = facet_assemble(&options, text, strlen(text), &result, err);

    if (status == FACET_OK) {
        status = facet_object_make_segments(result.object, err);
    }
    if (status == FACET_OK) {
        status = facet_tile_load(machine, result.object, NULL, err);
    }
    facet_asm_result_free(&result);
    return status;
}

static enum facet_status load_data(facet_machine *machine, struct facet_error *err)
{
    static const uint32_t passes = PASSES;
    static float vertices[VERTEX_WORDS];
    float matrix[16];
    enum facet_status status =
        facet_machine_write(machine, 0, 0x80080000, &passes, sizeof passes, err);

    for (uint32_t i = 0; i < 16; i++) { /* a rotation, more or less */
        matrix[i] = i % 5 == 0 ? 0.8F : 0.1F * (float)(i % 3);
    }
    for (uint32_t i = 0; i < VERTEX_WORDS; i++) {
        vertices[i] = (float)(i * 7 % 1000) * 0.37F + 1.0F;
    }
    if (status == FACET_OK) {
        status = facet_machine_write(machine, 0, 0x80080040, matrix, sizeof matrix, err);
    }
    if (status == FACET_OK) {
        status = facet_machine_write(machine, 0, 0x80100000, vertices, sizeof vertices, err);
    }
    return status;
}

static enum facet_status
run_once(facet_machine *machine, uint64_t *retired, struct facet_error *err)
{
    const struct facet_run run = {.budget = UINT64_MAX};
    const struct facet_tile_packet packet = {
        .pc = 0x80000000, .columns = 4, .rows = 1, .arg_base = 0x80080000, .arg_size = 4};
    struct facet_stop stop;
    enum facet_status status = facet_tile_dispatch(machine, &packet, err);

    if (status != FACET_OK) {
        return status;
    }
    facet_machine_run(machine, &run, &stop);
    *retired = 0;
    for (uint32_t i = 0; i < FACET_TILE_CORES; i++) {
        *retired += facet_machine_retired(machine, i);
    }
    return stop.reason == FACET_STOP_EXIT
               ? FACET_OK
               : facet_fail(err, FACET_ERR_INTERNAL, stop.pc, "the kernel did not end");
}

/* Both kernels write no more than they did the time before, so that every dispatch is the same. */
static enum facet_status
rate(const char *text, bool ahead, double seconds, double *value, struct facet_error *err)
{
    facet_machine *machine = NULL;
    enum facet_status status = facet_tile_create(NULL, &machine, err);
    struct bench_meter meter;
    uint64_t retired = 0;

    if (status == FACET_OK) {
        facet_tile_let_run_ahead(machine, ahead);
        status = load_text(machine, text, err);
    }
    if (status == FACET_OK) {
        status = load_data(machine, err);
    }
    if (status == FACET_OK) {
        status = run_once(machine, &retired, err); /* decoded now, memory touched */
    }
    meter = bench_meter_start(seconds);
    while (status == FACET_OK) {
        status = run_once(machine, &retired, err);
        if (!bench_meter_more(&meter, retired)) {
            break;
        }
    }
    *value = bench_meter_rate(&meter);
    facet_machine_destroy(machine);
    return status;
}

#define KERNEL(name, text)                                                                         \
    enum facet_status name(double seconds, double *value, struct facet_error *err)                 \
    {                                                                                              \
        return rate(text, true, seconds, value, err);                                              \
    }                                                                                              \
    enum facet_status name##_peer(double seconds, double *value, struct facet_error *err)          \
    {                                                                                              \
        return rate(text, false, seconds, value, err);                                             \
    }

KERNEL(bench_tile_kernel, transform)
KERNEL(bench_tile_scalar, count_divisors)
