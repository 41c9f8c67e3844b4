/* See container.h. */
#include "num/container.h"

#include "base/require.h"

static uint64_t low_bits(unsigned n)
{
    return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

static uint64_t sign_extend(uint64_t value, unsigned bits)
{
    uint64_t sign = UINT64_C(1) << (bits - 1);

    return ((value & low_bits(bits)) ^ sign) - sign;
}

uint32_t facet_container_get(const struct facet_container *c, uint64_t container, unsigned slot)
{
    FACET_REQUIRE(slot >> c->pack == 0);
    return (uint32_t)(container >> (slot * c->nat) & low_bits(c->nat));
}

uint64_t facet_container_put(const struct facet_container *c,
                             uint64_t container,
                             unsigned slot,
                             uint32_t element)
{
    unsigned shift = slot * c->nat;
    uint64_t used = low_bits((unsigned)c->nat << c->pack), mask = low_bits(c->nat);

    FACET_REQUIRE(slot >> c->pack == 0);
    if (c->sign_extend) {
        return sign_extend(element, c->nat) & low_bits(8u * c->bytes);
    }
    return ((container & ~(mask << shift)) | (element & mask) << shift) & used;
}

uint64_t facet_container_to_x(const struct facet_container *c, uint64_t container)
{
    unsigned bits = 8u * c->bytes;

    return c->sign_extend ? sign_extend(container, bits) : container & low_bits(bits);
}

uint64_t facet_container_to_f(const struct facet_container *c, uint64_t container)
{
    return container | ~low_bits(8u * c->bytes);
}

uint64_t facet_container_from_reg(const struct facet_container *c, uint64_t reg)
{
    return reg & low_bits(8u * c->bytes);
}

uint64_t facet_container_single_x(const struct facet_container *c, uint32_t element)
{
    return facet_container_to_x(c, facet_container_put(c, 0, 0, element));
}

uint64_t facet_acc_to_x(enum facet_format acc, uint32_t value)
{
    return facet_format_is_int(acc) ? (uint64_t)(int64_t)(int32_t)value : value;
}

uint32_t facet_acc_from_x(enum facet_format acc, uint64_t reg)
{
    unsigned width = facet_format_width(acc);

    return (uint32_t)(facet_format_is_int(acc) ? sign_extend(reg, width) : reg & low_bits(width));
}
