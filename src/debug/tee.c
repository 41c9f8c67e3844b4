/* See tee.h. */
#include "debug/tee.h"

#define HEAR(name, type)                                                                           \
    static void hear_##name(void *context, const struct type *event)                               \
    {                                                                                              \
        const struct facet_tee *tee = context;                                                     \
                                                                                                   \
        for (int i = 0; i < 2; i++) {                                                              \
            if (tee->to[i]->name != NULL) {                                                        \
                tee->to[i]->name(tee->to[i]->context, event);                                      \
            }                                                                                      \
        }                                                                                          \
    }

HEAR(retire, facet_retire_event)
HEAR(reg_write, facet_reg_event)
HEAR(csr_write, facet_reg_event)
HEAR(memory, facet_memory_event)
HEAR(trap, facet_trap_event)
HEAR(unit, facet_unit_event)

void facet_tee_make(struct facet_tee *tee,
                    const struct facet_observer *first,
                    const struct facet_observer *second)
{
    tee->observer = (struct facet_observer){
        tee, hear_retire, hear_reg_write, hear_csr_write, hear_memory, hear_trap, hear_unit};
    tee->to[0] = first;
    tee->to[1] = second;
}
