/* `facet run --lint`: what a program does that the contract advises against although it works. Each
 * rule names its row of the requirements in spec/; each place of the program is named once. */
#ifndef FACET_CLI_RUN_LINT_H
#define FACET_CLI_RUN_LINT_H

#include <facet/observer.h>

struct run_lint_finding {
    uint64_t pc;
    uint32_t core;
    const char *row;  /* "RT-034" */
    const char *text; /* "an RT operation while RTCFG.EN is 0" */
};

struct run_lint {
    facet_machine *machine;
    struct facet_observer observer;
    struct run_lint_finding *findings; /* by pc */
    size_t count, capacity;
    bool failed; /* out of memory: findings are missing */
};

/* Listens to the machine from now on. */
void run_lint_start(struct run_lint *lint, facet_machine *machine);
void run_lint_free(struct run_lint *lint);

#endif
