/* The state of the cores and what every instruction handler needs. Private to src/tile.
 *
 * Instructions are decoded once, page by page, into arrays of struct facet_tile_insn: handler,
 * registers, immediate. An operation not yet decoded has the handler that decodes; a write to
 * published memory puts that handler back. A handler returns the next operation of its core; what
 * the scheduler must know (end of tile, parking, fault) it leaves in machine->event. */
#ifndef FACET_TILE_CORE_H
#define FACET_TILE_CORE_H

#include "base/bits.h"
#include "contract/tile_csr_rules.h"
#include "host_code/code_memory.h"
#include "isa/csr_table.h"
#include "machine/ops.h"
#include "num/tile.h"
#include "tile/cache.h"
#include "tile/queue.h"
#include "tile/tile.h"

/* Lanes of a register are the bytes of the array in rising order. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "vector lanes are laid out for little-endian hosts");

union facet_tile_vec {
    _Alignas(16) uint8_t b[16];
    uint16_t h[8];
    uint32_t w[4];
    uint64_t d[2];
};

struct facet_tile_core;
struct facet_tile_insn;
struct facet_tile_tally;
struct facet_tile_stretch;
typedef const struct facet_tile_insn *facet_tile_fn(struct facet_tile_core *core,
                                                    const struct facet_tile_insn *op);

/* A destination s0 or v0 is stored as register 32, which is never read; `rs3` holds the number of
 * the destination as a source where the row has no third source of its own. */
struct facet_tile_insn {
    facet_tile_fn *fn;
    uint32_t word;
    int32_t imm;
    uint8_t rd, rs1, rs2, rs3;
    uint8_t order; /* of an atomic */
    uint8_t near;  /* a branch whose target is an instruction of its own page */
    uint8_t ahead; /* decoded, and a core may run ahead through it (ahead/ahead.c) */
    uint8_t heat;  /* how often it was jumped to */
    void *code;    /* of the host, for this one and those that follow (ahead/emit.c); NULL: none */
};
_Static_assert(sizeof(void *) != 8 || sizeof(struct facet_tile_insn) == 32, "size of an operation");

/* The size is a power of two: pc is found by a shift. */
#define FACET_TILE_NO_REG 32
#define FACET_TILE_PAGE_OPS 1024

struct facet_tile_page {
    uint32_t base; /* address of the first word */
    uint32_t number;
    const uint8_t *bytes;
    bool untouched; /* nothing was decoded since the page was filled */
    struct facet_tile_insn ops[FACET_TILE_PAGE_OPS + 1]; /* the last goes to the next page */
};

enum facet_tile_core_state {
    FACET_TILE_CORE_FINISHED,
    FACET_TILE_CORE_RUNS,
    FACET_TILE_CORE_PARKED,
    FACET_TILE_CORE_EXITED, /* has a next tile, which starts in the next round */
};

enum facet_tile_event {
    FACET_TILE_EVENT_NONE,
    FACET_TILE_EVENT_EXIT,
    FACET_TILE_EVENT_PARK,
    FACET_TILE_EVENT_FAULT,
    FACET_TILE_EVENT_LEFT,  /* the instruction was interrupted in the middle: it did not retire */
    FACET_TILE_EVENT_ASKED, /* it retired, but the run is to end here */
    FACET_TILE_EVENT_TURN,  /* it has to wait for its turn: the core runs ahead no further */
};

/* Registers that kernels see, without those that only name constants of the dispatch. */
struct facet_tile_regs {
    union facet_tile_vec v[33];
    uint32_t s[33];
    uint16_t f[32];
    uint32_t config;
    FACET_STORE_CORE_R; /* status, fflags (fstatus without RM, which is in config), and so on */
};

/* A core as it was where it began to run ahead. */
struct facet_tile_mark {
    struct facet_tile_regs r;
    struct facet_num_tile_env env;
    uint32_t pc, perf[FACET_TILE_CLASS_OTHER];
    uint32_t fault_cause, fault_pc, fault_addr;
    uint64_t instret;
    uint32_t texels;
};

/* A value for one load from an address in first..last, or for one read of a CSR. */
struct facet_tile_told_value {
    bool csr;
    uint32_t first, last;
    struct facet_value value;
};

struct facet_tile_told {
    uint32_t count; /* oldest first */
    struct facet_tile_told_value given[FACET_TILE_GIVEN_MAX];
};

enum facet_tile_limit {
    FACET_TILE_LIMIT_MAGNITUDE,
    FACET_TILE_LIMIT_FINITE,
    FACET_TILE_LIMIT_BIAS,
    FACET_TILE_LIMIT_ORDINARY,
    FACET_TILE_LIMITS
};

struct facet_tile_core {
    struct facet_tile_regs r;
    const struct facet_tile_insn *ip;
    struct facet_tile_page *page; /* of ip */
    struct facet_tile_machine *m;
    struct facet_tile_insn bad; /* ip points here when there is no code at pc */
    uint32_t bad_pc;
    FACET_STORE_CORE;              /* id, tile_offset, fault_* */
    struct facet_num_tile_env env; /* of config */
    uint64_t instret;
    uint32_t perf[FACET_TILE_CLASS_OTHER];
    uint8_t state;      /* enum facet_tile_core_state */
    uint64_t next_tile; /* the tile that runs or will run next */
    uint32_t tiles;     /* finished */
    struct facet_tile_cache cache;
    facet_mem *scratch_mem;
    struct facet_mem_window scratch;
    struct facet_raster_context gfx;
    struct facet_tile_mark mark;
    struct facet_tile_told told;     /* told.h */
    struct facet_tile_stretch *said; /* the next entry of its journal (tally.h); NULL: none */
    uint32_t float_limits[FACET_TILE_LIMITS]
                         [4]; /* what host code compares floats with (ahead/emit.c) */
};

#define FACET_TILE_OF_QUEUE FACET_TILE_CORES
#define FACET_TILE_SLOTS 64 /* pages of decoded code; at least one more than cores */

struct facet_tile_machine {
    struct facet_tile_core core[FACET_TILE_CORES];
    struct facet_port *port;
    struct facet_tile_config config;
    facet_mem *mem;
    uint8_t *vram;       /* G */
    uint8_t *vram_pages; /* dirty map of the memory */
    uint8_t *imem, *sampler;
    uint32_t vram_size;
    struct facet_raster_unit unit;
    /* Draws that are left in the middle, and whose the part is, when there is one: a core's number
     * or FACET_TILE_OF_QUEUE. It continues before anything else happens. */
    struct facet_raster_stop draw;
    uint8_t draw_of;
    uint32_t draw_word; /* a core's instruction, which the draw may have overwritten */
    bool watched;       /* an observer is attached; as of the current run */
    bool careful;       /* that, or values were given (told.h): no quick ways to memory */
    /* The core whose instruction is being executed and reported; FACET_NONE: none. */
    uint32_t stepping;
    uint8_t event; /* enum facet_tile_event */
    uint8_t event_core;

    /* decoded code */
    struct facet_tile_page *pages; /* FACET_TILE_SLOTS */
    uint8_t *slot_of;              /* per 4 KiB of IMEM, then of VRAM: slot + 1, 0 for none */
    uint32_t used_slots, victim;

    /* dispatch */
    uint8_t state; /* enum facet_tile_state */
    bool has_packet;
    struct facet_tile_packet packet;
    uint64_t tile_count;
    uint8_t active[FACET_TILE_CORES];
    uint32_t active_count;
    uint64_t time;
    uint64_t limit;  /* rounds */
    uint32_t slot;   /* of the round */
    uint32_t left;   /* instructions left in the slot, rr only; 0: the slot has not begun */
    uint32_t random; /* x of rnd */

    /* running ahead (ahead/ahead.c): nothing that decides a result */
    bool in_turn;                 /* never */
    facet_code_memory *host_code; /* NULL until there is some */
    const uint8_t *enter, *leave; /* in it */
    uint32_t ahead_steps;         /* that a core tries the next time */

    struct facet_tile_queue queue;
    struct facet_tile_tally *tally; /* tally.h; NULL: nothing is counted */
    facet_pool *own_pool;           /* config.threads */
    /* Where restoring puts a state together; NULL until the first time. It is kept because memory
     * of its size is slow to get. */
    struct facet_tile_machine *draft;

    /* tables of the face */
    struct facet_core_desc desc[FACET_TILE_CORES];
    struct facet_csr_table csrs;
};

/* Whether `who` has left a draw in the middle. */
static inline bool facet_tile_half_drawn(const struct facet_tile_machine *m, uint32_t who)
{
    return m->draw.part.kind != FACET_RASTER_PART_NONE && m->draw_of == who;
}

/* The rest of a draw of `who` is no longer needed. */
static inline void facet_tile_drop_draw(struct facet_tile_machine *m, uint32_t who)
{
    if (facet_tile_half_drawn(m, who)) {
        m->draw.part.kind = FACET_RASTER_PART_NONE;
    }
}

/* ---- code (code.c) ---- */

/* Where ip stands. */
static inline uint32_t facet_tile_pc(const struct facet_tile_core *c,
                                     const struct facet_tile_insn *op)
{
    return op == &c->bad ? c->bad_pc : c->page->base + 4 * (uint32_t)(op - c->page->ops);
}

/* The operation at an address that is a multiple of 4; sets c->page. */
const struct facet_tile_insn *facet_tile_at(struct facet_tile_core *c, uint32_t pc);
void facet_tile_set_pc(struct facet_tile_core *c, uint32_t pc);
/* The instruction that is executed when ip is `op`: decoded, and past the end of a page. */
const struct facet_tile_insn *facet_tile_look(struct facet_tile_core *c,
                                              const struct facet_tile_insn *op);
/* Executes the instruction at ip, or the one whose draw the core has left. */
void facet_tile_execute(struct facet_tile_core *c);
/* Whether draw_word is an instruction that makes a draw of the kind that was left. */
bool facet_tile_draw_word_good(const struct facet_tile_machine *m);
enum facet_status facet_tile_code_make(struct facet_tile_machine *m, struct facet_error *err);
void facet_tile_code_free(struct facet_tile_machine *m);
void facet_tile_code_flush(struct facet_tile_machine *m);
bool facet_tile_is_register(const struct facet_operand *operand);
/* VRAM bytes at offset changed in G. */
void facet_tile_code_changed(struct facet_tile_machine *m, uint32_t offset, uint32_t size);
/* handlers.c: by row number. The fast one is NULL where there is none; it gives the same results.
 */
extern facet_tile_fn *const facet_tile_handlers[];
facet_tile_fn *facet_tile_fast_handler(unsigned row);

/* ---- memory (memory.c) ---- */

/* A write to G: the page map and the decoded code follow. */
static inline void facet_tile_touch(struct facet_tile_machine *m, uint32_t offset, uint32_t size)
{
    uint32_t first = offset >> 12, last = (offset + size - 1) >> 12;

    m->vram_pages[first] = m->vram_pages[last] = FACET_MEM_DIRTY_ALL;
    if (__builtin_expect((m->slot_of[16 + first] | m->slot_of[16 + last]) != 0, 0)) {
        facet_tile_code_changed(m, offset, size);
    }
    if (m->stepping != FACET_NONE) {
        facet_port_published(m->port, m->stepping, FACET_VRAM_BASE + offset, size);
    }
}

struct facet_tile_fault {
    uint32_t cause; /* 0: none */
    uint32_t address;
};

enum facet_tile_access { FACET_TILE_LOAD, FACET_TILE_STORE, FACET_TILE_ATOMIC };

/* Lanes of one instruction: what they touch. */
struct facet_tile_lanes {
    uint32_t address[16];
    uint32_t count, size; /* bytes per lane */
    uint32_t align;       /* natural alignment */
    bool window;          /* an LW, SW, VLD.V or VST.V form: the sampler window is reachable */
};

/* The fault that the access would raise, by the priorities of section 12; sets *misaligned. */
struct facet_tile_fault facet_tile_check(const struct facet_tile_core *c,
                                         const struct facet_tile_lanes *lanes,
                                         enum facet_tile_access access,
                                         bool *misaligned);
/* Bytes that have been checked; through the caches of section 8.2. */
void facet_tile_read(struct facet_tile_core *c, uint32_t address, void *out, uint32_t size);
void facet_tile_write(struct facet_tile_core *c, uint32_t address, const void *data, uint32_t size);
/* MEMBAR, EXIT, tile start. */
void facet_tile_membar(struct facet_tile_core *c);

static inline bool
facet_tile_in_vram(const struct facet_tile_machine *m, uint32_t address, uint32_t size)
{
    return address - FACET_VRAM_BASE <= m->vram_size - size &&
           address - FACET_VRAM_BASE < m->vram_size;
}

/* ---- system (system.c, csr.c) ---- */

/* Records the fault and stops the dispatch; returns op, so that pc stays. */
const struct facet_tile_insn *facet_tile_stop(struct facet_tile_core *c,
                                              const struct facet_tile_insn *op,
                                              uint32_t cause,
                                              uint32_t address);

static inline void facet_tile_set_config(struct facet_tile_core *c, uint32_t value)
{
    c->r.config = (uint32_t)facet_legal_CONFIG(NULL, c->r.config, value);
    c->env = (struct facet_num_tile_env){.rm = (uint8_t)(c->r.config & 7),
                                         .ftz = (c->r.config & 8) != 0,
                                         .fsat = (c->r.config & 64) != 0,
                                         .plain = c->m->config.plain};
}

/* The value of a row's register, read without effects; `number` selects one of a family. */
uint32_t facet_tile_csr_value(const struct facet_tile_core *c,
                              const struct facet_csr_row *row,
                              uint32_t number);
/* Reads without effects; false for a number that does not exist (*value is 0). */
bool facet_tile_csr_peek(const struct facet_tile_core *c, uint32_t number, uint32_t *value);
/* Writes what is writable; false for a number that does not exist or is read-only. */
bool facet_tile_csr_poke(struct facet_tile_core *c, uint32_t number, uint32_t value);
/* What CSRRS writes: write-one-to-clear fields take the source itself. */
uint32_t facet_tile_csr_set(uint32_t number, uint32_t old, uint32_t source);

/* ---- dispatch.c, schedule.c, state.c, tables.c ---- */

void facet_tile_start_tile(struct facet_tile_core *c);
void facet_tile_idle(struct facet_tile_machine *m);
enum facet_status facet_tile_start(struct facet_tile_machine *m,
                                   const struct facet_tile_packet *packet,
                                   struct facet_error *err);
enum facet_status facet_tile_check_packet(const struct facet_tile_machine *m,
                                          const struct facet_tile_packet *packet,
                                          struct facet_error *err);
/* Every core that is not finished gets the cause; the dispatch is over. */
void facet_tile_stop_all(struct facet_tile_machine *m, uint32_t cause);
void facet_tile_publish_all(struct facet_tile_machine *m);
/* Makes the next step one of this core's; else why not. */
const char *facet_tile_turn(struct facet_tile_machine *m, uint32_t core);
/* Brings the schedule to the next core that has something to do, or to its end. */
void facet_tile_settle(struct facet_tile_machine *m);
void facet_tile_run(void *self, uint64_t budget, struct facet_stop *stop);
/* ahead/ahead.c: up to `rounds` rounds of the cores, which all run, each on its own; gives those
 * done. Fewer when the next one has an instruction that must be executed in turn. */
uint64_t facet_tile_run_ahead(struct facet_tile_machine *m,
                              struct facet_tile_core *const list[],
                              uint32_t count,
                              uint64_t rounds);
/* ahead/emit.c: code of the host for the private instructions from op on; op->code stays NULL where
 * there can be none. */
void facet_tile_emit(struct facet_tile_core *c, const struct facet_tile_insn *op);
struct facet_tile_left {
    const struct facet_tile_insn *op; /* comes next */
    uint64_t left;                    /* of the instructions that may be executed */
};
/* Runs op->code. With an event in the machine, `op` has left it. */
struct facet_tile_left
facet_tile_enter(struct facet_tile_core *c, const struct facet_tile_insn *op, uint64_t left);
void facet_tile_emit_constants(struct facet_tile_core *c);
/* code.c: no instruction has host code any more. */
void facet_tile_code_forget_host(struct facet_tile_machine *m);
#define FACET_TILE_BLOCK_OPS 64 /* instructions of a piece of host code, at most */
/* facet_machine_self of this kind. */
struct facet_tile_machine *facet_tile_self(const facet_machine *machine, struct facet_error *err);
uint32_t facet_tile_next_core(const void *self);
void facet_tile_save(const void *self, struct facet_state_io *io);
void facet_tile_restore(void *self, struct facet_state_io *io);

enum {
    FACET_TILE_REG_S = 0,
    FACET_TILE_REG_F = 32,
    FACET_TILE_REG_V = 64,
    FACET_TILE_REG_PC = 96,
    FACET_TILE_REG_COUNT = 97,
};

enum facet_status facet_tile_tables_make(struct facet_csr_table *table, struct facet_error *err);
extern const struct facet_reg_desc facet_tile_regs[FACET_TILE_REG_COUNT];

#endif
