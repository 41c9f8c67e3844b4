/* GFX on the hart: what the instructions of src/xphmg/gfx share. The arithmetic is in src/gfx.
 *
 * An instruction prepares itself from its word and a snapshot of the registers (legality, state,
 * windows), then runs lane by lane: fetch and compute, results kept. When all lanes are done the
 * frame raises the flags, traps or probes, and writes. Computing a lane before the next one is
 * fetched changes nothing, because nothing is written in between.
 *
 * What only places data is reported to traces as events of the unit "gfx", with these values:
 *
 *     policy   domain, level, class, 0, STREAM_CTL, hybrid          (every instruction but FENCE)
 *     trailer  domain, level, class, profile, lane, hybrid          (a descriptor with one)
 *     fence    domain, mm, ff
 *
 * Spec: gfx-semantics.md 2, 3, 5; R-GFX-21 to R-GFX-28, R-GFX-53 to R-GFX-55. */
#ifndef FACET_XPHMG_GFX_GFX_H
#define FACET_XPHMG_GFX_GFX_H

#include "gfx/cull.h"
#include "gfx/gfx.h"
#include "gfx/lanes.h"
#include "gfx/lut.h"
#include "gfx/shade.h"
#include "xphmg/units/elements.h"
#include "xphmg/units/lanes.h"

/* ---- windows -----------------------------------------------------------------------------------
 */

struct facet_xphmg_gfx_window {
    bool none;        /* field 0 in the x file: slots read 0, writes are dropped */
    bool memory;      /* an array at `address` */
    bool freg;        /* elements are in f registers */
    uint8_t base;     /* register of slot 0 of lane 0 */
    int8_t inc;       /* from lane to lane */
    int16_t step;     /* from row to row */
    uint64_t address; /* memory: x[base] */
    /* The same in plain RAM, where elements are words of 32 bits; NULL: the careful way. */
    const uint8_t *words;
    uint64_t word_count;
};

/* ---- one instruction under way -----------------------------------------------------------------
 */

/* Where results go; ZTEST also stores depth. */
enum facet_xphmg_gfx_result {
    FACET_XPHMG_GFX_TO_WINDOW,
    FACET_XPHMG_GFX_TO_MASK,
    FACET_XPHMG_GFX_TO_DEPTH,
    FACET_XPHMG_GFX_TO_STREAM,
};

struct facet_xphmg_gfx_run;
/* Fetches and computes one active lane. A trap is that of the lane's fetch; then its flags do not
 * count. */
typedef struct facet_trap
facet_xphmg_gfx_lane(struct facet_xphmg_gfx_run *r, unsigned lane, unsigned *flags);

/* All lanes in one go where that gives the same; false: lane by lane. */
typedef bool facet_xphmg_gfx_batch(struct facet_xphmg_gfx_run *r);

/* A depth store in the making. */
struct facet_xphmg_gfx_store {
    bool pending;
    uint64_t row;
    uint32_t x, bits;
};

struct facet_xphmg_gfx_sample_op {
    struct facet_gfx_texture texture; /* CSR mode */
    struct facet_gfx_sampling sampling;
    bool desc, tensor;
    bool f, wrap_given; /* SAMPLE: f, w */
    bool weighted, is_signed;
    uint8_t taps; /* GATH: n */
};

struct facet_xphmg_gfx_depth_op {
    uint8_t compare; /* enum facet_gfx_compare */
    bool reverse, write, merge, tiled, bypass;
    uint8_t tile_w_log2;
    uint32_t width, height;
    bool have_origin; /* tiled: X0 was read */
    uint64_t origin;
};

struct facet_xphmg_gfx_compact_op {
    uint8_t mode, attributes, payload;
    uint64_t chosen;
    uint64_t words[FACET_VLMAX][7]; /* of each record, in order */
};

struct facet_xphmg_gfx_run {
    struct facet_hart *h;
    const struct facet_insn *in;
    const struct facet_xphmg_gfx *csr; /* no instruction of GFX changes it */
    struct facet_lanes lanes;
    uint8_t vl; /* lanes.count before fault-only-first */
    struct facet_element_port port;
    struct facet_gfx_numbers numbers;
    struct facet_xphmg_gfx_window a, b, r;

    facet_xphmg_gfx_lane *lane;
    facet_xphmg_gfx_batch *batch; /* or NULL */
    uint8_t result;               /* enum facet_xphmg_gfx_result */
    uint8_t first, slots;         /* of window R, written by every active lane */
    uint8_t bank;                 /* pd */
    bool stores;                  /* lanes may have depth stores */
    bool plane_given;             /* PLANE: s */
    bool counts;                  /* COMPACT: cc */
    bool block;                   /* facet_xphmg_gfx_probe_block said yes */
    bool columns;                 /* kept.column has the results of the active lanes, not
                                     kept.out, and `actor` is not filled in */
    bool direct;                  /* they are in window R already */
    bool together;                /* `raised`, not `flags`: no one needs to know who raised it */
    uint16_t raised;              /* flags that do not trap */
    uint64_t survivors;
    union {
        struct facet_xphmg_gfx_sample_op sample;
        struct facet_gfx_interp interp;
        struct facet_gfx_shade shade;
        struct facet_gfx_lut lut;
        struct facet_xphmg_gfx_depth_op depth;
        struct facet_gfx_cull cull;
        struct facet_gfx_cull_box box;
        struct facet_xphmg_gfx_compact_op compact;
    } op;

    uint16_t flags[FACET_VLMAX];
    struct facet_xmem_actor actor[FACET_VLMAX]; /* of the lane's result stores */
    union {
        uint32_t out[FACET_VLMAX][4];
        uint32_t column[4][FACET_VLMAX]; /* of slots: as window R has them in memory */
        struct facet_xphmg_gfx_store store[FACET_VLMAX];
    } kept;
};

/* An option of the instruction: FACET_XPHMG_GFX_FIELD(r, SAMPLE_M). ppp, alt and pd are in the
 * same place wherever they exist. */
#define FACET_XPHMG_GFX_FIELD(r, name) ((unsigned)FACET_GET((r)->in->word, FIELD_GFX_##name))

/* ---- preparation: legality of the row by its own fields and registers (2.1 step 3) --------------
 * Each returns the cause of the trap, 0 when the instruction may run, and fills lane, result and
 * op as far as the number state does not matter. */
unsigned facet_xphmg_gfx_sample_prepare(struct facet_xphmg_gfx_run *r);
unsigned
facet_xphmg_gfx_color_prepare(struct facet_xphmg_gfx_run *r); /* INTERP, SHADE, LUT1D, LUT3D */
unsigned facet_xphmg_gfx_depth_prepare(struct facet_xphmg_gfx_run *r); /* ZTEST, ZWRITE */
unsigned facet_xphmg_gfx_cull_prepare(struct facet_xphmg_gfx_run *r);  /* PLANE, FRUSTUM, AABB */
unsigned facet_xphmg_gfx_compact_prepare(struct facet_xphmg_gfx_run *r);

/* What depends on the number state, once it is known. */
bool facet_xphmg_gfx_sample_texture(
    struct facet_xphmg_gfx_run *r); /* false: the CSRs name no format */
void facet_xphmg_gfx_cull_planes(struct facet_xphmg_gfx_run *r);

/* Which element windows the instruction has by its fields; true: one of them is in f registers that
 * are switched off (R-GFX-54). */
bool facet_xphmg_gfx_lacks_f(const struct facet_xphmg_gfx_run *r, bool a, bool b, bool out);

/* ---- instructions without lanes ----------------------------------------------------------------
 */

struct facet_trap facet_xphmg_gfx_hiz(struct facet_xphmg_gfx_run *r);
struct facet_trap facet_xphmg_gfx_fence(struct facet_xphmg_gfx_run *r);
struct facet_trap facet_xphmg_gfx_compose(struct facet_xphmg_gfx_run *r);

/* Number state of the instruction (5.2): ppp and alt on top of `eff`; 0 or the cause, UNSUP_FMT
 * raised. */
unsigned facet_xphmg_gfx_state(struct facet_xphmg_gfx_run *r, struct facet_eff *eff);
/* For traces: domain, level, class, profile, STREAM_CTL, hybrid. */
void facet_xphmg_gfx_tell_policy(const struct facet_xphmg_gfx_run *r);
/* Port and numbers for an EFF. */
void facet_xphmg_gfx_numbers_set(struct facet_xphmg_gfx_run *r, const struct facet_eff *eff);

/* For batches: the kernels of gfx/lanes.h where they can do the instruction's numbers, or NULL; and
 * what is left to say once they did, columns where the results go to a window. */
const struct facet_gfx_lane_kernels *facet_xphmg_gfx_kernels(const struct facet_xphmg_gfx_run *r);
bool facet_xphmg_gfx_done(struct facet_xphmg_gfx_run *r);

/* ---- windows -----------------------------------------------------------------------------------
 */

/* A, B and R. `pointer`: A holds pointers, in x registers whatever FREG and AMEM say; rows: those
 * of A, after which a following B starts. */
void facet_xphmg_gfx_windows(struct facet_xphmg_gfx_run *r, bool pointer, unsigned rows);

/* Elements of slots first .. first+count-1 of a lane. */
struct facet_trap facet_xphmg_gfx_read(const struct facet_xphmg_gfx_run *r,
                                       const struct facet_xphmg_gfx_window *w,
                                       unsigned lane,
                                       unsigned first,
                                       unsigned count,
                                       uint32_t *elements);
/* `count` slots of all lanes as words of plain RAM; false: the window has none. */
bool facet_xphmg_gfx_slots(const struct facet_xphmg_gfx_run *r,
                           const struct facet_xphmg_gfx_window *w,
                           unsigned count,
                           struct facet_gfx_slots *slots);
/* X slot j of a lane: in row `row` of a register window, behind `elements` element slots of a
 * memory window. */
struct facet_trap facet_xphmg_gfx_read_x(const struct facet_xphmg_gfx_run *r,
                                         const struct facet_xphmg_gfx_window *w,
                                         unsigned lane,
                                         unsigned j,
                                         unsigned row,
                                         unsigned elements,
                                         uint64_t *value);
/* Whether the result slots of a lane can be written; only memory can refuse. */
struct facet_trap facet_xphmg_gfx_probe(const struct facet_xphmg_gfx_run *r, unsigned lane);
struct facet_trap facet_xphmg_gfx_write(const struct facet_xphmg_gfx_run *r, unsigned lane);
/* The same for all lanes together: whether the window is a whole block of plain RAM that can be
 * written (false: ask lane by lane), and writing it then. */
bool facet_xphmg_gfx_probe_block(const struct facet_xphmg_gfx_run *r);
void facet_xphmg_gfx_write_block(const struct facet_xphmg_gfx_run *r);
/* Whether all lanes of an instruction that cannot trap any more may put their results there at
 * once, and where: apart from the inputs of the others. */
bool facet_xphmg_gfx_open_columns(struct facet_xphmg_gfx_run *r,
                                  const uint8_t *inputs[2],
                                  const uint64_t sizes[2],
                                  uint32_t *columns[4]);
/* ZMODE = 1: every register that holds a result slot of the lane becomes zero. */
void facet_xphmg_gfx_zero(const struct facet_xphmg_gfx_run *r, unsigned lane);

/* ---- depth buffer ------------------------------------------------------------------------------
 */

struct facet_trap facet_xphmg_gfx_depth_probe(const struct facet_xphmg_gfx_run *r, unsigned lane);
struct facet_trap facet_xphmg_gfx_depth_write(const struct facet_xphmg_gfx_run *r, unsigned lane);
/* COMPACT: probes or writes the records of the lanes that are left. */
struct facet_trap facet_xphmg_gfx_stream(const struct facet_xphmg_gfx_run *r, bool write);

/* Do these bytes of RAM not overlap? */
static inline bool
facet_xphmg_gfx_apart(const uint8_t *a, uint64_t bytes, const uint8_t *b, uint64_t other_bytes)
{
    return (uintptr_t)a + bytes <= (uintptr_t)b || (uintptr_t)b + other_bytes <= (uintptr_t)a;
}

/* Element k of a 128-bit register. */
uint32_t facet_xphmg_gfx_wide_element(const struct facet_xphmg_gfx_run *r,
                                      const uint64_t words[2],
                                      unsigned k);

/* Whether the machine has this predicate bank; bank 0 always. */
static inline bool facet_xphmg_gfx_has_bank(const struct facet_xphmg_gfx_run *r, unsigned bank)
{
    return bank == 0 || bank < facet_xphmg_config_banks(r->h->units.config);
}

#endif
