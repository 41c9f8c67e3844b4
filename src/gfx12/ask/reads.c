/* See reads.h. */
#include "gfx12/ask/reads.h"

#include "base/float.h"
#include "gfx12/insn.h"

#include <stdio.h>
#include <string.h>

/* The registers of the list so far. */
struct reads {
    const facet_machine *machine;
    uint32_t lane;
    struct facet_gfx12_read *out;
    uint32_t count;
};

static void add(struct reads *r, uint32_t reg, const char *what, bool is_float)
{
    struct facet_gfx12_read *read = &r->out[r->count];
    struct facet_value value = {0, 0};

    if (r->count == FACET_GFX12_READS) {
        return;
    }
    r->count++;
    read->reg = reg;
    (void)facet_machine_reg_read(r->machine, r->lane, reg, &value, NULL);
    if (is_float) {
        (void)snprintf(read->what,
                       sizeof read->what,
                       "%s, %.9g",
                       what,
                       (double)facet_float_of((uint32_t)value.lo));
    } else {
        (void)snprintf(read->what, sizeof read->what, "%s", what);
    }
}

static void add_node(struct reads *r, uint32_t reg)
{
    static const char *const kinds[] = {
        "node: none", "node: primitives", "node: box", "node: instance"};
    struct facet_value value = {0, 0};

    (void)facet_machine_reg_read(r->machine, r->lane, reg, &value, NULL);
    add(r, reg, kinds[facet_gfx12_id_kind((uint32_t)value.lo)], false);
}

static void add_ray(struct reads *r, const struct facet_gfx12_vimage *in)
{
    static const char *const origin[] = {"origin x", "origin y", "origin z"};
    static const char *const direction[] = {"direction x", "direction y", "direction z"};

    add_node(r, in->vaddr[4]);
    if (in->dual) {
        add_node(r, in->vaddr[4] + 1u);
    }
    add(r, in->vaddr[0], "base, low half", false);
    add(r, in->vaddr[0] + 1u, "base, high half", false);
    add(r, in->vaddr[1], "extent", true);
    add(r, in->vaddr[1] + 1u, "mask", false);
    for (unsigned i = 0; i < 3; i++) {
        add(r, in->vaddr[2] + i, origin[i], true);
    }
    for (unsigned i = 0; i < 3; i++) {
        add(r, in->vaddr[3] + i, direction[i], true);
    }
}

static void add_stack(struct reads *r, const struct facet_gfx12_ds *in)
{
    char what[16];

    add(r, in->addr, "state of the stack", false);
    add(r, in->data0, "last node", false);
    for (unsigned i = 0; i < 8; i++) {
        (void)snprintf(what, sizeof what, "result %u", i);
        add(r, in->data1 + i, what, false);
    }
}

uint32_t facet_gfx12_reads(const facet_machine *machine,
                           uint32_t lane,
                           uint64_t pc,
                           struct facet_gfx12_read out[FACET_GFX12_READS])
{
    struct reads r = {machine, lane, out, 0};
    struct facet_gfx12_insn in;
    uint32_t words[3];
    char text[160] = "";
    unsigned count;

    (void)facet_machine_disassemble(machine, lane, pc, text, sizeof text, NULL);
    count = facet_gfx12_insn_parse(text, words, NULL);
    if (count == 0 || facet_gfx12_insn_decode(words, count, &in) == 0) {
        return 0;
    }
    if (in.is_ds) {
        add_stack(&r, &in.ds);
    } else {
        add_ray(&r, &in.image);
    }
    return r.count;
}
