/* The control and status registers of a core (tile-semantics.md 12). spec/tile.csr.tsv says where
 * each one lives and what it can hold (contract/tile_csr_rules.h); one table binds the rows to the
 * members of a core and of the machine, and to the functions of those that are more than storage. A
 * row whose function is missing does not link. */
#include "contract/tile_csr_rules.h"
#include "isa/isa.h"
#include "tile/system.h"

#include <stddef.h>

typedef uint32_t read_fn(const struct facet_tile_core *c, uint32_t number);
typedef void write_fn(struct facet_tile_core *c, uint32_t number, uint32_t value);

/* ---- registers that are more than storage ---- */

static uint32_t read_CONFIG(const struct facet_tile_core *c, uint32_t number)
{
    (void)number;
    return c->r.config;
}

static void write_CONFIG(struct facet_tile_core *c, uint32_t number, uint32_t value)
{
    (void)number;
    facet_tile_set_config(c, value);
}

/* The sampler table is memory (tile-semantics.md 3). */
static uint32_t read_SAMPLER(const struct facet_tile_core *c, uint32_t number)
{
    return facet_load_le32(c->m->sampler + 4 * (number - FACET_CSR_SAMPLER_N__BASE));
}

static void write_SAMPLER(struct facet_tile_core *c, uint32_t number, uint32_t value)
{
    uint8_t bytes[4];

    facet_store_le32(bytes, value);
    (void)facet_mem_poke(c->m->mem,
                         FACET_TILE_SAMPLER_BASE + 4 * (number - FACET_CSR_SAMPLER_N__BASE),
                         bytes,
                         sizeof bytes);
}

static uint32_t read_TIME_LO(const struct facet_tile_core *c, uint32_t number)
{
    (void)number;
    return (uint32_t)c->m->time;
}

static uint32_t read_TIME_HI(const struct facet_tile_core *c, uint32_t number)
{
    (void)number;
    return (uint32_t)(c->m->time >> 32);
}

static uint32_t read_INSTRET_LO(const struct facet_tile_core *c, uint32_t number)
{
    (void)number;
    return (uint32_t)c->instret;
}

static uint32_t read_INSTRET_HI(const struct facet_tile_core *c, uint32_t number)
{
    (void)number;
    return (uint32_t)(c->instret >> 32);
}

uint32_t facet_tile_machine_hwinfo(const struct facet_tile_machine *m)
{
    return m->config.regs | FACET_TILE_CORES << FACET_HWINFO_NCORES_LSB |
           (uint32_t)(FACET_HWINFO_HAS_APPROX | FACET_HWINFO_HAS_BILINEAR |
                      FACET_HWINFO_HAS_SCRATCH | FACET_HWINFO_HAS_ROP) |
           (m->config.strong ? 0 : (uint32_t)FACET_HWINFO_MEM_WEAK);
}

static uint32_t read_HWINFO(const struct facet_tile_core *c, uint32_t number)
{
    (void)number;
    return facet_tile_machine_hwinfo(c->m);
}

/* ---- the table ---- */

/* What the table adds to a row. */
struct entry {
    uint64_t (*legal)(const uint64_t *config, uint64_t old, uint64_t value);
    read_fn *read;
    write_fn *write;
    uint32_t offset;
    bool of_machine;
};

/* Where a member of 32 bits lies. */
#define WORD(type, where)                                                                          \
    (offsetof(type, where) + 0 * sizeof(char[sizeof(((type *)NULL)->where) == 4 ? 1 : -1]))
#define OFFSET_CORE(where) WORD(struct facet_tile_core, where)
#define OFFSET_MACHINE(where) WORD(struct facet_tile_machine, where), .of_machine = true
#define PLACE_CONST(root, where) .offset = 0
#define PLACE_VIEW(root, where) .offset = 0
#define PLACE_STORE(root, where) .offset = OFFSET_##root(where)
#define PLACE_CODE_RO(root, where) .read = read_##where
#define PLACE_CODE(root, where) .read = read_##where, .write = write_##where
#define ENTRY(name, row, root, kind, where, word, bits, machine)                                   \
    [row - FACET_TILE_CSR_FIRST] = {.legal = facet_legal_##name, PLACE_##kind(root, where)},

static const struct entry entries[] = {FACET_TILE_CSRS(ENTRY)};

static const uint32_t *slot_of(const struct facet_tile_core *c, const struct entry *e)
{
    const char *state = e->of_machine ? (const char *)c->m : (const char *)c;

    return (const uint32_t *)(const void *)(state + e->offset);
}

uint32_t facet_tile_csr_value(const struct facet_tile_core *c,
                              const struct facet_csr_row *row,
                              uint32_t number)
{
    const struct entry *e = &entries[row - facet_csr_rows - FACET_TILE_CSR_FIRST];
    uint32_t value = row->place == FACET_PLACE_STORE ? *slot_of(c, e)
                     : e->read != NULL               ? e->read(c, number)
                                                     : (uint32_t)row->reset;

    for (unsigned i = 0; i < row->view_count; i++) {
        const struct facet_csr_row *target = &facet_csr_rows[row->views[i].row];

        value |= (uint32_t)facet_csr_into_view(&row->views[i],
                                               facet_tile_csr_value(c, target, target->number));
    }
    return value;
}

bool facet_tile_csr_peek(const struct facet_tile_core *c, uint32_t number, uint32_t *value)
{
    const struct facet_csr_row *row = facet_csr_at(FACET_ISA_TILE, number);

    *value = row != NULL ? facet_tile_csr_value(c, row, number) : 0;
    return row != NULL;
}

/* The access kinds: RO bits stay, RW and WARL take what is legal, ones clear W1C, any write clears
 * WC. */
static uint32_t
stored(const struct facet_csr_row *row, const struct entry *e, uint32_t old, uint32_t value)
{
    uint64_t kept = old & ~(row->writable | row->w1c | row->wc);

    return (uint32_t)(kept | e->legal(NULL, old, value) | (old & row->w1c & ~value));
}

bool facet_tile_csr_poke(struct facet_tile_core *c, uint32_t number, uint32_t value)
{
    const struct facet_csr_row *row = facet_csr_at(FACET_ISA_TILE, number);
    const struct entry *e;
    uint64_t viewed = 0;

    if (row == NULL || (row->writable | row->w1c | row->wc) == 0) {
        return false;
    }
    e = &entries[row - facet_csr_rows - FACET_TILE_CSR_FIRST];
    for (unsigned i = 0; i < row->view_count; i++) {
        const struct facet_csr_view *view = &row->views[i];
        uint32_t target;

        (void)facet_tile_csr_peek(c, facet_csr_rows[view->row].number, &target);
        target &= ~(uint32_t)facet_csr_out_of_view(view, UINT64_MAX);
        (void)facet_tile_csr_poke(c,
                                  facet_csr_rows[view->row].number,
                                  target | (uint32_t)facet_csr_out_of_view(view, value));
        viewed |= view->mask;
    }
    if (row->place == FACET_PLACE_STORE) {
        uint32_t *slot = (uint32_t *)slot_of(c, e); /* of *c, which the caller may write */

        *slot = stored(row, e, *slot, value) & ~(uint32_t)viewed;
    } else if (e->write != NULL) {
        e->write(c, number, value);
    }
    return true;
}

uint32_t facet_tile_csr_set(uint32_t number, uint32_t old, uint32_t source)
{
    const struct facet_csr_row *row = facet_csr_at(FACET_ISA_TILE, number);

    return row != NULL ? (old & ~(uint32_t)row->w1c) | source : source;
}
