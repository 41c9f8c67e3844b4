/* What a snapshot must hold of any machine: every register and CSR of every core. */
#ifndef FACET_TESTS_MACHINE_WHOLE_STATE_H
#define FACET_TESTS_MACHINE_WHOLE_STATE_H

#include <facet/machine.h>

/* Gives each of them a value of its own, saves, resets the machine, gives all other values,
 * restores and reads everything back. Ends with the machine restored. */
void check_whole_state(facet_machine *m);

#endif
