/* A fuzz target takes any bytes and must not crash, hang, leak or break the property it states
 * (abort() when it does). `make fuzz` runs the targets under libFuzzer with the sanitizers; every
 * other build links them with replay.c, which feeds them the seeds and random mutations of those.
 */
#ifndef FACET_TESTS_FUZZ_H
#define FACET_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
