/* Elements in containers, arrays and registers (numeric.md 5). A container of 8 << ew bits holds
 * 1 << pack elements of `nat` bits from bit 0 upwards; it is passed around as a uint64_t whose bits
 * above the container are 0. */
#ifndef FACET_NUM_CONTAINER_H
#define FACET_NUM_CONTAINER_H

#include "num/eff.h"

struct facet_container {
    uint8_t nat;      /* bits per element */
    uint8_t bytes;    /* 1, 2, 4 or 8 */
    uint8_t pack;     /* log2 of the elements */
    bool sign_extend; /* PACK = 0 and a signed integer format */
};

static inline struct facet_container facet_container_of(const struct facet_eff *eff)
{
    return (struct facet_container){
        .nat = (uint8_t)facet_format_width(eff->elem),
        .bytes = (uint8_t)(1u << eff->ew),
        .pack = eff->pack,
        .sign_extend = eff->pack == 0 && facet_format_is_int(eff->elem) && !(eff->q && eff->uns),
    };
}

/* Byte offset of the container of element i, and its slot there. */
static inline uint64_t facet_container_offset(const struct facet_container *c, uint64_t i)
{
    return (i >> c->pack) * c->bytes;
}

static inline unsigned facet_container_slot(const struct facet_container *c, uint64_t i)
{
    return (unsigned)(i & ((1u << c->pack) - 1));
}

/* Bytes of an array of m elements. */
static inline uint64_t facet_container_array_bytes(const struct facet_container *c, uint64_t m)
{
    return ((m >> c->pack) + ((m & ((1u << c->pack) - 1)) != 0)) * c->bytes;
}

/* Element bits of a slot; bits of the container above the elements are ignored. */
uint32_t facet_container_get(const struct facet_container *c, uint64_t container, unsigned slot);
/* The container with one slot replaced, other elements kept; bits above the elements become 0 or,
 * with sign_extend, copies of the element's sign. */
uint64_t facet_container_put(const struct facet_container *c,
                             uint64_t container,
                             unsigned slot,
                             uint32_t element);

/* Register images: an x register holds the container zero- or sign-extended to 64 bits, an f
 * register (GFX windows with FREG = 1) has all bits above it set. */
uint64_t facet_container_to_x(const struct facet_container *c, uint64_t container);
uint64_t facet_container_to_f(const struct facet_container *c, uint64_t container);
uint64_t facet_container_from_reg(const struct facet_container *c, uint64_t reg);
/* Single-element image: the element in slot 0, the other slots 0 (R-CAP-59). */
uint64_t facet_container_single_x(const struct facet_container *c, uint32_t element);
/* Accumulator-format register image: floating point zero-extended, integers sign-extended. */
uint64_t facet_acc_to_x(enum facet_format acc, uint32_t value);
/* ... and back: the low bits of the register in the form that element.h uses. */
uint32_t facet_acc_from_x(enum facet_format acc, uint64_t reg);

#endif
