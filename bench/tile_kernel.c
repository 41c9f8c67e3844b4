/* See tile_kernel.h: instructions of a vector kernel per second on the tile machine under its
 * default options (weak memory, rr:1, four cores), one host thread. */
#include "bench/tile_kernel.h"

#include "assembler/assemble.h"
#include "base/error.h"
#include "tile/tile.h"

#include <string.h>
#include <time.h>

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

enum { VERTEX_WORDS = 4 * 0x4000 };

static double processor_seconds(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static enum facet_status load_transform(facet_machine *machine, struct facet_error *err)
{
    struct facet_asm_options options = {.isa = FACET_ISA_TILE, .file = "transform"};
    static float vertices[VERTEX_WORDS];
    float matrix[16];
    struct facet_asm_result result;
    enum facet_status status = facet_assemble(&options, transform, strlen(transform), &result, err);

    if (status == FACET_OK) {
        status = facet_object_make_segments(result.object, err);
    }
    if (status == FACET_OK) {
        status = facet_tile_load(machine, result.object, NULL, err);
    }
    facet_asm_result_free(&result);
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

static enum facet_status run_passes(facet_machine *machine,
                                    uint32_t passes,
                                    uint64_t *retired,
                                    double *seconds,
                                    struct facet_error *err)
{
    const struct facet_run run = {.budget = UINT64_MAX};
    const struct facet_tile_packet packet = {
        .pc = 0x80000000, .columns = 4, .rows = 1, .arg_base = 0x80080000, .arg_size = 4};
    struct facet_stop stop;
    enum facet_status status =
        facet_machine_write(machine, 0, 0x80080000, &passes, sizeof passes, err);
    double start = processor_seconds();

    if (status == FACET_OK) {
        status = facet_tile_dispatch(machine, &packet, err);
    }
    if (status != FACET_OK) {
        return status;
    }
    facet_machine_run(machine, &run, &stop);
    *seconds = processor_seconds() - start;
    *retired = 0;
    for (uint32_t i = 0; i < FACET_TILE_CORES; i++) {
        *retired += facet_machine_retired(machine, i);
    }
    return stop.reason == FACET_STOP_EXIT
               ? FACET_OK
               : facet_fail(err, FACET_ERR_INTERNAL, stop.pc, "the kernel did not end");
}

enum facet_status bench_tile_kernel(double seconds, double *value, struct facet_error *err)
{
    facet_machine *machine = NULL;
    enum facet_status status = facet_tile_create(NULL, &machine, err);
    uint64_t retired = 0;
    double took = 0;

    if (status == FACET_OK) {
        status = load_transform(machine, err);
    }
    for (uint32_t passes = 64; status == FACET_OK && took < seconds && passes < 1u << 30;
         passes *= 2) {
        status = run_passes(machine, passes, &retired, &took, err);
    }
    if (status == FACET_OK) {
        *value = (double)retired / took * 1e-6;
    }
    facet_machine_destroy(machine);
    return status;
}
