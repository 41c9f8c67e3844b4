/* GFX.CULL.*: of particles, those inside a frustum that do not move. GFX.CULL.FRUSTUM leaves a mask
 * in a predicate bank, GFX.CULL.COMPOSE joins it with another bank, GFX.CULL.COMPACT writes the
 * survivors as a dense stream of {number, payload} records: 64 particles per instruction, no branch
 * per particle. */
#include "check.h"
#include "gfx_unit.h"

#include <math.h>

enum { COUNT = 1024, IN_FRUSTUM = 1, MOVING = 2, BOTH = 3 };

struct record {
    uint64_t number, payload;
};

static float position[4][COUNT]; /* x, y, z, 1 */
static uint64_t payload[COUNT];
static uint64_t moving[COUNT / LANES]; /* a bit per particle */
static struct record stream[COUNT], expected[COUNT];

static const float planes[6][4] = {
    {1, 0, 0.5f, -1},
    {-1, 0, 0.5f, -1},
    {0, 1, 0.25f, -1},
    {0, -1, 0.25f, -1},
    {0, 0, 1, -0.9f},
    {0, 0, -1, -0.8f},
};

static void use_planes(void)
{
    GFX_PLANE(0, planes[0]);
    GFX_PLANE(1, planes[1]);
    GFX_PLANE(2, planes[2]);
    GFX_PLANE(3, planes[3]);
    GFX_PLANE(4, planes[4]);
    GFX_PLANE(5, planes[5]);
}

/* ---- plain C ---- */

static int inside(int p)
{
    for (int k = 0; k < 6; k++) {
        float d = planes[k][0] * position[0][p];

        for (int c = 1; c < 4; c++) {
            d = fmaf(planes[k][c], position[c][p], d);
        }
        if (!(d <= 0)) {
            return 0;
        }
    }
    return 1;
}

static int count_plainly(void)
{
    int count = 0;

    for (int p = 0; p < COUNT; p++) {
        if (inside(p) && (moving[p / LANES] >> p % LANES & 1) == 0) {
            expected[count++] = (struct record){(uint64_t)p, payload[p]};
        }
    }
    return count;
}

/* ---- the instructions ---- */

static struct {
    float a[4][LANES];
} points;
static struct {
    uint64_t number[LANES], payload[LANES]; /* X slots 0 and 1 */
} words;

/* Appends the survivors of 64 particles at `to`; returns how many. B is the window of x12. */
static uint64_t compact(struct record *to)
{
    register uint64_t base __asm__("x10") = (uint64_t)to;
    register uint64_t source __asm__("x12") = (uint64_t)&words;
    register uint64_t count __asm__("x11") = 0;

    __asm__ volatile("svon.one\n gfx.cull.compact x11, x10, aa=1, cc=1, ps=3"
                     : "+r"(count)
                     : "r"(base), "r"(source)
                     : "memory");
    return count;
}

static uint64_t batch(int first, struct record *to)
{
    uint64_t mask;

    for (int i = 0; i < LANES; i++) {
        for (int c = 0; c < 4; c++) {
            points.a[c][i] = position[c][first + i];
        }
        words.number[i] = (uint64_t)(first + i);
        words.payload[i] = payload[first + i];
    }
    __asm__ volatile("svon.one\n gfx.cull.frustum %[m], %[a], pd=1"
                     : [m] "=&r"(mask)
                     : [a] "r"(&points)
                     : "memory");
    CHECK(mask == (xphmg_pmhigh_rd(IN_FRUSTUM) << 32 | xphmg_pmlow_rd(IN_FRUSTUM)));
    xphmg_pmclr(MOVING);
    xphmg_pmor(MOVING, moving[first / LANES]);
    xphmg_gfx_cull_compose(BOTH, IN_FRUSTUM, MOVING, 0, 1); /* in the frustum and not moving */
    return compact(to);
}

int main(void)
{
    uint32_t seed = 3;
    uint64_t count = 0, differing = 0;
    int right;

    for (int p = 0; p < COUNT; p++) {
        for (int c = 0; c < 3; c++) {
            position[c][p] = gfx_number(&seed, -1.5f, 1.5f);
        }
        position[3][p] = 1;
        payload[p] = (uint64_t)p * p + 17;
        moving[p / LANES] |= (uint64_t)(gfx_number(&seed, 0, 1) < 0.3f) << p % LANES;
    }
    right = count_plainly();
    gfx_use(0);
    use_planes();
    xphmg_csr_write(XPHMG_CSR_SVSRCB, XPHMG_SVSRCB_V | XPHMG_FIELD(XPHMG_SVSRCB_BASE, 12));
    for (int p = 0; p < COUNT; p += LANES) {
        count += batch(p, stream + count);
    }
    for (uint64_t k = 0; k < count; k++) {
        differing +=
            stream[k].number != expected[k].number || stream[k].payload != expected[k].payload;
    }
    printf("%d particles, %d records, the last is number %d\n",
           COUNT,
           (int)count,
           (int)stream[count - 1].number);
    CHECK(count == (uint64_t)right && count > 0 && count < COUNT);
    CHECK(differing == 0);
    return verdict("gfx_compact");
}
