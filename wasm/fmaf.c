/* fmaf with one rounding. That of wasi-libc sets the rounding mode to find out on which side of the
 * middle between two floats a sum lies, and WebAssembly has no rounding modes: its ties are wrong.
 *
 * The product of two floats is exact in a double. The sum is rounded to odd: it keeps a mark of
 * what was lost, so that the float nearest to it is the float nearest to the exact sum, as 53 bits
 * are more than 24 + 2 (S. Boldo, G. Melquiond: Emulation of FMA and correctly rounded sums). */
#include <math.h>
#include <stdint.h>
#include <string.h>

float fmaf(float x, float y, float z)
{
    const double product = (double)x * (double)y;
    double sum = product + (double)z;
    /* What `sum` lacks, exactly (Knuth's two-sum). */
    const double part = sum - product;
    const double lost = (product - (sum - part)) + ((double)z - part);
    uint64_t bits;

    memcpy(&bits, &sum, sizeof bits);
    if (isfinite(sum) && lost != 0 && (bits & 1) == 0) {
        bits += (lost > 0) == (sum > 0) ? 1 : UINT64_MAX;
        memcpy(&sum, &bits, sizeof sum);
    }
    return (float)sum;
}
