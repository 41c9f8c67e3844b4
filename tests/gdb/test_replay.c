/* Going far back takes as long as running there: the debugger need not wait for it. */
#include "desk.h"

#include "gdb/internal.h"

#include <limits.h>

enum { FAR_STEPS = 8 << 20 };

/* A past with nothing but its beginning, from where every place is far. */
static void open_far(struct desk *d)
{
    desk_open(d, make_counters(&acc_ops));
    d->gdb->history.interval = UINT64_MAX / 2;
    d->interrupt_at = 8;
    TALK(d, {"c", "T02thread:1;"});
    CHECK_EQ(facet_machine_steps(d->machine), FAR_STEPS);
    d->looks = 0;
    d->interrupt_at = 2;
}

/* It stands in its past, and from there everything is as ever. */
static void check_given_up(struct desk *d)
{
    uint64_t place = facet_machine_steps(d->machine);

    CHECK(place > 0 && place < FAR_STEPS - 4 && d->looks == 2);
    CHECK(is_at(d, place));
    d->interrupt_at = 0;
    TALK(d, {"bs", "T05thread:1;"});
    CHECK(facet_machine_steps(d->machine) < place && is_at(d, facet_machine_steps(d->machine)));
    desk_close(d);
}

TEST(a_long_way_back_is_given_up, "")
{
    struct desk d;

    open_far(&d);
    TALK(&d, {"bs", "T02thread:1;"});
    check_given_up(&d);
}

/* The past is run over twice: to find the last stop at a point, and to go there. */
TEST(a_long_way_to_a_point_is_given_up, "")
{
    struct desk d;
    unsigned looks;

    open_far(&d);
    d.interrupt_at = UINT_MAX;
    TALK(&d, {"Z0,8008,4", "OK"}, {"bc", "T05thread:2;swbreak:;"});
    CHECK(FAR_STEPS - facet_machine_steps(d.machine) <= 10);
    looks = d.looks;
    desk_close(&d);
    open_far(&d);
    d.interrupt_at = looks - 2; /* on the way there */
    TALK(&d, {"Z0,8008,4", "OK"}, {"bc", NULL}, {"z0,8008,4", "OK"});
    CHECK(facet_machine_steps(d.machine) > 0); /* not where the search began */
    d.looks = 2;
    check_given_up(&d);
}

TEST(looking_for_the_last_of_many_stops_is_given_up, "")
{
    struct desk d;

    open_far(&d);
    TALK(&d, {"Z0,8008,4", "OK"}, {"bc", "T02thread:1;"});
    CHECK(d.looks == 2 && facet_machine_steps(d.machine) == 0); /* where the search began */
    desk_close(&d);
}

/* A wish to stop that came too late for the run before is not the debugger's. */
TEST(an_old_request_does_not_end_a_replay, "")
{
    struct desk d;

    open_far(&d);
    d.interrupt_at = 0;
    facet_machine_interrupt(d.machine);
    TALK(&d, {"bs", "T05thread:1;"});
    CHECK(FAR_STEPS - facet_machine_steps(d.machine) <= 2);
    desk_close(&d);
}
