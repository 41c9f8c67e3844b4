/* Graphics contexts (tile-semantics.md 14, 15): slots, tokens, every check and the order of checks,
 * and what queue commands override. */
#include "base/float.h"
#include "rig.h"

#include <math.h>

enum { AT = 0x200, BLOCK = 0x1000 };

static uint32_t words_at(struct rig *r, uint32_t at, const uint32_t *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        rig_word(r, at + 4 * i, words[i]);
    }
    return rig_at(at);
}

/* The instruction failed with `code` and left the context alone. */
static void refused(const struct rig *r,
                    const struct facet_raster_context *before,
                    struct facet_raster_result x,
                    unsigned code)
{
    CHECK_EQ(x.rd, 0xFFFFFFFF);
    CHECK_EQ(x.code, code);
    CHECK_EQ(x.count, 1);
    CHECK(memcmp(before, &r->context, sizeof *before) == 0);
}

TEST(slots_are_given_in_turn, "TILE-358 TILE-360 TILE-414 TILE-415 TILE-416 TILE-439 TILE-440")
{
    struct rig r;
    uint32_t s[16], g[32], p[16] = {0};

    rig_open(&r);
    rig_rstate(s, 8, 8);
    rig_gstate(g, 16);
    for (unsigned i = 0; i < 40; i++) {
        s[8] = i;
        p[12] = 100 + i;
        CHECK_EQ(rig_load_rstate(&r, s), i % 16);
        CHECK_EQ(r.context.current[FACET_RASTER_RSTATE], i % 16);
        CHECK_EQ(r.context.rstate[i % 16][8], i);
        if (i % 2 == 0) {
            CHECK_EQ(rig_load_gparam(&r, p), i / 2 % 16);
            CHECK_EQ(r.context.gparam[i / 2 % 16][12], 100 + i);
        }
        if (i % 5 == 0) {
            CHECK_EQ(rig_load_gstate(&r, g), i / 5);
        }
    }
    CHECK_EQ(r.context.valid[FACET_RASTER_RSTATE], 0xFFFF);
    CHECK_EQ(r.context.valid[FACET_RASTER_GSTATE], 0xFF);
    CHECK_EQ(r.context.token, 0);
    CHECK(facet_raster_context_valid(&r.context));
    /* LOAD_* names the slot: current moves, next does not. */
    CHECK_EQ(
        facet_raster_load(&r.unit, &r.context, FACET_RASTER_GSTATE, 13, words_at(&r, AT, g, 32)).rd,
        13);
    CHECK_EQ(r.context.current[FACET_RASTER_GSTATE], 13);
    CHECK_EQ(r.context.next[FACET_RASTER_GSTATE], 8);
    CHECK_EQ(r.context.valid[FACET_RASTER_GSTATE], 0x20FF);
    facet_raster_reset(&r.context);
    CHECK_EQ(r.context.valid[0] | r.context.valid[1] | r.context.valid[2], 0);
    CHECK_EQ(r.context.current[0], FACET_RASTER_NONE);
    CHECK(facet_raster_context_valid(&r.context));
    r.context.next[1] = 16;
    CHECK(!facet_raster_context_valid(&r.context));
    rig_close(&r);
}

/* What a snapshot may not hold: every other word of a state is legal once. */
TEST(contexts_that_no_load_makes, "")
{
    struct rig r;
    struct facet_raster_context good;
    uint32_t s[16];

    rig_open(&r);
    rig_rstate(s, 8, 8);
    CHECK_EQ(rig_load_rstate(&r, s), 0);
    good = r.context;
    for (unsigned slot = 0; slot < 16; slot++) {
        memset(r.context.rstate[slot], 0xFF, sizeof r.context.rstate[slot]);
        CHECK(!facet_raster_context_valid(&r.context));
        r.context = good;
    }
    for (unsigned kind = 0; kind < FACET_RASTER_KINDS; kind++) {
        r.context.current[kind] = 16; /* no slot */
        CHECK(!facet_raster_context_valid(&r.context));
        r.context.current[kind] = 1; /* one that was never loaded */
        CHECK(!facet_raster_context_valid(&r.context));
        r.context.current[kind] = FACET_RASTER_NONE; /* though slots were */
        r.context.valid[kind] = 2;
        CHECK(!facet_raster_context_valid(&r.context));
        r.context = good;
    }
    r.context.has_setup = 2;
    CHECK(!facet_raster_context_valid(&r.context));
    CHECK(facet_raster_context_valid(&good));
    rig_close(&r);
}

TEST(descriptor_sizes_and_alignment, "")
{
    typedef struct facet_raster_result instruction(
        const struct facet_raster_unit *, struct facet_raster_context *, uint32_t);
    static const struct {
        instruction *run;
        uint32_t size, align;
        uint32_t first; /* word 0, where it matters */
        const char *size_row, *align_row;
    } rows[] = {
        {facet_raster_rstate, 64, 32, 0, "TILE-447", "TILE-448"},
        {facet_raster_gstate, 128, 64, 0, "TILE-453", "TILE-454"},
        {facet_raster_gparam, 64, 32, 0, "TILE-455", "TILE-456"},
        {facet_raster_rsetup, 96, 32, 0, "TILE-449", "TILE-450"},
        {facet_raster_rdraw, 16, 16, 0xFFFF, "TILE-451", "TILE-452"},
        {facet_raster_rrect, 16, 16, 0x1FFFF, "TILE-451", "TILE-452"},
        {facet_raster_gdraw, 24, 16, 0, "TILE-457", "TILE-458"},
    };
    struct rig r;
    uint32_t s[16], g[32];

    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct facet_raster_context before;
        const uint32_t last = (RIG_SIZE - rows[i].size) / rows[i].align * rows[i].align;

        rig_open(&r);
        rig_rstate(s, 8, 8);
        rig_load_rstate(&r, s);
        rig_gstate(g, 16);
        rig_load_gstate(&r, g);
        facet_raster_rsetup(&r.unit, &r.context, rig_at(BLOCK));
        before = r.context;
        harness_row(rows[i].align_row); /* alignment comes before presence */
        refused(&r, &before, rows[i].run(&r.unit, &r.context, 4), FACET_RASTER_BAD_ALIGN);
        refused(&r,
                &before,
                rows[i].run(&r.unit, &r.context, rig_at(AT + rows[i].align / 2)),
                FACET_RASTER_BAD_ALIGN);
        harness_row("TILE-356"); /* the pointer that the instruction is given is looked at */
        refused(&r, &before, rows[i].run(&r.unit, &r.context, 0), FACET_RASTER_BAD_MEM);
        refused(
            &r, &before, rows[i].run(&r.unit, &r.context, rig_at(RIG_SIZE)), FACET_RASTER_BAD_MEM);
        refused(&r,
                &before,
                rows[i].run(&r.unit, &r.context, rig_at(0) - rows[i].align),
                FACET_RASTER_BAD_MEM);
        /* The last place where it fits; one step later it does not, if its size is what we think.
         */
        harness_row(rows[i].size_row);
        rig_word(&r, last, rows[i].first);
        if (rows[i].run == facet_raster_gdraw) {
            rig_word(&r, last + 16, 0xFFFFFFFF);
        }
        CHECK_EQ(rows[i].run(&r.unit, &r.context, rig_at(last)).code, 0);
        before = r.context;
        r.unit.vram_size = last + rows[i].size - 1;
        refused(&r, &before, rows[i].run(&r.unit, &r.context, rig_at(last)), FACET_RASTER_BAD_MEM);
        rig_close(&r);
    }
}

TEST(unknown_formats, "TILE-367 TILE-370 TILE-579")
{
    static const struct {
        unsigned word;
        uint32_t value;
        bool good;
    } rows[] = {
        {2, 1, true},
        {2, 2, false},
        {2, 0xFFFFFF00, true},
        {2, 0xFF, false},
        {6, 2 | 7 << 8, true},
        {6, 3, false},
        {6, 0xFFFFFF01, true},
        {7, 2, true},
        {7, 3, false},
        {7, 0xABCD01, true},
    };
    struct rig r;

    rig_open(&r);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t s[16];
        struct facet_raster_context before;

        rig_rstate(s, 8, 8);
        s[rows[i].word] = rows[i].value;
        before = r.context;
        if (rows[i].good) {
            CHECK(rig_load_rstate(&r, s) < 16);
        } else {
            refused(&r,
                    &before,
                    facet_raster_rstate(&r.unit, &r.context, words_at(&r, AT, s, 16)),
                    FACET_RASTER_BAD_FORMAT);
        }
    }
    rig_close(&r);
}

TEST(gstate_copies_its_blocks, "TILE-426 TILE-409")
{
    struct rig r;
    uint32_t g[32];
    struct facet_raster_context before;

    rig_open(&r);
    rig_gstate(g, 16);
    g[20] = rig_at(BLOCK);
    g[26] = 3; /* not looked at without USER_PLANE */
    for (unsigned i = 0; i < 9; i++) {
        rig_word(&r, BLOCK + 4 * i, 1000 + i);
    }
    CHECK_EQ(rig_load_gstate(&r, g), 0);
    CHECK_EQ(r.context.normal[0][8], 1008);
    rig_word(&r, BLOCK + 32, 7);
    CHECK_EQ(r.context.normal[0][8], 1008);
    before = r.context;
    g[3] = 16;
    refused(&r,
            &before,
            facet_raster_gstate(&r.unit, &r.context, words_at(&r, AT, g, 32)),
            FACET_RASTER_BAD_ALIGN);
    g[26] = 4;
    refused(&r,
            &before,
            facet_raster_gstate(&r.unit, &r.context, words_at(&r, AT, g, 32)),
            FACET_RASTER_BAD_MEM);
    g[26] = rig_at(BLOCK + 64);
    g[20] = rig_at(BLOCK + 2);
    refused(&r,
            &before,
            facet_raster_gstate(&r.unit, &r.context, words_at(&r, AT, g, 32)),
            FACET_RASTER_BAD_ALIGN);
    g[20] = rig_at(RIG_SIZE - 32);
    refused(&r,
            &before,
            facet_raster_gstate(&r.unit, &r.context, words_at(&r, AT, g, 32)),
            FACET_RASTER_BAD_MEM);
    g[20] = rig_at(RIG_SIZE - 36);
    CHECK_EQ(rig_load_gstate(&r, g), 1);
    rig_close(&r);
}

/* ---- draws ---- */

static const struct rig_vertex triangle[3] = {
    {0, 0, 0, 1, 0, 0, 0xFF112233},
    {8, 0, 0, 1, 0, 0, 0xFF112233},
    {0, 8, 0, 1, 0, 0, 0xFF112233},
};

TEST(rsetup_copies_and_draws_nothing, "TILE-361 TILE-362 TILE-386 TILE-574 TILE-449")
{
    struct rig r;
    uint32_t s[16], draw[4] = {0xFFFF, 0, 0, 0};
    struct facet_raster_context before;

    rig_open(&r);
    rig_rstate(s, 8, 8);
    rig_load_rstate(&r, s);
    rig_put_rdraw(&r, triangle, 0);
    before = r.context;
    words_at(&r, AT, draw, 4);
    refused(
        &r, &before, facet_raster_rdraw(&r.unit, &r.context, rig_at(AT)), FACET_RASTER_BAD_STATE);
    CHECK_EQ(facet_raster_rsetup(&r.unit, &r.context, rig_at(RIG_VERTICES)).rd, 1);
    for (unsigned i = 0; i < 3; i++) { /* vertex i at offset 32 i: x and y in words 0 and 1 */
        CHECK_ID("TILE-459", r.context.setup[8 * i] == rig_read(&r, RIG_VERTICES + 32 * i));
        CHECK_ID("TILE-459", r.context.setup[8 * i + 1] == rig_read(&r, RIG_VERTICES + 32 * i + 4));
    }
    CHECK_EQ(rig_pixel(&r, 8, 0, 0), 0);
    memset(r.vram + RIG_VERTICES, 0, 96); /* later stores do not matter */
    CHECK_EQ(facet_raster_rdraw(&r.unit, &r.context, rig_at(AT)).rd, 2);
    CHECK_EQ(rig_pixel(&r, 8, 0, 0), 0xFF112233);
    CHECK_EQ(r.context.token, 2);
    /* a block by pointer wins, and is checked */
    draw[1] = rig_at(RIG_VERTICES + 16);
    words_at(&r, AT, draw, 4);
    before = r.context;
    refused(
        &r, &before, facet_raster_rdraw(&r.unit, &r.context, rig_at(AT)), FACET_RASTER_BAD_ALIGN);
    draw[1] = rig_at(RIG_SIZE - 64);
    words_at(&r, AT, draw, 4);
    refused(&r, &before, facet_raster_rdraw(&r.unit, &r.context, rig_at(AT)), FACET_RASTER_BAD_MEM);
    rig_close(&r);
}

/* R-TILE-131: a context holds one setup. Two of them, then two draws of "the last setup": the
 * second triangle twice, of the first no pixel. */
TEST(the_last_rsetup_is_drawn, "TILE-361 TILE-574")
{
    static const struct rig_vertex other[3] = {
        {8, 8, 0, 1, 0, 0, 0x40000010},
        {8, 0, 0, 1, 0, 0, 0x40000010},
        {0, 8, 0, 1, 0, 0, 0x40000010},
    };
    struct rig r;
    uint32_t s[16], draw[4] = {0xFFFF, 0, 0, 0};

    rig_open(&r);
    rig_rstate(s, 8, 8);
    rig_load_rstate(&r, s);
    rig_put_rdraw(&r, triangle, 0);
    CHECK_EQ(facet_raster_rsetup(&r.unit, &r.context, rig_at(RIG_VERTICES)).rd, 1);
    rig_put_rdraw(&r, other, 0);
    CHECK_EQ(facet_raster_rsetup(&r.unit, &r.context, rig_at(RIG_VERTICES)).rd, 2);
    words_at(&r, AT, draw, 4);
    for (uint32_t token = 3; token <= 4; token++) {
        CHECK_EQ(facet_raster_rdraw(&r.unit, &r.context, rig_at(AT)).rd, token);
        CHECK_EQ(rig_pixel(&r, 8, 0, 0), 0);
        CHECK_EQ(rig_pixel(&r, 8, 7, 7), 0x40000010);
        memset(r.vram + RIG_COLOR, 0, 4 * 8 * 8);
    }
    rig_close(&r);
}

TEST(states_that_draws_name, "TILE-387 TILE-388")
{
    struct rig r;
    uint32_t s[16], draw[4] = {0xFFFF, 0, 0, 0}, rect[4] = {0x1FFFF, 0, 0x00010001, 7};
    struct facet_raster_context before;

    rig_open(&r);
    rig_put_rdraw(&r, triangle, 0);
    before = r.context;
    /* none loaded: BAD_STATE, but the kind of primitive is looked at first */
    refused(&r,
            &before,
            facet_raster_rdraw(&r.unit, &r.context, words_at(&r, AT, draw, 4)),
            FACET_RASTER_BAD_STATE);
    draw[0] |= 1 << 16;
    refused(&r,
            &before,
            facet_raster_rdraw(&r.unit, &r.context, words_at(&r, AT, draw, 4)),
            FACET_RASTER_BAD_DESC);
    rect[0] = 0xFFFF;
    refused(&r,
            &before,
            facet_raster_rrect(&r.unit, &r.context, words_at(&r, AT, rect, 4)),
            FACET_RASTER_BAD_DESC);
    rig_rstate(s, 8, 8);
    rig_load_rstate(&r, s);
    s[0] = rig_at(RIG_DEPTH);
    rig_load_rstate(&r, s);
    /* by number */
    rect[0] = 0x10000;
    CHECK_EQ(facet_raster_rrect(&r.unit, &r.context, words_at(&r, AT, rect, 4)).code, 0);
    CHECK_EQ(rig_read(&r, RIG_COLOR), 7);
    CHECK_EQ(rig_read(&r, RIG_DEPTH), 0);
    rect[0] = 0x1FFFF;
    rect[3] = 8;
    CHECK_EQ(facet_raster_rrect(&r.unit, &r.context, words_at(&r, AT, rect, 4)).code, 0);
    CHECK_EQ(rig_read(&r, RIG_DEPTH), 8);
    /* the queue's arg1 names another one, or none */
    rect[3] = 9;
    words_at(&r, AT, rect, 4);
    CHECK_EQ(facet_raster_rrect_command(&r.unit, &r.context, rig_at(AT), 0, 0).code, 0);
    CHECK_EQ(rig_read(&r, RIG_COLOR), 9);
    CHECK_EQ(rig_read(&r, RIG_DEPTH), 8);
    before = r.context;
    refused(&r,
            &before,
            facet_raster_rrect_command(&r.unit, &r.context, rig_at(AT), 2, 0),
            FACET_RASTER_BAD_STATE);
    CHECK_EQ(facet_raster_rrect_command(&r.unit, &r.context, rig_at(AT), 16, 0).code, 0);
    CHECK_EQ(rig_read(&r, RIG_DEPTH), 9);
    before = r.context;
    for (uint32_t id = 2; id < 0xFFFF; id += id < 20 ? 1 : 997) {
        rect[0] = 0x10000 | id;
        refused(&r,
                &before,
                facet_raster_rrect(&r.unit, &r.context, words_at(&r, AT, rect, 4)),
                FACET_RASTER_BAD_STATE);
    }
    rig_close(&r);
}

TEST(command_flags_are_added, "")
{
    struct rig r;
    uint32_t s[16], rect[4] = {0xFFFF, 0, 0x00010001, 0x55667788};

    rig_open(&r);
    rig_rstate(s, 8, 8);
    s[8] = 0x12345678;
    rig_load_rstate(&r, s);
    words_at(&r, AT, rect, 4);
    /* RECT and STATE_COLOR come from arg2; its upper half is nothing */
    CHECK_EQ(
        facet_raster_rrect_command(&r.unit, &r.context, rig_at(AT), 99, 0xFFFF0000 | 1 | 128).code,
        0);
    CHECK_EQ(rig_read(&r, RIG_COLOR), 0x12345678);
    /* RDRAW: another block, and RECT makes it a contradiction */
    rig_put_rdraw(&r, triangle, 0);
    rig_word(&r, RIG_DESC + 4, rig_at(RIG_SIZE)); /* its own pointer is bad */
    CHECK_EQ(
        facet_raster_rdraw_command(&r.unit, &r.context, rig_at(RIG_DESC), rig_at(RIG_VERTICES), 0)
            .code,
        0);
    CHECK_EQ(rig_pixel(&r, 8, 1, 1), 0xFF112233);
    CHECK_EQ(facet_raster_rdraw_command(&r.unit, &r.context, rig_at(RIG_DESC), 0, 0).code,
             FACET_RASTER_BAD_MEM);
    CHECK_EQ(
        facet_raster_rdraw_command(&r.unit, &r.context, rig_at(RIG_DESC), rig_at(RIG_VERTICES), 1)
            .code,
        FACET_RASTER_BAD_DESC);
    rig_close(&r);
}

TEST(samplers_are_checked_when_used, "TILE-378 TILE-391")
{
    struct rig r;
    uint32_t s[16];

    rig_open(&r);
    rig_rstate(s, 8, 8);
    s[9] = 0xFFFFFF00 | 0xE0 | 31; /* [4:0] count */
    s[12] = 2;
    rig_load_rstate(&r, s);
    CHECK_EQ(rig_rdraw(&r, triangle, 0).code, 0); /* not textured */
    CHECK_EQ(rig_rdraw(&r, triangle, 2).code, FACET_RASTER_BAD_SAMPLER);
    CHECK_EQ(rig_rrect(&r, 0, 0, 1, 1, 0, 2).code, FACET_RASTER_BAD_SAMPLER);
    r.samplers[31][0] = rig_at(RIG_TEXTURE);
    r.samplers[31][2] = r.samplers[31][3] = 1;
    CHECK_EQ(rig_rdraw(&r, triangle, 2).code, 0);
    r.samplers[31][4] = 3;
    CHECK_EQ(rig_rdraw(&r, triangle, 2).code, FACET_RASTER_BAD_SAMPLER);
    r.samplers[31][4] = 0;
    r.samplers[31][3] = 0x10000;
    CHECK_EQ(rig_rdraw(&r, triangle, 2).code, FACET_RASTER_BAD_SAMPLER);
    /* ... and last: slots and blocks come first. */
    rig_put_rdraw(&r, triangle, 2);
    CHECK_EQ(facet_raster_rdraw_command(&r.unit, &r.context, rig_at(RIG_DESC), rig_at(16), 0).code,
             FACET_RASTER_BAD_ALIGN);
    CHECK_EQ(
        facet_raster_rdraw_command(&r.unit, &r.context, rig_at(RIG_DESC), rig_at(RIG_SIZE), 0).code,
        FACET_RASTER_BAD_MEM);
    CHECK_EQ(facet_raster_rrect_command(&r.unit, &r.context, rig_at(RIG_DESC), 9, 1).code,
             FACET_RASTER_BAD_STATE);
    rig_close(&r);
}

TEST(gdraw_slots_and_overrides, "TILE-417 TILE-420 TILE-438 TILE-439 TILE-440 TILE-441")
{
    struct rig r;
    uint32_t s[16], g[32], p[16] = {0}, draw[6] = {0, 0, 3, 0, 0xFFFFFFFF, 0};
    struct facet_raster_context before;

    rig_open(&r);
    rig_rstate(s, 8, 8);
    rig_gstate(g, 16);
    before = r.context;
    refused(&r,
            &before,
            facet_raster_gdraw(&r.unit, &r.context, words_at(&r, AT, draw, 6)),
            FACET_RASTER_BAD_STATE);
    rig_load_rstate(&r, s);
    before = r.context;
    refused(&r,
            &before,
            facet_raster_gdraw(&r.unit, &r.context, words_at(&r, AT, draw, 6)),
            FACET_RASTER_BAD_STATE);
    g[4] = facet_float_bits(0); /* flattens everything, unless CU_ASSIST skips the transform */
    rig_load_gstate(&r, g);
    for (unsigned i = 0; i < 3; i++) {
        rig_float(&r, RIG_VERTICES + 16 * i, i == 1 ? 1.0f : -1.0f);
        rig_float(&r, RIG_VERTICES + 16 * i + 4, i == 2 ? 1.0f : -1.0f);
        rig_float(&r, RIG_VERTICES + 16 * i + 12, 1);
    }
    CHECK_EQ(facet_raster_gdraw(&r.unit, &r.context, rig_at(AT)).rd, 1); /* default GPARAM */
    CHECK_EQ(rig_pixel(&r, 8, 1, 6), 0);
    CHECK_EQ(facet_raster_gdraw_command(&r.unit, &r.context, rig_at(AT), 1).rd, 2);
    CHECK_EQ(rig_pixel(&r, 8, 1, 6), 0xFFFFFFFF);
    /* bit 1 makes a strip of any topology */
    draw[3] = 9;
    words_at(&r, AT, draw, 6);
    before = r.context;
    refused(
        &r, &before, facet_raster_gdraw(&r.unit, &r.context, rig_at(AT)), FACET_RASTER_BAD_FORMAT);
    CHECK_EQ(facet_raster_gdraw_command(&r.unit, &r.context, rig_at(AT), 2).code, 0);
    /* slots by number */
    draw[3] = 0;
    draw[4] = 0 | 0 << 8 | 0 << 16;
    before = r.context;
    refused(&r,
            &before,
            facet_raster_gdraw(&r.unit, &r.context, words_at(&r, AT, draw, 6)),
            FACET_RASTER_BAD_STATE); /* GPARAM 0 was never loaded */
    rig_load_gparam(&r, p);
    CHECK_EQ(facet_raster_gdraw(&r.unit, &r.context, words_at(&r, AT, draw, 6)).code, 0);
    for (unsigned shift = 0; shift <= 16; shift += 8) {
        draw[4] = 16u << shift;
        before = r.context;
        refused(&r,
                &before,
                facet_raster_gdraw(&r.unit, &r.context, words_at(&r, AT, draw, 6)),
                FACET_RASTER_BAD_STATE);
    }
    rig_close(&r);
}

TEST(rectangles, "TILE-364 TILE-575")
{
    struct rig r;
    uint32_t s[16];

    rig_open(&r);
    rig_rstate(s, 8, 8);
    rig_load_rstate(&r, s);
    CHECK_EQ(rig_rrect(&r, -2, 6, 4, 9, 0x01020304, 0).rd, 1);
    for (unsigned i = 0; i < 64; i++) {
        CHECK_EQ(rig_pixel(&r, 8, i % 8, i / 8), i % 8 < 2 && i / 8 >= 6 ? 0x01020304 : 0);
    }
    CHECK_EQ(rig_rrect(&r, 0, 0, 0, 5, ~0u, 0).rd, 2);
    CHECK_EQ(rig_rrect(&r, 0, 0, 5, 0, ~0u, 0).rd, 3);
    CHECK_EQ(rig_pixel(&r, 8, 0, 0), 0);
    rig_close(&r);
}

/* R-TILE-102 and 103: one report per dropped triangle, one BAD_MEM per draw. */
TEST(reports_of_draws, "")
{
    struct rig_vertex v[3];
    struct facet_raster_result x;
    struct rig r;
    uint32_t s[16];

    rig_open(&r);
    rig_rstate(s, 8, 8);
    rig_load_rstate(&r, s);
    memcpy(v, triangle, sizeof v);
    v[1].x = 32768; /* first value out of range */
    x = rig_rdraw(&r, v, 0);
    CHECK(x.code == FACET_RASTER_RANGE && x.count == 1 && x.rd == 1);
    for (unsigned corner = 0; corner < 3; corner++) {
        for (unsigned axis = 0; axis < 2; axis++) {
            static const struct {
                float value;
                unsigned code;
            } row[] = {{32767.996f, 0},
                       {32767.998f, FACET_RASTER_RANGE}, /* a tie, rounds to 2^23 subpixels */
                       {32768, FACET_RASTER_RANGE},
                       {-32768, 0},
                       {-32768.004f, FACET_RASTER_RANGE},
                       {INFINITY, FACET_RASTER_RANGE},
                       {-INFINITY, FACET_RASTER_RANGE},
                       {NAN, FACET_RASTER_RANGE},
                       {3e38f, FACET_RASTER_RANGE}};

            for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
                memcpy(v, triangle, sizeof v);
                *(axis == 0 ? &v[corner].x : &v[corner].y) = row[i].value;
                CHECK_MSG(rig_rdraw(&r, v, 0).code == row[i].code,
                          "corner %u axis %u at %.9g",
                          corner,
                          axis,
                          (double)row[i].value);
            }
        }
    }
    memcpy(v, triangle, sizeof v);
    v[2].w = -1; /* away from the screen it counts too, but not when the area is 0 */
    v[2].color = 5;
    CHECK_EQ(rig_rdraw(&r, v, 0).code, FACET_RASTER_RANGE);
    CHECK_EQ(rig_rdraw(&r, v, 64).code, 0); /* AFFINE */
    v[1] = v[0];
    CHECK_EQ(rig_rdraw(&r, v, 0).code, 0);
    memcpy(v, triangle, sizeof v);
    for (unsigned i = 0; i < 3; i++) {
        v[i].w = -1; /* equal bits: no perspective */
    }
    CHECK_EQ(rig_rdraw(&r, v, 0).code, 0);
    v[0].w = v[1].w = v[2].w = NAN; /* bits, not numbers: a NaN equals itself, the zeros differ */
    CHECK_EQ(rig_rdraw(&r, v, 0).code, 0);
    v[0].w = v[1].w = v[2].w = 0;
    CHECK_EQ(rig_rdraw(&r, v, 0).code, 0);
    v[1].w = -0.0f;
    CHECK_EQ(rig_rdraw(&r, v, 0).code, FACET_RASTER_RANGE);
    v[0].w = v[1].w = 1;
    v[2].w = INFINITY;
    CHECK_EQ(rig_rdraw(&r, v, 0).code, FACET_RASTER_RANGE);
    v[2].w = 0x1.fffffep127f;
    CHECK_EQ(rig_rdraw(&r, v, 0).code, 0);
    v[2].w = 0x1p-149f;
    CHECK_EQ(rig_rdraw(&r, v, 0).code, 0);
    s[0] = rig_at(RIG_SIZE - 40); /* ten pixels are there */
    rig_load_rstate(&r, s);
    x = rig_rrect(&r, 0, 0, 8, 8, 0xABCDEF01, 0);
    CHECK(x.code == FACET_RASTER_BAD_MEM && x.count == 1);
    CHECK_EQ(rig_read(&r, RIG_SIZE - 4), 0xABCDEF01);
    s[0] = rig_at(RIG_SIZE - 18); /* four pixels and a half: the fifth is skipped as a whole */
    rig_load_rstate(&r, s);
    rig_word(&r, RIG_SIZE - 4, 0);
    x = rig_rrect(&r, 0, 0, 4, 1, 0x11111111, 0);
    CHECK_EQ(x.code, 0);
    x = rig_rrect(&r, 0, 0, 5, 1, 0x22222222, 0);
    CHECK(x.code == FACET_RASTER_BAD_MEM && x.count == 1);
    CHECK_EQ(rig_read(&r, RIG_SIZE - 4), 0x00002222);
    s[0] = rig_at(UINT32_C(0) - 8); /* the first two are below memory */
    rig_load_rstate(&r, s);
    rig_word(&r, 0, 0);
    x = rig_rrect(&r, 0, 0, 3, 1, 0x33333333, 0);
    CHECK(x.code == FACET_RASTER_BAD_MEM && x.count == 1);
    CHECK_EQ(rig_read(&r, 0), 0x33333333);
    CHECK_EQ(rig_rrect(&r, 2, 0, 1, 1, 0x44444444, 0).code, 0);
    rig_close(&r);
}
