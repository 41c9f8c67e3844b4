/* Register vectors. */
#include "xphmg/vendor.h"

struct facet_trap facet_rsv_execute(struct facet_hart *h, const struct facet_insn *in)
{
    (void)h;
    return facet_trap_make(FACET_CAUSE_ILLEGAL, in->word);
}

bool facet_rsv_affects(const struct facet_insn *in)
{
    (void)in;
    return false;
}

struct facet_trap facet_rsv_repeat(struct facet_hart *h, const struct facet_insn *in)
{
    return facet_hart_execute(h, in);
}
