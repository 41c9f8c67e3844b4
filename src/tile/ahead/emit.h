/* What emit.c and emit_rows.c share: registers of the host, which ones hold registers of the guest,
 * and the piece of code that is being made. */
#ifndef FACET_TILE_AHEAD_EMIT_H
#define FACET_TILE_AHEAD_EMIT_H

#include "host_code/x86_vector.h"
#include "tile/core.h"

enum { S_SLOTS = 5, V_SLOTS = 12, SITES = 6 };

/* Registers that keep their meaning; rax, rcx, rdx, rdi and xmm0 to xmm3 are free for one
 * instruction of the guest. */
enum {
    CORE = FACET_RBX,
    STAMPS = FACET_RBP,
    LEFT = FACET_R12,
    MACHINE = FACET_R13,
    VALID = FACET_R14,
    DATA = FACET_R15,
    FIRST_V = 4,
};
static const uint8_t s_host[S_SLOTS] = {FACET_R8, FACET_R9, FACET_R10, FACET_R11, FACET_RSI};

#define CORE_AT(member) facet_x86_at(CORE, (int32_t)offsetof(struct facet_tile_core, member))
#define MACHINE_AT(member)                                                                         \
    facet_x86_at(MACHINE, (int32_t)offsetof(struct facet_tile_machine, member))

/* Which registers of the guest are in those of the host: their number + 1. */
struct map {
    uint8_t s[S_SLOTS], v[V_SLOTS];
    uint32_t s_used[S_SLOTS], v_used[V_SLOTS], clock;
};

/* Where the handler of an instruction is called. */
struct call {
    size_t sites[SITES];
    unsigned site_count;
    size_t back;
    /* A product that is not ordinary is looked at again before: a factor may be zero. */
    size_t doubt, sure; /* the jump there, 0: none; where it comes back to */
    uint8_t a, b;       /* registers of the factors */
    struct map map;     /* after the instruction */
    uint8_t index;
    uint8_t counted; /* the class that both the piece and the handler count; CLASS_OTHER: none */
};

struct emitter {
    struct facet_x86 x;
    struct facet_tile_machine *m;
    struct facet_tile_page *page;
    const struct facet_tile_insn *ops; /* of the piece */
    const struct facet_tile_insn *op;
    unsigned index, count;
    uint32_t needs; /* bits of config that must be 0 */
    uint32_t perf[FACET_TILE_CLASS_OTHER];
    struct map map;
    struct call calls[FACET_TILE_BLOCK_OPS];
    unsigned call_count;
    size_t events[FACET_TILE_BLOCK_OPS]; /* jumps taken when a call left an event, 0: none */
    size_t leaves[2 * FACET_TILE_BLOCK_OPS];
    unsigned leave_count;
};

static inline struct facet_x86_operand facet_tile_limit_at(enum facet_tile_limit limit)
{
    return facet_x86_at(
        CORE, (int32_t)(offsetof(struct facet_tile_core, float_limits) + 16 * (unsigned)limit));
}

/* The code of an instruction that is neither a jump nor left to its handler altogether; false for
 * those. */
bool facet_tile_emit_row(struct emitter *e, unsigned row);

/* ---- registers ---- */

static inline struct facet_x86_operand s_at(unsigned n)
{
    return facet_x86_at(CORE, (int32_t)(offsetof(struct facet_tile_core, r.s) + 4 * n));
}

static inline struct facet_x86_operand v_at(unsigned n)
{
    return facet_x86_at(CORE, (int32_t)(offsetof(struct facet_tile_core, r.v) + 16 * n));
}

/* The slot of register n; *found, or it is the one that was not used for the longest time. */
static inline unsigned
slot_of(uint8_t *in, uint32_t *used, unsigned slots, uint32_t clock, unsigned n, bool *found)
{
    unsigned oldest = 0;

    *found = true;
    for (unsigned i = 0; i < slots; i++) {
        if (in[i] == n + 1) {
            used[i] = clock;
            return i;
        }
        oldest = used[i] < used[oldest] ? i : oldest;
    }
    *found = false;
    in[oldest] = (uint8_t)(n + 1);
    used[oldest] = clock;
    return oldest;
}

static inline unsigned s_slot(struct emitter *e, unsigned n, bool *found)
{
    return s_host[slot_of(e->map.s, e->map.s_used, S_SLOTS, ++e->map.clock, n, found)];
}

static inline unsigned v_slot(struct emitter *e, unsigned n, bool *found)
{
    return FIRST_V + slot_of(e->map.v, e->map.v_used, V_SLOTS, ++e->map.clock, n, found);
}

static inline unsigned use_s(struct emitter *e, unsigned n)
{
    bool found;
    unsigned reg = s_slot(e, n, &found);

    if (!found) {
        facet_x86_op(&e->x, 4, 0x8B, reg, s_at(n));
    }
    return reg;
}

static inline unsigned use_v(struct emitter *e, unsigned n)
{
    bool found;
    unsigned reg = v_slot(e, n, &found);

    if (!found) {
        facet_x86_vector(&e->x, 0x0F28, reg, 0, v_at(n));
    }
    return reg;
}

#endif
