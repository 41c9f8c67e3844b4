/* OpenCL C for the text that follows. No sum and product become one operation but where the text
 * says fma. */
#pragma OPENCL FP_CONTRACT OFF

#define LOAD_NODE(d, node)                                                                         \
    for (int load = 0; load < 8; load++) {                                                         \
        const uint4 four = vload4(load, node);                                                     \
        d[4 * load] = four.x;                                                                      \
        d[4 * load + 1] = four.y;                                                                  \
        d[4 * load + 2] = four.z;                                                                  \
        d[4 * load + 3] = four.w;                                                                  \
    }
