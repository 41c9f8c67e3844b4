/* arena.h, large.h and strbuf.h, with allocations that fail. */
#include "base/arena.h"
#include "base/failing_alloc.h"
#include "base/large.h"
#include "base/strbuf.h"
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>

TEST(arena_objects_are_aligned_and_apart, "")
{
    enum { COUNT = 5000 };
    static uint8_t *objects[COUNT];
    static size_t sizes[COUNT];
    struct facet_arena arena;

    facet_arena_init(&arena);
    for (int pass = 0; pass < 3; pass++) {
        for (int i = 0; i < COUNT; i++) {
            size_t align = (size_t)1 << harness_random() % 9;

            sizes[i] = harness_random() % (i % 500 == 0 ? 100000 : 60);
            objects[i] = facet_arena_alloc(&arena, sizes[i], align);
            if (!CHECK(objects[i] != NULL && (uintptr_t)objects[i] % align == 0)) {
                return;
            }
            memset(objects[i], i % 251, sizes[i]);
        }
        /* Every byte still holds its object's mark: no two objects overlap. */
        for (int i = 0; i < COUNT; i++) {
            for (size_t k = 0; k < sizes[i]; k++) {
                if (!CHECK(objects[i][k] == i % 251)) {
                    return;
                }
            }
        }
        facet_arena_reset(&arena);
    }
    facet_arena_free(&arena);
    CHECK(arena.chunks == NULL);
}

TEST(arena_reset_keeps_a_chunk, "")
{
    struct facet_arena arena;
    void *big;

    facet_arena_init(&arena);
    facet_arena_reset(&arena); /* nothing there yet */
    big = facet_arena_alloc(&arena, 50000, 8);
    CHECK(big != NULL && facet_arena_alloc(&arena, 10, 8) != NULL);
    CHECK(facet_arena_alloc(&arena, 100000, 8) != NULL);
    CHECK(facet_arena_alloc(&arena, 10, 8) != NULL);
    facet_arena_reset(&arena);
    failing_alloc_after(0);
    CHECK(facet_arena_alloc(&arena, 90000, 8) != NULL);
    CHECK(facet_arena_alloc(&arena, 90000, 8) == NULL);
    failing_alloc_after(-1);
    facet_arena_free(&arena);
}

TEST(arena_leaves_room_for_large_alignments, "")
{
    for (size_t align = 1; align <= 65536; align *= 2) {
        struct facet_arena arena;
        uint8_t *object;

        facet_arena_init(&arena);
        object = facet_arena_alloc(&arena, 100000, align);
        CHECK(object != NULL && (uintptr_t)object % align == 0);
        CHECK(object + 100000 <= arena.end && arena.next <= arena.end);
        facet_arena_free(&arena);
    }
}

TEST(arena_failure_is_null_and_harmless, "")
{
    struct facet_arena arena;
    char *text;
    uint64_t *zeros;

    facet_arena_init(&arena);
    failing_alloc_after(0);
    CHECK(facet_arena_alloc(&arena, 1, 1) == NULL);
    failing_alloc_after(-1);
    text = facet_arena_copy(&arena, "abcdef", 3);
    CHECK_STR(text, "abc");
    CHECK(facet_arena_alloc(&arena, SIZE_MAX, 1) == NULL);
    CHECK(facet_arena_alloc(&arena, SIZE_MAX - 8, 16) == NULL);
    CHECK(facet_arena_alloc(&arena, SIZE_MAX / 2, 16) == NULL);
    CHECK(facet_arena_calloc(&arena, SIZE_MAX / 8 + 2, 8) == NULL); /* 8 modulo 2^64 */
    CHECK(facet_arena_copy(&arena, "", SIZE_MAX) == NULL);
    failing_alloc_after(0);
    CHECK(facet_arena_alloc(&arena, 100000, 8) == NULL);
    CHECK(facet_arena_alloc(&arena, 100, 8) != NULL); /* what is left of the chunk still serves */
    failing_alloc_after(-1);
    zeros = facet_arena_calloc(&arena, 1000, sizeof *zeros);
    for (int i = 0; zeros != NULL && i < 1000; i++) {
        CHECK_EQ(zeros[i], 0);
    }
    CHECK_STR(text, "abc");
    facet_arena_free(&arena);
}

TEST(strbuf_grows, "")
{
    struct facet_strbuf buf;
    char *model = malloc(200001);
    size_t length = 0;

    facet_strbuf_init(&buf);
    CHECK_STR(facet_strbuf_text(&buf), "");
    while (model != NULL && length < 200000) {
        char c = (char)('a' + length % 26);

        facet_strbuf_putc(&buf, c);
        model[length++] = c;
        if (length % 1000 == 0 && length < 199000) {
            facet_strbuf_printf(&buf, "<%zu>", length);
            length += (size_t)sprintf(model + length, "<%zu>", length);
        }
    }
    if (model != NULL) {
        model[length] = '\0';
        CHECK_EQ(buf.length, length);
        CHECK(strcmp(facet_strbuf_text(&buf), model) == 0);
    }
    CHECK(!buf.failed);
    facet_strbuf_clear(&buf);
    CHECK_STR(facet_strbuf_text(&buf), "");
    facet_strbuf_puts(&buf, "again");
    CHECK_STR(facet_strbuf_text(&buf), "again");
    facet_strbuf_free(&buf);
    free(model);
}

TEST(strbuf_failure_is_sticky_and_keeps_the_text, "")
{
    struct facet_strbuf buf;
    char big[1000];

    memset(big, 'x', sizeof big);
    facet_strbuf_init(&buf);
    facet_strbuf_puts(&buf, "kept");
    failing_alloc_after(0);
    facet_strbuf_add(&buf, big, sizeof big);
    failing_alloc_after(-1);
    CHECK(buf.failed);
    facet_strbuf_puts(&buf, "more");
    facet_strbuf_printf(&buf, "%d", 1);
    CHECK_STR(facet_strbuf_text(&buf), "kept");
    facet_strbuf_free(&buf);
    CHECK(!buf.failed);

    facet_strbuf_add(&buf, big, SIZE_MAX - 2); /* refused before a byte is read */
    CHECK(buf.failed);
    facet_strbuf_free(&buf);
    facet_strbuf_puts(&buf, "x");
    facet_strbuf_add(&buf, big, SIZE_MAX - 1);
    CHECK(buf.failed);
    facet_strbuf_free(&buf);
}

TEST(reserved_memory_begins_with_a_large_page, "")
{
    static const size_t more[] = {0, 1, 4096, 1000000, FACET_LARGE_PAGE - 1};

    for (unsigned i = 0; i < 3 * sizeof more / sizeof more[0]; i++) {
        const size_t size = i % 3 * FACET_LARGE_PAGE + more[i / 3];
        uint8_t *memory = facet_reserve_large(size);

        if (size == 0) {
            CHECK(memory == NULL);
            continue;
        }
        if (!CHECK(memory != NULL)) {
            return;
        }
        CHECK(size < FACET_LARGE_PAGE || (uintptr_t)memory % FACET_LARGE_PAGE == 0);
        CHECK(memory[0] == 0 && memory[size - 1] == 0);
        memory[0] = memory[size - 1] = 1;
        facet_unreserve(memory, size);
        CHECK(msync(memory, 1, MS_ASYNC) != 0); /* nothing is left there */
        CHECK(size < 3 * 4096 || msync(memory + (size - 1) / 4096 * 4096, 1, MS_ASYNC) != 0);
    }
    CHECK(facet_reserve_large(SIZE_MAX) == NULL);
}
