/* Triangles and rectangles beside the second formulation (reference.h): every byte of memory and
 * every report, for random states, samplers and vertices, on both pixel paths. */
#include "random_draw.h"
#include "reference.h"

#include <stdlib.h>

static struct ref_card card_of(struct rig *r, uint8_t *vram)
{
    return (struct ref_card){vram, RIG_SIZE, (const uint32_t(*)[8])r->samplers};
}

static void first_difference(const struct rig *r, const uint8_t *expected)
{
    for (uint32_t i = 0; i < RIG_SIZE; i++) {
        if (r->vram[i] != expected[i]) {
            CHECK_MSG(false, "byte 0x%x is 0x%02x, expected 0x%02x", i, r->vram[i], expected[i]);
            return;
        }
    }
}

static const uint32_t *current_rstate(const struct rig *r)
{
    return r->context.rstate[r->context.current[FACET_RASTER_RSTATE]];
}

static void run(bool regular, bool wild, unsigned count)
{
    uint8_t *expected = malloc(RIG_SIZE);
    struct rig r;
    struct ref_card card;

    ref_open();
    rig_open(&r);
    random_memory(&r);
    card = card_of(&r, expected);
    for (unsigned i = 0; i < count && !harness_failed(); i++) {
        const uint32_t flags = (random_below(256) & ~1u) | (random_below(2) == 0 ? 2 : 0);
        struct facet_raster_result got;
        struct ref_reports want;
        struct rig_vertex v[3];

        r.unit.plain = i % 2 == 0;
        random_sampler(&r);
        random_rstate(&r, regular);
        if (random_below(5) == 0) {
            const int x = (int)random_below(130) - 20, y = (int)random_below(80) - 10;
            const unsigned w = random_below(120), h = random_below(80);
            const uint32_t words[4] = {0,
                                       ((uint32_t)x & 0xFFFF) | (uint32_t)y << 16,
                                       w | h << 16,
                                       (uint32_t)harness_random()};

            rig_put_rrect(&r, x, y, w, h, words[3], flags);
            memcpy(expected, r.vram, RIG_SIZE);
            got = facet_raster_rrect(&r.unit, &r.context, rig_at(RIG_DESC));
            want = ref_rrect(&card, current_rstate(&r), flags, words);
        } else {
            uint32_t block[24];

            random_triangle(v, wild);
            rig_put_rdraw(&r, v, flags);
            memcpy(expected, r.vram, RIG_SIZE);
            for (unsigned k = 0; k < 24; k++) {
                block[k] = rig_read(&r, RIG_VERTICES + 4 * k);
            }
            got = facet_raster_rdraw(&r.unit, &r.context, rig_at(RIG_DESC));
            want = ref_rdraw(&card, current_rstate(&r), flags, block);
        }
        CHECK_EQ(got.code, want.code);
        CHECK_EQ(got.count, want.count);
        CHECK_EQ(got.rd, r.context.token);
        first_difference(&r, expected);
        if (harness_failed()) {
            CHECK_MSG(false, "draw %u", i);
        }
    }
    rig_close(&r);
    ref_close();
    free(expected);
}

/* Rows of section "Raster Descriptors" whose field is among the random ones: a reader that ignored
 * or misplaced it would differ. */
TEST(draws_equal_second_formulation, "TILE-388 TILE-389 TILE-390 TILE-391")
{
    run(true, false, harness_long() ? 20000 : 700);
}

TEST(draws_equal_second_formulation_wild_numbers, "TILE-388 TILE-389 TILE-390 TILE-391")
{
    run(true, true, harness_long() ? 20000 : 700);
}

TEST(draws_equal_second_formulation_odd_memory, "")
{
    run(false, true, harness_long() ? 10000 : 400);
}
