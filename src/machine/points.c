/* Breakpoints and watchpoints, once for all machines. */
#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "machine/internal.h"

static uint64_t filter_bit(uint64_t pc)
{
    return UINT64_C(1) << (facet_hash_mix(pc) & 63);
}

/* The numbers that are derived from the list. */
static void recount(facet_machine *machine)
{
    machine->break_count = machine->watch_count = machine->port.published_count = 0;
    machine->break_filter = 0;
    for (size_t i = 0; i < machine->point_count; i++) {
        if (machine->points[i].watch.size != 0) {
            machine->watch_count++;
            machine->port.published_count += machine->points[i].published;
        } else {
            machine->break_count++;
            machine->break_filter |= filter_bit(machine->points[i].pc);
        }
    }
    machine->port.break_version++;
    facet_machine_update_ears(machine);
}

static enum facet_status add_point(facet_machine *machine,
                                   const struct facet_point *point,
                                   uint32_t *id,
                                   struct facet_error *err)
{
    if (point->watch.core != FACET_ANY_CORE &&
        facet_machine_core(machine, point->watch.core) == NULL) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          point->watch.core,
                          "no core %u, expected 0..%u",
                          point->watch.core,
                          facet_machine_core_count(machine) - 1);
    }
    if (!facet_array_fit(&machine->points,
                         &machine->point_capacity,
                         machine->point_count + 1,
                         sizeof *machine->points)) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a breakpoint");
    }
    machine->points[machine->point_count] = *point;
    machine->points[machine->point_count++].id = ++machine->last_id;
    if (id != NULL) {
        *id = machine->last_id;
    }
    recount(machine);
    return FACET_OK;
}

enum facet_status facet_machine_break_add(
    facet_machine *machine, uint32_t core, uint64_t pc, uint32_t *id, struct facet_error *err)
{
    struct facet_point point = {.pc = pc, .watch = {.core = core}};

    return add_point(machine, &point, id, err);
}

enum facet_status facet_machine_watch_add(facet_machine *machine,
                                          const struct facet_watch *watch,
                                          uint32_t *id,
                                          struct facet_error *err)
{
    struct facet_point point = {.watch = *watch};

    if (facet_machine_space_name(machine, watch->space) == NULL) {
        return facet_fail(err, FACET_ERR_USAGE, watch->space, "no address space %u", watch->space);
    }
    if (watch->size == 0 || (!watch->on_read && !watch->on_write)) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          watch->address,
                          "a watchpoint needs at least one byte and reading or writing");
    }
    return add_point(machine, &point, id, err);
}

void facet_machine_watch_published(facet_machine *machine, uint32_t id)
{
    for (size_t i = 0; i < machine->point_count; i++) {
        machine->points[i].published |= machine->points[i].id == id;
    }
    recount(machine);
}

enum facet_status
facet_machine_point_remove(facet_machine *machine, uint32_t id, struct facet_error *err)
{
    for (size_t i = 0; i < machine->point_count; i++) {
        if (machine->points[i].id == id) {
            for (machine->point_count--; i < machine->point_count; i++) {
                machine->points[i] = machine->points[i + 1];
            }
            recount(machine);
            return FACET_OK;
        }
    }
    return facet_fail(err, FACET_ERR_USAGE, id, "no breakpoint or watchpoint %u", id);
}

bool facet_port_has_break(const struct facet_port *port, uint64_t pc)
{
    const facet_machine *machine = port->machine;
    bool found = false;

    for (size_t i = 0; i < machine->point_count && (machine->break_filter & filter_bit(pc)) != 0;
         i++) {
        found |= machine->points[i].watch.size == 0 && machine->points[i].pc == pc;
    }
    return found;
}

bool facet_port_break(struct facet_port *port, uint32_t core, uint64_t pc)
{
    facet_machine *machine = port->machine;

    if (machine->pass_once) {
        machine->pass_once = false;
        return false;
    }
    if ((machine->break_filter & filter_bit(pc)) == 0) {
        return false;
    }
    for (size_t i = 0; i < machine->point_count; i++) {
        const struct facet_point *point = &machine->points[i];

        if (point->watch.size == 0 && point->pc == pc &&
            (point->watch.core == FACET_ANY_CORE || point->watch.core == core)) {
            machine->hit_point = point->id;
            return true;
        }
    }
    return false;
}
