/* The gfx12 machine: a wave of lanes over one memory. Its face is machine.c, an instruction is
 * exec.c, the tables of registers are registers.c. Public side: the end of facet/gfx12.h. */
#ifndef FACET_GFX12_MACHINE_H
#define FACET_GFX12_MACHINE_H

#include "gfx12/insn.h"
#include "gfx12/loop.h"
#include "machine/ops.h"

enum {
    FACET_GFX12_V_COUNT = 256,
    FACET_GFX12_S_COUNT = 108,
    FACET_GFX12_REG_S = FACET_GFX12_V_COUNT, /* table indexes */
    FACET_GFX12_REG_PC = FACET_GFX12_REG_S + FACET_GFX12_S_COUNT,
    FACET_GFX12_REG_LOOP, /* from here on: what the rules of 11.4 change */
    FACET_GFX12_REG_COUNT = FACET_GFX12_REG_LOOP + 30,
};

struct facet_gfx12_core {
    uint32_t v[FACET_GFX12_V_COUNT];
    uint32_t s[FACET_GFX12_S_COUNT];
    uint64_t pc;
    uint8_t state; /* enum facet_gfx12_lane_state */
    uint64_t retired;
    /* The loop around the instructions. node, last and stack are in v registers. */
    uint64_t intersect_pc; /* of the intersect instruction executed last, 0: none */
    struct facet_gfx12_loop loop;
    struct facet_gfx12_query query; /* without callbacks */
    uint64_t tlas_base;
    uint32_t instance, user_data;
    float t_cur;
    struct facet_gfx12_hit hit;
    struct facet_gfx12_stats stats;
};

struct facet_gfx12_machine {
    struct facet_gfx12_config config; /* defaults filled in */
    struct facet_port *port;
    facet_mem *mem;
    struct facet_mem_window lds, code;
    struct facet_gfx12_unit unit;
    struct facet_core_desc desc[FACET_GFX12_LANES];
    struct facet_gfx12_core core[FACET_GFX12_LANES];
    uint32_t code_bytes; /* of the program */
    bool loop;
    uint32_t next; /* lane of the next step, FACET_NONE */
    struct facet_gfx12_fault {
        uint32_t core, cause; /* cause 0: none */
        uint64_t value;
    } fault;
    uint32_t fetching;              /* the lane that reads the image right now */
    struct facet_gfx12_core *draft; /* of a snapshot that is being loaded */
};

extern const struct facet_machine_ops facet_gfx12_ops;

/* The table of a lane, FACET_GFX12_REG_COUNT rows. */
const struct facet_reg_desc *facet_gfx12_registers(void);
struct facet_value facet_gfx12_reg_get(const struct facet_gfx12_core *c, uint32_t reg);
void facet_gfx12_reg_put(struct facet_gfx12_core *c, uint32_t reg, struct facet_value value);

/* The instruction in the code at an address: its dwords, 0 when there is none; *word is the first
 * dword, and *inside says whether pc is one of the program. */
unsigned facet_gfx12_fetch(const struct facet_gfx12_machine *m,
                           uint64_t pc,
                           struct facet_gfx12_insn *out,
                           uint32_t *word,
                           bool *inside);
/* The beginning of the lane's ray: registers as facet_gfx12_start says. */
void facet_gfx12_begin(struct facet_gfx12_machine *m, uint32_t lane);
/* One instruction of the lane, or its fault. */
void facet_gfx12_step(struct facet_gfx12_machine *m, uint32_t lane);
/* After a lane has started or ended: whose turn it is, the lane `from` first. */
void facet_gfx12_settle(struct facet_gfx12_machine *m, uint32_t from);

#endif
