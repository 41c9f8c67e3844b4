/* The test helper itself: what it reports must be what the hart did. */
#include "xphmg/guest.h"

TEST(text_runs_to_its_end_and_state_stays_between_runs, "")
{
    struct guest *g = guest_make("full");

    guest_ok(g, "li a0, %d\n addi a0, a0, 1\n", 41);
    CHECK_EQ(g->hart->x[10], 42);
    guest_ok(g, "add a1, a0, a0\n");
    CHECK_EQ(g->hart->x[11], 84);
    CHECK_EQ(g->steps, 1);
    guest_store(g, GUEST_DATA, 8, 0x1122334455667788);
    guest_ok(g, "li t1, 0x%x\n lw a2, 4(t1)\n sb a0, 0(t1)\n", GUEST_DATA);
    CHECK_EQ(g->hart->x[12], 0x11223344);
    CHECK_EQ(guest_load(g, GUEST_DATA, 4), 0x5566772A);
    guest_free(g);
}

TEST(a_trap_ends_the_run_where_it_happened, "")
{
    struct guest *g = guest_make("full");

    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "li t1, 16\n nop\n ld a0, 0(t1)\n nop\n"), 16);
    CHECK_EQ(g->epc, 8);
    CHECK_EQ(g->steps, 2);
    CHECK_EQ(g->hart->mcause, FACET_CAUSE_LOAD_FAULT);
    guest_free(g);
}
