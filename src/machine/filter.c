/* What a comparison leaves out: see facet/lockstep.h. */
#include "base/error.h"
#include "machine/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { RANGES = 256 };

struct range {
    uint32_t space;
    uint64_t first, last;
    bool compared;
};

/* Bits of registers and CSRs that are compared. */
struct core_masks {
    const struct facet_core_desc *desc;
    struct facet_value *regs;
    struct facet_value *csrs;
};

struct facet_lockstep_filter {
    const facet_machine *machine;
    uint32_t core_count;
    struct core_masks *cores;
    struct facet_value word; /* of RETIRE */
    struct facet_value trap;
    bool retires, traps, memory;
    struct range ranges[RANGES];
    size_t range_count;
};

static const struct facet_value all_bits = {UINT64_MAX, UINT64_MAX};
static const struct facet_value no_bits = {0, 0};

void facet_lockstep_filter_destroy(facet_lockstep_filter *filter)
{
    if (filter != NULL) {
        for (uint32_t i = 0; filter->cores != NULL && i < filter->core_count; i++) {
            free(filter->cores[i].regs);
            free(filter->cores[i].csrs);
        }
        free(filter->cores);
        free(filter);
    }
}

static struct facet_value *masks(uint32_t count)
{
    struct facet_value *out = malloc(((size_t)count + 1) * sizeof *out);

    for (uint32_t i = 0; out != NULL && i < count; i++) {
        out[i] = all_bits;
    }
    return out;
}

enum facet_status facet_lockstep_filter_create(const facet_machine *machine,
                                               facet_lockstep_filter **out,
                                               struct facet_error *err)
{
    facet_lockstep_filter *filter = calloc(1, sizeof *filter);
    bool made = filter != NULL;

    *out = NULL;
    if (made) {
        filter->machine = machine;
        filter->core_count = facet_machine_core_count(machine);
        filter->retires = filter->traps = filter->memory = true;
        filter->word = filter->trap = all_bits;
        filter->cores = calloc((size_t)filter->core_count + 1, sizeof *filter->cores);
        made = filter->cores != NULL;
    }
    for (uint32_t i = 0; made && i < filter->core_count; i++) {
        struct core_masks *core = &filter->cores[i];

        core->desc = facet_machine_core(machine, i);
        core->regs = masks(core->desc->reg_count);
        core->csrs = masks(core->desc->csr_count);
        made = core->regs != NULL && core->csrs != NULL;
    }
    if (!made) {
        facet_lockstep_filter_destroy(filter);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a filter");
    }
    *out = filter;
    return FACET_OK;
}

/* ---- rules ------------------------------------------------------------------------------------
 */

static void set_all(struct facet_value *list, uint32_t count, bool compared)
{
    for (uint32_t i = 0; i < count; i++) {
        list[i] = compared ? all_bits : no_bits;
    }
}

static bool set_kind(facet_lockstep_filter *f, const char *what, bool compared)
{
    bool regs = strcasecmp(what, "reg") == 0, csrs = strcasecmp(what, "csr") == 0;

    for (uint32_t i = 0; i < f->core_count; i++) {
        if (regs) {
            set_all(f->cores[i].regs, f->cores[i].desc->reg_count, compared);
        }
        if (csrs) {
            set_all(f->cores[i].csrs, f->cores[i].desc->csr_count, compared);
        }
    }
    if (strcasecmp(what, "retire") == 0) {
        f->retires = compared;
    } else if (strcasecmp(what, "trap") == 0) {
        f->traps = compared;
    } else if (strcasecmp(what, "memory") == 0) {
        f->memory = compared;
        f->range_count = 0;
    } else if (strcasecmp(what, "word") == 0) {
        f->word = compared ? all_bits : no_bits;
    } else if (strcasecmp(what, "trap.value") == 0) {
        f->trap.hi = compared ? UINT64_MAX : 0;
    } else {
        return regs || csrs;
    }
    return true;
}

/* Numbers that count by themselves, on a machine with RISC-V's CSRs. */
static bool counts(const struct facet_csr_desc *csr)
{
    uint32_t n = csr->number;

    return (n >= 0xC00 && n < 0xC20) || (n >= 0xC80 && n < 0xCA0) || (n >= 0xB00 && n < 0xB20);
}

static void set_bits(struct facet_value *mask, unsigned low, unsigned high, bool compared)
{
    for (unsigned bit = low; bit <= high && bit < 128; bit++) {
        uint64_t *word = bit < 64 ? &mask->lo : &mask->hi;
        uint64_t one = UINT64_C(1) << (bit % 64);

        *word = compared ? *word | one : *word & ~one;
    }
}

/* Registers, groups, CSRs and fields by name, of every core that has them. */
static bool set_named(facet_lockstep_filter *f, const char *what, bool compared)
{
    const struct facet_value mask = compared ? all_bits : no_bits;
    bool counters = strcasecmp(what, "counters") == 0, found = counters;

    for (uint32_t i = 0; i < f->core_count; i++) {
        struct core_masks *core = &f->cores[i];
        uint32_t reg = facet_machine_find_reg(f->machine, i, what);
        uint32_t csr = facet_machine_find_csr(f->machine, i, what), field;
        bool group = false;

        for (uint32_t r = 0; r < core->desc->reg_count && reg == FACET_NONE; r++) {
            const char *name = core->desc->regs[r].group;

            if (name != NULL && strcasecmp(name, what) == 0) {
                core->regs[r] = mask;
                group = true;
            }
        }
        for (uint32_t c = 0; c < core->desc->csr_count && counters; c++) {
            if (counts(&core->desc->csrs[c])) {
                core->csrs[c] = mask;
            }
        }
        if (reg != FACET_NONE) {
            core->regs[reg] = mask;
        } else if (csr != FACET_NONE) {
            core->csrs[csr] = mask;
        } else if (facet_machine_find_field(f->machine, i, what, &csr, &field)) {
            const struct facet_field_desc *desc = &core->desc->csrs[csr].fields[field];

            set_bits(&core->csrs[csr], desc->lo, desc->hi, compared);
        }
        found |= group || reg != FACET_NONE || csr != FACET_NONE;
    }
    return found;
}

static bool read_number(const char **text, uint64_t *value)
{
    char *end;
    const char *from = *text;
    bool hex = from[0] == '0' && (from[1] == 'x' || from[1] == 'X');
    const char *digits = hex ? "0123456789abcdefABCDEF" : "0123456789";

    from += hex ? 2 : 0;
    if (strspn(from, digits) == 0 || strspn(from, digits) > (hex ? 16 : 18)) {
        return false;
    }
    *value = strtoull(from, &end, hex ? 16 : 10);
    *text = end;
    return true;
}

/* "A..B" or "SPACE:A..B". */
static bool read_range(const facet_lockstep_filter *f, const char *what, struct range *out)
{
    const char *colon = strchr(what, ':');

    out->space = 0;
    if (colon != NULL) {
        uint32_t space = 0, count = facet_machine_space_count(f->machine);
        size_t length = (size_t)(colon - what);

        while (space < count) {
            const char *name = facet_machine_space_name(f->machine, space);

            if (strlen(name) == length && strncasecmp(name, what, length) == 0) {
                break;
            }
            space++;
        }
        if (space == count) {
            return false;
        }
        out->space = space;
        what = colon + 1;
    }
    if (!read_number(&what, &out->first) || strncmp(what, "..", 2) != 0) {
        return false;
    }
    what += 2;
    return read_number(&what, &out->last) && *what == '\0' && out->last >= out->first;
}

static enum facet_status
set_rule(facet_lockstep_filter *f, const char *what, bool compared, struct facet_error *err)
{
    struct range range;

    if (set_kind(f, what, compared) || set_named(f, what, compared)) {
        return FACET_OK;
    }
    if (!read_range(f, what, &range)) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "'%.80s': expected retire, trap, reg, csr, memory, word, trap.value, "
                          "counters, a register or group, a CSR or CSR.FIELD, or FIRST..LAST",
                          what);
    }
    if (f->range_count == RANGES) {
        return facet_fail(err, FACET_ERR_LIMIT, 0, "more than %d ranges of memory", RANGES);
    }
    range.compared = compared;
    f->ranges[f->range_count++] = range;
    return FACET_OK;
}

enum facet_status facet_lockstep_filter_ignore(facet_lockstep_filter *filter,
                                               const char *what,
                                               struct facet_error *err)
{
    return set_rule(filter, what, false, err);
}

enum facet_status facet_lockstep_filter_compare(facet_lockstep_filter *filter,
                                                const char *what,
                                                struct facet_error *err)
{
    return set_rule(filter, what, true, err);
}

/* ---- applying ---------------------------------------------------------------------------------
 */

bool facet_lockstep_filter_byte(const facet_lockstep_filter *f, uint32_t space, uint64_t address)
{
    for (size_t i = f->range_count; i-- > 0;) {
        const struct range *r = &f->ranges[i];

        if (r->space == space && address >= r->first && address <= r->last) {
            return r->compared;
        }
    }
    return f->memory;
}

/* Of a piece that lies partly in a range, the bytes that are compared; the others become 0. */
static bool keep_bytes(const facet_lockstep_filter *f, struct facet_change *change)
{
    bool any = false;

    if (f->range_count == 0) {
        return f->memory;
    }
    for (unsigned i = 0; i < change->size && i < 16; i++) {
        if (facet_lockstep_filter_byte(f, change->index, change->address + i)) {
            any = true;
        } else {
            set_bits(&change->new_value, 8 * i, 8 * i + 7, false);
        }
    }
    return any;
}

struct facet_value facet_lockstep_filter_mask(const facet_lockstep_filter *f,
                                              const struct facet_change *change)
{
    const struct core_masks *core = change->core < f->core_count ? &f->cores[change->core] : NULL;

    if (core == NULL) {
        return all_bits;
    }
    if (change->kind == FACET_CHANGE_REG) {
        return change->index < core->desc->reg_count ? core->regs[change->index] : all_bits;
    }
    return change->index < core->desc->csr_count ? core->csrs[change->index] : all_bits;
}

static bool keep_named(const facet_lockstep_filter *f, struct facet_change *change)
{
    struct facet_value mask = facet_lockstep_filter_mask(f, change);
    bool whole = (mask.lo & mask.hi) == UINT64_MAX;

    if (!whole) {
        change->new_value.lo &= mask.lo;
        change->new_value.hi &= mask.hi;
        change->old_value.lo &= mask.lo;
        change->old_value.hi &= mask.hi;
    }
    return whole || ((mask.lo | mask.hi) != 0 &&
                     (change->size == 0 || change->new_value.lo != change->old_value.lo ||
                      change->new_value.hi != change->old_value.hi));
}

static bool keep(const facet_lockstep_filter *f, struct facet_change *change)
{
    switch (change->kind) {
    case FACET_CHANGE_RETIRE:
        change->new_value.lo &= f->word.lo;
        change->size = f->word.lo != 0 ? change->size : 0;
        return f->retires;
    case FACET_CHANGE_TRAP:
        change->new_value.hi &= f->trap.hi;
        return f->traps;
    case FACET_CHANGE_REG:
    case FACET_CHANGE_CSR:
        return keep_named(f, change);
    case FACET_CHANGE_MEMORY:
        return keep_bytes(f, change);
    }
    return true;
}

size_t facet_lockstep_filter_apply(const facet_lockstep_filter *filter,
                                   struct facet_change *changes,
                                   size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        struct facet_change change = changes[i];

        if (keep(filter, &change)) {
            changes[kept++] = change;
        }
    }
    return kept;
}
