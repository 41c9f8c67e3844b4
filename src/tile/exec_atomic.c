/* Scalar and vector atomics (tile-semantics.md 9, 8.2). */
#include "tile/system.h"
#include "tile/tally/tally.h"
#include "tile/told.h"
#include "tile/watch.h"

#include <string.h>

#define RS1 (c->r.s[op->rs1])
#define RS2 (c->r.s[op->rs2])
#define OLD_RD (c->r.s[op->rs3])
#define IMM ((uint32_t)op->imm)

enum { ACQUIRE = 1, RELEASE = 2 };

typedef uint32_t modify_fn(uint32_t memory, uint32_t operand);

static uint32_t m_ADD(uint32_t m, uint32_t x)
{
    return m + x;
}

static uint32_t m_MIN(uint32_t m, uint32_t x)
{
    return (int32_t)m < (int32_t)x ? m : x;
}

static uint32_t m_MAX(uint32_t m, uint32_t x)
{
    return (int32_t)m > (int32_t)x ? m : x;
}

static uint32_t m_XCHG(uint32_t m, uint32_t x)
{
    (void)m;
    return x;
}

static uint32_t m_AND(uint32_t m, uint32_t x)
{
    return m & x;
}

static uint32_t m_OR(uint32_t m, uint32_t x)
{
    return m | x;
}

static uint32_t m_XOR(uint32_t m, uint32_t x)
{
    return m ^ x;
}

/* ---- memory ---- */

/* The word below the caches, after line_sync. */
static uint32_t read_word(struct facet_tile_core *c, uint32_t address)
{
    uint8_t bytes[4];

    facet_tile_tally_access(c, address, 4, FACET_TILE_ATOMIC);
    if (facet_tile_in_vram(c->m, address, 4)) {
        uint32_t offset = address - FACET_VRAM_BASE;

        if (!c->m->config.strong) {
            facet_tile_cache_sync_line(c->m, &c->cache, offset / 64);
        }
        memcpy(bytes, c->m->vram + offset, sizeof bytes);
    } else {
        facet_tile_read(c, address, bytes, sizeof bytes);
    }
    facet_tile_told_load(c, address, bytes, sizeof bytes);
    return facet_load_le32(bytes);
}

static void write_word(struct facet_tile_core *c, uint32_t address, uint32_t value)
{
    uint8_t bytes[4];

    if (facet_tile_in_vram(c->m, address, 4)) {
        facet_store_le32(c->m->vram + (address - FACET_VRAM_BASE), value);
        facet_tile_touch(c->m, address - FACET_VRAM_BASE, 4);
        return;
    }
    facet_store_le32(bytes, value);
    facet_tile_write(c, address, bytes, sizeof bytes);
}

/* One read-modify-write; `writes` is false for a failed compare. */
static void
tell(struct facet_tile_core *c, uint32_t address, uint32_t old, uint32_t now, bool writes)
{
    if (facet_tile_watched(c)) {
        facet_tile_tell_memory(c, address, &old, sizeof old, false);
        if (writes) {
            facet_tile_tell_memory(c, address, &now, sizeof now, true);
        }
    }
}

static bool allowed(struct facet_tile_core *c,
                    const struct facet_tile_insn *op,
                    const struct facet_tile_lanes *l)
{
    bool misaligned;
    struct facet_tile_fault fault = facet_tile_check(c, l, FACET_TILE_ATOMIC, &misaligned);

    if (fault.cause != 0) {
        (void)facet_tile_stop(c, op, fault.cause, fault.address);
        return false;
    }
    return true;
}

/* ---- scalar ---- */

static void before(struct facet_tile_core *c, unsigned order)
{
    if ((order & RELEASE) != 0) {
        facet_tile_cache_publish(c->m, &c->cache);
    }
}

static void after(struct facet_tile_core *c, unsigned order)
{
    if ((order & ACQUIRE) != 0) {
        facet_tile_cache_drop_clean(&c->cache);
    }
}

/* modify == NULL: compare with `operand`, and put the old rd. */
static const struct facet_tile_insn *atomic(struct facet_tile_core *c,
                                            const struct facet_tile_insn *op,
                                            uint32_t address,
                                            uint32_t operand,
                                            modify_fn *modify)
{
    struct facet_tile_lanes lanes = {.address = {address}, .count = 1, .size = 4, .align = 4};
    uint32_t old, now;
    bool writes;

    if (!allowed(c, op, &lanes)) {
        return op;
    }
    before(c, op->order);
    old = read_word(c, address);
    writes = modify != NULL || old == operand;
    now = modify != NULL ? modify(old, operand) : OLD_RD;
    if (writes) {
        write_word(c, address, now);
    }
    after(c, op->order);
    tell(c, address, old, now, writes);
    c->r.s[op->rd] = old;
    c->perf[FACET_TILE_CLASS_ATOMIC]++;
    return op + 1;
}

#define ATOMIC(name)                                                                               \
    FACET_TILE_OP(A##name)                                                                         \
    {                                                                                              \
        return atomic(c, op, RS1, RS2, m_##name);                                                  \
    }                                                                                              \
    FACET_TILE_OP(A##name##_R)                                                                     \
    {                                                                                              \
        return atomic(c, op, RS1 + RS2, OLD_RD, m_##name);                                         \
    }                                                                                              \
    FACET_TILE_OP(A##name##_L)                                                                     \
    {                                                                                              \
        return atomic(c, op, RS1 + IMM, OLD_RD, m_##name);                                         \
    }

ATOMIC(ADD)
ATOMIC(MIN)
ATOMIC(MAX)
ATOMIC(XCHG)
ATOMIC(AND)
ATOMIC(OR)
ATOMIC(XOR)

FACET_TILE_OP(ACAS)
{
    return atomic(c, op, RS1, RS2, NULL);
}

FACET_TILE_OP(ACASI)
{
    return atomic(c, op, RS1, IMM, NULL);
}

/* ---- vector: lane after lane, each a whole read-modify-write ---- */

static struct facet_tile_lanes unit(struct facet_tile_core *c, const struct facet_tile_insn *op)
{
    struct facet_tile_lanes lanes = {.count = 4, .size = 4, .align = 4};

    for (uint32_t i = 0; i < 4; i++) {
        lanes.address[i] = RS1 + IMM + 4 * i;
    }
    return lanes;
}

static struct facet_tile_lanes strided(struct facet_tile_core *c, const struct facet_tile_insn *op)
{
    struct facet_tile_lanes lanes = {.count = 4, .size = 4, .align = 4};

    for (uint32_t i = 0; i < 4; i++) {
        lanes.address[i] = RS1 + i * RS2;
    }
    return lanes;
}

static struct facet_tile_lanes indexed(struct facet_tile_core *c, const struct facet_tile_insn *op)
{
    struct facet_tile_lanes lanes = {.count = 4, .size = 4, .align = 4};

    for (uint32_t i = 0; i < 4; i++) {
        lanes.address[i] = RS1 + c->r.v[op->rs2].w[i];
    }
    return lanes;
}

static const struct facet_tile_insn *vector_atomic(struct facet_tile_core *c,
                                                   const struct facet_tile_insn *op,
                                                   struct facet_tile_lanes lanes,
                                                   modify_fn *modify)
{
    union facet_tile_vec operand = c->r.v[op->rs3], expected = c->r.v[op->rs2], result;

    if (!allowed(c, op, &lanes)) {
        return op;
    }
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t old = read_word(c, lanes.address[i]);
        uint32_t now = modify != NULL ? modify(old, operand.w[i]) : operand.w[i];
        bool writes = modify != NULL || old == expected.w[i];

        if (writes) {
            write_word(c, lanes.address[i], now);
        }
        tell(c, lanes.address[i], old, now, writes);
        result.w[i] = old;
    }
    c->r.v[op->rd] = result;
    c->perf[FACET_TILE_CLASS_ATOMIC]++;
    return op + 1;
}

#define VECTOR_ATOMIC(name, modify)                                                                \
    FACET_TILE_OP(VATOM_##name)                                                                    \
    {                                                                                              \
        return vector_atomic(c, op, unit(c, op), modify);                                          \
    }                                                                                              \
    FACET_TILE_OP(VATOM_##name##_S)                                                                \
    {                                                                                              \
        return vector_atomic(c, op, strided(c, op), modify);                                       \
    }                                                                                              \
    FACET_TILE_OP(VATOM_##name##_X)                                                                \
    {                                                                                              \
        return vector_atomic(c, op, indexed(c, op), modify);                                       \
    }

VECTOR_ATOMIC(ADD, m_ADD)
VECTOR_ATOMIC(MIN, m_MIN)
VECTOR_ATOMIC(MAX, m_MAX)
VECTOR_ATOMIC(XCHG, m_XCHG)
VECTOR_ATOMIC(CAS, m_XCHG) /* as the seed has it; VCAS compares */
VECTOR_ATOMIC(AND, m_AND)
VECTOR_ATOMIC(OR, m_OR)
VECTOR_ATOMIC(XOR, m_XOR)

FACET_TILE_OP(VCAS)
{
    return vector_atomic(c, op, unit(c, op), NULL);
}
