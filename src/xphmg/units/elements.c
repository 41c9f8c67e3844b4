/* See elements.h. */
#include "xphmg/units/elements.h"

#include "xphmg/hart/memory.h"

/* Containers that hold the elements: `lead` is the slot of the first in container 0. */
struct span {
    uint64_t address;
    unsigned lead, containers;
};

static struct span
span_of(const struct facet_element_port *port, uint64_t base, uint64_t first, unsigned count)
{
    const struct facet_container *c = &port->container;
    unsigned lead = facet_container_slot(c, first);

    return (struct span){
        .address = base + facet_container_offset(c, first),
        .lead = lead,
        .containers = (lead + count + (1u << c->pack) - 1) >> c->pack,
    };
}

/* Alignment, mapping, domain, security; every fault is an event. */
static struct facet_trap probe(const struct facet_element_port *port, uint64_t address, bool write)
{
    struct facet_trap trap =
        facet_xmem_probe_element(port->h, port->actor, address, port->container.bytes, write);

    return trap.taken ? facet_xmem_fault(port->h, port->actor, trap) : trap;
}

/* What a device refuses although it was probed (R-XM-45). */
static struct facet_trap refused(const struct facet_element_port *port, struct facet_trap trap)
{
    return trap.taken ? facet_xmem_fault(port->h, port->actor, trap) : trap;
}

const uint8_t *
facet_elements_ram(const struct facet_element_port *port, uint64_t address, uint64_t size)
{
    const struct facet_hart *h = port->h;
    uint64_t offset = address - h->ram.base;
    bool inside = offset < h->ram.span && size <= h->ram.span - offset;

    return inside && !facet_hart_listens(h) && !facet_lds_holds(h, address, 1)
               ? h->ram.bytes + offset
               : NULL;
}

struct facet_trap facet_elements_load(const struct facet_element_port *port,
                                      uint64_t address,
                                      unsigned size,
                                      uint64_t *value)
{
    const uint8_t *bytes = address % size == 0 ? facet_elements_ram(port, address, size) : NULL;
    struct facet_trap trap;

    if (bytes != NULL) {
        *value = facet_load_le(bytes, size);
        return FACET_RETIRED;
    }
    trap = facet_xmem_probe_element(port->h, port->actor, address, size, false);
    if (!trap.taken) {
        trap = facet_hart_load(port->h, address, size, value);
    }
    return refused(port, trap);
}

/* Elements that are words of plain RAM; NULL: the careful way. */
static const uint8_t *
words_of(const struct facet_element_port *port, uint64_t base, uint64_t first, unsigned count)
{
    const struct facet_container *c = &port->container;

    return c->bytes == 4 && c->nat == 32 && base % 4 == 0
               ? facet_elements_ram(port, base + 4 * first, UINT64_C(4) * count)
               : NULL;
}

struct facet_trap facet_elements_read(const struct facet_element_port *port,
                                      uint64_t base,
                                      uint64_t first,
                                      unsigned count,
                                      uint32_t *elements)
{
    const struct facet_container *c = &port->container;
    const uint8_t *words = words_of(port, base, first, count);
    struct span span;
    unsigned done = 0;

    if (words != NULL) {
        for (unsigned i = 0; i < count; i++) {
            elements[i] = facet_load_le32(words + 4 * (size_t)i);
        }
        return FACET_RETIRED;
    }
    span = span_of(port, base, first, count);
    for (unsigned k = 0; k < span.containers; k++) {
        uint64_t address = span.address + (uint64_t)k * c->bytes, bits = 0;
        struct facet_trap trap = facet_elements_load(port, address, c->bytes, &bits);

        if (trap.taken) {
            return trap;
        }
        for (unsigned slot = k == 0 ? span.lead : 0; slot < 1u << c->pack && done < count; slot++) {
            elements[done++] = facet_container_get(c, bits, slot);
        }
    }
    return FACET_RETIRED;
}

struct facet_trap facet_elements_probe(const struct facet_element_port *port,
                                       uint64_t base,
                                       uint64_t first,
                                       unsigned count)
{
    const struct facet_container *c = &port->container;
    struct span span = span_of(port, base, first, count);

    if (words_of(port, base, first, count) != NULL) {
        return FACET_RETIRED;
    }
    for (unsigned k = 0; k < span.containers; k++) {
        uint64_t address = span.address + (uint64_t)k * c->bytes;
        struct facet_trap trap = probe(port, address, true);

        if (trap.taken) {
            return trap;
        }
    }
    return FACET_RETIRED;
}

uint8_t *facet_elements_open(const struct facet_element_port *port, uint64_t address, uint64_t size)
{
    const struct facet_hart *h = port->h;
    const uint64_t offset = address - h->ram.base;

    return facet_elements_ram(port, address, size) != NULL && offset < h->ram.store_span &&
                   size <= h->ram.store_span - offset
               ? h->ram.bytes + offset
               : NULL;
}

void facet_elements_stored(struct facet_hart *h, uint64_t address, unsigned size)
{
    const uint64_t offset = address - h->ram.base;
    unsigned seen = 0;

    FACET_FAST_WAY(MEM_WINDOW);
    facet_window_mark(&h->ram, offset, size);
    if (h->code_lines != NULL) { /* as facet_hart_note_store, for all lines */
        for (uint64_t line = offset >> FACET_CODE_LINE_BITS;
             line <= (offset + size - 1) >> FACET_CODE_LINE_BITS;
             line++) {
            seen |= h->code_lines[line];
        }
        h->code_written |= (seen & FACET_LINE_CODE) != 0;
        h->outside |= (seen & FACET_LINE_WATCHED) != 0;
    }
}

/* Words of plain RAM by pointer; false: another way. */
static bool write_words(const struct facet_element_port *port,
                        uint64_t base,
                        uint64_t first,
                        unsigned count,
                        const uint32_t *elements)
{
    uint8_t *to = words_of(port, base, first, count) != NULL && count <= FACET_ELEMENTS_STORED / 4
                      ? facet_elements_open(port, base + 4 * first, UINT64_C(4) * count)
                      : NULL;

    for (unsigned i = 0; to != NULL && i < count; i++) {
        facet_store_le32(to + (size_t)4 * i, elements[i]);
    }
    if (to != NULL && count != 0) {
        facet_elements_stored(port->h, base + 4 * first, 4 * count);
    }
    return to != NULL;
}

struct facet_trap facet_elements_write(const struct facet_element_port *port,
                                       uint64_t base,
                                       uint64_t first,
                                       unsigned count,
                                       const uint32_t *elements)
{
    const struct facet_container *c = &port->container;
    struct span span = span_of(port, base, first, count);
    unsigned done = 0;

    if (write_words(port, base, first, count, elements)) {
        return FACET_RETIRED;
    }
    for (unsigned k = 0; k < span.containers && done < count; k++) {
        uint64_t address = span.address + (uint64_t)k * c->bytes, bits = 0;
        unsigned from = k == 0 ? span.lead : 0, slots = (1u << c->pack) - from;
        struct facet_trap trap = FACET_RETIRED;

        if (from != 0 || count - done < slots) { /* elements beside ours keep their value */
            trap = facet_hart_load(port->h, address, c->bytes, &bits);
            if (trap.taken) {
                return refused(port, facet_hart_trap_make(FACET_CAUSE_STORE_FAULT, trap.tval));
            }
        }
        for (unsigned slot = from; slot < 1u << c->pack && done < count; slot++) {
            bits = facet_container_put(c, bits, slot, elements[done++]);
        }
        trap = refused(port, facet_hart_store(port->h, address, c->bytes, bits));
        if (trap.taken) {
            return trap;
        }
    }
    return FACET_RETIRED;
}
