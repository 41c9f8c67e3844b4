/* RT.BBOX and RT.TRI the quick way beside the general one: registers, flags, counters and state,
 * bit for bit, for rays, boxes and triangles at random and at the edges of the format. */
#include "xphmg/guest.h"

#include "xphmg/rt/quick.h"
#include "xphmg/units/vendor.h"

#include <stdlib.h>

enum {
    RAYS = GUEST_DATA,
    TILES = GUEST_DATA + 0x1000,
    RANGES = GUEST_DATA + 0x2000,
    TRIANGLES = GUEST_DATA + 0x3000,
    ROUNDS = 60000,
};

static unsigned below(unsigned n)
{
    return (unsigned)(harness_random() % n);
}

/* Mostly numbers of a small scene, so that boxes and triangles are met. */
static uint32_t element(void)
{
    static const uint32_t edges[] = {0,          0x80000000, 1,          0x80000001, 0x007FFFFF,
                                     0x00800000, 0x01000000, 0x00FFFFFF, 0x7F7FFFFF, 0xFF7FFFFF,
                                     0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0x3F800000,
                                     0x3F7FFFFF, 0x33800000, 0x4B000000, 0x7E800000, 0x00400000};
    const float small = (float)((int)below(33) - 16) * 0.25f;
    uint32_t bits;

    switch (below(24)) {
    case 0:
        return edges[below(sizeof edges / sizeof edges[0])];
    case 1:
        return (uint32_t)harness_random();
    case 2: /* rounds */
        memcpy(&bits, &small, sizeof bits);
        return bits + below(7);
    default:
        memcpy(&bits, &small, sizeof bits);
        return bits;
    }
}

static void both_store(struct guest *const g[2], uint64_t at, unsigned size, uint64_t value)
{
    guest_store(g[0], at, size, value);
    guest_store(g[1], at, size, value);
}

static void put_elements(struct guest *const g[2], uint64_t at, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        both_store(g, at + 4 * (uint64_t)i, 4, element());
    }
}

/* Boxes with min <= max, but for one of eight. */
static void put_tile(struct guest *const g[2], uint64_t at)
{
    put_elements(g, at, 24);
    for (unsigned i = 0; i < 24; i += 6) {
        for (unsigned a = 0; a < 3 && below(8) != 0; a++) {
            const uint64_t low = at + 4 * (uint64_t)(i + a), high = low + 12;
            const uint32_t x = (uint32_t)guest_load(g[0], low, 4),
                           y = (uint32_t)guest_load(g[0], high, 4);
            float fx, fy;

            memcpy(&fx, &x, sizeof fx);
            memcpy(&fy, &y, sizeof fy);
            if (fx > fy) {
                both_store(g, low, 4, y);
                both_store(g, high, 4, x);
            }
        }
    }
    both_store(g, at + 0x7C, 4, below(4) ? 0x5A : harness_random() & 0xFFFFFFFF);
}

static void put_scene(struct guest *const g[2])
{
    put_elements(g, RAYS, 9);
    put_elements(g, RAYS + 64, 9);
    if (below(4) != 0) { /* tmin 0, tmax large */
        both_store(g, RAYS + 24, 4, 0);
        both_store(g, RAYS + 28, 4, below(2) ? 0x7F800000 : 0x42C80000);
    }
    put_tile(g, TILES);
    put_tile(g, TILES + 128);
    both_store(g, RANGES, 4, below(3));
    both_store(g, RANGES + 4, 4, below(7));
    both_store(g, RANGES + 8, 8, below(40) ? TRIANGLES : harness_random());
    put_elements(g, TRIANGLES, 12 * 9);
}

/* Mostly what the quick way takes, sometimes each of the things it does not. */
static void put_state(struct guest *const g[2])
{
    const uint64_t node = (uint64_t)TILES / 64 << FACET_RTNODE_NODE_LSB |
                          (below(2) ? FACET_RTNODE_N8 : 0) |
                          (uint64_t)(below(3) ? 0 : below(8)) << FACET_RTNODE_FIRST_LSB;
    const uint64_t tri = (uint64_t)RANGES / 16 << FACET_RTTRI_RANGE_LSB |
                         (uint64_t)(below(3) ? 0 : below(8)) << FACET_RTTRI_FIRST_LSB;
    const uint64_t mode =
        UINT64_C(0x8000000000000000) | UINT64_C(1) << FACET_CAP_PREC_MODE_PET_LSB |
        UINT64_C(2) << FACET_CAP_PREC_MODE_EW_LSB |
        (below(6)
             ? 0
             : harness_random() & (FACET_CAP_PREC_MODE_SAT | FACET_CAP_PREC_MODE_ZMODE |
                                   FACET_CAP_PREC_MODE_DENORM_FTZ | FACET_CAP_PREC_MODE_FP_RMODE |
                                   FACET_CAP_PREC_MODE_Q | FACET_CAP_PREC_MODE_SAE |
                                   FACET_CAP_PREC_MODE_NAN_POL | FACET_CAP_PREC_MODE_SCALE_SH));
    const uint64_t st = below(8) ? FACET_NX : harness_random() & 0x7F;
    const uint64_t en = below(8) ? 0 : harness_random() & 0x1F;
    const uint64_t vl = below(4) ? 4 : 1 + below(8), pbank = below(8) ? 0 : below(4);
    const uint64_t windows[3] = {harness_random(), harness_random(), harness_random()};
    const bool windowed = below(4) == 0;
    const uint64_t svmscl = below(16) ? 0 : FACET_CAP_XMEM_SVMSCL_FOF;
    const uint64_t mask = harness_random();

    for (unsigned i = 0; i < 2; i++) {
        struct facet_units *u = &g[i]->hart->units;

        for (unsigned r = 1; r < 32; r++) {
            g[i]->hart->x[r] = r;
        }
        g[i]->hart->x[10] = RAYS;
        g[i]->hart->x[11] = RAYS + 64;
        (void)facet_prec_write(&u->cap.prec, FACET_PREC_MODE, FACET_CSRRW, mode);
        u->cap.prec.exc_st = st;
        u->cap.prec.exc_en = en;
        u->rt.node = node;
        u->rt.tri = tri;
        u->cap.xmem.svmscl = svmscl;
        u->pmask.bank[1] = u->pmask.bank[2] = u->pmask.bank[3] = mask;
        u->rsv.svstate = (vl - 1) << FACET_SVSTATE_VLM1_LSB | pbank << FACET_SVSTATE_PBANK_LSB;
        u->rsv.svsrca = windowed ? (windows[0] & (FACET_SVSRCA_V | FACET_SVSRCA_STRIDE)) |
                                       UINT64_C(10) << FACET_SVSRCA_BASE_LSB
                                 : 0;
        u->rsv.svdst =
            windowed ? windows[1] & (FACET_SVDST_V | FACET_SVDST_STRIDE | FACET_SVDST_BASE) : 0;
    }
}

static uint32_t instruction(void)
{
    const uint32_t flags = below(3) ? below(2) : below(16), rd = below(8) ? 12 : below(32);

    return 0x0B | (uint32_t)(6 + below(2)) << 12 | rd << 7 | (10 + below(2)) << 15 | flags << 20;
}

static void step(struct guest *g, uint32_t word, uint64_t prefix)
{
    const struct facet_insn in = facet_insn_decode(word);
    struct facet_trap trap;

    g->hart->units.rsv.svstate |= prefix;
    trap = facet_vendor_execute(g->hart, &in);
    g->hart->x[31] ^= (uint64_t)trap.taken << 40 | (uint64_t)trap.cause << 41 | trap.tval;
}

TEST(the_quick_way_of_rays_is_the_general_one_bit_for_bit, "")
{
    struct guest *const g[2] = {guest_make("full"), guest_make("full")};
    struct facet_xphmg_rt_quick quick = {0};
    unsigned taken = 0, hits = 0;

    for (unsigned n = 0; n < ROUNDS && !harness_failed(); n++) {
        const uint32_t word = instruction();
        const uint64_t prefix =
            (below(8) ? FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT : 0) |
            (below(2) ? FACET_SVSTATE_STEPV | UINT64_C(1) << FACET_SVSTATE_DSTEP_LSB : 0) |
            (below(16) ? 0 : FACET_SVSTATE_FPC_V);
        const struct facet_insn in = facet_insn_decode(word);

        if (n % 4 == 0) { /* some instructions see the ray of the one before */
            put_scene(g);
        }
        put_state(g);
        step(g[0], word, prefix);
        g[1]->hart->rt_quick = &quick;
        g[1]->hart->units.rsv.svstate |= prefix;
        if (facet_xphmg_rt_quick(g[1]->hart, &in, (word >> 12 & 7) == 7)) {
            taken++;
            hits += (unsigned)g[1]->hart->units.pmask.p0;
        } else {
            g[1]->hart->rt_quick = NULL;
            step(g[1], word, 0);
        }
        CHECK_MSG(memcmp(g[0]->hart->x, g[1]->hart->x, sizeof g[0]->hart->x) == 0,
                  "registers after %08x, round %u",
                  word,
                  n);
        g[1]->hart->units.config = g[0]->hart->units.config;
        CHECK_MSG(memcmp(&g[0]->hart->units, &g[1]->hart->units, sizeof g[0]->hart->units) == 0,
                  "state after %08x, round %u",
                  word,
                  n);
        g[1]->hart->units.config = &g[1]->config;
    }
    CHECK_MSG(taken > ROUNDS / 8 && hits > ROUNDS / 300, "taken %u times, %u hits", taken, hits);
    guest_free(g[0]);
    guest_free(g[1]);
}
