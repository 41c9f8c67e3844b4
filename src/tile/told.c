/* See told.h. */
#include "tile/told.h"

#include "base/bits.h"
#include "isa/isa.h"
#include "tile/system.h"

#include <string.h>

/* ---- taking ---- */

bool facet_tile_told_any(const struct facet_tile_machine *m)
{
    uint32_t count = 0;

    for (unsigned i = 0; i < FACET_TILE_CORES; i++) {
        count += m->core[i].told.count;
    }
    return count != 0;
}

/* The oldest value for a register (csr) or for a load, at `where`. */
static bool
take(struct facet_tile_told *told, bool csr, uint32_t where, struct facet_tile_told_value *out)
{
    for (uint32_t i = 0; i < told->count; i++) {
        const struct facet_tile_told_value *g = &told->given[i];

        if (g->csr == csr && where >= g->first && where <= g->last) {
            *out = *g;
            told->count--;
            memmove(
                &told->given[i], &told->given[i + 1], (told->count - i) * sizeof told->given[0]);
            return true;
        }
    }
    return false;
}

void facet_tile_told_take_load(struct facet_tile_core *c,
                               uint32_t address,
                               void *out,
                               uint32_t size)
{
    struct facet_tile_told_value given;
    uint8_t bytes[16];

    if (take(&c->told, false, address, &given)) {
        facet_store_le64(bytes, given.value.lo);
        facet_store_le64(bytes + 8, given.value.hi);
        memcpy(out, bytes, size);
    }
}

void facet_tile_told_take_csr(struct facet_tile_core *c, uint32_t number, uint32_t *value)
{
    struct facet_tile_told_value given;

    if (take(&c->told, true, number, &given)) {
        *value = (uint32_t)given.value.lo;
    }
}

void facet_tile_told_visit(struct facet_tile_told *told, struct facet_state_io *io)
{
    facet_state_tag(io, "told");
    facet_state_u32(io, &told->count);
    facet_state_require(io, told->count <= FACET_TILE_GIVEN_MAX, "values for loads and reads");
    for (uint32_t i = 0; i < told->count && !io->failed; i++) {
        struct facet_tile_told_value *g = &told->given[i];

        facet_state_bool(io, &g->csr);
        facet_state_u32(io, &g->first);
        facet_state_u32(io, &g->last);
        facet_state_u64(io, &g->value.lo);
        facet_state_u64(io, &g->value.hi);
    }
}

/* ---- facet/tile.h ---- */

/* The core; NULL with the reason when the machine has none such. */
static struct facet_tile_core *
core_of(facet_machine *machine, uint32_t core, struct facet_error *err)
{
    struct facet_tile_machine *m = facet_tile_self(machine, err);

    if (m != NULL && core >= FACET_TILE_CORES) {
        (void)facet_fail(err,
                         FACET_ERR_USAGE,
                         core,
                         "there is no core %u, expected 0..%d",
                         core,
                         FACET_TILE_CORES - 1);
        return NULL;
    }
    return m != NULL ? &m->core[core] : NULL;
}

static enum facet_status
give(struct facet_tile_core *c, const struct facet_tile_told_value *value, struct facet_error *err)
{
    if (c->told.count == FACET_TILE_GIVEN_MAX) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          c->id,
                          "core %u has %d values that nothing has read yet",
                          c->id,
                          FACET_TILE_GIVEN_MAX);
    }
    c->told.given[c->told.count++] = *value;
    return FACET_OK;
}

enum facet_status facet_tile_next_load(facet_machine *machine,
                                       uint32_t core,
                                       uint32_t first,
                                       uint32_t last,
                                       struct facet_value value,
                                       struct facet_error *err)
{
    struct facet_tile_told_value given = {.first = first, .last = last, .value = value};
    struct facet_tile_core *c = core_of(machine, core, err);

    if (c == NULL) {
        return FACET_ERR_USAGE;
    }
    if (first > last) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          first,
                          "addresses 0x%x..0x%x, expected the lower one first",
                          first,
                          last);
    }
    return give(c, &given, err);
}

enum facet_status facet_tile_next_csr(
    facet_machine *machine, uint32_t core, uint32_t number, uint32_t value, struct facet_error *err)
{
    struct facet_tile_told_value given = {
        .csr = true, .first = number, .last = number, .value = {.lo = value}};
    struct facet_tile_core *c = core_of(machine, core, err);

    if (c == NULL) {
        return FACET_ERR_USAGE;
    }
    if (facet_csr_at(FACET_ISA_TILE, number) == NULL) {
        return facet_fail(err, FACET_ERR_USAGE, number, "there is no CSR 0x%x", number);
    }
    return give(c, &given, err);
}

enum facet_status facet_tile_given(
    facet_machine *machine, uint32_t core, bool drop, uint32_t *left, struct facet_error *err)
{
    struct facet_tile_core *c = core_of(machine, core, err);

    if (left != NULL) {
        *left = c != NULL ? c->told.count : 0;
    }
    if (c == NULL) {
        return FACET_ERR_USAGE;
    }
    c->told.count = drop ? 0 : c->told.count;
    return FACET_OK;
}

enum facet_status
facet_tile_set_turn(facet_machine *machine, uint32_t core, struct facet_error *err)
{
    struct facet_tile_core *c = core_of(machine, core, err);
    const char *why;

    if (c == NULL) {
        return FACET_ERR_USAGE;
    }
    why = facet_tile_turn(c->m, core);
    return why == NULL ? FACET_OK
                       : facet_fail(err, FACET_ERR_USAGE, core, "core %u: %s", core, why);
}
