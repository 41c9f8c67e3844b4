/* Names and places of a lane's registers. Names of v and s registers are made by the preprocessor;
 * the variables of the loop are one row each. */
#include "gfx12/machine/machine.h"

#include <string.h>

#define REG(NAME, GROUP, TYPE, WIDTH)                                                              \
    {                                                                                              \
        NAME, NULL, GROUP, WIDTH, TYPE, false                                                      \
    }
#define V(N) REG("v" #N, "v", FACET_REG_INTEGER, 32)
#define S(N) REG("s" #N, "s", FACET_REG_INTEGER, 32)
#define TEN(R, T)                                                                                  \
    R(T##0), R(T##1), R(T##2), R(T##3), R(T##4), R(T##5), R(T##6), R(T##7), R(T##8), R(T##9)
#define ONES(R) R(0), R(1), R(2), R(3), R(4), R(5), R(6), R(7), R(8), R(9)
#define HUNDRED(R, H)                                                                              \
    TEN(R, H##0), TEN(R, H##1), TEN(R, H##2), TEN(R, H##3), TEN(R, H##4), TEN(R, H##5),            \
        TEN(R, H##6), TEN(R, H##7), TEN(R, H##8), TEN(R, H##9)
#define BELOW_100(R)                                                                               \
    ONES(R), TEN(R, 1), TEN(R, 2), TEN(R, 3), TEN(R, 4), TEN(R, 5), TEN(R, 6), TEN(R, 7),          \
        TEN(R, 8), TEN(R, 9)

/* The variables of 11.4 and 11.1 under their names: name, group, type, bits, member of a core. */
#define LOOP_REGISTERS(X)                                                                          \
    X("t_cur", "loop", FACET_REG_FLOAT, 32, t_cur)                                                 \
    X("t_min", "loop", FACET_REG_FLOAT, 32, query.t_min)                                           \
    X("t_max", "loop", FACET_REG_FLOAT, 32, query.t_max)                                           \
    X("ray_flags", "loop", FACET_REG_INTEGER, 32, query.api_flags)                                 \
    X("tlas_base", "loop", FACET_REG_INTEGER, 64, tlas_base)                                       \
    X("tlas_ox", "loop", FACET_REG_FLOAT, 32, query.origin[0])                                     \
    X("tlas_oy", "loop", FACET_REG_FLOAT, 32, query.origin[1])                                     \
    X("tlas_oz", "loop", FACET_REG_FLOAT, 32, query.origin[2])                                     \
    X("tlas_dx", "loop", FACET_REG_FLOAT, 32, query.direction[0])                                  \
    X("tlas_dy", "loop", FACET_REG_FLOAT, 32, query.direction[1])                                  \
    X("tlas_dz", "loop", FACET_REG_FLOAT, 32, query.direction[2])                                  \
    X("inst", "loop", FACET_REG_INTEGER, 32, loop.inst)                                            \
    X("inst_root", "loop", FACET_REG_INTEGER, 32, loop.inst_root)                                  \
    X("parent", "loop", FACET_REG_INTEGER, 32, loop.parent)                                        \
    X("instance", "loop", FACET_REG_INTEGER, 32, instance)                                         \
    X("user_data", "loop", FACET_REG_INTEGER, 32, user_data)                                       \
    X("intersect_pc", "loop", FACET_REG_INTEGER, 64, intersect_pc)                                 \
    X("hit", "hit", FACET_REG_INTEGER, 1, hit.found)                                               \
    X("hit_t", "hit", FACET_REG_FLOAT, 32, hit.t)                                                  \
    X("hit_u", "hit", FACET_REG_FLOAT, 32, hit.u)                                                  \
    X("hit_v", "hit", FACET_REG_FLOAT, 32, hit.v)                                                  \
    X("hit_primitive", "hit", FACET_REG_INTEGER, 32, hit.primitive_index)                          \
    X("hit_geometry", "hit", FACET_REG_INTEGER, 32, hit.geometry_index)                            \
    X("hit_node", "hit", FACET_REG_INTEGER, 32, hit.node)                                          \
    X("hit_base", "hit", FACET_REG_INTEGER, 64, hit.base)                                          \
    X("hit_instance", "hit", FACET_REG_INTEGER, 32, hit.instance)                                  \
    X("hit_user_data", "hit", FACET_REG_INTEGER, 32, hit.instance_user_data)                       \
    X("hit_procedural", "hit", FACET_REG_INTEGER, 1, hit.procedural)                               \
    X("hit_opaque", "hit", FACET_REG_INTEGER, 1, hit.opaque)                                       \
    X("hit_backface", "hit", FACET_REG_INTEGER, 1, hit.backface)

#define ROW(NAME, GROUP, TYPE, WIDTH, MEMBER) REG(NAME, GROUP, TYPE, WIDTH),
#define PLACE(NAME, GROUP, TYPE, WIDTH, MEMBER)                                                    \
    {offsetof(struct facet_gfx12_core, MEMBER), sizeof((struct facet_gfx12_core *)0)->MEMBER},

static const struct facet_reg_desc registers[] = {BELOW_100(V),
                                                  HUNDRED(V, 1),
                                                  TEN(V, 20),
                                                  TEN(V, 21),
                                                  TEN(V, 22),
                                                  TEN(V, 23),
                                                  TEN(V, 24),
                                                  V(250),
                                                  V(251),
                                                  V(252),
                                                  V(253),
                                                  V(254),
                                                  V(255),
                                                  BELOW_100(S),
                                                  S(100),
                                                  S(101),
                                                  S(102),
                                                  S(103),
                                                  S(104),
                                                  S(105),
                                                  S(106),
                                                  S(107),
                                                  REG("pc", "pc", FACET_REG_CODE, 64),
                                                  LOOP_REGISTERS(ROW)};
_Static_assert(sizeof registers / sizeof registers[0] == FACET_GFX12_REG_COUNT, "one row each");

static const struct {
    size_t offset, size;
} places[] = {LOOP_REGISTERS(PLACE)};

const struct facet_reg_desc *facet_gfx12_registers(void)
{
    return registers;
}

/* Where a register is, and its bytes: 1, 4 or 8. */
static uint8_t *place(const struct facet_gfx12_core *c, uint32_t reg, size_t *size)
{
    size_t offset = 0;

    *size = 4;
    if (reg < FACET_GFX12_REG_S) {
        offset = offsetof(struct facet_gfx12_core, v) + 4u * reg;
    } else if (reg < FACET_GFX12_REG_PC) {
        offset = offsetof(struct facet_gfx12_core, s) + 4u * (reg - FACET_GFX12_REG_S);
    } else if (reg == FACET_GFX12_REG_PC) {
        offset = offsetof(struct facet_gfx12_core, pc);
        *size = 8;
    } else {
        offset = places[reg - FACET_GFX12_REG_LOOP].offset;
        *size = places[reg - FACET_GFX12_REG_LOOP].size;
    }
    return (uint8_t *)(uintptr_t)c + offset;
}

struct facet_value facet_gfx12_reg_get(const struct facet_gfx12_core *c, uint32_t reg)
{
    size_t size;
    const uint8_t *at = place(c, reg, &size);
    uint64_t wide;
    uint32_t word;

    if (size == 1) {
        return facet_value64(*at);
    }
    if (size == 4) {
        memcpy(&word, at, sizeof word);
        return facet_value64(word);
    }
    memcpy(&wide, at, sizeof wide);
    return facet_value64(wide);
}

void facet_gfx12_reg_put(struct facet_gfx12_core *c, uint32_t reg, struct facet_value value)
{
    size_t size;
    uint8_t *at = place(c, reg, &size);
    uint32_t word = (uint32_t)value.lo;

    if (size == 1) {
        *at = value.lo & 1;
    } else if (size == 4) {
        memcpy(at, &word, sizeof word);
    } else {
        memcpy(at, &value.lo, sizeof value.lo);
    }
}
