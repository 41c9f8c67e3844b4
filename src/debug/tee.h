/* Two observers of one machine: a trace and a linter, say. */
#ifndef FACET_DEBUG_TEE_H
#define FACET_DEBUG_TEE_H

#include <facet/observer.h>

struct facet_tee {
    struct facet_observer observer; /* for facet_machine_observe */
    const struct facet_observer *to[2];
};

/* Every event goes to the first, then to the second; both and the tee must outlive the listening.
 */
void facet_tee_make(struct facet_tee *tee,
                    const struct facet_observer *first,
                    const struct facet_observer *second);

#endif
