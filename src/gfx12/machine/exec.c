/* One instruction of one lane: registers in, the pure function, registers out; and around the stack
 * instruction, when the program is a loop, what 11.4 has between the instructions (R-G12-69). */
#include "base/float.h"
#include "gfx12/machine/machine.h"
#include "gfx12/stack.h"
#include "num/f32.h"

/* ---- registers ---- */

/* A result: reported whether it changes or not. */
static void set(struct facet_gfx12_machine *m, uint32_t lane, uint32_t reg, uint32_t value)
{
    uint32_t *at = &m->core[lane].v[reg];
    uint32_t old = *at;

    *at = value;
    facet_port_reg(m->port, lane, reg, facet_value64(old), facet_value64(value));
}

/* Something handed back, or set by the loop: reported where it changes. */
static void change(struct facet_gfx12_machine *m, uint32_t lane, uint32_t reg, uint32_t value)
{
    if (m->core[lane].v[reg] != value) {
        set(m, lane, reg, value);
    }
}

static void change_floats(
    struct facet_gfx12_machine *m, uint32_t lane, uint32_t reg, const float *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        change(m, lane, reg + i, facet_float_bits(values[i]));
    }
}

static uint64_t pair_of(const uint32_t *v)
{
    return (uint64_t)v[1] << 32 | v[0];
}

static struct facet_gfx12_ray ray_of(const struct facet_gfx12_core *c,
                                     const struct facet_gfx12_vimage *in)
{
    struct facet_gfx12_ray ray = {.extent = facet_float_of(c->v[in->vaddr[1]]),
                                  .instance_mask = c->v[in->vaddr[1] + 1]};

    memcpy(ray.origin, &c->v[in->vaddr[2]], sizeof ray.origin);
    memcpy(ray.direction, &c->v[in->vaddr[3]], sizeof ray.direction);
    return ray;
}

static void change_ray(struct facet_gfx12_machine *m,
                       uint32_t lane,
                       const struct facet_gfx12_vimage *in,
                       const struct facet_gfx12_ray *ray)
{
    change_floats(m, lane, in->vaddr[2], ray->origin, 3);
    change_floats(m, lane, in->vaddr[3], ray->direction, 3);
}

/* ---- the intersect instructions ---- */

static void
tell_node(const struct facet_gfx12_machine *m, uint32_t lane, uint32_t node, uint64_t base)
{
    static const char *const kinds[] = {"no node", "primitive", "box", "instance"};
    struct facet_unit_event event = {.core = lane,
                                     .unit = "ray",
                                     .what = kinds[facet_gfx12_id_kind(node)],
                                     .count = 2,
                                     .values = {node, facet_gfx12_base_address(base)}};

    facet_port_unit(m->port, &event);
}

static void
intersect(struct facet_gfx12_machine *m, uint32_t lane, const struct facet_gfx12_vimage *in)
{
    struct facet_gfx12_core *c = &m->core[lane];
    struct facet_gfx12_ray ray = ray_of(c, in);
    uint64_t base = pair_of(&c->v[in->vaddr[0]]);
    uint32_t node = c->v[in->vaddr[4]], v[10];

    facet_gfx12_resource_unpack(&c->s[in->rsrc], &m->unit.resource);
    tell_node(m, lane, node, base);
    if (in->dual) {
        facet_gfx12_intersect_dual(&m->unit, base, node, c->v[in->vaddr[4] + 1], &ray, v);
    } else {
        facet_gfx12_intersect8(&m->unit, base, node, &ray, v);
    }
    for (unsigned i = 0; i < 10; i++) {
        set(m, lane, in->vdata + i, v[i]);
    }
    change_ray(m, lane, in, &ray);
    c->intersect_pc = c->pc;
}

/* ---- the stack instructions ---- */

static void stack(struct facet_gfx12_machine *m, uint32_t lane, const struct facet_gfx12_ds *in)
{
    struct facet_gfx12_core *c = &m->core[lane];
    const struct facet_gfx12_lds lds = {
        .dwords = (uint32_t *)(void *)m->lds.bytes, /* hosts are little-endian: machine.c */
        .count = FACET_GFX12_LDS_BYTES / 4,
        .stack_size = in->offset0 & 31,
        .primitive_range = (in->offset1 & 2) != 0,
    };
    struct facet_gfx12_touches touches = {.count = 0};
    uint32_t address = c->v[in->addr], result[2];

    facet_gfx12_stack_push8(
        &lds, in->pop2, &address, c->v[in->data0], &c->v[in->data1], result, &touches);
    for (unsigned i = 0; i < touches.count; i++) {
        const struct facet_gfx12_touch *t = &touches.at[i];
        uint64_t at = FACET_GFX12_LDS_BASE + 4u * t->dword;

        if (t->write) {
            facet_window_mark(&m->lds, 4u * t->dword, 4);
            facet_port_store(
                m->port, lane, 0, at, 4, facet_value64(t->value), facet_value64(t->written));
        } else {
            facet_port_memory(m->port, lane, 0, at, 4, false, facet_value64(t->value));
        }
    }
    for (unsigned i = 0; i < (in->pop2 ? 2u : 1u); i++) {
        set(m, lane, in->vdst + i, result[i]);
    }
    change(m, lane, in->addr, address);
}

/* ---- the loop around them ---- */

static struct facet_gfx12_trace_state
state_of(struct facet_gfx12_machine *m, uint32_t lane, const struct facet_gfx12_vimage *in)
{
    struct facet_gfx12_core *c = &m->core[lane];

    facet_gfx12_resource_unpack(&c->s[in->rsrc], &m->unit.resource);
    return (struct facet_gfx12_trace_state){
        .unit = &m->unit,
        .query = &c->query,
        .hit = &c->hit,
        .stats = &c->stats,
        .ray = ray_of(c, in),
        .tlas_base = c->tlas_base,
        .base = pair_of(&c->v[in->vaddr[0]]),
        .instance = c->instance,
        .user_data = c->user_data,
        .t_cur = c->t_cur,
    };
}

/* What the loop's variables are now, into the registers of both instructions. */
static void take_state(struct facet_gfx12_machine *m,
                       uint32_t lane,
                       const struct facet_gfx12_vimage *in,
                       const struct facet_gfx12_ds *ds,
                       const struct facet_gfx12_trace_state *t)
{
    struct facet_gfx12_core *c = &m->core[lane];

    c->instance = t->instance;
    c->user_data = t->user_data;
    c->t_cur = t->t_cur;
    change(m, lane, in->vaddr[0], (uint32_t)t->base);
    change(m, lane, in->vaddr[0] + 1u, (uint32_t)(t->base >> 32));
    change(m, lane, ds->data0, c->loop.last);
}

static uint64_t most_steps(const struct facet_gfx12_core *c)
{
    return c->query.max_steps != 0 ? c->query.max_steps : FACET_GFX12_DEFAULT_STEPS;
}

/* The stack instruction with the rules of 11.4 before and after it, for the result of `in`. False
 * when the lane's ray has ended. */
static bool stack_in_loop(struct facet_gfx12_machine *m,
                          uint32_t lane,
                          const struct facet_gfx12_vimage *in,
                          const struct facet_gfx12_ds *ds)
{
    struct facet_gfx12_core *c = &m->core[lane];
    struct facet_gfx12_trace_state t = state_of(m, lane, in);
    uint32_t v[10], node = c->v[in->vaddr[4]];

    memcpy(v, &c->v[in->vdata], sizeof v);
    c->loop.node = node;
    c->loop.last = c->v[ds->data0];
    facet_gfx12_loop_before_stack(&t, &c->loop, facet_gfx12_trace_count(&t, node, v), v);
    change(m, lane, in->vdata + 6u, v[6]);
    change(m, lane, in->vdata + 7u, v[7]);
    take_state(m, lane, in, ds, &t);

    stack(m, lane, ds);

    c->loop.stack = c->v[ds->addr];
    facet_gfx12_loop_after_stack(&t, &c->loop, c->v[ds->vdst]);
    take_state(m, lane, in, ds, &t);
    change(m, lane, ds->addr, c->loop.stack);
    change(m, lane, in->vaddr[4], c->loop.node);
    change_ray(m, lane, in, &t.ray);
    change(m, lane, in->vaddr[1], facet_float_bits(facet_gfx12_loop_extent(&t, &c->loop)));
    return facet_gfx12_loop_goes_on(&t, &c->loop);
}

/* Registers of the loop that differ from what they were. */
static void
tell_loop(const struct facet_gfx12_machine *m, uint32_t lane, const struct facet_gfx12_core *before)
{
    for (uint32_t reg = FACET_GFX12_REG_LOOP; reg < FACET_GFX12_REG_COUNT; reg++) {
        struct facet_value old = facet_gfx12_reg_get(before, reg);
        struct facet_value now = facet_gfx12_reg_get(&m->core[lane], reg);

        if (old.lo != now.lo) {
            facet_port_reg(m->port, lane, reg, old, now);
        }
    }
}

/* ---- a step ---- */

unsigned facet_gfx12_fetch(const struct facet_gfx12_machine *m,
                           uint64_t pc,
                           struct facet_gfx12_insn *out,
                           uint32_t *word,
                           bool *inside)
{
    uint64_t at = pc - FACET_GFX12_CODE_BASE;
    uint32_t words[3] = {0};
    unsigned count = 0;

    *inside = at < m->code_bytes && at % 4 == 0;
    while (*inside && count < 3 && at + 4u * count < m->code_bytes) {
        words[count] = facet_load_le32(m->code.bytes + at + (size_t)4 * count);
        count++;
    }
    *word = words[0];
    return facet_gfx12_insn_decode(words, count, out);
}

static void
fault(struct facet_gfx12_machine *m, uint32_t lane, enum facet_gfx12_cause cause, uint64_t value)
{
    uint64_t pc = m->core[lane].pc;
    struct facet_trap_event event = {
        .core = lane, .pc = pc, .handler = pc, .cause = cause, .value = value};

    m->fault.core = lane;
    m->fault.cause = cause;
    m->fault.value = value;
    facet_port_trap(m->port, &event);
}

/* The intersect instruction whose result the stack instruction is about, when 11.4 is. */
static bool loop_operands(const struct facet_gfx12_machine *m,
                          const struct facet_gfx12_core *c,
                          const struct facet_gfx12_insn *in,
                          struct facet_gfx12_insn *intersect)
{
    uint32_t word;
    bool inside;

    return m->loop && in->is_ds && !in->ds.pop2 &&
           facet_gfx12_fetch(m, c->intersect_pc, intersect, &word, &inside) != 0 &&
           !intersect->is_ds && !intersect->image.dual;
}

/* False when the lane's ray has ended. `last`: the program has no instruction behind this one. */
static bool
do_insn(struct facet_gfx12_machine *m, uint32_t lane, const struct facet_gfx12_insn *in, bool last)
{
    struct facet_gfx12_core *c = &m->core[lane];
    struct facet_gfx12_insn image;
    bool goes_on = true;

    if (!in->is_ds) {
        intersect(m, lane, &in->image);
    } else if (loop_operands(m, c, in, &image)) {
        return stack_in_loop(m, lane, &image.image, &in->ds);
    } else {
        stack(m, lane, &in->ds);
        goes_on = !m->loop || c->v[in->ds.vdst] < FACET_GFX12_FIRST_SENTINEL;
    }
    if (m->loop && last && goes_on) {
        c->stats.steps++; /* a round that 11.4 does not count (R-G12-70) */
    }
    return goes_on;
}

void facet_gfx12_step(struct facet_gfx12_machine *m, uint32_t lane)
{
    struct facet_gfx12_core *c = &m->core[lane], before;
    struct facet_gfx12_insn in;
    uint64_t next;
    uint32_t word;
    bool inside, goes_on, last, listens = facet_port_listens(m->port);
    unsigned length = facet_gfx12_fetch(m, c->pc, &in, &word, &inside);

    if (length == 0) {
        fault(m, lane, inside ? FACET_GFX12_ILLEGAL : FACET_GFX12_NO_CODE, inside ? word : c->pc);
        return;
    }
    if (listens) {
        before = *c;
    }
    m->fetching = lane;
    next = c->pc + 4u * length;
    last = next == FACET_GFX12_CODE_BASE + m->code_bytes;
    goes_on = do_insn(m, lane, &in, last);
    if (listens) {
        tell_loop(m, lane, &before);
    }
    if (m->loop && goes_on && c->stats.steps >= most_steps(c)) {
        fault(m, lane, FACET_GFX12_ENDLESS, c->loop.node);
        return;
    }
    if (last && m->loop && goes_on) {
        next = FACET_GFX12_CODE_BASE;
    } else if (last) {
        goes_on = false;
    }
    c->retired++;
    facet_port_retire(m->port, lane, c->pc, next, word, 4 * length);
    c->pc = next;
    if (!goes_on) {
        c->state = FACET_GFX12_LANE_ENDED;
    }
}

void facet_gfx12_begin(struct facet_gfx12_machine *m, uint32_t lane)
{
    struct facet_gfx12_core *c = &m->core[lane];
    struct facet_gfx12_query query = c->query;
    struct facet_gfx12_trace_state t;

    *c = (struct facet_gfx12_core){.query = query,
                                   .pc = FACET_GFX12_CODE_BASE,
                                   .state = m->loop && query.root >= FACET_GFX12_FIRST_SENTINEL
                                                ? FACET_GFX12_LANE_ENDED
                                                : FACET_GFX12_LANE_RUNS,
                                   .loop = facet_gfx12_loop_start(query.root, lane)};
    facet_gfx12_trace_init(&t, &m->unit, &c->query, &c->hit, &c->stats);
    c->tlas_base = t.tlas_base;
    c->instance = t.instance;
    c->user_data = t.user_data;
    c->t_cur = t.t_cur;
    memcpy(&c->s[FACET_GFX12_S_RESOURCE], m->config.resource, sizeof m->config.resource);
    c->v[FACET_GFX12_V_BASE] = (uint32_t)t.base;
    c->v[FACET_GFX12_V_BASE + 1] = (uint32_t)(t.base >> 32);
    c->v[FACET_GFX12_V_EXTENT] = facet_float_bits(t.t_cur);
    c->v[FACET_GFX12_V_EXTENT + 1] = query.instance_mask;
    memcpy(&c->v[FACET_GFX12_V_ORIGIN], query.origin, sizeof query.origin);
    memcpy(&c->v[FACET_GFX12_V_DIRECTION], query.direction, sizeof query.direction);
    c->v[FACET_GFX12_V_NODE] = c->loop.node;
    c->v[FACET_GFX12_V_LAST] = c->loop.last;
    c->v[FACET_GFX12_V_STACK] = c->loop.stack;
}

void facet_gfx12_settle(struct facet_gfx12_machine *m, uint32_t from)
{
    m->next = FACET_NONE;
    for (uint32_t i = 0; i < m->config.lanes && m->next == FACET_NONE; i++) {
        uint32_t lane = (from + i) % m->config.lanes;

        if (m->core[lane].state == FACET_GFX12_LANE_RUNS) {
            m->next = lane;
        }
    }
}
