/* Arrays of elements in guest memory as instructions and jobs of the units read and write them
 * (numeric.md 5): XPHMG accesses, with natural alignment, domain and security checks, and INV_MISS
 * on every fault. */
#ifndef FACET_XPHMG_UNITS_ELEMENTS_H
#define FACET_XPHMG_UNITS_ELEMENTS_H

#include "num/container.h"
#include "xphmg/xmem/xmem.h"

/* Who accesses (an instruction, or a job with the policy of its descriptor), and how elements lie.
 */
struct facet_element_port {
    struct facet_hart *h;
    struct facet_xmem_actor actor;
    struct facet_container container;
};

/* Bytes of plain RAM that is not watched: they have no owner, no tag and no side effect, so that
 * the probes of the careful way would all pass. NULL: take that way. */
const uint8_t *
facet_elements_ram(const struct facet_element_port *port, uint64_t address, uint64_t size);

/* The same to be written to, and what has to be done once it was, at most so many bytes at a time.
 */
uint8_t *
facet_elements_open(const struct facet_element_port *port, uint64_t address, uint64_t size);
enum { FACET_ELEMENTS_STORED = 4096 };
void facet_elements_stored(struct facet_hart *h, uint64_t address, unsigned size);

/* A word of 1, 2, 4 or 8 bytes at an aligned address. */
struct facet_trap facet_elements_load(const struct facet_element_port *port,
                                      uint64_t address,
                                      unsigned size,
                                      uint64_t *value);

/* Elements first .. first+count-1 of the array at `base`, whole containers in rising order. */
struct facet_trap facet_elements_read(const struct facet_element_port *port,
                                      uint64_t base,
                                      uint64_t first,
                                      unsigned count,
                                      uint32_t *elements);
/* Whether they can be written. */
struct facet_trap facet_elements_probe(const struct facet_element_port *port,
                                       uint64_t base,
                                       uint64_t first,
                                       unsigned count);
/* Writes them; other elements of a container that is only partly covered keep their value. Probed
 * before, so that only a device can refuse (R-XM-45). */
struct facet_trap facet_elements_write(const struct facet_element_port *port,
                                       uint64_t base,
                                       uint64_t first,
                                       unsigned count,
                                       const uint32_t *elements);

#endif
