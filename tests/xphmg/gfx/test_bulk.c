/* GFX.SAMPLE of all lanes at once beside the way lane by lane: an observer, who wants to see every
 * access, turns the first off. Both must leave the same machine: results, flags, traps. */
#include "xphmg/gfx/gfx_test.h"

#include "base/float.h"
#include "facet/observer.h"
#include "xphmg/gfx/again.h"

enum { VL = 64 };

static void ignore_memory(void *context, const struct facet_memory_event *event)
{
    (void)context;
    (void)event;
}

static const struct facet_observer listener = {.memory = ignore_memory};

struct outcome {
    struct facet_trap trap;
    uint64_t x[32], stickies[2], fault, state;
    uint32_t out[4 * VL];
};

static unsigned below(unsigned n)
{
    return (unsigned)((harness_random() >> 32) % n);
}

static uint32_t coordinate(void)
{
    static const uint32_t special[] = {
        NAN_F, INF_F, 0x7F800001, 0xFF800000, 0, 0x80000000, 1, 0x5F000000};

    if (below(40) == 0) {
        return special[below(8)];
    }
    return facet_float_bits((float)((double)(harness_random() >> 11) / 9007199254740992.0 * 6 - 2));
}

struct scene {
    uint64_t mode, cfg, exc_en, mask, base, svstate, results, table;
    uint64_t texels[256];
    unsigned w, h, pitch, vl, wrap, fmt;
    const char *text;
};

static struct scene random_scene(void)
{
    static const char *const texts[] = {
        "GFX.SAMPLE x16, x8, m=1\n",
        "GFX.SAMPLE x16, x8, m=1, f=1\n",
        "GFX.SAMPLE x16, x8, m=1, ppp=1, w=1, wrap=3\n",
        "GFX.SAMPLE x16, x8, m=0\n",
        "GFX.SAMPLE x16, x8, m=1, t=1\n",
        "GFX.SAMPLE x16, x8, m=1, ppp=0\n",
        "GFX.SAMPLE x16, x8, m=1, ppp=3\n",
        "GFX.SAMPLE.GATH x16, x8, n=5, p=1, s=1\n",
        "GFX.SAMPLE.GATH x16, x8, n=3, p=0, s=1\n",
        "GFX.SAMPLE.GATH x16, x8, n=0, p=1, s=0, ppp=0\n",
    };
    struct scene s = {
        .mode = MODE_FP32,
        .cfg = EN | (below(12) != 0 ? CONVERT : 0) | (below(2) != 0 ? NORM : 0) |
               (below(4) == 0 ? SRGB : 0) | (below(2) == 0 ? FACET_GFXCFG_FILTER_DFLT : 0) |
               (uint64_t)below(20) << FACET_GFXCFG_GATH_TAPS_LSB,
        .mask = below(2) != 0 ? UINT64_MAX : harness_random(),
        .base = TEXTURE,
        .table = below(10) == 0 ? BAD : MEM_A + 4 * below(3) + below(10) / 9,
        .results = below(4) == 0   ? LDS + 0x1000
                   : below(8) == 0 ? MEM_A + 4 * below(200)
                   : below(8) == 0 ? TEXTURE + 4 * below(200)
                                   : MEM_R,
        .w = 1 + below(9),
        .h = 1 + below(9),
        .wrap = below(4),
        .fmt = below(3) == 0 ? below(0x44) : 0x30,
        .text = texts[below(2) == 0 ? below(10) : 0],
    };

    if (s.fmt < 0x40 && (s.fmt & 15) == 15) {
        s.fmt = 0x30;
    }
    s.pitch = 16 * s.w + 4 * below(3);
    if (below(8) == 0) {
        s.mode = MODE_FP32 | MODE_RM(below(5)) | (below(3) == 0 ? MODE_FTZ : 0) |
                 (below(4) == 0 ? MODE_ZMODE : 0);
    }
    if (below(6) == 0) {
        s.exc_en = harness_random() & 0x1F;
    }
    switch (below(12)) { /* other places */
    case 0:
        s.base = LDS + 64;
        break;
    case 1: /* the end of RAM */
        s.base = GUEST_CODE + GUEST_RAM_BYTES - 16 * (1 + below(8));
        break;
    case 2:
        s.base = BAD;
        break;
    default:
        break;
    }
    if (below(2) != 0) { /* memory windows */
        s.cfg |= AMEM | DMEM;
        s.vl = 1 + below(VL);
    } else { /* u, v in x8 up, results in x16 up */
        s.vl = 1 + below(4);
    }
    s.svstate = (s.vl - 1) | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | UINT64_C(1) << 10;
    if (below(8) == 0) { /* scalar */
        s.svstate = 0;
    }
    return s;
}

static void run(struct guest *g,
                const struct scene *s,
                const uint32_t uv[2 * VL],
                bool listens,
                struct outcome *out)
{
    memset(out, 0, sizeof *out);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, s->exc_en);
    set_mode(g, s->mode); /* STAT shows the enables */
    set_cfg(g, s->cfg);
    guest_csrw(g, FACET_CSR_GFXWRAP, s->wrap);
    guest_csrw(g, FACET_CSR_GFXTEXBASE, s->base);
    guest_csrw(g, FACET_CSR_GFXTEXPITCH, s->pitch);
    guest_csrw(g, FACET_CSR_GFXTEXWH, (uint64_t)s->h << 32 | s->w);
    guest_csrw(g, FACET_CSR_GFXTEXFMT, s->fmt);
    guest_csrw(g, FACET_CSR_GFXGATHBASE, s->table);
    guest_csrw(g, FACET_CSR_SVSTATE, s->svstate);
    guest_csrw(g, FACET_CSR_CAP_XMEM_EVENTS, UINT64_MAX);
    g->hart->units.pmask.bank[1] = s->mask;
    for (unsigned k = 0; k < 4 * VL; k++) {
        guest_store(g, s->results + 4 * k, 4, 0x5A5A5A5A);
    }
    for (unsigned k = 0; k < 256; k++) {
        guest_store(g, TEXTURE + 8 * k, 8, s->texels[k]);
    }
    for (unsigned k = 0; k < 2 * VL; k++) {
        guest_store(g, MEM_A + 4 * k, 4, uv[k]);
    }
    for (unsigned k = 1; k < 32; k++) {
        g->hart->x[k] = k >= 8 && k < 16 ? uv[k - 8] : 0xABCD;
    }
    if ((s->cfg & AMEM) != 0) {
        g->hart->x[8] = MEM_A;
        g->hart->x[16] = s->results;
    }
    if (listens) {
        guest_observe(g, &listener);
    }
    guest_copy_trap(&out->trap, guest_run(g, "%s", s->text));
    guest_observe(g, NULL);
    memcpy(out->x, g->hart->x, sizeof out->x);
    out->stickies[0] = guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST);
    out->stickies[1] = guest_csr(g, FACET_CSR_CAP_PREC_STAT);
    out->fault = guest_csr(g, FACET_CSR_SVFAULTI);
    out->state = guest_csr(g, FACET_CSR_SVSTATE);
    for (unsigned k = 0; k < 4 * VL; k++) {
        out->out[k] = (uint32_t)guest_load(g, s->results + 4 * k, 4);
    }
    if (out->trap.taken) {
        guest_reset(g);
    }
}

static unsigned differing_lane(const struct outcome *a, const struct outcome *b)
{
    unsigned k = 0;

    while (k < 4 * VL && a->out[k] == b->out[k]) {
        k++;
    }
    return k;
}

TEST(lanes_at_once_equal_lane_by_lane, "")
{
    struct guest *g = gfx_make();
    unsigned traps = 0;

    for (unsigned round = 0; round < 1000 && !harness_failed(); round++) {
        struct scene s = random_scene();
        uint32_t uv[2 * VL];
        struct outcome fast = {0}, slow = {0};

        for (unsigned k = 0; k < 256; k++) {
            s.texels[k] = harness_random() * (round % 3 != 0);
        }
        for (unsigned k = 0; k < 2 * VL; k++) {
            uv[k] = coordinate();
        }
        run(g, &s, uv, false, &fast);
        run(g, &s, uv, true, &slow);
        CHECK_MSG(memcmp(&fast, &slow, sizeof fast) == 0,
                  "%s vl %u, %ux%u fmt %x at 0x%llx, mode %llx: trap %d/%d cause %u/%u tval "
                  "%llx/%llx, flags %llx/%llx, slot %u differs",
                  s.text,
                  s.vl,
                  s.w,
                  s.h,
                  s.fmt,
                  (unsigned long long)s.base,
                  (unsigned long long)s.mode,
                  fast.trap.taken,
                  slow.trap.taken,
                  (unsigned)fast.trap.cause,
                  (unsigned)slow.trap.cause,
                  (unsigned long long)fast.trap.tval,
                  (unsigned long long)slow.trap.tval,
                  (unsigned long long)fast.stickies[0],
                  (unsigned long long)slow.stickies[0],
                  differing_lane(&fast, &slow));
        traps += fast.trap.taken;
    }
    CHECK(traps > 20);
    guest_free(g);
}

/* One thing changes, or none, from one sample to the next. */
static void change(struct scene *s, uint32_t uv[2 * VL])
{
    switch (below(24)) {
    case 0:
        s->w = 1 + below(9);
        break;
    case 1:
        s->h = 1 + below(9);
        break;
    case 2:
        s->wrap = below(4);
        break;
    case 3:
        s->base = TEXTURE + 16 * below(3);
        break;
    case 4:
        s->pitch = 16 * 9 + 4 * below(3);
        break;
    case 5:
        s->fmt = below(2) != 0 ? 0x30 : 0x31;
        break;
    case 6:
        s->cfg ^= below(2) != 0 ? NORM : SRGB;
        break;
    case 7:
        s->mode ^= MODE_FTZ;
        break;
    case 8:
        s->mode ^= MODE_RM(below(5));
        break;
    case 9:
        s->exc_en ^= FACET_NX;
        break;
    case 10:
        s->results = below(2) != 0 ? MEM_R : below(2) != 0 ? MEM_A + 64 : TEXTURE + 64;
        break;
    case 11:
        s->vl = below(2) != 0 ? VL : 1 + below(VL);
        s->svstate = (s->svstate & ~UINT64_C(63)) | (s->vl - 1);
        break;
    case 12:
        s->svstate ^= UINT64_C(1) << 10; /* bank 1 */
        break;
    case 13:
        s->text = below(2) != 0 ? "GFX.SAMPLE x16, x8, m=1, f=1\n" : "GFX.SAMPLE x16, x8, m=1\n";
        break;
    case 14:
        s->results = below(2) != 0 ? MEM_R : LDS + 0x1000;
        break;
    case 15:
        s->texels[below(256)] = harness_random();
        break;
    case 16:
        s->cfg ^= AMEM;
        break;
    default:
        uv[below(2 * VL)] = coordinate();
        break;
    }
}

TEST(samples_one_after_another_follow_every_change, "")
{
    static const struct scene first = {.mode = MODE_FP32,
                                       .cfg = EN | CONVERT | NORM | AMEM | DMEM,
                                       .mask = UINT64_C(0xFFFFFFFF00FFFFFF),
                                       .base = TEXTURE,
                                       .svstate =
                                           (VL - 1) | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT,
                                       .results = MEM_R,
                                       .table = MEM_A,
                                       .w = 8,
                                       .h = 8,
                                       .pitch = 16 * 9,
                                       .vl = VL,
                                       .fmt = 0x30,
                                       .text = "GFX.SAMPLE x16, x8, m=1\n"};
    struct guest *g = gfx_make();
    struct facet_xphmg_gfx_kept kept = {0};
    static struct scene s;
    uint32_t uv[2 * VL];

    g->hart->gfx_kept = &kept;
    for (unsigned round = 0; round < 600 && !harness_failed(); round++) {
        struct outcome fast = {0}, slow = {0};

        if (round % 12 == 0) { /* or hardly anything usual would be left */
            s = first;
            for (unsigned k = 0; k < 256; k++) {
                s.texels[k] = harness_random();
            }
            for (unsigned k = 0; k < 2 * VL; k++) {
                uv[k] = coordinate();
            }
        }
        run(g, &s, uv, false, &fast);
        run(g, &s, uv, true, &slow);
        CHECK_MSG(memcmp(&fast, &slow, sizeof fast) == 0,
                  "round %u: flags %llx/%llx, slot %u differs",
                  round,
                  (unsigned long long)fast.stickies[0],
                  (unsigned long long)slow.stickies[0],
                  differing_lane(&fast, &slow));
        change(&s, uv);
    }
    CHECK(kept.known);
    guest_free(g);
}
