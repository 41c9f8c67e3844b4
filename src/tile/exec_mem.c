/* Loads and stores, scalar and vector (tile-semantics.md 7). */
#include "contract/tile_csrs.h"
#include "tile/system.h"
#include "tile/tally/tally.h"
#include "tile/told.h"
#include "tile/watch.h"

#include <string.h>

#define RS1 (c->r.s[op->rs1])
#define RS2 (c->r.s[op->rs2])
#define IMM ((uint32_t)op->imm)

/* ---- one piece of up to 16 bytes ---- */

/* The careful way; false when the instruction faults, which *next then belongs to. */
static bool load_slowly(struct facet_tile_core *c,
                        const struct facet_tile_insn *op,
                        uint32_t address,
                        void *out,
                        uint32_t size)
{
    struct facet_tile_lanes lanes = {
        .address = {address}, .count = 1, .size = size, .align = size, .window = size >= 4};
    bool misaligned;
    struct facet_tile_fault fault = facet_tile_check(c, &lanes, FACET_TILE_LOAD, &misaligned);

    if (fault.cause != 0) {
        (void)facet_tile_stop(c, op, fault.cause, fault.address);
        return false;
    }
    c->r.status |= misaligned ? (uint32_t)FACET_STATUS_MISAL : 0;
    facet_tile_tally_access(c, address, size, FACET_TILE_LOAD);
    facet_tile_read(c, address, out, size);
    facet_tile_told_load(c, address, out, size);
    if (facet_tile_watched(c)) {
        facet_tile_tell_memory(c, address, out, size, false);
    }
    return true;
}

static bool store_slowly(struct facet_tile_core *c,
                         const struct facet_tile_insn *op,
                         uint32_t address,
                         const void *data,
                         uint32_t size)
{
    struct facet_tile_lanes lanes = {
        .address = {address}, .count = 1, .size = size, .align = size, .window = size >= 4};
    bool misaligned;
    struct facet_tile_fault fault = facet_tile_check(c, &lanes, FACET_TILE_STORE, &misaligned);

    if (fault.cause != 0) {
        (void)facet_tile_stop(c, op, fault.cause, fault.address);
        return false;
    }
    c->r.status |= misaligned ? (uint32_t)FACET_STATUS_MISAL : 0;
    facet_tile_tally_access(c, address, size, FACET_TILE_STORE);
    facet_tile_write(c, address, data, size);
    if (facet_tile_watched(c)) {
        facet_tile_tell_memory(c, address, data, size, true);
    }
    return true;
}

static inline uint64_t lane_mask(uint32_t offset, uint32_t size)
{
    return ((UINT64_C(1) << size) - 1) << (offset % 64);
}

/* An aligned access to VRAM of a core that is not observed; under the weak model a hit in D. */
static inline bool
load_quickly(struct facet_tile_core *c, uint32_t address, void *out, uint32_t size)
{
    const struct facet_tile_machine *m = c->m;
    uint32_t offset = address - FACET_VRAM_BASE;
    uint64_t mask = lane_mask(offset, size);

    if (offset >= m->vram_size || offset % size != 0 || __builtin_expect(c->m->careful, 0)) {
        return false;
    }
    if (m->config.strong) {
        memcpy(out, m->vram + offset, size);
        return true;
    }
    if (__builtin_expect((c->cache.valid[offset / 64] & mask) != mask, 0)) {
        return false;
    }
    memcpy(out, c->cache.data + offset, size);
    return true;
}

/* A store beside the constant region, which is aligned to 16. */
static inline bool
store_quickly(struct facet_tile_core *c, uint32_t address, const void *data, uint32_t size)
{
    struct facet_tile_machine *m = c->m;
    uint32_t offset = address - FACET_VRAM_BASE;
    uint64_t mask = lane_mask(offset, size);

    if (offset >= m->vram_size || offset % size != 0 || __builtin_expect(c->m->careful, 0) ||
        address + size - 1 - m->packet.const_base < m->packet.const_size + (size - 1)) {
        return false;
    }
    if (m->config.strong) {
        memcpy(m->vram + offset, data, size);
        facet_tile_touch(m, offset, size);
        return true;
    }
    if (__builtin_expect(c->cache.stamp[offset / 64] != c->cache.now, 0)) {
        facet_tile_cache_list_store(&c->cache, offset / 64);
    }
    memcpy(c->cache.data + offset, data, size);
    c->cache.valid[offset / 64] |= mask;
    c->cache.dirty[offset / 64] |= mask;
    return true;
}

static inline bool load(struct facet_tile_core *c,
                        const struct facet_tile_insn *op,
                        uint32_t address,
                        void *out,
                        uint32_t size)
{
    return __builtin_expect(load_quickly(c, address, out, size), 1) ||
           load_slowly(c, op, address, out, size);
}

static inline bool store(struct facet_tile_core *c,
                         const struct facet_tile_insn *op,
                         uint32_t address,
                         const void *data,
                         uint32_t size)
{
    return __builtin_expect(store_quickly(c, address, data, size), 1) ||
           store_slowly(c, op, address, data, size);
}

/* ---- scalar ---- */

#define LOAD(name, type, cast, address)                                                            \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        type value;                                                                                \
                                                                                                   \
        if (!load(c, op, address, &value, sizeof value)) {                                         \
            return op;                                                                             \
        }                                                                                          \
        c->r.s[op->rd] = (uint32_t)(cast)value;                                                    \
        c->perf[FACET_TILE_CLASS_LOAD]++;                                                          \
        return op + 1;                                                                             \
    }
#define STORE(name, type, source, address)                                                         \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        type value = (type)c->r.s[op->source];                                                     \
                                                                                                   \
        if (!store(c, op, address, &value, sizeof value)) {                                        \
            return op;                                                                             \
        }                                                                                          \
        c->perf[FACET_TILE_CLASS_STORE]++;                                                         \
        return op + 1;                                                                             \
    }
#define LOADS(name, type, cast)                                                                    \
    LOAD(name, type, cast, RS1 + IMM)                                                              \
    LOAD(name##_R, type, cast, RS1 + RS2)                                                          \
    LOAD(name##_P, type, cast, facet_tile_pc(c, op) + IMM)                                         \
    LOAD(name##_B, type, cast, RS1)                                                                \
    LOAD(name##_L, type, cast, RS1 + IMM)                                                          \
    LOAD(name##_PL, type, cast, facet_tile_pc(c, op) + IMM)
#define STORES(name, type)                                                                         \
    STORE(name, type, rs2, RS1 + IMM)                                                              \
    STORE(name##_R, type, rs3, RS1 + RS2)                                                          \
    STORE(name##_P, type, rs2, facet_tile_pc(c, op) + IMM)                                         \
    STORE(name##_B, type, rs2, RS1)                                                                \
    STORE(name##_L, type, rs2, RS1 + IMM)                                                          \
    STORE(name##_PL, type, rs2, facet_tile_pc(c, op) + IMM)

LOADS(LB, uint8_t, int8_t)
LOADS(LH, uint16_t, int16_t)
LOADS(LW, uint32_t, uint32_t)
LOADS(LBU, uint8_t, uint8_t)
LOADS(LHU, uint16_t, uint16_t)
STORES(SB, uint8_t)
STORES(SH, uint16_t)
STORES(SW, uint32_t)

/* ---- unit-stride vectors ---- */

#define VLOAD(name, address)                                                                       \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        union facet_tile_vec value;                                                                \
                                                                                                   \
        if (!load(c, op, address, &value, sizeof value)) {                                         \
            return op;                                                                             \
        }                                                                                          \
        c->r.v[op->rd] = value;                                                                    \
        c->perf[FACET_TILE_CLASS_LOAD]++;                                                          \
        return op + 1;                                                                             \
    }
#define VSTORE(name, address)                                                                      \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        if (!store(c, op, address, &c->r.v[op->rs3], sizeof c->r.v[0])) {                          \
            return op;                                                                             \
        }                                                                                          \
        c->perf[FACET_TILE_CLASS_STORE]++;                                                         \
        return op + 1;                                                                             \
    }
#define UNIT_STRIDE(MAKE, name)                                                                    \
    MAKE(name, RS1 + c->r.vstride + IMM)                                                           \
    MAKE(name##_R, RS1 + RS2)                                                                      \
    MAKE(name##_P, facet_tile_pc(c, op) + IMM)                                                     \
    MAKE(name##_B, RS1)                                                                            \
    MAKE(name##_L, RS1 + c->r.vstride + IMM)                                                       \
    MAKE(name##_PL, facet_tile_pc(c, op) + IMM)

UNIT_STRIDE(VLOAD, VLD_V)
UNIT_STRIDE(VSTORE, VST_V)

/* ---- strided and indexed vectors ---- */

/* Lane i of an index vector, zero-extended. */
static uint32_t index_lane(const union facet_tile_vec *v, uint32_t size, uint32_t i)
{
    return size == 4 ? v->w[i] : size == 2 ? v->h[i] : v->b[i];
}

static struct facet_tile_lanes
strided(const struct facet_tile_core *c, const struct facet_tile_insn *op, uint32_t size)
{
    struct facet_tile_lanes lanes = {.count = 16 / size, .size = size, .align = size};

    for (uint32_t i = 0; i < lanes.count; i++) {
        lanes.address[i] = RS1 + i * RS2;
    }
    return lanes;
}

static struct facet_tile_lanes
indexed(const struct facet_tile_core *c, const struct facet_tile_insn *op, uint32_t size)
{
    struct facet_tile_lanes lanes = {.count = 16 / size, .size = size, .align = size};

    for (uint32_t i = 0; i < lanes.count; i++) {
        lanes.address[i] = RS1 + index_lane(&c->r.v[op->rs2], size, i) + IMM;
    }
    return lanes;
}

static const struct facet_tile_insn *gather(struct facet_tile_core *c,
                                            const struct facet_tile_insn *op,
                                            const struct facet_tile_lanes *lanes)
{
    bool misaligned;
    struct facet_tile_fault fault = facet_tile_check(c, lanes, FACET_TILE_LOAD, &misaligned);
    union facet_tile_vec value;

    if (fault.cause != 0) {
        return facet_tile_stop(c, op, fault.cause, fault.address);
    }
    c->r.status |= misaligned ? (uint32_t)FACET_STATUS_MISAL : 0;
    for (uint32_t i = 0; i < lanes->count; i++) {
        uint8_t *lane = value.b + i * lanes->size;

        facet_tile_tally_access(c, lanes->address[i], lanes->size, FACET_TILE_LOAD);
        facet_tile_read(c, lanes->address[i], lane, lanes->size);
        facet_tile_told_load(c, lanes->address[i], lane, lanes->size);
        if (facet_tile_watched(c)) {
            facet_tile_tell_memory(c, lanes->address[i], lane, lanes->size, false);
        }
    }
    c->r.v[op->rd] = value;
    c->perf[FACET_TILE_CLASS_LOAD]++;
    return op + 1;
}

static const struct facet_tile_insn *scatter(struct facet_tile_core *c,
                                             const struct facet_tile_insn *op,
                                             const struct facet_tile_lanes *lanes)
{
    bool misaligned;
    struct facet_tile_fault fault = facet_tile_check(c, lanes, FACET_TILE_STORE, &misaligned);

    if (fault.cause != 0) {
        return facet_tile_stop(c, op, fault.cause, fault.address);
    }
    c->r.status |= misaligned ? (uint32_t)FACET_STATUS_MISAL : 0;
    for (uint32_t i = 0; i < lanes->count; i++) {
        const uint8_t *lane = c->r.v[op->rs3].b + i * lanes->size;

        facet_tile_tally_access(c, lanes->address[i], lanes->size, FACET_TILE_STORE);
        facet_tile_write(c, lanes->address[i], lane, lanes->size);
        if (facet_tile_watched(c)) {
            facet_tile_tell_memory(c, lanes->address[i], lane, lanes->size, true);
        }
    }
    c->perf[FACET_TILE_CLASS_STORE]++;
    return op + 1;
}

#define LANES(name, how, addresses, size)                                                          \
    FACET_TILE_OP(name)                                                                            \
    {                                                                                              \
        struct facet_tile_lanes lanes = addresses(c, op, size);                                    \
                                                                                                   \
        return how(c, op, &lanes);                                                                 \
    }

LANES(VLD_S, gather, strided, 4)
LANES(VLD_S16, gather, strided, 2)
LANES(VLD_S8, gather, strided, 1)
LANES(VLDX, gather, indexed, 4)
LANES(VLDX16, gather, indexed, 2)
LANES(VLDX8, gather, indexed, 1)
LANES(VLDX_L, gather, indexed, 4)
LANES(VST_S, scatter, strided, 4)
LANES(VST_S16, scatter, strided, 2)
LANES(VST_S8, scatter, strided, 1)
LANES(VSTX, scatter, indexed, 4)
LANES(VSTX16, scatter, indexed, 2)
LANES(VSTX8, scatter, indexed, 1)
LANES(VSTX_L, scatter, indexed, 4)

/* ---- constant space: read from G ---- */

static const struct facet_tile_insn *
load_constant(struct facet_tile_core *c, const struct facet_tile_insn *op, uint32_t offset)
{
    const struct facet_tile_packet *p = &c->m->packet;
    uint32_t address = p->const_base + offset;
    union facet_tile_vec value;

    if (address % 16 != 0 && (c->r.config & FACET_CONFIG_ALIGN_TRAP) != 0) {
        return facet_tile_stop(c, op, 7, address);
    }
    if ((uint64_t)offset + 16 > p->const_size) {
        return facet_tile_stop(c, op, 4, address);
    }
    c->r.status |= address % 16 != 0 ? (uint32_t)FACET_STATUS_MISAL : 0;
    memcpy(&value, c->m->vram + (address - FACET_VRAM_BASE), sizeof value);
    facet_tile_told_load(c, address, &value, sizeof value);
    if (facet_tile_watched(c)) {
        facet_tile_tell_memory(c, address, &value, sizeof value, false);
    }
    c->r.v[op->rd] = value;
    c->perf[FACET_TILE_CLASS_LOAD]++;
    return op + 1;
}

FACET_TILE_OP(VLD_C)
{
    return load_constant(c, op, RS1 + 16 * (uint32_t)op->rs2);
}

FACET_TILE_OP(VLD_C_L)
{
    return load_constant(c, op, RS1 + IMM);
}
