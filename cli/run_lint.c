/* See run_lint.h. */
#include "cli/run_lint.h"

#include "xphmg/insn.h"
#include "xphmg/units.h"

#include <stdlib.h>
#include <string.h>

/* RT-034: RTCFG.EN is a hint (R-RT-24), so nothing else would tell. */
static const char *rt_without_enable(const facet_machine *machine, uint32_t core, unsigned row)
{
    struct facet_value value = {0, 0};
    uint32_t csr;

    if (row != FACET_XPHMG_RT_BBOX && row != FACET_XPHMG_RT_TRI && row != FACET_XPHMG_XSUBMIT_RT) {
        return NULL;
    }
    csr = facet_machine_csr_at(machine, core, FACET_CSR_RTCFG);
    (void)facet_machine_csr_read(machine, core, csr, &value, NULL);
    return (value.lo & FACET_RTCFG_EN) == 0 ? "an RT operation while RTCFG.EN is 0" : NULL;
}

/* Where the place is or belongs. */
static size_t find(const struct run_lint *lint, uint64_t pc)
{
    size_t low = 0, high = lint->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (lint->findings[middle].pc < pc) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void add(struct run_lint *lint, const struct facet_retire_event *event, const char *text)
{
    size_t at = find(lint, event->pc);

    if (at < lint->count && lint->findings[at].pc == event->pc) {
        return;
    }
    if (lint->count == lint->capacity) {
        size_t capacity = lint->capacity != 0 ? 2 * lint->capacity : 16;
        struct run_lint_finding *more = realloc(lint->findings, capacity * sizeof *more);

        if (more == NULL) {
            lint->failed = true;
            return;
        }
        lint->findings = more;
        lint->capacity = capacity;
    }
    memmove(
        &lint->findings[at + 1], &lint->findings[at], (lint->count - at) * sizeof *lint->findings);
    lint->findings[at] = (struct run_lint_finding){event->pc, event->core, "RT-034", text};
    lint->count++;
}

static void on_retire(void *context, const struct facet_retire_event *event)
{
    struct run_lint *lint = context;
    struct facet_insn in = facet_insn_decode(event->word);
    const char *text =
        event->length == 4 ? rt_without_enable(lint->machine, event->core, in.row) : NULL;

    if (text != NULL) {
        add(lint, event, text);
    }
}

void run_lint_start(struct run_lint *lint, facet_machine *machine)
{
    *lint = (struct run_lint){.machine = machine};
    lint->observer = (struct facet_observer){.context = lint, .retire = on_retire};
    facet_machine_observe(machine, &lint->observer);
}

void run_lint_free(struct run_lint *lint)
{
    if (lint->machine != NULL) {
        facet_machine_observe(lint->machine, NULL);
    }
    free(lint->findings);
    *lint = (struct run_lint){0};
}
