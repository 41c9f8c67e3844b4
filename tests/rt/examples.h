/* The worked examples of rt-semantics.md 13.1 and 13.2, read from the contract as they stand there,
 * so that nothing is copied by hand. */
#ifndef FACET_TESTS_RT_EXAMPLES_H
#define FACET_TESTS_RT_EXAMPLES_H

#include <stdbool.h>
#include <stdint.h>

struct rt_example {
    char name[16];
    bool triangle;
    uint32_t ray[9]; /* element 8: w, 1 unless the example sets it */
    uint32_t item[9];
    uint32_t edge[3];
    bool edges, hit;
    uint32_t value[3]; /* tnear, tfar or t, u, v */
    unsigned flags;    /* FACET_NX, ... FACET_SNAN */
    unsigned rm;
    bool t_clamp, w_guard, cull_back;
    unsigned eps; /* code */
};

typedef void rt_example_fn(const struct rt_example *example, void *context);

/* Returns how many there were; 0 when the file cannot be read. */
unsigned rt_examples(rt_example_fn *each, void *context);

#endif
