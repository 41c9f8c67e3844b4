/* What RT reads: words, children of tiles, TriRanges and triangles, in the order of
 * rt-semantics.md 6 and 11.4. A tile or TriRange off its alignment is a misaligned load of its own
 * address (R-RT-53). */
#include "xphmg/hart/memory.h"
#include "xphmg/rt/rt.h"

static struct facet_trap
aligned(const struct facet_element_port *port, uint64_t address, uint64_t to)
{
    return address % to == 0
               ? FACET_RETIRED
               : facet_xmem_fault(port->h,
                                  port->actor,
                                  facet_hart_trap_make(FACET_CAUSE_LOAD_MISALIGNED, address));
}

struct facet_trap facet_xphmg_rt_read(const struct facet_element_port *port,
                                      uint64_t address,
                                      unsigned size,
                                      uint64_t *value)
{
    return facet_elements_load(port, address, size, value);
}

static struct facet_trap
read32(const struct facet_element_port *port, uint64_t address, uint32_t *value)
{
    uint64_t word = 0;
    struct facet_trap trap = facet_xphmg_rt_read(port, address, 4, &word);

    *value = (uint32_t)word;
    return trap;
}

struct facet_trap
facet_xphmg_rt_read_flags(const struct facet_element_port *port, uint64_t tile, uint32_t *flags)
{
    struct facet_trap trap = aligned(port, tile, FACET_RT_TILE_ALIGN);

    return trap.taken ? trap : read32(port, tile + facet_rt_tile_word(&port->container, 3), flags);
}

struct facet_trap facet_xphmg_rt_read_child(const struct facet_element_port *port,
                                            uint64_t tile,
                                            uint32_t flags,
                                            unsigned slot,
                                            bool with_index,
                                            struct facet_xphmg_rt_fetched *child)
{
    struct facet_trap trap = FACET_RETIRED;

    child->type = facet_rt_child_type(flags, slot);
    if (child->type == FACET_RT_EMPTY) {
        return trap;
    }
    child->index = facet_rt_child3_index(flags);
    if (with_index && slot < 3) {
        trap = read32(port, tile + facet_rt_tile_word(&port->container, slot), &child->index);
    }
    return trap.taken ? trap
                      : facet_xphmg_rt_read_elements(
                            port, tile, UINT64_C(6) * slot, FACET_RT_BOX_ELEMENTS, child->box);
}

struct facet_trap facet_xphmg_rt_read_elements(const struct facet_element_port *port,
                                               uint64_t base,
                                               uint64_t first,
                                               unsigned count,
                                               uint32_t *elements)
{
    bool words = port->container.bytes == 4 && port->container.pack == 0 && base % 4 == 0;
    const uint8_t *bytes =
        words ? facet_elements_ram(port, base + 4 * first, UINT64_C(4) * count) : NULL;

    if (bytes == NULL) {
        return facet_elements_read(port, base, first, count, elements);
    }
    for (unsigned i = 0; i < count; i++) {
        elements[i] = facet_container_get(&port->container, facet_load_le32(bytes + 4 * i), 0);
    }
    return FACET_RETIRED;
}

struct facet_trap facet_xphmg_rt_read_range(const struct facet_element_port *port,
                                            uint64_t address,
                                            struct facet_rt_range *range)
{
    struct facet_trap trap = aligned(port, address, FACET_RT_RANGE_BYTES);

    if (!trap.taken) {
        trap = read32(port, address + FACET_XPHMG_TRI_RANGE_FIRST_AT, &range->first);
    }
    if (!trap.taken) {
        trap = read32(port, address + FACET_XPHMG_TRI_RANGE_COUNT_AT, &range->count);
    }
    return trap.taken ? trap
                      : facet_xphmg_rt_read(
                            port, address + FACET_XPHMG_TRI_RANGE_BASE_AT, 8, &range->base);
}

struct facet_trap facet_xphmg_rt_read_triangle(const struct facet_element_port *port,
                                               uint64_t base,
                                               uint32_t triangle,
                                               uint32_t vertices[FACET_RT_TRIANGLE_ELEMENTS])
{
    return facet_xphmg_rt_read_elements(
        port, base, UINT64_C(9) * triangle, FACET_RT_TRIANGLE_ELEMENTS, vertices);
}
