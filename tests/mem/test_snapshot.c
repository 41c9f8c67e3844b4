/* Memory snapshots: round trips, and streams that were cut, changed or made for another layout. */
#include "base/failing_alloc.h"
#include "harness.h"
#include "mem/mem.h"

#include <stdlib.h>

enum { ODD = 0x2345 };

static facet_mem *make_memory(const char *name, uint64_t size)
{
    struct facet_mem_device device = {NULL, NULL, NULL};
    facet_mem *mem;

    CHECK(facet_mem_create(&mem, NULL) == FACET_OK);
    CHECK(facet_mem_add_ram(mem, name, FACET_MEM_RAM, 0x1000, size, NULL) == FACET_OK);
    CHECK(facet_mem_add_device(mem, "dev", 0x80000, 16, &device, NULL) == FACET_OK);
    CHECK(facet_mem_add_ram(mem, "rom", FACET_MEM_ROM, 0x90000, 0x1000, NULL) == FACET_OK);
    CHECK(facet_mem_add_ram(mem, "big", FACET_MEM_RAM, 1 << 30, UINT64_C(1) << 34, NULL) ==
          FACET_OK);
    return mem;
}

static void fill(facet_mem *mem)
{
    uint8_t bytes[ODD];

    for (size_t i = 0; i < ODD; i++) {
        bytes[i] = (uint8_t)harness_random();
    }
    CHECK_EQ(facet_mem_poke(mem, 0x1000, bytes, ODD).fault, 0);
    CHECK_EQ(facet_mem_poke(mem, 0x90010, "constant", 8).fault, 0);
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(
            facet_mem_write(mem, (1 << 30) + (harness_random() % (UINT64_C(1) << 33)), 8, i).fault,
            0);
    }
}

static struct facet_strbuf save(const facet_mem *mem)
{
    struct facet_strbuf out;

    facet_strbuf_init(&out);
    CHECK(facet_mem_save(mem, &out, NULL) == FACET_OK);
    return out;
}

static bool same(const struct facet_strbuf *a, const struct facet_strbuf *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* Saving is canonical, so two memories are equal when their streams are. */
TEST(round_trip_into_a_fresh_and_into_a_used_memory, "")
{
    facet_mem *mem = make_memory("ram", ODD), *fresh = make_memory("ram", ODD);
    struct facet_strbuf first, back;
    uint8_t expect[ODD], got[ODD];

    fill(mem);
    CHECK_EQ(facet_mem_peek(mem, 0x1000, expect, ODD).fault, 0);
    first = save(mem);
    CHECK(facet_mem_restore(fresh, first.text, first.length, NULL) == FACET_OK);
    back = save(fresh);
    CHECK(same(&first, &back));
    CHECK_EQ(facet_mem_peek(fresh, 0x1000, got, ODD).fault, 0);
    CHECK(memcmp(expect, got, ODD) == 0);
    facet_strbuf_free(&back);

    /* Pages that the snapshot does not have must go back to zero. */
    fill(mem);
    CHECK_EQ(facet_mem_write(mem, 1 << 30, 8, 77).fault, 0);
    CHECK_EQ(facet_mem_write(mem, (UINT64_C(1) << 34) + (1 << 30) - 8, 8, 77).fault, 0);
    CHECK(facet_mem_restore(mem, first.text, first.length, NULL) == FACET_OK);
    back = save(mem);
    CHECK(same(&first, &back));
    facet_strbuf_free(&back);
    facet_strbuf_free(&first);
    facet_mem_destroy(mem);
    facet_mem_destroy(fresh);
}

TEST(zero_pages_are_not_stored_and_history_does_not_show, "")
{
    facet_mem *mem = make_memory("ram", ODD);
    struct facet_strbuf empty = save(mem), used;

    CHECK_EQ(empty.length, 16 + 3 * 64);
    fill(mem);
    facet_mem_clear(mem);
    CHECK_EQ(facet_mem_write(mem, 0x1000, 8, 1).fault, 0);
    CHECK_EQ(facet_mem_write(mem, 0x1000, 8, 0).fault, 0);
    used = save(mem);
    CHECK(same(&empty, &used));
    facet_strbuf_free(&empty);
    facet_strbuf_free(&used);
    facet_mem_destroy(mem);
}

TEST(restore_dirties_only_what_changes, "")
{
    facet_mem *mem = make_memory("ram", ODD);
    struct facet_strbuf saved;
    struct facet_mem_cursor cursor = {0, 0};
    struct facet_mem_page page;

    fill(mem);
    saved = save(mem);
    CHECK_EQ(facet_mem_write(mem, 0x2008, 1, 0x5A).fault, 0);
    CHECK_EQ(facet_mem_write(mem, 0x2008, 1, 0xA5).fault, 0);
    facet_mem_dirty_clear(mem, FACET_MEM_DIRTY_ALL);
    CHECK(facet_mem_restore(mem, saved.text, saved.length, NULL) == FACET_OK);
    CHECK(facet_mem_dirty_next(mem, FACET_MEM_DIRTY_SNAPSHOT, &cursor, &page));
    CHECK_EQ(page.address, 0x2000);
    CHECK(!facet_mem_dirty_next(mem, FACET_MEM_DIRTY_SNAPSHOT, &cursor, &page));
    facet_strbuf_free(&saved);
    facet_mem_destroy(mem);
}

/* Applies a bad stream to a filled memory: it must complain and change nothing. */
static void must_refuse(facet_mem *mem,
                        const struct facet_strbuf *before,
                        const void *data,
                        size_t size,
                        const char *why)
{
    struct facet_error err = {FACET_OK, 0, ""};
    struct facet_strbuf after;

    CHECK_MSG(facet_mem_restore(mem, data, size, &err) == FACET_ERR_INPUT, "%s accepted", why);
    CHECK_MSG(strstr(err.message, "offset") != NULL, "%s: \"%s\"", why, err.message);
    CHECK_MSG(err.where <= size, "%s: offset %" PRIu64 " of %zu", why, err.where, size);
    after = save(mem);
    CHECK_MSG(same(before, &after), "%s changed the memory", why);
    facet_strbuf_free(&after);
}

TEST(every_truncation_is_refused, "")
{
    facet_mem *mem = make_memory("ram", ODD), *source = make_memory("ram", ODD);
    struct facet_strbuf good, before;
    uint8_t *bad;

    fill(source);
    fill(mem);
    good = save(source);
    before = save(mem);
    bad = malloc(good.length + 1);
    for (size_t size = 0; size < good.length && !harness_failed();
         size += size < 300 ? 1 : 1 + harness_random() % 700) {
        must_refuse(mem, &before, good.text, size, "a truncation");
    }
    memcpy(bad, good.text, good.length);
    bad[good.length] = 0;
    must_refuse(mem, &before, bad, good.length + 1, "an extra byte");
    CHECK(facet_mem_restore(mem, good.text, good.length, NULL) == FACET_OK);
    free(bad);
    facet_strbuf_free(&good);
    facet_strbuf_free(&before);
    facet_mem_destroy(mem);
    facet_mem_destroy(source);
}

TEST(streams_are_checked_by_structure, "")
{
    static const struct {
        size_t at;
        uint64_t value;
        const char *message;
    } rows[] = {
        {0, 0, "expected \"FACETMEM\""},
        {8, 1 | UINT64_C(3) << 32, "version 1, expected 2"},
        {8, 2 | UINT64_C(4) << 32, "4 regions, expected 3"},
        {16, 'x', "another region, expected \"ram\""},
        {16 + 32, 0x2000, "another region"},
        {16 + 40, 0x2346, "another region"},
        {16 + 48, 1, "another region"},
        {16 + 56, 4, "more pages than region"},
        {16 + 56, 2, "offset"},
        {16 + 64, 1, "expected 2..2"},                    /* page 1 twice */
        {16 + 64 + 2 * 4104, 3, "page 3, expected 2..2"}, /* no such page */
        {16 + 64 + 2 * 4104, 1, "page 1, expected 2..2"},
        {16 + 64 + 2 * 4104 + 8 + 0x345, 1, "beyond the end of region"},
    };
    facet_mem *mem = make_memory("ram", ODD), *source = make_memory("ram", ODD);
    struct facet_strbuf good, before;
    struct facet_error err;
    uint8_t *bad;

    fill(source);
    good = save(source);
    before = save(mem);
    bad = malloc(good.length);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memcpy(bad, good.text, good.length);
        facet_store_le64(bad + rows[i].at, rows[i].value);
        must_refuse(mem, &before, bad, good.length, rows[i].message);
        (void)facet_mem_validate(mem, bad, good.length, &err);
        CHECK_MSG(strstr(err.message, rows[i].message) != NULL,
                  "\"%s\", expected \"%s\"",
                  err.message,
                  rows[i].message);
    }
    free(bad);
    bad = calloc(1, good.length + 3);
    memcpy(bad, good.text, good.length);
    must_refuse(mem, &before, bad, good.length + 3, "bytes after the last page");
    free(bad);
    facet_strbuf_free(&good);
    facet_strbuf_free(&before);
    facet_mem_destroy(mem);
    facet_mem_destroy(source);
}

/* Random damage: anything may come out but a crash, and a refusal changes nothing. */
TEST(random_damage_never_crashes, "")
{
    facet_mem *mem = make_memory("ram", ODD);
    struct facet_strbuf good;
    uint8_t *bad;

    fill(mem);
    good = save(mem);
    bad = malloc(good.length);
    for (int i = 0; i < 3000; i++) {
        size_t size =
            harness_random() % 2 == 0 ? good.length : 8 + harness_random() % (good.length - 7);

        memcpy(bad, good.text, size);
        for (int k = 0; k < 3; k++) {
            bad[harness_random() % (harness_random() % 2 == 0 ? size
                                    : size < 250              ? size
                                                              : 250)] = (uint8_t)harness_random();
        }
        if (facet_mem_validate(mem, bad, size, NULL) == FACET_OK) {
            CHECK(facet_mem_restore(mem, bad, size, NULL) == FACET_OK);
        }
    }
    free(bad);
    facet_strbuf_free(&good);
    facet_mem_destroy(mem);
}

TEST(another_layout_is_refused, "")
{
    facet_mem *mem = make_memory("ram", ODD), *other = make_memory("ram", ODD + 1);
    facet_mem *renamed = make_memory("dram", ODD);
    struct facet_strbuf saved = save(mem);
    struct facet_error err;

    CHECK(facet_mem_restore(other, saved.text, saved.length, &err) == FACET_ERR_INPUT);
    CHECK(facet_mem_restore(renamed, saved.text, saved.length, &err) == FACET_ERR_INPUT);
    CHECK(strstr(err.message, "expected \"dram\"") != NULL);
    CHECK_EQ(err.where, 16);
    facet_strbuf_free(&saved);
    facet_mem_destroy(mem);
    facet_mem_destroy(other);
    facet_mem_destroy(renamed);
}

TEST(saving_without_memory_is_an_error, "")
{
    facet_mem *mem = make_memory("ram", ODD);
    struct facet_strbuf out;
    struct facet_error err;

    fill(mem);
    for (long good = 0; good < 4; good++) {
        facet_strbuf_init(&out);
        failing_alloc_after(good);
        CHECK(facet_mem_save(mem, &out, &err) == FACET_ERR_MEMORY);
        failing_alloc_after(-1);
        facet_strbuf_free(&out);
    }
    facet_mem_destroy(mem);
}
