/* How libFuzzer and the address sanitizer are set up for all targets; what the command line and
 * ASAN_OPTIONS say comes later and wins. */
#include "fuzz/fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
const char *__asan_default_options(void);

/* The entropic schedule counts every feature of every input: in machines, whose inputs have
 * thousands, that takes more time than running them. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static char quick[] = "-entropic=0";
    char **all = malloc(((size_t)*argc + 2) * sizeof *all);

    fuzz_require(all != NULL && *argc > 0);
    all[0] = (*argv)[0];
    all[1] = quick;
    for (int i = 1; i <= *argc; i++) {
        all[i + 1] = (*argv)[i];
    }
    *argv = all;
    *argc += 1;
    return 0;
}

/* Freed snapshots are large: a long quarantine of them makes every new one cold memory. */
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=1:thread_local_quarantine_size_kb=256:malloc_context_size=6";
}
