/* The numbers of the timing model: how long things take on a machine that nobody has built. They
 * are one table, from which come the defaults, the reader of files, the text of `facet timing show`
 * and what the engine counts with. A number that the source documents do not give is a plain
 * choice; docs/timing.md says which. */
#ifndef FACET_TIMING_MODEL_H
#define FACET_TIMING_MODEL_H

#include "base/error.h"
#include "base/strbuf.h"

#include <facet/isa.h>
#include <stdbool.h>
#include <stdint.h>

/* Classes of instructions: those that take the same time. */
#define TIMING_TILE_CLASSES(C)                                                                     \
    C(TILE_SCALAR, "tile.scalar", 1, 1, 0, "ADD, shifts, LUI, CMP, ...")                           \
    C(TILE_MULTIPLY, "tile.multiply", 3, 1, 0, "MUL, MULH, MAC")                                   \
    C(TILE_FLOAT, "tile.float", 3, 1, 0, "FP16 scalars")                                           \
    C(TILE_FLOAT_SPECIAL, "tile.float_special", 12, 4, 0, "FRECIP, FRSQRT")                        \
    C(TILE_VECTOR, "tile.vector", 3, 1, 0, "lanes: VADD, VMUL, VFMA, VCVT, ...")                   \
    C(TILE_VECTOR_SPECIAL, "tile.vector_special", 12, 4, 0, "VRCP, VRSQRT")                        \
    C(TILE_HORIZONTAL, "tile.horizontal", 5, 1, 0, "VDOT, VCROSS")                                 \
    C(TILE_TRANSFER, "tile.transfer", 1, 1, 0, "VBCAST ... VPERM, VSEL, VSWIZ, VSHUF")             \
    C(TILE_LOAD, "tile.load", 3, 1, 0, "of the data cache or scratch memory")                      \
    C(TILE_STORE, "tile.store", 1, 1, 0, "the same")                                               \
    C(TILE_ATOMIC, "tile.atomic", 8, 4, 1, "and a trip to memory for each lane")                   \
    C(TILE_SAMPLE, "tile.sample", 8, 1, 8, "TEX2D, texels in the texture cache")                   \
    C(TILE_GRAPHICS, "tile.graphics", 4, 1, 4, "RSTATE ... GDRAW; depth: of draws")                \
    C(TILE_BRANCH, "tile.branch", 1, 1, 0, "branches and jumps")                                   \
    C(TILE_SYSTEM, "tile.system", 4, 1, 0, "CSRs, SETMISC, MEMBAR, WFI, EXIT")
#define TIMING_XPHMG_CLASSES(C)                                                                    \
    C(XPHMG_INTEGER, "xphmg.integer", 1, 1, 0, "RV64I, Zba, Zbb, Zbs")                             \
    C(XPHMG_MULTIPLY, "xphmg.multiply", 3, 1, 0, "mul, mulh")                                      \
    C(XPHMG_DIVIDE, "xphmg.divide", 20, 20, 1, "div, rem")                                         \
    C(XPHMG_FLOAT, "xphmg.float", 4, 1, 0, "fadd, fmul, fmadd, fcvt, ...")                         \
    C(XPHMG_FLOAT_DIVIDE, "xphmg.float_divide", 16, 16, 1, "fdiv, fsqrt")                          \
    C(XPHMG_LOAD, "xphmg.load", 3, 1, 0, "of the data cache")                                      \
    C(XPHMG_STORE, "xphmg.store", 1, 1, 0, "the same")                                             \
    C(XPHMG_ATOMIC, "xphmg.atomic", 8, 4, 1, "lr, sc, amo")                                        \
    C(XPHMG_BRANCH, "xphmg.branch", 1, 1, 0, "branches and jumps")                                 \
    C(XPHMG_SYSTEM, "xphmg.system", 4, 4, 0, "CSRs, fences, ecall, mret, wfi")                     \
    C(XPHMG_PREDICATE, "xphmg.predicate", 1, 1, 0, "XPHMG_PMASK, XPHMG_RSV")                       \
    C(XPHMG_XMEM, "xphmg.xmem", 4, 1, 8, "XPHMG_XMEM, but fences and jobs")                        \
    C(XPHMG_JOB, "xphmg.job", 16, 1, 4, "XSUBMIT; interval: each line it reads")                   \
    C(XPHMG_MTX, "xphmg.mtx", 16, 8, 2, "XPHMG_MTX")                                               \
    C(XPHMG_RT, "xphmg.rt", 12, 4, 4, "RT.BBOX, RT.TRI")                                           \
    C(XPHMG_GFX, "xphmg.gfx", 12, 4, 4, "XPHMG_GFX")

/* What both machines have; the order is that of enum timing_part. */
#define TIMING_PARTS(P, M, m, latency, bandwidth)                                                  \
    P(M##_ISSUE, m ".issue", 1, 1, 1000, PLAIN, "from one instruction to the next")                \
    P(M##_TAKEN, m ".taken", 2, 0, 1000, PLAIN, "lost by a branch that is taken")                  \
    P(M##_LINE, m ".line", 64, 8, 4096, POWER, "bytes of a line of all caches")                    \
    P(M##_DATA_SETS, m ".data_sets", 32, 1, 65536, PLAIN, "data cache of a core")                  \
    P(M##_DATA_WAYS, m ".data_ways", 4, 1, 16, PLAIN, "lines in each set")                         \
    P(M##_OUTSTANDING, m ".outstanding", 4, 1, 64, PLAIN, "lines that a core waits for")           \
    P(M##_LATENCY,                                                                                 \
      m ".memory_latency",                                                                         \
      latency,                                                                                     \
      0,                                                                                           \
      1000000,                                                                                     \
      PLAIN,                                                                                       \
      "until a line begins to arrive")                                                             \
    P(M##_BANDWIDTH,                                                                               \
      m ".memory_bandwidth",                                                                       \
      bandwidth,                                                                                   \
      1,                                                                                           \
      1000000,                                                                                     \
      RATE,                                                                                        \
      "bytes per cycle, for all cores")
#define TIMING_TILE_PARTS(P)                                                                       \
    TIMING_PARTS(P, TILE, "tile", 200, 4000)                                                       \
    P(TILE_START, "tile.start", 16, 0, 1000000, PLAIN, "between two tiles of a core")              \
    P(TILE_TEXTURE_SETS, "tile.texture_sets", 32, 1, 65536, PLAIN, "texture cache of a core")      \
    P(TILE_TEXTURE_WAYS, "tile.texture_ways", 4, 1, 16, PLAIN, "lines in each set")                \
    P(TILE_COMMAND, "tile.command", 32, 0, 1000000, PLAIN, "of a command of the queue")            \
    P(TILE_VERTEX, "tile.vertex", 16, 0, 1000000, PLAIN, "of the geometry unit, per vertex")       \
    P(TILE_SETUP, "tile.setup", 8, 0, 1000000, PLAIN, "of the raster unit, per triangle")          \
    P(TILE_PIXELS, "tile.pixels", 1000, 1, 1000000, RATE, "pixels per cycle: depth, blend, write") \
    P(TILE_TEXELS, "tile.texels", 1000, 1, 1000000, RATE, "texels per cycle, of draws")            \
    P(TILE_RASTER_SETS,                                                                            \
      "tile.raster_sets",                                                                          \
      32,                                                                                          \
      1,                                                                                           \
      65536,                                                                                       \
      PLAIN,                                                                                       \
      "of two caches: pixels; other reads")                                                        \
    P(TILE_RASTER_WAYS, "tile.raster_ways", 4, 1, 16, PLAIN, "lines in each set")
#define TIMING_XPHMG_PARTS(P) TIMING_PARTS(P, XPHMG, "xphmg", 100, 8000)

enum timing_row {
#define TIMING_ENUM(id, ...) TIMING_##id,
    TIMING_TILE_CLASSES(TIMING_ENUM) TIMING_XPHMG_CLASSES(TIMING_ENUM) TIMING_CLASSES,
    TIMING_TILE_PARTS_BEGIN = TIMING_CLASSES - 1,
    TIMING_TILE_PARTS(TIMING_ENUM) TIMING_XPHMG_PARTS(TIMING_ENUM) TIMING_ROWS
};

/* Counted from TIMING_TILE_ISSUE or TIMING_XPHMG_ISSUE. */
enum timing_part {
    TIMING_PART_ISSUE,
    TIMING_PART_TAKEN,
    TIMING_PART_LINE,
    TIMING_PART_DATA_SETS,
    TIMING_PART_DATA_WAYS,
    TIMING_PART_OUTSTANDING,
    TIMING_PART_LATENCY,
    TIMING_PART_BANDWIDTH,
};

/* Of a class: cycles until its result is there, cycles until the unit takes the next one, how many
 * are under way at most (0: any number). Of another row: one number, a rate in thousandths. */
enum { TIMING_LATENCY, TIMING_INTERVAL, TIMING_DEPTH, TIMING_NUMBERS };

struct timing_model {
    uint32_t value[TIMING_ROWS][TIMING_NUMBERS];
};

void timing_default(struct timing_model *model);
/* Starts from the defaults: a file need not have every row. FACET_ERR_INPUT says path, line and
 * what was expected; the model is the defaults then. */
enum facet_status timing_parse(const char *path,
                               const void *data,
                               size_t size,
                               struct timing_model *model,
                               struct facet_error *err);
/* Every row with its numbers and what it means; timing_parse reads it back. */
void timing_print(const struct timing_model *model, struct facet_strbuf *out);

/* "tile.scalar" without the machine. */
const char *timing_class_name(uint32_t cls);
/* The class of an instruction's row, TIMING_CLASSES for none: a test sees that there is one for
 * every row. */
uint32_t timing_class_of(enum facet_isa isa, const char *mnemonic, const char *extension);

/* The number of a row that both machines have. */
static inline uint32_t
timing_part(const struct timing_model *model, enum facet_isa isa, enum timing_part part)
{
    return model->value[(isa == FACET_ISA_TILE ? TIMING_TILE_ISSUE : TIMING_XPHMG_ISSUE) + part][0];
}

/* Cycles for `count` things at a rate in thousandths per cycle, begun ones included. */
static inline uint64_t timing_at_rate(uint64_t count, uint32_t rate)
{
    return (count * 1000 + rate - 1) / rate;
}

#endif
