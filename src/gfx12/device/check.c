/* See check.h. */
#include "gfx12/device/check.h"

#include "base/hash.h"
#include "gfx12/image/node.h"
#include "gfx12/test.h"
#include "num/f32.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHECKS = 4096,       /* cases */
    MANTISSAS = 1 << 23, /* reciprocals ... */
    EACH = 1 << 13,      /* ... for each work item */
};

static uint32_t operand(uint64_t random, unsigned scale)
{
    const uint32_t bits = (uint32_t)random, mantissa = bits & 0x807FFFFF;

    switch (random >> 32 & 31) {
    case 0:
        return bits; /* anything */
    case 1:
        return mantissa; /* a subnormal or 0 */
    case 2:
        return bits & F32_SIGN; /* 0 */
    case 3:
        return (bits & F32_SIGN) | F32_ONE;
    default:
        return mantissa | (scale - 3 + (uint32_t)(random >> 37 & 3)) << 23;
    }
}

/* Each kind as likely, so that all meet. */
static uint32_t operand_of_any_kind(uint64_t random)
{
    const uint32_t bits = (uint32_t)random, mantissa = bits & 0x807FFFFF;
    const uint32_t few = (uint32_t)(random >> 35 & 31);

    switch (random >> 32 & 7) {
    case 0:
        return mantissa;
    case 1:
        return bits & F32_SIGN;
    case 2:
        return (bits & F32_SIGN) | F32_INF;
    case 3:
        return bits | F32_INF; /* a NaN */
    case 4:
        return mantissa | few << 23; /* near the least normal number */
    case 5:
        return mantissa | (112 + few) << 23;
    case 6:
        return mantissa | (222 + few) << 23;
    default:
        return bits;
    }
}

void facet_gfx12_device_check_case(uint64_t number, uint32_t in[FACET_GFX12_CHECK_IN])
{
    /* Near 1, and where a product of two is near or below the least normal number. */
    static const unsigned scales[] = {127, 127, 127, 66, 64, 58, 5, 190};

    for (unsigned k = 0; k < FACET_GFX12_CHECK_IN; k++) {
        const uint64_t random = facet_hash_step(facet_hash_step(1, number), k);

        in[k] = k < 24 ? operand(random, scales[number % 8]) : operand_of_any_kind(random);
    }
    /* What the minimum of a signaling NaN and a number is OpenCL leaves open. */
    in[24] |= f32_is_nan(facet_float_of(in[24])) ? F32_NAN : 0;
    in[25] |= f32_is_nan(facet_float_of(in[25])) ? F32_NAN : 0;
}

/* What only comparisons see: the sign of a zero and the bits of a NaN do not matter (num/f32.h). */
static bool same(uint32_t got, float want)
{
    const float f = facet_float_of(got);

    return got == facet_float_bits(want) || (f == 0 && want == 0) ||
           (f32_is_nan(f) && f32_is_nan(want));
}

static bool same3(const uint32_t got[3], const float want[3])
{
    return same(got[0], want[0]) && same(got[1], want[1]) && same(got[2], want[2]);
}

static bool same_operations(const uint32_t in[3], const uint32_t out[8])
{
    const float a = facet_float_of(in[0]), b = facet_float_of(in[1]), c = facet_float_of(in[2]);
    const uint32_t compared =
        (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a < 0) << 4 | (a >= 0) << 5;

    return same(out[0], a + b) && same(out[1], a - b) && same(out[2], a * b) &&
           same(out[3], f32_fma(a, b, c)) && same(out[4], f32_max(a, b)) &&
           same(out[5], f32_min(a, b)) && out[6] == compared && out[7] == (a < b ? in[0] : in[2]);
}

const char *facet_gfx12_device_check_answer(const uint32_t in[FACET_GFX12_CHECK_IN],
                                            const uint32_t out[FACET_GFX12_CHECK_OUT])
{
    const unsigned grow = in[22] & 255, plane = in[22] >> 8 & 4095;
    float origin[3], direction[3];
    uint32_t vertex[3][3];
    struct facet_gfx12_slab_ray ray;
    struct facet_gfx12_slab_box box;
    struct facet_gfx12_slab slab;
    struct facet_gfx12_tri_terms terms;

    memcpy(origin, in, sizeof origin);
    memcpy(direction, in + 3, sizeof direction);
    memcpy(vertex, in + 6, sizeof vertex);
    memcpy(box.lo, in + 6, sizeof box.lo);
    memcpy(box.hi, in + 9, sizeof box.hi);
    terms = facet_gfx12_tri_test(vertex, origin, direction);
    if (out[0] != facet_float_bits(terms.t) || out[1] != facet_float_bits(terms.u) ||
        out[2] != facet_float_bits(terms.v) || out[3] != facet_float_bits(terms.det)) {
        return "a triangle test";
    }
    facet_gfx12_slab_ray_init(&ray, origin, direction, facet_float_of(in[23]), grow);
    if (!same3(out + 4, ray.inverse) || !same(out[7], ray.grow)) {
        return "the reciprocal of a direction";
    }
    slab = facet_gfx12_slab_test(&ray, &box);
    if (!same(out[8], slab.enter) || !same(out[9], slab.leave) || !same(out[10], slab.min_t) ||
        !same(out[11], slab.max_t) || out[12] != slab.hit) {
        return "a box test";
    }
    if (!same(out[13], facet_float_of(facet_gfx12_dequantize(in[0], (uint8_t)grow, plane)))) {
        return "a plane of a box";
    }
    if (out[14] != facet_float_bits(f32_div(facet_float_of(in[20]), facet_float_of(in[21])))) {
        return "a division";
    }
    facet_gfx12_transform(in + 12, origin, direction);
    if (!same3(out + 15, origin) || !same3(out + 18, direction)) {
        return "a transform";
    }
    return same_operations(in + 24, out + 21) ? NULL
                                              : "a sum, a product, an extreme or a comparison";
}

/* ---- on a device ---- */

static enum facet_status check_reciprocals(facet_opencl *cl, struct facet_error *err)
{
    enum { ITEMS = MANTISSAS / EACH };
    static const char kernel[] = "facet_reciprocals";
    uint32_t wrong[ITEMS], sum = 0;
    facet_opencl_memory *out = NULL;
    enum facet_status status = facet_opencl_memory_new(cl, sizeof wrong, &out, err);

    if (status == FACET_OK) {
        const struct facet_opencl_argument arguments[] = {{out, 0}, {NULL, EACH}};

        status = facet_opencl_run(cl, kernel, arguments, 2, ITEMS, NULL, err);
    }
    if (status == FACET_OK) {
        status = facet_opencl_read(cl, out, 0, wrong, sizeof wrong, err);
    }
    facet_opencl_memory_free(cl, out);
    for (unsigned i = 0; status == FACET_OK && i < ITEMS; i++) {
        sum += wrong[i];
    }
    return status == FACET_OK && sum != 0
               ? facet_fail(err,
                            FACET_ERR_USAGE,
                            0,
                            "%s cannot give the bits of GFX12: %u of %d reciprocals are wrong",
                            facet_opencl_about(cl)->name,
                            sum,
                            MANTISSAS)
               : status;
}

static enum facet_status check_numbers(facet_opencl *cl, struct facet_error *err)
{
    typedef uint32_t cases[CHECKS][FACET_GFX12_CHECK_IN];
    cases *in = calloc(2, sizeof *in), *got = in + 1;
    facet_opencl_memory *from = NULL, *to = NULL;
    const char *wrong = NULL;
    enum facet_status status;

    if (in == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    for (unsigned i = 0; i < CHECKS; i++) {
        facet_gfx12_device_check_case(i, (*in)[i]);
    }
    status = facet_opencl_memory_new(cl, sizeof *in, &from, err);
    if (status == FACET_OK) {
        status = facet_opencl_memory_new(cl, sizeof *got, &to, err);
    }
    if (status == FACET_OK) {
        status = facet_opencl_write(cl, from, 0, in, sizeof *in, err);
    }
    if (status == FACET_OK) {
        const struct facet_opencl_argument arguments[] = {{from, 0}, {to, 0}, {NULL, CHECKS}};

        status = facet_opencl_run(cl, "facet_check", arguments, 3, CHECKS, NULL, err);
    }
    if (status == FACET_OK) {
        status = facet_opencl_read(cl, to, 0, got, sizeof *got, err);
    }
    for (unsigned i = 0; status == FACET_OK && wrong == NULL && i < CHECKS; i++) {
        wrong = facet_gfx12_device_check_answer((*in)[i], (*got)[i]);
    }
    facet_opencl_memory_free(cl, from);
    facet_opencl_memory_free(cl, to);
    free(in);
    return wrong != NULL ? facet_fail(err,
                                      FACET_ERR_USAGE,
                                      0,
                                      "%s cannot give the bits of GFX12: %s has other bits",
                                      facet_opencl_about(cl)->name,
                                      wrong)
                         : status;
}

enum facet_status facet_gfx12_device_check(facet_opencl *cl, struct facet_error *err)
{
    enum facet_status status = check_reciprocals(cl, err);

    return status == FACET_OK ? check_numbers(cl, err) : status;
}
