/* Windows of GFX: where slot k of lane i lives (gfx-semantics.md 3, R-GFX-53). */
#include "xphmg/gfx/gfx.h"

#include "xphmg/hart/memory.h"

static bool cfg_bit(const struct facet_xphmg_gfx_run *r, uint64_t bit)
{
    return (FACET_XPHMG_GFX_CSR(r->csr, CFG) & bit) != 0;
}

/* Windows are filled in where they stay: copies of a struct that was just written field by field
 * wait for its stores. */
static void place_rows(const struct facet_xphmg_gfx_run *r, struct facet_xphmg_gfx_window *w)
{
    w->step = (int16_t)(w->inc == 0 ? 1 : r->vl * w->inc);
    w->address = w->memory ? r->h->x[w->base] : 0;
    w->words = NULL;
    w->word_count = 0;
    if (w->memory && w->address % 4 == 0 && r->port.container.bytes == 4 &&
        r->port.container.nat == 32) {
        w->words = facet_elements_ram(&r->port, w->address, 4);
        w->word_count = (r->h->ram.span - (w->address - r->h->ram.base)) / 4;
    }
}

/* The window of an operand field. */
static void place_window(const struct facet_xphmg_gfx_run *r,
                         enum facet_window_name name,
                         unsigned field,
                         bool freg,
                         bool memory,
                         struct facet_xphmg_gfx_window *w)
{
    uint64_t csr = name == FACET_WINDOW_A ? r->h->units.rsv.svsrca : r->h->units.rsv.svdst;
    bool given = r->lanes.rsv && (csr & FACET_SVDST_V) != 0;
    struct facet_reg_window regs = facet_lanes_window(r->h, &r->lanes, name, field, !freg);

    w->none = !given && field == 0 && !freg && !memory;
    w->memory = memory;
    w->freg = freg;
    w->base = regs.base;
    w->inc = regs.step;
    place_rows(r, w);
}

static void place_window_b(struct facet_xphmg_gfx_run *r, unsigned rows, bool freg, bool memory)
{
    struct facet_xphmg_gfx_window *w = &r->b;

    w->none = false;
    w->memory = memory;
    w->freg = freg;
    if (r->lanes.rsv && (r->h->units.rsv.svsrcb & FACET_SVSRCB_V) != 0) {
        struct facet_reg_window regs =
            facet_lanes_window(r->h, &r->lanes, FACET_WINDOW_B, 0, false);

        w->base = regs.base;
        w->inc = regs.step;
    } else {
        w->base = (uint8_t)((r->a.base + (int)rows * r->a.step) & 31);
        w->inc = 1;
    }
    place_rows(r, w);
}

/* Does the instruction look at window B? */
static bool reads_b(const struct facet_xphmg_gfx_run *r)
{
    switch (r->in->row) {
    case FACET_XPHMG_GFX_SAMPLE:
    case FACET_XPHMG_GFX_SAMPLE_GATH:
        return r->op.sample.desc;
    case FACET_XPHMG_GFX_INTERP:
        return r->op.interp.bias;
    case FACET_XPHMG_GFX_SHADE:
        return r->op.shade.light;
    case FACET_XPHMG_GFX_CULL_PLANE:
        return r->plane_given;
    default:
        return r->in->row == FACET_XPHMG_GFX_CULL_COMPACT;
    }
}

void facet_xphmg_gfx_windows(struct facet_xphmg_gfx_run *r, bool pointer, unsigned rows)
{
    bool freg = cfg_bit(r, FACET_GFXCFG_FREG);

    place_window(r,
                 FACET_WINDOW_A,
                 r->in->rs1,
                 freg && !pointer,
                 cfg_bit(r, FACET_GFXCFG_AMEM) && !pointer,
                 &r->a);
    if (reads_b(r)) {
        place_window_b(r, rows, freg, cfg_bit(r, FACET_GFXCFG_BMEM));
    }
    place_window(r, FACET_WINDOW_D, r->in->rd, freg, cfg_bit(r, FACET_GFXCFG_DMEM), &r->r);
}

bool facet_xphmg_gfx_lacks_f(const struct facet_xphmg_gfx_run *r, bool a, bool b, bool out)
{
    return cfg_bit(r, FACET_GFXCFG_FREG) && r->h->fs == FACET_FS_OFF &&
           ((a && !cfg_bit(r, FACET_GFXCFG_AMEM)) || (b && !cfg_bit(r, FACET_GFXCFG_BMEM)) ||
            (out && !cfg_bit(r, FACET_GFXCFG_DMEM)));
}

static unsigned register_of(const struct facet_xphmg_gfx_window *w, unsigned lane, unsigned row)
{
    return (unsigned)(w->base + (int)lane * w->inc + (int)row * w->step) & 31;
}

/* ---- reading -----------------------------------------------------------------------------------
 */

struct facet_trap facet_xphmg_gfx_read(const struct facet_xphmg_gfx_run *r,
                                       const struct facet_xphmg_gfx_window *w,
                                       unsigned lane,
                                       unsigned first,
                                       unsigned count,
                                       uint32_t *elements)
{
    const struct facet_container *c = &r->port.container;
    struct facet_trap trap = FACET_RETIRED;

    if (w->words != NULL && ((uint64_t)first + count) * r->vl <= w->word_count) {
        for (unsigned k = 0; k < count; k++) {
            elements[k] = facet_load_le32(w->words + 4 * ((first + k) * (size_t)r->vl + lane));
        }
        return trap;
    }
    for (unsigned k = first; k < first + count && !trap.taken; k++) {
        if (w->memory) {
            trap = facet_elements_read(
                &r->port, w->address, (uint64_t)k * r->vl + lane, 1, &elements[k - first]);
        } else if (w->none) {
            elements[k - first] = 0;
        } else {
            unsigned reg = register_of(w, lane, k >> c->pack);
            uint64_t bits = w->freg ? r->h->f[reg] : r->h->x[reg];

            elements[k - first] = facet_container_get(
                c, facet_container_from_reg(c, bits), facet_container_slot(c, k));
        }
    }
    return trap;
}

bool facet_xphmg_gfx_slots(const struct facet_xphmg_gfx_run *r,
                           const struct facet_xphmg_gfx_window *w,
                           unsigned count,
                           struct facet_gfx_slots *slots)
{
    *slots = (struct facet_gfx_slots){w->words, (size_t)4 * r->vl};
    return w->words != NULL && (uint64_t)count * r->vl <= w->word_count;
}

struct facet_trap facet_xphmg_gfx_read_x(const struct facet_xphmg_gfx_run *r,
                                         const struct facet_xphmg_gfx_window *w,
                                         unsigned lane,
                                         unsigned j,
                                         unsigned row,
                                         unsigned elements,
                                         uint64_t *value)
{
    if (w->memory) {
        uint64_t bytes =
            facet_container_array_bytes(&r->port.container, (uint64_t)elements * r->vl);
        uint64_t start = (w->address + bytes + 7) & ~UINT64_C(7);

        return facet_elements_load(&r->port, start + ((uint64_t)j * r->vl + lane) * 8, 8, value);
    }
    *value = w->none ? 0 : r->h->x[register_of(w, lane, row)];
    return FACET_RETIRED;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

static struct facet_element_port port_of(const struct facet_xphmg_gfx_run *r, unsigned lane)
{
    struct facet_element_port port = r->port;

    port.actor = r->actor[lane];
    return port;
}

struct facet_trap facet_xphmg_gfx_probe(const struct facet_xphmg_gfx_run *r, unsigned lane)
{
    struct facet_element_port port = port_of(r, lane);
    struct facet_trap trap = FACET_RETIRED;

    for (unsigned k = 0; k < r->slots && r->r.memory && !trap.taken; k++) {
        trap =
            facet_elements_probe(&port, r->r.address, (uint64_t)(r->first + k) * r->vl + lane, 1);
    }
    return trap;
}

static void
write_register(const struct facet_xphmg_gfx_run *r, unsigned lane, unsigned k, uint32_t bits)
{
    const struct facet_container *c = &r->port.container;
    unsigned reg = register_of(&r->r, lane, k >> c->pack);
    uint64_t old = facet_container_from_reg(c, r->r.freg ? r->h->f[reg] : r->h->x[reg]);
    uint64_t now = facet_container_put(c, old, facet_container_slot(c, k), bits);

    if (r->r.freg) {
        facet_hart_set_f(r->h, reg, facet_container_to_f(c, now));
    } else {
        facet_hart_set_x(r->h, reg, facet_container_to_x(c, now));
    }
}

struct facet_trap facet_xphmg_gfx_write(const struct facet_xphmg_gfx_run *r, unsigned lane)
{
    struct facet_element_port port = port_of(r, lane);
    struct facet_trap trap = FACET_RETIRED;

    for (unsigned k = 0; k < r->slots && !r->r.none && !trap.taken; k++) {
        uint32_t bits = r->kept.out[lane][k];

        if (r->r.memory) {
            trap = facet_elements_write(
                &port, r->r.address, (uint64_t)(r->first + k) * r->vl + lane, 1, &bits);
        } else {
            write_register(r, lane, r->first + k, bits);
        }
    }
    return trap;
}

void facet_xphmg_gfx_zero(const struct facet_xphmg_gfx_run *r, unsigned lane)
{
    const struct facet_container *c = &r->port.container;
    unsigned row = r->first >> c->pack, last = (r->first + r->slots - 1u) >> c->pack;

    for (; r->slots != 0 && row <= last && !r->r.memory && !r->r.none; row++) {
        unsigned reg = register_of(&r->r, lane, row);

        if (r->r.freg) {
            facet_hart_set_f(r->h, reg, facet_container_to_f(c, 0));
        } else {
            facet_hart_set_x(r->h, reg, 0);
        }
    }
}
