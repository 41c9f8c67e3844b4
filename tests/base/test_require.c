/* FACET_REQUIRE: what headers ask of their callers ends a program that was built to look. This file
 * always is, so that the functions of headers can be tried in every build; those of the library
 * only where the library is. */
#ifdef FACET_ASSERTS
#define LIBRARY_LOOKS true
#else
#define LIBRARY_LOOKS false
#define FACET_ASSERTS
#endif
#include "base/arena.h"
#include "base/bits.h"
#include "base/strbuf.h"
#include "harness.h"
#include "isa/isa.h"
#include "num/container.h"
#include "num/convert.h"
#include "num/ops.h"

#include <facet/tile_layouts.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t sink;

/* How a child ends that calls fn: the signal, or 0. */
static int signal_of(void (*fn)(void))
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        (void)close(STDERR_FILENO); /* the message of assert */
        fn();
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void no_alignment(void)
{
    sink = facet_align_up(5, 3);
}

static void odd_load(void)
{
    const uint8_t bytes[8] = {0};

    sink = facet_load_le(bytes, 3);
}

static void odd_store(void)
{
    uint8_t bytes[8];

    facet_store_le(bytes, 5, 1);
    sink = bytes[0];
}

static void no_rounding_mode(void)
{
    sink = facet_num_round_up(1, 1, false, 5);
}

static void value_too_large(void)
{
    uint32_t words[FACET_TILE_COMMAND_WORDS] = {0};

    facet_tile_command_set_len(words, 256);
    sink = words[0];
}

static void index_too_large(void)
{
    uint32_t words[FACET_TILE_FENCE_WORDS + 1] = {0};

    facet_tile_fence_set_slot(words, FACET_TILE_FENCE_SLOT_COUNT, 1);
    sink = words[0];
}

static void nothing_wrong(void)
{
    uint32_t words[FACET_TILE_COMMAND_WORDS] = {0};
    uint8_t bytes[8] = {0};

    facet_tile_command_set_len(words, 255);
    facet_store_le(bytes, 4, facet_align_up(5, 4));
    sink = facet_load_le(bytes, 8) + facet_num_round_up(1, 1, false, FACET_RMM);
}

TEST(functions_of_headers, "")
{
    CHECK_EQ(signal_of(nothing_wrong), 0);
    CHECK_EQ(signal_of(no_alignment), SIGABRT);
    CHECK_EQ(signal_of(odd_load), SIGABRT);
    CHECK_EQ(signal_of(odd_store), SIGABRT);
    CHECK_EQ(signal_of(no_rounding_mode), SIGABRT);
    CHECK_EQ(signal_of(value_too_large), SIGABRT);
    CHECK_EQ(signal_of(index_too_large), SIGABRT);
}

static void arena_alignment(void)
{
    struct facet_arena arena;

    facet_arena_init(&arena);
    (void)facet_arena_alloc(&arena, 1, 12);
}

static void no_text(void)
{
    struct facet_strbuf text;

    facet_strbuf_init(&text);
    facet_strbuf_add(&text, NULL, 1);
}

static void no_slot(void)
{
    const struct facet_container c = {.nat = 8, .bytes = 1, .pack = 0};

    sink = facet_container_get(&c, 0, 1);
}

static void no_width(void)
{
    bool outside;

    sink = (uint64_t)facet_num_int_fit(0, 65, false, &outside);
}

static void operand_too_large(void)
{
    const struct facet_insn_row *row = facet_isa_decode(FACET_ISA_XPHMG, 0x00000013); /* addi */

    sink = facet_operand_set(&row->operands[0], row->match, 32);
}

TEST(functions_of_the_library, "")
{
    void (*const broken[])(void) = {arena_alignment, no_text, no_slot, no_width, operand_too_large};

    for (size_t i = 0; i < sizeof broken / sizeof broken[0] && LIBRARY_LOOKS; i++) {
        CHECK_EQ(signal_of(broken[i]), SIGABRT);
    }
    if (!LIBRARY_LOOKS) {
        harness_skip("the library of this build does not look");
    }
}
