/* See structures.h. */
#include "fuzz/structures.h"

#include "base/require.h"

#include <string.h>

static unsigned element_index(unsigned element)
{
    return element == 1 ? 0 : element == 2 ? 1 : element == 4 ? 2 : 3;
}

static void put_bits(uint8_t *out, size_t room, uint64_t at, uint32_t width, uint64_t value)
{
    for (uint32_t i = 0; i < width && (at + i) / 8 < room; i++) {
        const uint8_t bit = (uint8_t)(1u << (at + i) % 8);

        out[(at + i) / 8] =
            (uint8_t)((value >> i & 1) != 0 ? out[(at + i) / 8] | bit : out[(at + i) / 8] & ~bit);
    }
}

static uint64_t float_of(unsigned choice, uint32_t width)
{
    /* 0, 1, -1, 0.5, 100, the largest subnormal, infinity, NaN, as the upper half of binary32 */
    static const uint32_t single[] = {
        0, 0x3F800000, 0xBF800000, 0x3F000000, 0x42C80000, 0x007FFFFF, 0x7F800000, 0x7FC00000};
    static const uint32_t half[] = {0, 0x3C00, 0xBC00, 0x3800, 0x5640, 0x03FF, 0x7C00, 0x7E00};

    return width == 32 ? single[choice % 8] : width == 16 ? half[choice % 8] : choice * 0x1357u;
}

static uint64_t value_of(struct fuzz_bytes *in,
                         const struct facet_layout_member *m,
                         uint32_t width,
                         const struct facet_fuzz_place *place)
{
    const unsigned choice = (unsigned)fuzz_take(in, 1), n = choice >> 3;
    const struct facet_layout_value *legal =
        m->value_count != 0 ? &m->values[n % m->value_count] : NULL;

    switch (choice & 7) {
    case 0:
    case 1:
        return m->preset;
    case 2:
        return fuzz_take(in, (width + 7) / 8 < 8 ? (width + 7) / 8 : 8);
    default:
        break;
    }
    switch (m->type) {
    case FACET_LAYOUT_ADDRESS:
        return place->base + 64 * fuzz_take(in, 1) % place->size;
    case FACET_LAYOUT_FLOAT:
    case FACET_LAYOUT_ELEMENT:
        return float_of(n, width);
    case FACET_LAYOUT_PAIR:
    case FACET_LAYOUT_IPAIR:
        return n | (uint64_t)(choice & 31) << 16;
    case FACET_LAYOUT_FLAGS:
        return (choice & 4) != 0 && legal != NULL ? UINT64_C(1) << legal->first : fuzz_take(in, 1);
    default:
        return legal != NULL ? legal->first : n;
    }
}

static const struct facet_layout_row *row_named(const char *name)
{
    for (size_t i = 0; i < facet_layout_row_count; i++) {
        if (strcmp(facet_layout_rows[i].name, name) == 0) {
            return &facet_layout_rows[i];
        }
    }
    return NULL;
}

static uint32_t size_of(const struct facet_layout_row *row, unsigned element)
{
    return row->by_element != NULL ? row->by_element[element_index(element)] : row->size;
}

static void fill(struct fuzz_bytes *in,
                 const struct facet_layout_row *row,
                 unsigned element,
                 const struct facet_fuzz_place *place,
                 uint8_t *out,
                 size_t room)
{
    for (uint16_t i = 0; i < row->member_count; i++) {
        const struct facet_layout_member *m = &row->members[i];
        const uint64_t at =
            m->by_element != NULL ? m->by_element[element_index(element)] : m->offset;

        for (uint32_t k = 0; k < m->count && !m->view; k++) {
            if (m->type == FACET_LAYOUT_STRUCTURE) {
                const struct facet_layout_row *nested = row_named(m->structure);
                const uint64_t where = at + (uint64_t)k * size_of(nested, element);

                if (where < room) {
                    fill(in, nested, element, place, out + where, room - where);
                }
            } else {
                const uint32_t width = m->type == FACET_LAYOUT_ELEMENT ? 8 * element : m->width;

                put_bits(out,
                         room,
                         8 * at + m->lo + (uint64_t)k * width,
                         width,
                         value_of(in, m, width, place));
            }
        }
    }
}

void facet_fuzz_structure_named(struct fuzz_bytes *in,
                                const char *name,
                                unsigned element,
                                const struct facet_fuzz_place *place,
                                uint8_t *out,
                                size_t room)
{
    const struct facet_layout_row *row = row_named(name);

    FACET_REQUIRE(row != NULL);
    fill(in, row, element, place, out, room);
}

void facet_fuzz_structure(struct fuzz_bytes *in,
                          const char *machine,
                          unsigned element,
                          const struct facet_fuzz_place *place,
                          uint8_t *out,
                          size_t room)
{
    const struct facet_layout_row *rows[64];
    size_t count = 0;

    for (size_t i = 0; i < facet_layout_row_count && count < 64; i++) {
        if (size_of(&facet_layout_rows[i], element) <= room &&
            strcmp(facet_layout_rows[i].machine, machine) == 0) {
            rows[count++] = &facet_layout_rows[i];
        }
    }
    fill(in, rows[fuzz_take(in, 1) % count], element, place, out, room);
}
