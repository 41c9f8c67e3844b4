/* base/array.h and base/float.h. */
#include "failing_alloc.h"
#include "harness.h"

#include "base/array.h"
#include "base/float.h"

TEST(an_array_grows_and_keeps_its_items, "")
{
    uint32_t *items = NULL;
    size_t room = 0;

    for (uint32_t i = 0; i < 1000; i++) {
        CHECK(facet_array_fit(&items, &room, i + 1, sizeof *items));
        CHECK(room > i);
        items[i] = i * i;
    }
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK_EQ(items[i], i * i);
    }
    CHECK(facet_array_fit(&items, &room, 5000, sizeof *items));
    CHECK(room >= 5000 && items[999] == 999 * 999);
    free(items);
}

TEST(growing_one_by_one_moves_seldom, "")
{
    uint8_t *items = NULL;
    size_t room = 0;
    unsigned moves = 0;

    for (size_t n = 1; n <= 1 << 20; n++) {
        size_t before = room;

        CHECK(facet_array_fit(&items, &room, n, 1));
        moves += room != before;
    }
    CHECK(moves <= 20);
    free(items);
}

TEST(a_size_that_no_memory_has_is_refused_without_a_change, "")
{
    static const struct {
        size_t need, size;
    } rows[] = {{SIZE_MAX, 2}, {SIZE_MAX / 8 + 1, 8}, {SIZE_MAX / 2 + 2, 2}};
    uint64_t *items = NULL;
    size_t room = 0;
    struct facet_array array = {NULL, 0, 0};
    uint64_t *place;

    CHECK(facet_array_fit(&items, &room, 3, sizeof *items));
    items[2] = 7;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t *const old = items;
        const size_t had = room;

        CHECK(!facet_array_fit(&items, &room, rows[i].need, rows[i].size));
        CHECK(items == old && room == had && items[2] == 7);
    }
    free(items);
    place = facet_array_add(&array, 1, sizeof *place);
    CHECK(place != NULL);
    CHECK(facet_array_add(&array, SIZE_MAX, sizeof *place) == NULL);
    CHECK_EQ(array.count, 1);
    free(array.items);
}

TEST(without_memory_the_items_stay, "")
{
    struct facet_array array = {NULL, 0, 0};
    uint32_t *three = facet_array_add(&array, 3, sizeof *three);
    const size_t room = array.room;

    CHECK(three != NULL && array.count == 3);
    three[0] = 1, three[1] = 2, three[2] = 3;
    failing_alloc_after(0);
    CHECK(facet_array_add(&array, room, sizeof *three) == NULL);
    failing_alloc_after(-1);
    CHECK(array.count == 3 && array.room == room);
    three = array.items;
    CHECK_EQ(three[0] + three[1] + three[2], 6);
    free(array.items);
}

TEST(numbers_have_their_bits, "")
{
    CHECK_EQ(facet_float_bits(-1.5f), 0xBFC00000);
    CHECK_EQ(facet_float_bits(-0.0f), 0x80000000);
    CHECK(facet_float_of(0x40490FDB) == 3.14159274f);
    CHECK_EQ(facet_float_bits(facet_float_of(0x7FC12345)), 0x7FC12345);
    CHECK_EQ(facet_double_bits(-1.5), UINT64_C(0xBFF8000000000000));
    CHECK(facet_double_of(UINT64_C(0x3FF0000000000001)) == 1 + 0x1p-52);
}
