/* Self-checks of the examples: count what went wrong, say where, and end with PASS or FAIL. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

static int failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                   \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

/* The last line and main's result. */
static inline int verdict(const char *name)
{
    printf("%s: %s\n", name, failures == 0 ? "PASS" : "FAIL");
    return failures == 0 ? 0 : 1;
}

#endif
