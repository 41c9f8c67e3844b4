/* XSUBMIT.RT (rt-semantics.md 11): the worked example X24 and its variations, queues, errors,
 * traversal order, the memory policy of the descriptor, and jobs against the same rays traced by a
 * plain loop over all triangles with RT.TRI. */
#include "xphmg/rt/rt_test.h"

#include "base/float.h"
#include "facet/observer.h"

#include <stdlib.h>

enum {
    HEAP = MOVED + 0x1000,
    TRIS = MOVED + 0x2000,
    RAYQ = MOVED + 0x3000,
    HITQ = MOVED + 0x3020,
    MISSQ = MOVED + 0x3040,
    RAYS = MOVED + 0x4000,
    HITS = MOVED + 0x5000,
    MISSES = MOVED + 0x6000,
    DESC = MOVED + 0x7000,
    BIG = MOVED + 0x10000, /* for generated scenes */
    OPT_CULL = 1,
    OPT_PACK = 4,
    OPT_EPS = 8,
    OPT_ANY = 16,
    OPT_NODE8 = 32,
    OPT_W = 64,
};

struct desc {
    uint64_t bvh, rayq, hitq, missq, tri;
    uint32_t opts, rsv;
    uint8_t memctl[24];
};

static const struct desc x24_desc = {HEAP, RAYQ, HITQ, MISSQ, TRIS, 0, 0, {0}};

static void put(struct guest *g, const struct desc *d)
{
    guest_store(g, DESC, 8, d->bvh);
    guest_store(g, DESC + 8, 8, d->rayq);
    guest_store(g, DESC + 16, 8, d->hitq);
    guest_store(g, DESC + 24, 8, d->missq);
    guest_store(g, DESC + 32, 8, d->tri);
    guest_store(g, DESC + 40, 4, d->opts);
    guest_store(g, DESC + 44, 4, d->rsv);
    CHECK_EQ(facet_mem_poke(g->mem, DESC + 48, d->memctl, 24).fault, FACET_MEM_OK);
    g->hart->x[10] = DESC;
}

static void
queue(struct guest *g, uint64_t at, uint32_t head, uint32_t tail, uint32_t cap, uint64_t base)
{
    guest_store(g, at, 4, head);
    guest_store(g, at + 4, 4, tail);
    guest_store(g, at + 8, 4, cap);
    guest_store(g, at + 12, 4, 0x5A5A5A5A);
    guest_store(g, at + 16, 8, base);
}

static void put_ray(struct guest *g, uint64_t at, const float v[8], uint64_t tag)
{
    for (unsigned i = 0; i < 8; i++) {
        guest_store(g, at + 4 * i, 4, facet_float_bits(v[i]));
    }
    guest_store(g, at + 56, 8, tag);
}

static void put_triangle(struct guest *g, uint64_t base, unsigned k, const float v[9])
{
    for (unsigned i = 0; i < 9; i++) {
        guest_store(g, base + 36 * k + 4 * i, 4, facet_float_bits(v[i]));
    }
}

static void put_box(struct guest *g, uint64_t tile, unsigned slot, const float v[6])
{
    for (unsigned i = 0; i < 6; i++) {
        guest_store(g, tile + 24 * slot + 4 * i, 4, facet_float_bits(v[i]));
    }
}

static const float inf = 1.0f / 0.0f;

static void x24_heap(struct guest *g, uint64_t heap)
{
    static const float box0[] = {-2, -2, 3, 2, 2, 3}, box1[] = {0, 0, 0, 1, 1, 0};

    for (unsigned i = 0; i < 0x80; i += 8) {
        guest_store(g, heap + i, 8, 0);
    }
    put_box(g, heap, 0, box0);
    put_box(g, heap, 1, box1);
    guest_store(g, heap + 0x70, 8, UINT64_C(8) << 32 | 9);
    guest_store(g, heap + 0x78, 8, UINT64_C(0x0A) << 32);
    guest_store(g, heap + 0x80, 8, UINT64_C(2) << 32);
    guest_store(g, heap + 0x88, 8, 0);
    guest_store(g, heap + 0x90, 8, UINT64_C(2) << 32 | 2);
    guest_store(g, heap + 0x98, 8, 0);
}

static void x24_triangles(struct guest *g, uint64_t at)
{
    static const float v[4][9] = {{0, 0, 0, 1, 0, 0, 1, 1, 0},
                                  {0, 0, 0, 1, 1, 0, 0, 1, 0},
                                  {-2, -2, 3, 2, -2, 3, 2, 2, 3},
                                  {-2, -2, 3, 2, 2, 3, -2, 2, 3}};

    for (unsigned k = 0; k < 4; k++) {
        put_triangle(g, at, k, v[k]);
    }
}

static void x24_queues(struct guest *g)
{
    static const float rays[3][8] = {{0.5f, 0.5f, -3, 0, 0, 1, 0, 1.0f / 0.0f},
                                     {-1.5f, 0.25f, -3, 0.125f, 0, 1, 0, 1.0f / 0.0f},
                                     {5, 5, -3, 0, 0, 1, 0, 1.0f / 0.0f}};

    queue(g, RAYQ, 0, 3, 4, RAYS);
    queue(g, HITQ, 0, 0, 4, HITS);
    queue(g, MISSQ, 0, 0, 4, MISSES);
    for (unsigned k = 0; k < 3; k++) {
        put_ray(g, RAYS + 64 * k, rays[k], 0xA0 + k);
    }
    for (unsigned i = 0; i < 0x100; i += 8) {
        guest_store(g, HITS + i, 8, 0x7777777777777777);
        guest_store(g, MISSES + i, 8, 0x7777777777777777);
    }
}

static struct guest *x24(void)
{
    struct guest *g = guest_make("full");

    set_mode(g, MODE_FP32);
    x24_heap(g, HEAP);
    x24_triangles(g, TRIS);
    x24_queues(g);
    put(g, &x24_desc);
    return g;
}

static const uint64_t x24_hits[8] = {0xa0,
                                     UINT64_C(0x0000000800000000),
                                     UINT64_C(0x0000000040400000),
                                     UINT64_C(0x000000003f000000),
                                     0xa1,
                                     UINT64_C(0x0000000900000003),
                                     UINT64_C(0x3ea0000040c00000),
                                     UINT64_C(0x000000003e800000)};

/* The entries of X24 in a hit queue with this base, and the miss entry. */
static void check_x24(struct guest *g, uint64_t hits, uint64_t misses)
{
    for (unsigned i = 0; i < 8; i++) {
        CHECK_EQ(guest_load(g, hits + 8 * i, 8), x24_hits[i]);
    }
    CHECK_EQ(guest_load(g, hits + 64, 8), 0x7777777777777777);
    CHECK_EQ(guest_load(g, misses, 8), 0xA2);
    CHECK_EQ(guest_load(g, misses + 8, 8), 0);
    CHECK_EQ(guest_load(g, misses + 16, 8), 0x7777777777777777);
    CHECK_EQ(guest_load(g, RAYQ, 8), UINT64_C(3) << 32 | 3);
    CHECK_EQ(last_ec(g), 0);
}

TEST(worked_example, "")
{
    struct guest *g = x24();

    guest_ok(g, "xsubmit.rt a1, a0\n xfence.wait a1\n");
    CHECK_ID("RT-266 XM-146", g->hart->x[11] == (UINT64_C(1) << 56 | 1));
    harness_row("RT-087 RT-093 RT-096 RT-099 RT-100 RT-119 RT-125 RT-275");
    check_x24(g, HITS, MISSES);
    harness_row("RT-267 RT-273"); /* seen after the wait */
    check_x24(g, HITS, MISSES);
    CHECK_ID("RT-005 RT-115", guest_load(g, RAYQ, 4) == 3 && guest_load(g, HITQ, 4) == 0);
    CHECK_ID("RT-005 RT-116", guest_load(g, HITQ + 4, 4) == 2 && guest_load(g, MISSQ + 4, 4) == 1);
    for (unsigned i = 0; i < 3; i++) { /* cap, rsv and base stay */
        uint64_t q = RAYQ + 0x20 * i;

        CHECK_ID("RT-005 RT-117", guest_load(g, q + 8, 4) == 4);
        CHECK_ID("RT-005 RT-118", guest_load(g, q + 12, 4) == 0x5A5A5A5A);
        CHECK_ID("RT-005 RT-119", guest_load(g, q + 16, 8) == RAYS + 0x1000 * i);
    }
    harness_row("");
    CHECK_ID("RT-209", exc_st(g) == FACET_DZ);
    CHECK_EQ(boxes(g), 6);
    CHECK_EQ(triangles(g), 4);
    CHECK_ID("RT-040", (guest_csr(g, FACET_CSR_RTSTAT) & FACET_RTSTAT_BUSY) == 0);
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS), 0);
    harness_row("RT-121"); /* an empty ray queue: nothing happens */
    guest_ok(g, "xsubmit.rt a2, a0\n xfence.wait a2\n");
    CHECK_ID("XM-146", g->hart->x[12] == (UINT64_C(1) << 56 | 2));
    check_x24(g, HITS, MISSES);
    CHECK_EQ(boxes(g), 6);
    guest_free(g);
}

TEST(every_field_of_the_descriptor, "")
{
    enum { OTHER = MOVED + 0x9000 };
    struct guest *g = x24();

    for (unsigned i = 0; i < 14; i++) {
        static const char *const ids[] = {
            "",
            "RT-256",
            "RT-258 RT-259",
            "RT-260",
            "RT-293",
            "RT-262",
            "RT-290",
            "RT-289",
            "RT-292",
            "RT-257",
            "RT-018 RT-052",
            "RT-019 RT-053",
            "RT-020 RT-054",
            "RT-021 RT-055",
        };
        struct desc d = x24_desc;
        uint64_t hits = HITS, misses = MISSES;

        x24_heap(g, HEAP);
        x24_queues(g);
        x24_triangles(g, TRIS);
        for (unsigned n = 3; n < 7; n++) {
            guest_csrw(g, 0x820 + n, 0);
        }
        switch (i) {
        case 0: /* everything from the registers */
            d.bvh = d.rayq = d.hitq = d.missq = 0;
            guest_csrw(g, 0x823, HEAP);
            guest_csrw(g, 0x824, RAYQ);
            guest_csrw(g, 0x825, HITQ);
            guest_csrw(g, 0x826, MISSQ);
            break;
        case 1: /* the heap elsewhere; the register is not used */
            d.bvh = OTHER;
            guest_csrw(g, 0x823, BAD);
            x24_heap(g, OTHER);
            guest_store(g, HEAP + 0x78, 8, 0);
            break;
        case 2: /* other queues for hits and misses */
            d.hitq = OTHER, d.missq = OTHER + 0x20;
            hits = OTHER + 0x100, misses = OTHER + 0x200;
            queue(g, OTHER, 3, 3, 16, hits - 96);
            queue(g, OTHER + 0x20, 1, 1, 4, misses - 16);
            for (unsigned k = 0; k < 0x200; k += 8) {
                guest_store(g, OTHER + 0x40 + k, 8, 0x7777777777777777);
            }
            break;
        case 3: /* the triangles elsewhere */
            d.tri = OTHER;
            x24_triangles(g, OTHER);
            guest_store(g, TRIS, 4, 0x7F800001);
            break;
        case 4: /* the base of the leaves comes first */
            d.tri = BAD;
            guest_store(g, HEAP + 0x88, 8, TRIS);
            guest_store(g, HEAP + 0x98, 8, TRIS);
            break;
        case 5:
            d.rsv = 0xFFFFFFFF;
            break;
        case 6: /* the heap in LDS */
            d.bvh = FACET_XLDSBASE_RESET;
            x24_heap(g, FACET_XLDSBASE_RESET);
            break;
        case 7: /* hits in LDS */
            hits = FACET_XLDSBASE_RESET + 0x1000;
            queue(g, HITQ, 0, 0, 4, hits);
            for (unsigned k = 0; k < 0x80; k += 8) {
                guest_store(g, hits + k, 8, 0x7777777777777777);
            }
            break;
        case 9: /* the ray queue elsewhere, its registers and the old one empty */
            d.rayq = OTHER;
            queue(g, OTHER, 0, 3, 4, RAYS);
            queue(g, RAYQ, 3, 3, 4, BAD);
            break;
        case 10: /* one register after the other */
            d.bvh = 0;
            guest_csrw(g, 0x823, HEAP);
            break;
        case 11:
            d.rayq = 0;
            guest_csrw(g, 0x824, RAYQ);
            break;
        case 12:
            d.hitq = 0;
            guest_csrw(g, 0x825, HITQ);
            break;
        case 13:
            d.missq = 0;
            guest_csrw(g, 0x826, MISSQ);
            break;
        default: /* tri_buf 0 with bases in the leaves */
            d.tri = 0;
            guest_store(g, HEAP + 0x88, 8, TRIS);
            guest_store(g, HEAP + 0x98, 8, TRIS);
            break;
        }
        put(g, &d);
        guest_ok(g, "xsubmit.rt a1, a0\n");
        harness_row(ids[i]);
        check_x24(g, hits, misses);
        if (i == 2) {
            CHECK_ID("RT-258", guest_load(g, OTHER + 4, 4) == 5);
            CHECK_ID("RT-259", guest_load(g, OTHER + 0x24, 4) == 2);
        } else if (i == 9) {
            CHECK_EQ(guest_load(g, OTHER, 4), 3);
        }
    }
    harness_row(""); /* without queues for results the rays are consumed all the same */
    {
        struct desc d = x24_desc;

        d.hitq = d.missq = 0;
        x24_queues(g);
        guest_csrw(g, 0x825, 0);
        guest_csrw(g, 0x826, 0);
        put(g, &d);
        guest_ok(g, "xsubmit.rt a1, a0\n");
        CHECK_EQ(last_ec(g), 0);
        CHECK_EQ(guest_load(g, RAYQ, 4), 3);
        CHECK_EQ(guest_load(g, HITS, 8), 0x7777777777777777);
    }
    guest_free(g);
}

TEST(checks_of_a_submission, "")
{
    static const struct {
        uint64_t missing;
        uint32_t opts;
        bool works;
        const char *ids;
    } rows[] = {{FACET_RTCAP_DESCQ, 0, false, "RT-074 RT-255"},
                {FACET_RTCAP_NODE8, OPT_NODE8, false, "RT-265"},
                {FACET_RTCAP_NODE8, 0, true, "RT-265"},
                {FACET_RTCAP_NODE4, 0, false, "RT-282"},
                {FACET_RTCAP_PACK_HINT, OPT_PACK, false, "RT-264"},
                {FACET_RTCAP_PACK_HINT, 0, true, "RT-264"},
                {FACET_RTCAP_EPS_CTL, OPT_EPS, false, "RT-264"},
                {FACET_RTCAP_WATERTIGHT, 0, false, "RT-046"}};
    struct guest *g = x24();
    struct desc d = x24_desc;

    harness_row("RT-263");
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_MISALIGNED, "addi a0, a0, 4\n xsubmit.rt a1, a0\n"),
             DESC + 4);
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS), FACET_CAP_XMEM_EVENTS_INV_MISS);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "li a0, 0x%x\n xsubmit.rt a1, a0\n", END - 64),
             END);
    CHECK_EQ(last_ec(g), 0);
    harness_row("RT-265");
    for (unsigned bit = 0; bit < 32; bit++) {
        if (bit == 1 || bit > 6) {
            d.opts = UINT32_C(1) << bit;
            put(g, &d);
            g->hart->units.rt.stat = 0;
            CHECK_EQ(guest_traps(g, FACET_CAUSE_ILLEGAL, "xsubmit.rt a1, a0\n"),
                     guest_load(g, GUEST_CODE, 4));
            CHECK_EQ(last_ec(g), 1);
        }
    }
    CHECK_EQ(g->xmem->ticket_rt, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        harness_row(rows[i].ids);
        guest_configure(g, "rtcap", FACET_RTCAP_RESET & ~rows[i].missing);
        set_mode(g, MODE_FP32);
        d.opts = rows[i].opts;
        put(g, &d);
        x24_queues(g);
        if (rows[i].works) {
            guest_ok(g, "xsubmit.rt a1, a0\n");
            check_x24(g, HITS, MISSES);
            continue;
        }
        if (rows[i].missing == FACET_RTCAP_DESCQ) {
            g->hart->x[10] = DESC + 1; /* the queue is asked for first */
        }
        CHECK_EQ(guest_traps(g, FACET_CAUSE_UNSUPPORTED, "xsubmit.rt a1, a0\n"),
                 guest_load(g, GUEST_CODE, 4));
        CHECK_EQ(last_ec(g), 2);
        CHECK_EQ(g->xmem->ticket_rt, 0);
        CHECK_EQ(guest_load(g, RAYQ, 4), 0);
    }
    /* Options: back faces culled, packed entries, an epsilon that nothing passes. */
    harness_row("RT-261 RT-264");
    guest_configure(g, "rtcap", FACET_RTCAP_RESET);
    set_mode(g, MODE_FP32);
    d.opts = OPT_CULL;
    put(g, &d);
    x24_queues(g);
    guest_ok(g, "xsubmit.rt a1, a0\n");
    CHECK_EQ(guest_load(g, HITQ + 4, 4), 0);
    CHECK_EQ(guest_load(g, MISSQ + 4, 4), 3);
    d.opts = OPT_EPS;
    guest_csrw(g, 0x827, 255);
    put(g, &d);
    x24_queues(g);
    guest_ok(g, "xsubmit.rt a2, a0\n");
    CHECK_EQ(guest_load(g, MISSQ + 4, 4), 3);
    CHECK_ID("RT-271", g->hart->x[12] == g->hart->x[11] + 1);
    for (unsigned i = 0; i < 2; i++) { /* by the option and by PACK_HINT_DFLT */
        d.opts = i == 0 ? OPT_PACK : 0;
        guest_csrw(g, 0x820, i == 0 ? 0 : 4);
        put(g, &d);
        x24_queues(g);
        guest_ok(g, "xsubmit.rt a1, a0\n");
        CHECK_EQ(guest_load(g, HITS + 16, 8), UINT64_C(0x0000380000004200));
        CHECK_EQ(guest_load(g, HITS + 24, 8), 0);
        CHECK_EQ(guest_load(g, HITS + 48, 8), UINT64_C(0x0000340035004600));
    }
    harness_row("");
    guest_configure(g, "feat0", FACET_CAP_FEAT0_RESET & ~FACET_CAP_FEAT0_RT_PRESENT);
    (void)guest_traps(g, FACET_CAUSE_UNSUPPORTED, "xsubmit.rt a1, a0\n");
    guest_free(g);
}

/* ---- queues ------------------------------------------------------------------------------------
 */

TEST(bad_queues_end_the_job_before_any_ray, "RT-083 RT-124")
{
    struct guest *g = x24();
    static const struct {
        uint32_t head, tail, cap, base;
    } bad[] = {{0, 0, 0, 0}, {4, 0, 4, 0}, {0, 4, 4, 0}, {0, 3, 4, 8}, {0xFFFFFFFF, 1, 4, 0}};

    for (unsigned which = 0; which < 3; which++) {
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            uint64_t q = RAYQ + 0x20 * which;

            x24_queues(g);
            queue(g, q, bad[i].head, bad[i].tail, bad[i].cap, RAYS + 0x1000 * which + bad[i].base);
            g->hart->units.rt.stat = 0;
            guest_ok(g, "xsubmit.rt a1, a0\n xfence.wait a1\n");
            CHECK_MSG(last_ec(g) == 4, "queue %u row %zu: %u", which, i, last_ec(g));
            CHECK_EQ(guest_load(g, q, 4), bad[i].head);
            CHECK_EQ(guest_load(g, q + 4, 4), bad[i].tail);
            CHECK_EQ(guest_load(g, HITS, 8), 0x7777777777777777);
            CHECK_EQ(boxes(g), 0);
        }
    }
    for (unsigned which = 0; which < 3; which++) { /* off by four, and unmapped */
        struct desc d = x24_desc;
        uint64_t *field = which == 0 ? &d.rayq : which == 1 ? &d.hitq : &d.missq;

        x24_queues(g);
        *field += 4;
        put(g, &d);
        g->hart->units.rt.stat = 0;
        guest_ok(g, "xsubmit.rt a1, a0\n");
        CHECK_EQ(last_ec(g), 4);
        CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS), 0);
        *field = BAD;
        put(g, &d);
        guest_ok(g, "xsubmit.rt a1, a0\n");
        CHECK_EQ(last_ec(g), 3);
        CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS), FACET_CAP_XMEM_EVENTS_INV_MISS);
        guest_csrw(g, FACET_CSR_CAP_XMEM_EVENTS, ~UINT64_C(0));
    }
    { /* no ray queue at all */
        struct desc d = x24_desc;

        d.rayq = 0;
        put(g, &d);
        guest_ok(g, "xsubmit.rt a1, a0\n");
        CHECK_EQ(last_ec(g), 4);
    }
    guest_free(g);
}

TEST(full_queues_keep_the_ray, "RT-083 RT-120 RT-122 RT-123")
{
    struct guest *g = x24();

    queue(g, HITQ, 1, 1, 2, HITS); /* room for one */
    guest_ok(g, "xsubmit.rt a1, a0\n xfence.wait a1\n");
    CHECK_EQ(last_ec(g), 5);
    CHECK_EQ(guest_load(g, RAYQ, 4), 1); /* the second ray waits */
    CHECK_EQ(guest_load(g, HITS + 32, 8), 0xA0);
    CHECK_EQ(guest_load(g, HITS, 8), 0x7777777777777777);
    CHECK_EQ(guest_load(g, HITQ, 8), 1); /* tail went round */
    guest_ok(g, "xsubmit.rt a1, a0\n");  /* still full: nothing changes */
    CHECK_EQ(last_ec(g), 5);
    CHECK_EQ(guest_load(g, RAYQ, 4), 1);
    CHECK_EQ(guest_load(g, HITQ, 8), 1);
    guest_store(g, HITQ, 4, 0); /* consumed */
    guest_ok(g, "xsubmit.rt a1, a0\n");
    CHECK_EQ(guest_load(g, HITS, 8), 0xA1);
    CHECK_EQ(guest_load(g, RAYQ, 4), 3);
    CHECK_EQ(guest_load(g, MISSES, 8), 0xA2);
    CHECK_EQ(last_ec(g), 5); /* a good end does not clear it */
    /* The ray queue wraps too. */
    x24_queues(g);
    queue(g, RAYQ, 2, 1, 4, RAYS - 128); /* slots 2, 3, 0 */
    for (unsigned i = 0; i < 64; i += 8) {
        guest_store(g, RAYS - 128 + i, 8, guest_load(g, RAYS + 128 + i, 8));
    }
    guest_ok(g, "xsubmit.rt a1, a0\n");
    CHECK_EQ(guest_load(g, RAYQ, 4), 1);
    CHECK_EQ(guest_load(g, HITS, 8), 0xA0);
    CHECK_EQ(guest_load(g, HITS + 32, 8), 0xA1);
    CHECK_EQ(guest_load(g, MISSES, 8), 0xA2);
    guest_free(g);
}

TEST(jobs_follow_each_other, "RT-270 RT-272")
{
    struct guest *g = x24();

    guest_store(g, RAYQ + 4, 4, 1);
    guest_ok(g,
             "xsubmit.rt a1, a0\n li t1, 2\n li t0, 0x%x\n sw t1, 4(t0)\n xsubmit.rt a2, a0\n"
             "xfence.wait a2\n",
             RAYQ);
    CHECK_EQ(guest_load(g, HITS, 8), 0xA0);
    CHECK_EQ(guest_load(g, HITS + 32, 8), 0xA1);
    CHECK_EQ(guest_load(g, MISSQ + 4, 4), 0);
    CHECK(g->hart->x[12] > g->hart->x[11]);
    guest_free(g);
}

/* ---- errors ------------------------------------------------------------------------------------
 */

TEST(faults_leave_the_ray_at_the_head, "RT-083 RT-277")
{
    struct guest *g = x24();
    static const struct {
        uint64_t at, value;
        unsigned size, head;
    } faults[] = {
        {HEAP + 0x74, 0xFFFFFFFF, 4, 0}, /* a leaf index far outside: A0 needs it */
        {HEAP + 0x98, BAD, 8, 1},        /* the vertices of leaf 9: A1 is the first */
        {HEAP + 0x88, TRIS + 2, 8, 0},   /* misaligned vertices */
        {HITQ + 16, END - 16, 8, 0},     /* entries beyond memory */
        {MISSQ + 16, 0, 8, 2},           /* misses to an unmapped place */
        {RAYQ + 16, END - 64, 8, 1},     /* the second ray is not there */
        {HEAP + 0x7C, 0x0D, 4, 0},       /* child 1: reserved, child 0: node 9, all zero */
    };

    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        x24_heap(g, HEAP);
        x24_queues(g);
        for (unsigned k = 0; k < 64; k += 8) { /* the first ray is at the end of memory, too */
            guest_store(g, END - 64 + k, 8, guest_load(g, RAYS + k, 8));
        }
        guest_store(g, faults[i].at, faults[i].size, faults[i].value);
        guest_csrw(g, FACET_CSR_CAP_XMEM_EVENTS, ~UINT64_C(0));
        guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
        g->hart->units.rt.stat = 0;
        guest_ok(g, "xsubmit.rt a1, a0\n xfence.wait a1\n");
        if (i == 6) { /* no error: empty nodes */
            CHECK_EQ(last_ec(g), 0);
            CHECK_EQ(guest_load(g, MISSQ + 4, 4), 3);
            continue;
        }
        CHECK_MSG(last_ec(g) == 3, "row %zu: %u", i, last_ec(g));
        CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS), FACET_CAP_XMEM_EVENTS_INV_MISS);
        CHECK_EQ(guest_load(g, RAYQ, 4), faults[i].head);
        CHECK_EQ(guest_load(g, HITQ + 4, 4) + guest_load(g, MISSQ + 4, 4), faults[i].head);
        /* the flags of a ray that faults in its traversal are dropped */
        CHECK_EQ(exc_st(g), faults[i].head == 0 && i != 3 ? 0 : FACET_DZ);
    }
    /* A heap off its alignment. */
    {
        struct desc d = x24_desc;

        d.bvh = HEAP + 8;
        put(g, &d);
        x24_queues(g);
        guest_ok(g, "xsubmit.rt a1, a0\n");
        CHECK_EQ(last_ec(g), 3);
    }
    guest_free(g);
}

TEST(an_enabled_exception_stops_the_job, "RT-083 RT-277")
{
    struct guest *g = x24();

    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, FACET_DZ);
    guest_ok(g, "xsubmit.rt a1, a0\n xfence.wait a1\n");
    CHECK_EQ(last_ec(g), 7);
    CHECK_EQ(exc_st(g), FACET_DZ);
    CHECK_EQ(guest_load(g, RAYQ, 4), 0);
    CHECK_EQ(guest_load(g, HITQ + 4, 4), 0);
    /* A pending svon.fpctl is the job's and is spent; EN and BLK are not its business. */
    guest_ok(g, "svon.blk 2\n svon.fpctl rc=RNE, sae=1\n xsubmit.rt a1, a0\n");
    CHECK_EQ(guest_csr(g, FACET_CSR_SVSTATE) & FACET_SVSTATE_FPC_V, 0);
    CHECK_EQ(FACET_GET(guest_csr(g, FACET_CSR_SVSTATE), SVSTATE_BLK), 2);
    CHECK_EQ(guest_load(g, RAYQ, 4), 3);
    CHECK_EQ(guest_load(g, HITQ + 4, 4), 2);
    guest_free(g);
}

TEST(hierarchies_without_end, "RT-083 RT-128")
{
    static const float all[] = {-9, -9, -9, 9, 9, 9};
    struct guest *g = x24();

    /* A node whose four children are itself: the stack grows by three with each visit. */
    for (unsigned c = 0; c < 4; c++) {
        put_box(g, HEAP, c, all);
    }
    guest_store(g, HEAP + 0x70, 8, 0);
    guest_store(g, HEAP + 0x78, 8, UINT64_C(0x55) << 32);
    guest_ok(g, "xsubmit.rt a1, a0\n xfence.wait a1\n");
    CHECK_EQ(last_ec(g), 6);
    CHECK_EQ(guest_load(g, RAYQ, 4), 0);
    CHECK_EQ(boxes(g), 4 * 86); /* 1 + 3n entries: the 86th visit would need the 257th */
    guest_free(g);
}

TEST(walks_without_end, "RT-083")
{
    static const float all[] = {-9, -9, -9, 9, 9, 9};
    struct guest *g;

    if (!harness_long()) {
        harness_skip("2^24 steps take some seconds");
        return;
    }
    g = x24(); /* one child that is the node itself: only the steps end it */
    put_box(g, HEAP, 0, all);
    guest_store(g, HEAP + 0x70, 8, 0);
    guest_store(g, HEAP + 0x78, 8, UINT64_C(0x01) << 32);
    guest_ok(g, "xsubmit.rt a1, a0\n xfence.wait a1\n");
    CHECK_EQ(last_ec(g), 6);
    CHECK_EQ(boxes(g), 1 << 24);
    /* and the same with the host's floating point, which may be used once NX is up */
    g->hart->units.rt.stat = 0;
    g->hart->units.cap.prec.exc_st |= FACET_NX;
    guest_ok(g, "xsubmit.rt a1, a0\n xfence.wait a1\n");
    CHECK_EQ(last_ec(g), 6);
    CHECK_EQ(boxes(g), 1 << 24);
    guest_free(g);
}

/* ---- rays --------------------------------------------------------------------------------------
 */

TEST(rays_that_are_no_rays, "RT-125 RT-139")
{
    struct guest *g = x24();
    struct desc d = x24_desc;

    d.opts = OPT_W;
    put(g, &d);
    guest_store(g, RAYS + 32, 4, 0x80000000);       /* w = -0: a plain miss */
    guest_store(g, RAYS + 64 + 32, 4, 0x7FC00000);  /* w = NaN */
    guest_store(g, RAYS + 128 + 32, 4, 0x3F800000); /* the third misses the scene */
    guest_ok(g, "xsubmit.rt a1, a0\n");
    CHECK_EQ(guest_load(g, MISSES, 8), 0xA0);
    CHECK_EQ(guest_load(g, MISSES + 8, 8), 0);
    CHECK_EQ(guest_load(g, MISSES + 16, 8), 0xA1);
    CHECK_EQ(guest_load(g, MISSES + 24, 8), 1);
    CHECK_EQ(guest_load(g, MISSES + 32, 8), 0xA2);
    CHECK_EQ(guest_load(g, MISSES + 40, 8), 0);
    CHECK_EQ(boxes(g), 2);
    /* Without the option element 8 is not looked at, and a NaN in the record is told. */
    put(g, &x24_desc);
    x24_queues(g);
    guest_store(g, RAYS + 4, 4, 0x7F800001);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
    guest_ok(g, "xsubmit.rt a1, a0\n");
    CHECK_EQ(guest_load(g, MISSES, 8), 0xA0);
    CHECK_EQ(guest_load(g, MISSES + 8, 8), 1);
    CHECK_EQ(guest_load(g, HITS, 8), 0xA1);
    CHECK_EQ(exc_st(g), FACET_DZ | FACET_NV | FACET_SNAN);
    guest_free(g);
}

TEST(any_hit_stops_at_the_first_in_order, "RT-095 RT-098 RT-276")
{
    /* Two leaves behind each other; the tile lists the far one first, the near one is child 3. Both
     * triangles of a leaf are hit, the second of them closer. */
    static const float far_box[] = {-1, -1, 5, 1, 1, 6}, near_box[] = {-1, -1, 1, 1, 1, 2};
    struct guest *g = x24();
    struct desc d = x24_desc;

    for (unsigned k = 0; k < 4; k++) {
        float z = k == 0 ? 2 : k == 1 ? 1 : k == 2 ? 6 : 5;
        const float v[9] = {-1, -1, z, 1, -1, z, -1, 1, z};

        put_triangle(g, TRIS, k, v);
    }
    put_box(g, HEAP, 0, far_box);
    put_box(g, HEAP, 3, near_box);
    guest_store(g, HEAP + 0x70, 8, 9);
    guest_store(g, HEAP + 0x78, 8, (UINT64_C(0x82) | UINT64_C(8) << 8) << 32);
    for (unsigned any = 0; any < 2; any++) {
        static const float ray[8] = {-0.5f, -0.5f, 0, 0, 0, 1, 0, 100};

        d.opts = any != 0 ? OPT_ANY : 0;
        put(g, &d);
        x24_queues(g);
        guest_store(g, RAYQ + 4, 4, 1);
        put_ray(g, RAYS, ray, 0xB0);
        g->hart->units.rt.stat = 0;
        guest_ok(g, "xsubmit.rt a1, a0\n");
        CHECK_EQ(guest_load(g, HITS + 8, 4), any != 0 ? 0 : 1);
        CHECK_EQ(guest_load(g, HITS + 12, 4), 8);
        CHECK_EQ(guest_load(g, HITS + 16, 4), any != 0 ? 0x40000000 : 0x3F800000);
        CHECK_EQ(triangles(g), any != 0 ? 1 : 2); /* the far leaf is skipped */
    }
    /* Boxes that the ray enters at the same place: the lower child comes first. */
    for (unsigned c = 0; c < 4; c++) {
        put_box(g, HEAP, c, near_box);
    }
    for (unsigned first = 8; first < 10; first++) {
        guest_store(g, HEAP + 0x70, 8, (UINT64_C(17) - first) << 32 | first);
        guest_store(g, HEAP + 0x78, 8, UINT64_C(0x0A) << 32);
        x24_queues(g);
        guest_store(g, RAYQ + 4, 4, 1);
        guest_store(g, RAYS, 8, UINT64_C(0xBF000000BF000000));
        guest_store(g, RAYS + 8, 4, 0);
        guest_ok(g, "xsubmit.rt a1, a0\n");
        CHECK_EQ(guest_load(g, HITS + 12, 4), first);
    }
    guest_free(g);
}

/* ---- against a loop over all triangles ---------------------------------------------------------
 */

struct tree {
    uint64_t next_tile, next_range; /* offsets in the heap */
    uint64_t heap;
    bool node8;
    float (*v)[9];
};

static void bounds(struct tree *t, unsigned first, unsigned count, float box[6])
{
    for (unsigned a = 0; a < 3; a++) {
        box[a] = inf;
        box[3 + a] = -inf;
        for (unsigned k = first; k < first + count; k++) {
            for (unsigned j = 0; j < 3; j++) {
                float x = t->v[k][3 * j + a];

                box[a] = x < box[a] ? x : box[a];
                box[3 + a] = x > box[3 + a] ? x : box[3 + a];
            }
        }
        box[a] -= 0.001f; /* the builder makes boxes conservative (R-RT-50) */
        box[3 + a] += 0.001f;
    }
}

/* Any shape will do: random splits of the range. Returns the node's index. */
static unsigned build(struct guest *g, struct tree *t, unsigned first, unsigned count)
{
    unsigned children = t->node8 ? 8 : 4, done = 0;
    uint64_t tile = t->next_tile;

    t->next_tile += t->node8 ? 256 : 128;
    for (uint64_t i = 0; i < (t->node8 ? 256 : 128); i += 8) {
        guest_store(g, t->heap + tile + i, 8, 0);
    }
    for (unsigned c = 0; c < children && done < count; c++) {
        unsigned left = count - done, take = c + 1 == children ? left : 1 + harness_random() % left;
        uint64_t at = t->heap + tile + 128 * (c / 4);
        uint32_t flags = (uint32_t)guest_load(g, at + 0x7C, 4), type, index;
        float box[6];

        bounds(t, first + done, take, box);
        put_box(g, at, c % 4, box);
        if (take <= 3 || take == count) {
            index = (uint32_t)(t->next_range / 16);
            guest_store(g, t->heap + t->next_range, 4, first + done);
            guest_store(g, t->heap + t->next_range + 4, 4, take);
            guest_store(g, t->heap + t->next_range + 8, 8, 0);
            t->next_range += 16;
            type = 2;
        } else {
            index = build(g, t, first + done, take);
            type = 1;
        }
        if (c % 4 == 3) {
            flags |= index << 8;
        } else {
            guest_store(g, at + 0x70 + 4 * (c % 4), 4, index);
        }
        guest_store(g, at + 0x7C, 4, flags | type << 2 * (c % 4));
        done += take;
    }
    return (unsigned)(tile / 128);
}

static float uniform(void)
{
    return (float)((double)(int64_t)harness_random() * 0x1p-63);
}

TEST(jobs_equal_a_loop_over_rt_tri, "RT-098 RT-108 RT-170 RT-269 RT-275")
{
    enum { TRIANGLES = 60, SHOTS = 40 };
    static float v[TRIANGLES][9];

    for (unsigned round = 0; round < 12; round++) {
        struct guest *g = guest_make("full");
        struct tree t = {.heap = BIG, .next_range = 0x8000, .node8 = (round & 1) != 0, .v = v};
        struct desc d = {BIG, RAYQ, HITQ, MISSQ, BIG + 0x10000, 0, 0, {0}};
        bool cull = (round & 2) != 0;
        unsigned hits = 0, misses = 0;

        set_mode(g, fp32_mode(round % 5));
        for (unsigned k = 0; k < TRIANGLES; k++) {
            float centre[3] = {uniform(), uniform(), uniform()};

            for (unsigned i = 0; i < 9; i++) {
                v[k][i] = centre[i % 3] + 0.7f * uniform();
            }
            if (k > 0 && k % 7 == 0) { /* a double: the lower index wins */
                memcpy(v[k], v[k - 1], sizeof v[k]);
            }
            put_triangle(g, d.tri, k, v[k]);
        }
        (void)build(g, &t, 0, TRIANGLES);
        CHECK(t.next_tile <= 0x8000);
        d.opts = (t.node8 ? OPT_NODE8 : 0) | (cull ? OPT_CULL : 0);
        put(g, &d);
        queue(g, RAYQ, 0, SHOTS, SHOTS + 1, RAYS - 0x400);
        queue(g, HITQ, 0, 0, SHOTS + 1, BIG + 0x20000);
        queue(g, MISSQ, 0, 0, SHOTS + 1, BIG + 0x28000);
        for (unsigned s = 0; s < SHOTS; s++) {
            float ray[8] = {uniform() * 2, uniform() * 2, -3, 0, 0, 0, 0, inf};

            for (unsigned a = 0; a < 3; a++) {
                ray[3 + a] = uniform() - ray[a];
            }
            put_ray(g, RAYS - 0x400 + 64 * s, ray, s);
        }
        g->hart->units.pmask.bank[1] = harness_random(); /* no part of a job */
        guest_ok(g, "xsubmit.rt a1, a0\n xfence.wait a1\n");
        CHECK_EQ(last_ec(g), 0);
        /* All triangles in one range, one by one. */
        guest_store(g, RANGE + 4, 4, 1);
        guest_store(g, RANGE + 8, 8, d.tri);
        guest_csrw(g, 0x82B, RANGE);
        for (unsigned s = 0; s < SHOTS; s++) {
            uint64_t best[4] = {0}, index = 0, entry;

            g->hart->x[10] = RAYS - 0x400 + 64 * s;
            for (unsigned k = 0; k < TRIANGLES; k++) {
                guest_store(g, RANGE, 4, k);
                guest_ok(g, "rt.tri x12, x10, %d\n", cull);
                if (g->hart->x[12] != 0 && (best[0] == 0 || g->hart->x[13] < best[1])) {
                    memcpy(best, &g->hart->x[12], sizeof best); /* t >= 0: bits order */
                    index = k;
                }
            }
            if (best[0] == 0) {
                CHECK_EQ(guest_load(g, BIG + 0x28000 + 16 * misses++, 8), s);
                continue;
            }
            entry = BIG + 0x20000 + 32 * hits++;
            CHECK_EQ(guest_load(g, entry, 8), s);
            CHECK_EQ(guest_load(g, entry + 8, 4), index);
            for (unsigned i = 0; i < 3; i++) {
                CHECK_EQ(guest_load(g, entry + 16 + 4 * i, 4), best[1 + i]);
            }
            CHECK(!cull || guest_load(g, entry + 28, 4) == 1);
        }
        CHECK_EQ(guest_load(g, HITQ + 4, 4), hits);
        CHECK_EQ(guest_load(g, MISSQ + 4, 4), misses);
        CHECK_MSG(hits > 3, "round %u: %u hits", round, hits);
        guest_free(g);
    }
}

/* ---- formats -----------------------------------------------------------------------------------
 */

TEST(entries_in_other_containers, "RT-125 RT-242")
{
    /* FP32 in 64-bit containers: tiles of 256, rays of 128, hits of 64 bytes. */
    static const int box[6] = {-2, -2, 3, 2, 2, 3}, tri[9] = {-2, -2, 3, 2, -2, 3, 2, 2, 3};
    static const float ray[8] = {1, -1, -3, 0, 0, 1, 0, 100};
    struct guest *g = x24();

    set_mode(g, 0x00380000);
    for (unsigned i = 0; i < 256; i += 8) {
        guest_store(g, HEAP + i, 8, i < 48 ? facet_float_bits((float)box[i / 8]) : 0);
        guest_store(g, HITS + i, 8, 0x77);
    }
    guest_store(g, HEAP + 0xF0, 4, 32); /* TriRange at heap + 512 */
    guest_store(g, HEAP + 0xFC, 4, 2);
    guest_store(g, HEAP + 512, 8, UINT64_C(1) << 32);
    guest_store(g, HEAP + 520, 8, 0);
    for (unsigned i = 0; i < 9; i++) {
        guest_store(g, TRIS + 8 * i, 8, facet_float_bits((float)tri[i]));
    }
    for (unsigned i = 0; i < 8; i++) {
        guest_store(g, RAYS + 8 * i, 8, facet_float_bits(ray[i]));
    }
    guest_store(g, RAYS + 120, 8, UINT64_C(0xFEDCBA9876543210));
    guest_store(g, RAYQ + 4, 4, 1);
    guest_ok(g, "xsubmit.rt a1, a0\n");
    CHECK_EQ(last_ec(g), 0);
    CHECK_EQ(guest_load(g, HITQ + 4, 4), 1);
    CHECK_EQ(guest_load(g, HITS, 8), UINT64_C(0xFEDCBA9876543210));
    CHECK_EQ(guest_load(g, HITS + 8, 8), UINT64_C(32) << 32);
    CHECK_EQ(guest_load(g, HITS + 16, 8), 0x40C00000);
    CHECK_EQ(guest_load(g, HITS + 24, 8), 0x3F000000);
    CHECK_EQ(guest_load(g, HITS + 32, 8), 0x3E800000);
    CHECK_EQ(guest_load(g, HITS + 40, 8) | guest_load(g, HITS + 48, 8), 0);
    CHECK_EQ(guest_load(g, HITS + 56, 8), 0);
    CHECK_EQ(guest_load(g, HITS + 64, 8), 0x77);
    guest_free(g);
    /* INT8, the triangle seen from its front: entries of 32 bytes, signed numbers, the flag. */
    g = x24();
    set_mode(g, MODE_INT8);
    for (unsigned i = 0; i < 64; i += 8) {
        guest_store(g, HEAP + i, 8, 0);
        guest_store(g, RAYS + i, 8, 0);
    }
    for (unsigned i = 0; i < 6; i++) {
        guest_store(g, HEAP + i, 1, (uint8_t)box[i]);
    }
    for (unsigned i = 0; i < 9; i++) {
        guest_store(g, TRIS + i, 1, (uint8_t)tri[i]);
    }
    for (unsigned i = 0; i < 8; i++) { /* from z = 9 towards -z, with t from -100: t = 6 */
        static const int8_t r[8] = {1, -1, 9, 0, 0, -1, -100, 100};

        guest_store(g, RAYS + i, 1, (uint8_t)r[i]);
    }
    guest_store(g, RAYS + 24, 8, 0xC0);
    guest_store(g, HEAP + 0x30, 4, 4);
    guest_store(g, HEAP + 0x3C, 4, 2);
    guest_store(g, HEAP + 64, 8, UINT64_C(1) << 32);
    guest_store(g, HEAP + 72, 8, TRIS);
    guest_store(g, RAYQ + 4, 4, 1);
    guest_ok(g, "xsubmit.rt a1, a0\n");
    CHECK_EQ(last_ec(g), 0);
    CHECK_EQ(guest_load(g, HITS, 8), 0xC0);
    CHECK_EQ(guest_load(g, HITS + 16, 8), 0x000006); /* u 0.5 and v 0.25 round to 0 */
    CHECK_EQ(guest_load(g, HITS + 24, 8), UINT64_C(1) << 32);
    CHECK_EQ(stat_bits(g), FACET_DOWN);
    guest_free(g);
}

/* ---- policy ------------------------------------------------------------------------------------
 */

static struct facet_unit_event job_seen;

static void see_unit(void *context, const struct facet_unit_event *event)
{
    (void)context;
    if (strcmp(event->unit, "rt") == 0 && strcmp(event->what, "job") == 0) {
        job_seen = *event;
    }
}

TEST(memctl_replaces_what_it_sets, "")
{
    static const struct {
        unsigned byte;
        uint8_t value;
        uint64_t want[5]; /* domain, level, class, profile, hybrid */
        const char *ids;
    } rows[] = {
        {1, 0, {3, 0, 2, 1, 0}, "RT-014 RT-223 RT-230"},
        {0, 2, {2, 0, 2, 1, 0}, "RT-225 RT-231"},
        {0, 9, {3, 0, 2, 1, 0}, "RT-225 RT-231"},
        {16, 3, {3, 0, 3, 1, 0}, "RT-232"},
        {16, 4, {3, 0, 2, 1, 0}, "RT-232"},
        {17, 2, {3, 0, 2, 2, 0}, "RT-065 RT-233"},
        {17, 4, {3, 0, 2, 1, 0}, "RT-065 RT-233"},
        {18, 1, {3, 0, 2, 1, 1}, "RT-234"},
        {19, 2, {3, 2, 2, 1, 0}, "RT-235"},
        {19, 3, {3, 0, 2, 1, 0}, "RT-235"},
        {1, 0xFF, {3, 0, 2, 1, 0}, "RT-236 RT-237"},
        {2, 0xFB, {3, 0, 2, 1, 0}, "RT-236 RT-237"},
        {3, 0xFF, {3, 0, 2, 1, 0}, "RT-236 RT-237"},
        {4, 0xFF, {3, 0, 2, 1, 0}, "RT-236 RT-237"},
        {5, 0xFF, {3, 0, 2, 1, 0}, "RT-236 RT-237"},
        {8, 64, {3, 0, 2, 1, 0}, "RT-236 RT-237"},
        {20, 2, {3, 0, 2, 1, 0}, "RT-236 RT-237"},
        {1, 0, {3, 0, 2, 1, 0}, "RT-065 RT-225 RT-254"},
    };
    struct guest *g = x24();
    struct facet_observer observer = {.unit = see_unit};

    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 3);
    guest_csrw(g, FACET_CSR_CAP_XMEM_L1CFG, UINT64_C(2) << FACET_CAP_XMEM_L1CFG_ACTIVE_CLASS_LSB);
    guest_csrw(g, 0x829, 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct desc d = x24_desc;

        harness_row(rows[i].ids);
        d.memctl[rows[i].byte] = rows[i].value;
        put(g, &d);
        x24_queues(g);
        guest_observe(g, &observer);
        guest_ok(g, "xsubmit.rt a1, a0\n");
        guest_observe(g, NULL);
        for (unsigned k = 0; k < 5; k++) {
            CHECK_MSG(job_seen.values[k] == rows[i].want[k],
                      "byte %u = %u: value %u is %u",
                      rows[i].byte,
                      rows[i].value,
                      k,
                      (unsigned)job_seen.values[k]);
        }
        check_x24(g, HITS, MISSES);
        CHECK_EQ(g->xmem->block_count, 0); /* soft pins are gone */
    }
    guest_free(g);
}

TEST(domain_and_level_of_the_job_decide, "RT-225 RT-231 RT-235")
{
    struct guest *g = x24();
    struct desc d = x24_desc;

    d.bvh = FACET_XLDSBASE_RESET;
    x24_heap(g, FACET_XLDSBASE_RESET);
    g->xmem->blocks[0] = (struct facet_lds_block){.offset = 0, .size = 256, .dom = 2};
    g->xmem->block_count = 1;
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 3);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, FACET_CAP_XMEM_DESCPOL_STRICT_DOM);
    for (unsigned dom = 0; dom < 16; dom++) {
        d.memctl[0] = (uint8_t)dom;
        put(g, &d);
        x24_queues(g);
        g->hart->units.rt.stat = 0;
        guest_ok(g, "xsubmit.rt a1, a0\n");
        CHECK_MSG(last_ec(g) == (dom == 2 || dom == 15 ? 0u : 3u), "dom %u: %u", dom, last_ec(g));
    }
    d.memctl[0] = 2;
    g->xmem->blocks[0].sec = 2;
    for (unsigned sec = 0; sec < 4; sec++) {
        d.memctl[19] = (uint8_t)sec;
        put(g, &d);
        x24_queues(g);
        g->hart->units.rt.stat = 0;
        guest_csrw(g, FACET_CSR_CAP_XMEM_EVENTS, ~UINT64_C(0));
        guest_ok(g, "xsubmit.rt a1, a0\n");
        CHECK_MSG(last_ec(g) == (sec == 2 ? 0u : 3u), "sec %u: %u", sec, last_ec(g));
        CHECK_EQ((guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS) & FACET_CAP_XMEM_EVENTS_SEC_VIOL) != 0,
                 sec != 2);
    }
    guest_free(g);
}

TEST(error_entries_leave_nothing_behind, "RT-277")
{
    struct guest *g = x24();
    struct facet_error err = {0};
    struct desc d = x24_desc;

    /* The ray queue in ROM: its head cannot move, so no entry appears (R-RT-54). */
    CHECK_EQ(facet_mem_add_ram(g->mem, "rom", FACET_MEM_ROM, 0x10000, 0x1000, &err), FACET_OK);
    for (unsigned i = 0; i < 24; i++) {
        uint8_t byte = (uint8_t)guest_load(g, RAYQ + i, 1);

        CHECK_EQ(facet_mem_poke(g->mem, 0x10000 + i, &byte, 1).fault, FACET_MEM_OK);
    }
    d.rayq = 0x10000;
    put(g, &d);
    guest_ok(g, "xsubmit.rt a1, a0\n");
    CHECK_EQ(last_ec(g), 3);
    CHECK_EQ(guest_load(g, HITQ + 4, 4), 0);
    CHECK_EQ(guest_load(g, HITS, 8), 0x7777777777777777);
    guest_free(g);
}

TEST(a_job_keeps_the_state_of_its_submission, "RT-182 RT-281")
{
    struct guest *g = x24();

    g->hart->x[5] = MODE_FP16 | FACET_CAP_PREC_MODE_APPLY0;
    guest_ok(g, "xsubmit.rt a1, a0\n csrw 0x7d0, t0\n csrw 0x823, t0\n xfence.wait a1\n");
    check_x24(g, HITS, MISSES);
    /* The third example of the seed, as it stands but for the place of the descriptor. */
    x24_queues(g);
    set_mode(g, MODE_FP32);
    guest_csrw(g, 0x823, 0);
    guest_ok(
        g, ".equ rt_desc, 0x%x\n li a0, rt_desc\n xsubmit.rt  t0, a0\n xfence.wait t0\n", DESC);
    check_x24(g, HITS, MISSES);
    guest_free(g);
}

/* Rays that leave the ordinary range in every way, each submitted twice: with NX down, when src/num
 * does every test, and with NX up, when the host does those it can. */
TEST(the_host_changes_nothing, "RT-219")
{
    enum { TRIANGLES = 24, SHOTS = 24 };
    static float v[TRIANGLES][9];

    for (unsigned round = 0; round < 60 && !harness_failed(); round++) {
        struct guest *g = guest_make("full");
        struct tree t = {.heap = BIG, .next_range = 0x8000, .node8 = (round & 1) != 0, .v = v};
        struct desc d = {BIG, RAYQ, HITQ, MISSQ, BIG + 0x10000, 0, 0, {0}};
        uint64_t image[2][SHOTS * 4 + SHOTS * 2], stat[2], flags[2];
        float scale = round % 3 == 0 ? 1 : round % 3 == 1 ? 0x1p-63f : 0x1p62f;

        set_mode(g, MODE_FP32);
        for (unsigned k = 0; k < TRIANGLES; k++) {
            for (unsigned i = 0; i < 9; i++) {
                v[k][i] =
                    scale * (k % 5 == 0 ? (float)((int)(harness_random() % 5) - 2) : uniform());
            }
            put_triangle(g, d.tri, k, v[k]);
        }
        (void)build(g, &t, 0, TRIANGLES);
        d.opts = t.node8 ? OPT_NODE8 : 0;
        put(g, &d);
        for (unsigned s = 0; s < SHOTS; s++) {
            float ray[8] = {uniform(), uniform(), -3, 0, 0, 0, 0, inf};

            for (unsigned a = 0; a < 3; a++) {
                float to = harness_random() % 3 == 0 ? 0 : uniform();

                ray[3 + a] = s % 4 == 0 && a != 2 ? 0 : scale * (to - ray[a]);
                ray[a] *= scale;
            }
            put_ray(g, RAYS - 0x400 + 64 * s, ray, s);
        }
        for (unsigned up = 0; up < 2; up++) {
            memset(image[up], 0, sizeof image[up]);
            stat[up] = flags[up] = 0;
            for (unsigned s = 0; s < SHOTS; s++) { /* one by one, so that NX stays as it is */
                queue(g, RAYQ, s, s + 1, SHOTS + 1, RAYS - 0x400);
                queue(g, HITQ, 0, 0, 2, HITS);
                queue(g, MISSQ, 0, 0, 2, MISSES);
                g->hart->units.rt.stat = 0;
                g->hart->units.cap.prec.exc_st = up != 0 ? FACET_NX : 0;
                guest_ok(g, "xsubmit.rt a1, a0\n");
                CHECK_EQ(last_ec(g), 0);
                if (guest_load(g, HITQ + 4, 4) != 0) {
                    for (unsigned i = 0; i < 4; i++) {
                        image[up][4 * s + i] = guest_load(g, HITS + 8 * i, 8);
                    }
                }
                stat[up] = stat[up] * 31 + guest_csr(g, FACET_CSR_RTSTAT);
                flags[up] = flags[up] * 31 + (exc_st(g) | FACET_NX);
            }
        }
        CHECK(memcmp(image[0], image[1], sizeof image[0]) == 0);
        CHECK_EQ(stat[0], stat[1]);
        CHECK_EQ(flags[0], flags[1]);
        guest_free(g);
    }
}

TEST(jobs_of_two_queues_in_either_order, "RT-274")
{
    enum { MTX_DESC = MOVED + 0x8000, MATRIX = MTX_DESC + 0x100, OUT = MTX_DESC + 0x200 };

    for (unsigned order = 0; order < 2; order++) {
        struct guest *g = x24();

        for (unsigned i = 0; i < 64; i += 8) {
            guest_store(g, MTX_DESC + i, 8, 0);
        }
        guest_store(g, MTX_DESC, 8, MATRIX);
        guest_store(g, MTX_DESC + 8, 8, MATRIX);
        guest_store(g, MTX_DESC + 16, 8, OUT);
        guest_store(g, MTX_DESC + 24, 8, UINT64_C(5) << 32 | 5 | 1 << 5); /* 2x2, row-major */
        guest_store(g, MTX_DESC + 32, 4, 1);
        guest_store(g, MATRIX, 8, 0x40000000); /* diag(2, 2) times (2, 0) */
        guest_store(g, MATRIX + 8, 8, UINT64_C(0x40000000) << 32);
        g->hart->x[12] = MTX_DESC;
        guest_ok(g,
                 order == 0 ? "xsubmit.rt t0, a0\n xsubmit.mtx t1, a2\n"
                              "xfence.wait t0\n xfence.wait t1\n"
                            : "xsubmit.mtx t1, a2\n xsubmit.rt t0, a0\n"
                              "xfence.wait t0\n xfence.wait t1\n");
        check_x24(g, HITS, MISSES);
        CHECK_EQ(guest_load(g, OUT, 8), 0x40800000);
        CHECK_EQ(g->hart->x[5], UINT64_C(1) << 56 | 1);
        CHECK_EQ(g->hart->x[6], UINT64_C(2) << 56 | 1);
        guest_free(g);
    }
}

/* What a program may do between a submission and its wait: everything that the job took with it is
 * changed, the descriptor too. */
static void meanwhile(struct guest *g)
{
    guest_csrw(g, 0x823, BAD);
    guest_csrw(g, 0x824, BAD);
    guest_csrw(g, 0x820, 0xFF00);
    guest_csrw(g, 0x827, 0xFF);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, 0x1F);
    guest_csrw(g, FACET_CSR_CAP_PREC_MODE, MODE_INT8 | FACET_CAP_PREC_MODE_APPLY0);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 3);
    guest_ok(g, "svsetvl x5, 7\n svon.blk 9\n svend\n");
    for (unsigned i = 0; i < 72; i += 8) {
        guest_store(g, DESC + i, 8, UINT64_MAX);
    }
    g->hart->x[10] = 0;
}

TEST(a_job_may_run_as_late_as_its_wait, "RT-268")
{
    struct desc d = x24_desc;
    struct guest *eager = x24(), *late = x24();
    struct facet_hart submitted;

    d.bvh = d.rayq = 0; /* from the registers, which change before the job runs */
    for (unsigned i = 0; i < 2; i++) {
        struct guest *g = i == 0 ? eager : late;

        guest_csrw(g, 0x823, HEAP);
        guest_csrw(g, 0x824, RAYQ);
        put(g, &d);
    }
    guest_ok(eager, "xsubmit.rt a1, a0\n");
    meanwhile(eager);
    guest_ok(eager, "xfence.wait a1\n");

    submitted = *late->hart; /* what a job takes with it, and its descriptor */
    meanwhile(late);
    *late->hart = submitted;
    put(late, &d);
    guest_ok(late, "xsubmit.rt a1, a0\n xfence.wait a1\n");
    for (unsigned i = 0; i < 72; i += 8) {
        guest_store(late, DESC + i, 8, UINT64_MAX);
    }

    for (uint64_t at = HEAP; at < DESC + 0x1000; at += 8) {
        if (guest_load(eager, at, 8) != guest_load(late, at, 8)) {
            CHECK_EQ(guest_load(late, at, 8), guest_load(eager, at, 8));
        }
    }
    check_x24(eager, HITS, MISSES);
    check_x24(late, HITS, MISSES);
    CHECK_EQ(late->hart->x[11], eager->hart->x[11]);
    CHECK_EQ(exc_st(late), exc_st(eager));
    CHECK_EQ(guest_csr(late, FACET_CSR_RTSTAT), guest_csr(eager, FACET_CSR_RTSTAT));
    guest_free(eager);
    guest_free(late);
}
