/* Local memory, streams, descriptors, fences. */
#include "xphmg/vendor.h"

struct facet_trap facet_xmem_execute(struct facet_hart *h, const struct facet_insn *in)
{
    (void)h;
    return facet_trap_make(FACET_CAUSE_ILLEGAL, in->word);
}
