/* The test harness of every C suite. A case names the requirement rows it proves:
 *
 *     TEST(zero_word_is_illegal, "TILE-003 TILE-004")
 *     {
 *         CHECK(facet_isa_decode(FACET_ISA_TILE, 0) == NULL);
 *         CHECK_EQ(popcount(7), 3);
 *     }
 *
 * A case about many rows says at each check, or at each entry of its table, which row it checks:
 *
 *     for (size_t i = 0; i < COUNT; i++) {
 *         harness_row(table[i].ids);
 *         CHECK_EQ(value_of(table[i].name), table[i].value);
 *     }
 *     CHECK_ID("TILE-164", LB.funct3 == 0);
 *
 * Each suite is one program. It prints one line per failing case and a summary, and writes, when
 * FACET_TEST_RESULTS names a folder, SUITE.tsv with the lines `suite case pass|fail|skip ids` and,
 * for each row that a case checked, `suite case[ID] pass|fail|skip ID`: what `make test` counts and
 * what `facet coverage` reads. Options: --list, --quiet, and names (substrings) of the cases to
 * run. */
#ifndef FACET_TESTS_HARNESS_H
#define FACET_TESTS_HARNESS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void harness_fn(void);

struct harness_case {
    const char *name;
    const char *ids; /* requirement IDs, space separated, "" for none */
    harness_fn *run;
    struct harness_case *next;
};

void harness_register(struct harness_case *c);
/* Records a failure of the running case; the case goes on. Returns ok, so that a caller can stop
 * early. */
bool harness_check(bool ok, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for one check that belongs to the requirement rows `ids` and to no other. */
bool harness_check_ids(
    const char *ids, bool ok, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* From here to the next harness_row() or the end of the case every check belongs to the requirement
 * rows `ids` (space separated): each of them passes when it was checked and no such check failed. A
 * row without a check fails, and a failed row fails its case. "": to the case alone. */
void harness_row(const char *ids);
void harness_skip(const char *why);
/* true once the running case, or the open row of it, has failed: lets a long loop stop after its
 * first finding. */
bool harness_failed(void);
/* true under `make test-long` (environment FACET_TEST_LONG=1). */
bool harness_long(void);
/* Where a machine's test bench writes down what the running case did with it, so that it can be
 * made a portable case (conformance/recorded.py): FACET_TEST_RECORD/SUITE.log; NULL when that is
 * not set. The harness adds the cases, their rows and what is checked. */
FILE *harness_record(void);
/* Another machine: the checks that follow are written down even if they were before. Returns how
 * many there were in this case. */
unsigned harness_record_anew(void);
/* Deterministic random numbers (SplitMix64), seeded per case from its name. */
uint64_t harness_random(void);

#define TEST(name, ids)                                                                            \
    static void test_##name(void);                                                                 \
    static struct harness_case case_##name = {#name, ids, test_##name, NULL};                      \
    __attribute__((constructor)) static void register_##name(void)                                 \
    {                                                                                              \
        harness_register(&case_##name);                                                            \
    }                                                                                              \
    static void test_##name(void)

#define CHECK(cond) harness_check((cond), __FILE__, __LINE__, "%s", #cond)
#define CHECK_ID(ids, cond) harness_check_ids((ids), (cond), __FILE__, __LINE__, "%s", #cond)
#define CHECK_MSG(cond, ...) harness_check((cond), __FILE__, __LINE__, __VA_ARGS__)
#define CHECK_EQ(a, b)                                                                             \
    do {                                                                                           \
        uint64_t a_ = (uint64_t)(a), b_ = (uint64_t)(b);                                           \
        harness_check(a_ == b_,                                                                    \
                      __FILE__,                                                                    \
                      __LINE__,                                                                    \
                      "%s is 0x%" PRIx64 ", expected %s = 0x%" PRIx64,                             \
                      #a,                                                                          \
                      a_,                                                                          \
                      #b,                                                                          \
                      b_);                                                                         \
    } while (0)
#define CHECK_STR(a, b)                                                                            \
    do {                                                                                           \
        const char *a_ = (a), *b_ = (b);                                                           \
        harness_check(a_ != NULL && strcmp(a_, b_) == 0,                                           \
                      __FILE__,                                                                    \
                      __LINE__,                                                                    \
                      "%s is \"%s\", expected \"%s\"",                                             \
                      #a,                                                                          \
                      a_ != NULL ? a_ : "(null)",                                                  \
                      b_);                                                                         \
    } while (0)

#endif
