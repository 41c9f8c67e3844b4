/* MTX: a 4x4 transform of points in FP32, four per instruction, then a reduction.
 *
 * The matrix goes into a bank once (mtx.ld); mtx.mul streams vectors through it. Element format and
 * accumulator come from CAP.PREC.MODE: APPLY0 makes the new state effective. */
#include "check.h"

#include <stdint.h>
#include <string.h>
#include <xphmg.h>

enum { POINTS = 8, SHAPE_4X4 = 0xF };

/* Rotate by 90 degrees about z, scale by 2, move by (10, 20, 30); row by row. */
static const float matrix[16] = {
    0,
    -2,
    0,
    10,
    2,
    0,
    0,
    20,
    0,
    0,
    2,
    30,
    0,
    0,
    0,
    1,
};
static float in[POINTS][4], out[POINTS][4];

static void use_fp32(void)
{
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_ALT, XPHMG_CAP_PREC_ALT_APPLY1);
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_MODE,
                    XPHMG_FIELD(XPHMG_CAP_PREC_MODE_PET, XPHMG_CAP_PREC_MODE_PET_FP32) |
                        XPHMG_FIELD(XPHMG_CAP_PREC_MODE_EW, XPHMG_CAP_PREC_MODE_EW_EW32) |
                        XPHMG_CAP_PREC_MODE_APPLY0);
}

int main(void)
{
    float largest, tile[16];
    uint64_t bits;

    use_fp32();
    for (int i = 0; i < POINTS; i++) {
        in[i][0] = (float)i;
        in[i][1] = (float)(i * i);
        in[i][2] = -1.0f;
        in[i][3] = 1.0f;
    }
    xphmg_mtx_ld(matrix, SHAPE_4X4, 0, 1); /* row-major */
    for (int i = 0; i < POINTS; i += 4) {
        xphmg_mtx_mul(out[i], in[i], SHAPE_4X4, 0, 0, 4 - 1);
    }
    for (int i = 0; i < POINTS; i++) {
        printf("(%d %d %d) -> (%d %d %d)\n",
               (int)in[i][0],
               (int)in[i][1],
               (int)in[i][2],
               (int)out[i][0],
               (int)out[i][1],
               (int)out[i][2]);
        CHECK(out[i][0] == -2 * in[i][1] + 10);
        CHECK(out[i][1] == 2 * in[i][0] + 20);
        CHECK(out[i][2] == 28 && out[i][3] == 1);
    }

    /* The largest element of four points seen as a 4x4 tile: one element in a register. */
    memcpy(tile, out, sizeof tile);
    bits = xphmg_mtx_red(0, tile, 0, 0, 1, 0);
    memcpy(&largest, &bits, sizeof largest);
    printf("largest coordinate of the first four: %d\n", (int)largest);
    CHECK(largest == 28);
    printf("vectors issued: %u instructions\n",
           (unsigned)XPHMG_FIELD_OF(XPHMG_MTXSTAT_OPS_ISSUED, xphmg_csr_read(XPHMG_CSR_MTXSTAT)));
    CHECK(XPHMG_FIELD_OF(XPHMG_MTXSTAT_OPS_ISSUED, xphmg_csr_read(XPHMG_CSR_MTXSTAT)) == 2);
    return verdict("transform");
}
