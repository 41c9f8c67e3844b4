/* The LDS stack instructions against a model of another shape: a list that forgets its oldest entry
 * instead of a ring, and a set of pushed entries instead of a running scan. */
#include "gfx12/common.h"

/* ---- the model ---- */

struct model {
    uint32_t items[64]; /* oldest first */
    unsigned count;     /* at most size */
    unsigned size;
    bool overflow;
    bool tlas;         /* entries of the TLAS are below */
    unsigned above;    /* entries pushed since, saturating at size */
    bool back_to_tlas; /* bit 31 */
};

static void model_push(struct model *m, uint32_t x)
{
    if (m->count == m->size) {
        m->overflow = true;
        memmove(m->items, m->items + 1, (m->count - 1) * sizeof m->items[0]);
        m->count--;
    }
    m->items[m->count++] = x;
    if (m->above == m->size) {
        m->tlas = false;
    } else {
        m->above++;
    }
}

static uint32_t model_pop(struct model *m)
{
    m->back_to_tlas = m->tlas && m->above == 0;
    m->tlas = m->tlas && !m->back_to_tlas;
    if (m->count == 0) {
        m->back_to_tlas = m->tlas = false;
        return m->overflow ? INV : 0xFFFFFFFE;
    }
    uint32_t x = m->items[--m->count];
    m->above -= m->above > 0;
    if ((x & 7) == 6) {
        if (m->tlas) { /* a second level of instances: what is below is given up */
            unsigned keep = m->above;
            memmove(m->items, m->items + m->count - keep, keep * sizeof m->items[0]);
            m->count = keep;
            m->overflow = true;
        }
        m->tlas = true;
        m->above = 0;
    }
    return x;
}

static bool is_sentinel(uint32_t x)
{
    return x >= 0xFFFFFFF8;
}

/* Which of the eight entries are pushed: a bit per entry. */
static unsigned pushed(uint32_t last, const uint32_t n[8], bool ranges)
{
    bool walk = !is_sentinel(last);
    if (walk) { /* the entries behind the one that the walk comes from, in the order of the node */
        int match = -1;
        for (int i = 0; i < 8; i++) {
            if (n[i] == last || (ranges && (n[i] & 7) <= 3)) {
                match = i;
            }
        }
        if (match < 0 && !(ranges && (last & 7) <= 3)) {
            return 0;
        }
        /* Sentinels behind the match still skip. */
        unsigned result = 0;
        bool high = false, low = false;
        for (int i = 7; i > match; i--) {
            if (is_sentinel(n[i]) && !(i >= 4 ? high : low)) {
                low = low || (n[i] & 2) == 0;
                high = high || (i >= 4 && (n[i] & 4) == 0);
            } else if (!is_sentinel(n[i]) && !(i >= 4 ? high : low)) {
                result |= 1u << i;
            }
        }
        return result;
    }
    if (ranges && (last & 4) == 0) { /* after a primitive: nothing, or the next of its range */
        return (last & 2) != 0 || is_sentinel(n[7]) ? 0 : 0x80;
    }
    unsigned result = 0;
    bool high = false, low = false;
    for (int i = 7; i >= 0; i--) {
        if (is_sentinel(n[i])) {
            if (!(i >= 4 ? high : low)) {
                low = low || (n[i] & 2) == 0;
                high = high || (i >= 4 && (n[i] & 4) == 0);
            }
        } else if (!(i >= 4 ? high : low)) {
            result |= 1u << i;
        }
    }
    return result;
}

static uint32_t model_address(const struct model *m, uint32_t base, unsigned idx)
{
    return (uint32_t)m->back_to_tlas << 31 | (uint32_t)m->overflow << 30 | (uint32_t)m->tlas << 29 |
           base << 15 | idx << 10 | m->above << 5 | m->count;
}

/* An entry as an intersect result could hold it. */
static uint32_t random_entry(void)
{
    unsigned kind = random_bits() % 8;
    uint32_t id = (random_bits() % 64 + 1) << 4;
    if (kind < 2) {
        return INV;
    }
    if (kind == 2) {
        static const uint32_t skips[3] = {0xFFFFFFF9, 0xFFFFFFFB, 0xFFFFFFFD};
        return random_bits() % 4 == 0 ? skips[random_bits() % 3] : INV;
    }
    return kind == 3 ? id | 6 : kind < 6 ? id | 5 : id | (random_bits() & 3);
}

TEST(random_sequences, "G12-249 G12-250 G12-251")
{
    unsigned overflows = 0, crossings = 0, terminals = 0;
    for (unsigned n = 0; n < 20000 && !harness_failed(); n++) {
        static uint32_t dwords[17408];
        struct model m = {.size = 8 + n % 24};
        const struct facet_gfx12_lds lds = {dwords, 17408, (uint8_t)m.size, n % 3 != 0};
        uint32_t base = random_bits() % 16384, address = facet_gfx12_stack_init(base);
        unsigned top = 0; /* ring position */
        for (unsigned step = 0; step < 40 && !harness_failed(); step++) {
            uint32_t data[8], last = INV;
            for (unsigned i = 0; i < 8; i++) {
                data[i] = random_entry();
            }
            unsigned mode = random_bits() % 8;
            if (mode == 0) { /* after a primitive */
                static const uint32_t nav[3] = {0xFFFFFFF8, 0xFFFFFFF9, 0xFFFFFFFB};
                last = nav[random_bits() % 3];
                data[7] = 0x400 | (random_bits() & 11);
            } else if (mode == 1) { /* walking back */
                last = random_bits() % 4 != 0 ? data[random_bits() % 8] : random_entry();
            } else if (mode < 4) { /* nothing found: drains */
                memset(data, 0xFF, sizeof data);
            }
            unsigned set = pushed(last, data, lds.primitive_range);
            for (int i = 7; i >= 0; i--) {
                if ((set >> i & 1) != 0) {
                    uint32_t x = data[i];
                    if (lds.primitive_range && is_sentinel(last) && (last & 4) == 0) {
                        x = last == 0xFFFFFFF9 ? (x & ~15u) + 16
                            : (x & 15) == 3    ? (x & ~15u) + 8
                                               : x + 1;
                    }
                    model_push(&m, x);
                    top = (top + 1) % m.size;
                }
            }
            uint32_t want = model_pop(&m);
            if (!is_sentinel(want)) {
                top = (top + m.size - 1) % m.size;
            }
            uint32_t got = facet_gfx12_stack_push8_pop1(&lds, &address, last, data);
            CHECK_MSG(got == want && address == model_address(&m, base, top),
                      "sequence %u step %u: %08" PRIX32 " %08" PRIX32 ", expected %08" PRIX32
                      " %08" PRIX32,
                      n,
                      step,
                      got,
                      address,
                      want,
                      model_address(&m, base, top));
            overflows += m.overflow;
            crossings += m.back_to_tlas;
            terminals += want == 0xFFFFFFFE;
        }
    }
    CHECK_MSG(overflows > 1000 && crossings > 1000 && terminals > 1000,
              "%u overflows, %u crossings, %u ends",
              overflows,
              crossings,
              terminals);
}

TEST(seventeen_pushes_overflow, "G12-250")
{
    uint32_t dwords[1024] = {0};
    const struct facet_gfx12_lds lds = {dwords, 1024, 16, true};
    uint32_t address = facet_gfx12_stack_init(0), id = 0x105, popped;
    uint32_t data[8];
    for (unsigned n = 0; n < 3; n++) { /* 8 pushed and 1 popped each time: 7, 14, then 22 > 16 */
        for (unsigned i = 0; i < 8; i++, id += 0x10) {
            data[i] = id;
        }
        (void)facet_gfx12_stack_push8_pop1(&lds, &address, INV, data);
        CHECK_EQ(address >> 30 & 1, n == 2);
    }
    memset(data, 0xFF, sizeof data);
    unsigned pops = 0;
    while ((popped = facet_gfx12_stack_push8_pop1(&lds, &address, INV, data)) != INV && pops < 99) {
        CHECK(popped != 0xFFFFFFFE);
        pops++;
    }
    CHECK_EQ(pops, 15);
    CHECK_EQ(facet_gfx12_stack_push8_pop1(&lds, &address, INV, data), INV);
}

TEST(pop2, "G12-249")
{
    uint32_t dwords[1024] = {0};
    const struct facet_gfx12_lds lds = {dwords, 1024, 16, true};
    static const struct {
        const char *what;
        uint32_t data[8];
        uint32_t first[2], second[2]; /* results of this and of a following empty push */
    } rows[] = {
        {"triangle 1 expands to the pair",
         {0x41, 0x55, INV, INV, INV, INV, INV, INV},
         {0x40, 0x41},
         {0x55, INV}},
        {"two boxes", {0x45, 0x55, 0x65, INV, INV, INV, INV, INV}, {0x55, 0x45}, {0x65, INV}},
        {"an instance is not taken as the second",
         {0x45, 0x56, INV, INV, INV, INV, INV, INV},
         {0x45, INV},
         {0x56, INV}},
        {"an instance comes alone",
         {0x46, 0x55, INV, INV, INV, INV, INV, INV},
         {0x46, INV},
         {0x55, INV}},
        {"triangle 0 takes what follows",
         {0x40, 0x55, INV, INV, INV, INV, INV, INV},
         {0x55, 0x40},
         {0xFFFFFFFE, INV}},
        {"nothing", {INV, INV, INV, INV, INV, INV, INV, INV}, {0xFFFFFFFE, INV}, {0xFFFFFFFE, INV}},
    };
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        uint32_t address = facet_gfx12_stack_init(0), r[2], none[8];
        memset(none, 0xFF, sizeof none);
        facet_gfx12_stack_push8_pop2(&lds, &address, INV, rows[n].data, r);
        check_words(rows[n].what, r, rows[n].first, 2);
        facet_gfx12_stack_push8_pop2(&lds, &address, INV, none, r);
        check_words(rows[n].what, r, rows[n].second, 2);
    }
    /* The second entry leaves the counters as a pop does. */
    uint32_t address = facet_gfx12_stack_init(5), r[2];
    facet_gfx12_stack_push8_pop2(
        &lds, &address, INV, (const uint32_t[]){0x45, 0x55, 0x65, 0x75, INV, INV, INV, INV}, r);
    CHECK_EQ(address, 5u << 15 | 2 << 10 | 2 << 5 | 2);
    /* The starred rules do not apply: a primitive in the data is no match of a walk. */
    address = facet_gfx12_stack_init(0);
    facet_gfx12_stack_push8_pop2(
        &lds, &address, 0x55, (const uint32_t[]){0x45, 0x55, 0x60, 0x75, INV, INV, INV, INV}, r);
    check_words("walk", r, (const uint32_t[]){0x75, 0x60}, 2);
}

TEST(any_operands_are_safe, "")
{
    uint32_t dwords[64] = {0};
    for (unsigned n = 0; n < 300000; n++) {
        const struct facet_gfx12_lds lds = {
            dwords, random_bits() % 65, (uint8_t)random_bits(), random_bits() & 1};
        uint32_t address = random_bits(), data[8], r[2];
        for (unsigned i = 0; i < 8; i++) {
            data[i] = random_bits() % 2 != 0 ? random_bits() : random_entry();
        }
        if (n % 2 != 0) {
            (void)facet_gfx12_stack_push8_pop1(&lds, &address, random_bits(), data);
        } else {
            facet_gfx12_stack_push8_pop2(&lds, &address, random_entry(), data, r);
        }
    }
    /* Beyond LDS: writes vanish, reads give 0. */
    uint32_t guard[4] = {1, 2, 3, 4};
    const struct facet_gfx12_lds lds = {guard, 2, 16, true};
    uint32_t address = facet_gfx12_stack_init(2);
    uint32_t got = facet_gfx12_stack_push8_pop1(
        &lds, &address, INV, (const uint32_t[]){0x45, INV, INV, INV, INV, INV, INV, INV});
    CHECK_EQ(got, 0);
    CHECK_EQ(guard[2], 3);
}
