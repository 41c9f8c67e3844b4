/* What measurements share: the clock, repeated work, peers that are programs. */
#include "bench/bench.h"
#include "harness.h"

TEST(the_clock_goes_forward, "")
{
    double first = bench_now(), second = bench_now();

    CHECK(first > 0 && second >= first);
}

/* Work that says itself how long it took: a microsecond per unit, or more on a busy machine. */
struct waiting {
    uint64_t calls, count;
    double seconds;
};

static uint64_t wait_a_microsecond(void *context, uint64_t count)
{
    struct waiting *w = context;
    double start = bench_now(), now = start;

    while (now < start + (double)count * 1e-6) {
        now = bench_now();
    }
    w->count = count;
    w->seconds = now - start;
    return ++w->calls;
}

/* The last call is the measurement: its rate lies between what the work saw and what the whole
 * took. */
TEST(a_rate_is_units_per_second, "")
{
    struct waiting w = {0};
    double start = bench_now();
    double rate = bench_rate(wait_a_microsecond, &w, 0.02);
    double whole = bench_now() - start;

    CHECK_MSG(rate <= (double)w.count / w.seconds, "the rate is %g", rate);
    CHECK_MSG(rate >= (double)w.count / whole, "the rate is %g", rate);
    CHECK(w.calls >= 1);
}

TEST(programs_are_found_on_path, "")
{
    CHECK(bench_has_program("sh"));
    CHECK(!bench_has_program("no-such-program-of-facet"));
    CHECK(!bench_has_program(""));
}

static char *words(const char *text)
{
    return (char *)text;
}

TEST(a_peer_is_timed_to_its_end, "")
{
    char *argv[] = {words("sh"), words("-c"), words("echo noise; sleep 0.05"), NULL};
    struct facet_error err = {0};
    double seconds = 0;

    CHECK_EQ(bench_spawn(argv, &seconds, &err), FACET_OK);
    CHECK_MSG(seconds >= 0.05, "it took %g s", seconds);
}

TEST(a_peer_that_fails_or_is_absent_is_an_error, "")
{
    char *fails[] = {words("false"), NULL};
    char *killed[] = {words("sh"), words("-c"), words("kill -9 $$"), NULL};
    char *absent[] = {words("no-such-program-of-facet"), NULL};
    struct facet_error err = {0};
    double seconds = -1;

    CHECK_EQ(bench_spawn(fails, &seconds, &err), FACET_ERR_IO);
    CHECK_STR(err.message, "false did not end with exit code 0");
    CHECK_EQ(bench_spawn(killed, &seconds, &err), FACET_ERR_IO);
    CHECK_EQ(bench_spawn(absent, &seconds, &err), FACET_ERR_IO);
    CHECK_STR(err.message, "no-such-program-of-facet is not installed");
    CHECK(seconds == -1);
}

TEST(every_area_is_complete, "")
{
    for (size_t i = 0; bench_areas[i] != NULL; i++) {
        CHECK(bench_areas[i]->name != NULL && bench_areas[i]->summary != NULL);
        for (const struct bench_measure *m = bench_areas[i]->measures; m->name != NULL; m++) {
            CHECK_MSG(m->unit != NULL && m->facet != NULL, "%s has no unit or function", m->name);
            CHECK_MSG((m->peer != NULL) == (m->peer_run != NULL), "%s: half a peer", m->name);
        }
    }
}
