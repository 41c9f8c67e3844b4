/* The listening side of a machine: the user's observer, and before it our own when there
 * are watchpoints or when the changes of a step are collected. */
#include "base/array.h"
#include "base/sized.h"
#include "machine/internal.h"

#include <string.h>

/* ---- telling ----------------------------------------------------------------------------------
 */

void facet_port_tell_retire(struct facet_port *port, const struct facet_retire_event *event)
{
    if (port->observer->retire != NULL) {
        port->observer->retire(port->observer->context, event);
    }
}

void facet_port_tell_reg(struct facet_port *port, const struct facet_reg_event *event)
{
    if (port->observer->reg_write != NULL) {
        port->observer->reg_write(port->observer->context, event);
    }
}

void facet_port_tell_csr(struct facet_port *port, const struct facet_reg_event *event)
{
    if (port->observer->csr_write != NULL) {
        port->observer->csr_write(port->observer->context, event);
    }
}

void facet_port_tell_memory(struct facet_port *port, const struct facet_memory_event *event)
{
    if (port->observer->memory != NULL) {
        port->observer->memory(port->observer->context, event);
    }
}

void facet_port_tell_unit(struct facet_port *port, const struct facet_unit_event *event)
{
    if (port->observer->unit != NULL) {
        port->observer->unit(port->observer->context, event);
    }
}

void facet_port_trap(struct facet_port *port, const struct facet_trap_event *event)
{
    facet_machine *machine = port->machine;

    if (port->stop_on_trap && !machine->trap_hit) {
        machine->trap_hit = true;
        machine->hit_trap = *event;
        port->stop = true;
    }
    if (port->observer != NULL && port->observer->trap != NULL) {
        port->observer->trap(port->observer->context, event);
    }
}

/* ---- collecting changes -----------------------------------------------------------------------
 */

static void add_change(facet_machine *machine, const struct facet_change *change)
{
    struct facet_change_list *list = &machine->changes;

    if (!machine->collecting || list->failed) {
        return;
    }
    if (!facet_array_fit(&list->items, &list->capacity, list->count + 1, sizeof *list->items)) {
        list->failed = true;
        return;
    }
    list->items[list->count++] = *change;
}

/* ---- our ears ---------------------------------------------------------------------------------
 */

static void hear_retire(void *context, const struct facet_retire_event *event)
{
    facet_machine *machine = context;
    struct facet_change change = {.kind = FACET_CHANGE_RETIRE,
                                  .core = event->core,
                                  .address = event->pc,
                                  .size = event->length,
                                  .new_value = {event->word, 0}};

    add_change(machine, &change);
    if (machine->observer != NULL && machine->observer->retire != NULL) {
        machine->observer->retire(machine->observer->context, event);
    }
}

static void
add_reg_change(facet_machine *machine, enum facet_change_kind kind, const struct facet_reg_event *e)
{
    struct facet_change change = {.kind = kind,
                                  .core = e->core,
                                  .index = e->index,
                                  .size = 1,
                                  .old_value = e->old_value,
                                  .new_value = e->new_value};

    add_change(machine, &change);
}

static void hear_reg(void *context, const struct facet_reg_event *event)
{
    facet_machine *machine = context;

    add_reg_change(machine, FACET_CHANGE_REG, event);
    if (machine->observer != NULL && machine->observer->reg_write != NULL) {
        machine->observer->reg_write(machine->observer->context, event);
    }
}

static void hear_csr(void *context, const struct facet_reg_event *event)
{
    facet_machine *machine = context;

    add_reg_change(machine, FACET_CHANGE_CSR, event);
    if (machine->observer != NULL && machine->observer->csr_write != NULL) {
        machine->observer->csr_write(machine->observer->context, event);
    }
}

/* Ranges on the ring of 2^64 addresses: one starts inside the other. */
static bool touches(const struct facet_watch *watch, const struct facet_memory_event *event)
{
    return event->address - watch->address < watch->size ||
           watch->address - event->address < event->size;
}

static void check_watches(facet_machine *machine, const struct facet_memory_event *event)
{
    for (size_t i = 0; i < machine->point_count && !machine->watch_hit; i++) {
        const struct facet_watch *watch = &machine->points[i].watch;

        if (watch->size != 0 && watch->space == event->space &&
            (watch->core == FACET_ANY_CORE || watch->core == event->core) &&
            (event->write ? watch->on_write : watch->on_read) && touches(watch, event)) {
            machine->watch_hit = true;
            machine->hit_point = machine->points[i].id;
            machine->hit_access = *event;
            machine->port.stop = true;
        }
    }
}

void facet_port_tell_published(struct facet_port *port,
                               uint32_t core,
                               uint64_t address,
                               uint64_t size)
{
    facet_machine *machine = port->machine;

    for (size_t i = 0; i < machine->point_count && !machine->watch_hit; i++) {
        const struct facet_watch *watch = &machine->points[i].watch;

        if (machine->points[i].published &&
            (watch->core == FACET_ANY_CORE || watch->core == core) &&
            (address - watch->address < watch->size || watch->address - address < size)) {
            machine->watch_hit = true;
            machine->hit_point = machine->points[i].id;
            machine->hit_access = (struct facet_memory_event){
                .core = core, .address = watch->address, .size = 1, .write = true};
            port->stop = true;
        }
    }
}

static void hear_memory(void *context, const struct facet_memory_event *event)
{
    facet_machine *machine = context;

    check_watches(machine, event);
    if (event->write) {
        struct facet_change change = {.kind = FACET_CHANGE_MEMORY,
                                      .core = event->core,
                                      .index = event->space,
                                      .size = event->size,
                                      .address = event->address,
                                      .old_value = event->old_value,
                                      .new_value = event->value};

        add_change(machine, &change);
    } else if (machine->collecting && machine->changes.read_count < FACET_STEP_READS) {
        machine->changes.reads[machine->changes.read_count++] = *event;
    }
    if (machine->observer != NULL && machine->observer->memory != NULL) {
        machine->observer->memory(machine->observer->context, event);
    }
}

static void hear_trap(void *context, const struct facet_trap_event *event)
{
    facet_machine *machine = context;
    struct facet_change change = {.kind = FACET_CHANGE_TRAP,
                                  .core = event->core,
                                  .address = event->pc,
                                  .new_value = {event->cause, event->value}};

    add_change(machine, &change);
    if (machine->observer != NULL && machine->observer->trap != NULL) {
        machine->observer->trap(machine->observer->context, event);
    }
}

static void hear_unit(void *context, const struct facet_unit_event *event)
{
    facet_machine *machine = context;

    if (machine->observer != NULL && machine->observer->unit != NULL) {
        machine->observer->unit(machine->observer->context, event);
    }
}

void facet_machine_update_ears(facet_machine *machine)
{
    struct facet_observer ears = {
        machine, hear_retire, hear_reg, hear_csr, hear_memory, hear_trap, hear_unit};

    machine->ears = ears;
    machine->port.observer =
        machine->watch_count != 0 || machine->collecting ? &machine->ears : machine->observer;
}

enum facet_status facet_machine_observe_sized(facet_machine *machine,
                                              const struct facet_observer *observer,
                                              size_t observer_size)
{
    struct facet_observer own;
    enum facet_status status =
        facet_sized_in(&own, sizeof own, observer, observer_size, "facet_observer", NULL);

    if (status == FACET_OK) {
        machine->user = own;
        machine->observer = observer != NULL ? &machine->user : NULL;
        facet_machine_update_ears(machine);
    }
    return status;
}
