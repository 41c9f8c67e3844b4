/* Inside the emitter of host code (block_emit.c): a block in the making, and what the parts of the
 * emitter share. block_emit_alu.c has the computations, block_emit_memory.c loads and stores,
 * block_emit_float.c floating point. */
#ifndef FACET_XPHMG_HART_BLOCK_EMIT_H
#define FACET_XPHMG_HART_BLOCK_EMIT_H

#include "host_code/x86.h"
#include "xphmg/hart/block_impl.h"

/* The parameters. RAX, RCX and RDI are for passing use. */
enum { HART = FACET_RSI, LEFT = FACET_RDX, BYTES = FACET_R8, SPAN = FACET_R9 };

/* What may have a home: the registers x, and beside them two pointers that stores need. */
enum { LINES = DEAD + 1, PAGES, GUEST, NO_HOME = 0xFF };

/* Registers f lie in the hart; those used last are in registers of the host besides. XMM0 and XMM1
 * are for passing use. */
enum { XMM0, XMM1, XMMS = 16, NO_FLOAT = 0xFF };

struct float_copies {
    uint8_t guest[XMMS]; /* the register f that is in each of the host, or NO_FLOAT */
    uint16_t singles;    /* those of the host with a single; others have a double */
    uint8_t next;        /* to be given up next */
};

/* Digits of the group of shifts. */
enum { DIGIT_ROL, DIGIT_ROR, DIGIT_SHL = 4, DIGIT_SHR = 5, DIGIT_SAR = 7 };

/* A seldom taken way, behind the block; some come back. */
struct stub {
    enum {
        LEAVE,     /* in front of the operation */
        LINE,      /* the same, unless a store that is not aligned may be done after all */
        LINK,      /* through the link of the operation */
        INDIRECT,  /* to the address in RAX */
        OPERATION, /* the operation does it */
        REST,      /* the operations do it and what comes after it */
        ZERO,      /* the result in RAX may be a zero that is exact; the next stub is for others */
    } what;
    size_t jumps[6]; /* that lead here */
    unsigned jump_count;
    size_t back;                /* where LINE, OPERATION and ZERO continue */
    unsigned op;                /* of the trace */
    unsigned bytes;             /* of the store, or the number */
    uint64_t dirty, loaded;     /* registers as they are */
    struct float_copies copies; /* as OPERATION leaves them */
};

struct emitter {
    struct facet_x86 x;
    facet_block_cache *cache;
    const struct trace *t;
    struct op *own[BLOCK_OPS]; /* the operation of the arena that has that of the trace in it */
    uint8_t home[GUEST];       /* of each register of the guest, or NO_HOME */
    uint64_t loaded, dirty;    /* registers in their homes; and changed there */
    uint64_t housed;           /* registers with a home */
    bool loops;                /* some branch goes to the beginning */
    size_t top;                /* where */
    /* What is known of floating point from here to the end of the block. */
    struct {
        bool on, dirty;   /* FS is not Off; is Dirty */
        bool nearest;     /* frm is nearest even */
        bool inexact;     /* NX is up */
        uint32_t singles; /* registers with a boxed binary32 */
    } floats;
    struct float_copies copies;
    struct stub stubs[2 * BLOCK_OPS];
    unsigned stub_count;
    /* Jumps to what the ways out have in common. */
    size_t to_leave[2 * BLOCK_OPS], to_tight[BLOCK_OPS], to_find[2 * BLOCK_OPS];
    unsigned leave_count, tight_count, find_count;
};

#define IN_HART(member) facet_x86_at(HART, (int32_t)offsetof(struct facet_hart, member))

static inline struct facet_x86_operand in_memory(unsigned guest)
{
    if (guest == LINES) {
        return IN_HART(code_lines);
    }
    if (guest == PAGES) {
        return IN_HART(ram.pages);
    }
    return facet_x86_at(HART, (int32_t)(offsetof(struct facet_hart, x) + 8 * guest));
}

static inline struct facet_x86_operand float_at(unsigned guest)
{
    return facet_x86_at(HART, (int32_t)(offsetof(struct facet_hart, f) + 8 * guest));
}

static inline uint64_t bit(unsigned guest)
{
    return UINT64_C(1) << guest;
}

/* ---- registers of the guest -------------------------------------------------------------------
 */

static inline void load_home(struct emitter *e, unsigned guest)
{
    if ((e->housed & ~e->loaded & bit(guest)) != 0) {
        facet_x86_load(&e->x, e->home[guest], in_memory(guest));
        e->loaded |= bit(guest);
    }
}

/* The register as an operand. */
static inline struct facet_x86_operand value_of(struct emitter *e, unsigned guest)
{
    load_home(e, guest);
    return e->home[guest] != NO_HOME ? facet_x86_in(e->home[guest]) : in_memory(guest);
}

/* A register of the host with its value: its home or the one given. */
static inline unsigned get(struct emitter *e, unsigned guest, unsigned passing)
{
    load_home(e, guest);
    if (e->home[guest] != NO_HOME) {
        return e->home[guest];
    }
    facet_x86_load(&e->x, passing, in_memory(guest));
    return passing;
}

/* Where a result for the guest's register is best computed. */
static inline unsigned target(const struct emitter *e, unsigned guest, unsigned passing)
{
    return e->home[guest] != NO_HOME ? e->home[guest] : passing;
}

/* The result for the guest's register is in `reg`. */
static inline void put(struct emitter *e, unsigned guest, unsigned reg)
{
    if (e->home[guest] == NO_HOME) {
        facet_x86_store(&e->x, in_memory(guest), reg);
        return;
    }
    facet_x86_move(&e->x, e->home[guest], reg);
    e->loaded |= bit(guest);
    e->dirty |= bit(guest);
}

static inline struct stub *add_stub(struct emitter *e, unsigned what, unsigned op)
{
    struct stub *stub = &e->stubs[e->stub_count++];

    *stub = (struct stub){.what = what, .op = op, .dirty = e->dirty, .loaded = e->loaded};
    return stub;
}

static inline void jump_to(struct emitter *e, struct stub *stub, unsigned condition)
{
    stub->jumps[stub->jump_count++] = facet_x86_jump_if(&e->x, condition);
}

/* The parts. Each emits operation i of the trace and returns true, or knows nothing of its kind. */
bool facet_block_emit_computation(struct emitter *e, unsigned i);
bool facet_block_emit_memory(struct emitter *e, unsigned i);
bool facet_block_emit_float(struct emitter *e, unsigned i);

/* Floating point that is switched off takes the jump; its registers have changed. */
void facet_block_check_floats(struct emitter *e, struct stub *off);
void facet_block_mark_floats(struct emitter *e);
/* The register of the host that has a copy of this one in the format, or NO_FLOAT. */
unsigned facet_block_float_copy(const struct emitter *e, bool single, unsigned guest);
/* One of the host for a result for this one, other than the two given. */
unsigned facet_block_float_place(struct emitter *e, unsigned guest, unsigned a, unsigned b);
/* The result is there. */
void facet_block_float_keep(struct emitter *e, bool single, unsigned guest, unsigned xmm);
/* C functions leave no copies; and what there was before one. */
void facet_block_float_forget(struct emitter *e);
void facet_block_float_reload(struct emitter *e, const struct float_copies *copies);
/* The code of a stub ZERO; returns the jump for results that are none. */
size_t facet_block_emit_zero(struct emitter *e, const struct stub *stub);

#endif
