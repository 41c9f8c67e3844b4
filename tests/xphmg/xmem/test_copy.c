/* XLDS.CPY, XSWZ.* and the ZVC streams of XMEM.DSTOREC and XMEM.DLOADC. Copies are compared with
 * memmove, layouts with index formulas written as nested loops over tiles and bits, streams with a
 * coder and decoder of their own. */
#include "xphmg/xmem/xmem_test.h"

#include <stdio.h>
#include <stdlib.h>

enum { D = GUEST_DATA, RAM_END = GUEST_CODE + GUEST_RAM_BYTES };

static void put(struct guest *g, uint64_t address, const void *bytes, size_t size)
{
    CHECK_EQ(facet_mem_poke(g->mem, address, bytes, size).fault, FACET_MEM_OK);
}

static void get(struct guest *g, uint64_t address, void *bytes, size_t size)
{
    CHECK_EQ(facet_mem_peek(g->mem, address, bytes, size).fault, FACET_MEM_OK);
}

static void randomize(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)harness_random();
    }
}

/* ---- XLDS.CPY ----------------------------------------------------------------------------------
 */

TEST(copies_are_memmove, "XM-079 XM-100 XM-077")
{
    struct guest *g = guest_make("full");
    static uint8_t image[2][4096]; /* LDS and DRAM */
    static const uint64_t base[2] = {LDS, D};

    for (unsigned round = 0; round < 300 && !harness_failed(); round++) {
        uint64_t r = harness_random();
        unsigned from = r & 1, to = r >> 1 & 1, size = (unsigned)(r >> 8) % 200;
        unsigned a = (unsigned)(r >> 20) % 400, b = (unsigned)(r >> 32) % 400;
        static uint8_t now[4096];

        for (unsigned k = 0; k < 2; k++) {
            randomize(image[k], sizeof image[k]);
            put(g, base[k], image[k], sizeof image[k]);
        }
        memmove(image[to] + b, image[from] + a, size);
        g->hart->x[13] = r;
        CHECK(!with3(g,
                     r >> 2 & 1 ? "xlds.cpy a0, a1, a2, swz=1" : "xlds.cpy a0, a1, a2, async=1",
                     base[to] + b,
                     base[from] + a,
                     size)
                   .taken);
        CHECK_EQ(g->hart->x[10], base[to] + b); /* rd is only read */
        for (unsigned k = 0; k < 2; k++) {
            get(g, base[k], now, sizeof now);
            CHECK_EQ(memcmp(now, image[k], sizeof now), 0);
        }
    }
    CHECK_EQ(events(g), 0);
    guest_free(g);
}

TEST(a_copy_that_faults_moves_nothing, "XM-101 XM-102")
{
    static const struct {
        uint64_t to, from, size;
        unsigned cause;
        uint64_t tval;
    } rows[] = {
        {RAM_END - 16, D, 32, 7, RAM_END},
        {D, RAM_END - 16, 32, 5, RAM_END},
        {NOWHERE, NOWHERE + 8, 8, 5, NOWHERE + 8}, /* the source first */
        {LDS + LDS_BYTES - 1, D, 2, 7, LDS + LDS_BYTES},
        {D, LDS - 1, 4, 5, LDS - 1},
        {D, D + 8, UINT64_MAX, 5, RAM_END},
    };
    struct guest *g = guest_make("full");

    for (unsigned async = 0; async < 2; async++) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            struct facet_trap trap;
            uint64_t near[2];

            guest_store(g, D, 8, 111);
            guest_store(g, RAM_END - 16, 8, 222);
            trap = with3(g,
                         async ? "xlds.cpy a0, a1, a2, async=1" : "xlds.cpy a0, a1, a2",
                         rows[i].to,
                         rows[i].from,
                         rows[i].size);
            CHECK_EQ(trap.taken, !async);
            CHECK(async || trap.cause == rows[i].cause);
            CHECK(async || trap.tval == rows[i].tval);
            near[0] = guest_load(g, D, 8);
            near[1] = guest_load(g, RAM_END - 16, 8);
            CHECK_EQ(near[0], 111);
            CHECK_EQ(near[1], 222);
            CHECK_EQ(events(g), async ? EV_DMA_ERR : EV_INV_MISS);
        }
    }
    /* nothing to copy, nothing to complain about */
    CHECK(!with3(g, "xlds.cpy a0, a1, a2", NOWHERE, NOWHERE, 0).taken);
    CHECK_EQ(events(g), 0);
    /* without XDMA the flag is ignored */
    guest_configure(g, "xmem_cap", 0x1FFF & ~8u);
    CHECK_EQ(with3(g, "xlds.cpy a0, a1, a2, async=1", NOWHERE, D, 8).cause, 7);
    CHECK_EQ(events(g), EV_INV_MISS);
    guest_free(g);
}

TEST(swizzling_is_told_and_moves_the_same_bytes, "XM-079")
{
    struct guest *g = guest_make("full");
    static struct log log;
    const struct facet_unit_event *event;

    log_start(&log, g);
    CHECK(!with3(g, "xlds.cpy a0, a1, a2, swz=1", LDS, D, 24).taken);
    event = log_find(&log, "copy");
    if (CHECK(event != NULL)) {
        CHECK_EQ(event->values[0], LDS);
        CHECK_EQ(event->values[2], 24);
        CHECK_EQ(event->values[3], 1);
        CHECK_EQ(event->values[4], 0);
    }
    CHECK_EQ(log.accesses, 6);
    guest_observe(g, NULL);
    guest_free(g);
}

/* ---- XSWZ --------------------------------------------------------------------------------------
 */

static uint64_t
shape(unsigned tex, unsigned ten, unsigned log2, unsigned width, unsigned height, unsigned pitch)
{
    return tex | ten << 4 | log2 << 8 | (uint64_t)width << 16 | (uint64_t)height << 32 |
           (uint64_t)pitch << 48;
}

/* Element index of (x, y) in Morton order, bit by bit. */
static unsigned morton(unsigned x, unsigned y)
{
    unsigned index = 0;

    for (unsigned bit = 0; bit < 12; bit++) {
        index += (x >> bit & 1) << (2 * bit);
        index += (y >> bit & 1) << (2 * bit + 1);
    }
    return index;
}

/* The order in which tiles are stored, walked instead of computed. */
static unsigned tiled(unsigned width, unsigned height, unsigned x, unsigned y)
{
    unsigned index = 0;

    for (unsigned ty = 0; ty < height; ty += 4) {
        for (unsigned tx = 0; tx < width; tx += 4) {
            for (unsigned r = 0; r < 4; r++) {
                for (unsigned c = 0; c < 4; c++) {
                    if (ty + r == y && tx + c == x) {
                        return index;
                    }
                    index++;
                }
            }
        }
    }
    return index; /* bytes of the whole tensor when (x, y) is nowhere */
}

TEST(canonical_tiles, "XM-119 XM-141 XM-142 XM-120")
{
    struct guest *g = guest_make("full");
    uint8_t out[64], back[64];

    for (unsigned i = 0; i < 64; i++) {
        guest_store(g, D + i, 1, i);
        guest_store(g, D + 0x200 + i, 1, 0xEE);
    }
    CHECK(!with3(g, "xswz.tex2ten a0, a1, a2", D + 0x100, D, shape(0, 0, 0, 8, 8, 0)).taken);
    get(g, D + 0x100, out, 64);
    for (unsigned r = 0; r < 8; r++) {
        for (unsigned c = 0; c < 8; c++) {
            CHECK_EQ(out[16 * ((r / 4) * 2 + c / 4) + 4 * (r % 4) + c % 4], 8 * r + c);
        }
    }
    /* the first tile is 4x4 elements row by row */
    for (unsigned i = 0; i < 16; i++) {
        CHECK_EQ(out[i], 8 * (i / 4) + i % 4);
    }
    CHECK(
        !with3(g, "xswz.ten2tex a0, a1, a2", D + 0x200, D + 0x100, shape(0, 0, 0, 8, 8, 0)).taken);
    get(g, D + 0x200, back, 64);
    for (unsigned i = 0; i < 64; i++) {
        CHECK_EQ(back[i], i);
    }
    CHECK_EQ(events(g), 0);
    guest_free(g);
}

TEST(layouts_of_every_shape_and_back, "XM-119 XM-120 XM-141 XM-142")
{
    struct guest *g = guest_make("full");
    enum { AREA = 8192, TEX = D, TEN = D + 0x10000, BACK = D + 0x20000 };
    static uint8_t tex[AREA], ten[AREA], expect[AREA], back[AREA];

    for (unsigned round = 0; round < 120 && !harness_failed(); round++) {
        uint64_t r = harness_random();
        unsigned mort = r & 1, dense = r >> 1 & 1, log2 = r >> 2 & 3, size = 1u << log2;
        unsigned w = (unsigned)(r >> 8) % 17 + 1, h = (unsigned)(r >> 16) % 13 + 1;
        unsigned pitch = r >> 4 & 1 ? 0 : w * size + (unsigned)(r >> 24) % 9;
        unsigned row = pitch != 0 ? pitch : w * size;
        uint64_t word = shape(mort, dense, log2, w, h, mort ? 0 : pitch);
        unsigned total = dense ? w * h : tiled(w, h, ~0u, 0);

        randomize(tex, AREA);
        put(g, TEX, tex, AREA);
        memset(ten, 0xEE, AREA);
        put(g, TEN, ten, AREA);
        put(g, BACK, ten, AREA);
        memset(expect, 0xEE, AREA);
        memset(expect, 0, (size_t)total * size); /* tile padding */
        for (unsigned y = 0; y < h; y++) {
            for (unsigned x = 0; x < w; x++) {
                unsigned from = mort ? morton(x, y) * size : y * row + x * size;
                unsigned to = (dense ? y * w + x : tiled(w, h, x, y)) * size;

                memcpy(expect + to, tex + from, size);
            }
        }
        CHECK(!with3(g, "xswz.tex2ten a0, a1, a2", TEN, TEX, word).taken);
        CHECK_EQ(g->hart->x[10], TEN);
        get(g, TEN, ten, AREA);
        CHECK_EQ(memcmp(ten, expect, AREA), 0);
        /* back: the elements return, everything between them is untouched */
        CHECK(!with3(g, "xswz.ten2tex a0, a1, a2", BACK, TEN, word).taken);
        memset(expect, 0xEE, AREA);
        for (unsigned y = 0; y < h; y++) {
            for (unsigned x = 0; x < w; x++) {
                unsigned at = mort ? morton(x, y) * size : y * row + x * size;

                memcpy(expect + at, tex + at, size);
            }
        }
        get(g, BACK, back, AREA);
        CHECK_EQ(memcmp(back, expect, AREA), 0);
    }
    CHECK_EQ(events(g), 0);
    guest_free(g);
}

TEST(reserved_shapes_do_nothing, "XM-119")
{
    static const uint64_t bad[] = {
        UINT64_C(2),      /* texture layout */
        UINT64_C(2) << 4, /* tensor layout */
        UINT64_C(1) << 10,
        UINT64_C(1) << 12,
        UINT64_C(1) << 28,
        UINT64_C(1) << 44,
    };
    struct guest *g = guest_make("full");

    guest_store(g, D, 8, 5);
    guest_store(g, LDS, 8, 77);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(!with3(g, "xswz.tex2ten a0, a1, a2", LDS, D, bad[i] | shape(0, 0, 0, 4, 4, 0)).taken);
        CHECK_EQ(events(g), EV_INV_MISS);
        CHECK_EQ(guest_load(g, LDS, 8), 77);
    }
    CHECK(!with3(g, "xswz.tex2ten a0, a1, a2", LDS, D, shape(0, 0, 0, 0, 4, 0)).taken);
    CHECK_EQ(events(g), EV_INV_MISS);
    CHECK(!with3(g, "xswz.ten2tex a0, a1, a2", LDS, D, shape(0, 0, 0, 4, 0, 0)).taken);
    CHECK_EQ(events(g), EV_INV_MISS);
    CHECK_EQ(guest_load(g, LDS, 8), 77);
    guest_free(g);
}

TEST(layout_conversions_probe_the_elements_they_touch, "XM-119 XM-120")
{
    struct guest *g = guest_make("full");
    /* two rows of four bytes, 64 apart: the second row is the last that fits */
    uint64_t word = shape(0, 1, 0, 4, 2, 64);

    CHECK(!with3(g, "xswz.tex2ten a0, a1, a2", D, RAM_END - 68, word).taken);
    CHECK_EQ(with3(g, "xswz.tex2ten a0, a1, a2", D, RAM_END - 67, word).tval, RAM_END);
    CHECK_EQ(with3(g, "xswz.ten2tex a0, a1, a2", RAM_END - 64, D, word).tval, RAM_END);
    CHECK_EQ(with3(g, "xswz.ten2tex a0, a1, a2", NOWHERE, NOWHERE + 9, word).tval, NOWHERE + 9);
    CHECK_EQ(events(g), EV_INV_MISS);
    /* padding counts as destination of tex2ten and not as source of ten2tex */
    word = shape(0, 0, 0, 1, 1, 0);
    guest_store(g, RAM_END - 1, 1, 9);
    CHECK_EQ(with3(g, "xswz.tex2ten a0, a1, a2", RAM_END - 1, D, word).cause, 7);
    CHECK_EQ(guest_load(g, RAM_END - 1, 1), 9);
    CHECK(!with3(g, "xswz.ten2tex a0, a1, a2", D, RAM_END - 1, word).taken);
    CHECK_EQ(guest_load(g, D, 1), 9);
    /* the lowest bad byte, although Morton order visits another one first */
    CHECK_EQ(with3(g, "xswz.tex2ten a0, a1, a2", D, RAM_END - 8, shape(1, 1, 2, 4, 2, 0)).tval,
             RAM_END);
    guest_free(g);
}

/* ---- ZVC ---------------------------------------------------------------------------------------
 */

/* A stream made by the rule of R-XM-22. */
static size_t zvc_make(const uint8_t *raw, uint32_t size, uint8_t *stream)
{
    size_t at = 16;

    for (uint32_t i = 0; i < size; i += 8) {
        size_t mask_at = at++;

        stream[mask_at] = 0;
        for (uint32_t k = i; k < i + 8; k++) {
            if (k < size && raw[k] != 0) {
                stream[mask_at] |= (uint8_t)(1 << (k - i));
                stream[at++] = raw[k];
            }
        }
    }
    facet_store_le(stream, 4, 0x3143565A);
    facet_store_le(stream + 4, 4, size);
    facet_store_le(stream + 8, 4, at - 16);
    facet_store_le(stream + 12, 4, 0);
    return at;
}

/* A decoder that trusts nothing; false for a stream that is not `size` raw bytes. */
static bool zvc_read(const uint8_t *stream, size_t stream_size, uint8_t *raw, uint32_t size)
{
    size_t at = 16, payload = facet_load_le(stream + 8, 4);
    unsigned mask = 0;

    if (memcmp(stream, "ZVC1", 4) != 0 || facet_load_le(stream + 4, 4) != size ||
        facet_load_le(stream + 12, 4) != 0 || payload + 16 > stream_size) {
        return false;
    }
    for (uint32_t i = 0; i < size; i++) {
        if (i % 8 == 0) {
            if (at >= payload + 16) {
                return false;
            }
            mask = stream[at++];
        }
        raw[i] = 0;
        if (mask & 1) {
            if (at >= payload + 16) {
                return false;
            }
            raw[i] = stream[at++];
        }
        mask >>= 1;
        if (i + 1 == size && mask != 0) {
            return false;
        }
    }
    return at == payload + 16;
}

enum { RAW = D, STREAM = D + 0x4000, OUT = D + 0x8000 };

static void set_comp(struct guest *g, uint64_t value)
{
    guest_csrw(g, FACET_CSR_CAP_XMEM_COMP_CTL, value);
}

TEST(streams_are_zvc_and_come_back, "XM-121 XM-122")
{
    struct guest *g = guest_make("full");
    static uint8_t raw[4096], stream[8192], expect[8192], out[4096];

    for (unsigned round = 0; round < 60 && !harness_failed(); round++) {
        uint64_t r = harness_random();
        unsigned kind = round < 3 ? round : (unsigned)r % 3;
        uint32_t size = round < 3 ? 4096 : (uint32_t)(r >> 8) % 300;
        bool by_operand = r >> 4 & 1;
        size_t length;

        for (uint32_t i = 0; i < size; i++) {
            uint64_t v = harness_random();

            raw[i] = kind == 0 ? (uint8_t)v : kind == 1 ? 0 : v >> 8 & 3 ? 0 : (uint8_t)v;
        }
        put(g, RAW, raw, sizeof raw);
        memset(stream, 0xEE, sizeof stream);
        memset(expect, 0xEE, sizeof expect);
        put(g, STREAM, stream, sizeof stream);
        length = zvc_make(raw, size, expect);
        set_comp(g, by_operand ? 0 : 1);
        CHECK(!with3(g,
                     by_operand ? "xmem.dstorec (a0), a1, a2, mode=1" : "xmem.dstorec (a0), a1, a2",
                     STREAM,
                     RAW,
                     size)
                   .taken);
        get(g, STREAM, stream, sizeof stream);
        CHECK_EQ(memcmp(stream, expect, sizeof stream), 0); /* nothing behind it either */
        CHECK(zvc_read(stream, length, out, size));
        CHECK_EQ(memcmp(out, raw, size), 0);
        memset(out, 0xEE, sizeof out);
        put(g, OUT, out, sizeof out);
        CHECK(!with3(g,
                     by_operand ? "xmem.dloadc a0, (a1), a2, mode=1" : "xmem.dloadc a0, (a1), a2",
                     OUT,
                     STREAM,
                     size)
                   .taken);
        CHECK_EQ(g->hart->x[10], OUT);
        get(g, OUT, out, sizeof out);
        CHECK_EQ(memcmp(out, raw, size), 0);
        CHECK(size == 4096 || out[size] == 0xEE);
        CHECK_EQ(events(g), 0);
    }
    guest_free(g);
}

TEST(off_reserved_and_missing_modes_copy, "XM-122 XM-123 XM-136 XM-145")
{
    static const struct {
        uint64_t cap, control;
        unsigned mode;
        bool error, stream;
    } rows[] = {
        {0x1FFF, 0, 0, false, false},     /* off */
        {0x1FFF, 0x100, 0, false, false}, /* off: the dictionary does not matter */
        {0x1FFF, 1, 0, false, true},
        {0x1FFF, 1 | 0xF0, 0, false, true}, /* LEVEL is a hint */
        {0x1FFF, 0x101, 0, true, false},    /* dictionary 1 */
        {0x1FFF, 0x100, 1, true, false},
        {0x1FFF, 2, 0, false, false}, /* stored as 0 */
        {0x1FFF, 1, 2, true, false},  /* reserved operand */
        {0x1FFF, 1, 3, true, false},
        {0x1EFF, 1, 0, true, false}, /* no COMPRESS */
        {0x1EFF, 1, 1, true, false},
        {0x0001, 0, 0, true, false}, /* min */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct guest *g = guest_make(rows[i].cap == 1 ? "min" : "full");
        char text[64];

        guest_configure(g, "xmem_cap", rows[i].cap);
        set_comp(g, rows[i].control);
        guest_store(g, RAW, 8, UINT64_C(0x0000000700000005));
        guest_store(g, STREAM, 8, 0);
        (void)snprintf(text, sizeof text, "xmem.dstorec (a0), a1, a2, mode=%u", rows[i].mode);
        CHECK(!with3(g, text, STREAM, RAW, 8).taken);
        CHECK_EQ(guest_load(g, STREAM, 8),
                 rows[i].stream ? UINT64_C(0x000000083143565A) : UINT64_C(0x0000000700000005));
        CHECK_EQ(events(g), rows[i].error ? EV_COMP_ERR : 0);
        (void)snprintf(text, sizeof text, "xmem.dloadc a0, (a1), a2, mode=%u", rows[i].mode);
        CHECK(!with3(g, text, OUT, STREAM, 8).taken);
        CHECK_EQ(guest_load(g, OUT, 8),
                 UINT64_C(0x0000000700000005)); /* a round trip in all cases */
        CHECK_EQ(events(g), rows[i].error ? EV_COMP_ERR : 0);
        guest_free(g);
    }
}

TEST(broken_streams_are_refused_whole, "XM-121")
{
    struct guest *g = guest_make("full");
    static uint8_t raw[64], stream[256], out[64], decoded[64];
    unsigned refused = 0;

    set_comp(g, 1);
    for (unsigned round = 0; round < 400 && !harness_failed(); round++) {
        uint64_t r = harness_random();
        uint32_t size = (uint32_t)(r >> 8) % 40 + 1;
        size_t length;
        bool good;

        memset(stream, 0, sizeof stream);
        for (uint32_t i = 0; i < size; i++) {
            uint64_t v = harness_random();

            raw[i] = v >> 8 & 1 ? 0 : (uint8_t)v;
        }
        length = zvc_make(raw, size, stream);
        stream[r % 4 == 0 ? r >> 16 & 15 : (r >> 16) % length] ^= (uint8_t)(1u << (r >> 32 & 7));
        if (facet_load_le(stream + 8, 4) > 200) {
            continue; /* the payload would leave the picture */
        }
        memset(out, 0xEE, sizeof out);
        put(g, STREAM, stream, sizeof stream);
        put(g, OUT, out, sizeof out);
        good = zvc_read(stream, sizeof stream, decoded, size);
        refused += !good;
        CHECK(!with3(g, "xmem.dloadc a0, (a1), a2", OUT, STREAM, size).taken);
        CHECK_EQ(events(g), good ? 0 : EV_COMP_ERR);
        get(g, OUT, out, sizeof out);
        for (uint32_t i = 0; i < sizeof out; i++) {
            CHECK_EQ(out[i], good && i < size ? decoded[i] : 0xEE);
        }
    }
    CHECK(refused > 50);
    guest_free(g);
}

TEST(mask_bits_behind_the_end_are_refused, "XM-121")
{
    struct guest *g = guest_make("full");
    /* three raw bytes; the mask claims four, and the payload length agrees with the mask */
    static const uint8_t stream[] = {'Z', 'V', 'C', '1', 3, 0,    0, 0, 5, 0, 0,
                                     0,   0,   0,   0,   0, 0x0F, 1, 2, 3, 4};

    set_comp(g, 1);
    put(g, STREAM, stream, sizeof stream);
    guest_store(g, OUT, 8, 99);
    CHECK(!with3(g, "xmem.dloadc a0, (a1), a2", OUT, STREAM, 3).taken);
    CHECK_EQ(events(g), EV_COMP_ERR);
    CHECK_EQ(guest_load(g, OUT, 8), 99);
    guest_free(g);
}

TEST(compressed_ranges_are_probed_before_anything_moves, "XM-121")
{
    struct guest *g = guest_make("full");
    static uint8_t stream[64];

    set_comp(g, 1);
    memset(stream, 0, sizeof stream);
    (void)zvc_make((const uint8_t *)"abcdefgh", 8, stream); /* 16 + 9 bytes */
    put(g, RAW, "abcdefgh", 8);
    guest_store(g, RAM_END - 24, 8, 55);
    CHECK_EQ(with3(g, "xmem.dstorec (a0), a1, a2", RAM_END - 24, RAW, 8).tval, RAM_END);
    CHECK_EQ(guest_load(g, RAM_END - 24, 8), 55);
    CHECK(!with3(g, "xmem.dstorec (a0), a1, a2", RAM_END - 25, RAW, 8).taken);
    CHECK_EQ(with3(g, "xmem.dstorec (a0), a1, a2", NOWHERE, NOWHERE + 4, 8).cause, 5);
    CHECK_EQ(with3(g, "xmem.dloadc a0, (a1), a2", D, RAM_END - 15, 8).tval, RAM_END);
    put(g, RAM_END - 24, stream, 24); /* the payload runs out of memory */
    CHECK_EQ(with3(g, "xmem.dloadc a0, (a1), a2", D, RAM_END - 24, 8).tval, RAM_END);
    put(g, STREAM, stream, sizeof stream);
    CHECK_EQ(with3(g, "xmem.dloadc a0, (a1), a2", NOWHERE, STREAM, 8).cause, 7);
    CHECK_EQ(events(g), EV_INV_MISS);
    /* a stream over its own raw bytes cannot work */
    CHECK(!with3(g, "xmem.dstorec (a0), a1, a2", RAW, RAW, 8).taken);
    CHECK_EQ(events(g), EV_COMP_ERR);
    CHECK_EQ(guest_load(g, RAW, 1), 'a');
    CHECK(!with3(g, "xmem.dloadc a0, (a1), a2", STREAM + 20, STREAM, 8).taken);
    CHECK_EQ(events(g), EV_COMP_ERR);
    guest_free(g);
}
