/* GFX beside the other units: one numeric policy, one memory policy, one set of predicates; results
 * of one unit are operands of the next; whole flows in one program. */
#include "xphmg/gfx/gfx_test.h"

#include <stdio.h>

enum {
    RAY = GUEST_DATA + 0x20000,
    RANGE = GUEST_DATA + 0x20100,
    VERTICES = GUEST_DATA + 0x20200,
    TILE = GUEST_DATA + 0x20400,
    MATRIX = GUEST_DATA + 0x20800,
    VECTOR = GUEST_DATA + 0x20A00,
    RESULT = GUEST_DATA + 0x20C00,
};

/* A triangle in the plane z = 0 and a ray that meets it at t = 2, u = 0.25, v = 0.5. x20 = ray. */
static void ray_scene(struct guest *g)
{
    const uint32_t ray[8] = {fr(0.25), fr(0.5), fr(-2), 0, 0, fr(1), 0, fr(100)};
    const uint32_t corners[9] = {0, 0, 0, fr(1), 0, 0, 0, fr(1), 0};

    put_elements(g, RAY, 4, ray, 8);
    put_elements(g, VERTICES, 4, corners, 9);
    guest_store(g, RANGE, 8, UINT64_C(1) << 32);
    guest_store(g, RANGE + 8, 8, VERTICES);
    guest_csrw(g, 0x82B, RANGE); /* RTTRI */
    g->hart->x[20] = RAY;
}

/* ---- numbers ---------------------------------------------------------------------------------
 */

/* (1 + 2^-10)^2 = 1 + 2^-9 + 2^-20 through MTX, GFX, XMEM.SVM; t of a ray through RT. */
TEST(one_rounding_policy, "CAP-001 CAP-036 CAP-241 CAP-458")
{
    static const struct {
        unsigned rm;
        uint32_t bits;
    } modes[] = {{0, 0x3C02}, {1, 0x3C02}, {3, 0x3C03}, {2, 0x3C02}, {4, 0x3C02}};
    struct guest *g = gfx_make();

    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        set_mode(g, MODE_FP16 | MODE_RM(modes[i].rm));
        g->hart->x[16] = g->hart->x[20] = 0x3C01;
        guest_ok(g, "GFX.SHADE x16, x8, OO=2, nc=1\n");
        CHECK_EQ(g->hart->x[16], modes[i].bits);
        for (unsigned k = 0; k < 4; k++) {
            guest_store(g, MATRIX + 2 * k, 2, k == 0 || k == 3 ? 0x3C01 : 0);
        }
        guest_store(g, VECTOR, 4, 0x3C01);
        g->hart->x[10] = MATRIX, g->hart->x[11] = VECTOR, g->hart->x[12] = RESULT;
        guest_ok(g, "mtx.ld x10, shape=5, rowmajor=1\n mtx.mul x12, x11, shape=5\n");
        CHECK_EQ(guest_load(g, RESULT, 2), modes[i].bits);
        guest_csrw(g, 0x7F0, RESULT);
        guest_csrw(g, 0x7F1, 10);
        guest_csrw(g, 0x7F2, 1 << 4);
        guest_csrw(g, 0x7F4, 4); /* COMPRESS_EN */
        g->hart->x[10] = 0;
        g->hart->x[12] = 0x3F804008;
        guest_ok(g, "xmem.svm x0, x12\n");
        CHECK_EQ(guest_load(g, RESULT, 2), modes[i].bits);
        /* a texel of the same value, and a table entry */
        texture(g, 0x0A, 1, 1, 4);
        guest_store(g, TEXTURE, 4, 0x3F804008);
        guest_ok(g, "GFX.SAMPLE x16, x8\n");
        CHECK_EQ(g->hart->x[16], modes[i].bits);
        /* one APPLY later all of them speak BF16 */
        set_mode(g, MODE_BF16 | MODE_RM(modes[i].rm));
        g->hart->x[16] = g->hart->x[20] = 0x3F81;
        guest_ok(g, "GFX.SHADE x16, x8, OO=2, nc=1\n");
        CHECK_EQ(g->hart->x[16], modes[i].rm == 3 ? 0x3F83 : 0x3F82);
    }
    guest_free(g);
}

TEST(exceptions_trap_in_gfx_as_elsewhere, "CAP-033 CAP-450 CAP-451")
{
    static const struct {
        uint32_t a, b;
        const char *op;
        unsigned flag;
    } cases[] = {{0x7BFF, 0x7BFF, "OO=0", FACET_OF},
                 {0x0001, 0x0001, "OO=2", FACET_UF},
                 {0x3C01, 0x3C01, "OO=2", FACET_NX},
                 {0x7C00, 0x7C00, "OO=1", FACET_NV},
                 {0x7D00, 0x3C00, "OO=0", FACET_NV}};
    struct guest *g = gfx_make();

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (unsigned enabled = 0; enabled < 2; enabled++) {
            struct facet_trap trap;

            set_mode(g, MODE_FP16);
            guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, enabled != 0 ? cases[i].flag : 0);
            g->hart->x[16] = cases[i].a;
            g->hart->x[20] = cases[i].b;
            trap = guest_run(g, "GFX.SHADE x16, x8, %s, nc=1\n", cases[i].op);
            CHECK_EQ(trap.taken, enabled);
            CHECK(enabled == 0 ||
                  (trap.cause == FACET_CAUSE_NUMERIC && (trap.tval & 0x1F) == cases[i].flag));
            CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST) & cases[i].flag, cases[i].flag);
            CHECK(enabled == 0 || g->hart->x[16] == cases[i].a);
        }
    }
    guest_free(g);
}

/* No register of GFX holds a numeric or memory policy, and no option overrides one. */
TEST(local_controls_change_no_policy, "CAP-005 CAP-006 CAP-007 CAP-017")
{
    struct guest *g = gfx_make();
    uint64_t want[4];

    texture_t2(g);
    for (unsigned i = 0; i < 64; i++) {
        uint64_t hint = i == 0 ? 0 : harness_random();

        guest_csrw(g, FACET_CSR_GFXPEERHINT, hint);
        guest_csrw(g, 0x829, hint & 3); /* RTSPROF */
        guest_csrw(g, 0x820, hint & 3); /* RTCFG: hints */
        guest_csrw(g, FACET_CSR_MTXCFG, hint & 6);
        set_cfg(g, EN | CONVERT | NORM | (hint & 0xFF) << 8); /* TEX_FMT_HINT */
        g->hart->x[10] = HALF_F;
        g->hart->x[11] = 0x3ECCCCCD;
        guest_ok(g, "GFX.SAMPLE x16, x10, m=1\n");
        if (i == 0) {
            memcpy(want, &g->hart->x[16], sizeof want);
        }
        CHECK_EQ(memcmp(want, &g->hart->x[16], sizeof want), 0);
        CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS), 0);
        guest_csrw(g, FACET_CSR_GFXTEXBASE, BAD); /* and faults are the same */
        CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "GFX.SAMPLE x16, x10\n"), BAD + 4);
        CHECK_EQ(events(g), FACET_CAP_XMEM_EVENTS_INV_MISS);
        guest_csrw(g, FACET_CSR_GFXTEXBASE, TEXTURE);
    }
    /* SAT = 1: whatever the options, what is out of range saturates */
    set_mode(g, MODE_FP16 | MODE_SAT);
    for (unsigned oo = 0; oo < 4; oo++) {
        for (unsigned nc = 0; nc < 4; nc++) {
            for (unsigned k = 0; k < 4; k++) {
                g->hart->x[16 + k] = 0x7BFF;
                g->hart->x[20 + k] = oo == 1 ? 0xFBFF : 0x7BFF;
            }
            guest_ok(g, "GFX.SHADE x16, x8, OO=%u, nc=%u\n", oo, nc);
            CHECK_EQ(g->hart->x[16], 0x7BFF);
            CHECK_EQ(clear_flags(g) & FACET_SAT, FACET_SAT);
        }
    }
    guest_free(g);
}

/* ---- memory and lanes ------------------------------------------------------------------------
 */

TEST(one_memory_policy, "CAP-002 CAP-372 CAP-452 CAP-521 CAP-043")
{
    struct guest *g = gfx_make();
    uint64_t there = LDS + 0x400;

    ray_scene(g);
    for (unsigned i = 0; i < 16; i++) {
        guest_store(g, there + 4 * i, 4, fr(i + 1));
    }
    /* Tier 1: the same bytes for everyone */
    texture(g, 0x0A, 1, 1, 4);
    guest_csrw(g, FACET_CSR_GFXTEXBASE, there);
    g->hart->x[8] = there;
    g->hart->x[9] = RESULT;
    g->hart->x[10] = g->hart->x[11] = 0;
    guest_ok(g,
             "GFX.SAMPLE x16, x10\n lwu x21, 0(x8)\n xmem.ldg.wu x22, (x8)\n mtx.ld x8, shape=5, "
             "rowmajor=1\n");
    CHECK_EQ(g->hart->x[16], fr(1));
    CHECK_EQ(g->hart->x[21], fr(1));
    CHECK_EQ(g->hart->x[22], fr(1));
    CHECK_EQ(guest_csr(g, FACET_CSR_MTX2), (uint64_t)fr(2) << 32 | fr(1));
    /* a Tier-0 region of RT, STRICT_DOM, domain MTX: nobody gets in */
    g->xmem->blocks[0] = (struct facet_lds_block){.offset = 0x400, .size = 64, .dom = 2};
    g->xmem->block_count = 1;
    guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, FACET_CAP_XMEM_DESCPOL_STRICT_DOM);
    for (unsigned dom = 2; dom < 4; dom++) {
        static const char *const texts[] = {
            "GFX.SAMPLE x16, x10", "xmem.ldg.w x22, (x8)", "mtx.ld x8, shape=5", "rt.tri x12, x8"};

        guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, dom);
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
            if (dom == 2) {
                guest_ok(g, "%s\n", texts[i]);
            } else {
                CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "%s\n", texts[i]), there);
            }
        }
    }
    guest_free(g);
}

/* Lane 3 of eight is the one with a set bit; others have pointers to nowhere. */
TEST(predicates_and_faults_are_shared,
     "PM-014 CAP-072 CAP-448 CAP-066 CAP-018 CAP-442 RSV-133 RT-248")
{
    struct guest *g = gfx_make();
    struct desc d = {.base = TEXTURE, .pitch = 4, .w = 1, .h = 1, .fmt = 2};

    ray_scene(g);
    guest_store(g, TEXTURE, 1, 9);
    put_desc(g, DESC, &d);
    for (unsigned zmode = 0; zmode < 2; zmode++) {
        set_mode(g, MODE_FP32 | (zmode != 0 ? MODE_ZMODE : 0));
        for (unsigned unit = 0; unit < 3; unit++) {
            static const char *const texts[] = {
                "GFX.SAMPLE x9, x1, d=1", "rt.tri x9, x1, PACK_HINT", "xmem.ldg.w x9, (x1), 0, 1"};

            for (unsigned i = 0; i < 8; i++) {
                g->hart->x[1 + i] = i != 3 ? BAD : unit == 0 ? DESC : RAY;
                g->hart->x[9 + i] = 77;
            }
            g->hart->units.rsv.svsrcb = FACET_SVSRCB_V | 31;
            g->hart->x[31] = 0;
            rsv(g, 8, 1, 1u << 3);
            guest_ok(g, "%s\n", texts[unit]);
            for (unsigned i = 0; i < 8; i++) {
                bool here = i == 3;

                CHECK_EQ(g->hart->x[9 + i] == 77, !here && zmode == 0);
                CHECK_EQ(g->hart->x[9 + i] == 0, !here && zmode == 1);
            }
        }
    }
    /* fault-only-first: the same pattern leaves the same SVFAULTI in RT, GFX and XMEM.SVM */
    for (unsigned fof = 0; fof < 2; fof++) {
        for (unsigned unit = 0; unit < 3; unit++) {
            static const char *const texts[] = {
                "GFX.SAMPLE x9, x1, d=1", "rt.tri x9, x1, PACK_HINT", "xmem.svm x9, x0"};
            struct facet_trap trap;

            set_mode(g, MODE_FP32);
            guest_csrw(g, FACET_CSR_CAP_XMEM_SVMBASE, unit == 2 ? RAY : 0);
            guest_csrw(g, FACET_CSR_CAP_XMEM_SVMIDX, 1);
            guest_csrw(g, FACET_CSR_CAP_XMEM_SVMSCL, fof != 0 ? FACET_CAP_XMEM_SVMSCL_FOF : 0);
            for (unsigned i = 0; i < 8; i++) {
                g->hart->x[1 + i] = i == 5      ? (unit == 2 ? 0 - (uint64_t)RAY : 0)
                                    : unit == 0 ? DESC
                                    : unit == 1 ? RAY
                                                : 4 * i;
                g->hart->x[9 + i] = 77;
            }
            g->hart->units.rsv.svfaulti = 0;
            rsv(g, 8, 1, 0xFE); /* lane 0 masked */
            trap = guest_run(g, "%s\n", texts[unit]);
            CHECK_MSG(trap.taken == (fof == 0), "%s", texts[unit]);
            CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), FACET_SVFAULTI_VALID | 5u << 16 | 5);
            CHECK_EQ(g->hart->x[9 + 4] == 77, fof == 0);
            CHECK_EQ(g->hart->x[9 + 5], 77);
            CHECK_EQ(g->hart->x[9 + 7], 77);
            g->hart->units.rsv.svstate = 0;
        }
    }
    guest_free(g);
}

/* ---- results of one unit, operands of the next ------------------------------------------------
 */

TEST(matrix_results_feed_culling, "MTX-077")
{
    struct guest *g = gfx_make();
    const uint32_t scale[16] = {fr(2), 0, 0, 0, 0, fr(2), 0, 0, 0, 0, fr(2), 0, 0, 0, 0, fr(1)};

    for (unsigned p = 0; p < 6; p++) { /* x <= w */
        put_plane(g, p, (const uint32_t[]){fr(1), 0, 0, fr(-1)});
    }
    put_elements(g, MATRIX, 4, scale, 16);
    g->hart->x[8] = MATRIX, g->hart->x[9] = VECTOR, g->hart->x[10] = MEM_A;
    set_cfg(g, EN | AMEM);
    for (unsigned i = 0; i < 2; i++) { /* 0.4 * 2 is inside, 0.6 * 2 is not */
        put_elements(g, VECTOR, 4, (const uint32_t[]){fr(i == 0 ? 0.4 : 0.6), 0, 0, fr(1)}, 4);
        guest_ok(g,
                 "mtx.ld x8, shape=15, rowmajor=1\n mtx.mul x10, x9, shape=15\n"
                 "GFX.CULL.FRUSTUM x5, x10\n");
        CHECK_EQ(g->hart->x[5], i == 0);
    }
    guest_free(g);
}

TEST(hits_of_rays_feed_sampling_and_depth, "RT-247 RT-294")
{
    struct guest *g = gfx_make();

    ray_scene(g);
    texture(g, 0x02, 4, 4, 4);
    for (unsigned i = 0; i < 16; i++) {
        guest_store(g, TEXTURE + i, 1, i);
    }
    set_cfg(g, EN | CONVERT | NORM);
    guest_csrw(g, FACET_CSR_GFXZBASE, DEPTH);
    guest_csrw(g, FACET_CSR_GFXZPITCH, 4);
    guest_csrw(g, FACET_CSR_GFXZWH, UINT64_C(1) << 32 | 1);
    for (unsigned i = 0; i < 3; i++) { /* depth 1.5, 2, 3 against t = 2 */
        for (unsigned cmp = 0; cmp < 6; cmp++) {
            const double z = i == 0 ? 1.5 : i == 1 ? 2 : 3;
            const bool want[6] = {2 < z, 2 <= z, 2 > z, 2 >= z, 2 == z, 2 != z};

            guest_csrw(g, FACET_CSR_GFXZCFG, cmp);
            guest_store(g, DEPTH, 4, fr(z));
            guest_ok(g, "rt.tri x12, x20\n");
            CHECK_EQ(g->hart->x[12], 1);
            CHECK_EQ(g->hart->x[13], fr(2));
            guest_ok(g, "GFX.SAMPLE x24, x14\n"); /* u and v as they stand */
            CHECK_EQ(g->hart->x[14], fr(0.25));
            CHECK_EQ(g->hart->x[15], fr(0.5));
            CHECK_EQ(g->hart->x[24], fr(9)); /* texel (1, 2) */
            guest_ok(g, "mv x14, x0\n GFX.ZTEST x5, x13\n");
            CHECK_EQ(g->hart->x[5], want[cmp]);
        }
    }
    guest_free(g);
}

/* ---- flows -----------------------------------------------------------------------------------
 */

/* An 8x8 picture: a quad moved by MTX, culled, compacted, then pixel by pixel early depth test,
 * sample, interpolated tint, shade, depth write, grade, fence, store. */
static uint64_t draw(struct guest *g, double depth)
{
    const uint32_t move[16] = {
        fr(1), 0, 0, 0, 0, fr(1), 0, 0, 0, 0, fr(1), fr(depth), 0, 0, 0, fr(1)};
    uint64_t hash = 14695981039346656037u;

    texture(g, 0x30, 4, 4, 16);
    for (unsigned i = 0; i < 16; i++) {
        guest_store(g, TEXTURE + 4 * i, 4, 0xFF000000u | i * 0x0F0903);
    }
    for (unsigned p = 0; p < 6; p++) { /* z <= w */
        put_plane(g, p, (const uint32_t[]){0, 0, fr(1), fr(-1)});
    }
    put_elements(g, MATRIX, 4, move, 16);
    for (unsigned i = 0; i < 4; i++) { /* corners; window A of the cull, lane by lane */
        put_elements(g, VECTOR + 16 * i, 4, (const uint32_t[]){fr(i % 2), fr(i / 2), 0, fr(1)}, 4);
    }
    for (unsigned k = 0; k < 3; k++) { /* grade: a curve of two entries per channel */
        put_elements(g, TABLE + 8 * k, 4, (const uint32_t[]){fr(0.1 * k), fr(1)}, 2);
    }
    guest_csrw(g, FACET_CSR_GFXLUTBASE, TABLE);
    guest_csrw(g, FACET_CSR_GFXLUTFMT, 1 << 12 | 1 << 8 | 1 << 4 | 4);
    guest_csrw(g, FACET_CSR_GFXZBASE, DEPTH);
    guest_csrw(g, FACET_CSR_GFXZPITCH, 32);
    guest_csrw(g, FACET_CSR_GFXZWH, UINT64_C(8) << 32 | 8);
    guest_csrw(g, FACET_CSR_GFXZCFG, 8 | 16);
    set_cfg(g, EN | CONVERT | NORM | FREG);
    g->hart->x[8] = MATRIX, g->hart->x[9] = VECTOR, g->hart->x[10] = RESULT;
    g->hart->x[11] = STREAM;
    g->hart->x[28] = GUEST_DATA + 0x24000; /* picture */
    guest_ok(g,
             /* transform four corners, cull each, count survivors in the stream */
             "mtx.ld x8, shape=15, rowmajor=1\n mtx.mul x10, x9, shape=15, vec_count=3\n"
             "li x12, 0\n li x13, 0\n"
             "cull: slli x14, x12, 4\n add x14, x14, x10\n"
             "flw f0, 0(x14)\n flw f1, 4(x14)\n flw f2, 8(x14)\n flw f3, 12(x14)\n"
             "GFX.CULL.FRUSTUM x5, f0\n sll x5, x5, x12\n or x13, x13, x5\n"
             "addi x12, x12, 1\n li x15, 4\n bltu x12, x15, cull\n"
             "pmlow.wr 1, x13\n svsetvl x0, 4\n svon.one\n"
             "GFX.CULL.COMPACT x29, x11, mm=1, cc=1, ps=1\n"
             "beqz x29, done\n"
             /* pixels */
             "li x6, 0\n li x30, 64\n"
             "pixel: andi x12, x6, 7\n srli x13, x6, 3\n"
             "slli x14, x13, 16\n or x15, x14, x12\n" /* X slot of f14 is x15 */
             "flw f14, 8(x10)\n GFX.ZTEST x5, f14, e=1\n beqz x5, next\n"
             /* u, v = (x + 0.5) / 8 */
             "fcvt.s.wu f4, x12\n fcvt.s.wu f5, x13\n li x16, 0x3F000000\n fmv.w.x f6, x16\n"
             "li x16, 0x3E000000\n fmv.w.x f7, x16\n"
             "fadd.s f4, f4, f6\n fadd.s f5, f5, f6\n fmul.s f4, f4, f7\n fmul.s f5, f5, f7\n"
             "GFX.SAMPLE f20, f4, m=1\n"
             /* tint: taps 1, 0.5, 0.25, 1 at (u, v); a2, a3 of a window that starts at f2 */
             "li x16, 0x3F800000\n fmv.w.x f8, x16\n li x16, 0x3F000000\n fmv.w.x f9, x16\n"
             "li x16, 0x3E800000\n fmv.w.x f10, x16\n fmv.s f11, f8\n"
             "GFX.INTERP f8, f2\n"
             "fmv.s f24, f12\n fmv.s f25, f12\n fmv.s f26, f12\n fmv.s f27, f8\n"
             "GFX.SHADE f20, f0, OO=2, nc=0\n GFX.ZWRITE f14\n GFX.LUT1D f20, f20, i=1\n"
             "GFX.FENCE 3, 1\n"
             "slli x16, x6, 4\n add x16, x16, x28\n"
             "fsw f20, 0(x16)\n fsw f21, 4(x16)\n fsw f22, 8(x16)\n fsw f23, 12(x16)\n"
             "next: addi x6, x6, 1\n bltu x6, x30, pixel\n"
             "done: nop\n");
    for (unsigned i = 0; i < 256; i++) {
        hash = (hash ^ guest_load(g, GUEST_DATA + 0x24000 + 4 * i, 4)) * 1099511628211u;
    }
    return hash;
}

static void clear_picture(struct guest *g, double z)
{
    for (unsigned i = 0; i < 256; i++) {
        guest_store(g, GUEST_DATA + 0x24000 + 4 * i, 4, 0);
        if (i < 64) {
            guest_store(g, DEPTH + 4 * i, 4, fr(z));
        }
    }
}

TEST(a_whole_pipeline_in_one_program, "GFX-313")
{
    struct guest *g = gfx_make();
    uint64_t first, empty, pixel = GUEST_DATA + 0x24000;

    clear_picture(g, 1);
    empty = 0;
    first = draw(g, 0.5);
    for (unsigned i = 0; i < 64; i++) { /* every pixel is drawn and has its depth */
        CHECK_EQ(guest_load(g, DEPTH + 4 * i, 4), fr(0.5));
        CHECK_EQ(guest_load(g, pixel + 16 * i + 12, 4), fr(1)); /* alpha */
    }
    /* pixel (0,0): texel (0,0) is black; the grade gives the first entries of the curves */
    CHECK_EQ(guest_load(g, pixel, 4), fr(0));
    CHECK_EQ(guest_load(g, pixel + 4, 4), fr(0.1));
    CHECK_EQ(guest_load(g, pixel + 8, 4), fr(0.2));
    clear_picture(g, 1);
    CHECK_EQ(draw(g, 0.5), first); /* stable */
    clear_picture(g, 0.25);        /* something nearer is there: nothing passes */
    empty = draw(g, 0.5);
    CHECK(empty != first);
    CHECK_EQ(guest_load(g, pixel + 12, 4), 0);
    clear_picture(g, 1);
    CHECK_EQ(draw(g, 2), empty); /* culled: behind the far plane */
    CHECK_EQ(g->hart->x[29], 0);
    guest_free(g);
}

/* A ring of 64-bit entries in LDS: two batches of survivors behind one another, read in order. */
TEST(survivors_in_a_ring_buffer, "GFX-314")
{
    struct guest *g = gfx_make();
    uint64_t mask[2] = {0xA5, 0x3C};
    unsigned want = 0;

    set_cfg(g, EN | BMEM);
    for (unsigned batch = 0; batch < 2; batch++) {
        for (unsigned i = 0; i < 8; i++) {
            guest_store(g, MEM_B + 8 * i, 8, 100 * (batch + 1) + i);
        }
        g->hart->x[10] = batch == 0 ? LDS + 0x200 : g->hart->x[11]; /* tail of the ring */
        g->hart->x[18] = MEM_B;
        rsv(g, 8, 1, mask[batch]);
        guest_ok(g, "GFX.CULL.COMPACT x9, x10, cc=1\n slli x11, x9, 3\n add x11, x11, x10\n");
    }
    CHECK_EQ(g->hart->x[11], LDS + 0x200 + 8 * 8);
    g->hart->x[12] = LDS + 0x200; /* head */
    for (unsigned batch = 0; batch < 2; batch++) {
        for (unsigned i = 0; i < 8; i++) {
            if ((mask[batch] >> i & 1) != 0) {
                guest_ok(g, "ld x13, 0(x12)\n addi x12, x12, 8\n");
                CHECK_EQ(g->hart->x[13], 100 * (batch + 1) + i);
                want++;
            }
        }
    }
    CHECK_EQ(want, 8);
    guest_free(g);
}

/* Tiles whose farthest depth is nearer than a surface are skipped; the picture is the same. */
TEST(a_pyramid_rejects_tiles, "GFX-315")
{
    struct guest *g = gfx_make();
    uint32_t plain[256];
    unsigned skipped = 0;

    guest_csrw(g, FACET_CSR_GFXZBASE, DEPTH);
    guest_csrw(g, FACET_CSR_GFXZPITCH, 64);
    guest_csrw(g, FACET_CSR_GFXZWH, UINT64_C(16) << 32 | 16);
    guest_csrw(g, FACET_CSR_GFXHIZCFG, 1 << 8 | 2); /* rows of four pixels for tiled lanes */
    guest_csrw(g, FACET_CSR_GFXZCFG, 8);
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < 256; i++) { /* an occluder at 0.2 over the left half */
            guest_store(g, DEPTH + 4 * i, 4, i % 16 < 8 ? fr(0.2) : fr(0.5 + i / 512.0));
        }
        g->hart->x[10] = PYRAMID;
        guest_ok(g, "GFX.HZ.BUILD x5, x10, tt=1, hh=2\n");
        CHECK_EQ(g->hart->x[5], 16);
        for (unsigned tile = 0; tile < 16; tile++) { /* surface at 0.6 */
            g->hart->x[12] = PYRAMID + 4 * tile;
            for (unsigned i = 0; i < 16; i++) {
                g->hart->x[14 + i] = fr(0.6);
            }
            g->hart->x[30] = tile / 4 * 4 << 16 | tile % 4 * 4; /* X slot: row 1 of 16 lanes */
            guest_ok(g, "flw f1, 0(x12)\n fmv.w.x f2, x14\n flt.s x13, f1, f2\n");
            if (pass == 1 && g->hart->x[13] != 0) { /* all of the tile is nearer */
                skipped++;
                continue;
            }
            rsv(g, 16, 0, 0);
            guest_ok(g, "GFX.ZTEST x31, x14, w=1, t=1\n");
        }
        for (unsigned i = 0; i < 256; i++) {
            if (pass == 0) {
                plain[i] = (uint32_t)guest_load(g, DEPTH + 4 * i, 4);
            } else {
                CHECK_EQ(guest_load(g, DEPTH + 4 * i, 4), plain[i]);
            }
        }
    }
    CHECK(skipped >= 8);
    CHECK_EQ(plain[255], fr(0.6)); /* and elsewhere it was drawn */
    guest_free(g);
}
