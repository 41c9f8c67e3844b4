/* The same function compiled once more, for hosts of x86-64 with AVX2: instructions with three
 * operands make vector and bit code about a tenth faster, and the compiler finds them by itself.
 * Nothing else differs, and no contraction is allowed, so both give the same bits.
 *
 *     static void work(struct thing *t) { ... }
 *     FACET_AVX2 static void work_avx2(struct thing *t) { work(t); }
 *     ...
 *     (FACET_HAS_AVX2() ? work_avx2 : work)(t);
 *
 * Functions of the same file that work() calls go into work_avx2() with it. */
#ifndef FACET_BASE_AVX2_H
#define FACET_BASE_AVX2_H

#if defined(__x86_64__) && !defined(FACET_LANES_PORTABLE)
#define FACET_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt"), flatten))
#define FACET_HAS_AVX2()                                                                           \
    (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&                            \
     __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"))
#else
#define FACET_AVX2
#define FACET_HAS_AVX2() 0
#endif

#endif
