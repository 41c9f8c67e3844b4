/* Whether a device computes as src/gfx12 does: operands for facet_check of check.cl, and what it
 * has to answer. */
#ifndef FACET_GFX12_DEVICE_CHECK_H
#define FACET_GFX12_DEVICE_CHECK_H

#include "opencl/opencl.h"

#include <stdint.h>

enum {
    /* Numbers of a case, as in check.cl; as many come back as go there (device.c). */
    FACET_GFX12_CHECK_IN = 29,
    FACET_GFX12_CHECK_OUT = FACET_GFX12_CHECK_IN,
};

/* Operands of case `number`: ordinary numbers, subnormals, numbers whose products are subnormal,
 * infinities, NaN. */
void facet_gfx12_device_check_case(uint64_t number, uint32_t in[FACET_GFX12_CHECK_IN]);
/* NULL when the answer is right, else the name of what is wrong: "a triangle test", ... */
const char *facet_gfx12_device_check_answer(const uint32_t in[FACET_GFX12_CHECK_IN],
                                            const uint32_t out[FACET_GFX12_CHECK_OUT]);

/* Every reciprocal of a mantissa, and 4096 cases. FACET_ERR_USAGE: the device cannot give the bits.
 */
enum facet_status facet_gfx12_device_check(facet_opencl *cl, struct facet_error *err);

#endif
