/* Creation, tables, registers, CSRs and memory: arguments are checked here, the kinds do the work.
 */
#include "base/error.h"
#include "base/sized.h"
#include "machine/counts.h"
#include "machine/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum facet_status facet_machine_create(const struct facet_machine_ops *kind,
                                       const void *config,
                                       facet_machine **out,
                                       struct facet_error *err)
{
    facet_machine *machine = calloc(1, sizeof *machine);
    enum facet_status status;

    *out = NULL;
    if (machine == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a machine");
    }
    machine->ops = kind;
    machine->port.machine = machine;
    status = kind->create(config, &machine->port, &machine->self, err);
    if (status != FACET_OK) {
        free(machine);
        return status;
    }
    *out = machine;
    return FACET_OK;
}

void facet_machine_destroy(facet_machine *machine)
{
    if (machine == NULL) {
        return;
    }
    machine->ops->destroy(machine->self);
    free(machine->changes.items);
    free(machine->points);
    free(machine);
}

void facet_machine_reset(facet_machine *machine)
{
    machine->ops->reset(machine->self);
    machine->steps = 0;
    machine->held = false;
    machine->changes.open = false;
}

void *facet_machine_self(const facet_machine *machine,
                         const struct facet_machine_ops *kind,
                         struct facet_error *err)
{
    if (machine->ops == kind) {
        return machine->self;
    }
    (void)facet_fail(err,
                     FACET_ERR_USAGE,
                     0,
                     "the machine is of kind %s; expected %s",
                     machine->ops->name,
                     kind->name);
    return NULL;
}

const char *facet_machine_kind_name(const facet_machine *machine)
{
    return machine->ops->name;
}

/* ---- tables -----------------------------------------------------------------------------------
 */

uint32_t facet_machine_core_count(const facet_machine *machine)
{
    uint32_t count = 0;

    while (machine->ops->core(machine->self, count) != NULL) {
        count++;
    }
    return count;
}

const struct facet_core_desc *facet_machine_core(const facet_machine *machine, uint32_t core)
{
    return core != FACET_NONE ? machine->ops->core(machine->self, core) : NULL;
}

static bool same_name(const char *a, const char *b)
{
    return a != NULL && strcasecmp(a, b) == 0;
}

uint32_t facet_machine_find_reg(const facet_machine *machine, uint32_t core, const char *name)
{
    const struct facet_core_desc *desc = facet_machine_core(machine, core);

    for (uint32_t i = 0; desc != NULL && i < desc->reg_count; i++) {
        if (same_name(desc->regs[i].name, name) || same_name(desc->regs[i].alias, name)) {
            return i;
        }
    }
    return FACET_NONE;
}

uint32_t facet_machine_find_csr(const facet_machine *machine, uint32_t core, const char *name)
{
    const struct facet_core_desc *desc = facet_machine_core(machine, core);

    for (uint32_t i = 0; desc != NULL && i < desc->csr_count; i++) {
        if (same_name(desc->csrs[i].name, name)) {
            return i;
        }
    }
    return FACET_NONE;
}

uint32_t facet_machine_csr_at(const facet_machine *machine, uint32_t core, uint32_t number)
{
    const struct facet_core_desc *desc = facet_machine_core(machine, core);

    for (uint32_t i = 0; desc != NULL && i < desc->csr_count; i++) {
        if (desc->csrs[i].number == number) {
            return i;
        }
    }
    return FACET_NONE;
}

/* "CSR.FIELD" for this CSR: the field's index, or FACET_NONE. */
static uint32_t match_field(const struct facet_csr_desc *csr, const char *name)
{
    size_t length = strlen(csr->name);

    if (strncasecmp(name, csr->name, length) != 0 || name[length] != '.') {
        return FACET_NONE;
    }
    for (uint32_t i = 0; i < csr->field_count; i++) {
        if (same_name(csr->fields[i].name, name + length + 1)) {
            return i;
        }
    }
    return FACET_NONE;
}

bool facet_machine_find_field(
    const facet_machine *machine, uint32_t core, const char *name, uint32_t *csr, uint32_t *field)
{
    const struct facet_core_desc *desc = facet_machine_core(machine, core);

    for (uint32_t i = 0; desc != NULL && i < desc->csr_count; i++) {
        uint32_t found = match_field(&desc->csrs[i], name);

        if (found != FACET_NONE) {
            *csr = i;
            *field = found;
            return true;
        }
    }
    return false;
}

/* The rows, or NULL with the complaint written. */
static const struct facet_reg_desc *
reg_row(const facet_machine *machine, uint32_t core, uint32_t reg, struct facet_error *err)
{
    const struct facet_core_desc *desc = facet_machine_core(machine, core);

    if (desc == NULL) {
        (void)facet_fail(err, FACET_ERR_USAGE, core, "no core %u", core);
    } else if (reg >= desc->reg_count) {
        (void)facet_fail(err, FACET_ERR_USAGE, reg, "%s has no register %u", desc->name, reg);
    } else {
        return &desc->regs[reg];
    }
    return NULL;
}

static const struct facet_csr_desc *
csr_row(const facet_machine *machine, uint32_t core, uint32_t csr, struct facet_error *err)
{
    const struct facet_core_desc *desc = facet_machine_core(machine, core);

    if (desc == NULL) {
        (void)facet_fail(err, FACET_ERR_USAGE, core, "no core %u", core);
    } else if (csr >= desc->csr_count) {
        (void)facet_fail(err, FACET_ERR_USAGE, csr, "%s has no CSR %u", desc->name, csr);
    } else {
        return &desc->csrs[csr];
    }
    return NULL;
}

static const struct facet_field_desc *field_row(const facet_machine *machine,
                                                uint32_t core,
                                                uint32_t csr,
                                                uint32_t field,
                                                struct facet_error *err)
{
    const struct facet_csr_desc *row = csr_row(machine, core, csr, err);

    if (row == NULL) {
        return NULL;
    }
    if (field >= row->field_count) {
        (void)facet_fail(err, FACET_ERR_USAGE, field, "%s has no field %u", row->name, field);
        return NULL;
    }
    return &row->fields[field];
}

/* ---- 128-bit values ---------------------------------------------------------------------------
 */

typedef unsigned __int128 wide;

static wide widen(struct facet_value value)
{
    return (wide)value.hi << 64 | value.lo;
}

static struct facet_value narrow(wide value)
{
    return facet_value128((uint64_t)value, (uint64_t)(value >> 64));
}

static wide ones(unsigned width)
{
    return width >= 128 ? ~(wide)0 : ((wide)1 << width) - 1;
}

static enum facet_status
check_width(const char *name, unsigned width, struct facet_value value, struct facet_error *err)
{
    if ((widen(value) & ~ones(width)) == 0) {
        return FACET_OK;
    }
    return facet_fail(err, FACET_ERR_USAGE, width, "%s has only %u bits", name, width);
}

/* ---- registers and CSRs -----------------------------------------------------------------------
 */

enum facet_status facet_machine_reg_read(const facet_machine *machine,
                                         uint32_t core,
                                         uint32_t reg,
                                         struct facet_value *value,
                                         struct facet_error *err)
{
    if (reg_row(machine, core, reg, err) == NULL) {
        return FACET_ERR_USAGE;
    }
    *value = machine->ops->reg_read(machine->self, core, reg);
    return FACET_OK;
}

enum facet_status facet_machine_reg_write(facet_machine *machine,
                                          uint32_t core,
                                          uint32_t reg,
                                          struct facet_value value,
                                          struct facet_error *err)
{
    const struct facet_reg_desc *row = reg_row(machine, core, reg, err);
    enum facet_status status;

    if (row == NULL) {
        return FACET_ERR_USAGE;
    }
    if (row->read_only) {
        return facet_fail(err, FACET_ERR_USAGE, reg, "%s is read-only", row->name);
    }
    status = check_width(row->name, row->width, value, err);
    if (status == FACET_OK) {
        machine->ops->reg_write(machine->self, core, reg, value);
    }
    return status;
}

enum facet_status facet_machine_csr_read(const facet_machine *machine,
                                         uint32_t core,
                                         uint32_t csr,
                                         struct facet_value *value,
                                         struct facet_error *err)
{
    if (csr_row(machine, core, csr, err) == NULL) {
        return FACET_ERR_USAGE;
    }
    *value = machine->ops->csr_read(machine->self, core, csr);
    return FACET_OK;
}

enum facet_status facet_machine_csr_write(facet_machine *machine,
                                          uint32_t core,
                                          uint32_t csr,
                                          struct facet_value value,
                                          struct facet_value *stored,
                                          struct facet_error *err)
{
    const struct facet_csr_desc *row = csr_row(machine, core, csr, err);
    struct facet_value result;
    enum facet_status status;

    if (row == NULL) {
        return FACET_ERR_USAGE;
    }
    status = check_width(row->name, row->width, value, err);
    if (status != FACET_OK) {
        return status;
    }
    result = machine->ops->csr_write(machine->self, core, csr, value);
    if (stored != NULL) {
        *stored = result;
    }
    return FACET_OK;
}

enum facet_status facet_machine_field_read(const facet_machine *machine,
                                           uint32_t core,
                                           uint32_t csr,
                                           uint32_t field,
                                           struct facet_value *value,
                                           struct facet_error *err)
{
    const struct facet_field_desc *row = field_row(machine, core, csr, field, err);
    wide whole;

    if (row == NULL) {
        return FACET_ERR_USAGE;
    }
    whole = widen(machine->ops->csr_read(machine->self, core, csr));
    *value = narrow((whole >> row->lo) & ones(row->hi - row->lo + 1u));
    return FACET_OK;
}

/* What to write so that only one field changes: writing a write-one-to-clear bit back as it reads
 * would clear it. */
static wide neutral(const struct facet_csr_desc *csr, wide current)
{
    for (uint32_t i = 0; i < csr->field_count; i++) {
        const struct facet_field_desc *f = &csr->fields[i];

        if (f->access == FACET_FIELD_W1C) {
            current &= ~(ones(f->hi - f->lo + 1u) << f->lo);
        }
    }
    return current;
}

enum facet_status facet_machine_field_write(facet_machine *machine,
                                            uint32_t core,
                                            uint32_t csr,
                                            uint32_t field,
                                            struct facet_value value,
                                            struct facet_value *stored,
                                            struct facet_error *err)
{
    const struct facet_field_desc *row = field_row(machine, core, csr, field, err);
    const struct facet_csr_desc *owner;
    struct facet_value result;
    enum facet_status status;
    wide whole, mask;

    if (row == NULL) {
        return FACET_ERR_USAGE;
    }
    status = check_width(row->name, row->hi - row->lo + 1u, value, err);
    if (status != FACET_OK) {
        return status;
    }
    owner = csr_row(machine, core, csr, NULL);
    mask = ones(row->hi - row->lo + 1u) << row->lo;
    whole = neutral(owner, widen(machine->ops->csr_read(machine->self, core, csr)));
    whole = (whole & ~mask) | widen(value) << row->lo;
    result = machine->ops->csr_write(machine->self, core, csr, narrow(whole));
    if (stored != NULL) {
        *stored = narrow((widen(result) >> row->lo) & ones(row->hi - row->lo + 1u));
    }
    return FACET_OK;
}

/* Where a name leads: a register, or a CSR, or a field of one; all FACET_NONE: nowhere. */
struct place {
    uint32_t reg, csr, field;
    unsigned width;
};

static struct place find(const facet_machine *machine, uint32_t core, const char *name)
{
    const struct facet_core_desc *desc = facet_machine_core(machine, core);
    struct place p = {facet_machine_find_reg(machine, core, name),
                      facet_machine_find_csr(machine, core, name),
                      FACET_NONE,
                      0};

    if (p.reg != FACET_NONE) {
        p.width = desc->regs[p.reg].width;
    } else if (p.csr != FACET_NONE) {
        p.width = desc->csrs[p.csr].width;
    } else if (facet_machine_find_field(machine, core, name, &p.csr, &p.field)) {
        const struct facet_field_desc *row = &desc->csrs[p.csr].fields[p.field];

        p.width = row->hi - row->lo + 1u;
    }
    return p;
}

enum facet_status
facet_machine_get(const facet_machine *machine, uint32_t core, const char *name, uint64_t *value)
{
    struct place p = find(machine, core, name);
    struct facet_value whole = {0, 0};
    enum facet_status status;

    *value = 0;
    if (p.width > 64) {
        return FACET_ERR_USAGE;
    }
    status = p.reg != FACET_NONE ? facet_machine_reg_read(machine, core, p.reg, &whole, NULL)
             : p.field != FACET_NONE
                 ? facet_machine_field_read(machine, core, p.csr, p.field, &whole, NULL)
                 : facet_machine_csr_read(machine, core, p.csr, &whole, NULL);
    *value = whole.lo;
    return status;
}

enum facet_status
facet_machine_set(facet_machine *machine, uint32_t core, const char *name, uint64_t value)
{
    struct place p = find(machine, core, name);
    struct facet_value whole = facet_value64(value);

    if (p.width > 64) {
        return FACET_ERR_USAGE;
    }
    return p.reg != FACET_NONE ? facet_machine_reg_write(machine, core, p.reg, whole, NULL)
           : p.field != FACET_NONE
               ? facet_machine_field_write(machine, core, p.csr, p.field, whole, NULL, NULL)
               : facet_machine_csr_write(machine, core, p.csr, whole, NULL, NULL);
}

/* ---- memory -----------------------------------------------------------------------------------
 */

uint32_t facet_machine_space_count(const facet_machine *machine)
{
    uint32_t count = 0;

    while (facet_machine_space_name(machine, count) != NULL) {
        count++;
    }
    return count;
}

const char *facet_machine_space_name(const facet_machine *machine, uint32_t space)
{
    const char *name = NULL;

    return machine->ops->space(machine->self, space, &name) != NULL ? name : NULL;
}

bool facet_machine_region(const facet_machine *machine,
                          uint32_t space,
                          uint32_t index,
                          struct facet_region_desc *region)
{
    const char *name;
    const facet_mem *mem = machine->ops->space(machine->self, space, &name);
    const struct facet_mem_region *found = mem != NULL ? facet_mem_region(mem, index) : NULL;

    if (found == NULL) {
        return false;
    }
    region->name = found->name;
    region->base = found->base;
    region->size = found->size;
    region->writable = found->kind != FACET_MEM_ROM;
    region->device = found->kind == FACET_MEM_DEVICE;
    return true;
}

static facet_mem *space_of(const facet_machine *machine, uint32_t space, struct facet_error *err)
{
    const char *name;
    facet_mem *mem = machine->ops->space(machine->self, space, &name);

    if (mem == NULL) {
        (void)facet_fail(err, FACET_ERR_USAGE, space, "no address space %u", space);
    }
    return mem;
}

enum facet_status facet_machine_read(const facet_machine *machine,
                                     uint32_t space,
                                     uint64_t address,
                                     void *out,
                                     size_t size,
                                     struct facet_error *err)
{
    const facet_mem *mem = space_of(machine, space, err);

    return mem == NULL ? FACET_ERR_USAGE
                       : facet_mem_fail(facet_mem_peek(mem, address, out, size), err);
}

enum facet_status facet_machine_add_device_sized(facet_machine *machine,
                                                 const char *name,
                                                 uint64_t base,
                                                 uint64_t size,
                                                 const struct facet_device *device,
                                                 size_t device_size,
                                                 struct facet_error *err)
{
    struct facet_device own;
    struct facet_mem_device hooks;
    enum facet_status status =
        facet_sized_in(&own, sizeof own, device, device_size, "facet_device", err);

    if (status != FACET_OK) {
        return status;
    }
    if (!machine->ops->takes_devices) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          base,
                          "the %s machine has no devices that the host can add",
                          machine->ops->name);
    }
    hooks = (struct facet_mem_device){own.read, own.write, own.context};
    return facet_mem_add_device(space_of(machine, 0, err), name, base, size, &hooks, err);
}

enum facet_status facet_machine_bus_read(facet_machine *machine,
                                         uint32_t space,
                                         uint64_t address,
                                         void *out,
                                         size_t size,
                                         struct facet_error *err)
{
    const facet_mem *mem = space_of(machine, space, err);

    return mem == NULL ? FACET_ERR_USAGE
                       : facet_mem_fail(facet_mem_read_bytes(mem, address, out, size), err);
}

static enum facet_status written(facet_machine *machine,
                                 uint32_t space,
                                 uint64_t address,
                                 size_t size,
                                 struct facet_mem_result result,
                                 struct facet_error *err)
{
    if (machine->ops->memory_written != NULL && size != 0) {
        machine->ops->memory_written(machine->self, space, address, size);
    }
    return facet_mem_fail(result, err);
}

enum facet_status facet_machine_write(facet_machine *machine,
                                      uint32_t space,
                                      uint64_t address,
                                      const void *data,
                                      size_t size,
                                      struct facet_error *err)
{
    facet_mem *mem = space_of(machine, space, err);

    if (mem == NULL) {
        return FACET_ERR_USAGE;
    }
    return written(machine, space, address, size, facet_mem_poke(mem, address, data, size), err);
}

enum facet_status facet_machine_bus_write(facet_machine *machine,
                                          uint32_t space,
                                          uint64_t address,
                                          const void *data,
                                          size_t size,
                                          struct facet_error *err)
{
    facet_mem *mem = space_of(machine, space, err);

    if (mem == NULL) {
        return FACET_ERR_USAGE;
    }
    return written(
        machine, space, address, size, facet_mem_write_bytes(mem, address, data, size), err);
}

size_t facet_machine_disassemble(const facet_machine *machine,
                                 uint32_t core,
                                 uint64_t address,
                                 char *buf,
                                 size_t size,
                                 uint32_t *length)
{
    uint32_t bytes = 0;
    size_t needed = 0;

    if (size > 0) {
        buf[0] = '\0';
    }
    if (machine->ops->disassemble != NULL && facet_machine_core(machine, core) != NULL) {
        needed = machine->ops->disassemble(machine->self, core, address, buf, size, &bytes);
    }
    if (length != NULL) {
        *length = bytes;
    }
    return needed;
}

enum facet_status
facet_machine_count(facet_machine *machine, struct facet_counts *counts, struct facet_error *err)
{
    return machine->ops->count != NULL
               ? machine->ops->count(machine->self, counts, err)
               : facet_fail(
                     err, FACET_ERR_USAGE, 0, "machine %s has no profile", machine->ops->name);
}
