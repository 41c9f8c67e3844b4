/* OpenCL C for the text that follows. No sum and product become one operation but where the text
 * says fma. */
#pragma OPENCL FP_CONTRACT OFF

/* So that small arrays become registers. */
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))
#define UNROLL _Pragma("unroll") /* the attribute for it is an error to some compilers of 1.2 */
#define IN_GROUPS(size) __attribute__((reqd_work_group_size(size, 1, 1)))

/* From a multiple of 16 bytes in one access; vload4 expects one of 4. */
#define LOAD_FOUR(d, from)                                                                         \
    {                                                                                              \
        const uint4 four = *(__global const uint4 *)(from);                                        \
        (d)[0] = four.x;                                                                           \
        (d)[1] = four.y;                                                                           \
        (d)[2] = four.z;                                                                           \
        (d)[3] = four.w;                                                                           \
    }
