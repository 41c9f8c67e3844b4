/* Instructions that do eight lanes at once beside the way lane by lane: an observer, who wants to
 * see every access, turns the first off. Both must leave the same machine: windows, depth buffer,
 * masks, flags, traps. */
#include "xphmg/gfx/gfx_test.h"

#include "facet/observer.h"

enum { VL = 64, SLOTS = 24, WORDS = SLOTS * VL, DEPTH_W = 24, DEPTH_H = 20 };

static void ignore_memory(void *context, const struct facet_memory_event *event)
{
    (void)context;
    (void)event;
}

static const struct facet_observer listener = {.memory = ignore_memory};

static const struct facet_mtx_bank *active_bank(const struct guest *g)
{
    return &g->hart->units.mtx.bank[0];
}

struct outcome {
    struct facet_trap trap;
    uint64_t x[32], stickies[2], fault, state, bank[4], events;
    uint32_t window[3][WORDS], depth[DEPTH_W * DEPTH_H];
};

struct scene {
    uint64_t mode, exc_en, exc_st, mask, place[3], svstate, planes[12], pixel;
    uint32_t window[3][WORDS], matrix[16];
    uint64_t zcfg, hiz;
    bool transposed;
    const char *text;
};

static unsigned below(unsigned n)
{
    return (unsigned)((harness_random() >> 32) % n);
}

static uint32_t element(bool unusual)
{
    static const uint32_t special[] = {NAN_F,
                                       INF_F,
                                       0x7F800001,
                                       0xFF800000,
                                       1,
                                       0x807FFFFF,
                                       0x00800000,
                                       0x7F7FFFFF,
                                       0x10000000,
                                       0x207FFFFF,
                                       0x5F000000};
    const uint64_t r = harness_random();

    if (unusual && r % 64 == 0) {
        return special[below(11)];
    }
    return r % 8 == 1   ? 0
           : r % 8 == 2 ? ONE_F
           : r % 8 == 3 ? 0x80000000
                        : facet_float_bits((float)((double)(r >> 11) / 9007199254740992.0 * 3 - 1));
}

static const char *random_text(void)
{
    static const char *const texts[] = {
        "GFX.INTERP x16, x8, M=1, nc=1\n",
        "GFX.INTERP x16, x8, M=1, nc=2\n",
        "GFX.INTERP x16, x8, M=1, nc=3, P=1\n",
        "GFX.INTERP x16, x8, nc=0, B=1\n",
        "GFX.INTERP x16, x8, nc=2, P=1, B=1, M=1\n",
        "GFX.SHADE x16, x8, OO=0, N=1, nc=3\n",
        "GFX.SHADE x16, x8, OO=2\n",
        "GFX.SHADE x16, x8, OO=2, L=1, nc=3\n",
        "GFX.SHADE x16, x8, OO=1, L=1, N=1, nc=2\n",
        "GFX.SHADE x16, x8, OO=3, L=1\n",
        "GFX.SHADE x16, x8, OO=3, N=1, ppp=1\n",
        "GFX.CULL.PLANE x5, x8, k=1, idx=2, pd=1\n",
        "GFX.CULL.PLANE x5, x8, tt=2, idx=5\n",
        "GFX.CULL.PLANE x5, x8, s=1, pd=2\n",
        "GFX.CULL.PLANE x5, x8, z=1, idx=1\n",
        "GFX.CULL.FRUSTUM x5, x8, tt=3, pd=2\n",
        "GFX.CULL.AABB x5, x8, f=1\n",
        "GFX.CULL.AABB x5, x8, x=1, k=1, pd=3\n",
        "GFX.CULL.AABB x5, x8, ee=1, f=1\n",
        "GFX.ZTEST x5, x8, w=1, t=1\n",
        "GFX.ZTEST x5, x8, t=1, pd=2, m=1\n",
        "GFX.ZTEST x5, x8, w=1\n",
        "GFX.ZTEST x5, x8, w=1, t=1, e=1\n",
        "GFX.ZWRITE x8, t=1\n",
        "MTX.MUL x16, x8, shape=15, vec_count=7\n",
        "MTX.MUL x16, x8, shape=15, vec_count=2, transpose=1\n",
        "MTX.MUL x16, x8, shape=10, vec_count=4\n",
        "MTX.MAD x16, x8, shape=15, vec_count=3\n",
    };

    return texts[below(sizeof texts / sizeof texts[0])];
}

static void random_scene(struct scene *s)
{
    const bool unusual = below(3) == 0;
    const unsigned vl = below(3) != 0 ? VL : below(2) != 0 ? 8 * (1 + below(8)) : 1 + below(VL);

    memset(s, 0, sizeof *s);
    s->text = random_text();
    s->mode = MODE_FP32;
    s->exc_st = below(8) != 0 ? FACET_NX : 0;
    s->mask = below(3) == 0 ? UINT64_MAX : harness_random() & (below(2) ? harness_random() : ~0ul);
    s->place[0] = MEM_A;
    s->place[1] = MEM_B;
    s->place[2] = MEM_R;
    s->transposed = below(2) != 0;
    if (below(8) == 0) {
        s->mode |= MODE_RM(below(5)) | (below(3) == 0 ? MODE_FTZ : 0);
    }
    s->mode |= below(3) == 0 ? MODE_ZMODE : 0;
    s->exc_en = below(8) == 0 ? harness_random() & 0x1F : 0;
    switch (below(16)) { /* other places */
    case 0:
        s->place[below(3)] = LDS + 0x1000;
        break;
    case 1:
        s->place[below(3)] = BAD;
        break;
    case 2: /* the end of RAM */
        s->place[below(3)] = GUEST_CODE + GUEST_RAM_BYTES - 4 * (1 + below(9 * VL));
        break;
    case 3:
        s->place[below(3)] += 1 + below(7);
        break;
    case 4: /* one over the other */
        s->place[0] = s->place[2] + 4 * (uint64_t)below(VL);
        break;
    default:
        break;
    }
    for (unsigned k = 0; k < 3 * WORDS; k++) {
        s->window[k / WORDS][k % WORDS] = element(unusual);
    }
    for (unsigned k = 0; k < 16; k++) {
        s->matrix[k] = element(unusual && below(4) == 0);
    }
    for (unsigned k = 0; k < 12; k++) {
        s->planes[k] = (uint64_t)element(unusual && below(4) == 0) << 32 | element(false);
    }
    s->pixel = (uint64_t)below(DEPTH_H) << 16 | below(DEPTH_W);
    s->zcfg = (uint64_t)below(8) << FACET_GFXZCFG_CMP_LSB |
              (below(4) != 0 ? FACET_GFXZCFG_WRITE_EN : 0) |
              (below(2) != 0 ? FACET_GFXZCFG_REVERSE_Z : 0) |
              (below(2) != 0 ? FACET_GFXZCFG_EARLY_EN : 0);
    s->hiz = (uint64_t)below(5) << FACET_GFXHIZCFG_TILE_W_LOG2_LSB;
    s->svstate = (vl - 1) | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | UINT64_C(1) << 10;
    if (below(12) == 0) { /* scalar */
        s->svstate = 0;
    }
}

static bool is_mapped(uint64_t address)
{
    return address >= GUEST_CODE && address < GUEST_CODE + GUEST_RAM_BYTES;
}

/* The words of a window that exist. */
static void put_window(struct guest *g, uint64_t at, const uint32_t words[WORDS])
{
    for (unsigned k = 0; k < WORDS && at % 4 == 0; k++) {
        if (is_mapped(at + 4 * k) || (at >= LDS && at < LDS + 0x2000)) {
            guest_store(g, at + 4 * k, 4, words[k]);
        }
    }
}

static void get_window(struct guest *g, uint64_t at, uint32_t words[WORDS])
{
    at -= at % 4;
    for (unsigned k = 0; k < WORDS; k++) {
        if (is_mapped(at + 4 * k) || (at >= LDS && at < LDS + 0x2000)) {
            words[k] = (uint32_t)guest_load(g, at + 4 * k, 4);
        }
    }
}

static void put_planes(struct guest *g, const uint64_t planes[12])
{
    for (unsigned half = 0; half < 2; half++) {
        set_cfg(g, EN | CONVERT | (half != 0 ? HISEL : 0));
        for (unsigned p = 0; p < 6; p++) {
            guest_csrw(g, FACET_CSR_GFXPLN0 + p, planes[2 * p + half]);
        }
    }
    set_cfg(g, EN | CONVERT | AMEM | BMEM | DMEM);
}

static void run(struct guest *g, const struct scene *s, bool listens, struct outcome *out)
{
    struct facet_hart *h = g->hart;

    memset(out, 0, sizeof *out);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, s->exc_en);
    set_mode(g, s->mode);
    h->units.cap.prec.exc_st = s->exc_st;
    put_planes(g, s->planes);
    guest_csrw(g, FACET_CSR_GFXZCFG, s->zcfg);
    guest_csrw(g, FACET_CSR_GFXZBASE, DEPTH);
    guest_csrw(g, FACET_CSR_GFXZPITCH, 4 * DEPTH_W);
    guest_csrw(g, FACET_CSR_GFXZWH, (uint64_t)DEPTH_H << 32 | DEPTH_W);
    guest_csrw(g, FACET_CSR_GFXHIZCFG, s->hiz);
    guest_csrw(g, FACET_CSR_MTXCFG, s->transposed ? FACET_MTXCFG_TRANSPOSE_DEF : 0);
    memcpy((void *)(uintptr_t)active_bank(g)->mtx4, s->matrix, sizeof s->matrix);
    guest_csrw(g, FACET_CSR_CAP_XMEM_EVENTS, UINT64_MAX);
    for (unsigned k = 0; k < DEPTH_W * DEPTH_H; k++) {
        guest_store(g, DEPTH + 4 * k, 4, s->window[1][(7 * k) % WORDS]);
    }
    for (unsigned k = 0; k < 3; k++) {
        put_window(g, s->place[k], s->window[k]);
    }
    if (is_mapped(s->place[0]) && is_mapped(s->place[0] + 4 * VL + 8) && s->place[0] % 8 == 0) {
        guest_store(g, s->place[0] + 4 * ((s->svstate & 63) + 1), 8, s->pixel);
    }
    for (unsigned k = 1; k < 4; k++) {
        h->units.pmask.bank[k] = k == 1 ? s->mask : s->planes[k];
    }
    for (unsigned k = 1; k < 32; k++) {
        h->x[k] = k < 8 ? s->planes[k] : 0xABCD;
    }
    for (unsigned k = 0; k < 4; k++) { /* MTX: four lanes with addresses of their own */
        h->x[8 + k] = s->place[0] + 256 * (uint64_t)k;
        h->x[16 + k] = s->place[2] + 256 * (uint64_t)k;
    }
    h->x[12] = s->place[1];
    guest_csrw(g, FACET_CSR_SVSRCB, FACET_SVSRCB_V | 12 << FACET_SVSRCB_BASE_LSB);
    guest_csrw(g, FACET_CSR_SVSTATE, s->text[0] == 'M' ? s->svstate & ~UINT64_C(60) : s->svstate);
    if (listens) {
        guest_observe(g, &listener);
    }
    guest_copy_trap(&out->trap, guest_run(g, "%s", s->text));
    guest_observe(g, NULL);
    memcpy(out->x, h->x, sizeof out->x);
    memcpy(out->bank, h->units.pmask.bank, sizeof out->bank);
    out->stickies[0] = guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST);
    out->stickies[1] = guest_csr(g, FACET_CSR_CAP_PREC_STAT);
    out->fault = guest_csr(g, FACET_CSR_SVFAULTI);
    out->state = guest_csr(g, FACET_CSR_SVSTATE);
    out->events = guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS);
    for (unsigned k = 0; k < 3; k++) {
        get_window(g, s->place[k], out->window[k]);
    }
    for (unsigned k = 0; k < DEPTH_W * DEPTH_H; k++) {
        out->depth[k] = (uint32_t)guest_load(g, DEPTH + 4 * k, 4);
    }
    if (out->trap.taken) {
        guest_reset(g);
    }
}

TEST(eight_lanes_at_once_equal_lane_by_lane, "")
{
    static struct scene s;
    static struct outcome fast, slow;
    struct guest *g = gfx_make();
    const unsigned rounds = harness_long() ? 8000 : 800;
    unsigned traps = 0, changes = 0;

    for (unsigned round = 0; round < rounds && !harness_failed(); round++) {
        random_scene(&s);
        run(g, &s, false, &fast);
        run(g, &s, true, &slow);
        CHECK_MSG(memcmp(&fast, &slow, sizeof fast) == 0,
                  "%s round %u: trap %d/%d cause %u/%u, flags %llx/%llx, x5 %llx/%llx, windows "
                  "%d %d %d, depth %d",
                  s.text,
                  round,
                  fast.trap.taken,
                  slow.trap.taken,
                  (unsigned)fast.trap.cause,
                  (unsigned)slow.trap.cause,
                  (unsigned long long)fast.stickies[0],
                  (unsigned long long)slow.stickies[0],
                  (unsigned long long)fast.x[5],
                  (unsigned long long)slow.x[5],
                  memcmp(fast.window[0], slow.window[0], sizeof fast.window[0]),
                  memcmp(fast.window[1], slow.window[1], sizeof fast.window[0]),
                  memcmp(fast.window[2], slow.window[2], sizeof fast.window[0]),
                  memcmp(fast.depth, slow.depth, sizeof fast.depth));
        traps += fast.trap.taken;
        changes += memcmp(fast.window[2], s.window[2], sizeof fast.window[2]) != 0;
    }
    CHECK(traps > rounds / 100 && traps < rounds / 2);
    CHECK(changes > rounds / 8);
    guest_free(g);
}
