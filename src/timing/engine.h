/* How long a stream of instructions takes on cores as the model has them: in order, one
 * instruction at a time, a scoreboard that holds an instruction until the registers that it names
 * are there, units that take an instruction every few cycles, lines that come from one memory.
 *
 * Pure functions over an explicit state: nothing here knows a machine, and equal steps in equal
 * order give equal cycles. Cores advance in the order of their own time, whatever the order in
 * which their steps come, as far as QUEUED steps allow. */
#ifndef FACET_TIMING_ENGINE_H
#define FACET_TIMING_ENGINE_H

#include "timing/model.h"

/* What a cycle of a core went to. Every cycle is counted once. */
enum timing_reason {
    TIMING_ISSUE,       /* an instruction */
    TIMING_DEPENDENCY,  /* waiting for the result of an instruction */
    TIMING_UNIT,        /* ... for a unit that was busy or full */
    TIMING_MEMORY,      /* ... for memory to answer */
    TIMING_OUTSTANDING, /* ... because no more lines may be under way */
    TIMING_BANDWIDTH,   /* ... because memory was busy with other lines */
    TIMING_BRANCH,      /* lost behind a taken branch */
    TIMING_DRAW,        /* waiting for the raster and geometry units */
    TIMING_BETWEEN,     /* from one tile to the next */
    TIMING_REASONS
};
const char *timing_reason_name(enum timing_reason reason);

enum { TIMING_READS = 8, TIMING_WRITES = 32, TIMING_DEPTH_MAX = 64, TIMING_FILLS = 256 };

/* ---- draws ---- */

/* What the units did for a draw. */
struct timing_work {
    uint64_t vertices, triangles, pixels, texels, lines;
};

enum timing_stage {
    TIMING_GEOMETRY,
    TIMING_SETUP,
    TIMING_PIXELS,
    TIMING_TEXELS,
    TIMING_LINES,
    TIMING_ANSWER, /* of memory, to the first of the lines: nothing is beside it */
    TIMING_STAGES
};
const char *timing_stage_name(enum timing_stage stage);

/* The stages work side by side, once memory has answered: the longest one gives the time. */
struct timing_draw {
    uint64_t cycles;
    uint64_t stage[TIMING_STAGES];
    enum timing_stage limit;
};
struct timing_draw timing_draw_of(const struct timing_model *model, const struct timing_work *work);

/* ---- steps ---- */

/* An instruction that retired. Registers have the numbers of the caller. */
struct timing_step {
    uint64_t pc; /* for those who ask where cycles go */
    uint32_t cls;
    bool barrier;  /* waits for everything that the core has under way, lines going back included */
    bool uncached; /* each of its lines is a trip to memory, one after the other */
    bool taken;    /* the core continues elsewhere */
    bool ends;     /* of a tile */
    uint8_t read_count, write_count;
    uint16_t reads[TIMING_READS], writes[TIMING_WRITES];
    uint32_t lines;   /* that it reads or writes */
    uint32_t misses;  /* of these, fetched from memory */
    uint64_t written; /* lines that go back to memory */
    uint64_t fill;    /* the youngest fetch that it needs, counted from 1 in each core; 0: none */
    uint64_t draw;    /* cycles that it gives to the raster unit */
};

/* When something is there, and what a wait for it is. */
struct timing_result {
    uint64_t at;
    uint64_t queued; /* cycles of it in which memory was busy with other lines */
    enum timing_reason reason;
};

struct timing_core {
    uint64_t next; /* when the next instruction can issue */
    uint64_t pc;   /* of the last one */
    bool between;  /* ... ended a tile */
    struct timing_result *reg;
    struct timing_result last; /* the latest of everything */
    struct timing_result fill[TIMING_FILLS];
    uint64_t fills;
    uint64_t back[TIMING_DEPTH_MAX]; /* when lines that were replaced are back in memory */
    uint64_t backs;
    uint64_t unit_next[TIMING_CLASSES];
    uint64_t done[TIMING_CLASSES][TIMING_DEPTH_MAX];
    uint64_t count[TIMING_CLASSES], busy[TIMING_CLASSES], unit_wait[TIMING_CLASSES];
    uint64_t cycles[TIMING_REASONS];
    /* Steps that wait for the other cores. */
    struct timing_step *queue;
    uint32_t first, queued;
    struct timing_result start; /* of the first of them, when known */
    bool known;
};

/* Some cycles of memory, longer than a line takes: `next` is when it can begin with another line.
 * Cores whose steps come far out of the order of their times find the windows of their own time. */
struct timing_window {
    uint64_t tag; /* which run and which window; another one: nothing is known, so it is free */
    uint64_t next;
};

/* Cycles of a core that an instruction took: those that it waited before it could issue, its own,
 * and those lost behind it. All together are the cycles of the core. */
typedef void timing_spent_fn(void *context, uint32_t core, uint64_t pc, uint64_t cycles);

struct timing_engine {
    const struct timing_model *model;
    timing_spent_fn *spent; /* NULL: nobody asks */
    void *spent_context;
    enum facet_isa isa;
    uint32_t core_count, reg_count, capacity;
    struct timing_core *cores;
    struct timing_window *windows;
    uint64_t run;                      /* counts resets */
    uint64_t memory_last, memory_busy; /* the end of the last line; cycles of all */
    uint64_t raster_next, raster_busy;
};

/* false: out of memory. Free in every case. */
bool timing_engine_make(struct timing_engine *engine,
                        const struct timing_model *model,
                        enum facet_isa isa,
                        uint32_t core_count,
                        uint32_t reg_count);
void timing_engine_free(struct timing_engine *engine);
/* All cores at cycle 0, nothing under way. */
void timing_engine_reset(struct timing_engine *engine);
void timing_engine_push(struct timing_engine *engine,
                        uint32_t core,
                        const struct timing_step *step);

/* ---- results ---- */

struct timing_core_report {
    uint64_t instructions, cycles; /* 0 instructions: the core did nothing */
    uint64_t reason[TIMING_REASONS];
    uint64_t busy[TIMING_CLASSES]; /* cycles in which the unit took no other instruction */
    uint64_t count[TIMING_CLASSES];
    enum timing_reason limit; /* where most cycles went */
    uint32_t unit;            /* TIMING_UNIT: the class that was waited for most */
};

struct timing_report {
    uint64_t cycles;   /* until the last core and everything under way are done */
    uint32_t critical; /* the core that took longest: what limits it limits the program */
    uint64_t memory_busy, raster_busy;
};

/* Finishes what is queued. `cores` has core_count elements. */
struct timing_report timing_engine_finish(struct timing_engine *engine,
                                          struct timing_core_report *cores);

#endif
