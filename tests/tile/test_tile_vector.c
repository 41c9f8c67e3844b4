/* Vector instructions against a second formulation: lanes are taken out of the register bit by bit
 * and the rules of tile-semantics.md 4 and 10 written down again. FP lanes call the number library,
 * which tests/num proves against MPFR; what is proved here is which lane, which operand, which
 * conversion and which status bit. */
#include "kernel.h"

#include "base/float.h"
#include "num/tile.h"

#include <stdio.h>

enum { I32, I16, I8, F16, F8, F32, TYPES };

static const char *const type_name[] = {"I32", "I16", "I8", "F16", "F8", "F32"};
static const unsigned type_width[] = {32, 16, 8, 16, 8, 32};
static const enum facet_format type_format[] = {
    FACET_FMT_FP32, FACET_FMT_FP32, FACET_FMT_FP32, FACET_FMT_FP16, FACET_FMT_E4M3, FACET_FMT_FP32};
static struct kernel k;

static bool is_fp(unsigned type)
{
    return type >= F16;
}

static unsigned lanes_of(unsigned type)
{
    return 128 / type_width[type];
}

/* ---- lanes ---- */

static uint32_t lane(const union vec *v, unsigned width, unsigned i)
{
    uint32_t value = 0;

    for (unsigned bit = 0; bit < width; bit++) {
        unsigned at = i * width + bit;

        value |= (uint32_t)(v->b[at / 8] >> at % 8 & 1) << bit;
    }
    return value;
}

static int64_t lane_value(const union vec *v, unsigned width, unsigned i)
{
    int64_t x = lane(v, width, i);

    return x >= INT64_C(1) << (width - 1) ? x - (INT64_C(1) << width) : x;
}

static void set_lane(union vec *v, unsigned width, unsigned i, uint64_t value)
{
    for (unsigned bit = 0; bit < width; bit++) {
        unsigned at = i * width + bit;

        v->b[at / 8] = (uint8_t)((v->b[at / 8] & ~(1u << at % 8)) | (value >> bit & 1) << at % 8);
    }
}

/* Edge values often, any bits otherwise. */
static uint32_t some_lane(unsigned type)
{
    static const uint32_t edges[][10] = {
        [I32] = {0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 2, 0x10000, 0x8000, 7, 46341},
        [I16] = {0, 1, 0xFFFF, 0x7FFF, 0x8000, 2, 0x100, 0x80, 7, 181},
        [I8] = {0, 1, 0xFF, 0x7F, 0x80, 2, 0x10, 0x08, 7, 11},
        [F16] = {0, 0x8000, 0x3C00, 0x7C00, 0xFC00, 0x7E01, 0x7D01, 0x0001, 0x7BFF, 0x03FF},
        [F8] = {0, 0x80, 0x38, 0x7F, 0xFF, 0x7E, 0x01, 0x08, 0x07, 0xB8},
        [F32] = {0,
                 0x80000000,
                 0x3F800000,
                 0x7F800000,
                 0xFF800000,
                 0x7FC00001,
                 0x7F800001,
                 1,
                 0x7F7FFFFF,
                 0x00800000},
    };
    uint64_t r = harness_random();

    return r % 3 == 0 ? edges[type][r / 3 % 10] : (uint32_t)(r >> 16);
}

static union vec some_vector(unsigned type)
{
    union vec v = {.d = {0, 0}};

    for (unsigned i = 0; i < lanes_of(type); i++) {
        set_lane(&v, type_width[type], i, some_lane(type));
    }
    return v;
}

/* ---- what is expected ---- */

struct outcome {
    union vec v;
    uint32_t s;
    unsigned flags; /* FP */
    bool outside, to_scalar;
};

static struct facet_num_tile_env env_of(uint32_t config)
{
    return (struct facet_num_tile_env){
        .rm = config & 7, .ftz = (config & 8) != 0, .fsat = (config & 64) != 0};
}

static int64_t fit(__int128 x, unsigned width, bool saturate, bool *outside)
{
    __int128 top = ((__int128)1 << (width - 1)) - 1, bottom = -top - 1;

    if (x >= bottom && x <= top) {
        return (int64_t)x;
    }
    *outside = true;
    return saturate ? (int64_t)(x > top ? top : bottom) : (int64_t)x;
}

static void check(const char *line, const struct outcome *e, uint32_t config, uint32_t vstatus)
{
    bool saturate = (config & 0x10) != 0 || (vstatus & 0x100) != 0;
    uint32_t status = 0, vs = vstatus;

    status |= (e->flags & FACET_NV) != 0 ? ST_VI : 0;
    vs |= (e->flags & FACET_NV) != 0 ? 1 : 0;
    status |= (e->flags & FACET_OF) != 0 || e->outside ? ST_VO : 0;
    vs |= (e->flags & FACET_OF) != 0 ? 2 : 0;
    vs |= e->outside ? (saturate ? 4 : 2) : 0;
    CHECK_MSG(e->to_scalar ? k.s[3] == e->s : memcmp(&k.v[3], &e->v, 16) == 0,
              "%s (config 0x%x): %016" PRIx64 "%016" PRIx64 " s3 %08x, expected %016" PRIx64
              "%016" PRIx64 " %08x",
              line,
              (unsigned)config,
              k.v[3].d[1],
              k.v[3].d[0],
              (unsigned)k.s[3],
              e->v.d[1],
              e->v.d[0],
              (unsigned)e->s);
    CHECK_MSG(k.status == status && k.vstatus == vs &&
                  (k.fstatus & 31) == (e->flags & FACET_FLAGS_IEEE),
              "%s (config 0x%x): status 0x%x vstatus 0x%x fstatus 0x%x, expected 0x%x 0x%x 0x%x",
              line,
              (unsigned)config,
              (unsigned)k.status,
              (unsigned)k.vstatus,
              (unsigned)k.fstatus,
              (unsigned)status,
              (unsigned)vs,
              e->flags);
    CHECK_EQ(k.cause, 0);
}

/* One lane of a lane-wise operation. */
static uint64_t lane_result(const char *op,
                            unsigned type,
                            union vec a,
                            union vec b,
                            union vec d,
                            unsigned i,
                            bool saturate,
                            struct facet_num_tile_env env,
                            struct outcome *o)
{
    unsigned w = type_width[type];
    enum facet_format fmt = type_format[type];
    uint32_t x = lane(&a, w, i), y = lane(&b, w, i), z = lane(&d, w, i);
    int64_t sx = lane_value(&a, w, i), sy = lane_value(&b, w, i), sz = lane_value(&d, w, i);

#define IS(name) (strcmp(op, name) == 0)
    if (is_fp(type)) {
        return IS("VADD")       ? facet_num_tile_add(fmt, x, y, env, &o->flags)
               : IS("VSUB")     ? facet_num_tile_sub(fmt, x, y, env, &o->flags)
               : IS("VMUL")     ? facet_num_tile_mul(fmt, x, y, env, &o->flags)
               : IS("VFMA")     ? facet_num_tile_fma(fmt, x, y, z, false, false, env, &o->flags)
               : IS("VMIN")     ? facet_num_tile_min(fmt, x, y, env, &o->flags)
               : IS("VMAX")     ? facet_num_tile_max(fmt, x, y, env, &o->flags)
               : IS("VRCP")     ? facet_num_tile_rcp(fmt, x, env, &o->flags)
               : IS("VRSQRT")   ? facet_num_tile_rsqrt(fmt, x, env, &o->flags)
               : IS("VABS")     ? x & ~(UINT64_C(1) << (w - 1))
               : IS("VCMPV.EQ") ? -(uint64_t)facet_num_tile_eq(fmt, x, y, env, &o->flags)
               : IS("VCMPV.LT") ? -(uint64_t)facet_num_tile_lt(fmt, x, y, env, &o->flags)
                                : -(uint64_t)facet_num_tile_lt(fmt, y, x, env, &o->flags);
    }
    return (uint64_t)(IS("VADD")       ? fit((__int128)sx + sy, w, saturate, &o->outside)
                      : IS("VSUB")     ? fit((__int128)sx - sy, w, saturate, &o->outside)
                      : IS("VMUL")     ? fit((__int128)sx * sy, w, saturate, &o->outside)
                      : IS("VMAC")     ? fit((__int128)sx * sy + sz, w, saturate, &o->outside)
                      : IS("VABS")     ? fit(sx < 0 ? -(__int128)sx : sx, w, saturate, &o->outside)
                      : IS("VMIN")     ? (sx < sy ? sx : sy)
                      : IS("VMAX")     ? (sx > sy ? sx : sy)
                      : IS("VSHL")     ? (int64_t)x << (y % w)
                      : IS("VSHR")     ? (int64_t)(x >> (y % w))
                      : IS("VSAR")     ? sx >> (y % w)
                      : IS("VCMPV.EQ") ? -(int64_t)(sx == sy)
                      : IS("VCMPV.LT") ? -(int64_t)(sx < sy)
                                       : -(int64_t)(sx > sy));
}

static uint32_t some_config(bool fp)
{
    uint64_t r = harness_random();

    return fp ? (uint32_t)(r % 5 | (r >> 8 & 8) | (r >> 8 & 64)) : (uint32_t)(r & 0x10);
}

static void
lane_wise(const char *op, unsigned type, bool binary, const struct facet_tile_config *how)
{
    char line[64];

    kernel_open(&k, how);
    (void)sprintf(line, binary ? "%s.%s v3, v1, v2" : "%s.%s v3, v1", op, type_name[type]);
    for (unsigned n = 0; n < 60 && !harness_failed(); n++) {
        union vec a = some_vector(type), b = some_vector(type), d = some_vector(type);
        uint32_t config = some_config(is_fp(type)), vstatus = n % 5 == 0 ? 0x100 : 0;
        struct outcome e = {.flags = 0};

        if (n % 4 == 1) {
            b = a;
        }
        for (unsigned i = 0; n % 4 == 2 && !is_fp(type) && i < lanes_of(type); i++) {
            set_lane(&a, type_width[type], i, harness_random() % 11 - 5); /* nothing overflows */
            set_lane(&b, type_width[type], i, harness_random() % 11 - 5);
        }
        k.v[1] = a;
        k.v[2] = b;
        k.v[3] = d;
        k.config = config;
        k.vstatus = vstatus;
        for (unsigned i = 0; i < lanes_of(type); i++) {
            set_lane(&e.v,
                     type_width[type],
                     i,
                     lane_result(op,
                                 type,
                                 a,
                                 b,
                                 d,
                                 i,
                                 (config & 0x10) != 0 || vstatus != 0,
                                 env_of(config),
                                 &e));
        }
        kernel_exec(&k, line);
        check(line, &e, config, vstatus);
    }
    kernel_close(&k);
}

/* With host SIMD and without. */
static void both(const char *op, unsigned first, unsigned last, bool binary)
{
    static const struct facet_tile_config plain = {.plain = true};

    for (unsigned type = first; type <= last; type++) {
        lane_wise(op, type, binary, NULL);
        lane_wise(op, type, binary, &plain);
    }
}

TEST(integer_lanes, "")
{
    static const struct {
        const char *name, *ids;
    } ops[] = {{"VADD", "TILE-239 TILE-252 TILE-258"},
               {"VSUB", "TILE-240 TILE-252 TILE-259"},
               {"VMUL", ""},
               {"VMAC", ""},
               {"VMIN", "TILE-241 TILE-252 TILE-260"},
               {"VMAX", "TILE-241 TILE-252 TILE-261"},
               {"VSHL", "TILE-239 TILE-252 TILE-258"},
               {"VSHR", "TILE-239 TILE-252 TILE-258"},
               {"VSAR", "TILE-239 TILE-252 TILE-258"},
               {"VABS", "TILE-252"}};
    static const char *const types[] = {"TILE-233", "TILE-234", "TILE-235"};
    static const char *const subs[] = {
        "VSUB.I32 v3, v1, v2", "VSUB.I16 v3, v1, v2", "VSUB.I8 v3, v1, v2"};

    for (unsigned i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        harness_row(ops[i].ids);
        both(ops[i].name, I32, I8, strcmp(ops[i].name, "VABS") != 0);
    }
    for (unsigned type = I32; type <= I8; type++) { /* funct6 1, the type in funct3 */
        harness_row(types[type]);
        both("VSUB", type, type, true);
        CHECK_EQ(kernel_word(subs[type]) >> 12 & 7, type);
        CHECK_ID("TILE-240 TILE-259", kernel_word(subs[type]) >> 26 == 1);
    }
    CHECK_ID("TILE-241 TILE-260", (kernel_word("VMIN.I32 v3, v1, v2") & 0xFC00707F) == 0x0800202F);
    CHECK_ID("TILE-241 TILE-261", (kernel_word("VMAX.I32 v3, v1, v2") & 0xFC00707F) == 0x0800302F);
}

TEST(lanes_wrap_or_saturate, "TILE-573 TILE-562")
{
    static const struct {
        uint32_t config, vstatus;
        uint8_t lane;
    } rows[] = {{0, 0, 0x80}, {1 << 4, 0, 0x7F}, {0, 1 << 8, 0x7F}};

    kernel_open(&k, NULL);
    for (unsigned i = 0; i < 3; i++) {
        memset(&k.v[1], 127, 16);
        memset(&k.v[2], 1, 16);
        k.config = rows[i].config;
        k.vstatus = rows[i].vstatus;
        kernel_exec(&k, "VADD.I8 v3, v1, v2");
        for (unsigned n = 0; n < 16; n++) {
            CHECK_EQ(k.v[3].b[n], rows[i].lane);
        }
        CHECK_EQ(k.vstatus & 6, rows[i].lane == 0x80 ? 2 : 4);
    }
    kernel_close(&k);
}

/* Sticky bits and the control bit are written like any other; the rest reads 0. */
TEST(vstatus_is_written_by_instructions, "")
{
    kernel_open(&k, NULL);
    k.s[1] = 0xFFFFFFFF;
    kernel_exec(&k, "CSRRW s2, vstatus, s1\nCSRR s3, vstatus\nCSRRW s4, vstatus, s0");
    CHECK_EQ(k.cause, 0);
    CHECK_EQ(k.status, 0); /* CSRERR would say that there is no such register */
    CHECK_EQ(k.s[3], 0x107);
    CHECK_EQ(k.s[4], 0x107);
    CHECK_EQ(k.vstatus, 0);
    kernel_close(&k);
}

/* Whatever the control registers hold, VADD.I16 has eight lanes. */
TEST(no_register_changes_the_lanes, "TILE-027")
{
    static const char *const csrs[] = {"config", "vstride", "vstatus", "status"};

    kernel_open(&k, NULL);
    for (unsigned c = 0; c < 4; c++) {
        for (unsigned bit = 0; bit < 16; bit++) {
            char text[128];

            (void)sprintf(text,
                          "ADDI s9, s0, 1\nSHLI s9, s9, %u\nCSRRW s0, %s, s9\nVADD.I16 v3, v1, v2",
                          bit,
                          csrs[c]);
            for (unsigned n = 0; n < 8; n++) {
                k.v[1].h[n] = (uint16_t)(100 + n);
                k.v[2].h[n] = (uint16_t)(7 * n);
            }
            memset(&k.v[3], 0, sizeof k.v[3]);
            kernel_exec(&k, text);
            CHECK_EQ(k.cause, 0);
            for (unsigned n = 0; n < 8; n++) {
                CHECK_EQ(k.v[3].h[n], 100 + 8 * n);
            }
        }
    }
    kernel_close(&k);
}

TEST(fp_lanes, "")
{
    static const char *const names[] = {"VADD", "VSUB", "VMUL", "VFMA", "VMIN", "VMAX"};

    static const char *const types[] = {"TILE-236", "TILE-237", "TILE-238"};
    static const char *const subs[] = {"VSUB.I32 v3, v1, v2",
                                       "VSUB.I16 v3, v1, v2",
                                       "VSUB.I8 v3, v1, v2",
                                       "VSUB.F16 v3, v1, v2",
                                       "VSUB.F8 v3, v1, v2",
                                       "VSUB.F32 v3, v1, v2"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        harness_row(i == 0   ? "TILE-004 TILE-049 TILE-253"
                    : i == 3 ? "TILE-253 TILE-254"
                    : i < 3  ? "TILE-253"
                             : "");
        both(names[i], F16, F32, true);
    }
    for (unsigned type = F16; type <= F32; type++) {
        harness_row(types[type - F16]);
        both("VSUB", type, type, true);
        CHECK_EQ(kernel_word(subs[type]) >> 12 & 7, type);
    }
    for (unsigned type = I32; type <= F32; type++) { /* and differ in nothing else */
        CHECK_ID("TILE-032", (kernel_word(subs[type]) ^ kernel_word(subs[I32])) == type << 12);
    }
    harness_row("");
    both("VRCP", F16, F32, false);
    both("VRSQRT", F16, F32, false);
    both("VABS", F16, F32, false);
}

TEST(vector_compares, "TILE-243 TILE-256 TILE-263")
{
    both("VCMPV.EQ", I32, F32, true);
    both("VCMPV.LT", I32, F32, true);
    both("VCMPV.GT", I32, F32, true);
}

TEST(mask_compares, "")
{
    static const char *const relation[] = {"EQ", "LT", "GT"};

    kernel_open(&k, NULL);
    for (unsigned n = 0; n < 18 * 20; n++) {
        unsigned type = n / 3 % TYPES, w = type_width[type];
        union vec a = some_vector(type), b = n % 7 == 0 ? a : some_vector(type);
        uint32_t config = some_config(is_fp(type));
        struct facet_num_tile_env env = env_of(config);
        struct outcome e = {.to_scalar = true};
        char line[64];

        (void)sprintf(line, "VCMP.%s.%s s3, v1, v2", relation[n % 3], type_name[type]);
        for (unsigned i = 0; i < lanes_of(type); i++) {
            uint32_t x = lane(&a, w, i), y = lane(&b, w, i);
            int64_t sx = lane_value(&a, w, i), sy = lane_value(&b, w, i);
            bool holds =
                is_fp(type)
                    ? (n % 3 == 0   ? facet_num_tile_eq(type_format[type], x, y, env, &e.flags)
                       : n % 3 == 1 ? facet_num_tile_lt(type_format[type], x, y, env, &e.flags)
                                    : facet_num_tile_lt(type_format[type], y, x, env, &e.flags))
                    : (n % 3 == 0   ? sx == sy
                       : n % 3 == 1 ? sx < sy
                                    : sx > sy);

            e.s |= (uint32_t)holds << i;
        }
        k.v[1] = a;
        k.v[2] = b;
        k.s[3] = 0xFFFFFFFF;
        k.config = config;
        k.vstatus = 0;
        kernel_exec(&k, line);
        harness_row("TILE-009 TILE-031 TILE-033 TILE-244 TILE-256");
        check(line, &e, config, 0);
    }
    for (uint32_t n = 0; n < 3; n++) { /* funct6 3, the relation in funct3 */
        char line[64];

        (void)sprintf(line, "VCMP.%s.I32 s3, v1, v2", relation[n]);
        CHECK_ID("TILE-242 TILE-262", kernel_word(line) >> 26 == 3);
        CHECK_ID("TILE-262", (kernel_word(line) >> 12 & 7) == n);
    }
    kernel_close(&k);
}

TEST(logic, "TILE-239 TILE-252 TILE-258")
{
    kernel_open(&k, NULL);
    k.v[1] = some_vector(I32);
    k.v[2] = some_vector(I32);
    kernel_exec(&k, "VAND v3, v1, v2\nVOR v4, v1, v2\nVXOR v5, v1, v2\nVCLR v6\nVMOV v7, v1");
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQ(k.v[3].d[i], k.v[1].d[i] & k.v[2].d[i]);
        CHECK_EQ(k.v[4].d[i], k.v[1].d[i] | k.v[2].d[i]);
        CHECK_EQ(k.v[5].d[i], k.v[1].d[i] ^ k.v[2].d[i]);
        CHECK_EQ(k.v[7].d[i], k.v[1].d[i]);
    }
    CHECK_EQ(k.status, 0);
    kernel_close(&k);
}

/* ---- across lanes ---- */

static void expect_dot(unsigned type,
                       union vec a,
                       union vec b,
                       struct facet_num_tile_env env,
                       bool saturate,
                       struct outcome *e)
{
    unsigned w = type_width[type];
    __int128 sum = 0;

    e->to_scalar = true;
    for (unsigned i = 0; i < lanes_of(type); i++) {
        if (!is_fp(type)) {
            sum += (__int128)lane_value(&a, w, i) * lane_value(&b, w, i);
            continue;
        }
        uint32_t x = lane(&a, w, i), y = lane(&b, w, i);

        if (type != F32) {
            x = facet_num_tile_convert(FACET_FMT_FP32, type_format[type], x, env, &e->flags);
            y = facet_num_tile_convert(FACET_FMT_FP32, type_format[type], y, env, &e->flags);
        }
        e->s = i == 0
                   ? facet_num_tile_mul(FACET_FMT_FP32, x, y, env, &e->flags)
                   : facet_num_tile_fma(FACET_FMT_FP32, x, y, e->s, false, false, env, &e->flags);
    }
    if (!is_fp(type)) {
        e->s = (uint32_t)fit(sum, 32, saturate, &e->outside);
    }
}

TEST(dot_products, "TILE-245 TILE-254 TILE-255 TILE-264")
{
    kernel_open(&k, NULL);
    for (unsigned n = 0; n < 6 * 60 && !harness_failed(); n++) {
        unsigned type = n % TYPES;
        union vec a = some_vector(type), b = some_vector(type);
        uint32_t config = some_config(is_fp(type)) | (n % 4 == 0 ? 0x10 : 0);
        uint32_t vstatus = n % 5 == 0 ? 0x100 : 0;
        struct outcome e = {.flags = 0};
        char line[64];

        expect_dot(type, a, b, env_of(config), (config & 0x10) != 0 || vstatus != 0, &e);
        (void)sprintf(line, "VDOT.%s s3, v1, v2", type_name[type]);
        k.v[1] = a;
        k.v[2] = b;
        k.config = config;
        k.vstatus = vstatus;
        kernel_exec(&k, line);
        check(line, &e, config, vstatus);
    }
    kernel_close(&k);
}

TEST(cross_products, "TILE-246 TILE-265")
{
    kernel_open(&k, NULL);
    for (unsigned n = 0; n < 6 * 60 && !harness_failed(); n++) {
        unsigned type = n % TYPES, w = type_width[type];
        union vec a = some_vector(type), b = some_vector(type);
        uint32_t config = some_config(is_fp(type)) | (n % 4 == 0 ? 0x10 : 0);
        struct facet_num_tile_env env = env_of(config);
        struct outcome e = {.flags = 0};
        char line[64];

        for (unsigned i = 0; i < 3; i++) {
            static const unsigned j[] = {1, 2, 0}, l[] = {2, 0, 1};

            if (!is_fp(type)) {
                __int128 x = (__int128)lane_value(&a, w, j[i]) * lane_value(&b, w, l[i]) -
                             (__int128)lane_value(&a, w, l[i]) * lane_value(&b, w, j[i]);

                set_lane(&e.v, w, i, (uint64_t)fit(x, w, (config & 0x10) != 0, &e.outside));
                continue;
            }
            uint32_t p[2], q[2], t, x;

            for (unsigned m = 0; m < 2; m++) {
                p[m] = lane(&a, w, m == 0 ? j[i] : l[i]);
                q[m] = lane(&b, w, m == 0 ? l[i] : j[i]);
                if (type != F32) {
                    p[m] = facet_num_tile_convert(
                        FACET_FMT_FP32, type_format[type], p[m], env, &e.flags);
                    q[m] = facet_num_tile_convert(
                        FACET_FMT_FP32, type_format[type], q[m], env, &e.flags);
                }
            }
            t = facet_num_tile_mul(FACET_FMT_FP32, p[1], q[1], env, &e.flags);
            x = facet_num_tile_fma(FACET_FMT_FP32, p[0], q[0], t, false, true, env, &e.flags);
            if (type != F32) {
                x = facet_num_tile_convert(type_format[type], FACET_FMT_FP32, x, env, &e.flags);
            }
            set_lane(&e.v, w, i, x);
        }
        (void)sprintf(line, "VCROSS.%s v3, v1, v2", type_name[type]);
        k.v[1] = a;
        k.v[2] = b;
        k.config = config;
        k.vstatus = 0;
        kernel_exec(&k, line);
        check(line, &e, config, 0);
    }
    kernel_close(&k);
}

TEST(conversions, "TILE-507 TILE-563 TILE-565")
{
    kernel_open(&k, NULL);
    for (unsigned n = 0; n < 36 * 24 && !harness_failed(); n++) {
        unsigned to = n % TYPES, from = n / TYPES % TYPES;
        unsigned tw = type_width[to], fw = type_width[from];
        uint32_t config = some_config(true) | (n % 4 == 0 ? 0x10 : 0);
        struct facet_num_tile_env env = env_of(config);
        union vec a = some_vector(from);
        struct outcome e = {.flags = 0};
        char line[64];

        if (to == from) {
            continue;
        }
        for (unsigned i = 0; i < lanes_of(to) && i < lanes_of(from); i++) {
            uint32_t x = lane(&a, fw, i);
            int64_t value = lane_value(&a, fw, i);

            set_lane(
                &e.v,
                tw,
                i,
                is_fp(to) && is_fp(from)
                    ? facet_num_tile_convert(type_format[to], type_format[from], x, env, &e.flags)
                : is_fp(to)
                    ? facet_num_tile_from_int(type_format[to], (int32_t)value, env, &e.flags)
                : is_fp(from)
                    ? (uint64_t)facet_num_tile_to_int(type_format[from], x, tw, env, &e.flags)
                    : (uint64_t)fit(value, tw, (config & 0x10) != 0, &e.outside));
        }
        (void)sprintf(line, "VCVT.%s.%s v3, v1", type_name[to], type_name[from]);
        k.v[1] = a;
        k.v[3] = some_vector(I32);
        k.config = config;
        k.vstatus = 0;
        kernel_exec(&k, line);
        check(line, &e, config, 0);
    }
    k.config = 0x10;
    k.v[1] = (union vec){.w = {300, (uint32_t)-300, 5, 70000}};
    kernel_exec(&k, "VCVT.I8.I32 v3, v1\nVCVT.I16.I32 v4, v1");
    CHECK_EQ(k.v[3].w[0], 0x7F05807F);
    CHECK_EQ(k.v[4].h[3], 0x7FFF);
    kernel_close(&k);
}

/* ---- FP32 while NX is among the flags: nobody has to know whether a result is exact ---- */

/* About 1 in size, a half of a small number, or a bound of I32. */
static uint32_t ordinary(void)
{
    static const uint32_t bounds[] = {0x4F000000, 0x4EFFFFFF, 0xCF000000, 0xCF000001};
    const uint64_t r = harness_random();

    switch (r >> 60) {
    case 0:
        return bounds[r % 4];
    case 1:
    case 2:
        return facet_float_bits((float)(int)(r % 65) / 2 - 16);
    default:
        return (uint32_t)(r & 0x807FFFFF) | (uint32_t)(118 + (r >> 32) % 18) << 23;
    }
}

static union vec ordinary_vector(void)
{
    return (union vec){.w = {ordinary(), ordinary(), ordinary(), ordinary()}};
}

/* Runs the line after one that raises NX. */
static void check_inexact(const char *line, struct outcome *e)
{
    char text[128];

    (void)snprintf(text, sizeof text, "VRCP.F32 v9, v10\n%s", line);
    k.v[10] = (union vec){.w = {0x40400000, 0x40400000, 0x40400000, 0x40400000}}; /* 3 */
    k.config = k.vstatus = 0;
    e->flags |= FACET_NX;
    kernel_exec(&k, text);
    check(line, e, 0, 0);
}

static void lane_wise_inexact(const char *op, bool binary)
{
    const struct facet_num_tile_env env = env_of(0);
    char line[64];

    (void)snprintf(line, sizeof line, binary ? "%s.F32 v3, v1, v2" : "%s.F32 v3, v1", op);
    for (unsigned n = 0; n < 100 && !harness_failed(); n++) {
        struct outcome e = {.flags = 0};

        for (unsigned r = 1; r <= 3; r++) {
            k.v[r] = ordinary_vector();
        }
        for (unsigned i = 0; i < 4; i++) {
            set_lane(&e.v, 32, i, lane_result(op, F32, k.v[1], k.v[2], k.v[3], i, false, env, &e));
        }
        check_inexact(line, &e);
    }
}

TEST(fp_lanes_while_nx_is_set, "")
{
    static const char *const binary[] = {"VADD", "VSUB", "VMUL", "VFMA", "VMIN", "VMAX"};
    const struct facet_num_tile_env env = env_of(0);

    kernel_open(&k, NULL);
    for (unsigned i = 0; i < sizeof binary / sizeof binary[0]; i++) {
        lane_wise_inexact(binary[i], true);
    }
    lane_wise_inexact("VRCP", false);
    lane_wise_inexact("VRSQRT", false);
    for (unsigned n = 0; n < 300 && !harness_failed(); n++) {
        struct outcome dot = {.flags = 0}, real = dot, whole = dot;

        k.v[1] = ordinary_vector();
        k.v[2] = ordinary_vector();
        for (unsigned i = 0; i < 4; i++) {
            const uint32_t x = k.v[1].w[i];

            real.v.w[i] =
                (uint32_t)facet_num_tile_from_int(FACET_FMT_FP32, (int32_t)x, env, &real.flags);
            whole.v.w[i] =
                (uint32_t)facet_num_tile_to_int(FACET_FMT_FP32, x, 32, env, &whole.flags);
        }
        expect_dot(F32, k.v[1], k.v[2], env, false, &dot);
        check_inexact("VDOT.F32 s3, v1, v2", &dot);
        check_inexact("VCVT.F32.I32 v3, v1", &real);
        check_inexact("VCVT.I32.F32 v3, v1", &whole);
    }
    kernel_close(&k);
}

/* ---- selects, swizzles, permutes, transfers ---- */

TEST(selects, "")
{
    kernel_open(&k, NULL);
    for (unsigned n = 0; n < 6 * 8; n++) {
        unsigned type = n % TYPES, w = type_width[type];
        uint32_t mask = (uint32_t)harness_random(), used = n % 2 != 0 ? ~mask : mask;
        union vec a = some_vector(I8), b = some_vector(I8), d = some_vector(I8), e[2] = {b, d};
        char text[128];

        for (unsigned i = 0; i < lanes_of(type); i++) {
            if ((used >> i & 1) != 0) {
                set_lane(&e[0], w, i, lane(&a, w, i));
                set_lane(&e[1], w, i, lane(&a, w, i));
            }
        }
        k.v[1] = a;
        k.v[2] = b;
        k.v[4] = d;
        k.s[2] = mask;
        k.config = n % 2 != 0 ? 0x20 : 0; /* PINV */
        (void)sprintf(
            text, "VSEL.%s v3, v1, v2\nVSELD.%s v4, v1, s2", type_name[type], type_name[type]);
        kernel_exec(&k, text);
        CHECK_ID(n % 2 != 0 ? "TILE-248 TILE-488" : "TILE-247 TILE-248",
                 memcmp(&k.v[3], &e[0], 16) == 0);
        CHECK(memcmp(&k.v[4], &e[1], 16) == 0);
    }
    k.config = 0;
    k.v[1] = (union vec){.w = {1, 5, 3, 7}};
    k.v[2] = (union vec){.w = {4, 4, 4, 4}};
    kernel_exec(&k,
                "VCMP.LT.I32 s4, v1, v2\nVCMP.EQ.I32 s5, v1, v2\nOR s2, s4, s5\n"
                "VSEL.I32 v3, v1, v2\nADDI s2, s0, 0\nVADD.I32 v5, v1, v2");
    for (unsigned i = 0; i < 4; i++) {
        CHECK_ID("TILE-009 TILE-031 TILE-257", k.v[3].w[i] == (k.v[1].w[i] <= 4 ? k.v[1].w[i] : 4));
        CHECK_ID("TILE-008 TILE-561", k.v[5].w[i] == k.v[1].w[i] + 4); /* no mask by itself */
    }
    CHECK_ID("TILE-266", (kernel_word("VSEL.I32 v3, v1, v2") & 0xFC00707F) == 0x1800002F);
    CHECK_ID("TILE-248", (kernel_word("VSEL.I32 v3, v1, v2") >> 20 & 31) == 2);
    k.s[2] = 5;
    kernel_exec(&k, "SETMISC s0, 0x20, 0x20\nVSEL.I32 v3, v1, v2");
    CHECK_ID("TILE-488", k.v[3].w[0] == 4 && k.v[3].w[1] == 5 && k.v[3].w[3] == 7);
    kernel_close(&k);
}

TEST(swizzles, "")
{
    kernel_open(&k, NULL);
    for (unsigned pattern = 0; pattern < 256; pattern += 1 + pattern % 3) {
        unsigned type = pattern % TYPES, w = type_width[type];
        union vec a = some_vector(I8), e[2];
        char text[128];

        for (unsigned i = 0; i < lanes_of(type); i++) {
            set_lane(&e[0], w, i, lane(&a, w, i / 4 * 4 + (pattern >> i % 4 * 2 & 3)));
        }
        for (unsigned i = 0; i < 4; i++) {
            e[1].w[i] = a.w[pattern >> i * 2 & 3];
        }
        k.v[1] = a;
        k.s[2] = pattern | 0xABCD00;
        (void)sprintf(text, "VSWIZ.%s v3, v1, s2\nVSHUF v4, v1, %u", type_name[type], pattern);
        kernel_exec(&k, text);
        CHECK_ID("TILE-249 TILE-250 TILE-251", memcmp(&k.v[3], &e[0], 16) == 0);
        CHECK_ID("TILE-250 TILE-251", memcmp(&k.v[4], &e[1], 16) == 0);
    }
    CHECK_ID("TILE-267", kernel_word("VSWIZ.I32 v3, v1, s2") >> 26 == 7);
    CHECK_ID("TILE-267",
             (kernel_word("VSHUF v3, v1, 0xFF") ^ kernel_word("VSHUF v3, v1, 0")) >> 20 != 0);
    kernel_close(&k);
}

TEST(permutes, "")
{
    kernel_open(&k, NULL);
    k.v[1] = (union vec){.w = {0x03020100, 0x13121110, 0x23222120, 0x33323130}};
    k.v[2] = (union vec){.w = {0x1B, 0xE4, 0x00, 0xFF}};
    k.s[2] = 1;
    kernel_exec(
        &k,
        "VPERM.B v3, v1, v2\nVPERM.ROT v4, v1, s2\nVPERM.HALF v5, v1, v1\nVPERM.BC0 v6, v1\n"
        "VPERM.EVEN v7, v1, v2\nVPERM.ODD v8, v1, v2\nVPERM.ZIP v9, v1\nVPERM.ZIP v10, v9");
    harness_row("TILE-554");
    CHECK_EQ(k.v[3].w[0], 0x00010203);
    CHECK_EQ(k.v[3].w[1], 0x13121110);
    CHECK_EQ(k.v[3].w[2], 0x20202020);
    CHECK_EQ(k.v[3].w[3], 0x33333333);
    harness_row("TILE-555");
    CHECK_EQ(k.v[4].w[0], 0x13121110);
    CHECK_EQ(k.v[4].w[3], 0x03020100);
    harness_row("TILE-556");
    CHECK_EQ(k.v[5].d[0], k.v[1].d[1]);
    CHECK_EQ(k.v[5].d[1], k.v[1].d[0]);
    harness_row("TILE-557");
    CHECK(k.v[6].w[0] == 0x03020100 && k.v[6].w[3] == 0x03020100);
    harness_row("TILE-558");
    CHECK(k.v[7].w[0] == k.v[1].w[0] && k.v[7].w[1] == k.v[1].w[2]);
    CHECK(k.v[7].w[2] == k.v[2].w[0] && k.v[7].w[3] == k.v[2].w[2]);
    harness_row("TILE-559");
    CHECK(k.v[8].w[0] == k.v[1].w[1] && k.v[8].w[1] == k.v[1].w[3]);
    CHECK(k.v[8].w[2] == k.v[2].w[1] && k.v[8].w[3] == k.v[2].w[3]);
    harness_row("TILE-560");
    CHECK(k.v[9].w[1] == k.v[1].w[2] && k.v[9].w[2] == k.v[1].w[1]);
    CHECK(memcmp(&k.v[10], &k.v[1], 16) == 0);
    kernel_close(&k);
}

TEST(transfers, "")
{
    kernel_open(&k, NULL);
    for (unsigned n = 0; n < 4 + 8 + 16 + 8; n++) {
        unsigned type = n < 4 ? I32 : n < 12 ? I16 : n < 28 ? I8 : F16;
        unsigned i = n < 4 ? n : n < 12 ? n - 4 : n < 28 ? n - 12 : n - 28, w = type_width[type];
        const char *file = type == F16 ? "f" : "s";
        union vec d = some_vector(I8), e = d, a = some_vector(I8);
        char text[256];

        k.v[3] = d;
        k.v[1] = a;
        k.s[1] = (uint32_t)harness_random();
        k.f[1] = (uint16_t)harness_random();
        set_lane(&e, w, i, type == F16 ? k.f[1] : k.s[1]);
        (void)sprintf(text,
                      "VINS.%s v3, %s1, %u\nVBCAST.%s v4, %s1\nVEXTR.%s %s5, v1, %u",
                      type_name[type],
                      file,
                      i,
                      type_name[type],
                      file,
                      type_name[type],
                      file,
                      i);
        kernel_exec(&k, text);
        CHECK_ID("TILE-272 TILE-273", memcmp(&k.v[3], &e, 16) == 0);
        harness_row("TILE-271");
        for (unsigned l = 0; l < lanes_of(type); l++) {
            CHECK_EQ(lane(&k.v[4], w, l), lane(&e, w, i));
        }
        harness_row("TILE-274");
        if (type == F16) {
            CHECK_EQ(k.f[5], lane(&a, w, i));
        } else {
            CHECK_EQ(k.s[5], (uint32_t)lane_value(&a, w, i));
        }
        CHECK_ID("TILE-275", kernel_csr(&k, 0, "perf_load") + kernel_csr(&k, 0, "perf_store") == 0);
    }
    kernel_close(&k);
}

/* Flags happen although nothing is kept. */
TEST(v0_keeps_flags, "TILE-269")
{
    kernel_open(&k, NULL);
    k.v[1] = (union vec){.w = {0x7F800000, 0, 0, 0}};
    k.v[2] = (union vec){.w = {0xFF800000, 0, 0, 0}};
    kernel_exec(&k, "VADD.F32 v0, v1, v2\nVFMA.F32 v0, v1, v1");
    CHECK_EQ(k.fstatus, FACET_NV);
    CHECK_EQ(k.v[0].d[0] | k.v[0].d[1], 0);
    kernel_close(&k);
}
