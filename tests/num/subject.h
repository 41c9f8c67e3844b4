/* The code under test behind the operation numbers of oracle.h. */
#ifndef FACET_TESTS_NUM_SUBJECT_H
#define FACET_TESTS_NUM_SUBJECT_H

#include "num/arith.h"
#include "num/convert.h"
#include "num/hart.h"
#include "oracle.h"

/* Generic entry points, any format and policy. */
struct ref_result subject_arith(enum ref_op op,
                                enum facet_format format,
                                const uint64_t v[4],
                                const struct facet_num_policy *policy);
/* hart.h: FP16, FP32, FP64 under the RISC-V policy. No REF_RCP, REF_RSQRT, REF_DP2. */
struct ref_result
subject_hart(enum ref_op op, enum facet_format format, const uint64_t v[4], unsigned rm);

/* Compares and reports; returns false on a difference. */
bool subject_agrees(enum ref_op op,
                    enum facet_format format,
                    const uint64_t v[4],
                    const char *policy_name,
                    const struct facet_num_policy *policy,
                    struct ref_result got,
                    struct ref_result want);

#endif
