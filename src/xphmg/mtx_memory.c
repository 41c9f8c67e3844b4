/* See mtx_memory.h. */
#include "xphmg/mtx_memory.h"

#include "xphmg/lanes.h"
#include "xphmg/memory.h"
#include "xphmg/vendor.h"

struct facet_mtx_port facet_mtx_port_inline(struct facet_hart *h, const struct facet_eff *eff)
{
    return (struct facet_mtx_port){.h = h, .container = facet_container_of(eff)};
}

struct facet_mtx_port
facet_mtx_port_job(struct facet_hart *h, const struct facet_eff *eff, const uint64_t memctl[3])
{
    struct facet_mtx_port port = facet_mtx_port_inline(h, eff);
    unsigned dom = memctl[0] & 0xFF, sec = memctl[2] >> 24 & 0xFF;

    if ((dom >= 1 && dom <= 6) || dom == 15) {
        port.dom = (uint8_t)dom;
    }
    port.level = sec == 1 || sec == 2 ? (uint8_t)sec : 0;
    return port;
}

/* Containers that hold the elements: `lead` is the slot of the first in container 0. */
struct span {
    uint64_t address;
    unsigned lead, containers;
};

static struct span
span_of(const struct facet_mtx_port *port, uint64_t base, uint64_t first, unsigned count)
{
    const struct facet_container *c = &port->container;
    unsigned lead = facet_container_slot(c, first);

    return (struct span){
        .address = base + facet_container_offset(c, first),
        .lead = lead,
        .containers = (lead + count + (1u << c->pack) - 1) >> c->pack,
    };
}

/* Alignment, then what the memory policy says; every fault is an event. */
static struct facet_trap check(const struct facet_mtx_port *port, uint64_t address, bool write)
{
    if ((address & (port->container.bytes - 1u)) != 0) {
        facet_cap_event(port->h, FACET_CAP_XMEM_EVENTS_INV_MISS);
        return facet_trap_make(write ? FACET_CAUSE_STORE_MISALIGNED : FACET_CAUSE_LOAD_MISALIGNED,
                               address);
    }
    return FACET_RETIRED;
}

static struct facet_trap missed(const struct facet_mtx_port *port, struct facet_trap trap)
{
    if (trap.taken) {
        facet_cap_event(port->h, FACET_CAP_XMEM_EVENTS_INV_MISS);
    }
    return trap;
}

struct facet_trap facet_mtx_read(const struct facet_mtx_port *port,
                                 uint64_t base,
                                 uint64_t first,
                                 unsigned count,
                                 uint32_t *elements)
{
    const struct facet_container *c = &port->container;
    struct span span = span_of(port, base, first, count);
    unsigned done = 0;

    for (unsigned k = 0; k < span.containers; k++) {
        uint64_t address = span.address + (uint64_t)k * c->bytes, bits = 0;
        struct facet_trap trap = check(port, address, false);

        if (!trap.taken) {
            trap = missed(port, facet_hart_load(port->h, address, c->bytes, &bits));
        }
        if (trap.taken) {
            return trap;
        }
        for (unsigned slot = k == 0 ? span.lead : 0; slot < 1u << c->pack && done < count; slot++) {
            elements[done++] = facet_container_get(c, bits, slot);
        }
    }
    return FACET_RETIRED;
}

struct facet_trap
facet_mtx_probe(const struct facet_mtx_port *port, uint64_t base, uint64_t first, unsigned count)
{
    const struct facet_container *c = &port->container;
    struct span span = span_of(port, base, first, count);

    for (unsigned k = 0; k < span.containers; k++) {
        uint64_t address = span.address + (uint64_t)k * c->bytes;
        struct facet_trap trap = check(port, address, true);

        if (!trap.taken) {
            trap = missed(port, facet_probe_store(port->h, address, c->bytes));
        }
        if (trap.taken) {
            return trap;
        }
    }
    return FACET_RETIRED;
}

struct facet_trap facet_mtx_write(const struct facet_mtx_port *port,
                                  uint64_t base,
                                  uint64_t first,
                                  unsigned count,
                                  const uint32_t *elements)
{
    const struct facet_container *c = &port->container;
    struct span span = span_of(port, base, first, count);
    unsigned done = 0;

    for (unsigned k = 0; k < span.containers; k++) {
        uint64_t address = span.address + (uint64_t)k * c->bytes, bits = 0;
        unsigned from = k == 0 ? span.lead : 0, slots = (1u << c->pack) - from;
        struct facet_trap trap = FACET_RETIRED;

        if (from != 0 || count - done < slots) { /* elements beside ours keep their value */
            trap = facet_hart_load(port->h, address, c->bytes, &bits);
            if (trap.taken) {
                return missed(port, facet_trap_make(FACET_CAUSE_STORE_FAULT, trap.tval));
            }
        }
        for (unsigned slot = from; slot < 1u << c->pack && done < count; slot++) {
            bits = facet_container_put(c, bits, slot, elements[done++]);
        }
        trap = missed(port, facet_hart_store(port->h, address, c->bytes, bits));
        if (trap.taken) {
            return trap;
        }
    }
    return FACET_RETIRED;
}
