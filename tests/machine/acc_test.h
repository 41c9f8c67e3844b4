/* What the machine suites share: making an accumulator machine and loading a program. */
#ifndef FACET_TESTS_ACC_TEST_H
#define FACET_TESTS_ACC_TEST_H

#include "acc.h"
#include "harness.h"

#include <facet/lockstep.h>
#include <facet/machine.h>
#include <facet/observer.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static inline facet_machine *make(const struct facet_machine_ops *ops)
{
    facet_machine *m;

    if (!CHECK(facet_machine_create(ops, NULL, &m, NULL) == FACET_OK)) {
        exit(1);
    }
    return m;
}

static inline void put_words(facet_machine *m, uint64_t at, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[4];

        facet_store_le32(bytes, words[i]);
        CHECK(facet_machine_write(m, 0, at + i * 4, bytes, 4, NULL) == FACET_OK);
    }
}

static inline uint32_t word_at(const facet_machine *m, uint32_t space, uint64_t at)
{
    uint8_t bytes[4] = {0};

    CHECK(facet_machine_read(m, space, at, bytes, 4, NULL) == FACET_OK);
    return facet_load_le32(bytes);
}

static inline uint64_t reg(const facet_machine *m, uint32_t core, uint32_t index)
{
    struct facet_value value = {0, 0};

    CHECK(facet_machine_reg_read(m, core, index, &value, NULL) == FACET_OK);
    return value.lo;
}

static inline struct facet_stop run_for(facet_machine *m, uint64_t budget)
{
    struct facet_run run = {budget, false};
    struct facet_stop stop;

    facet_machine_run(m, &run, &stop);
    return stop;
}

static inline struct facet_blob snapshot(const facet_machine *m)
{
    struct facet_blob blob = {NULL, 0};

    CHECK(facet_machine_snapshot(m, &blob, NULL) == FACET_OK);
    return blob;
}

static inline bool same_blob(const struct facet_blob *a, const struct facet_blob *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* Equal states give equal bytes. */
static inline bool same_state(const facet_machine *a, const facet_machine *b)
{
    struct facet_blob x = snapshot(a), y = snapshot(b);
    bool same = same_blob(&x, &y);

    facet_blob_free(&x);
    facet_blob_free(&y);
    return same;
}

/* Two endless loops that share a counter at 0x1000: core 0 adds 1, core 1 adds 2 and keeps a copy
 * in its local memory. 0x2000 holds 1, 0x2004 holds 2. */
static inline facet_machine *make_counters(const struct facet_machine_ops *ops)
{
    static const uint32_t code0[] = {ACC_LD(0x1000), ACC_ADD(0x2000), ACC_ST(0x1000), ACC_JNZ(0)};
    static const uint32_t code1[] = {
        ACC_LD(0x1000), ACC_ADD(0x2004), ACC_ST(0x1000), ACC_ST(ACC_LOCAL | 8), ACC_JNZ(ACC_CODE1)};
    static const uint32_t data[] = {1, 2};
    facet_machine *m = make(ops);

    put_words(m, 0, code0, COUNT(code0));
    put_words(m, ACC_CODE1, code1, COUNT(code1));
    put_words(m, 0x2000, data, COUNT(data));
    return m;
}

#endif
